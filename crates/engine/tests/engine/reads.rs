//! Reads and client sessions, case by case: what may be answered, from which state, and what a client is told.
//!
//! Reading aloud from the minutes without being told afterwards that the page was old. Each safety switch is
//! shown off, where its loss is caught, and on, where the same commands break nothing; the monitors are
//! compared with the full predicates in both. One tick of the case list is 10 ms here, and so is a message.
//! Case N16 (reads of a store) is not here: stores answer no reads.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

use std::sync::Arc;

use crate::common::Run;
use crate::play;
use crate::play::posts::{ask_for_vote, last_vote, post};
use crate::play::{Play, S1, S2, S3, ticking, with_switch};
use leasehold_engine::event::{Event, VoteRefusal};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::raft::{Config, Message, Snapshot};
use leasehold_engine::registry::{Registry, Session};
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, RequestId, Term};

/// In worlds of three servers: two clients and a store.
const C1: ProcessId = ProcessId(3);
const C2: ProcessId = ProcessId(4);

/// Three servers of which nobody stands unless told to, and two clients that do not soon ask again.
fn patient(servers: u8) -> Setup {
    Setup {
        clients: vec!["c1".into(), "c2".into()],
        client_timeout: Duration::secs(20),
        ..ticking(servers, &vec![60_000; usize::from(servers)])
    }
}

/// Plays the script with `switches` off and gives the reason for which `invariant` breaks; then with them
/// on, where nothing breaks. Monitors and full predicates agree both times.
fn breaks(setup: &Setup, switches: &[Switch], script: &str, invariant: Invariant) -> Reason {
    let off = switches.iter().fold(setup.clone(), |setup, switch| {
        with_switch(setup, *switch, "off")
    });
    let mut off = Run::new(off);
    off.play(script);
    off.assert_monitors_agree();
    let broken = off.broken(invariant);
    let reason = broken.unwrap_or_else(|| panic!("{invariant} must break"));
    let reason = reason.reason;
    let mut on = Run::new(setup.clone());
    on.play(script);
    on.assert_monitors_agree();
    for invariant in Invariant::ALL {
        assert_eq!(on.broken(*invariant), None, "with all on");
    }
    reason
}

/// What a client's reads found, in order: value, index, and whether it was marked stale.
fn reads(play: &Play, client: ProcessId) -> Vec<(Option<&str>, u64, bool)> {
    let steps = play
        .steps
        .iter()
        .filter(|step| step.process == Some(client));
    steps
        .flat_map(|step| step.events())
        .filter_map(|event| match event {
            Event::ReadEnded {
                value,
                index,
                stale,
                ..
            } => Some((value.as_deref(), index.0, *stale)),
            _ => None,
        })
        .collect()
}

/// s1 leads, and c2 will ask s2 first: it led before.
const C2_ASKS_S2: &str = r#"
    campaign s2
    until s2 becomes leader
    put c2 y "0"
    until c2 is told accepted
    campaign s1
    until s1 becomes leader
    put c1 x "1"
    until c1 is told accepted
"#;

// G: reads -----------------------------------------------------------------------------------------

/// s1 has committed x = "1" with s2 alone; nobody else knows that it is committed, and s3 lacks it.
/// s2 then wins term 2, and s3's refusals of its first appends confirm that it leads.
const NEW_LEADER: &str = r#"
    campaign s1
    run 100ms
    cut s1 -> s3
    put c1 x "1"
    until c1 is told accepted
    crash s1
    campaign s2
    until s2 becomes leader
"#;

/// A new leader does not know how much is committed until it has committed an entry of its own.
/// The case's new leader has its appends blocked; ours gets them refused too (`off`), which confirms its
/// rounds and commits nothing.
#[test]
fn g01_a_new_leader_reads_after_its_first_commit() {
    let mut play = Play::of(patient(3), NEW_LEADER);
    play.run(
        "cut s2 -> s3
         get c2 x at s2
         run 5s",
    );
    assert_eq!(play.world.server(S2).unwrap().commit(), LogIndex(1));
    assert_eq!(reads(&play, C2), [], "postponed");
    play.run("heal\nuntil c2 reads x = \"1\"");
    assert_eq!(
        reads(&play, C2),
        [(Some("1"), 3, false)],
        "the no-op is entry 3"
    );
    play.assert_kept();

    let script = format!("{NEW_LEADER}get c2 x at s2\nrun 500ms");
    let reason = breaks(
        &patient(3),
        &[Switch::ReadAfterOwnCommit],
        &script,
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(
            reason,
            Reason::StaleRead {
                client: C2,
                index: LogIndex(1),
                committed: LogIndex(2),
                ..
            }
        ),
        "{reason:?}"
    );
}

/// s1 does not hear that s2 leads term 2 and has committed x = "2".
const CUT_OFF: &str = r#"
    run 100ms
    partition s1 c1 | s2 s3 c2
    campaign s2
    until s2 becomes leader
    put c2 x "2"
    until c2 is told accepted
"#;

#[test]
fn g02_a_leader_that_is_cut_off_answers_no_read() {
    let cut_off = format!("{C2_ASKS_S2}{CUT_OFF}");
    let mut play = Play::of(patient(3), &cut_off);
    play.run(
        "expect s1 believes it leads
         get c1 x
         run 10s",
    );
    assert_eq!(reads(&play, C1), []);
    play.run("heal\nuntil c1 reads x = \"2\"");
    play.assert_kept();

    let script = format!("{cut_off}get c1 x at s1\nrun 500ms");
    let reason = breaks(
        &patient(3),
        &[Switch::ReadindexQuorumRound],
        &script,
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(
            reason,
            Reason::StaleRead {
                client: C1,
                index: LogIndex(4),
                committed: LogIndex(6),
                ..
            }
        ),
        "{reason:?}"
    );

    // A plain local read shows the same old value; it says so, and promises nothing.
    let mut play = Play::of(patient(3), &cut_off);
    play.run("get c1 x stale at s1\nuntil c1 reads x = \"1\" stale");
    play.assert_kept();
}

/// s3 answers a heartbeat of s1, and that answer is late: meanwhile s2 leads and commits.
#[test]
fn g03_answers_to_an_earlier_heartbeat_confirm_no_read() {
    let mut play = Play::of(patient(3), C2_ASKS_S2);
    play.run(
        r#"
        run 105ms
        delay s3>s1#last 300ms
        cut s1 -> s2
        cut s1 -> s3
        cut s2 -> s1
        campaign s2
        until s2 becomes leader
        put c2 x "2"
        until c2 is told accepted
        cut s3 -> s1
        heal s3 -> s1
        get c1 x at s1
        run 5s
        "#,
    );
    let asked = play.times(S1, |e| matches!(e, Event::ReadReceived { .. }));
    let late = play.times(S1, |e| matches!(e, Event::AppendConfirmed { follower: S3 }));
    assert!(
        asked[0] < *late.last().unwrap(),
        "the late answer must come after the read: {asked:?} {late:?}"
    );
    assert_eq!(reads(&play, C1), []);
    play.assert_kept();
}

/// s2 learns from s1 that entry 2 is committed, before the append that holds it: that one is late.
const BEHIND: &str = r#"
    campaign s1
    run 100ms
    cut s1 -> s2
    put c1 x "1"
    until c1 is told accepted
    heal
    get c2 x at s2
    run 25ms
    delay s1>s2#last 500ms
    cut s1 -> s2
    run 5ms
    heal
    run 1s
"#;

/// The case has read index 7 and 5 applied; here it is 2 and 1.
#[test]
fn g04_a_read_waits_until_its_index_is_applied() {
    let play = Play::of(patient(3), BEHIND);
    let waits = |e: &Event| {
        matches!(
            e,
            Event::ReadWaits {
                client: C2,
                index: LogIndex(2)
            }
        )
    };
    assert_eq!(play.count(S2, waits), 1, "{}", play.trace(60));
    assert_eq!(reads(&play, C2), [(Some("1"), 2, false)]);
    let reason = breaks(
        &patient(3),
        &[Switch::ReadWaitsForApply],
        BEHIND,
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(
            reason,
            Reason::StaleRead {
                client: C2,
                index: LogIndex(1),
                committed: LogIndex(2),
                ..
            }
        ),
        "{reason:?}"
    );
}

#[test]
fn g05_a_follower_asks_its_leader_and_answers_itself() {
    let mut play = Play::of(
        patient(3),
        r#"
        campaign s1
        run 100ms
        put c1 x "1"
        until c1 is told accepted
        get c2 x at s3
        until c2 reads x = "1"
        "#,
    );
    let asks = |e: &Event| matches!(e, Event::ReadIndexAsked { leader: S1, .. });
    assert_eq!(play.count(S3, asks), 1);
    let answers = |e: &Event| matches!(e, Event::ReadAnswered { client: C2, .. });
    assert_eq!((play.count(S3, answers), play.count(S1, answers)), (1, 0));
    // From its own commit index it would be old.
    play.run(
        "cut s1 -> s3
         put c1 x \"2\"
         until c1 is told accepted
         get c2 x stale at s3
         run 100ms",
    );
    assert_eq!(
        reads(&play, C2),
        [(Some("1"), 2, false), (Some("1"), 2, true)]
    );
    // It cannot hear the answer of its leader, and does not answer without one.
    play.run("get c2 x at s3\nrun 1s");
    assert_eq!(reads(&play, C2).len(), 2);
    // A follower that knows no leader says so; the client asks that server again, and no other.
    play.run("crash s1\ncrash s2\nheal\nrun 100ms\nrestart s1\nrestart s2\nget c1 x at s2\nrun 2s");
    assert_eq!(reads(&play, C1), []);
    let away = |e: &Event| {
        matches!(
            e,
            Event::NotLeaderAnswered {
                asker: C1,
                hint: None
            }
        )
    };
    assert_eq!(play.count(S2, away), 1, "{}", play.trace(60));
    play.run("campaign s1\nuntil c1 reads x = \"2\"");
    play.assert_kept();
}

/// c1 has read entry 2; s2 has not got it.
const SEEN: &str = r#"
    campaign s1
    run 100ms
    cut s1 -> s2
    put c2 x "1"
    until c2 is told accepted
    get c1 x
    until c1 reads x = "1"
    get c1 x stale at s2
    run 1s
"#;

#[test]
fn g06_a_client_is_not_shown_less_than_it_has_seen() {
    let mut play = Play::of(patient(3), SEEN);
    assert_eq!(reads(&play, C1), [(Some("1"), 2, false)], "s2 waits");
    play.run("heal\nuntil c1 reads x = \"1\" stale");
    play.assert_kept();
    let reason = breaks(
        &patient(3),
        &[Switch::SessionFloor],
        SEEN,
        Invariant::MonotonicReads,
    );
    assert!(
        matches!(
            reason,
            Reason::ReadWentBack {
                client: C1,
                index: LogIndex(1),
                seen: LogIndex(2),
                ..
            }
        ),
        "{reason:?}"
    );
    // Its own writes are seen too, though it has read nothing.
    let mut play = Play::of(patient(3), "campaign s1\nrun 100ms\ncut s1 -> s2");
    play.run("put c1 x \"1\"\nuntil c1 is told accepted\nget c1 x stale at s2\nrun 1s");
    assert_eq!(reads(&play, C1), []);
    // A client that crashes forgets what it has seen, and so does the promise.
    let mut play = Play::of(patient(3), SEEN);
    play.run("crash c1\nrestart c1\nget c1 x stale at s2\nuntil c1 reads no x stale");
    play.assert_kept();
}

#[test]
fn g07_a_single_server_answers_at_once() {
    let mut play = Play::of(patient(1), "campaign s1\nrun 100ms\nget c1 x\nrun 20ms");
    let client = play.id("c1");
    assert_eq!(reads(&play, client), [(None, 1, false)]);
    let steps = play.steps.iter().filter(|step| {
        let mut events = step.events();
        events.any(|e| matches!(e, Event::ReadReceived { .. }))
    });
    for step in steps {
        let mut events = step.events();
        assert!(events.any(|e| matches!(e, Event::ReadAnswered { .. })));
    }
    play.run("put c1 x \"1\"\nget c1 x\nuntil c1 reads x = \"1\"");
    play.assert_kept();
}

/// All restart, so that nobody knows what was committed; the new leader's first entry takes its time,
/// because it opens its term with none (`noop_on_election` off).
#[test]
fn g08_after_a_restart_of_all_a_read_waits_for_the_first_commit() {
    let setup = with_switch(patient(3), Switch::NoopOnElection, "off");
    let script = r#"
        campaign s1
        run 100ms
        put c1 x "1"
        until c1 is told accepted
        run 100ms
        crash s1
        crash s2
        crash s3
        restart s1
        restart s2
        restart s3
        campaign s2
        until s2 becomes leader
        get c2 x at s2
        run 1s
    "#;
    let mut play = Play::of(setup.clone(), script);
    assert_eq!(reads(&play, C2), []);
    play.run("put c1 y \"1\"\nuntil c2 reads x = \"1\"");
    play.assert_kept();
    let reason = breaks(
        &setup,
        &[Switch::ReadAfterOwnCommit],
        script,
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(
            reason,
            Reason::StaleRead {
                client: C2,
                index: LogIndex(0),
                committed: LogIndex(1),
                ..
            }
        ),
        "{reason:?}"
    );
}

/// A follower that has restarted does not take the answer to an older question for that to a new one.
#[test]
fn a_late_read_index_answers_no_later_question() {
    let mut play = Play::of(
        patient(3),
        r#"
        campaign s1
        run 100ms
        get c1 x at s2
        run 25ms
        delay s1>s2#last 1s
        run 20ms
        delay s1>s2#last 1s
        crash s2
        restart s2
        run 100ms
        put c2 x "1"
        until c2 is told accepted
        cut s1 -> s2
        get c1 x at s2
        run 200ms
        heal
        run 3s
        "#,
    );
    for (value, index, stale) in reads(&play, C1) {
        assert_eq!((value, stale), (Some("1"), false), "as of entry {index}");
    }
    play.assert_kept();
    play.run("get c1 x at s2\nuntil c1 reads x = \"1\"");
}

// Lease reads --------------------------------------------------------------------------------------

/// Servers whose election timeouts are 150, 170 and 60,000 ms; s1 is made to lead.
fn lease_reads() -> Setup {
    Setup {
        lease_reads: true,
        heartbeat: Duration::millis(50),
        election_fixed: [60_000, 150, 60_000].map(Duration::millis).to_vec(),
        ..patient(3)
    }
}

/// While the lease runs a leader asks nobody; when it is over it asks again.
#[test]
fn a_leader_answers_by_its_lease_without_a_round() {
    let mut play = Play::of(
        lease_reads(),
        "campaign s1\nrun 200ms\nput c1 x \"1\"\nuntil c1 is told accepted\nrun 60ms\nget c1 x\nrun 20ms",
    );
    assert_eq!(
        reads(&play, C1),
        [(Some("1"), 2, false)],
        "10 ms there and 10 back"
    );
    play.run("get c2 x at s3\nrun 40ms");
    assert_eq!(
        reads(&play, C2),
        [(Some("1"), 2, false)],
        "and by s3, 20 more"
    );
    play.run("partition s1 c1 | s2 s3 c2\nrun 140ms\nget c1 x at s1\nrun 3s");
    assert_eq!(reads(&play, C1).len(), 1, "the lease is over");
    play.assert_kept();
}

/// s1's round reaches the others, whose answers take 120 ms; then it is cut off. s2 stands 150 ms after
/// it heard the round. By 230 ms after the round, s2 has committed x = "2".
const LATE_ANSWERS: &str = r#"
    set stickiness on
    run 100ms
    latency s2 -> s1 130ms 130ms
    latency s3 -> s1 130ms 130ms
    run 160ms
    cut s1 -> s2
    cut s1 -> s3
    until s2 becomes leader
    cut s2 -> s1
    put c2 x "2"
    until c2 is told accepted
    get c1 x at s1
    run 100ms
"#;

#[test]
fn lease_from_send_time_a_late_answer_is_no_later_promise() {
    let reason = breaks(
        &lease_reads(),
        &[Switch::LeaseFromSendTime],
        &format!("{C2_ASKS_S2}{LATE_ANSWERS}"),
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(reason, Reason::StaleRead { client: C1, .. }),
        "{reason:?}"
    );
}

/// s1's clock runs at half the others' rate: 150 ms on it take 300 ms in truth.
#[test]
fn drift_bound_a_slow_leader_counts_its_lease_shorter() {
    let setup = Setup {
        drift_ppm: 1_000_000,
        ..lease_reads()
    };
    let script = r#"
        set stickiness on
        clock s1 rate -50%
        run 130ms
        partition s1 c1 | s2 s3 c2
        until s2 becomes leader
        put c2 x "2"
        until c2 is told accepted
        get c1 x at s1
        run 100ms
    "#;
    let reason = breaks(
        &setup,
        &[Switch::DriftBound],
        &format!("{C2_ASKS_S2}{script}"),
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(reason, Reason::StaleRead { client: C1, .. }),
        "{reason:?}"
    );
}

/// s1 hands over to s2, which stands at once, and hears nothing more: its lease would run for long.
const HANDED_OVER: &str = r#"
    set stickiness on
    run 100ms
    transfer s1 -> s2
    run 10ms
    partition s1 c1 | s2 s3 c2
    until s2 becomes leader
    put c2 x "2"
    until c2 is told accepted
    get c1 x at s1
    run 100ms
"#;

#[test]
fn transfer_expires_lease_a_leader_that_hands_over_relies_on_it_no_more() {
    let setup = Setup {
        election_fixed: [60_000, 1_000, 60_000].map(Duration::millis).to_vec(),
        ..lease_reads()
    };
    let reason = breaks(
        &setup,
        &[Switch::TransferExpiresLease],
        &format!("{C2_ASKS_S2}{HANDED_OVER}"),
        Invariant::LinearizableReads,
    );
    assert!(
        matches!(reason, Reason::StaleRead { client: C1, .. }),
        "{reason:?}"
    );
    // If the handover comes to nothing, a round confirms its reads for the rest of its term: the call may be late.
    let lost = "set stickiness on\nrun 100ms\ntransfer s1 -> s2\ndrop s1>s2#last\nrun 3s";
    let mut play = Play::of(setup, &format!("{C2_ASKS_S2}{lost}"));
    let by_lease = |play: &Play| {
        let facts = play.steps.iter().flat_map(|step| &step.facts);
        facts.filter(|fact| fact.rule == Rule::ReadByLease).count()
    };
    play.run("get c1 x at s1\nuntil c1 reads x = \"1\"");
    assert_eq!(by_lease(&play), 0, "{}", play.trace(40));
    play.assert_kept();
}

/// s2 hears s1 no more and stands; s3 has just answered s1, and then restarted. Bound, it does not vote.
const RESTARTED: &str = r#"
    run 100ms
    cut s1 <-> s2
    run 160ms
    partition s1 c1 | s2 s3 c2
    crash s3
    restart s3
    campaign s2
    run 20ms
    put c2 x "2"
    run 40ms
    get c1 x at s1
    run 2s
"#;

/// The answer to a snapshot confirms a round like any other, so the follower must keep to the lease like any other.
/// It once did not: after a change of term it gave its vote while the leader still read by its lease.
#[test]
fn a_follower_that_takes_a_snapshot_is_bound_to_the_lease_too() {
    let mut play = Play::of(lease_reads(), "set stickiness on");
    let snapshot = Message::Snapshot {
        term: Term(1),
        snapshot: Arc::new(Snapshot {
            index: LogIndex(3),
            term: Term(1),
            registry: Registry::new(1),
            config: Config::initial(&lease_reads()),
        }),
        round: 1,
    };
    post(&mut play, S1, S3, snapshot);
    // Word of a new term ends what stickiness goes by; the lease outlasts it.
    let word = Message::Vote {
        term: Term(2),
        granted: false,
    };
    post(&mut play, S2, S3, word);
    post(&mut play, S2, S3, ask_for_vote(2, (2, 9)));
    assert_eq!(last_vote(&play, S3), Some(Some(VoteRefusal::LeaseMayRun)));
    play.run("run 200ms");
    post(&mut play, S2, S3, ask_for_vote(2, (2, 9)));
    assert_eq!(last_vote(&play, S3), Some(None), "when the lease is over");
}

/// Lease reads are safe only where followers are sticky, and a restart must not free them.
#[test]
fn a_follower_that_restarts_still_gives_its_vote_to_nobody_else() {
    let sticky = format!("{C2_ASKS_S2}set stickiness on\n{RESTARTED}");
    let mut on = Run::new(lease_reads());
    on.play(&sticky);
    on.assert_monitors_agree();
    assert_eq!(on.broken(Invariant::LinearizableReads), None);
    let play = Play::of(lease_reads(), &sticky);
    let bound = |e: &Event| {
        matches!(
            e,
            Event::VoteRefused {
                why: VoteRefusal::LeaseMayRun,
                ..
            }
        )
    };
    assert!(0 < play.count(S3, bound));
    assert_eq!(reads(&play, C1), [(Some("1"), 4, false)]);
    let later = play.times(S2, |e| matches!(e, Event::BecameLeader { .. }));
    assert_eq!(later.len(), 2, "it leads when nobody is bound any more");

    let mut off = Run::new(lease_reads());
    off.play(&format!("{C2_ASKS_S2}{RESTARTED}"));
    off.assert_monitors_agree();
    let broken = off.broken(Invariant::LinearizableReads).unwrap();
    assert!(matches!(
        broken.reason,
        Reason::StaleRead { client: C1, .. }
    ));
}

// K: sessions --------------------------------------------------------------------------------------

/// The grant is committed and its leader is gone before A is told. A asks the next leader with the same
/// number and gets the same grant.
#[test]
fn k01_a_request_asked_again_at_the_next_leader_gets_the_same_answer() {
    let script = r#"
        acquire A orders
        until A holds orders
        drop s1>A#last
        run 100ms
        crash s1
        until s2 leads
        run 2s
    "#;
    let mut play = Play::of(play::stage(), script);
    play.run("expect A holds orders with token 1\nexpect A believes it holds orders");
    let queued = |e: &Event| matches!(e, Event::WaiterQueued { .. });
    assert_eq!(play.count(S2, queued), 0);
    play.assert_kept();
    // Off: it is told that the lease is taken, by itself, and waits behind its own grant.
    let play = Play::of(with_switch(play::stage(), Switch::OpDedupe, "off"), script);
    assert_eq!(play.count(S2, queued), 1, "{}", play.trace(60));
    assert!(!play.holds("A believes it holds orders"));
}

fn sessions(keep: u32) -> Setup {
    Setup {
        clients: vec!["c1".into(), "c2".into(), "c3".into()],
        sessions_max: keep,
        ..patient(3)
    }
}

/// Which session goes is decided by the log: every server, also one that crashed and applied all of it
/// anew, has the same ones.
#[test]
fn k02_every_server_lets_the_same_sessions_go() {
    let mut play = Play::of(
        sessions(2),
        r#"
        campaign s1
        run 100ms
        put c1 x "1"
        until c1 is told accepted
        put c2 x "2"
        until c2 is told accepted
        put c1 x "3"
        run 100ms
        clock s2 jump +5s
        put c3 x "4"
        run 500ms
        "#,
    );
    let expired = |e: &Event| matches!(e, Event::SessionExpired { client: C2 });
    for server in [S1, S2, S3] {
        assert_eq!(play.count(server, expired), 1, "c2 was used least recently");
    }
    play.run("crash s3\nrestart s3\nrun 500ms");
    let kept = |id| {
        let server = play.world.server(id).unwrap();
        (server.applied(), server.registry().clone())
    };
    assert_eq!(kept(S1), kept(S2));
    assert_eq!(kept(S1), kept(S3));
    let open = |session: &Session| (session.client, session.opened_by.is_some());
    let sessions: Vec<_> = kept(S1).1.sessions().iter().map(open).collect();
    assert_eq!(sessions, [(C1, true), (ProcessId(5), true)]);
    play.assert_kept();
}

#[test]
fn k03_a_put_of_a_session_that_is_gone_is_refused() {
    let mut play = Play::of(
        sessions(1),
        r#"
        campaign s1
        run 100ms
        put c1 x "1"
        until c1 is told accepted
        put c2 y "2"
        until c2 is told accepted
        put c1 x "3"
        until c1 is told refused
        run 100ms
        expect s1 has x = "1"
        expect s3 has x = "1"
        "#,
    );
    let unknown = |e: &Event| matches!(e, Event::SessionUnknown { client: C1, .. });
    assert_eq!(play.count(S1, unknown), 1);
    // It opens another session for what it does next.
    play.run("put c1 x \"4\"\nuntil c1 is told accepted\nexpect s1 has x = \"4\"");
    play.assert_kept();
}

/// The put was carried out and its answer lost; its session then goes. Told that it is gone, the client
/// cannot know whether an earlier copy was carried out.
#[test]
fn k03_a_put_in_doubt_stays_in_doubt_when_its_session_is_gone() {
    let setup = Setup {
        client_timeout: Duration::millis(400),
        ..sessions(1)
    };
    let mut play = Play::of(
        setup,
        r#"
        campaign s1
        run 100ms
        put c1 x "1"
        until c1 is told accepted
        cut s1 -> c1
        put c1 x "2"
        run 100ms
        expect s1 has x = "2"
        put c2 y "2"
        until c2 is told accepted
        heal
        put c1 x "never"
        until c1 is told unknown
        expect s1 has x = "2"
        "#,
    );
    let executed = |e: &Event| matches!(e, Event::PutApplied { client: C1, .. });
    assert_eq!(play.count(S1, executed), 2, "once each");
    play.run("run 2s\nexpect s1 has x = \"never\"");
    play.assert_kept();
}

/// A registration that is repeated opens no second session.
#[test]
fn a_session_is_opened_once() {
    let setup = Setup {
        client_timeout: Duration::millis(200),
        client_attempts: 20,
        ..sessions(2)
    };
    let play = Play::of(
        setup,
        "campaign s1\nrun 100ms\ncut s1 -> c1\nput c1 x \"1\"\nrun 300ms\nheal\nuntil c1 is told accepted",
    );
    let opened = |e: &Event| matches!(e, Event::SessionOpened { client: C1 });
    assert_eq!(play.count(S1, opened), 1);
    let repeated = |e: &Event| matches!(e, Event::RequestRepeated { asker: C1, .. });
    assert!(play.count(S1, repeated) >= 1);
    let registry = play.world.server(S1).unwrap().registry();
    let [session] = registry.sessions() else {
        panic!("one session")
    };
    assert!(session.opened_by < Some(session.last));
    assert!(RequestId(0) < session.last);
}
