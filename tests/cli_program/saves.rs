//! Operations on real saves through the program, from the question to the files.

use std::fs;
use std::path::PathBuf;

use crate::demo_saves::{Saves, date, tree};
use crate::house::layers;

#[test]
fn every_operation_is_done_and_its_undo_gives_back_every_byte_mode_owner_and_time() {
    let saves = Saves::new();
    let first = tree(&saves.root);
    let auto = saves.layer("Midgard@auto-20261130");
    let archive = saves.layer("Midgard@archive");
    let midgard = saves.layer("Midgard@live");
    let profile = midgard.split('/').next().unwrap().to_owned();
    let world = |name: &str| format!("{profile}/{name}");
    let operations: Vec<Vec<String>> = vec![
        vec!["restore".into(), auto.clone()],
        vec!["restore".into(), archive],
        vec!["restore".into(), saves.layer("Midgard@hidden-pair")],
        vec!["restore".into(), saves.layer("Midgard@pre-conversion")],
        vec!["restore".into(), saves.layer("Ravenscar@old")],
        vec!["restore".into(), saves.layer("Skaldholm@rolling")],
        vec!["copy".into(), world("Midgard"), "Asgard".into()],
        vec!["copy".into(), world("Midgard"), "Asgard".into(), "--with-layers".into()],
        vec!["copy".into(), world("Ravenscar"), "Asgard".into()],
        vec!["copy".into(), auto, "Asgard".into()],
        vec!["rename".into(), world("Midgard"), "Vanaheim".into()],
        vec!["rename".into(), world("Ravenscar"), "Vanaheim".into()],
        vec!["backup".into(), world("Midgard")],
        vec!["backup".into(), world("Ravenscar")],
        vec!["delete".into(), world("Midgard")],
        vec!["delete".into(), world("Ravenscar")],
        vec!["delete".into(), saves.layer("Midgard@auto-20261130")],
    ];
    for operation in operations {
        let args: Vec<&str> = operation.iter().map(String::as_str).collect();
        let out = saves.done(&[&args[..], &["--yes"]].concat());
        let second = tree(&saves.root);
        assert_ne!(second, first, "{args:?} changed nothing: {out}");
        let undone = saves.done(&["undo", "--yes"]);
        assert!(undone.contains("Took back"), "{undone}");
        assert_eq!(tree(&saves.root), first, "the undo of {args:?}");
        // The undo is an operation like any other.
        let name = undone.trim_end().rsplit(' ').next().unwrap().to_owned();
        saves.done(&["undo", &name, "--yes"]);
        assert_eq!(tree(&saves.root), second, "the undo of the undo of {args:?}");
        let last = saves.done(&["history"]);
        let last = last.split(' ').next().unwrap().to_owned();
        saves.done(&["undo", &last, "--yes"]);
        assert_eq!(tree(&saves.root), first, "and once more");
    }
}

#[test]
fn a_restored_world_is_the_state_of_its_layer_and_is_whole() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let day = saves.fact(&auto, "day");
    let live = saves.layer("Midgard@live");
    assert_ne!(saves.fact(&live, "day"), day);
    saves.done(&["restore", &auto, "--yes"]);
    assert_eq!(saves.fact(&live, "day"), day);
    let (checked, code) = saves.house.json(&["verify", saves.at("worlds_local/Midgard").to_str().unwrap()]);
    assert_eq!(code, Some(0), "{checked}");
    // Only the files of the save that was put back: the game takes every other one for something.
    let names = |dir: &str| -> Vec<_> {
        let mut all: Vec<_> = fs::read_dir(saves.at(dir)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        all.sort();
        all
    };
    let layer = layers(&saves.list()).into_iter().find(|layer| layer["id"] == *auto).unwrap()["path"].clone();
    let layer = PathBuf::from(layer.as_str().unwrap());
    assert_eq!(names("worlds_local/Midgard"), names(layer.strip_prefix(&saves.root).unwrap().to_str().unwrap()));
    // The old state is listed as what is kept, and can be read there.
    let parked = saves.layer("Midgard@parked");
    assert_eq!(saves.fact(&parked, "day"), 214);
}

#[test]
fn a_copy_and_a_rename_change_the_name_inside_and_nothing_else() {
    let saves = Saves::new();
    let live = saves.layer("Midgard@live");
    let (uid, day) = (saves.fact(&live, "uid"), saves.fact(&live, "day"));
    let before = tree(&saves.at("worlds_local/Midgard"));
    saves.done(&["copy", live.split('@').next().unwrap(), "Asgard", "--yes"]);
    let copy = saves.layer("Asgard@live");
    assert_eq!(
        (saves.fact(&copy, "name"), saves.fact(&copy, "uid"), saves.fact(&copy, "day")),
        ("Asgard".into(), uid, day)
    );
    assert_eq!(tree(&saves.at("worlds_local/Midgard")), before, "the source");
    for (name, thing) in tree(&saves.at("worlds_local/Asgard")) {
        let same = before[&name].what == thing.what;
        assert_eq!(same, name.extension().is_none_or(|end| end != "fwl2"), "{}", name.display());
    }
    saves.done(&["rename", &copy.replace("@live", ""), "Vanaheim", "--yes"]);
    let renamed = saves.layer("Vanaheim@live");
    assert_eq!(saves.fact(&renamed, "name"), "Vanaheim");
    assert!(!saves.at("worlds_local/Asgard").exists());
}

#[test]
fn the_plan_of_a_dry_run_is_what_its_id_confirms_and_a_changed_save_is_another_plan() {
    let saves = Saves::new();
    for verb in ["restore", "delete", "backup", "copy"] {
        let target = if verb == "restore" {
            saves.layer("Midgard@auto-20261130")
        } else {
            saves.layer("Midgard@live").replace("@live", "")
        };
        let mut args = vec![verb, &*target];
        args.extend((verb == "copy").then_some("Asgard"));
        let before = tree(&saves.root);
        let shown = saves.done(&[&args[..], &["--dry-run"]].concat());
        assert_eq!(tree(&saves.root), before, "a dry run of {verb}");
        let id = shown.split("--yes=").nth(1).unwrap().trim_end().trim_end_matches('.').to_owned();
        let yes = format!("--yes={id}");
        // What it was computed from has changed.
        let file = saves.at("worlds_local/Midgard/_main.17.db2");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        date(&file, time + std::time::Duration::from_secs(1));
        saves.refused(&[&args[..], &[&yes]].concat(), "other-plan");
        date(&file, time);
        saves.done(&[&args[..], &[&yes]].concat());
        saves.done(&["undo", "--yes"]);
    }
}

#[test]
fn nothing_is_done_without_a_yes_and_nothing_with_read_only() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    saves.refused(&["restore", &auto], "not-confirmed");
    saves.refused(&["restore", &auto, "--yes", "--read-only"], "read-only");
    saves.refused(&["delete", &auto, "--yes=0123456789abcdef"], "other-plan");
    assert!(!saves.at(".worldkeep").exists(), "a refusal makes nothing");
}

/// The seed document's refusals, in its words.
#[test]
fn a_copy_onto_a_world_is_refused_and_with_overwrite_what_was_there_is_kept() {
    let saves = Saves::new();
    let world = saves.layer("Midgard@live").replace("@live", "");
    let run = saves.refused(&["copy", &world, "Thornfjord", "--yes"], "name-taken");
    let words = "A world called 'Thornfjord' is already in that save folder. Copying onto it would mix the two saves \
                 together, so nothing was copied.";
    assert!(run.contains(words), "{run:?}");
    saves.refused(&["copy", &world, "Midgard", "--yes"], "same-place");
    for bad in ["a\\b", "Midgard_backup_auto-20260909-180000", "con:", ".worldkeep"] {
        saves.refused(&["copy", &world, bad, "--yes"], "bad-name");
        saves.refused(&["rename", &world, bad, "--yes"], "bad-name");
    }
    saves.refused(&["rename", &world, "Thornfjord", "--yes"], "name-taken");
    let before = tree(&saves.root);
    saves.done(&["copy", &world, "Thornfjord", "--overwrite", "--yes"]);
    assert_eq!(saves.fact(&saves.layer("Thornfjord@live"), "name"), "Thornfjord");
    saves.done(&["undo", "--yes"]);
    assert_eq!(tree(&saves.root), before);
}

#[test]
fn a_copy_goes_into_another_profile_with_its_layers() {
    let saves = Saves::new();
    let other = saves.house.path("other");
    fs::create_dir_all(other.join("worlds_local")).unwrap();
    fs::copy(saves.at("worlds_local/Ravenscar.fwl"), other.join("worlds_local/Here.fwl")).unwrap();
    fs::copy(saves.at("worlds_local/Ravenscar.db"), other.join("worlds_local/Here.db")).unwrap();
    let world = saves.layer("Midgard@live").replace("@live", "");
    let before = tree(&saves.root);
    saves.done(&["copy", &world, other.to_str().unwrap(), "--with-layers", "--yes"]);
    assert_eq!(tree(&saves.root), before, "the source");
    let auto = saves.layer("Midgard@auto-20261130").split('@').nth(1).unwrap().to_owned();
    for name in ["Midgard".to_owned(), format!("Midgard_backup_{auto}")] {
        assert_eq!(
            tree(&other.join("worlds_local").join(&name)),
            tree(&saves.at("worlds_local").join(&name)),
            "{name}"
        );
    }
}
