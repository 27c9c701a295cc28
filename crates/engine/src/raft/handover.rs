//! Handover: a leader that brings another server up to date and tells it to stand at once.
//!
//! The chair that leaves in good order: it takes no new business, makes sure that its successor's minute book is
//! complete, and asks it to call the vote, so that nobody has to wait until the chair is missed. What becomes of
//! leases is not decided here: the new leader gives every one its full time again, as after any election.

use super::{Handover, Message, Role, Server};
use crate::event::{Event, TimerKind};
use crate::process::{Cx, Message as Envelope, Recorder};
use crate::rule::Rule;
use crate::switch::Switch;
use crate::units::ProcessId;

impl Server {
    /// To whom this leader hands over, while it does.
    #[must_use]
    pub fn transferring(&self) -> Option<ProcessId> {
        match &self.role {
            Role::Leader(leading) => leading.handover.map(|handover| handover.to),
            Role::Follower { .. } | Role::PreCandidate { .. } | Role::Candidate { .. } => None,
        }
    }

    /// Dissertation §3.10. The world has seen to it that this one leads and that `to` is another voter to whom it
    /// does not hand over already; another handover is replaced, and has its full time.
    pub(super) fn hand_over<R: Recorder>(&mut self, to: ProcessId, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        leading.handover = Some(Handover { to, told: false });
        cx.fact(Rule::HandoverBringsUpToDate, || Event::HandoverBegan { to });
        cx.set_timer(TimerKind::Transfer, cx.setup.election_shortest());
        self.send_missing(to, cx);
        self.tell_successor(cx);
    }

    /// Tells the successor to stand, once, as soon as it has every entry.
    pub(super) fn tell_successor<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let last = self.log.last_index();
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let Some(handover) = &mut leading.handover else {
            return;
        };
        let matched = leading.progress[usize::from(handover.to.0)].matched;
        if !handover.told && matched == last {
            handover.told = true;
            if cx.is_on(Switch::TransferExpiresLease) {
                leading.lease.give_up();
            }
            let message = Message::TimeoutNow { term: self.term };
            cx.send(handover.to, Envelope::Raft(message));
        }
    }

    /// It took too long, or its successor has lost its vote: the leader leads on.
    pub(super) fn give_up_handover<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let Some(Handover { to, .. }) = leading.handover.take() else {
            return;
        };
        cx.cancel_timer(TimerKind::Transfer);
        cx.fact(rule, || Event::HandoverGivenUp { to });
    }

    /// Told by its leader, it stands without asking first. Who has no vote stands aside; a leader stays what it is.
    pub(super) fn on_timeout_now<R: Recorder>(&mut self, from: ProcessId, cx: &mut Cx<'_, R>) {
        if self.is_leader() {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
        } else if !self.config.voting().contains(cx.me) {
            cx.fact(Rule::OnlyVotersStand, || Event::StoodAside);
        } else if !self.stands_back(cx) {
            self.become_candidate(Rule::ToldToStand, cx);
        }
    }
}
