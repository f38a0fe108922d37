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

use crate::model::{Cancel, Checked, Finding, GameId, Layer, World};
use crate::raster::Chart;
use crate::store::{Ceilings, Store};

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

/// The names of a world and its layers in a store, before anything but folders was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    /// The second part of the world's id, unique in its store: the name, with the place before it where needed.
    pub key: String,
    /// The name on disk.
    pub name: OsString,
    /// The folder in the store that holds it.
    pub dir: PathBuf,
    /// Names in `dir` that belong to it, in the game's own order; what they mean is the game's business.
    pub parts: Vec<OsString>,
}

/// What a game found in a store by names alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster {
    /// The worlds, by name.
    pub entries: Vec<RosterEntry>,
    /// What concerns the place as a whole: junk, unreadable folders, twins.
    pub findings: Vec<Finding>,
}

/// How a path relates to a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Not at all.
    None,
    /// It holds this game's worlds, or is one.
    Holds,
}

/// A game whose saves we know.
pub trait Game: Sync {
    /// The short name in ids, JSON and `--game`.
    fn id(&self) -> GameId;

    /// The name for people.
    fn name(&self) -> &'static str;

    /// The folders that may hold saves on this machine, most likely first; nothing is read here.
    fn usual_places(&self, places: &Places) -> Vec<PathBuf>;

    /// Whether a store, seen from its root, is something of this game's. Reads folders only.
    fn fit(&self, store: &dyn Store, context: &Context) -> Fit;

    /// The worlds in a store by names alone: cheap, so that a first screen can follow at once.
    fn roster(&self, store: &dyn Store, context: &Context) -> Roster;

    /// One world with all its layers at L1, and what its layers say about each other. Ids are `PROFILE/KEY@LAYER`.
    fn survey(&self, store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> World;

    /// One layer at L2.
    fn check(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Checked;

    /// What a map of a layer shows.
    fn chart(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Result<Chart, Box<Finding>>;

    /// True when a world looks like one that is being replaced this very moment (a half is missing), so that it is
    /// worth looking again after [`Game::settle_time`].
    fn unsettled(&self, world: &World) -> bool;

    /// How long to wait before looking again at an unsettled world.
    fn settle_time(&self) -> std::time::Duration;

    /// Whether a path inside the profile could change what a roster or a survey says.
    fn cares_about(&self, path: &Path) -> bool;

    /// By which rule a name on disk is a world, a layer or neither, in words: the answer to "where did it go".
    fn explain_name(&self, name: &str) -> String;
}

/// Every game, the only list of them.
pub fn all() -> &'static [&'static dyn Game] {
    &[&valheim::Valheim]
}

/// The game of an id.
pub fn by_id(id: &str) -> Option<&'static dyn Game> {
    all().iter().copied().find(|game| game.id() == id)
}
