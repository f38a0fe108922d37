//! The proof that a stage is its source: both are read again, and everything in which they differ is said.
//!
//! The comparison shares no code with the copier: it has its own walk, its own system calls and its own idea of what
//! there is to compare, so that one mistake is not made twice. The bytes of the stage are read from the disk where the
//! system can be told to forget what it has in memory, and not from what the copier left there.
//!
//! Compared are the names, and for each its type, size, bytes, mode, owner, modification time, extended attributes,
//! target of a link, and which names are the same file. Access times are not: reading changes them. Holes change no
//! byte, so they are reported besides.

#[cfg(target_os = "linux")]
mod contents;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod run;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{Root, Side};
use crate::model::{Cancel, shown, shown_path};

/// At most so many differences are listed; the others are counted.
pub const LISTED: usize = 1000;

/// In what two entries of one name differ.
#[derive(Debug)]
pub enum Kind {
    /// It is not in the stage.
    Missing,
    /// It is not in the source.
    Extra,
    /// One is a file, the other a folder or something else.
    Type,
    /// The sizes, in bytes.
    Size {
        /// Of the source.
        source: u64,
        /// Of the stage.
        stage: u64,
    },
    /// The bytes.
    Bytes {
        /// The first byte that differs.
        at: u64,
    },
    /// The modes, 12 bits.
    Mode {
        /// Of the source.
        source: u32,
        /// Of the stage.
        stage: u32,
    },
    /// User and group.
    Owner {
        /// Of the source.
        source: (u32, u32),
        /// Of the stage.
        stage: (u32, u32),
    },
    /// The modification times, in seconds and nanoseconds.
    Modified {
        /// Of the source.
        source: (i64, i64),
        /// Of the stage.
        stage: (i64, i64),
    },
    /// An extended attribute is missing, too much, or has another value; here its name, as bytes.
    Attribute(Vec<u8>),
    /// The target of a link.
    Target,
    /// In one of them the name is a second name of a file, in the other it is not, or of another.
    Names,
    /// It is a pipe, a socket or a device, which is not opened.
    Special,
    /// It could not be looked at.
    Unreadable {
        /// In which tree.
        side: Side,
        /// What the system said.
        error: io::Error,
    },
}

/// One difference.
#[derive(Debug)]
pub struct Difference {
    /// Of what, below the source.
    pub path: PathBuf,
    /// In what.
    pub kind: Kind,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' ", shown_path(&self.path))?;
        match &self.kind {
            Kind::Missing => f.write_str("is missing"),
            Kind::Extra => f.write_str("is not in the source"),
            Kind::Type => f.write_str("is of another type"),
            Kind::Size { source, stage } => write!(f, "has {stage} bytes instead of {source}"),
            Kind::Bytes { at } => write!(f, "differs from byte {at} on"),
            Kind::Mode { source, stage } => write!(f, "has mode {stage:04o} instead of {source:04o}"),
            Kind::Owner { source, stage } => {
                write!(f, "belongs to {}:{} instead of {}:{}", stage.0, stage.1, source.0, source.1)
            }
            Kind::Modified { .. } => f.write_str("has another modification time"),
            Kind::Attribute(name) => {
                write!(f, "differs in the attribute {}", shown(&String::from_utf8_lossy(name)))
            }
            Kind::Target => f.write_str("is a link to somewhere else"),
            Kind::Names => f.write_str("is not the same file as the same other names"),
            Kind::Special => f.write_str("is a pipe, a socket or a device"),
            Kind::Unreadable { side, error } => write!(f, "could not be read in {side}: {error}"),
        }
    }
}

/// Bytes of holes in each tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// In the source.
    pub source: u64,
    /// In the stage.
    pub stage: u64,
}

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Names of files that were compared.
    pub files: u64,
    /// Folders, without the stage itself.
    pub folders: u64,
    /// Links.
    pub links: u64,
    /// Bytes that were compared.
    pub bytes: u64,
    /// Holes, which are no difference.
    pub holes: Holes,
    /// Files with fewer bytes of holes in the stage, the first [`LISTED`]: they take more room.
    pub filled: Vec<PathBuf>,
    /// The first [`LISTED`] differences.
    pub differences: Vec<Difference>,
    /// How many more there are.
    pub more: u64,
    /// True when it was stopped; what was found until then is not all.
    pub cancelled: bool,
}

impl Comparison {
    /// True when all was looked at and nothing differs.
    pub fn equal(&self) -> bool {
        self.differences.is_empty() && self.more == 0 && !self.cancelled
    }
}

/// The two trees of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The folder that holds the items.
    pub source: &'a Root,
    /// The names that the stage should hold, and no others.
    pub items: &'a [OsString],
    /// The folder that holds the stage.
    pub parent: &'a Root,
    /// The name of the stage.
    pub stage: &'a OsStr,
}

/// Compares a stage with its source, to the end or until it is cancelled.
#[cfg(target_os = "linux")]
pub fn compare(pair: &Pair<'_>, cancel: &Cancel) -> Comparison {
    run::compare(pair, cancel)
}

/// The same, where some differences are meant: those that `meant` says yes to are no part of what was found.
#[cfg(target_os = "linux")]
pub(super) fn compare_but(pair: &Pair<'_>, cancel: &Cancel, meant: &mut dyn FnMut(&Difference) -> bool) -> Comparison {
    run::compare_but(pair, cancel, meant)
}

/// Nothing can be opened to be compared on this system.
#[cfg(not(target_os = "linux"))]
pub fn compare(pair: &Pair<'_>, _: &Cancel) -> Comparison {
    match *pair.source {}
}
