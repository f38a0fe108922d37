//! The screen of what was done.

use super::super::dialog::{Stage, Wish};
use super::super::state::{Effect, Model, Overlay, Past};
use super::operate;
use crate::config::actions::Action;
use crate::config::theme::Role;
use crate::ops::history::Entry;

/// Opens it; a worker reads what was done.
pub(super) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    model.overlay = Some(Overlay::History { at: 0 });
    model.past = None;
    model.status = None;
    model.dirty = true;
    let roots = model.catalog.profiles.iter().map(|profile| profile.root.clone()).collect();
    effects.push(Effect::Past { roots });
}

/// It was read.
pub(super) fn read(model: &mut Model, entries: Vec<Entry>, messages: Vec<String>) {
    if matches!(model.overlay, Some(Overlay::History { .. })) {
        model.past = Some(Past { entries, messages });
        model.dirty = true;
    }
}

/// Goes so many lines down.
pub(super) fn go(model: &mut Model, down: isize) {
    let last = model.past.as_ref().map_or(0, |past| past.entries.len().saturating_sub(1));
    if let Some(Overlay::History { at }) = &mut model.overlay {
        *at = at.saturating_add_signed(down).min(last);
        model.dirty = true;
    }
}

/// Asks whether the chosen operation is to be taken back, or what it keeps removed for good.
pub(super) fn ask(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let Some(Overlay::History { at }) = model.overlay else { return };
    let Some(entry) = model.past.as_ref().and_then(|past| past.entries.get(at)) else { return };
    let name = entry.record.name.clone();
    let Some(root) = entry.record.keep.parent().map(std::path::Path::to_path_buf) else { return };
    let wish = match (action, &entry.undo) {
        (Action::Purge, _) => Wish::Purge { roots: vec![root], name: Some(name) },
        (_, Ok(_)) => Wish::Undo { roots: vec![root], name: Some(name) },
        (_, Err(why)) => {
            let why = why.clone();
            return model.say(Role::Muted, why);
        }
    };
    operate::open(model, wish, Stage::Planning, effects);
}
