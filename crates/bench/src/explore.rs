//! How fast the search goes and how little it keeps: three servers without time, a million states.
//!
//! A surveyor's day: so many fields seen, so much paper filled. Bytes are those that the search itself
//! counts and, beside them, what the process has grown by, as Linux sees it.

use std::fs;

use leasehold_engine::explore::consensus::{Bounds, Consensus, Goal};
use leasehold_engine::explore::{Explorer, Limits};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Setup;
use leasehold_engine::world::World;

use crate::SERVERS;
use crate::stopwatch::Stopwatch;

const STATES: u64 = 1_000_000;

/// Bytes of memory that are really there.
fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4_096)
}

pub(crate) fn print() {
    let setup = Setup {
        servers: SERVERS,
        clients: vec!["c1".to_owned()],
        untimed: true,
        ..Setup::default()
    };
    let world = World::new(setup).expect("the setup is sound");
    let before = resident();
    let goal = Goal::Break(Invariant::StateMachineSafety);
    let model = Consensus::new(&world, Bounds::default(), goal, Vec::new());
    let model = model.expect("servers and a client can be searched");
    let limits = Limits {
        states: STATES,
        bytes: 4 << 30,
        depth: u32::MAX,
    };
    let watch = Stopwatch::start();
    let mut explorer = Explorer::new(model, limits);
    explorer.run();
    let seconds = watch.seconds();
    let progress = explorer.progress();
    let grown = before
        .zip(resident())
        .map(|(from, to)| to.saturating_sub(from));
    let each = |bytes: u64| bytes / progress.states.max(1);
    println!(
        "\nexplore: {} states, {:.0} states/CPU s, {} bytes/state ({} as the system sees it)",
        progress.states,
        progress.states as f64 / seconds,
        each(progress.memory),
        grown.map_or_else(|| "?".to_owned(), |bytes| each(bytes).to_string()),
    );
}
