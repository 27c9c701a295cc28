//! Makes a script that breaks an invariant short: what is not needed goes, what remains gets round numbers.
//!
//! An editor with one rule: the point must survive. Each proposal is played; it is taken only if it breaks
//! the same invariant and weighs less, so that the work comes to an end. The result is short, not shortest:
//! that is what a search over all schedules is for. (Zeller and Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", delta debugging.)

use crate::command::Command;
use crate::monitor::{Broken, Invariant};
use crate::setup::{Setup, SetupError};
use crate::switch::Switch;
use crate::timed_script::TimedScript;
use crate::units::{Duration, SimTime, SpanText};
use crate::world::World;

/// How long after the last command a shortened script may still take to break.
const SLACK: Duration = Duration::secs(10);
const SECOND: u64 = 1_000_000;
/// What [`Pass::Shorten`] tries.
const SHORT: [Duration; 7] = [
    Duration::millis(500),
    Duration::secs(1),
    Duration::secs(2),
    Duration::secs(5),
    Duration::secs(10),
    Duration::secs(20),
    Duration::secs(30),
];
/// More commands than these are not tried two at a time.
const PAIRS_AMONG_MAX: usize = 14;

/// What a command is to somebody who looks for a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Fault,
    /// What is done to a single message.
    Message,
    Work,
}

/// One kind of change; each is tried at every place before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Leaves out stretches of commands, half as long each time. None: of any class.
    Drop(Option<Class>),
    /// Leaves out one command and the time before it.
    Close,
    Pairs,
    Setup,
    /// One process cut off instead of many cuts.
    Isolate,
    Commands,
    /// No time before a command.
    Merge,
    /// A shorter span before a command.
    Shorten,
    /// Round spans between commands; the later ones move along.
    Gaps(u64),
    /// Round times of single commands.
    Moments(u64),
    Names,
}

const PASSES: &[Pass] = &[
    Pass::Drop(Some(Class::Fault)),
    Pass::Drop(Some(Class::Message)),
    Pass::Drop(Some(Class::Work)),
    Pass::Drop(None),
    Pass::Setup,
    Pass::Close,
    Pass::Pairs,
    Pass::Isolate,
    Pass::Commands,
    Pass::Merge,
    Pass::Shorten,
    Pass::Gaps(5 * SECOND),
    Pass::Gaps(SECOND),
    Pass::Gaps(SECOND / 2),
    Pass::Gaps(SECOND / 10),
    Pass::Moments(SECOND / 10),
    Pass::Gaps(SECOND / 100),
    Pass::Moments(SECOND / 100),
    Pass::Gaps(SECOND / 1_000),
    Pass::Names,
];

/// What stands at one place of a pass.
enum Proposal {
    Try(Box<TimedScript>),
    Nothing,
    /// The pass has no such place.
    Over,
}

/// Shortens one script, as far as it is told to.
#[derive(Clone, Debug)]
pub struct Shrinker {
    script: TimedScript,
    invariant: Invariant,
    /// Switches that are set: with these where they start, no candidate may break anything.
    set: Vec<Switch>,
    broken: Broken,
    /// How many steps the script takes to break it.
    steps: u64,
    replays: u64,
    replays_max: u64,
    pass: usize,
    at: usize,
    /// How many commands [`Pass::Drop`] leaves out at once; 0 before it has begun.
    size: usize,
    /// Whether this round of passes has changed something.
    changed: bool,
    done: bool,
}

impl Shrinker {
    /// `script` breaks `invariant`; scripts are played at most `replays` times. If the script breaks nothing
    /// with the switches in `set` where they start, the short one breaks nothing either: they alone decide.
    ///
    /// # Errors
    /// What is wrong with the script's setup.
    ///
    /// # Panics
    /// If the script breaks no such thing.
    pub fn new(
        script: TimedScript,
        invariant: Invariant,
        set: Vec<Switch>,
        replays: u64,
    ) -> Result<Self, SetupError> {
        let world = script.play_while(|_, world| world.broken(invariant).is_none())?;
        let broken = world.broken(invariant).cloned();
        let broken = broken.expect("a run plays again as it was");
        let decide = !set.is_empty() && is_sound_without(&script, &set);
        Ok(Self {
            set: if decide { set } else { Vec::new() },
            script: TimedScript {
                end: end_of(&script, &broken),
                ..script
            },
            invariant,
            broken,
            steps: world.step_count().0,
            replays: 1,
            replays_max: replays,
            pass: 0,
            at: 0,
            size: 0,
            changed: false,
            done: false,
        })
    }

    /// The shortest so far.
    #[must_use]
    pub const fn script(&self) -> &TimedScript {
        &self.script
    }

    #[must_use]
    pub const fn invariant(&self) -> Invariant {
        self.invariant
    }

    #[must_use]
    pub const fn broken(&self) -> &Broken {
        &self.broken
    }

    #[must_use]
    pub const fn replays(&self) -> u64 {
        self.replays
    }

    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// Plays proposals for about `steps` steps, and says how many it took: at most one replay more.
    pub fn advance(&mut self, steps: u64) -> u64 {
        let mut taken = 0;
        while !self.done && taken < steps {
            match self.propose() {
                Proposal::Try(candidate) => taken += self.judge(*candidate),
                Proposal::Nothing => self.at += 1,
                Proposal::Over => self.next_pass(),
            }
            self.done |= self.replays_max <= self.replays;
        }
        taken
    }

    fn next_pass(&mut self) {
        if let Pass::Drop(class) = PASSES[self.pass]
            && self.size != 1
            && !self.of_class(class).is_empty()
        {
            self.size = if self.size == 0 {
                self.of_class(class).len()
            } else {
                self.size / 2
            };
            self.at = 0;
            return;
        }
        (self.at, self.size) = (0, 0);
        self.pass += 1;
        if self.pass == PASSES.len() {
            self.done = !self.changed;
            (self.pass, self.changed) = (0, false);
        }
    }

    /// Plays a candidate and takes it if it is better; gives the steps that took.
    fn judge(&mut self, mut candidate: TimedScript) -> u64 {
        self.replays += 1;
        let last = candidate.commands.last().map_or(SimTime(0), |(at, _)| *at);
        let tail = self.script.end.since(last_of(&self.script));
        candidate.end = last.plus(tail).plus(SLACK);
        let steps_max = self.steps * 2 + 2_000;
        let world = candidate.play_while(|step, world| {
            world.broken(self.invariant).is_none() && step.number.0 < steps_max
        });
        // What does not validate is no better.
        let Ok(world) = world else {
            self.at += 1;
            return 1;
        };
        let steps = world.step_count().0;
        if let Some(broken) = world.broken(self.invariant) {
            candidate.end = end_of(&candidate, broken);
            if weight(&candidate) < weight(&self.script)
                && (self.set.is_empty() || is_sound_without(&candidate, &self.set))
            {
                self.replays += u64::from(!self.set.is_empty());
                self.broken = broken.clone();
                self.steps = steps;
                self.script = candidate;
                self.changed = true;
                return steps;
            }
        }
        self.at += 1;
        steps
    }

    fn propose(&self) -> Proposal {
        let commands = &self.script.commands;
        match PASSES[self.pass] {
            Pass::Drop(class) => self.dropping(class),
            Pass::Close if self.at < commands.len() => {
                let gap = self.gap(self.at);
                let mut script = self.moved(self.at, gap, Duration::ZERO);
                script.commands.remove(self.at);
                Proposal::Try(Box::new(script))
            }
            Pass::Pairs => self.without_pair(),
            Pass::Setup => match setups(&self.script.setup).into_iter().nth(self.at) {
                Some(setup) => self.with(|script| script.setup = setup),
                None => Proposal::Over,
            },
            Pass::Isolate => self.isolating(),
            Pass::Commands => {
                let simpler = commands
                    .iter()
                    .enumerate()
                    .flat_map(|(place, (_, command))| {
                        let all = simpler(command).into_iter();
                        all.map(move |command| (place, command))
                    });
                match simpler.into_iter().nth(self.at) {
                    Some((place, command)) => {
                        self.with(|script| script.commands[place].1 = command)
                    }
                    None => Proposal::Over,
                }
            }
            Pass::Merge if self.at < commands.len() => {
                self.with_gap(self.at, self.gap(self.at), Duration::ZERO)
            }
            Pass::Shorten if self.at / SHORT.len() < commands.len() => {
                let (place, to) = (self.at / SHORT.len(), SHORT[self.at % SHORT.len()]);
                let gap = self.gap(place);
                self.with_gap(place, gap, gap.min(to))
            }
            Pass::Gaps(unit) if self.at / 2 < commands.len() => {
                let (place, gap) = (self.at / 2, self.gap(self.at / 2));
                self.with_gap(place, gap, rounded(gap, unit, self.at % 2 == 1))
            }
            Pass::Moments(unit) if self.at / 2 < commands.len() => self.with_moment(unit),
            Pass::Names => self.renamed(),
            Pass::Close | Pass::Merge | Pass::Shorten | Pass::Gaps(_) | Pass::Moments(_) => {
                Proposal::Over
            }
        }
    }

    fn with(&self, change: impl FnOnce(&mut TimedScript)) -> Proposal {
        let mut script = self.script.clone();
        change(&mut script);
        if script == self.script {
            Proposal::Nothing
        } else {
            Proposal::Try(Box::new(script))
        }
    }

    fn of_class(&self, class: Option<Class>) -> Vec<usize> {
        let all = self.script.commands.iter().enumerate();
        let of_class = all.filter(|(_, (_, command))| class.is_none_or(|c| c == class_of(command)));
        of_class.map(|(place, _)| place).collect()
    }

    /// Without the commands of this class from `at` on, `size` of them.
    fn dropping(&self, class: Option<Class>) -> Proposal {
        let places = self.of_class(class);
        let Some(gone) = places.get(self.at * self.size..).filter(|_| self.size != 0) else {
            return Proposal::Over;
        };
        let gone = &gone[..gone.len().min(self.size)];
        if gone.is_empty() {
            return Proposal::Over;
        }
        self.with(|script| {
            let mut place = 0;
            script.commands.retain(|_| {
                place += 1;
                !gone.contains(&(place - 1))
            });
        })
    }

    fn without_pair(&self) -> Proposal {
        let count = self.script.commands.len();
        if PAIRS_AMONG_MAX < count || count * count <= self.at {
            return Proposal::Over;
        }
        let (first, second) = (self.at / count, self.at % count);
        if second <= first {
            return Proposal::Nothing;
        }
        self.with(|script| {
            script.commands.remove(second);
            script.commands.remove(first);
        })
    }

    /// Where several links are cut, one process cut off from all others may do.
    fn isolating(&self) -> Proposal {
        let is_cut = |command: &Command| {
            matches!(
                command,
                Command::Cut { .. } | Command::Partition { .. } | Command::Loss { .. }
            )
        };
        let cuts = self.script.commands.iter().filter(|(_, c)| is_cut(c));
        let Some(names) = self
            .script
            .setup
            .validate()
            .ok()
            .filter(|_| 2 <= cuts.count())
        else {
            return Proposal::Over;
        };
        if names.count() <= self.at {
            return Proposal::Over;
        }
        let (alone, others): (Vec<_>, Vec<_>) =
            names.ids().partition(|id| usize::from(id.0) == self.at);
        let named = |ids: Vec<_>| {
            ids.into_iter()
                .map(|id| names.name(id).to_owned())
                .collect()
        };
        let groups = vec![named(alone), named(others)];
        self.with(|script| {
            let mut placed = false;
            for (_, command) in &mut script.commands {
                if !placed && is_cut(command) {
                    *command = Command::Partition {
                        groups: groups.clone(),
                    };
                    placed = true;
                }
            }
            let isolates =
                |c: &Command| matches!(c, Command::Partition { groups: g } if *g == groups);
            let mut seen = false;
            script.commands.retain(|(_, command)| {
                let keeps = !is_cut(command) || (!seen && isolates(command));
                seen |= isolates(command);
                keeps
            });
        })
    }

    // Times ---------------------------------------------------------------------------------

    /// The span before a command.
    fn gap(&self, place: usize) -> Duration {
        let commands = &self.script.commands;
        let before = place.checked_sub(1).map_or(SimTime(0), |at| commands[at].0);
        commands[place].0.since(before)
    }

    /// With `to` instead of `gap` before the command at `place`; all that follows moves along.
    fn moved(&self, place: usize, gap: Duration, to: Duration) -> TimedScript {
        let mut script = self.script.clone();
        for (at, _) in &mut script.commands[place..] {
            at.0 = at.0 - gap.0 + to.0;
        }
        script
    }

    fn with_gap(&self, place: usize, gap: Duration, to: Duration) -> Proposal {
        if gap == to {
            Proposal::Nothing
        } else {
            Proposal::Try(Box::new(self.moved(place, gap, to)))
        }
    }

    fn with_moment(&self, unit: u64) -> Proposal {
        let commands = &self.script.commands;
        let place = self.at / 2;
        let at = commands[place].0;
        let to = SimTime(rounded(Duration(at.0), unit, self.at % 2 == 1).0);
        let low = place.checked_sub(1).map_or(SimTime(0), |p| commands[p].0);
        let high = commands.get(place + 1).map_or(SimTime(u64::MAX), |c| c.0);
        if at == to || to < low || high < to {
            return Proposal::Nothing;
        }
        self.with(|script| script.commands[place].0 = to)
    }

    /// The first workers of the alphabet.
    fn renamed(&self) -> Proposal {
        let workers = &self.script.setup.workers;
        let Some(old) = workers.get(self.at) else {
            return Proposal::Over;
        };
        let new = ["A", "B", "C", "D"].get(self.at).copied().unwrap_or(old);
        if workers.iter().any(|name| name == new) {
            return Proposal::Nothing;
        }
        let commands = self.script.commands.iter();
        let renamed: Option<Vec<(SimTime, Command)>> = commands
            .map(|(at, command)| {
                let text = with_name(&command.to_string(), old, new);
                Some((*at, text.parse().ok()?))
            })
            .collect();
        let Some(renamed) = renamed else {
            return Proposal::Nothing;
        };
        self.with(|script| {
            new.clone_into(&mut script.setup.workers[self.at]);
            script.commands = renamed;
        })
    }
}

/// Whether a script breaks nothing with these switches where they start.
fn is_sound_without(script: &TimedScript, set: &[Switch]) -> bool {
    let mut script = script.clone();
    let is_set = |name: &str| set.iter().any(|switch| switch.name() == name);
    script.setup.switches.retain(|(name, _)| !is_set(name));
    let is_sound = |world: &World| {
        let mut all = Invariant::ALL.iter();
        all.all(|invariant| world.broken(*invariant).is_none())
    };
    let world = script.play_while(|_, world| is_sound(world));
    world.is_ok_and(|world| is_sound(&world))
}

/// A round moment by which it has broken, with the last command's own consequences.
fn end_of(script: &TimedScript, broken: &Broken) -> SimTime {
    let after = last_of(script).plus(Duration::micros(1)).max(broken.at);
    SimTime(rounded(Duration(after.0), SECOND / 10, true).0)
}

fn last_of(script: &TimedScript) -> SimTime {
    script.commands.last().map_or(SimTime(0), |(at, _)| *at)
}

fn rounded(span: Duration, unit: u64, up: bool) -> Duration {
    let whole = span.0 / unit + u64::from(up && !span.0.is_multiple_of(unit));
    Duration(whole * unit)
}

/// Each word of a line that is `old` becomes `new`.
fn with_name(line: &str, old: &str, new: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        text.push_str(if word == old { new } else { word });
        let end = after.find(is_part).unwrap_or(after.len());
        let (between, after) = after.split_at(end);
        text.push_str(between);
        rest = after;
    }
    text
}

/// What a script costs its reader; less is better. The number of commands counts first, then the setup.
#[must_use]
pub fn weight(script: &TimedScript) -> [u64; 5] {
    let setup = &script.setup;
    let lists = [
        &setup.workers,
        &setup.clients,
        &setup.stores,
        &setup.resources,
    ];
    let names = || lists.iter().flat_map(|list| list.iter());
    let processes = u64::from(setup.servers + setup.spares) + names().count() as u64;
    let unusual = setups(setup).len() as u64 + setup.switches.len() as u64;
    let letters = names().flat_map(|name| name.bytes()).map(u64::from).sum();
    let mut before = SimTime(0);
    let mut text = 0;
    for (at, command) in &script.commands {
        text += command.to_string().len() + SpanText(at.since(before)).to_string().len();
        before = *at;
    }
    let commands = script.commands.len() as u64;
    [
        commands,
        processes * 8 + unusual,
        letters,
        text as u64,
        script.end.0,
    ]
}

macro_rules! settings {
    ($setup:ident, $all:ident, kept: $($kept:ident)*, usual: $($field:ident)*) => {
        // No `..`: a new field belongs to one of the two lists.
        let Setup { $($kept: _,)* $($field: _,)* } = $setup;
        let usual = Setup::default();
        $(if $setup.$field != usual.$field {
            $all.push(Setup { $field: usual.$field.clone(), ..$setup.clone() });
        })*
    };
}

/// Setups that are simpler in one thing.
fn setups(setup: &Setup) -> Vec<Setup> {
    let mut all = Vec::new();
    for servers in [0, 1, 3].into_iter().filter(|n| *n < setup.servers) {
        let mut fewer = Setup {
            servers,
            ..setup.clone()
        };
        fewer.election_fixed.truncate(usize::from(servers));
        all.push(fewer);
    }
    let lists: [fn(&mut Setup) -> &mut Vec<String>; 3] = [
        |setup| &mut setup.workers,
        |setup| &mut setup.clients,
        |setup| &mut setup.stores,
    ];
    for list in lists {
        for place in (0..list(&mut setup.clone()).len()).rev() {
            let mut fewer = setup.clone();
            list(&mut fewer).remove(place);
            all.push(fewer);
        }
    }
    for place in 0..setup.switches.len() {
        let mut fewer = setup.clone();
        fewer.switches.remove(place);
        all.push(fewer);
    }
    for seed in (1..=9).filter(|_| 9 < setup.seed) {
        all.push(Setup {
            seed,
            ..setup.clone()
        });
    }
    settings!(setup, all,
        kept: seed servers workers clients stores switches,
        usual: spares resources untimed contend after_first_election lease renew_every answer_timeout work store_delay
            latency_min latency_max loss_ppm duplication_ppm heartbeat election_min election_max
            election_fixed sync client_timeout client_attempts drift_ppm
            lease_reads sessions_max append_batch append_window snapshot_every grace lock_delay
            work_max
            table_in_memory write_attempts);
    // What only makes sense together.
    let usual = Setup::default();
    if (setup.lease, setup.renew_every) != (usual.lease, usual.renew_every) {
        all.push(Setup {
            lease: usual.lease,
            renew_every: usual.renew_every,
            ..setup.clone()
        });
    }
    all
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all others are faults")]
const fn class_of(command: &Command) -> Class {
    match command {
        Command::Drop { .. }
        | Command::Deliver { .. }
        | Command::Duplicate { .. }
        | Command::Delay { .. } => Class::Message,
        Command::Write { .. }
        | Command::Put { .. }
        | Command::Get { .. }
        | Command::Acquire { .. }
        | Command::Release { .. } => Class::Work,
        _ => Class::Fault,
    }
}

/// The same command with rounder numbers or less in it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most commands are as simple as can be"
)]
fn simpler(command: &Command) -> Vec<Command> {
    let spans = |span: Duration| {
        let units = [5 * SECOND, SECOND, SECOND / 10, SECOND / 100, 1_000];
        let rounded = units
            .into_iter()
            .flat_map(move |unit| [rounded(span, unit, false), rounded(span, unit, true)]);
        rounded.filter(move |round| *round != span && *round != Duration::ZERO)
    };
    match command {
        Command::PauseBeforeSend { process } => vec![Command::Pause {
            process: process.clone(),
        }],
        Command::Partition { groups } => smaller_groups(groups),
        Command::Cut { from, to, both } if *both => {
            let one_way = |from: &String, to: &String| Command::Cut {
                from: from.clone(),
                to: to.clone(),
                both: false,
            };
            vec![one_way(from, to), one_way(to, from)]
        }
        Command::Loss { from, to, .. } => vec![Command::Cut {
            from: from.clone(),
            to: to.clone(),
            both: false,
        }],
        Command::Latency { from, to, min, max } => {
            let all = [*min, *max]
                .into_iter()
                .chain(spans(*min))
                .chain(spans(*max));
            all.map(|span| Command::Latency {
                from: from.clone(),
                to: to.clone(),
                min: span,
                max: span,
            })
            .filter(|simpler| simpler != command)
            .collect()
        }
        Command::Delay { message, by } => spans(*by)
            .map(|by| Command::Delay {
                message: message.clone(),
                by,
            })
            .collect(),
        Command::ClockRate { process, ppm } => [500_000, 900_000, 1_100_000, 1_500_000, 2_000_000]
            .into_iter()
            .filter(|round| round != ppm)
            .map(|ppm| Command::ClockRate {
                process: process.clone(),
                ppm,
            })
            .collect(),
        Command::ClockJump { process, micros } => spans(Duration(micros.unsigned_abs()))
            .map(|span| Command::ClockJump {
                process: process.clone(),
                micros: i64::try_from(span.0).unwrap_or(i64::MAX) * micros.signum(),
            })
            .collect(),
        Command::Write {
            process,
            store,
            value,
            op,
        } if value != "1" => vec![Command::Write {
            process: process.clone(),
            store: store.clone(),
            value: "1".to_owned(),
            op: *op,
        }],
        Command::Put { client, key, value } if (key.as_str(), value.as_str()) != ("x", "1") => {
            vec![Command::Put {
                client: client.clone(),
                key: "x".to_owned(),
                value: "1".to_owned(),
            }]
        }
        _ => Vec::new(),
    }
}

/// Partitions with one name less.
fn smaller_groups(groups: &[Vec<String>]) -> Vec<Command> {
    let mut all = Vec::new();
    for (group, names) in groups.iter().enumerate() {
        for place in 0..names.len() {
            let mut groups = groups.to_vec();
            groups[group].remove(place);
            groups.retain(|names| !names.is_empty());
            if 2 <= groups.len() {
                all.push(Command::Partition { groups });
            }
        }
    }
    all
}
