//! Random search and shrinking: what is found is found again, made short, and still the same break.

#![allow(clippy::unwrap_used, reason = "a test may")]

use leasehold_engine::event::Step;
use leasehold_engine::fuzz::{Find, Fuzzer, Options, Progress};
use leasehold_engine::history::History;
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::timed_script::TimedScript;
use leasehold_engine::units::{Duration, SimTime};

fn without(switch: Switch) -> Options {
    Options {
        runs: 500,
        set: vec![(switch, Position::Off)],
        sought: switch.breaks(),
        ..Options::default()
    }
}

fn find(options: &Options) -> Find {
    let mut fuzzer = Fuzzer::new(options.clone());
    fuzzer.finish().unwrap().expect("something breaks").clone()
}

#[test]
fn the_same_search_finds_the_same_in_portions_of_any_size() {
    let options = without(Switch::RenewQuorumRound);
    let whole = find(&options);
    for portion in [1, 97, 10_000] {
        let mut fuzzer = Fuzzer::new(options.clone());
        let mut calls = 0_u64;
        while fuzzer.find().is_none() {
            fuzzer.advance(portion).unwrap();
            calls += 1;
        }
        assert_eq!(fuzzer.find(), Some(&whole), "portion {portion}");
        let needed = fuzzer.totals().steps / portion;
        assert!(
            needed <= calls,
            "a call took more than its portion: {calls} < {needed}"
        );
    }
    let seed = whole.seed;
    let again = Options {
        seed,
        runs: 1,
        ..options
    };
    assert_eq!(find(&again).script, whole.script, "its own seed is enough");
}

/// A script is as short as one that a person would write, breaks the same invariant, and breaks nothing
/// once the switch is back.
#[test]
fn what_is_found_is_short_and_the_switch_alone_decides() {
    for (switch, commands_max) in [
        (Switch::Fence, 8),
        (Switch::MonotonicDeadline, 5),
        (Switch::GrantAtApply, 4),
        (Switch::ReplyAfterCommit, 7),
        (Switch::OneVotePerTerm, 7),
    ] {
        let find = find(&without(switch));
        let invariant = switch.breaks().unwrap();
        assert_eq!(find.invariant, invariant);
        let world = find.script.play(|_, _| {}).unwrap();
        assert_eq!(world.broken(invariant), Some(&find.broken), "{switch}");
        let after = find.script.end.since(find.broken.at);
        assert!(
            after <= Duration::millis(200),
            "{switch}: it ends where it breaks"
        );
        let commands = find.script.commands.len();
        assert!(commands <= commands_max, "{switch}: {:#?}", find.script);
        assert!(commands <= find.commands_found);

        let mut on = find.script.clone();
        on.setup.switches.retain(|(name, _)| name != switch.name());
        let world = on.play(|_, _| {}).unwrap();
        for invariant in Invariant::ALL {
            assert_eq!(world.broken(*invariant), None, "{switch} on");
        }
    }
}

#[test]
fn nothing_of_a_shrunk_script_can_be_left_out() {
    let find = find(&without(Switch::ReplyAfterCommit));
    assert!(!find.script.commands.is_empty());
    for place in 0..find.script.commands.len() {
        let mut less = find.script.clone();
        less.commands.remove(place);
        let world = less.play(|_, _| {}).unwrap();
        assert_eq!(
            world.broken(find.invariant),
            None,
            "without command {place}"
        );
    }
}

#[test]
fn shrinking_takes_no_more_replays_than_it_may() {
    for replays in [1, 10, 40] {
        let options = Options {
            replays,
            ..without(Switch::MonotonicDeadline)
        };
        let find = find(&options);
        assert!(find.replays <= replays);
        if replays == 1 {
            assert_eq!(
                find.script.commands.len(),
                find.commands_found,
                "as it was found"
            );
        }
        let world = find.script.play(|_, _| {}).unwrap();
        assert_eq!(world.broken(find.invariant), Some(&find.broken));
    }
}

#[test]
fn what_is_sought_is_found_whatever_else_breaks() {
    // Without votes that count, nearly everything breaks; only the one that is asked for is told.
    let options = Options {
        sought: Some(Invariant::StateMachineSafety),
        ..without(Switch::OneVotePerTerm)
    };
    let find = find(&options);
    assert_eq!(find.invariant, Invariant::StateMachineSafety);
    assert!(matches!(find.broken.reason, Reason::AppliedDiffer { .. }));
}

#[test]
fn with_everything_on_the_search_ends_without_a_find() {
    let options = Options {
        runs: 20,
        steps: 500,
        ..Options::default()
    };
    let mut fuzzer = Fuzzer::new(options);
    assert_eq!(fuzzer.finish().unwrap(), None);
    assert_eq!(fuzzer.progress(), Progress::NothingFound);
    let totals = *fuzzer.totals();
    assert_eq!((totals.runs, totals.steps), (20, 10_000));
    assert_eq!(fuzzer.advance(1_000).unwrap(), Progress::NothingFound);
    assert_eq!(
        *fuzzer.totals(),
        totals,
        "an ended search does nothing more"
    );
}

/// What a random run did can be said by its commands and their times alone.
#[test]
fn a_timed_script_of_a_random_run_is_that_run() {
    let beyond = Beyond {
        drift: true,
        switches: true,
    };
    for seed in 0..60 {
        let mut swarm = Swarm::new(seed, beyond);
        let mut history = History::new(swarm.setup()).unwrap();
        swarm.play(&mut history, 1_500, |_, _| {});
        let end = history.world().now();
        let end = SimTime(end.0 + 1_000);
        history.run_to(end, |_, _| {});
        let commands = history.commands().iter();
        let script = TimedScript {
            setup: history.world().setup().clone(),
            commands: commands.map(|(p, c)| (p.at, c.clone())).collect(),
            end,
        };
        let mut last = Step::empty();
        let world = script.play(|step, _| last = step.clone()).unwrap();
        assert_eq!(
            world.state_hash(),
            history.world().state_hash(),
            "seed {seed}"
        );
        assert_eq!(world.step_count(), history.world().step_count());
        assert_eq!(last.number.0 + 1, world.step_count().0);
    }
}
