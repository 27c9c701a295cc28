//! Holds a lesson to its word: plays it whole and says what in it is not so.
//!
//! A strict but fair examiner: it takes nothing from the author but the claims, and it also asks
//! whether each command was needed and each goal takes doing. Whether the prose is any good is
//! beyond it.

use std::sync::Arc;

use leasehold_engine::event::Step;
use leasehold_engine::units::Duration;

use crate::director::{Director, Failure, Options, Phase, caption_lines};
use crate::goal::{Exercise, Grade};
use crate::lesson::{Address, Do, Goal, Lesson, Press, Stated};
use crate::place::{Diagnostic, Place};
use crate::script;
use crate::words::{self, Trouble};

/// How long a goal's world is left alone to see whether it comes about by itself.
const IDLE: Duration = Duration::secs(60);

/// Finds the proof of a goal by the lesson's and the goal's id: its file's name and text, or the
/// name alone.
pub type Proofs<'a> = &'a dyn Fn(&str, &str) -> (String, Option<String>);

/// What became of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub claims: usize,
    /// How many of the claims are false.
    pub false_claims: usize,
    /// Everything that is wrong, in the order of the file.
    pub faults: Vec<Diagnostic>,
    /// Each question's id with the choice that came true.
    pub came_true: Vec<(String, usize)>,
}

/// A claim turned round, and whether the judge saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negated {
    pub place: Place,
    pub claim: String,
    pub is_found: bool,
}

/// Judges everything but whether each command is needed.
#[must_use]
pub fn judge(lesson: &Arc<Lesson>, proofs: Proofs<'_>) -> Report {
    let played = play(lesson, Options::default());
    let mut faults = played.faults(lesson);
    for goal in lesson.goals() {
        faults.extend(judge_goal(lesson, goal, proofs));
    }
    let claims = lesson.claims();
    let is_false = |stated: &&&Stated| faults.iter().any(|fault| fault.place == stated.place);
    let false_claims = claims.iter().filter(is_false).count();
    let came_true = played.director.predictions().filter_map(|prediction| {
        let choice = prediction.came_true?.iter().position(|is_true| *is_true)?;
        Some((prediction.predict.id.clone(), choice))
    });
    let came_true = came_true.collect();
    faults.sort();
    Report {
        claims: claims.len(),
        false_claims,
        faults,
        came_true,
    }
}

/// The commands without which every claim would still hold.
#[must_use]
pub fn needless(lesson: &Arc<Lesson>) -> Vec<Diagnostic> {
    let whole = play(lesson, Options::default());
    let commands = lesson.directives().filter_map(|(at, directive)| {
        let text = match &directive.what {
            Do::Act(command)
            | Do::Stop {
                press: Some(Press::Act(command)),
                ..
            } => command.to_string(),
            Do::Again(change)
            | Do::Stop {
                press: Some(Press::Again(change)),
                ..
            } => {
                format!("again with {}", words::change(change))
            }
            Do::RunFor(_) | Do::RunUntil { .. } | Do::Stop { press: None, .. } => return None,
        };
        Some((at, directive.place, text))
    });
    let mut faults = Vec::new();
    for (at, place, text) in commands {
        if whole.claims_as_well_without(lesson, at) {
            faults.push(fault(
                lesson,
                place,
                format!("without `{text}` every claim would still hold"),
                "take it out, or claim what it changes",
            ));
        }
    }
    faults
}

/// Turns each claim round in turn and looks whether it is found false, at its place.
#[must_use]
pub fn negate_each(lesson: &Arc<Lesson>, proofs: Proofs<'_>) -> Vec<Negated> {
    let claims: Vec<(Place, String)> = lesson
        .claims()
        .iter()
        .map(|stated| (stated.place, stated.claim.to_string()))
        .collect();
    let turn = |(place, claim): (Place, String)| {
        let mut turned = Lesson::clone(lesson);
        if let Some(stated) = turned.claim_mut(place) {
            stated.negated = true;
        }
        let report = judge(&Arc::new(turned), proofs);
        let is_found = report.faults.iter().any(|fault| fault.place == place);
        Negated {
            place,
            claim,
            is_found,
        }
    };
    claims.into_iter().map(turn).collect()
}

/// The same lesson with another seed.
#[must_use]
pub fn with_seed(lesson: &Lesson, seed: u64) -> Arc<Lesson> {
    let mut other = lesson.clone();
    other.setup.seed = seed;
    Arc::new(other)
}

/// A lesson played to its end, or to where it could not go on.
struct Played {
    director: Director,
}

fn play(lesson: &Arc<Lesson>, options: Options) -> Played {
    let mut director = Director::with(Arc::clone(lesson), options);
    director.pass_until(|director| director.phase() == Phase::LessonDone);
    Played { director }
}

impl Played {
    fn faults(&self, lesson: &Lesson) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        if let Phase::Failed(failure) = self.director.phase() {
            let Trouble { what, remedy } = words::failure(failure);
            faults.push(fault(lesson, failure.place(), what, remedy));
        }
        for verdict in self
            .director
            .verdicts()
            .iter()
            .filter(|verdict| !verdict.holds)
        {
            faults.push(fault(
                lesson,
                verdict.place,
                format!("`{}` is false", verdict.claim),
                "change the claim or the run; `leasehold run` prints what happens",
            ));
        }
        self.prediction_faults(lesson, &mut faults);
        if faults.is_empty() {
            self.caption_faults(lesson, &mut faults);
        }
        faults
    }

    /// Exactly one choice may come true.
    fn prediction_faults(&self, lesson: &Lesson, faults: &mut Vec<Diagnostic>) {
        for prediction in self.director.predictions() {
            let Some(came_true) = prediction.came_true else {
                continue;
            };
            let id = &prediction.predict.id;
            let count = came_true.iter().filter(|is_true| **is_true).count();
            let what = match count {
                1 => continue,
                0 => format!("no choice of {id} comes true; this one is false"),
                _ => format!("{count} choices of {id} come true; this is one"),
            };
            let choices = prediction.predict.choices.iter().zip(came_true);
            for (choice, _) in choices.filter(|(_, is_true)| count == 0 || **is_true) {
                let remedy = "change the choices or the run until exactly one comes true";
                faults.push(fault(lesson, choice.outcome.place, what.clone(), remedy));
            }
        }
    }

    fn caption_faults(&self, lesson: &Lesson, faults: &mut Vec<Diagnostic>) {
        let lines = lesson
            .pages
            .iter()
            .flat_map(|page| caption_lines(page.blocks.iter()));
        for line in lines.filter(|line| !self.director.shown().contains(&line.place)) {
            faults.push(fault(
                lesson,
                line.place,
                "this caption is never shown",
                "its claim does not come true on its page, or a later line's does at the same step",
            ));
        }
    }

    /// Whether leaving out one command changes nothing that is claimed.
    fn claims_as_well_without(&self, lesson: &Arc<Lesson>, without: Address) -> bool {
        let options = Options {
            without: Some(without),
            lenient: true,
            ..Options::default()
        };
        let other = play(lesson, options);
        let never_came = other
            .director
            .let_go()
            .iter()
            .any(|f| matches!(f, Failure::NeverCame { .. }));
        let holds = |played: &Self| -> Vec<bool> {
            let verdicts = played
                .director
                .verdicts()
                .iter()
                .map(|verdict| verdict.holds);
            let predictions = played.director.predictions();
            let outcomes = predictions.flat_map(|p| p.came_true.unwrap_or(&[]).to_vec());
            verdicts.chain(outcomes).collect()
        };
        !never_came && holds(self) == holds(&other)
    }
}

fn judge_goal(lesson: &Arc<Lesson>, goal: &Goal, proofs: Proofs<'_>) -> Vec<Diagnostic> {
    let exercise = match Exercise::new(lesson, goal) {
        Ok(exercise) => exercise,
        Err(failure) => {
            let Trouble { what, remedy } = words::failure(&failure);
            let what = format!("the goal's beginning is not reached: {what}");
            return vec![fault(lesson, goal.place, what, remedy)];
        }
    };
    let mut faults = Vec::new();
    let mut idle = exercise.start().clone();
    let end = idle.world().now().plus(IDLE);
    idle.run_to(end, |_, _| {});
    if let Grade::Reached { at, .. } = exercise.grade(&idle) {
        faults.push(fault(
            lesson,
            goal.reach.place,
            format!(
                "the goal is reached by doing nothing, at {}",
                words::time(at)
            ),
            "claim something that takes doing",
        ));
    }
    let (file, text) = proofs(&lesson.id, &goal.id);
    let Some(text) = text else {
        let remedy = format!("write the commands that reach it to {file}");
        faults.push(fault(
            lesson,
            goal.place,
            format!("the goal {} has no proof", goal.id),
            remedy,
        ));
        return faults;
    };
    faults.extend(judge_proof(lesson, &exercise, &text, &file));
    faults
}

fn judge_proof(lesson: &Lesson, exercise: &Exercise, text: &str, file: &str) -> Vec<Diagnostic> {
    let directives = match script::lines(text, 1, file, &lesson.names) {
        Ok(directives) => directives,
        Err(wrong) => return wrong,
    };
    let mut attempt = exercise.start().clone();
    if let Err(failure) = script::play(&mut attempt, &directives, |_: &Step, _| {}) {
        let Trouble { what, remedy } = words::failure(&failure);
        let file = file.to_owned();
        return vec![Diagnostic {
            file,
            place: failure.place(),
            what,
            remedy,
        }];
    }
    let goal = exercise.goal();
    match exercise.grade(&attempt) {
        Grade::Reached { .. } => Vec::new(),
        Grade::NotReached => {
            let what = format!("the proof {file} does not reach `{}`", goal.reach.claim);
            vec![fault(
                lesson,
                goal.reach.place,
                what,
                "change the proof or the goal",
            )]
        }
        Grade::OverBudget(sentence) => {
            let what = format!("the proof {file} is over the budget: {sentence}");
            vec![fault(
                lesson,
                goal.place,
                what.trim_end_matches('.'),
                "use less, or allow more",
            )]
        }
        Grade::OtherStart => {
            let what = format!("the proof {file} does not start where the goal starts");
            vec![fault(
                lesson,
                goal.place,
                what,
                "take out commands that change the setup",
            )]
        }
    }
}

fn fault(
    lesson: &Lesson,
    place: Place,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> Diagnostic {
    Diagnostic {
        file: lesson.file.clone(),
        place,
        what: what.into(),
        remedy: remedy.into(),
    }
}
