//! Marks, the history, and what a dialog lets somebody choose before anything is planned.

use jiff::Timestamp;

use super::operate::{agreed, done, plan, shown};
use crate::config::keys::Keymap;
use crate::config::theme::Depth;
use crate::model::plan::{Operation, Outcome, Reason, Refusal};
use crate::model::{Server, ServerState};
use crate::ops::history::Entry;
use crate::ops::record::Record;
use crate::tui::dialog::Wish;
use crate::tui::state::{Effect, Msg};
use crate::tui::testing::{Driver, ago, catalog};

/// The wish that a worker was given last, and its ticket.
fn wished(driver: &Driver) -> (u64, Wish) {
    let last = driver.effects.iter().rev().find_map(|effect| match effect {
        Effect::Plan { ticket, wish } => Some((*ticket, wish.clone())),
        _ => None,
    });
    last.unwrap_or_else(|| panic!("{:?}", driver.effects))
}

fn about(wish: &Wish) -> (&str, Option<&str>) {
    match wish {
        Wish::Save { world, layer, .. } => (world, layer.as_deref()),
        other => panic!("{other:?}"),
    }
}

/// Midgard is open, and its two layers after the live one are marked.
fn marked() -> Driver {
    let mut driver = Driver::usual();
    driver.keys("gjjjllj").rest();
    assert_eq!(driver.selected(), "valheim/Midgard@auto-1");
    driver.effects.clear();
    driver.keys("<Space><Space>");
    driver
}

#[test]
fn marks_are_seen_and_counted_and_one_question_is_about_all() {
    let mut driver = marked();
    assert!(driver.screen().contains("2 marked"), "{}", driver.screen());
    assert_eq!(driver.screen().lines().filter(|line| line.contains("* ")).count(), 2, "{}", driver.screen());
    driver.keys("d");
    let (ticket, wish) = wished(&driver);
    let Wish::Several { operation: Operation::Delete, each } = &wish else { panic!("{wish:?}") };
    let each: Vec<_> = each.iter().map(about).collect();
    let layers = ["valheim/Midgard@auto-1", "valheim/Midgard@before"];
    assert_eq!(each, layers.map(|layer| ("valheim/Midgard", Some(layer))));
    let plan = plan(Operation::Delete, "", &[]);
    let plans = [shown(&plan), shown(&plan)].into_iter().flatten().collect();
    driver.send(Msg::Planned { ticket, result: Ok(plans) });
    assert!(driver.screen().contains("Delete: 2 saves"), "{}", driver.screen());
    driver.keys("<Tab><Enter>");
    let agreed = agreed(&driver).unwrap();
    let again: Vec<_> = agreed.iter().map(|agreed| about(agreed.again.as_ref().unwrap())).collect();
    assert_eq!(again, each, "each can be planned once more after the one before it");
    driver.send(Msg::Ended { ticket, ends: vec![done(Outcome::Done), done(Outcome::Done)] });
    assert!(driver.screen().contains("All 2 are done. u takes them back, the last one first."), "{}", driver.screen());
    assert!(driver.model.marks.is_empty());
}

#[test]
fn a_world_and_its_live_layer_are_one_and_one_mark_is_an_ordinary_question() {
    let mut driver = Driver::usual();
    driver.keys("gjjjl").rest();
    driver.effects.clear();
    // The world, and the live layer below it.
    driver.keys("<Space><Space>b");
    assert_eq!(driver.model.marks.len(), 2);
    assert_eq!(about(&wished(&driver).1), ("valheim/Midgard", None));
}

#[test]
fn esc_takes_the_marks_away_and_other_operations_do_not_guess_which_one_is_meant() {
    let mut driver = marked();
    for key in ["r", "c", "<F2>"] {
        driver.keys(key);
        assert!(driver.model.dialog.is_none() && driver.effects.is_empty(), "{key}");
        assert!(driver.screen().contains("Marks are for back up and delete"), "{}", driver.screen());
        driver.keys("<Esc>");
    }
    driver.keys("<Esc>");
    assert!(driver.model.marks.is_empty());
    assert!(!driver.screen().contains("marked"));
}

#[test]
fn what_is_gone_from_the_disk_has_no_mark_and_read_only_has_none_at_all() {
    let mut driver = marked();
    driver.send(Msg::Dirty);
    let generation = driver.model.generation;
    let mut profiles = catalog();
    profiles[0].worlds[0].layers.retain(|layer| layer.id != "valheim/Midgard@auto-1");
    driver.scan(generation, profiles);
    assert_eq!(driver.model.marks.iter().collect::<Vec<_>>(), ["valheim/Midgard@before"]);
    let mut driver = Driver::usual();
    driver.model.keymap = Keymap::new(&std::collections::BTreeMap::new(), true).0;
    driver.keys("gjjj<Space>");
    assert!(driver.model.marks.is_empty());
}

#[test]
fn the_layers_of_a_world_go_along_only_when_somebody_says_so() {
    let mut driver = Driver::usual();
    driver.keys("gjjj").rest();
    driver.effects.clear();
    driver.keys("d");
    let (ticket, wish) = wished(&driver);
    assert!(matches!(wish, Wish::Save { with_layers: false, .. }), "{wish:?}");
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Delete, "", &[]))) });
    assert!(driver.screen().contains("[ ] The layers of this world as well"), "{}", driver.screen());
    driver.effects.clear();
    driver.keys("<Tab><Space>");
    let (ticket, wish) = wished(&driver);
    assert!(matches!(wish, Wish::Save { with_layers: true, .. }), "{wish:?}");
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Delete, "", &[]))) });
    assert!(driver.screen().contains("[x] The layers of this world as well"), "{}", driver.screen());
    // A layer has none.
    let mut driver = marked();
    driver.keys("<Esc>d");
    let (ticket, _) = wished(&driver);
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Delete, "", &[]))) });
    assert!(!driver.screen().contains("The layers of this world"), "{}", driver.screen());
}

#[test]
fn a_copy_goes_into_the_profile_that_is_typed_before_the_name() {
    let mut driver = Driver::usual();
    driver.keys("gjjj").rest();
    driver.effects.clear();
    driver.keys("cnowhere/New<Enter>");
    assert!(driver.screen().contains("There is no such profile here"), "{}", driver.screen());
    assert_eq!(driver.effects, []);
    driver.keys("<Ctrl-u>empty/New<Enter>");
    let Wish::Save { name, into: Some(into), .. } = wished(&driver).1 else { panic!("{:?}", driver.effects) };
    assert_eq!((name.as_deref(), into.id.as_str()), (Some("New"), "empty"));
}

#[test]
fn what_is_in_the_way_of_a_copy_is_put_aside_only_when_that_is_asked_for() {
    let mut driver = Driver::usual();
    driver.keys("gjjj").rest();
    driver.effects.clear();
    driver.keys("cGrimhold<Enter>");
    let (ticket, wish) = wished(&driver);
    assert!(matches!(wish, Wish::Save { overwrite: false, .. }));
    driver.send(Msg::Planned { ticket, result: Err(Refusal::new(Reason::NameTaken, "It is there already.")) });
    assert!(driver.screen().contains("o: take its place"), "{}", driver.screen());
    driver.effects.clear();
    driver.keys("o");
    let (ticket, wish) = wished(&driver);
    assert!(matches!(wish, Wish::Save { overwrite: true, .. }));
    // Refused once more, there is nothing else to offer.
    driver.send(Msg::Planned { ticket, result: Err(Refusal::new(Reason::NameTaken, "It is there already.")) });
    driver.effects.clear();
    driver.keys("o");
    assert!(!driver.screen().contains("take its place") && driver.effects.is_empty(), "{}", driver.screen());
}

fn entry(name: &str, operation: Operation, undo: Result<&str, &str>, by: Option<&str>) -> Entry {
    Entry {
        record: Record {
            name: name.into(),
            operation,
            subject: "Midgard".into(),
            at: Timestamp::from_second(crate::tui::testing::NOW - 3600).unwrap(),
            keep: "/srv/valheim/.worldkeep".into(),
            moves: Vec::new(),
            removes: Vec::new(),
            undoes: None,
            restored: None,
            done: "Restored Midgard to day 213.".into(),
            traces: None,
        },
        parked_bytes: 46 << 20,
        undo: undo.map(Into::into).map_err(Into::into),
        undone_by: by.map(Into::into),
    }
}

fn history(size: (u16, u16), unicode: bool) -> Driver {
    let mut driver = Driver::new(size, unicode, Depth::Mono);
    driver.effects.clear();
    driver.keys("U");
    let [Effect::Past { roots }] = driver.effects.as_slice() else { panic!("{:?}", driver.effects) };
    assert_eq!(roots.len(), 2);
    driver.effects.clear();
    let entries = vec![
        entry("aaaaaaaaaaaa", Operation::Restore, Ok("The state of before comes back; day 213 is kept."), None),
        entry("bbbbbbbbbbbb", Operation::Delete, Err("It was taken back already."), Some("cccccccccccc")),
    ];
    driver.send(Msg::Past { entries, messages: Vec::new() });
    driver
}

#[test]
fn the_history_says_what_an_undo_would_do_and_asks_about_the_chosen_operation() {
    let mut driver = history((100, 30), true);
    assert!(driver.screen().contains("History: 92 MiB kept for undo"), "{}", driver.screen());
    assert!(driver.screen().contains("Undo: The state of before comes back"), "{}", driver.screen());
    driver.keys("j");
    assert!(driver.screen().contains("Taken back by cccccccccccc."), "{}", driver.screen());
    driver.keys("u");
    assert!(driver.model.dialog.is_none() && driver.effects.is_empty(), "there is nothing to take back");
    driver.keys("ku");
    let wish = wished(&driver).1;
    assert_eq!(wish, Wish::Undo { roots: vec!["/srv/valheim".into()], name: Some("aaaaaaaaaaaa".into()) });
    let mut driver = history((100, 30), true);
    driver.keys("jP");
    let wish = wished(&driver).1;
    assert_eq!(wish, Wish::Purge { roots: vec!["/srv/valheim".into()], name: Some("bbbbbbbbbbbb".into()) });
}

#[test]
fn the_history_closes_and_read_only_only_looks() {
    let mut driver = history((80, 24), true);
    driver.keys("q");
    assert!(driver.model.overlay.is_none());
    let mut driver = history((80, 24), true);
    driver.model.keymap = Keymap::new(&std::collections::BTreeMap::new(), true).0;
    driver.keys("uP");
    assert!(driver.model.dialog.is_none() && driver.effects.is_empty());
}

#[test]
fn the_screens() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/tui"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for size in [(80, 24), (200, 50), (40, 10)] {
            for (charset, unicode) in [("unicode", true), ("ascii", false)] {
                let name = |what: &str| format!("{what}-{}x{}-{charset}", size.0, size.1);
                insta::assert_snapshot!(name("history"), history(size, unicode).screen());
                let mut driver = Driver::new(size, unicode, Depth::Mono);
                driver.keys("gjjjllj").rest();
                driver.keys("<Space><Space>");
                insta::assert_snapshot!(name("marked"), driver.screen());
            }
        }
    });
}

#[test]
fn the_server_of_a_profile_is_seen_in_the_tree_and_its_reasons_in_the_details() {
    let mut driver = Driver::usual();
    let server = |state| Server {
        state,
        reasons: vec!["Process 4711 (valheim_server) names this folder.".into()],
        restarts: Vec::new(),
        at: ago(0),
    };
    driver.send(Msg::Servers(vec![("valheim".into(), server(ServerState::Running))]));
    driver.keys("g").rest();
    let screen = driver.screen();
    assert!(screen.contains("valheim  running") && screen.contains("Process 4711"), "{screen}");
    // Looked at once more when the cursor rests some time later, and only then.
    driver.effects.clear();
    driver.pass(10_000);
    assert!(driver.effects.iter().all(|effect| !matches!(effect, Effect::Server { .. })));
    driver.keys("j").pass(200);
    let asked = driver.effects.iter().filter(|effect| matches!(effect, Effect::Server { .. })).count();
    assert_eq!(asked, 1, "{:?}", driver.effects);
    driver.send(Msg::Servers(vec![("valheim".into(), server(ServerState::Stopped))]));
    let screen = driver.screen();
    assert!(screen.contains("valheim  stopped"), "{screen}");
}
