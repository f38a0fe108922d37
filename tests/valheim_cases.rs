//! Public reports about Valheim worlds, each rebuilt on disk and shown as it should be shown.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

#[cfg(unix)]
#[path = "support/nobody.rs"]
mod nobody;

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use worldkeep::games::valheim::write::{Chunk, Location, Object, WorldPlan};
use worldkeep::model::{
    Cancel, Checked, Clock, Code, Finding, Found, Layer, LayerKind, Outcome, Severity, Verdict, World,
};
use worldkeep::scan::{self, Catalog, Request, Root};

const NOW: &str = "2026-11-30T12:00:00Z";

/// A save root in a folder of its own.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("worlds_local")).unwrap();
        Self { dir }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Makes a file as old as this many minutes before now.
    fn age(&self, path: &str, minutes: i64) {
        let at = now() - jiff::SignedDuration::from_mins(minutes);
        let file = fs::File::options().write(true).open(self.path(path)).unwrap();
        let since = std::time::Duration::from_secs(u64::try_from(at.as_second()).unwrap());
        file.set_modified(std::time::UNIX_EPOCH + since).unwrap();
    }

    fn pair(&self, stem: &str, plan: &WorldPlan) {
        let (fwl, db) = plan.to_pair(36);
        self.write(&format!("worlds_local/{stem}.fwl"), &fwl);
        self.write(&format!("worlds_local/{stem}.db"), &db);
    }

    /// A generation in a folder, an hour old; every chunk gets the generation's number plus two.
    fn generation(&self, folder: &str, plan: &WorldPlan, n: u32) {
        for (name, bytes) in plan.to_folder(41, n, |_| n + 2) {
            let path = format!("worlds_local/{folder}/{name}");
            self.write(&path, &bytes);
            self.age(&path, 60);
        }
    }

    fn request(&self) -> Request {
        request(self.dir.path())
    }

    fn scan(&self) -> Catalog {
        scan_path(self.dir.path())
    }

    fn world(&self, name: &str) -> World {
        let catalog = self.scan();
        let names: Vec<_> = catalog.profiles.iter().flat_map(|p| &p.worlds).map(|w| w.name.clone()).collect();
        let found = catalog.profiles.into_iter().flat_map(|p| p.worlds).find(|w| w.name == name);
        found.unwrap_or_else(|| panic!("no world {name} among {names:?}"))
    }

    fn check(&self, layer: &Layer) -> Checked {
        scan::check(&self.request(), "valheim", layer, &Cancel::new())
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn request(path: &Path) -> Request {
    Request {
        roots: vec![Root { path: path.to_path_buf(), found: Found::Argument, game: None, name: None }],
        clock: Clock::Fixed(now()),
        ..Request::default()
    }
}

fn scan_path(path: &Path) -> Catalog {
    let mut catalog = Catalog::default();
    scan::run(&request(path), &Cancel::new(), &mut |event| catalog.apply(event));
    assert!(catalog.complete);
    catalog
}

/// A world with things in four chunks of the grid, two of them near the middle, and one portal.
fn plan(name: &str, seed: &str, objects: usize) -> WorldPlan {
    let mut plan = WorldPlan::new(name, seed);
    plan.net_time = 12.25 * 1800.0;
    for n in 0..objects {
        let spread = |step: usize| (n * step % 900) as f32 - 450.0;
        plan.objects.push(Object::new("Beech1", [spread(37), 31.0, spread(53)]));
    }
    plan.objects.push(Object::new("wood_wall", [40.0, 33.0, 44.0]).built_by(7));
    plan.zones = (-3..=3).flat_map(|x| (-3..=3).map(move |z| (x, z))).collect();
    plan.locations = vec![Location::new("StartTemple", [3.0, 43.0, -5.0], true)];
    plan
}

fn find(findings: &[Finding], code: Code) -> &Finding {
    findings.iter().find(|f| f.code == code).unwrap_or_else(|| panic!("no {code:?} in {findings:#?}"))
}

fn live(world: &World) -> &Layer {
    world.live().unwrap_or_else(|| panic!("{} has no live layer", world.name))
}

fn layer(world: &World, kind: LayerKind) -> &Layer {
    world.layers.iter().find(|l| l.kind == kind).unwrap_or_else(|| panic!("no {kind:?} layer in {}", world.name))
}

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
fn case_13_a_rolling_save_is_a_layer_and_never_a_world() {
    let place = Place::new();
    place.pair("Grimhold", &plan("Grimhold", "a", 5));
    place.pair("Grimhold_20260909180000", &plan("Grimhold", "a", 4));
    place.pair("Lost_20260909180000", &plan("Lost", "b", 4));
    let names: Vec<String> = place.scan().profiles[0].worlds.iter().map(|w| w.name.clone()).collect();
    assert_eq!(names, ["Grimhold", "Lost"]);
    let world = place.world("Grimhold");
    let rolling = layer(&world, LayerKind::Rolling);
    assert!(rolling.rule.contains("rolling save of Grimhold"), "{}", rolling.rule);
    assert!(!rolling.orphan);
    let lost = place.world("Lost");
    assert!(layer(&lost, LayerKind::Rolling).orphan);
    find(&lost.findings, Code::OrphanLayers);
}

#[test]
fn case_14_an_underscore_date_is_a_world_with_a_hint_and_a_recovered_seed() {
    let place = Place::new();
    let mut dated = plan("CrumblyHeim", "a", 30);
    for (x, z) in [(0, 0), (1, 2), (-2, 1)] {
        let value = dated.seed.wrapping_add(x * 4271).wrapping_add(z * 9187);
        let position = [x as f32 * 64.0, 30.0, z as f32 * 64.0];
        dated.objects.push(Object::new("LocationProxy", position).int("seed", value));
    }
    place.write("worlds_local/CrumblyHeim_2025-06-25_18-10-21.db", &dated.data(36));
    let world = place.world("CrumblyHeim_2025-06-25_18-10-21");
    assert!(find(&world.findings, Code::DatedCopy).text.contains("CrumblyHeim"));
    let checked = place.check(live(&world));
    assert_eq!(checked.verdict, Verdict::Notes, "{:#?}", checked.findings);
    assert_eq!(find(&checked.findings, Code::MetadataMissing).severity, Severity::Warning);
    assert_eq!(checked.facts.int("seed_number"), Some(i64::from(dated.seed)));
    assert_eq!(checked.facts.text("seed_from"), Some("recovered"));
}

#[test]
fn case_15_a_half_backup_is_metadata_only_and_never_the_live_world() {
    let place = Place::new();
    let mut never_saved = plan("Creative", "a", 0);
    never_saved.saved = false;
    place.pair("Creative", &plan("Creative", "a", 5));
    place.age("worlds_local/Creative.db", 9000);
    place.write("worlds_local/Creative_backup_auto-20240205230236.fwl", &never_saved.metadata(36));
    let world = place.world("Creative");
    assert!(live(&world).path.ends_with("Creative.db") || live(&world).path.ends_with("Creative.fwl"));
    let half = layer(&world, LayerKind::Auto);
    assert!(!half.restorable);
    assert_ne!(half.verdict, Verdict::Sound);
}

#[test]
fn case_17_an_empty_worlds_local_shadows_worlds() {
    let place = Place::new();
    let (fwl, db) = plan("W", "a", 5).to_pair(36);
    place.write("worlds/W.fwl", &fwl);
    place.write("worlds/W.db", &db);
    let world = place.world("W");
    assert_eq!(world.place.as_deref(), Some("worlds"));
    assert_eq!(find(&world.findings, Code::OldFolder).severity, Severity::Warning);
}

#[test]
fn backups_alone_in_worlds_local_are_no_world_that_servers_load() {
    let place = Place::new();
    let (fwl, db) = plan("W", "a", 5).to_pair(36);
    place.write("worlds/W.fwl", &fwl);
    place.write("worlds/W.db", &db);
    place.pair("W_backup_auto-20260909-180000", &plan("W", "a", 5));
    let catalog = place.scan();
    let old = catalog.profiles[0].worlds.iter().find(|w| w.place.as_deref() == Some("worlds")).unwrap();
    let finding = find(&old.findings, Code::OldFolder);
    assert_eq!(finding.severity, Severity::Warning, "{}", finding.text);
    place.pair("W", &plan("W", "a", 5));
    let catalog = place.scan();
    let old = catalog.profiles[0].worlds.iter().find(|w| w.place.as_deref() == Some("worlds")).unwrap();
    assert!(find(&old.findings, Code::OldFolder).text.contains("in worlds_local too"));
}

#[test]
fn case_19_a_folder_wins_and_the_hidden_pair_is_named() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    place.pair("W", &plan("W", "a", 10));
    let (fwl, db) = plan("W", "a", 5).to_pair(36);
    place.write("worlds/W.fwl", &fwl);
    place.write("worlds/W.db", &db);
    place.pair("W_backup_20260909-180000", &plan("W", "a", 9));
    let catalog = place.scan();
    let worlds = &catalog.profiles[0].worlds;
    assert_eq!(worlds.iter().map(|w| w.place.as_deref()).collect::<Vec<_>>(), [Some("worlds_local"), Some("worlds")]);
    let ids: std::collections::BTreeSet<_> = worlds.iter().map(|w| &w.id).collect();
    assert_eq!(ids.len(), 2);
    let first = &worlds[0];
    assert_eq!(live(first).shape, worldkeep::model::Shape::ValheimFolder);
    assert!(find(&first.findings, Code::HiddenPair).text.contains("W.fwl"));
    let hidden = first.layers.iter().find(|l| l.key() == "hidden-pair").unwrap();
    assert!(hidden.rule.contains("hides"), "{}", hidden.rule);
    let converted = first.layers.iter().find(|l| l.key() == "pre-conversion-20260909-180000").unwrap();
    assert_eq!(converted.kind, LayerKind::PreConversion);
    assert!(converted.restorable);
}

#[test]
fn case_20_a_backup_of_another_world_of_that_name_is_told_before_anything_else() {
    let place = Place::new();
    place.pair("W", &plan("W", "seed A", 20));
    place.pair("W_backup_auto-20260909-180000", &plan("W", "seed B", 20));
    let world = place.world("W");
    let backup = layer(&world, LayerKind::Auto);
    let finding = find(&backup.relations, Code::OtherWorld);
    assert!(finding.text.contains("seed"), "{}", finding.text);
    assert_eq!(backup.verdict, Verdict::Notes);
    let mut after = backup.clone();
    after.apply(place.check(backup));
    assert_eq!(after.verdict, Verdict::Notes, "a deeper check keeps what the world says of it");
}

#[cfg(unix)]
#[test]
fn case_22_a_world_folder_that_cannot_be_entered_is_not_an_empty_world() {
    use std::os::unix::fs::PermissionsExt;
    if nobody::done_as_nobody("case_22_a_world_folder_that_cannot_be_entered_is_not_an_empty_world") {
        return;
    }
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    let folder = place.path("worlds_local/W");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o644)).unwrap();
    let world = place.world("W");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(live(&world).verdict, Verdict::Unreadable, "{:#?}", live(&world).findings);
    assert!(find(&live(&world).findings, Code::NoPermission).text.contains("0644"));
}

#[cfg(unix)]
#[test]
fn case_23_a_world_that_may_be_read_and_not_written_says_so_and_is_whole() {
    use std::os::unix::fs::PermissionsExt;
    if nobody::done_as_nobody("case_23_a_world_that_may_be_read_and_not_written_says_so_and_is_whole") {
        return;
    }
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 3);
    let folder = place.path("worlds_local/W");
    assert!(place.world("W").findings.iter().all(|f| f.code != Code::NotWritable));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let world = place.world("W");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let finding = find(&world.findings, Code::NotWritable);
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.text.contains("mode 0555"), "{}", finding.text);
    assert_eq!(world.verdict(), Verdict::Sound);
}

#[test]
fn case_26_a_tiny_archive_is_no_reason_to_fail_and_its_size_is_seen() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 20));
    // An archive of nothing: two blocks of zeros, compressed.
    let empty = worldkeep::games::valheim::write::gzip(&[0; 1024]);
    place.write("backups/world-20261130.tgz", &empty);
    let world = place.world("W");
    assert_eq!(world.layers.len(), 1);
    let catalog = scan_path(&place.path("backups/world-20261130.tgz"));
    assert!(catalog.profiles.is_empty());
    assert_eq!(catalog.looked[0].outcome, Outcome::Nothing);
}

#[test]
fn case_27_a_junk_folder_is_named_since_a_server_may_hang_on_it() {
    let place = Place::new();
    place.pair("Ulfsland", &plan("Ulfsland", "a", 5));
    place.write("worlds_local/Ulfsland.halfcreated-192409/readme.txt", b"odd");
    let catalog = place.scan();
    let finding = find(&catalog.profiles[0].findings, Code::JunkFolder);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.text.contains("may hang"), "{}", finding.text);
    assert_eq!(catalog.profiles[0].worlds.len(), 1);
}

#[test]
fn case_29_world_data_alone_is_listed_and_says_what_is_missing() {
    let place = Place::new();
    place.write("worlds_local/W_backup_auto-20260909-180000.db", &plan("W", "a", 9).data(36));
    let world = place.world("W");
    let backup = layer(&world, LayerKind::Auto);
    assert_eq!(backup.verdict, Verdict::Notes);
    assert!(backup.reason.as_deref().is_some_and(|r| r.contains(".fwl")), "{:?}", backup.reason);
    assert_eq!(backup.facts.int("objects"), Some(10));
}

#[test]
fn case_31_a_folder_with_only_a_map_cache_is_no_world() {
    let place = Place::new();
    place.write("worlds_local/W/cacheMinimapBiome", b"x");
    place.write("worlds_local/W/cacheMinimapMeta", b"x");
    let catalog = place.scan();
    assert!(catalog.profiles[0].worlds.is_empty());
    assert_eq!(find(&catalog.profiles[0].findings, Code::MapCacheOnly).severity, Severity::Note);
}

#[test]
fn case_32_a_folder_that_moves_on_while_it_is_read_is_read_again_in_silence() {
    let place = Place::new();
    let world_plan = plan("W", "a", 40);
    place.generation("W", &world_plan, 3);
    let listed = place.world("W");
    // A save lands after the listing: new chunks, a new generation, and the old files go.
    place.generation("W", &world_plan, 4);
    for entry in fs::read_dir(place.path("worlds_local/W")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with("_main.3.") || name.ends_with("_5.chunk") {
            fs::remove_file(place.path(&format!("worlds_local/W/{name}"))).unwrap();
        }
    }
    let mut layer = live(&listed).clone();
    layer.apply(place.check(&layer));
    assert_eq!((layer.verdict, layer.findings.len()), (Verdict::Sound, 0), "{:#?}", layer.findings);
}

#[test]
fn case_32_a_live_half_that_comes_back_is_no_damage() {
    let place = Place::new();
    let world_plan = plan("W", "a", 40);
    place.pair("W", &world_plan);
    fs::remove_file(place.path("worlds_local/W.db")).unwrap();
    let (path, data) = (place.path("worlds_local/W.db"), world_plan.data(36));
    let mut catalog = Catalog::default();
    let mut seen_missing = false;
    scan::run(&place.request(), &Cancel::new(), &mut |event| {
        if let scan::Event::World { world, .. } = &event
            && live(world).verdict == Verdict::Damaged
        {
            seen_missing = true;
            fs::write(&path, &data).unwrap();
        }
        catalog.apply(event);
    });
    assert!(seen_missing);
    assert_eq!(catalog.profiles[0].worlds[0].verdict(), Verdict::Sound);
}

#[test]
fn case_32_a_live_half_that_stays_away_is_damage() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 40));
    fs::remove_file(place.path("worlds_local/W.db")).unwrap();
    let world = place.world("W");
    assert_eq!(live(&world).verdict, Verdict::Damaged);
    find(&live(&world).findings, Code::DataMissing);
}

#[test]
fn names_that_differ_only_in_case_are_warned_about() {
    let place = Place::new();
    place.pair("Dedicated", &plan("Dedicated", "a", 5));
    place.pair("dedicated", &plan("dedicated", "b", 5));
    if place.scan().profiles[0].worlds.len() < 2 {
        eprintln!("skipped: this file system folds case");
        return;
    }
    assert!(find(&place.world("Dedicated").findings, Code::CaseTwin).text.contains("dedicated"));
    assert!(find(&place.world("dedicated").findings, Code::CaseTwin).text.contains("Dedicated"));
}

#[test]
fn a_name_inside_that_differs_is_told() {
    let place = Place::new();
    place.pair("Disk", &plan("Inside", "a", 5));
    let world = place.world("Disk");
    assert_eq!(world.inner_name.as_deref(), Some("Inside"));
    assert!(find(&world.findings, Code::NameDiffers).text.contains("Inside"));
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
fn a_nested_world_is_found_and_named() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    place.write("worlds_local/old stuff/Deep.fwl", b"x");
    place.write("worlds_local/old stuff/Deep.db", b"x");
    let catalog = place.scan();
    let finding = find(&catalog.profiles[0].findings, Code::NestedWorld);
    assert!(finding.text.contains("Deep"), "{}", finding.text);
}

#[test]
fn a_stray_folder_whose_name_ends_in_a_stamp_makes_no_world() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    place.write("worlds_local/old_20260912200308/Deep.fwl", b"x");
    place.write("worlds_local/notes_20260912200308/read.me", b"x");
    place.generation("Lost_20260912200308", &plan("Lost", "a", 5), 3);
    let catalog = place.scan();
    let names: Vec<_> = catalog.profiles[0].worlds.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(names, ["Lost", "W"]);
    let findings = &catalog.profiles[0].findings;
    assert!(find(findings, Code::NestedWorld).text.contains("Deep"), "{findings:#?}");
    assert!(find(findings, Code::JunkFolder).text.contains("notes_20260912200308"), "{findings:#?}");
}

#[test]
fn the_worlds_folder_itself_names_a_nested_world_as_its_root_does() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 5), 3);
    place.write("worlds_local/aaa/Deep.fwl", b"x");
    let catalog = scan_path(&place.path("worlds_local"));
    assert_eq!(catalog.profiles.len(), 1);
    let names: Vec<_> = catalog.profiles[0].worlds.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(names, ["W"]);
    assert!(find(&catalog.profiles[0].findings, Code::NestedWorld).text.contains("Deep"));
}

#[test]
fn a_folder_of_somebody_else_is_no_world() {
    let place = Place::new();
    place.write("code/app/_main.py", b"x");
    let catalog = scan_path(&place.path("code"));
    assert!(catalog.profiles.is_empty(), "{:#?}", catalog.profiles);
}

#[cfg(unix)]
#[test]
fn a_world_behind_a_link_is_read_and_one_behind_a_dead_link_is_missed_aloud() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.generation("Far", &plan("Far", "a", 20), 3);
    fs::create_dir(place.path("disk")).unwrap();
    fs::rename(place.path("worlds_local/Far"), place.path("disk/Far")).unwrap();
    symlink(place.path("disk/Far"), place.path("worlds_local/Far")).unwrap();
    symlink(place.path("unmounted/Gone"), place.path("worlds_local/Gone")).unwrap();
    let catalog = place.scan();
    let far = live(&catalog.profiles[0].worlds[0]);
    assert_eq!((far.generation, place.check(far).verdict), (Some(3), Verdict::Sound));
    let finding = find(&catalog.profiles[0].findings, Code::SpecialFile);
    assert!(finding.text.contains("Gone") && finding.severity == Severity::Warning, "{finding:?}");
}

#[cfg(unix)]
#[test]
fn a_worlds_folder_behind_a_dead_link_is_named() {
    let place = Place::new();
    fs::remove_dir(place.path("worlds_local")).unwrap();
    std::os::unix::fs::symlink(place.path("unmounted"), place.path("worlds_local")).unwrap();
    let catalog = place.scan();
    assert_eq!(catalog.profiles.len(), 1);
    let findings = &catalog.profiles[0].findings;
    assert!(findings.iter().any(|f| f.text.contains("worlds_local")), "{findings:#?}");
}

#[test]
fn thousands_of_generations_in_one_folder_are_counted_and_not_each_a_layer() {
    let place = Place::new();
    place.generation("W", &plan("W", "a", 20), 5000);
    for n in 0..5000 {
        place.write(&format!("worlds_local/W/_main.{n}.ok"), b"\x29\0\0\0");
        place.write(&format!("worlds_local/W/_main.{}.ok", n + 6000), b"\x29\0\0\0");
    }
    let world = place.world("W");
    assert_eq!(live(&world).generation, Some(5000));
    assert!(world.layers.len() < 100, "{}", world.layers.len());
    assert!(live(&world).findings.len() < 100, "{}", live(&world).findings.len());
    assert!(find(&world.findings, Code::TooMany).text.contains("9936"), "{:#?}", world.findings);
}

#[test]
fn ids_are_unique_and_a_name_may_hold_an_at_sign() {
    let place = Place::new();
    place.pair("a@b", &plan("a@b", "a", 5));
    for (folder, objects) in [("backups", 6), ("worlds_local", 7)] {
        let (fwl, db) = plan("a@b", "a", objects).to_pair(36);
        fs::create_dir_all(place.path(folder)).unwrap();
        let file = fs::File::create(place.path(folder).join("copy@home.zip")).unwrap();
        let mut zip = zip::ZipWriter::new(file);
        for (name, bytes) in [("worlds_local/a@b.fwl", fwl), ("worlds_local/a@b.db", db)] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut zip, &bytes).unwrap();
        }
        zip.finish().unwrap();
    }
    let world = place.world("a@b");
    let ids: std::collections::BTreeSet<_> = world.layers.iter().map(|l| l.id.as_str()).collect();
    assert_eq!((world.layers.len(), ids.len()), (3, 3), "{ids:?}");
    assert!(world.layers.iter().skip(1).all(|l| l.key().starts_with("archive-")), "{ids:?}");
}

#[test]
fn the_path_of_one_file_lists_its_world_alone() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    place.pair("V", &plan("V", "b", 5));
    place.generation("F", &plan("F", "c", 5), 3);
    for (path, name) in [("W.db", "W"), ("V.fwl", "V"), ("F", "F"), ("F/_main.3.ok", "F"), ("F/20_20__1_5.chunk", "F")]
    {
        let catalog = scan_path(&place.path("worlds_local").join(path));
        let names: Vec<_> = catalog.profiles.iter().flat_map(|p| &p.worlds).map(|w| w.name.as_str()).collect();
        assert_eq!(names, [name], "{path}");
    }
}

#[test]
fn a_world_in_an_archive_beside_the_worlds_is_a_layer_of_its_world() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 20));
    let mut zip = zip::ZipWriter::new(
        fs::File::create({
            fs::create_dir(place.path("backups")).unwrap();
            place.path("backups/worlds-20261129-040000.zip")
        })
        .unwrap(),
    );
    let (fwl, db) = plan("W", "a", 10).to_pair(36);
    for (name, bytes) in [("worlds_local/W.fwl", fwl), ("worlds_local/W.db", db)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &bytes).unwrap();
    }
    zip.finish().unwrap();
    let world = place.world("W");
    let archived = layer(&world, LayerKind::Archive);
    assert_eq!(archived.facts.int("objects"), Some(11));
    assert!(archived.rule.contains("worlds-20261129-040000.zip"), "{}", archived.rule);
    let checked = place.check(archived);
    assert_eq!((checked.verdict, checked.facts.int("bytes_left")), (Verdict::Sound, Some(0)));
}

#[test]
fn case_20_timed_backups_of_a_deleted_world_are_at_risk() {
    let place = Place::new();
    place.pair("W_backup_auto-20260909-180000", &plan("W", "a", 20));
    let world = place.world("W");
    assert!(layer(&world, LayerKind::Auto).orphan);
    assert_eq!(find(&world.findings, Code::PruneRisk).severity, Severity::Warning);
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

#[test]
fn a_folder_with_the_name_of_a_backup_and_no_save_is_named() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    place.write("worlds_local/W_backup_auto-20260909-180000/readme.txt", b"x");
    let world = place.world("W");
    assert_eq!(world.layers.len(), 1);
    assert!(find(&world.findings, Code::JunkFolder).text.contains("holds no save"));
}
