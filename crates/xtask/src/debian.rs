//! Asks Debian for a package: the last resort for what neither the machine nor its own registry has.
//!
//! Runs only where there is an `apt-get`, and asks for no password: what needs one is named for a person to
//! run.

use std::env;
use std::process::Stdio;

use crate::shell::{self, Failure, Output, Site};

/// Installs packages; the failure names the command to run by hand.
pub(crate) fn install(site: &Site, packages: &[&str], output: Output<'_>) -> Result<(), Failure> {
    let by_hand = format!(
        "sudo apt-get update && sudo apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    );
    let apt = |args: &[&str]| -> Result<(), Failure> {
        let mut command = match needs_sudo(site) {
            false => site.command("apt-get"),
            true => {
                let mut sudo = site.command("sudo");
                sudo.args(["-n", "apt-get"]);
                sudo
            }
        };
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .args(args);
        shell::run(&mut command, output).map_err(|failure| Failure::new(failure.what, &by_hand))
    };
    if site.find("apt-get").is_none() {
        let what = format!(
            "{} is missing, and there is no apt-get to ask",
            packages.join(", ")
        );
        return Err(Failure::new(
            what,
            format!("install {} your system's way", packages.join(" ")),
        ));
    }
    apt(&["update"])?;
    let mut args = vec!["install", "-y", "--no-install-recommends"];
    args.extend(packages);
    apt(&args)
}

fn needs_sudo(site: &Site) -> bool {
    let is_root = shell::answer_of(site.command("id").arg("-u")).map_or_else(
        |_| env::var_os("USER").is_some_and(|user| user == "root"),
        |id| id == b"0\n",
    );
    !is_root
}
