//! The keeping folder: where operations stage, park, lock, and remember.

use std::path::{Path, PathBuf};

/// Its name, in a folder that no game looks into.
pub const KEEP: &str = ".worldkeep";

/// Where the new state of an operation is made.
pub fn stage_of(keep: &Path, name: &str) -> PathBuf {
    keep.join("stage").join(name)
}

/// Where an operation parks what it takes away. Below it lies the path that the thing had below the folder of `keep`, so
/// that it looks like a save root to the game that knows it: `recycle/NAME/worlds_local/Midgard`.
pub fn recycle_of(keep: &Path, name: &str) -> PathBuf {
    keep.join("recycle").join(name)
}

/// The journal: there while an operation is in the middle of its renames.
pub fn journal_of(keep: &Path) -> PathBuf {
    keep.join("journal")
}

/// The record of an operation that is done.
pub fn record_of(keep: &Path, name: &str) -> PathBuf {
    keep.join("history").join(name)
}
