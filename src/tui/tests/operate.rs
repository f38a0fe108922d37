use crate::config::keys::Keymap;
use crate::config::theme::Depth;
use crate::model::outline::Preview;
use crate::model::plan::{
    Consent, Draft, Operation, Outcome, Plan, Proof, Reason, Refusal, Space, Warning, WarningCode,
};
use crate::model::{Server, ServerState, Severity};
use crate::ops::ask::Planned;
use crate::ops::run::Done;
use crate::tui::dialog::{Agreed, Stage, Wish};
use crate::tui::input::Input;
use crate::tui::state::{Effect, Msg};
use crate::tui::testing::{Driver, ago};
use crate::tui::tests::screens::styles;
use crate::tui::update::update;

/// A plan as a worker would make it.
pub(super) fn plan(operation: Operation, type_name: &str, warnings: &[(WarningCode, &str)]) -> Plan {
    let line = |label: &str, text: &str| (label.to_owned(), text.to_owned());
    Draft {
        operation,
        subject: "Midgard".to_owned(),
        name: "0123456789ab".to_owned(),
        undoes: None,
        restored: None,
        keep: "/srv/valheim/.worldkeep".into(),
        steps: Vec::new(),
        preview: Preview {
            title: "Restore into Midgard".to_owned(),
            lines: vec![
                line("from", "auto, 30 Nov 04:00 (12 h ago)  day 213  77,102 objects  1,480 pieces"),
                line("over", "live, save 17 (3 min ago)  day 214  77,504 objects  1,512 pieces"),
                line("files", "48 new, 3 replaced, 51 parked for undo"),
            ],
            notes: vec!["This goes back 1 day and 12 hours. 32 fewer pieces, 402 fewer objects.".to_owned()],
            type_name: type_name.to_owned(),
            done: "Restored Midgard to day 213.".to_owned(),
        },
        traces: None,
        bytes: 46 * 1024 * 1024,
        space: Space { on: "/srv/valheim".into(), bytes: 1100 * 1024 * 1024 },
        warnings: warnings.iter().map(|(code, text)| Warning { code: *code, text: (*text).to_owned() }).collect(),
        witnesses: Vec::new(),
    }
    .seal()
}

pub(super) fn shown(plan: &Plan) -> Vec<Planned> {
    let server = Server {
        state: ServerState::Stopped,
        reasons: vec!["No process, no open file and no lock points to a server.".to_owned()],
        restarts: vec!["A unit valheim.service may start it again: systemctl stop valheim".to_owned()],
        at: ago(3),
    };
    vec![Planned { plan: plan.clone(), server: Some(server) }]
}

/// A driver whose restore of a layer is being planned, and the ticket.
pub(super) fn restoring(size: (u16, u16), unicode: bool) -> (Driver, u64) {
    restoring_in(size, unicode, Depth::Mono)
}

fn restoring_in(size: (u16, u16), unicode: bool, depth: Depth) -> (Driver, u64) {
    let mut driver = Driver::new(size, unicode, depth);
    driver.keys("gjjjllj").rest();
    assert_eq!(driver.selected(), "valheim/Midgard@auto-1");
    driver.effects.clear();
    driver.keys("r");
    let [Effect::Plan { ticket, wish: Wish::Save { operation, world, layer, .. } }] = driver.effects.as_slice() else {
        panic!("{:?}", driver.effects);
    };
    assert_eq!((*operation, world.as_str()), (Operation::Restore, "valheim/Midgard"));
    assert_eq!(layer.as_deref(), Some("valheim/Midgard@auto-1"));
    let ticket = *ticket;
    driver.effects.clear();
    (driver, ticket)
}

fn asked(size: (u16, u16), unicode: bool, plan: &Plan) -> (Driver, u64) {
    let (mut driver, ticket) = restoring(size, unicode);
    driver.send(Msg::Planned { ticket, result: Ok(shown(plan)) });
    (driver, ticket)
}

pub(super) fn agreed(driver: &Driver) -> Option<&[Agreed]> {
    driver.effects.iter().find_map(|effect| match effect {
        Effect::Perform { agreed, .. } => Some(agreed.as_slice()),
        _ => None,
    })
}

pub(super) fn done(outcome: Outcome) -> Done {
    Done { name: "0123456789ab".to_owned(), outcome, told: Vec::new(), server_came_up: false }
}

#[test]
fn cancel_has_the_keys_first_and_does_nothing() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, _) = asked((80, 24), true, &plan);
    assert!(driver.screen().contains("[ Cancel ]"));
    driver.keys("<Enter>");
    assert!(driver.model.dialog.is_none());
    assert_eq!(driver.effects, []);
    assert!(driver.screen().contains("Nothing was changed."));
}

#[test]
fn what_is_confirmed_is_the_plan_that_was_on_the_screen() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, _) = asked((80, 24), true, &plan);
    driver.keys("<Tab><Enter>");
    let consent = Consent { proof: Proof::Dialog { shown: plan.id() }, accepted: Vec::new() };
    assert_eq!(agreed(&driver), Some([Agreed { plan, consent, again: None }].as_slice()));
    driver.effects.clear();
    driver.keys("<Enter><Tab><Enter>");
    assert_eq!(driver.effects, [], "it is carried out once");
}

#[test]
fn keys_that_were_typed_before_the_plan_was_painted_agree_to_nothing() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, ticket) = restoring((80, 24), true);
    driver.keys("<Tab><Enter><Enter>");
    // One batch without a frame in between.
    let mut effects = update(&mut driver.model, Msg::Planned { ticket, result: Ok(shown(&plan)) });
    for key in ["Tab", "Enter"] {
        effects.extend(update(&mut driver.model, Msg::Input(Input::Key(key.parse().unwrap(), 1))));
    }
    assert_eq!(effects, []);
    assert!(matches!(driver.model.dialog.as_ref().unwrap().stage, Stage::Asking(_)));
}

#[test]
fn a_warning_has_to_be_ticked_and_goes_along_by_name() {
    let warnings = [(WarningCode::LivenessUnknown, "Whether a server runs could not be told.")];
    let plan = plan(Operation::Restore, "", &warnings);
    let (mut driver, _) = asked((80, 24), true, &plan);
    driver.keys("<Tab><Tab><Enter>");
    assert_eq!(agreed(&driver), None);
    assert!(driver.screen().contains("Tick the warnings first"), "{}", driver.screen());
    driver.keys("<Shift-Tab><Space>");
    assert!(driver.screen().contains("[x] "));
    driver.keys("<Tab><Enter>");
    let consents: Vec<_> = agreed(&driver).unwrap().iter().map(|agreed| agreed.consent.accepted.clone()).collect();
    assert_eq!(consents, [vec![WarningCode::LivenessUnknown]]);
}

#[test]
fn a_name_has_to_be_typed_where_the_plan_asks_for_it() {
    let plan = plan(Operation::Purge, "Midgard", &[]);
    let (mut driver, _) = asked((80, 24), true, &plan);
    driver.keys("<Tab>Midgart<Enter><Enter>");
    assert_eq!(agreed(&driver), None);
    assert!(driver.screen().contains("Type the name first: Midgard"));
    driver.keys("<Shift-Tab><Backspace>d<Enter><Enter>");
    assert!(agreed(&driver).is_some());
}

#[test]
fn a_terminal_that_cannot_show_the_plan_cannot_confirm_it() {
    let plan = plan(Operation::Restore, "", &[]);
    for size in [(30, 24), (80, 7)] {
        let (mut driver, _) = asked((80, 24), true, &plan);
        driver.resize(size);
        driver.keys("<Tab><Enter>");
        assert_eq!(agreed(&driver), None, "{size:?}");
    }
}

#[test]
fn a_refusal_says_why_and_what_to_do_next() {
    let (mut driver, ticket) = restoring((80, 24), true);
    let refusal = Refusal::new(Reason::Running, "The process 4711 (valheim_server) holds the save.");
    driver.send(Msg::Planned { ticket, result: Err(refusal) });
    let screen = driver.screen();
    assert!(screen.contains("The process 4711") && screen.contains("Stop the server, and ask again."), "{screen}");
    assert!(screen.contains("Nothing was changed. (running)"), "{screen}");
    driver.keys("<Tab><Enter>");
    assert!(driver.model.dialog.is_none());
    assert_eq!(driver.effects, []);
}

#[test]
fn escape_while_planning_stops_the_worker_and_its_plan_counts_for_nothing() {
    let (mut driver, ticket) = restoring((80, 24), true);
    driver.keys("<Esc>");
    assert_eq!(driver.effects, [Effect::StopPlan]);
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Restore, "", &[]))) });
    assert!(driver.model.dialog.is_none());
    driver.keys("r");
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Restore, "", &[]))) });
    assert!(matches!(driver.model.dialog.as_ref().unwrap().stage, Stage::Planning), "an older plan is not meant");
}

#[test]
fn the_result_is_one_line_with_the_way_back_and_the_disk_is_looked_at_again() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, ticket) = asked((80, 24), true, &plan);
    driver.keys("<Tab><Enter>");
    driver.send(Msg::Progress { ticket, bytes: 12 * 1024 * 1024, path: "a/b".to_owned() });
    assert!(driver.screen().contains("12 MiB of 46 MiB"), "{}", driver.screen());
    driver.effects.clear();
    driver.send(Msg::Ended { ticket, ends: vec![done(Outcome::Done)] });
    assert!(driver.screen().contains("Restored Midgard to day 213. u takes it back."), "{}", driver.screen());
    assert_eq!(driver.effects, [Effect::Rescan(1)]);
}

#[test]
fn each_end_that_is_not_plain_has_its_own_words_and_stays() {
    let why = || "The disk is full.".to_owned();
    let ends = [
        (Outcome::CleanUpPending { left: vec!["/srv/x".into()], why: why() }, "could not be cleared away"),
        (Outcome::Unchanged { why: why() }, "It failed, and the save is what it was."),
        (Outcome::Unfinished { why: why() }, "It was interrupted in the middle."),
        (Outcome::Cancelled, "Stopped, and the save is what it was."),
        (Outcome::Refused(Refusal::new(Reason::Stale, why())), "Ask again"),
    ];
    for (outcome, words) in ends {
        let plan = plan(Operation::Restore, "", &[]);
        let (mut driver, ticket) = asked((80, 24), true, &plan);
        driver.keys("<Tab><Enter>");
        driver.send(Msg::Ended { ticket, ends: vec![done(outcome)] });
        driver.pass(60_000);
        let screen = driver.screen();
        assert!(screen.contains(words), "{words}: {screen}");
        driver.keys("<Enter>");
        assert!(driver.model.dialog.is_none());
    }
}

#[test]
fn a_server_that_came_up_is_an_alarm_and_swapping_back_is_a_question_of_its_own() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, ticket) = asked((80, 24), true, &plan);
    driver.keys("<Tab><Enter>");
    driver.send(Msg::Ended { ticket, ends: vec![Done { server_came_up: true, ..done(Outcome::Done) }] });
    assert!(driver.screen().contains("A server came up while"), "{}", driver.screen());
    driver.effects.clear();
    driver.keys("u");
    let [Effect::Plan { wish: Wish::Undo { name, roots }, .. }] = driver.effects.as_slice() else {
        panic!("{:?}", driver.effects);
    };
    assert_eq!((name.as_deref(), roots.len()), (Some("0123456789ab"), 1));
}

#[test]
fn the_end_of_the_program_waits_for_the_operation() {
    let plan = plan(Operation::Restore, "", &[]);
    let (mut driver, ticket) = asked((80, 24), true, &plan);
    driver.keys("<Tab><Enter>");
    driver.effects.clear();
    driver.send(Msg::Terminate(143));
    driver.send(Msg::Stop);
    assert_eq!(driver.effects, []);
    driver.keys("<Esc><Esc>");
    assert_eq!(driver.effects, [Effect::StopOperation]);
    driver.send(Msg::Ended { ticket, ends: vec![done(Outcome::Cancelled)] });
    assert!(driver.effects.contains(&Effect::Quit(143)), "{:?}", driver.effects);
}

#[test]
fn copy_and_rename_ask_for_the_name_first() {
    for (key, operation) in [("c", Operation::Copy), ("<F2>", Operation::Rename)] {
        let mut driver = Driver::usual();
        driver.keys("gjjj").rest();
        driver.effects.clear();
        driver.keys(key).keys("<Enter>");
        assert!(driver.screen().contains("Type a name first."));
        assert_eq!(driver.effects, []);
        driver.keys("Asgard<Enter>");
        let [Effect::Plan { wish: Wish::Save { operation: asked, name, layer: None, .. }, .. }] =
            driver.effects.as_slice()
        else {
            panic!("{:?}", driver.effects);
        };
        assert_eq!((*asked, name.as_deref()), (operation, Some("Asgard")));
    }
}

#[test]
fn each_key_asks_for_its_own_operation() {
    for (key, operation) in [("b", Operation::Backup), ("d", Operation::Delete), ("u", Operation::Undo)] {
        let mut driver = Driver::usual();
        driver.keys("gjjj").rest();
        driver.effects.clear();
        driver.keys(key);
        let [Effect::Plan { wish, .. }] = driver.effects.as_slice() else { panic!("{:?}", driver.effects) };
        assert_eq!(wish.operation(), operation);
    }
    let mut driver = Driver::usual();
    driver.keys("gjjj").rest();
    driver.effects.clear();
    driver.keys("r");
    assert!(driver.screen().contains("A restore needs an older layer"));
    assert_eq!(driver.effects, []);
}

#[test]
fn read_only_takes_the_keys_and_the_dialogs_away() {
    let mut driver = Driver::usual();
    driver.model.keymap = Keymap::new(&std::collections::BTreeMap::new(), true).0;
    driver.keys("gjjjllj").rest();
    driver.effects.clear();
    for key in ["r", "c", "b", "d", "u", "<F2>"] {
        driver.keys(key);
        assert!(driver.model.dialog.is_none(), "{key}");
    }
    assert!(driver.effects.iter().all(|effect| !matches!(effect, Effect::Plan { .. })));
    driver.keys(":restore<Enter>");
    assert!(driver.model.dialog.is_none());
}

#[test]
fn what_a_recovery_found_stays_until_it_was_read() {
    let mut driver = Driver::usual();
    driver.send(Msg::Recovered(vec!["A restore of Midgard was finished.".to_owned()]));
    driver.pass(600_000);
    assert!(driver.screen().contains("A restore of Midgard was finished."));
    driver.keys("<Enter>");
    assert!(driver.model.dialog.is_none());
    driver.send(Msg::Recovered(Vec::new()));
    assert!(driver.model.dialog.is_none());
}

/// Something that a server said.
fn said(severity: Severity, text: &str) -> Msg {
    Msg::Told { title: "The server says", severity, text: text.to_owned() }
}

#[test]
fn what_a_server_says_stays_until_it_was_read_and_is_said_once() {
    let mut driver = Driver::usual();
    driver.send(said(Severity::Error, "valheim: The server could not save Midgard."));
    driver.pass(600_000);
    assert!(driver.screen().contains("The server says"), "{}", driver.screen());
    assert!(driver.screen().contains("could not save Midgard."));
    driver.send(said(Severity::Error, "valheim: The server could not save Midgard."));
    driver.send(said(Severity::Warning, "valheim: Midgard is in the old format."));
    assert!(!driver.screen().contains("old format"), "what somebody reads does not change");
    driver.keys("<Esc>");
    assert!(driver.screen().contains("old format") && !driver.screen().contains("could not save"));
    driver.keys("<Enter>");
    assert!(driver.model.dialog.is_none());
}

#[test]
fn what_is_only_good_to_know_is_a_line_that_goes_away() {
    let mut driver = Driver::usual();
    driver.send(said(Severity::Note, "valheim: The server loads save 17 of Midgard."));
    assert!(driver.model.dialog.is_none() && driver.screen().contains("loads save 17"));
    driver.pass(60_000);
    assert!(!driver.screen().contains("loads save 17"));
}

#[test]
fn an_alarm_waits_until_a_text_is_typed_and_a_question_is_answered() {
    let mut driver = Driver::usual();
    driver.keys("/mid");
    driver.send(said(Severity::Error, "valheim: Alarm."));
    assert!(driver.model.dialog.is_none(), "it took the keys from the filter");
    driver.keys("<Enter>");
    driver.pass(1000);
    assert!(driver.screen().contains("Alarm."), "{}", driver.screen());
    driver.keys("<Esc>");
    let (mut driver, ticket) = restoring((80, 24), true);
    driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Restore, "Midgard", &[]))) });
    driver.send(said(Severity::Error, "valheim: Alarm."));
    assert!(!driver.screen().contains("Alarm."));
    driver.keys("<Esc>");
    assert!(driver.screen().contains("Alarm."));
}

#[test]
fn the_dialogs() {
    let warnings = [
        (WarningCode::OnlyInLive, "3 files are in the live world only, and would be parked."),
        (WarningCode::LivenessUnknown, "Whether a server runs could not be told: /proc hides other users' processes."),
    ];
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/tui"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for size in [(200, 50), (80, 24), (40, 10)] {
            for (charset, unicode) in [("unicode", true), ("ascii", false)] {
                let see = |name: &str, driver: &mut Driver| {
                    let name = format!("dialog-{name}-{}x{}-{charset}", size.0, size.1);
                    insta::assert_snapshot!(name, driver.screen());
                };
                let (mut driver, ticket) = restoring(size, unicode);
                see("planning", &mut driver);
                driver
                    .send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Restore, "Midgard", &warnings))) });
                see("asking", &mut driver);
                driver.keys("<Tab><Space><Tab>Midgard");
                see("ticked", &mut driver);
                driver.keys("<Tab><Enter>");
                driver.send(Msg::Progress { ticket, bytes: 9_000_000, path: "_main.17.db2".to_owned() });
                see("running", &mut driver);
                let ends = vec![Done { server_came_up: true, ..done(Outcome::Done) }];
                driver.send(Msg::Ended { ticket, ends });
                see("alarm", &mut driver);
                let (mut driver, ticket) = restoring(size, unicode);
                let refusal = Refusal::new(Reason::Running, "The process 4711 (valheim_server) holds the save.");
                driver.send(Msg::Planned { ticket, result: Err(refusal) });
                see("refused", &mut driver);
                let mut driver = Driver::new(size, unicode, Depth::Mono);
                driver.keys("gjjj").rest();
                driver.keys("<F2>Asgard");
                see("naming", &mut driver);
            }
        }
        for (word, depth) in [("rgb", Depth::Rgb), ("mono", Depth::Mono)] {
            let (mut driver, ticket) = restoring_in((80, 24), true, depth);
            driver.send(Msg::Planned { ticket, result: Ok(shown(&plan(Operation::Restore, "Midgard", &warnings))) });
            driver.keys("<Tab><Space>");
            insta::assert_snapshot!(format!("dialog-ticked-80x24-styles-{word}"), styles(&mut driver));
        }
    });
}
