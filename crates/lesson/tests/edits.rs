//! Lessons with lines moved, doubled, lost and mixed: what can still be read can be judged and stepped.
//!
//! Each edit is drawn from its number; a failure names it.

use std::sync::Arc;

use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::units::StepNumber;
use leasehold_lesson::director::Director;
use leasehold_lesson::judge::judge;
use leasehold_lesson::library::LESSONS;
use leasehold_lesson::parse;

const EDITS: u64 = 400;

struct Dice {
    edit: u64,
    count: u64,
}

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.count += 1;
        below(draw(self.edit, Purpose::Test, 1, self.count), n as u64) as usize
    }
}

/// A lesson with one or two lines taken out, doubled, swapped, or given a word of another line.
fn edited(edit: u64) -> String {
    let mut dice = Dice { edit, count: 0 };
    let text = LESSONS[dice.below(LESSONS.len())].text;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(2) {
        let at = dice.below(lines.len());
        let other = dice.below(lines.len());
        match dice.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            _ => {
                let mut words: Vec<&str> = lines[at].split(' ').collect();
                let others: Vec<&str> = lines[other].split(' ').collect();
                let place = dice.below(words.len());
                words[place] = others[dice.below(others.len())];
                lines[at] = words.join(" ");
            }
        }
    }
    lines.join("\n")
}

#[test]
fn an_edited_lesson_that_is_read_is_judged_and_stepped() {
    let mut read = 0;
    for edit in 0..EDITS {
        let Ok(lesson) = parse(&edited(edit), "edited.md") else {
            continue;
        };
        // Captured by the test harness, and shown when this edit makes something panic.
        println!("edit {edit}");
        read += 1;
        let lesson = Arc::new(lesson);
        let proofs = |_: &str, _: &str| ("proof.txt".to_owned(), Some("run 1s\n".to_owned()));
        let report = judge(&lesson, &proofs);
        assert_eq!(report.claims, lesson.claims().len());
        let mut director = Director::new(Arc::clone(&lesson));
        for page in (0..lesson.pages.len()).rev() {
            director.seek_page(page);
        }
        director.seek(0, StepNumber(edit));
    }
    assert!(read > EDITS / 4, "only {read} edits can be read");
}
