//! Each operation on each kind of layer.

use std::collections::{BTreeMap, BTreeSet};

use worldkeep::model::outline::{Ask, Change};
use worldkeep::model::plan::{Operation, Reason, WarningCode};
use worldkeep::model::{Cancel, LayerKind, Verdict};
use worldkeep::scan as scans;

use crate::carry::{ask, carry_out, codes, files, folder_world, layer, plan, request, scan, whole_day, world};
use crate::support::root::SaveRoot;
use crate::support::{now, small_world};

#[test]
fn each_kind_of_layer_of_a_folder_comes_back_whole_and_alone() {
    let kinds = [
        (LayerKind::Auto, 13, true),
        (LayerKind::Manual, 12, true),
        (LayerKind::Restore, 11, true),
        (LayerKind::PreConversion, 8, false),
        (LayerKind::Rolling, 6, false),
        (LayerKind::Archive, 15, true),
    ];
    for (kind, day, folder) in kinds {
        let root = folder_world();
        let before = files(root.path());
        let profile = scan(root.path());
        let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(kind))).unwrap();
        assert_eq!(outline.root, root.path());
        assert!(outline.traces.is_some(), "{kind:?}");
        carry_out(&outline, "0123456789ab");
        assert_eq!(whole_day(root.path(), "Midgard"), day, "{kind:?}");
        let after = files(root.path());
        // Nothing of the old state is left in its place, and no layer was touched.
        let own = |name: &str| {
            name.starts_with("worlds_local/Midgard/")
                || name == "worlds_local/Midgard.db"
                || name == "worlds_local/Midgard.fwl"
        };
        let layers = |files: &BTreeMap<String, Vec<u8>>| {
            files.iter().filter(|(name, _)| !own(name)).map(|(n, b)| (n.clone(), b.clone())).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(layers(&before), layers(&after), "{kind:?}");
        assert_eq!(root.at("worlds_local/Midgard").is_dir(), folder, "{kind:?}");
        assert_eq!(root.at("worlds_local/Midgard.db").is_file(), !folder, "{kind:?}");
        assert!(after.keys().filter(|name| own(name)).all(|name| !name.contains("_main.17.")), "{kind:?}");
        assert_eq!(codes(&outline).contains("converts-on-save"), !folder, "{kind:?}");
        assert_eq!(codes(&outline).contains("older-builds"), !folder, "{kind:?}");
        // The old state is a layer now, and comes back the same way.
        let profile = scan(root.path());
        let back = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Parked))).unwrap();
        carry_out(&back, "ba9876543210");
        assert_eq!(whole_day(root.path(), "Midgard"), 20, "{kind:?}");
    }
}

#[test]
fn each_kind_of_layer_of_a_pair_comes_back_whole_and_alone() {
    for (kind, day, folder) in
        [(LayerKind::Previous, 18, false), (LayerKind::Auto, 13, true), (LayerKind::Rolling, 6, false)]
    {
        let root = SaveRoot::new();
        root.world("Midgard").day(20.5).pair(36).day(18.5).previous(36).day(13.5).auto("20261129-120000", 12);
        root.world("Midgard").day(6.5).rolling("20260801120000", 36);
        let profile = scan(root.path());
        let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(kind))).unwrap();
        carry_out(&outline, "0123456789ab");
        assert_eq!(whole_day(root.path(), "Midgard"), day, "{kind:?}");
        // The save before the last one is of the old state's history, unless it is what came back; a folder hides it.
        let old = root.at("worlds_local/Midgard.db.old");
        assert_eq!(old.exists(), kind != LayerKind::Rolling, "{kind:?}");
        // A pair that would stay beside the folder is parked.
        assert_eq!(root.at("worlds_local/Midgard.fwl").exists(), !folder, "{kind:?}");
    }
}

#[test]
fn the_pair_that_a_folder_hides_comes_back_by_parking_the_folder() {
    let root = SaveRoot::new();
    root.world("Midgard").day(20.5).folder(17).day(8.5).pair(36);
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::PreConversion))).unwrap();
    assert_eq!(outline.changes, [Change::Park(root.at("worlds_local/Midgard"))]);
    carry_out(&outline, "0123456789ab");
    assert_eq!(whole_day(root.path(), "Midgard"), 8);
}

#[test]
fn world_data_goes_before_metadata() {
    let root = folder_world();
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::PreConversion))).unwrap();
    let to = outline.changes.iter().map(|change| match change {
        Change::Put { to, .. } | Change::Move { to, .. } | Change::Park(to) => {
            to.file_name().unwrap().to_str().unwrap()
        }
    });
    assert_eq!(to.collect::<Vec<_>>(), ["Midgard.db", "Midgard.fwl", "Midgard"]);
}

#[test]
fn case_3_a_snapshot_without_a_finished_save_is_refused_in_the_known_words() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(17);
    root.file("worlds_local/Midgard_backup_auto-20260912-200308/_main.0.fwl2", &small_world("Midgard").metadata(41));
    let profile = scan(root.path());
    let refusal = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Auto))).unwrap_err();
    assert_eq!(refusal.reason, Reason::NoFinishedSave);
    assert_eq!(refusal.text, "This snapshot holds no finished save, so there is nothing to restore from it yet.");
}

#[test]
fn case_1_the_complete_save_behind_a_broken_one_is_copied_alone_and_restored_only_after_a_word() {
    let root = SaveRoot::new();
    root.world("Midgard").day(9.5).folder(3).day(10.5).folder(4);
    root.without("worlds_local/Midgard/_main.4.db2");
    let profile = scan(root.path());
    let copy = Ask { name: Some("Hel"), ..ask(Operation::Copy, &profile, "Midgard", None) };
    let before = files(root.path());
    carry_out(&plan(&copy).unwrap(), "0123456789ab");
    assert_eq!(whole_day(root.path(), "Hel"), 9);
    let after = files(root.path());
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "the source is what it was");
    assert!(!after.keys().any(|name| name.starts_with("worlds_local/Hel/_main.4.")));
    let restore = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Live))).unwrap();
    assert!(codes(&restore).contains(WarningCode::BetterCopy.as_str()), "{:?}", restore.warnings);
    carry_out(&restore, "ba9876543210");
    assert_eq!(whole_day(root.path(), "Midgard"), 9);
}

#[test]
fn case_20_a_layer_of_another_world_is_told_before_the_question() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(17);
    let mut other = small_world("Midgard");
    other.seed += 1;
    root.generation("Midgard_backup_auto-20261129-120000", &other, 4);
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Auto))).unwrap();
    assert_eq!(codes(&outline), BTreeSet::from(["other-world"]));
}

#[test]
fn a_source_that_is_damaged_needs_a_word_by_name() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(17).auto("20261129-120000", 4);
    root.changed("worlds_local/Midgard_backup_auto-20261129-120000/_main.4.db2", |bytes| bytes[..60].to_vec());
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Auto))).unwrap();
    assert!(codes(&outline).contains("source-not-whole"));
}

#[test]
fn what_only_the_live_folder_holds_is_named_and_parked() {
    let root = folder_world();
    root.file("worlds_local/Midgard/notes.txt", b"buried at the oak");
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Auto))).unwrap();
    let only = outline.warnings.iter().find(|warning| warning.code == WarningCode::OnlyInLive).unwrap();
    assert!(only.text.contains("notes.txt"), "{}", only.text);
    carry_out(&outline, "0123456789ab");
    assert!(root.at(".worldkeep/recycle/0123456789ab/worlds_local/Midgard/notes.txt").is_file());
    assert!(!root.at("worlds_local/Midgard/notes.txt").exists());
}

#[test]
fn a_copy_has_its_new_name_inside_and_every_other_byte_of_the_save() {
    for pair in [false, true] {
        let root = SaveRoot::new();
        let midgard = root.world("Midgard").day(20.5);
        if pair {
            midgard.pair(36)
        } else {
            midgard.folder(17)
        };
        let profile = scan(root.path());
        let copy = Ask { name: Some("Jotunheim the cold"), ..ask(Operation::Copy, &profile, "Midgard", None) };
        let before = files(root.path());
        carry_out(&plan(&copy).unwrap(), "0123456789ab");
        assert_eq!(whole_day(root.path(), "Jotunheim the cold"), 20);
        let profile = scan(root.path());
        assert_eq!(world(&profile, "Jotunheim the cold").inner_name.as_deref(), Some("Jotunheim the cold"));
        let after = files(root.path());
        for (name, bytes) in &before {
            assert_eq!(after.get(name), Some(bytes), "the source is what it was");
            let copied = after.get(&name.replacen("Midgard", "Jotunheim the cold", 1)).unwrap();
            if !name.contains("fwl") {
                assert_eq!(copied, bytes, "{name}");
            }
        }
    }
}

#[test]
fn a_copy_onto_a_world_is_refused_in_the_known_words_and_an_overwrite_parks_it() {
    let root = SaveRoot::new();
    root.world("Hel").day(3.5).folder(5);
    root.world("Midgard").day(20.5).folder(17);
    let profile = scan(root.path());
    let copy = Ask { name: Some("Midgard"), ..ask(Operation::Copy, &profile, "Hel", None) };
    let refusal = plan(&copy).unwrap_err();
    assert_eq!(refusal.reason, Reason::NameTaken);
    let words = "A world called 'Midgard' is already in that save folder. Copying onto it would mix the two saves together, \
                 so nothing was copied.";
    assert_eq!(refusal.text, words);
    let outline = plan(&Ask { overwrite: true, ..copy }).unwrap();
    assert_eq!(outline.preview.type_name, "Midgard");
    assert!(outline.traces.is_some(), "what is in the way may be in use");
    carry_out(&outline, "0123456789ab");
    assert_eq!(whole_day(root.path(), "Midgard"), 3);
    assert!(root.at(".worldkeep/recycle/0123456789ab/worlds_local/Midgard/_main.17.ok").is_file());
    let same = plan(&Ask { name: Some("Hel"), ..copy }).unwrap_err();
    assert_eq!(same.reason, Reason::SamePlace);
    let bad = plan(&Ask { name: Some("Midgard_backup_auto-20261129-120000"), ..copy }).unwrap_err();
    assert_eq!(bad.reason, Reason::BadName);
}

#[test]
fn a_rename_takes_everything_along_and_leaves_nothing_under_the_old_name() {
    let root = folder_world();
    root.pair("Midgard", "", &small_world("Midgard"), 36);
    root.file("cache/Midgard_biomedatacache.bin", b"biomes");
    let profile = scan(root.path());
    let rename = Ask { name: Some("Hel"), ..ask(Operation::Rename, &profile, "Midgard", None) };
    carry_out(&plan(&rename).unwrap(), "0123456789ab");
    assert_eq!(whole_day(root.path(), "Hel"), 20);
    let after = files(root.path());
    assert!(after.keys().all(|name| !name.contains("Midgard")), "{:?}", after.keys());
    assert!(after.contains_key("cache/Hel_biomedatacache.bin"));
    let profile = scan(root.path());
    let hel = world(&profile, "Hel");
    assert_eq!(hel.inner_name.as_deref(), Some("Hel"));
    for kind in [LayerKind::Auto, LayerKind::Manual, LayerKind::Restore, LayerKind::PreConversion, LayerKind::Rolling] {
        layer(hel, kind);
    }
}

#[test]
fn case_19_a_delete_takes_the_hidden_pair_in_both_folders_and_says_what_stays() {
    let root = folder_world();
    root.pair("Midgard", "", &small_world("Midgard"), 36);
    let (fwl, db) = small_world("Midgard").to_pair(36);
    root.file("worlds/Midgard.fwl", &fwl).file("worlds/Midgard.db", &db);
    root.file("cache/Midgard_biomedatacache.bin", b"biomes");
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Delete, &profile, "Midgard", None)).unwrap();
    assert!(codes(&outline).contains("adopts-layers"));
    let listed: BTreeSet<_> =
        outline.preview.lines.iter().filter(|(label, _)| label == "parks").map(|(_, path)| path.as_str()).collect();
    for path in ["worlds_local/Midgard", "worlds_local/Midgard.db", "worlds/Midgard.fwl", "worlds/Midgard.db"] {
        assert!(listed.contains(path), "{listed:?}");
    }
    carry_out(&outline, "0123456789ab");
    let profile = scan(root.path());
    assert!(profile.worlds.iter().all(|world| world.live().is_none()));
    assert!(!root.at("cache/Midgard_biomedatacache.bin").exists());
    assert!(root.at("worlds_local/Midgard_backup_auto-20261129-120000/_main.12.ok").is_file(), "layers stay");
}

#[test]
fn a_backup_bears_a_name_that_the_game_never_prunes() {
    for pair in [false, true] {
        let root = SaveRoot::new();
        let midgard = root.world("Midgard").day(20.5);
        if pair {
            midgard.pair(36)
        } else {
            midgard.folder(17)
        };
        let profile = scan(root.path());
        let outline = plan(&ask(Operation::Backup, &profile, "Midgard", None)).unwrap();
        // A finished generation never changes again, so a server that runs does no harm.
        assert_eq!(outline.traces.is_some(), pair);
        carry_out(&outline, "0123456789ab");
        let profile = scan(root.path());
        let made = layer(world(&profile, "Midgard"), LayerKind::Manual);
        let name = made.path.file_stem().unwrap().to_str().unwrap();
        // The moment of the save, an hour ago, and not of the call: a plan keeps its id from one call to the next.
        let saved = now() - jiff::SignedDuration::from_hours(1);
        assert_eq!(name, format!("Midgard_backup_{}", saved.strftime("%Y%m%d-%H%M%S")));
        let checked = scans::check(&request(root.path()), "valheim", made, &Cancel::new());
        assert!(checked.verdict <= Verdict::Notes && checked.facts.int("day") == Some(20));
    }
}

#[test]
fn operations_case_35_every_path_that_goes_is_listed() {
    let root = folder_world();
    let profile = scan(root.path());
    for kind in [None, Some(LayerKind::Auto), Some(LayerKind::PreConversion), Some(LayerKind::Archive)] {
        let outline = plan(&ask(Operation::Delete, &profile, "Midgard", kind)).unwrap();
        let gone: Vec<_> = outline
            .changes
            .iter()
            .map(|change| match change {
                Change::Park(path) => path.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned(),
                other => panic!("{other:?}"),
            })
            .collect();
        let listed = outline.preview.lines.iter().filter(|(label, _)| label == "parks").map(|(_, path)| path.clone());
        assert_eq!(listed.collect::<Vec<_>>(), gone, "{kind:?}");
    }
}
