//! Counts tests by reading what cargo and Playwright print.
//!
//! Both end with a line of totals meant for people; reading that line back is the clerk's way to add up
//! several reports. The exact formats are pinned by the tests below and by the versions we pin.

use std::fmt;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Counts {
    pub(crate) fn total(self) -> u64 {
        self.passed + self.failed
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Sums the `test result:` lines, one for each test binary.
pub(crate) fn of_cargo_test(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines() {
        // Only a line that starts so: a test may print these words itself.
        let Some(result) = line.strip_prefix("test result: ") else {
            continue;
        };
        let Some((_, numbers)) = result.split_once(". ") else {
            continue;
        };
        for part in numbers.split("; ") {
            count(part, &mut counts);
        }
    }
    counts
}

/// Sums Playwright's closing lines: `  3 passed (4.1s)`, `  1 failed`. A test that did not run, was
/// interrupted, or passed only when tried again, did not pass.
pub(crate) fn of_playwright(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines() {
        if line.starts_with("  ") {
            count(line.trim(), &mut counts);
        }
    }
    counts
}

fn count(part: &str, counts: &mut Counts) {
    let mut words = part.split(' ');
    let Some(Ok(number)) = words.next().map(str::parse::<u64>) else {
        return;
    };
    let rest: Vec<&str> = words.collect();
    match rest.as_slice() {
        ["passed"] => counts.passed += number,
        ["passed", took] if took.starts_with('(') => counts.passed += number,
        ["failed" | "flaky" | "interrupted"] | ["did", "not", "run"] => counts.failed += number,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_binaries_of_cargo_test() {
        let output = "\
running 2 tests
test a ... ok
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 5 filtered out; finished in 0.00s

   my own line: test result: ok. 7 passed; 0 failed
test result: FAILED. 10 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
";
        assert_eq!(
            of_cargo_test(output),
            Counts {
                passed: 12,
                failed: 3
            }
        );
        assert_eq!(of_cargo_test("error: could not compile"), Counts::default());
    }

    #[test]
    fn sums_the_end_of_playwright() {
        let output = "\
Running 6 tests using 2 workers

  ✓  1 tests/smoke.spec.mjs:5:1 › 2 passed words in a title (1.0s)
  1 failed
    tests/smoke.spec.mjs:9:1 › the stage appears
  1 flaky
  1 skipped
  2 did not run
  3 passed (4.1s)
";
        assert_eq!(
            of_playwright(output),
            Counts {
                passed: 3,
                failed: 4
            }
        );
    }
}
