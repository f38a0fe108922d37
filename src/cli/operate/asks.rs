//! The verbs about saves: what they are about is found, checked, and asked of the game's rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::args::Agree;
use super::super::failure::{Exit, Failure};
use super::super::output;
use super::super::session::Session;
use super::super::target::{canonical, resolve};
use super::{Job, Stop, carry_out, recovered};
use crate::model::outline::Ask;
use crate::model::plan::{Operation, Reason, Refusal};
use crate::model::{Found, LayerKind, Profile, World, shown_path};
use crate::ops::ask::{self, Planned, keeps_of};
use crate::scan::{Catalog, Request};

/// Where a copy goes, and how.
#[derive(Clone, Copy)]
pub(in crate::cli) struct CopyTo<'a> {
    /// A name, `PROFILE/NAME` or `PROFILE/`.
    pub(in crate::cli) dest: Option<&'a str>,
    /// A profile's id or a folder with saves.
    pub(in crate::cli) into: Option<&'a Path>,
    pub(in crate::cli) with_layers: bool,
    pub(in crate::cli) overwrite: bool,
}

/// What a verb asks for besides its target.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    operation: Operation,
    name: Option<&'a str>,
    copy: Option<CopyTo<'a>>,
    with_layers: bool,
}

impl Wanted<'_> {
    fn of(operation: Operation) -> Self {
        Self { operation, name: None, copy: None, with_layers: false }
    }
}

/// `worldkeep backup`.
pub(in crate::cli) fn backup(session: &Session, targets: &[PathBuf], agree: &Agree) -> Result<Exit, Failure> {
    run(session, targets, Wanted::of(Operation::Backup), agree)
}

/// `worldkeep restore`.
pub(in crate::cli) fn restore(session: &Session, target: &Path, agree: &Agree) -> Result<Exit, Failure> {
    run(session, &[target.to_path_buf()], Wanted::of(Operation::Restore), agree)
}

/// `worldkeep copy`.
pub(in crate::cli) fn copy(session: &Session, target: &Path, to: CopyTo<'_>, agree: &Agree) -> Result<Exit, Failure> {
    let wanted = Wanted { copy: Some(to), with_layers: to.with_layers, ..Wanted::of(Operation::Copy) };
    run(session, &[target.to_path_buf()], wanted, agree)
}

/// `worldkeep rename`.
pub(in crate::cli) fn rename(session: &Session, target: &Path, name: &str, agree: &Agree) -> Result<Exit, Failure> {
    let wanted = Wanted { name: Some(name), ..Wanted::of(Operation::Rename) };
    run(session, &[target.to_path_buf()], wanted, agree)
}

/// `worldkeep delete`.
pub(in crate::cli) fn delete(
    session: &Session,
    targets: &[PathBuf],
    with_layers: bool,
    agree: &Agree,
) -> Result<Exit, Failure> {
    run(session, targets, Wanted { with_layers, ..Wanted::of(Operation::Delete) }, agree)
}

fn run(session: &Session, targets: &[PathBuf], wanted: Wanted<'_>, agree: &Agree) -> Result<Exit, Failure> {
    let mut jobs = Vec::new();
    let mut seen = BTreeSet::new();
    for target in targets.iter().filter(|target| seen.insert((*target).clone())) {
        let plan = move || planned(session, target, wanted);
        jobs.push(Job { target: shown_path(target), plan: Box::new(plan) });
    }
    // Before the scan, so that what it finds is not half of an operation. Paths may lead to a save that no profile knows.
    let places = session.request(&[]);
    let roots = places.roots.iter().map(|root| root.path.as_path());
    let keeps = keeps_of(roots.chain(targets.iter().map(PathBuf::as_path)));
    let found = recovered(session, &keeps, &session.setting());
    carry_out(session, agree, jobs, &found)
}

fn planned(session: &Session, target: &Path, wanted: Wanted<'_>) -> Result<Planned, Stop> {
    let resolved = resolve(session, &[target.to_path_buf()])?;
    let (request, mut catalog) = (resolved.request, resolved.catalog);
    for note in resolved.selection.notes.iter().filter(|_| !session.quiet) {
        output::complain(&format!("worldkeep: {note}\n"));
    }
    let (profile, world, layer) = resolved.selection.world(&catalog, target)?;
    let (profile, world) = (profile.id.clone(), world.id.clone());
    let layer = layer.map(|layer| layer.id.clone());
    if wanted.operation == Operation::Restore && layer.is_none() {
        let text = format!(
            "'{}' is the live state of a world. A restore needs the layer that is put in its place.",
            shown_path(target)
        );
        let hint = format!("See its layers with `worldkeep show {}`.", shown_path(target));
        return Err(Failure::usage(text).hint(hint).into());
    }
    check(session, &request, &mut catalog, &world, layer.as_deref(), wanted.operation)?;
    let into = wanted.copy.map(|to| destination(session, &catalog, to)).transpose()?;
    let (into, name) = match &into {
        Some(to) => (to.profile.as_ref(), to.name.as_deref()),
        None => (None, wanted.name),
    };
    let gone = || Refusal::new(Reason::SourceGone, format!("'{}' is not there any more.", shown_path(target)));
    let profile = catalog.profiles.iter().find(|there| there.id == profile).ok_or_else(gone)?;
    let world = profile.worlds.iter().find(|there| there.id == world).ok_or_else(gone)?;
    let layer = layer.map(|id| world.layers.iter().find(|there| there.id == id).ok_or_else(gone)).transpose()?;
    let (cancel, _) = session.stop();
    let question = Ask {
        operation: wanted.operation,
        profile,
        world,
        layer,
        into: into.filter(|into| into.id != profile.id || into.root != profile.root),
        name,
        with_layers: wanted.with_layers,
        overwrite: wanted.copy.is_some_and(|to| to.overwrite),
    };
    let planned = ask::plan(&question, &request.context(cancel), &session.setting());
    session.go_on()?;
    Ok(planned?)
}

/// Checks both sides of the question completely: the state that would be used, and the live one that would go.
fn check(
    session: &Session,
    request: &Request,
    catalog: &mut Catalog,
    world: &str,
    layer: Option<&str>,
    operation: Operation,
) -> Result<(), Failure> {
    if operation == Operation::Delete {
        return Ok(());
    }
    let is_meant = |there: &World| there.id == world;
    let worlds = catalog.profiles.iter().flat_map(|profile| &profile.worlds).filter(|there| is_meant(there));
    let live = worlds.flat_map(|world| &world.layers).filter(|there| there.kind == LayerKind::Live);
    let mut ids: BTreeSet<String> = layer.map(str::to_owned).into_iter().collect();
    if layer.is_none() || operation == Operation::Restore {
        ids.extend(live.map(|layer| layer.id.clone()));
    }
    session.check(request, catalog, &ids, |_, _| ())
}

/// Where a copy goes.
struct Destination {
    profile: Option<Profile>,
    name: Option<String>,
}

fn destination(session: &Session, catalog: &Catalog, to: CopyTo<'_>) -> Result<Destination, Failure> {
    // A name of a world may hold no slash, so what stands before one is a profile.
    let (before, name) = match to.dest.map(|dest| dest.rsplit_once('/').map_or((None, dest), |(p, n)| (Some(p), n))) {
        Some((before, name)) => (before, Some(name.to_owned()).filter(|name| !name.is_empty())),
        None => (None, None),
    };
    let profile = match (to.into, before) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("The profile is named twice: before the / of the new name, and with --into."));
        }
        (Some(into), None) => Some(profile_of(session, catalog, into)?),
        (None, Some(before)) => Some(profile_of(session, catalog, Path::new(before))?),
        (None, None) => None,
    };
    Ok(Destination { profile, name })
}

/// The profile of an id, or of a folder: an empty folder is one without worlds.
fn profile_of(session: &Session, catalog: &Catalog, named: &Path) -> Result<Profile, Failure> {
    let by_id = |catalog: &Catalog| catalog.profiles.iter().find(|profile| Path::new(&profile.id) == named).cloned();
    if let Some(profile) = by_id(catalog) {
        return Ok(profile);
    }
    if !named.is_dir() {
        let everything = session.scan(&session.request(&[]))?;
        return by_id(&everything).ok_or_else(|| {
            let mut failure = Failure::nothing(format!("There is no profile and no folder \"{}\".", shown_path(named)));
            failure.hints = everything.profiles.iter().map(|profile| profile.id.clone()).collect();
            failure
        });
    }
    let folder = canonical(named);
    let found = session.scan(&session.request(std::slice::from_ref(&folder)))?;
    let mut profiles = found.profiles.into_iter().filter(|profile| profile.found == Found::Argument);
    match (profiles.next(), profiles.next()) {
        (Some(profile), None) => Ok(profile),
        (Some(_), Some(_)) => {
            Err(Failure::usage(format!("\"{}\" holds several profiles; name one of them.", shown_path(named))))
        }
        (None, _) => {
            let game = catalog.profiles.first().map(|profile| profile.game).unwrap_or_default();
            Ok(Profile {
                id: shown_path(&folder),
                name: shown_path(&folder),
                game,
                root: folder.clone(),
                found: Found::Argument,
                free_bytes: crate::sys::free_bytes(&folder),
                findings: Vec::new(),
                worlds: Vec::new(),
            })
        }
    }
}
