//! What lies in archives beside the worlds, added to them as layers.

use std::fmt::Write as _;
use std::path::Path;

use super::walk::Walked;
use super::{Event, Request};
use crate::games::Context;
use crate::model::{Code, Container, Layer, LayerKind, Stamp, StampFrom, Verdict, World, WorldKind, shown, shown_path};
use crate::store::{self, Store};

/// A compressed tar must be inflated from its start to be listed at all; larger ones wait until somebody names them.
const SMALL_TAR: u64 = 64 * 1024 * 1024;

/// Surveys the archives of a profile and emits every world that gained a layer.
pub(super) fn merge(walked: &mut Walked, request: &Request, context: &Context, sink: &mut dyn FnMut(Event)) {
    if walked.partial {
        return;
    }
    let mut changed: Vec<String> = Vec::new();
    for path in walked.game.archives(walked.store.as_ref(), &walked.dir, context) {
        if context.cancel.cancelled() {
            return;
        }
        let outer = walked.store.outer().join(&path);
        if !cheap(walked.store.as_ref(), &path) {
            continue;
        }
        // What cannot be opened is no layer of any world; naming the archive itself says why.
        let Ok(archive) = store::open(&outer, &request.ceilings) else { continue };
        for dir in walked.game.roots(archive.as_ref(), context) {
            for entry in walked.game.roster(archive.as_ref(), &dir, context).entries {
                let inner = walked.game.survey(archive.as_ref(), &walked.id, &entry, context);
                if let Some((name, mut layer)) = layer_of(inner, &path) {
                    // Many archives keep no time that means the same everywhere; the archive itself was made then.
                    let made = walked.store.stat(&path).ok().and_then(|stat| stat.mtime);
                    layer.stamp = layer.stamp.or(made.map(|at| Stamp { at, from: StampFrom::Mtime }));
                    changed.push(add(walked, name, layer));
                }
            }
        }
    }
    changed.sort();
    changed.dedup();
    for world in walked.worlds.iter_mut().filter(|w| changed.contains(&w.id)) {
        walked.game.relate(world);
        sink(Event::World { profile: walked.id.clone(), world: world.clone() });
    }
}

fn cheap(store: &dyn Store, path: &Path) -> bool {
    let packed = !matches!(path.extension().and_then(|e| e.to_str()), Some("zip" | "tar"));
    !packed || store.stat(path).is_ok_and(|stat| stat.size <= SMALL_TAR)
}

/// The live state of an archived world, as a layer; with the world's name.
fn layer_of(world: World, archive: &Path) -> Option<(String, Layer)> {
    let others = world.layers.len().saturating_sub(1);
    let World { name, layers, .. } = world;
    let mut layer = layers.into_iter().find(|l| l.kind == LayerKind::Live)?;
    let file = shown_path(Path::new(archive.file_name()?));
    layer.rule = format!("Inside the archive {file}, where it is the live state of {}.", shown(&name));
    if others > 0 {
        let _ = write!(layer.rule, " {others} more layers of it are in there: name the archive to see them.");
    }
    layer.kind = LayerKind::Archive;
    layer.restorable = layer.verdict < Verdict::Unfinished;
    layer.reason = (!layer.restorable).then(|| layer.reason.clone()).flatten();
    // A pair inside an archive converts nothing until it is restored.
    layer.findings.retain(|f| f.code != Code::ConvertsOnSave);
    // What follows the last `@` of an id is the layer's own part.
    layer.id = format!("archive-{}", file.replace('@', "\\u{40}"));
    Some((name, layer))
}

/// Adds a layer to the world of its name; returns that world's id.
fn add(walked: &mut Walked, name: String, mut layer: Layer) -> String {
    let at = walked.worlds.iter().position(|w| w.name == name).unwrap_or_else(|| {
        let id = format!("{}/{}", walked.id, shown(&name));
        let empty = World {
            id,
            name,
            kind: WorldKind::World,
            place: None,
            inner_name: None,
            opens_with: None,
            findings: Vec::new(),
            layers: Vec::new(),
        };
        walked.worlds.push(empty);
        walked.worlds.len() - 1
    });
    let Some(world) = walked.worlds.get_mut(at) else { return String::new() };
    layer.orphan = world.live().is_none();
    // Two archives of one name lie in different folders, or one archive holds two worlds of one name.
    let id = format!("{}@{}", world.id, layer.id);
    let mut twins = 1;
    layer.id.clone_from(&id);
    while world.layers.iter().any(|other| other.id == layer.id) {
        twins += 1;
        layer.id = format!("{id}~{twins}");
    }
    debug_assert!(matches!(layer.container, Container::Zip | Container::Tar));
    world.layers.push(layer);
    world.id.clone()
}
