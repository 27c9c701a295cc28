//! The search over the real servers: what it finds plays in a real world, and breaks there just so.
//!
//! The detective's story is told again at the scene, step by step, and must come out the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::Step;
use leasehold_engine::explore::consensus::{Bounds, Consensus, Goal, Replay};
use leasehold_engine::explore::leases;
use leasehold_engine::explore::{Explorer, Limits, Outcome};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::Duration;
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
fn a_forgotten_vote_is_found_by_a_shortest_script_every_time() {
    let world = world(&setup(3, &[Switch::PersistTermVote]), "");
    let goal = Goal::Break(Invariant::ElectionSafety);
    let (commands, after) = search(&world, Bounds::default(), &goal);
    assert!(after.broken(Invariant::ElectionSafety).is_some());
    let commands = commands.unwrap();
    // Two elections of three moves each, and a crash between them, with its restart.
    assert_eq!(commands.len(), 8, "{commands:?}");
    assert_eq!(
        search(&world, Bounds::default(), &goal).0,
        Some(commands),
        "the same again"
    );
}

#[test]
fn a_search_in_slices_is_the_same_search() {
    let world = world(&setup(3, &[]), "");
    let search = |slice| {
        let goal = Goal::Break(Invariant::LogMatching);
        let model = Consensus::new(&world, Bounds::default(), goal, Vec::new()).unwrap();
        let limits = Limits {
            states: 20_000,
            ..LIMITS
        };
        let mut explorer = Explorer::new(model, limits);
        while explorer.outcome().is_none() {
            explorer.advance(slice);
        }
        (explorer.outcome().cloned(), explorer.progress())
    };
    assert_eq!(search(7), search(1_000_000));
}

/// Random moves in search and world: after each, every process, the monitors and the truth are the same.
#[test]
fn search_and_world_go_in_step() {
    let (mut moves, mut breaks) = (0, 0);
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
            match replay.act(action) {
                Ok(made) => moves += u32::from(made),
                Err(differs) => {
                    let told = replay.commands.iter().map(ToString::to_string);
                    let told: Vec<String> = told.collect();
                    panic!("seed {seed}, {off:?}: {differs:?}\n{}", told.join("\n"));
                }
            }
        }
        let is_broken = |i: &Invariant| replay.world.broken(*i).is_some();
        breaks += u32::from(Goal::INVARIANTS.iter().any(is_broken));
    }
    assert!(
        8_000 < moves && 5 < breaks,
        "{moves} moves, {breaks} broken"
    );
}

// Leases, in time ----------------------------------------------------------------------------

/// One server, two workers, a store; two seconds of lease, and a beat every half second.
fn leased(off: &[Switch], drift_ppm: u32) -> Setup {
    Setup {
        servers: 1,
        workers: vec!["A".into(), "B".into()],
        stores: vec!["orders".into()],
        clients: Vec::new(),
        contend: true,
        untimed: false,
        after_first_election: true,
        lease: Duration::secs(2),
        renew_every: Duration::millis(600),
        latency_min: Duration::millis(50),
        latency_max: Duration::millis(50),
        drift_ppm,
        ..setup(1, off)
    }
}

fn beats() -> leases::Bounds {
    leases::Bounds {
        horizon: Duration::secs(6),
        pauses: 0,
        writes: 0,
        delays: vec![Duration::millis(900)],
        ..leases::Bounds::default()
    }
}

/// Searches in time, and plays what was found in a world of its own: the commands, or none.
fn search_in_time(
    setup: &Setup,
    bounds: leases::Bounds,
    invariant: Invariant,
) -> Option<Vec<leases::Action>> {
    let world = World::new(setup.clone()).unwrap();
    let goal = leases::Goal::Break(invariant);
    let mut explorer = Explorer::new(leases::Leases::new(&world, bounds, goal), LIMITS);
    let path = match explorer.run().clone() {
        Outcome::Closed => return None,
        Outcome::Found { path, .. } => path,
        Outcome::LimitReached(limit) => panic!("{limit:?}"),
    };
    let mut world = world;
    for action in &path {
        assert_eq!(world.broken(invariant), None, "nothing shorter does it");
        match action {
            leases::Action::Run(span) => leases::run(&mut world, *span, |_, _| {}),
            leases::Action::Act(command) => {
                world.apply(command, &mut Step::empty()).unwrap();
            }
        }
    }
    assert!(world.broken(invariant).is_some(), "{path:?}");
    Some(path)
}

/// With the mechanism on, the same search sees all that it can reach, and finds nothing.
fn check_in_time(switch: Switch, bounds: &leases::Bounds, invariant: Invariant) {
    let found = search_in_time(&leased(&[switch], 0), bounds.clone(), invariant);
    assert!(found.is_some(), "{switch} off");
    let found = search_in_time(&leased(&[], 0), bounds.clone(), invariant);
    assert_eq!(found, None, "{switch} on");
}

#[test]
fn a_sleeper_that_writes_with_an_old_token_is_found_and_the_fence_stops_it() {
    let bounds = leases::Bounds {
        pauses: 1,
        writes: 2,
        ..beats()
    };
    check_in_time(Switch::Fence, &bounds, Invariant::NoOlderToken);
}

#[test]
fn a_holder_that_counts_from_when_it_was_told_is_found() {
    let bounds = leases::Bounds {
        pauses: 1,
        latencies: 1,
        ..beats()
    };
    let switch = Switch::ConservativeDeadline;
    check_in_time(switch, &bounds, Invariant::DeadlineWithinGrant);
}

#[test]
fn what_stands_on_the_menu_is_done_once_and_twice_if_it_stands_there_twice() {
    let sleep = Command::Pause {
        process: "s1".into(),
    };
    let search = |times: usize| {
        let bounds = leases::Bounds {
            menu: vec![sleep.clone(); times],
            tick: Duration::secs(1),
            ..beats()
        };
        let world = World::new(leased(&[], 0)).unwrap();
        let goal = leases::Goal::Break(Invariant::OneHolder);
        let mut explorer = Explorer::new(leases::Leases::new(&world, bounds, goal), LIMITS);
        assert_eq!(*explorer.run(), Outcome::Closed);
        explorer.progress().states
    };
    let [never, once, twice] = [0, 1, 2].map(search);
    // Seven moments; s1 falls asleep at one of them, and wakes then or later.
    assert_eq!(never, 7);
    assert!(never < once && once < twice, "{never} {once} {twice}");
}

#[test]
fn clocks_within_the_bound_do_no_harm_and_beyond_it_they_do() {
    let bounds = |ppm: u32| leases::Bounds {
        pauses: 1,
        rates: 1,
        clocks: vec![1_000_000 - ppm, 1_000_000 + ppm],
        ..beats()
    };
    let search = |ppm| {
        let setup = leased(&[], 100_000);
        search_in_time(&setup, bounds(ppm), Invariant::DeadlineWithinGrant)
    };
    assert_eq!(search(90_000), None, "one clock is at most 10 % faster");
    assert!(search(400_000).is_some());
}
