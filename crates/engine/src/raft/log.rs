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

/// A server's log; the first entry has index 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log(Shared<Entry>);

impl Log {
    #[must_use]
    pub fn last_index(&self) -> LogIndex {
        LogIndex(self.0.len() as u64)
    }

    /// The term of the last entry; 0 for an empty log.
    #[must_use]
    pub fn last_term(&self) -> Term {
        self.0.last().map_or(Term(0), |e| e.term)
    }

    /// The term at `index`: 0 at index 0, none beyond the end.
    #[must_use]
    pub fn term_at(&self, index: LogIndex) -> Option<Term> {
        if index == LogIndex(0) {
            Some(Term(0))
        } else {
            self.entry(index).map(|e| e.term)
        }
    }

    #[must_use]
    pub fn entry(&self, index: LogIndex) -> Option<&Entry> {
        let at = usize::try_from(index.0).ok()?.checked_sub(1)?;
        if at < self.0.len() {
            self.0.get(at)
        } else {
            None
        }
    }

    /// From the first entry on.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.0.iter()
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Keeps the entries up to and with `keep`.
    pub(crate) fn truncate(&mut self, keep: LogIndex) {
        self.0.truncate(keep.0 as usize);
    }

    pub(super) fn from(&self, index: LogIndex, most: usize) -> Vec<Entry> {
        self.0.slice(index.previous().0 as usize, most)
    }

    /// The first index of the run of entries with the term that stands at `index`.
    pub(super) fn first_of_term_at(&self, index: LogIndex) -> LogIndex {
        let term = self.term_at(index);
        let mut first = index;
        while first.0 > 1 && self.term_at(first.previous()) == term {
            first = first.previous();
        }
        first
    }
}
