//! What a check says about pairs of files.

use std::path::{Path, PathBuf};

use super::memory::{MemoryStore, context};
use super::{Inspection, Parts, inspect};
use crate::games::valheim::facts::SeedFrom;
use crate::games::valheim::format::kit::{self, Thing, thing, things};
use crate::model::{Code, Depth, Finding, Severity, Verdict};

fn both() -> Parts {
    Parts::Pair { fwl: Some("W.fwl".into()), db: Some("W.db".into()) }
}

fn store(version: i32) -> MemoryStore {
    MemoryStore::with([("W.fwl", kit::meta(version, true)), ("W.db", kit::db(version, &things()))])
}

fn check(store: &MemoryStore, parts: &Parts, depth: Depth) -> Inspection {
    inspect(store, parts, depth, &context())
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

#[test]
fn a_whole_pair_has_no_findings_at_either_depth() {
    for version in [27, 30, 32, 36, 37] {
        for depth in [Depth::Headers, Depth::Full] {
            let out = check(&store(version), &both(), depth);
            assert_eq!(codes(&out), [], "{version} {:?}", out.findings);
            assert_eq!((out.depth, out.vanished), (depth, false));
            let facts = out.facts;
            assert_eq!((facts.name.as_deref(), facts.seed_number, facts.uid), (Some("Holm"), Some(77), Some(4242)));
            assert_eq!((facts.objects, facts.net_time), (Some(5), Some(22_050.0)));
            assert_eq!(facts.pieces, (depth == Depth::Full).then_some(3));
            assert_eq!(facts.zones_idle, (depth == Depth::Full).then_some(1));
            assert_eq!(facts.seed_from, Some(SeedFrom::Metadata));
        }
    }
}

#[test]
fn the_first_level_reads_no_more_than_the_heads() {
    let mut cut = store(36);
    cut.get("W.db").truncate(28 + 5 * 22);
    assert_eq!(codes(&check(&cut, &both(), Depth::Headers)), []);
    assert_eq!(verdict(&check(&cut, &both(), Depth::Full)), Verdict::Damaged);
    cut.get("W.db").truncate(28 + 5 * 22 - 1);
    assert_eq!(codes(&check(&cut, &both(), Depth::Headers)), [Code::Truncated]);
    cut.get("W.db").truncate(27);
    assert_eq!(codes(&check(&cut, &both(), Depth::Headers)), [Code::Truncated]);
}

#[test]
fn an_empty_db_is_damage_and_not_a_world_of_day_0() {
    for depth in [Depth::Headers, Depth::Full] {
        let mut store = store(36);
        store.get("W.db").clear();
        let out = check(&store, &both(), depth);
        assert_eq!((codes(&out), verdict(&out)), (vec![Code::EmptyFile], Verdict::Damaged));
        assert!(out.findings[0].text.contains("world data file is empty"), "{:?}", out.findings);
        assert_eq!((out.facts.objects, out.facts.net_time), (None, None));
        assert_eq!(out.facts.to_facts().get("day"), Some(&crate::model::Value::Unknown));
    }
}

#[test]
fn metadata_alone_is_a_new_world_or_a_lost_one() {
    let parts = Parts::Pair { fwl: Some("W.fwl".into()), db: None };
    let alone = |version, needs| check(&MemoryStore::with([("W.fwl", kit::meta(version, needs))]), &parts, Depth::Full);
    let new = alone(36, false);
    assert_eq!((codes(&new), verdict(&new)), (vec![Code::NeverPlayed], Verdict::Unfinished));
    assert_eq!(new.facts.to_facts().get("objects"), None);
    let lost = alone(36, true);
    assert_eq!((codes(&lost), verdict(&lost)), (vec![Code::DataMissing], Verdict::Damaged));
    assert!(lost.findings[0].text.contains("Metadata only, world data missing"));
    assert_eq!(codes(&alone(29, true)), [Code::DataMissing]);
    assert_eq!(codes(&alone(42, true)), [Code::NewerVersion]);
    let none = check(&MemoryStore::default(), &Parts::Pair { fwl: None, db: None }, Depth::Full);
    assert_eq!(verdict(&none), Verdict::Unfinished);
}

#[test]
fn data_alone_gives_the_seed_back() {
    let parts = Parts::Pair { fwl: None, db: Some("W.db".into()) };
    let out = check(&MemoryStore::with([("W.db", kit::db(36, &things()))]), &parts, Depth::Full);
    assert_eq!(codes(&out), [Code::MetadataMissing, Code::SeedRecovered]);
    assert_eq!(verdict(&out), Verdict::Notes);
    assert_eq!((out.facts.seed_number, out.facts.seed_from), (Some(77), Some(SeedFrom::Recovered)));
    assert!(out.findings[1].text.contains("1 of 1"), "{:?}", out.findings[1]);
    let quick = check(&MemoryStore::with([("W.db", kit::db(36, &things()))]), &parts, Depth::Headers);
    assert_eq!((codes(&quick), quick.facts.seed_number), (vec![Code::MetadataMissing], None));
}

#[test]
fn a_seed_that_the_objects_deny_is_told() {
    let mut objects = things();
    let proxy = Thing { ints: vec![("seed", 900)], ..thing("LocationProxy", 0.0, 0.0) };
    objects.retain(|thing| thing.prefab != "LocationProxy");
    objects.extend(vec![proxy; 3]);
    let store = MemoryStore::with([("W.fwl", kit::meta(36, true)), ("W.db", kit::db(36, &objects))]);
    let out = check(&store, &both(), Depth::Full);
    assert_eq!((codes(&out), out.facts.seed_number), (vec![Code::OtherWorld], Some(77)));
}

#[test]
fn newer_and_older_versions_are_never_called_damaged() {
    for (version, code) in [(38, Code::NewerVersion), (99, Code::NewerVersion), (25, Code::OlderVersion)] {
        let mut store = store(36);
        store.get("W.db")[..4].copy_from_slice(&i32::to_le_bytes(version));
        store.get("W.db").truncate(600);
        let out = check(&store, &both(), Depth::Full);
        assert_eq!(verdict(&out), Verdict::Unsupported, "{:?}", out.findings);
        assert!(codes(&out).contains(&code));
        assert_eq!((out.facts.objects, out.facts.net_time), (Some(5), Some(22_050.0)), "the head still tells");
        assert_eq!(out.depth, Depth::Headers);
    }
    let mut store = store(36);
    store.get("W.fwl")[4] = 42;
    store.get("W.fwl").push(9);
    let out = check(&store, &both(), Depth::Full);
    assert!(verdict(&out) == Verdict::Unsupported && find(&out, Code::NewerVersion).text.contains("42"));
    assert_eq!(out.facts.name.as_deref(), Some("Holm"));
}

#[test]
fn bytes_that_are_no_save_at_all_are_damage() {
    let mut store = store(36);
    store.get("W.db").fill(0);
    let out = check(&store, &both(), Depth::Full);
    assert_eq!((verdict(&out), out.facts.objects), (Verdict::Damaged, None));
    assert!(find(&out, Code::BadValue).text.contains("no game ever wrote"));
}

#[test]
fn metadata_may_be_newer_than_the_data_but_not_older() {
    let out = |meta, data| {
        let files = [("W.fwl", kit::meta(meta, true)), ("W.db", kit::db(data, &things()))];
        verdict(&check(&MemoryStore::with(files), &both(), Depth::Full))
    };
    assert_eq!((out(37, 36), out(35, 36), out(36, 36)), (Verdict::Sound, Verdict::Notes, Verdict::Sound));
}

#[test]
fn a_wrong_length_and_left_over_metadata_are_told() {
    let mut store = store(36);
    store.get("W.fwl").push(0);
    assert_eq!(codes(&check(&store, &both(), Depth::Headers)), [Code::LengthMismatch]);
    store.get("W.fwl")[0] += 1;
    let out = check(&store, &both(), Depth::Headers);
    assert_eq!((codes(&out), verdict(&out)), (vec![Code::TrailingBytes], Verdict::Notes));
    let mut cut = self::store(36);
    cut.get("W.fwl").truncate(12);
    let out = check(&cut, &both(), Depth::Headers);
    assert_eq!(codes(&out), [Code::LengthMismatch, Code::BadLength], "{:?}", out.findings);
}

#[test]
fn a_lost_step_keeps_the_head_and_says_what_was_not_reached() {
    let mut objects: Vec<Thing> = (0_u8..40).map(|n| thing("Beech1", f32::from(n), 0.0)).collect();
    objects[20].prefab = "smelter";
    objects[20].ints = (0..300).map(|n| ("queued", 0x4040_4040 + n)).collect();
    let mut bytes = kit::head(32, objects.len());
    bytes.extend(objects.iter().flat_map(|object| kit::flat(object, 32)));
    bytes.extend(kit::zone_section(32));
    bytes.extend(kit::event(""));
    let store = MemoryStore::with([("W.fwl", kit::meta(32, true)), ("W.db", bytes)]);
    let out = check(&store, &both(), Depth::Full);
    assert_eq!(verdict(&out), Verdict::Damaged);
    let lost = &out.findings[0];
    assert_eq!((lost.place.object, lost.place.file.as_deref()), (Some(21), Some("W.db")));
    assert!(lost.text.contains("smelter") && lost.place.offset.is_some(), "{lost:?}");
    assert!(find(&out, Code::NotReached).text.starts_with("The zone section"), "{:?}", out.findings);
    assert_eq!((out.facts.objects, out.facts.zones, out.facts.pieces), (Some(40), None, None));
    assert_eq!(out.facts.name.as_deref(), Some("Holm"));
}

#[test]
fn many_wrong_sectors_are_one_finding() {
    let objects: Vec<Thing> =
        (0..200).map(|n| Thing { sector: (n % 2 == 0).then_some((9, 9)), ..thing("Beech1", 0.0, 0.0) }).collect();
    let store = MemoryStore::with([("W.fwl", kit::meta(36, true)), ("W.db", kit::db(36, &objects))]);
    let out = check(&store, &both(), Depth::Full);
    assert_eq!((codes(&out), out.findings[0].place.object), (vec![Code::SectorMismatch], Some(0)));
    assert!(out.findings[0].text.starts_with("100 objects"), "{:?}", out.findings[0]);
}

#[test]
fn left_over_bytes_are_damage_before_the_version_with_a_tail() {
    for (version, expected) in [(34, Verdict::Damaged), (36, Verdict::Sound)] {
        let mut store = store(version);
        store.get("W.db").extend([0; 12]);
        let out = check(&store, &both(), Depth::Full);
        assert_eq!((verdict(&out), codes(&out)), (expected, vec![Code::TrailingBytes]), "{version}");
        assert_eq!(out.facts.bytes_left, Some(12));
    }
}

#[test]
fn what_cannot_be_opened_is_not_damage() {
    let mut denied = store(36);
    denied.denied.push("W.db".into());
    let out = check(&denied, &both(), Depth::Full);
    assert_eq!((verdict(&out), out.vanished), (Verdict::Unreadable, false));
    let mut special = store(36);
    special.special.push("W.db".into());
    assert_eq!(codes(&check(&special, &both(), Depth::Full)), [Code::SpecialFile]);
    let mut context = context();
    context.ceilings.file = 100;
    let out = inspect(&store(36), &both(), Depth::Full, &context);
    assert_eq!((verdict(&out), out.depth), (Verdict::Unsupported, Depth::Headers));
}

#[test]
fn a_file_that_went_away_is_worth_another_look() {
    let mut store = store(36);
    store.gone.push("W.db".into());
    for depth in [Depth::Headers, Depth::Full] {
        let out = check(&store, &both(), depth);
        assert!(out.vanished && codes(&out) == [Code::MissingFile], "{:?}", out.findings);
        assert_eq!(out.findings[0].place.file.as_deref(), Some("W.db"));
    }
}

#[test]
fn a_cancelled_check_claims_no_depth_and_no_damage() {
    let context = context();
    context.cancel.stop();
    let out = inspect(&store(36), &both(), Depth::Full, &context);
    assert_eq!((codes(&out), out.depth, out.facts.pieces), (vec![], Depth::Headers, None));
    assert_eq!(out.facts.zones, None);
}

#[test]
fn every_cut_of_a_pair_is_damage_and_never_a_panic() {
    let whole = store(36);
    let length = whole.files[Path::new("W.db")].len();
    for cut in 0..length {
        let mut store = store(36);
        store.get("W.db").truncate(cut);
        let out = check(&store, &both(), Depth::Full);
        assert_eq!(verdict(&out), Verdict::Damaged, "cut at {cut}");
        assert!(out.findings.iter().all(|f| f.severity != Severity::Error || f.place.file.is_some()), "cut at {cut}");
    }
}

#[test]
fn metadata_of_megabytes_is_no_metadata() {
    let mut store = store(36);
    store.get("W.fwl").resize(5_000_000, 0);
    let out = check(&store, &both(), Depth::Headers);
    assert_eq!((codes(&out), verdict(&out)), (vec![Code::OverCeiling], Verdict::Damaged));
}

#[test]
fn names_that_could_steer_a_terminal_are_shown_as_escapes() {
    let path = PathBuf::from("W\u{1b}[2J.db");
    let parts = Parts::Pair { fwl: None, db: Some(path.clone()) };
    let out = check(&MemoryStore::with([(path, Vec::new())]), &parts, Depth::Full);
    assert!(out.findings.iter().all(|f| !f.text.contains('\u{1b}')), "{:?}", out.findings);
    assert!(out.findings.iter().all(|f| f.place.file.as_deref().is_none_or(|file| !file.contains('\u{1b}'))));
}
