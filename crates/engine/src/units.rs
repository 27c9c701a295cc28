//! Ids, times and counters as types of their own, so that a term is never added to a token.
//!
//! Like the units on a ruler: a number alone says nothing. All times are whole microseconds.
//! `SimTime` is the world's; `LocalTime` is one process's monotonic clock and `WallTime` its wall
//! clock. They deliberately do not convert: only a [`crate::world::Clock`] relates them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// A process, by its place in [`crate::setup::Names`]: servers first, then workers, clients, stores.
    ProcessId(u8)
}
number! {
    /// A protected thing that one worker at a time may hold, by its place in the names' resources.
    ResourceId(u8)
}
number! {
    /// A Raft term; 0 before the first election (Raft §5.1).
    Term(u64)
}
number! {
    /// A place in a Raft log; the first entry is 1, 0 means none.
    LogIndex(u64)
}
number! {
    /// A fencing token: a resource's generation, 1 for the first grant; 0 stands for "none".
    Token(u64)
}
number! {
    /// True time in microseconds since the run's zero. Only the world knows it.
    SimTime(u64)
}
number! {
    /// One process's monotonic clock, in its own microseconds.
    LocalTime(u64)
}
number! {
    /// One process's wall clock, in its own microseconds; it can jump.
    WallTime(i64)
}
number! {
    /// A span of time in microseconds, on whichever clock it is added to.
    Duration(u64)
}
number! {
    /// The number of a step in its run, counted from 0. Commands count as steps.
    StepNumber(u64)
}
number! {
    /// A request's number at the process that asks; a retry keeps it.
    RequestId(u64)
}
number! {
    /// An operation's number, given with a write: whoever repeats it, it takes effect once.
    OpId(u64)
}

impl LogIndex {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl Term {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Token {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl SimTime {
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to this; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl LocalTime {
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to this; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl WallTime {
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

impl Duration {
    pub const ZERO: Self = Self(0);
    /// The longest span that a command, a lease or a timeout may name: 2^40 µs, about 12.7 days.
    pub const LONGEST: Self = Self(1 << 40);

    #[must_use]
    pub const fn micros(n: u64) -> Self {
        Self(n)
    }

    #[must_use]
    pub const fn millis(n: u64) -> Self {
        Self(n * 1_000)
    }

    #[must_use]
    pub const fn secs(n: u64) -> Self {
        Self(n * 1_000_000)
    }
}

/// Writes microseconds in the largest unit that keeps them whole or short: `5s`, `1.6s`, `300ms`, `250us`.
pub(crate) fn write_span(micros: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (unit, name) = match micros {
        0 => return f.write_str("0s"),
        1..1_000 => (1, "us"),
        1_000..1_000_000 => (1_000, "ms"),
        _ => (1_000_000, "s"),
    };
    let whole = micros / unit;
    let rest = micros % unit;
    if rest == 0 {
        return write!(f, "{whole}{name}");
    }
    let width = if unit == 1_000 { 3 } else { 6 };
    let digits = format!("{rest:0width$}");
    write!(f, "{whole}.{}{name}", digits.trim_end_matches('0'))
}

/// A span as text: `5s`, `1.6s`, `300ms`, `250us`. Inverse of its `FromStr`.
#[derive(Clone, Copy, Debug)]
pub struct SpanText(pub Duration);

impl fmt::Display for SpanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_span(self.0.0, f)
    }
}

/// Why a text is not a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanError {
    /// Not a decimal number followed by `s`, `ms` or `us`.
    Shape,
    /// Finer than a microsecond.
    TooFine,
    /// Beyond [`Duration::LONGEST`].
    TooLong,
}

impl FromStr for SpanText {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let (number, unit) = if let Some(n) = text.strip_suffix("ms") {
            (n, 1_000_u64)
        } else if let Some(n) = text.strip_suffix("us") {
            (n, 1)
        } else if let Some(n) = text.strip_suffix('s') {
            (n, 1_000_000)
        } else {
            return Err(SpanError::Shape);
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || (number.contains('.') && !digits(fraction)) {
            return Err(SpanError::Shape);
        }
        let whole: u64 = whole.parse().map_err(|_| SpanError::TooLong)?;
        let mut micros = whole.checked_mul(unit).ok_or(SpanError::TooLong)?;
        let mut weight = unit;
        for digit in fraction.bytes().map(|b| u64::from(b - b'0')) {
            if weight % 10 != 0 && digit != 0 {
                return Err(SpanError::TooFine);
            }
            weight /= 10;
            micros = micros
                .checked_add(digit * weight)
                .ok_or(SpanError::TooLong)?;
        }
        if micros > Duration::LONGEST.0 {
            return Err(SpanError::TooLong);
        }
        Ok(Self(Duration(micros)))
    }
}

/// A set of processes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessSet(pub u32);

impl ProcessSet {
    #[must_use]
    pub const fn with(self, id: ProcessId) -> Self {
        Self(self.0 | 1 << id.0)
    }

    #[must_use]
    pub const fn without(self, id: ProcessId) -> Self {
        Self(self.0 & !(1 << id.0))
    }

    #[must_use]
    pub const fn contains(self, id: ProcessId) -> bool {
        self.0 & 1 << id.0 != 0
    }

    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, lowest first.
    pub fn iter(self) -> impl Iterator<Item = ProcessId> {
        (0..32).map(ProcessId).filter(move |id| self.contains(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, micros: u64, printed: &str) {
        let span: SpanText = text.parse().unwrap();
        assert_eq!(span.0, Duration(micros), "{text}");
        assert_eq!(span.to_string(), printed, "{text}");
    }

    #[test]
    fn spans_print_as_they_are_read() {
        check("5s", 5_000_000, "5s");
        check("1.6s", 1_600_000, "1.6s");
        check("300ms", 300_000, "300ms");
        check("1500ms", 1_500_000, "1.5s");
        check("0.25ms", 250, "250us");
        check("0s", 0, "0s");
        check("1.000001s", 1_000_001, "1.000001s");
    }

    #[test]
    fn spans_that_are_none_say_why() {
        let error = |text: &str| text.parse::<SpanText>().unwrap_err();
        assert_eq!(error("5"), SpanError::Shape);
        assert_eq!(error("-5s"), SpanError::Shape);
        assert_eq!(error(".5s"), SpanError::Shape);
        assert_eq!(error("5.s"), SpanError::Shape);
        assert_eq!(error("1.0000001s"), SpanError::TooFine);
        assert_eq!(error("1099511627777us"), SpanError::TooLong);
        assert_eq!(error("99999999999999999999s"), SpanError::TooLong);
    }
}
