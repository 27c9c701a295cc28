//! The words that commands and claims are read from: names, arrows, spans, numbers, quoted texts.
//!
//! A line cut into its words, each with the column where it stands, so that a message can point at
//! one. No escapes but `\"` and `\\`: values are short labels, not documents.

use std::fmt;

use crate::units::{Duration, SpanError, SpanText};

/// Why a line cannot be read: what was expected, at which column (from 1, in characters), what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub column: u32,
    /// The word that stands there; empty at the end of the line.
    pub found: String,
    pub expected: Expected,
}

/// What would be right at the column of a [`ParseError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Command,
    Claim,
    Name,
    /// This word.
    Word(&'static str),
    /// One of these words.
    OneOf(&'static str),
    Span,
    /// The span is well formed, but not usable.
    SpanUpTo(Duration),
    SignedSpan,
    Number,
    /// `+10%` or `-10%`, above -100 % and up to +900 %.
    Rate,
    /// `0%` to `100%`.
    Percent,
    /// `s1>s2#17`
    Message,
    /// Text in double quotes, with a closing quote.
    Quoted,
    Switch,
    /// This switch has no such position.
    Position(crate::switch::Switch),
    Invariant,
    /// A second group behind `|`.
    Group,
    EndOfLine,
}

/// One word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) column: u32,
    pub(crate) text: &'a str,
    pub(crate) quoted: Option<String>,
}

/// A line's words and the place reached in them.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    words: Vec<Word<'a>>,
    at: usize,
    end: u32,
}

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a str) -> Result<Self, ParseError> {
        let mut words = Vec::new();
        let mut rest = line.char_indices().peekable();
        let mut column = 0_u32;
        while let Some((start, c)) = rest.next() {
            column += 1;
            if c.is_whitespace() {
                continue;
            }
            let word_column = column;
            if c == '"' {
                let mut value = String::new();
                let mut closed = None;
                while let Some((at, c)) = rest.next() {
                    column += 1;
                    match c {
                        '"' => {
                            closed = Some(at + 1);
                            break;
                        }
                        '\\' => match rest.next() {
                            Some((_, c @ ('"' | '\\'))) => {
                                column += 1;
                                value.push(c);
                            }
                            _ => break,
                        },
                        c if c.is_control() => break,
                        c => value.push(c),
                    }
                }
                let Some(end) = closed else {
                    let found = line.get(start..).unwrap_or_default().to_owned();
                    return Err(ParseError {
                        column: word_column,
                        found,
                        expected: Expected::Quoted,
                    });
                };
                words.push(Word {
                    column: word_column,
                    text: line.get(start..end).unwrap_or_default(),
                    quoted: Some(value),
                });
                continue;
            }
            let mut end = start + c.len_utf8();
            while let Some(&(at, c)) = rest.peek() {
                if c.is_whitespace() || c == '"' {
                    break;
                }
                end = at + c.len_utf8();
                column += 1;
                rest.next();
            }
            words.push(Word {
                column: word_column,
                text: line.get(start..end).unwrap_or_default(),
                quoted: None,
            });
        }
        Ok(Self {
            words,
            at: 0,
            end: column + 1,
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.words.len()
    }

    pub(crate) fn error(&self, expected: Expected) -> ParseError {
        match self.words.get(self.at) {
            Some(w) => ParseError {
                column: w.column,
                found: w.text.to_owned(),
                expected,
            },
            None => ParseError {
                column: self.end,
                found: String::new(),
                expected,
            },
        }
    }

    /// The error for the word just taken.
    pub(crate) fn error_before(&self, expected: Expected) -> ParseError {
        let mut back = self.clone();
        back.at = back.at.saturating_sub(1);
        back.error(expected)
    }

    /// Takes `word` if it is next.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let there = self
            .words
            .get(self.at)
            .is_some_and(|w| w.quoted.is_none() && w.text == word);
        self.at += usize::from(there);
        there
    }

    /// Whether `word` is next; takes nothing.
    pub(crate) fn is_next(&self, word: &str) -> bool {
        self.clone().take(word)
    }

    /// Takes all of `words` if they come next, or none.
    pub(crate) fn take_all(&mut self, words: &[&str]) -> bool {
        let start = self.at;
        for word in words {
            if !self.take(word) {
                self.at = start;
                return false;
            }
        }
        true
    }

    pub(crate) fn word(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.error(Expected::Word(word)))
        }
    }

    pub(crate) fn next(&mut self, expected: Expected) -> Result<&'a str, ParseError> {
        match self.words.get(self.at) {
            Some(w) if w.quoted.is_none() => {
                self.at += 1;
                Ok(w.text)
            }
            _ => Err(self.error(expected)),
        }
    }

    pub(crate) fn name(&mut self) -> Result<String, ParseError> {
        match self.words.get(self.at) {
            Some(w) if w.quoted.is_none() && crate::setup::is_name(w.text) => {
                self.at += 1;
                Ok(w.text.to_owned())
            }
            _ => Err(self.error(Expected::Name)),
        }
    }

    pub(crate) fn quoted(&mut self) -> Result<String, ParseError> {
        match self.words.get(self.at).and_then(|w| w.quoted.clone()) {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => Err(self.error(Expected::Quoted)),
        }
    }

    pub(crate) fn is_quoted(&self) -> bool {
        self.words.get(self.at).is_some_and(|w| w.quoted.is_some())
    }

    pub(crate) fn number(&mut self) -> Result<u64, ParseError> {
        let text = self.next(Expected::Number)?;
        let plain =
            text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        match text.parse() {
            Ok(n) if plain => Ok(n),
            _ => Err(self.error_before(Expected::Number)),
        }
    }

    pub(crate) fn span(&mut self) -> Result<Duration, ParseError> {
        let text = self.next(Expected::Span)?;
        self.span_of(text, Expected::Span)
    }

    fn span_of(&self, text: &str, expected: Expected) -> Result<Duration, ParseError> {
        match text.parse::<SpanText>() {
            Ok(span) => Ok(span.0),
            Err(SpanError::Shape) => Err(self.error_before(expected)),
            Err(SpanError::TooFine | SpanError::TooLong) => {
                Err(self.error_before(Expected::SpanUpTo(Duration::LONGEST)))
            }
        }
    }

    /// `+2s` or `-2s`, in microseconds.
    pub(crate) fn signed_span(&mut self) -> Result<i64, ParseError> {
        let text = self.next(Expected::SignedSpan)?;
        let (sign, span) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(span), _) => (1, span),
            (_, Some(span)) => (-1, span),
            (None, None) => return Err(self.error_before(Expected::SignedSpan)),
        };
        let span = self.span_of(span, Expected::SignedSpan)?;
        Ok(sign * span.0 as i64)
    }

    /// `12.5%`, in parts per million of one.
    pub(crate) fn percent(&mut self) -> Result<u32, ParseError> {
        let text = self.next(Expected::Percent)?;
        let ppm = text
            .strip_suffix('%')
            .and_then(ppm_of)
            .filter(|ppm| *ppm <= 1_000_000);
        ppm.ok_or_else(|| self.error_before(Expected::Percent))
    }

    /// `+10%` or `-10%`: the rate in parts per million, above 0 and at most ten times.
    pub(crate) fn rate(&mut self) -> Result<u32, ParseError> {
        let text = self.next(Expected::Rate)?;
        let change = |t: &str| t.strip_suffix('%').and_then(ppm_of);
        let rate = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(t), _) => change(t).map(|ppm| 1_000_000 + ppm),
            (_, Some(t)) => change(t).and_then(|ppm| 1_000_000_u32.checked_sub(ppm)),
            (None, None) => None,
        };
        rate.filter(|r| (1..=10_000_000).contains(r))
            .ok_or_else(|| self.error_before(Expected::Rate))
    }

    pub(crate) fn end(&self) -> Result<(), ParseError> {
        if self.is_done() {
            Ok(())
        } else {
            Err(self.error(Expected::EndOfLine))
        }
    }
}

/// A percentage without its sign, in parts per million; at most four decimals, below 10,000 %.
fn ppm_of(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let sound = !whole.is_empty()
        && whole.len() <= 4
        && fraction.len() <= 4
        && digits(whole)
        && digits(fraction);
    if !sound || (text.contains('.') && fraction.is_empty()) {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<4}").parse().ok()?;
    whole
        .parse::<u32>()
        .ok()
        .map(|whole| whole * 10_000 + fraction)
}

/// Serialises a type as the text that its `Display` prints and its `FromStr` reads.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let read = text.parse();
                read.map_err(|_| serde::de::Error::custom(concat!("no ", stringify!($type))))
            }
        }
    };
}
pub(crate) use serde_as_text;

/// Parts per million as a percentage, as short as it goes: `10%`, `0.5%`.
pub(crate) struct PercentText(pub(crate) u32);

impl fmt::Display for PercentText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        if rest == 0 {
            return write!(f, "{whole}%");
        }
        let digits = format!("{rest:04}");
        write!(f, "{whole}.{}%", digits.trim_end_matches('0'))
    }
}

/// A text in double quotes, as [`Words`] reads it back.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            if c == '"' || c == '\\' {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}
