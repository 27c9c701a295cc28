//! Our side: a whole world, with its scheduler, its network and its clients.

use std::hint::black_box;
use std::sync::Arc;

use leasehold_engine::command::Command;
use leasehold_engine::event::Step;
use leasehold_engine::process::Message;
use leasehold_engine::service::{Ask, AskWhat};
use leasehold_engine::setup::{CLIENTS_MAX, Kind, Setup};
use leasehold_engine::units::{Duration, ProcessId, RequestId};
use leasehold_engine::world::World;

use crate::stopwatch::Stopwatch;
use crate::workload::{KEYS, Run, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Explained,
    Unexplained,
}

fn setup(servers: u8, clients: usize) -> Setup {
    let timeouts = (0..u64::from(servers)).map(|n| Duration::millis(1_500 + 500 * n));
    Setup {
        servers,
        clients: (1..=clients).map(|n| format!("c{n}")).collect(),
        latency_min: Duration::millis(1),
        latency_max: Duration::millis(1),
        election_fixed: timeouts.collect(),
        ..Setup::default()
    }
}

struct Track {
    world: World,
    leader: ProcessId,
    clients: Vec<ProcessId>,
    step: Step,
    mode: Mode,
    steps: u64,
    facts: u64,
}

impl Track {
    fn new(servers: u8, clients: usize, mode: Mode) -> Self {
        let world = World::new(setup(servers, clients)).expect("the setup is sound");
        let (leader, _) = world
            .truth()
            .leader()
            .expect("time zero follows the first election");
        let clients = world.names().of_kind(Kind::Client).collect();
        Self {
            world,
            leader,
            clients,
            step: Step::empty(),
            mode,
            steps: 0,
            facts: 0,
        }
    }

    /// Entries of the workload that the leader has applied: all but its first, empty one.
    fn applied(&self) -> u64 {
        self.world
            .server(self.leader)
            .map_or(0, |s| s.applied().0.saturating_sub(1))
    }

    fn step(&mut self) {
        match self.mode {
            Mode::Explained => {
                self.world.step(&mut self.step);
                self.facts += black_box(&self.step).facts.len() as u64;
            }
            Mode::Unexplained => {
                self.world.step_silent();
            }
        }
        self.steps += 1;
    }
}

pub(crate) fn run(workload: Workload, mode: Mode) -> Run {
    let clients = usize::try_from(workload.in_flight).unwrap_or(usize::MAX);
    let mut track = Track::new(workload.servers, clients.min(CLIENTS_MAX), mode);
    let seconds = if clients <= CLIENTS_MAX {
        by_clients(&mut track, workload)
    } else {
        by_post(&mut track, workload)
    };
    black_box(track.facts);
    Run {
        applied: track.applied(),
        steps: track.steps,
        seconds,
    }
}

/// Each client has one put under way and a few more queued, by commands.
fn by_clients(track: &mut Track, workload: Workload) -> f64 {
    const QUEUED: usize = 32;
    let mut put = 0;
    let mut step = Step::empty();
    let clients = track.clients.clone();
    let stopwatch = Stopwatch::start();
    while track.applied() < workload.entries {
        for client in &clients {
            while put < workload.entries
                && track
                    .world
                    .client(*client)
                    .is_some_and(|c| c.waiting() < QUEUED)
            {
                let command = Command::Put {
                    client: track.world.names().name(*client).to_owned(),
                    key: format!("k{}", put % KEYS),
                    value: "v".to_owned(),
                };
                track
                    .world
                    .apply(&command, &mut step)
                    .expect("a client takes puts");
                put += 1;
            }
        }
        // Nothing runs dry before the queues are looked at again.
        for _ in 0..QUEUED {
            if track.applied() < workload.entries {
                track.step();
            }
        }
    }
    stopwatch.seconds()
}

/// Puts stand on one client's link to the leader, so many without an answer.
fn by_post(track: &mut Track, workload: Workload) -> f64 {
    let keys: Vec<Arc<str>> = (0..KEYS).map(|n| Arc::from(format!("k{n}"))).collect();
    let value: Arc<str> = Arc::from("v");
    let (client, leader) = (track.clients[0], track.leader);
    let mut put = 0;
    let stopwatch = Stopwatch::start();
    loop {
        let applied = track.applied();
        if applied >= workload.entries {
            return stopwatch.seconds();
        }
        while put < workload.entries && put - applied < workload.in_flight {
            let key = keys[(put % KEYS) as usize].clone();
            put += 1;
            let what = AskWhat::Put {
                key,
                value: value.clone(),
                session: None,
            };
            let ask = Ask {
                request: RequestId(put),
                what,
            };
            track.world.post(client, leader, Message::Ask(ask));
        }
        track.step();
    }
}
