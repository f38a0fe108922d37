//! What is seen without rights, from another namespace, and of other users.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use worldkeep::model::ServerState;
use worldkeep::model::outline::Traces;
use worldkeep::ops::liveness;

use crate::lab::{Running, Save, alone, assert_state, done_through, python, save, setting, wait_for};

/// A save that every user may look at and lock.
fn open_save() -> Save {
    let save = save();
    fs::set_permissions(save.temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(save.root.join("session.lock"), fs::Permissions::from_mode(0o666)).unwrap();
    save
}

/// A process of another user, with the name and arguments of a server.
fn of_somebody(arguments: &[&str], home: &Path) -> Running {
    let mut command = Command::new("/bin/sh");
    command.arg0("valheim_server.x86_64").args(["-c", "while :; do /bin/sleep 0.05; done", "x"]).args(arguments);
    command.env("HOME", home).uid(12_345).gid(12_345);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = Running(child);
    wait_for(|| {
        fs::read(format!("/proc/{}/cmdline", running.0.id())).unwrap_or_default().starts_with(b"valheim_server")
    });
    running
}

const HIDDEN: [&str; 7] = [
    "unshare",
    "-m",
    "-p",
    "-f",
    "sh",
    "-c",
    r#"mount -t proc -o hidepid=2 proc /proc && { sleep 60 & export OTHER=$!; } && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@""#,
];

#[test]
fn where_the_system_hides_processes_a_user_is_told_so() {
    let through = [&HIDDEN[..], &["x"]].concat();
    if done_through("apart::where_the_system_hides_processes_a_user_is_told_so", &through, &[]) {
        return;
    }
    let other = std::env::var("OTHER").unwrap();
    assert!(!Path::new("/proc").join(other).exists(), "the processes of others are hidden");
    let save = save();
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Unknown, "hidepid");
}

#[test]
fn where_the_system_hides_processes_root_sees_them_all() {
    let through =
        ["unshare", "-m", "-p", "-f", "sh", "-c", r#"mount -t proc -o hidepid=2 proc /proc && exec "$@""#, "x"];
    if done_through("apart::where_the_system_hides_processes_root_sees_them_all", &through, &[]) {
        return;
    }
    let save = save();
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Stopped, "No process");
}

/// Root in a container often has not got it: the lists of open files of others can then be opened, and nothing in
/// them can be read.
#[test]
fn without_the_right_to_trace_arguments_still_tell_and_a_home_is_only_guessed() {
    let _alone = alone();
    let name = "apart::without_the_right_to_trace_arguments_still_tell_and_a_home_is_only_guessed";
    let through = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", "--"];
    if done_through(name, &through, &[]) {
        return;
    }
    let save = open_save();
    let home = save.root.parent().unwrap().to_path_buf();
    let root = save.root.to_str().unwrap();
    let server = of_somebody(&["-savedir", root], &home);
    let pid = server.0.id();
    let fds = fs::read_dir(format!("/proc/{pid}/fd"));
    assert!(fds.is_err() || fds.unwrap().flatten().all(|fd| fs::read_link(fd.path()).is_err()), "we may trace it");
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Running, "this folder");
    drop(server);
    // Some systems show its variables all the same, and then its folder is known.
    let server = of_somebody(&["-world", "Midgard"], &home);
    let shown = fs::read(format!("/proc/{}/environ", server.0.id())).is_ok_and(|variables| !variables.is_empty());
    let seen = liveness::look(&save.traces, &setting());
    if shown {
        assert_state(&seen, ServerState::Stopped, "No process");
    } else {
        assert_state(&seen, ServerState::Unknown, "server of this game");
    }
}

#[test]
fn a_user_is_told_of_a_server_of_another_user_whose_home_he_can_only_guess() {
    let _alone = alone();
    let name = "apart::a_user_is_told_of_a_server_of_another_user_whose_home_he_can_only_guess";
    if std::env::var_os("WORLDKEEP_TEST_SAVE").is_none() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can become another user");
            return;
        }
        let save = open_save();
        let _server = of_somebody(&["-world", "Midgard"], save.root.parent().unwrap());
        let through = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        assert!(done_through(name, &through, &[("WORLDKEEP_TEST_SAVE", &save.root)]));
        return;
    }
    let traces = Traces { locks: Vec::new(), ..save().traces };
    assert_state(&liveness::look(&traces, &setting()), ServerState::Unknown, "user 12345) is a server of this game");
}

/// The save that the outer run made.
fn given() -> Traces {
    let root = PathBuf::from(std::env::var_os("WORLDKEEP_TEST_SAVE").unwrap());
    let lock = root.join("session.lock");
    Traces { root, locks: vec![lock], ..Traces::default() }
}

const LOCK: &str = "import sys,fcntl; f=open(sys.argv[1],'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print('ready', flush=True); sys.stdin.read()";

#[test]
fn a_lock_of_a_process_outside_of_our_namespace_is_seen_without_its_number() {
    let name = "apart::a_lock_of_a_process_outside_of_our_namespace_is_seen_without_its_number";
    if std::env::var_os("WORLDKEEP_TEST_SAVE").is_none() {
        let save = save();
        let Some(_holder) = python(LOCK, &[&save.root.join("session.lock")]) else { return };
        let through = ["unshare", "-m", "-p", "-f", "--mount-proc"];
        assert!(done_through(name, &through, &[("WORLDKEEP_TEST_SAVE", &save.root)]));
        return;
    }
    let seen = liveness::look(&given(), &setting());
    assert_state(&seen, ServerState::Running, "a process that cannot be seen from here");
}

#[test]
fn a_lock_of_another_user_in_a_namespace_of_its_own_is_seen() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    for kind in ["lockf", "flock"] {
        let save = open_save();
        let lock = save.root.join("session.lock");
        let program = LOCK.replace("fcntl.lockf", &format!("fcntl.{kind}"));
        let mut started = Command::new("unshare");
        started.args(["-p", "-f", "--kill-child", "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]);
        started.args(["/usr/bin/python3", "-c", &program]).arg(&lock);
        let Ok(mut child) = started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            eprintln!("skipped: unshare is not there");
            return;
        };
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let _holder = Running(child);
        if line.trim() != "ready" {
            eprintln!("skipped: no namespaces, or no python3, here");
            return;
        }
        let only_lock = Traces { held: Vec::new(), ..save.traces.clone() };
        assert_state(&liveness::look(&only_lock, &setting()), ServerState::Running, "ock");
        // As somebody who may trace neither, the same is seen.
        let name = "apart::a_stranger_sees_the_lock_as_well";
        let through = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        assert!(done_through(name, &through, &[("WORLDKEEP_TEST_SAVE", &save.root)]));
    }
}

/// Run by the test above, as nobody.
#[test]
fn a_stranger_sees_the_lock_as_well() {
    if std::env::var_os("WORLDKEEP_TEST_SAVE").is_none() {
        return;
    }
    assert_state(&liveness::look(&given(), &setting()), ServerState::Running, "ock");
}

#[test]
fn a_server_of_another_user_is_told_by_its_arguments_alone() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let save = open_save();
    let _server = of_somebody(&["-savedir", save.root.to_str().unwrap()], Path::new("/nonexistent"));
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Running, "user 12345");
}
