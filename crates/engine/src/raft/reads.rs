//! Reads without log entries: how far must a server have applied before it may answer, and who is sure of that.
//!
//! Asking "am I still the chair?" before reading aloud from the minutes: the committee's nod must come after
//! the question, and the page must have been written up to where the minutes stood when it was asked. With
//! `lease_reads` the chair relies on its watch instead of the nod. Left out: reads of several keys at once.

use std::collections::VecDeque;
use std::sync::Arc;

use super::leases::answer;
use super::{Message, Role, Server};
use crate::event::{Event, VoteRefusal};
use crate::process::{AnswerTo, Cx, Message as Envelope, Recorder};
use crate::rule::Rule;
use crate::service::{AnswerWhat, Found, ReadHow};
use crate::switch::Switch;
use crate::units::{LocalTime, LogIndex, ProcessId, RequestId, Term};

/// Rounds under way whose times a leader keeps: with more, the oldest no longer extend its lease.
const ROUNDS_KEPT: usize = 64;

/// A client's read at the server that is to answer it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Read {
    client: ProcessId,
    request: RequestId,
    key: Arc<str>,
    /// The latest state that the client has seen.
    floor: LogIndex,
    stale: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// The leader has been asked this question.
    Asked(RequestId),
    /// Until this entry is applied.
    Apply(LogIndex),
}

/// A read that cannot be answered yet; a client has one at most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    read: Read,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asker {
    Client(Read),
    Follower(ProcessId, RequestId),
}

impl Asker {
    const fn id(&self) -> ProcessId {
        match self {
            Self::Client(read) => read.client,
            Self::Follower(follower, _) => *follower,
        }
    }

    /// Whether this client has asked again: then nobody waits for the older one.
    fn replaces(&self, older: &Self) -> bool {
        matches!((self, older), (Self::Client(new), Self::Client(old)) if new.client == old.client)
    }
}

/// A question at the leader: where must a state machine be to answer it, and which round confirms that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unconfirmed {
    asker: Asker,
    index: LogIndex,
    /// 0: no round is needed.
    round: u64,
    by_lease: bool,
}

/// How long a leader may take it for granted that nobody else leads (dissertation §6.4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ReadLease {
    /// When each round was sent that no majority has answered yet, oldest first.
    sent: VecDeque<(u64, LocalTime)>,
    /// From when the lease counts.
    from: Option<LocalTime>,
    /// It has told another to campaign at once: no follower keeps to the lease any more.
    given_up: bool,
}

impl ReadLease {
    pub(super) fn round_sent<R: Recorder>(&mut self, round: u64, cx: &Cx<'_, R>) {
        if cx.setup.lease_reads {
            if self.sent.len() == ROUNDS_KEPT {
                self.sent.pop_front();
            }
            self.sent.push_back((round, cx.now));
        }
    }

    pub(super) const fn give_up(&mut self) {
        self.given_up = true;
    }

    fn confirm<R: Recorder>(&mut self, confirmed: u64, cx: &Cx<'_, R>) {
        while let Some((_, sent)) = self.sent.pop_front_if(|(round, _)| *round <= confirmed) {
            let from_send = cx.is_on(Switch::LeaseFromSendTime);
            self.from = Some(if from_send { sent } else { cx.now });
        }
    }

    /// The shortest election timeout, by any follower's clock: so long, nobody votes for another.
    fn runs<R: Recorder>(&self, cx: &Cx<'_, R>) -> bool {
        let span = cx.within_drift(cx.setup.election_shortest());
        let from = self.from.filter(|_| !self.given_up);
        cx.setup.lease_reads && from.is_some_and(|from| cx.now < from.plus(span))
    }
}

impl Server {
    /// A follower's part of a lease for reads: who hears a leader votes for nobody else for a while. Unlike what
    /// stickiness goes by, this outlasts a change of term and a restart, because the lease does.
    pub(super) fn bind_to_leader<R: Recorder>(&mut self, cx: &Cx<'_, R>) {
        if cx.setup.lease_reads && cx.is_on(Switch::Stickiness) {
            self.bound_until = Some(cx.now.plus(cx.setup.election_shortest()));
        }
    }

    pub(super) fn bound_to_leader<R: Recorder>(
        &self,
        term: Term,
        cx: &Cx<'_, R>,
    ) -> Option<VoteRefusal> {
        let bound = self.bound_until.is_some_and(|until| cx.now < until);
        (bound && self.term <= term).then_some(VoteRefusal::LeaseMayRun)
    }

    pub(super) fn on_get<R: Recorder>(
        &mut self,
        client: ProcessId,
        request: RequestId,
        (key, how, floor): (Arc<str>, ReadHow, LogIndex),
        cx: &mut Cx<'_, R>,
    ) {
        // What this client asked before, it asks no more.
        self.reads.retain(|waiting| waiting.read.client != client);
        let stale = how == ReadHow::Stale;
        let read = Read {
            client,
            request,
            key,
            floor,
            stale,
        };
        match (how, self.leader_known()) {
            (ReadHow::Stale, _) => self.read_at(read, LogIndex(0), cx),
            (ReadHow::Leader | ReadHow::Anyone, _) if self.is_leader() => {
                self.find_index(Asker::Client(read), cx);
            }
            (ReadHow::Anyone, Some(leader)) => {
                let question = cx.next_request();
                let stage = Stage::Asked(question);
                self.reads.push(Waiting { read, stage });
                cx.fact(Rule::FollowerAsksForIndex, || Event::ReadIndexAsked {
                    leader,
                    client,
                });
                let term = self.term;
                let ask = Message::ReadIndex { term, question };
                cx.send(leader, Envelope::Raft(ask));
            }
            (ReadHow::Leader | ReadHow::Anyone, _) => {
                self.turn_away(client, request, AnswerTo::Get, cx);
            }
        }
    }

    pub(super) fn on_read_index<R: Recorder>(
        &mut self,
        follower: ProcessId,
        question: RequestId,
        cx: &mut Cx<'_, R>,
    ) {
        if self.is_leader() {
            self.find_index(Asker::Follower(follower, question), cx);
            return;
        }
        let hint = self.leader_known();
        cx.fact(Rule::OnlyLeaderServes, || Event::NotLeaderAnswered {
            asker: follower,
            hint,
        });
        self.answer_question(follower, question, None, cx);
    }

    fn answer_question<R: Recorder>(
        &self,
        follower: ProcessId,
        question: RequestId,
        index: Option<LogIndex>,
        cx: &mut Cx<'_, R>,
    ) {
        let term = self.term;
        let answer = Message::ReadIndexAnswer {
            term,
            question,
            index,
        };
        cx.send(follower, Envelope::Raft(answer));
    }

    pub(super) fn on_read_index_answer<R: Recorder>(
        &mut self,
        from: ProcessId,
        question: RequestId,
        index: Option<LogIndex>,
        cx: &mut Cx<'_, R>,
    ) {
        let asked = Stage::Asked(question);
        let Some(at) = self.reads.iter().position(|w| w.stage == asked) else {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            return;
        };
        let read = self.reads.remove(at).read;
        match index {
            Some(index) => self.read_at(read, index, cx),
            None => self.turn_away(read.client, read.request, AnswerTo::Get, cx),
        }
    }

    /// The leader's part of a read (dissertation §6.4): remember what is committed, then make sure that
    /// nobody else has committed more. Whatever was committed in earlier terms lies before the first entry
    /// of its own.
    fn find_index<R: Recorder>(&mut self, asker: Asker, cx: &mut Cx<'_, R>) {
        let (commit, by) = (self.commit, asker.id());
        let Role::Leader(leading) = &self.role else {
            return;
        };
        let by_lease = leading.lease.runs(cx);
        let first = leading.first_index;
        let own = cx.is_on(Switch::ReadAfterOwnCommit);
        let index = if own { commit.max(first) } else { commit };
        cx.fact(Rule::ReadIndexRemembered, || Event::ReadReceived {
            asker: by,
            index,
        });
        let needs_round = !by_lease && cx.is_on(Switch::ReadindexQuorumRound);
        if needs_round {
            // Only answers to a round that begins after the question show that nobody else led then.
            self.broadcast(cx);
        }
        if let Role::Leader(leading) = &mut self.role {
            let round = if needs_round { leading.round } else { 0 };
            leading.reads.retain(|read| !asker.replaces(&read.asker));
            leading.reads.push(Unconfirmed {
                asker,
                index,
                round,
                by_lease,
            });
        }
        self.confirm_round(cx);
    }

    /// A majority may have answered one more round: what waits for that?
    pub(super) fn confirm_round<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.confirm_renewals(cx);
        let (commit, config) = (self.commit, self.counting(cx));
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        if leading.reads.is_empty() && leading.lease.sent.is_empty() {
            return;
        }
        let confirmed = config.agreed(|id| leading.progress[usize::from(id.0)].round);
        leading.lease.confirm(confirmed, cx);
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut leading.reads)
            .into_iter()
            .partition(|read| read.round <= confirmed && read.index <= commit);
        leading.reads = waiting;
        for read in ready {
            let (asker, index) = (read.asker.id(), read.index);
            let rule = match (read.by_lease, read.round) {
                (true, _) => Rule::ReadByLease,
                (false, 0) => Rule::ReadIndexRemembered,
                (false, _) => Rule::ReadConfirmedByMajority,
            };
            cx.fact(rule, || Event::ReadConfirmed { asker, index });
            match read.asker {
                Asker::Client(read) => self.read_at(read, index, cx),
                Asker::Follower(follower, question) => {
                    self.answer_question(follower, question, Some(index), cx);
                }
            }
        }
    }

    /// Answers a read once `index` is applied here, and what its client has seen already.
    fn read_at<R: Recorder>(&mut self, read: Read, index: LogIndex, cx: &mut Cx<'_, R>) {
        let index = if cx.is_on(Switch::ReadWaitsForApply) {
            index
        } else {
            LogIndex(0)
        };
        let needed = index.max(read.floor);
        if needed <= self.applied {
            self.answer_read(&read, cx);
            return;
        }
        let rule = if self.applied < index {
            Rule::ReadWhenApplied
        } else {
            Rule::SessionFloor
        };
        let client = read.client;
        cx.fact(rule, || Event::ReadWaits {
            client,
            index: needed,
        });
        let stage = Stage::Apply(needed);
        self.reads.push(Waiting { read, stage });
    }

    /// More has been applied: which reads waited for that?
    pub(super) fn answer_reads<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.reads.is_empty() {
            return;
        }
        let applied = self.applied;
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.reads)
            .into_iter()
            .partition(|w| matches!(w.stage, Stage::Apply(needed) if needed <= applied));
        self.reads = waiting;
        for Waiting { read, .. } in ready {
            self.answer_read(&read, cx);
        }
    }

    fn answer_read<R: Recorder>(&self, read: &Read, cx: &mut Cx<'_, R>) {
        let (client, index, stale) = (read.client, self.applied, read.stale);
        let rule = if stale {
            Rule::StaleReadAtOnce
        } else {
            Rule::ReadWhenApplied
        };
        cx.fact(rule, || Event::ReadAnswered {
            client,
            index,
            stale,
        });
        let found = Found {
            value: self.registry.value(&read.key).map(Arc::from),
            index,
            stale,
        };
        let what = AnswerWhat::Read(found);
        answer(client, read.request, what, AnswerTo::Get, cx);
    }
}
