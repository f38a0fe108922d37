//! What an operation was, as it stands in the journal while it runs and in the history when it is done.

mod wire;

use std::fmt;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use crate::model::Hallmarks;
use crate::model::outline::Traces;
use crate::model::plan::{OPERATION_DIGITS, Operation};

/// The version of journals and records that this program writes. A newer one is left alone.
pub const SCHEMA: u32 = 1;

/// A journal or record that is larger than this is not read.
pub const MAX_BYTES: u64 = 4 << 20;

/// At most so many renames, and so many removals, are one operation.
pub const MAX_MOVES: usize = 10_000;

/// A path is at most so long, which is more than the system takes.
pub const MAX_PATH: usize = 4096;

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
    /// What tells the state that it put in the place of a live world.
    pub restored: Option<Hallmarks>,
    /// What is said when it is done.
    pub done: String,
    /// What tells whether a server uses the save, for a recovery that has to rename.
    pub traces: Option<Traces>,
}

/// Why a journal or a record cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is of a newer version of this program; here the number of that version's format.
    Newer(u32),
    /// It was written by something else.
    Foreign,
    /// It is ours, and torn or damaged; here what is wrong, as the end of a sentence, safe to print.
    Damaged(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer(schema) => {
                write!(f, "a newer version of worldkeep wrote it (format {schema}, known here: {SCHEMA})")
            }
            Self::Foreign => f.write_str("it was not written by worldkeep"),
            Self::Damaged(what) => write!(f, "it is damaged: {what}"),
        }
    }
}

impl Record {
    /// As it is written into a file: one JSON object with the version of the format and a checksum. A path that is no
    /// UTF-8 is written as hexadecimal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::write(self)
    }

    /// Reads what [`Record::to_bytes`] wrote; spaces and line ends may follow. Everything is checked: the version, the
    /// checksum, that no field is unknown or missing, and that every path lies below the folder that holds the keeping folder.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let record = wire::read(bytes)?;
        record.check().map_err(Unreadable::Damaged)?;
        Ok(record)
    }

    /// What would make it unsafe to act on.
    pub(super) fn check(&self) -> Result<(), String> {
        if !is_name(&self.name) || self.undoes.as_ref().is_some_and(|name| !is_name(name)) {
            return Err("the name of an operation is not one".to_owned());
        }
        if self.moves.len() > MAX_MOVES || self.removes.len() > MAX_MOVES {
            return Err("it has more renames than any operation".to_owned());
        }
        let top = if is_direct(&self.keep) { self.keep.parent() } else { None };
        let Some(top) = top.filter(|_| self.keep.file_name().is_some_and(|name| name == super::keep::KEEP)) else {
            return Err("the keeping folder is not one".to_owned());
        };
        let paths = self.moves.iter().flat_map(|moved| match moved {
            Renamed::Exchange { stage: one, live: other, .. } | Renamed::Rename { from: one, to: other, .. } => {
                [one, other]
            }
        });
        for path in paths {
            if !is_below(path, top) || path == &self.keep {
                return Err(format!("'{}' lies outside the save", crate::model::shown_path(path)));
            }
        }
        for path in &self.removes {
            if !is_direct(path) || path.parent() != Some(&self.keep.join("recycle")) {
                return Err(format!("'{}' is nothing that may be removed", crate::model::shown_path(path)));
            }
        }
        Ok(())
    }

    /// The same for a save that is reached by another path now: it was moved, or is mounted elsewhere.
    #[cfg(target_os = "linux")]
    pub(super) fn at_keep(mut self, keep: &Path) -> Self {
        if let (Some(was), Some(is)) = (self.keep.parent().map(Path::to_path_buf), keep.parent()) {
            let moved = |path: &PathBuf| path.strip_prefix(&was).map_or_else(|_| path.clone(), |below| is.join(below));
            for turn in &mut self.moves {
                let (Renamed::Exchange { stage: one, live: other, .. } | Renamed::Rename { from: one, to: other, .. }) =
                    turn;
                *one = moved(one);
                *other = moved(other);
            }
            self.removes.iter_mut().for_each(|path| *path = moved(path));
        }
        self.keep = keep.to_path_buf();
        self
    }
}

/// True for the name of an operation.
pub fn is_name(name: &str) -> bool {
    name.len() == OPERATION_DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// True for an absolute path that is written in the one way that leads to it.
fn is_direct(path: &Path) -> bool {
    let plain = path.components().skip(1).all(|part| matches!(part, Component::Normal(_)));
    let same = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    let length = path.as_os_str().len();
    path.has_root() && plain && same && length <= MAX_PATH && !path.as_os_str().as_encoded_bytes().contains(&0)
}

fn is_below(path: &Path, folder: &Path) -> bool {
    is_direct(path) && path != folder && path.starts_with(folder)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
