//! The project's automation: one command does its own set-up, then the work.
//!
//! Think of a stage manager: nobody comes to see it, but it has the props ready before the play begins.
//! Whatever a task needs (a wasm target, trunk, a browser) is looked for first, got if it is missing, and
//! named with the command to run by hand if it cannot be had.
//!
//! Left out on purpose: any dependency, so that the first `cargo xtask` on a bare machine answers within
//! seconds; and any knowledge of what the page or the engine do.

mod args;
mod counts;
mod files;
mod lock;
mod shell;

mod browser;
mod debian;
mod packages;
mod tools;

mod bench;
mod equality;
mod http;
mod mutants;
mod release;
mod serve;
mod shots;
mod size;
mod suite;

use std::process::ExitCode;

use args::Task;
use shell::{Failure, Site};

fn main() -> ExitCode {
    let task = match args::parse(std::env::args().skip(1)) {
        Ok(task) => task,
        Err(message) => {
            eprintln!("error: {message}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match perform(&task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: &Task) -> Result<(), Failure> {
    let site = Site::locate()?;
    match task {
        Task::Usage => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Task::Serve {
            check: false,
            trunk_args,
        } => serve::run(&site, trunk_args),
        Task::Serve {
            check: true,
            trunk_args,
        } => serve::check(&site, trunk_args),
        Task::Test {
            only: Some(name), ..
        } => suite::run_one(&site, name),
        Task::Test { fast, only: None } => suite::run(&site, *fast),
        Task::Bench => bench::run(&site),
        Task::Mutants { seed, count } => mutants::run(&site, *seed, *count),
        Task::Shots { only } => shots::run(&site, only.as_deref()),
        Task::Size => size::run(&site),
    }
}
