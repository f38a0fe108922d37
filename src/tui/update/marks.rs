//! Marks: several worlds and layers for one question.

use super::super::state::Model;
use super::super::subject::Subject;
use super::keys;
use crate::config::actions::Action;
use crate::config::theme::Role;

/// Marks what is selected or takes its mark away, and goes on to the next line.
pub(super) fn toggle(model: &mut Model, effects: &mut Vec<super::Effect>) {
    let id = match model.tree.selected.and_then(|node| model.subject(node)) {
        Some(Subject::World(_, world)) => world.id.clone(),
        Some(Subject::Layer(_, _, layer)) => layer.id.clone(),
        Some(Subject::Profile(_)) | None => return model.say(Role::Muted, "Worlds and layers can be marked."),
    };
    if !model.marks.remove(&id) {
        model.marks.insert(id);
    }
    model.dirty = true;
    keys::act(model, Action::Down, 1, effects);
}

/// What is gone has no mark.
pub(super) fn forget_gone(model: &mut Model) {
    let (marks, catalog) = (&mut model.marks, &model.catalog);
    marks.retain(|id| catalog.layer(id).is_some() || catalog.world(id).is_some());
}

/// Takes all marks away; false when there was none.
pub(super) fn clear(model: &mut Model) -> bool {
    let any = !model.marks.is_empty();
    model.marks.clear();
    model.dirty |= any;
    any
}
