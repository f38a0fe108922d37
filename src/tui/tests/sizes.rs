use crate::config::theme::Depth;
use crate::tui::testing::Driver;

/// What leads to each screen.
const SCREENS: [&str; 8] = ["", "<Tab>", "<Tab><Tab>", "?", ":re", "/grim", "gjjj=llj=", "gjjjv"];

fn every_size(unicode: bool, depth: Depth) {
    for keys in SCREENS {
        let mut driver = Driver::new((120, 40), unicode, depth);
        driver.rest();
        driver.keys(keys);
        let small = (0..=40).flat_map(|columns| (0..=15).map(move |rows| (columns, rows)));
        let large = [(59, 12), (60, 11), (60, 12), (80, 24), (99, 30), (100, 12), (120, 40), (200, 60)];
        for size in small.chain(large) {
            driver.resize(size);
            driver.paint();
        }
    }
}

#[test]
fn every_screen_is_painted_at_every_size() {
    every_size(true, Depth::Rgb);
}

#[test]
fn every_screen_is_painted_at_every_size_in_ascii() {
    every_size(false, Depth::Mono);
}

#[test]
fn a_screen_without_saves_is_painted_at_every_size() {
    let mut driver = Driver::bare((80, 24), true, Depth::Sixteen);
    driver.scan(0, Vec::new());
    for columns in 0..=40 {
        for rows in 0..=15 {
            driver.resize((columns, rows));
            driver.paint();
        }
    }
}

#[test]
fn ascii_screens_hold_ascii_only() {
    for keys in SCREENS {
        let mut driver = Driver::new((100, 30), false, Depth::Sixteen);
        driver.rest();
        driver.keys(keys);
        let screen = driver.screen();
        assert!(screen.is_ascii(), "{keys}: {screen}");
    }
}

#[test]
fn hostile_names_never_reach_the_terminal_as_they_are() {
    for keys in SCREENS {
        let mut driver = Driver::usual();
        driver.rest();
        driver.keys(keys);
        driver.terminal.clear().unwrap();
        let bytes = driver.paint();
        assert!(!bytes.contains("Steer\u{1b}[2J") && !bytes.contains('\u{202e}'), "{keys}");
    }
}
