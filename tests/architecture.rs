//! The arrows between the rooms, held to the source.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms that it may use besides itself.
const ARROWS: [(&str, &[&str]); 10] = [
    ("model", &[]),
    ("raster", &["model"]),
    ("store", &["model"]),
    ("games", &["model", "raster", "store"]),
    ("scan", &["model", "raster", "store", "games"]),
    ("config", &["model", "raster", "store", "games", "scan"]),
    ("demo", &["model", "store", "games"]),
    ("ops", &["model", "raster", "store", "games"]),
    ("cli", &["model", "raster", "store", "games", "scan", "config", "ops"]),
    ("tui", &["model", "raster", "store", "games", "scan", "config", "ops"]),
];

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(sources(&entry));
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
    found
}

/// The sources of a room without its tests, which may do anything.
fn code_of(room: &str) -> Vec<(PathBuf, String)> {
    let mut files = source_of(room);
    let test_modules: Vec<String> = files
        .iter()
        .flat_map(|(_, text)| text.split("#[cfg(test)]").skip(1))
        .filter_map(|after| after.trim_start().lines().next()?.strip_suffix(';')?.split_once("mod "))
        .map(|(_, name)| name.to_owned())
        .collect();
    files.retain(|(path, _)| {
        !test_modules.iter().any(|name| path.file_stem().is_some_and(|stem| stem == name.as_str()))
    });
    for (_, text) in &mut files {
        text.truncate(text.find("\nmod tests {").unwrap_or(text.len()));
    }
    files
}

fn source_of(room: &str) -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    sources(&src.join(room)).into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn rooms_import_only_along_the_arrows() {
    let mut wrong = Vec::new();
    for (room, allowed) in ARROWS {
        let files = source_of(room);
        assert!(!files.is_empty(), "the room {room} is gone");
        for (path, text) in files {
            for (line, code) in text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
                for used in code.split("crate::").skip(1) {
                    let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let is_room = ARROWS.iter().any(|(name, _)| *name == used);
                    if is_room && used != room && !allowed.contains(&used.as_str()) {
                        wrong.push(format!("{}:{}: {room} uses {used}", path.display(), line + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn games_read_only_through_a_store_and_start_no_thread() {
    for (path, code) in code_of("games").into_iter().chain(code_of("raster")) {
        for forbidden in ["std::fs", "std::thread", "println!", "eprintln!", "std::env", "rayon::"] {
            assert!(!code.contains(forbidden), "{} has {forbidden}", path.display());
        }
    }
}

#[test]
fn only_the_demo_and_the_operations_write_files() {
    for (room, _) in ARROWS.into_iter().filter(|(room, _)| !["demo", "ops"].contains(room)) {
        for (path, code) in code_of(room) {
            let std = ["fs::write", "File::create", "remove_file", "remove_dir", "fs::rename", "create_dir"];
            let system = ["OFlags::WRONLY", "OFlags::RDWR", "unlinkat", "mkdirat", "renameat", "symlinkat"];
            for forbidden in std.into_iter().chain(system) {
                assert!(!code.contains(forbidden), "{} has {forbidden}", path.display());
            }
        }
    }
}
