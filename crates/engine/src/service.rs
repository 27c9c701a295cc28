//! What workers and clients ask of the lease service, and what it answers.
//!
//! The forms at the counter. A request keeps its number when it is sent again, so that the service can
//! tell a repetition from a new wish.

use std::sync::Arc;

use crate::event::RenewRefusal;
use crate::units::{ProcessId, RequestId, ResourceId, Token};

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
    /// Gives a held lease back, or leaves the queue.
    Release {
        resource: ResourceId,
    },
    Put {
        key: Arc<str>,
        value: Arc<str>,
    },
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
    Accepted,
}
