//! Random worlds under swarms of faults: with every safety switch on nothing breaks, whatever else is off;
//! whatever breaks with switches off is seen first by the monitor and by the full predicate at the same step;
//! and once everything is healed, work goes on.
//!
//! The fault model of a run: loss, duplication, reordering, cuts, pauses, crashes and restarts, jumps of wall
//! clocks, and clock rates within the bound that the setup names. `SLOW=1` plays ten times as many runs.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

#[path = "engine/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::oracle::Oracle;
use leasehold_engine::command::Command;
use leasehold_engine::event::{Event, Outcome, Step};
use leasehold_engine::fuzz::{Fuzzer, Options};
use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::registry::Op;
use leasehold_engine::setup::{Kind, Setup};
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{Duration, LogIndex, ProcessId, RequestId};
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

/// One set of runs for every safety switch of the table: all are on in all runs, and the runs' faults are those
/// under which the table calls them safe. What a run draws are the switches on which no safety may depend.
#[test]
fn nothing_breaks_while_every_safety_switch_is_on() {
    let mut counts = Counts::default();
    let (mut steps, all) = (0, runs(1_000, 10_000));
    for seed in 0..all {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut history = History::new(swarm.setup()).unwrap();
        swarm.play(&mut history, STEPS, |step, _| counts.count(step));
        steps += history.world().step_count().0;
        let broken = |i: &&Invariant| history.world().broken(**i).is_some();
        if let Some(invariant) = Invariant::ALL.iter().find(broken) {
            panic!("{}", shortened(seed, *invariant));
        }
    }
    println!("{all} runs, {steps} steps: {counts:?}");
    counts.assert_none_is_zero();
    // A run in which nothing is left to happen ends early; few do.
    assert!(all * STEPS * 95 / 100 <= steps, "{steps} steps");
}

/// The line that finds a break again, and the break made short.
fn shortened(seed: u64, invariant: Invariant) -> String {
    let mut fuzzer = Fuzzer::new(Options {
        seed,
        runs: 1,
        steps: STEPS,
        ..Options::default()
    });
    let find = fuzzer.finish().unwrap();
    format!("leasehold fuzz --seed {seed} --runs 1 --steps {STEPS}: {invariant}\n{find:#?}")
}

/// Aimed at each invariant in turn, so that the kinds of trouble by which it could break are never few.
#[test]
fn nothing_breaks_under_the_faults_that_each_invariant_fears() {
    for invariant in Invariant::ALL {
        let mut fuzzer = Fuzzer::new(Options {
            seed: 1_000_000,
            runs: runs(60, 1_000),
            steps: STEPS,
            sought: Some(*invariant),
            ..Options::default()
        });
        let find = fuzzer.finish().unwrap();
        assert_eq!(find, None, "{invariant}");
    }
}

/// The fence knows no time: with clocks of any rate, what breaks are deadlines and reads by lease alone.
#[test]
fn clocks_beyond_any_bound_break_nothing_that_knows_no_time() {
    let beyond = Beyond {
        drift: true,
        switches: false,
    };
    let mut deadlines = 0;
    for seed in 0..runs(300, 3_000) {
        let mut swarm = Swarm::new(seed, beyond);
        let mut history = History::new(swarm.setup()).unwrap();
        swarm.play(&mut history, STEPS, |_, _| {});
        let world = history.world();
        for invariant in Invariant::ALL {
            match invariant {
                Invariant::DeadlineWithinGrant => {
                    deadlines += u64::from(world.broken(*invariant).is_some());
                }
                Invariant::LinearizableReads if world.setup().lease_reads => {}
                _ => assert_eq!(world.broken(*invariant), None, "seed {seed}: {invariant}"),
            }
        }
    }
    assert!(0 < deadlines, "no clock was far enough off");
}

/// Breaks that need more luck than a random run has; `explore` and scripts show them.
const NOT_BY_CHANCE: &[Switch] = &[
    // Its disks lose what they have confirmed: beyond the faults of random runs.
    Switch::RefuseVoteUntilRepaired,
    Switch::CommitOnlyCurrentTerm,
    Switch::CommitClampToLastNewEntry,
    Switch::OwnTermCommitBeforeReconfig,
    Switch::LeaseFromSendTime,
    Switch::TransferExpiresLease,
];

/// Breaks that one run in hundreds has: looked for with `SLOW=1` alone.
const RARE: &[Switch] = &[Switch::VoteCountsById, Switch::StaleTermCheck];

/// The monitors would catch the loss of each: a random search finds the break that the table names.
#[test]
fn the_loss_of_each_safety_switch_is_found_by_chance() {
    let mut missed = Vec::new();
    for switch in Switch::ALL {
        let Some(invariant) = switch.breaks() else {
            continue;
        };
        let is_rare = RARE.contains(switch) && runs(0, 1) == 0;
        if is_rare || NOT_BY_CHANCE.contains(switch) {
            continue;
        }
        let mut fuzzer = Fuzzer::new(Options {
            runs: runs(3_000, 10_000),
            set: vec![(*switch, Position::Off)],
            sought: Some(invariant),
            replays: 1,
            ..Options::default()
        });
        match fuzzer.finish().unwrap() {
            Some(find) => println!("{switch}: {invariant} breaks with seed {}", find.seed),
            None => missed.push(*switch),
        }
    }
    assert_eq!(missed, [], "no run breaks what these keep");
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

/// The last moment's answers, by client.
fn acknowledged(step: &Step) -> impl Iterator<Item = (ProcessId, RequestId)> + '_ {
    step.events().filter_map(|event| match event {
        Event::RequestEnded {
            request,
            outcome: Outcome::Accepted,
        } => step.process.map(|client| (client, *request)),
        _ => None,
    })
}

/// One leader, whom all follow in its term; and every log is the same, committed and applied to its end.
fn is_at_one(world: &World) -> bool {
    let Some((leader, term)) = world.truth().leader() else {
        return false;
    };
    let first = world.server(leader).unwrap();
    let members = first.config().members();
    let mut servers = world.names().of_kind(Kind::Server);
    servers.all(|id| {
        let server = world.server(id).unwrap();
        // A spare or removed server need not know what became of the others.
        if !members.contains(id) {
            return true;
        }
        let last = server.log().last_index();
        server.term() == term
            && server.is_leader() == (id == leader)
            && last == first.log().last_index()
            && server.log().term_at(last) == first.log().term_at(last)
            && server.commit() == last
            && server.applied() == last
    })
}

/// Larger worlds than the swarm draws, with more of everybody.
fn crowd(swarm: &mut Swarm, seed: u64) -> Setup {
    Setup {
        servers: [3, 5][(seed % 2) as usize],
        workers: ["A", "B", "C"].map(str::to_owned).to_vec(),
        clients: ["c1", "c2", "c3"][..2 + (seed % 2) as usize]
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        stores: ["orders", "stock"].map(str::to_owned).to_vec(),
        resources: ["orders", "stock"].map(str::to_owned).to_vec(),
        table_in_memory: false,
        // Who was removed knows no leader to send a client to: it must try them all.
        client_attempts: 12,
        ..swarm.setup()
    }
}

/// Full predicates at every step of a share of the runs; then everything is healed, and must come together:
/// one leader, equal logs, every acknowledged put in them, and a lease and a write for who asks.
#[test]
fn crowded_worlds_keep_every_invariant_and_recover() {
    let all = runs(60, 1_000);
    let mut counts = Counts::default();
    for seed in 0..all {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let setup = crowd(&mut swarm, seed);
        let mut history = History::new(setup).unwrap();
        let mut oracle = Oracle::default();
        let mut puts: BTreeSet<(ProcessId, RequestId)> = BTreeSet::new();
        swarm.play(&mut history, 2 * STEPS, |step, world| {
            counts.count(step);
            puts.extend(acknowledged(step));
            if seed % 6 == 0 {
                oracle.look(step, world);
            }
        });
        assert_eq!(oracle.first, BTreeMap::new(), "seed {seed}");
        for invariant in Invariant::ALL {
            let broken = history.world().broken(*invariant);
            assert_eq!(broken, None, "seed {seed}: {invariant}");
        }
        recovers(&mut history, &puts, seed);
    }
    println!("{counts:?}");
}

/// A disk that was to fail with its next write, and a worker that was to sleep before its next send, do so once
/// after everything is healed.
fn mend(history: &mut History) {
    let names = history.world().names().clone();
    for id in names.ids() {
        let process = names.name(id).to_owned();
        let status = history.world().status(id);
        let repair = if status.is_crashed() {
            Command::Restart { process }
        } else if status.is_asleep() {
            Command::Resume { process }
        } else {
            continue;
        };
        history.act(repair, &mut Step::empty()).unwrap();
    }
}

fn recovers(history: &mut History, puts: &BTreeSet<(ProcessId, RequestId)>, seed: u64) {
    let mut step = Step::empty();
    for command in Swarm::heal_all(history.world()) {
        history.act_or_skip(command, &mut step);
    }
    let soon = history.world().now().plus(Duration::secs(60));
    history.run_to(soon, |_, _| {});
    mend(history);
    // Work that nobody else does any more: then the logs come to rest.
    let mut is_quiet = false;
    let later = soon.plus(Duration::secs(120));
    history.run_to(later, |_, world| is_quiet |= is_at_one(world));
    assert!(is_quiet, "seed {seed}: the servers never came to one log");
    let world = history.world();
    let (leader, _) = world.truth().leader().unwrap();
    let log = world.server(leader).unwrap().log();
    let kept = log.iter().filter_map(|entry| match &entry.op {
        Op::Put {
            client, request, ..
        } => Some((*client, *request)),
        _ => None,
    });
    let kept: BTreeSet<_> = kept.collect();
    // What was compacted is in the snapshot alone; that it is there, the monitors know.
    let lost: Vec<_> = puts.difference(&kept).collect();
    let is_whole = log.start() == LogIndex(0);
    assert!(
        !is_whole || lost.is_empty(),
        "seed {seed}: acknowledged and gone: {lost:?}"
    );

    // A key of its own: puts that clients still had in hand may come later.
    let put = "put c1 healed \"last\"".parse().unwrap();
    history.act(put, &mut step).unwrap();
    for worker in ["A", "B", "C"] {
        let ask = format!("acquire {worker} orders").parse().unwrap();
        history.act_or_skip(ask, &mut step);
    }
    let (mut granted, mut accepted, mut written) = (false, false, false);
    let end = history.world().now().plus(Duration::secs(120));
    while history.world().now() < end {
        let next = history.world().now().plus(Duration::secs(5)).min(end);
        history.run_to(next, |step, _| {
            for event in step.events() {
                granted |= matches!(
                    event,
                    Event::LeaseRenewed { .. } | Event::LeaseReceived { .. }
                );
                accepted |= matches!(event, Event::PutApplied { value, .. } if &**value == "last");
                written |=
                    matches!(event, Event::WriteAccepted { value, .. } if &**value == "after");
            }
        });
        if written && granted && accepted {
            break;
        }
        mend(history);
        // Whoever holds writes; the others withhold.
        for worker in ["A", "B", "C"] {
            let write = format!("write {worker} orders \"after\"").parse().unwrap();
            history.act_or_skip(write, &mut step);
        }
    }
    assert!(granted, "seed {seed}: nobody came to hold the lease");
    assert!(accepted, "seed {seed}: the put was never applied");
    assert!(written, "seed {seed}: no write was accepted");
    let mut read = None;
    let get = "get c1 healed".parse().unwrap();
    history.act(get, &mut step).unwrap();
    let end = history.world().now().plus(Duration::secs(30));
    history.run_to(end, |step, _| {
        for event in step.events() {
            if let Event::ReadEnded { key, value, .. } = event
                && &**key == "healed"
            {
                read = value.clone();
            }
        }
    });
    assert_eq!(
        read.as_deref(),
        Some("last"),
        "seed {seed}: the put is not read"
    );
    for invariant in Invariant::ALL {
        let broken = history.world().broken(*invariant);
        assert_eq!(broken, None, "seed {seed}, healed: {invariant}");
    }
}
