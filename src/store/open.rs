//! Opening whatever a path names as a [`Store`].

use std::fs;
use std::path::Path;

use super::fault;
use super::folder::FolderStore;
use super::{Ceilings, Store, StoreError, StoreErrorKind};

/// The endings of the archives that [`open`] reads, without the dot.
const ENDINGS: [&str; 10] = ["zip", "tar", "tar.gz", "tgz", "tar.zst", "tzst", "tar.xz", "txz", "tar.bz2", "tbz2"];

/// Opens a folder or an archive.
///
/// An archive is recognised by its first bytes and not by its name. Anything that is neither a folder nor an archive
/// is an error that says so.
pub fn open(path: &Path, ceilings: &Ceilings) -> Result<Box<dyn Store>, StoreError> {
    let meta = fs::metadata(path).map_err(|error| fault::from_io(path, path, &error))?;
    if meta.is_dir() {
        return Ok(Box::new(FolderStore::new(path, ceilings)?));
    }
    if !meta.is_file() {
        return Err(StoreError::new(path, StoreErrorKind::NotAFile));
    }
    let why = "it is neither a folder nor an archive of a known kind (zip, tar, tar.gz, tar.zst, tar.xz, tar.bz2)";
    Err(StoreError::new(path, StoreErrorKind::Unsupported(why.to_owned())))
}

/// Whether a name looks like one of an archive that [`open`] reads; touches no disk, ignores upper and lower case.
pub fn looks_like_archive(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.as_encoded_bytes();
    ENDINGS.iter().any(|ending| {
        name.len().checked_sub(ending.len() + 1).is_some_and(|at| {
            at > 0
                && name.get(at) == Some(&b'.')
                && name.get(at + 1..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending.as_bytes()))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::looks_like_archive;

    #[test]
    fn archives_are_told_by_their_ending_in_any_case() {
        for name in ["a.zip", "x/W-2026.TAR.GZ", "a.tgz", "b.tar", "c.tar.zst", "d.tzst", "e.txz", "f.Tar.Xz", "g.tbz2"]
        {
            assert!(looks_like_archive(Path::new(name)), "{name}");
        }
        for name in ["zip", ".zip", "a.zipx", "a.gz", "a.db", "tar.gz/", "", "a.zip/W.db"] {
            assert!(!looks_like_archive(Path::new(name)), "{name}");
        }
    }
}
