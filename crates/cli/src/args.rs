//! What was asked for on the command line.
//!
//! One table row a command, read by hand: there are few. A word that is not understood is an error,
//! never passed over.

use leasehold_engine::explore::Limits;
use leasehold_engine::explore::consensus::{Bounds, Move};
use leasehold_engine::explore::leases::{self, Leases};
use leasehold_engine::fuzz;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{Duration, SpanText};

pub(crate) const HELP: &str = "\
leasehold: holds lessons to their word, and runs lessons and scripts

  leasehold check PATH... [--negate-each] [--seeds N]
      Checks lessons: every claim, every question, every goal. A folder stands for the lessons in it.
      --negate-each   turns each claim round in turn and looks whether it is found false
      --seeds N       also tries N other seeds

  leasehold run FILE [--set SWITCH=POSITION]... [--hashes]
      Plays a lesson from start to end, or a command script, and prints each step.
      --set           turns a switch first; claims are then reported, not judged
      --hashes        prints the state's hash with each step

  leasehold explore FILE --break INVARIANT | --reach CLAIM [--set SWITCH=POSITION]... [--forbid MOVE]...
                    [--may COMMAND]... [--budget KEY=N,...]
      Searches the servers and clients of a lesson's or a script's world, without time: any message, any
      timer may come next. Prints a shortest script that breaks the invariant or reaches the claim, for
      `leasehold run`. A script with time = \"none\" is played first.
      --set           turns a switch first
      --forbid        leaves a move out: \"crash\", \"campaign s1\", \"deliver s1>s3\", \"ring s1 heartbeat\"
      --budget        crashes=1,duplicates=0,puts=1,rings=1: how often; term=3,log=16,in_flight=4: how far;
                      states=5000000,depth=64,memory=1GB: where to give up
      Leases, stores and reads are searched in time, with all of the world: where the invariant is one of
      theirs, where --may is given, or where the budget has one of these keys:
                      tick=500ms,horizon=12s: when something may be done, and until when
                      pauses=1,writes=2,crashes=0,latencies=0,rates=0: what, and how often
                      delay=2s,drift=20%: the other latency of a link; how fast and slow clocks may run
      --may           a command that may be done too, once, at any tick: \"get c1 x at s1\", \"transfer s1 -> s2\"
      Exit codes: 0 it was found, 1 it was not, within the budget

  leasehold fuzz [--seed N] [--runs N] [--steps N] [--set SWITCH=POSITION]... [--break INVARIANT]
                 [--beyond drift,switches] [--replays N]
      Plays random worlds with random faults. When an invariant breaks, prints a short script that breaks it.
      --seed N        the first run's seed; each later run has the next (1)
      --runs N        how many runs at most (1000)
      --steps N       steps in each run (2000)
      --set           the position of a switch in every run
      --break         looks for a break of this invariant alone
      --beyond        drift: clock rates change, beyond any bound; switches: any switch may be off
      --replays N     how often a find is played again to make it shorter (5000)

Exit codes: 0 all is well, 1 a claim or a lesson is wrong or fuzz found a break, 2 called wrongly or a file cannot be read.
How lessons and scripts are written: lessons/README.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Check(Check),
    Run(Run),
    Explore(Box<Explore>),
    Fuzz(fuzz::Options),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) paths: Vec<String>,
    pub(crate) negate_each: bool,
    pub(crate) seeds: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) file: String,
    pub(crate) set: Vec<(Switch, Position)>,
    pub(crate) hashes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explore {
    pub(crate) file: String,
    pub(crate) goal: Wanted,
    pub(crate) set: Vec<(Switch, Position)>,
    pub(crate) forbid: Vec<String>,
    /// Commands for a search in time; their names are looked up later.
    pub(crate) may: Vec<String>,
    pub(crate) bounds: Bounds,
    pub(crate) limits: Limits,
    /// Set where time is searched too.
    pub(crate) timed: Option<leases::Bounds>,
    /// The budget names crashes; in time there are none by themselves.
    pub(crate) crashes_given: bool,
    /// The words of the call, for whoever wants to make it again.
    pub(crate) words: Vec<String>,
}

/// What to look for; a claim's names are looked up later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Break(Invariant),
    Reach(String),
}

/// What is wrong with the command line, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    let (what, remedy) = (what.into(), remedy.into());
    Err(Wrong { what, remedy })
}

pub(crate) fn parse(arguments: &[String]) -> Result<Command, Wrong> {
    let Some((command, rest)) = arguments.split_first() else {
        return wrong(
            "no command was given",
            "try: leasehold check lessons, or leasehold --help",
        );
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(Command::Help);
    }
    match command.as_str() {
        "check" => check(rest).map(Command::Check),
        "run" => run(rest).map(Command::Run),
        "explore" => explore(rest).map(|search| Command::Explore(Box::new(search))),
        "fuzz" => fuzz(rest).map(Command::Fuzz),
        "help" | "--help" | "-h" => Ok(Command::Help),
        other => wrong(
            format!("`{other}` is not a command"),
            "commands are check, run, explore and fuzz; leasehold --help tells more",
        ),
    }
}

fn check(words: &[String]) -> Result<Check, Wrong> {
    let mut check = Check::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--negate-each" => check.negate_each = true,
            "--seeds" => check.seeds = number(word, words.next())?,
            option if option.starts_with('-') => {
                return unknown(option, "--negate-each and --seeds N");
            }
            path => check.paths.push(path.to_owned()),
        }
    }
    if check.paths.is_empty() {
        return wrong(
            "check needs a lesson or a folder",
            "try: leasehold check lessons",
        );
    }
    Ok(check)
}

fn run(words: &[String]) -> Result<Run, Wrong> {
    let mut run = Run::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--hashes" => run.hashes = true,
            "--set" => run.set.push(switch(words.next())?),
            option if option.starts_with('-') => {
                return unknown(option, "--set SWITCH=POSITION and --hashes");
            }
            file if run.file.is_empty() => file.clone_into(&mut run.file),
            file => {
                let what = format!("run takes one file; `{file}` is a second");
                return wrong(what, "run them one after the other");
            }
        }
    }
    if run.file.is_empty() {
        return wrong("run needs a file", "try: leasehold run lessons/a-lease.md");
    }
    Ok(run)
}

fn explore(words: &[String]) -> Result<Explore, Wrong> {
    let mut search = Explore {
        file: String::new(),
        goal: Wanted::Reach(String::new()),
        set: Vec::new(),
        forbid: Vec::new(),
        may: Vec::new(),
        bounds: Bounds::default(),
        limits: Limits {
            states: 5_000_000,
            bytes: 1 << 30,
            depth: 64,
        },
        timed: None,
        crashes_given: false,
        words: words.to_vec(),
    };
    let mut goals = 0;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--set" => search.set.push(switch(rest.next())?),
            "--break" => {
                let invariant = invariant(rest.next())?;
                search.goal = Wanted::Break(invariant);
                if Leases::INVARIANTS.contains(&invariant) {
                    search.timed.get_or_insert_default();
                }
                goals += 1;
            }
            "--reach" => {
                let Some(claim) = rest.next() else {
                    return wrong("--reach needs a claim", "write --reach \"s2 leads term 2\"");
                };
                search.goal = Wanted::Reach(claim.clone());
                goals += 1;
            }
            "--forbid" => {
                let Some(one) = rest.next() else {
                    let remedy = format!("moves are {}", Move::WORDS);
                    return wrong("--forbid needs a move", remedy);
                };
                search.forbid.push(one.clone());
            }
            "--may" => {
                let Some(one) = rest.next() else {
                    return wrong("--may needs a command", "write --may \"get c1 x at s1\"");
                };
                search.may.push(one.clone());
                search.timed.get_or_insert_default();
            }
            "--budget" => budget(rest.next(), &mut search)?,
            option if option.starts_with('-') => {
                let known = "--break, --reach, --set, --forbid, --may and --budget";
                return unknown(option, known);
            }
            file if search.file.is_empty() => file.clone_into(&mut search.file),
            file => {
                let what = format!("explore takes one file; `{file}` is a second");
                return wrong(what, "a claim or a move of several words stands in quotes");
            }
        }
    }
    let example = "try: leasehold explore lessons/isolated-leader.md --break election-safety";
    if search.file.is_empty() {
        return wrong("explore needs a file", example);
    }
    if leases::Bounds::MENU_MAX < search.may.len() {
        let (given, most) = (search.may.len(), leases::Bounds::MENU_MAX);
        let what = format!("--may is given {given} times; {most} are the most");
        return wrong(what, "leave some out");
    }
    match goals {
        0 => wrong("explore needs --break or --reach", example),
        1 => Ok(search),
        _ => wrong(
            "explore looks for one thing",
            "give --break or --reach once",
        ),
    }
}

const BUDGET: &str = "crashes, duplicates, puts, rings, term, log, in_flight, states, depth, memory; \
     in time: tick, horizon, pauses, writes, crashes, latencies, rates, delay, drift";

fn budget(value: Option<&String>, search: &mut Explore) -> Result<(), Wrong> {
    let Some(value) = value else {
        return wrong(
            "--budget needs keys and numbers",
            "write --budget crashes=2,term=4",
        );
    };
    for pair in value.split(',') {
        let (key, number) = pair.split_once('=').unwrap_or((pair, ""));
        let Explore { bounds, limits, .. } = search;
        let few = |low: u64| amount(key, number, low, u64::from(Bounds::BUDGET_MAX));
        match key {
            "tick" | "horizon" | "pauses" | "writes" | "latencies" | "rates" | "delay"
            | "drift" => {
                in_time(key, number, search.timed.get_or_insert_default())?;
            }
            "crashes" => {
                bounds.crashes = few(0)? as u8;
                search.crashes_given = true;
            }
            "duplicates" => bounds.duplicates = few(0)? as u8,
            "puts" => bounds.puts = few(0)? as u8,
            "rings" => bounds.rings = few(0)? as u8,
            "in_flight" => bounds.in_flight = few(1)? as u8,
            "term" => bounds.term = amount(key, number, 1, 1_000)?,
            "log" => bounds.log = amount(key, number, 1, 1_000)?,
            "states" => limits.states = amount(key, number, 1, u64::from(u32::MAX))?,
            "depth" => limits.depth = amount(key, number, 1, 100_000)? as u32,
            "memory" => limits.bytes = memory(number)?,
            _ => {
                let what = format!("`{key}` is not a key of the budget");
                return wrong(what, format!("keys are {BUDGET}"));
            }
        }
    }
    Ok(())
}

fn in_time(key: &str, number: &str, bounds: &mut leases::Bounds) -> Result<(), Wrong> {
    let few = || amount(key, number, 0, 15).map(|n| n as u8);
    let span = || match number.parse() {
        Ok(SpanText(span)) if Duration::ZERO < span => Ok(span),
        _ => wrong(
            format!("{key} cannot be `{number}`"),
            "write a span, as in 500ms or 12s",
        ),
    };
    match key {
        "tick" => bounds.tick = span()?,
        "horizon" => bounds.horizon = span()?,
        "delay" => bounds.delays = vec![span()?],
        "pauses" => bounds.pauses = few()?,
        "writes" => bounds.writes = few()?,
        "latencies" => bounds.latencies = few()?,
        "rates" => bounds.rates = few()?,
        _ => {
            let percent = amount(key, number.strip_suffix('%').unwrap_or(number), 1, 90)? as u32;
            let ppm = percent * 10_000;
            bounds.clocks = vec![1_000_000 - ppm, 1_000_000 + ppm];
        }
    }
    Ok(())
}

fn amount(key: &str, number: &str, low: u64, high: u64) -> Result<u64, Wrong> {
    match number.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => wrong(
            format!("{key} cannot be `{number}`"),
            format!("write a number from {low} to {high}"),
        ),
    }
}

fn memory(text: &str) -> Result<u64, Wrong> {
    let units = [("GB", 30), ("MB", 20), ("KB", 10)];
    let split = units
        .iter()
        .find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, *bits)));
    let (number, bits) = split.unwrap_or((text, 0));
    match number.parse::<u64>().map(|n| n.checked_mul(1 << bits)) {
        Ok(Some(bytes)) if (1 << 20..=1 << 38).contains(&bytes) => Ok(bytes),
        _ => wrong(
            format!("memory cannot be `{text}`"),
            "write it as in memory=512MB, from 1MB to 256GB",
        ),
    }
}

const FUZZ_OPTIONS: &str = "--seed N, --runs N, --steps N, --set SWITCH=POSITION, --break INVARIANT, --beyond KINDS and --replays N";

fn fuzz(words: &[String]) -> Result<fuzz::Options, Wrong> {
    let mut options = fuzz::Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => options.seed = within(word, words.next(), 0, u64::MAX)?,
            "--runs" => options.runs = within(word, words.next(), 1, 1_000_000_000)?,
            "--steps" => options.steps = within(word, words.next(), 1, 1_000_000)?,
            "--replays" => options.replays = within(word, words.next(), 1, 1_000_000)?,
            "--set" => options.set.push(switch(words.next())?),
            "--break" => options.sought = Some(invariant(words.next())?),
            "--beyond" => {
                for kind in words.next().map_or("", String::as_str).split(',') {
                    match kind {
                        "drift" => options.beyond.drift = true,
                        "switches" => options.beyond.switches = true,
                        other => {
                            let what = format!("`{other}` is nothing that fuzz could go beyond");
                            return wrong(
                                what,
                                "write --beyond drift, switches, or drift,switches",
                            );
                        }
                    }
                }
            }
            option => return unknown(option, FUZZ_OPTIONS),
        }
    }
    Ok(options)
}

fn within(option: &str, value: Option<&String>, low: u64, high: u64) -> Result<u64, Wrong> {
    match value.map(|value| value.parse()) {
        Some(Ok(number)) if (low..=high).contains(&number) => Ok(number),
        _ => wrong(
            format!("{option} needs a number"),
            format!("write {option} 20; from {low} to {high}"),
        ),
    }
}

fn invariant(value: Option<&String>) -> Result<Invariant, Wrong> {
    let given = value.map_or("", String::as_str);
    given.parse().or_else(|()| {
        let known: Vec<&str> = Invariant::ALL.iter().map(|i| i.id()).collect();
        let what = format!("`{given}` is not an invariant");
        wrong(what, format!("invariants are {}", known.join(", ")))
    })
}

fn unknown<T>(option: &str, known: &str) -> Result<T, Wrong> {
    wrong(
        format!("`{option}` is not an option here"),
        format!("options are {known}"),
    )
}

fn number(option: &str, value: Option<&String>) -> Result<u64, Wrong> {
    match value.map(|value| value.parse()) {
        Some(Ok(number)) if (1..=10_000).contains(&number) => Ok(number),
        _ => wrong(
            format!("{option} needs a number"),
            format!("write {option} 20; at most 10000"),
        ),
    }
}

fn switch(value: Option<&String>) -> Result<(Switch, Position), Wrong> {
    let example = "write it as in --set fence=enforce";
    let Some((name, word)) = value.and_then(|value| value.split_once('=')) else {
        return wrong("--set needs a switch and its position", example);
    };
    let Ok(switch) = name.parse::<Switch>() else {
        let names: Vec<&str> = Switch::ALL.iter().map(|switch| switch.name()).collect();
        return wrong(
            format!("`{name}` is not a switch"),
            format!("switches are {}", names.join(", ")),
        );
    };
    match switch.position(word) {
        Some(position) => Ok((switch, position)),
        None => wrong(
            format!("`{word}` is not a position of {name}"),
            format!("write {}", switch.words()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_engine::swarm::Beyond;

    fn read(line: &str) -> Result<Command, Wrong> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn commands_are_read() {
        let check = Check {
            paths: vec!["lessons".into()],
            negate_each: true,
            seeds: 20,
        };
        assert_eq!(
            read("check lessons --negate-each --seeds 20"),
            Ok(Command::Check(check))
        );
        let run = Run {
            file: "a.md".into(),
            set: vec![(Switch::Fence, Position::On)],
            hashes: false,
        };
        assert_eq!(read("run a.md --set fence=enforce"), Ok(Command::Run(run)));
        assert_eq!(read("check --help"), Ok(Command::Help));
        let options = fuzz::Options {
            seed: 17,
            runs: 1,
            set: vec![(Switch::Fence, Position::Off)],
            sought: Some(Invariant::NoOlderToken),
            beyond: Beyond {
                drift: true,
                switches: false,
            },
            ..fuzz::Options::default()
        };
        let line = "fuzz --seed 17 --runs 1 --set fence=off --break no-older-token --beyond drift";
        assert_eq!(read(line), Ok(Command::Fuzz(options)));
    }

    #[test]
    fn a_search_is_read() {
        let line = "explore a.md --set persist_term_vote=off --break election-safety --forbid crash \
                    --budget crashes=2,term=4,memory=64MB";
        let Ok(Command::Explore(search)) = read(line) else {
            panic!("{:?}", read(line));
        };
        assert_eq!(search.goal, Wanted::Break(Invariant::ElectionSafety));
        assert_eq!(search.forbid, ["crash"]);
        assert_eq!((search.bounds.crashes, search.bounds.term), (2, 4));
        assert_eq!(search.limits.bytes, 64 << 20);
        let wrong = |line: &str| read(line).unwrap_err();
        assert_eq!(
            wrong("explore a.md").what,
            "explore needs --break or --reach"
        );
        let unknown = wrong("explore a.md --break honesty");
        assert_eq!(unknown.what, "`honesty` is not an invariant");
        assert!(unknown.remedy.contains("election-safety, log-matching"));
        let Ok(Command::Explore(timed)) = read("explore a.md --break one-holder --budget tick=1s")
        else {
            panic!("a search of leases is read");
        };
        assert_eq!(timed.timed.unwrap().tick, Duration::secs(1));
        let line = "explore a.md --break linearizable-reads --may heal --may heal";
        let Ok(Command::Explore(reads)) = read(line) else {
            panic!("a search of reads is read");
        };
        assert!(reads.timed.is_some());
        assert_eq!(reads.may, ["heal", "heal"]);
        assert_eq!(wrong("explore a.md --may").what, "--may needs a command");
        let long = format!(
            "explore a.md --break one-holder{}",
            " --may heal".repeat(65)
        );
        assert_eq!(
            wrong(&long).what,
            "--may is given 65 times; 64 are the most"
        );
        let budget = |budget: &str| wrong(&format!("explore a.md --budget {budget}"));
        assert_eq!(budget("crash=1").what, "`crash` is not a key of the budget");
        assert_eq!(budget("crash=1").remedy, format!("keys are {BUDGET}"));
        assert_eq!(budget("crashes=many").what, "crashes cannot be `many`");
        assert_eq!(budget("memory=1").what, "memory cannot be `1`");
    }

    #[test]
    fn what_is_not_understood_says_what_would_be() {
        let what = |line: &str| read(line).unwrap_err().what;
        assert_eq!(what("fuzz 17"), "`17` is not an option here");
        assert_eq!(what("fuzz --runs 0"), "--runs needs a number");
        assert_eq!(what("fuzz --seed -1"), "--seed needs a number");
        assert_eq!(what("fuzz --break fence"), "`fence` is not an invariant");
        assert_eq!(
            what("fuzz --beyond everything"),
            "`everything` is nothing that fuzz could go beyond"
        );
        assert_eq!(what(""), "no command was given");
        assert_eq!(what("chekc lessons"), "`chekc` is not a command");
        assert_eq!(what("check"), "check needs a lesson or a folder");
        assert_eq!(what("check lessons --seeds many"), "--seeds needs a number");
        assert_eq!(
            what("run a.md --set fence"),
            "--set needs a switch and its position"
        );
        assert_eq!(what("run a.md --set fense=off"), "`fense` is not a switch");
        assert_eq!(
            what("run a.md --set fence=ajar"),
            "`ajar` is not a position of fence"
        );
        assert_eq!(
            what("run a.md b.md"),
            "run takes one file; `b.md` is a second"
        );
    }
}
