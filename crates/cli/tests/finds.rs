//! What random search found with each safety switch off, kept as short scripts and played again.
//!
//! A cabinet of pressed flowers. Each script must still break what the table of switches says, for the reason
//! that its first line gives, and must break nothing once the switch is on. `BLESS=SWITCH`, `BLESS=missing`
//! or `BLESS=all` searches anew and keeps the lightest of several finds; look at what it wrote before you keep it.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use leasehold_engine::fuzz::{Fuzzer, Options};
use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::shrink::weight;
use leasehold_engine::switch::{Position, Switch};
use leasehold_lesson::{Script, parse_script, script, words};

/// Their breaks need an answer that is late by more than an election timeout, or a handover in the last moment of
/// a read lease; no random run has had either yet.
const NOT_BY_CHANCE: &[Switch] = &[Switch::LeaseFromSendTime, Switch::TransferExpiresLease];
/// How many finds a blessing compares, and how many runs it looks for each.
const FINDS: u64 = 12;
const RUNS: u64 = 3_000;

fn file_of(switch: Switch) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds");
    folder.join(format!("{switch}.txt"))
}

/// What guards leases, writes and reads. What consensus rests on is searched without time, by `explore`.
fn kept() -> impl Iterator<Item = (Switch, Invariant)> {
    let is_consensus = |invariant: &Invariant| {
        matches!(
            invariant,
            Invariant::ElectionSafety
                | Invariant::LogMatching
                | Invariant::LeaderCompleteness
                | Invariant::StateMachineSafety
        )
    };
    let all = Switch::ALL.iter().filter(|s| !NOT_BY_CHANCE.contains(s));
    all.filter_map(move |s| Some((*s, s.breaks().filter(|i| !is_consensus(i))?)))
}

/// Besides the switch itself: with an unchecked write, the fence is all that there is, and the story is dull.
fn positions(switch: Switch, invariant: Invariant) -> Vec<(Switch, Position)> {
    let mut positions = vec![(switch, Position::Off)];
    if invariant == Invariant::NoOlderToken {
        positions.push((Switch::CheckBeforeWrite, Position::On));
    }
    positions
}

/// Searches with several first seeds and writes the lightest find as the command prints it.
fn bless(switch: Switch, invariant: Invariant) {
    let mut best = None;
    let mut seed = 1;
    for _ in 0..FINDS {
        let mut fuzzer = Fuzzer::new(Options {
            seed,
            runs: RUNS,
            set: positions(switch, invariant),
            sought: Some(invariant),
            ..Options::default()
        });
        let Some(find) = fuzzer.finish().unwrap() else {
            break;
        };
        seed = find.seed + 1;
        let new = (weight(&find.script), find.seed);
        if best.is_none_or(|old| new < old) {
            best = Some(new);
        }
    }
    let Some((_, seed)) = best else {
        panic!("no run breaks {invariant} without {switch}");
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.args(["fuzz", "--seed", &seed.to_string(), "--runs", "1"]);
    for (switch, position) in positions(switch, invariant) {
        command.args(["--set", &format!("{switch}={}", switch.word(position))]);
    }
    let output = command.args(["--break", invariant.id()]).output().unwrap();
    fs::create_dir_all(file_of(switch).parent().unwrap()).unwrap();
    fs::write(file_of(switch), output.stdout).unwrap();
}

fn played(script: &Script) -> History {
    let mut history = History::new(script.setup.clone()).unwrap();
    script::play(&mut history, &script.directives, |_, _| {}).unwrap();
    history
}

#[test]
fn each_kept_find_breaks_what_it_says_and_nothing_with_its_switch_on() {
    for (switch, invariant) in kept() {
        let path = file_of(switch);
        let is_asked_for = |which: String| match which.as_str() {
            "all" => true,
            "missing" => !path.exists(),
            name => name == switch.name(),
        };
        if env::var("BLESS").is_ok_and(is_asked_for) {
            bless(switch, invariant);
        }
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut script = parse_script(&text, &name).unwrap();
        let history = played(&script);
        let world = history.world();
        let broken = world.broken(invariant);
        let broken = broken.unwrap_or_else(|| panic!("{name}: {invariant} does not break"));
        let why = words::reason(&broken.reason, world.names());
        let at = words::millis(broken.at);
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            format!("# {invariant} broke at {at} s: {why}"),
            "{name}"
        );

        let lines = script.directives.len();
        assert!(lines <= 14, "{name}: as short as a person would write it");
        let switches = &mut script.setup.switches;
        switches.retain(|(off, _)| off != switch.name());
        let history = played(&script);
        for invariant in Invariant::ALL {
            let broken = history.world().broken(*invariant);
            assert_eq!(broken, None, "{name} with {switch} on: {invariant}");
        }
    }
}
