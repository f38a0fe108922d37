//! The few system calls of the comparison.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fgetxattr, flistxattr, openat, readlinkat, statat};
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

/// The names in a folder, one at a time.
pub(super) fn names(folder: impl AsFd) -> Result<impl Iterator<Item = Result<CString, Errno>>, Errno> {
    let entries = Dir::read_from(folder)?.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
    Ok(entries.filter(|name| !matches!(name, Ok(name) if name.as_c_str() == c"." || name.as_c_str() == c"..")))
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
