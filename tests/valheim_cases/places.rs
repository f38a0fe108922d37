//! Folders, links and archives around the worlds.

use std::fs;

use worldkeep::model::{Code, LayerKind, Severity, Verdict};

use crate::place::{Place, find, layer, live, plan, scan_path};

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
fn a_folder_with_the_name_of_a_backup_and_no_save_is_named() {
    let place = Place::new();
    place.pair("W", &plan("W", "a", 5));
    place.write("worlds_local/W_backup_auto-20260909-180000/readme.txt", b"x");
    let world = place.world("W");
    assert_eq!(world.layers.len(), 1);
    assert!(find(&world.findings, Code::JunkFolder).text.contains("holds no save"));
}
