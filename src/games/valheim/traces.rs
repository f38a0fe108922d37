//! What shows that a server of the game, or the game itself, uses a save.
//!
//! The game takes no lock and holds its files open only while it saves, so processes and their arguments tell the most.

use std::path::{Path, PathBuf};

use super::pair::Suffix;
use crate::model::outline::Traces;
use crate::model::{Layer, LayerKind, Profile, Shape};

/// Names of the dedicated server and of the game, on Linux, under Wine and on Windows.
const PROGRAMS: [&str; 5] =
    ["valheim_server.x86_64", "valheim_server", "valheim.x86_64", "valheim", "valheim_server_linux"];

/// Below the home folder of the user who runs it.
const DEFAULT_FOLDER: &str = ".config/unity3d/IronGate/Valheim";

/// The traces of one world of a save root: `held` are its files and folders, `recent` those that a save writes last.
pub(super) fn traces_of(root: &Path, world: &str, held: Vec<PathBuf>, recent: Vec<PathBuf>) -> Traces {
    Traces {
        programs: PROGRAMS.map(str::to_owned).to_vec(),
        folder_arguments: vec!["-savedir".to_owned()],
        world_arguments: vec!["-world".to_owned()],
        world: world.to_owned(),
        default_folder: PathBuf::from(DEFAULT_FOLDER),
        root: root.to_path_buf(),
        held,
        locks: Vec::new(),
        recent,
    }
}

/// The traces of anything in a profile.
pub(super) fn of_profile(profile: &Profile) -> Traces {
    let lives = profile.worlds.iter().filter_map(|world| world.live());
    let mut held = Vec::new();
    let mut recent = Vec::new();
    for live in lives {
        held.extend(held_by(live));
        recent.extend(written_last(live));
    }
    let root = match profile.root.file_name().and_then(|name| name.to_str()) {
        Some("worlds_local" | "worlds") => profile.root.parent().unwrap_or(&profile.root),
        _ => &profile.root,
    };
    traces_of(root, "", held, recent)
}

/// What a server would hold open of a live state: the folder, or both files.
pub(super) fn held_by(live: &Layer) -> Vec<PathBuf> {
    match live.shape {
        Shape::ValheimFolder => vec![live.path.clone()],
        Shape::ValheimPair => live.files.iter().map(|file| live.source.outer.join(&file.path)).collect(),
    }
}

/// The files whose change says that a save has landed: the commit marker, or the world data.
pub(super) fn written_last(live: &Layer) -> Vec<PathBuf> {
    debug_assert_eq!(live.kind, LayerKind::Live);
    let last = |name: &std::ffi::OsStr| match live.shape {
        Shape::ValheimFolder => Path::new(name).extension().is_some_and(|extension| extension == "ok"),
        Shape::ValheimPair => Suffix::of(name) == Some(Suffix::Db),
    };
    let files = live.files.iter().filter(|file| file.path.file_name().is_some_and(last));
    files.map(|file| live.source.outer.join(&file.path)).collect()
}
