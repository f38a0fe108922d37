//! From what a person names to the layers that are meant: a path, an id, or a bare name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::explain;
use super::failure::{Exit, Failure};
use super::output;
use super::session::Session;
use crate::config::nearest;
use crate::model::{Found, Layer, LayerKind, Profile, World, shown, shown_path};
use crate::scan::{Catalog, Request};

/// What targets picked out of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Ids of layers.
    pub(super) layers: BTreeSet<String>,
    /// Ids of worlds that were meant as a whole, so that their own findings count.
    pub(super) worlds: BTreeSet<String>,
    /// Ids of profiles that were meant as a whole.
    pub(super) profiles: BTreeSet<String>,
    /// What to tell beforehand, such as that a name is a layer and no world.
    pub(super) notes: Vec<String>,
}

/// A catalog and what the targets mean in it.
pub(super) struct Resolved {
    pub(super) request: Request,
    pub(super) catalog: Catalog,
    pub(super) selection: Selection,
    /// Targets that mean nothing or may not be looked at, beside others that do.
    pub(super) failures: Vec<(PathBuf, Failure)>,
}

/// Finds what targets mean. A target that exists on disk is a path, and so is one that leads into an archive;
/// everything else is an id or a name, looked up in the same places as `worldkeep list` looks.
///
/// A target that cannot be found does not keep the others from being looked at; without any other it is the error.
pub(super) fn resolve(session: &Session, targets: &[PathBuf]) -> Result<Resolved, Failure> {
    let (mut paths, names): (Vec<_>, Vec<_>) = targets.iter().cloned().partition(|target| is_there(target));
    paths.extend(names.iter().filter_map(|name| archive_around(name)).map(Path::to_path_buf));
    let mut request = session.request(&paths);
    if !names.is_empty() && !paths.is_empty() {
        let everything = session.request(&[]);
        request.discover = everything.discover;
        let missing: Vec<_> = everything.roots.into_iter().filter(|root| !request.roots.contains(root)).collect();
        request.roots.extend(missing);
    }
    let catalog = session.scan(&request)?;
    let mut selection = Selection::default();
    let mut failures = Vec::new();
    for target in targets {
        match pick_target(session, &catalog, target) {
            Ok(picked) => selection.merge(picked),
            Err(failure) if failure.exit == Exit::Usage => return Err(failure),
            Err(failure) => failures.push((target.clone(), failure)),
        }
    }
    selection.drop_twins(&catalog);
    if selection.is_empty() {
        let worst = failures.iter().fold(Exit::Done, |exit, (_, failure)| exit.worse(failure.exit));
        if let Some(at) = failures.iter().position(|(_, failure)| failure.exit == worst) {
            let (_, last) = failures.remove(at);
            for (_, failure) in &failures {
                output::complain(&failure.to_string());
            }
            return Err(last);
        }
    }
    Ok(Resolved { request, catalog, selection, failures })
}

impl Resolved {
    /// Tells which targets failed and which places below the others may not be read; the worst of it is the result.
    pub(super) fn tell_failures(&self) -> Exit {
        let mut exit = Exit::Done;
        for (_, failure) in &self.failures {
            output::complain(&failure.to_string());
            exit = exit.worse(failure.exit);
        }
        let told: Vec<_> = self.failures.iter().map(|(target, _)| canonical(target)).collect();
        let news = |path: &Path| !told.iter().any(|target| canonical(path).starts_with(target));
        exit.worse(Session::tell_unreadable(&self.catalog, news))
    }
}

fn pick_target(session: &Session, catalog: &Catalog, target: &Path) -> Result<Selection, Failure> {
    if is_there(target) {
        return by_path(catalog, &canonical(target))
            .ok_or_else(|| explain::path(catalog, around(session, target).as_ref(), target));
    }
    let inside = archive_around(target).and_then(|archive| {
        let rest = target.strip_prefix(archive).ok()?;
        by_path(catalog, &canonical(archive).join(rest))
    });
    match inside {
        Some(picked) => Ok(picked),
        None => by_name(catalog, target).map_err(|failure| explain::denied(target).unwrap_or(failure)),
    }
}

fn is_there(target: &Path) -> bool {
    target.symlink_metadata().is_ok()
}

/// The file on the way to a path that leads on into it: an archive, with the place in it behind.
fn archive_around(target: &Path) -> Option<&Path> {
    target.ancestors().skip(1).find(|path| path.is_file())
}

impl Selection {
    /// Everything in a catalog.
    pub(super) fn everything(catalog: &Catalog) -> Self {
        let mut selection = Self::default();
        for profile in &catalog.profiles {
            selection.take_profile(profile);
        }
        selection
    }

    /// The catalog's profiles with only what was picked.
    pub(super) fn prune(&self, catalog: &Catalog) -> Vec<Profile> {
        let layer_of = |world: &World| World {
            layers: world.layers.iter().filter(|l| self.layers.contains(&l.id)).cloned().collect(),
            ..world.clone()
        };
        let mut profiles = Vec::new();
        for profile in &catalog.profiles {
            let worlds: Vec<World> = profile
                .worlds
                .iter()
                .map(layer_of)
                .filter(|world| !world.layers.is_empty() || self.worlds.contains(&world.id))
                .collect();
            if !worlds.is_empty() || self.profiles.contains(&profile.id) {
                profiles.push(Profile { worlds, ..profile.clone() });
            }
        }
        profiles
    }

    /// The one layer that is meant where only one can be: of a world, the live one.
    pub(super) fn one(&self, catalog: &Catalog, target: &Path) -> Result<Layer, Failure> {
        let all = catalog.profiles.iter().flat_map(|p| &p.worlds).flat_map(|w| w.layers.iter().map(move |l| (w, l)));
        let layers: Vec<_> = all.filter(|(_, layer)| self.layers.contains(&layer.id)).collect();
        let mut worlds: Vec<_> = layers.iter().map(|(world, _)| world.id.as_str()).collect();
        worlds.dedup();
        if let [(_, layer)] = layers.as_slice() {
            return Ok((*layer).clone());
        }
        let live = layers.iter().find(|(_, layer)| layer.kind == LayerKind::Live);
        match live {
            Some((_, layer)) if worlds.len() == 1 => Ok((*layer).clone()),
            _ => {
                let failure = ambiguous(target, layers.iter().map(|(_, layer)| layer.id.as_str()));
                Err(if is_there(target) {
                    failure.hint(format!("Ids are looked up with --root {}.", shown_path(target)))
                } else {
                    failure
                })
            }
        }
    }

    /// The one world that is meant, and its layer if it is one: a live layer stands for its world as a whole.
    pub(super) fn world<'c>(
        &self,
        catalog: &'c Catalog,
        target: &Path,
    ) -> Result<(&'c Profile, &'c World, Option<&'c Layer>), Failure> {
        let worlds = || catalog.profiles.iter().flat_map(|p| p.worlds.iter().map(move |w| (p, w)));
        let picked = |world: &World| world.layers.iter().any(|layer| self.layers.contains(&layer.id));
        let meant: Vec<_> = worlds().filter(|(_, world)| self.worlds.contains(&world.id) || picked(world)).collect();
        let [(profile, world)] = meant.as_slice() else {
            return Err(ambiguous(target, meant.iter().map(|(_, world)| world.id.as_str())));
        };
        if self.worlds.contains(&world.id) {
            return Ok((profile, world, None));
        }
        let layers: Vec<_> = world.layers.iter().filter(|layer| self.layers.contains(&layer.id)).collect();
        if layers.iter().any(|layer| layer.kind == LayerKind::Live) {
            return Ok((profile, world, None));
        }
        match layers.as_slice() {
            [layer] => Ok((profile, world, Some(layer))),
            _ => Err(ambiguous(target, layers.iter().map(|layer| layer.id.as_str()))),
        }
    }

    fn merge(&mut self, other: Self) {
        self.layers.extend(other.layers);
        self.worlds.extend(other.worlds);
        self.profiles.extend(other.profiles);
        self.notes.extend(other.notes);
    }

    /// Leaves out what was picked a second time, where one place lies in another and both were looked at.
    fn drop_twins(&mut self, catalog: &Catalog) {
        let mut seen = BTreeSet::new();
        for profile in &catalog.profiles {
            for world in &profile.worlds {
                let picked: Vec<_> = world.layers.iter().filter(|layer| self.layers.contains(&layer.id)).collect();
                let mut kept = 0;
                for layer in &picked {
                    if seen.insert((canonical(&layer.path), layer.key().to_owned())) {
                        kept += 1;
                    } else {
                        self.layers.remove(&layer.id);
                    }
                }
                if !picked.is_empty() && kept == 0 {
                    self.worlds.remove(&world.id);
                }
            }
            if !profile.worlds.is_empty() && !profile.worlds.iter().any(|world| self.worlds.contains(&world.id)) {
                self.profiles.remove(&profile.id);
            }
        }
    }

    fn take_profile(&mut self, profile: &Profile) {
        self.profiles.insert(profile.id.clone());
        for world in &profile.worlds {
            self.take_world(world);
        }
    }

    fn take_world(&mut self, world: &World) {
        self.worlds.insert(world.id.clone());
        self.layers.extend(world.layers.iter().map(|layer| layer.id.clone()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty() && self.worlds.is_empty() && self.profiles.is_empty()
    }
}

/// The layers of a path without links: all under a folder, or those that a file belongs to.
fn by_path(catalog: &Catalog, wanted: &Path) -> Option<Selection> {
    let mut selection = Selection::default();
    // What was found for the argument itself comes first; the same save may also lie in a configured profile.
    let named: Vec<_> = catalog.profiles.iter().filter(|p| p.found == Found::Argument).collect();
    for profile in &named {
        if canonical(&profile.root).starts_with(wanted) {
            selection.take_profile(profile);
        }
    }
    if selection.is_empty() {
        for profile in named {
            pick(&mut selection, profile, |layer| holds(layer, wanted));
        }
    }
    if selection.is_empty() {
        for profile in &catalog.profiles {
            // A file that no layer counts as its own still lies in the folder of one.
            pick(&mut selection, profile, |layer| {
                layer.kind == LayerKind::Live && wanted.starts_with(canonical(&layer.path))
            });
        }
    }
    (!selection.is_empty()).then_some(selection)
}

/// What there is in the folder around a path that gave nothing: a scan of it may say why.
fn around(session: &Session, target: &Path) -> Option<Catalog> {
    let folder = canonical(target).parent()?.to_path_buf();
    session.scan(&session.request(&[folder])).ok()
}

fn pick(selection: &mut Selection, profile: &Profile, wanted: impl Fn(&Layer) -> bool) {
    let layers = profile.worlds.iter().flat_map(|world| &world.layers);
    selection.layers.extend(layers.filter(|layer| wanted(layer)).map(|layer| layer.id.clone()));
}

/// True when a layer lies under a path or has it among its files.
fn holds(layer: &Layer, wanted: &Path) -> bool {
    let outer = canonical(&layer.source.outer);
    let place = match layer.path.strip_prefix(&layer.source.outer) {
        Ok(inner) if inner.as_os_str().is_empty() => outer.clone(),
        Ok(inner) => outer.join(inner),
        Err(_) => canonical(&layer.path),
    };
    place.starts_with(wanted) || outer == wanted || layer.files.iter().any(|file| outer.join(&file.path) == wanted)
}

/// The path without links where it exists, and as it is where it does not.
pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// What an id or a bare name means.
fn by_name(catalog: &Catalog, target: &Path) -> Result<Selection, Failure> {
    let Some(name) = target.to_str() else { return Err(explain::nothing(catalog, target)) };
    let is = |id: &str| id == name || shown(id) == name;
    let mut selection = Selection::default();
    // An `@` in a name can make a world's id read like that of a layer, and bytes that are no text all read alike.
    let mut places = Vec::new();
    for profile in &catalog.profiles {
        if is(&profile.id) {
            selection.take_profile(profile);
            return Ok(selection);
        }
        for world in &profile.worlds {
            if is(&world.id) {
                selection.take_world(world);
                places.extend(world.layers.first().map(|layer| shown_path(&layer.path)));
            }
            for layer in world.layers.iter().filter(|layer| is(&layer.id)) {
                selection.layers.insert(layer.id.clone());
                places.push(shown_path(&layer.path));
            }
        }
    }
    if places.len() > 1 {
        return Err(ambiguous(target, places.iter().map(String::as_str)));
    }
    if !selection.is_empty() {
        return Ok(selection);
    }
    if name.contains('/') {
        return Err(unknown_id(catalog, target, name));
    }
    bare_name(catalog, target, name)
}

/// A name without a profile: worlds of that name first, then layers.
fn bare_name(catalog: &Catalog, target: &Path, name: &str) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    let worlds = || catalog.profiles.iter().flat_map(|profile| &profile.worlds);
    let mut named: Vec<_> = worlds().filter(|world| world.name == name || shown(&world.name) == name).collect();
    if named.is_empty() {
        named = worlds().filter(|world| world.name.to_lowercase() == name.to_lowercase()).collect();
    }
    if let [world] = named.as_slice() {
        selection.take_world(world);
        return Ok(selection);
    }
    if !named.is_empty() {
        return Err(ambiguous(target, named.iter().map(|world| world.id.as_str())));
    }
    // `Midgard.fwl` is that file, and only without it the `.old` of that name.
    let exact = worlds().flat_map(|world| &world.layers).any(|layer| explain::is_named(layer, name));
    let is = if exact { explain::is_named } else { explain::is_of_name };
    for world in worlds() {
        for layer in world.layers.iter().filter(|layer| is(layer, name)) {
            selection.layers.insert(layer.id.clone());
            selection.notes.push(explain::layer(name, world, layer));
        }
    }
    selection.notes.dedup();
    if selection.is_empty() { Err(explain::nothing(catalog, target)) } else { Ok(selection) }
}

fn unknown_id(catalog: &Catalog, target: &Path, name: &str) -> Failure {
    let (world_id, layer) = match name.rsplit_once('@') {
        Some((world, layer)) => (world, Some(layer)),
        None => (name, None),
    };
    let world = catalog.world(world_id);
    if let (Some((_, world)), Some(layer)) = (world, layer) {
        let mut failure = Failure::nothing(format!("The world {} has no layer \"{layer}\".", world.id));
        failure.hints = candidates(world.layers.iter().map(|layer| layer.id.as_str()));
        return failure;
    }
    let ids = || catalog.profiles.iter().flat_map(|profile| &profile.worlds).map(|world| world.id.as_str());
    if let Some(near) = nearest(world_id, ids()) {
        return Failure::nothing(format!("There is no file, folder, world or layer \"{name}\"."))
            .hint(format!("Did you mean {near}?"));
    }
    explain::nothing(catalog, target)
}

/// Several things fit: an error, since guessing would show the wrong save.
fn ambiguous<'a>(target: &Path, ids: impl Iterator<Item = &'a str>) -> Failure {
    let mut failure =
        Failure::usage(format!("\"{}\" could mean several things. Name one of them:", shown_path(target)));
    failure.hints = candidates(ids);
    failure
}

fn candidates<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    const MOST: usize = 20;
    let mut list: Vec<String> = ids.map(str::to_owned).collect();
    if list.len() > MOST {
        let more = list.len() - MOST;
        list.truncate(MOST);
        list.push(format!("and {more} more; see `worldkeep list`"));
    }
    list
}

/// None of the paths that the browser should open exists: most likely a mistyped command.
pub(super) fn no_path(paths: &[PathBuf]) -> Failure {
    let names: Vec<_> = paths.iter().map(|path| format!("\"{}\"", shown_path(path))).collect();
    let failure = Failure::nothing(format!("There is no file or folder {}.", names.join(", ")));
    let first = paths.first().and_then(|path| path.to_str()).unwrap_or_default();
    let cli = <super::args::Cli as clap::CommandFactory>::command();
    let commands = cli.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    match nearest(first, commands) {
        Some(near) => failure.hint(format!("Did you mean `worldkeep {near}`?")),
        None => failure.hint("See `worldkeep --help` for the commands."),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::sample;
    use super::{Exit, Selection, by_name, by_path};

    fn name(target: &str) -> Vec<String> {
        by_name(&sample::catalog(), Path::new(target)).unwrap().layers.into_iter().collect()
    }

    fn path(target: &str) -> Vec<String> {
        by_path(&sample::catalog(), Path::new(target)).unwrap().layers.into_iter().collect()
    }

    #[test]
    fn ids_and_bare_names_mean_worlds_and_layers() {
        assert_eq!(name("valheim/Midgard@live"), ["valheim/Midgard@live"]);
        assert_eq!(name("valheim/Midgard").len(), 2);
        assert_eq!(name("valheim").len(), 3);
        assert_eq!(name("Midgard").len(), 2);
        assert_eq!(name("midgard").len(), 2, "where nothing has exactly that name, case does not matter");
        assert_eq!(name("Midgard_20261129180000"), ["valheim/Midgard@rolling-20261129"]);
        // As it is, and as a list prints it.
        assert_eq!(name("valheim/Evil\u{1b}[2J@live"), name("valheim/Evil\\u{1b}[2J@live"));
    }

    #[test]
    fn a_layer_that_is_named_like_a_world_is_told_to_be_one() {
        let picked = by_name(&sample::catalog(), Path::new("Midgard_20261129180000.fwl")).unwrap();
        assert_eq!(
            picked.notes,
            [
                "\"Midgard_20261129180000.fwl\" is not a world of its own: it is a layer of valheim/Midgard (rolling save). \
              Rule: a name with a stamp and no backup marker"
            ]
        );
    }

    #[test]
    fn paths_mean_what_lies_there() {
        assert_eq!(path("/srv/valheim").len(), 3);
        assert_eq!(path("/srv").len(), 3);
        assert_eq!(path("/srv/valheim/worlds_local/Midgard"), ["valheim/Midgard@live"]);
        assert_eq!(path("/srv/valheim/worlds_local/Midgard/20_20__1_5.chunk"), ["valheim/Midgard@live"]);
        assert_eq!(path("/srv/valheim/worlds_local/Midgard_20261129180000.fwl"), ["valheim/Midgard@rolling-20261129"]);
        assert_eq!(by_path(&sample::catalog(), Path::new("/elsewhere")), None);
    }

    #[test]
    fn where_one_layer_is_meant_a_world_means_its_live_one() {
        let catalog = sample::catalog();
        let one = |target: &str| by_name(&catalog, Path::new(target)).unwrap().one(&catalog, Path::new(target));
        assert_eq!(one("valheim/Midgard").unwrap().id, "valheim/Midgard@live");
        let failure = one("valheim").unwrap_err();
        assert_eq!((failure.exit, failure.hints.len()), (Exit::Usage, 3));
    }

    #[test]
    fn an_operation_is_about_a_world_or_one_layer_of_it() {
        let catalog = sample::catalog();
        let about = |target: &str| {
            let picked = by_name(&catalog, Path::new(target)).unwrap();
            let found = picked.world(&catalog, Path::new(target));
            found.map(|(_, world, layer)| (world.id.clone(), layer.map(|layer| layer.id.clone())))
        };
        let world = "valheim/Midgard".to_owned();
        assert_eq!(about("valheim/Midgard"), Ok((world.clone(), None)));
        assert_eq!(about("valheim/Midgard@live"), Ok((world.clone(), None)));
        assert_eq!(
            about("valheim/Midgard@rolling-20261129"),
            Ok((world, Some("valheim/Midgard@rolling-20261129".to_owned())))
        );
        let failure = about("valheim").unwrap_err();
        assert_eq!((failure.exit, failure.hints.len()), (Exit::Usage, 2));
    }

    #[test]
    fn what_was_not_picked_is_not_printed() {
        let catalog = sample::catalog();
        let picked = Selection { layers: ["valheim/Midgard@live".into()].into(), ..Selection::default() };
        let profiles = picked.prune(&catalog);
        assert_eq!((profiles.len(), profiles[0].worlds.len(), profiles[0].worlds[0].layers.len()), (1, 1, 1));
        assert_eq!(Selection::everything(&catalog).prune(&catalog), catalog.profiles);
    }
}
