//! Where a world lies, and what bears its name there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::games::Context;
use crate::games::valheim::names::classify;
use crate::games::valheim::pair::{Age, Suffix};
use crate::games::valheim::places::{WORLDS_FOLDERS, is_worlds_folder};
use crate::games::valheim::traces::{held_by, traces_of, written_last};
use crate::model::outline::{Outline, Preview, Traces};
use crate::model::plan::{Operation, Reason, Refusal};
use crate::model::{Container, Layer, LayerKind, Profile, Shape, World, shown, shown_path};
use crate::store::{self, EntryKind};

/// A worlds folder, with the names in it.
pub(super) struct Place {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The save root around it, which no game lists.
    pub root: PathBuf,
    /// What lies in it.
    pub entries: BTreeMap<OsString, EntryKind>,
}

impl Place {
    /// Reads a worlds folder.
    pub(super) fn read(dir: &Path, context: &Context) -> Result<Self, Refusal> {
        let gone = |error: store::StoreError| {
            let text = format!("'{}' cannot be listed: {error}.", shown_path(dir));
            Refusal::new(Reason::SourceGone, text)
        };
        let store = store::open(dir, &context.ceilings).map_err(gone)?;
        let entries = store.list(Path::new("")).map_err(gone)?;
        let Some(root) = dir.parent() else {
            return Err(Refusal::new(Reason::NoStage, "A save at the top of a file system cannot be changed."));
        };
        let entries = entries.into_iter().map(|entry| (entry.name, entry.kind)).collect();
        Ok(Self { dir: dir.to_path_buf(), root: root.to_path_buf(), entries })
    }

    /// The folders that the game lists, and this one.
    pub(super) fn scanned(&self) -> Vec<PathBuf> {
        let mut scanned: Vec<PathBuf> = WORLDS_FOLDERS.iter().map(|folder| self.root.join(folder)).collect();
        scanned.push(self.root.join("characters_local"));
        scanned.push(self.root.join("characters"));
        if !scanned.contains(&self.dir) {
            scanned.push(self.dir.clone());
        }
        scanned
    }

    /// True when something has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(OsStr::new(name))
    }

    /// The path of a name.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The folder of a world of this name.
    pub(super) fn folder_of(&self, name: &str) -> Option<PathBuf> {
        (self.entries.get(OsStr::new(name)) == Some(&EntryKind::Dir)).then(|| self.path(name))
    }

    /// The files of a pair of this stem, of the ages asked for, world data first.
    pub(super) fn pair_files(&self, stem: &str, ages: &[Age]) -> Vec<PathBuf> {
        let mut found: Vec<(bool, PathBuf)> = Vec::new();
        for (name, kind) in &self.entries {
            let split = Suffix::split(name).filter(|(owner, suffix)| owner == stem && ages.contains(&suffix.age()));
            if let Some((_, suffix)) = split.filter(|_| *kind != EntryKind::Dir) {
                found.push((suffix.is_metadata(), self.dir.join(name)));
            }
        }
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// Everything that the game would take for this world or a part of it.
    pub(super) fn all_of(&self, name: &str) -> Vec<PathBuf> {
        let mut all = self.pair_files(name, &[Age::Current, Age::Old, Age::New]);
        all.extend(self.folder_of(name));
        all
    }

    /// Names in this folder that the game counts as backups of a world of this name.
    pub(super) fn backups_of(&self, name: &str) -> Vec<String> {
        let stem = |entry: &OsStr| match Suffix::split(entry) {
            Some((stem, _)) => stem.into_string().ok(),
            None => entry.to_str().map(str::to_owned),
        };
        let is_backup = |text: &String| {
            let info = classify(text);
            info.owner == name && info.owner.len() < text.len()
        };
        let mut found: Vec<String> = self.entries.keys().filter_map(|entry| stem(entry)).filter(is_backup).collect();
        found.dedup();
        found
    }

    /// The folder of the same root in which servers before 0.209 kept worlds, or the one since; none when it cannot be
    /// read or is not there.
    pub(super) fn sister(&self, context: &Context) -> Option<Self> {
        let name = self.dir.file_name()?;
        let other = WORLDS_FOLDERS.iter().find(|folder| **folder != name).filter(|_| is_worlds_folder(Some(name)))?;
        Self::read(&self.root.join(other), context).ok()
    }

    /// The file in which the game keeps the biomes of a world, by the name inside.
    pub(super) fn cache_of(&self, inner: &str, context: &Context) -> Option<PathBuf> {
        if inner.is_empty() || inner.contains('/') {
            return None;
        }
        let folder = self.root.join("cache");
        let name = cache_name(inner);
        let store = store::open(&folder, &context.ceilings).ok()?;
        let stat = store.stat(Path::new(&name)).ok()?;
        (stat.kind == EntryKind::File).then(|| folder.join(name))
    }
}

/// The name of a biome cache.
pub(super) fn cache_name(inner: &str) -> String {
    format!("{inner}_biomedatacache.bin")
}

/// A world that is asked about, where it lies.
pub(super) struct Site<'a> {
    pub world: &'a World,
    /// The name on disk.
    pub name: String,
    /// The folder that it lies in.
    pub place: Place,
}

impl<'a> Site<'a> {
    /// Finds it by its layers: the live one, or else the newest that is a file or folder of its own.
    pub(super) fn of(profile: &'a Profile, world: &'a World, context: &Context) -> Result<Self, Refusal> {
        let on_disk = |layer: &&Layer| matches!(layer.container, Container::Folder | Container::Files);
        let shown_here = |layer: &&Layer| on_disk(layer) && layer.kind != LayerKind::Parked;
        let dir = match world.live().filter(on_disk).or_else(|| world.layers.iter().find(shown_here)) {
            Some(layer) => folder_around(layer)?,
            None => home_of(profile),
        };
        let name = world.name.clone();
        if name.contains(['/', '\\', '\0']) || name.is_empty() {
            let text = format!("The name of {} is no plain text, and is left alone.", shown(&name));
            return Err(Refusal::new(Reason::NotSupported, text));
        }
        let place = Place::read(&dir, context)?;
        if world.live().as_ref().is_some_and(on_disk) && place.all_of(&name).is_empty() {
            let text = format!("{} is not in '{}' any more.", shown(&name), shown_path(&dir));
            return Err(Refusal::new(Reason::SourceGone, text));
        }
        Ok(Self { world, name, place })
    }

    /// What shows that a server uses this world.
    pub(super) fn traces(&self) -> Traces {
        let mut held = self.place.all_of(&self.name);
        let mut recent = Vec::new();
        if let Some(live) = self.world.live() {
            held.extend(held_by(live).into_iter().filter(|path| path.starts_with(&self.place.root)));
            recent.extend(written_last(live));
        }
        held.sort();
        held.dedup();
        traces_of(&self.place.root, &self.name, held, recent)
    }

    /// What stays in the older folder is not what a current server loads.
    fn old_folder(&self, operation: Operation) -> Option<String> {
        let stays = matches!(operation, Operation::Restore | Operation::Rename | Operation::Backup);
        let old = self.place.dir.file_name().is_some_and(|name| name == "worlds");
        (stays && old).then(|| {
            format!(
                "{} lies in the older folder 'worlds'. Servers since 0.209 read worlds_local and do not see it; copy it to have it \
                 there.",
                shown(&self.name)
            )
        })
    }

    /// An outline about it without any change yet.
    pub(super) fn outline(&self, operation: Operation) -> Outline {
        Outline {
            operation,
            subject: self.name.clone(),
            root: self.place.root.clone(),
            scanned: self.place.scanned(),
            changes: Vec::new(),
            depends: Vec::new(),
            warnings: Vec::new(),
            preview: Preview { notes: self.old_folder(operation).into_iter().collect(), ..Preview::default() },
            restored: None,
            traces: Some(self.traces()),
        }
    }
}

/// The worlds folder of a profile in which a world that is not there would be made.
pub(super) fn home_of(profile: &Profile) -> PathBuf {
    match profile.root.file_name() {
        name if is_worlds_folder(name) => profile.root.clone(),
        _ => profile.root.join("worlds_local"),
    }
}

/// The folder that holds a layer.
fn folder_around(layer: &Layer) -> Result<PathBuf, Refusal> {
    let own = match (layer.shape, layer.kind) {
        // The path of a generation is that of its files.
        (Shape::ValheimFolder, LayerKind::Generation) => layer.path.parent().and_then(Path::parent),
        _ => layer.path.parent(),
    };
    own.map(Path::to_path_buf).ok_or_else(|| {
        let text = format!("'{}' lies in no folder.", shown_path(&layer.path));
        Refusal::new(Reason::NotSupported, text)
    })
}
