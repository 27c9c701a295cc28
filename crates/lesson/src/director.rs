//! Plays a lesson: one machine for the judge, who is in a hurry, and for the page, which is not.
//!
//! The prompter of a play: holds the script, knows the line that comes next, waits where the script
//! says to wait, and can turn the pages back. It decides no outcome and draws nothing; the world
//! does the one, the page the other.
//!
//! In short: [`Director::advance`] runs the lesson up to a simulated time, or [`Director::step`] by
//! one step; both end early where [`Director::phase`] is not [`Phase::Running`]. Then the reader
//! answers by [`Director::press`], [`Director::choose`] or [`Director::next_page`].
//! [`Director::seek`] and [`Director::seek_page`] go back (and forward again) exactly: script and
//! world together. To let a learner act freely, clone [`Run::history`] and act on the clone; the
//! director's own runs hold the lesson's commands alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leasehold_engine::claim::{Claim, Watch};
use leasehold_engine::command::{Command, CommandError};
use leasehold_engine::event::Step;
use leasehold_engine::history::{History, Position};
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Position as SwitchPosition;
use leasehold_engine::units::{Duration, SimTime, StepNumber};
use leasehold_engine::world::World;

use crate::lesson::{
    Address, Block, CaptionLine, Change, Directive, Do, Lesson, Predict, Press, Stated,
};
use crate::place::Place;
use crate::script;

/// How long `run until` waits when the lesson sets no bound.
pub const BOUND: Duration = Duration::secs(60);

/// What the lesson is waiting for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase<'a> {
    /// Nothing: it goes on by `advance` or `step`.
    Running,
    /// [`Director::press`]. Without a `press` it is a plain stop: the reader goes on.
    Stopped {
        sentence: Option<&'a str>,
        press: Option<&'a Press>,
    },
    /// [`Director::choose`].
    Asking(&'a Predict),
    /// [`Director::next_page`].
    PageDone,
    /// The last page is over.
    LessonDone,
    /// The lesson cannot go on. Stepping back still works.
    Failed(&'a Failure),
}

/// Why a lesson cannot go on, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A `run until` whose claim did not come true in `bound`.
    NeverCame {
        claim: Claim,
        bound: Duration,
        place: Place,
    },
    /// A command that could not be carried out.
    Command {
        command: Box<Command>,
        error: Box<CommandError>,
        place: Place,
    },
}

impl Failure {
    #[must_use]
    pub const fn place(&self) -> Place {
        match self {
            Self::NeverCame { place, .. } | Self::Command { place, .. } => *place,
        }
    }
}

/// One run of the lesson's world: the first, or one of `again`.
#[derive(Clone, Debug)]
pub struct Run {
    /// What was changed; none for the first run.
    pub change: Option<Change>,
    pub history: History,
    /// Commands that could not be carried out because of what was changed.
    pub skipped: Vec<Failure>,
}

/// What to watch now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    pub text: String,
    /// The process that it speaks of.
    pub look_at: Option<String>,
}

/// An expectation or marked words, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub claim: Claim,
    pub place: Place,
    pub holds: bool,
}

/// A prediction: what the reader chose, and once its run is over, which choices came true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction<'a> {
    pub predict: &'a Predict,
    /// An index into [`Predict::choices`].
    pub chosen: Option<usize>,
    /// One a choice; none before the run is over. In a sound lesson exactly one is true.
    pub came_true: Option<&'a [bool]>,
}

/// How a lesson is to be played, where not as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Another setup than the lesson's: another seed, switches from the command line.
    pub setup: Option<Setup>,
    /// Leave out one command.
    pub without: Option<Address>,
    /// Commands that cannot be carried out are skipped, and a `run until` that never comes is let
    /// go.
    pub lenient: bool,
}

/// Plays one lesson.
#[derive(Clone, Debug)]
pub struct Director {
    lesson: Arc<Lesson>,
    options: Options,
    /// The addresses of all directives, in order.
    cues: Vec<Address>,
    runs: Vec<Run>,
    script: Script,
    /// Where to restart from when going back; in order.
    remembered: Vec<Remembered>,
    /// The reader's choices by the block of the question; stepping back keeps them.
    answers: BTreeMap<Address, usize>,
    /// What a lenient director let go.
    let_go: Vec<Failure>,
    /// Whether questions are passed over without an answer.
    passing: bool,
}

/// Everything that stepping back must restore, but for the worlds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Script {
    at: Address,
    /// The active run.
    run: usize,
    wait: Wait,
    /// The `run` directive under way: when it ends at the latest, and what it waits for.
    until: Option<SimTime>,
    awaited: Option<Watch>,
    /// The run block under way has begun.
    entered: bool,
    /// Claims judged over the latest run block, by their place.
    over_run: Vec<(Place, Watch)>,
    /// Marked words, judged over the page.
    over_page: Vec<(Place, Watch)>,
    captions: Vec<Option<Watch>>,
    fired: Option<usize>,
    caption: Option<Caption>,
    /// The caption lines that have been shown.
    shown: BTreeSet<Place>,
    /// Inside `again`: the next cue to replay, and the cue of the `again` itself.
    replay: Option<(usize, usize)>,
    verdicts: Vec<Verdict>,
    outcomes: BTreeMap<Address, Vec<bool>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wait {
    Nothing,
    Press { sentence: Option<String> },
    Choice,
    NextPage,
    Failed(Failure),
}

#[derive(Clone, Debug)]
struct Remembered {
    script: Script,
    positions: Vec<Position>,
}

/// How far a tick may go.
#[derive(Clone, Copy, Debug)]
enum Allow {
    /// Only what takes no step and no time.
    Nothing,
    /// Steps and time up to this moment of the active run.
    Until(SimTime),
    Anything,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Step,
    /// What comes next is not allowed; the clock stands at the limit.
    Limit,
    /// Another run became the active one.
    OtherRun,
    /// It waits for the reader.
    Waits,
}

impl Director {
    /// At the beginning of the first page, with the world at its zero.
    #[must_use]
    pub fn new(lesson: Arc<Lesson>) -> Self {
        Self::with(lesson, Options::default())
    }

    #[must_use]
    pub fn with(lesson: Arc<Lesson>, options: Options) -> Self {
        let setup = options
            .setup
            .clone()
            .unwrap_or_else(|| lesson.setup.clone());
        let Ok(history) = History::new(setup) else {
            panic!("a lesson's setup is validated when it is read");
        };
        let run = Run {
            change: None,
            history,
            skipped: Vec::new(),
        };
        let mut director = Self {
            cues: lesson.directives().map(|(at, _)| at).collect(),
            lesson,
            options,
            runs: vec![run],
            script: Script::beginning(),
            remembered: Vec::new(),
            answers: BTreeMap::new(),
            let_go: Vec::new(),
            passing: false,
        };
        director.enter_page();
        director.settle();
        director
    }

    #[must_use]
    pub fn lesson(&self) -> &Arc<Lesson> {
        &self.lesson
    }

    #[must_use]
    pub fn phase(&self) -> Phase<'_> {
        match &self.script.wait {
            Wait::Nothing => Phase::Running,
            Wait::Press { sentence } => Phase::Stopped {
                sentence: sentence.as_deref(),
                press: self.press_here(),
            },
            Wait::Choice => match &self.page_blocks()[self.script.at.block] {
                Block::Predict(predict) => Phase::Asking(predict),
                Block::Prose(_)
                | Block::Watch(_)
                | Block::Run(_)
                | Block::Expect(_)
                | Block::Goal(_) => unreachable!("a choice is waited for at a question alone"),
            },
            Wait::NextPage if self.script.at.page + 1 < self.lesson.pages.len() => Phase::PageDone,
            Wait::NextPage => Phase::LessonDone,
            Wait::Failed(failure) => Phase::Failed(failure),
        }
    }

    /// The current page, an index into [`Lesson::pages`].
    #[must_use]
    pub const fn page(&self) -> usize {
        self.script.at.page
    }

    /// The block that is played or waited at, on the current page.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.script.at
    }

    /// The runs that the lesson has come to: the first, then those of `again`. The last one is
    /// active.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs[..=self.script.run]
    }

    /// The active run's index.
    #[must_use]
    pub const fn active(&self) -> usize {
        self.script.run
    }

    /// The active run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.runs[self.script.run]
    }

    /// The active run's world.
    #[must_use]
    pub fn world(&self) -> &World {
        self.run().history.world()
    }

    #[must_use]
    pub const fn caption(&self) -> Option<&Caption> {
        self.script.caption.as_ref()
    }

    /// All expectations and marked words judged so far, in the order of judging.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        &self.script.verdicts
    }

    /// All predictions of the lesson with what was chosen and what came true.
    pub fn predictions(&self) -> impl Iterator<Item = Prediction<'_>> {
        self.lesson.blocks().filter_map(|(at, block)| match block {
            Block::Predict(predict) => Some(Prediction {
                predict,
                chosen: self.answers.get(&at).copied(),
                came_true: self.script.outcomes.get(&at).map(Vec::as_slice),
            }),
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Run(_)
            | Block::Expect(_)
            | Block::Goal(_) => None,
        })
    }

    /// Where the caption lines stand that have been shown.
    pub(crate) const fn shown(&self) -> &BTreeSet<Place> {
        &self.script.shown
    }

    /// What a lenient director let go; empty otherwise.
    #[must_use]
    pub fn let_go(&self) -> &[Failure] {
        &self.let_go
    }

    /// Plays on until the active run's clock shows `to`, something is waited for, or another run
    /// becomes active (its clock begins at zero). `on` sees each step with the world after it.
    pub fn advance(&mut self, to: SimTime, mut on: impl FnMut(&Step, &World)) -> Phase<'_> {
        let mut step = Step::empty();
        while self.tick(Allow::Until(to), &mut step) == Did::Step {
            on(&step, self.world());
        }
        self.settle();
        self.phase()
    }

    /// Plays on by one step; false when something is waited for or another run became active
    /// instead.
    pub fn step(&mut self, step: &mut Step) -> bool {
        let did = self.tick(Allow::Anything, step);
        self.settle();
        did == Did::Step
    }

    /// Does what a stop asks for. True when that was a step, which is then in `step`.
    /// Does nothing where nothing is asked for.
    pub fn press(&mut self, step: &mut Step) -> bool {
        let Wait::Press { .. } = self.script.wait else {
            return false;
        };
        let press = if self.is_left_out(self.script.at) {
            None
        } else {
            self.press_here().cloned()
        };
        self.script.wait = Wait::Nothing;
        let place = self.directive(self.script.at).place;
        let stepped = match press {
            None => {
                self.script.at.line += 1;
                false
            }
            Some(Press::Act(command)) => {
                self.await_next(self.script.at);
                self.act(&command, place, step) == Some(Did::Step)
            }
            Some(Press::Again(change)) => {
                self.begin_again(change);
                false
            }
        };
        self.settle();
        stepped
    }

    /// Answers the question that is asked. False where none is, or for a choice that it does not
    /// have.
    pub fn choose(&mut self, choice: usize) -> bool {
        let Phase::Asking(predict) = self.phase() else {
            return false;
        };
        if predict.choices.len() <= choice {
            return false;
        }
        self.answers.insert(self.script.at, choice);
        self.script.wait = Wait::Nothing;
        self.settle();
        true
    }

    /// Goes on to the next page when this one is over. False when it is not, or is the last.
    pub fn next_page(&mut self) -> bool {
        if self.phase() != Phase::PageDone {
            return false;
        }
        self.script.at = Address {
            page: self.script.at.page + 1,
            block: 0,
            line: 0,
        };
        self.script.wait = Wait::Nothing;
        self.enter_page();
        self.settle();
        true
    }

    /// Goes to where exactly `to` steps of a run are taken, back or forward, script and world
    /// together, as far as the lesson has been played. Where a page ended and the next began at
    /// that very moment, the later one. Stops are passed and questions are not asked on the way.
    pub fn seek(&mut self, run: usize, to: StepNumber) {
        let run = run.min(self.runs.len() - 1);
        let is_before = |r: &Remembered| r.script.run == run && r.positions[run].step < to;
        let is_first = |r: &Remembered| r.script.run == run;
        let from = self.remembered.iter().rposition(is_before);
        let from = from.or_else(|| self.remembered.iter().position(is_first));
        self.restore(from.unwrap_or(0));
        self.pass_until(|d| d.script.run == run && to <= d.run().history.position().step);
        let here = self.run().history.position();
        let is_here = |r: &Remembered| r.script.run == run && r.positions[run] == here;
        if let Some(later) = self.remembered.iter().rposition(is_here) {
            self.restore(later);
        }
    }

    /// Goes to the beginning of a page, playing the lesson that far if need be. False if it fails
    /// before.
    pub fn seek_page(&mut self, page: usize) -> bool {
        let known = self
            .remembered
            .iter()
            .position(|r| page <= r.script.at.page);
        self.restore(known.unwrap_or(self.remembered.len() - 1));
        self.pass_until(|d| page <= d.script.at.page);
        self.script.at.page == page
    }

    /// Plays on by itself, pressing and passing questions, until `is_there` or until it cannot.
    pub(crate) fn pass_until(&mut self, is_there: impl Fn(&Self) -> bool) {
        let mut step = Step::empty();
        self.passing = true;
        while !is_there(self) {
            let goes_on = match self.script.wait {
                Wait::Nothing => {
                    self.tick(Allow::Anything, &mut step);
                    true
                }
                Wait::Press { .. } => {
                    self.press(&mut step);
                    true
                }
                Wait::Choice => {
                    self.script.wait = Wait::Nothing;
                    true
                }
                Wait::NextPage => self.next_page(),
                Wait::Failed(_) => false,
            };
            if !goes_on {
                break;
            }
        }
        self.passing = false;
        self.settle();
    }

    fn waits(&self) -> bool {
        self.script.wait != Wait::Nothing
    }
}

// ---------------------------------------------------------------------------------------------
// The script

impl Director {
    fn page_blocks(&self) -> &[Block] {
        &self.lesson.pages[self.script.at.page].blocks
    }

    fn directive(&self, at: Address) -> &Directive {
        match &self.lesson.pages[at.page].blocks[at.block] {
            Block::Run(directives) => &directives[at.line],
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Expect(_)
            | Block::Predict(_)
            | Block::Goal(_) => unreachable!("directives stand in run blocks alone"),
        }
    }

    fn press_here(&self) -> Option<&Press> {
        match &self.directive(self.script.at).what {
            Do::Stop { press, .. } => press.as_ref(),
            Do::Act(_) | Do::RunFor(_) | Do::RunUntil { .. } | Do::Again(_) => None,
        }
    }

    fn is_left_out(&self, at: Address) -> bool {
        self.options.without == Some(at)
    }

    /// Does everything that takes neither a step nor time, so that `phase` tells what really comes
    /// next.
    fn settle(&mut self) {
        self.tick(Allow::Nothing, &mut Step::empty());
    }

    fn tick(&mut self, allow: Allow, step: &mut Step) -> Did {
        let lesson = Arc::clone(&self.lesson);
        loop {
            if self.waits() {
                return Did::Waits;
            }
            if let Some((next, end)) = self.script.replay {
                if next == end {
                    self.script.replay = None;
                    self.script.at.line += 1;
                    continue;
                }
                let at = self.cues[next];
                if let Some(did) = self.tick_directive(at, allow, step) {
                    return did;
                }
                continue;
            }
            let at = self.script.at;
            let Some(block) = lesson.pages[at.page].blocks.get(at.block) else {
                self.judge_page();
                self.script.wait = Wait::NextPage;
                self.remember();
                continue;
            };
            match block {
                Block::Prose(_) | Block::Watch(_) | Block::Goal(_) => self.next_block(),
                Block::Expect(claims) => {
                    claims.iter().for_each(|stated| self.judge(stated));
                    self.next_block();
                }
                Block::Predict(_) => {
                    let is_passed = self.passing && !matches!(allow, Allow::Nothing);
                    if is_passed || self.answers.contains_key(&at) {
                        self.next_block();
                    } else {
                        self.script.wait = Wait::Choice;
                    }
                }
                Block::Run(directives) => {
                    if !self.script.entered {
                        self.script.over_run = watches(claims_over(&lesson, at));
                        self.script.entered = true;
                    }
                    if at.line == directives.len() {
                        self.judge_predictions();
                        self.next_block();
                    } else if let Some(did) = self.tick_directive(at, allow, step) {
                        return did;
                    }
                }
            }
        }
    }

    /// None: go on at once.
    fn tick_directive(&mut self, at: Address, allow: Allow, step: &mut Step) -> Option<Did> {
        let lesson = Arc::clone(&self.lesson);
        let Block::Run(directives) = &lesson.pages[at.page].blocks[at.block] else {
            unreachable!("directives stand in run blocks alone");
        };
        let Directive { what, place } = &directives[at.line];
        let is_replayed = self.script.replay.is_some();
        let left_out = self.is_left_out(at);
        match what {
            Do::RunFor(span) => self.run_for(*span, None, allow, step),
            Do::RunUntil { claim, bound } => {
                let awaited = (claim, *place);
                self.run_for(*bound, Some(awaited), allow, step)
            }
            Do::Act(_) | Do::Again(_) if left_out => self.next_directive(),
            Do::Stop {
                press: Some(Press::Act(command)),
                ..
            } if is_replayed && !left_out => {
                self.await_next(at);
                self.act_if(command, *place, allow, step)
            }
            Do::Stop { .. } | Do::Again(_) if is_replayed => self.next_directive(),
            Do::Act(command) => {
                self.await_next(at);
                self.act_if(command, *place, allow, step)
            }
            Do::Stop { sentence, .. } => {
                let sentence = sentence
                    .as_ref()
                    .map(|template| template.fill(self.world()));
                self.script.wait = Wait::Press { sentence };
                self.remember();
                Some(Did::Waits)
            }
            Do::Again(change) => {
                let is_held = match allow {
                    Allow::Nothing => true,
                    Allow::Until(to) => to <= self.world().now(),
                    Allow::Anything => false,
                };
                if is_held {
                    return Some(Did::Limit);
                }
                self.begin_again(change.clone());
                Some(Did::OtherRun)
            }
        }
    }

    fn next_block(&mut self) {
        self.script.at.block += 1;
        self.script.at.line = 0;
        self.script.entered = false;
    }

    fn next_directive(&mut self) -> Option<Did> {
        match &mut self.script.replay {
            Some((next, _)) => *next += 1,
            None => self.script.at.line += 1,
        }
        None
    }

    /// What the next `run until` waits for may already come of the commands before it.
    fn await_next(&mut self, at: Address) {
        if self.script.awaited.is_none()
            && let Block::Run(directives) = &self.lesson.pages[at.page].blocks[at.block]
        {
            self.script.awaited = script::awaited_after(directives, at.line);
        }
    }

    fn act_if(
        &mut self,
        command: &Command,
        place: Place,
        allow: Allow,
        step: &mut Step,
    ) -> Option<Did> {
        match allow {
            Allow::Nothing => Some(Did::Limit),
            Allow::Until(_) | Allow::Anything => self.act(command, place, step),
        }
    }

    /// Carries a command out, or takes it again where the run has it recorded.
    fn act(&mut self, command: &Command, place: Place, step: &mut Step) -> Option<Did> {
        let history = &mut self.runs[self.script.run].history;
        if recorded_next(history).is_some_and(|recorded| recorded == command) {
            history.step(step);
        } else if let Err(error) = history.act(command.clone(), step) {
            let failure = Failure::Command {
                command: Box::new(command.clone()),
                error: Box::new(error),
                place,
            };
            if self.script.replay.is_none() {
                return if self.lets_go(failure) {
                    self.next_directive()
                } else {
                    Some(Did::Waits)
                };
            }
            // A run with something changed goes on, and says what it could not do.
            let run = &mut self.runs[self.script.run];
            run.history.act_or_skip(command.clone(), step);
            if !run.skipped.contains(&failure) {
                run.skipped.push(failure);
            }
        }
        self.show(step);
        self.next_directive();
        Some(Did::Step)
    }

    /// True when the lesson goes on all the same.
    fn lets_go(&mut self, failure: Failure) -> bool {
        if self.options.lenient {
            if !self.let_go.contains(&failure) {
                self.let_go.push(failure);
            }
        } else {
            self.script.wait = Wait::Failed(failure);
        }
        self.options.lenient
    }

    fn run_for(
        &mut self,
        span: Duration,
        awaited: Option<(&Claim, Place)>,
        allow: Allow,
        step: &mut Step,
    ) -> Option<Did> {
        let now = self.world().now();
        let deadline = *self.script.until.get_or_insert(now.plus(span));
        if let Some((claim, _)) = awaited
            && self.script.awaited.is_none()
        {
            self.script.awaited = Some(Watch::new(claim.clone()));
        }
        let has_come = |watch: &Watch| watch.holds(self.world());
        if awaited.is_some() && self.script.awaited.as_ref().is_some_and(has_come) {
            return self.end_run();
        }
        let limit = match allow {
            Allow::Nothing => now,
            Allow::Until(to) => to.max(now).min(deadline),
            Allow::Anything => deadline,
        };
        let history = &mut self.runs[self.script.run].history;
        let is_ours = recorded_next(history).is_none();
        let is_due = is_ours && history.next_at().is_some_and(|due| due <= limit);
        if is_due && !matches!(allow, Allow::Nothing) {
            history.step(step);
            self.show(step);
            return Some(Did::Step);
        }
        if is_due || limit < deadline {
            if now < limit && !is_due {
                history.advance(limit);
            }
            return Some(Did::Limit);
        }
        if now < deadline {
            history.advance(deadline);
        }
        if let Some((claim, place)) = awaited {
            let claim = claim.clone();
            let failure = Failure::NeverCame {
                claim,
                bound: span,
                place,
            };
            if !self.lets_go(failure) {
                return Some(Did::Waits);
            }
        }
        self.end_run()
    }

    fn end_run(&mut self) -> Option<Did> {
        self.script.until = None;
        self.script.awaited = None;
        self.next_directive()
    }

    fn begin_again(&mut self, change: Change) {
        let setup = changed(self.runs[0].history.world().setup().clone(), &change);
        let next = self.script.run + 1;
        if next == self.runs.len() {
            let Ok(history) = History::new(setup) else {
                panic!("a switch is turned, nothing else");
            };
            self.runs.push(Run {
                change: Some(change.clone()),
                history,
                skipped: Vec::new(),
            });
        }
        self.script.run = next;
        let history = &mut self.runs[next].history;
        history.seek(StepNumber(0));
        if let Some(name) = &change.at {
            let command = Command::Set {
                switch: change.switch,
                position: change.position,
                at: Some(name.clone()),
            };
            let mut step = Step::empty();
            if recorded_next(history).is_some_and(|recorded| *recorded == command) {
                history.step(&mut step);
            } else {
                let acted = history.act(command, &mut step);
                assert!(acted.is_ok(), "its process is checked when it is read");
            }
        }
        let here = self.cues.binary_search(&self.script.at);
        let Ok(here) = here else {
            panic!("`again` is a directive");
        };
        self.script.replay = Some((0, here));
        for (_, watch) in &mut self.script.over_run {
            *watch = Watch::new(watch.claim().clone());
        }
        self.remember();
    }
}

// ---------------------------------------------------------------------------------------------
// Judging and remembering

impl Director {
    fn enter_page(&mut self) {
        let lesson = Arc::clone(&self.lesson);
        let page = &lesson.pages[self.script.at.page];
        self.script.over_page = watches(page.marks.iter());
        self.script.captions = caption_lines(page.blocks.iter())
            .map(|line| line.when.clone().map(Watch::new))
            .collect();
        self.script.entered = false;
        self.script.fired = None;
        self.script.caption = None;
        self.update_caption();
        self.remember();
    }

    fn show(&mut self, step: &Step) {
        let world = self.runs[self.script.run].history.world();
        let judged = self
            .script
            .over_run
            .iter_mut()
            .chain(&mut self.script.over_page);
        judged.for_each(|(_, watch)| watch.show(step, world));
        self.script
            .captions
            .iter_mut()
            .flatten()
            .for_each(|watch| watch.show(step, world));
        if let Some(watch) = &mut self.script.awaited {
            watch.show(step, world);
        }
        self.update_caption();
    }

    /// The caption is that of the last line whose claim has come true on this page.
    fn update_caption(&mut self) {
        let world = self.runs[self.script.run].history.world();
        let first = self.script.fired.map_or(0, |fired| fired + 1);
        let later = self.script.captions.iter().enumerate().skip(first);
        let is_true = |watch: &Option<Watch>| watch.as_ref().is_none_or(|watch| watch.holds(world));
        let Some((fired, _)) = later.rev().find(|(_, watch)| is_true(watch)) else {
            return;
        };
        let lesson = Arc::clone(&self.lesson);
        let blocks = &lesson.pages[self.script.at.page].blocks;
        if let Some(line) = caption_lines(blocks.iter()).nth(fired) {
            self.script.caption = Some(Caption {
                text: line.text.fill(world),
                look_at: line.look_at.clone(),
            });
            self.script.shown.insert(line.place);
        }
        self.script.fired = Some(fired);
    }

    fn judge(&mut self, stated: &Stated) {
        let world = self.runs[self.script.run].history.world();
        let over = self.script.over_run.iter().chain(&self.script.over_page);
        let watch = over
            .filter(|(place, _)| *place == stated.place)
            .map(|(_, watch)| watch)
            .next();
        let holds = match watch {
            Some(watch) => watch.holds(world),
            None => Watch::new(stated.claim.clone()).holds(world),
        };
        self.script.verdicts.push(Verdict {
            claim: stated.claim.clone(),
            place: stated.place,
            holds: holds != stated.negated,
        });
    }

    fn judge_page(&mut self) {
        let lesson = Arc::clone(&self.lesson);
        lesson.pages[self.script.at.page]
            .marks
            .iter()
            .for_each(|stated| self.judge(stated));
    }

    /// The run block that just ended answers the questions between it and the run block before.
    fn judge_predictions(&mut self) {
        let world = self.runs[self.script.run].history.world();
        for (at, predict) in predictions_for(&self.lesson, self.script.at) {
            let came_true = |stated: &Stated| {
                let watch = self
                    .script
                    .over_run
                    .iter()
                    .find(|(place, _)| *place == stated.place);
                watch.is_some_and(|(_, watch)| watch.holds(world)) != stated.negated
            };
            let outcomes = predict
                .choices
                .iter()
                .map(|choice| came_true(&choice.outcome))
                .collect();
            self.script.outcomes.insert(at, outcomes);
        }
    }

    fn remember(&mut self) {
        let positions: Vec<Position> = self.runs().iter().map(|r| r.history.position()).collect();
        let remembered = Remembered {
            script: self.script.clone(),
            positions,
        };
        if self
            .remembered
            .last()
            .is_none_or(|last| last.key() < remembered.key())
        {
            self.remembered.push(remembered);
        }
    }

    fn restore(&mut self, from: usize) {
        let Remembered { script, positions } = self.remembered[from].clone();
        self.script = script;
        for (run, position) in self.runs.iter_mut().zip(positions) {
            run.history.seek(position.step);
            if run.history.world().now() < position.at {
                run.history.advance(position.at);
            }
        }
        self.settle();
    }
}

impl Remembered {
    fn key(&self) -> (Address, usize, StepNumber, SimTime) {
        let position = self.positions[self.script.run];
        (self.script.at, self.script.run, position.step, position.at)
    }
}

impl Script {
    const fn beginning() -> Self {
        Self {
            at: Address {
                page: 0,
                block: 0,
                line: 0,
            },
            run: 0,
            wait: Wait::Nothing,
            until: None,
            awaited: None,
            entered: false,
            over_run: Vec::new(),
            over_page: Vec::new(),
            captions: Vec::new(),
            fired: None,
            caption: None,
            shown: BTreeSet::new(),
            replay: None,
            verdicts: Vec::new(),
            outcomes: BTreeMap::new(),
        }
    }
}

fn watches<'a>(claims: impl Iterator<Item = &'a Stated>) -> Vec<(Place, Watch)> {
    claims
        .map(|stated| (stated.place, Watch::new(stated.claim.clone())))
        .collect()
}

pub(crate) fn caption_lines<'a>(
    blocks: impl Iterator<Item = &'a Block>,
) -> impl Iterator<Item = &'a CaptionLine> {
    blocks.flat_map(|block| {
        let lines: &[CaptionLine] = match block {
            Block::Watch(lines) => lines,
            Block::Prose(_)
            | Block::Run(_)
            | Block::Expect(_)
            | Block::Predict(_)
            | Block::Goal(_) => &[],
        };
        lines
    })
}

/// The questions that stand between a run block and the one before it.
fn predictions_for(lesson: &Lesson, run: Address) -> Vec<(Address, &Predict)> {
    let mut pending = Vec::new();
    for (at, block) in lesson
        .blocks()
        .take_while(|(at, _)| (at.page, at.block) < (run.page, run.block))
    {
        match block {
            Block::Run(_) => pending.clear(),
            Block::Predict(predict) => pending.push((at, predict)),
            Block::Prose(_) | Block::Watch(_) | Block::Expect(_) | Block::Goal(_) => {}
        }
    }
    pending
}

/// The claims that a run block decides: choices of the questions before it, expectations after it.
fn claims_over(lesson: &Lesson, run: Address) -> impl Iterator<Item = &Stated> {
    let asked = predictions_for(lesson, run).into_iter();
    let choices =
        asked.flat_map(|(_, predict)| predict.choices.iter().map(|choice| &choice.outcome));
    let after = lesson
        .blocks()
        .skip_while(move |(at, _)| (at.page, at.block) <= (run.page, run.block));
    let until_next = after.take_while(|(_, block)| !matches!(block, Block::Run(_)));
    let expected = until_next.flat_map(|(_, block)| {
        let claims: &[Stated] = match block {
            Block::Expect(claims) => claims,
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Run(_)
            | Block::Predict(_)
            | Block::Goal(_) => &[],
        };
        claims
    });
    choices.chain(expected)
}

/// The command that the run has recorded as its next step, when the cursor stands before one.
fn recorded_next(history: &History) -> Option<&Command> {
    let here = history.position().step;
    let commands = history.commands();
    let at = commands.partition_point(|(position, _)| position.step < here);
    commands
        .get(at)
        .filter(|(position, _)| position.step == here)
        .map(|(_, command)| command)
}

/// A setup with one switch turned from the beginning. A change for one process is a command
/// instead.
pub(crate) fn changed(mut setup: Setup, change: &Change) -> Setup {
    if change.at.is_none() {
        set_switch(&mut setup, change.switch, change.position);
    }
    setup
}

/// Turns a world's switch in its setup.
pub fn set_switch(
    setup: &mut Setup,
    switch: leasehold_engine::switch::Switch,
    position: SwitchPosition,
) {
    setup.switches.retain(|(name, _)| name != switch.name());
    if position != SwitchPosition::On {
        setup
            .switches
            .push((switch.name().to_owned(), switch.word(position).to_owned()));
    }
}
