//! What the writer writes is what the readers find: for any world, in every version.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use support::fixtures::Files;
use support::look::look;
use support::memory::MemoryStore;
use worldkeep::games::valheim::write::{Location, Object, Rotation, WorldPlan};
use worldkeep::model::{Value, Verdict};

/// Prefabs that a reader counts, and some that it does not.
const PREFABS: [&str; 8] =
    ["Beech1", "portal_wood", "portal_stone", "bed", "wood_wall", "sign", "piece_chest_wood", "Pickable_Stone"];

prop_compose! {
    fn place()(x in -9_900_i32..9_900, y in 0_i32..200, z in -9_900_i32..9_900, whole in any::<bool>()) -> [f32; 3] {
        let fraction = if whole { 0.0 } else { 0.25 };
        // Worlds are round: keep within the disc.
        let shrink = 0.7;
        [(x as f32 * shrink).round() + fraction, if whole { 0.0 } else { y as f32 }, (z as f32 * shrink).round() - fraction]
    }
}

fn rotation() -> impl Strategy<Value = Rotation> {
    let angle = || (0_u16..720).prop_map(|n| f32::from(n) / 2.0);
    prop_oneof![
        Just(Rotation::None),
        angle().prop_map(Rotation::Yaw),
        [angle(), angle(), angle()].prop_map(Rotation::Euler),
    ]
}

prop_compose! {
    fn object()(
        prefab in prop::sample::select(&PREFABS[..]),
        position in place(),
        rotation in rotation(),
        kind in 0_u8..4,
        distant in any::<bool>(),
        connection in prop::option::of((0_u8..4, any::<i32>())),
        creator in prop::option::of(any::<i64>()),
        floats in vec((any::<i32>(), -1e6_f32..1e6), 0..3),
        ints in vec((any::<i32>(), any::<i32>()), 0..200),
        texts in vec((any::<i32>(), ".{0,40}"), 0..3),
        arrays in vec((any::<i32>(), vec(any::<u8>(), 0..60)), 0..2),
        vectors in vec((any::<i32>(), [-1.0_f32..1.0, 0.0_f32..1.0, 0.0_f32..1.0]), 0..2),
        quats in vec((any::<i32>(), [-1.0_f32..1.0, 0.0_f32..1.0, 0.0_f32..1.0, 0.0_f32..1.0]), 0..2),
    ) -> Object {
        let mut object = Object::new(prefab, position);
        (object.rotation, object.kind, object.distant, object.connection) = (rotation, kind, distant, connection);
        (object.floats, object.ints, object.texts) = (floats, ints, texts);
        (object.arrays, object.vectors, object.quats) = (arrays, vectors, quats);
        if let Some(creator) = creator {
            object = object.built_by(creator);
        }
        object
    }
}

prop_compose! {
    fn world()(
        seed in "[A-Za-z0-9]{1,10}",
        uid in any::<i64>(),
        day in 0_u32..4000,
        objects in vec(object(), 0..25),
        zones in prop::collection::btree_set((-160_i32..160, -160_i32..160), 0..40),
        places in vec((place(), any::<bool>()), 0..20),
        keys in vec("[a-z_]{1,20}", 0..5),
        size in 0_u8..5,
        event in "[a-z_]{0,12}",
    ) -> WorldPlan {
        let mut plan = WorldPlan::new("Midgard", &seed);
        (plan.uid, plan.objects, plan.chunk_size, plan.event.name) = (uid, objects, size, event);
        plan.net_time = f64::from(day) * 1800.0 + 450.0;
        plan.zones = zones.into_iter().collect();
        plan.locations = places.into_iter().map(|(at, placed)| Location::new("Crypt2", at, placed)).collect();
        plan.global_keys = keys;
        plan
    }
}

/// What a reader must find in a world of a version.
fn holds(plan: &WorldPlan, version: i32, files: Files) -> Result<(), TestCaseError> {
    let seen = look(&MemoryStore::new(files), &support::context());
    let live = seen.live("Midgard").expect("there is a live layer");
    prop_assert!(live.verdict <= Verdict::Notes, "version {}: {:?}", version, live);
    let facts = &live.facts;
    let count = |keep: &dyn Fn(&Object) -> bool| plan.objects.iter().filter(|object| keep(object)).count();
    let creator = worldkeep::games::valheim::format::hash::stable_hash("creator");
    let bed = Object::new("bed", [0.0; 3]).prefab;
    for (key, want) in [
        ("objects", plan.objects.len()),
        ("pieces", count(&|object| object.longs.iter().any(|(key, value)| *key == creator && *value != 0))),
        ("portals", count(&Object::is_portal)),
        ("beds", count(&|object| object.prefab == bed)),
        ("zones", plan.zones.len()),
        ("zones_idle", 0),
        ("locations", plan.locations.len()),
        ("locations_placed", plan.locations.iter().filter(|location| location.placed).count()),
    ] {
        prop_assert_eq!(facts.int(key), i64::try_from(want).ok(), "version {}: {}: {:?}", version, key, facts);
    }
    #[expect(clippy::cast_possible_truncation, reason = "days are small")]
    let day = (plan.net_time / 1800.0) as i64;
    prop_assert_eq!(facts.int("day"), Some(day));
    prop_assert_eq!(facts.int("seed_number"), Some(i64::from(plan.seed)));
    prop_assert_eq!(facts.text("seed"), Some(plan.seed_text.as_str()));
    let uid = plan.uid.to_string();
    prop_assert_eq!(facts.text("uid"), Some(uid.as_str()));
    prop_assert_eq!(facts.int("world_version"), Some(i64::from(version)));
    prop_assert_eq!(facts.get("global_keys"), Some(&Value::List(plan.global_keys.clone())));
    Ok(())
}

fn pair(plan: &WorldPlan, version: i32) -> Files {
    let (metadata, data) = plan.to_pair(version);
    vec![("worlds_local/Midgard.fwl".to_owned(), metadata), ("worlds_local/Midgard.db".to_owned(), data)]
}

fn folder(plan: &WorldPlan, version: i32) -> Files {
    let files = plan.to_folder(version, 5, |chunk| 1 + u32::from(chunk.id) % 5).into_iter();
    files.map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pairs_of_every_version_read_back_as_they_were_written(plan in world()) {
        for version in 26..=37 {
            holds(&plan, version, pair(&plan, version))?;
        }
    }

    #[test]
    fn folders_read_back_as_they_were_written(plan in world()) {
        for version in [40, 41] {
            holds(&plan, version, folder(&plan, version))?;
        }
    }
}
