//! The truth of a run: who leads, who holds, who waits; by the service's log and by nobody's opinion.
//!
//! The public record. A grant lasts from its entry's first application anywhere to that of its release
//! or expiry. Fed by the facts of each step; processes never see it.

use crate::event::{Event, Step};
use crate::units::{LogIndex, ProcessId, ResourceId, SimTime, Term, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrantEnd {
    Released,
    Expired,
}

/// One line of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    pub worker: ProcessId,
    pub token: Token,
    pub from: SimTime,
    pub ended: Option<(SimTime, GrantEnd)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Record {
    grants: Vec<Grant>,
    queue: Vec<ProcessId>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Truth {
    leader: Option<(ProcessId, Term)>,
    highest_term_led: Term,
    /// The last entry applied anywhere; what is applied again elsewhere is no news.
    applied: LogIndex,
    records: Vec<Record>,
}

impl Truth {
    pub(crate) fn new(resources: usize) -> Self {
        Self {
            records: vec![Record::default(); resources],
            ..Self::default()
        }
    }

    /// The leader of the highest term so far, while it leads and has not crashed.
    #[must_use]
    pub const fn leader(&self) -> Option<(ProcessId, Term)> {
        self.leader
    }

    #[must_use]
    pub fn holder(&self, resource: ResourceId) -> Option<&Grant> {
        self.grants(resource)
            .last()
            .filter(|grant| grant.ended.is_none())
    }

    #[must_use]
    pub fn queue(&self, resource: ResourceId) -> &[ProcessId] {
        &self.records[usize::from(resource.0)].queue
    }

    #[must_use]
    pub fn waits(&self, resource: ResourceId, worker: ProcessId) -> bool {
        self.queue(resource).contains(&worker)
    }

    /// The ledger, oldest first.
    #[must_use]
    pub fn grants(&self, resource: ResourceId) -> &[Grant] {
        &self.records[usize::from(resource.0)].grants
    }

    /// The grant with this token, the latest if there are several.
    #[must_use]
    pub fn grant(&self, resource: ResourceId, worker: ProcessId, token: Token) -> Option<&Grant> {
        let mut grants = self.grants(resource).iter().rev();
        grants.find(|g| g.worker == worker && g.token == token)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "listens to a few events")]
    pub(crate) fn observe(&mut self, step: &Step) {
        let mut news = false;
        for event in step.events() {
            match event {
                Event::BecameLeader { term } if self.highest_term_led < *term => {
                    self.highest_term_led = *term;
                    self.leader = step.process.map(|id| (id, *term));
                }
                Event::SteppedDown { .. } if self.leader.map(|(id, _)| id) == step.process => {
                    self.leader = None;
                }
                Event::Crashed { process } if self.leader.is_some_and(|(id, _)| id == *process) => {
                    self.leader = None;
                }
                Event::EntryApplied { index, .. } => {
                    news = self.applied < *index;
                    self.applied = self.applied.max(*index);
                }
                event if news => self.record(event, step.at),
                _ => {}
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "listens to a few events")]
    fn record(&mut self, event: &Event, at: SimTime) {
        let mut end = |resource: &ResourceId, worker: &ProcessId, token: &Token, how: GrantEnd| {
            let grants = &mut self.records[usize::from(resource.0)].grants;
            let last = grants.last_mut();
            if let Some(grant) = last.filter(|g| (&g.worker, &g.token) == (worker, token)) {
                grant.ended = Some((at, how));
            }
        };
        match event {
            Event::LeaseReleased {
                resource,
                worker,
                token,
            } => {
                end(resource, worker, token, GrantEnd::Released);
            }
            Event::LeaseExpired {
                resource,
                worker,
                token,
            } => {
                end(resource, worker, token, GrantEnd::Expired);
            }
            // The service forgot who held it, and has waited until nobody can.
            Event::ResourceOpened { resource } => {
                let grants = &mut self.records[usize::from(resource.0)].grants;
                if let Some(grant) = grants.last_mut().filter(|grant| grant.ended.is_none()) {
                    grant.ended = Some((at, GrantEnd::Expired));
                }
            }
            Event::TableLost => self.records.iter_mut().for_each(|r| r.queue.clear()),
            Event::LeaseGranted {
                resource,
                worker,
                token,
            } => {
                let record = &mut self.records[usize::from(resource.0)];
                record.queue.retain(|waiter| waiter != worker);
                let (worker, token) = (*worker, *token);
                record.grants.push(Grant {
                    worker,
                    token,
                    from: at,
                    ended: None,
                });
            }
            Event::WaiterQueued {
                resource, worker, ..
            } => {
                self.records[usize::from(resource.0)].queue.push(*worker);
            }
            Event::WaiterLeft { resource, worker } => {
                self.records[usize::from(resource.0)]
                    .queue
                    .retain(|waiter| waiter != worker);
            }
            _ => {}
        }
    }
}
