use crate::tui::testing::Driver;

#[test]
fn the_filter_shows_matches_with_their_ancestors_and_counts_them() {
    let mut driver = Driver::usual();
    driver.keys("/grim");
    let screen = driver.screen();
    assert!(screen.contains("filter: grim, 1 of 15"), "{screen}");
    assert!(screen.contains("valheim") && screen.contains("Grimhold") && !screen.contains("│   ▸ Midgard"), "{screen}");
    assert_eq!(driver.selected(), "valheim/Grimhold");
    driver.keys("<Enter>");
    assert!(driver.model.overlay.is_none() && driver.model.filter == "grim");
    driver.keys("<Esc>");
    assert!(driver.model.filter.is_empty());
    assert_eq!(driver.selected(), "valheim/Grimhold");
}

#[test]
fn a_name_that_vanished_from_the_list_is_found_where_it_is_hidden() {
    let mut driver = Driver::usual();
    driver.keys("/oldheim<Enter>").rest();
    assert_eq!(driver.selected(), "valheim/Midgard");
    assert!(driver.screen().contains("The pair OldHeim.fwl"));
}

#[test]
fn a_layer_is_found_by_its_kind_and_shows_its_rule() {
    let mut driver = Driver::usual();
    driver.keys("/rolling<Enter>").rest();
    let screen = driver.screen();
    assert!(screen.contains("rolling save") && screen.contains("the stamp and _backup_ stand where"), "{screen}");
}

#[test]
fn capitals_in_the_filter_count() {
    let mut driver = Driver::usual();
    driver.keys("/GRIM");
    assert_eq!(driver.model.tree.forest.hits, 0);
    assert!(driver.screen().contains("Nothing matches the filter"));
}

#[test]
fn next_and_previous_go_round_the_matches() {
    let mut driver = Driver::usual();
    driver.keys("/auto<Enter>");
    let first = driver.selected();
    driver.keys("n");
    let second = driver.selected();
    assert_ne!(first, second);
    driver.keys("n");
    assert_eq!(driver.selected(), first);
    driver.keys("N");
    assert_eq!(driver.selected(), second);
}

#[test]
fn worlds_sort_by_name_age_and_size() {
    let mut driver = Driver::usual();
    let order = |driver: &Driver| {
        let items = driver.model.tree.forest.items.iter().filter(|item| item.depth == 1);
        items.map(|item| item.row.name.chars().next().unwrap()).collect::<String>()
    };
    assert_eq!(order(&driver), "AGMSÜ");
    driver.keys("s");
    assert_eq!(order(&driver), "AÜMSG");
    driver.keys("s");
    assert_eq!(order(&driver), "MGÜSA");
    driver.keys("s");
    assert_eq!(order(&driver), "AGMSÜ");
}

#[test]
fn the_help_finds_by_name_key_and_words() {
    let mut driver = Driver::usual();
    for (query, found) in [("veri", "verify"), ("F5", "rescan"), ("clipboard", "copy-path")] {
        driver.keys(&format!("?{query}"));
        let screen = driver.screen();
        assert!(screen.contains(found), "{query}: {screen}");
        driver.keys("<Esc>");
    }
    driver.keys("?zzz");
    assert!(driver.screen().contains("Nothing is called that."));
}

#[test]
fn erasing_gives_back_what_was_filtered_out() {
    let mut driver = Driver::usual();
    driver.keys("/grim x<C-w><Backspace>");
    assert_eq!(driver.model.filter, "grim");
    driver.keys("<C-u>");
    assert_eq!(driver.model.filter, "");
    assert!(driver.screen().contains("Midgard"));
}
