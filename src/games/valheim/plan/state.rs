//! Which files make up one state of a world.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::no_finished_save;
use crate::games::Context;
use crate::games::valheim::NO_FINISHED_SAVE;
use crate::games::valheim::examine::{examine, parts};
use crate::games::valheim::folder::{FolderView, MAIN_PARTS, main_name};
use crate::games::valheim::format::chunked::{INDEX_CEILING, Index};
use crate::games::valheim::format::meta::META_CEILING;
use crate::games::valheim::inspect::Parts;
use crate::games::valheim::pair::Suffix;
use crate::model::outline::{Fresh, Origin};
use crate::model::plan::{Reason, Refusal};
use crate::model::{Checked, Container, Depth, Layer, LayerKind, Verdict, shown_path};
use crate::store::{self, Effort, EntryKind, Store};

/// The files of a state.
pub(super) enum Body {
    /// One generation of a 1.0 folder, with the chunk files that its index names.
    Folder {
        /// The folder, relative to the store.
        dir: PathBuf,
        /// The generation.
        generation: u64,
        /// Names in it.
        names: Vec<OsString>,
    },
    /// A pair before 1.0, relative to the store.
    Pair {
        /// Metadata.
        fwl: PathBuf,
        /// World data.
        db: PathBuf,
    },
}

/// A state that can be used, read through to its last byte.
pub(super) struct State {
    /// Opened where it lies.
    pub store: Box<dyn Store>,
    pub body: Body,
    /// What the check said.
    pub checked: Checked,
}

impl State {
    /// Reads a layer wholly and finds its files; refuses what holds no finished save.
    pub(super) fn read(layer: &Layer, context: &Context) -> Result<Self, Refusal> {
        if layer.kind == LayerKind::Stray {
            let text = "A write that was not finished is never restored or copied.";
            return Err(Refusal::new(Reason::NotRestorable, text));
        }
        let gone = |why: String| {
            Refusal::new(Reason::SourceGone, format!("'{}' cannot be read: {why}.", shown_path(&layer.path)))
        };
        let effort = Effort::any(&context.cancel);
        let store = store::open_within(&layer.source.outer, &context.ceilings, &effort)
            .map_err(|error| gone(error.to_string()))?;
        let checked = examine(&*store, layer, None, Depth::Full, context);
        if checked.verdict == Verdict::Unreadable {
            let first = checked.findings.iter().map(|finding| finding.text.clone()).next();
            return Err(gone(first.unwrap_or_else(|| "it could not be opened".to_owned())));
        }
        let live = layer.kind == LayerKind::Live;
        if !checked.restorable && (!live || checked.reason.as_deref() == Some(NO_FINISHED_SAVE)) {
            return Err(match checked.reason.as_deref() {
                None | Some(NO_FINISHED_SAVE) => no_finished_save(),
                Some(reason) => Refusal::new(Reason::NotRestorable, reason),
            });
        }
        let body = match parts(&*store, layer) {
            Some(Parts::Folder { dir, generation }) => {
                let names = names_of(&*store, &dir, generation, context).map_err(|error| gone(error.to_string()))?;
                Body::Folder { dir, generation, names }
            }
            Some(Parts::Pair { fwl, db }) => pair(&*store, fwl, db)?,
            None => return Err(no_finished_save()),
        };
        Ok(Self { store, body, checked })
    }

    /// True when it lies in an archive.
    pub(super) fn packed(&self) -> bool {
        matches!(self.store.container(), Container::Zip | Container::Tar)
    }

    /// The path on disk of something in its store; in an archive, what a person would name.
    pub(super) fn path(&self, inner: &Path) -> PathBuf {
        self.store.outer().join(inner)
    }

    /// True when a server that runs does no harm to a copy: the game never changes the files of a finished generation, nor
    /// those of a backup. Both files of a live pair, and the save before it, it replaces at every save, one after the other.
    pub(super) fn is_never_changed(&self, layer: &Layer) -> bool {
        let replaced = matches!(layer.kind, LayerKind::Live | LayerKind::Previous);
        self.packed() || matches!(self.body, Body::Folder { .. }) || !replaced
    }

    /// Its files, relative to the store.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match &self.body {
            Body::Folder { dir, names, .. } => names.iter().map(|name| dir.join(name)).collect(),
            Body::Pair { fwl, db } => vec![db.clone(), fwl.clone()],
        }
    }

    /// Sum of the sizes of its files, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.files().into_iter().filter_map(|file| self.store.stat(&file).ok()).map(|stat| stat.size);
        sizes.fold(0, u64::saturating_add)
    }

    /// The folder as a new one of its own.
    pub(super) fn fresh_folder(&self, dir: &Path, names: &[OsString], like: &Path) -> Fresh {
        let origin = if self.packed() {
            let members = names.iter().map(|name| (dir.join(name), PathBuf::from(name))).collect();
            Origin::Members { archive: self.store.outer().to_path_buf(), members }
        } else {
            Origin::Files { folder: self.path(dir), names: names.to_vec() }
        };
        Fresh { origin, writes: Vec::new(), like: like.to_path_buf() }
    }

    /// One file as a new one.
    pub(super) fn fresh_file(&self, file: &Path, like: &Path) -> Fresh {
        let origin = if self.packed() {
            let members = vec![(file.to_path_buf(), PathBuf::new())];
            Origin::Members { archive: self.store.outer().to_path_buf(), members }
        } else {
            Origin::Whole(self.path(file))
        };
        Fresh { origin, writes: Vec::new(), like: like.to_path_buf() }
    }

    /// The bytes of its metadata, and the name of that file.
    pub(super) fn metadata(&self) -> Result<(PathBuf, Vec<u8>), Refusal> {
        let file = match &self.body {
            Body::Folder { dir, generation, .. } => dir.join(main_name(*generation, "fwl2")),
            Body::Pair { fwl, .. } => fwl.clone(),
        };
        let bytes = self.store.read(&file, META_CEILING).map_err(|error| {
            Refusal::new(Reason::SourceGone, format!("'{}' cannot be read: {error}.", shown_path(&self.path(&file))))
        })?;
        Ok((file, bytes))
    }
}

/// The four files of a generation, and the chunk files that its index names; every chunk file when the index cannot be
/// read, since nothing may be left behind that could be needed.
fn names_of(
    store: &dyn Store,
    dir: &Path,
    generation: u64,
    context: &Context,
) -> Result<Vec<OsString>, store::StoreError> {
    let view = FolderView::read(store, dir)?;
    let mut names: Vec<OsString> = MAIN_PARTS.iter().map(|part| main_name(generation, part).into()).collect();
    let index = store.read(&dir.join(main_name(generation, "chunks")), INDEX_CEILING);
    let index = index.as_ref().ok().map(|bytes| Index::read(bytes, &context.ceilings));
    match index.filter(|index| index.fault.is_none()) {
        Some(index) => {
            let named: std::collections::HashSet<OsString> =
                index.iter().map(|entry| entry.file_name().into()).collect();
            names.extend(view.chunks.into_iter().filter(|chunk| named.contains(chunk)));
        }
        None => names.extend(view.chunks),
    }
    Ok(names)
}

/// Both halves of a pair; a previous save without its own metadata borrows that of the world.
fn pair(store: &dyn Store, fwl: Option<PathBuf>, db: Option<PathBuf>) -> Result<Body, Refusal> {
    let Some(db) = db else { return Err(no_finished_save()) };
    let borrowed = || {
        let (mut stem, _) = db.file_name().and_then(Suffix::split)?;
        stem.push(".fwl");
        let beside = db.with_file_name(stem);
        store.stat(&beside).is_ok_and(|stat| stat.kind == EntryKind::File).then_some(beside)
    };
    fwl.or_else(borrowed).map(|fwl| Body::Pair { fwl, db }).ok_or_else(|| {
        let text = "The metadata file (.fwl) is missing; the game would not list the world.";
        Refusal::new(Reason::NotRestorable, text)
    })
}
