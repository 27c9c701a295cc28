//! One learner at work: what they did comes in, what is to be shown and asked of the page goes out.
//!
//! The desk with the projector on it: the lesson's film, a second reel beside it, a pair of
//! scissors. `update` is the only place that changes anything. It knows no browser; times come in
//! as elapsed microseconds, and wishes that only a browser can grant go out as [`Request`]s.

use std::sync::Arc;

use leasehold_engine::claim::Watch;
use leasehold_engine::command::Command;
use leasehold_engine::event::{MessageKind, Step};
use leasehold_engine::history::{BranchId, History, ImportError, Imported};
use leasehold_engine::run_file::RunFile;
use leasehold_engine::setup::{Kind, Names, Setup};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{ProcessId, SimTime, StepNumber};
use leasehold_engine::world::World;
use leasehold_lesson::director::{Director, Options, Phase};
use leasehold_lesson::goal::{Exercise, Grade};
use leasehold_lesson::lesson::{Change, Lesson, Press};
use leasehold_lesson::words;

use crate::film::Film;
use crate::layout::End;
use crate::progress::Progress;
use crate::start::{Motion, Start, Theme};
use crate::text::{self, spoken};

/// The most simulated time that Next looks ahead.
const NEXT_WITHIN: u64 = 120_000_000;
/// The most steps of one update, so that a page never hangs.
const STEPS_MAX: usize = 200_000;
/// How long before the moment of difference a second run begins to be shown.
const LEAD_IN: u64 = 1_500_000;

/// How fast the film plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    Quarter,
    Half,
    Whole,
    Double,
    Fourfold,
}

impl Speed {
    pub const ALL: &[Self] = &[
        Self::Quarter,
        Self::Half,
        Self::Whole,
        Self::Double,
        Self::Fourfold,
    ];

    /// Simulated time a unit of real time, in thousandths.
    #[must_use]
    pub const fn permille(self) -> u64 {
        match self {
            Self::Quarter => 250,
            Self::Half => 500,
            Self::Whole => 1_000,
            Self::Double => 2_000,
            Self::Fourfold => 4_000,
        }
    }

    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Quarter => "¼ ×",
            Self::Half => "½ ×",
            Self::Whole => "1 ×",
            Self::Double => "2 ×",
            Self::Fourfold => "4 ×",
        }
    }
}

/// What is selected, and so what the tools act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    Process(ProcessId),
    Link(End, End),
}

/// What lies over the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Help,
    Lessons,
    Settings,
    Share,
}

/// What the learner did, or the clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Real time went by, in microseconds.
    Elapsed(u64),
    Toggle,
    Next,
    Back,
    StepForward,
    StepBack,
    PageStart,
    Latest,
    Seek(SimTime),
    /// By that many events worth seeing; negative goes back.
    SeekEvents(i32),
    SetSpeed(Speed),
    Faster,
    Slower,
    /// Does what the stop asks for.
    Press,
    Choose(usize),
    ToQuestion,
    Continue,
    PageBack,
    GoToPage(usize),
    Open(String),
    Select(Option<Selected>),
    Act(Vec<Command>),
    /// A line of the command box.
    Say(String),
    Compare(Change),
    EndCompare,
    Sandbox,
    LeaveSandbox,
    SwitchBranch(BranchId),
    BeginGoal(String),
    ShowAllSteps(bool),
    SetTheme(Theme),
    SetMotion(Motion),
    SetShortcuts(bool),
    Show(Dialog),
    Help,
    Escape,
    CloseDialog,
    DismissNotice,
    CopyLink,
    CopyRun,
    SaveRun,
    Resized {
        width: u32,
        height: u32,
    },
}

/// What only the page can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// One polite sentence, at most 120 characters.
    Announce(String),
    /// The address is to say where the learner is.
    SetLink {
        lesson: String,
        page: usize,
    },
    /// The run so far, to be kept outside the wasm instance.
    Mirror(String),
    KeepProgress(String),
    KeepSettings(String),
    /// The question that is asked is to be seen, and its first choice to have the focus.
    ShowQuestion,
    /// A link to here, made by the page from its own address.
    CopyLink {
        lesson: String,
        page: usize,
    },
    Copy {
        what: &'static str,
        text: String,
    },
    Save {
        name: String,
        text: String,
    },
}

/// A history and its film.
#[derive(Clone, Debug)]
pub(crate) struct Take {
    pub(crate) history: History,
    pub(crate) film: Film,
    pub(crate) label: Option<String>,
}

impl Take {
    fn new(mut history: History, label: Option<String>) -> Self {
        let film = Film::of(&mut history);
        Self {
            history,
            film,
            label,
        }
    }

    /// Brings the cursor to a time, or to the run's end if that is before.
    fn follow(&mut self, to: SimTime) {
        let to = to.min(self.history.end().at);
        if to < self.history.position().at {
            self.history.seek_time(to);
        }
        let film = &mut self.film;
        self.history
            .run_to(to, |step, world| film.write(step, world));
    }
}

/// The learner's own run.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) take: Take,
    /// Where it left the lesson: not gone back before by "to the start".
    pub(crate) began: StepNumber,
    /// The run it is compared with.
    pub(crate) beside: Option<Take>,
    pub(crate) exercise: Option<Trial>,
}

/// A goal being worked at.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) exercise: Exercise,
    watch: Watch,
    pub(crate) grade: Option<Grade>,
}

/// A notice at the top of the stage, until it is dismissed or something else happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub what: String,
    pub remedy: String,
}

/// What a learner may set for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub theme: Theme,
    pub motion: Motion,
    pub shortcuts: bool,
}

impl Settings {
    fn text(self) -> String {
        let keys = if self.shortcuts { "on" } else { "off" };
        format!("{} {} {keys}", self.theme.word(), self.motion.word())
    }

    fn read(text: &str) -> Self {
        let mut words = text.split(' ');
        Self {
            theme: words.next().and_then(Theme::read).unwrap_or_default(),
            motion: words.next().and_then(Motion::read).unwrap_or_default(),
            shortcuts: words.next() != Some("off"),
        }
    }
}

/// What the page knows when it opens.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    pub start: Start,
    pub lessons: Vec<Arc<Lesson>>,
    /// Lessons that could not be read: a sentence each.
    pub unread: Vec<String>,
    pub progress: Option<String>,
    pub settings: Option<String>,
    /// A run to go on with, after the page broke.
    pub recovered: Option<String>,
}

/// One learner at work.
#[derive(Debug)]
pub struct Player {
    pub(crate) lessons: Vec<Arc<Lesson>>,
    pub(crate) at: usize,
    start: Start,
    pub(crate) director: Director,
    /// By run of the director.
    pub(crate) films: Vec<Film>,
    /// The director's first run, beside a second one.
    pub(crate) beside: Option<Take>,
    pub(crate) sandbox: Option<Sandbox>,
    parked: Option<Sandbox>,
    pub(crate) playing: bool,
    pub(crate) slowed: bool,
    pub(crate) speed: Speed,
    pub(crate) selected: Option<Selected>,
    pub(crate) size: (u32, u32),
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    pub(crate) notice: Option<Notice>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) all_steps: bool,
    pub(crate) embed: bool,
    /// Raised with every change that the page has to draw anew.
    revision: u64,
    out: Vec<Request>,
    /// Whether the update under way has had its sentence.
    has_spoken: bool,
}

impl Player {
    /// Opens the page. There must be a lesson.
    ///
    /// # Panics
    /// Without a lesson.
    #[must_use]
    pub fn new(opening: Opening) -> Self {
        let Opening {
            start,
            lessons,
            unread,
            progress,
            settings,
            recovered,
        } = opening;
        assert!(!lessons.is_empty(), "the page comes with lessons");
        let mut notices = start.notices.clone();
        notices.extend(unread);
        let mut at = 0;
        if let Some(id) = &start.lesson {
            match lessons.iter().position(|lesson| lesson.id == *id) {
                Some(found) => at = found,
                None => notices.push(format!(
                    "There is no lesson “{}”; this is the first one.",
                    words::shorten(id)
                )),
            }
        }
        let mut settings = Settings::read(settings.as_deref().unwrap_or_default());
        settings.theme = start.theme.unwrap_or(settings.theme);
        settings.motion = start.motion.unwrap_or(settings.motion);
        let (director, trouble) = direct(&lessons[at], &start);
        notices.extend(trouble);
        let mut player = Self {
            films: vec![Film::new(director.world())],
            director,
            lessons,
            at,
            embed: start.embed,
            beside: None,
            sandbox: None,
            parked: None,
            playing: false,
            slowed: false,
            speed: Speed::Whole,
            selected: None,
            size: (900, 400),
            settings,
            progress: Progress::read(progress.as_deref().unwrap_or_default()),
            notice: None,
            dialog: None,
            all_steps: false,
            revision: 0,
            out: Vec::new(),
            has_spoken: false,
            start,
        };
        if let Some(page) = player.start.page.filter(|page| *page > 1) {
            if page <= player.lesson().pages.len() {
                player.go_to_page(page - 1);
            } else {
                notices.push(format!(
                    "This lesson has {} pages; page {page} is not one.",
                    player.lesson().pages.len()
                ));
            }
        }
        if player.start.sandbox {
            player.enter_sandbox();
        }
        if let Some(text) = recovered {
            notices.extend(player.recover(&text));
        }
        player.selected = player.first_actor();
        if !notices.is_empty() {
            // Said with the first update, when somebody can hear it.
            player.complain(notices.join(" "), "");
        }
        player
    }

    /// Takes in what happened and gives back what the page is to do.
    pub fn update(&mut self, msg: Msg) -> Vec<Request> {
        self.has_spoken = false;
        if !matches!(msg, Msg::Elapsed(_)) {
            self.revision += 1;
        }
        match msg {
            Msg::Elapsed(micros) => self.elapse(micros),
            Msg::Toggle => self.toggle(),
            Msg::Next => self.next(),
            Msg::Back => self.back(),
            Msg::StepForward => self.step_forward(),
            Msg::StepBack => self.step_back(),
            Msg::PageStart => self.go_to_start(),
            Msg::Latest => self.go_to_latest(),
            Msg::Seek(to) => self.seek_time(to),
            Msg::SeekEvents(by) => self.seek_events(by),
            Msg::SetSpeed(speed) => self.set_speed(speed),
            Msg::Faster => self.change_speed(1),
            Msg::Slower => self.change_speed(-1),
            Msg::Press => self.press(),
            Msg::Choose(choice) => self.choose(choice),
            Msg::ToQuestion => self.out.push(Request::ShowQuestion),
            Msg::Continue => self.go_on(),
            Msg::PageBack => self.page_back(),
            Msg::GoToPage(page) => self.visit_page(page),
            Msg::Open(id) => self.open(&id),
            Msg::Select(selected) => self.select(selected),
            Msg::Act(commands) => self.act(commands),
            Msg::Say(line) => self.say(&line),
            Msg::Compare(change) => self.compare(change),
            Msg::EndCompare => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.beside = None;
                }
                self.speak("One run is shown again.");
            }
            Msg::Sandbox => {
                self.enter_sandbox();
                self.speak("Sandbox: the run is yours. The lesson waits where you left it.");
            }
            Msg::LeaveSandbox => {
                self.leave_sandbox();
                self.speak("Back in the lesson, where you left it.");
            }
            Msg::SwitchBranch(branch) => self.switch_branch(branch),
            Msg::BeginGoal(id) => self.begin_goal(&id),
            Msg::ShowAllSteps(all) => self.all_steps = all,
            Msg::SetTheme(theme) => self.change_settings(|s| s.theme = theme),
            Msg::SetMotion(motion) => self.change_settings(|s| s.motion = motion),
            Msg::SetShortcuts(on) => self.change_settings(|s| s.shortcuts = on),
            Msg::Show(dialog) => self.show(dialog),
            Msg::Help => self.show(Dialog::Help),
            Msg::Escape => self.escape(),
            Msg::CloseDialog => self.dialog = None,
            Msg::DismissNotice => self.notice = None,
            Msg::CopyLink => {
                let (lesson, page) = (self.lesson().id.clone(), self.director.page() + 1);
                self.out.push(Request::CopyLink { lesson, page });
            }
            Msg::CopyRun => {
                let text = self.run_text();
                self.out.push(Request::Copy {
                    what: "The run",
                    text,
                });
            }
            Msg::SaveRun => {
                let name = format!("{}.run.txt", self.lesson().id);
                let text = self.run_text();
                self.out.push(Request::Save { name, text });
            }
            Msg::Resized { width, height } => self.size = (width, height),
        }
        std::mem::take(&mut self.out)
    }

    /// Changes whenever something other than the passing of time is to be drawn anew.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    #[must_use]
    pub const fn is_playing(&self) -> bool {
        self.playing
    }

    #[must_use]
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    #[must_use]
    pub const fn dialog(&self) -> Option<Dialog> {
        self.dialog
    }

    pub(crate) fn lesson(&self) -> &Arc<Lesson> {
        self.director.lesson()
    }

    pub(crate) const fn in_sandbox(&self) -> bool {
        self.sandbox.is_some()
    }

    /// The history that the controls act on.
    pub(crate) fn history(&self) -> &History {
        match &self.sandbox {
            Some(sandbox) => &sandbox.take.history,
            None => &self.director.run().history,
        }
    }

    pub(crate) fn film(&self) -> &Film {
        match &self.sandbox {
            Some(sandbox) => &sandbox.take.film,
            None => &self.films[self.director.active()],
        }
    }

    pub(crate) fn world(&self) -> &World {
        self.history().world()
    }

    pub(crate) fn names(&self) -> &Names {
        self.world().names()
    }

    /// The worlds on the stages, the controlled one last, each with how far its run has come.
    pub(crate) fn shown_worlds(&self) -> Vec<(&World, SimTime)> {
        let beside = match &self.sandbox {
            Some(sandbox) => sandbox.beside.as_ref(),
            None => self.beside.as_ref(),
        };
        let beside = beside.map(|take| (take.history.world(), take.history.end().at));
        beside
            .into_iter()
            .chain([(self.world(), self.history().end().at)])
            .collect()
    }

    fn first_actor(&self) -> Option<Selected> {
        let kinds = [Kind::Worker, Kind::Server, Kind::Client, Kind::Store];
        kinds
            .iter()
            .find_map(|kind| self.names().of_kind(*kind).next())
            .map(Selected::Process)
    }

    /// Says one sentence an update; the first one counts.
    fn speak(&mut self, sentence: &str) {
        if !self.has_spoken {
            self.has_spoken = true;
            self.out.push(Request::Announce(spoken(sentence)));
        }
    }

    fn complain(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        let notice = Notice {
            what: what.into(),
            remedy: remedy.into(),
        };
        let sentence = if notice.remedy.is_empty() {
            notice.what.clone()
        } else {
            format!("{}; {}.", notice.what, notice.remedy)
        };
        self.speak(&sentence);
        self.notice = Some(notice);
    }
}

// ---------------------------------------------------------------------------------------------
// Playing

impl Player {
    fn toggle(&mut self) {
        if self.playing {
            self.playing = false;
            self.slowed = false;
            let time = text::seconds(self.world().now());
            self.speak(&format!("Stopped at {time} s."));
            return;
        }
        if self.waits() {
            return;
        }
        self.notice = None;
        self.playing = true;
        self.speak("Playing.");
    }

    /// Whether the lesson waits for the learner; says for what.
    fn waits(&mut self) -> bool {
        if self.in_sandbox() {
            return false;
        }
        let what = match self.director.phase() {
            Phase::Running => return false,
            Phase::Stopped { sentence, .. } => {
                let sentence = sentence.map(str::to_owned).unwrap_or_default();
                let button = self.press_label().unwrap_or_default();
                format!("{sentence} The lesson waits for: {button}.")
            }
            Phase::Asking(predict) => {
                format!("The lesson asks for your prediction: {}", predict.question)
            }
            Phase::PageDone => "This page is over. Continue leads to the next.".to_owned(),
            Phase::LessonDone => {
                "The lesson is over. Step back, or play on in a sandbox.".to_owned()
            }
            Phase::Failed(failure) => words::failure(failure).what,
        };
        self.speak(what.trim());
        true
    }

    fn elapse(&mut self, micros: u64) {
        if !self.playing {
            return;
        }
        let mut left = micros;
        for _ in 0..4_096 {
            let rate = self.rate();
            let now = self.world().now();
            let reach = now.plus(leasehold_engine::units::Duration(
                left.saturating_mul(rate) / 1_000,
            ));
            let due = self.history().next_at();
            let to = due.map_or(reach, |due| due.min(reach));
            self.advance(to);
            if !self.playing || to == reach {
                break;
            }
            let spent = to.since(now).0 * 1_000 / rate.max(1);
            left = left.saturating_sub(spent);
            if left == 0 {
                break;
            }
        }
        self.follow_beside();
    }

    /// Simulated microseconds a thousand real ones. A message that matters is slowed to be seen.
    fn rate(&mut self) -> u64 {
        let folded = self.names().of_kind(Kind::Worker).next().is_some();
        let world = self.world();
        let slowest = world
            .in_flight()
            .filter_map(|flight| {
                let real = seen_for(flight.kind, flight.token.is_some(), folded)?;
                let flight_time = flight.arrives_at.since(flight.sent_at).0;
                (flight_time < real).then(|| (flight_time * 1_000 / real).max(1))
            })
            .min();
        let slowed = slowest.is_some();
        if slowed != self.slowed {
            self.slowed = slowed;
            self.revision += 1;
        }
        let base = slowest.unwrap_or(1_000);
        (base * self.speed.permille() / 1_000).max(1)
    }

    /// Plays to a time, taking all steps that are due.
    fn advance(&mut self, to: SimTime) {
        let mut steps = 0;
        if let Some(sandbox) = &mut self.sandbox {
            let Take { history, film, .. } = &mut sandbox.take;
            let trial = &mut sandbox.exercise;
            let mut reached = false;
            history.run_to(to, |step, world| {
                steps += 1;
                film.write(step, world);
                reached |= watch_goal(trial, step, world);
            });
            if reached {
                self.judge_goal();
            }
        } else {
            let films = &mut self.films;
            let active = self.director.active();
            self.director.advance(to, |step, world| {
                steps += 1;
                films[active].write(step, world);
            });
            self.after_director(active);
        }
        if steps > 0 {
            self.revision += 1;
        }
    }

    /// What the director has come to: another run, a stop, a question, the end.
    fn after_director(&mut self, active_before: usize) {
        if self.director.active() != active_before {
            self.begin_second_run();
        }
        if self.playing && self.director.phase() == Phase::PageDone && self.flows_on() {
            self.director.next_page();
            self.note_page();
        }
        if self.director.phase() != Phase::Running {
            self.revision += 1;
            let was_playing = std::mem::replace(&mut self.playing, false);
            self.slowed = false;
            self.keep_progress();
            if was_playing || !self.has_spoken {
                self.waits();
            }
        }
    }

    /// The first run is shown beside the second, which is wound to shortly before the two differ.
    fn begin_second_run(&mut self) {
        let active = self.director.active();
        self.films.truncate(active);
        self.films.push(Film::new(self.director.world()));
        let first = &self.director.runs()[0];
        let label = self.first_label();
        self.beside = Some(Take {
            history: first.history.clone(),
            film: self.films[0].clone(),
            label,
        });
        if let Some(at) = self.difference() {
            let to = SimTime(at.0.saturating_sub(LEAD_IN));
            let films = &mut self.films;
            self.director
                .advance(to, |step, world| films[active].write(step, world));
        }
        self.follow_beside();
        self.revision += 1;
    }

    /// The name of the first run, by what the second changes.
    fn first_label(&self) -> Option<String> {
        let change = self.director.run().change.as_ref()?;
        let world = self.director.runs()[0].history.world();
        let position = match change
            .at
            .as_deref()
            .and_then(|name| world.names().find(name))
        {
            Some(id) => world.switches(id).get(change.switch),
            None => world.world_switch(change.switch),
        };
        let first = Change {
            position,
            ..change.clone()
        };
        Some(change_label(&first))
    }

    /// When the second run first goes another way than the first, by what is worth seeing.
    fn difference(&self) -> Option<SimTime> {
        let mut ahead = self.director.clone();
        let active = ahead.active();
        let mut step = Step::empty();
        let mut new = Vec::new();
        for _ in 0..STEPS_MAX {
            if !ahead.step(&mut step) || ahead.active() != active {
                break;
            }
            if tells(&step) {
                new.push(step.clone());
            }
        }
        let mut old = self.director.runs()[0].history.clone();
        let end = old.end();
        old.seek(StepNumber(0));
        let mut new = new.into_iter();
        while old.position().step < end.step && old.step(&mut step) {
            if !tells(&step) {
                continue;
            }
            match new.next() {
                Some(other) if same(&other, &step) => {}
                Some(other) => return Some(other.at.min(step.at)),
                None => return Some(step.at),
            }
        }
        new.next().map(|step| step.at)
    }

    fn follow_beside(&mut self) {
        let now = self.world().now();
        let beside = match &mut self.sandbox {
            Some(sandbox) => sandbox.beside.as_mut(),
            None => self.beside.as_mut(),
        };
        if let Some(take) = beside {
            let before = take.history.position().step;
            take.follow(now);
            if take.history.position().step != before {
                self.revision += 1;
            }
        }
    }

    fn set_speed(&mut self, speed: Speed) {
        self.speed = speed;
        self.speak(&format!("Speed {}", speed.label()));
    }

    fn change_speed(&mut self, by: i32) {
        let here = Speed::ALL
            .iter()
            .position(|s| *s == self.speed)
            .unwrap_or(0) as i32;
        let there = (here + by).clamp(0, Speed::ALL.len() as i32 - 1);
        self.set_speed(Speed::ALL[there as usize]);
    }
}

/// How long, in real microseconds, a message that matters is to be seen on its way.
const fn seen_for(kind: MessageKind, has_token: bool, folded: bool) -> Option<u64> {
    match kind {
        MessageKind::Write => Some(900_000),
        MessageKind::WriteAnswer => Some(700_000),
        MessageKind::AcquireAnswer if has_token => Some(600_000),
        MessageKind::RequestVote
        | MessageKind::Vote
        | MessageKind::PreVote
        | MessageKind::PreVoteAnswer
        | MessageKind::TimeoutNow
        | MessageKind::Append
        | MessageKind::Snapshot
        | MessageKind::Put
        | MessageKind::PutAnswer
        | MessageKind::Get
        | MessageKind::GetAnswer
        | MessageKind::ReadIndex
        | MessageKind::ReadIndexAnswer
            if !folded =>
        {
            Some(450_000)
        }
        MessageKind::RequestVote
        | MessageKind::Vote
        | MessageKind::PreVote
        | MessageKind::PreVoteAnswer
        | MessageKind::TimeoutNow
        | MessageKind::Heartbeat
        | MessageKind::Append
        | MessageKind::AppendAnswer
        | MessageKind::Snapshot
        | MessageKind::Acquire
        | MessageKind::AcquireAnswer
        | MessageKind::Renew
        | MessageKind::RenewAnswer
        | MessageKind::Release
        | MessageKind::ReleaseAnswer
        | MessageKind::Put
        | MessageKind::PutAnswer
        | MessageKind::Get
        | MessageKind::GetAnswer
        | MessageKind::Register
        | MessageKind::RegisterAnswer
        | MessageKind::ReadIndex
        | MessageKind::ReadIndexAnswer => None,
    }
}

/// Whether a step tells two runs apart: commands are given alike to both.
fn tells(step: &Step) -> bool {
    use leasehold_engine::event::Event;
    let is_switch = step
        .events()
        .any(|event| matches!(event, Event::SwitchSet { .. }));
    !step.facts.is_empty() && !is_switch
}

/// The same for a learner: the same process, the same facts; the rule may differ where the outcome
/// does not.
fn same(a: &Step, b: &Step) -> bool {
    a.process == b.process && a.events().eq(b.events())
}

fn watch_goal(trial: &mut Option<Trial>, step: &Step, world: &World) -> bool {
    let Some(trial) = trial
        .as_mut()
        .filter(|t| !matches!(t.grade, Some(Grade::Reached { .. })))
    else {
        return false;
    };
    trial.watch.show(step, world);
    trial.watch.holds(world) != trial.exercise.goal().reach.negated
}

// ---------------------------------------------------------------------------------------------
// Stepping

impl Player {
    /// Takes one step; false when the lesson waits or nothing is left.
    fn take_step(&mut self, step: &mut Step) -> bool {
        if let Some(sandbox) = &mut self.sandbox {
            let Take { history, film, .. } = &mut sandbox.take;
            if !history.step(step) {
                return false;
            }
            film.write(step, history.world());
            if watch_goal(&mut sandbox.exercise, step, history.world()) {
                self.judge_goal();
            }
            return true;
        }
        let active = self.director.active();
        let stepped = self.director.step(step);
        if stepped {
            self.films[active].write(step, self.director.run().history.world());
        }
        if self.director.active() != active {
            self.begin_second_run();
        }
        stepped
    }

    fn is_notable(&self, step: StepNumber) -> bool {
        self.film().is_worth(step)
    }

    fn next(&mut self) {
        self.playing = false;
        if self.waits() {
            return;
        }
        self.notice = None;
        let mut step = Step::empty();
        let limit = self.world().now().0 + NEXT_WITHIN;
        for _ in 0..STEPS_MAX {
            let stepped = self.take_step(&mut step);
            let is_running = self.in_sandbox() || self.director.phase() == Phase::Running;
            if stepped && self.is_notable(step.number) {
                self.speak_step(&step);
                break;
            }
            if !is_running || (!stepped && self.in_sandbox()) || limit < self.world().now().0 {
                break;
            }
        }
        self.after_step();
    }

    fn step_forward(&mut self) {
        self.playing = false;
        if self.waits() {
            return;
        }
        let mut step = Step::empty();
        if self.take_step(&mut step) {
            self.speak_step(&step);
        }
        self.after_step();
    }

    fn after_step(&mut self) {
        self.slowed = false;
        if !self.in_sandbox() {
            self.after_director(self.director.active());
        }
        self.follow_beside();
    }

    fn speak_step(&mut self, step: &Step) {
        let names = self.names();
        let sentence = match step.facts.first() {
            Some(fact) => words::event(&fact.event, step.process, names),
            None => words::step_kind(&step.kind, step.process, names),
        };
        self.speak(&format!("{} s: {sentence}", text::seconds(step.at)));
    }

    fn back(&mut self) {
        self.playing = false;
        let here = self.history().position().step;
        let film = self.film();
        let before = film.last_before(StepNumber(here.0.saturating_sub(1)));
        // With nothing before, the run's zero.
        let to = before.map_or(StepNumber(0), |step| StepNumber(step.number.0 + 1));
        self.seek(to);
        self.speak_position();
    }

    fn step_back(&mut self) {
        self.playing = false;
        let here = self.history().position().step;
        self.seek(StepNumber(here.0.saturating_sub(1)));
        self.speak_position();
    }

    fn seek(&mut self, to: StepNumber) {
        self.slowed = false;
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.take.history.seek(to);
        } else {
            self.director.seek(self.director.active(), to);
        }
        self.follow_beside();
    }

    fn speak_position(&mut self) {
        let position = self.history().position();
        let time = text::seconds(position.at);
        let last = position.step.0.checked_sub(1).map(StepNumber);
        let sentence = last.and_then(|n| {
            let step = self.film().last_before(StepNumber(n.0 + 1))?;
            let fact = step.facts.first()?;
            Some(words::event(&fact.event, step.process, self.names()))
        });
        match sentence {
            Some(sentence) => self.speak(&format!("{time} s. Last: {sentence}")),
            None => self.speak(&format!("{time} s.")),
        }
    }

    fn go_to_start(&mut self) {
        self.playing = false;
        self.slowed = false;
        if let Some(sandbox) = &mut self.sandbox {
            let began = sandbox.began.min(sandbox.take.history.end().step);
            sandbox.take.history.seek(began);
            self.follow_beside();
            self.speak("At the beginning of your run.");
        } else {
            let page = self.director.page();
            self.director.seek_page(page);
            self.drop_later_runs();
            self.speak("At the beginning of the page.");
        }
    }

    fn go_to_latest(&mut self) {
        self.playing = false;
        let end = self.history().end();
        self.seek(end.step);
        self.reach(end.at);
        self.speak_position();
    }

    fn seek_time(&mut self, to: SimTime) {
        self.playing = false;
        let to = to.min(self.history().end().at);
        self.seek(self.steps_by(to));
        self.reach(to);
        self.speak_position();
    }

    /// Moves the clock on to a time that is not beyond the run, where no step stands between.
    fn reach(&mut self, to: SimTime) {
        let quiet = self.history().next_at().is_none_or(|due| to < due);
        if self.world().now() < to && quiet {
            if let Some(sandbox) = &mut self.sandbox {
                sandbox.take.history.advance(to);
            } else if self.director.phase() == Phase::Running {
                self.director.advance(to, |_, _| {});
            }
        }
        self.follow_beside();
    }

    /// How many steps are taken by a time, that time included.
    fn steps_by(&self, to: SimTime) -> StepNumber {
        let (mut low, mut high) = (0, self.history().end().step.0);
        while low < high {
            let middle = low + (high - low) / 2;
            if self
                .history()
                .entry(StepNumber(middle))
                .is_some_and(|entry| entry.at <= to)
            {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        StepNumber(low)
    }

    fn seek_events(&mut self, by: i32) {
        self.playing = false;
        let end = self.history().end().step.0;
        let mut at = self.history().position().step.0;
        for _ in 0..by.unsigned_abs() {
            if (by < 0 && at == 0) || (by > 0 && at == end) {
                break;
            }
            let film = self.film();
            at = if by > 0 {
                let next = film.log().get(film.worth_before(StepNumber(at)));
                next.map_or(end, |step| step.number.0 + 1).min(end)
            } else {
                let before = film.last_before(StepNumber(at.saturating_sub(1)));
                before.map_or(0, |step| step.number.0 + 1)
            };
        }
        self.seek(StepNumber(at));
        self.speak_position();
    }
}

// ---------------------------------------------------------------------------------------------
// The lesson

impl Player {
    pub(crate) fn press_label(&self) -> Option<String> {
        if self.in_sandbox() {
            return None;
        }
        let Phase::Stopped { press, .. } = self.director.phase() else {
            return None;
        };
        Some(match press {
            None => "Go on".to_owned(),
            Some(Press::Act(command)) => command_label(command),
            Some(Press::Again(change)) => format!("Same run, {}", change_label(change)),
        })
    }

    fn press(&mut self) {
        if self.in_sandbox() {
            return;
        }
        let Some(label) = self.press_label() else {
            self.waits();
            return;
        };
        self.notice = None;
        let active = self.director.active();
        let mut step = Step::empty();
        if self.director.press(&mut step) {
            self.films[active].write(&step, self.director.run().history.world());
            self.speak_step(&step);
        } else {
            self.speak(&format!("{label}."));
        }
        self.mirror();
        // Who presses wants to see what comes of it.
        self.playing = true;
        let was_playing_on = self.director.active();
        if was_playing_on != active {
            self.begin_second_run();
        }
        self.after_director(was_playing_on);
    }

    fn choose(&mut self, choice: usize) {
        if self.in_sandbox() {
            self.leave_sandbox();
        }
        let Phase::Asking(predict) = self.director.phase() else {
            return;
        };
        let Some(chosen) = predict.choices.get(choice) else {
            return;
        };
        let sentence = format!("You predict: {}", chosen.text);
        let (id, lesson) = (predict.id.clone(), self.lesson().id.clone());
        self.progress
            .lesson(&lesson)
            .predictions
            .insert(id, choice as u64 + 1);
        self.speak(&sentence);
        self.director.choose(choice);
        self.keep_progress();
        self.playing = self.director.phase() == Phase::Running;
    }

    /// Whether the page asks something that has not been answered.
    pub(crate) fn has_open_question(&self) -> bool {
        let page = self.director.page();
        let open = |p: leasehold_lesson::director::Prediction<'_>| {
            p.chosen.is_none() && p.came_true.is_none()
        };
        let on_page = |id: &str| {
            self.lesson().pages[page].blocks.iter().any(
                |block| matches!(block, leasehold_lesson::lesson::Block::Predict(p) if p.id == id),
            )
        };
        self.director
            .predictions()
            .any(|p| on_page(&p.predict.id) && open(p))
    }

    fn go_on(&mut self) {
        if self.in_sandbox() {
            self.leave_sandbox();
            self.speak("Back in the lesson, where you left it.");
            return;
        }
        if self.director.phase() == Phase::LessonDone {
            match self
                .lessons
                .get(self.at + 1)
                .map(|lesson| lesson.id.clone())
            {
                Some(next) => self.open(&next),
                None => self.speak("This was the last lesson."),
            }
            return;
        }
        if self.has_open_question() {
            self.waits();
            self.speak("This page asks for your prediction before it goes on. Press Play.");
            return;
        }
        let page = self.director.page();
        if self.director.phase() == Phase::PageDone {
            self.director.next_page();
            self.after_page();
            // The film that was running goes on.
            self.playing = self.director.phase() == Phase::Running && self.has_directives();
            if !self.playing {
                self.waits();
            }
        } else if page + 1 < self.lesson().pages.len() {
            self.go_to_page(page + 1);
            self.after_page();
        } else {
            self.pass_to_end();
        }
    }

    /// Whether the film plays on over the page's end: when the page has nothing more to say, and
    /// the next one goes on with the same run.
    fn flows_on(&self) -> bool {
        use leasehold_lesson::lesson::{Block, Do};
        let pages = &self.lesson().pages;
        let here = self.director.page();
        let said = pages[here]
            .blocks
            .iter()
            .rev()
            .find(|b| matches!(b, Block::Prose(_) | Block::Goal(_) | Block::Run(_)));
        let next = pages.get(here + 1).map(|page| &page.blocks);
        let first = next.and_then(|blocks| {
            blocks.iter().find_map(|block| match block {
                Block::Run(directives) => directives.first(),
                Block::Prose(_)
                | Block::Watch(_)
                | Block::Expect(_)
                | Block::Predict(_)
                | Block::Goal(_) => None,
            })
        });
        matches!(said, Some(Block::Run(_)))
            && first.is_some_and(|d| !matches!(d.what, Do::Again(_)))
    }

    fn has_directives(&self) -> bool {
        let page = self.director.page();
        let blocks = &self.lesson().pages[page].blocks;
        blocks
            .iter()
            .any(|block| matches!(block, leasehold_lesson::lesson::Block::Run(_)))
    }

    /// On the last page, not yet over: nothing to skip to.
    fn pass_to_end(&mut self) {
        self.waits();
        self.speak("This is the last page. Press Play.");
    }

    fn after_page(&mut self) {
        self.notice = None;
        let page = self.director.page();
        let heading = self.lesson().pages[page].heading.clone();
        self.speak(&format!("Page {}: {heading}", page + 1));
        self.note_page();
    }

    /// The address, the progress and the mirror follow the page.
    fn note_page(&mut self) {
        self.revision += 1;
        self.keep_progress();
        let page = self.director.page();
        let lesson = self.lesson().id.clone();
        if !self.embed {
            self.out.push(Request::SetLink {
                lesson,
                page: page + 1,
            });
        }
        self.mirror();
    }

    fn page_back(&mut self) {
        if self.in_sandbox() {
            self.leave_sandbox();
        }
        let page = self.director.page();
        if page == 0 {
            self.go_to_start();
            return;
        }
        self.visit_page(page - 1);
    }

    fn visit_page(&mut self, page: usize) {
        if self.in_sandbox() {
            self.leave_sandbox();
        }
        if page < self.lesson().pages.len() {
            self.go_to_page(page);
            self.after_page();
        }
    }

    fn go_to_page(&mut self, page: usize) {
        self.playing = false;
        self.slowed = false;
        self.director.seek_page(page);
        self.films = self
            .director
            .runs()
            .iter()
            .map(|run| Film::of(&mut run.history.clone()))
            .collect();
        self.drop_later_runs();
        self.revision += 1;
    }

    /// Leaves the second run out when the director has gone back before it, and shows it when it is
    /// there.
    fn drop_later_runs(&mut self) {
        if self.director.active() == 0 {
            self.beside = None;
            return;
        }
        if self.beside.is_none() {
            let label = self.first_label();
            let history = self.director.runs()[0].history.clone();
            self.beside = Some(Take::new(history, label));
        }
        self.follow_beside();
    }

    fn open(&mut self, id: &str) {
        let Some(at) = self.lessons.iter().position(|lesson| lesson.id == id) else {
            return;
        };
        let start = Start {
            page: None,
            ..self.start.clone()
        };
        let start = if at == self.at {
            start
        } else {
            Start {
                seed: None,
                lease: None,
                ..start
            }
        };
        let (director, _) = direct(&self.lessons[at], &start);
        self.at = at;
        self.films = vec![Film::new(director.world())];
        self.director = director;
        self.beside = None;
        self.sandbox = None;
        self.parked = None;
        self.playing = false;
        self.slowed = false;
        self.dialog = None;
        self.notice = None;
        self.selected = self.first_actor();
        let title = self.lesson().title.clone();
        self.speak(&format!("Lesson: {title}"));
        self.after_page();
    }

    fn keep_progress(&mut self) {
        let id = self.lesson().id.clone();
        let page = self.director.page() as u64 + 1;
        let is_done = self.director.phase() == Phase::LessonDone;
        let done = self.progress.lesson(&id);
        done.page = done.page.max(page);
        done.finished |= is_done;
        if !self.embed {
            self.out.push(Request::KeepProgress(self.progress.text()));
        }
    }
}

/// The director of a lesson, with what the address asks for; and what could not be had.
fn direct(lesson: &Arc<Lesson>, start: &Start) -> (Director, Option<String>) {
    let mut setup = lesson.setup.clone();
    setup.seed = start.seed.unwrap_or(setup.seed);
    setup.lease = start.lease.unwrap_or(setup.lease);
    if setup == lesson.setup {
        return (Director::new(Arc::clone(lesson)), None);
    }
    match setup.validate() {
        Ok(_) => {
            let options = Options {
                setup: Some(setup),
                lenient: true,
                ..Options::default()
            };
            (Director::with(Arc::clone(lesson), options), None)
        }
        Err(error) => {
            let trouble = words::setup_error(&error);
            let notice = format!(
                "The address asks for a world that cannot be: {}.",
                trouble.what
            );
            (Director::new(Arc::clone(lesson)), Some(notice))
        }
    }
}

/// A command as a button says it: processes sleep and wake.
#[must_use]
pub fn command_label(command: &Command) -> String {
    match command {
        Command::Pause { process } => format!("Put {process} to sleep"),
        Command::PauseBeforeSend { process } => {
            format!("Put {process} to sleep before its next send")
        }
        Command::Resume { process } => format!("Wake {process}"),
        Command::Crash { process } => format!("Crash {process}"),
        Command::Restart { process } => format!("Restart {process}"),
        Command::Partition { groups } => {
            let groups: Vec<String> = groups.iter().map(|g| g.join(" ")).collect();
            format!("Part {}", groups.join(" from "))
        }
        Command::Cut {
            from,
            to,
            both: true,
        } => format!("Cut {from} off from {to}"),
        Command::Cut {
            from,
            to,
            both: false,
        } => format!("Cut {from} → {to}"),
        Command::Heal => "Heal all links".to_owned(),
        Command::HealLink {
            from,
            to,
            both: true,
        } => format!("Heal {from} ↔ {to}"),
        Command::HealLink {
            from,
            to,
            both: false,
        } => format!("Heal {from} → {to}"),
        Command::Disk { process, act } => format!("Disk of {process}: {act}"),
        Command::Write {
            process,
            store,
            value,
            op: _,
        } => format!("Let {process} write “{value}” to {store}"),
        Command::Put { client, key, value } => format!("Let {client} put {key} = {value}"),
        Command::Get {
            client,
            key,
            at,
            stale,
        } => {
            let at = at
                .as_ref()
                .map_or(String::new(), |name| format!(" at {name}"));
            let mark = if *stale { " as it stands" } else { "" };
            format!("Let {client} get {key}{mark}{at}")
        }
        Command::Acquire { worker, resource } => format!("Let {worker} ask for {resource}"),
        Command::Release { worker } => format!("Let {worker} give the lease back"),
        Command::Raise { resource, to } => format!("Go on above token {to} of {resource}"),
        Command::Campaign { server } => format!("Let {server} stand for election"),
        Command::Transfer { from, to } => format!("Let {from} hand over to {to}"),
        Command::Compact { server } => format!("Let {server} keep a snapshot"),
        Command::Change { .. } => format!("Change the membership: {command}"),
        Command::Set {
            switch,
            position,
            at,
        } => {
            let at = at
                .as_ref()
                .map_or_else(String::new, |name| format!(" at {name}"));
            format!("Switch {}{at}", words::position(*switch, *position))
        }
        Command::Ring { .. }
        | Command::Drop { .. }
        | Command::Deliver { .. }
        | Command::Duplicate { .. }
        | Command::Delay { .. }
        | Command::Latency { .. }
        | Command::Loss { .. }
        | Command::ClockRate { .. }
        | Command::ClockJump { .. } => {
            // Commands begin with an ASCII letter; Unicode's tables of letters are 24 KB.
            let mut text = command.to_string();
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            text
        }
    }
}

/// A change as a button and a caption say it: the fence is the gate.
#[must_use]
pub fn change_label(change: &Change) -> String {
    let at = change
        .at
        .as_ref()
        .map_or_else(String::new, |name| format!(" at {name}"));
    if change.switch == Switch::Fence {
        return format!("gate {}{at}", gate_word(change.position));
    }
    let name = change.switch.name().replace('_', " ");
    format!("{name} {}{at}", change.switch.word(change.position))
}

/// What the stage calls the fence's positions.
#[must_use]
pub const fn gate_word(position: Position) -> &'static str {
    match position {
        Position::Off => "open",
        Position::Observe => "observing",
        Position::On => "on",
    }
}

// ---------------------------------------------------------------------------------------------
// The sandbox

impl Player {
    fn enter_sandbox(&mut self) {
        if self.in_sandbox() {
            return;
        }
        self.playing = false;
        self.slowed = false;
        let parked = self.parked.take();
        self.sandbox = Some(parked.unwrap_or_else(|| self.new_sandbox()));
    }

    fn new_sandbox(&self) -> Sandbox {
        let history = self.director.run().history.clone();
        let film = self.films[self.director.active()].clone();
        let began = history.position().step;
        let take = Take {
            history,
            film,
            label: None,
        };
        Sandbox {
            take,
            began,
            beside: None,
            exercise: None,
        }
    }

    fn leave_sandbox(&mut self) {
        self.playing = false;
        self.slowed = false;
        self.notice = None;
        self.parked = self.sandbox.take();
        self.follow_beside();
        if !self
            .names()
            .ids()
            .any(|id| self.selected == Some(Selected::Process(id)))
        {
            self.selected = self.first_actor();
        }
    }

    fn select(&mut self, selected: Option<Selected>) {
        self.selected = selected;
        let sentence = match selected {
            Some(Selected::Process(id)) => format!(
                "{} is selected; the tools act on it.",
                self.names().name(id)
            ),
            Some(Selected::Link(a, b)) => {
                format!(
                    "The link between {} and {} is selected.",
                    self.end_name(a),
                    self.end_name(b)
                )
            }
            None => "Nothing is selected.".to_owned(),
        };
        self.speak(&sentence);
    }

    pub(crate) fn end_name(&self, end: End) -> String {
        match end {
            End::Service => "the service".to_owned(),
            End::Process(id) => self.names().name(id).to_owned(),
        }
    }

    fn say(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        match line.parse::<Command>() {
            Ok(command) => self.act(vec![command]),
            Err(error) => {
                let trouble = words::parse_error(&error);
                let what = format!("Column {}: {}", error.column, trouble.what);
                self.complain(what, trouble.remedy);
            }
        }
    }

    /// Carries commands out. What the lesson asks for is its press; all else is the learner's own
    /// run.
    fn act(&mut self, commands: Vec<Command>) {
        if commands.is_empty() {
            return;
        }
        if !self.in_sandbox() {
            let asked = matches!(
                self.director.phase(),
                Phase::Stopped { press: Some(Press::Act(command)), .. } if commands == [command.clone()]
            );
            if asked {
                self.press();
                return;
            }
        }
        let was_playing = self.playing;
        let own = self.sandbox.is_none();
        let mut sandbox = self.sandbox.take().unwrap_or_else(|| self.new_sandbox());
        let mut step = Step::empty();
        let mut acted = 0;
        let mut sentence = String::new();
        let mut trouble = None;
        for command in commands {
            let past = !sandbox.take.history.at_end();
            match sandbox.take.history.act(command.clone(), &mut step) {
                Ok(()) => {
                    if past {
                        sandbox.take.film = Film::of(&mut sandbox.take.history);
                    } else {
                        sandbox.take.film.write(&step, sandbox.take.history.world());
                    }
                    let trial = &mut sandbox.exercise;
                    let _ = watch_goal(trial, &step, sandbox.take.history.world());
                    acted += 1;
                    let names = sandbox.take.history.world().names();
                    if let (1, Some(fact)) = (acted, step.facts.first()) {
                        sentence = words::event(&fact.event, step.process, names);
                    }
                }
                Err(error) => {
                    trouble = Some(words::command_error(&error));
                    break;
                }
            }
        }
        if acted > 0 || !own {
            self.sandbox = Some(sandbox);
        }
        if let Some(trouble) = trouble {
            self.complain(trouble.what, trouble.remedy);
        } else {
            self.notice = None;
            let note = if own { " The run is now your own." } else { "" };
            self.speak(&format!("{sentence}{note}"));
        }
        if acted > 0 {
            self.playing = was_playing;
            self.mirror();
            self.refresh_grade();
        }
        self.follow_beside();
    }

    fn switch_branch(&mut self, branch: BranchId) {
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
        sandbox.take.history.switch_to(branch);
        sandbox.take.film = film_of_branch(&mut sandbox.take.history);
        self.playing = false;
        self.mirror();
        self.speak_position();
    }

    fn begin_goal(&mut self, id: &str) {
        let lesson = Arc::clone(self.lesson());
        let Some(goal) = lesson.goals().find(|goal| goal.id == id) else {
            return;
        };
        match Exercise::new(&lesson, goal) {
            Ok(exercise) => {
                let history = exercise.start().clone();
                let began = history.position().step;
                let take = Take::new(history, None);
                let trial = Trial {
                    watch: exercise.watch(),
                    exercise,
                    grade: None,
                };
                self.sandbox = Some(Sandbox {
                    take,
                    began,
                    beside: None,
                    exercise: Some(trial),
                });
                self.playing = false;
                self.speak("Your turn. The run is yours; the goal is judged as you go.");
                self.mirror();
            }
            Err(failure) => {
                let trouble = words::failure(&failure);
                self.complain(trouble.what, trouble.remedy);
            }
        }
    }

    fn judge_goal(&mut self) {
        self.refresh_grade();
        let Some(trial) = self.sandbox.as_ref().and_then(|s| s.exercise.as_ref()) else {
            return;
        };
        let id = trial.exercise.goal().id.clone();
        match &trial.grade {
            Some(Grade::Reached { at, .. }) => {
                let time = text::seconds(*at);
                self.playing = false;
                self.speak(&format!("Goal reached at {time} s."));
                let lesson = self.lesson().id.clone();
                self.progress.lesson(&lesson).goals.insert(id);
                self.keep_progress();
            }
            Some(Grade::OverBudget(sentence)) => {
                let sentence = sentence.clone();
                self.playing = false;
                self.speak(&sentence);
            }
            Some(Grade::NotReached | Grade::OtherStart) | None => {}
        }
    }

    fn refresh_grade(&mut self) {
        if let Some(sandbox) = &mut self.sandbox
            && let Some(trial) = &mut sandbox.exercise
        {
            trial.grade = Some(trial.exercise.grade(&sandbox.take.history));
        }
    }

    /// The same commands with one thing changed, shown beside the run as it is.
    fn compare(&mut self, change: Change) {
        let old = self.history().clone();
        let old_label = {
            let world = old.world();
            let position = match change
                .at
                .as_deref()
                .and_then(|name| world.names().find(name))
            {
                Some(id) => world.switches(id).get(change.switch),
                None => world.world_switch(change.switch),
            };
            change_label(&Change {
                position,
                ..change.clone()
            })
        };
        let setup = changed(old.world().setup().clone(), &change);
        let Ok(mut new) = History::new(setup) else {
            return;
        };
        let mut step = Step::empty();
        if let Some(name) = &change.at {
            let set = Command::Set {
                switch: change.switch,
                position: change.position,
                at: Some(name.clone()),
            };
            let _ = new.act(set, &mut step);
        }
        let until = old.position().at;
        for (position, command) in old.commands() {
            if until < position.at {
                break;
            }
            new.run_to(position.at, |_, _| {});
            // What the change has made impossible is left out, as in a lesson's second run.
            let _ = new.act(command.clone(), &mut step);
        }
        new.run_to(until, |_, _| {});
        let label = Some(change_label(&change));
        self.playing = false;
        let began = StepNumber(0);
        let beside = Take::new(old, Some(old_label));
        let take = Take::new(new, label);
        self.sandbox = Some(Sandbox {
            take,
            began,
            beside: Some(beside),
            exercise: None,
        });
        self.mirror();
        self.speak(&format!(
            "The same run with {} is shown beside the first.",
            change_label(&change)
        ));
    }

    fn mirror(&mut self) {
        let text = self.run_text();
        self.out.push(Request::Mirror(text));
    }

    fn run_text(&self) -> String {
        self.history().export().to_string()
    }

    /// Goes on with a run that was kept; says what went wrong with it.
    fn recover(&mut self, text: &str) -> Option<String> {
        let file: RunFile = match text.parse() {
            Ok(file) => file,
            Err(_) => return Some("The run that was kept cannot be read.".to_owned()),
        };
        match History::import(&file) {
            Ok(Imported { history, .. }) => {
                let began = StepNumber(0);
                let take = Take::new(history, None);
                self.sandbox = Some(Sandbox {
                    take,
                    began,
                    beside: None,
                    exercise: None,
                });
                Some("This is the run from before the page broke.".to_owned())
            }
            Err(error) => Some(import_trouble(&error)),
        }
    }
}

fn import_trouble(error: &ImportError) -> String {
    let why = match error {
        ImportError::Version { .. } => "it is from another version".to_owned(),
        ImportError::Setup(error) => words::setup_error(error).what,
        ImportError::Command { place, error } => {
            format!("command {place}: {}", words::parse_error(error).what)
        }
    };
    format!("The run that was kept cannot be played again: {why}.")
}

/// A setup with one switch turned for the whole world; for one process it is a command.
fn changed(mut setup: Setup, change: &Change) -> Setup {
    if change.at.is_none() {
        let name = change.switch.name();
        setup.switches.retain(|(switch, _)| switch != name);
        setup.switches.push((
            name.to_owned(),
            change.switch.word(change.position).to_owned(),
        ));
    }
    setup
}

/// The film of a branch to its end, with the cursor left where it is.
fn film_of_branch(history: &mut History) -> Film {
    let here = history.position();
    let end = history.end();
    history.seek(end.step);
    let film = Film::of(history);
    history.seek(here.step);
    if history.position().at < here.at {
        history.advance(here.at);
    }
    film
}

// ---------------------------------------------------------------------------------------------
// The page around it

impl Player {
    fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        let text = self.settings.text();
        self.out.push(Request::KeepSettings(text));
        self.speak("Set.");
    }

    fn show(&mut self, dialog: Dialog) {
        self.playing = false;
        self.dialog = Some(dialog);
    }

    fn escape(&mut self) {
        if self.dialog.take().is_none() && self.notice.take().is_none() && self.selected.is_some() {
            self.select(None);
        }
    }
}
