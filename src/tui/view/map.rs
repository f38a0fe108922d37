//! The map pane.

use std::fmt::Write as _;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::layout::inside;
use super::super::state::{Focus, MapState, Model};
use super::super::style::Skin;
use super::super::text::{cut, width, wrap};
use super::pane;
use crate::config::theme::{Depth, Role};
use crate::model::human;
use crate::raster::{Chart, Ink, Picture};

/// Lines under the picture: scale and place, and the legend.
const FOOT: u16 = 2;

/// The place of the picture in the pane.
pub(in super::super) fn canvas(area: Rect) -> Rect {
    let inner = inside(area);
    let foot = if inner.height >= 5 { FOOT } else { 0 };
    Rect { height: inner.height - foot, ..inner }
}

/// Paints the pane.
pub(super) fn paint(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let focused = model.focus == Focus::Map && model.overlay.is_none();
    let inner = inside(area);
    let title = title(model);
    frame.render_widget(pane(skin, &title, focused, area), area);
    let sentence = match &model.map.state {
        MapState::Ready(chart) => {
            if let Some(picture) = &model.map.picture {
                let canvas = canvas(area);
                draw(skin, model.facts.depth, picture, frame.buffer_mut(), canvas);
                if canvas.height < inner.height {
                    let foot = Rect { y: canvas.bottom(), height: inner.height - canvas.height, ..inner };
                    let lines = vec![
                        place(skin, chart, picture, inner.width),
                        legend(skin, model.facts.depth, chart, inner.width),
                    ];
                    frame.render_widget(Paragraph::new(lines), foot);
                }
            }
            return;
        }
        MapState::Nothing => "Choose a world or a layer to see its map.".to_owned(),
        MapState::Loading => format!("Loading the map{}", skin.glyphs.ellipsis),
        MapState::Failed(why) => format!("There is no map of this layer. {}", skin.glyphs.text(why)),
    };
    let lines: Vec<Line> = wrap(&sentence, usize::from(inner.width))
        .into_iter()
        .map(|line| Line::styled(line, skin.of(Role::Muted)))
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

fn title(model: &Model) -> String {
    let glyphs = &model.skin.glyphs;
    let Some((_, world, layer)) = model.map.target.as_ref().and_then(|target| model.catalog.layer(&target.id)) else {
        return "Map".to_owned();
    };
    let mut title = format!("Map{}{} @ {}", glyphs.dot, glyphs.text(&world.name), layer.kind.word());
    if let MapState::Ready(chart) = &model.map.state
        && !chart.layers.is_empty()
    {
        title.push_str(glyphs.dot);
        title.push_str(&chart.layers.join(", "));
    }
    title
}

/// Paints a picture into cells: two pixels a cell where there is colour, a letter a cell where there is none.
pub(in super::super) fn draw(skin: &Skin, depth: Depth, picture: &Picture, buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    let halves = skin.glyphs.unicode && depth != Depth::Mono;
    for y in 0..area.height {
        // What the cell to the left has: keeping its colours writes less.
        let mut left = (Color::Reset, Color::Reset);
        for x in 0..area.width {
            let (above, below) =
                (picture.ink(x, y.saturating_mul(2)), picture.ink(x, y.saturating_mul(2).saturating_add(1)));
            let Some(cell) = buffer.cell_mut((area.x + x, area.y + y)) else { continue };
            if halves {
                let (symbol, fg, bg) = half(skin.fill(above), skin.fill(below), left);
                left = (fg, bg);
                cell.set_symbol(symbol).set_fg(fg).set_bg(bg);
            } else {
                let ink = above.max(below);
                cell.set_symbol(skin.glyphs.ink(ink)).set_style(skin.ink(ink));
            }
        }
    }
    for dot in &picture.dots {
        let (x, y) = (dot.x, dot.y / 2);
        if x >= area.width || y >= area.height {
            continue;
        }
        if let Some(cell) = buffer.cell_mut((area.x + x, area.y + y)) {
            if halves {
                let ground =
                    picture.ink(x, y.saturating_mul(2)).max(picture.ink(x, y.saturating_mul(2).saturating_add(1)));
                cell.set_bg(skin.fill(ground));
            }
            cell.set_symbol(skin.glyphs.ink(dot.ink)).set_style(skin.ink(dot.ink));
        }
    }
}

/// The sign and the colours for two pixels, one above the other. The terminal's own background can only be behind a
/// sign, never its ink.
fn half(above: Color, below: Color, left: (Color, Color)) -> (&'static str, Color, Color) {
    if above == below {
        return match above {
            _ if left.1 == above => (" ", left.0, above),
            Color::Reset => (" ", left.0, Color::Reset),
            _ if left.0 == above => ("█", above, left.1),
            _ => (" ", left.0, above),
        };
    }
    let upper = ("▀", above, below);
    let lower = ("▄", below, above);
    let kept = |choice: (&str, Color, Color)| u8::from(choice.1 == left.0) + u8::from(choice.2 == left.1);
    match (above, below) {
        (Color::Reset, _) => lower,
        (_, Color::Reset) => upper,
        _ if kept(lower) > kept(upper) => lower,
        _ => upper,
    }
}

/// The scale, and the middle of the picture.
fn place(skin: &Skin, chart: &Chart, picture: &Picture, columns: u16) -> Line<'static> {
    let (start, middle, end) = skin.glyphs.bar;
    let mut text = String::from(" ");
    if let Some((pixels, length)) = picture.view.bar(columns / 4) {
        let inner = usize::from(pixels).saturating_sub(2);
        let _ = write!(text, "{start}{}{end} {}  ", middle.repeat(inner), measure(length, chart.unit));
    }
    let _ = write!(text, "x {} z {}", whole(picture.view.x), whole(picture.view.z));
    Line::styled(cut(&text, usize::from(columns), skin.glyphs.ellipsis), skin.of(Role::Muted))
}

fn measure(length: f64, unit: &str) -> String {
    if unit == "m" && length >= 1000.0 { format!("{} km", length / 1000.0) } else { format!("{length} {unit}") }
}

#[allow(clippy::cast_possible_truncation)] // A float to an integer saturates, which is what is wanted here.
fn whole(at: f64) -> i64 {
    at.round() as i64
}

/// What the signs and colours mean: of what is drawn only.
fn legend(skin: &Skin, depth: Depth, chart: &Chart, columns: u16) -> Line<'static> {
    const WORDS: [(Ink, &str); 7] = [
        (Ink::Built, "built"),
        (Ink::Generated, "visited"),
        (Ink::Start, "start"),
        (Ink::Portal, "portal"),
        (Ink::Bed, "bed"),
        (Ink::Location, "place"),
        (Ink::Unknown, "never seen"),
    ];
    let halves = skin.glyphs.unicode && depth != Depth::Mono;
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    for (ink, word) in WORDS {
        let land = matches!(ink, Ink::Built | Ink::Generated | Ink::Unknown);
        let count = if land {
            chart.squares.iter().filter(|square| square.ink == ink).count()
        } else {
            chart.marks.iter().filter(|mark| mark.ink == ink).count()
        };
        if count == 0 && ink != Ink::Unknown {
            continue;
        }
        let sign = if halves && land { "█" } else { skin.glyphs.ink(ink) };
        let number = if count > 1 {
            format!(" {}", human::count(i64::try_from(count).unwrap_or(i64::MAX)))
        } else {
            String::new()
        };
        let text = format!(" {word}{number}  ");
        if used + 1 + width(&text) > usize::from(columns) {
            continue;
        }
        used += 1 + width(&text);
        spans.push(Span::styled(sign, skin.ink(ink)));
        spans.push(Span::styled(text, skin.of(Role::Muted)));
    }
    for note in &chart.notes {
        let note = skin.glyphs.text(note);
        if used + width(&note) <= usize::from(columns) {
            used += width(&note);
            spans.push(Span::styled(note, skin.of(Role::Warn)));
        }
    }
    Line::from(spans)
}
