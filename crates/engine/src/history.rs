//! The run as a tree of branches: commands are the truth, checkpoints a cache.
//!
//! A film that can be wound back and re-shot: the old take stays in the can. Playing moves the horizon
//! and records nothing; acting in the past starts a branch. Of each step only a small fixed entry is
//! kept; its facts are derived again from the nearest checkpoint when somebody asks.

use std::sync::Arc;

use crate::command::{Command, CommandError};
use crate::event::{Event, MessageKind, Step, StepKind, TimerKind};
use crate::rule::Rule;
use crate::run_file::{self, RunCommand, RunEnd, RunFile};
use crate::setup::{Setup, SetupError};
use crate::shared::Shared;
use crate::text::ParseError;
use crate::units::{ProcessId, SimTime, StepNumber};
use crate::world::World;

/// Steps between checkpoints: what a seek replays at most.
const CHECKPOINT_EVERY: u64 = 1_024;
/// The most steps of one branch; a run beyond it must be begun anew.
pub const STEPS_MAX: u64 = 4_000_000;

/// `step` steps are taken, and the clock shows `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub at: SimTime,
    pub step: StepNumber,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId(pub u32);

/// What kind of step it was, without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepTag {
    Delivery(MessageKind),
    Timer(TimerKind),
    Synced,
    Command,
}

/// What is kept of every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepEntry {
    pub at: SimTime,
    pub process: Option<ProcessId>,
    pub tag: StepTag,
    pub rule: Option<Rule>,
    /// Worth stopping at; heartbeats and the like are not.
    pub notable: bool,
}

/// One future of the run.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Where it left another branch; none for the first.
    pub parent: Option<(BranchId, Position)>,
    /// All commands from the run's zero, those before the fork included.
    pub commands: Vec<(Position, Command)>,
    /// How far it has been played.
    pub end: Position,
    entries: Shared<StepEntry>,
    checkpoints: Vec<(u64, Arc<World>)>,
}

impl Branch {
    fn command_at(&self, step: u64) -> Option<&(Position, Command)> {
        let at = self
            .commands
            .binary_search_by_key(&step, |(p, _)| p.step.0)
            .ok()?;
        self.commands.get(at)
    }
}

/// A run, wound to some moment of one of its branches.
#[derive(Clone, Debug)]
pub struct History {
    branches: Vec<Branch>,
    current: usize,
    world: World,
}

impl History {
    /// # Errors
    /// What is wrong with the setup.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        let world = World::new(setup)?;
        let first = Branch {
            parent: None,
            commands: Vec::new(),
            end: Position {
                at: world.now(),
                step: world.step_count(),
            },
            entries: Shared::default(),
            checkpoints: vec![(0, Arc::new(world.clone()))],
        };
        Ok(Self {
            branches: vec![first],
            current: 0,
            world,
        })
    }

    /// The world as it is at the cursor.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    #[must_use]
    pub const fn position(&self) -> Position {
        Position {
            at: self.world.now(),
            step: self.world.step_count(),
        }
    }

    fn here(&self) -> &Branch {
        &self.branches[self.current]
    }

    /// How far the current branch has been played.
    #[must_use]
    pub fn end(&self) -> Position {
        self.here().end
    }

    #[must_use]
    pub fn at_end(&self) -> bool {
        self.position() == self.end()
    }

    /// When the next step or recorded command is due.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        match self.here().command_at(self.world.step_count().0) {
            Some((position, _)) => Some(position.at),
            None => self.world.next_at(),
        }
    }

    /// Takes the next step: a recorded one in the past, a new one at the end. False if nothing is left.
    pub fn step(&mut self, step: &mut Step) -> bool {
        let number = self.world.step_count().0;
        if number >= STEPS_MAX {
            return false;
        }
        match self.branches[self.current].command_at(number) {
            Some((position, command)) => {
                self.world.advance(position.at);
                self.world.apply_or_skip(command, step);
            }
            None => {
                if !self.world.step(step) {
                    return false;
                }
            }
        }
        self.note(step);
        true
    }

    /// Writes a step that was just taken into the branch, if it is a new one.
    fn note(&mut self, step: &Step) {
        let taken = self.world.step_count().0;
        let position = self.position();
        let branch = &mut self.branches[self.current];
        if taken <= branch.entries.len() as u64 {
            return;
        }
        branch.entries.push(StepEntry::of(step, &self.world));
        branch.end = Position {
            at: position.at.max(branch.end.at),
            step: position.step,
        };
        if taken.is_multiple_of(CHECKPOINT_EVERY) {
            branch
                .checkpoints
                .push((taken, Arc::new(self.world.clone())));
        }
    }

    /// Moves the clock to `to`, which is not after the next step; at the end this moves the horizon.
    pub fn advance(&mut self, to: SimTime) {
        assert!(
            self.next_at().is_none_or(|next| to <= next),
            "no step may be skipped"
        );
        self.world.advance(to);
        let position = self.position();
        let branch = &mut self.branches[self.current];
        if branch.end.step == position.step {
            branch.end.at = branch.end.at.max(position.at);
        }
    }

    /// Takes all steps up to and at `to`, shows each to `on`, and leaves the clock at `to`.
    pub fn run_to(&mut self, to: SimTime, mut on: impl FnMut(&Step, &World)) {
        let mut step = Step::empty();
        while self.next_at().is_some_and(|next| next <= to) && self.step(&mut step) {
            on(&step, &self.world);
        }
        if self.next_at().is_none_or(|next| to <= next) {
            self.advance(to);
        }
    }

    /// Carries out a command here. In the past this starts a branch; the old future stays.
    ///
    /// # Errors
    /// Why it cannot be carried out; nothing has changed.
    pub fn act(&mut self, command: Command, step: &mut Step) -> Result<(), CommandError> {
        let position = self.position();
        self.world.apply(&command, step)?;
        self.record(position, command, step);
        Ok(())
    }

    /// As [`History::act`]; a command that cannot be carried out is recorded as skipped.
    pub fn act_or_skip(&mut self, command: Command, step: &mut Step) {
        let position = self.position();
        self.world.apply_or_skip(&command, step);
        self.record(position, command, step);
    }

    fn record(&mut self, position: Position, command: Command, step: &Step) {
        if position.step < self.end().step {
            self.fork(position);
        }
        let branch = &mut self.branches[self.current];
        branch.commands.push((position, command));
        branch.end.at = position.at;
        self.note(step);
    }

    fn fork(&mut self, position: Position) {
        let old = self.here();
        let kept = position.step.0;
        let mut entries = old.entries.clone();
        entries.truncate(kept as usize);
        let before = |(p, _): &&(Position, Command)| p.step < position.step;
        let commands = old.commands.iter().filter(before).cloned().collect();
        let checkpoints = old
            .checkpoints
            .iter()
            .filter(|(n, _)| *n <= kept)
            .cloned()
            .collect();
        let parent = Some((BranchId(self.current as u32), position));
        self.branches.push(Branch {
            parent,
            commands,
            end: position,
            entries,
            checkpoints,
        });
        self.current = self.branches.len() - 1;
    }

    /// The step that a seek to `to` begins at, if it comes from elsewhere.
    #[must_use]
    pub fn checkpoint_before(&self, to: StepNumber) -> StepNumber {
        let checkpoints = &self.here().checkpoints;
        let at = checkpoints.partition_point(|(n, _)| *n <= to.0) - 1;
        StepNumber(checkpoints[at].0)
    }

    /// Winds to the moment at which exactly `to` steps are taken; no further than the branch's end.
    pub fn seek(&mut self, to: StepNumber) {
        let to = to.0.min(self.end().step.0);
        let here = self.world.step_count().0;
        let at = self.here().checkpoints.partition_point(|(n, _)| *n <= to) - 1;
        let (nearest, world) = &self.here().checkpoints[at];
        // The clock may stand beyond the last step: going back to the same step winds it back too.
        if to <= here || here < *nearest {
            self.world = World::clone(world);
        }
        let mut step = Step::empty();
        while self.world.step_count().0 < to && self.step(&mut step) {}
    }

    /// Winds to the moment `to`, with all steps up to and at it taken; no further than the branch's end.
    pub fn seek_time(&mut self, to: SimTime) {
        let to = to.min(self.end().at);
        let (mut low, mut high) = (0, self.here().entries.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.here().entries.get(middle) {
                Some(entry) if entry.at <= to => low = middle + 1,
                Some(_) | None => high = middle,
            }
        }
        self.seek(StepNumber(low as u64));
        if self.next_at().is_none_or(|next| to <= next) {
            self.world.advance(to);
        }
    }

    /// How many steps the current branch has.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.here().entries.len()
    }

    #[must_use]
    pub fn entry(&self, step: StepNumber) -> Option<StepEntry> {
        let at = step.0 as usize;
        if at < self.steps() {
            self.here().entries.get(at).copied()
        } else {
            None
        }
    }

    /// All that happened in a step, derived again.
    #[must_use]
    pub fn detail(&self, number: StepNumber) -> Option<Step> {
        self.details(number, StepNumber(number.0 + 1)).pop()
    }

    /// The steps from `from` up to but without `to`, derived again.
    #[must_use]
    pub fn details(&self, from: StepNumber, to: StepNumber) -> Vec<Step> {
        let to = StepNumber(to.0.min(self.steps() as u64));
        if to <= from {
            return Vec::new();
        }
        let branch = self.here();
        let at = branch.checkpoints.partition_point(|(n, _)| *n <= from.0) - 1;
        let mut world = World::clone(&branch.checkpoints[at].1);
        let mut steps = Vec::new();
        let mut step = Step::empty();
        while world.step_count() < to {
            match branch.command_at(world.step_count().0) {
                Some((position, command)) => {
                    world.advance(position.at);
                    world.apply_or_skip(command, &mut step);
                }
                None => {
                    if !world.step(&mut step) {
                        break;
                    }
                }
            }
            if from <= step.number {
                steps.push(step.clone());
            }
        }
        steps
    }

    #[must_use]
    pub const fn branch(&self) -> BranchId {
        BranchId(self.current as u32)
    }

    pub fn branches(&self) -> impl Iterator<Item = (BranchId, &Branch)> {
        self.branches
            .iter()
            .enumerate()
            .map(|(at, branch)| (BranchId(at as u32), branch))
    }

    /// Goes to another branch: to the same step where it has it, else to its end.
    pub fn switch_to(&mut self, branch: BranchId) {
        let at = branch.0 as usize;
        assert!(at < self.branches.len(), "the branch exists");
        let here = self.position();
        self.current = at;
        let end = self.end();
        // Wind from the new branch's own checkpoint: the same step may be another one there.
        self.world = World::clone(&self.here().checkpoints[0].1);
        if here.step < end.step {
            self.seek(here.step);
        } else {
            self.seek(end.step);
            self.seek_time(end.at);
        }
    }

    /// The commands of the current branch, from the run's zero.
    #[must_use]
    pub fn commands(&self) -> &[(Position, Command)] {
        &self.here().commands
    }

    // Files ---------------------------------------------------------------------------------

    /// The current branch as a file: setup and commands, and fingerprints on the way.
    #[must_use]
    pub fn export(&self) -> RunFile {
        let mut replay = self.clone();
        let mut hash_at = |position: Position| {
            replay.seek(position.step);
            replay.world.state_hash()
        };
        let commands = self
            .commands()
            .iter()
            .map(|(position, command)| RunCommand {
                at: position.at.0,
                after: self.steps_at(*position),
                command: command.to_string(),
                hash: hash_at(*position),
            });
        let commands = commands.collect();
        let end = self.end();
        let end = RunEnd {
            at: end.at.0,
            step: end.step.0,
            hash: hash_at(end),
        };
        RunFile {
            version: run_file::VERSION,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            setup: self.world.setup().clone(),
            commands,
            end,
        }
    }

    /// How many steps are taken at the very time of a position.
    fn steps_at(&self, position: Position) -> u64 {
        let mut count = 0;
        while let Some(before) = position.step.0.checked_sub(count + 1) {
            if self
                .entry(StepNumber(before))
                .is_none_or(|entry| entry.at < position.at)
            {
                break;
            }
            count += 1;
        }
        count
    }

    /// Replays a file. What can no longer be carried out is skipped.
    ///
    /// # Errors
    /// A version, a setup or a command that cannot be read.
    pub fn import(file: &RunFile) -> Result<Imported, ImportError> {
        if file.version != run_file::VERSION {
            return Err(ImportError::Version {
                given: file.version,
                known: run_file::VERSION,
            });
        }
        let mut commands = Vec::new();
        for (place, command) in file.commands.iter().enumerate() {
            let text = &command.command;
            let read = text.parse::<Command>();
            commands.push(read.map_err(|error| ImportError::Command {
                place: place + 1,
                error,
            })?);
        }
        let mut history = Self::new(file.setup.clone()).map_err(ImportError::Setup)?;
        let mut differs_from = None;
        let mut step = Step::empty();
        let mut compare = |history: &mut Self, hash: u64| {
            let number = history.world.step_count();
            if differs_from.is_none() && history.world.state_hash() != hash {
                differs_from = Some(number);
            }
        };
        for (recorded, command) in file.commands.iter().zip(commands) {
            let at = SimTime(recorded.at);
            while history.next_at().is_some_and(|next| next < at) && history.step(&mut step) {}
            // Earlier commands of that very time are among the steps already taken at it.
            while history.next_at() == Some(at)
                && history.steps_at(Position {
                    at,
                    step: history.world.step_count(),
                }) < recorded.after
                && history.step(&mut step)
            {}
            compare(&mut history, recorded.hash);
            if history.next_at().is_none_or(|next| at <= next) {
                history.world.advance(at);
            }
            history.act_or_skip(command, &mut step);
        }
        history.run_to(SimTime(file.end.at), |_, _| {});
        if differs_from.is_none() {
            let mut end = history.clone();
            end.seek(StepNumber(file.end.step));
            if end.world.state_hash() != file.end.hash {
                differs_from = Some(StepNumber(file.end.step));
            }
        }
        Ok(Imported {
            history,
            differs_from,
        })
    }
}

/// A replayed file, and the first compared step at which it went another way than when it was made.
#[derive(Clone, Debug)]
pub struct Imported {
    pub history: History,
    pub differs_from: Option<StepNumber>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    Version {
        given: u32,
        known: u32,
    },
    Setup(SetupError),
    /// The command at this place, counted from 1.
    Command {
        place: usize,
        error: ParseError,
    },
}

impl StepEntry {
    fn of(step: &Step, world: &World) -> Self {
        // What every server applies is worth one stop: where it is news, at the leader.
        let leader = world.truth().leader().map(|(id, _)| id);
        let elsewhere = step.process.is_some() && step.process != leader;
        let tag = match &step.kind {
            StepKind::Delivery { kind, .. } => StepTag::Delivery(*kind),
            StepKind::Timer { timer } => StepTag::Timer(*timer),
            StepKind::Synced => StepTag::Synced,
            StepKind::Command { .. } => StepTag::Command,
        };
        Self {
            at: step.at,
            process: step.process,
            tag,
            rule: step.rule(),
            notable: step
                .events()
                .any(|event| is_notable(event) && !(elsewhere && is_applied(event))),
        }
    }
}

/// Whether an event tells of a log entry that was applied, so that every server has it once.
const fn is_applied(event: &Event) -> bool {
    matches!(
        event,
        Event::LeaseGranted { .. }
            | Event::WaiterQueued { .. }
            | Event::WaiterLeft { .. }
            | Event::LeaseReleased { .. }
            | Event::LeaseExpired { .. }
            | Event::ResourceClosed { .. }
            | Event::ResourceOpened { .. }
            | Event::TableLost
            | Event::TokenRaised { .. }
            | Event::PutApplied { .. }
            | Event::SessionOpened { .. }
            | Event::SessionExpired { .. }
            | Event::SessionUnknown { .. }
    )
}

/// Whether an event is one of those that a person who steps through a run wants to stop at.
#[must_use]
pub const fn is_notable(event: &Event) -> bool {
    match event {
        Event::Paused { .. }
        | Event::PauseArmed { .. }
        | Event::Resumed { .. }
        | Event::Crashed { .. }
        | Event::Restarted { .. }
        | Event::DiskActed { .. }
        | Event::DiskFailed { .. }
        | Event::TailDamaged { .. }
        | Event::LinkCut { .. }
        | Event::LinkHealed { .. }
        | Event::LatencySet { .. }
        | Event::LossSet { .. }
        | Event::ClockRateSet { .. }
        | Event::ClockJumped { .. }
        | Event::SwitchSet { .. }
        | Event::CommandSkipped { .. }
        | Event::MessageDuplicated { .. }
        | Event::MessageDelayed { .. }
        | Event::MessageHurried { .. }
        | Event::PrevoteStarted { .. }
        | Event::PrevoteGranted { .. }
        | Event::ElectionStarted { .. }
        | Event::VoteGranted { .. }
        | Event::VoteRefused { .. }
        | Event::BecameLeader { .. }
        | Event::SteppedDown { .. }
        | Event::HandoverBegan { .. }
        | Event::HandoverGivenUp { .. }
        | Event::EntriesRemoved { .. }
        | Event::LogRepaired { .. }
        | Event::AppendRefused { .. }
        | Event::ConfigAdopted { .. }
        | Event::LogCompacted { .. }
        | Event::SnapshotSent { .. }
        | Event::SnapshotInstalled { .. }
        | Event::LeaseGranted { .. }
        | Event::WaiterQueued { .. }
        | Event::WaiterLeft { .. }
        | Event::LeaseReleased { .. }
        | Event::LeaseExpired { .. }
        | Event::ResourceClosed { .. }
        | Event::ResourceOpened { .. }
        | Event::TableLost
        | Event::TokenRaised { .. }
        | Event::PutApplied { .. }
        | Event::SessionOpened { .. }
        | Event::SessionExpired { .. }
        | Event::SessionUnknown { .. }
        | Event::ReadIndexAsked { .. }
        | Event::ReadConfirmed { .. }
        | Event::ReadWaits { .. }
        | Event::ReadAnswered { .. }
        | Event::ReadEnded { .. }
        | Event::LeasesRearmed { .. }
        | Event::RenewalRefused { .. }
        | Event::ExpiryProposed { .. }
        | Event::LeaseReceived { .. }
        | Event::GrantTooLate { .. }
        | Event::RenewalWithheld { .. }
        | Event::JeopardyBegan { .. }
        | Event::JeopardyEnded { .. }
        | Event::GraceBegan { .. }
        | Event::LeaseLapsed { .. }
        | Event::LeaseLost { .. }
        | Event::LeaseGivenBack { .. }
        | Event::StoppedWaiting { .. }
        | Event::Checked { .. }
        | Event::WriteUnchecked { .. }
        | Event::WriteWithheld { .. }
        | Event::WriteSent { .. }
        | Event::WriteEnded { .. }
        | Event::WriteChecked { .. }
        | Event::WriteAccepted { .. }
        | Event::WriteRefused { .. }
        | Event::StaleWriteObserved { .. }
        | Event::WriteRepeated { .. }
        | Event::RequestSent { .. }
        | Event::RequestEnded { .. }
        | Event::InvariantBroken { .. } => true,
        Event::MessageSent { .. }
        | Event::MessageDropped { .. }
        | Event::WorkQueued { .. }
        | Event::WaitedAsleep { .. }
        | Event::SyncEnded
        | Event::StoodAside
        | Event::TermAdopted { .. }
        | Event::PrevoteCounted { .. }
        | Event::QuorumChecked { .. }
        | Event::VoteCounted { .. }
        | Event::VoteDenied { .. }
        | Event::LeaderFollowed { .. }
        | Event::ReplyIgnored { .. }
        | Event::HeartbeatsSent { .. }
        | Event::EntryAppended { .. }
        | Event::EntriesStored { .. }
        | Event::AppendMatched { .. }
        | Event::MatchAdvanced { .. }
        | Event::AppendConfirmed { .. }
        | Event::SnapshotIgnored { .. }
        | Event::ProbedBack { .. }
        | Event::CommitAdvanced { .. }
        | Event::EntryApplied { .. }
        | Event::WorkRefused { .. }
        | Event::NotLeaderAnswered { .. }
        | Event::RequestRepeated { .. }
        | Event::NothingToDo { .. }
        | Event::ReadReceived { .. }
        | Event::SessionAsked { .. }
        | Event::LeaseArmed { .. }
        | Event::RenewalReceived { .. }
        | Event::RenewalConfirmed { .. }
        | Event::LeaseWanted { .. }
        | Event::LeaseAsked { .. }
        | Event::ServerTried { .. }
        | Event::QueuedForLease { .. }
        | Event::RenewalSent { .. }
        | Event::LeaseRenewed { .. }
        | Event::ReleaseConfirmed { .. } => false,
    }
}
