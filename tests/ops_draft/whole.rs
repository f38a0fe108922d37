//! From an outline to a save that is as it should be.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

use worldkeep::model::ServerState;
use worldkeep::model::outline::{Change, Origin};
use worldkeep::model::plan::{Operation, Outcome, Step, WarningCode};
use worldkeep::ops::draft;

use crate::lab::{Lab, is_root, picture, server, traces};

#[test]
fn case_5_6_7_a_restored_folder_holds_exactly_what_the_layer_holds() {
    let lab = Lab::new();
    let layer = picture(&lab.world("Midgard_backup"));
    let old = picture(&lab.world("Midgard"));
    let done = lab.perform(lab.restore());
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(picture(&lab.world("Midgard")), layer);
    assert_eq!(picture(&lab.world("Midgard_backup")), layer);
    assert_eq!(picture(&lab.kept(&done, "Midgard")), old);
    assert!(!lab.keep().join("stage").join(&done.name).exists());
}

#[test]
fn a_restored_pair_takes_both_files_and_keeps_both_old_ones() {
    let lab = Lab::new();
    let plan = lab.plan(lab.restore_pair()).unwrap();
    // The window in which the pair is mixed is two calls: both exchanges stand side by side, the data first.
    let renames: Vec<&Step> = plan.content().steps.iter().filter(|step| step.as_move().is_some()).collect();
    assert!(
        matches!(renames[..], [
        Step::Exchange { live: db, .. },
        Step::Exchange { live: fwl, .. },
        Step::Park { .. },
        Step::Park { .. },
    ] if db.ends_with("A.db") && fwl.ends_with("A.fwl")),
        "{renames:?}"
    );
    // Both come out of one folder, and share a copy.
    assert_eq!(plan.content().steps.iter().filter(|step| matches!(step, Step::Copy { .. })).count(), 1);
    let done = lab.carry_out(plan);
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!((lab.read("A.db"), lab.read("A.fwl")), ("new db, longer".into(), "new fwl".into()));
    assert_eq!(fs::read(lab.kept(&done, "A.db")).unwrap(), b"old db");
    assert_eq!(fs::read(lab.kept(&done, "A.fwl")).unwrap(), b"old fwl");
}

#[test]
fn a_file_that_is_the_source_of_two_is_copied_twice() {
    let lab = Lab::new();
    let name = |name: &str| vec![(PathBuf::new(), name.as_bytes().to_vec())];
    let whole = || Origin::Whole(lab.world("B.fwl"));
    let changes =
        vec![lab.put_of(whole(), name("one"), "One.fwl", false), lab.put_of(whole(), name("two"), "Two.fwl", false)];
    let done = lab.perform(lab.outline(Operation::Copy, changes));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(
        (lab.read("One.fwl"), lab.read("Two.fwl"), lab.read("B.fwl")),
        ("one".into(), "two".into(), "new fwl".into())
    );
}

#[test]
fn a_copy_goes_to_a_name_where_nothing_was_with_other_bytes_in_one_file() {
    let lab = Lab::new();
    fs::set_permissions(lab.world("Midgard/world.db"), fs::Permissions::from_mode(0o440)).unwrap();
    let writes = vec![("world.db".into(), b"the new name".to_vec()), ("sub/more".into(), b"more".to_vec())];
    let changes = vec![lab.put_of(Origin::Whole(lab.world("Midgard")), writes, "Asgard", false)];
    let before = picture(&lab.world("Midgard"));
    let done = lab.perform(lab.outline(Operation::Copy, changes));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!((lab.read("Asgard/world.db"), lab.read("Asgard/sub/more")), ("the new name".into(), "more".into()));
    assert_eq!(lab.read("Asgard/sub/zone"), "old zone");
    // It stays what it was, but its owner can write it.
    assert_eq!(fs::metadata(lab.world("Asgard/world.db")).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(picture(&lab.world("Midgard")), before);
}

#[test]
fn a_rename_places_the_new_parks_the_old_and_moves_the_layers() {
    let lab = Lab::new();
    let old = picture(&lab.world("Midgard"));
    let changes = vec![
        lab.put_of(Origin::Whole(lab.world("Midgard")), vec![("world.db".into(), b"Asgard".to_vec())], "Asgard", false),
        Change::Park(lab.world("Midgard")),
        Change::Move { from: lab.world("Midgard_backup"), to: lab.world("Asgard_backup") },
    ];
    let done = lab.perform(lab.outline(Operation::Rename, changes));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(lab.read("Asgard/world.db"), "Asgard");
    assert_eq!(lab.read("Asgard_backup/sub/zone"), "new");
    assert!(!lab.world("Midgard").exists() && !lab.world("Midgard_backup").exists());
    assert_eq!(picture(&lab.kept(&done, "Midgard")), old);
}

#[test]
fn case_18_a_deleted_world_is_parked_with_its_links_and_what_they_lead_to_stays() {
    let lab = Lab::new();
    let outside = lab.base.join("mods");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("mod"), "of everybody").unwrap();
    std::os::unix::fs::symlink(&outside, lab.world("Midgard/worldmods")).unwrap();
    let plan = lab.plan(lab.delete(&["Midgard", "A.db", "A.fwl"])).unwrap();
    assert_eq!(plan.content().space.bytes, 0);
    let done = lab.carry_out(plan);
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert!(!lab.world("Midgard").exists() && !lab.world("A.db").exists());
    assert_eq!(fs::read_to_string(outside.join("mod")).unwrap(), "of everybody");
    assert_eq!(fs::read_link(lab.kept(&done, "Midgard/worldmods")).unwrap(), outside);
}

#[test]
fn what_is_in_the_way_of_a_copy_is_parked_first() {
    let lab = Lab::new();
    let changes = vec![Change::Park(lab.world("A.db")), lab.put("B.db", "A.db", false)];
    let done = lab.perform(lab.outline(Operation::Copy, changes));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(lab.read("A.db"), "new db, longer");
    assert_eq!(fs::read(lab.kept(&done, "A.db")).unwrap(), b"old db");
}

#[test]
fn some_files_of_a_folder_become_a_folder_with_its_mode() {
    let lab = Lab::new();
    fs::set_permissions(lab.world("Midgard_backup"), fs::Permissions::from_mode(0o2750)).unwrap();
    let names: Vec<OsString> = vec!["world.db".into()];
    let origin = Origin::Files { folder: lab.world("Midgard_backup"), names };
    let done = lab.perform(lab.outline(Operation::Restore, vec![lab.put_of(origin, Vec::new(), "Midgard", true)]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    let names: Vec<_> = fs::read_dir(lab.world("Midgard")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["world.db"]);
    assert_eq!(fs::metadata(lab.world("Midgard")).unwrap().mode() & 0o7777, 0o2750);
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        // As archives of Python have it: nobody else may read.
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o600);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_world_comes_out_of_a_zip_with_the_modes_of_what_it_replaces() {
    let lab = Lab::new();
    fs::set_permissions(lab.world("Midgard"), fs::Permissions::from_mode(0o755)).unwrap();
    lab.write(
        "nightly.zip",
        &zip(&[("w/Midgard/world.db", b"from the zip"), ("w/Midgard/sub/zone", b"zip zone"), ("w/x", b"no")]),
    );
    let member = |name: &str| (PathBuf::from("w/Midgard").join(name), PathBuf::from(name));
    let origin =
        || Origin::Members { archive: lab.world("nightly.zip"), members: vec![member("world.db"), member("sub/zone")] };
    let done = lab.perform(lab.outline(Operation::Restore, vec![lab.put_of(origin(), Vec::new(), "Midgard", true)]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(
        (lab.read("Midgard/world.db"), lab.read("Midgard/sub/zone")),
        ("from the zip".into(), "zip zone".into())
    );
    assert!(!lab.world("Midgard/only-old").exists());
    let mode = |name: &str| fs::metadata(lab.world(name)).unwrap().mode() & 0o7777;
    assert_eq!([mode("Midgard"), mode("Midgard/sub"), mode("Midgard/sub/zone")], [0o755, 0o755, 0o644]);
    assert!(lab.kept(&done, "Midgard/only-old").exists());
}

#[test]
fn one_member_becomes_one_file_and_takes_other_bytes() {
    let lab = Lab::new();
    lab.write("nightly.zip", &zip(&[("Midgard.db", b"from the zip")]));
    fs::set_permissions(lab.world("A.db"), fs::Permissions::from_mode(0o640)).unwrap();
    let origin = |to: &str| Origin::Members {
        archive: lab.world("nightly.zip"),
        members: vec![(PathBuf::from("Midgard.db"), PathBuf::from(to))],
    };
    let writes = vec![(PathBuf::new(), b"written over".to_vec())];
    let changes = vec![lab.put_of(origin(""), Vec::new(), "A.db", true), lab.put_of(origin(""), writes, "A.fwl", true)];
    let done = lab.perform(lab.outline(Operation::Restore, changes));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!((lab.read("A.db"), lab.read("A.fwl")), ("from the zip".into(), "written over".into()));
    assert_eq!(fs::metadata(lab.world("A.db")).unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn case_16_the_owner_is_that_of_what_is_replaced() {
    if !is_root() {
        eprintln!("skipped: only root gives files away");
        return;
    }
    let lab = Lab::new();
    for name in ["", "Midgard", "Midgard/sub", "Midgard/world.db", "Midgard/sub/zone", "Midgard/only-old"] {
        chown(lab.world(name), Some(1234), Some(1235)).unwrap();
    }
    std::os::unix::fs::symlink("world.db", lab.world("Midgard_backup/link")).unwrap();
    let times = |name: &str| fs::metadata(lab.world(name)).unwrap().modified().unwrap();
    let before = times("Midgard_backup/world.db");
    let done = lab.perform(lab.restore());
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    for name in ["Midgard", "Midgard/sub", "Midgard/world.db", "Midgard/sub/zone", "Midgard/link"] {
        let meta = lab.world(name).symlink_metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), (1234, 1235), "{name}");
    }
    assert_eq!(times("Midgard/world.db"), before);
    // The keeping folder is the owner's as well, who is to be able to undo it.
    assert_eq!(fs::metadata(lab.keep()).unwrap().uid(), 1234);
    assert_eq!(fs::metadata(lab.world("Midgard_backup/world.db")).unwrap().uid(), 0);
}

#[test]
fn case_16_more_files_than_any_list_of_differences_change_their_owner() {
    if !is_root() {
        eprintln!("skipped: only root gives files away");
        return;
    }
    let lab = Lab::new();
    for n in 0..1100 {
        fs::write(lab.world(format!("Midgard_backup/{n}.chunk")), [0; 3]).unwrap();
    }
    chown(lab.world("Midgard"), Some(1234), Some(1234)).unwrap();
    let done = lab.perform(lab.restore());
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(fs::metadata(lab.world("Midgard/1099.chunk")).unwrap().uid(), 1234);
}

#[test]
fn the_same_request_has_the_same_name_and_id_until_it_was_done() {
    let lab = Lab::new();
    let plan = |lab: &Lab| lab.plan(lab.delete(&["A.db"])).unwrap();
    let (first, second) = (plan(&lab), plan(&lab));
    assert_eq!((first.id(), &first.content().name), (second.id(), &second.content().name));
    assert_eq!(first.content().name.len(), 12);
    let restore = lab.plan(lab.restore()).unwrap();
    assert_eq!(restore.id(), lab.plan(lab.restore()).unwrap().id());
    let done = lab.carry_out(first);
    // Put back by hand, it is the same file on the same disk, and yet another operation.
    fs::rename(lab.kept(&done, "A.db"), lab.world("A.db")).unwrap();
    let third = plan(&lab);
    assert_ne!(third.content().name, done.name);
    assert_eq!(lab.carry_out(third).outcome, Outcome::Done);
}

#[test]
fn anything_that_changes_after_the_plan_makes_it_stale() {
    type Happens = fn(&Lab);
    let changes: [(&str, Happens); 4] = [
        ("a file of the source", |lab| {
            lab.write("Midgard_backup/sub/zone", b"changed");
        }),
        ("a new file in the source", |lab| {
            lab.write("Midgard_backup/sub/new", b"");
        }),
        ("a file of what is replaced", |lab| {
            lab.write("Midgard/sub/zone", b"saved by a server");
        }),
        ("what it depends on", |lab| {
            lab.write("Taken", b"now");
        }),
    ];
    for (what, change) in changes {
        let lab = Lab::new();
        let mut outline = lab.restore();
        outline.depends = vec![lab.world("Taken")];
        let plan = lab.plan(outline).unwrap();
        change(&lab);
        let done = lab.carry_out(plan);
        assert!(
            matches!(&done.outcome, Outcome::Refused(refusal) if refusal.reason.as_str() == "stale"),
            "{what}: {done:?}"
        );
    }
}

#[test]
fn a_server_that_cannot_be_told_or_is_started_again_is_a_warning() {
    let lab = Lab::new();
    let mut outline = lab.restore();
    outline.traces = Some(traces());
    let seen = server(
        ServerState::Unknown,
        &["The processes of others are hidden."],
        &["docker restarts x: `docker stop x`."],
    );
    let plan = draft::draft(outline.clone(), Some(&seen), &lab.setting()).unwrap();
    let codes: Vec<_> = plan.content().warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [WarningCode::LivenessUnknown, WarningCode::Restarts]);
    assert!(plan.content().warnings.iter().any(|warning| warning.text.contains("docker stop x")));
    let stopped = draft::draft(outline, Some(&server(ServerState::Stopped, &[], &[])), &lab.setting()).unwrap();
    assert!(stopped.content().warnings.is_empty());
}
