//! What a disk keeps, when a server may rely on it, and what happens when it keeps less than it promised.
//!
//! The archive in the cellar, on its bad days. Cases J, A12, A13, E11 and L33 of the literature. Lost votes
//! and tails, wiped disks and old copies are outside what Raft tolerates: these tests show what breaks then.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "these are tests"
)]

use crate::common::{Run, check, cold};
use crate::play::{A, ORDERS, Play, S1, S2, S3, stage, ticking};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, MessageKind, Outcome, VoteRefusal};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, Term};

fn with_client(setup: Setup) -> Setup {
    Setup {
        clients: vec!["c1".into()],
        ..setup
    }
}

/// `ticking` with disks that take a tick, and only `campaign` to start elections.
fn slow_disks() -> Setup {
    Setup {
        sync: Duration::millis(10),
        workers: vec!["A".into()],
        ..ticking(3, &[3_600_000; 3])
    }
}

fn is_vote_to(to: ProcessId) -> impl Fn(&Event) -> bool {
    move |e| matches!(e, Event::MessageSent { message, kind: MessageKind::Vote } if message.to == to)
}

// J01: acknowledged before it is durable ----------------------------------------------------------

/// s1 and s2 lose power as soon as the client has its answer; s3 never heard of the put.
const POWER_LOST: &str = "
    campaign s1
    run 20s
    partition s1 s2 c1 | s3
    put c1 x \"5\"
    until c1 is told accepted
    crash s1
    crash s2
    restart s1
    restart s2
    heal
    campaign s2
    run 20s
    campaign s1
    run 20s";

fn disks_of_two_seconds() -> Setup {
    Setup {
        sync: Duration::secs(2),
        ..with_client(cold(3))
    }
}

/// Case J01.
#[test]
fn j01_what_is_acknowledged_before_it_is_durable_is_lost() {
    let setup = disks_of_two_seconds();
    let reason = check(
        &setup,
        "durable_ack",
        POWER_LOST,
        Invariant::LeaderCompleteness,
    );
    let lacks = matches!(
        reason,
        Reason::LeaderLacksEntry {
            leader: S2,
            index: LogIndex(2),
            committed_by: S1,
            ..
        }
    );
    assert!(lacks, "{reason:?}");
    let reason = check(&setup, "durable_ack", POWER_LOST, Invariant::NoLostWrite);
    assert!(
        matches!(reason, Reason::WriteLost { leader: S2, .. }),
        "{reason:?}"
    );
}

/// Case J01, the right way: the answer took as long as the disks, and the put is still there.
#[test]
fn j01_what_is_acknowledged_when_durable_survives() {
    let mut run = Run::new(disks_of_two_seconds());
    run.play(POWER_LOST);
    assert!(run.holds("s1 has x = \"5\" and s2 has x = \"5\" and s3 has x = \"5\""));
    run.assert_monitors_agree();
}

// J02 and A12, A13: a disk that forgets -----------------------------------------------------------

/// s3 is alone; the put is on s1 and s2; s2 comes back with an empty disk under its old name.
const WIPED: &str = "
    campaign s1
    run 1s
    partition s1 s2 c1 | s3
    put c1 x \"5\"
    run 1s
    crash s2
    disk s2 wipe
    restart s2
    heal
    partition s1 | s2 s3 c1
    campaign s3
    run 1s
    put c1 x \"6\"
    run 1s";

/// Case J02. No switch makes this right: a wiped server must come back under a new name, by a change of
/// members, and not vote until it is one. Here it keeps its name and is asked for its vote.
#[test]
fn j02_a_wiped_server_that_votes_under_its_old_name_loses_what_was_committed() {
    let mut run = Run::new(with_client(cold(3)));
    run.play(WIPED);
    run.assert_monitors_agree();
    let lacks = run.broken(Invariant::LeaderCompleteness).unwrap().reason;
    let expected = Reason::LeaderLacksEntry {
        leader: S3,
        term: Term(2),
        index: LogIndex(2),
        committed_by: S1,
    };
    assert_eq!(lacks, expected);
    let differ = run.broken(Invariant::StateMachineSafety).unwrap().reason;
    assert!(
        matches!(
            differ,
            Reason::AppliedDiffer {
                index: LogIndex(2),
                first: S1,
                ..
            }
        ),
        "{differ:?}"
    );
    // While it is down for good nothing is lost: s3 alone gets no majority.
    let without = WIPED.replace("restart s2\n", "");
    let mut run = Run::new(with_client(cold(3)));
    run.play(&without);
    run.assert_monitors_agree();
    for invariant in Invariant::ALL {
        assert_eq!(run.broken(*invariant), None, "{invariant}");
    }
    assert!(run.holds("s3 does not believe it leads"));
}

/// Case J02, the right way: what is left of s2 comes back as s4, and votes once it has been made a member by a
/// leader, which needs a majority that still has its disks. Then one more server may fail.
#[test]
fn j02_a_wiped_server_under_a_new_name_loses_nothing() {
    let new_name = "
        campaign s1
        run 1s
        partition s1 s2 c1 | s3
        put c1 x \"5\"
        run 1s
        crash s2
        disk s2 wipe
        heal
        run 1s
        remove s2
        run 1s
        add s4
        run 1s
        partition s1 | s3 s4 c1
        campaign s3
        run 1s
        put c1 y \"6\"
        run 4s";
    let with_a_spare = || Setup {
        spares: 1,
        election_fixed: vec![Duration::secs(10_000); 4],
        client_timeout: Duration::millis(500),
        ..with_client(cold(3))
    };
    let mut run = Run::new(with_a_spare());
    run.play(new_name);
    run.assert_monitors_agree();
    for invariant in Invariant::ALL {
        assert_eq!(run.broken(*invariant), None, "{invariant}");
    }
    assert!(run.holds("s3 leads term 2 and s3 has x = \"5\" and s4 has x = \"5\""));
    assert!(run.holds("s3 has y = \"6\" and s4 has y = \"6\""));
    // The new name alone is not enough: s3, which never heard of s4, gets no vote of it, and x waits for s1.
    let unasked = new_name.replace("remove s2", "").replace("add s4", "");
    let mut run = Run::new(with_a_spare());
    run.play(&unasked);
    run.assert_monitors_agree();
    assert!(run.holds("s3 does not believe it leads"));
    run.play("heal\nrun 1s\ncampaign s1\nrun 1s");
    assert!(run.holds("s1 leads and s1 has x = \"5\" and s3 has x = \"5\""));
    for invariant in Invariant::ALL {
        assert_eq!(run.broken(*invariant), None, "{invariant}");
    }
}

/// Case J02: the vote was on that disk too.
#[test]
fn j02_a_wiped_server_votes_twice_in_one_term() {
    let mut run = Run::new(cold(3));
    run.play(
        "cut s1 <-> s3
         campaign s1
         until s1 becomes leader
         cut s1 <-> s2
         crash s2
         disk s2 wipe
         restart s2
         campaign s3
         run 500ms",
    );
    run.assert_monitors_agree();
    let twice = Reason::TwoLeaders {
        term: Term(1),
        first: S1,
        second: S3,
    };
    assert_eq!(run.broken(Invariant::ElectionSafety).unwrap().reason, twice);
}

/// s1 leads by s2's vote; s2 crashes, and its disk `act`s; s3 asks s2 in the same term.
fn asked_again_after(act: &str) -> Run {
    let mut run = Run::new(cold(3));
    run.play(&format!(
        "cut s1 <-> s3
         campaign s1
         until s1 becomes leader
         cut s1 <-> s2
         crash s2
         {act}
         restart s2
         campaign s3
         run 500ms"
    ));
    run.assert_monitors_agree();
    run
}

/// Case A12. `persist_term_vote` off does the same by itself: see the invariants' tests.
#[test]
fn a12_a_vote_that_the_disk_lost_is_given_again() {
    let run = asked_again_after("disk s2 lose vote");
    assert!(run.broken(Invariant::ElectionSafety).is_some());
    let run = asked_again_after("");
    assert_eq!(run.broken(Invariant::ElectionSafety), None);
    assert!(run.holds("s3 does not believe it leads and s2 is in term 1"));
}

/// Case A13, the harmful way. Its server falls back to an earlier term; ours to 0, as if the file were gone.
#[test]
fn a13_a_term_that_the_disk_lost_is_voted_in_again() {
    let run = asked_again_after("disk s2 lose term");
    assert!(run.broken(Invariant::ElectionSafety).is_some());
}

/// Case A13, the harmless way: one who asks in a term that others are past learns theirs.
#[test]
fn a13_a_candidate_with_a_forgotten_term_learns_the_real_one() {
    let mut play = Play::of(
        ticking(3, &[3_600_000; 3]),
        "partition s1 | s2 s3
         campaign s1
         campaign s1
         campaign s1
         heal
         campaign s1
         run 200ms
         expect s1 leads term 4
         crash s1
         disk s1 lose term
         restart s1",
    );
    assert_eq!(play.world.server(S1).unwrap().term(), Term(0));
    play.run(
        "campaign s1
         run 15ms
         expect s1 is in term 1
         run 10ms
         expect s1 is in term 4 and s1 does not believe it leads",
    );
    let refused = |e: &Event| {
        matches!(
            e,
            Event::VoteRefused {
                candidate: S1,
                why: VoteRefusal::OldTerm,
                ..
            }
        )
    };
    assert_eq!((play.count(S2, refused), play.count(S3, refused)), (1, 1));
    play.assert_kept();
}

/// A log that lost its tail without a trace: J02 in small. Nobody notices, so nothing guards against it.
#[test]
fn j02_a_lost_tail_that_nobody_notices_loses_what_was_committed() {
    let script = WIPED.replace("disk s2 wipe", "disk s2 lose tail 1");
    let mut run = Run::new(with_client(cold(3)));
    run.play(&script);
    run.assert_monitors_agree();
    assert!(run.broken(Invariant::LeaderCompleteness).is_some());
}

// J03: a damaged entry is noticed -----------------------------------------------------------------

/// s2 is the only one beside s1 that has the put, and cannot read it any more.
const DAMAGED: &str = "
    campaign s1
    run 1s
    partition s1 s2 c1 | s3
    put c1 x \"5\"
    run 1s
    crash s2
    disk s2 corrupt tail
    restart s2
    heal
    partition s1 | s2 s3 c1
    campaign s3
    run 1s
    campaign s2
    run 1s";

/// Case J03.
#[test]
fn j03_a_server_with_a_damaged_log_does_not_vote() {
    let reason = check(
        &with_client(cold(3)),
        "refuse_vote_until_repaired",
        DAMAGED,
        Invariant::LeaderCompleteness,
    );
    assert!(
        matches!(reason, Reason::LeaderLacksEntry { leader: S3, .. }),
        "{reason:?}"
    );
}

/// Case J03, what comes after: a leader with the entry repairs it, and then it votes again.
#[test]
fn j03_a_repaired_server_votes_again() {
    let mut play = Play::of(
        ticking(3, &[3_600_000; 3]),
        "campaign s1
         run 200ms
         partition s1 s2 c1 | s3
         put c1 x \"5\"
         run 200ms
         crash s2
         disk s2 corrupt tail
         restart s2
         heal
         partition s1 | s2 s3 c1
         campaign s3
         run 100ms
         campaign s2
         run 100ms
         expect s2 does not believe it leads and s3 does not believe it leads",
    );
    let damaged = |e: &Event| {
        matches!(
            e,
            Event::VoteRefused {
                why: VoteRefusal::LogDamaged,
                ..
            }
        )
    };
    assert_eq!(play.count(S2, damaged), 2, "asked by s3, and told to stand");
    assert_eq!(play.log("s2"), [1]);
    // Its damage outlives another crash.
    play.run("crash s2\nrestart s2\ncampaign s2\nrun 100ms");
    assert_eq!(play.count(S2, damaged), 3);
    // s1 stands in a term that s3 knows: with s3's vote it leads, and s2 has the entry again.
    play.run(
        "heal
         run 100ms
         campaign s1
         run 300ms
         expect s1 believes it leads
         expect s2 has x = \"5\"",
    );
    let repaired = |e: &Event| matches!(e, Event::LogRepaired { index: LogIndex(2) });
    assert_eq!(play.count(S2, repaired), 1);
    assert_eq!(play.log("s2"), play.log("s1"));
    let votes = |e: &Event| matches!(e, Event::VoteGranted { candidate: S3, .. });
    play.run("run 100ms\ncampaign s3\nrun 100ms\nexpect s3 believes it leads");
    assert_eq!(play.count(S2, votes), 1);
    play.assert_kept();
}

/// The leader that had its acknowledgement is still there: it takes the report and sends the entry again.
#[test]
fn j03_the_same_leader_repairs_what_it_had_counted() {
    let play = Play::of(
        ticking(3, &[3_600_000; 3]),
        "campaign s1
         run 200ms
         put c1 x \"5\"
         run 200ms
         crash s2
         disk s2 corrupt tail
         restart s2
         run 200ms
         expect s2 has x = \"5\"",
    );
    let again = |e: &Event| matches!(e, Event::ProbedBack { follower: S2, .. });
    assert!(1 <= play.count(S1, again));
    assert_eq!(
        play.count(S2, |e| matches!(e, Event::LogRepaired { .. })),
        1
    );
    assert!(play.world.server(S2).unwrap().damage().is_none());
    play.assert_kept();
}

/// The leader has told s2 to stand, which had the entry then; it hears of it when its disk has lost that.
#[test]
fn j03_a_damaged_server_that_is_told_to_stand_does_not() {
    let script = "
        campaign s1
        run 1s
        partition s1 s2 c1 | s3
        put c1 x \"5\"
        run 1s
        latency s1 -> s2 1s 1s
        transfer s1 -> s2
        run 10ms
        crash s2
        disk s2 corrupt tail
        restart s2
        cut s2 -> s1
        heal s2 <-> s3
        run 1500ms";
    let reason = check(
        &with_client(cold(3)),
        "refuse_vote_until_repaired",
        script,
        Invariant::LeaderCompleteness,
    );
    assert!(
        matches!(reason, Reason::LeaderLacksEntry { leader: S2, .. }),
        "{reason:?}"
    );
}

// J04: what waits for the disk --------------------------------------------------------------------

/// Case J04: s1 and s3 ask s2 in one term while its disk stands still.
#[test]
fn j04_a_refusal_need_not_wait_for_the_disk_and_a_grant_must() {
    let play = Play::of(
        slow_disks(),
        "cut s1 <-> s3
         at 100ms
         disk s2 stall 1s
         campaign s1
         run 50ms
         campaign s3
         at 2s
         expect s1 leads term 1",
    );
    // Asked at 120 ms (s1's own vote takes a tick), granted when the stall ends at 1.1 s and a tick more.
    assert_eq!(play.times(S2, is_vote_to(S1)), [1_110]);
    assert_eq!(play.times(S2, is_vote_to(S3)), [170]);
    play.assert_kept();
}

// E11: a slow disk --------------------------------------------------------------------------------

/// Case E11: the followers' two disks are a majority, and the leader's own is none of their business.
#[test]
fn e11_a_leader_with_a_stalled_disk_commits_by_its_followers() {
    let mut play = Play::of(
        slow_disks(),
        "campaign s1
         at 1s
         disk s1 stall 300ms
         put c1 x \"5\"
         at 1.2s
         expect c1 is told accepted",
    );
    let progress = |play: &Play| play.world.server(S1).unwrap().progress().unwrap()[0].matched;
    assert_eq!(progress(&play), LogIndex(1), "it does not count itself yet");
    let committed = play.times(S1, |e| {
        matches!(
            e,
            Event::CommitAdvanced {
                to: LogIndex(2),
                ..
            }
        )
    });
    // There at 1.02 s, on the followers' disks at 1.03 s, and back.
    assert_eq!(committed, [1_040]);
    play.run("at 1.35s\nexpect s1 leads term 1");
    assert_eq!(progress(&play), LogIndex(2));
    play.assert_kept();
}

/// What is under way when a disk stalls ends that much later, and in its order.
#[test]
fn e11_a_stall_moves_what_is_under_way() {
    let play = Play::of(
        Setup {
            sync: Duration::millis(100),
            ..slow_disks()
        },
        "campaign s1
         at 1s
         put c1 x \"1\"
         run 50ms
         put c1 x \"2\"
         at 1.1s
         disk s1 stall 1s
         put c1 x \"3\"
         at 4s
         expect s1 has x = \"3\" and s2 has x = \"3\" and s3 has x = \"3\"",
    );
    let ends = play.times(S1, |e| matches!(e, Event::SyncEnded));
    let late: Vec<u64> = ends.into_iter().filter(|at| 1_100 < *at).collect();
    assert!(late.iter().all(|at| 2_100 <= *at), "{late:?}");
    play.assert_kept();
}

// A disk that fails -------------------------------------------------------------------------------

#[test]
fn a_follower_whose_disk_fails_stops_and_acknowledges_nothing() {
    let mut play = Play::of(
        slow_disks(),
        "campaign s1
         at 1s
         cut s1 <-> s3
         disk s2 fail
         put c1 x \"5\"
         run 500ms
         expect s2 is crashed
         expect c1 is not told accepted",
    );
    let acks = |e: &Event| {
        matches!(
            e,
            Event::MatchAdvanced {
                follower: S2,
                to: LogIndex(2)
            }
        )
    };
    assert_eq!(play.count(S1, acks), 0);
    // Started again, the disk takes writes; the put is sent again and counted.
    play.run("restart s2\nrun 500ms\nexpect c1 is told accepted");
    assert_eq!(play.count(S1, acks), 1);
    play.assert_kept();
}

#[test]
fn a_store_whose_disk_fails_answers_nobody_and_forgets_the_write() {
    let play = Play::of(
        Setup {
            sync: Duration::millis(10),
            ..stage()
        },
        "acquire A orders
         until A believes it holds orders
         disk orders fail
         write A orders \"lost\"
         run 3s
         expect orders is crashed
         restart orders
         write A orders \"kept\"
         run 1s",
    );
    let writes = play.world.store(ORDERS).unwrap().writes();
    assert_eq!(writes.len(), 1);
    assert_eq!(&*writes[0].value, "kept");
    let unknown = |e: &Event| {
        let unknown = Outcome::Unknown;
        matches!(e, Event::WriteEnded { value, outcome, .. } if (&**value, *outcome) == ("lost", unknown))
    };
    assert_eq!(play.count(A, unknown), 1);
    play.assert_kept();
}

/// The disk fails while its process sleeps: it learns so when it wakes.
#[test]
fn a_sleeper_stops_when_it_wakes_to_a_failed_disk() {
    let mut play = Play::of(
        Setup {
            sync: Duration::millis(50),
            ..slow_disks()
        },
        "campaign s1
         at 1s
         disk s2 fail
         put c1 x \"5\"
         run 30ms
         pause s2
         run 500ms
         expect s2 is asleep",
    );
    play.run("resume s2\nrun 1ms\nexpect s2 is crashed");
    play.assert_kept();
}

// L33: an old copy --------------------------------------------------------------------------------

/// The only server of the service comes back as it was when it had issued token 1; B has had 2 and 3.
fn restored() -> Run {
    let mut run = Run::new(Setup {
        servers: 1,
        election_fixed: vec![Duration::millis(1_500)],
        ..stage()
    });
    run.play(
        "acquire A orders
         until A believes it holds orders
         release A
         run 300ms
         disk s1 backup
         acquire B orders
         until B believes it holds orders
         release B
         run 300ms
         acquire B orders
         until B believes it holds orders
         write B orders \"third\"
         run 1s
         release B
         run 300ms
         crash s1
         disk s1 restore
         restart s1
         run 3s",
    );
    run
}

/// A writes by its new lease, and then B, by the last token that it has had. Which writes orders took, in order.
fn rightful_and_zombie(run: &mut Run) -> Vec<(String, u64, bool)> {
    run.play(
        "acquire A orders
         until A believes it holds orders
         write A orders \"rightful\"
         run 1s
         set check_before_write off at B
         write B orders \"zombie\"
         run 1s",
    );
    let writes = run.world().store(ProcessId(4)).unwrap().writes();
    writes
        .iter()
        .map(|w| (w.value.to_string(), w.token.0, w.verdict.is_accepted()))
        .collect()
}

/// Case L33. The fence cannot tell: it sees numbers, and these are issued twice.
#[test]
fn l33_a_restored_backup_issues_tokens_again() {
    let mut run = restored();
    let writes = rightful_and_zombie(&mut run);
    assert!(run.holds("A believes it holds orders and orders has seen token 3"));
    // The rightful holder is refused, and a zombie with the old, higher token is not.
    let expected = [
        ("third", 3, true),
        ("rightful", 2, false),
        ("zombie", 3, true),
    ];
    let expected = expected.map(|(value, token, ok)| (value.to_owned(), token, ok));
    assert_eq!(writes, expected);
    // The ledger of the truth goes by the first application of an index, so what breaks there is the log.
    let broken = run.broken(Invariant::StateMachineSafety).unwrap().reason;
    assert!(matches!(broken, Reason::AppliedDiffer { .. }), "{broken:?}");
    run.assert_monitors_agree();
}

/// Case L33, put right: an operator who knows that no more than 150 tokens were ever issued says so.
#[test]
fn l33_a_restored_backup_is_put_right_by_an_operator() {
    let mut run = restored();
    run.play("raise orders 150\nrun 300ms");
    let writes = rightful_and_zombie(&mut run);
    let expected = [
        ("third", 3, true),
        ("rightful", 151, true),
        ("zombie", 3, false),
    ];
    let expected = expected.map(|(value, token, ok)| (value.to_owned(), token, ok));
    assert_eq!(writes, expected);
    for invariant in [Invariant::NoOlderToken, Invariant::TokenMonotonic] {
        assert_eq!(run.broken(invariant), None, "{invariant}");
    }
    // What was in the log since the backup is gone all the same, and no operator brings that back.
    assert!(run.broken(Invariant::StateMachineSafety).is_some());
    run.assert_monitors_agree();
}

// The commands ------------------------------------------------------------------------------------

#[test]
fn a_disk_command_that_makes_no_sense_is_refused() {
    let mut play = Play::new(stage());
    let name = || "s2".to_owned();
    assert_eq!(
        play.refusal("disk s2 stall 1s"),
        CommandError::DurableAtOnce { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 fail"),
        CommandError::DurableAtOnce { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 wipe"),
        CommandError::NotCrashed { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 restore"),
        CommandError::NotCrashed { name: name() }
    );
    assert!(matches!(
        play.refusal("disk A wipe"),
        CommandError::WrongKind { .. }
    ));
    assert!(matches!(
        play.refusal("disk orders lose vote"),
        CommandError::WrongKind { .. }
    ));
    assert!(matches!(
        play.refusal("disk x wipe"),
        CommandError::UnknownProcess { .. }
    ));
    play.run("crash s2");
    assert_eq!(
        play.refusal("disk s2 stall 1s"),
        CommandError::Crashed { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 lose tail 9"),
        CommandError::NotOnDisk { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 lose tail 0"),
        CommandError::NotOnDisk { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 restore"),
        CommandError::NoBackup { name: name() }
    );
    play.run("disk s2 wipe");
    assert_eq!(
        play.refusal("disk s2 corrupt tail"),
        CommandError::NotOnDisk { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 lose vote"),
        CommandError::NotOnDisk { name: name() }
    );
    assert_eq!(
        play.refusal("disk s2 lose term"),
        CommandError::NotOnDisk { name: name() }
    );
    let mut play = Play::new(slow_disks());
    assert!(matches!(
        play.refusal("disk s1 stall 0s"),
        CommandError::Span { .. }
    ));
}

#[test]
fn a_copy_that_is_put_back_is_what_was_there() {
    let mut play = Play::of(
        stage(),
        "put c1 x \"1\"
         run 1s
         disk s2 backup
         put c1 x \"2\"
         run 1s
         crash s2",
    );
    assert_eq!(play.log("s2"), [1, 1, 1]);
    play.run("disk s2 restore");
    assert_eq!(play.log("s2"), [1, 1]);
    assert_eq!(play.world.server(S2).unwrap().voted_for(), Some(S1));
}
