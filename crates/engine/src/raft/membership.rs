//! Membership: whose votes count, whose copies count, and who merely listens.
//!
//! The list of those entitled to vote, pinned to the minute book itself. Everything that counts a majority
//! asks it here. A configuration takes effect at a server as soon as its entry is appended there, committed
//! or not (dissertation §4.1); etcd and its relatives wait until it is applied.

use crate::setup::{SERVERS_MAX, Setup};
use crate::units::{ProcessId, ProcessSet};

/// Who takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Config {
    pub voters: ProcessSet,
    /// While two configurations are in force together (joint consensus): the voters of the old one.
    pub outgoing: ProcessSet,
    /// They get every entry and count for nothing.
    pub learners: ProcessSet,
}

impl Config {
    /// The servers of a setup without its spares.
    #[must_use]
    pub fn initial(setup: &Setup) -> Self {
        let voters = (0..setup.servers).map(ProcessId);
        Self {
            voters: voters.fold(ProcessSet::default(), ProcessSet::with),
            ..Self::default()
        }
    }

    /// Whether old and new voters must agree, each by their own majority.
    #[must_use]
    pub const fn is_joint(self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Whoever has a vote, in the old configuration or in the new one.
    #[must_use]
    pub const fn voting(self) -> ProcessSet {
        ProcessSet(self.voters.0 | self.outgoing.0)
    }

    /// Whoever is sent entries.
    #[must_use]
    pub const fn members(self) -> ProcessSet {
        ProcessSet(self.voting().0 | self.learners.0)
    }

    /// Whether the votes of `voters` make a leader. `repeated` replies are counted on top where votes are
    /// not counted by voter (`vote_counts_by_id` off).
    #[must_use]
    pub fn elects(self, voters: ProcessSet, repeated: u32) -> bool {
        self.halves()
            .all(|half| majority(half) <= ProcessSet(half.0 & voters.0).len() + repeated)
    }

    /// The highest number that a majority has reached; of each half, where there are two.
    #[must_use]
    pub fn agreed(self, reached: impl Fn(ProcessId) -> u64) -> u64 {
        let by_half = self.halves().map(|half| {
            let mut numbers = [0; SERVERS_MAX];
            let numbers = &mut numbers[..half.len() as usize];
            for (number, id) in numbers.iter_mut().zip(half.iter()) {
                *number = reached(id);
            }
            numbers.sort_unstable();
            numbers[(numbers.len() - 1) / 2]
        });
        by_half.min().unwrap_or(0)
    }

    /// How many votes it takes, of the half that takes more.
    #[must_use]
    pub fn needed(self) -> u32 {
        self.halves().map(majority).max().unwrap_or(0)
    }

    fn halves(self) -> impl Iterator<Item = ProcessSet> {
        [self.voters, self.outgoing]
            .into_iter()
            .filter(|half| !half.is_empty())
    }
}

const fn majority(of: ProcessSet) -> u32 {
    of.len() / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[u8]) -> ProcessSet {
        let ids = ids.iter().copied().map(ProcessId);
        ids.fold(ProcessSet::default(), ProcessSet::with)
    }

    /// Case I01: {1,2,3} and {3,4,5} together.
    #[test]
    fn i01_joint_needs_both_majorities() {
        let joint = Config {
            voters: set(&[3, 4, 5]),
            outgoing: set(&[1, 2, 3]),
            learners: set(&[6]),
        };
        assert!(!joint.elects(set(&[1, 2, 3]), 0));
        assert!(!joint.elects(set(&[3, 4, 5]), 0));
        assert!(joint.elects(set(&[1, 3, 4]), 0));
        let has = |those: &'static [u8]| move |id: ProcessId| u64::from(those.contains(&id.0));
        assert_eq!(joint.agreed(has(&[1, 2, 3])), 0);
        assert_eq!(joint.agreed(has(&[3, 4, 5])), 0);
        assert_eq!(joint.agreed(has(&[1, 3, 4, 6])), 1);
    }

    #[test]
    fn learners_and_strangers_count_for_nothing() {
        let config = Config {
            voters: set(&[0, 1, 2]),
            learners: set(&[3]),
            ..Config::default()
        };
        assert!(!config.elects(set(&[0, 3, 4]), 0));
        assert!(config.elects(set(&[0, 2]), 0));
        assert!(config.elects(set(&[0]), 1));
        assert_eq!(config.agreed(|id| u64::from(id.0 >= 2)), 0);
        assert_eq!(config.agreed(|id| u64::from(id.0) + 1), 2);
        assert_eq!(config.needed(), 2);
    }
}
