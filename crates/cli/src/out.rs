//! Printing to a pipe that may close early: `leasehold run … | head` ends quietly.

use std::io::Write;
use std::process;

/// Prints a line; ends the program without a word when nobody reads any more.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        process::exit(0);
    }
}
