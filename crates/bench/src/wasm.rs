//! Steps a second in wasm under Node, beside the same steps natively.
//!
//! Node times a module that was built before: `cargo xtask bench` builds it and says where it is, as
//! compiled for speed and as compiled for the page. Without them, only the native side is printed.

use std::env;
use std::process::Command;

use leasehold_bench::{STEPS, Telling, take_steps};

use crate::middle;
use crate::stopwatch::Stopwatch;

const ROUNDS: usize = 5;
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
        "Explained is with all monitors on, unexplained without any; {ROUNDS} rounds, medians, processor time."
    );
    println!(
        "{:20} {:>13} {:>13} {:>10} {:>12}",
        "", "explained/s", "unexplained/s", "to native", "unexplained"
    );
    let native = [Telling::Explained, Telling::Unexplained].map(natively);
    print_row("native", native, native);
    for (name, variable) in MODULES {
        let Some(path) = env::var_os(variable) else {
            println!(
                "{name:20} not measured: {variable} names no module; `cargo xtask bench` does"
            );
            continue;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/steps.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(path);
        let answer = node
            .args([STEPS.to_string(), ROUNDS.to_string()])
            .output()
            .map_err(|error| format!("node: {error}"))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let rates: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [told, silent] = rates[..] else {
            let error = String::from_utf8_lossy(&answer.stderr);
            return Err(format!("node {script}: {error}"));
        };
        print_row(name, [told, silent], native);
    }
    Ok(())
}

fn natively(telling: Telling) -> f64 {
    let rounds = (0..=ROUNDS).map(|_| {
        let stopwatch = Stopwatch::start();
        let taken = take_steps(STEPS, telling);
        f64::from(taken) / stopwatch.seconds()
    });
    // The first round warms up.
    middle(rounds.skip(1).collect())
}

fn print_row(name: &str, [told, silent]: [f64; 2], native: [f64; 2]) {
    println!(
        "{name:20} {told:>13.0} {silent:>13.0} {:>10.2} {:>12.2}",
        told / native[0],
        silent / native[1]
    );
}
