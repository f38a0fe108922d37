use std::collections::BTreeSet;

use super::{Changes, changes, standing, watching};
use crate::cli::sample;
use crate::cli::watch::news::News;
use crate::model::{Code, Finding, Layer, LayerKind, Profile, Severity, Value};

fn before() -> Vec<Profile> {
    sample::catalog().profiles
}

/// What is told when this is changed.
fn told(change: impl FnOnce(&mut Vec<Profile>)) -> Changes {
    let mut after = before();
    change(&mut after);
    changes(&before(), &after, &BTreeSet::new())
}

fn live(profiles: &mut [Profile]) -> &mut Layer {
    &mut profiles[0].worlds[0].layers[0]
}

/// Event, severity and id of each.
fn heads(news: &[News]) -> Vec<(&str, Severity, String)> {
    let id = |n: &News| n.about.layer.clone().or(n.about.world.clone()).unwrap_or(n.about.profile.clone());
    news.iter().map(|news| (news.event, news.severity, id(news))).collect()
}

#[test]
fn nothing_is_told_when_nothing_changed_and_when_only_a_fact_or_a_depth_did() {
    assert_eq!(told(|_| {}), Changes::default());
    let deeper = told(|profiles| live(profiles).facts.push("pieces", "pieces", Value::Int(3)));
    assert_eq!(deeper, Changes::default());
}

#[test]
fn another_generation_of_the_live_world_is_a_save_and_no_trouble() {
    let saved = told(|profiles| live(profiles).generation = Some(18));
    assert_eq!(saved, Changes { saved: vec!["valheim/Midgard@live".into()], ..Changes::default() });
}

#[test]
fn a_live_world_that_is_gone_names_the_newest_whole_layer_and_is_looked_at_twice() {
    let gone = told(|profiles| {
        profiles[0].worlds[0].layers.remove(0);
    });
    assert_eq!(heads(&gone.news), [("live-gone", Severity::Error, "valheim/Midgard".to_owned())]);
    assert!(gone.doubtful && gone.news[0].next.starts_with("Do not start the server"), "{:?}", gone.news);
    assert!(!gone.news[0].next.contains('@'), "the layer that is left holds no finished save: {:?}", gone.news);
    let with = told(|profiles| {
        let mut whole = profiles[0].worlds[0].layers.remove(0);
        whole.kind = LayerKind::Manual;
        whole.id = "valheim/Midgard@manual".into();
        profiles[0].worlds[0].layers.push(whole);
    });
    assert!(with.news[0].next.ends_with("whole is valheim/Midgard@manual."), "{:?}", with.news);
}

#[test]
fn worlds_and_places_that_come_and_go_are_told() {
    let gone = told(|profiles| drop(profiles[0].worlds.remove(0)));
    assert_eq!(heads(&gone.news), [("world-gone", Severity::Error, "valheim/Midgard".to_owned())]);
    assert!(gone.doubtful);
    let place = told(Vec::clear);
    assert_eq!(heads(&place.news), [("profile-gone", Severity::Error, "valheim".to_owned())]);
    let mut without = before();
    let world = without[0].worlds.remove(1);
    let new = changes(&without, &before(), &BTreeSet::new());
    assert_eq!(new.news[0].event, "world-new");
    // What is wrong with it is told with it.
    let wrong = world.live().map_or(0, |live| live.findings.iter().filter(|f| f.severity >= Severity::Warning).count());
    let wrong = wrong + world.findings.iter().filter(|f| f.severity >= Severity::Warning).count();
    assert!(wrong > 1);
    assert_eq!(new.news.iter().filter(|news| news.event == "finding").count(), wrong);
}

#[test]
fn a_finding_is_told_once_whatever_its_words_count() {
    let find = |minutes: u32, severity| {
        let mut found = Finding::error(Code::NewestIncomplete, format!("{minutes} min old."), "Wait.").in_file("a");
        found.severity = severity;
        found
    };
    let first = told(|profiles| live(profiles).findings.push(find(1, Severity::Error)));
    assert_eq!(heads(&first.news), [("finding", Severity::Error, "valheim/Midgard@live".to_owned())]);
    assert_eq!((first.news[0].code, first.doubtful), (Some(Code::NewestIncomplete.as_str()), true));
    let note = told(|profiles| live(profiles).findings.push(find(1, Severity::Note)));
    assert_eq!(note, Changes::default());
    let [mut one, mut two] = [before(), before()];
    live(&mut one).findings.push(find(1, Severity::Error));
    live(&mut two).findings.push(find(2, Severity::Error));
    assert_eq!(changes(&one, &two, &BTreeSet::new()), Changes::default());
    live(&mut two).findings.push(find(2, Severity::Error).in_file("b"));
    assert_eq!(changes(&one, &two, &BTreeSet::new()).news.len(), 1);
}

#[test]
fn backups_that_come_and_go_are_told_and_what_the_game_prunes_is_no_warning() {
    let with = |kind: LayerKind| {
        let mut profiles = before();
        let mut layer = live(&mut profiles).clone();
        layer.kind = kind;
        layer.id = "valheim/Midgard@new".into();
        layer.findings.clear();
        layer.relations.clear();
        profiles[0].worlds[0].layers.push(layer);
        profiles
    };
    let id = "valheim/Midgard@new".to_owned();
    for (kind, gone) in [(LayerKind::Auto, Severity::Note), (LayerKind::Manual, Severity::Warning)] {
        let came = changes(&before(), &with(kind), &BTreeSet::new());
        assert_eq!(heads(&came.news), [("layer-new", Severity::Note, id.clone())]);
        let went = changes(&with(kind), &before(), &BTreeSet::new());
        assert_eq!(heads(&went.news), [("layer-gone", gone, id.clone())]);
    }
    for kind in [LayerKind::Generation, LayerKind::Previous, LayerKind::Stray, LayerKind::Parked] {
        assert_eq!(changes(&before(), &with(kind), &BTreeSet::new()), Changes::default(), "{kind:?}");
        assert_eq!(changes(&with(kind), &before(), &BTreeSet::new()), Changes::default(), "{kind:?}");
    }
}

#[test]
fn what_an_operation_of_ours_explains_is_no_alarm() {
    let ours = BTreeSet::from(["valheim/Midgard".to_owned()]);
    let mut other = before();
    live(&mut other).generation = Some(3);
    assert_eq!(changes(&before(), &other, &ours), Changes::default());
    other[0].worlds[0].layers.remove(0);
    assert_eq!(changes(&before(), &other, &ours), Changes::default());
    other[0].worlds.remove(0);
    assert_eq!(changes(&before(), &other, &ours), Changes::default());
}

#[test]
fn at_the_start_the_place_the_worlds_and_the_live_states_are_told_and_not_every_layer() {
    let profiles = before();
    assert_eq!(watching(&profiles[0]).text, "Watching /srv/valheim with 2 worlds.");
    let news = standing(&profiles[0]);
    let codes: Vec<_> = news.iter().filter_map(|news| news.code).collect();
    assert_eq!(codes, ["junk-folder", "odd-name", "bad-checksum"], "{news:?}");
}
