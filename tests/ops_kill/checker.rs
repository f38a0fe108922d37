//! What lies on the disk, and whether it is the old state, the new one, or something that must never be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything about one name.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The bytes of a file, the target of a link, none of a folder.
    pub(crate) bytes: Option<Vec<u8>>,
    meta: (u32, u32, u32, i64, i64),
    attributes: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes =
            self.bytes.as_ref().map(|bytes| String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned());
        write!(f, "{bytes:?} {:?} {:?}", self.meta, self.attributes)
    }
}

/// Names below a folder, and what they are.
pub(crate) type Manifest = BTreeMap<PathBuf, Entry>;

/// A save and what was taken out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) live: Manifest,
    pub(crate) parked: Manifest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Old,
    New,
    /// Every name of both states is there, but not with what either of them has.
    Mixed,
    /// A name that both states have is not there.
    Missing,
}

impl State {
    /// The same without the times of the folders that are moved. XFS dates a folder anew when another folder takes it
    /// in, since that changes its `..`.
    pub(crate) fn untimed(&self) -> Self {
        let mut state = self.clone();
        for (path, entry) in state.live.iter_mut().chain(&mut state.parked) {
            if entry.bytes.is_none() && path.components().count() == 1 {
                (entry.meta.3, entry.meta.4) = (0, 0);
            }
        }
        state
    }
}

impl State {
    /// The same without extended attributes, for an operation that says that it could not keep some.
    pub(crate) fn without_attributes(&self) -> Self {
        let mut state = self.clone();
        state.live.values_mut().chain(state.parked.values_mut()).for_each(|entry| entry.attributes.clear());
        state
    }
}

/// What was found.
#[derive(Debug)]
#[allow(dead_code, reason = "what differs is read by people, where a test fails")]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// What is parked is exactly what belongs to that verdict.
    pub(crate) parked_whole: bool,
    /// Files whose bytes are nowhere below the root any more.
    pub(crate) gone: Vec<PathBuf>,
    /// What an operation that is over must not leave.
    pub(crate) left: Vec<PathBuf>,
    /// What differs from the new state, for people.
    pub(crate) unlike_new: Vec<String>,
}

impl Judged {
    pub(crate) fn good_at_the_end(&self) -> bool {
        matches!(self.verdict, Verdict::Old | Verdict::New)
            && self.parked_whole
            && self.gone.is_empty()
            && self.left.is_empty()
    }
}

fn attributes(path: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut buffer = vec![0_u8; 4096];
    let Ok(length) = rustix::fs::llistxattr(path, &mut buffer[..]) else { return BTreeMap::new() };
    let names = buffer[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let mut value = vec![0_u8; 4096];
            let length = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap_or(0);
            (name.to_vec(), value[..length].to_vec())
        })
        .collect()
}

fn walk_into(folder: &Path, below: &Path, found: &mut Manifest) {
    let Ok(list) = fs::read_dir(folder) else { return };
    for entry in list {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let name = below.join(path.file_name().unwrap());
        let bytes = if meta.is_dir() {
            walk_into(&path, &name, found);
            None
        } else if meta.is_symlink() {
            Some(fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else {
            Some(fs::read(&path).unwrap())
        };
        let entry = Entry {
            bytes,
            meta: (meta.mode(), meta.uid(), meta.gid(), meta.mtime(), meta.mtime_nsec()),
            attributes: attributes(&path),
        };
        found.insert(name, entry);
    }
}

/// Everything below a folder, links not followed; empty for none.
pub(crate) fn walk(folder: &Path) -> Manifest {
    let mut found = Manifest::new();
    walk_into(folder, Path::new(""), &mut found);
    found
}

/// The state of the save root.
pub(crate) fn state(root: &Path) -> State {
    let live = walk(&root.join("worlds_local"));
    let mut parked = Manifest::new();
    for (path, entry) in walk(&root.join(".worldkeep/recycle")) {
        // Without the name of the operation and the folder of the worlds, which are ours to make.
        let below: PathBuf = path.iter().skip(2).collect();
        if !below.as_os_str().is_empty() {
            assert!(parked.insert(below, entry).is_none(), "parked twice: {}", path.display());
        }
    }
    State { live, parked }
}

fn leftovers(root: &Path) -> Vec<PathBuf> {
    let keep = root.join(".worldkeep");
    let mut left: Vec<PathBuf> = ["journal", "stage", "swap"].iter().map(|name| keep.join(name)).collect();
    left.retain(|path| path.symlink_metadata().is_ok());
    if let Ok(list) = fs::read_dir(keep.join("recycle")) {
        for path in list.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap();
            // What is kept belongs to an operation on record.
            if name.as_bytes().ends_with(b".purging") || !keep.join("history").join(name).exists() {
                left.push(path);
            }
        }
    }
    left
}

/// Judges what lies below a root. `keeps` are the files that must still be somewhere.
pub(crate) fn judge(root: &Path, old: &State, new: &State, keeps: &Manifest) -> Judged {
    judge_as(root, &state(root), old, new, keeps)
}

/// The same for a state that was read before.
pub(crate) fn judge_as(root: &Path, is: &State, old: &State, new: &State, keeps: &Manifest) -> Judged {
    let verdict = if is.live == new.live {
        Verdict::New
    } else if is.live == old.live {
        Verdict::Old
    } else if old.live.keys().filter(|path| new.live.contains_key(*path)).any(|path| !is.live.contains_key(path)) {
        Verdict::Missing
    } else {
        Verdict::Mixed
    };
    // Where only what is parked changes, either is whole.
    let (verdict, parked_whole) = if old.live == new.live {
        if is.parked == new.parked { (verdict, true) } else { (Verdict::Old, is.parked == old.parked) }
    } else {
        (verdict, is.parked == if verdict == Verdict::New { &new.parked } else { &old.parked }.clone())
    };
    let all: BTreeSet<Vec<u8>> = walk(root).into_values().filter_map(|entry| entry.bytes).collect();
    let gone = keeps.iter().filter(|(_, entry)| entry.bytes.as_ref().is_some_and(|bytes| !all.contains(bytes)));
    let gone = gone.map(|(path, _)| path.clone()).collect();
    Judged { verdict, parked_whole, gone, left: leftovers(root), unlike_new: differences(is, new) }
}

fn differences(is: &State, wanted: &State) -> Vec<String> {
    let mut found = Vec::new();
    for (what, is, wanted) in [("live", &is.live, &wanted.live), ("parked", &is.parked, &wanted.parked)] {
        for path in is.keys().chain(wanted.keys().filter(|path| !is.contains_key(*path))) {
            if is.get(path) != wanted.get(path) {
                found.push(format!("{what} {}: {:?}, not {:?}", path.display(), is.get(path), wanted.get(path)));
            }
        }
    }
    found
}
