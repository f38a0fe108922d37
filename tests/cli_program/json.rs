//! The JSON document: its keys, its nulls, its order.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::Value;

use crate::help::snapshots;
use crate::house::{House, layers};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn every_object_has_the_keys_of_the_schema_in_their_order() {
    let house = House::with_fixtures(&["newest-incomplete", "pair-cut"]);
    let (document, code) = house.json(&["verify", "newest-incomplete", "pair-cut"]);
    assert_eq!(code, Some(1));
    assert_eq!(keys(&document), ["schema", "profiles"]);
    assert_eq!(document["schema"], 1);
    let mut finding_keys = BTreeSet::new();
    let mut generations = Vec::new();
    for profile in document["profiles"].as_array().unwrap() {
        assert_eq!(keys(profile), ["id", "game", "root", "found", "free_bytes", "server", "findings", "worlds"]);
        assert_eq!((&profile["server"], &profile["found"]), (&Value::Null, &"argument".into()));
        for world in profile["worlds"].as_array().unwrap() {
            assert_eq!(keys(world), ["id", "name", "kind", "inner_name", "opens_with", "findings", "layers"]);
        }
    }
    for layer in layers(&document) {
        let wanted = [
            "id",
            "path",
            "kind",
            "orphan",
            "rule",
            "shape",
            "container",
            "generation",
            "saved_at",
            "stamp_from",
            "bytes",
            "files",
            "verdict",
            "depth",
            "restorable",
            "reason",
            "findings",
            "facts",
        ];
        let there = keys(layer);
        let optional = |key: &&str| ["generation", "reason"].contains(key);
        assert_eq!(
            there.iter().filter(|key| !optional(key)).collect::<Vec<_>>(),
            wanted.iter().filter(|key| !optional(key)).collect::<Vec<_>>()
        );
        assert!(there.iter().all(|key| wanted.contains(key)), "{there:?}");
        // What lacks a file that is needed cannot be looked at more deeply.
        assert_eq!(layer["depth"], if layer["kind"] == "live" { 2 } else { 1 }, "{layer:#}");
        generations.push(layer.get("generation").cloned());
        for finding in layer["findings"].as_array().unwrap() {
            finding_keys.extend(keys(finding).into_iter().map(str::to_owned));
        }
    }
    assert!(generations.contains(&None), "a pair has no generation, and so no key");
    assert!(generations.contains(&Some(3.into())), "a folder has one");
    let known = ["severity", "code", "file", "offset", "object", "chunk", "text", "next"];
    assert!(finding_keys.iter().all(|key| known.contains(&key.as_str())), "{finding_keys:?}");
    assert!(["severity", "code", "file", "text", "next"].iter().all(|key| finding_keys.contains(*key)));
}

#[test]
fn a_list_looks_at_headers_and_what_needs_more_is_null() {
    let house = House::with_fixtures(&["folder-sound"]);
    let (listed, _) = house.json(&["list", "folder-sound"]);
    let (shown, _) = house.json(&["show", "folder-sound"]);
    let (listed, shown) = (layers(&listed)[0].clone(), layers(&shown)[0].clone());
    assert_eq!((&listed["depth"], &shown["depth"]), (&1.into(), &2.into()));
    assert_eq!(keys(&listed["facts"]), keys(&shown["facts"]), "the keys do not depend on the depth");
    assert_eq!(listed["facts"]["bytes_left"], Value::Null);
    assert_eq!(shown["facts"]["bytes_left"], 0);
}

#[test]
fn a_document_is_what_it_was() {
    let house = House::with_fixtures(&["newest-incomplete"]);
    let run = house.run(&["--json", "verify", "newest-incomplete"]);
    let text: String =
        run.out.lines().filter(|line| !line.contains("\"free_bytes\"")).map(|l| format!("{l}\n")).collect();
    snapshots().bind(|| assert_snapshot!("json-verify", text));
}

#[test]
fn a_comparison_says_what_differs() {
    let house = House::with_fixtures(&["folder-sound", "pair-v36"]);
    let (document, code) = house.json(&["compare", "folder-sound", "pair-v36"]);
    assert_eq!(code, Some(0));
    assert_eq!(keys(&document), ["schema", "left", "right", "differences"]);
    assert_eq!((&document["left"]["kind"], &document["right"]["kind"]), (&"live".into(), &"live".into()));
    let differences = document["differences"].as_array().unwrap();
    assert!(differences.iter().any(|d| d["key"] == "world_version"), "{differences:?}");
    for difference in differences {
        assert_ne!(difference.get("left"), difference.get("right"));
    }
    let (same, _) = house.json(&["compare", "folder-sound", "folder-sound"]);
    assert_eq!(same["differences"], Value::Array(Vec::new()));
}

#[test]
fn times_carry_the_offset_of_the_zone() {
    let house = House::with_fixtures(&["folder-sound"]);
    let saved = |zone: &str| {
        let run = house.finish(house.command().env("TZ", zone).args(["--json", "list", "folder-sound"]));
        let document: Value = serde_json::from_str(&run.out).unwrap();
        layers(&document)[0]["saved_at"].clone()
    };
    assert_eq!(saved("UTC"), "2026-11-30T11:00:00+00:00");
    assert_eq!(saved("CET-1CEST,M3.5.0,M10.5.0/3"), "2026-11-30T12:00:00+01:00");
    assert_eq!(saved("NST3:30"), "2026-11-30T07:30:00-03:30");
}

#[test]
fn nothing_found_is_still_a_document() {
    let house = House::new();
    let (document, code) = house.json(&["list"]);
    assert_eq!((document, code), (serde_json::json!({ "schema": 1, "profiles": [] }), Some(3)));
    // An error prints no document.
    let run = house.run(&["--json", "show", "gone"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
}

#[test]
fn every_command_that_takes_json_prints_exactly_one_document() {
    let house = House::with_fixtures(&["folder-sound"]);
    for args in [
        vec!["folder-sound"],
        vec!["list", "folder-sound"],
        vec!["show", "folder-sound"],
        vec!["verify", "folder-sound"],
        vec!["compare", "folder-sound", "folder-sound"],
        vec!["config"],
        vec!["keys"],
        vec!["themes"],
    ] {
        let (document, code) = house.json(&args);
        assert_eq!((&document["schema"], code), (&1.into(), Some(0)), "{args:?}");
    }
}
