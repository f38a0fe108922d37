//! The first and the last line.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::super::dialog::Stage;
use super::super::state::{Model, Overlay, Sort};
use super::super::subject::Subject;
use super::super::text::{cut, width};
use super::super::update::context;
use crate::config::actions::{Action, Context, Group};
use crate::config::theme::Role;
use crate::model::{LayerKind, Verdict};

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
    let looking = if model.catalog.complete { String::new() } else { format!("{dot}looking") };
    let mut counts = vec![
        plural(model.catalog.profiles.len(), "profile"),
        plural(worlds().count(), "world"),
        plural(layers, "layer"),
    ];
    let mut right = Vec::new();
    if !model.filter.is_empty() {
        let filter = cut(&skin.glyphs.text(&model.filter), 30, skin.glyphs.ellipsis);
        right.push(format!("filter: {filter}, {} of {}", model.tree.forest.hits, model.tree.forest.total));
    }
    if !model.marks.is_empty() {
        right.push(format!("{} marked", model.marks.len()));
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
    let mut attention =
        if needs > 0 { format!("{needs} need{} you", if needs == 1 { "s" } else { "" }) } else { String::new() };
    // What does not fit is left out as a whole, and before anything else than what needs somebody: layers, profiles,
    // worlds, the program's own name.
    let least = left_room.saturating_sub(width(&attention) + width(dot) + width(&looking));
    for gone in [2, 0, 0] {
        if width(&counts.join(dot)) > least {
            counts.remove(gone);
        }
    }
    if !attention.is_empty() && !counts.is_empty() {
        attention.insert_str(0, dot);
    }
    let name = if attention.is_empty() || left_room >= width(&attention) { " worldkeep  " } else { " " };
    let left_room = room.saturating_sub(width(&right) + width(name) + 2);
    let mut spans = vec![
        Span::styled(name, skin.of(Role::Title)),
        Span::styled(format!("{}{looking}", counts.join(dot)), skin.of(Role::Text)),
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
    if let Some(dialog) = &model.dialog {
        frame.render_widget(dialog_hints(model, &dialog.stage), area);
        return;
    }
    if let Some(status) = &model.status {
        let left = room.saturating_sub(width(&status.tail));
        let text = cut(&format!(" {}", status.text), left, skin.glyphs.ellipsis);
        let text = cut(&format!("{text}{}", status.tail), room, skin.glyphs.ellipsis);
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
    let label = super::super::tree::label(layer, model.says());
    let name = model.skin.glyphs.text(&world.name);
    let at = checking.done + 1;
    Some(format!("Checking {name} @ {label}: {at} of {} (Esc stops)", checking.total))
}

/// The keys of a dialog, which no configuration changes.
fn dialog_hints(model: &Model, stage: &Stage) -> Line<'static> {
    let skin = &model.skin;
    let hints: &[(&str, &str)] = match stage {
        Stage::Asking(_) => &[("Esc", "cancel"), ("Tab", "go on"), ("Space", "tick"), ("Enter", "choose")],
        Stage::Naming { .. } => &[("Esc", "cancel"), ("Enter", "go on")],
        Stage::Planning => &[("Esc", "cancel")],
        Stage::Running(_) => &[("Esc", "stop")],
        Stage::Refused(_) | Stage::Ended { .. } | Stage::Notice(_) => &[("Esc", "close")],
    };
    let mut spans = vec![Span::raw(" ")];
    for (key, word) in hints {
        spans.push(Span::styled(*key, skin.of(Role::HintKey)));
        spans.push(Span::styled(format!(" {word}  "), skin.of(Role::HintText)));
    }
    Line::from(spans)
}

/// Whether an operation fits what is selected: the others would only say what they want.
fn is_of_use(action: Action, context: Context, subject: Option<&Subject<'_>>, marks: bool) -> bool {
    let old = matches!(subject, Some(Subject::Layer(_, _, layer)) if layer.kind != LayerKind::Live);
    let save = matches!(subject, Some(Subject::World(..) | Subject::Layer(..)));
    match action {
        Action::Restore => old && !marks,
        Action::Copy => save && !marks,
        Action::Purge => context == Context::History,
        Action::Backup | Action::Delete | Action::Mark => save || marks,
        _ => true,
    }
}

/// The first actions that have a hint, with their keys.
fn hints(model: &Model, context: Context, room: usize) -> Line<'static> {
    let skin = &model.skin;
    let nothing = super::empty::nothing_found(model);
    let hints = model.keymap.rows(context).filter_map(|(row, keys)| {
        let word = match (&model.overlay, row.action) {
            (Some(Overlay::Help { .. }), Action::Accept) => "close",
            (Some(Overlay::Palette { .. }), Action::Accept) => "run",
            _ => row.hint,
        };
        // Where there is nothing to look at, only what concerns the program itself is of use.
        let wanted = !word.is_empty() && (!nothing || row.group == Group::Program);
        wanted.then_some((row.action, keys.first()?.to_string(), word))
    });
    let subject = model.tree.selected.and_then(|node| model.subject(node));
    let hints = hints.filter(|(action, ..)| is_of_use(*action, context, subject.as_ref(), !model.marks.is_empty()));
    let mut hints: Vec<(Action, String, &str)> = hints.collect();
    // What can be done with a save comes before what can be looked at.
    hints.sort_by_key(|(action, ..)| match action {
        Action::Down | Action::Toggle => 0,
        action if action.row().is_some_and(|row| row.group == Group::Changing) => 1,
        _ => 2,
    });
    let wide = |key: &str, word: &str| width(key) + 1 + width(word) + 2;
    // How to learn the rest, and how to leave, have their place whatever else fits.
    let always = |action: Action| matches!(action, Action::Help | Action::Quit);
    let kept: usize = hints.iter().filter(|(action, ..)| always(*action)).map(|(_, key, word)| wide(key, word)).sum();
    let mut left = room.saturating_sub(1 + kept);
    let mut spans = vec![Span::raw(" ")];
    for (action, key, word) in hints {
        if !always(action) {
            let Some(rest) = left.checked_sub(wide(&key, word)) else {
                left = 0;
                continue;
            };
            left = rest;
        }
        spans.push(Span::styled(key, skin.of(Role::HintKey)));
        spans.push(Span::styled(format!(" {word}  "), skin.of(Role::HintText)));
    }
    Line::from(spans)
}
