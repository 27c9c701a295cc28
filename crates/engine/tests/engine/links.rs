//! Bad links: what elections make of networks in which not everybody hears everybody.
//!
//! A conference call on which some can hear and not speak. "Who is connected" is no relation that can be chained:
//! two that cannot talk may both talk to a third. One tick of the case list is 10 ms here, and so is a message;
//! where timeouts are drawn, they are from 100 to 199 ms. The case list's "PreVote with recency" is pre-vote
//! together with stickiness; a follower here answers a stale append, as in the paper, where the libraries that the
//! list quotes stay silent unless a guard is on.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play::posts::{append, ask_for_vote, commit, last_vote, patient, post, server, terms};
use crate::play::{Play, S1, S2, S3, ticking, with_switch};
use leasehold_engine::event::{AppendRefusal, Event, VoteRefusal};
use leasehold_engine::raft::Message;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch::{self, CheckQuorum, Prevote, Stickiness};
use leasehold_engine::units::{Duration, LogIndex, ProcessId, Term};

const S4: ProcessId = ProcessId(3);

fn with(setup: Setup, guards: &[Switch]) -> Setup {
    let on = |setup, guard: &Switch| with_switch(setup, *guard, "on");
    guards.iter().fold(setup, on)
}

/// Timeouts are drawn anew each time.
fn drawn(servers: u8, seed: u64, guards: &[Switch]) -> Setup {
    let setup = Setup {
        seed,
        election_fixed: Vec::new(),
        election_min: Duration::millis(100),
        election_max: Duration::millis(199),
        client_attempts: 20,
        ..ticking(servers, &[])
    };
    with(setup, guards)
}

/// s3 leads, and then these links are all there is.
fn linked(servers: u8, seed: u64, guards: &[Switch], links: &[(u8, u8)]) -> Play {
    let mut play = Play::of(
        drawn(servers, seed, guards),
        "campaign s3\nrun 60ms\nexpect s3 leads",
    );
    for from in 1..=servers {
        for to in from + 1..=servers {
            if !links.contains(&(from, to)) {
                play.run(&format!("cut s{from} <-> s{to}"));
            }
        }
    }
    play.steps.clear();
    play
}

fn new_leaders(play: &Play) -> usize {
    let events = play.steps.iter().flat_map(|step| step.events());
    events
        .filter(|event| matches!(event, Event::BecameLeader { .. }))
        .count()
}

fn stood(event: &Event) -> bool {
    matches!(event, Event::ElectionStarted { .. })
}

#[test]
fn e01_only_the_side_with_the_majority_goes_on() {
    for guards in [&[][..], &[CheckQuorum]] {
        let setup = ticking(5, &[100, 190, 150, 170, 210]);
        let mut play = Play::of(
            with(setup, guards),
            "until s1 leads term 1
             run 40ms
             partition s1 s2 c1 | s3 s4 s5
             put c1 x \"1\"
             run 200ms
             expect s3 leads term 2
             run 100ms",
        );
        let demoted = guards.contains(&CheckQuorum);
        assert_eq!(play.holds("s1 believes it leads"), !demoted, "{guards:?}");
        assert_eq!(terms(&play, S1), [1, 1]);
        assert_eq!(commit(&play, S1), 1, "nothing commits on two of five");
        play.run("heal\nrun 1s");
        let (leader, term) = play.world.truth().leader().unwrap();
        assert!(Term(2) <= term);
        assert_eq!(terms(&play, S1), terms(&play, leader));
        assert_eq!(terms(&play, S1)[1], 2, "its own second entry is replaced");
        play.assert_kept();
    }
}

const TWO_LEAF: [(u8, u8); 5] = [(1, 2), (1, 3), (2, 3), (2, 4), (3, 5)];

/// Howard and Abraham: s4 hangs on a follower and cannot hear the leader.
#[test]
fn e02_a_leaf_that_does_not_hear_the_leader_disrupts_for_ever() {
    for seed in 1..=5 {
        let mut play = linked(5, seed, &[], &TWO_LEAF);
        play.run("run 20s");
        assert!(
            20 <= new_leaders(&play),
            "seed {seed}: {}",
            new_leaders(&play)
        );
        assert!(
            1 < commit(&play, S1),
            "between two disruptions something commits"
        );
        // Alone it cannot win, so that asking first is enough here; its term stays.
        for guards in [&[Prevote][..], &[Prevote, Stickiness]] {
            let mut play = linked(5, seed, guards, &TWO_LEAF);
            play.run("run 20s\nexpect s3 leads term 1\nexpect s4 is in term 1");
            assert_eq!(new_leaders(&play), 0, "seed {seed}");
        }
        // Its term climbs, and nobody listens.
        let mut play = linked(5, seed, &[Stickiness], &TWO_LEAF);
        play.run("run 20s\nexpect s3 leads term 1");
        assert_eq!(new_leaders(&play), 0, "seed {seed}");
        assert!(Term(50) < server(&play, S4).term());
    }
}

/// Omni-Paxos, figure 1a: only s1 is linked to everybody, and s3 leads.
#[test]
fn e03_the_hub_of_a_star_can_lead_only_once_the_old_leader_lets_go() {
    let star = [(1, 2), (1, 3), (1, 4), (1, 5)];
    for seed in 1..=5 {
        for (guards, progress) in [
            (&[][..], true),
            (&[Prevote], false),
            (&[Stickiness], false),
            (&[CheckQuorum], true),
            (&[Prevote, CheckQuorum], true),
            (&[Prevote, Stickiness, CheckQuorum], true),
        ] {
            let mut play = linked(5, seed, guards, &star);
            play.run("run 5s\nput c1 x \"1\"\nrun 10s");
            assert_eq!(
                play.holds("s1 has x = \"1\""),
                progress,
                "seed {seed} {guards:?}"
            );
            assert_eq!(play.holds("s1 leads"), progress, "seed {seed} {guards:?}");
            play.assert_kept();
        }
    }
}

/// Omni-Paxos, figure 1c: s2 is the bridge between s1 and the leader s3.
#[test]
fn e04_a_chain_is_disrupted_until_its_bridge_leads() {
    let chain = [(1, 2), (2, 3)];
    for seed in 1..=10 {
        for guards in [&[][..], &[CheckQuorum]] {
            let mut play = linked(3, seed, guards, &chain);
            play.run("until s2 leads");
            assert!(1 <= new_leaders(&play));
            play.steps.clear();
            play.run("put c1 x \"1\"\nrun 10s\nexpect s2 leads\nexpect s1 has x = \"1\"");
            assert_eq!(new_leaders(&play), 0, "seed {seed}: and then it is quiet");
        }
        for guards in [&[Stickiness][..], &[Prevote, Stickiness]] {
            let mut play = linked(3, seed, guards, &chain);
            play.run("put c1 x \"1\"\nrun 10s\nexpect s3 leads term 1\nexpect s2 has x = \"1\"");
            assert_eq!(new_leaders(&play), 0, "seed {seed} {guards:?}");
        }
        // A pre-vote that looks at the log alone helps as soon as s1's log has fallen behind, not before.
        let mut play = linked(3, seed, &[Prevote], &chain);
        play.run("put c1 x \"1\"\nrun 10s\nexpect s3 leads term 1");
        let mut play = linked(3, seed, &[Prevote], &chain);
        play.run("run 10s");
        assert!(1 <= new_leaders(&play), "seed {seed}");
    }
}

/// s3 sends and hears nothing. Here a rise of term alone does not reset a timer, as it does in the libraries: it
/// is s3's log, as good as any, that gets it the others' votes, and a vote resets the voter's timer.
#[test]
fn e05_a_deaf_server_with_the_shortest_timeout_starves_all_others() {
    let script = "campaign s1
        run 40ms
        expect s1 leads term 1
        cut s1 -> s3
        cut s2 -> s3
        run 1s";
    let setup = ticking(3, &[150, 170, 110]);
    let mut play = Play::of(setup.clone(), script);
    assert_eq!(play.count(S3, stood), 9, "every 110 ms");
    play.run("run 10s\nexpect nobody leads");
    let led = |e: &Event| matches!(e, Event::BecameLeader { .. });
    assert_eq!([S1, S2, S3].map(|id| play.count(id, led)), [1, 0, 0]);
    for guards in [&[Stickiness][..], &[Prevote], &[Prevote, Stickiness]] {
        let mut play = Play::of(with(setup.clone(), guards), script);
        play.run("put c1 x \"1\"\nrun 10s\nexpect s1 leads term 1\nexpect s2 has x = \"1\"");
    }
}

#[test]
fn e06_a_leader_that_hears_nobody_keeps_everybody_quiet_unless_it_checks() {
    let script = "campaign s1
        run 40ms
        expect s1 leads term 1
        cut s2 -> s1
        cut s3 -> s1";
    let setup = ticking(3, &[170, 100, 150]);
    let mut play = Play::of(setup.clone(), script);
    play.run("put c1 x \"1\"\nrun 10s\nexpect s1 leads term 1");
    assert_eq!(commit(&play, S1), 1, "nothing commits, and nobody stands");
    assert_eq!([S2, S3].map(|id| play.count(id, stood)), [0, 0]);

    let mut play = Play::of(with(setup.clone(), &[CheckQuorum]), script);
    let lost = play.ms();
    play.run("until s1 steps down");
    assert!(play.ms() - lost <= 200);
    play.run("until some server leads\nexpect s2 leads term 2");
    // Deaf now, s1 goes on to disrupt whoever leads (E05); asking first, it does not.
    let mut play = Play::of(with(setup, &[CheckQuorum, Prevote]), script);
    play.run("until s2 leads term 2\nput c1 x \"1\"\nrun 10s\nexpect s2 leads term 2\nexpect s3 has x = \"1\"");
    play.assert_kept();
}

#[test]
fn e07_a_follower_that_cannot_be_heard_does_not_stand_while_it_hears() {
    let mut play = Play::of(
        ticking(3, &[150, 110, 170]),
        "campaign s1\nrun 40ms\nexpect s1 leads term 1\ncut s2 -> s1\ncut s2 -> s3\nrun 400ms",
    );
    assert_eq!(play.count(S2, stood), 0);
    play.run("put c1 x \"1\"\nrun 1s\nexpect s1 leads term 1\nexpect s2 has x = \"1\"");
}

/// Cloudflare, 2020-11-27: no server crashed. s1 and the leader s3 cannot talk, s2 can talk with both and is slow
/// to stand. s1 takes the lead by s2, and s3, which does not hear it, unseats it each time.
#[test]
fn e08_two_that_cannot_talk_unseat_each_other_for_ever() {
    let script = "campaign s3
        run 40ms
        expect s3 leads term 1
        cut s1 <-> s3
        run 10s";
    let setup = ticking(3, &[100, 60_000, 110]);
    let play = Play::of(setup.clone(), script);
    let led = |e: &Event| matches!(e, Event::BecameLeader { .. });
    let turns = [S1, S2, S3].map(|id| play.count(id, led));
    assert!(40 <= turns[0] && turns[1..] == [0, 1], "{turns:?}");
    assert!(
        40 <= play.count(S3, stood),
        "its log is behind, its term is not"
    );
    play.assert_kept();
    let play = Play::of(with(setup, &[Prevote, Stickiness, CheckQuorum]), script);
    assert_eq!([S1, S2, S3].map(|id| play.count(id, led)), [0, 0, 1]);
}

#[test]
fn e09_every_message_twice_and_in_any_order_changes_nothing() {
    for guards in [&[][..], &[Prevote, Stickiness, CheckQuorum]] {
        let play = |duplication_ppm| {
            let setup = Setup {
                duplication_ppm,
                latency_min: Duration::millis(5),
                latency_max: Duration::millis(15),
                ..with(ticking(3, &[100, 150, 200]), guards)
            };
            let mut play = Play::of(setup, "until s1 leads term 1");
            for n in 1..=5 {
                play.run(&format!("put c1 x{n} \"{n}\"\nrun 200ms"));
            }
            play.run("crash s1\nuntil s2 leads term 2\nrestart s1\nput c1 y \"6\"\nrun 3s\ncrash s2\nuntil s1 leads\nrestart s2\nrun 1s");
            play.assert_kept();
            play
        };
        let (once, twice) = (play(0), play(1_000_000));
        // A client's doubled request is two entries, of which the second does nothing.
        let told = |play: &Play, id| {
            let server = server(play, id);
            let mut entries: Vec<_> = server.log().iter().cloned().collect();
            entries.dedup();
            (server.term(), entries, server.registry().clone())
        };
        for id in [S1, S2, S3] {
            assert_eq!(told(&once, id), told(&twice, id), "{guards:?}");
            assert_eq!(commit(&twice, id), commit(&twice, S1));
        }
        let doubled = |e: &Event| matches!(e, Event::MessageDuplicated { .. });
        assert!(100 < twice.count(S1, doubled));
    }
}

#[test]
fn e10_a_message_from_the_far_past_changes_nothing() {
    let mut play = Play::of(
        patient(3),
        "campaign s1
         run 40ms
         cut s1 -> s2
         cut s1 -> s3
         campaign s2
         campaign s2
         campaign s2
         campaign s2
         campaign s2
         campaign s2
         heal
         run 100ms
         expect s2 leads term 7
         expect s1 is in term 7
         expect s3 is in term 7",
    );
    let before = server(&play, S1).clone();
    post(&mut play, S3, S1, ask_for_vote(2, (2, 99)));
    assert_eq!(last_vote(&play, S1), Some(Some(VoteRefusal::OldTerm)));
    post(&mut play, S3, S1, append(2, (0, 0), &[2, 2], 2));
    let old = |e: &Event| {
        let why = AppendRefusal::OldTerm;
        matches!(e, Event::AppendRefused { leader: S3, why: w } if *w == why)
    };
    assert_eq!(play.count(S1, old), 1);
    let after = server(&play, S1);
    assert_eq!(
        (after.term(), after.voted_for(), after.log(), after.role()),
        (
            before.term(),
            before.voted_for(),
            before.log(),
            before.role()
        )
    );
    assert_eq!(after.commit(), before.commit().max(LogIndex(2)));
    play.run("run 100ms\nexpect s2 leads term 7");
}

/// s1's disk takes 300 ms; the answers of the others, whose disks are quick, are posted. An entry may commit on
/// their two copies before the leader's own is durable (dissertation §10.2.1).
#[test]
fn e11_a_leader_with_a_slow_disk_commits_by_the_others_and_keeps_its_quorum() {
    let setup = Setup {
        sync: Duration::millis(300),
        heartbeat: Duration::secs(10),
        ..with(ticking(3, &[400, 60_000, 60_000]), &[CheckQuorum])
    };
    let mut play = Play::of(setup, "cut s1 -> s2\ncut s1 -> s3\ncampaign s1\nrun 300ms");
    let vote = Message::Vote {
        term: Term(1),
        granted: true,
    };
    post(&mut play, S2, S1, vote);
    play.run("expect s1 leads term 1");
    let led = play.ms();
    let answer = || Message::AppendAnswer {
        term: Term(1),
        accepted: true,
        upto: LogIndex(1),
        round: 1,
    };
    post(&mut play, S2, S1, answer());
    assert_eq!(commit(&play, S1), 0, "its own copy does not count yet");
    post(&mut play, S3, S1, answer());
    assert_eq!(commit(&play, S1), 1, "theirs are two of three");
    let ended = |e: &Event| matches!(e, Event::SyncEnded);
    assert_eq!(
        play.times(S1, ended),
        [300],
        "its vote's; not yet its entry's"
    );
    while play.ms() < led + 1_000 {
        post(&mut play, S2, S1, answer());
    }
    assert_eq!(play.times(S1, ended), [300, led + 300]);
    let checked = |e: &Event| matches!(e, Event::QuorumChecked { heard, .. } if 2 <= *heard);
    assert_eq!(play.times(S1, checked), [led + 400, led + 800]);
    play.run("expect s1 leads term 1");
}
