//! What stands on the stage at a moment, in words and numbers: the truth, and what each believes.
//!
//! The programme note beside the stage. Truth is asked of the world: the ledger of grants and the
//! deadline that the service counts. Belief is asked of the process: the verdict of its last check.
//! Nothing here moves; what changes between two steps is in [`crate::motion`].

use leasehold_engine::client::Wish;
use leasehold_engine::event::{MessageKind, Outcome, Verdict};
use leasehold_engine::raft::RoleName;
use leasehold_engine::registry::Op;
use leasehold_engine::setup::{Kind, Names};
use leasehold_engine::store::{Scope, WriteVerdict};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::truth::GrantEnd;
use leasehold_engine::units::{LogIndex, ProcessId, ResourceId, SimTime, Term, Token};
use leasehold_engine::worker::LeaseView;
use leasehold_engine::world::{Deadline, Status, World};
use leasehold_engine::writer::Writing;

use crate::film::{Role, role_of};
use crate::layout::{Cast, End};
use crate::text::{clock_badge, seconds};

/// Rows of a store's ledger and of the service's that are shown.
const ROWS: usize = 5;
/// Cells of a server's log that are shown.
const CELLS: u64 = 8;
/// More messages than this on one link are shown as their number.
pub const MANY: usize = 12;

/// The one meaning that a colour carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Muted,
    Authority,
    Lease,
    Doubt,
    Refusal,
}

impl Tone {
    /// The class in the style sheet.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Muted => "muted",
            Self::Authority => "authority",
            Self::Lease => "lease",
            Self::Doubt => "doubt",
            Self::Refusal => "refusal",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Awake,
    Asleep,
    Crashed,
}

impl Condition {
    #[must_use]
    pub fn of(status: Status) -> Self {
        if status.is_crashed() {
            Self::Crashed
        } else if status.is_asleep() {
            Self::Asleep
        } else {
            Self::Awake
        }
    }

    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Awake => "awake",
            Self::Asleep => "asleep",
            Self::Crashed => "crashed",
        }
    }
}

/// What a process believes: the verdict of its last check, with when that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Believes {
    pub words: String,
    pub tone: Tone,
    /// In true time; its age is shown.
    pub checked_at: Option<SimTime>,
}

/// A write between its check and its send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hand {
    pub store: ProcessId,
    pub token: Token,
    pub label: String,
    pub width: u32,
}

/// A line of the service's ledger of grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub token: Token,
    pub worker: String,
    pub word: &'static str,
    pub note: String,
    pub holds: bool,
    pub resource: Option<String>,
}

/// The folded service: what its servers agree on, the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub leader: Option<ProcessId>,
    pub term: Option<Term>,
    pub ledger: Vec<Grant>,
    pub waiting: Option<String>,
}

/// A cell of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub index: LogIndex,
    pub term: Term,
    pub label: String,
    pub committed: bool,
    pub applied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub id: ProcessId,
    pub name: String,
    pub condition: Condition,
    pub role: Role,
    pub term: Term,
    /// It leads the highest term: it wears the crown.
    pub leads: bool,
    /// It takes itself for the leader, and is not.
    pub at_odds: bool,
    pub words: String,
    pub truth: String,
    pub believes: Option<Believes>,
    pub log: Vec<Cell>,
    /// Entries before the first cell.
    pub log_before: u64,
    pub clock: Option<String>,
    pub in_hand: Option<Hand>,
    pub group: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub id: ProcessId,
    pub name: String,
    pub condition: Condition,
    pub believes: Option<Believes>,
    /// It believes to hold, and does not; or holds, and does not believe it.
    pub at_odds: bool,
    pub holds: bool,
    /// When the lease ends, as the service's leader counts, in true time.
    pub until: Option<SimTime>,
    pub truth: String,
    pub truth_tone: Tone,
    pub token: Option<Token>,
    /// The write that it has checked for and not yet sent.
    pub in_hand: Option<Hand>,
    pub clock: Option<String>,
    pub group: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub id: ProcessId,
    pub name: String,
    pub condition: Condition,
    pub words: String,
    pub tone: Tone,
    pub group: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowMark {
    Accepted,
    Stale,
    Refused,
}

impl RowMark {
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Accepted => "✓",
            Self::Stale => "!",
            Self::Refused => "✕",
        }
    }

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Stale => "accepted late",
            Self::Refused => "refused",
        }
    }

    #[must_use]
    pub const fn tone(self) -> Tone {
        match self {
            Self::Accepted => Tone::Lease,
            Self::Stale => Tone::Doubt,
            Self::Refused => Tone::Refusal,
        }
    }
}

/// A write that came to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub number: usize,
    pub mark: RowMark,
    pub token: Token,
    pub from: String,
    pub value: String,
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub id: ProcessId,
    pub name: String,
    pub condition: Condition,
    pub gate: Position,
    pub atomic: bool,
    pub highest: Token,
    pub rows: Vec<Row>,
    pub more: usize,
    pub group: Option<u8>,
}

/// A drawn link: both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    pub a: End,
    pub b: End,
    /// From `a` to `b`, and back.
    pub there_cut: bool,
    pub back_cut: bool,
}

/// How a message on its way looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// A small tick.
    Tick(Tone),
    /// A ticket stub, with its token.
    Stub {
        token: Token,
        label: String,
        tone: Tone,
        width: u32,
    },
    /// A refused stub on its way back from the gate.
    Bounce {
        token: Token,
        label: String,
        width: u32,
    },
    /// An accepted stub that goes in.
    Enter {
        token: Token,
        label: String,
        tone: Tone,
        width: u32,
    },
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flying {
    pub key: String,
    pub from: End,
    pub to: End,
    pub sent_at: SimTime,
    pub arrives_at: SimTime,
    pub look: Look,
    pub title: String,
}

/// The way of the last write of a process, kept for a while after it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    pub from: ProcessId,
    pub store: ProcessId,
    pub refused: bool,
    pub stale: bool,
    pub label: String,
    pub token: Token,
}

/// Messages that are shown as their number, because they are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    pub from: End,
    pub to: End,
    pub count: usize,
}

/// Everything on one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    pub service: Option<Service>,
    pub servers: Vec<Server>,
    pub workers: Vec<Worker>,
    pub clients: Vec<Client>,
    pub stores: Vec<Store>,
    pub wires: Vec<Wire>,
    pub flying: Vec<Flying>,
    pub crowds: Vec<Crowd>,
    pub trails: Vec<Trail>,
}

/// The width of a stub with this text.
#[must_use]
pub fn stub_width(token: Token, label: &str) -> u32 {
    let chars = token.to_string().chars().count() + label.chars().count();
    if label.is_empty() {
        30
    } else {
        24 + (chars as u32 * 7).min(110)
    }
}

/// What stands on the stage, as the world is.
#[must_use]
pub fn scene(world: &World) -> Scene {
    let cast = Cast::of(world.names());
    let cx = Cx {
        world,
        names: world.names(),
        folded: cast.folded(),
        groups: groups(world),
    };
    let (flying, crowds) = cx.flying();
    Scene {
        service: cast.folded().then(|| cx.service()),
        servers: cast
            .servers
            .iter()
            .filter_map(|id| cx.server(*id))
            .collect(),
        workers: cast
            .workers
            .iter()
            .filter_map(|id| cx.worker(*id))
            .collect(),
        clients: cast
            .clients
            .iter()
            .filter_map(|id| cx.client(*id))
            .collect(),
        stores: cast.stores.iter().filter_map(|id| cx.store(*id)).collect(),
        wires: cx.wires(&cast),
        flying,
        crowds,
        trails: cx.trails(&cast),
    }
}

struct Cx<'a> {
    world: &'a World,
    names: &'a Names,
    folded: bool,
    groups: Vec<Option<u8>>,
}

impl Cx<'_> {
    fn name(&self, id: ProcessId) -> String {
        self.names.name(id).to_owned()
    }

    fn condition(&self, id: ProcessId) -> Condition {
        Condition::of(self.world.status(id))
    }

    fn group(&self, id: ProcessId) -> Option<u8> {
        self.groups[usize::from(id.0)]
    }

    fn clock(&self, id: ProcessId) -> Option<String> {
        let clock = self.world.clock(id);
        clock_badge(clock.rate_ppm(), clock.wall_offset_micros())
    }

    fn resources(&self) -> impl Iterator<Item = ResourceId> + use<> {
        (0..self.names.resources().len() as u8).map(ResourceId)
    }

    // Who grants ----------------------------------------------------------------------------

    fn service(&self) -> Service {
        let leader = self.world.truth().leader();
        let several = self.names.resources().len() > 1;
        let mut ledger: Vec<(SimTime, Grant)> = Vec::new();
        let mut waiting = Vec::new();
        for resource in self.resources() {
            for grant in self.world.truth().grants(resource) {
                let (word, note) = match grant.ended {
                    None => ("holds", self.until_words(resource)),
                    Some((at, GrantEnd::Expired)) => ("lapsed", format!("at {} s", seconds(at))),
                    Some((at, GrantEnd::Released)) => ("released", format!("at {} s", seconds(at))),
                };
                let row = Grant {
                    token: grant.token,
                    worker: self.name(grant.worker),
                    word,
                    note,
                    holds: grant.ended.is_none(),
                    resource: several.then(|| self.names.resource(resource).to_owned()),
                };
                let at = ledger.partition_point(|(from, _)| *from <= grant.from);
                ledger.insert(at, (grant.from, row));
            }
            waiting.extend(
                self.world
                    .truth()
                    .queue(resource)
                    .iter()
                    .map(|id| self.name(*id)),
            );
        }
        let ledger = ledger
            .into_iter()
            .rev()
            .take(ROWS)
            .map(|(_, row)| row)
            .collect();
        let waiting = (!waiting.is_empty()).then(|| waiting.join(", "));
        Service {
            leader: leader.map(|l| l.0),
            term: leader.map(|l| l.1),
            ledger,
            waiting,
        }
    }

    fn until_words(&self, resource: ResourceId) -> String {
        match self.world.deadline_by_service(resource) {
            Deadline::Counting { until, .. } => format!("until {} s", seconds(until)),
            Deadline::NobodyCounting => "no one is counting".to_owned(),
            Deadline::NobodyHolds => String::new(),
        }
    }

    fn server(&self, id: ProcessId) -> Option<Server> {
        let server = self.world.server(id)?;
        let truth = self.world.truth().leader();
        let leads = truth.is_some_and(|(leader, _)| leader == id);
        let role = role_of(server.role());
        let condition = self.condition(id);
        let term = server.term();
        let at_odds = role == Role::Leader && !leads && condition != Condition::Crashed;
        let words = match (condition, role) {
            (Condition::Crashed, _) => "crashed".to_owned(),
            (_, Role::Leader) if at_odds => format!("believes: leads term {term}"),
            (_, Role::Leader) => format!("leads term {term}"),
            (_, Role::Candidate) => format!("stands for term {term}"),
            (_, Role::Follower) if server.config().learners.contains(id) => {
                format!("learner, term {term}")
            }
            (_, Role::Follower) if !server.config().voting().contains(id) => {
                format!("takes no part, term {term}")
            }
            (_, Role::Follower) => match server.leader_known() {
                Some(leader) => format!("follows {}, term {term}", self.names.name(leader)),
                None if server.role() == RoleName::PreCandidate => {
                    format!("asks for promises, term {term}")
                }
                None => format!("follows no one, term {term}"),
            },
        };
        let truth = match truth {
            _ if role != Role::Leader => String::new(),
            Some((leader, _)) if leader == id => format!("in truth: leads term {term}"),
            Some((leader, highest)) => {
                format!("in truth: {}, term {highest}", self.names.name(leader))
            }
            None => "in truth: no one leads".to_owned(),
        };
        let believes = server.belief().map(|b| Believes {
            words: verdict_words(b.verdict).to_owned(),
            tone: if at_odds {
                Tone::Doubt
            } else {
                verdict_tone(b.verdict)
            },
            checked_at: self.world.belief_at(id),
        });
        let log = server.log();
        let last = log.last_index().0;
        let first = last.saturating_sub(CELLS).max(log.start().0) + 1;
        let cell = |index: u64| {
            let entry = log.entry(LogIndex(index))?;
            Some(Cell {
                index: LogIndex(index),
                term: entry.term,
                label: entry_label(&entry.op),
                committed: index <= server.commit().0,
                applied: index <= server.applied().0,
            })
        };
        Some(Server {
            id,
            name: self.name(id),
            condition,
            role,
            term,
            leads,
            at_odds,
            words,
            truth,
            believes,
            log: (first..=last).filter_map(cell).collect(),
            log_before: first - 1,
            clock: self.clock(id),
            in_hand: if condition == Condition::Crashed {
                None
            } else {
                hand(server.writing())
            },
            group: self.group(id),
        })
    }

    // Who acts ------------------------------------------------------------------------------

    fn worker(&self, id: ProcessId) -> Option<Worker> {
        let worker = self.world.worker(id)?;
        let truth = self.world.truth();
        let held = self.resources().find_map(|r| {
            let grant = truth.holder(r).filter(|g| g.worker == id)?;
            Some((r, grant.token))
        });
        let belief = worker.belief();
        let verdict = belief.map(|b| b.verdict);
        let holds = held.is_some();
        let believes_mine = verdict == Some(Verdict::Mine);
        let condition = self.condition(id);
        let at_odds = condition != Condition::Crashed
            && (believes_mine != holds || verdict == Some(Verdict::Doubt))
            && belief.is_some();
        let until = held.and_then(|(r, _)| match self.world.deadline_by_service(r) {
            Deadline::Counting { until, .. } => Some(until),
            Deadline::NobodyHolds | Deadline::NobodyCounting => None,
        });
        let (truth_words, truth_tone) = self.truth_words(id, held.map(|h| h.0));
        let believes = belief.map(|b| Believes {
            words: format!("believes: {}", verdict_words(b.verdict)),
            tone: if at_odds {
                Tone::Doubt
            } else {
                verdict_tone(b.verdict)
            },
            checked_at: self.world.belief_at(id),
        });
        Some(Worker {
            id,
            name: self.name(id),
            condition,
            believes: if condition == Condition::Crashed {
                None
            } else {
                believes
            },
            at_odds,
            holds,
            until,
            truth: truth_words,
            truth_tone,
            token: held.map(|h| h.1),
            in_hand: if condition == Condition::Crashed {
                None
            } else {
                hand(worker.writing())
            },
            clock: self.clock(id),
            group: self.group(id),
        })
    }

    fn truth_words(&self, id: ProcessId, held: Option<ResourceId>) -> (String, Tone) {
        let truth = self.world.truth();
        let prefix = "in truth: ";
        if let Some(resource) = held {
            let until = self.until_words(resource);
            return (format!("{prefix}holds {until}"), Tone::Plain);
        }
        let ended = self
            .resources()
            .flat_map(|r| truth.grants(r))
            .filter(|g| g.worker == id)
            .filter_map(|g| g.ended)
            .max_by_key(|(at, _)| *at);
        let waiting = self.resources().find_map(|r| {
            let place = truth.queue(r).iter().position(|w| *w == id)?;
            Some(place + 1)
        });
        let words = match (waiting, ended) {
            (Some(place), _) if ended.is_none() => format!("{prefix}waits, place {place}"),
            (_, Some((at, GrantEnd::Expired))) => format!("{prefix}lapsed at {} s", seconds(at)),
            (_, Some((at, GrantEnd::Released))) => {
                format!("{prefix}gave it back at {} s", seconds(at))
            }
            (_, None) => match self
                .world
                .worker(id)
                .map(leasehold_engine::worker::Worker::lease)
            {
                Some(LeaseView::Asking { .. } | LeaseView::Queued { .. }) => {
                    format!("{prefix}asks, holds nothing")
                }
                Some(LeaseView::Idle | LeaseView::Held { .. }) | None => {
                    format!("{prefix}holds nothing")
                }
            },
        };
        (words, Tone::Muted)
    }

    fn client(&self, id: ProcessId) -> Option<Client> {
        let client = self.world.client(id)?;
        let (words, tone) = match client.requests().next_back() {
            None => ("has asked nothing".to_owned(), Tone::Muted),
            Some(request) => {
                let (verb, what) = match (&request.wish, &request.found) {
                    (Wish::Put { value }, _) => ("put", format!("{} = {value}", request.key)),
                    (Wish::Get { .. }, None) => ("get", request.key.to_string()),
                    (Wish::Get { .. }, Some(found)) => {
                        let value = found.value.as_deref().unwrap_or("nothing");
                        ("get", format!("{} is {value}", request.key))
                    }
                };
                match request.outcome {
                    None => (format!("{verb} {what} …"), Tone::Plain),
                    Some(Outcome::Accepted) if verb == "get" => {
                        let stale = request.found.as_ref().is_some_and(|found| found.stale);
                        let mark = if stale { ", stale" } else { "" };
                        (
                            format!("{what}{mark}"),
                            if stale { Tone::Doubt } else { Tone::Lease },
                        )
                    }
                    Some(Outcome::Accepted) => (format!("{what}: accepted"), Tone::Lease),
                    Some(Outcome::Refused) => (format!("{what}: refused"), Tone::Refusal),
                    Some(Outcome::Unknown) => (format!("{what}: unknown"), Tone::Doubt),
                }
            }
        };
        let condition = self.condition(id);
        Some(Client {
            id,
            name: self.name(id),
            condition,
            words,
            tone,
            group: self.group(id),
        })
    }

    // Who checks ----------------------------------------------------------------------------

    fn store(&self, id: ProcessId) -> Option<Store> {
        let store = self.world.store(id)?;
        let switches = self.world.switches(id);
        // By scope: tokens of other leases say nothing about this one.
        let mut highest: Vec<(Scope, Token)> = Vec::new();
        let mut rows = Vec::new();
        for (n, write) in store.writes().iter().enumerate() {
            let at = highest.iter().position(|(s, _)| *s == write.scope);
            let at = at.unwrap_or_else(|| {
                highest.push((write.scope, Token(0)));
                highest.len() - 1
            });
            let seen = &mut highest[at].1;
            let stale = write.token < *seen;
            let (mark, note) = match write.verdict {
                WriteVerdict::Refused { highest } => (
                    RowMark::Refused,
                    Some(format!(
                        "stale: {} {} {highest}",
                        write.token,
                        below(write.token, highest)
                    )),
                ),
                WriteVerdict::Observed { highest } => (
                    RowMark::Stale,
                    Some(format!(
                        "noted: {} {} {highest}",
                        write.token,
                        below(write.token, highest)
                    )),
                ),
                WriteVerdict::Accepted if stale => {
                    (RowMark::Stale, Some(format!("older than {seen}")))
                }
                WriteVerdict::Accepted => (RowMark::Accepted, None),
                WriteVerdict::Repeated => (RowMark::Refused, Some("done before".to_owned())),
            };
            if !matches!(write.verdict, WriteVerdict::Refused { .. }) {
                *seen = write.token.max(*seen);
            }
            rows.push(Row {
                number: n,
                mark,
                token: write.token,
                from: self.name(write.from),
                value: write.value.to_string(),
                note,
            });
        }
        let more = rows.len().saturating_sub(ROWS);
        rows.drain(..more);
        Some(Store {
            id,
            name: self.name(id),
            condition: self.condition(id),
            gate: switches.get(Switch::Fence),
            atomic: switches.is_on(Switch::FenceAtomic),
            highest: store.highest(),
            rows,
            more,
            group: self.group(id),
        })
    }

    // What is between -----------------------------------------------------------------------

    fn end(&self, id: ProcessId) -> End {
        if self.folded && self.names.kind(id) == Kind::Server {
            End::Service
        } else {
            End::Process(id)
        }
    }

    fn wires(&self, cast: &Cast) -> Vec<Wire> {
        let mut wires = Vec::new();
        let is_cut = |from: &[ProcessId], to: &[ProcessId]| {
            from.iter()
                .all(|a| to.iter().all(|b| self.world.link(*a, *b).cut))
        };
        let mut add = |a: End, a_ids: &[ProcessId], b: End, b_ids: &[ProcessId]| {
            wires.push(Wire {
                a,
                b,
                there_cut: is_cut(a_ids, b_ids),
                back_cut: is_cut(b_ids, a_ids),
            });
        };
        let one = |id: &ProcessId| (End::Process(*id), [*id]);
        if cast.folded() {
            for id in cast.workers.iter().chain(&cast.clients) {
                let (end, ids) = one(id);
                add(End::Service, &cast.servers, end, &ids);
            }
        } else {
            for (n, a) in cast.servers.iter().enumerate() {
                let (a_end, a_ids) = one(a);
                for b in &cast.servers[n + 1..] {
                    let (b_end, b_ids) = one(b);
                    add(a_end, &a_ids, b_end, &b_ids);
                }
                for b in cast.clients.iter().chain(&cast.stores) {
                    let (b_end, b_ids) = one(b);
                    add(a_end, &a_ids, b_end, &b_ids);
                }
            }
        }
        for worker in &cast.workers {
            for store in &cast.stores {
                let ((a, a_ids), (b, b_ids)) = (one(worker), one(store));
                add(a, &a_ids, b, &b_ids);
            }
        }
        wires
    }

    fn flying(&self) -> (Vec<Flying>, Vec<Crowd>) {
        let mut flying: Vec<Flying> = Vec::new();
        for flight in self.world.in_flight() {
            let (from, to) = (self.end(flight.id.from), self.end(flight.id.to));
            if from == to {
                continue;
            }
            let id = flight.id;
            let (from_name, to_name) = (self.names.name(id.from), self.names.name(id.to));
            let title = format!("{} {from_name} to {to_name}", kind_word(flight.kind));
            flying.push(Flying {
                key: format!("{from_name}-{to_name}-{}", id.number),
                from,
                to,
                sent_at: flight.sent_at,
                arrives_at: flight.arrives_at,
                look: self.look(&flight),
                title,
            });
        }
        let mut crowds: Vec<Crowd> = Vec::new();
        for message in &flying {
            match crowds
                .iter_mut()
                .find(|c| c.from == message.from && c.to == message.to)
            {
                Some(crowd) => crowd.count += 1,
                None => crowds.push(Crowd {
                    from: message.from,
                    to: message.to,
                    count: 1,
                }),
            }
        }
        crowds.retain(|crowd| crowd.count > MANY);
        let crowded = |m: &Flying| crowds.iter().any(|c| c.from == m.from && c.to == m.to);
        flying.retain(|m| !matches!(m.look, Look::Tick(_)) || !crowded(m));
        (flying, crowds)
    }

    fn look(&self, flight: &leasehold_engine::world::Flight) -> Look {
        let label = flight.value.as_deref().unwrap_or_default().to_owned();
        match flight.kind {
            MessageKind::Write => {
                let token = flight.token.unwrap_or_default();
                let tone = self.writers_tone(flight.id.from, token);
                let width = stub_width(token, &label);
                Look::Stub {
                    token,
                    label,
                    tone,
                    width,
                }
            }
            MessageKind::WriteAnswer => self.answer_look(flight.id.to, flight.id.from),
            MessageKind::AcquireAnswer => match flight.token.filter(|t| t.0 > 0) {
                Some(token) => {
                    let label = String::new();
                    Look::Stub {
                        token,
                        width: stub_width(token, &label),
                        label,
                        tone: Tone::Lease,
                    }
                }
                None => Look::Tick(Tone::Plain),
            },
            MessageKind::RequestVote
            | MessageKind::Vote
            | MessageKind::PreVote
            | MessageKind::PreVoteAnswer
            | MessageKind::TimeoutNow => Look::Tick(Tone::Plain),
            MessageKind::Heartbeat
            | MessageKind::Append
            | MessageKind::AppendAnswer
            | MessageKind::Snapshot
            | MessageKind::ReadIndex
            | MessageKind::ReadIndexAnswer => Look::Tick(Tone::Authority),
            MessageKind::Renew | MessageKind::RenewAnswer => Look::Tick(Tone::Lease),
            MessageKind::Acquire
            | MessageKind::Release
            | MessageKind::ReleaseAnswer
            | MessageKind::Put
            | MessageKind::PutAnswer
            | MessageKind::Get
            | MessageKind::GetAnswer
            | MessageKind::Register
            | MessageKind::RegisterAnswer => Look::Tick(Tone::Plain),
        }
    }

    /// An answer carries the stub on: in, or back.
    fn answer_look(&self, writer: ProcessId, store: ProcessId) -> Look {
        let last = self
            .world
            .store(store)
            .and_then(|s| s.writes().iter().rev().find(|w| w.from == writer));
        let Some(write) = last else {
            return Look::Tick(Tone::Plain);
        };
        let (token, label) = (write.token, write.value.to_string());
        let width = stub_width(token, &label);
        match write.verdict {
            WriteVerdict::Refused { .. } => Look::Bounce {
                token,
                label,
                width,
            },
            WriteVerdict::Accepted | WriteVerdict::Observed { .. } | WriteVerdict::Repeated => {
                let tone = self.writers_tone(writer, token);
                Look::Enter {
                    token,
                    label,
                    tone,
                    width,
                }
            }
        }
    }

    /// Green for a token that is held in truth, amber for one that is not.
    fn writers_tone(&self, writer: ProcessId, token: Token) -> Tone {
        let truth = self.world.truth();
        let holds = self
            .resources()
            .filter_map(|r| truth.holder(r))
            .any(|g| g.worker == writer && g.token == token);
        let leads = truth
            .leader()
            .is_some_and(|(id, term)| id == writer && term.0 == token.0);
        if holds || leads {
            Tone::Lease
        } else {
            Tone::Doubt
        }
    }

    fn trails(&self, cast: &Cast) -> Vec<Trail> {
        let mut trails = Vec::new();
        let now = self.world.now();
        for store in &cast.stores {
            let Some(last) = self.world.store(*store).and_then(|s| s.writes().last()) else {
                continue;
            };
            let at = self.world.clock(*store).true_time(last.at);
            let still = self.world.in_flight().any(|f| {
                f.kind == MessageKind::WriteAnswer && f.id.from == *store && f.id.to == last.from
            });
            if still || now.since(at).0 > 4_000_000 {
                continue;
            }
            let refused = matches!(last.verdict, WriteVerdict::Refused { .. });
            let stale = !refused
                && self
                    .world
                    .store(*store)
                    .is_some_and(|s| last.token < s.highest_in(last.scope));
            trails.push(Trail {
                from: last.from,
                store: *store,
                refused,
                stale,
                label: last.value.to_string(),
                token: last.token,
            });
        }
        trails
    }
}

fn hand(writing: Option<&Writing>) -> Option<Hand> {
    let writing = writing.filter(|w| !w.sent)?;
    let label = writing.value.to_string();
    let width = stub_width(writing.token, &label);
    Some(Hand {
        store: writing.store,
        token: writing.token,
        label,
        width,
    })
}

fn entry_label(op: &Op) -> String {
    match op {
        Op::Put { key, value, .. } => format!("{key}={value}"),
        Op::Noop
        | Op::Config { .. }
        | Op::Acquire { .. }
        | Op::Release { .. }
        | Op::DropWaiter { .. }
        | Op::Open { .. }
        | Op::TableLost { .. }
        | Op::Raise { .. }
        | Op::Expire { .. }
        | Op::Register { .. } => String::new(),
    }
}

const fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Mine => "mine",
        Verdict::Doubt => "in doubt",
        Verdict::NotMine => "not mine",
    }
}

const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Mine => Tone::Lease,
        Verdict::Doubt => Tone::Doubt,
        Verdict::NotMine => Tone::Muted,
    }
}

/// What a message is called.
#[must_use]
pub const fn kind_word(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::RequestVote => "vote request",
        MessageKind::Vote => "vote",
        MessageKind::PreVote => "pre-vote request",
        MessageKind::PreVoteAnswer => "pre-vote answer",
        MessageKind::TimeoutNow => "order to stand",
        MessageKind::Heartbeat => "heartbeat",
        MessageKind::Append => "append",
        MessageKind::AppendAnswer => "append answer",
        MessageKind::Snapshot => "snapshot",
        MessageKind::Acquire => "request for the lease",
        MessageKind::AcquireAnswer => "grant",
        MessageKind::Renew => "renewal",
        MessageKind::RenewAnswer => "renewal answer",
        MessageKind::Release => "release",
        MessageKind::ReleaseAnswer => "release answer",
        MessageKind::Put => "put",
        MessageKind::PutAnswer => "put answer",
        MessageKind::Get => "get",
        MessageKind::GetAnswer => "get answer",
        MessageKind::Register => "session request",
        MessageKind::RegisterAnswer => "session answer",
        MessageKind::ReadIndex => "read index request",
        MessageKind::ReadIndexAnswer => "read index",
        MessageKind::Write => "write",
        MessageKind::WriteAnswer => "write answer",
    }
}

/// The sides of a partition, when the links fall into several; none when all can reach all.
fn groups(world: &World) -> Vec<Option<u8>> {
    let count = world.names().count();
    let ids: Vec<ProcessId> = world.names().ids().collect();
    let mut group: Vec<Option<u8>> = vec![None; count];
    let mut next = 0;
    for start in 0..count {
        if group[start].is_some() {
            continue;
        }
        let mut open = vec![start];
        group[start] = Some(next);
        while let Some(here) = open.pop() {
            for there in 0..count {
                let joined = !world.link(ids[here], ids[there]).cut
                    || !world.link(ids[there], ids[here]).cut;
                if here != there && group[there].is_none() && joined {
                    group[there] = Some(next);
                    open.push(there);
                }
            }
        }
        next += 1;
    }
    if next == 1 { vec![None; count] } else { group }
}

/// How a stale token stands to the highest seen; equal only before a strict gate.
fn below(token: Token, highest: Token) -> &'static str {
    if token < highest { "<" } else { "=" }
}
