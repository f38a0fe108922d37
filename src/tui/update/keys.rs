use super::super::layout;
use super::super::state::{Effect, Focus, Model, Overlay};
use super::super::subject::Subject;
use super::super::tree::Kind;
use super::{check, close_top, entry, history, look, marks, operate, scan, wishes};
use crate::config::actions::{Action, Context};
use crate::config::keys::Key;
use crate::config::theme::Role;

/// Where the keys go.
pub(crate) fn context(model: &Model) -> Context {
    match (&model.overlay, model.focus) {
        (Some(Overlay::Compare { .. }), _) => Context::Compare,
        (Some(Overlay::History { .. }), _) => Context::History,
        (Some(_), _) => Context::Entry,
        (None, Focus::Tree) => Context::Tree,
        (None, Focus::Details) => Context::Details,
        (None, Focus::Map) => Context::Map,
    }
}

/// One key, so many times.
pub(super) fn press(model: &mut Model, key: Key, times: u16, effects: &mut Vec<Effect>) {
    let context = context(model);
    match model.keymap.action(context, key) {
        Some(action) => act(model, action, usize::from(times), effects),
        None if context == Context::Entry => {
            if let Some(c) = key.typed() {
                entry::edit(model, |text| text.extend(std::iter::repeat_n(c, usize::from(times))));
            }
        }
        None => {}
    }
}

/// Does an action; for movements `times` is how far.
pub(super) fn act(model: &mut Model, action: Action, times: usize, effects: &mut Vec<Effect>) {
    let far = isize::try_from(times).unwrap_or(isize::MAX);
    let page = isize::try_from(layout::page(model)).unwrap_or(1).max(1);
    match action {
        Action::Down => go(model, far, 0),
        Action::Up => go(model, -far, 0),
        Action::Right => go(model, 0, far),
        Action::Left => go(model, 0, -far),
        Action::PageDown => go(model, page.saturating_mul(far), 0),
        Action::PageUp => go(model, page.saturating_mul(-far), 0),
        Action::HalfDown => go(model, (page / 2).max(1).saturating_mul(far), 0),
        Action::HalfUp => go(model, (page / 2).max(1).saturating_mul(-far), 0),
        Action::First => go(model, isize::MIN / 2, 0),
        Action::Last => go(model, isize::MAX / 2, 0),
        Action::Toggle => toggle(model),
        Action::FocusNext => focus(model, far),
        Action::FocusPrevious => focus(model, -far),
        Action::Verify => check::verify(model, effects),
        Action::Compare => compare(model),
        Action::Map => {
            model.map.shown = !model.map.shown;
            model.dirty = true;
            look::again(model);
        }
        Action::ZoomIn => zoom(model, far),
        Action::ZoomOut => zoom(model, -far),
        Action::ZoomReset => look::home(model),
        Action::CopyPath => copy_path(model, effects),
        Action::Filter => open_overlay(model, Overlay::Filter),
        Action::NextMatch => look::next_match(model, true, times),
        Action::PreviousMatch => look::next_match(model, false, times),
        Action::Sort => {
            model.sort = model.sort.next();
            model.tree.stale = true;
            model.dirty = true;
        }
        Action::Rescan => scan::rescan(model, effects),
        Action::Theme => effects.push(Effect::NextTheme(model.theme.name.clone())),
        Action::Help => open_overlay(model, Overlay::Help { query: String::new(), at: 0 }),
        Action::Palette => open_overlay(model, Overlay::Palette { query: String::new(), at: 0 }),
        Action::Redraw => effects.push(Effect::Repaint),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Close => {
            close_top(model, effects);
        }
        Action::Interrupt => {
            if model.overlay.is_none() || !close_top(model, effects) {
                effects.push(Effect::Quit(0));
            }
        }
        Action::Quit => {
            if model.overlay.is_some() {
                close_top(model, effects);
            } else {
                effects.push(Effect::Quit(0));
            }
        }
        Action::History => history::open(model, effects),
        Action::Undo | Action::Purge if matches!(model.overlay, Some(Overlay::History { .. })) => {
            history::ask(model, action, effects);
        }
        Action::Mark => marks::toggle(model, effects),
        Action::Restore
        | Action::Copy
        | Action::Rename
        | Action::Backup
        | Action::Delete
        | Action::Undo
        | Action::Purge => {
            if let Some(operation) = wishes::operation(action) {
                operate::ask(model, operation, effects);
            }
        }
        Action::Accept
        | Action::EntryDown
        | Action::EntryUp
        | Action::EntryPageDown
        | Action::EntryPageUp
        | Action::EraseChar
        | Action::EraseWord
        | Action::EraseAll => entry::act(model, action, times, effects),
    }
}

fn open_overlay(model: &mut Model, overlay: Overlay) {
    model.overlay = Some(overlay);
    model.status = None;
    model.dirty = true;
}

/// Down and to the right, in the pane that has the keys.
fn go(model: &mut Model, down: isize, right: isize) {
    if model.overlay.is_none() && model.focus == Focus::Tree && right == 0 {
        return step(model, down);
    }
    model.dirty = true;
    if let Some(Overlay::Compare { scroll, .. }) = &mut model.overlay {
        *scroll = scroll.saturating_add_signed(down);
        return;
    }
    if matches!(model.overlay, Some(Overlay::History { .. })) {
        return history::go(model, down);
    }
    match model.focus {
        Focus::Details => model.details.scroll = model.details.scroll.saturating_add_signed(down),
        Focus::Map => pan(model, down, right),
        Focus::Tree if right > 0 => into(model),
        Focus::Tree => out(model),
    }
}

#[allow(clippy::cast_precision_loss)] // Steps of a key, far below the precision.
fn pan(model: &mut Model, down: isize, right: isize) {
    if down.unsigned_abs() > 10_000 {
        return look::home(model);
    }
    // A sixth of the pane at a time, in pixels of the fitted view, so that it does not depend on the zoom.
    let step = layout::areas(model).map.map_or(8.0, |area| f64::from(area.width) / 6.0);
    let step = step / 2f64.powi(model.map.zoom);
    model.map.east = (model.map.east + right as f64 * step).clamp(-1e4, 1e4);
    model.map.north = (model.map.north - down as f64 * step).clamp(-1e4, 1e4);
}

fn zoom(model: &mut Model, steps: isize) {
    let steps = i32::try_from(steps).unwrap_or(0);
    model.map.zoom = model.map.zoom.saturating_add(steps).clamp(-3, 8);
    model.dirty = true;
}

fn step(model: &mut Model, by: isize) {
    let rows = look::visible(model);
    let here = model.tree.selected.and_then(|id| rows.iter().position(|row| *row == id)).unwrap_or(0);
    let there = here.saturating_add_signed(by).min(rows.len().saturating_sub(1));
    if let Some(id) = rows.get(there).copied() {
        look::select(model, id);
    }
}

fn into(model: &mut Model) {
    look::refresh(model);
    let Some(id) = model.tree.selected else { return };
    let has_children = model.tree.forest.item(id).is_some_and(|item| item.children > 0);
    if has_children && !look::open(model).insert(id) {
        step(model, 1);
    }
    model.tree.touched = true;
}

fn out(model: &mut Model) {
    look::refresh(model);
    let Some(id) = model.tree.selected else { return };
    model.tree.touched = true;
    if !look::open(model).remove(&id)
        && let Some(parent) = model.tree.forest.parent(id).map(|item| item.id)
    {
        look::select(model, parent);
    }
}

fn toggle(model: &mut Model) {
    look::refresh(model);
    let Some(id) = model.tree.selected else { return };
    let Some(item) = model.tree.forest.item(id) else { return };
    let (kind, children) = (item.kind, item.children);
    model.tree.touched = true;
    model.dirty = true;
    if kind == Kind::Layer {
        return set_focus(model, Focus::Details);
    }
    if children > 0 && !look::open(model).insert(id) {
        look::open(model).remove(&id);
    }
}

fn focus(model: &mut Model, steps: isize) {
    let panes = layout::panes(model);
    let here = panes.iter().position(|pane| *pane == model.focus).unwrap_or(0);
    let steps = usize::try_from(steps.rem_euclid(isize::try_from(panes.len()).unwrap_or(1).max(1))).unwrap_or(0);
    if let Some(pane) = panes.get((here + steps) % panes.len().max(1)).copied() {
        set_focus(model, pane);
    }
}

fn set_focus(model: &mut Model, pane: Focus) {
    model.focus = pane;
    model.dirty = true;
    look::again(model);
}

fn compare(model: &mut Model) {
    let Some(id) = model.tree.selected.and_then(|node| model.layer_of(node)).map(|(_, _, layer)| layer.id.clone())
    else {
        return model.say(Role::Muted, "Choose a world or a layer to compare.");
    };
    match model.mark.take() {
        Some(first) if first == id => model.say(Role::Muted, "No longer chosen for a comparison."),
        Some(first) if model.catalog.layer(&first).is_some() => {
            open_overlay(model, Overlay::Compare { left: first, right: id, scroll: 0 });
        }
        _ => {
            model.mark = Some(id);
            model.say(Role::Mark, "Chosen for a comparison; press = on another layer.");
        }
    }
    model.dirty = true;
}

fn copy_path(model: &mut Model, effects: &mut Vec<Effect>) {
    let path = match model.tree.selected.and_then(|node| model.subject(node)) {
        Some(Subject::Profile(profile)) => profile.root.clone(),
        Some(Subject::World(_, world)) => match world.live().or_else(|| world.layers.first()) {
            Some(layer) => layer.path.clone(),
            None => return,
        },
        Some(Subject::Layer(_, _, layer)) => layer.path.clone(),
        None => return,
    };
    let text = model.skin.glyphs.text(&crate::model::shown_path(&path));
    // Pasted into a shell, a line break would run what stands before it.
    if path.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
        return model.say(Role::Warn, format!("Not sent, since it has control characters: {text}"));
    }
    effects.push(Effect::Clipboard(path.into_os_string().into_encoded_bytes()));
    model.say(Role::Muted, format!("Sent to the clipboard of your terminal: {text}"));
}
