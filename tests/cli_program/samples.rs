//! Real saves that came from games; they are not part of the repository.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::house::{House, layers};

fn sample(name: &str) -> Option<PathBuf> {
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples"));
    if !samples.is_dir() {
        eprintln!("skipped: ../shared/samples is absent");
        return None;
    }
    Some(samples.join("valheim").join(name))
}

fn facts(name: &str, verdict: &str) -> Option<Value> {
    let path = sample(name)?;
    let (document, code) = House::new().json(&["verify", path.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{document:#}");
    let layers = layers(&document);
    let live = layers.iter().find(|layer| layer["kind"] == "live").expect("a live layer");
    assert_eq!((live["verdict"].as_str(), live["depth"].as_u64()), (Some(verdict), Some(2)), "{live:#}");
    Some(live["facts"].clone())
}

#[track_caller]
fn assert_facts(facts: &Value, wanted: &Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&facts[key], value, "{key}");
    }
}

#[test]
fn a_real_world_of_version_32_is_read_to_its_last_byte() {
    let Some(facts) = facts("v32", "sound") else { return };
    assert_facts(
        &facts,
        &serde_json::json!({
            "seed_number": 517_038_747, "seed_from": "metadata", "objects": 23403, "zones": 148, "locations": 10131,
            "locations_placed": 60, "bytes_left": 0,
        }),
    );
}

#[test]
fn a_real_world_of_version_36_without_metadata_gives_its_seed() {
    let Some(facts) = facts("v36", "notes") else { return };
    assert_facts(
        &facts,
        &serde_json::json!({
            "seed": null, "seed_number": 981_146_684, "seed_from": "recovered", "objects": 77504, "zones": 564,
            "pieces": 148, "day": 16, "bytes_left": 0,
        }),
    );
}

#[test]
fn a_made_up_folder_of_1_0_is_whole() {
    let Some(facts) = facts("synthetic", "sound") else { return };
    assert_facts(&facts, &serde_json::json!({ "objects": 220, "bytes_left": 0 }));
}
