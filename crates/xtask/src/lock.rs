//! Reads one package's version out of `Cargo.lock`.
//!
//! wasm-bindgen is a pair of scissors: the half in the program and the half on the command line cut only
//! when they are of the same version. The lock file names the one; so we install the other from it. This is
//! no TOML parser: cargo writes the file, always in this shape.

/// The version of the first package of that name, or `None` if the lock file does not hold it.
pub(crate) fn version_of<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        if quoted(line, "name") == Some(package) {
            return lines.next().and_then(|line| quoted(line, "version"));
        }
    }
    None
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?
        .strip_prefix(" = \"")?
        .strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"version = 4

[[package]]
name = "wasm-bindgen-macro"
version = "0.2.1"
dependencies = [
 "wasm-bindgen",
]

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
"#;

    #[test]
    fn finds_the_package_and_not_its_namesakes() {
        assert_eq!(version_of(LOCK, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(version_of(LOCK, "wasm-bindgen-macro"), Some("0.2.1"));
        assert_eq!(version_of(LOCK, "bindgen"), None);
        assert_eq!(version_of("", "wasm-bindgen"), None);
    }

    #[test]
    fn finds_it_in_our_own_lock_file() {
        let ours = include_str!("../../../Cargo.lock");
        assert!(version_of(ours, "wasm-bindgen").is_some());
    }
}
