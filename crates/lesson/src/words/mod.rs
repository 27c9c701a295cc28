//! The engine's keys as English sentences: every event, rule, reason, switch and error.
//!
//! The subtitles. The engine speaks in keys and numbers; here they become one plain sentence each,
//! so that the page, the traces and the messages all say the same thing, and a translation has one
//! place to go. A new key does not compile until it has its sentence.

mod errors;
mod events;
mod rules;

use leasehold_engine::claim::Claim;
use leasehold_engine::event::{
    Event, MessageId, MessageKind, Outcome, Step, StepKind, TimerKind, Verdict,
};
use leasehold_engine::setup::Names;
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{Duration, ProcessId, SimTime, SpanText};

pub use errors::{
    Trouble, claim_error, claim_error_name, command_error, command_error_name, failure,
    parse_error, setup_error, setup_error_field, span_error,
};
pub use events::{event, reason};
pub use rules::{invariant, rule, switch};

/// A span as it is written in prose: `5 s`, `1.6 s`, `300 ms`.
#[must_use]
pub fn span(span: Duration) -> String {
    let text = SpanText(span).to_string();
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (figure, unit) = text.split_at_checked(unit).unwrap_or_default();
    format!("{figure} {unit}")
}

/// A moment of the run in seconds to a tenth: `6.2 s`.
#[must_use]
pub fn time(at: SimTime) -> String {
    tenths(Duration(at.0))
}

/// A span in seconds to a tenth, rounded down: `9.2 s`.
#[must_use]
pub fn tenths(span: Duration) -> String {
    format!("{}.{} s", span.0 / 1_000_000, span.0 / 100_000 % 10)
}

/// A moment in seconds with three decimals, as traces show it: `6.204`.
#[must_use]
pub fn millis(at: SimTime) -> String {
    format!("{}.{:03}", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}

/// At most 40 characters of a text, so that a message stays one line.
#[must_use]
pub fn shorten(text: &str) -> String {
    shorten_to(text, 40)
}

fn shorten_to(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    if short.len() == text.len() {
        short
    } else {
        format!("{short}…")
    }
}

/// A step in one line: time in seconds, number, whose, what, then its facts with their rules and
/// sources.
///
/// `6.204 #312 A: time to renew | A asks s2 to renew orders. [renew-early: seed: renew well before
/// …]`
///
/// Facts that follow from one rule share its bracket.
#[must_use]
pub fn trace_line(step: &Step, names: &Names) -> String {
    let who = step.process.map_or("world", |id| names.name(id));
    let mut line = format!("{:>9} #{} {who}: ", millis(step.at), step.number);
    match &step.kind {
        StepKind::Delivery { message, kind } => {
            line.push_str(&format!(
                "{} {} arrives",
                message_kind(*kind),
                message_name(*message, names)
            ));
        }
        StepKind::Timer { timer } => line.push_str(timer_kind(*timer)),
        StepKind::Synced => line.push_str("the disk has written"),
        StepKind::Command { command } => line.push_str(&command.to_string()),
    }
    for facts in step.facts.chunk_by(|one, next| one.rule == next.rule) {
        line.push_str(" |");
        for fact in facts {
            line.push(' ');
            line.push_str(&event(&fact.event, step.process, names));
        }
        let rule = facts[0].rule;
        // A broken invariant stands for itself: its own source says more than "it is watched".
        let source = if let Event::InvariantBroken { invariant, .. } = &facts[0].event {
            invariant.source()
        } else {
            rule.source()
        };
        line.push_str(&format!(" [{}: {source}]", rule.key()));
    }
    line
}

/// What the scheduler did in a step, as a sentence; a command stays a command.
#[must_use]
pub fn step_kind(kind: &StepKind, process: Option<ProcessId>, names: &Names) -> String {
    let who = process.map_or("the world", |id| names.name(id));
    match kind {
        StepKind::Delivery { message, kind } => {
            format!(
                "{} {} arrives at {who}.",
                message_kind(*kind),
                message_name(*message, names)
            )
        }
        StepKind::Timer { timer } => format!("{who}: {}.", timer_kind(*timer)),
        StepKind::Synced => format!("{who}'s disk has written."),
        StepKind::Command { command } => format!("{command}"),
    }
}

/// `s1>s2#17`
#[must_use]
pub fn message_name(message: MessageId, names: &Names) -> String {
    format!(
        "{}>{}#{}",
        names.name(message.from),
        names.name(message.to),
        message.number
    )
}

#[must_use]
pub const fn message_kind(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::RequestVote => "vote request",
        MessageKind::Vote => "vote",
        MessageKind::PreVote => "pre-vote request",
        MessageKind::PreVoteAnswer => "pre-vote answer",
        MessageKind::TimeoutNow => "order to stand",
        MessageKind::Heartbeat => "heartbeat",
        MessageKind::Append => "append",
        MessageKind::AppendAnswer => "append answer",
        MessageKind::Snapshot => "snapshot",
        MessageKind::Acquire => "lease request",
        MessageKind::AcquireAnswer => "lease answer",
        MessageKind::Renew => "renewal",
        MessageKind::RenewAnswer => "renewal answer",
        MessageKind::Release => "release",
        MessageKind::ReleaseAnswer => "release answer",
        MessageKind::Put => "put",
        MessageKind::PutAnswer => "put answer",
        MessageKind::Get => "get",
        MessageKind::GetAnswer => "get answer",
        MessageKind::Register => "session request",
        MessageKind::RegisterAnswer => "session answer",
        MessageKind::ReadIndex => "read index request",
        MessageKind::ReadIndexAnswer => "read index",
        MessageKind::Write => "write",
        MessageKind::WriteAnswer => "write answer",
    }
}

/// What has fallen due.
#[must_use]
pub const fn timer_kind(timer: TimerKind) -> &'static str {
    match timer {
        TimerKind::Election => "no leader heard for an election timeout",
        TimerKind::Heartbeat => "time for a heartbeat",
        TimerKind::Quorum => "time to see who has answered",
        TimerKind::Transfer => "a handover has taken an election timeout",
        TimerKind::Expiry => "a lease's time is over",
        TimerKind::Ask => "time to ask for the lease",
        TimerKind::Renew => "time to renew",
        TimerKind::RenewTimeout => "a renewal is unanswered",
        TimerKind::ReleaseTimeout => "a release is unanswered",
        TimerKind::Deadline => "its own deadline",
        TimerKind::Work => "the work between check and send is done",
        TimerKind::WriteTimeout => "a write is unanswered",
        TimerKind::ClientTimeout => "a request is unanswered",
        TimerKind::StoreWrite => "the store writes what it has checked",
    }
}

/// What a process said of its own authority.
#[must_use]
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Mine => "mine",
        Verdict::Doubt => "in doubt",
        Verdict::NotMine => "not mine",
    }
}

#[must_use]
pub const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "accepted",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown: no answer came",
    }
}

/// `fence enforce`, as commands spell it.
#[must_use]
pub fn position(switch: Switch, position: Position) -> String {
    format!("{} {}", switch.name(), switch.word(position))
}

/// A lesson's change as a heading: `fence enforce`, `jeopardy off at A`.
#[must_use]
pub fn change(change: &crate::lesson::Change) -> String {
    let at = change
        .at
        .as_ref()
        .map_or_else(String::new, |name| format!(" at {name}"));
    format!("{}{at}", position(change.switch, change.position))
}

/// A claim in quotes, for messages.
#[must_use]
pub fn claim(claim: &Claim) -> String {
    format!("`{claim}`")
}
