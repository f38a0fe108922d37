//! Names: of worlds, of layers, of files, and such that were made to do harm.

use serde_json::Value;

use crate::house::{House, layers};

fn layer_ids(document: &Value) -> Vec<&str> {
    layers(document).into_iter().filter_map(|layer| layer["id"].as_str()).collect()
}

#[test]
fn a_path_means_the_layers_that_lie_there() {
    let house = House::with_fixtures(&["every-kind-of-backup"]);
    let (all, _) = house.json(&["list", "every-kind-of-backup"]);
    assert_eq!(layers(&all).len(), 6);
    for layer in layers(&all) {
        let path = layer["path"].as_str().unwrap();
        let (one, code) = house.json(&["verify", path]);
        assert_eq!(code, Some(0), "{path}");
        let found: Vec<_> = layers(&one).into_iter().map(|l| &l["path"]).collect();
        assert!(found.contains(&&layer["path"]), "{path} gave {found:?}");
    }
    let (file, _) = house.json(&["show", "every-kind-of-backup/worlds_local/Midgard/_main.3.fwl2"]);
    assert_eq!(layers(&file).len(), 1);
    assert_eq!(layers(&file)[0]["kind"], "live");
}

#[test]
fn an_id_means_what_the_list_prints_and_a_world_all_its_layers() {
    let house = House::with_fixtures(&["every-kind-of-backup"]);
    let (all, _) = house.json(&["--root", "every-kind-of-backup", "list"]);
    for id in layer_ids(&all) {
        let (one, code) = house.json(&["--root", "every-kind-of-backup", "show", id]);
        assert_eq!((layer_ids(&one), code), (vec![id], Some(0)));
    }
    let world = all["profiles"][0]["worlds"][0]["id"].as_str().unwrap();
    let (whole, _) = house.json(&["--root", "every-kind-of-backup", "show", world]);
    assert_eq!(layer_ids(&whole), layer_ids(&all));
    // Comparing needs one layer: of a world that is the live one.
    let (pair, code) = house.json(&["--root", "every-kind-of-backup", "compare", world, layer_ids(&all)[1]]);
    assert_eq!((&pair["left"]["kind"], code), (&"live".into(), Some(0)));
}

#[test]
fn an_unknown_layer_or_a_mistyped_world_is_told_with_what_there_is() {
    let house = House::with_fixtures(&["folder-sound"]);
    let (all, _) = house.json(&["--root", "folder-sound", "list"]);
    let world = all["profiles"][0]["worlds"][0]["id"].as_str().unwrap();
    let run = house.run(&["--root", "folder-sound", "show", &format!("{world}@nope")]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("has no layer \"nope\"") && run.err.contains(&format!("{world}@live")), "{}", run.err);
    let run = house.run(&["--root", "folder-sound", "show", &format!("{world}d")]);
    assert!(run.err.contains(&format!("Did you mean {world}?")), "{}", run.err);
}

#[test]
fn a_name_that_could_mean_two_worlds_is_an_error_that_lists_them() {
    let house = House::with_fixtures(&["folder-sound", "pair-v36"]);
    let run = house.run(&["--root", "folder-sound", "--root", "pair-v36", "show", "Midgard"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("could mean several things"), "{}", run.err);
    assert_eq!(run.err.matches("/Midgard\n").count(), 2, "{}", run.err);
}

#[test]
fn a_world_that_vanished_from_the_list_is_found_again_with_the_rule() {
    let house = House::with_fixtures(&["rolling-orphan", "pair-hidden", "map-cache-only"]);
    let grimhold = std::fs::read_dir(house.path("rolling-orphan/worlds_local")).unwrap().next().unwrap().unwrap();
    let name = grimhold.path().file_stem().unwrap().to_str().unwrap().to_owned();
    let run = house.run(&["--root", "rolling-orphan", "show", &name]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains(&format!("\"{name}\" is not a world of its own: it is a layer of")), "{}", run.err);
    assert!(run.err.contains("rolling save of Grimhold"), "{}", run.err);

    let run = house.run(&["--root", "pair-hidden", "show", "Midgard.fwl"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("hides the pair"), "{}", run.err);

    for target in ["map-cache-only/worlds_local/Cloudfell", "Cloudfell"] {
        let run = house.run(&["--root", "map-cache-only", "show", target]);
        assert_eq!(run.code, Some(3), "{target}: {}", run.err);
        assert!(run.err.contains("Cloudfell holds only a map cache"), "{target}: {}", run.err);
    }

    let run = house.run(&["--root", "pair-hidden", "show", "Elsewhere_20260909180000"]);
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(
        run.err.contains("By the rules of Valheim:") && run.err.contains("rolling save of Elsewhere"),
        "{}",
        run.err
    );
}

#[test]
fn a_name_that_steers_terminals_is_never_printed_raw() {
    let house = House::new();
    for name in ["Evil\u{1b}[2J\u{1b}]0;x\u{7}", "Turn\u{202e}ed", "C1\u{9b}31m", "Line\nbreak"] {
        house.fixture("folder-sound/worlds_local/Midgard", &format!("root/worlds_local/{name}"));
    }
    let bad = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}', '\r']);
    for args in [
        vec!["list", "root"],
        vec!["show", "root"],
        vec!["verify", "root"],
        vec!["--json", "show", "root"],
        vec!["--root", "root", "show", "Evil\u{1b}[2Jx"],
        vec!["list", "gone\u{1b}[2J"],
        vec!["--bo\u{1b}[2Jgus"],
        vec!["list", "root", "--game", "\u{1b}[2J"],
        vec!["config", "--theme", "\u{1b}[2J"],
        vec!["config", "--json", "--theme", "\u{9b}2J"],
        vec!["themes", "--theme", "\u{1b}[2J"],
    ] {
        let run = house.run(&args);
        assert!(!bad(&run.out) && !bad(&run.err), "{args:?}: {run:?}");
    }
    // JSON gives the exact name back, and the id works as a target.
    let (document, _) = house.json(&["list", "root"]);
    let worlds = document["profiles"][0]["worlds"].as_array().unwrap();
    let evil = worlds.iter().find(|world| world["name"] == "Evil\u{1b}[2J\u{1b}]0;x\u{7}").expect("the exact name");
    let (shown, code) = house.json(&["--root", "root", "show", evil["id"].as_str().unwrap()]);
    assert_eq!((layers(&shown).len(), code), (1, Some(0)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_listed_shown_and_checked() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let house = House::new();
    let name = OsStr::from_bytes(b"W\xff\xfeorld");
    std::fs::create_dir_all(house.path("root/worlds_local")).unwrap();
    for extension in ["fwl", "db"] {
        let mut file = name.to_os_string();
        file.push(format!(".{extension}"));
        let from =
            format!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/pair-v36/worlds_local/Midgard.{}"), extension);
        std::fs::copy(from, house.path("root/worlds_local").join(file)).unwrap();
    }
    for command in ["list", "show", "verify"] {
        let run = house.run(&[command, "root"]);
        assert_eq!(run.code, Some(0), "{command}: {}{}", run.out, run.err);
    }
    let (document, _) = house.json(&["list", "root"]);
    let path = layers(&document)[0]["path"].as_str().unwrap().to_owned();
    assert!(path.contains("W\\xff\\xfeorld"), "{path}");
    // As an argument, such a path works too.
    let mut path = house.path("root/worlds_local").into_os_string();
    path.push("/");
    path.push(name);
    path.push(".db");
    let run = house.finish(house.command().arg("verify").arg(path));
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

#[test]
fn a_place_that_lies_in_another_one_is_checked_once() {
    let house = House::with_fixtures(&["folder-sound", "pair-v36"]);
    for args in [
        &["verify", "folder-sound", "folder-sound/worlds_local/Midgard"][..],
        &["verify", "--root", "folder-sound", "folder-sound/worlds_local/Midgard"],
    ] {
        let (document, code) = house.json(args);
        assert_eq!((layer_ids(&document), code), (vec!["folder-sound/Midgard@live"], Some(0)), "{args:?}");
        assert_eq!(document["profiles"].as_array().map(Vec::len), Some(1), "{args:?}");
    }
    let run = house.run(&["compare", "--root", "folder-sound", "folder-sound/worlds_local/Midgard", "pair-v36"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn a_path_or_an_id_that_leads_into_an_archive_means_what_lies_there() {
    let house = House::with_fixtures(&["archive-zip.zip", "archive-tar-gz.tar.gz"]);
    for archive in ["archive-zip.zip", "archive-tar-gz.tar.gz"] {
        let (all, _) = house.json(&["verify", archive]);
        let layers = layers(&all);
        assert_eq!(layers.len(), 2, "{archive}");
        for layer in layers {
            for key in ["path", "id"] {
                let (document, code) = house.json(&["verify", layer[key].as_str().unwrap()]);
                assert_eq!((layer_ids(&document), code), (vec![layer["id"].as_str().unwrap()], Some(0)));
            }
        }
        let (pair, code) =
            house.json(&["compare", &format!("{archive}/worlds_local/Midgard"), &format!("{archive}/Grimhold@live")]);
        assert_eq!(
            (&pair["left"]["shape"], &pair["right"]["shape"], code),
            (&"valheim-1.0".into(), &"valheim-pair".into(), Some(0))
        );
        let run = house.run(&["show", &format!("{archive}/worlds_local/Nowhere")]);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    }
    let run = house.run(&["compare", "archive-zip.zip", "archive-tar-gz.tar.gz"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("archive-zip.zip/Midgard@live"), "{}", run.err);
    assert!(run.err.contains("Ids are looked up with --root archive-zip.zip."), "{}", run.err);
}

#[test]
fn one_layer_of_a_world_is_checked_alone() {
    let house = House::with_fixtures(&["pair-empty-data", "newest-incomplete"]);
    let (document, code) = house.json(&["--root", "pair-empty-data", "verify", "pair-empty-data/Midgard@old"]);
    assert_eq!(
        (layer_ids(&document), code),
        (vec!["pair-empty-data/Midgard@old"], Some(0)),
        "the damaged live one is not asked for"
    );
    let (document, code) = house.json(&["verify", "pair-empty-data/worlds_local/Midgard.db"]);
    assert_eq!((layer_ids(&document), code), (vec!["pair-empty-data/Midgard@live"], Some(1)));
    let (document, code) = house.json(&["--root", "newest-incomplete", "verify", "newest-incomplete/Midgard@save-4"]);
    assert_eq!((layer_ids(&document), code), (vec!["newest-incomplete/Midgard@save-4"], Some(1)));
}

#[test]
fn an_id_that_a_world_shares_with_a_layer_is_an_error_that_lists_the_places() {
    let house = House::new();
    for name in ["Mid", "Mid@live", "My World"] {
        house.fixture("folder-sound/worlds_local/Midgard", &format!("saves/worlds_local/{name}"));
    }
    let (list, _) = house.json(&["list", "."]);
    let profile = list["profiles"][0]["id"].as_str().unwrap();
    let run = house.run(&["--root", ".", "verify", &format!("{profile}/Mid@live")]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
    assert!(run.err.contains("worlds_local/Mid\n") && run.err.contains("worlds_local/Mid@live\n"), "{}", run.err);
    for id in [format!("{profile}/My World@live"), format!("{profile}/Mid@live@live"), "My World".to_owned()] {
        let (document, code) = house.json(&["--root", ".", "verify", &id]);
        assert_eq!((layers(&document).len(), code), (1, Some(0)), "{id}");
    }
}

#[test]
fn a_nested_world_an_archive_and_an_exact_file_are_found_by_their_names() {
    let house = House::with_fixtures(&["pair-hidden"]);
    house.fixture("folder-sound/worlds_local/Midgard", "pair-hidden/worlds_local/nested/Deep");
    house.fixture("pair-v36/worlds_local/Midgard.db", "pair-hidden/worlds_local/Midgard.db.old");
    house.fixture("pair-v36/worlds_local/Midgard.fwl", "pair-hidden/worlds_local/Midgard.fwl.old");
    house.fixture("archive-zip.zip", "pair-hidden/worlds_local/nightly.zip");
    let show = |name: &str| house.run(&["--root", "pair-hidden", "show", name]);
    let run = show("Deep");
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("nested holds Deep one folder too deep") && run.err.contains("Copy it"), "{}", run.err);
    let run = show("nightly.zip");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("@archive-nightly.zip"), "{}", run.out);
    let run = show("Midgard.fwl");
    assert!(run.out.contains("@hidden-pair") && !run.out.contains("Midgard@old"), "{}", run.out);
    assert!(show("Midgard.fwl.old").out.contains("Midgard@old"));
    let run = show("Elsewhere");
    assert!(!run.err.contains("so it is a world"), "{}", run.err);
}
