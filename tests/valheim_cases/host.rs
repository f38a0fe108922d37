//! The machine around a save: rights, disks, neighbours, a server that writes meanwhile.

use std::fs;

use worldkeep::model::{Cancel, Code, LayerKind, Outcome, Severity, Verdict};
use worldkeep::scan::{self, Catalog};

#[cfg(unix)]
use crate::nobody;
use crate::place::{Place, find, layer, live, plan, scan_path};

#[cfg(unix)]
#[test]
fn case_22_a_world_folder_that_cannot_be_entered_is_not_an_empty_world() {
    use std::os::unix::fs::PermissionsExt;
    if nobody::done_as_nobody("host::case_22_a_world_folder_that_cannot_be_entered_is_not_an_empty_world") {
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
    if nobody::done_as_nobody("host::case_23_a_world_that_may_be_read_and_not_written_says_so_and_is_whole") {
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
