//! The one language of conditions: over state ("A holds orders") and over events ("orders refuses A").
//!
//! What a witness could be asked: what is so, and what has happened. Lessons assert it, predictions and
//! goals are judged by it, `run until` waits for it. A state claim is about the moment of asking; an
//! event claim is about the steps that a [`Watch`] was shown. "keeps" and "breaks" are about the whole run.

use std::fmt;
use std::str::FromStr;

use crate::event::{Event, Outcome, Step, Verdict};
use crate::monitor::Invariant;
use crate::process::Process;
use crate::raft::Server;
use crate::setup::{Kind, Names};
use crate::store::Store;
use crate::text::{Expected, ParseError, Quoted, Words, serde_as_text};
use crate::truth::Truth;
use crate::units::{Duration, ProcessId, ResourceId, SimTime, SpanText, Term, Token};
use crate::worker::Worker;
use crate::world::{Status, World};

/// One or more conditions, joined by `and`; all must hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    State(State),
    Event(EventClaim),
}

/// A condition on the world as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// `A holds orders`, `A holds orders with token 1`, `A does not hold orders`
    Holds {
        worker: String,
        resource: String,
        token: Option<u64>,
        positive: bool,
    },
    /// `nobody holds orders`
    NobodyHolds { resource: String },
    /// `A believes it holds orders`, `A does not believe it holds orders`
    BelievesHolds {
        worker: String,
        resource: String,
        positive: bool,
    },
    /// `A doubts it holds orders`
    DoubtsHolds { worker: String, resource: String },
    /// `B waits for orders`
    WaitsFor { worker: String, resource: String },
    /// `s1 leads`, `s1 leads term 4`, `s1 does not lead`
    Leads {
        server: String,
        term: Option<u64>,
        positive: bool,
    },
    /// `some server leads`, `nobody leads`
    SomeoneLeads { positive: bool },
    /// `s1 believes it leads`, `s1 does not believe it leads`
    BelievesLeads { server: String, positive: bool },
    /// `s1 is in term 4`
    InTerm { server: String, term: u64 },
    /// `A is asleep`, `A is awake`, `A is crashed`
    Is {
        process: String,
        condition: Condition,
    },
    /// `s1 has x = "5"`, `s1 has no x`: applied there.
    HasKey {
        server: String,
        key: String,
        value: Option<String>,
    },
    /// `orders has seen token 2`
    HasSeen { store: String, token: u64 },
    /// `keeps no-older-token`, `breaks no-older-token`
    Invariant { invariant: Invariant, kept: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    Asleep,
    Awake,
    Crashed,
}

/// A condition on what happened: some event matches, or with `positive` false, none does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventClaim {
    pub what: What,
    pub positive: bool,
    /// `from 6s to 9s`: in true time of the run, both ends included.
    pub window: Option<(Duration, Duration)>,
    /// `while B holds orders`: at the end of the step of the event.
    pub meanwhile: Option<Box<State>>,
}

/// The events a claim can speak of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// `orders accepts A`, `orders accepts A with token 1 "charge 7"`
    Accepts {
        store: String,
        from: String,
        token: Option<u64>,
        value: Option<String>,
    },
    Refuses {
        store: String,
        from: String,
        token: Option<u64>,
        value: Option<String>,
    },
    /// `A sends to orders`, `A sends nothing to orders`
    Sends { from: String, store: String },
    /// `A checks`: looks at its authority for a write.
    Checks { process: String },
    /// `A withholds`: a check said no, the write stays.
    Withholds { process: String },
    /// `A is granted orders`, `A is granted orders with token 2`
    Granted {
        worker: String,
        resource: String,
        token: Option<u64>,
    },
    /// `A renews orders`: the answer reached it.
    Renews { worker: String, resource: String },
    /// `A learns it lost orders`: its own deadline passed or the service told it.
    LearnsLost { worker: String, resource: String },
    /// `orders expires`: by the service's log.
    Expires { resource: String },
    /// `s2 stands`: starts an election.
    Stands { server: String },
    /// `s2 becomes leader`
    BecomesLeader { server: String },
    /// `s1 steps down`
    StepsDown { server: String },
    /// `s2 refuses s1`: an append of an older term, or one that does not fit.
    RefusesAppend { server: String, leader: String },
    /// `s2 denies s3`: its vote.
    DeniesVote { server: String, candidate: String },
    /// `s1 applies x = "5"`
    Applies {
        server: String,
        key: String,
        value: String,
    },
    /// `c1 reads x = "5"`, `c1 reads no x`; `stale` behind it wants the mark too.
    Reads {
        client: String,
        key: String,
        value: Option<String>,
        stale: bool,
    },
    /// `c1 is told accepted`, also `refused`, `unknown`
    Told { client: String, outcome: Outcome },
}

/// Why a claim cannot be asked of this world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimError {
    UnknownProcess {
        name: String,
        known: String,
    },
    UnknownResource {
        name: String,
        known: String,
    },
    WrongKind {
        name: String,
        is: Kind,
        wanted: &'static str,
    },
}

// ---------------------------------------------------------------------------------------------
// Text

fn with_token(f: &mut fmt::Formatter<'_>, token: Option<u64>) -> fmt::Result {
    token.map_or(Ok(()), |n| write!(f, " with token {n}"))
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                f.write_str(" and ")?;
            }
            match part {
                Part::State(state) => state.fmt(f)?,
                Part::Event(event) => event.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds {
                worker,
                resource,
                token,
                positive: true,
            } => {
                write!(f, "{worker} holds {resource}")?;
                with_token(f, *token)
            }
            Self::Holds {
                worker,
                resource,
                token,
                positive: false,
            } => {
                write!(f, "{worker} does not hold {resource}")?;
                with_token(f, *token)
            }
            Self::NobodyHolds { resource } => write!(f, "nobody holds {resource}"),
            Self::BelievesHolds {
                worker,
                resource,
                positive: true,
            } => {
                write!(f, "{worker} believes it holds {resource}")
            }
            Self::BelievesHolds {
                worker,
                resource,
                positive: false,
            } => {
                write!(f, "{worker} does not believe it holds {resource}")
            }
            Self::DoubtsHolds { worker, resource } => {
                write!(f, "{worker} doubts it holds {resource}")
            }
            Self::WaitsFor { worker, resource } => write!(f, "{worker} waits for {resource}"),
            Self::Leads {
                server,
                term,
                positive,
            } => {
                write!(
                    f,
                    "{server} {}",
                    if *positive { "leads" } else { "does not lead" }
                )?;
                term.map_or(Ok(()), |t| write!(f, " term {t}"))
            }
            Self::SomeoneLeads { positive: true } => f.write_str("some server leads"),
            Self::SomeoneLeads { positive: false } => f.write_str("nobody leads"),
            Self::BelievesLeads {
                server,
                positive: true,
            } => write!(f, "{server} believes it leads"),
            Self::BelievesLeads {
                server,
                positive: false,
            } => {
                write!(f, "{server} does not believe it leads")
            }
            Self::InTerm { server, term } => write!(f, "{server} is in term {term}"),
            Self::Is { process, condition } => {
                let word = match condition {
                    Condition::Asleep => "asleep",
                    Condition::Awake => "awake",
                    Condition::Crashed => "crashed",
                };
                write!(f, "{process} is {word}")
            }
            Self::HasKey {
                server,
                key,
                value: Some(value),
            } => {
                write!(f, "{server} has {key} = {}", Quoted(value))
            }
            Self::HasKey {
                server,
                key,
                value: None,
            } => write!(f, "{server} has no {key}"),
            Self::HasSeen { store, token } => write!(f, "{store} has seen token {token}"),
            Self::Invariant {
                invariant,
                kept: true,
            } => write!(f, "keeps {invariant}"),
            Self::Invariant {
                invariant,
                kept: false,
            } => write!(f, "breaks {invariant}"),
        }
    }
}

impl fmt::Display for EventClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |yes: &str, base: &str| {
            if self.positive {
                yes.to_owned()
            } else {
                format!("does not {base}")
            }
        };
        let is = if self.positive { "is" } else { "is not" };
        match &self.what {
            What::Accepts {
                store,
                from,
                token,
                value,
            } => {
                write!(f, "{store} {} {from}", verb("accepts", "accept"))?;
                with_token(f, *token)?;
                value
                    .as_ref()
                    .map_or(Ok(()), |v| write!(f, " {}", Quoted(v)))?;
            }
            What::Refuses {
                store,
                from,
                token,
                value,
            } => {
                write!(f, "{store} {} {from}", verb("refuses", "refuse"))?;
                with_token(f, *token)?;
                value
                    .as_ref()
                    .map_or(Ok(()), |v| write!(f, " {}", Quoted(v)))?;
            }
            What::Sends { from, store } => {
                write!(
                    f,
                    "{from} sends {}to {store}",
                    if self.positive { "" } else { "nothing " }
                )?;
            }
            What::Checks { process } => write!(f, "{process} {}", verb("checks", "check"))?,
            What::Withholds { process } => {
                write!(f, "{process} {}", verb("withholds", "withhold"))?
            }
            What::Granted {
                worker,
                resource,
                token,
            } => {
                write!(f, "{worker} {is} granted {resource}")?;
                with_token(f, *token)?;
            }
            What::Renews { worker, resource } => {
                write!(f, "{worker} {} {resource}", verb("renews", "renew"))?;
            }
            What::LearnsLost { worker, resource } => {
                write!(f, "{worker} {} it lost {resource}", verb("learns", "learn"))?;
            }
            What::Expires { resource } => write!(f, "{resource} {}", verb("expires", "expire"))?,
            What::Stands { server } => write!(f, "{server} {}", verb("stands", "stand"))?,
            What::BecomesLeader { server } => {
                write!(f, "{server} {} leader", verb("becomes", "become"))?;
            }
            What::StepsDown { server } => write!(f, "{server} {} down", verb("steps", "step"))?,
            What::RefusesAppend { server, leader } => {
                write!(f, "{server} {} {leader}", verb("rejects", "reject"))?;
            }
            What::DeniesVote { server, candidate } => {
                write!(f, "{server} {} {candidate}", verb("denies", "deny"))?;
            }
            What::Applies { server, key, value } => {
                write!(
                    f,
                    "{server} {} {key} = {}",
                    verb("applies", "apply"),
                    Quoted(value)
                )?;
            }
            What::Reads {
                client,
                key,
                value,
                stale,
            } => {
                let verb = verb("reads", "read");
                match value {
                    Some(value) => write!(f, "{client} {verb} {key} = {}", Quoted(value))?,
                    None => write!(f, "{client} {verb} no {key}")?,
                }
                f.write_str(if *stale { " stale" } else { "" })?;
            }
            What::Told { client, outcome } => {
                write!(f, "{client} {is} told {}", word_of(*outcome))?
            }
        }
        if let Some((low, high)) = self.window {
            write!(f, " from {} to {}", SpanText(low), SpanText(high))?;
        }
        self.meanwhile
            .as_ref()
            .map_or(Ok(()), |state| write!(f, " while {state}"))
    }
}

const fn word_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "accepted",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown",
    }
}

impl FromStr for Claim {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let mut words = Words::of(line)?;
        let mut parts = vec![read_part(&mut words)?];
        while words.take("and") {
            parts.push(read_part(&mut words)?);
        }
        words.end()?;
        Ok(Self { parts })
    }
}

serde_as_text!(Claim);

fn read_part(words: &mut Words<'_>) -> Result<Part, ParseError> {
    let part = read_bare(words)?;
    let Part::Event(mut event) = part else {
        return Ok(part);
    };
    if words.take("from") {
        let low = words.span()?;
        words.word("to")?;
        event.window = Some((low, words.span()?));
    }
    if words.take("while") {
        match read_bare(words)? {
            Part::State(state) => event.meanwhile = Some(Box::new(state)),
            Part::Event(_) => return Err(words.error_before(Expected::Word("a state"))),
        }
    }
    Ok(Part::Event(event))
}

fn token(words: &mut Words<'_>) -> Result<Option<u64>, ParseError> {
    if words.take_all(&["with", "token"]) {
        Ok(Some(words.number()?))
    } else {
        Ok(None)
    }
}

fn read_bare(words: &mut Words<'_>) -> Result<Part, ParseError> {
    if words.take("keeps") {
        return Ok(Part::State(State::Invariant {
            invariant: invariant(words)?,
            kept: true,
        }));
    }
    if words.take("breaks") {
        return Ok(Part::State(State::Invariant {
            invariant: invariant(words)?,
            kept: false,
        }));
    }
    if words.take("nobody") {
        if words.take("leads") {
            return Ok(Part::State(State::SomeoneLeads { positive: false }));
        }
        words.word("holds")?;
        return Ok(Part::State(State::NobodyHolds {
            resource: words.name()?,
        }));
    }
    if words.take("some") {
        words.word("server")?;
        words.word("leads")?;
        return Ok(Part::State(State::SomeoneLeads { positive: true }));
    }
    if words.is_done() {
        return Err(words.error(Expected::Claim));
    }
    let subject = words.name()?;
    if words.take("is") {
        return read_is(words, subject);
    }
    if words.take("has") {
        return read_has(words, subject);
    }
    read_verb(words, subject)
}

fn invariant(words: &mut Words<'_>) -> Result<Invariant, ParseError> {
    let text = words.next(Expected::Invariant)?;
    text.parse()
        .map_err(|()| words.error_before(Expected::Invariant))
}

const fn event(what: What, positive: bool) -> Part {
    Part::Event(EventClaim {
        what,
        positive,
        window: None,
        meanwhile: None,
    })
}

fn read_is(words: &mut Words<'_>, subject: String) -> Result<Part, ParseError> {
    if words.take_all(&["in", "term"]) {
        return Ok(Part::State(State::InTerm {
            server: subject,
            term: words.number()?,
        }));
    }
    for (word, condition) in [
        ("asleep", Condition::Asleep),
        ("awake", Condition::Awake),
        ("crashed", Condition::Crashed),
    ] {
        if words.take(word) {
            return Ok(Part::State(State::Is {
                process: subject,
                condition,
            }));
        }
    }
    let positive = !words.take("not");
    if words.take("granted") {
        let resource = words.name()?;
        let token = token(words)?;
        return Ok(event(
            What::Granted {
                worker: subject,
                resource,
                token,
            },
            positive,
        ));
    }
    if words.take("told") {
        for outcome in [Outcome::Accepted, Outcome::Refused, Outcome::Unknown] {
            if words.take(word_of(outcome)) {
                return Ok(event(
                    What::Told {
                        client: subject,
                        outcome,
                    },
                    positive,
                ));
            }
        }
        return Err(words.error(Expected::OneOf("accepted, refused, unknown")));
    }
    Err(words.error(Expected::OneOf(
        "asleep, awake, crashed, in term, granted, told",
    )))
}

fn read_has(words: &mut Words<'_>, subject: String) -> Result<Part, ParseError> {
    if words.take("seen") {
        words.word("token")?;
        return Ok(Part::State(State::HasSeen {
            store: subject,
            token: words.number()?,
        }));
    }
    if words.take("no") {
        return Ok(Part::State(State::HasKey {
            server: subject,
            key: words.name()?,
            value: None,
        }));
    }
    let key = words.name()?;
    words.word("=")?;
    let value = Some(words.quoted()?);
    Ok(Part::State(State::HasKey {
        server: subject,
        key,
        value,
    }))
}

/// The verbs that read `A does not VERB` when negated: third person, base form.
const VERBS: &[(&str, &str)] = &[
    ("holds", "hold"),
    ("leads", "lead"),
    ("believes", "believe"),
    ("accepts", "accept"),
    ("refuses", "refuse"),
    ("checks", "check"),
    ("withholds", "withhold"),
    ("renews", "renew"),
    ("learns", "learn"),
    ("expires", "expire"),
    ("stands", "stand"),
    ("becomes", "become"),
    ("steps", "step"),
    ("rejects", "reject"),
    ("denies", "deny"),
    ("applies", "apply"),
    ("reads", "read"),
];
const VERB_LIST: &str = "holds, believes, doubts, waits, leads, accepts, refuses, sends, checks, withholds, \
    renews, learns, expires, stands, becomes, steps, rejects, denies, applies, reads, is, has, does not …";

fn read_verb(words: &mut Words<'_>, subject: String) -> Result<Part, ParseError> {
    let negative = words.take_all(&["does", "not"]);
    let word = words.next(Expected::OneOf(VERB_LIST))?;
    let verb = if negative {
        VERBS
            .iter()
            .find(|(_, base)| *base == word)
            .map(|(third, _)| *third)
    } else {
        Some(word)
    };
    let positive = !negative;
    Ok(match verb {
        Some("holds") => {
            let resource = words.name()?;
            let token = token(words)?;
            Part::State(State::Holds {
                worker: subject,
                resource,
                token,
                positive,
            })
        }
        Some("believes") => {
            words.word("it")?;
            if words.take("leads") {
                Part::State(State::BelievesLeads {
                    server: subject,
                    positive,
                })
            } else {
                words.word("holds")?;
                let resource = words.name()?;
                Part::State(State::BelievesHolds {
                    worker: subject,
                    resource,
                    positive,
                })
            }
        }
        Some("doubts") => {
            words.word("it")?;
            words.word("holds")?;
            Part::State(State::DoubtsHolds {
                worker: subject,
                resource: words.name()?,
            })
        }
        Some("waits") => {
            words.word("for")?;
            Part::State(State::WaitsFor {
                worker: subject,
                resource: words.name()?,
            })
        }
        Some("leads") => {
            let term = if words.take("term") {
                Some(words.number()?)
            } else {
                None
            };
            Part::State(State::Leads {
                server: subject,
                term,
                positive,
            })
        }
        Some(verb @ ("accepts" | "refuses")) => {
            let from = words.name()?;
            let token = token(words)?;
            let value = if words.is_quoted() {
                Some(words.quoted()?)
            } else {
                None
            };
            let what = if verb == "accepts" {
                What::Accepts {
                    store: subject,
                    from,
                    token,
                    value,
                }
            } else {
                What::Refuses {
                    store: subject,
                    from,
                    token,
                    value,
                }
            };
            event(what, positive)
        }
        Some("sends") => {
            let positive = !words.take("nothing");
            words.word("to")?;
            event(
                What::Sends {
                    from: subject,
                    store: words.name()?,
                },
                positive,
            )
        }
        Some("checks") => event(What::Checks { process: subject }, positive),
        Some("withholds") => event(What::Withholds { process: subject }, positive),
        Some("renews") => event(
            What::Renews {
                worker: subject,
                resource: words.name()?,
            },
            positive,
        ),
        Some("learns") => {
            words.word("it")?;
            words.word("lost")?;
            event(
                What::LearnsLost {
                    worker: subject,
                    resource: words.name()?,
                },
                positive,
            )
        }
        Some("expires") => event(What::Expires { resource: subject }, positive),
        Some("stands") => event(What::Stands { server: subject }, positive),
        Some("becomes") => {
            words.word("leader")?;
            event(What::BecomesLeader { server: subject }, positive)
        }
        Some("steps") => {
            words.word("down")?;
            event(What::StepsDown { server: subject }, positive)
        }
        Some("rejects") => event(
            What::RefusesAppend {
                server: subject,
                leader: words.name()?,
            },
            positive,
        ),
        Some("denies") => event(
            What::DeniesVote {
                server: subject,
                candidate: words.name()?,
            },
            positive,
        ),
        Some("applies") => {
            let key = words.name()?;
            words.word("=")?;
            event(
                What::Applies {
                    server: subject,
                    key,
                    value: words.quoted()?,
                },
                positive,
            )
        }
        Some("reads") => {
            let none = words.take("no");
            let key = words.name()?;
            let value = if none {
                None
            } else {
                words.word("=")?;
                Some(words.quoted()?)
            };
            let stale = words.take("stale");
            let what = What::Reads {
                client: subject,
                key,
                value,
                stale,
            };
            event(what, positive)
        }
        _ => return Err(words.error_before(Expected::OneOf(VERB_LIST))),
    })
}

// ---------------------------------------------------------------------------------------------
// Meaning

impl Claim {
    /// Checks that every name in it exists and is of the right kind.
    ///
    /// # Errors
    /// The first name that does not fit.
    pub fn check(&self, names: &Names) -> Result<(), ClaimError> {
        self.parts.iter().try_for_each(|part| match part {
            Part::State(state) => check_state(state, names),
            Part::Event(event) => check_event(event, names),
        })
    }

    /// Whether any part speaks of events, so that it needs to be shown a run.
    #[must_use]
    pub fn is_about_events(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Event(_)))
    }
}

fn want(names: &Names, name: &str, kinds: &[Kind], wanted: &'static str) -> Result<(), ClaimError> {
    let Some(id) = names.find(name) else {
        return Err(ClaimError::UnknownProcess {
            name: name.to_owned(),
            known: names.list(),
        });
    };
    let is = names.kind(id);
    if kinds.contains(&is) {
        return Ok(());
    }
    Err(ClaimError::WrongKind {
        name: name.to_owned(),
        is,
        wanted,
    })
}

fn want_resource(names: &Names, name: &str) -> Result<(), ClaimError> {
    if names.find_resource(name).is_some() {
        return Ok(());
    }
    Err(ClaimError::UnknownResource {
        name: name.to_owned(),
        known: names.resources().join(", "),
    })
}

const WORKER: (&[Kind], &str) = (&[Kind::Worker], "worker");
const SERVER: (&[Kind], &str) = (&[Kind::Server], "server");
const STORE: (&[Kind], &str) = (&[Kind::Store], "store");
const CLIENT: (&[Kind], &str) = (&[Kind::Client], "client");
const WRITER: (&[Kind], &str) = (&[Kind::Worker, Kind::Server], "worker or server");
const ANY: (&[Kind], &str) = (
    &[Kind::Server, Kind::Worker, Kind::Client, Kind::Store],
    "process",
);

fn check_state(state: &State, names: &Names) -> Result<(), ClaimError> {
    let one = |name: &str, kind: (&[Kind], &'static str)| want(names, name, kind.0, kind.1);
    match state {
        State::Holds {
            worker, resource, ..
        }
        | State::BelievesHolds {
            worker, resource, ..
        }
        | State::DoubtsHolds { worker, resource }
        | State::WaitsFor { worker, resource } => {
            one(worker, WORKER)?;
            want_resource(names, resource)
        }
        State::NobodyHolds { resource } => want_resource(names, resource),
        State::Leads { server, .. }
        | State::BelievesLeads { server, .. }
        | State::InTerm { server, .. }
        | State::HasKey { server, .. } => one(server, SERVER),
        State::Is { process, .. } => one(process, ANY),
        State::HasSeen { store, .. } => one(store, STORE),
        State::SomeoneLeads { .. } | State::Invariant { .. } => Ok(()),
    }
}

fn check_event(event: &EventClaim, names: &Names) -> Result<(), ClaimError> {
    let one = |name: &str, kind: (&[Kind], &'static str)| want(names, name, kind.0, kind.1);
    match &event.what {
        What::Accepts { store, from, .. }
        | What::Refuses { store, from, .. }
        | What::Sends { from, store } => {
            one(store, STORE)?;
            one(from, WRITER)?;
        }
        What::Checks { process } | What::Withholds { process } => one(process, WRITER)?,
        What::Granted {
            worker, resource, ..
        }
        | What::Renews { worker, resource }
        | What::LearnsLost { worker, resource } => {
            one(worker, WORKER)?;
            want_resource(names, resource)?;
        }
        What::Expires { resource } => want_resource(names, resource)?,
        What::Stands { server }
        | What::BecomesLeader { server }
        | What::StepsDown { server }
        | What::Applies { server, .. } => one(server, SERVER)?,
        What::RefusesAppend {
            server,
            leader: other,
        }
        | What::DeniesVote {
            server,
            candidate: other,
        } => {
            one(server, SERVER)?;
            one(other, SERVER)?;
        }
        What::Reads { client, .. } | What::Told { client, .. } => one(client, CLIENT)?,
    }
    event
        .meanwhile
        .as_ref()
        .map_or(Ok(()), |state| check_state(state, names))
}

/// What claims are asked of: a world, or a state of a search.
pub trait Scene {
    fn names(&self) -> &Names;
    fn process(&self, id: ProcessId) -> &Process;
    fn status(&self, id: ProcessId) -> Status;
    fn truth(&self) -> &Truth;
    fn is_broken(&self, invariant: Invariant) -> bool;
}

impl Scene for World {
    fn names(&self) -> &Names {
        self.names()
    }

    fn process(&self, id: ProcessId) -> &Process {
        self.process(id)
    }

    fn status(&self, id: ProcessId) -> Status {
        self.status(id)
    }

    fn truth(&self) -> &Truth {
        self.truth()
    }

    fn is_broken(&self, invariant: Invariant) -> bool {
        self.broken(invariant).is_some()
    }
}

impl dyn Scene + '_ {
    fn server(&self, id: ProcessId) -> Option<&Server> {
        match self.process(id) {
            Process::Server(server) => Some(server),
            Process::Worker(_) | Process::Client(_) | Process::Store(_) => None,
        }
    }

    fn worker(&self, id: ProcessId) -> Option<&Worker> {
        match self.process(id) {
            Process::Worker(worker) => Some(worker),
            Process::Server(_) | Process::Client(_) | Process::Store(_) => None,
        }
    }

    fn store(&self, id: ProcessId) -> Option<&Store> {
        match self.process(id) {
            Process::Store(store) => Some(store),
            Process::Server(_) | Process::Worker(_) | Process::Client(_) => None,
        }
    }
}

impl State {
    /// Whether it is so now. Names that do not exist make it false; [`Claim::check`] finds them first.
    #[must_use]
    pub fn holds(&self, world: &dyn Scene) -> bool {
        let names = world.names();
        let process = |name: &str| names.find(name);
        let holder = |resource: &str| -> Option<(ProcessId, Token)> {
            let resource = names.find_resource(resource)?;
            world.truth().holder(resource).map(|h| (h.worker, h.token))
        };
        let belief = |worker: &str, resource: &str| -> Option<Verdict> {
            let (worker, resource) = (process(worker)?, names.find_resource(resource)?);
            world.worker(worker).and_then(|w| w.verdict_on(resource))
        };
        match self {
            Self::Holds {
                worker,
                resource,
                token,
                positive,
            } => {
                let is = holder(resource).is_some_and(|(holder, held)| {
                    Some(holder) == process(worker) && token.is_none_or(|t| Token(t) == held)
                });
                is == *positive
            }
            Self::NobodyHolds { resource } => holder(resource).is_none(),
            Self::BelievesHolds {
                worker,
                resource,
                positive,
            } => (belief(worker, resource) == Some(Verdict::Mine)) == *positive,
            Self::DoubtsHolds { worker, resource } => {
                belief(worker, resource) == Some(Verdict::Doubt)
            }
            Self::WaitsFor { worker, resource } => {
                let ids = process(worker).zip(names.find_resource(resource));
                ids.is_some_and(|(worker, resource)| world.truth().waits(resource, worker))
            }
            Self::Leads {
                server,
                term,
                positive,
            } => {
                let is = world.truth().leader().is_some_and(|(leader, led)| {
                    Some(leader) == process(server) && term.is_none_or(|t| Term(t) == led)
                });
                is == *positive
            }
            Self::SomeoneLeads { positive } => world.truth().leader().is_some() == *positive,
            Self::BelievesLeads { server, positive } => {
                let is = process(server)
                    .and_then(|id| world.server(id))
                    .is_some_and(|s| s.is_leader());
                is == *positive
            }
            Self::InTerm { server, term } => process(server)
                .and_then(|id| world.server(id))
                .is_some_and(|s| s.term() == Term(*term)),
            Self::Is {
                process: name,
                condition,
            } => process(name).is_some_and(|id| {
                let status = world.status(id);
                match condition {
                    Condition::Asleep => status.is_asleep(),
                    Condition::Awake => status.is_running(),
                    Condition::Crashed => status.is_crashed(),
                }
            }),
            Self::HasKey { server, key, value } => {
                let server = process(server).and_then(|id| world.server(id));
                server.is_some_and(|s| s.registry().value(key) == value.as_deref())
            }
            Self::HasSeen { store, token } => {
                let store = process(store).and_then(|id| world.store(id));
                store.is_some_and(|s| s.highest() == Token(*token))
            }
            Self::Invariant { invariant, kept } => world.is_broken(*invariant) != *kept,
        }
    }
}

impl EventClaim {
    /// Whether a step holds such an event, wanted or not.
    fn matches(&self, step: &Step, world: &dyn Scene) -> bool {
        if let Some((low, high)) = self.window
            && (step.at < SimTime(low.0) || SimTime(high.0) < step.at)
        {
            return false;
        }
        let names = world.names();
        step.events()
            .any(|event| self.what.matches(event, step.process, names))
            && self
                .meanwhile
                .as_ref()
                .is_none_or(|state| state.holds(world))
    }
}

impl What {
    pub(crate) fn matches(&self, event: &Event, subject: Option<ProcessId>, names: &Names) -> bool {
        let is = |name: &str, id: ProcessId| names.find(name) == Some(id);
        let subject_is = |name: &str| subject.is_some() && names.find(name) == subject;
        let resource_is = |name: &str, id: ResourceId| names.find_resource(name) == Some(id);
        let token_is =
            |wanted: &Option<u64>, token: Token| wanted.is_none_or(|t| Token(t) == token);
        let value_is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|v| v.as_str() == value)
        };
        match self {
            Self::Accepts {
                store,
                from,
                token,
                value,
            } => {
                matches!(event, Event::WriteAccepted { from: f, token: t, value: v, .. }
                    | Event::StaleWriteObserved { from: f, token: t, value: v, .. }
                    if subject_is(store) && is(from, *f) && token_is(token, *t) && value_is(value, v))
            }
            Self::Refuses {
                store,
                from,
                token,
                value,
            } => {
                matches!(event, Event::WriteRefused { from: f, token: t, value: v, .. }
                    if subject_is(store) && is(from, *f) && token_is(token, *t) && value_is(value, v))
            }
            Self::Sends { from, store } => {
                matches!(event, Event::WriteSent { store: s, .. } if subject_is(from) && is(store, *s))
            }
            Self::Checks { process } => {
                matches!(event, Event::Checked { .. }) && subject_is(process)
            }
            Self::Withholds { process } => {
                matches!(event, Event::WriteWithheld { .. }) && subject_is(process)
            }
            Self::Granted {
                worker,
                resource,
                token,
            } => {
                matches!(event, Event::LeaseReceived { resource: r, token: t, .. }
                    if subject_is(worker) && resource_is(resource, *r) && token_is(token, *t))
            }
            Self::Renews { worker, resource } => {
                matches!(event, Event::LeaseRenewed { resource: r, .. }
                    if subject_is(worker) && resource_is(resource, *r))
            }
            Self::LearnsLost { worker, resource } => {
                matches!(event, Event::LeaseLapsed { resource: r, .. } | Event::LeaseLost { resource: r, .. }
                    if subject_is(worker) && resource_is(resource, *r))
            }
            Self::Expires { resource } => {
                matches!(event, Event::LeaseExpired { resource: r, .. } if resource_is(resource, *r))
            }
            Self::Stands { server } => {
                matches!(event, Event::ElectionStarted { .. }) && subject_is(server)
            }
            Self::BecomesLeader { server } => {
                matches!(event, Event::BecameLeader { .. }) && subject_is(server)
            }
            Self::StepsDown { server } => {
                matches!(event, Event::SteppedDown { .. }) && subject_is(server)
            }
            Self::RefusesAppend { server, leader } => {
                matches!(event, Event::AppendRefused { leader: l, .. }
                    if subject_is(server) && is(leader, *l))
            }
            Self::DeniesVote { server, candidate } => {
                matches!(event, Event::VoteRefused { candidate: c, .. }
                    if subject_is(server) && is(candidate, *c))
            }
            Self::Applies { server, key, value } => {
                matches!(event, Event::PutApplied { key: k, value: v, .. }
                    if subject_is(server) && **k == **key && **v == **value)
            }
            Self::Reads {
                client,
                key,
                value,
                stale,
            } => {
                matches!(event, Event::ReadEnded { key: k, value: v, stale: s, .. }
                    if subject_is(client) && **k == **key && v.as_deref() == value.as_deref() && stale <= s)
            }
            Self::Told { client, outcome } => {
                matches!(event, Event::RequestEnded { outcome: o, .. }
                    if subject_is(client) && o == outcome)
            }
        }
    }
}

/// A claim and what it has seen so far of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    claim: Claim,
    seen: Vec<bool>,
}

impl Watch {
    #[must_use]
    pub fn new(claim: Claim) -> Self {
        let seen = vec![false; claim.parts.len()];
        Self { claim, seen }
    }

    #[must_use]
    pub const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Shows it a step, with the world as it is after that step.
    pub fn show(&mut self, step: &Step, world: &dyn Scene) {
        for (part, seen) in self.claim.parts.iter().zip(&mut self.seen) {
            if let Part::Event(event) = part {
                *seen = *seen || event.matches(step, world);
            }
        }
    }

    /// Whether the claim holds, of the world now and of the steps shown.
    #[must_use]
    pub fn holds(&self, world: &dyn Scene) -> bool {
        self.claim
            .parts
            .iter()
            .zip(&self.seen)
            .all(|(part, seen)| match part {
                Part::State(state) => state.holds(world),
                Part::Event(event) => *seen == event.positive,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_print_as_they_are_read() {
        for line in [
            "A holds orders",
            "A holds orders with token 1",
            "A does not hold orders",
            "nobody holds orders",
            "A believes it holds orders",
            "A does not believe it holds orders",
            "A doubts it holds orders",
            "B waits for orders",
            "s1 leads",
            "s1 leads term 4",
            "s1 does not lead",
            "some server leads",
            "nobody leads",
            "s1 believes it leads",
            "s1 does not believe it leads",
            "s1 is in term 3",
            "A is asleep",
            "A is awake",
            "s2 is crashed",
            "s1 has x = \"5\"",
            "s1 has no x",
            "orders has seen token 2",
            "keeps no-older-token",
            "breaks no-older-token",
            "orders accepts A",
            "orders accepts A with token 1 \"charge 7\"",
            "orders does not accept A",
            "orders refuses A with token 1",
            "A sends to orders",
            "A sends nothing to orders",
            "A checks",
            "A does not check",
            "A withholds",
            "B is granted orders with token 2",
            "B is not granted orders",
            "A renews orders",
            "A learns it lost orders",
            "orders expires from 8s to 9.5s",
            "s2 stands",
            "s2 becomes leader",
            "s1 steps down",
            "s2 rejects s1",
            "s2 denies s3",
            "s1 applies x = \"5\"",
            "c1 reads x = \"5\"",
            "c1 reads no x",
            "c1 reads x = \"5\" stale from 1s to 2s",
            "c1 does not read x = \"5\"",
            "c1 is told accepted",
            "c1 is not told accepted",
            "orders accepts A while B holds orders",
            "A believes it holds orders and A does not hold orders",
        ] {
            assert_eq!(line.parse::<Claim>().unwrap().to_string(), line);
        }
    }

    fn check(line: &str, column: u32) {
        assert_eq!(line.parse::<Claim>().unwrap_err().column, column, "{line}");
    }

    #[test]
    fn lines_that_are_no_claims_say_where() {
        check("", 1);
        check("A", 2);
        check("A hold orders", 3);
        check("A does not holds orders", 12);
        check("A holds orders and", 19);
        check("keeps honest", 7);
        check("orders accepts A while A checks", 26);
        check("A holds orders with token x", 27);
        check("orders expires from 8s", 23);
    }
}
