//! Finds lessons and proofs on disk.
//!
//! A folder stands for the lessons in it, README apart; proofs lie beside them in
//! `proofs/LESSON/GOAL.txt`.

use std::fs;
use std::path::{Path, PathBuf};

/// A lesson's file and its text.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// All lessons at the paths, or what cannot be read.
pub(crate) fn find(paths: &[String]) -> Result<Vec<Found>, String> {
    let mut all = Vec::new();
    for path in paths {
        let path = PathBuf::from(path);
        if path.is_dir() {
            let mut inside = lessons_in(&path)?;
            if inside.is_empty() {
                return Err(format!(
                    "{}: there is no lesson in this folder",
                    path.display()
                ));
            }
            inside.sort();
            for path in inside {
                all.push(Found {
                    text: read(&path)?,
                    path,
                });
            }
        } else {
            all.push(Found {
                text: read(&path)?,
                path,
            });
        }
    }
    Ok(all)
}

fn lessons_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_lesson = |path: &PathBuf| {
        let is_readme = path.file_name().is_some_and(|name| name == "README.md");
        path.extension().is_some_and(|extension| extension == "md") && !is_readme
    };
    Ok(paths.filter(is_lesson).collect())
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The file that proves a goal of a lesson, whether it exists or not, and its text if it does.
pub(crate) fn proof(lesson: &Path, lesson_id: &str, goal_id: &str) -> (String, Option<String>) {
    let folder = lesson.parent().unwrap_or(Path::new(""));
    let path = folder
        .join("proofs")
        .join(lesson_id)
        .join(format!("{goal_id}.txt"));
    (path.display().to_string(), fs::read_to_string(&path).ok())
}
