//! A store in memory, which counts what is read of it: thousands of damaged saves without a disk.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use worldkeep::model::Container;
use worldkeep::store::{Entry, EntryKind, Stat, Store, StoreError, StoreErrorKind};

use super::fixtures::Files;

/// Files by path, and how much was read of them.
pub(crate) struct MemoryStore {
    files: BTreeMap<PathBuf, Vec<u8>>,
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl MemoryStore {
    /// A store of these files.
    pub(crate) fn new(files: Files) -> Self {
        let files = files.into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes)).collect();
        Self { files, calls: AtomicU64::new(0), bytes: AtomicU64::new(0) }
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
        self.files.values().map(|bytes| bytes.len() as u64).sum()
    }

    fn file(&self, path: &Path) -> Result<&[u8], StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match self.files.get(path) {
            Some(bytes) => Ok(bytes),
            None if self.is_dir(path) => Err(StoreError::new(path, StoreErrorKind::NotAFile)),
            None => Err(StoreError::new(path, StoreErrorKind::NotFound)),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || self.files.keys().any(|name| name != path && name.starts_with(path))
    }
}

/// A reader that adds what it hands out to its store's count.
struct Counted<'a> {
    left: &'a [u8],
    bytes: &'a AtomicU64,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.left.read(out)?;
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
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
        if self.files.contains_key(dir) {
            return Err(StoreError::new(dir, StoreErrorKind::NotADir));
        }
        if !self.is_dir(dir) {
            return Err(StoreError::new(dir, StoreErrorKind::NotFound));
        }
        let mut names: BTreeMap<OsString, EntryKind> = BTreeMap::new();
        for path in self.files.keys() {
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
        Ok(Box::new(Counted { left: self.file(path)?, bytes: &self.bytes }))
    }

    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError> {
        let bytes = self.file(path)?;
        let size = bytes.len() as u64;
        if size > ceiling {
            return Err(StoreError::new(path, StoreErrorKind::TooLarge { size, ceiling }));
        }
        self.bytes.fetch_add(size, Ordering::Relaxed);
        Ok(bytes.to_vec())
    }
}
