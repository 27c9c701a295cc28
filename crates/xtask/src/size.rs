//! The size report: every shipped file raw, gzipped and under brotli, and what the first lesson needs.
//!
//! A reader on a train pays for each byte before the first picture, so the bar is on what must arrive for the
//! first lesson. Everything that is shipped counts, except what is known to be fetched later: the other
//! lessons. A file that somebody adds counts until it is shown to be fetched later.

use crate::release;
use crate::shell::{self, Failure, Site};

/// DESIGN: at most 350 KiB gzip, everything needed for the first lesson.
const GZIP_BYTES_MAX: u64 = 350 * 1024;

const FIRST_LESSON: &str = "lessons/pause-outlives-its-lease";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shipped {
    path: String,
    raw: u64,
    gzip: u64,
    brotli: u64,
}

impl Shipped {
    fn is_needed_first(&self) -> bool {
        !self.path.starts_with("lessons/") || self.path.starts_with(FIRST_LESSON)
    }
}

pub(crate) fn run(site: &Site) -> Result<(), Failure> {
    release::ensure(site)?;
    report(site)
}

/// Prints the table for the build in `dist`; above the bar is a failure.
pub(crate) fn report(site: &Site) -> Result<(), Failure> {
    let by_hand = "node e2e/size.mjs dist";
    let answer = shell::answer_of(site.command("node").args(["e2e/size.mjs", "dist"]))?;
    let files = parse(&String::from_utf8_lossy(&answer))
        .ok_or_else(|| Failure::new("the size report cannot be read", by_hand))?;
    if !files.iter().any(|file| file.path.ends_with(".wasm")) {
        return Err(Failure::new("dist holds no wasm", release::BY_HAND));
    }
    let needed: Vec<&Shipped> = files.iter().filter(|file| file.is_needed_first()).collect();
    println!("{:>10} {:>10} {:>10}", "raw", "gzip", "brotli");
    for file in &files {
        let mark = if file.is_needed_first() {
            ""
        } else {
            "   (fetched when it is opened)"
        };
        print_row(
            file.raw,
            file.gzip,
            file.brotli,
            &format!("{}{mark}", file.path),
        );
    }
    let gzip = needed.iter().map(|file| file.gzip).sum();
    print_row(
        needed.iter().map(|file| file.raw).sum(),
        gzip,
        needed.iter().map(|file| file.brotli).sum(),
        "needed for the first lesson",
    );
    println!(
        "first lesson: {} of at most {} KiB gzip",
        kib(gzip),
        kib(GZIP_BYTES_MAX)
    );
    if gzip <= GZIP_BYTES_MAX {
        return Ok(());
    }
    let what = format!(
        "the first lesson needs {} KiB gzip, above the bar",
        kib(gzip)
    );
    Err(Failure::new(what, "cargo xtask size"))
}

fn print_row(raw: u64, gzip: u64, brotli: u64, name: &str) {
    println!("{raw:>10} {gzip:>10} {brotli:>10}  {name}");
}

/// One decimal, rounded up, so that a figure above the bar never reads as the bar.
fn kib(bytes: u64) -> String {
    let tenths = (bytes * 10).div_ceil(1024);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Lines of `raw gzip brotli path`, separated by tabs.
fn parse(answer: &str) -> Option<Vec<Shipped>> {
    answer
        .lines()
        .map(|line| {
            let mut cells = line.splitn(4, '\t');
            let mut number = || cells.next()?.parse().ok();
            let (raw, gzip, brotli) = (number()?, number()?, number()?);
            Some(Shipped {
                path: cells.next()?.to_owned(),
                raw,
                gzip,
                brotli,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_report_and_sorts_out_later_lessons() {
        let files = parse("9\t5\t4\tindex.html\n8\t7\t6\tlessons/a-lease.md\n").expect("two lines");
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].raw, files[0].gzip, files[0].brotli), (9, 5, 4));
        assert!(files[0].is_needed_first());
        assert!(!files[1].is_needed_first());
        assert_eq!(parse("nine\t5\t4\tindex.html"), None);
    }

    #[test]
    fn rounds_up() {
        assert_eq!(kib(GZIP_BYTES_MAX), "350.0");
        assert_eq!(kib(GZIP_BYTES_MAX + 1), "350.1");
    }
}
