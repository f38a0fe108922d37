//! A store of bytes in memory, for tests.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::games::Context;
use crate::model::{Cancel, Container};
use crate::store::{Ceilings, Entry, EntryKind, Stat, Store, StoreError, StoreErrorKind};

/// Files by path; a path in `denied` may not be read, one in `gone` is listed and then not there.
#[derive(Debug, Default)]
pub(in crate::games::valheim) struct MemoryStore {
    pub(in crate::games::valheim) files: BTreeMap<PathBuf, Vec<u8>>,
    pub(in crate::games::valheim) denied: Vec<PathBuf>,
    pub(in crate::games::valheim) gone: Vec<PathBuf>,
    pub(in crate::games::valheim) special: Vec<PathBuf>,
    pub(in crate::games::valheim) opened: Mutex<Vec<PathBuf>>,
}

impl MemoryStore {
    pub(in crate::games::valheim) fn with(files: impl IntoIterator<Item = (impl Into<PathBuf>, Vec<u8>)>) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path.into(), bytes)).collect();
        Self { files, ..Self::default() }
    }

    /// A folder of the samples, or nothing where the samples are absent, with a word about it.
    pub(in crate::games::valheim) fn sample(folder: &str) -> Option<Self> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples"));
        if !root.exists() {
            eprintln!("skipped: ../shared/samples is absent");
            return None;
        }
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(root.join("valheim").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.insert(PathBuf::from(path.file_name().unwrap()), fs::read(path).unwrap());
            }
        }
        Some(Self { files, ..Self::default() })
    }

    pub(in crate::games::valheim) fn get(&mut self, path: &str) -> &mut Vec<u8> {
        self.files.get_mut(Path::new(path)).unwrap()
    }

    fn file(&self, path: &Path) -> Result<&Vec<u8>, StoreError> {
        let error = |kind| Err(StoreError::new(path, kind));
        self.opened.lock().unwrap().push(path.to_path_buf());
        if self.denied.iter().any(|denied| denied == path) {
            return error(StoreErrorKind::Denied("mode 0600, owner root".into()));
        }
        if self.special.iter().any(|special| special == path) {
            return error(StoreErrorKind::NotAFile);
        }
        match self.files.get(path) {
            Some(bytes) if !self.gone.iter().any(|gone| gone == path) => Ok(bytes),
            _ => error(StoreErrorKind::NotFound),
        }
    }
}

impl Store for MemoryStore {
    fn container(&self) -> Container {
        Container::Folder
    }

    fn outer(&self) -> &Path {
        Path::new("made")
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError> {
        let names: std::collections::BTreeMap<OsString, EntryKind> = self
            .files
            .keys()
            .filter_map(|path| {
                let mut rest = path.strip_prefix(dir).ok()?.components();
                let name = rest.next()?.as_os_str().to_owned();
                let kind = match rest.next() {
                    Some(_) => EntryKind::Dir,
                    None if self.special.contains(path) => EntryKind::Special,
                    None => EntryKind::File,
                };
                Some((name, kind))
            })
            .collect();
        if names.is_empty() {
            return Err(StoreError::new(dir, StoreErrorKind::NotFound));
        }
        Ok(names.into_iter().map(|(name, kind)| Entry { name, kind, link: false }).collect())
    }

    fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        let size = self.file(path)?.len() as u64;
        Ok(Stat { kind: EntryKind::File, size, mtime: None })
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send + '_>, StoreError> {
        Ok(Box::new(self.file(path)?.as_slice()))
    }

    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError> {
        let bytes = self.file(path)?;
        if bytes.len() as u64 > ceiling {
            let size = bytes.len() as u64;
            return Err(StoreError::new(path, StoreErrorKind::TooLarge { size, ceiling }));
        }
        Ok(bytes.clone())
    }
}

pub(in crate::games::valheim) fn context() -> Context {
    Context { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC, ceilings: Ceilings::default(), cancel: Cancel::new() }
}
