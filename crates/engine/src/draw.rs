//! Random draws, each keyed by seed, purpose, subject and count.
//!
//! Like a book of dice rolls in which every question has its own line: asking one more question does
//! not change the answers to the others. Ranges are ours, because a library may change how it maps
//! outputs to ranges; only its raw output is used.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::units::Duration;

/// What a draw is for. The number is part of the key, so it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    ElectionTimeout = 1,
    Latency = 2,
    Loss = 3,
    Duplication = 4,
    DuplicateLatency = 5,
    WorkerStart = 6,
    Swarm = 7,
    /// For tests that draw for themselves.
    Test = 8,
}

/// The draw with this key: 64 uniform bits.
#[must_use]
pub fn draw(seed: u64, purpose: Purpose, subject: u32, count: u64) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((purpose as u64) << 32 | u64::from(subject));
    rng.set_word_pos(u128::from(count) * 2);
    rng.next_u64()
}

/// Maps 64 uniform bits to `0..n` by the high half of the product; `n` must not be 0.
#[must_use]
pub const fn below(bits: u64, n: u64) -> u64 {
    ((bits as u128 * n as u128) >> 64) as u64
}

/// Maps 64 uniform bits to a span from `low` to `high`, both included.
#[must_use]
pub fn span_between(bits: u64, low: Duration, high: Duration) -> Duration {
    assert!(low <= high);
    Duration(low.0 + below(bits, high.0 - low.0 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_its_key_alone() {
        let all: Vec<u64> = (0..4).map(|n| draw(7, Purpose::Latency, 3, n)).collect();
        assert_eq!(draw(7, Purpose::Latency, 3, 2), all[2]);
        assert_ne!(all[0], all[1]);
        assert_ne!(draw(7, Purpose::Loss, 3, 0), all[0]);
        assert_ne!(draw(8, Purpose::Latency, 3, 0), all[0]);
        assert_ne!(draw(7, Purpose::Latency, 4, 0), all[0]);
    }

    #[test]
    fn draws_keep_their_values() {
        assert_eq!(draw(7, Purpose::Latency, 3, 0), 14_072_020_595_516_913_089);
        assert_eq!(
            draw(7, Purpose::ElectionTimeout, 0, 1),
            6_766_751_744_002_426_521
        );
    }

    #[test]
    fn ranges_reach_both_ends() {
        let (low, high) = (Duration(40), Duration(60));
        assert_eq!(span_between(0, low, high), low);
        assert_eq!(span_between(u64::MAX, low, high), high);
        assert_eq!(below(u64::MAX, 1), 0);
    }
}
