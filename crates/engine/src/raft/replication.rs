//! Replication: appends and their answers, what is durable, what is committed, and what is then applied.
//!
//! The chair dictates, the others write down what follows on what they have, and a line counts once a
//! majority has it.

use super::election::refuse_vote;
use super::{Entry, Handed, Message, Pace, Role, Sending, Server};
use crate::event::{AppendRefusal, Event, TimerKind, VoteRefusal};
use crate::process::{Cx, DiskWrite, Effect, Message as Envelope, Recorder};
use crate::registry::Op;
use crate::rule::Rule;
use crate::switch::Switch;
use crate::units::{Duration, LogIndex, ProcessId, Term};

impl Server {
    pub(super) fn on_raft<R: Recorder>(
        &mut self,
        from: ProcessId,
        message: Message,
        cx: &mut Cx<'_, R>,
    ) {
        let term = message.term();
        let stale = term < self.term;
        // A leader that was just heard, or that one is, shields from calls for a later term.
        let calls = matches!(
            message,
            Message::RequestVote {
                handover: false,
                ..
            } | Message::PreVote { .. }
        );
        if calls && cx.is_on(Switch::Stickiness) {
            let fresh = self.fresh_leader(cx).filter(|_| self.term < term);
            let fresh = fresh.map(VoteRefusal::LeaderFresh);
            if let Some(why) = fresh.or_else(|| self.bound_to_leader(term, cx)) {
                refuse_vote(from, term, why, cx);
                return;
            }
        }
        // A pre-vote and its grant speak of a term that nobody has entered.
        let asks_only = matches!(
            message,
            Message::PreVote { .. } | Message::PreVoteAnswer { granted: true, .. }
        );
        if self.term < term && !asks_only {
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
            Message::PreVote {
                last_index,
                last_term,
                ..
            } => {
                self.on_pre_vote(from, (term, last_index, last_term), cx);
            }
            Message::PreVoteAnswer { granted, .. } => {
                self.on_pre_vote_answer(from, (term, granted), cx);
            }
            Message::Vote { .. }
            | Message::AppendAnswer { .. }
            | Message::Damaged { .. }
            | Message::TimeoutNow { .. }
                if stale =>
            {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Message::TimeoutNow { .. } => self.on_timeout_now(from, cx),
            Message::Damaged { upto, .. } => self.on_damaged(from, upto, cx),
            Message::Vote { granted, .. } => self.on_vote(from, granted, cx),
            Message::Append { round, .. } | Message::Snapshot { round, .. }
                if stale && cx.is_on(Switch::StaleTermCheck) =>
            {
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
            Message::Snapshot {
                snapshot, round, ..
            } => self.on_snapshot(from, snapshot, round, cx),
            Message::AppendAnswer {
                accepted,
                upto,
                round,
                ..
            } => {
                self.on_append_answer(from, accepted, upto, round, cx);
            }
            // Of an older term too: an index is right whenever the answer comes.
            Message::ReadIndex { question, .. } => self.on_read_index(from, question, cx),
            Message::ReadIndexAnswer {
                question, index, ..
            } => self.on_read_index_answer(from, question, index, cx),
        }
    }

    pub(super) fn answer_append<R: Recorder>(
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

    /// Whoever sends entries or a snapshot leads this term: it is followed, and what a heard leader means begins anew.
    /// False if this server leads itself.
    pub(super) fn hears_leader<R: Recorder>(
        &mut self,
        leader: ProcessId,
        cx: &mut Cx<'_, R>,
    ) -> bool {
        if self.is_leader() {
            // Only two leaders of one term can meet here; election safety is already broken then.
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: leader,
            });
            return false;
        }
        if self.leader_known() != Some(leader) {
            self.become_follower(self.term, Some(leader), cx);
        }
        self.leader_heard = cx.is_on(Switch::Stickiness).then_some(cx.now);
        self.bind_to_leader(cx);
        self.reset_election_timer(cx);
        true
    }

    pub(super) fn on_append<R: Recorder>(
        &mut self,
        leader: ProcessId,
        (mut previous_index, mut previous_term): (LogIndex, Term),
        mut entries: Vec<Entry>,
        commit: LogIndex,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        if !self.hears_leader(leader, cx) {
            return;
        }
        let start = self.log.start();
        if previous_index < start {
            // What is compacted here was committed, so the leader has the same.
            let known = (start.0 - previous_index.0).min(entries.len() as u64);
            entries.drain(..known as usize);
            (previous_index, previous_term) =
                (start, self.log.term_at(start).unwrap_or(previous_term));
        }
        let there = self.log.term_at(previous_index);
        if cx.is_on(Switch::PrevLogCheck) && there != Some(previous_term) {
            let (why, hint) = match there {
                None => {
                    let last = self.log.last_index();
                    (AppendRefusal::LogShort { last }, last)
                }
                // All of this wrong term goes; and where the term is too high, all that is too high, because
                // terms never fall along a log.
                Some(there) => {
                    let mut hint = self.log.first_of_term_at(previous_index).previous();
                    while self.log.term_at(hint).is_some_and(|t| previous_term < t) {
                        hint = hint.previous();
                    }
                    (AppendRefusal::OtherTerm { there }, hint)
                }
            };
            cx.fact(Rule::AppendNeedsPrevious, || Event::AppendRefused {
                leader,
                why,
            });
            if self.damage.is_some() {
                self.report_damage(leader, cx);
            } else {
                self.answer_append(leader, false, hint, round, cx);
            }
            return;
        }
        let last_new = LogIndex(previous_index.0 + entries.len() as u64);
        self.store_entries(leader, previous_index, entries, cx);
        self.note_repair(cx);
        self.follow_commit(commit, last_new, cx);
        if cx.is_on(Switch::DurableAck) {
            cx.effects.push(Effect::AwaitSync);
        }
        self.answer_append(leader, true, last_new.min(self.log.last_index()), round, cx);
    }

    /// Raft Figure 2: what is there already stays; from the first conflict on, the leader's entries replace ours.
    pub(super) fn store_entries<R: Recorder>(
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
            self.cut_synced(index.previous());
            cx.fact(Rule::ConflictIsReplaced, || Event::EntriesRemoved {
                from: index,
            });
        }
        let removed = index <= self.config_index;
        let new = entries.iter().any(|e| matches!(e.op, Op::Config { .. }));
        for entry in entries {
            self.log.push(entry);
        }
        cx.fact(Rule::AppendMatchesPrevious, || Event::EntriesStored {
            from: index,
            to: self.log.last_index(),
        });
        if new {
            self.look_at_config(Rule::ConfigAtAppend, cx);
        } else if removed {
            self.look_at_config(Rule::ConfigGoesWithEntry, cx);
        }
        self.persist_after(index.previous(), cx);
    }

    /// Asks for the log's entries after `keep` to be made durable.
    pub(super) fn persist_after<R: Recorder>(&mut self, keep: LogIndex, cx: &mut Cx<'_, R>) {
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
    pub(super) fn on_synced<R: Recorder>(&mut self, writes: u32, cx: &mut Cx<'_, R>) {
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

    pub(super) fn follow_commit<R: Recorder>(
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

    pub(super) fn on_append_answer<R: Recorder>(
        &mut self,
        follower: ProcessId,
        accepted: bool,
        upto: LogIndex,
        round: u64,
        cx: &mut Cx<'_, R>,
    ) {
        let (start, last) = (self.log.start(), self.log.last_index());
        let Role::Leader(leading) = &mut self.role else {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: follower,
            });
            return;
        };
        leading.heard = leading.heard.map(|heard| heard.with(follower));
        // A follower that has committed more than its leader has is a broken world; none sends from there.
        let upto = upto.min(last);
        let progress = &mut leading.progress[usize::from(follower.0)];
        progress.round = progress.round.max(round);
        let sending = progress.snapshot;
        // A hint may go back past what is known to match; nothing needs to be sent from there again.
        let retry = upto.max(progress.matched).next();
        if accepted {
            progress.pace = Pace::Replicate;
            progress.flying.retain(|last| upto < *last);
            // Even an answer that is behind what was sent will do, if the log goes on from there.
            if start <= upto || sending.is_some_and(|sending| sending.index <= upto) {
                progress.snapshot = None;
            }
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
            self.tell_successor(cx);
        } else if sending.is_some_and(|sending| sending.round < round) {
            // It answers what was sent after the snapshot, and still lacks it.
            self.send_snapshot(follower, cx);
        } else if sending.is_some() || progress.next <= retry {
            // A refusal that is older than what the follower has confirmed since.
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: follower,
            });
        } else {
            progress.pace = Pace::Probe;
            progress.flying.clear();
            progress.next = retry;
            let next = progress.next;
            cx.fact(Rule::LeaderProbesBack, || Event::ProbedBack {
                follower,
                next,
            });
            self.send_append(follower, cx);
        }
        self.confirm_round(cx);
    }

    // Leading -------------------------------------------------------------------------------

    pub(super) fn on_heartbeat_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.watch_quorum(cx);
        self.look_at_own_role(cx);
        if self.is_leader() && !cx.is_on(Switch::MonotonicDeadline) {
            // No timer rings for a wall clock that jumps.
            self.on_expiry_timer(cx);
        }
        self.broadcast(cx);
    }

    /// Sends everyone what they lack, or a heartbeat, and starts a new round.
    pub(super) fn broadcast<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        leading.round += 1;
        let round = leading.round;
        leading.progress[usize::from(cx.me.0)].round = round;
        leading.lease.round_sent(round, cx);
        cx.fact(Rule::HeartbeatKeepsAuthority, || Event::HeartbeatsSent {
            round,
        });
        cx.set_timer(TimerKind::Heartbeat, cx.setup.heartbeat);
        for server in self.config.members().without(cx.me).iter() {
            self.send_append(server, cx);
        }
    }

    pub(super) fn send_missing<R: Recorder>(&mut self, follower: ProcessId, cx: &mut Cx<'_, R>) {
        loop {
            let Role::Leader(leading) = &self.role else {
                return;
            };
            let progress = &leading.progress[usize::from(follower.0)];
            let member = self.config.members().contains(follower);
            if !member
                || progress.snapshot.is_some()
                || self.log.last_index() < progress.next
                || !progress.has_room(cx.setup)
            {
                return;
            }
            self.send_append(follower, cx);
            if cx.setup.append_window == 0 {
                // Nothing limits what is on its way but this: one answer, one append.
                return;
            }
        }
    }

    /// What is sent is taken as received; a refusal winds it back (Raft §5.3). Where the window is full it is a
    /// heartbeat: like every append it names the entry before, so that a window that was lost is found out.
    pub(super) fn send_append<R: Recorder>(&mut self, follower: ProcessId, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let round = leading.round;
        let progress = &mut leading.progress[usize::from(follower.0)];
        let most = if progress.has_room(cx.setup) {
            cx.setup.append_batch as usize
        } else {
            0
        };
        let previous_index = progress.next.previous();
        let (previous_index, previous_term, entries) = match progress.snapshot {
            Some(Sending { index, term, .. }) => (index, term, Vec::new()),
            None if previous_index < self.log.start() => {
                self.send_snapshot(follower, cx);
                return;
            }
            None => {
                let entries = self.log.from(progress.next, most);
                let term = self.log.term_at(previous_index);
                let term = term.expect("a leader's next is at most one past its log");
                (previous_index, term, entries)
            }
        };
        if progress.snapshot.is_none() {
            progress.next = LogIndex(progress.next.0 + entries.len() as u64);
            if !entries.is_empty() && cx.setup.append_window != 0 {
                progress.flying.push(progress.next.previous());
            }
        }
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
    pub(super) fn append<R: Recorder>(&mut self, op: Op, rule: Rule, cx: &mut Cx<'_, R>) {
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
        let changes = matches!(entry.op, Op::Config { .. });
        self.log.push(entry);
        if changes {
            self.look_at_config(Rule::ConfigAtAppend, cx);
        }
        // Sending does not wait for the leader's own disk (dissertation §10.2.1); counting itself does.
        self.broadcast(cx);
        self.persist_after(index.previous(), cx);
        self.count_own_log(cx);
    }

    pub(super) fn count_own_log<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let synced = if cx.is_on(Switch::DurableAck) {
            self.synced
        } else {
            self.log.last_index()
        };
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
    pub(super) fn count_commit<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        let matched = |id: ProcessId| leading.progress[usize::from(id.0)].matched.0;
        let to = self.counting(cx).agreed(matched);
        let to = LogIndex(to).min(self.log.last_index());
        let own_term = self.log.term_at(to) == Some(self.term);
        if self.commit < to && (own_term || !cx.is_on(Switch::CommitOnlyCurrentTerm)) {
            self.advance_commit(to, Rule::CommitByMajorityOfThisTerm, cx);
            self.confirm_round(cx);
            self.finish_change(cx);
        }
    }

    pub(super) fn advance_commit<R: Recorder>(
        &mut self,
        to: LogIndex,
        rule: Rule,
        cx: &mut Cx<'_, R>,
    ) {
        let from = self.commit;
        self.commit = to;
        cx.fact(rule, || Event::CommitAdvanced { from, to });
        while self.applied < self.commit {
            let index = self.applied.next();
            self.applied = index;
            self.apply(index, cx);
        }
        self.answer_reads(cx);
    }
}
