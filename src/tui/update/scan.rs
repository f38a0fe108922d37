use std::time::Duration;

use super::super::state::{Effect, Incoming, Missing, Model};
use super::look;
use crate::config::theme::Role;
use crate::scan::{Catalog, Event};

/// How long after a profile went away the disk is looked at for it again.
const AGAIN: Duration = Duration::from_secs(10);

/// How often that is done: for an hour.
const TRIES: u32 = 360;

/// Takes a piece of a scan. The first scan fills the tree as it goes; a later one replaces it when it is complete, so
/// that nothing flickers.
pub(super) fn event(model: &mut Model, generation: u64, event: Event, effects: &mut Vec<Effect>) {
    if generation == 0 && model.generation == 0 {
        let done = event == Event::Done;
        model.catalog.apply(event);
        if done {
            effects.push(Effect::Follow);
        }
        changed(model);
        return;
    }
    let Some(incoming) = model.incoming.as_mut().filter(|incoming| incoming.generation == generation) else { return };
    let done = event == Event::Done;
    incoming.catalog.apply(event);
    if !done {
        return;
    }
    if let Some(Incoming { catalog, again, .. }) = model.incoming.take() {
        missing(model, &catalog);
        model.catalog.renew(catalog);
        model.catalog.complete = true;
        changed(model);
        effects.push(Effect::Follow);
        if again {
            start(model, effects);
        }
    }
}

/// A profile whose folder went away, such as a mount that was lost, is looked for again.
fn missing(model: &mut Model, fresh: &Catalog) {
    let known: Vec<String> = model.catalog.profiles.iter().map(|profile| profile.id.clone()).collect();
    let Missing { ids, at, tries } = &mut model.missing;
    ids.extend(known);
    ids.retain(|id| !fresh.profiles.iter().any(|profile| profile.id == *id));
    if ids.is_empty() {
        *tries = 0;
    }
    *at = (!ids.is_empty() && *tries < TRIES).then_some(model.up + AGAIN);
}

/// Looks at the disk for what went away, when that is due.
pub(super) fn due(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.missing.at.is_some_and(|at| at <= model.up) {
        model.missing.at = None;
        model.missing.tries += 1;
        dirty(model, effects);
    }
}

fn changed(model: &mut Model) {
    super::marks::forget_gone(model);
    model.tree.stale = true;
    model.dirty = true;
    look::again(model);
}

/// Files changed: look again, once more afterwards when a scan is under way already.
pub(super) fn dirty(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.incoming.as_mut() {
        Some(incoming) => incoming.again = true,
        None => start(model, effects),
    }
}

/// The user asked to look again.
pub(super) fn rescan(model: &mut Model, effects: &mut Vec<Effect>) {
    start(model, effects);
    model.say(Role::Muted, "Looking at the disk again.");
}

fn start(model: &mut Model, effects: &mut Vec<Effect>) {
    model.generation += 1;
    let catalog = Catalog::default();
    model.incoming = Some(Incoming { generation: model.generation, catalog, again: false });
    model.checking.seen.clear();
    effects.push(Effect::Rescan(model.generation));
}
