//! The same seed and the same commands give the same steps: forwards, wound back, and with one thing added.
//!
//! What is written down of a run is enough to play it again, and a draw depends on its own key alone.

use std::collections::BTreeMap;

use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::{DropReason, Event, MessageId, Step};
use leasehold_engine::history::History;
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::timed_script::TimedScript;
use leasehold_engine::units::{Duration, SimTime, StepNumber};
use leasehold_engine::world::World;

const EVERYTHING: Beyond = Beyond {
    drift: true,
    switches: true,
};

fn hashes(seed: u64, beyond: Beyond, steps: u64) -> Vec<u64> {
    let mut swarm = Swarm::new(seed, beyond);
    let mut history = History::new(swarm.setup()).unwrap();
    let mut hashes = Vec::new();
    swarm.play(&mut history, steps, |_, world| {
        hashes.push(world.state_hash())
    });
    hashes
}

#[test]
fn the_same_seed_gives_the_same_state_after_every_step() {
    let mut last = BTreeMap::new();
    for seed in 0..40 {
        for beyond in [Beyond::default(), EVERYTHING] {
            let first = hashes(seed, beyond, 500);
            assert_eq!(first, hashes(seed, beyond, 500), "seed {seed}");
            *last.entry(*first.last().unwrap()).or_insert(0) += 1;
        }
    }
    assert_eq!(last.len(), 80, "no two of these runs are alike");
}

/// Seeking goes by checkpoints, replaying from zero does not: both come to the same states.
#[test]
fn any_moment_of_a_long_run_is_the_same_sought_or_replayed() {
    for seed in 0..4 {
        let mut swarm = Swarm::new(seed, EVERYTHING);
        let mut history = History::new(swarm.setup()).unwrap();
        let mut played = vec![history.world().state_hash()];
        swarm.play(&mut history, 12_000, |_, world| {
            played.push(world.state_hash());
        });
        let replayed = replayed(&history);
        assert_eq!(replayed.len(), played.len(), "seed {seed}");
        for (step, (one, other)) in played.iter().zip(&replayed).enumerate() {
            assert_eq!(one, other, "seed {seed}: replayed from zero, step {step}");
        }
        for count in 0..60 {
            let to = below(draw(seed, Purpose::Test, 0, count), played.len() as u64);
            history.seek(StepNumber(to));
            assert_eq!(history.world().step_count(), StepNumber(to));
            // The clock may have stood later when a command came; the state before it is what counts.
            let sought = history.world().state_hash();
            assert_eq!(sought, played[to as usize], "seed {seed}, step {to}");
        }
    }
}

/// The state after each step of a new world that is given the same commands at the same places.
fn replayed(history: &History) -> Vec<u64> {
    let mut world = World::new(history.world().setup().clone()).unwrap();
    let mut step = Step::empty();
    let mut hashes = vec![world.state_hash()];
    let mut commands = history.commands().iter().peekable();
    while world.step_count() < history.end().step {
        match commands.next_if(|(position, _)| position.step == world.step_count()) {
            Some((position, command)) => {
                world.advance(position.at);
                world.apply(command, &mut step).unwrap();
            }
            None => assert!(world.step(&mut step)),
        }
        hashes.push(world.state_hash());
    }
    hashes
}

/// What chance gave each message, by the message's name.
#[derive(Debug, Default)]
struct Chances {
    latency: BTreeMap<MessageId, Duration>,
    lost: BTreeMap<MessageId, bool>,
    duplicated: BTreeMap<MessageId, bool>,
}

/// Plays a script and notes the draws of every message that no command touches.
fn chances(script: &TimedScript) -> (Chances, u64) {
    let mut chances = Chances::default();
    let world = script.play(|step, world| {
        for event in step.events() {
            match event {
                Event::MessageSent { message, .. } => {
                    chances.lost.insert(*message, false);
                    chances.duplicated.insert(*message, false);
                }
                Event::MessageDropped {
                    message,
                    reason: DropReason::Lost,
                    ..
                } => {
                    chances.lost.insert(*message, true);
                }
                // A link that is cut draws nothing.
                Event::MessageDropped {
                    message,
                    reason: DropReason::Cut,
                    ..
                } => {
                    chances.lost.remove(message);
                    chances.duplicated.remove(message);
                }
                Event::MessageDuplicated { message, .. } => {
                    chances.duplicated.insert(*message, true);
                }
                _ => {}
            }
        }
        for flight in world.in_flight().filter(|f| f.sent_at == world.now()) {
            let latency = flight.arrives_at.since(flight.sent_at);
            chances.latency.entry(flight.id).or_insert(latency);
        }
    });
    (chances, world.unwrap().state_hash())
}

/// One fault more changes what is sent and when, and what each message meets on its way not at all.
#[test]
fn an_added_fault_leaves_the_draws_of_other_messages_alone() {
    let mut compared = 0_u64;
    for seed in 0..30 {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut setup = swarm.setup();
        (setup.loss_ppm, setup.duplication_ppm) = (50_000, 50_000);
        let mut script = TimedScript {
            setup,
            commands: Vec::new(),
            end: SimTime(30_000_000),
        };
        let (before, hash) = chances(&script);
        for fault in [
            "pause A",
            "crash s1",
            "cut s1 -> A",
            "clock B jump -2s",
            "write A orders \"1\"",
        ] {
            let at = SimTime(2_000_000 + seed * 100_000);
            let fault: Command = fault.parse().unwrap();
            script.commands = vec![(at, fault.clone())];
            let (after, other) = chances(&script);
            assert_ne!(hash, other, "seed {seed}: {fault} changes the run");
            compared += same(&before.latency, &after.latency, seed, &fault);
            same(&before.lost, &after.lost, seed, &fault);
            same(&before.duplicated, &after.duplicated, seed, &fault);
        }
    }
    println!("{compared} latencies compared");
    assert!(30_000 < compared);
}

/// Every message of both runs has the same; how many there are.
fn same<T: PartialEq + std::fmt::Debug>(
    before: &BTreeMap<MessageId, T>,
    after: &BTreeMap<MessageId, T>,
    seed: u64,
    fault: &Command,
) -> u64 {
    let mut count = 0;
    for (message, drawn) in before {
        if let Some(other) = after.get(message) {
            assert_eq!(drawn, other, "seed {seed}, with {fault}: {message:?}");
            count += 1;
        }
    }
    count
}
