//! A folder on disk as a [`Store`].

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use super::fault;
use super::names::is_device;
use super::{Ceilings, Entry, EntryKind, Stat, Store, StoreError, StoreErrorKind};
use crate::model::Container;

/// A folder on disk.
///
/// Symbolic links are followed, also out of the folder, since admins keep worlds on other disks that way; a path that
/// climbs with `..` is refused. Pipes, sockets and devices are listed and never opened, so nothing here can wait for
/// somebody to write into a pipe. A listing costs one pass over the folder and one more look per symbolic link.
#[derive(Clone, Debug)]
pub struct FolderStore {
    root: PathBuf,
    entries: u64,
}

impl FolderStore {
    /// A store over a folder; an error when the path is no folder or cannot be reached.
    pub fn new(root: &Path, ceilings: &Ceilings) -> Result<Self, StoreError> {
        let meta = fs::metadata(root).map_err(|error| fault::from_io(root, root, &error))?;
        if !meta.is_dir() {
            return Err(StoreError::new(root, StoreErrorKind::NotADir));
        }
        Ok(Self { root: root.to_path_buf(), entries: ceilings.entries })
    }

    /// The place on disk of a path in this store.
    fn place(&self, path: &Path) -> Result<PathBuf, StoreError> {
        check_relative(path)?;
        // There a device can be reached from any folder by its name alone.
        if cfg!(windows) && path.iter().any(|part| part.to_str().is_some_and(is_device)) {
            return Err(StoreError::new(path, StoreErrorKind::NotAFile));
        }
        Ok(if path.as_os_str().is_empty() { self.root.clone() } else { self.root.join(path) })
    }

    fn fault(&self, path: &Path, error: &io::Error) -> StoreError {
        fault::from_io(path, &self.root.join(path), error)
    }

    /// Opens a regular file and says how many bytes it had at that moment.
    fn open_file(&self, path: &Path) -> Result<(File, u64), StoreError> {
        let place = self.place(path)?;
        // Asked before opening, because opening a device can already do something (a tape rewinds, a watchdog arms).
        if self.stat(path)?.kind != EntryKind::File {
            return Err(StoreError::new(path, StoreErrorKind::NotAFile));
        }
        let file = open_without_waiting(&place).map_err(|error| self.fault(path, &error))?;
        // Asked again of what was opened: the name may have been given to a pipe in between.
        let meta = file.metadata().map_err(|error| self.fault(path, &error))?;
        if !meta.is_file() {
            return Err(StoreError::new(path, StoreErrorKind::NotAFile));
        }
        Ok((file, meta.len()))
    }
}

impl Store for FolderStore {
    fn container(&self) -> Container {
        Container::Folder
    }

    fn outer(&self) -> &Path {
        &self.root
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError> {
        let place = self.place(dir)?;
        let names = fs::read_dir(&place).map_err(|error| self.fault(dir, &error))?;
        let mut entries = Vec::new();
        for name in names {
            let name = name.map_err(|error| self.fault(dir, &error))?;
            if entries.len() as u64 >= self.entries {
                return Err(StoreError::new(dir, StoreErrorKind::TooMany { ceiling: self.entries }));
            }
            // The kind comes with the name on every file system that keeps it there; std asks again where not.
            let kind = match name.file_type() {
                Ok(kind) => kind,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // went away meanwhile
                Err(error) => return Err(self.fault(&dir.join(name.file_name()), &error)),
            };
            let link = kind.is_symlink();
            let kind = if link {
                kind_behind_link(&name.path())
            } else if kind.is_file() {
                EntryKind::File
            } else if kind.is_dir() {
                EntryKind::Dir
            } else {
                EntryKind::Special
            };
            entries.push(Entry { name: name.file_name(), kind, link });
        }
        entries.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        let place = self.place(path)?;
        match fs::metadata(&place) {
            Ok(meta) => Ok(stat_of(&meta)),
            // A link that leads nowhere or in a circle is there, and is what the listing says it is.
            Err(error) => match fs::symlink_metadata(&place) {
                Ok(meta) if meta.is_symlink() && leads_nowhere(&error) => {
                    Ok(Stat { kind: EntryKind::Special, size: 0, mtime: mtime_of(&meta) })
                }
                _ => Err(self.fault(path, &error)),
            },
        }
    }

    #[cfg(unix)]
    fn write_refusal(&self, dir: &Path) -> Option<String> {
        use rustix::fs::{Access, AtFlags, CWD, accessat};
        let place = self.place(dir).ok()?;
        // As the user that we act as, and asking only: nothing is written to find out.
        match accessat(CWD, &place, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => Some(fault::mode_and_owner(&place)),
            Err(rustix::io::Errno::ROFS) => Some("the file system is mounted read-only".to_owned()),
            _ => None,
        }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send + '_>, StoreError> {
        let (file, _) = self.open_file(path)?;
        Ok(Box::new(file))
    }

    fn read(&self, path: &Path, ceiling: u64) -> Result<Vec<u8>, StoreError> {
        let (file, size) = self.open_file(path)?;
        if size > ceiling {
            return Err(StoreError::new(path, StoreErrorKind::TooLarge { size, ceiling }));
        }
        let mut bytes = fault::room(path, size)?;
        // The server may write while we read: take what is there at the end, shorter or longer, but never more than
        // one byte over the ceiling.
        //
        // No advice to the kernel: it sees by itself that a file is read from its start (advice measured within
        // the noise, 0.15 s for 200 MB from disk). And the pages stay in the cache on purpose. Advising the kernel to drop them would also drop what the server
        // itself keeps warm, and a map or a comparison reads the same file again right after a check.
        file.take(ceiling.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| self.fault(path, &error))?;
        let size = bytes.len() as u64;
        if size > ceiling {
            return Err(StoreError::new(path, StoreErrorKind::TooLarge { size, ceiling }));
        }
        Ok(bytes)
    }
}

/// Refuses a path that is not made of plain names only.
pub(super) fn check_relative(path: &Path) -> Result<(), StoreError> {
    if path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(());
    }
    let why = "the path does not stay inside the save".to_owned();
    Err(StoreError::new(path, StoreErrorKind::Hostile(why)))
}

/// What a symbolic link leads to.
fn kind_behind_link(place: &Path) -> EntryKind {
    match fs::metadata(place) {
        Ok(meta) => kind_of(&meta),
        // Something may well be there, and reading it says what stands in the way; calling it special would hide that.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => EntryKind::File,
        Err(_) => EntryKind::Special,
    }
}

fn kind_of(meta: &Metadata) -> EntryKind {
    if meta.is_file() {
        EntryKind::File
    } else if meta.is_dir() {
        EntryKind::Dir
    } else {
        EntryKind::Special
    }
}

fn stat_of(meta: &Metadata) -> Stat {
    let kind = kind_of(meta);
    // What a folder "weighs" is the file system's own business and differs between them.
    let size = if kind == EntryKind::File { meta.len() } else { 0 };
    Stat { kind, size, mtime: mtime_of(meta) }
}

fn mtime_of(meta: &Metadata) -> Option<Timestamp> {
    Timestamp::try_from(meta.modified().ok()?).ok()
}

/// True for the errors of following a link to nothing: no such name, a circle, a file used as a folder.
fn leads_nowhere(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || fault::is_circle(error)
}

/// Opens for reading without ever waiting: a pipe without a writer opens at once and is then refused by its kind.
#[cfg(unix)]
pub(super) fn open_without_waiting(place: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // std adds O_CLOEXEC by itself.
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(place)
}

#[cfg(not(unix))]
pub(super) fn open_without_waiting(place: &Path) -> io::Result<File> {
    File::open(place)
}
