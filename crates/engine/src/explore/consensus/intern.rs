//! Each value once, and a number for it; and what is known of pairs of numbers.
//!
//! A coat check: hand in the coat, keep the tag; the same coat always gets the same tag. Nothing is given
//! back. Tables of our own, because their memory is counted to the byte and nobody walks through them.

use std::hash::Hash;

use crate::hash::stable_hash;

const SLOTS_FIRST: usize = 1 << 8;

/// Three quarters full.
const fn is_crowded(count: usize, slots: usize) -> bool {
    slots * 3 <= (count + 1) * 4
}

#[derive(Debug)]
pub(super) struct Interned<T> {
    values: Vec<Box<T>>,
    /// Open addressing, a power of two long: the upper half of a hash, and a number and one; 0 is free.
    slots: Vec<u64>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            slots: vec![0; SLOTS_FIRST],
        }
    }
}

impl<T: Hash + Eq> Interned<T> {
    /// Its number, and whether it is a new one.
    pub(super) fn number(&mut self, value: T) -> (u32, bool) {
        let hash = stable_hash(&value);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let number = self.slots[at] as u32 - 1;
            if self.slots[at] >> 32 == hash >> 32 && *self.get(number) == value {
                return (number, false);
            }
            at = (at + 1) & mask;
        }
        let number = u32::try_from(self.values.len()).expect("memory ends before the numbers do");
        self.slots[at] = hash >> 32 << 32 | u64::from(number + 1);
        self.values.push(Box::new(value));
        if is_crowded(self.values.len(), self.slots.len()) {
            self.grow();
        }
        (number, true)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for (value, number) in self.values.iter().zip(1_u64..) {
            let hash = stable_hash(&**value);
            let mut at = hash as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = hash >> 32 << 32 | number;
        }
        self.slots = slots;
    }
}

impl<T> Interned<T> {
    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    pub(super) const fn len(&self) -> usize {
        self.values.len()
    }

    /// Bytes of the values themselves and of the tables; not what the values point to.
    pub(super) fn memory(&self) -> u64 {
        let values = self.values.len() * size_of::<T>();
        (values + self.values.capacity() * size_of::<usize>() + self.slots.len() * 8) as u64
    }

    /// What it takes on top while its tables grow.
    pub(super) fn headroom(&self) -> u64 {
        (self.values.capacity() * 2 * size_of::<usize>() + self.slots.len() * 16) as u64
    }
}

/// From a pair of numbers to a number.
#[derive(Debug)]
pub(super) struct Known {
    /// Open addressing, a power of two long.
    keys: Vec<u64>,
    numbers: Vec<u32>,
    count: usize,
}

/// No pair: the tables of numbers end before it.
const FREE: u64 = u64::MAX;

impl Default for Known {
    fn default() -> Self {
        Self {
            keys: vec![FREE; SLOTS_FIRST],
            numbers: vec![0; SLOTS_FIRST],
            count: 0,
        }
    }
}

impl Known {
    fn slot(&self, key: u64) -> usize {
        let mask = self.keys.len() - 1;
        let mixed = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 32) as usize & mask;
        while self.keys[at] != FREE && self.keys[at] != key {
            at = (at + 1) & mask;
        }
        at
    }

    pub(super) fn get(&self, first: u32, second: u32) -> Option<u32> {
        let key = u64::from(first) << 32 | u64::from(second);
        let at = self.slot(key);
        (self.keys[at] == key).then(|| self.numbers[at])
    }

    pub(super) fn insert(&mut self, first: u32, second: u32, number: u32) {
        let key = u64::from(first) << 32 | u64::from(second);
        let at = self.slot(key);
        (self.keys[at], self.numbers[at]) = (key, number);
        self.count += 1;
        if is_crowded(self.count, self.keys.len()) {
            let slots = self.keys.len() * 2;
            let keys = std::mem::replace(&mut self.keys, vec![FREE; slots]);
            let numbers = std::mem::replace(&mut self.numbers, vec![0; slots]);
            for (key, number) in keys
                .into_iter()
                .zip(numbers)
                .filter(|(key, _)| *key != FREE)
            {
                let at = self.slot(key);
                (self.keys[at], self.numbers[at]) = (key, number);
            }
        }
    }

    pub(super) const fn memory(&self) -> u64 {
        self.keys.len() as u64 * 12
    }

    pub(super) const fn headroom(&self) -> u64 {
        self.memory() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_has_the_same_number() {
        let mut interned = Interned::default();
        let mut known = Known::default();
        for round in 0..2 {
            for n in 0_u32..5_000 {
                let (number, is_new) = interned.number(format!("coat {n}"));
                assert_eq!((number, is_new), (n, round == 0));
                if round == 0 {
                    assert_eq!(known.get(n, n << 9), None);
                    known.insert(n, n << 9, n + 7);
                }
                assert_eq!(known.get(n, n << 9), Some(n + 7));
                assert_eq!(known.get(n << 9, n + 1), None);
            }
        }
        assert_eq!(interned.len(), 5_000);
        assert_eq!(interned.get(77), "coat 77");
    }
}
