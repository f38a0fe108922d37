//! What a person reads: that it is there, that it is said once, and that no colour is needed for it.

use std::collections::HashSet;

use crate::config::theme::Depth as Colors;
use crate::model::{Code, Depth, Facts, Finding, Found, LayerKind, Looked, Outcome, Value, Verdict};
use crate::scan::Event;
use crate::tui::state::{MapState, Msg, Signature};
use crate::tui::testing::{Driver, catalog, chart, layer};

fn last_line(driver: &mut Driver) -> String {
    driver.screen().lines().last().unwrap_or_default().to_owned()
}

/// The lines of the details pane for a node that a filter finds.
fn details(driver: &mut Driver, filter: &str) -> Vec<String> {
    driver.keys(&format!("/{filter}<Enter>")).rest();
    driver.model.details.lines.iter().map(ToString::to_string).collect()
}

#[test]
fn the_help_and_the_way_out_have_their_place_at_every_width() {
    for columns in 20..=200 {
        let mut driver = Driver::new((columns, 24), true, Colors::Mono);
        for keys in ["", "<Tab>", "<Tab>"] {
            let line = {
                driver.keys(keys);
                last_line(&mut driver)
            };
            assert!(line.contains("? help") && line.contains("q quit"), "{columns}: {line}");
        }
    }
}

#[test]
fn what_needs_somebody_is_said_at_every_width() {
    for columns in 20..=200 {
        let mut driver = Driver::new((columns, 24), true, Colors::Mono);
        let header = driver.screen().lines().next().unwrap_or_default().to_owned();
        assert!(header.contains("2 need you") && !header.contains('…'), "{columns}: {header}");
    }
}

#[test]
fn a_small_screen_without_saves_says_what_to_do_and_what_may_not_be_read() {
    let mut driver = Driver::bare((60, 18), true, Colors::Mono);
    for n in 0..12 {
        let path = format!("/home/somebody/.local/share/Steam/compatdata/{n}/pfx/drive_c/AppData/LocalLow").into();
        let outcome = if n == 9 { Outcome::Denied("mode 0700".to_owned()) } else { Outcome::Missing };
        let looked = Looked { path, found: Found::Discovered, outcome };
        driver.send(Msg::Scan { generation: 0, event: Event::Looked(looked) });
    }
    driver.scan(0, Vec::new());
    let screen = driver.screen();
    assert!(screen.contains("worldkeep PATH") && screen.contains("worldkeep --demo"), "{screen}");
    assert!(screen.contains("no permission (mode 0700)"), "{screen}");
    assert!(screen.contains("more: \"worldkeep list\" names them all"), "{screen}");
}

#[test]
fn the_pane_with_the_keys_is_seen_without_colour() {
    let mut driver = Driver::new((120, 40), false, Colors::Mono);
    driver.rest();
    assert!(driver.screen().contains("+[Saves]-"));
    driver.keys("<Tab>");
    let screen = driver.screen();
    assert!(screen.contains("+ Saves -") && screen.contains("+["), "{screen}");
}

#[test]
fn layers_of_one_kind_have_names_of_their_own() {
    let mut profiles = catalog();
    profiles[0].worlds[0].layers.push(layer("Midgard", "auto-3", LayerKind::Auto, 24 * 3600, 5, 203));
    let mut driver = Driver::bare((40, 12), true, Colors::Mono);
    driver.scan(0, profiles);
    let names = driver.model.tree.forest.items.iter().filter(|item| item.key.starts_with("valheim/Midgard@"));
    let names: Vec<String> = names.map(|item| item.row.name.clone()).collect();
    assert_eq!(names.len(), 5);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    driver.keys("/auto<Enter>");
    let screen = driver.screen();
    let seen = names.iter().filter(|name| name.starts_with("auto") && screen.contains(name.as_str())).count();
    assert_eq!(seen, 3, "{names:?} {screen}");
}

#[test]
fn a_reason_with_the_words_of_a_finding_is_said_once() {
    let mut profiles = catalog();
    let before = &mut profiles[0].worlds[0].layers[2];
    before.restorable = false;
    before.reason = Some("The metadata is missing; the game would not list the world.".to_owned());
    before.findings = vec![Finding::warning(
        Code::NoFinishedSave,
        "The metadata is missing; the game lists no world without it.",
        "",
    )];
    let mut driver = Driver::bare((120, 40), true, Colors::Mono);
    driver.scan(0, profiles);
    let lines = details(&mut driver, "before");
    assert_eq!(lines.iter().filter(|line| line.contains("The metadata is missing")).count(), 1, "{lines:#?}");
}

#[test]
fn what_the_live_layer_says_is_not_said_again_of_its_world() {
    let mut profiles = catalog();
    profiles[0].worlds[1].inner_name = Some("Test".to_owned());
    let facts = &mut profiles[0].worlds[1].layers[0].facts;
    facts.push("name", "Name inside", Value::Text("Test".to_owned()));
    facts.push("opens_with", "Opens with", Value::Text("1.0 and later".to_owned()));
    let mut driver = Driver::bare((120, 60), true, Colors::Mono);
    driver.scan(0, profiles);
    let lines = details(&mut driver, "grimhold");
    for label in ["name inside", "opens with"] {
        let said = lines.iter().filter(|line| line.to_lowercase().starts_with(label)).count();
        assert_eq!(said, 1, "{label}: {lines:#?}");
    }
}

#[test]
fn values_stand_in_one_column_beside_the_longest_label() {
    let mut profiles = catalog();
    let facts = &mut profiles[0].worlds[1].layers[0].facts;
    facts.push("idle", "Zones of the idle point", Value::Int(7));
    facts.push("version", "World version", Value::Number(41));
    let mut driver = Driver::bare((120, 60), true, Colors::Mono);
    driver.scan(0, profiles);
    let lines = details(&mut driver, "grimhold");
    let column = |value: &str| lines.iter().find_map(|line| line.strip_suffix(value).map(str::len));
    assert_eq!(column(" 7"), column(" 41"), "{lines:#?}");
    assert_eq!(column(" 7"), column(" hnBd9gJf2G"), "{lines:#?}");
}

#[test]
fn facts_that_wait_for_a_full_check_are_listed_after_it() {
    let mut driver = Driver::usual();
    assert!(!details(&mut driver, "before").iter().any(|line| line.contains("not known")));
    let layer = driver.model.catalog.layer("valheim/Midgard@before").unwrap().2.clone();
    let mut facts = Facts::default();
    facts.push("portals", "portals", Value::Unknown);
    let checked = crate::model::Checked {
        verdict: Verdict::Sound,
        depth: Depth::Full,
        findings: Vec::new(),
        facts,
        restorable: true,
        reason: None,
        moved: None,
    };
    driver.send(Msg::Checked { signature: Signature::of(&layer), checked: Box::new(checked) });
    driver.rest();
    let lines: Vec<String> = driver.model.details.lines.iter().map(ToString::to_string).collect();
    assert!(lines.iter().any(|line| line.contains("not known")), "{lines:#?}");
}

#[test]
fn what_is_not_known_differs_from_nothing() {
    let mut profiles = catalog();
    profiles[0].worlds[0].layers[1].facts.0.retain(|fact| fact.key != "portals");
    profiles[0].worlds[0].layers[1].facts.push("portals", "portals", Value::Int(3));
    let mut driver = Driver::bare((120, 60), true, Colors::Mono);
    driver.scan(0, profiles);
    driver.keys("gjjj=llj=");
    let screen = driver.screen();
    let line = screen.lines().find(|line| line.contains("│portals")).unwrap_or_default();
    assert!(line.contains("not known") && !line.contains('≠'), "{screen}");
}

#[test]
fn the_map_before_stays_until_the_next_one_is_there() {
    let mut driver = Driver::usual();
    driver.keys("/midgard<Enter>").rest();
    driver.keys("<Esc>/grim<Enter>");
    driver.pass(120);
    assert!(matches!(driver.model.map.state, MapState::Ready(_)));
    assert!(driver.screen().contains("Map · Midgard @ live"));
    let grim = driver.model.catalog.layer("valheim/Grimhold@live").unwrap().2.clone();
    driver.send(Msg::Charted { signature: Signature::of(&grim), result: Ok(chart()) });
    assert!(driver.screen().contains("Map · Grimhold @ live"));
}

#[test]
fn a_map_that_takes_long_says_so() {
    let mut driver = Driver::usual();
    driver.keys("/midgard<Enter>").rest();
    driver.keys("<Esc>/grim<Enter>");
    driver.pass(120);
    let due = driver.model.deadline().unwrap();
    assert!(due <= driver.model.up + std::time::Duration::from_millis(250));
    driver.pass(250);
    let screen = driver.screen();
    assert!(screen.contains("Map · Grimhold @ live") && screen.contains("Loading the map"), "{screen}");
}
