//! Asking for outlines, and carrying them out by code that shares nothing with the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use worldkeep::games;
use worldkeep::model::outline::{Ask, Change, Fresh, Origin, Outline};
use worldkeep::model::plan::{Operation, Refusal};
use worldkeep::model::{Cancel, Clock, Found, Layer, LayerKind, Profile, Verdict, World};
use worldkeep::scan::{self, Catalog, Request, Root};
use worldkeep::store::{self, Ceilings};

use crate::support::root::SaveRoot;
use crate::support::{context, fixtures, now, small_world};

pub(crate) fn request(path: &Path) -> Request {
    Request {
        roots: vec![Root { path: path.to_path_buf(), found: Found::Argument, game: None, name: Some("p".to_owned()) }],
        clock: Clock::Fixed(now()),
        ..Request::default()
    }
}

pub(crate) fn scan(path: &Path) -> Profile {
    let mut catalog = Catalog::default();
    scan::run(&request(path), &Cancel::new(), &mut |event| catalog.apply(event));
    catalog.profiles.into_iter().next().unwrap()
}

pub(crate) fn world<'p>(profile: &'p Profile, name: &str) -> &'p World {
    let names: Vec<_> = profile.worlds.iter().map(|world| &world.id).collect();
    profile.worlds.iter().find(|world| world.name == name).unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

pub(crate) fn layer(world: &World, kind: LayerKind) -> &Layer {
    world.layers.iter().find(|layer| layer.kind == kind).unwrap_or_else(|| panic!("no {kind:?}: {:?}", world.layers))
}

pub(crate) fn ask<'a>(operation: Operation, profile: &'a Profile, name: &str, kind: Option<LayerKind>) -> Ask<'a> {
    let world = world(profile, name);
    Ask {
        operation,
        profile,
        world,
        layer: kind.map(|kind| layer(world, kind)),
        into: None,
        name: None,
        with_layers: false,
        overwrite: false,
    }
}

pub(crate) fn plan(ask: &Ask<'_>) -> Result<Outline, Refusal> {
    games::by_id("valheim").unwrap().plan(ask, &context())
}

/// Carries an outline out, and says what is parked.
pub(crate) fn carry_out(outline: &Outline, operation: &str) {
    let keep = outline.root.join(".worldkeep");
    let recycle = keep.join("recycle").join(operation);
    let park = |path: &Path| {
        let to = recycle.join(path.strip_prefix(&outline.root).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(path, to).unwrap();
    };
    for (number, change) in outline.changes.iter().enumerate() {
        match change {
            Change::Put { fresh, to, replaces } => {
                let stage = keep.join(format!("stage-{number}"));
                make(fresh, &stage);
                assert!(fresh.like.exists(), "{fresh:?}");
                assert_eq!(to.symlink_metadata().is_ok(), *replaces, "{}", to.display());
                if *replaces {
                    park(to);
                }
                fs::rename(&stage, to).unwrap();
            }
            Change::Park(path) => park(path),
            Change::Move { from, to } => {
                assert!(to.symlink_metadata().is_err(), "{}", to.display());
                fs::rename(from, to).unwrap();
            }
        }
    }
}

pub(crate) fn make(fresh: &Fresh, stage: &Path) {
    fs::create_dir_all(stage.parent().unwrap()).unwrap();
    let copy = |from: &Path, to: &Path| {
        fs::copy(from, to).unwrap();
        let time = fs::metadata(from).unwrap().modified().unwrap();
        fs::File::options().append(true).open(to).unwrap().set_modified(time).unwrap();
    };
    match &fresh.origin {
        Origin::Whole(path) if path.is_dir() => {
            fs::create_dir(stage).unwrap();
            for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
                copy(&entry.path(), &stage.join(entry.file_name()));
            }
        }
        Origin::Whole(path) => copy(path, stage),
        Origin::Files { folder, names } => {
            fs::create_dir(stage).unwrap();
            for name in names {
                copy(&folder.join(name), &stage.join(name));
            }
        }
        Origin::Members { archive, members } => {
            let store = store::open(archive, &Ceilings::default()).unwrap();
            for (member, to) in members {
                let to = if to.as_os_str().is_empty() { stage.to_path_buf() } else { stage.join(to) };
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, store.read(member, 1 << 30).unwrap()).unwrap();
            }
        }
    }
    for (path, bytes) in &fresh.writes {
        let to = if path.as_os_str().is_empty() { stage.to_path_buf() } else { stage.join(path) };
        fs::write(to, bytes).unwrap();
    }
}

/// Every file below the worlds folders, and its bytes.
pub(crate) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = ["worlds_local", "worlds", "cache"].map(|dir| root.join(dir)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    found
}

/// The day of the live state, which must be whole to its last byte, and alone in its place.
pub(crate) fn whole_day(root: &Path, name: &str) -> i64 {
    let profile = scan(root);
    let live = world(&profile, name).live().unwrap_or_else(|| panic!("no live {name}")).clone();
    let checked = scan::check(&request(root), "valheim", &live, &Cancel::new());
    assert!(checked.verdict <= Verdict::Notes, "{:?}", checked.findings);
    checked.facts.int("day").unwrap()
}

pub(crate) fn codes(outline: &Outline) -> BTreeSet<&'static str> {
    outline.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// A folder world of day 20 with every layer that may lie beside it, each of another day.
pub(crate) fn folder_world() -> SaveRoot {
    let root = SaveRoot::new();
    root.world("Midgard")
        .day(20.5)
        .folder(17)
        .day(13.5)
        .auto("20261129-120000", 12)
        .day(12.5)
        .backup_folder("20261128-120000", 11)
        .day(11.5)
        .backup_folder("restore-20261127-120000", 10)
        .day(8.5)
        .backup_pair("20260910-120000", 36)
        .day(7.5)
        .backup_pair("auto-20260909-120000", 36)
        .day(6.5)
        .rolling("20260801120000", 36);
    let mut packed = small_world("Midgard");
    packed.net_time = 15.5 * 1800.0;
    let packed = packed.to_folder(41, 14, |_| 14).into_iter();
    let packed: fixtures::Files = packed.map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes)).collect();
    root.file("backups/worlds.zip", &fixtures::zip(&packed));
    root
}
