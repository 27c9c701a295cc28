//! What the searches find for each mechanism that is taken away, kept as a script each.
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
use leasehold_engine::explore::leases::run;
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
    /// Words after those, for a wider search with the switch on.
    wide: &'static [&'static str],
}

const UNTIMED: [Case; 9] = [
    Case {
        switch: "persist_term_vote",
        start: "cold",
        invariant: "election-safety",
        narrow: &[],
        wide: &[],
    },
    Case {
        switch: "one_vote_per_term",
        start: "cold",
        invariant: "election-safety",
        narrow: &[],
        wide: &[],
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
        wide: &[],
    },
    Case {
        switch: "log_up_to_date_check",
        start: "cold",
        invariant: "leader-completeness",
        narrow: &[],
        wide: &[],
    },
    Case {
        switch: "prev_log_check",
        start: "cold",
        invariant: "log-matching",
        narrow: &[],
        wide: &[],
    },
    Case {
        switch: "stale_term_check",
        start: "led",
        invariant: "leader-completeness",
        narrow: &["--budget", "crashes=0,rings=0,in_flight=3"],
        wide: &[],
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
        wide: &[],
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
        wide: &[],
    },
    Case {
        switch: "reply_after_commit",
        start: "cold",
        invariant: "no-lost-write",
        narrow: &["--budget", "crashes=0,rings=0"],
        wide: &[],
    },
];

const TIMED: [Case; 22] = [
    Case {
        switch: "durable_ack",
        start: "disks-slow",
        invariant: "leader-completeness",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=250ms,horizon=4s",
            "--may",
            "crash s1",
            "--may",
            "crash s2",
            "--may",
            "campaign s2",
        ],
        wide: &[],
    },
    Case {
        switch: "refuse_vote_until_repaired",
        start: "disks-one-behind",
        invariant: "leader-completeness",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=200ms,horizon=2s",
            "--may",
            "heal",
            "--may",
            "crash s2",
            "--may",
            "disk s2 corrupt tail",
            "--may",
            "campaign s3",
        ],
        wide: &["--budget", "crashes=2"],
    },
    Case {
        switch: "joint_consensus",
        start: "spares",
        invariant: "election-safety",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=100ms,horizon=1s",
            "--may",
            "partition s3 s4 s5 | s1 s2",
            "--may",
            "reconfigure s1 s2 s3 s4 s5",
            "--may",
            "crash s3",
            "--may",
            "campaign s1",
            "--may",
            "campaign s3",
        ],
        wide: &[],
    },
    Case {
        switch: "own_term_commit_before_reconfig",
        start: "spares-two-changes",
        invariant: "leader-completeness",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=100ms,horizon=1500ms",
            "--may",
            "remove s1 at s2",
            "--may",
            "heal",
            "--may",
            "partition s1 s4 s5 | s2 s3",
            "--may",
            "campaign s1",
            "--may",
            "campaign s1",
        ],
        wide: &[],
    },
    Case {
        switch: "grant_at_apply",
        start: "lease-slow-disk",
        invariant: "one-holder",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=100ms,horizon=2s",
            "--may",
            "crash s1",
            "--may",
            "pause s1",
            "--may",
            "release A",
        ],
        wide: &[],
    },
    Case {
        switch: "durable_token_counter",
        start: "lease-held",
        invariant: "token-monotonic",
        narrow: &[
            "--budget",
            "pauses=1,writes=0,tick=1s,horizon=9s",
            "--may",
            "crash s1",
            "--may",
            "crash s2",
            "--may",
            "crash s3",
            "--may",
            "campaign s2",
        ],
        wide: &[],
    },
    Case {
        switch: "renew_quorum_round",
        start: "lease",
        invariant: "deadline-within-grant",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=1s,horizon=9s",
            "--may",
            "partition s3 | s1 s2",
            "--may",
            "partition s1 A | s2 s3",
            "--may",
            "heal",
            "--may",
            "crash s2",
        ],
        wide: &[],
    },
    Case {
        switch: "failover_extends_leases",
        start: "lease",
        invariant: "deadline-within-grant",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=1s,horizon=9s",
            "--may",
            "crash s1",
            "--may",
            "crash s2",
            "--may",
            "crash s3",
            "--may",
            "campaign s2",
        ],
        wide: &[],
    },
    Case {
        switch: "conservative_deadline",
        start: "lease-one-server",
        invariant: "deadline-within-grant",
        narrow: &["--budget", "pauses=1,writes=0,tick=500ms,horizon=7s"],
        wide: &["--budget", "pauses=2,crashes=2"],
    },
    Case {
        switch: "monotonic_deadline",
        start: "lease-one-server",
        invariant: "deadline-within-grant",
        narrow: &[
            "--budget",
            "pauses=1,writes=0,tick=500ms,horizon=7s",
            "--may",
            "clock A jump -5s",
        ],
        wide: &["--budget", "pauses=2,crashes=1"],
    },
    Case {
        switch: "drift_bound",
        start: "lease-drift",
        invariant: "deadline-within-grant",
        narrow: &[
            "--budget",
            "pauses=1,writes=0,tick=500ms,horizon=7s",
            "--may",
            "clock A rate -10%",
        ],
        wide: &["--budget", "pauses=2,crashes=2"],
    },
    Case {
        switch: "startup_quarantine",
        start: "lease-in-memory",
        invariant: "one-holder",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=1s,horizon=9s",
            "--may",
            "crash s1",
            "--may",
            "crash s1",
        ],
        wide: &["--budget", "pauses=2,crashes=2,tick=500ms"],
    },
    Case {
        switch: "readindex_quorum_round",
        start: "reads",
        invariant: "linearizable-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=100ms,horizon=1s",
            "--may",
            "partition s1 c1 | s2 s3 c2",
            "--may",
            r#"put c2 x "2""#,
            "--may",
            "get c1 x at s1",
            "--may",
            "campaign s2",
        ],
        wide: &[],
    },
    Case {
        switch: "read_after_own_commit",
        start: "reads-no-first-entry",
        invariant: "linearizable-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=20ms,horizon=300ms",
            "--may",
            "campaign s2",
            "--may",
            "get c2 x at s2",
            "--may",
            r#"put c1 x "2""#,
            "--may",
            "cut s1 -> s2",
            "--may",
            "partition s2 | s3",
        ],
        wide: &[],
    },
    Case {
        switch: "read_waits_for_apply",
        start: "reads-behind",
        invariant: "linearizable-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=5ms,horizon=100ms",
            "--may",
            "get c2 x at s2",
            "--may",
            "cut s1 -> s2",
            "--may",
            "heal",
        ],
        wide: &["--budget", "crashes=1"],
    },
    Case {
        switch: "lease_from_send_time",
        start: "lease-reads-late-answers",
        invariant: "linearizable-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=50ms,horizon=600ms",
            "--may",
            "partition s1 c1 | s2 s3 c2",
            "--may",
            "cut s1 -> s2",
            "--may",
            "cut s1 -> s3",
            "--may",
            r#"put c2 x "2""#,
            "--may",
            "get c1 x at s1",
        ],
        wide: &[],
    },
    Case {
        switch: "transfer_expires_lease",
        start: "lease-reads",
        invariant: "linearizable-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=10ms,horizon=300ms",
            "--may",
            "transfer s2 -> s1",
            "--may",
            r#"put c2 x "2""#,
            "--may",
            "get c1 x at s2",
            "--may",
            "partition s2 c1 | s1 s3 c2",
        ],
        wide: &[],
    },
    Case {
        switch: "session_floor",
        start: "reads",
        invariant: "monotonic-reads",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=50ms,horizon=1s",
            "--may",
            r#"put c1 x "1""#,
            "--may",
            "get c1 x",
            "--may",
            "get c1 x stale at s3",
            "--may",
            "cut s1 -> s3",
            "--may",
            "heal",
        ],
        wide: &[],
    },
    Case {
        switch: "op_dedupe",
        start: "store",
        invariant: "one-effect",
        narrow: &[
            "--budget",
            "pauses=0,writes=0,tick=250ms,horizon=2s",
            "--may",
            r#"write A orders "1" op 0"#,
            "--may",
            r#"write A orders "1" op 0"#,
            "--may",
            "crash orders",
            "--may",
            "drop orders>A#1",
        ],
        wide: &["--budget", "pauses=2,writes=1,crashes=1,horizon=3s"],
    },
    Case {
        switch: "fence",
        start: "store",
        invariant: "no-older-token",
        narrow: &["--budget", "pauses=1,writes=2,tick=500ms,horizon=12s"],
        wide: &[],
    },
    Case {
        switch: "fence_atomic",
        start: "store-check-then-write",
        invariant: "no-older-token",
        narrow: &["--budget", "pauses=0,writes=1,tick=500ms,horizon=8s"],
        wide: &["--budget", "pauses=2,writes=2"],
    },
    Case {
        switch: "durable_fence",
        start: "store-write-held-up",
        invariant: "no-older-token",
        narrow: &[
            "--budget",
            "pauses=0,writes=1,tick=1s,horizon=10s",
            "--may",
            "crash orders",
            "--may",
            "restart orders",
        ],
        wide: &["--budget", "pauses=2,writes=2"],
    },
];

fn cases() -> impl Iterator<Item = &'static Case> {
    UNTIMED.iter().chain(&TIMED)
}

const FOLDER: &str = "crates/cli/tests/searches";

fn start_of(case: &Case) -> String {
    format!("{FOLDER}/starts/{}.txt", case.start)
}

fn kept(case: &Case) -> PathBuf {
    root().join(FOLDER).join(format!("{}.txt", case.switch))
}

#[test]
fn each_mechanism_taken_away_is_found_out_by_the_script_that_is_kept() {
    for case in cases() {
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

#[test]
fn what_cannot_be_on_the_menu_is_refused() {
    let lesson = "lessons/pause-outlives-its-lease.md";
    for (command, what) in [
        ("sing A", "--may sing A: "),
        ("pause Z", "no process is called `Z`"),
        ("run 1s", "--may run 1s: "),
    ] {
        let call = ["explore", lesson, "--break", "one-holder", "--may", command];
        let (code, text) = leasehold(&call);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(what) && text.lines().count() == 2, "{text}");
    }
}

#[test]
fn each_safety_switch_that_guards_an_invariant_has_its_script() {
    let guarding = Switch::ALL
        .iter()
        .filter(|switch| switch.breaks().is_some());
    let mut named: Vec<Switch> = cases().map(|case| case.switch.parse().unwrap()).collect();
    named.sort_unstable();
    assert!(guarding.eq(&named));
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
        match &directive.what {
            Do::Act(command) => {
                world.apply_or_skip(command, &mut Step::empty());
            }
            Do::RunFor(span) => run(&mut world, *span, |_, _| {}),
            Do::RunUntil { .. } | Do::Stop { .. } | Do::Again(_) => {}
        }
    }
    world
}

#[test]
fn each_script_breaks_it_in_a_world_and_breaks_nothing_with_the_mechanism_back() {
    for case in cases() {
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

/// How many states are looked at where nothing is to be found: more where somebody asks for more (`SLOW`).
fn enough() -> u64 {
    let is_slow = env::var_os("SLOW").is_some();
    if is_slow { 1_000_000 } else { 20_000 }
}

#[test]
fn with_every_mechanism_on_nothing_breaks_in_many_states() {
    for case in &UNTIMED {
        let bounds = Bounds {
            term: 4,
            duplicates: 1,
            ..Bounds::default()
        };
        let invariant = case.invariant.parse().unwrap();
        let (closed, progress) = look(&format!("{}.txt", case.start), invariant, bounds, enough());
        assert!(closed || progress.states == enough(), "{progress:?}");
    }
}

#[test]
fn in_time_with_every_mechanism_on_nothing_breaks_in_many_states() {
    let limits = format!("states={},memory=8GB", enough());
    for case in &TIMED {
        let start = start_of(case);
        let mut words = vec!["explore", &start, "--break", case.invariant];
        words.extend(case.narrow.iter().chain(case.wide));
        words.extend(["--budget", &limits]);
        let (code, text) = leasehold(&words);
        assert_eq!(code, 1, "{}: {text}", case.switch);
        let is_enough =
            text.contains("# not found: all ") || text.contains("the budget of states is used up");
        assert!(is_enough, "{}: {text}", case.switch);
    }
}
