//! `equality native [--full]`: the native side of the comparison; `run.mjs` is the other.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use equality::Totals;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let full = match words[..] {
        ["native"] => false,
        ["native", "--full"] => true,
        _ => {
            eprintln!(
                "equality: write `equality native`, or `equality native --full` for every line"
            );
            return ExitCode::from(2);
        }
    };
    match print(full) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads may stop reading.
        Err(_) => ExitCode::FAILURE,
    }
}

fn print(full: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut totals = Totals::default();
    for part in 0..equality::parts() {
        out.write_all(equality::run(part, full, &mut totals).as_bytes())?;
    }
    out.write_all(totals.summary().as_bytes())
}
