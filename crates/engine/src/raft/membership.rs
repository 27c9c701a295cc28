//! Membership: whose votes count, whose copies count, and who merely listens.
//!
//! The list of those entitled to vote, pinned to the minute book itself. Everything that counts a majority
//! asks it here. A configuration takes effect at a server as soon as its entry is appended there, committed
//! or not (dissertation §4.1); etcd and its relatives wait until it is applied.

use super::{Progress, Role, Server};
use crate::event::Event;
use crate::process::{Cx, Recorder};
use crate::registry::Op;
use crate::rule::Rule;
use crate::setup::{SERVERS_MAX, Setup};
use crate::switch::{Switch, Switches};
use crate::units::{LogIndex, ProcessId, ProcessSet};

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

    /// One majority of all voters, where nobody asks for two (`joint_consensus` off).
    const fn united(self) -> Self {
        Self {
            voters: self.voting(),
            outgoing: ProcessSet(0),
            learners: self.learners,
        }
    }

    fn halves(self) -> impl Iterator<Item = ProcessSet> {
        [self.voters, self.outgoing]
            .into_iter()
            .filter(|half| !half.is_empty())
    }
}

/// What an operator asks of a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Add(ProcessId),
    AddLearner(ProcessId),
    /// A learner gets a vote.
    Promote(ProcessId),
    Remove(ProcessId),
    /// These voters take the place of all others, by joint consensus.
    Reconfigure(ProcessSet),
}

/// Why a leader does not propose a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeRefusal {
    NotLeading,
    /// It has not committed an entry of its own term, so it cannot know whether a change is under way.
    TermNotCommitted,
    /// One is appended and not committed, or the configuration is joint.
    UnderWay,
    Member,
    NoMember,
    NoLearner,
    LastVoter,
    /// These are the voters already.
    Same,
}

impl Server {
    /// The configuration that a change would lead to.
    ///
    /// # Errors
    /// Why it would not propose it.
    pub fn changed(&self, change: Change, switches: Switches) -> Result<Config, ChangeRefusal> {
        let Role::Leader(leading) = &self.role else {
            return Err(ChangeRefusal::NotLeading);
        };
        // Dissertation §4.1 has the second, and the raft-dev erratum of 2015 the first: without an entry of
        // its own term committed, a leader may override a change that another one committed by other voters.
        if self.commit < leading.first_index && switches.is_on(Switch::OwnTermCommitBeforeReconfig)
        {
            return Err(ChangeRefusal::TermNotCommitted);
        }
        if self.commit < self.config_index || self.config.is_joint() {
            return Err(ChangeRefusal::UnderWay);
        }
        let now = self.config;
        let mut new = now;
        match change {
            Change::Add(id) | Change::AddLearner(id) if now.members().contains(id) => {
                return Err(ChangeRefusal::Member);
            }
            Change::Add(id) => new.voters = now.voters.with(id),
            Change::AddLearner(id) => new.learners = now.learners.with(id),
            Change::Promote(id) if !now.learners.contains(id) => {
                return Err(ChangeRefusal::NoLearner);
            }
            Change::Promote(id) => {
                new.voters = now.voters.with(id);
                new.learners = now.learners.without(id);
            }
            Change::Remove(id) => {
                new.voters = now.voters.without(id);
                new.learners = now.learners.without(id);
                if new == now {
                    return Err(ChangeRefusal::NoMember);
                }
                if new.voters.is_empty() {
                    return Err(ChangeRefusal::LastVoter);
                }
            }
            Change::Reconfigure(voters) if voters == now.voters => return Err(ChangeRefusal::Same),
            Change::Reconfigure(voters) => {
                new.voters = voters;
                new.learners.0 &= !voters.0;
                if switches.is_on(Switch::JointConsensus) {
                    new.outgoing = now.voters;
                }
            }
        }
        Ok(new)
    }

    pub(super) fn on_change<R: Recorder>(&mut self, config: Config, cx: &mut Cx<'_, R>) {
        let rule = if config.is_joint() {
            Rule::JointFirst
        } else {
            Rule::OneChangeAtATime
        };
        self.append(Op::Config { config }, rule, cx);
    }

    /// The latest configuration up to and with an entry, and where it is from.
    pub(super) fn config_at(&self, index: LogIndex, setup: &Setup) -> (LogIndex, Config) {
        let last = self.log.last_index().0;
        let behind = last.saturating_sub(index.0) as usize;
        let entries = (0..last).rev().zip(self.log.iter().rev());
        let found = entries.skip(behind).find_map(|(before, entry)| {
            if let Op::Config { config } = entry.op {
                Some((LogIndex(before + 1), config))
            } else {
                None
            }
        });
        found.unwrap_or_else(|| {
            let base = self.snapshot.as_ref().map(|snapshot| snapshot.config);
            let base = base.unwrap_or_else(|| Config::initial(setup));
            (self.log.start(), base)
        })
    }

    /// Goes by the latest configuration in its log, after the log has changed.
    pub(super) fn look_at_config<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let old = self.config;
        let (index, config) = self.config_at(self.log.last_index(), cx.setup);
        (self.config_index, self.config) = (index, config);
        if config == old {
            return;
        }
        cx.fact(rule, || Event::ConfigAdopted { config });
        if let Role::Leader(leading) = &mut self.role {
            // Who joins is a stranger, even if it was here before.
            for id in config
                .members()
                .iter()
                .filter(|id| !old.members().contains(*id))
            {
                leading.progress[usize::from(id.0)] = Progress::from(index);
            }
        }
        // A successor that has been told to stand may still win where the change has not arrived.
        if let Some(to) = self.transferring()
            && !config.voting().contains(to)
        {
            self.give_up_handover(Rule::OnlyVotersStand, cx);
        }
    }

    /// The configuration by which it counts.
    pub(super) fn counting<R: Recorder>(&self, cx: &Cx<'_, R>) -> Config {
        if cx.is_on(Switch::JointConsensus) {
            self.config
        } else {
            self.config.united()
        }
    }

    /// A voter stands for election; so does one whose own removal is not committed as far as it knows,
    /// because it may still be needed (dissertation §4.2.2, Figure 4.6).
    pub(super) fn may_stand<R: Recorder>(&self, cx: &Cx<'_, R>) -> bool {
        let votes = |config: Config| config.voting().contains(cx.me);
        votes(self.config)
            || self.commit < self.config_index
                && votes(self.config_at(self.config_index.previous(), cx.setup).1)
    }

    /// Something was committed: a joint configuration is left by a second entry, whoever began it; a leader
    /// that is no voter any more has done its last duty.
    pub(super) fn finish_change<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if !self.is_leader() || self.commit < self.config_index {
            return;
        }
        if self.config.is_joint() {
            let config = Config {
                outgoing: ProcessSet::default(),
                ..self.config
            };
            self.append(Op::Config { config }, Rule::JointIsLeft, cx);
        } else if !self.config.voters.contains(cx.me) {
            self.tell_successor(cx);
            self.become_follower(self.term, None, cx);
        }
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
