//! Two programs at once, and locks that somebody left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::checker::{Verdict, judge};
use crate::scene::{Case, Ready, build, operate, ready, run};
use crate::trace::usable;

pub(crate) struct Scene {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) ready: Ready,
}

impl Scene {
    pub(crate) fn new(case: Case) -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("root");
        build(&root);
        let ready = ready(&root, case);
        Self { _temp: temp, root, ready }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        judge(&self.root, &self.ready.old, &self.ready.new, &self.ready.keeps).verdict
    }

    pub(crate) fn is_new(&self, what: &str) {
        let judged = judge(&self.root, &self.ready.old, &self.ready.new, &self.ready.keeps);
        assert!(judged.verdict == Verdict::New && judged.good_at_the_end(), "{what}: {judged:#?}");
    }

    pub(crate) fn recover(&self) -> std::process::Output {
        run(&["recover".to_owned(), self.root.join(".worldkeep").to_str().unwrap().to_owned()])
    }
}

/// A program that strace stops at a call, and lets go when it is told to.
pub(crate) struct Stopped {
    strace: Child,
    pub(crate) process: i32,
}

fn children(process: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn is_stopped(process: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T') || rest.starts_with('t'))
}

impl Stopped {
    /// Waits until it is stopped; none when it was over before.
    pub(crate) fn at(call: &str, nth: u32, args: &[String]) -> Option<Self> {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "--signal=none", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
        strace.arg(format!("inject={call}:signal=STOP:when={nth}")).arg(operate()).args(args);
        let mut strace = strace.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        loop {
            if strace.try_wait().unwrap().is_some() {
                return None;
            }
            // A stop by the tracer is short; one by the signal stays.
            if let [process] = children(strace.id()).as_slice() {
                let stays = (0..20).all(|_| {
                    std::thread::sleep(Duration::from_millis(2));
                    is_stopped(*process)
                });
                if stays {
                    return Some(Self { strace, process: *process });
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_raw(self.process).unwrap(), signal).unwrap();
    }

    pub(crate) fn goes_on(self) -> std::process::Output {
        self.signal(rustix::process::Signal::CONT);
        self.strace.wait_with_output().unwrap()
    }
}

fn set_lock(root: &Path, text: &str) {
    fs::write(root.join(".worldkeep/lock"), text).unwrap();
}

#[test]
fn the_second_of_two_programs_is_refused_and_changes_nothing() {
    if !usable() {
        return;
    }
    for (call, nth) in [("utimensat", 1), ("renameat2", 1), ("renameat2", 2)] {
        let scene = Scene::new(Case::RestorePair);
        let first = Stopped::at(call, nth, &scene.ready.args).unwrap();
        let worlds = scene.root.join("worlds_local");
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let keep = text(scene.root.join(".worldkeep"));
        let before = crate::checker::state(&scene.root);
        for args in [
            vec!["delete".to_owned(), keep.clone(), text(worlds.join("Midgard"))],
            vec!["copy".to_owned(), text(worlds.join("Midgard")), text(worlds.join("Vanaheim")), keep.clone()],
        ] {
            let second = run(&args);
            let words = String::from_utf8_lossy(&second.stdout).into_owned() + &String::from_utf8_lossy(&second.stderr);
            assert_eq!(second.status.code(), Some(4), "{call} {nth}: {words}");
            assert!(words.contains(&format!("the process {}", first.process)), "{call} {nth}: {words}");
        }
        // Nor does a start while it runs take it for something that was left.
        let second = run(&["recover".to_owned(), keep]);
        assert!(String::from_utf8_lossy(&second.stdout).contains("Busy"), "{call} {nth}: {second:?}");
        assert_eq!(crate::checker::state(&scene.root), before, "{call} {nth}");
        let output = first.goes_on();
        assert!(output.status.success(), "{call} {nth}: {output:?}");
        scene.is_new(call);
    }
}

#[test]
fn what_a_lock_file_says_does_not_matter() {
    let own = std::process::id().to_string();
    // A process that is gone, one that runs and is somebody else's, this one, and nothing that makes sense.
    for text in ["4194303\n", "1\n", own.as_str(), "", "\u{0}\u{1b}[2J", "99999999999999999999999999"] {
        let scene = Scene::new(Case::UndoRestore);
        set_lock(&scene.root, text);
        let output = run(&scene.ready.args);
        assert!(output.status.success(), "{text:?}: {output:?}");
        scene.is_new(text);
    }
}

#[test]
fn the_lock_of_a_program_that_was_killed_is_taken() {
    if !usable() {
        return;
    }
    let scene = Scene::new(Case::RestoreFolder);
    let first = Stopped::at("renameat2", 1, &scene.ready.args).unwrap();
    first.signal(rustix::process::Signal::KILL);
    let _ = first.goes_on_dead();
    let lock = fs::metadata(scene.root.join(".worldkeep/lock")).unwrap();
    assert!(lock.permissions().mode().trailing_zeros() >= 6 && lock.len() > 0, "{lock:?}");
    let again = run(&scene.ready.args);
    assert!(again.status.success(), "{again:?}");
    scene.is_new("after a kill");
}

impl Stopped {
    /// Waits for the end of one that was killed.
    fn goes_on_dead(self) -> std::process::Output {
        self.strace.wait_with_output().unwrap()
    }
}
