//! What operations took away and keep for an undo, added to its world as layers.
//!
//! A keeping folder lies in a save root, or in the folder around it, and holds `recycle/OPERATION/`, in which everything
//! has the path that it had below the folder of the keeping folder. So it looks like a save root to the game, which
//! reads it as it reads any other.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::Event;
use super::walk::Walked;
use crate::games::{Context, RosterEntry};
use crate::model::outline::KEEP;
use crate::model::plan::OPERATION_DIGITS;
use crate::model::{Code, Finding, Layer, LayerKind, Verdict, World, shown, shown_path};
use crate::store::{self, EntryKind, Store, StoreErrorKind};

/// Operations of one keeping folder that are looked into, the latest first. Each costs a walk through what it keeps.
const MOST: usize = 64;

/// Adds what is kept of the worlds of a profile, and emits every world that gained a layer.
pub(super) fn merge(walked: &mut Walked, context: &Context, sink: &mut dyn FnMut(Event)) {
    let base = walked.store.outer().join(&walked.dir);
    let around = base.parent().zip(base.file_name()).map(|(dir, name)| (dir.to_path_buf(), PathBuf::from(name)));
    let mut changed: Vec<String> = Vec::new();
    for (dir, root) in [(base.clone(), PathBuf::new())].into_iter().chain(around) {
        let keep = dir.join(KEEP);
        match kept(&keep, context) {
            Ok((operations, left)) => {
                for name in operations {
                    changed.extend(operation(walked, &keep, &name, &root, context));
                }
                if left > 0 {
                    let text = format!(
                        "{} keeps what {left} more operations took away, which is not looked at.",
                        shown_path(&keep)
                    );
                    let finding = Finding::note(Code::TooMany, text, "`worldkeep history` names them all.");
                    sink(Event::Finding { profile: walked.id.clone(), finding });
                }
            }
            Err(finding) => {
                if let Some(finding) = finding {
                    sink(Event::Finding { profile: walked.id.clone(), finding: *finding });
                }
            }
        }
        if context.cancel.cancelled() {
            return;
        }
    }
    changed.sort();
    changed.dedup();
    for world in walked.worlds.iter_mut().filter(|w| changed.contains(&w.id)) {
        walked.game.relate(world);
        sink(Event::World { profile: walked.id.clone(), world: world.clone() });
    }
}

/// The names of the operations that keep something, the latest first, and how many more there are; a finding where we
/// may not look, and none where there is nothing.
fn kept(keep: &Path, context: &Context) -> Result<(Vec<String>, usize), Option<Box<Finding>>> {
    let recycle = keep.join("recycle");
    let told = |error: store::StoreError| match error.kind {
        StoreErrorKind::Denied(_) => {
            let mut finding = store::StoreError::new(&recycle, error.kind).finding();
            // What is kept there is no part of any save.
            finding.severity = crate::model::Severity::Note;
            Some(Box::new(finding))
        }
        _ => None,
    };
    let store = store::open(&recycle, &context.ceilings).map_err(told)?;
    let entries = store.list(Path::new("")).map_err(told)?;
    // A name of any other form is one that is being removed.
    let is_operation =
        |name: &str| name.len() == OPERATION_DIGITS && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Dir && !entry.link)
        .filter_map(|entry| entry.name.into_string().ok().filter(|name| is_operation(name)))
        .collect();
    names.sort_by_cached_key(|name| Reverse(store.stat(Path::new(name)).ok().and_then(|stat| stat.mtime)));
    let left = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    Ok((names, left))
}

/// Adds what one operation keeps; returns the ids of the worlds that gained a layer.
fn operation(walked: &mut Walked, keep: &Path, name: &str, root: &Path, context: &Context) -> Vec<String> {
    let Ok(store) = store::open(&keep.join("recycle").join(name), &context.ceilings) else { return Vec::new() };
    let mut changed = Vec::new();
    for entry in walked.game.roster(store.as_ref(), root, context).entries {
        if context.cancel.cancelled() {
            break;
        }
        changed.extend(world(walked, store.as_ref(), &entry, name, context));
    }
    changed
}

/// Adds the kept layers of one world; returns its id.
fn world(walked: &mut Walked, store: &dyn Store, entry: &RosterEntry, name: &str, context: &Context) -> Option<String> {
    let mut kept = walked.game.survey(store, &walked.id, entry, context);
    // A generation besides the live one lies in the live folder, and is kept as a part of it.
    kept.layers.retain(|layer| layer.kind != LayerKind::Generation && walked.game.holds_data(layer));
    if kept.layers.is_empty() {
        return None;
    }
    let at = match walked.worlds.iter().position(|world| world.id == kept.id) {
        Some(at) => at,
        // Only a part of the place was asked for, and this is none of it.
        None if walked.partial => return None,
        None => {
            walked.worlds.push(World { findings: Vec::new(), layers: Vec::new(), ..kept.clone() });
            walked.worlds.len() - 1
        }
    };
    let world = walked.worlds.get_mut(at)?;
    let orphan = world.live().is_none();
    for layer in kept.layers {
        let mut layer = parked(layer, name);
        layer.orphan = orphan;
        let checked = walked.game.check_headers(store, &layer, context);
        layer.apply(checked);
        let id = format!("{}@{}", world.id, layer.id);
        let mut number = 1_u64;
        layer.id.clone_from(&id);
        while world.layers.iter().any(|other| other.id == layer.id) {
            number += 1;
            layer.id = format!("{id}~{number}");
        }
        world.layers.push(layer);
    }
    Some(world.id.clone())
}

/// A layer as one that an operation keeps; its id is the last part alone.
fn parked(layer: Layer, operation: &str) -> Layer {
    let was = layer.key().to_owned();
    let (id, rule) = match layer.kind {
        LayerKind::Live => (
            format!("parked-{operation}"),
            format!("Operation {operation} took it away when it was the live state, and keeps it for an undo."),
        ),
        kind => (
            format!("parked-{operation}-{was}"),
            format!(
                "Operation {operation} took it away when it was a layer of the kind \"{}\", and keeps it for an undo.",
                kind.word()
            ),
        ),
    };
    // A write that never took its place is no more whole here.
    let kind = if layer.kind == LayerKind::Stray { LayerKind::Stray } else { LayerKind::Parked };
    Layer { id, rule: shown(&rule), kind, verdict: Verdict::Unchecked, relations: Vec::new(), ..layer }
}
