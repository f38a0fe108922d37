//! The documentation of the JSON, held to the code.

use std::collections::BTreeSet;
use std::fs;

use worldkeep::model::plan::{Reason, WarningCode};
use worldkeep::model::{Code, Container, Effect, Found, LayerKind, Severity, Shape, StampFrom, Verdict};

use crate::house::{House, layers};

fn page(name: &str) -> String {
    fs::read_to_string(format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The table of codes as it must stand in the page.
fn table() -> String {
    let rows = Code::ALL.iter().map(|code| {
        let effect = match code.effect() {
            Effect::Damage => "damaged",
            Effect::Unsupported => "unsupported",
            Effect::Unreadable => "unreadable",
            Effect::Unfinished => "unfinished",
        };
        format!("| `{}` | {effect} | {} |\n", code.as_str(), code.meaning())
    });
    let head = "| code | an error means | meaning |\n|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(rows).collect()
}

#[test]
fn the_page_has_every_code_with_its_meaning_and_no_other() {
    let page = page("json.md");
    let table = table();
    let there = page.split("<!-- codes -->\n").nth(1).expect("a place for the codes");
    assert!(there == table, "docs/json.md: put this between the two marks `<!-- codes -->`:\n{table}");
}

#[test]
fn the_page_has_every_reason_and_every_warning_with_its_meaning() {
    let page = page("json.md");
    let reasons = Reason::ALL.iter().map(|r| format!("| `{}` | {} | {} |\n", r.as_str(), r.meaning(), r.next()));
    let reasons = format!("| reason | meaning | what to do |\n|---|---|---|\n{}\n", reasons.collect::<String>());
    let needs = |code: &WarningCode| if code.needs_acceptance() { "yes" } else { "no" };
    let warnings = WarningCode::ALL.iter().map(|c| format!("| `{}` | {} | {} |\n", c.as_str(), needs(c), c.meaning()));
    let head = "| code | has to be accepted | meaning |\n|---|---|---|\n";
    let warnings = format!("{head}{}\n", warnings.collect::<String>());
    for (mark, table) in [("<!-- reasons -->\n", reasons), ("<!-- warnings -->\n", warnings)] {
        let there = page.split(mark).nth(1).expect("a place for the table");
        assert!(there.starts_with(&table), "docs/json.md: put this behind {mark}{table}");
    }
}

#[test]
fn the_page_has_every_word_of_the_closed_lists() {
    let page = page("json.md");
    let words = [
        Severity::Note.as_str(),
        Severity::Warning.as_str(),
        Severity::Error.as_str(),
        Container::Folder.as_str(),
        Container::Files.as_str(),
        Container::Zip.as_str(),
        Container::Tar.as_str(),
        Found::Argument.as_str(),
        Found::Configured.as_str(),
        Found::Discovered.as_str(),
        Found::Demo.as_str(),
        Shape::ValheimFolder.as_str(),
        Shape::ValheimPair.as_str(),
        StampFrom::Name.as_str(),
        StampFrom::Marker.as_str(),
        StampFrom::Inside.as_str(),
        StampFrom::Mtime.as_str(),
    ];
    let verdicts = [
        Verdict::Unchecked,
        Verdict::Sound,
        Verdict::Notes,
        Verdict::Unfinished,
        Verdict::Unsupported,
        Verdict::Unreadable,
        Verdict::Damaged,
    ]
    .map(Verdict::as_str);
    let kinds = [
        LayerKind::Live,
        LayerKind::Generation,
        LayerKind::Previous,
        LayerKind::PreConversion,
        LayerKind::Auto,
        LayerKind::Manual,
        LayerKind::Restore,
        LayerKind::Cloud,
        LayerKind::Rolling,
        LayerKind::Archive,
        LayerKind::Stray,
    ]
    .map(LayerKind::as_str);
    for word in words.into_iter().chain(verdicts).chain(kinds) {
        assert!(page.contains(&format!("`{word}`")), "docs/json.md lacks {word}");
    }
}

#[test]
fn the_page_has_every_key_that_a_document_can_have() {
    let page = page("json.md");
    let house = House::with_fixtures(&["newest-incomplete", "pair-v36", "every-kind-of-backup", "pair-cut"]);
    let (document, _) = house.json(&["verify", "newest-incomplete", "pair-v36", "every-kind-of-backup", "pair-cut"]);
    let mut keys = BTreeSet::new();
    collect(&document, &mut keys);
    assert!(keys.len() > 40, "{keys:?}");
    assert!(!layers(&document).is_empty());
    let missing: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/json.md lacks {missing:?}");
}

fn collect(value: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| collect(value, keys)),
        _ => {}
    }
}

#[test]
fn every_command_in_the_guide_exists() {
    let house = House::new();
    for name in ["guide.md", "json.md", "config.md", "../README.md"] {
        // Commands stand in blocks that are indented by four.
        for line in page(name).lines().filter_map(|line| line.strip_prefix("    worldkeep ")) {
            let word = line.split_whitespace().next().unwrap_or_default();
            // In the README what a command is for stands behind it; the browser has no word.
            if line.starts_with(' ') || word.starts_with('-') || word.starts_with('/') || word.starts_with('.') {
                continue;
            }
            let run = house.run(&[word, "--help"]);
            assert_eq!(run.code, Some(0), "docs/{name}: worldkeep {line}");
            assert!(run.out.contains(&format!("Usage: worldkeep {word}")), "docs/{name}: worldkeep {line}");
        }
    }
}

#[test]
fn the_page_has_every_event_of_watch_and_of_the_servers_own_words() {
    let page = page("json.md");
    let mut events = BTreeSet::new();
    // In the sources an event is the first word of what tells it.
    let sources = ["src/cli/watch/mod.rs", "src/cli/watch/changes.rs", "src/cli/watch/news.rs", "src/ops/follow.rs"];
    for (source, calls) in sources.map(|source| (source, ["News::new(\"", "event: \"", "followed(\""])) {
        let text = fs::read_to_string(format!("{}/{source}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for call in calls {
            events.extend(text.split(call).skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        }
    }
    assert!(events.len() > 10, "{events:?}");
    let words = [
        "ZNet.LoadOldWorld done",
        "ZNet.LoadWorld: A (A), save number 3",
        "ZDOMan.LoadChunks - Starting to load 38.757 zdos from 4 Chunks",
        "missing /srv/A/_main.0.db2",
        "missing /srv/A/_main.3.db2",
        "incompatible data version 99",
        "Exception while loading world /srv/A.db:System.IO.EndOfStreamException",
        "World save (5/5) FAILED. Total time [1ms]",
        "Removing orphan save file /srv/A/_main.2.db2",
        "Removing orphan CHUNK file /srv/A/20_20__1_3.chunk",
        "Access to the path \"/srv/A/_main.3.db2\" is denied",
    ];
    let valheim = worldkeep::games::by_id("valheim").unwrap();
    let heard = words.map(|line| valheim.hears(line).unwrap_or_else(|| panic!("{line}")).event.to_owned());
    assert_eq!(heard.iter().collect::<BTreeSet<_>>().len(), words.len(), "{heard:?}");
    for event in events.iter().chain(&heard) {
        assert!(page.contains(&format!("`{event}`")), "docs/json.md has no `{event}`");
    }
}
