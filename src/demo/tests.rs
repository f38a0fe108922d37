use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use tempfile::TempDir;

use super::{MARK, MARKER, UNFINISHED, private_folder, unpack};

fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// Every file below a folder with its time and bytes.
fn files(root: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::metadata(&path).unwrap();
            if metadata.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                found.insert(name, (metadata.modified().unwrap(), fs::read(path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn the_demo_is_the_same_for_the_same_moment_and_small() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let first = unpack(&one.path().join("new/demo"), now(), &TimeZone::UTC).unwrap();
    let second = unpack(two.path(), now(), &TimeZone::UTC).unwrap();
    let (first, second) = (files(&first.root), files(&second.root));
    assert!(first == second);
    let bytes: usize = first.values().map(|(_, bytes)| bytes.len()).sum();
    assert!(first.len() > 60 && bytes < 4 << 20, "{} files, {bytes} bytes", first.len());
    assert!(first.values().all(|(time, _)| *time < SystemTime::try_from(now()).unwrap()));
}

#[test]
fn every_kind_of_save_is_there() {
    let dir = TempDir::new().unwrap();
    let files = files(&unpack(dir.path(), now(), &TimeZone::UTC).unwrap().root);
    let has = |path: &str| files.contains_key(Path::new(path));
    for path in [
        "worlds_local/Midgard/_main.17.ok",
        "worlds_local/Midgard/00_01__0_16.chunk",
        "worlds_local/Midgard.fwl",
        "worlds_local/Midgard.db",
        "worlds_local/Midgard_backup_auto-20261130-000000/_main.15.ok",
        "worlds_local/Midgard_backup_auto-20261129-120000/_main.13.ok",
        "worlds_local/Midgard_backup_auto-20260910-120000/_main.0.fwl2",
        "worlds_local/Midgard_backup_20260909-120000.db",
        "worlds_local/Grimhold/_main.8.db2",
        "worlds_local/Grimhold/_main.9.ok",
        "worlds_local/Ravenscar.db",
        "worlds_local/Ravenscar.db.old",
        "worlds_local/Thornfjord/_main.4.ok",
        "worlds_local/Thornfjord/_main.5.db2",
        "worlds_local/Skaldholm_20260909120000.fwl",
        "worlds_local/Ashvale_2026-06-25_12-00-00.db",
        "worlds_local/Farholm/_main.2.ok",
        "worlds_local/Cloudfell/cacheMinimapMeta",
        "backups/worlds-20261124-120000.zip",
    ] {
        assert!(has(path), "{path}");
    }
    assert!(!has("worlds_local/Grimhold/_main.9.db2"));
    assert!(!has("worlds_local/Thornfjord/_main.5.ok"));
    assert!(!has("worlds_local/Ashvale_2026-06-25_12-00-00.fwl"));
    let size = |path: &str| files[Path::new(path)].1.len();
    assert!(size("worlds_local/Ravenscar.db.old") > 4 * size("worlds_local/Ravenscar.db"));
}

#[test]
fn two_generations_in_one_folder_share_only_chunks_that_did_not_change() {
    let files = super::saves::all(now(), &TimeZone::UTC).unwrap();
    for dir in ["worlds_local/Grimhold/", "worlds_local/Thornfjord/"] {
        let names: Vec<_> = files.iter().map(|file| &file.path).filter(|path| path.starts_with(dir)).collect();
        let indexes = names.iter().filter(|name| name.ends_with(".chunks")).count();
        let unique: HashSet<_> = names.iter().collect();
        assert_eq!((indexes, unique.len()), (2, names.len()), "{dir}");
        let chunk_files = names.iter().filter(|name| name.contains("__")).count();
        let listed: usize = files
            .iter()
            .filter(|file| file.path.starts_with(dir) && file.path.ends_with(".chunks"))
            .map(|file| (file.bytes.len() - 10) / 11)
            .sum();
        assert!(chunk_files < listed, "{dir}: {chunk_files} files for {listed} entries");
    }
}

#[test]
fn names_have_the_wall_time_of_the_zone() {
    let dir = TempDir::new().unwrap();
    let zone = TimeZone::fixed(Offset::constant(-3));
    let files = files(&unpack(dir.path(), now(), &zone).unwrap().root);
    assert!(files.contains_key(Path::new("worlds_local/Skaldholm_20260909090000.db")));
}

#[test]
fn a_demo_that_is_there_is_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let demo = unpack(dir.path(), now(), &TimeZone::UTC).unwrap();
    assert!(demo.fresh && demo.state_dir.is_dir());
    let changed = demo.root.join("worlds_local/Midgard.fwl");
    fs::write(&changed, "mine").unwrap();
    let again = unpack(dir.path(), Timestamp::UNIX_EPOCH, &TimeZone::UTC).unwrap();
    assert_eq!((again.fresh, &again.root), (false, &demo.root));
    assert_eq!(fs::read(changed).unwrap(), b"mine");
}

#[test]
fn a_demo_that_was_cut_short_is_written_again() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join(MARKER), format!("{MARK}{UNFINISHED}")).unwrap();
    let demo = unpack(dir.path(), now(), &TimeZone::UTC).unwrap();
    assert!(demo.fresh && demo.root.join("worlds_local/Midgard/_main.17.ok").is_file());
    assert!(!unpack(dir.path(), now(), &TimeZone::UTC).unwrap().fresh);
}

#[test]
fn a_folder_with_anything_else_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("diary.txt"), "mine").unwrap();
    let error = unpack(dir.path(), now(), &TimeZone::UTC).unwrap_err();
    assert!(error.to_string().contains("holds other files"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);

    fs::write(dir.path().join(MARKER), "something else").unwrap();
    let error = unpack(dir.path(), now(), &TimeZone::UTC).unwrap_err();
    assert!(error.to_string().contains("not the marker"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_temporary_folder_is_new_and_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let within = TempDir::new().unwrap();
    let (one, two) = (private_folder(within.path()).unwrap(), private_folder(within.path()).unwrap());
    assert_ne!(one, two);
    assert_eq!(fs::metadata(one).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_clock_at_the_beginning_of_time_still_gives_a_demo() {
    let dir = TempDir::new().unwrap();
    assert!(unpack(dir.path(), Timestamp::UNIX_EPOCH, &TimeZone::UTC).unwrap().fresh);
}
