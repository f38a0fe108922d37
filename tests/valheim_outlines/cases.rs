//! Public reports, and what each means for an operation.

use std::collections::BTreeMap;
use std::fs;

use worldkeep::games::valheim::write::{Object, WorldPlan};
use worldkeep::model::outline::{Ask, Change};
use worldkeep::model::plan::{Operation, Reason};
use worldkeep::model::{Code, LayerKind};

use crate::carry::{ask, carry_out, codes, files, layer, plan, scan, whole_day, world};
use crate::nobody;
use crate::support::root::SaveRoot;
use crate::support::{fixtures, small_world};

fn of_day(day: f64) -> WorldPlan {
    WorldPlan { net_time: day * 1800.0, ..small_world("Midgard") }
}

/// Report 14 of operations, and 6 of Valheim: a server made a new small world in silence, and the good one is the save before.
#[test]
fn the_large_previous_save_beside_a_new_small_world_is_named_and_comes_back() {
    let root = SaveRoot::new();
    let mut large = of_day(212.5);
    for n in 0..3000_u16 {
        large.objects.push(Object::new("Beech1", [f32::from(n % 400), 31.0, f32::from(n / 400)]));
    }
    root.pair("Midgard", ".old", &large, 36);
    root.pair("Midgard", "", &of_day(1.2), 36);
    let profile = scan(root.path());
    let midgard = world(&profile, "Midgard");
    let told = midgard.findings.iter().find(|finding| finding.code == Code::LiveSmaller).unwrap();
    assert!(told.text.contains("day 1,") && told.text.contains("day 212,"), "{}", told.text);
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Previous))).unwrap();
    let notes = outline.preview.notes.join(" ");
    assert!(notes.contains("211 days later") && notes.contains("more objects"), "{notes}");
    // The live pair is whole, so nothing has to be accepted.
    assert!(!codes(&outline).contains("better-copy"), "{:?}", outline.warnings);
    carry_out(&outline, "0123456789ab");
    assert_eq!(whole_day(root.path(), "Midgard"), 212);
    assert!(root.at(".worldkeep/recycle/0123456789ab/worlds_local/Midgard.db").is_file());
}

/// Report 5 of Valheim.
#[test]
fn case_5_over_a_pair_that_is_not_whole_a_copy_of_the_previous_save_is_the_better_way() {
    for broken in ["empty", "cut", "gone"] {
        let root = SaveRoot::new();
        root.world("Midgard").day(20.5).pair(36).day(18.5).previous(36).day(13.5).auto("20261129-120000", 12);
        match broken {
            "empty" => root.file("worlds_local/Midgard.db", b""),
            "cut" => root.changed("worlds_local/Midgard.db", |db| db[..db.len() / 2].to_vec()),
            _ => root.without("worlds_local/Midgard.db"),
        };
        let profile = scan(root.path());
        for (kind, day) in [(LayerKind::Auto, 13), (LayerKind::Previous, 18)] {
            let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(kind))).unwrap();
            let warning = outline.warnings.iter().find(|warning| warning.code.as_str() == "better-copy");
            let warning = warning.unwrap_or_else(|| panic!("{broken} {kind:?}: {:?}", outline.warnings));
            assert!(warning.code.needs_acceptance());
            assert!(warning.text.contains("live pair is not whole"), "{}", warning.text);
            // Copying touches nothing, and needs no word.
            let copy = Ask { name: Some("Hel"), ..ask(Operation::Copy, &profile, "Midgard", Some(kind)) };
            let copy = plan(&copy).unwrap();
            assert!(codes(&copy).is_empty(), "{:?}", copy.warnings);
            if kind == LayerKind::Previous {
                let before = files(root.path());
                carry_out(&copy, "aaaaaaaaaaaa");
                assert_eq!(whole_day(root.path(), "Hel"), day);
                let after = files(root.path());
                assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
                carry_out(&outline, "0123456789ab");
                assert_eq!(whole_day(root.path(), "Midgard"), day);
            }
        }
    }
}

#[test]
fn case_1_in_a_backup_or_an_archive_the_older_complete_save_is_what_is_used_and_said() {
    let broken: fixtures::Files = {
        let older = of_day(9.5).to_folder(41, 3, |_| 3);
        let newer =
            of_day(10.5).to_folder(41, 4, |_| 4).into_iter().filter(|(name, _)| name.strip_suffix(".db2").is_none());
        let all: BTreeMap<String, Vec<u8>> = older.into_iter().chain(newer).collect();
        all.into_iter().collect()
    };
    let below = |folder: &str| -> fixtures::Files {
        broken.iter().map(|(name, bytes)| (format!("worlds_local/{folder}/{name}"), bytes.clone())).collect()
    };
    for kind in [LayerKind::Auto, LayerKind::Archive] {
        let root = SaveRoot::new();
        root.world("Midgard").day(20.5).folder(17);
        if kind == LayerKind::Archive {
            root.file("backups/worlds.zip", &fixtures::zip(&below("Midgard")));
        } else {
            for (name, bytes) in below("Midgard_backup_auto-20261129-120000") {
                root.file(name, &bytes);
            }
        }
        let profile = scan(root.path());
        let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(kind))).unwrap();
        let warning = outline.warnings.iter().find(|warning| warning.code.as_str() == "better-copy").unwrap();
        assert!(warning.text.contains("save 3 is what would be used"), "{kind:?}: {}", warning.text);
        assert!(codes(&outline).contains("source-not-whole"), "{kind:?}");
        carry_out(&outline, "0123456789ab");
        assert_eq!(whole_day(root.path(), "Midgard"), 9, "{kind:?}");
        assert!(files(root.path()).keys().all(|name| !name.starts_with("worlds_local/Midgard/_main.4.")));
    }
}

#[test]
fn case_1_whatever_is_restored_over_a_folder_with_a_broken_newest_save_its_complete_one_is_named() {
    let root = SaveRoot::new();
    root.world("Midgard").day(9.5).folder(3).day(10.5).folder(4).day(2.5).auto("20261129-120000", 2);
    root.without("worlds_local/Midgard/_main.4.db2");
    let profile = scan(root.path());
    for kind in [LayerKind::Live, LayerKind::Auto] {
        let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(kind))).unwrap();
        let warning = outline.warnings.iter().find(|warning| warning.code.as_str() == "better-copy").unwrap();
        assert!(warning.text.contains("Copy save 3 to a new name first"), "{kind:?}: {}", warning.text);
    }
    // The broken one itself is none, and says which one is.
    let broken = layer(world(&profile, "Midgard"), LayerKind::Generation);
    assert_eq!((broken.generation, broken.restorable), (Some(4), false));
    let refusal = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Generation))).unwrap_err();
    assert_eq!(refusal.reason, Reason::NotRestorable);
    assert!(refusal.text.contains("Save 3 is the newest one that is"), "{}", refusal.text);
}

#[test]
fn case_9_a_layer_of_a_newer_game_needs_a_word_by_name() {
    let root = SaveRoot::new();
    root.world("Midgard").day(20.5).pair(36).day(18.5).rolling("20260801120000", 99);
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Rolling))).unwrap();
    let warning = outline.warnings.iter().find(|warning| warning.code.as_str() == "source-not-whole").unwrap();
    assert!(warning.text.contains("newer game") && !warning.text.contains("damaged"), "{}", warning.text);
}

/// A server took the newest file for its world, and that was the half of a backup.
#[test]
fn case_15_the_half_of_a_backup_is_neither_the_world_nor_anything_to_restore() {
    let half = "worlds_local/Creative_backup_auto-20240205230236.fwl";
    let root = SaveRoot::new();
    let mut never_saved = small_world("Creative");
    never_saved.saved = false;
    root.world("Creative").day(7.5).pair(36);
    root.file(half, &never_saved.metadata(36)).aged(half, 0);
    let profile = scan(root.path());
    let copy = Ask { name: Some("Hel"), ..ask(Operation::Copy, &profile, "Creative", None) };
    carry_out(&plan(&copy).unwrap(), "0123456789ab");
    assert_eq!(whole_day(root.path(), "Hel"), 7, "the live pair, however new the other file is");
    let refused = |root: &SaveRoot, operation| {
        let profile = scan(root.path());
        let creative = world(&profile, "Creative");
        assert!(!layer(creative, LayerKind::Auto).restorable);
        let asked = Ask { name: Some("Vanaheim"), ..ask(operation, &profile, "Creative", Some(LayerKind::Auto)) };
        plan(&asked).unwrap_err()
    };
    for operation in [Operation::Restore, Operation::Copy] {
        let refusal = refused(&root, operation);
        assert!(matches!(refusal.reason, Reason::NotRestorable | Reason::NoFinishedSave), "{refusal:?}");
    }
    // Alone in its folder it is a layer of a world that is not there.
    root.without("worlds_local/Creative.fwl").without("worlds_local/Creative.db");
    refused(&root, Operation::Restore);
    let profile = scan(root.path());
    assert!(world(&profile, "Creative").live().is_none());
    let whole = plan(&ask(Operation::Copy, &profile, "Creative", None)).unwrap_err();
    assert_eq!(whole.reason, Reason::NoFinishedSave);
}

#[test]
fn case_17_a_world_in_the_old_folder_is_copied_into_the_one_that_servers_read() {
    let old = |root: &SaveRoot| {
        let (fwl, db) = of_day(9.5).to_pair(36);
        root.file("worlds/Midgard.fwl", &fwl).file("worlds/Midgard.db", &db);
        let (fwl, db) = of_day(5.5).to_pair(36);
        root.file("worlds/Midgard.fwl.old", &fwl).file("worlds/Midgard.db.old", &db);
    };
    let root = SaveRoot::new();
    old(&root);
    let profile = scan(root.path());
    let copy = ask(Operation::Copy, &profile, "Midgard", None);
    let before = files(root.path());
    let outline = plan(&copy).unwrap();
    carry_out(&outline, "0123456789ab");
    let after = files(root.path());
    for ending in ["fwl", "db"] {
        assert_eq!(after[&format!("worlds_local/Midgard.{ending}")], before[&format!("worlds/Midgard.{ending}")]);
    }
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    // What stays there is said to be out of sight of a server.
    for (operation, kind, name) in [
        (Operation::Restore, Some(LayerKind::Previous), None),
        (Operation::Rename, None, Some("Hel")),
        (Operation::Backup, None, None),
    ] {
        let outline = plan(&Ask { name, ..ask(operation, &profile, "Midgard", kind) }).unwrap();
        let notes = outline.preview.notes.join(" ");
        assert!(notes.contains("worlds_local and do not see it"), "{operation:?}: {notes}");
        assert!(outline.changes.iter().all(|change| match change {
            Change::Put { to: path, .. } | Change::Park(path) | Change::Move { to: path, .. } =>
                path.starts_with(root.at("worlds")),
        }));
    }
    // Making the other folder would hide every other world in the old one.
    let root = SaveRoot::new();
    old(&root);
    fs::remove_dir(root.at("worlds_local")).unwrap();
    let profile = scan(root.path());
    let refusal = plan(&ask(Operation::Copy, &profile, "Midgard", None)).unwrap_err();
    assert_eq!(refusal.reason, Reason::NotSupported);
    assert!(refusal.text.contains("hide the worlds in the older folder"), "{}", refusal.text);
    let root = SaveRoot::new();
    root.world("Midgard").pair(36).day(3.5).previous(36);
    let profile = scan(root.path());
    let outline = plan(&ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Previous))).unwrap();
    assert!(!outline.preview.notes.join(" ").contains("worlds_local"), "in its place nothing is said");
}

#[cfg(unix)]
#[test]
fn case_22_a_folder_that_cannot_be_entered_is_refused_with_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    if nobody::done_as_nobody("cases::case_22_a_folder_that_cannot_be_entered_is_refused_with_its_mode") {
        return;
    }
    let root = SaveRoot::new();
    root.world("Midgard").day(20.5).folder(17).day(13.5).auto("20261129-120000", 12);
    let mode = |name: &str, mode| fs::set_permissions(root.at(name), fs::Permissions::from_mode(mode)).unwrap();
    for (closed, operation, kind) in [
        ("worlds_local/Midgard", Operation::Copy, None),
        ("worlds_local/Midgard", Operation::Backup, None),
        ("worlds_local/Midgard_backup_auto-20261129-120000", Operation::Restore, Some(LayerKind::Auto)),
    ] {
        mode(closed, 0o644);
        let profile = scan(root.path());
        let asked =
            Ask { name: (operation == Operation::Copy).then_some("Hel"), ..ask(operation, &profile, "Midgard", kind) };
        let refusal = plan(&asked);
        mode(closed, 0o755);
        let refusal = refusal.unwrap_err();
        assert!(matches!(refusal.reason, Reason::SourceGone | Reason::NotRestorable), "{closed}: {refusal:?}");
        assert!(refusal.text.contains("0644"), "{closed}: {}", refusal.text);
    }
}

#[test]
fn case_29_data_of_several_worlds_in_one_archive_is_told_apart_and_says_what_is_missing() {
    let root = SaveRoot::new();
    root.world("Midgard").day(20.5).pair(36);
    root.world("Hel").day(21.5).pair(36);
    let data = |name: &str, day: f64| {
        (format!("worlds_local/{name}.db"), WorldPlan { net_time: day * 1800.0, ..small_world(name) }.data(36))
    };
    root.file("backups/dbs.zip", &fixtures::zip(&vec![data("Midgard", 9.5), data("Hel", 8.5)]));
    let profile = scan(root.path());
    for (name, day) in [("Midgard", 9), ("Hel", 8)] {
        let packed = layer(world(&profile, name), LayerKind::Archive);
        assert_eq!((packed.facts.int("day"), packed.restorable), (Some(day), false), "{name}");
        let refusal = plan(&ask(Operation::Restore, &profile, name, Some(LayerKind::Archive))).unwrap_err();
        assert_eq!(refusal.reason, Reason::NotRestorable);
        assert!(refusal.text.contains(".fwl"), "{name}: {}", refusal.text);
    }
}
