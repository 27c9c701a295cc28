//! A guarded write: check one's own authority, work, then send. The gap between the two is the point.
//!
//! Looking both ways and then crossing with closed eyes. Workers write under a lease, servers under
//! their term; both share this. Nothing is retried: a write without an answer is unknown.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, Outcome, TimerKind, Verdict};
use crate::process::{Cx, Message, Recorder};
use crate::rule::Rule;
use crate::store::{WriteAnswer, WriteRequest};
use crate::switch::Switch;
use crate::units::{LocalTime, ProcessId, RequestId, ResourceId, Token};

/// Writes that may wait behind the one under way.
pub const WRITES_WAITING_MAX: usize = 16;

/// What a process would act on, if it looked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority {
    pub verdict: Verdict,
    pub token: Token,
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

/// A write under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writing {
    pub store: ProcessId,
    pub value: Arc<str>,
    /// As the check found it.
    pub token: Token,
    pub checked_at: LocalTime,
    pub sent: bool,
    request: RequestId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Writer {
    waiting: VecDeque<(ProcessId, Arc<str>)>,
    current: Option<Writing>,
    belief: Option<Belief>,
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
        store: ProcessId,
        value: Arc<str>,
        authority: Authority,
        cx: &mut Cx<'_, R>,
    ) {
        self.waiting.push_back((store, value));
        if self.current.is_some() {
            let place = self.waiting.len() as u32;
            cx.fact(Rule::Commanded, || Event::WorkQueued { place });
        }
        self.start_next(authority, cx);
    }

    /// Step one of a write: the check. Its answer is what the write will go by, however old it gets.
    fn start_next<R: Recorder>(&mut self, authority: Authority, cx: &mut Cx<'_, R>) {
        while self.current.is_none() {
            let Some((store, value)) = self.waiting.pop_front() else {
                return;
            };
            let Authority { verdict, token, .. } = authority;
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
            let request = cx.next_request();
            self.current = Some(Writing {
                store,
                value,
                token,
                checked_at: cx.now,
                sent: false,
                request,
            });
            cx.set_timer(TimerKind::Work, cx.setup.work);
        }
    }

    /// Step two: the send. It does not look again.
    pub(crate) fn on_work_done<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        let now = cx.now;
        let Some(writing) = &mut self.current else {
            return;
        };
        writing.sent = true;
        let Writing {
            store,
            token,
            request,
            ..
        } = *writing;
        let (value, checked) = (writing.value.clone(), now.since(writing.checked_at));
        cx.fact(Rule::WriteCarriesToken, || Event::WriteSent {
            store,
            token,
            value: value.clone(),
            checked,
        });
        cx.send(
            store,
            Message::Write(WriteRequest {
                request,
                token,
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

    pub(crate) fn on_timeout<R: Recorder>(&mut self, authority: Authority, cx: &mut Cx<'_, R>) {
        self.end(Outcome::Unknown, Rule::NoAnswerIsUnknown, authority, cx);
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
        self.start_next(authority, cx);
    }
}
