//! Owners and modes for what is staged.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::durable::Durable;
use super::part::{Part, Source, failure, said};
use crate::model::Cancel;
use crate::model::plan::Rights;
use crate::ops::keep::one_name;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::tree::{LISTED_LOSSES, Loss, Lost, MAX_DEPTH};
use crate::ops::{Act, Cause, Failure, Root};

/// What the owner of a file, and of a folder, has to be able to do with it.
const OWNER_OF_FILE: u32 = 0o600;
const OWNER_OF_FOLDER: u32 = 0o700;
/// Set-user-id, set-group-id and the sticky bit.
const SPECIAL: u32 = 0o7000;
const SET_GROUP: u32 = 0o2000;

/// How a part, or something in it, was dressed.
#[derive(Clone, Debug)]
pub(super) struct Dressed {
    /// Below the part.
    pub(super) below: PathBuf,
    pub(super) owner: (u32, u32),
    pub(super) modes: Modes,
    /// True when somewhere the system did not let us set the user, or the group.
    pub(super) lost: (bool, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modes {
    /// Each keeps its own.
    Own,
    /// All folders get the one, all files the other.
    Of { folder: u32, file: u32 },
}

impl Dressed {
    /// The mode that something gets that has this one.
    pub(super) fn mode(&self, folder: bool, has: u32) -> u32 {
        match (self.modes, folder) {
            (Modes::Own, true) => has | OWNER_OF_FOLDER,
            // No save needs a program that runs as somebody else.
            (Modes::Own, false) => (has & !SPECIAL) | OWNER_OF_FILE,
            (Modes::Of { folder, .. }, true) => (folder & (0o777 | SET_GROUP)) | OWNER_OF_FOLDER,
            (Modes::Of { file, .. }, false) => (file & 0o666) | OWNER_OF_FILE,
        }
    }

    /// True for an owner that something dressed like this may have.
    pub(super) fn may_own(&self, owner: (u32, u32)) -> bool {
        let user = owner.0 == self.owner.0 || (self.lost.0 && owner.0 == geteuid().as_raw());
        user && (owner.1 == self.owner.1 || self.lost.1)
    }
}

/// What is taken as the pattern: its owner, the mode for folders, which is that of it or of the folder that holds it, and the
/// mode for files, which is its own.
fn pattern<H: Hook>(sys: &Sys<'_, H>, like: &Path) -> Result<((u32, u32), Modes), Failure> {
    let (Some(parent), Some(name)) = (like.parent(), like.file_name().and_then(one_name)) else {
        return Err(failure(Act::Look, like, Cause::OddName));
    };
    let parent = Root::open(parent)?;
    let seen = Seen::from(sys.stat_at(&parent, &name).map_err(said(Act::Look, like))?);
    let folder = match seen.kind() {
        FileType::Directory => seen,
        FileType::RegularFile => Seen::from(sys.stat(&parent).map_err(said(Act::Look, like))?),
        _ => return Err(failure(Act::Look, like, Cause::Special("thing that is neither a file nor a folder"))),
    };
    Ok(((seen.user, seen.group), Modes::Of { folder: folder.mode(), file: seen.mode() }))
}

/// Dresses something of a part with everything in it, durably.
pub(super) fn dress<H: Hook>(
    sys: &Sys<'_, H>,
    part: &mut Part<'_>,
    below: &Path,
    like: &Path,
    rights: Rights,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let (owner, like) = pattern(sys, like)?;
    let modes = if rights == Rights::Like { like } else { Modes::Own };
    let dressed = Dressed { below: below.to_path_buf(), owner, modes, lost: (false, false) };
    let (folder, name) = part.entry(sys, below)?;
    // What copying could not keep of the owner does not matter any more; what it gets now does.
    part.copied.lost.retain(|loss| !(matches!(loss.lost, Lost::Owner { .. }) && loss.path.starts_with(below)));
    let durable = Durable::new(sys, &part.parent).map_err(said(Act::Open, part.to))?;
    let mut dresser = Dresser {
        sys,
        durable,
        stage: part.to,
        path: below.to_path_buf(),
        dressed,
        own_mode: own_mode_of_stage(sys, part, below)?,
        losses: Vec::new(),
        more: 0,
        cancel,
    };
    dresser.entry(folder.as_fd(), &name)?;
    dresser.durable.all().map_err(said(Act::Flush, part.to))?;
    let Dresser { dressed, losses, more, .. } = dresser;
    let room = LISTED_LOSSES.saturating_sub(part.copied.lost.len());
    part.copied.lost_more += more + losses.len().saturating_sub(room) as u64;
    part.copied.lost.extend(losses.into_iter().take(room));
    part.dressed.push(dressed);
    Ok(())
}

/// The mode of a stage that stands for the folder whose files were copied into it: that folder's. The copier makes it with
/// one that lets nobody else in.
pub(super) fn own_mode_of_stage<H: Hook>(
    sys: &Sys<'_, H>,
    part: &Part<'_>,
    below: &Path,
) -> Result<Option<u32>, Failure> {
    match &part.source {
        Source::Folder { root, .. } if below.as_os_str().is_empty() => {
            let seen = Seen::from(sys.stat(root).map_err(said(Act::Look, root.path()))?);
            Ok(Some(seen.mode() & (0o777 | SET_GROUP)))
        }
        _ => Ok(None),
    }
}

struct Dresser<'a, 's, 'h, H> {
    sys: &'s Sys<'h, H>,
    durable: Durable<'s, 'h, H>,
    stage: &'a Path,
    /// Below the stage.
    path: PathBuf,
    dressed: Dressed,
    /// For the stage itself, where it is not what it has.
    own_mode: Option<u32>,
    losses: Vec<Loss>,
    more: u64,
    cancel: &'a Cancel,
}

impl<H: Hook> Dresser<'_, '_, '_, H> {
    fn said(&self, act: Act) -> impl Fn(Errno) -> Failure + use<H> {
        said(act, &self.stage.join(&self.path))
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Failure> {
        if self.cancel.cancelled() {
            return Err(failure(Act::Dress, &self.stage.join(&self.path), Cause::Cancelled));
        }
        let seen = Seen::from(self.sys.stat_at(folder, name).map_err(self.said(Act::Look))?);
        match seen.kind() {
            FileType::Symlink => self.link(folder, name, &seen),
            FileType::RegularFile => {
                let file = self.sys.open(folder, name, OFlags::RDONLY).map_err(self.said(Act::Open))?;
                self.one(&file, &seen)
            }
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let inside = self.sys.open(folder, name, flags).map_err(self.said(Act::Open))?;
                if self.path.iter().count() > MAX_DEPTH + 1 {
                    return Err(failure(Act::Open, &self.stage.join(&self.path), Cause::TooDeep));
                }
                for name in crate::ops::remove::names(self.sys, &inside).map_err(self.said(Act::List))? {
                    self.path.push(OsStr::from_bytes(name.to_bytes()));
                    self.entry(inside.as_fd(), &name)?;
                    self.path.pop();
                }
                self.one(&inside, &seen)
            }
            _ => Err(failure(Act::Open, &self.stage.join(&self.path), Cause::Special("thing that was not made here"))),
        }
    }

    fn link(&mut self, folder: BorrowedFd<'_>, name: &CStr, seen: &Seen) -> Result<(), Failure> {
        if (seen.user, seen.group) == self.dressed.owner {
            return Ok(());
        }
        let sys = self.sys;
        self.own(|user, group| sys.chown_at(folder, name, user, group))?;
        // A link has no file of its own that could be made durable; what holds it does.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let holds = self.sys.open(folder, c".", flags).map_err(self.said(Act::Open))?;
        self.durable.finished(&holds, 0).map_err(self.said(Act::Flush))
    }

    fn one(&mut self, file: &OwnedFd, listed: &Seen) -> Result<(), Failure> {
        let seen = Seen::from(self.sys.stat(file).map_err(self.said(Act::Look))?);
        if seen.id() != listed.id() {
            return Err(failure(Act::Open, &self.stage.join(&self.path), Cause::Changed));
        }
        let folder = seen.kind() == FileType::Directory;
        let has = self.own_mode.filter(|_| self.path.as_os_str().is_empty()).unwrap_or_else(|| seen.mode());
        let wanted = self.dressed.mode(folder, has);
        let same_owner = (seen.user, seen.group) == self.dressed.owner;
        if same_owner && wanted == seen.mode() {
            return Ok(());
        }
        if !same_owner {
            let sys = self.sys;
            self.own(|user, group| sys.chown(file, user, group))?;
        }
        // A change of the owner takes bits away.
        self.sys.chmod(file, wanted).map_err(self.said(Act::Dress))?;
        self.durable.finished(file, 0).map_err(self.said(Act::Flush))
    }

    /// Sets as much of the owner as the system lets us.
    fn own(&mut self, set: impl Fn(Option<u32>, Option<u32>) -> Result<(), Errno>) -> Result<(), Failure> {
        let (user, group) = self.dressed.owner;
        let lost = match set(Some(user), Some(group)) {
            Ok(()) => return Ok(()),
            // Only root gives files away; and a namespace may not know the user at all.
            Err(Errno::PERM | Errno::INVAL) => match set(None, Some(group)) {
                Ok(()) => (user != geteuid().as_raw(), false),
                Err(Errno::PERM | Errno::INVAL) => (user != geteuid().as_raw(), true),
                Err(error) => return Err(self.said(Act::Dress)(error)),
            },
            Err(error) => return Err(self.said(Act::Dress)(error)),
        };
        self.dressed.lost = (self.dressed.lost.0 || lost.0, self.dressed.lost.1 || lost.1);
        if self.losses.len() < LISTED_LOSSES {
            self.losses.push(Loss { path: self.path.clone(), lost: Lost::Owner { user, group } });
        } else {
            self.more += 1;
        }
        Ok(())
    }
}
