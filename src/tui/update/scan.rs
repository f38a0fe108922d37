use super::super::state::{Effect, Incoming, Model, Signature};
use super::look;
use crate::config::theme::Role;
use crate::model::Checked;
use crate::scan::{Catalog, Event};

/// Takes a piece of a scan. The first scan fills the tree as it goes; a later one replaces it when it is complete, so
/// that nothing flickers.
pub(super) fn event(model: &mut Model, generation: u64, event: Event, effects: &mut Vec<Effect>) {
    if generation == 0 && model.generation == 0 {
        model.catalog.apply(event);
        changed(model);
        return;
    }
    let Some(incoming) = model.incoming.as_mut().filter(|incoming| incoming.generation == generation) else { return };
    let done = event == Event::Done;
    incoming.catalog.apply(event);
    if !done {
        return;
    }
    if let Some(Incoming { mut catalog, again, .. }) = model.incoming.take() {
        keep_checks(&model.catalog, &mut catalog);
        catalog.revision = model.catalog.revision + 1;
        let same = catalog.profiles == model.catalog.profiles && catalog.looked == model.catalog.looked;
        if !same || !model.catalog.complete {
            model.catalog = catalog;
            changed(model);
        }
        if again {
            start(model, effects);
        }
    }
}

fn changed(model: &mut Model) {
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

/// Layers that have not changed keep what a deeper check found.
fn keep_checks(old: &Catalog, new: &mut Catalog) {
    let layers = new.profiles.iter_mut().flat_map(|p| &mut p.worlds).flat_map(|w| &mut w.layers);
    for layer in layers {
        let Some((_, _, before)) = old.layer(&layer.id) else { continue };
        if before.depth > layer.depth && Signature::of(before) == Signature::of(layer) {
            layer.apply(Checked {
                verdict: before.verdict,
                depth: before.depth,
                findings: before.findings.clone(),
                facts: before.facts.clone(),
                restorable: before.restorable,
                reason: before.reason.clone(),
            });
        }
    }
}
