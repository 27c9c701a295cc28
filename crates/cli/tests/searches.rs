//! What the search finds for each mechanism of consensus that is taken away, kept as a script each.
//!
//! A cabinet of burglaries: for every lock that was left open, the shortest way in, on film. Each film is
//! made again and compared, played in a world of its own, and played once more with the lock closed.
//! `BLESS=1 cargo test -p leasehold-cli --test searches` writes the scripts anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod leasehold;

use std::path::{Path, PathBuf};
use std::{env, fs};

use leasehold::{leasehold, root};
use leasehold_engine::event::Step;
use leasehold_engine::explore::consensus::{Bounds, Consensus, Goal};
use leasehold_engine::explore::{Explorer, Limits, Outcome, Progress};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::world::World;
use leasehold_lesson::director::set_switch;
use leasehold_lesson::lesson::Do;
use leasehold_lesson::{Script, parse_script, words};

struct Case {
    switch: &'static str,
    start: &'static str,
    invariant: &'static str,
    /// More words of the call, to keep the search small.
    narrow: &'static [&'static str],
}

const CASES: [Case; 9] = [
    Case {
        switch: "persist_term_vote",
        start: "cold",
        invariant: "election-safety",
        narrow: &[],
    },
    Case {
        switch: "one_vote_per_term",
        start: "cold",
        invariant: "election-safety",
        narrow: &[],
    },
    // With three servers any second vote is a majority, counted twice or not.
    Case {
        switch: "vote_counts_by_id",
        start: "five-cold",
        invariant: "election-safety",
        narrow: &[
            "--budget",
            "crashes=0,rings=0,puts=0,duplicates=1,term=1",
            "--forbid",
            "campaign s2",
            "--forbid",
            "campaign s3",
            "--forbid",
            "campaign s4",
            "--forbid",
            "deliver s1>s4",
        ],
    },
    Case {
        switch: "log_up_to_date_check",
        start: "cold",
        invariant: "leader-completeness",
        narrow: &[],
    },
    Case {
        switch: "prev_log_check",
        start: "cold",
        invariant: "log-matching",
        narrow: &[],
    },
    Case {
        switch: "stale_term_check",
        start: "led",
        invariant: "leader-completeness",
        narrow: &["--budget", "crashes=0,rings=0,in_flight=3"],
    },
    Case {
        switch: "commit_only_current_term",
        start: "figure-8",
        invariant: "state-machine-safety",
        narrow: &[
            "--budget",
            "crashes=0,rings=0,puts=0,term=4",
            "--forbid",
            "campaign s1",
            "--forbid",
            "campaign s3",
            "--forbid",
            "deliver s1>s2",
            "--forbid",
            "deliver s2>s1",
            "--forbid",
            "deliver s1>c1",
            "--forbid",
            "deliver s2>c1",
        ],
    },
    // With one entry an append, a follower may hear of a commit beyond what it was just given.
    Case {
        switch: "commit_clamp_to_last_new_entry",
        start: "led-one-at-a-time",
        invariant: "state-machine-safety",
        narrow: &[
            "--budget",
            "crashes=0,rings=1,term=2,in_flight=3",
            "--forbid",
            "campaign s3",
            "--forbid",
            "ring s1",
            "--forbid",
            "ring c1",
            "--forbid",
            "deliver s1>c1",
            "--forbid",
            "deliver s2>c1",
            "--forbid",
            "deliver c1>s2",
        ],
    },
    Case {
        switch: "reply_after_commit",
        start: "cold",
        invariant: "no-lost-write",
        narrow: &["--budget", "crashes=0,rings=0"],
    },
];

const FOLDER: &str = "crates/cli/tests/searches";

fn start_of(case: &Case) -> String {
    format!("{FOLDER}/starts/{}.txt", case.start)
}

fn kept(case: &Case) -> PathBuf {
    root().join(FOLDER).join(format!("{}.txt", case.switch))
}

#[test]
fn each_mechanism_taken_away_is_found_out_by_the_script_that_is_kept() {
    for case in &CASES {
        let start = start_of(case);
        let set = format!("{}=off", case.switch);
        let mut words = vec!["explore", &start, "--set", &set, "--break", case.invariant];
        words.extend(case.narrow);
        let (code, text) = leasehold(&words);
        assert_eq!(code, 0, "{}: {text}", case.switch);
        let path = kept(case);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let old = fs::read_to_string(&path).unwrap_or_default();
        let (new, old) = (without_count(&text), without_count(&old));
        assert_eq!(new, old, "{}: BLESS=1 writes it anew", case.switch);
    }
}

#[test]
fn a_lesson_is_searched_and_its_script_plays() {
    let lesson = "lessons/isolated-leader.md";
    let search = |more: &[&str]| leasehold(&[&["explore", lesson], more].concat());
    let call = [
        "--set",
        "persist_term_vote=off",
        "--break",
        "election-safety",
    ];
    let (code, text) = search(&call);
    assert_eq!(code, 0, "{text}");
    assert_eq!(search(&call), (code, text.clone()));
    assert!(text.contains("; left out: stores payments\n"), "{text}");
    let path = env::temp_dir().join(format!("leasehold-search-{}.txt", std::process::id()));
    fs::write(&path, &text).unwrap();
    let (code, run) = leasehold(&["run", &path.display().to_string()]);
    fs::remove_file(&path).unwrap();
    assert_eq!(code, 0, "{run}");
    assert!(
        run.ends_with("invariants broken: election-safety\n"),
        "{run}"
    );

    let (code, text) = search(&["--reach", "s2 leads term 2 and s1 believes it leads"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("found after") && text.contains("campaign s2\n"),
        "{text}"
    );
    let (code, text) = search(&[
        "--reach",
        "s2 leads",
        "--forbid",
        "campaign s2",
        "--budget",
        "depth=3",
    ]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the budget of depth is used up"), "{text}");
    for (call, what) in [
        (["--reach", "s1 flies"], "another word is expected"),
        (
            ["--reach", "payments accepts s1"],
            "no process is called `payments`",
        ),
        (["--reach", "s2 stands from 1s to 2s"], "a span of time"),
        (["--break", "honesty"], "is not an invariant"),
    ] {
        let (code, text) = search(&call);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(what) && text.lines().count() == 2, "{text}");
    }
    let (code, text) = search(&["--break", "log-matching", "--forbid", "sing"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("moves are deliver, duplicate"), "{text}");
}

#[test]
fn the_opening_lesson_is_found_by_a_search_in_time() {
    let lesson = "lessons/pause-outlives-its-lease.md";
    let (code, text) = leasehold(&["explore", lesson, "--break", "no-older-token"]);
    assert_eq!(code, 0, "{text}");
    let why = "# no-older-token breaks: orders accepted token 1 of A, after token 2 of B.\n";
    assert!(text.contains(why), "{text}");
}

/// How many states it took tells of the engine's own bookkeeping too; what was found does not.
fn without_count(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(" states: ") {
        Some((_, moves)) => moves,
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn read(path: &Path) -> (String, Script) {
    let text = fs::read_to_string(path).unwrap();
    let script = parse_script(&text, "s.txt").unwrap_or_else(|wrong| panic!("{wrong:?}"));
    (text, script)
}

/// Plays a script's commands; what no longer applies is passed over.
fn play(script: &Script) -> World {
    let mut world = World::new(script.setup.clone()).unwrap();
    for directive in &script.directives {
        if let Do::Act(command) = &directive.what {
            world.apply_or_skip(command, &mut Step::empty());
        }
    }
    world
}

#[test]
fn each_script_breaks_it_in_a_world_and_breaks_nothing_with_the_mechanism_back() {
    for case in &CASES {
        let (text, mut script) = read(&kept(case));
        let invariant: Invariant = case.invariant.parse().unwrap();
        let switch: Switch = case.switch.parse().unwrap();
        assert!(
            switch.breaks() == Some(invariant),
            "{}: the table of switches says otherwise",
            case.switch
        );
        let off = play(&script);
        let broken = off.broken(invariant).unwrap();
        let why = words::reason(&broken.reason, off.names());
        assert!(
            text.contains(&format!("# {invariant} breaks: {why}\n")),
            "{}: {why}",
            case.switch
        );
        set_switch(&mut script.setup, switch, Position::On);
        let on = play(&script);
        for invariant in Invariant::ALL {
            assert_eq!(on.broken(*invariant), None, "{} on", case.switch);
        }
        // And the command that plays scripts says the same.
        let path = kept(case).display().to_string();
        let (code, text) = leasehold(&["run", &path]);
        assert_eq!(code, 0, "{text}");
        assert!(
            text.contains(&format!("{invariant} broke at step ")),
            "{text}"
        );
    }
}

/// Looks for a break of any invariant of consensus, with every switch as the start has it.
fn look(start: &str, invariant: Invariant, bounds: Bounds, states: u64) -> (bool, Progress) {
    let path = root().join(FOLDER).join("starts").join(start);
    let world = play(&read(&path).1);
    let goal = Goal::Break(invariant);
    let model = Consensus::new(&world, bounds, goal, Vec::new()).unwrap();
    let limits = Limits {
        states,
        bytes: 4 << 30,
        depth: u32::MAX,
    };
    let mut explorer = Explorer::new(model, limits);
    let closed = match explorer.run() {
        Outcome::Closed => true,
        Outcome::LimitReached(_) => false,
        Outcome::Found { path, .. } => panic!("{start}: {invariant} breaks: {path:?}"),
    };
    (closed, explorer.progress())
}

#[test]
fn with_every_mechanism_on_small_spaces_are_seen_whole() {
    let one_term = Bounds {
        term: 1,
        in_flight: 2,
        rings: 0,
        puts: 0,
        ..Bounds::default()
    };
    let two_terms = Bounds {
        term: 2,
        in_flight: 1,
        crashes: 0,
        ..one_term
    };
    for invariant in Goal::INVARIANTS {
        let (closed, first) = look("cold.txt", invariant, one_term, u64::MAX);
        assert!(closed);
        assert_eq!(
            look("cold.txt", invariant, one_term, u64::MAX),
            (true, first)
        );
    }
    let (closed, progress) = look(
        "cold.txt",
        Invariant::StateMachineSafety,
        two_terms,
        u64::MAX,
    );
    assert!(closed && progress.states > 100_000, "{progress:?}");
}

/// A million states from each start, or fifty thousand where nobody asked for more (`SLOW`).
#[test]
fn with_every_mechanism_on_nothing_breaks_in_many_states() {
    let states = if env::var_os("SLOW").is_some() {
        1_000_000
    } else {
        50_000
    };
    for case in &CASES {
        let bounds = Bounds {
            term: 4,
            duplicates: 1,
            ..Bounds::default()
        };
        let invariant = case.invariant.parse().unwrap();
        let (closed, progress) = look(&format!("{}.txt", case.start), invariant, bounds, states);
        assert!(closed || progress.states == states, "{progress:?}");
    }
}
