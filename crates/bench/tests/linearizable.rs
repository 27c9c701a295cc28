//! What clients saw in random runs, given to another engine's judge: is there one order that explains it all?
//!
//! A jury that knows nothing of leaders, terms or logs: it hears only who asked what when, and what was
//! answered when. Each key is a register of its own, and judged apart. A request without an answer may have
//! happened at any time since, or not at all. Stale reads promise nothing, and are left out.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may"
)]

use std::collections::BTreeMap;

use leasehold_engine::client::Wish;
use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::{Event, Outcome, Step};
use leasehold_engine::history::History;
use leasehold_engine::monitor::Invariant;
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::{Kind, Setup};
use leasehold_engine::swarm::{Beyond, Swarm};
use leasehold_engine::units::{Duration, ProcessId, RequestId};
use leasehold_engine::world::World;
use stateright::semantics::register::{Register, RegisterOp, RegisterRet};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};

const STEPS: u64 = 4_000;
/// Requests in one run, at most.
const REQUESTS: u64 = 60;
/// Requests that are judged of one window: the judge tries orders, and there are many of them.
const WINDOW: usize = 12;
const KEYS: [&str; 2] = ["x", "y"];

/// How many runs: more behind `SLOW=1`.
fn runs(few: u64, many: u64) -> u64 {
    if std::env::var_os("SLOW").is_some() {
        many
    } else {
        few
    }
}

/// One request, with the places of its first sending and of its answer in the run.
#[derive(Clone, Debug)]
struct Operation {
    client: ProcessId,
    request: RequestId,
    key: String,
    /// What it puts; none for a read. 0 stands for a key that was never put.
    put: Option<u64>,
    asked: usize,
    answered: Option<usize>,
    read: u64,
    outcome: Option<Outcome>,
}

/// A part of what happened to one key, from when its value was known and nothing was under way: each request
/// as it was asked (true) and answered, with what it puts.
#[derive(Debug, Default)]
struct Window {
    first: u64,
    moments: Vec<(usize, bool, Option<u64>)>,
}

/// What clients saw.
#[derive(Debug, Default)]
struct Record {
    operations: Vec<Operation>,
    place: usize,
    duplicated: bool,
    by_lease: u64,
}

impl Record {
    fn note(&mut self, step: &Step, world: &World) {
        self.place += 1;
        let by_lease = step.facts.iter().filter(|f| f.rule == Rule::ReadByLease);
        self.by_lease += by_lease.count() as u64;
        for event in step.events() {
            let Some(client) = step.process else {
                self.duplicated |= matches!(event, Event::MessageDuplicated { .. });
                continue;
            };
            match event {
                Event::MessageDuplicated { .. } => self.duplicated = true,
                Event::RequestSent {
                    request,
                    attempt: 1,
                    ..
                } => {
                    let process = world.client(client).unwrap();
                    let mut requests = process.requests();
                    let asked = requests.find(|r| r.id == *request).unwrap();
                    let put = match &asked.wish {
                        Wish::Put { value } => Some(value.parse().unwrap()),
                        Wish::Get { .. } => None,
                    };
                    self.operations.push(Operation {
                        client,
                        request: *request,
                        key: asked.key.to_string(),
                        put,
                        asked: self.place,
                        answered: None,
                        read: 0,
                        outcome: None,
                    });
                }
                Event::ReadEnded {
                    request,
                    value,
                    stale,
                    ..
                } => {
                    let read = value.as_ref().map_or(0, |v| v.parse().unwrap());
                    // A stale read promises nothing: as if it had not been answered.
                    let outcome = if *stale {
                        Outcome::Unknown
                    } else {
                        Outcome::Accepted
                    };
                    self.end(client, *request, outcome, read);
                }
                Event::RequestEnded { request, outcome } => {
                    self.end(client, *request, *outcome, 0);
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, client: ProcessId, request: RequestId, outcome: Outcome, read: u64) {
        let mut open = self.operations.iter_mut();
        // A put whose session was never opened was never sent.
        let Some(operation) = open.find(|o| (o.client, o.request) == (client, request)) else {
            return;
        };
        operation.outcome = Some(outcome);
        operation.read = read;
        if outcome == Outcome::Accepted {
            operation.answered = Some(self.place);
        }
    }

    /// Whether it was surely not carried out. Where messages come twice, "no" is no proof.
    fn never_happened(&self, operation: &Operation) -> bool {
        operation.outcome == Some(Outcome::Refused) && !self.duplicated
    }

    /// The requests for a key, in windows that can be judged one by one.
    fn windows(&self, key: &str) -> Vec<Window> {
        let mut moments: BTreeMap<(usize, bool, usize), &Operation> = BTreeMap::new();
        for (at, operation) in self.operations.iter().enumerate() {
            let says_nothing = operation.put.is_none() && operation.answered.is_none();
            if operation.key != key || says_nothing || self.never_happened(operation) {
                continue;
            }
            // Within one step, an answer comes before the next request.
            moments.insert((operation.asked, true, at), operation);
            if let Some(answered) = operation.answered {
                moments.insert((answered, false, at), operation);
            }
        }
        let mut windows = vec![Window::default()];
        for ((_, is_asked, at), operation) in moments {
            let last = windows.last().unwrap();
            if is_asked && let Some(first) = self.value_after(last) {
                let moments = Vec::new();
                windows.push(Window { first, moments });
            }
            let moments = &mut windows.last_mut().unwrap().moments;
            moments.push((at, is_asked, operation.put));
        }
        windows
    }

    /// What the register holds after a window, if nothing is under way and one put alone can be the last.
    fn value_after(&self, window: &Window) -> Option<u64> {
        let asked = window.moments.iter().filter(|(_, is_asked, _)| *is_asked);
        let operations: Vec<&Operation> = asked.map(|(at, ..)| &self.operations[*at]).collect();
        if operations.iter().any(|o| o.answered.is_none())
            || operations.len() * 2 != window.moments.len()
        {
            return None;
        }
        let puts = operations.iter().filter(|o| o.put.is_some());
        let begun_last = puts.clone().map(|o| o.asked).max();
        let mut last = puts.filter(|o| begun_last <= o.answered);
        match (last.next(), last.next()) {
            (None, _) => Some(window.first),
            (Some(one), None) => one.put,
            (Some(_), Some(_)) => None,
        }
    }

    fn is_linearizable(&self, window: &Window) -> bool {
        let mut judge = LinearizabilityTester::new(Register(window.first));
        let mut asked = 0;
        // What is true of a history is true of its beginning: of a long window, that much is judged.
        for (at, is_asked, put) in &window.moments {
            asked += usize::from(*is_asked);
            if WINDOW < asked {
                break;
            }
            if *is_asked {
                let op = put.map_or(RegisterOp::Read, RegisterOp::Write);
                judge.on_invoke(self.thread(*at), op).unwrap();
            } else {
                let ret = match put {
                    Some(_) => RegisterRet::WriteOk,
                    None => RegisterRet::ReadOk(self.operations[*at].read),
                };
                judge.on_return(self.thread(*at), ret).unwrap();
            }
        }
        judge.serialized_history().is_some()
    }

    /// A client's requests follow each other, but one that was never answered stays open for ever.
    fn thread(&self, at: usize) -> (u8, usize) {
        let operation = &self.operations[at];
        let before = self.operations[..at].iter();
        let open = before.filter(|o| o.client == operation.client && o.answered.is_none());
        (operation.client.0, open.count())
    }
}

/// A random run of three clients that read and write two keys.
struct Trial {
    history: History,
    record: Record,
}

impl Trial {
    fn run(
        seed: u64,
        leaders_are_cut_off: bool,
        change: impl FnOnce(&mut Setup),
        allowed: impl Fn(&Command) -> bool,
    ) -> Self {
        let mut swarm = Swarm::new(seed, Beyond::default());
        let mut setup = swarm.setup();
        setup.clients = ["c1", "c2", "c3"].map(Into::into).to_vec();
        setup.workers.clear();
        setup.client_timeout = Duration::millis(700);
        setup.client_attempts = 3;
        change(&mut setup);
        let mut trial = Self {
            history: History::new(setup).unwrap(),
            record: Record::default(),
        };
        let mut work = Draws { seed, count: 0 };
        let mut asked = 0;
        let mut step = Step::empty();
        while trial.history.world().step_count().0 < STEPS {
            let world = trial.history.world();
            let command = match work.below(40) {
                0 if asked < REQUESTS => {
                    asked += 1;
                    Some(request(&mut work, world, asked))
                }
                1 if leaders_are_cut_off => cut_off(&mut work, world),
                1 => swarm.command(world).filter(|command| {
                    let works = matches!(command, Command::Put { .. } | Command::Get { .. });
                    !works && allowed(command)
                }),
                _ => None,
            };
            let done = match command {
                Some(command) => trial.history.act(command, &mut step).is_ok(),
                None => trial.history.step(&mut step),
            };
            if done {
                trial.record.note(&step, trial.history.world());
            }
        }
        trial
    }

    fn broken(&self, invariant: Invariant) -> bool {
        self.history.world().broken(invariant).is_some()
    }

    fn is_linearizable(&self) -> bool {
        let mut windows = KEYS.iter().flat_map(|key| self.record.windows(key));
        windows.all(|window| self.record.is_linearizable(&window))
    }
}

/// What is asked when, drawn apart from the faults.
struct Draws {
    seed: u64,
    count: u64,
}

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.count += 1;
        below(draw(self.seed, Purpose::Test, 0, self.count), n)
    }
}

/// The leader and some clients on one side, all others on the other; or everything whole again.
fn cut_off(work: &mut Draws, world: &World) -> Option<Command> {
    let (leader, _) = world.truth().leader()?;
    if work.below(2) == 0 {
        return Some(Command::Heal);
    }
    let names = world.names();
    let mut groups = vec![Vec::new(), Vec::new()];
    for id in names.ids() {
        let is_client = names.kind(id) == Kind::Client;
        let side = usize::from(id != leader && (!is_client || work.below(2) == 0));
        groups[side].push(names.name(id).to_owned());
    }
    Some(Command::Partition { groups })
}

/// Every put has a value of its own, so that a read tells which it saw.
fn request(work: &mut Draws, world: &World, number: u64) -> Command {
    let names = world.names();
    let clients: Vec<ProcessId> = names.of_kind(Kind::Client).collect();
    let client = names.name(clients[work.below(3) as usize]).to_owned();
    let key = KEYS[work.below(4) as usize / 3].to_owned();
    let servers: Vec<ProcessId> = names.of_kind(Kind::Server).collect();
    let server = servers[work.below(servers.len() as u64) as usize];
    match work.below(8) {
        0..3 => Command::Put {
            client,
            key,
            value: number.to_string(),
        },
        kind => Command::Get {
            client,
            key,
            at: (4 < kind).then(|| names.name(server).to_owned()),
            stale: kind == 7,
        },
    }
}

/// What must have happened in the runs for them to mean anything.
#[derive(Debug, Default)]
struct Counts {
    puts: u64,
    reads: u64,
    /// Reads that saw a value.
    found: u64,
    unknown: u64,
    overlapping: u64,
    judged: u64,
    beyond_windows: u64,
    by_lease: u64,
}

impl Counts {
    fn count(&mut self, record: &Record) {
        self.by_lease += record.by_lease;
        for (at, operation) in record.operations.iter().enumerate() {
            let answered = operation.answered.is_some();
            self.puts += u64::from(answered && operation.put.is_some());
            self.reads += u64::from(answered && operation.put.is_none());
            self.found += u64::from(0 < operation.read);
            let unknown = operation.outcome == Some(Outcome::Unknown);
            self.unknown += u64::from(unknown && operation.put.is_some());
            let mut before = record.operations[..at].iter();
            let overlaps = |o: &Operation| o.answered.is_none_or(|end| operation.asked < end);
            self.overlapping += u64::from(before.any(|o| o.key == operation.key && overlaps(o)));
        }
        for window in KEYS.iter().flat_map(|key| record.windows(key)) {
            let asked = window.moments.iter().filter(|(_, is_asked, _)| *is_asked);
            let asked = asked.count() as u64;
            self.judged += asked.min(WINDOW as u64);
            self.beyond_windows += asked.saturating_sub(WINDOW as u64);
        }
    }

    fn assert_none_is_zero(&self) {
        let all = [
            self.puts,
            self.reads,
            self.found,
            self.unknown,
            self.overlapping,
        ];
        assert!(all.iter().all(|n| 0 < *n), "{self:?}");
        assert!(self.beyond_windows < self.judged, "{self:?}");
        println!("{self:?}");
    }
}

fn none_is_told_otherwise(
    few: u64,
    change: impl Fn(&mut Setup) + Copy,
    allowed: impl Fn(&Command) -> bool + Copy,
) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..runs(few, few * 20) {
        let trial = Trial::run(seed, false, change, allowed);
        counts.count(&trial.record);
        assert!(
            trial.is_linearizable(),
            "seed {seed}: {:#?}",
            trial.record.operations
        );
        for invariant in Invariant::ALL {
            assert!(!trial.broken(*invariant), "seed {seed}: {invariant}");
        }
    }
    counts.assert_none_is_zero();
    counts
}

#[test]
fn what_clients_see_is_linearizable() {
    none_is_told_otherwise(200, |_| {}, |_| true);
}

#[test]
fn what_clients_see_is_linearizable_where_sessions_are_let_go() {
    none_is_told_otherwise(100, |setup| setup.sessions_max = 2, |_| true);
}

/// By leases too, where followers are sticky and nobody is told to stand before its time.
#[test]
fn what_clients_see_is_linearizable_by_leases() {
    let change = |setup: &mut Setup| {
        setup.lease_reads = true;
        setup.switches.retain(|(name, _)| name != "stickiness");
        setup.switches.push(("stickiness".into(), "on".into()));
    };
    let allowed = |command: &Command| !matches!(command, Command::Campaign { .. });
    let counts = none_is_told_otherwise(200, change, allowed);
    assert!(counts.reads / 2 < counts.by_lease, "{counts:?}");
}

/// The judge can say no: without the round, some run is caught, and never one in which the monitor sees nothing.
#[test]
fn without_the_round_some_run_is_not_linearizable() {
    // Without check-quorum too, so that a leader that is cut off goes on.
    let off = |setup: &mut Setup| {
        let switch = |name: &str, word: &str| (name.to_owned(), word.to_owned());
        setup.switches = vec![switch("readindex_quorum_round", "off")];
        setup.servers = setup.servers.max(3);
        setup.table_in_memory = false;
        (setup.heartbeat, setup.client_timeout) = (Duration::millis(100), Duration::millis(300));
        (setup.election_min, setup.election_max) = (Duration::millis(300), Duration::millis(600));
    };
    let (mut judged, mut watched) = (0, 0);
    for seed in 0..runs(200, 3_000) {
        let trial = Trial::run(seed, true, off, |_| true);
        let told_otherwise = !trial.is_linearizable();
        let seen = trial.broken(Invariant::LinearizableReads);
        assert!(
            seen || !told_otherwise,
            "seed {seed}: the monitor saw nothing"
        );
        judged += u64::from(told_otherwise);
        watched += u64::from(seen);
    }
    println!("caught by the judge {judged}, by the monitor {watched}");
    assert!(0 < judged);
}
