//! What is drawn is what is so, at every display frame of the first minute and at every width.
//!
//! A surveyor who walks along while the film plays: rings against the truth, stubs against the
//! gate, dots against the times of checks and sends. The browser tests measure the same on the real
//! page, more coarsely.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::Arc;

use leasehold_player::engine::units::SimTime;
use leasehold_player::lesson::{library, parse};
use leasehold_player::motion::stub_rect;
use leasehold_player::player::Opening;
use leasehold_player::scene::{Condition, Look};
use leasehold_player::start::Start;
use leasehold_player::timeline::{Ink, Mark};
use leasehold_player::{Frame, Msg, Player};

fn open(page: usize, width: u32) -> Player {
    let lessons = library::LESSONS
        .iter()
        .map(|file| Arc::new(parse(file.text, file.file).unwrap()))
        .collect();
    let start = Start {
        page: Some(page),
        ..Start::default()
    };
    let mut player = Player::new(Opening {
        start,
        lessons,
        ..Opening::default()
    });
    player.update(Msg::Resized { width, height: 400 });
    player
}

/// Plays until the film stops by itself, answering and pressing nothing; looks at each display
/// frame.
fn play(player: &mut Player, mut look: impl FnMut(&Player, &Frame)) {
    player.update(Msg::Toggle);
    for _ in 0..100_000 {
        if !player.is_playing() {
            return;
        }
        player.update(Msg::Elapsed(16_667));
        let frame = player.frame();
        look(player, &frame);
    }
    panic!("the film never stops");
}

#[test]
fn a_ring_is_what_is_left_of_the_lease() {
    let mut player = open(1, 900);
    let mut seen = 0;
    for _ in 0..2 {
        play(&mut player, |player, frame| {
            let moving = player.moving(frame, false);
            let now = SimTime(frame.runs[0].slider.now_ms * 1_000);
            for (worker, ring) in frame.runs[0]
                .stage
                .scene
                .workers
                .iter()
                .zip(&moving.runs[0].rings)
            {
                let left = worker.until.map_or(0, |until| until.since(now).0);
                assert!(
                    (ring.part - left as f32 / 5_000_000.0).abs() < 0.001,
                    "{worker:?} {ring:?}"
                );
                seen += usize::from(ring.part > 0.0);
            }
        });
        player.update(Msg::Press);
        player.update(Msg::Toggle);
    }
    assert!(seen > 100);
}

#[test]
fn belief_does_not_change_while_a_sleeps() {
    let mut player = open(2, 900);
    let mut beliefs = Vec::new();
    play(&mut player, |_, frame| {
        let a = &frame.runs[0].stage.scene.workers[0];
        assert_eq!(a.condition, Condition::Asleep);
        let belief = a.believes.clone().unwrap();
        if beliefs.last() != Some(&(belief.words.clone(), belief.checked_at)) {
            beliefs.push((belief.words, belief.checked_at));
        }
    });
    assert_eq!(beliefs.len(), 1, "{beliefs:?}");
}

fn check_gate(width: u32) {
    let mut player = open(4, width);
    let (mut bounced, mut rested) = (0, 0);
    play(&mut player, |player, frame| {
        let moving = player.moving(frame, false);
        let (run, motion) = (frame.runs.last().unwrap(), moving.runs.last().unwrap());
        let stage = &run.stage;
        let Some(gate) = stage.layout.stores.first().map(|s| s.gate) else {
            return;
        };
        for (message, place) in stage.scene.flying.iter().zip(&motion.flying) {
            let stub_width = match &message.look {
                Look::Stub { width, label, .. } if !label.is_empty() => *width,
                Look::Bounce { width, .. } => {
                    bounced += 1;
                    *width
                }
                Look::Stub { .. } | Look::Enter { .. } | Look::Tick(_) => continue,
            };
            let stub = stub_rect(place.at, stub_width as f32);
            assert!(!stub.overlaps(gate), "at {width}: {stub:?} in {gate:?}");
        }
        rested += stage.scene.trails.iter().filter(|t| t.refused).count();
    });
    assert!(
        bounced > 10 && rested > 0,
        "at {width} the refusal was seen: {bounced} {rested}"
    );
}

#[test]
fn a_refused_stub_never_passes_the_gate() {
    for width in [360, 700, 1_044, 1_524] {
        check_gate(width);
    }
}

#[test]
fn dots_stand_at_the_check_and_at_the_send() {
    let mut player = open(3, 900);
    player.update(Msg::Choose(0));
    player.update(Msg::Press);
    player.update(Msg::Toggle);
    play(&mut player, |_, _| {});
    let frame = player.frame();
    let timeline = &frame.runs[0].timeline;
    let dot = |wanted: Ink| {
        timeline.marks.iter().find_map(|mark| match mark {
            Mark::Dot { ink, x, y, at, .. } if *ink == wanted => Some((*x, *y, *at)),
            Mark::Dot { .. }
            | Mark::Rect { .. }
            | Mark::Line { .. }
            | Mark::Cross { .. }
            | Mark::Text { .. } => None,
        })
    };
    let (check, send) = (
        dot(Ink::CheckDotAtOdds).unwrap(),
        dot(Ink::SendDotAtOdds).unwrap(),
    );
    for (x, _, at) in [check, send] {
        assert!((x - timeline.scale.x(at)).abs() < 0.1);
    }
    assert_eq!(check.1, send.1, "on one line");
    assert!(send.2.since(check.2).0 > 5_000_000, "{check:?} {send:?}");
    let is_gap = |mark: &&Mark| {
        matches!(
            mark,
            Mark::Line {
                ink: Ink::GapAtOdds,
                ..
            }
        )
    };
    let Some(Mark::Line { from, to, .. }) = timeline.marks.iter().find(is_gap) else {
        panic!("a dotted line lies between");
    };
    assert_eq!((from.0, to.0), (check.0, send.0));
}

#[test]
fn with_reduced_motion_what_is_on_its_way_stands_at_mid_way() {
    let mut player = open(4, 900);
    let mut places = std::collections::BTreeMap::new();
    play(&mut player, |player, frame| {
        for run in player.moving(frame, true).runs {
            for place in run.flying {
                let at = (place.at.x as i32, place.at.y as i32);
                let before = places.insert((run.index, place.key.clone()), at);
                assert!(
                    before.is_none_or(|before| before == at),
                    "{place:?} was at {before:?}"
                );
            }
        }
    });
    assert!(places.len() > 5);
}
