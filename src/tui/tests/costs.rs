use ratatui::Terminal;
use ratatui::layout::Size;

use crate::config::theme::{Depth, Theme};
use crate::raster::{Picture, View};
use crate::tui::glyphs::Glyphs;
use crate::tui::input::Input;
use crate::tui::state::Msg;
use crate::tui::style::Skin;
use crate::tui::testing::{Driver, chart};
use crate::tui::view::map;
use crate::tui::wire::Wire;

#[test]
fn a_cursor_move_writes_at_most_a_kilobyte_before_it_rests() {
    for depth in [Depth::Rgb, Depth::Sixteen, Depth::Mono] {
        let mut driver = Driver::new((120, 40), true, depth);
        driver.keys("gjjjl").rest();
        driver.paint();
        for _ in 0..6 {
            driver.keys("j");
            let bytes = driver.paint();
            assert!(!bytes.is_empty() && bytes.len() <= 1024, "{} bytes", bytes.len());
        }
    }
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let mut driver = Driver::usual();
    driver.rest();
    driver.paint();
    driver.pass(10_000);
    driver.paint();
    driver.pass(10_000);
    assert!(!driver.model.dirty);
    assert_eq!(driver.paint(), "");
}

#[test]
fn a_burst_of_keys_is_one_small_frame() {
    let mut driver = Driver::usual();
    driver.rest();
    driver.paint();
    driver.send(Msg::Input(Input::Key("j".parse().unwrap(), 200)));
    assert!(driver.paint().len() <= 1024);
}

#[test]
fn a_map_of_60_by_30_cells_costs_at_most_20_kilobytes() {
    for (depth, most) in [(Depth::Rgb, 20_000), (Depth::Palette, 12_000), (Depth::Sixteen, 7_000)] {
        let (theme, _) = Theme::load("default", &[], depth);
        let skin = Skin::new(&theme, &Glyphs::new(true));
        let chart = chart();
        let picture = Picture::draw(&chart, View::fit(&chart, 60, 60), 60, 60);
        let mut terminal = Terminal::new(Wire::new(Size::new(60, 30), "")).unwrap();
        terminal
            .draw(|frame| {
                let area = frame.area();
                map::draw(&skin, depth, &picture, frame.buffer_mut(), area);
            })
            .unwrap();
        let bytes = terminal.backend_mut().take().unwrap().len();
        assert!(bytes <= most, "{depth:?}: {bytes} bytes");
    }
}

#[test]
fn a_key_that_moves_nothing_paints_nothing() {
    let mut driver = Driver::usual();
    driver.keys("G").rest();
    driver.paint();
    assert!(!driver.model.dirty);
    driver.keys("jjj");
    assert!(!driver.model.dirty);
}

#[test]
fn closed_nodes_have_no_rows_to_lay_out() {
    let mut driver = Driver::usual();
    driver.rest();
    let children =
        |driver: &Driver| driver.model.tree.painted.items[0].children().iter().map(|w| w.children().len()).max();
    assert_eq!(children(&driver), Some(1));
    driver.keys("/^$<Esc>gjjjl");
    assert_eq!(children(&driver), Some(4));
    driver.keys("h");
    assert_eq!(children(&driver), Some(1));
}
