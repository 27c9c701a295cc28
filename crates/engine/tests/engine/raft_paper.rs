//! The rules of the Raft paper, each by the section that states it, in worlds driven by commands.
//!
//! A law's examples: what the statute says must happen, and must not, case by case. Where a case needs a
//! message at one exact moment, it is posted on the link as a peer would have sent it; nothing is set by
//! hand inside a server. One tick of the case list is 10 ms here, and so is a message.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::posts::{append, ask_for_vote, commit, last_vote, patient, post, server, terms};
use crate::play::{Play, S1, S2, S3, ticking, with_switch};
use leasehold_engine::event::{AppendRefusal, Event, VoteRefusal};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::raft::{Message, RoleName};
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, Term};

const S4: ProcessId = ProcessId(3);
const S5: ProcessId = ProcessId(4);

// §5.2 Leader election ---------------------------------------------------------------------------

/// A01; §5.2, §8.
#[test]
fn a01_a_first_election_needs_two_of_three_and_commits_an_empty_entry() {
    let mut play = Play::of(patient(3), "campaign s1\nrun 10ms");
    assert_eq!(server(&play, S1).role(), RoleName::Candidate);
    assert_eq!(server(&play, S1).votes(), Some(1));
    assert_eq!(server(&play, S2).voted_for(), Some(S1));
    play.run("run 10ms\nexpect s1 leads term 1");
    assert_eq!((terms(&play, S1), commit(&play, S1)), (vec![1], 0));
    play.run("run 20ms");
    assert_eq!((commit(&play, S1), commit(&play, S2)), (1, 0));
    play.run("run 40ms");
    assert_eq!(
        (commit(&play, S2), commit(&play, S3)),
        (1, 1),
        "they learn it with the next message"
    );
    play.assert_kept();
}

/// A01 with `noop_on_election` off.
#[test]
fn a01_off_without_an_empty_entry_nothing_commits_until_somebody_asks() {
    let mut play = Play::of(
        with_switch(patient(3), Switch::NoopOnElection, "off"),
        "campaign s1\nrun 500ms\nexpect s1 leads term 1",
    );
    assert_eq!(terms(&play, S1), [0; 0]);
    play.run("put c1 x \"1\"\nrun 500ms\nexpect s3 has x = \"1\"");
}

/// A02; §5.2. Where the case list has a candidate step down after a majority of refusals, the paper has
/// it wait for its timeout, and so do we.
#[test]
fn a02_a_round_of_votes_is_won_by_a_majority_and_by_nothing_less() {
    let cases: [(&[bool], RoleName); 5] = [
        (&[true, true], RoleName::Leader),
        (&[true], RoleName::Candidate),
        (&[false, false], RoleName::Candidate),
        (&[false, false, false], RoleName::Candidate),
        (&[true, false, false, false], RoleName::Candidate),
    ];
    for (replies, role) in cases {
        // Its calls reach nobody; the answers are posted.
        let mut play = Play::of(
            patient(5),
            "cut s1 -> s2\ncut s1 -> s3\ncut s1 -> s4\ncut s1 -> s5\ncampaign s1",
        );
        for (voter, granted) in (1..).map(ProcessId).zip(replies) {
            post(
                &mut play,
                voter,
                S1,
                Message::Vote {
                    term: Term(1),
                    granted: *granted,
                },
            );
        }
        assert_eq!(server(&play, S1).role(), role, "{replies:?}");
        assert_eq!(server(&play, S1).term(), Term(1));
    }
    let play = Play::of(patient(1), "campaign s1\nexpect s1 leads term 1");
    assert_eq!(commit(&play, S1), 1, "alone, it needs nobody");
}

/// A03; §5.2.
#[test]
fn a03_a_server_votes_for_one_candidate_a_term() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, ask_for_vote(1, (0, 0)));
    assert_eq!(last_vote(&play, S1), Some(None));
    post(&mut play, S3, S1, ask_for_vote(1, (0, 0)));
    assert_eq!(last_vote(&play, S1), Some(Some(VoteRefusal::VotedFor(S2))));
    post(&mut play, S2, S1, ask_for_vote(1, (0, 0)));
    assert_eq!(last_vote(&play, S1), Some(None), "the same candidate again");
    post(&mut play, S3, S1, ask_for_vote(2, (0, 0)));
    assert_eq!(last_vote(&play, S1), Some(None), "a new term, a new vote");
    assert_eq!(server(&play, S1).voted_for(), Some(S3));
}

/// A04.
#[test]
fn a04_a_vote_that_comes_five_times_counts_once() {
    let mut play = Play::of(
        patient(5),
        "cut s1 -> s2\ncut s1 -> s3\ncut s1 -> s4\ncut s1 -> s5\ncampaign s1",
    );
    for _ in 0..5 {
        post(
            &mut play,
            S2,
            S1,
            Message::Vote {
                term: Term(1),
                granted: true,
            },
        );
    }
    assert_eq!(server(&play, S1).votes(), Some(2));
    assert_eq!(server(&play, S1).role(), RoleName::Candidate);
}

/// A05; §5.4.1: the term of the last entry first, then the length.
#[test]
fn a05_votes_go_to_logs_at_least_as_up_to_date() {
    // The voter's log, the candidate's last term and index, and whether it gets the vote.
    let table: [(&[u64], (u64, u64), bool); 8] = [
        (&[1, 1], (1, 1), false),
        (&[1, 1], (1, 2), true),
        (&[1, 1], (1, 3), true),
        (&[1, 1], (2, 1), true),
        (&[2], (1, 5), false),
        (&[1], (1, 1), true),
        (&[], (0, 0), true),
        (&[1], (0, 0), false),
    ];
    for (log, last, granted) in table {
        let mut play = Play::new(patient(3));
        post(&mut play, S2, S1, append(3, (0, 0), log, 0));
        assert_eq!(terms(&play, S1), log);
        post(&mut play, S3, S1, ask_for_vote(4, last));
        let expected = (!granted).then(|| VoteRefusal::LogBehind {
            own_term: Term(log.last().copied().unwrap_or(0)),
            own_index: LogIndex(log.len() as u64),
            term: Term(last.0),
            index: LogIndex(last.1),
        });
        assert_eq!(last_vote(&play, S1), Some(expected), "{log:?} {last:?}");
    }
}

/// A06; §5.1.
#[test]
fn a06_refusing_a_vote_still_adopts_the_term() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, append(1, (0, 0), &[1, 1], 0));
    post(&mut play, S3, S1, ask_for_vote(5, (1, 1)));
    let voter = server(&play, S1);
    assert_eq!((voter.term(), voter.voted_for()), (Term(5), None));
    post(&mut play, S2, S1, ask_for_vote(5, (1, 2)));
    assert_eq!(
        last_vote(&play, S1),
        Some(None),
        "its vote of this term was still free"
    );
}

/// A07; §5.2.
#[test]
fn a07_a_candidate_yields_to_the_winner_of_its_term_and_to_no_older_leader() {
    let mut play = Play::of(
        patient(3),
        "cut s1 -> s2\ncut s1 -> s3\ncampaign s1\ncampaign s1\ncampaign s1\nexpect s1 is in term 3",
    );
    post(&mut play, S2, S1, append(2, (0, 0), &[], 0));
    assert_eq!(server(&play, S1).role(), RoleName::Candidate);
    let old = |e: &Event| {
        matches!(
            e,
            Event::AppendRefused {
                leader: S2,
                why: AppendRefusal::OldTerm
            }
        )
    };
    assert_eq!(play.count(S1, old), 1);
    post(&mut play, S2, S1, append(3, (0, 0), &[], 0));
    let candidate = server(&play, S1);
    assert_eq!(candidate.role(), RoleName::Follower);
    assert_eq!(candidate.leader_known(), Some(S2));
    assert_eq!(
        (candidate.term(), candidate.voted_for()),
        (Term(3), Some(S1)),
        "its vote stands"
    );
}

/// A08; §5.1.
#[test]
fn a08_an_append_of_an_older_term_stores_nothing() {
    let mut play = Play::of(
        patient(3),
        "campaign s1\nrun 100ms\ncampaign s2\nrun 100ms\ncampaign s1\nrun 100ms\nexpect s1 leads term 3",
    );
    post(&mut play, S2, S1, append(2, (2, 2), &[2, 2], 4));
    assert_eq!(terms(&play, S1), [1, 2, 3]);
    play.run("put c1 x \"1\"\nrun 200ms");
    for id in [S1, S2, S3] {
        assert_eq!(terms(&play, id), [1, 2, 3, 3]);
    }
    play.assert_kept();
}

/// A09; §5.4.2, Figure 8: what was never committed may go.
#[test]
fn a09_a_newer_entry_that_nobody_committed_is_overwritten() {
    let mut play = Play::of(
        patient(5),
        "partition s1 s2 s3 | s4 s5
         campaign s1
         run 15ms
         cut s1 -> s3                              -- its vote is on its way, the entry will not be
         run 40ms
         expect s1 leads term 1
         heal
         partition s1 s2 | s3 s4 s5
         campaign s3
         run 15ms
         cut s3 -> s4
         cut s3 -> s5
         run 40ms
         expect s3 leads term 2",
    );
    let logs: Vec<Vec<u64>> = [S1, S2, S3, S4, S5].map(|id| terms(&play, id)).to_vec();
    assert_eq!(logs, [vec![1], vec![1], vec![2], vec![], vec![]]);
    play.run(
        "crash s3
         restart s3
         heal
         campaign s1
         run 30ms
         expect nobody leads                       -- s3, s4 and s5 voted in term 2
         campaign s1
         run 200ms
         expect s1 leads term 3
         run 200ms",
    );
    for id in [S1, S2, S3, S4, S5] {
        assert_eq!(terms(&play, id), [1, 3]);
    }
    play.assert_kept();
}

/// A10; §5.2: why timeouts are drawn.
#[test]
fn a10_equal_timeouts_split_the_vote_again_and_again() {
    let equal = ticking(3, &[100, 100, 100]);
    let play = Play::of(equal, "run 1s\nexpect nobody leads");
    assert!(play.count(S1, |e| matches!(e, Event::ElectionStarted { .. })) >= 9);
    let drawn = Setup {
        election_fixed: Vec::new(),
        election_min: Duration::millis(100),
        election_max: Duration::millis(200),
        ..ticking(3, &[])
    };
    Play::of(drawn, "until some server leads").assert_kept();
}

/// A17.
#[test]
fn a17_a_leader_told_to_campaign_stays_what_it_is() {
    let play = Play::of(
        patient(3),
        "campaign s1\nrun 100ms\ncampaign s1\nrun 100ms\nexpect s1 leads term 1",
    );
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::ElectionStarted { .. })),
        1
    );
}

// §5.3 Log replication ---------------------------------------------------------------------------

/// C03; §5.3, Figure 2.
#[test]
fn c03_a_follower_keeps_what_matches_and_replaces_what_conflicts() {
    /// An append's previous entry and entries, and the follower's log after it; before, it is [1, 2].
    type Case = ((u64, u64), &'static [u64], &'static [u64]);
    let table: [Case; 5] = [
        ((2, 2), &[3], &[1, 2, 3]),
        ((1, 1), &[3, 4], &[1, 3, 4]),
        ((0, 0), &[1], &[1, 2]),
        ((0, 0), &[3], &[3]),
        ((2, 2), &[], &[1, 2]),
    ];
    for (previous, entries, log) in table {
        let mut play = Play::new(patient(3));
        post(&mut play, S2, S1, append(2, (0, 0), &[1, 2], 0));
        post(&mut play, S2, S1, append(4, previous, entries, 0));
        assert_eq!(terms(&play, S1), log, "{previous:?} {entries:?}");
    }
}

/// §5.3: the consistency check.
#[test]
fn an_append_that_does_not_join_on_is_refused() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, append(2, (0, 0), &[1, 2], 0));
    post(&mut play, S2, S1, append(4, (3, 3), &[4], 0));
    post(&mut play, S2, S1, append(4, (2, 1), &[4], 0));
    assert_eq!(terms(&play, S1), [1, 2]);
    let why = |e: &Event| {
        if let Event::AppendRefused { why, .. } = e {
            Some(*why)
        } else {
            None
        }
    };
    let whys: Vec<AppendRefusal> = play
        .steps
        .iter()
        .flat_map(|s| s.events())
        .filter_map(why)
        .collect();
    let short = AppendRefusal::LogShort { last: LogIndex(2) };
    assert_eq!(whys, [short, AppendRefusal::OtherTerm { there: Term(2) }]);
}

/// C04; §5.3.
#[test]
fn c04_an_old_append_that_comes_late_removes_nothing() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, append(1, (0, 0), &[1, 1, 1], 0));
    post(&mut play, S2, S1, append(1, (1, 1), &[1], 0));
    assert_eq!(terms(&play, S1), [1, 1, 1]);
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::EntriesRemoved { .. })),
        0
    );
}

/// C05; §5.3.
#[test]
fn c05_a_leader_forgets_no_confirmation() {
    let mut play = Play::of(
        patient(3),
        "campaign s1\nrun 100ms\nput c1 x \"1\"\nput c1 y \"2\"\nrun 200ms",
    );
    let matched = |play: &Play| server(play, S1).progress().unwrap()[1].matched;
    assert_eq!(matched(&play), LogIndex(3));
    let answer = |accepted, upto| Message::AppendAnswer {
        term: Term(1),
        accepted,
        upto: LogIndex(upto),
        round: 0,
    };
    post(&mut play, S2, S1, answer(true, 1));
    assert_eq!(matched(&play), LogIndex(3), "an older confirmation");
    post(&mut play, S2, S1, answer(false, 1));
    assert_eq!(matched(&play), LogIndex(3), "an older refusal");
    assert_eq!(server(&play, S1).progress().unwrap()[1].next, LogIndex(4));
    assert_eq!(play.count(S1, |e| matches!(e, Event::ProbedBack { .. })), 0);
}

/// The logs of the paper's Figure 7: the leader's, and its six possible followers'.
const FIGURE_7: [&[u64]; 7] = [
    &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6],
    &[1, 1, 1, 4, 4, 5, 5, 6, 6],
    &[1, 1, 1, 4],
    &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6],
    &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7],
    &[1, 1, 1, 4, 4, 4, 4],
    &[1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
];

fn figure_7() -> Play {
    // No heartbeat while an append is under way, so that each refusal is of another probe.
    let mut play = Play::new(Setup {
        heartbeat: Duration::millis(300),
        ..patient(7)
    });
    for (id, log) in (0..).map(ProcessId).zip(FIGURE_7) {
        let from = if id == S1 { S2 } else { S1 };
        post(&mut play, from, id, append(7, (0, 0), log, 0));
        assert_eq!(terms(&play, id), log);
    }
    play
}

/// C01; §5.3, Figure 7.
#[test]
fn c01_a_leader_brings_every_log_of_figure_7_into_line() {
    let mut play = figure_7();
    play.run("campaign s1\nrun 20ms\nexpect s1 leads term 8\nrun 500ms");
    let refused = |id| last_vote(&play, id).unwrap().is_some();
    let voters: Vec<bool> = (1..7).map(|n| !refused(ProcessId(n))).collect();
    assert_eq!(
        voters,
        [true, true, false, false, true, true],
        "a, b, e and f; not c and d"
    );
    let mut log = FIGURE_7[0].to_vec();
    log.push(8);
    for id in (0..7).map(ProcessId) {
        assert_eq!((terms(&play, id), commit(&play, id)), (log.clone(), 11));
    }
    let refusals =
        (1..7).map(|n| play.count(ProcessId(n), |e| matches!(e, Event::AppendRefused { .. })));
    let refusals: Vec<usize> = refusals.collect();
    // One probe a stretch of wrong terms, not one an entry: e is too short, then has fours; f has threes,
    // then twos. A leader that also skipped its own terms would save one with each.
    assert_eq!(refusals, [1, 1, 0, 0, 2, 2]);
}

/// C02; §5.4.1, Figure 7.
#[test]
fn c02_of_figure_7_only_logs_as_up_to_date_as_a_majoritys_can_win() {
    // Who stands, with the top leader gone, and whether four of the seven vote for it.
    for (name, wins) in [
        ("s5", true),
        ("s4", true),
        ("s2", true),
        ("s6", false),
        ("s3", false),
        ("s7", false),
    ] {
        let mut play = figure_7();
        play.run("crash s1");
        play.run(&format!("campaign {name}\nrun 100ms"));
        assert_eq!(play.holds(&format!("{name} leads term 8")), wins, "{name}");
    }
}

// §5.4 Safety ------------------------------------------------------------------------------------

/// Figure 8 (a) to (c): s1 leads term 4, and its entry of term 2 is on three of five.
fn figure_8(setup: Setup, at_c: &str) -> Play {
    let mut play = Play::of(
        setup,
        "campaign s1
         run 100ms
         expect s1 leads term 1
         # (a) s1 leads term 2; its entry reaches s2 alone.
         crash s1
         restart s1
         campaign s1
         run 15ms
         cut s1 -> s3
         cut s1 -> s4
         cut s1 -> s5
         run 20ms
         expect s1 leads term 2
         crash s1
         # (b) s5 wins term 3 by s3, s4 and itself; its entry reaches nobody.
         heal
         campaign s5
         run 15ms
         cut s5 -> s2
         cut s5 -> s3
         cut s5 -> s4
         run 20ms
         expect s5 leads term 3
         crash s5
         heal",
    );
    let logs = [S1, S2, S3, S4, S5].map(|id| terms(&play, id));
    assert_eq!(logs, [vec![1, 2], vec![1, 2], vec![1], vec![1], vec![1, 3]]);
    play.run(at_c);
    play.run(
        "restart s1
         campaign s1                               -- term 3 is taken
         run 30ms
         expect nobody leads
         cut s1 -> s4                              -- s2 and s3 are enough
         campaign s1
         run 200ms
         expect s1 leads term 4",
    );
    play
}

/// D01; §5.4.2, Figure 8 (c) to (d).
#[test]
fn d01_an_old_terms_entry_on_a_majority_is_not_committed_and_may_be_overwritten() {
    let mut play = figure_8(patient(5), "set noop_on_election off");
    for id in [S1, S2, S3] {
        assert_eq!(terms(&play, id), [1, 2], "on three of five");
        assert!(commit(&play, id) < 2, "and still not committed");
    }
    play.run(
        "crash s1
         restart s5
         campaign s5
         run 30ms
         expect nobody leads                       -- term 4 is s1's
         campaign s5
         run 200ms
         expect s5 leads term 5
         put c1 x \"1\"
         run 3s",
    );
    for id in [S2, S3, S4, S5] {
        assert_eq!(terms(&play, id)[..2], [1, 3], "overwritten everywhere");
    }
    play.assert_kept();
}

/// D01 with `commit_only_current_term` off.
#[test]
fn d01_off_counting_an_old_terms_entry_applies_what_is_then_overwritten() {
    let mut play = figure_8(
        patient(5),
        "set noop_on_election off\nset commit_only_current_term off",
    );
    assert_eq!(commit(&play, S1), 2);
    play.run("crash s1\nrestart s5\ncampaign s5\nrun 30ms\ncampaign s5\nrun 200ms\nexpect s5 leads term 5");
    let broken = play.world.broken(Invariant::LeaderCompleteness).unwrap();
    let lacks = Reason::LeaderLacksEntry {
        leader: S5,
        term: Term(5),
        index: LogIndex(2),
        committed_by: S1,
    };
    assert_eq!(broken.reason, lacks);
    // s2 had applied it too; now it applies another at the same place.
    play.run("put c1 x \"1\"\nrun 3s\nexpect breaks state-machine-safety");
}

/// D02; §5.4.2, Figure 8 (e).
#[test]
fn d02_an_entry_of_its_own_term_commits_the_old_one_with_it() {
    let mut play = figure_8(patient(5), "");
    for id in [S1, S2, S3] {
        assert_eq!(terms(&play, id), [1, 2, 4]);
    }
    assert_eq!(commit(&play, S1), 3, "both at once");
    play.run("crash s1\nrestart s5");
    for _ in 0..3 {
        play.run("campaign s5\nrun 100ms\nexpect s5 does not lead");
    }
    play.assert_kept();
}

/// D04; Figure 2, AppendEntries rule 5.
#[test]
fn d04_a_follower_commits_no_further_than_what_was_just_checked() {
    let stale_tail = |setup: Setup| {
        let mut play = Play::new(setup);
        post(&mut play, S2, S1, append(1, (0, 0), &[1, 1, 1], 0));
        post(&mut play, S3, S1, append(2, (2, 1), &[], 4));
        play
    };
    let play = stale_tail(patient(3));
    assert_eq!(commit(&play, S1), 2, "entry 3 may not be the leader's");
    let play = stale_tail(with_switch(
        patient(3),
        Switch::CommitClampToLastNewEntry,
        "off",
    ));
    assert_eq!(commit(&play, S1), 3, "it applied what nobody had checked");
}

/// D06.
#[test]
fn d06_a_commit_never_goes_back() {
    let mut play = Play::new(patient(3));
    post(&mut play, S2, S1, append(1, (0, 0), &[1, 1], 2));
    assert_eq!(commit(&play, S1), 2);
    post(&mut play, S2, S1, append(1, (2, 1), &[], 1));
    assert_eq!(commit(&play, S1), 2);
}

// §5.5 and Figure 2: what survives a crash --------------------------------------------------------

/// Figure 2; dissertation §3.8.
#[test]
fn a12_a_restart_keeps_term_vote_and_log_and_forgets_the_rest() {
    let mut play = Play::of(
        patient(3),
        "campaign s1\nrun 100ms\nput c1 x \"1\"\nrun 200ms\nexpect s2 has x = \"1\"\ncrash s2\nrestart s2\nexpect s2 has no x",
    );
    let restarted = server(&play, S2);
    assert_eq!(
        (restarted.term(), restarted.voted_for()),
        (Term(1), Some(S1))
    );
    assert_eq!(terms(&play, S2), [1, 1]);
    assert_eq!(
        (restarted.commit(), restarted.applied()),
        (LogIndex(0), LogIndex(0))
    );
    assert_eq!(restarted.role(), RoleName::Follower);
    // A12: its vote of term 1 is given.
    post(&mut play, S3, S2, ask_for_vote(1, (1, 2)));
    assert_eq!(last_vote(&play, S2), Some(Some(VoteRefusal::VotedFor(S1))));
}

/// A12 with `persist_term_vote` off.
#[test]
fn a12_off_a_forgotten_vote_is_given_twice() {
    let mut play = Play::of(
        with_switch(patient(3), Switch::PersistTermVote, "off"),
        "cut s1 <-> s3
         campaign s1
         run 25ms
         expect s1 leads term 1
         crash s2                                  -- before the entry reaches it
         run 10ms
         restart s2
         campaign s3
         run 30ms",
    );
    let two = Reason::TwoLeaders {
        term: Term(1),
        first: S1,
        second: S3,
    };
    assert_eq!(
        play.world.broken(Invariant::ElectionSafety).unwrap().reason,
        two
    );
    play.run("expect breaks election-safety");
}

/// D07; dissertation §3.8.
#[test]
fn d07_after_all_restart_the_log_is_applied_again_in_order() {
    let play = Play::of(
        patient(3),
        "campaign s1
         run 100ms
         put c1 x \"1\"
         run 200ms
         crash s1
         crash s2
         crash s3
         restart s1
         restart s2
         restart s3
         campaign s2
         run 200ms
         expect s2 leads term 2
         expect s1 has x = \"1\"
         expect s3 has x = \"1\"",
    );
    for id in [S1, S2, S3] {
        assert_eq!((terms(&play, id), commit(&play, id)), (vec![1, 1, 2], 3));
    }
    play.assert_kept();
}

/// J01; §5.3, dissertation §10.2.1: a leader's own copy counts once its own disk has it.
#[test]
fn j01_an_entry_counts_where_it_is_durable_and_not_with_an_earlier_sync() {
    let setup = Setup {
        clients: vec!["c1".into(), "c2".into()],
        sync: Duration::millis(50),
        ..patient(1)
    };
    let mut play = Play::of(
        setup,
        "campaign s1\nrun 1s\nput c1 x \"1\"\nrun 10ms\nput c2 y \"2\"\nrun 10ms",
    );
    assert_eq!(terms(&play, S1), [1, 1, 1]);
    // x is there 10 ms after its put and on disk 50 ms later; the sync of y follows that of x.
    play.run("run 40ms");
    assert_eq!(commit(&play, S1), 2, "the first sync is not the second's");
    play.run("crash s1\nrestart s1\ncampaign s1\nrun 1s\nexpect s1 has x = \"1\" and s1 has no y");
    play.assert_kept();
}

/// A16: a candidate's own vote, too.
#[test]
fn a16_its_own_vote_counts_once_it_is_durable() {
    let setup = Setup {
        sync: Duration::millis(50),
        ..patient(1)
    };
    let mut play = Play::of(setup, "campaign s1\nrun 49ms\nexpect nobody leads");
    assert_eq!(server(&play, S1).votes(), Some(0));
    play.run("run 1ms\nexpect s1 leads term 1");
}

// Found by random runs -----------------------------------------------------------------------------

/// With `one_vote_per_term` off, a leader votes for another of its own term.
#[test]
fn a_leader_that_votes_for_another_does_not_stand_again() {
    let mut play = Play::of(
        with_switch(
            ticking(3, &[100, 60_000, 60_000]),
            Switch::OneVotePerTerm,
            "off",
        ),
        "until s1 leads term 1\ncut s1 -> s2\ncut s1 -> s3",
    );
    post(&mut play, S3, S1, ask_for_vote(1, (1, 9)));
    assert_eq!(last_vote(&play, S1), Some(None));
    play.run("run 1s");
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::ElectionStarted { .. })),
        1
    );
    assert_eq!(server(&play, S1).role(), RoleName::Leader);
}

/// A client in a world without a service.
#[test]
fn where_nobody_serves_a_put_is_refused_at_once() {
    Play::of(
        patient(0),
        "put c1 x \"1\"\nexpect c1 is told refused\nput c1 x \"2\"",
    );
}
