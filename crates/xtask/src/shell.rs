//! Where the project lies, and how a program is started in it.
//!
//! One place decides the `PATH` that children see: tools that we installed come before the machine's own,
//! like a toolbox carried along. One place decides how a failure reads: what went wrong, and the command a
//! person can run by hand.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What went wrong, and what a person can run to get on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) what: String,
    /// A command line, never empty.
    pub(crate) by_hand: String,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, by_hand: impl Into<String>) -> Self {
        Failure {
            what: what.into(),
            by_hand: by_hand.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  by hand: {}", self.what, self.by_hand)
    }
}

/// Where a child's output goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output<'a> {
    Terminal,
    /// Appended to a file, for work in the background: two outputs in one terminal read as none.
    Log(&'a Path),
}

/// The project's root and the search path for tools.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) root: PathBuf,
    path: OsString,
}

impl Site {
    pub(crate) fn locate() -> Result<Self, Failure> {
        // Cargo sets the variable when it runs us; the compile-time value serves a direct start.
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir
            .ancestors()
            .nth(2)
            .unwrap_or(&manifest_dir)
            .to_path_buf();
        if !root.join("Cargo.lock").is_file() {
            let what = format!("{} is not the project's root", root.display());
            return Err(Failure::new(what, "cd <the project>; cargo xtask"));
        }
        let path = search_path(&root)
            .map_err(|error| Failure::new(format!("PATH: {error}"), "echo \"$PATH\""))?;
        Ok(Site { root, path })
    }

    /// Where tools go that would replace something of the user's if they went to cargo's own directory.
    pub(crate) fn tools_dir(&self) -> PathBuf {
        tools_dir(&self.root)
    }

    /// What xtask keeps between runs: logs, stamps, pages served for a check.
    pub(crate) fn scratch_dir(&self) -> PathBuf {
        self.root.join("target").join("xtask")
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.root.join("target"), |dir| self.root.join(dir))
    }

    pub(crate) fn e2e_dir(&self) -> PathBuf {
        self.root.join("e2e")
    }

    /// A program started in the project's root, with our tools on its `PATH`.
    pub(crate) fn command(&self, program: &str) -> Command {
        // Looked up here, because the lookup by the system would use this process's own PATH.
        let found = self.find(program);
        let mut command = Command::new(
            found
                .as_deref()
                .map_or(OsStr::new(program), Path::as_os_str),
        );
        command.current_dir(&self.root).env("PATH", &self.path);
        command
    }

    /// Cargo with the words of a line as its arguments; none of ours holds a space.
    pub(crate) fn cargo(&self, line: &str) -> Command {
        let mut command = self.command("cargo");
        command.args(line.split_whitespace());
        command
    }

    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        env::split_paths(&self.path)
            .map(|dir| dir.join(program).with_extension(env::consts::EXE_EXTENSION))
            .find(|file| is_executable(file))
    }

    /// The version that a program reports for `--version`; `None` if it is missing or does not run.
    pub(crate) fn version_of(&self, program: &str) -> Option<String> {
        let output = self
            .command(program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            first_version(&text).map(str::to_owned)
        } else {
            None
        }
    }
}

fn tools_dir(root: &Path) -> PathBuf {
    root.join("target").join("tools")
}

fn search_path(root: &Path) -> Result<OsString, env::JoinPathsError> {
    let mut dirs = vec![
        tools_dir(root).join("bin"),
        root.join("e2e/node_modules/.bin"),
    ];
    dirs.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    dirs.extend(cargo_bin_dir());
    env::join_paths(dirs)
}

/// Where `cargo install` puts programs; a fresh rustup has often not reached the PATH yet.
fn cargo_bin_dir() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    Some(home.join("bin"))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The first word that starts with a digit: `trunk 0.21.14`, `wasm-opt version 132 (version_132)`.
fn first_version(text: &str) -> Option<&str> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The command as a person would type it.
pub(crate) fn as_typed(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let mut typed = program.to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        typed.push(' ');
        if arg.is_empty() || arg.contains(|c: char| c.is_whitespace() || "\"'*$\\".contains(c)) {
            typed.push_str(&format!("'{arg}'"));
        } else {
            typed.push_str(&arg);
        }
    }
    typed
}

/// Runs a command to its end; not starting and not succeeding are both failures.
pub(crate) fn run(command: &mut Command, output: Output<'_>) -> Result<(), Failure> {
    let typed = as_typed(command);
    match output {
        Output::Terminal => println!("$ {typed}"),
        Output::Log(log) => {
            let file = open_log(log, &typed).map_err(|error| Failure::new(error, &typed))?;
            let again = file
                .try_clone()
                .map_err(|error| Failure::new(error.to_string(), &typed))?;
            command.stdin(Stdio::null()).stdout(file).stderr(again);
        }
    }
    let status = command
        .status()
        .map_err(|error| cannot_start(&typed, &error))?;
    if status.success() {
        return Ok(());
    }
    if let Output::Log(log) = output {
        print_end_of(log);
    }
    Err(Failure::new(
        format!("`{typed}` ended with {status}"),
        typed,
    ))
}

/// Runs a command to its end, and returns its standard output, shown line by line as it comes. The flag says
/// whether it succeeded, because a test run that fails still has counts worth reading.
pub(crate) fn run_reading(command: &mut Command) -> Result<(String, bool), Failure> {
    let typed = as_typed(command);
    println!("$ {typed}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(&typed, &error))?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| Failure::new(error.to_string(), &typed))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            text.push_str(&line);
            text.push('\n');
        }
    }
    let status = child
        .wait()
        .map_err(|error| Failure::new(error.to_string(), &typed))?;
    Ok((text, status.success()))
}

/// Runs a command that answers on its standard output.
pub(crate) fn answer_of(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let typed = as_typed(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cannot_start(&typed, &error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::new(
        format!("`{typed}` ended with {}", output.status),
        typed,
    ))
}

fn cannot_start(typed: &str, error: &io::Error) -> Failure {
    Failure::new(format!("`{typed}` cannot be started: {error}"), typed)
}

fn open_log(log: &Path, typed: &str) -> Result<File, String> {
    let open = || -> io::Result<File> {
        fs::create_dir_all(log.parent().unwrap_or(Path::new(".")))?;
        let mut file = File::options().create(true).append(true).open(log)?;
        writeln!(file, "$ {typed}")?;
        Ok(file)
    };
    open().map_err(|error| format!("{}: {error}", log.display()))
}

fn print_end_of(log: &Path) {
    const LINES_MAX: usize = 25;
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    eprintln!("The end of {}:", log.display());
    for line in &lines[lines.len().saturating_sub(LINES_MAX)..] {
        eprintln!("  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_versions_that_our_tools_print() {
        assert_eq!(first_version("trunk 0.21.14\n"), Some("0.21.14"));
        assert_eq!(
            first_version("wasm-opt version 132 (version_132)"),
            Some("132")
        );
        assert_eq!(first_version("v20.20.2"), Some("20.20.2"));
        assert_eq!(first_version("usage: it"), None);
    }

    #[test]
    fn types_a_command_that_can_be_pasted() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["test", "a name", "--all"]);
        assert_eq!(as_typed(&command), "cargo test 'a name' --all");
    }
}
