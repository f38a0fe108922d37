//! What each game does with its files: finding them, naming them, checking them, mapping them.
//!
//! One folder a game behind the trait [`Game`]; [`all`] is the only list of games. A game never prints, never writes
//! to disk, never starts a thread, and reads only through a [`Store`].

pub mod valheim;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::model::outline::{Ask, Outline, Traces};
use crate::model::plan::Refusal;
use crate::model::{Cancel, Checked, Facts, Finding, GameId, Hallmarks, Heard, Layer, Profile, World};
use crate::raster::Chart;
use crate::store::{Ceilings, EntryKind, Store, StoreError};

/// What a game may know about the world around it while it works.
#[derive(Clone, Debug)]
pub struct Context {
    /// The moment that counts as now.
    pub now: Timestamp,
    /// The zone of the machine's wall clock, for stamps in names.
    pub zone: TimeZone,
    /// The most that is read or believed.
    pub ceilings: Ceilings,
    /// Asked once per file or per some thousand objects; when cancelled, return early with what there is.
    pub cancel: Cancel,
}

/// Where this machine's user and programs keep things: the input of discovery, made up in tests.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Put before absolute places such as `/config`; empty on a real machine.
    pub system: PathBuf,
    /// The environment.
    pub vars: BTreeMap<OsString, OsString>,
}

/// A usual place for saves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsualPlace {
    /// A folder that may hold saves.
    pub path: PathBuf,
    /// When given, the saves lie in `path/*/below` for each folder in `path`.
    pub below: Option<PathBuf>,
}

/// One name in a worlds folder that belongs to a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name on disk.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// The names of a world and its layers in a store, before anything but folders was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    /// The second part of the world's id, unique in its profile: the name, with the place before it where needed.
    pub key: String,
    /// The name on disk.
    pub name: OsString,
    /// Where in the profile it lies, when that needs saying.
    pub place: Option<String>,
    /// The folder in the store that holds its parts.
    pub dir: PathBuf,
    /// Names in `dir` that belong to it, sorted; what they mean is the game's business.
    pub parts: Vec<Part>,
    /// What the names alone say about it.
    pub findings: Vec<Finding>,
}

/// What a game found in a store by names alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster {
    /// The worlds, by name.
    pub entries: Vec<RosterEntry>,
    /// What concerns the place as a whole: junk, unreadable folders.
    pub findings: Vec<Finding>,
}

/// Where the world of a path is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosing {
    /// The folder to open as a store.
    pub outer: PathBuf,
    /// The name in it that the path belongs to.
    pub part: OsString,
}

/// A game whose saves we know.
pub trait Game: Sync {
    /// The short name in ids, JSON and `--game`.
    fn id(&self) -> GameId;

    /// The name for people.
    fn name(&self) -> &'static str;

    /// The folders that may hold saves on this machine, most likely first; nothing is read here.
    fn usual_places(&self, places: &Places) -> Vec<UsualPlace>;

    /// The folder that lists the world of a path, when the path is a file or a folder of one save rather than a place
    /// with saves. `folder` is the store of the path itself when it is a folder.
    fn enclosing(&self, path: &Path, folder: Option<&dyn Store>) -> Option<Enclosing>;

    /// The save roots in a store, at most three folders deep; each becomes a profile. Reads folders, and the first
    /// bytes of files whose name alone does not tell. Folders on the way that cannot be listed go to `unread`, since
    /// they may hold saves as well.
    fn roots(&self, store: &dyn Store, context: &Context, unread: &mut Vec<StoreError>) -> Vec<PathBuf>;

    /// The worlds below a root by names alone: cheap, so that a first screen can follow at once.
    fn roster(&self, store: &dyn Store, root: &Path, context: &Context) -> Roster;

    /// Archives below a root that may hold copies of its worlds, newest name first.
    fn archives(&self, store: &dyn Store, root: &Path, context: &Context) -> Vec<PathBuf>;

    /// One world with its live layer alone at L1, so that the worlds of a whole disk have a verdict before the many
    /// other layers are read; none where the names show no live layer.
    fn glance(&self, store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> Option<World>;

    /// One world with all its layers at L1, and what its layers say about each other. Ids are `PROFILE/KEY@LAYER`.
    fn survey(&self, store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> World;

    /// Works out anew what a world's layers say about each other, after one was added or checked.
    fn relate(&self, world: &mut World);

    /// One layer at L2.
    fn check(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Checked;

    /// One layer at L1, as [`Game::survey`] looks at it: for one that became a layer of another kind since.
    fn check_headers(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Checked;

    /// True when a layer holds anything besides the metadata of a save, by the names of its files. What a rename keeps
    /// for an undo is the old metadata alone, which is no state of a world.
    fn holds_data(&self, layer: &Layer) -> bool;

    /// What a map of a layer shows.
    fn chart(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Result<Chart, Box<Finding>>;

    /// True when a live layer looks like one that is being replaced this very moment (a half is missing), so that it
    /// is worth looking again after [`Game::settle_time`].
    fn unsettled(&self, layer: &Layer) -> bool;

    /// How long to wait before looking again at an unsettled world.
    fn settle_time(&self) -> std::time::Duration;

    /// Folders below a root in which something new may appear; they need not be there.
    fn watched_folders(&self) -> &'static [&'static str];

    /// Whether a changed path inside the profile could change what a roster or a survey says.
    fn cares_about(&self, path: &Path) -> bool;

    /// By which rule a name on disk is a world, a layer or neither, in words: the answer to "where did it go". Empty
    /// for a name without anything special, which says nothing about where it went.
    fn explain_name(&self, name: &str) -> String;

    /// What an operation means for the files, by the rules of the game, or why the game would be harmed by it. Reads
    /// through stores that it opens itself, and changes nothing.
    fn plan(&self, ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal>;

    /// What could show that a server uses anything of a profile.
    fn traces(&self, profile: &Profile) -> Traces;

    /// What tells the state of a layer from others, by its facts as far as they are known.
    fn hallmarks(&self, facts: &Facts, generation: Option<u64>) -> Hallmarks;

    /// What a line of the server's own output says about its saves; none for the many lines that say nothing of them.
    fn hears(&self, line: &str) -> Option<Heard>;
}

/// Every game, the only list of them.
pub fn all() -> &'static [&'static dyn Game] {
    &[&valheim::Valheim]
}

/// The game of an id.
pub fn by_id(id: &str) -> Option<&'static dyn Game> {
    all().iter().copied().find(|game| game.id() == id)
}
