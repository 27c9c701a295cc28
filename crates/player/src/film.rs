//! What the timeline shows of a run: who led, who held, who slept, who checked and sent, what
//! stores said.
//!
//! The strip of film that the projector's cursor moves over: it holds the whole branch, also the
//! part behind the cursor. It is written as steps are taken, each step once; a new branch is
//! written anew from its history. It keeps only what has a place in a lane; all else is in the
//! steps.

use std::rc::Rc;
use std::sync::Arc;

use leasehold_engine::event::{Event, Outcome, Step, Verdict};
use leasehold_engine::history::{History, is_notable};
use leasehold_engine::setup::Kind;
use leasehold_engine::truth::GrantEnd;
use leasehold_engine::units::{LogIndex, ProcessId, ResourceId, SimTime, StepNumber, Term, Token};
use leasehold_engine::world::World;

use crate::layout::Cast;

/// From a moment to a moment, or still going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: SimTime,
    pub to: Option<SimTime>,
}

impl Span {
    const fn since(from: SimTime) -> Self {
        Self { from, to: None }
    }

    fn close(&mut self, at: SimTime) {
        self.to.get_or_insert(at);
    }
}

/// A server that leads the highest term, in truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    pub leader: ProcessId,
    pub term: Term,
    pub span: Span,
}

/// A grant, by the service's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub resource: ResourceId,
    pub token: Token,
    pub span: Span,
    pub end: Option<GrantEnd>,
    /// When the service's leader confirmed a renewal.
    pub renewals: Vec<SimTime>,
}

/// A process looked at its own authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    pub at: SimTime,
    pub verdict: Verdict,
    pub token: Token,
    /// When the write left that this check was for.
    pub sent: Option<SimTime>,
    /// Whether the write was withheld, or is not to come any more.
    pub over: bool,
}

/// What a server takes itself for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Follower,
    Candidate,
    Leader,
}

/// A stretch of one role in one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub role: Role,
    pub term: Term,
    pub span: Span,
}

/// What a store said to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Accepted,
    /// Accepted, though a higher token had been seen; also what observing lets through.
    AcceptedStale,
    Refused,
}

/// A write that reached a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    pub at: SimTime,
    pub from: ProcessId,
    pub sent: SimTime,
    pub token: Token,
    pub highest: Token,
    pub value: Arc<str>,
    pub said: Said,
}

/// A client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub span: Span,
    pub outcome: Option<Outcome>,
}

/// What one process's lane shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub asleep: Vec<Span>,
    pub crashed: Vec<Span>,
    pub jeopardy: Vec<Span>,
    pub holds: Vec<Hold>,
    pub checks: Vec<Check>,
    pub parts: Vec<Part>,
    pub writes: Vec<Write>,
    pub requests: Vec<Request>,
}

/// All lanes of one branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Film {
    /// The number of the next step to be written.
    next: StepNumber,
    pub reigns: Vec<Reign>,
    /// By process id.
    pub strips: Vec<Strip>,
    /// From the first cut link until none is cut.
    pub cuts: Vec<Span>,
    /// The steps worth seeing, in order.
    log: Vec<Rc<Step>>,
    /// The last entry that a folded service has applied anywhere; applying it elsewhere is no news.
    applied: LogIndex,
    folded: bool,
}

impl Film {
    /// An empty film of a world as it is at its beginning.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let mut film = Self {
            next: world.step_count(),
            reigns: Vec::new(),
            strips: vec![Strip::default(); world.names().count()],
            cuts: Vec::new(),
            log: Vec::new(),
            applied: LogIndex(0),
            folded: Cast::of(world.names()).folded(),
        };
        film.note_leader(world, world.now());
        for id in world.names().of_kind(Kind::Server) {
            film.note_role(world, id, world.now());
        }
        film
    }

    /// The film of a history's branch up to its cursor, by going through it once.
    #[must_use]
    pub fn of(history: &mut History) -> Self {
        let to = history.position();
        history.seek(StepNumber(0));
        let mut film = Self::new(history.world());
        let mut step = Step::empty();
        while history.position().step < to.step && history.step(&mut step) {
            film.write(&step, history.world());
        }
        history.advance(to.at);
        film
    }

    /// Writes a step, and the world after it; a step that is on the film already changes nothing.
    pub fn write(&mut self, step: &Step, world: &World) {
        if step.number < self.next {
            return;
        }
        self.next = StepNumber(step.number.0 + 1);
        for event in step.events() {
            self.note(event, step, world);
        }
        self.note_leader(world, step.at);
        self.note_cuts(world, step.at);
        if self.is_worth_seeing(step) {
            self.log.push(Rc::new(step.clone()));
        }
    }

    /// What happens in a folded service is news once, not once a server.
    fn is_worth_seeing(&mut self, step: &Step) -> bool {
        let mut is_news = true;
        for event in step.events() {
            if let Event::EntryApplied { index, .. } = event {
                is_news = !self.folded || self.applied < *index;
                self.applied = self.applied.max(*index);
            }
        }
        let of_service = |event: &Event| {
            matches!(
                event,
                Event::LeaseGranted { .. }
                    | Event::LeaseReleased { .. }
                    | Event::LeaseExpired { .. }
                    | Event::ResourceClosed { .. }
                    | Event::ResourceOpened { .. }
                    | Event::TableLost
                    | Event::TokenRaised { .. }
                    | Event::WaiterQueued { .. }
                    | Event::WaiterLeft { .. }
                    | Event::PutApplied { .. }
            )
        };
        step.events()
            .any(|event| is_notable(event) && (is_news || !of_service(event)))
    }

    /// The steps worth seeing, in order.
    #[must_use]
    pub fn log(&self) -> &[Rc<Step>] {
        &self.log
    }

    /// How many of the steps worth seeing lie before `to`.
    #[must_use]
    pub fn worth_before(&self, to: StepNumber) -> usize {
        self.log.partition_point(|step| step.number < to)
    }

    /// The last step worth seeing before `to`.
    #[must_use]
    pub fn last_before(&self, to: StepNumber) -> Option<&Step> {
        self.log[..self.worth_before(to)].last().map(Rc::as_ref)
    }

    /// Whether a step on the film is worth seeing.
    #[must_use]
    pub fn is_worth(&self, step: StepNumber) -> bool {
        self.log.binary_search_by_key(&step, |s| s.number).is_ok()
    }

    fn strip(&mut self, id: ProcessId) -> &mut Strip {
        &mut self.strips[usize::from(id.0)]
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only what has a place in a lane"
    )]
    fn note(&mut self, event: &Event, step: &Step, world: &World) {
        let at = step.at;
        self.note_fault(event, at);
        let Some(process) = step.process else { return };
        if world.names().kind(process) == Kind::Server {
            self.note_role(world, process, at);
        }
        match event {
            Event::LeaseGranted {
                resource,
                worker,
                token,
            } => {
                let known = self
                    .strip(*worker)
                    .holds
                    .iter()
                    .any(|h| h.resource == *resource && h.token == *token);
                if !known {
                    let hold = Hold {
                        resource: *resource,
                        token: *token,
                        span: Span::since(at),
                        end: None,
                        renewals: Vec::new(),
                    };
                    self.strip(*worker).holds.push(hold);
                }
            }
            Event::LeaseReleased {
                resource,
                worker,
                token,
            } => {
                self.end_hold(*worker, *resource, *token, at, GrantEnd::Released);
            }
            Event::LeaseExpired {
                resource,
                worker,
                token,
            } => {
                self.end_hold(*worker, *resource, *token, at, GrantEnd::Expired);
            }
            Event::ResourceOpened { resource } => {
                // Whatever the service had forgotten is over now.
                let grants = world.truth().grants(*resource).iter().rev();
                for grant in grants.take(2).filter(|grant| grant.ended.is_some()) {
                    let (worker, token) = (grant.worker, grant.token);
                    self.end_hold(worker, *resource, token, at, GrantEnd::Expired);
                }
            }
            Event::RenewalConfirmed {
                worker, resource, ..
            } => {
                let holds = &mut self.strip(*worker).holds;
                if let Some(hold) = holds
                    .iter_mut()
                    .rev()
                    .find(|h| h.resource == *resource && h.span.to.is_none())
                {
                    hold.renewals.push(at);
                }
            }
            Event::JeopardyBegan { .. } => self.strip(process).jeopardy.push(Span::since(at)),
            Event::JeopardyEnded { .. } | Event::LeaseLapsed { .. } | Event::LeaseLost { .. } => {
                close_last(&mut self.strip(process).jeopardy, at);
            }
            Event::Checked { verdict, token } => {
                let check = Check {
                    at,
                    verdict: *verdict,
                    token: *token,
                    sent: None,
                    over: false,
                };
                self.strip(process).checks.push(check);
            }
            Event::WriteWithheld { .. } => {
                if let Some(check) = self.strip(process).checks.last_mut() {
                    check.over = true;
                }
            }
            Event::WriteSent { .. } => {
                if let Some(check) = self
                    .strip(process)
                    .checks
                    .last_mut()
                    .filter(|c| c.sent.is_none())
                {
                    check.sent = Some(at);
                }
            }
            Event::WriteAccepted {
                from,
                token,
                highest,
                value,
            } => {
                let said = if token < highest {
                    Said::AcceptedStale
                } else {
                    Said::Accepted
                };
                self.note_write(process, *from, *token, *highest, value, said, at);
            }
            Event::StaleWriteObserved {
                from,
                token,
                highest,
                value,
            } => {
                self.note_write(
                    process,
                    *from,
                    *token,
                    *highest,
                    value,
                    Said::AcceptedStale,
                    at,
                );
            }
            Event::WriteRefused {
                from,
                token,
                highest,
                value,
            } => {
                self.note_write(process, *from, *token, *highest, value, Said::Refused, at);
            }
            Event::RequestSent { attempt: 1, .. } => {
                self.strip(process).requests.push(Request {
                    span: Span::since(at),
                    outcome: None,
                });
            }
            Event::RequestEnded { outcome, .. } => self.end_request(process, *outcome, at),
            Event::ReadEnded { .. } => self.end_request(process, Outcome::Accepted, at),
            _ => {}
        }
    }

    fn end_request(&mut self, client: ProcessId, outcome: Outcome, at: SimTime) {
        let requests = &mut self.strip(client).requests;
        if let Some(open) = requests.iter_mut().find(|r| r.outcome.is_none()) {
            open.outcome = Some(outcome);
            open.span.close(at);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only what breaks a lane")]
    fn note_fault(&mut self, event: &Event, at: SimTime) {
        match event {
            Event::Paused { process, .. } => self.strip(*process).asleep.push(Span::since(at)),
            Event::Resumed { process, .. } => close_last(&mut self.strip(*process).asleep, at),
            Event::Crashed { process } => {
                let strip = self.strip(*process);
                close_last(&mut strip.asleep, at);
                close_last(&mut strip.jeopardy, at);
                if let Some(part) = strip.parts.last_mut() {
                    part.span.close(at);
                }
                if let Some(check) = strip.checks.last_mut().filter(|c| c.sent.is_none()) {
                    check.over = true;
                }
                strip.crashed.push(Span::since(at));
            }
            Event::Restarted { process } => close_last(&mut self.strip(*process).crashed, at),
            _ => {}
        }
    }

    fn end_hold(
        &mut self,
        worker: ProcessId,
        resource: ResourceId,
        token: Token,
        at: SimTime,
        end: GrantEnd,
    ) {
        let holds = &mut self.strip(worker).holds;
        let open = holds
            .iter_mut()
            .find(|h| h.resource == resource && h.token == token && h.end.is_none());
        if let Some(hold) = open {
            hold.span.close(at);
            hold.end = Some(end);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one write, spelled out")]
    fn note_write(
        &mut self,
        store: ProcessId,
        from: ProcessId,
        token: Token,
        highest: Token,
        value: &Arc<str>,
        said: Said,
        at: SimTime,
    ) {
        let sent = self
            .strip(from)
            .checks
            .iter()
            .rev()
            .find_map(|c| c.sent)
            .unwrap_or(at);
        let write = Write {
            at,
            from,
            sent,
            token,
            highest,
            value: Arc::clone(value),
            said,
        };
        self.strip(store).writes.push(write);
    }

    fn note_cuts(&mut self, world: &World, at: SimTime) {
        let open = self.cuts.last_mut().filter(|cut| cut.to.is_none());
        let mut pairs = world
            .names()
            .ids()
            .flat_map(|a| world.names().ids().map(move |b| (a, b)));
        match (open, pairs.any(|(a, b)| a != b && world.link(a, b).cut)) {
            (None, true) => self.cuts.push(Span::since(at)),
            (Some(cut), false) => cut.close(at),
            (Some(_), true) | (None, false) => {}
        }
    }

    fn note_leader(&mut self, world: &World, at: SimTime) {
        let leader = world.truth().leader();
        let last = self.reigns.last_mut().filter(|r| r.span.to.is_none());
        match (last, leader) {
            (Some(reign), Some((id, term))) if reign.leader == id && reign.term == term => {}
            (last, leader) => {
                if let Some(reign) = last {
                    reign.span.close(at);
                }
                if let Some((leader, term)) = leader {
                    self.reigns.push(Reign {
                        leader,
                        term,
                        span: Span::since(at),
                    });
                }
            }
        }
    }

    fn note_role(&mut self, world: &World, id: ProcessId, at: SimTime) {
        let Some(server) = world.server(id) else {
            return;
        };
        if world.status(id).is_crashed() {
            return;
        }
        let role = role_of(server.role());
        let term = server.term();
        let parts = &mut self.strip(id).parts;
        match parts.last_mut().filter(|p| p.span.to.is_none()) {
            Some(part) if part.role == role && part.term == term => {}
            last => {
                if let Some(part) = last {
                    part.span.close(at);
                }
                parts.push(Part {
                    role,
                    term,
                    span: Span::since(at),
                });
            }
        }
    }
}

/// The engine's word for a role as the film's.
#[must_use]
pub fn role_of(role: leasehold_engine::raft::RoleName) -> Role {
    match role {
        // Until it stands, it is in no other term than before.
        leasehold_engine::raft::RoleName::Follower
        | leasehold_engine::raft::RoleName::PreCandidate => Role::Follower,
        leasehold_engine::raft::RoleName::Candidate => Role::Candidate,
        leasehold_engine::raft::RoleName::Leader => Role::Leader,
    }
}

fn close_last(spans: &mut [Span], at: SimTime) {
    if let Some(span) = spans.last_mut() {
        span.close(at);
    }
}
