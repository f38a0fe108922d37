//! Archives as stores: every kind gives the same tree as a folder, and nothing that an archive can hold gets further
//! than an error.

// Helpers outside of `#[test]` functions may fail loudly too; this is a test program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod build;
mod damage;
mod odd;
mod same;
mod tar_hostile;
mod zip_hostile;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use worldkeep::store::{Ceilings, Store, StoreError, open};

/// A file with these bytes, and the folder that keeps it.
fn on_disk(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("archive");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Opens these bytes; the folder is deleted at once, which an open archive survives on Unix.
fn opened(bytes: &[u8], ceilings: &Ceilings) -> Result<Box<dyn Store>, StoreError> {
    let (folder, path) = on_disk(bytes);
    let store = open(&path, ceilings);
    drop(folder);
    store
}

/// Opens these bytes, which are an archive.
fn sound(bytes: &[u8]) -> Box<dyn Store> {
    opened(bytes, &Ceilings::default()).unwrap()
}

/// Why these bytes are no archive for us.
fn refusal(bytes: &[u8]) -> StoreError {
    match opened(bytes, &Ceilings::default()) {
        Ok(store) => panic!("accepted: {:?}", paths(store.as_ref())),
        Err(error) => error,
    }
}

/// Every path in a store, folders with a slash at their end, sorted.
fn paths(store: &dyn Store) -> Vec<String> {
    fn walk(store: &dyn Store, dir: &Path, into: &mut Vec<String>) {
        for entry in store.list(dir).unwrap() {
            let path = dir.join(&entry.name);
            let shown = path.to_string_lossy().into_owned();
            if entry.kind == worldkeep::store::EntryKind::Dir {
                into.push(format!("{shown}/"));
                walk(store, &path, into);
            } else {
                into.push(shown);
            }
        }
    }
    let mut all = Vec::new();
    walk(store, Path::new(""), &mut all);
    all
}

/// The content of a file.
fn content(store: &dyn Store, path: &str) -> Vec<u8> {
    store.read(Path::new(path), u64::MAX).unwrap()
}
