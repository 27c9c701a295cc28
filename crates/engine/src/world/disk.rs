//! What can happen to a disk: it stalls, fails, loses or spoils a part, is wiped, or an old copy comes back.
//!
//! The archive in the cellar: slow on some days, flooded on others, and sometimes somebody puts back last
//! year's boxes. While its process runs a disk can only be slow or fail; what loses content is done to one
//! that is down, and shows at the next start. Blocks that rot unread in the middle of a log are left out.

use super::{Disk, Item, World};
use crate::command::{CommandError, DiskAct};
use crate::event::{Event, Fact};
use crate::process::Recorder;
use crate::raft::Damage;
use crate::rule::Rule;
use crate::setup::Kind;
use crate::units::{Duration, LogIndex, ProcessId, SimTime, Term};

impl World {
    pub(super) fn act_on_disk(
        &mut self,
        name: &str,
        act: DiskAct,
        facts: &mut Vec<Fact>,
    ) -> Result<ProcessId, CommandError> {
        let servers_only = matches!(
            act,
            DiskAct::LoseVote | DiskAct::LoseTerm | DiskAct::LoseTail(_) | DiskAct::CorruptTail
        );
        let id = if servers_only {
            self.find_kind(name, &[Kind::Server], "server")?
        } else {
            self.find_kind(name, &[Kind::Server, Kind::Store], "server or store")?
        };
        let (name, crashed) = (name.to_owned(), self.status(id).is_crashed());
        match act {
            DiskAct::Stall(by) if by == Duration::ZERO || Duration::LONGEST < by => {
                return Err(CommandError::Span { given: by });
            }
            DiskAct::Stall(_) | DiskAct::Fail if crashed => {
                return Err(CommandError::Crashed { name });
            }
            DiskAct::Stall(_) | DiskAct::Fail if self.setup.sync == Duration::ZERO => {
                return Err(CommandError::DurableAtOnce { name });
            }
            DiskAct::Stall(by) => self.stall(id, by),
            DiskAct::Fail => self.slot_mut(id).failing = true,
            DiskAct::Backup => {
                let disk = self.content(id);
                self.slot_mut(id).backup = Some(Box::new(disk));
            }
            DiskAct::LoseVote
            | DiskAct::LoseTerm
            | DiskAct::LoseTail(_)
            | DiskAct::CorruptTail
            | DiskAct::Wipe
            | DiskAct::Restore
                if !crashed =>
            {
                return Err(CommandError::NotCrashed { name });
            }
            DiskAct::LoseVote | DiskAct::LoseTerm | DiskAct::LoseTail(_) | DiskAct::CorruptTail => {
                if !self.spoil(id, act) {
                    return Err(CommandError::NotOnDisk { name });
                }
            }
            DiskAct::Wipe => {
                let kind = self.names.kind(id);
                self.slot_mut(id).disk = Disk::new(kind);
            }
            DiskAct::Restore => {
                let Some(backup) = self.slot(id).backup.clone() else {
                    return Err(CommandError::NoBackup { name });
                };
                self.slot_mut(id).disk = *backup;
            }
        }
        if crashed {
            self.boot(id);
        }
        facts.fact(Rule::Commanded, || Event::DiskActed { process: id, act });
        Ok(id)
    }

    /// What stands in for a crashed process is what its disk would start as.
    pub(super) fn boot(&mut self, id: ProcessId) {
        let (kind, resources) = (self.names.kind(id), self.names.resources().len());
        let slot = &mut self.slots[usize::from(id.0)];
        slot.process = slot.disk.boot(kind, &self.setup, resources);
    }

    /// What is durable now. With no sync time, a running server's log is on disk as it is in memory.
    pub(super) fn content(&self, id: ProcessId) -> Disk {
        let slot = self.slot(id);
        let mut disk = slot.disk.clone();
        if !slot.status.is_crashed() {
            disk.keep(&slot.process, &self.setup);
        }
        disk
    }

    /// Syncs under way end that much later, and new ones begin when the stall is over.
    fn stall(&mut self, id: ProcessId, by: Duration) {
        let mine = |item: &Item| matches!(item, Item::Sync { process, .. } if *process == id);
        let under_way = self.book.iter().filter(|(_, item)| mine(item));
        let keys: Vec<_> = under_way.map(|(key, _)| *key).collect();
        for key in keys {
            if let Some(item) = self.book.remove(key) {
                self.put(key.0.plus(by), item);
            }
        }
        let from: SimTime = self.now.max(self.slot(id).stalled_until);
        self.slot_mut(id).stalled_until = from.plus(by);
    }

    /// Takes a part of a server's disk away. False if it is not there.
    fn spoil(&mut self, id: ProcessId, act: DiskAct) -> bool {
        let Disk::Server(disk) = &mut self.slot_mut(id).disk else {
            return false;
        };
        let (start, last) = (disk.log.start(), disk.log.last_index());
        match act {
            DiskAct::LoseVote => disk.voted_for.take().is_some(),
            DiskAct::LoseTerm => {
                disk.voted_for = None;
                std::mem::take(&mut disk.term) != Term(0)
            }
            DiskAct::LoseTail(count) if 0 < count && count <= last.0 - start.0 => {
                disk.log.truncate(LogIndex(last.0 - count));
                true
            }
            DiskAct::CorruptTail if start < last => {
                // It cannot be read, so the log ends before it; that it was there can be seen.
                disk.log.truncate(last.previous());
                disk.damage = Some(Damage {
                    index: last,
                    term: disk.term,
                });
                true
            }
            DiskAct::LoseTail(_)
            | DiskAct::CorruptTail
            | DiskAct::Stall(_)
            | DiskAct::Fail
            | DiskAct::Wipe
            | DiskAct::Backup
            | DiskAct::Restore => false,
        }
    }

    /// A failed write is the end of its process, before anything that waited for it is sent: whether the
    /// write is on the disk, nobody can say (etcd and openraft stop there too).
    pub(super) fn fail<R: Recorder>(&mut self, process: ProcessId, recorder: &mut R) {
        recorder.fact(Rule::DiskErrorIsFatal, || Event::DiskFailed { process });
        self.crash_process(process, recorder);
    }
}
