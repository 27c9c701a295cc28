//! Where a search keeps every state that it has met: once, exactly, in few bytes.
//!
//! A guest book with an index of names. States stand one behind the other in large leaves and never move;
//! the index finds one by its bytes, and compares all of them, so that no two states are taken for one.
//! Nothing is ever removed.

use crate::hash::StableHasher;
use std::hash::Hasher;

/// Bytes a leaf. A state lies in one leaf, so none may be longer.
const LEAF: usize = 1 << 18;
/// In an index entry: the place and one, so that no entry is zero; above it a part of the hash.
const PLACE_BITS: u32 = 40;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
const INDEX_FIRST: usize = 1 << 10;
/// A parent's place, or [`NO_PARENT`].
const PARENT_BYTES: usize = 5;
const NO_PARENT: u64 = PLACE_MASK;

/// Where a state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64);

impl Place {
    pub(super) const FIRST: Self = Self(0);
}

/// A state as it stands in the book.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) parent: Option<Place>,
    pub(super) bytes: &'a [u8],
    /// Where the next one stands, if there is one and no gap.
    pub(super) after: Place,
}

#[derive(Debug)]
pub(super) struct Arena {
    leaves: Vec<Vec<u8>>,
    /// Open addressing; a power of two long; 0 is free.
    index: Vec<u64>,
    count: u64,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            leaves: Vec::new(),
            index: vec![0; INDEX_FIRST],
            count: 0,
        }
    }
}

impl Arena {
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn memory(&self) -> u64 {
        (self.leaves.len() * LEAF + self.index.len() * 8) as u64
    }

    /// What it would take at the most while one more is written down.
    pub(super) fn memory_with_one_more(&self, bytes: &[u8]) -> u64 {
        let leaf = if self.fits(bytes) { 0 } else { LEAF };
        // While the index grows, the old one and the new one are both there.
        let grow = if self.is_crowded() {
            self.index.len() * 16
        } else {
            0
        };
        self.memory() + (leaf + grow) as u64
    }

    fn fits(&self, bytes: &[u8]) -> bool {
        let last = self.leaves.last();
        last.is_some_and(|leaf| leaf.len() + PARENT_BYTES + 2 + bytes.len() <= LEAF)
    }

    /// Three quarters full.
    const fn is_crowded(&self) -> bool {
        self.index.len() as u64 * 3 <= (self.count + 1) * 4
    }

    /// Behind the last one.
    pub(super) fn end(&self) -> Place {
        let Some(last) = self.leaves.last() else {
            return Place::FIRST;
        };
        Place(((self.leaves.len() - 1) * LEAF + last.len()) as u64)
    }

    /// From the end of a leaf to the beginning of the next, if there is one.
    pub(super) fn skip_gap(&self, place: Place) -> Place {
        let (leaf, at) = split(place);
        let at_end = self.leaves.get(leaf).is_some_and(|leaf| leaf.len() == at);
        if at_end && leaf + 1 < self.leaves.len() {
            Place(((leaf + 1) * LEAF) as u64)
        } else {
            place
        }
    }

    pub(super) fn record(&self, place: Place) -> Record<'_> {
        let (leaf, at) = split(place);
        let leaf = &self.leaves[leaf];
        let mut parent = [0; 8];
        parent[..PARENT_BYTES].copy_from_slice(&leaf[at..at + PARENT_BYTES]);
        let parent = u64::from_le_bytes(parent);
        let from = at + PARENT_BYTES + 2;
        let length = usize::from(u16::from_le_bytes([leaf[from - 2], leaf[from - 1]]));
        Record {
            parent: (parent != NO_PARENT).then_some(Place(parent)),
            bytes: &leaf[from..from + length],
            after: Place(place.0 + (PARENT_BYTES + 2 + length) as u64),
        }
    }

    /// All of them, in the order in which they were met.
    pub(super) fn records(&self) -> impl Iterator<Item = Place> {
        let mut next = Place::FIRST;
        std::iter::from_fn(move || {
            let place = self.skip_gap(next);
            if place == self.end() {
                return None;
            }
            next = self.record(place).after;
            Some(place)
        })
    }

    pub(super) fn contains(&self, bytes: &[u8]) -> bool {
        self.look(bytes, hash(bytes)).is_ok()
    }

    /// Where it stands in the index, or where it would.
    fn look(&self, bytes: &[u8], hash: u64) -> Result<usize, usize> {
        let mask = self.index.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.index[at];
            if entry == 0 {
                return Err(at);
            }
            if entry >> PLACE_BITS == hash >> PLACE_BITS
                && self.record(Place((entry & PLACE_MASK) - 1)).bytes == bytes
            {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Writes down one that is not there yet.
    pub(super) fn insert(&mut self, bytes: &[u8], parent: Option<Place>) -> Place {
        let length = u16::try_from(bytes.len()).expect("a state takes at most 64 KiB");
        if self.is_crowded() {
            self.grow();
        }
        if !self.fits(bytes) {
            self.leaves.push(Vec::with_capacity(LEAF));
        }
        let place = self.end();
        assert!(
            place.0 < NO_PARENT - 1,
            "a search keeps less than a tebibyte"
        );
        let parent = parent.map_or(NO_PARENT, |parent| parent.0);
        let leaf = self.leaves.last_mut().expect("one that it fits in");
        leaf.extend_from_slice(&parent.to_le_bytes()[..PARENT_BYTES]);
        leaf.extend_from_slice(&length.to_le_bytes());
        leaf.extend_from_slice(bytes);
        let hash = hash(bytes);
        if let Err(at) = self.look(bytes, hash) {
            self.index[at] = hash >> PLACE_BITS << PLACE_BITS | (place.0 + 1);
            self.count += 1;
        }
        place
    }

    fn grow(&mut self) {
        let mut index = vec![0; self.index.len() * 2];
        let mask = index.len() - 1;
        for entry in self.index.iter().filter(|entry| **entry != 0) {
            let bytes = self.record(Place((entry & PLACE_MASK) - 1)).bytes;
            let mut at = hash(bytes) as usize & mask;
            while index[at] != 0 {
                at = (at + 1) & mask;
            }
            index[at] = *entry;
        }
        self.index = index;
    }
}

const fn split(place: Place) -> (usize, usize) {
    (place.0 as usize / LEAF, place.0 as usize % LEAF)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = StableHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
