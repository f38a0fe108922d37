//! What a check says about folders of 1.0.

use super::memory::{MemoryStore, context};
use super::{Inspection, Parts, inspect};
use crate::games::valheim::format::chunked::Entry;
use crate::games::valheim::format::kit::{self, Thing, thing, things};
use crate::model::{Code, Depth, Finding, Severity, Verdict};

const SQUARE: Entry = Entry { id: 0x2020, size: 1, version: 5, objects: 5 };
const OUTSIDE: Entry = Entry { id: 0, size: 0, version: 9, objects: 1 };
const SQUARE_FILE: &str = "W/20_20__1_5.chunk";

fn at_idle() -> Vec<Thing> {
    vec![thing("_ZoneCtrl", 1_000_000.0, 1_000_000.0)]
}

fn square_things() -> Vec<Thing> {
    let mut objects = things();
    for object in &mut objects {
        object.at[0] += 200.0;
        object.at[2] += 200.0;
    }
    // Zone (4, 1).
    objects[3].ints = vec![("seed", 77 + 4 * 4271 + 9187)];
    objects
}

fn store() -> MemoryStore {
    MemoryStore::with([
        ("W/_main.3.fwl2", kit::meta(41, true)),
        ("W/_main.3.db2", kit::db2(41)),
        ("W/_main.3.chunks", kit::index(41, &[OUTSIDE, SQUARE])),
        ("W/_main.3.ok", vec![41, 0, 0, 0]),
        ("W/00_00__0_9.chunk", kit::chunk(41, &at_idle())),
        (SQUARE_FILE, kit::chunk(41, &square_things())),
    ])
}

fn check(store: &MemoryStore, depth: Depth) -> Inspection {
    inspect(store, &Parts::Folder { dir: "W".into(), generation: 3 }, depth, &context())
}

fn codes(inspection: &Inspection) -> Vec<Code> {
    inspection.findings.iter().map(|finding| finding.code).collect()
}

fn verdict(inspection: &Inspection) -> Verdict {
    Verdict::from_findings(&inspection.findings)
}

fn find(inspection: &Inspection, code: Code) -> &Finding {
    inspection.findings.iter().find(|finding| finding.code == code).unwrap_or_else(|| panic!("{inspection:#?}"))
}

/// The codes at L1 and at L2 after a change to the whole folder.
fn after(change: impl Fn(&mut MemoryStore)) -> (Inspection, Inspection) {
    let mut store = store();
    change(&mut store);
    (check(&store, Depth::Headers), check(&store, Depth::Full))
}

#[test]
fn a_whole_folder_has_no_findings_at_either_depth() {
    let (quick, full) = after(|_| {});
    assert_eq!((codes(&quick), codes(&full)), (vec![], vec![]), "{:?}", full.findings);
    assert_eq!((quick.depth, full.depth), (Depth::Headers, Depth::Full));
    let facts = &full.facts;
    assert_eq!((facts.objects, facts.pieces, facts.portals, facts.beds), (Some(6), Some(3), Some(1), Some(1)));
    assert_eq!((facts.zones, facts.zones_idle, facts.locations), (Some(2), Some(1), Some(2)));
    assert_eq!((facts.event.as_deref(), facts.bytes_left, facts.prefabs), (Some("army_eikthyr"), Some(0), Some(6)));
    assert_eq!((quick.facts.objects, quick.facts.net_time), (Some(6), Some(22_050.0)));
    assert_eq!((quick.facts.pieces, quick.facts.zones), (None, None));
}

#[test]
fn the_first_level_opens_no_chunk_file_whole() {
    let store = store();
    let _ = check(&store, Depth::Headers);
    let opened = store.opened.lock().unwrap();
    // Each of the four files once, and one look at the size of each chunk file.
    assert_eq!(opened.len(), 6, "{opened:?}");
}

#[test]
fn a_missing_part_of_a_finished_save_is_an_error_that_may_be_a_race() {
    for part in ["db2", "chunks", "fwl2"] {
        let (quick, full) =
            after(|store| drop(store.files.remove(format!("W/_main.3.{part}").as_ref() as &std::path::Path)));
        for out in [quick, full] {
            let finding = find(&out, Code::MissingFile);
            assert!(out.vanished && finding.text.contains(&format!("missing its .{part}")), "{finding:?}");
            assert_eq!(verdict(&out), Verdict::Damaged);
        }
    }
}

#[test]
fn a_save_without_its_marker_was_never_finished() {
    let (quick, full) = after(|store| drop(store.files.remove(std::path::Path::new("W/_main.3.ok"))));
    for out in [quick, full] {
        assert_eq!((codes(&out), verdict(&out)), (vec![Code::SaveInterrupted], Verdict::Unfinished));
    }
}

#[test]
fn a_lone_metadata_file_of_generation_0_is_a_new_world() {
    let store = MemoryStore::with([("W/_main.0.fwl2", kit::meta(41, false))]);
    let out = inspect(&store, &Parts::Folder { dir: "W".into(), generation: 0 }, Depth::Headers, &context());
    assert_eq!((codes(&out), verdict(&out)), (vec![Code::NeverPlayed], Verdict::Unfinished));
    assert_eq!((out.facts.seed_number, out.facts.to_facts().get("day")), (Some(77), None));
}

#[test]
fn a_newer_game_is_told_once_and_never_as_damage() {
    let (quick, full) = after(|store| {
        store.get("W/_main.3.ok")[0] = 42;
        store.get("W/_main.3.db2")[0] = 42;
        store.get("W/_main.3.chunks")[0] = 42;
        store.get(SQUARE_FILE).truncate(30);
    });
    for out in [quick, full] {
        assert_eq!(
            (codes(&out), verdict(&out)),
            (vec![Code::VersionMismatch, Code::NewerVersion], Verdict::Unsupported)
        );
        assert_eq!((out.facts.objects, out.facts.net_time, out.depth), (Some(6), Some(22_050.0), Depth::Headers));
    }
}

#[test]
fn versions_of_one_save_agree() {
    let (quick, _) = after(|store| store.get("W/_main.3.chunks")[0] = 40);
    assert_eq!((codes(&quick), verdict(&quick)), (vec![Code::VersionMismatch], Verdict::Damaged));
    let (_, full) = after(|store| store.get(SQUARE_FILE)[0] = 40);
    assert_eq!((codes(&full), verdict(&full)), (vec![Code::VersionMismatch], Verdict::Sound));
    // A part of a newer version is no damage, however it came there.
    let (quick, _) = after(|store| store.get("W/_main.3.db2")[0] = 42);
    assert_eq!(verdict(&quick), Verdict::Unsupported, "{:?}", quick.findings);
    let (_, full) = after(|store| store.get(SQUARE_FILE)[0] = 42);
    assert_eq!(verdict(&full), Verdict::Unsupported, "{:?}", full.findings);
}

#[test]
fn a_marker_of_another_length_is_damage() {
    for (bytes, code) in
        [(vec![41, 0], Code::Truncated), (vec![41, 0, 0, 0, 0], Code::TrailingBytes), (vec![], Code::EmptyFile)]
    {
        let (quick, _) = after(|store| *store.get("W/_main.3.ok") = bytes.clone());
        assert_eq!(codes(&quick), [code]);
    }
}

#[test]
fn a_torn_zone_block_is_told_with_its_place_and_apart_from_the_chunks() {
    let half = kit::db2(41).len() / 2;
    let cut = after(|store| store.get("W/_main.3.db2").truncate(half)).1;
    let finding = find(&cut, Code::BadLength);
    assert!(finding.text.contains("zone block") && finding.text.contains("All 2 chunk files are whole"), "{finding:?}");
    let ends = find(&cut, Code::Truncated);
    assert!(ends.text.contains("Zone block: gzip ends early") && ends.place.offset == Some(half as u64), "{ends:?}");
    assert_eq!((cut.facts.pieces, cut.facts.net_time), (Some(3), Some(22_050.0)));

    let flipped = after(|store| store.get("W/_main.3.db2")[16 + 12] ^= 0x10).1;
    assert_eq!(verdict(&flipped), Verdict::Damaged, "{:?}", flipped.findings);
    let checksum = after(|store| {
        let end = 16 + kit::gzip(&kit::zone_section(40)).len();
        store.get("W/_main.3.db2")[end - 8] ^= 1;
    })
    .1;
    let finding = find(&checksum, Code::BadChecksum);
    assert!(finding.text.contains("All 2 chunk files are whole"), "{finding:?}");
    assert_eq!(checksum.facts.zones, Some(2), "what came out is still shown");
    let nothing = after(|store| store.get("W/_main.3.db2")[12..16].fill(0)).1;
    assert_eq!(verdict(&nothing), Verdict::Damaged);
    let beyond = after(|store| store.get("W/_main.3.db2")[15] = 0x0f).1;
    assert!(codes(&beyond).contains(&Code::BadLength) && !codes(&beyond).contains(&Code::Truncated), "{beyond:?}");
}

#[test]
fn events_that_do_not_inflate_are_damage_and_others_than_json_a_warning() {
    let broken = after(|store| {
        let end = store.get("W/_main.3.db2").len();
        store.get("W/_main.3.db2")[end - 15..].fill(0xff);
    })
    .1;
    assert_eq!((codes(&broken), verdict(&broken)), (vec![Code::BadCompression], Verdict::Damaged));
    let other = after(|store| {
        let end = store.get("W/_main.3.db2").len();
        store.get("W/_main.3.db2")[end - 2] = b'!';
    })
    .1;
    assert_eq!((codes(&other), verdict(&other)), (vec![Code::BadValue], Verdict::Notes));
}

#[test]
fn a_missing_chunk_names_its_objects_and_its_square() {
    let (quick, full) = after(|store| drop(store.files.remove(std::path::Path::new(SQUARE_FILE))));
    for out in [quick, full] {
        let finding = find(&out, Code::MissingFile);
        assert!(out.vanished && verdict(&out) == Verdict::Damaged);
        assert!(
            finding.text.contains("5 objects are lost (the square from x -32, z -32 to x 992, z 992 m)"),
            "{finding:?}"
        );
        assert_eq!((finding.place.chunk.as_deref(), finding.place.square), (Some("20_20__1_5.chunk"), Some((0, 0))));
        assert_eq!(out.facts.pieces, None);
    }
    // Listed, and gone when it was opened.
    let (quick, full) = after(|store| store.gone.push(SQUARE_FILE.into()));
    assert!(quick.vanished && full.vanished && codes(&full) == [Code::MissingFile], "{:?}", full.findings);
}

#[test]
fn chunk_files_too_small_or_empty_are_seen_at_the_first_level() {
    let (quick, full) = after(|store| store.get(SQUARE_FILE).truncate(20));
    assert_eq!((codes(&quick), verdict(&full)), (vec![Code::Truncated], Verdict::Damaged));
    let (quick, full) = after(|store| store.get(SQUARE_FILE).clear());
    assert_eq!((codes(&quick), codes(&full)), (vec![Code::EmptyFile], vec![Code::EmptyFile]));
}

#[test]
fn a_chunk_that_counts_otherwise_than_the_index_is_damage() {
    let (quick, full) = after(|store| {
        *store.get(SQUARE_FILE) = kit::chunk(41, &square_things()[..4]);
        store.get(SQUARE_FILE).splice(2..6, [6, 0, 0, 0]);
    });
    assert_eq!(codes(&quick), []);
    assert_eq!(find(&full, Code::CountMismatch).place.offset, Some(2));
    assert!(codes(&full).contains(&Code::Truncated), "{:?}", full.findings);
    let fewer = after(|store| *store.get(SQUARE_FILE) = kit::chunk(41, &square_things()[..4])).1;
    assert_eq!(codes(&fewer), [Code::CountMismatch]);
    let trailing = after(|store| store.get(SQUARE_FILE).push(0)).1;
    assert_eq!(codes(&trailing), [Code::TrailingBytes]);
}

#[test]
fn objects_of_another_square_are_told() {
    let one = after(|store| {
        let mut objects = square_things();
        objects[4].at[0] = 5000.0;
        *store.get(SQUARE_FILE) = kit::chunk(41, &objects);
    })
    .1;
    assert_eq!((codes(&one), verdict(&one)), (vec![Code::WrongChunk], Verdict::Notes), "{:?}", one.findings);
    assert_eq!((one.findings[0].place.object, one.findings[0].place.chunk.is_some()), (Some(4), true));
    let all = after(|store| {
        let mut objects = square_things();
        for object in &mut objects {
            object.at[0] = 5000.0;
        }
        *store.get(SQUARE_FILE) = kit::chunk(41, &objects);
    })
    .1;
    assert_eq!(verdict(&all), Verdict::Damaged);
}

#[test]
fn an_area_that_is_covered_twice_is_a_warning() {
    let inner = Entry { id: 0x2121, size: 0, version: 2, objects: 1 };
    let (quick, full) = after(|store| {
        *store.get("W/_main.3.chunks") = kit::index(41, &[OUTSIDE, SQUARE, inner]);
        store.files.insert("W/21_21__0_2.chunk".into(), kit::chunk(41, &[thing("Beech1", 600.0, 600.0)]));
    });
    for out in [quick, full] {
        assert_eq!((codes(&out), verdict(&out)), (vec![Code::OverlappingChunks], Verdict::Notes));
        let text = &out.findings[0].text;
        assert!(text.starts_with("Areas overlap in the index: 21_21__0_2.chunk and 20_20__1_5.chunk"), "{text}");
    }
    let twice = after(|store| *store.get("W/_main.3.chunks") = kit::index(41, &[OUTSIDE, OUTSIDE, SQUARE])).0;
    assert_eq!(codes(&twice), [Code::OverlappingChunks]);
}

#[test]
fn an_index_that_contradicts_itself_is_damage() {
    let total = after(|store| store.get("W/_main.3.chunks")[2] = 99).0;
    assert_eq!((codes(&total), verdict(&total)), (vec![Code::CountMismatch], Verdict::Damaged));
    let cut = after(|store| store.get("W/_main.3.chunks").truncate(10 + 11 + 4)).0;
    assert_eq!((codes(&cut), cut.facts.objects), (vec![Code::BadLength], None));
    let more = after(|store| store.get("W/_main.3.chunks").push(0)).0;
    assert_eq!(codes(&more), [Code::TrailingBytes]);
    let negative = after(|store| store.get("W/_main.3.chunks")[10 + 10] = 0x80).0;
    assert!(codes(&negative).contains(&Code::BadLength));
}

#[test]
fn chunk_files_outside_of_the_index_are_one_note() {
    let orphans = |store: &mut MemoryStore| {
        store.files.insert("W/20_20__1_4.chunk".into(), vec![0; 1000]);
        store.files.insert("W/1e_20__1_4.chunk".into(), vec![0; 500]);
    };
    let (quick, full) = after(orphans);
    for out in [quick, full] {
        assert_eq!((codes(&out), verdict(&out)), (vec![Code::OrphanChunk], Verdict::Sound));
        assert!(out.findings[0].text.starts_with("2 chunk files are not in the index (1.5 KiB)"), "{:?}", out.findings);
    }
    // They belong to the later save, of which this one is the older generation.
    let (quick, _) = after(|store| {
        orphans(store);
        for part in ["fwl2", "db2", "chunks", "ok"] {
            store.files.insert(format!("W/_main.4.{part}").into(), vec![1]);
        }
    });
    assert_eq!(codes(&quick), []);
}

#[test]
fn permission_is_not_damage() {
    let (quick, full) = after(|store| store.denied.push(SQUARE_FILE.into()));
    assert_eq!((verdict(&quick), verdict(&full)), (Verdict::Unreadable, Verdict::Unreadable));
    let (quick, _) = after(|store| store.denied.push("W/_main.3.db2".into()));
    assert_eq!((codes(&quick), quick.vanished), (vec![Code::NoPermission], false));
}

#[test]
fn a_cancelled_check_ends_early_without_a_claim() {
    let context = context();
    context.cancel.stop();
    let parts = Parts::Folder { dir: "W".into(), generation: 3 };
    let out = inspect(&store(), &parts, Depth::Full, &context);
    assert_eq!((codes(&out), out.depth, out.facts.pieces), (vec![], Depth::Headers, None));
}

#[test]
fn thousands_of_missing_chunks_are_some_findings_and_a_count() {
    let entries: Vec<Entry> = (0..3000).map(|n| Entry { id: 2 + n, size: 0, version: 1, objects: 1 }).collect();
    let (quick, _) = after(|store| *store.get("W/_main.3.chunks") = kit::index(41, &entries));
    let missing = quick.findings.iter().filter(|f| f.code == Code::MissingFile && f.severity == Severity::Error);
    assert_eq!(missing.count(), 50);
    assert!(quick.findings.iter().any(|f| f.text.starts_with("2950 more findings")), "{:?}", quick.findings.last());
}

#[test]
fn every_cut_and_flip_of_a_file_is_survived() {
    for file in ["W/_main.3.db2", "W/_main.3.chunks", "W/_main.3.fwl2", SQUARE_FILE] {
        let length = store().get(file).len();
        for at in 0..length {
            let cut = after(|store| store.get(file).truncate(at)).1;
            assert_ne!(verdict(&cut), Verdict::Sound, "{file} cut at {at}");
            let _ = after(|store| store.get(file)[at] ^= 0xff);
        }
    }
}
