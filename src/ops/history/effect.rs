//! What an operation did in the end, whatever its renames were on the way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::shown_path;
use crate::ops::record::{Id, Record, Renamed};

/// Where a thing was before and after an operation, as seen from the keeping folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Kind {
    /// From the keeping folder to a live name.
    Came,
    /// From a live name into the keeping folder.
    Went,
    /// From one live name to another.
    Moved,
}

/// One file or folder that an operation put somewhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Thing {
    pub(in crate::ops) what: Id,
    pub(in crate::ops) first: PathBuf,
    pub(in crate::ops) last: PathBuf,
    pub(in crate::ops) kind: Kind,
}

/// Everything that an operation put somewhere else, in the order in which it got there.
pub(in crate::ops) type Effect = Vec<Thing>;

/// The sum of the renames of a record. What only changed its name inside the keeping folder is left out.
pub(in crate::ops) fn effect(record: &Record) -> Effect {
    // By the name at which it lies: two names of one file are two things.
    let mut now: BTreeMap<&Path, (usize, Id, &Path)> = BTreeMap::new();
    for (turn, moved) in record.moves.iter().enumerate() {
        match moved {
            Renamed::Exchange { stage, live, new, old } => {
                let (_, new, new_from) = now.remove(stage.as_path()).unwrap_or((turn, *new, stage.as_path()));
                let (_, old, old_from) = now.remove(live.as_path()).unwrap_or((turn, *old, live.as_path()));
                now.insert(live.as_path(), (turn, new, new_from));
                now.insert(stage.as_path(), (turn, old, old_from));
            }
            Renamed::Rename { from, to, what } => {
                let (_, what, first) = now.remove(from.as_path()).unwrap_or((turn, *what, from.as_path()));
                now.insert(to.as_path(), (turn, what, first));
            }
        }
    }
    let mut things: Vec<(usize, Thing)> = Vec::new();
    for (last, (turn, what, first)) in now {
        let kind = match (first.starts_with(&record.keep), last.starts_with(&record.keep)) {
            (true, false) => Kind::Came,
            (false, true) => Kind::Went,
            (false, false) if first != last => Kind::Moved,
            _ => continue,
        };
        things.push((turn, Thing { what, first: first.to_path_buf(), last: last.to_path_buf(), kind }));
    }
    things.sort_by_key(|(turn, _)| *turn);
    things.into_iter().map(|(_, thing)| thing).collect()
}

/// A path as people know it: below the folder that holds the keeping folder.
pub(in crate::ops) fn named_below(path: &Path, keep: &Path) -> String {
    let below = keep.parent().and_then(|top| path.strip_prefix(top).ok());
    shown_path(below.unwrap_or(path))
}
