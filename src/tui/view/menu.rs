//! The help and the palette: the table of actions, searched.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::state::Model;
use super::super::text::{cut, pad, width};
use super::super::update::found;
use super::popup;
use crate::config::actions::Row;
use crate::config::keys::Key;
use crate::config::theme::Role;

/// The keys, with a heading for each group as long as nothing is searched.
pub(super) fn help(model: &Model, frame: &mut Frame, query: &str, at: usize) {
    let inner = popup(model, frame, "Keys: type to search, Esc closes");
    let rows = found(&model.keymap, query, false);
    let mut lines = Vec::new();
    let mut chosen = 0;
    let mut group = None;
    for (number, (row, keys)) in rows.iter().enumerate() {
        if query.trim().is_empty() && group != Some(row.group) {
            group = Some(row.group);
            lines.push(Line::styled(row.group.word(), model.skin.of(Role::Title)));
        }
        if number == at {
            chosen = lines.len();
        }
        lines.push(entry(model, row, keys, inner.width, number == at));
    }
    list(model, frame, inner, query, &lines, chosen);
}

/// The actions by name.
pub(super) fn palette(model: &Model, frame: &mut Frame, query: &str, at: usize) {
    let inner = popup(model, frame, "Commands: type a name, Enter runs it, Esc closes");
    let rows = found(&model.keymap, query, true);
    let entries = rows.iter().enumerate();
    let lines: Vec<Line> = entries.map(|(n, (row, keys))| entry(model, row, keys, inner.width, n == at)).collect();
    list(model, frame, inner, query, &lines, at);
}

fn entry(model: &Model, row: &Row, keys: &[Key], columns: u16, selected: bool) -> Line<'static> {
    let skin = &model.skin;
    let ellipsis = skin.glyphs.ellipsis;
    let columns = usize::from(columns);
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let keys = pad(&format!(" {}", keys.join(" ")), 17.min(columns), ellipsis);
    let name = pad(row.id, 17.min(columns.saturating_sub(width(&keys))), ellipsis);
    let rest = columns.saturating_sub(width(&keys) + width(&name));
    let doc = pad(row.doc, rest, ellipsis);
    let line = Line::from(vec![
        Span::styled(keys, skin.of(Role::HintKey)),
        Span::styled(name, skin.of(Role::Text)),
        Span::styled(doc, skin.of(Role::Muted)),
    ]);
    if selected { line.patch_style(skin.of(Role::Selection)) } else { line }
}

/// The text line above, the chosen entry always in sight below.
fn list(model: &Model, frame: &mut Frame, area: Rect, query: &str, lines: &[Line<'static>], chosen: usize) {
    let skin = &model.skin;
    if area.height == 0 {
        return;
    }
    let typed = cut(&skin.glyphs.text(query), usize::from(area.width).saturating_sub(3), skin.glyphs.ellipsis);
    let end = u16::try_from(width(&typed) + 2).unwrap_or(u16::MAX);
    let first = Rect { height: 1, ..area };
    frame.render_widget(Line::from(vec![Span::styled("> ", skin.of(Role::HintKey)), Span::raw(typed)]), first);
    frame.set_cursor_position(Position::new(area.x.saturating_add(end).min(area.right().saturating_sub(1)), area.y));
    let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let height = usize::from(below.height);
    let skip = (chosen + 1)
        .saturating_sub(height)
        .max(chosen.saturating_sub(height / 2))
        .min(lines.len().saturating_sub(height));
    let shown: Vec<Line> = if lines.is_empty() {
        vec![Line::styled("Nothing is called that.", skin.of(Role::Muted))]
    } else {
        lines.iter().skip(skip).take(height).cloned().collect()
    };
    frame.render_widget(Paragraph::new(shown), below);
}
