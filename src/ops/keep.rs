//! The keeping folder: where operations stage, park, lock, and remember.

#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod pointer;

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub(super) use folder::{JOURNAL, Keep, NotLocked, RECYCLE, STAGE, SWAP, one_name};
#[cfg(target_os = "linux")]
pub(super) use pointer::remember;

use super::record::MAX_PATH;

/// Its name, in a folder that no game looks into.
pub const KEEP: &str = ".worldkeep";

/// What is added to the name of something that is being removed for good: half of it may be gone already.
pub const PURGING: &str = ".purging";

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

/// The name that something gets right before it is removed for good.
pub fn purging_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PURGING);
    PathBuf::from(name)
}

/// The keeping folders that the state folder remembers, sorted. Whether they are still there is not looked at. None
/// when nothing was ever remembered, or it cannot be read.
pub fn remembered(state: &Path) -> Vec<PathBuf> {
    let Ok(list) = std::fs::read_dir(state.join(POINTERS)) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        list.filter_map(Result::ok).take(MOST_POINTERS).filter_map(|entry| pointed(&entry.path())).collect();
    found.sort();
    found.dedup();
    found
}

/// The folder of the pointers in the state folder: one file a keeping folder, which holds its path and a line end.
const POINTERS: &str = "keeps";
const MOST_POINTERS: usize = 10_000;

fn pointed(file: &Path) -> Option<PathBuf> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(file).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    file.take(MAX_PATH as u64 + 2).read_to_end(&mut bytes).ok()?;
    let bytes = bytes.strip_suffix(b"\n")?;
    let path = PathBuf::from(path_of(bytes)?);
    let named = path.has_root() && path.file_name().is_some_and(|name| name == KEEP);
    named.then_some(path)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a path")]
fn path_of(bytes: &[u8]) -> Option<&std::ffi::OsStr> {
    Some(std::os::unix::ffi::OsStrExt::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<&std::ffi::OsStr> {
    std::str::from_utf8(bytes).ok().map(std::ffi::OsStr::new)
}
