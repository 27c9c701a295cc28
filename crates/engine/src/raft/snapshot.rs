//! Snapshots: what was applied, in place of the entries that led there.
//!
//! A balance carried forward: who has it need not read the old pages, and they may be torn out. Taken of
//! what is applied, never of more; sent whole, in one message, to a follower that lacks what is gone.

use std::sync::Arc;

use super::{Config, Handed, Message, Role, Sending, Server};
use crate::event::Event;
use crate::process::{Cx, DiskWrite, Effect, Message as Envelope, Recorder};
use crate::registry::Registry;
use crate::rule::Rule;
use crate::units::{Duration, LogIndex, ProcessId, ResourceId, Term};

/// The state after all entries up to and with one index (Raft §7, Figure 12).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    pub index: LogIndex,
    pub term: Term,
    pub registry: Registry,
    /// The latest up to that index.
    pub config: Config,
}

impl Server {
    /// What stands in place of the entries before its log's first.
    #[must_use]
    pub const fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// Whether it has applied entries that its log still holds.
    #[must_use]
    pub fn can_compact(&self) -> bool {
        self.log.start() < self.applied && self.log.term_at(self.applied).is_some()
    }

    /// Takes a snapshot where enough has been applied since the last; gives its index.
    pub(super) fn compact_when_due<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) -> Option<LogIndex> {
        let every = u64::from(cx.setup.snapshot_every);
        let due = 0 < every && self.log.start().0 + every <= self.applied.0 && self.can_compact();
        due.then(|| self.compact(cx))
    }

    /// Takes a snapshot of what is applied and drops the entries that it stands for.
    pub(super) fn compact<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) -> LogIndex {
        let index = self.applied;
        let snapshot = Snapshot {
            index,
            term: self.log.term_at(index).expect("there is what to compact"),
            registry: self.registry.clone(),
            config: self.config_at(index, cx.setup).1,
        };
        self.keep(Arc::new(snapshot), cx);
        index
    }

    pub(super) fn on_compact<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let upto = self.compact(cx);
        cx.fact(Rule::SnapshotDropsApplied, || Event::LogCompacted { upto });
    }

    /// The log begins after `snapshot` from now on, in memory and, in a while, on disk.
    fn keep<R: Recorder>(&mut self, snapshot: Arc<Snapshot>, cx: &mut Cx<'_, R>) {
        let upto = snapshot.index;
        if !self.log.begin_after(upto, snapshot.term) {
            self.cut_synced(LogIndex(0));
        }
        self.snapshot = Some(snapshot.clone());
        if cx.setup.sync == Duration::ZERO {
            self.synced = self.log.last_index();
        } else {
            self.syncing.push(Handed::Log { upto });
            cx.effects
                .push(Effect::Persist(DiskWrite::Snapshot(snapshot)));
        }
    }

    /// No more than `upto` of the log is on disk, or will be by what was handed over so far.
    pub(super) fn cut_synced(&mut self, upto: LogIndex) {
        self.synced = self.synced.min(upto);
        for handed in &mut self.syncing {
            if let Handed::Log { upto: there } = handed {
                *there = upto.min(*there);
            }
        }
    }

    /// The state as the snapshot has it. Its leases and waits get their full time, as after any restart.
    pub(super) fn take_over<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        for at in 0..self.armed.len() {
            let resource = ResourceId(at as u8);
            let state = self.registry.resource(resource);
            let counted = state.holder.map(|holder| holder.token);
            self.armed[at] = None;
            if let Some(token) = counted.or(state.closed.map(|(_, token)| token)) {
                self.count_down(resource, token, cx);
            }
        }
    }

    // At a follower -------------------------------------------------------------------------

    pub(super) fn on_snapshot<R: Recorder>(
        &mut self,
        leader: ProcessId,
        snapshot: Arc<Snapshot>,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        if !self.hears_leader(leader, cx) {
            return;
        }
        let upto = snapshot.index;
        if upto <= self.commit {
            // It comes twice, or late: nothing that was applied is taken back.
            cx.fact(Rule::OldSnapshotIgnored, || Event::SnapshotIgnored {
                leader,
                upto,
            });
        } else {
            (self.commit, self.applied) = (upto, upto);
            self.registry = snapshot.registry.clone();
            self.keep(snapshot, cx);
            self.take_over(cx);
            cx.fact(Rule::SnapshotReplacesLog, || Event::SnapshotInstalled {
                leader,
                upto,
            });
            self.look_at_config(Rule::SnapshotReplacesLog, cx);
            self.answer_reads(cx);
        }
        cx.effects.push(Effect::AwaitSync);
        let upto = self.commit.min(self.log.last_index());
        self.answer_append(leader, true, upto, round, cx);
    }

    // At the leader -------------------------------------------------------------------------

    /// Raft §7: a follower that lacks what is compacted gets the snapshot, and then nothing but heartbeats
    /// until it has answered.
    pub(super) fn send_snapshot<R: Recorder>(&mut self, follower: ProcessId, cx: &mut Cx<'_, R>) {
        let (Role::Leader(leading), Some(snapshot)) = (&mut self.role, &self.snapshot) else {
            return;
        };
        let (upto, round) = (snapshot.index, leading.round);
        let progress = &mut leading.progress[usize::from(follower.0)];
        progress.next = upto.next();
        progress.snapshot = Some(Sending {
            index: upto,
            term: snapshot.term,
            round,
        });
        cx.fact(Rule::SnapshotForWhoLacks, || Event::SnapshotSent {
            follower,
            upto,
        });
        let message = Message::Snapshot {
            term: self.term,
            snapshot: snapshot.clone(),
            round,
        };
        cx.send(follower, Envelope::Raft(message));
    }
}
