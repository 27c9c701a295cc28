//! Snapshots: what a compacted log still answers for, and how a follower gets over what it missed.
//!
//! The balance carried forward, and the colleague who was ill. Cases H01 to H06 and J05 of the case list; one tick is
//! 10 ms. Chunked snapshots are left out of the engine: a snapshot goes whole, in one message.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Arc;

use crate::play::{LEASE, Play, S1, S2, S3, ticking};
use leasehold_engine::event::{AppendRefusal, Event, Outcome};
use leasehold_engine::process::Message as Envelope;
use leasehold_engine::raft::{Config, Entry, Message, Server, Snapshot};
use leasehold_engine::registry::{Op, Registry};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, Term};

/// Three servers that nobody but a command makes stand, and a client.
fn patient() -> Setup {
    Setup {
        workers: vec!["A".into()],
        ..ticking(3, &[600_000; 3])
    }
}

/// s1 leads, with so many entries committed everywhere.
fn with_entries(setup: Setup, count: u64) -> Play {
    let mut play = Play::of(setup, "campaign s1\nrun 200ms");
    put(&mut play, 2..=count);
    play
}

/// One put an entry, each committed and known everywhere before the next.
fn put(play: &mut Play, entries: std::ops::RangeInclusive<u64>) {
    for n in entries {
        play.run(&format!("put c1 x \"{n}\"\nrun 100ms"));
    }
}

fn server(play: &Play, id: ProcessId) -> &Server {
    play.world.server(id).unwrap()
}

/// Where the log begins, where it ends, what is committed and applied.
fn log(play: &Play, id: ProcessId) -> [u64; 4] {
    let server = server(play, id);
    let log = server.log();
    let four = [
        log.start(),
        log.last_index(),
        server.commit(),
        server.applied(),
    ];
    four.map(|index| index.0)
}

fn same_state(play: &Play, one: ProcessId, other: ProcessId) {
    assert_eq!(server(play, one).registry(), server(play, other).registry());
}

fn installed(by: ProcessId, upto: u64) -> impl Fn(&Event) -> bool {
    move |event| {
        matches!(event, Event::SnapshotInstalled { leader, upto: index }
            if (*leader, index.0) == (by, upto))
    }
}

fn sent(to: ProcessId) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::SnapshotSent { follower, .. } if *follower == to)
}

#[test]
fn h01_a_follower_far_behind_gets_the_snapshot_and_then_the_rest() {
    let mut play = with_entries(patient(), 14);
    assert_eq!(log(&play, S3), [0, 14, 14, 14]);
    play.run("cut s1 <-> s3");
    put(&mut play, 15..=17);
    play.run("compact s1");
    assert_eq!(log(&play, S1), [17, 17, 17, 17]);
    play.run("heal\nrun 100ms");
    assert_eq!(play.count(S3, installed(S1, 17)), 1);
    assert_eq!(log(&play, S3), [17, 17, 17, 17]);
    same_state(&play, S1, S3);
    put(&mut play, 18..=19);
    assert_eq!(log(&play, S3), [17, 19, 19, 19], "appends from 18 on");
    assert_eq!(play.count(S1, sent(S3)), 1, "and no second snapshot");
    play.assert_kept();
}

/// A snapshot as a leader of `term` would have it, of an empty service.
fn snapshot(index: u64, term: u64) -> Arc<Snapshot> {
    Arc::new(Snapshot {
        index: LogIndex(index),
        term: Term(term),
        registry: Registry::new(1),
        config: Config::initial(&patient()),
    })
}

fn post(play: &mut Play, from: ProcessId, to: ProcessId, term: u64, snapshot: Arc<Snapshot>) {
    let message = Message::Snapshot {
        term: Term(term),
        snapshot,
        round: 0,
    };
    play.world.post(from, to, Envelope::Raft(message));
    play.run("run 10ms");
}

#[test]
fn h02_a_snapshot_of_what_is_committed_already_takes_nothing_back() {
    let mut play = with_entries(patient(), 5);
    let before = server(&play, S2).registry().clone();
    for index in [3, 5] {
        post(&mut play, S1, S2, 1, snapshot(index, 1));
    }
    assert_eq!(log(&play, S2), [0, 5, 5, 5]);
    assert_eq!(*server(&play, S2).registry(), before);
    let ignored = |event: &Event| matches!(event, Event::SnapshotIgnored { leader: S1, .. });
    assert_eq!(play.count(S2, ignored), 2);
    play.run("run 100ms");
    let confirmed = |event: &Event| matches!(event, Event::AppendConfirmed { follower: S2 });
    assert!(0 < play.count(S1, confirmed), "it is answered all the same");
    play.assert_kept();
}

/// H04. The case has a leader that waits for 12 and keeps entries from 12 on, so that an answer for 11 will
/// do. Our log begins exactly where the snapshot ends; what is behind it needs another snapshot, and what is
/// not resumes replication, whichever message says so.
#[test]
fn h04_any_answer_from_which_the_log_goes_on_resumes_replication() {
    // The snapshot's own answer is lost, once: the next heartbeat's will do.
    let mut play = with_entries(patient(), 8);
    play.run("cut s1 <-> s3");
    put(&mut play, 9..=11);
    play.run("compact s1\nheal s1 -> s3");
    // s3 hears and is not heard: nobody asks for the snapshot yet.
    play.run("run 100ms\nheal\nrun 30ms");
    assert_eq!(play.count(S1, sent(S3)), 1);
    play.run("cut s3 -> s1\nrun 20ms\nheal");
    put(&mut play, 12..=13);
    assert_eq!(log(&play, S3), [11, 13, 13, 13]);
    assert_eq!(play.count(S1, sent(S3)), 1, "it was not sent again");

    // The leader has moved on to a later snapshot: the answer for the first is behind it.
    let mut play = with_entries(patient(), 8);
    play.run("cut s1 <-> s3");
    put(&mut play, 9..=11);
    play.run("compact s1\nheal\nrun 10ms");
    while play.count(S1, sent(S3)) == 0 {
        play.run("run 1ms");
    }
    play.run("put c1 x \"12\"\nlatency s3 -> s1 80ms 80ms\nrun 40ms\ncompact s1");
    assert_eq!(log(&play, S1), [12, 12, 12, 12]);
    play.run("latency s3 -> s1 10ms 10ms\nrun 400ms");
    assert_eq!(log(&play, S3), [12, 12, 12, 12], "it is not left waiting");
    assert_eq!(play.count(S1, sent(S3)), 2);
    play.assert_kept();
}

/// Raft Figure 13: what follows the snapshot's last entry stays, if that entry is there.
#[test]
fn h04_a_log_that_has_the_snapshots_last_entry_keeps_what_follows_it() {
    let mut play = Play::new(patient());
    let entry = Entry {
        term: Term(1),
        op: Op::Noop,
    };
    let append = Message::Append {
        term: Term(1),
        previous_index: LogIndex(0),
        previous_term: Term(0),
        entries: vec![entry; 6],
        commit: LogIndex(2),
        round: 0,
    };
    play.world.post(S1, S3, Envelope::Raft(append));
    play.run("run 10ms");
    assert_eq!(log(&play, S3), [0, 6, 2, 2]);
    post(&mut play, S1, S3, 1, snapshot(4, 1));
    assert_eq!(log(&play, S3), [4, 6, 4, 4]);
    // One that ends with another entry than stands there leaves nothing behind it.
    post(&mut play, S2, S3, 2, snapshot(5, 2));
    assert_eq!(log(&play, S3), [5, 5, 5, 5]);
}

/// Three voters and a spare.
fn with_a_spare() -> Setup {
    Setup {
        spares: 1,
        ..ticking(3, &[600_000; 4])
    }
}

fn voters(play: &Play, id: ProcessId) -> u32 {
    server(play, id).config().voters.len()
}

/// H03. In etcd a snapshot whose configuration lacks its receiver is refused. A change takes effect here when it
/// is appended, so that a server which has just been added may need a snapshot from before: it is taken by
/// whom it lacks, and a removed server learns from it that it is one.
#[test]
fn h03_a_snapshot_may_lack_its_receiver() {
    let mut play = with_entries(with_a_spare(), 2);
    play.run("cut s1 <-> s3\nremove s3\nrun 200ms\ncompact s1\nheal\nrun 200ms");
    assert_eq!(
        play.count(S1, sent(S3)),
        0,
        "a removed server is sent nothing more"
    );
    let late = server(&play, S1).snapshot().unwrap().clone();
    assert!(!late.config.members().contains(S3));
    post(&mut play, S1, S3, 1, late);
    assert_eq!(log(&play, S3), [3, 3, 3, 3]);
    let aside = |event: &Event| matches!(event, Event::StoodAside);
    play.run("campaign s3\nrun 100ms");
    assert_eq!(play.count(S3, aside), 1);

    play.run("add s4\nrun 300ms\nput c1 x \"5\"\nrun 200ms");
    let s4 = ProcessId(3);
    assert_eq!(
        play.count(s4, installed(S1, 3)),
        1,
        "from before it was added"
    );
    assert_eq!(log(&play, s4), [3, 5, 5, 5]);
    assert_eq!((voters(&play, S1), voters(&play, s4)), (3, 3));
    play.assert_kept();
}

#[test]
fn h05_a_snapshot_brings_its_configuration() {
    let mut play = with_entries(with_a_spare(), 2);
    play.run("cut s1 <-> s3\nadd s4\nrun 300ms\ncompact s1");
    assert_eq!((voters(&play, S3), voters(&play, S1)), (3, 4));
    play.run("heal\nrun 200ms");
    assert_eq!(play.count(S3, installed(S1, 3)), 1);
    assert_eq!(voters(&play, S3), 4);
    play.run("crash s3\nrestart s3");
    assert_eq!(voters(&play, S3), 4, "and its disk has it too");
    play.assert_kept();
}

/// What a snapshot holds is what is applied, so a change that is not committed stays out of it.
#[test]
fn an_uncommitted_configuration_is_in_no_snapshot() {
    let mut play = with_entries(with_a_spare(), 3);
    play.run("partition s1 | s2 s3 s4\nadd s4\ncompact s1");
    let snapshot = server(&play, S1).snapshot().unwrap();
    assert_eq!(
        (snapshot.index, snapshot.config.voters.len()),
        (LogIndex(3), 3)
    );
    assert_eq!(voters(&play, S1), 4, "its log goes on with it");
    play.run("campaign s2\nrun 200ms\nheal\nrun 300ms");
    assert_eq!(
        voters(&play, S1),
        3,
        "and falls back to what the snapshot has"
    );
    play.assert_kept();
}

/// H06. A snapshot comes in one message here, so that none comes half; one of an older term is refused.
#[test]
fn h06_a_snapshot_of_an_older_term_is_refused() {
    let late = |check: &str| {
        let mut play = with_entries(patient(), 3);
        play.run("campaign s2\nrun 200ms\nexpect s2 leads term 2");
        play.steps.clear();
        play.run(&format!("set stale_term_check {check}"));
        post(&mut play, S1, S3, 1, snapshot(9, 1));
        play
    };
    let play = late("on");
    assert_eq!(log(&play, S3), [0, 4, 4, 4]);
    let refused = |event: &Event| {
        matches!(
            event,
            Event::AppendRefused {
                leader: S1,
                why: AppendRefusal::OldTerm
            }
        )
    };
    assert_eq!(play.count(S3, refused), 1);
    assert!(play.holds("s3 has x = \"3\""));
    // With the check off, the deposed leader's snapshot wipes out what is committed.
    let play = late("off");
    assert_eq!(log(&play, S3)[0], 9);
    assert!(play.holds("s3 has no x"));
}

#[test]
fn a_snapshot_that_is_lost_is_sent_again() {
    let mut play = with_entries(patient(), 3);
    play.run("crash s3");
    put(&mut play, 4..=6);
    play.run("compact s1\nrestart s3");
    while play.count(S1, sent(S3)) == 0 {
        play.run("run 1ms");
    }
    play.run("drop s1>s3#last\nrun 100ms");
    assert_eq!(play.count(S1, sent(S3)), 2);
    assert_eq!(log(&play, S3), [6, 6, 6, 6]);
    play.assert_kept();
}

#[test]
fn while_a_snapshot_is_on_its_way_only_heartbeats_follow_it() {
    let mut play = with_entries(patient(), 3);
    play.run("cut s1 <-> s3");
    put(&mut play, 4..=6);
    play.run("compact s1\nlatency s3 -> s1 500ms 500ms\nheal\nrun 600ms");
    assert_eq!(play.count(S1, sent(S3)), 1);
    let stored = |event: &Event| matches!(event, Event::EntriesStored { .. });
    let before = play.count(S3, stored);
    put(&mut play, 7..=9);
    assert_eq!(log(&play, S3), [6, 6, 6, 6]);
    assert_eq!(play.count(S3, stored), before, "it is sent no entries");
    play.run("latency s3 -> s1 10ms 10ms\nrun 600ms");
    assert_eq!(log(&play, S3), [6, 9, 9, 9], "until it has answered");
    play.assert_kept();
}

/// Durable before answered: a crash before the sync ends leaves the old log, and the snapshot comes again.
#[test]
fn a_snapshot_counts_once_it_is_on_disk() {
    let setup = Setup {
        sync: Duration::millis(50),
        ..patient()
    };
    let mut play = Play::of(setup, "campaign s1\nrun 1s");
    put(&mut play, 2..=3);
    play.run("run 1s\ncrash s3");
    put(&mut play, 4..=6);
    play.run("run 1s\ncompact s1\nrun 100ms\nrestart s3");
    while play.count(S3, installed(S1, 6)) == 0 {
        play.run("run 1ms");
    }
    let matched = |play: &Play| server(play, S1).progress().unwrap()[2].matched;
    assert!(matched(&play) < LogIndex(6));
    play.run("run 20ms\ncrash s3");
    assert_eq!(log(&play, S3)[..2], [0, 3], "its disk had not written it");
    play.run("restart s3\nrun 1s");
    assert_eq!(play.count(S3, installed(S1, 6)), 2);
    assert_eq!(matched(&play), LogIndex(6));
    play.run("crash s3");
    assert_eq!(log(&play, S3), [6, 6, 6, 6]);
    play.assert_kept();
}

/// J05: what was applied before the crash is there at once from the snapshot, the rest is applied again from
/// the log; the client hears of each of its requests once.
#[test]
fn j05_a_restart_reads_the_snapshot_and_applies_the_rest_again() {
    let mut play = with_entries(patient(), 4);
    play.run("acquire A orders\nuntil A holds orders\nrun 100ms\ncompact s2\ncompact s1");
    put(&mut play, 6..=7);
    let state = server(&play, S2).registry().clone();
    play.run("crash s1\ncrash s2\ncrash s3\nrestart s1\nrestart s2\nrestart s3");
    assert_eq!(log(&play, S2), [5, 7, 5, 5], "the commit index is volatile");
    assert!(play.holds("s2 has x = \"4\""));
    assert!(
        server(&play, S2)
            .registry()
            .resource(LEASE)
            .holder
            .is_some()
    );
    play.run("campaign s2\nrun 300ms\nexpect s2 leads");
    let applied = |index: u64| move |event: &Event| matches!(event, Event::EntryApplied { index: there, .. } if there.0 == index);
    assert_eq!(play.count(S2, applied(4)), 1, "the snapshot has it");
    assert_eq!(
        play.count(S2, applied(6)),
        2,
        "applied once more from the log"
    );
    let told = |event: &Event| {
        matches!(
            event,
            Event::RequestEnded {
                outcome: Outcome::Accepted,
                ..
            }
        )
    };
    let client = play.id("c1");
    assert_eq!(play.count(client, told), 5, "one each for 2, 3, 4, 6 and 7");
    let now = server(&play, S2).registry();
    assert_eq!(now.value("x"), state.value("x"));
    // The lease is armed in full, as after any change of leader, and runs out in time.
    play.run("crash A\nuntil orders expires\nrun 100ms");
    play.assert_kept();
}

#[test]
fn snapshots_by_count_leave_the_same_state_as_none() {
    let with = |snapshot_every| {
        let setup = Setup {
            snapshot_every,
            ..patient()
        };
        with_entries(setup, 12)
    };
    let (none, some) = (with(0), with(4));
    assert_eq!(log(&none, S2), [0, 12, 12, 12]);
    for id in [S1, S2, S3] {
        // Taken at the step after the one that applied the fourth entry.
        assert_eq!(log(&some, id), [12, 12, 12, 12], "{id:?}");
        assert_eq!(server(&some, id).registry(), server(&none, S2).registry());
        let compacted = |event: &Event| matches!(event, Event::LogCompacted { .. });
        assert_eq!(some.count(id, compacted), 3);
    }
    some.assert_kept();
}

#[test]
fn a_server_with_nothing_to_compact_says_so() {
    let mut play = Play::of(patient(), "campaign s1\nrun 200ms\ncompact s1");
    let error = play.refusal("compact s1");
    assert_eq!(format!("{error:?}"), "NothingToCompact { name: \"s1\" }");
    play.refusal("compact c1");
    play.run("crash s2");
    play.refusal("compact s2");
}
