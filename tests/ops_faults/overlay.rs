//! A save on an overlay, whose worlds lie in the lower layer.

use std::fs;
use std::path::{Path, PathBuf};

use worldkeep::model::plan::{Operation, Outcome, Reason};

use crate::lab::{Lab, can, done_apart, picture};

/// A lab on an overlay over what a lab is filled with, in a mount namespace of its own.
fn over(temp: &Path, options: &str) -> Option<Lab> {
    let temp = temp.canonicalize().unwrap();
    if !can("mount", &["-t", "tmpfs", "tmpfs", temp.to_str().unwrap()]) {
        return None;
    }
    let folder = |name: &str| {
        let path = temp.join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(folder);
    let _ = Lab::at(&lower);
    let shown = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let options = format!("lowerdir={},upperdir={},workdir={}{options}", shown(&lower), shown(&upper), shown(&work));
    can("mount", &["-t", "overlay", "-o", &options, "overlay", &shown(&merged)]).then(|| Lab::existing(merged))
}

#[test]
fn a_world_folder_of_a_lower_layer_is_refused_before_anything_is_made() {
    if done_apart("overlay::a_world_folder_of_a_lower_layer_is_refused_before_anything_is_made") {
        return;
    }
    let temp = tempfile::TempDir::new().unwrap();
    let Some(lab) = over(temp.path(), ",redirect_dir=off") else { return };
    let world = lab.world("Midgard");
    lab.refuses(lab.restore(), Reason::Mounted, &[world.to_str().unwrap(), "overlay", "volume"]);
    lab.refuses(lab.delete(&["Midgard"]), Reason::Mounted, &["lower layer"]);
    // A name that no lower layer has is no matter of it.
    let done = lab.perform(lab.outline(Operation::Copy, vec![lab.put("Midgard_backup", "Asgard", false)]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    let done = lab.perform(lab.outline(Operation::Restore, vec![lab.put("Midgard", "Asgard", true)]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(lab.read("Asgard/world.db"), "old bytes of the world");
    assert_eq!(fs::read(lab.kept(&done, "Asgard/world.db")).unwrap(), b"new bytes, some more of them");
}

#[test]
fn a_folder_that_the_system_does_not_rename_stays_what_it_was() {
    if done_apart("overlay::a_folder_that_the_system_does_not_rename_stays_what_it_was") {
        return;
    }
    let temp = tempfile::TempDir::new().unwrap();
    let Some(lab) = over(temp.path(), ",redirect_dir=off") else { return };
    let keep = lab.keep();
    let worlds = picture(&lab.worlds());
    let name = "0123456789ab";
    let hands = [
        crate::drafts::restore_folder(&lab.world("Midgard"), &lab.world("Midgard_backup"), &keep, name),
        crate::drafts::delete(&[&lab.world("Midgard")], &keep, name),
        // The file goes first, and has to come back.
        crate::drafts::delete(&[&lab.world("A.db"), &lab.world("Midgard")], &keep, name),
    ];
    for (n, hand) in hands.into_iter().enumerate() {
        let fresh = crate::drafts::fresh(hand.draft());
        let cancel = worldkeep::model::Cancel::new();
        let done = worldkeep::ops::run::run(&fresh, &lab.setting(), &cancel, &mut |_| {});
        let Outcome::Unchanged { why } = &done.outcome else { panic!("{n}: {done:?}") };
        assert!(
            why.contains("cross-device") || why.contains("Cross-device") || why.contains("os error 18"),
            "{n}: {why}"
        );
        assert_eq!(picture(&lab.worlds()), worlds, "{n}");
        for left in ["journal", "stage", "swap"] {
            assert!(keep.join(left).symlink_metadata().is_err(), "{n}: {left}");
        }
        assert_eq!(worldkeep::ops::recover::recover(std::slice::from_ref(&keep), &lab.setting()), Vec::new(), "{n}");
    }
}

#[test]
fn files_of_a_lower_layer_are_exchanged() {
    if done_apart("overlay::files_of_a_lower_layer_are_exchanged") {
        return;
    }
    let temp = tempfile::TempDir::new().unwrap();
    let Some(lab) = over(temp.path(), "") else { return };
    let done = lab.perform(lab.restore_pair());
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!((lab.read("A.db"), lab.read("A.fwl")), ("new db, longer".to_owned(), "new fwl".to_owned()));
    assert_eq!(fs::read(lab.kept(&done, "A.db")).unwrap(), b"old db");
}
