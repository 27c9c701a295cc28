//! Our consensus server beside the `raft` crate: the same story told to both, and the same committee at its end.
//!
//! Two clerks given the same memos: in between each may have a way of its own, but once the office is quiet their
//! books must agree. Both run with pre-vote, check-quorum and stickiness (which the crate ties to check-quorum).
//! A story is random: campaigns, proposals, handovers, partitions, single links cut, heals. A tick is 10 ms here and
//! a tick there, a message takes one tick and links keep their order, timeouts are pinned. After each quiet stretch
//! both must have the same leaders, the same terms and, wherever a majority's leader is heard, the same committed
//! entries; at the end of each story, all healed, the same logs altogether.
//!
//! What differs by design, and how the two are brought to meet:
//! - The crate resets a follower's election timer with every rise of its term, the paper and we only with a granted
//!   vote or the leader's append. With pre-vote no term rises in a quiet stretch but by an election that is won, and
//!   the winner's appends reset the timers again.
//! - The crate's candidate that a majority refuses becomes a follower, and its timer starts anew; ours waits for its
//!   timeout, as in the paper. Timeouts are so far apart that a few ticks do not change who stands first.
//! - The crate's `campaign` leaves the election timer as it is; ours, told that its timeout ends now, sets it anew.
//!   Here the crate's is set anew, too.
//! - The crate's heartbeats carry no entry to check and commit `min(match, commit)`; ours are appends, and
//!   a follower whose answers are lost commits by them. The crate's leader tells of a new commit at once, ours with
//!   its next heartbeat, one tick later.
//! - The crate's refusal of a vote says how far the voter has committed, and a candidate may commit by it; so a
//!   server that hears no leader may know more there than here. Commits are compared where a leader hears and is heard.
//! - A handover starts the crate's check-quorum window anew, so that one that fails moves the time at which a leader
//!   that is cut off steps down, and from then on the time at which it stands. Here a leader hands over by whole
//!   links, and is given the time to.
//! - The crate's candidates, also those that only ask, ignore the order to stand; ours obey. Here a leader hands over
//!   to who follows it.
//! - Where two stand in the very same tick, the order in which that tick's messages are handled decides who gets the
//!   third's vote; it is not the same here and there. A story in which two stood in one term ends there, uncompared;
//!   such stories are counted, and few.
//! - The crate's follower passes proposals on; here only who believes it leads is given any.
//! - Without a window ours sends entries to who has not answered yet; with one, as here, it probes like the crate's.
//!
//! Left out: crashes (the crate's storage keeps the commit index, the paper's does not), snapshots and changes of
//! membership (which take effect when applied there, when appended here).

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::VecDeque;
use std::fmt::Write as _;

use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::{Event, Step};
use leasehold_engine::process::Message as Envelope;
use leasehold_engine::raft::RoleName;
use leasehold_engine::registry::Op;
use leasehold_engine::service::{Ask, AskWhat};
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{Duration, ProcessId, RequestId, SimTime, Term};
use leasehold_engine::world::World;
use raft::eraftpb::{ConfState, Message};
use raft::storage::MemStorage;
use raft::{Config, RawNode, StateRole};

const TICK: Duration = Duration::millis(10);
/// Each server's election timeout, in ticks; the shortest is also how long a leader counts as fresh, and how often
/// it looks whether it hears a majority.
const TIMEOUTS: [usize; 5] = [15, 24, 33, 42, 51];
/// Long enough for a leader to notice that it is cut off, and for the slowest to be elected after it.
const QUIET: u64 = 200;

/// One thing done to both. Servers are numbered from 0.
#[derive(Clone, Debug)]
enum Act {
    Campaign(usize),
    Propose(usize, u64),
    Transfer(usize, usize),
    Partition(Vec<bool>),
    Cut(usize, usize),
    Heal,
    Wait(u64),
}

/// What one server is, in words that both sides have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    term: u64,
    leads: bool,
    leader: Option<usize>,
    commit: u64,
    /// Terms and values; 0 for an empty entry.
    log: Vec<(u64, u64)>,
}

// Ours -------------------------------------------------------------------------------------------

struct Ours {
    world: World,
    servers: usize,
    asked: u64,
    /// Who stood last, in which term.
    stood: (Option<ProcessId>, Term),
    /// Two stood in one term.
    dueled: bool,
}

impl Ours {
    fn new(timeouts: &[usize]) -> Self {
        let on = |name: &str| (name.to_owned(), "on".to_owned());
        let setup = Setup {
            servers: timeouts.len() as u8,
            clients: vec!["c1".into()],
            contend: false,
            after_first_election: false,
            latency_min: TICK,
            latency_max: TICK,
            heartbeat: TICK,
            append_window: 256,
            election_fixed: timeouts
                .iter()
                .map(|t| Duration(TICK.0 * *t as u64))
                .collect(),
            switches: ["prevote", "stickiness", "check_quorum"].map(on).to_vec(),
            ..Setup::default()
        };
        Self {
            world: World::new(setup).unwrap(),
            servers: timeouts.len(),
            asked: 0,
            stood: (None, Term(0)),
            dueled: false,
        }
    }

    fn tick(&mut self, now: u64) {
        let to = SimTime(TICK.0 * now);
        let mut step = Step::empty();
        while self.world.next_at().is_some_and(|at| at <= to) {
            self.world.step(&mut step);
            for event in step.events() {
                if let Event::ElectionStarted { term } = event {
                    let (who, when) = self.stood;
                    self.dueled |= when == *term && who != step.process;
                    self.stood = (step.process, *term);
                }
            }
        }
        self.world.advance(to);
    }

    /// Whether it was carried out.
    fn command(&mut self, line: &str) -> bool {
        let command = line.parse().unwrap();
        self.world.apply(&command, &mut Step::empty()).is_ok()
    }

    fn propose(&mut self, server: usize, value: u64) {
        self.asked += 1;
        let ask = Ask {
            request: RequestId(self.asked),
            what: AskWhat::Put {
                key: "x".into(),
                value: value.to_string().into(),
                session: None,
            },
        };
        let client = self.world.names().find("c1").unwrap();
        self.world
            .post(client, ProcessId(server as u8), Envelope::Ask(ask));
    }

    fn seen(&self, server: usize) -> Seen {
        let server = self.world.server(ProcessId(server as u8)).unwrap();
        let value = |op: &Op| {
            if let Op::Put { value, .. } = op {
                value.parse().unwrap()
            } else {
                assert_eq!(*op, Op::Noop);
                0
            }
        };
        Seen {
            term: server.term().0,
            leads: server.role() == RoleName::Leader,
            leader: server.leader_known().map(|id| usize::from(id.0)),
            commit: server.commit().0,
            log: server
                .log()
                .iter()
                .map(|e| (e.term.0, value(&e.op)))
                .collect(),
        }
    }
}

// Theirs -----------------------------------------------------------------------------------------

struct Theirs {
    nodes: Vec<RawNode<MemStorage>>,
    /// Messages and proposals on their way, by when they arrive.
    queue: VecDeque<(u64, Parcel)>,
    /// By sender and receiver.
    cut: Vec<Vec<bool>>,
    now: u64,
}

enum Parcel {
    Message(Box<Message>),
    Proposal(usize, u64),
}

impl Theirs {
    fn new(timeouts: &[usize]) -> Self {
        let voters: Vec<u64> = (1..=timeouts.len() as u64).collect();
        let shortest = *timeouts.iter().min().unwrap();
        let node = |(at, timeout): (usize, &usize)| {
            let config = Config {
                id: at as u64 + 1,
                election_tick: shortest,
                heartbeat_tick: 1,
                min_election_tick: *timeout,
                max_election_tick: timeout + 1,
                check_quorum: true,
                pre_vote: true,
                max_size_per_msg: raft::NO_LIMIT,
                ..Config::default()
            };
            let state = ConfState::from((voters.clone(), vec![]));
            let storage = MemStorage::new_with_conf_state(state);
            let log = slog::Logger::root(slog::Discard, slog::o!());
            RawNode::new(&config, storage, &log).unwrap()
        };
        Self {
            nodes: timeouts.iter().enumerate().map(node).collect(),
            queue: VecDeque::new(),
            cut: vec![vec![false; timeouts.len()]; timeouts.len()],
            now: 0,
        }
    }

    fn tick(&mut self, now: u64) {
        self.now = now;
        for at in 0..self.nodes.len() {
            self.nodes[at].tick();
            self.settle(at);
        }
        while self.queue.front().is_some_and(|(due, _)| *due <= now) {
            let (_, parcel) = self.queue.pop_front().unwrap();
            match parcel {
                Parcel::Message(message) => {
                    let (from, at) = (message.from as usize - 1, message.to as usize - 1);
                    if !self.cut[from][at] {
                        self.nodes[at].step(*message).unwrap();
                        self.settle(at);
                    }
                }
                Parcel::Proposal(at, value) => {
                    if self.nodes[at].raft.state == StateRole::Leader {
                        // Refused while it hands over.
                        let _ = self.nodes[at].propose(Vec::new(), value.to_le_bytes().to_vec());
                        self.settle(at);
                    }
                }
            }
        }
    }

    fn send(&mut self, messages: Vec<Message>) {
        for message in messages {
            if !self.cut[message.from as usize - 1][message.to as usize - 1] {
                self.queue
                    .push_back((self.now + 1, Parcel::Message(Box::new(message))));
            }
        }
    }

    fn settle(&mut self, at: usize) {
        while self.nodes[at].has_ready() {
            let mut ready = self.nodes[at].ready();
            let store = self.nodes[at].store().clone();
            let first = ready.take_messages();
            store.wl().append(ready.entries()).unwrap();
            if let Some(state) = ready.hs() {
                store.wl().set_hardstate(state.clone());
            }
            let then = ready.take_persisted_messages();
            let mut light = self.nodes[at].advance(ready);
            if let Some(commit) = light.commit_index() {
                store.wl().mut_hard_state().set_commit(commit);
            }
            let last = light.take_messages();
            self.nodes[at].advance_apply();
            for messages in [first, then, last] {
                self.send(messages);
            }
        }
    }

    fn campaign(&mut self, at: usize) {
        if self.nodes[at].raft.state != StateRole::Leader {
            self.nodes[at].raft.election_elapsed = 0;
        }
        self.nodes[at].campaign().unwrap();
        self.settle(at);
    }

    fn transfer(&mut self, from: usize, to: usize) {
        self.nodes[from].transfer_leader(to as u64 + 1);
        self.settle(from);
    }

    fn seen(&self, at: usize) -> Seen {
        let raft = &self.nodes[at].raft;
        let value = |data: &[u8]| data.try_into().map_or(0, u64::from_le_bytes);
        let entries = raft.raft_log.all_entries();
        let leads = raft.state == StateRole::Leader;
        Seen {
            term: raft.term,
            leads,
            leader: (raft.leader_id as usize).checked_sub(1).filter(|_| !leads),
            commit: raft.raft_log.committed,
            log: entries.iter().map(|e| (e.term, value(&e.data))).collect(),
        }
    }
}

// Both -------------------------------------------------------------------------------------------

struct Pair {
    ours: Ours,
    theirs: Theirs,
    now: u64,
    story: String,
    elections: u64,
    last_term: u64,
}

impl Pair {
    fn new(timeouts: &[usize]) -> Self {
        Self {
            ours: Ours::new(timeouts),
            theirs: Theirs::new(timeouts),
            now: 0,
            story: format!("timeouts {timeouts:?}"),
            elections: 0,
            last_term: 0,
        }
    }

    fn servers(&self) -> usize {
        self.ours.servers
    }

    fn wait(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.now += 1;
            self.ours.tick(self.now);
            self.theirs.tick(self.now);
        }
    }

    fn act(&mut self, act: &Act) {
        write!(self.story, "\n{:>6} {act:?}", self.now).unwrap();
        let name = |at: &usize| format!("s{}", at + 1);
        match act {
            Act::Campaign(at) => {
                assert!(self.ours.command(&format!("campaign {}", name(at))));
                self.theirs.campaign(*at);
            }
            Act::Propose(at, value) => {
                self.ours.propose(*at, *value);
                let due = self.now + 1;
                self.theirs
                    .queue
                    .push_back((due, Parcel::Proposal(*at, *value)));
            }
            Act::Transfer(from, to) => {
                // Refused to one to whom it hands over already; the crate ignores that.
                self.ours
                    .command(&format!("transfer {} -> {}", name(from), name(to)));
                self.theirs.transfer(*from, *to);
            }
            Act::Partition(side) => {
                for from in 0..self.servers() {
                    for to in 0..self.servers() {
                        if side[from] != side[to] {
                            self.cut_link(from, to);
                        }
                    }
                }
            }
            Act::Cut(from, to) => self.cut_link(*from, *to),
            Act::Heal => {
                assert!(self.ours.command("heal"));
                self.theirs
                    .cut
                    .iter_mut()
                    .flatten()
                    .for_each(|cut| *cut = false);
            }
            Act::Wait(ticks) => self.wait(*ticks),
        }
    }

    fn cut_link(&mut self, from: usize, to: usize) {
        assert!(
            self.ours
                .command(&format!("cut s{} -> s{}", from + 1, to + 1))
        );
        self.theirs.cut[from][to] = true;
    }

    fn leader(&self) -> Option<usize> {
        (0..self.servers()).find(|at| self.ours.seen(*at).leads)
    }

    fn can_hand_over(&self, from: usize, to: usize) -> bool {
        let whole = !self.theirs.cut[from][to] && !self.theirs.cut[to][from];
        whole && self.ours.seen(to).leader == Some(from)
    }

    /// Once quiet.
    fn compare(&mut self, all: bool) {
        let seen = |pair: &Self| -> Vec<(Seen, Seen)> {
            let both = |at| (pair.ours.seen(at), pair.theirs.seen(at));
            (0..pair.servers()).map(both).collect()
        };
        let seen = seen(self);
        for (at, (ours, theirs)) in seen.iter().enumerate() {
            let told = || {
                format!(
                    "s{}\nours   {ours:?}\ntheirs {theirs:?}\n{}",
                    at + 1,
                    self.story
                )
            };
            assert_eq!(ours.leads, theirs.leads, "{}", told());
            assert_eq!(ours.term, theirs.term, "{}", told());
            if ours.leads || ours.leader.is_some() {
                assert_eq!(ours.leader, theirs.leader, "{}", told());
            }
            let heard = |leader: usize| !self.theirs.cut[at][leader];
            if ours.leads || ours.leader.is_some_and(heard) {
                assert_eq!(ours.commit, theirs.commit, "{}", told());
            }
            let both = ours.commit.min(theirs.commit) as usize;
            assert_eq!(ours.log[..both], theirs.log[..both], "{}", told());
            if all {
                assert_eq!(ours, theirs, "{}", told());
            }
        }
        let term = seen.iter().map(|(ours, _)| ours.term).max().unwrap();
        self.elections += u64::from(self.last_term < term);
        self.last_term = term;
    }
}

struct Dice {
    seed: u64,
    count: u64,
}

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.count += 1;
        below(draw(self.seed, Purpose::Swarm, 7, self.count), n as u64) as usize
    }
}

/// What must have happened for the comparison to mean anything.
#[derive(Debug, Default)]
struct Totals {
    quiet: u64,
    ended: u64,
    dueled: u64,
    elections: u64,
    entries: u64,
    cut_off: u64,
    replaced: u64,
}

fn story(seed: u64, totals: &mut Totals) {
    let mut dice = Dice { seed, count: 0 };
    let servers = [3, 3, 5][dice.below(3)];
    let mut timeouts = TIMEOUTS[..servers].to_vec();
    for at in (1..servers).rev() {
        timeouts.swap(at, dice.below(at + 1));
    }
    let mut pair = Pair::new(&timeouts);
    pair.story = format!("seed {seed}, {}", pair.story);
    let mut value = 0;
    pair.wait(QUIET);
    pair.compare(true);
    for _ in 0..12 {
        for _ in 0..=dice.below(3) {
            let any = dice.below(servers);
            let act = match dice.below(12) {
                0 | 1 => Act::Campaign(any),
                2 => match pair.leader() {
                    Some(from) if pair.can_hand_over(from, any) => Act::Transfer(from, any),
                    Some(_) | None => Act::Campaign(any),
                },
                3 | 4 => Act::Partition((0..servers).map(|_| dice.below(2) == 0).collect()),
                5 => {
                    let other = (any + 1 + dice.below(servers - 1)) % servers;
                    Act::Cut(any, other)
                }
                6 => Act::Heal,
                7 => Act::Wait(1 + dice.below(30) as u64),
                _ => {
                    value += 1;
                    Act::Propose(pair.leader().unwrap_or(any), value)
                }
            };
            pair.act(&act);
            if matches!(act, Act::Transfer(..)) {
                pair.act(&Act::Wait(10));
            }
        }
        pair.act(&Act::Wait(QUIET));
        if pair.ours.dueled {
            totals.dueled += 1;
            return;
        }
        pair.compare(false);
        totals.quiet += 1;
        let tails = (0..servers).map(|at| pair.ours.seen(at));
        totals.cut_off += tails.filter(|s| (s.commit as usize) < s.log.len()).count() as u64;
    }
    let before: Vec<Seen> = (0..servers).map(|at| pair.ours.seen(at)).collect();
    pair.act(&Act::Heal);
    pair.act(&Act::Wait(QUIET));
    if pair.ours.dueled {
        totals.dueled += 1;
        return;
    }
    pair.compare(true);
    totals.ended += 1;
    let leader = pair.ours.seen(pair.leader().unwrap());
    let kept = |old: &Seen| leader.log.starts_with(&old.log);
    totals.replaced += before.iter().filter(|old| !kept(old)).count() as u64;
    totals.elections += pair.elections;
    totals.entries += leader.commit;
}

#[test]
fn both_engines_come_to_the_same_leader_term_and_entries() {
    let slow = std::env::var_os("SLOW").is_some();
    let stories = if slow { 1_000 } else { 200 };
    let mut totals = Totals::default();
    for seed in 0..stories {
        story(seed, &mut totals);
    }
    println!("{stories} stories: {totals:?}");
    let Totals {
        quiet,
        ended,
        dueled,
        elections,
        entries,
        cut_off,
        replaced,
    } = totals;
    assert_eq!(ended + dueled, stories);
    assert!(dueled * 8 <= stories && stories * 10 <= quiet);
    assert!(stories * 2 <= elections && stories * 5 <= entries);
    assert!(stories / 10 <= cut_off && stories / 50 <= replaced);
}
