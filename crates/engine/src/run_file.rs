//! A run as a text: its setup, its commands with their positions, and fingerprints on the way.
//!
//! A chess score sheet: enough to play the game again, and to notice where it went another way. One fact a
//! line, the setting's name first; settings that a file does not name have their defaults.

use std::fmt;
use std::str::FromStr;

use crate::setup::Setup;
use crate::units::{Duration, SpanText};

/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;
const FIRST_LINE: &str = "leasehold run";

/// Hashes are of the state before each command and at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    pub version: u32,
    /// The engine that made it.
    pub engine: String,
    pub setup: Setup,
    pub commands: Vec<RunCommand>,
    pub end: RunEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCommand {
    /// True time in microseconds.
    pub at: u64,
    /// Steps already taken at that very time.
    pub after: u64,
    pub hash: u64,
    pub command: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// True time in microseconds.
    pub at: u64,
    pub step: u64,
    pub hash: u64,
}

/// Why a text is no run: at which line, from 1, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFileError {
    /// It does not begin with `leasehold run` and a number.
    NoRun,
    Version {
        given: u32,
        known: u32,
    },
    Line {
        line: usize,
        text: String,
    },
    /// It stops before its `end` line.
    CutOff,
}

/// A setting as a text.
trait Setting {
    fn write(&self) -> String;
    fn read(&mut self, text: &str) -> Option<()>;
}

macro_rules! number_setting {
    ($($type:ty)*) => { $(
        impl Setting for $type {
            fn write(&self) -> String {
                self.to_string()
            }

            fn read(&mut self, text: &str) -> Option<()> {
                *self = text.parse().ok()?;
                Some(())
            }
        }
    )* };
}
number_setting!(u64 u32 u8 bool);

impl Setting for Duration {
    fn write(&self) -> String {
        SpanText(*self).to_string()
    }

    fn read(&mut self, text: &str) -> Option<()> {
        *self = text.parse::<SpanText>().ok()?.0;
        Some(())
    }
}

impl Setting for String {
    fn write(&self) -> String {
        self.clone()
    }

    fn read(&mut self, text: &str) -> Option<()> {
        text.clone_into(self);
        Some(())
    }
}

impl Setting for (String, String) {
    fn write(&self) -> String {
        format!("{}={}", self.0, self.1)
    }

    fn read(&mut self, text: &str) -> Option<()> {
        let (name, word) = text.split_once('=')?;
        *self = (name.to_owned(), word.to_owned());
        Some(())
    }
}

impl<T: Setting + Default> Setting for Vec<T> {
    fn write(&self) -> String {
        let items: Vec<String> = self.iter().map(Setting::write).collect();
        items.join(" ")
    }

    fn read(&mut self, text: &str) -> Option<()> {
        self.clear();
        for word in text.split_whitespace() {
            let mut item = T::default();
            item.read(word)?;
            self.push(item);
        }
        Some(())
    }
}

/// Every setting with its name.
fn settings(setup: &mut Setup) -> Vec<(&'static str, &mut dyn Setting)> {
    vec![
        ("seed", &mut setup.seed),
        ("servers", &mut setup.servers),
        ("spares", &mut setup.spares),
        ("workers", &mut setup.workers),
        ("clients", &mut setup.clients),
        ("stores", &mut setup.stores),
        ("resources", &mut setup.resources),
        ("contend", &mut setup.contend),
        ("after_first_election", &mut setup.after_first_election),
        ("lease", &mut setup.lease),
        ("renew_every", &mut setup.renew_every),
        ("grace", &mut setup.grace),
        ("lock_delay", &mut setup.lock_delay),
        ("table_in_memory", &mut setup.table_in_memory),
        ("answer_timeout", &mut setup.answer_timeout),
        ("work", &mut setup.work),
        ("work_max", &mut setup.work_max),
        ("store_delay", &mut setup.store_delay),
        ("latency_min", &mut setup.latency_min),
        ("latency_max", &mut setup.latency_max),
        ("loss_ppm", &mut setup.loss_ppm),
        ("duplication_ppm", &mut setup.duplication_ppm),
        ("heartbeat", &mut setup.heartbeat),
        ("election_min", &mut setup.election_min),
        ("election_max", &mut setup.election_max),
        ("election_fixed", &mut setup.election_fixed),
        ("drift_ppm", &mut setup.drift_ppm),
        ("untimed", &mut setup.untimed),
        ("append_batch", &mut setup.append_batch),
        ("append_window", &mut setup.append_window),
        ("sync", &mut setup.sync),
        ("snapshot_every", &mut setup.snapshot_every),
        ("client_timeout", &mut setup.client_timeout),
        ("client_attempts", &mut setup.client_attempts),
        ("lease_reads", &mut setup.lease_reads),
        ("sessions_max", &mut setup.sessions_max),
        ("write_attempts", &mut setup.write_attempts),
        ("switches", &mut setup.switches),
    ]
}

impl fmt::Display for RunFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE} {}", self.version)?;
        writeln!(f, "engine {}", self.engine)?;
        for (name, setting) in settings(&mut self.setup.clone()) {
            writeln!(f, "{name} {}", setting.write())?;
        }
        for RunCommand {
            at,
            after,
            hash,
            command,
        } in &self.commands
        {
            writeln!(f, "at {at} {after} {hash:016x} {command}")?;
        }
        let RunEnd { at, step, hash } = self.end;
        writeln!(f, "end {at} {step} {hash:016x}")
    }
}

impl FromStr for RunFile {
    type Err = RunFileError;

    fn from_str(text: &str) -> Result<Self, RunFileError> {
        let mut lines = text.lines().enumerate();
        let first = lines
            .next()
            .and_then(|(_, line)| line.strip_prefix(FIRST_LINE));
        let given = first
            .and_then(|version| version.trim().parse().ok())
            .ok_or(RunFileError::NoRun)?;
        if given != VERSION {
            return Err(RunFileError::Version {
                given,
                known: VERSION,
            });
        }
        let mut file = Self {
            version: given,
            engine: String::new(),
            setup: Setup::default(),
            commands: Vec::new(),
            end: RunEnd::default(),
        };
        let mut ended = false;
        for (at, line) in lines {
            if line.trim().is_empty() {
                continue;
            }
            let read = file.read_line(line);
            ended |= read == Some(true);
            if read.is_none() {
                return Err(RunFileError::Line {
                    line: at + 1,
                    text: line.to_owned(),
                });
            }
        }
        if ended {
            Ok(file)
        } else {
            Err(RunFileError::CutOff)
        }
    }
}

impl RunFile {
    /// Takes one line in; says whether it was the end.
    fn read_line(&mut self, line: &str) -> Option<bool> {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        match name {
            "engine" => rest.clone_into(&mut self.engine),
            "at" => {
                let mut words = rest.splitn(4, ' ');
                self.commands.push(RunCommand {
                    at: words.next()?.parse().ok()?,
                    after: words.next()?.parse().ok()?,
                    hash: hex(words.next()?)?,
                    command: words.next()?.to_owned(),
                });
            }
            "end" => {
                let mut words = rest.split(' ');
                self.end = RunEnd {
                    at: words.next()?.parse().ok()?,
                    step: words.next()?.parse().ok()?,
                    hash: hex(words.next()?)?,
                };
                return Some(true);
            }
            _ => {
                let mut all = settings(&mut self.setup);
                let (_, setting) = all.iter_mut().find(|(known, _)| *known == name)?;
                setting.read(rest)?;
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> RunFile {
        RunFile {
            version: VERSION,
            engine: "0.1.0".to_owned(),
            setup: Setup {
                workers: vec!["A".into(), "B".into()],
                election_fixed: vec![Duration::millis(1_500), Duration::secs(2)],
                switches: vec![("fence".into(), "off".into())],
                ..Setup::default()
            },
            commands: vec![RunCommand {
                at: 2_178_301,
                after: 3,
                hash: 0xab,
                command: "write A orders \"charge 7\"".to_owned(),
            }],
            end: RunEnd {
                at: 9_000_000,
                step: 230,
                hash: u64::MAX,
            },
        }
    }

    #[test]
    fn a_run_is_read_as_it_was_written() {
        let file = file();
        assert_eq!(file.to_string().parse(), Ok(file));
    }

    #[test]
    fn what_is_no_run_says_where() {
        let error = |text: &str| text.parse::<RunFile>().unwrap_err();
        assert_eq!(error("{}"), RunFileError::NoRun);
        assert_eq!(
            error("leasehold run 9"),
            RunFileError::Version {
                given: 9,
                known: VERSION
            }
        );
        assert_eq!(error("leasehold run 1\nseed 7\n"), RunFileError::CutOff);
        let line = |line, text: &str| RunFileError::Line {
            line,
            text: text.to_owned(),
        };
        assert_eq!(error("leasehold run 1\nsede 7"), line(2, "sede 7"));
        assert_eq!(error("leasehold run 1\nlease soon"), line(2, "lease soon"));
        assert_eq!(
            error("leasehold run 1\n\nat 1 2 xyz pause A"),
            line(3, "at 1 2 xyz pause A")
        );
    }
}
