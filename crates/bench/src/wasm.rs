//! Steps and searched states a second in wasm under Node, beside the same natively.
//!
//! Node times a module that was built before: `cargo xtask bench` builds it and says where it is, as
//! compiled for speed and as compiled for the page. Without them, only the native side is printed.

use std::env;
use std::process::Command;

use leasehold_bench::{STATES, STEPS, Telling, search, take_steps};

use crate::middle;
use crate::stopwatch::Stopwatch;

const ROUNDS: u32 = 5;
/// Paths of modules, named by what they were compiled for.
const MODULES: [(&str, &str); 2] = [
    ("wasm, for speed", "LEASEHOLD_BENCH_WASM"),
    ("wasm, as the page", "LEASEHOLD_BENCH_WASM_PAGE"),
];

pub(crate) fn run() -> Result<(), String> {
    println!();
    println!(
        "Steps of one world: 5 servers, 3 workers, a client, a store; {STEPS} steps from the beginning."
    );
    println!(
        "A search: 3 servers and a client without time, all switches on, to {STATES} states; its bytes a state."
    );
    println!(
        "Explained is with all monitors on, unexplained without any; {ROUNDS} rounds, medians, processor time."
    );
    println!(
        "{:18} {:>12} {:>6} {:>13} {:>6} {:>10} {:>6} {:>8}",
        "", "explained/s", "ratio", "unexplained/s", "ratio", "states/s", "ratio", "bytes"
    );
    let progress = search(STATES);
    let native = [
        rate(|| f64::from(take_steps(STEPS, Telling::Explained))),
        rate(|| f64::from(take_steps(STEPS, Telling::Unexplained))),
        rate(|| search(STATES).states as f64),
        progress.memory as f64 / progress.states as f64,
    ];
    print_row("native", native, native);
    for (name, variable) in MODULES {
        let Some(path) = env::var_os(variable) else {
            println!(
                "{name:18} not measured: {variable} names no module; `cargo xtask bench` does"
            );
            continue;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/wasm.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(path);
        let answer = node
            .args([STEPS, STATES, ROUNDS].map(|number| number.to_string()))
            .output()
            .map_err(|error| format!("node: {error}"))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let rates: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let Ok(rates) = <[f64; 4]>::try_from(rates) else {
            let error = String::from_utf8_lossy(&answer.stderr);
            return Err(format!("node {script}: {error}"));
        };
        print_row(name, rates, native);
    }
    Ok(())
}

/// What `work` counts, a second of processor time: the median of the rounds.
fn rate(work: impl Fn() -> f64) -> f64 {
    let rounds = (0..=ROUNDS).map(|_| {
        let stopwatch = Stopwatch::start();
        work() / stopwatch.seconds()
    });
    // The first round warms up.
    middle(rounds.skip(1).collect())
}

fn print_row(name: &str, rates: [f64; 4], native: [f64; 4]) {
    let [told, silent, states, bytes] = rates;
    println!(
        "{name:18} {told:>12.0} {:>6.2} {silent:>13.0} {:>6.2} {states:>10.0} {:>6.2} {bytes:>8.1}",
        told / native[0],
        silent / native[1],
        states / native[2],
    );
}
