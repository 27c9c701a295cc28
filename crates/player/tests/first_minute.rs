//! The first minute without a browser: the same messages that the page sends, the frames it would
//! draw.
//!
//! A rehearsal in plain clothes. Positions on the stage are checked in the layout's own tests; here
//! is what is said, when it stops, what is asked, and what stands beside what.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::Arc;

use leasehold_player::engine::units::{Duration, SimTime};
use leasehold_player::frame::Frame;
use leasehold_player::lesson::{library, parse};
use leasehold_player::player::{Opening, Selected};
use leasehold_player::scene::{RowMark, Tone};
use leasehold_player::start::Start;
use leasehold_player::{Msg, Player, Request};

fn open(start: Start) -> Player {
    let lessons = library::LESSONS
        .iter()
        .map(|file| Arc::new(parse(file.text, file.file).unwrap()))
        .collect();
    Player::new(Opening {
        start,
        lessons,
        ..Opening::default()
    })
}

/// Plays in display frames until the film stops by itself; gives the captions on the way.
fn play(player: &mut Player) -> Vec<String> {
    let mut captions = vec![player.frame().caption.text.clone()];
    for _ in 0..200_000 {
        if !player.is_playing() {
            return captions;
        }
        player.update(Msg::Elapsed(16_667));
        let caption = player.frame().caption.text.clone();
        if captions.last() != Some(&caption) {
            captions.push(caption);
        }
    }
    panic!("the film never stops; last: {captions:?}");
}

fn press_label(frame: &Frame) -> String {
    frame
        .caption
        .press
        .as_ref()
        .map(|deed| deed.label.clone())
        .unwrap_or_default()
}

fn check(start: Start, lease: &str) {
    let mut player = open(start);
    assert!(!player.is_playing(), "nothing moves before Play");
    player.update(Msg::Toggle);
    let captions = play(&mut player);
    assert!(
        captions.contains(&format!("A holds the lease for {lease}.")),
        "{captions:?}"
    );
    let frame = player.frame();
    assert_eq!(
        frame.caption.text,
        "A has checked: the lease is mine. Next line: send."
    );
    assert_eq!(press_label(&frame), "Put A to sleep");
    assert!(frame.runs[0].stage.scene.workers[0].in_hand.is_some());

    player.update(Msg::Press);
    let captions = play(&mut player);
    assert!(
        captions.contains(&"Lapsed. A cannot know.".to_owned()),
        "{captions:?}"
    );
    let frame = player.frame();
    assert_eq!(
        frame.caption.ask.as_deref(),
        Some("A wakes. What does the store do?")
    );
    let a = &frame.runs[0].stage.scene.workers[0];
    assert!(a.at_odds && !a.holds, "A believes, and does not hold");
    assert_eq!(a.believes.as_ref().unwrap().words, "believes: mine");
    assert_eq!(a.believes.as_ref().unwrap().tone, Tone::Doubt);

    player.update(Msg::Toggle);
    assert!(!player.is_playing(), "a question blocks going on");
    player.update(Msg::Choose(1));
    assert_eq!(press_label(&player.frame()), "Wake A");
    player.update(Msg::Press);
    let captions = play(&mut player);
    assert_eq!(
        captions.last().unwrap(),
        "Order 7 is charged twice. Nobody crashed."
    );
    let frame = player.frame();
    let question = &frame.pane.questions[0];
    assert!(
        question.is_judged
            && question.choices[1].is_mine
            && question.choices[2].came_true == Some(true)
    );
    let marks: Vec<RowMark> = frame.runs[0].stage.scene.stores[0]
        .rows
        .iter()
        .map(|r| r.mark)
        .collect();
    assert_eq!(marks, [RowMark::Accepted, RowMark::Stale]);

    player.update(Msg::Continue);
    let captions = play(&mut player);
    assert_eq!(captions.last().unwrap(), "Refused: 1 < 2. No clock needed.");
    let frame = player.frame();
    assert_eq!(frame.runs.len(), 2);
    let labels: Vec<_> = frame
        .runs
        .iter()
        .map(|r| r.label.clone().unwrap())
        .collect();
    assert_eq!(labels, ["gate open", "gate on"]);
    let right = &frame.runs[1].stage.scene.stores[0].rows;
    assert_eq!(right.last().unwrap().mark, RowMark::Refused);
    assert_eq!(right.last().unwrap().note.as_deref(), Some("stale: 1 < 2"));
}

#[test]
fn the_first_minute_with_the_lessons_seed() {
    check(Start::default(), "5 s");
}

#[test]
fn the_first_minute_with_other_numbers() {
    for seed in [11, 12, 13] {
        check(
            Start {
                seed: Some(seed),
                lease: Some(Duration::secs(8)),
                ..Start::default()
            },
            "8 s",
        );
    }
}

#[test]
fn stepping_back_and_on_comes_to_the_same_frame() {
    let mut player = open(Start {
        page: Some(3),
        ..Start::default()
    });
    let before = player.frame();
    for _ in 0..5 {
        player.update(Msg::Back);
    }
    assert_ne!(
        player.frame().runs[0].stage.scene,
        before.runs[0].stage.scene
    );
    player.update(Msg::Latest);
    assert_eq!(
        player.frame().runs[0].stage.scene,
        before.runs[0].stage.scene
    );
}

#[test]
fn each_act_is_spoken_once() {
    let mut player = open(Start::default());
    let worker = player.frame().runs[0].stage.scene.workers[1].id;
    let acts = [
        Msg::Next,
        Msg::Select(Some(Selected::Process(worker))),
        Msg::Say("pause B".to_owned()),
        Msg::Say("pause nobody".to_owned()),
        Msg::Say("nonsense".to_owned()),
        Msg::Back,
        Msg::Toggle,
        Msg::Toggle,
        Msg::LeaveSandbox,
    ];
    for act in acts {
        let requests = player.update(act.clone());
        let said: Vec<&String> = requests
            .iter()
            .filter_map(|r| {
                if let Request::Announce(said) = r {
                    Some(said)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(said.len(), 1, "{act:?}: {said:?}");
        assert!(said[0].chars().count() <= 120, "{}", said[0]);
    }
}

#[test]
fn an_act_in_the_past_keeps_the_old_future() {
    let mut player = open(Start {
        page: Some(3),
        sandbox: true,
        ..Start::default()
    });
    let end = player.frame();
    player.update(Msg::Seek(SimTime(3_000_000)));
    player.update(Msg::Say("crash B".to_owned()));
    let frame = player.frame();
    assert_eq!(frame.panels.branches.len(), 2);
    assert!(frame.panels.branches[1].is_here);
    player.update(Msg::SwitchBranch(frame.panels.branches[0].id));
    player.update(Msg::Latest);
    assert_eq!(player.frame().runs[0].stage.scene, end.runs[0].stage.scene);
    assert_eq!(player.frame().runs[0].timeline, end.runs[0].timeline);
}

#[test]
fn a_command_that_cannot_be_done_changes_nothing() {
    let mut player = open(Start::default());
    let before = player.frame();
    player.update(Msg::Say("crash s9".to_owned()));
    let after = player.frame();
    assert!(after.caption.notice.is_some());
    assert_eq!(before.runs[0].stage, after.runs[0].stage);
    assert!(!after.shell.in_sandbox);
}

#[test]
fn the_run_is_mirrored_and_can_be_gone_on_with() {
    let mut player = open(Start::default());
    player.update(Msg::Say("pause A".to_owned()));
    let requests = player.update(Msg::Say("crash s1".to_owned()));
    let run = requests.iter().find_map(|r| {
        if let Request::Mirror(run) = r {
            Some(run.clone())
        } else {
            None
        }
    });
    let lessons = library::LESSONS
        .iter()
        .map(|file| Arc::new(parse(file.text, file.file).unwrap()))
        .collect();
    let again = Player::new(Opening {
        lessons,
        recovered: run,
        ..Opening::default()
    });
    assert_eq!(
        again.frame().runs[0].stage.scene,
        player.frame().runs[0].stage.scene
    );
}

#[test]
fn every_lesson_plays_to_its_end() {
    for file in library::LESSONS {
        let lesson = Arc::new(parse(file.text, file.file).unwrap());
        let id = lesson.id.clone();
        let mut player = open(Start {
            lesson: Some(id.clone()),
            ..Start::default()
        });
        for turn in 0..200 {
            let frame = player.frame();
            if frame.pane.page + 1 == lesson.pages.len()
                && frame.pane.pages_done == lesson.pages.len()
            {
                break;
            }
            assert!(
                frame.pane.failure.is_none(),
                "{id}: {:?}",
                frame.pane.failure
            );
            assert!(
                turn < 199,
                "{id} does not come to its end: {:?}",
                frame.caption
            );
            if frame.caption.ask.is_some() {
                player.update(Msg::Choose(0));
            } else if let Some(deed) = &frame.caption.press {
                player.update(deed.msg.clone());
            } else {
                player.update(Msg::Toggle);
            }
            play(&mut player);
        }
    }
}
