//! Serves the page while it is being worked on, on a machine that may have nothing but Rust.
//!
//! Trunk does the serving. What is served is built into a directory of its own, so that a debug build never
//! takes the place of the release build that the tests and the size report look at.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use crate::http;
use crate::packages;
use crate::release;
use crate::shell::{self, Failure, Output, Site};
use crate::tools;

/// A first build on a slow machine takes minutes.
const PATIENCE: Duration = Duration::from_secs(20 * 60);
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(crate) fn run(site: &Site, trunk_args: &[String]) -> Result<(), Failure> {
    set_up(site, trunk_args)?;
    let mut command = trunk_serve(site, trunk_args);
    shell::run(&mut command, Output::Terminal)
}

/// Starts the server, asks it for the page and the wasm, and ends it.
pub(crate) fn check(site: &Site, trunk_args: &[String]) -> Result<(), Failure> {
    let by_hand = "cargo xtask serve";
    set_up(site, trunk_args)?;
    let port = free_port().map_err(|error| Failure::new(format!("no port: {error}"), by_hand))?;
    let mut command = trunk_serve(site, trunk_args);
    command.args(["--port", &port.to_string(), "--address", "127.0.0.1"]);
    println!("$ {}", shell::as_typed(&command));
    let mut server = command
        .spawn()
        .map_err(|error| Failure::new(format!("trunk cannot be started: {error}"), by_hand))?;
    let verdict = check_page(site, port, &mut server);
    // Only the process that we started; it is gone already when it ended by itself.
    let _ = server.kill();
    let _ = server.wait();
    let wasm = verdict.map_err(|what| Failure::new(what, by_hand))?;
    println!("ok: the page and {wasm} came from http://127.0.0.1:{port}/, and the server is ended");
    Ok(())
}

fn set_up(site: &Site, trunk_args: &[String]) -> Result<(), Failure> {
    tools::ensure_wasm_target(site, Output::Terminal)?;
    tools::ensure_trunk(site, Output::Terminal)?;
    tools::ensure_wasm_bindgen(site, Output::Terminal)?;
    // Trunk runs wasm-opt only for a release build: going without is better than not going.
    if let Err(failure) = packages::ensure_wasm_opt(site, Output::Terminal) {
        println!("without wasm-opt: {failure}");
        if trunk_args.iter().any(|arg| arg == "--release") {
            println!("        (a release build will be larger, or trunk will fetch one itself)");
        }
    }
    let dist = site.scratch_dir().join("serve");
    fs::create_dir_all(&dist)
        .map_err(|error| Failure::new(format!("{}: {error}", dist.display()), "trunk serve"))
}

fn trunk_serve(site: &Site, trunk_args: &[String]) -> std::process::Command {
    let mut command = release::trunk(site);
    command.arg("serve");
    if !trunk_args
        .iter()
        .any(|arg| arg == "--dist" || arg == "-d" || arg.starts_with("--dist="))
    {
        command.args(["--dist", "target/xtask/serve"]);
    }
    command.args(trunk_args);
    command
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// Waits for the page, and returns the path of the wasm that it names and the server hands out.
fn check_page(site: &Site, port: u16, server: &mut Child) -> Result<String, String> {
    let page = wait_for_page(port, server)?;
    if page.status != 200 {
        return Err(format!("the page answers with status {}", page.status));
    }
    let html = String::from_utf8_lossy(&page.body).into_owned();
    let ours = fs::read_to_string(site.root.join("index.html")).unwrap_or_default();
    let title = title_of(&ours).ok_or("index.html has no title")?;
    if title_of(&html) != Some(title) {
        return Err(format!(
            "the page is not ours: its title is {:?}",
            title_of(&html)
        ));
    }
    let path = wasm_named_in(&html).ok_or("the page names no wasm of ours")?;
    let wasm = http::get(port, &format!("/{path}")).map_err(|error| format!("{path}: {error}"))?;
    if wasm.status != 200 || wasm.content_type != "application/wasm" {
        return Err(format!(
            "{path}: status {}, type {:?}",
            wasm.status, wasm.content_type
        ));
    }
    if !wasm.body.starts_with(b"\0asm") {
        return Err(format!("{path} is not wasm"));
    }
    Ok(path.to_owned())
}

fn wait_for_page(port: u16, server: &mut Child) -> Result<http::Answer, String> {
    let start = Instant::now();
    loop {
        match server.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Err(format!("trunk ended with {status}")),
            Err(error) => return Err(format!("trunk: {error}")),
        }
        // Trunk answers only once the first build has ended; a failed build answers 404.
        if let Ok(answer) = http::get(port, "/") {
            return Ok(answer);
        }
        if PATIENCE < start.elapsed() {
            return Err(format!(
                "no page within {} minutes",
                PATIENCE.as_secs() / 60
            ));
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn title_of(html: &str) -> Option<&str> {
    let (_, rest) = html.split_once("<title>")?;
    Some(rest.split_once("</title>")?.0.trim())
}

/// The first `playground-<hash>_bg.wasm` in the page.
fn wasm_named_in(html: &str) -> Option<&str> {
    html.split(['"', '\'', '`'])
        .map(|word| word.trim_start_matches("./").trim_start_matches('/'))
        .find(|word| word.starts_with("playground") && word.ends_with("_bg.wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_wasm_of_the_page() {
        let html = r#"<title>A page</title><link rel="icon" href="playground.svg">
            <link rel="preload" href="./playground-1a2b_bg.wasm">"#;
        assert_eq!(wasm_named_in(html), Some("playground-1a2b_bg.wasm"));
        assert_eq!(title_of(html), Some("A page"));
        assert_eq!(wasm_named_in("<link href='/other_bg.wasm'>"), None);
    }
}
