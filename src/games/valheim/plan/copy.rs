//! Copies of a world or a layer: under another name, into another profile, and as a backup beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::cache;
use super::names;
use super::not_for_this;
use super::site::{Place, Site, home_of};
use super::state::{Body, State};
use super::words::{converts, files, listed, named, side, source_warning};
use crate::games::Context;
use crate::games::valheim::keys;
use crate::games::valheim::names::classify;
use crate::games::valheim::pair::Suffix;
use crate::games::valheim::places::is_worlds_folder;
use crate::model::outline::{Ask, Change, Fresh, Origin, Outline};
use crate::model::plan::{Operation, Reason, Refusal, Warning, WarningCode};
use crate::model::{Container, Layer, LayerKind, shown, shown_path};
use crate::store::{self, EntryKind};

/// What is copied: a layer, or the live state.
fn source<'a>(ask: &Ask<'a>) -> Result<&'a Layer, Refusal> {
    ask.layer.or_else(|| ask.world.live()).ok_or_else(|| {
        Refusal::new(Reason::NoFinishedSave, "There is no live world of this name; name one of its layers.")
    })
}

pub(super) fn copy(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    let layer = source(ask)?;
    let into = ask.into.unwrap_or(ask.profile);
    if into.game != ask.profile.game {
        return Err(not_for_this("That place holds saves of another game."));
    }
    let name = ask.name.unwrap_or(&ask.world.name);
    names::check(name)?;
    let place = target(ask, into, context)?;
    let from = Site::of(ask.profile, ask.world, context)?;
    let same_place = from.place.dir == place.dir;
    if same_place && name == from.name {
        let text = format!("{} already lies there: the copy would be the world itself.", shown(name));
        return Err(Refusal::new(Reason::SamePlace, text));
    }
    let state = State::read(layer, context)?;
    let mut outline = Outline { operation: Operation::Copy, subject: name.to_owned(), ..from.outline(Operation::Copy) };
    outline.root.clone_from(&place.root);
    outline.scanned = place.scanned();
    if state.is_never_changed(layer) {
        outline.traces = None;
    }
    outline.warnings.extend(source_warning(&state, layer));
    let taken = make_room(&from, &place, name, ask.overwrite, &mut outline, context)?;
    if ask.overwrite && !taken.is_empty() {
        // What is in the way may be in use there.
        outline.traces = Some(traces_there(into, &place, name));
    }
    put(&state, &place, name, &taken, layer, &mut outline)?;
    if ask.with_layers {
        with_layers(&from, &place, name, &mut outline, context)?;
    } else {
        adopts(&place, name, &taken, &mut outline);
    }
    let old_inner = state.checked.facts.text(keys::INNER_NAME).unwrap_or_default();
    let inner = inner_of(&state, name, &from.name);
    cache::copy(&from.place, old_inner, (&place, into), (name, inner), &mut outline, context);
    say_copy(&from, layer, &state, &place, name, &taken, &mut outline, context);
    Ok(outline)
}

/// The name inside after a copy: the new name, unless the name on disk stays the same.
fn inner_of<'n>(state: &'n State, name: &'n str, old: &str) -> &'n str {
    if name == old { state.checked.facts.text(keys::INNER_NAME).unwrap_or(name) } else { name }
}

/// The worlds folder of a profile that the game reads.
fn target(ask: &Ask<'_>, into: &crate::model::Profile, context: &Context) -> Result<Place, Refusal> {
    let home = home_of(into);
    let dir = match home.file_name().and_then(|name| name.to_str()) {
        Some("worlds") => home.with_file_name("worlds_local"),
        _ => home,
    };
    if let Ok(place) = Place::read(&dir, context) {
        return Ok(place);
    }
    // A folder of pairs that is no save root, such as one of backups, is a place of its own.
    let own = Site::of(ask.profile, ask.world, context).ok().filter(|_| into.id == ask.profile.id);
    if let Some(site) = own.filter(|site| !is_worlds_folder(site.place.dir.file_name())) {
        return Ok(site.place);
    }
    let text = format!(
        "'{}' is not there. Making it would hide the worlds in the older folder 'worlds' from the game, so make it yourself \
         if that is what you want.",
        shown_path(&dir)
    );
    Err(Refusal::new(Reason::NotSupported, text))
}

fn traces_there(into: &crate::model::Profile, place: &Place, name: &str) -> crate::model::outline::Traces {
    let mut traces = crate::games::valheim::traces::of_profile(into);
    traces.root.clone_from(&place.root);
    name.clone_into(&mut traces.world);
    traces.held.extend(place.all_of(name));
    traces
}

/// Nothing may bear the name, unless what does is to be parked; gives what is parked.
fn make_room(
    from: &Site<'_>,
    place: &Place,
    name: &str,
    overwrite: bool,
    outline: &mut Outline,
    context: &Context,
) -> Result<Vec<PathBuf>, Refusal> {
    let mut taken = place.all_of(name);
    if place.has(name) && place.folder_of(name).is_none() {
        taken.push(place.path(name));
    }
    // The world that is copied out of the older folder may keep its name there.
    let beside = place.sister(context).filter(|sister| name != from.name || sister.dir != from.place.dir);
    let beside = beside.map(|sister| sister.all_of(name)).unwrap_or_default();
    if !(overwrite || taken.is_empty() && beside.is_empty()) {
        // In the words of the seed document, which players know.
        let text = format!(
            "A world called '{}' is already in that save folder. Copying onto it would mix the two saves together, so \
             nothing was copied.",
            shown(name)
        );
        return Err(Refusal::new(Reason::NameTaken, text));
    }
    for path in beside {
        outline.preview.notes.push(format!(
            "'{}' stays where it is; current servers read worlds_local and do not see it.",
            shown_path(&path)
        ));
    }
    if let Some(twin) = names::twin(place, name) {
        outline.preview.notes.push(format!(
            "'{}' differs from this name by the case of its letters alone; on Windows they are one world.",
            shown(twin)
        ));
    }
    // Whatever turns up under one of these names until then is somebody else's.
    for ending in ["", ".db", ".fwl", ".db.old", ".fwl.old", ".db.new", ".fwl.new"] {
        outline.depends.push(place.path(&format!("{name}{ending}")));
    }
    if !taken.is_empty() {
        name.clone_into(&mut outline.preview.type_name);
    }
    Ok(taken)
}

/// The new state under its name, and everything in its way parked.
fn put(
    state: &State,
    place: &Place,
    name: &str,
    taken: &[PathBuf],
    layer: &Layer,
    outline: &mut Outline,
) -> Result<(), Refusal> {
    let renamed = state.checked.facts.text(keys::INNER_NAME) != Some(name) && !name.is_empty();
    let keeps_name = owner_name(layer) == Some(name);
    let edited = if renamed && !keeps_name {
        let (_, bytes) = state.metadata()?;
        Some(names::with_name(&bytes, name)?)
    } else {
        None
    };
    let mut left: BTreeSet<PathBuf> = taken.iter().cloned().collect();
    match &state.body {
        Body::Folder { dir, generation, names } => {
            let to = place.path(name);
            let replaces = left.remove(&to);
            let mut fresh = state.fresh_folder(dir, names, if replaces { &to } else { &place.dir });
            let file = crate::games::valheim::folder::main_name(*generation, "fwl2");
            fresh.writes.extend(edited.map(|bytes| (PathBuf::from(file), bytes)));
            outline.changes.push(Change::Put { fresh, to, replaces });
        }
        Body::Pair { fwl, db } => {
            let mut edited = edited;
            for (file, ending) in [(db, "db"), (fwl, "fwl")] {
                let to = place.path(&format!("{name}.{ending}"));
                let replaces = left.remove(&to);
                let mut fresh = state.fresh_file(file, if replaces { &to } else { &place.dir });
                if ending == "fwl" {
                    fresh.writes.extend(edited.take().map(|bytes| (PathBuf::new(), bytes)));
                }
                outline.changes.push(Change::Put { fresh, to, replaces });
            }
            if taken.iter().any(|path| *path == place.path(name)) {
                outline.warnings.extend(converts(name));
            }
        }
    }
    outline.changes.extend(left.into_iter().map(Change::Park));
    if !state.packed() {
        outline.depends.extend(state.files().iter().map(|file| state.path(file)));
    }
    Ok(())
}

/// The name of the world that a layer's own name says it belongs to.
fn owner_name(layer: &Layer) -> Option<&str> {
    let name = match (layer.shape, layer.kind) {
        (crate::model::Shape::ValheimFolder, LayerKind::Generation) => layer.path.parent()?.file_name()?,
        (crate::model::Shape::ValheimFolder, _) => layer.path.file_name()?,
        (crate::model::Shape::ValheimPair, _) => {
            let name = layer.path.file_name()?.to_str()?;
            let stem = name.trim_end_matches(".old");
            return Some(classify(stem.strip_suffix(".fwl").or_else(|| stem.strip_suffix(".db"))?).owner);
        }
    };
    name.to_str().map(|name| classify(name).owner)
}

/// Backups that lie under the new name already would become those of the copy.
fn adopts(place: &Place, name: &str, taken: &[PathBuf], outline: &mut Outline) {
    let waiting = place.backups_of(name);
    if waiting.is_empty() || !taken.is_empty() {
        return;
    }
    outline.warnings.push(Warning {
        code: WarningCode::Adopts,
        text: format!(
            "{} of that name lie there without a world. The game takes them for backups of the new world, and prunes \
             the timed ones.",
            files_word(waiting.len())
        ),
    });
}

fn files_word(n: usize) -> String {
    if n == 1 { "1 backup".to_owned() } else { format!("{n} backups") }
}

/// Every layer on disk goes along under the new name.
fn with_layers(
    from: &Site<'_>,
    place: &Place,
    name: &str,
    outline: &mut Outline,
    context: &Context,
) -> Result<(), Refusal> {
    for part in layer_parts(&from.place, &from.name) {
        let Some(rest) = part.strip_prefix(from.name.as_str()) else { continue };
        let new = format!("{name}{rest}");
        if place.has(&new) {
            let text = format!(
                "'{}' is already in that save folder, and a layer of the copy would need that name.",
                shown(&new)
            );
            return Err(Refusal::new(Reason::NameTaken, text));
        }
        let origin = origin_of(&from.place, &part, context)?;
        let fresh = Fresh { origin, writes: Vec::new(), like: place.dir.clone() };
        outline.changes.push(Change::Put { fresh, to: place.path(&new), replaces: false });
        outline.depends.push(place.path(&new));
    }
    Ok(())
}

/// Whole, whatever is in it: a layer is kept as it is.
fn origin_of(place: &Place, part: &str, context: &Context) -> Result<Origin, Refusal> {
    let path = place.path(part);
    match store::open(&place.dir, &context.ceilings).and_then(|store| store.stat(Path::new(part))) {
        Ok(stat) if stat.kind == EntryKind::Special => {
            let text = format!("'{}' is no file and no folder.", shown_path(&path));
            Err(Refusal::new(Reason::NotCopyable, text))
        }
        Ok(_) => Ok(Origin::Whole(path)),
        Err(error) => {
            Err(Refusal::new(Reason::SourceGone, format!("'{}' cannot be read: {error}.", shown_path(&path))))
        }
    }
}

/// The names of everything that is a backup of this world, of previous saves too; world data before metadata.
pub(super) fn layer_parts(place: &Place, world: &str) -> Vec<String> {
    let mut found: Vec<(bool, String)> = Vec::new();
    for name in place.entries.keys() {
        let Some(text) = name.to_str() else { continue };
        let (stem, suffix) = match Suffix::split(name) {
            Some((stem, suffix)) => (stem.into_string().unwrap_or_default(), Some(suffix)),
            None if place.folder_of(text).is_some() => (text.to_owned(), None),
            None => continue,
        };
        let old = stem == world && suffix.is_some_and(|s| s.age() == crate::games::valheim::pair::Age::Old);
        if old || classify(&stem).owner == world && stem != world {
            found.push((suffix.is_some_and(Suffix::is_metadata), text.to_owned()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

#[allow(clippy::too_many_arguments, reason = "what the words are about; all of it is at hand in the one caller")]
fn say_copy(
    from: &Site<'_>,
    layer: &Layer,
    state: &State,
    place: &Place,
    name: &str,
    taken: &[PathBuf],
    outline: &mut Outline,
    context: &Context,
) {
    let name = shown(name);
    let preview = &mut outline.preview;
    preview.title = format!("Copy {} to {name}", shown(&from.name));
    preview.lines.push(("from".to_owned(), side(layer, &state.checked.facts, context)));
    preview.lines.push(("to".to_owned(), shown_path(&place.path(&name))));
    preview.lines.push(("files".to_owned(), files(state.files().len(), state.bytes())));
    for change in &outline.changes {
        if let Change::Put { to, .. } = change {
            let path = shown_path(to.strip_prefix(&place.root).unwrap_or(to));
            preview.lines.push(("makes".to_owned(), path));
        }
    }
    for path in listed(taken, &place.root) {
        preview.lines.push(("parks".to_owned(), path));
    }
    if name != shown(&from.name) {
        preview.notes.push("The copy keeps seed and world id, so players find their maps and beds in it.".to_owned());
    }
    preview.done = format!("Copied {} of {} to {name}.", named(layer, context), shown(&from.name));
}

/// A copy beside the world, under a name that the game lists as a backup and never prunes.
pub(super) fn backup(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    let layer = source(ask)?;
    if layer.kind != LayerKind::Live {
        return Err(not_for_this("This is a backup already; a copy under another name can be made of it."));
    }
    if matches!(layer.container, Container::Zip | Container::Tar) {
        return Err(not_for_this("It lies in an archive, which is a backup already."));
    }
    let site = Site::of(ask.profile, ask.world, context)?;
    let state = State::read(layer, context)?;
    let mut outline = site.outline(Operation::Backup);
    if state.is_never_changed(layer) {
        outline.traces = None;
    }
    outline.warnings.extend(source_warning(&state, layer));
    let name = free_name(&site, layer, context)?;
    for ending in ["", ".db", ".fwl"] {
        outline.depends.push(site.place.path(&format!("{name}{ending}")));
    }
    match &state.body {
        Body::Folder { dir, names, .. } => {
            let fresh = state.fresh_folder(dir, names, &site.place.path(&site.name));
            outline.changes.push(Change::Put { fresh, to: site.place.path(&name), replaces: false });
        }
        Body::Pair { fwl, db } => {
            for (file, ending) in [(db, "db"), (fwl, "fwl")] {
                let fresh = state.fresh_file(file, &state.path(file));
                let to = site.place.path(&format!("{name}.{ending}"));
                outline.changes.push(Change::Put { fresh, to, replaces: false });
            }
            outline.preview.notes.push(
                "A pair is copied as its files are now. If a server saves meanwhile, the backup fails and nothing is left."
                    .to_owned(),
            );
        }
    }
    outline.depends.extend(state.files().iter().map(|file| state.path(file)));
    let preview = &mut outline.preview;
    preview.title = format!("Back up {}", shown(&site.name));
    preview.lines.push(("from".to_owned(), side(layer, &state.checked.facts, context)));
    preview.lines.push(("to".to_owned(), shown_path(&site.place.path(&name))));
    preview.lines.push(("files".to_owned(), files(state.files().len(), state.bytes())));
    preview.notes.push("The game lists this name as a backup and never prunes it.".to_owned());
    preview.done = format!("Backed up {} as {}.", shown(&site.name), shown(&name));
    Ok(outline)
}

/// The name of a backup: the moment of the save that is in it, a second later where that is taken.
///
/// The moment of the call would make another plan of every call, so that none could be confirmed by its id.
fn free_name(site: &Site<'_>, layer: &Layer, context: &Context) -> Result<String, Refusal> {
    let saved = layer.stamp.map_or(context.now, |stamp| stamp.at);
    for seconds in 0..60 {
        let at = saved.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(saved);
        let stamp = at.to_zoned_datetime(context.zone.clone()).strftime("%Y%m%d-%H%M%S").to_string();
        let name = format!("{}_backup_{stamp}", site.name);
        let taken =
            ["", ".db", ".fwl", ".db.old", ".fwl.old"].iter().any(|end| site.place.has(&format!("{name}{end}")));
        if !taken {
            return Ok(name);
        }
    }
    Err(Refusal::new(Reason::NameTaken, "The names of a whole minute of backups are taken."))
}
