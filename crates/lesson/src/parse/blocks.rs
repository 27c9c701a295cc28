//! The fenced blocks of a page: `watch`, `run`, `expect`, `predict` and `goal`, line by line.
//!
//! Each line stands for itself, so that one that is wrong does not hide the next.

use leasehold_engine::claim::Claim;
use leasehold_engine::setup::Names;
use leasehold_engine::units::SpanText;

use crate::goal::{Budget, Verb};
use crate::lesson::{CaptionLine, Choice, Directive, Goal, Predict, Stated};
use crate::place::{Place, nearest};
use crate::script::{self, LineError};
use crate::template::Template;
use crate::words;

use super::markdown::{Fence, Line};
use super::{Errors, ID_REMEDY, is_id};

const ARROW: &str = " => ";

/// Reads blocks with the world's names and the pages' headings at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) names: &'a Names,
    pub(super) headings: &'a [String],
}

/// A part of a line, with its place.
#[derive(Clone, Copy, Debug)]
struct Part<'l> {
    text: &'l str,
    place: Place,
}

impl<'l> Part<'l> {
    fn of(line: &'l Line, errors: &Errors<'_>) -> Self {
        let whole = Self {
            text: &line.text,
            place: errors.lines.place(line.offset),
        };
        whole.trimmed()
    }

    fn trimmed(self) -> Self {
        let text = self.text.trim_start();
        let skipped = &self.text[..self.text.len() - text.len()];
        Self {
            text: text.trim_end(),
            place: self.place.along(skipped.chars().count() as u32),
        }
    }

    /// What stands behind the first `bytes`, which must end at a character.
    fn after(self, bytes: usize) -> Self {
        let (before, text) = self.text.split_at(bytes);
        let place = self.place.along(before.chars().count() as u32);
        Self { text, place }.trimmed()
    }

    fn strip(self, prefix: &str) -> Option<Self> {
        self.text
            .starts_with(prefix)
            .then(|| self.after(prefix.len()))
    }

    /// Both sides of the first separator outside quotes.
    fn split(self, separator: &str) -> Option<(Self, Self)> {
        let at = find_outside_quotes(self.text, separator)?;
        let left = Self {
            text: &self.text[..at],
            ..self
        };
        Some((left.trimmed(), self.after(at + separator.len())))
    }
}

fn find_outside_quotes(text: &str, separator: &str) -> Option<usize> {
    let is_outside = |at: &usize| text[..*at].matches('"').count().is_multiple_of(2);
    text.match_indices(separator)
        .map(|(at, _)| at)
        .find(is_outside)
}

fn lines<'l>(fence: &'l Fence, errors: &Errors<'_>) -> Vec<Part<'l>> {
    let parts = fence.lines.iter().map(|line| Part::of(line, errors));
    parts.filter(|part| !part.text.is_empty()).collect()
}

fn report(error: LineError, place: Place, errors: &mut Errors<'_>) {
    let place = place.along(error.column.saturating_sub(1));
    errors.add_at(place, error.trouble.what, error.trouble.remedy);
}

impl Reader<'_> {
    fn claim(&self, part: Part<'_>, errors: &mut Errors<'_>) -> Option<Claim> {
        let read = script::claim(part.text, self.names);
        read.map_err(|error| report(error, part.place, errors)).ok()
    }

    fn stated(&self, part: Part<'_>, errors: &mut Errors<'_>) -> Option<Stated> {
        let claim = self.claim(part, errors)?;
        Some(Stated {
            claim,
            place: part.place,
            negated: false,
        })
    }

    pub(super) fn watch(&self, fence: &Fence, errors: &mut Errors<'_>) -> Vec<CaptionLine> {
        let lines = lines(fence, errors);
        lines
            .into_iter()
            .filter_map(|line| self.caption(line, errors))
            .collect()
    }

    /// `CLAIM => A: text`, where the claim and the process are optional.
    fn caption(&self, line: Part<'_>, errors: &mut Errors<'_>) -> Option<CaptionLine> {
        let (when, rest) = match line.split(ARROW) {
            Some((claim, rest)) => (Some(self.claim(claim, errors)?), rest),
            None => (None, line),
        };
        let named = rest
            .text
            .split_once(':')
            .filter(|(name, _)| self.names.find(name).is_some());
        let (look_at, text) = match named {
            Some((name, _)) => (Some(name.to_owned()), rest.after(name.len() + 1)),
            None => (None, rest),
        };
        let template = self.template(text, errors)?;
        Some(CaptionLine {
            when,
            look_at,
            text: template,
            place: line.place,
        })
    }

    fn template(&self, part: Part<'_>, errors: &mut Errors<'_>) -> Option<Template> {
        let read = Template::parse(part.text, self.names);
        let report = |error: crate::template::TemplateError| {
            errors.add_at(part.place.along(error.column - 1), error.what, error.remedy);
        };
        read.map_err(report).ok()
    }

    pub(super) fn run(&self, fence: &Fence, errors: &mut Errors<'_>) -> Vec<Directive> {
        let mut directives = Vec::new();
        for line in lines(fence, errors) {
            match script::directive(line.text, self.names) {
                Ok(what) => directives.push(Directive {
                    what,
                    place: line.place,
                }),
                Err(error) => report(error, line.place, errors),
            }
        }
        directives
    }

    pub(super) fn expect(&self, fence: &Fence, errors: &mut Errors<'_>) -> Vec<Stated> {
        let lines = lines(fence, errors);
        lines
            .into_iter()
            .filter_map(|line| self.stated(line, errors))
            .collect()
    }

    pub(super) fn predict(&self, fence: &Fence, errors: &mut Errors<'_>) -> Option<Predict> {
        let place = errors.lines.place(fence.offset);
        let mut id = None;
        let mut question: Option<String> = None;
        let mut choices: Vec<Choice> = Vec::new();
        let mut is_sound = true;
        for line in lines(fence, errors) {
            if let Some(text) = line.strip("?") {
                question = Some(text.text.to_owned());
            } else if let Some(rest) = line.strip("- ") {
                match self.choice(rest, errors) {
                    Some(choice) => choices.push(choice),
                    None => is_sound = false,
                }
            } else if let Some(text) = line.strip("|") {
                is_sound &= feedback(text, &mut choices, is_sound, errors);
            } else if let Some(value) = line.strip("id") {
                id = read_id(value, errors);
                is_sound &= id.is_some();
            } else {
                let what = format!(
                    "`{}` is not a line of a question",
                    words::shorten(line.text)
                );
                let remedy = "write id = \"…\", ? question, - choice => CLAIM, or | feedback";
                errors.add_at(line.place, what, remedy);
                is_sound = false;
            }
        }
        if id.is_none() && is_sound {
            errors.add_at(place, "the question has no id", "write id = \"late-write\"");
        }
        if question.is_none() {
            errors.add_at(
                place,
                "the question asks nothing",
                "write a line `? What happens?`",
            );
        }
        if choices.len() < 2 && is_sound {
            let remedy = "write at least two lines `- Outcome. => CLAIM`, of which one comes true";
            errors.add_at(
                place,
                format!("the question has {} choices", choices.len()),
                remedy,
            );
        }
        Some(Predict {
            id: id?,
            question: question?,
            choices,
            place,
        })
    }

    fn choice(&self, line: Part<'_>, errors: &mut Errors<'_>) -> Option<Choice> {
        let Some((text, claim)) = line.split(ARROW) else {
            let remedy =
                "write `- Outcome. => CLAIM`, so that the run can tell whether it came true";
            errors.add_at(line.place, "the choice has no claim", remedy);
            return None;
        };
        let outcome = self.stated(claim, errors)?;
        Some(Choice {
            text: text.text.to_owned(),
            outcome,
            feedback: String::new(),
        })
    }

    pub(super) fn goal(&self, fence: &Fence, errors: &mut Errors<'_>) -> Option<Goal> {
        let place = errors.lines.place(fence.offset);
        let before = errors.all.len();
        let mut goal = Parts::default();
        for line in lines(fence, errors) {
            self.goal_line(line, &mut goal, errors);
        }
        if errors.all.len() > before {
            return None;
        }
        let missing = [
            (
                goal.id.is_none(),
                "no id",
                "write id = \"lapsed-but-accepted\"",
            ),
            (
                goal.text.is_empty(),
                "no text",
                "say in a sentence what is to be made to happen",
            ),
            (goal.reach.is_none(), "no `reach:`", "write reach: CLAIM"),
        ];
        for (_, what, remedy) in missing.iter().filter(|(is_missing, ..)| *is_missing) {
            errors.add_at(place, format!("the goal has {what}"), *remedy);
        }
        Some(Goal {
            id: goal.id?,
            text: goal.text,
            from: goal.from.unwrap_or(0),
            with: goal.with,
            reach: goal.reach?,
            budget: goal.budget,
            hint: goal.hint,
            place,
        })
    }

    fn goal_line(&self, line: Part<'_>, goal: &mut Parts, errors: &mut Errors<'_>) {
        let keys = ["from:", "with:", "reach:", "budget:", "hint:"];
        let key = keys
            .into_iter()
            .find_map(|key| Some((key, line.strip(key)?)));
        match key {
            Some(("from:", value)) => match from_page(self.headings, value.text) {
                Ok(page) => goal.from = Some(page),
                Err((what, remedy)) => errors.add_at(value.place, what, remedy),
            },
            Some(("with:", value)) => {
                for part in split_commas(value) {
                    match script::change_of(part.text, self.names) {
                        Ok(change) => goal.with.push(change),
                        Err(error) => report(error, part.place, errors),
                    }
                }
            }
            Some(("reach:", value)) => goal.reach = self.stated(value, errors),
            Some(("budget:", value)) => {
                for part in split_commas(value) {
                    match allowance(part.text) {
                        Ok(allowed) => goal.budget.allowed.push(allowed),
                        Err((what, remedy)) => errors.add_at(part.place, what, remedy),
                    }
                }
            }
            Some((_, value)) => goal.hint = Some(value.text.to_owned()),
            None => match line.strip("id").filter(|value| value.text.starts_with('=')) {
                Some(value) => goal.id = read_id(value, errors),
                None => {
                    if !goal.text.is_empty() {
                        goal.text.push(' ');
                    }
                    goal.text.push_str(line.text);
                }
            },
        }
    }
}

#[derive(Debug, Default)]
struct Parts {
    id: Option<String>,
    text: String,
    from: Option<usize>,
    with: Vec<crate::lesson::Change>,
    reach: Option<Stated>,
    budget: Budget,
    hint: Option<String>,
}

fn split_commas(whole: Part<'_>) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = whole;
    while let Some((part, after)) = rest.split(",") {
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// `1 pause` or `2 cuts`.
fn allowance(text: &str) -> Result<(Verb, u32), (String, String)> {
    let wrong = |remedy: String| {
        (
            format!("`{}` is not part of a budget", words::shorten(text)),
            remedy,
        )
    };
    let example = || "write a number and a command, as in 1 pause, 2 cuts".to_owned();
    let (count, word) = text.split_once(' ').ok_or_else(|| wrong(example()))?;
    let word = word.trim();
    let verb = Verb::ALL
        .iter()
        .find(|verb| verb.one() == word || verb.many() == word);
    let verb = verb.ok_or_else(|| {
        let near = nearest(word, Verb::ALL.iter().map(|verb| verb.one()));
        wrong(near.map_or_else(example, |near| format!("did you mean `{near}`?")))
    })?;
    let count = count.parse().map_err(|_| wrong(example()))?;
    Ok((*verb, count))
}

/// `= "late-write"`, behind `id`.
fn read_id(value: Part<'_>, errors: &mut Errors<'_>) -> Option<String> {
    let text = value.text.strip_prefix('=').map_or("", str::trim);
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    match inner.filter(|id| is_id(id)) {
        Some(id) => Some(id.to_owned()),
        None => {
            errors.add_at(
                value.place,
                "this is not an id",
                format!("write id = \"…\": {ID_REMEDY}"),
            );
            None
        }
    }
}

/// Adds to the last choice's feedback; false when there is none to add to.
fn feedback(
    text: Part<'_>,
    choices: &mut [Choice],
    is_sound: bool,
    errors: &mut Errors<'_>,
) -> bool {
    let Some(choice) = choices.last_mut() else {
        if is_sound {
            errors.add_at(
                text.place,
                "feedback without a choice",
                "write it below its choice",
            );
        }
        return false;
    };
    if !choice.feedback.is_empty() {
        choice.feedback.push(' ');
    }
    choice.feedback.push_str(text.text);
    true
}

/// The page that a goal begins at, by its heading.
fn from_page(headings: &[String], heading: &str) -> Result<usize, (String, String)> {
    headings
        .iter()
        .position(|known| known == heading)
        .ok_or_else(|| {
            let near = nearest(heading, headings.iter().map(String::as_str));
            let list = format!("pages are: {}", headings.join("; "));
            let remedy = near.map_or(list, |near| format!("did you mean `{near}`?"));
            (
                format!("no page is called `{}`", words::shorten(heading)),
                remedy,
            )
        })
}

/// The first number in marked words that neither stands in the claim nor lies in one of its
/// windows.
pub(super) fn number_without_claim(words: &str, claim: &str) -> Option<String> {
    let given = numbers(claim);
    let said = numbers(words);
    let windows: Vec<(u64, u64)> = claim
        .match_indices(" from ")
        .filter_map(|(at, _)| window(&claim[at + 6..]))
        .collect();
    let is_backed = |said: &String| {
        let thousandths = thousandths(said);
        given.contains(said)
            || windows
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&thousandths))
    };
    said.into_iter().find(|said| !is_backed(said))
}

/// `6s to 9.5s …`, in thousandths of a second.
fn window(text: &str) -> Option<(u64, u64)> {
    let span = |word: &str| word.parse::<SpanText>().ok().map(|span| span.0.0 / 1_000);
    let mut words = text.split_whitespace();
    let low = span(words.next()?)?;
    words.next().filter(|word| *word == "to")?;
    Some((low, span(words.next()?)?))
}

/// The decimal numbers in a text that stand as words of their own, as written.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
    let words = words.map(|word| word.trim_matches('.'));
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let digits = |word: &str| {
        word.trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .trim_matches('.')
            .to_owned()
    };
    words.filter(is_number).map(digits).collect()
}

fn thousandths(number: &str) -> u64 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let whole: u64 = whole.parse().unwrap_or(u64::MAX / 2_000);
    whole
        .saturating_mul(1_000)
        .saturating_add(digits.parse().unwrap_or(0))
}
