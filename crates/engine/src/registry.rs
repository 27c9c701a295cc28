//! The lease service's state machine: who holds what, who waits, and which keys have which values.
//!
//! The ledger at a library's desk: a loan is a line in it, and so is its end. It is changed only by
//! applied log entries, so every replica has the same one. It knows no time; when a lease runs out is
//! decided by the service's leader, which then asks for an `Expire` entry like any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::raft::Config;
use crate::units::{ProcessId, RequestId, ResourceId, Token};

/// What an entry asks of the state machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Noop,
    /// Who takes part; it takes effect where it is appended, and does nothing here.
    Config {
        config: Config,
    },
    Acquire {
        worker: ProcessId,
        resource: ResourceId,
        request: RequestId,
        /// The leader found it free when it proposed; applied without looking again (`grant_at_apply` off).
        decided: bool,
        /// The token that the leader counted in memory (`durable_token_counter` off).
        counted: Option<Token>,
    },
    /// Ends what the worker asked for up to request `of`.
    Release {
        worker: ProcessId,
        resource: ResourceId,
        request: RequestId,
        of: RequestId,
        counted: Option<Token>,
    },
    /// A waiter that has fallen silent loses its place.
    DropWaiter {
        worker: ProcessId,
        resource: ResourceId,
        request: RequestId,
    },
    Expire {
        resource: ResourceId,
        token: Token,
        counted: Option<Token>,
        /// Nobody gets it before an `Open` (lock-delay).
        closes: bool,
    },
    /// The wait after a grant, which left the resource closed at `token`, is over.
    Open {
        resource: ResourceId,
        token: Token,
        counted: Option<Token>,
    },
    /// The service has started again without its table of leases, which was in memory only.
    TableLost {
        /// The generations were kept apart from it.
        counter_kept: bool,
        /// Nobody gets anything before an `Open` (start-up quarantine).
        closes: bool,
    },
    /// An operator knows of tokens that the service does not: the next one is above `to`.
    Raise {
        resource: ResourceId,
        to: Token,
    },
    Put {
        client: ProcessId,
        request: RequestId,
        key: Arc<str>,
        value: Arc<str>,
        /// The request that opened the client's session; none where sessions need not be opened.
        session: Option<RequestId>,
    },
    /// Opens a session; of more than `keep`, the least recently used goes.
    Register {
        client: ProcessId,
        request: RequestId,
        keep: u32,
    },
}

/// A grant in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    pub worker: ProcessId,
    pub token: Token,
    pub request: RequestId,
}

/// Why nobody gets a resource for now, though nobody holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closed {
    /// Its last holder did not give it back (lock-delay).
    Expired,
    /// The service does not know whether somebody holds it (start-up quarantine).
    TableLost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiter {
    pub worker: ProcessId,
    pub request: RequestId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceState {
    /// Raised once per grant; never goes back.
    pub generation: Token,
    pub holder: Option<Holder>,
    /// Why, and at which generation it was closed.
    pub closed: Option<(Closed, Token)>,
    /// In order; the first is next.
    pub queue: Vec<Waiter>,
}

/// What applying an entry came to. A lease that ends may be granted to the next at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Nothing,
    Granted {
        resource: ResourceId,
        holder: Holder,
    },
    Queued {
        resource: ResourceId,
        waiter: Waiter,
        place: u32,
    },
    /// The same acquire again: it holds already.
    GrantRepeated {
        resource: ResourceId,
        holder: Holder,
    },
    QueueRepeated {
        resource: ResourceId,
        waiter: Waiter,
        place: u32,
    },
    Released {
        resource: ResourceId,
        ended: Holder,
        request: RequestId,
        next: Option<Holder>,
    },
    LeftQueue {
        resource: ResourceId,
        worker: ProcessId,
        request: RequestId,
    },
    /// As a waiter leaves, but it was not its own wish.
    WaiterDropped {
        resource: ResourceId,
        worker: ProcessId,
    },
    /// Released by one who neither holds nor waits.
    ReleaseRepeated {
        worker: ProcessId,
        request: RequestId,
    },
    Expired {
        resource: ResourceId,
        ended: Holder,
        closed: bool,
        next: Option<Holder>,
    },
    Opened {
        resource: ResourceId,
        why: Closed,
        next: Option<Holder>,
    },
    TableLost {
        counter_kept: bool,
        closed: bool,
    },
    Raised {
        resource: ResourceId,
        to: Token,
    },
    Put {
        client: ProcessId,
        request: RequestId,
    },
    PutRepeated {
        client: ProcessId,
        request: RequestId,
    },
    Registered {
        client: ProcessId,
        request: RequestId,
        /// Whose session went to make room.
        expired: Option<ProcessId>,
    },
    RegisterRepeated {
        client: ProcessId,
        request: RequestId,
    },
    /// A put of a session that is not kept any more.
    SessionUnknown {
        client: ProcessId,
        request: RequestId,
    },
}

/// What is remembered of a client, so that a repeated request is not carried out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    pub client: ProcessId,
    /// The request that opened it; none where sessions need not be opened.
    pub opened_by: Option<RequestId>,
    /// The last request that was carried out.
    pub last: RequestId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registry {
    resources: Vec<ResourceState>,
    keys: BTreeMap<Arc<str>, Arc<str>>,
    /// One a client, the least recently used first.
    sessions: Vec<Session>,
    /// Up to which request each worker has given up what it asked for.
    given_up: BTreeMap<ProcessId, RequestId>,
}

impl Registry {
    #[must_use]
    pub fn new(resources: usize) -> Self {
        Self {
            resources: vec![ResourceState::default(); resources],
            keys: BTreeMap::new(),
            sessions: Vec::new(),
            given_up: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn resource(&self, id: ResourceId) -> &ResourceState {
        &self.resources[usize::from(id.0)]
    }

    /// Who waits, if it does.
    #[must_use]
    pub fn waiter(&self, resource: ResourceId, worker: ProcessId) -> Option<Waiter> {
        let mut queue = self.resource(resource).queue.iter();
        queue.find(|w| w.worker == worker).copied()
    }

    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(|v| &**v)
    }

    pub fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().map(|(k, v)| (&**k, &**v))
    }

    /// The least recently used first.
    #[must_use]
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// Where this acquire stands already, if it was applied before.
    #[must_use]
    pub fn standing(
        &self,
        resource: ResourceId,
        worker: ProcessId,
        request: RequestId,
    ) -> Option<Applied> {
        let state = self.resource(resource);
        if let Some(holder) = state.holder
            && holder.worker == worker
            && holder.request == request
        {
            return Some(Applied::GrantRepeated { resource, holder });
        }
        let at = state
            .queue
            .iter()
            .position(|w| w.worker == worker && w.request == request)?;
        Some(Applied::QueueRepeated {
            resource,
            waiter: state.queue[at],
            place: at as u32 + 1,
        })
    }

    /// Carries out one committed entry. `dedupe` off treats a repeated request as a new one.
    pub fn apply(&mut self, op: &Op, dedupe: bool) -> Applied {
        match op {
            Op::Noop | Op::Config { .. } => Applied::Nothing,
            Op::Acquire {
                worker,
                resource,
                request,
                decided,
                counted,
            } => self.acquire(*worker, *resource, *request, *decided, *counted, dedupe),
            Op::Release {
                worker,
                resource,
                request,
                of,
                counted,
            } => self.release(*worker, *resource, *request, *of, *counted),
            Op::DropWaiter {
                worker,
                resource,
                request,
            } => {
                let queue = &mut self.resources[usize::from(resource.0)].queue;
                let is_there = |w: &Waiter| (w.worker, w.request) == (*worker, *request);
                let Some(at) = queue.iter().position(is_there) else {
                    return Applied::Nothing;
                };
                queue.remove(at);
                Applied::WaiterDropped {
                    resource: *resource,
                    worker: *worker,
                }
            }
            Op::Expire {
                resource,
                token,
                counted,
                closes,
            } => {
                let state = &mut self.resources[usize::from(resource.0)];
                match state.holder {
                    Some(ended) if ended.token == *token => {
                        if *closes {
                            state.closed = Some((Closed::Expired, *token));
                        }
                        let next = state.pass_on(*counted);
                        Applied::Expired {
                            resource: *resource,
                            ended,
                            closed: *closes,
                            next,
                        }
                    }
                    Some(_) | None => Applied::Nothing,
                }
            }
            Op::Open {
                resource,
                token,
                counted,
            } => {
                let state = &mut self.resources[usize::from(resource.0)];
                match state.closed {
                    Some((why, at)) if at == *token => {
                        state.closed = None;
                        Applied::Opened {
                            resource: *resource,
                            why,
                            next: state.pass_on(*counted),
                        }
                    }
                    Some(_) | None => Applied::Nothing,
                }
            }
            Op::TableLost {
                counter_kept,
                closes,
            } => {
                for state in &mut self.resources {
                    if !counter_kept {
                        state.generation = Token(0);
                    }
                    state.holder = None;
                    state.queue.clear();
                    state.closed = closes.then_some((Closed::TableLost, state.generation));
                }
                Applied::TableLost {
                    counter_kept: *counter_kept,
                    closed: *closes,
                }
            }
            Op::Raise { resource, to } => {
                let state = &mut self.resources[usize::from(resource.0)];
                if *to <= state.generation {
                    return Applied::Nothing;
                }
                state.generation = *to;
                Applied::Raised {
                    resource: *resource,
                    to: *to,
                }
            }
            Op::Put {
                client,
                request,
                key,
                value,
                session,
            } => self.put(*client, *request, (key, value), *session, dedupe),
            Op::Register {
                client,
                request,
                keep,
            } => self.register(*client, *request, *keep),
        }
    }

    fn put(
        &mut self,
        client: ProcessId,
        request: RequestId,
        (key, value): (&Arc<str>, &Arc<str>),
        session: Option<RequestId>,
        dedupe: bool,
    ) -> Applied {
        let at = self.session_of(client);
        let kept = at.map(|at| self.sessions[at]);
        if session.is_some() && kept.is_none_or(|kept| kept.opened_by != session) {
            return Applied::SessionUnknown { client, request };
        }
        if dedupe && kept.is_some_and(|kept| request <= kept.last) {
            return Applied::PutRepeated { client, request };
        }
        match self.keys.get_mut(key) {
            Some(old) => *old = value.clone(),
            None => {
                self.keys.insert(key.clone(), value.clone());
            }
        }
        self.use_session(at, client, session, request);
        Applied::Put { client, request }
    }

    /// Dissertation §6.3. What to let go is decided by the log alone, so that all servers agree on it.
    fn register(&mut self, client: ProcessId, request: RequestId, keep: u32) -> Applied {
        let at = self.session_of(client);
        if at.is_some_and(|at| request <= self.sessions[at].last) {
            return Applied::RegisterRepeated { client, request };
        }
        self.use_session(at, client, Some(request), request);
        let full = keep != 0 && keep < self.sessions.len() as u32;
        let expired = full.then(|| self.sessions.remove(0).client);
        Applied::Registered {
            client,
            request,
            expired,
        }
    }

    fn session_of(&self, client: ProcessId) -> Option<usize> {
        self.sessions.iter().position(|s| s.client == client)
    }

    /// Puts a client's session last: it is the most recently used.
    fn use_session(
        &mut self,
        at: Option<usize>,
        client: ProcessId,
        opened_by: Option<RequestId>,
        last: RequestId,
    ) {
        if let Some(at) = at {
            self.sessions.remove(at);
        }
        self.sessions.push(Session {
            client,
            opened_by,
            last,
        });
    }

    fn acquire(
        &mut self,
        worker: ProcessId,
        resource: ResourceId,
        request: RequestId,
        decided: bool,
        counted: Option<Token>,
        dedupe: bool,
    ) -> Applied {
        if dedupe {
            if let Some(standing) = self.standing(resource, worker, request) {
                return standing;
            }
            let given_up = self.given_up.get(&worker);
            if given_up.is_some_and(|upto| request <= *upto) {
                return Applied::Nothing;
            }
        }
        let state = &mut self.resources[usize::from(resource.0)];
        let waiter = Waiter { worker, request };
        if decided || state.is_free() {
            let holder = state.grant(waiter, counted);
            return Applied::Granted { resource, holder };
        }
        if let Some(at) = state.queue.iter().position(|w| w.worker == worker) {
            state.queue[at] = waiter;
            return Applied::QueueRepeated {
                resource,
                waiter,
                place: at as u32 + 1,
            };
        }
        state.queue.push(waiter);
        Applied::Queued {
            resource,
            waiter,
            place: state.queue.len() as u32,
        }
    }

    fn release(
        &mut self,
        worker: ProcessId,
        resource: ResourceId,
        request: RequestId,
        of: RequestId,
        counted: Option<Token>,
    ) -> Applied {
        let upto = self.given_up.entry(worker).or_insert(of);
        *upto = of.max(*upto);
        let state = &mut self.resources[usize::from(resource.0)];
        if let Some(ended) = state.holder
            && ended.worker == worker
            && ended.request <= of
        {
            let next = state.pass_on(counted);
            return Applied::Released {
                resource,
                ended,
                request,
                next,
            };
        }
        let given_up = |w: &Waiter| w.worker == worker && w.request <= of;
        if let Some(at) = state.queue.iter().position(given_up) {
            state.queue.remove(at);
            return Applied::LeftQueue {
                resource,
                worker,
                request,
            };
        }
        Applied::ReleaseRepeated { worker, request }
    }
}

impl ResourceState {
    /// Whether the next who asks gets it.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        self.holder.is_none() && self.closed.is_none()
    }

    fn grant(&mut self, to: Waiter, counted: Option<Token>) -> Holder {
        let token = counted.unwrap_or(self.generation.next());
        self.generation = token;
        let holder = Holder {
            worker: to.worker,
            token,
            request: to.request,
        };
        self.holder = Some(holder);
        holder
    }

    /// Ends the grant in force and gives the resource to the next in the queue, if there is one and it may.
    fn pass_on(&mut self, counted: Option<Token>) -> Option<Holder> {
        self.holder = None;
        if self.queue.is_empty() || self.closed.is_some() {
            return None;
        }
        let next = self.queue.remove(0);
        Some(self.grant(next, counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: ResourceId = ResourceId(0);

    fn acquire(worker: u8, request: u64) -> Op {
        Op::Acquire {
            worker: ProcessId(worker),
            resource: ORDERS,
            request: RequestId(request),
            decided: false,
            counted: None,
        }
    }

    fn holder(registry: &Registry) -> Option<(u8, u64)> {
        registry
            .resource(ORDERS)
            .holder
            .map(|h| (h.worker.0, h.token.0))
    }

    #[test]
    fn a_lease_passes_down_the_queue_with_rising_tokens() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        registry.apply(&acquire(4, 1), true);
        registry.apply(&acquire(5, 1), true);
        assert_eq!(holder(&registry), Some((3, 1)));
        let expire = Op::Expire {
            resource: ORDERS,
            token: Token(1),
            counted: None,
            closes: false,
        };
        registry.apply(&expire, true);
        assert_eq!(holder(&registry), Some((4, 2)));
        assert_eq!(
            registry.apply(&expire, true),
            Applied::Nothing,
            "that grant is over"
        );
        let release = Op::Release {
            worker: ProcessId(4),
            resource: ORDERS,
            request: RequestId(2),
            of: RequestId(1),
            counted: None,
        };
        registry.apply(&release, true);
        assert_eq!(holder(&registry), Some((5, 3)));
    }

    #[test]
    fn a_repeated_acquire_is_answered_not_carried_out() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        assert!(matches!(
            registry.apply(&acquire(3, 1), true),
            Applied::GrantRepeated { .. }
        ));
        assert!(matches!(
            registry.apply(&acquire(3, 1), false),
            Applied::Queued { .. }
        ));
    }

    #[test]
    fn what_was_given_up_is_not_taken_by_an_acquire_that_comes_late() {
        let mut registry = Registry::new(1);
        let release = |request, of| Op::Release {
            worker: ProcessId(3),
            resource: ORDERS,
            request: RequestId(request),
            of: RequestId(of),
            counted: None,
        };
        let repeated = Applied::ReleaseRepeated {
            worker: ProcessId(3),
            request: RequestId(2),
        };
        assert_eq!(registry.apply(&release(2, 1), true), repeated);
        assert_eq!(registry.apply(&acquire(3, 1), true), Applied::Nothing);
        registry.apply(&acquire(3, 3), true);
        registry.apply(&release(2, 1), true);
        assert_eq!(holder(&registry), Some((3, 1)), "asked for after that");
        registry.apply(&release(4, 3), true);
        assert_eq!(holder(&registry), None);
    }

    #[test]
    fn a_waiter_is_dropped_only_for_the_request_that_fell_silent() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        registry.apply(&acquire(4, 2), true);
        let drop = |request| Op::DropWaiter {
            worker: ProcessId(4),
            resource: ORDERS,
            request: RequestId(request),
        };
        assert_eq!(registry.apply(&drop(1), true), Applied::Nothing);
        assert_eq!(registry.resource(ORDERS).queue.len(), 1);
        registry.apply(&drop(2), true);
        assert_eq!(registry.resource(ORDERS).queue, []);
        let holds = Op::DropWaiter {
            worker: ProcessId(3),
            resource: ORDERS,
            request: RequestId(1),
        };
        registry.apply(&holds, true);
        assert_eq!(holder(&registry), Some((3, 1)), "a holder is no waiter");
    }

    #[test]
    fn what_is_closed_opens_for_the_first_in_line_and_only_by_its_own_opening() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        let expire = |token| Op::Expire {
            resource: ORDERS,
            token: Token(token),
            counted: None,
            closes: true,
        };
        let open = |token| Op::Open {
            resource: ORDERS,
            token: Token(token),
            counted: None,
        };
        registry.apply(&expire(1), true);
        registry.apply(&acquire(4, 1), true);
        registry.apply(&acquire(3, 2), true);
        assert_eq!(holder(&registry), None);
        registry.apply(&open(1), true);
        assert_eq!(holder(&registry), Some((4, 2)));
        registry.apply(&expire(2), true);
        assert_eq!(registry.apply(&open(1), true), Applied::Nothing);
        assert_eq!(holder(&registry), None);
        registry.apply(&open(2), true);
        assert_eq!(holder(&registry), Some((3, 3)));
    }

    #[test]
    fn a_raise_only_ever_raises() {
        let mut registry = Registry::new(1);
        let raise = |to| Op::Raise {
            resource: ORDERS,
            to: Token(to),
        };
        registry.apply(&raise(150), true);
        assert_eq!(registry.apply(&raise(40), true), Applied::Nothing);
        registry.apply(&acquire(3, 1), true);
        assert_eq!(holder(&registry), Some((3, 151)));
    }

    #[test]
    fn a_new_incarnation_waits_behind_its_own_old_grant() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        assert!(matches!(
            registry.apply(&acquire(3, 2), true),
            Applied::Queued { place: 1, .. }
        ));
    }

    #[test]
    fn a_waiter_that_asks_again_keeps_its_place() {
        let mut registry = Registry::new(1);
        registry.apply(&acquire(3, 1), true);
        registry.apply(&acquire(4, 1), true);
        registry.apply(&acquire(5, 1), true);
        // The same request once more, and the request of a new incarnation.
        for again in [1, 2] {
            let applied = registry.apply(&acquire(5, again), true);
            let waiter = Waiter {
                worker: ProcessId(5),
                request: RequestId(again),
            };
            let place = Applied::QueueRepeated {
                resource: ORDERS,
                waiter,
                place: 2,
            };
            assert_eq!(applied, place);
        }
        assert_eq!(registry.resource(ORDERS).queue.len(), 2);
    }
}
