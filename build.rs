//! Reads the lessons when the page is built, so that the page carries them and not their parser.
//!
//! A kitchen that serves the meal and not the cookbook. A lesson that cannot be read stops the build, with
//! file, line, column and what would be right.

use std::path::PathBuf;
use std::{env, fs};

use leasehold_lesson::lesson::Lesson;
use leasehold_lesson::library::LESSONS;

fn main() {
    let mut lessons: Vec<Lesson> = Vec::new();
    let mut wrong = Vec::new();
    for file in LESSONS {
        match leasehold_lesson::parse(file.text, file.file) {
            Ok(lesson) => lessons.push(lesson),
            Err(all) => wrong.extend(all.iter().map(ToString::to_string)),
        }
    }
    assert!(wrong.is_empty(), "lessons/{}", wrong.join("\nlessons/"));
    let bytes = postcard::to_stdvec(&lessons).expect("lessons are plain data");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("lessons.bin");
    fs::write(target, bytes).expect("the build folder can be written");
}
