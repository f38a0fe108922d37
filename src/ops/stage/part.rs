//! The parts of a stage, from the first step to the proof.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Staged;
use super::dress::Dressed;
use crate::model::Cancel;
use crate::model::plan::Step;
use crate::ops::fresh::Fresh;
use crate::ops::keep::one_name;
use crate::ops::tree::calls::{Direct, Hook, Sys};
use crate::ops::tree::{Copied, Flush, Order, Progress, copy_with, discard};
use crate::ops::unpack::unpack_with;
use crate::ops::{Act, Cause, Failure, Root, Side, State};

/// Where a part came from.
pub(super) enum Source<'p> {
    Folder { root: Root, items: &'p [OsString] },
    Archive { archive: &'p Path, members: &'p [(PathBuf, PathBuf)] },
}

/// One thing in the making: a folder that was copied into, or what was unpacked.
pub(super) struct Part<'p> {
    pub(super) to: &'p Path,
    pub(super) parent: Root,
    pub(super) name: CString,
    pub(super) source: Source<'p>,
    pub(super) copied: Copied,
    /// What was written, by the path below `to`.
    pub(super) written: BTreeMap<PathBuf, &'p [u8]>,
    /// Which of that was not there before.
    pub(super) added: BTreeSet<PathBuf>,
    /// In the order in which it was done.
    pub(super) dressed: Vec<Dressed>,
}

/// For `map_err`: what the system said about something in a stage.
pub(super) fn said(act: Act, path: &Path) -> impl Fn(Errno) -> Failure + use<> {
    let path = path.to_path_buf();
    move |error| failure(act, &path, Cause::System(error.into()))
}

pub(super) fn failure(act: Act, path: &Path, cause: Cause) -> Failure {
    Failure { act, side: Side::Stage, path: path.to_path_buf(), cause, state: State::NothingMade }
}

/// Makes a stage as [`super::stage`] does, and asks a hook before each system call that makes or changes something.
pub fn stage_with<H: Hook>(
    hook: &H,
    fresh: &Fresh,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Staged>, Failure> {
    let sys = Sys::anywhere(hook);
    let mut parts: Vec<Part<'_>> = Vec::new();
    let made = make(hook, &sys, &fresh.plan().content().steps, &mut parts, cancel, progress);
    match made {
        Ok(proofs) => {
            let staged = parts.into_iter().zip(proofs);
            Ok(staged
                .map(|(part, proof)| Staged { stage: part.to.to_path_buf(), copied: part.copied, proof })
                .collect())
        }
        Err(failure) => Err(take_back(&parts, failure)),
    }
}

fn make<'p, H: Hook>(
    hook: &H,
    sys: &Sys<'_, H>,
    steps: &'p [Step],
    parts: &mut Vec<Part<'p>>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<crate::ops::compare::Comparison>, Failure> {
    for step in steps {
        if cancel.cancelled() {
            return Err(failure(Act::Make, Path::new(""), Cause::Cancelled));
        }
        match step {
            Step::Copy { from, items, to } => {
                let (parent, name) = place_of(to)?;
                let root = Root::open(from)?;
                let stage = to.file_name().unwrap_or_default();
                let order = Order { source: &root, items, parent: &parent, stage, flush: Flush::ByAmount };
                let copied = copy_with(hook, &order, cancel, progress)?;
                parts.push(Part::new(to, parent, name, Source::Folder { root, items }, copied));
            }
            Step::Unpack { archive, members, to } => {
                let (parent, name) = place_of(to)?;
                let stage = to.file_name().unwrap_or_default();
                let copied = unpack_with(hook, archive, members, &parent, stage, cancel, progress)?;
                parts.push(Part::new(to, parent, name, Source::Archive { archive, members }, copied));
            }
            Step::Write { path, bytes } => {
                let (part, below) = part_of(parts, path)?;
                super::write::write(sys, part, below, bytes)?;
            }
            Step::Dress { path, like, rights } => {
                let (part, below) = part_of(parts, path)?;
                super::dress::dress(sys, part, below, like, *rights, cancel)?;
            }
            Step::Exchange { .. } | Step::Place { .. } | Step::Park { .. } | Step::Remove { .. } => {}
        }
    }
    parts.iter().map(|part| super::prove::prove(part, cancel)).collect()
}

fn place_of(to: &Path) -> Result<(Root, CString), Failure> {
    match (to.parent(), to.file_name().and_then(one_name)) {
        (Some(parent), Some(name)) => Ok((Root::open(parent)?, name)),
        _ => Err(failure(Act::Make, to, Cause::OddName)),
    }
}

/// The part that holds a path, and the path below it.
fn part_of<'a, 'p>(parts: &'a mut [Part<'p>], path: &'p Path) -> Result<(&'a mut Part<'p>, &'p Path), Failure> {
    let found = parts.iter_mut().find_map(|part| path.strip_prefix(part.to).ok().map(|below| (part, below)));
    found.ok_or_else(|| {
        let why = "nothing was made there".to_owned();
        failure(Act::Open, path, Cause::System(std::io::Error::new(std::io::ErrorKind::NotFound, why)))
    })
}

fn take_back(parts: &[Part<'_>], mut failure: Failure) -> Failure {
    for part in parts {
        let state = part.discard();
        if !matches!(failure.state, State::Left { .. }) {
            failure.state = state;
        }
    }
    failure
}

impl<'p> Part<'p> {
    fn new(to: &'p Path, parent: Root, name: CString, source: Source<'p>, copied: Copied) -> Self {
        let (written, added) = (BTreeMap::new(), BTreeSet::new());
        Self { to, parent, name, source, copied, written, added, dressed: Vec::new() }
    }

    /// True when it is one file and no folder.
    pub(super) fn is_file(&self) -> bool {
        matches!(&self.source, Source::Archive { members, .. }
            if members.iter().any(|(_, below)| below.as_os_str().is_empty()))
    }

    /// The folder that holds something of it, opened from name to name, and the name there.
    pub(super) fn entry<H: Hook>(&self, sys: &Sys<'_, H>, below: &Path) -> Result<(OwnedFd, CString), Failure> {
        let failed = said(Act::Open, &self.to.join(below));
        let clone = self.parent.as_fd().try_clone_to_owned();
        let mut folder = clone.map_err(|error| failure(Act::Open, self.to, Cause::System(error)))?;
        let mut name = self.name.clone();
        for part in below {
            let next = one_name(part).ok_or_else(|| failure(Act::Open, &self.to.join(below), Cause::OddName))?;
            folder = sys.pass(&folder, &name).map_err(&failed)?;
            name = next;
        }
        Ok((folder, name))
    }

    fn discard(&self) -> State {
        let name = self.to.file_name().unwrap_or_default();
        if !self.is_file() {
            return discard(&self.copied, &self.parent, name);
        }
        crate::ops::unpack::discard_file(&Sys::new(&Direct, &self.parent), &self.copied, &self.parent, &self.name)
    }
}
