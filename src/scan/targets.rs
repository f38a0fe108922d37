//! From a request to the folders and archives that are opened.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Request, Root};
use crate::games::{self, Game};
use crate::model::{Cancel, Found, Outcome, shown_path};
use crate::store::{self, Effort, Store, StoreError, StoreErrorKind};

/// Every place that a request names: its own roots first, then the usual ones that exist.
pub(super) fn places(request: &Request) -> Vec<Root> {
    let mut roots = request.roots.clone();
    if let Some(places) = &request.discover {
        for game in games_of(request.game) {
            for usual in game.usual_places(places) {
                let root = |path| Root { path, found: Found::Discovered, game: Some(game.id()), name: None };
                match usual.below {
                    None => roots.push(root(usual.path)),
                    Some(below) => roots.extend(each_folder(&usual.path).map(|dir| root(dir.join(&below)))),
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    roots.retain(|root| seen.insert(fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone())));
    roots
}

fn each_folder(path: &Path) -> impl Iterator<Item = PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found.into_iter()
}

/// The games that a request looks for.
pub(super) fn games_of(only: Option<&str>) -> impl Iterator<Item = &'static dyn Game> + use<'_> {
    games::all().iter().copied().filter(move |game| only.is_none_or(|id| id == game.id()))
}

/// A place, opened.
pub(super) struct Opened {
    pub store: Box<dyn Store>,
    /// Only the world that this name belongs to.
    pub part: Option<OsString>,
}

/// Opens a place for a game: a folder, an archive, or the folder around one file or folder of a save.
pub(super) fn open(root: &Root, game: &dyn Game, request: &Request, cancel: &Cancel) -> Result<Opened, Outcome> {
    let effort = Effort::any(cancel);
    let opened = |path: &Path| store::open_within(path, &request.ceilings, &effort).map_err(|error| failed(&error));
    // A path such as `.` has no name of its own, and a bare name no folder around it; the real path has both.
    let bare = root.path.file_name().is_none() || root.path.parent().is_none_or(|dir| dir.as_os_str().is_empty());
    let path = if bare { real(&root.path) } else { root.path.clone() };
    if path.is_dir() {
        let own = opened(&path)?;
        if let Some(around) = game.enclosing(&path, Some(own.as_ref())) {
            // A folder around it that may not be listed is no reason to give up the world itself.
            if let Ok(outer) = opened(&around.outer)
                && outer.list(Path::new("")).is_ok()
            {
                return Ok(Opened { store: outer, part: Some(around.part) });
            }
        }
        return Ok(Opened { store: own, part: None });
    }
    if let Some(around) = game.enclosing(&path, None)
        && fs::symlink_metadata(&path).is_ok()
    {
        return Ok(Opened { store: opened(&around.outer)?, part: Some(around.part) });
    }
    if let Some(archive) = archive_around(&path) {
        let why = "this path leads into an archive; name the archive itself to see the worlds in it";
        return Err(Outcome::Failed(format!("{why}: {}", shown_path(archive))));
    }
    Ok(Opened { store: opened(&path)?, part: None })
}

/// The archive that a path leads into, when a file with the name of one stands where a folder should.
fn archive_around(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|above| store::looks_like_archive(above) && above.is_file())
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What became of a folder in which nothing was found: there is nothing, or it may not be listed.
pub(super) fn listed(path: &Path, request: &Request) -> Outcome {
    let list = store::open(path, &request.ceilings).and_then(|store| store.list(Path::new("")));
    list.map_or_else(|error| failed(&error), |_| Outcome::Nothing)
}

/// What became of a place that could not be opened or listed.
pub(super) fn failed(error: &StoreError) -> Outcome {
    match &error.kind {
        StoreErrorKind::NotFound => Outcome::Missing,
        StoreErrorKind::Denied(why) => Outcome::Denied(why.clone()),
        _ => Outcome::Failed(error.to_string()),
    }
}
