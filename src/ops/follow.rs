//! What became of an operation once the game went on: the first save after a restore, and the first load.
//!
//! Pure but for [`operations`] and [`busy`], which read the keeping folders. Nothing is changed.

use std::path::{Path, PathBuf};

use super::ask::keeps_of;
use super::history;
use super::keep::journal_of;
use super::record::{Record, Renamed};
use crate::model::plan::Operation;
use crate::model::{Hallmarks, Heard, Layer, Profile, Severity, Went, World, shown, shown_path};

/// What is to be told of a world after an operation, or of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// What it is, for scripts: `first-save`, `fresh-world` or `other-load`.
    pub event: &'static str,
    /// How bad that is.
    pub severity: Severity,
    /// The name of the operation; none where a load is odd without one.
    pub operation: Option<String>,
    /// In whole sentences, safe to print.
    pub text: String,
    /// What to do next; empty when nothing needs doing.
    pub next: String,
}

/// The operations on record for what lies below a save root, newest first. What cannot be read is left out: `history`
/// tells that.
pub fn operations(root: &Path) -> Vec<Record> {
    let mut untold = Vec::new();
    let mut all: Vec<_> = keeps_of([root]).iter().flat_map(|keep| history::read(keep, &mut untold)).collect();
    all.sort_by(|one, other| (other.record.at, other.began).cmp(&(one.record.at, one.began)));
    all.into_iter().map(|written| written.record).collect()
}

/// True while an operation is in the middle of its renames below a save root, or was broken off there: what is seen then
/// is neither the old nor the new state.
pub fn busy(root: &Path) -> bool {
    keeps_of([root]).iter().any(|keep| journal_of(keep).symlink_metadata().is_ok())
}

/// The newest operation that put something in the place of a world that has a live state, or took it from there.
pub fn last_change<'r>(records: &'r [Record], world: &World) -> Option<&'r Record> {
    let places = places(world);
    records.iter().find(|record| record.operation != Operation::Purge && touches(record, &places))
}

/// Where the live state of a world lies, without links: what a record speaks of.
fn places(world: &World) -> Vec<PathBuf> {
    let files = |layer: &Layer| {
        let files = layer.files.iter().map(|file| layer.source.outer.join(&file.path));
        files.chain([layer.path.clone()]).collect::<Vec<_>>()
    };
    let mut places: Vec<PathBuf> = world.live().into_iter().flat_map(files).collect();
    // A state of another shape lies beside it under the same name.
    let dirs: Vec<PathBuf> = places.iter().filter_map(|path| Some(path.parent()?.to_path_buf())).collect();
    places.extend(dirs.into_iter().map(|dir| dir.join(&world.name)));
    places.sort();
    places.dedup();
    places.into_iter().map(|path| without_links(&path)).collect()
}

fn without_links(path: &Path) -> PathBuf {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return path.to_path_buf() };
    dir.canonicalize().map_or_else(|_| path.to_path_buf(), |dir| dir.join(name))
}

fn touches(record: &Record, places: &[PathBuf]) -> bool {
    record.moves.iter().any(|moved| match moved {
        Renamed::Exchange { stage: one, live: other, .. } | Renamed::Rename { from: one, to: other, .. } => {
            places.contains(one) || places.contains(other)
        }
    })
}

/// What the first save after a restore shows. None while the game has not saved since, or when the operation put no state
/// of which that can be told.
pub fn first_save(record: &Record, now: &Hallmarks, world: &World) -> Option<Followed> {
    let restored = record.restored.as_ref()?;
    let name = shown(&world.name);
    let followed =
        |event, severity, text, next| Followed { event, severity, operation: Some(record.name.clone()), text, next };
    match restored.went(now) {
        Went::Untouched => None,
        Went::On => {
            let text =
                format!("The game has saved {name} for the first time since the restore, and it is the same world.");
            Some(followed("first-save", Severity::Note, text, String::new()))
        }
        Went::Astray(why) => {
            let text = format!(
                "{name} was restored, and what lies there now is not what came of it: {}. The game did not load the \
                 restored state, or began a new world.",
                why.join(", ")
            );
            let next = format!(
                "Stop the server. Then restore the layer once more, or take the restore back with `worldkeep undo {}`; \
                 either keeps what lies there now.",
                record.name
            );
            Some(followed("fresh-world", Severity::Error, text, next))
        }
    }
}

/// What is odd about a load that the server tells of: it loads another save than the newest one here, or far less than was
/// restored.
pub fn load(
    record: Option<&Record>,
    heard: &Heard,
    live: &Hallmarks,
    profile: &Profile,
    world: &World,
) -> Option<Followed> {
    let restored = record.and_then(|record| record.restored.as_ref());
    let untouched = restored.is_some_and(|restored| restored.went(live) == Went::Untouched);
    let name = shown(&world.name);
    let what = match (heard.generation, live.generation, heard.objects, live.objects) {
        (Some(loads), Some(is), _, _) if loads != is => {
            format!("The server loads save {loads} of {name}, and the newest one here is save {is}.")
        }
        (_, _, Some(loads), Some(is)) if untouched && loads < is / 2 => {
            format!("The server loads {name} with {loads} objects, and what was restored holds {is}.")
        }
        _ => return None,
    };
    Some(Followed {
        event: "other-load",
        severity: if untouched { Severity::Error } else { Severity::Warning },
        operation: record.filter(|_| untouched).map(|record| record.name.clone()),
        text: format!("{what} It may read another folder than {}.", shown_path(&profile.root)),
        next: "Compare the folder that the server is started with with this one, before players go on.".to_owned(),
    })
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
