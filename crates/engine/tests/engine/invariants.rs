//! Each invariant is broken by commands in a real world with one switch off: the monitor and the full
//! predicate fire first at the same step, and the reason names the right processes. With the switch on,
//! the same commands break nothing.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

use crate::common::{Run, check, cold};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, RequestId, ResourceId, Term, Token};

const S1: ProcessId = ProcessId(0);
const S2: ProcessId = ProcessId(1);
const S3: ProcessId = ProcessId(2);
const S5: ProcessId = ProcessId(4);
const ORDERS: ResourceId = ResourceId(0);
/// In worlds of three servers.
const A: ProcessId = ProcessId(3);
const B: ProcessId = ProcessId(4);
const STORE: ProcessId = ProcessId(5);

/// Case A12: a vote that a crash forgets is given twice.
const FORGOTTEN_VOTE: &str = "
    cut s1 <-> s3
    campaign s1
    until s1 becomes leader
    cut s1 <-> s2
    crash s2
    restart s2
    campaign s3
    run 500ms";

#[test]
fn breaks_election_safety_a_forgotten_vote_is_given_twice() {
    let reason = check(
        &cold(3),
        "persist_term_vote",
        FORGOTTEN_VOTE,
        Invariant::ElectionSafety,
    );
    assert_eq!(
        reason,
        Reason::TwoLeaders {
            term: Term(1),
            first: S1,
            second: S3
        }
    );
}

#[test]
fn breaks_election_safety_a_server_votes_for_everyone_who_asks() {
    let script = "
        cut s1 <-> s3
        campaign s1
        until s1 becomes leader
        cut s1 <-> s2
        campaign s3
        run 500ms";
    let reason = check(
        &cold(3),
        "one_vote_per_term",
        script,
        Invariant::ElectionSafety,
    );
    assert_eq!(
        reason,
        Reason::TwoLeaders {
            term: Term(1),
            first: S1,
            second: S3
        }
    );
}

/// Case A04: one supporter's reply, delivered again and again.
#[test]
fn breaks_election_safety_a_repeated_reply_counts_as_new_votes() {
    let script = "
        partition s1 s2 | s3 s4 s5
        campaign s3
        until s3 becomes leader
        cut s1 -> s2
        cut s2 -> s1
        heal s1 -> s2
        heal s2 -> s1
        campaign s1
        run 61ms
        duplicate s2>s1#1
        run 500ms";
    let reason = check(
        &cold(5),
        "vote_counts_by_id",
        script,
        Invariant::ElectionSafety,
    );
    assert_eq!(
        reason,
        Reason::TwoLeaders {
            term: Term(1),
            first: S3,
            second: S1
        }
    );
}

/// Entries that arrive behind a gap are stored in the wrong place.
#[test]
fn breaks_log_matching_a_follower_stores_behind_a_gap() {
    let setup = Setup {
        clients: vec!["c1".into()],
        ..cold(3)
    };
    let script = "
        campaign s1
        run 1s
        cut s1 -> s3
        put c1 x \"1\"
        put c1 x \"2\"
        run 1s
        heal
        put c1 x \"3\"
        run 1s";
    let reason = check(&setup, "prev_log_check", script, Invariant::LogMatching);
    assert!(
        matches!(
            reason,
            Reason::LogsDiffer {
                index: LogIndex(2),
                term: Term(1),
                second: S3,
                ..
            }
        ),
        "{reason:?}"
    );
}

/// A majority has the entry; a server without it must not lead.
const SHORT_LOG_CAMPAIGNS: &str = "
    campaign s1
    run 1s
    partition s1 s2 | s3
    put c1 x \"5\"
    run 1s
    heal
    partition s1 | s2 s3
    campaign s3
    run 500ms
    campaign s3
    run 500ms";

#[test]
fn breaks_leader_completeness_a_short_log_wins_votes() {
    let setup = Setup {
        clients: vec!["c1".into()],
        ..cold(3)
    };
    let script = SHORT_LOG_CAMPAIGNS;
    let reason = check(
        &setup,
        "log_up_to_date_check",
        script,
        Invariant::LeaderCompleteness,
    );
    assert_eq!(
        reason,
        Reason::LeaderLacksEntry {
            leader: S3,
            term: Term(2),
            index: LogIndex(2),
            committed_by: S1
        }
    );
}

/// Case D01, Raft Figure 8: an entry of term 2 on a majority is taken for committed in term 4.
#[test]
fn breaks_state_machine_safety_an_old_term_is_committed_by_counting() {
    let setup = Setup {
        clients: vec!["c1".into()],
        client_timeout: Duration::millis(100),
        client_attempts: 100,
        latency_min: Duration::millis(50),
        latency_max: Duration::millis(50),
        ..cold(5)
    };
    // The client asks again and again, so that there are more entries of term 2 than one append carries:
    // the old ones arrive at s3 without the new one of term 4.
    let script = "
        campaign s3
        run 1s
        campaign s1
        until s1 becomes leader
        partition s1 s2 | s3 s4 s5
        put c1 x \"2\"
        put c1 x \"3\"
        put c1 x \"4\"
        run 30s
        crash s1
        heal
        partition s2 | s3 s4 s5
        campaign s5
        until s5 becomes leader
        partition s5 | s1 s2 s3 s4
        run 100ms
        crash s5
        heal
        restart s1
        campaign s1
        run 500ms
        campaign s1
        until s1 becomes leader
        partition s1 s2 s3 | s4 s5
        until s3 rejects s1
        run 155ms
        partition s1 | s2 s3 s4 s5
        heal s4 <-> s2
        heal s4 <-> s3
        heal s5 <-> s2
        heal s5 <-> s3
        restart s5
        campaign s5
        run 500ms
        campaign s5
        run 3s";
    let reason = check(
        &setup,
        "commit_only_current_term",
        script,
        Invariant::StateMachineSafety,
    );
    assert!(
        matches!(
            reason,
            Reason::AppliedDiffer {
                index: LogIndex(2),
                first: S1,
                second: S5
            }
        ),
        "{reason:?}"
    );
}

fn workers() -> Setup {
    Setup {
        workers: vec!["A".into(), "B".into()],
        stores: vec!["orders".into()],
        ..Setup::default()
    }
}

/// A counter that lives in the leader's memory starts again with the next leader.
#[test]
fn breaks_token_monotonic_a_new_leader_counts_from_one() {
    let setup = Setup {
        seed: 7,
        ..workers()
    };
    let leader = Run::new(setup.clone()).world().truth().leader().unwrap().0;
    let script = format!(
        "until A holds orders
        until B waits for orders
        crash s{}
        until some server leads
        run 1s
        crash A
        until B holds orders",
        leader.0 + 1
    );
    let reason = check(
        &setup,
        "durable_token_counter",
        &script,
        Invariant::TokenMonotonic,
    );
    assert_eq!(
        reason,
        Reason::TokenNotRaised {
            resource: ORDERS,
            worker: B,
            token: Token(1),
            before: Token(1),
            holder_before: A
        }
    );
}

/// Two wishes on their way at once both find the resource free.
#[test]
fn breaks_one_holder_a_resource_is_found_free_twice() {
    let latency = Duration::millis(50);
    let setup = Setup {
        contend: false,
        latency_min: latency,
        latency_max: latency,
        ..workers()
    };
    let script = "
        acquire A orders
        acquire B orders
        run 2s";
    let reason = check(&setup, "grant_at_apply", script, Invariant::OneHolder);
    assert_eq!(
        reason,
        Reason::TwoHolders {
            resource: ORDERS,
            worker: B,
            token: Token(2),
            holder: A,
            holder_token: Token(1)
        }
    );
}

/// Case L02: the grant is long on its way, and a naive holder counts from when it arrives.
#[test]
fn breaks_deadline_within_grant_a_late_grant_is_counted_from_its_arrival() {
    let setup = Setup {
        servers: 1,
        answer_timeout: Duration::secs(20),
        ..workers()
    };
    let script = "
        latency s1 -> A 2s 2s
        until A is granted orders
        cut A -> s1
        until B holds orders
        run 3s";
    let reason = check(
        &setup,
        "conservative_deadline",
        script,
        Invariant::DeadlineWithinGrant,
    );
    assert!(
        matches!(reason, Reason::DeadlineOutlivesGrant { worker: ProcessId(1), token: Token(1), until, ended, .. }
            if ended < until),
        "{reason:?}"
    );
}

/// The opening lesson: the store asks nobody for a token.
#[test]
fn breaks_no_older_token_a_sleeper_wakes_and_writes() {
    let script = "
        until A is granted orders
        write A orders \"charge 7\"
        pause A
        until B is granted orders
        write B orders \"charge 7\"
        until orders accepts B
        resume A
        run 1s";
    let reason = check(&workers(), "fence", script, Invariant::NoOlderToken);
    assert_eq!(
        reason,
        Reason::OlderTokenAccepted {
            store: STORE,
            from: A,
            token: Token(1),
            highest: Token(2),
            highest_from: B
        }
    );
}

/// Case N06: a check in one step and a write in the next, with another write between.
#[test]
fn breaks_no_older_token_a_write_slips_between_check_and_write() {
    let script = "
        until A is granted orders
        write A orders \"charge 7\"
        pause A
        until B is granted orders
        latency B -> orders 1ms 1ms
        write B orders \"charge 7\"
        run 300ms
        resume A
        run 2s";
    let mut setup = workers();
    setup.latency_min = Duration::millis(50);
    setup.latency_max = Duration::millis(50);
    setup.store_delay = Duration::secs(1);
    // A's write is checked before B's is written, and written after it.
    let script = script.replace("run 300ms\n        resume A", "resume A\n        run 249ms");
    let reason = check(&setup, "fence_atomic", &script, Invariant::NoOlderToken);
    assert!(
        matches!(
            reason,
            Reason::OlderTokenAccepted {
                from: A,
                highest_from: B,
                ..
            }
        ),
        "{reason:?}"
    );
}

/// An answer that comes before a majority has the entry promises too much.
#[test]
fn breaks_no_lost_write_an_answer_comes_before_the_commit() {
    let setup = Setup {
        clients: vec!["c1".into()],
        ..cold(3)
    };
    let script = "
        campaign s1
        run 1s
        partition s1 | s2 s3
        put c1 x \"5\"
        run 1s
        campaign s2
        run 1s";
    let reason = check(&setup, "reply_after_commit", script, Invariant::NoLostWrite);
    assert_eq!(
        reason,
        Reason::WriteLost {
            client: ProcessId(3),
            request: RequestId(1),
            leader: S2,
            term: Term(2)
        }
    );
}

/// A deposed leader that asks nobody goes on renewing what its successor counts down.
#[test]
fn breaks_deadline_within_grant_a_deposed_leader_renews() {
    let setup = Setup {
        seed: 7,
        ..workers()
    };
    let leader = Run::new(setup.clone())
        .world()
        .truth()
        .leader()
        .unwrap()
        .0
        .0
        + 1;
    let others: Vec<String> = (1..=3)
        .filter(|n| *n != leader)
        .map(|n| format!("s{n}"))
        .collect();
    let script = format!(
        "until A is granted orders
        partition s{leader} A | {}
        run 12s",
        others.join(" ")
    );
    let reason = check(
        &setup,
        "renew_quorum_round",
        &script,
        Invariant::DeadlineWithinGrant,
    );
    assert!(
        matches!(reason, Reason::DeadlineOutlivesGrant { worker: A, .. }),
        "{reason:?}"
    );
}

/// A new leader that goes by the grant's first time ends a lease that has been renewed since.
#[test]
fn breaks_deadline_within_grant_a_new_leader_forgets_the_renewals() {
    let setup = Setup {
        seed: 7,
        ..workers()
    };
    let leader = Run::new(setup.clone())
        .world()
        .truth()
        .leader()
        .unwrap()
        .0
        .0
        + 1;
    let script = format!(
        "until A is granted orders
        run 4s
        crash s{leader}
        until some server leads
        run 3s"
    );
    let reason = check(
        &setup,
        "failover_extends_leases",
        &script,
        Invariant::DeadlineWithinGrant,
    );
    assert!(
        matches!(reason, Reason::DeadlineOutlivesGrant { worker: A, .. }),
        "{reason:?}"
    );
}

/// Case L34: a service that has lost its table does not know that somebody holds.
#[test]
fn breaks_one_holder_a_service_that_forgot_grants_at_once() {
    let setup = Setup {
        servers: 1,
        table_in_memory: true,
        ..workers()
    };
    let script = "
        until A is granted orders
        cut A <-> s1
        crash s1
        restart s1
        run 12s";
    let reason = check(&setup, "startup_quarantine", script, Invariant::OneHolder);
    assert!(
        matches!(
            reason,
            Reason::TwoHolders {
                worker: ProcessId(2),
                token: Token(2),
                holder: ProcessId(1),
                holder_token: Token(1),
                ..
            }
        ),
        "{reason:?}"
    );
}

/// Case L07: a wall clock that steps back gives the holder time that the service does not.
#[test]
fn breaks_deadline_within_grant_a_wall_clock_steps_back() {
    let script = "
        until A is granted orders
        cut A <-> s1
        cut A <-> s2
        cut A <-> s3
        clock A jump -8s
        until B holds orders
        run 1s";
    let reason = check(
        &workers(),
        "monotonic_deadline",
        script,
        Invariant::DeadlineWithinGrant,
    );
    assert!(
        matches!(reason, Reason::DeadlineOutlivesGrant { worker: A, .. }),
        "{reason:?}"
    );
}

/// Case A08: a deposed leader's append overwrites what its successor has committed.
#[test]
fn breaks_leader_completeness_a_stale_append_is_taken() {
    let setup = Setup {
        clients: vec!["c1".into(), "c2".into()],
        client_timeout: Duration::millis(400),
        ..cold(3)
    };
    let script = "
        campaign s1
        run 1s
        cut s1 <-> s2
        cut s3 -> s1
        cut c2 -> s1
        latency s1 -> s3 4s 4s
        put c1 x \"old\"
        run 100ms
        campaign s2
        run 1s
        put c2 x \"new\"
        run 2s
        cut s2 -> s3
        run 2s
        heal
        latency s1 -> s3 50ms 50ms
        crash s2
        campaign s1
        run 500ms
        campaign s1
        run 1s";
    let reason = check(
        &setup,
        "stale_term_check",
        script,
        Invariant::LeaderCompleteness,
    );
    assert!(
        matches!(
            reason,
            Reason::LeaderLacksEntry {
                leader: S1,
                committed_by: S2,
                ..
            }
        ),
        "{reason:?}"
    );
}

/// Case D04: a follower commits a tail that the append did not speak of.
#[test]
fn breaks_state_machine_safety_a_follower_commits_beyond_what_it_was_shown() {
    let setup = Setup {
        clients: vec!["c1".into(), "c2".into()],
        latency_min: Duration::millis(50),
        latency_max: Duration::millis(50),
        ..cold(3)
    };
    let script = format!(
        "campaign s3
        run 1s
        {}
        partition s3 c1 | s1 s2 c2
        put c1 x \"stale\"
        run 1s
        campaign s1
        run 1s
        {}
        heal
        run 1s",
        "put c1 x \"1\"\nrun 500ms\n".repeat(70),
        "put c2 y \"2\"\nrun 500ms\n".repeat(4),
    );
    let switch = "commit_clamp_to_last_new_entry";
    let reason = check(&setup, switch, &script, Invariant::StateMachineSafety);
    assert!(
        matches!(reason, Reason::AppliedDiffer { second: S3, .. }),
        "{reason:?}"
    );
}

/// A store that crashes before its sync has forgotten the write and its token together: nothing is broken.
#[test]
fn a_write_lost_with_the_stores_crash_raises_no_gate() {
    let latency = Duration::millis(50);
    let setup = Setup {
        sync: Duration::millis(20),
        latency_min: latency,
        latency_max: latency,
        ..workers()
    };
    let mut run = Run::new(setup);
    run.play(
        "until A is granted orders
        write A orders \"charge 7\"
        pause A
        until B is granted orders
        write B orders \"charge 7\"
        until orders accepts B
        crash orders
        restart orders
        resume A
        until orders accepts A
        run 1s",
    );
    assert_eq!(run.broken(Invariant::NoOlderToken), None);
    assert!(run.holds("orders has seen token 1"));
    run.assert_monitors_agree();
}

/// A log that was longer before says nothing of what is durable now: the new leader's own disk is behind.
#[test]
fn a_leader_whose_log_was_cut_counts_itself_only_for_what_is_durable_again() {
    let setup = Setup {
        clients: vec!["c1".into()],
        sync: Duration::secs(10),
        ..cold(3)
    };
    // Answered at once, so that one client is enough; what it is told matters to nobody here.
    let mut run = Run::new(setup);
    run.play(
        "set reply_after_commit off
        campaign s1
        run 60s
        partition s1 | s2 s3
        put c1 a \"1\"
        put c1 a \"2\"
        put c1 a \"3\"
        put c1 a \"4\"
        run 100s
        campaign s2
        run 60s
        heal
        until s1 rejects s2
        run 1s
        campaign s1
        until s1 becomes leader
        partition s1 | s2 s3
        put c1 p \"1\"
        put c1 q \"1\"
        put c1 z \"1\"
        run 1s
        heal
        cut s1 <-> s2
        run 15s",
    );
    // s3 has all of it on disk; s1, one sync an entry, only the first.
    assert!(run.holds("s1 leads and s1 has no q"));
    run.play("until s1 has q = \"1\"");
    run.assert_monitors_agree();
}
