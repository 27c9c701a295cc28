//! The other side: the nodes of the `raft` crate, and one queue of messages between them.

use std::collections::{BTreeMap, VecDeque};

use raft::eraftpb::{ConfState, Entry, Message};
use raft::storage::MemStorage;
use raft::{Config, RawNode, StateRole};

use crate::stopwatch::Stopwatch;
use crate::workload::{KEYS, Run, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settings {
    Default,
    Lean,
}

struct Node {
    raft: RawNode<MemStorage>,
    map: BTreeMap<u64, u64>,
    applied: u64,
}

struct Cluster {
    nodes: Vec<Node>,
    queue: VecDeque<Message>,
    steps: u64,
}

/// Nodes are numbered from 1.
const LEADER: usize = 0;

impl Cluster {
    fn new(servers: u8, settings: Settings) -> Self {
        let voters: Vec<u64> = (1..=u64::from(servers)).collect();
        let nodes = voters.iter().map(|id| {
            let storage =
                MemStorage::new_with_conf_state(ConfState::from((voters.clone(), vec![])));
            let raft = RawNode::new(&config(*id, settings), storage, &no_log());
            Node {
                raft: raft.expect("the config is sound"),
                map: BTreeMap::new(),
                applied: 0,
            }
        });
        let mut cluster = Self {
            nodes: nodes.collect(),
            queue: VecDeque::new(),
            steps: 0,
        };
        cluster.nodes[LEADER]
            .raft
            .campaign()
            .expect("it may campaign");
        cluster.settle(LEADER);
        while cluster.step() {}
        assert_eq!(cluster.nodes[LEADER].raft.raft.state, StateRole::Leader);
        cluster.steps = 0;
        cluster
    }

    /// Gives the first message to its node; false if there is none.
    fn step(&mut self) -> bool {
        let Some(message) = self.queue.pop_front() else {
            return false;
        };
        let at = message.to as usize - 1;
        self.nodes[at]
            .raft
            .step(message)
            .expect("it belongs to this cluster");
        self.settle(at);
        self.steps += 1;
        true
    }

    fn propose(&mut self, number: u64) {
        let (key, value) = (number % KEYS, number);
        let mut data = Vec::with_capacity(16);
        data.extend_from_slice(&key.to_le_bytes());
        data.extend_from_slice(&value.to_le_bytes());
        let leader = &mut self.nodes[LEADER].raft;
        leader
            .propose(Vec::new(), data)
            .expect("the leader takes proposals");
    }

    /// Does what a node has ready: sends, stores, applies.
    fn settle(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        if !node.raft.has_ready() {
            return;
        }
        let mut ready = node.raft.ready();
        self.queue.extend(ready.take_messages());
        apply(
            ready.take_committed_entries(),
            &mut node.map,
            &mut node.applied,
        );
        let store = node.raft.store().clone();
        if !ready.entries().is_empty() {
            store
                .wl()
                .append(ready.entries())
                .expect("entries follow each other");
        }
        if let Some(state) = ready.hs() {
            store.wl().set_hardstate(state.clone());
        }
        self.queue.extend(ready.take_persisted_messages());
        let mut light = node.raft.advance(ready);
        if let Some(commit) = light.commit_index() {
            store.wl().mut_hard_state().set_commit(commit);
        }
        self.queue.extend(light.take_messages());
        apply(
            light.take_committed_entries(),
            &mut node.map,
            &mut node.applied,
        );
        node.raft.advance_apply();
    }
}

fn apply(entries: Vec<Entry>, map: &mut BTreeMap<u64, u64>, applied: &mut u64) {
    for entry in entries {
        // A new leader's first entry is empty.
        if let [key, value] = entry.data.as_chunks::<8>().0 {
            map.insert(u64::from_le_bytes(*key), u64::from_le_bytes(*value));
            *applied += 1;
        }
    }
}

/// Nobody ticks during the run, so the timeouts only have to be valid.
fn config(id: u64, settings: Settings) -> Config {
    let lean = settings == Settings::Lean;
    Config {
        id,
        election_tick: 10,
        heartbeat_tick: 2,
        min_election_tick: 10,
        max_election_tick: 11,
        skip_bcast_commit: lean,
        batch_append: lean,
        ..Config::default()
    }
}

fn no_log() -> slog::Logger {
    slog::Logger::root(slog::Discard, slog::o!())
}

pub(crate) fn run(workload: Workload, settings: Settings) -> Run {
    let mut cluster = Cluster::new(workload.servers, settings);
    let mut put = 0;
    let stopwatch = Stopwatch::start();
    loop {
        let applied = cluster.nodes[LEADER].applied;
        if applied >= workload.entries {
            break;
        }
        let before = put;
        while put < workload.entries && put - applied < workload.in_flight {
            cluster.propose(put);
            put += 1;
        }
        if before < put {
            cluster.settle(LEADER);
        }
        if !cluster.step() {
            break;
        }
    }
    let seconds = stopwatch.seconds();
    Run {
        applied: cluster.nodes[LEADER].applied,
        steps: cluster.steps,
        seconds,
    }
}
