//! The few system calls of the comparison.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat, fgetxattr, flistxattr, openat, readlinkat, statat};
use rustix::io::Errno;

/// The largest attribute, and the longest list of names, that Linux has.
const LARGEST: usize = 64 << 10;

/// What an entry is; none when there is none.
pub(super) fn look(folder: impl AsFd, name: &CStr) -> Result<Option<Stat>, Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Opens one entry, no link, without a change of its access time if that may be asked for.
pub(super) fn open(folder: impl AsFd, name: &CStr, directory: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECTORY, directory);
    openat(&folder, name, flags | OFlags::NOATIME, Mode::empty()).or_else(|error| match error {
        Errno::PERM => openat(&folder, name, flags, Mode::empty()),
        error => Err(error),
    })
}

/// How often a call is made again that a signal interrupted.
pub(super) const TRIES: u32 = 100;

/// Bytes of names that are asked for at once.
const LISTING: usize = 32 << 10;

/// The names in a folder, one at a time; an error is the last.
pub(super) fn names(folder: impl AsFd) -> Result<Names, Errno> {
    // A descriptor of its own, so that the listing begins at the beginning.
    let folder = open(folder, c".", true)?;
    Ok(Names { folder, room: vec![MaybeUninit::uninit(); LISTING], found: VecDeque::new(), over: false })
}

/// A listing that goes on.
pub(super) struct Names {
    folder: OwnedFd,
    room: Vec<MaybeUninit<u8>>,
    found: VecDeque<CString>,
    over: bool,
}

impl Names {
    /// Asks for more, which is none at the end.
    fn more(&mut self) -> Result<(), Errno> {
        let mut list = RawDir::new(&self.folder, &mut self.room);
        let mut tries = TRIES;
        loop {
            match list.next() {
                None => self.over = true,
                // Nothing was read by a call that was interrupted.
                Some(Err(Errno::INTR)) if tries > 1 => {
                    tries -= 1;
                    continue;
                }
                Some(Err(error)) => return Err(error),
                Some(Ok(entry)) => {
                    let name = entry.file_name();
                    if name != c"." && name != c".." {
                        self.found.push_back(name.to_owned());
                    }
                }
            }
            if self.over || list.is_buffer_empty() {
                return Ok(());
            }
        }
    }
}

impl Iterator for Names {
    type Item = Result<CString, Errno>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() && !self.over {
            if let Err(error) = self.more() {
                self.over = true;
                return Some(Err(error));
            }
        }
        self.found.pop_front().map(Ok)
    }
}

/// All extended attributes that this user may see, with their values.
pub(super) fn attributes(file: &OwnedFd) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Errno> {
    let mut list = Vec::with_capacity(LARGEST);
    match flistxattr(file, spare_capacity(&mut list)) {
        Ok(_) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    }
    let mut found = BTreeMap::new();
    for name in list.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok()) {
        let mut value = Vec::with_capacity(LARGEST);
        fgetxattr(file, name, spare_capacity(&mut value))?;
        found.insert(name.to_bytes().to_vec(), value);
    }
    Ok(found)
}

pub(super) fn target(folder: impl AsFd, name: &CStr) -> Result<CString, Errno> {
    readlinkat(folder, name, Vec::new())
}
