//! Sentences for what is wrong with a line, a command, a claim or a setup: cause and remedy.
//!
//! A good teacher's correction: not "syntax error", but what stands there and what would be right.

use leasehold_engine::claim::ClaimError;
use leasehold_engine::command::CommandError;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::raft::ChangeRefusal;
use leasehold_engine::setup::{SERVERS_MAX, SetupError};
use leasehold_engine::switch::Switch;
use leasehold_engine::text::{Expected, ParseError};
use leasehold_engine::units::{Duration, SpanError, SpanText};

use crate::director::Failure;
use crate::place::nearest;

use super::shorten;

/// What is wrong and what would be right, each a clause without its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub what: String,
    pub remedy: String,
}

impl Trouble {
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (what, remedy) = (what.into(), remedy.into());
        Self { what, remedy }
    }
}

const COMMANDS: &[&str] = &[
    "pause",
    "resume",
    "crash",
    "restart",
    "disk",
    "partition",
    "cut",
    "heal",
    "drop",
    "deliver",
    "duplicate",
    "delay",
    "latency",
    "loss",
    "clock",
    "write",
    "put",
    "acquire",
    "release",
    "raise",
    "campaign",
    "ring",
    "transfer",
    "compact",
    "add",
    "promote",
    "remove",
    "reconfigure",
    "set",
    "run",
    "stop",
    "again",
];

/// Why a line is not a command or a claim.
#[must_use]
pub fn parse_error(error: &ParseError) -> Trouble {
    let found = if error.found.is_empty() {
        "the line ends".to_owned()
    } else {
        format!("`{}` stands", shorten(&error.found))
    };
    let expected =
        |what: &str, remedy: String| Trouble::new(format!("{found} where {what}"), remedy);
    let suggest = |known: &[&str], otherwise: String| {
        nearest(&error.found, known.iter().copied())
            .map_or(otherwise, |near| format!("did you mean `{near}`?"))
    };
    match error.expected {
        Expected::Command => {
            let list = format!("commands are {}", COMMANDS.join(", "));
            expected("a command is expected", suggest(COMMANDS, list))
        }
        Expected::Claim => expected(
            "a claim is expected",
            "write who does what, as in `A holds orders` or `orders refuses A`".to_owned(),
        ),
        Expected::Name => expected(
            "a name is expected",
            "write a name of the world block: a letter, then letters, digits or _".to_owned(),
        ),
        Expected::Word(word) => expected(
            &format!("`{word}` is expected"),
            format!("write `{word}` here"),
        ),
        Expected::OneOf(words) => {
            let known: Vec<&str> = words
                .split([',', ' ', '\n'])
                .filter(|w| !w.is_empty())
                .collect();
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            let list = format!("write one of: {words}");
            expected("another word is expected", suggest(&known, list))
        }
        Expected::Span => expected(
            "a span of time is expected",
            "write a number and its unit, as in 500ms or 3s".to_owned(),
        ),
        Expected::SpanUpTo(most) => expected(
            "a shorter or coarser span is expected",
            format!(
                "write whole microseconds, at most {} (12.7 days)",
                SpanText(most)
            ),
        ),
        Expected::SignedSpan => expected(
            "a jump forward or back is expected",
            "write it with its sign, as in +2s or -500ms".to_owned(),
        ),
        Expected::Number => expected(
            "a number is expected",
            "write digits alone, without leading zeros".to_owned(),
        ),
        Expected::Rate => expected(
            "a change of rate is expected",
            "write it with its sign, as in +10% or -0.5%; above -100% and at most +900%".to_owned(),
        ),
        Expected::Percent => expected(
            "a percentage is expected",
            "write 0% to 100%, with at most four decimals".to_owned(),
        ),
        Expected::Message => expected(
            "a message is expected",
            "write its link and its number on that link, as in s1>s2#17".to_owned(),
        ),
        Expected::Quoted => expected(
            "a text in double quotes is expected",
            "write it as in \"charge 7\", with a closing quote".to_owned(),
        ),
        Expected::Switch => {
            let names: Vec<&str> = Switch::ALL.iter().map(|switch| switch.name()).collect();
            let list = format!("switches are {}", names.join(", "));
            expected("a switch is expected", suggest(&names, list))
        }
        Expected::Position(switch) => expected(
            &format!("a position of `{switch}` is expected"),
            format!("write {}", switch.words()),
        ),
        Expected::Invariant => {
            let ids: Vec<&str> = Invariant::ALL
                .iter()
                .map(|invariant| invariant.id())
                .collect();
            let list = format!("invariants are {}", ids.join(", "));
            expected("an invariant is expected", suggest(&ids, list))
        }
        Expected::Group => expected(
            "a second group is expected",
            "separate the groups by |, as in `partition s1 A | s2 s3 B`".to_owned(),
        ),
        Expected::EndOfLine => expected(
            "the line should end",
            "take it out, or put it on a line of its own".to_owned(),
        ),
    }
}

#[must_use]
pub fn span_error(error: SpanError, given: &str) -> Trouble {
    let given = shorten(given);
    match error {
        SpanError::Shape => Trouble::new(
            format!("`{given}` is not a span of time"),
            "write a number and its unit, as in 500ms or 3s",
        ),
        SpanError::TooFine => Trouble::new(
            format!("`{given}` is finer than a microsecond"),
            "write whole microseconds",
        ),
        SpanError::TooLong => Trouble::new(format!("`{given}` is too long"), at_most()),
    }
}

fn at_most() -> String {
    let most = Duration::LONGEST;
    format!(
        "write at most {}, which is 2^40 microseconds or 12.7 days",
        SpanText(most)
    )
}

fn unknown(name: &str, known: &str, what: &str) -> Trouble {
    let names: Vec<&str> = known
        .split([',', ' '])
        .filter(|name| !name.is_empty())
        .collect();
    let list = format!("known are {known}");
    let remedy =
        nearest(name, names).map_or(list, |near| format!("did you mean `{near}`? {known}"));
    Trouble::new(format!("no {what} is called `{}`", shorten(name)), remedy)
}

/// Why a command cannot be carried out.
#[must_use]
pub fn command_error(error: &CommandError) -> Trouble {
    match error {
        CommandError::UnknownProcess { name, known } => unknown(name, known, "process"),
        CommandError::UnknownResource { name, known } => unknown(name, known, "resource"),
        CommandError::WrongKind { name, is, wanted } => Trouble::new(
            format!("{name} is a {is}, and this is for a {wanted}"),
            format!("name a {wanted} instead"),
        ),
        CommandError::NamedTwice { name } => Trouble::new(
            format!("{name} is named twice"),
            "name each process once; those left out keep their links",
        ),
        CommandError::AlreadyAsleep { name } => Trouble::new(
            format!("{name} is asleep already"),
            format!("wake it first: resume {name}"),
        ),
        CommandError::NotAsleep { name } => Trouble::new(
            format!("{name} is not asleep"),
            format!("put it to sleep first: pause {name}"),
        ),
        CommandError::AlreadyCrashed { name } => Trouble::new(
            format!("{name} is down already"),
            format!("start it first: restart {name}"),
        ),
        CommandError::NotCrashed { name } => Trouble::new(
            format!("{name} is not down"),
            format!("crash it first: crash {name}"),
        ),
        CommandError::Crashed { name } => Trouble::new(
            format!("{name} is down and cannot do this"),
            format!("start it first: restart {name}"),
        ),
        CommandError::DurableAtOnce { name } => Trouble::new(
            format!("what {name} writes is on its disk at once"),
            "give the world a sync time, as in sync = \"10ms\"",
        ),
        CommandError::NotOnDisk { name } => Trouble::new(
            format!("{name}'s disk has nothing of that to lose"),
            "let it store something first",
        ),
        CommandError::NoBackup { name } => Trouble::new(
            format!("there is no copy of {name}'s disk"),
            format!("make one before: disk {name} backup"),
        ),
        CommandError::NoSuchMessage { message } => Trouble::new(
            format!("no message {message} is on its way"),
            "name one that is in flight now: its link, then its number on that link",
        ),
        CommandError::NoSuchTimer { name, timer } => Trouble::new(
            format!("{name} has no {} timer running", timer.word()),
            "ring one that it has set",
        ),
        CommandError::SameProcess { name } => Trouble::new(
            format!("{name} has no link to itself"),
            "name two different processes",
        ),
        CommandError::NotLeader { name } => Trouble::new(
            format!("{name} does not lead and has nothing to hand over"),
            "name the leader, or wait until this one leads",
        ),
        CommandError::NoVote { name } => Trouble::new(
            format!("{name} has no vote and cannot lead"),
            "name a voter",
        ),
        CommandError::HandingOver { name, to } => Trouble::new(
            format!("{name} is handing over to {to} already"),
            "wait until it is done or given up, or name another successor",
        ),
        CommandError::Range { low, high } => Trouble::new(
            format!("{} to {} is no range", SpanText(*low), SpanText(*high)),
            "write the smaller one first",
        ),
        CommandError::Span { given } => Trouble::new(
            format!("{} is not usable here", SpanText(*given)),
            at_most(),
        ),
        CommandError::NobodyLeads => Trouble::new(
            "no server leads, so nobody can be asked",
            "wait for a leader: run until some server leads",
        ),
        CommandError::Change { leader, why } => change_refusal(leader, *why),
        CommandError::NothingToCompact { name } => Trouble::new(
            format!("{name} has applied nothing that its log still holds"),
            "let it apply an entry first",
        ),
        CommandError::TooManyWaiting { most } => Trouble::new(
            format!("{most} things are waiting there already"),
            "let some of them happen first",
        ),
    }
}

fn change_refusal(leader: &str, why: ChangeRefusal) -> Trouble {
    match why {
        ChangeRefusal::NotLeading => Trouble::new(
            format!("{leader} does not lead, as far as it knows"),
            "name the leader, or leave out `at`",
        ),
        ChangeRefusal::TermNotCommitted => Trouble::new(
            format!("{leader} has committed no entry of its own term yet"),
            "let it commit one first",
        ),
        ChangeRefusal::UnderWay => Trouble::new(
            format!("{leader} has another change under way"),
            "wait until that is committed",
        ),
        ChangeRefusal::Member => Trouble::new(
            "it takes part already",
            "name a spare; a learner is given a vote by promote",
        ),
        ChangeRefusal::NoMember => Trouble::new("it takes no part", "name a voter or a learner"),
        ChangeRefusal::NoLearner => {
            Trouble::new("it is no learner", "add it first: add NAME as learner")
        }
        ChangeRefusal::LastVoter => {
            Trouble::new("it is the last voter", "add another before it leaves")
        }
        ChangeRefusal::Same => Trouble::new("these are the voters already", "name others"),
    }
}

/// The name that a command error is about, to point at it.
#[must_use]
pub fn command_error_name(error: &CommandError) -> Option<&str> {
    match error {
        CommandError::UnknownProcess { name, .. }
        | CommandError::UnknownResource { name, .. }
        | CommandError::WrongKind { name, .. }
        | CommandError::NamedTwice { name }
        | CommandError::AlreadyAsleep { name }
        | CommandError::NotAsleep { name }
        | CommandError::AlreadyCrashed { name }
        | CommandError::NotCrashed { name }
        | CommandError::Crashed { name }
        | CommandError::NoSuchTimer { name, .. }
        | CommandError::NotLeader { name }
        | CommandError::NoVote { name }
        | CommandError::HandingOver { name, .. }
        | CommandError::NothingToCompact { name }
        | CommandError::DurableAtOnce { name }
        | CommandError::NotOnDisk { name }
        | CommandError::NoBackup { name }
        | CommandError::SameProcess { name } => Some(name),
        CommandError::NoSuchMessage { .. }
        | CommandError::NobodyLeads
        | CommandError::Change { .. }
        | CommandError::Range { .. }
        | CommandError::Span { .. }
        | CommandError::TooManyWaiting { .. } => None,
    }
}

/// Why a claim cannot be asked of a world.
#[must_use]
pub fn claim_error(error: &ClaimError) -> Trouble {
    match error {
        ClaimError::UnknownProcess { name, known } => unknown(name, known, "process"),
        ClaimError::UnknownResource { name, known } => unknown(name, known, "resource"),
        ClaimError::WrongKind { name, is, wanted } => Trouble::new(
            format!("{name} is a {is}, and this claim is about a {wanted}"),
            format!("name a {wanted} instead"),
        ),
    }
}

/// The name that a claim error is about.
#[must_use]
pub fn claim_error_name(error: &ClaimError) -> &str {
    match error {
        ClaimError::UnknownProcess { name, .. }
        | ClaimError::UnknownResource { name, .. }
        | ClaimError::WrongKind { name, .. } => name,
    }
}

/// What is wrong with a world.
#[must_use]
pub fn setup_error(error: &SetupError) -> Trouble {
    match error {
        SetupError::Servers { given } => Trouble::new(
            format!("{given} servers cannot be had"),
            format!(
                "write 0, 1, 3, 5 or {SERVERS_MAX}: an even number survives no more than one less"
            ),
        ),
        SetupError::TooMany { field, given, most } => Trouble::new(
            format!("{given} {field} are too many"),
            format!("name at most {most}"),
        ),
        SetupError::Name { field, given } => Trouble::new(
            format!("`{}` cannot be a name in {field}", shorten(given)),
            "start with a letter, go on with letters, digits or _, at most 24; no s1 and no word of the claims",
        ),
        SetupError::NameTwice { given } => Trouble::new(
            format!("the name {given} is given twice"),
            "give each its own name",
        ),
        SetupError::Span {
            field,
            given,
            low,
            high,
        } => {
            let (given, low, high) = (SpanText(*given), SpanText(*low), SpanText(*high));
            Trouble::new(
                format!("{field} cannot be {given}"),
                format!("write {low} to {high}, which is 2^40 microseconds or 12.7 days"),
            )
        }
        SetupError::Range { field, low, high } => Trouble::new(
            format!(
                "{field} goes from {} down to {}",
                SpanText(*low),
                SpanText(*high)
            ),
            "write the smaller one first",
        ),
        SetupError::Ppm { field, given } => Trouble::new(
            format!("{field} cannot be {} parts per million", given),
            "write 0% to 100%",
        ),
        SetupError::TableInMemory { servers } => Trouble::new(
            format!("with {servers} servers the others have the table"),
            "write servers = 1, or leave lease_table out",
        ),
        SetupError::ElectionFixed { given, servers } => Trouble::new(
            format!("election_fixed has {given} timeouts for {servers} servers"),
            "write one timeout for each server, or leave it out",
        ),
        SetupError::Count {
            field,
            given,
            low,
            high,
        } => Trouble::new(
            format!("{field} cannot be {given}"),
            format!("write {low} to {high}"),
        ),
        SetupError::Switch { given } => {
            let names: Vec<&str> = Switch::ALL.iter().map(|switch| switch.name()).collect();
            let remedy = nearest(given, names.iter().copied()).map_or_else(
                || format!("switches are {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            Trouble::new(format!("`{}` is not a switch", shorten(given)), remedy)
        }
        SetupError::SwitchPosition { switch, given } => Trouble::new(
            format!("`{}` is not a position of {switch}", shorten(given)),
            format!("write {}", switch.words()),
        ),
        SetupError::Empty => Trouble::new(
            "nobody is in this world",
            "set servers, or name workers, clients or stores",
        ),
    }
}

/// The key of the `world` block that an error is about.
#[must_use]
pub fn setup_error_field(error: &SetupError) -> &str {
    match error {
        SetupError::Servers { .. } | SetupError::Empty => "servers",
        SetupError::TooMany { field, .. }
        | SetupError::Name { field, .. }
        | SetupError::Span { field, .. }
        | SetupError::Range { field, .. }
        | SetupError::Count { field, .. } => field,
        SetupError::Ppm { field, .. } => field.trim_end_matches("_ppm"),
        SetupError::NameTwice { .. } => "workers",
        SetupError::TableInMemory { .. } => "lease_table",
        SetupError::ElectionFixed { .. } => "election_fixed",
        SetupError::Switch { given } => given,
        SetupError::SwitchPosition { switch, .. } => switch.name(),
    }
}

/// Why a lesson cannot go on.
#[must_use]
pub fn failure(failure: &Failure) -> Trouble {
    match failure {
        Failure::NeverCame { claim, bound, .. } => Trouble::new(
            format!("`{claim}` did not come true within {}", super::span(*bound)),
            "wait for something that happens, or give it longer: run until CLAIM within 90s",
        ),
        Failure::Command { command, error, .. } => {
            let Trouble { what, remedy } = command_error(error);
            Trouble::new(
                format!("`{}` cannot be done: {what}", shorten(&command.to_string())),
                remedy,
            )
        }
    }
}
