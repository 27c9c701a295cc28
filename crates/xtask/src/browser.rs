//! Finds a Chromium that runs: one on the machine, else Playwright's own, else Debian's.
//!
//! "Runs" is tested by asking its version: a downloaded browser that misses a system library is not one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::debian;
use crate::shell::{self, Failure, Output, Site};

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Prints the path of the browser that this Playwright would use by itself.
const ASK_PLAYWRIGHT: &str =
    "import('@playwright/test').then(p => process.stdout.write(p.chromium.executablePath()))";

/// The browser's path. Needs the npm packages.
pub(crate) fn ensure_chromium(site: &Site, output: Output<'_>) -> Result<PathBuf, Failure> {
    if let Some(given) = env::var_os("CHROMIUM").filter(|given| !given.is_empty()) {
        let given = PathBuf::from(given);
        return if runs(&given) {
            Ok(found(given))
        } else {
            let what = format!("CHROMIUM is {}, which does not run", given.display());
            Err(Failure::new(what, "unset CHROMIUM"))
        };
    }
    if let Some(path) = on_the_machine(site).or_else(|| of_playwright(site)) {
        return Ok(found(path));
    }
    println!("get     Playwright's Chromium, because none was found on this machine");
    let mut install = site.command("node");
    install.args([
        "e2e/node_modules/@playwright/test/cli.js",
        "install",
        "chromium",
    ]);
    install.env("PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT", "20000");
    let installed = shell::run(&mut install, output);
    if let (Ok(()), Some(path)) = (&installed, of_playwright(site)) {
        return Ok(found(path));
    }
    println!("get     Debian's Chromium, because Playwright's could not be had or does not run");
    debian::install(site, &["chromium", "fonts-liberation"], output)?;
    on_the_machine(site).map(found).ok_or_else(|| {
        Failure::new(
            "no Chromium runs here",
            "CHROMIUM=<path of a Chromium> cargo xtask test",
        )
    })
}

fn found(path: PathBuf) -> PathBuf {
    println!("found   the browser {}", path.display());
    path
}

fn on_the_machine(site: &Site) -> Option<PathBuf> {
    NAMES
        .iter()
        .filter_map(|name| site.find(name))
        .find(|path| runs(path))
}

fn of_playwright(site: &Site) -> Option<PathBuf> {
    let mut ask = site.command("node");
    ask.current_dir(site.e2e_dir()).args(["-e", ASK_PLAYWRIGHT]);
    let answer = shell::answer_of(&mut ask).ok()?;
    let path = PathBuf::from(String::from_utf8(answer).ok()?);
    runs(&path).then_some(path)
}

fn runs(browser: &Path) -> bool {
    let version = Command::new(browser)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    version.is_ok_and(|output| output.status.success())
}
