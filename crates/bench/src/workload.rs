//! What both sides do: so many entries, so many at once; and what came of it.

/// How much is replicated, and how many entries are on their way at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    pub(crate) servers: u8,
    pub(crate) entries: u64,
    pub(crate) in_flight: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Entries of the workload that the leader has applied.
    pub(crate) applied: u64,
    pub(crate) steps: u64,
    pub(crate) seconds: f64,
}

/// How many different keys are put.
pub(crate) const KEYS: u64 = 100;
