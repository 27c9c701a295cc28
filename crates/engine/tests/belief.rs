//! Truth and belief: how a process comes to be wrong about its own authority, both ways, and what helps.
//!
//! The gap between the library's ledger and the note on the borrower's door. Cases L and N of the
//! literature, in our own numbers: messages take 50 ms unless said, a lease 5 s, a renewal every 1.6 s.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod play;

use leasehold_engine::event::{Event, MessageKind, Outcome, RenewRefusal, Verdict};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::setup::Setup;
use leasehold_engine::store::WriteVerdict;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, SimTime, Term, Token};
use leasehold_engine::worker::LeaseView;
use play::{A, B, LEASE, ORDERS, Play, S1, stage, with_switch};

fn is_received(event: &Event) -> bool {
    matches!(event, Event::LeaseReceived { .. })
}

fn is_granted(event: &Event) -> bool {
    matches!(event, Event::LeaseGranted { .. })
}

// Wrong both ways --------------------------------------------------------------------------------

/// L01.
#[test]
fn a_sleeper_believes_and_does_not_hold() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         pause A
         acquire B orders
         until B believes it holds orders
         expect A believes it holds orders and A does not hold orders
         expect B holds orders with token 2",
    );
    assert_eq!(play.verdict("A"), Some(Verdict::Mine));
    // Its own deadline passed long ago: waking, it finds that out before anything else.
    assert!(play.own_deadline("A").unwrap() < play.ms());
    play.run("resume A\nrun 10ms\nexpect A does not believe it holds orders");
    assert_eq!(
        play.count(A, |e| matches!(
            e,
            Event::LeaseLapsed {
                token: Token(1),
                ..
            }
        )),
        1
    );
    play.assert_kept();
}

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

/// L10, in small: evidence is missing, then it comes.
#[test]
fn in_doubt_it_writes_nothing_until_it_hears_again() {
    let play = Play::of(
        stage(),
        "acquire A orders
         at 1s
         cut s1 -> A
         at 2.3s
         expect A believes it holds orders        -- asked at 1.8 s, not yet overdue
         at 2.5s
         expect A doubts it holds orders
         expect A holds orders with token 1       -- in truth nothing happened to it
         write A orders \"doubted\"
         run 1ms
         expect A withholds
         expect A sends nothing to orders
         heal
         until A believes it holds orders
         write A orders \"sure\"
         run 1s
         expect orders accepts A with token 1 \"sure\"
         expect orders does not accept A with token 1 \"doubted\"",
    );
    let began = play.times(A, |e| matches!(e, Event::JeopardyBegan { .. }));
    assert_eq!(
        began,
        [2_400],
        "one answer timeout after the renewal at 1.8 s"
    );
    assert_eq!(
        play.count(A, |e| matches!(e, Event::JeopardyEnded { .. })),
        1
    );
    assert_eq!(play.count(S1, is_granted), 1, "the same lease all along");
    play.assert_kept();
}

/// L11, in small: nobody answers until its own deadline.
#[test]
fn doubt_ends_at_its_own_deadline_at_the_latest() {
    let play = Play::of(
        stage(),
        "acquire A orders
         at 1s
         cut A <-> s1
         cut A <-> s2
         cut A <-> s3
         at 4.9s
         expect A doubts it holds orders
         at 5.1s
         expect A does not believe it holds orders
         expect A learns it lost orders from 5s to 5s",
    );
    play.assert_kept();
}

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

/// L02: 1 s each way between A and the service, B as near as ever.
fn far_away(setup: Setup) -> Play {
    Play::of(
        Setup {
            answer_timeout: Duration::secs(4),
            renew_every: Duration::secs(2),
            ..setup
        },
        "latency A -> s1 1s 1s
         latency s1 -> A 1s 1s
         acquire A orders
         until A believes it holds orders
         cut A -> s1                              -- no renewal arrives
         acquire B orders
         until B believes it holds orders
         run 2s",
    )
}

/// L02.
#[test]
fn counted_from_the_send_time_it_stops_before_the_service_does() {
    let play = far_away(stage());
    // Asked at 0, granted at 1.1 s, known at 2.1 s: its deadline is 5 s, the service's 6.1 s.
    let lapsed = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(lapsed, [5_000]);
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }));
    assert_eq!(expired, [6_200], "6.1 s and one round through the log");
    assert_eq!(play.world.both_believed(), Duration::ZERO);
    play.assert_kept();
}

/// L02.
#[test]
fn counted_from_the_receipt_two_believe_at_once() {
    let naive = with_switch(
        with_switch(stage(), Switch::ConservativeDeadline, "off"),
        Switch::Jeopardy,
        "off",
    );
    let play = far_away(naive);
    // Known at 2.1 s: it counts to 7.1 s, while the grant ends at 6.2 s and B knows of its own soon after.
    let ends = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(ends, [7_100]);
    let b_knows = play.times(B, is_received)[0];
    assert!(6_200 < b_knows && b_knows < 7_100, "{b_knows}");
    assert_eq!(
        play.world.both_believed(),
        Duration::millis(7_100 - b_knows)
    );
    let broken = play.world.broken(Invariant::DeadlineWithinGrant).unwrap();
    assert_eq!(
        broken.reason,
        Reason::DeadlineOutlivesGrant {
            resource: LEASE,
            worker: A,
            token: Token(1),
            until: SimTime(7_100_000),
            ended: SimTime(6_200_000),
        }
    );
}

/// L03.
#[test]
fn a_renewal_whose_answer_is_lost_leaves_a_gap_and_no_overlap() {
    let play = Play::of(
        stage(),
        "acquire A orders
         acquire B orders
         at 1s
         cut s1 -> A
         cut s2 -> A
         cut s3 -> A
         cut A -> s2
         cut A -> s3
         at 2.2s                                  -- the renewal of 1.8 s has been confirmed, in vain
         cut A -> s1
         until B believes it holds orders
         run 1s",
    );
    let confirmed = play.times(S1, |e| {
        matches!(e, Event::RenewalConfirmed { worker: A, .. })
    });
    assert_eq!(
        confirmed,
        [1_950],
        "sent 1.8 s, there 1.85 s, a round of heartbeats"
    );
    let lapsed = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(lapsed, [5_000], "A goes by what it knows");
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }));
    assert_eq!(
        expired,
        [7_050],
        "S keeps it for 5 s from 1.95 s, and a round through the log"
    );
    assert_eq!(play.world.both_believed(), Duration::ZERO);
    assert!(7_050 < play.times(B, is_received)[0]);
    play.assert_kept();
}

/// L04.
#[test]
fn a_renewal_that_comes_twice_moves_the_deadline_and_nothing_else() {
    let mut play = Play::of(stage(), "acquire A orders\nat 1.81s\nduplicate A>s1#last");
    let before = play.world.server(S1).unwrap().log().last_index();
    play.run("at 2.1s\nexpect A holds orders with token 1\nexpect A believes it holds orders");
    assert_eq!(
        play.count(S1, |e| matches!(
            e,
            Event::RenewalConfirmed { worker: A, .. }
        )),
        2
    );
    assert_eq!(
        play.count(A, |e| matches!(
            e,
            Event::LeaseRenewed {
                token: Token(1),
                ..
            }
        )),
        1
    );
    assert_eq!(
        play.count(A, |e| matches!(e, Event::ReplyIgnored { .. })),
        1
    );
    let after = play.world.server(S1).unwrap().log().last_index();
    assert_eq!(before, after, "renewals are no entries");
    assert_eq!(play.world.truth().grants(LEASE).len(), 1);
    play.assert_kept();
}

/// L05.
#[test]
fn a_holder_with_a_slow_clock_believes_too_long() {
    let play = Play::of(
        stage(),
        "clock A rate -50%
         acquire A orders
         until A believes it holds orders
         cut A -> s1
         cut A -> s2
         cut A -> s3
         set jeopardy off
         acquire B orders
         until B believes it holds orders
         expect A believes it holds orders
         expect breaks deadline-within-grant",
    );
    assert_eq!(
        play.own_deadline("A"),
        Some(10_000),
        "5 s of its own are 10 s"
    );
}

/// L06.
#[test]
fn a_service_with_a_fast_clock_frees_the_lease_too_early() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         partition A | s1 s2 s3
         set jeopardy off
         clock s1 rate +100%
         acquire B orders
         until B believes it holds orders
         expect A believes it holds orders
         expect breaks deadline-within-grant",
    );
    assert!(play.ms() < play.own_deadline("A").unwrap());
}

/// L07: the wall clock goes back 8 s while A holds, and nothing reaches the service any more.
fn wall_clock_set_back(setup: Setup) -> Play {
    Play::of(
        setup,
        "acquire A orders
         acquire B orders
         at 1s
         partition A | s1 s2 s3
         at 2s
         clock A jump -8s
         at 10s",
    )
}

/// L07.
#[test]
fn a_wall_clock_set_back_keeps_a_holder_believing() {
    let by_wall = with_switch(
        with_switch(stage(), Switch::MonotonicDeadline, "off"),
        Switch::Jeopardy,
        "off",
    );
    let mut play = wall_clock_set_back(by_wall);
    assert_eq!(
        play.own_deadline("A"),
        Some(13_000),
        "5 s by the wall are 13 s in truth"
    );
    play.run("expect A believes it holds orders and B holds orders with token 2");
    assert!(play.world.broken(Invariant::DeadlineWithinGrant).is_some());
    play.run("at 13.1s\nexpect A does not believe it holds orders\nexpect A learns it lost orders from 13s to 13s");
}

/// L07.
#[test]
fn a_monotonic_deadline_ignores_the_wall_clock() {
    let mut play = wall_clock_set_back(stage());
    play.run("expect A does not believe it holds orders and B holds orders with token 2");
    assert_eq!(
        play.times(A, |e| matches!(e, Event::LeaseLapsed { .. })),
        [5_000]
    );
    play.assert_kept();
}

/// A server's wall clock decides nothing: L08 cannot happen here.
#[test]
fn a_wall_clock_set_forward_at_the_service_frees_nothing() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         acquire B orders
         at 1s
         clock s1 jump +30s
         at 4s
         expect A holds orders with token 1
         expect orders does not expire",
    );
    play.run("");
    play.assert_kept();
}

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

/// L09.
#[test]
fn at_the_very_tick_of_the_expiry_a_renewal_is_refused() {
    // Granted at 150 ms, so the lease ends at 5.15 s on s1's clock.
    let mut play = Play::of(
        with_switch(stage(), Switch::RenewQuorumRound, "off"),
        "acquire A orders
         at 1.81s
         delay A>s1#last 3.3s                     -- would come at 1.85 s; comes at 5.15 s
         cut A -> s1
         cut A -> s2
         cut A -> s3
         at 5.149s
         expect A holds orders",
    );
    let expiry = play.world.server(S1).unwrap().lease_until(LEASE).unwrap();
    assert_eq!(play.world.clock(S1).true_time(expiry), SimTime(5_150_000));
    play.run("heal\nat 5.15s");
    let refused = |e: &Event| {
        matches!(
            e,
            Event::RenewalRefused {
                worker: A,
                why: RenewRefusal::Expiring,
                ..
            }
        )
    };
    assert_eq!(play.times(S1, refused), [5_150]);
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::RenewalConfirmed { .. })),
        0
    );
    // The holder never counted on it: its own deadline was 5 s.
    assert_eq!(
        play.times(A, |e| matches!(e, Event::LeaseLapsed { .. })),
        [5_000]
    );
    play.assert_kept();
}

/// L30, our choice: refused, and the next grant has a new token.
#[test]
fn an_expired_lease_is_not_renewed_even_if_nobody_took_it() {
    let play = Play::of(
        stage(),
        "acquire A orders
         at 1s
         partition A | s1 s2 s3
         at 6s
         expect nobody holds orders
         heal
         until A holds orders with token 2",
    );
    play.assert_kept();
}

// Fencing ----------------------------------------------------------------------------------------

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

/// N01.
#[test]
fn a_zombies_write_is_refused_with_both_tokens_named() {
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

/// N01, fence off.
#[test]
fn a_zombies_write_is_accepted_where_nothing_checks() {
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

/// N02: A does nothing wrong; its packet is held up on the way.
#[test]
fn a_late_packet_is_refused_though_nobody_slept() {
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

/// N03.
#[test]
fn a_holder_may_write_again_with_the_same_token() {
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

/// N06: B's write slips in between the store's look at A's token and A's write.
#[test]
fn a_store_that_checks_first_and_writes_later_can_be_overtaken() {
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

/// N07.
#[test]
fn observing_counts_what_enforcing_would_refuse() {
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

/// N15.
#[test]
fn a_raft_term_serves_as_a_token() {
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

/// Case L09: the renewal set out before the timer was wound up again, so it is the first thing at that tick.
#[test]
fn a_renewal_that_comes_first_at_the_very_tick_of_the_expiry_is_refused_too() {
    let setup = Setup {
        servers: 1,
        election_fixed: vec![Duration::millis(1_500)],
        contend: true,
        ..stage()
    };
    // Sent 1.6 s after the grant; the next one, 600 ms later, is confirmed 50 ms after that, for 5 s.
    let play = Play::of(
        setup,
        "until A is granted orders
        latency A -> s1 5650ms 5650ms
        run 1700ms
        latency A -> s1 50ms 50ms
        run 700ms
        latency A -> s1 1000s 1000s
        run 5s",
    );
    let refused = play.steps.iter().position(|step| {
        step.events().any(|event| {
            let why = RenewRefusal::Expiring;
            matches!(event, Event::RenewalRefused { why: w, .. } if *w == why)
        })
    });
    let proposed = play.steps.iter().position(|step| {
        let proposed = |event: &Event| matches!(event, Event::ExpiryProposed { .. });
        step.events().any(proposed)
    });
    let (refused, proposed) = (refused.unwrap(), proposed.unwrap());
    assert!(refused < proposed, "{}", play.trace(30));
    assert_eq!(play.steps[refused].at, play.steps[proposed].at);
}
