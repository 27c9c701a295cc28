//! A setup as the keys of a `world` block, and a run as a command script: what is read is written.
//!
//! The stage manager's list, copied out fair. Only what differs from the default is written down, and times
//! become pauses between the lines. Claims are not its business.

use std::fmt::Write;

use leasehold_engine::setup::Setup;
use leasehold_engine::timed_script::TimedScript;
use leasehold_engine::units::{Duration, SimTime, SpanText};

/// A run as a script that `leasehold run` plays. Each remark becomes a line behind a #, before the rest.
#[must_use]
pub fn write_script(script: &TimedScript, remarks: &[String]) -> String {
    let mut lines: Vec<String> = remarks.iter().map(|remark| format!("# {remark}")).collect();
    lines.extend(world_block(&script.setup).lines().map(str::to_owned));
    lines.push("----".to_owned());
    let mut now = SimTime(0);
    for (at, command) in &script.commands {
        lines.extend(pause(&mut now, *at));
        lines.push(command.to_string());
    }
    lines.extend(pause(&mut now, script.end));
    lines.join("\n") + "\n"
}

fn pause(now: &mut SimTime, until: SimTime) -> Option<String> {
    let span = until.since(*now);
    *now = until.max(*now);
    (Duration::ZERO < span).then(|| format!("run {}", SpanText(span)))
}

/// The lines above a script's dashes that make this setup.
#[must_use]
pub fn world_block(setup: &Setup) -> String {
    // Every field is named, so that a new one does not compile until it is written.
    let Setup {
        seed,
        servers,
        spares,
        workers,
        clients,
        stores,
        resources,
        contend,
        after_first_election,
        lease,
        renew_every,
        grace,
        lock_delay,
        table_in_memory,
        answer_timeout,
        work,
        work_max,
        store_delay,
        latency_min,
        latency_max,
        loss_ppm,
        duplication_ppm,
        heartbeat,
        election_min,
        election_max,
        election_fixed,
        drift_ppm,
        lease_reads,
        sessions_max,
        untimed,
        sync,
        append_batch,
        append_window,
        snapshot_every,
        client_timeout,
        client_attempts,
        write_attempts,
        switches,
    } = setup;
    let plain = Setup::default();
    let mut block = Block::default();
    block.add("seed", *seed != plain.seed, seed.to_string());
    block.add("servers", *servers != plain.servers, servers.to_string());
    block.add("spares", *spares != plain.spares, spares.to_string());
    for (key, names) in [
        ("workers", workers),
        ("clients", clients),
        ("stores", stores),
        ("resources", resources),
    ] {
        block.add(key, !names.is_empty(), list(names.iter()));
    }
    block.add("contend", *contend != plain.contend, contend.to_string());
    block.add("start", !after_first_election, quoted("cold"));
    block.add("time", *untimed, quoted("none"));
    let third = (u128::from(lease.0) * 32 / 100) as u64;
    for (key, given, default) in [
        ("lease", lease, plain.lease),
        ("renew", renew_every, Duration(third.max(1))),
        ("grace", grace, plain.grace),
        ("lock_delay", lock_delay, plain.lock_delay),
        ("answer_timeout", answer_timeout, plain.answer_timeout),
        ("work", work, plain.work),
        ("work_max", work_max, plain.work_max),
        ("store_delay", store_delay, plain.store_delay),
        ("heartbeat", heartbeat, plain.heartbeat),
        ("sync", sync, plain.sync),
        ("client_timeout", client_timeout, plain.client_timeout),
    ] {
        block.add(key, *given != default, span(given));
    }
    block.add("lease_table", *table_in_memory, quoted("memory"));
    let latency = [latency_min, latency_max];
    let is_plain = latency == [&plain.latency_min, &plain.latency_max];
    block.add("latency", !is_plain, list(latency.map(|s| SpanText(*s))));
    let election = [election_min, election_max];
    let is_plain = election == [&plain.election_min, &plain.election_max];
    let ends = list(election.map(|s| SpanText(*s)));
    block.add("election_timeout", !is_plain, ends);
    let fixed = list(election_fixed.iter().map(|s| SpanText(*s)));
    block.add("election_fixed", !election_fixed.is_empty(), fixed);
    for (key, ppm) in [
        ("loss", loss_ppm),
        ("duplication", duplication_ppm),
        ("drift", drift_ppm),
    ] {
        block.add(key, *ppm != 0, percent(*ppm));
    }
    block.add("lease_reads", *lease_reads, lease_reads.to_string());
    for (key, number, default) in [
        ("append_batch", append_batch, plain.append_batch),
        ("append_window", append_window, plain.append_window),
        ("snapshot_every", snapshot_every, plain.snapshot_every),
        ("sessions_max", sessions_max, plain.sessions_max),
    ] {
        block.add(key, *number != default, number.to_string());
    }
    let attempts = *client_attempts != plain.client_attempts;
    block.add("client_attempts", attempts, client_attempts.to_string());
    let attempts = *write_attempts != plain.write_attempts;
    block.add("write_attempts", attempts, write_attempts.to_string());
    if !switches.is_empty() {
        block.text.push_str("[switches]\n");
    }
    for (name, word) in switches {
        block.add(name, true, quoted(word));
    }
    block.text
}

#[derive(Default)]
struct Block {
    text: String,
}

impl Block {
    fn add(&mut self, key: &str, is_worth_saying: bool, value: String) {
        if is_worth_saying {
            let written = writeln!(self.text, "{key} = {value}");
            written.expect("a String takes all that is written");
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn span(span: &Duration) -> String {
    quoted(&SpanText(*span).to_string())
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|i| quoted(&i.to_string())).collect();
    format!("[{}]", items.join(", "))
}

/// Parts per million as a percentage with up to four decimals.
fn percent(ppm: u32) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    quoted(&format!("{text}%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_script;
    use leasehold_engine::swarm::{Beyond, Swarm};

    fn check(setup: &Setup) {
        let text = world_block(setup) + "----\n";
        let read = parse_script(&text, "s.txt").unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"));
        assert_eq!(read.setup, *setup, "{text}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        check(&Setup::default());
        let beyond = Beyond {
            drift: true,
            switches: true,
        };
        for seed in 0..200 {
            check(&Swarm::new(seed, beyond).setup());
        }
        check(&Setup {
            untimed: true,
            after_first_election: false,
            election_fixed: [1_500, 2_000, 2_500].map(Duration::millis).to_vec(),
            loss_ppm: 125_000,
            drift_ppm: 1,
            ..Setup::default()
        });
    }
}
