//! What operations mean for the files of worlds: each outline is carried out on a save root in a temporary folder, by code
//! that shares nothing with the engine, and the result is read back to its last byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use support::root::SaveRoot;
use support::{context, fixtures, now, small_world};
use worldkeep::games;
use worldkeep::model::outline::{Ask, Change, Fresh, Origin, Outline};
use worldkeep::model::plan::{Operation, Reason, Refusal, WarningCode};
use worldkeep::model::{Cancel, Clock, Found, Layer, LayerKind, Profile, Verdict, World};
use worldkeep::scan::{self, Catalog, Request, Root};
use worldkeep::store::{self, Ceilings};

fn request(path: &Path) -> Request {
    Request {
        roots: vec![Root { path: path.to_path_buf(), found: Found::Argument, game: None, name: Some("p".to_owned()) }],
        clock: Clock::Fixed(now()),
        ..Request::default()
    }
}

fn scan(path: &Path) -> Profile {
    let mut catalog = Catalog::default();
    scan::run(&request(path), &Cancel::new(), &mut |event| catalog.apply(event));
    catalog.profiles.into_iter().next().unwrap()
}

fn world<'p>(profile: &'p Profile, name: &str) -> &'p World {
    let names: Vec<_> = profile.worlds.iter().map(|world| &world.id).collect();
    profile.worlds.iter().find(|world| world.name == name).unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

fn layer(world: &World, kind: LayerKind) -> &Layer {
    world.layers.iter().find(|layer| layer.kind == kind).unwrap_or_else(|| panic!("no {kind:?}: {:?}", world.layers))
}

fn ask<'a>(operation: Operation, profile: &'a Profile, name: &str, kind: Option<LayerKind>) -> Ask<'a> {
    let world = world(profile, name);
    Ask {
        operation,
        profile,
        world,
        layer: kind.map(|kind| layer(world, kind)),
        into: None,
        name: None,
        with_layers: false,
        overwrite: false,
    }
}

fn plan(ask: &Ask<'_>) -> Result<Outline, Refusal> {
    games::by_id("valheim").unwrap().plan(ask, &context())
}

/// Carries an outline out, and says what is parked.
fn carry_out(outline: &Outline, operation: &str) {
    let keep = outline.root.join(".worldkeep");
    let recycle = keep.join("recycle").join(operation);
    let park = |path: &Path| {
        let to = recycle.join(path.strip_prefix(&outline.root).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(path, to).unwrap();
    };
    for (number, change) in outline.changes.iter().enumerate() {
        match change {
            Change::Put { fresh, to, replaces } => {
                let stage = keep.join(format!("stage-{number}"));
                make(fresh, &stage);
                assert!(fresh.like.exists(), "{fresh:?}");
                assert_eq!(to.symlink_metadata().is_ok(), *replaces, "{}", to.display());
                if *replaces {
                    park(to);
                }
                fs::rename(&stage, to).unwrap();
            }
            Change::Park(path) => park(path),
            Change::Move { from, to } => {
                assert!(to.symlink_metadata().is_err(), "{}", to.display());
                fs::rename(from, to).unwrap();
            }
        }
    }
}

fn make(fresh: &Fresh, stage: &Path) {
    fs::create_dir_all(stage.parent().unwrap()).unwrap();
    let copy = |from: &Path, to: &Path| {
        fs::copy(from, to).unwrap();
        let time = fs::metadata(from).unwrap().modified().unwrap();
        fs::File::options().append(true).open(to).unwrap().set_modified(time).unwrap();
    };
    match &fresh.origin {
        Origin::Whole(path) if path.is_dir() => {
            fs::create_dir(stage).unwrap();
            for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
                copy(&entry.path(), &stage.join(entry.file_name()));
            }
        }
        Origin::Whole(path) => copy(path, stage),
        Origin::Files { folder, names } => {
            fs::create_dir(stage).unwrap();
            for name in names {
                copy(&folder.join(name), &stage.join(name));
            }
        }
        Origin::Members { archive, members } => {
            let store = store::open(archive, &Ceilings::default()).unwrap();
            for (member, to) in members {
                let to = if to.as_os_str().is_empty() { stage.to_path_buf() } else { stage.join(to) };
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, store.read(member, 1 << 30).unwrap()).unwrap();
            }
        }
    }
    for (path, bytes) in &fresh.writes {
        let to = if path.as_os_str().is_empty() { stage.to_path_buf() } else { stage.join(path) };
        fs::write(to, bytes).unwrap();
    }
}

/// Every file below the worlds folders, and its bytes.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = ["worlds_local", "worlds", "cache"].map(|dir| root.join(dir)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    found
}

/// The day of the live state, which must be whole to its last byte, and alone in its place.
fn whole_day(root: &Path, name: &str) -> i64 {
    let profile = scan(root);
    let live = world(&profile, name).live().unwrap_or_else(|| panic!("no live {name}")).clone();
    let checked = scan::check(&request(root), "valheim", &live, &Cancel::new());
    assert!(checked.verdict <= Verdict::Notes, "{:?}", checked.findings);
    checked.facts.int("day").unwrap()
}

fn codes(outline: &Outline) -> BTreeSet<&'static str> {
    outline.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// A folder world of day 20 with every layer that may lie beside it, each of another day.
fn folder_world() -> SaveRoot {
    let root = SaveRoot::new();
    root.world("Midgard")
        .day(20.5)
        .folder(17)
        .day(13.5)
        .auto("20261129-120000", 12)
        .day(12.5)
        .backup_folder("20261128-120000", 11)
        .day(11.5)
        .backup_folder("restore-20261127-120000", 10)
        .day(8.5)
        .backup_pair("20260910-120000", 36)
        .day(7.5)
        .backup_pair("auto-20260909-120000", 36)
        .day(6.5)
        .rolling("20260801120000", 36);
    let mut packed = small_world("Midgard");
    packed.net_time = 15.5 * 1800.0;
    let packed = packed.to_folder(41, 14, |_| 14).into_iter();
    let packed: fixtures::Files = packed.map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes)).collect();
    root.file("backups/worlds.zip", &fixtures::zip(&packed));
    root
}

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
        let checked = scan::check(&request(root.path()), "valheim", made, &Cancel::new());
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
