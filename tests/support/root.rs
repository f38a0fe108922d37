//! A save root in a temporary folder, filled by name.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use worldkeep::games::valheim::write::WorldPlan;

/// The version of a 1.0 folder.
pub(crate) const FOLDER: i32 = 41;

/// A save root that goes away with this value. Everything written is dated one hour before the tests' now.
pub(crate) struct SaveRoot(TempDir);

impl SaveRoot {
    /// A root with an empty `worlds_local`.
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("worlds_local")).unwrap();
        Self(dir)
    }

    /// The root.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path below the root.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file below the root, with the folders that it needs.
    pub(crate) fn file(&self, name: impl AsRef<Path>, bytes: &[u8]) -> &Self {
        let path = self.at(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self.aged(name, 60)
    }

    /// Makes a file `minutes` old.
    pub(crate) fn aged(&self, name: impl AsRef<Path>, minutes: u64) -> &Self {
        let time = SystemTime::try_from(super::now()).unwrap() - Duration::from_secs(60 * minutes);
        let file = File::options().append(true).open(self.at(name)).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
        self
    }

    /// Takes a file away.
    pub(crate) fn without(&self, name: impl AsRef<Path>) -> &Self {
        fs::remove_file(self.at(name)).unwrap();
        self
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    /// Writes what `change` makes of a file in its place.
    pub(crate) fn changed(&self, name: impl AsRef<Path>, change: impl FnOnce(&[u8]) -> Vec<u8>) -> &Self {
        let bytes = change(&self.read(&name));
        self.file(name, &bytes)
    }

    /// A pair `NAME.fwl` and `NAME.db` in `worlds_local`, each name followed by `suffix` (`.old`, `.new` or nothing).
    pub(crate) fn pair(&self, name: &str, suffix: &str, plan: &WorldPlan, version: i32) -> &Self {
        let (metadata, data) = plan.to_pair(version);
        self.file(format!("worlds_local/{name}.fwl{suffix}"), &metadata);
        self.file(format!("worlds_local/{name}.db{suffix}"), &data)
    }

    /// A whole generation in the folder `NAME` of `worlds_local`; all its chunks have the generation's number.
    pub(crate) fn generation(&self, name: &str, plan: &WorldPlan, number: u32) -> &Self {
        for (file, bytes) in plan.to_folder(FOLDER, number, |_| number) {
            self.file(format!("worlds_local/{name}/{file}"), &bytes);
        }
        self
    }

    /// Layers of a world, by name.
    pub(crate) fn world<'a>(&'a self, name: &'a str) -> World<'a> {
        World { root: self, name, plan: super::small_world(name) }
    }
}

/// A world with its layers in the making; every layer holds the plan as it is when the layer is made.
pub(crate) struct World<'a> {
    root: &'a SaveRoot,
    name: &'a str,
    /// What the next layer holds.
    pub(crate) plan: WorldPlan,
}

impl World<'_> {
    /// Makes the next layers those of another day.
    pub(crate) fn day(mut self, day: f64) -> Self {
        self.plan.net_time = day * 1800.0;
        self
    }

    /// A live 1.0 folder.
    pub(crate) fn folder(self, generation: u32) -> Self {
        self.root.generation(self.name, &self.plan, generation);
        self
    }

    /// A live pair.
    pub(crate) fn pair(self, version: i32) -> Self {
        self.root.pair(self.name, "", &self.plan, version);
        self
    }

    /// The previous save of a pair.
    pub(crate) fn previous(self, version: i32) -> Self {
        self.root.pair(self.name, ".old", &self.plan, version);
        self
    }

    /// The game's own backup, as a folder; `stamp` is like `20260909-180000`.
    pub(crate) fn auto(self, stamp: &str, generation: u32) -> Self {
        self.backup_folder(&format!("auto-{stamp}"), generation)
    }

    /// A backup folder with a marker of another kind, such as `restore-STAMP` or only a stamp.
    pub(crate) fn backup_folder(self, marker: &str, generation: u32) -> Self {
        self.root.generation(&format!("{}_backup_{marker}", self.name), &self.plan, generation);
        self
    }

    /// A backup pair with a marker, such as `auto-STAMP` or only a stamp.
    pub(crate) fn backup_pair(self, marker: &str, version: i32) -> Self {
        self.root.pair(&format!("{}_backup_{marker}", self.name), "", &self.plan, version);
        self
    }

    /// A rolling save: a pair with a stamp and no marker.
    pub(crate) fn rolling(self, stamp: &str, version: i32) -> Self {
        self.root.pair(&format!("{}_{stamp}", self.name), "", &self.plan, version);
        self
    }
}
