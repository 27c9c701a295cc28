//! Who asks the service for work: it times out, asks again, and knows accepted, refused, or unknown.
//!
//! A caller put on hold: after a while it rings another branch with the same ticket number. When it
//! gives up without an answer it knows nothing, and says so.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, Outcome, TimerKind};
use crate::process::{Cx, Input, Message, Recorder};
use crate::rule::Rule;
use crate::service::{Answer, AnswerWhat, Ask, AskWhat, Found, ReadHow};
use crate::switch::Switch;
use crate::units::{Duration, LogIndex, ProcessId, RequestId};

/// Requests that may wait behind the one under way.
pub const REQUESTS_WAITING_MAX: usize = 64;
/// Ended requests that are remembered for the view.
const REQUESTS_KEPT: usize = 16;

/// What a client was told to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wish {
    Put {
        value: Arc<str>,
    },
    Get {
        how: ReadHow,
        /// Whom to ask; none for whoever leads.
        server: Option<ProcessId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub id: RequestId,
    pub key: Arc<str>,
    pub wish: Wish,
    pub attempts: u32,
    /// None while it is under way.
    pub outcome: Option<Outcome>,
    /// What a get has read.
    pub found: Option<Found>,
    /// Some attempt went without an answer, so it may have been carried out.
    in_doubt: bool,
    /// The attempt under way was answered with "not the leader".
    turned_away: bool,
}

impl Request {
    /// Whether one server alone is to answer it.
    const fn is_bound(&self) -> bool {
        matches!(
            self.wish,
            Wish::Get {
                server: Some(_),
                ..
            }
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    waiting: VecDeque<(Arc<str>, Wish)>,
    /// The latest requests, oldest first; only the last can be under way.
    requests: VecDeque<Request>,
    target: Option<ProcessId>,
    /// The request that opened its session, where one must be opened.
    session: Option<RequestId>,
    /// The request that is to open it.
    opening: Option<RequestId>,
    /// The latest state of the service that an answer has shown it: entries up to here were applied.
    seen: LogIndex,
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
                self.on_answer(from, answer, cx);
            }
            Input::Message { from, .. } => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Input::Timer(TimerKind::ClientTimeout) => self.on_timeout(cx),
            Input::Put { key, value } => self.on_wish(key, Wish::Put { value }, cx),
            Input::Get { key, how, server } => self.on_wish(key, Wish::Get { how, server }, cx),
            Input::Timer(_)
            | Input::Synced { .. }
            | Input::Write { .. }
            | Input::Acquire { .. }
            | Input::Release
            | Input::Campaign
            | Input::Transfer { .. }
            | Input::Compact
            | Input::Change { .. }
            | Input::Raise { .. } => unreachable!("the world gives clients none of these"),
        }
    }

    fn on_wish<R: Recorder>(&mut self, key: Arc<str>, wish: Wish, cx: &mut Cx<'_, R>) {
        self.waiting.push_back((key, wish));
        if self.under_way().is_some() {
            let place = self.waiting.len() as u32;
            cx.fact(Rule::Commanded, || Event::WorkQueued { place });
        }
        self.start_next(cx);
    }

    fn under_way(&mut self) -> Option<&mut Request> {
        self.requests.back_mut().filter(|r| r.outcome.is_none())
    }

    fn start_next<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        if self.under_way().is_some() {
            return;
        }
        let Some((key, wish)) = self.waiting.pop_front() else {
            return;
        };
        if self.requests.len() == REQUESTS_KEPT {
            self.requests.pop_front();
        }
        let id = cx.next_request();
        self.requests.push_back(Request {
            id,
            key,
            wish,
            attempts: 0,
            outcome: None,
            found: None,
            in_doubt: false,
            turned_away: false,
        });
        self.send(Rule::ClientAsksLeader, cx);
    }

    fn send<R: Recorder>(&mut self, rule: Rule, cx: &mut Cx<'_, R>) {
        let target = self.target.or_else(|| cx.servers.iter().next());
        self.target = target;
        let Some(mut server) = target else {
            // A world without a service: nobody can have carried it out.
            return self.end(Outcome::Refused, Rule::OnlyLeaderServes, cx);
        };
        let Some(request) = self.requests.back_mut().filter(|r| r.outcome.is_none()) else {
            return;
        };
        request.attempts += 1;
        request.turned_away = false;
        cx.set_timer(TimerKind::ClientTimeout, cx.setup.client_timeout);
        let attempt = request.attempts;
        let key = request.key.clone();
        let what = match &request.wish {
            Wish::Put { .. } if 0 < cx.setup.sessions_max && self.session.is_none() => {
                let request = *self.opening.get_or_insert_with(|| cx.next_request());
                cx.fact(Rule::SessionFirst, || Event::SessionAsked {
                    server,
                    attempt,
                });
                let what = AskWhat::Register;
                return cx.send(server, Message::Ask(Ask { request, what }));
            }
            Wish::Put { value } => {
                let before_session = self.session.is_some_and(|opened| request.id < opened);
                if before_session || (attempt > 1 && !cx.is_on(Switch::OpDedupe)) {
                    request.id = cx.next_request();
                }
                AskWhat::Put {
                    key,
                    value: value.clone(),
                    session: self.session,
                }
            }
            Wish::Get { how, server: one } => {
                server = one.unwrap_or(server);
                let with_floor = cx.is_on(Switch::SessionFloor);
                let floor = if with_floor { self.seen } else { LogIndex(0) };
                let how = *how;
                AskWhat::Get { key, how, floor }
            }
        };
        let request = request.id;
        cx.fact(rule, || Event::RequestSent {
            server,
            request,
            attempt,
        });
        cx.send(server, Message::Ask(Ask { request, what }));
    }

    fn on_answer<R: Recorder>(&mut self, from: ProcessId, answer: Answer, cx: &mut Cx<'_, R>) {
        let opening = self.opening;
        let awaited = self
            .under_way()
            .filter(|request| answer.request == opening.unwrap_or(request.id));
        let Some(request) = awaited else {
            cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            return;
        };
        let (is_bound, in_doubt) = (request.is_bound(), request.in_doubt);
        match answer.what {
            AnswerWhat::Accepted { index } => {
                self.target = Some(from);
                self.seen = self.seen.max(index);
                self.end(Outcome::Accepted, Rule::ClientAnswered, cx);
            }
            AnswerWhat::Read(found) => {
                if !is_bound {
                    self.target = Some(from);
                }
                self.end_read(found, cx);
            }
            AnswerWhat::Registered => {
                (request.attempts, request.in_doubt) = (0, false);
                self.session = self.opening.take();
                self.target = Some(from);
                self.send(Rule::ClientAsksLeader, cx);
            }
            AnswerWhat::SessionExpired => {
                self.session = None;
                let outcome = if in_doubt {
                    Outcome::Unknown
                } else {
                    Outcome::Refused
                };
                self.end(outcome, Rule::SessionUnknownRefused, cx);
            }
            AnswerWhat::NotLeader { hint: Some(server) } if server != from && !is_bound => {
                self.target = Some(server);
                self.again(Rule::FollowHint, cx);
            }
            AnswerWhat::NotLeader { .. } => {
                // Nobody leads there: wait a little, then try the next.
                request.turned_away = true;
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
        let opening = self.opening.is_some();
        let mut is_bound = false;
        if let Some(request) = self.under_way() {
            request.in_doubt |= !request.turned_away && !opening;
            is_bound = request.is_bound();
        }
        if !is_bound {
            self.next_server(cx);
        }
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
        self.opening = None;
        self.start_next(cx);
    }

    fn end_read<R: Recorder>(&mut self, found: Found, cx: &mut Cx<'_, R>) {
        cx.cancel_timer(TimerKind::ClientTimeout);
        self.seen = self.seen.max(found.index);
        if let Some(request) = self.under_way() {
            request.outcome = Some(Outcome::Accepted);
            cx.fact(Rule::ClientAnswered, || Event::ReadEnded {
                request: request.id,
                key: request.key.clone(),
                value: found.value.clone(),
                index: found.index,
                stale: found.stale,
            });
            request.found = Some(found);
        }
        self.start_next(cx);
    }
}
