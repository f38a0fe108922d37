//! The files that are asked about, by what names them whatever they are called.

use std::collections::HashSet;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::model::outline::Traces;

/// Files in a held folder that are remembered by inode; with more, paths have to do.
const MOST_FILES: usize = 200_000;

/// Device and inode.
pub(super) type Id = (u64, u64);

/// What an open file or a lock is held against.
pub(super) struct Targets {
    /// The paths, without links.
    pub paths: Vec<PathBuf>,
    /// The files and folders themselves, and the files in the folders.
    pub ids: HashSet<Id>,
    /// The save root.
    pub root: Option<Id>,
}

impl Targets {
    pub(super) fn of(traces: &Traces) -> Self {
        let mut targets = Self { paths: Vec::new(), ids: HashSet::new(), root: id(&traces.root) };
        for path in traces.held.iter().chain(&traces.locks) {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            targets.add(&path);
            targets.paths.push(path);
        }
        targets
    }

    fn add(&mut self, path: &Path) {
        let Ok(meta) = std::fs::symlink_metadata(path) else { return };
        self.ids.insert((meta.dev(), meta.ino()));
        let Ok(entries) = std::fs::read_dir(path) else { return };
        for entry in entries.flatten().take(MOST_FILES.saturating_sub(self.ids.len())) {
            self.ids.insert((meta.dev(), entry.ino()));
        }
    }

    /// The path lies in one of the targets.
    pub(super) fn hold(&self, path: &Path) -> bool {
        self.paths.iter().any(|target| path.starts_with(target))
    }

    /// Something with this inode is among them, on whatever device: what the kernel prints for btrfs is no device of a
    /// file.
    pub(super) fn has_inode(&self, inode: u64) -> bool {
        self.ids.iter().any(|(_, other)| *other == inode)
    }
}

/// What a path leads to.
pub(super) fn id(path: &Path) -> Option<Id> {
    std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Device and inode of what was looked at.
#[allow(clippy::useless_conversion, reason = "the widths of these fields differ between machines")]
pub(super) fn id_of(stat: &rustix::fs::Stat) -> Id {
    (stat.st_dev.into(), stat.st_ino.into())
}
