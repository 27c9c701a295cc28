//! Replication under way: how fast a leader finds where logs agree, how much it sends ahead, what may commit, and
//! what a client is told when nobody can know.
//!
//! Dictating to a slow writer: how far to read on before looking up. One tick of the case list is 10 ms here, and
//! so is a message.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::posts::{append, commit, patient, post, server, terms};
use crate::play::{Play, S1, S2, S3, with_switch};
use leasehold_engine::event::{AppendRefusal, Event, MessageKind, Outcome};
use leasehold_engine::raft::{Pace, RoleName};
use leasehold_engine::setup::{Setup, SetupError};
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, LogIndex, ProcessId};

fn refused(event: &Event) -> bool {
    matches!(event, Event::AppendRefused { .. })
}

/// The numbers of the appends with entries that s1 sent to `to`, of those in `play.steps`.
fn appends(play: &Play, to: ProcessId) -> usize {
    let sent = |e: &Event| {
        let append = MessageKind::Append;
        matches!(e, Event::MessageSent { message, kind } if message.to == to && *kind == append)
    };
    play.count(S1, sent)
}

/// A follower's hint goes back to where its wrong term began, and may so pass entries that are known to match: the
/// leader goes on behind those. It once took such a hint for an old one, and the follower stayed behind for ever.
#[test]
fn a_hint_from_before_what_matches_still_ends_the_search() {
    let mut play = Play::new(with_switch(patient(3), Switch::NoopOnElection, "off"));
    for (id, log) in [(S1, &[1, 1][..]), (S2, &[1, 1]), (S3, &[1, 1, 1, 1])] {
        let from = if id == S1 { S2 } else { S1 };
        post(&mut play, from, id, append(1, (0, 0), log, 0));
    }
    play.run("campaign s1\nrun 1s");
    let matched = server(&play, S1).progress().unwrap()[2].matched;
    assert_eq!(matched, LogIndex(2), "a heartbeat shows no more");
    play.run("cut s1 -> s3\nput c1 x \"1\"\nrun 500ms\nheal\nrun 5s");
    assert_eq!(terms(&play, S3), [1, 1, 2]);
}

/// Three probes where going back one entry at a time takes seven. etcd's leader skips its own terms as well, at the
/// price of one more number in the answer; here only the follower skips.
#[test]
fn c06_a_conflict_is_found_in_three_probes() {
    let mut play = Play::new(Setup {
        heartbeat: Duration::secs(1),
        ..patient(3)
    });
    let leader = [1, 3, 3, 3, 3, 3, 3, 3, 7];
    for (id, log) in [
        (S1, leader),
        (S2, leader),
        (S3, [1, 3, 3, 4, 4, 5, 5, 5, 6]),
    ] {
        let from = if id == S1 { S2 } else { S1 };
        post(&mut play, from, id, append(7, (0, 0), &log, 0));
    }
    play.run("campaign s1\nrun 200ms\nexpect s1 leads term 8");
    assert_eq!(terms(&play, S3), [1, 3, 3, 3, 3, 3, 3, 3, 7, 8]);
    let probed = |e: &Event| {
        if let Event::ProbedBack { next, .. } = e {
            Some(next.0 - 1)
        } else {
            None
        }
    };
    let steps = play.steps.iter().flat_map(|step| step.events());
    let probes: Vec<u64> = steps.filter_map(probed).collect();
    assert_eq!(probes, [8, 3], "after the first, at 9");
    assert_eq!(play.count(S3, refused), 2);
}

#[test]
fn c07_an_empty_log_costs_one_refusal() {
    for window in [0, 4] {
        let mut play = Play::new(Setup {
            heartbeat: Duration::secs(1),
            append_window: window,
            ..patient(3)
        });
        for (from, id) in [(S3, S1), (S3, S2)] {
            post(&mut play, from, id, append(1, (0, 0), &[1; 1_000], 0));
        }
        play.run("campaign s1\nrun 900ms\nexpect s1 leads term 2");
        assert_eq!(terms(&play, S3).len(), 1_001);
        assert_eq!(play.count(S3, refused), 1);
        let stored = play.times(S3, |e| matches!(e, Event::EntriesStored { .. }));
        assert_eq!(stored.len(), 1_001_usize.div_ceil(64), "64 in each");
        // One answer, one append, takes a round trip for each; with a window four are on their way.
        let took = stored.last().unwrap() - stored[0];
        assert_eq!(took, if window == 0 { 300 } else { 80 });
    }
}

/// s2's answers are lost; s3's commit what c1 puts.
fn five_puts(window: u32, cut: &str) -> Play {
    let mut play = Play::of(
        Setup {
            append_window: window,
            ..patient(3)
        },
        "campaign s1\nrun 100ms",
    );
    play.steps.clear();
    play.run(cut);
    for n in 1..=5 {
        play.run(&format!(
            "put c1 x{n} \"1\"\nrun 100ms\nexpect s1 has x{n} = \"1\""
        ));
    }
    play
}

/// The case list recovers by a heartbeat's answer and an empty append; here the heartbeat itself names the entry
/// before, and is refused.
#[test]
fn c08_no_more_than_a_window_is_on_its_way() {
    let play = five_puts(0, "cut s2 -> s1");
    assert_eq!(appends(&play, S2), 5, "no limit");
    let mut play = five_puts(3, "cut s2 -> s1");
    assert_eq!(appends(&play, S2), 3);
    assert_eq!(appends(&play, S3), 5);
    // They had arrived: the next answer makes room for the rest.
    assert_eq!(terms(&play, S2).len(), 4);
    play.run("heal\nrun 60ms\nexpect s2 has x5 = \"1\"");
    assert_eq!(play.count(S2, refused), 0);

    // Lost with their answers, they are found out by the first heartbeat that arrives.
    let mut play = five_puts(3, "cut s1 <-> s2");
    assert_eq!((appends(&play, S2), terms(&play, S2).len()), (3, 1));
    let pace = |play: &Play| server(play, S1).progress().unwrap()[1].pace;
    assert_eq!(pace(&play), Pace::Replicate);
    play.run("heal\nuntil s2 rejects s1\nrun 10ms");
    assert_eq!(pace(&play), Pace::Probe, "and one append is on its way");
    assert_eq!(appends(&play, S2), 4);
    play.run("put c1 y \"1\"\nrun 10ms");
    assert_eq!(
        appends(&play, S2),
        4,
        "while it probes, no more than that one"
    );
    play.run("run 20ms");
    assert_eq!(pace(&play), Pace::Replicate);
    play.run("run 60ms\nexpect s2 has y = \"1\"");
    play.assert_kept();
}

/// A probe that is lost is sent again: its window does not stay full.
#[test]
fn c08_a_lost_probe_is_found_out_too() {
    let mut play = Play::of(
        Setup {
            append_window: 1,
            append_batch: 1,
            ..patient(3)
        },
        "campaign s1\nrun 15ms\ncut s1 -> s2\nrun 200ms\nexpect s1 leads",
    );
    let progress = &server(&play, S1).progress().unwrap()[1];
    assert_eq!(progress.pace, Pace::Probe);
    play.run("put c1 x \"1\"\nrun 200ms");
    assert_eq!(appends(&play, S2), 1);
    play.run("heal\nrun 200ms\nexpect s2 has x = \"1\"");
    play.assert_kept();
}

#[test]
fn a_window_and_a_batch_have_their_bounds() {
    let error = |setup: Setup| setup.validate().unwrap_err();
    let batch = error(Setup {
        append_batch: 0,
        ..patient(3)
    });
    let (given, low, high) = (0, 1, 1_000);
    let field = "append_batch";
    assert_eq!(
        batch,
        SetupError::Count {
            field,
            given,
            low,
            high
        }
    );
    let window = error(Setup {
        append_window: 1_001,
        ..patient(3)
    });
    assert!(matches!(
        window,
        SetupError::Count {
            field: "append_window",
            ..
        }
    ));
}

/// s1's two entries of term 1 are on s2 alone, which leads term 2 and reaches nobody.
fn old_entries_on_s2(setup: Setup) -> Play {
    Play::of(
        Setup {
            clients: vec!["c1".into(), "c2".into()],
            ..setup
        },
        "campaign s1
         run 100ms
         cut s1 -> s3
         cut s1 -> s4
         cut s1 -> s5
         put c1 x \"1\"
         put c2 y \"2\"
         run 30ms
         crash s1
         campaign s2
         run 15ms
         cut s2 -> s3
         cut s2 -> s4
         cut s2 -> s5
         run 200ms
         expect s2 leads term 2",
    )
}

#[test]
fn d03_entries_of_an_old_term_commit_only_with_one_of_the_new() {
    let mut play = old_entries_on_s2(patient(5));
    assert_eq!((terms(&play, S2), commit(&play, S2)), (vec![1, 1, 1, 2], 1));
    play.run("heal\nrun 200ms\nexpect s3 has x = \"1\" and s3 has y = \"2\"");
    assert_eq!(commit(&play, S2), 4, "from 1 at once");
    let registry = server(&play, S3).registry();
    assert!(registry.keys().eq([("x", "1"), ("y", "2")]));
    let steps = play.steps.iter().filter(|step| step.process == Some(S2));
    let events = steps.flat_map(|step| step.events());
    let jumped = |e: &Event| {
        let (a, b) = (LogIndex(1), LogIndex(4));
        matches!(e, Event::CommitAdvanced { from, to } if (*from, *to) == (a, b))
    };
    assert_eq!(events.filter(|e| jumped(e)).count(), 1);

    // On every server, and still not committed, until the new term has an entry of its own.
    let mut play = old_entries_on_s2(with_switch(patient(5), Switch::NoopOnElection, "off"));
    // Without an opening entry, the first of s1's is c1's.
    play.run("heal\nrun 500ms");
    for id in (1..5).map(ProcessId) {
        assert_eq!((terms(&play, id), commit(&play, id)), (vec![1, 1], 0));
    }
    play.run("put c1 z \"3\"\nrun 5s\nexpect s3 has x = \"1\" and s3 has z = \"3\"");
    play.assert_kept();
}

/// Where the libraries' heartbeat carries no previous entry, it must carry `min(commit, match)`. Here a heartbeat is
/// an append: it is refused where the logs differ, and commits no further than the entry that it names.
#[test]
fn d05_a_heartbeat_commits_nothing_that_it_has_not_verified() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, append(2, (0, 0), &[1, 2, 2], 0));
    post(&mut play, S3, S1, append(3, (3, 3), &[], 3));
    let other = |e: &Event| {
        let why = AppendRefusal::OtherTerm {
            there: leasehold_engine::units::Term(2),
        };
        matches!(e, Event::AppendRefused { why: w, .. } if *w == why)
    };
    assert_eq!((play.count(S1, other), commit(&play, S1)), (1, 0));
    post(&mut play, S3, S1, append(3, (1, 1), &[], 3));
    assert_eq!(commit(&play, S1), 1, "what is verified, and no more");
    assert_eq!(terms(&play, S1), [1, 2, 2]);
    post(&mut play, S3, S1, append(3, (1, 1), &[3, 3], 3));
    assert_eq!((terms(&play, S1), commit(&play, S1)), (vec![1, 3, 3], 3));
}

/// hashicorp/raft#561: a client that got no answer is told "unknown", however it turns out.
#[test]
fn d08_without_an_answer_a_client_is_told_unknown() {
    for (reached, cut) in [(false, "cut s1 -> s2"), (true, "cut s2 -> s1")] {
        let mut play = Play::of(
            patient(3),
            &format!(
                "campaign s1
                 run 100ms
                 {cut}
                 cut s1 -> s3
                 cut c1 <-> s2
                 cut c1 <-> s3
                 put c1 x \"1\"
                 run 20ms
                 campaign s2
                 run 5s
                 expect s2 leads term 2
                 cut c1 <-> s1
                 heal s1 -> s2
                 heal s2 -> s1
                 heal s1 -> s3
                 run 10s"
            ),
        );
        let told = |e: &Event| {
            if let Event::RequestEnded { outcome, .. } = e {
                Some(*outcome)
            } else {
                None
            }
        };
        let steps = play.steps.iter().flat_map(|step| step.events());
        let told: Vec<Outcome> = steps.filter_map(told).collect();
        assert_eq!(told, [Outcome::Unknown]);
        for name in ["s1", "s2", "s3"] {
            let has = play.holds(&format!("{name} has x = \"1\""));
            assert_eq!(has, reached, "{name}");
        }
        play.run("expect s2 leads");
        play.assert_kept();
    }
}

/// While a leader hands over: F03.
#[test]
fn d09_work_that_a_server_cannot_take_is_refused_at_once() {
    let turned_away = |e: &Event| matches!(e, Event::NotLeaderAnswered { hint: None, .. });
    let mut candidate = Play::of(
        patient(3),
        "cut s1 -> s2\ncut s1 -> s3\ncampaign s1\nput c1 x \"1\"\nrun 10ms",
    );
    assert_eq!(server(&candidate, S1).role(), RoleName::Candidate);
    let mut asking = Play::of(
        with_switch(patient(3), Switch::Prevote, "on"),
        "cut s1 -> s2\ncut s1 -> s3\ncampaign s1\nput c1 x \"1\"\nrun 10ms",
    );
    assert_eq!(server(&asking, S1).role(), RoleName::PreCandidate);
    let mut follower = Play::of(patient(3), "put c1 x \"1\"\nrun 10ms");
    let mut deposed = Play::of(
        with_switch(patient(3), Switch::CheckQuorum, "on"),
        "campaign s1\nrun 100ms\ncut s1 <-> s2\ncut s1 <-> s3\nrun 121s\nexpect s1 does not believe it leads\nput c1 x \"1\"\nrun 10ms",
    );
    for play in [&mut candidate, &mut asking, &mut follower, &mut deposed] {
        assert_eq!(play.count(S1, turned_away), 1);
        let kept = |e: &Event| matches!(e, Event::EntryAppended { entry, .. } if !matches!(entry, leasehold_engine::event::EntryKind::Noop));
        assert_eq!(play.count(S1, kept), 0);
        play.run("cut s1 <-> s2\ncut s1 <-> s3\nrun 10s\nexpect c1 is told refused");
    }
}
