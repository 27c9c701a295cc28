//! The search over the real servers: what it finds plays in a real world, and breaks there just so.
//!
//! The detective's story is told again at the scene, step by step, and must come out the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::Step;
use leasehold_engine::explore::consensus::{Bounds, Consensus, Goal, Replay};
use leasehold_engine::explore::{Explorer, Limits, Outcome};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::world::World;

const LIMITS: Limits = Limits {
    states: 2_000_000,
    bytes: 512 << 20,
    depth: 60,
};

fn setup(servers: u8, off: &[Switch]) -> Setup {
    Setup {
        servers,
        clients: vec!["c1".into()],
        contend: false,
        untimed: true,
        after_first_election: false,
        switches: off
            .iter()
            .map(|switch| (switch.name().to_owned(), "off".to_owned()))
            .collect(),
        ..Setup::default()
    }
}

fn world(setup: &Setup, script: &str) -> World {
    let mut world = World::new(setup.clone()).unwrap();
    for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let command: Command = line.parse().unwrap_or_else(|e| panic!("{line}: {e:?}"));
        let done = world.apply(&command, &mut Step::empty());
        done.unwrap_or_else(|e| panic!("{line}: {e:?}"));
    }
    world
}

/// Searches, and tells what was found again in the world.
fn search(world: &World, bounds: Bounds, goal: &Goal) -> (Option<Vec<String>>, World) {
    let model = Consensus::new(world, bounds, goal.clone(), Vec::new()).unwrap();
    let mut explorer = Explorer::new(model, LIMITS);
    let outcome = explorer.run().clone();
    let progress = explorer.progress();
    eprintln!("{progress:?} {:?}", explorer.model().parts());
    match outcome {
        Outcome::Found { path, .. } => {
            let mut model = explorer.into_model();
            let mut replay = Replay::new(&mut model, world);
            for action in path {
                assert_eq!(replay.act(action), Ok(true), "{action:?}");
            }
            let lines = replay.commands.iter().map(ToString::to_string).collect();
            (Some(lines), replay.world)
        }
        Outcome::Closed => (None, world.clone()),
        Outcome::LimitReached(limit) => panic!("{limit:?} at {progress:?}"),
    }
}

#[test]
fn a_forgotten_vote_is_found() {
    let world = world(&setup(3, &[Switch::PersistTermVote]), "");
    let goal = Goal::Break(Invariant::ElectionSafety);
    let (commands, after) = search(&world, Bounds::default(), &goal);
    eprintln!("{}", commands.unwrap().join("\n"));
    assert!(after.broken(Invariant::ElectionSafety).is_some());
}

/// Random moves in search and world: after each, every process, the monitors and the truth are the same.
#[test]
fn search_and_world_go_in_step() {
    for seed in 0..300 {
        let roll = |n: u64, count: u64| below(draw(seed, Purpose::Test, 1, count), n);
        let mut off = Vec::new();
        for (at, switch) in Switch::ALL.iter().enumerate() {
            if roll(6, 1_000 + at as u64) == 0 {
                off.push(*switch);
            }
        }
        let servers = if roll(4, 0) == 0 { 5 } else { 3 };
        let setup = Setup {
            after_first_election: roll(2, 2) == 0,
            ..setup(servers, &off)
        };
        let start = world(&setup, "");
        let bounds = Bounds {
            term: 6,
            in_flight: 3,
            crashes: 4,
            duplicates: 6,
            puts: 4,
            rings: 12,
            ..Bounds::default()
        };
        let goal = Goal::Break(Invariant::NoLostWrite);
        let mut model = Consensus::new(&start, bounds, goal, Vec::new()).unwrap();
        let mut replay = Replay::new(&mut model, &start);
        for count in 0..120 {
            let actions = replay.actions();
            if actions.is_empty() {
                break;
            }
            let action = actions[roll(actions.len() as u64, 10 + count) as usize];
            if let Err(differs) = replay.act(action) {
                let told: Vec<String> = replay.commands.iter().map(ToString::to_string).collect();
                panic!("seed {seed}, {off:?}: {differs:?}\n{}", told.join("\n"));
            }
        }
    }
}
