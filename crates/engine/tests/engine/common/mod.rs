//! What the engine's tests share: running a script of commands against a world, watched by the oracle.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod oracle;

use leasehold_engine::claim::{Claim, Watch};
use leasehold_engine::command::Command;
use leasehold_engine::event::Step;
use leasehold_engine::history::History;
use leasehold_engine::monitor::{Broken, Invariant, Reason};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, SimTime, SpanText};
use leasehold_engine::world::World;
use oracle::Oracle;

/// A run under the oracle's eyes.
pub struct Run {
    pub history: History,
    pub oracle: Oracle,
}

impl Run {
    pub fn new(setup: Setup) -> Self {
        Self {
            history: History::new(setup).unwrap(),
            oracle: Oracle::default(),
        }
    }

    pub fn world(&self) -> &World {
        self.history.world()
    }

    /// `s1>A#last` names the last message sent on that link.
    fn with_numbers(&self, line: &str) -> String {
        let names = self.world().names();
        let words = line.split(' ').map(|word| {
            let Some(link) = word.strip_suffix("#last") else {
                return word.to_owned();
            };
            let (from, to) = link.split_once('>').unwrap();
            let (from, to) = (names.find(from).unwrap(), names.find(to).unwrap());
            format!("{link}#{}", self.world().link(from, to).sent)
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Plays a script: a command a line, `run 2s`, or `until CLAIM` (within a simulated minute).
    pub fn play(&mut self, script: &str) -> &mut Self {
        for line in script
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if let Some(span) = line.strip_prefix("run ") {
                let span: SpanText = span.parse().unwrap();
                self.run_for(span.0);
            } else if let Some(claim) = line.strip_prefix("until ") {
                self.run_until(claim);
            } else {
                let line = &self.with_numbers(line);
                let command: Command = line.parse().unwrap_or_else(|e| panic!("{line}: {e:?}"));
                let mut step = Step::empty();
                self.history
                    .act(command, &mut step)
                    .unwrap_or_else(|e| panic!("{line}: {e:?}"));
                self.oracle.look(&step, self.history.world());
            }
        }
        self
    }

    fn run_for(&mut self, span: Duration) {
        let to = self.world().now().plus(span);
        let oracle = &mut self.oracle;
        self.history
            .run_to(to, |step, world| oracle.look(step, world));
    }

    fn run_until(&mut self, claim: &str) {
        let read: Claim = claim.parse().unwrap_or_else(|e| panic!("{claim}: {e:?}"));
        read.check(self.world().names()).unwrap();
        let mut watch = Watch::new(read);
        let bound = self.world().now().plus(Duration::secs(60));
        let mut step = Step::empty();
        while !watch.holds(self.world()) {
            assert!(self.world().now() <= bound, "never came: {claim}");
            assert!(
                self.history.step(&mut step),
                "nothing left to happen: {claim}"
            );
            self.oracle.look(&step, self.history.world());
            watch.show(&step, self.history.world());
        }
    }

    pub fn holds(&self, claim: &str) -> bool {
        Watch::new(claim.parse().unwrap()).holds(self.world())
    }

    pub fn broken(&self, invariant: Invariant) -> Option<&Broken> {
        self.world().broken(invariant)
    }

    /// For every invariant, monitor and full predicate fire first at the same step, or both not at all.
    pub fn assert_monitors_agree(&self) {
        for invariant in Invariant::ALL {
            let monitor = self.broken(*invariant).map(|b| b.step);
            assert_eq!(
                monitor,
                self.oracle.first.get(invariant).copied(),
                "{invariant}"
            );
        }
    }
}

/// Plays `script` with `switch` off, then on, and gives the reason of the break.
pub fn check(setup: &Setup, switch: &str, script: &str, invariant: Invariant) -> Reason {
    let mut setup = setup.clone();
    setup.switches.push((switch.to_owned(), "off".to_owned()));
    let mut off = Run::new(setup.clone());
    off.play(script);
    off.assert_monitors_agree();
    let broken = off
        .broken(invariant)
        .unwrap_or_else(|| panic!("{invariant} must break"));
    let reason = broken.reason;

    setup.switches.pop();
    let mut on = Run::new(setup);
    // Waiting for what no longer happens is no part of the comparison.
    let script: Vec<&str> = script
        .lines()
        .filter(|l| !l.trim().starts_with("until now"))
        .collect();
    on.play(&script.join("\n"));
    on.assert_monitors_agree();
    for invariant in Invariant::ALL {
        assert_eq!(on.broken(*invariant), None, "with {switch} on");
    }
    reason
}

/// A world without a quiet start, in which only `campaign` starts elections.
pub fn cold(servers: u8) -> Setup {
    Setup {
        servers,
        after_first_election: false,
        election_fixed: vec![Duration::secs(10_000); usize::from(servers)],
        contend: false,
        client_timeout: Duration::secs(1_000),
        ..Setup::default()
    }
}

pub fn at(seconds: u64) -> SimTime {
    SimTime(seconds * 1_000_000)
}
