//! Figures as the page writes them: one decimal, a thin hand, the unit apart.
//!
//! The sentences of events and rules are the lesson crate's; here are only numbers.

use leasehold_engine::units::{Duration, SimTime};

/// `8.3` for 8.31 seconds: rounded down to tenths, so that a clock never shows what is not yet.
#[must_use]
pub fn seconds(at: SimTime) -> String {
    tenths(at.0)
}

/// `9.2` of a span.
#[must_use]
pub fn span_seconds(span: Duration) -> String {
    tenths(span.0)
}

/// `15.200` seconds: for the clock that follows every step.
#[must_use]
pub fn millis(at: SimTime) -> String {
    format!("{}.{:03}", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}

fn tenths(micros: u64) -> String {
    format!("{}.{}", micros / 1_000_000, micros / 100_000 % 10)
}

/// A length in CSS pixels to a tenth: `12.5`. Whole numbers do; floats print by a long algorithm
/// that the page would have to carry for this alone.
#[must_use]
pub fn px(value: f32) -> String {
    let tenths = (value * 10.0).round() as i32;
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match size % 10 {
        0 => format!("{sign}{}", size / 10),
        rest => format!("{sign}{}.{rest}", size / 10),
    }
}

/// A part of one to four digits: `0.0625`.
#[must_use]
pub fn part(value: f32) -> String {
    let all = (value * 10_000.0).round().max(0.0).min(10_000.0) as u32;
    format!("{}.{:04}", all / 10_000, all % 10_000)
}

/// How long ago a check was: `just now`, `0.4 s ago`, `9.2 s ago`.
#[must_use]
pub fn age(span: Duration) -> String {
    if span.0 < 100_000 {
        "just now".to_owned()
    } else {
        format!("{} s ago", span_seconds(span))
    }
}

/// The rate and offset of a clock that is not true: `+10 %`, `+2 s`.
#[must_use]
pub fn clock_badge(rate_ppm: u32, offset_micros: i64) -> Option<String> {
    let mut parts = Vec::new();
    if rate_ppm != 1_000_000 {
        let (sign, off) = signed(i64::from(rate_ppm) - 1_000_000);
        parts.push(format!("{sign}{} %", short(off, 10_000)));
    }
    if offset_micros != 0 {
        let (sign, off) = signed(offset_micros);
        parts.push(format!("{sign}{} s", short(off, 1_000_000)));
    }
    if parts.is_empty() {
        None
    } else {
        Some(parts.join(", "))
    }
}

const fn signed(value: i64) -> (char, u64) {
    (if value < 0 { '−' } else { '+' }, value.unsigned_abs())
}

fn short(value: u64, unit: u64) -> String {
    let tenth = unit / 10;
    match (value / unit, value % unit / tenth) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest}"),
    }
}

/// Straight quotes as a printer sets them.
#[must_use]
pub fn typeset(text: &str) -> String {
    let mut set = String::with_capacity(text.len());
    let mut before = ' ';
    let mut ticks = 0;
    for c in text.chars() {
        let opens = before.is_whitespace() || before == '(';
        set.push(match c {
            '\'' if opens => '‘',
            '\'' => '’',
            '"' if opens => '“',
            '"' => '”',
            // What stands as it is written, between two ticks.
            '`' => {
                ticks += 1;
                if ticks % 2 == 1 { '“' } else { '”' }
            }
            c => c,
        });
        before = c;
    }
    set
}

/// A sentence for the live region: at most 120 characters, cut at a word.
#[must_use]
pub fn spoken(text: &str) -> String {
    const MOST: usize = 120;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MOST - 1).collect();
    let (whole, _) = cut.rsplit_once(' ').unwrap_or((&cut, ""));
    format!("{}…", whole.trim_end_matches([',', ';', ':', '.']))
}

/// A name as a list reads it: `A`, `A and B`, `A, B and C`.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_one_decimal() {
        assert_eq!(seconds(SimTime(8_399_999)), "8.3");
        assert_eq!(millis(SimTime(8_309_999)), "8.309");
        assert_eq!(age(Duration::millis(40)), "just now");
        assert_eq!(age(Duration::millis(9_240)), "9.2 s ago");
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!(
            [px(12.0), px(12.54), px(-0.26), px(0.04)],
            ["12", "12.5", "-0.3", "0"]
        );
        assert_eq!([part(0.0625), part(1.0)], ["0.0625", "1.0000"]);
    }

    #[test]
    fn badges_say_how_a_clock_is_off() {
        assert_eq!(clock_badge(1_000_000, 0), None);
        assert_eq!(clock_badge(1_100_000, 0).as_deref(), Some("+10 %"));
        assert_eq!(
            clock_badge(995_000, -2_500_000).as_deref(),
            Some("−0.5 %, −2.5 s")
        );
    }

    #[test]
    fn quotes_are_set() {
        assert_eq!(typeset("`C` is"), "“C” is");
        assert_eq!(
            typeset("A's \"charge 7\" ('now')"),
            "A’s “charge 7” (‘now’)"
        );
    }

    #[test]
    fn what_is_spoken_is_short() {
        let long = "word ".repeat(60);
        let said = spoken(&long);
        assert!(said.chars().count() <= 120 && said.ends_with('…'), "{said}");
        assert_eq!(spoken("A sleeps."), "A sleeps.");
        assert_eq!(listed(&["A", "B", "C"]), "A, B and C");
    }
}
