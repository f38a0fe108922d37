use std::fmt::Write as _;

use crate::config::theme::Depth;
use crate::model::{Found, Looked, Outcome};
use crate::scan::Event;
use crate::tui::state::Msg;
use crate::tui::testing::Driver;

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// The text of the screen for each charset, and the runs of styles for each depth of colour.
fn snapshot(name: &str, at: impl Fn(&mut Driver)) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/tui"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for size in SIZES {
            for (charset, unicode) in [("unicode", true), ("ascii", false)] {
                let mut driver = Driver::bare(size, unicode, Depth::Mono);
                at(&mut driver);
                insta::assert_snapshot!(format!("{name}-{}x{}-{charset}", size.0, size.1), driver.screen());
            }
        }
        for (word, depth) in [("rgb", Depth::Rgb), ("16", Depth::Sixteen), ("mono", Depth::Mono)] {
            let mut driver = Driver::bare((80, 24), true, depth);
            at(&mut driver);
            insta::assert_snapshot!(format!("{name}-80x24-styles-{word}"), styles(&mut driver));
        }
    });
}

/// Each row's runs of one style: column, look, text.
pub(super) fn styles(driver: &mut Driver) -> String {
    driver.screen();
    let mut out = String::new();
    // The buffer that was painted is the one before the current one: paint once more into it.
    let model = &driver.model;
    let frame = driver.terminal.draw(|frame| crate::tui::view::view(model, frame)).unwrap();
    let buffer = frame.buffer;
    for y in 0..buffer.area.height {
        let mut last = None;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let look = (cell.fg, cell.bg, cell.modifier);
            if last != Some(look) {
                let _ = write!(out, "{}{x} {:?}/{:?}/{:?}: ", if x == 0 { "" } else { "\n  " }, look.0, look.1, look.2);
                last = Some(look);
            }
            out.push_str(cell.symbol());
        }
        let trimmed = out.trim_end().len();
        out.truncate(trimmed);
        out.push('\n');
    }
    out
}

fn filled(driver: &mut Driver) {
    driver.scan(0, crate::tui::testing::catalog());
    driver.keys("gjjjl").rest();
}

#[test]
fn the_tree_with_details_and_map() {
    snapshot("tree", filled);
}

#[test]
fn the_help() {
    snapshot("help", |driver| {
        filled(driver);
        driver.keys("?");
    });
}

#[test]
fn the_filter() {
    snapshot("filter", |driver| {
        filled(driver);
        driver.keys("/auto").rest();
    });
}

#[test]
fn two_layers_compared() {
    snapshot("compare", |driver| {
        filled(driver);
        driver.keys("=ljj=");
    });
}

#[test]
fn nothing_found() {
    snapshot("nothing", |driver| {
        let places = [
            ("/home/u/.config/unity3d/IronGate/Valheim", Found::Discovered, Outcome::Missing),
            ("/srv/mc", Found::Configured, Outcome::Denied("mode 0700, owner mc".to_owned())),
            ("/tmp/x", Found::Argument, Outcome::Nothing),
        ];
        for (path, found, outcome) in places {
            let looked = Looked { path: path.into(), found, outcome };
            driver.send(Msg::Scan { generation: 0, event: Event::Looked(looked) });
        }
        driver.scan(0, Vec::new());
    });
}

#[test]
fn no_finished_save() {
    snapshot("unfinished", |driver| {
        filled(driver);
        driver.keys("gjjjljjj").rest();
        assert_eq!(driver.selected(), "valheim/Midgard@auto-2");
    });
}

#[test]
fn a_damaged_world() {
    snapshot("damaged", |driver| {
        filled(driver);
        driver.keys("/grim<Enter>").rest();
        driver.keys("<Tab>");
    });
}
