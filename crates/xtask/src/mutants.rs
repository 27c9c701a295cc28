//! Mutation testing of the protocol: small faults are put into the code one at a time, and the tests must notice.
//!
//! A fire drill with real smoke. The faults are made by cargo-mutants; which of them are tried is drawn from a
//! seed, so that two people try the same ones. It takes an hour or more and is no part of `test`.

use std::fs;
use std::io;

use crate::shell::{self, Failure, Output, Site};

/// The code whose faults would be faults of the protocol.
const PROTOCOL: [&str; 8] = [
    "crates/engine/src/raft.rs",
    "crates/engine/src/raft/*.rs",
    "crates/engine/src/registry.rs",
    "crates/engine/src/worker.rs",
    "crates/engine/src/writer.rs",
    "crates/engine/src/store.rs",
    "crates/engine/src/client.rs",
    "crates/engine/src/world/disk.rs",
];
/// Tests that take longer than a mutant is worth; what only they catch counts as missed.
const TOO_LONG: [&str; 7] = [
    "a_step_that_changes_a_process_has_its_event_and_its_rule",
    "every_refusal_changes_nothing",
    "explore::",
    "two_phase_commit::",
    "fuzz::",
    "history::",
    "determinism::",
];
const VERSION: &str = "27.1.0";
/// The share of the viable mutants that the tests must catch.
const BAR_PERCENT: usize = 90;

pub(crate) fn run(site: &Site, seed: u64, count: usize) -> Result<(), Failure> {
    ensure_cargo_mutants(site)?;
    let listed = shell::answer_of(
        site.command("cargo")
            .args(["mutants", "--list", "--package", "leasehold-engine"])
            .args(files()),
    )?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let all: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
    let chosen = draw(&all, seed, count);
    println!("{} of {} mutants, seed {seed}", chosen.len(), all.len());

    let out = site.scratch_dir().join("mutants");
    let unwritable = |error: io::Error| {
        let what = format!("{}: {error}", out.display());
        Failure::new(what, "cargo xtask mutants")
    };
    fs::create_dir_all(&out).map_err(unwritable)?;
    let mut command = site.command("cargo");
    command.arg("mutants").args(files());
    command.args([
        "--package",
        "leasehold-engine",
        "--jobs",
        "2",
        "--no-shuffle",
    ]);
    // Each job builds in its own copy of the tree.
    command.env_remove("CARGO_TARGET_DIR");
    command.args(["--minimum-test-timeout", "60", "--colors", "never"]);
    command.arg("--output").arg(&out);
    // Three hundred names are too many for a command line that somebody might read.
    let config = out.join("chosen.toml");
    let names: Vec<String> = chosen
        .iter()
        .map(|name| format!("    '^{}$',\n", escaped(name)))
        .collect();
    fs::write(&config, format!("examine_re = [\n{}]\n", names.concat())).map_err(unwritable)?;
    command.arg("--config").arg(&config);
    for config in [
        "profile.dev.debug=0",
        "profile.dev.package.leasehold-engine.opt-level=0",
    ] {
        command.args(["--cargo-arg", "--config", "--cargo-arg", config]);
    }
    command.args(["--", "--lib", "--test", "engine", "--"]);
    for test in TOO_LONG {
        command.args(["--skip", test]);
    }
    // It ends with a failure when a mutant is missed; the score decides instead.
    let ended = shell::run(&mut command, Output::Terminal);
    let out = out.join("mutants.out");
    let lines = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(out.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let (caught, missed) = (
        lines("caught.txt").len() + lines("timeout.txt").len(),
        lines("missed.txt"),
    );
    let viable = caught + missed.len();
    if viable == 0 {
        ended?;
        return Err(Failure::new(
            "no mutant could be tried",
            "cargo mutants --list",
        ));
    }
    for mutant in &missed {
        println!("missed  {mutant}");
    }
    let percent = caught * 100 / viable;
    println!(
        "caught {caught} of {viable} viable mutants: {percent} % ({} did not build)",
        lines("unviable.txt").len()
    );
    if percent < BAR_PERCENT {
        let what = format!("{percent} % of the mutants were caught, {BAR_PERCENT} % must be");
        return Err(Failure::new(what, "cargo xtask mutants"));
    }
    Ok(())
}

fn ensure_cargo_mutants(site: &Site) -> Result<(), Failure> {
    if shell::answer_of(site.command("cargo").args(["mutants", "--version"])).is_ok() {
        return Ok(());
    }
    println!("get     cargo-mutants {VERSION} (some minutes; asked once)");
    let mut command = site.command("cargo");
    command.args(["install", "cargo-mutants", "--locked", "--version", VERSION]);
    command.env_remove("CARGO_TARGET_DIR");
    shell::run(&mut command, Output::Terminal)
}

fn files() -> impl Iterator<Item = &'static str> {
    PROTOCOL.iter().flat_map(|file| ["--file", file])
}

/// The `count` names that come first when all are ordered by a fingerprint of seed and name.
fn draw<'a>(all: &[&'a str], seed: u64, count: usize) -> Vec<&'a str> {
    let mut keyed: Vec<(u64, &str)> = all
        .iter()
        .map(|name| (fingerprint(seed, name), *name))
        .collect();
    keyed.sort_unstable();
    keyed.truncate(count);
    keyed.into_iter().map(|(_, name)| name).collect()
}

/// FNV-1a, started from the seed and mixed at the end.
fn fingerprint(seed: u64, name: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = name.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// A name as a regular expression that matches it alone.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len() * 2);
    for c in name.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests_of_the_draw {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_and_another_seed_others() {
        let names: Vec<String> = (0..50).map(|n| format!("a.rs:{n}:1: replace x")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = draw(&all, 1, 10);
        let backwards: Vec<&str> = all.iter().rev().copied().collect();
        assert_eq!(
            first,
            draw(&backwards, 1, 10),
            "whatever the order they are listed in"
        );
        assert_ne!(first, draw(&all, 2, 10));
        assert_eq!(draw(&all, 1, 99).len(), 50);
    }

    #[test]
    fn a_name_matches_itself_alone() {
        assert_eq!(
            escaped("a.rs:3:9: replace + with ->"),
            r"a\.rs:3:9: replace \+ with \->"
        );
    }
}
