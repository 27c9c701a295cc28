//! Why a step went the way it went: one rule each, with its source.
//!
//! The paragraph of the law beside the verdict. Sentences are made at the edge from the key; here are
//! only the keys and where to read on. There is no catch-all: what changes a process has its rule.

macro_rules! rules {
    ($($variant:ident = $key:literal, $source:literal;)*) => {
        /// The rule that decided an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $key] $variant,)* }

        impl Rule {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// A stable key, for sentences and traces.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Self::$variant => $key,)* }
            }

            /// Where the rule is from.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $(Self::$variant => $source,)* }
            }
        }
    };
}

rules! {
    // What is done to a process or a link from outside.
    Commanded = "commanded", "the learner";
    PauseStopsTheProcess = "pause-stops-the-process", "seed: process pause outlives its lease";
    SleeperWaits = "sleeper-waits", "seed: process pause outlives its lease";
    ResumeFinishesFirst = "resume-finishes-first", "seed: process pause outlives its lease";
    CrashLosesVolatile = "crash-loses-volatile", "Raft Figure 2; dissertation §3.8";
    RestartReadsDisk = "restart-reads-disk", "Raft Figure 2; dissertation §3.8";
    MessagesOnly = "messages-only", "Raft §5.1: servers talk by messages alone";
    NetworkMayLose = "network-may-lose", "Raft §5.1: messages may be lost";
    NetworkMayDuplicate = "network-may-duplicate", "Raft §5.1: messages may come twice";
    CrashedHearsNothing = "crashed-hears-nothing", "Raft §5.5";
    DiskErrorIsFatal = "disk-error-is-fatal", "etcd and openraft: a storage error stops the node";
    SyncMakesDurable = "sync-makes-durable", "dissertation §3.8";
    // Raft.
    ElectionTimeout = "election-timeout", "Raft §5.2";
    OnlyVotersStand = "only-voters-stand", "dissertation §4.2.1: non-voting servers";
    AskBeforeStanding = "ask-before-standing", "dissertation §9.6";
    FreshLeaderShields = "fresh-leader-shields", "dissertation §4.2.3";
    LeaderNeedsQuorum = "leader-needs-quorum", "dissertation §6.2";
    ToldToStand = "told-to-stand", "dissertation §3.10";
    HandoverBringsUpToDate = "handover-brings-up-to-date", "dissertation §3.10";
    NoWorkDuringHandover = "no-work-during-handover", "dissertation §3.10";
    HandoverHasItsTime = "handover-has-its-time", "dissertation §3.10";
    VoteOncePerTerm = "vote-once-per-term", "Raft §5.2";
    VoteForUpToDateLog = "vote-for-up-to-date-log", "Raft §5.4.1";
    DamagedLogDoesNotVote = "damaged-log-does-not-vote", "Protocol-Aware Recovery (FAST 2018) §3; dissertation §3.8";
    LeaderRepairs = "leader-repairs", "Protocol-Aware Recovery (FAST 2018) §3";
    MajorityElects = "majority-elects", "Raft §5.2";
    HigherTermWins = "higher-term-wins", "Raft §5.1";
    StaleTermRefused = "stale-term-refused", "Raft §5.1";
    LeaderOfThisTerm = "leader-of-this-term", "Raft §5.2";
    LateReplyIgnored = "late-reply-ignored", "Raft §5.1: calls are idempotent";
    NewLeaderAppendsNoop = "new-leader-appends-noop", "Raft §8";
    HeartbeatKeepsAuthority = "heartbeat-keeps-authority", "Raft §5.2";
    LeaderAppends = "leader-appends", "Raft §5.3";
    AppendMatchesPrevious = "append-matches-previous", "Raft §5.3";
    AppendNeedsPrevious = "append-needs-previous", "Raft §5.3";
    ConflictIsReplaced = "conflict-is-replaced", "Raft §5.3, Figure 2";
    LeaderProbesBack = "leader-probes-back", "Raft §5.3";
    AckMovesMatch = "ack-moves-match", "Raft §5.3";
    CommitByMajorityOfThisTerm = "commit-by-majority-of-this-term", "Raft §5.4.2, Figure 8";
    CommitFollowsLeader = "commit-follows-leader", "Raft §5.3, Figure 2";
    ApplyInOrder = "apply-in-order", "Raft §5.3";
    OneChangeAtATime = "one-change-at-a-time", "dissertation §4.1";
    JointFirst = "joint-first", "Raft §6, Figure 11";
    JointIsLeft = "joint-is-left", "Raft §6, Figure 11";
    ConfigAtAppend = "config-at-append", "dissertation §4.1: the latest configuration in the log";
    ConfigGoesWithEntry = "config-goes-with-entry", "dissertation §4.1: back to the one before it";
    RemovedLeaderStepsDown = "removed-leader-steps-down", "Raft §6; dissertation §4.2.2";
    SnapshotDropsApplied = "snapshot-drops-applied", "Raft §7";
    SnapshotForWhoLacks = "snapshot-for-who-lacks", "Raft §7";
    SnapshotReplacesLog = "snapshot-replaces-log", "Raft §7, Figure 13";
    OldSnapshotIgnored = "old-snapshot-ignored", "Raft §5.1: calls are idempotent";
    OnlyLeaderServes = "only-leader-serves", "Raft §8";
    // Reads.
    ReadIndexRemembered = "read-index-remembered", "dissertation §6.4: readIndex";
    ReadConfirmedByMajority = "read-confirmed-by-majority", "dissertation §6.4";
    ReadByLease = "read-by-lease", "dissertation §6.4.1: clocks instead of a round";
    FollowerAsksForIndex = "follower-asks-for-index", "dissertation §6.4: followers may answer reads";
    ReadWhenApplied = "read-when-applied", "dissertation §6.4";
    StaleReadAtOnce = "stale-read-at-once", "dissertation §6.4: what a plain local read gives";
    SessionFloor = "session-floor", "dissertation §6.4.1: the client carries the index it has seen";
    // Sessions.
    SessionFirst = "session-first", "dissertation §6.3: RegisterClient";
    SessionLeastUsedGoes = "session-least-used-goes", "dissertation §6.3: all servers expire the same sessions";
    SessionUnknownRefused = "session-unknown-refused", "dissertation §6.3";
    // The lease service.
    GrantWhenFree = "grant-when-free", "seed: lease-based authority";
    QueueWhenHeld = "queue-when-held", "Chubby §2.4: one holder, others wait";
    RetryIsAnsweredOnce = "retry-is-answered-once", "dissertation §6.3";
    RenewHolderOnly = "renew-holder-only", "seed: lease-based authority";
    RenewConfirmedByMajority = "renew-confirmed-by-majority", "dissertation §6.4";
    RenewRefusedToOthers = "renew-refused-to-others", "seed: lease-based authority";
    ExpiryByLeadersClock = "expiry-by-leaders-clock", "seed: lease-based authority";
    ExpiryIsLogged = "expiry-is-logged", "etcd: leases are revoked through the log";
    ReleaseByHolder = "release-by-holder", "Chubby §2.4";
    LeaveQueue = "leave-queue", "Chubby §2.4";
    WaiterMustBeHeard = "waiter-must-be-heard", "etcd: a waiter's key lives as long as its session";
    LockDelay = "lock-delay", "Chubby §2.4; Consul: lock-delay";
    TableInMemory = "table-in-memory", "Redlock: a server that restarts without its data";
    StartupQuarantine = "startup-quarantine", "Redlock: delayed restarts";
    OperatorRaises = "operator-raises", "etcd: a restored backup's revisions are bumped";
    NewLeaderRearmsLeases = "new-leader-rearms-leases", "etcd: leases are promoted with their full time";
    PutIsApplied = "put-is-applied", "Raft §8";
    // Workers.
    WorkerAsksForLease = "worker-asks-for-lease", "seed: coordination-service election";
    AskAgain = "ask-again", "dissertation §6.3: the same request, the same number";
    FollowHint = "follow-hint", "Raft §8";
    DeadlineFromSendTime = "deadline-from-send-time", "Chubby §2.8: the lease is counted from the request";
    WaitInQueue = "wait-in-queue", "seed: coordination-service election";
    RenewEarly = "renew-early", "seed: renew well before the deadline";
    RenewFromWork = "renew-from-work", "Amazon Builders' Library: Leader election in distributed systems";
    RenewalExtends = "renewal-extends", "seed: lease-based authority";
    JeopardyWithoutEvidence = "jeopardy-without-evidence", "seed: jeopardy; Chubby §2.8";
    EvidenceEndsJeopardy = "evidence-ends-jeopardy", "Chubby §2.8";
    OwnDeadlinePassed = "own-deadline-passed", "seed: stop using the lease before it expires";
    GraceAfterDeadline = "grace-after-deadline", "Chubby §2.9: jeopardy, grace, safe or expired";
    ToldItIsLost = "told-it-is-lost", "seed: losing authority";
    GiveBack = "give-back", "Chubby §2.4";
    CheckOwnDeadline = "check-own-deadline", "seed: process pause outlives its lease";
    CheckOwnRole = "check-own-role", "seed: isolated old consensus leader reaches an external API";
    NoCheckNoWrite = "no-check-no-write", "seed: losing authority";
    WriteCarriesToken = "write-carries-token", "seed: fencing the old leader";
    ClaimBeforeServing = "claim-before-serving", "seed: the new owner claims first; HDFS QJM newEpoch";
    StoreAnswered = "store-answered", "seed: fencing the old leader";
    NoAnswerIsUnknown = "no-answer-is-unknown", "dissertation §6.3";
    // Stores.
    FenceAcceptsNotLower = "fence-accepts-not-lower", "seed: fencing the old leader";
    FenceRefusesLower = "fence-refuses-lower", "seed: fencing the old leader";
    FenceRefusesEqual = "fence-refuses-equal", "seed: fencing the old leader; HDFS QJM numbers each writer once";
    OperationTakesEffectOnce = "operation-takes-effect-once", "seed: idempotent effects; dissertation §6.3";
    FenceObserves = "fence-observes", "seed: observe-only mode before enforcement";
    NoFenceAcceptsAll = "no-fence-accepts-all", "seed: fencing the old leader";
    CheckThenWrite = "check-then-write", "seed: a time-of-check to time-of-use race";
    // Clients.
    ClientAsksLeader = "client-asks-leader", "Raft §8";
    ClientAnswered = "client-answered", "Raft §8";
    // Monitors.
    InvariantWatched = "invariant-watched", "each invariant's own source";
}
