//! What the system says, in words that help: which thing stands in the way, with its mode and owner.

use std::io;
use std::path::Path;

use super::{StoreError, StoreErrorKind};

/// An error of the system about `path` (as the caller named it), which lies at `place` on disk.
pub(super) fn from_io(path: &Path, place: &Path, error: &io::Error) -> StoreError {
    let kind = match error.kind() {
        // A name with a NUL byte cannot be on a disk.
        io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => StoreErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => StoreErrorKind::Denied(in_the_way(place)),
        io::ErrorKind::NotADirectory => return not_a_folder(path, place),
        _ => StoreErrorKind::Io(words(error)),
    };
    StoreError::new(path, kind)
}

/// An empty buffer with room for a size that was already held against a ceiling.
pub(super) fn room(path: &Path, size: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let fits = usize::try_from(size).is_ok_and(|size| bytes.try_reserve_exact(size).is_ok());
    if fits {
        return Ok(bytes);
    }
    let why = format!("there is not enough memory for its {size} bytes");
    Err(StoreError::new(path, StoreErrorKind::Io(why)))
}

/// True when links lead in a circle.
#[cfg(unix)]
pub(super) fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// True when links lead in a circle.
#[cfg(not(unix))]
pub(super) fn is_circle(_error: &io::Error) -> bool {
    false
}

/// The system's error in a plain sentence, where there is a plainer one than the system's own.
#[cfg(unix)]
fn words(error: &io::Error) -> String {
    let plain = match error.raw_os_error() {
        Some(libc::ELOOP) => "links on the way lead in a circle",
        Some(libc::ENAMETOOLONG) => "a name is longer than the file system allows",
        Some(libc::EIO) => "the disk or the mount failed (input/output error)",
        Some(libc::ESTALE) => "the network mount no longer knows the file (stale file handle)",
        Some(libc::ENOTCONN) => "the mount is gone (transport endpoint is not connected)",
        Some(libc::EMFILE | libc::ENFILE) => "too many files are open at once",
        _ => return error.to_string(),
    };
    plain.to_owned()
}

#[cfg(not(unix))]
fn words(error: &io::Error) -> String {
    error.to_string()
}

/// Names the part of the path that is no folder, which is seldom the last one.
fn not_a_folder(path: &Path, place: &Path) -> StoreError {
    // Both paths end in the same names, so the parts can be walked up side by side.
    let culprit = path
        .ancestors()
        .zip(place.ancestors())
        .find(|(_, place)| std::fs::metadata(place).is_ok_and(|meta| !meta.is_dir()))
        .map_or(path, |(path, _)| path);
    StoreError::new(culprit, StoreErrorKind::NotADir)
}

/// What stands in the way of reading `place`: the first folder that cannot be entered, or the thing itself.
#[cfg(unix)]
pub(super) fn in_the_way(place: &Path) -> String {
    blocked_at(place, place, 8)
}

/// What stands in the way of reading `place`.
#[cfg(not(unix))]
pub(super) fn in_the_way(_place: &Path) -> String {
    "the system denies access".to_owned()
}

/// Walks down from the top until a step fails; `links` bounds how many links are followed for the explanation.
#[cfg(unix)]
fn blocked_at(asked: &Path, place: &Path, links: u8) -> String {
    use std::fs;

    let mut steps: Vec<&Path> = place.ancestors().collect();
    steps.reverse();
    let mut reached = None;
    for step in steps {
        // The start of a relative path.
        let step = if step.as_os_str().is_empty() { Path::new(".") } else { step };
        match fs::metadata(step) {
            Ok(meta) => reached = Some((step, meta)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                if let (Ok(target), Some(links)) = (fs::read_link(step), links.checked_sub(1)) {
                    let target = step.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
                    return blocked_at(asked, &target, links);
                }
                return match reached {
                    Some((folder, meta)) if asked.parent() == Some(folder) => {
                        format!("folder cannot be entered ({})", rights(&meta))
                    }
                    Some((folder, meta)) => {
                        let folder = crate::model::shown_path(folder);
                        format!("folder {folder} cannot be entered ({})", rights(&meta))
                    }
                    None => "a folder on the way cannot be entered".to_owned(),
                };
            }
            Err(_) => return "the system denies access".to_owned(),
        }
    }
    match reached {
        Some((_, meta)) if meta.is_dir() => format!("folder cannot be listed ({})", rights(&meta)),
        Some((_, meta)) => format!("file cannot be read ({})", rights(&meta)),
        None => "the system denies access".to_owned(),
    }
}

/// Mode and owner of a folder that we may not write into.
#[cfg(unix)]
pub(super) fn mode_and_owner(place: &Path) -> String {
    std::fs::metadata(place).map_or_else(|_| "the system denies access".to_owned(), |meta| rights(&meta))
}

#[cfg(unix)]
fn rights(meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("mode {:04o}, owner {}:{}", meta.mode() & 0o7777, meta.uid(), meta.gid())
}

/// An error while reading a file inside an archive: the archive's fault where the bytes are to blame.
pub(super) fn reading(path: &Path, error: &io::Error) -> StoreError {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => StoreErrorKind::Broken(error.to_string()),
        io::ErrorKind::Unsupported if error.raw_os_error().is_none() => StoreErrorKind::Unsupported(error.to_string()),
        _ => StoreErrorKind::Io(words(error)),
    };
    StoreError::new(path, kind)
}
