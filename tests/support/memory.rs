//! A store in memory, which counts what is read of it: thousands of damaged saves without a disk.
//!
//! It can also change under its reader, as a save folder does beside a running server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use worldkeep::model::Container;
use worldkeep::store::{Entry, EntryKind, Stat, Store, StoreError, StoreErrorKind};

use super::fixtures::Files;

type Tree = BTreeMap<PathBuf, Arc<[u8]>>;

/// Files by path, and how much was read of them.
pub(crate) struct MemoryStore {
    files: RwLock<Tree>,
    change: Mutex<Option<Change>>,
    calls: AtomicU64,
    bytes: Arc<AtomicU64>,
}

/// What happens to the files once a file with some ending was read.
struct Change {
    ending: &'static str,
    after: Tree,
}

fn tree(files: Files) -> Tree {
    files.into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes.into())).collect()
}

impl MemoryStore {
    /// A store of these files.
    pub(crate) fn new(files: Files) -> Self {
        Self {
            files: RwLock::new(tree(files)),
            change: Mutex::new(None),
            calls: AtomicU64::new(0),
            bytes: Arc::new(AtomicU64::new(0)),
        }
    }

    /// The same, whose files become `after` right after a file with this ending was read for the first time from now.
    pub(crate) fn change_after(&self, ending: &'static str, after: Files) {
        *self.change.lock().unwrap() = Some(Change { ending, after: tree(after) });
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// How many bytes were handed out.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.read().unwrap().values().map(|bytes| bytes.len() as u64).sum()
    }

    fn file(&self, path: &Path) -> Result<Arc<[u8]>, StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let files = self.files.read().unwrap();
        match files.get(path) {
            Some(bytes) => Ok(Arc::clone(bytes)),
            None if is_dir(&files, path) => Err(StoreError::new(path, StoreErrorKind::NotAFile)),
            None => Err(StoreError::new(path, StoreErrorKind::NotFound)),
        }
    }

    /// The bytes of a file for a reader; the change happens behind its back.
    fn read_once(&self, path: &Path) -> Result<Arc<[u8]>, StoreError> {
        let bytes = self.file(path)?;
        let mut change = self.change.lock().unwrap();
        let due = change.as_ref().is_some_and(|change| path.to_str().is_some_and(|name| name.ends_with(change.ending)));
        if due && let Some(change) = change.take() {
            *self.files.write().unwrap() = change.after;
        }
        Ok(bytes)
    }
}

fn is_dir(files: &Tree, path: &Path) -> bool {
    path.as_os_str().is_empty() || files.keys().any(|name| name != path && name.starts_with(path))
}

/// A reader that adds what it hands out to its store's count.
struct Counted {
    bytes: Cursor<Arc<[u8]>>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.bytes.read(out)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Store for MemoryStore {
    fn container(&self) -> Container {
        Container::Folder
    }

    fn outer(&self) -> &Path {
        Path::new("/memory")
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let files = self.files.read().unwrap();
        if files.contains_key(dir) {
            return Err(StoreError::new(dir, StoreErrorKind::NotADir));
        }
        if !is_dir(&files, dir) {
            return Err(StoreError::new(dir, StoreErrorKind::NotFound));
        }
        let mut names: BTreeMap<OsString, EntryKind> = BTreeMap::new();
        for path in files.keys() {
            let Ok(rest) = path.strip_prefix(dir) else { continue };
            let mut parts = rest.components();
            let Some(first) = parts.next() else { continue };
            let kind = if parts.next().is_some() { EntryKind::Dir } else { EntryKind::File };
            names.insert(first.as_os_str().to_owned(), kind);
        }
        Ok(names.into_iter().map(|(name, kind)| Entry { name, kind, link: false }).collect())
    }

    fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        match self.file(path) {
            Ok(bytes) => Ok(Stat { kind: EntryKind::File, size: bytes.len() as u64, mtime: Some(super::now()) }),
            Err(error) if error.kind == StoreErrorKind::NotAFile => {
                Ok(Stat { kind: EntryKind::Dir, size: 0, mtime: Some(super::now()) })
            }
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send + '_>, StoreError> {
        Ok(Box::new(Counted { bytes: Cursor::new(self.read_once(path)?), count: Arc::clone(&self.bytes) }))
    }

    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError> {
        let size = self.file(path)?.len() as u64;
        if size > ceiling {
            return Err(StoreError::new(path, StoreErrorKind::TooLarge { size, ceiling }));
        }
        let bytes = self.read_once(path)?;
        self.bytes.fetch_add(size, Ordering::Relaxed);
        Ok(bytes.to_vec())
    }
}
