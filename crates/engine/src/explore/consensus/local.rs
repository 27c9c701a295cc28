//! One process of a search: itself, its disk, and which timers it has running; and how it is stepped.
//!
//! The same clerk as in the world, in a room without a clock: the hands always show the same time.

use std::sync::Arc;

use super::{KEY, Refused, is_searched};
use crate::event::{Event, Fact, TimerKind};
use crate::process::{Counters, Cx, Effect, Input, Message, Process, Recorder};
use crate::rule::Rule;
use crate::setup::{Names, Setup};
use crate::switch::Switches;
use crate::units::{LocalTime, ProcessId, ProcessSet, WallTime};
use crate::world::{Disk, World};

/// What is the same in all states.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) setup: Setup,
    pub(super) names: Names,
    pub(super) servers: ProcessSet,
    /// By process.
    switches: Vec<Switches>,
    now: Vec<(LocalTime, WallTime)>,
}

impl Surroundings {
    pub(super) fn of(world: &World) -> Result<Self, Refused> {
        let names = world.names();
        if !world.setup().untimed {
            return Err(Refused::Timed);
        }
        if world.setup().lease_reads {
            return Err(Refused::LeaseReads);
        }
        for id in names.ids() {
            let name = || names.name(id).to_owned();
            if !is_searched(names.kind(id)) {
                return Err(Refused::Kind {
                    name: name(),
                    kind: names.kind(id),
                });
            }
            if world.status(id).is_asleep() {
                return Err(Refused::Asleep { name: name() });
            }
        }
        let time = |id| {
            (
                world.clock(id).local(world.now()),
                world.clock(id).wall(world.now()),
            )
        };
        Ok(Self {
            setup: world.setup().clone(),
            names: names.clone(),
            servers: names.servers(),
            switches: names.ids().map(|id| world.switches(id)).collect(),
            now: names.ids().map(time).collect(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub(super) me: ProcessId,
    pub(super) process: Process,
    pub(super) is_up: bool,
    disk: Disk,
    /// A bit for each timer that runs; when it rings is left open.
    timers: u32,
    /// Request numbers used so far. Draws are not kept: they only decide when timers ring.
    requests: u64,
}

type Sends = Vec<(ProcessId, Message)>;

impl Local {
    pub(super) fn of(world: &World, id: ProcessId) -> Self {
        let mut local = Self {
            me: id,
            process: world.process(id).clone(),
            is_up: world.status(id).is_running(),
            disk: world.disk(id).clone(),
            timers: world
                .timers_running(id)
                .fold(0, |bits, timer| bits | 1 << timer as u32),
            requests: world.counters(id).requests,
        };
        local.forget();
        local
    }

    /// What makes no difference to what comes.
    fn forget(&mut self) {
        if let Process::Server(server) = &mut self.process {
            server.forget_for_search();
        }
        self.disk.forget_for_search();
    }

    pub(super) const fn has(&self, timer: TimerKind) -> bool {
        self.timers & 1 << timer as u32 != 0
    }

    /// About how much it keeps behind pointers: its log above all.
    pub(super) fn bytes_behind(&self) -> u64 {
        match &self.process {
            Process::Server(server) => 768 + 160 * server.log().last_index().0,
            Process::Worker(_) | Process::Client(_) | Process::Store(_) => 1_024,
        }
    }

    pub(super) fn hear(
        &mut self,
        from: ProcessId,
        message: Message,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
    ) {
        self.step(Input::Message { from, message }, around, sends, facts);
    }

    pub(super) fn ring(
        &mut self,
        timer: TimerKind,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
    ) {
        self.timers &= !(1 << timer as u32);
        self.step(Input::Timer(timer), around, sends, facts);
    }

    pub(super) fn campaign(
        &mut self,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
    ) {
        self.step(Input::Campaign, around, sends, facts);
    }

    /// The search's put of this number, counted from 0.
    pub(super) fn put(
        &mut self,
        number: u32,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
    ) {
        let (key, value): (Arc<str>, Arc<str>) = (KEY.into(), (number + 1).to_string().into());
        self.step(Input::Put { key, value }, around, sends, facts);
    }

    /// It crashes, and starts again from its disk.
    pub(super) fn crash(&mut self, around: &Surroundings, facts: &mut Vec<Fact>) {
        let process = self.me;
        self.disk.keep(&self.process, &around.setup);
        let resources = around.names.resources().len();
        self.process = self
            .disk
            .boot(around.names.kind(process), &around.setup, resources);
        self.timers = 0;
        facts.fact(Rule::CrashLosesVolatile, || Event::Crashed { process });
        self.restart(around);
    }

    pub(super) fn restart(&mut self, around: &Surroundings) {
        self.is_up = true;
        let (mut sends, mut facts) = (Vec::new(), Vec::new());
        self.act(
            around,
            &mut sends,
            &mut facts,
            |process, cx| match process {
                Process::Server(server) => server.start(cx),
                Process::Client(_) | Process::Store(_) | Process::Worker(_) => {}
            },
        );
    }

    fn step(
        &mut self,
        input: Input,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
    ) {
        self.act(around, sends, facts, |process, cx| process.step(input, cx));
    }

    /// As the world lets a process act and carries out what it asks for, where disks take no time.
    fn act(
        &mut self,
        around: &Surroundings,
        sends: &mut Sends,
        facts: &mut Vec<Fact>,
        act: impl FnOnce(&mut Process, &mut Cx<'_, Vec<Fact>>),
    ) {
        let place = usize::from(self.me.0);
        let mut counters = Counters {
            draws: 0,
            requests: self.requests,
        };
        let mut effects = Vec::new();
        let (now, wall) = around.now[place];
        let mut cx = Cx {
            me: self.me,
            now,
            wall,
            switches: around.switches[place],
            setup: &around.setup,
            servers: around.servers,
            // The search has no stores.
            stores: ProcessSet::default(),
            counters: &mut counters,
            effects: &mut effects,
            recorder: facts,
        };
        act(&mut self.process, &mut cx);
        self.requests = counters.requests;
        for effect in effects {
            match effect {
                Effect::Send { to, message } => sends.push((to, message)),
                Effect::SetTimer { timer, .. } => self.timers |= 1 << timer as u32,
                Effect::CancelTimer { timer } => self.timers &= !(1 << timer as u32),
                Effect::Persist(write) => self.disk.carry_out(write),
                Effect::AwaitSync => {}
            }
        }
        self.forget();
    }
}
