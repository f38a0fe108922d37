//! A save root in a folder of its own, and what is found in it.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use worldkeep::games::valheim::write::{Location, Object, WorldPlan};
use worldkeep::model::{Cancel, Checked, Clock, Code, Finding, Found, Layer, LayerKind, World};
use worldkeep::scan::{self, Catalog, Request, Root};

pub(crate) const NOW: &str = "2026-11-30T12:00:00Z";

/// A save root in a folder of its own.
pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("worlds_local")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Makes a file as old as this many minutes before now.
    pub(crate) fn age(&self, path: &str, minutes: i64) {
        let at = now() - jiff::SignedDuration::from_mins(minutes);
        let file = fs::File::options().write(true).open(self.path(path)).unwrap();
        let since = std::time::Duration::from_secs(u64::try_from(at.as_second()).unwrap());
        file.set_modified(std::time::UNIX_EPOCH + since).unwrap();
    }

    pub(crate) fn pair(&self, stem: &str, plan: &WorldPlan) {
        let (fwl, db) = plan.to_pair(36);
        self.write(&format!("worlds_local/{stem}.fwl"), &fwl);
        self.write(&format!("worlds_local/{stem}.db"), &db);
    }

    /// A generation in a folder, an hour old; every chunk gets the generation's number plus two.
    pub(crate) fn generation(&self, folder: &str, plan: &WorldPlan, n: u32) {
        for (name, bytes) in plan.to_folder(41, n, |_| n + 2) {
            let path = format!("worlds_local/{folder}/{name}");
            self.write(&path, &bytes);
            self.age(&path, 60);
        }
    }

    pub(crate) fn request(&self) -> Request {
        request(self.dir.path())
    }

    pub(crate) fn scan(&self) -> Catalog {
        scan_path(self.dir.path())
    }

    pub(crate) fn world(&self, name: &str) -> World {
        let catalog = self.scan();
        let names: Vec<_> = catalog.profiles.iter().flat_map(|p| &p.worlds).map(|w| w.name.clone()).collect();
        let found = catalog.profiles.into_iter().flat_map(|p| p.worlds).find(|w| w.name == name);
        found.unwrap_or_else(|| panic!("no world {name} among {names:?}"))
    }

    pub(crate) fn check(&self, layer: &Layer) -> Checked {
        scan::check(&self.request(), "valheim", layer, &Cancel::new())
    }
}

pub(crate) fn now() -> Timestamp {
    NOW.parse().unwrap()
}

pub(crate) fn request(path: &Path) -> Request {
    Request {
        roots: vec![Root { path: path.to_path_buf(), found: Found::Argument, game: None, name: None }],
        clock: Clock::Fixed(now()),
        ..Request::default()
    }
}

pub(crate) fn scan_path(path: &Path) -> Catalog {
    let mut catalog = Catalog::default();
    scan::run(&request(path), &Cancel::new(), &mut |event| catalog.apply(event));
    assert!(catalog.complete);
    catalog
}

/// A world with things in four chunks of the grid, two of them near the middle, and one portal.
pub(crate) fn plan(name: &str, seed: &str, objects: usize) -> WorldPlan {
    let mut plan = WorldPlan::new(name, seed);
    plan.net_time = 12.25 * 1800.0;
    for n in 0..objects {
        let spread = |step: usize| (n * step % 900) as f32 - 450.0;
        plan.objects.push(Object::new("Beech1", [spread(37), 31.0, spread(53)]));
    }
    plan.objects.push(Object::new("wood_wall", [40.0, 33.0, 44.0]).built_by(7));
    plan.zones = (-3..=3).flat_map(|x| (-3..=3).map(move |z| (x, z))).collect();
    plan.locations = vec![Location::new("StartTemple", [3.0, 43.0, -5.0], true)];
    plan
}

pub(crate) fn find(findings: &[Finding], code: Code) -> &Finding {
    findings.iter().find(|f| f.code == code).unwrap_or_else(|| panic!("no {code:?} in {findings:#?}"))
}

pub(crate) fn live(world: &World) -> &Layer {
    world.live().unwrap_or_else(|| panic!("{} has no live layer", world.name))
}

pub(crate) fn layer(world: &World, kind: LayerKind) -> &Layer {
    world.layers.iter().find(|l| l.kind == kind).unwrap_or_else(|| panic!("no {kind:?} layer in {}", world.name))
}
