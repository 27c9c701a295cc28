//! Leases as the services have them: who may count on what, on which clock, and for how long.
//!
//! The small print of a library card. Cases L of the literature, in our own numbers: messages take 50 ms
//! unless said, a lease lasts 5 s, a renewal is due every 1.6 s. A test's name begins with its case.
//! Recipes of particular services (ZooKeeper, etcd, Kubernetes, Redlock) are not here.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::{A, B, LEASE, Play, S1, S2, stage, with_switch};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, RenewRefusal, Verdict};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, SimTime, Token};

fn is_received(event: &Event) -> bool {
    matches!(event, Event::LeaseReceived { .. })
}

fn is_granted(event: &Event) -> bool {
    matches!(event, Event::LeaseGranted { .. })
}

/// L01.
#[test]
fn l01_a_sleeper_believes_and_does_not_hold() {
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

/// L10, in small: evidence is missing, then it comes.
#[test]
fn l10_in_doubt_it_writes_nothing_until_it_hears_again() {
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
fn l11_without_grace_doubt_ends_at_its_own_deadline() {
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
fn l02_counted_from_the_send_time_it_stops_before_the_service_does() {
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
fn l02_counted_from_the_receipt_two_believe_at_once() {
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
fn l03_a_renewal_whose_answer_is_lost_leaves_a_gap_and_no_overlap() {
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
fn l04_a_renewal_that_comes_twice_moves_the_deadline_and_nothing_else() {
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

/// A's own clock runs at half the rate, and nothing of its renewals arrives.
const SLOW_HOLDER: &str = "
    clock A rate -50%
    acquire A orders
    until A believes it holds orders
    cut A -> s1
    cut A -> s2
    cut A -> s3
    set jeopardy off
    acquire B orders
    until B believes it holds orders
";

/// The clock of the service's leader runs at twice the rate, and nothing of A's renewals arrives.
const FAST_SERVICE: &str = "
    acquire A orders
    until A believes it holds orders
    partition A | s1 s2 s3
    set jeopardy off
    clock s1 rate +100%
    acquire B orders
    until B believes it holds orders
";

/// Everybody reckons with clocks of which one may run twice as fast as another.
fn twice_as_fast() -> Setup {
    Setup {
        drift_ppm: 1_000_000,
        ..stage()
    }
}

/// L05.
#[test]
fn l05_a_holder_with_a_slow_clock_believes_too_long() {
    let unbounded = with_switch(twice_as_fast(), Switch::DriftBound, "off");
    for setup in [stage(), unbounded] {
        let mut play = Play::of(setup, SLOW_HOLDER);
        play.run("expect A believes it holds orders\nexpect breaks deadline-within-grant");
        assert_eq!(
            play.own_deadline("A"),
            Some(10_000),
            "5 s of its own are 10 s"
        );
    }
}

/// L05: with a bound of two, half the lease is counted.
#[test]
fn l05_a_bound_on_the_ratio_of_rates_makes_a_slow_holder_stop_in_time() {
    let mut play = Play::of(twice_as_fast(), SLOW_HOLDER);
    play.run("expect A does not believe it holds orders");
    let lapsed = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(
        lapsed,
        [4_999],
        "2.5 s of its own, less a microsecond, from its send at 0"
    );
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }));
    assert_eq!(
        expired,
        [5_250],
        "granted at 0.15 s, and a round through the log"
    );
    play.assert_kept();
}

/// L06.
#[test]
fn l06_a_service_with_a_fast_clock_frees_the_lease_too_early() {
    let unbounded = with_switch(twice_as_fast(), Switch::DriftBound, "off");
    for setup in [stage(), unbounded] {
        let mut play = Play::of(setup, FAST_SERVICE);
        play.run("expect A believes it holds orders\nexpect breaks deadline-within-grant");
        assert!(play.ms() < play.own_deadline("A").unwrap());
    }
}

/// L06: the same bound serves for a fast service.
#[test]
fn l06_a_bound_on_the_ratio_of_rates_is_safe_under_a_fast_service() {
    let mut play = Play::of(twice_as_fast(), FAST_SERVICE);
    play.run("expect A does not believe it holds orders");
    let lapsed = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(lapsed, [2_499]);
    // Granted at 0.15 s; 0.05 s passed at the true rate, 4.95 s twice as fast; then a round through the log.
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }));
    assert_eq!(expired, [2_775]);
    play.assert_kept();
}

/// L05, L06 to the microsecond: the two ends of the bound, a request that takes no time, an odd lease, and a
/// start within a microsecond of either clock.
#[test]
fn l05_at_the_very_ends_of_the_bound_no_rounding_helps_the_holder() {
    let mut gaps = Vec::new();
    for offset in 0..200_u64 {
        let setup = Setup {
            servers: 1,
            election_fixed: vec![Duration::millis(1_500)],
            lease: Duration(2_000_003 + offset % 7),
            renew_every: Duration::millis(500),
            drift_ppm: 233_333,
            ..stage()
        };
        let mut play = Play::of(setup, "clock A rate -10%\nclock s1 rate +11%");
        play.run(&format!(
            "run {}us\nacquire A orders\ndeliver A>s1#last",
            1 + offset * 13
        ));
        play.run("until A believes it holds orders\ncut A -> s1");
        let until = play.world.own_deadline(play.id("A")).unwrap();
        play.run("until nobody holds orders");
        gaps.push(play.world.now().since(until).0);
        play.assert_kept();
    }
    let least = gaps.iter().min().unwrap();
    println!("{least} us");
    assert!(*least < 5, "the test stands at the very edge: {least}");
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
fn l07_a_wall_clock_set_back_keeps_a_holder_believing() {
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
fn l07_a_monotonic_deadline_ignores_the_wall_clock() {
    let mut play = wall_clock_set_back(stage());
    play.run("expect A does not believe it holds orders and B holds orders with token 2");
    assert_eq!(
        play.times(A, |e| matches!(e, Event::LeaseLapsed { .. })),
        [5_000]
    );
    play.assert_kept();
}

/// L08: a server's wall clock decides nothing.
#[test]
fn l08_a_wall_clock_set_forward_at_the_service_frees_nothing() {
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

/// L08, off: it jumps 30 s ahead, the lease is freed at once, and no care of A's helps; only the fence does.
#[test]
fn l08_a_service_that_counts_by_its_wall_clock_frees_a_lease_when_that_jumps() {
    let mut play = Play::of(
        stage(),
        "set monotonic_deadline off at s1
         acquire A orders
         until A believes it holds orders
         acquire B orders
         pause A before send
         write A orders \"a\"
         at 1s
         clock s1 jump +30s
         until B believes it holds orders
         expect A believes it holds orders
         expect breaks deadline-within-grant
         write B orders \"b\"
         run 500ms
         resume A
         run 500ms
         expect orders accepts B with token 2
         expect orders refuses A with token 1",
    );
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }))[0];
    assert!(expired < 1_500, "found with the next heartbeat: {expired}");
    assert!(play.world.broken(Invariant::NoOlderToken).is_none());
    play.run("");
}

/// L08, off, the other way: it jumps back, and a dead holder's lease lasts longer. That is safe, and slow.
#[test]
fn l08_a_service_whose_wall_clock_is_set_back_frees_it_late() {
    let play = Play::of(
        stage(),
        "set monotonic_deadline off at s1
         acquire A orders
         until A believes it holds orders
         crash A
         at 1s
         clock s1 jump -4s
         at 9s
         expect A holds orders
         until nobody holds orders",
    );
    assert_eq!(play.ms(), 9_250, "5.15 s, 4 s, and a round through the log");
    play.assert_kept();
}

/// L09.
#[test]
fn l09_at_the_very_tick_of_the_expiry_a_renewal_is_refused() {
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

/// Case L09: the renewal set out before the timer was wound up again, so it is the first thing at that tick.
#[test]
fn l09_a_renewal_that_comes_first_at_the_very_tick_of_the_expiry_is_refused_too() {
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

// Grace ------------------------------------------------------------------------------------------

/// The service's leader dies at 3 s and nobody succeeds it for 10 s; A has renewed at 1.8 s.
fn leaderless(grace: Duration) -> Play {
    let mut setup = stage();
    setup.election_fixed = [1_500, 10_000, 20_000].map(Duration::millis).to_vec();
    setup.grace = grace;
    Play::of(
        setup,
        "acquire A orders
         at 3s
         crash s1
         at 6s
         expect A doubts it holds orders
         at 7s",
    )
}

/// L10: past its deadline A does nothing, and asks on; the new leader knows it, so it is sure again, with the
/// same token. Where Chubby's calls carry the master's epoch, a majority's confirmation keeps old leaders out.
#[test]
fn l10_within_its_grace_a_holder_is_saved_with_the_same_token() {
    let mut play = leaderless(Duration::secs(10));
    play.run(
        "expect A doubts it holds orders
         write A orders \"in grace\"
         run 1ms
         expect A withholds
         until s2 leads
         until A believes it holds orders
         write A orders \"safe\"
         until orders accepts A with token 1 \"safe\"",
    );
    let began = play.times(A, |e| matches!(e, Event::GraceBegan { .. }));
    assert_eq!(began, [6_800], "5 s from the renewal that it sent at 1.8 s");
    assert_eq!(play.count(A, is_received), 1, "one and the same lease");
    assert_eq!(
        play.count(A, |e| matches!(e, Event::JeopardyEnded { .. })),
        1
    );
    assert_eq!(play.count(A, |e| matches!(e, Event::LeaseLapsed { .. })), 0);
    play.assert_kept();
}

/// L11: nobody answered in time; that the new leader still lists A changes nothing.
#[test]
fn l11_after_its_grace_a_holder_drops_what_the_service_still_lists() {
    let mut play = leaderless(Duration::secs(4));
    play.run("until s2 leads\nexpect A holds orders with token 1");
    assert!(12_000 < play.ms());
    let lapsed = play.times(A, |e| matches!(e, Event::LeaseLapsed { .. }));
    assert_eq!(lapsed, [10_800]);
    assert_eq!(play.verdict("A"), Some(Verdict::NotMine));
    // It asks anew, and waits for its own old lease to run out.
    play.run("until A waits for orders\nuntil A believes it holds orders");
    assert_eq!(play.holder(), Some((A, Token(2))));
    play.assert_kept();
}

/// A confirmation that was asked for more than a lease ago is no evidence any more.
#[test]
fn l10_an_answer_older_than_a_lease_saves_nobody() {
    let mut setup = stage();
    setup.grace = Duration::secs(20);
    let mut play = Play::of(
        setup,
        "acquire A orders
         at 1.96s                                   -- the renewal of 1.8 s is confirmed
         delay s1>A#last 6s
         partition A | s1 s2 s3
         at 7.9s",
    );
    play.run("heal s1 -> A\nat 8.5s\nexpect A doubts it holds orders");
    let renewed = |e: &Event| matches!(e, Event::LeaseRenewed { .. });
    assert_eq!(
        (
            play.count(A, renewed),
            play.count(A, |e| matches!(e, Event::GraceBegan { .. }))
        ),
        (0, 1)
    );
    play.assert_kept();
}

/// A grace is no longer lease: the service frees it as ever, and B is in while A still hopes.
#[test]
fn l11_a_grace_holds_nothing_up() {
    let mut setup = stage();
    setup.grace = Duration::secs(20);
    let mut play = Play::of(
        setup,
        "acquire A orders
         acquire B orders
         at 1s
         partition A | s1 s2 s3
         until B believes it holds orders
         expect A doubts it holds orders
         heal
         run 2s
         expect A waits for orders",
    );
    let lost = play.times(A, |e| matches!(e, Event::LeaseLost { .. }));
    assert_eq!(lost.len(), 1, "it is told so by the first that it reaches");
    assert_eq!(play.world.both_believed(), Duration::ZERO);
    play.run("");
    play.assert_kept();
}

/// Awake after its deadline and before its grace is over, it is in doubt from its first look on.
#[test]
fn l11_a_sleeper_that_wakes_within_its_grace_looks_first() {
    let mut setup = stage();
    setup.grace = Duration::secs(30);
    let mut play = Play::of(
        setup,
        "acquire A orders
         at 1s
         pause A
         at 8s
         expect A believes it holds orders and nobody holds orders
         resume A
         write A orders \"awake\"
         run 1ms
         expect A withholds
         expect A doubts it holds orders",
    );
    play.run("at 20s\nexpect A holds orders with token 2");
    play.assert_kept();
}

// Lock-delay --------------------------------------------------------------------------------------

/// A sends a write that is long on its way, and is cut off from the service for good; B waits.
const LATE_WRITE: &str = "
    acquire A orders
    acquire B orders
    at 1s
    write A orders \"late\"
    at 1.31s
    partition A | s1 s2 s3
";

fn rests(seconds: u64) -> Setup {
    Setup {
        lock_delay: Duration::secs(seconds),
        ..stage()
    }
}

/// The time of B's grant, and the run, with the late write arriving at `arrives`.
fn with_late_write(setup: Setup, arrives: &str) -> (u64, Play) {
    let mut play = Play::of(setup, LATE_WRITE);
    play.run(&format!("delay A>orders#last {arrives}"));
    play.run("until B believes it holds orders\nwrite B orders \"new\"\nat 20s");
    let granted = |e: &Event| matches!(e, Event::LeaseGranted { worker: B, .. });
    (play.times(S1, granted)[0], play)
}

/// L12: the lease is over at 5.25 s, and nobody gets it for 3 s.
#[test]
fn l12_a_write_that_arrives_within_the_lock_delay_meets_nobody() {
    let no_fence = |setup| with_switch(setup, Switch::Fence, "off");
    // 5.69 s more: it arrives at 7.04 s.
    let (granted, play) = with_late_write(no_fence(rests(3)), "5.69s");
    assert_eq!(granted, 8_350, "5.25 s, 3 s, and a round through the log");
    let expired = play.times(S1, |e| matches!(e, Event::LeaseExpired { .. }));
    assert_eq!(expired, [5_250]);
    play.assert_kept();

    // The same without the delay, by setup and by switch: B is in before it.
    for setup in [stage(), with_switch(rests(3), Switch::LockDelay, "off")] {
        let (granted, play) = with_late_write(no_fence(setup), "5.69s");
        assert_eq!(granted, 5_250);
        assert!(play.world.broken(Invariant::NoOlderToken).is_some());
    }
}

/// L12: a longer way outlasts any delay, and only the fence helps.
#[test]
fn l12_a_write_that_arrives_after_the_lock_delay_needs_the_fence() {
    let (_, play) = with_late_write(with_switch(rests(3), Switch::Fence, "off"), "9s");
    assert!(play.world.broken(Invariant::NoOlderToken).is_some());
    let (_, play) = with_late_write(rests(3), "9s");
    let refused = |e: &Event| matches!(e, Event::WriteRefused { from: A, .. });
    assert_eq!(play.count(play.id("orders"), refused), 1);
    play.assert_kept();
}

/// L12: what is given back needs no rest.
#[test]
fn l12_after_a_release_the_next_gets_it_at_once() {
    let play = Play::of(
        rests(3),
        "acquire A orders
         acquire B orders
         at 1s
         release A
         at 1.5s
         expect B believes it holds orders",
    );
    play.assert_kept();
}

/// L13: the former owner, with a new session, waits like everybody else.
#[test]
fn l13_the_lock_delay_blocks_the_old_owner_too() {
    let play = Play::of(
        rests(3),
        "acquire A orders
         until A believes it holds orders
         crash A
         until nobody holds orders
         restart A
         acquire A orders
         run 2.9s
         expect nobody holds orders and A waits for orders
         until A believes it holds orders
         expect A holds orders with token 2",
    );
    let granted = play.times(S1, is_granted);
    assert_eq!(granted, [150, 8_350]);
    play.assert_kept();
}

/// A new leader cannot know how much of the delay is over: it counts all of it.
#[test]
fn l12_a_new_leader_counts_the_lock_delay_anew() {
    let play = Play::of(
        rests(3),
        "acquire A orders
         acquire B orders
         until A believes it holds orders
         crash A
         until nobody holds orders
         run 1s
         crash s1
         until s2 leads
         run 2.9s
         expect nobody holds orders
         until B believes it holds orders",
    );
    let led = play.times(S2, |e| matches!(e, Event::BecameLeader { .. }))[0];
    let granted = play.times(S2, |e| matches!(e, Event::LeaseGranted { worker: B, .. }))[0];
    assert_eq!(granted, led + 3_000 + 100);
    play.assert_kept();
}

/// L14: nothing is over exactly at its time. A dies at once; the service's leader does so at 4 s.
#[test]
fn l14_a_lease_lasts_at_least_its_time() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         crash A
         at 4s
         crash s1
         at 9s
         expect A holds orders with token 1         -- 5 s were over at 5.15 s
         until nobody holds orders",
    );
    let led = play.times(S2, |e| matches!(e, Event::BecameLeader { .. }))[0];
    assert!(led + 5_000 <= play.ms(), "s2 gave it all of its time again");
    play.assert_kept();
}

/// L15: our waiters have sessions of a lease, kept alive by their periodic look.
const WAITER_DIES: &str = "
    acquire A orders
    until A believes it holds orders
    acquire B orders
    until B waits for orders
    pause B
";

#[test]
fn l15_a_waiter_that_fell_silent_loses_its_place() {
    let script = format!(
        "{WAITER_DIES}
         run 5.5s"
    );
    let mut play = Play::of(stage(), &script);
    assert!(!play.world.truth().waits(LEASE, B));
    play.run("release A\nrun 1s\nexpect nobody holds orders");
    let left = play.times(S1, |e| matches!(e, Event::WaiterLeft { worker: B, .. }));
    assert_eq!(left.len(), 1, "it asked last before 1 s: {left:?}");
    // Awake again, it asks as before, and that is a new wish: the lease is free, so it gets it.
    play.run("resume B\nuntil B believes it holds orders");
    assert_eq!(play.holder(), Some((B, Token(2))));
    play.assert_kept();
}

/// L15, off: the lock goes to somebody who is not there, and is nobody's for a whole lease.
#[test]
fn l15_without_a_session_the_lease_goes_to_the_dead() {
    let setup = Setup {
        workers: vec!["A".into(), "B".into(), "C".into()],
        ..stage()
    };
    let script = format!(
        "{WAITER_DIES}
         acquire C orders
         run 5.5s
         release A
         run 2s"
    );
    let mut off = Play::of(
        with_switch(setup.clone(), Switch::WaiterSession, "off"),
        &script,
    );
    off.run("expect B holds orders and C does not hold orders");
    Play::of(setup, &script).run("expect C believes it holds orders");
}

/// A waiter that is heard of keeps its place however long it waits, and through a change of leader.
#[test]
fn l15_a_waiter_that_asks_again_keeps_its_place() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         run 40s
         expect B waits for orders
         crash s1
         until s2 leads
         run 40s
         expect B waits for orders
         release A
         until B believes it holds orders",
    );
    let left = |e: &Event| matches!(e, Event::WaiterLeft { .. });
    assert_eq!(
        play.steps
            .iter()
            .flat_map(|s| s.events())
            .filter(|e| left(e))
            .count(),
        0
    );
    play.run("");
    play.assert_kept();
}

/// A lease of 2 s is shorter than six answer times; a waiter's place lasts those.
#[test]
fn l15_a_place_lasts_a_few_of_the_waiters_own_periods() {
    let setup = Setup {
        lease: Duration::secs(2),
        renew_every: Duration::millis(640),
        ..stage()
    };
    let play = Play::of(setup, &format!("{WAITER_DIES}\nrun 8s"));
    let queued = |e: &Event| matches!(e, Event::WaiterQueued { worker: B, .. });
    let left = |e: &Event| matches!(e, Event::WaiterLeft { worker: B, .. });
    let (queued, left) = (play.times(S1, queued), play.times(S1, left));
    let waited = left[0] - queued[0];
    assert!((3_600..4_000).contains(&waited), "{queued:?} {left:?}");
}

/// The new leader does not know how long a waiter has been silent, and gives it its full time.
#[test]
fn l15_a_new_leader_counts_a_waiters_silence_anew() {
    let mut play = Play::of(
        stage(),
        &format!(
            "{WAITER_DIES}
             run 3s
             crash s1
             until s2 leads
             run 4s
             expect B waits for orders
             run 2s"
        ),
    );
    assert!(!play.world.truth().waits(LEASE, B));
    play.run("expect A holds orders with token 1");
    play.assert_kept();
}

// A service that forgets ------------------------------------------------------------------------

/// One server, which keeps its table of leases in memory.
fn forgetful() -> Setup {
    Setup {
        servers: 1,
        election_fixed: vec![Duration::millis(1_500)],
        table_in_memory: true,
        ..stage()
    }
}

/// A holds and hears no more of the service, which starts again at once and is asked by B.
const FORGOTTEN: &str = "
    acquire A orders
    until A believes it holds orders
    set jeopardy off
    cut A <-> s1
    crash s1
    restart s1
    acquire B orders
";

/// L34: what a restart forgets must be waited for, and tokens must not be.
#[test]
fn l34_with_a_durable_counter_and_a_quarantine_a_restart_is_safe() {
    let mut play = Play::of(forgetful(), FORGOTTEN);
    play.run("run 4.9s\nexpect B does not believe it holds orders");
    // By the ledger nothing has ended A's grant; the service does not know of it.
    let (a, b) = (play.id("A"), play.id("B"));
    assert_eq!(play.holder(), Some((a, Token(1))));
    play.run("until B believes it holds orders");
    assert_eq!(play.holder(), Some((b, Token(2))));
    let lapsed = play.times(a, |e| matches!(e, Event::LeaseLapsed { .. }));
    let granted = play.times(S1, |e| {
        matches!(
            e,
            Event::LeaseGranted {
                token: Token(2),
                ..
            }
        )
    });
    // Up at 0.1 s and leader 1.5 s later, from when it counts a full lease.
    assert_eq!((lapsed[0], granted[0]), (5_000, 6_600));
    assert_eq!(play.world.both_believed(), Duration::ZERO);
    play.assert_kept();
}

/// L34, off: B gets A's own token, at once, and the fence cannot tell them apart.
#[test]
fn l34_with_nothing_durable_two_hold_one_token() {
    let off = with_switch(forgetful(), Switch::StartupQuarantine, "off");
    let off = with_switch(off, Switch::DurableTokenCounter, "off");
    let mut play = Play::of(off, FORGOTTEN);
    play.run(
        "until B believes it holds orders
         expect A believes it holds orders and B holds orders with token 1
         expect breaks one-holder and breaks token-monotonic
         write B orders \"b\"
         run 500ms
         write A orders \"a\"
         run 500ms
         expect orders accepts B with token 1
         expect orders accepts A with token 1
         expect keeps no-older-token
         at 6s",
    );
    assert!(Duration::secs(1) < play.world.both_believed());
}

/// L34, half: the counter alone lets the fence do its work; the quarantine alone lets a late write pass.
#[test]
fn l34_neither_half_is_enough() {
    let mut counter = Play::of(
        with_switch(forgetful(), Switch::StartupQuarantine, "off"),
        FORGOTTEN,
    );
    counter.run(
        "until B believes it holds orders
         expect A believes it holds orders and B holds orders with token 2
         expect breaks one-holder and keeps token-monotonic
         write B orders \"b\"
         run 500ms
         write A orders \"a\"
         run 500ms
         expect orders refuses A with token 1",
    );
    let mut quarantine = Play::of(
        with_switch(forgetful(), Switch::DurableTokenCounter, "off"),
        FORGOTTEN,
    );
    quarantine.run(
        "pause A before send
         write A orders \"late\"
         until B believes it holds orders
         expect keeps one-holder and breaks token-monotonic
         write B orders \"b\"
         run 500ms
         resume A
         run 500ms
         expect orders accepts A with token 1 \"late\"",
    );
}

/// A restart without a single grant in its log has nobody to wait for; a second restart has.
#[test]
fn l34_every_restart_forgets_and_waits() {
    let mut play = Play::of(
        forgetful(),
        "acquire A orders
         until A believes it holds orders
         crash s1
         restart s1
         run 2s
         crash s1
         restart s1
         acquire B orders
         until B believes it holds orders
         crash s1
         restart s1
         run 20s",
    );
    assert_eq!(
        play.count(S1, |e| *e == Event::TableLost),
        1 + 2 + 3,
        "each replay tells of all"
    );
    let tokens: Vec<u64> = play
        .world
        .truth()
        .grants(LEASE)
        .iter()
        .map(|g| g.token.0)
        .collect();
    assert!(tokens.is_sorted() && 3 <= tokens.len(), "{tokens:?}");
    play.run("");
    play.assert_kept();
}

/// Tokens up to 140 were issued; the service comes back without having heard of it.
const RESTORED: &str = "
    raise orders 139
    run 100ms
    acquire A orders
    until A believes it holds orders
    write A orders \"before\"
    until orders accepts A with token 140
    pause A before send
    write A orders \"zombie\"
    run 500ms
    crash s1
    restart s1
    until s1 leads
";

fn forgets_tokens() -> Setup {
    with_switch(forgetful(), Switch::DurableTokenCounter, "off")
}

/// L33: here the service is restored to nothing at all, which is a backup as old as can be.
#[test]
fn l33_after_a_restore_the_right_holder_is_refused_and_the_zombie_is_not() {
    let mut play = Play::of(forgets_tokens(), RESTORED);
    play.run(
        "acquire B orders
         until B believes it holds orders
         expect B holds orders with token 1 and breaks token-monotonic
         write B orders \"right\"
         run 500ms
         resume A
         run 500ms
         expect orders refuses B with token 1
         expect orders accepts A with token 140 \"zombie\"",
    );
}

/// L33: an operator reads at the store what it has seen, and lets the service go on above that.
#[test]
fn l33_raised_past_every_token_ever_issued_the_restore_is_safe() {
    let mut play = Play::of(forgets_tokens(), RESTORED);
    play.run(
        "expect orders has seen token 140
         raise orders 140
         acquire B orders
         until B believes it holds orders
         expect B holds orders with token 141
         write B orders \"right\"
         run 500ms
         resume A
         run 500ms
         expect orders accepts B with token 141
         expect orders refuses A with token 140 \"zombie\"",
    );
    play.assert_kept();
}

#[test]
fn l33_a_raise_needs_a_leader_and_a_resource() {
    let mut play = Play::of(stage(), "pause s1");
    let name = "s1".to_owned();
    assert_eq!(
        play.refusal("raise orders 9"),
        CommandError::AlreadyAsleep { name }
    );
    play.run("crash s1");
    assert_eq!(play.refusal("raise orders 9"), CommandError::NobodyLeads);
    let unknown = play.refusal("raise mail 9");
    assert!(matches!(unknown, CommandError::UnknownResource { .. }));
}

/// Two raises cross: by the log the higher came first, and the lower has nothing left to do.
#[test]
fn a_raise_that_comes_after_a_higher_one_does_nothing_and_says_so() {
    let play = Play::of(stage(), "raise orders 9\nraise orders 3\nrun 1s");
    let nothing = |e: &Event| matches!(e, Event::NothingToDo { .. });
    play.expect(Rule::OperatorRaises, Some(S1), nothing);
    assert_eq!(play.count(S1, nothing), 1);
    // A term's first entry does nothing by its nature.
    let play = Play::of(stage(), "campaign s2\nrun 1s");
    assert_eq!(play.count(S2, nothing), 0);
}

#[test]
fn a_late_renewal_of_an_earlier_grant_does_not_extend_the_new_one() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         run 1.61s
         delay A>s1#last 2s
         release A
         run 500ms
         acquire A orders
         until A holds orders with token 2
         run 3s",
    );
    let current = Token(2);
    let refused = |e: &Event| {
        matches!(e, Event::RenewalRefused { worker: A, why, .. }
            if *why == RenewRefusal::OtherToken { current })
    };
    assert_eq!(play.count(S1, refused), 1, "{}", play.trace(40));
    play.assert_kept();
}

// L32: alive but stuck ----------------------------------------------------------------------------

/// A holds and begins to write, with so much work to do and a bound on it; B waits.
fn at_work(work: Duration, work_max: Duration, script: &str) -> Play {
    let setup = Setup {
        work,
        work_max,
        ..stage()
    };
    let mut play = Play::of(
        setup,
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         write A orders \"first\"",
    );
    play.run(script);
    play
}

fn withheld(event: &Event) -> bool {
    matches!(event, Event::RenewalWithheld { .. })
}

/// The bound itself is not too long.
#[test]
fn l32_work_that_has_taken_just_as_long_as_it_may_renews() {
    let held = "acquire A orders\nuntil A believes it holds orders";
    let renews = Play::of(stage(), held).ms() + 1_600;
    for (work_max, times) in [(400, 0), (399, 1)] {
        let setup = Setup {
            work: Duration::secs(3_600),
            work_max: Duration::millis(work_max),
            ..stage()
        };
        let play = Play::of(
            setup,
            &format!(
                "{held}\nat {}ms\nwrite A orders \"x\"\nat {}ms",
                renews - 400,
                renews + 1
            ),
        );
        assert_eq!(play.count(A, withheld), times, "{work_max} ms");
    }
}

/// L32, as it is without a bound: the process renews, its work hangs, and nobody else gets the lease.
#[test]
fn l32_a_holder_that_hangs_keeps_its_lease_for_ever() {
    let play = at_work(
        Duration::secs(3_600),
        Duration::ZERO,
        "run 1200s
         expect A holds orders with token 1 and B waits for orders
         expect A sends nothing to orders",
    );
    assert_eq!(play.verdict("A"), Some(Verdict::Mine));
    play.assert_kept();
}

/// L32, right: who renews only while its work gets on lets go, and the lease passes on in bounded time.
#[test]
fn l32_a_holder_that_hangs_lets_the_lease_pass_on() {
    let mut play = at_work(Duration::secs(3_600), Duration::secs(5), "");
    let began = play.ms();
    play.run("until B believes it holds orders");
    play.run("expect A does not believe it holds orders and B holds orders with token 2");
    // The bound, a renewal just before it, a full lease, and the messages there and back.
    let setup = stage();
    let most = 5_000 + (setup.lease.0 + setup.answer_timeout.0) / 1_000;
    let took = play.ms() - began;
    assert!(5_000 < took && took <= most, "{took}");
    assert!(1 <= play.count(A, withheld));
    let lapsed = |e: &Event| matches!(e, Event::LeaseLapsed { .. });
    assert_eq!(play.count(A, lapsed), 1, "it knows by its own clock");
    play.run("run 60s");
    play.assert_kept();
}

/// What hung may go on after all: by then its token is old, once the next holder has shown its own.
#[test]
fn l32_what_a_stuck_holder_sends_at_last_is_fenced() {
    let play = at_work(
        Duration::secs(14),
        Duration::secs(5),
        "set claim_first on
         until B believes it holds orders
         until orders accepts B with token 2
         until A sends to orders
         run 200ms
         expect orders refuses A with token 1 \"first\"",
    );
    play.assert_kept();
}

/// Work that is slow and gets on costs nothing, and neither does having none.
#[test]
fn l32_a_holder_that_works_or_rests_keeps_its_lease() {
    let writes = "write A orders \"next\"\n".repeat(12);
    let play = at_work(
        Duration::secs(4),
        Duration::secs(5),
        &format!("{writes}run 120s\nexpect A holds orders with token 1 and B waits for orders"),
    );
    assert_eq!(play.count(A, withheld), 0);
    let sent = |e: &Event| matches!(e, Event::WriteSent { .. });
    assert_eq!(play.count(A, sent), 13);
    play.assert_kept();
    // Longer than the bound, and done a renewal interval before the lease is over: it renews again.
    let play = at_work(
        Duration::secs(6),
        Duration::secs(5),
        "run 60s
         expect A holds orders with token 1
         expect orders accepts A with token 1",
    );
    assert!(1 <= play.count(A, withheld));
    play.assert_kept();
}

// Leaders of the service --------------------------------------------------------------------------

/// L31: it slept, hears nobody, finds every lease overdue, and wants to revoke what its successor renews.
#[test]
fn l31_a_stale_leader_revokes_nothing() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         pause s1
         cut s2 -> s1
         cut s3 -> s1
         cut A -> s1
         until s2 leads
         run 5s
         expect A believes it holds orders
         resume s1
         run 10ms
         expect s1 believes it leads
         heal
         run 5s
         expect A believes it holds orders and A holds orders with token 1",
    );
    let proposed = |e: &Event| matches!(e, Event::ExpiryProposed { .. });
    assert_eq!(
        play.count(S1, proposed),
        1,
        "an entry of term 1, refused by all"
    );
    let expired = |e: &Event| matches!(e, Event::LeaseExpired { .. });
    assert_eq!(
        play.steps
            .iter()
            .flat_map(|s| s.events())
            .filter(|e| expired(e))
            .count(),
        0
    );
    play.assert_kept();
}

// Giving back ------------------------------------------------------------------------------------

#[test]
fn a_release_that_is_lost_is_sent_again_with_the_same_number() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         acquire B orders
         run 500ms
         cut A -> s1
         release A
         run 300ms
         expect A holds orders
         heal
         until B holds orders with token 2
         run 1s",
    );
    let confirmed = |e: &Event| matches!(e, Event::ReleaseConfirmed { .. });
    assert_eq!(play.count(A, confirmed), 1);
    let released = play.times(S1, |e| matches!(e, Event::LeaseReleased { worker: A, .. }));
    assert!(
        released[0] < 2_000,
        "long before the lease is over: {released:?}"
    );
    play.assert_kept();
}

#[test]
fn a_release_whose_answer_is_lost_ends_nothing_twice() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         cut s1 -> A
         release A
         run 400ms
         expect nobody holds orders
         acquire B orders
         run 300ms
         heal
         acquire A orders
         run 2s
         expect B holds orders with token 2 and A waits for orders",
    );
    let repeated = |e: &Event| matches!(e, Event::RequestRepeated { asker: A, .. });
    assert!(
        0 < play.count(S1, repeated),
        "the retry found nothing left to do"
    );
    play.assert_kept();
}

/// What A gave back long ago, and has asked for again since, is not ended by the old message.
#[test]
fn a_release_that_comes_late_ends_no_later_grant() {
    let mut play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         release A
         delay A>s1#last 3s
         acquire A orders
         run 1s
         expect A believes it holds orders
         run 4s
         expect A believes it holds orders and A holds orders with token 2",
    );
    play.run("");
    play.assert_kept();
}

/// An acquire that arrives after its own release takes nothing: nobody would use it.
#[test]
fn an_acquire_that_comes_after_its_release_takes_nothing() {
    let play = Play::of(
        stage(),
        "acquire A orders
         delay A>s1#last 2s
         release A
         run 3s
         expect nobody holds orders",
    );
    assert_eq!(play.count(S1, is_granted), 0);
    play.assert_kept();
}

/// L30, our choice: refused, and the next grant has a new token.
#[test]
fn l30_an_expired_lease_is_not_renewed_even_if_nobody_took_it() {
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
