//! Builds the page for release, unless `dist` already is that build.
//!
//! Plain `trunk serve` writes a debug build to the same place, and sources change: so each release build
//! leaves a note of the files that it made (their names hold a hash of their contents), and counts as fresh
//! while the files are those and no source is younger than the note.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;
use crate::packages;
use crate::shell::{self, Failure, Output, Site};
use crate::tools;

pub(crate) const BY_HAND: &str = "trunk build --release";

/// What the page is made from.
const SOURCES: [&str; 10] = [
    "index.html",
    "Trunk.toml",
    "Cargo.toml",
    "Cargo.lock",
    "src",
    "static",
    "lessons",
    "crates/engine",
    "crates/lesson",
    "crates/player",
];

pub(crate) fn dist_dir(site: &Site) -> PathBuf {
    site.root.join("dist")
}

/// Gets the tools and builds, if `dist` is not a fresh release build.
pub(crate) fn ensure(site: &Site) -> Result<(), Failure> {
    packages::ensure_node(site, Output::Terminal)?;
    packages::ensure_packages(site, Output::Terminal)?;
    if is_fresh(site).unwrap_or(false) {
        println!("found   a release build in dist that is newer than every source");
        return Ok(());
    }
    tools::ensure_wasm_target(site, Output::Terminal)?;
    tools::ensure_trunk(site, Output::Terminal)?;
    tools::ensure_wasm_bindgen(site, Output::Terminal)?;
    packages::ensure_wasm_opt(site, Output::Terminal)?;
    build(site)
}

/// Builds; the tools must be there.
pub(crate) fn build(site: &Site) -> Result<(), Failure> {
    let mut command = trunk(site);
    command.args(["build", "--release"]);
    shell::run(&mut command, Output::Terminal)?;
    let note = listing(&dist_dir(site)).and_then(|listing| {
        fs::create_dir_all(site.scratch_dir())?;
        fs::write(note_file(site), listing)
    });
    note.map_err(|error| Failure::new(format!("dist: {error}"), BY_HAND))
}

/// Trunk, without the two habits that surprise: asking the network for a newer trunk, and refusing to start
/// when `NO_COLOR` is set to something that it does not read as a Boolean.
pub(crate) fn trunk(site: &Site) -> std::process::Command {
    let mut command = site.command("trunk");
    command
        .env("TRUNK_SKIP_VERSION_CHECK", "true")
        .env_remove("NO_COLOR");
    command
}

fn is_fresh(site: &Site) -> io::Result<bool> {
    let note = note_file(site);
    if !note.is_file() || fs::read_to_string(&note)? != listing(&dist_dir(site))? {
        return Ok(false);
    }
    let sources = SOURCES.map(|source| site.root.join(source));
    Ok(files::youngest(&sources)? < Some(fs::metadata(&note)?.modified()?))
}

fn note_file(site: &Site) -> PathBuf {
    site.scratch_dir().join("release-build.txt")
}

/// One line a file: its path below `dist` and its size.
fn listing(dist: &Path) -> io::Result<String> {
    let mut listing = String::new();
    for file in files::below(dist)? {
        let size = fs::metadata(&file)?.len();
        let path = file.strip_prefix(dist).unwrap_or(&file).display();
        listing.push_str(&format!("{path} {size}\n"));
    }
    Ok(listing)
}
