//! Random worlds under swarms of faults: with every switch on nothing breaks; whatever breaks with
//! switches off is seen first by the monitor and by the full predicate at the same step.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

#[path = "engine/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use common::oracle::Oracle;
use leasehold_engine::event::{Event, Step};
use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::setup::Kind;
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::units::Duration;
use leasehold_engine::world::World;

const STEPS: u64 = 2_000;

/// How many runs: more behind `SLOW=1`.
fn runs(few: u64, many: u64) -> u64 {
    if std::env::var_os("SLOW").is_some() {
        many
    } else {
        few
    }
}

/// What must have happened in the runs for them to mean anything.
#[derive(Default, Debug)]
struct Counts {
    elections: u64,
    commits: u64,
    expiries: u64,
    refusals: u64,
    repetitions: u64,
    disk_failures: u64,
    disk_acts: u64,
    jeopardies: u64,
    crashes: u64,
    compactions: u64,
    changes: u64,
    snapshots: u64,
    rests: u64,
    forgotten_tables: u64,
    graces: u64,
    releases_confirmed: u64,
}

impl Counts {
    fn count(&mut self, step: &Step) {
        for event in step.events() {
            match event {
                Event::BecameLeader { .. } => self.elections += 1,
                Event::CommitAdvanced { .. } => self.commits += 1,
                Event::LeaseExpired { .. } => self.expiries += 1,
                Event::WriteRefused { .. } => self.refusals += 1,
                Event::WriteRepeated { .. } => self.repetitions += 1,
                Event::DiskFailed { .. } => self.disk_failures += 1,
                Event::DiskActed { .. } => self.disk_acts += 1,
                Event::JeopardyBegan { .. } => self.jeopardies += 1,
                Event::Crashed { .. } => self.crashes += 1,
                Event::ConfigAdopted { .. } => self.changes += 1,
                Event::LogCompacted { .. } => self.compactions += 1,
                Event::SnapshotInstalled { .. } => self.snapshots += 1,
                Event::ResourceClosed { .. } => self.rests += 1,
                Event::TableLost => self.forgotten_tables += 1,
                Event::GraceBegan { .. } => self.graces += 1,
                Event::ReleaseConfirmed { .. } => self.releases_confirmed += 1,
                _ => {}
            }
        }
    }

    fn assert_none_is_zero(&self) {
        let all = [
            self.elections,
            self.commits,
            self.expiries,
            self.refusals,
            self.repetitions,
            self.disk_failures,
            self.disk_acts,
            self.jeopardies,
            self.crashes,
            self.compactions,
            self.changes,
            self.snapshots,
            self.rests,
            self.forgotten_tables,
            self.graces,
            self.releases_confirmed,
        ];
        assert!(all.iter().all(|n| 0 < *n), "{self:?}");
    }
}

#[test]
fn nothing_breaks_while_every_switch_is_on() {
    let mut counts = Counts::default();
    for seed in 0..runs(1_000, 10_000) {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut history = History::new(swarm.setup()).unwrap();
        swarm.play(&mut history, STEPS, |step, _| counts.count(step));
        for invariant in Invariant::ALL {
            let broken = history.world().broken(*invariant);
            assert_eq!(broken, None, "seed {seed}: {invariant}");
        }
    }
    counts.assert_none_is_zero();
    println!("{counts:?}");
}

#[test]
fn the_full_predicates_see_nothing_either() {
    for seed in 0..runs(1_000, 10_000) {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut history = History::new(swarm.setup()).unwrap();
        let mut oracle = Oracle::default();
        swarm.play(&mut history, STEPS, |step, world| oracle.look(step, world));
        assert_eq!(oracle.first, BTreeMap::new(), "seed {seed}");
        same_applied_same_state(history.world(), seed);
    }
}

/// Whether it applied every entry or took over a snapshot, what has applied as much is in the same state.
fn same_applied_same_state(world: &World, seed: u64) {
    let servers = world.names().of_kind(Kind::Server);
    let mut states = BTreeMap::new();
    for server in servers.filter_map(|id| world.server(id)) {
        let state = states.entry(server.applied()).or_insert(server.registry());
        assert_eq!(
            *state,
            server.registry(),
            "seed {seed}: {:?}",
            server.applied()
        );
    }
}

#[test]
fn monitors_and_full_predicates_fire_first_at_the_same_step() {
    let mut fired: BTreeMap<Invariant, u64> = BTreeMap::new();
    for seed in 0..runs(300, 3_000) {
        let mut swarm = Swarm::new(
            seed,
            Beyond {
                drift: true,
                switches: true,
            },
        );
        let mut history = History::new(swarm.setup()).unwrap();
        let mut oracle = Oracle::default();
        swarm.play(&mut history, 1_000, |step, world| oracle.look(step, world));
        for invariant in Invariant::ALL {
            let monitor = history.world().broken(*invariant).map(|b| b.step);
            let full = oracle.first.get(invariant).copied();
            assert_eq!(monitor, full, "seed {seed}: {invariant}");
            *fired.entry(*invariant).or_default() += u64::from(monitor.is_some());
        }
    }
    println!("{fired:?}");
    assert!(
        Invariant::ALL.iter().filter(|i| 0 < fired[i]).count() >= 6,
        "{fired:?}"
    );
}

/// The same clocks, all within the bound: with nobody reckoning with it, deadlines outlive grants.
#[test]
fn without_the_drift_bound_clocks_within_it_break_deadlines() {
    let all = runs(300, 3_000);
    let breaks = |seed: &u64| {
        let mut swarm = Swarm::new(*seed, Beyond::default());
        let mut setup = swarm.setup();
        setup.switches.push(("drift_bound".into(), "off".into()));
        let mut history = History::new(setup).unwrap();
        swarm.play(&mut history, STEPS, |_, _| {});
        let world = history.world();
        world.broken(Invariant::DeadlineWithinGrant).is_some()
    };
    let broken = (0..all).filter(breaks).count();
    println!("{broken} of {all}");
    assert!(0 < broken);
}

#[test]
fn healed_runs_make_progress() {
    for seed in 0..runs(60, 1_000) {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut history = History::new(swarm.setup()).unwrap();
        swarm.play(&mut history, STEPS, |_, _| {});
        let mut step = Step::empty();
        for command in Swarm::heal_all(history.world()) {
            history.act_or_skip(command, &mut step);
        }
        // Somebody must lead before a client's few attempts can end well.
        let soon = history.world().now().plus(Duration::secs(60));
        history.run_to(soon, |_, _| {});
        let mut granted = false;
        let mut accepted = false;
        let put = "put c1 x \"last\"".parse().unwrap();
        history.act(put, &mut step).unwrap();
        for worker in ["A", "B"] {
            let resource = history.world().names().resources()[0].clone();
            let ask = format!("acquire {worker} {resource}").parse().unwrap();
            history.act_or_skip(ask, &mut step);
        }
        let to = history.world().now().plus(Duration::secs(240));
        history.run_to(to, |step, _| {
            for event in step.events() {
                granted |= matches!(
                    event,
                    Event::LeaseRenewed { .. } | Event::LeaseReceived { .. }
                );
                accepted |= matches!(event, Event::PutApplied { value, .. } if &**value == "last");
            }
        });
        assert!(granted, "seed {seed}: nobody came to hold the lease");
        assert!(accepted, "seed {seed}: the put was never applied");
        assert!(
            history.world().truth().leader().is_some(),
            "seed {seed}: nobody leads"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_steps() {
    for seed in 0..20 {
        let hashes = || {
            let mut swarm = Swarm::new(
                seed,
                Beyond {
                    drift: true,
                    switches: true,
                },
            );
            let mut history = History::new(swarm.setup()).unwrap();
            let mut hashes = Vec::new();
            swarm.play(&mut history, 600, |_, world| {
                hashes.push(world.state_hash())
            });
            hashes
        };
        assert_eq!(hashes(), hashes(), "seed {seed}");
    }
}
