//! Restores as one should not write them: the checker has to catch them, or it proves nothing.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::checker::{State, Verdict, judge};
use crate::scene::{Case, build, each, ready};
use crate::trace::{inject, points, usable, was_killed};

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Removes what the source does not have.
fn only_what(source: &Path, live: &Path) {
    for entry in fs::read_dir(live).unwrap().map(Result::unwrap) {
        if source.join(entry.file_name()).exists() {
            continue;
        }
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// What the tests below start again as a program of its own; by itself it does nothing.
#[test]
fn driver() {
    let Some(words) = std::env::var_os("WORLDKEEP_CONTROL") else { return };
    let words = words.into_string().unwrap();
    let (how, root) = words.split_once(' ').unwrap();
    let worlds = Path::new(root).join("worlds_local");
    let (live, source) = (worlds.join("Midgard"), worlds.join("Midgard_backup"));
    match how {
        "wipe" => {
            fs::remove_dir_all(&live).unwrap();
            copy_tree(&source, &live);
        }
        "in-place" => {
            copy_tree(&source, &live);
            only_what(&source, &live);
        }
        "unsynced" => {
            // Wholly or not at all, as long as the power stays on.
            let parked = Path::new(root).join(".worldkeep/recycle/0/worlds_local/Midgard");
            copy_tree(&source, &parked);
            rustix::fs::renameat_with(
                rustix::fs::CWD,
                &parked,
                rustix::fs::CWD,
                &live,
                rustix::fs::RenameFlags::EXCHANGE,
            )
            .unwrap();
        }
        _ => panic!("{how}"),
    }
}

/// The program and the arguments that run a control.
pub(crate) fn program(how: &str, root: &Path) -> (PathBuf, Vec<String>) {
    let exe = std::env::current_exe().unwrap();
    let words = [
        &format!("WORLDKEEP_CONTROL={how} {}", root.display()),
        exe.to_str().unwrap(),
        "--exact",
        "control::driver",
        "--test-threads=1",
    ];
    ("/usr/bin/env".into(), words.iter().map(|word| (*word).to_owned()).collect())
}

/// Bytes only: the controls keep no times.
pub(crate) fn bare(state: &State) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    state.live.iter().map(|(path, entry)| (path.clone(), entry.bytes.clone())).collect()
}

fn caught(how: &str) -> (usize, usize, usize, usize) {
    let scene = || {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("root");
        build(&root);
        let ready = ready(&root, Case::RestoreFolder);
        (dir, root, ready)
    };
    let (_dir, root, first) = scene();
    let (exe, args) = program(how, &root);
    let all = points(&exe, &args, &root);
    assert_eq!(bare(&crate::checker::state(&root)), bare(&first.new), "the control {how} does not even restore");
    let results = each(&all, |point| {
        let (_dir, root, ready) = scene();
        let (exe, args) = program(how, &root);
        let killed = was_killed(&inject(&exe, &args, point, "signal=KILL", false));
        let is = crate::checker::state(&root);
        let (is, old, new) = (bare(&is), bare(&ready.old), bare(&ready.new));
        let judged = judge(&root, &ready.old, &ready.new, &ready.keeps);
        // A control that has done everything is let off for the times that it does not keep.
        let torn = killed && is != old && is != new;
        assert!(!torn || matches!(judged.verdict, Verdict::Mixed | Verdict::Missing), "{how} {point:?}: {judged:?}");
        (torn, killed && !judged.gone.is_empty(), killed)
    });
    let count = |pick: fn(&(bool, bool, bool)) -> bool| results.iter().filter(|one| pick(one)).count();
    (results.len(), count(|one| one.0), count(|one| one.1), count(|one| one.2))
}

#[test]
fn the_checker_catches_careless_restores() {
    if !usable() {
        return;
    }
    for how in ["wipe", "in-place"] {
        let (points, torn, gone, killed) = caught(how);
        eprintln!(
            "| control: {how} | kill at each call | {points}, {killed} killed | {torn} torn, {gone} with the old world lost |"
        );
        assert!(torn > 5 && gone > 5, "{how}: {torn} torn and {gone} gone of {points}");
    }
}
