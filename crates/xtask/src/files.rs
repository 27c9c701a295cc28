//! Walks directories and compares ages: what make does with its timestamps, in the few lines we need.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Every file below `dir`, sorted; nothing if there is no such directory.
pub(crate) fn below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        if !dir.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path)
            } else {
                files.push(path)
            }
        }
    }
    files.sort();
    Ok(files)
}

/// When the youngest of these files, or of the files below these directories, was last changed.
pub(crate) fn youngest(paths: &[PathBuf]) -> io::Result<Option<SystemTime>> {
    let mut youngest = None;
    for path in paths {
        let files = if path.is_dir() {
            below(path)?
        } else {
            vec![path.clone()]
        };
        for file in files.iter().filter(|file| file.exists()) {
            youngest = youngest.max(Some(fs::metadata(file)?.modified()?));
        }
    }
    Ok(youngest)
}
