//! One layer, looked at by the game's own rules: which generation counts, what stands beside it, what its bytes say.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::commit::{self, Role};
use super::facts::ValheimFacts;
use super::folder::FolderView;
use super::inspect::{Inspection, Parts, inspect};
use super::pair::{Suffix, halves};
use super::survey::generation_stamp;
use super::{NO_FINISHED_SAVE, builds, keys};
use crate::games::Context;
use crate::model::{Checked, Code, Depth, Effect, Finding, Layer, LayerKind, Moved, Shape, Value, Verdict};
use crate::store::{EntryKind, Store};

/// A save whose newest file is younger than this is taken for one that is being written now.
pub(super) const BEING_WRITTEN: SignedDuration = SignedDuration::from_mins(10);

/// Checks a layer; `view` is what its folder holds, when that was just read.
pub(super) fn examine(
    store: &dyn Store,
    layer: &Layer,
    view: Option<&FolderView>,
    depth: Depth,
    context: &Context,
) -> Checked {
    match layer.shape {
        Shape::ValheimPair => examine_pair(store, layer, depth, context),
        Shape::ValheimFolder => examine_folder(store, layer, view, depth, context),
    }
}

fn examine_pair(store: &dyn Store, layer: &Layer, depth: Depth, context: &Context) -> Checked {
    let (fwl, db) = halves(&layer.files);
    // Without its metadata the game lists no world, and so converts none.
    let opens = layer.kind == LayerKind::Live && fwl.is_some();
    let inspection = inspect(store, &Parts::Pair { fwl, db }, depth, context);
    let mut findings = inspection.findings;
    if layer.kind == LayerKind::Stray {
        findings.retain(says_more_than_half_written);
        findings.insert(0, new_pair(layer, context));
    }
    if opens && inspection.facts.world_version.is_some() {
        findings.push(Finding::note(
            Code::ConvertsOnSave,
            "A 1.0 server that loads this world rewrites it as a folder at its next save. That goes one way: builds \
             before 1.0 cannot open the folder.",
            "If an older build may need this world again, copy both files before a 1.0 server saves it.",
        ));
    }
    let mut checked = finish(layer, findings, &inspection.facts, inspection.depth, None);
    if checked.verdict <= Verdict::Notes && borrows_metadata(store, layer) {
        checked.restorable = true;
        checked.reason =
            Some("Its own metadata (.fwl.old) is missing; the world's present .fwl has to serve for it.".to_owned());
    }
    checked
}

/// Only the `.db.old` of a previous save is there, as many servers leave it, and the world's `.fwl` beside it.
fn borrows_metadata(store: &dyn Store, layer: &Layer) -> bool {
    let (fwl, db) = halves(&layer.files);
    let Some(db) = db.filter(|_| fwl.is_none() && layer.kind == LayerKind::Previous) else { return false };
    let stem = db.file_name().and_then(Suffix::split).filter(|(_, suffix)| *suffix == Suffix::DbOld);
    stem.is_some_and(|(mut stem, _)| {
        stem.push(".fwl");
        store.stat(&db.with_file_name(stem)).is_ok_and(|stat| stat.kind == EntryKind::File && stat.size > 0)
    })
}

/// What a `.new` pair is: the game writes it first and renames it when it is whole.
fn new_pair(layer: &Layer, context: &Context) -> Finding {
    let changed = layer.files.iter().filter_map(|f| f.mtime).max();
    if changed.is_some_and(|at| context.now.duration_since(at) < BEING_WRITTEN) {
        return Finding::error(
            Code::SaveInProgress,
            "This save is being written now: the game writes .new first and renames it when it is whole.",
            "Wait until it has landed; never restore from it.",
        );
    }
    Finding::error(
        Code::SaveInterrupted,
        "This write never took its place: the game writes .new first and renames it when it is whole.",
        "Leave it alone while the server runs; never restore from it.",
    )
}

/// False for what every save looks like while it is written or deleted: files that are missing, empty or cut short.
fn says_more_than_half_written(finding: &Finding) -> bool {
    finding.code.effect() != Effect::Damage
}

/// What to read for a layer; none when it holds no finished save.
pub(super) fn parts(store: &dyn Store, layer: &Layer) -> Option<Parts> {
    match layer.shape {
        Shape::ValheimPair => {
            let (fwl, db) = halves(&layer.files);
            Some(Parts::Pair { fwl, db })
        }
        Shape::ValheimFolder => {
            let dir = layer_dir(layer);
            // The newest finished save may have moved on since the layer was listed.
            let view = FolderView::read(store, &dir).ok()?;
            let generation = if layer.kind == LayerKind::Generation { layer.generation } else { view.live() };
            let complete = |n: &u64| view.generations.get(n).is_some_and(super::folder::Generation::complete);
            Some(Parts::Folder { dir, generation: generation.filter(complete)? })
        }
    }
}

/// The folder of a layer, relative to its store.
fn layer_dir(layer: &Layer) -> PathBuf {
    let inner = layer.path.strip_prefix(&layer.source.outer).unwrap_or(Path::new(""));
    match layer.kind {
        LayerKind::Generation => inner.parent().unwrap_or(Path::new("")).to_path_buf(),
        _ => inner.to_path_buf(),
    }
}

fn examine_folder(
    store: &dyn Store,
    layer: &Layer,
    view: Option<&FolderView>,
    depth: Depth,
    context: &Context,
) -> Checked {
    let dir = layer_dir(layer);
    let read = |dir: &Path| FolderView::read(store, dir);
    let own;
    let view = if let Some(view) = view.filter(|view| view.is_world()) {
        view
    } else {
        own = match read(&dir) {
            Ok(view) => view,
            Err(error) => return finish(layer, vec![error.finding()], &ValheimFacts::default(), depth, None),
        };
        &own
    };
    let role = match layer.kind {
        LayerKind::Live => Role::Live,
        LayerKind::Generation => Role::Generation,
        _ => Role::Backup,
    };
    let wanted = if role == Role::Generation { layer.generation } else { view.live() };
    let Some(generation) = wanted.filter(|n| view.generations.get(n).is_some_and(super::folder::Generation::complete))
    else {
        return unfinished(store, layer, &dir, view, role, context);
    };
    let inspection = inspect(store, &Parts::Folder { dir: dir.clone(), generation }, depth, context);
    if inspection.vanished && role != Role::Generation {
        // A save may have landed in between: then the files went away because they are no longer needed.
        if let Some((newer, again)) =
            read(&dir).ok().and_then(|now| Some((now.live().filter(|&n| n > generation)?, now)))
        {
            return moved(store, layer, &dir, &again, newer, depth, context);
        }
    }
    let Inspection { findings: mut inspected, facts, depth, vanished } = inspection;
    let mut findings = commit::beside(store, &dir, view, Some(generation), role, context);
    match view.live().filter(|&live| role == Role::Generation && live > generation) {
        // The game deletes what only an older save needs as soon as the newer one is finished.
        Some(live) if vanished => {
            inspected.retain(|f| f.code != Code::MissingFile);
            findings.push(commit::remains(&dir, generation, live, "chunk files that only it needs"));
            findings.extend(inspected);
        }
        _ => findings.extend(vanished_last(inspected, vanished, generation)),
    }
    finish(layer, findings, &facts, depth, None)
}

/// Checks the newer save that landed while the older one was read; once, so a server that saves without end cannot
/// keep us here.
fn moved(
    store: &dyn Store,
    layer: &Layer,
    dir: &Path,
    view: &FolderView,
    generation: u64,
    depth: Depth,
    context: &Context,
) -> Checked {
    let Inspection { findings, facts, depth, vanished } =
        inspect(store, &Parts::Folder { dir: dir.to_path_buf(), generation }, depth, context);
    let role = if layer.kind == LayerKind::Live { Role::Live } else { Role::Backup };
    let mut all = commit::beside(store, dir, view, Some(generation), role, context);
    all.extend(vanished_last(findings, vanished, generation));
    let files = view.files(store, dir, generation, true);
    let moved = Moved { generation, stamp: generation_stamp(&files), bytes: files.iter().map(|f| f.size).sum(), files };
    finish(layer, all, &facts, depth, Some(moved))
}

/// Says of a file that went away that no newer save explains it.
fn vanished_last(mut findings: Vec<Finding>, vanished: bool, generation: u64) -> Vec<Finding> {
    if vanished {
        findings.push(Finding::error(
            Code::Vanished,
            format!("Save {generation} is still the newest one, and a file that it needs is not there."),
            "Restore from a layer that is whole.",
        ));
    }
    findings
}

/// A folder, or one generation in it, without a finished save.
fn unfinished(
    store: &dyn Store,
    layer: &Layer,
    dir: &Path,
    view: &FolderView,
    role: Role,
    context: &Context,
) -> Checked {
    let generation = if role == Role::Generation { layer.generation } else { view.newest() };
    let mut facts = ValheimFacts::default();
    let mut findings = Vec::new();
    if let Some((n, files)) = generation.and_then(|n| Some((n, view.generations.get(&n)?))) {
        // The metadata tells name and seed even where the rest is missing; what is missing is told by the commit rule.
        let parts = Parts::Folder { dir: dir.to_path_buf(), generation: n };
        let inspection = inspect(store, &parts, Depth::Headers, context);
        facts = inspection.facts;
        findings = inspection.findings;
        let told = [Code::MissingFile, Code::SaveInterrupted, Code::NeverPlayed, Code::NoFinishedSave];
        findings.retain(|f| !told.contains(&f.code));
        let superseded = role == Role::Generation && view.live().is_some_and(|live| live > n);
        if superseded || !files.committed() && !view.never_played() {
            findings.retain(says_more_than_half_written);
        }
    }
    let mut all = match role {
        Role::Generation => generation.map(|n| commit::one(store, dir, view, n, context)).into_iter().collect(),
        _ => commit::beside(store, dir, view, None, role, context),
    };
    all.extend(findings);
    let mut checked = finish(layer, all, &facts, Depth::Headers, None);
    if checked.restorable {
        // Damage to what is there is one thing; here a part of it is not there at all.
        checked.restorable = false;
        checked.reason = Some(match view.live() {
            Some(live) if role == Role::Generation => format!(
                "This save is not complete. Save {live} is the newest one that is: restore the live layer, which puts that one back \
                 alone."
            ),
            _ => NO_FINISHED_SAVE.to_owned(),
        });
    }
    checked
}

/// Turns findings and facts into the answer.
fn finish(
    layer: &Layer,
    mut findings: Vec<Finding>,
    facts: &ValheimFacts,
    depth: Depth,
    moved: Option<Moved>,
) -> Checked {
    if facts.zones == Some(0) && facts.zones_idle.is_some_and(|zones| zones > 0) {
        findings.push(Finding::note(
            Code::NeverVisited,
            "Only the server's idle point, far outside the map, was ever loaded: no player was in this world.",
            "If players were in it, this is not the save they played: look at the other layers.",
        ));
    }
    let verdict = Verdict::from_findings(&findings);
    let (restorable, reason) = restorable(layer, verdict, &findings);
    let mut shown = facts.to_facts();
    if let Some(version) = facts.world_version {
        shown.push(keys::OPENS_WITH, "Opens with", Value::Text(builds::opens_with(version, layer.shape)));
    }
    Checked { verdict, depth, findings, facts: shown, restorable, reason, moved }
}

/// Whether a restore may be offered, and what stands in the way.
fn restorable(layer: &Layer, verdict: Verdict, findings: &[Finding]) -> (bool, Option<String>) {
    let refuse = |why: &str| (false, Some(why.to_owned()));
    let has = |code: Code| findings.iter().any(|f| f.code == code);
    if layer.kind == LayerKind::Stray {
        return refuse("A write that was not finished is never restored.");
    }
    if findings.iter().any(|f| f.code.effect() == Effect::Unfinished && f.severity == crate::model::Severity::Error) {
        return refuse(NO_FINISHED_SAVE);
    }
    if layer.kind == LayerKind::Live {
        return refuse("This is the live state.");
    }
    if layer.shape == Shape::ValheimPair {
        let (fwl, db) = halves(&layer.files);
        if db.is_none() || has(Code::EmptyFile) {
            return refuse("The world data is missing; the game would make a new world on this seed.");
        }
        if fwl.is_none() {
            return refuse("The metadata file (.fwl) is missing; the game would not list the world.");
        }
    }
    match verdict {
        Verdict::Unreadable => refuse("It could not be read."),
        Verdict::Damaged => (true, Some("It is damaged; a restore needs that accepted by name.".to_owned())),
        Verdict::Unsupported => {
            (true, Some("It could not be checked; a restore needs that accepted by name.".to_owned()))
        }
        Verdict::Unfinished => refuse(NO_FINISHED_SAVE),
        Verdict::Unchecked | Verdict::Sound | Verdict::Notes => (true, None),
    }
}
