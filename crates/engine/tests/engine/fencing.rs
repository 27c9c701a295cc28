//! What the store does with a stale write, a repeated one and one of another lease; and what it cannot do.
//!
//! The inspector at the gate, seen from both sides. Cases N of the literature, in our own numbers: messages
//! take 50 ms unless said, a lease 5 s. Cases N10, N12 to N14 and N17 wait for their recipes.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "these are tests"
)]

use crate::common::{Run, check};
use crate::play::{A, B, C1, ORDERS, Play, stage, with_switch};
use leasehold_engine::event::{Event, Outcome};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::setup::Setup;
use leasehold_engine::store::{Scope, WriteVerdict};
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, OpId, ProcessId, ResourceId, Term, Token};

/// A sleeps between check and send until B holds.
const CHECKED_THEN_ASLEEP: &str = "
    acquire A orders
    until A believes it holds orders
    acquire B orders
    pause A before send
    write A orders \"late\"
    until B believes it holds orders
    write B orders \"new\"
    run 1s
    expect A is asleep and A believes it holds orders
    expect orders has seen token 2
    resume A
    run 200ms
";

/// Case N01.
#[test]
fn n01_a_zombies_write_is_refused_with_both_tokens_named() {
    let play = Play::of(stage(), CHECKED_THEN_ASLEEP);
    let refused = |e: &Event| {
        matches!(
            e,
            Event::WriteRefused {
                from: A,
                token: Token(1),
                highest: Token(2),
                ..
            }
        )
    };
    assert_eq!(play.count(ORDERS, refused), 1);
    assert!(play.holds("keeps no-older-token"));
    let ended = |e: &Event| {
        matches!(
            e,
            Event::WriteEnded {
                outcome: Outcome::Refused,
                ..
            }
        )
    };
    assert_eq!(play.count(A, ended), 1, "and it is told so");
    play.assert_kept();
}

/// Case N01, fence off.
#[test]
fn n01_a_zombies_write_is_accepted_where_nothing_checks() {
    let play = Play::of(
        with_switch(stage(), Switch::Fence, "off"),
        CHECKED_THEN_ASLEEP,
    );
    let broken = play.world.broken(Invariant::NoOlderToken).unwrap();
    assert_eq!(
        broken.reason,
        Reason::OlderTokenAccepted {
            store: ORDERS,
            from: A,
            token: Token(1),
            highest: Token(2),
            highest_from: B,
        }
    );
    assert_eq!(play.world.store(ORDERS).unwrap().highest(), Token(2));
}

/// Case N02: A does nothing wrong; its packet is held up on the way.
#[test]
fn n02_a_late_packet_is_refused_though_nobody_slept() {
    let play = Play::of(
        stage(),
        "acquire A orders
         acquire B orders
         at 1s
         write A orders \"held up\"
         at 1.31s
         delay A>orders#last 8s
         at 2.5s
         release A                                -- long after it sent
         until B believes it holds orders
         write B orders \"new\"
         run 9s
         expect orders refuses A with token 1 \"held up\"
         expect orders accepts B with token 2",
    );
    assert_eq!(play.count(A, |e| matches!(e, Event::Paused { .. })), 0);
    let unknown = |e: &Event| {
        matches!(
            e,
            Event::WriteEnded {
                outcome: Outcome::Unknown,
                ..
            }
        )
    };
    assert_eq!(play.count(A, unknown), 1);
    play.assert_kept();
}

/// Case N03.
#[test]
fn n03_a_holder_may_write_again_with_the_same_token() {
    let play = Play::of(
        stage(),
        "acquire A orders
         at 1s
         write A orders \"one\"
         write A orders \"two\"
         write A orders \"three\"
         at 4s",
    );
    let accepted = |e: &Event| {
        matches!(
            e,
            Event::WriteAccepted {
                from: A,
                token: Token(1),
                ..
            }
        )
    };
    assert_eq!(play.count(ORDERS, accepted), 3);
}

/// Case N06: B's write slips in between the store's look at A's token and A's write.
#[test]
fn n06_a_store_that_checks_first_and_writes_later_can_be_overtaken() {
    let setup = Setup {
        store_delay: Duration::millis(500),
        ..with_switch(stage(), Switch::FenceAtomic, "off")
    };
    let script = "
        acquire A orders
        until A believes it holds orders
        acquire B orders
        pause A before send
        write A orders \"old\"
        until B believes it holds orders
        write B orders \"new\"                     -- reaches the store 350 ms from now
        run 200ms
        resume A                                   -- reaches the store 50 ms from now
        run 3s
    ";
    let play = Play::of(setup, script);
    let checked = |e: &Event| matches!(e, Event::WriteChecked { .. });
    assert_eq!(
        play.count(ORDERS, checked),
        2,
        "both were looked at before either was written"
    );
    assert!(play.world.broken(Invariant::NoOlderToken).is_some());
    // The same run with one step for both: whoever comes second meets the other's token.
    let play = Play::of(stage(), script);
    play.assert_kept();
}

/// Case N07.
#[test]
fn n07_observing_counts_what_enforcing_would_refuse() {
    let mut play = Play::of(
        with_switch(stage(), Switch::Fence, "observe"),
        CHECKED_THEN_ASLEEP,
    );
    let observed = |e: &Event| {
        matches!(
            e,
            Event::StaleWriteObserved {
                from: A,
                token: Token(1),
                highest: Token(2),
                ..
            }
        )
    };
    assert_eq!(play.count(ORDERS, observed), 1);
    let writes = play.world.store(ORDERS).unwrap().writes();
    assert_eq!(
        writes.last().unwrap().verdict,
        WriteVerdict::Observed { highest: Token(2) }
    );
    assert!(
        play.world.broken(Invariant::NoOlderToken).is_some(),
        "it was applied"
    );
    // Enforced from now on, the next stale write is refused: A acts without a look at its lease.
    play.run(
        "set fence enforce
         set check_before_write off at A
         write A orders \"again\"
         run 1s
         expect orders refuses A with token 1 \"again\"",
    );
}

/// Case N15.
#[test]
fn n15_a_raft_term_serves_as_a_token() {
    let play = Play::of(
        stage(),
        "partition s1 | s2 s3
         until s2 leads
         write s2 orders \"new\"
         run 1s
         expect s1 believes it leads               -- nobody told it
         write s1 orders \"old\"
         run 1s
         expect orders accepts s2 with token 2
         expect orders refuses s1 with token 1
         heal
         run 1s
         expect s1 does not believe it leads
         write s1 orders \"older\"
         run 1ms
         expect s1 withholds",
    );
    assert_eq!(
        play.world.truth().leader().map(|(_, term)| term),
        Some(Term(2))
    );
    play.assert_kept();
}

// N03 and N04: what must pass the gate -----------------------------------------------------------

/// Case N03, `fence_allows_equal` off: a strict gate refuses the holder's own second write.
#[test]
fn n03_a_strict_gate_refuses_the_holders_second_write() {
    let script = "
        acquire A orders
        at 1s
        write A orders \"one\"
        write A orders \"two\"
        at 4s
        expect orders accepts A \"one\"";
    let strict = with_switch(stage(), Switch::FenceAllowsEqual, "off");
    let mut play = Play::of(strict, script);
    play.run("expect orders has seen token 1");
    let refused = |e: &Event| {
        let one = Token(1);
        matches!(e, Event::WriteRefused { from: A, token, highest, .. } if (*token, *highest) == (one, one))
    };
    assert_eq!(
        play.count(ORDERS, refused),
        1,
        "no progress: 1 is not above 1"
    );
    let play = Play::of(stage(), script);
    assert_eq!(play.count(ORDERS, refused), 0);
    play.assert_kept();
}

/// Case N04: A holds x with a high token, B holds y with a low one, and both write to the same store.
const TWO_LOCKS: &str = "
    acquire A x
    until A believes it holds x
    release A
    run 300ms
    acquire A x
    until A believes it holds x
    acquire B y
    until B believes it holds y
    write A orders \"under x\"
    run 1s
    expect orders accepts A with token 2
    write B orders \"under y\"
    run 1s
";

fn two_locks() -> Setup {
    Setup {
        resources: vec!["x".into(), "y".into()],
        ..stage()
    }
}

#[test]
fn n04_tokens_are_compared_within_their_lease() {
    let mut play = Play::of(two_locks(), TWO_LOCKS);
    let store = play.world.store(ORDERS).unwrap();
    let (x, y) = (Scope::Lease(ResourceId(0)), Scope::Lease(ResourceId(1)));
    assert_eq!(
        (store.highest_in(x), store.highest_in(y)),
        (Token(2), Token(1))
    );
    assert_eq!(store.highest(), Token(2));
    // Within its own scope a stale token is refused as ever: B gives y back, and A comes to hold it.
    play.run(
        "release A
         release B
         run 300ms
         acquire A y
         until A believes it holds y
         write A orders \"under y too\"
         run 1s
         expect orders accepts A with token 2 \"under y too\"
         set check_before_write off at B
         write B orders \"late\"
         run 1s
         expect orders refuses B with token 1 \"late\"",
    );
    play.assert_kept();
}

/// Case N04, `fence_scopes` off: one highest for all refuses a write that is as good as any.
#[test]
fn n04_one_highest_for_all_leases_refuses_good_writes() {
    let mixed = with_switch(two_locks(), Switch::FenceScopes, "off");
    let mut play = Play::of(mixed, TWO_LOCKS);
    let refused = |e: &Event| {
        let tokens = (Token(1), Token(2));
        matches!(e, Event::WriteRefused { from: B, token, highest, .. } if (*token, *highest) == tokens)
    };
    assert_eq!(play.count(ORDERS, refused), 1);
    play.run("expect B believes it holds y");
    play.assert_kept();
}

/// A server's term and a lease's token are two counters, and neither stands in the other's way.
#[test]
fn n04_a_term_is_no_token_of_a_lease() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         release A
         run 300ms
         acquire B orders
         until B believes it holds orders
         write B orders \"token 2\"
         run 1s
         write s1 orders \"term 1\"
         run 1s
         expect orders accepts s1 with token 1
         expect orders has seen token 2",
    );
    play.assert_kept();
}

// N05 and N02: a store that the new holder has not written to -------------------------------------

const R2: ProcessId = ProcessId(7);

fn two_stores() -> Setup {
    Setup {
        stores: vec!["r1".into(), "r2".into()],
        resources: vec!["job".into()],
        ..stage()
    }
}

/// A sleeps before its write to r2 until B holds and has written to r1 alone.
const ONE_OF_TWO_WRITTEN: &str = "
    acquire A job
    until A believes it holds job
    acquire B job
    pause A before send
    write A r2 \"late\"
    until B believes it holds job
    write B r1 \"new\"
    run 2s
    expect r1 accepts B with token 2 \"new\"
    resume A
    run 200ms
";

/// Case N05.
#[test]
fn n05_a_store_that_has_not_seen_the_new_token_accepts_the_old_one() {
    let mut play = Play::of(two_stores(), ONE_OF_TWO_WRITTEN);
    play.run("expect r1 has seen token 2\nexpect r2 has seen token 1\nexpect B holds job");
    let accepted = |e: &Event| matches!(e, Event::WriteAccepted { from: A, .. });
    assert_eq!(play.count(R2, accepted), 1, "after B began to serve");
    // No monitor is broken: at r2 nothing newer came before. What spans both needs a claim on both.
    play.assert_kept();
}

/// Case N05 with `claim_first`: B raises both gates before it serves.
#[test]
fn n05_a_claim_on_both_stores_closes_the_gap() {
    let play = Play::of(
        with_switch(two_stores(), Switch::ClaimFirst, "on"),
        ONE_OF_TWO_WRITTEN,
    );
    let refused = |e: &Event| {
        let tokens = (Token(1), Token(2));
        matches!(e, Event::WriteRefused { from: A, token, highest, .. } if (*token, *highest) == tokens)
    };
    assert_eq!(play.count(R2, refused), 1);
    // It serves only after both have answered.
    let claimed = play.times(B, |e| {
        matches!(e, Event::WriteEnded { value, outcome: Outcome::Accepted, .. } if &**value == "claim")
    });
    let served = play.times(
        B,
        |e| matches!(e, Event::WriteSent { value, .. } if &**value == "new"),
    );
    assert_eq!(claimed.len(), 2);
    assert!(claimed[1] <= served[0], "{claimed:?} {served:?}");
    play.assert_kept();
}

/// A holder that is told to claim first when it holds already claims before its next write.
#[test]
fn n05_a_claim_comes_before_the_write_that_lacks_one() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         set claim_first on
         write A orders \"x\"
         run 2s",
    );
    let sent: Vec<String> = play
        .steps
        .iter()
        .flat_map(|step| step.events())
        .filter_map(|event| match event {
            Event::WriteSent { value, .. } => Some(value.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(sent, ["claim", "x"]);
    play.assert_kept();
}

/// While a store does not answer the claim, its new holder writes nothing to any.
#[test]
fn n05_a_claim_without_an_answer_is_made_again_before_anything_is_written() {
    let mut play = Play::of(
        with_switch(two_stores(), Switch::ClaimFirst, "on"),
        "cut r2 -> B
         acquire B job
         until B believes it holds job
         write B r1 \"new\"
         run 3s
         expect r1 does not accept B \"new\"
         heal
         run 3s
         expect r1 accepts B with token 1 \"new\"",
    );
    let claims =
        |e: &Event| matches!(e, Event::WriteSent { store: R2, value, .. } if &**value == "claim");
    assert!(2 <= play.count(B, claims));
    // Nothing is claimed twice with the same token.
    let before = play.count(B, claims);
    play.run("write B r2 \"more\"\nrun 1s\nexpect r2 accepts B \"more\"");
    assert_eq!(play.count(B, claims), before);
    play.assert_kept();
}

/// A's packet is held up until B holds and has not written anything.
const HELD_UP: &str = "
    acquire A orders
    acquire B orders
    at 1s
    write A orders \"held up\"
    at 1.31s
    delay A>orders#last 4s
    at 2.5s
    release A
    until B believes it holds orders
    run 4s
";

/// Case N02 with `claim_first`: the new holder has not written yet, and the late packet is refused already.
#[test]
fn n02_a_late_packet_finds_the_gate_raised_by_a_claim() {
    let of = |word| {
        let play = Play::of(with_switch(stage(), Switch::ClaimFirst, word), HELD_UP);
        play.assert_kept();
        play
    };
    let (mut off, mut on) = (of("off"), of("on"));
    off.run("expect orders has seen token 1");
    let is_accepted = |e: &Event| matches!(e, Event::WriteAccepted { from: A, value, .. } if &**value == "held up");
    let accepted = off.times(ORDERS, is_accepted);
    let served = off.times(B, |e| matches!(e, Event::LeaseReceived { .. }));
    assert!(
        served[0] < accepted[0],
        "the zombie's write comes after B began to serve"
    );
    on.run("expect orders has seen token 2");
    assert_eq!(on.count(ORDERS, is_accepted), 0);
    assert_eq!(
        on.count(ORDERS, |e| matches!(e, Event::WriteRefused { from: A, .. })),
        1
    );
}

// N07: no token at all ----------------------------------------------------------------------------

/// Case N07: a legacy writer has no lease, looks at none, and carries token 0.
#[test]
fn n07_a_write_without_a_token_is_older_than_any() {
    let script = "
        set check_before_write off at A
        write A orders \"legacy\"
        run 1s
        expect orders accepts A with token 0 \"legacy\"
        acquire B orders
        until B believes it holds orders
        write B orders \"new\"
        run 1s
        write A orders \"legacy again\"
        run 1s
    ";
    let mut play = Play::of(stage(), script);
    play.assert_kept();
    play.run("expect orders has seen token 1");
    let refused = |e: &Event| {
        matches!(
            e,
            Event::WriteRefused {
                from: A,
                token: Token(0),
                ..
            }
        )
    };
    assert_eq!(play.count(ORDERS, refused), 1);
    // Only watching, the store accepts it and counts it.
    let play = Play::of(with_switch(stage(), Switch::Fence, "observe"), script);
    let observed = |e: &Event| matches!(e, Event::StaleWriteObserved { from: A, .. });
    assert_eq!(play.count(ORDERS, observed), 1);
    let broken = play.world.broken(Invariant::NoOlderToken).unwrap();
    assert!(matches!(
        broken.reason,
        Reason::OlderTokenAccepted {
            token: Token(0),
            ..
        }
    ));
}

// N08: the gate lives with the data ---------------------------------------------------------------

/// Case N08: a store that starts again, or a replica that takes over, with the data and without the token.
#[test]
fn n08_a_gate_that_is_forgotten_lets_the_sleeper_in() {
    let script = "
        acquire A orders
        until A believes it holds orders
        acquire B orders
        pause A before send
        write A orders \"late\"
        until B believes it holds orders
        write B orders \"new\"
        run 1s
        crash orders
        restart orders
        resume A
        run 1s";
    let reason = check(&stage(), "durable_fence", script, Invariant::NoOlderToken);
    let expected = Reason::OlderTokenAccepted {
        store: ORDERS,
        from: A,
        token: Token(1),
        highest: Token(2),
        highest_from: B,
    };
    assert_eq!(reason, expected);
    // The data is there all the same: only the gate was forgotten.
    let mut run = Run::new(with_switch(stage(), Switch::DurableFence, "off"));
    run.play(script);
    let store = run.world().store(ORDERS).unwrap();
    assert_eq!(store.writes().len(), 2);
}

/// A store put back from an old copy has lost data and gate alike: outside what any store can guard.
#[test]
fn n08_a_store_restored_from_a_backup_lets_the_sleeper_in_too() {
    let mut run = Run::new(stage());
    run.play(
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         pause A before send
         write A orders \"late\"
         until B believes it holds orders
         disk orders backup
         write B orders \"new\"
         run 1s
         crash orders
         disk orders restore
         restart orders
         resume A
         run 1s",
    );
    run.assert_monitors_agree();
    assert!(run.broken(Invariant::NoOlderToken).is_some());
}

// N09 and N11: repetition -------------------------------------------------------------------------

const C: ProcessId = ProcessId(5);
/// In a stage with three workers.
const STORE: ProcessId = ProcessId(7);

fn three_workers() -> Setup {
    Setup {
        workers: vec!["A".into(), "B".into(), "C".into()],
        write_attempts: 4,
        ..stage()
    }
}

/// A held token 1; B writes operation 77 and its answers are lost until 2.5 s after; it tries again.
const ANSWER_LOST: &str = "
    acquire A orders
    until A believes it holds orders
    release A
    acquire B orders
    until B believes it holds orders
    cut orders -> B
    write B orders \"charge 7\" op 77
    run 2.5s
    heal
    run 2s
";

fn effects(play: &Play) -> usize {
    let writes = play.world.store(STORE).unwrap().writes().iter();
    writes
        .filter(|w| w.op == Some(OpId(77)) && w.verdict.is_accepted())
        .count()
}

fn repeated(by: ProcessId) -> impl Fn(&Event) -> bool {
    move |e: &Event| matches!(e, Event::WriteRepeated { from, op: OpId(77), .. } if *from == by)
}

/// Case N09.
#[test]
fn n09_an_operation_takes_effect_once_whoever_repeats_it() {
    let mut play = Play::of(three_workers(), ANSWER_LOST);
    let accepted = |e: &Event| {
        matches!(
            e,
            Event::WriteEnded {
                outcome: Outcome::Accepted,
                ..
            }
        )
    };
    assert_eq!(play.count(B, accepted), 1, "the same result");
    assert_eq!((effects(&play), play.count(STORE, repeated(B))), (1, 3));
    // A newer leader's resend is answered, changes nothing, and raises the gate.
    play.run(
        "release B
         acquire C orders
         until C believes it holds orders
         write C orders \"charge 7\" op 77
         run 1s
         expect orders has seen token 3",
    );
    assert_eq!((effects(&play), play.count(STORE, repeated(C))), (1, 1));
    assert_eq!(play.count(C, accepted), 1);
    // A zombie's resend changes nothing. We answer it as accepted too: its operation has taken effect.
    play.run(
        "set check_before_write off
         write A orders \"charge 7\" op 77
         run 1s
         expect orders has seen token 3
         write B orders \"another\" op 78
         run 1s
         expect orders refuses B with token 2 \"another\"",
    );
    assert_eq!((effects(&play), play.count(STORE, repeated(A))), (1, 1));
    play.assert_kept();
    // It is remembered with the data, over a crash.
    play.run("crash orders\nrestart orders\nwrite C orders \"charge 7\" op 77\nrun 1s");
    assert_eq!((effects(&play), play.count(STORE, repeated(C))), (1, 2));
    play.assert_kept();
}

/// Case N09, `op_dedupe` off: the retry charges again.
#[test]
fn n09_a_retry_that_nobody_recognises_takes_effect_twice() {
    let reason = check(
        &three_workers(),
        "op_dedupe",
        ANSWER_LOST,
        Invariant::OneEffect,
    );
    let expected = Reason::EffectTwice {
        store: STORE,
        op: OpId(77),
        first: B,
        second: B,
    };
    assert_eq!(reason, expected);
}

/// A retry looks at its lease first, and sends nothing once that is over: the outcome stays unknown.
#[test]
fn n09_a_writer_that_lost_its_lease_does_not_try_again() {
    let play = Play::of(
        Setup {
            client_timeout: Duration::secs(2),
            ..three_workers()
        },
        "acquire A orders
         until A believes it holds orders
         cut orders -> A
         write A orders \"charge 7\" op 77
         run 1s
         release A
         run 5s",
    );
    let sent = |e: &Event| matches!(e, Event::WriteSent { .. });
    let unknown = |e: &Event| {
        matches!(
            e,
            Event::WriteEnded {
                outcome: Outcome::Unknown,
                ..
            }
        )
    };
    assert_eq!((play.count(A, sent), play.count(A, unknown)), (1, 1));
    play.assert_kept();
}

/// Case N11: the far side looks at no token. A number for the operation is all that helps there.
#[test]
fn n11_a_zombie_can_send_one_extra_where_nothing_is_fenced() {
    let script = "
        set fence off at orders
        acquire A orders
        until A believes it holds orders
        acquire B orders
        pause A before send
        write A orders \"mail 7\" op 7
        until B believes it holds orders
        write B orders \"mail 7\" op 7
        run 1s
        resume A
        run 1s";
    let mut off = Run::new(with_switch(stage(), Switch::OpDedupe, "off"));
    off.play(script);
    off.assert_monitors_agree();
    let broken = off.broken(Invariant::OneEffect).unwrap();
    let expected = Reason::EffectTwice {
        store: ORDERS,
        op: OpId(7),
        first: B,
        second: A,
    };
    assert_eq!(broken.reason, expected);
    let count = |run: &Run| {
        let writes = run.world().store(ORDERS).unwrap().writes().iter();
        writes.filter(|w| w.verdict.is_accepted()).count()
    };
    assert_eq!(count(&off), 2, "one extra");
    let mut on = Run::new(stage());
    on.play(script);
    on.assert_monitors_agree();
    assert_eq!((count(&on), on.broken(Invariant::OneEffect)), (1, None));
    assert_eq!(on.broken(Invariant::NoOlderToken), None, "A's is no effect");
}

/// The client of these stages does no guarded writes.
#[test]
fn n07_a_client_has_no_lease_to_write_under() {
    let mut play = Play::new(stage());
    play.refusal("write c1 orders \"x\"");
    assert_eq!(play.world.client(C1).map(|c| c.waiting()), Some(0));
}
