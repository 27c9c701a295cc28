//! The log: numbered lines, each with the term it was written in, in shared segments.
//!
//! The minute book itself. It knows how to be cut and added to; who may do so is the server's business.

use crate::event::EntryKind;
use crate::registry::Op;
use crate::shared::Shared;
use crate::units::{LogIndex, Term};

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub term: Term,
    pub op: Op,
}

impl Entry {
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        match &self.op {
            Op::Noop => EntryKind::Noop,
            Op::Config { config } => EntryKind::Config { config: *config },
            Op::Acquire {
                worker, resource, ..
            } => EntryKind::Acquire {
                worker: *worker,
                resource: *resource,
            },
            Op::Release {
                worker, resource, ..
            } => EntryKind::Release {
                worker: *worker,
                resource: *resource,
            },
            Op::DropWaiter {
                worker, resource, ..
            } => EntryKind::DropWaiter {
                worker: *worker,
                resource: *resource,
            },
            Op::Expire {
                resource, token, ..
            } => EntryKind::Expire {
                resource: *resource,
                token: *token,
            },
            Op::Open { resource, .. } => EntryKind::Open {
                resource: *resource,
            },
            Op::TableLost { .. } => EntryKind::TableLost,
            Op::Raise { resource, to } => EntryKind::Raise {
                resource: *resource,
                to: *to,
            },
            Op::Put {
                client, key, value, ..
            } => EntryKind::Put {
                client: *client,
                key: key.clone(),
                value: value.clone(),
            },
            Op::Register { client, .. } => EntryKind::Register { client: *client },
        }
    }
}

/// A server's log. What a snapshot stands for is gone; the first entry ever had index 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    /// The last entry that is gone; 0 while none is.
    start: LogIndex,
    start_term: Term,
    entries: Shared<Entry>,
}

impl Log {
    /// The index of the last entry that a snapshot stands for; 0 for a whole log.
    #[must_use]
    pub const fn start(&self) -> LogIndex {
        self.start
    }

    #[must_use]
    pub fn last_index(&self) -> LogIndex {
        LogIndex(self.start.0 + self.entries.len() as u64)
    }

    /// The term of the last entry; 0 for a log that never had any.
    #[must_use]
    pub fn last_term(&self) -> Term {
        self.entries.last().map_or(self.start_term, |e| e.term)
    }

    /// The term at `index`: 0 at index 0, none beyond the end and before what is left.
    #[must_use]
    pub fn term_at(&self, index: LogIndex) -> Option<Term> {
        if index == self.start {
            Some(self.start_term)
        } else {
            self.entry(index).map(|e| e.term)
        }
    }

    #[must_use]
    pub fn entry(&self, index: LogIndex) -> Option<&Entry> {
        let at = usize::try_from(index.0.checked_sub(self.start.0 + 1)?).ok()?;
        if at < self.entries.len() {
            self.entries.get(at)
        } else {
            None
        }
    }

    /// From the first entry that is left on.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Keeps the entries up to and with `keep`.
    pub(crate) fn truncate(&mut self, keep: LogIndex) {
        let keep = keep.0.saturating_sub(self.start.0);
        self.entries.truncate(keep as usize);
    }

    /// A snapshot up to `index` takes the place of what is before. What follows stays where the entry at
    /// `index` is the snapshot's last, and goes where it is not; says which.
    pub(crate) fn begin_after(&mut self, index: LogIndex, term: Term) -> bool {
        let fits = self.term_at(index) == Some(term);
        let rest = if fits {
            self.from(index.next(), usize::MAX)
        } else {
            Vec::new()
        };
        (self.start, self.start_term) = (index, term);
        self.entries = Shared::default();
        for entry in rest {
            self.entries.push(entry);
        }
        fits
    }

    pub(super) fn from(&self, index: LogIndex, most: usize) -> Vec<Entry> {
        let at = index.previous().0.saturating_sub(self.start.0);
        self.entries.slice(at as usize, most)
    }

    /// The first index of the run of entries with the term that stands at `index`.
    pub(super) fn first_of_term_at(&self, index: LogIndex) -> LogIndex {
        let term = self.term_at(index);
        let mut first = index;
        while self.start.next() < first && self.term_at(first.previous()) == term {
            first = first.previous();
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(terms: &[u64]) -> Log {
        let mut log = Log::default();
        for term in terms {
            log.push(Entry {
                term: Term(*term),
                op: Op::Noop,
            });
        }
        log
    }

    #[test]
    fn a_compacted_log_keeps_its_numbers() {
        let mut log = log(&[1, 1, 2, 2, 3]);
        assert!(log.begin_after(LogIndex(3), Term(2)));
        assert_eq!((log.start(), log.last_index()), (LogIndex(3), LogIndex(5)));
        assert_eq!(log.term_at(LogIndex(2)), None, "gone");
        assert_eq!(log.term_at(LogIndex(3)), Some(Term(2)), "still known");
        assert_eq!(log.term_at(LogIndex(4)), Some(Term(2)));
        assert_eq!(log.term_at(LogIndex(6)), None);
        assert_eq!(log.first_of_term_at(LogIndex(4)), LogIndex(4));
        assert_eq!(log.from(LogIndex(5), 9).len(), 1);
        log.truncate(LogIndex(3));
        assert_eq!((log.last_index(), log.last_term()), (LogIndex(3), Term(2)));
        log.push(Entry {
            term: Term(7),
            op: Op::Noop,
        });
        assert_eq!(log.term_at(LogIndex(4)), Some(Term(7)));
    }

    #[test]
    fn a_snapshot_that_does_not_fit_leaves_nothing_behind_it() {
        let mut shorter = log(&[1, 1]);
        assert!(!shorter.begin_after(LogIndex(4), Term(2)));
        assert_eq!(
            (shorter.last_index(), shorter.last_term()),
            (LogIndex(4), Term(2))
        );
        let mut other = log(&[1, 1, 1, 1]);
        assert!(!other.begin_after(LogIndex(3), Term(2)));
        assert_eq!(other.last_index(), LogIndex(3));
    }
}
