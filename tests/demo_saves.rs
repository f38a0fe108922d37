//! The demo shows what it is made to show: each of its saves is found to be what it is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

mod support;

use jiff::tz::TimeZone;
use support::look::{Seen, look, must_make_sense};
use worldkeep::demo::unpack;
use worldkeep::model::{Code, Layer, LayerKind, Verdict};
use worldkeep::store::{Ceilings, open};

fn demo() -> (tempfile::TempDir, Seen) {
    let dir = tempfile::tempdir().unwrap();
    let demo = unpack(dir.path(), support::now(), &TimeZone::UTC).unwrap();
    let store = open(&demo.root, &Ceilings::default()).unwrap();
    let seen = look(store.as_ref(), &support::context());
    must_make_sense(&seen);
    (dir, seen)
}

fn whole(layer: &Layer) -> bool {
    layer.verdict <= Verdict::Notes
}

fn has(seen: &Seen, world: &str, code: Code) -> bool {
    let world = seen.world(world).expect("the world is listed");
    let layers = world.layers.iter().flat_map(Layer::all_findings);
    world.findings.iter().chain(layers).any(|finding| finding.code == code)
}

#[test]
fn midgard_is_in_good_health_and_has_every_kind_of_layer() {
    let (_dir, seen) = demo();
    let live = seen.live("Midgard").unwrap();
    assert!(whole(live), "{live:?}");
    assert_eq!((live.generation, live.facts.int("day")), (Some(17), Some(214)));
    for (key, least) in [("objects", 5000), ("pieces", 1000), ("portals", 10), ("beds", 2), ("locations_placed", 50)] {
        assert!(live.facts.int(key) >= Some(least), "{key}: {:?}", live.facts);
    }
    let kinds = |kind| seen.world("Midgard").unwrap().layers.iter().filter(|layer| layer.kind == kind).count();
    // The pair that the conversion put aside, and the one that the folder hides.
    assert_eq!((kinds(LayerKind::Auto), kinds(LayerKind::PreConversion)), (3, 2));
    let before = seen.layer("Midgard", LayerKind::PreConversion).unwrap();
    assert!(whole(before) && before.facts.int("day") == Some(148), "{before:?}");
    assert!(has(&seen, "Midgard", Code::HiddenPair));
    let layers = &seen.world("Midgard").unwrap().layers;
    assert_eq!(layers.iter().filter(|layer| layer.verdict == Verdict::Unfinished).count(), 1);
}

#[test]
fn the_ailing_worlds_ail_as_they_should() {
    let (_dir, seen) = demo();
    assert_eq!(seen.live("Grimhold").unwrap().verdict, Verdict::Damaged);
    assert!(has(&seen, "Grimhold", Code::NewestIncomplete));
    assert!(whole(seen.layer("Grimhold", LayerKind::Auto).unwrap()));

    assert_eq!(seen.live("Ravenscar").unwrap().facts.int("objects"), Some(81));
    assert!(has(&seen, "Ravenscar", Code::LiveSmaller) && has(&seen, "Ravenscar", Code::OtherWorld));
    assert!(whole(seen.layer("Ravenscar", LayerKind::Previous).unwrap()));

    let thornfjord = seen.live("Thornfjord").unwrap();
    assert!(whole(thornfjord) && thornfjord.generation == Some(4), "{thornfjord:?}");
    assert!(has(&seen, "Thornfjord", Code::SaveInterrupted));

    let skaldholm = seen.layer("Skaldholm", LayerKind::Rolling).unwrap();
    assert!(whole(skaldholm) && skaldholm.orphan, "{skaldholm:?}");

    let ashvale = "Ashvale_2026-06-25_12-00-00";
    assert!(has(&seen, ashvale, Code::DatedCopy) && has(&seen, ashvale, Code::SeedRecovered));

    assert_eq!(seen.live("Farholm").unwrap().verdict, Verdict::Unsupported);
    assert!(seen.live("Cloudfell").is_none());
    assert!(seen.all_findings().any(|finding| finding.code == Code::MapCacheOnly));
}

#[test]
fn the_archive_holds_a_sound_older_copy() {
    let dir = tempfile::tempdir().unwrap();
    let demo = unpack(dir.path(), support::now(), &TimeZone::UTC).unwrap();
    let store = open(&demo.root.join("backups/worlds-20261124-120000.zip"), &Ceilings::default()).unwrap();
    let seen = look(store.as_ref(), &support::context());
    must_make_sense(&seen);
    let copy = seen.world("Midgard").unwrap().layers.first().unwrap();
    assert!(whole(copy) && copy.facts.int("day") == Some(188), "{copy:?}");
}
