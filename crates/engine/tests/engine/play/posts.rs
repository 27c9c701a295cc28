//! Messages posted on a link as a peer would have sent them, and what a server then is.
//!
//! A stand-in who reads one line at the right moment. Nothing is set by hand inside a server.

use leasehold_engine::event::{Event, VoteRefusal};
use leasehold_engine::process::Message as Envelope;
use leasehold_engine::raft::{Entry, Message, Server};
use leasehold_engine::registry::Op;
use leasehold_engine::setup::Setup;
use leasehold_engine::units::{LogIndex, ProcessId, Term};

use super::{Play, ticking};

/// So many servers that nobody stands for election unless told to.
pub fn patient(servers: u8) -> Setup {
    ticking(servers, &vec![60_000; usize::from(servers)])
}

pub fn server(play: &Play, id: ProcessId) -> &Server {
    play.world.server(id).unwrap()
}

pub fn terms(play: &Play, id: ProcessId) -> Vec<u64> {
    let log = server(play, id).log();
    log.iter().map(|entry| entry.term.0).collect()
}

pub fn commit(play: &Play, id: ProcessId) -> u64 {
    server(play, id).commit().0
}

pub fn post(play: &mut Play, from: ProcessId, to: ProcessId, message: Message) {
    play.world.post(from, to, Envelope::Raft(message));
    play.run("run 10ms");
}

/// What a leader of `term` sends: `entries` after the entry `previous`, an index and its term.
pub fn append(term: u64, previous: (u64, u64), entries: &[u64], commit: u64) -> Message {
    let entry = |term: &u64| Entry {
        term: Term(*term),
        op: Op::Noop,
    };
    Message::Append {
        term: Term(term),
        previous_index: LogIndex(previous.0),
        previous_term: Term(previous.1),
        entries: entries.iter().map(entry).collect(),
        commit: LogIndex(commit),
        round: 0,
    }
}

pub fn ask_for_vote(term: u64, last: (u64, u64)) -> Message {
    Message::RequestVote {
        term: Term(term),
        last_term: Term(last.0),
        last_index: LogIndex(last.1),
        handover: false,
    }
}

/// The last thing that `voter` said to a call for votes: none if it granted.
pub fn last_vote(play: &Play, voter: ProcessId) -> Option<Option<VoteRefusal>> {
    let steps = play
        .steps
        .iter()
        .rev()
        .filter(|step| step.process == Some(voter));
    steps.flat_map(|step| step.events()).find_map(|event| {
        if let Event::VoteRefused { why, .. } = event {
            Some(Some(*why))
        } else {
            matches!(event, Event::VoteGranted { .. }).then_some(None)
        }
    })
}
