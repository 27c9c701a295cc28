//! A run wound back and forth, branched, written down and read again is the same run.
//!
//! The film and its negative: whatever way one comes to a moment, the world there has one fingerprint.
//! The yardstick is a plain world, stepped once from its start with the same commands.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;

use crate::play::{Play, contended, stage};
use leasehold_engine::command::{Command, CommandError, MessageName};
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::{Event, MessageId, Step, StepKind};
use leasehold_engine::hash::stable_hash;
use leasehold_engine::history::{History, ImportError, Position, STEPS_MAX};
use leasehold_engine::run_file::RunFile;
use leasehold_engine::setup::{Kind, Setup};
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::units::{Duration, SimTime, StepNumber};
use leasehold_engine::world::World;

const STEPS: u64 = 1_500;

fn position_below(seed: u64, count: u64, n: u64) -> u64 {
    below(draw(seed, Purpose::Test, 1, count), n)
}

/// A run under a swarm of faults, with what was recorded of it on the way.
struct Recorded {
    history: History,
    /// By steps taken: the fingerprint right after the last of them.
    hashes: Vec<u64>,
    steps: Vec<Step>,
}

fn recorded(seed: u64) -> Recorded {
    let mut swarm = Swarm::new(seed, Beyond::default());
    let mut history = History::new(swarm.setup()).unwrap();
    let mut hashes = vec![history.world().state_hash()];
    let mut steps = Vec::new();
    swarm.play(&mut history, STEPS, |step, world| {
        hashes.push(world.state_hash());
        steps.push(step.clone());
    });
    assert_eq!(hashes.len(), steps.len() + 1);
    Recorded {
        history,
        hashes,
        steps,
    }
}

/// The same commands at the same positions in a plain world, up to `to`.
fn replayed(history: &History, to: SimTime) -> World {
    let mut world = World::new(history.world().setup().clone()).unwrap();
    let mut commands = history.commands().iter().peekable();
    let mut step = Step::empty();
    loop {
        let number = world.step_count();
        if let Some((position, command)) = commands.next_if(|(p, _)| p.step == number && p.at <= to)
        {
            world.advance(position.at);
            world.apply_or_skip(command, &mut step);
        } else if world.next_at().is_some_and(|next| next <= to) {
            world.step(&mut step);
        } else {
            world.advance(to);
            return world;
        }
    }
}

#[test]
fn any_step_sought_has_the_state_it_had() {
    for seed in 1..=6 {
        let Recorded {
            mut history,
            hashes,
            ..
        } = recorded(seed);
        let end = history.end();
        let mut step = Step::empty();
        for count in 0..60 {
            let to = position_below(seed, count, end.step.0 + 1);
            history.seek(StepNumber(to));
            assert_eq!(history.world().step_count(), StepNumber(to));
            assert_eq!(
                history.world().state_hash(),
                hashes[to as usize],
                "seed {seed} step {to}"
            );
            // One forward and one back again.
            if to < end.step.0 {
                assert!(history.step(&mut step));
                assert_eq!(step.number, StepNumber(to));
                assert_eq!(history.world().state_hash(), hashes[to as usize + 1]);
                history.seek(StepNumber(to));
                assert_eq!(history.world().state_hash(), hashes[to as usize]);
            }
        }
        assert_eq!(history.end(), end, "looking changes nothing");
        assert_eq!(history.branches().count(), 1);
    }
}

#[test]
fn any_moment_sought_has_the_state_of_a_plain_replay() {
    for seed in 11..=14 {
        let Recorded { mut history, .. } = recorded(seed);
        let end = history.end();
        for count in 0..25 {
            let to = SimTime(position_below(seed, count, end.at.0 + 1));
            history.seek_time(to);
            let world = replayed(&history, to);
            assert_eq!(
                history.position(),
                Position {
                    at: to,
                    step: world.step_count()
                }
            );
            assert_eq!(
                history.world().state_hash(),
                world.state_hash(),
                "seed {seed} at {to}"
            );
            assert!(*history.world() == world);
        }
        history.seek_time(SimTime(u64::MAX));
        assert_eq!(history.position(), end, "no further than it was played");
    }
}

#[test]
fn beyond_its_end_a_run_is_not_sought() {
    let Recorded {
        mut history,
        hashes,
        ..
    } = recorded(21);
    let end = history.end();
    history.seek(StepNumber(0));
    history.seek(StepNumber(STEPS_MAX));
    assert_eq!(history.world().step_count(), end.step);
    assert_eq!(Some(&history.world().state_hash()), hashes.last());
}

#[test]
fn details_derived_again_are_those_recorded() {
    for seed in 31..=34 {
        let Recorded { history, steps, .. } = recorded(seed);
        assert_eq!(history.steps(), steps.len());
        assert_eq!(history.details(StepNumber(0), StepNumber(STEPS_MAX)), steps);
        for count in 0..40 {
            let number = position_below(seed, count, steps.len() as u64);
            let step = &steps[number as usize];
            assert_eq!(history.detail(StepNumber(number)).as_ref(), Some(step));
            let entry = history.entry(StepNumber(number)).unwrap();
            let head = (entry.at, entry.process, entry.rule);
            assert_eq!(head, (step.at, step.process, step.rule()));
        }
        assert_eq!(history.detail(history.end().step), None);
    }
}

#[test]
fn acting_in_the_past_starts_a_branch_and_the_old_future_stays() {
    for seed in 41..=44 {
        let Recorded {
            mut history,
            hashes,
            steps,
        } = recorded(seed);
        let first = history.branch();
        let (end, commands) = (history.end(), history.commands().to_vec());
        let at = end.step.0 / 3 + position_below(seed, 0, end.step.0 / 3);
        history.seek(StepNumber(at));
        let fork = history.position();
        let mut step = Step::empty();
        history
            .act("clock s1 jump +1s".parse().unwrap(), &mut step)
            .unwrap();
        assert_ne!(history.branch(), first);
        assert_eq!(step.number, StepNumber(at));
        history.run_to(history.position().at.plus(Duration::secs(5)), |_, _| {});
        let second = history.branch();
        let (other_end, other_hash) = (history.end(), history.world().state_hash());
        let parent = history
            .branches()
            .find(|(id, _)| *id == second)
            .unwrap()
            .1
            .parent;
        assert_eq!(parent, Some((first, fork)));

        // The old future, whole.
        history.switch_to(first);
        assert_eq!((history.end(), history.commands()), (end, &commands[..]));
        assert_eq!(history.details(StepNumber(0), end.step), steps);
        history.seek(end.step);
        assert_eq!(history.world().state_hash(), hashes[end.step.0 as usize]);

        // And the new one, as it was; what both share is the same.
        history.switch_to(second);
        assert_eq!(history.end(), other_end);
        history.seek(StepNumber(at));
        assert_eq!(history.world().state_hash(), hashes[at as usize]);
        history.seek_time(other_end.at);
        assert_eq!(history.world().state_hash(), other_hash);
        assert_eq!(history.branches().count(), 2);
    }
}

#[test]
fn playing_on_from_the_past_starts_no_branch() {
    let Recorded {
        mut history,
        hashes,
        ..
    } = recorded(51);
    let end = history.end();
    history.seek(StepNumber(100));
    history.run_to(end.at, |_, _| {});
    assert_eq!(history.branches().count(), 1);
    assert_eq!(history.end().step, end.step);
    assert_eq!(
        history.world().state_hash(),
        replayed(&history, end.at).state_hash()
    );
    assert!(hashes.len() as u64 == end.step.0 + 1);
}

#[test]
fn a_refused_command_starts_no_branch() {
    let Recorded { mut history, .. } = recorded(52);
    history.seek(StepNumber(100));
    let hash = history.world().state_hash();
    let refused = history.act("resume s1x".parse().unwrap(), &mut Step::empty());
    assert!(matches!(refused, Err(CommandError::UnknownProcess { .. })));
    assert_eq!(history.branches().count(), 1);
    assert_eq!(history.world().state_hash(), hash);
}

// Files ------------------------------------------------------------------------------------------

#[test]
fn a_run_file_read_again_is_the_same_run() {
    for seed in 61..=66 {
        let Recorded { history, steps, .. } = recorded(seed);
        let file = history.export();
        let imported = History::import(&file).unwrap();
        assert_eq!(imported.differs_from, None, "seed {seed}");
        let again = imported.history;
        assert_eq!(again.end(), history.end(), "seed {seed}");
        assert_eq!(again.commands(), history.commands());
        assert_eq!(again.details(StepNumber(0), again.end().step), steps);
        assert_eq!(again.export(), file);
    }
}

#[test]
fn commands_given_just_before_a_step_due_at_that_moment_stay_before_it() {
    let mut history = History::new(stage()).unwrap();
    let mut step = Step::empty();
    history
        .act("acquire A orders".parse().unwrap(), &mut step)
        .unwrap();
    // The request arrives at 50 ms; both commands come at that time and before it.
    while history.next_at().is_some_and(|next| next < SimTime(50_000)) {
        history.step(&mut step);
    }
    history.advance(SimTime(50_000));
    assert_eq!(history.next_at(), Some(SimTime(50_000)));
    for command in ["pause s1", "put c1 x \"1\""] {
        history.act(command.parse().unwrap(), &mut step).unwrap();
    }
    history.run_to(SimTime(2_000_000), |_, _| {});
    let imported = History::import(&history.export()).unwrap();
    assert_eq!(imported.differs_from, None);
    assert_eq!(imported.history.commands(), history.commands());
}

/// A holds, sleeps from 2 s to 9 s, and B gets the lease meanwhile.
fn slept_through() -> History {
    let mut history = History::new(contended()).unwrap();
    let mut step = Step::empty();
    for (at, command) in [
        (2, "pause A"),
        (9, "resume A"),
        (10, "write B orders \"x\""),
    ] {
        history.run_to(SimTime(at * 1_000_000), |_, _| {});
        history.act(command.parse().unwrap(), &mut step).unwrap();
    }
    history.run_to(SimTime(12_000_000), |_, _| {});
    history
}

fn skipped(history: &History) -> Vec<Command> {
    let steps = history.details(StepNumber(0), history.end().step);
    let commands = steps.iter().filter_map(|step| match &step.kind {
        StepKind::Command { command } => {
            let skipped = |event: &Event| matches!(event, Event::CommandSkipped { .. });
            step.events().any(skipped).then(|| Command::clone(command))
        }
        StepKind::Delivery { .. } | StepKind::Timer { .. } | StepKind::Synced => None,
    });
    commands.collect()
}

#[test]
fn in_an_edited_file_what_no_longer_applies_is_skipped() {
    let history = slept_through();
    assert!(skipped(&history).is_empty());
    let mut file: RunFile = history.export();
    // Nobody sleeps any more, so there is nobody to wake.
    file.commands[0].command = "cut A -> orders".to_owned();
    let imported = History::import(&file).unwrap();
    assert_eq!(skipped(&imported.history), ["resume A".parse().unwrap()]);
    assert_eq!(
        imported.history.commands().len(),
        3,
        "it stays in the record"
    );
    assert_eq!(imported.history.end().at, history.end().at);
    // The first compared moment after the edit is the one before the second command.
    let (second, _) = &imported.history.commands()[1];
    assert_eq!(imported.differs_from, Some(second.step));
}

#[test]
fn a_file_of_another_engine_says_from_which_step_it_differs() {
    let mut file = slept_through().export();
    file.commands[2].hash = 1;
    let imported = History::import(&file).unwrap();
    let (third, _) = &imported.history.commands()[2];
    assert_eq!(imported.differs_from, Some(third.step));

    let mut file = slept_through().export();
    file.end.hash = 1;
    let imported = History::import(&file).unwrap();
    assert_eq!(imported.differs_from, Some(imported.history.end().step));
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let file = slept_through().export();
    let with = |change: fn(&mut RunFile)| {
        let mut file = file.clone();
        change(&mut file);
        History::import(&file).unwrap_err()
    };
    assert_eq!(
        with(|f| f.version = 99),
        ImportError::Version {
            given: 99,
            known: 1
        }
    );
    let error = with(|f| f.commands[1].command = "resum A".to_owned());
    assert!(
        matches!(error, ImportError::Command { place: 2, .. }),
        "{error:?}"
    );
    let error = with(|f| f.setup.servers = 2);
    assert!(matches!(error, ImportError::Setup(_)), "{error:?}");
}

// Commands that cannot be carried out -------------------------------------------------------------

#[test]
fn every_refusal_changes_nothing() {
    let mut play = Play::of(
        contended(),
        "until A believes it holds orders\npause A\ncrash s2\nrun 100ms",
    );
    let known = "s1, s2, s3, A, B, c1, orders".to_owned();
    let named = |name: &str| name.to_owned();
    let missing = MessageName {
        from: "s1".into(),
        to: "s3".into(),
        number: 9_999,
    };
    let cases = [
        (
            "pause Z",
            CommandError::UnknownProcess {
                name: named("Z"),
                known,
            },
        ),
        (
            "acquire B mail",
            CommandError::UnknownResource {
                name: named("mail"),
                known: named("orders"),
            },
        ),
        (
            "release orders",
            CommandError::WrongKind {
                name: named("orders"),
                is: Kind::Store,
                wanted: "worker",
            },
        ),
        (
            "partition s1 B | s3 B",
            CommandError::NamedTwice { name: named("B") },
        ),
        ("pause A", CommandError::AlreadyAsleep { name: named("A") }),
        ("resume B", CommandError::NotAsleep { name: named("B") }),
        (
            "crash s2",
            CommandError::AlreadyCrashed { name: named("s2") },
        ),
        ("restart s1", CommandError::NotCrashed { name: named("s1") }),
        ("pause s2", CommandError::Crashed { name: named("s2") }),
        (
            "drop s1>s3#9999",
            CommandError::NoSuchMessage { message: missing },
        ),
        (
            "cut s1 -> s1",
            CommandError::SameProcess { name: named("s1") },
        ),
        (
            "latency s1 -> s3 60ms 40ms",
            CommandError::Range {
                low: Duration::millis(60),
                high: Duration::millis(40),
            },
        ),
        (
            "latency s1 -> s3 0s 40ms",
            CommandError::Span {
                given: Duration::ZERO,
            },
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(play.refusal(line), expected, "{line}");
    }
    // Too much is waiting: as many as are kept, then no more.
    for (work, most) in [("put c1 x \"1\"", 64), ("write s1 orders \"1\"", 16)] {
        let error = loop {
            let mut step = Step::empty();
            let command = play.command(work);
            if play.world.apply(&command, &mut step).is_err() {
                break play.refusal(work);
            }
        };
        assert_eq!(error, CommandError::TooManyWaiting { most }, "{work}");
    }
    // And the run goes on as if nothing had been asked.
    play.run("resume A\nrestart s2\nrun 3s");
    play.assert_kept();
}

// Draws and copies ---------------------------------------------------------------------------------

/// How long each message was under way, by its name, for as long as the run lasts.
fn latencies(script: &[(u64, &str)]) -> BTreeMap<MessageId, u64> {
    let setup = Setup {
        latency_max: Duration::millis(900),
        latency_min: Duration::millis(10),
        election_fixed: Vec::new(),
        ..contended()
    };
    let mut world = World::new(setup).unwrap();
    let mut step = Step::empty();
    let mut script = script.iter().peekable();
    let mut seen = BTreeMap::new();
    while world.now() < SimTime(20_000_000) {
        let due = |(at, _): &&(u64, &str)| world.next_at().is_some_and(|next| SimTime(*at) <= next);
        if let Some((at, command)) = script.next_if(due) {
            world.advance(SimTime(*at));
            world.apply(&command.parse().unwrap(), &mut step).unwrap();
        } else {
            world.step(&mut step);
        }
        for flight in world.in_flight() {
            seen.insert(flight.id, flight.arrives_at.since(flight.sent_at).0);
        }
    }
    seen
}

#[test]
fn an_added_fault_leaves_the_draws_of_the_others_alone() {
    let calm = latencies(&[]);
    let faults = latencies(&[
        (1_000_000, "cut s1 -> B"),
        (3_000_000, "crash s3"),
        (6_000_000, "restart s3"),
    ]);
    let both = calm
        .iter()
        .filter_map(|(id, span)| Some((id, span, faults.get(id)?)));
    let mut count = 0;
    for (id, calm, faulty) in both {
        assert_eq!(calm, faulty, "{id:?}");
        count += 1;
    }
    assert!(
        count > 200,
        "{count} messages have the same name in both runs"
    );
    assert_ne!(calm.len(), faults.len(), "the runs differ all the same");
}

#[test]
fn a_clone_lives_its_own_life() {
    let mut play = Play::of(stage(), "acquire A orders\nput c1 x \"1\"\nat 3s");
    let copy = play.world.clone();
    let hash = copy.state_hash();
    play.run("crash s1\ncut A -> s2\nclock B jump +1s\nput c1 y \"2\"\nset fence off\nat 9s");
    assert_ne!(play.world.state_hash(), hash);
    assert_eq!(
        copy.state_hash(),
        hash,
        "what happens to the one does not happen to the other"
    );
    let mut other = Play {
        world: copy,
        steps: Vec::new(),
    };
    other.run("at 9s");
    let undisturbed = Play::of(stage(), "acquire A orders\nput c1 x \"1\"\nat 9s");
    assert_eq!(other.world.state_hash(), undisturbed.world.state_hash());
    assert!(other.world == undisturbed.world);
}

#[test]
fn equal_states_have_equal_fingerprints_whatever_way_they_came_about() {
    let straight = Play::of(stage(), "acquire A orders\nat 4s");
    let stepwise = Play::of(stage(), "acquire A orders\nat 1s\nat 2.345678s\nat 4s");
    assert!(straight.world == stepwise.world);
    assert_eq!(stable_hash(&straight.world), stable_hash(&stepwise.world));
    let other = Play::of(stage(), "acquire B orders\nat 4s");
    assert_ne!(other.world.state_hash(), straight.world.state_hash());
}
