//! A save root with one world, processes that could be its server, and made-up tables of processes.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;
use worldkeep::model::outline::Traces;
use worldkeep::model::{Server, ServerState};
use worldkeep::ops::Setting;

/// Long after every file that a test writes.
pub(crate) fn setting() -> Setting {
    Setting {
        now: Timestamp::now() + Duration::from_secs(3600),
        zone: TimeZone::UTC,
        state: None,
        proc: PathBuf::from("/proc"),
        read_only: false,
    }
}

/// Who looks at the real processes of this machine, and who starts one whose folder nobody can tell, which every look would
/// have to name.
static PROCESSES: RwLock<()> = RwLock::new(());

thread_local! {
    /// This thread has its turn already.
    static MINE: Cell<bool> = const { Cell::new(false) };
}

/// A turn with the processes of this machine.
pub(crate) struct Turn {
    guard: Option<Guard>,
}

enum Guard {
    #[allow(dead_code, reason = "held, never read")]
    Shared(RwLockReadGuard<'static, ()>),
    #[allow(dead_code, reason = "held, never read")]
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.guard.is_some() {
            MINE.set(false);
        }
    }
}

fn turn(take: impl FnOnce() -> Guard) -> Turn {
    let guard = (!MINE.replace(true)).then(take);
    Turn { guard }
}

/// Nobody else looks while this lives.
pub(crate) fn alone() -> Turn {
    turn(|| Guard::Alone(PROCESSES.write().unwrap_or_else(PoisonError::into_inner)))
}

/// A save root with one world, and a turn to look.
pub(crate) struct Save {
    _turn: Turn,
    pub(crate) temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) traces: Traces,
}

pub(crate) fn save() -> Save {
    let turn = turn(|| Guard::Shared(PROCESSES.read().unwrap_or_else(PoisonError::into_inner)));
    let temp = TempDir::new().unwrap();
    let root = temp.path().canonicalize().unwrap().join("saves");
    let world = root.join("worlds_local/Midgard");
    fs::create_dir_all(&world).unwrap();
    fs::write(world.join("_main.3.ok"), "x").unwrap();
    fs::write(root.join("session.lock"), "x").unwrap();
    let traces = Traces {
        programs: vec!["valheim_server.x86_64".into(), "valheim_server".into()],
        folder_arguments: vec!["-savedir".into()],
        world_arguments: vec!["-world".into()],
        world: "Midgard".into(),
        default_folder: ".config/unity3d/IronGate/Valheim".into(),
        root: root.clone(),
        held: vec![world.clone()],
        locks: vec![root.join("session.lock")],
        recent: vec![world.join("_main.3.ok")],
    };
    Save { _turn: turn, temp, root, traces }
}

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that does nothing under the server's name and arguments, once its arguments are there to be read.
pub(crate) fn pretend(arguments: &[&str], home: Option<&Path>) -> Running {
    let mut command = Command::new("sh");
    // What a shell is given after its program are arguments that it never looks at.
    command.arg0("valheim_server.x86_64").args(["-c", "while :; do sleep 0.05; done", "x"]).args(arguments);
    if let Some(home) = home {
        command.env("HOME", home);
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = Running(child);
    wait_for(|| {
        let line = fs::read(format!("/proc/{}/cmdline", running.0.id())).unwrap_or_default();
        line.starts_with(b"valheim_server.x86_64")
    });
    running
}

pub(crate) fn wait_for(mut ready: impl FnMut() -> bool) {
    for _ in 0..600 {
        if ready() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came");
}

/// A Python program that holds something, once it says so.
pub(crate) fn python(program: &str, arguments: &[&Path]) -> Option<Running> {
    use std::io::{BufRead, BufReader};
    let started = Command::new("python3")
        .arg("-c")
        .arg(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("skipped: python3 is not there");
        return None;
    };
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    Some(Running(child))
}

#[track_caller]
pub(crate) fn assert_state(server: &Server, state: ServerState, word: &str) {
    assert_eq!(server.state, state, "{server:?}");
    assert!(server.reasons.iter().any(|reason| reason.contains(word)), "{word}: {server:?}");
}

/// A table of processes with one in it.
pub(crate) fn made_up(arguments: &str, cgroup: &str, mountinfo: &str) -> (TempDir, Setting) {
    let temp = TempDir::new().unwrap();
    let process = temp.path().join("77");
    fs::create_dir_all(process.join("ns")).unwrap();
    fs::create_dir_all(temp.path().join("self/ns")).unwrap();
    symlink("mnt:[1]", temp.path().join("self/ns/mnt")).unwrap();
    symlink("mnt:[2]", process.join("ns/mnt")).unwrap();
    fs::write(process.join("cmdline"), arguments.replace(' ', "\0")).unwrap();
    fs::write(process.join("cgroup"), cgroup).unwrap();
    fs::write(process.join("mountinfo"), mountinfo).unwrap();
    fs::write(temp.path().join("self/mountinfo"), "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n").unwrap();
    let setting = Setting { proc: temp.path().to_path_buf(), ..setting() };
    (temp, setting)
}

pub(crate) const IN_DOCKER: &str =
    "0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n";

/// A Java program that locks a file as a game in Java does, or says that it could not. None where there is no Java.
const LOCK_IN_JAVA: &str = r#"
import java.nio.channels.*; import java.nio.file.*;
class Lock { public static void main(String[] arguments) throws Exception {
  var file = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  var lock = file.tryLock();
  System.out.println(lock == null ? "refused" : "ready"); System.out.flush();
  if (lock != null) System.in.read();
} }
"#;

/// Starts Java on a lock file; it answers `ready` and holds the lock until it is dropped, or `refused`.
pub(crate) fn java(lock: &Path) -> Option<(Running, String)> {
    use std::io::{BufRead, BufReader};
    let temp = TempDir::new().unwrap();
    let source = temp.path().join("Lock.java");
    fs::write(&source, LOCK_IN_JAVA).unwrap();
    let started = Command::new("java")
        .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
        .arg(&source)
        .arg(lock)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("skipped: java is not there");
        return None;
    };
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let running = Running(child);
    if line.trim().is_empty() {
        eprintln!("skipped: this java does not run a source file");
        return None;
    }
    Some((running, line.trim().to_owned()))
}

/// Runs the test of this name once more, through a program that changes what it may see. False when this is that run;
/// true when it was done, or cannot be done here, so that the caller has nothing left to do.
pub(crate) fn done_through(test: &str, through: &[&str], variables: &[(&str, &Path)]) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const MARK: &str = "WORLDKEEP_TEST_APART";
    if std::env::var_os(MARK).is_some() {
        return false;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can change what a process sees");
        return true;
    }
    // The folder of the build may be closed to others.
    let copy = TempDir::new().unwrap();
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = copy.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let Some((first, rest)) = through.split_first() else { panic!("through nothing") };
    let works = Command::new(first).args(rest).arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {first} cannot do this here");
        return true;
    }
    let mut command = Command::new(first);
    command.args(rest).arg(&program).args(["--exact", test, "--nocapture"]).current_dir("/");
    command.env(MARK, "1").env("TMPDIR", "/tmp").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    eprint!("{errors}");
    assert!(output.status.success() && words.contains("1 passed"), "through {through:?}:\n{words}{errors}");
    true
}
