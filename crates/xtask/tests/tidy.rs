//! What the compiler does not check: which crate may know which, how files begin, what lock files name.
//!
//! The layers are a house with stairs in one direction. The compiler stops a crate from using what it does not
//! depend on; this stops somebody from adding the dependency.

use std::fs;
use std::path::{Path, PathBuf};

const WEB: [&str; 7] = [
    "yew",
    "web-sys",
    "js-sys",
    "wasm-bindgen",
    "gloo-timers",
    "plotters",
    "plotters-canvas",
];

/// Each crate, and which of ours it may depend on, for anything: code, tests and build alike.
const LAYERS: [(&str, &[&str]); 5] = [
    ("engine", &[]),
    ("lesson", &["leasehold-engine"]),
    ("player", &["leasehold-engine", "leasehold-lesson"]),
    (
        "cli",
        &["leasehold-engine", "leasehold-lesson", "leasehold-player"],
    ),
    ("xtask", &[]),
];

#[test]
fn no_layer_knows_the_one_above_it_nor_the_web() {
    for (layer, allowed) in LAYERS {
        let manifest = root().join("crates").join(layer).join("Cargo.toml");
        for dependency in dependencies(&read(&manifest)) {
            let is_ours = dependency.starts_with("leasehold-") || dependency == "xtask";
            assert!(
                !is_ours || allowed.contains(&dependency.as_str()),
                "crates/{layer} depends on {dependency}, which is not below it"
            );
            assert!(
                !WEB.contains(&dependency.as_str()),
                "crates/{layer} depends on {dependency}; only the page may"
            );
        }
    }
}

#[test]
fn xtask_depends_on_nothing() {
    let manifest = read(&root().join("crates/xtask/Cargo.toml"));
    assert_eq!(
        dependencies(&manifest),
        Vec::<String>::new(),
        "a first `cargo xtask` must be quick"
    );
}

#[test]
fn every_source_says_first_what_it_is() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|source| !read(source).starts_with("//!"))
        .map(|source| shown(&source))
        .collect();
    assert!(
        silent.is_empty(),
        "these do not begin with `//!`: {silent:#?}"
    );
}

#[test]
fn lock_files_name_public_registries_only() {
    for line in read(&root().join("Cargo.lock")).lines() {
        let Some(source) = line.strip_prefix("source = ") else {
            continue;
        };
        assert_eq!(
            source,
            "\"registry+https://github.com/rust-lang/crates.io-index\""
        );
    }
    for line in read(&root().join("e2e/package-lock.json")).lines() {
        assert!(
            !line.contains("\"resolved\":") || line.contains("\"https://registry.npmjs.org/"),
            "e2e/package-lock.json: {line}"
        );
    }
}

#[test]
fn reads_every_form_of_a_dependency() {
    let manifest = r#"
[package]
name = "yew"
[dependencies]
serde.workspace = true
rand = { version = "1", features = ["std"] }
list = [
    "x",
]
[dependencies.toml]
version = "1"
[target.'cfg(unix)'.dev-dependencies]
"libc" = "1"
[lints]
workspace = true
"#;
    assert_eq!(
        dependencies(manifest),
        ["serde", "rand", "list", "toml", "libc"]
    );
}

/// The names in every table of dependencies, as written; a renamed one counts by its package too.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_table = false;
    for line in manifest.lines() {
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
        {
            let single = header.rsplit_once("dependencies.");
            in_table = header.ends_with("dependencies");
            names.extend(single.map(|(_, name)| name.to_owned()));
        } else if in_table && !line.starts_with([' ', '#', ']', '}']) {
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let name = key
                .trim()
                .split('.')
                .next()
                .unwrap_or(key)
                .trim_matches('"');
            names.push(name.to_owned());
            names.extend(renamed_from(value));
        }
    }
    names
}

fn renamed_from(value: &str) -> Option<String> {
    let (_, rest) = value.split_once("package = \"")?;
    Some(rest.split('"').next()?.to_owned())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let mut left = vec![root().join("src"), root().join("crates")];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).expect("a directory of ours can be read") {
            let path = entry.expect("an entry of ours can be read").path();
            let is_build = path.ends_with("target") || path.ends_with("node_modules");
            if path.is_dir() && !is_build {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources.sort();
    assert!(!sources.is_empty());
    sources
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", shown(file)))
}

fn shown(file: &Path) -> String {
    file.strip_prefix(root())
        .unwrap_or(file)
        .display()
        .to_string()
}
