//! A lesson as a reader meets it: pages, stops, questions, captions, and the way back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use leasehold_engine::event::{Event, Step};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::units::{SimTime, StepNumber};
use leasehold_lesson::director::{Director, Phase};
use leasehold_lesson::goal::{Exercise, Grade};
use leasehold_lesson::judge::judge;
use leasehold_lesson::lesson::Lesson;
use leasehold_lesson::library::LESSONS;
use leasehold_lesson::{parse, script, words};

fn text_of(id: &str) -> &'static str {
    let file = format!("{id}.md");
    LESSONS
        .iter()
        .find(|lesson| lesson.file == file)
        .expect("it is on the shelf")
        .text
}

fn lesson(id: &str) -> Arc<Lesson> {
    Arc::new(parse(text_of(id), &format!("{id}.md")).unwrap())
}

fn opening() -> Director {
    Director::new(lesson("pause-outlives-its-lease"))
}

/// What a reader sees, one line a change: captions, stops, questions, pages.
fn minutes(director: &mut Director) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut step = Step::empty();
    loop {
        let caption = director
            .caption()
            .map(|caption| caption.text.clone())
            .unwrap_or_default();
        if seen.iter().rfind(|line| !line.starts_with('[')) != Some(&caption) {
            seen.push(caption);
        }
        match director.phase() {
            Phase::Running => {
                director.step(&mut step);
            }
            Phase::Stopped { sentence, press } => {
                let press = press.map(|press| format!("{press:?}")).unwrap_or_default();
                let press = press
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                seen.push(format!("[stop {} {press}]", sentence.unwrap_or_default()));
                director.press(&mut step);
            }
            Phase::Asking(predict) => {
                seen.push(format!("[? {}]", predict.question));
                let last = predict.choices.len() - 1;
                assert!(director.choose(last));
            }
            Phase::PageDone => {
                director.next_page();
                seen.push(format!("[page {}]", director.page()));
            }
            Phase::LessonDone => return seen,
            Phase::Failed(failure) => panic!("{}", words::failure(failure).what),
        }
    }
}

const FIRST_MINUTE: &[&str] = &[
    "Press Play. Watch A's ring.",
    "A holds the lease for 5 s.",
    "A renews, and the ring is full again.",
    "Between two lines of A's code.",
    "[stop A has checked: the lease is mine. Next line: send. Act(Pause]",
    "[page 1]",
    "No renewal comes. The ring drains.",
    "Lapsed. A cannot know.",
    "B has charged order 7.",
    "[page 2]",
    "A wakes. What does the store do?",
    "[? A wakes. What does the store do?]",
    "[stop  Act(Resume]",
    "Order 7 is charged twice. Nobody crashed.",
    "[page 3]",
    "The same run. Watch the gate of orders.",
    "B's charge raises the gate to 2.",
    "Refused: 1 < 2. No clock needed.",
    "[page 4]",
];

#[test]
fn the_first_minute_comes_from_the_lesson() {
    let mut director = opening();
    let seen: Vec<String> = minutes(&mut director)
        .into_iter()
        .filter(|l| !l.is_empty())
        .collect();
    assert_eq!(seen, FIRST_MINUTE);
    assert_eq!(director.runs().len(), 2);
    let broken = |run: usize| {
        director.runs()[run]
            .history
            .world()
            .broken(Invariant::NoOlderToken)
    };
    assert!(broken(0).is_some() && broken(1).is_none());
    let prediction = director.predictions().next().unwrap();
    assert_eq!(prediction.chosen, Some(2));
    assert_eq!(prediction.came_true, Some(&[false, false, true][..]));
}

#[test]
fn another_seed_and_a_longer_lease_give_the_same_minute_with_other_numbers() {
    let text = text_of("pause-outlives-its-lease")
        .replace("seed = 7", "seed = 4711")
        .replace("lease = \"5s\"", "lease = \"8s\"");
    let lesson = Arc::new(parse(&text, "eight.md").unwrap());
    let seen = minutes(&mut Director::new(Arc::clone(&lesson)));
    let seen: Vec<String> = seen.into_iter().filter(|line| !line.is_empty()).collect();
    let expected: Vec<String> = FIRST_MINUTE
        .iter()
        .map(|line| line.replace("for 5 s", "for 8 s"))
        .collect();
    assert_eq!(seen, expected);
    let proof =
        include_str!("../../../lessons/proofs/pause-outlives-its-lease/lapsed-but-accepted.txt");
    let report = judge(&lesson, &|_, _| {
        ("proof.txt".to_owned(), Some(proof.to_owned()))
    });
    assert_eq!(report.faults, []);
}

#[test]
fn the_library_lesson_holds_with_a_longer_loan() {
    // Only what its prose says in whole seconds depends on the ten; the run itself goes on.
    let text = text_of("a-lease").replace("lease = \"10s\"", "lease = \"12s\"");
    let mut director = Director::new(Arc::new(parse(&text, "longer.md").unwrap()));
    minutes(&mut director);
    assert_eq!(director.phase(), Phase::LessonDone);
}

/// Everything that stepping back must bring back.
fn picture(
    director: &Director,
) -> (
    usize,
    usize,
    StepNumber,
    SimTime,
    u64,
    Option<String>,
    String,
) {
    let position = director.run().history.position();
    (
        director.page(),
        director.active(),
        position.step,
        position.at,
        director.world().state_hash(),
        director.caption().map(|caption| caption.text.clone()),
        format!("{:?}", director.phase()),
    )
}

#[test]
fn stepping_back_and_forward_again_shows_the_same() {
    let mut director = opening();
    let mut pictures = vec![picture(&director)];
    let mut step = Step::empty();
    loop {
        let stepped = match director.phase() {
            Phase::Running => director.step(&mut step),
            Phase::Stopped { .. } => director.press(&mut step),
            Phase::Asking(_) => {
                director.choose(1);
                false
            }
            Phase::PageDone => {
                director.next_page();
                false
            }
            Phase::LessonDone => break,
            Phase::Failed(failure) => panic!("{failure:?}"),
        };
        if stepped {
            pictures.push(picture(&director));
        }
    }
    let end = picture(&director);
    for (n, expected) in pictures.iter().enumerate().rev().step_by(7) {
        director.seek(expected.1, expected.2);
        let found = picture(&director);
        assert_eq!(found.2, expected.2, "step of picture {n}");
        assert_eq!(
            found.4, expected.4,
            "world of picture {n}: {found:?} instead of {expected:?}"
        );
        // Where a page ends and the next begins at the same step, seek goes to the later one.
        if found.0 == expected.0 {
            assert_eq!(found, *expected, "picture {n}");
        }
    }
    director.seek(end.1, end.2);
    minutes(&mut director);
    assert_eq!(director.phase(), Phase::LessonDone);
    assert_eq!(director.world().state_hash(), end.4);
    assert_eq!(director.runs().len(), 2);
}

#[test]
fn going_on_from_the_past_takes_the_recorded_commands_again_and_opens_no_branch() {
    let mut director = opening();
    let first = minutes(&mut director);
    assert!(director.seek_page(0));
    assert_eq!(director.page(), 0);
    assert_eq!(director.runs().len(), 1);
    let again = minutes(&mut director);
    // The question was answered the first time; it is not asked again.
    let first: Vec<&String> = first
        .iter()
        .filter(|line| !line.starts_with("[?"))
        .collect();
    assert_eq!(again.iter().collect::<Vec<_>>(), first);
    for run in director.runs() {
        assert_eq!(run.history.branches().count(), 1);
    }
}

#[test]
fn a_link_to_a_page_plays_the_lesson_that_far_and_asks_the_question_there() {
    let mut director = opening();
    assert!(director.seek_page(2));
    assert!(
        matches!(director.phase(), Phase::Asking(_)),
        "{:?}",
        director.phase()
    );
    assert!(director.seek_page(4));
    assert_eq!(director.phase(), Phase::LessonDone);
}

#[test]
fn advance_stops_at_the_time_at_stops_and_at_a_second_run() {
    let mut director = opening();
    let mut count = 0;
    director.advance(SimTime(1_000_000), |_, _| count += 1);
    assert_eq!(director.phase(), Phase::Running);
    assert_eq!(director.world().now(), SimTime(1_000_000));
    assert!(count > 0);
    director.advance(SimTime(60_000_000), |_, _| {});
    assert!(matches!(director.phase(), Phase::Stopped { .. }));
    director.seek_page(3);
    let before = director.world().now();
    director.advance(before, |_, _| {});
    assert_eq!(director.active(), 0, "nothing moves until it is asked to");
    director.advance(SimTime(before.0 + 1), |_, _| {});
    assert_eq!(director.active(), 1);
}

#[test]
fn the_second_run_differs_only_from_where_the_gate_decides() {
    let mut director = opening();
    minutes(&mut director);
    let first = &director.runs()[0].history;
    let second = &director.runs()[1].history;
    let common = (0..)
        .map(StepNumber)
        .find(|n| first.detail(*n) != second.detail(*n))
        .unwrap();
    let step = second.detail(common).unwrap();
    let is_refusal = |event: &Event| {
        matches!(
            event,
            Event::WriteRefused { .. } | Event::WriteAccepted { .. }
        )
    };
    assert!(step.events().any(is_refusal), "{step:?}");
}

#[test]
fn a_goal_is_graded_by_replay_and_within_its_budget() {
    let lesson = lesson("pause-outlives-its-lease");
    let goal = lesson.goals().next().unwrap();
    let exercise = Exercise::new(&lesson, goal).unwrap();
    let attempt = |text: &str| {
        let directives = script::lines(text, 1, "t", &lesson.names).unwrap();
        let mut history = exercise.start().clone();
        script::play(&mut history, &directives, |_, _| {}).unwrap();
        exercise.grade(&history)
    };
    let sleep = "run until A is granted orders\nwrite A orders \"x\"\npause A\nrun until B is granted orders\n";
    assert!(matches!(
        attempt(&format!("{sleep}resume A\nrun 1s")),
        Grade::Reached { .. }
    ));
    assert_eq!(attempt("run 20s"), Grade::NotReached);
    let two = format!("{sleep}pause B\nresume A\nrun 1s");
    let sentence = "The goal allows 1 pause; this run has 2 pauses.".to_owned();
    assert_eq!(attempt(&two), Grade::OverBudget(sentence));
    let open = format!("{sleep}set fence off\nresume A\nrun 1s");
    let sentence = "The goal allows no sets; this run has 1 set.".to_owned();
    assert_eq!(attempt(&open), Grade::OverBudget(sentence));
    assert_eq!(exercise.grade(&opening().run().history), Grade::OtherStart);
}

/// Two second runs: one begun by a press, one that changes a single process.
const TWICE_AGAIN: &str = "\
# Twice again

```world
id = \"twice-again\"
seed = 7
workers = [\"A\", \"B\"]
stores = [\"orders\"]
fence = \"off\"
```

## First

```run
run until A is granted orders
write A orders \"x\"
stop \"Now.\" press: pause A
run until B is granted orders
write B orders \"y\"
run until orders accepts B
resume A
run 1s
```

```expect
orders accepts A while B holds orders
```

## Gate on

```run
stop \"The gate.\" press: again with fence enforce
```

```expect
orders refuses A
```

## No check

```run
again with check_before_write off at A
write A orders \"z\"
run 1s
```

```expect
orders accepts A \"z\"
breaks no-older-token
```
";

#[test]
fn again_may_be_pressed_may_change_one_process_and_may_come_twice() {
    let lesson = Arc::new(parse(TWICE_AGAIN, "t.md").unwrap());
    let report = judge(&lesson, &|_, _| (String::new(), None));
    assert_eq!(report.faults, []);
    let mut director = Director::new(lesson);
    minutes(&mut director);
    let changes: Vec<String> = director.runs()[1..]
        .iter()
        .map(|run| words::change(run.change.as_ref().unwrap()))
        .collect();
    assert_eq!(changes, ["fence enforce", "check_before_write off at A"]);
    let commands = |run: usize| director.runs()[run].history.commands().len();
    assert_eq!((commands(0), commands(1), commands(2)), (4, 4, 6));
    // Back into the first run and forward again: the same three runs, no branch.
    director.seek(0, StepNumber(20));
    assert_eq!(director.runs().len(), 1);
    minutes(&mut director);
    assert_eq!(director.runs().len(), 3);
    for run in director.runs() {
        assert_eq!(run.history.branches().count(), 1);
    }
}

#[test]
fn a_command_that_cannot_be_carried_out_ends_the_lesson_there_and_going_back_works() {
    let text = TWICE_AGAIN
        .replace("press: pause A", "press: crash A")
        .replace("resume A", "restart A\nrun 2s\nresume B\nrun 1s");
    let lesson = Arc::new(parse(&text, "t.md").unwrap());
    let mut director = Director::new(lesson);
    let mut step = Step::empty();
    while !matches!(director.phase(), Phase::Failed(_)) {
        if !director.press(&mut step) {
            director.step(&mut step);
        }
    }
    let Phase::Failed(failure) = director.phase() else {
        unreachable!()
    };
    assert_eq!(
        words::failure(failure).what,
        "`resume B` cannot be done: B is not asleep"
    );
    assert_eq!(failure.place().to_string(), "22:1");
    // Going back works all the same.
    director.seek(0, StepNumber(5));
    assert_eq!(director.phase(), Phase::Running);
}

/// A worker that checks never comes to the point at which it was to be put to sleep.
const NOTHING_TO_WAKE: &str = r#"# T

```world
id = "t"
servers = 3
workers = ["A", "B"]
stores = ["orders"]
[switches]
check_before_write = "off"
```

## P

```run
run until B waits for orders
pause B before send
write B orders "x"
run 1s
resume B
run 1s
again with check_before_write on
```
"#;

#[test]
fn what_a_changed_run_cannot_do_is_skipped_and_the_run_goes_on() {
    let mut director = Director::new(Arc::new(parse(NOTHING_TO_WAKE, "t.md").unwrap()));
    minutes(&mut director);
    let [first, second] = director.runs() else {
        panic!("two runs: {}", director.runs().len())
    };
    assert_eq!(first.history.position().at, second.history.position().at);
    assert!(first.skipped.is_empty());
    let skipped: Vec<String> = second
        .skipped
        .iter()
        .map(|f| words::failure(f).what)
        .collect();
    assert_eq!(skipped, ["`resume B` cannot be done: B is not asleep"]);
    let steps = second
        .history
        .details(StepNumber(0), second.history.end().step);
    let events = steps.iter().flat_map(Step::events);
    let is_skip = |event: &&Event| matches!(event, Event::CommandSkipped { .. });
    assert_eq!(events.filter(is_skip).count(), 1);
}
