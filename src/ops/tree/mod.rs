//! Copies files and folders into a stage, faithfully, and makes the copy durable.
//!
//! What is kept: bytes, holes, owner, mode, access and modification time to the nanosecond, extended attributes and
//! access lists, hard links among what is copied, links that stay inside their item. What could not be kept is in
//! [`Copied::lost`]. What is refused: pipes, sockets, devices, links that lead out, other file systems mounted inside,
//! anything deeper than [`MAX_DEPTH`], and a source that changes meanwhile. Every name is opened in the folder that
//! holds it, never through a link, so that nobody who can write to the source or the stage can lead the copy astray.
//!
//! A copy is made by one thread, with buffers of a fixed size. Besides them it remembers two numbers for each thing that
//! it made, so that a copy that fails removes exactly that.

#[cfg(target_os = "linux")]
pub mod calls;
#[cfg(target_os = "linux")]
mod discard;
#[cfg(target_os = "linux")]
mod dress;
#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod flush;
#[cfg(target_os = "linux")]
pub(in crate::ops) mod seen;
#[cfg(target_os = "linux")]
mod walk;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Failure, Root};
use crate::model::Cancel;

#[cfg(target_os = "linux")]
pub(in crate::ops) use dress::is_copied;
#[cfg(target_os = "linux")]
pub(in crate::ops) use flush::at_once_tells;
#[cfg(target_os = "linux")]
pub use walk::copy_with;
#[cfg(target_os = "linux")]
pub(in crate::ops) use walk::stays_inside;

/// Folders in folders that are copied. Saves have up to five; each level takes two open files, of which a process
/// usually may have 1,024.
pub const MAX_DEPTH: usize = 100;

/// So many files and folders are made durable one by one; beyond that, one call for the whole file system is cheaper, at
/// the price of writing out what others have pending there too. `docs/operations.md` has the measurement.
pub const FLUSHED_SINGLY: u64 = 32;

/// So many bytes as well: the disk is idle between one large file and the next.
pub const BYTES_FLUSHED_SINGLY: u64 = 64 << 20;

/// At most so many losses are listed by name.
pub const LISTED_LOSSES: usize = 1000;

/// How a copy is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// One by one up to [`FLUSHED_SINGLY`] and [`BYTES_FLUSHED_SINGLY`], beyond either at once where the system reports errors of that.
    #[default]
    ByAmount,
    /// Each file and folder by itself.
    Singly,
    /// All at once where the system reports errors of that, otherwise singly.
    AtOnce,
}

/// What to copy, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The folder that holds the items.
    pub source: &'a Root,
    /// Names of files and folders in it.
    pub items: &'a [OsString],
    /// The folder in which the stage is made.
    pub parent: &'a Root,
    /// The name of the stage; nothing of that name may be there. It is a folder that only its owner may enter.
    pub stage: &'a OsStr,
    /// How to make it durable.
    pub flush: Flush,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being copied, below the source.
    pub path: &'a Path,
    /// Files that are copied.
    pub files: u64,
    /// Bytes that are copied, holes included.
    pub bytes: u64,
}

/// Something about a file that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its owner or its group; here what they were.
    Owner {
        /// User.
        user: u32,
        /// Group.
        group: u32,
    },
    /// Bits of its mode: set-user-id and set-group-id of a file that is not ours or is root's, or what the system
    /// refused.
    Mode {
        /// What it was, 12 bits.
        was: u32,
        /// What it is in the copy.
        is: u32,
    },
    /// An extended attribute; here its name, as bytes.
    Attribute(Vec<u8>),
}

/// What could not be kept, and of which file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The file, below the source.
    pub path: PathBuf,
    /// What.
    pub lost: Lost,
}

/// A finished copy.
#[derive(Debug, Default)]
pub struct Copied {
    /// Files; several names of one file count once.
    pub files: u64,
    /// Folders, without the stage itself.
    pub folders: u64,
    /// Links.
    pub links: u64,
    /// Further names of files that are already copied.
    pub hard_links: u64,
    /// Bytes, holes included.
    pub bytes: u64,
    /// Bytes of holes that were left out.
    pub holes: u64,
    /// Files that share their bytes with the source on the disk: a copy against mistakes, not against a bad disk.
    pub shared: u64,
    /// What could not be kept: the first [`LISTED_LOSSES`].
    pub lost: Vec<Loss>,
    /// How many more of those there are.
    pub lost_more: u64,
    /// True when all of it was made durable at once, false when one by one.
    pub flushed_at_once: bool,
    /// Device and inode of everything that was made, the stage first.
    #[cfg(target_os = "linux")]
    made: Made,
}

#[cfg(target_os = "linux")]
impl Copied {
    /// Takes note of a stage that was made without the copier.
    pub(in crate::ops) fn made_stage(&mut self, id: (u64, u64)) {
        self.made.stage = Some(id);
    }

    /// True for the stage that was made.
    pub(in crate::ops) fn is_stage(&self, id: (u64, u64)) -> bool {
        self.made.stage == Some(id)
    }

    /// True when there is one.
    pub(in crate::ops) fn has_stage(&self) -> bool {
        self.made.stage.is_some()
    }

    /// Takes note of something that was made in the stage besides, so that it goes with the stage.
    pub(in crate::ops) fn made_inside(&mut self, id: (u64, u64)) {
        self.made.inside.insert(id);
    }
}

/// Device and inode of what a copy made.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
struct Made {
    stage: Option<(u64, u64)>,
    /// True when the stage was made, could not be opened, and could not be removed either.
    stage_unopened: bool,
    inside: std::collections::HashSet<(u64, u64)>,
}

/// Copies; the result is complete and durable, or it is an error and removed again.
#[cfg(target_os = "linux")]
pub fn copy(order: &Order<'_>, cancel: &Cancel, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Copied, Failure> {
    copy_with(&calls::Direct, order, cancel, progress)
}

/// Removes a finished copy that is not wanted: only what the copy made, and by descriptors.
#[cfg(target_os = "linux")]
pub fn discard(copied: &Copied, parent: &Root, stage: &OsStr) -> super::State {
    walk::discard_copied(copied, parent, stage)
}

/// Nothing can be opened to be copied on this system.
#[cfg(not(target_os = "linux"))]
pub fn copy(order: &Order<'_>, _: &Cancel, _: &mut dyn FnMut(Progress<'_>)) -> Result<Copied, Failure> {
    match *order.source {}
}

/// Nothing can be copied on this system.
#[cfg(not(target_os = "linux"))]
pub fn discard(_: &Copied, parent: &Root, _: &OsStr) -> super::State {
    match *parent {}
}
