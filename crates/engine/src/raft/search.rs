//! What a search leaves out of a server's state, because nothing that comes depends on it.
//!
//! Two letters that differ in the postmark only. Without it there are far fewer states to look at.

use super::{Message, Role, Server};
use crate::writer::Writer;

impl Server {
    /// Forgets rounds of heartbeats while nothing waits for one, and what it once believed of itself:
    /// a search has nobody to write to.
    pub(crate) fn forget_for_search(&mut self) {
        self.writer = Writer::default();
        if let Role::Leader(leading) = &mut self.role
            && leading.renewals.is_empty()
            && leading.reads.is_empty()
        {
            leading.round = 0;
            for progress in &mut leading.progress {
                progress.round = 0;
                if let Some(sending) = &mut progress.snapshot {
                    sending.round = 0;
                }
            }
        }
    }
}

impl Message {
    /// Forgets which round of heartbeats it belongs to.
    pub(crate) const fn forget_round(&mut self) {
        if let Self::Append { round, .. }
        | Self::AppendAnswer { round, .. }
        | Self::Snapshot { round, .. } = self
        {
            *round = 0;
        }
    }
}
