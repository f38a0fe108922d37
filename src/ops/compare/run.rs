//! The walk over both trees at once.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::contents::{Contents, Room, contents, holes};
use super::{Comparison, Difference, Kind, LISTED, Pair, disk};
use crate::model::Cancel;
use crate::ops::Side;

/// Deeper folders are not compared but called unreadable; a stage never holds any.
const DEEPEST: usize = 200;

type Id = (u64, u64);

struct Comparer<'a> {
    found: Comparison,
    path: PathBuf,
    room: Room,
    /// Which file of the stage belongs to a file of the source, and the other way round, for files with several names.
    by_source: HashMap<Id, Id>,
    by_stage: HashMap<Id, Id>,
    cancel: &'a Cancel,
    /// Says yes to a difference that is meant.
    meant: &'a mut dyn FnMut(&Difference) -> bool,
}

pub(super) fn compare(pair: &Pair<'_>, cancel: &Cancel) -> Comparison {
    compare_but(pair, cancel, &mut |_| false)
}

pub(super) fn compare_but(pair: &Pair<'_>, cancel: &Cancel, meant: &mut dyn FnMut(&Difference) -> bool) -> Comparison {
    let mut comparer = Comparer {
        found: Comparison::default(),
        path: PathBuf::new(),
        room: Room::default(),
        by_source: HashMap::new(),
        by_stage: HashMap::new(),
        cancel,
        meant,
    };
    comparer.all(pair);
    comparer.found.cancelled = cancel.cancelled();
    comparer.found
}

impl Comparer<'_> {
    fn all(&mut self, pair: &Pair<'_>) {
        let stage = CString::new(pair.stage.as_bytes()).map_err(|_| Errno::INVAL);
        let stage = match stage.and_then(|name| disk::open(pair.parent, &name, true)) {
            Ok(stage) => stage,
            Err(error) => return self.unreadable(Side::Stage, error),
        };
        for item in pair.items {
            match CString::new(item.as_bytes()) {
                Ok(name) => self.entry(pair.source.as_fd(), stage.as_fd(), &name),
                Err(_) => self.unreadable(Side::Source, Errno::INVAL),
            }
        }
        self.extra(&stage, |name| Ok(pair.items.iter().any(|item| item.as_bytes() == name.to_bytes())));
    }

    fn differ(&mut self, kind: Kind) {
        let difference = Difference { path: self.path.clone(), kind };
        if (self.meant)(&difference) {
            return;
        }
        if self.found.differences.len() < LISTED {
            self.found.differences.push(difference);
        } else {
            self.found.more += 1;
        }
    }

    fn unreadable(&mut self, side: Side, error: Errno) {
        self.differ(Kind::Unreadable { side, error: error.into() });
    }

    /// The value, or none and a difference that says so.
    fn readable<T>(&mut self, side: Side, result: Result<T, Errno>) -> Option<T> {
        result.map_err(|error| self.unreadable(side, error)).ok()
    }

    fn entry(&mut self, source: BorrowedFd<'_>, stage: BorrowedFd<'_>, name: &CStr) {
        if self.cancel.cancelled() {
            return;
        }
        self.path.push(OsStr::from_bytes(name.to_bytes()));
        let left = self.readable(Side::Source, disk::look(source, name));
        let right = self.readable(Side::Stage, disk::look(stage, name));
        match (left, right) {
            (Some(Some(left)), Some(Some(right))) => self.both((source, &left), (stage, &right), name),
            (Some(Some(_)), Some(None)) => self.differ(Kind::Missing),
            (Some(None), Some(Some(_))) => self.differ(Kind::Extra),
            (Some(None), Some(None)) => self.unreadable(Side::Source, Errno::NOENT),
            _ => {}
        }
        self.path.pop();
    }

    fn both(&mut self, source: (BorrowedFd<'_>, &Stat), stage: (BorrowedFd<'_>, &Stat), name: &CStr) {
        let kind = disk::kind(source.1);
        if kind != disk::kind(stage.1) {
            return self.differ(Kind::Type);
        }
        self.looks(source.1, stage.1);
        match kind {
            FileType::Symlink => {
                self.found.links += 1;
                let left = self.readable(Side::Source, disk::target(source.0, name));
                let right = self.readable(Side::Stage, disk::target(stage.0, name));
                if let (Some(left), Some(right)) = (left, right)
                    && left != right
                {
                    self.differ(Kind::Target);
                }
            }
            FileType::RegularFile | FileType::Directory => {
                let folder = kind == FileType::Directory;
                let left = self.readable(Side::Source, disk::open(source.0, name, folder));
                let right = self.readable(Side::Stage, disk::open(stage.0, name, folder));
                let (Some(left), Some(right)) = (left, right) else { return };
                self.attributes(&left, &right);
                if folder {
                    self.folder(&left, &right);
                } else {
                    self.file((&left, source.1), (&right, stage.1));
                }
            }
            _ => self.differ(Kind::Special),
        }
    }

    /// What `stat` tells, for everything but the bytes.
    fn looks(&mut self, left: &Stat, right: &Stat) {
        let (source, stage) = (left.st_mode & 0o7777, right.st_mode & 0o7777);
        if source != stage {
            self.differ(Kind::Mode { source, stage });
        }
        let (source, stage) = ((left.st_uid, left.st_gid), (right.st_uid, right.st_gid));
        if source != stage {
            self.differ(Kind::Owner { source, stage });
        }
        let (source, stage) = (modified(left), modified(right));
        if source != stage {
            self.differ(Kind::Modified { source, stage });
        }
    }

    fn attributes(&mut self, left: &OwnedFd, right: &OwnedFd) {
        let left = self.readable(Side::Source, disk::attributes(left));
        let right = self.readable(Side::Stage, disk::attributes(right));
        let (Some(left), Some(mut right)) = (left, right) else { return };
        for (name, value) in left {
            if right.remove(&name) != Some(value) {
                self.differ(Kind::Attribute(name));
            }
        }
        for name in right.into_keys() {
            self.differ(Kind::Attribute(name));
        }
    }

    fn file(&mut self, source: (&OwnedFd, &Stat), stage: (&OwnedFd, &Stat)) {
        self.found.files += 1;
        if !self.same_names(source.1, stage.1) {
            self.differ(Kind::Names);
        }
        let sizes = (size(source.1), size(stage.1));
        self.holes(source, stage, sizes);
        if sizes.0 != sizes.1 {
            return self.differ(Kind::Size { source: sizes.0, stage: sizes.1 });
        }
        match contents(source.0, stage.0, &mut self.room, self.cancel) {
            Ok(Contents::Equal(bytes)) => {
                self.found.bytes += bytes;
                // Both may have grown by the same bytes meanwhile; what was proved is not what was copied then.
                if bytes != sizes.0 {
                    self.differ(Kind::Size { source: bytes, stage: sizes.1 });
                }
            }
            Ok(Contents::DifferAt(at)) => self.differ(Kind::Bytes { at }),
            Ok(Contents::Cancelled) => {}
            Err((side, error)) => self.unreadable(side, error),
        }
    }

    /// True when the names of the stage that are one file are those that are one file in the source.
    fn same_names(&mut self, left: &Stat, right: &Stat) -> bool {
        let (source, stage) = (id(left), id(right));
        let known = self.by_source.get(&source).copied().or_else(|| self.by_stage.get(&stage).map(|_| stage));
        if known.is_some() {
            return self.by_source.get(&source) == Some(&stage) && self.by_stage.get(&stage) == Some(&source);
        }
        if left.st_nlink > 1 || right.st_nlink > 1 {
            self.by_source.insert(source, stage);
            self.by_stage.insert(stage, source);
        }
        true
    }

    fn holes(&mut self, source: (&OwnedFd, &Stat), stage: (&OwnedFd, &Stat), sizes: (u64, u64)) {
        let sparse = |stat: &Stat, size| u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512) < size;
        if !sparse(source.1, sizes.0) && !sparse(stage.1, sizes.1) {
            return;
        }
        let (left, right) = (holes(source.0, sizes.0), holes(stage.0, sizes.1));
        self.found.holes.source += left;
        self.found.holes.stage += right;
        if right < left && self.found.filled.len() < LISTED {
            self.found.filled.push(self.path.clone());
        }
    }

    fn folder(&mut self, left: &OwnedFd, right: &OwnedFd) {
        self.found.folders += 1;
        if self.path.iter().count() > DEEPEST {
            return self.unreadable(Side::Source, Errno::NAMETOOLONG);
        }
        let Some(names) = self.readable(Side::Source, disk::names(left)) else { return };
        for name in names {
            match name {
                Ok(name) => self.entry(left.as_fd(), right.as_fd(), &name),
                Err(error) => return self.unreadable(Side::Source, error),
            }
        }
        self.extra(right, |name| disk::look(left, name).map(|there| there.is_some()));
    }

    /// Says which names of a folder of the stage the source does not have.
    fn extra(&mut self, folder: &OwnedFd, wanted: impl Fn(&CStr) -> Result<bool, Errno>) {
        let Some(names) = self.readable(Side::Stage, disk::names(folder)) else { return };
        for name in names {
            if self.cancel.cancelled() {
                return;
            }
            let (side, extra) = match &name {
                Ok(name) => (Side::Source, wanted(name).map(|wanted| !wanted)),
                Err(error) => (Side::Stage, Err(*error)),
            };
            let name = name.unwrap_or_default();
            self.path.push(OsStr::from_bytes(name.to_bytes()));
            match extra {
                Ok(true) => self.differ(Kind::Extra),
                Ok(false) => {}
                Err(error) => self.unreadable(side, error),
            }
            self.path.pop();
        }
    }
}

#[allow(clippy::useless_conversion, reason = "the widths of these fields differ between machines")]
fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or(0))
}

#[allow(clippy::useless_conversion, reason = "the widths of these fields differ between machines")]
fn id(stat: &Stat) -> Id {
    (stat.st_dev.into(), stat.st_ino.into())
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}
