//! Renders the decisive moments, for people to look at.

use crate::browser;
use crate::release;
use crate::shell::{self, Failure, Output, Site};

pub(crate) fn run(site: &Site, only: Option<&str>) -> Result<(), Failure> {
    release::ensure(site)?;
    let chromium = browser::ensure_chromium(site, Output::Terminal)?;
    let mut command = site.command("node");
    command
        .args(["e2e/shots.mjs", "dist", "e2e/shots"])
        .args(only)
        .env("CHROMIUM", chromium);
    shell::run(&mut command, Output::Terminal)
        .map_err(|failure| Failure::new(failure.what, "cargo xtask shots"))
}
