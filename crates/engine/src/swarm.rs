//! Random worlds and random faults from one seed: each run draws which kinds of trouble it has at all.
//!
//! A crowd of clumsy stagehands, each with a few bad habits. Runs with few kinds of fault reach corners
//! that runs with all of them never do (swarm testing). Clock rates stay within the bound that the setup
//! names, because no lease is safe beyond it, unless the caller asks for more. Disks stall and fail; that one
//! loses what it has confirmed is beyond what any switch is safe under, and left out.

use crate::command::{ChangeText, Command, DiskAct, MessageName};
use crate::draw::{Purpose, below, draw};
use crate::event::{MessageKind, Step, Verdict};
use crate::history::History;
use crate::monitor::Invariant;
use crate::setup::{Kind, Setup};
use crate::switch::{Guards, Position, Switch};
use crate::units::{Duration, OpId, ProcessId, SimTime};
use crate::world::World;

/// The kinds of trouble that a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Pause,
    Crash,
    Disk,
    Cut,
    Partition,
    Loss,
    Latency,
    Message,
    WallJump,
    Rate,
    Campaign,
    Transfer,
    Release,
    Compact,
    Members,
}

const TROUBLES: &[Trouble] = &[
    Trouble::Pause,
    Trouble::Crash,
    Trouble::Disk,
    Trouble::Cut,
    Trouble::Partition,
    Trouble::Loss,
    Trouble::Latency,
    Trouble::Message,
    Trouble::WallJump,
    Trouble::Rate,
    Trouble::Campaign,
    Trouble::Transfer,
    Trouble::Release,
    Trouble::Compact,
    Trouble::Members,
];

const TRUE_RATE: u32 = 1_000_000;
const TRUE_RATE_LONG: u64 = TRUE_RATE as u64;

/// What a random run may include beyond the fault model under which every switch on is safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// Clock rates may differ by more than the setup's bound.
    pub drift: bool,
    /// Some switches start off.
    pub switches: bool,
}

/// What comes next in a random run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    Step,
    /// It may turn out to be refused.
    Act(Command),
    /// There is nothing to do of the kind that was drawn.
    Nothing,
}

/// The kinds of trouble by which an invariant breaks most easily, once a switch is off.
const fn favoured(invariant: Invariant) -> &'static [Trouble] {
    use Trouble::{
        Campaign, Crash, Cut, Latency, Loss, Message, Partition, Pause, Rate, Release, WallJump,
    };
    match invariant {
        Invariant::ElectionSafety => &[Crash, Cut, Partition, Message, Campaign],
        Invariant::LogMatching | Invariant::LeaderCompleteness | Invariant::StateMachineSafety => {
            &[Crash, Cut, Partition, Loss, Latency, Campaign]
        }
        Invariant::NoLostWrite => &[Crash, Cut, Partition, Campaign],
        Invariant::LinearizableReads | Invariant::MonotonicReads => {
            &[Cut, Partition, Latency, Message]
        }
        Invariant::TokenMonotonic => &[Crash, Pause, Campaign, Release],
        Invariant::OneHolder => &[Latency, Release],
        Invariant::DeadlineWithinGrant => &[Crash, Cut, Partition, Latency, WallJump, Rate],
        Invariant::NoOlderToken => &[Pause, Latency, Message, Release],
        Invariant::OneEffect => &[Crash, Cut, Loss, Latency, Message],
    }
}

/// Whether every invariant must hold with this switch off or on alike: what serves liveness, and what only
/// makes a fault rarer.
fn safety_stands_without(switch: Switch) -> bool {
    let only_narrows = [Switch::CheckBeforeWrite, Switch::Jeopardy];
    switch.guards() == Guards::Liveness || only_narrows.contains(&switch)
}

/// A source of random worlds, faults and work.
#[derive(Clone, Debug)]
pub struct Swarm {
    seed: u64,
    count: u64,
    troubles: Vec<Trouble>,
    beyond: Beyond,
    /// How much faster the fastest clock may run than the slowest; zero: rates are left alone.
    drift_ppm: u32,
    /// The rate of the slowest clock of this run.
    slowest_ppm: u32,
    /// Of so many moments at which a command may come, one has one.
    pace: u64,
    /// What the troubles were chosen for, if for anything.
    aim: Option<Invariant>,
    /// The time of the last command, and whether no step was taken since.
    acted_at: SimTime,
    acting: bool,
    /// What comes next, whatever is drawn.
    next: Option<Command>,
    /// A holder that sleeps before its send, and when it may be woken: late, so that others come to hold.
    late: Option<(ProcessId, SimTime)>,
}

impl Swarm {
    #[must_use]
    pub fn new(seed: u64, beyond: Beyond) -> Self {
        Self::with(seed, beyond, None)
    }

    /// A swarm that has more often the kinds of trouble by which `invariant` could break.
    #[must_use]
    pub fn aimed(seed: u64, beyond: Beyond, invariant: Invariant) -> Self {
        Self::with(seed, beyond, Some(invariant))
    }

    fn with(seed: u64, beyond: Beyond, aim: Option<Invariant>) -> Self {
        let mut swarm = Self {
            seed,
            count: 0,
            troubles: Vec::new(),
            beyond,
            drift_ppm: 0,
            slowest_ppm: TRUE_RATE,
            pace: 12,
            aim,
            acted_at: SimTime(0),
            acting: true,
            next: None,
            late: None,
        };
        let favoured = aim.map_or(&[][..], favoured);
        for trouble in TROUBLES.iter().copied() {
            let of = match (aim, favoured.contains(&trouble)) {
                (None, _) => 4,
                (Some(_), true) => 7,
                (Some(_), false) => 1,
            };
            if swarm.chance(of, 8) {
                swarm.troubles.push(trouble);
            }
        }
        swarm.pace = [6, 12, 12, 30, 80][swarm.below(5) as usize];
        if swarm.troubles.contains(&Trouble::Rate) {
            swarm.drift_ppm = 1 + swarm.below(300_000) as u32;
            // True clocks are within the bound too: from true ones at most to true ones at least.
            let most = u64::from(swarm.drift_ppm);
            let above = swarm.below(most + 1);
            let low = (TRUE_RATE_LONG * (TRUE_RATE_LONG + above)).div_ceil(TRUE_RATE_LONG + most);
            swarm.slowest_ppm = low as u32;
        }
        swarm
    }

    /// A rate that keeps every pair of this run's clocks within its bound, at the ends of it as often as not.
    fn rate(&mut self) -> u32 {
        if self.beyond.drift {
            return 500_000 + self.below(1_500_000) as u32;
        }
        let low = u64::from(self.slowest_ppm);
        let high = low * (TRUE_RATE_LONG + u64::from(self.drift_ppm)) / TRUE_RATE_LONG;
        let rate = match self.below(4) {
            0 => low,
            1 => high,
            _ => low + self.below(high - low + 1),
        };
        rate as u32
    }

    fn below(&mut self, n: u64) -> u64 {
        self.count += 1;
        below(draw(self.seed, Purpose::Swarm, 0, self.count), n)
    }

    fn chance(&mut self, of: u64, among: u64) -> bool {
        self.below(among) < of
    }

    fn one_of<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        let n = items.len() as u64;
        if n == 0 {
            None
        } else {
            items.get(self.below(n) as usize).cloned()
        }
    }

    fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::millis(low + self.below(high - low + 1))
    }

    /// A setup with servers, workers, a client and a store, and times that vary around the defaults.
    pub fn setup(&mut self) -> Setup {
        let lease = self.millis(2_000, 8_000);
        let mut setup = Setup {
            seed: self.seed,
            servers: [1, 3, 3, 3, 5][self.below(5) as usize],
            workers: ["A", "B", "C"][..2 + self.below(2) as usize]
                .iter()
                .map(|n| (*n).into())
                .collect(),
            clients: vec!["c1".into()],
            stores: vec!["orders".into()],
            loss_ppm: if self.chance(1, 4) { 30_000 } else { 0 },
            duplication_ppm: if self.chance(1, 4) { 30_000 } else { 0 },
            lease,
            renew_every: Duration(lease.0 * 32 / 100),
            drift_ppm: self.drift_ppm,
            sync: if self.chance(1, 3) {
                self.millis(1, 20)
            } else {
                Duration::ZERO
            },
            spares: [0, 0, 1, 2][self.below(4) as usize],
            snapshot_every: [0, 0, 1, 4, 16][self.below(5) as usize],
            write_attempts: 1 + self.below(3) as u32,
            after_first_election: !self.beyond.switches && self.chance(3, 4),
            ..Setup::default()
        };
        if setup.spares > 0 {
            // More servers to try before one finds the leader.
            setup.client_attempts = 8;
        }
        if self.chance(1, 4) {
            setup.lock_delay = self.millis(100, 4_000);
        }
        if self.chance(1, 4) {
            setup.grace = self.millis(100, 20_000);
        }
        setup.table_in_memory = setup.servers + setup.spares == 1 && self.chance(1, 2);
        for switch in Switch::ALL {
            // What is off unless set is safe either way; what is on is safe on.
            let word = match switch.initial() {
                Position::Off => self.chance(1, 2).then_some("on"),
                Position::Observe | Position::On => {
                    let off = if self.beyond.switches {
                        self.chance(1, 5)
                    } else {
                        safety_stands_without(*switch) && self.chance(1, 4)
                    };
                    off.then_some("off")
                }
            };
            if let Some(word) = word {
                setup.switches.push((switch.name().into(), word.into()));
            }
        }
        // A leader may answer reads by its lease only where followers keep to it.
        let is_sticky = setup
            .positions()
            .is_ok_and(|positions| positions.contains(&(Switch::Stickiness, Position::On)));
        setup.lease_reads = is_sticky && self.chance(1, 2);
        setup
    }

    /// Plays `steps` steps of a random run and shows each to `on`.
    pub fn play(&mut self, history: &mut History, steps: u64, mut on: impl FnMut(&Step, &World)) {
        let mut step = Step::empty();
        while history.world().step_count().0 < steps {
            let is_taken = match self.turn(history.world()) {
                Turn::Step if history.step(&mut step) => true,
                Turn::Step => return,
                Turn::Act(command) => history.act(command, &mut step).is_ok(),
                Turn::Nothing => false,
            };
            if is_taken {
                on(&step, history.world());
            }
        }
    }

    /// What comes next in a random run. Commands come only when all that is due now is done, and those of one
    /// time come with no step between, so that its time alone says where a command stands in the run.
    pub fn turn(&mut self, world: &World) -> Turn {
        let now = world.now();
        let is_done = || world.next_at().is_none_or(|next| now < next);
        let may_act = self.acting || (self.acted_at < now && is_done());
        self.acting = may_act && self.chance(1, self.pace);
        if !self.acting {
            return Turn::Step;
        }
        self.acted_at = now;
        self.command(world).map_or(Turn::Nothing, Turn::Act)
    }

    /// One thing to do in this world: work, a fault, or a repair. It may turn out to be refused.
    pub fn command(&mut self, world: &World) -> Option<Command> {
        if self.next.is_some() {
            return self.next.take();
        }
        if self.chance(1, 2) {
            return self.work(world);
        }
        if self.chance(1, 2) {
            return self.repair(world);
        }
        let troubles = self.troubles.clone();
        match self.one_of(&troubles)? {
            Trouble::Pause => self
                .name(world, &[Kind::Server, Kind::Worker])
                .map(|process| {
                    let id = world.names().find(&process);
                    let is_worker = id.is_some_and(|id| world.worker(id).is_some());
                    if is_worker && self.chance(1, 2) {
                        Command::PauseBeforeSend { process }
                    } else {
                        Command::Pause { process }
                    }
                }),
            Trouble::Crash => {
                let process = self.name(world, &[Kind::Server, Kind::Worker, Kind::Store])?;
                Some(Command::Crash { process })
            }
            Trouble::Disk => {
                let process = self.name(world, &[Kind::Server, Kind::Store])?;
                let act = if self.chance(1, 3) {
                    DiskAct::Fail
                } else {
                    DiskAct::Stall(self.millis(1, 3_000))
                };
                // Where writes are durable at once there is nothing to do to a disk.
                (world.setup().sync != Duration::ZERO).then_some(Command::Disk { process, act })
            }
            Trouble::Cut => {
                let (from, to) = self.pair(world)?;
                Some(Command::Cut {
                    from,
                    to,
                    both: self.chance(1, 2),
                })
            }
            Trouble::Partition => self.partition(world),
            Trouble::Loss => {
                let (from, to) = self.pair(world)?;
                let ppm = self.below(400_000) as u32;
                Some(Command::Loss { from, to, ppm })
            }
            Trouble::Latency => {
                let (from, to) = self.pair(world)?;
                // Now and then so long that whoever waits for an answer has given up.
                let most = if self.chance(1, 4) { 3_000 } else { 400 };
                let min = self.millis(1, most);
                Some(Command::Latency {
                    from,
                    to,
                    min,
                    max: Duration(min.0 * 2),
                })
            }
            Trouble::Message => self.message(world),
            Trouble::WallJump => {
                let process = self.name(world, &[Kind::Server, Kind::Worker])?;
                let micros = self.below(20_000_000) as i64 - 10_000_000;
                Some(Command::ClockJump { process, micros })
            }
            Trouble::Rate => {
                let process = self.name(world, &[Kind::Server, Kind::Worker])?;
                let ppm = self.rate();
                Some(Command::ClockRate { process, ppm })
            }
            Trouble::Campaign => Some(Command::Campaign {
                server: self.name(world, &[Kind::Server])?,
            }),
            Trouble::Transfer => {
                let (leader, _) = world.truth().leader()?;
                let from = world.names().name(leader).to_owned();
                let to = self.name(world, &[Kind::Server])?;
                Some(Command::Transfer { from, to })
            }
            Trouble::Compact => Some(Command::Compact {
                server: self.name(world, &[Kind::Server])?,
            }),
            Trouble::Members => self.change(world),
            Trouble::Release => {
                let worker = self.name(world, &[Kind::Worker])?;
                let resource = world.names().resources().first()?.clone();
                if self.chance(1, 2) {
                    Some(Command::Release { worker })
                } else {
                    Some(Command::Acquire { worker, resource })
                }
            }
        }
    }

    fn name(&mut self, world: &World, kinds: &[Kind]) -> Option<String> {
        let names = world.names();
        let ids: Vec<ProcessId> = names
            .ids()
            .filter(|id| kinds.contains(&names.kind(*id)))
            .collect();
        self.one_of(&ids).map(|id| names.name(id).to_owned())
    }

    fn pair(&mut self, world: &World) -> Option<(String, String)> {
        let all = [Kind::Server, Kind::Worker, Kind::Client, Kind::Store];
        Some((self.name(world, &[Kind::Server])?, self.name(world, &all)?))
    }

    fn partition(&mut self, world: &World) -> Option<Command> {
        let names = world.names();
        let mut groups = vec![Vec::new(), Vec::new()];
        for id in names.ids() {
            let side = self.below(2) as usize;
            groups[side].push(names.name(id).to_owned());
        }
        groups
            .iter()
            .all(|g| !g.is_empty())
            .then_some(Command::Partition { groups })
    }

    /// A change of the membership: mostly one that makes sense to the leader.
    fn change(&mut self, world: &World) -> Option<Command> {
        let config = world.server(world.truth().leader()?.0)?.config();
        let names = world.names();
        let among = |is: &dyn Fn(ProcessId) -> bool| -> Vec<String> {
            let those = names.of_kind(Kind::Server).filter(|id| is(*id));
            those.map(|id| names.name(id).to_owned()).collect()
        };
        let members = config.members();
        let what = match self.below(5) {
            0 => ChangeText::Add {
                server: self.one_of(&among(&|id| !members.contains(id)))?,
            },
            1 => ChangeText::AddLearner {
                server: self.one_of(&among(&|id| !members.contains(id)))?,
            },
            2 => ChangeText::Promote {
                server: self.one_of(&among(&|id| config.learners.contains(id)))?,
            },
            3 => ChangeText::Remove {
                server: self.one_of(&among(&|id| members.contains(id)))?,
            },
            _ => {
                let mut servers = among(&|_| true);
                servers.retain(|_| self.chance(1, 2));
                if servers.is_empty() {
                    return None;
                }
                ChangeText::Reconfigure { servers }
            }
        };
        Some(Command::Change { what, at: None })
    }

    fn message(&mut self, world: &World) -> Option<Command> {
        let flights: Vec<_> = world.in_flight().map(|flight| flight.id).collect();
        let id = self.one_of(&flights)?;
        let name = |id| world.names().name(id).to_owned();
        let message = MessageName {
            from: name(id.from),
            to: name(id.to),
            number: id.number,
        };
        Some(match self.below(4) {
            0 => Command::Drop { message },
            1 => Command::Duplicate { message },
            2 => Command::Deliver { message },
            _ => Command::Delay {
                message,
                by: self.millis(1, 8_000),
            },
        })
    }

    fn work(&mut self, world: &World) -> Option<Command> {
        let puts_of_nine = match self.aim {
            Some(
                Invariant::NoOlderToken | Invariant::DeadlineWithinGrant | Invariant::OneEffect,
            ) => 1,
            Some(
                Invariant::NoLostWrite
                | Invariant::StateMachineSafety
                | Invariant::LinearizableReads
                | Invariant::MonotonicReads,
            ) => 7,
            Some(
                Invariant::ElectionSafety
                | Invariant::LogMatching
                | Invariant::LeaderCompleteness
                | Invariant::TokenMonotonic
                | Invariant::OneHolder,
            )
            | None => 3,
        };
        if self.chance(puts_of_nine, 9) {
            let client = self.name(world, &[Kind::Client])?;
            let key = ["x", "y", "z"][self.below(3) as usize].to_owned();
            let value = self.below(1_000);
            // No draw of its own, so that what a seed draws after it stays.
            if value.is_multiple_of(3) {
                return Some(self.get(world, client, key, value / 3));
            }
            let value = value.to_string();
            return Some(Command::Put { client, key, value });
        }
        let believers: Vec<ProcessId> = world.names().of_kind(Kind::Worker).collect();
        let believers: Vec<ProcessId> = believers
            .into_iter()
            .filter(|id| {
                let belief = world.worker(*id).and_then(|worker| worker.belief());
                belief.is_some_and(|b| b.verdict == Verdict::Mine)
            })
            .collect();
        // Mostly one who thinks that it may.
        let believer = self.one_of(&believers).filter(|_| self.chance(7, 8));
        let process = match believer {
            Some(id) => world.names().name(id).to_owned(),
            None => self.name(world, &[Kind::Worker])?,
        };
        let store = self.name(world, &[Kind::Store])?;
        let number = self.below(40);
        let write = Command::Write {
            process: process.clone(),
            store,
            value: format!("charge {number}"),
            op: self.chance(1, 2).then_some(OpId(number)),
        };
        match self.below(3) {
            0 => self.hold_up(world).or(Some(write)),
            1 => {
                let Some(id) = believer.filter(|id| world.status(*id).is_running()) else {
                    return Some(write);
                };
                // It checks, and sleeps before it sends, for as long as it takes others to hold.
                let lease = world.setup().lease;
                let until = world.now().plus(self.millis(0, lease.0 / 500)).plus(lease);
                self.late = Some((id, until));
                self.next = Some(write);
                Some(Command::PauseBeforeSend { process })
            }
            _ => Some(write),
        }
    }

    /// A write that is on its way comes one lease to three later.
    fn hold_up(&mut self, world: &World) -> Option<Command> {
        let writes = world.in_flight().filter(|f| f.kind == MessageKind::Write);
        let writes: Vec<_> = writes.map(|flight| flight.id).collect();
        let id = self.one_of(&writes)?;
        let name = |id| world.names().name(id).to_owned();
        let message = MessageName {
            from: name(id.from),
            to: name(id.to),
            number: id.number,
        };
        let lease = world.setup().lease.0 / 1_000;
        let by = self.millis(lease, 3 * lease);
        Some(Command::Delay { message, by })
    }

    /// A read of one of the three kinds, where and how told by a number below 334.
    fn get(&self, world: &World, client: String, key: String, number: u64) -> Command {
        let (kind, place) = (number % 3, (number / 3) as usize);
        let servers: Vec<ProcessId> = world.names().of_kind(Kind::Server).collect();
        let at = servers
            .get(place % servers.len().max(1))
            .filter(|_| kind != 0);
        Command::Get {
            client,
            key,
            at: at.map(|id| world.names().name(*id).to_owned()),
            stale: at.is_some() && kind == 2,
        }
    }

    fn repair(&mut self, world: &World) -> Option<Command> {
        let names = world.names();
        let down: Vec<ProcessId> = names
            .ids()
            .filter(|id| !world.status(*id).is_running())
            .filter(|id| {
                self.late
                    .is_none_or(|(late, until)| late != *id || until <= world.now())
            })
            .collect();
        if let Some(id) = self.one_of(&down)
            && self.chance(3, 4)
        {
            let process = names.name(id).to_owned();
            return Some(if world.status(id).is_asleep() {
                Command::Resume { process }
            } else {
                Command::Restart { process }
            });
        }
        Some(Command::Heal)
    }

    /// Everything running again, every link whole and every message on time: what healing all faults takes.
    #[must_use]
    pub fn heal_all(world: &World) -> Vec<Command> {
        let names = world.names();
        let mut commands = vec![Command::Heal];
        for from in names.ids() {
            for to in names.ids().filter(|to| *to != from) {
                let (from, to) = (names.name(from).to_owned(), names.name(to).to_owned());
                let (min, max) = (world.setup().latency_min, world.setup().latency_max);
                commands.push(Command::Latency {
                    from: from.clone(),
                    to: to.clone(),
                    min,
                    max,
                });
                commands.push(Command::Loss { from, to, ppm: 0 });
            }
        }
        for id in names.ids() {
            let process = names.name(id).to_owned();
            if world.status(id).is_asleep() {
                commands.push(Command::Resume { process });
            } else if world.status(id).is_crashed() {
                commands.push(Command::Restart { process });
            }
        }
        for switch in Switch::ALL {
            // What is off unless set has been no harm.
            let (switch, position) = (*switch, switch.initial());
            if position != Position::Off && world.world_switch(switch) != position {
                commands.push(Command::Set {
                    switch,
                    position,
                    at: None,
                });
            }
        }
        // Who was removed and does not know it asks for votes for ever (dissertation §4.2.3).
        commands.push(Command::Set {
            switch: Switch::Stickiness,
            position: Position::On,
            at: None,
        });
        commands
    }
}
