//! Elections with their three guards: pre-vote, stickiness, check-quorum; apart, together, and missing.
//!
//! The rules of order for a committee with hecklers: who may call a vote, who may ignore the call, and when a
//! chair who hears nobody must sit down. One tick of the case list is 10 ms here, and so is a message. Pre-vote
//! looks at the log alone, as in etcd; the case list's "PreVote with recency" is pre-vote and stickiness.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::posts::{ask_for_vote, last_vote, patient, post, server, terms};
use crate::play::{Play, S1, S2, S3, ticking, with_switch};
use leasehold_engine::event::{Event, VoteRefusal};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::raft::{Message, RoleName};
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, ProcessId, Term};

const GUARDS: [Switch; 3] = [Switch::Prevote, Switch::Stickiness, Switch::CheckQuorum];

fn with(setup: Setup, guards: &[Switch]) -> Setup {
    let on = |setup, guard: &Switch| with_switch(setup, *guard, "on");
    guards.iter().fold(setup, on)
}

/// s1 leads from 120 ms on; the others stand only when told to. An election timeout is 100 ms. A heartbeat has
/// just been answered, and the next comes in 50 ms: time enough to ask and to be elected.
fn led_by_s1(guards: &[Switch]) -> Play {
    let setup = Setup {
        heartbeat: Duration::millis(60),
        ..with(ticking(3, &[100, 60_000, 60_000]), guards)
    };
    Play::of(setup, "until s1 leads term 1\nrun 80ms")
}

fn stands(event: &Event) -> bool {
    matches!(event, Event::ElectionStarted { .. })
}

/// How often a server became leader since step `from`.
fn new_leaders(play: &Play, from: usize) -> usize {
    let events = play.steps[from..].iter().flat_map(|step| step.events());
    events
        .filter(|event| matches!(event, Event::BecameLeader { .. }))
        .count()
}

fn leader_term(play: &Play) -> u64 {
    play.world.truth().leader().unwrap().1.0
}

/// Dissertation §9.6: with one server the asking, too, needs nobody.
#[test]
fn a02_a_server_alone_leads_without_a_message() {
    for guards in [&[][..], &GUARDS] {
        let mut play = Play::of(
            with(patient(1), guards),
            "campaign s1\nexpect s1 leads term 1",
        );
        play.run("run 1s\nexpect s1 leads term 1");
        let sent = |e: &Event| matches!(e, Event::MessageSent { .. });
        assert_eq!(play.count(S1, sent), 0, "{guards:?}");
    }
}

/// The case list has s3 a follower at the end; in the paper, and here, a candidate that was refused waits for
/// its timeout.
#[test]
fn a11_dueling_candidates_unseat_a_leader_unless_they_ask_first() {
    let script = "cut s1 <-> s3
        campaign s1
        run 100ms
        expect s1 leads term 1
        campaign s3
        run 30ms
        heal
        campaign s3
        run 20ms";
    let play = Play::of(patient(3), script);
    let roles = [S1, S2, S3].map(|id| (server(&play, id).role(), server(&play, id).term()));
    let two = |role| (role, Term(2));
    let follower = two(RoleName::Follower);
    assert_eq!(roles, [follower, follower, two(RoleName::Candidate)]);
    for voter in [S1, S2] {
        let behind = matches!(
            last_vote(&play, voter),
            Some(Some(VoteRefusal::LogBehind { .. }))
        );
        assert!(behind, "its log lacks what s2 has");
    }
    let mut play = Play::of(with(patient(3), &[Switch::Prevote]), script);
    play.run("run 100ms\nexpect s1 leads term 1\nexpect s3 is in term 1");
    assert_eq!(server(&play, S3).leader_known(), Some(S1));
    assert_eq!(play.count(S3, stands), 0);
}

#[test]
fn a13_a_term_that_was_not_durable_is_learned_again_from_refusals() {
    let play = Play::of(
        patient(3),
        "set persist_term_vote off at s1
         cut s2 -> s1
         cut s3 -> s1
         campaign s1
         campaign s1
         campaign s1
         campaign s1
         run 20ms
         crash s1
         restart s1
         expect s1 is in term 0
         expect s3 is in term 4
         heal
         campaign s1
         expect s1 is in term 1
         run 20ms
         expect s1 is in term 4
         expect nobody leads",
    );
    assert_eq!(server(&play, S1).role(), RoleName::Follower);
}

/// The harmful variant: the vote went with the term.
#[test]
fn a13_off_a_forgotten_term_is_voted_in_twice() {
    let script = |switch: &str| {
        format!(
            "cut s2 -> s1
             cut s3 -> s1
             campaign s1
             campaign s1
             campaign s1
             run 20ms
             heal
             {switch}
             cut s2 <-> s3
             campaign s2
             run 25ms
             expect s2 leads term 4
             crash s1                                  -- before the entry reaches it
             run 10ms
             restart s1
             campaign s3
             run 25ms"
        )
    };
    let mut play = Play::of(patient(3), &script("set persist_term_vote off at s1"));
    play.run("expect s3 believes it leads\nexpect breaks election-safety");
    let kept = Play::of(patient(3), &script(""));
    assert_eq!(last_vote(&kept, S1), Some(Some(VoteRefusal::VotedFor(S2))));
    assert_eq!(kept.world.broken(Invariant::ElectionSafety), None);
}

/// etcd#8243: a refusal carries the term of who refuses, and the asker takes it over.
#[test]
fn a14_a_member_with_a_low_term_does_not_block_the_next_election() {
    let mut play = Play::of(
        ticking(3, &[100, 150, 120]),
        "set prevote on at s3
         partition s3 | s1 s2 c1
         until s1 leads term 1
         run 40ms
         campaign s2
         until s2 leads term 2
         run 40ms
         campaign s1
         until s1 leads term 3
         set prevote on
         set stickiness on
         set check_quorum on
         run 300ms
         expect s1 leads term 3",
    );
    assert_eq!(server(&play, S3).term(), Term(0));
    let from = play.ms();
    // s3 asks first, for a term that s2 has long left.
    play.run("heal\ncrash s1\nuntil s2 leads");
    assert!(play.ms() - from <= 500, "{} ms", play.ms() - from);
    let old = |e: &Event| {
        let why = VoteRefusal::OldTerm;
        matches!(e, Event::VoteRefused { candidate: S3, why: w, .. } if *w == why)
    };
    assert!(0 < play.count(S2, old), "it was answered");
    play.expect(Rule::HigherTermWins, Some(S3), |e| {
        matches!(e, Event::TermAdopted { to: Term(3), .. })
    });
    play.run("run 100ms");
    assert_eq!(server(&play, S3).leader_known(), Some(S2));
}

#[test]
fn a15_a_promise_that_comes_late_is_no_vote() {
    let mut play = Play::of(
        with(patient(5), &[Switch::Prevote]),
        "cut s1 -> s2\ncut s1 -> s3\ncut s1 -> s4\ncut s1 -> s5\ncampaign s1",
    );
    let promise = Message::PreVoteAnswer {
        term: Term(1),
        granted: true,
    };
    assert_eq!(server(&play, S1).role(), RoleName::PreCandidate);
    for voter in [S2, S3] {
        assert_eq!(
            server(&play, S1).term(),
            Term(0),
            "nobody has entered term 1"
        );
        post(&mut play, voter, S1, promise.clone());
    }
    assert_eq!(server(&play, S1).role(), RoleName::Candidate);
    for voter in [3, 4].map(ProcessId) {
        post(&mut play, voter, S1, promise.clone());
    }
    let candidate = server(&play, S1);
    assert_eq!(
        (candidate.role(), candidate.votes()),
        (RoleName::Candidate, Some(1))
    );
    assert_eq!(candidate.term(), Term(1));
}

const REJOINS: &str = "until s1 leads term 1
    run 40ms
    partition s3 | s1 s2 c1
    put c1 x \"1\"
    run 1s
    heal
    run 1s";

#[test]
fn b01_who_comes_back_with_a_high_term_unseats_the_leader_unless_it_asks_first() {
    let setup = ticking(3, &[100, 150, 120]);
    let mut play = Play::of(
        setup.clone(),
        "until s1 leads term 1\nrun 40ms\npartition s3 | s1 s2\nuntil s3 is in term 8\nheal\nrun 30ms",
    );
    assert_eq!(
        play.count(S1, |e| matches!(e, Event::SteppedDown { term: Term(1) })),
        1,
        "at the first contact"
    );
    play.run("until some server leads");
    assert!(9 <= leader_term(&play));
    let from = play.steps.len();
    play.run("run 5s");
    assert_eq!(new_leaders(&play, from), 0, "and then it is quiet");
    play.assert_kept();

    // Asking first, it never left term 1, and a log that lacks an entry is promised nothing.
    let play = Play::of(with(setup.clone(), &[Switch::Prevote]), REJOINS);
    assert!(play.holds("s1 leads term 1") && play.holds("s3 is in term 1"));
    assert_eq!(terms(&play, S3), [1, 1]);
    // With a log as good as any the promise is given, unless the leader was heard just now.
    let as_good = REJOINS.replace("put c1 x \"1\"", "");
    let play = Play::of(
        with(setup, &[Switch::Prevote, Switch::Stickiness]),
        &as_good,
    );
    assert!(play.holds("s1 leads term 1") && play.holds("s3 is in term 1"));
}

/// Where the libraries needed a repair, the paper's answer to a stale append is it.
#[test]
fn b02_a_server_with_a_high_term_frees_itself_by_answering_the_leader() {
    let guards = [Switch::Stickiness, Switch::CheckQuorum];
    let script = "until s1 leads term 1\nrun 40ms\npartition s3 | s1 s2\nuntil s3 is in term 6";
    let mut play = Play::of(with(ticking(3, &[100, 150, 170]), &guards), script);
    let from = play.steps.len();
    play.run("heal\nrun 1s");
    assert_eq!(new_leaders(&play, from), 1);
    assert_eq!(leader_term(&play), 7);
    let (leader, _) = play.world.truth().leader().unwrap();
    for id in [S1, S2, S3].into_iter().filter(|id| *id != leader) {
        assert_eq!(server(&play, id).leader_known(), Some(leader));
    }
    // Its answers lost, it calls for votes for ever and nobody listens.
    let mut play = Play::of(with(ticking(3, &[100, 150, 170]), &guards), script);
    play.run("heal\ncut s3 -> s1\nrun 10s\nexpect s1 leads term 1");
    assert_eq!(server(&play, S3).leader_known(), None);
    assert!(Term(50) < server(&play, S3).term());
}

#[test]
fn b03_a_vote_is_refused_while_the_leader_is_fresh() {
    let mut play = led_by_s1(&[Switch::Stickiness, Switch::CheckQuorum]);
    // s1 hears nobody and is heard by s3 alone; s2 can call, and what s2 would answer reaches nobody.
    play.run("cut s1 -> s2\ncut s3 -> s1\ncampaign s2\nrun 10ms");
    for voter in [S1, S3] {
        assert_eq!(
            last_vote(&play, voter),
            Some(Some(VoteRefusal::LeaderFresh(S1)))
        );
        assert_eq!(server(&play, voter).term(), Term(1), "it did not even look");
    }
    let from = play.ms();
    play.run("until s1 steps down");
    assert!(play.ms() - from <= 200);
    play.run("heal s1 -> s2\ncampaign s2\nrun 25ms\nexpect s2 leads term 3");
    assert_eq!(last_vote(&play, S1), Some(None), "it follows nobody");
    assert_eq!(
        last_vote(&play, S3),
        Some(Some(VoteRefusal::LeaderFresh(S1))),
        "it has heard s1 until just now"
    );
}

#[test]
fn b04_check_quorum_steps_down_after_one_to_two_windows() {
    for tick in 0..10 {
        let setup = with(ticking(3, &[100, 60_000, 60_000]), &[Switch::CheckQuorum]);
        let mut play = Play::of(setup, "until s1 leads");
        // The second window begins 100 ms later; the answers of that very tick are heard in it.
        play.run(&format!("run {}ms", 100 + 10 * tick));
        let lost = play.ms();
        play.run("partition s1 | s2 s3\nrun 1s");
        let down = play.times(S1, |e| matches!(e, Event::SteppedDown { .. }));
        assert_eq!(
            down,
            [lost + 200 - 10 * tick],
            "{tick} ticks after the check"
        );
        assert_eq!(
            server(&play, S1).role(),
            RoleName::Candidate,
            "and stands again"
        );
    }
}

/// The same for a leader that no follower ever answered: it goes at the end of its first window.
#[test]
fn b04_a_leader_that_nobody_answers_goes_after_one_window() {
    let setup = with(ticking(3, &[100, 60_000, 60_000]), &[Switch::CheckQuorum]);
    let mut play = Play::of(setup, "until s1 leads");
    let led = play.ms();
    play.run("partition s1 | s2 s3\nrun 1s");
    let down = play.times(S1, |e| matches!(e, Event::SteppedDown { .. }));
    assert_eq!(down, [led + 100]);
}

/// Why a leader goes: it heard of a higher term, though it has not heard who leads it.
#[test]
fn a_leader_that_hears_of_a_higher_term_goes_because_of_that() {
    let mut play = Play::of(ticking(3, &[100, 60_000, 60_000]), "until s1 leads");
    post(&mut play, S2, S1, ask_for_vote(7, (0, 0)));
    let went = |e: &Event| matches!(e, Event::SteppedDown { term: Term(1) });
    play.expect(Rule::HigherTermWins, Some(S1), went);
}

#[test]
fn b05_a_leader_that_hears_a_majority_stays() {
    let mut play = led_by_s1(&[Switch::CheckQuorum]);
    play.run("crash s3\nrun 30s\nexpect s1 leads term 1");
    let checked = |e: &Event| {
        matches!(
            e,
            Event::QuorumChecked {
                heard: 2,
                needed: 2
            }
        )
    };
    assert!(290 < play.count(S1, checked));
}

/// The switch turned while a leader leads: it counts from its next heartbeat on, or stops counting.
#[test]
fn check_quorum_can_be_turned_under_a_leader() {
    let mut play = led_by_s1(&[]);
    play.run("partition s1 | s2 s3\nrun 1s\nexpect s1 believes it leads");
    play.run("set check_quorum on\nrun 170ms\nexpect s1 does not believe it leads");
    let mut play = led_by_s1(&[Switch::CheckQuorum]);
    play.run("partition s1 | s2 s3\nset check_quorum off\nrun 1s\nexpect s1 believes it leads");
}

#[test]
fn b06_a_promise_goes_to_a_log_as_up_to_date() {
    let setup = Setup {
        heartbeat: Duration::millis(200),
        ..with(patient(3), &[Switch::Prevote])
    };
    let mut play = Play::of(
        setup,
        "campaign s1
         run 100ms
         cut s1 -> s3
         put c1 x \"1\"
         run 100ms
         campaign s3
         run 30ms",
    );
    for voter in [S1, S2] {
        let behind = matches!(
            last_vote(&play, voter),
            Some(Some(VoteRefusal::LogBehind { .. }))
        );
        assert!(behind);
    }
    play.run("expect s3 is in term 1\nexpect s1 leads term 1\nheal\ncampaign s2\nrun 60ms\nexpect s2 leads term 2");
    let promised = |e: &Event| {
        let term = Term(2);
        matches!(e, Event::PrevoteGranted { candidate: S2, term: t } if *t == term)
    };
    assert_eq!([S1, S3].map(|id| play.count(id, promised)), [1, 1]);
}

/// s3 is told to stand, with a log as good as any and a leader that everybody hears.
#[test]
fn b07_of_the_three_guards_stickiness_alone_keeps_a_healthy_leader() {
    for set in 0..8 {
        let on = |at: usize| set >> at & 1 == 1;
        let guards: Vec<Switch> = (0..3).filter(|at| on(*at)).map(|at| GUARDS[at]).collect();
        let mut play = led_by_s1(&guards);
        play.run("campaign s3\nrun 100ms");
        let won = play.holds("s3 leads term 2");
        assert_eq!(won, !guards.contains(&Switch::Stickiness), "{guards:?}");
        if !won {
            let why = Some(Some(VoteRefusal::LeaderFresh(S1)));
            assert_eq!([last_vote(&play, S1), last_vote(&play, S2)], [why, why]);
        }
        // Without asking first s3 is in term 2, and its answer to a heartbeat tells s1 so (B02).
        let kept = guards.contains(&Switch::Stickiness) && guards.contains(&Switch::Prevote);
        assert_eq!(play.holds("s1 leads term 1"), kept, "{guards:?}");
    }
}

#[test]
fn b08_two_followers_that_both_gave_up_on_a_leader_may_replace_it() {
    let setup = Setup {
        heartbeat: Duration::millis(60),
        ..with(ticking(3, &[60_000, 60_000, 100]), &GUARDS)
    };
    let mut play = Play::of(
        setup,
        "until s3 leads term 1\nrun 75ms\ncampaign s1\nrun 15ms",
    );
    for voter in [S2, S3] {
        assert_eq!(
            last_vote(&play, voter),
            Some(Some(VoteRefusal::LeaderFresh(S3)))
        );
    }
    assert_eq!(server(&play, S1).role(), RoleName::PreCandidate);
    // s1 follows nobody now, so it may promise s2, though s3 is alive and heard.
    play.run("campaign s2\nrun 45ms\nexpect s2 leads term 2\nrun 1s");
    play.assert_kept();
}

#[test]
fn b09_a_fleet_in_which_one_does_not_ask_first_yet_does_not_block() {
    let mut play = Play::of(
        ticking(3, &[100, 150, 170]),
        "set prevote on at s1
         set prevote on at s2
         partition s3 | s1 s2 c1
         until s1 leads term 1
         crash s1
         restart s1
         until s1 leads term 2
         put c1 x \"1\"
         until s3 is in term 4
         set prevote on
         expect s1 leads term 2
         heal
         crash s1
         until s2 leads",
    );
    assert!(
        5 <= leader_term(&play),
        "it learned of term 4 and went beyond"
    );
    let learned = |e: &Event| {
        matches!(
            e,
            Event::TermAdopted {
                from: Term(2),
                to: Term(4)
            }
        )
    };
    assert_eq!(play.count(S2, learned), 1);
    play.run("run 200ms\nexpect s3 has x = \"1\"");
    play.assert_kept();
}

/// What each liveness switch is for: the same script makes progress with it on, and none with it off.
#[test]
fn each_liveness_switch_has_a_script_that_goes_nowhere_without_it() {
    // s3 sends and hears nothing; its timeout is the shortest.
    let deaf = "campaign s1
        run 40ms
        expect s1 leads term 1
        cut s1 -> s3
        cut s2 -> s3
        run 2s
        put c1 x \"1\"
        run 20s";
    // s1 sends and hears no server; its heartbeats keep the others quiet. Once it stands for election in vain,
    // asking first keeps it from unseating its successor.
    let mute = "campaign s1
        run 40ms
        expect s1 leads term 1
        cut s2 -> s1
        cut s3 -> s1
        run 1s
        put c1 x \"1\"
        run 20s";
    let restarted = "until s1 leads term 1
        put c1 x \"1\"
        run 200ms
        crash s1
        crash s2
        crash s3
        restart s1
        restart s2
        restart s3
        run 20s";
    let by_s3 = ticking(3, &[150, 170, 110]);
    let by_s1 = ticking(3, &[100, 150, 170]);
    let by_s2 = with(ticking(3, &[170, 100, 150]), &[Switch::Prevote]);
    for (switch, setup, script) in [
        (Switch::Prevote, &by_s3, deaf),
        (Switch::Stickiness, &by_s3, deaf),
        (Switch::CheckQuorum, &by_s2, mute),
        (Switch::NoopOnElection, &by_s1, restarted),
    ] {
        for word in ["off", "on"] {
            let play = Play::of(with_switch(setup.clone(), switch, word), script);
            let done = play.holds("s1 has x = \"1\"") || play.holds("s2 has x = \"1\"");
            assert_eq!(done, word == "on", "{switch} {word}");
            play.assert_kept();
        }
    }
}
