//! A zip archive as a [`Store`](super::Store).
//!
//! The names are indexed once, from the central directory alone, so that opening costs one read at the end of the
//! file however large it is. An archive with one refused entry is refused whole. A file in it is inflated when it is
//! read, counted while it inflates, and held against its checksum at its end.

use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bzip2::bufread::BzDecoder;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, System, ZipArchive};

use super::archive::{Archive, Reading};
use super::at::At;
use super::index::{Builder, Index};
use super::names::{self, quoted};
use super::{Ceilings, Effort, StoreError, StoreErrorKind};
use super::{fault, zip_directory};
use crate::model::{Container, shown};

/// A zip archive.
pub(super) struct ZipStore {
    outer: PathBuf,
    file: At,
    index: Index,
    members: Vec<Member>,
    /// Kept only where a file is packed with Deflate64, which is the crate's to inflate.
    archive: Option<Mutex<ZipArchive<BufReader<At>>>>,
    ceiling: u64,
    effort: Effort,
}

/// One file in the archive.
struct Member {
    header: u64,
    /// Where the next entry or the directory starts.
    limit: u64,
    packed: u64,
    size: u64,
    crc: u32,
    method: CompressionMethod,
    encrypted: bool,
    /// The crate's number.
    number: usize,
}

impl ZipStore {
    /// Reads the directory of an archive.
    pub(super) fn new(outer: &Path, file: At, ceilings: &Ceilings, effort: &Effort) -> Result<Self, StoreError> {
        Self::build(outer, file, ceilings, effort).map_err(|kind| StoreError::new(outer, kind))
    }

    fn build(outer: &Path, file: At, ceilings: &Ceilings, effort: &Effort) -> Result<Self, StoreErrorKind> {
        zip_directory::check_promises(&file, ceilings)?;
        // The archive starts where the file starts, since that is how it was recognised.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let archive = ZipArchive::with_config(config, BufReader::new(file.moved(0))).map_err(no_archive)?;
        if archive.len() as u64 > ceilings.entries {
            return Err(StoreErrorKind::TooMany { ceiling: ceilings.entries });
        }
        let entries = if archive.has_duplicate_names() { None } else { Some(archive.len()) };
        let times = zip_directory::walk(&file, archive.central_directory_start(), entries)?;
        if entries.is_none() {
            // Equal only after a field for Unicode names was applied.
            return Err(StoreErrorKind::Hostile("an entry stands in it twice".to_owned()));
        }
        let mut index = Builder::new(ceilings);
        let mut members = Vec::new();
        let mut spans = Vec::with_capacity(archive.len());
        let mut total: u64 = 0;
        for number in 0..archive.len() {
            let entry = archive.by_index_data(number).map_err(no_archive)?;
            let raw = entry.name_raw();
            let hostile = |why: String| StoreErrorKind::Hostile(format!("entry {} {why}", quoted(raw)));
            let mtime = times
                .binary_search_by_key(&entry.central_header_start(), |(place, _)| *place)
                .ok()
                .and_then(|at| times.get(at))
                .and_then(|(_, time)| *time);
            spans.push((entry.header_start(), entry.compressed_size(), number));
            check_kind(entry.system(), entry.external_attributes()).map_err(hostile)?;
            if let Some(folder) = raw.strip_suffix(b"/") {
                index.dir(names::check(folder, ceilings).map_err(hostile)?, mtime)?;
                continue;
            }
            let name = names::check(raw, ceilings).map_err(hostile)?;
            let (packed, size) = (entry.compressed_size(), entry.size());
            if size > packed.saturating_mul(ceilings.archive_ratio) {
                let ceiling = ceilings.archive_ratio;
                return Err(hostile(format!(
                    "says that {packed} bytes inflate to {size}, over {ceiling} times as many"
                )));
            }
            total = total.saturating_add(size);
            index.file(name, size, mtime, members.len())?;
            members.push(Member {
                header: entry.header_start(),
                limit: 0,
                packed,
                size,
                crc: entry.crc32(),
                method: entry.compression(),
                encrypted: entry.encrypted(),
                number,
            });
        }
        if total > ceilings.archive_total {
            return Err(StoreErrorKind::TooLarge { size: total, ceiling: ceilings.archive_total });
        }
        set_limits(&archive, spans, &mut members)?;
        let keep = members.iter().any(|member| member.method == CompressionMethod::Deflate64);
        Ok(Self {
            outer: outer.to_path_buf(),
            file,
            index: index.finish(),
            members,
            archive: keep.then(|| Mutex::new(archive)),
            ceiling: ceilings.archived_file,
            effort: effort.clone(),
        })
    }

    /// The whole of a file that is packed with Deflate64, at most one byte more than it should have.
    fn inflate64(&self, path: &Path, member: &Member) -> Result<Vec<u8>, StoreError> {
        let broken = |how: String| StoreError::new(path, StoreErrorKind::Broken(how));
        let Some(archive) = &self.archive else { return Err(broken("its archive is gone".to_owned())) };
        let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
        let file = archive.by_index(member.number).map_err(|error| broken(error.to_string()))?;
        let mut bytes = fault::room(path, member.size)?;
        file.take(member.size.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| fault::reading(path, &damaged(error)))?;
        Ok(bytes)
    }
}

impl Archive for ZipStore {
    const CONTAINER: Container = Container::Zip;

    fn outer(&self) -> &Path {
        &self.outer
    }

    fn index(&self) -> &Index {
        &self.index
    }

    fn member(&self, path: &Path, ceiling: u64) -> Result<Reading<'_>, StoreError> {
        let error = |kind| StoreError::new(path, kind);
        let (at, size) = self.index.member(path)?;
        let Some(member) = self.members.get(at) else { return Err(error(StoreErrorKind::NotFound)) };
        let ceiling = ceiling.min(self.ceiling);
        if size > ceiling {
            return Err(error(StoreErrorKind::TooLarge { size, ceiling }));
        }
        if member.encrypted {
            return Err(error(StoreErrorKind::Unsupported("it is encrypted".to_owned())));
        }
        let start = zip_directory::data_start(&self.file, member.header)
            .map_err(|failed| fault::reading(path, &failed))?
            .ok_or_else(|| error(StoreErrorKind::Broken("its local header is damaged".to_owned())))?;
        if start.saturating_add(member.packed) > member.limit {
            return Err(error(StoreErrorKind::Broken("its bytes run into the next entry".to_owned())));
        }
        let packed = self.file.moved(start).take(member.packed);
        let inner: Box<dyn Read + Send + '_> = match member.method {
            CompressionMethod::Stored => Box::new(packed),
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(BufReader::with_capacity(64 * 1024, packed))),
            CompressionMethod::Bzip2 => Box::new(BzDecoder::new(BufReader::with_capacity(64 * 1024, packed))),
            CompressionMethod::Deflate64 => Box::new(Cursor::new(self.inflate64(path, member)?)),
            method => {
                let what = format!("it is packed with {method}, which is not unpacked here");
                return Err(error(StoreErrorKind::Unsupported(what)));
            }
        };
        let effort = self.effort.clone();
        Ok((
            Box::new(Checked { inner: Some(inner), left: member.size, crc: Crc::new(), wanted: member.crc, effort }),
            size,
        ))
    }
}

/// Refuses links, pipes, sockets and devices, which tools on Unix note in the upper half of the attributes.
fn check_kind(system: System, attributes: u32) -> Result<(), String> {
    if system == System::Dos {
        return Ok(());
    }
    match (attributes >> 16) & 0o170_000 {
        // No kind noted, a folder, a regular file.
        0 | 0o040_000 | 0o100_000 => Ok(()),
        0o120_000 => Err("is a symbolic link".to_owned()),
        _ => Err("is a pipe, a socket or a device".to_owned()),
    }
}

/// Refuses entries that share bytes, and notes for every file where its bytes have to end.
///
/// Only the directory is asked, because a look at every local header would cost a seek for each. A local header has
/// at least 30 bytes; what its names add is held against the limit when the file is opened.
fn set_limits<R: Read + Seek>(
    archive: &ZipArchive<R>,
    mut spans: Vec<(u64, u64, usize)>,
    members: &mut [Member],
) -> Result<(), StoreErrorKind> {
    spans.sort_unstable();
    let ends = spans.iter().skip(1).map(|(start, ..)| *start).chain([archive.central_directory_start()]);
    let mut limits = vec![0; spans.len()];
    for (&(start, packed, number), limit) in spans.iter().zip(ends) {
        if start.saturating_add(30).saturating_add(packed) > limit {
            let name = archive.by_index_data(number).map_err(no_archive)?;
            let name = quoted(name.name_raw());
            return Err(StoreErrorKind::Hostile(format!("the bytes of entry {name} overlap what follows it")));
        }
        if let Some(place) = limits.get_mut(number) {
            *place = limit;
        }
    }
    for member in members {
        member.limit = limits.get(member.number).copied().unwrap_or(0);
    }
    Ok(())
}

fn no_archive(error: ZipError) -> StoreErrorKind {
    let cut_off = || {
        let how = "the list of files at its end is missing, so it was cut off or is still being written";
        StoreErrorKind::Broken(how.to_owned())
    };
    match error {
        ZipError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => cut_off(),
        ZipError::Io(error) => StoreErrorKind::Io(error.to_string()),
        ZipError::UnsupportedArchive(what) => StoreErrorKind::Unsupported(what.to_owned()),
        // The crate's names for the end record and for the first entry of the list.
        ZipError::InvalidArchive(how) if ["EOCD", "CDFH", "Unexpected end"].iter().any(|word| how.contains(word)) => {
            cut_off()
        }
        other => StoreErrorKind::Broken(format!("its list of files is damaged ({})", shown(&other.to_string()))),
    }
}

/// The errors of a decoder, which are the bytes' fault unless the system gave a code.
fn damaged(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(ErrorKind::InvalidData, format!("its packed bytes are damaged ({error})"))
}

/// A file's bytes, counted and summed; an error instead of the end when they are not what the directory says.
struct Checked<'a> {
    inner: Option<Box<dyn Read + Send + 'a>>,
    left: u64,
    crc: Crc,
    wanted: u32,
    effort: Effort,
}

impl Checked<'_> {
    /// Ends the reading with an error.
    fn fail<T>(&mut self, error: io::Error) -> io::Result<T> {
        self.inner = None;
        self.left = u64::MAX;
        Err(error)
    }
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |how: &str| io::Error::new(ErrorKind::InvalidData, how);
        if buffer.is_empty() {
            return Ok(0);
        }
        let Some(inner) = &mut self.inner else {
            return if self.left == 0 { Ok(0) } else { Err(wrong("it failed before")) };
        };
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            // Everything has come that should; one byte more would be one too many.
            return match inner.read(&mut [0]) {
                Ok(0) if self.crc.sum() == self.wanted => {
                    self.inner = None;
                    Ok(0)
                }
                Ok(0) => self.fail(wrong("its checksum does not match")),
                Ok(_) => self.fail(wrong("it inflates to more bytes than it says")),
                Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
                Err(error) => self.fail(damaged(error)),
            };
        }
        match inner.read(buffer.get_mut(..most).unwrap_or_default()) {
            Ok(0) => self.fail(wrong("it inflates to fewer bytes than it says")),
            Ok(count) => {
                if let Err(error) = self.effort.spend(count) {
                    return self.fail(error);
                }
                self.left = self.left.saturating_sub(count as u64);
                self.crc.update(buffer.get(..count).unwrap_or_default());
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => self.fail(damaged(error)),
        }
    }
}
