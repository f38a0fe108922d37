//! What every archive does in the same way once it has an index.

use std::io::Read;
use std::path::Path;

use super::index::Index;
use super::{Entry, Stat, Store, StoreError, fault};
use crate::model::Container;

/// A file's content as it is read, and how many bytes it should have.
pub(super) type Reading<'a> = (Box<dyn Read + Send + 'a>, u64);

/// An archive of one kind; gives a [`Store`].
pub(super) trait Archive: Send + Sync {
    /// Which kind.
    const CONTAINER: Container;

    /// The archive on disk.
    fn outer(&self) -> &Path;

    /// The tree of its entries.
    fn index(&self) -> &Index;

    /// A reader over a file's content, which must have at most `ceiling` bytes.
    fn member(&self, path: &Path, ceiling: u64) -> Result<Reading<'_>, StoreError>;

    /// What is wrong with an archive that can be read in part.
    fn damage(&self) -> Option<StoreError> {
        None
    }
}

impl<A: Archive> Store for A {
    fn container(&self) -> Container {
        A::CONTAINER
    }

    fn outer(&self) -> &Path {
        Archive::outer(self)
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError> {
        self.index().list(dir)
    }

    fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        self.index().stat(path)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send + '_>, StoreError> {
        self.member(path, u64::MAX).map(|(reader, _)| reader)
    }

    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError> {
        let (mut reader, size) = self.member(path, ceiling)?;
        let mut bytes = fault::room(path, size)?;
        reader.read_to_end(&mut bytes).map_err(|error| fault::reading(path, &error))?;
        Ok(bytes)
    }

    fn damage(&self) -> Option<StoreError> {
        Archive::damage(self)
    }
}
