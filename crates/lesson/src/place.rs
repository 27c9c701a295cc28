//! Where something stands in a lesson's file, and what is wrong there.
//!
//! The red pencil in the margin: it marks the spot, says what is wrong and what would be right. No
//! severity levels: what is worth saying here has to be put right.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a text: line and column from 1, columns in characters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// The place this many characters further along the line.
    #[must_use]
    pub const fn along(self, characters: u32) -> Self {
        Self {
            line: self.line,
            column: self.column + characters,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something that is wrong in a file: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub file: String,
    pub place: Place,
    /// One sentence without its full stop.
    pub what: String,
    /// One sentence without its full stop; never empty.
    pub remedy: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.file, self.place, self.what)?;
        write!(f, "  {}", self.remedy)
    }
}

/// Finds lines and columns by byte offset.
#[cfg(feature = "parse")]
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

#[cfg(feature = "parse")]
impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Self { text, starts }
    }

    /// The place of a byte offset; an offset inside a character counts as that character.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let before = self.text[start..]
            .char_indices()
            .take_while(|(at, c)| start + at + c.len_utf8() <= offset)
            .count();
        Place {
            line: line as u32,
            column: before as u32 + 1,
        }
    }
}

/// The known word that a mistyped one is nearest to, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().count() > 40 {
        return None;
    }
    let close = 1 + word.chars().count() / 4;
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= close)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out, changed or swapped with a neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let changed = rows[i][j] + usize::from(a != b);
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "parse")]
    #[test]
    fn places_count_characters_and_lines() {
        let text = "añb\nc";
        let lines = Lines::of(text);
        let at = |offset| lines.place(offset).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(3), "1:3");
        assert_eq!(at(5), "2:1");
        assert_eq!(at(99), "2:2");
    }

    #[test]
    fn the_nearest_word_is_suggested() {
        let known = ["expect", "predict", "world"];
        assert_eq!(nearest("exepct", known), Some("expect"));
        assert_eq!(nearest("wrld", known), Some("world"));
        assert_eq!(nearest("rust", known), None);
    }
}
