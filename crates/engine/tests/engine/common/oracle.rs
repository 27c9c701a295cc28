//! The invariants as full predicates: slow, plain, and looking at everything again after every step.
//!
//! The auditor who recounts the whole ledger each evening. The monitors must agree with it on the first
//! step at which an invariant is broken.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_engine::event::{Event, Outcome, Step};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::raft::Entry;
use leasehold_engine::registry::Op;
use leasehold_engine::setup::Kind;
use leasehold_engine::store::Scope;
use leasehold_engine::units::{LogIndex, ProcessId, RequestId, StepNumber, Term, Token};
use leasehold_engine::world::World;

/// A request of a client, and what was committed anywhere when it first sent it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    client: ProcessId,
    request: RequestId,
    commit: LogIndex,
}

/// A read as it ended; `life` counts the crashes of its client.
#[derive(Clone, Copy, Debug)]
struct Read {
    client: ProcessId,
    life: usize,
    request: RequestId,
    index: LogIndex,
    stale: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Oracle {
    crashes: Vec<ProcessId>,
    leaders: Vec<(Term, ProcessId)>,
    /// Every log that any server ever had, as it changed: what it begins after, and its entries.
    logs: Vec<(u64, Term, Vec<Entry>)>,
    /// By index: the entry's term when first committed anywhere, and the term it was committed in.
    committed: BTreeMap<u64, (Term, Term)>,
    applied: Vec<(u64, Entry)>,
    /// What the service's log did, each entry once: the event and the step.
    ledger: Vec<Event>,
    writes: Vec<(ProcessId, Scope, Token)>,
    acknowledged: Vec<(ProcessId, RequestId)>,
    /// The highest commit index that any server ever had.
    commit: LogIndex,
    asked: Vec<Asked>,
    reads: Vec<Read>,
    pub first: BTreeMap<Invariant, StepNumber>,
}

impl Oracle {
    /// Looks at the world after a step, and notes what is broken now and was not before.
    pub fn look(&mut self, step: &Step, world: &World) {
        self.remember(step, world);
        for (invariant, holds) in [
            (Invariant::ElectionSafety, self.election_safety()),
            (Invariant::LogMatching, self.log_matching(world)),
            (
                Invariant::LeaderCompleteness,
                self.leader_completeness(world),
            ),
            (Invariant::StateMachineSafety, self.state_machine_safety()),
            (Invariant::TokenMonotonic, self.token_monotonic()),
            (Invariant::OneHolder, self.one_holder()),
            (Invariant::DeadlineWithinGrant, deadline_within_grant(world)),
            (Invariant::NoOlderToken, self.no_older_token()),
            (Invariant::LinearizableReads, self.linearizable_reads()),
            (Invariant::MonotonicReads, self.monotonic_reads()),
            (Invariant::OneEffect, one_effect(world)),
            (Invariant::NoLostWrite, self.no_lost_write(world)),
        ] {
            if !holds {
                self.first.entry(invariant).or_insert(step.number);
            }
        }
    }

    fn remember(&mut self, step: &Step, world: &World) {
        let servers: Vec<ProcessId> = world.names().of_kind(Kind::Server).collect();
        for id in &servers {
            let server = world.server(*id).unwrap();
            self.commit = self.commit.max(server.commit());
            if server.is_leader() && !self.leaders.contains(&(server.term(), *id)) {
                self.leaders.push((server.term(), *id));
            }
            let first = server.log().start().0 + 1;
            let committed = (first..).zip(server.log().iter());
            for (index, entry) in committed.take_while(|(index, _)| *index <= server.commit().0) {
                self.committed
                    .entry(index)
                    .or_insert((entry.term, server.term()));
            }
        }
        let mut news = false;
        for event in step.events() {
            let id = step.process.unwrap_or(ProcessId(0));
            match event {
                Event::EntryApplied { index, .. } => {
                    let entry = world.server(id).unwrap().log().entry(*index).unwrap();
                    news = self.applied.iter().all(|(applied, _)| applied < &index.0);
                    self.applied.push((index.0, entry.clone()));
                }
                Event::LeaseGranted { .. }
                | Event::LeaseExpired { .. }
                | Event::LeaseReleased { .. }
                | Event::ResourceOpened { .. }
                    if news =>
                {
                    self.ledger.push(event.clone());
                }
                Event::WriteAccepted { token, .. } | Event::StaleWriteObserved { token, .. } => {
                    let write = world.store(id).unwrap().writes().last().unwrap();
                    self.writes.push((id, write.scope, *token));
                }
                Event::RequestSent {
                    request,
                    attempt: 1,
                    ..
                } => self.asked.push(Asked {
                    client: id,
                    request: *request,
                    commit: self.commit,
                }),
                Event::ReadEnded {
                    request,
                    index,
                    stale,
                    ..
                } => self.reads.push(Read {
                    client: id,
                    life: self.crashes.iter().filter(|c| **c == id).count(),
                    request: *request,
                    index: *index,
                    stale: *stale,
                }),
                Event::Crashed { process } => {
                    self.crashes.push(*process);
                    // What a store had not made durable was never accepted for good.
                    if let Some(store) = world.store(*process) {
                        self.writes.retain(|(id, _, _)| id != process);
                        let kept = store.writes().iter().filter(|w| w.verdict.is_accepted());
                        self.writes
                            .extend(kept.map(|w| (*process, w.scope, w.token)));
                    }
                }
                Event::RequestEnded {
                    request,
                    outcome: Outcome::Accepted,
                } => {
                    self.acknowledged.push((id, *request));
                }
                _ => {}
            }
        }
    }

    fn election_safety(&self) -> bool {
        self.leaders.iter().all(|(term, leader)| {
            self.leaders
                .iter()
                .all(|(other_term, other)| term != other_term || leader == other)
        })
    }

    fn log_matching(&mut self, world: &World) -> bool {
        let mut holds = true;
        for id in world.names().of_kind(Kind::Server) {
            let log = world.server(id).unwrap().log();
            let start = log.start();
            let start_term = log.term_at(start).unwrap();
            let log = (start.0, start_term, log.iter().cloned().collect());
            if self.logs.contains(&log) {
                continue;
            }
            holds &= self.logs.iter().all(|other| agree(&log, other));
            self.logs.push(log);
        }
        holds
    }

    fn leader_completeness(&self, world: &World) -> bool {
        world.names().of_kind(Kind::Server).all(|id| {
            let server = world.server(id).unwrap();
            !server.is_leader()
                || self.committed.iter().all(|(index, (entry_term, term))| {
                    // What is compacted is in the snapshot: its maker had applied it.
                    server.term() <= *term
                        || *index < server.log().start().0
                        || server.log().term_at(LogIndex(*index)) == Some(*entry_term)
                })
        })
    }

    fn state_machine_safety(&self) -> bool {
        let mut first: BTreeMap<u64, &Entry> = BTreeMap::new();
        self.applied
            .iter()
            .all(|(index, entry)| *first.entry(*index).or_insert(entry) == entry)
    }

    fn token_monotonic(&self) -> bool {
        let mut highest = BTreeMap::new();
        self.ledger.iter().all(|event| match event {
            Event::LeaseGranted {
                resource, token, ..
            } => highest
                .insert(*resource, *token)
                .is_none_or(|before| before < *token),
            _ => true,
        })
    }

    fn one_holder(&self) -> bool {
        let mut held: BTreeMap<_, (ProcessId, Token)> = BTreeMap::new();
        self.ledger.iter().all(|event| match event {
            Event::LeaseGranted {
                resource,
                worker,
                token,
            } => held.insert(*resource, (*worker, *token)).is_none(),
            Event::LeaseExpired {
                resource,
                worker,
                token,
            }
            | Event::LeaseReleased {
                resource,
                worker,
                token,
            } => {
                if held.get(resource) == Some(&(*worker, *token)) {
                    held.remove(resource);
                }
                true
            }
            Event::ResourceOpened { resource } => {
                held.remove(resource);
                true
            }
            _ => true,
        })
    }

    fn no_older_token(&self) -> bool {
        self.writes
            .iter()
            .enumerate()
            .all(|(at, (store, scope, token))| {
                self.writes[..at].iter().all(|(other, within, before)| {
                    let compared = *scope == Scope::Nothing || scope == within;
                    store != other || !compared || before <= token
                })
            })
    }

    fn linearizable_reads(&self) -> bool {
        self.reads.iter().filter(|read| !read.stale).all(|read| {
            let mut asked = self.asked.iter();
            let asked = asked.find(|a| (a.client, a.request) == (read.client, read.request));
            asked.is_none_or(|asked| asked.commit <= read.index)
        })
    }

    fn monotonic_reads(&self) -> bool {
        self.reads.iter().enumerate().all(|(at, read)| {
            let before = self.reads[..at].iter();
            let mut before = before.filter(|b| (b.client, b.life) == (read.client, read.life));
            before.all(|b| b.index <= read.index)
        })
    }

    fn no_lost_write(&self, world: &World) -> bool {
        let Some((leader, _)) = world.truth().leader() else {
            return true;
        };
        let log = world.server(leader).unwrap().log();
        // What the log's snapshot stands for, as it was first applied.
        let mut gone: BTreeMap<u64, &Entry> = BTreeMap::new();
        for (index, entry) in &self.applied {
            if *index <= log.start().0 {
                gone.entry(*index).or_insert(entry);
            }
        }
        self.acknowledged.iter().all(|(client, request)| {
            gone.values().copied().chain(log.iter()).any(|entry| {
                matches!(&entry.op, Op::Put { client: c, request: r, .. } if (c, r) == (client, request))
            })
        })
    }
}

/// Where two logs have the same term at an index, they have the same up to there, as far as both go back.
fn agree(one: &(u64, Term, Vec<Entry>), other: &(u64, Term, Vec<Entry>)) -> bool {
    let at = |log: &(u64, Term, Vec<Entry>), index: u64| -> Option<(Term, Option<Entry>)> {
        let (start, start_term, entries) = log;
        match index.checked_sub(start + 1) {
            None => (index == *start).then_some((*start_term, None)),
            Some(at) => entries
                .get(at as usize)
                .map(|entry| (entry.term, Some(entry.clone()))),
        }
    };
    let last = |log: &(u64, Term, Vec<Entry>)| log.0 + log.2.len() as u64;
    let common = one.0.max(other.0)..=last(one).min(last(other));
    let same_term = |index: &u64| {
        let terms = (at(one, *index), at(other, *index));
        matches!(terms, (Some((a, _)), Some((b, _))) if a == b)
    };
    let Some(top) = common.clone().rev().find(same_term) else {
        return true;
    };
    (*common.start()..=top).all(|index| {
        let (Some((a, one)), Some((b, other))) = (at(one, index), at(other, index)) else {
            return false;
        };
        // The entry that a snapshot ends with is gone; its term is known.
        a == b && (one.is_none() || other.is_none() || one == other)
    })
}

fn one_effect(world: &World) -> bool {
    world.names().of_kind(Kind::Store).all(|id| {
        let mut done = BTreeSet::new();
        let writes = world.store(id).unwrap().writes().iter();
        let effects = writes.filter(|w| w.verdict.is_accepted());
        effects.filter_map(|w| w.op).all(|op| done.insert(op))
    })
}

fn deadline_within_grant(world: &World) -> bool {
    world.names().of_kind(Kind::Worker).all(|id| {
        let Some((resource, token, _, _)) = world.worker(id).unwrap().deadline() else {
            return true;
        };
        let until = world.own_deadline(id).unwrap();
        let ended = world
            .truth()
            .grant(resource, id, token)
            .and_then(|grant| grant.ended);
        ended.is_none_or(|(at, _)| until <= at.max(world.now()))
    })
}
