//! What would be copied: whether it can be, how much it is, and what it was when the plan was made.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{Access, AtFlags, CWD, accessat, llistxattr};

use super::steps::is_plain_name;
use crate::model::outline::{Change, Origin, Outline};
use crate::model::plan::{Fingerprint, Reason, Refusal, Witness};
use crate::model::{Cancel, shown, shown_path};
use crate::ops::tree::{MAX_DEPTH, is_copied, stays_inside};
use crate::ops::{Cause, unpack};

/// More things than any save has are not walked through.
const MOST: u64 = 1_000_000;

/// What a file takes besides its bytes, at most: its last block, and its entry in a folder.
const PER_ENTRY: u64 = 4096;

/// The longest list of names of attributes that Linux gives.
const NAMES: usize = 64 << 10;

/// What was seen of all that is made.
#[derive(Default)]
pub(super) struct Sources {
    /// Bytes that are copied, unpacked or written.
    pub(super) bytes: u64,
    /// The room that they take where holes stay holes.
    pub(super) room: u64,
    /// The room that they take where a file system has no holes.
    pub(super) filled: u64,
    /// Extended attributes that a copy will not have, and the first thing that has one, with its name.
    pub(super) unkept: u64,
    pub(super) first_unkept: Option<(PathBuf, String)>,
    /// Files, folders and links that are made.
    pub(super) entries: u64,
    /// Of each thing that is read.
    pub(super) witnesses: Vec<Witness>,
}

pub(super) fn look(outline: &Outline) -> Result<Sources, Refusal> {
    let mut sources = Sources::default();
    for change in &outline.changes {
        let Change::Put { fresh, .. } = change else { continue };
        match &fresh.origin {
            Origin::Whole(path) => sources.item(path)?,
            Origin::Files { folder, names } => {
                if names.is_empty() {
                    let text = format!("No file of '{}' would be used.", shown_path(folder));
                    return Err(Refusal::new(Reason::NoFinishedSave, text));
                }
                for name in names {
                    if !is_plain_name(name) {
                        let text = format!("'{}' is no name of a file.", shown_path(Path::new(name)));
                        return Err(Refusal::new(Reason::NotCopyable, text));
                    }
                    sources.item(&folder.join(name))?;
                }
            }
            Origin::Members { archive, members } => sources.members(archive, members)?,
        }
        for (_, bytes) in &fresh.writes {
            sources.add(bytes.len() as u64, bytes.len() as u64, bytes.len() as u64);
        }
    }
    Ok(sources)
}

/// What lies at a path, as it is remembered.
pub(super) fn fingerprint(meta: &Metadata) -> Fingerprint {
    Fingerprint {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified: (meta.mtime(), u32::try_from(meta.mtime_nsec()).unwrap_or(0)),
    }
}

/// Why something cannot be looked at.
pub(super) fn gone(path: &Path, error: &std::io::Error) -> Refusal {
    let shown = shown_path(path);
    let text = match error.kind() {
        std::io::ErrorKind::NotFound => format!("'{shown}' is not there."),
        _ => format!("'{shown}' cannot be looked at: {error}."),
    };
    Refusal::new(Reason::SourceGone, text)
}

/// Walks through something without following links; the function gets each thing with its depth, 1 for the thing itself.
pub(super) fn walk(
    path: &Path,
    see: &mut dyn FnMut(&Path, &Metadata, usize) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut left = vec![(path.to_path_buf(), 1_usize)];
    let mut count = 0;
    let mut device = None;
    while let Some((path, depth)) = left.pop() {
        count += 1;
        if count > MOST || depth > MAX_DEPTH {
            let text = format!("'{}' holds more, or deeper folders, than any save.", shown_path(&path));
            return Err(Refusal::new(Reason::NotCopyable, text));
        }
        let meta = path.symlink_metadata().map_err(|error| gone(&path, &error))?;
        if *device.get_or_insert(meta.dev()) != meta.dev() {
            let text = format!("Another file system is mounted at '{}'.", shown_path(&path));
            return Err(Refusal::new(Reason::NotCopyable, text));
        }
        see(&path, &meta, depth)?;
        if meta.is_dir() {
            let list = std::fs::read_dir(&path).map_err(|error| gone(&path, &error))?;
            let mut inside = Vec::new();
            for entry in list {
                inside.push((entry.map_err(|error| gone(&path, &error))?.path(), depth + 1));
            }
            // The order of the folder is not the same in every run.
            inside.sort_by(|a, b| b.cmp(a));
            left.extend(inside);
        }
    }
    Ok(())
}

impl Sources {
    fn add(&mut self, bytes: u64, room: u64, filled: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.room = self.room.saturating_add(room).saturating_add(PER_ENTRY);
        self.filled = self.filled.saturating_add(filled).saturating_add(PER_ENTRY);
        self.entries += 1;
    }

    fn item(&mut self, item: &Path) -> Result<(), Refusal> {
        walk(item, &mut |path, meta, depth| {
            copyable(path, meta, depth)?;
            if !meta.is_symlink() {
                readable(path, meta.is_dir())?;
            }
            self.witnesses.push(Witness { path: path.to_path_buf(), was: Some(fingerprint(meta)) });
            // What a file takes now is what its copy takes, but for room beyond its end that the file system has set aside
            // and gives back some time: that would change the plan of an unchanged save.
            let blocks = meta.blocks().saturating_mul(512);
            if meta.is_file() {
                let filled = meta.size().div_ceil(PER_ENTRY).saturating_mul(PER_ENTRY);
                self.add(meta.size(), blocks.min(filled), filled);
            } else {
                self.add(0, blocks, blocks);
            }
            // Those of a link, which only root can set, are not looked at.
            if !meta.is_symlink() {
                self.unkept(path);
            }
            Ok(())
        })
    }

    /// Counts the attributes that are never copied. One that cannot be listed is found by the copy, which says so.
    fn unkept(&mut self, path: &Path) {
        let mut list = Vec::with_capacity(NAMES);
        if llistxattr(path, spare_capacity(&mut list)).is_err() {
            return;
        }
        for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !is_copied(name)) {
            self.unkept += 1;
            if self.first_unkept.is_none() {
                self.first_unkept = Some((path.to_path_buf(), String::from_utf8_lossy(name).into_owned()));
            }
        }
    }

    fn members(&mut self, archive: &Path, members: &[(PathBuf, PathBuf)]) -> Result<(), Refusal> {
        let meta = archive.symlink_metadata().map_err(|error| gone(archive, &error))?;
        if !meta.is_file() {
            let text = format!("'{}' is no archive.", shown_path(archive));
            return Err(Refusal::new(Reason::SourceGone, text));
        }
        readable(archive, false)?;
        let opened = unpack::open(archive, members, &Cancel::new()).map_err(|cause| {
            let why = match cause {
                Cause::Archive(why) => why,
                Cause::System(error) => error.to_string(),
                _ => "it could not be read".to_owned(),
            };
            let text = format!("The archive '{}' cannot be used: {why}.", shown_path(archive));
            Refusal::new(Reason::NotRestorable, text)
        })?;
        self.witnesses.push(Witness { path: archive.to_path_buf(), was: Some(fingerprint(&meta)) });
        for size in opened.sizes {
            self.add(size, size, size);
        }
        for (_, below) in members {
            self.entries += below.iter().count() as u64;
        }
        Ok(())
    }
}

fn copyable(path: &Path, meta: &Metadata, depth: usize) -> Result<(), Refusal> {
    let kind = meta.file_type();
    let what = if kind.is_file() || kind.is_dir() {
        return Ok(());
    } else if kind.is_symlink() {
        let target = std::fs::read_link(path).map_err(|error| gone(path, &error))?;
        if stays_inside(target.as_os_str().as_bytes(), depth) {
            return Ok(());
        }
        format!("a link to '{}', which leads out of what is copied", shown(&OsStr::to_string_lossy(target.as_os_str())))
    } else if kind.is_fifo() {
        "a pipe".to_owned()
    } else if kind.is_socket() {
        "a socket".to_owned()
    } else {
        "a device".to_owned()
    };
    Err(Refusal::new(Reason::NotCopyable, format!("'{}' is {what}.", shown_path(path))))
}

fn readable(path: &Path, folder: bool) -> Result<(), Refusal> {
    let wanted = if folder { Access::READ_OK | Access::EXEC_OK } else { Access::READ_OK };
    accessat(CWD, path, wanted, AtFlags::EACCESS).map_err(|error| {
        let text = format!("'{}' cannot be read: {}.", shown_path(path), std::io::Error::from(error));
        Refusal::new(Reason::SourceGone, text)
    })
}
