//! What `lessons/README.md` teaches is true: its example lesson is sound, its lines and claims are
//! read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use leasehold_engine::setup::Setup;
use leasehold_lesson::{judge, parse, parse_script, script};

const README: &str = include_str!("../../../lessons/README.md");

/// What stands between the first `open` behind `after` and the next `close`.
fn between(after: &str, open: &str, close: &str) -> &'static str {
    let from = README.find(after).unwrap_or_else(|| panic!("no {after:?}"));
    let start = from + README[from..].find(open).unwrap() + open.len();
    let end = start + README[start..].find(close).unwrap();
    &README[start..end]
}

#[test]
fn the_example_is_sound() {
    let text = between("## A whole lesson", "`````markdown\n", "\n`````\n");
    let proof = between("proofs/who-is-first/sooner.txt", "```text\n", "```");
    let lesson = Arc::new(parse(&format!("{text}\n"), "who-is-first.md").unwrap());
    let proofs = |_: &str, _: &str| ("sooner.txt".to_owned(), Some(proof.to_owned()));
    assert_eq!(judge::judge(&lesson, &proofs).faults, []);
    assert_eq!(judge::needless(&lesson), []);
}

#[test]
fn the_example_script_is_read() {
    let text = between("## Command scripts", "```text\n", "```");
    let script = parse_script(text, "s.txt").unwrap();
    assert_eq!(script.directives.len(), 3);
}

fn names() -> leasehold_engine::setup::Names {
    let setup = Setup {
        spares: 2,
        workers: vec!["A".into(), "B".into()],
        clients: vec!["c1".into()],
        stores: vec!["orders".into()],
        ..Setup::default()
    };
    setup.validate().unwrap()
}

#[test]
fn every_claim_that_it_shows_is_read() {
    let mut count = 0;
    for after in ["About a state", "About what happened"] {
        let table = between(after, "```text\n", "```");
        let cells = table.lines().flat_map(|line| line.split("  "));
        for claim in cells.map(str::trim).filter(|cell| !cell.is_empty()) {
            script::claim(claim, &names()).unwrap_or_else(|error| panic!("{claim}: {error:?}"));
            count += 1;
        }
    }
    assert!(count > 35, "{count}");
}

#[test]
fn every_line_of_a_run_that_it_shows_is_read() {
    let table = between("### run", "| --- | --- |\n", "\n\n");
    let first_cells = table
        .lines()
        .map(|row| row.trim_start_matches("| ").replace("\\|", "¦"));
    let mut count = 0;
    for cell in first_cells {
        let cell = cell.split(" | ").next().unwrap().replace('¦', "|");
        let lines = cell.split('`').skip(1).step_by(2);
        for line in lines.filter(|line| line.contains(' ') && !line.contains('…')) {
            let line = line
                .replace("CLAIM", "A checks")
                .replace("COMMAND", "pause A");
            script::directive(&line, &names()).unwrap_or_else(|error| panic!("{line}: {error:?}"));
            count += 1;
        }
    }
    assert!(count >= 24, "{count}");
}

#[test]
fn every_key_that_it_names_is_known() {
    let table = between("### world", "| --- | --- | --- |\n", "\n\n");
    let keys = table
        .lines()
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let keys: Vec<&str> = keys.collect();
    assert!(keys.len() > 20);
    for key in keys {
        // A list of truths fits no key: what is said is about the value, or the key is unknown.
        let wrong = parse_script(&format!("{key} = [true]\n----\n"), "s.txt").unwrap_err();
        assert!(
            wrong.iter().all(|w| !w.what.contains("is not a key")),
            "{key}: {wrong:?}"
        );
    }
}
