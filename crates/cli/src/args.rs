//! What was asked for on the command line.
//!
//! One table row a command, read by hand: there are few. A word that is not understood is an error,
//! never passed over.

use leasehold_engine::switch::{Position, Switch};

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

Exit codes: 0 all is well, 1 a claim or a lesson is wrong, 2 called wrongly or a file cannot be read.
How lessons and scripts are written: lessons/README.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Check(Check),
    Run(Run),
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
        "help" | "--help" | "-h" => Ok(Command::Help),
        other => wrong(
            format!("`{other}` is not a command"),
            "commands are check and run; leasehold --help tells more",
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
    }

    #[test]
    fn what_is_not_understood_says_what_would_be() {
        let what = |line: &str| read(line).unwrap_err().what;
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
