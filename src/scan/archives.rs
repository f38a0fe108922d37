//! What lies in archives beside the worlds, added to them as layers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::walk::Walked;
use super::{Event, Request};
use crate::games::Context;
use crate::model::{
    Code, Container, Finding, Layer, LayerKind, Severity, Stamp, StampFrom, Verdict, World, WorldKind, shown,
    shown_path,
};
use crate::store::{self, Ceilings, Effort, Stat, Store, StoreError, StoreErrorKind};

/// A compressed tar must be inflated from its start to be listed at all; larger ones wait until somebody names them.
const SMALL_TAR: u64 = 64 * 1024 * 1024;

/// What may be unpacked from the archives of one profile in one scan: 1 GiB, which gzip unpacks in some seconds. One
/// half of it is for compressed tars, so that many of them do not keep the cheap archives from being listed.
const UNPACKED: u64 = 1024 * 1024 * 1024;

/// Entries of an archive that is looked into without being named. A backup of a whole server has some thousands; the
/// list of a million takes seconds to read.
const ENTRIES: u64 = 100_000;

/// What one compressed tar may hold in memory during a scan. 128 MiB: a scan runs beside a server on a small machine.
const MEMORY: u64 = 128 * 1024 * 1024;

/// An archive that changed so recently may still be written, and what is in it may count as being saved now.
const FRESH: SignedDuration = SignedDuration::from_mins(15);

/// This many archives that cannot be read are named one by one.
const NAMED: usize = 8;

/// What earlier scans saw in archives, so that an unchanged one is not unpacked again at every change beside it.
///
/// Clones share what they know.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<PathBuf, Seen>>>);

/// What was seen in one archive.
#[derive(Clone, Debug)]
struct Seen {
    stat: Stat,
    /// The bytes that were unpacked for it.
    cost: u64,
    found: Result<Vec<(String, Layer)>, StoreError>,
}

impl Memory {
    fn recall(&self, path: &Path, stat: &Stat) -> Option<Seen> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).filter(|seen| seen.stat == *stat).cloned()
    }

    fn note(&self, path: &Path, seen: &Seen) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), seen.clone());
    }

    /// Forgets the archives below a folder that are not among these any more.
    fn keep(&self, below: &Path, paths: &BTreeSet<PathBuf>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|path, _| !path.starts_with(below) || paths.contains(path));
    }
}

/// Surveys the archives of a profile and emits every world that gained a layer.
pub(super) fn merge(walked: &mut Walked, request: &Request, context: &Context, sink: &mut dyn FnMut(Event)) {
    if walked.partial {
        return;
    }
    let ceilings = Ceilings {
        entries: request.ceilings.entries.min(ENTRIES),
        archive_memory: request.ceilings.archive_memory.min(MEMORY),
        ..request.ceilings.clone()
    };
    let most = request.ceilings.archive_total.min(UNPACKED) / 2;
    let efforts = [Effort::new(&context.cancel, most), Effort::new(&context.cancel, most)];
    let mut changed: Vec<String> = Vec::new();
    let mut passed: Vec<PathBuf> = Vec::new();
    let mut unread: Vec<Finding> = Vec::new();
    let mut outers = BTreeSet::new();
    for path in walked.game.archives(walked.store.as_ref(), &walked.dir, context) {
        let outer = walked.store.outer().join(&path);
        outers.insert(outer.clone());
        let Ok(stat) = walked.store.stat(&path) else { continue };
        let packed = is_packed(&path);
        if packed && stat.size > SMALL_TAR {
            passed.push(path);
            continue;
        }
        let effort = if packed { &efforts[0] } else { &efforts[1] };
        let seen = match request.memory.recall(&outer, &stat) {
            Some(seen) => effort.take(seen.cost).then_some(seen),
            None => look(walked, &path, stat, &ceilings, effort, context),
        };
        if context.cancel.cancelled() {
            return;
        }
        let Some(seen) = seen else {
            passed.push(path);
            continue;
        };
        let settled = seen.stat.mtime.is_some_and(|at| context.now.duration_since(at) > FRESH);
        if settled {
            request.memory.note(&outer, &seen);
        }
        match seen.found {
            Ok(found) => changed.extend(found.into_iter().map(|(name, layer)| add(walked, name, layer))),
            Err(error) => unread.push(unreadable(&path, &error)),
        }
    }
    request.memory.keep(walked.store.outer(), &outers);
    let more = unread.len().saturating_sub(NAMED);
    unread.truncate(NAMED);
    for finding in unread.into_iter().chain(unread_too(more)).chain(not_looked_into(&passed)) {
        sink(Event::Finding { profile: walked.id.clone(), finding });
    }
    changed.sort();
    changed.dedup();
    for world in walked.worlds.iter_mut().filter(|w| changed.contains(&w.id)) {
        walked.game.relate(world);
        sink(Event::World { profile: walked.id.clone(), world: world.clone() });
    }
}

/// Looks into one archive; nothing when that takes more effort than is left.
fn look(
    walked: &Walked,
    path: &Path,
    stat: Stat,
    ceilings: &Ceilings,
    effort: &Effort,
    context: &Context,
) -> Option<Seen> {
    let before = effort.left();
    if before == 0 {
        return None;
    }
    let found = store::open_within(&walked.store.outer().join(path), ceilings, effort)
        .map(|archive| layers(walked, archive.as_ref(), path, stat.mtime, context));
    let after = effort.left();
    (after > 0).then(|| Seen { stat, cost: before.saturating_sub(after), found })
}

/// The live states of the worlds in an archive, as layers, each with the name of its world.
fn layers(
    walked: &Walked,
    archive: &dyn Store,
    path: &Path,
    made: Option<Timestamp>,
    context: &Context,
) -> Vec<(String, Layer)> {
    let mut found = Vec::new();
    for dir in walked.game.roots(archive, context, &mut Vec::new()) {
        for entry in walked.game.roster(archive, &dir, context).entries {
            if context.cancel.cancelled() {
                return found;
            }
            let inner = walked.game.survey(archive, &walked.id, &entry, context);
            if let Some((name, mut layer)) = layer_of(inner, path) {
                // Many archives keep no time that means the same everywhere; the archive itself was made then.
                layer.stamp = layer.stamp.or(made.map(|at| Stamp { at, from: StampFrom::Mtime }));
                found.push((name, layer));
            }
        }
    }
    found
}

/// Whether an archive must be unpacked to be listed, by its name.
fn is_packed(path: &Path) -> bool {
    let plain = |ending: &std::ffi::OsStr| ["zip", "tar"].iter().any(|plain| ending.eq_ignore_ascii_case(plain));
    !path.extension().is_some_and(plain)
}

/// An archive beside the worlds that cannot be read, as news about the profile: damage to a backup, not to a save.
fn unreadable(path: &Path, error: &StoreError) -> Finding {
    let mut finding = StoreError::new(path, error.kind.clone()).finding();
    let broken = matches!(error.kind, StoreErrorKind::Broken(_) | StoreErrorKind::Denied(_) | StoreErrorKind::Io(_));
    finding.severity = if broken { Severity::Warning } else { Severity::Note };
    finding
}

fn unread_too(more: usize) -> Option<Finding> {
    let text = format!("{more} more archives cannot be read.");
    (more > 0).then(|| Finding::warning(Code::BadArchive, text, "Name one to see why."))
}

fn not_looked_into(passed: &[PathBuf]) -> Option<Finding> {
    let first = shown_path(passed.first()?);
    let which = match passed.len() {
        1 => first,
        more => format!("{more} archives ({first} and others)"),
    };
    let text = format!("Not looked into, since unpacking takes long: {which}.");
    Some(Finding::note(Code::TooMany, text, "Name an archive to see what is in it."))
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
    // One half of a save can be looked at, and not put back.
    let half = [Code::MetadataMissing, Code::DataMissing, Code::EmptyFile];
    let half = layer.findings.iter().find(|finding| half.contains(&finding.code)).map(|finding| finding.text.clone());
    layer.restorable = layer.verdict < Verdict::Unfinished && half.is_none();
    layer.reason = half.or_else(|| layer.reason.take().filter(|_| !layer.restorable));
    // A pair inside an archive converts nothing until it is restored.
    layer.findings.retain(|f| f.code != Code::ConvertsOnSave);
    // The last `@` of an id is where its layer begins.
    layer.id = format!("archive-{}", file.replace('@', "_"));
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
    // Two folders may hold archives of one name, and one archive two worlds of one name.
    let id = format!("{}@{}", world.id, layer.id);
    let taken = |id: &str| world.layers.iter().any(|other| other.id == id);
    layer.id.clone_from(&id);
    let mut number = 1_u64;
    while taken(&layer.id) {
        number += 1;
        layer.id = format!("{id}-{number}");
    }
    debug_assert!(matches!(layer.container, Container::Zip | Container::Tar));
    world.layers.push(layer);
    world.id.clone()
}
