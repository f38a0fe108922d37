//! The writer against bytes that it did not make: an independent construction from the same facts.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod support;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use support::patch;
use support::random::Random;
use worldkeep::games::valheim::format::hash::stable_hash;
use worldkeep::games::valheim::write::{Location, Object, Player, WorldPlan};

const CREATOR: i64 = 76_561_190_000_000_001;

fn synthetic() -> Option<PathBuf> {
    Some(support::require_samples()?.join("valheim/synthetic"))
}

/// The world that the independent script describes, with the packed table that it made.
fn nornheim(table: Vec<u8>) -> WorldPlan {
    let mut plan = WorldPlan::new("Nornheim", "Nornheim01");
    plan.uid = 4_242_424_242;
    plan.net_time = 12.25 * 1800.0;
    plan.session = 12_345;
    plan.starting_keys = vec![
        "resourcerate 150".to_owned(),
        "preset combat_default:deathpenalty_casual:resources_more:raids_default:portals_default".to_owned(),
    ];
    plan.players = vec![Player {
        platform_id: format!("Steam_{CREATOR}"),
        name: "Ragnhild".to_owned(),
        server_name: "Ragnhild".to_owned(),
        network_id: "71F8000000000000".to_owned(),
    }];
    plan.event.timer = 12.5;
    plan.global_keys = ["defeated_eikthyr", "killedtroll", "activebosses 0"].map(str::to_owned).to_vec();
    plan.locations = vec![
        Location::new("StartTemple", [3.0, 43.0, -5.0], true),
        Location::new("Eikthyrnir", [-412.5, 40.0, 300.0], true),
        Location::new("GDKing", [2100.0, 38.0, -1500.0], false),
        Location::new("Vendor_BlackForest", [-1800.0, 41.0, 3300.0], false),
        Location::new("Bonemass", [4000.0, 30.5, 2500.0], false),
    ];
    plan.objects = objects(table, plan.seed);
    plan.zones_from_objects();
    plan
}

fn objects(table: Vec<u8>, seed: i32) -> Vec<Object> {
    let mut objects = Vec::new();
    for (x, z) in (-3_i16..=3).flat_map(|x| (-3_i16..=3).map(move |z| (x, z))) {
        objects.push(Object::new("_ZoneCtrl", [f32::from(x * 64), 0.0, f32::from(z * 64)]).of_kind(1));
    }
    for k in 0..140_i16 {
        #[expect(clippy::cast_possible_truncation, reason = "the script narrows the same way")]
        let height = (31.0 + f64::from(k) * 0.01) as f32;
        let place = [f32::from(k * 37 % 300) - 150.0, height, f32::from(k * 53 % 300) - 150.0];
        objects.push(Object::new("Beech1", place).yaw(f32::from(k * 25 % 360)).float("health", 80.0).of_kind(2));
    }
    for k in 0..24_u8 {
        let wall = Object::new("wood_wall", [480.25 + 2.0 * f32::from(k), 33.5, 120.0]).yaw(90.0);
        objects.push(wall.float("health", 400.0).float("support", 12.5).built_by(CREATOR).of_kind(2));
    }
    objects.push(Object::new("piece_workbench", [484.0, 33.0, 126.0]).euler([0.0, 45.5, 1.0]).built_by(CREATOR));
    let bed = Object::new("bed", [486.0, 33.0, 128.0]).yaw(180.0).built_by(CREATOR);
    objects.push(bed.long("owner", CREATOR).text("ownerName", "Ragnhild"));
    let cartography = Object::new("piece_cartographytable", [488.0, 33.0, 128.0]).yaw(0.0).built_by(CREATOR);
    objects.push(cartography.array("data", table));
    let portal = Object::new("portal_wood", [490.0, 33.0, 130.0]).yaw(0.0).built_by(CREATOR);
    objects.push(portal.text("tag", "home").text("tagauthor", "Steam_1").connected(1, 77));
    let portal = Object::new("portal_wood", [-2210.0, 35.0, 1540.5]).yaw(270.0).built_by(CREATOR);
    objects.push(portal.text("tag", "kupariä").connected(1, 77));
    let proxy = Object::new("LocationProxy", [3.0, 43.0, -5.0]).yaw(0.0);
    objects.push(proxy.int("location", stable_hash("StartTemple")).int("seed", seed));
    let mut stone = Object::new("Pickable_Stone", [5.0, 30.0, 6.0]);
    stone.ints = (0..300).map(|k| (stable_hash(&format!("k{k:03}")), k)).collect();
    objects.push(stone);
    objects
}

/// The byte array behind the key `data` in the script's pair, which its own packer made.
fn packed_table(pair: &[u8]) -> Vec<u8> {
    let key = stable_hash("data").to_le_bytes();
    let at = patch::find(pair, &[&[1][..], &key].concat()) + 5;
    let length = usize::try_from(i32_at(pair, at)).unwrap();
    pair[at + 4..at + 4 + length].to_vec()
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn inflate(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

/// A generation's data taken apart: what stands before the zone block, the block inflated, what follows it.
fn taken_apart(data: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let length = usize::try_from(i32_at(data, 12)).unwrap();
    let (packed, rest) = data[16..].split_at(length);
    (data[..12].to_vec(), inflate(packed), rest.to_vec())
}

#[test]
fn a_pair_comes_out_as_an_independent_script_wrote_it() {
    let Some(dir) = synthetic() else { return };
    let read = |name: &str| fs::read(dir.join("legacy").join(name)).unwrap();
    let data = read("Nornheim.db");
    let plan = nornheim(packed_table(&data));
    assert_eq!(plan.metadata(36), read("Nornheim.fwl"));
    let ours = plan.data(36);
    let difference = ours.iter().zip(&data).position(|(a, b)| a != b);
    assert_eq!((difference, ours.len()), (None, data.len()));
}

#[test]
fn a_folder_comes_out_as_an_independent_script_wrote_it() {
    let Some(dir) = synthetic() else { return };
    let plan = nornheim(packed_table(&fs::read(dir.join("legacy/Nornheim.db")).unwrap()));
    let mut version = 0;
    let ours = plan.to_folder(41, 3, |_| {
        version += 1;
        version
    });
    let folder = dir.join("worlds_local/Nornheim");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), ours.len());
    for (name, bytes) in &ours {
        let theirs = fs::read(folder.join(name)).unwrap();
        if name == "_main.3.db2" {
            assert_eq!(taken_apart(bytes), taken_apart(&theirs), "{name}");
        } else {
            assert_eq!(*bytes, theirs, "{name}");
        }
    }
}

#[test]
fn real_small_files_come_out_byte_for_byte() {
    let Some(dir) = support::require_samples() else { return };
    let real = |name: &str| fs::read(dir.join("valheim").join(name)).unwrap();
    let mut troll = WorldPlan::new("Troll", "htsE7kJL5K");
    troll.saved = false;
    let bytes = real("v41/Troll/_main.0.fwl2");
    // Behind the version, two texts with a byte of length each, and the seed.
    troll.uid = i64::from_le_bytes(bytes[4 + 4 + 6 + 11 + 4..][..8].try_into().unwrap());
    assert_eq!(troll.metadata(41), bytes);

    for (path, seed, version, world_gen) in [
        ("v27/Test20210421.fwl", -931_666_925, 27, 1),
        ("v29/Test.fwl", 555_290_274, 29, 2),
        ("v32/TestWorld32.fwl", 517_038_747, 32, 2),
    ] {
        let bytes = real(path);
        let (name, text_at) = text(&bytes, 8);
        let (seed_text, seed_at) = text(&bytes, text_at);
        let mut plan = WorldPlan::new(name, seed_text);
        assert_eq!(plan.seed, seed, "{path}");
        plan.world_gen = world_gen;
        plan.uid = i64::from_le_bytes(bytes[seed_at + 4..][..8].try_into().unwrap());
        assert_eq!(plan.metadata(version), bytes, "{path}");
    }
}

/// A short text in a real file, and where it ends.
fn text(bytes: &[u8], at: usize) -> (&str, usize) {
    let end = at + 1 + usize::from(bytes[at]);
    (std::str::from_utf8(&bytes[at + 1..end]).unwrap(), end)
}

#[test]
fn a_tree_has_as_many_worlds_and_layers_as_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let made = support::tree::tree(dir.path(), 2, 3, 6).unwrap();
    assert_eq!((made.profiles, made.worlds, made.layers), (2, 6, 36));
    let names: Vec<_> = names(&dir.path().join("profile-000/worlds_local"));
    for name in ["World-0000", "World-0001.db", "World-0001.db.old", "World-0001_backup_20261130-094959.fwl"] {
        assert!(names.contains(&name.to_owned()), "{name} in {names:?}");
    }
    assert_eq!(names.iter().filter(|name| name.starts_with("World-0000")).count(), 6, "{names:?}");
    let again = tempfile::tempdir().unwrap();
    assert_eq!(support::tree::tree(again.path(), 2, 3, 6).unwrap(), made);
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_mutation_is_the_same_for_the_same_seed_and_changes_something() {
    let bytes = support::small_world("W").data(36);
    let mutate = |seed| patch::mutate(&bytes, &bytes, &mut Random(seed));
    let changed = (0..200).filter(|seed| mutate(*seed).0 != bytes).count();
    assert!(changed > 180, "{changed} of 200");
    assert!((0..200).all(|seed| mutate(seed) == mutate(seed)));
}
