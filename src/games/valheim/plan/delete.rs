//! Taking a world or a layer away; it is kept for an undo.

use std::path::PathBuf;

use super::cache::shared_inner;
use super::copy::layer_parts;
use super::not_for_this;
use super::site::{Site, cache_name};
use super::words::{files, listed, named, side};
use crate::games::Context;
use crate::model::outline::{Ask, Change, Outline};
use crate::model::plan::{Operation, Reason, Refusal, Warning, WarningCode};
use crate::model::{Container, Layer, LayerKind, Profile, Shape, World, shown};

pub(super) fn delete(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    match ask.layer.filter(|layer| layer.kind != LayerKind::Live) {
        Some(layer) => one_layer(ask, layer, context),
        None => whole_world(ask, context),
    }
}

fn whole_world(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    let site = Site::of(ask.profile, ask.world, context)?;
    let live = ask.world.live();
    if live.is_some_and(|live| matches!(live.container, Container::Zip | Container::Tar)) {
        return Err(not_for_this("It lies in an archive; delete the archive itself."));
    }
    let mut outline = site.outline(Operation::Delete);
    let mut parked = site.place.all_of(&site.name);
    let mut swept = false;
    // A pair of that name in the older folder would be a world again as soon as this one is gone.
    if site.place.dir.file_name().is_some_and(|name| name == "worlds_local")
        && let Some(sister) = site.place.sister(context)
    {
        let more = sister.all_of(&site.name);
        swept = !more.is_empty();
        parked.extend(more);
    }
    let layers: Vec<PathBuf> = layer_parts(&site.place, &site.name)
        .iter()
        .map(|part| site.place.path(part))
        .filter(|path| !parked.contains(path))
        .collect();
    let staying = if ask.with_layers {
        parked.extend(layers);
        0
    } else {
        layers.len()
    };
    if parked.is_empty() {
        let text = "There is no live world of this name; mark its layers to delete them.";
        return Err(Refusal::new(Reason::NotSupported, text));
    }
    let inner = ask.world.inner_name.as_deref().unwrap_or(&site.name);
    match site.place.cache_of(inner, context) {
        Some(cache) if !shared_inner(ask.profile, ask.world, inner, swept) => parked.push(cache),
        Some(_) => outline.preview.notes.push(format!(
            "The biome cache {} stays: another world here has the same name inside.",
            shown(&cache_name(inner))
        )),
        None => {}
    }
    if staying > 0 {
        outline.warnings.push(Warning {
            code: WarningCode::Adopts,
            text: format!(
                "{} of its layers stay. A new world named {} would take them for its own, and the game would prune the \
                 timed ones.",
                staying,
                shown(&site.name)
            ),
        });
    }
    outline.changes.extend(parked.iter().cloned().map(Change::Park));
    let name = shown(&site.name);
    let preview = &mut outline.preview;
    preview.title = format!("Delete {name}");
    if let Some(live) = live {
        preview.lines.push(("what".to_owned(), side(live, &live.facts, context)));
        preview.lines.push(("files".to_owned(), files(live.files.len(), live.bytes)));
    }
    preview.lines.extend(listed(&parked, &site.place.root).into_iter().map(|path| ("parks".to_owned(), path)));
    preview.notes.push("All of it is kept for an undo, and takes its space until it is purged.".to_owned());
    preview.done = format!("Deleted {name}. It is kept for an undo.");
    Ok(outline)
}

fn one_layer(ask: &Ask<'_>, layer: &Layer, context: &Context) -> Result<Outline, Refusal> {
    match layer.kind {
        LayerKind::Generation => {
            return Err(not_for_this(
                "This is a part of the live folder, which the game itself clears up at its next save.",
            ));
        }
        LayerKind::Parked => return Err(not_for_this("It is kept for an undo; purge empties what is kept.")),
        _ => {}
    }
    let site = Site::of(ask.profile, ask.world, context)?;
    let mut outline = site.outline(Operation::Delete);
    let parked = match (layer.container, layer.shape) {
        (Container::Zip | Container::Tar, _) => vec![archive(ask.profile, ask.world, layer, &site)?],
        (_, Shape::ValheimFolder) => vec![layer.path.clone()],
        (_, Shape::ValheimPair) => pair_files(layer),
    };
    // The server reads and prunes layers by itself, so it counts for them as well.
    outline.changes.extend(parked.iter().cloned().map(Change::Park));
    let preview = &mut outline.preview;
    preview.title = format!("Delete a layer of {}", shown(&site.name));
    preview.lines.push(("what".to_owned(), side(layer, &layer.facts, context)));
    preview.lines.push(("files".to_owned(), files(layer.files.len(), layer.bytes)));
    preview.lines.extend(listed(&parked, &site.place.root).into_iter().map(|path| ("parks".to_owned(), path)));
    let whole: Vec<&Layer> = ask
        .world
        .layers
        .iter()
        .filter(|other| other.restorable && other.verdict <= crate::model::Verdict::Notes)
        .collect();
    if let [only] = whole.as_slice()
        && only.id == layer.id
    {
        preview.notes.push("This is the only layer of this world that is known to be whole.".to_owned());
    }
    preview.done = format!("Deleted {} of {}. It is kept for an undo.", named(layer, context), shown(&site.name));
    Ok(outline)
}

/// World data first, so that a half that is left alone is one that the game does not load.
fn pair_files(layer: &Layer) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = layer.files.iter().map(|file| layer.source.outer.join(&file.path)).collect();
    files.sort();
    files
}

/// The archive goes as a whole, so nothing else may be in it.
fn archive(profile: &Profile, world: &World, layer: &Layer, site: &Site<'_>) -> Result<PathBuf, Refusal> {
    let outer = &layer.source.outer;
    let others = profile.worlds.iter().flat_map(|w| w.layers.iter().map(move |l| (w, l)));
    let others = others.filter(|(w, l)| l.source.outer == *outer && (w.id != world.id || l.id != layer.id)).count();
    if others > 0 {
        let text = format!("The archive holds {others} other layers besides this one, which would go with it.");
        return Err(not_for_this(&text));
    }
    if !outer.starts_with(&site.place.root) {
        return Err(not_for_this("The archive lies outside the save folder, and is left alone."));
    }
    Ok(outer.clone())
}
