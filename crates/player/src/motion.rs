//! What moves between two steps: messages on their way, rings that drain, the cursor, the ages of
//! checks.
//!
//! The hands of the clock, apart from its face. It is worked out anew for each frame and set
//! directly on what the views have drawn; with reduced motion messages stand at mid-way until they
//! have arrived.

use leasehold_engine::units::{ProcessId, SimTime};
use leasehold_engine::world::World;

use crate::frame::{Frame, RunFrame};
use crate::layout::{End, Layout, Path, Point, Rect, Shape};
use crate::player::Player;
use crate::scene::{Flying, Look};
use crate::text::{age, seconds};

/// A thing on its way and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub key: String,
    pub at: Point,
    /// The direction of travel, of length one; for ticks.
    pub along: Point,
    pub opacity: f32,
}

/// A worker's ring: how much of its lease is left in truth, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    pub worker: ProcessId,
    pub part: f32,
}

/// One run's moving parts.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMotion {
    pub index: usize,
    pub flying: Vec<Place>,
    pub rings: Vec<Ring>,
    pub ages: Vec<(ProcessId, String)>,
    /// Where the cursor stands in the lanes, and how far the run has come.
    pub cursor: f32,
    pub edge: f32,
    pub now_ms: u64,
}

/// Everything that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    pub clock: String,
    pub runs: Vec<RunMotion>,
}

impl Player {
    /// Where everything that moves is now. `frame` is the one that is drawn.
    #[must_use]
    pub fn moving(&self, frame: &Frame, reduced: bool) -> Moving {
        let worlds = self.shown_worlds();
        let runs = frame
            .runs
            .iter()
            .zip(worlds)
            .map(|(run, (world, end))| moving(run, world, end, reduced));
        Moving {
            clock: format!("{} s", seconds(self.world().now())),
            runs: runs.collect(),
        }
    }
}

fn moving(run: &RunFrame, world: &World, end: SimTime, reduced: bool) -> RunMotion {
    let now = world.now();
    let stage = &run.stage;
    let flying = stage
        .scene
        .flying
        .iter()
        .filter_map(|m| place(m, &stage.layout, now, reduced))
        .collect();
    let lease = world.setup().lease.0.max(1) as f32;
    let rings = stage.scene.workers.iter().map(|worker| {
        let left = worker.until.map_or(0, |until| until.since(now).0) as f32;
        Ring {
            worker: worker.id,
            part: (left / lease).max(0.0).min(1.0),
        }
    });
    let ages = stage.scene.workers.iter().map(|w| (w.id, &w.believes));
    let ages = ages.chain(stage.scene.servers.iter().map(|s| (s.id, &s.believes)));
    let ages = ages.filter_map(|(id, believes)| {
        let at = believes.as_ref()?.checked_at?;
        Some((id, format!("checked {}", age(now.since(at)))))
    });
    let scale = &run.timeline.scale;
    RunMotion {
        index: stage.index,
        flying,
        rings: rings.collect(),
        ages: ages.collect(),
        cursor: scale.x(now),
        edge: scale.x(end),
        now_ms: now.0 / 1_000,
    }
}

/// Where a message is: along its way, at mid-way with reduced motion.
fn place(message: &Flying, layout: &Layout, now: SimTime, reduced: bool) -> Option<Place> {
    let whole = message.arrives_at.since(message.sent_at).0.max(1) as f32;
    let part = (now.since(message.sent_at).0 as f32 / whole)
        .max(0.0)
        .min(1.0);
    let (way, part, opacity) = way_of(message, layout, if reduced { 0.5 } else { part })?;
    let at = way.at(part);
    let ahead = way.at((part + 0.02).min(1.0));
    let behind = way.at((part - 0.02).max(0.0));
    let (dx, dy) = (ahead.x - behind.x, ahead.y - behind.y);
    let length = (dx * dx + dy * dy).sqrt().max(0.001);
    let along = Point {
        x: dx / length,
        y: dy / length,
    };
    Some(Place {
        key: message.key.clone(),
        at,
        along,
        opacity,
    })
}

/// The way of a message by its looks, the part of it that is gone, and how clearly it is seen.
fn way_of(message: &Flying, layout: &Layout, part: f32) -> Option<(Path, f32, f32)> {
    let ids = |from: End, to: End| match (from, to) {
        (End::Process(from), End::Process(to)) => Some((from, to)),
        (End::Service, _) | (_, End::Service) => None,
    };
    match &message.look {
        Look::Tick(_) => layout
            .path(message.from, message.to)
            .map(|way| (way, part, 1.0)),
        Look::Stub { width, .. } => match ids(message.from, message.to) {
            Some((from, to)) if layout.store(to).is_some() => layout
                .stub_path(from, to, *width as f32)
                .map(|way| (way, ease(part), 1.0)),
            Some(_) | None => layout
                .path(message.from, message.to)
                .map(|way| (way, part, 1.0)),
        },
        // The answer carries the outcome: the stub turns back before the gate, or goes in.
        Look::Bounce { width, .. } => {
            let (store, writer) = ids(message.from, message.to)?;
            layout
                .bounce_path(writer, store, *width as f32)
                .map(|way| (way, ease(part), 1.0))
        }
        Look::Enter { width, .. } => {
            let (store, writer) = ids(message.from, message.to)?;
            let seat = layout.store(store)?;
            let from = layout.stub_path(writer, store, *width as f32)?.to;
            let inside = seat.block.center();
            let to = match layout.shape {
                Shape::Wide => Point {
                    x: seat.block.x + 20.0 + *width as f32 / 2.0,
                    y: from.y,
                },
                Shape::Rows => Point {
                    x: from.x,
                    y: inside.y,
                },
            };
            let bend = Point {
                x: (from.x + to.x) / 2.0,
                y: (from.y + to.y) / 2.0,
            };
            Some((
                Path { from, bend, to },
                ease((part * 1.4).min(1.0)),
                (2.2 - 2.0 * part).max(0.0).min(1.0),
            ))
        }
    }
}

/// Slow at both ends, as things are that are handed over.
fn ease(part: f32) -> f32 {
    part * part * (3.0 - 2.0 * part)
}

/// The place that a stub takes, for tests of what overlaps.
#[must_use]
pub fn stub_rect(at: Point, width: f32) -> Rect {
    let h = crate::layout::STUB_HEIGHT;
    Rect::new(at.x - width / 2.0, at.y - h / 2.0, width, h)
}
