//! What an operation means for the files of a game, before places, space and servers were looked at.
//!
//! ```text
//! Ask  --Game::plan-->  Outline | Refusal  --ops::draft-->  Plan | Refusal
//! ```
//!
//! A game says *what* changes by its own rules; `ops` says *how*: where it is staged, what is parked where, whether it
//! fits.

use std::ffi::OsString;
use std::path::PathBuf;

use super::plan::{Operation, Warning};
use super::{Hallmarks, Layer, Profile, World};

/// The name of the keeping folder, in which operations stage and park; no game looks into it.
pub const KEEP: &str = ".worldkeep";

/// What somebody asks for, about saves that were found.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What to do; one of restore, copy, rename, delete, backup.
    pub operation: Operation,
    /// The profile that holds the world.
    pub profile: &'a Profile,
    /// The world.
    pub world: &'a World,
    /// The layer; none means the world itself: its live state, and what belongs to it.
    pub layer: Option<&'a Layer>,
    /// Where a copy goes; none means the same profile.
    pub into: Option<&'a Profile>,
    /// The new name, for copy and rename.
    pub name: Option<&'a str>,
    /// Copy: the layers go along. Delete: the layers go as well.
    pub with_layers: bool,
    /// Copy: what is in the way is parked.
    pub overwrite: bool,
}

/// Where the bytes of a new state come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file or a folder, whole.
    Whole(PathBuf),
    /// These files of a folder, which become a folder of their own.
    Files {
        /// The folder that holds them.
        folder: PathBuf,
        /// Their names.
        names: Vec<OsString>,
    },
    /// Members of an archive, which become a folder, or a single file when `to` of the only member is empty.
    Members {
        /// The archive on disk.
        archive: PathBuf,
        /// The place of each in the archive, and where it goes below the new folder.
        members: Vec<(PathBuf, PathBuf)>,
    },
}

/// A new state that has to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fresh {
    /// Where its bytes come from.
    pub origin: Origin,
    /// Files in it that get other bytes: the path below the new folder (empty when the new state is one file), and all
    /// bytes.
    pub writes: Vec<(PathBuf, Vec<u8>)>,
    /// What it takes its owner from: what it replaces, or the folder it goes into.
    pub like: PathBuf,
}

/// One change; a plan carries them out in the order of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Makes a new state and puts it at `to`; what is there is parked.
    Put {
        /// What is made.
        fresh: Fresh,
        /// Where it goes.
        to: PathBuf,
        /// True when something has to be there, false when nothing may be.
        replaces: bool,
    },
    /// Moves something to the recycle folder.
    Park(PathBuf),
    /// Gives something another name, at which nothing may be.
    Move {
        /// Where it lies.
        from: PathBuf,
        /// Its new name.
        to: PathBuf,
    },
}

/// What a person compares before agreeing: one line a side, and what the difference means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// What the question is about, such as `Restore into Midgard`.
    pub title: String,
    /// Labelled lines, both safe to print: `from`, `over`, `to`, `files`, and what goes where.
    pub lines: Vec<(String, String)>,
    /// Sentences about the difference: how far back in time, in-game days, objects and pieces.
    pub notes: Vec<String>,
    /// The name that has to be typed before this may be confirmed in a dialog: for what cannot be undone, or writes over
    /// something. Empty: none.
    pub type_name: String,
    /// What is said when it is done, in one sentence.
    pub done: String,
}

/// What could show that a server of the game uses a save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Names of the server's program and the game itself, compared with the last part of a process's first arguments, with
    /// and without `.exe`, regardless of case.
    pub programs: Vec<String>,
    /// The argument after which such a process names its save folder.
    pub folder_arguments: Vec<String>,
    /// The argument after which it names its world.
    pub world_arguments: Vec<String>,
    /// The world, as that argument would name it. A process that names another world of the same folder still counts,
    /// since servers write besides their world as well.
    pub world: String,
    /// Where it keeps saves when no argument says so, below the home folder of its user.
    pub default_folder: PathBuf,
    /// The save root that is concerned.
    pub root: PathBuf,
    /// Files and folders in which any process's open file means that the save is in use.
    pub held: Vec<PathBuf>,
    /// Lock files that a running server holds, by either kind of lock.
    pub locks: Vec<PathBuf>,
    /// Files whose recent change means that a save has just landed, newest rule of the game first.
    pub recent: Vec<PathBuf>,
}

/// What an operation means for the files, by the rules of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// What is done.
    pub operation: Operation,
    /// What it is about: the world's name on disk. Untrusted.
    pub subject: String,
    /// The save root that is changed.
    pub root: PathBuf,
    /// Folders in which the game looks for saves: nothing of ours may be made in them.
    pub scanned: Vec<PathBuf>,
    /// What changes, in this order.
    pub changes: Vec<Change>,
    /// What else the outline was computed from, and must still be so when it is carried out: files that were read, and
    /// names that must not be there.
    pub depends: Vec<PathBuf>,
    /// What to read before agreeing.
    pub warnings: Vec<Warning>,
    /// For people.
    pub preview: Preview,
    /// What tells the state that takes the place of a live world, so that the game's first save of it can be judged.
    pub restored: Option<Hallmarks>,
    /// What could show that a server uses the save; none when a running server does no harm, such as for a copy of a
    /// finished generation.
    pub traces: Option<Traces>,
}
