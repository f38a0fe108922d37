//! Putting a layer in the place of the live world.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::cache;
use super::not_for_this;
use super::site::Site;
use super::state::{Body, State};
use super::words::{converts, difference, files, listed, named, other_world, side, source_warning};
use crate::games::Context;
use crate::games::valheim::examine::examine;
use crate::games::valheim::facts::hallmarks;
use crate::games::valheim::folder::FolderView;
use crate::games::valheim::keys;
use crate::games::valheim::pair::Age;
use crate::model::outline::{Ask, Change, Outline};
use crate::model::plan::{Operation, Reason, Refusal, Warning, WarningCode};
use crate::model::{Checked, Code, Depth, Facts, Layer, LayerKind, Shape, Verdict, World, shown};
use crate::store::{self, Effort};

pub(super) fn restore(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    let site = Site::of(ask.profile, ask.world, context)?;
    let Some(layer) = ask.layer else { return Err(not_for_this("A restore needs a layer, and this is a world.")) };
    let live = ask.world.live();
    if layer.kind == LayerKind::Live && !left_behind(layer) {
        return Err(Refusal::new(Reason::SamePlace, "This is the live state itself, and it lies where it belongs."));
    }
    let state = State::read(layer, context)?;
    let mut outline = site.outline(Operation::Restore);
    outline.warnings.extend(source_warning(&state, layer));
    outline.depends.extend(state.files().iter().filter(|_| !state.packed()).map(|file| state.path(file)));
    let live_checked = live.filter(|live| live.id != layer.id).map(|live| look(live, context));
    let none = Facts::default();
    let live_facts = live_checked.as_ref().map_or(&none, |checked| &checked.facts);
    outline.warnings.extend(other_world(&state.checked.facts, live_facts));
    match &state.body {
        Body::Folder { dir, names, .. } => folder(&site, &state, (dir, names), &mut outline, context)?,
        Body::Pair { fwl, db } => pair(&site, &state, (fwl, db), &mut outline),
    }
    outline.warnings.extend(worse(ask.world, layer, live_checked.as_ref()));
    cache::restore(ask, &site, (&state.checked.facts, live_facts), &mut outline, context);
    // What is being written under one of these names meanwhile makes it another plan.
    for ending in [".db", ".fwl", ".db.old", ".fwl.old", ".db.new", ".fwl.new"] {
        outline.depends.push(site.place.path(&format!("{}{ending}", site.name)));
    }
    outline.restored = Some(hallmarks(&state.checked.facts, layer.generation));
    say(&site, layer, &state, live.zip(live_checked.as_ref()), &mut outline, context);
    Ok(outline)
}

/// The folder holds a newer save that is not complete beside the one that counts, so that putting the complete one back alone
/// is worth asking for.
fn left_behind(layer: &Layer) -> bool {
    layer.shape == Shape::ValheimFolder && layer.findings.iter().any(|finding| finding.code == Code::NewestIncomplete)
}

/// Where the game would make what is there worse, or the layer itself is not what it seems, a copy under another name is the
/// better way: it shows what is in it, and everything else stays.
fn worse(world: &World, layer: &Layer, checked: Option<&Checked>) -> Option<Warning> {
    let save = |layer: &Layer| layer.generation.map_or_else(|| "the complete save".to_owned(), |n| format!("save {n}"));
    let live = world.live();
    let previous = || {
        let whole = |other: &&Layer| other.kind == LayerKind::Previous && other.restorable;
        world.layers.iter().find(whole).filter(|other| other.verdict <= Verdict::Notes)
    };
    let text = if let Some(live) = live.filter(|live| left_behind(live)) {
        format!(
            "The live folder holds a newer save that is not complete, and the game makes that worse at its next load. Copy {} \
             to a new name first, and look at that in the game; restore it when it is what you want.",
            save(live)
        )
    } else if layer.kind != LayerKind::Live && left_behind(layer) {
        format!(
            "The {} holds a newer save that is not complete; {} is what would be used. Copy it to a new name first, and look at \
             that in the game; restore it when it is what you want.",
            layer.kind.word(),
            save(layer)
        )
    } else if live.is_some_and(|live| live.shape == Shape::ValheimPair)
        && checked.is_some_and(|checked| checked.verdict == Verdict::Damaged)
        && let Some(previous) = previous()
    {
        format!(
            "The live pair is not whole. At its next load the game may make a new world on its seed, and its saves then write over \
             the {}, which is whole. Copy that to a new name first, and look at it in the game; restore it when it is what you \
             want.",
            previous.kind.word()
        )
    } else {
        return None;
    };
    Some(Warning { code: WarningCode::BetterCopy, text })
}

/// Reads a layer to its last byte, for what a person compares.
fn look(layer: &Layer, context: &Context) -> Checked {
    match store::open_within(&layer.source.outer, &context.ceilings, &Effort::any(&context.cancel)) {
        Ok(store) => examine(&*store, layer, None, Depth::Full, context),
        Err(error) => Checked {
            verdict: layer.verdict,
            depth: layer.depth,
            findings: vec![error.finding()],
            facts: layer.facts.clone(),
            restorable: false,
            reason: None,
            moved: None,
        },
    }
}

/// One generation becomes the live folder; a live pair is parked.
fn folder(
    site: &Site<'_>,
    state: &State,
    (dir, names): (&PathBuf, &[OsString]),
    outline: &mut Outline,
    context: &Context,
) -> Result<(), Refusal> {
    let place = &site.place;
    let to = place.path(&site.name);
    let present = place.folder_of(&site.name);
    if present.is_none() && place.has(&site.name) {
        let text = format!("Something that is no folder lies where {} has to go.", shown(&site.name));
        return Err(Refusal::new(Reason::NameTaken, text));
    }
    // Beside a folder a pair is hidden, and stays the layer that it is.
    let pair = match &present {
        Some(_) => Vec::new(),
        None => place.pair_files(&site.name, &[Age::Current, Age::New]),
    };
    // What comes out of an archive needs modes as well, which only a folder tells.
    let owner = present.as_ref().or_else(|| pair.first().filter(|_| !state.packed()));
    let like = owner.unwrap_or(&place.dir).clone();
    let fresh = state.fresh_folder(dir, names, &like);
    outline.changes.push(Change::Put { fresh, to, replaces: present.is_some() });
    outline.changes.extend(pair.iter().cloned().map(Change::Park));
    let kept: BTreeSet<&OsStr> = names.iter().map(OsString::as_os_str).collect();
    if present.is_some() {
        count_files(site, &kept, pair.len(), outline, context);
    } else {
        let line = format!("{} new, {} parked for undo", kept.len(), pair.len());
        outline.preview.lines.push(("files".to_owned(), line));
    }
    Ok(())
}

/// Says how many files are new, replaced and parked, and which of those that only the live folder has are no save's.
fn count_files(site: &Site<'_>, new: &BTreeSet<&OsStr>, pair: usize, outline: &mut Outline, context: &Context) {
    let Ok(store) = store::open(&site.place.dir, &context.ceilings) else { return };
    let dir = PathBuf::from(&site.name);
    let Ok(entries) = store.list(&dir) else { return };
    let replaced = entries.iter().filter(|entry| new.contains(entry.name.as_os_str())).count();
    let line = format!(
        "{} new, {replaced} replaced, {} parked for undo",
        new.len() - replaced.min(new.len()),
        entries.len() + pair
    );
    outline.preview.lines.push(("files".to_owned(), line));
    let Ok(view) = FolderView::read(&*store, &dir) else { return };
    let odd = view.others.iter().chain(&view.folders).chain(&view.pair_files);
    let mut odd: Vec<String> = odd.map(|name| shown(&name.to_string_lossy())).collect();
    if odd.is_empty() {
        return;
    }
    let more = odd.len().saturating_sub(5);
    odd.truncate(5);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    outline.warnings.push(Warning {
        code: WarningCode::OnlyInLive,
        text: format!(
            "Only the live folder holds {}{rest}, which are no part of a save. They are parked with the old state.",
            odd.join(", ")
        ),
    });
}

/// A pair becomes the live world again; a live folder, and a write that was not finished, are parked.
fn pair(site: &Site<'_>, state: &State, (fwl, db): (&PathBuf, &PathBuf), outline: &mut Outline) {
    let place = &site.place;
    let folder = place.folder_of(&site.name);
    let mut made = 0;
    let mut replaced = 0;
    // World data first: metadata without it makes the game begin a new world on this seed.
    for (file, ending) in [(db, "db"), (fwl, "fwl")] {
        let name = format!("{}.{ending}", site.name);
        let to = place.path(&name);
        if !state.packed() && state.path(file) == to {
            continue;
        }
        let replaces = place.has(&name);
        let like = if replaces { &to } else { folder.as_ref().unwrap_or(&place.dir) }.clone();
        outline.changes.push(Change::Put { fresh: state.fresh_file(file, &like), to, replaces });
        made += usize::from(!replaces);
        replaced += usize::from(replaces);
    }
    // The game is known to bring the save before the last one back where it finds fault with the pair, so one of another
    // history may not lie beside it.
    let mut beside = place.pair_files(&site.name, &[Age::Old, Age::New]);
    let used = [db, fwl].map(|file| state.path(file));
    if beside.iter().any(|path| used.contains(path)) {
        beside = place.pair_files(&site.name, &[Age::New]);
    }
    let parked = replaced + beside.len() + usize::from(folder.is_some());
    outline.changes.extend(beside.into_iter().map(Change::Park));
    // The game loads the folder as long as it is there, so that its going is the one moment of the change.
    if folder.is_some() {
        outline.warnings.extend(converts(&site.name));
    }
    outline.changes.extend(folder.clone().map(Change::Park));
    let what = if folder.is_some() { " (the whole 1.0 folder among them)" } else { "" };
    let line = format!("{made} new, {replaced} replaced, {parked} parked for undo{what}");
    outline.preview.lines.push(("files".to_owned(), line));
}

fn say(
    site: &Site<'_>,
    layer: &Layer,
    state: &State,
    live: Option<(&Layer, &Checked)>,
    outline: &mut Outline,
    context: &Context,
) {
    let name = shown(&site.name);
    let facts = &state.checked.facts;
    let preview = &mut outline.preview;
    preview.title = format!("Restore into {name}");
    let mut lines = vec![("from".to_owned(), side(layer, facts, context))];
    let over = match live {
        Some((live, checked)) => side(live, &checked.facts, context),
        None if layer.kind == LayerKind::Live => "the live folder, of which only this save is complete".to_owned(),
        None => "nothing: there is no live world of this name".to_owned(),
    };
    lines.push(("over".to_owned(), over));
    lines.push(("bytes".to_owned(), files(state.files().len(), state.bytes())));
    lines.append(&mut preview.lines);
    let parked = outline.changes.iter().filter_map(|change| match change {
        Change::Park(path) => Some(path.clone()),
        Change::Put { to, replaces: true, .. } => Some(to.clone()),
        _ => None,
    });
    let parked = listed(&parked.collect::<Vec<_>>(), &site.place.root);
    lines.extend(parked.into_iter().map(|path| ("parks".to_owned(), path)));
    preview.lines = lines;
    preview.notes.extend(live.and_then(|(live, checked)| difference((layer, facts), (live, &checked.facts))));
    if let Some(inner) = facts.text(keys::INNER_NAME).filter(|inner| *inner != site.name) {
        outline.warnings.push(Warning {
            code: WarningCode::NamesDiffer,
            text: format!(
                "Inside, this state is called {}. The game opens it by the name on disk, {name}, and shows the one inside.",
                shown(inner)
            ),
        });
    }
    let day = facts.int(keys::DAY).map_or_else(|| named(layer, context), |day| format!("day {day}"));
    outline.preview.done = match live {
        None if layer.kind != LayerKind::Live => format!("Restored {name} to {day}."),
        _ => format!("Restored {name} to {day}. The old state is kept here as \"kept for undo\"."),
    };
}
