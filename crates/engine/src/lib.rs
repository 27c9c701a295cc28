//! A simulated world of servers, workers, clients and stores: same seed and same commands, same steps.
//!
//! A wind tunnel for leaders and leases. No web, no files, no clock and no randomness of its own: only
//! [`world::World`] changes anything, by [`world::World::apply`] and [`world::World::step`].

pub mod claim;
pub mod client;
pub mod command;
pub mod draw;
pub mod event;
pub mod explore;
pub mod fuzz;
pub mod hash;
pub mod history;
pub mod monitor;
pub mod process;
pub mod raft;
pub mod registry;
pub mod rule;
pub mod run_file;
pub mod service;
pub mod setup;
pub mod shared;
pub mod shrink;
pub mod store;
pub mod swarm;
pub mod switch;
pub mod text;
pub mod timed_script;
pub mod truth;
pub mod units;
pub mod worker;
pub mod world;
pub mod writer;
