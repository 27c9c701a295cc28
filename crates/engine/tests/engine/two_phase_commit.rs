//! The search against a model whose counts are known: two-phase commit, as Gray and Lamport specify it.
//!
//! A wedding: the registrar asks everyone, and only when all have said yes are they married. The counts of
//! distinct states are those that TLC and stateright find for the same model; messages are never taken away.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use leasehold_engine::explore::{Explorer, Limit, Limits, Model, Outcome, Progress};

const NO_LIMITS: Limits = Limits {
    states: u64::MAX,
    bytes: 1 << 30,
    depth: u32::MAX,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Registrar {
    Init,
    Committed,
    Aborted,
}

/// Gray and Lamport, "Consensus on Transaction Commit", §3; sets of managers are bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    managers: Vec<Manager>,
    registrar: Registrar,
    heard_prepared: u8,
    said_prepared: u8,
    said_commit: bool,
    said_abort: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    RegistrarHears(usize),
    RegistrarCommits,
    RegistrarAborts,
    Prepare(usize),
    ChooseToAbort(usize),
    HearCommit(usize),
    HearAbort(usize),
}

/// `hasty`: the registrar does not wait for all.
#[derive(Clone, Copy, Debug)]
struct TwoPhaseCommit {
    managers: usize,
    hasty: bool,
}

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;
    /// Two managers that do not agree.
    type Finding = (usize, usize);

    fn initial(&mut self) -> Vec<State> {
        vec![State {
            managers: vec![Manager::Working; self.managers],
            registrar: Registrar::Init,
            heard_prepared: 0,
            said_prepared: 0,
            said_commit: false,
            said_abort: false,
        }]
    }

    fn actions(&mut self, state: &State, actions: &mut Vec<Action>) {
        let open = state.registrar == Registrar::Init;
        let all = (1 << self.managers) - 1;
        if open && (state.heard_prepared == all || self.hasty) {
            actions.push(Action::RegistrarCommits);
        }
        if open {
            actions.push(Action::RegistrarAborts);
        }
        for (at, manager) in state.managers.iter().enumerate() {
            if open && state.said_prepared & 1 << at != 0 {
                actions.push(Action::RegistrarHears(at));
            }
            if *manager == Manager::Working {
                actions.extend([Action::Prepare(at), Action::ChooseToAbort(at)]);
            }
            if state.said_commit {
                actions.push(Action::HearCommit(at));
            }
            if state.said_abort {
                actions.push(Action::HearAbort(at));
            }
        }
    }

    fn next(&mut self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::RegistrarHears(at) => next.heard_prepared |= 1 << at,
            Action::RegistrarCommits => {
                next.registrar = Registrar::Committed;
                next.said_commit = true;
            }
            Action::RegistrarAborts => {
                next.registrar = Registrar::Aborted;
                next.said_abort = true;
            }
            Action::Prepare(at) => {
                next.managers[at] = Manager::Prepared;
                next.said_prepared |= 1 << at;
            }
            Action::ChooseToAbort(at) | Action::HearAbort(at) => {
                next.managers[at] = Manager::Aborted;
            }
            Action::HearCommit(at) => next.managers[at] = Manager::Committed,
        }
        Some(next)
    }

    fn write(&self, state: &State, bytes: &mut Vec<u8>) {
        bytes.extend(state.managers.iter().map(|manager| *manager as u8));
        bytes.extend([
            state.registrar as u8,
            state.heard_prepared,
            state.said_prepared,
            u8::from(state.said_commit),
            u8::from(state.said_abort),
        ]);
    }

    fn read(&mut self, bytes: &[u8]) -> State {
        let (managers, rest) = bytes.split_at(self.managers);
        let manager = |byte: &u8| {
            [
                Manager::Working,
                Manager::Prepared,
                Manager::Committed,
                Manager::Aborted,
            ][usize::from(*byte)]
        };
        let registrar = [Registrar::Init, Registrar::Committed, Registrar::Aborted];
        State {
            managers: managers.iter().map(manager).collect(),
            registrar: registrar[usize::from(rest[0])],
            heard_prepared: rest[1],
            said_prepared: rest[2],
            said_commit: rest[3] != 0,
            said_abort: rest[4] != 0,
        }
    }

    fn finding(&self, state: &State) -> Option<(usize, usize)> {
        let at = |wanted| state.managers.iter().position(|m| *m == wanted);
        at(Manager::Committed).zip(at(Manager::Aborted))
    }
}

fn search(managers: usize, limits: Limits) -> (Outcome<Action, (usize, usize)>, Progress) {
    let model = TwoPhaseCommit {
        managers,
        hasty: false,
    };
    let mut explorer = Explorer::new(model, limits);
    while explorer.outcome().is_none() {
        explorer.advance(100);
    }
    (explorer.outcome().unwrap().clone(), explorer.progress())
}

#[test]
fn the_known_numbers_of_states_are_found_every_time() {
    for (managers, states) in [(3, 288), (4, 1_568), (5, 8_832)] {
        let (outcome, progress) = search(managers, NO_LIMITS);
        assert_eq!(outcome, Outcome::Closed);
        assert_eq!((progress.states, progress.frontier), (states, 0));
        assert_eq!(search(managers, NO_LIMITS), (outcome, progress));
    }
}

#[test]
fn a_registrar_that_does_not_wait_is_found_out_by_a_shortest_way() {
    let model = TwoPhaseCommit {
        managers: 3,
        hasty: true,
    };
    let mut explorer = Explorer::new(model, NO_LIMITS);
    let Outcome::Found { path, finding, .. } = explorer.run().clone() else {
        panic!("two managers disagree");
    };
    assert_eq!(
        path.len(),
        3,
        "nothing shorter makes two disagree: {path:?}"
    );
    let mut model = *explorer.model();
    let mut state = model.initial().remove(0);
    for action in &path {
        assert_eq!(model.finding(&state), None);
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        assert!(actions.contains(action));
        state = model.next(&state, action).unwrap();
    }
    assert_eq!(model.finding(&state), Some(finding));
}

#[test]
fn each_limit_ends_the_search_and_says_which_it_was() {
    let ends = |limits| search(5, limits);
    let (outcome, progress) = ends(Limits {
        states: 1_000,
        ..NO_LIMITS
    });
    assert_eq!(outcome, Outcome::LimitReached(Limit::States));
    assert_eq!(progress.states, 1_000);
    let (outcome, progress) = ends(Limits {
        bytes: 300_000,
        ..NO_LIMITS
    });
    assert_eq!(outcome, Outcome::LimitReached(Limit::Memory));
    assert!(progress.memory <= 300_000, "{progress:?}");
    let (outcome, progress) = ends(Limits {
        depth: 4,
        ..NO_LIMITS
    });
    assert_eq!(outcome, Outcome::LimitReached(Limit::Depth));
    assert_eq!(progress.level, 4);
    // As TLC says of three managers: the depth of the complete search is 11, the first state counted.
    let deep = |depth| search(3, Limits { depth, ..NO_LIMITS }).0;
    let deepest = (1..30).find(|depth| deep(*depth) == Outcome::Closed);
    assert_eq!(deepest, Some(11));
}
