//! The steps of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::model::outline::{Change, Fresh, Origin, Outline};
use crate::model::plan::{Reason, Refusal, Rights, Step};
use crate::model::shown_path;
use crate::ops::keep::{recycle_of, stage_of};

/// What was laid out.
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// Where what goes away is kept; none when nothing goes.
    pub(super) parked: Option<PathBuf>,
}

/// True when something lies at a path, or it cannot be told.
pub(super) fn recorded(path: &Path) -> bool {
    !matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// True for the name of one entry.
pub(super) fn is_plain_name(name: &OsStr) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

/// Everything that makes the new state, then every rename in the order of the outline, then what was exchanged for it goes to
/// the recycle folder: what a server could see is over as early as can be.
pub(super) fn steps(outline: &Outline, keep: &Path, name: &str) -> Result<Steps, Refusal> {
    let mut laying = Laying {
        outline,
        top: keep.parent().unwrap_or(keep),
        stage: stage_of(keep, name),
        recycle: recycle_of(keep, name),
        copies: Vec::new(),
        shared: BTreeSet::new(),
        makes: Vec::new(),
        there: BTreeMap::new(),
    };
    let (mut renames, mut parks) = (Vec::new(), Vec::new());
    let mut staged = Vec::new();
    for change in &outline.changes {
        if let Change::Put { fresh, .. } = change {
            staged.push(laying.make(fresh)?);
        }
    }
    let mut staged = staged.into_iter();
    for change in &outline.changes {
        match change {
            Change::Put { to, replaces: true, .. } => {
                laying.there(to)?;
                let Some(stage) = staged.next() else { continue };
                renames.push(Step::Exchange { stage: stage.clone(), live: to.clone() });
                let parked = laying.parked(to)?;
                parks.push(Step::Park { from: stage, to: parked });
            }
            Change::Put { to, replaces: false, .. } => {
                laying.free(to)?;
                let Some(from) = staged.next() else { continue };
                laying.there.insert(to.clone(), true);
                renames.push(Step::Place { from, to: to.clone() });
            }
            Change::Park(path) => {
                laying.there(path)?;
                let to = laying.parked(path)?;
                laying.there.insert(path.clone(), false);
                renames.push(Step::Park { from: path.clone(), to });
            }
            Change::Move { from, to } => {
                laying.there(from)?;
                laying.free(to)?;
                laying.there.insert(from.clone(), false);
                laying.there.insert(to.clone(), true);
                renames.push(Step::Place { from: from.clone(), to: to.clone() });
            }
        }
    }
    let goes = renames.iter().chain(&parks).any(|step| matches!(step, Step::Park { .. }));
    let parked = goes.then(|| laying.recycle.clone());
    let Laying { copies, makes, .. } = laying;
    let steps = copies.into_iter().chain(makes).chain(renames).chain(parks).collect();
    Ok(Steps { steps, parked })
}

struct Laying<'a> {
    outline: &'a Outline,
    /// The folder that holds the keeping folder.
    top: &'a Path,
    stage: PathBuf,
    recycle: PathBuf,
    /// Copies and what is unpacked; each has a number in the stage.
    copies: Vec<Step>,
    /// Which of the copies may get further items.
    shared: BTreeSet<usize>,
    /// What is written, and how it is dressed.
    makes: Vec<Step>,
    /// What the renames so far have made of a name, and of names in the recycle folder.
    there: BTreeMap<PathBuf, bool>,
}

impl Laying<'_> {
    fn is_there(&self, path: &Path) -> bool {
        self.there.get(path).copied().unwrap_or_else(|| recorded(path))
    }

    fn there(&self, path: &Path) -> Result<(), Refusal> {
        if self.is_there(path) {
            return Ok(());
        }
        Err(Refusal::new(Reason::SourceGone, format!("'{}' is not there.", shown_path(path))))
    }

    fn free(&self, path: &Path) -> Result<(), Refusal> {
        if self.is_there(path) {
            return Err(Refusal::new(Reason::NameTaken, format!("There already is a '{}'.", shown_path(path))));
        }
        Ok(())
    }

    /// Where something is kept: below the recycle folder as it lay below the save root, so that what is parked looks like a
    /// save root to the game.
    fn parked(&mut self, path: &Path) -> Result<PathBuf, Refusal> {
        let below = path.strip_prefix(&self.outline.root).or_else(|_| path.strip_prefix(self.top));
        let to = below.map(|below| self.recycle.join(below)).ok().filter(|to| *to != self.recycle);
        let twice = |to: &PathBuf| self.there.keys().any(|other| other.starts_with(to) || to.starts_with(other));
        match to.filter(|to| !twice(to)) {
            Some(to) => {
                self.there.insert(to.clone(), true);
                Ok(to)
            }
            None => Err(Refusal::new(
                Reason::NotSupported,
                format!("'{}' would be put aside twice, or lies outside the save.", shown_path(path)),
            )),
        }
    }

    fn next(&self) -> PathBuf {
        self.stage.join(self.copies.len().to_string())
    }

    /// Lays out what makes one new state; the answer is where it then lies.
    fn make(&mut self, fresh: &Fresh) -> Result<PathBuf, Refusal> {
        let staged = match &fresh.origin {
            Origin::Whole(path) => {
                let (Some(folder), Some(item)) = (path.parent(), path.file_name()) else {
                    let text = format!("'{}' is no file or folder of a save.", shown_path(path));
                    return Err(Refusal::new(Reason::NotCopyable, text));
                };
                self.whole(folder, item).join(item)
            }
            Origin::Files { folder, names } => {
                let to = self.next();
                self.copies.push(Step::Copy { from: folder.clone(), items: names.clone(), to: to.clone() });
                to
            }
            Origin::Members { archive, members } => {
                let (archive, members, to) = (archive.clone(), members.clone(), self.next());
                self.copies.push(Step::Unpack { archive, members, to: to.clone() });
                to
            }
        };
        for (below, bytes) in &fresh.writes {
            if !below.components().all(|part| matches!(part, Component::Normal(_))) {
                let text = format!("'{}' is no path in a save.", shown_path(below));
                return Err(Refusal::new(Reason::NotCopyable, text));
            }
            // Joining an empty path would add a slash at the end.
            let path = if below.as_os_str().is_empty() { staged.clone() } else { staged.join(below) };
            self.makes.push(Step::Write { path, bytes: bytes.clone() });
        }
        let rights = if matches!(fresh.origin, Origin::Members { .. }) { Rights::Like } else { Rights::Keep };
        self.makes.push(Step::Dress { path: staged.clone(), like: fresh.like.clone(), rights });
        Ok(staged)
    }

    /// The folder of the stage for an item; items of one folder share one as long as none comes twice.
    fn whole(&mut self, folder: &Path, item: &OsStr) -> PathBuf {
        for (n, step) in self.copies.iter_mut().enumerate() {
            if let Step::Copy { from, items, to } = step
                && from == folder
                && self.shared.contains(&n)
                && !items.iter().any(|other| other == item)
            {
                items.push(item.to_owned());
                return to.clone();
            }
        }
        self.shared.insert(self.copies.len());
        let to = self.next();
        self.copies.push(Step::Copy { from: folder.to_path_buf(), items: vec![item.to_owned()], to: to.clone() });
        to
    }
}
