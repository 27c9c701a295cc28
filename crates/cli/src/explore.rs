//! `leasehold explore`: looks for a shortest way to break a promise, and prints it as a script.
//!
//! A chess problem solver for clusters: mate in so many moves, or none within the board's bounds. What it
//! prints, `leasehold run` plays.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use leasehold_engine::claim::{Claim, State};
use leasehold_engine::command::Command;
use leasehold_engine::event::Step;
use leasehold_engine::explore::consensus::{
    Action, Consensus, Goal, Move, MoveError, Refused, Replay,
};
use leasehold_engine::explore::{Explorer, Limit, Limits, Model, Outcome, Progress};
use leasehold_engine::setup::{Kind, Setup};
use leasehold_engine::units::Duration as Span;
use leasehold_engine::world::World;
use leasehold_lesson::director::set_switch;
use leasehold_lesson::lesson::{Directive, Do};
use leasehold_lesson::{parse, parse_script, script, words, world_block};

use crate::args::{Explore, Wanted};
use crate::{End, explore_leases, files, out};

/// Moves tried between two looks at the clock.
const SLICE: u64 = 20_000;

/// What is wrong, and what would be right.
pub(crate) type Trouble = (String, String);

pub(crate) fn explore(search: &Explore) -> End {
    match look(search) {
        Ok(end) => end,
        Err((what, remedy)) => {
            eprintln!("leasehold: {what}\n  {remedy}");
            End::Unusable
        }
    }
}

pub(crate) fn trouble<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Trouble> {
    Err((what.into(), remedy.into()))
}

fn look(search: &Explore) -> Result<End, Trouble> {
    if let Some(bounds) = &search.timed {
        return explore_leases::look(search, bounds);
    }
    let Stage {
        setup,
        prefix,
        left_out,
    } = stage(search)?;
    let mut world = World::new(setup.clone()).map_err(|error| {
        let wrong = words::setup_error(&error);
        (wrong.what, wrong.remedy)
    })?;
    for command in &prefix {
        let done = world.apply(command, &mut Step::empty());
        done.map_err(|error| {
            let wrong = words::command_error(&error);
            (format!("{command}: {}", wrong.what), wrong.remedy)
        })?;
    }
    let names = world.names();
    let goal = match &search.goal {
        Wanted::Break(invariant) => Goal::Break(*invariant),
        Wanted::Reach(text) => {
            let claim = script::claim(text, names);
            Goal::Reach(claim.map_err(|error| (error.trouble.what, error.trouble.remedy))?)
        }
    };
    let forbid = search.forbid.iter().map(|text| Move::read(text, names));
    let forbid = forbid.collect::<Result<Vec<Move>, _>>().map_err(unread)?;
    let model = Consensus::new(&world, search.bounds, goal, forbid).map_err(refused)?;
    let mut explorer = Explorer::new(model, search.limits);
    run(&mut explorer, search.limits, SLICE);
    let progress = explorer.progress();
    let outcome = explorer.outcome().cloned();
    let told = tell(&outcome, progress);
    match outcome {
        Some(Outcome::Found { path, .. }) => {
            let mut model = explorer.into_model();
            let replay = replay(&mut model, &world, &path)?;
            head(search, &setup, &left_out);
            out::line(&format!("# {told}"));
            if let Some(why) = reason(&replay, search) {
                out::line(&format!("# {why}"));
            }
            print_script(search, &setup, &prefix, &replay.commands);
            Ok(End::Well)
        }
        Some(Outcome::Closed | Outcome::LimitReached(_)) | None => {
            head(search, &setup, &left_out);
            out::line(&format!("# {told}"));
            Ok(End::Wrong)
        }
    }
}

/// What is searched: a world without time, and the commands that lead to the start.
struct Stage {
    setup: Setup,
    prefix: Vec<Command>,
    /// What of the file is not searched.
    left_out: Vec<String>,
}

/// The world of a lesson, or that of a command script with its lines.
pub(crate) fn read(file: &str) -> Result<(Setup, Vec<Directive>), Trouble> {
    let text = files::read(Path::new(file))
        .or_else(|what| trouble(what, "name a lesson (.md) or a command script"))?;
    let read = if file.ends_with(".md") {
        parse(&text, file).map(|lesson| (lesson.setup, Vec::new()))
    } else {
        parse_script(&text, file).map(|script| (script.setup, script.directives))
    };
    read.map_err(|wrong| {
        let first = wrong.into_iter().next();
        first.map_or_else(Default::default, |d| {
            (format!("{file}:{}: {}", d.place, d.what), d.remedy)
        })
    })
}

fn stage(search: &Explore) -> Result<Stage, Trouble> {
    let file = &search.file;
    let (mut setup, directives) = read(file)?;
    let mut left_out = Vec::new();
    let mut prefix = Vec::new();
    if setup.untimed {
        for directive in directives {
            match directive.what {
                Do::Act(command) => prefix.push(command),
                // What a found script ends with: that it came true.
                Do::RunUntil { .. } => {}
                Do::RunFor(_) | Do::Stop { .. } | Do::Again(_) => {
                    let what = format!("{file}:{}: no time passes here", directive.place);
                    return trouble(what, "before a search stand commands alone");
                }
            }
        }
    } else if !directives.is_empty() {
        left_out.push("the script's commands, which need time".to_owned());
    }
    for (kind, names) in [
        ("workers", &mut setup.workers),
        ("stores", &mut setup.stores),
    ] {
        if !names.is_empty() {
            left_out.push(format!("{kind} {}", names.join(", ")));
            names.clear();
        }
    }
    if setup.servers == 0 {
        return trouble(
            format!("{file}: its world has no servers"),
            "search one that has",
        );
    }
    if setup.clients.is_empty() && search.bounds.puts > 0 {
        setup.clients.push("c1".to_owned());
    }
    if setup.sync != Span::ZERO {
        left_out.push("the time that disks take".to_owned());
        setup.sync = Span::ZERO;
    }
    if setup.lease_reads {
        left_out.push("reads by lease".to_owned());
        setup.lease_reads = false;
    }
    (setup.loss_ppm, setup.duplication_ppm) = (0, 0);
    setup.untimed = true;
    for (switch, position) in &search.set {
        set_switch(&mut setup, *switch, *position);
    }
    Ok(Stage {
        setup,
        prefix,
        left_out,
    })
}

fn unread(error: MoveError) -> Trouble {
    let (what, remedy) = match error {
        MoveError::Verb(word) => (
            format!("`{word}` is not a move"),
            format!("moves are {}", Move::WORDS),
        ),
        MoveError::Process(name) => (
            format!("no process of this search is called `{name}`"),
            "name a server or a client".to_owned(),
        ),
        MoveError::Link(word) => (
            format!("`{word}` is not a link"),
            "write it as in deliver s1>s3".to_owned(),
        ),
        MoveError::Timer(word) => (
            format!("`{word}` is not a timer"),
            "write heartbeat or client_timeout".to_owned(),
        ),
        MoveError::End(word) => (
            format!("`{word}` is a word too many"),
            "write a move, then who, as in campaign s1".to_owned(),
        ),
    };
    (format!("--forbid: {what}"), remedy)
}

fn refused(error: Refused) -> Trouble {
    let (what, remedy) = match error {
        Refused::Timed => ("the world's time flows", "write time = \"none\""),
        Refused::Kind { name, kind } => {
            return (
                format!("{name} is a {kind}"),
                "only servers and clients are searched".to_owned(),
            );
        }
        Refused::Asleep { name } => {
            return (
                format!("{name} is asleep where the search begins"),
                format!("wake it first: resume {name}"),
            );
        }
        Refused::LeaseReads => ("reads by lease need a clock", "leave out lease_reads"),
        Refused::Bounds => ("the budget is too large", "write smaller numbers"),
        Refused::Invariant(_) => ("this invariant needs leases or stores", "name another"),
        Refused::Claim(error) => {
            let wrong = words::claim_error(&error);
            return (wrong.what, wrong.remedy);
        }
        Refused::Window => (
            "a claim about a span of time, where there is none",
            "leave out `from … to …`",
        ),
        Refused::Parts => ("the claim has too many parts", "write at most eight"),
    };
    (what.to_owned(), remedy.to_owned())
}

/// Searches to the end, with a bar where somebody looks on.
pub(crate) fn run<M: Model>(explorer: &mut Explorer<M>, limits: Limits, slice: u64) {
    let is_seen = std::io::stderr().is_terminal();
    let mut last = Instant::now();
    let mut drawn = false;
    while explorer.outcome().is_none() {
        let progress = explorer.advance(slice);
        if is_seen && Duration::from_millis(250) < last.elapsed() {
            draw(progress, limits);
            (last, drawn) = (Instant::now(), true);
        }
    }
    if drawn {
        eprint!("\r\x1b[K");
    }
}

fn draw(progress: Progress, limits: Limits) {
    let share =
        |part: u64, whole: u64| (u128::from(part) * 100 / u128::from(whole.max(1))) as usize;
    let percent = share(progress.states, limits.states)
        .max(share(progress.memory, limits.bytes))
        .min(100);
    let bar = "#".repeat(percent / 5) + &"-".repeat(20 - percent / 5);
    eprint!(
        "\r\x1b[K[{bar}] {percent}% of the budget; {} states, level {}, {} to go, {} MB",
        grouped(progress.states),
        progress.level,
        grouped(progress.frontier),
        progress.memory >> 20
    );
    // A bar that cannot be drawn is no reason to stop.
    drop(std::io::stderr().flush());
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn tell<A, F>(outcome: &Option<Outcome<A, F>>, progress: Progress) -> String {
    let states = grouped(progress.states);
    match outcome {
        Some(Outcome::Found { path, .. }) => {
            format!(
                "found after {states} states: {} moves, none takes fewer",
                path.len()
            )
        }
        Some(Outcome::Closed) => {
            format!("not found: all {states} states within the budget were seen")
        }
        Some(Outcome::LimitReached(limit)) => {
            let which = match limit {
                Limit::States => "states",
                Limit::Memory => "memory",
                Limit::Depth => "depth",
            };
            let whole = progress.level.saturating_sub(1);
            format!(
                "not found in {states} states: the budget of {which} is used up; \
                 nothing within {whole} moves"
            )
        }
        None => "stopped".to_owned(),
    }
}

/// How to do it again, as a remark above the script.
pub(crate) fn call(search: &Explore) {
    let quoted = search.words.iter().map(|word| {
        if word.contains(|c: char| c.is_whitespace() || "<>|\"$`\\;&*?()".contains(c)) {
            format!("'{}'", word.replace('\'', "'\\''"))
        } else {
            word.clone()
        }
    });
    let call: Vec<String> = quoted.collect();
    out::line(&format!("# leasehold explore {}", call.join(" ")));
}

/// What is searched, and how to do it again.
fn head(search: &Explore, setup: &Setup, left_out: &[String]) {
    call(search);
    let clients = if setup.clients.is_empty() {
        String::new()
    } else {
        format!(", {} {}", Kind::Client, setup.clients.join(", "))
    };
    let left_out = if left_out.is_empty() {
        String::new()
    } else {
        format!("; left out: {}", left_out.join(", "))
    };
    let count = setup.servers + setup.spares;
    out::line(&format!(
        "# searched without time: {count} servers{clients}{left_out}"
    ));
}

fn replay<'m>(
    model: &'m mut Consensus,
    world: &World,
    path: &[Action],
) -> Result<Replay<'m>, Trouble> {
    let mut replay = Replay::new(model, world);
    for action in path {
        let made = replay.act(*action);
        if made != Ok(true) {
            return trouble(
                format!("search and world differ at {action:?}: {made:?}"),
                "this is a fault of the search: please report it with the line above",
            );
        }
    }
    Ok(replay)
}

/// How the invariant broke, as the world itself says.
fn reason(replay: &Replay<'_>, search: &Explore) -> Option<String> {
    let Wanted::Break(invariant) = &search.goal else {
        return None;
    };
    let broken = replay.world.broken(*invariant)?;
    let why = words::reason(&broken.reason, replay.world.names());
    Some(format!("{invariant} breaks: {why}"))
}

fn print_script(search: &Explore, setup: &Setup, prefix: &[Command], commands: &[Command]) {
    out::line(&format!("{}----", world_block(setup)));
    for command in prefix {
        out::line(&command.to_string());
    }
    if !prefix.is_empty() {
        out::line("# found:");
    }
    for command in commands {
        out::line(&command.to_string());
    }
    out::line(&format!("run until {}", wanted(search)));
}

/// What was looked for, as a claim.
pub(crate) fn wanted(search: &Explore) -> String {
    match &search.goal {
        Wanted::Break(invariant) => {
            let state = State::Invariant {
                invariant: *invariant,
                kept: false,
            };
            state.to_string()
        }
        Wanted::Reach(text) => text
            .parse::<Claim>()
            .map_or_else(|_| text.clone(), |claim| claim.to_string()),
    }
}
