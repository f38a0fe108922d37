//! Where Valheim's saves lie: the usual places, and how to tell a save root from any other folder.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::folder::{FolderView, is_inner_name};
use super::pair::Suffix;
use crate::games::{Context, Enclosing, Places, UsualPlace};
use crate::store::{Entry, EntryKind, Store, StoreError, looks_like_archive};

/// The folders in a save root that the game lists, in the order in which it does.
pub(super) const WORLDS_FOLDERS: [&str; 2] = ["worlds_local", "worlds"];

/// How deep below a given path a save root is looked for.
const DEPTH: usize = 3;

/// Folders looked into while searching for save roots. A panel's tree of servers has some hundreds; a search that
/// was started at the top of a disk must end.
const FOLDERS: usize = 4096;

/// The usual places of every system; those of other systems simply are not there.
pub(super) fn usual_places(places: &Places) -> Vec<UsualPlace> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf| {
        let place = UsualPlace { path, below: None };
        if !found.contains(&place) {
            found.push(place);
        }
    };
    let var = |name: &str| places.vars.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
    let game = Path::new("unity3d/IronGate/Valheim");
    let homes: Vec<PathBuf> = places.home.iter().cloned().chain([places.system.join("home/steam")]).collect();
    if let Some(config) = var("XDG_CONFIG_HOME") {
        add(config.join(game));
    }
    for home in &homes {
        add(home.join(".config").join(game));
    }
    if let Some(home) = &places.home {
        add(home.join("Library/Application Support/unity.IronGate.Valheim"));
        add(home.join("AppData/LocalLow/IronGate/Valheim"));
        let proton = "steamapps/compatdata/892970/pfx/drive_c/users/steamuser/AppData/LocalLow/IronGate/Valheim";
        for steam in steam_folders(home) {
            add(steam.join(proton));
        }
    }
    if let Some(profile) = var("USERPROFILE") {
        add(profile.join("AppData/LocalLow/IronGate/Valheim"));
    }
    // Docker images: the lloesche lineage keeps saves in /config, others in the server's home or beside it.
    for fixed in ["config", "opt/valheim/data", "opt/valheim/saves", "home/valheim/.config/unity3d/IronGate/Valheim"] {
        add(places.system.join(fixed));
    }
    if let Some(home) = &places.home {
        for steam in steam_folders(home) {
            let below = Some(PathBuf::from("892970/remote"));
            found.push(UsualPlace { path: steam.join("userdata"), below });
        }
    }
    found
}

fn steam_folders(home: &Path) -> [PathBuf; 3] {
    [".steam/steam", ".local/share/Steam", ".var/app/com.valvesoftware.Steam/.local/share/Steam"]
        .map(|steam| home.join(steam))
}

/// The folder that lists the world of a path which is one file or one folder of a save.
pub(super) fn enclosing(path: &Path, folder: Option<&dyn Store>) -> Option<Enclosing> {
    let up = |path: &Path| Some(Enclosing { outer: path.parent()?.to_path_buf(), part: path.file_name()?.to_owned() });
    let name = path.file_name()?.to_str();
    match folder {
        Some(store) => {
            let view = FolderView::read(store, Path::new("")).ok()?;
            view.is_world().then(|| up(path)).flatten()
        }
        None if name.is_some_and(is_inner_name) => up(path.parent()?),
        None => Suffix::split(path.file_name()?).and_then(|_| up(path)),
    }
}

/// The save roots in a store, sorted.
///
/// The folders near the given path are looked into before the deeper ones, so that a large neighbour does not use the
/// search up. Folders that cannot be listed go to `unread`.
pub(super) fn roots(store: &dyn Store, context: &Context, unread: &mut Vec<StoreError>) -> Vec<PathBuf> {
    let queue = VecDeque::from([(PathBuf::new(), 0)]);
    let mut search = Search { store, roots: BTreeSet::new(), unread: Vec::new(), queue };
    for _ in 0..FOLDERS {
        let Some((dir, depth)) = search.queue.pop_front() else { break };
        if context.cancel.cancelled() {
            break;
        }
        search.visit(&dir, depth);
    }
    if search.roots.is_empty() && is_worlds_folder(store.outer().file_name()) {
        search.roots.insert(PathBuf::new());
    }
    // A folder in a root that turned out to be one later is the root's to speak about.
    let known = |error: &StoreError| error.path.ancestors().skip(1).any(|above| search.roots.contains(above));
    unread.extend(search.unread.into_iter().filter(|error| !known(error)));
    search.roots.into_iter().collect()
}

struct Search<'a> {
    store: &'a dyn Store,
    roots: BTreeSet<PathBuf>,
    unread: Vec<StoreError>,
    /// Folders to look into, with their depth.
    queue: VecDeque<(PathBuf, usize)>,
}

impl Search<'_> {
    fn visit(&mut self, dir: &Path, depth: usize) {
        // A folder in a root is the root's to list.
        if dir.ancestors().skip(1).any(|above| self.roots.contains(above)) {
            return;
        }
        let entries = match self.store.list(dir) {
            Ok(entries) => entries,
            Err(error) => {
                // A worlds folder that may not be listed is still a place to speak about.
                if is_worlds_folder(dir.file_name().or(self.store.outer().file_name())) {
                    self.roots.insert(dir.to_path_buf());
                } else if depth > 0 && dir.file_name() != Some(OsStr::new("lost+found")) {
                    self.unread.push(error);
                }
                return;
            }
        };
        if is_world_folder(&entries) {
            // A 1.0 world folder: the folder around it is the root.
            self.roots.insert(dir.parent().unwrap_or(dir).to_path_buf());
        } else if self.holds_worlds(dir, &entries) {
            self.roots.insert(dir.to_path_buf());
        } else if depth < DEPTH {
            // A link may lead back up or into another disk; only the given path itself may be one.
            let below = entries.iter().filter(|e| e.kind == EntryKind::Dir && !(e.link && depth > 0));
            let below = below.map(|e| &e.name).filter(|name| !is_cache(name) && !self.is_no_disk(dir, name));
            let below: Vec<_> = below.map(|name| (dir.join(name), depth + 1)).collect();
            self.queue.extend(below);
        }
    }

    /// What the kernel shows at the top of a disk, with thousands of folders and no save.
    fn is_no_disk(&self, dir: &Path, name: &OsStr) -> bool {
        dir.as_os_str().is_empty()
            && self.store.outer() == Path::new("/")
            && ["proc", "sys", "dev"].iter().any(|kernel| name == *kernel)
    }

    fn holds_worlds(&self, dir: &Path, entries: &[Entry]) -> bool {
        // A link that may not be followed counts too: the roster says what stands in the way.
        let folder = |name: &str| entries.iter().any(|e| (e.kind == EntryKind::Dir || e.link) && e.name == name);
        let pairs = |suffixes: &[Suffix]| {
            entries
                .iter()
                .any(|e| e.kind != EntryKind::Dir && Suffix::of(&e.name).is_some_and(|s| suffixes.contains(&s)))
        };
        // Nothing else has a folder of this name; a world nested too deep in it is for its roster to name.
        let named_local = dir.file_name().or(self.store.outer().file_name()) == Some(OsStr::new("worlds_local"));
        if named_local || folder("worlds_local") || pairs(&[Suffix::Fwl, Suffix::FwlOld]) {
            return true;
        }
        if folder("worlds") {
            let inside = self.store.list(&dir.join("worlds")).unwrap_or_default();
            // Other programs have a folder of that name too, so what is in it must look like ours.
            return inside.is_empty()
                || inside.iter().any(|e| {
                    Suffix::of(&e.name).is_some()
                        || e.kind == EntryKind::Dir
                            && FolderView::read(self.store, &dir.join("worlds").join(&e.name))
                                .is_ok_and(|v| v.is_world())
                });
        }
        // `.db` alone is anybody's extension, so the first bytes decide, unless the folder's name already does.
        let named = is_worlds_folder(dir.file_name().or(self.store.outer().file_name()));
        entries
            .iter()
            .filter(|e| e.kind == EntryKind::File)
            .filter(|e| matches!(Suffix::of(&e.name), Some(Suffix::Db | Suffix::DbOld)))
            .take(64)
            .any(|e| named || self.looks_like_world_data(&dir.join(&e.name)))
    }

    /// A known kind of version, then a world time that is a number and not negative.
    fn looks_like_world_data(&self, path: &Path) -> bool {
        let Ok(bytes) = self.store.read_start(path, 12) else { return false };
        let (Some(version), Some(time)) =
            (bytes.first_chunk::<4>(), bytes.get(4..12).and_then(|b| b.first_chunk::<8>()))
        else {
            return false;
        };
        let (version, time) = (i32::from_le_bytes(*version), f64::from_le_bytes(*time));
        (1..1000).contains(&version) && time.is_finite() && (0.0..1e12).contains(&time)
    }
}

/// The names are those of a 1.0 world folder; `_main.py` and the like are somebody else's.
pub(super) fn is_world_folder(entries: &[Entry]) -> bool {
    let is_main = |name: &str| name.starts_with("_main.") && FolderView::of_name(name).is_world();
    entries.iter().any(|e| e.kind != EntryKind::Dir && e.name.to_str().is_some_and(is_main))
}

fn is_cache(name: &OsStr) -> bool {
    name == "cache" || name == crate::model::outline::KEEP
}

/// One of the folders that the game itself lists.
pub(super) fn is_worlds_folder(name: Option<&OsStr>) -> bool {
    name.is_some_and(|name| WORLDS_FOLDERS.iter().any(|&folder| name == folder))
}

/// Archives beside the worlds: in the root, in its worlds folders, and in `backups`, where Docker images put them.
pub(super) fn archives(store: &dyn Store, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in [PathBuf::from("backups"), PathBuf::new(), PathBuf::from("worlds_local"), PathBuf::from("worlds")] {
        let dir = root.join(dir);
        let Ok(entries) = store.list(&dir) else { continue };
        let names = entries.iter().filter(|e| e.kind == EntryKind::File && looks_like_archive(Path::new(&e.name)));
        found.extend(names.map(|e| dir.join(&e.name)));
    }
    found.sort_by(|a, b| b.file_name().cmp(&a.file_name()));
    found
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::usual_places;
    use crate::games::Places;

    #[test]
    fn usual_places_cover_native_docker_and_cloud() {
        let mut places =
            Places { home: Some(PathBuf::from("/home/odin")), system: PathBuf::from("/"), ..Places::default() };
        places.vars.insert("XDG_CONFIG_HOME".into(), "relative/is/ignored".into());
        let found = usual_places(&places);
        for path in [
            "/home/odin/.config/unity3d/IronGate/Valheim",
            "/home/steam/.config/unity3d/IronGate/Valheim",
            "/config",
            "/home/odin/AppData/LocalLow/IronGate/Valheim",
        ] {
            assert!(found.iter().any(|p| p.path == Path::new(path) && p.below.is_none()), "{path}");
        }
        let cloud = Path::new("/home/odin/.local/share/Steam/userdata");
        assert!(found.iter().any(|p| p.path == cloud && p.below.as_deref() == Some(Path::new("892970/remote"))));
        assert!(found.iter().all(|p| p.path.is_absolute()));
    }
}
