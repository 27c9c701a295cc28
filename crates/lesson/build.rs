//! Lists the files of the folder `lessons`, so that the crate can carry them.
//!
//! A porter with a trolley: what stands in the folder is taken along, README apart; nothing is read
//! here but the line `order = N` that says where on the shelf a lesson stands.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../lessons")
        .canonicalize()
        .expect("the folder `lessons` stands beside `crates`");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut lessons = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder `lessons` can be read") {
        let path = entry.expect("its entries can be read").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".md") || name == "README.md" {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("a lesson is UTF-8 text");
        lessons.push((order(&text), name, path));
    }
    lessons.sort();
    let mut out =
        String::from("/// Every lesson, in order.\npub const LESSONS: &[LessonFile] = &[\n");
    for (_, name, path) in lessons {
        let path = path.display().to_string();
        out.push_str(&format!(
            "    LessonFile {{ file: {name:?}, text: include_str!({path:?}) }},\n"
        ));
    }
    out.push_str("];\n");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("library.rs");
    fs::write(target, out).expect("the build folder can be written");
}

fn order(text: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("order"));
    let value = line.and_then(|rest| rest.trim_start().strip_prefix('='));
    value
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(u64::MAX)
}
