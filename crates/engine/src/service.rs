//! What workers and clients ask of the lease service, and what it answers.
//!
//! The forms at the counter. A request keeps its number when it is sent again, so that the service can
//! tell a repetition from a new wish.

use std::sync::Arc;

use crate::event::RenewRefusal;
use crate::units::{LogIndex, ProcessId, RequestId, ResourceId, Token};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    pub request: RequestId,
    pub what: AskWhat,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AskWhat {
    Acquire {
        resource: ResourceId,
    },
    Renew {
        resource: ResourceId,
        token: Token,
    },
    /// Gives back, or leaves the queue for, whatever it asked for up to request `of`; what it asks for later
    /// stays, however late this arrives.
    Release {
        resource: ResourceId,
        of: RequestId,
    },
    Put {
        key: Arc<str>,
        value: Arc<str>,
        /// The request that opened the client's session; none where sessions need not be opened.
        session: Option<RequestId>,
    },
    Get {
        key: Arc<str>,
        how: ReadHow,
        /// The latest state that the client has seen: an older one is no answer.
        floor: LogIndex,
    },
    /// Opens a session.
    Register,
}

/// Who may answer a read, and from which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadHow {
    /// The leader alone, once it is confirmed.
    Leader,
    /// Whoever is asked; a follower asks its leader how far it must have applied.
    Anyone,
    /// Whoever is asked, at once, from what it has applied.
    Stale,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    pub value: Option<Arc<str>>,
    /// The last entry applied in the state that was read.
    pub index: LogIndex,
    pub stale: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    pub request: RequestId,
    pub what: AnswerWhat,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnswerWhat {
    /// Ask someone else; the server that it believes leads, if it knows one.
    NotLeader {
        hint: Option<ProcessId>,
    },
    Granted {
        resource: ResourceId,
        token: Token,
    },
    /// Waiting; 1 is next.
    Queued {
        resource: ResourceId,
        place: u32,
    },
    Renewed {
        resource: ResourceId,
        token: Token,
    },
    RenewRefused {
        resource: ResourceId,
        why: RenewRefusal,
    },
    Released,
    /// `index` is the last entry applied when it was answered; 0 if it was answered before.
    Accepted {
        index: LogIndex,
    },
    Read(Found),
    Registered,
    /// The request's session is not kept any more; it was not carried out now.
    SessionExpired,
}
