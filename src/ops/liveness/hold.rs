//! A game's own locks, held while its save changes places: a server that starts meanwhile refuses to, as it would beside
//! another server.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::model::outline::Traces;
use crate::model::shown_path;
use crate::ops::record::Renamed;
use crate::sys;

/// Locks that are held until this value goes.
#[derive(Debug, Default)]
pub struct Held {
    files: Vec<File>,
    /// Lock files that are there and could not be held, in whole sentences, safe to print.
    pub told: Vec<String>,
}

impl Held {
    /// How many lock files are held.
    pub fn count(&self) -> usize {
        self.files.len()
    }
}

/// Holds the game's lock files of a save, where it has some: those in its place, and those of the state that the renames
/// put there, since a lock belongs to the file and not to its name.
///
/// Both kinds of locks are held, shared, on descriptors that only read: no file of a save is opened for writing, and
/// both keep out a server, which wants its lock for itself. A lock file that is not there yet cannot be held; the look after
/// the renames finds a server that made one. Nothing waits.
///
/// # Errors
/// A whole sentence when somebody else holds one of them: a server came up since the last look.
pub fn hold(traces: &Traces, moves: &[Renamed]) -> Result<Held, String> {
    let mut held = Held::default();
    for path in names(&traces.locks, moves) {
        let file = match open(&path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(error) => {
                held.told.push(format!("The lock '{}' could not be held: {error}.", shown_path(&path)));
                continue;
            }
        };
        let taken = || format!("The lock '{}' was taken by a server a moment ago.", shown_path(&path));
        // An error other than "somebody has it": some network file systems know one kind only.
        let mut failed = Vec::new();
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(taken()),
            Err(error) => failed.push(std::io::Error::from(error)),
        }
        match sys::share_lock(file.as_fd()) {
            Ok(true) => {}
            Ok(false) => return Err(taken()),
            Err(error) => failed.push(error),
        }
        held.told
            .extend(failed.iter().map(|error| format!("The lock '{}' could not be held: {error}.", shown_path(&path))));
        held.files.push(file);
    }
    Ok(held)
}

/// The lock files under every name that they have during the renames, each once.
fn names(locks: &[PathBuf], moves: &[Renamed]) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let add = |names: &mut Vec<PathBuf>, path: PathBuf| {
        if !names.contains(&path) {
            names.push(path);
        }
    };
    for lock in locks {
        add(&mut names, lock.clone());
    }
    for moved in moves {
        let (one, other) = match moved {
            Renamed::Exchange { stage, live, .. } => (stage, live),
            Renamed::Rename { from, to, .. } => (from, to),
        };
        for at in 0..names.len() {
            let Some(name) = names.get(at).cloned() else { break };
            for (here, there) in [(one, other), (other, one)] {
                if let Ok(rest) = name.strip_prefix(here) {
                    let path = if rest.as_os_str().is_empty() { there.clone() } else { there.join(rest) };
                    add(&mut names, path);
                }
            }
        }
    }
    names
}

/// Opens a lock file for reading; none when nothing is there. Follows no link and waits for no pipe.
pub(super) fn open(path: &Path) -> std::io::Result<Option<File>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits();
    match OpenOptions::new().read(true).custom_flags(i32::try_from(flags).unwrap_or(0)).open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(std::io::Error::new(ErrorKind::InvalidInput, "it is no file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::names;
    use crate::ops::record::Renamed;

    #[test]
    fn a_lock_file_is_known_under_every_name_that_it_has_during_the_renames() {
        let path = |text: &str| PathBuf::from(text);
        let exchange =
            Renamed::Exchange { stage: path("/s/k/stage/1"), live: path("/s/world"), new: (1, 1), old: (1, 2) };
        let park = Renamed::Rename { from: path("/s/k/stage/1"), to: path("/s/k/recycle/world"), what: (1, 2) };
        let other = Renamed::Rename { from: path("/s/k/stage/2"), to: path("/s/worldly"), what: (1, 3) };
        assert_eq!(
            names(&[path("/s/world/session.lock")], &[exchange, park, other]),
            ["/s/world/session.lock", "/s/k/stage/1/session.lock", "/s/k/recycle/world/session.lock"].map(path)
        );
        let lone = Renamed::Rename { from: path("/s/LOCK"), to: path("/s/k/recycle/LOCK"), what: (1, 2) };
        assert_eq!(names(&[path("/s/LOCK")], &[lone]), ["/s/LOCK", "/s/k/recycle/LOCK"].map(path));
        assert_eq!(names(&[], &[]), Vec::<PathBuf>::new());
    }
}
