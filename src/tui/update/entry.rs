use super::super::layout;
use super::super::state::{Effect, Model, Overlay};
use super::keys;
use crate::config::actions::{Action, Row};
use crate::config::keys::{Key, Keymap};

/// The most characters of a line of text.
const LONGEST: usize = 200;

/// The rows that a search in the help or the palette finds: first those whose name begins with it, then those with
/// such a key, then those that hold it anywhere.
pub(crate) fn found<'a>(keymap: &'a Keymap, query: &str, run: bool) -> Vec<(&'static Row, &'a [Key])> {
    let wanted = query.trim().to_lowercase();
    let rank = |row: &Row, keys: &[Key]| {
        let key = keys.iter().any(|key| key.to_string() == query.trim());
        let text = format!("{} {} {}", row.id, row.doc.to_lowercase(), row.group.word().to_lowercase());
        let parts = || wanted.split_whitespace().all(|word| text.contains(word));
        if row.id.starts_with(&wanted) {
            Some(0)
        } else if key {
            Some(1)
        } else {
            parts().then_some(2)
        }
    };
    let mut rows: Vec<_> = keymap
        .all()
        .filter(|(row, _)| !run || !entry_only(row))
        .filter_map(|(row, keys)| rank(row, keys).map(|rank| (rank, row, keys)))
        .collect();
    if !wanted.is_empty() {
        rows.sort_by_key(|(rank, ..)| *rank);
    }
    rows.into_iter().map(|(_, row, keys)| (row, keys)).collect()
}

/// Actions that only make sense while a text is typed.
fn entry_only(row: &Row) -> bool {
    use crate::config::actions::Context;
    row.contexts == [Context::Entry] || matches!(row.action, Action::Palette)
}

/// Changes the text that is being typed.
pub(super) fn edit(model: &mut Model, change: impl FnOnce(&mut String)) {
    let mut text = match &model.overlay {
        Some(Overlay::Filter) => model.filter.clone(),
        Some(Overlay::Help { query, .. } | Overlay::Palette { query, .. }) => query.clone(),
        _ => return,
    };
    change(&mut text);
    let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    model.dirty = true;
    match &mut model.overlay {
        Some(Overlay::Filter) => super::look::set_filter(model, text),
        Some(Overlay::Help { query, at } | Overlay::Palette { query, at }) => {
            *query = text;
            *at = 0;
        }
        _ => {}
    }
}

/// A paste goes where text is typed, and is nothing anywhere else.
pub(super) fn paste(model: &mut Model, text: &str) {
    let line = text.lines().next().unwrap_or_default();
    edit(model, |typed| typed.push_str(line));
}

/// An action of a line of text.
pub(super) fn act(model: &mut Model, action: Action, times: usize, effects: &mut Vec<Effect>) {
    let page = layout::page(model).max(1);
    match action {
        Action::Accept => accept(model, effects),
        Action::EntryDown => walk(model, times, true),
        Action::EntryUp => walk(model, times, false),
        Action::EntryPageDown => walk(model, times.saturating_mul(page), true),
        Action::EntryPageUp => walk(model, times.saturating_mul(page), false),
        Action::EraseChar => edit(model, |text| {
            for _ in 0..times {
                text.pop();
            }
        }),
        Action::EraseWord => edit(model, |text| {
            for _ in 0..times {
                let end = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                text.truncate(end);
            }
        }),
        Action::EraseAll => edit(model, String::clear),
        _ => {}
    }
}

fn accept(model: &mut Model, effects: &mut Vec<Effect>) {
    model.dirty = true;
    if let Some(Overlay::Palette { query, at }) = model.overlay.take() {
        let action = found(&model.keymap, &query, true).get(at).map(|(row, _)| row.action);
        if let Some(action) = action {
            keys::act(model, action, 1, effects);
        }
    }
}

fn walk(model: &mut Model, by: usize, down: bool) {
    model.dirty = true;
    let run = matches!(model.overlay, Some(Overlay::Palette { .. }));
    match &mut model.overlay {
        Some(Overlay::Help { query, at } | Overlay::Palette { query, at }) => {
            let last = found(&model.keymap, query, run).len().saturating_sub(1);
            *at = if down { at.saturating_add(by).min(last) } else { at.saturating_sub(by) };
        }
        Some(Overlay::Filter) => {
            // The list under the filter is the tree itself.
            super::look::next_match(model, down, by);
        }
        _ => {}
    }
}
