//! A log whose last entry cannot be read any more: what its server may do until a leader has repaired it.
//!
//! A witness who has lost the last page of their notes: they may copy it from the chair, but until then
//! they must not swear to what the page did not say. Left out: damage in the middle of the log, which
//! costs every entry behind it and so is a longer tail.

use super::{Log, Message, Server};
use crate::event::{Event, VoteRefusal};
use crate::process::{Cx, Message as Envelope, Recorder};
use crate::rule::Rule;
use crate::switch::Switch;
use crate::units::{LogIndex, ProcessId, Term};

/// An entry that was on disk and cannot be read: it may have been acknowledged, and so committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Damage {
    pub index: LogIndex,
    /// The term on disk at the time; the entry's own is no higher.
    pub term: Term,
}

impl Damage {
    /// Whether a log has what a leader put in the place: the entry's index, or an entry of a later term,
    /// whose leader had all that was committed before.
    pub(super) fn is_repaired_by(&self, log: &Log) -> bool {
        self.index <= log.last_index() || self.term < log.last_term()
    }
}

impl Server {
    /// The entry that it knows to have lost, until it is repaired.
    #[must_use]
    pub const fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Neither votes nor stands: with the vote of one who has forgotten, a majority may know nothing.
    pub(super) fn abstains<R: Recorder>(&self, cx: &Cx<'_, R>) -> bool {
        self.damage.is_some() && cx.is_on(Switch::RefuseVoteUntilRepaired)
    }

    /// Whether it would stand for election and must not.
    pub(super) fn stands_back<R: Recorder>(&self, cx: &mut Cx<'_, R>) -> bool {
        let back = self.abstains(cx);
        if back {
            let (candidate, term) = (cx.me, self.term);
            cx.fact(Rule::DamagedLogDoesNotVote, || Event::VoteRefused {
                candidate,
                term,
                why: VoteRefusal::LogDamaged,
            });
            self.reset_election_timer(cx);
        }
        back
    }

    /// Tells the leader where its log really ends: less than what it has acknowledged.
    pub(super) fn report_damage<R: Recorder>(&self, leader: ProcessId, cx: &mut Cx<'_, R>) {
        let (term, upto) = (self.term, self.log.last_index());
        cx.send(leader, Envelope::Raft(Message::Damaged { term, upto }));
    }

    pub(super) fn note_repair<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if let Some(damage) = self.damage
            && damage.is_repaired_by(&self.log)
        {
            self.damage = None;
            let index = damage.index;
            cx.fact(Rule::LeaderRepairs, || Event::LogRepaired { index });
        }
    }

    /// What the follower acknowledged counts no more; it gets everything behind `upto` again.
    pub(super) fn on_damaged<R: Recorder>(
        &mut self,
        follower: ProcessId,
        upto: LogIndex,
        cx: &mut Cx<'_, R>,
    ) {
        let upto = upto.min(self.log.last_index());
        let super::Role::Leader(leading) = &mut self.role else {
            return cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                from: follower,
            });
        };
        let progress = &mut leading.progress[usize::from(follower.0)];
        progress.matched = progress.matched.min(upto);
        progress.next = upto.next();
        let next = progress.next;
        cx.fact(Rule::LeaderRepairs, || Event::ProbedBack { follower, next });
        self.send_append(follower, cx);
    }
}
