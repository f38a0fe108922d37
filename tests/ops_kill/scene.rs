//! A small save, what is done to it, and by hand what it must be afterwards.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use crate::checker::{Manifest, State, state, walk};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    RestoreFolder,
    RestorePair,
    Copy,
    Rename,
    Delete,
    UndoRestore,
    UndoPair,
    UndoDelete,
    Purge,
}

pub(crate) const CASES: [Case; 9] = [
    Case::RestoreFolder,
    Case::RestorePair,
    Case::Copy,
    Case::Rename,
    Case::Delete,
    Case::UndoRestore,
    Case::UndoPair,
    Case::UndoDelete,
    Case::Purge,
];

/// The program that carries operations out, built once by the cargo that runs the tests, or the one that `WORLDKEEP_OPERATE`
/// names: a run of hours has to keep its program while others are built.
pub(crate) fn operate() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(program) = std::env::var_os("WORLDKEEP_OPERATE") {
            return program.into();
        }
        let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_path_buf();
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "-q", "--offline", "--example", "operate"]);
        build.arg("--target-dir").arg(folder.parent().unwrap());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "examples/operate.rs does not build");
        folder.join("examples/operate")
    })
}

/// Makes the save: two worlds as folders, two as pairs, one backup, a neighbour that nobody may touch.
pub(crate) fn build(root: &Path) {
    let worlds = root.join("worlds_local");
    for (name, bytes) in [
        ("Midgard/_gen_7.chunk", "live chunk seven"),
        ("Midgard/_gen_8.chunk", "live chunk eight"),
        ("Midgard/sub/deep", "live deep"),
        ("Midgard_backup/_gen_5.chunk", "backup chunk five"),
        ("Midgard_backup/_gen_7.chunk", "backup chunk seven, which is longer"),
        ("Midgard_backup/empty", ""),
        ("A.db", "live db"),
        ("A.fwl", "live fwl"),
        ("B.db", "backup db, which is longer"),
        ("B.fwl", "backup fwl"),
        ("Neighbour/world.db", "of somebody else"),
    ] {
        let path = worlds.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fs::set_permissions(worlds.join("Midgard_backup/_gen_5.chunk"), fs::Permissions::from_mode(0o640)).unwrap();
    let _ = rustix::fs::setxattr(worlds.join("A.db"), "user.note", b"kept", rustix::fs::XattrFlags::empty());
    let _ = rustix::fs::setxattr(worlds.join("Midgard_backup"), "user.note", b"b", rustix::fs::XattrFlags::empty());
    let mut all: Vec<PathBuf> = walk(&worlds).into_keys().collect();
    all.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    for (n, path) in (0_u32..).zip(&all) {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 1000 * n);
        File::open(worlds.join(path)).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    }
}

pub(crate) fn run(args: &[String]) -> Output {
    Command::new(operate()).args(args).output().unwrap()
}

/// A save in which a case is about to be done.
pub(crate) struct Ready {
    pub(crate) args: Vec<String>,
    pub(crate) old: State,
    pub(crate) new: State,
    /// What must be somewhere on the disk, however it ends.
    pub(crate) keeps: Manifest,
}

/// What lies at `from`, as it is called at `to`.
fn moved(manifest: &Manifest, from: &str, to: &str) -> Manifest {
    let named = |path: &PathBuf| {
        path.strip_prefix(from)
            .ok()
            .map(|rest| if rest.as_os_str().is_empty() { to.into() } else { Path::new(to).join(rest) })
    };
    manifest.iter().filter_map(|(path, entry)| Some((named(path)?, entry.clone()))).collect()
}

fn without(manifest: &Manifest, names: &[&str]) -> Manifest {
    let kept = manifest.iter().filter(|(path, _)| !names.iter().any(|name| path.starts_with(name)));
    kept.map(|(path, entry)| (path.clone(), entry.clone())).collect()
}

fn only(manifest: &Manifest, names: &[&str]) -> Manifest {
    names.iter().flat_map(|name| moved(manifest, name, name)).collect()
}

fn with(mut manifest: Manifest, more: Manifest) -> Manifest {
    manifest.extend(more);
    manifest
}

const BOTH: [&str; 3] = ["Midgard", "A.db", "A.fwl"];

/// Does what has to be done before a case, in a save that [`build`] made.
pub(crate) fn ready(root: &Path, case: Case) -> Ready {
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let world = |name: &str| text(root.join("worlds_local").join(name));
    let keep = text(root.join(".worldkeep"));
    let first = state(root).live;
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let restore_folder = words(&["restore-folder", &world("Midgard"), &world("Midgard_backup"), &keep]);
    let restore_pair = words(&["restore-pair", &world("A"), &world("B"), &keep]);
    let delete = words(&["delete", &keep, &world("Midgard"), &world("A.db"), &world("A.fwl")]);
    let earlier = |args: &[String]| -> String {
        let output = run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
    };
    let undo = |args: &[String]| words(&["undo", &keep, &earlier(args)]);
    let args = match case {
        Case::RestoreFolder => restore_folder,
        Case::RestorePair => restore_pair,
        Case::Copy => words(&["copy", &world("Midgard"), &world("Asgard"), &keep]),
        Case::Rename => words(&["rename", &world("Midgard"), &world("Asgard"), &keep]),
        Case::Delete => delete,
        Case::UndoRestore => undo(&restore_folder),
        Case::UndoPair => undo(&restore_pair),
        Case::UndoDelete => undo(&delete),
        Case::Purge => words(&["purge", &keep, &earlier(&delete)]),
    };
    let restored = with(without(&first, &["Midgard"]), moved(&first, "Midgard_backup", "Midgard"));
    let paired =
        with(without(&first, &["A.db", "A.fwl"]), with(moved(&first, "B.db", "A.db"), moved(&first, "B.fwl", "A.fwl")));
    let pair = ["A.db", "A.fwl"];
    let as_state = |live: Manifest, parked: Manifest| State { live, parked };
    let before = as_state(first.clone(), Manifest::new());
    let (old, new) = match case {
        Case::RestoreFolder => (before, as_state(restored, only(&first, &["Midgard"]))),
        Case::RestorePair => (before, as_state(paired, only(&first, &pair))),
        Case::Copy => (before, as_state(with(first.clone(), moved(&first, "Midgard", "Asgard")), Manifest::new())),
        Case::Rename => {
            let live = with(without(&first, &["Midgard"]), moved(&first, "Midgard", "Asgard"));
            (before, as_state(live, only(&first, &["Midgard"])))
        }
        Case::Delete => (before, as_state(without(&first, &BOTH), only(&first, &BOTH))),
        Case::UndoRestore => {
            let parked = moved(&first, "Midgard_backup", "Midgard");
            (as_state(restored, only(&first, &["Midgard"])), as_state(first.clone(), parked))
        }
        Case::UndoPair => {
            let parked = only(&paired, &pair);
            (as_state(paired, only(&first, &pair)), as_state(first.clone(), parked))
        }
        Case::UndoDelete => (as_state(without(&first, &BOTH), only(&first, &BOTH)), before),
        Case::Purge => {
            let live = without(&first, &BOTH);
            (as_state(live.clone(), only(&first, &BOTH)), as_state(live, Manifest::new()))
        }
    };
    assert_eq!(
        state(root).untimed(),
        old.untimed(),
        "{case:?}: the save is not what it is thought to be before anything is done"
    );
    let keeps = if case == Case::Purge { old.live.clone() } else { with(old.live.clone(), old.parked.clone()) };
    Ready { args, old, new, keeps }
}

/// True when every point is wanted.
pub(crate) fn everything() -> bool {
    std::env::var_os("WORLDKEEP_FAULTS").is_some_and(|value| value == "all")
}

/// One of `of` points, or all of them when everything is wanted.
pub(crate) fn chosen<T>(points: Vec<T>, of: u64) -> Vec<T> {
    if everything() { points } else { one_of(points, of) }
}

/// One of `of` points, or of as many as `WORLDKEEP_SHARE` says: 1 is all of them.
pub(crate) fn share<T>(points: Vec<T>, of: u64) -> Vec<T> {
    let wanted = std::env::var("WORLDKEEP_SHARE").ok().and_then(|share| share.parse().ok());
    match wanted.or_else(|| everything().then_some(1)).unwrap_or(of) {
        0 | 1 => points,
        of => one_of(points, of),
    }
}

/// One of `of` points, the same ones for the same seed.
pub(crate) fn one_of<T>(points: Vec<T>, of: u64) -> Vec<T> {
    let seed: u64 = std::env::var("WORLDKEEP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = (seed + 7919 * points.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    points
        .into_iter()
        .filter(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random.is_multiple_of(of)
        })
        .collect()
}

/// Does something for each point, several at a time.
pub(crate) fn each<T: Sync, R: Send>(points: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let result = work(point);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}
