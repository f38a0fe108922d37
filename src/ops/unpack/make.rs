//! Members become files.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

use super::wanted::{Opened, open};
use crate::model::Cancel;
use crate::ops::keep::one_name;
use crate::ops::stage::durable::Durable;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::tree::{Copied, Progress, discard};
use crate::ops::{Act, Cause, Failure, Root, Side, State};

const BUFFER: usize = 256 << 10;

/// Unpacks as [`super::unpack`] does, and asks a hook before each system call that makes something.
pub fn unpack_with<H: Hook>(
    hook: &H,
    archive: &Path,
    members: &[(PathBuf, PathBuf)],
    parent: &Root,
    stage: &OsStr,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Copied, Failure> {
    let unmade = |side, path: &Path, cause| Failure {
        act: Act::Open,
        side,
        path: path.to_path_buf(),
        cause,
        state: State::NothingMade,
    };
    let name = one_name(stage).ok_or_else(|| unmade(Side::Stage, &parent.path().join(stage), Cause::OddName))?;
    let opened = open(archive, members, cancel).map_err(|cause| unmade(Side::Source, archive, cause))?;
    let sys = Sys::new(hook, parent);
    let durable =
        Durable::new(&sys, parent).map_err(|error| unmade(Side::Stage, parent.path(), Cause::System(error.into())))?;
    let mut maker = Maker {
        sys: &sys,
        durable,
        parent,
        name: &name,
        stage: parent.path().join(stage),
        done: Copied::default(),
        folders: BTreeSet::new(),
        cancel,
        progress,
    };
    let single = members.iter().any(|(_, below)| below.as_os_str().is_empty());
    match maker.all(archive, &opened, members, single) {
        Ok(()) => Ok(maker.done),
        Err(mut failure) => {
            failure.state = match (maker.done.has_stage(), single) {
                (false, _) => State::NothingMade,
                (true, true) => discard_file(&sys, &maker.done, parent, &name),
                (true, false) => discard(&maker.done, parent, stage),
            };
            Err(failure)
        }
    }
}

/// Removes a stage that is one file, if it still is that file.
pub(in crate::ops) fn discard_file<H: Hook>(sys: &Sys<'_, H>, made: &Copied, parent: &Root, name: &CStr) -> State {
    let gone = match sys.stat_at(parent, name).map(Seen::from) {
        Err(Errno::NOENT) => true,
        Ok(seen) if made.is_stage(seen.id()) => sys.unlink(parent, name, AtFlags::empty()).is_ok(),
        _ => false,
    };
    let _ = sys.flush(parent);
    if gone {
        return State::Removed;
    }
    let name = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name.to_bytes());
    State::Left { stage: parent.path().join(name), things: 1 }
}

struct Maker<'a, 's, 'h, H> {
    sys: &'s Sys<'h, H>,
    durable: Durable<'s, 'h, H>,
    parent: &'a Root,
    name: &'a CStr,
    stage: PathBuf,
    done: Copied,
    /// Those below the stage that were made.
    folders: BTreeSet<PathBuf>,
    cancel: &'a Cancel,
    progress: &'a mut dyn FnMut(Progress<'_>),
}

fn on(side: Side, act: Act, path: &Path, cause: Cause) -> Failure {
    Failure { act, side, path: path.to_path_buf(), cause, state: State::NothingMade }
}

/// For `map_err`: what the system said about something in the stage.
fn said(act: Act, path: &Path) -> impl Fn(Errno) -> Failure + use<> {
    let path = path.to_path_buf();
    move |error| on(Side::Stage, act, &path, Cause::System(error.into()))
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

impl<H: Hook> Maker<'_, '_, '_, H> {
    fn all(
        &mut self,
        archive: &Path,
        opened: &Opened,
        members: &[(PathBuf, PathBuf)],
        single: bool,
    ) -> Result<(), Failure> {
        let stage = self.stage.clone();
        if !single {
            self.sys.mkdir(self.parent, self.name).map_err(|error| match error {
                Errno::EXIST => on(Side::Stage, Act::Make, &stage, Cause::NameTaken),
                error => said(Act::Make, &stage)(error),
            })?;
            let (_, id) = self.new_folder(self.parent.as_fd(), self.name, &stage)?;
            self.done.made_stage(id);
        }
        for ((member, below), size) in members.iter().zip(&opened.sizes) {
            self.pause(archive)?;
            let path = if single { stage.clone() } else { stage.join(below) };
            let (folder, name) = self.folder_for(below, single)?;
            let file = self.file(&folder, &name, &path, single)?;
            self.bytes(archive, opened, member, &file, &path, *size)?;
            // A zip may know its local clock alone, which is no time; it was packed by the time that the archive was written.
            let known = opened.store.stat(member).ok().and_then(|stat| stat.mtime).or(opened.written);
            if let Some(time) = known {
                let time = Timespec { tv_sec: time.as_second(), tv_nsec: time.subsec_nanosecond().max(0).into() };
                let times = Timestamps { last_access: time, last_modification: time };
                self.sys.set_times(&file, &times).map_err(said(Act::Dress, &path))?;
            }
            self.durable.finished(&file, *size).map_err(said(Act::Flush, &path))?;
            self.done.files += 1;
            (self.progress)(Progress { path: below, files: self.done.files, bytes: self.done.bytes });
        }
        // Bottom up.
        for below in self.folders.clone().iter().rev() {
            let path = stage.join(below);
            let folder = self.descend(below)?;
            self.durable.finished(&folder, 0).map_err(said(Act::Flush, &path))?;
        }
        self.done.flushed_at_once = self.durable.all().map_err(said(Act::Flush, &stage))?;
        if !single {
            let folder = self.descend(Path::new(""))?;
            self.sys.flush(&folder).map_err(said(Act::Flush, &stage))?;
        }
        self.sys.flush(self.parent).map_err(said(Act::Flush, self.parent.path()))
    }

    fn pause(&self, archive: &Path) -> Result<(), Failure> {
        if self.cancel.cancelled() {
            return Err(on(Side::Source, Act::Read, archive, Cause::Cancelled));
        }
        Ok(())
    }

    /// Opens a folder that was just made, and takes off what it inherited. When that fails it is removed again, since it
    /// is on no list yet.
    fn new_folder(&self, parent: impl AsFd, name: &CStr, path: &Path) -> Result<(OwnedFd, (u64, u64)), Failure> {
        let opened = self.sys.open(&parent, name, FOLDER).and_then(|folder| {
            let seen = Seen::from(self.sys.stat(&folder)?);
            self.plain(&folder, 0o700)?;
            Ok((folder, seen.id()))
        });
        opened.map_err(|error| {
            let _ = self.sys.unlink(&parent, name, AtFlags::REMOVEDIR);
            said(Act::Open, path)(error)
        })
    }

    /// Takes the access lists off that something new got from the folder beside it.
    fn plain(&self, file: &OwnedFd, mode: u32) -> Result<(), Errno> {
        for name in [c"system.posix_acl_access", c"system.posix_acl_default"] {
            match self.sys.remove_attribute(file, name) {
                Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS | Errno::ACCESS) => {}
                Err(error) => return Err(error),
            }
        }
        self.sys.chmod(file, mode)
    }

    fn descend(&self, below: &Path) -> Result<OwnedFd, Failure> {
        let path = self.stage.join(below);
        let failed = said(Act::Open, &path);
        let mut folder = self.sys.open(self.parent, self.name, FOLDER).map_err(&failed)?;
        for part in below {
            let name = one_name(part).ok_or_else(|| on(Side::Stage, Act::Open, &path, Cause::OddName))?;
            folder = self.sys.open(&folder, &name, FOLDER).map_err(&failed)?;
        }
        Ok(folder)
    }

    /// The folder for a member, made where it is not there yet, and the member's name in it.
    fn folder_for(&mut self, below: &Path, single: bool) -> Result<(OwnedFd, CString), Failure> {
        if single {
            let parent = self.parent.as_fd().try_clone_to_owned();
            let parent = parent.map_err(|error| on(Side::Stage, Act::Open, &self.stage, Cause::System(error)))?;
            return Ok((parent, self.name.to_owned()));
        }
        let odd = || on(Side::Stage, Act::Make, &self.stage.join(below), Cause::OddName);
        let name = below.file_name().and_then(one_name).ok_or_else(odd)?;
        let within = below.parent().unwrap_or(Path::new(""));
        let mut folder = self.descend(Path::new(""))?;
        let mut at = PathBuf::new();
        for part in within {
            let next =
                one_name(part).ok_or_else(|| on(Side::Stage, Act::Make, &self.stage.join(below), Cause::OddName))?;
            at.push(part);
            let path = self.stage.join(&at);
            if self.folders.contains(&at) {
                folder = self.sys.open(&folder, &next, FOLDER).map_err(said(Act::Open, &path))?;
                continue;
            }
            self.sys.mkdir(&folder, &next).map_err(said(Act::Make, &path))?;
            let (new, id) = self.new_folder(&folder, &next, &path)?;
            folder = new;
            self.done.made_inside(id);
            self.folders.insert(at.clone());
            self.done.folders += 1;
        }
        Ok((folder, name))
    }

    fn file(&mut self, folder: &OwnedFd, name: &CStr, path: &Path, single: bool) -> Result<OwnedFd, Failure> {
        let file = self.sys.create(folder, name).map_err(|error| match error {
            Errno::EXIST => on(Side::Stage, Act::Make, path, Cause::NameTaken),
            error => said(Act::Make, path)(error),
        })?;
        let seen = match self.sys.stat(&file) {
            Ok(stat) => Seen::from(stat),
            Err(error) => {
                let _ = self.sys.unlink(folder, name, AtFlags::empty());
                return Err(said(Act::Look, path)(error));
            }
        };
        if single {
            self.done.made_stage(seen.id());
        } else {
            self.done.made_inside(seen.id());
        }
        self.plain(&file, 0o600).map_err(said(Act::Dress, path))?;
        Ok(file)
    }

    fn bytes(
        &mut self,
        archive: &Path,
        opened: &Opened,
        member: &Path,
        file: &OwnedFd,
        path: &Path,
        size: u64,
    ) -> Result<(), Failure> {
        let cancel = self.cancel;
        let broken = |why: String| {
            let cause = if cancel.cancelled() { Cause::Cancelled } else { Cause::Archive(why) };
            on(Side::Source, Act::Read, &archive.join(member), cause)
        };
        let mut reader = opened.store.open(member).map_err(|error| broken(error.to_string()))?;
        let mut room = vec![0; BUFFER];
        let mut at = 0_u64;
        loop {
            self.pause(archive)?;
            let read = match reader.read(&mut room) {
                Ok(0) => break,
                Ok(read) => read.min(BUFFER),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(crate::model::shown(&error.to_string()))),
            };
            if at.saturating_add(read as u64) > size {
                return Err(broken("it holds more bytes than it says".to_owned()));
            }
            let (mut left, _) = room.split_at(read);
            while !left.is_empty() {
                let written = self.sys.write(file, left, at).map_err(said(Act::Write, path))?;
                if written == 0 {
                    return Err(said(Act::Write, path)(Errno::IO));
                }
                at += written as u64;
                left = left.split_at(written.min(left.len())).1;
            }
            self.done.bytes = self.done.bytes.saturating_add(read as u64);
        }
        if at == size { Ok(()) } else { Err(broken("it holds fewer bytes than it says".to_owned())) }
    }
}
