//! Truth and belief: how a process comes to be wrong about its own authority, both ways, and what helps.
//!
//! The gap between the library's ledger and the note on the borrower's door. Cases L of the
//! literature, in our own numbers: messages take 50 ms unless said, a lease 5 s, a renewal every 1.6 s.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::{A, B, LEASE, Play, S1, stage, with_switch};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, MessageKind, Verdict};
use leasehold_engine::process::{AnswerTo, Message};
use leasehold_engine::service::{Answer, AnswerWhat};
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, RequestId, SimTime, Token};
use leasehold_engine::worker::LeaseView;

fn is_granted(event: &Event) -> bool {
    matches!(event, Event::LeaseGranted { .. })
}

// Wrong both ways --------------------------------------------------------------------------------

#[test]
fn a_holder_whose_grant_was_lost_holds_and_does_not_believe() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A holds orders
         drop s1>A#last
         run 300ms
         expect A holds orders with token 1 and A does not believe it holds orders
         write A orders \"x\"
         run 1ms
         expect A withholds
         until A believes it holds orders
         expect A holds orders with token 1",
    );
    // The retry is answered with the same grant, counted from when it first asked, at 0.
    assert_eq!(play.count(S1, is_granted), 1);
    assert_eq!(play.own_deadline("A"), Some(5_000));
    play.assert_kept();
}

#[test]
fn a_deadline_that_nobody_looks_at_changes_no_belief() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         pause A",
    );
    let checked = play.world.belief_at(A);
    let before = play.world.worker(A).cloned();
    for _ in 0..20 {
        play.run("run 1s\nexpect A believes it holds orders");
        assert_eq!(
            play.world.belief_at(A),
            checked,
            "it does not count down in its sleep"
        );
        assert_eq!(play.world.worker(A).cloned(), before);
    }
    assert!(play.own_deadline("A").unwrap() < play.ms());
    play.run("expect nobody holds orders");
}

#[test]
fn a_belief_is_as_old_as_the_last_check() {
    let mut play = Play::of(stage(), "acquire A orders\nat 1s\nwrite A orders \"x\"");
    assert_eq!(play.world.belief_at(A), Some(SimTime(1_000_000)));
    // It works and sends at 1.3 s by that check; the renewal at 1.8 s is answered, and so seen, at 2 s.
    play.run("at 1.9s");
    assert_eq!(
        play.times(A, |e| matches!(e, Event::WriteSent { .. })),
        [1_300]
    );
    assert_eq!(play.world.belief_at(A), Some(SimTime(1_000_000)));
    play.run("at 2.1s");
    assert_eq!(play.world.belief_at(A), Some(SimTime(2_000_000)));
}

#[test]
fn a_leader_that_writes_believes_as_of_its_last_look_at_its_role() {
    let mut play = Play::of(stage(), "expect s1 leads\nrun 500ms");
    let asked = play.world.now();
    assert!(play.world.belief_at(S1).unwrap() < asked);
    play.run("write s1 orders \"x\"");
    assert_eq!(play.world.belief_at(S1), Some(asked));
    play.assert_kept();
}

#[test]
fn a_crashed_holder_believes_nothing_while_the_service_still_counts() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         crash A
         expect A holds orders and A does not believe it holds orders",
    );
    assert_eq!(play.verdict("A"), None);
    // The new A is not the old one: it waits for its own old lease to run out.
    play.run("restart A\nacquire A orders\nrun 1s\nexpect A waits for orders\nuntil A holds orders with token 2");
    play.assert_kept();
}

// Jeopardy ---------------------------------------------------------------------------------------

#[test]
fn without_jeopardy_it_goes_on_writing_on_old_evidence() {
    let play = Play::of(
        with_switch(stage(), Switch::Jeopardy, "off"),
        "acquire A orders
         at 1s
         cut s1 -> A
         at 3s
         expect A believes it holds orders
         write A orders \"on old evidence\"
         run 1s
         expect orders accepts A",
    );
    assert_eq!(
        play.count(A, |e| matches!(e, Event::JeopardyBegan { .. })),
        0
    );
}

// Deadlines --------------------------------------------------------------------------------------

/// The service's leader sleeps through the deadline; the expiry and a renewal wait for it.
#[test]
fn a_service_leader_that_slept_expires_first_and_renews_after() {
    let mut setup = stage();
    // The others must not take over, so that the sleeper still decides.
    setup.election_fixed = [1_500, 60_000, 60_000].map(Duration::millis).to_vec();
    let mut play = Play::of(
        setup,
        "acquire A orders
         acquire B orders
         at 1.9s                                  -- the first renewal, of 1.8 s, is under way
         pause s1
         at 8s",
    );
    assert_eq!(
        play.holder(),
        Some((A, Token(1))),
        "nobody is counting, so nobody takes it away"
    );
    play.run(
        "expect A does not believe it holds orders\nresume s1\nuntil B holds orders with token 2",
    );
    let proposed = play.times(S1, |e| matches!(e, Event::ExpiryProposed { .. }));
    assert_eq!(proposed, [8_000]);
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::RenewalConfirmed { .. })),
        0
    );
    play.assert_kept();
}

// What a worker knows of its own place ------------------------------------------------------------

#[test]
fn a_waiter_knows_its_place_and_not_that_it_holds() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         run 1s
         expect B waits for orders and B does not believe it holds orders",
    );
    let view = play.world.worker(B).unwrap().lease();
    assert_eq!(
        view,
        LeaseView::Queued {
            resource: LEASE,
            place: 1
        }
    );
    assert_eq!(play.verdict("B"), Some(Verdict::NotMine));
}

#[test]
fn a_grant_that_comes_too_late_counts_once_a_renewal_confirms_it() {
    // B has queued for so long that its request is older than a lease when it is granted.
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         at 6s
         release A
         until B holds orders with token 2
         run 60ms
         expect B does not believe it holds orders",
    );
    let late = |e: &Event| {
        matches!(
            e,
            Event::GrantTooLate {
                token: Token(2),
                ..
            }
        )
    };
    assert_eq!(play.count(B, late), 1);
    play.run("until B believes it holds orders");
    let is_renewal = |e: &Event| {
        matches!(
            e,
            Event::MessageSent {
                kind: MessageKind::Renew,
                ..
            }
        )
    };
    let asked = *play.times(B, is_renewal).last().unwrap();
    assert_eq!(
        play.own_deadline("B"),
        Some(asked + 5_000),
        "counted from the renewal's send"
    );
    play.assert_kept();
}

#[test]
fn a_grant_that_leaves_less_than_a_renewal_takes_is_not_relied_on_either() {
    // B asked at 60 ms and gets the lease 3.9 s later: 1.1 s of 5 s are left, and it renews every 1.6 s.
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         at 4s
         release A
         until B holds orders with token 2
         run 60ms
         expect B does not believe it holds orders",
    );
    let view = play.world.worker(B).unwrap().lease();
    assert_eq!(view, LeaseView::Asking { resource: LEASE });
    let late = |e: &Event| matches!(e, Event::GrantTooLate { .. });
    assert_eq!(play.count(B, late), 1);
}

#[test]
fn with_little_left_of_a_grant_the_renewal_comes_halfway_to_the_deadline() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         at 2.7s
         release A
         until B believes it holds orders",
    );
    let received = play.ms();
    let left = play.own_deadline("B").unwrap() - received;
    assert!(1_600 < left && left < 3_200, "{left}");
    let renews = |e: &Event| {
        let kind = MessageKind::Renew;
        matches!(e, Event::MessageSent { kind: sent, .. } if *sent == kind)
    };
    play.run("run 3s");
    let first = play.times(B, renews)[0];
    assert!(first.abs_diff(received + left / 2) <= 1, "{first}");
}

#[test]
fn a_waiter_asks_again_after_two_answer_times() {
    let asks = |e: &Event| matches!(e, Event::LeaseAsked { .. });
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         run 4s",
    );
    let gaps: Vec<u64> = play
        .times(B, asks)
        .windows(2)
        .map(|w| w[1] - w[0])
        .collect();
    // There and back, and twice 600 ms; the first answer waited for a commit.
    assert_eq!(gaps, [1_400, 1_300, 1_300]);
}

#[test]
fn who_knows_one_server_tries_no_other() {
    let setup = Setup {
        servers: 1,
        election_fixed: vec![Duration::millis(1_500)],
        ..stage()
    };
    let play = Play::of(setup, "crash s1\nacquire A orders\nrun 10s");
    let a = play.id("A");
    assert!(1 < play.count(a, |e| matches!(e, Event::LeaseAsked { .. })));
    assert_eq!(play.count(a, |e| matches!(e, Event::ServerTried { .. })), 0);
}

#[test]
fn sixteen_writes_may_wait_behind_one() {
    let setup = Setup {
        work: Duration::secs(60),
        ..stage()
    };
    let mut play = Play::of(setup, "acquire A orders\nuntil A believes it holds orders");
    for writer in ["A", "s1"] {
        let write = format!("write {writer} orders \"1\"");
        play.run(&format!("{write}\n").repeat(17));
        let most = 16;
        assert_eq!(play.refusal(&write), CommandError::TooManyWaiting { most });
    }
}

#[test]
fn a_server_that_names_itself_as_the_leader_and_is_none_is_asked_no_more_at_once() {
    let mut play = Play::of(stage(), "cut A -> s1\nacquire A orders");
    let tried = |e: &Event| matches!(e, Event::ServerTried { .. });
    let asks = |e: &Event| matches!(e, Event::LeaseAsked { .. });
    let answer = Answer {
        request: RequestId(1),
        what: AnswerWhat::NotLeader { hint: Some(S1) },
    };
    let message = Message::Answer(answer, AnswerTo::Acquire);
    play.world.post(S1, A, message);
    play.run("run 100ms");
    assert_eq!((play.count(A, tried), play.count(A, asks)), (0, 1));
}
