//! One world with all its layers at L1.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::examine::examine;
use super::folder::{FolderView, MOST_GENERATIONS, main_name, sized};
use super::keys;
use super::names::{NameInfo, NameKind, classify};
use super::pair::{Age, Suffix};
use super::relate::relate;
use crate::games::{Context, RosterEntry};
use crate::model::{
    Code, Container, Depth, Facts, FileEntry, Finding, Layer, LayerKind, Shape, Source, Stamp, StampFrom, Verdict,
    World, WorldKind, shown_path,
};
use crate::store::{EntryKind, Store};

/// Builds the world of a roster entry with its live layer alone.
pub(super) fn glance(store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> Option<World> {
    let mut live = entry.clone();
    live.parts.retain(|part| match part.kind {
        EntryKind::Dir => part.name == entry.name,
        _ => Suffix::split(&part.name).is_some_and(|(stem, s)| stem == entry.name && s.age() == Age::Current),
    });
    if live.parts.is_empty() && !entry.parts.is_empty() {
        return None;
    }
    let folder = live.parts.iter().any(|part| part.kind == EntryKind::Dir);
    live.parts.retain(|part| !folder || part.kind == EntryKind::Dir);
    Some(survey(store, profile, &live, context))
}

/// Builds the world of a roster entry, each layer checked at L1.
pub(super) fn survey(store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> World {
    let (mut drafts, strays) = Drafts::new(store, entry, context).collect();
    let has_live = drafts.iter().any(|d| d.layer.kind == LayerKind::Live);
    for draft in &mut drafts {
        draft.layer.orphan = !has_live;
        if context.cancel.cancelled() {
            continue;
        }
        let checked = examine(store, &draft.layer, draft.view.as_deref(), Depth::Headers, context);
        draft.layer.apply(checked);
    }
    own_history(&mut drafts);
    drafts.sort_by(|a, b| {
        rank(&a.layer)
            .cmp(&rank(&b.layer))
            .then_with(|| saved_at(&b.layer).cmp(&saved_at(&a.layer)))
            .then_with(|| a.layer.path.cmp(&b.layer.path))
    });
    let mut world = World {
        id: format!("{profile}/{}", entry.key),
        name: shown_name(&entry.name),
        kind: WorldKind::World,
        place: entry.place.clone(),
        inner_name: None,
        opens_with: None,
        findings: entry.findings.iter().cloned().chain(strays).collect(),
        layers: Vec::with_capacity(drafts.len()),
    };
    world.layers.extend(drafts.into_iter().map(|draft| draft.layer));
    world.findings.extend(not_writable(store, &world));
    set_ids(&mut world);
    relate(&mut world);
    world
}

/// What a folder says of the pair that it was made from.
const BESIDE_A_FOLDER: &str = " It is a pair beside a folder: what ";

/// A pair beside a folder is what the folder was made from only when it is of the same world; a backup of another world of
/// that name is a backup like any other.
fn own_history(drafts: &mut [Draft]) {
    let Some(own) = drafts.iter().find(|d| d.layer.kind == LayerKind::Live).map(|d| d.layer.facts.clone()) else {
        return;
    };
    for Draft { layer, .. } in drafts.iter_mut().filter(|d| d.layer.kind == LayerKind::PreConversion) {
        let number = |facts: &Facts| facts.int(keys::SEED_NUMBER);
        let uid = |facts: &Facts| facts.text(keys::UID).map(str::to_owned);
        let seeds = number(&own).zip(number(&layer.facts)).is_some_and(|(a, b)| a != b);
        let uids = uid(&own).zip(uid(&layer.facts)).is_some_and(|(a, b)| a != b);
        let Some(rest) = layer.id.strip_prefix(LayerKind::PreConversion.as_str()).filter(|_| seeds || uids) else {
            continue;
        };
        layer.id = format!("{}{rest}", LayerKind::Manual.as_str());
        layer.kind = LayerKind::Manual;
        let rule = layer.rule.split_once(BESIDE_A_FOLDER).map_or(layer.rule.as_str(), |(rule, _)| rule);
        let which = if seeds { "seed" } else { "world id" };
        layer.rule = format!("{rule} Its {which} is another, so the folder was not made from it.");
    }
}

/// A live world that we may look at and not change: good to know before anybody plans to.
fn not_writable(store: &dyn Store, world: &World) -> Option<Finding> {
    let live = world.live().filter(|live| live.verdict != Verdict::Unreadable)?;
    let inner = live.path.strip_prefix(&live.source.outer).ok()?;
    let dir = if live.shape == Shape::ValheimFolder { inner } else { inner.parent()? };
    let why = store.write_refusal(dir)?;
    let text = format!("We may read this world and not write where it lies ({why}).");
    let next = "To restore or change it, run as the user that owns it.";
    Some(Finding::note(Code::NotWritable, text, next).in_file(shown_path(dir)))
}

/// Live first, then the live folder's other generations, then everything else by age.
fn rank(layer: &Layer) -> u8 {
    match layer.kind {
        LayerKind::Live => 0,
        LayerKind::Generation => 1,
        LayerKind::Stray => 3,
        _ => 2,
    }
}

fn saved_at(layer: &Layer) -> Option<Timestamp> {
    layer.stamp.map(|stamp| stamp.at)
}

/// Names that are no text keep their bytes visible; what steers a terminal is for whoever shows it to escape.
fn shown_name(name: &OsStr) -> String {
    name.to_str().map_or_else(|| shown_path(Path::new(name)), str::to_owned)
}

fn set_ids(world: &mut World) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for layer in &mut world.layers {
        let key = std::mem::take(&mut layer.id);
        let count = seen.entry(key.clone()).or_insert(0);
        *count += 1;
        let suffix = if *count > 1 { format!("~{count}") } else { String::new() };
        layer.id = format!("{}@{key}{suffix}", world.id);
    }
}

/// A layer on its way, with what its folder holds.
struct Draft {
    layer: Layer,
    view: Option<Rc<FolderView>>,
}

/// Makes a world's layers out of names.
struct Drafts<'a> {
    store: &'a dyn Store,
    entry: &'a RosterEntry,
    context: &'a Context,
    found: Vec<Draft>,
    /// What is named like a layer and is none.
    strays: Vec<Finding>,
    live_folder: bool,
}

impl<'a> Drafts<'a> {
    fn new(store: &'a dyn Store, entry: &'a RosterEntry, context: &'a Context) -> Self {
        let live_folder = entry.parts.is_empty()
            || entry.parts.iter().any(|part| part.kind == EntryKind::Dir && part.name == entry.name);
        Self { store, entry, context, found: Vec::new(), strays: Vec::new(), live_folder }
    }

    fn collect(mut self) -> (Vec<Draft>, Vec<Finding>) {
        if self.entry.parts.is_empty() {
            self.live_folder(&self.entry.dir.clone());
        }
        let mut pairs: BTreeMap<(OsString, Age), Vec<&OsStr>> = BTreeMap::new();
        for part in &self.entry.parts {
            match (part.kind, Suffix::split(&part.name)) {
                (EntryKind::Dir, _) if part.name == self.entry.name => {
                    self.live_folder(&self.entry.dir.join(&part.name));
                }
                (EntryKind::Dir, _) => self.backup_folder(&part.name),
                (_, Some((stem, suffix))) => pairs.entry((stem, suffix.age())).or_default().push(&part.name),
                (_, None) => {}
            }
        }
        for ((stem, age), names) in pairs {
            self.pair(&stem, age, &names);
        }
        (self.found, self.strays)
    }

    fn live_folder(&mut self, dir: &Path) {
        let view = Rc::new(FolderView::read(self.store, dir).unwrap_or_default());
        let live = view.live();
        let rule = match live {
            Some(n) => format!("Save {n} is the highest generation with all four files, which is what the game loads."),
            None => "The folder bears the world's own name.".to_owned(),
        };
        let files = view.files(self.store, dir, live.or(view.newest()).unwrap_or(0), true);
        let stamp = generation_stamp(&files);
        self.push(
            LayerKind::Live,
            "live".to_owned(),
            dir,
            Shape::ValheimFolder,
            live,
            rule,
            stamp,
            files,
            Some(Rc::clone(&view)),
        );
        // What the live layer itself is about is no layer of its own.
        let own = live.or(view.newest());
        let mut others = view.generations.iter().rev().filter(|&(&n, _)| Some(n) != own);
        for (&n, generation) in others.by_ref().take(MOST_GENERATIONS) {
            let files = view.files(self.store, dir, n, false);
            let rule = match live {
                Some(live) if n > live && !generation.committed() => {
                    format!("Save {n} of the live folder has no .ok: it is being written, or was interrupted.")
                }
                Some(live) if n > live => format!("Save {n} of the live folder has its .ok but is not complete."),
                Some(_) => format!("Save {n} of the live folder, older than the live one."),
                None => format!("Save {n} of the live folder, in which no save is finished."),
            };
            let stamp = generation_stamp(&files);
            let path = dir.join(main_name(n, "*"));
            let key = format!("save-{n}");
            self.push(
                LayerKind::Generation,
                key,
                &path,
                Shape::ValheimFolder,
                Some(n),
                rule,
                stamp,
                files,
                Some(Rc::clone(&view)),
            );
        }
        let left = others.count();
        if left > 0 {
            self.strays.push(
                Finding::warning(
                    Code::TooMany,
                    format!(
                        "The folder holds files of {left} more saves, which are not looked at; the game keeps one."
                    ),
                    "Look at what wrote them.",
                )
                .in_file(shown_path(dir)),
            );
        }
    }

    fn backup_folder(&mut self, name: &OsStr) {
        let dir = self.entry.dir.join(name);
        let read = FolderView::read(self.store, &dir);
        if read.as_ref().is_ok_and(|view| !view.is_world() && view.odd_main.is_empty() && view.chunks.is_empty()) {
            self.strays.push(no_backup(&dir, name));
            return;
        }
        let view = read.unwrap_or_default();
        let live = view.live();
        let files = view.files(self.store, &dir, live.or(view.newest()).unwrap_or(0), true);
        let text = name.to_string_lossy();
        let info = classify(&text);
        let kind = layer_kind(info.kind);
        let stamp = self.name_stamp(&info).or_else(|| generation_stamp(&files));
        let key = key_of(kind, info.stamp);
        self.push(kind, key, &dir, Shape::ValheimFolder, live, info.rule(), stamp, files, Some(Rc::new(view)));
    }

    fn pair(&mut self, stem: &OsStr, age: Age, names: &[&OsStr]) {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.entry.dir.join(name)).collect();
        let files = sized(self.store, paths.clone());
        let text = stem.to_string_lossy();
        let own = stem == self.entry.name;
        let info = classify(&text);
        let owner = shown_path(Path::new(&self.entry.name));
        let (kind, key, rule) = match (own, age) {
            (true, Age::Current) if self.live_folder => (
                LayerKind::PreConversion,
                "hidden-pair".to_owned(),
                format!(
                    "A folder {owner} lies beside this pair of that name; the game loads the folder and hides the pair."
                ),
            ),
            (true, Age::Current) => {
                (LayerKind::Live, "live".to_owned(), "The pair bears the world's own name.".to_owned())
            }
            (true, Age::Old) if self.live_folder => (
                LayerKind::PreConversion,
                "old".to_owned(),
                format!("A .old pair beside the folder {owner}: the last save before the world became a folder."),
            ),
            (_, Age::Old) => {
                (LayerKind::Previous, "old".to_owned(), "The extension .old: the save before the last one.".to_owned())
            }
            (_, Age::New) => (
                LayerKind::Stray,
                "new".to_owned(),
                "The extension .new: a save that was being written and never took its place.".to_owned(),
            ),
            (false, Age::Current) => {
                let kind = match layer_kind(info.kind) {
                    LayerKind::Manual if self.live_folder => LayerKind::PreConversion,
                    kind => kind,
                };
                let rule = match kind {
                    LayerKind::PreConversion => {
                        format!("{}{BESIDE_A_FOLDER}{owner} was before 1.0.", info.rule())
                    }
                    _ => info.rule(),
                };
                (kind, key_of(kind, info.stamp), rule)
            }
        };
        let stamp = match kind {
            LayerKind::Live => None,
            _ => self.name_stamp(&info),
        };
        let stamp = stamp.or_else(|| pair_stamp(&files));
        let path = paths.into_iter().next().unwrap_or_else(|| self.entry.dir.clone());
        self.push(kind, key, &path, Shape::ValheimPair, None, rule, stamp, files, None);
    }

    fn name_stamp(&self, info: &NameInfo<'_>) -> Option<Stamp> {
        // Wall time without a zone; where the clocks went back the earlier of the two moments is taken.
        let at = self.context.zone.to_timestamp(info.stamp?).ok()?;
        Some(Stamp { at, from: StampFrom::Name })
    }

    #[allow(clippy::too_many_arguments)] // One line a field beats a second struct with the same fields.
    fn push(
        &mut self,
        kind: LayerKind,
        key: String,
        path: &Path,
        shape: Shape,
        generation: Option<u64>,
        rule: String,
        stamp: Option<Stamp>,
        files: Vec<FileEntry>,
        view: Option<Rc<FolderView>>,
    ) {
        let container = match (self.store.container(), shape) {
            (Container::Folder | Container::Files, Shape::ValheimPair) => Container::Files,
            (container, _) => container,
        };
        let layer = Layer {
            id: key,
            path: self.store.display(path),
            source: Source { outer: self.store.outer().to_path_buf() },
            kind,
            orphan: false,
            rule,
            shape,
            container,
            generation,
            stamp,
            bytes: files.iter().map(|f| f.size).sum(),
            files,
            verdict: Verdict::Unchecked,
            depth: Depth::Names,
            restorable: false,
            reason: None,
            findings: Vec::new(),
            relations: Vec::new(),
            facts: Facts::default(),
        };
        self.found.push(Draft { layer, view });
    }
}

/// A folder with a backup's name that holds nothing of a save.
fn no_backup(dir: &Path, name: &OsStr) -> Finding {
    Finding::warning(
        Code::JunkFolder,
        format!("{} has the name of a backup and holds no save.", shown_path(Path::new(name))),
        "Look at what is in it, and move it out of the worlds folder while the server is stopped.",
    )
    .in_file(shown_path(dir))
}

fn layer_kind(kind: NameKind) -> LayerKind {
    match kind {
        NameKind::World => LayerKind::Live,
        NameKind::OldBackup => LayerKind::Previous,
        NameKind::StandardBackup => LayerKind::Manual,
        NameKind::AutoBackup => LayerKind::Auto,
        NameKind::RestoredBackup => LayerKind::Restore,
        NameKind::CloudBackup => LayerKind::Cloud,
        NameKind::Rolling => LayerKind::Rolling,
    }
}

fn key_of(kind: LayerKind, stamp: Option<DateTime>) -> String {
    match stamp {
        Some(at) => format!("{}-{}", kind.as_str(), at.strftime("%Y%m%d-%H%M%S")),
        None => kind.as_str().to_owned(),
    }
}

/// The commit marker's time; without one, the newest change.
pub(super) fn generation_stamp(files: &[FileEntry]) -> Option<Stamp> {
    let marker = files.iter().find(|f| f.path.extension().is_some_and(|e| e == "ok")).and_then(|f| f.mtime);
    match marker {
        Some(at) => Some(Stamp { at, from: StampFrom::Marker }),
        None => newest(files),
    }
}

/// The world data's time; the metadata is rewritten by itself when settings change.
fn pair_stamp(files: &[FileEntry]) -> Option<Stamp> {
    let data = files
        .iter()
        .find(|f| f.path.file_name().and_then(Suffix::of).is_some_and(|s| !s.is_metadata()))
        .and_then(|f| f.mtime);
    match data {
        Some(at) => Some(Stamp { at, from: StampFrom::Mtime }),
        None => newest(files),
    }
}

fn newest(files: &[FileEntry]) -> Option<Stamp> {
    files.iter().filter_map(|f| f.mtime).max().map(|at| Stamp { at, from: StampFrom::Mtime })
}
