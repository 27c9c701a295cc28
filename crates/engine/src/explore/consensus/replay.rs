//! A search's moves as commands for a real world, both going forward in step.
//!
//! Two dancers and one choreography: after each figure they must stand alike. A message of the search is
//! found in the world by what it says; a move that the world would answer otherwise is reported.

use super::{Action, Consensus, Goal, Local, State, put_command};
use crate::command::{Command, MessageName};
use crate::event::Step;
use crate::explore::Model;
use crate::process::Message;
use crate::units::ProcessId;
use crate::world::World;

/// A search and a world that go forward together.
#[derive(Debug)]
pub struct Replay<'m> {
    model: &'m mut Consensus,
    state: State,
    pub world: World,
    pub commands: Vec<Command>,
    /// Of the commands, one each.
    pub steps: Vec<Step>,
}

/// Where world and search part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Differs {
    /// The search does not know the move there.
    Move(Action),
    /// The message is not on its way in the world.
    Message {
        from: ProcessId,
        to: ProcessId,
    },
    Refused(Command),
    Process(ProcessId),
    /// The monitors, or who leads in truth.
    Seen,
}

impl<'m> Replay<'m> {
    /// `world` is the one that the model was made of.
    pub fn new(model: &'m mut Consensus, world: &World) -> Self {
        let state = model.start.clone();
        Self {
            model,
            state,
            world: world.clone(),
            commands: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The moves that the search would try here.
    pub fn actions(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.model.actions(&self.state, &mut actions);
        actions
    }

    /// Makes a move in both. False if the search leaves it out; then nothing has happened.
    ///
    /// # Errors
    /// How the two differ after it.
    pub fn act(&mut self, action: Action) -> Result<bool, Differs> {
        let Some(next) = self.model.next(&self.state, &action) else {
            return Ok(false);
        };
        for command in self.commands_for(action)? {
            let mut step = Step::empty();
            if self.world.apply(&command, &mut step).is_err() {
                return Err(Differs::Refused(command));
            }
            self.commands.push(command);
            self.steps.push(step);
        }
        self.state = next;
        self.compare().map(|()| true)
    }

    fn commands_for(&self, action: Action) -> Result<Vec<Command>, Differs> {
        let names = self.world.names();
        let name = |id: ProcessId| names.name(id).to_owned();
        let one = match action {
            Action::Deliver(packet) => Command::Deliver {
                message: self.find(packet)?,
            },
            Action::Duplicate(packet) => Command::Duplicate {
                message: self.find(packet)?,
            },
            Action::Drop(packet) => Command::Drop {
                message: self.find(packet)?,
            },
            Action::Campaign(id) => Command::Campaign { server: name(id) },
            Action::Ring(id, timer) => Command::Ring {
                process: name(id),
                timer,
            },
            Action::Crash(id) => {
                let process = name(id);
                let crash = Command::Crash {
                    process: process.clone(),
                };
                return Ok(vec![crash, Command::Restart { process }]);
            }
            Action::Restart(id) => Command::Restart { process: name(id) },
            Action::Put(id) => put_command(names.name(id), u32::from(self.state.spent.puts)),
        };
        Ok(vec![one])
    }

    /// The first message on its way in the world that says what the packet says.
    fn find(&self, packet: u32) -> Result<MessageName, Differs> {
        let packet = self.model.packets.get(packet);
        let (from, to) = (packet.from, packet.to);
        let says_it = |message: &Message| {
            let mut message = message.clone();
            if let Message::Raft(message) = &mut message {
                message.forget_round();
            }
            message == packet.message
        };
        let found = self
            .world
            .parcels()
            .filter(|(id, message)| (id.from, id.to) == (from, to) && says_it(message));
        let Some(number) = found.map(|(id, _)| id.number).min() else {
            return Err(Differs::Message { from, to });
        };
        let names = self.world.names();
        Ok(MessageName {
            from: names.name(from).to_owned(),
            to: names.name(to).to_owned(),
            number,
        })
    }

    fn compare(&self) -> Result<(), Differs> {
        for (id, local) in self.world.names().ids().zip(&self.state.locals) {
            if Local::of(&self.world, id) != *self.model.locals.get(*local) {
                return Err(Differs::Process(id));
            }
        }
        let seen = self.model.seen.get(self.state.seen);
        let alike = |invariant| {
            seen.monitors.broken(invariant).is_some() == self.world.broken(invariant).is_some()
        };
        if Goal::INVARIANTS.into_iter().all(alike) && seen.truth == *self.world.truth() {
            Ok(())
        } else {
            Err(Differs::Seen)
        }
    }
}
