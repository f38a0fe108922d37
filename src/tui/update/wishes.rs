//! What a key asks for, by what is selected or marked.

use super::super::dialog::Wish;
use super::super::state::Model;
use super::super::subject::Subject;
use crate::config::actions::Action;
use crate::model::LayerKind;
use crate::model::plan::Operation;

/// The operation that a key asks for.
pub(super) fn operation(action: Action) -> Option<Operation> {
    Some(match action {
        Action::Restore => Operation::Restore,
        Action::Copy => Operation::Copy,
        Action::Rename => Operation::Rename,
        Action::Backup => Operation::Backup,
        Action::Delete => Operation::Delete,
        Action::Undo => Operation::Undo,
        Action::Purge => Operation::Purge,
        _ => return None,
    })
}

/// What is asked for, or why nothing can be asked here.
pub(super) fn wish(model: &Model, operation: Operation) -> Result<Wish, &'static str> {
    let chosen = || model.tree.selected.and_then(|node| model.subject(node)).ok_or(NOTHING);
    match operation {
        Operation::Undo | Operation::Purge => {
            let (Subject::Profile(profile) | Subject::World(profile, _) | Subject::Layer(profile, ..)) = chosen()?;
            let roots = vec![profile.root.clone()];
            return Ok(match operation {
                Operation::Undo => Wish::Undo { roots, name: None },
                _ => Wish::Purge { roots, name: None },
            });
        }
        Operation::Delete | Operation::Backup if !model.marks.is_empty() => {}
        _ if !model.marks.is_empty() => return Err("Marks are for back up and delete; Esc takes them away."),
        _ => return about(operation, chosen()?),
    }
    let mut each: Vec<Wish> = Vec::new();
    for id in &model.marks {
        let layer = model.catalog.layer(id).map(|(profile, world, layer)| Subject::Layer(profile, world, layer));
        let world = || model.catalog.world(id).map(|(profile, world)| Subject::World(profile, world));
        let wish = about(operation, layer.or_else(world).ok_or(NOTHING)?)?;
        // A world and its live layer are the same.
        if !each.contains(&wish) {
            each.push(wish);
        }
    }
    Ok(match each.len() {
        1 => each.swap_remove(0),
        _ => Wish::Several { operation, each },
    })
}

const NOTHING: &str = "Choose a world or a layer first.";

/// The wish about one save.
fn about(operation: Operation, subject: Subject<'_>) -> Result<Wish, &'static str> {
    let (profile, world, layer) = match subject {
        Subject::Profile(_) => return Err(NOTHING),
        Subject::World(profile, world) => (profile, world, None),
        // The live layer is the world itself.
        Subject::Layer(profile, world, layer) => {
            (profile, world, Some(layer).filter(|layer| layer.kind != LayerKind::Live))
        }
    };
    // A backup and another name are always about the live world.
    let layer = layer.filter(|_| !matches!(operation, Operation::Backup | Operation::Rename));
    if operation == Operation::Restore && layer.is_none() {
        return Err("A restore needs an older layer: go into the world and choose one.");
    }
    Ok(Wish::Save {
        operation,
        profile: Box::new(profile.clone()),
        world: world.id.clone(),
        layer: layer.map(|layer| layer.id.clone()),
        name: None,
        into: None,
        with_layers: false,
        overwrite: false,
    })
}
