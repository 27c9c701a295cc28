//! The `world` block: keys named for authors, turned into the engine's setup.
//!
//! The stage manager's list. Every wrong key is reported, each at its place; what is wrong is put
//! back to its default, so that the rest can still be checked.

use crate::place::nearest;
use crate::words::{self, Trouble};
use leasehold_engine::setup::{Names, Setup};
use leasehold_engine::switch::Switch;
use leasehold_engine::units::{Duration, SpanText};

use super::Errors;
use super::keys::{self, Entry, Value};
use super::markdown::Line;

const KEYS: &[&str] = &[
    "id",
    "order",
    "seed",
    "seed_reason",
    "servers",
    "spares",
    "workers",
    "clients",
    "stores",
    "resources",
    "contend",
    "start",
    "lease",
    "renew",
    "grace",
    "lock_delay",
    "lease_table",
    "answer_timeout",
    "work",
    "work_max",
    "store_delay",
    "latency",
    "loss",
    "duplication",
    "heartbeat",
    "election_timeout",
    "election_fixed",
    "drift",
    "time",
    "append_batch",
    "append_window",
    "sync",
    "snapshot_every",
    "client_timeout",
    "client_attempts",
    "lease_reads",
    "sessions_max",
    "write_attempts",
    "fence",
    "switches",
];

/// What a `world` block says.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) id: Option<(String, usize)>,
    pub(super) order: Option<u64>,
    pub(super) seed_reason: Option<String>,
    pub(super) setup: Setup,
    /// None when the names are what is wrong.
    pub(super) names: Option<Names>,
}

struct Reader<'t, 'a, 'e> {
    lines: &'t [Line],
    /// Where each line begins in the block's own text.
    starts: Vec<usize>,
    fence: usize,
    errors: &'e mut Errors<'a>,
    world: World,
    renew_given: bool,
    /// Where each key's value stands, in the file.
    places: Vec<(String, usize)>,
}

/// Reads the lines of the block; `fence` is the block's own offset in the file.
pub(super) fn read(lines: &[Line], fence: usize, errors: &mut Errors<'_>) -> World {
    let mut text = String::new();
    let mut starts = Vec::new();
    for line in lines {
        starts.push(text.len());
        text.push_str(&line.text);
        text.push('\n');
    }
    let mut reader = Reader {
        lines,
        starts,
        fence,
        errors,
        world: World::default(),
        renew_given: false,
        places: Vec::new(),
    };
    let (entries, wrong) = keys::read(&text);
    for (at, trouble) in wrong {
        reader.wrong(at, trouble);
    }
    for entry in &entries {
        reader.entry(entry);
    }
    reader.validate();
    reader.world
}

impl Reader<'_, '_, '_> {
    /// From an offset in the block's text to one in the file.
    fn offset(&self, at: usize) -> usize {
        let line = self.starts.partition_point(|start| *start <= at);
        let Some(line) = line.checked_sub(1) else {
            return self.fence;
        };
        self.lines[line].offset + (at - self.starts[line])
    }

    fn wrong(&mut self, at: usize, trouble: Trouble) {
        let offset = self.offset(at);
        self.errors.add(offset, trouble.what, trouble.remedy);
    }

    fn entry(&mut self, entry: &Entry) {
        let Entry {
            table,
            key,
            key_at,
            value,
            value_at,
        } = entry;
        let place = self.offset(if table.is_some() {
            key_at.start
        } else {
            value_at.start
        });
        self.places.push((key.clone(), place));
        let set = if table.is_some() {
            self.switch(key, value)
        } else {
            self.set(key, value)
        };
        if let Err(trouble) = set {
            let at = if KEYS.contains(&key.as_str()) {
                value_at
            } else {
                key_at
            };
            self.wrong(at.start, trouble);
        }
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), Trouble> {
        let setup = &mut self.world.setup;
        match key {
            "id" => {
                let id = text(value)?;
                let place = self.places.last().map_or(self.fence, |(_, place)| *place);
                self.world.id = Some((id, place));
            }
            "order" => self.world.order = Some(number(value, u64::MAX)?),
            "seed" => setup.seed = number(value, u64::MAX)?,
            "seed_reason" => self.world.seed_reason = Some(text(value)?),
            "servers" => setup.servers = number(value, 255)? as u8,
            "spares" => setup.spares = number(value, 255)? as u8,
            "workers" => setup.workers = texts(value)?,
            "clients" => setup.clients = texts(value)?,
            "stores" => setup.stores = texts(value)?,
            "resources" => setup.resources = texts(value)?,
            "contend" => setup.contend = truth(value)?,
            "start" => setup.after_first_election = start(&text(value)?)?,
            "lease" => setup.lease = span(value)?,
            "renew" => {
                setup.renew_every = span(value)?;
                self.renew_given = true;
            }
            "grace" => setup.grace = span(value)?,
            "lock_delay" => setup.lock_delay = span(value)?,
            "lease_table" => setup.table_in_memory = in_memory(&text(value)?)?,
            "answer_timeout" => setup.answer_timeout = span(value)?,
            "work" => setup.work = span(value)?,
            "work_max" => setup.work_max = span(value)?,
            "store_delay" => setup.store_delay = span(value)?,
            "latency" => (setup.latency_min, setup.latency_max) = spans(value)?,
            "loss" => setup.loss_ppm = percent(value)?,
            "duplication" => setup.duplication_ppm = percent(value)?,
            "heartbeat" => setup.heartbeat = span(value)?,
            "election_timeout" => (setup.election_min, setup.election_max) = spans(value)?,
            "election_fixed" => {
                setup.election_fixed = list(value)?.map(span).collect::<Result<_, _>>()?
            }
            "drift" => setup.drift_ppm = percent(value)?,
            "time" => setup.untimed = time(&text(value)?)?,
            "append_batch" => setup.append_batch = number(value, u64::from(u32::MAX))? as u32,
            "append_window" => setup.append_window = number(value, u64::from(u32::MAX))? as u32,
            "sync" => setup.sync = span(value)?,
            "snapshot_every" => setup.snapshot_every = number(value, u64::from(u32::MAX))? as u32,
            "client_timeout" => setup.client_timeout = span(value)?,
            "write_attempts" => setup.write_attempts = number(value, u64::from(u32::MAX))? as u32,
            "client_attempts" => setup.client_attempts = number(value, u64::from(u32::MAX))? as u32,
            "lease_reads" => setup.lease_reads = truth(value)?,
            "sessions_max" => setup.sessions_max = number(value, u64::from(u32::MAX))? as u32,
            "fence" => self.switch("fence", value)?,
            "switches" => {
                return Err(Trouble::new(
                    "`switches` is a table",
                    "write [switches] on a line of its own",
                ));
            }
            _ => {
                let list = format!("keys are {}", KEYS.join(", "));
                let is_switch = key.parse::<Switch>().is_ok();
                let remedy = if is_switch {
                    format!("write it below [switches]: {key} = \"off\"")
                } else {
                    nearest(key, KEYS.iter().copied())
                        .map_or(list, |near| format!("did you mean `{near}`?"))
                };
                let what = format!("`{}` is not a key of the world block", words::shorten(key));
                return Err(Trouble::new(what, remedy));
            }
        }
        Ok(())
    }

    fn switch(&mut self, name: &str, value: &Value) -> Result<(), Trouble> {
        let word = text(value)?;
        let switches = &mut self.world.setup.switches;
        switches.retain(|(known, _)| known != name);
        // The position that a switch starts in is not worth saying.
        let switch = name.parse::<Switch>().ok();
        let is_default = switch.is_some_and(|s| s.position(&word) == Some(s.initial()));
        if !is_default {
            switches.push((name.to_owned(), word));
        }
        Ok(())
    }

    /// Lets the engine check the whole, once more for each thing that was wrong.
    fn validate(&mut self) {
        if !self.renew_given {
            let lease = self.world.setup.lease.0;
            let third = u128::from(lease) * 32 / 100;
            self.world.setup.renew_every = Duration((third as u64).max(1));
        }
        let defaults = Setup::default();
        for _ in 0..64 {
            let error = match self.world.setup.validate() {
                Ok(names) => {
                    self.world.names = Some(names);
                    return;
                }
                Err(error) => error,
            };
            let field = words::setup_error_field(&error).to_owned();
            let place = self.places.iter().find(|(key, _)| *key == field);
            let offset = place.map_or(self.fence, |(_, place)| *place);
            // A renewal that was computed from a wrong lease is not the author's mistake.
            if field != "renew" || self.renew_given {
                let Trouble { what, remedy } = words::setup_error(&error);
                self.errors.add(offset, what, remedy);
            }
            let setup = &mut self.world.setup;
            match field.as_str() {
                "lease" => setup.lease = defaults.lease,
                "renew" => setup.renew_every = defaults.renew_every,
                "grace" => setup.grace = Duration::ZERO,
                "lock_delay" => setup.lock_delay = Duration::ZERO,
                "lease_table" => setup.table_in_memory = false,
                "answer_timeout" => setup.answer_timeout = defaults.answer_timeout,
                "work" => setup.work = defaults.work,
                "work_max" => setup.work_max = Duration::ZERO,
                "store_delay" => setup.store_delay = defaults.store_delay,
                "latency" => {
                    (setup.latency_min, setup.latency_max) =
                        (defaults.latency_min, defaults.latency_max);
                }
                "election_timeout" => {
                    (setup.election_min, setup.election_max) =
                        (defaults.election_min, defaults.election_max);
                }
                "loss" => setup.loss_ppm = 0,
                "duplication" => setup.duplication_ppm = 0,
                "drift" => setup.drift_ppm = 0,
                "heartbeat" => setup.heartbeat = defaults.heartbeat,
                "election_fixed" => setup.election_fixed.clear(),
                "append_batch" => setup.append_batch = defaults.append_batch,
                "append_window" => setup.append_window = defaults.append_window,
                "sync" => setup.sync = defaults.sync,
                "client_timeout" => setup.client_timeout = defaults.client_timeout,
                "write_attempts" => setup.write_attempts = defaults.write_attempts,
                "client_attempts" => setup.client_attempts = defaults.client_attempts,
                name if setup.switches.iter().any(|(known, _)| known == name) => {
                    setup.switches.retain(|(known, _)| known != name);
                }
                // Servers and names: without them nothing else can be checked.
                _ => return,
            }
        }
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Text(_) => "a text",
        Value::Number(_) => "a number",
        Value::Truth(_) => "true or false",
        Value::List(_) => "a list",
    }
}

fn wanted(value: &Value, what: &str, example: &str) -> Trouble {
    let what = format!("{} stands where {what} is expected", kind(value));
    Trouble::new(what, format!("write it as in {example}"))
}

fn text(value: &Value) -> Result<String, Trouble> {
    let Value::Text(text) = value else {
        return Err(wanted(value, "a text", "\"orders\", with double quotes"));
    };
    Ok(text.clone())
}

fn truth(value: &Value) -> Result<bool, Trouble> {
    let Value::Truth(truth) = value else {
        return Err(wanted(value, "true or false", "contend = false"));
    };
    Ok(*truth)
}

fn number(value: &Value, most: u64) -> Result<u64, Trouble> {
    let Value::Number(number) = value else {
        return Err(wanted(value, "a whole number", "seed = 7"));
    };
    let read = number.parse().ok().filter(|n| *n <= most);
    read.ok_or_else(|| {
        let what = format!("{} is out of range", words::shorten(number));
        Trouble::new(what, format!("write 0 to {most}"))
    })
}

fn list(value: &Value) -> Result<impl Iterator<Item = &Value>, Trouble> {
    let Value::List(items) = value else {
        return Err(wanted(value, "a list", "workers = [\"A\", \"B\"]"));
    };
    Ok(items.iter())
}

fn texts(value: &Value) -> Result<Vec<String>, Trouble> {
    list(value)?.map(text).collect()
}

fn span(value: &Value) -> Result<Duration, Trouble> {
    let Value::Text(text) = value else {
        return Err(wanted(
            value,
            "a span of time",
            "lease = \"5s\", with its unit and quotes",
        ));
    };
    text.parse::<SpanText>()
        .map(|span| span.0)
        .map_err(|error| words::span_error(error, text))
}

/// One span, or the two ends of a range.
fn spans(value: &Value) -> Result<(Duration, Duration), Trouble> {
    if !matches!(value, Value::List(_)) {
        let one = span(value)?;
        return Ok((one, one));
    }
    let ends: Vec<Duration> = list(value)?.map(span).collect::<Result<_, _>>()?;
    match ends[..] {
        [low, high] => Ok((low, high)),
        _ => Err(Trouble::new(
            format!("a range has two ends, not {}", ends.len()),
            "write latency = [\"40ms\", \"60ms\"], or one span",
        )),
    }
}

fn percent(value: &Value) -> Result<u32, Trouble> {
    let Value::Text(text) = value else {
        return Err(wanted(
            value,
            "a percentage",
            "loss = \"10%\", with its sign and quotes",
        ));
    };
    let wrong = || {
        Trouble::new(
            format!("`{}` is not a percentage", words::shorten(text)),
            "write 0% to 100%, with at most four decimals",
        )
    };
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits =
        |t: &str| !t.is_empty() && t.len() <= 4 && t.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return Err(wrong());
    }
    let parts = |t: &str| t.parse::<u32>().map_err(|_| wrong());
    let ppm = parts(whole)? * 10_000 + parts(&format!("{fraction:0<4}"))?;
    if ppm <= 1_000_000 {
        Ok(ppm)
    } else {
        Err(wrong())
    }
}

fn in_memory(word: &str) -> Result<bool, Trouble> {
    match word {
        "durable" => Ok(false),
        "memory" => Ok(true),
        other => Err(Trouble::new(
            format!(
                "the table of leases cannot be kept in `{}`",
                words::shorten(other)
            ),
            "write \"durable\" or \"memory\"",
        )),
    }
}

fn start(word: &str) -> Result<bool, Trouble> {
    match word {
        "after first election" => Ok(true),
        "cold" => Ok(false),
        other => Err(Trouble::new(
            format!("the world cannot start `{}`", words::shorten(other)),
            "write \"after first election\" or \"cold\"",
        )),
    }
}

fn time(word: &str) -> Result<bool, Trouble> {
    match word {
        "flows" => Ok(false),
        "none" => Ok(true),
        other => Err(Trouble::new(
            format!("time cannot be `{}`", words::shorten(other)),
            "write \"flows\", or \"none\": then only commands make anything happen",
        )),
    }
}
