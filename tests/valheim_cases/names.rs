//! Names: which are worlds, which are layers, and whose.

use std::fs;

use worldkeep::games::valheim::write::Object;
use worldkeep::model::{Code, LayerKind, Severity, Verdict};

use crate::place::{Place, find, layer, live, plan};

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
fn case_20_timed_backups_of_a_deleted_world_are_at_risk() {
    let place = Place::new();
    place.pair("W_backup_auto-20260909-180000", &plan("W", "a", 20));
    let world = place.world("W");
    assert!(layer(&world, LayerKind::Auto).orphan);
    assert_eq!(find(&world.findings, Code::PruneRisk).severity, Severity::Warning);
}
