//! The proof that what was unpacked is what the archive holds.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, OsStr};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FileType, OFlags, fadvise};
use rustix::io::Errno;

use super::wanted::{Opened, open};
use crate::model::Cancel;
use crate::ops::compare::{Comparison, Difference, Kind, LISTED};
use crate::ops::keep::one_name;
use crate::ops::tree::MAX_DEPTH;
use crate::ops::tree::calls::{Direct, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::{Act, Cause, Failure, Root, Side, State};

const BUFFER: usize = 64 << 10;

/// Reads the archive a second time and holds everything in `stage` against it: that each member is there with its bytes as
/// they are on the disk, and that nothing else is. Files that are `written` are looked at elsewhere.
pub(in crate::ops) fn prove(
    archive: &Path,
    members: &[(PathBuf, PathBuf)],
    parent: &Root,
    stage: &Path,
    written: &dyn Fn(&Path) -> bool,
    cancel: &Cancel,
) -> Result<Comparison, Failure> {
    let failure = |side, path: &Path, cause| Failure {
        act: Act::Compare,
        side,
        path: path.to_path_buf(),
        cause,
        state: State::NothingMade,
    };
    let opened = open(archive, members, cancel).map_err(|cause| failure(Side::Source, archive, cause))?;
    let name = stage.file_name().and_then(one_name);
    let name = name.ok_or_else(|| failure(Side::Stage, stage, Cause::OddName))?;
    let wanted: BTreeMap<&Path, usize> =
        members.iter().enumerate().map(|(n, (_, below))| (below.as_path(), n)).collect();
    let folders = wanted.keys().flat_map(|below| below.ancestors().skip(1)).collect();
    let sys = Sys::new(&Direct, parent);
    let mut prover = Prover {
        sys: &sys,
        opened: &opened,
        members,
        wanted,
        folders,
        seen: BTreeSet::new(),
        written,
        cancel,
        path: PathBuf::new(),
        found: Comparison::default(),
    };
    if let Err(error) = prover.entry(parent.as_fd(), &name) {
        prover.differ(Kind::Unreadable { side: Side::Stage, error: error.into() });
    }
    for (_, below) in members {
        if !prover.seen.contains(below) {
            prover.path.clone_from(below);
            prover.differ(Kind::Missing);
        }
    }
    prover.found.cancelled = cancel.cancelled();
    Ok(prover.found)
}

struct Prover<'a> {
    sys: &'a Sys<'a, Direct>,
    opened: &'a Opened,
    members: &'a [(PathBuf, PathBuf)],
    wanted: BTreeMap<&'a Path, usize>,
    folders: BTreeSet<&'a Path>,
    seen: BTreeSet<PathBuf>,
    written: &'a dyn Fn(&Path) -> bool,
    cancel: &'a Cancel,
    /// Below the stage.
    path: PathBuf,
    found: Comparison,
}

impl Prover<'_> {
    fn differ(&mut self, kind: Kind) {
        if self.found.differences.len() < LISTED {
            self.found.differences.push(Difference { path: self.path.clone(), kind });
        } else {
            self.found.more += 1;
        }
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        if self.cancel.cancelled() {
            return Ok(());
        }
        let stat = Seen::from(self.sys.stat_at(folder, name)?);
        let member = self.wanted.get(self.path.as_path()).copied();
        match stat.kind() {
            FileType::Directory if self.path.iter().count() <= MAX_DEPTH => {
                if !self.folders.contains(self.path.as_path()) {
                    self.differ(Kind::Extra);
                    return Ok(());
                }
                self.found.folders += u64::from(!self.path.as_os_str().is_empty());
                let inside = self.sys.open(folder, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
                for name in crate::ops::remove::names(self.sys, &inside)? {
                    self.path.push(OsStr::from_bytes(name.to_bytes()));
                    self.entry(inside.as_fd(), &name)?;
                    self.path.pop();
                }
            }
            FileType::RegularFile => {
                self.seen.insert(self.path.clone());
                match member {
                    _ if (self.written)(&self.path) => {}
                    None => self.differ(Kind::Extra),
                    Some(member) => self.file(folder, name, member, &stat)?,
                }
            }
            _ => self.differ(Kind::Type),
        }
        Ok(())
    }

    fn file(&mut self, folder: BorrowedFd<'_>, name: &CStr, member: usize, stat: &Seen) -> Result<(), Errno> {
        let Some(((place, _), size)) = self.members.get(member).zip(self.opened.sizes.get(member)) else {
            return Err(Errno::INVAL);
        };
        if stat.size != *size {
            self.differ(Kind::Size { source: *size, stage: stat.size });
            return Ok(());
        }
        let file = self.sys.open(folder, name, OFlags::RDONLY)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        self.found.files += 1;
        let unreadable = |error: std::io::Error| Kind::Unreadable { side: Side::Source, error };
        let mut reader = match self.opened.store.open(place) {
            Ok(reader) => reader,
            Err(error) => {
                self.differ(unreadable(std::io::Error::other(error.to_string())));
                return Ok(());
            }
        };
        let (mut left, mut right) = (vec![0; BUFFER], vec![0; BUFFER]);
        let mut at = 0_u64;
        loop {
            if self.cancel.cancelled() {
                return Ok(());
            }
            let read = match reader.read(&mut left) {
                Ok(read) => read.min(BUFFER),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.differ(unreadable(error));
                    return Ok(());
                }
            };
            let (wanted, _) = left.split_at(read);
            let mut filled = 0;
            while filled < read {
                let (_, room) = right.split_at_mut(filled);
                let (room, _) = room.split_at_mut(read - filled);
                match self.sys.read(&file, room, at + filled as u64)? {
                    0 => break,
                    more => filled += more,
                }
            }
            let (there, _) = right.split_at(filled);
            if wanted != there {
                let same = wanted.iter().zip(there).take_while(|(a, b)| a == b).count();
                self.differ(Kind::Bytes { at: at + same as u64 });
                return Ok(());
            }
            if read == 0 {
                break;
            }
            at += read as u64;
            self.found.bytes += read as u64;
        }
        // The size was looked at before; what is read to the end of the archive's file is all of it.
        if at != *size {
            self.differ(Kind::Size { source: at, stage: *size });
        }
        Ok(())
    }
}
