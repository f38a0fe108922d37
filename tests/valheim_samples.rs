//! Real saves through the front door: found, listed, checked and drawn as the browser does it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper that fails fails its test, and a skipped test says so"
)]

use std::path::{Path, PathBuf};

use worldkeep::model::{Cancel, Checked, Clock, Code, Depth, Found, Value, Verdict};
use worldkeep::raster::{Chart, Ink};
use worldkeep::scan::{self, Catalog, Request, Root};

/// A folder of the samples, or nothing where they are absent, with a word about it.
fn sample(folder: &str) -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples"));
    if !root.exists() {
        eprintln!("skipped: ../shared/samples is absent");
        return None;
    }
    Some(root.join("valheim").join(folder))
}

/// The L2 check and the map of the live layer of the only world in a folder.
fn look(path: &Path) -> (Checked, Chart) {
    let request = Request {
        roots: vec![Root { path: path.to_path_buf(), found: Found::Argument, game: None, name: None }],
        clock: Clock::Fixed("2026-11-30T12:00:00Z".parse().unwrap()),
        ..Request::default()
    };
    let mut catalog = Catalog::default();
    scan::run(&request, &Cancel::new(), &mut |event| catalog.apply(event));
    let mut worlds = catalog.profiles.iter().flat_map(|profile| &profile.worlds);
    let world = worlds.next().unwrap_or_else(|| panic!("no world in {}", path.display()));
    assert!(worlds.next().is_none(), "more than one world in {}", path.display());
    let live = world.live().unwrap_or_else(|| panic!("no live layer: {world:#?}"));
    assert_eq!(live.depth, Depth::Headers);
    let checked = scan::check(&request, "valheim", live, &Cancel::new());
    let chart = scan::chart(&request, "valheim", live, &Cancel::new()).unwrap();
    (checked, chart)
}

fn assert_facts(checked: &Checked, expected: &[(&str, i64)]) {
    for &(key, value) in expected {
        assert_eq!(checked.facts.int(key), Some(value), "{key} in {:#?}", checked.facts);
    }
}

#[test]
fn real_pairs_are_whole_and_tell_what_is_in_them() {
    type Facts = &'static [(&'static str, i64)];
    let expected: [(&str, Verdict, Facts); 4] = [
        ("v27", Verdict::Sound, &[("seed_number", -931_666_925), ("objects", 81), ("zones", 0), ("zones_idle", 81)]),
        ("v29", Verdict::Sound, &[("seed_number", 555_290_274), ("objects", 81), ("locations", 9882)]),
        (
            "v32",
            Verdict::Sound,
            &[("seed_number", 517_038_747), ("objects", 23_403), ("zones", 148), ("locations_placed", 60)],
        ),
        (
            "v36",
            Verdict::Notes,
            &[("seed_number", 981_146_684), ("objects", 77_504), ("zones", 564), ("pieces", 148), ("day", 16)],
        ),
    ];
    for (folder, verdict, facts) in expected {
        let Some(path) = sample(folder) else { return };
        let (checked, chart) = look(&path);
        assert_facts(&checked, facts);
        assert_facts(&checked, &[("bytes_left", 0)]);
        // An older world may be told to have been visited by nobody; nothing worse.
        assert!(checked.verdict <= Verdict::Notes && checked.verdict >= verdict, "{folder}: {:#?}", checked.findings);
        assert_eq!(checked.depth, Depth::Full);
        assert_eq!(i64::try_from(chart.squares.len()).ok(), checked.facts.int("zones"), "{folder}");
        assert!(chart.marks.iter().any(|mark| mark.ink == Ink::Start), "{folder}");
    }
}

#[test]
fn a_real_pair_without_metadata_says_where_its_seed_is_from() {
    let Some(path) = sample("v36") else { return };
    let (checked, _) = look(&path);
    assert_eq!(checked.facts.get("seed_from"), Some(&Value::Text("recovered".into())));
    assert!(checked.findings.iter().any(|finding| finding.code == Code::MetadataMissing));
}

#[test]
fn the_made_folder_of_1_0_is_whole() {
    let Some(path) = sample("synthetic/worlds_local/Nornheim") else { return };
    let (checked, chart) = look(&path);
    assert_eq!(checked.verdict, Verdict::Sound, "{:#?}", checked.findings);
    assert_facts(
        &checked,
        &[("objects", 220), ("zones", 51), ("pieces", 29), ("portals", 2), ("beds", 1), ("day", 12)],
    );
    assert_eq!(chart.marks.iter().filter(|mark| mark.ink == Ink::Portal).count(), 2);
}
