//! Runs every lesson and a hundred faulty worlds, and prints each step with the state's hash.
//!
//! Two clocks from one workshop, set side by side: the same program natively and in wasm must print
//! the same bytes. What is compared is the text of every step, so that a difference names its
//! place; by default a part is one line with the hash of all its bytes.

mod exports;
mod worlds;

use std::hash::Hasher;
use std::sync::Arc;

use leasehold_engine::event::Step;
use leasehold_engine::hash::StableHasher;
use leasehold_engine::world::World;
use leasehold_lesson::director::{Director, Phase};
use leasehold_lesson::library::{LESSONS, LessonFile};
use leasehold_lesson::words;

/// How many faulty worlds there are, and how many steps each takes.
pub const WORLDS: u64 = 100;
pub const STEPS: u64 = 2_000;

/// How many parts there are: the lessons, then the worlds.
#[must_use]
pub fn parts() -> u64 {
    LESSONS.len() as u64 + WORLDS
}

/// What has been run so far, over all parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub steps: u64,
    pub bytes: u64,
    pub broken: u64,
}

impl Totals {
    /// The last line.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self {
            steps,
            bytes,
            broken,
        } = self;
        format!(
            "{} lessons and {WORLDS} worlds of {STEPS} steps: {steps} steps, {bytes} bytes of trace, \
             {broken} broken invariants\n",
            LESSONS.len()
        )
    }
}

/// The trace of one part while it is made.
#[derive(Debug)]
pub(crate) struct Trace {
    full: Option<String>,
    hasher: StableHasher,
    totals: Totals,
}

impl Trace {
    const fn new(full: Option<String>, hasher: StableHasher) -> Self {
        Self {
            full,
            hasher,
            totals: Totals {
                steps: 0,
                bytes: 0,
                broken: 0,
            },
        }
    }

    pub(crate) fn step(&mut self, step: &Step, world: &World) {
        self.totals.steps += 1;
        #[cfg(test)]
        tests::check_sentences(step, world);
        let line = words::trace_line(step, world.names());
        self.line(&format!("{line} {:016x}", world.state_hash()));
    }

    fn line(&mut self, line: &str) {
        self.hasher.write(line.as_bytes());
        self.totals.bytes += line.len() as u64 + 1;
        if let Some(full) = &mut self.full {
            full.push_str(line);
            full.push('\n');
        }
    }
}

/// Runs a part and gives its text: one line, or with `full` all lines of its trace before that
/// line.
#[must_use]
pub fn run(part: u64, full: bool, totals: &mut Totals) -> String {
    let mut trace = Trace::new(full.then(String::new), StableHasher::default());
    let lessons = LESSONS.len() as u64;
    let (name, broken) = match LESSONS.get(part as usize) {
        Some(lesson) => (
            format!("lesson {}", lesson.file),
            run_lesson(lesson, &mut trace),
        ),
        None => (
            format!("world {}", part - lessons),
            worlds::run(part - lessons, &mut trace),
        ),
    };
    trace.totals.broken = broken;
    let Totals {
        steps,
        bytes,
        broken,
    } = trace.totals;
    totals.steps += steps;
    totals.bytes += bytes;
    totals.broken += broken;
    let digest = trace.hasher.finish();
    let mut text = trace.full.unwrap_or_default();
    text.push_str(&format!(
        "{name}: {steps} steps, {bytes} bytes, {broken} broken, digest {digest:016x}\n"
    ));
    text
}

/// All runs of a lesson; the number of invariants that broke.
fn run_lesson(file: &LessonFile, trace: &mut Trace) -> u64 {
    let lesson = leasehold_lesson::parse(file.text, file.file);
    let lesson = lesson.expect("the lessons on the shelf are checked by a test of their own");
    let mut director = Director::new(Arc::new(lesson));
    let mut step = Step::empty();
    loop {
        let stepped = match director.phase() {
            Phase::Running => director.step(&mut step),
            Phase::Stopped { .. } => director.press(&mut step),
            Phase::Asking(_) => {
                director.choose(0);
                false
            }
            Phase::PageDone => {
                director.next_page();
                false
            }
            Phase::LessonDone | Phase::Failed(_) => break,
        };
        if stepped {
            trace.step(&step, director.world());
        }
    }
    director
        .runs()
        .iter()
        .map(|run| worlds::broken(run.history.world()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every event's sentence fits a caption and a breath.
    pub(super) fn check_sentences(step: &Step, world: &World) {
        for event in step.events() {
            let sentence = words::event(event, step.process, world.names());
            let is_short = sentence.chars().count() <= 120;
            assert!(is_short && sentence.ends_with('.'), "{sentence}");
        }
    }

    #[test]
    fn every_sentence_is_short_and_ends() {
        for part in 0..parts() {
            assert!(!run(part, false, &mut Totals::default()).is_empty());
        }
    }
}
