//! What a copy keeps.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use worldkeep::ops::tree::calls::{Call, Hook};
use worldkeep::ops::tree::{Flush, Lost};

use crate::lab::{At, Lab, noise, picture};
use crate::nobody::done_as_nobody;

fn holds_everything(lab: &Lab, hook: &impl Hook, flush: Flush, what: &str) {
    let before = picture(&lab.source(""));
    let copied = lab.copy_hooked(hook, flush).unwrap_or_else(|failure| panic!("{what}: {failure}"));
    assert!(copied.lost.is_empty(), "{what}: {:?}", copied.lost);
    let proof = lab.compare();
    assert!(proof.equal(), "{what}: {:?}", proof.differences);
    assert!(proof.filled.is_empty(), "{what}: holes were filled: {:?}", proof.filled);
    assert_eq!(picture(&lab.stage("")), before, "{what}");
    assert_eq!(picture(&lab.source("")), before, "{what}: the source");
    assert_eq!((copied.files, copied.hard_links, copied.links, copied.folders), (8, 2, 2, 4), "{what}");
    assert_eq!(proof.files, copied.files + copied.hard_links, "{what}");
    let mode = fs::metadata(lab.stage("")).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o700, "{what}: nobody else enters a stage");
    lab.clear();
}

fn every_way(lab: &Lab) {
    for flush in [Flush::ByAmount, Flush::Singly, Flush::AtOnce] {
        holds_everything(lab, &At::new(|_, _| Ok(())), flush, &format!("{flush:?}"));
    }
    let lacking: [(&[Call], Errno); 5] = [
        (&[Call::Openat2], Errno::NOSYS),
        (&[Call::Clone], Errno::OPNOTSUPP),
        (&[Call::Clone, Call::CopyRange], Errno::XDEV),
        (&[Call::Clone, Call::CopyRange, Call::Openat2], Errno::NOSYS),
        (&[Call::Clone, Call::CopyRange], Errno::INVAL),
    ];
    for (calls, error) in lacking {
        let hook = At::new(|_, call| if calls.contains(&call) { Err(error) } else { Ok(()) });
        holds_everything(lab, &hook, Flush::ByAmount, &format!("without {calls:?}: {error}"));
    }
    holds_everything(lab, &Short(4097), Flush::ByAmount, "short reads and writes");
    holds_everything(lab, &Short(1 << 20), Flush::ByAmount, "interrupted");
}

/// Everything is interrupted every second time but flushing; the kernel copies nothing; reads and writes are short.
struct Short(usize);

thread_local!(static ODD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });

impl Hook for Short {
    fn before(&self, call: Call) -> Result<(), Errno> {
        if matches!(call, Call::Clone | Call::CopyRange) {
            return Err(Errno::OPNOTSUPP);
        }
        let odd = ODD.with(|odd| odd.replace(!odd.get()));
        if odd && call != Call::Fsync && call != Call::Syncfs { Err(Errno::INTR) } else { Ok(()) }
    }

    fn most(&self, _: Call, wanted: usize) -> usize {
        wanted.min(self.0)
    }
}

#[test]
fn a_copy_is_its_source_in_every_way_that_the_system_offers() {
    every_way(Lab::new().with_everything());
    every_way(Lab::fast().with_everything());
    every_way(Lab::fast().with_everything().owned_by(1234, 100));
}

#[test]
fn a_copy_without_root_is_its_source_as_well() {
    if done_as_nobody("faithful::a_copy_without_root_is_its_source_as_well") {
        return;
    }
    every_way(Lab::new().with_everything());
}

#[test]
fn a_system_without_holes_gets_the_bytes() {
    let lab = Lab::fast();
    lab.with_everything();
    let hook = At::new(|_, call| match call {
        Call::Seek => Err(Errno::INVAL),
        Call::Clone => Err(Errno::OPNOTSUPP),
        _ => Ok(()),
    });
    lab.copy_hooked(&hook, Flush::Singly).unwrap();
    let proof = lab.compare();
    assert!(proof.equal(), "{:?}", proof.differences);
    assert_eq!(proof.filled, [Path::new("World/sparse")]);
    assert!(proof.holes.source > 2 << 20 && proof.holes.stage < proof.holes.source);
}

#[test]
fn reading_a_source_does_not_change_when_it_was_read() {
    let lab = Lab::new();
    lab.with_everything();
    let times = || {
        let meta = fs::metadata(lab.source("W.db")).unwrap();
        let folder = fs::metadata(lab.source("World/sub")).unwrap();
        [(meta.atime(), meta.atime_nsec()), (folder.atime(), folder.atime_nsec())]
    };
    let file = fs::File::open(lab.source("W.db")).unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 77);
    file.set_times(fs::FileTimes::new().set_accessed(old)).unwrap();
    let before = times();
    lab.copy().unwrap();
    let copy = fs::metadata(lab.stage("W.db")).unwrap();
    assert_eq!((copy.atime(), copy.atime_nsec()), (1_000_000_000, 77));
    assert!(lab.compare().equal());
    assert_eq!(times(), before);
}

fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match rustix::fs::setxattr(path, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("skipped: {name} cannot be set here: {error}");
            false
        }
    }
}

fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(65536);
    rustix::fs::getxattr(path, name, rustix::buffer::spare_capacity(&mut value)).ok()?;
    Some(value)
}

/// An access list as the kernel takes it: the owner, one more user, the group, the mask, the others.
fn access_list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 7, 1234), (4, 4, u32::MAX), (0x10, 7, u32::MAX), (0x20, 4, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[test]
fn attributes_and_access_lists_are_kept_and_none_is_inherited() {
    for lab in [Lab::new(), Lab::fast()] {
        lab.file("World/a", b"a").file("World/plain", b"p");
        let list = access_list();
        let all = set(&lab.source("World/a"), "user.note", b"text\0\xff")
            && set(&lab.source("World"), "user.empty", b"")
            && set(&lab.source("World/a"), "user.large", &noise(900))
            && set(&lab.source("World/a"), "system.posix_acl_access", &list)
            && set(&lab.source("World"), "system.posix_acl_default", &list)
            // What lies beside a stage must not leak into it.
            && set(&lab.keep(), "system.posix_acl_default", &list);
        if !all {
            continue;
        }
        let plain = fs::metadata(lab.source("World/plain")).unwrap().mode();
        let copied = lab.copy().unwrap();
        assert!(copied.lost.is_empty(), "{:?}", copied.lost);
        for (file, name) in [
            ("World/a", "user.note"),
            ("World", "user.empty"),
            ("World/a", "user.large"),
            ("World/a", "system.posix_acl_access"),
            ("World", "system.posix_acl_default"),
        ] {
            assert_eq!(get(&lab.stage(file), name), get(&lab.source(file), name), "{file} {name}");
            assert!(get(&lab.stage(file), name).is_some());
        }
        assert_eq!(get(&lab.stage("World/plain"), "system.posix_acl_access"), None);
        assert_eq!(fs::metadata(lab.stage("World/plain")).unwrap().mode(), plain);
        let proof = lab.compare();
        assert!(proof.equal(), "{:?}", proof.differences);
    }
}

#[test]
fn an_attribute_that_cannot_be_kept_is_reported() {
    let lab = Lab::new();
    lab.file("World/a", b"a");
    if !set(&lab.source("World/a"), "user.note", b"x") {
        return;
    }
    let hook = At::new(|_, call| if call == Call::SetAttribute { Err(Errno::OPNOTSUPP) } else { Ok(()) });
    let copied = lab.copy_hooked(&hook, Flush::Singly).unwrap();
    assert_eq!(copied.lost.len(), 1);
    assert_eq!(copied.lost[0].path, Path::new("World/a"));
    assert_eq!(copied.lost[0].lost, Lost::Attribute(b"user.note".to_vec()));
    assert_eq!(lab.compare().differences.len(), 1);
}

#[test]
fn rights_of_a_program_are_kept_for_files_of_ours_and_taken_from_those_of_others() {
    // What root does is looked at here, what anybody else does in a process of its own.
    let _ = done_as_nobody("faithful::rights_of_a_program_are_kept_for_files_of_ours_and_taken_from_those_of_others");
    let root = rustix::process::geteuid().is_root();
    let lab = Lab::fast();
    lab.file("World/tool", b"#!").owned_by(1234, 1234);
    fs::set_permissions(lab.source("World/tool"), fs::Permissions::from_mode(0o6755)).unwrap();
    fs::set_permissions(lab.source("World"), fs::Permissions::from_mode(0o3775)).unwrap();
    let copied = lab.copy().unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(lab.stage("World")), 0o3775, "a folder's group and sticky bits say who owns what is new");
    assert_eq!(mode(lab.stage("World/tool")), if root { 0o755 } else { 0o6755 });
    let lost: Vec<_> = copied.lost.iter().map(|loss| (loss.path.as_path(), &loss.lost)).collect();
    if root {
        assert_eq!(lost, [(Path::new("World/tool"), &Lost::Mode { was: 0o6755, is: 0o755 })]);
    } else {
        assert_eq!(lost, []);
    }
}

#[test]
fn an_owner_that_cannot_be_kept_is_reported() {
    let lab = Lab::fast();
    lab.file("World/a", b"a").owned_by(1234, 1234);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can make a file of another user");
        return;
    }
    let hook = At::new(|_, call| if call == Call::Chown { Err(Errno::PERM) } else { Ok(()) });
    let copied = lab.copy_hooked(&hook, Flush::Singly).unwrap();
    let lost: Vec<_> = copied.lost.iter().map(|loss| &loss.lost).collect();
    assert_eq!(lost, [&Lost::Owner { user: 1234, group: 1234 }; 2]);
    assert_eq!(lab.compare().differences.len(), 2);
}

#[test]
fn a_tree_as_deep_as_is_allowed_is_copied() {
    let lab = Lab::fast();
    lab.file(format!("{}/leaf", vec!["d"; worldkeep::ops::tree::MAX_DEPTH].join("/")), b"deep");
    lab.copy().unwrap();
    assert!(lab.compare().equal());
}

#[test]
fn many_files_are_made_durable_at_once_and_few_one_by_one() {
    let lab = Lab::fast();
    for n in 0..300 {
        lab.file(format!("World/{n}"), b"x");
    }
    let calls = |lab: &Lab, flush| crate::lab::calls_of(lab, flush);
    let count = |calls: &[Call], wanted| calls.iter().filter(|call| **call == wanted).count();
    let many = calls(&lab, Flush::ByAmount);
    let singly = usize::try_from(worldkeep::ops::tree::FLUSHED_SINGLY).unwrap();
    assert_eq!((count(&many, Call::Syncfs), count(&many, Call::Fsync)), (1, singly + 2));
    let singly = calls(&lab, Flush::Singly);
    assert_eq!((count(&singly, Call::Syncfs), count(&singly, Call::Fsync)), (0, 300 + 3));
    // The whole is asked for after everything is written, and the stage and its name after that.
    assert_eq!(many[many.len() - 3..], [Call::Syncfs, Call::Fsync, Call::Fsync]);
}

#[test]
fn progress_ends_at_all_files_and_bytes() {
    use worldkeep::model::Cancel;
    use worldkeep::ops::Root;
    use worldkeep::ops::tree::{Order, copy};
    let lab = Lab::fast();
    lab.with_everything();
    let (source, parent) = (Root::open(&lab.source("")).unwrap(), Root::open(&lab.keep()).unwrap());
    let items = lab.items();
    let order =
        Order { source: &source, items: &items, parent: &parent, stage: "stage".as_ref(), flush: Flush::ByAmount };
    let mut seen = Vec::new();
    let copied = copy(&order, &Cancel::new(), &mut |at| seen.push((at.files, at.bytes))).unwrap();
    assert!(seen.is_sorted());
    assert_eq!(seen.last(), Some(&(copied.files, copied.bytes)));
    assert_eq!(copied.bytes, 4 + 300_001 + 1 + 5000 + 3 + 4 + (4 << 20));
}
