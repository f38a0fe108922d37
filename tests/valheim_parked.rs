//! What operations took away and keep is a layer of its world, also of a world that is gone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod support;

use std::fs;
use std::path::Path;

use support::root::SaveRoot;
use support::{now, small_world};
use worldkeep::games::valheim::write::{Object, WorldPlan};
use worldkeep::model::{
    Cancel, Clock, Code, Depth, Finding, Found, Layer, LayerKind, Profile, Shape, StampFrom, Verdict, World,
};
use worldkeep::scan::{self, Catalog, Request, Root};

const OPERATION: &str = "0123456789ab";

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
    assert!(catalog.complete);
    let [profile] = <[Profile; 1]>::try_from(catalog.profiles).unwrap();
    profile
}

fn world<'p>(profile: &'p Profile, id: &str) -> &'p World {
    let ids: Vec<_> = profile.worlds.iter().map(|world| &world.id).collect();
    profile.worlds.iter().find(|world| world.id == id).unwrap_or_else(|| panic!("no {id} among {ids:?}"))
}

fn parked(world: &World) -> Vec<&Layer> {
    world.layers.iter().filter(|layer| layer.kind == LayerKind::Parked).collect()
}

fn only_parked(world: &World) -> &Layer {
    let [layer] = parked(world)[..] else { panic!("not one parked layer: {:?}", world.layers) };
    layer
}

/// Moves something below a root to where an operation keeps it.
fn park(root: &SaveRoot, operation: &str, name: &str) {
    let to = root.at(format!(".worldkeep/recycle/{operation}/{name}"));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(root.at(name), to).unwrap();
}

/// A root in which Midgard of day 12 was parked, and one of day 9 is live.
fn restored() -> SaveRoot {
    let root = SaveRoot::new();
    root.world("Midgard").folder(17);
    park(&root, OPERATION, "worlds_local/Midgard");
    root.world("Midgard").day(9.5).folder(12);
    root
}

fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn what_a_restore_took_away_is_a_layer_of_its_world() {
    let root = restored();
    let profile = scan(root.path());
    assert_eq!(profile.worlds.len(), 1);
    let midgard = world(&profile, "p/Midgard");
    let layer = only_parked(midgard);
    assert_eq!(layer.id, format!("p/Midgard@parked-{OPERATION}"));
    assert_eq!(layer.path, root.at(format!(".worldkeep/recycle/{OPERATION}/worlds_local/Midgard")));
    assert_eq!((layer.shape, layer.generation, layer.orphan), (Shape::ValheimFolder, Some(17), false));
    assert_eq!((layer.verdict, layer.restorable, layer.reason.as_deref()), (Verdict::Sound, true, None));
    assert_eq!((layer.stamp.unwrap().from, layer.facts.int("day")), (StampFrom::Marker, Some(12)));
    assert!(layer.rule.contains(OPERATION) && layer.rule.contains("live"), "{}", layer.rule);
    assert_eq!(midgard.live().unwrap().facts.int("day"), Some(9));
}

#[test]
fn a_kept_layer_is_checked_to_its_last_byte_like_any_other() {
    let root = restored();
    let check = || {
        let profile = scan(root.path());
        let layer = only_parked(world(&profile, "p/Midgard")).clone();
        scan::check(&request(root.path()), "valheim", &layer, &Cancel::new())
    };
    let whole = check();
    assert_eq!((whole.verdict, whole.depth, whole.restorable), (Verdict::Sound, Depth::Full, true));
    let data = format!(".worldkeep/recycle/{OPERATION}/worlds_local/Midgard/_main.17.db2");
    root.changed(data, |bytes| bytes[..bytes.len() / 2].to_vec());
    let torn = check();
    assert_eq!((torn.verdict, torn.restorable), (Verdict::Damaged, true));
    assert!(torn.reason.unwrap().contains("accepted by name"));
}

#[test]
fn a_world_that_was_deleted_is_still_seen_and_can_be_had_back() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    root.world("Grimhold").pair(36).previous(36);
    for name in ["Midgard", "Grimhold.db", "Grimhold.fwl", "Grimhold.db.old", "Grimhold.fwl.old"] {
        park(&root, OPERATION, &format!("worlds_local/{name}"));
    }
    let profile = scan(root.path());
    let midgard = world(&profile, "p/Midgard");
    assert!(midgard.live().is_none() && midgard.name == "Midgard");
    let layer = only_parked(midgard);
    assert!(layer.orphan && layer.restorable);
    let orphans = midgard.findings.iter().find(|finding| finding.code == Code::OrphanLayers).unwrap();
    assert!(orphans.next.contains("take back the operation"), "{}", orphans.next);
    let grimhold = parked(world(&profile, "p/Grimhold"));
    let ids: Vec<_> = grimhold.iter().map(|layer| layer.key().to_owned()).collect();
    assert_eq!(ids, [format!("parked-{OPERATION}"), format!("parked-{OPERATION}-old")]);
    for layer in grimhold {
        assert_eq!((layer.shape, layer.files.len(), layer.restorable), (Shape::ValheimPair, 2, true));
        // Nothing converts it as long as it is kept.
        assert!(!codes(&layer.findings).contains(&Code::ConvertsOnSave));
    }
}

#[test]
fn what_lay_in_the_old_folder_belongs_to_the_world_there() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    for (name, bytes) in small_world("Midgard").to_folder(41, 5, |_| 1) {
        root.file(format!("worlds/Midgard/{name}"), &bytes);
    }
    park(&root, OPERATION, "worlds/Midgard");
    let profile = scan(root.path());
    assert!(parked(world(&profile, "p/Midgard")).is_empty());
    let old = world(&profile, "p/worlds/Midgard");
    assert_eq!(only_parked(old).generation, Some(5));
    assert!(old.place.as_deref() == Some("worlds"));
}

#[test]
fn a_worlds_folder_or_one_world_named_by_its_path_has_its_kept_layers() {
    let root = restored();
    root.world("Grimhold").folder(4);
    park(&root, "00000000000a", "worlds_local/Grimhold");
    let folder = scan(&root.at("worlds_local"));
    assert_eq!(only_parked(world(&folder, "p/Midgard")).generation, Some(17));
    assert_eq!(only_parked(world(&folder, "p/Grimhold")).generation, Some(4));
    let alone = scan(&root.at("worlds_local/Midgard"));
    assert_eq!(only_parked(world(&alone, "p/Midgard")).generation, Some(17));
    assert_eq!(alone.worlds.len(), 1, "only what was named");
}

#[test]
fn the_latest_operations_are_looked_into_and_the_rest_is_counted() {
    let root = SaveRoot::new();
    root.world("Midgard").pair(36);
    for n in 0..70 {
        let (fwl, db) = small_world("Midgard").to_pair(36);
        let kept = format!(".worldkeep/recycle/{n:012x}/worlds_local/Midgard");
        root.file(format!("{kept}.fwl"), &fwl).file(format!("{kept}.db"), &db);
    }
    let profile = scan(root.path());
    assert_eq!(parked(world(&profile, "p/Midgard")).len(), 64);
    let more = profile.findings.iter().find(|finding| finding.code == Code::TooMany).unwrap();
    assert!(more.text.contains(" 6 more operations"), "{}", more.text);
}

#[test]
fn the_metadata_that_a_rename_keeps_is_no_layer_and_makes_no_world() {
    let root = SaveRoot::new();
    root.world("Hel").folder(17);
    let kept = format!(".worldkeep/recycle/{OPERATION}/worlds_local");
    root.file(format!("{kept}/Midgard/_main.17.fwl2"), &small_world("Midgard").metadata(41));
    root.file(format!("{kept}/Grimhold.fwl"), &small_world("Grimhold").metadata(36));
    let names = |profile: &Profile| profile.worlds.iter().map(|world| world.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&scan(root.path())), ["Hel"]);
    // World data without metadata is worth having.
    root.file(format!("{kept}/Ravenscar.db"), &small_world("Ravenscar").data(36));
    let profile = scan(root.path());
    assert_eq!(names(&profile), ["Hel", "Ravenscar"]);
    assert!(!only_parked(world(&profile, "p/Ravenscar")).restorable);
}

#[test]
fn what_is_being_removed_or_belongs_to_another_root_is_no_layer() {
    let root = restored();
    let recycle = root.at(".worldkeep/recycle");
    fs::rename(recycle.join(OPERATION), recycle.join(format!("{OPERATION}.removing"))).unwrap();
    assert!(parked(world(&scan(root.path()), "p/Midgard")).is_empty());
    // The keeping folder of the folder around a root is not that root's, unless the path in it says so.
    let outer = SaveRoot::new();
    outer.world("Midgard").folder(17);
    park(&outer, OPERATION, "worlds_local/Midgard");
    for (name, bytes) in small_world("Midgard").to_folder(41, 5, |_| 1) {
        outer.file(format!("server/worlds_local/Midgard/{name}"), &bytes);
    }
    assert!(parked(world(&scan(&outer.at("server")), "p/Midgard")).is_empty());
}

#[test]
fn a_kept_state_without_a_finished_save_is_not_offered() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(17);
    root.without("worlds_local/Midgard/_main.17.ok");
    park(&root, OPERATION, "worlds_local/Midgard");
    let profile = scan(root.path());
    let layer = only_parked(world(&profile, "p/Midgard"));
    let words = "This snapshot holds no finished save, so there is nothing to restore from it yet.";
    assert_eq!((layer.restorable, layer.reason.as_deref()), (false, Some(words)));
}

#[test]
fn going_back_far_on_purpose_raises_no_alarm_about_a_small_live_world() {
    let root = SaveRoot::new();
    let mut large: WorldPlan = small_world("Midgard");
    for n in 0..3000_u16 {
        large.objects.push(Object::new("Beech1", [f32::from(n % 400), 31.0, f32::from(n / 400)]));
    }
    root.generation("Midgard", &large, 40);
    park(&root, OPERATION, "worlds_local/Midgard");
    root.world("Midgard").day(1.5).folder(2);
    let profile = scan(root.path());
    let midgard = world(&profile, "p/Midgard");
    assert!(only_parked(midgard).facts.int("objects").unwrap() > 3000);
    assert!(!codes(&midgard.findings).contains(&Code::LiveSmaller));
    // The same state as a backup does raise it.
    root.generation("Midgard_backup_20261001-120000", &large, 40);
    let profile = scan(root.path());
    assert!(codes(&world(&profile, "p/Midgard").findings).contains(&Code::LiveSmaller));
}

#[test]
fn a_pair_of_another_world_beside_a_folder_is_not_what_the_folder_was_made_from() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3).backup_pair("20260910-120000", 36);
    let mut other = small_world("Midgard");
    other.uid += 1;
    root.pair("Midgard_backup_20260911-120000", "", &other, 36);
    let profile = scan(root.path());
    let midgard = world(&profile, "p/Midgard");
    let keys: Vec<_> = midgard.layers.iter().map(Layer::key).collect();
    assert_eq!(keys, ["live", "manual-20260911-120000", "pre-conversion-20260910-120000"]);
    let [_, manual, before] = &midgard.layers[..] else { unreachable!() };
    assert_eq!((manual.kind, before.kind), (LayerKind::Manual, LayerKind::PreConversion));
    assert!(manual.rule.ends_with("Its world id is another, so the folder was not made from it."), "{}", manual.rule);
    assert!(before.rule.contains("before 1.0"));
}
