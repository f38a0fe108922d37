//! The real saves among the samples, with what an independent parser found in them.

use std::path::PathBuf;

use super::memory::{MemoryStore, context};
use super::{Inspection, Parts, inspect};
use crate::games::valheim::chart::chart;
use crate::games::valheim::facts::{SeedFrom, ValheimFacts};
use crate::games::valheim::format::chunked::Index;
use crate::games::valheim::format::hash::stable_hash;
use crate::model::{Code, Depth, Verdict};
use crate::raster::Ink;
use crate::store::Ceilings;

fn pair(fwl: Option<&str>, db: &str) -> Parts {
    Parts::Pair { fwl: fwl.map(PathBuf::from), db: Some(db.into()) }
}

fn full(store: &MemoryStore, parts: &Parts) -> Inspection {
    inspect(store, parts, Depth::Full, &context())
}

fn assert_whole(out: &Inspection) {
    assert_eq!(out.findings, [], "no findings");
    assert_eq!((out.depth, out.vanished), (Depth::Full, false));
}

#[test]
fn old_worlds_of_an_idle_server_are_whole() {
    for (folder, fwl, db, version, seed, world_gen, locations) in [
        ("v27", "Test20210421.fwl", "Test20210421.db", 27, -931_666_925, 1, 7141),
        ("v29", "Test.fwl", "Test.db", 29, 555_290_274, 2, 9882),
    ] {
        let Some(store) = MemoryStore::sample(folder) else { return };
        let out = full(&store, &pair(Some(fwl), db));
        assert_whole(&out);
        let facts = out.facts;
        assert_eq!(facts.seed.as_deref().map(stable_hash), Some(seed));
        assert_eq!(
            (facts.world_version, facts.seed_number, facts.world_gen),
            (Some(version), Some(seed), Some(world_gen))
        );
        assert_eq!((facts.objects, facts.zones, facts.zones_idle), (Some(81), Some(0), Some(81)));
        assert_eq!((facts.locations, facts.locations_placed, facts.bytes_left), (Some(locations), Some(0), Some(0)));
        assert_eq!(facts.needs_db, None);
        let map = chart(&store, &pair(Some(fwl), db), &context()).unwrap();
        assert!(map.squares.is_empty() && map.notes.len() == 1 && map.marks.len() == 1, "{map:?}");
    }
}

#[test]
fn a_world_of_version_32_is_whole() {
    let Some(store) = MemoryStore::sample("v32") else { return };
    let out = full(&store, &pair(Some("TestWorld32.fwl"), "TestWorld32.db"));
    assert_whole(&out);
    let facts = out.facts;
    assert_eq!((facts.seed.as_deref(), facts.seed_number), (Some("q6GhJN6FwT"), Some(517_038_747)));
    assert_eq!((facts.objects, facts.zones, facts.zones_idle), (Some(23_403), Some(148), Some(0)));
    assert_eq!((facts.locations, facts.locations_placed, facts.bytes_left), (Some(10_131), Some(60), Some(0)));
    assert_eq!((facts.needs_db, facts.prefabs, facts.pieces), (Some(true), Some(112), Some(0)));
    assert_eq!(stable_hash("q6GhJN6FwT"), 517_038_747);
    // Without its metadata, the objects tell the same seed.
    let alone = full(&store, &pair(None, "TestWorld32.db"));
    assert_eq!((alone.facts.seed_number, alone.facts.seed_from), (Some(517_038_747), Some(SeedFrom::Recovered)));
    assert!(alone.findings.iter().any(|finding| finding.text.contains("60 of 60")), "{:?}", alone.findings);
}

#[test]
fn a_lone_world_of_version_36_gives_its_seed_back() {
    let Some(store) = MemoryStore::sample("v36") else { return };
    let parts = pair(None, "v36.db");
    let out = full(&store, &parts);
    let codes: Vec<_> = out.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::MetadataMissing, Code::SeedRecovered]);
    assert!(out.findings[1].text.contains("180 of 180"), "{:?}", out.findings[1]);
    assert_eq!(Verdict::from_findings(&out.findings), Verdict::Notes);
    let ValheimFacts { seed_number, seed_from, objects, zones, pieces, beds, prefabs, locations_placed, .. } =
        out.facts;
    assert_eq!((seed_number, seed_from), (Some(981_146_684), Some(SeedFrom::Recovered)));
    assert_eq!((objects, zones, pieces, beds), (Some(77_504), Some(564), Some(148), Some(2)));
    assert_eq!((prefabs, locations_placed), (Some(198), Some(180)));
    let facts = out.facts.to_facts();
    assert_eq!((facts.int("day"), facts.int("locations"), facts.int("bytes_left")), (Some(16), Some(11_308), Some(0)));
    assert!(matches!(facts.get("global_keys"), Some(crate::model::Value::List(keys)) if keys.len() == 3));
    let map = chart(&store, &parts, &context()).unwrap();
    let count = |ink| map.marks.iter().filter(|mark| mark.ink == ink).count();
    assert_eq!((map.squares.len(), count(Ink::Location), count(Ink::Bed), count(Ink::Start)), (564, 179, 2, 1));
    assert!(map.squares.iter().any(|square| square.ink == Ink::Built) && map.notes.is_empty());
}

#[test]
fn the_made_folder_and_its_twin_are_whole_and_equal() {
    let Some(store) = MemoryStore::sample("synthetic/worlds_local/Nornheim") else { return };
    let parts = Parts::Folder { dir: PathBuf::new(), generation: 3 };
    let folder = full(&store, &parts);
    assert_whole(&folder);
    let facts = &folder.facts;
    assert_eq!(
        (facts.objects, facts.zones, facts.pieces, facts.portals, facts.beds),
        (Some(220), Some(51), Some(29), Some(2), Some(1))
    );
    assert_eq!((facts.locations, facts.locations_placed, facts.players), (Some(5), Some(2), Some(1)));
    assert_eq!((facts.to_facts().int("day"), facts.world_version, facts.bytes_left), (Some(12), Some(41), Some(0)));
    let legacy = MemoryStore::sample("synthetic/legacy").unwrap();
    let twin = pair(Some("Nornheim.fwl"), "Nornheim.db");
    let pair = full(&legacy, &twin);
    assert_whole(&pair);
    assert_eq!(pair.facts, ValheimFacts { world_version: Some(36), players: None, ..folder.facts.clone() });
    let (new, old) = (chart(&store, &parts, &context()).unwrap(), chart(&legacy, &twin, &context()).unwrap());
    assert_eq!((&new.squares, new.marks.len()), (&old.squares, old.marks.len()));
    assert!(new.marks.iter().any(|mark| mark.label == "kupari\u{e4}"));
}

#[test]
fn real_bytes_of_1_0_are_read_to_their_end() {
    let Some(store) = MemoryStore::sample("v41/Troll") else { return };
    let out = inspect(&store, &Parts::Folder { dir: PathBuf::new(), generation: 0 }, Depth::Full, &context());
    let codes: Vec<_> = out.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::NeverPlayed]);
    let facts = out.facts;
    assert_eq!((facts.name.as_deref(), facts.seed.as_deref()), (Some("Troll"), Some("htsE7kJL5K")));
    assert_eq!((facts.seed_number, facts.uid, facts.world_gen), (Some(-812_712_818), Some(-972_157_741), Some(2)));
    assert_eq!((facts.needs_db, facts.players), (Some(false), Some(0)));

    let Some(mut store) = MemoryStore::sample("v41") else { return };
    let bytes = store.get("_main.20.chunks").clone();
    let index = Index::read(&bytes, &Ceilings::default());
    assert_eq!((index.version, index.total, index.sum(), index.fault), (Some(41), Some(5607), 5607, None));
    let names: Vec<_> = index.iter().map(|entry| (entry.file_name(), entry.objects)).collect();
    let expected = [("1e_1e__1_1.chunk", 326), ("20_1e__1_1.chunk", 4915), ("20_20__1_1.chunk", 366)];
    assert_eq!(names, expected.map(|(name, objects)| (name.to_owned(), objects)));
    assert!(index.iter().all(|entry| entry.is_aligned()));
}

#[test]
fn a_wrapped_count_in_a_real_world_is_damage_with_its_place() {
    let Some(mut store) = MemoryStore::sample("v32") else { return };
    let db = store.get("TestWorld32.db");
    // One more entry is claimed in the count of some object's integers in the middle: the step is lost there.
    let mut cursor = crate::games::valheim::format::Cursor::new(db);
    cursor.take(28, "the head").unwrap();
    let mut target = None;
    let walked = crate::games::valheim::format::object::walk(
        &mut cursor,
        23_403,
        crate::games::valheim::format::object::Encoding::of(32),
        &Ceilings::default(),
        &crate::model::Cancel::new(),
        &mut |object| {
            if object.seed.is_some() && object.number > 10_000 && target.is_none() {
                target = Some((object.number, usize::try_from(object.offset).unwrap()));
            }
            true
        },
    );
    assert!(walked.reached_end());
    let (number, offset) = target.unwrap();
    let flags = u16::from_le_bytes([db[offset], db[offset + 1]]);
    assert_eq!(flags & 0x0f, 0, "integers come first in a location proxy");
    let count = offset + 22 + if flags & 0x1000 != 0 { 12 } else { 0 };
    // As an object with 258 integers would have been written.
    let entries = usize::from(db[count]);
    let more: Vec<u8> = std::iter::repeat_n([7, 7, 7, 7, 1, 0, 0, 0], 256).flatten().collect();
    let end = count + 1 + entries * 8;
    db.splice(end..end, more);
    let out = full(&store, &pair(Some("TestWorld32.fwl"), "TestWorld32.db"));
    assert_eq!(Verdict::from_findings(&out.findings), Verdict::Damaged);
    let lost = &out.findings[0];
    assert!(lost.place.object.is_some_and(|object| object == number || object == number + 1), "{lost:?}");
    assert!(lost.text.contains("LocationProxy"), "{lost:?}");
    assert!(out.findings.iter().any(|f| f.code == Code::NotReached && f.text.contains("zone section")));
    assert_eq!((out.facts.objects, out.facts.zones), (Some(23_403), None));
}
