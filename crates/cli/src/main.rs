//! The `leasehold` command: holds lessons to their word, runs lessons and scripts, and searches worlds.
//!
//! The workshop's bench tool. It reads files and prints; everything it knows comes from the lesson
//! crate. Exit codes: 0 all is well, 1 a claim or a lesson is wrong or fuzz found a break, 2 it was called
//! wrongly or a file cannot be read.

mod args;
mod check;
mod explore;
mod explore_leases;
mod files;
mod fuzz;
mod out;
mod run;

use std::env;
use std::process::ExitCode;

use args::{Command, Wrong};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Well,
    /// A claim is false, a lesson is wrong, or fuzz found a break.
    Wrong,
    /// Called wrongly, or a file cannot be read.
    Unusable,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let end = match args::parse(&arguments) {
        Ok(Command::Help) => {
            out::line(args::HELP);
            End::Well
        }
        Ok(Command::Check(check)) => check::check(&check),
        Ok(Command::Run(run)) => run::run(&run),
        Ok(Command::Explore(search)) => explore::explore(&search),
        Ok(Command::Fuzz(options)) => fuzz::fuzz(&options),
        Err(Wrong { what, remedy }) => {
            eprintln!("leasehold: {what}\n  {remedy}");
            End::Unusable
        }
    };
    ExitCode::from(match end {
        End::Well => 0,
        End::Wrong => 1,
        End::Unusable => 2,
    })
}
