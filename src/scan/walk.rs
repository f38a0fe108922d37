//! The walk through everything that a request names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::targets::{self, Opened};
use super::{Event, Request, Root, archives, parked};
use crate::games::{Context, Game, Roster, RosterEntry};
use crate::model::{Cancel, Container, GameId, Looked, Outcome, Profile, World, WorldKind};
use crate::store::{self, Store};

/// Looks at everything that a request names and hands each piece to `sink` as soon as it is known: every profile with
/// the live state of its worlds first, then every world with all its layers.
///
/// Stops early when `cancel` is cancelled, and then never says [`Event::Done`].
pub fn run(request: &Request, cancel: &Cancel, sink: &mut dyn FnMut(Event)) {
    let mut walk = Walk {
        request,
        context: request.context(cancel),
        sink,
        ids: BTreeSet::new(),
        roots: BTreeSet::new(),
        profiles: Vec::new(),
    };
    for root in targets::places(request) {
        if cancel.cancelled() {
            return;
        }
        let outcome = walk.place(&root);
        (walk.sink)(Event::Looked(Looked { path: root.path, found: root.found, outcome }));
    }
    walk.survey();
    walk.settle();
    walk.parked();
    walk.archives();
    if !cancel.cancelled() {
        (walk.sink)(Event::Done);
    }
}

/// A profile that was walked, kept for the second looks.
pub(super) struct Walked {
    pub id: String,
    pub game: &'static dyn Game,
    pub store: Arc<dyn Store>,
    pub dir: PathBuf,
    pub entries: Vec<RosterEntry>,
    pub worlds: Vec<World>,
    /// Only a part of the place was asked for.
    pub partial: bool,
}

struct Walk<'a> {
    request: &'a Request,
    context: Context,
    sink: &'a mut dyn FnMut(Event),
    ids: BTreeSet<String>,
    /// The real places that are profiles already.
    roots: BTreeSet<(GameId, PathBuf)>,
    profiles: Vec<Walked>,
}

impl Walk<'_> {
    fn place(&mut self, root: &Root) -> Outcome {
        let mut worst = Outcome::Missing;
        let mut any = false;
        for game in targets::games_of(root.game.or(self.request.game)) {
            match targets::open(root, game, self.request, &self.context.cancel) {
                Ok(opened) => {
                    any |= self.opened(root, game, opened);
                    // A folder that may not be listed opens all the same, and is not the same as one without saves.
                    let listed = any || !root.path.is_dir();
                    worst = if listed { Outcome::Nothing } else { targets::listed(&root.path, self.request) };
                }
                Err(outcome) => worst = outcome,
            }
        }
        if any { Outcome::Saves } else { worst }
    }

    /// Emits the profiles in an opened place; true when there is any.
    fn opened(&mut self, root: &Root, game: &'static dyn Game, opened: Opened) -> bool {
        let Opened { store, part } = opened;
        let store: Arc<dyn Store> = Arc::from(store);
        if part.is_some() {
            return self.profile(root, game, store, PathBuf::new(), part.as_deref());
        }
        let mut unread = Vec::new();
        let dirs = game.roots(store.as_ref(), &self.context, &mut unread);
        for error in unread {
            let outcome = targets::failed(&error);
            if outcome != Outcome::Missing {
                (self.sink)(Event::Looked(Looked {
                    path: store.outer().join(&error.path),
                    found: root.found,
                    outcome,
                }));
            }
        }
        // In a folder, deeper roots become stores of their own, so that paths stay short and a watch can follow each. An
        // archive stays one store: each opening could cost unpacking it whole.
        let reopen = store.container() == Container::Folder;
        let mut any = false;
        for dir in dirs {
            any |= if reopen && !dir.as_os_str().is_empty() {
                match store::open(&store.outer().join(&dir), &self.request.ceilings) {
                    Ok(deeper) => self.profile(root, game, Arc::from(deeper), PathBuf::new(), None),
                    Err(_) => continue,
                }
            } else {
                self.profile(root, game, Arc::clone(&store), dir, None)
            };
        }
        any
    }

    fn profile(
        &mut self,
        root: &Root,
        game: &'static dyn Game,
        store: Arc<dyn Store>,
        dir: PathBuf,
        part: Option<&OsStr>,
    ) -> bool {
        let Roster { mut entries, mut findings } = game.roster(store.as_ref(), &dir, &self.context);
        let damage = store.damage().map(|error| error.finding());
        if let Some(part) = part {
            entries.retain(|entry| entry.parts.iter().any(|p| p.name == part));
            findings.clear();
            if entries.is_empty() {
                return false;
            }
        }
        let path = store.display(&dir);
        // Two places of a request may lead to one: a folder of servers and one of these, a link and what it leads to.
        let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if part.is_none() && !self.roots.insert((game.id(), real)) {
            return true;
        }
        let id = self.unique_id(root, &path);
        let profile = Profile {
            name: root.name.clone().unwrap_or_else(|| id.clone()),
            game: game.id(),
            free_bytes: crate::sys::free_bytes(store.outer()),
            root: path,
            found: root.found,
            findings: damage.into_iter().chain(findings).collect(),
            worlds: entries.iter().map(|entry| named(&id, entry)).collect(),
            id: id.clone(),
        };
        (self.sink)(Event::Profile(profile));
        for entry in &entries {
            if self.context.cancel.cancelled() {
                return true;
            }
            if let Some(world) = game.glance(store.as_ref(), &id, entry, &self.context) {
                (self.sink)(Event::World { profile: id.clone(), world });
            }
        }
        self.profiles.push(Walked { id, game, store, dir, entries, worlds: Vec::new(), partial: part.is_some() });
        true
    }

    /// Surveys every world of every profile.
    fn survey(&mut self) {
        for walked in &mut self.profiles {
            for entry in &walked.entries {
                if self.context.cancel.cancelled() {
                    return;
                }
                let world = walked.game.survey(walked.store.as_ref(), &walked.id, entry, &self.context);
                (self.sink)(Event::World { profile: walked.id.clone(), world: world.clone() });
                walked.worlds.push(world);
            }
        }
    }

    fn unique_id(&mut self, root: &Root, path: &Path) -> String {
        let base = slug(root.name.as_deref(), path);
        let mut id = base.clone();
        let mut number = 1_u64;
        // Another place may bear a numbered name by itself.
        while self.ids.contains(&id) {
            number += 1;
            id = format!("{base}-{number}");
        }
        self.ids.insert(id.clone());
        id
    }

    /// Looks once more at worlds that seem to be replaced this very moment: one shared wait for all of them.
    fn settle(&mut self) {
        let unsettled = |walked: &Walked, world: &World| world.live().is_some_and(|l| walked.game.unsettled(l));
        let wait = self
            .profiles
            .iter()
            .filter(|p| p.store.container() == Container::Folder && p.worlds.iter().any(|w| unsettled(p, w)))
            .map(|p| p.game.settle_time())
            .max();
        let Some(wait) = wait else { return };
        if !pause(wait, &self.context.cancel) {
            return;
        }
        for walked in self.profiles.iter_mut().filter(|p| p.store.container() == Container::Folder) {
            if !walked.worlds.iter().any(|w| unsettled(walked, w)) {
                continue;
            }
            // The half that was away was not among the names either.
            let roster = walked.game.roster(walked.store.as_ref(), &walked.dir, &self.context);
            for (entry, world) in walked.entries.iter_mut().zip(&mut walked.worlds) {
                if !world.live().is_some_and(|l| walked.game.unsettled(l)) {
                    continue;
                }
                if let Some(now) = roster.entries.iter().find(|now| now.key == entry.key) {
                    entry.clone_from(now);
                }
                let again = walked.game.survey(walked.store.as_ref(), &walked.id, entry, &self.context);
                if again != *world {
                    world.clone_from(&again);
                    (self.sink)(Event::World { profile: walked.id.clone(), world: again });
                }
            }
        }
    }

    /// Adds what operations took away and keep.
    fn parked(&mut self) {
        for walked in self.profiles.iter_mut().filter(|p| p.store.container() == Container::Folder) {
            if self.context.cancel.cancelled() {
                return;
            }
            parked::merge(walked, &self.context, self.sink);
        }
    }

    /// Adds what lies in archives beside the worlds, after everything that is quicker to read.
    fn archives(&mut self) {
        for walked in self.profiles.iter_mut().filter(|p| p.store.container() == Container::Folder) {
            archives::merge(walked, self.request, &self.context, self.sink);
        }
    }
}

/// Waits, unless cancelled; false when cancelled.
pub(super) fn pause(wait: Duration, cancel: &Cancel) -> bool {
    let until = Instant::now() + wait;
    loop {
        if cancel.cancelled() {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

/// A world of which only the name is known yet.
fn named(profile: &str, entry: &RosterEntry) -> World {
    World {
        id: format!("{profile}/{}", entry.key),
        name: entry.name.to_str().map_or_else(|| crate::model::shown_path(Path::new(&entry.name)), str::to_owned),
        kind: WorldKind::World,
        place: entry.place.clone(),
        inner_name: None,
        opens_with: None,
        findings: Vec::new(),
        layers: Vec::new(),
    }
}

/// An id that can be typed: the given name, or the last telling part of the path.
fn slug(name: Option<&str>, path: &Path) -> String {
    let telling = || {
        path.ancestors()
            .filter_map(|p| p.file_name().and_then(OsStr::to_str))
            .find(|n| !matches!(*n, "worlds_local" | "worlds" | "config" | "data" | "saves" | "remote"))
    };
    let text = name.or_else(telling).unwrap_or("saves");
    let slug: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .flat_map(char::to_lowercase)
        .collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "saves".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::slug;

    #[test]
    fn ids_can_be_typed() {
        assert_eq!(slug(None, Path::new("/home/odin/.config/unity3d/IronGate/Valheim")), "valheim");
        assert_eq!(slug(None, Path::new("/srv/my server/worlds_local")), "my-server");
        assert_eq!(slug(Some("Main Server"), Path::new("/x")), "main-server");
        assert_eq!(slug(None, Path::new("/config")), "saves");
        assert_eq!(slug(None, Path::new("/backups/worlds-20261009.zip")), "worlds-20261009.zip");
    }
}
