//! A hundred worlds in which much goes wrong, each drawn from its number.
//!
//! Bad weather by lottery: networks that lose and repeat, processes that sleep, crash and drift, switches
//! turned off. Nothing is judged here; only that the same weather comes twice.

use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::world::World;

use crate::{STEPS, Trace};

/// How many invariants a world has seen broken.
pub(crate) fn broken(world: &World) -> u64 {
    Invariant::ALL
        .iter()
        .filter(|invariant| world.broken(**invariant).is_some())
        .count() as u64
}

/// Runs the world with this number; the number of invariants that broke.
pub(crate) fn run(number: u64, trace: &mut Trace) -> u64 {
    let beyond = Beyond {
        drift: true,
        switches: number % 2 == 1,
    };
    let mut swarm = Swarm::new(number, beyond);
    let mut history = History::new(swarm.setup()).expect("only sound setups are drawn");
    swarm.play(&mut history, STEPS, |step, world| trace.step(step, world));
    broken(history.world())
}
