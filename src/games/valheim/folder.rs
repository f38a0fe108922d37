//! The names in a 1.0 world folder, and the game's commit rule over them.
//!
//! A save is a generation N: `_main.N.fwl2`, `.db2`, `.chunks` and, written last, `.ok`. What counts as live is the
//! highest N with all four.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::model::FileEntry;
use crate::store::{EntryKind, Store, StoreError};

/// The extensions of the four files of a generation, in the order in which the game writes them.
pub(super) const MAIN_PARTS: [&str; 4] = ["chunks", "db2", "fwl2", "ok"];

/// Generations of one folder that are looked at; the game itself keeps one, and two while it saves.
pub(super) const MOST_GENERATIONS: usize = 64;

/// The names of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Generation {
    /// Which of [`MAIN_PARTS`] are there.
    has: [bool; 4],
    /// Other `_main.N.*` names.
    pub extra: Vec<String>,
}

impl Generation {
    /// All four files are there.
    pub(super) fn complete(&self) -> bool {
        self.has.iter().all(|&has| has)
    }

    /// The commit marker is there.
    pub(super) fn committed(&self) -> bool {
        self.has("ok")
    }

    /// The file with this extension is there.
    pub(super) fn has(&self, part: &str) -> bool {
        MAIN_PARTS.iter().zip(self.has).any(|(&name, has)| has && name == part)
    }

    /// The extensions that are not there.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        MAIN_PARTS.iter().zip(self.has).filter(|(_, has)| !has).map(|(&part, _)| part).collect()
    }

    /// How many `_main.N.*` files the game would count.
    pub(super) fn counted(&self) -> usize {
        self.has.iter().filter(|&&has| has).count() + self.extra.len()
    }
}

/// The names in a world folder, sorted out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderView {
    /// The generations by number.
    pub generations: BTreeMap<u64, Generation>,
    /// `_main.*` names whose second part is no number.
    pub odd_main: Vec<String>,
    /// `.chunk` files.
    pub chunks: Vec<OsString>,
    /// The map cache of a client.
    pub caches: usize,
    /// Folders.
    pub folders: Vec<OsString>,
    /// `.fwl` and `.db` files, which belong beside the folder, not in it.
    pub pair_files: Vec<OsString>,
    /// Everything else.
    pub others: Vec<OsString>,
}

impl FolderView {
    /// Sorts the names in a folder.
    pub(super) fn read(store: &dyn Store, dir: &Path) -> Result<Self, StoreError> {
        let mut view = Self::default();
        for entry in store.list(dir)? {
            view.add(entry.name, entry.kind);
        }
        Ok(view)
    }

    /// One name, as a folder with nothing else in it.
    pub(super) fn of_name(name: &str) -> Self {
        let mut view = Self::default();
        view.add(name.into(), EntryKind::File);
        view
    }

    fn add(&mut self, name: OsString, kind: EntryKind) {
        let Some(text) = name.to_str() else {
            self.others.push(name);
            return;
        };
        if kind == EntryKind::Dir {
            self.folders.push(name);
        } else if let Some(rest) = text.strip_prefix("_main.") {
            // The game takes the last extension away first, so `_main.2.fwl2.old` has no number for it either.
            let (number, part) = rest.rsplit_once('.').unwrap_or((rest, ""));
            // The game counts in 32 bits, and a number that does not fit is none for it.
            match number.parse::<i32>().ok().and_then(|number| u64::try_from(number).ok()) {
                Some(number) => {
                    let generation = self.generations.entry(number).or_default();
                    match MAIN_PARTS.iter().position(|&p| p == part) {
                        // `_main.03.ok` is no file of save 3: the game asks for the name without zeros.
                        Some(at) if number.to_string().len() == rest.len() - part.len() - 1 => {
                            generation.has[at] = true;
                        }
                        _ => generation.extra.push(text.to_owned()),
                    }
                }
                None => self.odd_main.push(text.to_owned()),
            }
        } else if has_extension(text, "chunk") {
            self.chunks.push(name);
        } else if text.starts_with("cacheMinimap") {
            self.caches += 1;
        } else if has_extension(text, "fwl") || has_extension(text, "db") {
            self.pair_files.push(name);
        } else {
            self.others.push(name);
        }
    }

    /// It holds a generation's file, so it is a world's folder and not something else.
    pub(super) fn is_world(&self) -> bool {
        !self.generations.is_empty()
    }

    /// It holds nothing but a client's map cache, or nothing at all.
    pub(super) fn is_cache_only(&self) -> bool {
        self.generations.is_empty()
            && self.odd_main.is_empty()
            && self.chunks.is_empty()
            && self.folders.is_empty()
            && self.pair_files.is_empty()
            && self.others.is_empty()
    }

    /// The highest generation with all four files.
    pub(super) fn live(&self) -> Option<u64> {
        self.generations.iter().rev().find(|(_, g)| g.complete()).map(|(&n, _)| n)
    }

    /// The highest generation of which anything is there.
    pub(super) fn newest(&self) -> Option<u64> {
        self.generations.keys().next_back().copied()
    }

    /// Only the metadata of generation 0 is there: a new world that was never saved.
    pub(super) fn never_played(&self) -> bool {
        self.generations.len() == 1
            && self.generations.get(&0).is_some_and(|g| g.has("fwl2") && g.counted() == 1)
            && self.chunks.is_empty()
    }

    /// The files of a generation, with sizes: its own four, and every chunk file when `with_chunks`, since the index
    /// names chunks by their own versions.
    pub(super) fn files(&self, store: &dyn Store, dir: &Path, generation: u64, with_chunks: bool) -> Vec<FileEntry> {
        let mut paths: Vec<PathBuf> = Vec::new();
        if let Some(files) = self.generations.get(&generation) {
            for part in MAIN_PARTS.iter().filter(|part| files.has(part)) {
                paths.push(dir.join(main_name(generation, part)));
            }
        }
        if with_chunks {
            paths.extend(self.chunks.iter().map(|name| dir.join(name)));
        }
        sized(store, paths)
    }

    /// The newest change of a generation's files.
    pub(super) fn newest_change(&self, store: &dyn Store, dir: &Path, generation: u64) -> Option<Timestamp> {
        self.files(store, dir, generation, false).iter().filter_map(|f| f.mtime).max()
    }
}

/// The name of one file of a generation.
pub(super) fn main_name(generation: u64, part: &str) -> String {
    format!("_main.{generation}.{part}")
}

/// True for a name that only the inside of a 1.0 world folder holds.
pub(super) fn is_inner_name(name: &str) -> bool {
    name.starts_with("_main.") || has_extension(name, "chunk")
}

/// Adds sizes and times to paths; what is gone by now is left out, and what cannot be asked counts no bytes.
pub(super) fn sized(store: &dyn Store, mut paths: Vec<PathBuf>) -> Vec<FileEntry> {
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| match store.stat(&path) {
            Ok(stat) => Some(FileEntry { path, size: stat.size, mtime: stat.mtime }),
            Err(error) if error.is_not_found() => None,
            Err(_) => Some(FileEntry { path, size: 0, mtime: None }),
        })
        .collect()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == extension)
}

#[cfg(test)]
mod tests {
    use super::FolderView;
    use crate::store::EntryKind;

    fn view(names: &[&str]) -> FolderView {
        let mut view = FolderView::default();
        for name in names {
            view.add(name.into(), EntryKind::File);
        }
        view
    }

    #[test]
    fn live_is_the_highest_generation_with_all_four_files() {
        let full = |n: u64| ["fwl2", "db2", "chunks", "ok"].map(|p| format!("_main.{n}.{p}"));
        let mut names: Vec<String> = full(3).into_iter().chain(full(12)).collect();
        names.push("_main.13.fwl2".into());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let view = view(&names);
        assert_eq!((view.live(), view.newest()), (Some(12), Some(13)));
        assert!(!view.never_played());
    }

    #[test]
    fn a_lone_generation_zero_was_never_played() {
        assert!(view(&["_main.0.fwl2"]).never_played());
        assert!(!view(&["_main.1.fwl2"]).never_played());
        assert!(!view(&["_main.0.fwl2", "_main.0.db2"]).never_played());
    }

    #[test]
    fn names_that_the_game_cannot_read_as_a_generation_are_kept_apart() {
        let view = view(&["_main.bak.txt", "_main.2.fwl2.old", "_main.02.ok", "_main.2.ok", "cacheMinimapMeta"]);
        assert_eq!(view.odd_main, ["_main.bak.txt", "_main.2.fwl2.old"]);
        let two = &view.generations[&2];
        assert_eq!(two.extra, ["_main.02.ok"]);
        assert!(two.committed() && !two.complete());
        assert_eq!((two.counted(), view.caches), (2, 1));
    }

    #[test]
    fn a_number_that_the_game_cannot_hold_is_no_generation() {
        let view = view(&["_main.2147483647.ok", "_main.2147483648.ok", "_main.-1.ok"]);
        assert_eq!(view.newest(), Some(2_147_483_647));
        assert_eq!(view.odd_main, ["_main.2147483648.ok", "_main.-1.ok"]);
    }

    #[test]
    fn a_folder_with_only_a_map_cache_is_no_world() {
        assert!(view(&["cacheMinimapBiome", "cacheMinimapMeta"]).is_cache_only());
        assert!(view(&[]).is_cache_only());
        assert!(!view(&["notes.txt"]).is_cache_only());
    }
}
