//! What is measured natively and in wasm alike: steps of one busy world, and a search.
//!
//! The same treadmill in two gyms. A lease service of five servers, three workers who want its lease
//! in turn, a store, and a client; nothing fails. The search is over three servers and a client without time.
//! The module asks its host for nothing and offers functions of numbers; the clock is the host's.

#![allow(
    unsafe_code,
    reason = "an exported name needs `no_mangle`, which is unsafe in edition 2024"
)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use leasehold_engine::event::Step;
use leasehold_engine::explore::consensus::{Bounds, Consensus, Goal};
use leasehold_engine::explore::{Explorer, Limits, Progress};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Setup;
use leasehold_engine::world::World;

/// How many steps are timed.
pub const STEPS: u32 = 100_000;
/// How many states a timed search meets, at the most.
pub const STATES: u32 = 300_000;

/// Whether steps are told with their causes, events and rules, and monitored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    Explained,
    Unexplained,
}

fn setup() -> Setup {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Setup {
        servers: 5,
        workers: names(&["A", "B", "C"]),
        clients: names(&["c1"]),
        stores: names(&["orders"]),
        ..Setup::default()
    }
}

/// Takes so many steps from the beginning; gives how many were taken.
///
/// # Panics
/// If the setup is not sound.
#[must_use]
pub fn take_steps(steps: u32, telling: Telling) -> u32 {
    let mut world = World::new(setup()).expect("the setup is sound");
    let mut step = Step::empty();
    let mut taken = 0;
    while taken < steps {
        let more = match telling {
            Telling::Explained => world.step(&mut step),
            Telling::Unexplained => world.step_silent(),
        };
        if !more {
            break;
        }
        black_box(&step);
        taken += 1;
    }
    taken
}

/// Looks for a lost write where none can be, until so many states were met or there are no more.
///
/// # Panics
/// If the world cannot be searched.
#[must_use]
pub fn search(states: u32) -> Progress {
    let setup = Setup {
        servers: 3,
        clients: vec!["c1".to_owned()],
        untimed: true,
        after_first_election: false,
        ..Setup::default()
    };
    let world = World::new(setup).expect("the setup is sound");
    let goal = Goal::Break(Invariant::NoLostWrite);
    let model = Consensus::new(&world, Bounds::default(), goal, Vec::new());
    let limits = Limits {
        states: u64::from(states),
        bytes: 1 << 30,
        depth: u32::MAX,
    };
    let mut explorer = Explorer::new(model.expect("it can be searched"), limits);
    explorer.run();
    explorer.progress()
}

static SEARCH_BYTES: AtomicU64 = AtomicU64::new(0);

/// The search for a bare host: how many states were met.
#[unsafe(no_mangle)]
pub extern "C" fn bench_search(states: u32) -> u32 {
    let progress = search(states);
    SEARCH_BYTES.store(progress.memory, Relaxed);
    progress.states as u32
}

/// The bytes that the last search used.
#[unsafe(no_mangle)]
pub extern "C" fn bench_search_bytes() -> u64 {
    SEARCH_BYTES.load(Relaxed)
}

/// The steps for a bare host; `explained` is 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn bench_steps(steps: u32, explained: u32) -> u32 {
    let telling = if explained == 0 {
        Telling::Unexplained
    } else {
        Telling::Explained
    };
    take_steps(steps, telling)
}
