//! Sentences for events and for the reasons of broken invariants.
//!
//! Servers lead terms, workers hold leases, processes sleep and wake. One sentence each, at most
//! 120 characters with names of usual length, so that one fits a caption and a screen reader's
//! breath.

use leasehold_engine::command::DiskAct;
use leasehold_engine::event::{
    AppendRefusal, DropReason, EntryKind, Event, RenewRefusal, VoteRefusal,
};
use leasehold_engine::monitor::Reason;
use leasehold_engine::setup::Names;
use leasehold_engine::units::{Duration, LocalTime, LogIndex, ProcessId, Token};

use super::{
    message_kind, message_name, millis, outcome, position, shorten_to, span, tenths, verdict,
};

/// How a stale token stands to the highest seen; equal only before a strict gate.
fn below(token: Token, highest: Token) -> &'static str {
    if token < highest { "<" } else { "=" }
}

/// Longest part of a value that a sentence shows.
const VALUE_LENGTH: usize = 24;

/// The event as a sentence; `process` is whose step it was.
#[must_use]
pub fn event(event: &Event, process: Option<ProcessId>, names: &Names) -> String {
    let who = process.map_or("the world", |id| names.name(id));
    let name = |id: &ProcessId| names.name(*id);
    let thing = |id: &leasehold_engine::units::ResourceId| names.resource(*id);
    match event {
        // The world and its faults.
        Event::Paused {
            process,
            before_send: false,
        } => format!("{} falls asleep.", name(process)),
        Event::Paused {
            process,
            before_send: true,
        } => {
            format!(
                "{} falls asleep between its check and its send.",
                name(process)
            )
        }
        Event::PauseArmed { process } => {
            format!(
                "{} will fall asleep when it has checked and would send.",
                name(process)
            )
        }
        Event::Resumed {
            process,
            slept,
            waiting,
        } => {
            let things = if *waiting == 1 {
                "thing is"
            } else {
                "things are"
            };
            format!(
                "{} wakes after {}; {waiting} {things} waiting.",
                name(process),
                tenths(*slept)
            )
        }
        Event::Crashed { process } => format!("{} crashes; only its disk is left.", name(process)),
        Event::Restarted { process } => format!("{} starts again from its disk.", name(process)),
        Event::DiskActed { process, act } => {
            let disk = format!("{}'s disk", name(process));
            match act {
                DiskAct::Stall(by) => format!("{disk} stands still for {}.", span(*by)),
                DiskAct::Fail => format!("{disk} will fail at the next write."),
                DiskAct::LoseVote => format!("{disk} loses the vote."),
                DiskAct::LoseTerm => format!("{disk} loses term and vote."),
                DiskAct::LoseTail(count) => format!("{disk} loses the log's last {count}."),
                DiskAct::CorruptTail => format!("{disk} spoils the log's last entry."),
                DiskAct::Wipe => format!("{disk} is wiped."),
                DiskAct::Backup => format!("{disk} is copied, to be put back later."),
                DiskAct::Restore => format!("{disk} is as it was when it was copied."),
            }
        }
        Event::DiskFailed { process } => {
            format!("A write to {}'s disk fails; it stops.", name(process))
        }
        Event::TailDamaged { process, index } => {
            let who = name(process);
            format!("{who} cannot read its entry {index}: its checksum is wrong.")
        }
        Event::LinkCut { from, to } => format!("The link {} -> {} is cut.", name(from), name(to)),
        Event::LinkHealed { from, to } => {
            format!("The link {} -> {} is whole.", name(from), name(to))
        }
        Event::LatencySet { from, to, min, max } => {
            let (from, to) = (name(from), name(to));
            format!(
                "Messages {from} -> {to} now take {} to {}.",
                span(*min),
                span(*max)
            )
        }
        Event::LossSet { from, to, ppm } => {
            format!(
                "{} of the messages {} -> {} are lost.",
                percent(*ppm),
                name(from),
                name(to)
            )
        }
        Event::ClockRateSet { process, ppm } => {
            format!(
                "{}'s clocks now run at {} of true speed.",
                name(process),
                percent(*ppm)
            )
        }
        Event::ClockJumped { process, micros } => {
            format!(
                "{}'s wall clock jumps by {}.",
                name(process),
                signed(*micros)
            )
        }
        Event::SwitchSet {
            switch,
            position: to,
            at: None,
        } => {
            format!("Switch {}, everywhere.", position(*switch, *to))
        }
        Event::SwitchSet {
            switch,
            position: to,
            at: Some(at),
        } => {
            format!("Switch {} at {}.", position(*switch, *to), name(at))
        }
        Event::CommandSkipped { command, error } => {
            let command = shorten_to(&command.to_string(), 36);
            format!(
                "`{command}` is skipped: {}.",
                super::command_error(error).what
            )
        }
        Event::MessageSent { message, kind } => {
            format!(
                "{} {} sets out.",
                message_kind(*kind),
                message_name(*message, names)
            )
        }
        Event::MessageDropped {
            message,
            kind,
            reason,
        } => {
            let why = match reason {
                DropReason::Cut => "the link is cut",
                DropReason::Lost => "the network loses it",
                DropReason::ReceiverCrashed => "its receiver is down",
                DropReason::Command => "it is dropped by hand",
            };
            format!(
                "{} {} never arrives: {why}.",
                message_kind(*kind),
                message_name(*message, names)
            )
        }
        Event::MessageDuplicated { message, kind } => {
            format!(
                "{} {} will arrive twice.",
                message_kind(*kind),
                message_name(*message, names)
            )
        }
        Event::MessageDelayed { message, kind, by } => {
            let message = message_name(*message, names);
            format!(
                "{} {message} is held back by {}.",
                message_kind(*kind),
                span(*by)
            )
        }
        Event::MessageHurried { message, kind } => {
            format!(
                "{} {} is hurried along.",
                message_kind(*kind),
                message_name(*message, names)
            )
        }
        Event::WorkQueued { place } => {
            format!("{who} has other work under way; this waits, number {place} in line.")
        }
        Event::WaitedAsleep { process } => {
            format!("{} is asleep; this waits until it wakes.", name(process))
        }
        Event::SyncEnded => format!("What {who} wrote is safe on its disk."),

        // Raft.
        Event::ElectionStarted { term } => format!("{who} stands for election in term {term}."),
        Event::StoodAside => format!("{who} has no vote and does not stand for election."),
        Event::PrevoteStarted { term } => format!("{who} asks whether it could win term {term}."),
        Event::PrevoteGranted { candidate, term } => {
            format!("{who} would vote for {} in term {term}.", name(candidate))
        }
        Event::PrevoteCounted {
            voter,
            votes,
            needed,
        } => {
            format!(
                "{who} counts {}'s promise: {votes} of the {needed} it needs.",
                name(voter)
            )
        }
        Event::QuorumChecked { heard, needed } => {
            format!("{who} has heard {heard} of the {needed} it needs to go on leading.")
        }
        Event::TermAdopted { from, to } => {
            format!("{who} hears of term {to} and leaves term {from}.")
        }
        Event::VoteGranted { candidate, term } => {
            format!("{who} votes for {} in term {term}.", name(candidate))
        }
        Event::VoteRefused {
            candidate,
            term,
            why,
        } => {
            let why = match why {
                VoteRefusal::LogDamaged => "its last entry is damaged".to_owned(),
                VoteRefusal::OldTerm => "that term is over".to_owned(),
                VoteRefusal::VotedFor(other) => format!("its vote went to {}", name(other)),
                VoteRefusal::LeaseMayRun => "a leader may read by its lease on it".to_owned(),
                VoteRefusal::LeaderFresh(leader) => {
                    format!("{} leads, heard just now", name(leader))
                }
                VoteRefusal::LogBehind {
                    own_term,
                    own_index,
                    term,
                    index,
                } => format!(
                    "its own log ends at {own_index} of term {own_term}, theirs at {index} of {term}"
                ),
            };
            format!(
                "{who} refuses {} its vote in term {term}: {why}.",
                name(candidate)
            )
        }
        Event::VoteCounted {
            voter,
            votes,
            needed,
        } => {
            format!(
                "{who} counts {}'s vote: {votes} of the {needed} it needs.",
                name(voter)
            )
        }
        Event::VoteDenied { voter } => {
            format!("{who} learns that {} did not vote for it.", name(voter))
        }
        Event::BecameLeader { term } => format!("{who} leads term {term}."),
        Event::SteppedDown { term } => format!("{who} steps down; it led term {term}."),
        Event::LeaderFollowed { leader, term } => {
            format!("{who} follows {}, leader of term {term}.", name(leader))
        }
        Event::ReplyIgnored { from } => {
            format!(
                "{who} sets {}'s answer aside: nothing hangs on it any more.",
                name(from)
            )
        }
        Event::HeartbeatsSent { round } => format!("{who} sends round {round} of heartbeats."),
        Event::EntryAppended {
            index,
            term,
            entry: kind,
        } => {
            format!(
                "{who} writes entry {index} of term {term} to its log: {}.",
                entry(kind, names)
            )
        }
        Event::EntriesStored { from, to } => format!("{who} stores {}.", entries(*from, *to)),
        Event::EntriesRemoved { from } => {
            format!("{who} removes its entries from {from} on: the leader's differ.")
        }
        Event::LogRepaired { index } => {
            format!("{who} has again what its leader has at entry {index}.")
        }
        Event::AppendRefused { leader, why } => {
            let why = match why {
                AppendRefusal::OldTerm => "that term is over".to_owned(),
                AppendRefusal::LogShort { last } => format!("its own log ends at {last}"),
                AppendRefusal::OtherTerm { there } => {
                    format!("the entry before it is of term {there} here")
                }
            };
            format!("{who} rejects {}'s entries: {why}.", name(leader))
        }
        Event::AppendMatched { leader, upto } => {
            format!("{who} agrees with {} up to entry {upto}.", name(leader))
        }
        Event::MatchAdvanced { follower, to } => {
            format!(
                "{who} knows that {} has all entries up to {to}.",
                name(follower)
            )
        }
        Event::AppendConfirmed { follower } => {
            format!("{who} hears from {}: still following.", name(follower))
        }
        Event::ConfigAdopted { config } => {
            format!("{who} now goes by {}.", members(*config, names))
        }
        Event::LogCompacted { upto } => {
            format!("{who} keeps a snapshot in place of its entries up to {upto}.")
        }
        Event::SnapshotSent { follower, upto } => {
            format!(
                "{who} sends {} its snapshot up to entry {upto}.",
                name(follower)
            )
        }
        Event::SnapshotInstalled { leader, upto } => {
            format!(
                "{who} takes over {}'s snapshot up to entry {upto}.",
                name(leader)
            )
        }
        Event::SnapshotIgnored { leader, upto } => {
            format!(
                "{who} has applied all of {}'s snapshot up to {upto}.",
                name(leader)
            )
        }
        Event::ProbedBack { follower, next } => {
            format!("{who} will try {} again from entry {next}.", name(follower))
        }
        Event::CommitAdvanced { from, to } => {
            format!("{who} knows {} to be committed.", entries(from.next(), *to))
        }
        Event::EntryApplied {
            index,
            term,
            entry: kind,
        } => {
            format!(
                "{who} applies entry {index} of term {term}: {}.",
                entry(kind, names)
            )
        }
        Event::HandoverBegan { to } => format!("{who} begins to hand over to {}.", name(to)),
        Event::HandoverGivenUp { to } => {
            format!("{who} gives up handing over to {}, and leads on.", name(to))
        }
        Event::WorkRefused { asker, to } => {
            format!(
                "{who} is handing over to {} and takes no work from {}.",
                name(to),
                name(asker)
            )
        }
        Event::NotLeaderAnswered {
            asker,
            hint: Some(hint),
        } => {
            format!(
                "{who} does not lead; it sends {} on to {}.",
                name(asker),
                name(hint)
            )
        }
        Event::NotLeaderAnswered { asker, hint: None } => {
            format!(
                "{who} does not lead and tells {} that it knows no leader.",
                name(asker)
            )
        }

        // The service's state machine.
        Event::LeaseGranted {
            resource,
            worker,
            token,
        } => {
            format!(
                "By {who}'s log, {} holds {} with token {token}.",
                name(worker),
                thing(resource)
            )
        }
        Event::WaiterQueued {
            resource,
            worker,
            place,
        } => {
            format!(
                "By {who}'s log, {} waits for {}, place {place}.",
                name(worker),
                thing(resource)
            )
        }
        Event::WaiterLeft { resource, worker } => {
            format!(
                "By {who}'s log, {} no longer waits for {}.",
                name(worker),
                thing(resource)
            )
        }
        Event::LeaseReleased {
            resource,
            worker,
            token,
        } => {
            let (worker, thing) = (name(worker), thing(resource));
            format!("By {who}'s log, {worker} has given back {thing}, token {token}.")
        }
        Event::LeaseExpired {
            resource,
            worker,
            token,
        } => {
            let (worker, thing) = (name(worker), thing(resource));
            format!("By {who}'s log, {worker}'s lease of {thing}, token {token}, has expired.")
        }
        Event::ResourceClosed { resource } => {
            format!("By {who}'s log, nobody gets {} for now.", thing(resource))
        }
        Event::ResourceOpened { resource } => {
            format!("By {who}'s log, {} can be held again.", thing(resource))
        }
        Event::TableLost => format!("{who} has lost its table: it knows of no lease any more."),
        Event::TokenRaised { resource, to } => {
            format!(
                "By {who}'s log, the next token of {} is above {to}.",
                thing(resource)
            )
        }
        Event::RequestRepeated { asker, request } => {
            format!(
                "{who} has seen request {request} of {} and only answers it again.",
                name(asker)
            )
        }
        Event::PutApplied {
            client, key, value, ..
        } => {
            format!(
                "{who} applies {}'s put: {key} = {}.",
                name(client),
                quoted(value)
            )
        }
        Event::SessionOpened { client } => format!("{who} opens a session for {}.", name(client)),
        Event::SessionExpired { client } => {
            format!(
                "{who} lets the session of {} go: it was used least recently.",
                name(client)
            )
        }
        Event::SessionUnknown { client, request } => format!(
            "{who} does not carry out request {request} of {}: its session is gone.",
            name(client)
        ),
        Event::NothingToDo { index } => {
            format!("{who} finds nothing to do in entry {index}: it has come too late.")
        }

        // Reads.
        Event::ReadReceived { asker, index } => {
            format!("{who} is asked by {} and notes entry {index}.", name(asker))
        }
        Event::ReadIndexAsked { leader, client } => format!(
            "{who} asks {} how far it must have applied to answer {}.",
            name(leader),
            name(client)
        ),
        Event::ReadConfirmed { asker, index } => format!(
            "{who} still led when {} asked: entry {index} is enough.",
            name(asker)
        ),
        Event::ReadWaits { client, index } => format!(
            "{who} has not applied entry {index} yet: {} waits.",
            name(client)
        ),
        Event::ReadAnswered {
            client,
            index,
            stale,
        } => {
            let mark = if *stale { ", marked stale" } else { "" };
            format!("{who} answers {} as of entry {index}{mark}.", name(client))
        }

        // The service's leader, on its own clock.
        Event::LeaseArmed {
            resource,
            until,
            token,
        } => {
            format!(
                "{who} counts {}, token {token}, until {}.",
                thing(resource),
                on_clock(*until)
            )
        }
        Event::LeasesRearmed { count: 1 } => {
            format!("{who}, newly leader, gives the one lease its full time again.")
        }
        Event::LeasesRearmed { count } => {
            format!("{who}, newly leader, gives all {count} leases their full time again.")
        }
        Event::RenewalReceived { worker, resource } => {
            format!(
                "{who} has {}'s renewal of {} and asks a majority.",
                name(worker),
                thing(resource)
            )
        }
        Event::RenewalConfirmed {
            worker,
            resource,
            until,
        } => {
            let (worker, thing) = (name(worker), thing(resource));
            format!(
                "{who} renews {worker}'s lease of {thing} until {}.",
                on_clock(*until)
            )
        }
        Event::RenewalRefused {
            worker,
            resource,
            why,
        } => {
            let why = match why {
                RenewRefusal::NotHolder => "it is not the holder".to_owned(),
                RenewRefusal::OtherToken { current } => format!("the token is {current} by now"),
                RenewRefusal::Expiring => "its time is over".to_owned(),
            };
            format!(
                "{who} refuses {}'s renewal of {}: {why}.",
                name(worker),
                thing(resource)
            )
        }
        Event::ExpiryProposed { resource, token } => {
            format!(
                "{who} finds {}, token {token}, lapsed and logs its expiry.",
                thing(resource)
            )
        }

        // Workers.
        Event::LeaseWanted { resource } => {
            format!("{who} wants {} from now on.", thing(resource))
        }
        Event::LeaseAsked {
            resource,
            server,
            attempt,
            ..
        } => {
            let try_ = if *attempt > 1 {
                format!(", try {attempt}")
            } else {
                String::new()
            };
            format!("{who} asks {} for {}{try_}.", name(server), thing(resource))
        }
        Event::ServerTried { server } => format!("{who} will try {} next.", name(server)),
        Event::QueuedForLease { resource, place } => {
            format!(
                "{who} learns that it waits for {}, place {place}.",
                thing(resource)
            )
        }
        Event::LeaseReceived {
            resource,
            token,
            left,
            ..
        } => {
            format!(
                "{who} holds {} with token {token}, for {} from now.",
                thing(resource),
                tenths(*left)
            )
        }
        Event::GrantTooLate { resource, token } => {
            format!(
                "{who}'s grant of {}, token {token}, has too little time left. It renews first.",
                thing(resource)
            )
        }
        Event::RenewalSent { resource, server } => {
            format!("{who} asks {} to renew {}.", name(server), thing(resource))
        }
        Event::RenewalWithheld { resource } => {
            format!(
                "{who} does not renew {}: its work takes too long.",
                thing(resource)
            )
        }
        Event::LeaseRenewed {
            resource,
            token,
            left,
            ..
        } => {
            let left = tenths(*left);
            format!(
                "{who}'s lease of {}, token {token}, has {left} again.",
                thing(resource)
            )
        }
        Event::JeopardyBegan { resource } => {
            format!(
                "{who} is in doubt about {}: its renewal is unanswered.",
                thing(resource)
            )
        }
        Event::JeopardyEnded { resource } => format!("{who} is sure of {} again.", thing(resource)),
        Event::GraceBegan { resource, token } => {
            let thing = thing(resource);
            format!("{who} is past its deadline for {thing}, token {token}. It waits and asks on.")
        }
        Event::LeaseLapsed { resource, token } => {
            let thing = thing(resource);
            format!("{who} stops using {thing}, token {token}: its own deadline has passed.")
        }
        Event::LeaseLost { resource, token } => {
            format!(
                "{who} is told that it lost {}, token {token}.",
                thing(resource)
            )
        }
        Event::LeaseGivenBack { resource, token } => {
            format!("{who} gives back {}, token {token}.", thing(resource))
        }
        Event::ReleaseConfirmed { resource } => {
            format!("{who} hears that the service has {} back.", thing(resource))
        }
        Event::StoppedWaiting { resource } => {
            format!("{who} no longer waits for {}.", thing(resource))
        }
        Event::Checked {
            verdict: said,
            token,
        } => {
            format!("{who} checks: {}, token {token}.", verdict(*said))
        }
        Event::WriteUnchecked { store, token } => {
            format!(
                "{who} will write to {} with token {token}, without a check.",
                name(store)
            )
        }
        Event::WriteWithheld {
            store,
            value,
            verdict: said,
        } => {
            let (store, value) = (name(store), quoted(value));
            format!(
                "{who} does not send {value} to {store}: {}.",
                verdict(*said)
            )
        }
        Event::WriteSent {
            store,
            token,
            value,
            checked,
        } => {
            let (store, age) = (name(store), tenths(*checked));
            format!(
                "{who} sends {} to {store} with token {token}, {age} after its check.",
                quoted(value)
            )
        }
        Event::WriteEnded {
            store,
            token,
            value,
            outcome: end,
        } => {
            let (store, end) = (name(store), outcome(*end));
            format!(
                "{who}'s {} at {store}, token {token}: {end}.",
                quoted(value)
            )
        }

        // Stores.
        Event::WriteChecked {
            from,
            token,
            highest,
        } => {
            let from = name(from);
            format!("{who} has checked {from}'s token {token} against {highest}; it writes later.")
        }
        Event::WriteAccepted {
            from,
            token,
            highest,
            value,
        } if token < highest => {
            let from = name(from);
            format!(
                "{who} accepts {} of {from}, token {token}, after token {highest}.",
                quoted(value)
            )
        }
        Event::WriteAccepted {
            from, token, value, ..
        } => {
            format!(
                "{who} accepts {} of {}, token {token}.",
                quoted(value),
                name(from)
            )
        }
        Event::WriteRefused {
            from,
            token,
            highest,
            value,
        } => {
            let from = name(from);
            format!(
                "{who} refuses {} of {from}: stale, {token} {} {highest}.",
                quoted(value),
                below(*token, *highest)
            )
        }
        Event::StaleWriteObserved {
            from,
            token,
            highest,
            value,
        } => {
            let from = name(from);
            format!(
                "{who} accepts {} of {from} and notes: stale, {token} {} {highest}.",
                quoted(value),
                below(*token, *highest)
            )
        }

        Event::WriteRepeated { from, token, op } => {
            let from = name(from);
            format!("{who} has done operation {op} before; it tells {from}, token {token}, so.")
        }

        // Clients.
        Event::RequestSent {
            server,
            request,
            attempt,
        } => {
            format!(
                "{who} sends request {request} to {}, try {attempt}.",
                name(server)
            )
        }
        Event::RequestEnded {
            request,
            outcome: end,
        } => {
            format!("{who}'s request {request}: {}.", outcome(*end))
        }

        Event::SessionAsked { server, attempt } => {
            format!("{who} asks {} for a session, try {attempt}.", name(server))
        }
        Event::ReadEnded {
            key,
            value,
            index,
            stale,
            ..
        } => {
            let what = value.as_ref().map_or("nothing".to_owned(), |v| quoted(v));
            let mark = if *stale { ", marked stale" } else { "" };
            format!("{who} reads {key}: {what}, as of entry {index}{mark}.")
        }

        // Monitors.
        Event::InvariantBroken {
            invariant,
            reason: why,
        } => {
            format!("Broken, {}: {}", invariant.id(), reason(why, names))
        }
    }
}

/// How an invariant broke, with everyone who was in it: a clause with its full stop.
#[must_use]
pub fn reason(reason: &Reason, names: &Names) -> String {
    let name = |id: &ProcessId| names.name(*id);
    let thing = |id: &leasehold_engine::units::ResourceId| names.resource(*id);
    match reason {
        Reason::TwoLeaders {
            term,
            first,
            second,
        } => {
            format!(
                "{} and {} both lead term {term}.",
                name(first),
                name(second)
            )
        }
        Reason::LogsDiffer {
            index,
            term,
            first,
            second,
        } => {
            let (first, second) = (name(first), name(second));
            format!(
                "{first} and {second} have entry {index} of term {term}, and differ there or before it."
            )
        }
        Reason::LeaderLacksEntry {
            leader,
            term,
            index,
            committed_by,
        } => {
            let (leader, by) = (name(leader), name(committed_by));
            format!(
                "{leader} leads term {term} without entry {index}, which {by} knows as committed."
            )
        }
        Reason::AppliedDiffer {
            index,
            first,
            second,
        } => {
            format!(
                "{} and {} applied different entries at {index}.",
                name(first),
                name(second)
            )
        }
        Reason::TokenNotRaised {
            resource,
            worker,
            token,
            before,
            holder_before,
        } => format!(
            "{} gets {} with token {token}, after {} had it with {before}.",
            name(worker),
            thing(resource),
            name(holder_before)
        ),
        Reason::TwoHolders {
            resource,
            worker,
            token,
            holder,
            holder_token,
        } => format!(
            "{} gets {} with token {token}, while {} holds it with {holder_token}.",
            name(worker),
            thing(resource),
            name(holder)
        ),
        Reason::DeadlineOutlivesGrant {
            resource,
            worker,
            token,
            until,
            ended,
        } => format!(
            "{} counts {}, token {token}, until {} s; its grant ended at {} s.",
            name(worker),
            thing(resource),
            millis(*until),
            millis(*ended)
        ),
        Reason::OlderTokenAccepted {
            store,
            from,
            token,
            highest,
            highest_from,
        } => format!(
            "{} accepted token {token} of {}, after token {highest} of {}.",
            name(store),
            name(from),
            name(highest_from)
        ),
        Reason::StaleRead {
            client,
            request,
            index,
            committed,
        } => format!(
            "request {request} of {} shows entry {index}; {committed} was committed when it asked.",
            name(client)
        ),
        Reason::ReadWentBack {
            client,
            request,
            index,
            seen,
        } => format!(
            "request {request} of {} shows entry {index}; it has seen entry {seen} before.",
            name(client)
        ),
        Reason::EffectTwice {
            store,
            op,
            first,
            second,
        } => format!(
            "{} carried out operation {op} twice: for {}, then for {}.",
            name(store),
            name(first),
            name(second)
        ),
        Reason::WriteLost {
            client,
            request,
            leader,
            term,
        } => format!(
            "request {request} of {} was accepted, and {}, leader of term {term}, does not have it.",
            name(client),
            name(leader)
        ),
    }
}

/// Who takes part: `voters s1 s2 s3`, with what else there is.
fn members(config: leasehold_engine::raft::Config, names: &Names) -> String {
    let list = |set: leasehold_engine::units::ProcessSet| {
        set.iter()
            .fold(String::new(), |list, id| list + " " + names.name(id))
    };
    let mut text = "voters".to_owned() + &list(config.voters);
    if config.is_joint() {
        text = text + " and" + &list(config.outgoing);
    }
    if !config.learners.is_empty() {
        text = text + ", learners" + &list(config.learners);
    }
    text
}

fn entry(entry: &EntryKind, names: &Names) -> String {
    match entry {
        EntryKind::Noop => "nothing, to open its term".to_owned(),
        EntryKind::Config { config } => members(*config, names),
        EntryKind::Acquire { worker, resource } => {
            format!(
                "{} asks for {}",
                names.name(*worker),
                names.resource(*resource)
            )
        }
        EntryKind::Release { worker, resource } => {
            format!(
                "{} gives back {}",
                names.name(*worker),
                names.resource(*resource)
            )
        }
        EntryKind::DropWaiter { worker, resource } => {
            format!(
                "{} loses its place for {}",
                names.name(*worker),
                names.resource(*resource)
            )
        }
        EntryKind::Expire { resource, token } => {
            format!("{}, token {token}, expires", names.resource(*resource))
        }
        EntryKind::Register { client } => format!("{} opens a session", names.name(*client)),
        EntryKind::Open { resource } => format!("{} opens", names.resource(*resource)),
        EntryKind::TableLost => "the table of leases is lost".to_owned(),
        EntryKind::Raise { resource, to } => {
            format!("tokens of {} go on above {to}", names.resource(*resource))
        }
        EntryKind::Put { client, key, value } => {
            format!("{} puts {key} = {}", names.name(*client), quoted(value))
        }
    }
}

fn entries(from: LogIndex, to: LogIndex) -> String {
    if from == to {
        format!("entry {to}")
    } else {
        format!("entries {from} to {to}")
    }
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", shorten_to(value, VALUE_LENGTH))
}

fn on_clock(at: LocalTime) -> String {
    format!("{} on its clock", tenths(Duration(at.0)))
}

fn signed(micros: i64) -> String {
    let sign = if micros < 0 { '-' } else { '+' };
    format!("{sign}{}", span(Duration(micros.unsigned_abs())))
}

/// Parts per million as a percentage with at most one decimal that matters.
fn percent(ppm: u32) -> String {
    let (whole, rest) = (ppm / 10_000, ppm % 10_000);
    if rest == 0 {
        return format!("{whole} %");
    }
    let digits = format!("{rest:04}");
    format!("{whole}.{} %", digits.trim_end_matches('0'))
}
