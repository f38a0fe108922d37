//! The proof finds every kind of difference, and only those.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat};
use worldkeep::ops::compare::{Comparison, Kind};

use crate::lab::{Lab, noise};
use crate::nobody::done_as_nobody;

/// The words of each difference without its numbers.
fn found(proof: &Comparison) -> Vec<(PathBuf, &'static str)> {
    let mut found: Vec<_> = proof
        .differences
        .iter()
        .map(|difference| {
            let kind = match &difference.kind {
                Kind::Missing => "missing",
                Kind::Extra => "extra",
                Kind::Type => "type",
                Kind::Size { .. } => "size",
                Kind::Bytes { .. } => "bytes",
                Kind::Mode { .. } => "mode",
                Kind::Owner { .. } => "owner",
                Kind::Modified { .. } => "modified",
                Kind::Attribute(_) => "attribute",
                Kind::Target => "target",
                Kind::Names => "names",
                Kind::Special => "special",
                Kind::Unreadable { .. } => "unreadable",
            };
            (difference.path.clone(), kind)
        })
        .collect();
    found.sort();
    found
}

/// A copy in which something is changed, without a trace in the times of the folder or the file.
fn planted(change: impl Fn(&Lab)) -> Vec<(PathBuf, &'static str)> {
    let lab = Lab::fast();
    lab.with_everything();
    lab.copy().unwrap();
    assert!(lab.compare().equal());
    let times = |path: &Path| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let all = crate::lab::below(&lab.stage(""));
    let kept: Vec<_> = all.iter().map(|path| (path, times(path))).collect();
    change(&lab);
    for (path, time) in kept {
        if let (Some(time), false) = (time, path.is_symlink())
            && let Ok(file) = fs::File::open(path)
        {
            file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
        }
    }
    found(&lab.compare())
}

fn flip_byte(path: &Path, at: u64) {
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
}

#[test]
fn what_is_missing_or_too_much_is_found() {
    let gone = planted(|lab| fs::remove_file(lab.stage("World/empty")).unwrap());
    assert_eq!(gone, [("World/empty".into(), "missing")]);
    let gone = planted(|lab| fs::remove_dir(lab.stage("World/void")).unwrap());
    assert_eq!(gone, [("World/void".into(), "missing")]);
    let gone = planted(|lab| fs::remove_file(lab.stage("W.db")).unwrap());
    assert_eq!(gone, [("W.db".into(), "missing")]);
    let more = planted(|lab| fs::write(lab.stage("World/sub/more"), b"").unwrap());
    assert_eq!(more, [("World/sub/more".into(), "extra")]);
    let more = planted(|lab| fs::create_dir(lab.stage("more")).unwrap());
    assert_eq!(more, [("more".into(), "extra")]);
}

#[test]
fn every_changed_byte_is_found() {
    for at in [0, 1, 150_000, 262_143, 262_144, 300_000] {
        let found = planted(|lab| flip_byte(&lab.stage("W.db"), at));
        assert_eq!(found, [("W.db".into(), "bytes")], "byte {at}");
    }
    // In a hole, and in what follows it.
    for at in [5, (1 << 20) + 7, (4 << 20) - 1] {
        assert_eq!(planted(|lab| flip_byte(&lab.stage("World/sparse"), at)), [("World/sparse".into(), "bytes")]);
    }
    let lab = Lab::fast();
    lab.file("a", &noise(600_000));
    lab.copy().unwrap();
    flip_byte(&lab.stage("a"), 543_210);
    let proof = lab.compare();
    let exact = proof.differences.iter().any(|difference| matches!(difference.kind, Kind::Bytes { at: 543_210 }));
    assert!(exact, "{:?}", proof.differences);
}

#[test]
fn a_changed_size_type_or_target_is_found() {
    let shorter = |lab: &Lab, to| fs::File::options().write(true).open(lab.stage("W.db")).unwrap().set_len(to).unwrap();
    assert_eq!(planted(|lab| shorter(lab, 300_000)), [("W.db".into(), "size")]);
    assert_eq!(planted(|lab| shorter(lab, 300_002)), [("W.db".into(), "size")]);
    assert_eq!(planted(|lab| shorter(lab, 0)), [("W.db".into(), "size")]);
    let other = planted(|lab| {
        fs::remove_file(lab.stage("World/empty")).unwrap();
        fs::create_dir(lab.stage("World/empty")).unwrap();
    });
    assert_eq!(other, [("World/empty".into(), "type")]);
    let other = planted(|lab| {
        fs::remove_file(lab.stage("W.fwl")).unwrap();
        symlink(lab.source("W.fwl"), lab.stage("W.fwl")).unwrap();
    });
    assert_eq!(other, [("W.fwl".into(), "type")]);
    let other = planted(|lab| {
        fs::remove_file(lab.stage("World/sub/link")).unwrap();
        symlink("../emptx", lab.stage("World/sub/link")).unwrap();
    });
    // A link that is made anew has a new time as well.
    assert_eq!(other, [("World/sub/link".into(), "modified"), ("World/sub/link".into(), "target")]);
}

#[test]
fn a_changed_mode_owner_time_or_attribute_is_found() {
    let mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(planted(|lab| mode(lab.stage("W.db"), 0o641)), [("W.db".into(), "mode")]);
    assert_eq!(planted(|lab| mode(lab.stage("World"), 0o775)), [("World".into(), "mode")]);
    assert_eq!(planted(|lab| mode(lab.stage("World/sub/deeper/x"), 0o600)), [("World/sub/deeper/x".into(), "mode")]);
    if rustix::process::geteuid().is_root() {
        let owner = |lab: &Lab, user, group| std::os::unix::fs::lchown(lab.stage("W.db"), user, group).unwrap();
        assert_eq!(planted(|lab| owner(lab, Some(77), None)), [("W.db".into(), "owner")]);
        assert_eq!(planted(|lab| owner(lab, None, Some(77))), [("W.db".into(), "owner")]);
        let link = planted(|lab| std::os::unix::fs::lchown(lab.stage("World/dangling"), Some(5), None).unwrap());
        assert_eq!(link, [("World/dangling".into(), "owner")]);
    } else {
        eprintln!("skipped: only root gives files away");
    }
    for name in ["World", "World/sub/two"] {
        let lab = Lab::fast();
        lab.with_everything();
        lab.copy().unwrap();
        let file = fs::File::open(lab.stage(name)).unwrap();
        let time: SystemTime = file.metadata().unwrap().modified().unwrap();
        file.set_times(fs::FileTimes::new().set_modified(time + std::time::Duration::from_nanos(1))).unwrap();
        let proof = lab.compare();
        assert!(found(&proof).contains(&(name.into(), "modified")), "{:?}", proof.differences);
        assert!(proof.differences.iter().all(|difference| matches!(difference.kind, Kind::Modified { .. })));
    }
    let lab = Lab::new();
    lab.file("a", b"a").file("b", b"b").file("c", b"c");
    let set = |path: PathBuf, value: &[u8]| rustix::fs::setxattr(path, "user.note", value, XattrFlags::empty());
    if set(lab.source("a"), b"1").and(set(lab.source("b"), b"1")).is_err() {
        eprintln!("skipped: no attributes here");
        return;
    }
    lab.copy().unwrap();
    set(lab.stage("a"), b"2").unwrap();
    rustix::fs::removexattr(lab.stage("b"), "user.note").unwrap();
    set(lab.stage("c"), b"").unwrap();
    let attribute = |name: &str| (PathBuf::from(name), "attribute");
    assert_eq!(found(&lab.compare()), [attribute("a"), attribute("b"), attribute("c")]);
}

#[test]
fn names_that_are_no_longer_one_file_or_newly_are_found() {
    let parted = planted(|lab| {
        fs::remove_file(lab.stage("World/zwei")).unwrap();
        fs::copy(lab.stage("World/sub/two"), lab.stage("World/zwei")).unwrap();
        let time = fs::metadata(lab.stage("World/sub/two")).unwrap().modified().unwrap();
        let file = fs::File::open(lab.stage("World/zwei")).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
    });
    assert!(!parted.is_empty() && parted.iter().all(|(_, kind)| *kind == "names"), "{parted:?}");
    let lab = Lab::fast();
    lab.file("a", b"same").file("b", b"same");
    let time = fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    for name in ["a", "b"] {
        fs::File::open(lab.source(name)).unwrap().set_times(time).unwrap();
    }
    lab.copy().unwrap();
    fs::remove_file(lab.stage("b")).unwrap();
    fs::hard_link(lab.stage("a"), lab.stage("b")).unwrap();
    assert_eq!(found(&lab.compare()), [("b".into(), "names")]);
}

#[test]
fn special_files_are_named_and_not_opened() {
    let lab = Lab::fast();
    lab.file("a", b"a").file("b", b"b");
    lab.copy().unwrap();
    for path in [lab.source("a"), lab.stage("a"), lab.stage("b")] {
        fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let found = found(&lab.compare());
    assert!(found.contains(&("a".into(), "special")) && found.contains(&("b".into(), "type")), "{found:?}");
}

#[test]
fn a_hole_that_was_filled_is_told_and_is_no_difference() {
    let lab = Lab::fast();
    lab.with_everything();
    lab.copy().unwrap();
    let meta = fs::metadata(lab.stage("World/sparse")).unwrap();
    let bytes = fs::read(lab.stage("World/sparse")).unwrap();
    let file = fs::File::options().write(true).open(lab.stage("World/sparse")).unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(meta.modified().unwrap())).unwrap();
    let proof = lab.compare();
    assert!(proof.equal(), "{:?}", proof.differences);
    assert_eq!(proof.filled, [Path::new("World/sparse")]);
    assert_eq!(proof.holes.stage, 0);
}

#[test]
fn what_cannot_be_read_is_never_called_equal() {
    if done_as_nobody("compare::what_cannot_be_read_is_never_called_equal") {
        return;
    }
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may read everything");
        return;
    }
    let lab = Lab::new();
    lab.file("World/a", b"a");
    lab.copy().unwrap();
    for path in [lab.stage("World/a"), lab.source("World/a"), lab.stage("World")] {
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let proof = lab.compare();
        assert!(!proof.equal());
        assert!(proof.differences.iter().any(|d| matches!(d.kind, Kind::Unreadable { .. })), "{:?}", proof.differences);
        fs::set_permissions(&path, mode).unwrap();
    }
    assert!(lab.compare().equal());
}

#[test]
fn a_stage_that_is_gone_or_a_link_is_not_equal() {
    let lab = Lab::fast();
    lab.file("a", b"a");
    assert!(!lab.compare().equal());
    symlink(lab.source(""), lab.keep().join("stage")).unwrap();
    assert!(!lab.compare().equal());
}

#[test]
fn more_differences_than_are_listed_are_counted() {
    let lab = Lab::fast();
    lab.file("World/a", b"a");
    lab.copy().unwrap();
    for n in 0..1200 {
        fs::write(lab.stage(format!("World/{n}")), b"").unwrap();
    }
    let proof = lab.compare();
    // The folder's own time is one of them.
    assert_eq!(proof.differences.len() as u64 + proof.more, 1201);
    assert_eq!(proof.differences.len(), worldkeep::ops::compare::LISTED);
}
