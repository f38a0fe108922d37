use crate::model::{Checked, Code, Depth, Facts, Finding, Verdict};
use crate::scan::Event;
use crate::tui::input::Input;
use crate::tui::state::{Effect, Focus, MapState, Msg, Signature};
use crate::tui::testing::{Driver, catalog, chart};

fn checked(verdict: Verdict) -> Box<Checked> {
    Box::new(Checked {
        verdict,
        depth: Depth::Full,
        findings: Vec::new(),
        facts: Facts::default(),
        restorable: true,
        reason: None,
        moved: None,
    })
}

fn signature(driver: &Driver, id: &str) -> Signature {
    Signature::of(driver.model.catalog.layer(id).unwrap().2)
}

fn checks(driver: &mut Driver) -> Vec<Signature> {
    let effects = std::mem::take(&mut driver.effects);
    let of = |effect| if let Effect::Check { signature, .. } = effect { Some(signature) } else { None };
    effects.into_iter().filter_map(of).collect()
}

#[test]
fn the_first_world_is_selected_until_the_user_chooses() {
    let mut driver = Driver::bare((120, 40), true, crate::config::theme::Depth::Rgb);
    let mut profile = catalog().remove(0);
    let late = profile.worlds.remove(0);
    driver.send(Msg::Scan { generation: 0, event: Event::Profile(profile) });
    assert_eq!(driver.selected(), "valheim/A very long name of a world that goes on and on");
    driver.keys("j");
    let chosen = driver.selected();
    driver.send(Msg::Scan { generation: 0, event: Event::World { profile: "valheim".to_owned(), world: late } });
    assert_eq!(driver.selected(), chosen);
}

#[test]
fn keys_move_open_and_close() {
    let mut driver = Driver::usual();
    driver.keys("g");
    assert_eq!(driver.selected(), "valheim");
    driver.keys("jjj");
    assert_eq!(driver.selected(), "valheim/Midgard");
    driver.keys("llj");
    assert_eq!(driver.selected(), "valheim/Midgard@auto-1");
    driver.keys("h");
    assert_eq!(driver.selected(), "valheim/Midgard");
    driver.keys("<Enter>");
    assert!(!driver.screen().contains("before 1.0"));
    driver.keys("G");
    assert_eq!(driver.selected(), "empty");
    driver.keys("hhkkkkkkkkkkkkkkkkkk");
    assert_eq!(driver.selected(), "valheim");
}

#[test]
fn many_equal_keys_at_once_go_as_far_as_one_after_another() {
    let mut one = Driver::usual();
    one.keys("gjjj");
    let mut many = Driver::usual();
    many.keys("g");
    many.send(Msg::Input(Input::Key("j".parse().unwrap(), 3)));
    assert_eq!(one.selected(), many.selected());
}

#[test]
fn the_selection_finds_its_place_after_a_rescan() {
    let mut driver = Driver::usual();
    driver.keys("/auto-1<Enter>");
    driver.keys("<Esc>");
    let mut fresh = catalog();
    driver.keys("R");
    assert!(driver.effects.contains(&Effect::Rescan(1)));
    driver.scan(1, fresh.clone());
    assert_eq!(driver.selected(), "valheim/Midgard@auto-1");
    // The next sibling of old.
    fresh[0].worlds[0].layers.retain(|layer| layer.key() != "auto-1");
    driver.keys("R");
    driver.scan(2, fresh.clone());
    assert_eq!(driver.selected(), "valheim/Midgard@before");
    // Without siblings, the parent.
    fresh[0].worlds[0].layers.clear();
    driver.keys("R");
    driver.scan(3, fresh.clone());
    assert_eq!(driver.selected(), "valheim/Midgard");
    fresh[0].worlds.clear();
    driver.keys("R");
    driver.scan(4, fresh);
    assert_eq!(driver.selected(), "valheim");
}

#[test]
fn an_older_scan_changes_nothing_once_a_newer_one_has_begun() {
    let mut driver = Driver::usual();
    driver.keys("RR");
    driver.scan(1, Vec::new());
    assert_eq!(driver.model.catalog.profiles.len(), 2);
    driver.scan(2, Vec::new());
    assert_eq!(driver.model.catalog.profiles.len(), 0);
}

#[test]
fn changed_files_lead_to_one_scan_and_one_more_when_it_is_under_way() {
    let mut driver = Driver::usual();
    driver.effects.clear();
    driver.send(Msg::Dirty);
    driver.send(Msg::Dirty);
    assert_eq!(driver.effects, [Effect::Rescan(1)]);
    driver.scan(1, catalog());
    assert_eq!(driver.effects, [Effect::Rescan(1), Effect::Follow, Effect::Rescan(2)]);
}

#[test]
fn a_map_and_a_check_begin_after_a_rest_and_a_burst_begins_neither() {
    let mut driver = Driver::usual();
    driver.rest();
    driver.effects.clear();
    driver.keys("/grim<Enter>");
    driver.pass(50);
    assert_eq!(driver.effects, []);
    driver.keys("g");
    driver.keys("n");
    driver.pass(60);
    assert_eq!(driver.effects, []);
    driver.pass(60);
    let kinds: Vec<bool> = driver.effects.iter().map(|effect| matches!(effect, Effect::Chart { .. })).collect();
    assert_eq!(kinds, [true, false]);
    assert!(matches!(&driver.effects[1], Effect::Check { signature, .. } if signature.id == "valheim/Grimhold@live"));
}

#[test]
fn while_a_save_is_written_its_world_is_checked_only_when_asked() {
    let mut driver = Driver::usual();
    let mut fresh = catalog();
    let writing = Finding::note(Code::SaveInProgress, "Save 9 is being written now.", "");
    fresh[0].worlds[1].layers[0].findings.push(writing);
    driver.keys("R");
    driver.scan(1, fresh);
    driver.effects.clear();
    driver.keys("/grim<Enter>");
    driver.pass(200);
    assert!(driver.effects.iter().any(|effect| matches!(effect, Effect::Chart { .. })), "the rest was noticed");
    assert!(checks(&mut driver).is_empty());
    driver.keys("v");
    assert!(!checks(&mut driver).is_empty());
}

#[test]
fn a_map_that_was_made_is_not_made_again() {
    let mut driver = Driver::usual();
    driver.keys("/midgard<Enter>").rest();
    driver.keys("<Esc>/grim<Enter>").rest();
    driver.effects.clear();
    driver.keys("<Esc>/midgard<Enter>");
    driver.pass(200);
    assert!(!driver.effects.iter().any(|effect| matches!(effect, Effect::Chart { .. })));
}

#[test]
fn a_map_for_another_selection_is_kept_but_not_shown() {
    let mut driver = Driver::usual();
    driver.keys("/grim<Enter>");
    driver.pass(200);
    let late = signature(&driver, "valheim/Midgard@live");
    driver.send(Msg::Charted { signature: late, result: Ok(chart()) });
    assert!(matches!(driver.model.map.state, MapState::Loading));
    assert!(driver.screen().contains("Loading the map"));
}

#[test]
fn a_map_that_cannot_be_made_says_why_in_its_pane() {
    let mut driver = Driver::usual();
    driver.keys("/grim<Enter>");
    driver.pass(200);
    let finding = Finding::error(Code::Truncated, "The zone block ends early.", "Look at an older layer.");
    let signature = signature(&driver, "valheim/Grimhold@live");
    driver.send(Msg::Charted { signature, result: Err(Box::new(finding)) });
    let screen = driver.screen();
    assert!(
        screen.contains("There is no map of this layer.") && screen.contains("The zone block ends early."),
        "{screen}"
    );
}

#[test]
fn a_check_is_taken_over_and_shows_its_depth() {
    let mut driver = Driver::usual();
    driver.keys("/grim<Enter>l").rest();
    assert!(driver.screen().contains("damaged (headers)"));
    let of = signature(&driver, "valheim/Grimhold@live");
    driver.send(Msg::Checked { signature: of, checked: checked(Verdict::Sound) });
    driver.pass(200);
    assert!(driver.screen().contains("whole (full check)"));
}

#[test]
fn a_check_of_files_that_have_changed_since_counts_for_nothing() {
    let mut driver = Driver::usual();
    let old = signature(&driver, "valheim/Grimhold@live");
    let mut fresh = catalog();
    fresh[0].worlds[1].layers[0].bytes += 1;
    driver.keys("R");
    driver.scan(1, fresh);
    driver.send(Msg::Checked { signature: old, checked: checked(Verdict::Sound) });
    assert_eq!(driver.model.catalog.layer("valheim/Grimhold@live").unwrap().2.verdict, Verdict::Damaged);
}

#[test]
fn a_world_is_verified_layer_by_layer_with_progress_and_a_sum() {
    let mut driver = Driver::usual();
    driver.keys("/^$<Esc>").rest();
    driver.effects.clear();
    driver.keys("gjjjv");
    for (n, key) in ["live", "auto-1", "before", "auto-2"].into_iter().enumerate() {
        let asked = checks(&mut driver);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].id, format!("valheim/Midgard@{key}"));
        let progress = format!("{} of 4 (Esc stops)", n + 1);
        assert!(driver.screen().contains(&progress), "{progress}");
        let verdict = if n == 3 { Verdict::Unfinished } else { Verdict::Sound };
        driver.send(Msg::Checked { signature: asked[0].clone(), checked: checked(verdict) });
    }
    assert!(driver.screen().contains("Checked 4 layers: 3 whole, 0 damaged, 1 other."));
}

#[test]
fn escape_stops_a_verification() {
    let mut driver = Driver::usual();
    driver.keys("gjjjv<Esc>");
    assert!(driver.effects.contains(&Effect::StopCheck));
    assert!(driver.screen().contains("Stopped after 0 of 4."));
    assert_eq!(driver.model.checking.total, 0);
}

#[test]
fn two_layers_are_compared_side_by_side() {
    let mut driver = Driver::usual();
    driver.keys("gjjj===");
    assert!(driver.model.mark.is_some());
    driver.keys("lljj=");
    let screen = driver.screen();
    assert!(screen.contains("Midgard @ live, save 17") && screen.contains("Midgard @ before 1.0"), "{screen}");
    let line = |label: &str| screen.lines().find(|line| line.contains(label)).unwrap().to_owned();
    assert!(line("│day ").contains('≠') && !line("│seed ").contains('≠'));
    driver.keys("q");
    assert!(driver.model.overlay.is_none() && !driver.effects.contains(&Effect::Quit(0)));
}

#[test]
fn the_path_goes_to_the_clipboard_and_is_shown() {
    let mut driver = Driver::usual();
    driver.keys("gjjjy");
    assert!(driver.effects.contains(&Effect::Clipboard(b"/srv/valheim/worlds_local/Midgard".to_vec())));
    assert!(driver.screen().contains("/srv/valheim/worlds_local/Midgard"));
}

#[test]
fn tab_goes_round_the_panes_and_the_map_can_be_hidden() {
    let mut driver = Driver::usual();
    driver.keys("<Tab>");
    assert_eq!(driver.model.focus, Focus::Details);
    driver.keys("<Tab>");
    assert_eq!(driver.model.focus, Focus::Map);
    driver.keys("m");
    assert_eq!(driver.model.focus, Focus::Tree);
    driver.keys("<S-Tab><S-Tab><S-Tab>");
    assert_eq!(driver.model.focus, Focus::Details);
    assert!(!driver.screen().contains("Map"));
}

#[test]
fn the_map_moves_and_zooms_and_comes_home() {
    let mut driver = Driver::usual();
    driver.rest();
    let home = driver.model.map.picture.clone().unwrap().view;
    driver.keys("<Tab><Tab>++l");
    let near = driver.model.map.picture.clone().unwrap().view;
    assert!(near.scale < home.scale / 3.9 && near.x > home.x);
    driver.keys("0");
    assert_eq!(driver.model.map.picture.clone().unwrap().view, home);
}

#[test]
fn quit_and_ctrl_c_close_what_is_on_top_first() {
    let mut driver = Driver::usual();
    driver.effects.clear();
    driver.keys("?<C-c>");
    assert!(driver.model.overlay.is_none() && driver.effects.is_empty());
    driver.keys("<C-c>");
    assert_eq!(driver.effects, [Effect::Quit(0)]);
}

#[test]
fn a_palette_runs_what_it_finds() {
    let mut driver = Driver::usual();
    driver.keys(":sor<Enter>");
    assert!(driver.screen().contains("sort: age"));
    driver.keys(":zzzz<Enter>");
    assert!(driver.model.overlay.is_none());
}

#[test]
fn a_paste_types_nothing_where_keys_are_commands() {
    let mut driver = Driver::usual();
    driver.effects.clear();
    driver.send(Msg::Input(Input::Paste("q\nd\n".to_owned())));
    assert!(driver.effects.is_empty() && driver.model.status.is_none());
    driver.keys("/");
    driver.send(Msg::Input(Input::Paste("grim\nq".to_owned())));
    assert_eq!(driver.model.filter, "grim");
}

#[test]
fn a_failed_worker_is_a_sentence() {
    let mut driver = Driver::usual();
    driver.send(Msg::Failed("index out of \u{1b}[2J".to_owned()));
    assert!(driver.screen().contains("A part of worldkeep failed: index out of \\u{1b}[2J."));
}

#[test]
fn a_path_that_would_press_enter_in_a_shell_is_not_sent() {
    let mut profiles = catalog();
    profiles[0].worlds[1].layers[0].path = "/srv/a\nreboot\n.db".into();
    let mut driver = Driver::bare((120, 40), true, crate::config::theme::Depth::Rgb);
    driver.scan(0, profiles);
    driver.keys("/grim<Enter>y");
    assert!(!driver.effects.iter().any(|effect| matches!(effect, Effect::Clipboard(_))));
    assert!(driver.screen().contains("Not sent, since it has control characters: /srv/a\\u{a}reboot"));
}

#[test]
fn rows_after_a_check_say_what_a_tree_built_anew_would_say() {
    let mut driver = Driver::usual();
    let built = driver.model.tree.forest.built;
    let of = signature(&driver, "valheim/Grimhold@live");
    driver.send(Msg::Checked { signature: of, checked: checked(Verdict::Sound) });
    assert!(!driver.model.tree.stale && driver.model.tree.forest.built == built + 1);
    let rows = |driver: &Driver| format!("{:?}", driver.model.tree.forest.items);
    let renewed = rows(&driver);
    driver.model.tree.stale = true;
    driver.pass(0);
    crate::tui::prepare::prepare(&mut driver.model);
    assert_eq!(renewed, rows(&driver));
}
#[test]
fn a_filter_that_lets_nothing_through_moves_nobody_away() {
    let mut driver = Driver::usual();
    driver.keys("gjjjlj");
    let here = driver.selected();
    driver.keys("/zzz");
    assert_eq!(driver.model.tree.selected, None);
    driver.keys("<Esc>");
    assert_eq!(driver.selected(), here);
}

#[test]
fn a_profile_that_went_away_is_looked_for_until_it_is_back() {
    let mut driver = Driver::usual();
    driver.keys("R");
    driver.scan(1, Vec::new());
    driver.effects.clear();
    driver.pass(9_000);
    assert!(!driver.effects.contains(&Effect::Rescan(2)));
    driver.pass(1_100);
    assert!(driver.effects.contains(&Effect::Rescan(2)));
    driver.scan(2, catalog());
    assert_eq!(driver.model.catalog.profiles.len(), 2);
    driver.pass(60_000);
    assert!(!driver.effects.contains(&Effect::Rescan(3)));
}
