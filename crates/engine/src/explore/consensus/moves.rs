//! Moves that a search may be told to leave out: `crash`, `campaign s1`, `deliver s1>s3`.
//!
//! House rules: what is not played here. A move is named by the command that it becomes.

use super::Action;
use crate::event::TimerKind;
use crate::setup::Names;
use crate::units::ProcessId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Deliver,
    Duplicate,
    Drop,
    Campaign,
    Ring,
    Crash,
    Put,
}

const VERBS: [(&str, Verb); 7] = [
    ("deliver", Verb::Deliver),
    ("duplicate", Verb::Duplicate),
    ("drop", Verb::Drop),
    ("campaign", Verb::Campaign),
    ("ring", Verb::Ring),
    ("crash", Verb::Crash),
    ("put", Verb::Put),
];

/// A kind of move, of anybody or of one process or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    verb: Verb,
    who: Option<ProcessId>,
    to: Option<ProcessId>,
    timer: Option<TimerKind>,
}

/// What is wrong with a move's text: the word that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    Verb(String),
    Process(String),
    Link(String),
    Timer(String),
    /// A word too many.
    End(String),
}

impl Move {
    /// The verbs, for messages.
    pub const WORDS: &str = "deliver, duplicate, drop, campaign, ring, crash, put";

    /// Reads a move: a verb alone, or with who does it, on which link, or which timer.
    ///
    /// # Errors
    /// The first word that is not understood.
    pub fn read(text: &str, names: &Names) -> Result<Self, MoveError> {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let verb = VERBS.into_iter().find(|(known, _)| *known == word);
        let (_, verb) = verb.ok_or_else(|| MoveError::Verb(word.to_owned()))?;
        let mut one = Self {
            verb,
            who: None,
            to: None,
            timer: None,
        };
        let find = |name: &str| {
            let id = names.find(name);
            id.ok_or_else(|| MoveError::Process(name.to_owned()))
        };
        if let Some(word) = words.next() {
            match verb {
                Verb::Deliver | Verb::Duplicate | Verb::Drop => {
                    let link = word.split_once('>');
                    let (from, to) = link.ok_or_else(|| MoveError::Link(word.to_owned()))?;
                    (one.who, one.to) = (Some(find(from)?), Some(find(to)?));
                }
                Verb::Campaign | Verb::Ring | Verb::Crash | Verb::Put => {
                    one.who = Some(find(word)?)
                }
            }
        }
        if verb == Verb::Ring
            && let Some(word) = words.next()
        {
            let timer = TimerKind::of_word(word);
            one.timer = Some(timer.ok_or_else(|| MoveError::Timer(word.to_owned()))?);
        }
        match words.next() {
            Some(word) => Err(MoveError::End(word.to_owned())),
            None => Ok(one),
        }
    }

    /// Whether an action is such a move; `link` gives a packet's sender and receiver.
    pub(super) fn covers(
        self,
        action: Action,
        link: impl Fn(u32) -> (ProcessId, ProcessId),
    ) -> bool {
        let alone = |id| (id, None, None);
        let of_link = |packet| {
            let (from, to) = link(packet);
            (from, Some(to), None)
        };
        let (verb, (who, to, timer)) = match action {
            Action::Deliver(packet) => (Verb::Deliver, of_link(packet)),
            Action::Duplicate(packet) => (Verb::Duplicate, of_link(packet)),
            Action::Drop(packet) => (Verb::Drop, of_link(packet)),
            Action::Campaign(id) => (Verb::Campaign, alone(id)),
            Action::Ring(id, timer) => (Verb::Ring, (id, None, Some(timer))),
            Action::Crash(id) => (Verb::Crash, alone(id)),
            Action::Put(id) => (Verb::Put, alone(id)),
            Action::Restart(_) => return false,
        };
        self.verb == verb
            && self.who.is_none_or(|wanted| wanted == who)
            && (self.to.is_none() || self.to == to)
            && (self.timer.is_none() || self.timer == timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Setup;

    #[test]
    fn a_move_covers_what_it_names_and_no_more() {
        let names = Setup::default().validate().unwrap();
        let read = |text: &str| Move::read(text, &names);
        let link = |_| (ProcessId(0), ProcessId(2));
        let covers = |text: &str, action| read(text).unwrap().covers(action, link);
        let beat = Action::Ring(ProcessId(0), TimerKind::Heartbeat);
        assert!(covers("deliver", Action::Deliver(7)));
        assert!(covers("deliver s1>s3", Action::Deliver(7)));
        assert!(!covers("deliver s3>s1", Action::Deliver(7)));
        assert!(!covers("drop s1>s3", Action::Deliver(7)));
        assert!(covers("campaign s2", Action::Campaign(ProcessId(1))));
        assert!(!covers("campaign s2", Action::Campaign(ProcessId(2))));
        assert!(covers("ring s1 heartbeat", beat) && covers("ring", beat));
        assert!(!covers("ring s1 client_timeout", beat));
        for (text, wrong) in [
            ("", MoveError::Verb(String::new())),
            ("fly", MoveError::Verb("fly".into())),
            ("crash s9", MoveError::Process("s9".into())),
            ("drop s1", MoveError::Link("s1".into())),
            ("ring s1 bell", MoveError::Timer("bell".into())),
            ("crash s1 s2", MoveError::End("s2".into())),
        ] {
            assert_eq!(read(text), Err(wrong), "{text}");
        }
        let listed: Vec<&str> = VERBS.iter().map(|(word, _)| *word).collect();
        assert_eq!(Move::WORDS, listed.join(", "));
    }
}
