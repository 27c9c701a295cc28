//! Elections: who may lead the next term, and who gets a vote.
//!
//! The committee choosing its chair: one vote each a term, and only for somebody whose minute book is at
//! least as complete. What a leader then does with its term stands in `replication`.
//!
//! Three guards, apart so that each can be missed: a pre-vote asks before it stands (dissertation §9.6) and
//! looks at the log alone, as in etcd; stickiness is who has just heard a leader and ignores calls for votes
//! (§4.2.3); check-quorum is a leader that hears no majority and steps down (§6.2). The dissertation's
//! pre-vote is the first two together.

use super::reads::ReadLease;
use super::{Leading, Message, Progress, Role, Server};
use crate::draw::{Purpose, span_between};
use crate::event::{Event, TimerKind, VoteRefusal};
use crate::process::{Cx, Effect, Message as Envelope, Recorder};
use crate::registry::Op;
use crate::rule::Rule;
use crate::switch::Switch;
use crate::units::{Duration, LogIndex, ProcessId, ProcessSet, Term};

impl Server {
    pub(super) fn reset_election_timer<R: Recorder>(&self, cx: &mut Cx<'_, R>) {
        let fixed = cx.setup.election_fixed.get(usize::from(cx.me.0)).copied();
        let (low, high) = (cx.setup.election_min, cx.setup.election_max);
        let span = match fixed {
            Some(span) => span,
            None if low == high => low,
            None => span_between(cx.draw(Purpose::ElectionTimeout), low, high),
        };
        cx.set_timer(TimerKind::Election, span);
    }

    pub(super) fn on_campaign<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.is_leader() {
            let from = cx.me;
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
        } else {
            self.stand(cx);
        }
    }

    /// Its election timeout has ended: it stands for election, if it has a vote; or first asks.
    pub(super) fn stand<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if !self.may_stand(cx) {
            cx.fact(Rule::OnlyVotersStand, || Event::StoodAside);
        } else if self.stands_back(cx) {
            // It has said so.
        } else if cx.is_on(Switch::Prevote) {
            self.become_pre_candidate(cx);
        } else {
            self.become_candidate(Rule::ElectionTimeout, cx);
        }
    }

    /// Dissertation §9.6: asks for the next term without entering it.
    fn become_pre_candidate<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.role = Role::PreCandidate {
            voters: ProcessSet::default(),
            votes: 0,
        };
        self.leader_heard = None;
        let term = self.term.next();
        cx.fact(Rule::AskBeforeStanding, || Event::PrevoteStarted { term });
        self.reset_election_timer(cx);
        let (last_index, last_term) = (self.log.last_index(), self.log.last_term());
        for server in self.config.voting().without(cx.me).iter() {
            let ask = Message::PreVote {
                term,
                last_index,
                last_term,
            };
            cx.send(server, Envelope::Raft(ask));
        }
        self.count_vote(cx.me, cx);
    }

    /// Raft §5.2: a new term, a vote for itself, and a call for votes.
    pub(super) fn become_candidate<R: Recorder>(&mut self, why: Rule, cx: &mut Cx<'_, R>) {
        self.term = self.term.next();
        self.voted_for = Some(cx.me);
        self.role = Role::Candidate {
            voters: ProcessSet::default(),
            votes: 0,
        };
        self.leader_heard = None;
        self.persist_vote(cx);
        cx.fact(why, || Event::ElectionStarted { term: self.term });
        self.reset_election_timer(cx);
        cx.effects.push(Effect::AwaitSync);
        let (last_index, last_term) = (self.log.last_index(), self.log.last_term());
        for server in self.config.voting().without(cx.me).iter() {
            let ask = Message::RequestVote {
                term: self.term,
                last_index,
                last_term,
                handover: why == Rule::ToldToStand,
            };
            cx.send(server, Envelope::Raft(ask));
        }
        // Its own vote counts once it is durable, like any other.
        if cx.setup.sync == Duration::ZERO || !cx.is_on(Switch::PersistTermVote) {
            self.count_vote(cx.me, cx);
        }
    }

    /// Whether it leads, or follows a leader that it has heard within the shortest election timeout.
    pub(super) fn fresh_leader<R: Recorder>(&self, cx: &Cx<'_, R>) -> Option<ProcessId> {
        if self.is_leader() {
            return Some(cx.me);
        }
        let heard = self.leader_heard?;
        let fresh = cx.now < heard.plus(cx.setup.election_shortest());
        self.leader_known().filter(|_| fresh)
    }

    pub(super) fn on_pre_vote<R: Recorder>(
        &self,
        candidate: ProcessId,
        (term, last_index, last_term): (Term, LogIndex, Term),
        cx: &mut Cx<'_, R>,
    ) {
        let refusal = self.vote_refusal(candidate, (term, last_index, last_term), cx);
        let answer = Message::PreVoteAnswer {
            term: if refusal.is_none() { term } else { self.term },
            granted: refusal.is_none(),
        };
        match refusal {
            Some(why) => refuse_vote(candidate, term, why, cx),
            None => cx.fact(Rule::VoteForUpToDateLog, || Event::PrevoteGranted {
                candidate,
                term,
            }),
        }
        cx.send(candidate, Envelope::Raft(answer));
    }

    pub(super) fn on_pre_vote_answer<R: Recorder>(
        &mut self,
        voter: ProcessId,
        (term, granted): (Term, bool),
        cx: &mut Cx<'_, R>,
    ) {
        let asks = matches!(self.role, Role::PreCandidate { .. });
        if !asks || granted && term != self.term.next() {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: voter,
            });
        } else if granted {
            self.count_vote(voter, cx);
        } else {
            cx.fact(Rule::AskBeforeStanding, || Event::VoteDenied { voter });
        }
    }

    pub(super) fn on_request_vote<R: Recorder>(
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
            Some(why) => refuse_vote(candidate, term, why, cx),
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

    pub(super) fn vote_refusal<R: Recorder>(
        &self,
        candidate: ProcessId,
        (term, last_index, last_term): (Term, LogIndex, Term),
        cx: &Cx<'_, R>,
    ) -> Option<VoteRefusal> {
        if term < self.term {
            return Some(VoteRefusal::OldTerm);
        }
        if self.abstains(cx) {
            return Some(VoteRefusal::LogDamaged);
        }
        // A pre-vote may be about a term for which every vote is still free.
        if term == self.term
            && cx.is_on(Switch::OneVotePerTerm)
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

    pub(super) fn on_vote<R: Recorder>(
        &mut self,
        voter: ProcessId,
        granted: bool,
        cx: &mut Cx<'_, R>,
    ) {
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

    /// Counts a vote, or a promise of one: which of the two, its role says.
    pub(super) fn count_vote<R: Recorder>(&mut self, voter: ProcessId, cx: &mut Cx<'_, R>) {
        let config = self.counting(cx);
        let (pre, voters, votes) = match &mut self.role {
            Role::PreCandidate { voters, votes } => (true, voters, votes),
            Role::Candidate { voters, votes } => (false, voters, votes),
            Role::Follower { .. } | Role::Leader(_) => return,
        };
        // Not its own either, where it is no voter (dissertation §4.2.2).
        if !config.voting().contains(voter) {
            return;
        }
        if !voters.contains(voter) || !cx.is_on(Switch::VoteCountsById) {
            *voters = voters.with(voter);
            *votes += 1;
        }
        let (votes, needed) = (*votes, config.needed());
        let elected = config.elects(*voters, votes - voters.len());
        if pre {
            cx.fact(Rule::AskBeforeStanding, || Event::PrevoteCounted {
                voter,
                votes,
                needed,
            });
        } else {
            cx.fact(Rule::MajorityElects, || Event::VoteCounted {
                voter,
                votes,
                needed,
            });
        }
        if elected && pre {
            self.become_candidate(Rule::AskBeforeStanding, cx);
        } else if elected {
            self.become_leader(cx);
        }
    }

    pub(super) fn become_leader<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let next = self.log.last_index().next();
        let progress = Progress::from(next);
        self.role = Role::Leader(Box::new(Leading {
            progress: vec![progress; cx.servers.len() as usize],
            round: 0,
            renewals: Vec::new(),
            heard: None,
            reads: Vec::new(),
            lease: ReadLease::default(),
            handover: None,
            waiters: Vec::new(),
            first_index: next,
            counted: vec![0; self.armed.len()],
        }));
        cx.cancel_timer(TimerKind::Election);
        cx.fact(Rule::MajorityElects, || Event::BecameLeader {
            term: self.term,
        });
        self.look_at_own_role(cx);
        self.watch_quorum(cx);
        self.rearm_leases(cx);
        self.lose_table(cx);
        if cx.is_on(Switch::NoopOnElection) {
            self.append(Op::Noop, Rule::NewLeaderAppendsNoop, cx);
        } else {
            self.broadcast(cx);
            self.count_own_log(cx);
        }
        self.set_expiry_timer(cx);
    }

    /// Begins to count who answers, unless it does so already.
    pub(super) fn watch_quorum<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        if leading.heard.is_none() && cx.is_on(Switch::CheckQuorum) {
            leading.heard = Some(ProcessSet::default().with(cx.me));
            cx.set_timer(TimerKind::Quorum, cx.setup.election_shortest());
        }
    }

    /// Dissertation §6.2. Windows do not overlap, as in etcd: a leader steps down one to two election
    /// timeouts after it last heard a majority.
    pub(super) fn on_quorum_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let answered = leading.heard.take().unwrap_or_default();
        let (heard, needed) = (answered.len(), self.config.needed());
        cx.fact(Rule::LeaderNeedsQuorum, || Event::QuorumChecked {
            heard,
            needed,
        });
        if !self.counting(cx).elects(answered, 0) && cx.is_on(Switch::CheckQuorum) {
            self.become_follower(self.term, None, cx);
        } else {
            self.watch_quorum(cx);
        }
    }
}

pub(super) fn refuse_vote<R: Recorder>(
    candidate: ProcessId,
    term: Term,
    why: VoteRefusal,
    cx: &mut Cx<'_, R>,
) {
    let rule = match why {
        VoteRefusal::OldTerm => Rule::StaleTermRefused,
        VoteRefusal::LogDamaged => Rule::DamagedLogDoesNotVote,
        VoteRefusal::VotedFor(_) => Rule::VoteOncePerTerm,
        VoteRefusal::LeaderFresh(_) | VoteRefusal::LeaseMayRun => Rule::FreshLeaderShields,
        VoteRefusal::LogBehind { .. } => Rule::VoteForUpToDateLog,
    };
    cx.fact(rule, || Event::VoteRefused {
        candidate,
        term,
        why,
    });
}
