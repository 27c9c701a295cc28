//! What each rule, invariant and switch says, in one sentence.
//!
//! The paragraphs of the law in plain words. Where a rule comes from is the engine's to say.

use leasehold_engine::monitor::Invariant;
use leasehold_engine::rule::Rule;
use leasehold_engine::switch::Switch;

/// The rule as a sentence.
#[must_use]
pub const fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::Commanded => "It was asked for from outside.",
        Rule::PauseStopsTheProcess => {
            "A pause stops the process, not its clocks and not the world."
        }
        Rule::SleeperWaits => "What reaches a sleeper waits until it wakes.",
        Rule::ResumeFinishesFirst => "Who wakes first finishes the line it was in.",
        Rule::CrashLosesVolatile => "A crash loses what was not on the disk.",
        Rule::RestartReadsDisk => "Who starts again knows only what its disk kept.",
        Rule::NetworkMayLose => "The network may lose a message.",
        Rule::NetworkMayDuplicate => "The network may deliver a message twice.",
        Rule::CrashedHearsNothing => "Who is down hears nothing.",
        Rule::MessagesOnly => "Processes know of each other what messages tell them, no more.",
        Rule::InvariantWatched => "This must never be otherwise; it is watched at every step.",
        Rule::SyncMakesDurable => "A write to disk counts once the disk has confirmed it.",
        Rule::DiskErrorIsFatal => "Who cannot write to its disk stops before it promises anything.",
        Rule::DamagedLogDoesNotVote => {
            "Who cannot read its last entry votes for nobody until a leader has repaired it."
        }
        Rule::LeaderRepairs => "The leader sends again what a damaged disk has lost.",
        Rule::ElectionTimeout => {
            "Who hears no leader for its election timeout stands for election."
        }
        Rule::OnlyVotersStand => "Who has no vote does not stand for election.",
        Rule::AskBeforeStanding => "Who would stand first asks whether it could win.",
        Rule::FreshLeaderShields => {
            "Who has just heard a leader, or leads, ignores calls for votes."
        }
        Rule::LeaderNeedsQuorum => {
            "A leader that hears no majority for an election timeout steps down."
        }
        Rule::ToldToStand => "Who is told by its leader to stand does so at once.",
        Rule::HandoverBringsUpToDate => {
            "A leader that hands over first gives its successor every entry."
        }
        Rule::NoWorkDuringHandover => "A leader that hands over takes no new work.",
        Rule::HandoverHasItsTime => "A handover that takes an election timeout is given up.",
        Rule::VoteOncePerTerm => "A server votes for one candidate in each term.",
        Rule::VoteForUpToDateLog => {
            "A vote goes only to a log at least as up to date as one's own."
        }
        Rule::MajorityElects => "A majority of votes makes the leader of a term.",
        Rule::HigherTermWins => "Who hears of a higher term adopts it and leads no more.",
        Rule::StaleTermRefused => "A message of an older term is refused.",
        Rule::LeaderOfThisTerm => "Whoever sends entries of this term was elected in it.",
        Rule::LateReplyIgnored => "An answer that comes too late changes nothing.",
        Rule::NewLeaderAppendsNoop => "A new leader opens its term with an empty entry.",
        Rule::HeartbeatKeepsAuthority => "Heartbeats tell the followers that the leader is there.",
        Rule::LeaderAppends => "Only the leader adds to the log; it never rewrites its own.",
        Rule::AppendMatchesPrevious => "New entries are taken when the entry before them matches.",
        Rule::AppendNeedsPrevious => {
            "Entries are rejected when the entry before them does not match."
        }
        Rule::ConflictIsReplaced => {
            "Where logs differ, the leader's entries replace the follower's."
        }
        Rule::LeaderProbesBack => "After a rejection the leader tries from further back.",
        Rule::AckMovesMatch => "A confirmation tells the leader how far a follower has the log.",
        Rule::CommitByMajorityOfThisTerm => {
            "An entry of the leader's own term on a majority is committed."
        }
        Rule::CommitFollowsLeader => {
            "A follower commits what the leader has committed and it has too."
        }
        Rule::ApplyInOrder => "Committed entries are applied one by one, in order.",
        Rule::OneChangeAtATime => "One server at a time joins or leaves, by an entry of the log.",
        Rule::JointFirst => {
            "Between two configurations, both must agree, each by its own majority."
        }
        Rule::JointIsLeft => "Once both have agreed, the new configuration stands alone.",
        Rule::ConfigAtAppend => "A server goes by the latest configuration in its log.",
        Rule::ConfigGoesWithEntry => "A configuration whose entry is removed is in force no more.",
        Rule::RemovedLeaderStepsDown => {
            "A leader that has committed its own removal leads no more."
        }
        Rule::SnapshotDropsApplied => {
            "What is applied may be kept as a snapshot, without its entries."
        }
        Rule::SnapshotForWhoLacks => "Who lacks entries that are gone is sent a snapshot.",
        Rule::SnapshotReplacesLog => "A newer snapshot takes the place of the log before it.",
        Rule::OldSnapshotIgnored => "A snapshot of what is applied already changes nothing.",
        Rule::OnlyLeaderServes => "Only the leader serves; others point to it.",
        Rule::ReadIndexRemembered => "A leader that is asked notes how far it has committed.",
        Rule::ReadConfirmedByMajority => {
            "A read is safe once a majority, asked after it, still knows the leader."
        }
        Rule::ReadByLease => "While its lease runs, a leader answers reads without asking anyone.",
        Rule::FollowerAsksForIndex => "A follower asks its leader how far it must have applied.",
        Rule::ReadWhenApplied => "A read is answered once its entry is applied there.",
        Rule::StaleReadAtOnce => "A stale read shows at once what this server has applied.",
        Rule::SessionFloor => "Nobody shows a client less than it has seen already.",
        Rule::SessionFirst => "A client opens a session before its first put.",
        Rule::SessionLeastUsedGoes => {
            "When room runs out, the session used least recently goes, everywhere alike."
        }
        Rule::SessionUnknownRefused => {
            "A put of a session that is gone is refused, not carried out."
        }
        Rule::GrantWhenFree => "A free resource goes to who asks, with the next token.",
        Rule::QueueWhenHeld => "While one holds a resource, others wait in line.",
        Rule::RetryIsAnsweredOnce => "A repeated request is answered again, not carried out again.",
        Rule::RenewHolderOnly => "Only the current holder may renew.",
        Rule::RenewConfirmedByMajority => {
            "A renewal counts once a majority confirms that the leader leads."
        }
        Rule::RenewRefusedToOthers => {
            "Who is not the holder, with the current token, cannot renew."
        }
        Rule::ExpiryByLeadersClock => {
            "A lease is over when the service's leader has counted it out."
        }
        Rule::ExpiryIsLogged => "An expiry takes effect through the log, like a grant.",
        Rule::ReleaseByHolder => "The holder may give the lease back before its time.",
        Rule::LeaveQueue => "Who waits may stop waiting.",
        Rule::WaiterMustBeHeard => "Who waits and falls silent for a lease loses its place.",
        Rule::LockDelay => "After an expiry the resource rests for the lock-delay.",
        Rule::TableInMemory => "Who keeps its table in memory has none after a start.",
        Rule::StartupQuarantine => {
            "Who does not know what it granted waits for a lease before it grants."
        }
        Rule::OperatorRaises => "Tokens go on above the highest that an operator knows of.",
        Rule::NewLeaderRearmsLeases => "A new leader gives every lease its full time again.",
        Rule::PutIsApplied => "A committed put sets its key.",
        Rule::WorkerAsksForLease => "Who wants the resource asks the service for its lease.",
        Rule::AskAgain => "Without an answer, the same request is sent again.",
        Rule::FollowHint => "Who is pointed to the leader asks there.",
        Rule::DeadlineFromSendTime => "A holder counts its lease from when it asked, to be safe.",
        Rule::WaitInQueue => "Who is not first waits for its turn.",
        Rule::RenewEarly => "A holder renews well before its deadline.",
        Rule::RenewFromWork => "A holder whose work does not get on renews no more.",
        Rule::RenewalExtends => "A confirmed renewal moves the holder's deadline.",
        Rule::JeopardyWithoutEvidence => "An unanswered renewal puts the holder in doubt.",
        Rule::EvidenceEndsJeopardy => "A confirmed renewal ends the doubt.",
        Rule::OwnDeadlinePassed => "A holder stops by itself when its own deadline passes.",
        Rule::GraceAfterDeadline => {
            "Past its deadline a holder does nothing, and may be confirmed until its grace ends."
        }
        Rule::ToldItIsLost => "A holder that is told so stops.",
        Rule::GiveBack => "A holder gives back what it no longer needs.",
        Rule::CheckOwnDeadline => "A check looks at one's own deadline; it cannot see the truth.",
        Rule::CheckOwnRole => "A server's check looks at its own role; it cannot see the truth.",
        Rule::NoCheckNoWrite => "Who is not sure does not write.",
        Rule::WriteCarriesToken => "Every write carries its writer's token.",
        Rule::StoreAnswered => "The store's answer ends a write.",
        Rule::NoAnswerIsUnknown => "Without an answer, it may have happened or not.",
        Rule::FenceAcceptsNotLower => {
            "The gate lets pass a token not lower than the highest it has seen."
        }
        Rule::FenceRefusesLower => "The gate refuses a token lower than the highest it has seen.",
        Rule::FenceRefusesEqual => "A strict gate refuses an equal token too, the holder's own.",
        Rule::OperationTakesEffectOnce => {
            "An operation takes effect once; whoever repeats it gets the same answer."
        }
        Rule::ClaimBeforeServing => "A new holder raises the gate before it serves.",
        Rule::FenceObserves => "The gate observes only: it notes a lower token and lets it pass.",
        Rule::NoFenceAcceptsAll => "The gate is open: the store looks at no token.",
        Rule::CheckThenWrite => "The store checks now and writes later.",
        Rule::ClientAsksLeader => "A client sends its request to the leader it knows.",
        Rule::ClientAnswered => "An answer ends a request.",
    }
}

/// The invariant's name in words, to begin a sentence with.
#[must_use]
pub const fn invariant(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::ElectionSafety => "One leader a term",
        Invariant::LogMatching => "Logs that agree once agree before",
        Invariant::LeaderCompleteness => "Leaders have all that is committed",
        Invariant::StateMachineSafety => "Servers apply the same entries",
        Invariant::TokenMonotonic => "Each grant has a higher token",
        Invariant::OneHolder => "One holder at a time",
        Invariant::DeadlineWithinGrant => "No deadline outlives its grant",
        Invariant::NoOlderToken => "No older token after a newer one",
        Invariant::LinearizableReads => "Reads show what was committed",
        Invariant::MonotonicReads => "Reads do not go back",
        Invariant::OneEffect => "One effect for each operation",
        Invariant::NoLostWrite => "What was accepted stays",
    }
}

/// What a switch does while it is on.
#[must_use]
pub const fn switch(switch: Switch) -> &'static str {
    match switch {
        Switch::PersistTermVote => "Term and vote are on disk before a server answers with them.",
        Switch::DurableAck => "What is confirmed to the leader is on disk first.",
        Switch::RefuseVoteUntilRepaired => {
            "A server with a damaged log does not vote until it is repaired."
        }
        Switch::OneVotePerTerm => "A server votes for one candidate in each term.",
        Switch::VoteCountsById => "A candidate counts voters, not answers.",
        Switch::LogUpToDateCheck => "Votes go only to logs at least as up to date.",
        Switch::PrevLogCheck => "Entries are taken only behind an entry that matches.",
        Switch::StaleTermCheck => "Messages of an older term are refused.",
        Switch::CommitOnlyCurrentTerm => {
            "A leader commits by counting entries of its own term alone."
        }
        Switch::CommitClampToLastNewEntry => {
            "A follower commits no further than it has just checked."
        }
        Switch::NoopOnElection => "A new leader opens its term with an empty entry.",
        Switch::Prevote => "Who would stand first asks whether it could win.",
        Switch::Stickiness => "Who has just heard a leader ignores calls for votes.",
        Switch::CheckQuorum => "A leader that hears no majority for a while steps down.",
        Switch::JointConsensus => {
            "Between two sets of voters, both must agree, each by its own majority."
        }
        Switch::OwnTermCommitBeforeReconfig => {
            "A leader changes the membership only after it has committed an entry of its term."
        }
        Switch::ReplyAfterCommit => "A client is answered when its entry is committed, not before.",
        Switch::GrantAtApply => "Whether a resource is free is decided when the entry is applied.",
        Switch::DurableTokenCounter => "A resource's generation is kept in the replicated log.",
        Switch::RenewQuorumRound => "A renewal waits until a majority confirms the leader.",
        Switch::FailoverExtendsLeases => "A new leader gives every lease its full time again.",
        Switch::ConservativeDeadline => "A holder counts its lease from when it asked.",
        Switch::MonotonicDeadline => "Leases are counted on clocks that cannot jump.",
        Switch::DriftBound => "Leases are counted shorter by what clocks may differ.",
        Switch::ReadindexQuorumRound => "A read waits until a majority confirms the leader.",
        Switch::ReadAfterOwnCommit => "A new leader commits an entry of its own before it reads.",
        Switch::ReadWaitsForApply => {
            "A read waits until its entry is applied where it is answered."
        }
        Switch::LeaseFromSendTime => "A leader's lease for reads counts from when it asked.",
        Switch::TransferExpiresLease => {
            "A leader that told its successor to stand reads by its lease no more."
        }
        Switch::SessionFloor => "A client is not shown less than it has seen.",
        Switch::LockDelay => "After an expiry nobody gets the resource for the lock-delay.",
        Switch::StartupQuarantine => {
            "A service that has lost its table grants nothing for one lease."
        }
        Switch::WaiterSession => "Who waits must be heard of now and then, or loses its place.",
        Switch::CheckBeforeWrite => "A worker looks at its lease before it writes.",
        Switch::Jeopardy => {
            "A holder whose renewals go unanswered is in doubt, and does not write."
        }
        Switch::OpDedupe => "A repeated request is answered, not carried out twice.",
        Switch::Fence => "The store compares each write's token with the highest it has seen.",
        Switch::FenceAtomic => "The store compares and writes in one step.",
        Switch::FenceScopes => "The store compares a token only with those of the same lease.",
        Switch::FenceAllowsEqual => "A holder may write again with the same token.",
        Switch::DurableFence => "The highest token is on the store's disk, with the data.",
        Switch::ClaimFirst => "A new holder raises every store's gate before it serves.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_and_switch_is_a_sentence_of_its_own() {
        let rules: Vec<&str> = Rule::ALL.iter().map(|r| rule(*r)).collect();
        let switches = Switch::ALL.iter().map(|s| switch(*s));
        for (at, sentence) in rules.iter().enumerate() {
            assert!(!rules[..at].contains(sentence), "twice: {sentence}");
        }
        for sentence in rules.iter().copied().chain(switches) {
            assert!(
                sentence.ends_with('.') && sentence.chars().count() <= 120,
                "{sentence}"
            );
        }
    }
}
