//! What an operation was, as it stands in the journal while it runs and in the history when it is done.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::model::outline::Traces;
use crate::model::plan::Operation;

/// The version of journals and records that this program writes. A newer one is left alone.
pub const SCHEMA: u32 = 1;

/// What names one file or folder, whatever it is called: device and inode.
pub type Id = (u64, u64);

/// One rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renamed {
    /// Two names changed places.
    Exchange {
        /// Where the new state was made, and the old one lay afterwards.
        stage: PathBuf,
        /// The live name.
        live: PathBuf,
        /// What the new state is.
        new: Id,
        /// What the old state is.
        old: Id,
    },
    /// One name became another.
    Rename {
        /// Where it lay.
        from: PathBuf,
        /// Its new name.
        to: PathBuf,
        /// What it is.
        what: Id,
    },
}

/// What an operation did or is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// What it does.
    pub operation: Operation,
    /// What it is about. Untrusted.
    pub subject: String,
    /// When it was begun.
    pub at: Timestamp,
    /// The keeping folder.
    pub keep: PathBuf,
    /// Its renames, in their order.
    pub moves: Vec<Renamed>,
    /// What it removes for good, after the renames.
    pub removes: Vec<PathBuf>,
    /// The name of the operation that it takes back.
    pub undoes: Option<String>,
    /// What is said when it is done.
    pub done: String,
    /// What tells whether a server uses the save, for a recovery that has to rename.
    pub traces: Option<Traces>,
}
