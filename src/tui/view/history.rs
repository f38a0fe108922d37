//! What was done, newest first, with what taking it back would do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::state::Model;
use super::super::text::{cut, pad, wrap};
use super::popup;
use crate::config::theme::Role;
use crate::model::human;
use crate::ops::history::Entry;

/// Rows of the details below the list, at most.
const BELOW: usize = 7;

/// Below so many columns a row has the age instead of the time, and no size.
const NARROW: usize = 60;

/// Paints the list and what concerns the chosen operation.
pub(super) fn paint(model: &Model, frame: &mut Frame, at: usize) {
    let skin = &model.skin;
    let Some(past) = &model.past else {
        let inner = popup(model, frame, "History");
        frame.render_widget(Line::styled("Looking at what was done.", skin.of(Role::Muted)), inner);
        return;
    };
    let kept: u64 = past.entries.iter().map(|entry| entry.parked_bytes).sum();
    let inner = popup(model, frame, &format!("History: {} kept for undo, Esc closes", human::size(kept)));
    let columns = usize::from(inner.width);
    let mut below: Vec<Line> = past.entries.get(at).map(|entry| details(model, entry, columns)).unwrap_or_default();
    let told = past.messages.iter().flat_map(|text| wrap(&skin.glyphs.text(text), columns));
    below.extend(told.map(|line| Line::styled(line, skin.of(Role::Warn))));
    below.truncate(BELOW.min(usize::from(inner.height) / 2));
    let height = usize::from(inner.height).saturating_sub(below.len() + usize::from(!below.is_empty()));
    let skip = (at + 1).saturating_sub(height);
    let rows = past.entries.iter().enumerate().skip(skip).take(height);
    let mut lines: Vec<Line> = rows.map(|(n, entry)| row(model, entry, columns, n == at)).collect();
    if past.entries.is_empty() {
        lines.push(Line::styled("Nothing was done here by worldkeep.", skin.of(Role::Muted)));
    }
    let list = Rect { height: u16::try_from(height).unwrap_or(inner.height), ..inner };
    frame.render_widget(Paragraph::new(lines), list);
    let rows = u16::try_from(below.len()).unwrap_or(0);
    let place = Rect { y: inner.bottom().saturating_sub(rows), height: rows, ..inner };
    frame.render_widget(Paragraph::new(below), place);
}

fn row(model: &Model, entry: &Entry, columns: usize, selected: bool) -> Line<'static> {
    let skin = &model.skin;
    let ellipsis = skin.glyphs.ellipsis;
    let record = &entry.record;
    let (role, state) = match (&entry.undone_by, &entry.undo) {
        (Some(_), _) => (Role::Muted, "taken back"),
        (None, Ok(_)) => (Role::Ok, "can be undone"),
        (None, Err(_)) => (Role::Muted, "no undo"),
    };
    let when = match columns {
        NARROW.. => pad(&human::when(record.at, &model.zone), 20, ellipsis),
        _ => pad(&human::age(model.now, record.at), 8.min(columns), ellipsis),
    };
    let verb = pad(record.operation.as_str(), 8, ellipsis);
    let kept = if entry.parked_bytes > 0 { human::size(entry.parked_bytes) } else { String::new() };
    let right = match columns {
        NARROW.. => format!(" {kept:>8}  {state:<14}"),
        _ => format!(" {state:<14}"),
    };
    let room = columns.saturating_sub(when.chars().count() + 8 + right.chars().count());
    let subject = pad(&skin.glyphs.text(&record.subject), room, ellipsis);
    let line = Line::from(vec![
        Span::styled(when, skin.of(Role::Muted)),
        Span::styled(verb, skin.of(Role::Text)),
        Span::styled(subject, skin.of(Role::Title)),
        Span::styled(cut(&right, columns, ellipsis), skin.of(role)),
    ]);
    if selected { line.patch_style(skin.of(Role::Selection)) } else { line }
}

fn details(model: &Model, entry: &Entry, columns: usize) -> Vec<Line<'static>> {
    let skin = &model.skin;
    let mut lines = Vec::new();
    let mut say = |role: Role, text: &str| {
        let texts = wrap(&skin.glyphs.text(text), columns);
        lines.extend(texts.into_iter().map(|line| Line::styled(line, skin.of(role))));
    };
    say(Role::Text, &entry.record.done);
    match (&entry.undone_by, &entry.undo) {
        (Some(by), _) => say(Role::Muted, &format!("Taken back by {by}.")),
        (None, Ok(sentence)) => say(Role::Ok, &format!("Undo: {sentence}")),
        (None, Err(why)) => say(Role::Muted, &format!("No undo: {why}")),
    }
    say(Role::Muted, &format!("Operation {}", entry.record.name));
    lines
}
