//! The world: who runs, what is on its way, what time it truly is; the only one who acts.
//!
//! The stage machinery behind the play. Processes ask, the world carries out: it delivers, loses and
//! delays, rings timers on each process's own clock, syncs disks, pauses and crashes. Everything that
//! happens is ordered by time and then by sequence, so that the same seed and commands give the same run.
//! It knows no lesson and draws nothing.

mod book;
mod carry_out;
mod clock;
mod disk;
mod search;
mod timers;

use std::collections::VecDeque;
use std::sync::Arc;

use book::Book;
pub use clock::Clock;
use timers::{Timer, Timers};

use crate::client::Client;
use crate::draw::{Purpose, below, draw, span_between};
use crate::event::{
    Cause, DropReason, Event, MessageId, MessageKind, Step, StepKind, TimerKind, Verdict,
};
use crate::hash::stable_hash;
use crate::monitor::{Broken, Invariant, Monitors};
use crate::process::{Counters, Cx, DiskWrite, Effect, Input, Message, Process, Recorder, Silent};
use crate::raft::{Config, Server, ServerDisk};
use crate::rule::Rule;
use crate::setup::{Kind, Names, Setup, SetupError};
use crate::store::Store;
use crate::switch::{Position, Switch, Switches};
use crate::truth::Truth;
use crate::units::{
    Duration, LocalTime, ProcessId, ProcessSet, ResourceId, SimTime, StepNumber, Token,
};
use crate::worker::Worker;

/// The longest quiet start: an election that takes longer is left to the run itself.
const QUIET_START_MAX: SimTime = SimTime(120_000_000);
/// Workers ask one after the other, so that the first named is first in line.
const WORKER_STAGGER: Duration = Duration::millis(600);
const WORKER_JITTER: Duration = Duration::millis(200);
const MONITORS_BACK: &str = "monitors are back after each step";

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Running,
    Asleep { since: SimTime },
    Crashed { since: SimTime },
}

impl Status {
    #[must_use]
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running)
    }

    #[must_use]
    pub const fn is_asleep(self) -> bool {
        matches!(self, Self::Asleep { .. })
    }

    #[must_use]
    pub const fn is_crashed(self) -> bool {
        matches!(self, Self::Crashed { .. })
    }
}

/// One direction between two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    pub cut: bool,
    pub latency_min: Duration,
    pub latency_max: Duration,
    pub loss_ppm: u32,
    pub duplication_ppm: u32,
    /// Messages sent on it so far.
    pub sent: u64,
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    pub id: MessageId,
    pub kind: MessageKind,
    pub sent_at: SimTime,
    pub arrives_at: SimTime,
    /// The token that a write or a renewal carries.
    pub token: Option<Token>,
    pub value: Option<Arc<str>>,
    pub cause: Cause,
}

/// When a lease runs out in truth, by whoever decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    NobodyHolds,
    Counting {
        until: SimTime,
        by: ProcessId,
    },
    /// It is held, and the service has no leader that counts.
    NobodyCounting,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Parcel {
    id: MessageId,
    message: Message,
    sent_at: SimTime,
    cause: Cause,
}

/// What the scheduler has in its book.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Item {
    Delivery(Box<Parcel>),
    Sync {
        process: ProcessId,
        cause: Cause,
    },
    /// What came while the process slept: now it hears of it.
    Woken {
        process: ProcessId,
        waiting: Box<Waiting>,
    },
}

type Key = (SimTime, u64);

/// What fell due while a process slept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    Delivery(Box<Parcel>),
    Timer {
        timer: TimerKind,
        cause: Cause,
    },
    Sync {
        /// None if the writes failed.
        writes: Option<u32>,
        held: Vec<(ProcessId, Message)>,
        cause: Cause,
    },
}

/// Writes under way to a disk, and what is sent once they are durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Syncing {
    writes: Vec<DiskWrite>,
    held: Vec<(ProcessId, Message)>,
}

/// What survives a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Disk {
    None,
    Server(ServerDisk),
    Store(Store),
}

/// What is due next: something in the book, or a timer.
#[derive(Debug)]
enum Due {
    Item(Item),
    Timer(ProcessId, Timer),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Slot {
    process: Process,
    status: Status,
    clock: Clock,
    switches: Switches,
    disk: Disk,
    /// New writes to the disk begin no earlier.
    stalled_until: SimTime,
    /// What is written to the disk fails, until its process has started again.
    failing: bool,
    /// An old copy of the disk.
    backup: Option<Box<Disk>>,
    syncing: VecDeque<Syncing>,
    waiting: Vec<Waiting>,
    pause_before_send: bool,
    counters: Counters,
}

/// Everything about a run at one moment. Cloning shares the logs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    setup: Arc<Setup>,
    names: Arc<Names>,
    servers: ProcessSet,
    stores: ProcessSet,
    now: SimTime,
    steps: u64,
    sequence: u64,
    book: Book,
    timers: Timers,
    slots: Vec<Slot>,
    /// By sender, then receiver.
    links: Vec<Link>,
    switches: Switches,
    truth: Truth,
    /// None only while they look at a step.
    monitors: Option<Box<Monitors>>,
    /// Empty between steps; kept for its room.
    effects: Vec<Effect>,
    /// Empty between steps; kept for its room.
    writes: Vec<DiskWrite>,
}

impl World {
    /// A world ready at time zero: after the first election, with everyone quiet, if the setup says so.
    ///
    /// # Errors
    /// What is wrong with the setup.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        let names = setup.validate()?;
        let mut switches = Switches::default();
        for (switch, position) in setup.positions()? {
            switches.set(switch, position);
        }
        let servers = names.servers();
        let stores = names.of_kind(Kind::Store);
        let stores = stores.fold(ProcessSet::default(), ProcessSet::with);
        let resources = names.resources().len();
        let link = Link {
            cut: false,
            latency_min: setup.latency_min,
            latency_max: setup.latency_max,
            loss_ppm: setup.loss_ppm,
            duplication_ppm: setup.duplication_ppm,
            sent: 0,
        };
        let slots = names
            .ids()
            .map(|id| Slot::new(names.kind(id), &setup, resources, switches));
        let mut world = Self {
            servers,
            stores,
            now: SimTime(0),
            steps: 0,
            sequence: 0,
            book: Book::default(),
            timers: Timers::new(names.count()),
            slots: slots.collect(),
            links: vec![link; names.count() * names.count()],
            switches,
            truth: Truth::new(resources),
            monitors: Some(Box::default()),
            effects: Vec::new(),
            writes: Vec::new(),
            setup: Arc::new(setup),
            names: Arc::new(names),
        };
        world.start();
        Ok(world)
    }

    fn start(&mut self) {
        for id in self.servers.iter() {
            self.start_process(id, Cause::Beginning);
        }
        if self.setup.after_first_election && !self.servers.is_empty() {
            let mut step = Step::empty();
            while !self.is_settled() && self.due_at().is_some_and(|at| at <= QUIET_START_MAX) {
                self.step_due(&mut step);
            }
            self.rebase();
        }
        for id in self.names.ids().skip(self.servers.len() as usize) {
            self.start_process(id, Cause::Beginning);
        }
    }

    /// One leader, and every voter knows it and has applied its first entry.
    fn is_settled(&self) -> bool {
        let Some((leader, term)) = self.truth.leader() else {
            return false;
        };
        Config::initial(&self.setup)
            .voters
            .iter()
            .filter_map(|id| self.server(id).map(|s| (id, s)))
            .all(|(id, server)| {
                let knows = id == leader || server.leader_known() == Some(leader);
                knows && server.term() == term && server.log().last_index() == server.applied()
            })
    }

    /// Calls the present moment zero.
    fn rebase(&mut self) {
        let now = self.now;
        let shift = |at: SimTime| SimTime(at.0.saturating_sub(now.0));
        let earlier = |cause: &mut Cause| *cause = Cause::Beginning;
        self.book.rebase(|(at, _), item| {
            *at = shift(*at);
            match item {
                Item::Delivery(parcel) => {
                    parcel.sent_at = shift(parcel.sent_at);
                    earlier(&mut parcel.cause);
                }
                Item::Sync { cause, .. } => earlier(cause),
                Item::Woken { .. } => unreachable!("nobody sleeps before time zero"),
            }
        });
        for slot in &mut self.slots {
            slot.clock.rebase(now);
        }
        self.timers.rebase(|timer| {
            timer.key.0 = shift(timer.key.0);
            earlier(&mut timer.cause);
        });
        self.now = SimTime(0);
        self.steps = 0;
        self.monitors_mut().rebase();
    }

    fn start_process(&mut self, id: ProcessId, cause: Cause) {
        let wait = self.first_ask(id);
        self.with_process(id, cause, &mut Vec::new(), |process, cx| match process {
            Process::Server(server) => server.start(cx),
            Process::Worker(worker) => worker.start(wait, cx),
            Process::Client(_) | Process::Store(_) => {}
        });
    }

    /// How long after its start a worker asks: in the order of the names, with a little jitter.
    fn first_ask(&self, id: ProcessId) -> Duration {
        let Some(place) = self
            .names
            .of_kind(Kind::Worker)
            .position(|worker| worker == id)
        else {
            return Duration::ZERO;
        };
        let bits = draw(self.setup.seed, Purpose::WorkerStart, u32::from(id.0), 0);
        let jitter = span_between(bits, Duration::micros(1), WORKER_JITTER);
        Duration(WORKER_STAGGER.0 * place as u64 + jitter.0)
    }

    // Reading -------------------------------------------------------------------------------

    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// The number of the next step, which is how many were taken.
    #[must_use]
    pub const fn step_count(&self) -> StepNumber {
        StepNumber(self.steps)
    }

    /// When the next step is due; never, in a world without time.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        if self.setup.untimed {
            return None;
        }
        self.due_at()
    }

    fn due_at(&self) -> Option<SimTime> {
        let in_book = self.book.first_key().map(|(at, _)| at);
        let timer = self.timers.next().map(|(at, _)| at);
        in_book.into_iter().chain(timer).min()
    }

    /// The fingerprint of the whole state, the same natively and in wasm.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        stable_hash(self)
    }

    fn slot(&self, id: ProcessId) -> &Slot {
        &self.slots[usize::from(id.0)]
    }

    fn slot_mut(&mut self, id: ProcessId) -> &mut Slot {
        &mut self.slots[usize::from(id.0)]
    }

    #[must_use]
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.slot(id).process
    }

    #[must_use]
    pub fn status(&self, id: ProcessId) -> Status {
        self.slot(id).status
    }

    /// Whether it will be paused when it would send.
    #[must_use]
    pub fn pause_armed(&self, id: ProcessId) -> bool {
        self.slot(id).pause_before_send
    }

    /// How many messages and timers wait for a sleeper.
    #[must_use]
    pub fn waiting_for(&self, id: ProcessId) -> usize {
        self.slot(id).waiting.len()
    }

    #[must_use]
    pub fn clock(&self, id: ProcessId) -> &Clock {
        &self.slot(id).clock
    }

    #[must_use]
    pub fn switches(&self, id: ProcessId) -> Switches {
        self.slot(id).switches
    }

    /// The position that holds for every process but those set apart.
    #[must_use]
    pub const fn world_switch(&self, switch: Switch) -> Position {
        self.switches.get(switch)
    }

    #[must_use]
    pub fn server(&self, id: ProcessId) -> Option<&Server> {
        if let Process::Server(server) = self.process(id) {
            Some(server)
        } else {
            None
        }
    }

    #[must_use]
    pub fn worker(&self, id: ProcessId) -> Option<&Worker> {
        if let Process::Worker(worker) = self.process(id) {
            Some(worker)
        } else {
            None
        }
    }

    #[must_use]
    pub fn client(&self, id: ProcessId) -> Option<&Client> {
        if let Process::Client(client) = self.process(id) {
            Some(client)
        } else {
            None
        }
    }

    #[must_use]
    pub fn store(&self, id: ProcessId) -> Option<&Store> {
        if let Process::Store(store) = self.process(id) {
            Some(store)
        } else {
            None
        }
    }

    #[must_use]
    pub const fn truth(&self) -> &Truth {
        &self.truth
    }

    /// The first break of an invariant in this run.
    #[must_use]
    pub fn broken(&self, invariant: Invariant) -> Option<&Broken> {
        self.monitors().broken(invariant)
    }

    /// How long, in all, two workers believed at once that they held one resource.
    #[must_use]
    pub fn both_believed(&self) -> Duration {
        self.monitors().both_believed()
    }

    /// When the lease of `resource` runs out in truth: by the leader of the highest term, on its clock.
    #[must_use]
    pub fn deadline_by_service(&self, resource: ResourceId) -> Deadline {
        let Some(grant) = self.truth.holder(resource) else {
            return Deadline::NobodyHolds;
        };
        let Some((by, _)) = self.truth.leader() else {
            return Deadline::NobodyCounting;
        };
        let server = self.server(by).expect("leaders are servers");
        let current = server.registry().resource(resource).holder;
        let clock = self.clock(by);
        let until = if self.switches(by).is_on(Switch::MonotonicDeadline) {
            server.lease_until(resource).map(|at| clock.true_time(at))
        } else {
            let wall = server.lease_until_by_wall(resource);
            wall.map(|at| clock.true_time_of_wall(at))
        };
        match until {
            Some(until) if current.is_some_and(|h| h.token == grant.token) => {
                Deadline::Counting { until, by }
            }
            Some(_) | None => Deadline::NobodyCounting,
        }
    }

    /// The true time of a process's last look at its own authority.
    #[must_use]
    pub fn belief_at(&self, id: ProcessId) -> Option<SimTime> {
        let belief = match self.process(id) {
            Process::Server(server) => server.belief(),
            Process::Worker(worker) => worker.belief(),
            Process::Client(_) | Process::Store(_) => None,
        };
        belief.map(|b| self.clock(id).true_time(b.checked_at))
    }

    /// The true time at which a holder's own deadline falls, if its clocks go on as they do.
    #[must_use]
    pub fn own_deadline(&self, id: ProcessId) -> Option<SimTime> {
        let (_, _, local, wall) = self.worker(id)?.deadline()?;
        let clock = self.clock(id);
        if self.switches(id).is_on(Switch::MonotonicDeadline) {
            Some(clock.true_time(local))
        } else {
            Some(clock.true_time_of_wall(wall))
        }
    }

    /// The messages on their way, in the order in which they arrive.
    pub fn in_flight(&self) -> impl Iterator<Item = Flight> + '_ {
        self.book
            .iter()
            .filter_map(|((arrives_at, _), item)| match item {
                Item::Delivery(parcel) => Some(parcel.flight(*arrives_at)),
                Item::Sync { .. } | Item::Woken { .. } => None,
            })
    }

    #[must_use]
    pub fn link(&self, from: ProcessId, to: ProcessId) -> Link {
        self.links[self.link_at(from, to)]
    }

    fn link_at(&self, from: ProcessId, to: ProcessId) -> usize {
        usize::from(from.0) * self.slots.len() + usize::from(to.0)
    }

    // Stepping ------------------------------------------------------------------------------

    /// Takes the next step and writes it down in `step`. False if nothing is left to happen.
    pub fn step(&mut self, step: &mut Step) -> bool {
        !self.setup.untimed && self.step_due(step)
    }

    fn step_due(&mut self, step: &mut Step) -> bool {
        let Some((key, due)) = self.take_due() else {
            return false;
        };
        assert!(self.now <= key.0, "time does not go back");
        self.now = key.0;
        self.begin(step);
        let mut facts = std::mem::take(&mut step.facts);
        let head = self.take(due, &mut facts);
        step.facts = facts;
        (step.process, step.kind, step.cause) = head;
        self.finish(step);
        true
    }

    /// Takes the next step without writing anything down: no facts, no truth, no monitors.
    pub fn step_silent(&mut self) -> bool {
        if self.setup.untimed {
            return false;
        }
        let Some((key, due)) = self.take_due() else {
            return false;
        };
        self.now = key.0;
        self.take(due, &mut Silent);
        self.steps += 1;
        true
    }

    /// Puts a message on the link from one process to another, as if the first had sent it.
    ///
    /// For benchmarks and for tests of what a process does with a message that its peers would not send:
    /// it is no command, so no history knows of it and no replay repeats it.
    pub fn post(&mut self, from: ProcessId, to: ProcessId, message: Message) {
        self.send(from, to, message, &mut Silent);
    }

    fn begin(&self, step: &mut Step) {
        step.number = StepNumber(self.steps);
        step.at = self.now;
        step.facts.clear();
    }

    fn finish(&mut self, step: &mut Step) {
        self.steps += 1;
        self.truth.observe(step);
        let mut monitors = self.monitors.take().expect(MONITORS_BACK);
        monitors.observe(step, self);
        self.monitors = Some(monitors);
    }

    fn monitors(&self) -> &Monitors {
        self.monitors.as_ref().expect(MONITORS_BACK)
    }

    fn monitors_mut(&mut self) -> &mut Monitors {
        self.monitors.as_mut().expect(MONITORS_BACK)
    }

    /// Moves the clock to `to` with no step in between; without time it stands still.
    pub fn advance(&mut self, to: SimTime) {
        if self.setup.untimed {
            return;
        }
        assert!(
            self.next_at().is_none_or(|next| to <= next),
            "no step may be skipped"
        );
        self.now = self.now.max(to);
    }

    /// Takes what is due next out of the book or off the timers.
    fn take_due(&mut self) -> Option<(Key, Due)> {
        match (self.book.first_key(), self.timers.next()) {
            (Some(first), Some(timer)) if timer < first => Some(self.ring_next(timer)),
            (None, Some(timer)) => Some(self.ring_next(timer)),
            (Some(_), _) => self
                .book
                .pop_first()
                .map(|(key, item)| (key, Due::Item(item))),
            (None, None) => None,
        }
    }

    fn ring_next(&mut self, key: Key) -> (Key, Due) {
        let (process, timer) = self.timers.ring(key);
        (key, Due::Timer(process, timer))
    }

    fn take<R: Recorder>(
        &mut self,
        due: Due,
        recorder: &mut R,
    ) -> (Option<ProcessId>, StepKind, Cause) {
        let item = match due {
            Due::Item(item) => item,
            Due::Timer(process, Timer { kind, cause, .. }) => {
                self.ring(process, kind, cause, recorder);
                return (Some(process), StepKind::Timer { timer: kind }, cause);
            }
        };
        match item {
            Item::Delivery(parcel) => {
                let (id, kind, cause) = (parcel.id, parcel.message.kind(), parcel.cause);
                self.deliver(parcel, recorder);
                (Some(id.to), StepKind::Delivery { message: id, kind }, cause)
            }
            Item::Sync { process, cause } => {
                self.end_sync(process, cause, recorder);
                (Some(process), StepKind::Synced, cause)
            }
            Item::Woken { process, waiting } => self.hear(process, *waiting, recorder),
        }
    }

    /// A woken process hears of what came while it slept, unless it sleeps again.
    fn hear<R: Recorder>(
        &mut self,
        process: ProcessId,
        waiting: Waiting,
        recorder: &mut R,
    ) -> (Option<ProcessId>, StepKind, Cause) {
        let (kind, cause) = match &waiting {
            Waiting::Delivery(parcel) => {
                let (message, kind) = (parcel.id, parcel.message.kind());
                (StepKind::Delivery { message, kind }, parcel.cause)
            }
            Waiting::Timer { timer, cause } => (StepKind::Timer { timer: *timer }, *cause),
            Waiting::Sync { cause, .. } => (StepKind::Synced, *cause),
        };
        if self.status(process).is_asleep() {
            recorder.fact(Rule::SleeperWaits, || Event::WaitedAsleep { process });
            self.slot_mut(process).waiting.push(waiting);
        } else {
            match waiting {
                Waiting::Delivery(parcel) => {
                    let input = Input::Message {
                        from: parcel.id.from,
                        message: parcel.message,
                    };
                    self.step_process(process, input, recorder);
                }
                Waiting::Timer { timer, .. } => {
                    self.step_process(process, Input::Timer(timer), recorder);
                }
                Waiting::Sync { writes, held, .. } => {
                    self.synced(process, writes, held, recorder);
                }
            }
        }
        (Some(process), kind, cause)
    }

    fn deliver<R: Recorder>(&mut self, parcel: Box<Parcel>, recorder: &mut R) {
        let (message, kind) = (parcel.id, parcel.message.kind());
        let MessageId { from, to, .. } = message;
        if self.link(from, to).cut {
            let reason = DropReason::Cut;
            recorder.fact(Rule::NetworkMayLose, || Event::MessageDropped {
                message,
                kind,
                reason,
            });
            return;
        }
        match self.status(to) {
            Status::Crashed { .. } => {
                let reason = DropReason::ReceiverCrashed;
                recorder.fact(Rule::CrashedHearsNothing, || Event::MessageDropped {
                    message,
                    kind,
                    reason,
                });
            }
            Status::Asleep { .. } => {
                recorder.fact(Rule::SleeperWaits, || Event::WaitedAsleep { process: to });
                self.slot_mut(to).waiting.push(Waiting::Delivery(parcel));
            }
            Status::Running => {
                let input = Input::Message {
                    from,
                    message: parcel.message,
                };
                self.step_process(to, input, recorder);
            }
        }
    }

    fn ring<R: Recorder>(
        &mut self,
        process: ProcessId,
        timer: TimerKind,
        cause: Cause,
        recorder: &mut R,
    ) {
        let now = self.now;
        let slot = self.slot_mut(process);
        if slot.pause_before_send && timer == TimerKind::Work && slot.status.is_running() {
            slot.pause_before_send = false;
            slot.status = Status::Asleep { since: now };
            recorder.fact(Rule::PauseStopsTheProcess, || Event::Paused {
                process,
                before_send: true,
            });
        }
        let slot = self.slot_mut(process);
        match slot.status {
            Status::Asleep { .. } => {
                recorder.fact(Rule::SleeperWaits, || Event::WaitedAsleep { process });
                slot.waiting.push(Waiting::Timer { timer, cause });
            }
            Status::Running => self.step_process(process, Input::Timer(timer), recorder),
            Status::Crashed { .. } => unreachable!("a crash takes the timers"),
        }
    }

    fn end_sync<R: Recorder>(&mut self, process: ProcessId, cause: Cause, recorder: &mut R) {
        let slot = self.slot_mut(process);
        let Syncing { writes, held } = slot.syncing.pop_front().expect("one sync an item");
        let count = (!slot.failing).then_some(writes.len() as u32);
        if count.is_some() {
            for write in writes {
                slot.disk.carry_out(write);
            }
        }
        if slot.status.is_asleep() {
            // The disk goes on while the process sleeps; what waited for it does not.
            slot.waiting.push(Waiting::Sync {
                writes: count,
                held,
                cause,
            });
            recorder.fact(Rule::SleeperWaits, || Event::WaitedAsleep { process });
        } else {
            self.synced(process, count, held, recorder);
        }
    }

    fn synced<R: Recorder>(
        &mut self,
        process: ProcessId,
        writes: Option<u32>,
        held: Vec<(ProcessId, Message)>,
        recorder: &mut R,
    ) {
        let Some(writes) = writes else {
            self.fail(process, recorder);
            return;
        };
        self.step_process(process, Input::Synced { writes }, recorder);
        for (to, message) in held {
            self.send(process, to, message, recorder);
        }
    }

    fn step_process<R: Recorder>(&mut self, id: ProcessId, input: Input, recorder: &mut R) {
        let cause = Cause::Step(StepNumber(self.steps));
        self.with_process(id, cause, recorder, |process, cx| process.step(input, cx));
    }

    /// Lets a process act, and carries out what it asks for.
    fn with_process<R: Recorder>(
        &mut self,
        id: ProcessId,
        cause: Cause,
        recorder: &mut R,
        act: impl FnOnce(&mut Process, &mut Cx<'_, R>),
    ) {
        let mut effects = std::mem::take(&mut self.effects);
        let slot = &mut self.slots[usize::from(id.0)];
        let mut cx = Cx {
            me: id,
            now: slot.clock.local(self.now),
            wall: slot.clock.wall(self.now),
            switches: slot.switches,
            setup: &self.setup,
            servers: self.servers,
            stores: self.stores,
            counters: &mut slot.counters,
            effects: &mut effects,
            recorder,
        };
        act(&mut slot.process, &mut cx);
        self.carry_out_effects(id, cause, &mut effects, recorder);
        self.effects = effects;
    }

    fn carry_out_effects<R: Recorder>(
        &mut self,
        id: ProcessId,
        cause: Cause,
        effects: &mut Vec<Effect>,
        recorder: &mut R,
    ) {
        let mut writes = std::mem::take(&mut self.writes);
        let mut holds = false;
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { to, message } => {
                    if holds {
                        let syncing = self.slot_mut(id).syncing.back_mut();
                        syncing
                            .expect("held behind a sync")
                            .held
                            .push((to, message));
                    } else {
                        self.send_because(id, to, message, cause, recorder);
                    }
                }
                Effect::SetTimer { timer, at } => self.set_timer(id, timer, at, cause),
                Effect::CancelTimer { timer } => self.timers.cancel(id, timer),
                Effect::Persist(write) if self.setup.sync == Duration::ZERO => {
                    self.slot_mut(id).disk.carry_out(write);
                }
                Effect::Persist(write) => writes.push(write),
                Effect::AwaitSync => {
                    self.start_sync(id, cause, &mut writes);
                    holds = !self.slot(id).syncing.is_empty();
                }
            }
        }
        self.start_sync(id, cause, &mut writes);
        self.writes = writes;
    }

    fn start_sync(&mut self, id: ProcessId, cause: Cause, writes: &mut Vec<DiskWrite>) {
        if writes.is_empty() {
            return;
        }
        let behind = self.slot(id).syncing.len() as u64;
        let from = self.now.max(self.slot(id).stalled_until);
        let at = from.plus(Duration(self.setup.sync.0 * (behind + 1)));
        let syncing = Syncing {
            writes: std::mem::take(writes),
            held: Vec::new(),
        };
        self.slot_mut(id).syncing.push_back(syncing);
        self.put(at, Item::Sync { process: id, cause });
    }

    fn put(&mut self, at: SimTime, item: Item) {
        let key = self.next_key(at);
        self.book.insert(key, item);
    }

    /// The place in the book of what is noted now and due at `at`.
    const fn next_key(&mut self, at: SimTime) -> Key {
        let key = (at, self.sequence);
        self.sequence += 1;
        key
    }

    fn set_timer(&mut self, id: ProcessId, kind: TimerKind, at: LocalTime, cause: Cause) {
        let due = self.slot(id).clock.true_time(at).max(self.now);
        let key = self.next_key(due);
        self.timers.set(
            id,
            Timer {
                kind,
                at,
                key,
                cause,
            },
        );
    }

    // The network ---------------------------------------------------------------------------

    fn send<R: Recorder>(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        message: Message,
        recorder: &mut R,
    ) {
        self.send_because(
            from,
            to,
            message,
            Cause::Step(StepNumber(self.steps)),
            recorder,
        );
    }

    fn send_because<R: Recorder>(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        message: Message,
        cause: Cause,
        recorder: &mut R,
    ) {
        let at = self.link_at(from, to);
        let link = &mut self.links[at];
        link.sent += 1;
        let link = *link;
        let (id, kind) = (
            MessageId {
                from,
                to,
                number: link.sent,
            },
            message.kind(),
        );
        recorder.fact(Rule::MessagesOnly, || Event::MessageSent {
            message: id,
            kind,
        });
        if link.cut || self.happens(Purpose::Loss, id, link.loss_ppm) {
            let reason = if link.cut {
                DropReason::Cut
            } else {
                DropReason::Lost
            };
            recorder.fact(Rule::NetworkMayLose, || Event::MessageDropped {
                message: id,
                kind,
                reason,
            });
            return;
        }
        let parcel = Box::new(Parcel {
            id,
            message,
            sent_at: self.now,
            cause,
        });
        if self.happens(Purpose::Duplication, id, link.duplication_ppm) {
            recorder.fact(Rule::NetworkMayDuplicate, || Event::MessageDuplicated {
                message: id,
                kind,
            });
            let arrives = self
                .now
                .plus(self.latency(Purpose::DuplicateLatency, id, link));
            self.put(arrives, Item::Delivery(parcel.clone()));
        }
        let arrives = self.now.plus(self.latency(Purpose::Latency, id, link));
        self.put(arrives, Item::Delivery(parcel));
    }

    fn happens(&self, purpose: Purpose, id: MessageId, ppm: u32) -> bool {
        ppm > 0 && below(self.draw_for(purpose, id), 1_000_000) < u64::from(ppm)
    }

    fn latency(&self, purpose: Purpose, id: MessageId, link: Link) -> Duration {
        if link.latency_min == link.latency_max {
            return link.latency_min;
        }
        span_between(
            self.draw_for(purpose, id),
            link.latency_min,
            link.latency_max,
        )
    }

    fn draw_for(&self, purpose: Purpose, id: MessageId) -> u64 {
        let subject = u32::from(id.from.0) << 8 | u32::from(id.to.0);
        draw(self.setup.seed, purpose, subject, id.number)
    }

    /// Whether two workers or more believe now that they hold one resource.
    pub(crate) fn two_believe(&self) -> bool {
        let mut believed: Vec<ResourceId> = Vec::new();
        let workers = self.slots.iter().filter(|slot| !slot.status.is_crashed());
        for slot in workers {
            let Process::Worker(worker) = &slot.process else {
                continue;
            };
            let Some(belief) = worker.belief().filter(|b| b.verdict == Verdict::Mine) else {
                continue;
            };
            let Some(resource) = belief.resource else {
                continue;
            };
            if believed.contains(&resource) {
                return true;
            }
            believed.push(resource);
        }
        false
    }
}

impl Parcel {
    fn flight(&self, arrives_at: SimTime) -> Flight {
        let (token, value) = match &self.message {
            Message::Write(write) => (Some(write.token), Some(write.value.clone())),
            Message::Ask(ask) => match &ask.what {
                crate::service::AskWhat::Renew { token, .. } => (Some(*token), None),
                crate::service::AskWhat::Put { value, .. } => (None, Some(value.clone())),
                crate::service::AskWhat::Acquire { .. }
                | crate::service::AskWhat::Release { .. }
                | crate::service::AskWhat::Get { .. }
                | crate::service::AskWhat::Register => (None, None),
            },
            Message::Answer(answer, _) => match &answer.what {
                crate::service::AnswerWhat::Granted { token, .. }
                | crate::service::AnswerWhat::Renewed { token, .. } => (Some(*token), None),
                crate::service::AnswerWhat::Read(found) => (None, found.value.clone()),
                crate::service::AnswerWhat::NotLeader { .. }
                | crate::service::AnswerWhat::Queued { .. }
                | crate::service::AnswerWhat::RenewRefused { .. }
                | crate::service::AnswerWhat::Released
                | crate::service::AnswerWhat::Accepted { .. }
                | crate::service::AnswerWhat::Registered
                | crate::service::AnswerWhat::SessionExpired => (None, None),
            },
            Message::Raft(_) | Message::WriteAnswer(_) => (None, None),
        };
        Flight {
            id: self.id,
            kind: self.message.kind(),
            sent_at: self.sent_at,
            arrives_at,
            token,
            value,
            cause: self.cause,
        }
    }
}

impl Slot {
    fn new(kind: Kind, setup: &Setup, resources: usize, switches: Switches) -> Self {
        let disk = Disk::new(kind);
        Self {
            process: disk.boot(kind, setup, resources),
            status: Status::Running,
            clock: Clock::default(),
            switches,
            disk,
            stalled_until: SimTime(0),
            failing: false,
            backup: None,
            syncing: VecDeque::new(),
            waiting: Vec::new(),
            pause_before_send: false,
            counters: Counters::default(),
        }
    }
}

impl Disk {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Server => Self::Server(ServerDisk::default()),
            Kind::Worker | Kind::Client => Self::None,
            Kind::Store => Self::Store(Store::default()),
        }
    }

    /// A process as it starts from this disk.
    pub(crate) fn boot(&self, kind: Kind, setup: &Setup, resources: usize) -> Process {
        match (kind, self) {
            (Kind::Server, Self::Server(disk)) => {
                Process::Server(Server::from_disk(disk, setup, resources))
            }
            (Kind::Store, Self::Store(store)) => Process::Store(store.clone()),
            (Kind::Client, _) => Process::Client(Client::default()),
            (Kind::Worker, _) => {
                let wanted = (setup.contend && setup.servers > 0).then_some(ResourceId(0));
                Process::Worker(Worker::new(wanted))
            }
            (Kind::Server | Kind::Store, _) => unreachable!("each kind has its own disk"),
        }
    }

    /// What is there of a process that crashes: where disks take no time, its whole log.
    pub(crate) fn keep(&mut self, process: &Process, setup: &Setup) {
        if setup.sync == Duration::ZERO
            && let (Self::Server(disk), Process::Server(server)) = (self, process)
        {
            disk.log = server.log().clone();
            disk.snapshot = server.snapshot().cloned();
        }
    }

    pub(crate) fn carry_out(&mut self, write: DiskWrite) {
        match (self, write) {
            (Self::Server(disk), DiskWrite::TermVote { term, voted_for }) => {
                disk.term = term;
                disk.voted_for = voted_for;
            }
            (Self::Server(disk), DiskWrite::Entries { keep, entries }) => {
                disk.log.truncate(keep);
                for entry in entries {
                    disk.log.push(entry);
                }
            }
            (Self::Server(disk), DiskWrite::Snapshot(snapshot)) => {
                disk.log.begin_after(snapshot.index, snapshot.term);
                disk.snapshot = Some(snapshot);
            }
            (Self::Store(store), DiskWrite::Store(write)) => store.write_durably(&write),
            (Self::None | Self::Server(_) | Self::Store(_), _) => {
                unreachable!("each kind writes to its own disk")
            }
        }
    }
}
