//! What is never copied, and what a refusal leaves behind.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use worldkeep::model::Cancel;
use worldkeep::ops::tree::calls::{Call, Direct};
use worldkeep::ops::tree::{Flush, Order, copy};
use worldkeep::ops::{Cause, Failure, Root, State};

use crate::lab::{At, Lab, noise, picture};
use crate::nobody::done_as_nobody;

/// The copy must fail, leave no stage and the source as it was; the failure, for a closer look.
fn refused(lab: &Lab) -> Failure {
    let failure = lab.copy().unwrap_err();
    assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0, "{failure}");
    assert!(matches!(failure.state, State::Removed | State::NothingMade));
    failure
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_being_opened() {
    let lab = Lab::fast();
    lab.file("World/a", b"a");
    let pipe = lab.source("World/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let failure = refused(&lab);
    assert!(matches!(failure.cause, Cause::Special("pipe")), "{failure}");
    assert_eq!(failure.path, Path::new("World/pipe"));
    fs::remove_file(&pipe).unwrap();
    let socket = UnixListener::bind(lab.source("World/socket")).unwrap();
    assert!(matches!(refused(&lab).cause, Cause::Special("socket")));
    drop(socket);
    fs::remove_file(lab.source("World/socket")).unwrap();
    let device = lab.source("World/device");
    // 1:3 is /dev/null.
    match mknodat(CWD, &device, FileType::CharacterDevice, Mode::RWXU, rustix::fs::makedev(1, 3)) {
        Ok(()) => assert!(matches!(refused(&lab).cause, Cause::Special("device"))),
        Err(error) => eprintln!("skipped: no device can be made here: {error}"),
    }
}

#[test]
fn links_that_lead_out_are_refused() {
    for (name, target) in [
        ("World/sub/up", "../../W.db"),
        ("World/absolute", "/etc/passwd"),
        ("World/sub/round", "deeper/../../../W.db"),
        ("item", "World"),
    ] {
        let lab = Lab::fast();
        lab.with_everything();
        symlink(target, lab.source(name)).unwrap();
        let failure = refused(&lab);
        assert!(matches!(&failure.cause, Cause::LeadsOut(to) if to == target), "{failure}");
        assert_eq!(failure.path, Path::new(name));
        assert!(failure.to_string().contains(target) && failure.to_string().contains(name));
    }
}

#[test]
fn what_lies_too_deep_is_refused() {
    let lab = Lab::fast();
    lab.file(format!("{}/leaf", vec!["d"; worldkeep::ops::tree::MAX_DEPTH + 1].join("/")), b"deep");
    assert!(matches!(refused(&lab).cause, Cause::TooDeep));
}

#[test]
fn names_that_are_not_of_one_entry_are_refused() {
    let lab = Lab::fast();
    lab.file("World/a", b"a").file("b", b"b");
    for items in [vec![".."], vec!["World/a"], vec![""], vec!["."], vec!["b", "World", "b"], vec!["b\0"]] {
        let items: Vec<OsString> = items.into_iter().map(OsString::from).collect();
        let failure = lab.copy_items(&Direct, Flush::Singly, &items).unwrap_err();
        assert!(matches!(failure.cause, Cause::OddName), "{failure}");
        assert_eq!(failure.state, State::NothingMade);
    }
}

#[test]
fn a_stage_that_is_there_is_not_touched() {
    let lab = Lab::fast();
    lab.file("World/a", b"a");
    fs::create_dir(lab.keep().join("stage")).unwrap();
    fs::write(lab.stage("mine"), b"mine").unwrap();
    let failure = lab.copy().unwrap_err();
    assert!(matches!(failure.cause, Cause::NameTaken) && failure.state == State::NothingMade, "{failure}");
    assert_eq!(fs::read(lab.stage("mine")).unwrap(), b"mine");
    fs::remove_dir_all(lab.keep().join("stage")).unwrap();
    symlink(lab.source(""), lab.keep().join("stage")).unwrap();
    assert!(matches!(lab.copy().unwrap_err().cause, Cause::NameTaken));
    assert_eq!(lab.items(), ["World"]);
}

#[test]
fn a_source_that_grows_shrinks_or_goes_is_an_error_and_never_a_torn_copy() {
    let changes: [fn(&Lab); 5] = [
        |lab| {
            use std::io::Write as _;
            fs::OpenOptions::new().append(true).open(lab.source("World/b")).unwrap().write_all(b"more").unwrap();
        },
        |lab| fs::write(lab.source("World/b"), b"short").unwrap(),
        |lab| drop(fs::remove_file(lab.source("World/b"))),
        |lab| fs::write(lab.source("World/new"), b"new").unwrap(),
        |lab| fs::set_permissions(lab.source("World/b"), fs::Permissions::from_mode(0o600)).unwrap(),
    ];
    let fill = |lab: &Lab| {
        lab.file("World/a", b"a").file("World/b", &noise(600_000)).file("World/c", b"c");
    };
    let calls = {
        let lab = Lab::fast();
        fill(&lab);
        crate::lab::calls_of(&lab, Flush::Singly).len() as u64
    };
    let (mut errors, mut copies) = (0, 0);
    for (which, change) in changes.iter().enumerate() {
        for at in 0..calls {
            let lab = Lab::fast();
            fill(&lab);
            let before = picture(&lab.source("World"));
            let hook = At::new(|n, _: Call| {
                if n == at {
                    change(&lab);
                }
                Ok(())
            });
            if let Err(failure) = lab.copy_hooked(&hook, Flush::Singly) {
                errors += 1;
                assert!(matches!(failure.cause, Cause::Changed), "change {which} at {at}: {failure}");
                assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0, "change {which} at {at}");
                continue;
            }
            copies += 1;
            let (stage, now) = (picture(&lab.stage("World")), picture(&lab.source("World")));
            assert!(stage == before || stage == now, "change {which} at {at}: neither old nor new");
            // What changed behind the copier's back is what the proof is for.
            assert_eq!(lab.compare_items(&["World".into()]).equal(), stage == now, "change {which} at {at}");
        }
    }
    assert!(errors > 20 && copies > 20, "{errors} errors, {copies} copies");
}

#[test]
fn a_cancelled_copy_is_removed() {
    let lab = Lab::fast();
    lab.with_everything();
    let (source, parent) = (Root::open(&lab.source("")).unwrap(), Root::open(&lab.keep()).unwrap());
    let items = lab.items();
    let order =
        Order { source: &source, items: &items, parent: &parent, stage: "stage".as_ref(), flush: Flush::Singly };
    let mut last = 0;
    for stop_at in 0.. {
        let cancel = Cancel::new();
        let mut calls = 0;
        let result = copy(&order, &cancel, &mut |_| {
            if calls == stop_at {
                cancel.stop();
            }
            calls += 1;
        });
        match result {
            Err(failure) => {
                assert!(matches!(failure.cause, Cause::Cancelled) && failure.state == State::Removed, "{failure}");
                assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0);
                last = stop_at;
            }
            // It came after the last point where a copy can be stopped.
            Ok(_) => break,
        }
    }
    assert!(last > 10, "{last}");
}

#[test]
fn a_folder_that_we_may_not_write_or_read_refuses_and_leaves_nothing() {
    if done_as_nobody("refuse::a_folder_that_we_may_not_write_or_read_refuses_and_leaves_nothing") {
        return;
    }
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may do everything");
        return;
    }
    let lab = Lab::new();
    lab.file("World/a", b"a").file("World/b", b"b");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&lab.keep(), 0o555);
    let failure = lab.copy().unwrap_err();
    assert_eq!(failure.state, State::NothingMade);
    assert!(failure.to_string().contains("Permission denied") && failure.to_string().contains("stage"), "{failure}");
    mode(&lab.keep(), 0o755);
    for unreadable in ["World/b", "World"] {
        mode(&lab.source(unreadable), 0);
        let failure = refused(&lab);
        assert_eq!(failure.path, Path::new(unreadable), "{failure}");
        assert!(failure.to_string().contains("Permission denied"), "{failure}");
        mode(&lab.source(unreadable), 0o755);
    }
    // A folder that nobody may write, its owner included, is copied, and removed again when something fails later.
    mode(&lab.source("World"), 0o555);
    symlink("/", lab.source("z")).unwrap();
    let failure = refused(&lab);
    assert!(matches!(failure.cause, Cause::LeadsOut(_)), "{failure}");
    mode(&lab.source("World"), 0o755);
}

#[test]
fn a_failed_copy_does_not_remove_what_others_put_into_its_stage() {
    let lab = Lab::fast();
    lab.file("World/a", b"a").file("World/b", b"b");
    let planted = std::cell::Cell::new(false);
    let hook = At::new(|_, call| match call {
        Call::Fsync if !planted.replace(true) => {
            fs::write(lab.stage("World/theirs"), b"theirs").unwrap();
            Err(rustix::io::Errno::IO)
        }
        _ => Ok(()),
    });
    let failure = lab.copy_hooked(&hook, Flush::Singly).unwrap_err();
    let State::Left { stage, things } = &failure.state else { panic!("{failure}") };
    assert_eq!((stage.as_path(), *things), (lab.keep().join("stage").as_path(), 3));
    assert_eq!(fs::read(lab.stage("World/theirs")).unwrap(), b"theirs");
    assert_eq!(picture(&lab.stage("")).len(), 2, "only the folder that holds it");
    assert!(failure.to_string().contains("could not be removed whole"), "{failure}");
}
