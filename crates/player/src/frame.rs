//! What is to be drawn: plain data, in parts that compare cheaply, so that only what changed is
//! drawn anew.
//!
//! A slide for the projector. Views read it and nothing else; each part is shared with the slide
//! before as long as it is the same.

use std::ops::Deref;
use std::rc::Rc;

use leasehold_engine::command::Command;
use leasehold_engine::event::{Event, Step};
use leasehold_engine::history::{BranchId, is_notable};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::{Kind, Names};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{ProcessId, SimTime, StepNumber};
use leasehold_engine::world::World;
use leasehold_lesson::director::Phase;
use leasehold_lesson::goal::Grade;
use leasehold_lesson::lesson::{Block, Change, Lesson};
use leasehold_lesson::words;

use crate::film::Film;
use crate::layout::{Cast, End, Layout, height_min, layout, wide_from};
use crate::player::{
    Dialog, Msg, Notice, Player, Selected, Settings, Speed, change_label, command_label, gate_word,
};
use crate::scene::{Condition, Scene, scene};
use crate::text::{age, millis, seconds, typeset};
use crate::timeline::{Lanes, Timeline, timeline, window};

/// Steps that the list of events shows.
const EVENTS: usize = 30;

/// A shared part: equal when it is the same, or looks the same.
#[derive(Debug, Default)]
pub struct Part<T>(Rc<T>);

impl<T> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: PartialEq> Part<T> {
    fn new(value: T) -> Self {
        Self(Rc::new(value))
    }

    /// Keeps what is there when the new value looks the same.
    fn keep(&mut self, value: T) {
        if *self.0 != value {
            self.0 = Rc::new(value);
        }
    }
}

/// The whole page.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub shell: Part<Shell>,
    pub pane: Part<Pane>,
    pub caption: Part<Caption>,
    pub runs: Vec<RunFrame>,
    pub controls: Part<Controls>,
    pub tools: Part<Tools>,
    pub panels: Part<Panels>,
}

/// Around the page: the head, the dialogs, what is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    pub embed: bool,
    pub settings: Settings,
    pub dialog: Option<Dialog>,
    pub lessons: Vec<ShelfItem>,
    pub in_sandbox: bool,
    pub title: String,
    pub link: (String, usize),
}

/// A lesson in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelfItem {
    pub id: String,
    pub title: String,
    pub is_here: bool,
    pub note: String,
}

/// The lesson's pane. The prose itself is in the lesson, by page.
#[derive(Clone, Debug)]
pub struct Pane {
    pub lesson: std::sync::Arc<Lesson>,
    pub number: (usize, usize),
    pub page: usize,
    /// The block of the page that is played: what stands behind its run is told after it.
    pub block: usize,
    pub pages_done: usize,
    pub questions: Vec<Question>,
    pub goals: Vec<GoalCard>,
    /// Expectations that were judged on this page: the claim, and whether it held.
    pub shown: Vec<(String, bool)>,
    /// The rule behind the last surprise: sentence, rule, source.
    pub why: Option<Why>,
    pub marks: Vec<Option<bool>>,
    pub go_on: GoOn,
    pub back: bool,
    pub in_sandbox: bool,
    pub failure: Option<(String, String)>,
}

impl PartialEq for Pane {
    fn eq(&self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&self.lesson, &other.lesson)
            && (self.page, self.block, self.pages_done)
                == (other.page, other.block, other.pages_done)
            && (self.back, self.in_sandbox) == (other.back, other.in_sandbox)
            && self.questions == other.questions
            && self.goals == other.goals
            && self.shown == other.shown
            && self.why == other.why
            && self.marks == other.marks
            && self.go_on == other.go_on
            && self.failure == other.failure
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    pub sentence: String,
    pub rule: String,
    pub source: String,
    pub is_refusal: bool,
}

/// The button that never moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoOn {
    pub label: &'static str,
    /// It is what comes next.
    pub is_primary: bool,
    pub is_off: bool,
}

/// A prediction as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub id: String,
    pub question: String,
    pub choices: Vec<ChoiceView>,
    /// It is asked now: the lesson waits.
    pub is_asked: bool,
    pub is_judged: bool,
    pub verdict: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceView {
    pub text: String,
    pub feedback: String,
    pub is_mine: bool,
    pub came_true: Option<bool>,
}

/// A goal as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalCard {
    pub id: String,
    pub text: String,
    pub reach: String,
    pub budget: String,
    pub with: String,
    pub hint: Option<String>,
    pub is_open: bool,
    pub is_done: bool,
    pub status: Option<(String, bool)>,
}

/// What to watch, or what is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    pub text: String,
    pub look_at: Option<String>,
    /// The one thing to press: what a stop asks for, or the page that comes next.
    pub press: Option<Deed>,
    pub ask: Option<String>,
    pub notice: Option<(String, String)>,
    pub sandbox: bool,
}

/// One run: its stage and its lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFrame {
    pub label: Option<String>,
    pub stage: Part<Stage>,
    pub timeline: Part<Timeline>,
    pub slider: Slider,
    /// The least height of the stage, in pixels, its name's line included.
    pub height_min: u32,
}

/// One stage: the floor plan and who stands on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub index: usize,
    pub layout: Layout,
    pub scene: Scene,
    pub selected: Option<Selected>,
    pub look_at: Option<String>,
    pub summary: String,
    pub reduced_room: bool,
}

/// The timeline as a slider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slider {
    pub now_ms: u64,
    pub max_ms: u64,
    pub text: String,
}

/// The row of buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controls {
    pub is_playing: bool,
    /// The lesson waits: pressing Play says for what.
    pub waits: bool,
    pub is_slowed: bool,
    pub speed: Speed,
    pub at_start: bool,
}

/// One thing that can be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    pub label: String,
    pub msg: Msg,
}

/// Heals every link.
#[must_use]
pub fn heal_all() -> Deed {
    Deed {
        label: command_label(&Command::Heal),
        msg: Msg::Act(vec![Command::Heal]),
    }
}

/// What the selection can be asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Tools {
    pub selected: Option<(String, String)>,
    pub main: Vec<Deed>,
    pub more: Vec<Deed>,
    pub links: Vec<LinkDeeds>,
    pub any_cut: bool,
    pub gates: Vec<GateView>,
    pub switches: Vec<SwitchView>,
    pub facts: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkDeeds {
    pub name: String,
    pub state: &'static str,
    pub deeds: Vec<Deed>,
}

/// The gate of all stores, as the bar shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct GateView {
    pub switch: Switch,
    pub position: Position,
    pub word: &'static str,
    pub to: Vec<Deed>,
    pub compare: Vec<Deed>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SwitchView {
    pub name: &'static str,
    pub sentence: &'static str,
    pub breaks: Option<&'static str>,
    pub position: &'static str,
    pub is_on: bool,
    pub turn: Deed,
    pub compare: Deed,
}

/// What stands below: events, invariants, the table, the branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    pub events: Vec<EventRow>,
    pub all_steps: bool,
    pub invariants: Vec<InvariantRow>,
    pub table: Vec<TableRow>,
    pub table_at: String,
    pub branches: Vec<BranchRow>,
    pub in_sandbox: bool,
    pub comparing: bool,
    pub names: String,
    pub both_believed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub number: u64,
    pub time: String,
    pub at: SimTime,
    pub who: String,
    pub facts: Vec<FactRow>,
    pub is_last: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    pub sentence: String,
    pub rule: &'static str,
    pub source: &'static str,
    pub is_break: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantRow {
    pub id: &'static str,
    pub words: &'static str,
    pub source: &'static str,
    pub broken: Option<(String, String)>,
}

/// A line of the text twin of the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    pub name: String,
    pub kind: String,
    pub state: String,
    pub belief: String,
    pub truth: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRow {
    pub id: BranchId,
    pub name: String,
    pub is_here: bool,
}

// ---------------------------------------------------------------------------------------------

impl Player {
    /// The first frame.
    #[must_use]
    pub fn frame(&self) -> Frame {
        Frame {
            shell: Part::new(self.shell()),
            pane: Part::new(self.pane()),
            caption: Part::new(self.caption()),
            runs: self.run_frames(),
            controls: Part::new(self.controls()),
            tools: Part::new(self.tools()),
            panels: Part::new(self.panels(None)),
        }
    }

    /// The next frame, sharing with the one before what is the same.
    #[must_use]
    pub fn next_frame(&self, before: &Frame) -> Frame {
        let mut frame = before.clone();
        frame.shell.keep(self.shell());
        frame.pane.keep(self.pane());
        frame.caption.keep(self.caption());
        frame.controls.keep(self.controls());
        frame.tools.keep(self.tools());
        frame.panels.keep(self.panels(Some(&before.panels)));
        let mut runs = self.run_frames();
        for (new, old) in runs.iter_mut().zip(&before.runs) {
            if new.stage == old.stage {
                new.stage = old.stage.clone();
            }
            if new.timeline == old.timeline {
                new.timeline = old.timeline.clone();
            }
        }
        frame.runs = runs;
        frame
    }

    fn shell(&self) -> Shell {
        let item = |(n, lesson): (usize, &std::sync::Arc<Lesson>)| {
            let done = self.progress.lessons.get(&lesson.id);
            let pages = lesson.pages.len();
            let note = match done {
                Some(done) if done.finished => "finished".to_owned(),
                Some(done) if done.page > 1 => format!("page {} of {pages}", done.page),
                Some(_) | None => format!("{pages} pages"),
            };
            ShelfItem {
                id: lesson.id.clone(),
                title: lesson.title.clone(),
                is_here: n == self.at,
                note,
            }
        };
        Shell {
            embed: self.embed,
            settings: self.settings,
            dialog: self.dialog,
            lessons: self.lessons.iter().enumerate().map(item).collect(),
            in_sandbox: self.in_sandbox(),
            title: self.lesson().title.clone(),
            link: (self.lesson().id.clone(), self.director.page() + 1),
        }
    }

    fn caption(&self) -> Caption {
        let notice = self
            .notice
            .as_ref()
            .map(|Notice { what, remedy }| (typeset(what), typeset(remedy)));
        if let Some(sandbox) = &self.sandbox {
            let text = match &sandbox.exercise {
                Some(trial) => match &trial.grade {
                    Some(Grade::Reached { at, .. }) => {
                        format!("The goal is reached, at {} s.", seconds(*at))
                    }
                    Some(Grade::OverBudget(sentence)) => sentence.clone(),
                    Some(Grade::NotReached | Grade::OtherStart) | None => {
                        typeset(&trial.exercise.goal().text)
                    }
                },
                None if sandbox.beside.is_some() => {
                    "The same commands, one thing changed.".to_owned()
                }
                None => "Your own run. Select a process or a link, and act on it.".to_owned(),
            };
            return Caption {
                text,
                notice,
                sandbox: true,
                ..Caption::default()
            };
        }
        let line = self.director.caption();
        let look_at = line.and_then(|line| line.look_at.clone());
        let watch = line.map(|line| line.text.clone()).unwrap_or_default();
        let (text, ask) = match self.director.phase() {
            Phase::Stopped {
                sentence: Some(sentence),
                ..
            } => (sentence.to_owned(), None),
            Phase::Asking(predict) => (watch, Some(predict.question.clone())),
            Phase::Failed(failure) => (words::failure(failure).what, None),
            Phase::Stopped { sentence: None, .. }
            | Phase::Running
            | Phase::PageDone
            | Phase::LessonDone => (watch, None),
        };
        let pages = &self.lesson().pages;
        let page = self.director.page();
        let text = if text.is_empty() {
            pages[page].heading.clone()
        } else {
            text
        };
        let text = typeset(&text);
        let press = match self.director.phase() {
            Phase::PageDone => pages.get(page + 1).map(|next| Deed {
                label: next.heading.clone(),
                msg: Msg::Continue,
            }),
            Phase::LessonDone => self.open_goal(page).map(|goal| Deed {
                label: "Begin".to_owned(),
                msg: Msg::BeginGoal(goal),
            }),
            Phase::Running | Phase::Stopped { .. } | Phase::Asking(_) | Phase::Failed(_) => {
                self.press_label().map(|label| Deed {
                    label,
                    msg: Msg::Press,
                })
            }
        };
        Caption {
            text,
            look_at,
            press,
            ask,
            notice,
            sandbox: false,
        }
    }

    /// The id of a goal on this page that has not been reached yet.
    fn open_goal(&self, page: usize) -> Option<String> {
        let done = self
            .progress
            .lessons
            .get(&self.lesson().id)
            .map(|done| &done.goals);
        self.lesson().pages[page]
            .blocks
            .iter()
            .find_map(|block| match block {
                Block::Goal(goal) if !done.is_some_and(|done| done.contains(&goal.id)) => {
                    Some(goal.id.clone())
                }
                Block::Goal(_)
                | Block::Prose(_)
                | Block::Watch(_)
                | Block::Run(_)
                | Block::Expect(_)
                | Block::Predict(_) => None,
            })
    }

    // The lesson ----------------------------------------------------------------------------

    fn pane(&self) -> Pane {
        let lesson = std::sync::Arc::clone(self.lesson());
        let page = self.director.page();
        let phase = self.director.phase();
        let blocks = &lesson.pages[page].blocks;
        let mut questions = Vec::new();
        let mut goals = Vec::new();
        for block in blocks {
            match block {
                Block::Predict(predict) => questions.extend(self.question(&predict.id)),
                Block::Goal(goal) => goals.push(self.goal_card(goal)),
                Block::Prose(_) | Block::Watch(_) | Block::Run(_) | Block::Expect(_) => {}
            }
        }
        let verdict = |place| {
            self.director
                .verdicts()
                .iter()
                .rev()
                .find(|v| v.place == place)
        };
        let expectations = blocks.iter().flat_map(|block| match block {
            Block::Expect(claims) => claims.as_slice(),
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Run(_)
            | Block::Predict(_)
            | Block::Goal(_) => &[],
        });
        let shown = expectations
            .filter_map(|stated| verdict(stated.place).map(|v| (v.claim.to_string(), v.holds)))
            .collect();
        let marks = lesson.pages[page]
            .marks
            .iter()
            .map(|m| verdict(m.place).map(|v| v.holds))
            .collect();
        let judged = questions.iter().any(|q: &Question| q.is_judged);
        let why = if judged && !self.in_sandbox() {
            self.why()
        } else {
            None
        };
        let pages_done = if matches!(phase, Phase::PageDone | Phase::LessonDone) {
            page + 1
        } else {
            page
        };
        let failure = match phase {
            Phase::Failed(failure) => {
                let trouble = words::failure(failure);
                Some((trouble.what, trouble.remedy))
            }
            Phase::Running
            | Phase::Stopped { .. }
            | Phase::Asking(_)
            | Phase::PageDone
            | Phase::LessonDone => None,
        };
        let go_on = self.go_on_button();
        Pane {
            number: (self.at + 1, self.lessons.len()),
            page,
            block: self.director.address().block,
            pages_done,
            questions,
            goals,
            shown,
            why,
            marks,
            go_on,
            back: page > 0 || self.in_sandbox(),
            in_sandbox: self.in_sandbox(),
            failure,
            lesson,
        }
    }

    fn go_on_button(&self) -> GoOn {
        if self.in_sandbox() {
            return GoOn {
                label: "To the lesson",
                is_primary: false,
                is_off: false,
            };
        }
        match self.director.phase() {
            Phase::LessonDone if self.at + 1 < self.lessons.len() => {
                let is_primary = self.open_goal(self.director.page()).is_none();
                GoOn {
                    label: "Next lesson",
                    is_primary,
                    is_off: false,
                }
            }
            Phase::LessonDone => GoOn {
                label: "Continue",
                is_primary: false,
                is_off: true,
            },
            Phase::PageDone => GoOn {
                label: "Continue",
                is_primary: true,
                is_off: false,
            },
            Phase::Running | Phase::Stopped { .. } | Phase::Asking(_) | Phase::Failed(_) => {
                let is_last = self.director.page() + 1 == self.lesson().pages.len();
                GoOn {
                    label: "Continue",
                    is_primary: false,
                    is_off: is_last || self.has_open_question(),
                }
            }
        }
    }

    fn question(&self, id: &str) -> Option<Question> {
        let prediction = self.director.predictions().find(|p| p.predict.id == id)?;
        let predict = prediction.predict;
        let is_judged = prediction.came_true.is_some() && prediction.chosen.is_some();
        let choices: Vec<ChoiceView> = predict
            .choices
            .iter()
            .enumerate()
            .map(|(n, choice)| ChoiceView {
                text: typeset(&choice.text),
                feedback: typeset(&choice.feedback),
                is_mine: prediction.chosen == Some(n),
                came_true: prediction
                    .came_true
                    .filter(|_| is_judged)
                    .and_then(|all| all.get(n))
                    .copied(),
            })
            .collect();
        let verdict = is_judged.then(|| {
            let as_predicted = choices
                .iter()
                .any(|c| c.is_mine && c.came_true == Some(true));
            let word = if as_predicted {
                "As you predicted."
            } else {
                "Not as you predicted."
            };
            word.to_owned()
        });
        let asked = matches!(self.director.phase(), Phase::Asking(p) if p.id == id);
        Some(Question {
            id: predict.id.clone(),
            question: typeset(&predict.question),
            choices,
            is_asked: asked && !self.in_sandbox(),
            is_judged,
            verdict,
        })
    }

    fn goal_card(&self, goal: &leasehold_lesson::lesson::Goal) -> GoalCard {
        let trial = self.sandbox.as_ref().and_then(|s| s.exercise.as_ref());
        let trial = trial.filter(|t| t.exercise.goal().id == goal.id);
        let id = &self.lesson().id;
        let is_done = self
            .progress
            .lessons
            .get(id)
            .is_some_and(|done| done.goals.contains(&goal.id));
        let status = trial.and_then(|trial| match &trial.grade {
            Some(Grade::Reached { at, .. }) => {
                Some((format!("Reached at {} s.", seconds(*at)), true))
            }
            Some(Grade::OverBudget(sentence)) => Some((sentence.clone(), false)),
            Some(Grade::NotReached) => Some(("Not reached yet.".to_owned(), false)),
            Some(Grade::OtherStart) => Some((
                "This run does not begin where the goal begins.".to_owned(),
                false,
            )),
            None => None,
        });
        let with: Vec<String> = goal.with.iter().map(change_label).collect();
        GoalCard {
            id: goal.id.clone(),
            text: typeset(&goal.text),
            reach: goal.reach.claim.to_string(),
            budget: goal.budget.to_string(),
            with: with.join(", "),
            hint: goal.hint.as_deref().map(typeset),
            is_open: trial.is_some(),
            is_done,
            status,
        }
    }

    /// The rule of the last thing that a store said, or else of the last thing worth seeing.
    fn why(&self) -> Option<Why> {
        let here = self.history().position().step;
        let film = self.film();
        let seen = &film.log()[..film.worth_before(here)];
        let said = |step: &Step| {
            step.facts
                .iter()
                .find(|fact| {
                    matches!(
                        fact.event,
                        Event::WriteAccepted { .. }
                            | Event::WriteRefused { .. }
                            | Event::StaleWriteObserved { .. }
                    )
                })
                .cloned()
        };
        let by_store = seen
            .iter()
            .rev()
            .find_map(|step| said(step).map(|fact| (step, fact)));
        let last = || {
            let step = seen.last()?;
            Some((step, step.facts.first().cloned()?))
        };
        let (step, fact) = by_store.or_else(last)?;
        Some(Why {
            sentence: typeset(&words::event(&fact.event, step.process, self.names())),
            rule: words::rule(fact.rule).to_owned(),
            source: fact.rule.source().to_owned(),
            is_refusal: matches!(fact.event, Event::WriteRefused { .. }),
        })
    }

    // The stage -----------------------------------------------------------------------------

    /// The runs that are shown: histories with their films and names, the controlled one last.
    fn takes(&self) -> Vec<(Option<String>, &World, SimTime, &Film)> {
        let mut takes = Vec::new();
        let beside = match &self.sandbox {
            Some(sandbox) => sandbox.beside.as_ref(),
            None => self.beside.as_ref(),
        };
        if let Some(take) = beside {
            takes.push((
                take.label.clone(),
                take.history.world(),
                take.history.end().at,
                &take.film,
            ));
        }
        let label = match &self.sandbox {
            Some(sandbox) => sandbox.take.label.clone(),
            None => self.director.run().change.as_ref().map(change_label),
        };
        takes.push((label, self.world(), self.history().end().at, self.film()));
        takes
    }

    /// Whether two stages stand side by side rather than one below the other.
    #[must_use]
    pub fn is_side_by_side(&self) -> bool {
        self.size.0 >= 700
    }

    fn stage_size(&self, count: usize) -> (f32, f32) {
        let (width, height) = (self.size.0 as f32, self.size.1 as f32);
        match count {
            2 if self.is_side_by_side() => ((width - 1.0) / 2.0, height),
            2 => (width, 0.0),
            _ => (width, height),
        }
    }

    fn run_frames(&self) -> Vec<RunFrame> {
        let takes = self.takes();
        let count = takes.len();
        let (width, height) = self.stage_size(count);
        let narrow = width < wide_from(&Cast::of(self.names()));
        let last = takes.iter().map(|t| t.2).max().unwrap_or_default();
        let now = self.world().now();
        let span = window(last, now, narrow);
        let look_at = if self.in_sandbox() {
            None
        } else {
            self.director.caption().and_then(|c| c.look_at.clone())
        };
        takes
            .into_iter()
            .enumerate()
            .map(|(index, (label, world, end, film))| {
                let cast = Cast::of(world.names());
                let room = if label.is_some() { 34.0 } else { 0.0 };
                let stage = Stage {
                    index,
                    layout: layout(&cast, width, (height - room).max(height_min(&cast, width))),
                    scene: scene(world),
                    selected: self.selected,
                    look_at: look_at.clone(),
                    summary: summary(world),
                    reduced_room: narrow,
                };
                let lanes = if narrow && count == 1 {
                    Lanes::One(self.lane_of(world.names(), look_at.as_deref()))
                } else if narrow {
                    Lanes::Acting
                } else {
                    Lanes::All
                };
                let here = world.step_count();
                let said = film
                    .last_before(here)
                    .and_then(|s| s.facts.first().map(|f| (s, f)));
                let said = said.map_or_else(
                    || "the beginning".to_owned(),
                    |(s, f)| words::event(&f.event, s.process, world.names()),
                );
                let at = world.now();
                let least = height_min(&cast, width) + room;
                RunFrame {
                    height_min: least.ceil() as u32,
                    label,
                    stage: Part::new(stage),
                    timeline: Part::new(timeline(film, world.names(), lanes, width, span)),
                    slider: Slider {
                        now_ms: at.0 / 1_000,
                        max_ms: (end.0 / 1_000).max(1),
                        text: format!("{} s: {said}", seconds(at)),
                    },
                }
            })
            .collect()
    }

    fn lane_of(&self, names: &Names, look_at: Option<&str>) -> Option<ProcessId> {
        let has_lane = |id: &ProcessId| names.kind(*id) != Kind::Store;
        let selected = match self.selected {
            Some(Selected::Process(id)) => Some(id).filter(has_lane),
            Some(Selected::Link(..)) | None => None,
        };
        look_at
            .and_then(|name| names.find(name))
            .filter(has_lane)
            .or(selected)
    }

    fn controls(&self) -> Controls {
        Controls {
            is_playing: self.playing,
            waits: !self.in_sandbox() && self.director.phase() != Phase::Running,
            is_slowed: self.slowed,
            speed: self.speed,
            at_start: self.history().position().step == StepNumber(0) && self.world().now().0 == 0,
        }
    }

    // Tools ---------------------------------------------------------------------------------

    fn tools(&self) -> Tools {
        let world = self.world();
        let names = world.names();
        let any_cut = names
            .ids()
            .any(|a| names.ids().any(|b| a != b && world.link(a, b).cut));
        let (selected, main, more, links, facts) = match self.selected {
            None => (None, Vec::new(), Vec::new(), Vec::new(), Vec::new()),
            Some(Selected::Process(id)) => self.process_tools(id),
            Some(Selected::Link(a, b)) => {
                let links = vec![self.link_deeds(a, b)];
                let name = format!("{} – {}", self.end_name(a), self.end_name(b));
                (
                    Some((name, "link".to_owned())),
                    Vec::new(),
                    Vec::new(),
                    links,
                    Vec::new(),
                )
            }
        };
        let has_store = names.of_kind(Kind::Store).next().is_some();
        let gates = if has_store {
            vec![self.gate()]
        } else {
            Vec::new()
        };
        let switches = Switch::ALL
            .iter()
            .map(|switch| self.switch_view(*switch))
            .collect();
        Tools {
            selected,
            main,
            more,
            links,
            any_cut,
            gates,
            switches,
            facts,
        }
    }

    #[expect(clippy::type_complexity, reason = "the parts of one struct")]
    fn process_tools(
        &self,
        id: ProcessId,
    ) -> (
        Option<(String, String)>,
        Vec<Deed>,
        Vec<Deed>,
        Vec<LinkDeeds>,
        Vec<(String, String)>,
    ) {
        let world = self.world();
        let names = world.names();
        let name = names.name(id).to_owned();
        let process = || name.clone();
        let act = |command: Command| Deed {
            label: command_label(&command),
            msg: Msg::Act(vec![command]),
        };
        let mut main = Vec::new();
        let mut more = Vec::new();
        match Condition::of(world.status(id)) {
            Condition::Awake => {
                main.push(act(Command::Pause { process: process() }));
                main.push(act(Command::Crash { process: process() }));
            }
            Condition::Asleep => {
                main.push(act(Command::Resume { process: process() }));
                main.push(act(Command::Crash { process: process() }));
            }
            Condition::Crashed => main.push(act(Command::Restart { process: process() })),
        }
        let kind = names.kind(id);
        let stores: Vec<String> = names
            .of_kind(Kind::Store)
            .map(|s| names.name(s).to_owned())
            .collect();
        let write = |store: &String| {
            let value = self.value_for(&name);
            act(Command::Write {
                process: process(),
                store: store.clone(),
                value,
                op: None,
            })
        };
        match kind {
            Kind::Worker => {
                main.extend(stores.iter().take(1).map(write));
                more.push(act(Command::PauseBeforeSend { process: process() }));
                more.extend(stores.iter().skip(1).map(write));
                let resources = names.resources().iter();
                more.extend(resources.map(|r| {
                    act(Command::Acquire {
                        worker: process(),
                        resource: r.clone(),
                    })
                }));
                more.push(act(Command::Release { worker: process() }));
            }
            Kind::Server => {
                main.push(act(Command::Campaign { server: process() }));
                more.extend(stores.iter().map(write));
                more.push(act(Command::PauseBeforeSend { process: process() }));
            }
            Kind::Client => {
                let put = |value: &str| {
                    act(Command::Put {
                        client: process(),
                        key: "x".to_owned(),
                        value: value.to_owned(),
                    })
                };
                main.push(put("1"));
                more.push(put("2"));
                more.push(act(Command::Get {
                    client: process(),
                    key: "x".to_owned(),
                    at: None,
                    stale: false,
                }));
            }
            Kind::Store => {}
        }
        for ppm in [1_100_000, 900_000, 1_000_000] {
            if world.clock(id).rate_ppm() != ppm {
                let command = Command::ClockRate {
                    process: process(),
                    ppm,
                };
                let label = match ppm {
                    1_000_000 => "Clock: true again".to_owned(),
                    fast if fast > 1_000_000 => "Clock: 10 % fast".to_owned(),
                    _slow => "Clock: 10 % slow".to_owned(),
                };
                more.push(Deed {
                    label,
                    msg: Msg::Act(vec![command]),
                });
            }
        }
        for micros in [2_000_000, -2_000_000] {
            let command = Command::ClockJump {
                process: process(),
                micros,
            };
            let label = if micros > 0 {
                "Clock: jump 2 s ahead"
            } else {
                "Clock: jump 2 s back"
            };
            more.push(Deed {
                label: label.to_owned(),
                msg: Msg::Act(vec![command]),
            });
        }
        let here = self.end_of(id);
        let wires = scene(world).wires;
        let ends = wires
            .iter()
            .filter_map(|wire| match (wire.a == here, wire.b == here) {
                (true, _) => Some(wire.b),
                (_, true) => Some(wire.a),
                (false, false) => None,
            });
        let links = ends
            .map(|other| self.link_deeds(End::Process(id), other))
            .collect();
        let facts = facts(world, id);
        (
            Some((name.clone(), kind.to_string())),
            main,
            more,
            links,
            facts,
        )
    }

    fn value_for(&self, name: &str) -> String {
        // What was written last, so that a learner repeats the lesson's own act.
        let commands = self.history().commands().iter().rev();
        let value = commands.filter_map(|(_, command)| {
            let Command::Write { process, value, .. } = command else {
                return None;
            };
            Some((process == name, value.clone()))
        });
        let mut any = None;
        for (own, value) in value {
            if own {
                return value;
            }
            any.get_or_insert(value);
        }
        any.unwrap_or_else(|| "job 1".to_owned())
    }

    fn end_of(&self, id: ProcessId) -> End {
        let cast = Cast::of(self.names());
        if cast.folded() && self.names().kind(id) == Kind::Server {
            End::Service
        } else {
            End::Process(id)
        }
    }

    fn ends(&self, end: End) -> Vec<ProcessId> {
        match end {
            End::Service => self.names().of_kind(Kind::Server).collect(),
            End::Process(id) => vec![id],
        }
    }

    fn link_deeds(&self, a: End, b: End) -> LinkDeeds {
        let world = self.world();
        let name = |id: ProcessId| self.names().name(id).to_owned();
        let pairs = |from: End, to: End| -> Vec<(ProcessId, ProcessId)> {
            let to = self.ends(to);
            self.ends(from)
                .into_iter()
                .flat_map(|f| to.iter().map(move |t| (f, *t)).collect::<Vec<_>>())
                .collect()
        };
        let cut = |from, to| pairs(from, to).iter().all(|(f, t)| world.link(*f, *t).cut);
        let (there, back) = (cut(a, b), cut(b, a));
        let commands = |from, to, both, heal: bool| -> Vec<Command> {
            pairs(from, to)
                .into_iter()
                .filter(|(f, t)| heal || both || !world.link(*f, *t).cut)
                .map(|(f, t)| {
                    let (from, to) = (name(f), name(t));
                    if heal {
                        Command::HealLink { from, to, both }
                    } else {
                        Command::Cut { from, to, both }
                    }
                })
                .collect()
        };
        let (a_name, b_name) = (self.end_name(a), self.end_name(b));
        let mut deeds = Vec::new();
        let mut deed = |label: String, commands: Vec<Command>| {
            deeds.push(Deed {
                label,
                msg: Msg::Act(commands),
            });
        };
        if !there && !back {
            deed(
                format!("Cut {a_name} off from {b_name}"),
                commands(a, b, true, false),
            );
        }
        if !there {
            deed(
                format!("Cut {a_name} → {b_name}"),
                commands(a, b, false, false),
            );
        }
        if !back {
            deed(
                format!("Cut {b_name} → {a_name}"),
                commands(b, a, false, false),
            );
        }
        if there || back {
            deed(
                format!("Heal {a_name} ↔ {b_name}"),
                commands(a, b, true, true),
            );
        }
        let state = match (there, back) {
            (false, false) => "whole",
            (true, true) => "cut",
            (true, false) | (false, true) => "cut one way",
        };
        LinkDeeds {
            name: b_name,
            state,
            deeds,
        }
    }

    fn gate(&self) -> GateView {
        let position = self.world().world_switch(Switch::Fence);
        let others = [Position::Off, Position::Observe, Position::On]
            .into_iter()
            .filter(|p| *p != position);
        let word = gate_word;
        let change = |position: Position| Change {
            switch: Switch::Fence,
            position,
            at: None,
        };
        let to = others.clone().map(|p| Deed {
            label: format!("Gate {}", word(p)),
            msg: Msg::Act(vec![Command::Set {
                switch: Switch::Fence,
                position: p,
                at: None,
            }]),
        });
        let compare = others.map(|p| Deed {
            label: format!("Same run, gate {}", word(p)),
            msg: Msg::Compare(change(p)),
        });
        let (to, compare) = (to.collect(), compare.collect());
        GateView {
            switch: Switch::Fence,
            position,
            word: word(position),
            to,
            compare,
        }
    }

    fn switch_view(&self, switch: Switch) -> SwitchView {
        let position = self.world().world_switch(switch);
        let other = if position == Position::On {
            Position::Off
        } else {
            Position::On
        };
        let change = Change {
            switch,
            position: other,
            at: None,
        };
        SwitchView {
            name: switch.name(),
            sentence: words::switch(switch),
            breaks: switch.breaks().map(words::invariant),
            position: switch.word(position),
            is_on: position == Position::On,
            turn: Deed {
                label: format!("turn {}", switch.word(other)),
                msg: Msg::Act(vec![Command::Set {
                    switch,
                    position: other,
                    at: None,
                }]),
            },
            compare: Deed {
                label: "same run".to_owned(),
                msg: Msg::Compare(change),
            },
        }
    }

    // Panels --------------------------------------------------------------------------------

    fn panels(&self, before: Option<&Part<Panels>>) -> Panels {
        let world = self.world();
        let names = world.names();
        let here = world.step_count();
        let film = self.film();
        let events = if self.all_steps && !self.playing {
            let from = StepNumber(here.0.saturating_sub(EVENTS as u64));
            let steps = self.history().details(from, here);
            steps
                .iter()
                .map(|step| event_row(step, names, here, true))
                .rev()
                .collect()
        } else {
            let seen = &film.log()[..film.worth_before(here)];
            seen.iter()
                .rev()
                .take(EVENTS)
                .map(|step| event_row(step, names, here, false))
                .collect()
        };
        let invariant = |invariant: &Invariant| InvariantRow {
            id: invariant.id(),
            words: words::invariant(*invariant),
            source: invariant.source(),
            broken: world.broken(*invariant).map(|broken| {
                (
                    format!("{} s", seconds(broken.at)),
                    words::reason(&broken.reason, names),
                )
            }),
        };
        // The text twin is read, not watched: it stands still while the film plays.
        let frozen = before.filter(|_| self.playing);
        let (table, table_at) = match frozen {
            Some(panels) => (panels.table.clone(), panels.table_at.clone()),
            None => (table(world), format!("{} s", seconds(world.now()))),
        };
        let branches = match &self.sandbox {
            Some(sandbox) => branch_rows(&sandbox.take.history),
            None => Vec::new(),
        };
        let both = world.both_believed();
        Panels {
            events,
            all_steps: self.all_steps,
            invariants: Invariant::ALL.iter().map(invariant).collect(),
            table,
            table_at,
            branches,
            in_sandbox: self.in_sandbox(),
            comparing: self.sandbox.as_ref().is_some_and(|s| s.beside.is_some()),
            names: names.list(),
            both_believed: (both.0 > 0).then(|| words::tenths(both)),
        }
    }
}

fn event_row(step: &Step, names: &Names, here: StepNumber, all: bool) -> EventRow {
    // What was sent is seen on the stage.
    let is_shown =
        |event: &Event| !matches!(event, Event::MessageSent { .. }) && (all || is_notable(event));
    let facts = step.facts.iter().filter(|fact| is_shown(&fact.event));
    let mut facts: Vec<FactRow> = facts
        .map(|fact| FactRow {
            sentence: typeset(&words::event(&fact.event, step.process, names)),
            rule: words::rule(fact.rule),
            source: fact.rule.source(),
            is_break: matches!(fact.event, Event::InvariantBroken { .. }),
        })
        .collect();
    if facts.is_empty() {
        facts.push(FactRow {
            sentence: words::step_kind(&step.kind, step.process, names),
            rule: "",
            source: "",
            is_break: false,
        });
    }
    EventRow {
        number: step.number.0,
        time: millis(step.at),
        at: step.at,
        who: step.process.map_or("world", |id| names.name(id)).to_owned(),
        facts,
        is_last: step.number.0 + 1 == here.0,
    }
}

fn branch_rows(history: &leasehold_engine::history::History) -> Vec<BranchRow> {
    history
        .branches()
        .map(|(id, branch)| {
            let name = match &branch.parent {
                None => format!("the first future, to {} s", seconds(branch.end.at)),
                Some((_, position)) => {
                    let own = branch
                        .commands
                        .iter()
                        .find(|(p, _)| position.step <= p.step);
                    let what = own.map_or_else(String::new, |(_, command)| format!(": {command}"));
                    format!(
                        "from {} s{what}, to {} s",
                        seconds(position.at),
                        seconds(branch.end.at)
                    )
                }
            };
            BranchRow {
                id,
                name,
                is_here: id == history.branch(),
            }
        })
        .collect()
}

/// The inspector: what there is to know about a process.
fn facts(world: &World, id: ProcessId) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    let clock = world.clock(id);
    add(
        "its clock shows",
        format!("{} s", seconds(SimTime(clock.local(world.now()).0))),
    );
    if let Some(own) = world.own_deadline(id) {
        add("its own deadline", format!("{} s", seconds(own)));
    }
    let waiting = world.waiting_for(id);
    if waiting > 0 {
        add("waiting until it wakes", waiting.to_string());
    }
    if let Some(server) = world.server(id) {
        add("term", server.term().to_string());
        add(
            "voted for",
            server
                .voted_for()
                .map_or("no one", |v| world.names().name(v))
                .to_owned(),
        );
        add("log", format!("{} entries", server.log().last_index()));
        add("committed to", server.commit().to_string());
        for (key, value) in server.registry().keys() {
            add("has applied", format!("{key} = {value}"));
        }
    }
    if let Some(store) = world.store(id) {
        add("highest token seen", store.highest().to_string());
        add("writes that came", store.writes().len().to_string());
    }
    facts
}

/// The stage in a sentence or two, for who does not see it.
fn summary(world: &World) -> String {
    let names = world.names();
    let mut parts = Vec::new();
    match world.truth().leader() {
        Some((id, term)) => parts.push(format!("{} leads term {term}.", names.name(id))),
        None if names.of_kind(Kind::Server).next().is_some() => {
            parts.push("No server leads.".to_owned())
        }
        None => {}
    }
    for row in table(world) {
        if row.kind != "server" {
            let belief = if row.belief.is_empty() {
                String::new()
            } else {
                format!(", {}", row.belief)
            };
            parts.push(format!(
                "{}: {}{belief}; {}.",
                row.name, row.state, row.truth
            ));
        }
    }
    parts.join(" ")
}

/// The text twin of the stage.
fn table(world: &World) -> Vec<TableRow> {
    let scene = scene(world);
    let now = world.now();
    let mut rows = Vec::new();
    let state = |condition: Condition| condition.class().to_owned();
    for server in &scene.servers {
        let truth = if server.leads {
            format!("leads term {}", server.term)
        } else {
            "does not lead".to_owned()
        };
        rows.push(TableRow {
            name: server.name.clone(),
            kind: "server".to_owned(),
            state: state(server.condition),
            belief: server.words.clone(),
            truth,
        });
    }
    for worker in &scene.workers {
        let belief = worker.believes.as_ref().map_or_else(String::new, |b| {
            let age = b.checked_at.map_or_else(String::new, |at| {
                format!(", checked {}", age(now.since(at)))
            });
            format!("{}{age}", b.words)
        });
        rows.push(TableRow {
            name: worker.name.clone(),
            kind: "worker".to_owned(),
            state: state(worker.condition),
            belief,
            truth: worker.truth.clone(),
        });
    }
    for client in &scene.clients {
        rows.push(TableRow {
            name: client.name.clone(),
            kind: "client".to_owned(),
            state: state(client.condition),
            belief: String::new(),
            truth: client.words.clone(),
        });
    }
    for store in &scene.stores {
        let last = store.rows.last();
        let last = last.map_or("no writes yet".to_owned(), |row| {
            let note = row
                .note
                .as_ref()
                .map_or_else(String::new, |n| format!(" ({n})"));
            format!(
                "{} {} from {} with token {}{note}",
                row.mark.word(),
                row.value,
                row.from,
                row.token
            )
        });
        let gate = match store.gate {
            Position::Off => "gate open",
            Position::Observe => "gate observing",
            Position::On => "gate on",
        };
        rows.push(TableRow {
            name: store.name.clone(),
            kind: "store".to_owned(),
            state: state(store.condition),
            belief: String::new(),
            truth: format!("{gate}, highest token {}; {last}", store.highest),
        });
    }
    rows
}
