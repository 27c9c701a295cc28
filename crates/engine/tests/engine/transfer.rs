//! Leadership handed over: to whom, how fast, and what happens when it does not come off.
//!
//! A change of chairs rehearsed: the successor is brought up to date, told to stand, and elected before anybody
//! has missed the old one. One tick of the case list is 10 ms here, and so is a message; an election timeout is
//! 100 ms, and pre-vote, stickiness and check-quorum are on.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::posts::{last_vote, patient, post, server, terms};
use crate::play::{A, LEASE, Play, S1, S2, S3, stage, ticking, with_switch};
use leasehold_engine::command::CommandError;
use leasehold_engine::event::{Event, MessageKind};
use leasehold_engine::raft::{Message, RoleName};
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, ProcessId, Term};

/// s1 leads term 1, a heartbeat has just been answered, and the others stand only when told to.
fn led_by_s1() -> Play {
    let setup = Setup {
        heartbeat: Duration::millis(60),
        ..ticking(3, &[100, 60_000, 60_000])
    };
    let guards = [Switch::Prevote, Switch::Stickiness, Switch::CheckQuorum];
    let setup = guards
        .iter()
        .fold(setup, |setup, guard| with_switch(setup, *guard, "on"));
    Play::of(setup, "until s1 leads term 1\nrun 80ms")
}

/// Three servers and a fourth that stands by.
fn with_a_spare() -> Setup {
    Setup {
        spares: 1,
        election_fixed: vec![Duration::secs(60); 4],
        ..patient(3)
    }
}

fn given_up(event: &Event) -> bool {
    matches!(event, Event::HandoverGivenUp { .. })
}

fn refused(event: &Event) -> bool {
    matches!(event, Event::WorkRefused { .. })
}

/// Dissertation §3.10: the order, the call and a vote; nobody asks first, and a fresh leader is no hindrance.
#[test]
fn f01_a_server_that_is_up_to_date_leads_three_messages_later() {
    let mut play = led_by_s1();
    play.run("transfer s1 -> s2");
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    play.run("run 30ms\nexpect s2 leads term 2");
    assert_eq!(
        [last_vote(&play, S1), last_vote(&play, S3)],
        [Some(None); 2]
    );
    play.expect(Rule::ToldToStand, Some(S2), |e| {
        matches!(e, Event::ElectionStarted { term: Term(2) })
    });
    assert_eq!(server(&play, S1).transferring(), None);
    play.run("put c1 x \"1\"\nrun 1s\nexpect s3 has x = \"1\"\nexpect s2 leads term 2");
    assert_eq!(play.count(S1, given_up), 0);
    play.assert_kept();
}

/// What is behind is brought up first. With a snapshot the same holds: it counts once it is applied.
#[test]
fn f02_a_server_that_lags_is_brought_up_to_date_first() {
    let mut play = led_by_s1();
    play.run(
        "cut s1 <-> s2
         put c1 x \"1\"
         run 90ms
         expect s1 has x = \"1\"
         heal
         transfer s1 -> s2",
    );
    assert_eq!(terms(&play, S2), [1]);
    play.run("until s2 leads term 2");
    assert_eq!(terms(&play, S2), [1, 1, 2]);
    let stored = play.times(S2, |e| matches!(e, Event::EntriesStored { .. }));
    let stood = play.times(S2, |e| matches!(e, Event::ElectionStarted { .. }));
    assert_eq!(stood.len(), 1);
    assert!(*stored.last().unwrap() < stood[0], "{stored:?} {stood:?}");
    let told = |e: &Event| {
        let order = MessageKind::TimeoutNow;
        matches!(e, Event::MessageSent { kind, .. } if *kind == order)
    };
    assert_eq!(play.count(S1, told), 1);
    play.assert_kept();
}

#[test]
fn f03_a_handover_to_a_dead_server_is_given_up_after_an_election_timeout() {
    let mut play = led_by_s1();
    play.run("crash s2\ntransfer s1 -> s2");
    let began = play.ms();
    play.run("run 50ms\nput c1 x \"1\"\nrun 10ms");
    assert_eq!(play.count(S1, refused), 1, "at once, not lost in silence");
    assert_eq!(terms(&play, S1), [1]);
    // Asking again for the same one does not give it more time.
    let again = CommandError::HandingOver {
        name: "s1".into(),
        to: "s2".into(),
    };
    assert_eq!(play.refusal("transfer s1 -> s2"), again);
    play.run("run 500ms\nexpect s1 leads term 1");
    assert_eq!(play.times(S1, given_up), [began + 100]);
    play.run("run 2s\nexpect s1 has x = \"1\"\nexpect c1 is told accepted");
    assert_eq!(play.count(S1, refused), 1);
}

#[test]
fn f03_another_successor_replaces_the_first_and_has_its_full_time() {
    let mut play = led_by_s1();
    play.run("crash s2\ntransfer s1 -> s2\nrun 60ms");
    let mut other = Play {
        world: play.world.clone(),
        steps: Vec::new(),
    };
    other.run("transfer s1 -> s3\nrun 30ms\nexpect s3 leads term 2");
    // The second, too, is given up in its time: s3 does not hear the order, and s1 hears s3 well.
    play.run("cut s1 -> s3\ntransfer s1 -> s3");
    let began = play.ms();
    play.run("heal\nrun 110ms");
    let gave_up_on = |e: &Event| matches!(e, Event::HandoverGivenUp { to: S3 });
    assert_eq!(play.times(S1, gave_up_on), [began + 100]);
    assert_eq!(play.count(S1, given_up), 1);
    play.run("expect s1 leads term 1");
}

/// `with_a_spare`, led by s1, which hands over to s2; s2 has crashed, so that it is not brought up to date.
fn handing_over_in_vain() -> Play {
    let mut play = Play::new(with_a_spare());
    play.run("campaign s1\nrun 100ms\ncrash s2\ntransfer s1 -> s2\nrun 10ms");
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    play
}

/// TestLeaderTransferRemoveNode. There the removal was proposed before; ours may be asked for meanwhile, since it
/// is the operator's and no client's work, and counts from when it is appended.
#[test]
fn f04_a_successor_that_is_removed_ends_the_handover_at_once() {
    let mut play = handing_over_in_vain();
    play.run("put c1 x \"1\"\nrun 10ms");
    assert_eq!(play.count(S1, refused), 1);
    play.run("remove s2");
    let removed = play.ms();
    assert_eq!(play.times(S1, given_up), [removed]);
    play.expect(Rule::OnlyVotersStand, Some(S1), given_up);
    assert_eq!(server(&play, S1).transferring(), None);
    play.run("put c1 y \"2\"\nrun 5s\nexpect s3 has y = \"2\"");
    assert_eq!(play.count(S1, refused), 1, "it takes work again");
    play.run("run 2s\nexpect s1 leads term 1 and s3 has x = \"1\"");
    assert_eq!(
        play.count(S1, given_up),
        1,
        "not once more when its time is over"
    );
    let no_vote = CommandError::NoVote { name: "s2".into() };
    assert_eq!(play.refusal("transfer s1 -> s2"), no_vote);
    play.assert_kept();
}

/// TestLeaderTransferDemoteNode. A demotion is a removal and an addition as learner here. Left out of a joint
/// configuration, a successor keeps its vote until that is left, and so long the handover goes on; as in etcd.
#[test]
fn f04_a_successor_that_loses_its_vote_ends_the_handover() {
    let mut play = handing_over_in_vain();
    play.run("reconfigure s1 s3\nrun 10ms");
    assert!(server(&play, S1).config().is_joint());
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    play.run("run 15ms");
    assert!(!server(&play, S1).config().is_joint());
    assert_eq!(server(&play, S1).transferring(), None);
    play.expect(Rule::OnlyVotersStand, Some(S1), given_up);
    play.run("run 50ms\nadd s2 as learner\nrestart s2\nrun 500ms\nexpect s1 leads term 1");
    assert_eq!(terms(&play, S2), terms(&play, S1));
    let no_vote = CommandError::NoVote { name: "s2".into() };
    assert_eq!(play.refusal("transfer s1 -> s2"), no_vote);
    assert_eq!(play.count(S1, given_up), 1);
    play.assert_kept();
}

/// Another server's removal is no reason to give up.
#[test]
fn f04_the_removal_of_a_bystander_leaves_the_handover_alone() {
    let mut play = Play::new(with_a_spare());
    play.run("campaign s1\nrun 100ms\nadd s4\nrun 100ms\ncut s1 -> s2\nput c1 x \"1\"\nrun 30ms");
    play.run("heal\ntransfer s1 -> s2\nremove s4");
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    play.run("run 100ms\nexpect s2 leads term 2");
    assert_eq!(play.count(S1, given_up), 0);
    play.assert_kept();
}

/// What is said cannot be unsaid: told to stand before it was removed, it stands, since its own log still names
/// it. Where its removal has arrived its log is behind; where it has not, it wins, and the removal goes.
#[test]
fn f04_a_removed_successor_that_was_told_already_wins_only_where_the_removal_is_unknown() {
    let removed = |hold: &str| {
        let mut play = Play::new(with_a_spare());
        play.run("campaign s1\nrun 100ms\ntransfer s1 -> s2\nremove s2");
        assert_eq!(play.times(S1, given_up), [play.ms()]);
        play.run(hold);
        play.run("run 50ms");
        play
    };
    let mut play = removed("");
    assert_eq!(last_vote(&play, S3).map(|why| why.is_some()), Some(true));
    play.run("expect nobody leads\ncampaign s1\nrun 100ms\nexpect s1 leads term 3");
    for id in [S1, S3] {
        assert!(!server(&play, id).config().voting().contains(S2));
    }
    play.run("put c1 x \"1\"\nrun 2s\nexpect s3 has x = \"1\"");
    play.assert_kept();

    let mut play = removed("drop s1>s3#last");
    play.run("expect s2 leads term 2\nput c1 x \"1\"\nrun 2s\nexpect s1 has x = \"1\"");
    for id in [S1, S2, S3] {
        assert!(server(&play, id).config().voters.contains(S2));
    }
    play.assert_kept();
}

/// Dissertation §4.2.2: it leads until its removal is committed. The answer that commits it also shows that the
/// successor is up to date, which is told before the leader leaves; nobody waits for an election timeout.
#[test]
fn f04_a_leader_that_removes_itself_while_it_hands_over_tells_its_successor_first() {
    let mut play = Play::new(with_a_spare());
    play.run(
        "campaign s1
         run 100ms
         cut s1 -> s2
         put c1 x \"1\"
         run 30ms
         heal
         transfer s1 -> s2
         remove s1",
    );
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    play.run("run 80ms\nexpect s2 leads term 2");
    play.expect(Rule::RemovedLeaderStepsDown, Some(S1), |e| {
        matches!(e, Event::SteppedDown { term: Term(1) })
    });
    assert_eq!(play.count(S1, given_up), 0);
    assert!(!server(&play, S2).config().voting().contains(S1));
    play.run("put c1 y \"2\"\nrun 2s\nexpect s3 has y = \"2\" and s2 leads term 2");
    play.assert_kept();
}

/// The same with a successor that cannot be brought up to date in time: the leader leaves all the same, and the
/// others elect whom they like.
#[test]
fn f04_a_leader_that_removes_itself_does_not_wait_for_its_successor() {
    let setup = Setup {
        election_fixed: [60_000, 60_000, 500, 60_000, 60_000]
            .map(Duration::millis)
            .to_vec(),
        ..patient(5)
    };
    let mut play = Play::new(setup);
    play.run("campaign s1\nrun 100ms\ncrash s2\ntransfer s1 -> s2\nremove s1\nrun 30ms");
    assert_eq!(server(&play, S1).role(), RoleName::Follower);
    assert_eq!(server(&play, S1).transferring(), None);
    play.run("run 1s\nexpect s3 leads term 2\nput c1 x \"1\"\nrun 2s\nexpect s4 has x = \"1\"");
    assert_eq!(
        play.count(S1, given_up),
        0,
        "its time does not run out any more"
    );
    play.assert_kept();
}

#[test]
fn f05_only_a_leader_hands_over_and_only_to_another_voter() {
    let named = |name: &str| name.to_owned();
    let mut play = Play::new(with_a_spare());
    play.run("campaign s1\nrun 100ms");
    assert_eq!(
        play.refusal("transfer s2 -> s1"),
        CommandError::NotLeader { name: named("s2") }
    );
    assert_eq!(
        play.refusal("transfer s1 -> s1"),
        CommandError::SameProcess { name: named("s1") }
    );
    assert_eq!(
        play.refusal("transfer s1 -> s4"),
        CommandError::NoVote { name: named("s4") }
    );
    let unknown = play.refusal("transfer s1 -> s9");
    assert!(matches!(unknown, CommandError::UnknownProcess { .. }));
    let no_server = play.refusal("transfer s1 -> c1");
    assert!(matches!(no_server, CommandError::WrongKind { .. }));
    play.run("crash s1");
    assert_eq!(
        play.refusal("transfer s1 -> s2"),
        CommandError::Crashed { name: named("s1") }
    );
}

#[test]
fn f06_an_order_to_stand_moves_nobody_who_has_no_vote() {
    let s4 = ProcessId(3);
    let mut play = Play::new(with_a_spare());
    post(&mut play, S1, s4, Message::TimeoutNow { term: Term(1) });
    for voter in [S1, S2, S3] {
        let vote = Message::Vote {
            term: Term(1),
            granted: true,
        };
        post(&mut play, voter, s4, vote);
    }
    assert_eq!(server(&play, s4).role(), RoleName::Follower);
    assert_eq!(play.count(s4, |e| matches!(e, Event::StoodAside)), 1);
}

#[test]
fn an_order_of_an_older_term_or_to_a_leader_moves_nobody() {
    let mut play = Play::of(patient(3), "campaign s1\nrun 100ms\ncampaign s2\nrun 100ms");
    post(&mut play, S1, S3, Message::TimeoutNow { term: Term(1) });
    post(&mut play, S1, S2, Message::TimeoutNow { term: Term(2) });
    play.run("run 100ms\nexpect s2 leads term 2\nexpect s3 is in term 2");
    let stood = |e: &Event| matches!(e, Event::ElectionStarted { .. });
    assert_eq!([play.count(S2, stood), play.count(S3, stood)], [1, 0]);
}

/// A renewal is no entry: a holder is not made to doubt by a handover that takes long.
#[test]
fn renewals_go_on_while_a_leader_hands_over() {
    let mut play = Play::of(
        stage(),
        "acquire A orders\nat 1.7s\ncrash s2\ntransfer s1 -> s2\nat 3.1s",
    );
    assert_eq!(server(&play, S1).transferring(), Some(S2));
    let confirmed = |e: &Event| {
        let who = A;
        matches!(e, Event::RenewalConfirmed { worker, resource: LEASE, .. } if *worker == who)
    };
    assert_eq!(play.count(S1, confirmed), 1);
    play.run("run 30s\nexpect A holds orders with token 1");
    play.assert_kept();
}
