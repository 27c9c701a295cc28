//! What a search takes from a world that it begins at.
//!
//! An inventory at the moment the film stops: what is on its way, what each disk holds, which timers run.

use std::hash::{Hash, Hasher};

use super::{Disk, Item, Waiting, World};
use crate::event::{MessageId, TimerKind};
use crate::hash::{StableHasher, stable_hash};
use crate::monitor::Monitors;
use crate::process::{Counters, Message};
use crate::truth::Truth;
use crate::units::{ProcessId, SimTime};

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

    /// A fingerprint of all that decides what can come, and of `more`: without how many steps were taken,
    /// what caused what, and the numbers by which messages and the schedule are told apart.
    pub(crate) fn search_key(&self, more: &impl Hash) -> [u64; 2] {
        // What is due at one moment is due in an order; the scheduler's numbers behind it do not count.
        let in_book = self.book.iter().map(|(key, item)| {
            let content = match item {
                Item::Delivery(parcel) => {
                    stable_hash(&(0, parcel.id.from, parcel.id.to, &parcel.message))
                }
                Item::Sync { process, .. } => stable_hash(&(1, process)),
                Item::Woken { process, waiting } => {
                    stable_hash(&(2, process, waiting.content_hash()))
                }
            };
            (*key, content)
        });
        let ids = self.names.ids();
        let timers = ids.flat_map(|id| self.timers.of(id).iter().map(move |timer| (id, timer)));
        let timers = timers.map(|(id, timer)| {
            let content = stable_hash(&(3, id, timer.kind, timer.at));
            (timer.key, content)
        });
        let mut due: Vec<_> = in_book.chain(timers).collect();
        due.sort_unstable();
        let due: Vec<(SimTime, u64)> = due.into_iter().map(|((at, _), c)| (at, c)).collect();
        [0, 1].map(|half: u64| {
            let mut hasher = StableHasher::default();
            half.hash(&mut hasher);
            more.hash(&mut hasher);
            self.now.hash(&mut hasher);
            for (at, content) in &due {
                (at, content).hash(&mut hasher);
            }
            for slot in &self.slots {
                (&slot.process, slot.status, &slot.clock, slot.switches).hash(&mut hasher);
                (
                    &slot.disk,
                    &slot.syncing,
                    slot.pause_before_send,
                    slot.counters,
                )
                    .hash(&mut hasher);
                for waiting in &slot.waiting {
                    waiting.content_hash().hash(&mut hasher);
                }
            }
            for link in &self.links {
                (link.cut, link.latency_min, link.latency_max).hash(&mut hasher);
                // A random latency or loss is drawn by the message's number.
                if link.latency_min != link.latency_max || 0 < link.loss_ppm + link.duplication_ppm
                {
                    link.sent.hash(&mut hasher);
                }
            }
            (&self.truth, &self.monitors).hash(&mut hasher);
            hasher.finish()
        })
    }

    pub(crate) fn watchers(&self) -> (Monitors, Truth) {
        (self.monitors().clone(), self.truth.clone())
    }
}

impl Waiting {
    fn content_hash(&self) -> u64 {
        match self {
            Self::Delivery(parcel) => {
                stable_hash(&(0, parcel.id.from, parcel.id.to, &parcel.message))
            }
            Self::Timer { timer, .. } => stable_hash(&(1, timer)),
            Self::Sync { writes, held, .. } => stable_hash(&(2, writes, held)),
        }
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
