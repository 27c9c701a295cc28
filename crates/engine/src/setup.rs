//! What a world is made of: who is in it, how long things take, which switches start off.
//!
//! The cast list and the stage directions before the play begins. A setup that does not validate
//! never becomes a world; what a learner changes later is a command.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::switch::{Position, Switch};
use crate::units::{Duration, ProcessId, ProcessSet, ResourceId};

/// The most processes of one kind, and in all: what the stage can show and a [`ProcessSet`] can hold.
pub const SERVERS_MAX: usize = 7;
pub const WORKERS_MAX: usize = 8;
pub const CLIENTS_MAX: usize = 4;
pub const STORES_MAX: usize = 4;
pub const RESOURCES_MAX: usize = 8;
const NAME_LENGTH_MAX: usize = 24;

/// Everything that decides a run, but for the commands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    pub seed: u64,
    /// The number of servers of the lease service: 0, or an odd number; named s1, s2, …
    pub servers: u8,
    /// More servers, named on after those, that take no part until they are added.
    pub spares: u8,
    pub workers: Vec<String>,
    pub clients: Vec<String>,
    pub stores: Vec<String>,
    /// What can be held. Empty means: the first store's name, or "lease" without a store.
    pub resources: Vec<String>,
    /// Whether workers ask for the first resource by themselves.
    pub contend: bool,
    /// Whether time zero follows the first election, with everyone quiet.
    pub after_first_election: bool,
    pub lease: Duration,
    /// How long a holder waits between renewals.
    pub renew_every: Duration,
    /// How long a holder goes on asking after its own deadline, and does nothing meanwhile; zero: it gives up.
    pub grace: Duration,
    /// How long nobody gets a resource after an expiry; zero: the next in line gets it at once.
    pub lock_delay: Duration,
    /// Whether a service of one server keeps its leases in memory only, so that a restart forgets them.
    pub table_in_memory: bool,
    /// How long a worker waits for an answer of the service before it tries again.
    pub answer_timeout: Duration,
    /// From a worker's check to its send.
    pub work: Duration,
    /// A holder whose work in hand has taken longer renews no more until it is done; zero: it renews whatever
    /// its work does.
    pub work_max: Duration,
    /// From a store's check to its write, where the two are not one step.
    pub store_delay: Duration,
    pub latency_min: Duration,
    pub latency_max: Duration,
    /// Messages lost and duplicated, in parts per million.
    pub loss_ppm: u32,
    pub duplication_ppm: u32,
    pub heartbeat: Duration,
    pub election_min: Duration,
    pub election_max: Duration,
    /// Fixed election timeouts, one a server; empty means drawn from the range.
    pub election_fixed: Vec<Duration>,
    /// How much faster one clock may run than another, in parts per million, as every process takes it for
    /// granted: "clock drift bound" in Ongaro's dissertation §6.4.1. Zero: all clocks have one rate.
    pub drift_ppm: u32,
    /// Nothing happens by itself after time zero: a message waits for `deliver`, a timer for `ring`.
    pub untimed: bool,
    /// The most entries in one append.
    pub append_batch: u32,
    /// The most appends with entries on their way to one server, of which a leader that does not know where
    /// the logs agree has one; 0: no limit.
    pub append_window: u32,
    /// How long a sync to disk takes; zero means durable at once.
    pub sync: Duration,
    /// Entries applied between a server's snapshots; 0 for none but by command.
    pub snapshot_every: u32,
    pub client_timeout: Duration,
    /// How often a client asks before it calls the outcome unknown.
    pub client_attempts: u32,
    /// Whether a leader answers reads without a round while its lease on the followers runs. It is safe where
    /// followers do not vote for another while they hear a leader (stickiness).
    pub lease_reads: bool,
    /// How many clients' sessions the service keeps; 0 for all, and then none needs to be opened.
    pub sessions_max: u32,
    /// How often a write is sent before its outcome is called unknown.
    pub write_attempts: u32,
    /// Switches that do not start on.
    pub switches: Vec<(String, String)>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            servers: 3,
            spares: 0,
            workers: Vec::new(),
            clients: Vec::new(),
            stores: Vec::new(),
            resources: Vec::new(),
            contend: true,
            after_first_election: true,
            lease: Duration::secs(5),
            renew_every: Duration::millis(1_600),
            grace: Duration::ZERO,
            lock_delay: Duration::ZERO,
            table_in_memory: false,
            answer_timeout: Duration::millis(600),
            work: Duration::millis(300),
            work_max: Duration::ZERO,
            store_delay: Duration::millis(200),
            latency_min: Duration::millis(40),
            latency_max: Duration::millis(60),
            loss_ppm: 0,
            duplication_ppm: 0,
            heartbeat: Duration::millis(300),
            election_min: Duration::millis(1_500),
            election_max: Duration::secs(3),
            election_fixed: Vec::new(),
            drift_ppm: 0,
            untimed: false,
            append_batch: 64,
            append_window: 0,
            sync: Duration::ZERO,
            snapshot_every: 0,
            client_timeout: Duration::secs(1),
            client_attempts: 4,
            lease_reads: false,
            sessions_max: 0,
            write_attempts: 1,
            switches: Vec::new(),
        }
    }
}

/// What is wrong with a setup. Each names the field as the `world` block of a lesson spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// Servers must be 0, 1, 3, 5 or 7: an even number survives no more crashes than one less.
    Servers {
        given: u8,
    },
    TooMany {
        field: &'static str,
        given: usize,
        most: usize,
    },
    /// Names are a letter, then letters, digits or `_`, and are not a server's or a word of the languages.
    Name {
        field: &'static str,
        given: String,
    },
    NameTwice {
        given: String,
    },
    /// Outside `low..=high`.
    Span {
        field: &'static str,
        given: Duration,
        low: Duration,
        high: Duration,
    },
    /// The lower end of a range is above its upper end.
    Range {
        field: &'static str,
        low: Duration,
        high: Duration,
    },
    Ppm {
        field: &'static str,
        given: u32,
    },
    /// With more than one server the others have the table.
    TableInMemory {
        servers: u8,
    },
    /// `election_fixed` must have one entry a server, or none.
    ElectionFixed {
        given: usize,
        servers: u8,
    },
    /// A number outside `low..=high`.
    Count {
        field: &'static str,
        given: u32,
        low: u32,
        high: u32,
    },
    Switch {
        given: String,
    },
    SwitchPosition {
        switch: Switch,
        given: String,
    },
    /// Nobody is in it.
    Empty,
}

/// Words that cannot be names, because commands and claims use them.
const RESERVED: &[&str] = &[
    "it", "nobody", "some", "server", "holds", "does", "not", "with", "token", "and", "while",
    "until", "run", "stop", "before", "send", "at", "after", "between", "within", "term", "key",
    "service",
];

impl Setup {
    /// Checks everything and gives the names.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<Names, SetupError> {
        if self.servers != 0
            && (self.servers.is_multiple_of(2) || usize::from(self.servers) > SERVERS_MAX)
        {
            return Err(SetupError::Servers {
                given: self.servers,
            });
        }
        let names = Names::of(self)?;
        self.validate_spans()?;
        if !self.election_fixed.is_empty() && self.election_fixed.len() != self.servers_in_all() {
            return Err(SetupError::ElectionFixed {
                given: self.election_fixed.len(),
                servers: self.servers_in_all() as u8,
            });
        }
        for (field, given) in [
            ("loss_ppm", self.loss_ppm),
            ("duplication_ppm", self.duplication_ppm),
            ("drift_ppm", self.drift_ppm),
        ] {
            if given > 1_000_000 {
                return Err(SetupError::Ppm { field, given });
            }
        }
        if self.table_in_memory && self.servers != 1 {
            return Err(SetupError::TableInMemory {
                servers: self.servers,
            });
        }
        for (field, given, low, high) in [
            ("client_attempts", self.client_attempts, 1, 100),
            ("write_attempts", self.write_attempts, 1, 100),
            ("append_batch", self.append_batch, 1, 1_000),
            ("append_window", self.append_window, 0, 1_000),
        ] {
            if given < low || high < given {
                return Err(SetupError::Count {
                    field,
                    given,
                    low,
                    high,
                });
            }
        }
        self.positions()?;
        Ok(names)
    }

    const fn servers_in_all(&self) -> usize {
        self.servers as usize + self.spares as usize
    }

    /// The shortest time after which some server may stand: how long a heard leader counts as fresh.
    #[must_use]
    pub fn election_shortest(&self) -> Duration {
        let fixed = self.election_fixed.iter().min();
        fixed.copied().unwrap_or(self.election_min)
    }

    fn validate_spans(&self) -> Result<(), SetupError> {
        let one = Duration::micros(1);
        // What repeats for ever must not repeat so fast that a simulated minute never ends.
        let milli = Duration::millis(1);
        let spans = [
            ("lease", self.lease, milli),
            ("renew", self.renew_every, milli),
            ("grace", self.grace, Duration::ZERO),
            ("lock_delay", self.lock_delay, Duration::ZERO),
            ("answer_timeout", self.answer_timeout, milli),
            ("work", self.work, Duration::ZERO),
            ("work_max", self.work_max, Duration::ZERO),
            ("store_delay", self.store_delay, Duration::ZERO),
            ("latency", self.latency_min, one),
            ("latency", self.latency_max, one),
            ("heartbeat", self.heartbeat, milli),
            ("election_timeout", self.election_min, milli),
            ("election_timeout", self.election_max, milli),
            ("sync", self.sync, Duration::ZERO),
            ("client_timeout", self.client_timeout, milli),
        ];
        let fixed = self
            .election_fixed
            .iter()
            .map(|t| ("election_fixed", *t, milli));
        for (field, given, low) in spans.into_iter().chain(fixed) {
            // Without time nobody would end a sync.
            let high = if self.untimed && field == "sync" {
                Duration::ZERO
            } else {
                Duration::LONGEST
            };
            if given < low || high < given {
                return Err(SetupError::Span {
                    field,
                    given,
                    low,
                    high,
                });
            }
        }
        let ranges = [
            ("latency", self.latency_min, self.latency_max),
            ("election_timeout", self.election_min, self.election_max),
        ];
        for (field, low, high) in ranges {
            if high < low {
                return Err(SetupError::Range { field, low, high });
            }
        }
        Ok(())
    }

    /// The switches that do not start on, read.
    ///
    /// # Errors
    /// A name that is no switch, or a word that is none of its positions.
    pub fn positions(&self) -> Result<Vec<(Switch, Position)>, SetupError> {
        let read = |(name, word): &(String, String)| {
            let switch: Switch = name.parse().map_err(|()| SetupError::Switch {
                given: name.clone(),
            })?;
            let position = switch
                .position(word)
                .ok_or_else(|| SetupError::SwitchPosition {
                    switch,
                    given: word.clone(),
                })?;
            Ok((switch, position))
        };
        self.switches.iter().map(read).collect()
    }
}

/// What kind a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    Server,
    Worker,
    Client,
    Store,
}

/// The names of a world's processes and resources, by id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Names {
    processes: Vec<(String, Kind)>,
    resources: Vec<String>,
}

impl Names {
    fn of(setup: &Setup) -> Result<Self, SetupError> {
        let spares_most = if setup.servers == 0 {
            0
        } else {
            SERVERS_MAX - usize::from(setup.servers)
        };
        let limits = [
            ("spares", usize::from(setup.spares), spares_most),
            ("workers", setup.workers.len(), WORKERS_MAX),
            ("clients", setup.clients.len(), CLIENTS_MAX),
            ("stores", setup.stores.len(), STORES_MAX),
            ("resources", setup.resources.len(), RESOURCES_MAX),
        ];
        for (field, given, most) in limits {
            if given > most {
                return Err(SetupError::TooMany { field, given, most });
            }
        }
        let mut processes: Vec<(String, Kind)> = (1..=setup.servers_in_all())
            .map(|n| (format!("s{n}"), Kind::Server))
            .collect();
        let groups = [
            ("workers", &setup.workers, Kind::Worker),
            ("clients", &setup.clients, Kind::Client),
            ("stores", &setup.stores, Kind::Store),
        ];
        for (field, group, kind) in groups {
            for name in group {
                check_name(field, name)?;
                if processes.iter().any(|(taken, _)| taken == name) {
                    return Err(SetupError::NameTwice {
                        given: name.clone(),
                    });
                }
                processes.push((name.clone(), kind));
            }
        }
        if processes.is_empty() {
            return Err(SetupError::Empty);
        }
        let mut resources: Vec<String> = Vec::new();
        for name in &setup.resources {
            check_name("resources", name)?;
            if resources.contains(name) {
                return Err(SetupError::NameTwice {
                    given: name.clone(),
                });
            }
            resources.push(name.clone());
        }
        if resources.is_empty() {
            resources.push(
                setup
                    .stores
                    .first()
                    .map_or_else(|| "lease".to_owned(), Clone::clone),
            );
        }
        Ok(Self {
            processes,
            resources,
        })
    }

    /// The id of a process name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ProcessId> {
        self.processes
            .iter()
            .position(|(n, _)| n == name)
            .map(|at| ProcessId(at as u8))
    }

    #[must_use]
    pub fn find_resource(&self, name: &str) -> Option<ResourceId> {
        self.resources
            .iter()
            .position(|n| n == name)
            .map(|at| ResourceId(at as u8))
    }

    #[must_use]
    pub fn name(&self, id: ProcessId) -> &str {
        &self.processes[usize::from(id.0)].0
    }

    #[must_use]
    pub fn resource(&self, id: ResourceId) -> &str {
        &self.resources[usize::from(id.0)]
    }

    #[must_use]
    pub fn kind(&self, id: ProcessId) -> Kind {
        self.processes[usize::from(id.0)].1
    }

    /// All ids of one kind, in order.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = ProcessId> + '_ {
        self.ids().filter(move |id| self.kind(*id) == kind)
    }

    pub fn ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.processes.len() as u8).map(ProcessId)
    }

    #[must_use]
    pub fn servers(&self) -> ProcessSet {
        self.of_kind(Kind::Server)
            .fold(ProcessSet::default(), ProcessSet::with)
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    #[must_use]
    pub fn resources(&self) -> &[String] {
        &self.resources
    }

    /// All process names, comma separated, for messages.
    #[must_use]
    pub fn list(&self) -> String {
        let names: Vec<&str> = self.processes.iter().map(|(n, _)| n.as_str()).collect();
        names.join(", ")
    }
}

/// Whether a text could name a process or a resource.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&text)
}

fn check_name(field: &'static str, name: &str) -> Result<(), SetupError> {
    let like_a_server = name
        .strip_prefix('s')
        .is_some_and(|n| n.parse::<u8>().is_ok());
    if is_name(name) && !like_a_server {
        return Ok(());
    }
    Err(SetupError::Name {
        field,
        given: name.to_owned(),
    })
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Worker => "worker",
            Self::Client => "client",
            Self::Store => "store",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut Setup)) -> SetupError {
        let mut setup = Setup::default();
        change(&mut setup);
        setup.validate().unwrap_err()
    }

    #[test]
    fn setups_that_make_no_sense_are_refused() {
        assert_eq!(error(|s| s.servers = 4), SetupError::Servers { given: 4 });
        assert_eq!(error(|s| s.servers = 0), SetupError::Empty);
        assert!(matches!(
            error(|s| s.drift_ppm = 1_000_001),
            SetupError::Ppm {
                field: "drift_ppm",
                ..
            }
        ));
        assert_eq!(
            error(|s| s.spares = 5),
            SetupError::TooMany {
                field: "spares",
                given: 5,
                most: 4
            }
        );
        let twice = |s: &mut Setup| s.workers = vec!["A".into(), "A".into()];
        assert_eq!(error(twice), SetupError::NameTwice { given: "A".into() });
        assert!(matches!(
            error(|s| s.workers = vec!["s1".into()]),
            SetupError::Name { .. }
        ));
        assert!(matches!(
            error(|s| s.workers = vec!["holds".into()]),
            SetupError::Name { .. }
        ));
        assert_eq!(
            error(|s| s.table_in_memory = true),
            SetupError::TableInMemory { servers: 3 }
        );
        assert!(matches!(
            error(|s| s.lease = Duration::ZERO),
            SetupError::Span { field: "lease", .. }
        ));
        let long = |s: &mut Setup| s.lease = Duration((1 << 40) + 1);
        assert!(matches!(
            error(long),
            SetupError::Span { field: "lease", .. }
        ));
        assert!(matches!(
            error(|s| s.latency_max = Duration(1)),
            SetupError::Range { .. }
        ));
        assert!(matches!(
            error(|s| s.loss_ppm = 1_000_001),
            SetupError::Ppm { .. }
        ));
        let fence = |s: &mut Setup| s.switches = vec![("fence".into(), "maybe".into())];
        assert!(matches!(error(fence), SetupError::SwitchPosition { .. }));
    }

    #[test]
    fn a_resource_is_named_after_the_first_store() {
        let setup = Setup {
            stores: vec!["orders".into()],
            ..Setup::default()
        };
        assert_eq!(setup.validate().unwrap().resources(), ["orders"]);
        assert_eq!(Setup::default().validate().unwrap().resources(), ["lease"]);
    }
}
