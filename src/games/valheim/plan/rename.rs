//! Another name for a world: on disk, inside, and for what belongs to it.
//!
//! What holds the name inside is made anew beside and the old one is kept for an undo; a pair's data and every layer only
//! get another name.

use std::path::{Path, PathBuf};

use super::cache;
use super::copy::layer_parts;
use super::names;
use super::not_for_this;
use super::site::{Place, Site};
use super::words::{listed, side};
use crate::games::Context;
use crate::games::valheim::folder::{FolderView, main_name};
use crate::games::valheim::format::meta::META_CEILING;
use crate::games::valheim::pair::Age;
use crate::model::outline::{Ask, Change, Fresh, Origin, Outline};
use crate::model::plan::{Operation, Reason, Refusal};
use crate::model::{Container, LayerKind, shown, shown_path};
use crate::store::{self, Store};

pub(super) fn rename(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    if ask.layer.is_some_and(|layer| layer.kind != LayerKind::Live) {
        return Err(not_for_this("A layer goes by the name of its world; rename the world."));
    }
    let site = Site::of(ask.profile, ask.world, context)?;
    let Some(live) = ask.world.live().filter(|live| !matches!(live.container, Container::Zip | Container::Tar)) else {
        return Err(not_for_this("There is no live world of this name to be renamed; copy one of its layers."));
    };
    let Some(name) = ask.name else { return Err(Refusal::new(Reason::BadName, "A rename needs the new name.")) };
    names::check(name)?;
    if name == site.name {
        return Err(Refusal::new(Reason::SamePlace, "That is its name already."));
    }
    let place = &site.place;
    let beside = place.sister(context).map(|sister| sister.all_of(name)).unwrap_or_default();
    let waiting = place.backups_of(name);
    if place.has(name) || !place.all_of(name).is_empty() || !beside.is_empty() {
        let text = format!("A world called '{}' is already in that save folder.", shown(name));
        return Err(Refusal::new(Reason::NameTaken, text));
    }
    if let Some(first) = waiting.first() {
        let text = format!("'{}' lies there, a backup of an earlier world of that name.", shown(first));
        return Err(Refusal::new(Reason::NameTaken, text));
    }
    let mut outline = site.outline(Operation::Rename);
    let store = store::open(&place.dir, &context.ceilings).map_err(|error| {
        Refusal::new(Reason::SourceGone, format!("'{}' cannot be read: {error}.", shown_path(&place.dir)))
    })?;
    let mut moved = Vec::new();
    if let Some(folder) = place.folder_of(&site.name) {
        let to = place.path(name);
        let fresh = Fresh {
            origin: Origin::Whole(folder.clone()),
            writes: folder_metadata(&site, &*store, name)?,
            like: folder.clone(),
        };
        outline.depends.push(to.clone());
        outline.changes.push(Change::Put { fresh, to, replaces: false });
        moved.push(folder.clone());
        outline.changes.push(Change::Park(folder));
    }
    // World data before metadata: without metadata the game lists no world.
    for from in place.pair_files(&site.name, &[Age::Current, Age::New]) {
        let old = from.file_name().and_then(|old| old.to_str()).unwrap_or_default();
        let Some(rest) = old.strip_prefix(site.name.as_str()) else { continue };
        let to = place.path(&format!("{name}{rest}"));
        outline.depends.push(to.clone());
        moved.push(from.clone());
        if rest == ".fwl" {
            let bytes = read(&*store, Path::new(old), place)?;
            let writes = vec![(PathBuf::new(), names::with_name(&bytes, name)?)];
            let fresh = Fresh { origin: Origin::Whole(from.clone()), writes, like: from.clone() };
            outline.changes.push(Change::Put { fresh, to, replaces: false });
            outline.changes.push(Change::Park(from));
        } else {
            outline.changes.push(Change::Move { from, to });
        }
    }
    let own = moved.clone();
    let mut inner_kept = 0;
    for part in layer_parts(place, &site.name) {
        let from = place.path(&part);
        let Some(rest) = part.strip_prefix(site.name.as_str()).filter(|_| !own.contains(&from)) else { continue };
        let to = place.path(&format!("{name}{rest}"));
        outline.depends.push(to.clone());
        moved.push(from.clone());
        inner_kept += 1;
        outline.changes.push(Change::Move { from, to });
    }
    cache::rename(ask, &site, name, &mut outline, context);
    let preview = &mut outline.preview;
    preview.title = format!("Rename {} to {}", shown(&site.name), shown(name));
    preview.lines.push(("what".to_owned(), side(live, &live.facts, context)));
    preview.lines.extend(listed(&moved, &place.root).into_iter().map(|path| ("moves".to_owned(), path)));
    if inner_kept > 0 {
        preview.notes.push(format!(
            "{inner_kept} of these are layers. They get the new name on disk, and keep the old one inside."
        ));
    }
    if let Some(twin) = names::twin(place, name) {
        preview.notes.push(format!("'{}' differs from the new name by the case of its letters alone.", shown(twin)));
    }
    preview.notes.push(format!(
        "The server opens a world by its name: change {} to {} in its start script (-world).",
        shown(&site.name),
        shown(name)
    ));
    preview.done = format!("Renamed {} to {}.", shown(&site.name), shown(name));
    Ok(outline)
}

/// The metadata of every save in the folder with the new name inside, so that none comes back under the old one.
fn folder_metadata(site: &Site<'_>, store: &dyn Store, name: &str) -> Result<Vec<(PathBuf, Vec<u8>)>, Refusal> {
    let dir = PathBuf::from(&site.name);
    let view = FolderView::read(store, &dir).map_err(|error| {
        let text = format!("'{}' cannot be read: {error}.", shown_path(&site.place.dir.join(&dir)));
        Refusal::new(Reason::SourceGone, text)
    })?;
    let with = view.generations.iter().filter(|(_, generation)| generation.has("fwl2"));
    let mut writes = Vec::new();
    for (&n, generation) in with {
        let file = main_name(n, "fwl2");
        let bytes = read(store, &dir.join(&file), &site.place)?;
        match names::with_name(&bytes, name) {
            Ok(bytes) => writes.push((PathBuf::from(file), bytes)),
            // What is left of a save that was not finished is no reason to keep the name.
            Err(_) if !generation.complete() => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(writes)
}

fn read(store: &dyn Store, file: &Path, place: &Place) -> Result<Vec<u8>, Refusal> {
    store.read(file, META_CEILING).map_err(|error| {
        let text = format!("'{}' cannot be read: {error}.", shown_path(&place.dir.join(file)));
        Refusal::new(Reason::SourceGone, text)
    })
}
