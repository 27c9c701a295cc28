//! The consensus server: elections, log replication, commit, and the lease service on top.
//!
//! A committee that keeps one minute book: it elects a chair for a numbered term, the chair dictates,
//! and a line counts once a majority has written it down.
//!
//! Where Raft and libraries differ we follow the paper: a stale append is answered with the higher term.

mod damage;
mod election;
mod handover;
mod leases;
mod log;
mod membership;
mod reads;
mod replication;
mod search;
mod snapshot;

pub use damage::Damage;
pub use log::{Entry, Log};
pub use membership::{Change, ChangeRefusal, Config};
pub use snapshot::Snapshot;

use std::sync::Arc;

use crate::event::{Event, MessageKind, TimerKind, Verdict};
use crate::process::{Cx, DiskWrite, Effect, Input, Message as Envelope, Moment, Recorder};
use crate::registry::Registry;
use crate::rule::Rule;
use crate::setup::Setup;
use crate::store::Scope;
use crate::switch::Switch;
use crate::units::{
    Duration, LocalTime, LogIndex, ProcessId, ProcessSet, RequestId, ResourceId, Term, Token,
    WallTime,
};
use crate::writer::{Authority, Belief, Writer, Writing};

/// What servers say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    RequestVote {
        term: Term,
        last_index: LogIndex,
        last_term: Term,
        /// Its leader told it to stand: that the leader is fresh is no reason to ignore it.
        handover: bool,
    },
    Vote {
        term: Term,
        granted: bool,
    },
    /// Would you vote for me in `term`? Nobody's term or vote changes by it.
    PreVote {
        term: Term,
        last_index: LogIndex,
        last_term: Term,
    },
    /// Granted: the term that was asked for. Refused: the term of who refuses.
    PreVoteAnswer {
        term: Term,
        granted: bool,
    },
    /// From a leader that hands over: stand now.
    TimeoutNow {
        term: Term,
    },
    /// A heartbeat when it has no entries.
    Append {
        term: Term,
        previous_index: LogIndex,
        previous_term: Term,
        entries: Vec<Entry>,
        commit: LogIndex,
        /// Which round of heartbeats it belongs to; the answer carries it back.
        round: u64,
    },
    /// What a follower lacks and the leader's log no longer has (Raft §7); answered like an append.
    Snapshot {
        term: Term,
        snapshot: Arc<Snapshot>,
        round: u64,
    },
    AppendAnswer {
        term: Term,
        /// Accepted: the follower's log matches up to here. Refused: try the entry after this one next.
        accepted: bool,
        upto: LogIndex,
        round: u64,
    },
    /// A follower asks how far it must have applied to answer a read; `question` is its number for it.
    ReadIndex {
        term: Term,
        question: RequestId,
    },
    ReadIndexAnswer {
        term: Term,
        question: RequestId,
        /// None: it does not lead.
        index: Option<LogIndex>,
    },
    /// Instead of a refusal: an entry that it had acknowledged cannot be read, and its log ends at `upto`.
    Damaged {
        term: Term,
        upto: LogIndex,
    },
}

impl Message {
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::RequestVote { .. } => MessageKind::RequestVote,
            Self::Vote { .. } => MessageKind::Vote,
            Self::PreVote { .. } => MessageKind::PreVote,
            Self::PreVoteAnswer { .. } => MessageKind::PreVoteAnswer,
            Self::TimeoutNow { .. } => MessageKind::TimeoutNow,
            Self::Append { entries, .. } if entries.is_empty() => MessageKind::Heartbeat,
            Self::Append { .. } => MessageKind::Append,
            Self::Snapshot { .. } => MessageKind::Snapshot,
            Self::AppendAnswer { .. } | Self::Damaged { .. } => MessageKind::AppendAnswer,
            Self::ReadIndex { .. } => MessageKind::ReadIndex,
            Self::ReadIndexAnswer { .. } => MessageKind::ReadIndexAnswer,
        }
    }

    const fn term(&self) -> Term {
        match self {
            Self::RequestVote { term, .. }
            | Self::Vote { term, .. }
            | Self::PreVote { term, .. }
            | Self::PreVoteAnswer { term, .. }
            | Self::TimeoutNow { term }
            | Self::Append { term, .. }
            | Self::Snapshot { term, .. }
            | Self::AppendAnswer { term, .. }
            | Self::ReadIndex { term, .. }
            | Self::Damaged { term, .. }
            | Self::ReadIndexAnswer { term, .. } => *term,
        }
    }
}

/// What a leader does about one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pace {
    /// It looks for the last entry on which their logs agree.
    #[default]
    Probe,
    /// Their logs agree up to what was answered, and the rest is on its way.
    Replicate,
}

/// What a leader knows of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    pub pace: Pace,
    /// The next entry to send.
    pub next: LogIndex,
    /// The highest entry known to be durable there.
    pub matched: LogIndex,
    /// The latest round of heartbeats that it answered in this term.
    round: u64,
    /// The last entry of each append that is on its way, oldest first; kept where `append_window` limits them.
    flying: Vec<LogIndex>,
    /// A snapshot is on its way there: nothing but heartbeats is sent until it has answered.
    snapshot: Option<Sending>,
}

impl Progress {
    /// Nothing is known of it yet: `next` is tried first.
    fn from(next: LogIndex) -> Self {
        Self {
            next,
            ..Self::default()
        }
    }

    /// Whether one more append with entries may set out.
    fn has_room(&self, setup: &Setup) -> bool {
        let most = match (self.pace, setup.append_window) {
            (_, 0) => return true,
            (Pace::Probe, _) => 1,
            (Pace::Replicate, window) => window,
        };
        self.flying.len() < most as usize
    }
}

/// A snapshot sent and not yet answered: how far it goes, and the round of heartbeats of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sending {
    index: LogIndex,
    term: Term,
    round: u64,
}

/// A renewal that waits until a majority has confirmed the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    worker: ProcessId,
    request: RequestId,
    resource: ResourceId,
    token: Token,
    round: u64,
}

/// A handover under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Handover {
    to: ProcessId,
    /// It had every entry and was told to stand.
    told: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leading {
    /// By server, in order of id.
    progress: Vec<Progress>,
    round: u64,
    renewals: Vec<Renewal>,
    /// Who has answered since the last look, itself included; none while nobody looks (`check_quorum` off).
    heard: Option<ProcessSet>,
    reads: Vec<reads::Unconfirmed>,
    lease: reads::ReadLease,
    handover: Option<Handover>,
    /// Until when each waiter keeps its place, if it is not heard of again, on this server's clock.
    waiters: Vec<(ResourceId, ProcessId, LocalTime)>,
    /// The first entry of this term; the state machine is current once it is applied.
    first_index: LogIndex,
    /// Grants per resource since this server leads (`durable_token_counter` off).
    counted: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Follower {
        leader: Option<ProcessId>,
    },
    /// Asks whether it could win; its term and its vote are as they were.
    PreCandidate {
        voters: ProcessSet,
        votes: u32,
    },
    Candidate {
        voters: ProcessSet,
        votes: u32,
    },
    Leader(Box<Leading>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoleName {
    Follower,
    PreCandidate,
    Candidate,
    Leader,
}

/// When a lease, or the wait after one, runs out by this server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Armed {
    token: Token,
    until: Moment,
    /// Its expiry, or its opening, has been proposed.
    expiring: bool,
}

/// What is durable of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServerDisk {
    pub term: Term,
    pub voted_for: Option<ProcessId>,
    /// The log begins after it.
    pub snapshot: Option<Arc<Snapshot>>,
    pub log: Log,
    /// The entry behind the log's end that could not be read, ever since.
    pub damage: Option<Damage>,
}

/// A write handed to the disk: what is durable once its sync has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Handed {
    TermVote {
        term: Term,
        voted_for: Option<ProcessId>,
    },
    /// The log up to here; less if it was cut since.
    Log { upto: LogIndex },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    term: Term,
    voted_for: Option<ProcessId>,
    snapshot: Option<Arc<Snapshot>>,
    log: Log,
    damage: Option<Damage>,
    commit: LogIndex,
    applied: LogIndex,
    role: Role,
    /// The latest in its log, committed or not; the setup's where the log has none.
    config: Config,
    /// The entry that it is from; where the log begins, if it is from before.
    config_index: LogIndex,
    /// When the leader that it follows was last heard; kept while `stickiness` is on.
    leader_heard: Option<LocalTime>,
    /// How much of the log is durable here.
    synced: LogIndex,
    /// Each write to disk whose sync has not ended, oldest first.
    syncing: Vec<Handed>,
    registry: Registry,
    /// It has not led since it started: what was in memory only is gone.
    fresh: bool,
    /// By resource. Every server counts; only the leader acts on it.
    armed: Vec<Option<Armed>>,
    /// Until then a leader may count on it to vote for nobody else (`lease_reads`).
    bound_until: Option<LocalTime>,
    /// Reads that clients wait for here.
    reads: Vec<reads::Waiting>,
    writer: Writer,
}

impl Server {
    /// A server as its disk has it: a fresh one for an empty disk.
    #[must_use]
    pub fn from_disk(disk: &ServerDisk, setup: &Setup, resources: usize) -> Self {
        let snapshot = disk.snapshot.clone();
        let registry = snapshot.as_ref().map(|s| s.registry.clone());
        let mut server = Self {
            term: disk.term,
            voted_for: disk.voted_for,
            snapshot,
            log: disk.log.clone(),
            damage: disk
                .damage
                .filter(|damage| !damage.is_repaired_by(&disk.log)),
            commit: disk.log.start(),
            applied: disk.log.start(),
            role: Role::Follower { leader: None },
            config: Config::default(),
            config_index: LogIndex(0),
            leader_heard: None,
            synced: disk.log.last_index(),
            syncing: Vec::new(),
            registry: registry.unwrap_or_else(|| Registry::new(resources)),
            fresh: true,
            armed: vec![None; resources],
            bound_until: None,
            reads: Vec::new(),
            writer: Writer::default(),
        };
        let last = server.log.last_index();
        (server.config_index, server.config) = server.config_at(last, setup);
        server
    }

    #[must_use]
    pub const fn term(&self) -> Term {
        self.term
    }

    #[must_use]
    pub const fn voted_for(&self) -> Option<ProcessId> {
        self.voted_for
    }

    #[must_use]
    pub const fn log(&self) -> &Log {
        &self.log
    }

    #[must_use]
    pub const fn commit(&self) -> LogIndex {
        self.commit
    }

    #[must_use]
    pub const fn applied(&self) -> LogIndex {
        self.applied
    }

    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Who takes part, as far as it knows.
    #[must_use]
    pub const fn config(&self) -> Config {
        self.config
    }

    #[must_use]
    pub const fn role(&self) -> RoleName {
        match self.role {
            Role::Follower { .. } => RoleName::Follower,
            Role::PreCandidate { .. } => RoleName::PreCandidate,
            Role::Candidate { .. } => RoleName::Candidate,
            Role::Leader(_) => RoleName::Leader,
        }
    }

    #[must_use]
    pub const fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// The leader that it follows, or itself.
    #[must_use]
    pub const fn leader_known(&self) -> Option<ProcessId> {
        match self.role {
            Role::Follower { leader } => leader,
            Role::PreCandidate { .. } | Role::Candidate { .. } | Role::Leader(_) => None,
        }
    }

    /// The votes, or the promises of votes, that it has counted.
    #[must_use]
    pub const fn votes(&self) -> Option<u32> {
        match self.role {
            Role::PreCandidate { votes, .. } | Role::Candidate { votes, .. } => Some(votes),
            Role::Follower { .. } | Role::Leader(_) => None,
        }
    }

    /// What a leader knows of the servers, in order of id.
    #[must_use]
    pub fn progress(&self) -> Option<&[Progress]> {
        match &self.role {
            Role::Leader(leading) => Some(&leading.progress),
            Role::Follower { .. } | Role::PreCandidate { .. } | Role::Candidate { .. } => None,
        }
    }

    /// When a lease runs out by this server's clock.
    #[must_use]
    pub fn lease_until(&self, resource: ResourceId) -> Option<LocalTime> {
        self.armed[usize::from(resource.0)].map(|armed| armed.until.monotonic)
    }

    /// The same by its wall clock, which decides while `monotonic_deadline` is off here.
    #[must_use]
    pub fn lease_until_by_wall(&self, resource: ResourceId) -> Option<WallTime> {
        self.armed[usize::from(resource.0)].map(|armed| armed.until.wall)
    }

    #[must_use]
    pub const fn belief(&self) -> Option<&Belief> {
        self.writer.belief()
    }

    #[must_use]
    pub const fn writing(&self) -> Option<&Writing> {
        self.writer.writing()
    }

    /// After a start or a restart: wait for a leader to be heard.
    pub(crate) fn start<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.take_over(cx);
        self.reset_election_timer(cx);
        // It may have been bound when it crashed, and has forgotten.
        self.bind_to_leader(cx);
    }

    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        // What is dropped was applied in an earlier step, so that whoever watches has seen it.
        let compacted = self.compact_when_due(cx);
        self.take(input, cx);
        if let Some(upto) = compacted {
            cx.fact(Rule::SnapshotDropsApplied, || Event::LogCompacted { upto });
        }
    }

    fn take<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        match input {
            Input::Message {
                from,
                message: Envelope::Raft(message),
            } => self.on_raft(from, message, cx),
            Input::Message {
                from,
                message: Envelope::Ask(ask),
            } => self.on_ask(from, ask, cx),
            Input::Message {
                message: Envelope::WriteAnswer(answer),
                ..
            } => {
                let authority = self.authority();
                self.writer.on_answer(answer, authority, cx);
            }
            Input::Message {
                from,
                message: Envelope::Answer(..) | Envelope::Write(_),
            } => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Input::Timer(TimerKind::Election) => self.stand(cx),
            Input::Timer(TimerKind::Heartbeat) => self.on_heartbeat_timer(cx),
            Input::Timer(TimerKind::Quorum) => self.on_quorum_timer(cx),
            Input::Timer(TimerKind::Expiry) => self.on_expiry_timer(cx),
            Input::Timer(TimerKind::Work) => self.writer.on_work_done(cx),
            Input::Timer(TimerKind::WriteTimeout) => {
                let authority = self.authority();
                self.writer.on_timeout(authority, cx);
            }
            Input::Synced { writes } => self.on_synced(writes, cx),
            Input::Write(job) => {
                let authority = self.authority();
                self.writer.on_write(job, authority, cx);
            }
            Input::Timer(TimerKind::Transfer) => {
                self.give_up_handover(Rule::HandoverHasItsTime, cx);
            }
            Input::Raise { resource, to } => self.on_raise(resource, to, cx),
            Input::Campaign => self.on_campaign(cx),
            Input::Transfer { to } => self.hand_over(to, cx),
            Input::Compact => self.on_compact(cx),
            Input::Change { config } => self.on_change(config, cx),
            Input::Timer(
                TimerKind::Ask
                | TimerKind::Renew
                | TimerKind::RenewTimeout
                | TimerKind::ReleaseTimeout
                | TimerKind::Deadline
                | TimerKind::ClientTimeout
                | TimerKind::StoreWrite,
            )
            | Input::Put { .. }
            | Input::Get { .. }
            | Input::Acquire { .. }
            | Input::Release => unreachable!("the world gives servers none of these"),
        }
    }

    /// Writes that wait behind the one under way.
    #[must_use]
    pub fn writes_waiting(&self) -> usize {
        self.writer.waiting()
    }

    /// Steps down or stays below `leader`; takes over a higher term and forgets the vote of the old one.
    pub(super) fn become_follower<R: Recorder>(
        &mut self,
        term: Term,
        leader: Option<ProcessId>,
        cx: &mut Cx<'_, R>,
    ) {
        let was_leader = self.is_leader();
        let was_candidate = matches!(self.role, Role::Candidate { .. });
        let from = self.term;
        if from < term {
            self.term = term;
            self.voted_for = None;
            self.persist_vote(cx);
            cx.fact(Rule::HigherTermWins, || Event::TermAdopted {
                from,
                to: term,
            });
        }
        self.role = Role::Follower { leader };
        self.leader_heard = None;
        if was_leader || was_candidate {
            let rule = if from < term {
                Rule::HigherTermWins
            } else if leader.is_some() {
                Rule::LeaderOfThisTerm
            } else if self.config.voting().contains(cx.me) {
                Rule::LeaderNeedsQuorum
            } else {
                Rule::RemovedLeaderStepsDown
            };
            cx.fact(rule, || Event::SteppedDown { term: from });
        }
        if was_leader {
            cx.cancel_timer(TimerKind::Heartbeat);
            cx.cancel_timer(TimerKind::Quorum);
            cx.cancel_timer(TimerKind::Transfer);
            cx.cancel_timer(TimerKind::Expiry);
            self.reset_election_timer(cx);
            self.look_at_own_role(cx);
        }
        // Who asks for this knows that it followed nobody or another.
        if let Some(leader) = leader {
            cx.fact(Rule::LeaderOfThisTerm, || Event::LeaderFollowed {
                leader,
                term,
            });
        }
    }

    pub(super) fn persist_vote<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if cx.is_on(Switch::PersistTermVote) {
            let (term, voted_for) = (self.term, self.voted_for);
            cx.effects
                .push(Effect::Persist(DiskWrite::TermVote { term, voted_for }));
            if cx.setup.sync != Duration::ZERO {
                self.syncing.push(Handed::TermVote { term, voted_for });
            }
        }
    }

    pub(super) fn look_at_own_role<R: Recorder>(&mut self, cx: &Cx<'_, R>) {
        let authority = self.authority();
        self.writer.believe(authority, cx.now);
    }

    /// What a server that writes to a store goes by: its role, with its term as the token.
    pub(super) fn authority(&self) -> Authority {
        let verdict = if self.is_leader() {
            Verdict::Mine
        } else {
            Verdict::NotMine
        };
        Authority {
            verdict,
            token: Token(self.term.0),
            scope: Scope::Term,
            resource: None,
            rule: Rule::CheckOwnRole,
        }
    }
}
