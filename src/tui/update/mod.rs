//! What a message does to the state. Pure: no files, no clock, no environment; whatever has to be done outside comes
//! back as effects.

mod check;
mod entry;
mod history;
mod keys;
mod look;
mod marks;
mod notice;
mod operate;
mod scan;
mod wishes;

use super::input::Input;
use super::state::{Effect, Model, Msg, Overlay};
use crate::config::theme::Role;

pub(super) use entry::found;
pub(super) use keys::context;
pub(super) use look::refresh;

/// Takes one message.
pub(super) fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Time { now, up } => {
            model.now = now;
            model.up = up;
            look::due(model, &mut effects);
            scan::due(model, &mut effects);
            notice::due(model);
        }
        Msg::Input(Input::Key(key, times)) if model.dialog.is_some() => {
            operate::press(model, key, usize::from(times), &mut effects);
        }
        Msg::Input(Input::Paste(text)) if model.dialog.is_some() => operate::paste(model, &text),
        Msg::Input(Input::Key(key, times)) => keys::press(model, key, times, &mut effects),
        Msg::Input(Input::Paste(text)) => entry::paste(model, &text),
        Msg::Input(Input::Resize(columns, rows)) => {
            model.size = (columns, rows);
            model.dirty = true;
            look::again(model);
        }
        Msg::Scan { generation, event } => scan::event(model, generation, event, &mut effects),
        Msg::Checked { signature, checked } => check::done(model, &signature, *checked, &mut effects),
        Msg::Charted { signature, result } => look::charted(model, signature, result),
        Msg::Planned { ticket, result } => operate::planned(model, ticket, result),
        Msg::Progress { ticket, bytes, path } => operate::progress(model, ticket, bytes, path),
        Msg::Ended { ticket, ends } => operate::ended(model, ticket, &ends, &mut effects),
        Msg::Broken { ticket, what } => operate::failed(model, ticket, &what, &mut effects),
        Msg::Recovered(lines) => notice::recovered(model, lines, &mut effects),
        Msg::Told { title, severity, text } => notice::told(model, title, severity, text),
        Msg::Past { entries, messages } => history::read(model, entries, messages),
        Msg::Servers(seen) => look::servers(model, seen),
        Msg::Dirty => scan::dirty(model, &mut effects),
        Msg::Note(note) => {
            model.note = Some(crate::model::shown(&note));
            model.dirty = true;
        }
        Msg::Theme { theme, warnings } => {
            model.skin = super::style::Skin::new(&theme, &model.skin.glyphs);
            match warnings.first() {
                Some(warning) => model.say(Role::Warn, warning.clone()),
                None => model.say(Role::Muted, format!("Theme: {}", crate::model::shown(&theme.name))),
            }
            model.theme = *theme;
            model.dirty = true;
        }
        Msg::Failed(what) => {
            let text = format!("A part of worldkeep failed: {}. The rest goes on.", crate::model::shown(&what));
            model.say(Role::Danger, text);
            check::abandon(model);
            look::abandon(model);
        }
        // What changes a save is not left in the middle.
        Msg::Terminate(code) if operate::busy(model) => {
            model.leaving = Some(code);
            model.dirty = true;
        }
        Msg::Terminate(code) => effects.push(Effect::Quit(code)),
        Msg::Stop if operate::busy(model) => {}
        Msg::Stop => effects.push(Effect::Suspend),
        Msg::Continued => effects.push(Effect::Repaint),
    }
    effects
}

/// Closes what is on top; false when nothing was.
fn close_top(model: &mut Model, effects: &mut Vec<Effect>) -> bool {
    model.dirty = true;
    match model.overlay.take() {
        Some(Overlay::Filter) => {
            look::set_filter(model, String::new());
            true
        }
        Some(_) => true,
        None if model.checking.total > 0 => {
            check::cancel(model, effects);
            true
        }
        None if !model.filter.is_empty() => {
            look::set_filter(model, String::new());
            true
        }
        None if model.status.take().is_some() => true,
        None if marks::clear(model) => true,
        None => model.mark.take().is_some(),
    }
}
