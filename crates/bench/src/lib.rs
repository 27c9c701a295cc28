//! What is measured natively and in wasm alike: steps of one busy world.
//!
//! The same treadmill in two gyms. A lease service of five servers, three workers who want its lease
//! in turn, a store, and a client; nothing fails. The module asks its host for nothing and offers one
//! function of numbers; the clock is the host's.

#![allow(
    unsafe_code,
    reason = "an exported name needs `no_mangle`, which is unsafe in edition 2024"
)]

use std::hint::black_box;

use leasehold_engine::event::Step;
use leasehold_engine::setup::Setup;
use leasehold_engine::world::World;

/// How many steps are timed.
pub const STEPS: u32 = 100_000;

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

/// The same for a bare host; `explained` is 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn bench_steps(steps: u32, explained: u32) -> u32 {
    let telling = if explained == 0 {
        Telling::Unexplained
    } else {
        Telling::Explained
    };
    take_steps(steps, telling)
}
