//! Builders that the tests share. `mod support;` in a test file brings them in.

#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

pub(crate) mod fixtures;
pub(crate) mod look;
pub(crate) mod memory;
pub(crate) mod patch;
pub(crate) mod random;
pub(crate) mod root;
pub(crate) mod tree;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use worldkeep::games::Context;
use worldkeep::games::valheim::write::{Location, Object, WorldPlan};
use worldkeep::model::Cancel;
use worldkeep::store::Ceilings;

/// The moment that counts as now in every test: noon of 2026-11-30, UTC.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_796_040_000).unwrap()
}

/// A context with the fixed clock, UTC and the usual ceilings.
pub(crate) fn context() -> Context {
    Context { now: now(), zone: TimeZone::UTC, ceilings: Ceilings::default(), cancel: Cancel::new() }
}

/// The folder of real samples, which is not part of the repository; none, and a line that says so, without it.
pub(crate) fn require_samples() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples"));
    if path.is_dir() {
        return Some(path.to_path_buf());
    }
    eprintln!("skipped: ../shared/samples is absent");
    None
}

/// A small world with something of everything: 9 zones, 9 controls, 24 trees, 12 pieces of two players, two portals, two
/// beds, a chest with a byte array, a sign, one proxy, five locations of which two are placed; day 12 at half past.
pub(crate) fn small_world(name: &str) -> WorldPlan {
    const BUILDERS: [i64; 2] = [7_301_144_209, 2_904_887_163];
    let mut plan = WorldPlan::new(name, "SmallSeed1");
    plan.uid = 4_242_424_242;
    plan.net_time = 12.5 * 1800.0;
    plan.session = 99;
    plan.starting_keys = vec!["resourcerate 150".to_owned()];
    plan.global_keys = vec!["defeated_eikthyr".to_owned(), "activebosses 0".to_owned()];
    for (x, z) in (-1_i16..=1).flat_map(|x| (-1_i16..=1).map(move |z| (x, z))) {
        plan.objects.push(Object::new("_ZoneCtrl", [f32::from(x * 64), 0.0, f32::from(z * 64)]).of_kind(1));
    }
    for n in 0..24_i16 {
        let place = [f32::from(n * 7 - 84) + 0.5, 31.25, f32::from(n * 5 % 160 - 80)];
        plan.objects.push(Object::new("Beech1", place).yaw(f32::from(n * 15)).float("health", 80.0).of_kind(2));
    }
    for n in 0..12_i16 {
        let owner = BUILDERS[usize::from(n % 3 == 0)];
        let wall = Object::new("wood_wall", [20.0 + f32::from(n), 33.5, 10.0]).yaw(90.0).float("health", 400.0);
        plan.objects.push(wall.built_by(owner).of_kind(2));
    }
    plan.objects.push(Object::new("portal_wood", [22.0, 33.0, 14.0]).yaw(0.0).text("tag", "home").connected(1, 77));
    plan.objects.push(Object::new("portal_wood", [-70.0, 33.0, -64.0]).yaw(270.0).text("tag", "kupariä"));
    for (n, (id, owner)) in BUILDERS.into_iter().zip(["Ragnhild", "Ottar"]).enumerate() {
        let bed = Object::new("bed", [25.0 + n as f32 * 2.0, 33.0, 16.0]).euler([0.0, 45.5, 1.0]);
        plan.objects.push(bed.built_by(id).text("ownerName", owner));
    }
    plan.objects.push(Object::new("piece_chest_wood", [28.0, 33.0, 12.0]).array("items", vec![7; 40]));
    let mut sign = Object::new("sign", [29.0, 34.0, 12.0]).text("text", "Beware of the trolls");
    sign.vectors.push((1, [1.0, 2.0, 3.0]));
    sign.quats.push((2, [0.0, 0.0, 0.0, 1.0]));
    sign.distant = true;
    plan.objects.push(sign.int("kind", 3));
    let seed = plan.seed;
    plan.objects.push(Object::new("LocationProxy", [3.0, 38.0, -5.0]).yaw(0.0).int("seed", seed));
    plan.zones_from_objects();
    plan.locations = vec![
        Location::new("StartTemple", [3.0, 38.0, -5.0], true),
        Location::new("Eikthyrnir", [-64.5, 40.0, 60.0], true),
        Location::new("GDKing", [2100.0, 38.0, -1500.0], false),
        Location::new("Vendor_BlackForest", [-1800.0, 41.0, 3300.0], false),
        Location::new("Bonemass", [4000.0, 30.5, 2500.0], false),
    ];
    plan
}
