//! Elections: who may lead the next term, and who gets a vote.
//!
//! The committee choosing its chair: one vote each a term, and only for somebody whose minute book is at
//! least as complete. What a leader then does with its term stands in `replication`.

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

    /// Its election timeout has ended: it stands for election, if it has a vote.
    pub(super) fn stand<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.config.voting().contains(cx.me) {
            self.become_candidate(cx);
        } else {
            cx.fact(Rule::OnlyVotersStand, || Event::StoodAside);
        }
    }

    /// Raft §5.2: a new term, a vote for itself, and a call for votes.
    pub(super) fn become_candidate<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
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
        for server in self.config.voting().without(cx.me).iter() {
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

    pub(super) fn vote_refusal<R: Recorder>(
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

    pub(super) fn count_vote<R: Recorder>(&mut self, voter: ProcessId, cx: &mut Cx<'_, R>) {
        let config = self.config;
        let Role::Candidate { voters, votes } = &mut self.role else {
            return;
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
        cx.fact(Rule::MajorityElects, || Event::VoteCounted {
            voter,
            votes,
            needed,
        });
        if elected {
            self.become_leader(cx);
        }
    }

    pub(super) fn become_leader<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
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
}
