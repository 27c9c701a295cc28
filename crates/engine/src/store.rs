//! The protected resource: it accepts and refuses writes, and remembers the highest token it has seen.
//!
//! A ticket inspector who knows only the number on the latest ticket of each line, and needs no clock. With
//! the fence off it only watches; where check and write are two steps, something may slip between. An
//! operation with a number takes effect once. It keeps what was written and serves no reads.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, TimerKind};
use crate::process::{Cx, DiskWrite, Effect, Input, Message, Recorder};
use crate::rule::Rule;
use crate::switch::{Position, Switch};
use crate::units::{LocalTime, OpId, ProcessId, RequestId, ResourceId, Token};

/// Within what tokens are compared: each of these counts on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Under no lease at all: its token is 0, and older than any.
    Nothing,
    /// A server's term.
    Term,
    Lease(ResourceId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteRequest {
    pub request: RequestId,
    pub scope: Scope,
    pub token: Token,
    /// What it is called, so that a repetition is known as one.
    pub op: Option<OpId>,
    pub value: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteAnswer {
    pub store: ProcessId,
    pub request: RequestId,
    pub accepted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteVerdict {
    Accepted,
    /// Accepted, though enforcement would refuse it.
    Observed {
        highest: Token,
    },
    Refused {
        highest: Token,
    },
    /// Its operation had taken effect before: answered as accepted, and nothing is written.
    Repeated,
}

impl WriteVerdict {
    /// Whether it took effect.
    #[must_use]
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Accepted | Self::Observed { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteRecord {
    pub at: LocalTime,
    pub from: ProcessId,
    pub scope: Scope,
    pub token: Token,
    pub op: Option<OpId>,
    pub value: Arc<str>,
    pub verdict: WriteVerdict,
}

/// What becomes durable of a write: the write itself, and with it the highest token of its scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreWrite {
    record: WriteRecord,
    /// The token goes to disk too (`durable_fence`).
    raises: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// By scope, each scope once.
    highest: Vec<(Scope, Token)>,
    writes: Vec<WriteRecord>,
    /// Checked, and not yet written (`fence_atomic` off).
    checked: VecDeque<(ProcessId, WriteRequest)>,
}

impl Store {
    /// The highest token it has seen, in any scope, on a write that it did not refuse; 0 for none.
    #[must_use]
    pub fn highest(&self) -> Token {
        self.highest_in(Scope::Nothing)
    }

    /// The highest token of one scope; for a write under nothing, of all.
    #[must_use]
    pub fn highest_in(&self, scope: Scope) -> Token {
        let within = |s: Scope| scope == Scope::Nothing || s == scope;
        let tokens = self.highest.iter().filter(|(s, _)| within(*s));
        tokens.map(|(_, token)| *token).max().unwrap_or(Token(0))
    }

    /// All writes that came, in order, refused ones included.
    #[must_use]
    pub fn writes(&self) -> &[WriteRecord] {
        &self.writes
    }

    pub(crate) fn write_durably(&mut self, write: &StoreWrite) {
        if write.raises {
            self.raise(write.record.scope, write.record.token);
        }
        self.writes.push(write.record.clone());
    }

    fn raise(&mut self, scope: Scope, token: Token) {
        match self.highest.iter_mut().find(|(s, _)| *s == scope) {
            Some((_, highest)) => *highest = token.max(*highest),
            None => self.highest.push((scope, token)),
        }
    }

    /// The token that a write is compared with.
    fn compared<R: Recorder>(&self, write: &WriteRequest, cx: &Cx<'_, R>) -> Token {
        let scoped = cx.is_on(Switch::FenceScopes);
        self.highest_in(if scoped { write.scope } else { Scope::Nothing })
    }

    /// Whether enforcement refuses it. An equal token is the same holder's, writing again.
    fn is_stale<R: Recorder>(token: Token, highest: Token, cx: &Cx<'_, R>) -> bool {
        let strict = !cx.is_on(Switch::FenceAllowsEqual);
        token < highest || strict && token == highest && highest != Token(0)
    }

    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        match input {
            Input::Message {
                from,
                message: Message::Write(write),
            } => self.on_write(from, write, cx),
            Input::Timer(TimerKind::StoreWrite) => self.on_write_timer(cx),
            Input::Synced { .. } => cx.fact(Rule::SyncMakesDurable, || Event::SyncEnded),
            Input::Message { from, .. } => {
                cx.fact(Rule::LateReplyIgnored, || Event::ReplyIgnored { from });
            }
            Input::Timer(_)
            | Input::Write { .. }
            | Input::Put { .. }
            | Input::Get { .. }
            | Input::Acquire { .. }
            | Input::Release
            | Input::Campaign
            | Input::Transfer { .. }
            | Input::Compact
            | Input::Change { .. }
            | Input::Raise { .. } => unreachable!("the world gives stores none of these"),
        }
    }

    fn on_write<R: Recorder>(&mut self, from: ProcessId, write: WriteRequest, cx: &mut Cx<'_, R>) {
        if cx.is_on(Switch::FenceAtomic) {
            self.check_and_write(from, write, true, cx);
            return;
        }
        // The check now, the write in a later step: whatever comes between goes unseen.
        let (token, highest) = (write.token, self.compared(&write, cx));
        if cx.switches.get(Switch::Fence) == Position::On && Self::is_stale(token, highest, cx) {
            self.refuse(from, &write, cx);
            return;
        }
        cx.fact(Rule::CheckThenWrite, || Event::WriteChecked {
            from,
            token,
            highest,
        });
        self.checked.push_back((from, write));
        if self.checked.len() == 1 {
            cx.set_timer(TimerKind::StoreWrite, cx.setup.store_delay);
        }
    }

    fn on_write_timer<R: Recorder>(&mut self, cx: &mut Cx<'_, R>) {
        // Two workers of the store race: the one that checked last writes first.
        if let Some((from, write)) = self.checked.pop_back() {
            self.check_and_write(from, write, false, cx);
        }
        if !self.checked.is_empty() {
            cx.set_timer(TimerKind::StoreWrite, cx.setup.store_delay);
        }
    }

    fn check_and_write<R: Recorder>(
        &mut self,
        from: ProcessId,
        write: WriteRequest,
        check: bool,
        cx: &mut Cx<'_, R>,
    ) {
        if let Some(op) = write.op
            && cx.is_on(Switch::OpDedupe)
            && self.has_taken_effect(op)
        {
            self.repeat(from, &write, op, cx);
            return;
        }
        let (token, highest, value) = (write.token, self.compared(&write, cx), write.value.clone());
        let stale = check && Self::is_stale(token, highest, cx);
        match cx.switches.get(Switch::Fence) {
            Position::On if stale => {
                self.refuse(from, &write, cx);
                return;
            }
            Position::Observe if stale => {
                cx.fact(Rule::FenceObserves, || Event::StaleWriteObserved {
                    from,
                    token,
                    highest,
                    value,
                });
                self.record(from, &write, WriteVerdict::Observed { highest }, cx);
            }
            position @ (Position::On | Position::Observe | Position::Off) => {
                let rule = match position {
                    Position::Off => Rule::NoFenceAcceptsAll,
                    Position::On | Position::Observe => Rule::FenceAcceptsNotLower,
                };
                cx.fact(rule, || Event::WriteAccepted {
                    from,
                    token,
                    highest,
                    value,
                });
                self.record(from, &write, WriteVerdict::Accepted, cx);
            }
        }
        self.answer(from, &write, true, cx);
    }

    fn has_taken_effect(&self, op: OpId) -> bool {
        let mut writes = self.writes.iter();
        writes.any(|write| write.op == Some(op) && write.verdict.is_accepted())
    }

    /// The answer it had the first time, whatever the token. A newer token raises the gate all the same.
    fn repeat<R: Recorder>(
        &mut self,
        from: ProcessId,
        write: &WriteRequest,
        op: OpId,
        cx: &mut Cx<'_, R>,
    ) {
        let token = write.token;
        cx.fact(Rule::OperationTakesEffectOnce, || Event::WriteRepeated {
            from,
            token,
            op,
        });
        self.record(from, write, WriteVerdict::Repeated, cx);
        self.answer(from, write, true, cx);
    }

    fn refuse<R: Recorder>(&mut self, from: ProcessId, write: &WriteRequest, cx: &mut Cx<'_, R>) {
        let (token, highest, value) = (write.token, self.compared(write, cx), write.value.clone());
        let rule = if token < highest {
            Rule::FenceRefusesLower
        } else {
            Rule::FenceRefusesEqual
        };
        cx.fact(rule, || Event::WriteRefused {
            from,
            token,
            highest,
            value,
        });
        self.record(from, write, WriteVerdict::Refused { highest }, cx);
        self.answer(from, write, false, cx);
    }

    fn record<R: Recorder>(
        &mut self,
        from: ProcessId,
        write: &WriteRequest,
        verdict: WriteVerdict,
        cx: &mut Cx<'_, R>,
    ) {
        let raises = !matches!(verdict, WriteVerdict::Refused { .. });
        let WriteRequest {
            scope,
            token,
            op,
            value,
            ..
        } = write.clone();
        if raises {
            self.raise(scope, token);
        }
        let record = WriteRecord {
            at: cx.now,
            from,
            scope,
            token,
            op,
            value,
            verdict,
        };
        self.writes.push(record.clone());
        // The gate must live with the data: what forgets it lets a sleeper in again.
        let raises = raises && cx.is_on(Switch::DurableFence);
        let durable = StoreWrite { record, raises };
        cx.effects.push(Effect::Persist(DiskWrite::Store(durable)));
        cx.effects.push(Effect::AwaitSync);
    }

    fn answer<R: Recorder>(
        &self,
        to: ProcessId,
        write: &WriteRequest,
        accepted: bool,
        cx: &mut Cx<'_, R>,
    ) {
        let answer = WriteAnswer {
            store: cx.me,
            request: write.request,
            accepted,
        };
        cx.send(to, Message::WriteAnswer(answer));
    }
}
