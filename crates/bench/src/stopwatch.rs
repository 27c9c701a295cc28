//! Processor time of this thread where the system tells it, so that a busy neighbour does not count.

use std::fs;
use std::time::Instant;

const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

pub(crate) const WHAT: &str =
    "processor time of the one thread (wall time where Linux is not there to tell)";

#[derive(Debug)]
pub(crate) struct Stopwatch {
    processor: Option<u64>,
    wall: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            processor: on_processor(),
            wall: Instant::now(),
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        match (self.processor, on_processor()) {
            (Some(from), Some(to)) if from < to => (to - from) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Nanoseconds that this thread has been on a processor.
fn on_processor() -> Option<u64> {
    let text = fs::read_to_string(SCHEDSTAT).ok()?;
    text.split(' ').next()?.parse().ok()
}
