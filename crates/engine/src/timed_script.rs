//! A whole run in the smallest form: a setup, commands at their times, and when it ends.
//!
//! A recipe: what stands on the table, what is done at which minute. Unlike a [`crate::run_file`] it has no
//! fingerprints and counts no steps, so that it can be changed and played again: when a command's time comes,
//! all that is due by then is done first; commands of one time follow each other with no step between. What
//! no longer applies is skipped.

use crate::command::Command;
use crate::event::Step;
use crate::setup::{Setup, SetupError};
use crate::units::SimTime;
use crate::world::World;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimedScript {
    pub setup: Setup,
    /// In the order in which they are given; no time is before the one above it.
    pub commands: Vec<(SimTime, Command)>,
    /// Everything due up to this moment is done, if it is after the last command.
    pub end: SimTime,
}

impl TimedScript {
    /// Plays it, shows each step to `on`, and gives the world at its end.
    ///
    /// # Errors
    /// What is wrong with the setup.
    pub fn play(&self, mut on: impl FnMut(&Step, &World)) -> Result<World, SetupError> {
        self.play_while(|step, world| {
            on(step, world);
            true
        })
    }

    /// As [`TimedScript::play`], for as long as `on` says that it goes on.
    ///
    /// # Errors
    /// What is wrong with the setup.
    pub fn play_while(
        &self,
        mut on: impl FnMut(&Step, &World) -> bool,
    ) -> Result<World, SetupError> {
        let mut world = World::new(self.setup.clone())?;
        let mut step = Step::empty();
        let mut last = SimTime(0);
        for (at, command) in &self.commands {
            if last < *at && !run_to(&mut world, *at, &mut step, &mut on) {
                return Ok(world);
            }
            last = *at;
            world.apply_or_skip(command, &mut step);
            if !on(&step, &world) {
                return Ok(world);
            }
        }
        if last < self.end {
            run_to(&mut world, self.end, &mut step, &mut on);
        }
        Ok(world)
    }
}

/// False if it was told to stop.
fn run_to(
    world: &mut World,
    to: SimTime,
    step: &mut Step,
    on: &mut impl FnMut(&Step, &World) -> bool,
) -> bool {
    while world.next_at().is_some_and(|next| next <= to) {
        world.step(step);
        if !on(step, world) {
            return false;
        }
    }
    world.advance(to);
    true
}
