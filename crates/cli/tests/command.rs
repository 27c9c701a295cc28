//! The command as a script meets it: what it prints, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod leasehold;

use leasehold::{leasehold, root};
use std::{env, fs, process};

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

/// A file of our own, away from the project.
fn file(name: &str, text: &str) -> String {
    let folder = env::temp_dir().join(format!("leasehold-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn all_lessons_keep_their_claims() {
    let (code, text) = leasehold(&["check", "lessons"]);
    assert_eq!(code, 0, "{text}");
    let last = last_line(&text);
    assert!(
        last.starts_with("5 lessons, ") && last.ends_with(" claims, 0 false"),
        "{text}"
    );
}

#[test]
fn each_claim_turned_round_is_found_at_its_place() {
    let (code, text) = leasehold(&["check", "lessons", "--negate-each"]);
    assert_eq!(code, 0, "{text}");
    let found = text
        .lines()
        .filter(|line| line.contains(": found false: not ("))
        .count();
    assert!(
        text.contains(&format!(
            "{found} claims turned round, {found} found false\n"
        )),
        "{text}"
    );
    assert!(
        last_line(&text).contains(&format!(" {found} claims, 0 false")),
        "{text}"
    );
    let at = "lessons/pause-outlives-its-lease.md:";
    let place = text.lines().find_map(|line| line.strip_prefix(at)).unwrap();
    let numbers: Vec<&str> = place.split(':').take(2).collect();
    assert!(numbers.iter().all(|n| n.parse::<u32>().is_ok()), "{place}");
}

#[test]
fn other_seeds_keep_the_claims() {
    let (code, text) = leasehold(&["check", "lessons", "--seeds", "20"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(
        text.matches("20 other seeds keep the claims").count(),
        5,
        "{text}"
    );
}

#[test]
fn the_opening_prints_both_runs() {
    let (code, text) = leasehold(&["run", "lessons/pause-outlives-its-lease.md"]);
    assert_eq!(code, 0, "{text}");
    let (first, second) = text.split_once("== run 2: fence enforce").unwrap();
    let broke = first
        .lines()
        .find(|line| line.starts_with("no-older-token broke at step "))
        .unwrap();
    assert!(
        broke.ends_with("orders accepted token 1 of A, after token 2 of B."),
        "{broke}"
    );
    assert!(
        first.contains("invariants broken: no-older-token"),
        "{first}"
    );
    let refused = second
        .lines()
        .find(|line| line.starts_with("refused at step "))
        .unwrap();
    assert!(refused.contains("stale, 1 < 2."), "{refused}");
    assert!(
        refused.ends_with("[fence-refuses-lower: seed: fencing the old leader]"),
        "{refused}"
    );
    assert!(second.contains("\nno invariant broke\n"), "{second}");
    assert!(!second.contains(": false: "), "{second}");
}

#[test]
fn with_the_gate_on_nothing_breaks_in_either_run() {
    let opening = "lessons/pause-outlives-its-lease.md";
    let (code, text) = leasehold(&["run", opening, "--set", "fence=enforce"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.matches("\nno invariant broke\n").count(), 2, "{text}");
    assert!(
        text.contains("claims, not judged because of --set"),
        "{text}"
    );
    // Reported all the same: the lesson says that it breaks.
    assert!(text.contains(": false: breaks no-older-token"), "{text}");
}

#[test]
fn the_same_run_prints_the_same_hashes() {
    let hashes = || leasehold(&["run", "lessons/a-lease.md", "--hashes"]);
    let (code, text) = hashes();
    assert_eq!(code, 0, "{text}");
    assert_eq!((code, text.clone()), hashes());
    let step = text.lines().find(|line| line.contains(" #0 ")).unwrap();
    let hash = step.rsplit(' ').next().unwrap();
    assert!(
        hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok(),
        "{step}"
    );
}

#[test]
fn a_script_is_run() {
    let script = "seed = 3\nworkers = [\"A\"]\nstores = [\"orders\"]\n----\n# A writes once.\n\
                  run until A is granted orders\nwrite A orders \"charge 7\"\nrun until orders accepts A\n";
    let path = file("once.txt", script);
    let (code, text) = leasehold(&["run", &path]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("orders accepts \"charge 7\" of A, token 1."),
        "{text}"
    );
    assert_eq!(last_line(&text), "no invariant broke");
}

#[test]
fn a_search_prints_a_script_that_breaks_and_the_line_that_finds_it_again() {
    let (code, text) = leasehold(&["fuzz", "--set", "fence=off", "--seed", "3", "--runs", "50"]);
    assert_eq!(code, 1, "{text}");
    let mut remarks = text.lines().filter_map(|line| line.strip_prefix("# "));
    let broke = remarks.next().unwrap();
    assert!(broke.starts_with("no-older-token broke at "), "{text}");
    let line = remarks.nth(1).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "leasehold");
    let (code, again) = leasehold(&words[1..]);
    assert_eq!(code, 1, "{again}");
    let script = |text: &str| text[text.find("seed = ").unwrap()..].to_owned();
    assert_eq!(script(&again), script(&text));

    let path = file("found.txt", &text);
    let (code, played) = leasehold(&["run", &path]);
    assert_eq!(code, 0, "{played}");
    assert_eq!(last_line(&played), "invariants broken: no-older-token");
    let reason = broke.split_once(" s: ").unwrap().1;
    let told = played
        .lines()
        .find(|line| line.starts_with("no-older-token broke at step "));
    assert!(told.unwrap().ends_with(reason), "{played}");
    let (_, closed) = leasehold(&["run", &path, "--set", "fence=enforce"]);
    assert_eq!(last_line(&closed), "no invariant broke");
}

#[test]
fn a_search_that_finds_nothing_says_what_it_saw() {
    let (code, text) = leasehold(&["fuzz", "--runs", "3", "--steps", "400"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("runs 3, steps 1200, commands "), "{text}");
    assert_eq!(last_line(&text), "no invariant broke");
    let drift = [
        "fuzz",
        "--beyond",
        "drift",
        "--break",
        "deadline-within-grant",
    ];
    let (code, text) = leasehold(&drift);
    assert_eq!(code, 1, "clocks of two rates: {text}");
    assert!(text.contains(" rate "), "{text}");
}

#[test]
fn what_is_wrong_in_a_file_is_said_with_its_place_and_ends_in_one() {
    let script = file(
        "never.txt",
        "workers = [\"A\"]\n----\nrun until A is crashed within 2s\n",
    );
    let (code, text) = leasehold(&["run", &script]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("never.txt:3:1: `A is crashed` did not come true within 2 s"),
        "{text}"
    );
    let lesson = file(
        "wrong.md",
        "# W\n\n```world\nid = \"w\"\nlease = \"0s\"\n```\n\n## P\n\n```run\npause Z\n```\n",
    );
    let (code, text) = leasehold(&["check", &lesson]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("wrong.md:5:9: lease cannot be 0s"), "{text}");
    assert!(
        text.contains("wrong.md:11:7: no process is called `Z`"),
        "{text}"
    );
    assert_eq!(
        last_line(&text),
        "1 lesson, 0 claims, 0 false, 2 other faults"
    );
}

#[test]
fn a_false_claim_ends_in_one() {
    let text = fs::read_to_string(root().join("lessons/a-lease.md")).unwrap();
    let path = file(
        "false.md",
        &text.replace("A holds report with token 3", "A holds report with token 4"),
    );
    let (code, text) = leasehold(&["check", &path]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("`A holds report with token 4` is false"),
        "{text}"
    );
    assert!(last_line(&text).contains(", 1 false"), "{text}");
    assert_eq!(leasehold(&["run", &path]).0, 1);
}

#[test]
fn wrong_calls_and_unreadable_files_end_in_two() {
    for arguments in [
        &[][..],
        &["look"],
        &["check"],
        &["check", "lessons/nothing.md"],
        &["check", "crates"],
        &["run", "lessons/nothing.md"],
        &["run", "lessons/a-lease.md", "--set", "fence=ajar"],
        &["fuzz", "--set", "fense=off"],
        &["fuzz", "--break", "no-newer-token"],
        &["fuzz", "--beyond", "belief"],
        &["fuzz", "lessons"],
    ] {
        let (code, text) = leasehold(arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(
            text.starts_with("leasehold: ") && text.lines().count() == 2,
            "{text}"
        );
    }
    assert_eq!(leasehold(&["--help"]).0, 0);
}
