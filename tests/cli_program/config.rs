//! The configuration file as the program takes it.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::help::snapshots;
use crate::house::{House, layers};

fn corpus(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config")).join(kind);
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 3, "the corpus is there");
    files
}

#[test]
fn every_valid_file_is_taken_over_without_a_word() {
    for file in corpus("valid") {
        let house = House::new();
        fs::copy(&file, house.path("other.toml")).unwrap();
        let run = house.run(&["config", "--config", "other.toml"]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", file.display());
        assert!(run.out.contains("file, line"), "{}: {}", file.display(), run.out);
    }
}

/// The first line of an invalid file is a comment with the message that it must give.
#[test]
fn every_invalid_file_is_refused_with_its_message() {
    for file in corpus("invalid") {
        let house = House::new();
        let text = fs::read_to_string(&file).unwrap();
        let wanted = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a comment on the first line");
        house.configure(&text);
        for command in [vec!["config"], vec!["list"], vec!["verify"]] {
            let run = house.run(&command);
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", file.display());
            assert!(run.err.contains(wanted), "{}: {}", file.display(), run.err);
            assert!(run.err.contains("config.toml:"), "{}: {}", file.display(), run.err);
        }
        assert_ne!(house.run(&["list", "--no-config"]).code, Some(2), "--no-config gets past it");
    }
}

#[test]
fn an_unknown_key_is_told_and_everything_else_counts() {
    let house = House::new();
    house.configure("theme = \"mono\"\nreadonly = true\n");
    let run = house.run(&["config"]);
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("config.toml:2: `readonly` is a key that means nothing here. Did you mean `read_only`?"));
    assert!(run.out.contains("theme = \"mono\" # file, line 1\n"), "{}", run.out);
    assert_eq!(house.run(&["config", "--quiet"]).err, "");
}

#[test]
fn the_effective_configuration_says_where_each_value_came_from() {
    let house = House::new();
    house.configure(
        "discover = false\n[ceilings]\nfile = \"512 MB\"\n[[profile]]\nname = \"home\"\npath = \"~/saves\"\n",
    );
    let run = house.finish(house.command().env("NO_COLOR", "1").args(["config", "--ascii"]));
    snapshots().bind(|| assert_snapshot!("config", run.out));
    let (document, _) = house.json(&["config", "--read-only"]);
    assert_eq!(document["settings"]["read_only"], serde_json::json!({ "value": true, "from": "argument --read-only" }));
    assert_eq!(
        document["settings"]["ceilings.file"],
        serde_json::json!({ "value": 512 << 20, "from": "file, line 3" })
    );
    assert_eq!(document["profiles"][0]["name"], "home");
    assert!(!house.path("home").exists() && fs::read_to_string(house.config_file()).unwrap().starts_with("discover"));
}

#[test]
fn a_configured_profile_is_listed_under_its_name() {
    let house = House::with_fixtures(&["folder-sound"]);
    let path = house.path("folder-sound");
    house.configure(&format!(
        "discover = false\n[[profile]]\nname = \"the shire\"\npath = {path:?}\ngame = \"valheim\"\n"
    ));
    let (document, code) = house.json(&["list"]);
    assert_eq!(code, Some(0));
    assert_eq!((&document["profiles"][0]["found"], layers(&document).len()), (&"configured".into(), 1));
    let id = layers(&document)[0]["id"].as_str().unwrap().to_owned();
    let (shown, code) = house.json(&["show", &id]);
    assert_eq!((layers(&shown)[0]["id"].as_str(), code), (Some(id.as_str()), Some(0)));
    // Without a target, everything configured is checked.
    assert_eq!(house.run(&["verify"]).code, Some(0));
}

#[test]
fn a_configured_place_that_is_gone_is_told() {
    let house = House::new();
    house.configure("discover = false\n[[profile]]\nname = \"old\"\npath = \"/no/such/place\"\n");
    for command in ["list", "verify"] {
        let run = house.run(&[command]);
        assert_eq!(run.code, Some(3), "{command}");
        assert!(run.err.contains("/no/such/place: not there."), "{command}: {}", run.err);
    }
}

#[test]
fn a_ceiling_of_the_file_is_in_force() {
    let house = House::with_fixtures(&["pair-v36"]);
    house.configure("[ceilings]\nfile = 100\n");
    let run = house.run(&["verify", "pair-v36"]);
    assert_eq!(run.code, Some(6), "{}", run.out);
    assert!(run.out.contains("over the ceiling of 100"), "{}", run.out);
}

#[test]
fn the_sample_in_the_documentation_is_valid_and_sets_every_key() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/config.md")).unwrap();
    let sample = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a sample");
    let house = House::new();
    house.configure(sample);
    fs::create_dir_all(house.path("../home/.local/state")).unwrap();
    let run = house.run(&["config", "--json"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for (key, setting) in document["settings"].as_object().unwrap() {
        let from = setting["from"].as_str().unwrap();
        assert!(from.starts_with("file, line"), "the sample does not set {key}, which is {from}");
    }
    for variable in [
        "WORLDKEEP_CONFIG",
        "WORLDKEEP_THEME",
        "WORLDKEEP_LOG",
        "WORLDKEEP_READ_ONLY",
        "WORLDKEEP_NOW",
        "NO_COLOR",
        "TZ",
    ] {
        assert!(page.contains(variable), "{variable}");
    }
}
