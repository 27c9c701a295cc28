//! Every rule is reached by a test that bears its name, and no step changes a process in silence.
//!
//! The roll call of the law: for each paragraph a case in which it decides, told by commands in a real
//! world. The last two tests see to it that no rule is left out, and that nothing happens outside the law.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::play;
use crate::play::{A, B, C1, LEASE, ORDERS, Play, S1, S2, S3, cold, contended, stage};
use leasehold_engine::command::Command;
use leasehold_engine::draw::{Purpose, below, draw};
use leasehold_engine::event::{
    AppendRefusal, DropReason, EntryKind, Event, MessageKind, Outcome, RenewRefusal, Step, Verdict,
    VoteRefusal,
};
use leasehold_engine::monitor::{Invariant, Reason};
use leasehold_engine::process::Process;
use leasehold_engine::rule::Rule;
use leasehold_engine::setup::Setup;
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::{Duration, LogIndex, OpId, ProcessId, Term, Token};
use leasehold_engine::world::{Clock, Status, World};

/// For each rule: its test's name, whose step it is, the stage, the script, and the event it decides.
macro_rules! rules_reached {
    ($($name:ident: $rule:ident of $who:expr, $setup:expr, $script:expr,
       [$($event:tt)+];)*) => {
        $(#[test]
        fn $name() {
            let play = Play::of($setup, $script);
            let who: Option<ProcessId> = $who.into();
            play.expect(Rule::$rule, who, |event| matches!(event, $($event)+));
        })*

        const REACHED: &[(&str, Rule)] = &[$((stringify!($name), Rule::$rule)),*];
    };
}

/// One server, whose table of leases does not outlive it.
fn in_memory() -> Setup {
    Setup {
        servers: 1,
        election_fixed: vec![Duration::millis(1_500)],
        table_in_memory: true,
        ..stage()
    }
}

/// A holds, has checked, and sleeps before its send until B has written with the next token.
const ZOMBIE: &str = r#"
    acquire A orders
    until A holds orders
    run 100ms
    acquire B orders
    run 300ms
    pause A before send
    write A orders "late"
    until B believes it holds orders
    write B orders "new"
    run 1s
    resume A
    run 200ms
"#;

/// s2 is asked for what the leader has committed and it has not: its next append is late.
const READ_BEHIND: &str = r#"
    cut s1 -> s2
    put c1 x "1"
    until c1 is told accepted
    heal
    get c1 x at s2
    run 110ms
    delay s1>s2#last 1s
    run 1s
"#;

/// c2 takes the only session, and c1 goes on as if it had one.
const SESSION_LOST: &str = r#"
    put c1 x "1"
    until c1 is told accepted
    put c2 x "2"
    until c2 is told accepted
    put c1 x "3"
    run 1s
"#;

fn one_session() -> Setup {
    Setup {
        clients: vec!["c1".into(), "c2".into()],
        sessions_max: 1,
        ..stage()
    }
}

/// s1 is left alone with an entry that nobody else has, until s2 leads and the network is whole again.
const LEFT_ALONE: &str = r#"
    partition s1 c1 | s2 s3
    put c1 x "1"
    until s2 leads
    heal
    run 1s
"#;

/// Two more servers than take part.
fn with_spares() -> Setup {
    Setup {
        spares: 2,
        election_fixed: [1_500, 2_500, 3_500, 4_500, 5_500]
            .map(Duration::millis)
            .to_vec(),
        ..stage()
    }
}

/// s2 misses an entry that s1 has applied and then dropped.
const BEHIND_THE_SNAPSHOT: &str = r#"
    crash s2
    put c1 x "1"
    run 1s
    compact s1
    restart s2
    run 1s
"#;

rules_reached! {
    // What is done to a process or a link from outside.
    rule_commanded: Commanded of None, stage(), "cut s1 -> s2",
        [Event::LinkCut { from: S1, to: S2 }];
    rule_pause_stops_the_process: PauseStopsTheProcess of A, stage(), "pause A",
        [Event::Paused { process: A, before_send: false }];
    rule_sleeper_waits: SleeperWaits of S2, stage(), "pause s2\nrun 1s",
        [Event::WaitedAsleep { process: S2 }];
    rule_resume_finishes_first: ResumeFinishesFirst of S2, stage(), "pause s2\nrun 1s\nresume s2",
        [Event::Resumed { process: S2, slept, waiting } if *slept == Duration::secs(1) && *waiting > 0];
    rule_crash_loses_volatile: CrashLosesVolatile of S2, stage(), "crash s2",
        [Event::Crashed { process: S2 }];
    rule_restart_reads_disk: RestartReadsDisk of S2, stage(), "crash s2\nrun 1s\nrestart s2",
        [Event::Restarted { process: S2 }];
    rule_messages_only: MessagesOnly of S1, stage(), "run 1s",
        [Event::MessageSent { message, kind: MessageKind::Heartbeat } if message.to == S2];
    rule_network_may_lose: NetworkMayLose of S1, stage(), "cut s1 -> s2\nrun 1s",
        [Event::MessageDropped { message, reason: DropReason::Cut, .. } if message.to == S2];
    rule_network_may_duplicate: NetworkMayDuplicate of S1,
        Setup { duplication_ppm: 1_000_000, ..stage() }, "run 1s",
        [Event::MessageDuplicated { message, kind: MessageKind::Heartbeat } if message.to == S2];
    rule_crashed_hears_nothing: CrashedHearsNothing of S2, stage(), "crash s2\nrun 1s",
        [Event::MessageDropped { message, reason: DropReason::ReceiverCrashed, .. }
            if message.from == S1];
    rule_disk_error_is_fatal: DiskErrorIsFatal of S2,
        Setup { sync: Duration::millis(10), ..stage() }, "disk s2 fail\nput c1 x \"1\"\nrun 1s",
        [Event::DiskFailed { process: S2 }];
    rule_sync_makes_durable: SyncMakesDurable of S2,
        Setup { sync: Duration::millis(10), ..stage() }, "put c1 x \"1\"\nrun 1s",
        [Event::SyncEnded];

    // Raft.
    rule_election_timeout: ElectionTimeout of S2, stage(), "pause s1\nrun 3s",
        [Event::ElectionStarted { term: Term(2) }];
    rule_only_voters_stand: OnlyVotersStand of ProcessId(3),
        Setup { spares: 1, election_fixed: [1, 2, 3, 1].map(Duration::secs).to_vec(), ..cold() }, "run 1.1s",
        [Event::StoodAside];
    rule_ask_before_standing: AskBeforeStanding of S2,
        play::with_switch(stage(), Switch::Prevote, "on"), "pause s1\nrun 3s",
        [Event::PrevoteStarted { term: Term(2) }];
    rule_fresh_leader_shields: FreshLeaderShields of S3,
        play::with_switch(stage(), Switch::Stickiness, "on"), "campaign s2\nrun 100ms",
        [Event::VoteRefused {
            candidate: S2,
            term: Term(2),
            why: VoteRefusal::LeaderFresh(S1),
        }];
    rule_leader_needs_quorum: LeaderNeedsQuorum of S1,
        play::with_switch(stage(), Switch::CheckQuorum, "on"), "partition s1 | s2 s3\nrun 3s",
        [Event::SteppedDown { term: Term(1) }];
    rule_told_to_stand: ToldToStand of S2, stage(), "transfer s1 -> s2\nrun 100ms",
        [Event::ElectionStarted { term: Term(2) }];
    rule_handover_brings_up_to_date: HandoverBringsUpToDate of S1, stage(), "transfer s1 -> s2",
        [Event::HandoverBegan { to: S2 }];
    rule_no_work_during_handover: NoWorkDuringHandover of S1, stage(),
        "crash s2\ntransfer s1 -> s2\nput c1 x \"1\"\nrun 100ms",
        [Event::WorkRefused { asker: C1, to: S2 }];
    rule_handover_has_its_time: HandoverHasItsTime of S1, stage(),
        "crash s2\ntransfer s1 -> s2\nrun 2s",
        [Event::HandoverGivenUp { to: S2 }];
    rule_vote_once_per_term: VoteOncePerTerm of S2,
        Setup { election_fixed: [1, 1, 3].map(Duration::secs).to_vec(), ..cold() }, "run 1.1s",
        [Event::VoteRefused { candidate: S1, term: Term(1), why: VoteRefusal::VotedFor(S2) }];
    rule_vote_for_up_to_date_log: VoteForUpToDateLog of S2, stage(),
        "cut s1 -> s3\nput c1 x \"1\"\nrun 1s\ncampaign s3\nrun 100ms",
        [Event::VoteRefused {
            candidate: S3,
            term: Term(2),
            why: VoteRefusal::LogBehind {
                own_term: Term(1),
                own_index: LogIndex(2),
                term: Term(1),
                index: LogIndex(1),
            },
        }];
    rule_damaged_log_does_not_vote: DamagedLogDoesNotVote of S2, stage(),
        "put c1 x \"1\"\nrun 1s\ncrash s2\ndisk s2 corrupt tail\nrestart s2\ncampaign s3\nrun 100ms",
        [Event::VoteRefused { candidate: S3, why: VoteRefusal::LogDamaged, .. }];
    rule_leader_repairs: LeaderRepairs of S2, stage(),
        "put c1 x \"1\"\nrun 1s\ncrash s2\ndisk s2 corrupt tail\nrestart s2\nrun 1s",
        [Event::LogRepaired { index: LogIndex(2) }];
    rule_majority_elects: MajorityElects of S1, cold(), "run 2s",
        [Event::BecameLeader { term: Term(1) }];
    rule_higher_term_wins: HigherTermWins of S1, stage(), "campaign s2\nrun 100ms",
        [Event::TermAdopted { from: Term(1), to: Term(2) }];
    rule_stale_term_refused: StaleTermRefused of S3, stage(), LEFT_ALONE,
        [Event::AppendRefused { leader: S1, why: AppendRefusal::OldTerm }];
    rule_leader_of_this_term: LeaderOfThisTerm of S3, stage(), "campaign s2\nrun 200ms",
        [Event::LeaderFollowed { leader: S2, term: Term(2) }];
    rule_late_reply_ignored: LateReplyIgnored of S1, cold(), "run 2s",
        [Event::ReplyIgnored { from: S3 }];
    rule_new_leader_appends_noop: NewLeaderAppendsNoop of S1, cold(), "run 2s",
        [Event::EntryAppended { index: LogIndex(1), term: Term(1), entry: EntryKind::Noop }];
    rule_heartbeat_keeps_authority: HeartbeatKeepsAuthority of S2, stage(), "run 1s",
        [Event::AppendMatched { leader: S1, upto: LogIndex(1) }];
    rule_leader_appends: LeaderAppends of S1, stage(), "put c1 x \"1\"\nrun 100ms",
        [Event::EntryAppended {
            index: LogIndex(2),
            term: Term(1),
            entry: EntryKind::Put { client: C1, key, value },
        } if (&**key, &**value) == ("x", "1")];
    rule_append_matches_previous: AppendMatchesPrevious of S2, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::EntriesStored { from: LogIndex(2), to: LogIndex(2) }];
    rule_append_needs_previous: AppendNeedsPrevious of S2, stage(),
        "cut s1 -> s2\nput c1 x \"1\"\nrun 1s\nheal\nrun 1s",
        [Event::AppendRefused {
            leader: S1,
            why: AppendRefusal::LogShort { last: LogIndex(1) },
        }];
    rule_conflict_is_replaced: ConflictIsReplaced of S1, stage(), LEFT_ALONE,
        [Event::EntriesRemoved { from: LogIndex(2) }];
    rule_leader_probes_back: LeaderProbesBack of S1, stage(),
        "cut s1 -> s2\nput c1 x \"1\"\nrun 1s\nheal\nrun 1s",
        [Event::ProbedBack { follower: S2, next: LogIndex(2) }];
    rule_ack_moves_match: AckMovesMatch of S1, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::MatchAdvanced { follower: S2, to: LogIndex(2) }];
    rule_commit_by_majority_of_this_term: CommitByMajorityOfThisTerm of S1, stage(),
        "put c1 x \"1\"\nrun 1s",
        [Event::CommitAdvanced { from: LogIndex(1), to: LogIndex(2) }];
    rule_commit_follows_leader: CommitFollowsLeader of S3, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::CommitAdvanced { from: LogIndex(1), to: LogIndex(2) }];
    rule_apply_in_order: ApplyInOrder of S3, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::EntryApplied {
            index: LogIndex(2),
            term: Term(1),
            entry: EntryKind::Put { client: C1, .. },
        }];
    rule_one_change_at_a_time: OneChangeAtATime of S1, with_spares(), "add s4",
        [Event::EntryAppended { index: LogIndex(2), entry: EntryKind::Config { .. }, .. }];
    rule_joint_first: JointFirst of S1, with_spares(), "reconfigure s3 s4 s5",
        [Event::EntryAppended { entry: EntryKind::Config { config }, .. } if config.is_joint()];
    rule_joint_is_left: JointIsLeft of S1, with_spares(), "reconfigure s3 s4 s5\nrun 1s",
        [Event::EntryAppended { entry: EntryKind::Config { config }, .. } if !config.is_joint()];
    rule_config_at_append: ConfigAtAppend of S2, with_spares(), "add s4\nrun 60ms",
        [Event::ConfigAdopted { config } if config.voters.len() == 4];
    rule_config_goes_with_entry: ConfigGoesWithEntry of S1, with_spares(),
        "partition s1 | s2 s3 s4 s5\nremove s3\nuntil s2 becomes leader\nheal\nrun 1s",
        [Event::ConfigAdopted { config } if config.voters.len() == 3];
    rule_removed_leader_steps_down: RemovedLeaderStepsDown of S1, with_spares(),
        "remove s1\nrun 1s",
        [Event::SteppedDown { term: Term(1) }];
    rule_snapshot_drops_applied: SnapshotDropsApplied of S1, stage(), "compact s1",
        [Event::LogCompacted { upto: LogIndex(1) }];
    rule_snapshot_for_who_lacks: SnapshotForWhoLacks of S1, stage(), BEHIND_THE_SNAPSHOT,
        [Event::SnapshotSent { follower: S2, upto: LogIndex(2) }];
    rule_snapshot_replaces_log: SnapshotReplacesLog of S2, stage(), BEHIND_THE_SNAPSHOT,
        [Event::SnapshotInstalled { leader: S1, upto: LogIndex(2) }];
    rule_old_snapshot_ignored: OldSnapshotIgnored of S2,
        Setup { duplication_ppm: 1_000_000, ..stage() }, BEHIND_THE_SNAPSHOT,
        [Event::SnapshotIgnored { leader: S1, upto: LogIndex(3) }];
    rule_only_leader_serves: OnlyLeaderServes of S1, stage(),
        "campaign s2\nuntil s2 leads\nrun 100ms\nput c1 x \"1\"\nrun 100ms",
        [Event::NotLeaderAnswered { asker: C1, hint: Some(S2) }];

    // Reads.
    rule_read_index_remembered: ReadIndexRemembered of S1, stage(), "get c1 x\nrun 1s",
        [Event::ReadReceived { asker: C1, index: LogIndex(1) }];
    rule_read_confirmed_by_majority: ReadConfirmedByMajority of S1, stage(), "get c1 x\nrun 1s",
        [Event::ReadConfirmed { asker: C1, index: LogIndex(1) }];
    rule_read_by_lease: ReadByLease of S1, Setup { lease_reads: true, ..stage() },
        "run 1s\nget c1 x\nrun 1s",
        [Event::ReadConfirmed { asker: C1, index: LogIndex(1) }];
    rule_follower_asks_for_index: FollowerAsksForIndex of S2, stage(), "get c1 x at s2\nrun 1s",
        [Event::ReadIndexAsked { leader: S1, client: C1 }];
    rule_read_when_applied: ReadWhenApplied of S2, stage(), READ_BEHIND,
        [Event::ReadWaits { client: C1, index: LogIndex(2) }];
    rule_stale_read_at_once: StaleReadAtOnce of S2, stage(), "get c1 x stale at s2\nrun 1s",
        [Event::ReadAnswered { client: C1, index: LogIndex(1), stale: true }];
    rule_session_floor: SessionFloor of S2, stage(),
        "put c1 x \"1\"\nuntil c1 is told accepted\nget c1 x stale at s2\nrun 1s",
        [Event::ReadWaits { client: C1, index: LogIndex(2) }];

    // Sessions.
    rule_session_first: SessionFirst of C1, one_session(), "put c1 x \"1\"",
        [Event::SessionAsked { server: S1, attempt: 1 }];
    rule_session_least_used_goes: SessionLeastUsedGoes of S3, one_session(), SESSION_LOST,
        [Event::SessionExpired { client: C1 }];
    rule_session_unknown_refused: SessionUnknownRefused of C1, one_session(), SESSION_LOST,
        [Event::RequestEnded { outcome: Outcome::Refused, .. }];

    // The lease service.
    rule_grant_when_free: GrantWhenFree of S1, stage(), "acquire A orders\nrun 1s",
        [Event::LeaseGranted { resource: LEASE, worker: A, token: Token(1) }];
    rule_queue_when_held: QueueWhenHeld of S1, contended(), "run 2s",
        [Event::WaiterQueued { resource: LEASE, worker: B, place: 1 }];
    rule_retry_is_answered_once: RetryIsAnsweredOnce of S1, stage(),
        "acquire A orders\nuntil A holds orders\ndrop s1>A#last\nrun 2s",
        [Event::RequestRepeated { asker: A, .. }];
    rule_renew_holder_only: RenewHolderOnly of S1, stage(), "acquire A orders\nrun 3s",
        [Event::RenewalConfirmed { worker: A, resource: LEASE, .. }];
    rule_renew_confirmed_by_majority: RenewConfirmedByMajority of S1, stage(),
        "acquire A orders\nrun 3s",
        [Event::RenewalReceived { worker: A, resource: LEASE }];
    rule_renew_refused_to_others: RenewRefusedToOthers of S1, stage(),
        // A asks at 0, holds at 200 ms, renews at 1.8 s; that renewal comes after A has given it back.
        "acquire A orders\nat 1.82s\ndelay A>s1#last 2s\nrelease A\nat 2.5s\nacquire B orders\nrun 3s",
        [Event::RenewalRefused { worker: A, resource: LEASE, why: RenewRefusal::NotHolder }];
    rule_expiry_by_leaders_clock: ExpiryByLeadersClock of S1, stage(),
        "acquire A orders\nuntil A holds orders\ncrash A\nrun 6s",
        [Event::ExpiryProposed { resource: LEASE, token: Token(1) }];
    rule_expiry_is_logged: ExpiryIsLogged of S1, stage(),
        "acquire A orders\nuntil A holds orders\ncrash A\nrun 6s",
        [Event::LeaseExpired { resource: LEASE, worker: A, token: Token(1) }];
    rule_release_by_holder: ReleaseByHolder of S1, stage(),
        "acquire A orders\nrun 1s\nrelease A\nrun 1s",
        [Event::LeaseReleased { resource: LEASE, worker: A, token: Token(1) }];
    rule_leave_queue: LeaveQueue of S1, contended(), "run 2s\nrelease B\nrun 1s",
        [Event::WaiterLeft { resource: LEASE, worker: B }];
    rule_waiter_must_be_heard: WaiterMustBeHeard of S1, contended(), "run 2s\npause B\nrun 6s",
        [Event::WaiterLeft { resource: LEASE, worker: B }];
    rule_lock_delay: LockDelay of S1,
        Setup { lock_delay: Duration::secs(2), ..stage() },
        "acquire A orders\nuntil A holds orders\ncrash A\nrun 9s",
        [Event::ResourceOpened { resource: LEASE }];
    rule_table_in_memory: TableInMemory of S1, in_memory(),
        "acquire A orders\nuntil A holds orders\ncrash s1\nrestart s1\nrun 3s",
        [Event::TableLost];
    rule_startup_quarantine: StartupQuarantine of S1, in_memory(),
        "acquire A orders\nuntil A holds orders\ncrash s1\nrestart s1\nrun 8s",
        [Event::ResourceOpened { resource: LEASE }];
    rule_operator_raises: OperatorRaises of S1, stage(), "raise orders 150\nrun 1s",
        [Event::TokenRaised { resource: LEASE, to: Token(150) }];
    rule_new_leader_rearms_leases: NewLeaderRearmsLeases of S2, stage(),
        "acquire A orders\nrun 1s\ncampaign s2\nuntil s2 leads",
        [Event::LeasesRearmed { count: 1 }];
    rule_put_is_applied: PutIsApplied of S2, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::PutApplied { client: C1, key, value, .. } if (&**key, &**value) == ("x", "1")];

    // Workers.
    rule_worker_asks_for_lease: WorkerAsksForLease of A, stage(), "acquire A orders",
        [Event::LeaseAsked { resource: LEASE, server: S1, attempt: 1, .. }];
    rule_ask_again: AskAgain of A, stage(), "cut s1 -> A\nacquire A orders\nrun 1s",
        [Event::LeaseAsked { resource: LEASE, server: S2, attempt: 2, .. }];
    rule_follow_hint: FollowHint of A, stage(),
        "acquire A orders\nuntil A holds orders\ndrop s1>A#last\nrun 1s",
        [Event::ServerTried { server: S1 }];
    rule_deadline_from_send_time: DeadlineFromSendTime of A, stage(), "acquire A orders\nrun 1s",
        // Asked at 0, known 200 ms later: of 5 s, 4.8 s are left.
        [Event::LeaseReceived { resource: LEASE, token: Token(1), left, .. }
            if *left == Duration::millis(4_800)];
    rule_wait_in_queue: WaitInQueue of B, contended(), "run 2s",
        [Event::QueuedForLease { resource: LEASE, place: 1 }];
    rule_renew_early: RenewEarly of A, stage(), "acquire A orders\nrun 2s",
        [Event::RenewalSent { resource: LEASE, server: S1 }];
    rule_renew_from_work: RenewFromWork of A,
        Setup { work: Duration::secs(60), work_max: Duration::secs(2), ..stage() },
        "acquire A orders\nrun 1s\nwrite A orders \"x\"\nrun 4s",
        [Event::RenewalWithheld { resource: LEASE }];
    rule_renewal_extends: RenewalExtends of A, stage(), "acquire A orders\nrun 3s",
        [Event::LeaseRenewed { resource: LEASE, token: Token(1), left, .. }
            if *left == Duration::millis(4_800)];
    rule_jeopardy_without_evidence: JeopardyWithoutEvidence of A, stage(),
        "acquire A orders\nrun 1s\ncut s1 -> A\nrun 2s",
        [Event::JeopardyBegan { resource: LEASE }];
    rule_evidence_ends_jeopardy: EvidenceEndsJeopardy of A, stage(),
        "acquire A orders\nrun 1s\ncut s1 -> A\nrun 2s\nheal\nrun 2s",
        [Event::JeopardyEnded { resource: LEASE }];
    rule_own_deadline_passed: OwnDeadlinePassed of A, stage(),
        "acquire A orders\nrun 1s\npartition A | s1 s2 s3\nrun 5s",
        [Event::LeaseLapsed { resource: LEASE, token: Token(1) }];
    rule_grace_after_deadline: GraceAfterDeadline of A,
        Setup { grace: Duration::secs(2), ..stage() },
        "acquire A orders\nrun 1s\npartition A | s1 s2 s3\nrun 5s",
        [Event::GraceBegan { resource: LEASE, token: Token(1) }];
    rule_told_it_is_lost: ToldItIsLost of A, stage(),
        // A's clock all but stands: it renews in time by its own count, and long after the expiry.
        "acquire A orders\nrun 1s\nclock A rate -90%\nrun 12s",
        [Event::LeaseLost { resource: LEASE, token: Token(1) }];
    rule_give_back: GiveBack of A, stage(), "acquire A orders\nrun 1s\nrelease A",
        [Event::LeaseGivenBack { resource: LEASE, token: Token(1) }];
    rule_check_own_deadline: CheckOwnDeadline of A, stage(),
        "acquire A orders\nrun 1s\nwrite A orders \"x\"",
        [Event::Checked { verdict: Verdict::Mine, token: Token(1) }];
    rule_check_own_role: CheckOwnRole of S1, stage(), "write s1 orders \"x\"",
        [Event::Checked { verdict: Verdict::Mine, token: Token(1) }];
    rule_no_check_no_write: NoCheckNoWrite of B, stage(), "write B orders \"x\"",
        [Event::WriteWithheld { store: ORDERS, value, verdict: Verdict::NotMine }
            if &**value == "x"];
    rule_write_carries_token: WriteCarriesToken of A, stage(),
        "acquire A orders\nrun 1s\nwrite A orders \"x\"\nrun 1s",
        [Event::WriteSent { store: ORDERS, token: Token(1), value, checked }
            if &**value == "x" && *checked == Duration::millis(300)];
    rule_claim_before_serving: ClaimBeforeServing of A,
        play::with_switch(stage(), Switch::ClaimFirst, "on"), "acquire A orders\nrun 1s",
        [Event::WriteSent { store: ORDERS, token: Token(1), value, .. } if &**value == "claim"];
    rule_store_answered: StoreAnswered of A, stage(),
        "acquire A orders\nrun 1s\nwrite A orders \"x\"\nrun 1s",
        [Event::WriteEnded { store: ORDERS, token: Token(1), outcome: Outcome::Accepted, .. }];
    rule_no_answer_is_unknown: NoAnswerIsUnknown of A, stage(),
        "acquire A orders\nrun 1s\ncut orders -> A\nwrite A orders \"x\"\nrun 2s",
        [Event::WriteEnded { store: ORDERS, token: Token(1), outcome: Outcome::Unknown, .. }];

    // Stores.
    rule_fence_accepts_not_lower: FenceAcceptsNotLower of ORDERS, stage(),
        "acquire A orders\nrun 1s\nwrite A orders \"x\"\nrun 1s",
        [Event::WriteAccepted { from: A, token: Token(1), highest: Token(0), value }
            if &**value == "x"];
    rule_fence_refuses_lower: FenceRefusesLower of ORDERS, stage(), ZOMBIE,
        [Event::WriteRefused { from: A, token: Token(1), highest: Token(2), value }
            if &**value == "late"];
    rule_fence_refuses_equal: FenceRefusesEqual of ORDERS,
        play::with_switch(stage(), Switch::FenceAllowsEqual, "off"),
        "acquire A orders\nrun 1s\nwrite A orders \"x\"\nwrite A orders \"y\"\nrun 2s",
        [Event::WriteRefused { from: A, token: Token(1), highest: Token(1), value }
            if &**value == "y"];
    rule_operation_takes_effect_once: OperationTakesEffectOnce of ORDERS, stage(),
        "acquire A orders\nrun 1s\nwrite A orders \"x\" op 7\nwrite A orders \"x\" op 7\nrun 2s",
        [Event::WriteRepeated { from: A, token: Token(1), op: OpId(7) }];
    rule_fence_observes: FenceObserves of ORDERS,
        play::with_switch(stage(), Switch::Fence, "observe"), ZOMBIE,
        [Event::StaleWriteObserved { from: A, token: Token(1), highest: Token(2), value }
            if &**value == "late"];
    rule_no_fence_accepts_all: NoFenceAcceptsAll of ORDERS,
        play::with_switch(stage(), Switch::Fence, "off"), ZOMBIE,
        [Event::WriteAccepted { from: A, token: Token(1), highest: Token(2), value }
            if &**value == "late"];
    rule_check_then_write: CheckThenWrite of ORDERS,
        play::with_switch(stage(), Switch::FenceAtomic, "off"), ZOMBIE,
        [Event::WriteChecked { from: B, token: Token(2), highest: Token(0) }];

    // Clients.
    rule_client_asks_leader: ClientAsksLeader of C1, stage(), "put c1 x \"1\"",
        [Event::RequestSent { server: S1, attempt: 1, .. }];
    rule_client_answered: ClientAnswered of C1, stage(), "put c1 x \"1\"\nrun 1s",
        [Event::RequestEnded { outcome: Outcome::Accepted, .. }];

    // Monitors.
    rule_invariant_watched: InvariantWatched of ORDERS,
        play::with_switch(stage(), Switch::Fence, "off"), ZOMBIE,
        [Event::InvariantBroken { invariant: Invariant::NoOlderToken, reason }
            if **reason == Reason::OlderTokenAccepted {
                store: ORDERS,
                from: A,
                token: Token(1),
                highest: Token(2),
                highest_from: B,
            }];
}

#[test]
fn every_rule_is_reached_by_the_test_that_bears_its_name() {
    let reached: Vec<Rule> = REACHED.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(reached, Rule::ALL, "in the order of the rules");
    for (name, rule) in REACHED {
        assert_eq!(*name, format!("rule_{}", rule.key().replace('-', "_")));
    }
}

#[test]
fn every_rule_has_a_key_of_its_own_and_a_source() {
    for (at, rule) in Rule::ALL.iter().enumerate() {
        assert!(!rule.source().is_empty(), "{rule:?}");
        let twin = Rule::ALL[..at]
            .iter()
            .find(|other| other.key() == rule.key());
        assert_eq!(twin, None, "{rule:?}");
    }
}

/// What a command gives a process to do is told even where it has to wait, or goes without a check.
#[test]
fn work_that_has_to_wait_is_told() {
    let play = Play::of(
        stage(),
        "acquire A orders
         until A believes it holds orders
         write A orders \"one\"
         write A orders \"two\"
         put c1 x \"1\"
         put c1 x \"2\"
         put c1 x \"3\"
         acquire B orders
         set check_before_write off at B
         write B orders \"unchecked\"",
    );
    play.expect(Rule::Commanded, Some(A), |event| {
        matches!(event, Event::WorkQueued { place: 1 })
    });
    play.expect(Rule::Commanded, Some(C1), |event| {
        matches!(event, Event::WorkQueued { place: 2 })
    });
    play.expect(Rule::Commanded, Some(B), |event| {
        matches!(event, Event::LeaseWanted { resource: LEASE })
    });
    play.expect(Rule::WriteCarriesToken, Some(B), |event| {
        let (store, token) = (ORDERS, Token(0));
        *event == Event::WriteUnchecked { store, token }
    });
}

// No change in silence ---------------------------------------------------------------------------

/// What a step may change of one process, beside its message links.
#[derive(Clone, PartialEq)]
struct Seen {
    process: Process,
    status: Status,
    clock: Clock,
    pause_armed: bool,
    waiting: usize,
}

impl Seen {
    fn of(world: &World, id: ProcessId) -> Self {
        Self {
            process: world.process(id).clone(),
            status: world.status(id),
            clock: world.clock(id).clone(),
            pause_armed: world.pause_armed(id),
            waiting: world.waiting_for(id),
        }
    }

    fn is_still(&self, world: &World, id: ProcessId) -> bool {
        self.status == world.status(id)
            && self.pause_armed == world.pause_armed(id)
            && self.waiting == world.waiting_for(id)
            && self.clock == *world.clock(id)
            && self.process == *world.process(id)
    }
}

/// A stream of draws: what a random run is made of.
struct Dice {
    seed: u64,
    count: u64,
}

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.count += 1;
        below(draw(self.seed, Purpose::Test, 0, self.count), n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

fn random_setup(dice: &mut Dice) -> Setup {
    let mut setup = Setup {
        seed: dice.seed,
        servers: [0, 1, 3, 3, 5][dice.below(5)],
        resources: vec!["orders".into(), "mail".into()],
        contend: !dice.one_in(3),
        after_first_election: !dice.one_in(3),
        loss_ppm: [0, 20_000, 200_000][dice.below(3)],
        duplication_ppm: [0, 50_000][dice.below(2)],
        sync: Duration::millis([0, 0, 5, 80][dice.below(4)]),
        latency_max: Duration::millis([60, 400][dice.below(2)]),
        client_attempts: 3,
        election_fixed: Vec::new(),
        lock_delay: Duration::secs([0, 0, 2][dice.below(3)]),
        grace: Duration::secs([0, 0, 3][dice.below(3)]),
        ..stage()
    };
    setup.table_in_memory = setup.servers == 1 && dice.one_in(2);
    for _ in 0..dice.below(4) {
        let switch = Switch::ALL[dice.below(Switch::ALL.len())];
        let position = match switch.initial() {
            Position::Off => Position::On,
            Position::Observe | Position::On => Position::Off,
        };
        let position = switch.word(position);
        setup.switches.push((switch.name().into(), position.into()));
    }
    setup
}

fn random_command(dice: &mut Dice) -> Command {
    const ALL: &[&str] = &["s1", "s2", "s3", "A", "B", "c1", "orders"];
    const WORKERS: &[&str] = &["A", "B"];
    let (one, other) = (dice.pick(ALL), dice.pick(ALL));
    let worker = dice.pick(WORKERS);
    let text = match dice.below(27) {
        0 | 1 => format!("pause {one}"),
        2 => format!("pause {worker} before send"),
        3 | 4 => format!("resume {one}"),
        5 => format!("crash {one}"),
        6 | 7 => format!("restart {one}"),
        8 => format!("partition {one} A | s2 c1"),
        9 => format!("cut {one} -> {other}"),
        10 => "heal".to_owned(),
        11 => format!("heal {one} <-> {other}"),
        12 => format!("latency {one} -> {other} 10ms 900ms"),
        13 => format!("clock {one} rate {}", dice.pick(&["+50%", "-50%", "+0%"])),
        14 => format!("clock {one} jump {}", dice.pick(&["-3s", "+3s"])),
        15 => format!("write {} orders \"w\"", dice.pick(&["A", "B", "s1", "s2"])),
        16 => format!("put c1 {} \"v\"", dice.pick(&["x", "y"])),
        17 => format!("acquire {worker} {}", dice.pick(&["orders", "mail"])),
        18 => format!("release {worker}"),
        19 => format!("campaign {}", dice.pick(&["s1", "s2", "s3"])),
        21 => format!("write {worker} orders \"w\" op {}", dice.pick(&["1", "2"])),
        22 | 23 => format!(
            "disk {} {}",
            dice.pick(&["s1", "s2", "s3", "orders"]),
            dice.pick(&[
                "stall 2s",
                "fail",
                "backup",
                "restore",
                "wipe",
                "corrupt tail",
                "lose vote",
                "lose tail 1",
            ])
        ),
        20 => format!("drop {one}>{other}#{}", 1 + dice.below(40)),
        24 => format!("transfer {} -> {}", dice.pick(ALL), dice.pick(ALL)),
        25 => format!("raise orders {}", dice.below(99)),
        _ => {
            let switch = Switch::ALL[dice.below(Switch::ALL.len())].name();
            format!("set {switch} {}", dice.pick(&["on", "off"]))
        }
    };
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// One random run; gives how many steps were looked at, and how many of them changed a process.
fn no_silent_change(seed: u64) -> (u64, u64) {
    let mut dice = Dice { seed, count: 0 };
    let setup = random_setup(&mut dice);
    let mut world = World::new(setup).unwrap();
    let ids: Vec<ProcessId> = world.names().ids().collect();
    let mut seen: Vec<Seen> = ids.iter().map(|id| Seen::of(&world, *id)).collect();
    let (mut steps, mut changes) = (0, 0);
    let mut step = Step::empty();
    for _ in 0..2_000 {
        let acted = dice.one_in(12) && {
            let command = random_command(&mut dice);
            world.apply(&command, &mut step).is_ok()
        };
        if !acted && !world.step(&mut step) {
            // Nothing is left to happen by itself.
            continue;
        }
        steps += 1;
        let told = step
            .events()
            .any(|event| !matches!(event, Event::MessageSent { .. }));
        for (id, seen) in ids.iter().zip(&mut seen) {
            if seen.is_still(&world, *id) {
                continue;
            }
            changes += 1;
            let name = world.names().name(*id);
            assert!(told, "seed {seed}: in silence, {name} changed in {step:?}");
            *seen = Seen::of(&world, *id);
        }
    }
    (steps, changes)
}

#[test]
fn a_step_that_changes_a_process_has_its_event_and_its_rule() {
    let (mut steps, mut changes) = (0, 0);
    for seed in 1..=400 {
        let (s, c) = no_silent_change(seed);
        (steps, changes) = (steps + s, changes + c);
    }
    println!("{steps} steps, {changes} changes of a process, none in silence");
    assert!(steps > 400_000 && changes > 200_000, "{steps} {changes}");
}
