//! Which save folder a server means, and what it holds open there.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use worldkeep::model::ServerState;
use worldkeep::ops::{Setting, liveness};

use crate::lab::{Running, Save, alone, assert_state, java, save, setting, wait_for};

/// A process that does nothing under a name, with arguments and nothing but these variables.
fn named(name: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Running {
    let mut command = Command::new("/bin/sh");
    command.arg0(name).args(["-c", "while :; do /bin/sleep 0.05; done", "x"]).args(arguments);
    command.env_clear().envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    wait_for(|| {
        let line = fs::read(format!("/proc/{}/cmdline", running.0.id())).unwrap_or_default();
        line.starts_with(name.as_bytes())
    });
    running
}

/// A folder beside the save in which `below` leads to it.
fn leads_to(save: &Save, folder: &str, below: &Path) -> std::path::PathBuf {
    let folder = save.root.parent().unwrap().join(folder);
    let link = folder.join(below);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&save.root, link).unwrap();
    folder
}

const PROGRAM: &str = "valheim_server.x86_64";

#[test]
fn the_configuration_folder_of_a_server_decides_before_its_home() {
    let save = save();
    let below = save.traces.default_folder.strip_prefix(".config").unwrap();
    let config = leads_to(&save, "config", below);
    let home = leads_to(&save, "home", &save.traces.default_folder);
    let empty = save.root.parent().unwrap().join("empty");
    fs::create_dir(&empty).unwrap();
    let state = |variables: &[(&str, &Path)]| {
        let server = named(PROGRAM, &["-world", "Midgard"], variables);
        let seen = liveness::look(&save.traces, &setting());
        drop(server);
        seen.state
    };
    assert_eq!(state(&[("XDG_CONFIG_HOME", &config), ("HOME", &empty)]), ServerState::Running);
    assert_eq!(state(&[("HOME", &home)]), ServerState::Running);
    assert_eq!(state(&[("XDG_CONFIG_HOME", &empty), ("HOME", &home)]), ServerState::Stopped);
    // One that is no absolute path means nothing.
    assert_eq!(state(&[("XDG_CONFIG_HOME", Path::new("config")), ("HOME", &home)]), ServerState::Running);
    assert_eq!(state(&[("XDG_CONFIG_HOME", Path::new("")), ("HOME", &home)]), ServerState::Running);
}

#[test]
fn a_folder_on_a_drive_of_wine_is_the_one_that_wine_means() {
    let _alone = alone();
    let save = save();
    let windows = |path: &Path| format!("Z:{}", path.display()).replace('/', "\\");
    let run = |folder: &str, variables: &[(&str, &Path)]| {
        let _server = named("Z:\\game\\valheim_server.exe", &["-savedir", folder], variables);
        liveness::look(&save.traces, &setting())
    };
    let base = save.root.parent().unwrap().to_path_buf();
    assert_state(&run(&windows(&save.root), &[]), ServerState::Running, "this folder");
    assert_state(&run(&windows(&save.root).replacen('Z', "z", 1), &[]), ServerState::Running, "this folder");
    let other = base.join("other");
    fs::create_dir(&other).unwrap();
    assert_state(&run(&windows(&other), &[]), ServerState::Stopped, "No process");
    // Wine finds it whatever the case of the letters.
    assert_state(&run(&windows(&base.join("SAVES")), &[]), ServerState::Unknown, "cannot be looked at");
    // Another drive is a link in the prefix of the process, which is named or lies in its home.
    for (variable, prefix) in [("WINEPREFIX", "prefix"), ("HOME", "home/.wine")] {
        let drives = base.join(prefix).join("dosdevices");
        fs::create_dir_all(&drives).unwrap();
        symlink(&base, drives.join("d:")).unwrap();
        let value = base.join(prefix.strip_suffix("/.wine").unwrap_or(prefix));
        assert_state(&run("D:\\saves", &[(variable, &value)]), ServerState::Running, "this folder");
        assert_state(&run("D:\\other", &[(variable, &value)]), ServerState::Stopped, "No process");
    }
    assert_state(&run("E:\\saves", &[]), ServerState::Unknown, "cannot be looked at");
    let _server = named("Z:\\game\\valheim_server.exe", &["-world", "Midgard"], &[("HOME", &base)]);
    let seen = liveness::look(&save.traces, &setting());
    assert_state(&seen, ServerState::Unknown, "under Wine without naming its save folder");
}

#[test]
fn a_save_that_lands_after_the_question_was_asked_counts_and_a_wrong_date_does_not() {
    let save = save();
    let marker = &save.traces.recent[0];
    let asked = Timestamp::now() - Duration::from_secs(20);
    let seen = liveness::look(&save.traces, &Setting { now: asked, ..setting() });
    assert_state(&seen, ServerState::Running, "since this was asked");
    let wrong = std::time::SystemTime::now() + Duration::from_secs(7200);
    fs::File::options().append(true).open(marker).unwrap().set_modified(wrong).unwrap();
    let seen = liveness::look(&save.traces, &Setting { now: asked, ..setting() });
    assert_state(&seen, ServerState::Stopped, "No process");
}

/// Of a program under Wine that opened a file for itself alone, the system knows only that Wine's own server has it open.
#[test]
fn whoever_has_a_file_open_for_himself_alone_counts_whatever_he_is_called() {
    let save = save();
    let chunk = save.root.join("worlds_local/Midgard/20_20__1_5.chunk");
    fs::write(&chunk, "x").unwrap();
    let started = Command::new("/bin/bash")
        .arg0("/usr/lib/wine/wineserver64")
        .args(["-c", r#"exec 7<"$1"; read -r line"#, "x"])
        .arg(&chunk)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = started else {
        eprintln!("skipped: bash is not there");
        return;
    };
    let holder = Running(child);
    wait_for(|| fs::read_link(format!("/proc/{}/fd/7", holder.0.id())).is_ok_and(|link| link == chunk));
    let seen = liveness::look(&save.traces, &setting());
    assert_state(&seen, ServerState::Running, "wineserver64");
    assert!(seen.reasons.iter().any(|reason| reason.contains("20_20__1_5.chunk")), "{seen:?}");
    drop(holder);
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Stopped, "No process");
}

#[test]
fn a_lock_that_java_holds_is_seen_and_left_alone() {
    let save = save();
    let lock = save.root.join("session.lock");
    let only_lock = worldkeep::model::outline::Traces { held: Vec::new(), ..save.traces.clone() };
    let Some((holder, answer)) = java(&lock) else { return };
    assert_eq!(answer, "ready");
    let seen = liveness::look(&only_lock, &setting());
    assert_state(&seen, ServerState::Running, "session.lock");
    assert!(seen.reasons.iter().any(|reason| reason.contains(&holder.0.id().to_string())), "{seen:?}");
    drop(holder);
    assert_state(&liveness::look(&only_lock, &setting()), ServerState::Stopped, "No process");
    // Looking has not taken it.
    let Some((_again, answer)) = java(&lock) else { return };
    assert_eq!(answer, "ready");
}

#[test]
fn a_pipe_in_the_place_of_a_lock_is_not_waited_for() {
    let save = save();
    let lock = save.root.join("session.lock");
    fs::remove_file(&lock).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &lock, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    assert_state(&liveness::look(&save.traces, &setting()), ServerState::Unknown, "it is no file");
}
