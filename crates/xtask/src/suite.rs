//! Everything that is checked, in one go, with the minutes that each part takes.
//!
//! A pre-flight list: one item after the other, and the first that fails ends it, naming how to try it again.
//! What takes long to install is fetched in the background meanwhile, because on a bare machine it takes
//! longer than all native checks.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::browser;
use crate::counts::{self, Counts};
use crate::equality;
use crate::packages;
use crate::release;
use crate::shell::{self, Failure, Output, Site};
use crate::size;
use crate::tools;

const FORMAT: &str = "fmt --all --check";
const CLIPPY: &str = "clippy --workspace --all-targets -- -D warnings";
const CLIPPY_PAGE: &str =
    "clippy --package leasehold-playground --target wasm32-unknown-unknown -- -D warnings";
const LESSONS: &str = "run --quiet --package leasehold-cli -- check lessons";
const LESSONS_NEGATED: &str = "run --quiet --package leasehold-cli -- check lessons --negate-each";
const WAITING: &str = "waiting for tools";
/// Every test binary runs, so that the counts are those of the whole.
const NATIVE_TESTS: &str = "test --workspace --no-fail-fast";

/// Everything; with `fast`, everything that needs no browser.
pub(crate) fn run(site: &Site, fast: bool) -> Result<(), Failure> {
    let mut report = Report::new();
    let mut background = None;
    let outcome = run_phases(site, fast, &mut background, &mut report);
    if let Some(background) = background {
        // A phase failed. Let the installations end, so that the next run finds them whole; the phase is
        // what is told, and an installation that failed as well has said so already.
        let _ = report.phase(WAITING, || background.finish());
    }
    report.print_minutes();
    // The counts close a good run, and stand above the error of a bad one.
    if outcome.is_ok() || 0 < report.counts.total() {
        println!("{}", report.counts);
    }
    outcome
}

fn run_phases(
    site: &Site,
    fast: bool,
    background: &mut Option<Background>,
    report: &mut Report,
) -> Result<(), Failure> {
    report.phase("set-up", || {
        tools::ensure_wasm_target(site, Output::Terminal)?;
        packages::ensure_node(site, Output::Terminal)
    })?;
    *background = (!fast).then(|| Background::start(site));
    report.phase("format", || cargo(site, FORMAT))?;
    report.phase("clippy", || {
        cargo(site, CLIPPY).and_then(|()| cargo(site, CLIPPY_PAGE))
    })?;
    report.counted_phase("native tests", |counts| native_tests(site, &[], counts))?;
    report.phase("lessons", || {
        cargo(site, LESSONS).and_then(|()| cargo(site, LESSONS_NEGATED))
    })?;
    report.phase("wasm and native", || equality::run(site))?;
    let Some(background) = background.take() else {
        return Ok(());
    };
    let chromium = report.phase(WAITING, || background.finish())?;
    report.phase("release build", || release::build(site))?;
    report.phase("size", || size::report(site))?;
    report.counted_phase("browser tests", |counts| {
        browser_tests(site, &chromium, &[], counts)
    })
}

/// The tests whose name contains `name`: native ones, or, if there are none, those of the page.
pub(crate) fn run_one(site: &Site, name: &str) -> Result<(), Failure> {
    let mut counts = Counts::default();
    let mut outcome = native_tests(site, &[name], &mut counts);
    if outcome.is_ok() && counts.total() == 0 {
        println!("no native test is called so; looking among the browser tests");
        release::ensure(site)?;
        let chromium = browser::ensure_chromium(site, Output::Terminal)?;
        let pattern = escape(name);
        outcome = browser_tests(site, &chromium, &["--grep", &pattern], &mut counts);
        if counts.total() == 0 {
            let what = format!("no test is called `{name}`, natively or in the browser");
            return Err(Failure::new(what, "cargo test --workspace -- --list"));
        }
    }
    outcome?;
    println!("{counts}");
    Ok(())
}

fn cargo(site: &Site, line: &str) -> Result<(), Failure> {
    shell::run(&mut site.cargo(line), Output::Terminal)
}

fn native_tests(site: &Site, filter: &[&str], counts: &mut Counts) -> Result<(), Failure> {
    let mut command = site.cargo(NATIVE_TESTS);
    command.args(filter);
    let typed = shell::as_typed(&command);
    let (output, succeeded) = shell::run_reading(&mut command)?;
    let found = counts::of_cargo_test(&output);
    *counts += found;
    if succeeded {
        return Ok(());
    }
    let what = match found.failed {
        0 => "the native tests did not run to their end".to_owned(),
        failed => format!("{failed} native tests failed"),
    };
    Err(Failure::new(what, typed))
}

fn browser_tests(
    site: &Site,
    chromium: &PathBuf,
    filter: &[&str],
    counts: &mut Counts,
) -> Result<(), Failure> {
    let mut command = site.command("node");
    command.args([
        "e2e/node_modules/@playwright/test/cli.js",
        "test",
        "--config",
        "e2e",
    ]);
    // Colours would hide the counts from us.
    command
        .args(filter)
        .env("CHROMIUM", chromium)
        .env("FORCE_COLOR", "0")
        .env_remove("NO_COLOR");
    let by_hand = format!(
        "CHROMIUM={} {}",
        chromium.display(),
        shell::as_typed(&command)
    );
    let (output, succeeded) = shell::run_reading(&mut command)?;
    let found = counts::of_playwright(&output);
    *counts += found;
    if succeeded {
        return Ok(());
    }
    Err(Failure::new(
        format!("{} browser tests failed", found.failed),
        by_hand,
    ))
}

/// Playwright reads a regular expression; a name is meant literally.
fn escape(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        if "\\^$.*+?()[]{}|/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// What is installed while the native checks run: one thread for Rust's tools, one for Node's.
struct Background {
    rust: JoinHandle<Result<(), Failure>>,
    node: JoinHandle<Result<PathBuf, Failure>>,
}

impl Background {
    fn start(site: &Site) -> Self {
        let rust_site = site.clone();
        let rust = thread::spawn(move || {
            let log = rust_site.scratch_dir().join("install-rust-tools.log");
            tools::ensure_trunk(&rust_site, Output::Log(&log))?;
            tools::ensure_wasm_bindgen(&rust_site, Output::Log(&log))
        });
        let node_site = site.clone();
        let node = thread::spawn(move || {
            let log = node_site.scratch_dir().join("install-node-tools.log");
            packages::ensure_packages(&node_site, Output::Log(&log))?;
            packages::ensure_wasm_opt(&node_site, Output::Log(&log))?;
            browser::ensure_chromium(&node_site, Output::Log(&log))
        });
        Background { rust, node }
    }

    /// Waits for both, and returns the browser.
    fn finish(self) -> Result<PathBuf, Failure> {
        let panicked = |_| Failure::new("an installation panicked", "cargo xtask serve --check");
        let rust = self.rust.join().map_err(panicked)?;
        let node = self.node.join().map_err(panicked)?;
        rust.and(node)
    }
}

/// Minutes and counts as they come in.
struct Report {
    phases: Vec<(&'static str, Duration)>,
    counts: Counts,
}

impl Report {
    fn new() -> Self {
        Report {
            phases: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn phase<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        self.phases.push((name, start.elapsed()));
        outcome.map_err(|failure| {
            Failure::new(format!("phase `{name}`: {}", failure.what), failure.by_hand)
        })
    }

    fn counted_phase(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Counts) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut counts = Counts::default();
        let outcome = self.phase(name, || work(&mut counts));
        self.counts += counts;
        outcome
    }

    fn print_minutes(&self) {
        println!("\n== minutes");
        for (name, took) in &self.phases {
            println!("{:>7.2}  {name}", took.as_secs_f64() / 60.0);
        }
        let total: Duration = self.phases.iter().map(|(_, took)| *took).sum();
        println!("{:>7.2}  in all\n", total.as_secs_f64() / 60.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_pattern() {
        assert_eq!(escape("who holds? (A)"), "who holds\\? \\(A\\)");
    }

    #[test]
    fn a_failed_phase_is_named_and_its_counts_are_kept() {
        let mut report = Report::new();
        let outcome = report.counted_phase("native tests", |counts| {
            *counts += Counts {
                passed: 3,
                failed: 1,
            };
            Err(Failure::new("1 native tests failed", "cargo test"))
        });
        let failure = outcome.expect_err("the work failed");
        assert_eq!(failure.what, "phase `native tests`: 1 native tests failed");
        assert_eq!(failure.by_hand, "cargo test");
        assert_eq!(
            report.counts,
            Counts {
                passed: 3,
                failed: 1
            }
        );
        assert_eq!(report.phases.len(), 1);
    }
}
