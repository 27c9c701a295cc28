//! A guarded write: check one's own authority, work, then send. The gap between the two is the point.
//!
//! Looking both ways and then crossing with closed eyes. Workers write under a lease, servers under
//! their term; both share this. A write without an answer is sent again as often as the setup says, after
//! another look; then it is unknown. A retry without an operation id may take effect twice.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, Outcome, TimerKind, Verdict};
use crate::process::{Cx, Message, Recorder};
use crate::rule::Rule;
use crate::store::{Scope, WriteAnswer, WriteRequest};
use crate::switch::Switch;
use crate::units::{
    Duration, LocalTime, OpId, ProcessId, ProcessSet, RequestId, ResourceId, Token,
};

/// Writes that may wait behind the one under way.
pub const WRITES_WAITING_MAX: usize = 16;
/// What a claim writes (`claim_first`): a write like any other, which only raises the store's gate.
pub const CLAIM: &str = "claim";

/// What a process would act on, if it looked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority {
    pub verdict: Verdict,
    pub token: Token,
    /// Within what the token counts.
    pub scope: Scope,
    pub resource: Option<ResourceId>,
    /// The rule by which it looks.
    pub rule: Rule,
}

/// The verdict of a process's last look at its own authority. It does not change while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Belief {
    pub verdict: Verdict,
    pub token: Token,
    /// What it is about; none where a server's own role is.
    pub resource: Option<ResourceId>,
    pub checked_at: LocalTime,
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    pub store: ProcessId,
    pub value: Arc<str>,
    pub op: Option<OpId>,
}

/// A write under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writing {
    pub store: ProcessId,
    pub value: Arc<str>,
    /// As the check found it.
    pub token: Token,
    pub checked_at: LocalTime,
    pub sent: bool,
    scope: Scope,
    op: Option<OpId>,
    claims: bool,
    attempts: u32,
    request: RequestId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writer {
    waiting: VecDeque<Job>,
    current: Option<Writing>,
    belief: Option<Belief>,
    /// The stores that have answered a claim with this token (`claim_first`).
    claimed: (Scope, Token, ProcessSet),
    /// The stores that it will claim before anything else.
    to_claim: ProcessSet,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            current: None,
            belief: None,
            claimed: (Scope::Nothing, Token(0), ProcessSet::default()),
            to_claim: ProcessSet::default(),
        }
    }
}

impl Writer {
    #[must_use]
    pub const fn belief(&self) -> Option<&Belief> {
        self.belief.as_ref()
    }

    #[must_use]
    pub const fn writing(&self) -> Option<&Writing> {
        self.current.as_ref()
    }

    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the work in hand has taken longer than work may (`work_max`). A write that was sent is not work: it
    /// is answered or given up.
    pub(crate) fn is_stuck<R: Recorder>(&self, cx: &Cx<'_, R>) -> bool {
        let working = self.current.as_ref().filter(|writing| !writing.sent);
        cx.setup.work_max != Duration::ZERO
            && working.is_some_and(|w| cx.setup.work_max < cx.now.since(w.checked_at))
    }

    pub(crate) fn believe(&mut self, authority: Authority, now: LocalTime) {
        let Authority {
            verdict,
            token,
            resource,
            ..
        } = authority;
        self.belief = Some(Belief {
            verdict,
            token,
            resource,
            checked_at: now,
        });
    }

    pub(crate) fn on_write<R: Recorder>(
        &mut self,
        job: Job,
        authority: Authority,
        cx: &mut Cx<'_, R>,
    ) {
        self.waiting.push_back(job);
        if self.current.is_some() {
            let place = self.waiting.len() as u32;
            cx.fact(Rule::Commanded, || Event::WorkQueued { place });
        }
        self.start_next(authority, cx);
    }

    /// A new holder raises every store's gate before it serves (`claim_first`).
    pub(crate) fn claim_all<R: Recorder>(&mut self, authority: Authority, cx: &mut Cx<'_, R>) {
        if cx.is_on(Switch::ClaimFirst) {
            self.to_claim = cx.stores;
            self.start_next(authority, cx);
        }
    }

    fn has_claimed(&self, store: ProcessId, authority: Authority) -> bool {
        let (scope, token, stores) = self.claimed;
        (scope, token) == (authority.scope, authority.token) && stores.contains(store)
    }

    /// Step one of a write: the check. Its answer is what the write will go by, however old it gets.
    fn start_next<R: Recorder>(&mut self, authority: Authority, cx: &mut Cx<'_, R>) {
        while self.current.is_none() {
            let mut claims = false;
            let job = if let Some(store) = self.to_claim.iter().next() {
                self.to_claim = self.to_claim.without(store);
                claims = true;
                claim(store)
            } else if let Some(job) = self.waiting.pop_front() {
                job
            } else {
                return;
            };
            let Authority {
                verdict,
                token,
                scope,
                ..
            } = authority;
            let Job { store, value, op } = job.clone();
            if cx.is_on(Switch::CheckBeforeWrite) {
                self.believe(authority, cx.now);
                cx.fact(authority.rule, || Event::Checked { verdict, token });
                if verdict != Verdict::Mine {
                    cx.fact(Rule::NoCheckNoWrite, || Event::WriteWithheld {
                        store,
                        value,
                        verdict,
                    });
                    continue;
                }
            } else {
                cx.fact(Rule::WriteCarriesToken, || Event::WriteUnchecked {
                    store,
                    token,
                });
            }
            let leased = matches!(scope, Scope::Lease(_)) && cx.is_on(Switch::ClaimFirst);
            let (value, op) = if !claims && leased && !self.has_claimed(store, authority) {
                claims = true;
                self.waiting.push_front(job);
                (CLAIM.into(), None)
            } else {
                (value, op)
            };
            let request = cx.next_request();
            self.current = Some(Writing {
                store,
                value,
                token,
                checked_at: cx.now,
                sent: false,
                scope,
                op,
                claims,
                attempts: 0,
                request,
            });
            if claims {
                // There is nothing to work out first.
                self.send(Rule::ClaimBeforeServing, cx);
            } else {
                cx.set_timer(TimerKind::Work, cx.setup.work);
            }
        }
    }

    /// Step two: the send. It does not look again.
    pub(crate) fn on_work_done<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        self.send(Rule::WriteCarriesToken, cx);
    }

    fn send<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let now = cx.now;
        let Some(writing) = &mut self.current else {
            return;
        };
        writing.sent = true;
        writing.attempts += 1;
        let Writing {
            store,
            token,
            scope,
            op,
            request,
            ..
        } = *writing;
        let (value, checked) = (writing.value.clone(), now.since(writing.checked_at));
        cx.fact(rule, || Event::WriteSent {
            store,
            token,
            value: value.clone(),
            checked,
        });
        cx.send(
            store,
            Message::Write(WriteRequest {
                request,
                scope,
                token,
                op,
                value,
            }),
        );
        cx.set_timer(TimerKind::WriteTimeout, cx.setup.client_timeout);
    }

    pub(crate) fn on_answer<R: Recorder>(
        &mut self,
        answer: WriteAnswer,
        authority: Authority,
        cx: &mut Cx<'_, R>,
    ) {
        let outcome = if answer.accepted {
            Outcome::Accepted
        } else {
            Outcome::Refused
        };
        match &self.current {
            Some(writing) if writing.sent && writing.request == answer.request => {
                cx.cancel_timer(TimerKind::WriteTimeout);
                self.end(outcome, Rule::StoreAnswered, authority, cx);
            }
            Some(_) | None => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored {
                    from: answer.store,
                });
            }
        }
    }

    /// No answer: the same write again, if there is another attempt and it still looks like its own to do.
    pub(crate) fn on_timeout<R: Recorder>(&mut self, authority: Authority, cx: &mut Cx<'_, R>) {
        let Authority {
            verdict,
            token,
            scope,
            rule,
            ..
        } = authority;
        let attempts = self.current.as_ref().map_or(0, |writing| writing.attempts);
        let mut again = attempts < cx.setup.write_attempts;
        if again && cx.is_on(Switch::CheckBeforeWrite) {
            self.believe(authority, cx.now);
            cx.fact(rule, || Event::Checked { verdict, token });
            again = verdict == Verdict::Mine;
        }
        match &mut self.current {
            Some(writing) if again => {
                (writing.token, writing.scope) = (token, scope);
                writing.checked_at = cx.now;
                self.send(Rule::AskAgain, cx);
            }
            Some(_) | None => {
                self.end(Outcome::Unknown, Rule::NoAnswerIsUnknown, authority, cx);
            }
        }
    }

    fn end<R: Recorder>(
        &mut self,
        outcome: Outcome,
        rule: Rule,
        authority: Authority,
        cx: &mut Cx<'_, R>,
    ) {
        let Some(Writing {
            store,
            token,
            value,
            scope,
            claims,
            ..
        }) = self.current.take()
        else {
            return;
        };
        cx.fact(rule, || Event::WriteEnded {
            store,
            token,
            value,
            outcome,
        });
        if claims && outcome == Outcome::Unknown {
            self.to_claim = self.to_claim.with(store);
        } else if claims {
            // Refused too: the store has its gate up, and will say so to each write.
            if (self.claimed.0, self.claimed.1) != (scope, token) {
                self.claimed = (scope, token, ProcessSet::default());
            }
            self.claimed.2 = self.claimed.2.with(store);
        }
        self.start_next(authority, cx);
    }
}

fn claim(store: ProcessId) -> Job {
    Job {
        store,
        value: CLAIM.into(),
        op: None,
    }
}
