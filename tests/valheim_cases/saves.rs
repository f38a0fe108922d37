//! Saves that are half written, torn, lost or too new.

use std::fs;

use worldkeep::games::valheim::write::{Chunk, Object, WorldPlan};
use worldkeep::model::{Code, LayerKind, Severity, Verdict, World};

use crate::place::{Place, find, layer, live, plan};

#[test]
fn case_1_a_newest_generation_without_db2_is_an_error_on_the_live_layer() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    for part in ["fwl2", "chunks", "ok"] {
        let bytes = fs::read(place.path(&format!("worlds_local/W/_main.3.{part}"))).unwrap();
        place.write(&format!("worlds_local/W/_main.4.{part}"), &bytes);
    }
    let world = place.world("W");
    let live = live(&world);
    assert_eq!((live.generation, live.verdict), (Some(3), Verdict::Damaged));
    let finding = find(&live.findings, Code::NewestIncomplete);
    assert_eq!(finding.severity, Severity::Error);
    for words in ["save 4", "no .db2", "complete save is 3", "same seed"] {
        assert!(finding.text.contains(words), "{words}: {}", finding.text);
    }
    assert!(finding.next.contains("Do not start the server"), "{}", finding.next);
    assert_eq!(layer(&world, LayerKind::Generation).verdict, Verdict::Damaged);
    assert!(place.path("worlds_local/W/_main.4.ok").exists(), "nothing is tidied");
}

#[test]
fn case_2_a_save_without_ok_is_being_written_while_young_and_interrupted_when_old() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    for part in ["fwl2", "db2", "chunks"] {
        let bytes = fs::read(place.path(&format!("worlds_local/W/_main.3.{part}"))).unwrap();
        place.write(&format!("worlds_local/W/_main.4.{part}"), &bytes);
        place.age(&format!("worlds_local/W/_main.4.{part}"), 2);
    }
    place.write("worlds_local/W/20_20__1_6.chunk", b"\x29\0\0\0\0\0");
    let world = place.world("W");
    assert_eq!(live(&world).generation, Some(3));
    let finding = find(&live(&world).findings, Code::SaveInProgress);
    assert_eq!(finding.severity, Severity::Note);
    let own = layer(&world, LayerKind::Generation);
    assert_eq!((own.generation, own.verdict, own.restorable), (Some(4), Verdict::Unfinished, false));
    let checked = place.check(live(&world));
    assert_eq!(checked.verdict, Verdict::Sound, "{:#?}", checked.findings);
    assert_eq!(find(&checked.findings, Code::OrphanChunk).severity, Severity::Note);

    for part in ["fwl2", "db2", "chunks"] {
        place.age(&format!("worlds_local/W/_main.4.{part}"), 11);
    }
    let world = place.world("W");
    assert_eq!(find(&live(&world).findings, Code::SaveInterrupted).severity, Severity::Warning);
    assert_eq!(live(&world).verdict, Verdict::Notes);
}

#[test]
fn case_2_files_that_a_save_has_only_half_written_are_no_damage() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    let index = fs::read(place.path("worlds_local/W/_main.3.chunks")).unwrap();
    place.write("worlds_local/W/_main.4.chunks", &index[..15]);
    place.write("worlds_local/W/_main.4.db2", b"");
    for part in ["chunks", "db2"] {
        place.age(&format!("worlds_local/W/_main.4.{part}"), 0);
    }
    let world = place.world("W");
    let own = layer(&world, LayerKind::Generation);
    assert_eq!((own.generation, own.verdict), (Some(4), Verdict::Unfinished), "{:#?}", own.findings);
    assert_eq!(own.findings.len(), 1, "{:#?}", own.findings);
    assert_eq!(place.check(own).findings, own.findings);
    assert_eq!(world.verdict(), Verdict::Sound);
}

#[test]
fn a_save_that_the_game_is_deleting_is_no_damage() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 4);
    for part in ["fwl2", "ok"] {
        let bytes = fs::read(place.path(&format!("worlds_local/W/_main.4.{part}"))).unwrap();
        place.write(&format!("worlds_local/W/_main.3.{part}"), &bytes);
    }
    let world = place.world("W");
    assert_eq!((live(&world).generation, live(&world).verdict), (Some(4), Verdict::Sound));
    let rest = layer(&world, LayerKind::Generation);
    assert_eq!((rest.verdict, rest.restorable), (Verdict::Unfinished, false), "{:#?}", rest.findings);
    assert!(find(&rest.findings, Code::NoFinishedSave).text.contains("save 4 replaced it"));

    // All four files are still there, and a chunk that only they name is gone.
    place.generation("V", &plan("V", "a", 20), 3);
    place.generation("V", &plan("V", "a", 20), 4);
    fs::remove_file(place.path("worlds_local/V/20_20__1_5.chunk")).unwrap();
    let world = place.world("V");
    let rest = layer(&world, LayerKind::Generation);
    assert_eq!((rest.generation, rest.verdict), (Some(3), Verdict::Unfinished), "{:#?}", rest.findings);
    let checked = place.check(rest);
    assert_eq!(checked.verdict, Verdict::Unfinished, "{:#?}", checked.findings);
    assert!(checked.findings.iter().all(|f| f.code != Code::Vanished), "{:#?}", checked.findings);
}

#[test]
fn the_first_save_of_a_new_world_is_no_reason_to_stop_the_server() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 1);
    fs::remove_file(place.path("worlds_local/W/_main.1.ok")).unwrap();
    place.write("worlds_local/W/_main.0.fwl2", &plan("W", "a", 0).metadata(41));
    for part in ["chunks", "db2", "fwl2"] {
        place.age(&format!("worlds_local/W/_main.1.{part}"), 1);
    }
    let world = place.world("W");
    assert_eq!(live(&world).verdict, Verdict::Unfinished);
    let codes: Vec<_> = live(&world).findings.iter().map(|f| f.code).collect();
    assert_eq!(codes, [Code::SaveInProgress], "{:#?}", live(&world).findings);
    place.age("worlds_local/W/_main.1.chunks", 30);
    place.age("worlds_local/W/_main.1.db2", 30);
    place.age("worlds_local/W/_main.1.fwl2", 30);
    find(&live(&place.world("W")).findings, Code::NoFinishedSave);
}

#[test]
fn a_pair_that_is_being_written_is_neither_damage_nor_left_over() {
    let place = Place::new();
    let world_plan = plan("W", "a", 50);
    place.pair("W", &world_plan);
    place.write("worlds_local/W.db.new", &world_plan.data(36)[..500]);
    place.age("worlds_local/W.db.new", 1);
    let stray = |world: &World| layer(world, LayerKind::Stray).clone();
    let young = stray(&place.world("W"));
    find(&young.findings, Code::SaveInProgress);
    for findings in [young.findings.clone(), place.check(&young).findings] {
        assert_eq!(Verdict::from_findings(&findings), Verdict::Unfinished, "{findings:#?}");
    }
    assert!(!young.restorable);
    place.age("worlds_local/W.db.new", 60);
    let old = stray(&place.world("W"));
    find(&old.findings, Code::SaveInterrupted);
    assert_eq!(old.verdict, Verdict::Unfinished);
}

#[test]
fn case_3_a_backup_with_only_metadata_holds_no_finished_save() {
    let place = Place::new();
    let fresh = plan("W", "a", 0);
    place.generation("W", &plan("W", "a", 20), 3);
    place.write("worlds_local/W_backup_auto-20260912-200308/_main.0.fwl2", &fresh.metadata(41));
    place.write("worlds_local/New/_main.0.fwl2", &WorldPlan::new("New", "b").metadata(41));
    let world = place.world("W");
    let backup = layer(&world, LayerKind::Auto);
    assert_eq!((backup.verdict, backup.restorable), (Verdict::Unfinished, false));
    let said = "This snapshot holds no finished save, so there is nothing to restore from it yet.";
    assert_eq!(backup.reason.as_deref(), Some(said));
    assert_eq!(find(&backup.findings, Code::NoFinishedSave).text, said);
    let new = place.world("New");
    assert_eq!(live(&new).verdict, Verdict::Unfinished);
    find(&live(&new).findings, Code::NeverPlayed);
    for (who, findings) in [("backup", &backup.findings), ("new world", &live(&new).findings)] {
        assert_eq!(findings.len(), 1, "{who}: told once: {findings:#?}");
    }
}

#[test]
fn case_4_a_torn_db2_is_damage_at_an_exact_place_and_chunks_are_told_apart() {
    type Breaking = fn(&mut Vec<u8>);
    let variants: [(&str, Breaking); 4] = [
        ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("a byte in the gzip flipped", |bytes| bytes[60] ^= 0x55),
        ("the length field zeroed", |bytes| bytes[12..16].fill(0)),
        ("the length beyond the end", |bytes| bytes[12..16].copy_from_slice(&1_000_000_i32.to_le_bytes())),
    ];
    for (what, break_it) in variants {
        let place = Place::new();
        place.generation("W", &plan("W", "a", 20), 3);
        let path = place.path("worlds_local/W/_main.3.db2");
        let mut bytes = fs::read(&path).unwrap();
        break_it(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let world = place.world("W");
        let checked = place.check(live(&world));
        assert_eq!(checked.verdict, Verdict::Damaged, "{what}");
        let errors: Vec<_> = checked.findings.iter().filter(|f| f.severity == Severity::Error).collect();
        assert!(!errors.is_empty(), "{what}");
        for error in errors {
            assert!(error.place.file.as_deref().is_some_and(|f| f.ends_with("_main.3.db2")), "{what}: {error:?}");
            let placed = error.place.offset.is_some() || error.code == Code::NotReached;
            assert!(placed, "{what}: {error:?}");
        }
        assert_eq!(checked.facts.int("objects"), Some(21), "{what}: the chunks are whole and still counted");
    }
}

#[test]
fn case_5_a_world_data_file_of_zero_bytes_is_damaged_and_not_a_world_of_no_objects() {
    let place = Place::new();
    let full = plan("W", "a", 50);
    place.pair("W", &full);
    place.write("worlds_local/W.db.old", &full.data(36));
    place.write("worlds_local/W.fwl.old", &full.metadata(36));
    place.write("worlds_local/W.db", b"");
    let world = place.world("W");
    assert_eq!(live(&world).verdict, Verdict::Damaged);
    find(&live(&world).findings, Code::EmptyFile);
    assert_eq!((live(&world).facts.int("objects"), live(&world).facts.int("day")), (None, None));
    let old = layer(&world, LayerKind::Previous);
    assert_eq!((old.facts.int("objects"), old.facts.int("day")), (Some(51), Some(12)));
    assert!(old.restorable);
}

#[test]
fn case_5_a_previous_save_without_its_own_metadata_is_offered() {
    let place = Place::new();
    let full = plan("W", "a", 50);
    place.pair("W", &full);
    place.write("worlds_local/W.db.old", &full.data(36));
    place.write("worlds_local/W.db", b"");
    let world = place.world("W");
    let old = layer(&world, LayerKind::Previous);
    assert!(old.restorable, "{:?}", old.reason);
    assert!(old.reason.as_deref().is_some_and(|r| r.contains(".fwl.old")), "{:?}", old.reason);
    fs::remove_file(place.path("worlds_local/W.fwl")).unwrap();
    assert!(!layer(&place.world("W"), LayerKind::Previous).restorable, "nothing can serve for its metadata");
}

#[test]
fn case_6_a_fresh_world_beside_a_big_old_one_is_called_smaller() {
    let place = Place::new();
    let mut fresh = plan("W", "a", 80);
    fresh.net_time = 2040.0;
    place.pair("W", &fresh);
    let old = plan("W", "a", 5000);
    place.write("worlds_local/W.fwl.old", &old.metadata(36));
    place.write("worlds_local/W.db.old", &old.data(36));
    place.write("worlds_local/W.db.backup", b"by hand");
    let world = place.world("W");
    let finding = find(&world.findings, Code::LiveSmaller);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.text.contains("day 1, 81 objects") && finding.text.contains("day 12, 5,001 objects"),
        "{}",
        finding.text
    );
    assert!(find(&world.findings, Code::ExtraFile).text.contains("W.db.backup"));
}

#[test]
fn case_9_a_newer_version_is_unsupported_and_never_damaged() {
    let place = Place::new();
    let world_plan = plan("W", "a", 5);
    place.write("worlds_local/W.fwl", &world_plan.metadata(36));
    let mut db = world_plan.data(36);
    db[..4].copy_from_slice(&99_i32.to_le_bytes());
    place.write("worlds_local/W.db", &db);
    place.generation("F", &plan("F", "b", 5), 3);
    for part in ["fwl2", "db2", "ok"] {
        let path = place.path(&format!("worlds_local/F/_main.3.{part}"));
        let mut bytes = fs::read(&path).unwrap();
        let at = if part == "fwl2" { 4 } else { 0 };
        bytes[at..at + 4].copy_from_slice(&42_i32.to_le_bytes());
        fs::write(path, bytes).unwrap();
    }
    let path = place.path("worlds_local/F/_main.3.chunks");
    let mut index = fs::read(&path).unwrap();
    index[..2].copy_from_slice(&42_u16.to_le_bytes());
    fs::write(path, index).unwrap();
    for name in ["W", "F"] {
        let world = place.world(name);
        for (depth, verdict, findings) in [
            (1, live(&world).verdict, live(&world).findings.clone()),
            (2, place.check(live(&world)).verdict, place.check(live(&world)).findings),
        ] {
            assert_eq!(verdict, Verdict::Unsupported, "{name} at depth {depth}: {findings:#?}");
            assert_eq!(find(&findings, Code::NewerVersion).severity, Severity::Error);
        }
        assert_eq!(live(&world).facts.text("seed"), Some(if name == "W" { "a" } else { "b" }));
    }
}

#[test]
fn case_10_an_index_that_covers_an_area_twice_is_a_warning() {
    let place = Place::new();
    let world_plan = plan("W", "a", 60);
    place.generation("W", &world_plan, 3);
    // The same area again, one size smaller, as a stale entry of the index.
    let small: Vec<_> =
        world_plan.objects.iter().filter(|o| Chunk::of(o, 0).file_name(2) == "20_20__0_2.chunk").collect();
    assert!(!small.is_empty());
    let mut index = fs::read(place.path("worlds_local/W/_main.3.chunks")).unwrap();
    let stale = WorldPlan { objects: small.into_iter().cloned().collect(), chunk_size: 0, ..world_plan.clone() };
    for (name, bytes) in stale.to_folder(41, 9, |_| 2) {
        if name == "20_20__0_2.chunk" {
            place.write("worlds_local/W/20_20__0_2.chunk", &bytes);
        } else if name == "_main.9.chunks" {
            let count = i32::from_le_bytes(index[6..10].try_into().unwrap()) + 1;
            let total =
                i32::from_le_bytes(index[2..6].try_into().unwrap()) + i32::try_from(stale.objects.len()).unwrap();
            index[2..6].copy_from_slice(&total.to_le_bytes());
            index[6..10].copy_from_slice(&count.to_le_bytes());
            index.extend_from_slice(&bytes[10..21]);
        }
    }
    fs::write(place.path("worlds_local/W/_main.3.chunks"), index).unwrap();
    let world = place.world("W");
    let checked = place.check(live(&world));
    assert_eq!(find(&checked.findings, Code::OverlappingChunks).severity, Severity::Warning, "{:#?}", checked.findings);
}

#[test]
fn case_11_a_missing_chunk_says_how_much_is_lost_and_where() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 200), 3);
    let chunk = "20_20__1_5.chunk";
    let objects = fs::read(place.path(&format!("worlds_local/W/{chunk}"))).unwrap();
    let lost = i32::from_le_bytes(objects[2..6].try_into().unwrap());
    fs::remove_file(place.path(&format!("worlds_local/W/{chunk}"))).unwrap();
    let world = place.world("W");
    assert_eq!(live(&world).verdict, Verdict::Damaged, "seen without reading the chunks");
    let checked = place.check(live(&world));
    let finding = find(&checked.findings, Code::MissingFile);
    assert!(finding.text.contains(&lost.to_string()), "{}", finding.text);
    assert!(finding.place.chunk.as_deref().is_some_and(|c| c.contains("20_20__1_5")), "{finding:?}");
    find(&checked.findings, Code::Vanished);
}

#[test]
fn case_11_a_count_that_differs_from_the_index_is_damage() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 200), 3);
    let path = place.path("worlds_local/W/20_20__1_5.chunk");
    let mut bytes = fs::read(&path).unwrap();
    bytes[2] = bytes[2].wrapping_add(1);
    fs::write(path, bytes).unwrap();
    let world = place.world("W");
    let checked = place.check(live(&world));
    assert_eq!(checked.verdict, Verdict::Damaged);
    find(&checked.findings, Code::CountMismatch);
}

#[test]
fn a_live_pair_says_that_a_1_0_server_converts_it() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    let world = place.world("W");
    let finding = find(&live(&world).findings, Code::ConvertsOnSave);
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.next.contains("copy both files"), "{}", finding.next);
    assert_eq!(live(&world).verdict, Verdict::Sound);
    assert!(world.opens_with.is_some_and(|o| o.contains("converts")));
}

#[test]
fn a_fifth_file_makes_the_game_pass_a_generation_over() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    place.write("worlds_local/W/_main.3.copy", b"x");
    place.generation("V", &plan("V", "a", 20), 3);
    place.write("worlds_local/V/_main.bak.txt", b"x");
    let world = place.world("W");
    let finding = find(&live(&world).findings, Code::ExtraFile);
    assert!(finding.severity == Severity::Error && finding.text.contains("5 files"), "{}", finding.text);
    let world = place.world("V");
    let finding = find(&live(&world).findings, Code::ExtraFile);
    assert!(finding.severity == Severity::Error && finding.text.contains("whole folder"), "{}", finding.text);
}

#[test]
fn case_6_a_world_that_nobody_entered_says_so() {
    let place = Place::new();
    let mut idle = WorldPlan::new("W", "a");
    idle.zones = vec![(15_625, 15_625), (15_626, 15_625)];
    idle.objects = vec![Object::new("_ZoneCtrl", [1_000_000.0, 0.0, 1_000_000.0])];
    place.pair("W", &idle);
    let world = place.world("W");
    let checked = place.check(live(&world));
    assert_eq!(find(&checked.findings, Code::NeverVisited).severity, Severity::Note);
    assert_eq!((checked.facts.int("zones"), checked.facts.int("zones_idle")), (Some(0), Some(2)));
}
