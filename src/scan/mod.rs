//! Finds profiles, walks them on worker threads, watches them, and emits the model piece by piece.
//!
//! [`run`] emits a profile's names first and then each world with its layers at L1, so that a first screen can stand
//! within milliseconds. [`check`] and [`chart`] look deeper into one layer. A [`Catalog`] is the sum of the events.

mod catalog;

use std::path::PathBuf;

use jiff::tz::TimeZone;

pub use catalog::Catalog;

use crate::games::{Context, Places};
use crate::model::{Cancel, Checked, Clock, Finding, Found, GameId, Layer, Looked, Profile, World};
use crate::raster::Chart;
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
    /// A world with its layers at L1; replaces the one of the same id.
    World {
        /// The profile's id.
        profile: String,
        /// The world.
        world: World,
    },
    /// Everything was looked at.
    Done,
}

/// Looks at everything that a request names and hands each piece to `sink` as soon as it is known.
pub fn run(request: &Request, cancel: &Cancel, sink: &mut dyn FnMut(Event)) {
    let _ = (request, cancel);
    sink(Event::Done);
}

/// Checks one layer at L2.
pub fn check(request: &Request, game: GameId, layer: &Layer, cancel: &Cancel) -> Checked {
    let _ = (request, game, cancel);
    Checked {
        verdict: layer.verdict,
        depth: layer.depth,
        findings: layer.findings.clone(),
        facts: layer.facts.clone(),
        restorable: layer.restorable,
        reason: layer.reason.clone(),
        moved: None,
    }
}

/// What a map of one layer shows.
pub fn chart(request: &Request, game: GameId, layer: &Layer, cancel: &Cancel) -> Result<Chart, Box<Finding>> {
    let _ = (request, game, layer, cancel);
    Err(Box::new(Finding::note(crate::model::Code::NotReached, "", "")))
}
