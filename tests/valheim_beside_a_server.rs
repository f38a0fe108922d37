//! Reading while the game writes: a save that lands is no damage, a file that is gone for good is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

mod support;

use std::path::Path;
use support::fixtures::Files;
use support::memory::MemoryStore;
use support::small_world;
use worldkeep::games::by_id;
use worldkeep::model::{Checked, Code, Layer, LayerKind, Severity, Verdict};

fn generation(day: f64, number: u32) -> Files {
    let mut plan = small_world("Midgard");
    plan.net_time = day * 1800.0;
    let files = plan.to_folder(41, number, |_| number).into_iter();
    files.map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes)).collect()
}

/// The live layer of Midgard as names and headers show it.
fn live(store: &MemoryStore) -> Layer {
    let (game, context) = (by_id("valheim").unwrap(), support::context());
    let roster = game.roster(store, Path::new(""), &context);
    let world = game.survey(store, "p", &roster.entries[0], &context);
    world.layers.into_iter().find(|layer| layer.kind == LayerKind::Live).expect("there is a live layer")
}

fn check(store: &MemoryStore, layer: &Layer) -> Checked {
    by_id("valheim").unwrap().check(store, layer, &support::context())
}

#[test]
fn a_save_that_lands_while_it_is_read_is_followed_and_no_damage() {
    let store = MemoryStore::new(generation(12.0, 3));
    let layer = live(&store);
    store.change_after("_main.3.chunks", generation(13.0, 4));
    let checked = check(&store, &layer);
    assert!(checked.verdict <= Verdict::Notes, "{checked:?}");
    assert_eq!(checked.facts.int("day"), Some(13), "{checked:?}");
}

#[test]
fn a_chunk_that_goes_away_and_is_not_replaced_is_damage() {
    let store = MemoryStore::new(generation(12.0, 3));
    let layer = live(&store);
    let mut after = generation(12.0, 3);
    after.retain(|(name, _)| !name.ends_with("20_20__1_3.chunk"));
    store.change_after("_main.3.chunks", after);
    let checked = check(&store, &layer);
    assert_eq!(checked.verdict, Verdict::Damaged, "{checked:?}");
    let told = checked.findings.iter().any(|finding| {
        let file = finding.place.file.as_deref().is_some_and(|file| file.ends_with("20_20__1_3.chunk"));
        file && finding.severity == Severity::Error && matches!(finding.code, Code::Vanished | Code::MissingFile)
    });
    assert!(told, "{checked:?}");
}

#[test]
fn a_pair_whose_data_is_away_for_a_moment_is_worth_a_second_look() {
    let (metadata, data) = small_world("Midgard").to_pair(36);
    let metadata = ("worlds_local/Midgard.fwl".to_owned(), metadata);
    let game = by_id("valheim").unwrap();
    let halved = live(&MemoryStore::new(vec![metadata.clone()]));
    let whole = live(&MemoryStore::new(vec![metadata, ("worlds_local/Midgard.db".to_owned(), data)]));
    assert!(game.unsettled(&halved), "{halved:?}");
    assert!(!game.unsettled(&whole), "{whole:?}");
}
