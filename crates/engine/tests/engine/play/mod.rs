//! A world driven by a script, one line each, and all steps kept: how these tests tell their stories.
//!
//! Commands stand as they are; `at 2s` and `run 2s` let time pass, `until CLAIM` waits for at most a
//! minute, `expect CLAIM` must hold there, of this script's steps. `s1>A#last` names the last message
//! sent on that link. A `#` or a `--` begins a remark.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

pub mod posts;

use leasehold_engine::claim::{Claim, Watch};
use leasehold_engine::command::{Command, CommandError};
use leasehold_engine::event::{Event, Step, Verdict};
use leasehold_engine::monitor::Invariant;
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, ProcessId, ResourceId, SimTime, SpanText, Token};
use leasehold_engine::world::World;

// The ids of `stage`: servers first, then workers, clients, stores.
pub const S1: ProcessId = ProcessId(0);
pub const S2: ProcessId = ProcessId(1);
pub const S3: ProcessId = ProcessId(2);
pub const A: ProcessId = ProcessId(3);
pub const B: ProcessId = ProcessId(4);
pub const C1: ProcessId = ProcessId(5);
pub const ORDERS: ProcessId = ProcessId(6);
/// The lease on `orders`, the only resource.
pub const LEASE: ResourceId = ResourceId(0);

const PATIENCE: Duration = Duration::secs(60);

/// s1 leads term 1 at zero, every message takes 50 ms, and nobody asks for anything by itself.
pub fn stage() -> Setup {
    Setup {
        workers: vec!["A".into(), "B".into()],
        clients: vec!["c1".into()],
        stores: vec!["orders".into()],
        contend: false,
        latency_min: Duration::millis(50),
        latency_max: Duration::millis(50),
        election_fixed: [1_500, 2_500, 3_500].map(Duration::millis).to_vec(),
        ..Setup::default()
    }
}

/// `stage` with workers that ask by themselves.
pub fn contended() -> Setup {
    Setup {
        contend: true,
        ..stage()
    }
}

/// `stage` before the first election.
pub fn cold() -> Setup {
    Setup {
        after_first_election: false,
        ..stage()
    }
}

/// `count` servers and a client, cold, every message 10 ms: a tick of the case list.
pub fn ticking(count: u8, election_ms: &[u64]) -> Setup {
    Setup {
        servers: count,
        clients: vec!["c1".into()],
        stores: vec!["orders".into()],
        contend: false,
        after_first_election: false,
        latency_min: Duration::millis(10),
        latency_max: Duration::millis(10),
        heartbeat: Duration::millis(20),
        election_fixed: election_ms.iter().copied().map(Duration::millis).collect(),
        ..Setup::default()
    }
}

#[derive(Debug)]
pub struct Play {
    pub world: World,
    pub steps: Vec<Step>,
}

impl Play {
    pub fn new(setup: Setup) -> Self {
        Self {
            world: World::new(setup).unwrap(),
            steps: Vec::new(),
        }
    }

    /// A new world with this script played.
    pub fn of(setup: Setup, script: &str) -> Self {
        let mut play = Self::new(setup);
        play.run(script);
        play
    }

    pub fn run(&mut self, script: &str) -> &mut Self {
        let lines: Vec<&str> = script.lines().map(without_remark).collect();
        let mut watches: Vec<(usize, Watch)> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(claim) = line.strip_prefix("expect ") {
                watches.push((at, self.watch(claim)));
            }
        }
        for (at, line) in lines.iter().enumerate() {
            if line.is_empty() {
            } else if let Some(time) = line.strip_prefix("at ") {
                self.run_to(SimTime(span(time).0), &mut watches);
            } else if let Some(time) = line.strip_prefix("run ") {
                let to = self.world.now().plus(span(time));
                self.run_to(to, &mut watches);
            } else if let Some(claim) = line.strip_prefix("until ") {
                self.run_until(claim, &mut watches);
            } else if line.starts_with("expect ") {
                let (_, watch) = watches.iter().find(|(line, _)| *line == at).unwrap();
                assert!(watch.holds(&self.world), "{line}\n{}", self.trace(40));
            } else {
                let command = self.command(line);
                let mut step = Step::empty();
                if let Err(error) = self.world.apply(&command, &mut step) {
                    panic!("{line}: {error:?}\n{}", self.trace(20));
                }
                self.note(step, &mut watches);
            }
        }
        self
    }

    /// The command on a line, with `#last` looked up.
    pub fn command(&self, line: &str) -> Command {
        let words = line
            .split(' ')
            .map(|word| match word.strip_suffix("#last") {
                Some(link) => {
                    let (from, to) = link.split_once('>').expect("a link");
                    let link = self.world.link(self.id(from), self.id(to));
                    format!("{from}>{to}#{}", link.sent)
                }
                None => word.to_owned(),
            });
        let line = words.collect::<Vec<_>>().join(" ");
        line.parse()
            .unwrap_or_else(|error| panic!("{line}: {error:?}"))
    }

    /// What the world says to a command that it cannot carry out.
    pub fn refusal(&mut self, line: &str) -> CommandError {
        let command = self.command(line);
        let before = self.world.clone();
        let error = self.world.apply(&command, &mut Step::empty()).unwrap_err();
        assert_eq!(self.world.state_hash(), before.state_hash(), "{line}");
        assert!(
            self.world == before,
            "{line} was refused and changed something"
        );
        error
    }

    fn watch(&self, claim: &str) -> Watch {
        let claim: Claim = claim
            .parse()
            .unwrap_or_else(|error| panic!("{claim}: {error:?}"));
        claim.check(self.world.names()).unwrap();
        Watch::new(claim)
    }

    fn note(&mut self, step: Step, watches: &mut [(usize, Watch)]) {
        for (_, watch) in watches {
            watch.show(&step, &self.world);
        }
        self.steps.push(step);
    }

    fn take_step(&mut self, watches: &mut [(usize, Watch)]) {
        let mut step = Step::empty();
        assert!(self.world.step(&mut step), "nothing is left to happen");
        self.note(step, watches);
    }

    fn run_to(&mut self, to: SimTime, watches: &mut [(usize, Watch)]) {
        assert!(self.world.now() <= to, "it is later than that already");
        while self.world.next_at().is_some_and(|next| next <= to) {
            self.take_step(watches);
        }
        self.world.advance(to);
    }

    fn run_until(&mut self, claim: &str, watches: &mut [(usize, Watch)]) {
        let mut goal = [(0, self.watch(claim))];
        let latest = self.world.now().plus(PATIENCE);
        while !goal[0].1.holds(&self.world) {
            let due = self.world.next_at().is_some_and(|next| next <= latest);
            assert!(due, "until {claim}: it never comes\n{}", self.trace(40));
            self.take_step(watches);
            let step = self.steps.last().unwrap();
            goal[0].1.show(step, &self.world);
        }
    }

    // What came of it -----------------------------------------------------------------------

    pub fn id(&self, name: &str) -> ProcessId {
        self.world.names().find(name).expect("a name of this world")
    }

    pub fn holds(&self, claim: &str) -> bool {
        self.watch(claim).holds(&self.world)
    }

    /// True milliseconds since zero.
    pub fn ms(&self) -> u64 {
        self.world.now().0 / 1_000
    }

    /// When, in true milliseconds, a process's event came, for each time it came.
    pub fn times(&self, who: ProcessId, is: impl Fn(&Event) -> bool) -> Vec<u64> {
        let steps = self.steps.iter().filter(|step| step.process == Some(who));
        steps
            .filter(|step| step.events().any(&is))
            .map(|step| step.at.0 / 1_000)
            .collect()
    }

    pub fn count(&self, who: ProcessId, is: impl Fn(&Event) -> bool) -> usize {
        let steps = self.steps.iter().filter(|step| step.process == Some(who));
        steps
            .flat_map(Step::events)
            .filter(|event| is(event))
            .count()
    }

    /// Some step of `who` carries `rule` with such an event.
    pub fn expect(&self, rule: Rule, who: Option<ProcessId>, is: impl Fn(&Event) -> bool) {
        let found = self.steps.iter().any(|step| {
            let mut facts = step.facts.iter();
            step.process == who && facts.any(|fact| fact.rule == rule && is(&fact.event))
        });
        if !found {
            let near = self.steps.iter().flat_map(|step| {
                let by_rule = step.facts.iter().filter(|fact| fact.rule == rule);
                by_rule.map(|fact| format!("{:?} {:?} {:?}", step.at, step.process, fact.event))
            });
            let near: Vec<String> = near.collect();
            panic!(
                "{rule:?} decided no such event; it decided:\n{}",
                near.join("\n")
            );
        }
    }

    pub fn verdict(&self, worker: &str) -> Option<Verdict> {
        self.world
            .worker(self.id(worker))
            .unwrap()
            .verdict_on(LEASE)
    }

    /// The true milliseconds at which a worker's own deadline falls.
    pub fn own_deadline(&self, worker: &str) -> Option<u64> {
        self.world
            .own_deadline(self.id(worker))
            .map(|at| at.0 / 1_000)
    }

    /// Who holds in truth, with which token.
    pub fn holder(&self) -> Option<(ProcessId, Token)> {
        let grant = self.world.truth().holder(LEASE)?;
        Some((grant.worker, grant.token))
    }

    /// Terms of a server's log.
    pub fn log(&self, server: &str) -> Vec<u64> {
        let server = self.world.server(self.id(server)).unwrap();
        server.log().iter().map(|entry| entry.term.0).collect()
    }

    pub fn assert_kept(&self) {
        for invariant in Invariant::ALL {
            assert_eq!(self.world.broken(*invariant), None, "{invariant}");
        }
    }

    /// The last steps, a line an event.
    pub fn trace(&self, most: usize) -> String {
        let from = self.steps.len().saturating_sub(most);
        let mut text = String::new();
        for step in &self.steps[from..] {
            let who = step.process.map_or("-", |id| self.world.names().name(id));
            for fact in &step.facts {
                text += &format!("{:>9} {who:6} {:?}\n", step.at.0, fact.event);
            }
        }
        text
    }
}

pub fn with_switch(mut setup: Setup, switch: Switch, word: &str) -> Setup {
    setup.switches.push((switch.name().into(), word.into()));
    setup
}

fn span(text: &str) -> Duration {
    let span: SpanText = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error:?}"));
    span.0
}

fn without_remark(line: &str) -> &str {
    let line = line.split("--").next().unwrap_or(line).trim();
    if line.starts_with('#') { "" } else { line }
}
