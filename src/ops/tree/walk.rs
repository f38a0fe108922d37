//! The walk: which entry is what, and what becomes of it.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process::{Uid, geteuid};

use super::calls::{Direct, Hook, Sys, listing_buffer};
use super::flush::Flusher;
use super::seen::Seen;
use super::{Copied, LISTED_LOSSES, Loss, Lost, MAX_DEPTH, Order, Progress};
use crate::model::Cancel;
use crate::ops::{Act, Cause, Failure, Root, Side, State};

/// Why the walk stops; the path is where it stands.
pub(super) struct Stop {
    pub(super) act: Act,
    pub(super) side: Side,
    pub(super) cause: Cause,
}

/// For `map_err`: what the system said, put to an act on a side.
pub(super) fn said(act: Act, side: Side) -> impl Fn(Errno) -> Stop {
    move |error| {
        let cause = match (side, act, error) {
            // It was listed a moment ago.
            (Side::Source, _, Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::STALE) => Cause::Changed,
            (Side::Source, _, Errno::XDEV) => Cause::OtherFileSystem,
            (Side::Stage, Act::Make, Errno::EXIST) => Cause::NameTaken,
            _ => Cause::System(error.into()),
        };
        Stop { act, side, cause }
    }
}

pub(super) fn stop<T>(act: Act, side: Side, cause: Cause) -> Result<T, Stop> {
    Err(Stop { act, side, cause })
}

/// A copy in the making.
pub(super) struct Copier<'a, H> {
    pub(super) sys: Sys<'a, H>,
    pub(super) me: Uid,
    pub(super) done: Copied,
    pub(super) flusher: Flusher,
    /// Below the source, and below the stage as well.
    pub(super) path: PathBuf,
    /// For each file with several names: where its first copy lies, and what that is.
    pub(super) first_names: HashMap<(u64, u64), (PathBuf, (u64, u64))>,
    /// False once the file systems turned out not to have them.
    pub(super) can_clone: bool,
    pub(super) can_copy_range: bool,
    /// Made when first needed, and used for bytes and attributes.
    pub(super) buffer: Vec<u8>,
    stage: Option<OwnedFd>,
    cancel: &'a Cancel,
    progress: &'a mut dyn FnMut(Progress<'_>),
}

/// Copies as [`super::copy`] does, and asks a hook before each system call.
pub fn copy_with<H: Hook>(
    hook: &H,
    order: &Order<'_>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Copied, Failure> {
    let mut copier = Copier {
        sys: Sys::new(hook, order.parent),
        me: geteuid(),
        done: Copied::default(),
        flusher: Flusher::new(order.flush),
        path: PathBuf::new(),
        first_names: HashMap::new(),
        can_clone: true,
        can_copy_range: true,
        buffer: Vec::new(),
        stage: None,
        cancel,
        progress,
    };
    match copier.run(order) {
        Ok(()) => Ok(copier.done),
        Err(Stop { act, side, cause }) => {
            let state = discard_made(&copier.sys, &copier.done, order.parent, order.stage);
            let path = match (copier.path.as_os_str().is_empty(), side) {
                (false, _) => copier.path,
                (true, Side::Stage) => order.parent.path().join(order.stage),
                (true, Side::Source) => order.source.path().to_path_buf(),
            };
            Err(Failure { act, side, path, cause, state })
        }
    }
}

pub(super) fn discard_copied(copied: &Copied, parent: &Root, stage: &OsStr) -> State {
    discard_made(&Sys::new(&Direct, parent), copied, parent, stage)
}

fn discard_made<H: Hook>(sys: &Sys<'_, H>, copied: &Copied, parent: &Root, stage: &OsStr) -> State {
    if copied.made.stage_unopened {
        return State::Left { stage: parent.path().join(stage), things: 1 };
    }
    if copied.made.stage.is_none() {
        return State::NothingMade;
    }
    match super::discard::discard(sys, &copied.made, parent, stage) {
        0 => State::Removed,
        things => State::Left { stage: parent.path().join(stage), things },
    }
}

impl<H: Hook> Copier<'_, H> {
    fn run(&mut self, order: &Order<'_>) -> Result<(), Stop> {
        let stage_name = one_name(order.stage).ok_or(()).or_else(|()| stop(Act::Make, Side::Stage, Cause::OddName))?;
        for (n, item) in order.items.iter().enumerate() {
            if one_name(item).is_none() || order.items.iter().skip(n + 1).any(|other| other == item) {
                self.path.push(item);
                return stop(Act::Look, Side::Source, Cause::OddName);
            }
        }
        let stage = self.make_stage(order.parent, &stage_name)?;
        let stage = self.stage.insert(stage).try_clone().map_err(|error| Stop {
            act: Act::Open,
            side: Side::Stage,
            cause: Cause::System(error),
        })?;
        let device = Seen::from(self.sys.stat(order.source).map_err(said(Act::Look, Side::Source))?).device;
        for item in order.items {
            let Some(name) = one_name(item) else { continue };
            self.enter(order.source.as_fd(), stage.as_fd(), &name, device)?;
        }
        self.finish(stage.as_fd(), order.parent.as_fd())
    }

    /// Nobody but us can enter the stage until it is put in its place.
    fn make_stage(&mut self, parent: &Root, name: &CStr) -> Result<OwnedFd, Stop> {
        self.sys.mkdir(parent, name).map_err(said(Act::Make, Side::Stage))?;
        let opened = self.own_folder(parent.as_fd(), name);
        // It was removed when it could not be opened; whether it is gone is asked once.
        self.done.made.stage_unopened = opened.is_err() && !matches!(self.sys.stat_at(parent, name), Err(Errno::NOENT));
        let (folder, seen) = opened?;
        self.done.made.stage = Some(seen.id());
        self.flusher.set_up(&folder);
        Ok(folder)
    }

    /// Opens a folder that was just made, and removes it again when that fails, since it is not on the list yet.
    fn own_folder(&self, parent: BorrowedFd<'_>, name: &CStr) -> Result<(OwnedFd, Seen), Stop> {
        let opened = self.sys.open(parent, name, OFlags::RDONLY | OFlags::DIRECTORY).and_then(|folder| {
            let seen = Seen::from(self.sys.stat(&folder)?);
            Ok((folder, seen))
        });
        opened.map_err(|error| {
            let _ = self.sys.unlink(parent, name, AtFlags::REMOVEDIR);
            said(Act::Open, Side::Stage)(error)
        })
    }

    /// One entry of a folder; the path leads to it when that fails.
    fn enter(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr, device: u64) -> Result<(), Stop> {
        self.path.push(OsStr::from_bytes(name.to_bytes()));
        self.pause()?;
        let seen = Seen::from(self.sys.stat_at(from, name).map_err(said(Act::Look, Side::Source))?);
        match seen.kind() {
            FileType::RegularFile => self.file(from, to, name, &seen)?,
            FileType::Directory => self.folder(from, to, name, &seen, device)?,
            FileType::Symlink => self.link(from, to, name, &seen)?,
            other => return stop(Act::Open, Side::Source, Cause::Special(kind_word(other))),
        }
        self.report();
        self.path.pop();
        Ok(())
    }

    fn folder(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
        listed: &Seen,
        device: u64,
    ) -> Result<(), Stop> {
        if self.path.iter().count() > MAX_DEPTH {
            return stop(Act::Open, Side::Source, Cause::TooDeep);
        }
        let from_dir =
            self.sys.open(from, name, OFlags::RDONLY | OFlags::DIRECTORY).map_err(said(Act::Open, Side::Source))?;
        let before = Seen::from(self.sys.stat(&from_dir).map_err(said(Act::Look, Side::Source))?);
        if !listed.still(&before) {
            return stop(Act::Open, Side::Source, Cause::Changed);
        }
        if before.device != device {
            return stop(Act::Open, Side::Source, Cause::OtherFileSystem);
        }
        self.sys.mkdir(to, name).map_err(said(Act::Make, Side::Stage))?;
        let (to_dir, made) = self.own_folder(to, name)?;
        self.done.made.inside.insert(made.id());
        self.entries(&from_dir, to_dir.as_fd(), device)?;
        self.dress(&from_dir, &to_dir, &before, &made)?;
        let after = Seen::from(self.sys.stat(&from_dir).map_err(said(Act::Look, Side::Source))?);
        if !before.still(&after) {
            return stop(Act::List, Side::Source, Cause::Changed);
        }
        self.done.folders += 1;
        self.flush(to_dir.as_fd())
    }

    fn entries(&mut self, from: &OwnedFd, to: BorrowedFd<'_>, device: u64) -> Result<(), Stop> {
        let mut room = listing_buffer();
        let mut list = RawDir::new(from, &mut room);
        loop {
            let name = match self.sys.next_name(&mut list) {
                None => return Ok(()),
                Some(entry) => entry.map_err(said(Act::List, Side::Source))?.file_name().to_owned(),
            };
            if name.as_c_str() != c"." && name.as_c_str() != c".." {
                self.enter(from.as_fd(), to, &name, device)?;
            }
        }
    }

    fn link(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr, seen: &Seen) -> Result<(), Stop> {
        let target = self.sys.read_link(from, name).map_err(said(Act::Read, Side::Source))?;
        if !stays_inside(&target, self.path.iter().count()) {
            return stop(Act::Open, Side::Source, Cause::leads_out(&target));
        }
        self.sys.symlink(&target, to, name).map_err(said(Act::Make, Side::Stage))?;
        let made = self.own_entry(to, name)?;
        let mut owned = (seen.user, seen.group) == (made.user, made.group);
        if !owned {
            match self.sys.chown_at(to, name, Some(seen.user), Some(seen.group)) {
                Ok(()) => owned = true,
                Err(Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(said(Act::Dress, Side::Stage)(error)),
            }
        }
        if !owned {
            self.lose(Lost::Owner { user: seen.user, group: seen.group });
        }
        self.sys.set_times_at(to, name, &seen.times()).map_err(said(Act::Dress, Side::Stage))?;
        let after = Seen::from(self.sys.stat_at(from, name).map_err(said(Act::Look, Side::Source))?);
        if !seen.still(&after) {
            return stop(Act::Read, Side::Source, Cause::Changed);
        }
        self.done.links += 1;
        Ok(())
    }

    /// Puts a link that was just made on the list, or removes it again.
    fn own_entry(&mut self, to: BorrowedFd<'_>, name: &CStr) -> Result<Seen, Stop> {
        match self.sys.stat_at(to, name) {
            Ok(stat) => {
                let seen = Seen::from(stat);
                self.done.made.inside.insert(seen.id());
                Ok(seen)
            }
            Err(error) => {
                let _ = self.sys.unlink(to, name, AtFlags::empty());
                Err(said(Act::Look, Side::Stage)(error))
            }
        }
    }

    /// A further name of a file that is already copied.
    pub(super) fn second_name(
        &mut self,
        to: BorrowedFd<'_>,
        name: &CStr,
        first: &Path,
        made: (u64, u64),
    ) -> Result<(), Stop> {
        let stop_at = said(Act::Make, Side::Stage);
        let Some(stage) = &self.stage else { return stop(Act::Make, Side::Stage, Cause::Changed) };
        let mut folder = stage.try_clone().map_err(|error| Stop {
            act: Act::Open,
            side: Side::Stage,
            cause: Cause::System(error),
        })?;
        let mut names = first.iter().filter_map(one_name).peekable();
        while let Some(part) = names.next() {
            if names.peek().is_some() {
                folder = self.sys.pass(&folder, &part).map_err(&stop_at)?;
                continue;
            }
            self.sys.link(&folder, &part, to, name).map_err(&stop_at)?;
        }
        // The new name is that of a file on the list, so that it goes with it should this fail.
        let seen = Seen::from(self.sys.stat_at(to, name).map_err(said(Act::Look, Side::Stage))?);
        if seen.id() != made {
            return stop(Act::Make, Side::Stage, Cause::Changed);
        }
        self.done.hard_links += 1;
        Ok(())
    }

    /// Where it is safe to stop.
    pub(super) fn pause(&self) -> Result<(), Stop> {
        if self.cancel.cancelled() { stop(Act::Read, Side::Source, Cause::Cancelled) } else { Ok(()) }
    }

    pub(super) fn report(&mut self) {
        (self.progress)(Progress { path: &self.path, files: self.done.files, bytes: self.done.bytes });
    }

    pub(super) fn lose(&mut self, lost: Lost) {
        if self.done.lost.len() < LISTED_LOSSES {
            self.done.lost.push(Loss { path: self.path.clone(), lost });
        } else {
            self.done.lost_more += 1;
        }
    }
}

/// A name as the system takes it, if it is the name of one entry.
fn one_name(name: &OsStr) -> Option<CString> {
    let bytes = name.as_bytes();
    let odd = matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/');
    if odd { None } else { CString::new(bytes).ok() }
}

/// True when a link at this depth (1: an item itself) never leaves its item, wherever that is moved to: its target is
/// relative, goes up only at its start, and no further than to the item. An item that is a link always leads out.
pub(in crate::ops) fn stays_inside(target: &[u8], depth: usize) -> bool {
    let mut up = 0_usize;
    let mut down = false;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if down => return false,
            b".." => up += 1,
            _ => down = true,
        }
    }
    depth >= 2 && !target.starts_with(b"/") && up <= depth - 2
}

fn kind_word(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        _ => "thing of an unknown kind",
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::{one_name, stays_inside};

    #[test]
    fn a_link_stays_inside_only_if_no_move_of_its_item_changes_what_it_means() {
        for (target, depth) in [("b", 2), ("./b//c", 2), ("../b", 3), ("..", 3), (".", 2), ("../../a/b", 4)] {
            assert!(stays_inside(target.as_bytes(), depth), "{target} at {depth}");
        }
        for (target, depth) in [("b", 1), ("/b", 3), ("..", 2), ("../x", 2), ("../../x", 3), ("a/../b", 3), ("a/..", 9)]
        {
            assert!(!stays_inside(target.as_bytes(), depth), "{target} at {depth}");
        }
    }

    #[test]
    fn only_the_name_of_one_entry_is_a_name() {
        for bad in ["", ".", "..", "a/b", "/", "a/", "a\0b"] {
            assert_eq!(one_name(OsStr::new(bad)), None, "{bad:?}");
        }
        assert!(one_name(OsStr::new("...")).is_some());
    }
}
