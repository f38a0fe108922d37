//! Real small file systems: full ones, one whose disk fails, a subvolume, and one in a program.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use worldkeep::model::plan::{Outcome, Reason, Refusal};
use worldkeep::ops::run::Done;
use worldkeep::ops::{history, purge, undo};

use crate::lab::{Lab, can, done_apart, picture};

const KINDS: [(&str, &[&str], u64); 3] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"], 24 << 20),
    ("xfs", &["mkfs.xfs", "-q", "-f"], 300 << 20),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"], 128 << 20),
];

/// A file system in an image below a folder, mounted there; none, and a line that says so, where that cannot be.
fn mounted(below: &Path, kind: (&str, &[&str], u64)) -> Option<Lab> {
    let (name, make, size) = kind;
    let (image, at) = (below.join(format!("{name}.image")), below.join(name));
    fs::File::create(&image).unwrap().set_len(size).unwrap();
    fs::create_dir(&at).unwrap();
    let (program, options) = make.split_first().unwrap();
    let arguments: Vec<&str> = options.iter().copied().chain([image.to_str().unwrap()]).collect();
    let ready =
        can(program, &arguments) && can("mount", &["-o", "loop", image.to_str().unwrap(), at.to_str().unwrap()]);
    ready.then(|| Lab::at(&at))
}

/// Takes all room that root can get.
fn fill(folder: &Path) {
    // A full disk may have no room for a new file either.
    let sizes = [1 << 20, 64 << 10, 4096, 512];
    let files = sizes.map(|size| fs::File::create(folder.join(format!("filler{size}"))).unwrap());
    for (mut file, size) in files.into_iter().zip(sizes) {
        while file.write_all(&vec![7; size]).and_then(|()| file.sync_data()).is_ok() {}
    }
}

fn undone(lab: &Lab, name: &str) -> Done {
    let entry = entry(lab, name);
    lab.carry_out(undo::plan(&entry, &lab.setting()).unwrap())
}

fn entry(lab: &Lab, name: &str) -> history::Entry {
    let (entries, told) = history::list(&[lab.keep()], &lab.setting());
    entries.into_iter().find(|entry| entry.record.name == name).unwrap_or_else(|| panic!("no {name}: {told:?}"))
}

#[test]
fn on_a_full_disk_a_restore_is_refused_and_what_only_renames_is_done() {
    if done_apart("disks::on_a_full_disk_a_restore_is_refused_and_what_only_renames_is_done") {
        return;
    }
    for kind in KINDS {
        let temp = TempDir::new().unwrap();
        let Some(lab) = mounted(temp.path(), kind) else { continue };
        let first = lab.perform(lab.delete(&["A.db"]));
        assert_eq!(first.outcome, Outcome::Done, "{kind:?}: {first:?}");
        fill(&lab.base);
        lab.refuses(lab.restore(), Reason::NoSpace, &["too little free space", "left for the server"]);
        let old = picture(&lab.world("Midgard"));
        let done = lab.perform(lab.delete(&["Midgard"]));
        assert_eq!(done.outcome, Outcome::Done, "{kind:?}: {done:?}");
        assert_eq!(picture(&lab.kept(&done, "Midgard")), old, "{kind:?}");
        let back = undone(&lab, &done.name);
        assert_eq!(back.outcome, Outcome::Done, "{kind:?}: {back:?}");
        assert_eq!(picture(&lab.world("Midgard")), old, "{kind:?}");
        let plan = purge::plan(&[entry(&lab, &first.name)], &lab.setting()).unwrap();
        let purged = lab.carry_out(plan);
        assert_eq!(purged.outcome, Outcome::Done, "{kind:?}: {purged:?}");
        assert!(!lab.kept(&first, "A.db").exists() && !lab.world("A.db").exists());
        eprintln!("full {}: a restore refused; a delete, an undo and a purge done", kind.0);
    }
}

#[test]
fn where_a_quota_is_used_up_nothing_is_touched_or_all_is_done() {
    if done_apart("disks::where_a_quota_is_used_up_nothing_is_touched_or_all_is_done") {
        return;
    }
    let temp = TempDir::new().unwrap();
    let Some(disk) = mounted(temp.path(), KINDS[2]) else { return };
    let volume = disk.base.join("limited");
    let path = volume.to_str().unwrap();
    if !can("btrfs", &["-q", "quota", "enable", disk.base.to_str().unwrap()])
        || !can("btrfs", &["-q", "subvolume", "create", path])
        || !can("btrfs", &["-q", "qgroup", "limit", "24M", path])
    {
        return;
    }
    let lab = Lab::at(&volume);
    let first = lab.perform(lab.delete(&["A.db"]));
    assert_eq!(first.outcome, Outcome::Done, "{first:?}");
    lab.write("Midgard_backup/world.db", &vec![7; 2 << 20]);
    fill(&volume);
    let old = picture(&lab.world("Midgard"));
    // What the quota leaves is not told by the file system: only the attempt shows it.
    let done = lab.perform(lab.restore());
    let (Outcome::Unchanged { why } | Outcome::Refused(Refusal { text: why, .. })) = &done.outcome else {
        panic!("{done:?}")
    };
    assert!(why.contains("os error 122") && why.contains("Free some space"), "{why}");
    assert_eq!(picture(&lab.world("Midgard")), old);
    let done = lab.perform(lab.delete(&["Midgard"]));
    // For one new folder btrfs sets more aside than the kept room gives back.
    match &done.outcome {
        Outcome::Done => {
            assert_eq!(picture(&lab.kept(&done, "Midgard")), old);
            assert_eq!(undone(&lab, &done.name).outcome, Outcome::Done);
        }
        Outcome::Refused(refusal) => assert_eq!(refusal.reason, Reason::NoSpace, "{refusal}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(picture(&lab.world("Midgard")), old);
    // With a little room, all goes on.
    fs::remove_file(volume.join("filler65536")).unwrap();
    fs::remove_file(volume.join("filler1048576")).unwrap();
    assert!(can("sync", &["-f", path]));
    assert_eq!(lab.perform(lab.restore()).outcome, Outcome::Done);
}

#[test]
fn a_disk_that_fails_when_it_is_written_to_leaves_the_old_state() {
    if done_apart("disks::a_disk_that_fails_when_it_is_written_to_leaves_the_old_state") {
        return;
    }
    let temp = TempDir::new().unwrap();
    if !can("mount", &["-t", "tmpfs", "-o", "size=16m", "tmpfs", temp.path().to_str().unwrap()]) {
        return;
    }
    // The image promises more than what it lies on can take.
    let Some(lab) = mounted(temp.path(), ("ext4", &["mkfs.ext4", "-q", "-F"], 256 << 20)) else { return };
    lab.write("Midgard_backup/world.db", &vec![7; 6 << 20]);
    assert!(Command::new("sync").arg("-f").arg(&lab.base).status().unwrap().success());
    fill(temp.path());
    let old = picture(&lab.world("Midgard"));
    let done = lab.perform(lab.restore());
    let Outcome::Unchanged { why } = &done.outcome else { panic!("{done:?}") };
    assert!(why.contains("os error 5") || why.contains("os error 28") || why.contains("os error 30"), "{why}");
    assert_eq!(picture(&lab.world("Midgard")), old);
    assert_eq!(fs::read(lab.world("Midgard_backup/world.db")).unwrap(), vec![7; 6 << 20]);
}

#[test]
fn a_world_that_is_a_subvolume_is_refused_and_one_inside_of_a_subvolume_is_not() {
    if done_apart("disks::a_world_that_is_a_subvolume_is_refused_and_one_inside_of_a_subvolume_is_not") {
        return;
    }
    let temp = TempDir::new().unwrap();
    let Some(lab) = mounted(temp.path(), KINDS[2]) else { return };
    let volume = lab.world("Volume");
    if !can("btrfs", &["-q", "subvolume", "create", volume.to_str().unwrap()]) {
        return;
    }
    fs::write(volume.join("world.db"), "in a subvolume").unwrap();
    // In the middle of what is copied it is another file system.
    let inside = lab.world("Midgard_backup/sub/volume");
    assert!(can("btrfs", &["-q", "subvolume", "create", inside.to_str().unwrap()]));
    lab.refuses(lab.restore(), Reason::NotCopyable, &[inside.to_str().unwrap()]);
    assert!(can("btrfs", &["-q", "subvolume", "delete", inside.to_str().unwrap()]));
    assert_eq!(lab.perform(lab.restore()).outcome, Outcome::Done);
    // As a world it is renamed as any folder is, or refused before that, but never done by half.
    let old = picture(&volume);
    match lab.plan(lab.delete(&["Volume"])) {
        Ok(plan) => {
            let done = lab.carry_out(plan);
            assert_eq!(done.outcome, Outcome::Done, "{done:?}");
            assert_eq!(picture(&lab.kept(&done, "Volume")), old);
            assert_eq!(undone(&lab, &done.name).outcome, Outcome::Done);
        }
        Err(refusal) => eprintln!("a subvolume as a world: {refusal}"),
    }
    assert_eq!(picture(&volume), old);
}

#[test]
fn in_a_file_system_of_a_program_a_restore_is_whole_or_nothing() {
    if done_apart("disks::in_a_file_system_of_a_program_a_restore_is_whole_or_nothing") {
        return;
    }
    let temp = TempDir::new().unwrap();
    let (behind, at) = (temp.path().join("behind"), temp.path().join("at"));
    fs::create_dir(&behind).unwrap();
    fs::create_dir(&at).unwrap();
    if !can("bindfs", &[behind.to_str().unwrap(), at.to_str().unwrap()]) {
        return;
    }
    let lab = Lab::at(&at.canonicalize().unwrap());
    let (old, new) = (picture(&lab.world("Midgard")), picture(&lab.world("Midgard_backup")));
    let done = lab.perform(lab.restore());
    eprintln!("restore on FUSE: {:?}", done.outcome);
    match &done.outcome {
        Outcome::Done => {
            assert_eq!(picture(&lab.world("Midgard")), new);
            assert_eq!(picture(&lab.kept(&done, "Midgard")), old);
            assert_eq!(undone(&lab, &done.name).outcome, Outcome::Done);
            assert_eq!(picture(&lab.world("Midgard")), old);
        }
        Outcome::Unchanged { .. } | Outcome::Refused(_) => assert_eq!(picture(&lab.world("Midgard")), old),
        other => panic!("{other:?}"),
    }
    assert!(!lab.keep().join("journal").exists() && !lab.keep().join("stage").exists());
    let _ = Command::new("umount").arg(&at).status();
}
