//! The proof that a part is its source, except in what was meant.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FileType, OFlags, fadvise};
use rustix::io::Errno;

use super::dress::own_mode_of_stage;
use super::part::{Part, Source, failure, said};
use crate::model::Cancel;
use crate::ops::compare::{Comparison, Difference, Kind, Pair, compare_but};
use crate::ops::tree::calls::{Direct, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::tree::{Loss, Lost, MAX_DEPTH};
use crate::ops::{Act, Cause, Failure};

const BUFFER: usize = 256 << 10;

/// Reads everything again.
pub(super) fn prove(part: &Part<'_>, cancel: &Cancel) -> Result<Comparison, Failure> {
    let proof = match &part.source {
        Source::Folder { root, items } => {
            let stage = part.to.file_name().unwrap_or_default();
            let pair = Pair { source: root, items, parent: &part.parent, stage };
            let mut moded = None;
            compare_but(&pair, cancel, &mut |difference| meant(part, difference, &mut moded))
        }
        Source::Archive { archive, members } => {
            let written = |below: &Path| part.written.contains_key(below);
            crate::ops::unpack::prove(archive, members, &part.parent, part.to, &written, cancel)?
        }
    };
    let unproved = |path: &Path, why: String| failure(Act::Compare, path, Cause::Differs(why));
    if cancel.cancelled() || proof.cancelled {
        return Err(failure(Act::Compare, part.to, Cause::Cancelled));
    }
    if let Some(difference) = proof.differences.iter().find(|difference| !lost(part, difference)) {
        return Err(unproved(&difference.path, difference.to_string()));
    }
    // More than can be listed is more than can be explained.
    if proof.more > 0 {
        return Err(unproved(part.to, format!("{} things differ", proof.more)));
    }
    let sys = Sys::new(&Direct, &part.parent);
    for (below, bytes) in &part.written {
        holds(&sys, part, below, bytes)?;
    }
    if !part.dressed.is_empty() {
        let mut walk =
            Walk { sys: &sys, part, path: PathBuf::new(), stage: own_mode_of_stage(&sys, part, Path::new(""))? };
        walk.entry(part.parent.as_fd(), &part.name)?;
    }
    Ok(proof)
}

/// True for a difference that follows from what was written or from how it was dressed.
fn meant(part: &Part<'_>, difference: &Difference, moded: &mut Option<PathBuf>) -> bool {
    let path = &difference.path;
    let written = part.written.contains_key(path);
    match &difference.kind {
        Kind::Size { .. } | Kind::Bytes { .. } => written,
        Kind::Modified { .. } => written || part.added.iter().any(|added| added.parent() == Some(path)),
        Kind::Extra => part.added.contains(path),
        Kind::Owner { stage, .. } => part
            .dressed
            .iter()
            .rev()
            .find(|dressed| path.starts_with(&dressed.below))
            .is_some_and(|d| d.may_own(*stage)),
        Kind::Mode { source, stage } => {
            let dropped = part.copied.lost.iter().find_map(|loss| match loss.lost {
                Lost::Mode { is, .. } if loss.path == *path => Some(is),
                _ => None,
            });
            let has = dropped.unwrap_or(*source);
            let as_folder = wanted(part, path, true, has);
            let as_file = wanted(part, path, false, has);
            // Which of the two it is, the walk over what was dressed knows.
            let yes = as_folder == Some(*stage) || as_file == Some(*stage);
            if yes {
                *moded = Some(path.clone());
            }
            yes
        }
        // An access list holds the owner's rights once more.
        Kind::Attribute(name) => name == b"system.posix_acl_access" && moded.as_ref() == Some(path),
        _ => false,
    }
}

/// The mode that follows from all that was done; none where nothing was.
fn wanted(part: &Part<'_>, path: &Path, folder: bool, has: u32) -> Option<u32> {
    let mut dressed = part.dressed.iter().filter(|dressed| path.starts_with(&dressed.below)).peekable();
    dressed.peek()?;
    Some(dressed.fold(has, |mode, dressed| dressed.mode(folder, mode)))
}

/// True for a difference that the copier had said.
fn lost(part: &Part<'_>, difference: &Difference) -> bool {
    let copied = &part.copied;
    // Beyond what is listed, the same attribute is what could not be kept of one file or the other.
    let listed = |name: &Vec<u8>| {
        copied.lost_more > 0
            && copied.lost.iter().any(|loss| matches!(&loss.lost, Lost::Attribute(lost) if lost == name))
    };
    copied.lost.iter().any(|loss| explains(loss, difference))
        || matches!(&difference.kind, Kind::Attribute(name) if listed(name))
}

fn explains(loss: &Loss, difference: &Difference) -> bool {
    loss.path == difference.path
        && match (&loss.lost, &difference.kind) {
            (Lost::Owner { user, group }, Kind::Owner { source, .. }) => (*user, *group) == *source,
            (Lost::Mode { was, is }, Kind::Mode { source, stage }) => (was, is) == (source, stage),
            (Lost::Attribute(lost), Kind::Attribute(differs)) => lost == differs,
            _ => false,
        }
}

/// That a file holds these bytes and no others, as they are on the disk.
fn holds(sys: &Sys<'_, Direct>, part: &Part<'_>, below: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let path = part.to.join(below);
    let failed = said(Act::Compare, &path);
    let (folder, name) = part.entry(sys, below)?;
    let file = sys.open(&folder, &name, OFlags::RDONLY).map_err(&failed)?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(&failed)?;
    let mut room = vec![0; BUFFER];
    let mut left = bytes;
    loop {
        let at = (bytes.len() - left.len()) as u64;
        let read = sys.read(&file, &mut room, at).map_err(&failed)?;
        let (there, _) = room.split_at(read.min(room.len()));
        let (first, rest) = left.split_at(read.min(left.len()));
        if there != first {
            let why = format!("it does not hold what was written, from byte {at} on");
            return Err(failure(Act::Compare, &path, Cause::Differs(why)));
        }
        if read == 0 {
            break;
        }
        left = rest;
    }
    if left.is_empty() {
        return Ok(());
    }
    Err(failure(Act::Compare, &path, Cause::Differs("it is shorter than what was written".to_owned())))
}

/// Looks at everything that was dressed once more: a file system may say yes to a change and make none.
struct Walk<'a, 's> {
    sys: &'s Sys<'s, Direct>,
    part: &'a Part<'a>,
    path: PathBuf,
    /// The mode that the stage itself had in the source.
    stage: Option<u32>,
}

impl Walk<'_, '_> {
    fn entry(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Failure> {
        let path = self.part.to.join(&self.path);
        let seen = Seen::from(self.sys.stat_at(folder, name).map_err(said(Act::Compare, &path))?);
        self.one(&path, &seen)?;
        if seen.kind() != FileType::Directory {
            return Ok(());
        }
        if self.path.iter().count() > MAX_DEPTH + 1 {
            return Err(said(Act::Compare, &path)(Errno::NAMETOOLONG));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let inside = self.sys.open(folder, name, flags).map_err(said(Act::Compare, &path))?;
        for name in crate::ops::remove::names(self.sys, &inside).map_err(said(Act::Compare, &path))? {
            self.path.push(OsStr::from_bytes(name.to_bytes()));
            self.entry(inside.as_fd(), &name)?;
            self.path.pop();
        }
        Ok(())
    }

    fn one(&self, path: &Path, seen: &Seen) -> Result<(), Failure> {
        let unproved = |why: String| failure(Act::Compare, path, Cause::Differs(why));
        let below = &self.path;
        let Some(last) = self.part.dressed.iter().rev().find(|dressed| below.starts_with(&dressed.below)) else {
            return Ok(());
        };
        if !last.may_own((seen.user, seen.group)) {
            let ((user, group), is) = (last.owner, (seen.user, seen.group));
            return Err(unproved(format!("it belongs to {}:{} instead of {user}:{group}", is.0, is.1)));
        }
        if seen.kind() == FileType::Symlink {
            return Ok(());
        }
        let folder = seen.kind() == FileType::Directory;
        let has = self.stage.filter(|_| below.as_os_str().is_empty()).unwrap_or_else(|| seen.mode());
        match wanted(self.part, below, folder, has) {
            Some(mode) if mode != seen.mode() => {
                Err(unproved(format!("it has mode {:04o} instead of {mode:04o}", seen.mode())))
            }
            _ => Ok(()),
        }
    }
}
