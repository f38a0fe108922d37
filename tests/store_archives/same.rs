//! The same tree in a folder and in every kind of archive looks the same through the trait.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use worldkeep::model::Container;
use worldkeep::store::{Ceilings, EntryKind, Store, StoreErrorKind, open};

use crate::build::{MTIME, every_kind, tree};
use crate::{on_disk, paths, sound};

fn folder() -> (TempDir, Box<dyn Store>) {
    let root = TempDir::new().unwrap();
    for (path, content) in tree() {
        let place = root.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(place).unwrap();
        } else {
            fs::write(&place, content).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(MTIME);
            File::options().write(true).open(place).unwrap().set_modified(time).unwrap();
        }
    }
    let store = open(root.path(), &Ceilings::default()).unwrap();
    (root, store)
}

/// Everything that a store says about a tree, as text.
fn all_of(store: &dyn Store) -> String {
    let mut out = String::new();
    for path in paths(store) {
        let path = Path::new(&path);
        let stat = store.stat(path).unwrap();
        // Folders have times of their own in a folder, which the tree does not set.
        let mtime = if stat.kind == EntryKind::File { stat.mtime } else { None };
        writeln!(out, "{} {:?} {} {mtime:?}", path.display(), stat.kind, stat.size).unwrap();
        if stat.kind == EntryKind::File {
            let bytes = store.read(path, u64::MAX).unwrap();
            let mut streamed = Vec::new();
            store.open(path).unwrap().read_to_end(&mut streamed).unwrap();
            assert_eq!(bytes, streamed, "{}", path.display());
            assert_eq!(store.read_start(path, 10).unwrap(), bytes[..bytes.len().min(10)], "{}", path.display());
            assert_eq!(bytes.len() as u64, stat.size);
            let mut crc = flate2::Crc::new();
            crc.update(&bytes);
            writeln!(out, "  {:08x}", crc.sum()).unwrap();
        }
    }
    out
}

#[test]
fn every_container_gives_the_same_tree_as_a_folder() {
    let (_root, folder) = folder();
    let wanted = all_of(folder.as_ref());
    assert_eq!(wanted.lines().count(), 15, "{wanted}");
    for (kind, bytes) in every_kind(&tree()) {
        let store = sound(&bytes);
        assert_eq!(all_of(store.as_ref()), wanted, "{kind}");
        assert_eq!(store.damage(), None, "{kind}");
        let container = if kind == "zip" { Container::Zip } else { Container::Tar };
        assert_eq!(store.container(), container, "{kind}");
    }
}

#[test]
fn every_container_gives_the_same_errors_as_a_folder() {
    let (_root, folder) = folder();
    let errors = |store: &dyn Store| {
        let mut out = Vec::new();
        for path in ["none", "worlds_local/none", "worlds_local", "", "notes.txt", "notes.txt/x", "empty", "../x", "/x"]
        {
            let path = Path::new(path);
            out.push(store.list(path).err().map(|e| (e.kind, e.path)));
            out.push(store.stat(path).err().map(|e| (e.kind, e.path)));
            out.push(store.read(path, 3).err().map(|e| (e.kind, e.path)));
            out.push(store.open(path).err().map(|e| (e.kind, e.path)));
        }
        out
    };
    let wanted = errors(folder.as_ref());
    assert!(wanted.iter().any(|e| matches!(e, Some((StoreErrorKind::TooLarge { size: 8, ceiling: 3 }, _)))));
    for (kind, bytes) in every_kind(&tree()) {
        assert_eq!(errors(sound(&bytes).as_ref()), wanted, "{kind}");
    }
}

#[test]
fn an_archive_is_shown_with_its_place_on_disk() {
    for (kind, bytes) in every_kind(&tree()) {
        let (_folder, path) = on_disk(&bytes);
        let store = open(&path, &Ceilings::default()).unwrap();
        assert_eq!(store.outer(), path, "{kind}");
        assert_eq!(store.display(Path::new("a/b")), path.join("a/b"), "{kind}");
        assert_eq!(store.display(Path::new("")), path, "{kind}");
    }
}

#[test]
fn several_threads_read_one_archive_at_once() {
    for (kind, bytes) in every_kind(&tree()) {
        // So little memory that packed tars are unpacked again and again.
        let store = crate::opened(&bytes, &Ceilings { archive_memory: 45_000, ..Ceilings::default() }).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for (path, content) in tree() {
                        if !path.ends_with('/') {
                            assert_eq!(store.read(Path::new(path), u64::MAX).unwrap(), content, "{kind} {path}");
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn a_packed_tar_gives_every_file_whatever_memory_it_may_use() {
    let files: Vec<_> = tree().into_iter().filter(|(path, _)| !path.ends_with('/')).collect();
    for (kind, bytes) in every_kind(&tree()) {
        for archive_memory in [0, 1, 3000, 3004, 70_000, 73_003, 1_000_000] {
            let store = crate::opened(&bytes, &Ceilings { archive_memory, ..Ceilings::default() }).unwrap();
            for (path, content) in files.iter().chain(files.iter().rev()) {
                assert_eq!(&crate::content(store.as_ref(), path), content, "{kind} {path} {archive_memory}");
            }
        }
    }
}
