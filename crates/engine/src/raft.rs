//! The consensus server: elections, log replication, commit, and the lease service on top.
//!
//! A committee that keeps one minute book: it elects a chair for a numbered term, the chair dictates,
//! and a line counts once a majority has written it down. Left out here: pre-vote, check-quorum, reads,
//! snapshots, membership and transfer.
//!
//! Where Raft and libraries differ we follow the paper: a stale append is answered with the higher term.

mod leases;
mod log;

pub use log::{Entry, Log};

use crate::draw::{Purpose, span_between};
use crate::event::{AppendRefusal, Event, MessageKind, TimerKind, Verdict, VoteRefusal};
use crate::process::{Cx, DiskWrite, Effect, Input, Message as Envelope, Recorder};
use crate::registry::{Op, Registry};
use crate::rule::Rule;
use crate::setup::SERVERS_MAX;
use crate::switch::Switch;
use crate::units::{
    Duration, LocalTime, LogIndex, ProcessId, ProcessSet, RequestId, ResourceId, Term, Token,
};
use crate::writer::{Authority, Belief, Writer, Writing};

/// Entries in one append: more go in the next.
const APPEND_BATCH: usize = 64;

/// What servers say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    RequestVote {
        term: Term,
        last_index: LogIndex,
        last_term: Term,
    },
    Vote {
        term: Term,
        granted: bool,
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
    AppendAnswer {
        term: Term,
        /// Accepted: the follower's log matches up to here. Refused: try the entry after this one next.
        accepted: bool,
        upto: LogIndex,
        round: u64,
    },
}

impl Message {
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::RequestVote { .. } => MessageKind::RequestVote,
            Self::Vote { .. } => MessageKind::Vote,
            Self::Append { entries, .. } if entries.is_empty() => MessageKind::Heartbeat,
            Self::Append { .. } => MessageKind::Append,
            Self::AppendAnswer { .. } => MessageKind::AppendAnswer,
        }
    }

    const fn term(&self) -> Term {
        match self {
            Self::RequestVote { term, .. }
            | Self::Vote { term, .. }
            | Self::Append { term, .. }
            | Self::AppendAnswer { term, .. } => *term,
        }
    }
}

/// What a leader knows of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The next entry to send.
    pub next: LogIndex,
    /// The highest entry known to be durable there.
    pub matched: LogIndex,
    /// The latest round of heartbeats that it answered in this term.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leading {
    /// By server, in order of id.
    progress: Vec<Progress>,
    round: u64,
    renewals: Vec<Renewal>,
    /// The first entry of this term; the state machine is current once it is applied.
    first_index: LogIndex,
    /// Grants per resource since this server leads (`durable_token_counter` off).
    counted: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Follower { leader: Option<ProcessId> },
    Candidate { voters: ProcessSet, votes: u32 },
    Leader(Box<Leading>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoleName {
    Follower,
    Candidate,
    Leader,
}

/// When a lease runs out, by this server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Armed {
    token: Token,
    until: LocalTime,
    /// Its expiry has been proposed.
    expiring: bool,
}

/// What is durable of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServerDisk {
    pub term: Term,
    pub voted_for: Option<ProcessId>,
    pub log: Log,
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
    log: Log,
    commit: LogIndex,
    applied: LogIndex,
    role: Role,
    /// How much of the log is durable here.
    synced: LogIndex,
    /// Each write to disk whose sync has not ended, oldest first.
    syncing: Vec<Handed>,
    registry: Registry,
    /// By resource. Every server counts; only the leader acts on it.
    armed: Vec<Option<Armed>>,
    writer: Writer,
}

impl Server {
    /// A server as its disk has it: a fresh one for an empty disk.
    #[must_use]
    pub fn from_disk(disk: &ServerDisk, resources: usize) -> Self {
        Self {
            term: disk.term,
            voted_for: disk.voted_for,
            log: disk.log.clone(),
            commit: LogIndex(0),
            applied: LogIndex(0),
            role: Role::Follower { leader: None },
            synced: disk.log.last_index(),
            syncing: Vec::new(),
            registry: Registry::new(resources),
            armed: vec![None; resources],
            writer: Writer::default(),
        }
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

    #[must_use]
    pub const fn role(&self) -> RoleName {
        match self.role {
            Role::Follower { .. } => RoleName::Follower,
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
            Role::Candidate { .. } | Role::Leader(_) => None,
        }
    }

    /// The votes that a candidate has counted.
    #[must_use]
    pub const fn votes(&self) -> Option<u32> {
        match self.role {
            Role::Candidate { votes, .. } => Some(votes),
            Role::Follower { .. } | Role::Leader(_) => None,
        }
    }

    /// What a leader knows of the servers, in order of id.
    #[must_use]
    pub fn progress(&self) -> Option<&[Progress]> {
        match &self.role {
            Role::Leader(leading) => Some(&leading.progress),
            Role::Follower { .. } | Role::Candidate { .. } => None,
        }
    }

    /// When a lease runs out by this server's clock.
    #[must_use]
    pub fn lease_until(&self, resource: ResourceId) -> Option<LocalTime> {
        self.armed[usize::from(resource.0)].map(|armed| armed.until)
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
        self.reset_election_timer(cx);
    }

    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
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
            Input::Timer(TimerKind::Election) => self.become_candidate(cx),
            Input::Timer(TimerKind::Heartbeat) => self.on_heartbeat_timer(cx),
            Input::Timer(TimerKind::Expiry) => self.on_expiry_timer(cx),
            Input::Timer(TimerKind::Work) => self.writer.on_work_done(cx),
            Input::Timer(TimerKind::WriteTimeout) => {
                let authority = self.authority();
                self.writer.on_timeout(authority, cx);
            }
            Input::Synced { writes } => self.on_synced(writes, cx),
            Input::Write { store, value } => {
                let authority = self.authority();
                self.writer.on_write(store, value, authority, cx);
            }
            Input::Campaign => self.on_campaign(cx),
            Input::Timer(
                TimerKind::Ask
                | TimerKind::Renew
                | TimerKind::RenewTimeout
                | TimerKind::Deadline
                | TimerKind::ClientTimeout
                | TimerKind::StoreWrite,
            )
            | Input::Put { .. }
            | Input::Acquire { .. }
            | Input::Release => unreachable!("the world gives servers none of these"),
        }
    }

    /// Writes that wait behind the one under way.
    #[must_use]
    pub fn writes_waiting(&self) -> usize {
        self.writer.waiting()
    }

    // Elections -----------------------------------------------------------------------------

    fn reset_election_timer<R: Recorder>(&self, cx: &mut Cx<'_, R>) {
        let fixed = cx.setup.election_fixed.get(usize::from(cx.me.0)).copied();
        let (low, high) = (cx.setup.election_min, cx.setup.election_max);
        let span = match fixed {
            Some(span) => span,
            None if low == high => low,
            None => span_between(cx.draw(Purpose::ElectionTimeout), low, high),
        };
        cx.set_timer(TimerKind::Election, span);
    }

    fn on_campaign<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.is_leader() {
            let from = cx.me;
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
        } else {
            self.become_candidate(cx);
        }
    }

    /// Raft §5.2: a new term, a vote for itself, and a call for votes.
    fn become_candidate<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.term = self.term.next();
        self.voted_for = Some(cx.me);
        self.role = Role::Candidate {
            voters: ProcessSet::default(),
            votes: 0,
        };
        self.persist_vote(cx);
        cx.fact(Rule::ElectionTimeout, || Event::ElectionStarted {
            term: self.term,
        });
        self.reset_election_timer(cx);
        cx.effects.push(Effect::AwaitSync);
        let (last_index, last_term) = (self.log.last_index(), self.log.last_term());
        for server in cx.others() {
            let ask = Message::RequestVote {
                term: self.term,
                last_index,
                last_term,
            };
            cx.send(server, Envelope::Raft(ask));
        }
        // Its own vote counts once it is durable, like any other.
        if cx.setup.sync == Duration::ZERO || !cx.is_on(Switch::PersistTermVote) {
            self.count_vote(cx.me, cx);
        }
    }

    fn on_request_vote<R: Recorder>(
        &mut self,
        candidate: ProcessId,
        (term, last_index, last_term): (Term, LogIndex, Term),
        cx: &mut Cx<'_, R>,
    ) {
        let refusal = self.vote_refusal(candidate, (term, last_index, last_term), cx);
        let answer = Message::Vote {
            term: self.term,
            granted: refusal.is_none(),
        };
        match refusal {
            Some(why) => {
                let rule = match why {
                    VoteRefusal::OldTerm => Rule::StaleTermRefused,
                    VoteRefusal::VotedFor(_) => Rule::VoteOncePerTerm,
                    VoteRefusal::LogBehind { .. } => Rule::VoteForUpToDateLog,
                };
                cx.fact(rule, || Event::VoteRefused {
                    candidate,
                    term,
                    why,
                });
            }
            None => {
                cx.fact(Rule::VoteForUpToDateLog, || Event::VoteGranted {
                    candidate,
                    term,
                });
                if self.voted_for != Some(candidate) {
                    self.voted_for = Some(candidate);
                    self.persist_vote(cx);
                }
                // Granting resets the timer, refusing does not (Raft Figure 2, followers). A leader has
                // none, even where `one_vote_per_term` is off and it votes for another.
                if !self.is_leader() {
                    self.reset_election_timer(cx);
                }
                cx.effects.push(Effect::AwaitSync);
            }
        }
        cx.send(candidate, Envelope::Raft(answer));
    }

    fn vote_refusal<R: Recorder>(
        &self,
        candidate: ProcessId,
        (term, last_index, last_term): (Term, LogIndex, Term),
        cx: &Cx<'_, R>,
    ) -> Option<VoteRefusal> {
        if term < self.term {
            return Some(VoteRefusal::OldTerm);
        }
        if cx.is_on(Switch::OneVotePerTerm)
            && let Some(other) = self.voted_for
            && other != candidate
        {
            return Some(VoteRefusal::VotedFor(other));
        }
        let own = (self.log.last_term(), self.log.last_index());
        if cx.is_on(Switch::LogUpToDateCheck) && (last_term, last_index) < own {
            return Some(VoteRefusal::LogBehind {
                own_term: own.0,
                own_index: own.1,
                term: last_term,
                index: last_index,
            });
        }
        None
    }

    fn on_vote<R: Recorder>(&mut self, voter: ProcessId, granted: bool, cx: &mut Cx<'_, R>) {
        if !matches!(self.role, Role::Candidate { .. }) {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: voter,
            });
        } else if granted {
            self.count_vote(voter, cx);
        } else {
            cx.fact(Rule::MajorityElects, || Event::VoteDenied { voter });
        }
    }

    fn count_vote<R: Recorder>(&mut self, voter: ProcessId, cx: &mut Cx<'_, R>) {
        let Role::Candidate { voters, votes } = &mut self.role else {
            return;
        };
        if !voters.contains(voter) || !cx.is_on(Switch::VoteCountsById) {
            *voters = voters.with(voter);
            *votes += 1;
        }
        let (votes, needed) = (*votes, cx.servers.len() / 2 + 1);
        cx.fact(Rule::MajorityElects, || Event::VoteCounted {
            voter,
            votes,
            needed,
        });
        if votes >= needed {
            self.become_leader(cx);
        }
    }

    fn become_leader<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let next = self.log.last_index().next();
        let progress = Progress {
            next,
            matched: LogIndex(0),
            round: 0,
        };
        self.role = Role::Leader(Box::new(Leading {
            progress: vec![progress; cx.servers.len() as usize],
            round: 0,
            renewals: Vec::new(),
            first_index: next,
            counted: vec![0; self.armed.len()],
        }));
        cx.cancel_timer(TimerKind::Election);
        cx.fact(Rule::MajorityElects, || Event::BecameLeader {
            term: self.term,
        });
        self.look_at_own_role(cx);
        self.rearm_leases(cx);
        if cx.is_on(Switch::NoopOnElection) {
            self.append(Op::Noop, Rule::NewLeaderAppendsNoop, cx);
        } else {
            self.broadcast(cx);
            self.count_own_log(cx);
        }
        self.set_expiry_timer(cx);
    }

    /// Steps down or stays below `leader`; takes over a higher term and forgets the vote of the old one.
    fn become_follower<R: Recorder>(
        &mut self,
        term: Term,
        leader: Option<ProcessId>,
        cx: &mut Cx<'_, R>,
    ) {
        let was_leader = self.is_leader();
        let was_candidate = matches!(self.role, Role::Candidate { .. });
        let was_following = self.leader_known();
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
        if was_leader || was_candidate {
            let rule = if from < term {
                Rule::HigherTermWins
            } else {
                Rule::LeaderOfThisTerm
            };
            cx.fact(rule, || Event::SteppedDown { term: from });
        }
        if was_leader {
            cx.cancel_timer(TimerKind::Heartbeat);
            cx.cancel_timer(TimerKind::Expiry);
            self.reset_election_timer(cx);
            self.look_at_own_role(cx);
        }
        if let Some(leader) = leader
            && (was_following != Some(leader) || from < term)
        {
            cx.fact(Rule::LeaderOfThisTerm, || Event::LeaderFollowed {
                leader,
                term,
            });
        }
    }

    fn persist_vote<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if cx.is_on(Switch::PersistTermVote) {
            let (term, voted_for) = (self.term, self.voted_for);
            cx.effects
                .push(Effect::Persist(DiskWrite::TermVote { term, voted_for }));
            if cx.setup.sync != Duration::ZERO {
                self.syncing.push(Handed::TermVote { term, voted_for });
            }
        }
    }

    // Messages between servers --------------------------------------------------------------

    fn on_raft<R: Recorder>(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, R>) {
        let term = message.term();
        let stale = term < self.term;
        if self.term < term {
            self.become_follower(term, None, cx);
        }
        match message {
            Message::RequestVote {
                last_index,
                last_term,
                ..
            } => {
                self.on_request_vote(from, (term, last_index, last_term), cx);
            }
            Message::Vote { .. } | Message::AppendAnswer { .. } if stale => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Message::Vote { granted, .. } => self.on_vote(from, granted, cx),
            Message::Append { round, .. } if stale && cx.is_on(Switch::StaleTermCheck) => {
                cx.fact(Rule::StaleTermRefused, || Event::AppendRefused {
                    leader: from,
                    why: AppendRefusal::OldTerm,
                });
                self.answer_append(from, false, LogIndex(0), round, cx);
            }
            Message::Append {
                previous_index,
                previous_term,
                entries,
                commit,
                round,
                ..
            } => {
                let previous = (previous_index, previous_term);
                self.on_append(from, previous, entries, commit, round, cx);
            }
            Message::AppendAnswer {
                accepted,
                upto,
                round,
                ..
            } => {
                self.on_append_answer(from, accepted, upto, round, cx);
            }
        }
    }

    fn answer_append<R: Recorder>(
        &self,
        leader: ProcessId,
        accepted: bool,
        upto: LogIndex,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        let answer = Message::AppendAnswer {
            term: self.term,
            accepted,
            upto,
            round,
        };
        cx.send(leader, Envelope::Raft(answer));
    }

    fn on_append<R: Recorder>(
        &mut self,
        leader: ProcessId,
        (previous_index, previous_term): (LogIndex, Term),
        entries: Vec<Entry>,
        commit: LogIndex,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        if self.is_leader() {
            // Only two leaders of one term can meet here; election safety is already broken then.
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: leader,
            });
            return;
        }
        if self.leader_known() != Some(leader) {
            self.become_follower(self.term, Some(leader), cx);
        }
        self.reset_election_timer(cx);
        let there = self.log.term_at(previous_index);
        if cx.is_on(Switch::PrevLogCheck) && there != Some(previous_term) {
            let (why, hint) = match there {
                None => {
                    let last = self.log.last_index();
                    (AppendRefusal::LogShort { last }, last)
                }
                Some(there) => {
                    let first = self.log.first_of_term_at(previous_index);
                    (AppendRefusal::OtherTerm { there }, first.previous())
                }
            };
            cx.fact(Rule::AppendNeedsPrevious, || Event::AppendRefused {
                leader,
                why,
            });
            self.answer_append(leader, false, hint, round, cx);
            return;
        }
        let last_new = LogIndex(previous_index.0 + entries.len() as u64);
        self.store_entries(leader, previous_index, entries, cx);
        self.follow_commit(commit, last_new, cx);
        cx.effects.push(Effect::AwaitSync);
        self.answer_append(leader, true, last_new.min(self.log.last_index()), round, cx);
    }

    /// Raft Figure 2: what is there already stays; from the first conflict on, the leader's entries replace ours.
    fn store_entries<R: Recorder>(
        &mut self,
        leader: ProcessId,
        previous: LogIndex,
        mut entries: Vec<Entry>,
        cx: &mut Cx<'_, R>,
    ) {
        let mut index = previous.min(self.log.last_index()).next();
        let same = entries
            .iter()
            .enumerate()
            .take_while(|(at, e)| self.log.term_at(LogIndex(index.0 + *at as u64)) == Some(e.term))
            .count();
        let upto = LogIndex(index.0 - 1 + entries.len() as u64);
        if same == entries.len() {
            cx.fact(Rule::HeartbeatKeepsAuthority, || Event::AppendMatched {
                leader,
                upto,
            });
            return;
        }
        entries.drain(..same);
        index = LogIndex(index.0 + same as u64);
        if index <= self.log.last_index() {
            self.log.truncate(index.previous());
            self.synced = self.synced.min(index.previous());
            for handed in &mut self.syncing {
                if let Handed::Log { upto } = handed {
                    *upto = index.previous().min(*upto);
                }
            }
            cx.fact(Rule::ConflictIsReplaced, || Event::EntriesRemoved {
                from: index,
            });
        }
        for entry in entries {
            self.log.push(entry);
        }
        cx.fact(Rule::AppendMatchesPrevious, || Event::EntriesStored {
            from: index,
            to: self.log.last_index(),
        });
        self.persist_after(index.previous(), cx);
    }

    /// Asks for the log's entries after `keep` to be made durable.
    fn persist_after<R: Recorder>(&mut self, keep: LogIndex, cx: &mut Cx<'_, R>) {
        if cx.setup.sync == Duration::ZERO {
            // Durable at once: the log in memory is the log on disk.
            self.synced = self.log.last_index();
            return;
        }
        let upto = self.log.last_index();
        self.syncing.push(Handed::Log { upto });
        let entries = self.log.from(keep.next(), usize::MAX);
        cx.effects
            .push(Effect::Persist(DiskWrite::Entries { keep, entries }));
    }

    /// Its own vote and its own log count from when they are durable, not before (dissertation §3.8).
    fn on_synced<R: Recorder>(&mut self, writes: u32, cx: &mut Cx<'_, R>) {
        cx.fact(Rule::SyncMakesDurable, || Event::SyncEnded);
        let me = cx.me;
        let mut votes = false;
        for handed in self.syncing.drain(..writes as usize) {
            match handed {
                Handed::Log { upto } => self.synced = self.synced.max(upto),
                Handed::TermVote { term, voted_for } => {
                    votes |= (term, voted_for) == (self.term, Some(me));
                }
            }
        }
        if votes && matches!(self.role, Role::Candidate { .. }) {
            self.count_vote(me, cx);
        }
        self.count_own_log(cx);
    }

    fn follow_commit<R: Recorder>(
        &mut self,
        commit: LogIndex,
        last_new: LogIndex,
        cx: &mut Cx<'_, R>,
    ) {
        let clamp = cx.is_on(Switch::CommitClampToLastNewEntry);
        let limit = if clamp {
            last_new
        } else {
            self.log.last_index()
        };
        let to = commit.min(limit).min(self.log.last_index());
        if self.commit < to {
            self.advance_commit(to, Rule::CommitFollowsLeader, cx);
        }
    }

    fn on_append_answer<R: Recorder>(
        &mut self,
        follower: ProcessId,
        accepted: bool,
        upto: LogIndex,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        let last = self.log.last_index();
        let Role::Leader(leading) = &mut self.role else {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: follower,
            });
            return;
        };
        let progress = &mut leading.progress[usize::from(follower.0)];
        progress.round = progress.round.max(round);
        if accepted {
            progress.next = progress.next.max(upto.next());
            if progress.matched < upto {
                progress.matched = upto;
                cx.fact(Rule::AckMovesMatch, || Event::MatchAdvanced {
                    follower,
                    to: upto,
                });
                self.count_commit(cx);
            } else {
                cx.fact(Rule::AckMovesMatch, || Event::AppendConfirmed { follower });
            }
            self.send_missing(follower, cx);
        } else if upto < progress.matched || progress.next <= upto.next() {
            // A refusal that is older than what the follower has confirmed since.
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: follower,
            });
        } else {
            progress.next = upto.min(last).next();
            let next = progress.next;
            cx.fact(Rule::LeaderProbesBack, || Event::ProbedBack {
                follower,
                next,
            });
            self.send_append(follower, cx);
        }
        self.confirm_renewals(cx);
    }

    // Leading -------------------------------------------------------------------------------

    fn on_heartbeat_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.look_at_own_role(cx);
        self.broadcast(cx);
    }

    /// Sends everyone what they lack, or a heartbeat, and starts a new round.
    fn broadcast<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        leading.round += 1;
        let round = leading.round;
        leading.progress[usize::from(cx.me.0)].round = round;
        cx.fact(Rule::HeartbeatKeepsAuthority, || Event::HeartbeatsSent {
            round,
        });
        cx.set_timer(TimerKind::Heartbeat, cx.setup.heartbeat);
        for server in cx.others() {
            self.send_append(server, cx);
        }
    }

    fn send_missing<R: Recorder>(&mut self, follower: ProcessId, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        if leading.progress[usize::from(follower.0)].next <= self.log.last_index() {
            self.send_append(follower, cx);
        }
    }

    /// What is sent is taken as received; a refusal winds it back (Raft §5.3).
    fn send_append<R: Recorder>(&mut self, follower: ProcessId, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let round = leading.round;
        let progress = &mut leading.progress[usize::from(follower.0)];
        let entries = self.log.from(progress.next, APPEND_BATCH);
        let previous_index = progress.next.previous();
        progress.next = LogIndex(progress.next.0 + entries.len() as u64);
        let previous_term = self
            .log
            .term_at(previous_index)
            .expect("a leader's next is at most one past its log");
        let append = Message::Append {
            term: self.term,
            previous_index,
            previous_term,
            entries,
            commit: self.commit,
            round,
        };
        cx.send(follower, Envelope::Raft(append));
    }

    /// Appends an entry of this term, sends it, and counts it where it is durable.
    fn append<R: Recorder>(&mut self, op: Op, rule: Rule, cx: &mut Cx<'_, R>) {
        let entry = Entry {
            term: self.term,
            op,
        };
        let index = self.log.last_index().next();
        cx.fact(rule, || Event::EntryAppended {
            index,
            term: self.term,
            entry: entry.kind(),
        });
        self.log.push(entry);
        // Sending does not wait for the leader's own disk (dissertation §10.2.1); counting itself does.
        self.broadcast(cx);
        self.persist_after(index.previous(), cx);
        self.count_own_log(cx);
    }

    fn count_own_log<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let synced = self.synced;
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let own = &mut leading.progress[usize::from(cx.me.0)];
        own.next = self.log.last_index().next();
        if own.matched < synced {
            own.matched = synced;
            self.count_commit(cx);
        }
    }

    /// Raft §5.4.2: an entry of this term on a majority commits itself and all before it.
    fn count_commit<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        let to = on_majority(&leading.progress, |p| p.matched.0);
        let to = LogIndex(to).min(self.log.last_index());
        let own_term = self.log.term_at(to) == Some(self.term);
        if self.commit < to && (own_term || !cx.is_on(Switch::CommitOnlyCurrentTerm)) {
            self.advance_commit(to, Rule::CommitByMajorityOfThisTerm, cx);
            self.confirm_renewals(cx);
        }
    }

    fn advance_commit<R: Recorder>(&mut self, to: LogIndex, rule: Rule, cx: &mut Cx<'_, R>) {
        let from = self.commit;
        self.commit = to;
        cx.fact(rule, || Event::CommitAdvanced { from, to });
        while self.applied < self.commit {
            let index = self.applied.next();
            self.applied = index;
            self.apply(index, cx);
        }
    }

    fn look_at_own_role<R: Recorder>(&mut self, cx: &Cx<'_, R>) {
        let authority = self.authority();
        self.writer.believe(authority, cx.now);
    }

    /// What a server that writes to a store goes by: its role, with its term as the token.
    fn authority(&self) -> Authority {
        let verdict = if self.is_leader() {
            Verdict::Mine
        } else {
            Verdict::NotMine
        };
        Authority {
            verdict,
            token: Token(self.term.0),
            resource: None,
            rule: Rule::CheckOwnRole,
        }
    }
}

/// The highest number that a majority of the servers has reached.
fn on_majority(progress: &[Progress], reached: impl Fn(&Progress) -> u64) -> u64 {
    let mut numbers = [0; SERVERS_MAX];
    let numbers = &mut numbers[..progress.len()];
    for (number, progress) in numbers.iter_mut().zip(progress) {
        *number = reached(progress);
    }
    numbers.sort_unstable();
    numbers[(numbers.len() - 1) / 2]
}
