//! Real small file systems.

use std::fs;

use worldkeep::model::plan::{Outcome, Reason};

use crate::lab::{Lab, can, done_apart, picture};

fn small(options: &str) -> Option<(tempfile::TempDir, Lab)> {
    let temp = tempfile::TempDir::new().unwrap();
    let base = temp.path().canonicalize().unwrap();
    can("mount", &["-t", "tmpfs", "-o", options, "tmpfs", base.to_str().unwrap()]).then(|| {
        let lab = Lab::at(&base);
        (temp, lab)
    })
}

#[test]
fn case_1_23_too_little_space_is_refused_with_what_is_missing_and_nothing_is_touched() {
    if done_apart("space::case_1_23_too_little_space_is_refused_with_what_is_missing_and_nothing_is_touched") {
        return;
    }
    let Some((_temp, lab)) = small("size=1200k") else { return };
    lab.write("Midgard_backup/world.db", &vec![7; 90 * 1024]);
    let filler = lab.base.join("filler");
    fs::write(&filler, vec![1; 1000 * 1024]).unwrap();
    let refusal = lab.refusal(lab.restore());
    assert_eq!(refusal.reason, Reason::NoSpace, "{refusal}");
    for word in ["are free", "are needed", "for the new state", "left for the server", "are missing", "KiB"] {
        assert!(refusal.text.contains(word), "{refusal}");
    }
    lab.refuses(lab.restore(), Reason::NoSpace, &[lab.root().to_str().unwrap()]);
    // Taking things away needs none.
    let old = picture(&lab.world("Midgard"));
    let done = lab.perform(lab.delete(&["Midgard"]));
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    assert_eq!(picture(&lab.kept(&done, "Midgard")), old);
    fs::remove_file(&filler).unwrap();
    fs::rename(lab.kept(&done, "Midgard"), lab.world("Midgard")).unwrap();
    assert_eq!(lab.perform(lab.restore()).outcome, Outcome::Done);
}

#[test]
fn a_hole_takes_no_space() {
    if done_apart("space::a_hole_takes_no_space") {
        return;
    }
    let Some((_temp, lab)) = small("size=4m") else { return };
    let file = fs::File::create(lab.world("Midgard_backup/world.db")).unwrap();
    file.set_len(64 << 20).unwrap();
    drop(file);
    let plan = lab.plan(lab.restore()).unwrap();
    assert!(plan.content().bytes >= 64 << 20 && plan.content().space.bytes < 2 << 20, "{:?}", plan.content().space);
    assert_eq!(lab.carry_out(plan).outcome, Outcome::Done);
}

#[test]
fn too_few_inodes_are_refused_and_no_limit_is_none() {
    if done_apart("space::too_few_inodes_are_refused_and_no_limit_is_none") {
        return;
    }
    let Some((_temp, lab)) = small("size=16m,nr_inodes=45") else { return };
    lab.plan(lab.delete(&["A.db"])).unwrap();
    for n in 0..14 {
        fs::write(lab.base.join(format!("filler{n}")), "").unwrap();
    }
    lab.refuses(lab.restore(), Reason::NoSpace, &["more files and folders"]);
    let Some((_temp, lab)) = small("size=16m,nr_inodes=0") else { return };
    assert_eq!(lab.perform(lab.restore()).outcome, Outcome::Done);
}
