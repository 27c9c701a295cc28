//! Runs the same worlds natively and in wasm, and compares what they print byte for byte.
//!
//! Two clocks from one workshop, side by side: it is not enough that both go; they must show the same. The
//! worlds and the lines are the `equality` package's business, the comparison is ours.

use std::fs;

use crate::shell::{self, Failure, Output, Site};

const NATIVE: &str = "run --quiet --release --package equality -- native";
const BUILD_WASM: &str = "build --release --package equality --lib --target wasm32-unknown-unknown";
const BY_HAND: &str =
    "cargo run --quiet --release --package equality -- native > target/xtask/native.txt";

pub(crate) fn run(site: &Site) -> Result<(), Failure> {
    println!("$ {BY_HAND}");
    let native = shell::answer_of(&mut site.cargo(NATIVE))?;
    shell::run(&mut site.cargo(BUILD_WASM), Output::Terminal)?;
    let module = site
        .target_dir()
        .join("wasm32-unknown-unknown/release/equality.wasm");
    println!(
        "$ node crates/equality/run.mjs {} > target/xtask/wasm.txt",
        module.display()
    );
    let wasm = shell::answer_of(
        site.command("node")
            .arg("crates/equality/run.mjs")
            .arg(module),
    )?;
    keep(site, &native, &wasm).map_err(|error| Failure::new(error.to_string(), BY_HAND))?;
    compare(&native, &wasm).map_err(|what| Failure::new(what, BY_HAND))?;
    let last = String::from_utf8_lossy(last_line(&native)).into_owned();
    println!(
        "native and wasm print the same {} bytes in {} lines",
        native.len(),
        lines(&native)
    );
    println!("the last line of both: {last}");
    Ok(())
}

fn keep(site: &Site, native: &[u8], wasm: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(site.scratch_dir())?;
    fs::write(site.scratch_dir().join("native.txt"), native)?;
    fs::write(site.scratch_dir().join("wasm.txt"), wasm)
}

/// Nothing printed is not the same printed.
fn compare(native: &[u8], wasm: &[u8]) -> Result<(), String> {
    if native.is_empty() {
        return Err("the native run printed nothing".to_owned());
    }
    if native == wasm {
        return Ok(());
    }
    let mut ours = native.split(|byte| *byte == b'\n');
    let mut theirs = wasm.split(|byte| *byte == b'\n');
    let mut number = 1;
    loop {
        let (native, wasm) = (ours.next(), theirs.next());
        if native != wasm {
            return Err(format!(
                "native and wasm part in line {number} of target/xtask/{{native,wasm}}.txt\n  \
                 native: {}\n  wasm:   {}",
                shown(native),
                shown(wasm),
            ));
        }
        number += 1;
    }
}

fn shown(line: Option<&[u8]>) -> String {
    line.map_or_else(
        || "(ended)".to_owned(),
        |line| String::from_utf8_lossy(line).into_owned(),
    )
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn last_line(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_equal() {
        assert_eq!(compare(b"a\nb\n", b"a\nb\n"), Ok(()));
        assert_eq!(last_line(b"a\n2 worlds\n"), b"2 worlds");
    }

    #[test]
    fn names_the_first_line_that_differs() {
        let what = compare(b"a\nb\nc\n", b"a\nx\nc\n").expect_err("they differ");
        assert!(what.contains("part in line 2"), "{what}");
        let what = compare(b"a\nb\n", b"a\n").expect_err("one is shorter");
        assert!(what.contains("part in line 2"), "{what}");
    }

    #[test]
    fn silence_is_no_proof() {
        assert!(compare(b"", b"").is_err());
    }
}
