//! `leasehold fuzz`: random worlds under random faults, and what breaks in them as a short script.
//!
//! The night shift. What it finds goes to standard output and can be kept in a file and played; how far it
//! is goes to standard error.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use leasehold_engine::fuzz::{Find, Fuzzer, Options, Progress, Totals};
use leasehold_engine::switch::Switch;
use leasehold_lesson::{words, write_script};

use crate::{End, out};

/// Steps between two looks at the clock.
const PORTION: u64 = 50_000;
const BAR_WIDTH: u64 = 20;

pub(crate) fn fuzz(options: &Options) -> End {
    let mut fuzzer = Fuzzer::new(options.clone());
    let mut shown = Shown::default();
    loop {
        match fuzzer.advance(PORTION) {
            Ok(progress @ (Progress::Playing | Progress::Shrinking { .. })) => {
                shown.show(progress, fuzzer.totals(), options);
            }
            Ok(Progress::Found | Progress::NothingFound) => break,
            Err(error) => {
                let trouble = words::setup_error(&error);
                eprintln!("leasehold: {}\n  {}", trouble.what, trouble.remedy);
                return End::Unusable;
            }
        }
    }
    shown.clear();
    let Some(find) = fuzzer.find() else {
        out::line(&totals(fuzzer.totals()));
        out::line("no invariant broke");
        return End::Well;
    };
    out::line(&told(find, fuzzer.totals(), options));
    End::Wrong
}

/// The find as a script: what broke and how to find it again are remarks in it.
fn told(find: &Find, counted: &Totals, options: &Options) -> String {
    let names = find.script.setup.validate();
    let why = names.map_or_else(
        |_| String::new(),
        |names| words::reason(&find.broken.reason, &names),
    );
    let at = words::millis(find.broken.at);
    let (before, after) = (find.commands_found, find.script.commands.len());
    let remarks = [
        format!("{} broke at {at} s: {why}", find.invariant),
        format!(
            "{after} of {before} commands are left after {} replays; found after: {}",
            find.replays,
            totals(counted)
        ),
        reproduced(find, options),
    ];
    write_script(&find.script, &remarks).trim_end().to_owned()
}

/// The line that finds the same again.
fn reproduced(find: &Find, options: &Options) -> String {
    let usual = Options::default();
    let mut line = format!("leasehold fuzz --seed {} --runs 1", find.seed);
    if options.steps != usual.steps {
        line.push_str(&format!(" --steps {}", options.steps));
    }
    for (switch, position) in &options.set {
        line.push_str(&format!(
            " --set {switch}={}",
            Switch::word(*switch, *position)
        ));
    }
    if let Some(invariant) = options.sought {
        line.push_str(&format!(" --break {invariant}"));
    }
    let kinds = [
        (options.beyond.drift, "drift"),
        (options.beyond.switches, "switches"),
    ];
    let kinds: Vec<&str> = kinds
        .iter()
        .filter(|(is_on, _)| *is_on)
        .map(|(_, kind)| *kind)
        .collect();
    if !kinds.is_empty() {
        line.push_str(&format!(" --beyond {}", kinds.join(",")));
    }
    if options.replays != usual.replays {
        line.push_str(&format!(" --replays {}", options.replays));
    }
    line
}

fn totals(totals: &Totals) -> String {
    let all = totals
        .named()
        .map(|(name, count)| format!("{name} {count}"));
    all.join(", ")
}

/// The line on standard error: on a terminal once a second and in its place, else every ten seconds.
#[derive(Debug, Default)]
struct Shown {
    last: Option<Instant>,
    on_terminal: bool,
}

impl Shown {
    fn show(&mut self, progress: Progress, totals: &Totals, options: &Options) {
        let now = Instant::now();
        let mut errors = std::io::stderr().lock();
        self.on_terminal = errors.is_terminal();
        let pause = Duration::from_secs(if self.on_terminal { 1 } else { 10 });
        let since = self.last.get_or_insert(now);
        if now.duration_since(*since) < pause {
            return;
        }
        self.last = Some(now);
        let what = match progress {
            Progress::Shrinking { commands, replays } => {
                format!("found; {commands} commands are left after {replays} replays")
            }
            Progress::Playing | Progress::Found | Progress::NothingFound => {
                let full = totals.runs * BAR_WIDTH / options.runs.max(1);
                let bar: String = (0..BAR_WIDTH)
                    .map(|at| if at < full { '=' } else { ' ' })
                    .collect();
                format!(
                    "[{bar}] run {} of {}, {} steps",
                    totals.runs, options.runs, totals.steps
                )
            }
        };
        // Nobody to show it to is no reason to stop.
        let _ = if self.on_terminal {
            write!(errors, "\r\x1b[Kleasehold: {what}")
        } else {
            writeln!(errors, "leasehold: {what}")
        };
        let _ = errors.flush();
    }

    fn clear(&self) {
        if self.on_terminal {
            eprint!("\r\x1b[K");
        }
    }
}
