//! A growing list in shared segments: copying a run's state does not copy its logs.
//!
//! Like bound volumes of a journal: old volumes are shared by every library, only the open issue is
//! copied. Sealed segments never change unless truncated into; there is no removal at the front.

use std::sync::Arc;

/// Items a segment: a copy of the open one must stay cheap, the spine of the sealed ones short.
const SEGMENT: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared<T> {
    sealed: Arc<Vec<Arc<Vec<T>>>>,
    open: Arc<Vec<T>>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self {
            sealed: Arc::new(Vec::new()),
            open: Arc::new(Vec::new()),
        }
    }
}

impl<T: Clone> Shared<T> {
    #[must_use]
    pub fn len(&self) -> usize {
        self.sealed.len() * SEGMENT + self.open.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        match self.sealed.get(at / SEGMENT) {
            Some(segment) => segment.get(at % SEGMENT),
            None => self.open.get(at - self.sealed.len() * SEGMENT),
        }
    }

    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.open
            .last()
            .or_else(|| self.sealed.last().and_then(|s| s.last()))
    }

    pub fn push(&mut self, item: T) {
        let open = Arc::make_mut(&mut self.open);
        open.push(item);
        if open.len() == SEGMENT {
            let full = std::mem::take(&mut self.open);
            Arc::make_mut(&mut self.sealed).push(full);
        }
    }

    /// The item at `at` for changing; copies its segment if that is shared.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at / SEGMENT < self.sealed.len() {
            let segment = Arc::make_mut(&mut self.sealed).get_mut(at / SEGMENT)?;
            Arc::make_mut(segment).get_mut(at % SEGMENT)
        } else {
            Arc::make_mut(&mut self.open).get_mut(at - self.sealed.len() * SEGMENT)
        }
    }

    /// Keeps the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        let (segment, rest) = (len / SEGMENT, len % SEGMENT);
        if segment < self.sealed.len() {
            let kept = self.sealed[segment][..rest].to_vec();
            Arc::make_mut(&mut self.sealed).truncate(segment);
            self.open = Arc::new(kept);
        } else {
            Arc::make_mut(&mut self.open).truncate(rest);
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.sealed
            .iter()
            .flat_map(|s| s.iter())
            .chain(self.open.iter())
    }

    /// The items from `from` on, at most `most` of them.
    #[must_use]
    pub fn slice(&self, from: usize, most: usize) -> Vec<T> {
        let end = self.len().min(from.saturating_add(most));
        let mut items = Vec::with_capacity(end.saturating_sub(from));
        let mut at = from;
        while at < end {
            let segment = self.sealed.get(at / SEGMENT).unwrap_or(&self.open);
            let start = at - at / SEGMENT * SEGMENT;
            let part = &segment[start..segment.len().min(start + (end - at))];
            items.extend_from_slice(part);
            at += part.len();
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_behaves_as_a_vector() {
        let mut shared = Shared::default();
        let mut plain = Vec::new();
        for round in 0_usize..60 {
            for n in 0..(round * 7) % 53 {
                shared.push(n);
                plain.push(n);
            }
            let before = shared.clone();
            let keep = plain.len() - plain.len().min((round * 5) % 31);
            shared.truncate(keep);
            plain.truncate(keep);
            assert_eq!(before.slice(0, keep), plain);
            assert_eq!(shared.iter().copied().collect::<Vec<_>>(), plain);
            assert_eq!(shared.len(), plain.len());
            assert_eq!(shared.last(), plain.last());
            assert_eq!(
                shared.slice(3, 9),
                plain.iter().skip(3).take(9).copied().collect::<Vec<_>>()
            );
            if let Some(item) = shared.get_mut(keep / 2) {
                *item += 100;
                plain[keep / 2] += 100;
            }
        }
        assert!(plain.len() > SEGMENT);
    }
}
