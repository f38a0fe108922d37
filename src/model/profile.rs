use std::path::PathBuf;

use super::{Finding, World};

/// The short name of a game in ids, JSON and `--game`, such as `valheim`.
pub type GameId = &'static str;

/// How a profile came to be looked at; the words of JSON's `found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// In one of the usual places.
    Discovered,
    /// Named in the configuration.
    Configured,
    /// Named on the command line.
    Argument,
    /// A demo save.
    Demo,
}

impl Found {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discovered => "discovered",
            Self::Configured => "configured",
            Self::Argument => "argument",
            Self::Demo => "demo",
        }
    }
}

/// A place where one game keeps saves.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Unique in a catalog; the first part of every id.
    pub id: String,
    /// The words for a person: a configured name, or the id.
    pub name: String,
    /// Which game.
    pub game: GameId,
    /// The folder or archive on disk.
    pub root: PathBuf,
    /// How it was found.
    pub found: Found,
    /// Bytes that an ordinary user may still write on that mount.
    pub free_bytes: Option<u64>,
    /// What concerns the place as a whole.
    pub findings: Vec<Finding>,
    /// Its worlds, by name.
    pub worlds: Vec<World>,
}

/// What became of a place that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds saves of this many profiles.
    Saves,
    /// Nothing is there.
    Missing,
    /// It is there, and holds no save that we know.
    Nothing,
    /// We may not look; the reason in words.
    Denied(String),
    /// It could not be read; the reason in words.
    Failed(String),
}

/// A place that was looked at for saves, or a folder below one that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Where.
    pub path: PathBuf,
    /// Why there.
    pub found: Found,
    /// With what result.
    pub outcome: Outcome,
}
