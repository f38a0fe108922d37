//! Read-only access to a save wherever it lies: a folder, a zip, a tar.
//!
//! [`Store`] is the one way in which games read files, so a layer inside an archive is listed, checked and mapped by
//! the same code as a folder. Paths are relative to the store's root and made of plain names only. Nothing here ever
//! writes, follows a link out of an archive, opens a pipe or a device, or allocates from a length that was not held
//! against what is there and a ceiling from [`Ceilings`].

mod archive;
mod at;
mod ceilings;
mod effort;
mod fault;
mod folder;
mod index;
mod inflate;
mod names;
mod open;
mod tar;
mod tar_walk;
mod zip;
mod zip_directory;

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use ceilings::Ceilings;
pub use effort::Effort;
pub use folder::FolderStore;
pub use open::{looks_like_archive, open, open_within};

use crate::model::{Code, Container, Finding, shown_path};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, or a link to one.
    File,
    /// A folder, or a link to one.
    Dir,
    /// A pipe, a socket, a device, or a link that leads nowhere or in a circle: never opened.
    Special,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The last part of the path.
    pub name: OsString,
    /// What it is, after following links where the container allows links.
    pub kind: EntryKind,
    /// It is a symbolic link.
    pub link: bool,
}

/// What is known about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is, after following links where the container allows links.
    pub kind: EntryKind,
    /// Bytes; for a file in an archive, inflated; 0 for everything that is no file.
    pub size: u64,
    /// Last change, where the container knows it.
    pub mtime: Option<Timestamp>,
}

/// Read-only access to a tree of files.
///
/// All paths are relative, made of normal components only; the empty path is the root. Calls may come from several
/// threads.
pub trait Store: Send + Sync {
    /// What the files lie in; [`Container::Folder`] for a plain folder.
    fn container(&self) -> Container;

    /// The folder or archive on disk.
    fn outer(&self) -> &Path;

    /// The names in a folder, sorted by their bytes; links and special files are listed as what they are.
    /// At most [`Ceilings::entries`]; more is an error.
    fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError>;

    /// Kind, size and time of one path.
    fn stat(&self, path: &Path) -> Result<Stat, StoreError>;

    /// Opens a regular file for reading from its start.
    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send + '_>, StoreError>;

    /// The whole of a file, if it has at most `ceiling` bytes; a larger one is refused before it is read.
    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError>;

    /// The first `most` bytes of a file, or all of it when it is shorter.
    fn read_start(&self, path: &Path, most: usize) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::with_capacity(most.min(64 * 1024));
        self.open(path)?.take(most as u64).read_to_end(&mut bytes).map_err(|error| fault::reading(path, &error))?;
        Ok(bytes)
    }

    /// What is wrong with the container itself though a part of it can be read, such as a tar that ends early.
    ///
    /// What could not be reached is missing from the listing, so a caller reports this beside what it finds.
    fn damage(&self) -> Option<StoreError> {
        None
    }

    /// Whether we could write into a folder, as far as the system says; none where nobody writes, as in an archive.
    /// When not, the words say what stands in the way.
    fn write_refusal(&self, _dir: &Path) -> Option<String> {
        None
    }

    /// The path for a person: outer path and the place in it.
    fn display(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() { self.outer().to_path_buf() } else { self.outer().join(path) }
    }
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// Nothing is there.
    NotFound,
    /// We are not allowed to; the words say what stands in the way, such as mode and owner.
    Denied(String),
    /// The file is larger than the ceiling; both in bytes.
    TooLarge {
        /// What the file has.
        size: u64,
        /// What may be read.
        ceiling: u64,
    },
    /// More entries than the ceiling.
    TooMany {
        /// What may be listed.
        ceiling: u64,
    },
    /// It is a folder, or no regular file.
    NotAFile,
    /// It is no folder.
    NotADir,
    /// The archive or a file in it is broken; the words say where and how.
    Broken(String),
    /// The archive holds an entry that is refused; the words say which and why.
    Hostile(String),
    /// The archive uses something that is not known here.
    Unsupported(String),
    /// The system failed; its words.
    Io(String),
}

/// Why something could not be read, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// Relative to the store's root, or the outer path when the store itself could not be opened.
    pub path: PathBuf,
    /// Why.
    pub kind: StoreErrorKind,
}

impl StoreError {
    /// An error about a path.
    pub fn new(path: &Path, kind: StoreErrorKind) -> Self {
        Self { path: path.to_path_buf(), kind }
    }

    /// True when nothing is there.
    pub fn is_not_found(&self) -> bool {
        self.kind == StoreErrorKind::NotFound
    }

    /// The same as a finding of severity error, with code, file and next step.
    pub fn finding(&self) -> Finding {
        let (code, next) = match &self.kind {
            StoreErrorKind::NotFound => (Code::MissingFile, "Look for the file in an older layer."),
            StoreErrorKind::Denied(_) => {
                (Code::NoPermission, "Run as the user that owns the save, or ask for read permission.")
            }
            StoreErrorKind::TooLarge { .. } => (
                Code::FileTooLarge,
                "If it is a real save, raise the ceiling in the configuration (section [ceilings]).",
            ),
            StoreErrorKind::TooMany { .. } => (
                Code::TooMany,
                "Name a folder further down, or raise the ceiling in the configuration (section [ceilings]).",
            ),
            StoreErrorKind::NotAFile | StoreErrorKind::NotADir => {
                (Code::SpecialFile, "Look at what it is; a save holds only folders and regular files.")
            }
            StoreErrorKind::Broken(_) => (Code::BadArchive, "Use another backup, or fetch this archive again."),
            StoreErrorKind::Hostile(_) => {
                (Code::HostileArchive, "Do not unpack it by hand either; ask where it came from.")
            }
            StoreErrorKind::Unsupported(_) => {
                (Code::UnsupportedArchive, "Unpack it with the tool that made it, into a new folder, and look at that.")
            }
            StoreErrorKind::Io(_) => (Code::ReadFailed, "Check the disk and the mount, then try again."),
        };
        Finding::error(code, format!("{self}."), next).in_file(shown_path(&self.path))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown_path(&self.path);
        match &self.kind {
            StoreErrorKind::NotFound => write!(f, "{path} is not there"),
            StoreErrorKind::Denied(why) => write!(f, "{path} may not be read: {why}"),
            StoreErrorKind::TooLarge { size, ceiling } => {
                write!(f, "{path} has {size} bytes, over the ceiling of {ceiling}")
            }
            StoreErrorKind::TooMany { ceiling } => write!(f, "{path} holds more than {ceiling} entries"),
            StoreErrorKind::NotAFile => write!(f, "{path} is no regular file"),
            StoreErrorKind::NotADir => write!(f, "{path} is no folder"),
            StoreErrorKind::Broken(how) => write!(f, "{path} is broken: {how}"),
            StoreErrorKind::Hostile(why) => write!(f, "{path} is refused: {why}"),
            StoreErrorKind::Unsupported(what) => write!(f, "{path} cannot be read here: {what}"),
            StoreErrorKind::Io(error) => write!(f, "{path} could not be read: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}
