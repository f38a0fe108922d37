//! Worlds that never were: what players found, built and killed by a given day.

use std::collections::HashSet;
use std::f32::consts::TAU;

use super::land::{Land, Random};
use crate::games::valheim::write::{Location, Object, Player, WorldPlan, zone_of};

/// Seconds of one day.
const DAY: f64 = 1800.0;
/// A player who never was.
const RAGNHILD: i64 = 7_301_144_209;
/// Another one.
const OTTAR: i64 = 2_904_887_163;

/// One world from its beginning to its end.
pub(super) struct Saga {
    /// Its name.
    pub(super) name: &'static str,
    /// Its seed as typed.
    pub(super) seed: &'static str,
    /// Its id.
    pub(super) uid: i64,
    /// Half the width of its land in zones.
    pub(super) size: f32,
    /// Pieces that stand at its end.
    pub(super) pieces: u32,
}

/// A point in a saga.
#[derive(Clone, Copy)]
pub(super) struct Chapter {
    /// The day, with its fraction.
    pub(super) day: f64,
    /// How much was seen and built by then, from 0 to 1.
    pub(super) reach: f32,
}

impl Saga {
    /// The world as it was at a point.
    pub(super) fn at(&self, chapter: Chapter) -> WorldPlan {
        let mut plan = WorldPlan::new(self.name, self.seed);
        plan.uid = self.uid;
        plan.net_time = chapter.day * DAY;
        plan.session = self.uid ^ 0x5a5a_5a5a;
        plan.players = players();
        plan.event.timer = 1260.5;
        let salt = u64::from(plan.seed.cast_unsigned());
        plan.zones = Land::new(salt, self.size).zones(chapter.reach);
        let zones: HashSet<_> = plan.zones.iter().copied().collect();
        plan.locations = locations(salt, &zones);
        plan.global_keys = progress(chapter.reach);
        plan.objects = nature(salt, &plan.zones);
        proxies(&mut plan);
        let built = share(self.pieces, chapter.reach);
        village(&mut plan.objects, salt, (112.0, 76.0), built * 7 / 10);
        if let Some((x, z)) = far_zone(&plan.zones) {
            village(&mut plan.objects, salt ^ 1, (x as f32 * 64.0, z as f32 * 64.0), built * 3 / 10);
        }
        homes(&mut plan, chapter.reach);
        plan
    }

    /// The world a day after a point, which was spent on building at home.
    pub(super) fn a_day_after(&self, before: &WorldPlan) -> WorldPlan {
        let mut plan = before.clone();
        plan.net_time += DAY;
        village(&mut plan.objects, 2, (112.0, 240.0), self.pieces / 8);
        plan
    }

    /// The world as the game makes it before anybody was there: a server's idle point and nothing else.
    pub(super) fn untouched(&self) -> WorldPlan {
        let mut plan = WorldPlan::new(self.name, self.seed);
        plan.uid = self.uid;
        let idle = |n: i32| 15_625 - 4 + n;
        plan.zones = (0..9).flat_map(|x| (0..9).map(move |z| (idle(x), idle(z)))).collect();
        plan.objects = plan.zones.iter().map(|zone| zone_control(*zone)).collect();
        plan.locations = locations(u64::from(plan.seed.cast_unsigned()), &HashSet::new());
        plan
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
fn share(of: u32, reach: f32) -> u32 {
    (of as f32 * reach.clamp(0.0, 1.0)) as u32
}

fn players() -> Vec<Player> {
    [("76561190000000001", "Ragnhild", "71F8000000000001"), ("76561190000000002", "Ottar", "71F8000000000002")]
        .map(|(id, name, network)| Player {
            platform_id: format!("Steam_{id}"),
            name: name.to_owned(),
            server_name: name.to_owned(),
            network_id: network.to_owned(),
        })
        .into()
}

/// What stands in the world's keys by a point of a saga.
fn progress(reach: f32) -> Vec<String> {
    [
        (0.1, "defeated_eikthyr"),
        (0.2, "killedtroll"),
        (0.35, "defeated_gdking"),
        (0.55, "defeated_bonemass"),
        (0.75, "defeated_dragon"),
        (0.9, "defeated_goblinking"),
        (0.0, "activebosses 0"),
    ]
    .into_iter()
    .filter(|(from, _)| reach >= *from)
    .map(|(_, key)| key.to_owned())
    .collect()
}

fn zone_control((x, z): (i32, i32)) -> Object {
    Object::new("_ZoneCtrl", [x as f32 * 64.0, 0.0, z as f32 * 64.0]).of_kind(1)
}

/// What grows and lies about in the zones that were seen.
fn nature(salt: u64, zones: &[(i32, i32)]) -> Vec<Object> {
    const NEAR: [&str; 4] = ["Beech1", "Bush01", "Pickable_Stone", "Rock_4"];
    const FAR: [&str; 4] = ["FirTree", "Pinetree_01", "rock4_copper", "Pickable_Mushroom"];
    let mut objects = Vec::with_capacity(zones.len() * 4);
    for zone in zones {
        objects.push(zone_control(*zone));
        let mut random = Random::at(salt, *zone);
        let (x, z) = (zone.0 as f32, zone.1 as f32);
        let names = if x.hypot(z) < 11.0 { NEAR } else { FAR };
        for _ in 0..=random.below(4) {
            let mut within = |n: f32| n * 64.0 + random.between(-31.0, 31.0);
            let (east, north) = (within(x), within(z));
            let name = names[random.below(4) as usize % names.len()];
            let height = 30.5 + random.between(0.0, 9.0);
            objects.push(
                Object::new(name, [east, height, north])
                    .yaw(random.below(720) as f32 / 2.0)
                    .float("health", 80.0)
                    .of_kind(2),
            );
        }
    }
    objects
}

/// Places that the generator chose, over the whole world; those in zones that were seen are placed.
fn locations(salt: u64, zones: &HashSet<(i32, i32)>) -> Vec<Location> {
    const RINGS: [(f32, &[&str]); 5] = [
        (1400.0, &["Eikthyrnir", "WoodHouse1", "WoodHouse6", "StoneCircle", "Runestone_Meadows", "WoodFarm1"]),
        (3000.0, &["GDKing", "Crypt2", "TrollCave02", "Ruin1", "StoneTowerRuins03", "Vendor_BlackForest"]),
        (5000.0, &["Bonemass", "SunkenCrypt4", "SwampHut1", "SwampRuin1", "Dragonqueen", "DrakeNest01"]),
        (7500.0, &["GoblinKing", "GoblinCamp2", "StoneHenge3", "MountainCave02", "TarPit1"]),
        (9800.0, &["Mistlands_DvergrTownEntrance1", "Mistlands_Harbour1", "CharredFortress", "Mistlands_Excavation1"]),
    ];
    let mut random = Random::new(salt ^ 0x10ca);
    let mut all = vec![Location::new("StartTemple", [0.0, 38.0, 0.0], zones.contains(&(0, 0)))];
    let mut inner = 180.0;
    for (outer, names) in RINGS {
        for n in 0..220_usize {
            let (angle, distance) = (random.between(0.0, TAU), random.between(inner, outer));
            let (x, z) = (angle.cos() * distance, angle.sin() * distance);
            let placed = zones.contains(&(zone_of(x), zone_of(z)));
            let name = names[n % names.len()];
            all.push(Location::new(name, [x, 31.0 + random.between(0.0, 12.0), z], placed));
        }
        inner = outer;
    }
    all
}

/// The marks that placed locations leave among the objects; the seed can be worked out from them.
fn proxies(plan: &mut WorldPlan) {
    let seed = plan.seed;
    for location in plan.locations.iter().filter(|location| location.placed) {
        let object = Object::new("LocationProxy", location.position);
        let (x, z) = object.zone();
        let local = seed.wrapping_add(x.wrapping_mul(4271)).wrapping_add(z.wrapping_mul(9187));
        let hash = crate::games::valheim::format::hash::stable_hash(&location.prefab);
        plan.objects.push(object.yaw(0.0).int("location", hash).int("seed", local));
    }
}

/// The zone that was seen and lies farthest away.
fn far_zone(zones: &[(i32, i32)]) -> Option<(i32, i32)> {
    zones.iter().copied().max_by_key(|(x, z)| x * x + z * z)
}

/// Houses along streets, a palisade around them.
fn village(objects: &mut Vec<Object>, salt: u64, (east, north): (f32, f32), pieces: u32) {
    const PARTS: [&str; 6] = ["wood_wall", "wood_floor", "wood_roof", "wood_pole2", "wood_beam", "stone_wall_2x1"];
    let mut random = Random::new(salt ^ 0xb111d);
    for n in 0..pieces {
        let house = n / 40;
        let (street, plot) = ((house / 6) as f32, (house % 6) as f32);
        let (row, column) = ((n % 40 / 8) as f32, (n % 8) as f32);
        let x = east + plot * 22.0 + column * 2.0;
        let z = north + street * 26.0 + row * 2.0;
        let part = PARTS[(n % 8) as usize % PARTS.len()];
        let owner = if house % 3 == 0 { OTTAR } else { RAGNHILD };
        objects.push(
            Object::new(part, [x + 0.25, 33.0 + row * 0.5, z])
                .yaw(random.below(4) as f32 * 90.0)
                .float("health", 400.0)
                .built_by(owner)
                .of_kind(2),
        );
    }
    for n in 0..pieces / 12 {
        let angle = n as f32 / (pieces / 12) as f32 * TAU;
        let (x, z) = (east + 60.0 + angle.cos() * 95.0, north + 40.0 + angle.sin() * 80.0);
        objects.push(Object::new("stakewall", [x, 32.5, z]).yaw(angle.to_degrees()).built_by(RAGNHILD).of_kind(2));
    }
}

/// Beds, benches, chests, graves and portals.
fn homes(plan: &mut WorldPlan, reach: f32) {
    let objects = &mut plan.objects;
    let put = |name: &str, x: f32, z: f32| Object::new(name, [x, 33.0, z]).yaw(180.0).built_by(RAGNHILD);
    objects.push(put("piece_workbench", 114.0, 78.0));
    objects.push(put("piece_cartographytable", 118.0, 80.0));
    for n in 0..share(24, reach) {
        objects.push(put("piece_chest_wood", 120.0 + n as f32, 82.0));
    }
    for (n, (id, name)) in [(RAGNHILD, "Ragnhild"), (OTTAR, "Ottar")].into_iter().enumerate() {
        let bed = Object::new("bed", [124.0 + n as f32 * 3.0, 33.0, 88.0]).yaw(90.0).built_by(id);
        objects.push(bed.long("owner", id).text("ownerName", name));
        let grave = Object::new("Player_tombstone", [-240.0 + n as f32 * 611.0, 31.0, 395.0]);
        objects.push(grave.long("owner", id).text("ownerName", name));
    }
    let tags = ["copper", "swamp", "stone hall", "silver", "over the sea", "plains ä"];
    let count = share(6, reach) as usize;
    let step = (plan.zones.len() / (count + 1)).max(1);
    for (n, tag) in tags.into_iter().enumerate().take(count) {
        let Some((x, z)) = plan.zones.get(step * (n + 1) - 1).copied() else { continue };
        let pair = i32::try_from(n).unwrap_or_default() + 700;
        let ends = [(130.0 + n as f32 * 4.0, 110.0), (x as f32 * 64.0, z as f32 * 64.0)];
        for (east, north) in ends {
            let portal = put("portal_wood", east, north).text("tag", tag).text("tagauthor", "Steam_76561190000000001");
            plan.objects.push(portal.connected(1, pair));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Chapter, Saga};

    const SAGA: Saga = Saga { name: "W", seed: "seed", uid: 1, size: 16.0, pieces: 600 };

    #[test]
    fn a_later_chapter_has_more_of_everything() {
        let count = |day, reach| {
            let plan = SAGA.at(Chapter { day, reach });
            let placed = plan.locations.iter().filter(|location| location.placed).count();
            [plan.zones.len(), plan.objects.len(), plan.global_keys.len(), placed]
        };
        let (early, late) = (count(12.0, 0.3), count(90.0, 1.0));
        assert!(early.iter().zip(late).all(|(early, late)| *early < late), "{early:?} {late:?}");
    }

    #[test]
    fn the_same_chapter_is_always_the_same() {
        let chapter = Chapter { day: 40.5, reach: 0.6 };
        assert_eq!(SAGA.at(chapter), SAGA.at(chapter));
    }

    #[test]
    fn an_untouched_world_lies_at_the_idle_point_only() {
        let plan = SAGA.untouched();
        assert_eq!((plan.objects.len(), plan.zones.len()), (81, 81));
        assert!(plan.objects.iter().all(|object| plan.zones.contains(&object.zone())));
    }
}
