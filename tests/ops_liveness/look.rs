//! What shows that a server uses a save, and what does not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use worldkeep::model::ServerState;
use worldkeep::model::outline::Traces;
use worldkeep::ops::{Setting, liveness};

use crate::lab::{IN_DOCKER, Running, assert_state, made_up, pretend, python, save, setting};

#[test]
fn nothing_there_is_stopped() {
    let save = save();
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Stopped, "No process");
}

#[test]
fn a_process_that_only_has_the_arguments_is_running() {
    let save = save();
    let root = save.root.to_str().unwrap();
    for arguments in [vec!["-world", "Midgard", "-savedir", root], vec![&*format!("-savedir={root}")]] {
        let server = pretend(&arguments, None);
        let seen = liveness::look(&save.traces, &setting());
        assert_state(&seen, ServerState::Running, &format!("rocess {}", server.0.id()));
    }
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Stopped, "No process");
}

#[test]
fn the_default_folder_of_its_user_counts_where_no_argument_says_another() {
    let save = save();
    let home = save.root.parent().unwrap().join("home");
    let folder = home.join(&save.traces.default_folder);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    symlink(&save.root, &folder).unwrap();
    let _server = pretend(&["-world", "Midgard"], Some(&home));
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Running, "Midgard");
}

#[test]
fn a_server_on_another_folder_is_none_of_this_save() {
    let (save, other) = (save(), save());
    let _server = pretend(&["-savedir", other.root.to_str().unwrap()], None);
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Stopped, "No process");
    assert_state(&liveness::look(&other.traces, &setting()), ServerState::Running, "this folder");
}

#[test]
fn an_open_file_counts_whoever_holds_it_and_after_it_was_deleted() {
    let save = save();
    let file = save.root.join("worlds_local/Midgard/chunk");
    fs::write(&file, "x").unwrap();
    let program = "import sys; f=open(sys.argv[1]); print('ready', flush=True); sys.stdin.read()";
    let Some(_holder) = python(program, &[&file]) else { return };
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Running, "open");
    fs::remove_file(&file).unwrap();
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Running, "open");
}

#[test]
fn both_kinds_of_locks_are_seen_and_neither_is_taken() {
    let save = save();
    let lock = save.root.join("session.lock");
    for (kind, call) in [("POSIX", "lockf"), ("FLOCK", "flock")] {
        let program = format!(
            "import sys,fcntl; f=open(sys.argv[1],'r+'); fcntl.{call}(f, fcntl.LOCK_EX); print('ready', flush=True); sys.stdin.read()"
        );
        let Some(_holder) = python(&program, &[&lock]) else { return };
        // The open file alone would be enough; without it, the lock has to be.
        let only_lock = Traces { held: Vec::new(), ..save.traces.clone() };
        let seen = liveness::look(&only_lock, &setting());
        assert_state(&seen, ServerState::Running, "lock");
        assert!(seen.reasons.iter().any(|r| r.contains(kind) || r.contains("The lock")), "{seen:?}");
    }
    // Nobody holds it now, and looking has left it free: another process gets it at once.
    liveness::look(&save.traces, &setting());
    let program = "import sys,fcntl; f=open(sys.argv[1],'r+'); fcntl.lockf(f, fcntl.LOCK_EX|fcntl.LOCK_NB); fcntl.flock(f, fcntl.LOCK_EX|fcntl.LOCK_NB); print('ready', flush=True)";
    assert!(python(program, &[&lock]).is_some());
}

#[test]
fn a_save_that_has_just_landed_was_written_by_somebody() {
    let save = save();
    let now = Setting { now: Timestamp::now(), ..setting() };
    assert_state(&liveness::look(&save.traces, &now), ServerState::Running, "landed");
}

/// Report 22 of Valheim: a server ran for days, could not save, and nobody was told.
#[test]
fn a_server_that_has_not_saved_since_it_was_started_is_told_with_both_ages() {
    let save = save();
    let now = Timestamp::now();
    let (temp, made) = made_up(&format!("./valheim_server.x86_64 -savedir {}", save.root.display()), "", "");
    symlink("mnt:[1]", temp.path().join("77/ns/other")).unwrap();
    fs::remove_file(temp.path().join("77/ns/mnt")).unwrap();
    symlink("mnt:[1]", temp.path().join("77/ns/mnt")).unwrap();
    let dated = |path: &Path, hours: i64| {
        let at = std::time::SystemTime::now() - Duration::from_secs(hours.unsigned_abs() * 3600);
        fs::File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
    };
    let ticks = rustix::param::clock_ticks_per_second();
    let started = |hours: i64| {
        let boot = now.as_second() - hours * 3600 - 50;
        fs::write(temp.path().join("stat"), format!("cpu 1 2\nbtime {boot}\nprocesses 9\n")).unwrap();
        let fields = "0 ".repeat(18);
        let line = format!("77 (a) b (x)) S {fields}{} 0 0\n", 50 * ticks);
        fs::write(temp.path().join("77/stat"), line).unwrap();
    };
    let setting = Setting { now, ..made };
    let silent = |saved: i64, runs: i64| {
        dated(&save.traces.recent[0], saved);
        started(runs);
        let seen = liveness::look(&save.traces, &setting);
        assert_eq!(seen.state, ServerState::Running, "{seen:?}");
        seen.reasons.iter().find(|reason| reason.contains("no save has landed since")).cloned()
    };
    let told = silent(9, 5).expect("it saves nothing");
    assert!(told.contains("run for 5 h") && told.contains("9 h old"), "{told}");
    assert_eq!(silent(2, 5), None, "it has saved since");
    assert_eq!(silent(9, 0), None, "it was started just now");
}

#[test]
fn a_container_whose_files_we_may_not_see_is_known_by_its_table_of_mounts() {
    let save = save();
    let mounts =
        format!("1 0 0:9 / / rw - overlay o rw\n2 1 8:1 {} /config rw - ext4 /dev/sda1 rw\n", save.root.display());
    let (_temp, setting) = made_up("/opt/valheim_server.x86_64 -savedir /config", IN_DOCKER, &mounts);
    let seen = liveness::look(&save.traces, &setting);
    assert_state(&seen, ServerState::Running, "rocess 77");
    assert_eq!(seen.restarts.len(), 1);
    assert!(seen.restarts[0].contains("docker stop 0123456789ab"), "{seen:?}");
}

#[test]
fn a_container_that_could_be_it_makes_it_unknown_and_one_that_cannot_does_not() {
    let save = save();
    let sees = format!("1 0 0:9 / / rw - overlay o rw\n2 1 8:1 {} /data rw - ext4 /dev/sda1 rw\n", save.root.display());
    let (_temp, setting) = made_up("node panel.js", IN_DOCKER, &sees);
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Unknown, "container");
    let other = "1 0 0:9 / / rw - overlay o rw\n2 1 8:1 /somewhere/else /data rw - ext4 /dev/sda1 rw\n";
    let (_temp, setting) = made_up("node panel.js", IN_DOCKER, other);
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Stopped, "No process");
}

#[test]
fn wine_that_cannot_be_looked_into_makes_it_unknown_and_any_other_program_does_not() {
    let save = save();
    let host = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
    let (_temp, setting) = made_up("wine64 C:\\game\\Other.exe", "0::/user.slice\n", host);
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Unknown, "Wine");
    let (_temp, setting) = made_up("/usr/sbin/cron -f", "0::/system.slice/cron.service\n", host);
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Stopped, "No process");
}

#[test]
fn a_server_whose_folder_cannot_be_told_makes_it_unknown() {
    let save = save();
    let (_temp, setting) = made_up("valheim_server.exe -savedir /config", "0::/\n", "");
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Unknown, "cannot be looked at");
}

#[test]
fn a_network_file_system_is_unknown() {
    let save = save();
    let (temp, setting) = made_up("cron", "0::/\n", "");
    let lines =
        format!("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 0:50 / {} rw - nfs4 box:/saves rw\n", save.root.display());
    fs::write(temp.path().join("self/mountinfo"), lines).unwrap();
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Unknown, "nfs4");
}

#[test]
fn a_systemd_unit_is_named_with_what_stops_it() {
    let save = save();
    let host = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
    let arguments = format!("valheim_server.x86_64 -savedir {}", save.root.display());
    let (_temp, setting) = made_up(&arguments, "0::/system.slice/valheim.service\n", host);
    let seen = liveness::look(&save.traces, &setting);
    assert_eq!(seen.state, ServerState::Running, "{seen:?}");
    assert!(seen.restarts.iter().any(|r| r.contains("systemctl stop valheim.service")), "{seen:?}");
}

#[test]
fn in_a_process_and_mount_namespace_of_its_own_a_server_is_still_seen() {
    let save = save();
    let root = save.root.to_str().unwrap();
    let script = r#"mount --bind "$1" /mnt && exec -a valheim_server.x86_64 bash -c 'while :; do sleep 0.05; done' x -savedir /mnt"#;
    let mut started = Command::new("unshare");
    started.args(["-m", "-p", "-f", "--kill-child", "--mount-proc", "bash", "-c", script, "x", root]);
    let started = started.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(child) = started else {
        eprintln!("skipped: unshare is not there");
        return;
    };
    let mut running = Running(child);
    let mut seen = liveness::look(&save.traces, &setting());
    for _ in 0..200 {
        if seen.state == ServerState::Running {
            break;
        }
        if running.0.try_wait().unwrap().is_some() {
            eprintln!("skipped: no namespaces here");
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
        seen = liveness::look(&save.traces, &setting());
    }
    assert_state(&seen, ServerState::Running, "this folder");
}

/// What a user who is not root sees of another user's container: its arguments and its table of mounts, and no more.
#[test]
fn a_container_of_another_user_is_told_by_its_mounts_alone() {
    let save = save();
    let mounts =
        format!("1 0 0:9 / / rw - overlay o rw\n2 1 8:1 {} /config rw - ext4 /dev/sda1 rw\n", save.root.display());
    let (temp, setting) = made_up("/opt/valheim_server.x86_64 -savedir /config", IN_DOCKER, &mounts);
    fs::remove_file(temp.path().join("77/ns/mnt")).unwrap();
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Running, "this folder");
}

#[test]
fn a_home_folder_that_is_only_guessed_never_says_stopped() {
    let save = save();
    let (_temp, setting) = made_up("/opt/valheim_server.x86_64 -world W", "0::/\n", "20 1 8:1 / / rw - ext4 a rw\n");
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Unknown, "cannot be looked at");
}

#[test]
fn a_reader_of_the_servers_log_is_no_server() {
    let save = save();
    for line in ["journalctl -fu valheim_server", "tmux new -s valheim_server", "tail -f /var/log/valheim_server"] {
        let (_temp, setting) = made_up(line, "0::/\n", "20 1 8:1 / / rw - ext4 a rw\n");
        assert_state(&liveness::look(&save.traces, &setting), ServerState::Stopped, "No process");
    }
}

#[test]
fn a_lock_on_a_file_of_the_same_number_elsewhere_is_none_of_this_save() {
    use std::os::unix::fs::MetadataExt;
    let save = save();
    let meta = fs::metadata(save.root.join("session.lock")).unwrap();
    let (temp, setting) = made_up("cron", "0::/\n", "20 1 8:1 / / rw - ext4 a rw\n");
    let line =
        |major: u32, minor: u32| format!("1: FLOCK ADVISORY WRITE 77 {major:02x}:{minor:02x}:{} 0 EOF\n", meta.ino());
    let device = meta.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    fs::write(temp.path().join("locks"), line(major, minor + 1)).unwrap();
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Stopped, "No process");
    fs::write(temp.path().join("locks"), line(major, minor)).unwrap();
    assert_state(&liveness::look(&save.traces, &setting), ServerState::Running, "FLOCK");
}
