//! Consensus without time, for the search: any message or timer may be next.
//!
//! The same play with every possible bad luck. The servers are the real ones ([`crate::raft::Server`],
//! stepped as the world steps them), and so are the monitors; only time and the network's habits are left
//! out: a message arrives whenever it likes, once, or never. What can go wrong more than that comes out of
//! budgets, so that there is an end to it.
//!
//! States are kept small by taking them apart: each server's state, each message and each state of the
//! monitors is kept once and has a number, and a state of the search is a handful of numbers. `step` is a
//! function, so what a server makes of a message is computed once.
//!
//! Two ways to come to the same are not told apart: who stored an entry first, and which round of
//! heartbeats it is as long as nothing waits for a round. A delivery that changes nothing is left out:
//! never delivering the message reaches all that it would.
//!
//! Left out: leases, workers, stores, disks that take time, and sleepers; nothing here waits for a clock.

mod goal;
mod intern;
mod local;
mod moves;
mod replay;
mod state;

pub use goal::{Goal, Refused};
pub use moves::{Move, MoveError};
pub use replay::{Differs, Replay};
pub use state::State;

use super::Model;
use crate::claim::Scene;
use crate::command::Command;
use crate::event::{Event, Fact, Outcome as RequestOutcome, Step, TimerKind};
use crate::monitor::{Cluster, Invariant, Monitors};
use crate::process::{Message, Process};
use crate::raft::Server;
use crate::setup::{Kind, Names};
use crate::truth::Truth;
use crate::units::{ProcessId, ProcessSet, Term};
use crate::world::{Status, World};
use intern::{Interned, Known};
use local::{Local, Surroundings};

/// The key that every put of a search writes.
pub const KEY: &str = "x";

/// What may happen at the most. Everything else may happen at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No server stands for a higher term.
    pub term: u64,
    /// No log grows longer.
    pub log: u64,
    /// Messages on their way on one link, one way; what is sent on a full link is lost, and what is on it
    /// can be dropped.
    pub in_flight: u8,
    /// A crash with its restart.
    pub crashes: u8,
    pub duplicates: u8,
    pub puts: u8,
    /// Timers that ring, but for elections: heartbeats and clients' timeouts.
    pub rings: u8,
}

impl Bounds {
    /// The most that each of `crashes`, `duplicates`, `puts` and `rings` can be.
    pub const BUDGET_MAX: u8 = 15;
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            term: 3,
            log: 16,
            in_flight: 4,
            crashes: 1,
            duplicates: 0,
            puts: 1,
            rings: 1,
        }
    }
}

/// A message on its way, with its link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Packet {
    from: ProcessId,
    to: ProcessId,
    message: Message,
}

/// What the monitors and the ledger of truth have seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    monitors: Monitors,
    truth: Truth,
}

/// What a process makes of an input.
#[derive(Debug)]
struct Made {
    local: u32,
    /// Packets, in the order in which they are sent.
    sends: Box<[u32]>,
    /// What the monitors listen to.
    facts: Box<[Fact]>,
    /// The monitors look at more than this process.
    looks_around: bool,
    /// Which of the goal's events it holds.
    matched: u8,
    /// The log is longer than the bounds allow.
    beyond: bool,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A packet, by its number in the model.
    Deliver(u32),
    Duplicate(u32),
    Drop(u32),
    Campaign(ProcessId),
    Ring(ProcessId, TimerKind),
    /// It crashes and is started again: staying down is the same as hearing nothing.
    Crash(ProcessId),
    /// One that was down at the start.
    Restart(ProcessId),
    Put(ProcessId),
}

/// Numbers for inputs that are no packets; packets come after them.
const CAMPAIGN: u32 = 32;
const CRASH: u32 = 33;
const RESTART: u32 = 34;
const PUT: u32 = 40;
const PACKETS: u32 = 64;

#[derive(Debug)]
pub struct Consensus {
    around: Surroundings,
    /// By sender, then receiver.
    cut: Vec<bool>,
    bounds: Bounds,
    goal: Goal,
    forbidden: Vec<Move>,
    locals: Interned<Local>,
    packets: Interned<Packet>,
    seen: Interned<Seen>,
    /// By [`Seen`]: whether the invariant that is looked for is broken.
    is_broken: Vec<bool>,
    made: Vec<Made>,
    /// From a local state and an input to what is made of it.
    known: Known,
    /// From what was seen and what is made to what is seen then.
    known_seen: Known,
    start: State,
    /// Bytes behind the tables' pointers, as they were counted when they came in.
    behind: u64,
}

impl Consensus {
    /// The search from `world` as it is, which must be one of servers and clients without time.
    ///
    /// # Errors
    /// Why it cannot be searched.
    pub fn new(
        world: &World,
        bounds: Bounds,
        goal: Goal,
        forbidden: Vec<Move>,
    ) -> Result<Self, Refused> {
        goal.check(world.names())?;
        let around = Surroundings::of(world)?;
        let budgets = [bounds.crashes, bounds.duplicates, bounds.puts, bounds.rings];
        if budgets.iter().any(|given| Bounds::BUDGET_MAX < *given) || bounds.in_flight == 0 {
            return Err(Refused::Bounds);
        }
        let ids: Vec<ProcessId> = world.names().ids().collect();
        let pairs = ids
            .iter()
            .flat_map(|from| ids.iter().map(|to| (*from, *to)));
        let cut = pairs.map(|(from, to)| world.link(from, to).cut).collect();
        let mut model = Self {
            around,
            cut,
            bounds,
            goal,
            forbidden,
            locals: Interned::default(),
            packets: Interned::default(),
            seen: Interned::default(),
            is_broken: Vec::new(),
            made: Vec::new(),
            known: Known::default(),
            known_seen: Known::default(),
            start: State::default(),
            behind: 0,
        };
        let mut start = State::default();
        for id in ids {
            let local = Local::of(world, id);
            start.locals.push(model.local(local));
        }
        for (id, message) in world.parcels() {
            let packet = model.packet(id.from, id.to, message.clone());
            if !model.is_cut(id.from, id.to) {
                start.packets.push(packet);
            }
        }
        start.packets.sort_unstable();
        let (mut monitors, truth) = world.watchers();
        monitors.forget_who();
        start.seen = model.note_seen(Seen { monitors, truth });
        model.start = start;
        Ok(model)
    }

    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.around.names
    }

    /// Distinct states of single processes, messages, and states of the monitors met so far.
    #[must_use]
    pub const fn parts(&self) -> (usize, usize, usize) {
        (self.locals.len(), self.packets.len(), self.seen.len())
    }

    fn is_cut(&self, from: ProcessId, to: ProcessId) -> bool {
        self.cut[usize::from(from.0) * self.around.names.count() + usize::from(to.0)]
    }

    fn local(&mut self, local: Local) -> u32 {
        let (id, is_new) = self.locals.number(local);
        if is_new {
            self.behind += self.locals.get(id).bytes_behind();
        }
        id
    }

    fn packet(&mut self, from: ProcessId, to: ProcessId, mut message: Message) -> u32 {
        if let Message::Raft(message) = &mut message {
            message.forget_round();
        }
        let (id, is_new) = self.packets.number(Packet { from, to, message });
        if is_new {
            self.behind += 256;
        }
        id
    }

    fn note_seen(&mut self, seen: Seen) -> u32 {
        let (id, is_new) = self.seen.number(seen);
        if is_new {
            let monitors = &self.seen.get(id).monitors;
            let broken = match &self.goal {
                Goal::Break(invariant) => monitors.broken(*invariant).is_some(),
                Goal::Reach(_) => false,
            };
            self.is_broken.push(broken);
            self.behind += monitors.bytes_behind();
        }
        id
    }

    // What a process makes of something -------------------------------------------------------

    fn make(&mut self, local: u32, input: u32) -> u32 {
        if let Some(made) = self.known.get(local, input) {
            return made;
        }
        let made = self.make_anew(local, input);
        let id = self.made.len() as u32;
        self.behind += made.facts.len() as u64 * 128 + made.sends.len() as u64 * 4;
        self.made.push(made);
        self.known.insert(local, input, id);
        id
    }

    fn make_anew(&mut self, local: u32, input: u32) -> Made {
        let mut next = self.locals.get(local).clone();
        let (mut sends, mut facts) = (Vec::new(), Vec::new());
        match input {
            CAMPAIGN => next.campaign(&self.around, &mut sends, &mut facts),
            CRASH => next.crash(&self.around, &mut facts),
            RESTART => next.restart(&self.around),
            PUT..PACKETS => {
                next.put(input - PUT, &self.around, &mut sends, &mut facts);
            }
            PACKETS.. => {
                let packet = self.packets.get(input - PACKETS);
                let (from, message) = (packet.from, packet.message.clone());
                next.hear(from, message, &self.around, &mut sends, &mut facts);
            }
            timer => {
                let timer = TimerKind::ALL[timer as usize];
                next.ring(timer, &self.around, &mut sends, &mut facts);
            }
        }
        let beyond = match &next.process {
            Process::Server(server) => self.bounds.log < server.log().last_index().0,
            Process::Worker(_) | Process::Client(_) | Process::Store(_) => false,
        };
        let me = next.me;
        let matched = self.goal.matched(&facts, me, &self.around.names);
        facts.retain(|fact| is_listened_to(&fact.event));
        let looks_around = facts.iter().any(|fact| {
            matches!(
                fact.event,
                Event::CommitAdvanced { .. } | Event::RequestEnded { .. }
            )
        });
        let local = self.local(next);
        let sends = sends
            .into_iter()
            .filter(|(to, _)| !self.is_cut(me, *to))
            .collect::<Vec<_>>();
        let sends = sends
            .into_iter()
            .map(|(to, message)| self.packet(me, to, message))
            .collect();
        Made {
            local,
            sends,
            facts: facts.into(),
            looks_around,
            matched,
            beyond,
        }
    }

    /// What the monitors have seen after `made`, with everyone as in `locals`.
    fn see(&mut self, seen: u32, made: u32, locals: &[u32], process: ProcessId) -> u32 {
        let what = &self.made[made as usize];
        if what.facts.is_empty() {
            return seen;
        }
        let looks_around = what.looks_around;
        if !looks_around && let Some(known) = self.known_seen.get(seen, made) {
            return known;
        }
        let mut step = Step::empty();
        step.process = Some(process);
        step.facts = what.facts.to_vec();
        let Seen {
            mut monitors,
            mut truth,
        } = self.seen.get(seen).clone();
        truth.observe(&step);
        let around = Around {
            locals: locals.iter().map(|id| self.locals.get(*id)).collect(),
            servers: self.around.servers,
            leader: truth.leader(),
        };
        monitors.observe_in_search(&step, &around);
        let id = self.note_seen(Seen { monitors, truth });
        if !looks_around {
            self.known_seen.insert(seen, made, id);
        }
        id
    }

    fn up(&self, state: &State, id: ProcessId) -> &Local {
        self.locals.get(state.locals[usize::from(id.0)])
    }

    fn is_forbidden(&self, action: Action) -> bool {
        let link = |packet| {
            let packet = self.packets.get(packet);
            (packet.from, packet.to)
        };
        self.forbidden.iter().any(|one| one.covers(action, link))
    }

    fn count_on_link(&self, packets: &[u32], from: ProcessId, to: ProcessId) -> usize {
        let on = |id: &&u32| {
            let packet = self.packets.get(**id);
            (packet.from, packet.to) == (from, to)
        };
        packets.iter().filter(on).count()
    }

    /// Who acts, and on which input.
    fn input_of(&self, state: &State, action: Action) -> (ProcessId, u32) {
        match action {
            Action::Deliver(packet) => (self.packets.get(packet).to, PACKETS + packet),
            Action::Campaign(id) => (id, CAMPAIGN),
            Action::Ring(id, timer) => (id, timer as u32),
            Action::Crash(id) => (id, CRASH),
            Action::Restart(id) => (id, RESTART),
            Action::Put(id) => (id, PUT + u32::from(state.spent.puts)),
            Action::Duplicate(_) | Action::Drop(_) => unreachable!("nobody acts"),
        }
    }

    fn scene<'a>(&'a self, state: &State) -> SearchScene<'a> {
        SearchScene {
            names: &self.around.names,
            locals: state.locals.iter().map(|id| self.locals.get(*id)).collect(),
            seen: self.seen.get(state.seen),
        }
    }
}

impl Model for Consensus {
    type State = State;
    type Action = Action;
    type Finding = ();

    fn initial(&mut self) -> Vec<State> {
        vec![self.start.clone()]
    }

    fn actions(&mut self, state: &State, actions: &mut Vec<Action>) {
        let first = actions.len();
        let spent = state.spent;
        let distinct = |packets: &[u32], at: usize| at == 0 || packets[at - 1] != packets[at];
        for (at, packet) in state.packets.iter().enumerate() {
            if distinct(&state.packets, at) && self.up(state, self.packets.get(*packet).to).is_up {
                actions.push(Action::Deliver(*packet));
            }
        }
        for id in self.around.names.ids() {
            let local = self.up(state, id);
            if !local.is_up {
                actions.push(Action::Restart(id));
                continue;
            }
            let mut may_ring = spent.rings < self.bounds.rings;
            match &local.process {
                Process::Server(server) => {
                    if !server.is_leader() && server.term().0 < self.bounds.term {
                        actions.push(Action::Campaign(id));
                    }
                }
                Process::Client(_) => {
                    if spent.puts < self.bounds.puts {
                        actions.push(Action::Put(id));
                    }
                }
                Process::Worker(_) | Process::Store(_) => may_ring = false,
            }
            if may_ring {
                let timers = TimerKind::ALL
                    .iter()
                    .copied()
                    .filter(|timer| local.has(*timer));
                let timers = timers.filter(|timer| *timer != TimerKind::Election);
                actions.extend(timers.map(|timer| Action::Ring(id, timer)));
            }
            if spent.crashes < self.bounds.crashes && self.around.servers.contains(id) {
                actions.push(Action::Crash(id));
            }
        }
        for (at, packet) in state.packets.iter().enumerate() {
            if !distinct(&state.packets, at) {
                continue;
            }
            let Packet { from, to, .. } = *self.packets.get(*packet);
            let is_full =
                usize::from(self.bounds.in_flight) <= self.count_on_link(&state.packets, from, to);
            if is_full {
                actions.push(Action::Drop(*packet));
            } else if spent.duplicates < self.bounds.duplicates {
                actions.push(Action::Duplicate(*packet));
            }
        }
        if !self.forbidden.is_empty() {
            let mut at = first;
            while at < actions.len() {
                if self.is_forbidden(actions[at]) {
                    actions.remove(at);
                } else {
                    at += 1;
                }
            }
        }
    }

    fn next(&mut self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Duplicate(packet) => {
                next.add(packet);
                next.spent.duplicates += 1;
                return Some(next);
            }
            Action::Drop(packet) => {
                next.take(packet);
                return Some(next);
            }
            Action::Deliver(packet) => next.take(packet),
            Action::Ring(..) => next.spent.rings += 1,
            Action::Crash(_) => next.spent.crashes += 1,
            Action::Put(_) => next.spent.puts += 1,
            Action::Campaign(_) | Action::Restart(_) => {}
        }
        let (who, input) = self.input_of(state, *action);
        let place = usize::from(who.0);
        let made = self.make(state.locals[place], input);
        let what = &self.made[made as usize];
        let changes_nothing = what.local == state.locals[place]
            && what.sends.is_empty()
            && what.facts.is_empty()
            && what.matched & !state.matched == 0;
        if what.beyond || changes_nothing {
            return None;
        }
        next.locals[place] = what.local;
        let matched = what.matched;
        for at in 0..what.sends.len() {
            let packet = self.made[made as usize].sends[at];
            let to = self.packets.get(packet).to;
            if self.count_on_link(&next.packets, who, to) < usize::from(self.bounds.in_flight) {
                next.add(packet);
            }
        }
        next.seen = self.see(state.seen, made, &next.locals, who);
        if matched & !state.matched != 0 {
            next.matched |= self.goal.meanwhile(matched, &self.scene(&next));
        }
        Some(next)
    }

    fn write(&self, state: &State, bytes: &mut Vec<u8>) {
        state.write(bytes);
    }

    fn read(&mut self, bytes: &[u8]) -> State {
        State::read(bytes, self.around.names.count())
    }

    fn finding(&self, state: &State) -> Option<()> {
        let is_found = match &self.goal {
            Goal::Break(_) => self.is_broken[state.seen as usize],
            Goal::Reach(claim) => self
                .goal
                .is_reached(claim, state.matched, &self.scene(state)),
        };
        is_found.then_some(())
    }

    fn memory(&self) -> u64 {
        let tables = self.locals.memory() + self.packets.memory() + self.seen.memory();
        let known = self.known.memory() + self.known_seen.memory();
        let made = self.made.capacity() * size_of::<Made>() + self.is_broken.capacity();
        tables + known + made as u64 + self.behind
    }

    fn headroom(&self) -> u64 {
        let tables = [
            self.locals.headroom(),
            self.packets.headroom(),
            self.seen.headroom(),
            self.known.headroom(),
            self.known_seen.headroom(),
            (self.made.capacity() * 2 * size_of::<Made>()) as u64,
        ];
        tables.into_iter().max().unwrap_or(0)
    }
}

/// What truth and the monitors of consensus listen to.
const fn is_listened_to(event: &Event) -> bool {
    matches!(
        event,
        Event::BecameLeader { .. }
            | Event::SteppedDown { .. }
            | Event::Crashed { .. }
            | Event::EntryAppended { .. }
            | Event::EntriesStored { .. }
            | Event::CommitAdvanced { .. }
            | Event::EntryApplied { .. }
            | Event::RequestEnded {
                outcome: RequestOutcome::Accepted,
                ..
            }
    )
}

/// A state of the search as the monitors see it.
struct Around<'a> {
    locals: Vec<&'a Local>,
    servers: ProcessSet,
    leader: Option<(ProcessId, Term)>,
}

impl Cluster for Around<'_> {
    fn server(&self, id: ProcessId) -> Option<&Server> {
        match &self.locals.get(usize::from(id.0))?.process {
            Process::Server(server) => Some(server),
            Process::Worker(_) | Process::Client(_) | Process::Store(_) => None,
        }
    }

    fn server_ids(&self) -> ProcessSet {
        self.servers
    }

    fn leader(&self) -> Option<(ProcessId, Term)> {
        self.leader
    }
}

/// A state of the search as claims see it.
struct SearchScene<'a> {
    names: &'a Names,
    locals: Vec<&'a Local>,
    seen: &'a Seen,
}

impl Scene for SearchScene<'_> {
    fn names(&self) -> &Names {
        self.names
    }

    fn process(&self, id: ProcessId) -> &Process {
        &self.locals[usize::from(id.0)].process
    }

    fn status(&self, id: ProcessId) -> Status {
        if self.locals[usize::from(id.0)].is_up {
            Status::Running
        } else {
            Status::Crashed {
                since: crate::units::SimTime(0),
            }
        }
    }

    fn truth(&self) -> &Truth {
        &self.seen.truth
    }

    fn is_broken(&self, invariant: Invariant) -> bool {
        self.seen.monitors.broken(invariant).is_some()
    }
}

/// The kinds of process that a search without time can hold.
const fn is_searched(kind: Kind) -> bool {
    matches!(kind, Kind::Server | Kind::Client)
}

fn put_command(client: &str, number: u32) -> Command {
    Command::Put {
        client: client.to_owned(),
        key: KEY.to_owned(),
        value: (number + 1).to_string(),
    }
}
