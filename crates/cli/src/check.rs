//! `leasehold check`: reads lessons, plays them and prints what is not so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use leasehold_lesson::judge;
use leasehold_lesson::lesson::Lesson;

use crate::args::Check;
use crate::files::{self, Found};
use crate::{End, out};

/// What has been counted over all lessons.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    claims: usize,
    false_claims: usize,
    faults: usize,
    turned: usize,
    not_found: usize,
}

pub(crate) fn check(check: &Check) -> End {
    let lessons = match files::find(&check.paths) {
        Ok(lessons) => lessons,
        Err(what) => {
            eprintln!("leasehold: {what}\n  name a lesson, or a folder with lessons");
            return End::Unusable;
        }
    };
    let mut counts = Counts::default();
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for Found { path, text } in &lessons {
        let file = path.display().to_string();
        match leasehold_lesson::parse(text, &file) {
            Ok(lesson) => {
                if let Some(other) = ids.insert(lesson.id.clone(), file.clone()) {
                    let place = lesson.world_place;
                    out::line(&format!(
                        "{file}:{place}: the id {} is that of {other}",
                        lesson.id
                    ));
                    out::line("  give each lesson its own id");
                    counts.faults += 1;
                }
                check_lesson(&Arc::new(lesson), path, check, &mut counts);
            }
            Err(wrong) => {
                counts.faults += wrong.len();
                wrong
                    .iter()
                    .for_each(|diagnostic| out::line(&diagnostic.to_string()));
            }
        }
    }
    if check.negate_each {
        let found = counts.turned - counts.not_found;
        out::line(&format!(
            "{} claims turned round, {found} found false",
            counts.turned
        ));
    }
    out::line(&summary(lessons.len(), counts));
    if counts.faults + counts.not_found == 0 {
        End::Well
    } else {
        End::Wrong
    }
}

fn summary(lessons: usize, counts: Counts) -> String {
    let Counts {
        claims,
        false_claims,
        faults,
        ..
    } = counts;
    let mut line = format!(
        "{}, {}, {false_claims} false",
        counted(lessons, "lesson"),
        counted(claims, "claim")
    );
    if faults > false_claims {
        line.push_str(&format!(
            ", {}",
            counted(faults - false_claims, "other fault")
        ));
    }
    line
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn check_lesson(lesson: &Arc<Lesson>, path: &Path, check: &Check, counts: &mut Counts) {
    let proofs = |lesson_id: &str, goal_id: &str| files::proof(path, lesson_id, goal_id);
    let report = judge::judge(lesson, &proofs);
    counts.claims += report.claims;
    counts.false_claims += report.false_claims;
    counts.faults += report.faults.len().max(report.false_claims);
    report
        .faults
        .iter()
        .for_each(|fault| out::line(&fault.to_string()));
    if !report.faults.is_empty() {
        return;
    }
    let needless = judge::needless(lesson);
    counts.faults += needless.len();
    needless
        .iter()
        .for_each(|fault| out::line(&fault.to_string()));
    if check.negate_each {
        for negated in judge::negate_each(lesson, &proofs) {
            counts.turned += 1;
            let at = format!("{}:{}", lesson.file, negated.place);
            if negated.is_found {
                out::line(&format!("{at}: found false: not ({})", negated.claim));
            } else {
                counts.not_found += 1;
                out::line(&format!("{at}: NOT found false: not ({})", negated.claim));
                out::line("  claim something that the run decides");
            }
        }
    }
    if check.seeds > 0 {
        check_seeds(lesson, path, check.seeds, counts);
    }
}

/// Other seeds must keep every claim, unless the lesson says why it needs its own.
fn check_seeds(lesson: &Arc<Lesson>, path: &Path, seeds: u64, counts: &mut Counts) {
    let proofs = |lesson_id: &str, goal_id: &str| files::proof(path, lesson_id, goal_id);
    let others = (1..)
        .filter(|seed| *seed != lesson.setup.seed)
        .take(seeds as usize);
    let mut lost = Vec::new();
    for seed in others {
        let report = judge::judge(&judge::with_seed(lesson, seed), &proofs);
        if let Some(first) = report.faults.first() {
            lost.push((seed, first.clone()));
        }
    }
    let file = &lesson.file;
    let kept = seeds as usize - lost.len();
    match (&lesson.seed_reason, lost.first()) {
        (Some(reason), _) => {
            out::line(&format!(
                "{file}: {kept} of {seeds} other seeds keep the claims; its own: {reason}"
            ));
        }
        (None, None) => out::line(&format!("{file}: {seeds} other seeds keep the claims")),
        (None, Some(_)) => {
            for (seed, fault) in &lost {
                out::line(&format!("with seed {seed}: {fault}"));
            }
            let place = lesson.world_place;
            out::line(&format!(
                "{file}:{place}: {} of {seeds} other seeds lose a claim",
                lost.len()
            ));
            out::line("  make the lesson depend less on the seed, or write seed_reason = \"…\"");
            counts.faults += 1;
        }
    }
}
