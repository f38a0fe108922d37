//! A tar archive, plain or packed, as a [`Store`](super::Store).
//!
//! **What opening costs.** A plain tar is walked by seeking from header to header, so it costs one small read per
//! entry. A packed tar has no list of its files, so it is unpacked once from start to end, at some hundred MB a second
//! for gzip and zstd and less for xz and bzip2: several seconds for a backup of many GB. Nothing is written to disk.
//! While it is unpacked the content of its files is kept until [`Ceilings::archive_memory`] is full, so a backup of one
//! world is unpacked once. When a file is asked for that was not kept, the archive is unpacked again up to that
//! file, and the kept part becomes the files of its folder and those that follow.
//!
//! **What is accepted.** An archive that ends early or is damaged in its middle opens with what came before: its files
//! are read, the file in which the damage lies is broken, and [`Store::damage`](super::Store::damage) says what is wrong.

use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::archive::{Archive, Reading};
use super::at::{At, fill};
use super::fault;
use super::index::{Builder, Index};
use super::inflate::{Packing, Unpacked};
use super::names::{self, quoted};
use super::tar_walk::{Source, Stop, Walk};
use super::{Ceilings, Effort, StoreError, StoreErrorKind};
use crate::model::Container;

/// Below this many unpacked bytes the ratio of packed to unpacked says nothing. 64 MiB.
const RATIO_FLOOR: u64 = 64 * 1024 * 1024;

/// A tar archive.
pub(super) struct TarStore {
    outer: PathBuf,
    file: At,
    packing: Option<Packing>,
    index: Index,
    members: Vec<Member>,
    kept: Mutex<Kept>,
    damage: Option<String>,
    ceilings: Ceilings,
    effort: Effort,
}

/// One file in the archive.
struct Member {
    /// Where its content starts in the tar.
    start: u64,
    size: u64,
    /// How much of its content is there.
    present: u64,
    /// The number of the folder that it lies in.
    folder: u32,
}

/// A member's content where it is kept.
type Content = Option<Arc<Vec<u8>>>;

/// The content of some members that follow each other; nothing for the ones that are too large or not whole.
#[derive(Default)]
struct Kept {
    first: usize,
    content: Vec<Content>,
}

impl TarStore {
    /// Walks an archive.
    pub(super) fn new(
        outer: &Path,
        file: At,
        packing: Option<Packing>,
        ceilings: &Ceilings,
        effort: &Effort,
    ) -> Result<Self, StoreError> {
        let walked = match packing {
            None => walk(&mut file.moved(0), Some(file.len()), ceilings),
            Some(packing) => walk(&mut Stream::new(packing, &file, ceilings, effort), None, ceilings),
        };
        let walked = walked.map_err(|stop| StoreError::new(outer, no_archive(stop, packing)))?;
        Ok(Self {
            outer: outer.to_path_buf(),
            file,
            packing,
            index: walked.index.finish(),
            members: walked.members,
            kept: Mutex::new(walked.kept),
            damage: walked.damage,
            ceilings: ceilings.clone(),
            effort: effort.clone(),
        })
    }

    /// The content of a member, from memory or by unpacking the archive again.
    fn content(&self, packing: Packing, at: usize) -> io::Result<Arc<Vec<u8>>> {
        // One thread unpacks while the others wait: what it keeps is most often what they want.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = kept.get(at) {
            return Ok(content);
        }
        // Given back first, so that there is never twice as much in memory.
        *kept = Kept::default();
        *kept = self.keep(packing, at)?;
        kept.get(at).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the archive changed while it was read"))
    }

    /// Unpacks a member and its neighbours: those before it in the same folder, then as many behind it as fit.
    fn keep(&self, packing: Packing, at: usize) -> io::Result<Kept> {
        let budget = self.ceilings.archive_memory;
        let fits = |member: &Member| member.size <= self.ceilings.archived_file && member.present == member.size;
        let weight = |at: usize| self.members.get(at).map_or(0, |member| if fits(member) { member.size } else { 0 });
        let folder = self.members.get(at).map(|member| member.folder);
        let mut first = at;
        let mut used = weight(at);
        while let Some(before) = first.checked_sub(1)
            && self.members.get(before).map(|member| member.folder) == folder
            && used.saturating_add(weight(before)) <= budget
        {
            used = used.saturating_add(weight(before));
            first = before;
        }
        let mut stream = Stream::new(packing, &self.file, &self.ceilings, &self.effort);
        let mut content = Vec::new();
        for (number, member) in self.members.iter().enumerate().skip(first) {
            if number > at {
                used = used.saturating_add(weight(number));
                if used > budget {
                    break;
                }
            }
            if !fits(member) {
                content.push(None);
                continue;
            }
            stream.pass(member.start.saturating_sub(stream.place))?;
            let mut bytes = room(member.size)?;
            (&mut stream).take(member.size).read_to_end(&mut bytes)?;
            if (bytes.len() as u64) < member.size {
                break;
            }
            content.push(Some(Arc::new(bytes)));
        }
        Ok(Kept { first, content })
    }
}

impl Kept {
    fn get(&self, at: usize) -> Content {
        self.content.get(at.checked_sub(self.first)?)?.clone()
    }
}

impl Archive for TarStore {
    const CONTAINER: Container = Container::Tar;

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
        let ceiling = ceiling.min(self.ceilings.archived_file);
        if size > ceiling {
            return Err(error(StoreErrorKind::TooLarge { size, ceiling }));
        }
        if member.present < size {
            let how = format!("the archive ends or is damaged after {} of its {size} bytes", member.present);
            return Err(error(StoreErrorKind::Broken(how)));
        }
        let failed = |failed: io::Error| fault::reading(path, &failed);
        let Some(packing) = self.packing else {
            let inner = Box::new(self.file.moved(member.start));
            return Ok((Box::new(Exactly { inner, left: size }), size));
        };
        if size > self.ceilings.archive_memory {
            let mut stream = Stream::new(packing, &self.file, &self.ceilings, &self.effort);
            stream.pass(member.start).map_err(failed)?;
            return Ok((Box::new(Exactly { inner: Box::new(stream), left: size }), size));
        }
        let content = self.content(packing, at).map_err(failed)?;
        Ok((Box::new(Cursor::new(Shared(content))), size))
    }

    fn damage(&self) -> Option<StoreError> {
        self.damage.as_ref().map(|how| StoreError::new(&self.outer, StoreErrorKind::Broken(how.clone())))
    }
}

/// What a walk found.
struct Walked {
    index: Builder,
    members: Vec<Member>,
    kept: Kept,
    damage: Option<String>,
}

/// Walks an archive from its start. `len` is the length of a plain tar; the content of a packed one is kept as far as
/// it fits.
fn walk(source: &mut dyn Source, len: Option<u64>, ceilings: &Ceilings) -> Result<Walked, Stop> {
    let mut walked = Walked { index: Builder::new(ceilings), members: Vec::new(), kept: Kept::default(), damage: None };
    let mut budget = if len.is_some() { 0 } else { ceilings.archive_memory };
    let mut total: u64 = 0;
    let mut entries: u64 = 0;
    let mut steps = Walk::new(source);
    loop {
        let member = match steps.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => break,
            // Nothing at all could be read before the first entry.
            Err(stop) if entries == 0 => return Err(stop),
            Err(Stop::Damaged(how)) => {
                walked.damage = Some(how);
                break;
            }
            Err(Stop::NoHeader(at)) => {
                walked.damage =
                    Some(format!("there is no header at byte {at} of the tar, where the next entry should start"));
                break;
            }
            Err(stop) => return Err(stop),
        };
        entries = entries.saturating_add(1);
        // A folder may come any number of times, so the tree alone does not bound the walk.
        if entries > ceilings.entries {
            return Err(Stop::Refused(StoreErrorKind::TooMany { ceiling: ceilings.entries }));
        }
        total = total.saturating_add(member.size);
        if total > ceilings.archive_total {
            let ceiling = ceilings.archive_total;
            return Err(Stop::Refused(StoreErrorKind::TooLarge { size: total, ceiling }));
        }
        add(&mut walked, &mut steps, &member, len, &mut budget, ceilings)?;
        if walked.damage.is_some() {
            break;
        }
    }
    // The checksum of a packed stream comes after the end mark.
    if walked.damage.is_none() && len.is_none() {
        match steps.rest() {
            Ok(()) => {}
            Err(Stop::Damaged(how)) if entries > 0 => walked.damage = Some(how),
            Err(stop) => return Err(stop),
        }
    }
    Ok(walked)
}

/// Adds an entry to the tree, and its content to what is kept.
fn add(
    walked: &mut Walked,
    steps: &mut Walk<'_>,
    member: &super::tar_walk::Member,
    len: Option<u64>,
    budget: &mut u64,
    ceilings: &Ceilings,
) -> Result<(), Stop> {
    let refused = |kind| Stop::Refused(kind);
    if member.folder && member.name.is_empty() {
        return Ok(());
    }
    let name = names::check(&member.name, ceilings)
        .map_err(|why| refused(StoreErrorKind::Hostile(format!("entry {} {why}", quoted(&member.name)))))?;
    if member.folder {
        return walked.index.dir(name, member.mtime).map_err(refused);
    }
    let number = walked.members.len();
    let folder = walked.index.file(name, member.size, member.mtime, number).map_err(refused)?;
    let (present, content) = match len {
        Some(len) => (len.saturating_sub(member.start).min(member.size), None),
        None => content(walked, steps, member.size, budget, ceilings)?,
    };
    walked.members.push(Member { start: member.start, size: member.size, present, folder });
    walked.kept.content.push(content);
    Ok(())
}

/// Reads the content of an entry of a packed tar: how much of it came, and the content where it is kept.
fn content(
    walked: &mut Walked,
    steps: &mut Walk<'_>,
    size: u64,
    budget: &mut u64,
    ceilings: &Ceilings,
) -> Result<(u64, Content), Stop> {
    let start = steps.place();
    let mut bytes = Vec::new();
    let small = size <= ceilings.archived_file;
    let keep = small && size <= *budget;
    let outcome = if keep {
        bytes = room(size).map_err(Stop::Failed)?;
        steps.content(size, &mut bytes)
    } else {
        if small {
            // Full: what comes later is unpacked when it is asked for, together with its neighbours.
            *budget = 0;
        }
        steps.pass_content()
    };
    match outcome {
        Err(Stop::Damaged(how)) => walked.damage = Some(how),
        Err(stop) => return Err(stop),
        Ok(()) => {}
    }
    let present = steps.place().saturating_sub(start).min(size);
    if !keep || present < size {
        return Ok((present, None));
    }
    *budget = budget.saturating_sub(size);
    Ok((present, Some(Arc::new(bytes))))
}

fn room(size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = usize::try_from(size).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    bytes.try_reserve_exact(size).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    Ok(bytes)
}

fn no_archive(stop: Stop, packing: Option<Packing>) -> StoreErrorKind {
    match (stop, packing) {
        (Stop::Refused(kind), _) => kind,
        (Stop::Failed(error), _) => StoreErrorKind::Io(error.to_string()),
        (Stop::Damaged(how), _) => StoreErrorKind::Broken(how),
        (Stop::NoHeader(_), None) => StoreErrorKind::Broken("it does not start with the header of an entry".to_owned()),
        (Stop::NoHeader(_), Some(packing)) => {
            StoreErrorKind::Unsupported(format!("it is a {} file of something that is no tar", packing.word()))
        }
    }
}

/// The unpacked bytes of a packed tar, bounded in number.
struct Stream {
    inner: Unpacked,
    place: u64,
    most: u64,
    effort: Effort,
}

impl Stream {
    fn new(packing: Packing, file: &At, ceilings: &Ceilings, effort: &Effort) -> Self {
        let ratio = file.len().saturating_mul(ceilings.archive_ratio).max(RATIO_FLOOR);
        // Headers and padding come on top of the content.
        let total = ceilings.archive_total.saturating_add(ceilings.entries.saturating_mul(2048));
        Self { inner: packing.unpack(file), place: 0, most: ratio.min(total), effort: effort.clone() }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.most && !buffer.is_empty() {
            let why = format!("it unpacks to more than {} bytes, too many for its size", self.most);
            return Err(io::Error::new(ErrorKind::FileTooLarge, why));
        }
        let count = self.inner.read(buffer)?;
        self.effort.spend(count)?;
        self.place = self.place.saturating_add(count as u64);
        Ok(count)
    }
}

impl Source for Stream {
    fn pass(&mut self, bytes: u64) -> io::Result<u64> {
        let mut buffer = vec![0; 64 * 1024];
        let mut passed: u64 = 0;
        while passed < bytes {
            let most = usize::try_from(bytes.saturating_sub(passed)).unwrap_or(usize::MAX).min(buffer.len());
            let count = fill(self, buffer.get_mut(..most).unwrap_or_default())?;
            if count == 0 {
                break;
            }
            passed = passed.saturating_add(count as u64);
        }
        Ok(passed)
    }
}

/// A reader that must give a number of bytes and gives no more.
struct Exactly {
    inner: Box<dyn Read + Send>,
    left: u64,
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.inner.read(buffer.get_mut(..most).unwrap_or_default())?;
        if count == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the archive became shorter while it was read"));
        }
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}

/// Kept content, for a cursor.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
