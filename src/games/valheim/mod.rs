//! Valheim: worlds before 1.0 (`.fwl` and `.db`) and since (a folder of generations and chunks).
//!
//! What is known about the files, and how sure it is, stands in `docs/formats/valheim.md`. The way through this folder:
//! `places` finds save roots, `roster` sorts their names with `names`, `pair` and `folder`, `survey` makes worlds and
//! layers of them, `examine` looks at one layer with `commit` (which generation counts) and `inspect` (what the bytes
//! say), `relate` compares the layers of a world.

mod builds;
mod chart;
mod commit;
mod examine;
mod facts;
mod folder;
pub mod format;
mod hears;
mod inspect;
mod keys;
mod names;
mod pair;
mod places;
mod plan;
mod relate;
mod roster;
mod survey;
mod traces;
pub mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Context, Enclosing, Game, Places, Roster, RosterEntry, UsualPlace};
use crate::model::outline::{Ask, Outline, Traces};
use crate::model::plan::Refusal;
use crate::model::{
    Checked, Code, Depth, Facts, Finding, GameId, Hallmarks, Heard, Layer, LayerKind, Profile, Shape, World, shown,
};
use crate::raster::Chart;
use crate::store::{Store, StoreError};

/// What a layer without a finished save says, in the words that players of the game know.
const NO_FINISHED_SAVE: &str = "This snapshot holds no finished save, so there is nothing to restore from it yet.";

/// The game.
pub struct Valheim;

impl Game for Valheim {
    fn id(&self) -> GameId {
        "valheim"
    }

    fn name(&self) -> &'static str {
        "Valheim"
    }

    fn usual_places(&self, places: &Places) -> Vec<UsualPlace> {
        places::usual_places(places)
    }

    fn enclosing(&self, path: &Path, folder: Option<&dyn Store>) -> Option<Enclosing> {
        places::enclosing(path, folder)
    }

    fn roots(&self, store: &dyn Store, context: &Context, unread: &mut Vec<StoreError>) -> Vec<PathBuf> {
        places::roots(store, context, unread)
    }

    fn roster(&self, store: &dyn Store, root: &Path, context: &Context) -> Roster {
        roster::roster(store, root, context)
    }

    fn archives(&self, store: &dyn Store, root: &Path, _context: &Context) -> Vec<PathBuf> {
        places::archives(store, root)
    }

    fn glance(&self, store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> Option<World> {
        survey::glance(store, profile, entry, context)
    }

    fn survey(&self, store: &dyn Store, profile: &str, entry: &RosterEntry, context: &Context) -> World {
        survey::survey(store, profile, entry, context)
    }

    fn relate(&self, world: &mut World) {
        relate::relate(world);
    }

    fn check(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Checked {
        examine::examine(store, layer, None, Depth::Full, context)
    }

    fn check_headers(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Checked {
        examine::examine(store, layer, None, Depth::Headers, context)
    }

    fn holds_data(&self, layer: &Layer) -> bool {
        layer.files.iter().filter_map(|file| file.path.file_name()).any(|name| match pair::Suffix::of(name) {
            Some(suffix) => !suffix.is_metadata(),
            None => Path::new(name).extension().is_none_or(|extension| extension != "fwl2"),
        })
    }

    fn chart(&self, store: &dyn Store, layer: &Layer, context: &Context) -> Result<Chart, Box<Finding>> {
        match examine::parts(store, layer) {
            Some(parts) => chart::chart(store, &parts, context),
            None => Err(Box::new(Finding::note(Code::NoFinishedSave, NO_FINISHED_SAVE, ""))),
        }
    }

    /// The `.db` is away for a moment while a save takes its place, and so is the `.fwl`.
    fn unsettled(&self, layer: &Layer) -> bool {
        let half = [Code::DataMissing, Code::MetadataMissing, Code::MissingFile, Code::Vanished];
        layer.kind == LayerKind::Live
            && layer.shape == Shape::ValheimPair
            && layer.findings.iter().any(|finding| half.contains(&finding.code))
    }

    fn settle_time(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn watched_folders(&self) -> &'static [&'static str] {
        &["worlds_local", "worlds", "backups"]
    }

    fn cares_about(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let log = path.extension().is_some_and(|extension| extension == "log");
        !log && !name.starts_with("cacheMinimap") && !name.ends_with("_biomedatacache.bin")
    }

    fn explain_name(&self, name: &str) -> String {
        let (stem, suffix) = pair::Suffix::split(name.as_ref())
            .and_then(|(stem, suffix)| Some((stem.into_string().ok()?, Some(suffix))))
            .unwrap_or_else(|| (name.to_owned(), None));
        let info = names::classify(&stem);
        let ordinary = info.kind == names::NameKind::World && info.stamp.is_none();
        let rule = if ordinary { String::new() } else { info.rule() };
        match suffix.map(pair::Suffix::age) {
            Some(pair::Age::Old) => {
                format!("{} ends in .old: the save before the last one. {rule}", shown(name)).trim_end().to_owned()
            }
            Some(pair::Age::New) => {
                format!("{} ends in .new: a save that was being written. {rule}", shown(name)).trim_end().to_owned()
            }
            _ => rule,
        }
    }

    fn plan(&self, ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
        plan::plan(ask, context)
    }

    fn traces(&self, profile: &Profile) -> Traces {
        traces::of_profile(profile)
    }

    fn hallmarks(&self, facts: &Facts, generation: Option<u64>) -> Hallmarks {
        facts::hallmarks(facts, generation)
    }

    fn hears(&self, line: &str) -> Option<Heard> {
        hears::hears(line)
    }
}
