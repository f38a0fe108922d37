//! Opening whatever a path names as a [`Store`].

use std::path::Path;
use std::{fs, io};

use super::at::At;
use super::fault;
use super::folder::{FolderStore, open_without_waiting};
use super::inflate::Packing;
use super::tar::TarStore;
use super::tar_walk::{BLOCK, is_header};
use super::zip::ZipStore;
use super::{Ceilings, Effort, Store, StoreError, StoreErrorKind};
use crate::model::Cancel;

/// The endings of the archives that [`open`] reads, without the dot.
const ENDINGS: [&str; 10] = ["zip", "tar", "tar.gz", "tgz", "tar.zst", "tzst", "tar.xz", "txz", "tar.bz2", "tbz2"];

/// Opens a folder or an archive.
///
/// An archive is recognised by its first bytes and not by its name. Anything that is neither a folder nor an archive
/// is an error that says so, and so is an archive with an entry that is refused. A folder and a zip open at once; a
/// plain tar costs a small read for each of its files; a packed tar is unpacked once from start to end, so it does not
/// belong on the way to a first screen.
pub fn open(path: &Path, ceilings: &Ceilings) -> Result<Box<dyn Store>, StoreError> {
    open_within(path, ceilings, &Effort::any(&Cancel::new()))
}

/// Opens a folder or an archive like [`open`], with an effort that bounds opening it and everything that is unpacked from
/// it later.
pub fn open_within(path: &Path, ceilings: &Ceilings, effort: &Effort) -> Result<Box<dyn Store>, StoreError> {
    let fault = |error: &io::Error| fault::from_io(path, path, error);
    let meta = fs::metadata(path).map_err(|error| fault(&error))?;
    if meta.is_dir() {
        return Ok(Box::new(FolderStore::new(path, ceilings)?));
    }
    if !meta.is_file() {
        return Err(StoreError::new(path, StoreErrorKind::NotAFile));
    }
    let file = open_without_waiting(path).map_err(|error| fault(&error))?;
    let meta = file.metadata().map_err(|error| fault(&error))?;
    if !meta.is_file() {
        return Err(StoreError::new(path, StoreErrorKind::NotAFile));
    }
    let file = At::new(file, meta.len());
    let kind = recognise(&file).map_err(|error| fault(&error))?;
    match kind {
        Recognised::Zip => Ok(Box::new(ZipStore::new(path, file, ceilings, effort)?)),
        Recognised::Tar(packing) => Ok(Box::new(TarStore::new(path, file, packing, ceilings, effort)?)),
        Recognised::Empty => {
            Err(StoreError::new(path, StoreErrorKind::Broken("it is empty, not one byte long".to_owned())))
        }
        Recognised::Zeros => {
            let how = "it starts with zeros, like a file whose content was lost when the power failed";
            Err(StoreError::new(path, StoreErrorKind::Broken(how.to_owned())))
        }
        Recognised::Other => {
            let why = "it is neither a folder nor an archive that is known here (zip, or tar plain or packed with \
                       gzip, zstd, xz or bzip2)";
            Err(StoreError::new(path, StoreErrorKind::Unsupported(why.to_owned())))
        }
    }
}

/// What the first bytes of a file say.
enum Recognised {
    Zip,
    Tar(Option<Packing>),
    Empty,
    Zeros,
    Other,
}

fn recognise(file: &At) -> io::Result<Recognised> {
    let mut block = [0; BLOCK];
    let count = file.fill_at(0, &mut block)?;
    let start = block.get(..count).unwrap_or_default();
    Ok(match start {
        [] => Recognised::Empty,
        // A local header, the end record of an archive without files, the mark of a split archive in one piece.
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => Recognised::Zip,
        [0x1f, 0x8b, ..] => Recognised::Tar(Some(Packing::Gzip)),
        // A frame, or one to skip, with which parallel packers start.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Recognised::Tar(Some(Packing::Zstd)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Recognised::Tar(Some(Packing::Xz)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Recognised::Tar(Some(Packing::Bzip2)),
        _ if count == block.len() && is_header(&block) => Recognised::Tar(None),
        // The name of the format stands there, so a wrong checksum is damage and not another format.
        _ if start.get(257..262) == Some(b"ustar") => Recognised::Tar(None),
        _ if start.iter().all(|byte| *byte == 0) => zeros(file)?,
        _ => Recognised::Other,
    })
}

/// A tar without files is two blocks of zeros, which tar fills up to 10240 bytes; anything longer is none.
fn zeros(file: &At) -> io::Result<Recognised> {
    let mut bytes = [0; 10240];
    let count = file.fill_at(0, &mut bytes)?;
    let empty = (1024..=10240).contains(&file.len()) && file.len().is_multiple_of(BLOCK as u64);
    let zeros = bytes.get(..count).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0));
    Ok(if empty && zeros { Recognised::Tar(None) } else { Recognised::Zeros })
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
