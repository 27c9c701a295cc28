//! `leasehold run`: plays a lesson or a command script, and prints each step with its rule and
//! source.

use std::path::Path;
use std::sync::Arc;

use leasehold_engine::event::{Event, Step};
use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::world::World;
use leasehold_lesson::director::{Director, Options, Phase, set_switch};
use leasehold_lesson::lesson::{Lesson, Press};
use leasehold_lesson::place::{Diagnostic, Place};
use leasehold_lesson::{Script, script, words};

use crate::args::Run;
use crate::{End, files, out};

pub(crate) fn run(run: &Run) -> End {
    let text = match files::read(Path::new(&run.file)) {
        Ok(text) => text,
        Err(what) => {
            eprintln!("leasehold: {what}\n  name a lesson (.md) or a command script");
            return End::Unusable;
        }
    };
    if run.file.ends_with(".md") {
        match leasehold_lesson::parse(&text, &run.file) {
            Ok(lesson) => run_lesson(Arc::new(lesson), run),
            Err(wrong) => unreadable(&wrong),
        }
    } else {
        match leasehold_lesson::parse_script(&text, &run.file) {
            Ok(script) => run_script(script, run),
            Err(wrong) => unreadable(&wrong),
        }
    }
}

fn unreadable(wrong: &[Diagnostic]) -> End {
    wrong
        .iter()
        .for_each(|diagnostic| out::line(&diagnostic.to_string()));
    End::Wrong
}

/// What is printed again below a run: what broke, and what was refused.
#[derive(Debug, Default)]
struct Notes {
    lines: Vec<String>,
}

impl Notes {
    fn step(&mut self, step: &Step, world: &World, hashes: bool) {
        let names = world.names();
        let mut line = words::trace_line(step, names);
        if hashes {
            line.push_str(&format!(" {:016x}", world.state_hash()));
        }
        out::line(&line);
        for fact in &step.facts {
            let told = words::event(&fact.event, step.process, names);
            let (number, at) = (step.number, words::millis(step.at));
            if let Event::InvariantBroken { invariant, reason } = &fact.event {
                let why = words::reason(reason, names);
                self.lines
                    .push(format!("{invariant} broke at step {number}, {at} s: {why}"));
            }
            if let Event::WriteRefused { .. } = &fact.event {
                let (key, source) = (fact.rule.key(), fact.rule.source());
                let rule = words::rule(fact.rule);
                self.lines.push(format!(
                    "refused at step {number}, {at} s: {told} {rule} [{key}: {source}]"
                ));
            }
        }
    }

    fn print(&mut self, world: &World) {
        for line in std::mem::take(&mut self.lines) {
            out::line(&line);
        }
        let is_broken = |invariant: &&Invariant| world.broken(**invariant).is_some();
        let broken: Vec<String> = Invariant::ALL
            .iter()
            .filter(is_broken)
            .map(ToString::to_string)
            .collect();
        if broken.is_empty() {
            out::line("no invariant broke");
        } else {
            out::line(&format!("invariants broken: {}", broken.join(", ")));
        }
    }
}

fn run_script(mut script: Script, run: &Run) -> End {
    for (switch, position) in &run.set {
        set_switch(&mut script.setup, *switch, *position);
    }
    let mut history = match History::new(script.setup.clone()) {
        Ok(history) => history,
        Err(error) => {
            let trouble = words::setup_error(&error);
            eprintln!(
                "leasehold: {}: {}\n  {}",
                run.file, trouble.what, trouble.remedy
            );
            return End::Wrong;
        }
    };
    let mut notes = Notes::default();
    let played = script::play(&mut history, &script.directives, |step, world| {
        notes.step(step, world, run.hashes);
    });
    notes.print(history.world());
    match played {
        Ok(()) => End::Well,
        Err(failure) => {
            print_failure(&run.file, failure.place(), &words::failure(&failure));
            End::Wrong
        }
    }
}

fn print_failure(file: &str, place: Place, trouble: &words::Trouble) {
    out::line(&format!(
        "{file}:{place}: {}\n  {}",
        trouble.what, trouble.remedy
    ));
}

fn run_lesson(lesson: Arc<Lesson>, run: &Run) -> End {
    let is_changed = !run.set.is_empty();
    let mut setup = lesson.setup.clone();
    for (switch, position) in &run.set {
        set_switch(&mut setup, *switch, *position);
    }
    let options = Options {
        setup: Some(setup),
        lenient: is_changed,
        ..Options::default()
    };
    let mut director = Director::with(Arc::clone(&lesson), options);
    out::line(&format!("# {}", lesson.title));
    let mut notes = Notes::default();
    print_run(&director, run);
    print_page(&director);
    let mut failed = false;
    let mut caption = String::new();
    loop {
        print_caption(&director, &mut caption);
        let before = director.active();
        let mut step = Step::empty();
        match director.phase() {
            Phase::Running => {
                if director.step(&mut step) {
                    notes.step(&step, director.world(), run.hashes);
                }
            }
            Phase::Stopped { sentence, press } => {
                print_stop(sentence, press);
                if director.press(&mut step) {
                    notes.step(&step, director.world(), run.hashes);
                }
            }
            Phase::Asking(predict) => {
                out::line(&format!("? {}", predict.question));
                predict
                    .choices
                    .iter()
                    .for_each(|choice| out::line(&format!("  - {}", choice.text)));
                director.choose(0);
            }
            Phase::PageDone => {
                director.next_page();
                print_page(&director);
            }
            Phase::LessonDone => break,
            Phase::Failed(failure) => {
                print_failure(&lesson.file, failure.place(), &words::failure(failure));
                failed = true;
                break;
            }
        }
        if director.active() != before {
            notes.print(director.runs()[before].history.world());
            print_run(&director, run);
        }
    }
    notes.print(director.world());
    print_skipped(&director, &lesson.file);
    let all_hold = print_claims(&director, &lesson, is_changed);
    if failed || (!all_hold && !is_changed) {
        End::Wrong
    } else {
        End::Well
    }
}

fn print_run(director: &Director, run: &Run) {
    let mut what: Vec<String> = run
        .set
        .iter()
        .map(|(switch, position)| words::position(*switch, *position))
        .collect();
    what.extend(director.run().change.as_ref().map(words::change));
    let what = if what.is_empty() {
        "as written".to_owned()
    } else {
        what.join(", ")
    };
    let number = director.active() + 1;
    out::line(&format!("\n== run {number}: {what}"));
}

fn print_page(director: &Director) {
    let page = &director.lesson().pages[director.page()];
    out::line(&format!("\n## {}", page.heading));
}

/// The caption, when it is another one than before.
fn print_caption(director: &Director, before: &mut String) {
    let text = director
        .caption()
        .map_or("", |caption| caption.text.as_str());
    if text != before {
        text.clone_into(before);
        out::line(&format!(
            "watch, from {}: {text}",
            words::time(director.world().now())
        ));
    }
}

fn print_stop(sentence: Option<&str>, press: Option<&Press>) {
    let press = press.map(|press| match press {
        Press::Act(command) => command.to_string(),
        Press::Again(change) => format!("again with {}", words::change(change)),
    });
    let press = press.map_or_else(String::new, |press| format!(" press: {press}"));
    out::line(&format!(
        "stop{}{press}",
        sentence.map_or_else(String::new, |s| format!(" \"{s}\""))
    ));
}

fn print_skipped(director: &Director, file: &str) {
    for (number, run) in director.runs().iter().enumerate() {
        for failure in &run.skipped {
            let trouble = words::failure(failure);
            out::line(&format!(
                "{file}:{}: skipped in run {}: {}",
                failure.place(),
                number + 1,
                trouble.what
            ));
        }
    }
    for failure in director.let_go() {
        out::line(&format!(
            "{file}:{}: {}",
            failure.place(),
            words::failure(failure).what
        ));
    }
}

/// Reports each claim and each question; true when all is as the lesson says.
fn print_claims(director: &Director, lesson: &Lesson, is_changed: bool) -> bool {
    let heading = if is_changed {
        "claims, not judged because of --set"
    } else {
        "claims"
    };
    out::line(&format!("\n== {heading}"));
    let mut all_hold = true;
    for verdict in director.verdicts() {
        let word = if verdict.holds { "holds" } else { "false" };
        all_hold &= verdict.holds;
        out::line(&format!(
            "{}:{}: {word}: {}",
            lesson.file, verdict.place, verdict.claim
        ));
    }
    for prediction in director.predictions() {
        let Some(came_true) = prediction.came_true else {
            continue;
        };
        let choices = prediction.predict.choices.iter().zip(came_true);
        let came: Vec<&str> = choices
            .filter(|(_, is_true)| **is_true)
            .map(|(choice, _)| choice.text.as_str())
            .collect();
        all_hold &= came.len() == 1;
        let place = prediction.predict.place;
        out::line(&format!(
            "{}:{place}: {}: {}",
            lesson.file,
            prediction.predict.id,
            came.join(" and ")
        ));
    }
    all_hold
}
