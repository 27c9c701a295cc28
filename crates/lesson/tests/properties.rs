//! Whatever is typed, nothing panics; and what is printed is read back.

use leasehold_engine::claim::Claim;
use leasehold_engine::command::Command;
use leasehold_lesson::library::LESSONS;
use leasehold_lesson::{parse, parse_script, words};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(vec![
        "A", "B", "s1", "s2", "s3", "orders", "c1", "nobody", "it", "x9",
    ])
}

fn span() -> impl Strategy<Value = String> {
    (
        0_u64..2_000_000,
        prop::sample::select(vec!["s", "ms", "us"]),
    )
        .prop_map(|(n, unit)| format!("{n}{unit}"))
}

fn quoted() -> impl Strategy<Value = String> {
    r#"[a-z 0-9]{0,6}(\\\\|\\")?[a-z]{0,3}"#.prop_map(|text| format!("\"{text}\""))
}

/// Lines that look like commands; most are.
fn command() -> impl Strategy<Value = String> {
    let one = (
        prop::sample::select(vec![
            "pause", "resume", "crash", "restart", "release", "campaign", "compact",
        ]),
        name(),
    )
        .prop_map(|(verb, name)| format!("{verb} {name}"));
    let link = (
        prop::sample::select(vec!["cut", "heal", "transfer"]),
        name(),
        prop::sample::select(vec!["->", "<->"]),
        name(),
    )
        .prop_map(|(verb, from, arrow, to)| format!("{verb} {from} {arrow} {to}"));
    let op = prop::sample::select(vec!["", " op 0", " op 77"]);
    let write = (name(), name(), quoted(), op)
        .prop_map(|(a, b, text, op)| format!("write {a} {b} {text}{op}"));
    let acts = [
        "fail",
        "lose vote",
        "lose term",
        "lose tail 3",
        "corrupt tail",
        "wipe",
        "backup",
        "restore",
    ];
    let disk = (name(), prop::sample::select(acts.to_vec()))
        .prop_map(|(a, act)| format!("disk {a} {act}"));
    let stall = (name(), span()).prop_map(|(a, span)| format!("disk {a} stall {span}"));
    let put = (name(), name(), quoted()).prop_map(|(a, b, text)| format!("put {a} {b} {text}"));
    let get = (
        name(),
        name(),
        prop::sample::select(vec!["", " at s2", " stale at s2", " stale", " at"]),
    )
        .prop_map(|(a, b, rest)| format!("get {a} {b}{rest}"));
    let clock = (name(), 0_u32..10_000, 0_u32..10_000)
        .prop_map(|(a, whole, part)| format!("clock {a} rate +{}.{part:04}%", whole % 900));
    let jump = (name(), span()).prop_map(|(a, span)| format!("clock {a} jump -{span}"));
    let delay = (name(), name(), 1_u64..99, span())
        .prop_map(|(a, b, n, span)| format!("delay {a}>{b}#{n} {span}"));
    let latency = (name(), name(), span(), span())
        .prop_map(|(a, b, low, high)| format!("latency {a} -> {b} {low} {high}"));
    let groups =
        prop::collection::vec(prop::collection::vec(name(), 1..4), 2..4).prop_map(|groups| {
            format!(
                "partition {}",
                groups
                    .iter()
                    .map(|g| g.join(" "))
                    .collect::<Vec<_>>()
                    .join(" | ")
            )
        });
    let ring = (
        name(),
        prop::sample::select(vec!["election", "heartbeat", "renew_timeout"]),
    )
        .prop_map(|(name, timer)| format!("ring {name} {timer}"));
    let change = (
        prop::sample::select(vec!["add", "promote", "remove", "reconfigure"]),
        prop::collection::vec(name(), 1..4),
        prop::sample::select(vec![
            "",
            " as learner",
            " at s1",
            " as learner at s2",
            " as",
        ]),
    )
        .prop_map(|(verb, names, rest)| format!("{verb} {}{rest}", names.join(" ")));
    prop_oneof![
        one, change, ring, link, write, disk, stall, put, get, clock, jump, delay, latency, groups
    ]
}

/// Lines that look like claims; most are.
fn claim() -> impl Strategy<Value = String> {
    let state = (
        name(),
        prop::sample::select(vec![
            "holds orders",
            "does not hold orders with token 3",
            "believes it holds orders",
            "waits for orders",
            "doubts it holds orders",
            "leads",
            "leads term 4",
            "does not believe it leads",
            "is asleep",
            "is in term 2",
            "has seen token 7",
            "has no x9",
            "has x9 = \"a\"",
        ]),
    )
        .prop_map(|(name, rest)| format!("{name} {rest}"));
    let event = (
        name(),
        prop::sample::select(vec![
            "accepts A",
            "does not accept A with token 1 \"x\"",
            "refuses B \"y\"",
            "sends to orders",
            "checks",
            "sends nothing to orders",
            "is granted orders",
            "stands",
            "does not step down",
            "rejects s2",
            "learns it lost orders",
            "is not told unknown",
            "applies x9 = \"b\"",
            "reads x9 = \"b\"",
            "reads no x9 stale",
            "does not read x9 = \"b\" stale",
            "expires",
        ]),
    )
        .prop_map(|(name, rest)| format!("{name} {rest}"));
    let windowed = (event.clone(), span(), span())
        .prop_map(|(e, low, high)| format!("{e} from {low} to {high}"));
    let during = (event.clone(), state.clone()).prop_map(|(e, s)| format!("{e} while {s}"));
    let one = prop_oneof![
        state,
        event,
        windowed,
        during,
        Just("keeps no-older-token".to_owned())
    ];
    prop::collection::vec(one, 1..4).prop_map(|parts| parts.join(" and "))
}

/// A real lesson with some of its bytes replaced, taken out or doubled.
fn edited() -> impl Strategy<Value = String> {
    let edit = (
        any::<prop::sample::Index>(),
        0_usize..30,
        ".{0,8}|\n```\n|\n## |=> |\"|\\{|\\[",
    );
    (0..LESSONS.len(), prop::collection::vec(edit, 1..6)).prop_map(|(lesson, edits)| {
        let mut text: Vec<char> = LESSONS[lesson].text.chars().collect();
        for (at, length, with) in edits {
            let start = at.index(text.len() + 1);
            let end = (start + length).min(text.len());
            text.splice(start..end, with.chars());
        }
        text.into_iter().collect()
    })
}

fn sound_messages(text: &str) {
    if let Err(all) = parse(text, "l.md") {
        assert!(!all.is_empty());
        let lines = text.split('\n').count() as u32;
        for diagnostic in all {
            assert!(
                !diagnostic.what.is_empty() && !diagnostic.remedy.is_empty(),
                "{diagnostic}"
            );
            assert!((1..=lines).contains(&diagnostic.place.line), "{diagnostic}");
            assert!(diagnostic.place.column >= 1, "{diagnostic}");
        }
    }
}

#[test]
fn towers_of_marks_are_explained_and_do_not_fall_over() {
    for mark in [
        "> ", "- ", "*", "[", "![", "<", "(", "`", "# ", "1. ", "\\", "{", "\n    ",
    ] {
        sound_messages(&mark.repeat(20_000));
        sound_messages(&format!(
            "# T\n\n```world\nid = \"a\"\n```\n\n## P\n\n{}",
            mark.repeat(20_000)
        ));
        sound_messages(&format!(
            "```world\nid = {}\n```\n",
            mark.trim().repeat(2_000)
        ));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_explained(text in "\\PC{0,300}") {
        sound_messages(&text);
        let _ = parse_script(&text, "s.txt");
    }

    #[test]
    fn any_text_with_the_format_s_marks_is_read_or_explained(
        parts in prop::collection::vec(
            "```[a-z]{0,7}\n|\n```\n|# |## |> |- |\\[x\\]\\(# \"|\"\\)|=> |id = \"a\"\n|\\| |\\? |\\{|\\}|[a-z ]{1,9}|\n|\t|é|\\*\\*|`",
            0..60,
        )
    ) {
        let text = parts.concat();
        sound_messages(&text);
        let _ = parse_script(&text, "s.txt");
    }

    #[test]
    fn an_edited_lesson_is_read_or_explained(text in edited()) {
        sound_messages(&text);
    }

    #[test]
    fn any_line_as_a_command_or_claim(line in "\\PC{0,60}") {
        if let Err(error) = line.parse::<Command>() {
            let _ = words::parse_error(&error);
        }
        if let Err(error) = line.parse::<Claim>() {
            let _ = words::parse_error(&error);
        }
    }

    #[test]
    fn commands_are_printed_as_they_are_read(line in command()) {
        if let Ok(command) = line.parse::<Command>() {
            prop_assert_eq!(command.to_string().parse::<Command>(), Ok(command));
        }
    }

    #[test]
    fn claims_are_printed_as_they_are_read(line in claim()) {
        if let Ok(claim) = line.parse::<Claim>() {
            prop_assert_eq!(claim.to_string().parse::<Claim>(), Ok(claim));
        }
    }
}
