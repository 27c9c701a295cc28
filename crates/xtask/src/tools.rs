//! The Rust side of the toolbox: the wasm target, trunk, wasm-bindgen.
//!
//! Each is looked for first, in the version that fits, and installed only when it is missing. Trunk would
//! download a wasm-bindgen by itself; a build that needs one download less fails in one place less, and
//! behind a proxy that knows only the registries it would fail there.

use std::fs;

use crate::lock;
use crate::shell::{self, Failure, Output, Site};

const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The trunk that `Trunk.toml` and `index.html` are written for.
const TRUNK: &str = "0.21.14";

pub(crate) fn ensure_wasm_target(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    let by_hand = format!("rustup target add {WASM_TARGET}");
    // Asking rustc rather than rustup serves those whose distribution ships the target without rustup.
    let libdir = ["--print", "target-libdir", "--target", WASM_TARGET];
    if let Ok(answer) = shell::answer_of(site.command("rustc").args(libdir)) {
        let dir = String::from_utf8_lossy(&answer).trim().to_owned();
        if fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
            println!("found   the {WASM_TARGET} target");
            return Ok(());
        }
    }
    println!("get     the {WASM_TARGET} target, because the page is compiled for it");
    shell::run(
        site.command("rustup").args(["target", "add", WASM_TARGET]),
        output,
    )
    .map_err(|failure| Failure::new(failure.what, by_hand))
}

pub(crate) fn ensure_trunk(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    let found = site.version_of("trunk");
    if let Some(version) = found.as_deref().filter(|version| trunk_fits(version)) {
        println!("found   trunk {version}");
        return Ok(());
    }
    println!("get     trunk {TRUNK}, which builds and serves the page (some minutes; asked once)");
    install(site, "trunk", TRUNK, &["--locked"], found.is_some(), output)
}

/// Patch releases of the same line read the same configuration.
fn trunk_fits(version: &str) -> bool {
    fn patch(version: &str) -> Option<u32> {
        version.strip_prefix("0.21.")?.parse().ok()
    }
    patch(version) >= patch(TRUNK)
}

pub(crate) fn ensure_wasm_bindgen(site: &Site, output: Output<'_>) -> Result<(), Failure> {
    let lock = fs::read_to_string(site.root.join("Cargo.lock")).unwrap_or_default();
    let version = lock::version_of(&lock, "wasm-bindgen").ok_or_else(|| {
        Failure::new(
            "Cargo.lock names no wasm-bindgen",
            "cargo generate-lockfile",
        )
    })?;
    let found = site.version_of("wasm-bindgen");
    if found.as_deref() == Some(version) {
        println!("found   wasm-bindgen {version}");
        return Ok(());
    }
    println!("get     wasm-bindgen {version}, because it must be the version in Cargo.lock");
    // Without --locked: its lock file holds crates that have been withdrawn since.
    install(
        site,
        "wasm-bindgen-cli",
        version,
        &[],
        found.is_some(),
        output,
    )
}

/// Installs to cargo's own directory, where the user finds it too; or, if another version is already there,
/// to ours, so that nothing of the user's is replaced.
fn install(
    site: &Site,
    package: &str,
    version: &str,
    flags: &[&str],
    other_version_found: bool,
    output: Output<'_>,
) -> Result<(), Failure> {
    let mut command = site.command("cargo");
    command
        .args(["install", package, "--version", version])
        .args(flags);
    if other_version_found {
        command.arg("--root").arg(site.tools_dir());
    }
    // Our own target directory is locked while the tests build; cargo takes a temporary one instead.
    command.env_remove("CARGO_TARGET_DIR");
    shell::run(&mut command, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_later_patch_of_trunk_and_no_other_line() {
        assert!(trunk_fits(TRUNK));
        assert!(trunk_fits("0.21.20"));
        assert!(!trunk_fits("0.21.13"));
        assert!(!trunk_fits("0.21.14-beta.1"));
        assert!(!trunk_fits("0.22.0"));
        assert!(!trunk_fits("1.0.0"));
    }
}
