//! Changes of the membership: one server at a time, or by joint consensus; and what goes wrong without.
//!
//! A committee that elects new members while it sits. Cases I, A18, F06 and F07 of the case list; one tick is
//! 10 ms. Ours takes effect when it is appended (dissertation §4.1), not when it is applied as in etcd.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

use crate::common::Run;
use crate::play::{Play, S1, S2, S3, ticking};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, Step, VoteRefusal};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::process::Message as Envelope;
use leasehold_engine::raft::{ChangeRefusal, Config, Entry, Message, RoleName, Server};
use leasehold_engine::registry::Op;
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, LogIndex, ProcessId, ProcessSet, Term};

const S4: ProcessId = ProcessId(3);
const S5: ProcessId = ProcessId(4);

/// Three voters and two spares; nobody stands for election unless told to.
fn patient() -> Setup {
    Setup {
        spares: 2,
        client_attempts: 20,
        ..ticking(3, &[600_000; 5])
    }
}

/// s1 leads term 1, and what it opened its term with is committed everywhere.
fn led() -> Play {
    Play::of(patient(), "campaign s1\nrun 200ms\nexpect s1 leads term 1")
}

fn server(play: &Play, id: ProcessId) -> &Server {
    play.world.server(id).unwrap()
}

fn commit(play: &Play, id: ProcessId) -> u64 {
    server(play, id).commit().0
}

fn last(play: &Play, id: ProcessId) -> u64 {
    server(play, id).log().last_index().0
}

fn set(ids: &[ProcessId]) -> ProcessSet {
    ids.iter()
        .copied()
        .fold(ProcessSet::default(), ProcessSet::with)
}

fn voters(ids: &[ProcessId]) -> Config {
    Config {
        voters: set(ids),
        ..Config::default()
    }
}

fn joint(new: &[ProcessId], old: &[ProcessId]) -> Config {
    Config {
        outgoing: set(old),
        ..voters(new)
    }
}

fn config(play: &Play, id: ProcessId) -> Config {
    server(play, id).config()
}

fn refusal(play: &mut Play, line: &str) -> ChangeRefusal {
    match play.refusal(line) {
        CommandError::Change { why, .. } => why,
        other => panic!("{line}: {other:?}"),
    }
}

fn post(play: &mut Play, from: ProcessId, to: ProcessId, message: Message) {
    play.world.post(from, to, Envelope::Raft(message));
    play.run("run 10ms");
}

fn steps_down(event: &Event) -> bool {
    matches!(event, Event::SteppedDown { .. })
}

fn stands_aside(event: &Event) -> bool {
    matches!(event, Event::StoodAside)
}

/// Plays a script with a switch off, where it breaks `invariant`, and with it on, where it breaks nothing.
/// What is only tried may be refused; monitors and full predicates agree both times.
fn breaks(switch: &str, script: &str, invariant: Invariant) -> Reason {
    let play = |position: &str| {
        let mut run = Run::new(patient());
        run.play(&format!("set {switch} {position}"));
        for line in script.lines().map(str::trim) {
            if let Some(tried) = line.strip_prefix("try ") {
                let mut step = Step::empty();
                run.history.act_or_skip(tried.parse().unwrap(), &mut step);
                run.oracle.look(&step, run.history.world());
            } else {
                run.play(line);
            }
        }
        run.assert_monitors_agree();
        run
    };
    let on = play("on");
    for invariant in Invariant::ALL {
        assert_eq!(on.broken(*invariant), None, "{invariant} with {switch} on");
    }
    let off = play("off");
    let broken = off.broken(invariant);
    broken
        .unwrap_or_else(|| panic!("{invariant} must break with {switch} off"))
        .reason
}

// Changing the voters ----------------------------------------------------------------------------

/// Where s1 to s3 were the voters and s3 to s5 are to be.
#[test]
fn i01_joint_needs_both_majorities() {
    for (votes, elected) in [
        (&[S1, S2][..], false),
        (&[S4, S5], false),
        (&[S1, S4], true),
        (&[S1, S2, S4], true),
    ] {
        let mut play = Play::new(patient());
        let op = Op::Config {
            config: joint(&[S3, S4, S5], &[S1, S2, S3]),
        };
        let append = Message::Append {
            term: Term(1),
            previous_index: LogIndex(0),
            previous_term: Term(0),
            entries: vec![Entry { term: Term(1), op }],
            commit: LogIndex(0),
            round: 0,
        };
        post(&mut play, S1, S3, append);
        play.run("partition s3 | s1 s2 s4 s5\ncampaign s3\nheal\npartition s1 | s2 | s4 | s5");
        play.run("cut s3 -> s1\ncut s3 -> s2\ncut s3 -> s4\ncut s3 -> s5");
        for voter in votes {
            let vote = Message::Vote {
                term: Term(2),
                granted: true,
            };
            post(&mut play, *voter, S3, vote);
        }
        let role = server(&play, S3).role();
        assert_eq!(role == RoleName::Leader, elected, "{votes:?} and itself");
    }
}

#[test]
fn i01_a_write_on_the_old_majority_alone_is_not_committed() {
    let mut play = led();
    play.run("partition s1 s2 s3 c1 | s4 s5\nreconfigure s3 s4 s5\nput c1 x \"1\"\nrun 500ms");
    assert_eq!(config(&play, S3), joint(&[S3, S4, S5], &[S1, S2, S3]));
    assert_eq!((last(&play, S3), commit(&play, S1)), (3, 1));
    play.run("heal\nrun 500ms\nexpect s1 has x = \"1\"");
    for id in [S3, S4, S5] {
        assert_eq!(config(&play, id), voters(&[S3, S4, S5]));
    }
    assert_eq!(server(&play, S1).role(), RoleName::Follower, "it has left");
    play.run("campaign s4\nrun 200ms\nexpect s4 leads");
    play.assert_kept();
}

/// I01 with the union counted: s1 and s2 have not heard of the change, s3 has half of all five with it.
#[test]
fn i01_counting_the_union_breaks_election_safety() {
    let script = "
        set joint_consensus on
        campaign s3
        run 300ms
        partition s3 s4 s5 | s1 s2
        reconfigure s3 s4 s5
        run 300ms
        crash s3
        restart s3
        set joint_consensus off
        campaign s1
        campaign s3
        run 100ms";
    // `breaks` sets the position first; here it is the last line but two that counts.
    let off = breaks_by_last_position(script);
    assert_eq!(
        off,
        Reason::TwoLeaders {
            term: Term(2),
            first: S1,
            second: S3
        }
    );
}

/// As `breaks`, for a script that itself turns `joint_consensus` off: with that line left out, it keeps.
fn breaks_by_last_position(script: &str) -> Reason {
    let mut on = Run::new(patient());
    on.play(&script.replace("set joint_consensus off", ""));
    on.assert_monitors_agree();
    assert_eq!(on.broken(Invariant::ElectionSafety), None);
    let mut off = Run::new(patient());
    off.play(script);
    off.assert_monitors_agree();
    off.broken(Invariant::ElectionSafety).unwrap().reason
}

/// Dissertation Figure 4.2: s1 and s2 are a majority of three, the others one of five.
#[test]
fn i02_breaks_election_safety_three_become_five_in_one_step() {
    let script = "campaign s3
        run 300ms
        partition s3 s4 s5 | s1 s2
        reconfigure s1 s2 s3 s4 s5
        run 300ms
        crash s3
        restart s3
        campaign s1
        campaign s3
        run 100ms";
    let reason = breaks("joint_consensus", script, Invariant::ElectionSafety);
    assert_eq!(
        reason,
        Reason::TwoLeaders {
            term: Term(2),
            first: S1,
            second: S3
        }
    );
}

/// The erratum of 2015: two leaders each change the same four voters by one, and neither change's majority
/// meets the other's. An entry of its own term, committed by the four, would have stopped one of them.
#[test]
fn a_change_before_the_terms_first_commit_breaks_leader_completeness() {
    let script = "campaign s1
        run 300ms
        add s4
        run 300ms
        partition s1 s5 | s2 s3 s4
        add s5 at s1
        run 300ms
        campaign s2
        until s2 becomes leader
        cut s2 -> s4
        try remove s1 at s2
        run 300ms
        heal
        partition s1 s4 s5 | s2 s3
        crash s1
        restart s1
        campaign s1
        run 100ms
        campaign s1
        run 300ms";
    let reason = breaks(
        "own_term_commit_before_reconfig",
        script,
        Invariant::LeaderCompleteness,
    );
    assert!(
        matches!(
            reason,
            Reason::LeaderLacksEntry {
                leader: S1,
                term: Term(3),
                committed_by: S2,
                ..
            }
        ),
        "{reason:?}"
    );
}

/// Dissertation Figure 4.4.
#[test]
fn i03_an_empty_voter_holds_up_commits_and_a_learner_does_not() {
    let mut play = led();
    play.run("cut s1 <-> s4\nadd s4\nrun 100ms\ncrash s3\nput c1 x \"1\"\nrun 1s");
    play.run("expect s1 has no x");
    assert_eq!(
        commit(&play, S1),
        2,
        "its own entry was committed by three of four"
    );
    play.run("heal\nrun 200ms\nexpect s1 has x = \"1\"");
    play.assert_kept();

    let mut play = led();
    play.run("cut s1 <-> s4\nadd s4 as learner\nrun 100ms\ncrash s3\nput c1 x \"1\"\nrun 100ms");
    play.run("expect s1 has x = \"1\"\nheal\nrun 200ms");
    assert_eq!(
        last(&play, S4),
        last(&play, S1),
        "it catches up without a vote"
    );
    play.run("promote s4\nrun 100ms\nput c1 x \"2\"\nrun 100ms\nexpect s1 has x = \"2\"");
    assert_eq!(config(&play, S4), voters(&[S1, S2, S3, S4]));
    play.assert_kept();
}

#[test]
fn one_server_becomes_three_and_one_again() {
    let one = Setup {
        spares: 2,
        client_attempts: 20,
        ..ticking(1, &[600_000; 3])
    };
    let mut play = Play::of(one, "campaign s1\nput c1 x \"1\"\nrun 100ms");
    play.run("add s2\nrun 200ms\nadd s3\nrun 200ms");
    for id in [S1, S2, S3] {
        assert_eq!(config(&play, id), voters(&[S1, S2, S3]));
    }
    play.run("crash s2\nput c1 x \"2\"\nrun 200ms\nexpect s3 has x = \"2\"\nrestart s2\nrun 200ms");
    play.run("remove s2\nrun 200ms\ncrash s2\nremove s1\nrun 200ms");
    assert_eq!(config(&play, S3), voters(&[S3]));
    play.run("campaign s3\nexpect s3 leads\nput c1 x \"3\"\nrun 5s\nexpect s3 has x = \"3\"");
    assert_eq!(refusal(&mut play, "remove s3"), ChangeRefusal::LastVoter);
    play.assert_kept();
}

/// Dissertation §4.2.2.
#[test]
fn i04_a_leader_that_removes_itself_does_not_count_itself() {
    let mut play = led();
    play.run("cut s1 <-> s3\nremove s1\nrun 500ms");
    assert_eq!(config(&play, S2), voters(&[S2, S3]));
    assert_eq!(
        (last(&play, S2), commit(&play, S1)),
        (2, 1),
        "s2 alone is no majority"
    );
    assert!(play.holds("s1 leads"), "until then it does its work");
    play.run("heal\nrun 200ms");
    assert_eq!(commit(&play, S1), 2);
    play.expect(Rule::RemovedLeaderStepsDown, Some(S1), steps_down);
    play.run("campaign s1\nrun 100ms");
    assert_eq!(play.count(S1, stands_aside), 1);
    play.run("campaign s2\nrun 200ms\nexpect s2 leads term 2\nput c1 x \"1\"\nrun 2s");
    play.run("expect s3 has x = \"1\"");
    play.assert_kept();
}

/// Dissertation Figure 4.6: s2 cannot win without s1, which is out of its own latest configuration.
#[test]
fn i05_a_server_that_is_leaving_stands_while_its_removal_is_not_committed() {
    let mut play = led();
    play.run("remove s3\nrun 200ms\ncut s1 -> s2\nremove s1\nrun 100ms");
    assert_eq!(config(&play, S1), voters(&[S2]));
    assert_eq!(config(&play, S2), voters(&[S1, S2]));
    // It steps down early.
    play.run("crash s1\nrestart s1\nheal\ncampaign s2\nrun 100ms");
    assert_eq!(server(&play, S2).role(), RoleName::Candidate);
    let behind = |event: &Event| {
        matches!(
            event,
            Event::VoteRefused {
                candidate: S2,
                why: VoteRefusal::LogBehind { .. },
                ..
            }
        )
    };
    assert_eq!(play.count(S1, behind), 1);
    play.run("campaign s1\nrun 20ms");
    let won = |event: &Event| {
        matches!(
            event,
            Event::VoteCounted {
                voter: S2,
                votes: 1,
                needed: 1
            }
        )
    };
    assert_eq!(
        play.count(S1, won),
        1,
        "s2's vote is enough, its own does not count"
    );
    play.run("run 200ms");
    play.expect(Rule::RemovedLeaderStepsDown, Some(S1), steps_down);
    assert_eq!(config(&play, S2), voters(&[S2]));
    play.run("campaign s2\nexpect s2 leads");
    play.assert_kept();
}

/// Dissertation Figure 4.7: the entry of the removal is nowhere but at the leader, so that the removed
/// server's log is as good as any. A pre-vote looks at the log alone; who has just heard a leader knows better.
#[test]
fn i06_a_removed_server_disturbs_unless_followers_are_sticky() {
    let disturbed = |switches: &str| {
        let mut play = led();
        play.run("add s4\nrun 200ms");
        play.run(switches);
        play.run("run 100ms\nlatency s1 -> s2 90ms 90ms\nlatency s1 -> s3 90ms 90ms\nremove s4");
        let before = server(&play, S1).term();
        play.run("run 15ms\ncampaign s4\nrun 60ms");
        before < server(&play, S1).term()
    };
    assert!(disturbed(""));
    assert!(
        disturbed("set prevote on"),
        "the log says nothing against it"
    );
    assert!(!disturbed("set stickiness on"));
    assert!(!disturbed("set prevote on\nset stickiness on"));
}

#[test]
fn i07_one_change_at_a_time() {
    let mut play = led();
    play.run("partition s1 | s2 s3 s4 s5\nadd s4");
    assert_eq!(refusal(&mut play, "add s5"), ChangeRefusal::UnderWay);
    assert_eq!(
        refusal(&mut play, "reconfigure s1 s4 s5"),
        ChangeRefusal::UnderWay
    );
    play.run("heal\nrun 300ms\nadd s5\nrun 200ms");
    play.run("partition s1 | s2 s3 s4 s5\nreconfigure s1 s2 s3");
    assert_eq!(refusal(&mut play, "remove s3"), ChangeRefusal::UnderWay);
    play.run("heal\nrun 300ms");
    assert_eq!(config(&play, S1), voters(&[S1, S2, S3]));
    play.run("remove s3\nrun 200ms");
    assert_eq!(config(&play, S2), voters(&[S1, S2]));
    play.assert_kept();
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut play = Play::new(patient());
    assert_eq!(play.refusal("add s4"), CommandError::NobodyLeads);
    assert_eq!(
        refusal(&mut play, "add s4 at s1"),
        ChangeRefusal::NotLeading
    );
    play.run("campaign s1\nrun 25ms\nexpect s1 leads");
    assert_eq!(
        refusal(&mut play, "add s4"),
        ChangeRefusal::TermNotCommitted
    );
    play.run("run 200ms");
    assert_eq!(refusal(&mut play, "add s2"), ChangeRefusal::Member);
    assert_eq!(
        refusal(&mut play, "add s2 as learner"),
        ChangeRefusal::Member
    );
    assert_eq!(refusal(&mut play, "promote s2"), ChangeRefusal::NoLearner);
    assert_eq!(refusal(&mut play, "promote s4"), ChangeRefusal::NoLearner);
    assert_eq!(refusal(&mut play, "remove s4"), ChangeRefusal::NoMember);
    assert_eq!(
        refusal(&mut play, "reconfigure s3 s2 s1"),
        ChangeRefusal::Same
    );
    assert_eq!(
        refusal(&mut play, "add s4 at s2"),
        ChangeRefusal::NotLeading
    );
    let twice = CommandError::NamedTwice { name: "s4".into() };
    assert_eq!(play.refusal("reconfigure s4 s4"), twice);
    assert!(matches!(
        play.refusal("add s9"),
        CommandError::UnknownProcess { .. }
    ));
    assert!(matches!(
        play.refusal("add c1"),
        CommandError::WrongKind { .. }
    ));
    play.run("pause s1");
    assert!(matches!(
        play.refusal("add s4"),
        CommandError::AlreadyAsleep { .. }
    ));
    play.run("resume s1\nadd s4 as learner\nrun 200ms");
    assert_eq!(refusal(&mut play, "add s4"), ChangeRefusal::Member);
    play.run("remove s4\nrun 200ms");
    assert_eq!(config(&play, S1), voters(&[S1, S2, S3]));
}

#[test]
fn i08_a_configuration_that_was_never_committed_goes_with_its_entry() {
    let mut play = led();
    play.run("partition s1 | s2 s3 s4 s5\nreconfigure s1\nrun 100ms");
    assert_eq!(config(&play, S1), joint(&[S1], &[S1, S2, S3]));
    play.run("campaign s2\nrun 200ms\nexpect s2 leads term 2\nheal\nrun 300ms");
    assert_eq!(config(&play, S1), voters(&[S1, S2, S3]));
    play.expect(Rule::ConfigGoesWithEntry, Some(S1), |event| {
        matches!(event, Event::ConfigAdopted { config } if *config == voters(&[S1, S2, S3]))
    });
    // A restart reads the same from the disk.
    play.run("crash s1\nrestart s1");
    assert_eq!(config(&play, S1), voters(&[S1, S2, S3]));
    play.assert_kept();
}

#[test]
fn i09_a_new_leader_leaves_the_joint_configuration() {
    let mut play = led();
    play.run("reconfigure s3 s4 s5");
    while commit(&play, S1) < 2 {
        play.run("run 1ms");
    }
    // The entry that leaves it is on its way from s1, which dies with it.
    play.run("cut s1 -> s2\ncut s1 -> s3\ncut s1 -> s4\ncut s1 -> s5\ncrash s1\nrun 100ms");
    for id in [S3, S4] {
        assert_eq!(config(&play, id), joint(&[S3, S4, S5], &[S1, S2, S3]));
    }
    play.run("campaign s3\nrun 20ms\nexpect s3 leads term 2\nrun 500ms");
    play.expect(Rule::JointIsLeft, Some(S3), |event| {
        matches!(event, Event::EntryAppended { term: Term(2), .. })
    });
    for id in [S3, S4, S5] {
        assert_eq!(config(&play, id), voters(&[S3, S4, S5]));
        assert_eq!(commit(&play, id), last(&play, S3));
    }
    play.assert_kept();
}

/// Dissertation §4.1: servers answer calls whether or not the caller is in their configuration.
#[test]
fn i10_a_candidate_from_outside_is_answered_by_term_and_log() {
    let mut play = led();
    play.run("add s4\nrun 300ms");
    assert!(!config(&play, S4).members().contains(S5));
    for (last_index, granted) in [(1, false), (2, true)] {
        let ask = Message::RequestVote {
            handover: false,
            term: Term(last_index + 1),
            last_index: LogIndex(last_index),
            last_term: Term(1),
        };
        post(&mut play, S5, S4, ask);
        let votes = |event: &Event| matches!(event, Event::VoteGranted { candidate: S5, .. });
        assert_eq!(play.count(S4, votes) == 1, granted);
    }
    play.assert_kept();
}

#[test]
fn i11_a_server_that_comes_back_without_a_vote_disturbs_once() {
    let setup = Setup {
        election_fixed: [150, 300, 200, 600_000, 600_000]
            .map(Duration::millis)
            .to_vec(),
        ..patient()
    };
    let mut play = Play::of(
        setup,
        "run 500ms\nexpect s1 leads term 1\npartition s3 | s1 s2 c1",
    );
    play.run("remove s3\nrun 10s");
    let far = server(&play, S3).term();
    assert!(Term(50) <= far, "{far}");
    play.run("add s3 as learner\nrun 100ms\nheal\nrun 5s");
    let leader = play.world.truth().leader().unwrap().0;
    let downs = play.count(S1, steps_down) + play.count(S2, steps_down);
    assert_eq!(downs, 1, "once, when it hears the high term");
    assert_eq!(server(&play, S3).leader_known(), Some(leader));
    let stands = |event: &Event| matches!(event, Event::ElectionStarted { .. });
    let before = play.count(S3, stands);
    play.run("cut s1 -> s3\ncut s2 -> s3\nrun 2s");
    assert_eq!(
        play.count(S3, stands),
        before,
        "it has no vote and does not stand"
    );
    assert!(0 < play.count(S3, stands_aside));
    play.assert_kept();
}

// Votes and learners -----------------------------------------------------------------------------

#[test]
fn a18_a_learner_that_is_asked_votes() {
    let mut play = led();
    play.run("remove s3\nrun 200ms\nadd s3 as learner\nrun 200ms\ncampaign s3\nrun 100ms");
    assert_eq!(play.count(S3, stands_aside), 1, "a learner does not stand");
    assert_eq!(server(&play, S3).term(), Term(1));
    play.run("cut s1 -> s3\npromote s3\nrun 200ms");
    assert_eq!(commit(&play, S2), last(&play, S1));
    assert!(
        config(&play, S3).learners.contains(S3),
        "it has not heard of it"
    );
    play.run("crash s1\ncampaign s2\nrun 30ms\nexpect s2 leads term 2");
    let votes = |event: &Event| matches!(event, Event::VoteGranted { candidate: S2, .. });
    assert_eq!(play.count(S3, votes), 1);
    play.run("put c1 x \"1\"\nrun 3s\nexpect s3 has x = \"1\"");
    play.assert_kept();
}

#[test]
fn a_learner_gets_everything_and_counts_for_nothing() {
    let mut play = led();
    play.run("add s4 as learner\nrun 200ms\ncrash s2\ncrash s3\nput c1 x \"1\"\nrun 500ms");
    assert_eq!(last(&play, S4), 3);
    assert_eq!(commit(&play, S1), 2, "s1 and a learner are no majority");
    play.run("restart s2\nrun 500ms\nexpect s4 has x = \"1\"");
    play.assert_kept();
}

/// F06, by hand: a removed server that is told to stand does nothing, even if votes arrive.
#[test]
fn f06_a_removed_server_told_to_stand_does_nothing() {
    let mut play = led();
    // It learns of its removal from the next leader, which still knows it as a member for a moment.
    play.run("add s4\nrun 200ms\nadd s5\nrun 200ms\nreconfigure s1 s2 s3\nrun 500ms");
    assert_eq!(
        config(&play, S4),
        joint(&[S1, S2, S3], &[S1, S2, S3, S4, S5])
    );
    play.run("crash s4\nrestart s4\nadd s4 as learner\nrun 300ms\nremove s4\nrun 300ms");
    assert!(!config(&play, S4).voting().contains(S4));
    let term = server(&play, S4).term();
    play.run("campaign s4");
    for voter in [S1, S2, S3] {
        let vote = Message::Vote {
            term,
            granted: true,
        };
        post(&mut play, voter, S4, vote);
    }
    assert_eq!(server(&play, S4).role(), RoleName::Follower);
    assert_eq!(server(&play, S4).term(), term);
    play.assert_kept();
}

/// F06: the order itself, sent to a voter and so late that it finds a removed server.
#[test]
fn f06_an_order_to_stand_that_finds_its_server_removed_moves_nobody() {
    let mut play = led();
    play.run("add s4\nrun 200ms\ntransfer s1 -> s4\ndelay s1>s4#last 1s\nremove s4");
    let given_up = |event: &Event| matches!(event, Event::HandoverGivenUp { to: S4 });
    assert_eq!(play.count(S1, given_up), 1);
    // Nobody tells it of its removal; once it is back as a learner it has read of it.
    play.run("run 200ms\nadd s4 as learner\nrun 200ms\nremove s4\nrun 200ms");
    assert!(!config(&play, S1).members().contains(S4));
    assert!(!config(&play, S4).voting().contains(S4));
    assert_eq!(play.count(S4, stands_aside), 0);
    let log = last(&play, S4);
    play.run("run 1s");
    assert_eq!(play.count(S4, stands_aside), 1, "the order has come");
    play.expect(Rule::OnlyVotersStand, Some(S4), stands_aside);
    for voter in [S1, S2, S3] {
        let vote = Message::Vote {
            term: Term(1),
            granted: true,
        };
        post(&mut play, voter, S4, vote);
    }
    assert_eq!(server(&play, S4).role(), RoleName::Follower);
    assert_eq!((server(&play, S4).term(), last(&play, S4)), (Term(1), log));
    play.run("put c1 x \"1\"\nrun 1s\nexpect s1 leads term 1 and s3 has x = \"1\"");
    play.assert_kept();
}

/// F07. In etcd a change takes effect when it is applied, so that a server with one committed and not applied
/// must not stand. Ours takes effect when it is appended: there is nothing to wait for, and a server stands by
/// the configuration in its log.
#[test]
fn f07_a_change_in_the_log_is_in_force_and_no_reason_to_wait() {
    let mut play = led();
    play.run("cut s2 -> s1\ncut s3 -> s1\nadd s4\nrun 100ms");
    assert_eq!((last(&play, S2), commit(&play, S2)), (2, 1));
    assert_eq!(config(&play, S2), voters(&[S1, S2, S3, S4]));
    play.run("crash s1\ncampaign s2\nrun 10ms");
    assert_eq!(server(&play, S2).role(), RoleName::Candidate);
    let third = |event: &Event| {
        matches!(
            event,
            Event::VoteCounted {
                votes: 3,
                needed: 3,
                ..
            }
        )
    };
    play.run("run 20ms\nexpect s2 leads term 2");
    assert_eq!(play.count(S2, third), 1, "of the four that its log names");
    play.assert_kept();
}

/// Renewals, too, need both majorities: they are confirmed by the same count.
#[test]
fn a_renewal_in_a_joint_configuration_needs_both_majorities() {
    let setup = Setup {
        workers: vec!["A".into()],
        ..patient()
    };
    let mut play = Play::of(
        setup,
        "campaign s1\nrun 200ms\nacquire A orders\nuntil A is granted orders",
    );
    play.run("partition s1 s2 s3 A | s4 s5\nreconfigure s3 s4 s5\nrun 4s");
    let renewed = |event: &Event| matches!(event, Event::RenewalConfirmed { .. });
    assert_eq!(
        play.count(S1, renewed),
        0,
        "s4 and s5 have not agreed that s1 leads"
    );
    play.assert_kept();
}
