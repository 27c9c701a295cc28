//! Malformed lessons: each mistake gets its place, its cause and a remedy, and all are told at
//! once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use leasehold_lesson::judge::judge;
use leasehold_lesson::place::Diagnostic;
use leasehold_lesson::{parse, parse_script};

/// A small sound lesson; `world` and `page` are added to it.
fn lesson(world: &str, page: &str) -> String {
    format!(
        "# A title\n\n```world\nid = \"small\"\nseed = 7\nworkers = [\"A\", \"B\"]\nstores = [\"orders\"]\n\
         {world}\n```\n\n## First\n\n{page}\n"
    )
}

fn wrong(text: &str) -> Vec<String> {
    let all = parse(text, "l.md").expect_err("the lesson is wrong");
    all.iter().map(short).collect()
}

fn short(diagnostic: &Diagnostic) -> String {
    assert!(!diagnostic.remedy.is_empty(), "{diagnostic}");
    format!("{} {}", diagnostic.place, diagnostic.what)
}

fn check(world: &str, page: &str, expected: &[&str]) {
    assert_eq!(wrong(&lesson(world, page)), expected);
}

#[test]
fn a_small_lesson_is_sound() {
    let lesson = parse(&lesson("", "Words.\n\n```run\nrun 1s\n```"), "l.md").unwrap();
    assert_eq!((lesson.id.as_str(), lesson.pages.len()), ("small", 1));
}

#[test]
fn the_parts_that_every_lesson_needs() {
    assert_eq!(
        wrong(""),
        [
            "1:1 the lesson has no `world` block",
            "1:1 the lesson has no title"
        ]
    );
    assert_eq!(
        wrong("# T\n\n```world\nservers = 3\n```\n"),
        [
            "1:1 the `world` block has no id",
            "1:1 the lesson has no page",
        ]
    );
    let second = lesson("", "```world\nid = \"other\"\n```\n\n# Again\n\n## First\n");
    assert_eq!(
        wrong(&second),
        [
            "13:1 a second `world` block",
            "17:1 a second # heading",
            "19:1 a second page is called `First`",
        ]
    );
}

#[test]
fn a_world_that_cannot_be() {
    check("lease = \"0s\"", "", &["8:9 lease cannot be 0s"]);
    check(
        "lease = \"1099511627777us\"",
        "",
        &["8:9 `1099511627777us` is too long"],
    );
    check(
        "lease = 5",
        "",
        &["8:9 a number stands where a span of time is expected"],
    );
    check("servers = 4", "", &["8:11 4 servers cannot be had"]);
    check(
        "leese = \"5s\"",
        "",
        &["8:1 `leese` is not a key of the world block"],
    );
    check(
        "latency = [\"60ms\", \"40ms\"]",
        "",
        &["8:11 latency goes from 60ms down to 40ms"],
    );
    check(
        "fence = \"ajar\"",
        "",
        &["8:9 `ajar` is not a position of fence"],
    );
    check(
        "[switches]\njepardy = \"off\"",
        "",
        &["9:1 `jepardy` is not a switch"],
    );
    check("loss = \"120%\"", "", &["8:8 `120%` is not a percentage"]);
    check("clients = [\"A\"]", "", &["6:11 the name A is given twice"]);
    // Several at once, and the page is checked all the same.
    check(
        "lease = \"0s\"\nwork = \"soon\"",
        "```run\npause C\n```",
        &[
            "8:9 lease cannot be 0s",
            "9:8 `soon` is not a span of time",
            "15:7 no process is called `C`",
        ],
    );
}

#[test]
fn commands_that_cannot_be() {
    check(
        "",
        "```run\npause C\n```",
        &["14:7 no process is called `C`"],
    );
    check(
        "",
        "```run\npartition s1 A | s2 s1\n```",
        &["14:21 s1 is named twice"],
    );
    check(
        "",
        "```run\npuase A\n```",
        &["14:1 `puase` stands where a command is expected"],
    );
    check(
        "",
        "```run\nwrite A A \"x\"\n```",
        &["14:9 A is a worker, and this is for a store"],
    );
    check(
        "",
        "```run\ncut A -> A\n```",
        &["14:10 A has no link to itself"],
    );
    check(
        "",
        "```run\nrun\nrun 0s\nrun until\n```",
        &[
            "14:4 `run` does not say how long",
            "15:5 the span is zero",
            "16:10 the line ends where a claim is expected",
        ],
    );
    check(
        "",
        "```run\nrun until A holds orders within soon\n```",
        &["14:33 `soon` is not a span of time"],
    );
    check(
        "",
        "```run\nstop \"Now press: pause A\n```",
        &["14:6 the sentence has no closing quote"],
    );
    check(
        "",
        "```run\nstop press: pause C\nstop go\n```",
        &[
            "14:19 no process is called `C`",
            "15:6 `go` is not understood after stop",
        ],
    );
    check(
        "",
        "```run\nagain with fence ajar\n```",
        &["14:18 `ajar` stands where a position of `fence` is expected"],
    );
}

#[test]
fn claims_and_captions_that_cannot_be() {
    check(
        "",
        "```run\nrun 1s\n```\n\n```expect\nA hold orders\nA holds lock\n```",
        &[
            "18:3 `hold` stands where another word is expected",
            "19:9 no resource is called `lock`",
        ],
    );
    check(
        "",
        "```expect\norders accepts A\n```",
        &["14:1 this speaks of what happened, but nothing has run"],
    );
    check(
        "",
        "```watch\nA: It has {leese} left.\nA: {token C}\n```",
        &[
            "14:11 {leese} is not a blank that can be filled",
            "15:4 {token C} names nothing in this world",
        ],
    );
    check(
        "",
        "```run\nrun 1s\n```\n\n[token 3](# \"A holds orders with token 2\")",
        &["17:14 the words say 3, the claim behind them does not"],
    );
}

#[test]
fn questions_and_goals_that_cannot_be() {
    check(
        "",
        "```predict\nid = \"q\"\n? Who?\n- A. => A holds orders\n```",
        &[
            "13:1 no `run` follows this question",
            "13:1 the question has 1 choices",
        ],
    );
    check(
        "",
        "```predict\nid = \"Q!\"\n- A.\n| so\n```\n\n```run\nrun 1s\n```",
        &[
            "13:1 the question asks nothing",
            "14:4 this is not an id",
            "15:3 the choice has no claim",
        ],
    );
    check(
        "",
        "```goal\nid = \"g\"\nDo it.\nfrom: Frist\nbudget: 1 puase\nreach: A holds it\n```",
        &[
            "16:7 no page is called `Frist`",
            "17:9 `1 puase` is not part of a budget",
            "18:16 `it` stands where a name is expected",
        ],
    );
    check(
        "",
        "```goal\nDo it.\n```",
        &["13:1 the goal has no `reach:`", "13:1 the goal has no id"],
    );
}

#[test]
fn markdown_that_a_page_cannot_show() {
    check(
        "",
        "<b>bold</b>\n\n![a picture](x.png)\n\n```exepct\nA holds orders\n```",
        &[
            "13:1 HTML is not shown by the page",
            "15:1 a picture is not shown by the page",
            "17:1 `exepct` is not a kind of block",
        ],
    );
    check(
        "",
        "- a list\n  ```run\n  run 1s\n  ```",
        &["14:3 the `run` block stands inside a list or quote"],
    );
    check("", "```run\nrun 1s\n", &["13:1 the block never closes"]);
}

#[test]
fn what_only_a_run_can_show() {
    let faults = |page: &str| -> Vec<String> {
        let lesson = parse(&lesson("", page), "l.md").unwrap();
        let proofs = |_: &str, goal: &str| (format!("proofs/{goal}.txt"), None);
        judge(&Arc::new(lesson), &proofs)
            .faults
            .iter()
            .map(short)
            .collect()
    };
    assert_eq!(
        faults("```run\nrun until B holds orders within 5s\n```"),
        ["14:1 `B holds orders` did not come true within 5 s",]
    );
    assert_eq!(
        faults("```run\nresume A\n```"),
        ["14:1 `resume A` cannot be done: A is not asleep"]
    );
    let question = |first: &str, second: &str| {
        faults(&format!(
            "```predict\nid = \"q\"\n? Who?\n- A. => {first}\n- B. => {second}\n```\n\n```run\nrun 2s\n```"
        ))
    };
    assert_eq!(question("A holds orders", "B holds orders"), [""; 0]);
    assert_eq!(
        question("nobody holds orders", "B holds orders"),
        [
            "16:9 no choice of q comes true; this one is false",
            "17:9 no choice of q comes true; this one is false",
        ]
    );
    assert_eq!(
        question("A holds orders", "B waits for orders"),
        [
            "16:9 2 choices of q come true; this is one",
            "17:9 2 choices of q come true; this is one",
        ]
    );
    assert_eq!(
        faults("```goal\nid = \"g\"\nDo it.\nreach: A holds orders\n```"),
        [
            "13:1 the goal g has no proof",
            "16:8 the goal is reached by doing nothing, at 0.3 s",
        ]
    );
}

#[test]
fn a_command_that_changes_nothing_claimed_is_a_fault() {
    let page =
        "```run\nrun until A holds orders\npause s3\nrun 1s\n```\n\n```expect\nA holds orders\n```";
    let lesson = Arc::new(parse(&lesson("", page), "l.md").unwrap());
    let needless: Vec<String> = leasehold_lesson::judge::needless(&lesson)
        .iter()
        .map(short)
        .collect();
    assert_eq!(
        needless,
        ["15:1 without `pause s3` every claim would still hold"]
    );
}

#[test]
fn scripts_say_what_is_wrong_too() {
    let wrong = |text: &str| -> Vec<String> {
        parse_script(text, "s.txt")
            .unwrap_err()
            .iter()
            .map(short)
            .collect()
    };
    assert_eq!(
        wrong("servers = 3\n"),
        ["1:1 the script has no line of four dashes"]
    );
    assert_eq!(
        wrong(
            "workers = [\"A\"]\nlease = \"0s\"\n----\n# fine\nrun 1s\n  pause B\nagain with fence off\n"
        ),
        [
            "2:9 lease cannot be 0s",
            "6:9 no process is called `B`",
            "7:1 a script has one run",
        ]
    );
}
