//! The state folder remembers where keeping folders are, so that every start can look for interrupted operations.

use std::ffi::CString;
use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::POINTERS;
use super::folder::{one_name, read_small, write_all};
use crate::ops::record::MAX_PATH;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::trouble::{Trouble, at};

/// Writes a pointer to a keeping folder, durably, unless it is there.
pub(in crate::ops) fn remember<H: Hook>(sys: &Sys<'_, H>, state: &Path, keep: &Path) -> Result<(), Trouble> {
    let folder = pointers(sys, state)?;
    let mut bytes = keep.as_os_str().as_bytes().to_vec();
    bytes.push(b'\n');
    let mut name = String::new();
    for byte in Sha256::digest(keep.as_os_str().as_bytes()).iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    let path = state.join(POINTERS).join(&name);
    let failed = at("remember the keeping folder in", &path);
    let (Ok(new), Ok(name)) = (CString::new(format!(".{name}")), CString::new(name)) else {
        return Err(failed(Errno::INVAL));
    };
    if read_small(sys, &folder, &name, MAX_PATH as u64 + 2)
        .is_ok_and(|there| there.as_deref() == Some(bytes.as_slice()))
    {
        return Ok(());
    }
    match sys.unlink(&folder, &new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(failed(error)),
    }
    let written = sys.create(&folder, &new).and_then(|file| {
        write_all(sys, &file, &bytes, 0)?;
        sys.flush(&file)?;
        sys.rename(&folder, &new, &folder, &name)?;
        sys.flush(&folder)
    });
    written.map_err(|error| {
        let _ = sys.unlink(&folder, &new, AtFlags::empty());
        failed(error)
    })
}

/// Opens the folder of the pointers, and makes what is missing of the path to it. Links on the way are followed, since
/// home folders have them, and this folder is the user's own.
fn pointers<H: Hook>(sys: &Sys<'_, H>, state: &Path) -> Result<OwnedFd, Trouble> {
    let mut missing = vec![std::ffi::OsStr::new(POINTERS)];
    let mut there = state;
    let real = loop {
        match sys.resolve(there) {
            Ok(real) => break real,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(at("open", there)(error)),
        }
        let (Some(above), Some(name)) = (there.parent(), there.file_name()) else {
            return Err(at("open", there)(Errno::NOENT));
        };
        missing.push(name);
        there = above;
    };
    let mut folder = sys.direct(&real).map_err(at("open", &real))?;
    let mut path = real;
    for name in missing.into_iter().rev() {
        path.push(name);
        let name = one_name(name).ok_or_else(|| at("make", &path)(Errno::INVAL))?;
        match sys.mkdir(&folder, &name) {
            Ok(()) => sys.flush(&folder).map_err(at("make durable", &path))?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(at("make", &path)(error)),
        }
        folder = sys.open(&folder, &name, OFlags::RDONLY | OFlags::DIRECTORY).map_err(at("open", &path))?;
    }
    Ok(folder)
}
