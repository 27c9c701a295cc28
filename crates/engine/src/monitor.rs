//! Invariants as incremental monitors: each fed by events, each with a source and a reason in words.
//!
//! Smoke detectors, not firemen: they watch every step and say what broke, where and who was in it; they
//! never change the run. The full predicates, slow and plain, stand in the tests as their oracles.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::event::{Event, Fact, Outcome, Step};
use crate::hash::stable_hash;
use crate::raft::{Entry, Server};
use crate::registry::Op;
use crate::rule::Rule;
use crate::setup::Kind;
use crate::shared::Shared;
use crate::store::{Scope, Store, WriteRecord};
use crate::switch::Switch;
use crate::units::{
    Duration, LogIndex, OpId, ProcessId, ProcessSet, RequestId, ResourceId, SimTime, StepNumber,
    Term, Token,
};
use crate::world::World;

macro_rules! invariants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $source:literal;)*) => {
        /// What must never be otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Invariant { $($(#[$doc])* $variant,)* }

        impl Invariant {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The id that claims and lessons use.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $(Self::$variant => $source,)* }
            }
        }
    };
}

invariants! {
    /// At most one leader a term.
    ElectionSafety = "election-safety", "Raft Figure 3";
    /// Two logs that agree on an entry's index and term agree on all before it.
    LogMatching = "log-matching", "Raft Figure 3";
    /// A committed entry is in the logs of the leaders of all higher terms.
    LeaderCompleteness = "leader-completeness", "Raft Figure 3";
    /// No two servers apply different entries at one index.
    StateMachineSafety = "state-machine-safety", "Raft Figure 3";
    /// Each grant of a resource carries a higher token than the one before.
    TokenMonotonic = "token-monotonic", "seed: a newer generation supersedes every older one";
    /// By the service's log, a resource is granted only when nobody holds it.
    OneHolder = "one-holder", "seed: the election authority does not grant two leaders";
    /// No holder's own deadline is later, in true time, than the end of its grant.
    DeadlineWithinGrant = "deadline-within-grant", "seed: a lease remains exclusive; Chubby §2.8";
    /// A store accepts no lower token after a higher one.
    NoOlderToken = "no-older-token", "seed: a protected resource rejects an older generation";
    /// A read that is not marked stale shows no older state than what was committed when it was asked.
    LinearizableReads = "linearizable-reads", "dissertation §6.4; Herlihy and Wing 1990";
    /// A client reads no older state than one it has seen.
    MonotonicReads = "monotonic-reads", "dissertation §6.4.1; Terry et al. 1994: session guarantees";
    /// An operation with a number takes effect once at a store.
    OneEffect = "one-effect", "seed: idempotent effects; dissertation §6.3";
    /// A put that was answered with accepted stays in every later leader's log.
    NoLostWrite = "no-lost-write", "Raft §8";
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl FromStr for Invariant {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|i| i.id() == text).ok_or(())
    }
}

/// How an invariant broke, with everyone who was in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    TwoLeaders {
        term: Term,
        first: ProcessId,
        second: ProcessId,
    },
    LogsDiffer {
        index: LogIndex,
        term: Term,
        first: ProcessId,
        second: ProcessId,
    },
    LeaderLacksEntry {
        leader: ProcessId,
        term: Term,
        index: LogIndex,
        committed_by: ProcessId,
    },
    AppliedDiffer {
        index: LogIndex,
        first: ProcessId,
        second: ProcessId,
    },
    TokenNotRaised {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
        before: Token,
        holder_before: ProcessId,
    },
    TwoHolders {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
        holder: ProcessId,
        holder_token: Token,
    },
    DeadlineOutlivesGrant {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
        until: SimTime,
        ended: SimTime,
    },
    OlderTokenAccepted {
        store: ProcessId,
        from: ProcessId,
        token: Token,
        highest: Token,
        highest_from: ProcessId,
    },
    /// A read shows the state after entry `index`; more was committed when it was asked.
    StaleRead {
        client: ProcessId,
        request: RequestId,
        index: LogIndex,
        committed: LogIndex,
    },
    ReadWentBack {
        client: ProcessId,
        request: RequestId,
        index: LogIndex,
        seen: LogIndex,
    },
    EffectTwice {
        store: ProcessId,
        op: OpId,
        first: ProcessId,
        second: ProcessId,
    },
    WriteLost {
        client: ProcessId,
        request: RequestId,
        leader: ProcessId,
        term: Term,
    },
}

/// The first break of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broken {
    pub step: StepNumber,
    pub at: SimTime,
    pub reason: Reason,
}

/// An entry as it was first stored: its term, the term before it, its content's fingerprint, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stored {
    term: Term,
    previous: Term,
    content: u64,
    by: ProcessId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Committed {
    entry_term: Term,
    /// The term in which it was committed; leaders of higher terms must have it.
    term: Term,
    by: ProcessId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AppliedOnce {
    term: Term,
    content: u64,
    by: ProcessId,
    /// Whose put it is: what a snapshot stands for is told by it.
    put: Option<(ProcessId, RequestId)>,
}

/// A put that its client knows to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Acknowledged {
    client: ProcessId,
    request: RequestId,
    /// Where its entry was; 0 if it was nowhere.
    index: LogIndex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct HighestAccepted {
    store: ProcessId,
    scope: Scope,
    token: Token,
    from: ProcessId,
}

/// What a client may expect of its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Reader {
    client: ProcessId,
    /// The request under way, and what was committed anywhere when it was asked.
    request: RequestId,
    committed: LogIndex,
    /// The latest state that it has read.
    seen: LogIndex,
}

/// What the monitors of consensus look at: a world's servers, or those of a search.
pub(crate) trait Cluster {
    fn server(&self, id: ProcessId) -> Option<&Server>;
    fn server_ids(&self) -> ProcessSet;
    /// As [`crate::truth::Truth::leader`] says.
    fn leader(&self) -> Option<(ProcessId, Term)>;
}

impl Cluster for World {
    fn server(&self, id: ProcessId) -> Option<&Server> {
        Self::server(self, id)
    }

    fn server_ids(&self) -> ProcessSet {
        self.names().servers()
    }

    fn leader(&self) -> Option<(ProcessId, Term)> {
        self.truth().leader()
    }
}

/// What the monitors have seen, in shared segments where it grows with the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Monitors {
    broken: Vec<(Invariant, Broken)>,
    leaders: Vec<(Term, ProcessId)>,
    /// By index: each distinct entry that was ever stored there.
    stored: Shared<Vec<Stored>>,
    committed: Shared<Committed>,
    applied: Shared<AppliedOnce>,
    acknowledged: Shared<Acknowledged>,
    highest: Vec<HighestAccepted>,
    readers: Vec<Reader>,
    both_believed: Duration,
    two_believe: bool,
    last_at: SimTime,
}

/// A break found in a step, before it is written down.
type Found = Option<(Invariant, Reason)>;

impl Monitors {
    pub(crate) fn broken(&self, invariant: Invariant) -> Option<&Broken> {
        self.broken
            .iter()
            .find(|(i, _)| *i == invariant)
            .map(|(_, broken)| broken)
    }

    pub(crate) const fn both_believed(&self) -> Duration {
        self.both_believed
    }

    /// The present moment is called zero: nothing that was believed before counts, and what broke in
    /// the quiet start is told as broken from the beginning.
    pub(crate) fn rebase(&mut self) {
        self.last_at = SimTime(0);
        self.both_believed = Duration::ZERO;
        for (_, broken) in &mut self.broken {
            (broken.step, broken.at) = (StepNumber(0), SimTime(0));
        }
    }

    /// Looks at a step's facts, with the world as it is after them; adds what broke to the step.
    #[expect(clippy::wildcard_enum_match_arm, reason = "listens to a few events")]
    pub(crate) fn observe(&mut self, step: &mut Step, world: &World) {
        if self.two_believe {
            self.both_believed.0 += step.at.since(self.last_at).0;
        }
        self.last_at = step.at;
        let mut found: Vec<(Invariant, Reason)> = Vec::new();
        let mut beliefs_changed = false;
        // Whether the last entry applied in this step was applied for the first time.
        let mut news = false;
        for event in step.events() {
            let id = step.process.unwrap_or(ProcessId(0));
            if let Event::EntryApplied { index, .. } = event {
                news = self.applied.len() as u64 == index.previous().0;
            }
            self.observe_consensus(id, event, world, &mut found);
            match event {
                Event::LeaseGranted { resource, .. } if news => {
                    found.extend(on_granted(world, *resource));
                }
                Event::LeaseExpired {
                    resource,
                    worker,
                    token,
                }
                | Event::LeaseReleased {
                    resource,
                    worker,
                    token,
                } if news => {
                    found.extend(deadline_outlives(world, *resource, *worker, *token));
                }
                Event::ResourceOpened { .. } if news => {
                    let workers = world.names().of_kind(Kind::Worker);
                    found.extend(workers.filter_map(|id| own_deadline_outlives(world, id)));
                }
                Event::LeaseReceived { .. } | Event::LeaseRenewed { .. } => {
                    found.extend(own_deadline_outlives(world, id));
                    beliefs_changed = true;
                }
                Event::ClockRateSet { process, .. } | Event::ClockJumped { process, .. } => {
                    found.extend(own_deadline_outlives(world, *process));
                }
                Event::SwitchSet {
                    switch: Switch::MonotonicDeadline,
                    ..
                } => {
                    let workers = world.names().of_kind(Kind::Worker);
                    found.extend(workers.filter_map(|id| own_deadline_outlives(world, id)));
                }
                Event::WriteAccepted { .. } | Event::StaleWriteObserved { .. } => {
                    let writes = world.store(id).map(Store::writes);
                    if let Some((write, earlier)) = writes.and_then(<[_]>::split_last) {
                        found.extend(self.on_accepted(id, write));
                        found.extend(effect_twice(id, write, earlier));
                    }
                }
                Event::Checked { .. }
                | Event::GrantTooLate { .. }
                | Event::GraceBegan { .. }
                | Event::LeaseLapsed { .. }
                | Event::LeaseLost { .. }
                | Event::LeaseGivenBack { .. }
                | Event::JeopardyBegan { .. }
                | Event::JeopardyEnded { .. }
                | Event::QueuedForLease { .. }
                | Event::Crashed { .. } => {
                    beliefs_changed = true;
                    if let Event::Crashed { process } = event {
                        self.forget_lost_writes(world, *process);
                        self.readers.retain(|reader| reader.client != *process);
                    }
                }
                _ => {}
            }
        }
        if beliefs_changed {
            self.two_believe = world.two_believe();
        }
        for (invariant, reason) in found {
            self.note(invariant, reason, step);
        }
    }

    /// As [`Self::observe`], for a search: of consensus alone, and without who was first.
    pub(crate) fn observe_in_search(&mut self, step: &Step, cluster: &dyn Cluster) {
        let mut found = Vec::new();
        for event in step.events() {
            let id = step.process.unwrap_or(ProcessId(0));
            self.observe_consensus(id, event, cluster, &mut found);
        }
        for (invariant, reason) in found {
            if self.broken(invariant).is_none() {
                let (step, at) = (step.number, step.at);
                self.broken.push((invariant, Broken { step, at, reason }));
            }
        }
        self.forget_who();
    }

    /// Forgets who was first to store, commit or apply, and in which order: nothing that can break
    /// depends on it, and states that differ in nothing else become one. Reasons are told by a replay.
    pub(crate) fn forget_who(&mut self) {
        self.leaders.sort_unstable();
        self.leaders.dedup();
        for at in 0..self.stored.len() {
            if let Some(there) = self.stored.get_mut(at) {
                there.sort_unstable_by_key(|stored| (stored.term, stored.content));
                there.iter_mut().for_each(|stored| stored.by = ProcessId(0));
            }
        }
        for at in 0..self.committed.len() {
            if let Some(committed) = self.committed.get_mut(at) {
                committed.by = ProcessId(0);
            }
        }
        for at in 0..self.applied.len() {
            if let Some(applied) = self.applied.get_mut(at) {
                applied.by = ProcessId(0);
            }
        }
        for at in 0..self.acknowledged.len() {
            if let Some(put) = self.acknowledged.get_mut(at) {
                put.index = LogIndex(0);
            }
        }
        self.last_at = SimTime(0);
    }

    /// About how much stands behind its pointers.
    pub(crate) fn bytes_behind(&self) -> u64 {
        let entries = self.stored.len() + self.committed.len() + self.applied.len();
        640 + 64 * (entries + self.leaders.len() + self.acknowledged.len()) as u64
    }

    /// The part that needs no time, no leases and no stores: what Raft promises.
    #[expect(clippy::wildcard_enum_match_arm, reason = "listens to a few events")]
    pub(crate) fn observe_consensus(
        &mut self,
        id: ProcessId,
        event: &Event,
        world: &dyn Cluster,
        found: &mut Vec<(Invariant, Reason)>,
    ) {
        match event {
            Event::BecameLeader { term } => {
                found.extend(self.on_leader(id, *term));
                found.extend(self.leader_lacks_committed(world, id));
                if world.leader() == Some((id, *term)) {
                    found.extend(self.leader_lacks_acknowledged(world, id));
                }
            }
            // Of what is compacted, only what was applied first can be told.
            Event::LogCompacted { .. }
                if world.leader().is_some_and(|(leader, _)| leader == id) =>
            {
                found.extend(self.leader_lacks_acknowledged(world, id));
            }
            Event::EntryAppended { index, .. } => {
                found.extend(self.on_stored(world, id, *index, *index));
            }
            Event::EntriesStored { from, to } => {
                found.extend(self.on_stored(world, id, *from, *to));
            }
            Event::CommitAdvanced { from, to } => {
                found.extend(self.on_committed(world, id, *from, *to));
            }
            Event::EntryApplied { index, .. } => {
                found.extend(self.on_applied(world, id, *index));
            }
            Event::RequestEnded {
                request,
                outcome: Outcome::Accepted,
            } => {
                found.extend(self.on_acknowledged(world, id, *request));
            }
            Event::RequestSent {
                request,
                attempt: 1,
                ..
            } => self.on_asked(id, *request),
            Event::ReadEnded {
                request,
                index,
                stale,
                ..
            } => found.extend(
                self.on_read(id, *request, *index, *stale)
                    .into_iter()
                    .flatten(),
            ),
            _ => {}
        }
    }

    fn note(&mut self, invariant: Invariant, reason: Reason, step: &mut Step) {
        if self.broken(invariant).is_some() {
            return;
        }
        self.broken.push((
            invariant,
            Broken {
                step: step.number,
                at: step.at,
                reason,
            },
        ));
        let event = Event::InvariantBroken {
            invariant,
            reason: Arc::new(reason),
        };
        step.facts.push(Fact {
            rule: Rule::InvariantWatched,
            event,
        });
    }

    fn on_leader(&mut self, leader: ProcessId, term: Term) -> Found {
        let other = self
            .leaders
            .iter()
            .find(|(t, l)| *t == term && *l != leader)
            .copied();
        self.leaders.push((term, leader));
        let (_, first) = other?;
        Some((
            Invariant::ElectionSafety,
            Reason::TwoLeaders {
                term,
                first,
                second: leader,
            },
        ))
    }

    fn on_stored(
        &mut self,
        world: &dyn Cluster,
        by: ProcessId,
        from: LogIndex,
        to: LogIndex,
    ) -> Found {
        let log = world.server(by)?.log();
        let mut found = None;
        for index in (from.0..=to.0).map(LogIndex) {
            // A later fact of the same step may have taken it away again.
            let Some(entry) = log.entry(index) else { break };
            let previous = log.term_at(index.previous()).unwrap_or(Term(0));
            let stored = Stored {
                term: entry.term,
                previous,
                content: stable_hash(&entry.op),
                by,
            };
            while self.stored.len() as u64 <= index.0 {
                self.stored.push(Vec::new());
            }
            let Some(there) = self.stored.get(index.0 as usize) else {
                break;
            };
            match there.iter().find(|s| s.term == stored.term) {
                None => {
                    if let Some(there) = self.stored.get_mut(index.0 as usize) {
                        there.push(stored);
                    }
                }
                Some(first)
                    if (first.previous, first.content) != (stored.previous, stored.content) =>
                {
                    found = found.or(Some((
                        Invariant::LogMatching,
                        Reason::LogsDiffer {
                            index,
                            term: stored.term,
                            first: first.by,
                            second: by,
                        },
                    )));
                }
                Some(_) => {}
            }
        }
        found
    }

    fn on_committed(
        &mut self,
        world: &dyn Cluster,
        by: ProcessId,
        from: LogIndex,
        to: LogIndex,
    ) -> Found {
        let server = world.server(by)?;
        let known = self.committed.len() as u64;
        for index in (from.0.max(known) + 1..=to.0).map(LogIndex) {
            if self.committed.len() as u64 != index.previous().0 {
                break;
            }
            let entry_term = server.log().term_at(index).unwrap_or(Term(0));
            self.committed.push(Committed {
                entry_term,
                term: server.term(),
                by,
            });
        }
        if self.committed.len() as u64 == known {
            return None;
        }
        world.server_ids().iter().find_map(|id| {
            let leads = world.server(id).is_some_and(Server::is_leader);
            if leads {
                self.leader_lacks(world, id, known)
            } else {
                None
            }
        })
    }

    fn leader_lacks_committed(&self, world: &dyn Cluster, leader: ProcessId) -> Found {
        self.leader_lacks(world, leader, 0)
    }

    /// The first committed entry after `known` that a leader of a higher term does not have.
    fn leader_lacks(&self, world: &dyn Cluster, leader: ProcessId, known: u64) -> Found {
        let server = world.server(leader)?;
        // Logs that agree on the last entry agree on all before it, so most leaders need one look.
        let last = self.committed.last()?;
        let last_index = LogIndex(self.committed.len() as u64);
        if last.term < server.term()
            && server.log().term_at(last_index) == Some(last.entry_term)
            && self.broken(Invariant::LogMatching).is_none()
        {
            return None;
        }
        for index in (known + 1..=last_index.0).map(LogIndex) {
            let committed = self.committed.get(index.previous().0 as usize)?;
            // What is compacted is in the snapshot: its maker had applied it.
            if committed.term < server.term()
                && server.log().start() <= index
                && server.log().term_at(index) != Some(committed.entry_term)
            {
                let (term, committed_by) = (server.term(), committed.by);
                return Some((
                    Invariant::LeaderCompleteness,
                    Reason::LeaderLacksEntry {
                        leader,
                        term,
                        index,
                        committed_by,
                    },
                ));
            }
        }
        None
    }

    fn on_applied(&mut self, world: &dyn Cluster, by: ProcessId, index: LogIndex) -> Found {
        let entry = world.server(by)?.log().entry(index)?;
        let applied = AppliedOnce {
            term: entry.term,
            content: stable_hash(&entry.op),
            by,
            put: put_of(&entry.op),
        };
        let at = index.previous().0 as usize;
        if self.applied.len() == at {
            self.applied.push(applied);
            return None;
        }
        let first = self.applied.get(at)?;
        if (first.term, first.content) == (applied.term, applied.content) {
            return None;
        }
        Some((
            Invariant::StateMachineSafety,
            Reason::AppliedDiffer {
                index,
                first: first.by,
                second: by,
            },
        ))
    }

    fn on_accepted(&mut self, store: ProcessId, write: &WriteRecord) -> Found {
        // Tokens of different leases count each on its own; a write under none is older than any.
        let within = |h: &&HighestAccepted| {
            h.store == store && (write.scope == Scope::Nothing || h.scope == write.scope)
        };
        let highest = self.highest.iter().filter(within).max_by_key(|h| h.token);
        let broken = highest.filter(|h| write.token < h.token).copied();
        self.raise(store, write);
        let highest = broken?;
        Some((
            Invariant::NoOlderToken,
            Reason::OlderTokenAccepted {
                store,
                from: write.from,
                token: write.token,
                highest: highest.token,
                highest_from: highest.from,
            },
        ))
    }

    fn raise(&mut self, store: ProcessId, write: &WriteRecord) {
        let (scope, token, from) = (write.scope, write.token, write.from);
        let same = |h: &&mut HighestAccepted| (h.store, h.scope) == (store, scope);
        match self.highest.iter_mut().find(same) {
            Some(highest) if highest.token <= token => {
                (highest.token, highest.from) = (token, from);
            }
            Some(_) => {}
            None => self.highest.push(HighestAccepted {
                store,
                scope,
                token,
                from,
            }),
        }
    }

    /// What a store's crash took before it was durable was never accepted for good: nobody was told.
    fn forget_lost_writes(&mut self, world: &World, store: ProcessId) {
        let Some(writes) = world.store(store).map(Store::writes) else {
            return;
        };
        self.highest.retain(|highest| highest.store != store);
        for write in writes.iter().filter(|write| write.verdict.is_accepted()) {
            self.raise(store, write);
        }
    }

    fn on_asked(&mut self, client: ProcessId, request: RequestId) {
        let committed = LogIndex(self.committed.len() as u64);
        match self.readers.iter_mut().find(|r| r.client == client) {
            Some(reader) => (reader.request, reader.committed) = (request, committed),
            None => self.readers.push(Reader {
                client,
                request,
                committed,
                seen: LogIndex(0),
            }),
        }
    }

    fn on_read(
        &mut self,
        client: ProcessId,
        request: RequestId,
        index: LogIndex,
        stale: bool,
    ) -> [Found; 2] {
        let mut readers = self.readers.iter_mut();
        let asked = readers.find(|r| (r.client, r.request) == (client, request));
        let Some(Reader {
            committed, seen, ..
        }) = asked
        else {
            return [None, None];
        };
        let old = (!stale && index < *committed).then_some((
            Invariant::LinearizableReads,
            Reason::StaleRead {
                client,
                request,
                index,
                committed: *committed,
            },
        ));
        let back = (index < *seen).then_some((
            Invariant::MonotonicReads,
            Reason::ReadWentBack {
                client,
                request,
                index,
                seen: *seen,
            },
        ));
        *seen = index.max(*seen);
        [old, back]
    }

    fn on_acknowledged(
        &mut self,
        world: &dyn Cluster,
        client: ProcessId,
        request: RequestId,
    ) -> Found {
        let place = world.server_ids().iter().find_map(|id| {
            let log = world.server(id)?.log();
            let back = log
                .iter()
                .rev()
                .position(|entry| put_of(&entry.op) == Some((client, request)))?;
            Some(LogIndex(log.last_index().0 - back as u64))
        });
        let acknowledged = Acknowledged {
            client,
            request,
            index: place.unwrap_or(LogIndex(0)),
        };
        self.acknowledged.push(acknowledged);
        let (leader, _) = world.leader()?;
        self.lost_at(world, leader, acknowledged)
    }

    fn leader_lacks_acknowledged(&self, world: &dyn Cluster, leader: ProcessId) -> Found {
        self.acknowledged
            .iter()
            .find_map(|acknowledged| self.lost_at(world, leader, *acknowledged))
    }

    /// An acknowledged put that is nowhere in a leader's log, nor in what its snapshot stands for.
    fn lost_at(&self, world: &dyn Cluster, leader: ProcessId, put: Acknowledged) -> Found {
        let Acknowledged {
            client,
            request,
            index,
        } = put;
        let server = world.server(leader)?;
        let log = server.log();
        let here = |entry: &Entry| put_of(&entry.op) == Some((client, request));
        let gone = |applied: &AppliedOnce| applied.put == Some((client, request));
        let compacted = log.start().0 as usize;
        if log.entry(index).is_some_and(here)
            || log.iter().any(here)
            || self.applied.iter().take(compacted).any(gone)
        {
            return None;
        }
        let term = server.term();
        Some((
            Invariant::NoLostWrite,
            Reason::WriteLost {
                client,
                request,
                leader,
                term,
            },
        ))
    }
}

/// Whose put an entry is, if it is one.
const fn put_of(op: &Op) -> Option<(ProcessId, RequestId)> {
    if let Op::Put {
        client, request, ..
    } = op
    {
        Some((*client, *request))
    } else {
        None
    }
}

/// An operation that had taken effect at the store before.
fn effect_twice(store: ProcessId, write: &WriteRecord, earlier: &[WriteRecord]) -> Found {
    let op = write.op?;
    let mut effects = earlier.iter().filter(|w| w.verdict.is_accepted());
    let first = effects.find(|w| w.op == Some(op))?.from;
    let reason = Reason::EffectTwice {
        store,
        op,
        first,
        second: write.from,
    };
    Some((Invariant::OneEffect, reason))
}

/// A grant just written in the ledger: its token must be higher, and the one before must be over.
fn on_granted(world: &World, resource: ResourceId) -> impl Iterator<Item = (Invariant, Reason)> {
    let grants = world.truth().grants(resource);
    let pair = grants
        .split_last()
        .and_then(|(new, before)| before.last().map(|old| (*new, *old)));
    let token = pair
        .filter(|(new, old)| new.token <= old.token)
        .map(|(new, old)| {
            let (worker, token, before, holder_before) =
                (new.worker, new.token, old.token, old.worker);
            let reason = Reason::TokenNotRaised {
                resource,
                worker,
                token,
                before,
                holder_before,
            };
            (Invariant::TokenMonotonic, reason)
        });
    let holder = pair
        .filter(|(_, old)| old.ended.is_none())
        .map(|(new, old)| {
            let (worker, token, holder, holder_token) =
                (new.worker, new.token, old.worker, old.token);
            let reason = Reason::TwoHolders {
                resource,
                worker,
                token,
                holder,
                holder_token,
            };
            (Invariant::OneHolder, reason)
        });
    token.into_iter().chain(holder)
}

fn own_deadline_outlives(world: &World, worker: ProcessId) -> Found {
    let (resource, token, _, _) = world.worker(worker)?.deadline()?;
    deadline_outlives(world, resource, worker, token)
}

/// A holder that goes on counting a grant beyond its end in true time.
fn deadline_outlives(
    world: &World,
    resource: ResourceId,
    worker: ProcessId,
    token: Token,
) -> Found {
    let (held, held_token, _, _) = world.worker(worker)?.deadline()?;
    if (held, held_token) != (resource, token) {
        return None;
    }
    let until = world.own_deadline(worker)?;
    let (ended, _) = world.truth().grant(resource, worker, token)?.ended?;
    // One that is past misleads nobody any more; if it ever outlived its grant, that was seen then.
    if until <= ended.max(world.now()) {
        return None;
    }
    let reason = Reason::DeadlineOutlivesGrant {
        resource,
        worker,
        token,
        until,
        ended,
    };
    Some((Invariant::DeadlineWithinGrant, reason))
}
