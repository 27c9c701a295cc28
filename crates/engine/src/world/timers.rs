//! The running timers of every process, and which of them rings first.
//!
//! A shelf of kitchen timers for each cook, and a list at the door with the next to ring on each shelf.
//! Servers set one anew with almost every message, too often for the scheduler's book.

use super::Key;
use crate::event::{Cause, TimerKind};
use crate::units::{LocalTime, ProcessId, SimTime};

/// The place in the book of a timer that is not set: after everything.
const NEVER: Key = (SimTime(u64::MAX), u64::MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Timer {
    pub(super) kind: TimerKind,
    /// When it rings, by its process's own clock.
    pub(super) at: LocalTime,
    /// When that is in true time, and its place among all that is due then.
    pub(super) key: Key,
    pub(super) cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Timers {
    /// By process: those that run, at most one of a kind, in order of kind.
    running: Vec<Vec<Timer>>,
    /// By process: the key of the one that rings first.
    first: Vec<Key>,
}

impl Timers {
    pub(super) fn new(processes: usize) -> Self {
        Self {
            running: vec![Vec::new(); processes],
            first: vec![NEVER; processes],
        }
    }

    /// Sets it, or sets it anew.
    pub(super) fn set(&mut self, process: ProcessId, timer: Timer) {
        let running = &mut self.running[usize::from(process.0)];
        match running.binary_search_by_key(&timer.kind, |t| t.kind) {
            Ok(at) => running[at] = timer,
            Err(at) => running.insert(at, timer),
        }
        self.look(process);
    }

    pub(super) fn cancel(&mut self, process: ProcessId, kind: TimerKind) {
        let running = &mut self.running[usize::from(process.0)];
        if let Ok(at) = running.binary_search_by_key(&kind, |t| t.kind) {
            running.remove(at);
            self.look(process);
        }
    }

    pub(super) fn cancel_all(&mut self, process: ProcessId) {
        self.running[usize::from(process.0)].clear();
        self.look(process);
    }

    /// Those that run of one process, in order of kind.
    pub(super) fn of(&self, process: ProcessId) -> &[Timer] {
        &self.running[usize::from(process.0)]
    }

    /// The key of the next to ring anywhere.
    pub(super) fn next(&self) -> Option<Key> {
        let next = self.first.iter().copied().min()?;
        (next != NEVER).then_some(next)
    }

    /// Takes away the one with this key, which runs.
    pub(super) fn ring(&mut self, key: Key) -> (ProcessId, Timer) {
        let at = self.first.iter().position(|first| *first == key);
        let process = ProcessId(at.expect("it is the next to ring") as u8);
        let running = &mut self.running[usize::from(process.0)];
        let at = running.iter().position(|timer| timer.key == key);
        let timer = running.remove(at.expect("the first of this process runs"));
        self.look(process);
        (process, timer)
    }

    /// Changes what every running timer says about its past; the order stays.
    pub(super) fn rebase(&mut self, change: impl Fn(&mut Timer)) {
        self.running.iter_mut().flatten().for_each(change);
        for process in 0..self.running.len() {
            self.look(ProcessId(process as u8));
        }
    }

    fn look(&mut self, process: ProcessId) {
        let at = usize::from(process.0);
        let keys = self.running[at].iter().map(|timer| timer.key);
        self.first[at] = keys.min().unwrap_or(NEVER);
    }
}
