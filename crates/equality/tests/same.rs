//! The faulty worlds themselves: the same every time, and rough enough to be worth comparing.

use equality::Totals;

#[test]
fn a_part_is_the_same_every_time() {
    let run = |part| equality::run(part, true, &mut Totals::default());
    for part in [0, 7, 40] {
        assert_eq!(run(part), run(part));
    }
}

#[test]
fn the_worlds_are_rough() {
    let mut totals = Totals::default();
    let mut text = String::new();
    for part in 0..40 {
        text.push_str(&equality::run(part, true, &mut totals));
    }
    for what in [
        "falls asleep.",
        "wakes after",
        "crashes;",
        "starts again from its disk.",
        "is cut.",
        "is whole.",
        "the network loses it",
        "will arrive twice",
        "wall clock jumps",
        "clocks now run at",
        "stands for election",
        "steps down",
        "accepts",
        "has expired",
    ] {
        assert!(text.contains(what), "no world in which: {what}");
    }
    assert!(totals.broken > 0, "{totals:?}");
}
