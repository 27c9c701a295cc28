//! Who wants to hold a lease: it finds the service's leader, waits, renews, checks and writes.
//!
//! A borrower who notes the return date in their own calendar, counted from the day they asked and not
//! from the day the book arrived. It holds at most one lease. What it believes comes from what it saw.

use crate::event::{Event, TimerKind, Verdict};
use crate::process::{Cx, Input, Message, Moment, Recorder};
use crate::rule::Rule;
use crate::service::{Answer, AnswerWhat, Ask, AskWhat};
use crate::store::Scope;
use crate::switch::Switch;
use crate::units::{Duration, LocalTime, ProcessId, RequestId, ResourceId, Token, WallTime};
use crate::writer::{Authority, Belief, Writer, Writing};

/// How many renewals may be without an answer; older ones are forgotten.
const RENEWALS_OPEN_MAX: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asking {
    resource: ResourceId,
    request: RequestId,
    first_sent: Moment,
    attempt: u32,
    /// Its place in the queue, once the service has told it.
    place: Option<u32>,
    /// Whether the last time that it asked was answered.
    answered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Holding {
    resource: ResourceId,
    token: Token,
    /// With which it asked.
    request: RequestId,
    deadline: Moment,
    /// A grant with too little time left when it came holds only once a renewal confirms it.
    confirmed: bool,
    in_jeopardy: bool,
    /// Its deadline has passed and its grace has not: it does nothing, and can still be confirmed.
    in_grace: bool,
    /// Renewals without an answer, with when each was sent.
    open: Vec<(RequestId, Moment)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Lease {
    Idle,
    Asking(Asking),
    Holding(Holding),
}

/// What it has given back, until the service says that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Releasing {
    resource: ResourceId,
    request: RequestId,
    /// The request by which it had asked.
    of: RequestId,
}

/// Where a worker stands with its lease, as it sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseView {
    Idle,
    Asking {
        resource: ResourceId,
    },
    Queued {
        resource: ResourceId,
        place: u32,
    },
    Held {
        resource: ResourceId,
        token: Token,
        deadline: LocalTime,
        in_jeopardy: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    lease: Lease,
    releasing: Option<Releasing>,
    /// What it wants to hold, for as long as it is not told to release it.
    wanted: Option<ResourceId>,
    /// The server that it asks next.
    target: Option<ProcessId>,
    /// The token of its last lease: all that a worker without a check goes by.
    last_token: Token,
    /// What that token counts within.
    last_scope: Scope,
    writer: Writer,
}

impl Worker {
    #[must_use]
    pub fn new(wanted: Option<ResourceId>) -> Self {
        let writer = Writer::default();
        Self {
            lease: Lease::Idle,
            releasing: None,
            wanted,
            target: None,
            last_token: Token(0),
            last_scope: Scope::Nothing,
            writer,
        }
    }

    #[must_use]
    pub const fn belief(&self) -> Option<&Belief> {
        self.writer.belief()
    }

    /// The verdict of its last check, if that was about `resource`.
    #[must_use]
    pub fn verdict_on(&self, resource: ResourceId) -> Option<Verdict> {
        self.belief()
            .filter(|b| b.resource == Some(resource))
            .map(|b| b.verdict)
    }

    #[must_use]
    pub const fn writing(&self) -> Option<&Writing> {
        self.writer.writing()
    }

    #[must_use]
    pub fn lease(&self) -> LeaseView {
        match &self.lease {
            Lease::Idle => LeaseView::Idle,
            Lease::Asking(asking) => match asking.place {
                Some(place) => LeaseView::Queued {
                    resource: asking.resource,
                    place,
                },
                None => LeaseView::Asking {
                    resource: asking.resource,
                },
            },
            Lease::Holding(held) if !held.confirmed => LeaseView::Asking {
                resource: held.resource,
            },
            Lease::Holding(held) => LeaseView::Held {
                resource: held.resource,
                token: held.token,
                deadline: held.deadline.monotonic,
                in_jeopardy: held.in_jeopardy,
            },
        }
    }

    /// Its deadline on each clock, while it holds by its own count.
    #[must_use]
    pub fn deadline(&self) -> Option<(ResourceId, Token, LocalTime, WallTime)> {
        match &self.lease {
            Lease::Holding(h) if h.confirmed && !h.in_grace => {
                Some((h.resource, h.token, h.deadline.monotonic, h.deadline.wall))
            }
            Lease::Idle | Lease::Asking(_) | Lease::Holding(_) => None,
        }
    }

    /// Writes that wait behind the one under way.
    #[must_use]
    pub fn writes_waiting(&self) -> usize {
        self.writer.waiting()
    }

    /// After a start or a restart: it will ask for what it wants after `wait`.
    pub(crate) fn start<R: Recorder>(&mut self, wait: Duration, cx: &mut Cx<'_, R>) {
        if self.wanted.is_some() {
            cx.set_timer(TimerKind::Ask, wait);
        }
    }

    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        match input {
            Input::Message {
                from,
                message: Message::Answer(answer, _),
            } => {
                self.on_answer(from, answer, cx);
            }
            Input::Message {
                message: Message::WriteAnswer(answer),
                ..
            } => {
                let authority = self.authority(cx);
                self.writer.on_answer(answer, authority, cx);
            }
            Input::Message { from, .. } => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Input::Timer(TimerKind::Ask) => self.on_ask_timer(cx),
            Input::Timer(TimerKind::Renew) => self.on_renew_timer(cx),
            Input::Timer(TimerKind::RenewTimeout) => self.on_renew_timeout(cx),
            Input::Timer(TimerKind::ReleaseTimeout) => {
                self.try_next_server(cx);
                self.send_release(cx);
            }
            Input::Timer(TimerKind::Deadline) => self.on_deadline(cx),
            Input::Timer(TimerKind::Work) => self.writer.on_work_done(cx),
            Input::Timer(TimerKind::WriteTimeout) => {
                let authority = self.authority(cx);
                self.writer.on_timeout(authority, cx);
            }
            Input::Write(job) => {
                let authority = self.authority(cx);
                self.writer.on_write(job, authority, cx);
            }
            Input::Acquire { resource } => self.on_acquire(resource, cx),
            Input::Release => self.on_release(cx),
            Input::Timer(
                TimerKind::Election
                | TimerKind::Heartbeat
                | TimerKind::Quorum
                | TimerKind::Transfer
                | TimerKind::Expiry
                | TimerKind::ClientTimeout
                | TimerKind::StoreWrite,
            )
            | Input::Synced { .. }
            | Input::Put { .. }
            | Input::Get { .. }
            | Input::Campaign
            | Input::Transfer { .. }
            | Input::Compact
            | Input::Change { .. }
            | Input::Raise { .. } => unreachable!("the world gives workers none of these"),
        }
    }

    // What it goes by -----------------------------------------------------------------------

    fn authority<R: Recorder>(&self, cx: &Cx<'_, R>) -> Authority {
        let (verdict, token, resource) = match &self.lease {
            // Without a grace its end is the deadline itself.
            Lease::Holding(held)
                if held.confirmed && !cx.is_past(held.deadline.plus(cx.setup.grace)) =>
            {
                let verdict = if held.in_jeopardy || held.in_grace || cx.is_past(held.deadline) {
                    Verdict::Doubt
                } else {
                    Verdict::Mine
                };
                (verdict, held.token, Some(held.resource))
            }
            Lease::Holding(held) => (Verdict::NotMine, self.last_token, Some(held.resource)),
            Lease::Asking(asking) => (Verdict::NotMine, self.last_token, Some(asking.resource)),
            Lease::Idle => (Verdict::NotMine, self.last_token, self.wanted),
        };
        Authority {
            verdict,
            token,
            // Whatever it holds or waits for now, the token is that of the last grant.
            scope: self.last_scope,
            resource,
            rule: Rule::CheckOwnDeadline,
        }
    }

    /// Looks at its lease without a write in hand.
    fn look<R: Recorder>(&mut self, cx: &Cx<'_, R>) {
        let authority = self.authority(cx);
        self.writer.believe(authority, cx.now);
    }

    // Asking --------------------------------------------------------------------------------

    fn on_acquire<R: Recorder>(&mut self, resource: ResourceId, cx: &mut Cx<'_, R>) {
        if self.wanted != Some(resource) {
            self.wanted = Some(resource);
            cx.fact(Rule::Commanded, || Event::LeaseWanted { resource });
        }
        if matches!(self.lease, Lease::Idle) {
            self.ask_anew(resource, cx);
        }
    }

    fn on_ask_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        match (&self.lease, self.wanted) {
            (Lease::Idle, Some(resource)) => self.ask_anew(resource, cx),
            (Lease::Asking(asking), _) => {
                // A waiter looks now and then whether it still waits; without an answer it tries elsewhere.
                if !asking.answered {
                    self.try_next_server(cx);
                }
                self.ask(cx);
            }
            (Lease::Idle | Lease::Holding(_), _) => {}
        }
    }

    fn ask_anew<R: Recorder>(&mut self, resource: ResourceId, cx: &mut Cx<'_, R>) {
        let request = cx.next_request();
        let first_sent = cx.moment();
        self.lease = Lease::Asking(Asking {
            resource,
            request,
            first_sent,
            attempt: 0,
            place: None,
            answered: false,
        });
        self.ask(cx);
    }

    fn ask<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Some(server) = self.server(cx) else {
            return;
        };
        let Lease::Asking(asking) = &mut self.lease else {
            return;
        };
        asking.attempt += 1;
        asking.answered = false;
        if !cx.is_on(Switch::OpDedupe) {
            // Each try looks like a new wish.
            asking.request = cx.next_request();
        }
        let Asking {
            resource,
            request,
            attempt,
            place,
            ..
        } = *asking;
        let rule = if attempt == 1 {
            Rule::WorkerAsksForLease
        } else {
            Rule::AskAgain
        };
        cx.fact(rule, || Event::LeaseAsked {
            resource,
            server,
            request,
            attempt,
        });
        cx.send(
            server,
            Message::Ask(Ask {
                request,
                what: AskWhat::Acquire { resource },
            }),
        );
        let wait = cx.setup.answer_timeout;
        let wait = if place.is_some() {
            Duration(wait.0 * 2)
        } else {
            wait
        };
        cx.set_timer(TimerKind::Ask, wait);
    }

    /// The server to ask: the last that answered or was hinted at, the first to begin with.
    fn server<R: Recorder>(&mut self, cx: &Cx<'_, R>) -> Option<ProcessId> {
        self.target = self.target.or_else(|| cx.servers.iter().next());
        self.target
    }

    fn try_next_server<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let count = cx.servers.len() as u8;
        if let Some(target) = self.target
            && count > 1
        {
            let server = ProcessId((target.0 + 1) % count);
            self.target = Some(server);
            cx.fact(Rule::AskAgain, || Event::ServerTried { server });
        }
    }

    fn on_answer<R: Recorder>(&mut self, from: ProcessId, answer: Answer, cx: &mut Cx<'_, R>) {
        let Answer { request, what } = answer;
        match what {
            AnswerWhat::NotLeader { hint } => self.on_not_leader(from, request, hint, cx),
            AnswerWhat::Granted { resource, token } => {
                self.on_granted(from, request, resource, token, cx);
            }
            AnswerWhat::Queued { resource, place } => match &mut self.lease {
                Lease::Asking(asking) if asking.request == request => {
                    asking.place = Some(place);
                    asking.answered = true;
                    self.target = Some(from);
                    cx.fact(Rule::WaitInQueue, || Event::QueuedForLease {
                        resource,
                        place,
                    });
                    cx.set_timer(TimerKind::Ask, Duration(cx.setup.answer_timeout.0 * 2));
                    self.look(cx);
                }
                Lease::Idle | Lease::Asking(_) | Lease::Holding(_) => ignore(from, cx),
            },
            AnswerWhat::Renewed { token, .. } => self.on_renewed(from, request, token, cx),
            AnswerWhat::RenewRefused { .. } => self.on_renew_refused(from, request, cx),
            AnswerWhat::Released => match self.releasing {
                Some(Releasing {
                    resource,
                    request: waits_for,
                    ..
                }) if waits_for == request => {
                    self.releasing = None;
                    cx.cancel_timer(TimerKind::ReleaseTimeout);
                    cx.fact(Rule::GiveBack, || Event::ReleaseConfirmed { resource });
                }
                Some(_) | None => ignore(from, cx),
            },
            AnswerWhat::Accepted { .. }
            | AnswerWhat::Read(_)
            | AnswerWhat::Registered
            | AnswerWhat::SessionExpired => ignore(from, cx),
        }
    }

    fn on_not_leader<R: Recorder>(
        &mut self,
        from: ProcessId,
        request: RequestId,
        hint: Option<ProcessId>,
        cx: &mut Cx<'_, R>,
    ) {
        let asks = matches!(&self.lease, Lease::Asking(a) if a.request == request);
        let renews =
            matches!(&self.lease, Lease::Holding(h) if h.open.iter().any(|(r, _)| *r == request));
        let releases = self.releasing.is_some_and(|r| r.request == request);
        if !asks && !renews && !releases {
            ignore(from, cx);
            return;
        }
        match hint {
            Some(server) if server != from => {
                self.target = Some(server);
                cx.fact(Rule::FollowHint, || Event::ServerTried { server });
                if asks {
                    self.ask(cx);
                } else if renews {
                    self.renew(cx);
                } else {
                    self.send_release(cx);
                }
            }
            Some(_) | None => {
                // Nobody leads there: the timer that is running tries the next server.
                self.target = Some(from);
                cx.fact(Rule::AskAgain, || Event::ReplyIgnored { from });
            }
        }
    }

    fn on_granted<R: Recorder>(
        &mut self,
        from: ProcessId,
        request: RequestId,
        resource: ResourceId,
        token: Token,
        cx: &mut Cx<'_, R>,
    ) {
        let Lease::Asking(asking) = &self.lease else {
            return ignore(from, cx);
        };
        if asking.request != request {
            return ignore(from, cx);
        }
        // The grant is no older than the first time it was asked for: count from there.
        let counted_from = if cx.is_on(Switch::ConservativeDeadline) {
            asking.first_sent
        } else {
            cx.moment()
        };
        let deadline = counted_from.plus(lease_to_count(cx));
        let mut held = Holding {
            resource,
            token,
            request,
            deadline,
            confirmed: true,
            in_jeopardy: false,
            in_grace: false,
            open: Vec::new(),
        };
        // With less time left than a renewal takes to come round, it relies on nothing before one did.
        held.confirmed =
            !cx.is_past(deadline) && cx.setup.renew_every < deadline.monotonic.since(cx.now);
        let confirmed = held.confirmed;
        self.target = Some(from);
        self.last_token = token;
        self.last_scope = Scope::Lease(resource);
        self.lease = Lease::Holding(held);
        cx.cancel_timer(TimerKind::Ask);
        if confirmed {
            self.note_received(cx);
            self.set_renew_timer(cx);
        } else {
            cx.fact(Rule::DeadlineFromSendTime, || Event::GrantTooLate {
                resource,
                token,
            });
            self.renew(cx);
        }
        self.look(cx);
        if confirmed {
            self.writer.claim_all(self.authority(cx), cx);
        }
    }

    fn note_received<R: Recorder>(&self, cx: &mut Cx<'_, R>) {
        let Lease::Holding(held) = &self.lease else {
            return;
        };
        let (resource, token, deadline) = (held.resource, held.token, held.deadline.monotonic);
        let left = deadline.since(cx.now);
        cx.fact(Rule::DeadlineFromSendTime, || Event::LeaseReceived {
            resource,
            token,
            deadline,
            left,
        });
        cx.set_timer_at(TimerKind::Deadline, deadline);
    }

    // Renewing ------------------------------------------------------------------------------

    fn on_renew_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.renew(cx);
    }

    fn renew<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if let Lease::Holding(held) = &self.lease
            && self.writer.is_stuck(cx)
        {
            // Alive is not enough: it looks again whether its work goes on.
            let resource = held.resource;
            cx.fact(Rule::RenewFromWork, || Event::RenewalWithheld { resource });
            cx.set_timer(TimerKind::Renew, cx.setup.renew_every);
            return;
        }
        let Some(server) = self.server(cx) else {
            return;
        };
        let request = cx.next_request();
        let sent = cx.moment();
        let Lease::Holding(held) = &mut self.lease else {
            return;
        };
        if held.open.len() == RENEWALS_OPEN_MAX {
            held.open.remove(0);
        }
        held.open.push((request, sent));
        let (resource, token) = (held.resource, held.token);
        cx.fact(Rule::RenewEarly, || Event::RenewalSent { resource, server });
        cx.send(
            server,
            Message::Ask(Ask {
                request,
                what: AskWhat::Renew { resource, token },
            }),
        );
        cx.set_timer(TimerKind::RenewTimeout, cx.setup.answer_timeout);
        cx.cancel_timer(TimerKind::Renew);
    }

    /// No answer in time: it may be the leader that is gone, or only the answer.
    fn on_renew_timeout<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Lease::Holding(held) = &mut self.lease else {
            return;
        };
        let resource = held.resource;
        if held.confirmed && !held.in_jeopardy && cx.is_on(Switch::Jeopardy) {
            held.in_jeopardy = true;
            cx.fact(Rule::JeopardyWithoutEvidence, || Event::JeopardyBegan {
                resource,
            });
            self.look(cx);
        }
        self.try_next_server(cx);
        self.renew(cx);
    }

    fn on_renewed<R: Recorder>(
        &mut self,
        from: ProcessId,
        request: RequestId,
        token: Token,
        cx: &mut Cx<'_, R>,
    ) {
        let Lease::Holding(held) = &mut self.lease else {
            return ignore(from, cx);
        };
        let Some(at) = held.open.iter().position(|(r, _)| *r == request) else {
            return ignore(from, cx);
        };
        let (_, sent) = held.open[at];
        held.open.drain(..=at);
        let counted_from = if cx.is_on(Switch::ConservativeDeadline) {
            sent
        } else {
            cx.moment()
        };
        let deadline = counted_from.plus(lease_to_count(cx));
        held.deadline.monotonic = held.deadline.monotonic.max(deadline.monotonic);
        held.deadline.wall = held.deadline.wall.max(deadline.wall);
        // An answer to what was asked long ago: it does not bring the deadline back.
        if held.in_grace && cx.is_past(held.deadline) {
            return ignore(from, cx);
        }
        held.in_grace = false;
        let (resource, was_confirmed) = (held.resource, held.confirmed);
        let ended_jeopardy = std::mem::take(&mut held.in_jeopardy);
        held.confirmed = true;
        let local = held.deadline.monotonic;
        self.target = Some(from);
        if was_confirmed {
            let left = local.since(cx.now);
            cx.fact(Rule::RenewalExtends, || Event::LeaseRenewed {
                resource,
                token,
                deadline: local,
                left,
            });
            cx.set_timer_at(TimerKind::Deadline, local);
        } else {
            self.note_received(cx);
        }
        if ended_jeopardy {
            cx.fact(Rule::EvidenceEndsJeopardy, || Event::JeopardyEnded {
                resource,
            });
        }
        cx.cancel_timer(TimerKind::RenewTimeout);
        self.set_renew_timer(cx);
        self.look(cx);
        if !was_confirmed {
            self.writer.claim_all(self.authority(cx), cx);
        }
    }

    /// The next renewal: at its usual interval, or halfway to the deadline where that is sooner.
    fn set_renew_timer<R: Recorder>(&self, cx: &mut Cx<'_, R>) {
        let Lease::Holding(held) = &self.lease else {
            return;
        };
        let half = Duration(held.deadline.monotonic.since(cx.now).0 / 2);
        cx.set_timer(TimerKind::Renew, cx.setup.renew_every.min(half));
    }

    fn on_renew_refused<R: Recorder>(
        &mut self,
        from: ProcessId,
        request: RequestId,
        cx: &mut Cx<'_, R>,
    ) {
        let Lease::Holding(held) = &self.lease else {
            return ignore(from, cx);
        };
        if !held.open.iter().any(|(r, _)| *r == request) {
            return ignore(from, cx);
        }
        let (resource, token) = (held.resource, held.token);
        cx.fact(Rule::ToldItIsLost, || Event::LeaseLost { resource, token });
        self.lose(cx);
    }

    fn on_deadline<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Lease::Holding(held) = &mut self.lease else {
            return;
        };
        let (resource, token) = (held.resource, held.token);
        let end = held.deadline.plus(cx.setup.grace);
        let next = if held.in_grace { end } else { held.deadline };
        if !cx.is_past(next) {
            // By the wall clock, it is not over yet: look again when that clock would say so.
            cx.set_timer(TimerKind::Deadline, cx.left_until(next));
            return;
        }
        if !cx.is_past(end) {
            held.in_grace = true;
            if !std::mem::replace(&mut held.in_jeopardy, true) {
                cx.fact(Rule::JeopardyWithoutEvidence, || Event::JeopardyBegan {
                    resource,
                });
            }
            cx.fact(Rule::GraceAfterDeadline, || Event::GraceBegan {
                resource,
                token,
            });
            cx.set_timer(TimerKind::Deadline, cx.left_until(end));
            self.look(cx);
            return;
        }
        let rule = if held.in_grace {
            Rule::GraceAfterDeadline
        } else {
            Rule::OwnDeadlinePassed
        };
        cx.fact(rule, || Event::LeaseLapsed { resource, token });
        self.lose(cx);
    }

    /// Losing authority: it stops at once, and queues again if it still wants it.
    fn lose<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.lease = Lease::Idle;
        for timer in [
            TimerKind::Renew,
            TimerKind::RenewTimeout,
            TimerKind::Deadline,
        ] {
            cx.cancel_timer(timer);
        }
        self.look(cx);
        if let Some(resource) = self.wanted {
            self.ask_anew(resource, cx);
        }
    }

    fn on_release<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let wanted = self.wanted.take();
        let (resource, of) = match &self.lease {
            Lease::Idle => {
                let resource = wanted.unwrap_or(ResourceId(0));
                cx.cancel_timer(TimerKind::Ask);
                cx.fact(Rule::GiveBack, || Event::StoppedWaiting { resource });
                return;
            }
            Lease::Asking(asking) => {
                let resource = asking.resource;
                cx.fact(Rule::GiveBack, || Event::StoppedWaiting { resource });
                (resource, asking.request)
            }
            Lease::Holding(held) => {
                let (resource, token) = (held.resource, held.token);
                cx.fact(Rule::GiveBack, || Event::LeaseGivenBack { resource, token });
                (resource, held.request)
            }
        };
        // It stops believing before it tells anyone.
        self.lease = Lease::Idle;
        for timer in [
            TimerKind::Ask,
            TimerKind::Renew,
            TimerKind::RenewTimeout,
            TimerKind::Deadline,
        ] {
            cx.cancel_timer(timer);
        }
        self.look(cx);
        let request = cx.next_request();
        self.releasing = Some(Releasing {
            resource,
            request,
            of,
        });
        self.send_release(cx);
    }

    /// Tells the service what it gives back, with the same number until it is answered.
    fn send_release<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Some(server) = self.server(cx) else {
            return;
        };
        let Some(Releasing {
            resource,
            request,
            of,
        }) = self.releasing
        else {
            return;
        };
        let what = AskWhat::Release { resource, of };
        cx.send(server, Message::Ask(Ask { request, what }));
        cx.set_timer(TimerKind::ReleaseTimeout, cx.setup.answer_timeout);
    }
}

/// How long it counts a lease on its own clock: with a bound on drift, less than the service's clock takes.
fn lease_to_count<R: Recorder>(cx: &Cx<'_, R>) -> Duration {
    let lease = cx.within_drift(cx.setup.lease);
    // The service's clock may have been about to show its next microsecond when it was read.
    Duration(lease.0 - u64::from(lease < cx.setup.lease).min(lease.0))
}

fn ignore<R: Recorder>(from: ProcessId, cx: &mut Cx<'_, R>) {
    cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
}
