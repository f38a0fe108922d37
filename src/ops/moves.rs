//! The renames of an operation: what lies where before and after each, carried out, taken back, and found again by inode.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::keep::{Keep, SWAP, one_name};
use super::record::{Id, Renamed};
use super::tree::calls::Hook;
use super::tree::seen::Seen;
use super::trouble::{Trouble, at, odd};
use crate::model::shown_path;

/// A rename by the numbers of its names.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Exchange { stage: usize, live: usize, new: Id, old: Id },
    Rename { from: usize, to: usize, what: Id },
}

impl Turn {
    fn names(self) -> [usize; 2] {
        match self {
            Self::Exchange { stage: one, live: other, .. } | Self::Rename { from: one, to: other, .. } => [one, other],
        }
    }
}

/// What lies at each name.
type State = Vec<Option<Id>>;

/// The renames in their order, which fit together: each finds what it expects when those before it are done.
#[derive(Debug)]
pub(super) struct Course {
    names: Vec<PathBuf>,
    turns: Vec<Turn>,
    before: State,
}

/// How far the renames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// So many are done, and no further one is begun.
    At(usize),
    /// So many are done, and the next one, an exchange in three steps, is half done.
    Within(usize, Half),
    /// What lies at the names does not fit.
    Lost,
}

/// What an exchange in three steps left: what lies aside, and where the other one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The old one is aside, the new one in the stage.
    OldAsideNewStaged,
    /// The old one is aside, the new one in its place.
    OldAsideNewLive,
    /// On the way back: the new one is aside, the old one in the stage.
    NewAsideOldStaged,
    /// On the way back: the new one is aside, the old one in its place.
    NewAsideOldLive,
}

impl Course {
    /// The error says what does not fit, as the end of a sentence.
    pub(super) fn new(moves: &[Renamed]) -> Result<Self, String> {
        let mut course = Self { names: Vec::new(), turns: Vec::new(), before: Vec::new() };
        let mut numbers: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut now: State = Vec::new();
        for moved in moves {
            let turn = match moved {
                Renamed::Exchange { stage, live, new, old } => Turn::Exchange {
                    stage: course.name(&mut numbers, &mut now, stage, Some(*new)),
                    live: course.name(&mut numbers, &mut now, live, Some(*old)),
                    new: *new,
                    old: *old,
                },
                Renamed::Rename { from, to, what } => Turn::Rename {
                    from: course.name(&mut numbers, &mut now, from, Some(*what)),
                    to: course.name(&mut numbers, &mut now, to, None),
                    what: *what,
                },
            };
            if !apply(&mut now, turn) {
                return Err(format!("the rename of '{}' does not fit those before it", shown_path(first_path(moved))));
            }
            course.turns.push(turn);
        }
        for (n, name) in course.names.iter().enumerate() {
            // A name below another one would move with it.
            let beside = course.names.iter().enumerate().any(|(m, other)| m != n && name.starts_with(other));
            if beside {
                return Err(format!("'{}' lies in something else that is renamed", shown_path(name)));
            }
        }
        Ok(course)
    }

    fn name(
        &mut self,
        numbers: &mut BTreeMap<PathBuf, usize>,
        now: &mut State,
        path: &Path,
        first: Option<Id>,
    ) -> usize {
        if let Some(number) = numbers.get(path) {
            return *number;
        }
        let number = self.names.len();
        self.names.push(path.to_path_buf());
        self.before.push(first);
        now.push(first);
        numbers.insert(path.to_path_buf(), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    /// The first name below a folder at which something lies when all is done.
    pub(super) fn left_in(&self, folder: &Path) -> Option<&Path> {
        let mut state = self.before.clone();
        for turn in &self.turns {
            apply(&mut state, *turn);
        }
        let mut left = self.names.iter().zip(&state).filter(|(name, is)| is.is_some() && name.starts_with(folder));
        left.next().map(|(name, _)| name.as_path())
    }

    /// How far the renames are, by what lies at each name and aside. `ours` says of a name that nobody else changes it.
    fn locate(&self, found: &State, aside: Option<Id>, ours: &[bool]) -> Place {
        let mut state = self.before.clone();
        let mut fits = Vec::new();
        for count in 0..=self.turns.len() {
            match aside {
                None if state == *found => return Place::At(count),
                None if self.fits(count, &state, found, ours) => fits.push(count),
                None => {}
                Some(aside) => {
                    if let Some(half) = self.turns.get(count).and_then(|turn| half_of(*turn, &state, found, aside)) {
                        return Place::Within(count, half);
                    }
                }
            }
            if let Some(turn) = self.turns.get(count) {
                apply(&mut state, *turn);
            }
        }
        match fits.as_slice() {
            [count] => Place::At(*count),
            _ => Place::Lost,
        }
    }

    /// A server may have saved since: it puts new files in the place of old ones. That is no obstacle at a live name
    /// which no rename touches any more, either because all are done with it or because none is begun.
    fn fits(&self, count: usize, state: &State, found: &State, ours: &[bool]) -> bool {
        let to_come: BTreeSet<usize> = if count == 0 {
            BTreeSet::new()
        } else {
            self.turns.iter().skip(count).flat_map(|turn| turn.names()).collect()
        };
        state.iter().zip(found).zip(ours).enumerate().all(|(name, ((should, is), ours))| {
            should == is || (!ours && should.is_some() && is.is_some() && !to_come.contains(&name))
        })
    }

    /// True when a rename from this one on concerns a name outside the keeping folder.
    pub(super) fn touches_live(&self, from: usize, keep: &Path) -> bool {
        self.turns
            .iter()
            .skip(from)
            .flat_map(|turn| turn.names())
            .any(|name| self.names.get(name).is_some_and(|path| !path.starts_with(keep)))
    }
}

fn first_path(moved: &Renamed) -> &Path {
    match moved {
        Renamed::Exchange { live: path, .. } | Renamed::Rename { from: path, .. } => path,
    }
}

/// Carries a rename out in thought; false when it finds something else than it expects.
fn apply(state: &mut State, turn: Turn) -> bool {
    let [one, other] = turn.names();
    let (Some(first), Some(second)) = (state.get(one).copied(), state.get(other).copied()) else { return false };
    let expected = match turn {
        Turn::Exchange { new, old, .. } => (Some(new), Some(old)),
        Turn::Rename { what, .. } => (Some(what), None),
    };
    if one == other || (first, second) != expected {
        return false;
    }
    state.swap(one, other);
    true
}

fn half_of(turn: Turn, state: &State, found: &State, aside: Id) -> Option<Half> {
    let Turn::Exchange { stage, live, new, old } = turn else { return None };
    let others = state.iter().zip(found).enumerate().all(|(n, (should, is))| n == stage || n == live || should == is);
    let is = (found.get(stage).copied()?, found.get(live).copied()?);
    match (aside == old, aside == new, is) {
        _ if !others => None,
        (true, _, (Some(staged), None)) if staged == new => Some(Half::OldAsideNewStaged),
        (true, _, (None, Some(there))) if there == new => Some(Half::OldAsideNewLive),
        (_, true, (Some(staged), None)) if staged == old => Some(Half::NewAsideOldStaged),
        (_, true, (None, Some(there))) if there == old => Some(Half::NewAsideOldLive),
        _ => None,
    }
}

/// Which way a half-done exchange is settled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    On,
    Back,
}

/// Carries the renames of one operation out, in a locked keeping folder.
pub(super) struct Mover<'k, 's, 'h, H> {
    keep: &'k Keep<'s, 'h, H>,
    pub(super) course: Course,
    /// Every folder that holds one of the names; none where it is not there.
    folders: Vec<(PathBuf, Option<OwnedFd>)>,
    /// Of each name, the number of its folder and the name in it.
    places: Vec<(usize, CString)>,
    ours: Vec<bool>,
    /// Folders with a rename that is not durable yet.
    owed: BTreeSet<usize>,
    /// Names of such renames.
    loose: BTreeSet<usize>,
    keep_owed: bool,
    /// False once the file system turned out to have no exchange.
    exchanges: bool,
}

impl<'k, 's, 'h, H: Hook> Mover<'k, 's, 'h, H> {
    /// Opens every folder that is needed, so that nothing can be missing in the middle.
    pub(super) fn new(keep: &'k Keep<'s, 'h, H>, course: Course) -> Result<Self, Trouble> {
        let mut folders: Vec<(PathBuf, Option<OwnedFd>)> = Vec::new();
        let mut places = Vec::new();
        for path in &course.names {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(one_name)) else {
                return Err(odd("rename", path, "it is no name"));
            };
            let known = folders.iter().position(|(folder, _)| folder == parent);
            let number = if let Some(number) = known {
                number
            } else {
                let folder = match keep.sys.direct(parent) {
                    Ok(folder) => Some(folder),
                    Err(Errno::NOENT) => None,
                    Err(error) => return Err(at("open", parent)(error)),
                };
                folders.push((parent.to_path_buf(), folder));
                folders.len() - 1
            };
            places.push((number, name));
        }
        let ours = course.names.iter().map(|path| path.starts_with(&keep.path)).collect();
        Ok(Self {
            keep,
            course,
            folders,
            places,
            ours,
            owed: BTreeSet::new(),
            loose: BTreeSet::new(),
            keep_owed: false,
            exchanges: true,
        })
    }

    fn path(&self, name: usize) -> &Path {
        self.course.names.get(name).map_or_else(|| Path::new(""), PathBuf::as_path)
    }

    fn place(&self, name: usize) -> Result<(&OwnedFd, &CString), Trouble> {
        let missing = || at("open the folder of", self.path(name))(Errno::NOENT);
        let (folder, name) = self.places.get(name).ok_or_else(missing)?;
        let folder = self.folders.get(*folder).and_then(|(_, folder)| folder.as_ref()).ok_or_else(missing)?;
        Ok((folder, name))
    }

    /// What lies at a name.
    fn look(&self, name: usize) -> Result<Option<Id>, Trouble> {
        let Some((number, _)) = self.places.get(name) else { return Ok(None) };
        if self.folders.get(*number).is_none_or(|(_, folder)| folder.is_none()) {
            return Ok(None);
        }
        let (folder, entry) = self.place(name)?;
        match self.keep.sys.stat_at(folder, entry) {
            Ok(stat) => Ok(Some(Seen::from(stat).id())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(at("look at", self.path(name))(error)),
        }
    }

    /// The same as the record would call it. The system numbers its devices anew at each start, but all of this is one file system.
    fn recorded(&self, found: Option<Id>, known: &[Id]) -> Option<Id> {
        let found = found?;
        if known.contains(&found) || found.0 != self.keep.seen.device {
            return Some(found);
        }
        Some(known.iter().find(|id| id.1 == found.1).copied().unwrap_or(found))
    }

    fn known(&self) -> Vec<Id> {
        let ids = self.course.turns.iter().flat_map(|turn| match turn {
            Turn::Exchange { new, old, .. } => vec![*new, *old],
            Turn::Rename { what, .. } => vec![*what],
        });
        ids.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How far the renames are.
    pub(super) fn locate(&self) -> Result<Place, Trouble> {
        let known = self.known();
        let mut found = Vec::new();
        for name in 0..self.course.names.len() {
            found.push(self.recorded(self.look(name)?, &known));
        }
        let aside = self.recorded(self.keep.look(SWAP)?.map(|seen| seen.id()), &known);
        Ok(self.course.locate(&found, aside, &self.ours))
    }

    /// Every name and what lies there now, for a message.
    pub(super) fn lies(&self) -> String {
        let mut words = Vec::new();
        for (n, path) in self.course.names.iter().enumerate().take(8) {
            let is = match self.look(n) {
                Ok(Some(id)) => self.what(id),
                Ok(None) => "nothing",
                Err(_) => "something that cannot be looked at",
            };
            words.push(format!("'{}' is {is}", shown_path(path)));
        }
        let more = self.course.names.len().saturating_sub(8);
        let more = if more > 0 { format!("; and {more} more names") } else { String::new() };
        format!("{}{more}", words.join("; "))
    }

    fn what(&self, id: Id) -> &'static str {
        let known = self.known();
        let id = self.recorded(Some(id), &known);
        for turn in &self.course.turns {
            match turn {
                Turn::Exchange { new, .. } if id == Some(*new) => return "the new state",
                Turn::Exchange { old, .. } if id == Some(*old) => return "the old state",
                Turn::Rename { what, .. } if id == Some(*what) => return "what was to be moved",
                _ => {}
            }
        }
        "something else"
    }

    /// Carries all renames out from this one on, and makes them durable.
    pub(super) fn on(&mut self, from: usize) -> Result<(), Trouble> {
        for turn in self.course.turns.clone().into_iter().skip(from) {
            if turn.names().iter().any(|name| self.loose.contains(name)) {
                self.flush()?;
            }
            self.step(turn, Way::On)?;
        }
        self.flush()
    }

    /// Takes all renames back, and makes that durable. Whatever was begun is found by what lies where.
    pub(super) fn back(&mut self) -> Result<(), Trouble> {
        // Each round undoes at least half of one; more rounds than that are no progress.
        for _ in 0..=(self.course.len() * 2 + 2) {
            match self.locate()? {
                Place::At(0) => return self.flush(),
                Place::At(count) => {
                    let Some(turn) = self.course.turns.get(count - 1).copied() else { break };
                    self.step(turn, Way::Back)?;
                }
                Place::Within(count, half) => self.settle(count, half, Way::Back)?,
                Place::Lost => break,
            }
        }
        Err(odd("take back the renames in", &self.keep.path, "something else lies there now"))
    }

    /// Brings a half-done exchange to its end.
    pub(super) fn settle_on(&mut self, count: usize, half: Half) -> Result<(), Trouble> {
        self.settle(count, half, Way::On)
    }

    fn settle(&mut self, count: usize, half: Half, way: Way) -> Result<(), Trouble> {
        let Some(Turn::Exchange { stage, live, .. }) = self.course.turns.get(count).copied() else {
            return Err(odd("finish a rename in", &self.keep.path, "it is no exchange"));
        };
        match (half, way) {
            (Half::OldAsideNewStaged, Way::On) => {
                self.rename(Some(stage), Some(live))?;
                self.rename(None, Some(stage))
            }
            (Half::OldAsideNewStaged, Way::Back) | (Half::NewAsideOldStaged, _) => self.rename(None, Some(live)),
            (Half::OldAsideNewLive | Half::NewAsideOldLive, _) => self.rename(None, Some(stage)),
        }
    }

    /// One rename, if its names hold what they should.
    fn step(&mut self, turn: Turn, way: Way) -> Result<(), Trouble> {
        let [one, other] = turn.names();
        let (first, second) = match turn {
            Turn::Exchange { new, old, .. } => (Some(new), Some(old)),
            Turn::Rename { what, .. } => (Some(what), None),
        };
        let (from, to) = if way == Way::On { (first, second) } else { (second, first) };
        let known = self.known();
        for (name, should) in [(one, from), (other, to)] {
            if self.recorded(self.look(name)?, &known) != should {
                return Err(odd("rename", self.path(name), "something else lies there now"));
            }
        }
        match (turn, way) {
            (Turn::Exchange { .. }, _) => self.exchange(one, other),
            (Turn::Rename { .. }, Way::On) => self.rename(Some(one), Some(other)),
            (Turn::Rename { .. }, Way::Back) => self.rename(Some(other), Some(one)),
        }
    }

    fn exchange(&mut self, stage: usize, live: usize) -> Result<(), Trouble> {
        if self.exchanges {
            let (from, one) = self.place(stage)?;
            let (to, other) = self.place(live)?;
            match self.keep.sys.exchange(from, one, to, other) {
                Ok(()) => {
                    self.owe(Some(stage));
                    self.owe(Some(live));
                    return Ok(());
                }
                // It refuses before it does anything, so that this is the probe as well.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.exchanges = false,
                Err(error) => return Err(at("exchange the new state with", self.path(live))(error)),
            }
        }
        self.rename(Some(live), None)?;
        self.rename(Some(stage), Some(live))?;
        self.rename(None, Some(stage))
    }

    /// Gives something a name at which nothing is; without a number, the place aside is meant.
    fn rename(&mut self, from: Option<usize>, to: Option<usize>) -> Result<(), Trouble> {
        let aside = SWAP.to_owned();
        let place = |name: Option<usize>| match name {
            Some(name) => self.place(name),
            None => Ok((&self.keep.folder, &aside)),
        };
        let ((old_folder, old), (new_folder, new)) = (place(from)?, place(to)?);
        let path = from.or(to).map_or_else(|| Path::new(""), |name| self.path(name));
        self.keep.sys.rename_new(old_folder, old, new_folder, new).map_err(at("rename", path))?;
        self.owe(from);
        self.owe(to);
        Ok(())
    }

    fn owe(&mut self, name: Option<usize>) {
        match name.and_then(|name| Some((name, self.places.get(name)?.0))) {
            Some((name, folder)) => {
                self.loose.insert(name);
                self.owed.insert(folder);
            }
            None => self.keep_owed = true,
        }
    }

    /// Makes every folder durable in which something was renamed.
    fn flush(&mut self) -> Result<(), Trouble> {
        for (path, folder) in self.owed.iter().filter_map(|number| self.folders.get(*number)) {
            if let Some(folder) = folder {
                self.keep.sys.flush(folder).map_err(at("make durable", path))?;
            }
        }
        if self.keep_owed {
            self.keep.sys.flush(&self.keep.folder).map_err(at("make durable", &self.keep.path))?;
        }
        self.owed.clear();
        self.loose.clear();
        self.keep_owed = false;
        Ok(())
    }

    /// Makes every folder durable that holds one of the names, for renames that an earlier run may have made.
    pub(super) fn flush_all(&mut self) -> Result<(), Trouble> {
        self.owed = (0..self.folders.len()).collect();
        self.keep_owed = true;
        self.flush()
    }
}
