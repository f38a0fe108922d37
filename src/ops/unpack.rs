//! Puts members of an archive into a stage.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::tree::{Copied, Progress};
use super::{Act, Cause, Failure, Root, Side, State};
use crate::model::Cancel;

/// Unpacks these members into the new folder `stage` of `parent`; the result is complete and durable, or it is an error and
/// removed again.
pub fn unpack(
    archive: &Path,
    _members: &[(PathBuf, PathBuf)],
    _parent: &Root,
    _stage: &OsStr,
    _cancel: &Cancel,
    _progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Copied, Failure> {
    Err(Failure {
        act: Act::Open,
        side: Side::Source,
        path: archive.to_path_buf(),
        cause: Cause::Platform,
        state: State::NothingMade,
    })
}
