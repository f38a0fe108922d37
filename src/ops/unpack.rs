//! Puts members of an archive into a stage.
//!
//! The archive is read by [`crate::store`], which refuses one that holds a name that climbs, is absolute, names a drive or
//! a device, stands twice, or differs from another only in case; a link, a pipe or a device; or a promise over the ceilings.
//! Here only the listed members are read, their bytes are counted against what the archive says, and each is made by a
//! descriptor of the folder that holds it. Owner and mode come from elsewhere: nothing of what an archive says of them is
//! believed.

#[cfg(target_os = "linux")]
mod make;
#[cfg(target_os = "linux")]
mod proof;
#[cfg(target_os = "linux")]
mod wanted;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::tree::{Copied, Progress};
use super::{Failure, Root};
use crate::model::Cancel;

#[cfg(target_os = "linux")]
pub use make::unpack_with;
#[cfg(target_os = "linux")]
pub(super) use {make::discard_file, proof::prove, wanted::open};

/// Unpacks these members into the new folder `stage` of `parent`, or into one new file when the path of the only member is
/// empty; the result is complete and durable, or it is an error and removed again. Each member's bytes are those
/// that the archive's own checksum is of, where it has one.
#[cfg(target_os = "linux")]
pub fn unpack(
    archive: &Path,
    members: &[(PathBuf, PathBuf)],
    parent: &Root,
    stage: &OsStr,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Copied, Failure> {
    unpack_with(&super::tree::calls::Direct, archive, members, parent, stage, cancel, progress)
}

/// Nothing can be opened to be unpacked into on this system.
#[cfg(not(target_os = "linux"))]
pub fn unpack(
    _: &Path,
    _: &[(PathBuf, PathBuf)],
    parent: &Root,
    _: &OsStr,
    _: &Cancel,
    _: &mut dyn FnMut(Progress<'_>),
) -> Result<Copied, Failure> {
    match *parent {}
}
