use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use super::args::Global;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::look::Look;
use super::{Exit, log, output};
use crate::config::{Config, Environment, load, load_or_defaults, nearest};
use crate::games;
use crate::model::{Cancel, Found, GameId, Looked, Outcome, Profile, Server, shown, shown_path};
use crate::ops::ask::keeps_of;
use crate::ops::recover::recover;
use crate::ops::{Setting, liveness};
use crate::scan::{self, Catalog, Request, Root};

/// What was seen of the servers of profiles, by the profile's id; missing where nobody looked.
pub(super) type Servers = BTreeMap<String, Server>;

/// What every command needs: the configuration in force, the flags, and a way to stop.
pub(super) struct Session {
    pub(super) config: Config,
    pub(super) env: Environment,
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) look: Look,
    /// A place with demo saves, looked at instead of everything else.
    pub(super) demo: Option<PathBuf>,
    roots: Vec<PathBuf>,
    game: Option<GameId>,
    cancel: Cancel,
    interrupt: Interrupt,
}

impl Session {
    /// A session of a command: a broken configuration is an error.
    pub(super) fn new(global: Global, env: Environment) -> Result<Self, Failure> {
        let config = load(&global.overrides(), &env).map_err(|error| Failure::usage(error.to_string()))?;
        let mut session = Self::with(global, env, config)?;
        session.interrupt = Interrupt::listen(&session.cancel);
        if !session.quiet {
            for warning in &session.config.warnings {
                output::complain(&format!("worldkeep: {warning}\n"));
            }
        }
        Ok(session)
    }

    /// A session of the browser: a broken configuration file is told there, and built-in values are used.
    pub(super) fn for_browser(global: Global, env: Environment) -> Result<Self, Failure> {
        let config = load_or_defaults(&global.overrides(), &env).map_err(|error| Failure::usage(error.to_string()))?;
        Self::with(global, env, config)
    }

    fn with(global: Global, env: Environment, config: Config) -> Result<Self, Failure> {
        let game = global.game.as_deref().map(game_of).transpose()?;
        if let Some(path) = &config.log {
            log::start(path)?;
        }
        let look = Look::of(&config, &env, std::io::stdout().is_terminal());
        let cancel = Cancel::new();
        let interrupt = Interrupt::default();
        let Global { json, quiet, root: roots, .. } = global;
        Ok(Self { config, env, json, quiet, look, demo: None, roots, game, cancel, interrupt })
    }

    /// What to look at when only these paths count, or everything when there are none.
    pub(super) fn request(&self, paths: &[PathBuf]) -> Request {
        let Some(demo) = &self.demo else {
            return crate::config::request(&self.config, &self.env, paths, &self.roots, self.game);
        };
        let mut request = crate::config::request(&self.config, &self.env, std::slice::from_ref(demo), &[], self.game);
        for root in &mut request.roots {
            *root = Root { found: Found::Demo, ..root.clone() };
        }
        request
    }

    /// Scans to the end, unless the user stops it.
    pub(super) fn scan(&self, request: &Request) -> Result<Catalog, Failure> {
        let mut catalog = Catalog::default();
        scan::run(request, &self.cancel, &mut |event| catalog.apply(event));
        self.go_on()?;
        tracing::debug!(profiles = catalog.profiles.len(), "scanned");
        Ok(catalog)
    }

    /// Checks the layers of these ids at L2, one after the other, and tells `before` each one.
    pub(super) fn check(
        &self,
        request: &Request,
        catalog: &mut Catalog,
        ids: &BTreeSet<String>,
        mut before: impl FnMut(usize, &str),
    ) -> Result<(), Failure> {
        crate::sys::set_idle_io_priority();
        let mut number = 0;
        for profile in &mut catalog.profiles {
            for world in &mut profile.worlds {
                let before_world = number;
                for layer in world.layers.iter_mut().filter(|layer| ids.contains(&layer.id)) {
                    before(number, &layer.id);
                    number += 1;
                    let checked = scan::check(request, profile.game, layer, &self.cancel);
                    self.go_on()?;
                    layer.apply(checked);
                }
                // A seed that only a full check recovers can tell that a layer is of another world.
                if number > before_world
                    && let Some(game) = games::by_id(profile.game)
                {
                    game.relate(world);
                }
            }
        }
        Ok(())
    }

    /// Whether a server uses each of these, by profile; archives have none. Reads what the system tells of its processes
    /// once a profile.
    pub(super) fn servers(&self, profiles: &[Profile]) -> Servers {
        let setting = self.setting();
        let look = |profile: &Profile| {
            let game = games::by_id(profile.game).filter(|_| profile.root.is_dir())?;
            Some((profile.id.clone(), liveness::look(&game.traces(profile), &setting)))
        };
        profiles.iter().filter_map(look).collect()
    }

    /// What operations know of the machine.
    pub(super) fn setting(&self) -> Setting {
        Setting {
            now: self.config.clock.now(),
            zone: self.config.zone.clone(),
            state: self.env.state_dir(),
            proc: "/proc".into(),
            read_only: self.config.read_only,
        }
    }

    /// True when only some saves are meant, so that what is known of others does not count.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.roots.is_empty()
    }

    /// The keeping folders of everything in a catalog.
    pub(super) fn keeps(catalog: &Catalog) -> Vec<PathBuf> {
        keeps_of(catalog.profiles.iter().map(|profile| profile.root.as_path()))
    }

    /// Tells on standard error of operations that were interrupted, and leaves them as they are.
    pub(super) fn tell_interrupted(&self, catalog: &Catalog) {
        let setting = Setting { read_only: true, ..self.setting() };
        for found in recover(&Self::keeps(catalog), &setting) {
            output::complain(&format!("worldkeep: {}\n", shown(&found.text)));
        }
    }

    /// What asks work to stop.
    pub(super) fn stop(&self) -> (&Cancel, &Interrupt) {
        (&self.cancel, &self.interrupt)
    }

    pub(super) fn go_on(&self) -> Result<(), Failure> {
        if self.interrupt.asked() {
            Err(Failure::new(Exit::Interrupted, "Interrupted. Nothing was changed."))
        } else {
            Ok(())
        }
    }

    /// Tells which places may not be read, of those that are news.
    pub(super) fn tell_unreadable(catalog: &Catalog, news: impl Fn(&Path) -> bool) -> Exit {
        let mut exit = Exit::Done;
        for looked in catalog.looked.iter().filter(|looked| news(&looked.path)) {
            let Some((words, Exit::Unchecked)) = words_of(looked) else { continue };
            output::complain(&format!("worldkeep: {}: {words}.\n", shown_path(&looked.path)));
            exit = Exit::Unchecked;
        }
        exit
    }

    /// Tells what became of named places without saves; the worst of it is the result. With no save at all, the
    /// usual places are named too.
    pub(super) fn tell_looked(catalog: &Catalog) -> Exit {
        let mut exit = Exit::Done;
        let empty = catalog.profiles.is_empty();
        if empty {
            output::complain("worldkeep: No saves found.\n");
        }
        for looked in &catalog.looked {
            let named = looked.found != Found::Discovered;
            let Some((words, outcome)) = words_of(looked) else { continue };
            // A usual place that is not there is no news, unless all of them are.
            let news = named || empty || outcome == Exit::Unchecked;
            if news {
                output::complain(&format!("worldkeep: {}: {words}.\n", shown_path(&looked.path)));
            }
            if named || outcome == Exit::Unchecked {
                exit = exit.worse(outcome);
            }
        }
        if empty && exit == Exit::Done {
            exit = Exit::NothingMatched;
        }
        if empty && catalog.looked.iter().all(|looked| looked.found == Found::Discovered) {
            output::complain(
                "  Name a folder with saves: worldkeep list PATH. To look around in made-up saves: worldkeep --demo.\n",
            );
        }
        exit
    }
}

fn words_of(looked: &Looked) -> Option<(String, Exit)> {
    match &looked.outcome {
        Outcome::Saves => None,
        Outcome::Missing => Some(("not there".to_owned(), Exit::NothingMatched)),
        Outcome::Nothing => Some(("no save that is known here".to_owned(), Exit::NothingMatched)),
        Outcome::Denied(why) => Some((format!("may not be read: {why}"), Exit::Unchecked)),
        Outcome::Failed(why) => Some((format!("could not be read: {why}"), Exit::Unchecked)),
    }
}

fn game_of(word: &str) -> Result<GameId, Failure> {
    if let Some(game) = games::by_id(word) {
        return Ok(game.id());
    }
    let known: Vec<_> = games::all().iter().map(|game| game.id()).collect();
    let failure =
        Failure::usage(format!("\"{word}\" is no game that this version knows; it knows {}.", known.join(", ")));
    Err(match nearest(word, known.iter().copied()) {
        Some(near) => failure.hint(format!("Did you mean {near}?")),
        None => failure,
    })
}
