//! The files of a world before 1.0, and the parts that both shapes share.

use super::bytes::Out;
use super::object;
use super::plan::{RandomEvent, WorldPlan};
use crate::games::valheim::format::hash::stable_hash;

/// The first version with small numbers and hashes in the zone section.
const SMALL_ZONES: i32 = 40;

/// The metadata file: `.fwl` before 1.0, `.fwl2` since.
pub(super) fn metadata(plan: &WorldPlan, version: i32) -> Vec<u8> {
    let mut payload = Out::default();
    payload.i32(version);
    payload.text(&plan.name);
    payload.text(&plan.seed_text);
    payload.i32(plan.seed);
    payload.i64(plan.uid);
    if version >= 26 {
        payload.i32(plan.world_gen);
    }
    if version >= 30 {
        payload.bool(plan.saved);
    }
    if version >= 32 {
        payload.texts(plan.starting_keys.iter().map(String::as_str));
    }
    if version >= 41 {
        payload.len(plan.players.len());
        for player in &plan.players {
            for text in [&player.platform_id, &player.name, &player.server_name, &player.network_id] {
                payload.text(text);
            }
        }
    }
    let mut out = Out::default();
    out.block(&payload.0);
    out.0
}

/// The world data before 1.0: `.db`.
pub(super) fn data(plan: &WorldPlan, version: i32) -> Vec<u8> {
    let mut out = Out::default();
    out.i32(version);
    out.f64(plan.net_time);
    out.i64(plan.session);
    let ids = u32::try_from(plan.objects.len()).unwrap_or(u32::MAX);
    out.u32(ids.saturating_add(1));
    out.len(plan.objects.len());
    for (object, id) in plan.objects.iter().zip(1..) {
        if version < object::FLAGGED {
            object::old(&mut out, object, (plan.session, id), version);
        } else {
            object::flagged(&mut out, object, version);
        }
    }
    if version < object::FLAGGED {
        out.i32(0); // The list of dead objects, empty in every real file.
    }
    zones(&mut out, plan, version);
    event(&mut out, &plan.event);
    if version >= 35 {
        out.0.extend_from_slice(&plan.pair_tail);
    }
    out.0
}

/// The zone section, plain; a 1.0 folder keeps it compressed.
pub(super) fn zones(out: &mut Out, plan: &WorldPlan, version: i32) {
    let small = version >= SMALL_ZONES;
    out.len(plan.zones.len());
    for (x, z) in &plan.zones {
        if small {
            out.i16(object::clamp(*x));
            out.i16(object::clamp(*z));
        } else {
            out.i32(*x);
            out.i32(*z);
        }
    }
    if !small {
        out.i32(if version < object::FLAGGED { object::OLD_PGW } else { 0 });
    }
    out.i32(plan.location_version.unwrap_or_else(|| location_version(version)));
    out.texts(plan.global_keys.iter().map(String::as_str));
    out.bool(true); // Locations were generated.
    out.len(plan.locations.len());
    for location in &plan.locations {
        if small {
            out.i32(stable_hash(&location.prefab));
        } else {
            out.text(&location.prefab);
        }
        out.floats(&location.position);
        out.bool(location.placed);
    }
}

/// The version of the locations' list: read in real files of 26 to 29, 32, 34 and 36; between them the one before, and
/// for folders, of which no real zone block is at hand, a number of our own.
fn location_version(version: i32) -> i32 {
    match version {
        ..=27 => 22,
        28 => 24,
        29..=31 => 26,
        32 | 33 => 27,
        34 | 35 => 29,
        36..=39 => 31,
        _ => 35,
    }
}

/// The random event.
pub(super) fn event(out: &mut Out, event: &RandomEvent) {
    out.f32(event.timer);
    out.text(&event.name);
    out.f32(event.time);
    out.floats(&event.position);
}

#[cfg(test)]
mod tests {
    use crate::games::valheim::write::WorldPlan;

    #[test]
    fn the_smallest_metadata_files_have_the_sizes_of_real_ones() {
        // Real ones: a new 1.0 world of this name and seed text, and pairs with names of 10, 4 and 6 letters.
        let size = |name: &str, version| WorldPlan::new(name, "htsE7kJL5K").metadata(version).len();
        assert_eq!(size("Troll", 41), 50);
        assert_eq!(size("DM20022026", 26), 46);
        assert_eq!(size("Test", 29), 40);
    }

    #[test]
    fn the_first_metadata_of_a_new_world_is_that_of_the_game_byte_for_byte() {
        // What the game's own dialog for a new world wrote.
        let mut plan = WorldPlan::new("Troll", "htsE7kJL5K");
        plan.uid = i64::from_le_bytes([0xd3, 0x0c, 0x0e, 0xc6, 0xff, 0xff, 0xff, 0xff]);
        plan.saved = false;
        let want = [
            &[0x2e, 0, 0, 0, 0x29, 0, 0, 0, 5][..],
            b"Troll\x0ahtsE7kJL5K",
            &[0x8e, 0xfc, 0x8e, 0xcf],
            &[0xd3, 0x0c, 0x0e, 0xc6, 0xff, 0xff, 0xff, 0xff],
            &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(plan.metadata(41), want);
    }

    #[test]
    fn the_tail_is_written_only_where_a_version_may_have_one() {
        let mut plan = WorldPlan::new("W", "s");
        let size = |plan: &WorldPlan, version| plan.data(version).len();
        let before = [size(&plan, 34), size(&plan, 36)];
        plan.pair_tail = vec![0; 4];
        assert_eq!([size(&plan, 34), size(&plan, 36)], [before[0], before[1] + 4]);
    }
}
