//! The one stable hasher: the same state gives the same 64 bits on every platform.
//!
//! A state's fingerprint, for golden traces and for comparing wasm with native. Derived `Hash` feeds
//! pointer-sized integers at the platform's width; this hasher widens them. Not for untrusted keys.

use std::hash::{Hash, Hasher};

/// Multiplies and folds each word (the 128-bit product's halves are xored), as wyhash does.
#[derive(Clone, Debug)]
pub struct StableHasher(u64);

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for StableHasher {
    fn default() -> Self {
        Self(0x51_7c_c1_b7_27_22_0a_95)
    }
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        mix(self.0 ^ MULTIPLIER)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    // In the page, where size counts, a call a word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn write_u64(&mut self, n: u64) {
        let product = u128::from(self.0 ^ n) * u128::from(MULTIPLIER);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ self.0.rotate_left(23);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_i64(&mut self, n: i64) {
        self.write_u64(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as i64 as u64);
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The fingerprint of a value.
pub fn stable_hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = StableHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_same_on_every_platform() {
        // Values taken once; a change would make old traces differ everywhere.
        assert_eq!(
            stable_hash(&(1_u8, "A", vec![3_u64])),
            11_350_887_103_899_504_122
        );
        assert_eq!(stable_hash(&Some(-1_i64)), 1190586617720495796);
        assert_ne!(stable_hash("ab"), stable_hash("ba"));
    }
}
