//! What it costs to keep a run: bytes a step, and the time of winding to any step.
//!
//! A film reel on the scales, then in the projector. The run is the one that the page would keep: its
//! index of steps, its checkpoints, its commands, and the world at its end.

use std::time::Instant;

use leasehold_engine::command::Command;
use leasehold_engine::event::Step;
use leasehold_engine::history::{History, StepEntry};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, SimTime, StepNumber};

use crate::memory;
use crate::middle;

const SEEKS: usize = 1_000;

/// Five servers and one client that puts once a second, until `is_over`.
fn recorded(is_over: impl Fn(&History) -> bool) -> History {
    let mut history = History::new(Setup {
        servers: 5,
        clients: vec!["c1".to_owned()],
        ..Setup::default()
    })
    .expect("the setup is sound");
    let mut second = 0_u64;
    while !is_over(&history) {
        let command = Command::Put {
            client: "c1".to_owned(),
            key: format!("k{}", second % 100),
            value: format!("v{second}"),
        };
        second += 1;
        let acted = history.act(command, &mut Step::empty());
        acted.expect("a client takes puts");
        history.run_to(SimTime(Duration::secs(second).0), |_, _| {});
    }
    history
}

fn weigh(name: &str, is_over: impl Fn(&History) -> bool) -> History {
    let (history, bytes) = memory::kept_by(|| recorded(is_over));
    let steps = history.steps();
    println!(
        "{name:42} {steps:>8} {bytes:>11} {:>12.1} {:>12.1}",
        bytes as f64 / steps as f64,
        size_of::<StepEntry>() as f64,
    );
    history
}

/// Bytes a step of two runs, then seeks in the longer one.
pub(crate) fn run() {
    println!();
    println!(
        "A recorded run: 5 servers, a client that puts once a second, all monitors on; live bytes counted exactly"
    );
    println!(
        "at the allocator: index, checkpoints, commands and the world at the end. The bar is 150 bytes a step."
    );
    println!(
        "{:42} {:>8} {:>11} {:>12} {:>12}",
        "run", "steps", "bytes", "bytes a step", "of it index"
    );
    weigh("10 simulated minutes", |history| {
        history.position().at >= SimTime(Duration::secs(600).0)
    });
    let mut history = weigh("100,000 steps", |history| history.steps() >= 100_000);
    seek(&mut history);
}

fn seek(history: &mut History) {
    let steps = history.steps() as u64;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut seeks = Vec::with_capacity(SEEKS);
    let mut throughs = Vec::with_capacity(SEEKS);
    for _ in 0..SEEKS {
        // Any generator will do; this is Knuth's.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let to = StepNumber((random >> 33) % steps);
        let checkpoint = history.checkpoint_before(to);
        // From elsewhere: the checkpoint is copied, and its steps are taken.
        history.seek(StepNumber(if to.0 < steps / 2 { steps } else { 0 }));
        let start = Instant::now();
        history.seek(to);
        seeks.push(start.elapsed().as_secs_f64() * 1e3);
        // From the checkpoint itself: its steps only.
        history.seek(checkpoint);
        let start = Instant::now();
        history.seek(to);
        throughs.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let worst = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (worst_seek, worst_through) = (worst(&seeks), worst(&throughs));
    let (seek, through) = (middle(seeks), middle(throughs));
    println!();
    println!(
        "Winding to a random step of the 100,000, {SEEKS} times, wall time; beside it, stepping through to the same"
    );
    println!("step from the nearest checkpoint before it, without winding there.");
    println!("{:42} {:>10} {:>10} {:>10}", "", "seek", "through", "ratio");
    println!(
        "{:42} {seek:>7.3} ms {through:>7.3} ms {:>10.2}",
        "median",
        seek / through
    );
    println!(
        "{:42} {worst_seek:>7.3} ms {worst_through:>7.3} ms {:>10.2}",
        "worst",
        worst_seek / worst_through
    );
}
