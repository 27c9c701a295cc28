//! What was asked for on the command line.
//!
//! A form with few fields: anything that does not fit a field is sent back with the form, not guessed at.
//! Arguments of `serve` are the exception, because they belong to trunk.

pub(crate) const USAGE: &str = "\
Usage: cargo xtask <task>

  serve [--check] [trunk's arguments]   set up, then serve the page and rebuild it on change;
                                        --check: start, fetch the page and its wasm, end
  test [--fast] [--only NAME]           set up, then check everything;
                                        --fast: leave out what needs a browser
                                        --only: the tests whose name contains NAME, wherever they are
                                        (SLOW=1 in the environment: the long versions too)
  bench                                 measure the engine: beside another one, a run, a search, in wasm
  mutants [--seed N] [--count N]        put small faults into the protocol and see that the tests notice;
                                        by default 300 of seed 1
  shots [--only NAME]                   render the decisive moments into e2e/shots
  size                                  list what is shipped: raw, gzip, brotli";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Usage,
    Serve {
        check: bool,
        trunk_args: Vec<String>,
    },
    Test {
        fast: bool,
        only: Option<String>,
    },
    Bench,
    Mutants {
        seed: u64,
        count: usize,
    },
    Shots {
        only: Option<String>,
    },
    Size,
}

/// Reads the arguments after the program's name; an error says which one is wrong and why.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Task, String> {
    let mut args = args.into_iter();
    let Some(task) = args.next() else {
        return Ok(Task::Usage);
    };
    let rest: Vec<String> = args.collect();
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return Ok(Task::Usage);
    }
    match task.as_str() {
        "help" | "--help" | "-h" => Ok(Task::Usage),
        "serve" => Ok(serve(rest)),
        "test" => test(rest),
        "bench" => nothing_more("bench", &rest).map(|()| Task::Bench),
        "mutants" => mutants(rest),
        "shots" => shots(rest),
        "size" => nothing_more("size", &rest).map(|()| Task::Size),
        other => Err(format!("there is no task `{other}`")),
    }
}

fn serve(rest: Vec<String>) -> Task {
    let check = rest.iter().any(|arg| arg == "--check");
    let trunk_args = rest.into_iter().filter(|arg| arg != "--check").collect();
    Task::Serve { check, trunk_args }
}

fn test(rest: Vec<String>) -> Result<Task, String> {
    let (mut fast, mut only) = (false, None);
    let mut rest = rest.into_iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--fast" => fast = true,
            "--only" => only = Some(name_after_only(rest.next())?),
            other => return Err(format!("`test` does not know `{other}`")),
        }
    }
    if fast && only.is_some() {
        return Err("`--fast` and `--only` exclude each other".to_owned());
    }
    Ok(Task::Test { fast, only })
}

fn mutants(rest: Vec<String>) -> Result<Task, String> {
    let (mut seed, mut count) = (1, 300);
    let mut rest = rest.into_iter();
    while let Some(arg) = rest.next() {
        let number = |given: Option<String>| -> Result<u64, String> {
            let given = given.and_then(|text| text.parse().ok());
            given.ok_or_else(|| format!("`{arg}` needs a whole number after it"))
        };
        match arg.as_str() {
            "--seed" => seed = number(rest.next())?,
            "--count" => count = number(rest.next())? as usize,
            other => return Err(format!("`mutants` does not know `{other}`")),
        }
    }
    Ok(Task::Mutants { seed, count })
}

fn shots(rest: Vec<String>) -> Result<Task, String> {
    let mut only = None;
    let mut rest = rest.into_iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => only = Some(name_after_only(rest.next())?),
            other => return Err(format!("`shots` does not know `{other}`")),
        }
    }
    Ok(Task::Shots { only })
}

fn name_after_only(arg: Option<String>) -> Result<String, String> {
    arg.filter(|name| !name.is_empty() && !name.starts_with("--"))
        .ok_or_else(|| "`--only` needs a name after it".to_owned())
}

fn nothing_more(task: &str, rest: &[String]) -> Result<(), String> {
    match rest.first() {
        None => Ok(()),
        Some(arg) => Err(format!("`{task}` does not know `{arg}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, want: Result<Task, &str>) {
        let got = parse(line.split_whitespace().map(str::to_owned));
        assert_eq!(got, want.map_err(str::to_owned), "cargo xtask {line}");
    }

    fn only(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn reads_every_task() {
        check("", Ok(Task::Usage));
        check("--help", Ok(Task::Usage));
        check("size --help", Ok(Task::Usage));
        check("bench", Ok(Task::Bench));
        check("size", Ok(Task::Size));
        let mutants = |seed, count| Ok(Task::Mutants { seed, count });
        check("mutants", mutants(1, 300));
        check("mutants --count 40 --seed 7", mutants(7, 40));
        check("shots", Ok(Task::Shots { only: None }));
        check(
            "shots --only opening",
            Ok(Task::Shots {
                only: only("opening"),
            }),
        );
        check(
            "test",
            Ok(Task::Test {
                fast: false,
                only: None,
            }),
        );
        check(
            "test --fast",
            Ok(Task::Test {
                fast: true,
                only: None,
            }),
        );
        check(
            "test --only votes_once",
            Ok(Task::Test {
                fast: false,
                only: only("votes_once"),
            }),
        );
    }

    #[test]
    fn hands_on_to_trunk_what_is_trunks() {
        let trunk_args = vec!["--open".to_owned(), "--port".to_owned(), "9000".to_owned()];
        check(
            "serve --open --port 9000",
            Ok(Task::Serve {
                check: false,
                trunk_args,
            }),
        );
        check(
            "serve --check",
            Ok(Task::Serve {
                check: true,
                trunk_args: vec![],
            }),
        );
    }

    #[test]
    fn sends_back_what_it_does_not_know() {
        check("tset", Err("there is no task `tset`"));
        check("test --quick", Err("`test` does not know `--quick`"));
        check("test --only", Err("`--only` needs a name after it"));
        check("test --only --fast", Err("`--only` needs a name after it"));
        check(
            "test --fast --only x",
            Err("`--fast` and `--only` exclude each other"),
        );
        check("shots opening", Err("`shots` does not know `opening`"));
        check("size --json", Err("`size` does not know `--json`"));
        check(
            "mutants --seed x",
            Err("`--seed` needs a whole number after it"),
        );
        check("bench --browser", Err("`bench` does not know `--browser`"));
    }
}
