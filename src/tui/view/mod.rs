//! Paints the state. Pure: what is shown follows from the state alone.

mod bars;
mod compare;
pub(super) mod details;
mod dialog;
mod empty;
mod history;
pub(super) mod map;
mod menu;
pub(super) mod rows;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use tui_tree_widget::Tree;

use super::layout::{self, inside};
use super::state::{Focus, Model, Overlay};
use super::style::Skin;
use super::text;
use crate::config::theme::Role;

/// Paints one frame.
pub(super) fn view(model: &Model, frame: &mut Frame) {
    let screen = frame.area();
    let areas = layout::divide((screen.width, screen.height), model.map.shown, model.focus);
    if areas.tiny {
        tiny(model, frame);
    } else {
        bars::header(model, frame, areas.header);
        if empty::nothing_found(model) {
            let body = Rect::new(0, 1, screen.width, screen.height.saturating_sub(2));
            empty::paint(model, frame, body);
        } else {
            if let Some(area) = areas.tree {
                tree(model, frame, area);
            }
            if let Some(area) = areas.details {
                details(model, frame, area);
            }
            if let Some(area) = areas.map {
                map::paint(model, frame, area);
            }
        }
        bars::hint(model, frame, areas.hint);
        match &model.overlay {
            Some(Overlay::Help { query, at }) => menu::help(model, frame, query, *at),
            Some(Overlay::Palette { query, at }) => menu::palette(model, frame, query, *at),
            Some(Overlay::Compare { left, right, scroll }) => compare::paint(model, frame, left, right, *scroll),
            Some(Overlay::History { at }) => history::paint(model, frame, *at),
            Some(Overlay::Filter) | None => {}
        }
        if let Some(open) = &model.dialog {
            dialog::paint(model, frame, open);
        }
    }
    if !model.skin.glyphs.unicode {
        only_ascii(frame);
    }
}

fn tiny(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    let lines = text::wrap("worldkeep needs 20 x 5.", usize::from(area.width));
    let lines: Vec<Line> = lines.into_iter().map(|line| Line::styled(line, model.skin.of(Role::Text))).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// A frame with a title; where the keys go it is brighter, and the title stands in brackets, which no colour is needed
/// to see.
fn pane<'a>(skin: &Skin, title: &'a str, focused: bool, area: Rect) -> Block<'a> {
    let room = usize::from(area.width.saturating_sub(4));
    let title = text::cut(title, room, skin.glyphs.ellipsis);
    let block = Block::bordered().border_set(skin.glyphs.border).border_style(skin.of(if focused {
        Role::BorderFocus
    } else {
        Role::Border
    }));
    let title = match title.as_str() {
        "" => return block,
        title if focused => format!("[{title}]"),
        title => format!(" {title} "),
    };
    block.title(Span::styled(title, skin.of(Role::Title)))
}

/// An overlay's frame over a cleared place; its inside.
fn popup(model: &Model, frame: &mut Frame, title: &str) -> Rect {
    let screen = frame.area();
    popup_at(model, frame, title, layout::overlay((screen.width, screen.height)))
}

/// The same at a place.
fn popup_at(model: &Model, frame: &mut Frame, title: &str, area: Rect) -> Rect {
    // A wide letter that reaches under the frame would take the frame's cell with it.
    for y in area.top()..area.bottom() {
        let left = area.x.checked_sub(1).and_then(|x| frame.buffer_mut().cell_mut((x, y)));
        if let Some(cell) = left.filter(|cell| text::width(cell.symbol()) > 1) {
            cell.set_symbol(" ");
        }
    }
    frame.render_widget(Clear, area);
    frame.render_widget(pane(&model.skin, title, true, area), area);
    inside(area)
}

fn tree(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let focused = model.focus == Focus::Tree && model.overlay.is_none() && model.dialog.is_none();
    let inner = inside(area);
    if let Ok(widget) = Tree::new(&model.tree.painted.items) {
        let widget = widget
            .style(skin.of(Role::Text))
            .highlight_style(skin.of(Role::Selection))
            .node_open_symbol(skin.glyphs.opened)
            .node_closed_symbol(skin.glyphs.closed)
            .node_no_children_symbol(skin.glyphs.leaf);
        if let Ok(mut state) = model.tree.painted.state.try_borrow_mut() {
            frame.render_stateful_widget(widget, inner, &mut state);
        }
    }
    if model.tree.painted.items.is_empty() {
        let sentence =
            if model.filter.is_empty() { "Looking for saves." } else { "Nothing matches the filter; Esc clears it." };
        let line =
            Line::styled(text::cut(sentence, usize::from(inner.width), skin.glyphs.ellipsis), skin.of(Role::Muted));
        frame.render_widget(line, inner);
    }
    // The frame comes last: an indented row of a very narrow tree may have run into it.
    frame.render_widget(pane(skin, "Saves", focused, area), area);
}

fn details(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let focused = model.focus == Focus::Details && model.overlay.is_none() && model.dialog.is_none();
    let inner = inside(area);
    let height = usize::from(inner.height);
    let lines: Vec<Line> = model.details.lines.iter().skip(model.details.scroll).take(height).cloned().collect();
    frame.render_widget(Paragraph::new(lines), inner);
    let mut block = pane(skin, &model.details.title, focused, area);
    let total = model.details.lines.len();
    if total > height && area.width > 24 {
        let to = (model.details.scroll + height).min(total);
        block = block.title_bottom(Line::styled(format!(" {to} of {total} "), skin.of(Role::Muted)).right_aligned());
    }
    frame.render_widget(block, area);
}

/// The last line of defence for terminals that show ASCII only.
fn only_ascii(frame: &mut Frame) {
    for cell in &mut frame.buffer_mut().content {
        if !cell.symbol().is_ascii() {
            cell.set_symbol("?");
        }
    }
}
