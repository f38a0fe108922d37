//! Real mounts, each in a namespace of its own.

use std::fs;
use std::process::{Child, Command, Stdio};

use worldkeep::model::plan::{Operation, Outcome, Reason};

use crate::lab::{Lab, can, done_apart};

#[test]
fn a_world_that_is_a_mount_point_is_refused() {
    if done_apart("mounts::a_world_that_is_a_mount_point_is_refused") {
        return;
    }
    let lab = Lab::new();
    let world = lab.world("Midgard");
    if !can("mount", &["-t", "tmpfs", "tmpfs", world.to_str().unwrap()]) {
        return;
    }
    lab.refuses(lab.restore(), Reason::Mounted, &[world.to_str().unwrap(), "mount point"]);
    lab.refuses(lab.delete(&["Midgard"]), Reason::Mounted, &[world.to_str().unwrap()]);
}

#[test]
fn a_file_that_is_a_mount_point_is_refused() {
    if done_apart("mounts::a_file_that_is_a_mount_point_is_refused") {
        return;
    }
    let lab = Lab::new();
    let (b, a) = (lab.world("B.db"), lab.world("A.db"));
    if !can("mount", &["--bind", b.to_str().unwrap(), a.to_str().unwrap()]) {
        return;
    }
    lab.refuses(lab.restore_pair(), Reason::Mounted, &[a.to_str().unwrap(), "mount point"]);
}

#[test]
fn something_mounted_inside_a_world_is_refused() {
    if done_apart("mounts::something_mounted_inside_a_world_is_refused") {
        return;
    }
    let lab = Lab::new();
    let inside = lab.world("Midgard_backup/sub");
    if !can("mount", &["-t", "tmpfs", "tmpfs", inside.to_str().unwrap()]) {
        return;
    }
    lab.refuses(lab.restore(), Reason::NotCopyable, &[inside.to_str().unwrap()]);
    lab.refuses(lab.delete(&["Midgard_backup"]), Reason::Mounted, &[inside.to_str().unwrap()]);
}

#[test]
fn the_source_of_a_bind_mount_is_refused_here_and_in_another_process() {
    if done_apart("mounts::the_source_of_a_bind_mount_is_refused_here_and_in_another_process") {
        return;
    }
    let lab = Lab::new();
    let (world, config) = (lab.world("Midgard"), lab.base.join("con fig"));
    fs::create_dir(&config).unwrap();
    let paths = [world.to_str().unwrap(), config.to_str().unwrap()];
    if !can("mount", &["--bind", paths[0], paths[1]]) {
        return;
    }
    lab.refuses(lab.restore(), Reason::Mounted, &[paths[0], paths[1], "this system"]);
    assert!(can("umount", &[paths[1]]));
    lab.plan(lab.restore()).unwrap();

    // What a container does: the mount is seen by its own processes only.
    let script = format!("mount --bind '{}' '{}' && echo ready && exec sleep 60", paths[0], paths[1]);
    let mut other =
        Ended(Command::new("unshare").args(["-m", "sh", "-c", &script]).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(other.0.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(line, "ready\n");
    lab.refuses(lab.restore(), Reason::Mounted, &[paths[0], paths[1], "the process"]);
    // The neighbour is nobody's mount.
    lab.plan(lab.delete(&["A.db"])).unwrap();
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_worlds_folder_that_is_mounted_by_itself_has_no_stage_beside_it() {
    if done_apart("mounts::a_worlds_folder_that_is_mounted_by_itself_has_no_stage_beside_it") {
        return;
    }
    let lab = Lab::new();
    let worlds = lab.worlds();
    if !can("mount", &["-t", "tmpfs", "tmpfs", worlds.to_str().unwrap()]) {
        return;
    }
    lab.write("A.db", b"old");
    lab.refuses(lab.delete(&["A.db"]), Reason::NoStage, &["another file system", lab.root().to_str().unwrap()]);
}

#[test]
fn a_root_that_is_mounted_keeps_everything_on_its_mount() {
    if done_apart("mounts::a_root_that_is_mounted_keeps_everything_on_its_mount") {
        return;
    }
    let temp = tempfile::TempDir::new().unwrap();
    let base = temp.path().canonicalize().unwrap();
    fs::create_dir(base.join("root")).unwrap();
    if !can("mount", &["-t", "tmpfs", "-o", "size=8m", "tmpfs", base.join("root").to_str().unwrap()]) {
        return;
    }
    let lab = Lab::at(&base);
    let done = lab.perform(lab.restore());
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert!(lab.kept(&done, "Midgard/only-old").exists());
    // The folder above is on another mount, so that there is no place once the game looks into the root itself.
    let mut outline = lab.delete(&["A.db"]);
    outline.scanned.push(lab.root());
    lab.refuses(outline, Reason::NoStage, &[base.to_str().unwrap()]);
    drop(lab);
    assert!(can("umount", &[base.join("root").to_str().unwrap()]));
}

#[test]
fn a_copy_from_another_file_system_is_staged_beside_its_target() {
    if done_apart("mounts::a_copy_from_another_file_system_is_staged_beside_its_target") {
        return;
    }
    let lab = Lab::new();
    let backups = lab.base.join("backups");
    fs::create_dir(&backups).unwrap();
    if !can("mount", &["-t", "tmpfs", "tmpfs", backups.to_str().unwrap()]) {
        return;
    }
    fs::write(backups.join("A.db"), "from afar").unwrap();
    let origin = worldkeep::model::outline::Origin::Whole(backups.join("A.db"));
    let done = lab.perform(lab.outline(Operation::Restore, vec![lab.put_of(origin, Vec::new(), "A.db", true)]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(lab.read("A.db"), "from afar");
}

#[test]
fn a_read_only_file_system_is_refused() {
    if done_apart("mounts::a_read_only_file_system_is_refused") {
        return;
    }
    let temp = tempfile::TempDir::new().unwrap();
    let base = temp.path().canonicalize().unwrap();
    if !can("mount", &["-t", "tmpfs", "tmpfs", base.to_str().unwrap()]) {
        return;
    }
    let lab = Lab::at(&base);
    if !can("mount", &["-o", "remount,ro", base.to_str().unwrap()]) {
        return;
    }
    lab.refuses(lab.restore(), Reason::NotPermitted, &["read-only"]);
    lab.refuses(lab.delete(&["A.db"]), Reason::NotPermitted, &["read-only"]);
}
