//! Random search for a broken invariant: run after run under swarms of faults, and a find made short.
//!
//! A tester with dice and patience, who then works out which of the many things done were needed. It takes
//! steps in portions, so that whoever drives it can show how far it is, or stop. It draws no conclusion from
//! finding nothing: that is evidence, not proof.

use crate::command::Command;
use crate::event::{Event, Step};
use crate::monitor::{Broken, Invariant};
use crate::setup::SetupError;
use crate::shrink::Shrinker;
use crate::swarm::{Beyond, Swarm, Turn};
use crate::switch::{Position, Switch};
use crate::timed_script::TimedScript;
use crate::units::{Duration, SimTime};
use crate::world::World;

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The first run's seed; each later run has the next.
    pub seed: u64,
    pub runs: u64,
    /// Steps in each run.
    pub steps: u64,
    /// Positions of switches in every run, whatever a run draws.
    pub set: Vec<(Switch, Position)>,
    /// The one invariant whose break is sought; none means any.
    pub sought: Option<Invariant>,
    pub beyond: Beyond,
    /// How many times at most a find is played again to make it shorter.
    pub replays: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            runs: 1_000,
            steps: 2_000,
            set: Vec::new(),
            sought: None,
            beyond: Beyond::default(),
            replays: 5_000,
        }
    }
}

/// What has happened in all runs: runs in which nothing happens show nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Begun so far.
    pub runs: u64,
    pub steps: u64,
    pub commands: u64,
    pub elections: u64,
    pub commits: u64,
    pub expiries: u64,
    pub refusals: u64,
    pub crashes: u64,
    pub jeopardies: u64,
}

impl Totals {
    /// Every count with its name.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("runs", self.runs),
            ("steps", self.steps),
            ("commands", self.commands),
            ("elections", self.elections),
            ("commits", self.commits),
            ("expiries", self.expiries),
            ("refusals", self.refusals),
            ("crashes", self.crashes),
            ("jeopardies", self.jeopardies),
        ]
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "listens to a few events")]
    pub fn count(&mut self, step: &Step) {
        self.steps += 1;
        for event in step.events() {
            match event {
                Event::BecameLeader { .. } => self.elections += 1,
                Event::CommitAdvanced { .. } => self.commits += 1,
                Event::LeaseExpired { .. } => self.expiries += 1,
                Event::WriteRefused { .. } => self.refusals += 1,
                Event::Crashed { .. } => self.crashes += 1,
                Event::JeopardyBegan { .. } => self.jeopardies += 1,
                _ => {}
            }
        }
    }
}

/// A broken invariant, and the shortest script that was found for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The run's seed: with one run of this seed the search finds the same again.
    pub seed: u64,
    pub invariant: Invariant,
    /// As the script breaks it.
    pub broken: Broken,
    pub script: TimedScript,
    /// Commands in the run as it was found.
    pub commands_found: usize,
    /// How often it was played again.
    pub replays: u64,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Playing,
    /// Something broke; it is being made shorter.
    Shrinking {
        commands: usize,
        replays: u64,
    },
    /// [`Fuzzer::find`] has it.
    Found,
    /// All runs are over, and nothing broke.
    NothingFound,
}

/// A run under way, and its commands so far.
#[derive(Clone, Debug)]
struct Run {
    seed: u64,
    swarm: Swarm,
    world: World,
    commands: Vec<(SimTime, Command)>,
}

#[derive(Clone, Debug)]
enum Phase {
    /// The next run has this number, from 0.
    Between(u64),
    Playing(Box<Run>),
    Shrinking {
        seed: u64,
        commands: usize,
        shrinker: Box<Shrinker>,
    },
    Found(Box<Find>),
    NothingFound,
}

/// A search that goes on as far as it is told to. Dropping it ends it.
#[derive(Clone, Debug)]
pub struct Fuzzer {
    options: Options,
    totals: Totals,
    phase: Phase,
}

impl Fuzzer {
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            totals: Totals::default(),
            phase: Phase::Between(0),
        }
    }

    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    #[must_use]
    pub fn find(&self) -> Option<&Find> {
        match &self.phase {
            Phase::Found(find) => Some(find),
            Phase::Between(_)
            | Phase::Playing(_)
            | Phase::Shrinking { .. }
            | Phase::NothingFound => None,
        }
    }

    #[must_use]
    pub fn progress(&self) -> Progress {
        match &self.phase {
            Phase::Between(_) | Phase::Playing(_) => Progress::Playing,
            Phase::Shrinking { shrinker, .. } => Progress::Shrinking {
                commands: shrinker.script().commands.len(),
                replays: shrinker.replays(),
            },
            Phase::Found(_) => Progress::Found,
            Phase::NothingFound => Progress::NothingFound,
        }
    }

    /// Takes about `steps` steps more: at most as many as one run or one replay beyond that.
    ///
    /// # Errors
    /// What is wrong with a drawn setup: a fault of the swarm's.
    pub fn advance(&mut self, steps: u64) -> Result<Progress, SetupError> {
        let mut left = steps;
        while 0 < left {
            match &mut self.phase {
                Phase::Between(number) if *number < self.options.runs => {
                    let run = Run::begin(self.options.seed.wrapping_add(*number), &self.options)?;
                    self.totals.runs += 1;
                    self.phase = Phase::Playing(Box::new(run));
                }
                Phase::Between(_) => self.phase = Phase::NothingFound,
                Phase::Playing(run) => {
                    let taken = run.play(&self.options, left, &mut self.totals);
                    left = left.saturating_sub(taken.steps.max(1));
                    match taken.end {
                        RunEnd::Goes => {}
                        RunEnd::Over => self.phase = Phase::Between(self.totals.runs),
                        RunEnd::Broke(invariant) => {
                            self.phase = shrinking(run, invariant, &self.options)?;
                        }
                    }
                }
                Phase::Shrinking {
                    seed,
                    commands,
                    shrinker,
                } => {
                    let taken = shrinker.advance(left);
                    left = left.saturating_sub(taken.max(1));
                    if shrinker.is_done() {
                        let find = Find {
                            seed: *seed,
                            invariant: shrinker.invariant(),
                            broken: shrinker.broken().clone(),
                            script: shrinker.script().clone(),
                            commands_found: *commands,
                            replays: shrinker.replays(),
                        };
                        self.phase = Phase::Found(Box::new(find));
                    }
                }
                Phase::Found(_) | Phase::NothingFound => break,
            }
        }
        Ok(self.progress())
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// As [`Fuzzer::advance`].
    pub fn finish(&mut self) -> Result<Option<&Find>, SetupError> {
        while matches!(
            self.advance(100_000)?,
            Progress::Playing | Progress::Shrinking { .. }
        ) {}
        Ok(self.find())
    }
}

/// What a portion of a run came to.
#[derive(Clone, Copy, Debug)]
struct Taken {
    steps: u64,
    end: RunEnd,
}

#[derive(Clone, Copy, Debug)]
enum RunEnd {
    Goes,
    Over,
    Broke(Invariant),
}

impl Run {
    fn begin(seed: u64, options: &Options) -> Result<Self, SetupError> {
        // What is sought, or what the switches that are off would have kept.
        let aim = options
            .sought
            .or_else(|| off(options).find_map(Switch::breaks));
        let mut swarm = match aim {
            Some(invariant) => Swarm::aimed(seed, options.beyond, invariant),
            None => Swarm::new(seed, options.beyond),
        };
        let mut setup = swarm.setup();
        for (switch, position) in &options.set {
            setup.switches.retain(|(name, _)| name != switch.name());
            if *position != switch.initial() {
                let word = switch.word(*position).to_owned();
                setup.switches.push((switch.name().to_owned(), word));
            }
        }
        Ok(Self {
            seed,
            swarm,
            world: World::new(setup)?,
            commands: Vec::new(),
        })
    }

    /// Takes up to `most` steps.
    fn play(&mut self, options: &Options, most: u64, totals: &mut Totals) -> Taken {
        let mut step = Step::empty();
        let first = self.world.step_count().0;
        loop {
            let steps = self.world.step_count().0 - first;
            let taken = |end| Taken { steps, end };
            if let Some(invariant) = broken(&self.world, options.sought) {
                return taken(RunEnd::Broke(invariant));
            }
            if options.steps <= self.world.step_count().0 {
                return taken(RunEnd::Over);
            }
            if most <= steps {
                return taken(RunEnd::Goes);
            }
            let is_taken = match self.swarm.turn(&self.world) {
                Turn::Step if self.world.step(&mut step) => true,
                Turn::Step => return taken(RunEnd::Over),
                Turn::Act(command) if self.world.apply(&command, &mut step).is_ok() => {
                    self.commands.push((self.world.now(), command));
                    totals.commands += 1;
                    true
                }
                Turn::Act(_) | Turn::Nothing => false,
            };
            if is_taken {
                totals.count(&step);
            }
        }
    }
}

/// The safety mechanisms that the search takes away.
fn off(options: &Options) -> impl Iterator<Item = Switch> + '_ {
    let off = options
        .set
        .iter()
        .filter(|(switch, position)| *position != Position::On && switch.breaks().is_some());
    off.map(|(switch, _)| *switch)
}

/// The first of the invariants that is broken, if one of those that count is.
fn broken(world: &World, sought: Option<Invariant>) -> Option<Invariant> {
    let mut all = Invariant::ALL.iter().copied();
    all.find(|invariant| {
        sought.is_none_or(|sought| sought == *invariant) && world.broken(*invariant).is_some()
    })
}

fn shrinking(run: &Run, invariant: Invariant, options: &Options) -> Result<Phase, SetupError> {
    let script = TimedScript {
        setup: run.world.setup().clone(),
        commands: run.commands.clone(),
        // Beyond the last command, so that what it set off at once is part of it.
        end: run.world.now().plus(Duration::micros(1)),
    };
    Ok(Phase::Shrinking {
        seed: run.seed,
        commands: run.commands.len(),
        shrinker: Box::new(Shrinker::new(
            script,
            invariant,
            off(options).collect(),
            options.replays,
        )?),
    })
}
