//! Who asks the service for work: it times out, asks again, and knows accepted, refused, or unknown.
//!
//! A caller put on hold: after a while it rings another branch with the same ticket number. When it
//! gives up without an answer it knows nothing, and says so.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, Outcome, TimerKind};
use crate::process::{Cx, Input, Message, Recorder};
use crate::rule::Rule;
use crate::service::{Answer, AnswerWhat, Ask, AskWhat};
use crate::switch::Switch;
use crate::units::{Duration, ProcessId, RequestId};

/// Requests that may wait behind the one under way.
pub const REQUESTS_WAITING_MAX: usize = 64;
/// Ended requests that are remembered for the view.
const REQUESTS_KEPT: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub id: RequestId,
    pub key: Arc<str>,
    pub value: Arc<str>,
    pub attempts: u32,
    /// None while it is under way.
    pub outcome: Option<Outcome>,
    /// Some attempt went without an answer, so it may have been carried out.
    in_doubt: bool,
    /// The attempt under way was answered with "not the leader".
    turned_away: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    waiting: VecDeque<(Arc<str>, Arc<str>)>,
    /// The latest requests, oldest first; only the last can be under way.
    requests: VecDeque<Request>,
    target: Option<ProcessId>,
}

impl Client {
    /// The latest requests, oldest first; only the last can be under way.
    pub fn requests(&self) -> impl DoubleEndedIterator<Item = &Request> {
        self.requests.iter()
    }

    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        match input {
            Input::Message {
                from,
                message: Message::Answer(answer, _),
            } => {
                self.on_answer(from, &answer, cx);
            }
            Input::Message { from, .. } => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Input::Timer(TimerKind::ClientTimeout) => self.on_timeout(cx),
            Input::Put { key, value } => {
                self.waiting.push_back((key, value));
                if self.under_way().is_some() {
                    let place = self.waiting.len() as u32;
                    cx.fact(Rule::Commanded, || Event::WorkQueued { place });
                }
                self.start_next(cx);
            }
            Input::Timer(_)
            | Input::Synced { .. }
            | Input::Write { .. }
            | Input::Acquire { .. }
            | Input::Release
            | Input::Campaign => unreachable!("the world gives clients none of these"),
        }
    }

    fn under_way(&mut self) -> Option<&mut Request> {
        self.requests.back_mut().filter(|r| r.outcome.is_none())
    }

    fn start_next<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.under_way().is_some() {
            return;
        }
        let Some((key, value)) = self.waiting.pop_front() else {
            return;
        };
        if self.requests.len() == REQUESTS_KEPT {
            self.requests.pop_front();
        }
        let id = cx.next_request();
        self.requests.push_back(Request {
            id,
            key,
            value,
            attempts: 0,
            outcome: None,
            in_doubt: false,
            turned_away: false,
        });
        self.send(Rule::ClientAsksLeader, cx);
    }

    fn send<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let target = self.target.or_else(|| cx.servers.iter().next());
        self.target = target;
        let dedupe = cx.is_on(Switch::OpDedupe);
        let Some(server) = target else {
            // A world without a service: nobody can have carried it out.
            return self.end(Outcome::Refused, Rule::OnlyLeaderServes, cx);
        };
        let Some(request) = self.requests.back_mut().filter(|r| r.outcome.is_none()) else {
            return;
        };
        request.attempts += 1;
        request.turned_away = false;
        if !dedupe && request.attempts > 1 {
            request.id = cx.next_request();
        }
        let (id, attempt) = (request.id, request.attempts);
        let what = AskWhat::Put {
            key: request.key.clone(),
            value: request.value.clone(),
        };
        cx.fact(rule, || Event::RequestSent {
            server,
            request: id,
            attempt,
        });
        cx.send(server, Message::Ask(Ask { request: id, what }));
        cx.set_timer(TimerKind::ClientTimeout, cx.setup.client_timeout);
    }

    fn on_answer<R: Recorder>(&mut self, from: ProcessId, answer: &Answer, cx: &mut Cx<'_, R>) {
        if self
            .under_way()
            .is_none_or(|request| request.id != answer.request)
        {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            return;
        }
        match answer.what {
            AnswerWhat::Accepted => {
                self.target = Some(from);
                self.end(Outcome::Accepted, Rule::ClientAnswered, cx);
            }
            AnswerWhat::NotLeader { hint: Some(server) } if server != from => {
                self.target = Some(server);
                self.again(Rule::FollowHint, cx);
            }
            AnswerWhat::NotLeader { .. } => {
                // Nobody leads there: wait a little, then try the next.
                if let Some(request) = self.under_way() {
                    request.turned_away = true;
                }
                cx.fact(Rule::AskAgain, || Event::ReplyIgnored { from });
                cx.set_timer(
                    TimerKind::ClientTimeout,
                    Duration(cx.setup.client_timeout.0 / 4 + 1),
                );
            }
            AnswerWhat::Granted { .. }
            | AnswerWhat::Queued { .. }
            | AnswerWhat::Renewed { .. }
            | AnswerWhat::RenewRefused { .. }
            | AnswerWhat::Released => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
        }
    }

    fn on_timeout<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if let Some(request) = self.under_way() {
            request.in_doubt |= !request.turned_away;
        }
        self.next_server(cx);
        self.again(Rule::AskAgain, cx);
    }

    fn next_server<R: Recorder>(&mut self, cx: &Cx<'_, R>) {
        let count = cx.servers.len() as u8;
        if let Some(target) = self.target
            && count > 0
        {
            self.target = Some(ProcessId((target.0 + 1) % count));
        }
    }

    /// One more attempt, or the end: refused only if every attempt was answered with a no.
    fn again<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let most = cx.setup.client_attempts;
        let Some(request) = self.under_way() else {
            return;
        };
        if request.attempts < most {
            self.send(rule, cx);
        } else if request.in_doubt {
            self.end(Outcome::Unknown, Rule::NoAnswerIsUnknown, cx);
        } else {
            self.end(Outcome::Refused, Rule::OnlyLeaderServes, cx);
        }
    }

    fn end<R: Recorder>(&mut self, outcome: Outcome, rule: Rule, cx: &mut Cx<'_, R>) {
        cx.cancel_timer(TimerKind::ClientTimeout);
        if let Some(request) = self.under_way() {
            request.outcome = Some(outcome);
            let request = request.id;
            cx.fact(rule, || Event::RequestEnded { request, outcome });
        }
        self.start_next(cx);
    }
}
