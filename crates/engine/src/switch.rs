//! The safety mechanisms as switches: each can be taken away, for the world or for one process.
//!
//! A guard rail you can unbolt to see what it was holding. The table of what breaks when one is off
//! stands in ARCHITECTURE.md and is checked against [`Switch::ALL`] by a test.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::monitor::Invariant;
use crate::text::serde_as_text;

/// What a mechanism guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    Safety,
    Liveness,
}

macro_rules! switches {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $guards:ident, $breaks:expr;)*) => {
        /// One safety mechanism, under the name that commands and lessons use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Switch { $($(#[$doc])* $variant,)* }

        impl Switch {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub const fn guards(self) -> Guards {
                match self { $(Self::$variant => Guards::$guards,)* }
            }

            /// The invariant that its loss can break, if it guards one.
            #[must_use]
            pub const fn breaks(self) -> Option<Invariant> {
                match self { $(Self::$variant => $breaks,)* }
            }
        }
    };
}

switches! {
    /// Term and vote are on disk before they are answered with (Raft §5.2; dissertation §3.8).
    PersistTermVote = "persist_term_vote", Safety, Some(Invariant::ElectionSafety);
    /// An append is acknowledged, and counted at the leader itself, once it is on disk (dissertation §3.8).
    DurableAck = "durable_ack", Safety, Some(Invariant::LeaderCompleteness);
    /// A server that finds its last entry unreadable does not vote before a leader has repaired it.
    RefuseVoteUntilRepaired = "refuse_vote_until_repaired", Safety, Some(Invariant::LeaderCompleteness);
    /// A server votes for one candidate a term (Raft §5.2).
    OneVotePerTerm = "one_vote_per_term", Safety, Some(Invariant::ElectionSafety);
    /// Votes are counted by voter, not by reply.
    VoteCountsById = "vote_counts_by_id", Safety, Some(Invariant::ElectionSafety);
    /// Votes go only to a log at least as up to date (Raft §5.4.1).
    LogUpToDateCheck = "log_up_to_date_check", Safety, Some(Invariant::LeaderCompleteness);
    /// An append must match the entry before it (Raft §5.3).
    PrevLogCheck = "prev_log_check", Safety, Some(Invariant::LogMatching);
    /// Messages of an older term change nothing (Raft §5.1).
    StaleTermCheck = "stale_term_check", Safety, Some(Invariant::LeaderCompleteness);
    /// Only entries of the leader's own term are committed by counting (Raft §5.4.2).
    CommitOnlyCurrentTerm = "commit_only_current_term", Safety, Some(Invariant::StateMachineSafety);
    /// A follower commits no further than the last entry it has just checked (Raft Figure 2).
    CommitClampToLastNewEntry = "commit_clamp_to_last_new_entry", Safety, Some(Invariant::StateMachineSafety);
    /// A new leader appends an empty entry (Raft §8).
    NoopOnElection = "noop_on_election", Liveness, None;
    /// Who would stand first asks, without a new term, whether it could win (dissertation §9.6).
    Prevote = "prevote", Liveness, None;
    /// Who has just heard a leader, or leads, ignores calls for votes (dissertation §4.2.3).
    Stickiness = "stickiness", Liveness, None;
    /// A leader that hears no majority for an election timeout leads no more (dissertation §6.2).
    CheckQuorum = "check_quorum", Liveness, None;
    /// Between two sets of voters, both must agree, each by its own majority (Raft §6).
    JointConsensus = "joint_consensus", Safety, Some(Invariant::ElectionSafety);
    /// A leader changes the membership only after an entry of its own term is committed (dissertation §4.1,
    /// with the erratum of 2015).
    OwnTermCommitBeforeReconfig = "own_term_commit_before_reconfig", Safety, Some(Invariant::LeaderCompleteness);
    /// A client is answered when its entry is committed, not when it is appended (Raft §5.3).
    ReplyAfterCommit = "reply_after_commit", Safety, Some(Invariant::NoLostWrite);
    /// Whether a resource is free is decided when the entry is applied, not when it is proposed.
    GrantAtApply = "grant_at_apply", Safety, Some(Invariant::OneHolder);
    /// A resource's generation is part of the replicated state.
    DurableTokenCounter = "durable_token_counter", Safety, Some(Invariant::TokenMonotonic);
    /// A renewal is answered after a majority has confirmed that the leader still leads.
    RenewQuorumRound = "renew_quorum_round", Safety, Some(Invariant::DeadlineWithinGrant);
    /// A new leader gives every lease its full time again.
    FailoverExtendsLeases = "failover_extends_leases", Safety, Some(Invariant::DeadlineWithinGrant);
    /// A holder counts its lease from when it asked, not from when it was told.
    ConservativeDeadline = "conservative_deadline", Safety, Some(Invariant::DeadlineWithinGrant);
    /// A lease is measured on monotonic clocks, not on wall clocks, by its holder and by the service.
    MonotonicDeadline = "monotonic_deadline", Safety, Some(Invariant::DeadlineWithinGrant);
    /// A lease is counted shorter by what clocks may differ (Ongaro's dissertation §6.4.1; Chubby §2.8).
    DriftBound = "drift_bound", Safety, Some(Invariant::DeadlineWithinGrant);
    /// A read waits for a majority to confirm the leader, in a round that begins after it (dissertation §6.4).
    ReadindexQuorumRound = "readindex_quorum_round", Safety, Some(Invariant::LinearizableReads);
    /// A new leader answers reads once it has committed an entry of its own term (dissertation §6.4).
    ReadAfterOwnCommit = "read_after_own_commit", Safety, Some(Invariant::LinearizableReads);
    /// A read waits until its index is applied where it is answered (dissertation §6.4).
    ReadWaitsForApply = "read_waits_for_apply", Safety, Some(Invariant::LinearizableReads);
    /// A leader's lease for reads counts from when its round was sent, not from its answers.
    LeaseFromSendTime = "lease_from_send_time", Safety, Some(Invariant::LinearizableReads);
    /// A leader that told its successor to stand reads by its lease no more (dissertation §6.4.1).
    TransferExpiresLease = "transfer_expires_lease", Safety, Some(Invariant::LinearizableReads);
    /// A client is not answered from a state older than one it has seen (dissertation §6.4.1).
    SessionFloor = "session_floor", Safety, Some(Invariant::MonotonicReads);
    /// After an expiry nobody gets the resource for the setup's lock-delay (Chubby §2.4). It narrows the window.
    LockDelay = "lock_delay", Safety, None;
    /// A service that started without its table of leases grants nothing for one full lease.
    StartupQuarantine = "startup_quarantine", Safety, Some(Invariant::OneHolder);
    /// A waiter that has not been heard of for a lease loses its place (etcd issue 11456).
    WaiterSession = "waiter_session", Liveness, None;
    /// A worker looks at its lease before it writes. It narrows the window; only the fence closes it.
    CheckBeforeWrite = "check_before_write", Safety, None;
    /// A holder whose renewals go unanswered answers "doubt" when it checks. It narrows the window too.
    Jeopardy = "jeopardy", Safety, None;
    /// A repeated request or operation is answered, not carried out again (dissertation §6.3).
    OpDedupe = "op_dedupe", Safety, Some(Invariant::OneEffect);
    /// The store compares tokens: off, observe, or enforce.
    Fence = "fence", Safety, Some(Invariant::NoOlderToken);
    /// The store compares and writes in one step.
    FenceAtomic = "fence_atomic", Safety, Some(Invariant::NoOlderToken);
    /// The store compares tokens of one lease only; off, all with the one highest it has seen.
    FenceScopes = "fence_scopes", Liveness, None;
    /// A holder may write again with the token that the store has seen of it.
    FenceAllowsEqual = "fence_allows_equal", Liveness, None;
    /// The highest token is on disk with the data, and a restarted store still knows it.
    DurableFence = "durable_fence", Safety, Some(Invariant::NoOlderToken);
    /// A new holder raises every store's gate before it serves (HDFS QJM: newEpoch).
    ClaimFirst = "claim_first", Safety, None;
}

/// The position of a switch. `Observe` is for [`Switch::Fence`] alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Position {
    Off,
    /// Counts what it would have refused, and accepts it.
    Observe,
    /// On; for the fence this reads `enforce`.
    On,
}

impl Switch {
    /// The position where nothing says otherwise.
    #[must_use]
    pub const fn initial(self) -> Position {
        if matches!(
            self,
            Self::Prevote | Self::Stickiness | Self::CheckQuorum | Self::ClaimFirst
        ) {
            Position::Off
        } else {
            Position::On
        }
    }

    /// The word for a position of this switch.
    #[must_use]
    pub const fn word(self, position: Position) -> &'static str {
        match (self, position) {
            (_, Position::Off) => "off",
            (_, Position::Observe) => "observe",
            (Self::Fence, Position::On) => "enforce",
            (_, Position::On) => "on",
        }
    }

    /// The position that a word names, if this switch has it. `on` is read for the fence too.
    #[must_use]
    pub fn position(self, word: &str) -> Option<Position> {
        match word {
            "off" => Some(Position::Off),
            "on" => Some(Position::On),
            "observe" if self == Self::Fence => Some(Position::Observe),
            "enforce" if self == Self::Fence => Some(Position::On),
            _ => None,
        }
    }

    /// The words that [`Switch::position`] reads, for messages.
    #[must_use]
    pub const fn words(self) -> &'static str {
        if matches!(self, Self::Fence) {
            "off, observe or enforce"
        } else {
            "on or off"
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Switch {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .iter()
            .copied()
            .find(|s| s.name() == text)
            .ok_or(())
    }
}

serde_as_text!(Switch);

/// The positions that one process lives under: each as [`Switch::initial`] says, unless set otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switches {
    on: u64,
    observe: u64,
}

impl Default for Switches {
    fn default() -> Self {
        let mut switches = Self { on: 0, observe: 0 };
        for switch in Switch::ALL {
            switches.set(*switch, switch.initial());
        }
        switches
    }
}

impl Switches {
    #[must_use]
    pub const fn is_on(self, switch: Switch) -> bool {
        self.on & 1 << switch as u64 != 0
    }

    #[must_use]
    pub const fn get(self, switch: Switch) -> Position {
        let bit = 1 << switch as u64;
        if self.on & bit != 0 {
            Position::On
        } else if self.observe & bit != 0 {
            Position::Observe
        } else {
            Position::Off
        }
    }

    pub const fn set(&mut self, switch: Switch, position: Position) {
        let bit = 1 << switch as u64;
        self.on &= !bit;
        self.observe &= !bit;
        match position {
            Position::Off => {}
            Position::Observe => self.observe |= bit,
            Position::On => self.on |= bit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_positions_read_back() {
        for &switch in Switch::ALL {
            assert_eq!(switch.name().parse(), Ok(switch));
            for position in [Position::Off, Position::On] {
                assert_eq!(switch.position(switch.word(position)), Some(position));
                let mut set = Switches::default();
                set.set(switch, position);
                assert_eq!(set.get(switch), position);
            }
        }
        assert_eq!(Switch::Fence.position("observe"), Some(Position::Observe));
        assert_eq!(Switch::OpDedupe.position("observe"), None);
    }
}
