//! What is asked of the world: one imperative line each, read and printed alike.
//!
//! The stage manager's cue sheet. Lessons, links, golden traces and the page's buttons all speak it.
//! Names stay names here; the world looks them up when it carries the command out. `run …` and
//! `stop …` direct a script and are not commands.

use std::fmt;
use std::str::FromStr;

use crate::event::TimerKind;
use crate::raft::ChangeRefusal;
use crate::setup::Kind;
use crate::switch::{Position, Switch};
use crate::text::{Expected, ParseError, PercentText, Quoted, Words, serde_as_text};
use crate::units::{Duration, OpId, SpanText, Token};

/// A message by its link and its number on that link: `s1>s2#17`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageName {
    pub from: String,
    pub to: String,
    pub number: u64,
}

/// One thing asked of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `pause A`: the process stops, its clocks do not.
    Pause {
        process: String,
    },
    /// `pause A before send`: as soon as it has checked and would send.
    PauseBeforeSend {
        process: String,
    },
    Resume {
        process: String,
    },
    Crash {
        process: String,
    },
    Restart {
        process: String,
    },
    /// `disk s1 stall 300ms`, `disk s2 lose tail 1`, …
    Disk {
        process: String,
        act: DiskAct,
    },
    /// `partition s1 A | s2 s3 B`: cuts every link between the groups, both ways.
    Partition {
        groups: Vec<Vec<String>>,
    },
    /// `cut s1 -> s2`, one way, or `cut s1 <-> s2`.
    Cut {
        from: String,
        to: String,
        both: bool,
    },
    /// `heal`: undoes every cut and partition. `heal s1 -> s2`: that link's.
    Heal,
    HealLink {
        from: String,
        to: String,
        both: bool,
    },
    /// `drop s1>s2#17`
    Drop {
        message: MessageName,
    },
    /// `deliver s1>s2#17`: now.
    Deliver {
        message: MessageName,
    },
    Duplicate {
        message: MessageName,
    },
    /// `delay s1>s2#17 2s`: that much later than it would have come.
    Delay {
        message: MessageName,
        by: Duration,
    },
    /// `latency s1 -> s2 40ms 60ms`: between the two, drawn for each message.
    Latency {
        from: String,
        to: String,
        min: Duration,
        max: Duration,
    },
    /// `loss s1 -> s2 10%`
    Loss {
        from: String,
        to: String,
        ppm: u32,
    },
    /// `clock A rate +10%`: both clocks; `ppm` is the new rate, 1,000,000 for true.
    ClockRate {
        process: String,
        ppm: u32,
    },
    /// `clock A jump -2s`: the wall clock, in microseconds.
    ClockJump {
        process: String,
        micros: i64,
    },
    /// `write A orders "charge 7"`: check, work, send. `… op 77`: as operation 77, which takes effect once.
    Write {
        process: String,
        store: String,
        value: String,
        op: Option<OpId>,
    },
    /// `put c1 x "5"`: a client's request to the service.
    Put {
        client: String,
        key: String,
        value: String,
    },
    /// `get c1 x`: a read through the leader. `get c1 x at s2`: that server answers, once it is sure that
    /// it is not behind. `get c1 x stale at s2`: it answers at once, with what it has.
    Get {
        client: String,
        key: String,
        at: Option<String>,
        /// Only with `at`.
        stale: bool,
    },
    /// `acquire A orders`: queue for it, and renew it once held.
    Acquire {
        worker: String,
        resource: String,
    },
    /// `release A`: give back what it holds, or stop waiting.
    Release {
        worker: String,
    },
    /// `raise orders 150`: an operator tells the service that tokens up to this one may have been issued.
    Raise {
        resource: String,
        to: Token,
    },
    /// `campaign s2`: its election timeout ends now.
    Campaign {
        server: String,
    },
    /// `compact s1`: a snapshot takes the place of the entries that it has applied.
    Compact {
        server: String,
    },
    /// `add s4`, `remove s3`: asked of the leader, or `at s1`, which must lead.
    Change {
        what: ChangeText,
        at: Option<String>,
    },
    /// `ring s1 heartbeat`: a timer that it has running rings now.
    Ring {
        process: String,
        timer: TimerKind,
    },
    /// `transfer s1 -> s2`: the leader s1 hands over to s2.
    Transfer {
        from: String,
        to: String,
    },
    /// `set fence off`, `set fence off at orders`
    Set {
        switch: Switch,
        position: Position,
        at: Option<String>,
    },
}

/// A change of the membership, by names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChangeText {
    /// `add s4`
    Add { server: String },
    /// `add s4 as learner`
    AddLearner { server: String },
    /// `promote s4`: a learner gets a vote.
    Promote { server: String },
    /// `remove s3`
    Remove { server: String },
    /// `reconfigure s3 s4 s5`: the new voters.
    Reconfigure { servers: Vec<String> },
}

/// What happens to a disk. What loses content is done while its process is crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiskAct {
    /// Syncs under way and new ones end that much later.
    Stall(Duration),
    /// The next write to it fails.
    Fail,
    LoseVote,
    /// Term and vote, as if their file were gone.
    LoseTerm,
    /// The last entries of the log, without a trace.
    LoseTail(u64),
    /// The last entry of the log fails its checksum, and its server sees that at the next start.
    CorruptTail,
    Wipe,
    /// Its content is remembered, to be put back later.
    Backup,
    Restore,
}

/// Why a command cannot be carried out; the world has not changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CommandError {
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
    NamedTwice {
        name: String,
    },
    AlreadyAsleep {
        name: String,
    },
    NotAsleep {
        name: String,
    },
    AlreadyCrashed {
        name: String,
    },
    NotCrashed {
        name: String,
    },
    /// It is crashed, and cannot do this.
    Crashed {
        name: String,
    },
    /// Its disk has no sync time: nothing is ever under way to it.
    DurableAtOnce {
        name: String,
    },
    /// Its disk does not have what should be lost.
    NotOnDisk {
        name: String,
    },
    NoBackup {
        name: String,
    },
    /// No such message is on its way.
    NoSuchMessage {
        message: MessageName,
    },
    /// It has no such timer running.
    NoSuchTimer {
        name: String,
        timer: TimerKind,
    },
    SameProcess {
        name: String,
    },
    /// It does not lead, and has nothing to hand over.
    NotLeader {
        name: String,
    },
    /// It has no vote, and cannot lead.
    NoVote {
        name: String,
    },
    /// It hands over to that one already; asking again does not give it more time.
    HandingOver {
        name: String,
        to: String,
    },
    Range {
        low: Duration,
        high: Duration,
    },
    /// Beyond [`Duration::LONGEST`] or zero.
    Span {
        given: Duration,
    },
    /// No server leads, so that nobody can be asked.
    NobodyLeads,
    /// That leader does not propose this change.
    Change {
        leader: String,
        why: ChangeRefusal,
    },
    /// It has applied nothing that its log still holds.
    NothingToCompact {
        name: String,
    },
    /// Too much is waiting already: the most that is kept.
    TooManyWaiting {
        most: usize,
    },
}

impl fmt::Display for MessageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>{}#{}", self.from, self.to, self.number)
    }
}

impl FromStr for MessageName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (from, rest) = text.split_once('>').ok_or(())?;
        let (to, number) = rest.split_once('#').ok_or(())?;
        let sound = crate::setup::is_name(from)
            && crate::setup::is_name(to)
            && number.bytes().all(|b| b.is_ascii_digit())
            && !number.starts_with('0');
        let number = number.parse().map_err(|_| ())?;
        if sound {
            Ok(Self {
                from: from.to_owned(),
                to: to.to_owned(),
                number,
            })
        } else {
            Err(())
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = |both: bool| if both { "<->" } else { "->" };
        match self {
            Self::Pause { process } => write!(f, "pause {process}"),
            Self::PauseBeforeSend { process } => write!(f, "pause {process} before send"),
            Self::Resume { process } => write!(f, "resume {process}"),
            Self::Crash { process } => write!(f, "crash {process}"),
            Self::Restart { process } => write!(f, "restart {process}"),
            Self::Disk { process, act } => write!(f, "disk {process} {act}"),
            Self::Partition { groups } => {
                let groups: Vec<String> = groups.iter().map(|g| g.join(" ")).collect();
                write!(f, "partition {}", groups.join(" | "))
            }
            Self::Cut { from, to, both } => write!(f, "cut {from} {} {to}", arrow(*both)),
            Self::Heal => f.write_str("heal"),
            Self::HealLink { from, to, both } => write!(f, "heal {from} {} {to}", arrow(*both)),
            Self::Drop { message } => write!(f, "drop {message}"),
            Self::Deliver { message } => write!(f, "deliver {message}"),
            Self::Duplicate { message } => write!(f, "duplicate {message}"),
            Self::Delay { message, by } => write!(f, "delay {message} {}", SpanText(*by)),
            Self::Latency { from, to, min, max } => {
                write!(
                    f,
                    "latency {from} -> {to} {} {}",
                    SpanText(*min),
                    SpanText(*max)
                )
            }
            Self::Loss { from, to, ppm } => write!(f, "loss {from} -> {to} {}", PercentText(*ppm)),
            Self::ClockRate { process, ppm } if *ppm >= 1_000_000 => {
                write!(f, "clock {process} rate +{}", PercentText(ppm - 1_000_000))
            }
            Self::ClockRate { process, ppm } => {
                write!(f, "clock {process} rate -{}", PercentText(1_000_000 - ppm))
            }
            Self::ClockJump { process, micros } => {
                let sign = if *micros < 0 { '-' } else { '+' };
                write!(
                    f,
                    "clock {process} jump {sign}{}",
                    SpanText(Duration(micros.unsigned_abs()))
                )
            }
            Self::Write {
                process,
                store,
                value,
                op,
            } => {
                write!(f, "write {process} {store} {}", Quoted(value))?;
                op.map_or(Ok(()), |op| write!(f, " op {op}"))
            }
            Self::Put { client, key, value } => write!(f, "put {client} {key} {}", Quoted(value)),
            Self::Get {
                client,
                key,
                at,
                stale,
            } => {
                write!(f, "get {client} {key}")?;
                let word = if *stale { " stale at" } else { " at" };
                at.as_ref()
                    .map_or(Ok(()), |name| write!(f, "{word} {name}"))
            }
            Self::Acquire { worker, resource } => write!(f, "acquire {worker} {resource}"),
            Self::Release { worker } => write!(f, "release {worker}"),
            Self::Raise { resource, to } => write!(f, "raise {resource} {to}"),
            Self::Campaign { server } => write!(f, "campaign {server}"),
            Self::Ring { process, timer } => write!(f, "ring {process} {}", timer.word()),
            Self::Transfer { from, to } => write!(f, "transfer {from} -> {to}"),
            Self::Compact { server } => write!(f, "compact {server}"),
            Self::Change { what, at } => {
                match what {
                    ChangeText::Add { server } => write!(f, "add {server}"),
                    ChangeText::AddLearner { server } => write!(f, "add {server} as learner"),
                    ChangeText::Promote { server } => write!(f, "promote {server}"),
                    ChangeText::Remove { server } => write!(f, "remove {server}"),
                    ChangeText::Reconfigure { servers } => {
                        write!(f, "reconfigure {}", servers.join(" "))
                    }
                }?;
                at.as_ref().map_or(Ok(()), |name| write!(f, " at {name}"))
            }
            Self::Set {
                switch,
                position,
                at,
            } => {
                write!(f, "set {switch} {}", switch.word(*position))?;
                at.as_ref().map_or(Ok(()), |name| write!(f, " at {name}"))
            }
        }
    }
}

impl fmt::Display for DiskAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stall(by) => write!(f, "stall {}", SpanText(*by)),
            Self::Fail => f.write_str("fail"),
            Self::LoseVote => f.write_str("lose vote"),
            Self::LoseTerm => f.write_str("lose term"),
            Self::LoseTail(count) => write!(f, "lose tail {count}"),
            Self::CorruptTail => f.write_str("corrupt tail"),
            Self::Wipe => f.write_str("wipe"),
            Self::Backup => f.write_str("backup"),
            Self::Restore => f.write_str("restore"),
        }
    }
}

impl FromStr for Command {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let mut words = Words::of(line)?;
        let command = read(&mut words)?;
        words.end()?;
        Ok(command)
    }
}

serde_as_text!(Command);

fn read(words: &mut Words<'_>) -> Result<Command, ParseError> {
    let verb = words.next(Expected::Command)?;
    Ok(match verb {
        "pause" => {
            let process = words.name()?;
            if words.take("before") {
                words.word("send")?;
                Command::PauseBeforeSend { process }
            } else {
                Command::Pause { process }
            }
        }
        "resume" => Command::Resume {
            process: words.name()?,
        },
        "crash" => Command::Crash {
            process: words.name()?,
        },
        "restart" => Command::Restart {
            process: words.name()?,
        },
        "disk" => Command::Disk {
            process: words.name()?,
            act: disk_act(words)?,
        },
        "partition" => Command::Partition {
            groups: groups(words)?,
        },
        "cut" => {
            let (from, to, both) = link(words)?;
            Command::Cut { from, to, both }
        }
        "heal" if words.is_done() => Command::Heal,
        "heal" => {
            let (from, to, both) = link(words)?;
            Command::HealLink { from, to, both }
        }
        "drop" => Command::Drop {
            message: message(words)?,
        },
        "deliver" => Command::Deliver {
            message: message(words)?,
        },
        "duplicate" => Command::Duplicate {
            message: message(words)?,
        },
        "delay" => Command::Delay {
            message: message(words)?,
            by: words.span()?,
        },
        "latency" => {
            let (from, to) = one_way(words)?;
            Command::Latency {
                from,
                to,
                min: words.span()?,
                max: words.span()?,
            }
        }
        "loss" => {
            let (from, to) = one_way(words)?;
            Command::Loss {
                from,
                to,
                ppm: words.percent()?,
            }
        }
        "clock" => {
            let process = words.name()?;
            if words.take("rate") {
                Command::ClockRate {
                    process,
                    ppm: words.rate()?,
                }
            } else if words.take("jump") {
                Command::ClockJump {
                    process,
                    micros: words.signed_span()?,
                }
            } else {
                return Err(words.error(Expected::OneOf("rate, jump")));
            }
        }
        "write" => Command::Write {
            process: words.name()?,
            store: words.name()?,
            value: words.quoted()?,
            op: if words.take("op") {
                Some(OpId(words.number()?))
            } else {
                None
            },
        },
        "put" => Command::Put {
            client: words.name()?,
            key: words.name()?,
            value: words.quoted()?,
        },
        "get" => get(words)?,
        "acquire" => Command::Acquire {
            worker: words.name()?,
            resource: words.name()?,
        },
        "release" => Command::Release {
            worker: words.name()?,
        },
        "raise" => Command::Raise {
            resource: words.name()?,
            to: Token(words.number()?),
        },
        "campaign" => Command::Campaign {
            server: words.name()?,
        },
        "compact" => Command::Compact {
            server: words.name()?,
        },
        "ring" => Command::Ring {
            process: words.name()?,
            timer: timer(words)?,
        },
        "transfer" => {
            let (from, to) = one_way(words)?;
            Command::Transfer { from, to }
        }
        "add" => {
            let server = words.name()?;
            if words.take("as") {
                words.word("learner")?;
                change(ChangeText::AddLearner { server }, words)?
            } else {
                change(ChangeText::Add { server }, words)?
            }
        }
        "promote" => {
            let server = words.name()?;
            change(ChangeText::Promote { server }, words)?
        }
        "remove" => {
            let server = words.name()?;
            change(ChangeText::Remove { server }, words)?
        }
        "reconfigure" => {
            let mut servers = vec![words.name()?];
            while !words.is_done() && !words.is_next("at") {
                servers.push(words.name()?);
            }
            change(ChangeText::Reconfigure { servers }, words)?
        }
        "set" => set(words)?,
        _ => return Err(words.error_before(Expected::Command)),
    })
}

fn get(words: &mut Words<'_>) -> Result<Command, ParseError> {
    let (client, key) = (words.name()?, words.name()?);
    let stale = words.take("stale");
    let at = if stale {
        words.word("at")?;
        Some(words.name()?)
    } else if words.take("at") {
        Some(words.name()?)
    } else {
        None
    };
    Ok(Command::Get {
        client,
        key,
        at,
        stale,
    })
}

fn disk_act(words: &mut Words<'_>) -> Result<DiskAct, ParseError> {
    const ACTS: Expected = Expected::OneOf("stall, fail, lose, corrupt, wipe, backup, restore");
    const PARTS: Expected = Expected::OneOf("vote, term, tail");
    Ok(match words.next(ACTS)? {
        "stall" => DiskAct::Stall(words.span()?),
        "fail" => DiskAct::Fail,
        "lose" => match words.next(PARTS)? {
            "vote" => DiskAct::LoseVote,
            "term" => DiskAct::LoseTerm,
            "tail" => DiskAct::LoseTail(words.number()?),
            _ => return Err(words.error_before(PARTS)),
        },
        "corrupt" => {
            words.word("tail")?;
            DiskAct::CorruptTail
        }
        "wipe" => DiskAct::Wipe,
        "backup" => DiskAct::Backup,
        "restore" => DiskAct::Restore,
        _ => return Err(words.error_before(ACTS)),
    })
}

fn groups(words: &mut Words<'_>) -> Result<Vec<Vec<String>>, ParseError> {
    let mut groups = vec![vec![words.name()?]];
    while !words.is_done() {
        if words.take("|") {
            groups.push(vec![words.name()?]);
        } else {
            let name = words.name()?;
            groups.last_mut().expect("starts with one group").push(name);
        }
    }
    if groups.len() < 2 {
        return Err(words.error(Expected::Group));
    }
    Ok(groups)
}

fn link(words: &mut Words<'_>) -> Result<(String, String, bool), ParseError> {
    let from = words.name()?;
    let both = words.take("<->");
    if !both && !words.take("->") {
        return Err(words.error(Expected::OneOf("->, <->")));
    }
    Ok((from, words.name()?, both))
}

fn one_way(words: &mut Words<'_>) -> Result<(String, String), ParseError> {
    let from = words.name()?;
    words.word("->")?;
    Ok((from, words.name()?))
}

fn message(words: &mut Words<'_>) -> Result<MessageName, ParseError> {
    let text = words.next(Expected::Message)?;
    text.parse()
        .map_err(|()| words.error_before(Expected::Message))
}

fn timer(words: &mut Words<'_>) -> Result<TimerKind, ParseError> {
    let expected = Expected::OneOf(TimerKind::WORDS);
    let word = words.next(expected)?;
    TimerKind::of_word(word).ok_or_else(|| words.error_before(expected))
}

fn change(what: ChangeText, words: &mut Words<'_>) -> Result<Command, ParseError> {
    let at = at(words)?;
    Ok(Command::Change { what, at })
}

/// `at s1`, if it stands there.
fn at(words: &mut Words<'_>) -> Result<Option<String>, ParseError> {
    if words.take("at") {
        words.name().map(Some)
    } else {
        Ok(None)
    }
}

fn set(words: &mut Words<'_>) -> Result<Command, ParseError> {
    let name = words.next(Expected::Switch)?;
    let switch: Switch = name
        .parse()
        .map_err(|()| words.error_before(Expected::Switch))?;
    let word = words.next(Expected::Position(switch))?;
    let position = switch
        .position(word)
        .ok_or_else(|| words.error_before(Expected::Position(switch)))?;
    let at = at(words)?;
    Ok(Command::Set {
        switch,
        position,
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_print_as_they_are_read() {
        for line in [
            "pause A",
            "pause A before send",
            "resume A",
            "crash s2",
            "restart s2",
            "disk s1 stall 300ms",
            "disk s1 fail",
            "disk s2 lose vote",
            "disk s2 lose term",
            "disk s2 lose tail 2",
            "disk s2 corrupt tail",
            "disk s2 wipe",
            "disk s1 backup",
            "disk s1 restore",
            "partition s1 A | s2 s3 B",
            "cut s1 -> s2",
            "cut s1 <-> s2",
            "heal",
            "heal s1 -> s2",
            "drop s1>s2#17",
            "deliver s1>s2#17",
            "duplicate s1>s2#17",
            "delay s1>s2#17 2s",
            "latency s1 -> s2 40ms 60ms",
            "loss s1 -> s2 12.5%",
            "clock A rate +10%",
            "clock A rate -0.5%",
            "clock A jump -2s",
            "write A orders \"charge 7\"",
            "write A orders \"charge 7\" op 77",
            "write A orders \"say \\\"hi\\\" \\\\ there\"",
            "put c1 x \"5\"",
            "get c1 x",
            "get c1 x at s2",
            "get c1 x stale at s2",
            "acquire A orders",
            "release A",
            "raise orders 150",
            "campaign s2",
            "ring s1 heartbeat",
            "ring c1 client_timeout",
            "transfer s1 -> s2",
            "compact s1",
            "add s4",
            "add s4 as learner at s1",
            "promote s4",
            "remove s3 at s2",
            "reconfigure s3",
            "reconfigure s3 s4 s5",
            "reconfigure s3 s4 at s1",
            "set fence off",
            "set fence enforce at orders",
        ] {
            assert_eq!(line.parse::<Command>().unwrap().to_string(), line);
        }
    }

    #[test]
    fn each_timer_has_a_word() {
        for &timer in TimerKind::ALL {
            assert_eq!(TimerKind::of_word(timer.word()), Some(timer));
        }
        assert_eq!(TimerKind::WORDS.split(", ").count(), TimerKind::COUNT);
    }

    fn check(line: &str, column: u32, expected: Expected) {
        let error = line.parse::<Command>().unwrap_err();
        assert_eq!((error.column, error.expected), (column, expected), "{line}");
    }

    #[test]
    fn lines_that_are_no_commands_say_where() {
        check("", 1, Expected::Command);
        check("sleep A", 1, Expected::Command);
        check("pause", 6, Expected::Name);
        check("pause A now", 9, Expected::EndOfLine);
        check("raise orders -1", 14, Expected::Number);
        check("partition s1 s2", 16, Expected::Group);
        check("cut s1 s2", 8, Expected::OneOf("->, <->"));
        check("get c1", 7, Expected::Name);
        check("get c1 x stale", 15, Expected::Word("at"));
        check("get c1 x from s1", 10, Expected::EndOfLine);
        check("set fence maybe", 11, Expected::Position(Switch::Fence));
        check("set fens off", 5, Expected::Switch);
        check(
            "disk s1 burn",
            9,
            Expected::OneOf("stall, fail, lose, corrupt, wipe, backup, restore"),
        );
        check("disk s1 lose tail", 18, Expected::Number);
        check("write A orders \"x\" op", 22, Expected::Number);
        check("drop s1>s2", 6, Expected::Message);
        check("ring s1 bell", 9, Expected::OneOf(TimerKind::WORDS));
        check("write A orders \"charge", 16, Expected::Quoted);
        check("clock A rate -100%", 14, Expected::Rate);
        check(
            "delay s1>s2#1 9999999s",
            15,
            Expected::SpanUpTo(Duration::LONGEST),
        );
    }
}
