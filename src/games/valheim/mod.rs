//! Valheim: worlds before 1.0 (`.fwl` and `.db`) and since (a folder of generations and chunks).
//!
//! What is known about the files, and how sure it is, stands in `docs/formats/valheim.md`.

#[allow(dead_code)] // Until `Game::chart` calls it.
mod chart;
#[allow(dead_code)] // Until `Game::check` shows them.
mod facts;
pub mod format;
#[allow(dead_code)] // Until `Game::check` calls it.
mod inspect;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Context, Fit, Game, Places, Roster, RosterEntry};
use crate::model::{Checked, Code, Depth, Facts, Finding, GameId, Layer, Verdict, World, WorldKind};
use crate::raster::Chart;
use crate::store::Store;

/// The game.
pub struct Valheim;

impl Game for Valheim {
    fn id(&self) -> GameId {
        "valheim"
    }

    fn name(&self) -> &'static str {
        "Valheim"
    }

    fn usual_places(&self, _places: &Places) -> Vec<PathBuf> {
        Vec::new()
    }

    fn fit(&self, _store: &dyn Store, _context: &Context) -> Fit {
        Fit::None
    }

    fn roster(&self, _store: &dyn Store, _context: &Context) -> Roster {
        Roster::default()
    }

    fn survey(&self, _store: &dyn Store, profile: &str, entry: &RosterEntry, _context: &Context) -> World {
        World {
            id: format!("{profile}/{}", entry.key),
            name: entry.name.to_string_lossy().into_owned(),
            kind: WorldKind::World,
            place: None,
            inner_name: None,
            opens_with: None,
            findings: Vec::new(),
            layers: Vec::new(),
        }
    }

    fn check(&self, _store: &dyn Store, _layer: &Layer, _context: &Context) -> Checked {
        Checked {
            verdict: Verdict::Unchecked,
            depth: Depth::Names,
            findings: Vec::new(),
            facts: Facts::default(),
            restorable: false,
            reason: None,
        }
    }

    fn chart(&self, _store: &dyn Store, _layer: &Layer, _context: &Context) -> Result<Chart, Box<Finding>> {
        Err(Box::new(Finding::note(Code::NotReached, "", "")))
    }

    fn unsettled(&self, _world: &World) -> bool {
        false
    }

    fn settle_time(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn cares_about(&self, _path: &Path) -> bool {
        true
    }

    fn explain_name(&self, _name: &str) -> String {
        String::new()
    }
}
