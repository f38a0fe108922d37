use std::ffi::OsString;
use std::path::PathBuf;

/// One thing that a plan does. Paths are absolute and hold no link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Copies `items` of the folder `from` into the folder `to`, which must not be there yet.
    Copy {
        /// The folder that holds the items.
        from: PathBuf,
        /// Names of files and folders in it.
        items: Vec<OsString>,
        /// The stage.
        to: PathBuf,
    },
    /// Puts members of an archive into the folder `to`, which must not be there yet.
    Unpack {
        /// The archive on disk.
        archive: PathBuf,
        /// The place in the archive of each file, and where it goes below `to`. Plain names only.
        members: Vec<(PathBuf, PathBuf)>,
        /// The stage.
        to: PathBuf,
    },
    /// Writes these bytes into a file of a stage, in the place of what was copied there, if anything was. Owner, mode and
    /// attributes of what was there stay.
    Write {
        /// The file.
        path: PathBuf,
        /// All its bytes.
        bytes: Vec<u8>,
    },
    /// Gives everything in a stage the owner and group of something that is there.
    Dress {
        /// The stage, or a file or folder in it.
        path: PathBuf,
        /// Whose owner and group it gets.
        like: PathBuf,
        /// What happens to the modes.
        rights: Rights,
    },
    /// Lets two names of one file system change places.
    Exchange {
        /// The new state.
        stage: PathBuf,
        /// The live one.
        live: PathBuf,
    },
    /// Moves something to a name where nothing may be yet: the new state to its place, or a layer to another name.
    Place {
        /// Where it lies.
        from: PathBuf,
        /// Its new name.
        to: PathBuf,
    },
    /// Moves the old state to where it is kept; the new name must not be there yet.
    Park {
        /// Where it lies.
        from: PathBuf,
        /// Where it is kept.
        to: PathBuf,
    },
    /// Removes something for good.
    Remove {
        /// What goes.
        path: PathBuf,
    },
}

/// What becomes of modes when something is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// They stay, but the owner may read and write files and enter folders.
    Keep,
    /// Folders get the mode of the folder `like` (or of the folder it lies in), files that of `like` without execution. For
    /// what had no mode of its own, such as members of archives.
    Like,
}

/// One rename of a plan, as the engine carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<'p> {
    /// Two names change places.
    Exchange {
        /// The new state.
        stage: &'p std::path::Path,
        /// The live one.
        live: &'p std::path::Path,
    },
    /// One name becomes another, at which nothing may be.
    Rename {
        /// Where it lies.
        from: &'p std::path::Path,
        /// Its new name.
        to: &'p std::path::Path,
    },
}

impl Step {
    /// The rename that this step is, if it is one.
    pub fn as_move(&self) -> Option<Move<'_>> {
        match self {
            Self::Exchange { stage, live } => Some(Move::Exchange { stage, live }),
            Self::Place { from, to } | Self::Park { from, to } => Some(Move::Rename { from, to }),
            _ => None,
        }
    }
}

/// What a file or a folder was when a plan was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The device that holds it.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When it was last written: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
}

/// Something that a plan was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Where it lies.
    pub path: PathBuf,
    /// What was there; none when nothing was, and nothing may be.
    pub was: Option<Fingerprint>,
}

/// Free space that a plan needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// A folder on the file system that needs it.
    pub on: PathBuf,
    /// Bytes, with the floor that is left for the server.
    pub bytes: u64,
}
