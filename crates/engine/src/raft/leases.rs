//! The lease service at its leader: what it is asked, what it grants, and when a lease runs out.
//!
//! The clerk with the stopwatch. Grants and their ends are entries of the log; only when to ask for an end is
//! decided here, on this server's own monotonic clock.

use std::sync::Arc;

use super::{Armed, Renewal, Role, Server};
use crate::event::TimerKind;
use crate::event::{Event, RenewRefusal};
use crate::process::{AnswerTo, Cx, Message as Envelope, Recorder};
use crate::registry::{Applied, Closed, Holder, Op, Waiter};
use crate::rule::Rule;
use crate::service::{Answer, AnswerWhat, Ask, AskWhat};
use crate::switch::Switch;
use crate::units::{Duration, LocalTime, LogIndex, ProcessId, RequestId, ResourceId, Token};

impl Server {
    pub(super) fn on_ask<R: Recorder>(&mut self, asker: ProcessId, ask: Ask, cx: &mut Cx<'_, R>) {
        let Ask { request, what } = ask;
        let kind = match what {
            AskWhat::Acquire { .. } => AnswerTo::Acquire,
            AskWhat::Renew { .. } => AnswerTo::Renew,
            AskWhat::Release { .. } => AnswerTo::Release,
            AskWhat::Put { .. } => AnswerTo::Put,
            AskWhat::Register => AnswerTo::Register,
            AskWhat::Get { .. } => AnswerTo::Get,
        };
        // Any server may be asked to read.
        if !self.is_leader() && kind != AnswerTo::Get {
            return self.turn_away(asker, request, kind, cx);
        }
        // Reads and renewals are no entries: they keep until the handover is over, one way or the other.
        if let Some(to) = self.transferring()
            && !matches!(kind, AnswerTo::Get | AnswerTo::Renew)
        {
            cx.fact(Rule::NoWorkDuringHandover, || Event::WorkRefused {
                asker,
                to,
            });
            // No hint: the successor does not lead yet.
            let hint = None;
            answer(asker, request, AnswerWhat::NotLeader { hint }, kind, cx);
            return;
        }
        match what {
            AskWhat::Acquire { resource } => self.on_acquire(asker, request, resource, cx),
            AskWhat::Renew { resource, token } => {
                self.on_renew(
                    Renewal {
                        worker: asker,
                        request,
                        resource,
                        token,
                        round: 0,
                    },
                    cx,
                );
            }
            AskWhat::Release { resource, of } => {
                let counted = self.counted(resource, cx);
                let op = Op::Release {
                    worker: asker,
                    resource,
                    request,
                    of,
                    counted,
                };
                self.append(op, Rule::LeaderAppends, cx);
            }
            AskWhat::Put {
                key,
                value,
                session,
            } => {
                let op = Op::Put {
                    client: asker,
                    request,
                    key,
                    value,
                    session,
                };
                if !cx.is_on(Switch::ReplyAfterCommit) {
                    let index = LogIndex(0);
                    let what = AnswerWhat::Accepted { index };
                    answer(asker, request, what, AnswerTo::Put, cx);
                }
                self.append(op, Rule::LeaderAppends, cx);
            }
            AskWhat::Get { key, how, floor } => self.on_get(asker, request, (key, how, floor), cx),
            AskWhat::Register => {
                // The entry says how many to keep, so that every server lets the same ones go.
                let op = Op::Register {
                    client: asker,
                    request,
                    keep: cx.setup.sessions_max,
                };
                self.append(op, Rule::LeaderAppends, cx);
            }
        }
    }

    /// Tells an asker that another leads, and who that is if it knows.
    pub(super) fn turn_away<R: Recorder>(
        &self,
        asker: ProcessId,
        request: RequestId,
        to: AnswerTo,
        cx: &mut Cx<'_, R>,
    ) {
        let hint = self.leader_known();
        cx.fact(Rule::OnlyLeaderServes, || Event::NotLeaderAnswered {
            asker,
            hint,
        });
        answer(asker, request, AnswerWhat::NotLeader { hint }, to, cx);
    }

    fn on_acquire<R: Recorder>(
        &mut self,
        worker: ProcessId,
        request: RequestId,
        resource: ResourceId,
        cx: &mut Cx<'_, R>,
    ) {
        // What was applied already needs no second entry. A stale leader's answer does no harm: a grant
        // is counted from when the worker first asked, and one that is over is confirmed by a renewal.
        if cx.is_on(Switch::OpDedupe)
            && let Some(standing) = self.registry.standing(resource, worker, request)
        {
            cx.fact(Rule::RetryIsAnsweredOnce, || Event::RequestRepeated {
                asker: worker,
                request,
            });
            self.answer_applied(standing, cx);
            self.set_expiry_timer(cx);
            return;
        }
        let free = self.registry.resource(resource).is_free();
        let decided = free && !cx.is_on(Switch::GrantAtApply);
        let counted = self.counted(resource, cx);
        let op = Op::Acquire {
            worker,
            resource,
            request,
            decided,
            counted,
        };
        self.append(op, Rule::LeaderAppends, cx);
    }

    /// The token that a leader counts in memory where the counter is not replicated state.
    fn counted<R: Recorder>(&self, resource: ResourceId, cx: &Cx<'_, R>) -> Option<Token> {
        match &self.role {
            Role::Leader(leading) if !cx.is_on(Switch::DurableTokenCounter) => {
                Some(Token(leading.counted[usize::from(resource.0)] + 1))
            }
            Role::Leader(_)
            | Role::Follower { .. }
            | Role::PreCandidate { .. }
            | Role::Candidate { .. } => None,
        }
    }

    pub(super) fn apply<R: Recorder>(&mut self, index: LogIndex, cx: &mut Cx<'_, R>) {
        let entry = self.log.entry(index).expect("commit is within the log");
        cx.fact(Rule::ApplyInOrder, || Event::EntryApplied {
            index,
            term: entry.term,
            entry: entry.kind(),
        });
        let applied = self.registry.apply(&entry.op, cx.is_on(Switch::OpDedupe));
        match applied {
            Applied::Nothing => {
                // It has come too late: after what it repeats, or after what it was to end.
                let rule = if matches!(entry.op, Op::Acquire { .. }) {
                    Rule::RetryIsAnsweredOnce
                } else if matches!(entry.op, Op::DropWaiter { .. }) {
                    Rule::WaiterMustBeHeard
                } else if matches!(entry.op, Op::Open { .. }) {
                    Rule::LockDelay
                } else if matches!(entry.op, Op::Raise { .. }) {
                    Rule::OperatorRaises
                } else {
                    Rule::ExpiryIsLogged
                };
                if !matches!(entry.op, Op::Noop | Op::Config { .. }) {
                    cx.fact(rule, || Event::NothingToDo { index });
                }
            }
            Applied::Granted { resource, holder } => self.on_granted(resource, holder, cx),
            Applied::Queued {
                resource,
                waiter,
                place,
            } => {
                let worker = waiter.worker;
                cx.fact(Rule::QueueWhenHeld, || Event::WaiterQueued {
                    resource,
                    worker,
                    place,
                });
            }
            Applied::GrantRepeated {
                holder: Holder {
                    worker, request, ..
                },
                ..
            } => {
                cx.fact(Rule::RetryIsAnsweredOnce, || Event::RequestRepeated {
                    asker: worker,
                    request,
                });
            }
            Applied::QueueRepeated { waiter, .. } => {
                let (asker, request) = (waiter.worker, waiter.request);
                cx.fact(Rule::RetryIsAnsweredOnce, || Event::RequestRepeated {
                    asker,
                    request,
                });
            }
            Applied::Released {
                resource,
                ended,
                next,
                ..
            } => {
                let (worker, token) = (ended.worker, ended.token);
                cx.fact(Rule::ReleaseByHolder, || Event::LeaseReleased {
                    resource,
                    worker,
                    token,
                });
                self.on_ended(resource, next, cx);
            }
            Applied::LeftQueue {
                resource, worker, ..
            } => {
                cx.fact(Rule::LeaveQueue, || Event::WaiterLeft { resource, worker });
            }
            Applied::WaiterDropped { resource, worker } => {
                cx.fact(Rule::WaiterMustBeHeard, || Event::WaiterLeft {
                    resource,
                    worker,
                });
            }
            Applied::ReleaseRepeated { worker, request }
            | Applied::PutRepeated {
                client: worker,
                request,
            }
            | Applied::RegisterRepeated {
                client: worker,
                request,
            } => {
                cx.fact(Rule::RetryIsAnsweredOnce, || Event::RequestRepeated {
                    asker: worker,
                    request,
                });
            }
            Applied::Expired {
                resource,
                ended,
                closed,
                next,
            } => {
                let (worker, token) = (ended.worker, ended.token);
                cx.fact(Rule::ExpiryIsLogged, || Event::LeaseExpired {
                    resource,
                    worker,
                    token,
                });
                self.on_ended(resource, next, cx);
                if closed {
                    self.on_closed(Rule::LockDelay, resource, cx);
                }
            }
            Applied::Opened {
                resource,
                why,
                next,
            } => {
                cx.fact(rule_of(why), || Event::ResourceOpened { resource });
                self.on_ended(resource, next, cx);
            }
            Applied::TableLost {
                counter_kept,
                closed,
            } => {
                cx.fact(Rule::TableInMemory, || Event::TableLost);
                if let Role::Leader(leading) = &mut self.role
                    && !counter_kept
                {
                    leading.counted.fill(0);
                }
                for at in 0..self.armed.len() {
                    self.armed[at] = None;
                    if closed {
                        self.on_closed(Rule::StartupQuarantine, ResourceId(at as u8), cx);
                    }
                }
            }
            Applied::Raised { resource, to } => {
                if let Role::Leader(leading) = &mut self.role {
                    let counted = &mut leading.counted[usize::from(resource.0)];
                    *counted = to.0.max(*counted);
                }
                cx.fact(Rule::OperatorRaises, || Event::TokenRaised { resource, to });
            }
            Applied::Registered {
                client, expired, ..
            } => {
                if let Some(client) = expired {
                    cx.fact(Rule::SessionLeastUsedGoes, || Event::SessionExpired {
                        client,
                    });
                }
                cx.fact(Rule::SessionFirst, || Event::SessionOpened { client });
            }
            Applied::SessionUnknown { client, request } => {
                cx.fact(Rule::SessionUnknownRefused, || Event::SessionUnknown {
                    client,
                    request,
                });
            }
            Applied::Put { client, request } => {
                if let Op::Put { key, value, .. } = &entry.op {
                    let (key, value): (Arc<str>, Arc<str>) = (key.clone(), value.clone());
                    cx.fact(Rule::PutIsApplied, || Event::PutApplied {
                        client,
                        request,
                        key,
                        value,
                    });
                }
            }
        }
        if self.is_leader() {
            self.answer_applied(applied, cx);
            self.set_expiry_timer(cx);
        }
    }

    /// A grant is over; the resource may have gone to the next in line with the same entry.
    fn on_ended<R: Recorder>(
        &mut self,
        resource: ResourceId,
        next: Option<Holder>,
        cx: &mut Cx<'_, R>,
    ) {
        self.armed[usize::from(resource.0)] = None;
        if let Some(holder) = next {
            self.on_granted(resource, holder, cx);
        }
    }

    /// Nobody gets it before this server, while it leads, has counted the wait in full.
    fn on_closed<R: Recorder>(&mut self, rule: Rule, resource: ResourceId, cx: &mut Cx<'_, R>) {
        cx.fact(rule, || Event::ResourceClosed { resource });
        if let Some((_, token)) = self.registry.resource(resource).closed {
            self.count_down(resource, token, cx);
        }
    }

    fn on_granted<R: Recorder>(
        &mut self,
        resource: ResourceId,
        holder: Holder,
        cx: &mut Cx<'_, R>,
    ) {
        let Holder { worker, token, .. } = holder;
        cx.fact(Rule::GrantWhenFree, || Event::LeaseGranted {
            resource,
            worker,
            token,
        });
        self.arm(resource, token, cx);
        if let Role::Leader(leading) = &mut self.role {
            leading.counted[usize::from(resource.0)] += 1;
        }
    }

    /// Tells the asker what its entry came to; the leader that applies it answers, whoever proposed it.
    fn answer_applied<R: Recorder>(&mut self, applied: Applied, cx: &mut Cx<'_, R>) {
        let grant = |resource, holder: Holder, cx: &mut Cx<'_, R>| {
            let what = AnswerWhat::Granted {
                resource,
                token: holder.token,
            };
            answer(holder.worker, holder.request, what, AnswerTo::Acquire, cx);
        };
        match applied {
            Applied::Nothing
            | Applied::WaiterDropped { .. }
            | Applied::TableLost { .. }
            | Applied::Raised { .. } => {}
            Applied::Granted { resource, holder } | Applied::GrantRepeated { resource, holder } => {
                grant(resource, holder, cx);
            }
            Applied::Queued {
                resource,
                waiter,
                place,
            }
            | Applied::QueueRepeated {
                resource,
                waiter,
                place,
            } => {
                self.hear_waiter(resource, waiter.worker, cx);
                let what = AnswerWhat::Queued { resource, place };
                answer(waiter.worker, waiter.request, what, AnswerTo::Acquire, cx);
            }
            Applied::Released {
                resource,
                ended,
                request,
                next,
            } => {
                answer(
                    ended.worker,
                    request,
                    AnswerWhat::Released,
                    AnswerTo::Release,
                    cx,
                );
                if let Some(holder) = next {
                    grant(resource, holder, cx);
                }
            }
            Applied::LeftQueue {
                worker, request, ..
            }
            | Applied::ReleaseRepeated { worker, request } => {
                answer(worker, request, AnswerWhat::Released, AnswerTo::Release, cx);
            }
            Applied::Expired { resource, next, .. } | Applied::Opened { resource, next, .. } => {
                if let Some(holder) = next {
                    grant(resource, holder, cx);
                }
            }
            Applied::Put { client, request } | Applied::PutRepeated { client, request } => {
                if cx.is_on(Switch::ReplyAfterCommit) {
                    let index = self.applied;
                    let what = AnswerWhat::Accepted { index };
                    answer(client, request, what, AnswerTo::Put, cx);
                }
            }
            Applied::SessionUnknown { client, request } => {
                answer(
                    client,
                    request,
                    AnswerWhat::SessionExpired,
                    AnswerTo::Put,
                    cx,
                );
            }
            Applied::Registered {
                client, request, ..
            }
            | Applied::RegisterRepeated { client, request } => {
                answer(
                    client,
                    request,
                    AnswerWhat::Registered,
                    AnswerTo::Register,
                    cx,
                );
            }
        }
    }

    fn arm<R: Recorder>(&mut self, resource: ResourceId, token: Token, cx: &mut Cx<'_, R>) {
        let until = self.count_down(resource, token, cx);
        if self.is_leader() {
            cx.fact(Rule::ExpiryByLeadersClock, || Event::LeaseArmed {
                resource,
                until,
                token,
            });
        }
    }

    /// From now on, in full, whatever time this resource's state lasts.
    pub(super) fn count_down<R: Recorder>(
        &mut self,
        resource: ResourceId,
        token: Token,
        cx: &Cx<'_, R>,
    ) -> LocalTime {
        let until = cx
            .moment()
            .plus(match self.registry.resource(resource).closed {
                Some((Closed::Expired, _)) => cx.setup.lock_delay,
                Some((Closed::TableLost, _)) | None => cx.setup.lease,
            });
        self.armed[usize::from(resource.0)] = Some(Armed {
            token,
            until,
            expiring: false,
        });
        until.monotonic
    }

    /// A new leader cannot know how long ago a holder renewed: every lease gets its full time again, and so does
    /// every wait after one.
    pub(super) fn rearm_leases<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let extend = cx.is_on(Switch::FailoverExtendsLeases);
        let mut count = 0;
        for at in 0..self.armed.len() {
            let resource = ResourceId(at as u8);
            for waiter in self.registry.resource(resource).queue.clone() {
                self.hear_waiter(resource, waiter.worker, cx);
            }
            let Some(armed) = &mut self.armed[at] else {
                continue;
            };
            armed.expiring = false;
            if extend {
                let token = armed.token;
                self.count_down(resource, token, cx);
                count += u32::from(self.registry.resource(resource).holder.is_some());
            }
        }
        if count > 0 {
            cx.fact(Rule::NewLeaderRearmsLeases, || Event::LeasesRearmed {
                count,
            });
        }
    }

    /// A service that keeps its table in memory opens its first term after a start with the loss of it. The log
    /// stays, for the keys; a log that is empty has no grant to be afraid of.
    pub(super) fn lose_table<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh && cx.setup.table_in_memory && self.log.last_index() != LogIndex(0) {
            let op = Op::TableLost {
                counter_kept: cx.is_on(Switch::DurableTokenCounter),
                closes: cx.is_on(Switch::StartupQuarantine),
            };
            self.append(op, Rule::TableInMemory, cx);
        }
    }

    pub(super) fn on_raise<R: Recorder>(
        &mut self,
        resource: ResourceId,
        to: Token,
        cx: &mut Cx<'_, R>,
    ) {
        self.append(Op::Raise { resource, to }, Rule::OperatorRaises, cx);
    }

    pub(super) fn set_expiry_timer<R: Recorder>(&self, cx: &mut Cx<'_, R>) {
        let pending = self.armed.iter().flatten().filter(|a| !a.expiring);
        let waiters = if let Role::Leader(leading) = &self.role
            && cx.is_on(Switch::WaiterSession)
        {
            &leading.waiters[..]
        } else {
            &[]
        };
        let waiters = waiters
            .iter()
            .filter(|(resource, worker, _)| self.registry.waiter(*resource, *worker).is_some())
            .map(|(_, _, until)| *until);
        let pending = pending.map(|a| cx.now.plus(cx.left_until(a.until)));
        match pending.chain(waiters).min() {
            Some(at) => cx.set_timer_at(TimerKind::Expiry, at.max(cx.now)),
            None => cx.cancel_timer(TimerKind::Expiry),
        }
    }

    /// A waiter asked again: it keeps its place for a lease more, or for a few of its own periods if that is longer.
    fn hear_waiter<R: Recorder>(
        &mut self,
        resource: ResourceId,
        worker: ProcessId,
        cx: &Cx<'_, R>,
    ) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let few_periods = Duration(cx.setup.answer_timeout.0 * 6);
        let until = cx.now.plus(cx.setup.lease.max(few_periods));
        let mut known = leading.waiters.iter_mut();
        match known.find(|(r, w, _)| (*r, *w) == (resource, worker)) {
            Some(known) => known.2 = until,
            None => leading.waiters.push((resource, worker, until)),
        }
    }

    /// Asks for an end of the places of those who have fallen silent.
    fn drop_silent_waiters<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let registry = &self.registry;
        leading
            .waiters
            .retain(|(r, w, _)| registry.waiter(*r, *w).is_some());
        if !cx.is_on(Switch::WaiterSession) {
            return;
        }
        let silent = leading
            .waiters
            .iter()
            .filter(|(.., until)| *until <= cx.now);
        let silent: Vec<_> = silent
            .filter_map(|(r, w, _)| Some((*r, registry.waiter(*r, *w)?)))
            .collect();
        for (resource, Waiter { worker, request }) in silent {
            // Should this entry come to nothing, it is looked at again after as long.
            self.hear_waiter(resource, worker, cx);
            let op = Op::DropWaiter {
                worker,
                resource,
                request,
            };
            self.append(op, Rule::WaiterMustBeHeard, cx);
        }
    }

    pub(super) fn on_expiry_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        // First, so that no lease goes to one who has been silent for as long.
        self.drop_silent_waiters(cx);
        for at in 0..self.armed.len() {
            let resource = ResourceId(at as u8);
            let Some(armed) = &mut self.armed[at] else {
                continue;
            };
            if armed.expiring || !cx.is_past(armed.until) {
                continue;
            }
            armed.expiring = true;
            let token = armed.token;
            let counted = self.counted(resource, cx);
            if let Some((why, _)) = self.registry.resource(resource).closed {
                let op = Op::Open {
                    resource,
                    token,
                    counted,
                };
                self.append(op, rule_of(why), cx);
                continue;
            }
            cx.fact(Rule::ExpiryByLeadersClock, || Event::ExpiryProposed {
                resource,
                token,
            });
            let closes = cx.is_on(Switch::LockDelay) && cx.setup.lock_delay != Duration::ZERO;
            let op = Op::Expire {
                resource,
                token,
                counted,
                closes,
            };
            self.append(op, Rule::ExpiryIsLogged, cx);
        }
        self.set_expiry_timer(cx);
    }

    fn on_renew<R: Recorder>(&mut self, mut renewal: Renewal, cx: &mut Cx<'_, R>) {
        let (worker, resource) = (renewal.worker, renewal.resource);
        cx.fact(Rule::RenewConfirmedByMajority, || Event::RenewalReceived {
            worker,
            resource,
        });
        if !cx.is_on(Switch::RenewQuorumRound) {
            self.decide_renewal(renewal, cx);
            return;
        }
        // Only answers to a round that begins after the renewal arrived show that nobody else led then.
        self.broadcast(cx);
        if let Role::Leader(leading) = &mut self.role {
            renewal.round = leading.round;
            leading.renewals.push(renewal);
        }
        self.confirm_round(cx);
    }

    pub(super) fn confirm_renewals<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let (applied, config) = (self.applied, self.counting(cx));
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        if leading.renewals.is_empty() || applied < leading.first_index {
            return;
        }
        let confirmed = config.agreed(|id| leading.progress[usize::from(id.0)].round);
        let (ready, waiting): (Vec<_>, Vec<_>) = leading
            .renewals
            .iter()
            .copied()
            .partition(|r| r.round <= confirmed);
        leading.renewals = waiting;
        for renewal in ready {
            self.decide_renewal(renewal, cx);
        }
    }

    fn decide_renewal<R: Recorder>(&mut self, renewal: Renewal, cx: &mut Cx<'_, R>) {
        let Renewal {
            worker,
            request,
            resource,
            token,
            ..
        } = renewal;
        let holder = self.registry.resource(resource).holder;
        let armed = &mut self.armed[usize::from(resource.0)];
        let refusal = match (holder, armed.as_mut()) {
            (Some(holder), _) if holder.worker != worker => Some(RenewRefusal::NotHolder),
            (Some(holder), _) if holder.token != token => Some(RenewRefusal::OtherToken {
                current: holder.token,
            }),
            // Expiry first: at the very tick, the lease is over.
            (Some(_), Some(armed)) if armed.expiring || cx.is_past(armed.until) => {
                Some(RenewRefusal::Expiring)
            }
            (Some(_), Some(armed)) => {
                armed.until = cx.moment().plus(cx.setup.lease);
                None
            }
            (None, _) | (_, None) => Some(RenewRefusal::NotHolder),
        };
        let what = match refusal {
            Some(why) => {
                cx.fact(Rule::RenewRefusedToOthers, || Event::RenewalRefused {
                    worker,
                    resource,
                    why,
                });
                AnswerWhat::RenewRefused { resource, why }
            }
            None => {
                let until = cx.now.plus(cx.setup.lease);
                cx.fact(Rule::RenewHolderOnly, || Event::RenewalConfirmed {
                    worker,
                    resource,
                    until,
                });
                self.set_expiry_timer(cx);
                AnswerWhat::Renewed { resource, token }
            }
        };
        answer(worker, request, what, AnswerTo::Renew, cx);
    }
}

const fn rule_of(closed: Closed) -> Rule {
    match closed {
        Closed::Expired => Rule::LockDelay,
        Closed::TableLost => Rule::StartupQuarantine,
    }
}

pub(super) fn answer<R: Recorder>(
    to: ProcessId,
    request: RequestId,
    what: AnswerWhat,
    kind: AnswerTo,
    cx: &mut Cx<'_, R>,
) {
    cx.send(to, Envelope::Answer(Answer { request, what }, kind));
}
