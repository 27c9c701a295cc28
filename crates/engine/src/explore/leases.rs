//! Leases in discrete time, for the search: at every tick anything from a small list may be done.
//!
//! A rehearsal with a metronome: between two beats the play goes on by itself, on each beat somebody may
//! fall asleep, write, or find a link slow. A state is a whole world, stepped as ever, so that what is found
//! needs no translation. What can be done comes out of budgets.
//!
//! Left out: anything between two ticks, and the merging of states that differ by when they are: a search
//! ends at its horizon. States are told apart by 128 bits of hash, not by all of their bytes.

use std::collections::BTreeMap;

use super::Model;
use crate::claim::{Claim, Watch};
use crate::command::Command;
use crate::event::Step;
use crate::monitor::Invariant;
use crate::setup::Kind;
use crate::units::{Duration, ProcessId, SimTime};
use crate::world::{Status, World};

const TRUE_RATE: u32 = 1_000_000;

/// What may happen at the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// From one beat to the next.
    pub tick: Duration,
    /// The search goes no further than this from its start.
    pub horizon: Duration,
    /// Workers that fall asleep; waking is free.
    pub pauses: u8,
    /// Writes of workers to the first store.
    pub writes: u8,
    /// A server crashes; a restart is free.
    pub crashes: u8,
    /// A link between a worker and a server, one way, gets another latency.
    pub latencies: u8,
    /// A worker's or server's clock gets another rate.
    pub rates: u8,
    /// More that may be done, each once; one that is to be done twice stands here twice. At most
    /// [`Bounds::MENU_MAX`].
    pub menu: Vec<Command>,
    /// The latencies and the rates that there are to choose from, in parts per million of a true clock.
    pub delays: Vec<Duration>,
    pub clocks: Vec<u32>,
}

impl Bounds {
    pub const MENU_MAX: usize = 64;
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            tick: Duration::millis(500),
            horizon: Duration::secs(12),
            pauses: 1,
            writes: 2,
            crashes: 0,
            latencies: 0,
            rates: 0,
            menu: Vec::new(),
            delays: vec![Duration::secs(2)],
            clocks: vec![TRUE_RATE / 5 * 4, TRUE_RATE / 5 * 6],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    Break(Invariant),
    Reach(Claim),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    pauses: u8,
    writes: u8,
    crashes: u8,
    latencies: u8,
    rates: u8,
    /// A bit for each of the menu.
    chosen: u64,
}

/// A world at a beat, and what has been spent and seen on the way.
#[derive(Clone, Debug)]
pub struct State {
    world: World,
    spent: Spent,
    watch: Option<Watch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes to the next beat.
    Run(Duration),
    Act(Command),
}

#[derive(Debug)]
pub struct Leases {
    start: State,
    end: SimTime,
    bounds: Bounds,
    goal: Goal,
    /// The states that were met and not read since, by their fingerprints.
    waiting: BTreeMap<[u64; 2], State>,
    /// About how large one of them is.
    state_bytes: u64,
}

impl Leases {
    /// The invariants that need leases, stores, reads or time: for these a search without time is none.
    pub const INVARIANTS: [Invariant; 7] = [
        Invariant::TokenMonotonic,
        Invariant::OneHolder,
        Invariant::DeadlineWithinGrant,
        Invariant::NoOlderToken,
        Invariant::LinearizableReads,
        Invariant::MonotonicReads,
        Invariant::OneEffect,
    ];

    /// # Panics
    /// If the menu is longer than [`Bounds::MENU_MAX`].
    #[must_use]
    pub fn new(world: &World, bounds: Bounds, goal: Goal) -> Self {
        assert!(
            bounds.menu.len() <= Bounds::MENU_MAX,
            "the menu is too long"
        );
        let watch = match &goal {
            Goal::Break(_) => None,
            Goal::Reach(claim) => Some(Watch::new(claim.clone())),
        };
        let start = State {
            world: world.clone(),
            spent: Spent::default(),
            watch,
        };
        let processes = world.names().count() as u64;
        Self {
            start,
            end: world.now().plus(bounds.horizon),
            bounds,
            goal,
            waiting: BTreeMap::new(),
            state_bytes: 2_048 + processes * 1_536,
        }
    }

    /// Where on the menu a command stands that was not chosen yet.
    fn on_menu(&self, spent: Spent, command: &Command) -> Option<usize> {
        let mut menu = self.bounds.menu.iter().enumerate();
        let found = menu.find(|(at, one)| spent.chosen & 1 << at == 0 && *one == command);
        found.map(|(at, _)| at)
    }

    fn commands(&self, state: &State, actions: &mut Vec<Action>) {
        let (world, spent, bounds) = (&state.world, state.spent, &self.bounds);
        let names = world.names();
        let name = |id: ProcessId| names.name(id).to_owned();
        let mut act = |command| actions.push(Action::Act(command));
        for (at, command) in self.bounds.menu.iter().enumerate() {
            // Of two that are the same, the first is chosen first.
            if self.on_menu(spent, command) == Some(at) {
                act(command.clone());
            }
        }
        let store = names.of_kind(Kind::Store).next();
        for id in names.ids() {
            let process = name(id);
            let is_worker = match names.kind(id) {
                Kind::Worker => true,
                Kind::Server => false,
                Kind::Client | Kind::Store => continue,
            };
            match world.status(id) {
                Status::Asleep { .. } => act(Command::Resume {
                    process: process.clone(),
                }),
                Status::Crashed { .. } => act(Command::Restart {
                    process: process.clone(),
                }),
                Status::Running => {
                    if is_worker && spent.pauses < bounds.pauses {
                        act(Command::Pause {
                            process: process.clone(),
                        });
                    }
                    if !is_worker && spent.crashes < bounds.crashes {
                        act(Command::Crash {
                            process: process.clone(),
                        });
                    }
                    if let Some(store) = store
                        && is_worker
                        && spent.writes < bounds.writes
                    {
                        act(Command::Write {
                            process: process.clone(),
                            store: name(store),
                            value: format!("write {}", spent.writes + 1),
                            op: None,
                        });
                    }
                }
            }
            if spent.rates < bounds.rates {
                let now = world.clock(id).rate_ppm();
                for ppm in bounds.clocks.iter().copied().filter(|ppm| *ppm != now) {
                    act(Command::ClockRate {
                        process: process.clone(),
                        ppm,
                    });
                }
            }
            if is_worker && spent.latencies < bounds.latencies {
                for server in names.of_kind(Kind::Server) {
                    for (from, to) in [(id, server), (server, id)] {
                        let now = world.link(from, to).latency_min;
                        for delay in bounds.delays.iter().copied().filter(|d| *d != now) {
                            act(Command::Latency {
                                from: name(from),
                                to: name(to),
                                min: delay,
                                max: delay,
                            });
                        }
                    }
                }
            }
        }
    }
}

/// Takes all steps of a span and shows each to `on`.
pub fn run(world: &mut World, span: Duration, mut on: impl FnMut(&Step, &World)) {
    let to = world.now().plus(span);
    let mut step = Step::empty();
    while world.next_at().is_some_and(|at| at <= to) && world.step(&mut step) {
        on(&step, world);
    }
    world.advance(to);
}

impl Model for Leases {
    type State = State;
    type Action = Action;
    type Finding = ();

    fn initial(&mut self) -> Vec<State> {
        vec![self.start.clone()]
    }

    fn actions(&mut self, state: &State, actions: &mut Vec<Action>) {
        if state.world.now().plus(self.bounds.tick) <= self.end {
            actions.push(Action::Run(self.bounds.tick));
        }
        self.commands(state, actions);
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is free is not counted"
    )]
    fn next(&mut self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Run(span) => {
                let watch = &mut next.watch;
                run(&mut next.world, *span, |step, world| {
                    if let Some(watch) = watch {
                        watch.show(step, world);
                    }
                });
            }
            Action::Act(command) => {
                let mut step = Step::empty();
                next.world.apply(command, &mut step).ok()?;
                if let Some(watch) = &mut next.watch {
                    watch.show(&step, &next.world);
                }
                let spent = &mut next.spent;
                match command {
                    _ if self.on_menu(*spent, command).is_some() => {
                        let chosen = self.on_menu(*spent, command);
                        spent.chosen |= chosen.map_or(0, |at| 1 << at);
                    }
                    Command::Pause { .. } => spent.pauses += 1,
                    Command::Write { .. } => spent.writes += 1,
                    Command::Crash { .. } => spent.crashes += 1,
                    Command::Latency { .. } => spent.latencies += 1,
                    Command::ClockRate { .. } => spent.rates += 1,
                    _ => {}
                }
            }
        }
        Some(next)
    }

    fn write(&self, state: &State, bytes: &mut Vec<u8>) {
        let key = state.world.search_key(&(state.spent, &state.watch));
        bytes.extend(key.iter().flat_map(|half| half.to_le_bytes()));
    }

    fn read(&mut self, bytes: &[u8]) -> State {
        let key = key_of(bytes);
        let waiting = self.waiting.remove(&key);
        waiting.unwrap_or_else(|| self.start.clone())
    }

    fn entered(&mut self, state: &State) {
        let mut bytes = Vec::with_capacity(16);
        self.write(state, &mut bytes);
        self.waiting.insert(key_of(&bytes), state.clone());
    }

    fn finding(&self, state: &State) -> Option<()> {
        let is_found = match (&self.goal, &state.watch) {
            (Goal::Break(invariant), _) => state.world.broken(*invariant).is_some(),
            (Goal::Reach(_), Some(watch)) => watch.holds(&state.world),
            (Goal::Reach(_), None) => false,
        };
        is_found.then_some(())
    }

    fn memory(&self) -> u64 {
        self.waiting.len() as u64 * self.state_bytes
    }
}

fn key_of(bytes: &[u8]) -> [u64; 2] {
    let half = |at: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(half)
    };
    [half(0), half(8)]
}
