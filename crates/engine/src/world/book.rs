//! The scheduler's book: what is due, in the order in which it will be taken.
//!
//! A queue in which nearly everyone joins at the end. Kept sorted in one ring of memory: what is noted is
//! mostly due after the rest, and what is taken is first, so that little ever moves.

use std::collections::VecDeque;

use super::{Item, Key};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Book {
    /// Sorted by key; no key twice.
    lines: VecDeque<(Key, Item)>,
}

impl Book {
    pub(super) fn insert(&mut self, key: Key, item: Item) {
        let at = match self.lines.back() {
            Some((last, _)) if key < *last => self.lines.partition_point(|(k, _)| *k < key),
            Some(_) | None => self.lines.len(),
        };
        self.lines.insert(at, (key, item));
    }

    pub(super) fn first_key(&self) -> Option<Key> {
        self.lines.front().map(|(key, _)| *key)
    }

    pub(super) fn pop_first(&mut self) -> Option<(Key, Item)> {
        self.lines.pop_front()
    }

    fn position(&self, key: Key) -> Option<usize> {
        self.lines.binary_search_by_key(&key, |(k, _)| *k).ok()
    }

    pub(super) fn get(&self, key: Key) -> Option<&Item> {
        self.position(key).map(|at| &self.lines[at].1)
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Item> {
        let at = self.position(key)?;
        self.lines.remove(at).map(|(_, item)| item)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Item) -> bool) {
        self.lines.retain(|(_, item)| keep(item));
    }

    /// In the order in which it will be taken.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Key, Item)> {
        self.lines.iter()
    }

    /// Changes keys and items in place; the change keeps the order of keys.
    pub(super) fn rebase(&mut self, change: impl Fn(&mut Key, &mut Item)) {
        for (key, item) in &mut self.lines {
            change(key, item);
        }
    }
}
