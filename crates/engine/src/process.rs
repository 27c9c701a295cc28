//! What every kind of process has in common: what it is stepped with, and what it may ask for.
//!
//! A process is a clerk at a desk: papers come in, it stamps and hands out papers, and somebody else
//! carries them. `step` cannot fail and does nothing itself; the world carries out its effects.

use std::sync::Arc;

use crate::client::Client;
use crate::draw::{Purpose, draw};
use crate::event::{Event, Fact, MessageKind, TimerKind};
use crate::raft::{self, Entry, Server, Snapshot};
use crate::rule::Rule;
use crate::service::{Answer, Ask, AskWhat, ReadHow};
use crate::setup::Setup;
use crate::store::{Store, StoreWrite, WriteAnswer, WriteRequest};
use crate::switch::{Switch, Switches};
use crate::units::{
    Duration, LocalTime, LogIndex, ProcessId, ProcessSet, RequestId, Term, Token, WallTime,
};
use crate::worker::Worker;
use crate::writer::Job;

/// Where facts go. Chosen at compile time, so that explanation costs nothing where it is not wanted.
pub trait Recorder {
    const ON: bool;
    fn fact(&mut self, rule: Rule, event: impl FnOnce() -> Event);
}

/// Records nothing.
#[derive(Debug)]
pub struct Silent;

impl Recorder for Silent {
    const ON: bool = false;
    fn fact(&mut self, _: Rule, _: impl FnOnce() -> Event) {}
}

impl Recorder for Vec<Fact> {
    const ON: bool = true;
    fn fact(&mut self, rule: Rule, event: impl FnOnce() -> Event) {
        self.push(Fact {
            rule,
            event: event(),
        });
    }
}

/// A message's content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    Raft(raft::Message),
    /// To a server of the service.
    Ask(Ask),
    /// From a server of the service.
    Answer(Answer, AnswerTo),
    Write(WriteRequest),
    WriteAnswer(WriteAnswer),
}

/// What an answer answers, for its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerTo {
    Acquire,
    Renew,
    Release,
    Put,
    Get,
    Register,
}

impl Message {
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::Raft(message) => message.kind(),
            Self::Ask(ask) => match ask.what {
                AskWhat::Acquire { .. } => MessageKind::Acquire,
                AskWhat::Renew { .. } => MessageKind::Renew,
                AskWhat::Release { .. } => MessageKind::Release,
                AskWhat::Put { .. } => MessageKind::Put,
                AskWhat::Get { .. } => MessageKind::Get,
                AskWhat::Register => MessageKind::Register,
            },
            Self::Answer(_, to) => match to {
                AnswerTo::Acquire => MessageKind::AcquireAnswer,
                AnswerTo::Renew => MessageKind::RenewAnswer,
                AnswerTo::Release => MessageKind::ReleaseAnswer,
                AnswerTo::Put => MessageKind::PutAnswer,
                AnswerTo::Get => MessageKind::GetAnswer,
                AnswerTo::Register => MessageKind::RegisterAnswer,
            },
            Self::Write(_) => MessageKind::Write,
            Self::WriteAnswer(_) => MessageKind::WriteAnswer,
        }
    }
}

/// What becomes durable when a sync ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiskWrite {
    TermVote {
        term: Term,
        voted_for: Option<ProcessId>,
    },
    /// The log is cut to `keep` entries and these are added.
    Entries {
        keep: LogIndex,
        entries: Vec<Entry>,
    },
    /// The log is dropped up to the snapshot, which takes its place; what follows stays where it fits.
    Snapshot(Arc<Snapshot>),
    Store(StoreWrite),
}

/// What a process asks of the world inside a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    Send {
        to: ProcessId,
        message: Message,
    },
    SetTimer {
        timer: TimerKind,
        at: LocalTime,
    },
    CancelTimer {
        timer: TimerKind,
    },
    Persist(DiskWrite),
    /// What is sent after this in the same step waits until everything written so far is durable.
    AwaitSync,
}

/// What a process is stepped with.
#[derive(Clone, Debug)]
pub enum Input {
    Message {
        from: ProcessId,
        message: Message,
    },
    Timer(TimerKind),
    /// So many writes have become durable: the oldest that it has handed over and not heard of since.
    Synced {
        writes: u32,
    },
    Write(Job),
    Put {
        key: Arc<str>,
        value: Arc<str>,
    },
    Get {
        key: Arc<str>,
        how: ReadHow,
        /// Whom to ask; none for whoever leads.
        server: Option<ProcessId>,
    },
    Acquire {
        resource: crate::units::ResourceId,
    },
    Release,
    /// By an operator, to the service's leader.
    Raise {
        resource: crate::units::ResourceId,
        to: Token,
    },
    Campaign,
    /// Hand over to this server, another voter.
    Transfer {
        to: ProcessId,
    },
    /// A server takes a snapshot and drops what it stands for.
    Compact,
    /// A leader proposes another configuration.
    Change {
        config: raft::Config,
    },
}

/// A moment on both of a process's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    pub monotonic: LocalTime,
    pub wall: WallTime,
}

impl Moment {
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self {
            monotonic: self.monotonic.plus(span),
            wall: self.wall.plus(span),
        }
    }
}

/// What a process sees of the world in a step, and where its effects and facts go.
#[derive(Debug)]
pub struct Cx<'a, R> {
    pub me: ProcessId,
    pub now: LocalTime,
    pub wall: WallTime,
    pub switches: Switches,
    pub setup: &'a Setup,
    pub servers: ProcessSet,
    pub stores: ProcessSet,
    /// How many random draws and request numbers it has used; both outlive a crash, so that neither repeats.
    pub counters: &'a mut Counters,
    pub effects: &'a mut Vec<Effect>,
    pub recorder: &'a mut R,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    pub draws: u64,
    pub requests: u64,
}

impl<R: Recorder> Cx<'_, R> {
    pub fn fact(&mut self, rule: Rule, event: impl FnOnce() -> Event) {
        self.recorder.fact(rule, event);
    }

    #[must_use]
    pub const fn is_on(&self, switch: Switch) -> bool {
        self.switches.is_on(switch)
    }

    #[must_use]
    pub const fn moment(&self) -> Moment {
        Moment {
            monotonic: self.now,
            wall: self.wall,
        }
    }

    /// How long it is until then, on the clock that leases are measured on; zero if that is past.
    #[must_use]
    pub const fn left_until(&self, moment: Moment) -> Duration {
        if self.is_on(Switch::MonotonicDeadline) {
            return moment.monotonic.since(self.now);
        }
        let left = moment.wall.0.saturating_sub(self.wall.0);
        if left < 0 {
            Duration::ZERO
        } else {
            Duration(left.unsigned_abs())
        }
    }

    #[must_use]
    pub const fn is_past(&self, moment: Moment) -> bool {
        self.left_until(moment).0 == 0
    }

    /// How much of a span it may count on its own clock before another clock has counted all of it.
    #[must_use]
    pub const fn within_drift(&self, span: Duration) -> Duration {
        let drift = self.setup.drift_ppm as u64;
        if drift == 0 || !self.is_on(Switch::DriftBound) {
            return span;
        }
        // A span is at most 2^40, so that this stays below 2^60.
        Duration(span.0 * 1_000_000 / (1_000_000 + drift))
    }

    pub fn send(&mut self, to: ProcessId, message: Message) {
        self.effects.push(Effect::Send { to, message });
    }

    pub fn set_timer(&mut self, timer: TimerKind, span: Duration) {
        self.effects.push(Effect::SetTimer {
            timer,
            at: self.now.plus(span),
        });
    }

    pub fn set_timer_at(&mut self, timer: TimerKind, at: LocalTime) {
        self.effects.push(Effect::SetTimer { timer, at });
    }

    pub fn cancel_timer(&mut self, timer: TimerKind) {
        self.effects.push(Effect::CancelTimer { timer });
    }

    pub fn next_request(&mut self) -> RequestId {
        self.counters.requests += 1;
        RequestId(self.counters.requests)
    }

    pub fn draw(&mut self, purpose: Purpose) -> u64 {
        self.counters.draws += 1;
        draw(
            self.setup.seed,
            purpose,
            u32::from(self.me.0),
            self.counters.draws,
        )
    }
}

/// A process of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(
    clippy::large_enum_variant,
    reason = "few processes, most of them servers; in wasm the difference is small"
)]
pub enum Process {
    Server(Server),
    Worker(Worker),
    Client(Client),
    Store(Store),
}

impl Process {
    pub fn step<R: Recorder>(&mut self, input: Input, cx: &mut Cx<'_, R>) {
        match self {
            Self::Server(server) => server.step(input, cx),
            Self::Worker(worker) => worker.step(input, cx),
            Self::Client(client) => client.step(input, cx),
            Self::Store(store) => store.step(input, cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::Position;

    #[test]
    fn a_span_within_the_drift_ends_before_any_other_clock_has_counted_it() {
        let check = |drift_ppm, on: bool, span| {
            let setup = Setup {
                drift_ppm,
                ..Setup::default()
            };
            let mut switches = Switches::default();
            if !on {
                switches.set(Switch::DriftBound, Position::Off);
            }
            let cx = Cx {
                me: ProcessId(0),
                now: LocalTime(0),
                wall: WallTime(0),
                switches,
                setup: &setup,
                servers: ProcessSet::default(),
                stores: ProcessSet::default(),
                counters: &mut Counters::default(),
                effects: &mut Vec::new(),
                recorder: &mut Silent,
            };
            cx.within_drift(Duration(span)).0
        };
        assert_eq!(check(0, true, 5_000_001), 5_000_001);
        assert_eq!(check(250_000, true, 5_000_000), 4_000_000);
        assert_eq!(check(250_000, false, 5_000_000), 5_000_000);
        assert_eq!(check(100_000, true, 1), 0, "rounded to the safe side");
        let longest = Duration::LONGEST.0;
        assert_eq!(check(1_000_000, true, longest), longest / 2);
    }
}
