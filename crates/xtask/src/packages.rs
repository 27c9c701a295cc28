//! The Node side of the toolbox: Node itself, and the npm packages that the browser tests and the size
//! report use. `wasm-opt` comes from npm too, because there it exists for every system in one pinned version.

use std::fs;

use crate::debian;
use crate::shell::{self, Failure, Output, Site};

/// The major version of binaryen in `e2e/package.json`.
const WASM_OPT: &str = "132";

/// The oldest Node that the pinned packages run on.
const NODE_MAJOR_MIN: u32 = 18;

pub(crate) fn ensure_node(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    if let Some(version) = node_that_fits(site) {
        println!("found   node {version}");
        return Ok(());
    }
    println!("get     node, which runs the browser tests and the same engine compiled to wasm");
    debian::install(site, &["nodejs", "npm"], output)?;
    match node_that_fits(site) {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            format!("node {NODE_MAJOR_MIN} or newer, with npm, is needed"),
            "install a newer Node.js: https://nodejs.org/en/download",
        )),
    }
}

fn node_that_fits(site: &Site) -> Option<String> {
    site.version_of("npm")?;
    let version = site.version_of("node")?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= NODE_MAJOR_MIN).then_some(version)
}

/// Installs what `e2e/package-lock.json` names, if that is not what is there.
pub(crate) fn ensure_packages(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    let by_hand = "npm ci --prefix e2e";
    let lock = site.e2e_dir().join("package-lock.json");
    let stamp = site
        .e2e_dir()
        .join("node_modules")
        .join(".installed-lock.json");
    let wanted = fs::read(&lock)
        .map_err(|error| Failure::new(format!("{}: {error}", lock.display()), by_hand))?;
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("found   the npm packages of e2e");
        return Ok(());
    }
    println!("get     the npm packages of e2e: Playwright, axe, wasm-opt");
    let mut command = site.command("npm");
    command.args(["ci", "--prefix", "e2e", "--no-audit", "--no-fund"]);
    command.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    shell::run(&mut command, output).map_err(|failure| Failure::new(failure.what, by_hand))?;
    fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("{}: {error}", stamp.display()), by_hand))
}

/// `wasm-opt` makes a release build a third smaller; trunk takes the first one on the `PATH`.
pub(crate) fn ensure_wasm_opt(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    if site.version_of("wasm-opt").as_deref() == Some(WASM_OPT) {
        println!("found   wasm-opt {WASM_OPT}");
        return Ok(());
    }
    println!("get     wasm-opt {WASM_OPT}, which shrinks the wasm of a release build");
    ensure_node(site, output)?;
    ensure_packages(site, output)?;
    match site.version_of("wasm-opt") {
        Some(version) if version == WASM_OPT => Ok(()),
        other => Err(Failure::new(
            format!("wasm-opt {WASM_OPT} is needed, and {other:?} came from npm"),
            "npm ci --prefix e2e",
        )),
    }
}
