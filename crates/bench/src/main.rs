//! The engine's speed beside the `raft` crate's on the same replicated workload, in one run.
//!
//! A race on one track in one afternoon: both sides take turns, and the median of the rounds counts.
//! Absolute numbers depend on the machine, so what matters is the ratio. It measures no browser and no
//! disk, and asserts nothing: who wants a verdict reads the table.

mod crate_raft;
mod engine;
mod explore;
mod stopwatch;
mod workload;

use std::process::ExitCode;

use workload::{Run, Workload};

const SERVERS: u8 = 3;
const WORKLOADS: [Workload; 3] = [
    Workload {
        entries: 100_000,
        in_flight: 1,
    },
    Workload {
        entries: 100_000,
        in_flight: 4,
    },
    Workload {
        entries: 100_000,
        in_flight: 64,
    },
];
const ROUNDS: usize = 7;

/// One who runs the workload: its name, what it does, and how.
struct Side {
    name: &'static str,
    what: &'static str,
    run: fn(Workload) -> Run,
}

const SIDES: [Side; 4] = [
    Side {
        name: "explained",
        what: "World::step: every step with its cause, events and rules; truth and all monitors on",
        run: |workload| engine::run(workload, engine::Mode::Explained),
    },
    Side {
        name: "unexplained",
        what: "World::step_silent: the same world and the same steps; no events, no truth, no monitors",
        run: |workload| engine::run(workload, engine::Mode::Unexplained),
    },
    Side {
        name: "raft crate",
        what: "raft 0.7, RawNode and MemStorage, its default settings",
        run: |workload| crate_raft::run(workload, crate_raft::Settings::Default),
    },
    Side {
        name: "raft lean",
        what: "the same with skip_bcast_commit and batch_append: fewer messages, as few as it can",
        run: |workload| crate_raft::run(workload, crate_raft::Settings::Lean),
    },
];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("explore") {
        explore::print();
        return ExitCode::SUCCESS;
    }
    println!(
        "{SERVERS} servers, one leader throughout; an entry counts when the leader has applied it."
    );
    println!(
        "Messages are delivered in order, in memory; nothing is lost; nothing waits for a disk."
    );
    println!(
        "Each entry puts one of 100 keys. Both sides keep whole logs and apply to an ordered map."
    );
    println!(
        "Engine: 1 ms a message, so a put travels to the leader and its answer back: these are steps too."
    );
    println!("  Up to 4 in flight: that many clients, each with its next put queued by a command.");
    println!("  64 in flight: puts are posted on a client's link, up to 64 without an answer.");
    println!(
        "Crate: a put is RawNode::propose; a step is a message given to RawNode::step, then Ready."
    );
    println!(
        "Time is {}; {ROUNDS} rounds, sides taking turns; medians.",
        stopwatch::WHAT
    );
    for side in &SIDES {
        println!("  {:12} {}", side.name, side.what);
    }
    let mut lines = Vec::new();
    for workload in WORKLOADS {
        match race(workload) {
            Ok(medians) => lines.push((workload, medians)),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    print_table(&lines);
    explore::print();
    ExitCode::SUCCESS
}

/// Entries and steps a second of each side.
type Medians = [(f64, f64); SIDES.len()];

fn race(workload: Workload) -> Result<Medians, String> {
    let mut rounds: Vec<[Run; SIDES.len()]> = Vec::new();
    // The first round warms up.
    for round in 0..=ROUNDS {
        let runs = SIDES.each_ref().map(|side| (side.run)(workload));
        for (side, run) in SIDES.iter().zip(&runs) {
            if run.applied < workload.entries {
                let Workload { entries, in_flight } = workload;
                return Err(format!(
                    "{}: {} of {entries} entries applied with {in_flight} in flight",
                    side.name, run.applied,
                ));
            }
        }
        if round > 0 {
            rounds.push(runs);
        }
    }
    let mut medians = [(0.0, 0.0); SIDES.len()];
    for (at, median) in medians.iter_mut().enumerate() {
        let entries = rounds
            .iter()
            .map(|runs| workload.entries as f64 / runs[at].seconds);
        let steps = rounds
            .iter()
            .map(|runs| runs[at].steps as f64 / runs[at].seconds);
        *median = (middle(entries.collect()), middle(steps.collect()));
    }
    Ok(medians)
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print_table(lines: &[(Workload, Medians)]) {
    println!();
    println!(
        "{:>9}  {:12} {:>12} {:>12} {:>14} {:>13}",
        "in flight", "side", "entries/s", "steps/s", "to raft crate", "to raft lean"
    );
    for (workload, medians) in lines {
        let [.., (default, _), (lean, _)] = *medians;
        for (side, (entries, steps)) in SIDES.iter().zip(medians) {
            println!(
                "{:>9}  {:12} {entries:>12.0} {steps:>12.0} {:>14.2} {:>13.2}",
                workload.in_flight,
                side.name,
                entries / default,
                entries / lean,
            );
        }
    }
}
