//! Power that is lost: the operation is killed at a call on a file system in an image, and what had reached the image by
//! then is mounted again, as after the next boot. What only the kernel's memory held is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::checker::{Judged, State, Verdict, judge, judge_as, state};
use crate::control::{self, bare};
use crate::kill::recover_args;
use crate::scene::{Case, Ready, build, chosen, operate, ready, run};
use crate::trace::{Point, inject, points, usable};

/// Something to mount, and how it is made.
struct Kind {
    name: &'static str,
    make: &'static [&'static str],
    size: u64,
    options: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { name: "ext4", make: &["mkfs.ext4", "-q", "-F"], size: 16 << 20, options: "loop" },
    Kind {
        name: "ext4, data=writeback",
        make: &["mkfs.ext4", "-q", "-F"],
        size: 16 << 20,
        options: "loop,data=writeback",
    },
    Kind { name: "xfs", make: &["mkfs.xfs", "-q", "-f"], size: 300 << 20, options: "loop" },
    Kind { name: "btrfs", make: &["mkfs.btrfs", "-q", "-f"], size: 114 << 20, options: "loop" },
];

fn quiet(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A mount that ends with this value.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, at: &Path, options: &str) -> Option<Self> {
        quiet(Command::new("mount").args(["-o", options]).arg(image).arg(at)).then(|| Self(at.to_path_buf()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for _ in 0..50 {
            if quiet(Command::new("umount").arg(&self.0)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        eprintln!("'{}' stays mounted", self.0.display());
    }
}

/// A file system of a kind with a save in it, in which something is about to be done.
struct Prepared {
    dir: TempDir,
    ready: Ready,
}

impl Prepared {
    fn new(kind: &Kind, case: Case) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: {}: only root can mount", kind.name);
            return None;
        }
        let dir = TempDir::new().unwrap();
        let image = dir.path().join("first");
        fs::File::create(&image).unwrap().set_len(kind.size).unwrap();
        let (program, options) = kind.make.split_first().unwrap();
        if !quiet(Command::new(program).args(options).arg(&image)) {
            eprintln!("skipped: {}: {program} does not run here", kind.name);
            return None;
        }
        fs::create_dir(dir.path().join("mnt")).unwrap();
        let Some(mounted) = Mounted::new(&image, &dir.path().join("mnt"), kind.options) else {
            eprintln!("skipped: {}: it cannot be mounted here", kind.name);
            return None;
        };
        let root = dir.path().join("mnt/root");
        build(&root);
        let ready = ready(&root, case);
        drop(mounted);
        Some(Self { dir, ready })
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("mnt/root")
    }

    fn copy(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|name| self.dir.path().join(name));
        assert!(quiet(Command::new("cp").arg("--sparse=always").arg(from).arg(to)));
    }

    /// Copies the image as it is at one moment: once more when something was written to it meanwhile, since no power that
    /// is lost leaves the start of a disk from before a write and its end from after a later one.
    fn still(&self) {
        for _ in 0..20 {
            self.copy("work", "after");
            if quiet(Command::new("cmp").arg("-s").arg(self.dir.path().join("work")).arg(self.dir.path().join("after")))
            {
                return;
            }
        }
        panic!("the image does not come to rest");
    }

    /// Does something in a fresh copy, takes the power away, and looks after the next boot.
    fn lose<T>(&self, kind: &Kind, act: impl FnOnce(), look: impl FnOnce() -> T) -> T {
        let mnt = self.dir.path().join("mnt");
        self.copy("first", "work");
        let mounted = Mounted::new(&self.dir.path().join("work"), &mnt, kind.options).unwrap();
        act();
        self.still();
        drop(mounted);
        let mounted = Mounted::new(&self.dir.path().join("after"), &mnt, kind.options)
            .expect("it mounts again after the power was lost");
        let seen = look();
        drop(mounted);
        seen
    }

    fn points(&self, kind: &Kind, program: &Path, args: &[String]) -> Vec<Point> {
        let mnt = self.dir.path().join("mnt");
        self.copy("first", "work");
        let _mounted = Mounted::new(&self.dir.path().join("work"), &mnt, kind.options).unwrap();
        let all = points(program, args, &mnt);
        let writers = [
            "write",
            "pwrite64",
            "copy_file_range",
            "fsync",
            "syncfs",
            "fdatasync",
            "rename",
            "renameat",
            "renameat2",
            "mkdirat",
            "unlinkat",
            "openat",
            "close",
        ];
        all.into_iter().filter(|point| writers.contains(&point.call.as_str())).collect()
    }
}

/// Whether the bytes are those of one state.
fn whole(is: &State, ready: &Ready) -> bool {
    let is = bare(is);
    is == bare(&ready.old) || is == bare(&ready.new)
}

fn judged(kind: &Kind, root: &Path, ready: &Ready) -> Judged {
    if kind.name == "xfs" {
        let [is, old, new] = [&state(root), &ready.old, &ready.new].map(State::untimed);
        judge_as(root, &is, &old, &new, &ready.keeps)
    } else {
        judge(root, &ready.old, &ready.new, &ready.keeps)
    }
}

#[test]
fn power_that_is_lost_at_any_call_leaves_the_old_or_the_new_state() {
    if !usable() {
        return;
    }
    for kind in &KINDS {
        for case in [Case::RestoreFolder, Case::RestorePair, Case::Delete, Case::UndoRestore] {
            let Some(prepared) = Prepared::new(kind, case) else { break };
            let (root, args) = (prepared.root(), prepared.ready.args.clone());
            let all = prepared.points(kind, operate(), &args);
            let count = all.len();
            let ready = &prepared.ready;
            let look = || {
                let recovered = run(&recover_args(&root));
                (judged(kind, &root, ready), recovered)
            };
            // What is said to be done stays done.
            let (end, _) = prepared.lose(kind, || assert!(run(&args).status.success()), look);
            assert!(end.verdict == Verdict::New && end.good_at_the_end(), "{} {case:?} at the end: {end:?}", kind.name);
            let (mut old, mut new) = (0, 1);
            for point in chosen(all, 90) {
                let kill = || drop(inject(operate(), &args, &point, "signal=KILL", false));
                let (end, recovered) = prepared.lose(kind, kill, look);
                let what = format!("{} {case:?}, power lost at {} {}", kind.name, point.call, point.nth);
                assert!(end.good_at_the_end(), "{what}: {end:?} {recovered:?}");
                if end.verdict == Verdict::New { new += 1 } else { old += 1 }
            }
            eprintln!(
                "| {case:?} on {} | power lost at each call, and at the end | {} of {} | {old} old, {new} new | 0 bad |",
                kind.name,
                old + new,
                count + 1
            );
        }
    }
}

#[test]
fn a_restore_that_does_not_wait_for_the_disk_is_caught() {
    if !usable() {
        return;
    }
    for kind in &KINDS {
        let Some(prepared) = Prepared::new(kind, Case::RestoreFolder) else { continue };
        let root = prepared.root();
        let (program, args) = control::program("unsynced", &root);
        let act = || assert!(Command::new(&program).args(&args).stdout(Stdio::null()).status().unwrap().success());
        // It says that it is done; then the power goes.
        let (is, new) = prepared.lose(kind, act, || (state(&root), bare(&prepared.ready.new)));
        let lost = bare(&is) != new;
        eprintln!(
            "| control: no fsync, on {} | power lost at the end | 1 | caught: {lost}, torn: {} |",
            kind.name,
            !whole(&is, &prepared.ready)
        );
        assert!(lost, "{}: the loss of power loses nothing, so that it proves nothing", kind.name);
    }
}
