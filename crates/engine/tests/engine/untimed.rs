//! A world without time: a film that stands still until somebody turns the crank.
//!
//! Messages wait for their `deliver`, timers for their `ring`; nothing is ever due. Leases say little here,
//! because no clock runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::play::{Play, S2, cold, stage};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, Step, TimerKind};
use leasehold_engine::setup::{Setup, SetupError};
use leasehold_engine::units::{Duration, SimTime};
use leasehold_engine::world::World;

fn untimed(setup: Setup) -> Setup {
    Setup {
        untimed: true,
        ..setup
    }
}

#[test]
fn only_commands_make_anything_happen() {
    let mut play = Play::new(untimed(cold()));
    assert_eq!(play.world.next_at(), None);
    assert!(!play.world.step(&mut Step::empty()));
    assert!(!play.world.step_silent());
    play.run(
        "campaign s1
         deliver s1>s2#1
         deliver s2>s1#1
         expect s1 leads term 1
         put c1 x \"5\"
         deliver c1>s1#1
         -- The first append carries the empty entry, the second carries x.
         deliver s1>s2#2
         deliver s1>s2#3
         deliver s2>s1#2
         deliver s2>s1#3
         expect s1 has x = \"5\"
         expect s2 has no x
         ring s1 heartbeat
         deliver s1>s2#last
         expect s2 has x = \"5\"",
    );
    assert_eq!(play.world.now(), SimTime(0));
    assert_eq!(
        play.count(S2, |e| matches!(e, Event::ElectionStarted { .. })),
        0
    );
    // Letting time pass does nothing, because none does.
    let before = play.world.clone();
    play.world.advance(SimTime(5_000_000));
    assert!(play.world == before);
}

#[test]
fn the_quiet_start_still_takes_its_time_and_then_it_stops() {
    let play = Play::new(untimed(stage()));
    assert!(play.holds("s1 leads term 1"));
    assert_eq!((play.world.now(), play.world.next_at()), (SimTime(0), None));
}

#[test]
fn a_timer_that_does_not_run_cannot_ring() {
    let mut play = Play::new(untimed(cold()));
    let refused = |name: &str, timer| CommandError::NoSuchTimer {
        name: name.to_owned(),
        timer,
    };
    assert_eq!(
        play.refusal("ring s1 heartbeat"),
        refused("s1", TimerKind::Heartbeat)
    );
    assert_eq!(
        play.refusal("ring c1 client_timeout"),
        refused("c1", TimerKind::ClientTimeout)
    );
    play.run(
        "ring s1 election
         expect s1 is in term 1
         put c1 x \"5\"
         ring c1 client_timeout",
    );
    assert_eq!(
        play.world.link(play.id("c1"), S2).sent,
        1,
        "it asks the next server"
    );
    play.run("crash s1");
    assert!(matches!(
        play.refusal("ring s1 election"),
        CommandError::Crashed { .. }
    ));
}

#[test]
fn what_waited_for_a_sleeper_waits_for_its_deliver_again() {
    let mut play = Play::of(
        untimed(cold()),
        "campaign s1
         pause s2
         deliver s1>s2#1
         resume s2",
    );
    assert_eq!(play.world.waiting_for(S2), 0);
    play.run(
        "deliver s1>s2#1
         expect s2 is in term 1",
    );
}

#[test]
fn without_time_no_sync_can_end() {
    let setup = Setup {
        sync: Duration::millis(1),
        ..untimed(cold())
    };
    assert!(matches!(
        World::new(setup).unwrap_err(),
        SetupError::Span { field: "sync", .. }
    ));
}

#[test]
fn in_a_timed_world_ring_only_hurries_a_timer() {
    let mut play = Play::of(stage(), "ring s1 heartbeat\nring s2 election");
    assert!(play.holds("s2 is in term 2"));
    play.run("run 5s");
    play.assert_kept();
}
