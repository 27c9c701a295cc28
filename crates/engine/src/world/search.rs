//! What a search takes from a world that it begins at.
//!
//! An inventory at the moment the film stops: what is on its way, what each disk holds, which timers run.

use super::{Disk, Item, World};
use crate::event::{MessageId, TimerKind};
use crate::monitor::Monitors;
use crate::process::{Counters, Message};
use crate::truth::Truth;
use crate::units::ProcessId;

impl World {
    pub(crate) fn disk(&self, id: ProcessId) -> &Disk {
        &self.slot(id).disk
    }

    pub(crate) fn counters(&self, id: ProcessId) -> Counters {
        self.slot(id).counters
    }

    pub(crate) fn timers_running(&self, id: ProcessId) -> impl Iterator<Item = TimerKind> {
        self.timers.of(id).iter().map(|timer| timer.kind)
    }

    /// The messages on their way, with what they say.
    pub(crate) fn parcels(&self) -> impl Iterator<Item = (MessageId, &Message)> {
        self.book.iter().filter_map(|(_, item)| match item {
            Item::Delivery(parcel) => Some((parcel.id, &parcel.message)),
            Item::Sync { .. } | Item::Woken { .. } => None,
        })
    }

    pub(crate) fn watchers(&self) -> (Monitors, Truth) {
        (self.monitors().clone(), self.truth.clone())
    }
}

impl Disk {
    /// Forgets the copy of a log that only a crash reads, and writes anew.
    pub(crate) fn forget_for_search(&mut self) {
        if let Self::Server(disk) = self {
            disk.log = crate::raft::Log::default();
            disk.snapshot = None;
        }
    }
}
