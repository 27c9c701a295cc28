//! Lines `key = value`, the small part of TOML that a `world` block needs.
//!
//! A form with boxes, not a language: texts in double quotes, whole numbers, true and false, lists,
//! and one table `[switches]`. No dates, no fractions, no nesting: a world has no use for them, and
//! the page that reads lessons is smaller without.

use std::ops::Range;

use crate::words::{Trouble, shorten};

/// What stands behind `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// Digits alone.
    Number(String),
    Truth(bool),
    List(Vec<Self>),
}

/// A line that was read, with the byte ranges of its key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) table: Option<String>,
    pub(super) key: String,
    pub(super) key_at: Range<usize>,
    pub(super) value: Value,
    pub(super) value_at: Range<usize>,
}

/// Reads all entries and everything that is wrong, each with its byte offset.
pub(super) fn read(text: &str) -> (Vec<Entry>, Vec<(usize, Trouble)>) {
    let mut scanner = Scanner { text, at: 0 };
    let mut entries: Vec<Entry> = Vec::new();
    let mut wrong = Vec::new();
    let mut table = None;
    loop {
        scanner.skip_blank();
        if scanner.at == text.len() {
            return (entries, wrong);
        }
        let read = if scanner.peek() == Some('[') {
            scanner.header().map(|name| table = Some(name))
        } else {
            scanner.entry(table.as_ref()).map(|entry| {
                let is_twice = entries
                    .iter()
                    .any(|other| other.table == entry.table && other.key == entry.key);
                if is_twice {
                    let what = format!("`{}` is set twice", shorten(&entry.key));
                    wrong.push((
                        entry.key_at.start,
                        Trouble::new(what, "keep one of the two lines"),
                    ));
                } else {
                    entries.push(entry);
                }
            })
        };
        if let Err((at, trouble)) = read.and_then(|()| scanner.end_of_line()) {
            wrong.push((at, trouble));
            scanner.skip_line();
        }
    }
}

type Wrong = (usize, Trouble);

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        while self.peek().is_some_and(&is_part) {
            self.take();
        }
        &self.text[start..self.at]
    }

    fn skip_spaces(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    fn skip_line(&mut self) {
        self.take_while(|c| c != '\n');
    }

    /// Spaces, line ends and comments.
    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.skip_line();
        }
    }

    fn wrong<T>(&self, what: impl Into<String>, remedy: &str) -> Result<T, Wrong> {
        Err((self.at, Trouble::new(what, remedy)))
    }

    fn end_of_line(&mut self) -> Result<(), Wrong> {
        self.skip_spaces();
        match self.peek() {
            None | Some('\n' | '\r' | '#') => {
                self.skip_line();
                Ok(())
            }
            Some(_) => {
                let rest = shorten(self.rest().lines().next().unwrap_or(""));
                self.wrong(
                    format!("`{rest}` stands where the line should end"),
                    "write one key a line",
                )
            }
        }
    }

    fn header(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        self.take();
        let name = self.take_while(|c| c != ']' && c != '\n').trim().to_owned();
        if name != "switches" || self.take() != Some(']') {
            let what = format!("[{}] is not a table of the world block", shorten(&name));
            return Err((start, Trouble::new(what, "the one table is [switches]")));
        }
        Ok(name)
    }

    fn entry(&mut self, table: Option<&String>) -> Result<Entry, Wrong> {
        let key_start = self.at;
        let key = self
            .take_while(|c| c.is_alphanumeric() || c == '_' || c == '-')
            .to_owned();
        if key.is_empty() {
            return self.wrong("a key is expected", "write key = value, as in servers = 3");
        }
        let key_at = key_start..self.at;
        self.skip_spaces();
        if self.peek() != Some('=') {
            let what = format!("no = behind `{}`", shorten(&key));
            return self.wrong(what, "write key = value, as in servers = 3");
        }
        self.take();
        self.skip_spaces();
        let value_start = self.at;
        let value = self.value()?;
        let value_at = value_start..self.at;
        Ok(Entry {
            table: table.cloned(),
            key,
            key_at,
            value,
            value_at,
        })
    }

    fn value(&mut self) -> Result<Value, Wrong> {
        match self.peek() {
            Some('"') => self.quoted().map(Value::Text),
            Some('[') => self.list(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '#');
        let word = self.take_while(|c| !is_end(c)).to_owned();
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        match word.as_str() {
            "true" => Ok(Value::Truth(true)),
            "false" => Ok(Value::Truth(false)),
            "" => self.wrong(
                "a value is missing",
                "write \"text\", a number, true, false or [ a list ]",
            ),
            digits if is_number(digits) => Ok(Value::Number(word)),
            other => {
                let what = format!("`{}` is not a value", shorten(other));
                let remedy = "write texts and times in double quotes, numbers as whole numbers";
                Err((start, Trouble::new(what, remedy)))
            }
        }
    }

    fn quoted(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        self.take();
        let mut value = String::new();
        loop {
            match self.take() {
                Some('"') => return Ok(value),
                Some('\\') => match self.take() {
                    Some(c @ ('"' | '\\')) => value.push(c),
                    _ => {
                        return self
                            .wrong("a lone \\ in a text", "write \\\" for a quote, \\\\ for \\");
                    }
                },
                None | Some('\n') => {
                    let trouble = Trouble::new("the text has no closing quote", "close it with \"");
                    // The line is over already; do not take the next one with it.
                    self.at = self
                        .at
                        .saturating_sub(1)
                        .max(start + 1)
                        .min(self.text.len());
                    return Err((start, trouble));
                }
                Some(c) => value.push(c),
            }
        }
    }

    fn list(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        self.take();
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                Some(']') => {
                    self.take();
                    return Ok(Value::List(items));
                }
                Some('[') => return self.wrong("a list in a list", "write texts or numbers in it"),
                None => {
                    let trouble = Trouble::new("the list never closes", "close it with ]");
                    return Err((start, trouble));
                }
                Some(_) => items.push(self.value()?),
            }
            self.skip_blank();
            match self.peek() {
                Some(',') => {
                    self.take();
                }
                Some(']') | None => {}
                Some(_) => {
                    return self.wrong(
                        "`,` or `]` is missing in a list",
                        "write , between items and ] at the end",
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wrong: &[(usize, &str)]) -> Vec<Entry> {
        let (entries, found) = read(text);
        let found: Vec<(usize, &str)> =
            found.iter().map(|(at, t)| (*at, t.what.as_str())).collect();
        assert_eq!(found, wrong, "{text}");
        entries
    }

    #[test]
    fn keys_and_values_are_read() {
        let text = "# a world\nid = \"x\\\"y\" # why\nn = 12\nok = true\nall = [\"A\",\n  \"B\",]\n\
                    [switches]\nfence = \"off\"\n";
        let entries = check(text, &[]);
        let values: Vec<(&str, &Value)> = entries
            .iter()
            .map(|entry| (entry.key.as_str(), &entry.value))
            .collect();
        let list = Value::List(vec![Value::Text("A".into()), Value::Text("B".into())]);
        assert_eq!(values[0], ("id", &Value::Text("x\"y".into())));
        assert_eq!(values[1], ("n", &Value::Number("12".into())));
        assert_eq!(values[2], ("ok", &Value::Truth(true)));
        assert_eq!(values[3], ("all", &list));
        assert_eq!(entries[4].table.as_deref(), Some("switches"));
        assert_eq!(&text[entries[0].value_at.clone()], "\"x\\\"y\"");
    }

    #[test]
    fn every_wrong_line_is_reported() {
        check("a = 5s\nb = 1\n", &[(4, "`5s` is not a value")]);
        check(
            "a\n= 2\nb =\n",
            &[
                (1, "no = behind `a`"),
                (2, "a key is expected"),
                (9, "a value is missing"),
            ],
        );
        check("a = \"x\nb = 1", &[(4, "the text has no closing quote")]);
        check("a = 1 2\n", &[(6, "`2` stands where the line should end")]);
        check("a = 1\na = 2\n", &[(6, "`a` is set twice")]);
        check(
            "[other]\n",
            &[(0, "[other] is not a table of the world block")],
        );
        check("a = [1", &[(4, "the list never closes")]);
        check("a = [[1]]", &[(5, "a list in a list")]);
    }
}
