//! What happened: facts in the past tense, with their arguments typed.
//!
//! The run's minutes. A step is one scheduler event or one command; it holds what caused it and each
//! fact with the rule that decided it. Views, traces, monitors and lessons read these and nothing else.

use std::sync::Arc;

use crate::command::{Command, CommandError, DiskAct};
use crate::monitor::{Invariant, Reason};
use crate::raft::Config;
use crate::rule::Rule;
use crate::switch::{Position, Switch};
use crate::units::{
    Duration, LocalTime, LogIndex, OpId, ProcessId, RequestId, ResourceId, SimTime, StepNumber,
    Term, Token,
};

/// A message by its link and its number on that link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    pub from: ProcessId,
    pub to: ProcessId,
    pub number: u64,
}

/// What kind of message it is, as the stage labels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    RequestVote,
    Vote,
    PreVote,
    PreVoteAnswer,
    TimeoutNow,
    Heartbeat,
    Append,
    AppendAnswer,
    ReadIndex,
    ReadIndexAnswer,
    Snapshot,
    Acquire,
    AcquireAnswer,
    Renew,
    RenewAnswer,
    Release,
    ReleaseAnswer,
    Put,
    PutAnswer,
    Get,
    GetAnswer,
    Register,
    RegisterAnswer,
    Write,
    WriteAnswer,
}

macro_rules! timers {
    ($(#[$first_doc:meta])* $first:ident = $first_word:literal;
     $($(#[$doc:meta])* $variant:ident = $word:literal;)*) => {
        /// The timers a process may have running; one of each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum TimerKind { $(#[$first_doc])* $first, $($(#[$doc])* $variant,)* }

        impl TimerKind {
            pub const ALL: &[Self] = &[Self::$first, $(Self::$variant,)*];
            pub const COUNT: usize = Self::ALL.len();
            /// The words for them, for messages.
            pub const WORDS: &str = concat!($first_word, $(", ", $word,)*);

            /// The word that commands use.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { Self::$first => $first_word, $(Self::$variant => $word,)* }
            }
        }
    };
}

timers! {
    /// A server's election timeout.
    Election = "election";
    /// A leader's next heartbeat.
    Heartbeat = "heartbeat";
    /// When a leader next looks whether it has heard a majority.
    Quorum = "quorum";
    /// A leader has been handing over for an election timeout.
    Transfer = "transfer";
    /// A leader's earliest lease expiry.
    Expiry = "expiry";
    /// A worker asks, or asks again.
    Ask = "ask";
    /// A holder's next renewal.
    Renew = "renew";
    /// A renewal has gone unanswered.
    RenewTimeout = "renew_timeout";
    /// A release has gone unanswered.
    ReleaseTimeout = "release_timeout";
    /// A holder's own deadline.
    Deadline = "deadline";
    /// From the check to the send.
    Work = "work";
    /// A write has gone unanswered.
    WriteTimeout = "write_timeout";
    /// A client's request has gone unanswered.
    ClientTimeout = "client_timeout";
    /// A store's write after its check, where the two are apart.
    StoreWrite = "store_write";
}

impl TimerKind {
    /// The timer that a word names.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|timer| timer.word() == word)
    }
}

/// What the scheduler did in a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    Delivery {
        message: MessageId,
        kind: MessageKind,
    },
    Timer {
        timer: TimerKind,
    },
    Synced,
    Command {
        command: Arc<Command>,
    },
}

/// The step that sent the message, set the timer or gave the command; none before the run's zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A command, from outside.
    Given,
    /// Something before time zero, in the quiet start.
    Beginning,
    Step(StepNumber),
}

/// One step: what the scheduler did, for whom, why, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub number: StepNumber,
    pub at: SimTime,
    /// Whose step it is; none for commands about the whole world.
    pub process: Option<ProcessId>,
    pub kind: StepKind,
    pub cause: Cause,
    pub facts: Vec<Fact>,
}

/// An event and the rule that decided it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    pub rule: Rule,
    pub event: Event,
}

impl Step {
    #[must_use]
    pub fn empty() -> Self {
        Self {
            number: StepNumber(0),
            at: SimTime(0),
            process: None,
            kind: StepKind::Synced,
            cause: Cause::Beginning,
            facts: Vec::new(),
        }
    }

    /// The rule of the step's first fact.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        self.facts.first().map(|fact| fact.rule)
    }

    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.facts.iter().map(|fact| &fact.event)
    }
}

/// Why a message never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    Cut,
    Lost,
    ReceiverCrashed,
    Command,
}

/// Why a vote was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteRefusal {
    OldTerm,
    /// Its own last entry cannot be read, and no leader has repaired it yet.
    LogDamaged,
    VotedFor(ProcessId),
    /// This leader, perhaps itself, was heard within the shortest election timeout: no answer is sent.
    LeaderFresh(ProcessId),
    /// A leader may still answer reads by its lease on this server's vote.
    LeaseMayRun,
    LogBehind {
        own_term: Term,
        own_index: LogIndex,
        term: Term,
        index: LogIndex,
    },
}

/// Why an append was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppendRefusal {
    OldTerm,
    /// The log ends before the previous entry.
    LogShort {
        last: LogIndex,
    },
    /// Another term stands at the previous entry.
    OtherTerm {
        there: Term,
    },
}

/// What a process said when it looked at its own authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Mine,
    /// Renewals have gone unanswered.
    Doubt,
    NotMine,
}

/// Why a renewal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenewRefusal {
    NotHolder,
    OtherToken {
        current: Token,
    },
    /// Its time is over; the expiry is on its way through the log.
    Expiring,
}

/// How a client's or a writer's request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    Accepted,
    Refused,
    /// No answer: it may have happened or not.
    Unknown,
}

/// What a log entry asks of the state machine, for views and traces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    Noop,
    Config {
        config: Config,
    },
    Acquire {
        worker: ProcessId,
        resource: ResourceId,
    },
    Release {
        worker: ProcessId,
        resource: ResourceId,
    },
    DropWaiter {
        worker: ProcessId,
        resource: ResourceId,
    },
    Expire {
        resource: ResourceId,
        token: Token,
    },
    Open {
        resource: ResourceId,
    },
    TableLost,
    Raise {
        resource: ResourceId,
        to: Token,
    },
    Put {
        client: ProcessId,
        key: Arc<str>,
        value: Arc<str>,
    },
    Register {
        client: ProcessId,
    },
}

/// A fact in the past tense. Whose it is, unless an argument says so, is the step's process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    // The world and its faults.
    Paused {
        process: ProcessId,
        before_send: bool,
    },
    /// It will be paused as soon as it would send.
    PauseArmed {
        process: ProcessId,
    },
    Resumed {
        process: ProcessId,
        slept: Duration,
        waiting: u32,
    },
    Crashed {
        process: ProcessId,
    },
    Restarted {
        process: ProcessId,
    },
    DiskActed {
        process: ProcessId,
        act: DiskAct,
    },
    /// A write to disk failed, which its process does not survive.
    DiskFailed {
        process: ProcessId,
    },
    /// It starts without the entry at `index`, which its disk cannot read any more.
    TailDamaged {
        process: ProcessId,
        index: LogIndex,
    },
    LinkCut {
        from: ProcessId,
        to: ProcessId,
    },
    LinkHealed {
        from: ProcessId,
        to: ProcessId,
    },
    LatencySet {
        from: ProcessId,
        to: ProcessId,
        min: Duration,
        max: Duration,
    },
    LossSet {
        from: ProcessId,
        to: ProcessId,
        ppm: u32,
    },
    ClockRateSet {
        process: ProcessId,
        ppm: u32,
    },
    ClockJumped {
        process: ProcessId,
        micros: i64,
    },
    SwitchSet {
        switch: Switch,
        position: Position,
        at: Option<ProcessId>,
    },
    CommandSkipped {
        command: Arc<Command>,
        error: Arc<CommandError>,
    },
    MessageSent {
        message: MessageId,
        kind: MessageKind,
    },
    MessageDropped {
        message: MessageId,
        kind: MessageKind,
        reason: DropReason,
    },
    MessageDuplicated {
        message: MessageId,
        kind: MessageKind,
    },
    MessageDelayed {
        message: MessageId,
        kind: MessageKind,
        by: Duration,
    },
    MessageHurried {
        message: MessageId,
        kind: MessageKind,
    },
    /// It was given work while other work was under way: `place` 1 is next.
    WorkQueued {
        place: u32,
    },
    /// Something fell due while the process slept; it waits.
    WaitedAsleep {
        process: ProcessId,
    },
    SyncEnded,

    // Raft.
    ElectionStarted {
        term: Term,
    },
    /// It has no vote, and does not stand for election.
    StoodAside,
    /// It asks whether it could win this term, and stays in its own.
    PrevoteStarted {
        term: Term,
    },
    PrevoteGranted {
        candidate: ProcessId,
        term: Term,
    },
    PrevoteCounted {
        voter: ProcessId,
        votes: u32,
        needed: u32,
    },
    /// A leader looked at who answered it in the last election timeout, itself included.
    QuorumChecked {
        heard: u32,
        needed: u32,
    },
    TermAdopted {
        from: Term,
        to: Term,
    },
    VoteGranted {
        candidate: ProcessId,
        term: Term,
    },
    VoteRefused {
        candidate: ProcessId,
        term: Term,
        why: VoteRefusal,
    },
    VoteCounted {
        voter: ProcessId,
        votes: u32,
        needed: u32,
    },
    VoteDenied {
        voter: ProcessId,
    },
    BecameLeader {
        term: Term,
    },
    SteppedDown {
        term: Term,
    },
    LeaderFollowed {
        leader: ProcessId,
        term: Term,
    },
    /// A reply that has nothing to decide any more.
    ReplyIgnored {
        from: ProcessId,
    },
    HeartbeatsSent {
        round: u64,
    },
    EntryAppended {
        index: LogIndex,
        term: Term,
        entry: EntryKind,
    },
    EntriesStored {
        from: LogIndex,
        to: LogIndex,
    },
    EntriesRemoved {
        from: LogIndex,
    },
    /// A leader has put back what could not be read at `index`, or what took its place.
    LogRepaired {
        index: LogIndex,
    },
    AppendRefused {
        leader: ProcessId,
        why: AppendRefusal,
    },
    /// An append that held nothing new.
    AppendMatched {
        leader: ProcessId,
        upto: LogIndex,
    },
    MatchAdvanced {
        follower: ProcessId,
        to: LogIndex,
    },
    /// A follower confirmed what was known.
    AppendConfirmed {
        follower: ProcessId,
    },
    /// It goes by another configuration from now on.
    ConfigAdopted {
        config: Config,
    },
    /// A server took a snapshot of what it had applied and dropped the entries up to there.
    LogCompacted {
        upto: LogIndex,
    },
    SnapshotSent {
        follower: ProcessId,
        upto: LogIndex,
    },
    SnapshotInstalled {
        leader: ProcessId,
        upto: LogIndex,
    },
    /// It had applied as much already.
    SnapshotIgnored {
        leader: ProcessId,
        upto: LogIndex,
    },
    ProbedBack {
        follower: ProcessId,
        next: LogIndex,
    },
    CommitAdvanced {
        from: LogIndex,
        to: LogIndex,
    },
    EntryApplied {
        index: LogIndex,
        term: Term,
        entry: EntryKind,
    },
    /// A leader hands over: it brings `to` up to date, and then tells it to stand.
    HandoverBegan {
        to: ProcessId,
    },
    HandoverGivenUp {
        to: ProcessId,
    },
    /// A leader that hands over takes no new work.
    WorkRefused {
        asker: ProcessId,
        to: ProcessId,
    },
    /// A request reached a server that does not lead.
    NotLeaderAnswered {
        asker: ProcessId,
        hint: Option<ProcessId>,
    },

    // Reads.
    /// The leader was asked: a client's read, or a follower's question. It will answer for `index`.
    ReadReceived {
        asker: ProcessId,
        index: LogIndex,
    },
    /// A follower asked its leader how far it must have applied.
    ReadIndexAsked {
        leader: ProcessId,
        client: ProcessId,
    },
    /// The leader is sure that nothing later was committed when it was asked.
    ReadConfirmed {
        asker: ProcessId,
        index: LogIndex,
    },
    /// It has not applied `index` yet.
    ReadWaits {
        client: ProcessId,
        index: LogIndex,
    },
    /// `index` is the last entry applied.
    ReadAnswered {
        client: ProcessId,
        index: LogIndex,
        stale: bool,
    },

    // The service's state machine, told by the server that applies.
    LeaseGranted {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
    },
    WaiterQueued {
        resource: ResourceId,
        worker: ProcessId,
        place: u32,
    },
    WaiterLeft {
        resource: ResourceId,
        worker: ProcessId,
    },
    LeaseReleased {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
    },
    LeaseExpired {
        resource: ResourceId,
        worker: ProcessId,
        token: Token,
    },
    /// Nobody gets it for now, though nobody holds it.
    ResourceClosed {
        resource: ResourceId,
    },
    /// It can be held again; whoever might have held it meanwhile does no longer.
    ResourceOpened {
        resource: ResourceId,
    },
    /// The service started again and knows of no lease any more.
    TableLost,
    /// By an operator: the next token is above `to`.
    TokenRaised {
        resource: ResourceId,
        to: Token,
    },
    RequestRepeated {
        asker: ProcessId,
        request: RequestId,
    },
    PutApplied {
        client: ProcessId,
        request: RequestId,
        key: Arc<str>,
        value: Arc<str>,
    },
    SessionOpened {
        client: ProcessId,
    },
    /// No room was left for it: it was used least recently.
    SessionExpired {
        client: ProcessId,
    },
    /// A request of a session that is not kept any more.
    SessionUnknown {
        client: ProcessId,
        request: RequestId,
    },
    /// The entry had nothing to do: the lease was not that worker's any more.
    NothingToDo {
        index: LogIndex,
    },

    // The service's leader, on its own clock.
    LeaseArmed {
        resource: ResourceId,
        until: LocalTime,
        token: Token,
    },
    LeasesRearmed {
        count: u32,
    },
    RenewalReceived {
        worker: ProcessId,
        resource: ResourceId,
    },
    RenewalConfirmed {
        worker: ProcessId,
        resource: ResourceId,
        until: LocalTime,
    },
    RenewalRefused {
        worker: ProcessId,
        resource: ResourceId,
        why: RenewRefusal,
    },
    ExpiryProposed {
        resource: ResourceId,
        token: Token,
    },

    // Workers.
    /// It was told what to hold from now on.
    LeaseWanted {
        resource: ResourceId,
    },
    LeaseAsked {
        resource: ResourceId,
        server: ProcessId,
        request: RequestId,
        attempt: u32,
    },
    ServerTried {
        server: ProcessId,
    },
    QueuedForLease {
        resource: ResourceId,
        place: u32,
    },
    LeaseReceived {
        resource: ResourceId,
        token: Token,
        deadline: LocalTime,
        left: Duration,
    },
    /// A grant with too little time left, by the holder's own count, to rely on: it renews first.
    GrantTooLate {
        resource: ResourceId,
        token: Token,
    },
    RenewalSent {
        resource: ResourceId,
        server: ProcessId,
    },
    /// Its work takes too long.
    RenewalWithheld {
        resource: ResourceId,
    },
    LeaseRenewed {
        resource: ResourceId,
        token: Token,
        deadline: LocalTime,
        left: Duration,
    },
    JeopardyBegan {
        resource: ResourceId,
    },
    JeopardyEnded {
        resource: ResourceId,
    },
    /// Its own deadline passed: it does nothing more, and goes on asking until its grace is over.
    GraceBegan {
        resource: ResourceId,
        token: Token,
    },
    /// Its own deadline passed, and its grace, if it has one.
    LeaseLapsed {
        resource: ResourceId,
        token: Token,
    },
    /// The service said that it is not the holder.
    LeaseLost {
        resource: ResourceId,
        token: Token,
    },
    LeaseGivenBack {
        resource: ResourceId,
        token: Token,
    },
    StoppedWaiting {
        resource: ResourceId,
    },
    /// The service knows that it wants no more of it.
    ReleaseConfirmed {
        resource: ResourceId,
    },
    /// It looked at its own authority; `token` is what a write would carry.
    Checked {
        verdict: Verdict,
        token: Token,
    },
    /// It goes on to write without a look at its authority (`check_before_write` off).
    WriteUnchecked {
        store: ProcessId,
        token: Token,
    },
    WriteWithheld {
        store: ProcessId,
        value: Arc<str>,
        verdict: Verdict,
    },
    WriteSent {
        store: ProcessId,
        token: Token,
        value: Arc<str>,
        checked: Duration,
    },
    WriteEnded {
        store: ProcessId,
        token: Token,
        value: Arc<str>,
        outcome: Outcome,
    },

    // Stores.
    /// Checked now, to be written in a later step.
    WriteChecked {
        from: ProcessId,
        token: Token,
        highest: Token,
    },
    WriteAccepted {
        from: ProcessId,
        token: Token,
        highest: Token,
        value: Arc<str>,
    },
    /// `highest` is what the store had seen before.
    WriteRefused {
        from: ProcessId,
        token: Token,
        highest: Token,
        value: Arc<str>,
    },
    /// Its operation had taken effect before: answered again, and nothing written.
    WriteRepeated {
        from: ProcessId,
        token: Token,
        op: OpId,
    },
    /// Accepted, and counted as one that enforcement would refuse.
    StaleWriteObserved {
        from: ProcessId,
        token: Token,
        highest: Token,
        value: Arc<str>,
    },

    // Clients.
    RequestSent {
        server: ProcessId,
        request: RequestId,
        attempt: u32,
    },
    RequestEnded {
        request: RequestId,
        outcome: Outcome,
    },
    /// It asked for a session first.
    SessionAsked {
        server: ProcessId,
        attempt: u32,
    },
    /// A request ended with what it read: the state after entry `index`.
    ReadEnded {
        request: RequestId,
        key: Arc<str>,
        value: Option<Arc<str>>,
        index: LogIndex,
        stale: bool,
    },

    // Monitors.
    InvariantBroken {
        invariant: Invariant,
        reason: Arc<Reason>,
    },
}

impl Event {
    /// A stable key, for sentences and traces.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Paused { .. } => "paused",
            Self::PauseArmed { .. } => "pause-armed",
            Self::Resumed { .. } => "resumed",
            Self::Crashed { .. } => "crashed",
            Self::Restarted { .. } => "restarted",
            Self::DiskActed { .. } => "disk-acted",
            Self::DiskFailed { .. } => "disk-failed",
            Self::TailDamaged { .. } => "tail-damaged",
            Self::LinkCut { .. } => "link-cut",
            Self::LinkHealed { .. } => "link-healed",
            Self::LatencySet { .. } => "latency-set",
            Self::LossSet { .. } => "loss-set",
            Self::ClockRateSet { .. } => "clock-rate-set",
            Self::ClockJumped { .. } => "clock-jumped",
            Self::SwitchSet { .. } => "switch-set",
            Self::CommandSkipped { .. } => "command-skipped",
            Self::MessageSent { .. } => "message-sent",
            Self::MessageDropped { .. } => "message-dropped",
            Self::MessageDuplicated { .. } => "message-duplicated",
            Self::MessageDelayed { .. } => "message-delayed",
            Self::MessageHurried { .. } => "message-hurried",
            Self::WorkQueued { .. } => "work-queued",
            Self::WaitedAsleep { .. } => "waited-asleep",
            Self::SyncEnded => "sync-ended",
            Self::ElectionStarted { .. } => "election-started",
            Self::StoodAside => "stood-aside",
            Self::PrevoteStarted { .. } => "prevote-started",
            Self::PrevoteGranted { .. } => "prevote-granted",
            Self::PrevoteCounted { .. } => "prevote-counted",
            Self::QuorumChecked { .. } => "quorum-checked",
            Self::TermAdopted { .. } => "term-adopted",
            Self::VoteGranted { .. } => "vote-granted",
            Self::VoteRefused { .. } => "vote-refused",
            Self::VoteCounted { .. } => "vote-counted",
            Self::VoteDenied { .. } => "vote-denied",
            Self::BecameLeader { .. } => "became-leader",
            Self::SteppedDown { .. } => "stepped-down",
            Self::LeaderFollowed { .. } => "leader-followed",
            Self::ReplyIgnored { .. } => "reply-ignored",
            Self::HeartbeatsSent { .. } => "heartbeats-sent",
            Self::EntryAppended { .. } => "entry-appended",
            Self::EntriesStored { .. } => "entries-stored",
            Self::LogRepaired { .. } => "log-repaired",
            Self::EntriesRemoved { .. } => "entries-removed",
            Self::AppendRefused { .. } => "append-refused",
            Self::AppendMatched { .. } => "append-matched",
            Self::MatchAdvanced { .. } => "match-advanced",
            Self::AppendConfirmed { .. } => "append-confirmed",
            Self::ConfigAdopted { .. } => "config-adopted",
            Self::LogCompacted { .. } => "log-compacted",
            Self::SnapshotSent { .. } => "snapshot-sent",
            Self::SnapshotInstalled { .. } => "snapshot-installed",
            Self::SnapshotIgnored { .. } => "snapshot-ignored",
            Self::ProbedBack { .. } => "probed-back",
            Self::CommitAdvanced { .. } => "commit-advanced",
            Self::EntryApplied { .. } => "entry-applied",
            Self::HandoverBegan { .. } => "handover-began",
            Self::HandoverGivenUp { .. } => "handover-given-up",
            Self::WorkRefused { .. } => "work-refused",
            Self::NotLeaderAnswered { .. } => "not-leader-answered",
            Self::ReadReceived { .. } => "read-received",
            Self::ReadIndexAsked { .. } => "read-index-asked",
            Self::ReadConfirmed { .. } => "read-confirmed",
            Self::ReadWaits { .. } => "read-waits",
            Self::ReadAnswered { .. } => "read-answered",
            Self::LeaseGranted { .. } => "lease-granted",
            Self::WaiterQueued { .. } => "waiter-queued",
            Self::WaiterLeft { .. } => "waiter-left",
            Self::LeaseReleased { .. } => "lease-released",
            Self::LeaseExpired { .. } => "lease-expired",
            Self::ResourceClosed { .. } => "resource-closed",
            Self::ResourceOpened { .. } => "resource-opened",
            Self::TableLost => "table-lost",
            Self::TokenRaised { .. } => "token-raised",
            Self::RequestRepeated { .. } => "request-repeated",
            Self::PutApplied { .. } => "put-applied",
            Self::SessionOpened { .. } => "session-opened",
            Self::SessionExpired { .. } => "session-expired",
            Self::SessionUnknown { .. } => "session-unknown",
            Self::NothingToDo { .. } => "nothing-to-do",
            Self::LeaseArmed { .. } => "lease-armed",
            Self::LeasesRearmed { .. } => "leases-rearmed",
            Self::RenewalReceived { .. } => "renewal-received",
            Self::RenewalConfirmed { .. } => "renewal-confirmed",
            Self::RenewalRefused { .. } => "renewal-refused",
            Self::ExpiryProposed { .. } => "expiry-proposed",
            Self::LeaseWanted { .. } => "lease-wanted",
            Self::LeaseAsked { .. } => "lease-asked",
            Self::ServerTried { .. } => "server-tried",
            Self::QueuedForLease { .. } => "queued-for-lease",
            Self::LeaseReceived { .. } => "lease-received",
            Self::GrantTooLate { .. } => "grant-too-late",
            Self::RenewalSent { .. } => "renewal-sent",
            Self::RenewalWithheld { .. } => "renewal-withheld",
            Self::LeaseRenewed { .. } => "lease-renewed",
            Self::JeopardyBegan { .. } => "jeopardy-began",
            Self::JeopardyEnded { .. } => "jeopardy-ended",
            Self::GraceBegan { .. } => "grace-began",
            Self::LeaseLapsed { .. } => "lease-lapsed",
            Self::LeaseLost { .. } => "lease-lost",
            Self::LeaseGivenBack { .. } => "lease-given-back",
            Self::StoppedWaiting { .. } => "stopped-waiting",
            Self::ReleaseConfirmed { .. } => "release-confirmed",
            Self::Checked { .. } => "checked",
            Self::WriteUnchecked { .. } => "write-unchecked",
            Self::WriteWithheld { .. } => "write-withheld",
            Self::WriteSent { .. } => "write-sent",
            Self::WriteEnded { .. } => "write-ended",
            Self::WriteChecked { .. } => "write-checked",
            Self::WriteAccepted { .. } => "write-accepted",
            Self::WriteRefused { .. } => "write-refused",
            Self::WriteRepeated { .. } => "write-repeated",
            Self::StaleWriteObserved { .. } => "stale-write-observed",
            Self::RequestSent { .. } => "request-sent",
            Self::RequestEnded { .. } => "request-ended",
            Self::SessionAsked { .. } => "session-asked",
            Self::ReadEnded { .. } => "read-ended",
            Self::InvariantBroken { .. } => "invariant-broken",
        }
    }
}
