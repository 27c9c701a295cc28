//! Carrying out commands: each is looked up and checked first, so that a refused one changes nothing.

use std::sync::Arc;

use super::{Item, Key, Status, Waiting, World};
use crate::client::{Client, REQUESTS_WAITING_MAX};
use crate::command::{ChangeText, Command, CommandError, MessageName};
use crate::event::{Cause, DropReason, Event, Fact, MessageId, Step, StepKind, TimerKind};
use crate::process::{Input, Process, Recorder};
use crate::raft::{Change, Server};
use crate::rule::Rule;
use crate::service::ReadHow;
use crate::setup::Kind;
use crate::switch::{Position, Switch};
use crate::units::{Duration, OpId, ProcessId, ProcessSet, ResourceId};
use crate::writer::{Job, WRITES_WAITING_MAX};

const GIVEN: Rule = Rule::Commanded;

impl World {
    /// Carries out one command. It is a step like any other, and written down in `step`.
    ///
    /// # Errors
    /// Why it cannot be carried out; the world has not changed.
    pub fn apply(&mut self, command: &Command, step: &mut Step) -> Result<(), CommandError> {
        self.begin(step);
        let mut facts = std::mem::take(&mut step.facts);
        let done = self.carry_out(command, &mut facts);
        step.facts = facts;
        step.process = done?;
        self.end_command(command, step);
        Ok(())
    }

    /// As [`World::apply`], for a run that is replayed with something changed: what cannot be carried
    /// out becomes a `CommandSkipped`, and the run goes on.
    pub fn apply_or_skip(&mut self, command: &Command, step: &mut Step) {
        let Err(error) = self.apply(command, step) else {
            return;
        };
        self.begin(step);
        step.process = None;
        let event = Event::CommandSkipped {
            command: Arc::new(command.clone()),
            error: Arc::new(error),
        };
        step.facts.push(Fact { rule: GIVEN, event });
        self.end_command(command, step);
    }

    fn end_command(&mut self, command: &Command, step: &mut Step) {
        step.kind = StepKind::Command {
            command: Arc::new(command.clone()),
        };
        step.cause = Cause::Given;
        self.finish(step);
    }

    fn carry_out(
        &mut self,
        command: &Command,
        facts: &mut Vec<Fact>,
    ) -> Result<Option<ProcessId>, CommandError> {
        match command {
            Command::Pause { process } => self.pause(process, facts).map(Some),
            Command::PauseBeforeSend { process } => {
                self.pause_before_send(process, facts).map(Some)
            }
            Command::Resume { process } => self.resume(process, facts).map(Some),
            Command::Crash { process } => self.crash(process, facts).map(Some),
            Command::Restart { process } => self.restart(process, facts).map(Some),
            Command::Disk { process, act } => self.act_on_disk(process, *act, facts).map(Some),
            Command::Partition { groups } => self.partition(groups, facts).map(|()| None),
            Command::Cut { from, to, both } => {
                self.set_cut((from, to, *both), true, facts).map(|()| None)
            }
            Command::Heal => {
                self.heal(facts);
                Ok(None)
            }
            Command::HealLink { from, to, both } => {
                self.set_cut((from, to, *both), false, facts).map(|()| None)
            }
            Command::Drop { message } => self.drop_message(message, facts).map(Some),
            Command::Deliver { message } => self.hurry(message, facts).map(Some),
            Command::Duplicate { message } => self.duplicate(message, facts).map(Some),
            Command::Delay { message, by } => self.delay(message, *by, facts).map(Some),
            Command::Latency { from, to, min, max } => self
                .set_latency(from, to, (*min, *max), facts)
                .map(|()| None),
            Command::Loss { from, to, ppm } => self.set_loss(from, to, *ppm, facts).map(|()| None),
            Command::ClockRate { process, ppm } => self.set_rate(process, *ppm, facts).map(Some),
            Command::ClockJump { process, micros } => self.jump(process, *micros, facts).map(Some),
            Command::Write {
                process,
                store,
                value,
                op,
            } => self.write(process, (store, value, *op), facts).map(Some),
            Command::Put { client, key, value } => {
                self.put_key(client, key, value, facts).map(Some)
            }
            Command::Get {
                client,
                key,
                at,
                stale,
            } => self
                .get_key(client, key, at.as_deref(), *stale, facts)
                .map(Some),
            Command::Acquire { worker, resource } => {
                self.acquire(worker, resource, facts).map(Some)
            }
            Command::Release { worker } => {
                let id = self.running(worker, &[Kind::Worker], "worker")?;
                self.step_process(id, Input::Release, facts);
                Ok(Some(id))
            }
            Command::Raise { resource, to } => {
                let resource = self.find_resource(resource)?;
                let (leader, _) = self.truth.leader().ok_or(CommandError::NobodyLeads)?;
                let name = self.names.name(leader).to_owned();
                self.running(&name, &[Kind::Server], "server")?;
                self.step_process(leader, Input::Raise { resource, to: *to }, facts);
                Ok(Some(leader))
            }
            Command::Campaign { server } => {
                let id = self.running(server, &[Kind::Server], "server")?;
                self.step_process(id, Input::Campaign, facts);
                Ok(Some(id))
            }
            Command::Ring { process, timer } => self.ring_now(process, *timer, facts).map(Some),
            Command::Transfer { from, to } => self.transfer(from, to, facts).map(Some),
            Command::Compact { server } => {
                let id = self.running(server, &[Kind::Server], "server")?;
                if !self.server(id).is_some_and(Server::can_compact) {
                    return Err(CommandError::NothingToCompact {
                        name: server.clone(),
                    });
                }
                self.step_process(id, Input::Compact, facts);
                Ok(Some(id))
            }
            Command::Change { what, at } => self.change(what, at.as_deref(), facts).map(Some),
            Command::Set {
                switch,
                position,
                at,
            } => self.set_switch(*switch, *position, at.as_deref(), facts),
        }
    }

    // Looking up ----------------------------------------------------------------------------

    fn find(&self, name: &str) -> Result<ProcessId, CommandError> {
        self.names
            .find(name)
            .ok_or_else(|| CommandError::UnknownProcess {
                name: name.to_owned(),
                known: self.names.list(),
            })
    }

    fn find_resource(&self, name: &str) -> Result<ResourceId, CommandError> {
        self.names
            .find_resource(name)
            .ok_or_else(|| CommandError::UnknownResource {
                name: name.to_owned(),
                known: self.names.resources().join(", "),
            })
    }

    pub(super) fn find_kind(
        &self,
        name: &str,
        kinds: &[Kind],
        wanted: &'static str,
    ) -> Result<ProcessId, CommandError> {
        let id = self.find(name)?;
        let is = self.names.kind(id);
        if kinds.contains(&is) {
            return Ok(id);
        }
        Err(CommandError::WrongKind {
            name: name.to_owned(),
            is,
            wanted,
        })
    }

    fn running(
        &self,
        name: &str,
        kinds: &[Kind],
        wanted: &'static str,
    ) -> Result<ProcessId, CommandError> {
        let id = self.find_kind(name, kinds, wanted)?;
        match self.status(id) {
            Status::Running => Ok(id),
            Status::Asleep { .. } => Err(CommandError::AlreadyAsleep {
                name: name.to_owned(),
            }),
            Status::Crashed { .. } => Err(CommandError::Crashed {
                name: name.to_owned(),
            }),
        }
    }

    fn find_pair(&self, from: &str, to: &str) -> Result<(ProcessId, ProcessId), CommandError> {
        let pair = (self.find(from)?, self.find(to)?);
        if pair.0 == pair.1 {
            return Err(CommandError::SameProcess {
                name: from.to_owned(),
            });
        }
        Ok(pair)
    }

    fn find_message(&self, name: &MessageName) -> Result<(MessageId, Key), CommandError> {
        let (from, to) = self.find_pair(&name.from, &name.to)?;
        let id = MessageId {
            from,
            to,
            number: name.number,
        };
        let found = self.book.iter().find_map(|(key, item)| match item {
            Item::Delivery(parcel) if parcel.id == id => Some(*key),
            Item::Delivery(_) | Item::Sync { .. } | Item::Woken { .. } => None,
        });
        match found {
            Some(key) => Ok((id, key)),
            None => Err(CommandError::NoSuchMessage {
                message: name.clone(),
            }),
        }
    }

    // Processes -----------------------------------------------------------------------------

    fn pause(&mut self, name: &str, facts: &mut Vec<Fact>) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        match self.status(process) {
            Status::Running => {}
            Status::Asleep { .. } => {
                return Err(CommandError::AlreadyAsleep {
                    name: name.to_owned(),
                });
            }
            Status::Crashed { .. } => {
                return Err(CommandError::Crashed {
                    name: name.to_owned(),
                });
            }
        }
        let since = self.now;
        self.slot_mut(process).status = Status::Asleep { since };
        facts.fact(Rule::PauseStopsTheProcess, || Event::Paused {
            process,
            before_send: false,
        });
        Ok(process)
    }

    fn pause_before_send(
        &mut self,
        name: &str,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let process = self.running(name, &[Kind::Worker, Kind::Server], "worker or server")?;
        self.slot_mut(process).pause_before_send = true;
        facts.fact(GIVEN, || Event::PauseArmed { process });
        Ok(process)
    }

    /// The interrupted work finishes first, then what waited, in the order in which it fell due.
    fn resume(&mut self, name: &str, facts: &mut Vec<Fact>) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        let Status::Asleep { since } = self.status(process) else {
            return Err(CommandError::NotAsleep {
                name: name.to_owned(),
            });
        };
        let now = self.now;
        let slot = self.slot_mut(process);
        slot.status = Status::Running;
        let mut waiting = std::mem::take(&mut slot.waiting);
        let slept = now.since(since);
        let count = waiting.len() as u32;
        facts.fact(Rule::ResumeFinishesFirst, || Event::Resumed {
            process,
            slept,
            waiting: count,
        });
        let interrupted = |w: &Waiting| {
            matches!(
                w,
                Waiting::Timer {
                    timer: TimerKind::Work,
                    ..
                }
            )
        };
        if let Some(at) = waiting.iter().position(interrupted) {
            let work = waiting.remove(at);
            waiting.insert(0, work);
        }
        for item in waiting {
            match item {
                Waiting::Timer { timer, cause } => {
                    // A timer again, so that what it waits for can still cancel it.
                    let at = self.clock(process).local(now);
                    self.set_timer(process, timer, at, cause);
                }
                // Without time it waits for its `deliver` again.
                Waiting::Delivery(parcel) if self.setup.untimed => {
                    self.put(now, Item::Delivery(parcel));
                }
                Waiting::Delivery(_) | Waiting::Sync { .. } => {
                    let waiting = Box::new(item);
                    self.put(now, Item::Woken { process, waiting });
                }
            }
        }
        Ok(process)
    }

    fn crash(&mut self, name: &str, facts: &mut Vec<Fact>) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        if self.status(process).is_crashed() {
            return Err(CommandError::AlreadyCrashed {
                name: name.to_owned(),
            });
        }
        self.crash_process(process, facts);
        Ok(process)
    }

    pub(super) fn crash_process<R: Recorder>(&mut self, process: ProcessId, recorder: &mut R) {
        self.timers.cancel_all(process);
        self.book.retain(|item| match item {
            Item::Sync { process: p, .. } | Item::Woken { process: p, .. } => *p != process,
            Item::Delivery(_) => true,
        });
        let since = self.now;
        let slot = &mut self.slots[usize::from(process.0)];
        slot.disk.keep(&slot.process, &self.setup);
        slot.failing = false;
        slot.status = Status::Crashed { since };
        slot.waiting.clear();
        slot.syncing.clear();
        slot.pause_before_send = false;
        // Volatile state is gone at once; what stands there now is what the disk would start as.
        self.boot(process);
        recorder.fact(Rule::CrashLosesVolatile, || Event::Crashed { process });
    }

    fn restart(&mut self, name: &str, facts: &mut Vec<Fact>) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        if !self.status(process).is_crashed() {
            return Err(CommandError::NotCrashed {
                name: name.to_owned(),
            });
        }
        self.slot_mut(process).status = Status::Running;
        facts.fact(Rule::RestartReadsDisk, || Event::Restarted { process });
        if let Some(index) = self.server(process).and_then(|s| Some(s.damage()?.index)) {
            facts.fact(Rule::RestartReadsDisk, || Event::TailDamaged {
                process,
                index,
            });
        }
        self.start_process(process, Cause::Step(self.step_count()));
        Ok(process)
    }

    fn ring_now(
        &mut self,
        name: &str,
        timer: TimerKind,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let any = [Kind::Server, Kind::Worker, Kind::Client, Kind::Store];
        let process = self.running(name, &any, "process")?;
        let running = self.timers.of(process).iter();
        let Some(cause) = running.filter(|t| t.kind == timer).map(|t| t.cause).next() else {
            return Err(CommandError::NoSuchTimer {
                name: name.to_owned(),
                timer,
            });
        };
        self.timers.cancel(process, timer);
        self.ring(process, timer, cause, facts);
        Ok(process)
    }

    fn transfer(
        &mut self,
        from: &str,
        to: &str,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let id = self.running(from, &[Kind::Server], "server")?;
        let successor = self.find_kind(to, &[Kind::Server], "server")?;
        self.find_pair(from, to)?;
        let named = |name: &str| name.to_owned();
        let server = self.server(id).expect("its kind was looked up");
        if !server.is_leader() {
            return Err(CommandError::NotLeader { name: named(from) });
        }
        if !server.config().voting().contains(successor) {
            return Err(CommandError::NoVote { name: named(to) });
        }
        if server.transferring() == Some(successor) {
            return Err(CommandError::HandingOver {
                name: named(from),
                to: named(to),
            });
        }
        self.step_process(id, Input::Transfer { to: successor }, facts);
        Ok(id)
    }

    // Links ---------------------------------------------------------------------------------

    fn cut_one(&mut self, from: ProcessId, to: ProcessId, cut: bool, facts: &mut Vec<Fact>) {
        let at = self.link_at(from, to);
        if self.links[at].cut == cut {
            return;
        }
        self.links[at].cut = cut;
        facts.fact(GIVEN, || {
            if cut {
                Event::LinkCut { from, to }
            } else {
                Event::LinkHealed { from, to }
            }
        });
    }

    fn set_cut(
        &mut self,
        (from, to, both): (&str, &str, bool),
        cut: bool,
        facts: &mut Vec<Fact>,
    ) -> Result<(), CommandError> {
        let (from, to) = self.find_pair(from, to)?;
        self.cut_one(from, to, cut, facts);
        if both {
            self.cut_one(to, from, cut, facts);
        }
        Ok(())
    }

    fn heal(&mut self, facts: &mut Vec<Fact>) {
        let names = self.names.clone();
        for from in names.ids() {
            for to in names.ids() {
                self.cut_one(from, to, false, facts);
            }
        }
    }

    fn partition(
        &mut self,
        groups: &[Vec<String>],
        facts: &mut Vec<Fact>,
    ) -> Result<(), CommandError> {
        let mut placed: Vec<(ProcessId, usize)> = Vec::new();
        for (group, names) in groups.iter().enumerate() {
            for name in names {
                let id = self.find(name)?;
                if placed.iter().any(|(other, _)| *other == id) {
                    return Err(CommandError::NamedTwice { name: name.clone() });
                }
                placed.push((id, group));
            }
        }
        for (from, here) in &placed {
            for (to, there) in &placed {
                if here != there {
                    self.cut_one(*from, *to, true, facts);
                }
            }
        }
        Ok(())
    }

    fn set_latency(
        &mut self,
        from: &str,
        to: &str,
        (min, max): (Duration, Duration),
        facts: &mut Vec<Fact>,
    ) -> Result<(), CommandError> {
        let (from, to) = self.find_pair(from, to)?;
        for given in [min, max] {
            if given == Duration::ZERO || Duration::LONGEST < given {
                return Err(CommandError::Span { given });
            }
        }
        if max < min {
            return Err(CommandError::Range {
                low: min,
                high: max,
            });
        }
        let at = self.link_at(from, to);
        (self.links[at].latency_min, self.links[at].latency_max) = (min, max);
        facts.fact(GIVEN, || Event::LatencySet { from, to, min, max });
        Ok(())
    }

    fn set_loss(
        &mut self,
        from: &str,
        to: &str,
        ppm: u32,
        facts: &mut Vec<Fact>,
    ) -> Result<(), CommandError> {
        let (from, to) = self.find_pair(from, to)?;
        let at = self.link_at(from, to);
        self.links[at].loss_ppm = ppm.min(1_000_000);
        facts.fact(GIVEN, || Event::LossSet { from, to, ppm });
        Ok(())
    }

    // Messages ------------------------------------------------------------------------------

    fn take_parcel(&mut self, key: Key) -> Box<super::Parcel> {
        match self.book.remove(key) {
            Some(Item::Delivery(parcel)) => parcel,
            Some(Item::Sync { .. } | Item::Woken { .. }) | None => {
                unreachable!("found just now")
            }
        }
    }

    fn drop_message(
        &mut self,
        name: &MessageName,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let (message, key) = self.find_message(name)?;
        let kind = self.take_parcel(key).message.kind();
        let reason = DropReason::Command;
        facts.fact(GIVEN, || Event::MessageDropped {
            message,
            kind,
            reason,
        });
        Ok(message.to)
    }

    fn hurry(
        &mut self,
        name: &MessageName,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let (message, key) = self.find_message(name)?;
        let parcel = self.take_parcel(key);
        let kind = parcel.message.kind();
        facts.fact(GIVEN, || Event::MessageHurried { message, kind });
        self.deliver(parcel, facts);
        Ok(message.to)
    }

    fn duplicate(
        &mut self,
        name: &MessageName,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let (message, key) = self.find_message(name)?;
        let Some(Item::Delivery(parcel)) = self.book.get(key) else {
            return Err(CommandError::NoSuchMessage {
                message: name.clone(),
            });
        };
        let (copy, kind) = (parcel.clone(), parcel.message.kind());
        self.put(key.0, Item::Delivery(copy));
        facts.fact(GIVEN, || Event::MessageDuplicated { message, kind });
        Ok(message.to)
    }

    fn delay(
        &mut self,
        name: &MessageName,
        by: Duration,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let (message, key) = self.find_message(name)?;
        let parcel = self.take_parcel(key);
        let kind = parcel.message.kind();
        self.put(key.0.plus(by), Item::Delivery(parcel));
        facts.fact(GIVEN, || Event::MessageDelayed { message, kind, by });
        Ok(message.to)
    }

    // Clocks --------------------------------------------------------------------------------

    /// Pending timers keep their local deadlines, and so move in true time.
    fn set_rate(
        &mut self,
        name: &str,
        ppm: u32,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        let now = self.now;
        self.slot_mut(process)
            .clock
            .set_rate(now, ppm.clamp(1, 10_000_000));
        for mut timer in self.timers.of(process).to_vec() {
            let due = self.clock(process).true_time(timer.at).max(now);
            timer.key = self.next_key(due);
            self.timers.set(process, timer);
        }
        facts.fact(GIVEN, || Event::ClockRateSet { process, ppm });
        Ok(process)
    }

    fn jump(
        &mut self,
        name: &str,
        micros: i64,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let process = self.find(name)?;
        self.slot_mut(process).clock.jump(micros);
        facts.fact(GIVEN, || Event::ClockJumped { process, micros });
        Ok(process)
    }

    // Work ----------------------------------------------------------------------------------

    fn write(
        &mut self,
        name: &str,
        (store, value, op): (&str, &str, Option<OpId>),
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let id = self.running(name, &[Kind::Worker, Kind::Server], "worker or server")?;
        let store = self.find_kind(store, &[Kind::Store], "store")?;
        let waiting = match self.process(id) {
            Process::Worker(worker) => worker.writes_waiting(),
            Process::Server(server) => server.writes_waiting(),
            Process::Client(_) | Process::Store(_) => 0,
        };
        if waiting >= WRITES_WAITING_MAX {
            return Err(CommandError::TooManyWaiting {
                most: WRITES_WAITING_MAX,
            });
        }
        self.step_process(
            id,
            Input::Write(Job {
                store,
                value: value.into(),
                op,
            }),
            facts,
        );
        Ok(id)
    }

    fn put_key(
        &mut self,
        name: &str,
        key: &str,
        value: &str,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let id = self.client_with_room(name)?;
        self.step_process(
            id,
            Input::Put {
                key: key.into(),
                value: value.into(),
            },
            facts,
        );
        Ok(id)
    }

    fn get_key(
        &mut self,
        name: &str,
        key: &str,
        at: Option<&str>,
        stale: bool,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let id = self.client_with_room(name)?;
        let server = at
            .map(|name| self.find_kind(name, &[Kind::Server], "server"))
            .transpose()?;
        let how = match server {
            None => ReadHow::Leader,
            Some(_) if stale => ReadHow::Stale,
            Some(_) => ReadHow::Anyone,
        };
        let key = key.into();
        self.step_process(id, Input::Get { key, how, server }, facts);
        Ok(id)
    }

    fn client_with_room(&self, name: &str) -> Result<ProcessId, CommandError> {
        let id = self.running(name, &[Kind::Client], "client")?;
        let waiting = self.client(id).map_or(0, Client::waiting);
        if waiting < REQUESTS_WAITING_MAX {
            return Ok(id);
        }
        Err(CommandError::TooManyWaiting {
            most: REQUESTS_WAITING_MAX,
        })
    }

    fn acquire(
        &mut self,
        name: &str,
        resource: &str,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let id = self.running(name, &[Kind::Worker], "worker")?;
        let resource = self.find_resource(resource)?;
        self.step_process(id, Input::Acquire { resource }, facts);
        Ok(id)
    }

    /// A change is asked of the leader by truth, or of the one that is named.
    fn change(
        &mut self,
        what: &ChangeText,
        at: Option<&str>,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let one = |name: &String| self.find_kind(name, &[Kind::Server], "server");
        let change = match what {
            ChangeText::Add { server } => Change::Add(one(server)?),
            ChangeText::AddLearner { server } => Change::AddLearner(one(server)?),
            ChangeText::Promote { server } => Change::Promote(one(server)?),
            ChangeText::Remove { server } => Change::Remove(one(server)?),
            ChangeText::Reconfigure { servers } => {
                let mut voters = ProcessSet::default();
                for name in servers {
                    let id = one(name)?;
                    if voters.contains(id) {
                        return Err(CommandError::NamedTwice { name: name.clone() });
                    }
                    voters = voters.with(id);
                }
                Change::Reconfigure(voters)
            }
        };
        let leader = match (at, self.truth.leader()) {
            (Some(name), _) => name.to_owned(),
            (None, Some((leader, _))) => self.names.name(leader).to_owned(),
            (None, None) => return Err(CommandError::NobodyLeads),
        };
        let id = self.running(&leader, &[Kind::Server], "server")?;
        let switches = self.switches(id);
        let server = self.server(id).expect("it is of this kind");
        let config = server
            .changed(change, switches)
            .map_err(|why| CommandError::Change { leader, why })?;
        self.step_process(id, Input::Change { config }, facts);
        Ok(id)
    }

    fn set_switch(
        &mut self,
        switch: Switch,
        position: Position,
        at: Option<&str>,
        facts: &mut Vec<Fact>,
    ) -> Result<Option<ProcessId>, CommandError> {
        let at = at.map(|name| self.find(name)).transpose()?;
        match at {
            Some(id) => self.slot_mut(id).switches.set(switch, position),
            None => {
                self.switches.set(switch, position);
                for slot in &mut self.slots {
                    slot.switches.set(switch, position);
                }
            }
        }
        facts.fact(GIVEN, || Event::SwitchSet {
            switch,
            position,
            at,
        });
        Ok(at)
    }
}
