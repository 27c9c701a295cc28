//! The roll call of the case list: every scenario that a correct engine must get right has a test that bears its id.
//!
//! A register read out loud. The ids are those of the project's list of cases from the literature and from public
//! bug reports. A case that waits says what for; a case that is there is a function named after it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each chapter of the list, and how many cases it has.
const CHAPTERS: [(char, usize); 14] = [
    ('a', 19),
    ('b', 9),
    ('c', 8),
    ('d', 9),
    ('e', 11),
    ('f', 7),
    ('g', 8),
    ('h', 6),
    ('i', 11),
    ('j', 5),
    ('k', 3),
    ('l', 35),
    ('m', 12),
    ('n', 17),
];

/// Cases without a test, and what they wait for.
const WAITING: [(&str, &[&str]); 4] = [
    ("priorities, which are left out", &["a19"]),
    (
        "the recipes: ZooKeeper, etcd, Kubernetes, DynamoDB, Redlock, Azure; bully, ring, gossip",
        &[
            "l16", "l17", "l18", "l19", "l20", "l21", "l22", "l23", "l24", "l25", "l26", "l27",
            "l28", "l29", "l35", "m01", "m02", "m03", "m04", "m05", "m06", "m07", "m08", "m09",
            "m10", "m11", "m12",
        ],
    ),
    ("reads of a store, which only takes writes so far", &["n16"]),
    (
        "the recipes: outbox, STONITH, journal nodes, controller epochs, watchdogs",
        &["n10", "n12", "n13", "n14", "n17"],
    ),
];

#[test]
fn every_case_has_a_test_that_bears_its_id() {
    let there = ids_of_tests();
    let waiting: BTreeSet<String> = WAITING
        .iter()
        .flat_map(|(_, ids)| ids.iter().map(|id| (*id).to_owned()))
        .collect();
    let mut missing = Vec::new();
    let mut late = Vec::new();
    for (chapter, count) in CHAPTERS {
        for number in 1..=count {
            let id = format!("{chapter}{number:02}");
            match (there.contains(&id), waiting.contains(&id)) {
                (false, false) => missing.push(id),
                (true, true) => late.push(id),
                (true, false) | (false, true) => {}
            }
        }
    }
    assert!(missing.is_empty(), "no test is named after {missing:?}");
    assert!(late.is_empty(), "{late:?} have tests and need not wait");
}

/// The ids that functions begin with, in all tests of the workspace.
fn ids_of_tests() -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for file in rust_files(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for (_, rest) in text
            .match_indices("fn ")
            .map(|(at, _)| text.split_at(at + 3))
        {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            // One test may tell several cases: `d01_d02_...`.
            for part in name.split('_') {
                let mut chars = part.chars();
                let is_id = part.len() == 3
                    && chars.next().is_some_and(|c| c.is_ascii_lowercase())
                    && chars.all(|c| c.is_ascii_digit());
                if !is_id {
                    break;
                }
                ids.insert(part.to_owned());
            }
        }
    }
    ids
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.components().any(|c| c.as_os_str() == "tests")
        {
            files.push(path);
        }
    }
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
