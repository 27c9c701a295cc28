//! Grades what a learner made happen, by running the learner's own commands again.
//!
//! A referee with a video: the learner's screen proves nothing, the replay does. It knows no
//! cheating beyond that: whoever finds another way to the same end has found a way.

use std::fmt;
use std::sync::Arc;

use leasehold_engine::claim::Watch;
use leasehold_engine::command::{ChangeText, Command};
use leasehold_engine::event::Step;
use leasehold_engine::history::{History, Position};
use leasehold_engine::units::{SimTime, StepNumber};
use leasehold_engine::world::World;
use serde::{Deserialize, Serialize};

use crate::director::{self, Director, Failure, Options};
use crate::lesson::{Goal, Lesson};

macro_rules! verbs {
    ($($variant:ident = $one:literal, $many:literal, $limited:literal;)*) => {
        /// What a command does, as budgets count it.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum Verb { $($variant,)* }

        impl Verb {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// `pause`, the word of the command itself.
            #[must_use]
            pub const fn one(self) -> &'static str {
                match self { $(Self::$variant => $one,)* }
            }

            #[must_use]
            pub const fn many(self) -> &'static str {
                match self { $(Self::$variant => $many,)* }
            }

            /// Whether a budget that does not name it allows none. What mends or is a process's own
            /// work is free unless it is named.
            #[must_use]
            pub const fn is_limited(self) -> bool {
                match self { $(Self::$variant => $limited,)* }
            }
        }
    };
}

verbs! {
    Pause = "pause", "pauses", true;
    Resume = "resume", "resumes", false;
    Crash = "crash", "crashes", true;
    Restart = "restart", "restarts", false;
    Partition = "partition", "partitions", true;
    Cut = "cut", "cuts", true;
    Heal = "heal", "heals", false;
    Disk = "disk act", "disk acts", true;
    Drop = "drop", "drops", true;
    Deliver = "deliver", "delivers", true;
    Duplicate = "duplicate", "duplicates", true;
    Delay = "delay", "delays", true;
    Latency = "latency", "latencies", true;
    Loss = "loss", "losses", true;
    Clock = "clock", "clocks", true;
    Write = "write", "writes", false;
    Put = "put", "puts", false;
    Get = "get", "gets", false;
    Acquire = "acquire", "acquires", false;
    Release = "release", "releases", false;
    Raise = "raise", "raises", false;
    Campaign = "campaign", "campaigns", true;
    Ring = "ring", "rings", true;
    Transfer = "transfer", "transfers", true;
    Compact = "compact", "compacts", false;
    Add = "add", "adds", true;
    Promote = "promote", "promotes", true;
    Remove = "remove", "removes", true;
    Reconfigure = "reconfigure", "reconfigures", true;
    Set = "set", "sets", true;
}

impl Verb {
    #[must_use]
    pub const fn of(command: &Command) -> Self {
        match command {
            Command::Pause { .. } | Command::PauseBeforeSend { .. } => Self::Pause,
            Command::Resume { .. } => Self::Resume,
            Command::Crash { .. } => Self::Crash,
            Command::Restart { .. } => Self::Restart,
            Command::Partition { .. } => Self::Partition,
            Command::Cut { .. } => Self::Cut,
            Command::Heal | Command::HealLink { .. } => Self::Heal,
            Command::Disk { .. } => Self::Disk,
            Command::Drop { .. } => Self::Drop,
            Command::Deliver { .. } => Self::Deliver,
            Command::Duplicate { .. } => Self::Duplicate,
            Command::Delay { .. } => Self::Delay,
            Command::Latency { .. } => Self::Latency,
            Command::Loss { .. } => Self::Loss,
            Command::ClockRate { .. } | Command::ClockJump { .. } => Self::Clock,
            Command::Write { .. } => Self::Write,
            Command::Put { .. } => Self::Put,
            Command::Get { .. } => Self::Get,
            Command::Acquire { .. } => Self::Acquire,
            Command::Release { .. } => Self::Release,
            Command::Raise { .. } => Self::Raise,
            Command::Campaign { .. } => Self::Campaign,
            Command::Ring { .. } => Self::Ring,
            Command::Transfer { .. } => Self::Transfer,
            Command::Compact { .. } => Self::Compact,
            Command::Change { what, .. } => match what {
                ChangeText::Add { .. } | ChangeText::AddLearner { .. } => Self::Add,
                ChangeText::Promote { .. } => Self::Promote,
                ChangeText::Remove { .. } => Self::Remove,
                ChangeText::Reconfigure { .. } => Self::Reconfigure,
            },
            Command::Set { .. } => Self::Set,
        }
    }
}

/// How many of which commands a learner may give: `1 pause, 2 cuts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub allowed: Vec<(Verb, u32)>,
}

impl Budget {
    /// None: as many as one likes.
    #[must_use]
    pub fn most(&self, verb: Verb) -> Option<u32> {
        let named = self
            .allowed
            .iter()
            .find(|(v, _)| *v == verb)
            .map(|(_, most)| *most);
        named.or_else(|| verb.is_limited().then_some(0))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (verb, most)) in self.allowed.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{}", counted(*verb, *most))?;
        }
        Ok(())
    }
}

fn counted(verb: Verb, count: u32) -> String {
    let word = if count == 1 { verb.one() } else { verb.many() };
    format!("{count} {word}")
}

/// How an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grade {
    /// At this step, at this time.
    Reached {
        step: StepNumber,
        at: SimTime,
    },
    NotReached,
    /// A whole sentence: what was allowed and what was used.
    OverBudget(String),
    /// The run does not begin where the goal begins.
    OtherStart,
}

/// A goal made ready: the run that a learner starts from.
#[derive(Clone, Debug)]
pub struct Exercise {
    goal: Goal,
    start: History,
    from: Position,
    given: usize,
}

impl Exercise {
    /// Plays the lesson to where the goal begins, with the goal's switches.
    ///
    /// # Errors
    /// When the lesson cannot be played that far.
    pub fn new(lesson: &Arc<Lesson>, goal: &Goal) -> Result<Self, Failure> {
        let whole = |setup, change| director::changed(setup, change);
        let setup = goal.with.iter().fold(lesson.setup.clone(), whole);
        let options = Options {
            setup: Some(setup),
            ..Options::default()
        };
        let mut director = Director::with(Arc::clone(lesson), options);
        if !director.seek_page(goal.from)
            && let director::Phase::Failed(failure) = director.phase()
        {
            return Err(failure.clone());
        }
        let mut start = director.runs()[0].history.clone();
        for change in goal.with.iter().filter(|change| change.at.is_some()) {
            let command = Command::Set {
                switch: change.switch,
                position: change.position,
                at: change.at.clone(),
            };
            let acted = start.act(command, &mut Step::empty());
            assert!(
                acted.is_ok(),
                "its process is checked when the lesson is read"
            );
        }
        let from = start.position();
        Ok(Self {
            goal: goal.clone(),
            given: start.commands().len(),
            from,
            start,
        })
    }

    #[must_use]
    pub const fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Where the learner starts; act on a clone of it.
    #[must_use]
    pub const fn start(&self) -> &History {
        &self.start
    }

    /// For seeing at once when the goal may be reached: show it the learner's steps, and
    /// [`Self::grade`] once it holds.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(self.goal.reach.claim.clone())
    }

    /// How often each verb was used beyond the start, up to the cursor.
    #[must_use]
    pub fn used(&self, attempt: &History) -> Vec<(Verb, u32)> {
        let here = attempt.position().step;
        let own = attempt.commands().iter().skip(self.given);
        let own = own.take_while(|(position, _)| position.step < here);
        let verbs: Vec<Verb> = own.map(|(_, command)| Verb::of(command)).collect();
        let count = |verb: &Verb| verbs.iter().filter(|v| *v == verb).count() as u32;
        let counts = Verb::ALL.iter().map(|verb| (*verb, count(verb)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// What is over the budget, as a sentence.
    #[must_use]
    pub fn over_budget(&self, attempt: &History) -> Option<String> {
        let used = self.used(attempt);
        let over = |(verb, used): &(Verb, u32)| {
            let most = self.goal.budget.most(*verb)?;
            (most < *used).then(|| {
                let allowed = if most == 0 {
                    format!("no {}", verb.many())
                } else {
                    counted(*verb, most)
                };
                format!(
                    "The goal allows {allowed}; this run has {}.",
                    counted(*verb, *used)
                )
            })
        };
        used.iter().find_map(over)
    }

    /// Runs the attempt's commands again, up to its cursor, and says how it stands.
    #[must_use]
    pub fn grade(&self, attempt: &History) -> Grade {
        let theirs = attempt.commands();
        let ours = self.start.commands();
        let same_setup = attempt.world().setup() == self.start.world().setup();
        let end = attempt.position();
        if !same_setup
            || theirs.len() < ours.len()
            || theirs[..ours.len()] != *ours
            || end < self.from
        {
            return Grade::OtherStart;
        }
        let Some((step, at)) = self.first_time(attempt, end) else {
            return Grade::NotReached;
        };
        self.over_budget(attempt)
            .map_or(Grade::Reached { step, at }, Grade::OverBudget)
    }

    fn first_time(&self, attempt: &History, end: Position) -> Option<(StepNumber, SimTime)> {
        let setup = attempt.world().setup().clone();
        let Ok(mut world) = World::new(setup) else {
            panic!("it is the setup of a world that runs");
        };
        let mut watch = self.watch();
        let mut step = Step::empty();
        let mut commands = attempt.commands().iter().peekable();
        while world.step_count() < end.step {
            let here = world.step_count();
            match commands.next_if(|(position, _)| position.step == here) {
                Some((position, command)) => {
                    if world.now() < position.at {
                        world.advance(position.at);
                    }
                    world.apply(command, &mut step).ok()?;
                }
                None if world.step(&mut step) => {}
                None => return None,
            }
            if self.from.step <= step.number {
                watch.show(&step, &world);
                if watch.holds(&world) != self.goal.reach.negated {
                    return Some((step.number, step.at));
                }
            }
        }
        None
    }
}
