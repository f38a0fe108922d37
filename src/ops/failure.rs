use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::model::shown_path;

/// Which of the two trees something happened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The save that is read.
    Source,
    /// The copy that is made.
    Stage,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "the source",
            Self::Stage => "the stage",
        })
    }
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Opening a file or a folder.
    Open,
    /// Asking what it is.
    Look,
    /// Listing a folder.
    List,
    /// Making a file, a folder or a link.
    Make,
    /// Reading bytes.
    Read,
    /// Writing bytes.
    Write,
    /// Setting owner, mode, times or attributes.
    Dress,
    /// Making it durable.
    Flush,
    /// Comparing it with its source.
    Compare,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Look => "look at",
            Self::List => "list",
            Self::Make => "make",
            Self::Read => "read",
            Self::Write => "write",
            Self::Dress => "set the owner, mode, times or attributes of",
            Self::Flush => "make durable",
            Self::Compare => "prove",
        })
    }
}

/// Why it could not be done.
#[derive(Debug)]
pub enum Cause {
    /// The system said no.
    System(io::Error),
    /// It changed or went away while it was copied.
    Changed,
    /// It is a pipe, a socket or a device, which is never opened.
    Special(&'static str),
    /// It is a link that leads out of what is copied; here its target, safe to print.
    LeadsOut(String),
    /// It lies on another file system than the folder that holds it.
    OtherFileSystem,
    /// It lies deeper than any save does.
    TooDeep,
    /// It is no name of one file or folder, or comes twice.
    OddName,
    /// It, or a folder above it, is a link, or the path is not absolute.
    NotDirect,
    /// Something of that name is already there.
    NameTaken,
    /// The copy is not equal to its source; here the first difference, safe to print.
    Differs(String),
    /// The archive that it lies in cannot be used; here why, safe to print.
    Archive(String),
    /// The person asked to stop.
    Cancelled,
    /// Operations are not proven on this system.
    Platform,
}

impl Cause {
    /// What went wrong, as the end of a sentence, and what to do next.
    fn words(&self) -> (String, &'static str) {
        let (words, next) = match self {
            Self::System(error) => return (error.to_string(), next_after(error)),
            Self::Changed => {
                ("it changed while it was copied", "Stop the server or wait for its save to end, then try again.")
            }
            Self::Special(kind) => return (format!("it is a {kind}"), "Take it out of the save, then try again."),
            Self::LeadsOut(target) => {
                let words = format!("it is a link to '{target}', which leads out of what is copied");
                return (words, "Put the real file in its place, then try again.");
            }
            Self::OtherFileSystem => {
                ("another file system is mounted there", "Unmount it or leave it out, then try again.")
            }
            Self::TooDeep => ("it lies deeper than any save does", "Take it out of the save, then try again."),
            Self::OddName => {
                ("it is not the name of one file or folder, given once", "Name files and folders of one folder.")
            }
            Self::NotDirect => {
                ("the path is not absolute, or a link is part of it", "Give the real path, as `realpath` prints it.")
            }
            Self::NameTaken => ("something of that name is already there", "Choose another name."),
            Self::Differs(first) => {
                return (format!("it is not equal to the source: {first}"), "Check the disk, then try again.");
            }
            Self::Archive(why) => return (why.clone(), "Use another backup, or fetch this archive again."),
            Self::Cancelled => ("it was cancelled", ""),
            Self::Platform => ("operations are not proven on this system", "Use Linux for operations."),
        };
        (words.to_owned(), next)
    }
}

pub(super) fn next_after(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "Free some space, then try again.",
        io::ErrorKind::PermissionDenied => "Run as the user who owns the save, then try again.",
        io::ErrorKind::ReadOnlyFilesystem => "Mount the file system for writing, then try again.",
        io::ErrorKind::NotFound => "Look whether it was moved or deleted, then try again.",
        _ => "Look into the system's log for the disk, then try again.",
    }
}

/// What is left of a copy that failed. The source is what it was in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing had been made.
    NothingMade,
    /// Everything that had been made was removed again.
    Removed,
    /// Something could not be removed.
    Left {
        /// The stage that is still there.
        stage: PathBuf,
        /// How many things in it were not removed, as far as could be seen.
        things: u64,
    },
}

/// A copy that was not made: what failed, where, why, and what is left.
#[derive(Debug)]
pub struct Failure {
    /// What was being done.
    pub act: Act,
    /// In which tree.
    pub side: Side,
    /// To what: below the source's folder, or the absolute path of a folder itself.
    pub path: PathBuf,
    /// Why not.
    pub cause: Cause,
    /// What is left.
    pub state: State,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, next) = self.cause.words();
        write!(f, "Could not {} '{}' of {}: {words}. ", self.act, shown_path(&self.path), self.side)?;
        match &self.state {
            State::NothingMade => f.write_str("Nothing was made.")?,
            State::Removed => f.write_str("The unfinished copy was removed.")?,
            State::Left { stage, things } => write!(
                f,
                "The unfinished copy '{}' could not be removed whole ({things} left); it can be deleted by hand.",
                shown_path(stage)
            )?,
        }
        f.write_str(" The source is what it was.")?;
        if next.is_empty() { Ok(()) } else { write!(f, " {next}") }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::System(error) => Some(error),
            _ => None,
        }
    }
}

impl Cause {
    /// A link that leads out, by the bytes of its target.
    #[cfg(target_os = "linux")]
    pub(super) fn leads_out(target: &[u8]) -> Self {
        Self::LeadsOut(crate::model::shown(&String::from_utf8_lossy(target)))
    }
}
