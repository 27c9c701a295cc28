//! The table of switches in ARCHITECTURE.md says what the code says.

#![allow(clippy::unwrap_used, reason = "a test may")]

use leasehold_engine::switch::{Guards, Switch};

#[test]
fn the_table_of_switches_matches_the_code() {
    let text = include_str!("../../../../ARCHITECTURE.md");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    let rows: Vec<(String, String, String)> = rows
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells[1].trim_matches('`').to_owned();
            (name, cells[2].to_owned(), cells[3].to_owned())
        })
        .collect();
    let code: Vec<(String, String, String)> = Switch::ALL
        .iter()
        .map(|switch| {
            let guards = match switch.guards() {
                Guards::Safety => "safety",
                Guards::Liveness => "liveness",
            };
            let breaks = switch.breaks().map_or("-", |invariant| invariant.id());
            (
                switch.name().to_owned(),
                guards.to_owned(),
                breaks.to_owned(),
            )
        })
        .collect();
    assert_eq!(rows, code);
}
