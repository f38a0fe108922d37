//! The first and the last line.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::super::state::{Model, Overlay, Sort};
use super::super::text::{cut, width};
use super::super::update::context;
use crate::config::actions::{Context, Group};
use crate::config::keys::Key;
use crate::config::theme::Role;
use crate::model::Verdict;

fn plural(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// How many of what, and what is set.
pub(super) fn header(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let worlds = || model.catalog.profiles.iter().flat_map(|profile| &profile.worlds);
    let layers = worlds().map(|world| world.layers.len()).sum::<usize>();
    let needs = worlds().filter(|w| matches!(w.verdict(), Verdict::Damaged | Verdict::Unreadable)).count();
    let dot = skin.glyphs.dot;
    let mut counts = vec![
        plural(model.catalog.profiles.len(), "profile"),
        plural(worlds().count(), "world"),
        plural(layers, "layer"),
    ];
    if !model.catalog.complete {
        counts.push("looking".to_owned());
    }
    let mut right = Vec::new();
    if !model.filter.is_empty() {
        let filter = cut(&skin.glyphs.text(&model.filter), 30, skin.glyphs.ellipsis);
        right.push(format!("filter: {filter}, {} of {}", model.tree.forest.hits, model.tree.forest.total));
    }
    if model.sort != Sort::Name {
        right.push(format!("sort: {}", model.sort.word()));
    }
    if let Some(note) = &model.note {
        right.push(skin.glyphs.text(note));
    }
    let room = usize::from(area.width);
    let right = cut(&right.join("  "), room.saturating_sub(14), skin.glyphs.ellipsis);
    let left_room = room.saturating_sub(width(&right) + 14);
    let attention =
        if needs > 0 { format!("{dot}{needs} need{} you", if needs == 1 { "s" } else { "" }) } else { String::new() };
    let counts = cut(&counts.join(dot), left_room.saturating_sub(width(&attention)), skin.glyphs.ellipsis);
    let mut spans = vec![
        Span::styled(" worldkeep  ", skin.of(Role::Title)),
        Span::styled(counts, skin.of(Role::Text)),
        Span::styled(cut(&attention, left_room, skin.glyphs.ellipsis), skin.of(Role::Danger)),
    ];
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    spans.push(Span::raw(" ".repeat(room.saturating_sub(used + width(&right) + 1))));
    spans.push(Span::styled(right, skin.of(Role::Match)));
    frame.render_widget(Line::from(spans), area);
}

/// What is being typed, what just happened, or what can be done next.
pub(super) fn hint(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let room = usize::from(area.width);
    if model.overlay == Some(Overlay::Filter) {
        let typed = skin.glyphs.text(&model.filter);
        // The end of what is typed stays in sight.
        let skip = width(&typed).saturating_sub(room.saturating_sub(3));
        let typed: String = typed.chars().skip(skip).collect();
        let end = u16::try_from(width(&typed) + 2).unwrap_or(u16::MAX);
        let line = Line::from(vec![Span::styled(" /", skin.of(Role::HintKey)), Span::raw(typed)]);
        frame.render_widget(line, area);
        let x = area.x.saturating_add(end).min(area.right().saturating_sub(1));
        frame.set_cursor_position(Position::new(x, area.y));
        return;
    }
    if let Some(status) = &model.status {
        let text = cut(&format!(" {}", status.text), room, skin.glyphs.ellipsis);
        frame.render_widget(Line::styled(text, skin.of(status.role)), area);
        return;
    }
    if let Some(text) = progress(model) {
        let text = cut(&format!(" {text}"), room, skin.glyphs.ellipsis);
        frame.render_widget(Line::styled(text, skin.of(Role::Text)), area);
        return;
    }
    frame.render_widget(hints(model, context(model), room), area);
}

/// How far the checks are that the user asked for.
fn progress(model: &Model) -> Option<String> {
    let checking = &model.checking;
    if checking.total == 0 {
        return None;
    }
    let id = &checking.running.as_ref()?.id;
    let (_, world, layer) = model.catalog.layer(id)?;
    let label = super::super::tree::label(layer, &model.skin.glyphs);
    let name = model.skin.glyphs.text(&world.name);
    let at = checking.done + 1;
    Some(format!("Checking {name} @ {label}: {at} of {} (Esc stops)", checking.total))
}

/// The first actions that have a hint, with their keys.
fn hints(model: &Model, context: Context, room: usize) -> Line<'static> {
    let skin = &model.skin;
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    let nothing = super::empty::nothing_found(model);
    for (row, keys) in model.keymap.rows(context) {
        // Where there is nothing to look at, only what concerns the program itself is of use.
        if row.hint.is_empty() || (nothing && row.group != Group::Program) {
            continue;
        }
        let Some(key) = keys.first() else { continue };
        let key = short(*key);
        let wide = width(&key) + 1 + row.hint.len() + 2;
        if used + wide > room {
            break;
        }
        used += wide;
        spans.push(Span::styled(key, skin.of(Role::HintKey)));
        spans.push(Span::styled(format!(" {}  ", row.hint), skin.of(Role::HintText)));
    }
    Line::from(spans)
}

/// A key in the hint line.
fn short(key: Key) -> String {
    key.to_string()
}
