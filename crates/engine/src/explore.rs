//! Search: every state that a model can reach, level by level, and a shortest way to what is looked for.
//!
//! Ripples from a stone: first what one move reaches, then what two reach, so that the first ring to
//! touch the shore took the shortest way. Nothing here knows what a state means; a [`Model`] does. There
//! are no threads, no clock and no randomness: the same model gives the same counts every time.
//! Liveness ("in the end …") is left out: only what is so in a state is looked at.

mod arena;
pub mod consensus;
pub mod leases;

use arena::{Arena, Place};

/// What can be searched: states, the moves between them, and what is looked for.
pub trait Model {
    type State;
    type Action: Clone;
    /// What was looked for, as it was found.
    type Finding: Clone;

    /// Where the search begins, in a fixed order.
    fn initial(&mut self) -> Vec<Self::State>;

    /// Adds the moves of a state, in a fixed order.
    fn actions(&mut self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state after a move; none if it lies beyond the model's bounds.
    fn next(&mut self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Adds the state's identity: states with the same bytes are one state.
    fn write(&self, state: &Self::State, bytes: &mut Vec<u8>);

    /// Inverse of [`Model::write`], for a state that was met: each is read once, in the order of meeting.
    fn read(&mut self, bytes: &[u8]) -> Self::State;

    /// A state was met for the first time; who cannot make it from its bytes keeps it here.
    fn entered(&mut self, _state: &Self::State) {}

    /// Whether this state is what is looked for.
    fn finding(&self, state: &Self::State) -> Option<Self::Finding>;

    /// The bytes that the model itself keeps while it is searched.
    fn memory(&self) -> u64 {
        0
    }

    /// What it may take on top for a moment, when one of its tables grows.
    fn headroom(&self) -> u64 {
        0
    }
}

/// Where a search gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub states: u64,
    /// Memory of the search and its model, in bytes.
    pub bytes: u64,
    /// Moves from the start.
    pub depth: u32,
}

/// Which limit ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    States,
    Memory,
    Depth,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<A, F> {
    /// Every state within the model's bounds was seen, and none is what was looked for.
    Closed,
    /// A shortest way from the start of number `start`.
    Found {
        start: usize,
        path: Vec<A>,
        finding: F,
    },
    LimitReached(Limit),
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Distinct states seen.
    pub states: u64,
    /// Moves tried.
    pub moves: u64,
    /// The level that is being reached: moves from the start.
    pub level: u32,
    /// States seen whose moves have not been tried.
    pub frontier: u64,
    /// Bytes in use by the search and its model.
    pub memory: u64,
}

/// A breadth-first search that goes on for as much as it is told to, and stops when it is dropped.
#[derive(Debug)]
pub struct Explorer<M: Model> {
    model: M,
    limits: Limits,
    seen: Arena,
    /// Whose moves are tried next: all before it are done.
    cursor: Place,
    /// Where the next level begins.
    level_end: Place,
    expanded: u64,
    progress: Progress,
    outcome: Option<Outcome<M::Action, M::Finding>>,
    actions: Vec<M::Action>,
    bytes: Vec<u8>,
}

impl<M: Model> Explorer<M> {
    pub fn new(mut model: M, limits: Limits) -> Self {
        let initial = model.initial();
        let mut explorer = Self {
            model,
            limits,
            seen: Arena::default(),
            cursor: Place::FIRST,
            level_end: Place::FIRST,
            expanded: 0,
            progress: Progress::default(),
            outcome: None,
            actions: Vec::new(),
            bytes: Vec::new(),
        };
        for state in &initial {
            explorer.meet(state, None);
        }
        explorer.level_end = explorer.seen.end();
        explorer.progress.level = 1;
        explorer.count();
        explorer
    }

    #[must_use]
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// The model, with all that it has learned: what moves mean in a way that was found.
    #[must_use]
    pub fn into_model(self) -> M {
        self.model
    }

    /// How it ended, once it has.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome<M::Action, M::Finding>> {
        self.outcome.as_ref()
    }

    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Tries about `moves` more moves, fewer if it ends.
    pub fn advance(&mut self, moves: u64) -> Progress {
        let until = self.progress.moves.saturating_add(moves);
        while self.outcome.is_none() && self.progress.moves < until {
            self.expand();
        }
        self.count();
        self.progress
    }

    /// Searches to the end.
    pub fn run(&mut self) -> &Outcome<M::Action, M::Finding> {
        while self.outcome.is_none() {
            self.advance(u64::MAX);
        }
        self.outcome.as_ref().expect("it has ended just now")
    }

    fn count(&mut self) {
        self.progress.states = self.seen.count();
        self.progress.frontier = self.seen.count() - self.expanded;
        self.progress.memory = self.memory();
    }

    fn memory(&self) -> u64 {
        self.seen.memory() + self.model.memory()
    }

    fn memory_with_one_more(&self, bytes: &[u8]) -> u64 {
        let model = self.model.memory() + self.model.headroom();
        model + self.seen.memory_with_one_more(bytes)
    }

    /// Tries every move of the next state.
    fn expand(&mut self) {
        self.cursor = self.seen.skip_gap(self.cursor);
        if self.cursor == self.seen.end() {
            self.outcome = Some(Outcome::Closed);
            return;
        }
        if self.cursor == self.level_end {
            if self.progress.level == self.limits.depth {
                self.outcome = Some(Outcome::LimitReached(Limit::Depth));
                return;
            }
            self.progress.level += 1;
            self.level_end = self.seen.end();
        }
        let place = self.cursor;
        let record = self.seen.record(place);
        let (state, after) = (self.model.read(record.bytes), record.after);
        self.cursor = after;
        self.expanded += 1;
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.model.actions(&state, &mut actions);
        for action in &actions {
            self.progress.moves += 1;
            if let Some(next) = self.model.next(&state, action) {
                self.meet(&next, Some(place));
                if self.outcome.is_some() {
                    break;
                }
            }
        }
        self.actions = actions;
    }

    /// Notes a state if it is new, and looks whether it is what is looked for.
    fn meet(&mut self, state: &M::State, from: Option<Place>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.model.write(state, &mut bytes);
        let finding = if self.seen.contains(&bytes) {
            None
        } else if self.limits.states <= self.seen.count() {
            self.outcome = Some(Outcome::LimitReached(Limit::States));
            None
        } else if self.limits.bytes < self.memory_with_one_more(&bytes) {
            self.outcome = Some(Outcome::LimitReached(Limit::Memory));
            None
        } else {
            let place = self.seen.insert(&bytes, from);
            self.model.entered(state);
            self.model.finding(state).map(|finding| (place, finding))
        };
        self.bytes = bytes;
        if let Some((place, finding)) = finding
            && self.outcome.is_none()
        {
            let (start, path) = self.way_to(place);
            self.outcome = Some(Outcome::Found {
                start,
                path,
                finding,
            });
        }
    }

    /// The moves that led to a state: for each step of the way, the first move that makes it.
    fn way_to(&mut self, place: Place) -> (usize, Vec<M::Action>) {
        let mut places = vec![place];
        while let Some(parent) = places.last().and_then(|p| self.seen.record(*p).parent) {
            places.push(parent);
        }
        places.reverse();
        let (mut path, mut actions, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let start = self.seen.records().position(|at| at == places[0]);
        let start = start.expect("ways begin at a start");
        let mut here = self.model.initial().swap_remove(start);
        for place in &places[1..] {
            let to = self.seen.record(*place).bytes;
            actions.clear();
            self.model.actions(&here, &mut actions);
            let step = actions.iter().find_map(|action| {
                bytes.clear();
                let next = self.model.next(&here, action)?;
                self.model.write(&next, &mut bytes);
                (bytes == to).then(|| (action.clone(), next))
            });
            let (action, next) = step.expect("a move led there before");
            path.push(action);
            here = next;
        }
        (start, path)
    }
}
