//! A folder as a store: what is listed, what is opened, and what the errors say.

// Helpers outside of `#[test]` functions may fail loudly too; this is a test program.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[cfg(unix)]
#[path = "support/nobody.rs"]
mod nobody;

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use worldkeep::store::{Ceilings, EntryKind, FolderStore, Store, StoreErrorKind, open};

fn store(root: &TempDir) -> FolderStore {
    FolderStore::new(root.path(), &Ceilings::default()).unwrap()
}

fn names(store: &dyn Store, dir: &str) -> Vec<(String, EntryKind, bool)> {
    let entries = store.list(Path::new(dir)).unwrap();
    entries.into_iter().map(|e| (e.name.to_string_lossy().into_owned(), e.kind, e.link)).collect()
}

#[test]
fn names_come_sorted_by_their_bytes_with_their_kinds() {
    let root = TempDir::new().unwrap();
    for name in ["b", "a", "B", "ä", "a b"] {
        fs::write(root.path().join(name), name).unwrap();
    }
    fs::create_dir(root.path().join("W")).unwrap();
    let listed = names(&store(&root), "");
    let expected = [
        ("B", EntryKind::File),
        ("W", EntryKind::Dir),
        ("a", EntryKind::File),
        ("a b", EntryKind::File),
        ("b", EntryKind::File),
        ("ä", EntryKind::File),
    ];
    let expected: Vec<_> = expected.map(|(name, kind)| (name.to_owned(), kind, false)).into();
    assert_eq!(listed, expected);
    assert!(names(&store(&root), "W").is_empty());
}

#[test]
fn a_file_is_read_whole_or_refused_by_its_size() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("W.db"), b"0123456789").unwrap();
    let store = store(&root);
    let path = Path::new("W.db");
    assert_eq!(store.read(path, 10).unwrap(), b"0123456789");
    assert_eq!(store.read(path, 9).unwrap_err().kind, StoreErrorKind::TooLarge { size: 10, ceiling: 9 });
    assert_eq!(store.read_start(path, 4).unwrap(), b"0123");
    assert_eq!(store.read_start(path, 400).unwrap(), b"0123456789");
    let stat = store.stat(path).unwrap();
    assert_eq!((stat.kind, stat.size), (EntryKind::File, 10));
    assert!(stat.mtime.is_some());
}

#[test]
fn an_empty_file_is_read_as_no_bytes_under_any_ceiling() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("e"), b"").unwrap();
    assert_eq!(store(&root).read(Path::new("e"), 0).unwrap(), b"");
}

#[test]
fn what_is_not_there_is_told_from_what_is_of_another_kind() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("W")).unwrap();
    fs::write(root.path().join("f"), b"x").unwrap();
    let store = store(&root);
    assert!(store.read(Path::new("none"), 9).unwrap_err().is_not_found());
    assert!(store.stat(Path::new("W/none")).unwrap_err().is_not_found());
    assert!(store.list(Path::new("none")).unwrap_err().is_not_found());
    assert_eq!(store.read(Path::new("W"), 9).unwrap_err().kind, StoreErrorKind::NotAFile);
    assert!(store.open(Path::new("")).is_err_and(|e| e.kind == StoreErrorKind::NotAFile));
    assert_eq!(store.list(Path::new("f")).unwrap_err().kind, StoreErrorKind::NotADir);
    let below = store.stat(Path::new("f/x/y")).unwrap_err();
    assert_eq!((below.kind, below.path.as_path()), (StoreErrorKind::NotADir, Path::new("f")));
}

#[test]
fn a_path_that_climbs_or_starts_at_the_top_is_refused() {
    let root = TempDir::new().unwrap();
    let inside = root.path().join("in");
    fs::create_dir(&inside).unwrap();
    fs::write(root.path().join("secret"), b"x").unwrap();
    let store = FolderStore::new(&inside, &Ceilings::default()).unwrap();
    let top = root.path().join("secret");
    for path in [Path::new("../secret"), Path::new("a/../../secret"), Path::new("./secret"), top.as_path()] {
        for kind in [
            store.read(path, 9).unwrap_err().kind,
            store.stat(path).unwrap_err().kind,
            store.list(path).unwrap_err().kind,
        ] {
            assert!(matches!(kind, StoreErrorKind::Hostile(_)), "{path:?}: {kind:?}");
        }
    }
}

#[test]
fn more_names_than_the_ceiling_are_an_error() {
    let root = TempDir::new().unwrap();
    for i in 0..5 {
        fs::write(root.path().join(i.to_string()), b"").unwrap();
    }
    let at = |entries| FolderStore::new(root.path(), &Ceilings { entries, ..Ceilings::default() }).unwrap();
    assert_eq!(at(5).list(Path::new("")).unwrap().len(), 5);
    assert_eq!(at(4).list(Path::new("")).unwrap_err().kind, StoreErrorKind::TooMany { ceiling: 4 });
}

#[test]
fn opening_tells_folders_from_what_is_no_archive() {
    let root = TempDir::new().unwrap();
    let plain = root.path().join("notes.zip");
    fs::write(&plain, b"no archive at all").unwrap();
    assert_eq!(open(root.path(), &Ceilings::default()).unwrap().outer(), root.path());
    let error = open(&plain, &Ceilings::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("neither a folder nor an archive"), "{error}");
    assert!(open(&root.path().join("none"), &Ceilings::default()).is_err_and(|e| e.is_not_found()));
    assert!(FolderStore::new(&plain, &Ceilings::default()).is_err_and(|e| e.kind == StoreErrorKind::NotADir));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use std::process::Command;

    use tempfile::TempDir;
    use worldkeep::store::{Ceilings, EntryKind, FolderStore, Store, StoreErrorKind};

    use super::nobody::done_as_nobody;
    use super::{names, store};

    #[test]
    fn links_are_followed_and_marked() {
        let other = TempDir::new().unwrap();
        fs::create_dir(other.path().join("W")).unwrap();
        fs::write(other.path().join("W/a"), b"far").unwrap();
        let root = TempDir::new().unwrap();
        symlink(other.path().join("W"), root.path().join("dir")).unwrap();
        symlink(other.path().join("W/a"), root.path().join("file")).unwrap();
        symlink("nowhere", root.path().join("dangling")).unwrap();
        symlink("loop2", root.path().join("loop1")).unwrap();
        symlink("loop1", root.path().join("loop2")).unwrap();
        let store = store(&root);
        let kinds: Vec<_> = names(&store, "").into_iter().map(|(name, kind, link)| (name, (kind, link))).collect();
        let special = (EntryKind::Special, true);
        let expected = [
            ("dangling", special),
            ("dir", (EntryKind::Dir, true)),
            ("file", (EntryKind::File, true)),
            ("loop1", special),
            ("loop2", special),
        ];
        assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(store.read(Path::new("dir/a"), 9).unwrap(), b"far");
        assert_eq!(store.read(Path::new("file"), 9).unwrap(), b"far");
        for path in ["dangling", "loop1"] {
            assert_eq!(store.stat(Path::new(path)).unwrap().kind, EntryKind::Special, "{path}");
            assert_eq!(store.read(Path::new(path), 9).unwrap_err().kind, StoreErrorKind::NotAFile, "{path}");
        }
        let below = store.stat(Path::new("loop1/x")).unwrap_err();
        assert!(below.to_string().contains("circle"), "{below}");
    }

    #[test]
    fn pipes_sockets_and_devices_are_listed_and_never_opened() {
        let root = TempDir::new().unwrap();
        let made = Command::new("mkfifo").arg(root.path().join("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of every Unix");
        let _socket = UnixListener::bind(root.path().join("socket")).unwrap();
        symlink("/dev/zero", root.path().join("zero")).unwrap();
        symlink("pipe", root.path().join("to-pipe")).unwrap();
        let store = store(&root);
        assert!(names(&store, "").iter().all(|(_, kind, _)| *kind == EntryKind::Special));
        for path in ["pipe", "socket", "zero", "to-pipe"] {
            let path = Path::new(path);
            assert_eq!(store.stat(path).unwrap().kind, EntryKind::Special, "{path:?}");
            assert!(store.open(path).is_err_and(|e| e.kind == StoreErrorKind::NotAFile), "{path:?}");
            assert_eq!(store.read(path, 9).unwrap_err().kind, StoreErrorKind::NotAFile, "{path:?}");
        }
        assert_eq!(store.list(Path::new("pipe")).unwrap_err().kind, StoreErrorKind::NotADir);
    }

    #[test]
    fn names_that_are_no_text_stay_bytes() {
        let root = TempDir::new().unwrap();
        let name = OsStr::from_bytes(b"W\xff\n.db");
        if fs::write(root.path().join(name), b"x").is_err() {
            eprintln!("skipped: this file system only holds names that are text");
            return;
        }
        let store = store(&root);
        assert_eq!(store.list(Path::new("")).unwrap()[0].name, name);
        assert_eq!(store.read(Path::new(name), 9).unwrap(), b"x");
    }

    #[test]
    fn a_name_that_is_too_long_is_an_error_in_plain_words() {
        let root = TempDir::new().unwrap();
        let error = store(&root).stat(Path::new(&"x".repeat(300))).unwrap_err();
        assert!(error.to_string().contains("longer than the file system allows"), "{error}");
    }

    #[test]
    fn what_stands_in_the_way_is_told_with_mode_and_owner() {
        if done_as_nobody("unix::what_stands_in_the_way_is_told_with_mode_and_owner") {
            return;
        }
        let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let root = TempDir::new().unwrap();
        let world = root.path().join("W");
        fs::create_dir_all(world.join("deep")).unwrap();
        fs::write(world.join("a"), b"x").unwrap();
        fs::write(world.join("deep/b"), b"x").unwrap();
        symlink(world.join("a"), root.path().join("link")).unwrap();
        let owner = format!("owner {}:{}", rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let store = FolderStore::new(root.path(), &Ceilings::default()).unwrap();
        let said = |path: &str| match store.read(Path::new(path), 9).unwrap_err().kind {
            StoreErrorKind::Denied(why) => why,
            other => panic!("{path}: {other:?}"),
        };

        chmod(&world.join("a"), 0o200);
        assert_eq!(said("W/a"), format!("file cannot be read (mode 0200, {owner})"));

        // The folder that lost its execute bit: its names can be listed, nothing in it can be opened.
        chmod(&world, 0o644);
        assert_eq!(said("W/a"), format!("folder cannot be entered (mode 0644, {owner})"));
        assert_eq!(said("W/deep/b"), format!("folder {} cannot be entered (mode 0644, {owner})", world.display()));
        assert_eq!(said("link"), format!("folder {} cannot be entered (mode 0644, {owner})", world.display()));
        assert_eq!(names(&store, "W").len(), 2);
        assert_eq!(names(&store, "")[1], ("link".to_owned(), EntryKind::File, true));

        chmod(&world, 0o311);
        let denied = store.list(Path::new("W")).unwrap_err();
        assert_eq!(denied.kind, StoreErrorKind::Denied(format!("folder cannot be listed (mode 0311, {owner})")));
        chmod(&world, 0o755);
    }
}
