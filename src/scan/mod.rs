//! Finds profiles, walks them, watches them, and emits the model piece by piece.
//!
//! [`run`] emits a profile's names first and then each world with its layers at L1, so that a first screen can stand
//! within milliseconds. [`check`] and [`chart`] look deeper into one layer. A [`Catalog`] is the sum of the events.
//! Nothing here starts a thread but [`watch()`] and [`listen()`]; whoever calls decides where the work is done.

mod archives;
mod catalog;
mod deep;
mod listen;
mod mount;
mod parked;
mod targets;
mod walk;
mod watch;

use std::path::PathBuf;

use jiff::tz::TimeZone;

pub use archives::Memory;
pub use catalog::Catalog;
pub use deep::{chart, check};
pub use listen::{Listening, ServerNews, Spoken, listen};
pub use walk::run;
pub use watch::{Watch, WatchEvent, watch};

use crate::games::{Context, Places};
use crate::model::{Cancel, Clock, Finding, Found, GameId, Looked, Profile, World};
use crate::store::Ceilings;

/// One place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// A folder, a file of a save, or an archive.
    pub path: PathBuf,
    /// Why it is looked at.
    pub found: Found,
    /// Only this game, or whichever fits.
    pub game: Option<GameId>,
    /// The profile's name where the user gave one.
    pub name: Option<String>,
}

/// What to look at, and with what in mind.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Places to look at, in this order.
    pub roots: Vec<Root>,
    /// Where games look by themselves; none: nothing is discovered.
    pub discover: Option<Places>,
    /// Only this game.
    pub game: Option<GameId>,
    /// The clock.
    pub clock: Clock,
    /// The zone of the machine's wall clock; UTC by default.
    pub zone: Option<TimeZone>,
    /// The most that is read or believed.
    pub ceilings: Ceilings,
    /// What earlier scans of this request saw in archives.
    pub memory: Memory,
}

impl Request {
    /// The context that games get.
    pub fn context(&self, cancel: &Cancel) -> Context {
        Context {
            now: self.clock.now(),
            zone: self.zone.clone().unwrap_or(TimeZone::UTC),
            ceilings: self.ceilings.clone(),
            cancel: cancel.clone(),
        }
    }
}

/// One piece of what a scan found, in the order in which a [`Catalog`] wants it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A place was looked at.
    Looked(Looked),
    /// A profile with the names of its worlds, which are unchecked and without layers yet.
    Profile(Profile),
    /// A world at L1, first with its live layer alone and then with all; replaces the one of the same id.
    World {
        /// The profile's id.
        profile: String,
        /// The world.
        world: World,
    },
    /// One more finding about a profile as a whole.
    Finding {
        /// The profile's id.
        profile: String,
        /// The finding.
        finding: Finding,
    },
    /// Everything was looked at.
    Done,
}
