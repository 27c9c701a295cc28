//! The engine's tests, in one program: what a correct engine does, told by commands and seen by events.
//!
//! One rehearsal room for all the plays. `play` runs a script and keeps its steps, `common` runs one before the
//! full predicates. Long random runs stand apart, in `random`.

#![allow(clippy::unwrap_used, reason = "these are tests")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a test listens to a few events"
)]

mod common;
mod play;

mod architecture;
mod belief;
mod determinism;
mod durability;
mod elections;
mod explore;
mod fencing;
mod fuzz;
mod history;
mod invariants;
mod leases;
mod links;
mod membership;
mod raft_paper;
mod reads;
mod replication;
mod rules;
mod snapshots;
mod transfer;
mod two_phase_commit;
mod untimed;
