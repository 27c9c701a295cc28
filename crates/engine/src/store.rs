//! The protected resource: it accepts and refuses writes, and remembers the highest token it has seen.
//!
//! A ticket inspector who knows only the number on the latest ticket, and needs no clock. With the
//! fence off it only watches; where check and write are two steps, something may slip between.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Event, TimerKind};
use crate::process::{Cx, DiskWrite, Effect, Input, Message, Recorder};
use crate::rule::Rule;
use crate::switch::{Position, Switch};
use crate::units::{LocalTime, ProcessId, RequestId, Token};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteRequest {
    pub request: RequestId,
    pub token: Token,
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
}

impl WriteVerdict {
    #[must_use]
    pub const fn is_accepted(self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteRecord {
    pub at: LocalTime,
    pub from: ProcessId,
    pub token: Token,
    pub value: Arc<str>,
    pub verdict: WriteVerdict,
}

/// What becomes durable of a write: the token seen, and the write itself if accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreWrite {
    highest: Token,
    record: WriteRecord,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    highest: Token,
    writes: Vec<WriteRecord>,
    /// Checked, and not yet written (`fence_atomic` off).
    checked: VecDeque<(ProcessId, WriteRequest)>,
}

impl Store {
    /// The highest token it has seen on a write that it did not refuse; 0 for none.
    #[must_use]
    pub const fn highest(&self) -> Token {
        self.highest
    }

    /// All writes that came, in order, refused ones included.
    #[must_use]
    pub fn writes(&self) -> &[WriteRecord] {
        &self.writes
    }

    pub(crate) fn write_durably(&mut self, write: &StoreWrite) {
        self.highest = self.highest.max(write.highest);
        self.writes.push(write.record.clone());
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
        let (token, highest) = (write.token, self.highest);
        if cx.switches.get(Switch::Fence) == Position::On && token < highest {
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
        let (token, highest, value) = (write.token, self.highest, write.value.clone());
        let stale = check && token < highest;
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

    fn refuse<R: Recorder>(&mut self, from: ProcessId, write: &WriteRequest, cx: &mut Cx<'_, R>) {
        let (token, highest, value) = (write.token, self.highest, write.value.clone());
        cx.fact(Rule::FenceRefusesLower, || Event::WriteRefused {
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
        if verdict.is_accepted() {
            self.highest = self.highest.max(write.token);
        }
        let WriteRequest { token, value, .. } = write.clone();
        let record = WriteRecord {
            at: cx.now,
            from,
            token,
            value,
            verdict,
        };
        self.writes.push(record.clone());
        let durable = StoreWrite {
            highest: self.highest,
            record,
        };
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
