//! The lines of a `run` block, one at a time; the same in lessons, proofs and command scripts.
//!
//! Stage directions: most lines are commands for the world, a few are for whoever plays the script.

use leasehold_engine::claim::{Claim, Watch};
use leasehold_engine::command::{ChangeText, Command, CommandError, DiskAct};
use leasehold_engine::event::Step;
use leasehold_engine::history::History;
use leasehold_engine::setup::{Kind, Names};
use leasehold_engine::units::{Duration, SpanText};
use leasehold_engine::world::World;

use crate::director::{BOUND, Failure};
use crate::lesson::{Change, Directive, Do, Press};
use crate::place::{Diagnostic, Place};
use crate::template::Template;
use crate::words::{self, Trouble};

/// What is wrong with a line, and at which column (from 1, in characters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    pub column: u32,
    pub trouble: Trouble,
}

impl LineError {
    fn new(column: u32, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let trouble = Trouble::new(what, remedy);
        Self { column, trouble }
    }

    fn shifted(mut self, by: u32) -> Self {
        self.column += by;
        self
    }
}

/// Reads a line of a `run` block and checks its names.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn directive(line: &str, names: &Names) -> Result<Do, LineError> {
    let indent = line.len() - line.trim_start().len();
    let shift = line[..indent].chars().count() as u32;
    read(line.trim(), names).map_err(|error| error.shifted(shift))
}

fn read(line: &str, names: &Names) -> Result<Do, LineError> {
    let (verb, rest) = line
        .split_once(char::is_whitespace)
        .unwrap_or((line, &line[line.len()..]));
    match verb {
        "run" => run(line, rest.trim(), names),
        "stop" => stop(line, names),
        "again" => again(line, names).map(Do::Again),
        _ => command(line, names).map(Do::Act),
    }
}

/// Reads a command and checks its names.
///
/// # Errors
/// Where the line stops being a command, or the name that does not fit.
pub fn command(line: &str, names: &Names) -> Result<Command, LineError> {
    let command: Command = line.parse().map_err(|error| {
        let trouble = words::parse_error(&error);
        LineError {
            column: error.column,
            trouble,
        }
    })?;
    check_command(&command, names).map_err(|error| {
        let column = words::command_error_name(&error).map_or(1, |name| column_of(line, name));
        LineError {
            column,
            trouble: words::command_error(&error),
        }
    })?;
    Ok(command)
}

/// Reads a claim and checks its names.
///
/// # Errors
/// Where the line stops being a claim, or the name that does not fit.
pub fn claim(line: &str, names: &Names) -> Result<Claim, LineError> {
    let claim: Claim = line.parse().map_err(|error| {
        let trouble = words::parse_error(&error);
        LineError {
            column: error.column,
            trouble,
        }
    })?;
    claim.check(names).map_err(|error| LineError {
        column: column_of(line, words::claim_error_name(&error)),
        trouble: words::claim_error(&error),
    })?;
    Ok(claim)
}

fn run(line: &str, rest: &str, names: &Names) -> Result<Do, LineError> {
    let at = offset_column(line, rest);
    if rest.is_empty() {
        return Err(LineError::new(
            at,
            "`run` does not say how long",
            "write `run 500ms` or `run until A holds orders`",
        ));
    }
    let after_until = rest
        .strip_prefix("until")
        .filter(|r| r.is_empty() || r.starts_with(' '));
    let Some(text) = after_until else {
        return Ok(Do::RunFor(
            span(rest).map_err(|error| error.shifted(at - 1))?,
        ));
    };
    let (text, bound) = match text.rsplit_once(" within ") {
        Some((text, bound)) => {
            let column = offset_column(line, bound);
            let bound = span(bound.trim()).map_err(|error| error.shifted(column - 1))?;
            (text, bound)
        }
        None => (text, BOUND),
    };
    let trimmed = text.trim();
    let column = offset_column(line, if trimmed.is_empty() { text } else { trimmed });
    let claim = claim(trimmed, names).map_err(|error| error.shifted(column - 1))?;
    Ok(Do::RunUntil { claim, bound })
}

fn span(text: &str) -> Result<Duration, LineError> {
    match text.parse::<SpanText>() {
        Ok(SpanText(span)) if span > Duration::ZERO => Ok(span),
        Ok(_) => Err(LineError::new(
            1,
            "the span is zero",
            "write how long, as in 500ms or 3s",
        )),
        Err(error) => Err(LineError {
            column: 1,
            trouble: words::span_error(error, text),
        }),
    }
}

fn stop(line: &str, names: &Names) -> Result<Do, LineError> {
    let mut rest = line["stop".len()..].trim_start();
    let mut sentence = None;
    if rest.starts_with('"') {
        let column = offset_column(line, rest);
        let Some((text, after)) = quoted(rest) else {
            return Err(LineError::new(
                column,
                "the sentence has no closing quote",
                "write stop \"What to say.\" and escape inner quotes as \\\"",
            ));
        };
        let template = Template::parse(&text, names)
            .map_err(|error| LineError::new(column + error.column, error.what, error.remedy))?;
        sentence = Some(template);
        rest = after.trim_start();
    }
    if rest.is_empty() {
        return Ok(Do::Stop {
            sentence,
            press: None,
        });
    }
    let column = offset_column(line, rest);
    let Some(press) = rest.strip_prefix("press:") else {
        return Err(LineError::new(
            column,
            format!("`{}` is not understood after stop", words::shorten(rest)),
            "write stop \"sentence\" press: COMMAND, or leave out either part",
        ));
    };
    let press = press.trim_start();
    let column = offset_column(line, press);
    let press = if press.split_whitespace().next() == Some("again") {
        again(press, names).map(Press::Again)
    } else {
        command(press, names).map(Press::Act)
    };
    let press = Some(press.map_err(|error| error.shifted(column - 1))?);
    Ok(Do::Stop { sentence, press })
}

fn again(line: &str, names: &Names) -> Result<Change, LineError> {
    let Some(change) = line.strip_prefix("again with ") else {
        return Err(LineError::new(
            1,
            "`again` does not say what is changed",
            "write `again with SWITCH POSITION`, as in `again with fence enforce`",
        ));
    };
    change_of(change, names).map_err(|error| error.shifted("again with ".len() as u32))
}

/// Reads `SWITCH POSITION`, or `SWITCH POSITION at PROCESS`.
///
/// # Errors
/// What is wrong, at which column.
pub fn change_of(text: &str, names: &Names) -> Result<Change, LineError> {
    let shift = "set ".len() as u32;
    match command(&format!("set {text}"), names) {
        Ok(Command::Set {
            switch,
            position,
            at,
        }) => Ok(Change {
            switch,
            position,
            at,
        }),
        Ok(_) => Err(LineError::new(
            1,
            "that is not a switch",
            "write SWITCH POSITION",
        )),
        Err(error) => Err(LineError {
            column: error.column.saturating_sub(shift).max(1),
            ..error
        }),
    }
}

/// A text in double quotes at the start, unescaped, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// The column of a part of a line, by address; `part` must be cut from `line`.
fn offset_column(line: &str, part: &str) -> u32 {
    let offset = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..offset)
        .map_or(1, |before| before.chars().count() as u32 + 1)
}

/// The column of a name as a word of its own.
fn column_of(line: &str, name: &str) -> u32 {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let found = line.match_indices(name).filter(|(at, _)| {
        let before = line[..*at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !is_part(before) && !is_part(after)
    });
    // A name that is given twice is meant where it stands the second time.
    let at = found.last().map_or(0, |(at, _)| at);
    line[..at].chars().count() as u32 + 1
}

/// Checks a command's names as the world would, before there is one.
fn check_command(command: &Command, names: &Names) -> Result<(), CommandError> {
    let any = |name: &String| want(names, name, &[], "process");
    let one = |name: &String, kind: Kind, wanted| want(names, name, &[kind], wanted);
    let resource = |name: &String| match names.find_resource(name) {
        Some(_) => Ok(()),
        None => Err(CommandError::UnknownResource {
            name: name.clone(),
            known: names.resources().join(", "),
        }),
    };
    let link = |from: &String, to: &String| {
        any(from)?;
        any(to)?;
        if from == to {
            return Err(CommandError::SameProcess { name: from.clone() });
        }
        Ok(())
    };
    match command {
        Command::Pause { process }
        | Command::Resume { process }
        | Command::Crash { process }
        | Command::Restart { process }
        | Command::ClockRate { process, .. }
        | Command::ClockJump { process, .. } => any(process),
        Command::PauseBeforeSend { process } => writer(names, process),
        Command::Disk {
            process,
            act: DiskAct::LoseVote | DiskAct::LoseTerm | DiskAct::LoseTail(_) | DiskAct::CorruptTail,
        } => one(process, Kind::Server, "server"),
        Command::Disk { process, .. } => want(
            names,
            process,
            &[Kind::Server, Kind::Store],
            "server or store",
        ),
        Command::Partition { groups } => {
            let mut seen: Vec<&String> = Vec::new();
            for name in groups.iter().flatten() {
                any(name)?;
                if seen.contains(&name) {
                    return Err(CommandError::NamedTwice { name: name.clone() });
                }
                seen.push(name);
            }
            Ok(())
        }
        Command::Cut { from, to, .. }
        | Command::HealLink { from, to, .. }
        | Command::Loss { from, to, .. } => link(from, to),
        Command::Latency { from, to, min, max } => {
            link(from, to)?;
            if max < min {
                return Err(CommandError::Range {
                    low: *min,
                    high: *max,
                });
            }
            Ok(())
        }
        Command::Drop { message }
        | Command::Deliver { message }
        | Command::Duplicate { message }
        | Command::Delay { message, .. } => link(&message.from, &message.to),
        Command::Write { process, store, .. } => {
            writer(names, process)?;
            one(store, Kind::Store, "store")
        }
        Command::Put { client, .. } => one(client, Kind::Client, "client"),
        Command::Get { client, at, .. } => {
            one(client, Kind::Client, "client")?;
            at.as_ref()
                .map_or(Ok(()), |server| one(server, Kind::Server, "server"))
        }
        Command::Acquire {
            worker,
            resource: name,
        } => {
            one(worker, Kind::Worker, "worker")?;
            resource(name)
        }
        Command::Release { worker } => one(worker, Kind::Worker, "worker"),
        Command::Raise { resource: name, .. } => resource(name),
        Command::Campaign { server } | Command::Compact { server } => {
            one(server, Kind::Server, "server")
        }
        Command::Ring { process, .. } => any(process),
        Command::Transfer { from, to } => {
            one(from, Kind::Server, "server")?;
            one(to, Kind::Server, "server")?;
            link(from, to)
        }
        Command::Change { what, at } => {
            let server = |name: &String| one(name, Kind::Server, "server");
            match what {
                ChangeText::Add { server: name }
                | ChangeText::AddLearner { server: name }
                | ChangeText::Promote { server: name }
                | ChangeText::Remove { server: name } => server(name)?,
                ChangeText::Reconfigure { servers } => {
                    for (at, name) in servers.iter().enumerate() {
                        server(name)?;
                        if servers[..at].contains(name) {
                            return Err(CommandError::NamedTwice { name: name.clone() });
                        }
                    }
                }
            }
            at.as_ref().map_or(Ok(()), server)
        }
        Command::Set { at, .. } => at.as_ref().map_or(Ok(()), any),
        Command::Heal => Ok(()),
    }
}

fn writer(names: &Names, name: &str) -> Result<(), CommandError> {
    want(
        names,
        name,
        &[Kind::Worker, Kind::Server],
        "worker or server",
    )
}

/// No kinds: any will do.
fn want(
    names: &Names,
    name: &str,
    kinds: &[Kind],
    wanted: &'static str,
) -> Result<(), CommandError> {
    let Some(id) = names.find(name) else {
        return Err(CommandError::UnknownProcess {
            name: name.to_owned(),
            known: names.list(),
        });
    };
    let is = names.kind(id);
    if kinds.is_empty() || kinds.contains(&is) {
        return Ok(());
    }
    Err(CommandError::WrongKind {
        name: name.to_owned(),
        is,
        wanted,
    })
}

/// Plays directives on a run, pressing at every stop. `on` sees each step with the world after it.
///
/// # Errors
/// The first command that cannot be carried out, or `run until` that never comes.
pub fn play(
    history: &mut History,
    directives: &[Directive],
    mut on: impl FnMut(&Step, &World),
) -> Result<(), Failure> {
    let mut step = Step::empty();
    let mut awaited: Option<Watch> = None;
    for (line, Directive { what, place }) in directives.iter().enumerate() {
        match what {
            Do::Act(command)
            | Do::Stop {
                press: Some(Press::Act(command)),
                ..
            } => {
                act(history, command, *place, &mut step)?;
                let watch = awaited.take().or_else(|| awaited_after(directives, line));
                awaited = watch.map(|mut watch| {
                    watch.show(&step, history.world());
                    watch
                });
                on(&step, history.world());
            }
            // Scripts and proofs have no second run; the readers of both say so.
            Do::Stop { .. } | Do::Again(_) => {}
            Do::RunFor(span) => {
                let end = history.world().now().plus(*span);
                history.run_to(end, &mut on);
            }
            Do::RunUntil { claim, bound } => {
                let end = history.world().now().plus(*bound);
                let mut watch = awaited.take().unwrap_or_else(|| Watch::new(claim.clone()));
                while !watch.holds(history.world()) {
                    if history.next_at().is_none_or(|due| end < due) || !history.step(&mut step) {
                        let (claim, bound, place) = (claim.clone(), *bound, *place);
                        return Err(Failure::NeverCame {
                            claim,
                            bound,
                            place,
                        });
                    }
                    watch.show(&step, history.world());
                    on(&step, history.world());
                }
            }
        }
    }
    Ok(())
}

/// What the next `run until` behind a line waits for, when only commands and stops stand between:
/// it also sees what those commands do.
pub(crate) fn awaited_after(directives: &[Directive], line: usize) -> Option<Watch> {
    let later = directives.iter().skip(line + 1);
    let next = later.map(|directive| &directive.what).find(|what| {
        !matches!(
            what,
            Do::Act(_)
                | Do::Stop {
                    press: None | Some(Press::Act(_)),
                    ..
                }
        )
    });
    match next {
        Some(Do::RunUntil { claim, .. }) => Some(Watch::new(claim.clone())),
        Some(Do::Act(_) | Do::RunFor(_) | Do::Stop { .. } | Do::Again(_)) | None => None,
    }
}

fn act(
    history: &mut History,
    command: &Command,
    place: Place,
    step: &mut Step,
) -> Result<(), Failure> {
    history
        .act(command.clone(), step)
        .map_err(|error| Failure::Command {
            command: Box::new(command.clone()),
            error: Box::new(error),
            place,
        })
}

/// Reads the lines of a script or proof; `first` is the number of the first line. Empty lines and
/// lines that begin with # are passed over.
///
/// # Errors
/// Everything that is wrong with them.
pub fn lines(
    text: &str,
    first: u32,
    file: &str,
    names: &Names,
) -> Result<Vec<Directive>, Vec<Diagnostic>> {
    let mut directives = Vec::new();
    let mut wrong = Vec::new();
    for (line, number) in text.lines().zip(first..) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let column = (line.len() - line.trim_start().len()) as u32 + 1;
        let read = directive(line, names).and_then(|what| match what {
            Do::Again(_)
            | Do::Stop {
                press: Some(Press::Again(_)),
                ..
            } => Err(LineError::new(
                column,
                "a script has one run",
                "set the switch above the line of dashes, or run it with --set",
            )),
            Do::Act(_) | Do::RunFor(_) | Do::RunUntil { .. } | Do::Stop { .. } => Ok(what),
        });
        match read {
            Ok(what) => {
                let place = Place {
                    line: number,
                    column,
                };
                directives.push(Directive { what, place });
            }
            Err(error) => wrong.push(Diagnostic {
                file: file.to_owned(),
                place: Place {
                    line: number,
                    column: error.column,
                },
                what: error.trouble.what,
                remedy: error.trouble.remedy,
            }),
        }
    }
    if wrong.is_empty() {
        Ok(directives)
    } else {
        Err(wrong)
    }
}
