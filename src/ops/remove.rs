//! Removing for good what lies in the keeping folder: by descriptors, no link followed, no file system crossed.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags, RawDir};
use rustix::io::Errno;

use super::tree::calls::{Hook, Sys, listing_buffer};
use super::tree::seen::Seen;
use super::trouble::{Trouble, at, odd};

/// Folders in folders that are removed; each level takes one open file.
const MAX_DEPTH: usize = 300;

/// How often a folder is listed again that is not empty after everything listed was removed: some file systems skip names
/// while others are removed.
const PASSES: usize = 4;

/// Removes one entry of a folder with everything in it; `path` is what it is called. As much as possible is removed; the error is the
/// first of those that stopped something from going. It is no error when it is not there.
pub(super) fn remove<H: Hook>(sys: &Sys<'_, H>, folder: impl AsFd, name: &CStr, path: &Path) -> Result<(), Trouble> {
    let device = Seen::from(sys.stat(&folder).map_err(at("look at", path))?).device;
    let mut remover = Remover { sys, device, path: path.to_path_buf(), depth: 0, first: None };
    remover.entry(folder.as_fd(), name);
    match remover.first {
        Some(trouble) => Err(trouble),
        None => sys.flush(&folder).map_err(at("make durable that there is no", path)),
    }
}

/// The names of a folder, without those of itself and the one above.
pub(super) fn names<H: Hook>(sys: &Sys<'_, H>, folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut room = listing_buffer();
    let mut list = RawDir::new(folder, &mut room);
    let mut names = Vec::new();
    while let Some(entry) = sys.next_name(&mut list) {
        let name = entry?.file_name().to_owned();
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes a folder if it and every folder in it holds nothing but folders.
pub(super) fn prune<H: Hook>(sys: &Sys<'_, H>, folder: impl AsFd, name: &CStr, depth: usize) {
    let Ok(inside) = sys.open(&folder, name, OFlags::RDONLY | OFlags::DIRECTORY) else { return };
    if depth < MAX_DEPTH {
        for child in names(sys, &inside).unwrap_or_default() {
            prune(sys, &inside, &child, depth + 1);
        }
    }
    let _ = sys.unlink(&folder, name, AtFlags::REMOVEDIR);
}

/// True when something is a folder in which there are only folders, all of which could be looked into.
pub(super) fn only_folders<H: Hook>(sys: &Sys<'_, H>, folder: impl AsFd, name: &CStr, depth: usize) -> bool {
    let Ok(inside) = sys.open(&folder, name, OFlags::RDONLY | OFlags::DIRECTORY) else { return false };
    let Ok(list) = names(sys, &inside) else { return false };
    depth < MAX_DEPTH && list.iter().all(|child| only_folders(sys, &inside, child, depth + 1))
}

struct Remover<'a, 'h, H> {
    sys: &'a Sys<'h, H>,
    device: u64,
    path: PathBuf,
    depth: usize,
    first: Option<Trouble>,
}

impl<H: Hook> Remover<'_, '_, H> {
    fn fail(&mut self, trouble: Trouble) {
        self.first.get_or_insert(trouble);
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, name: &CStr) {
        let seen = match self.sys.stat_at(folder, name) {
            Ok(stat) => Seen::from(stat),
            Err(Errno::NOENT) => return,
            Err(error) => return self.fail(at("look at", &self.path)(error)),
        };
        if seen.device != self.device {
            return self.fail(odd("remove", &self.path, "another file system is mounted there"));
        }
        if seen.kind() == FileType::Directory {
            return self.folder(folder, name, &seen);
        }
        match self.sys.unlink(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => self.fail(at("remove", &self.path)(error)),
        }
    }

    fn folder(&mut self, parent: BorrowedFd<'_>, name: &CStr, listed: &Seen) {
        if self.depth >= MAX_DEPTH {
            return self.fail(odd("remove", &self.path, "it lies deeper than any save does"));
        }
        let opened = self.sys.open(parent, name, OFlags::RDONLY | OFlags::DIRECTORY);
        let inside = match opened {
            Ok(inside) => inside,
            Err(error) => return self.fail(at("open", &self.path)(error)),
        };
        match self.sys.stat(&inside) {
            Ok(stat) if Seen::from(stat).id() == listed.id() => {}
            Ok(_) => return self.fail(odd("remove", &self.path, "it became another folder meanwhile")),
            Err(error) => return self.fail(at("look at", &self.path)(error)),
        }
        if listed.mode() & 0o700 != 0o700
            && let Err(error) = self.sys.chmod(&inside, 0o700)
        {
            return self.fail(at("set the mode of", &self.path)(error));
        }
        self.depth += 1;
        let mut pass = 0;
        let result = loop {
            self.inside(&inside);
            pass += 1;
            match self.sys.unlink(parent, name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY | Errno::EXIST) if self.first.is_none() && pass < PASSES => {}
                Ok(()) | Err(Errno::NOENT) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.depth -= 1;
        if let Err(error) = result {
            self.fail(at("remove", &self.path)(error));
        }
    }

    fn inside(&mut self, folder: &OwnedFd) {
        let mut room = listing_buffer();
        let mut list = RawDir::new(folder, &mut room);
        while let Some(entry) = self.sys.next_name(&mut list) {
            let name = match entry {
                Ok(entry) => entry.file_name().to_owned(),
                Err(error) => return self.fail(at("list", &self.path)(error)),
            };
            if name.as_c_str() == c"." || name.as_c_str() == c".." {
                continue;
            }
            self.path.push(OsStr::from_bytes(name.to_bytes()));
            self.entry(folder.as_fd(), &name);
            self.path.pop();
        }
    }
}
