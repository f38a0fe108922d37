//! The headers of a tar, one after the other.
//!
//! The `tar` crate parses single headers. Its own walk is not used: it reads a long name whole whatever length is
//! promised for it, and it cannot say at which byte something is wrong.

use std::io::{self, ErrorKind, Read};

use jiff::Timestamp;
use tar::Header;

use super::StoreErrorKind;
use super::at::{At, fill};
use super::names::quoted;

/// The size of a header and the unit of everything.
pub(super) const BLOCK: usize = 512;

/// The same, for places.
const STEP: u64 = 512;

/// A long name or a set of extended attributes in bytes. 1 MiB: the longest path that Linux takes has 4096.
const EXTENSION: u64 = 1024 * 1024;

/// What may follow the end mark in bytes. 64 MiB: a tar is filled up to one record, the longest of which has 1 MiB.
const AFTER_END: u64 = 64 * 1024 * 1024;

/// What a walk reads from.
pub(super) trait Source: Read {
    /// Goes on without giving the bytes out; less than asked only where the data ends.
    fn pass(&mut self, bytes: u64) -> io::Result<u64>;
}

impl Source for At {
    fn pass(&mut self, bytes: u64) -> io::Result<u64> {
        let bytes = bytes.min(self.len().saturating_sub(self.place()));
        self.skip(bytes);
        Ok(bytes)
    }
}

/// One entry.
pub(super) struct Member {
    /// As it stands in the archive, without one leading `./` and one trailing slash; empty for the root.
    pub(super) name: Vec<u8>,
    pub(super) folder: bool,
    /// Bytes of content.
    pub(super) size: u64,
    pub(super) mtime: Option<Timestamp>,
    /// Where the content starts.
    pub(super) start: u64,
}

/// Why a walk ended before the end mark.
#[derive(Debug)]
pub(super) enum Stop {
    /// The archive is refused.
    Refused(StoreErrorKind),
    /// The bytes are damaged from here on; what came before stands.
    Damaged(String),
    /// Where a header should be there is something else; the place in the tar.
    NoHeader(u64),
    /// The system failed.
    Failed(io::Error),
}

/// A walk over the headers.
pub(super) struct Walk<'a> {
    source: &'a mut dyn Source,
    /// How many bytes were read or passed.
    place: u64,
    /// Where the next header starts.
    next: u64,
}

impl<'a> Walk<'a> {
    /// A walk from the start of a source.
    pub(super) fn new(source: &'a mut dyn Source) -> Self {
        Self { source, place: 0, next: 0 }
    }

    /// How many bytes the source gave so far.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// The next file or folder; nothing at the end.
    ///
    /// The end is a block of zeros, as the format has it, or the end of the data right after an entry, which some
    /// writers leave. What follows the end mark is not looked at, as tar itself does not.
    pub(super) fn next_member(&mut self) -> Result<Option<Member>, Stop> {
        let mut extended = Extended::default();
        loop {
            let Some(header) = self.header()? else {
                if extended.pending {
                    return Err(Stop::Damaged("it ends after the long name of an entry".to_owned()));
                }
                return Ok(None);
            };
            let at = self.place.saturating_sub(STEP);
            let kind = header.entry_type().as_byte();
            let mut size =
                header.entry_size().map_err(|_| Stop::Damaged(format!("the header at byte {at} holds no size")))?;
            match kind {
                b'L' => {
                    let mut name = self.extension(size)?;
                    while name.last() == Some(&0) {
                        name.pop();
                    }
                    extended.name = Some(name);
                    extended.pending = true;
                    continue;
                }
                // The long target of a link, which is refused when it comes.
                b'K' => {
                    self.extension(size)?;
                    continue;
                }
                b'x' | b'X' => {
                    let records = self.extension(size)?;
                    extended.read(&records, at)?;
                    extended.pending = true;
                    continue;
                }
                b'g' => {
                    let records = self.extension(size)?;
                    check_global(&records, at)?;
                    continue;
                }
                // The label of a volume.
                b'V' => {
                    self.advance(size)?;
                    continue;
                }
                _ => {}
            }
            size = extended.size.unwrap_or(size);
            let raw = extended.name.unwrap_or_else(|| header.path_bytes().into_owned());
            let folder = folder_or_file(kind, &raw, size, extended.sparse)?;
            let start = self.place;
            self.advance(size)?;
            let mtime = extended.mtime.or_else(|| seconds(header.mtime().ok()?));
            return Ok(Some(Member { name: normal(&raw, folder), folder, size, mtime, start }));
        }
    }

    /// Reads the content of the entry that came last, as far as it is there.
    pub(super) fn content(&mut self, size: u64, into: &mut Vec<u8>) -> Result<(), Stop> {
        let before = into.len();
        let outcome = Read::take(&mut *self.source, size).read_to_end(into);
        self.place = self.place.saturating_add(into.len().saturating_sub(before) as u64);
        outcome.map(|_| ()).map_err(stop)
    }

    /// Reads what comes after the end mark, so that the checksum of a packed stream is looked at.
    pub(super) fn rest(&mut self) -> Result<(), Stop> {
        let passed = self.source.pass(AFTER_END).map_err(stop)?;
        if passed == AFTER_END {
            return Err(Stop::Damaged(format!("more than {AFTER_END} bytes follow the mark of its end")));
        }
        Ok(())
    }

    /// Passes the content of the entry that came last.
    pub(super) fn pass_content(&mut self) -> Result<(), Stop> {
        let bytes = self.next.saturating_sub(self.place);
        let passed = self.source.pass(bytes).map_err(stop)?;
        self.place = self.place.saturating_add(passed);
        Ok(())
    }

    /// The next header, or nothing at the end mark or at the end of the data.
    fn header(&mut self) -> Result<Option<Header>, Stop> {
        self.pass_content()?;
        if self.place < self.next {
            return Err(Stop::Damaged("it ends inside the entry that comes last".to_owned()));
        }
        let mut header = Header::new_old();
        let at = self.place;
        let count = fill(&mut self.source, header.as_mut_bytes()).map_err(stop)?;
        self.place = self.place.saturating_add(count as u64);
        if count == 0 || (count == BLOCK && header.as_bytes().iter().all(|byte| *byte == 0)) {
            return Ok(None);
        }
        if count < BLOCK {
            return Err(Stop::Damaged(format!("it ends inside the header at byte {at}")));
        }
        if !is_header(header.as_bytes()) {
            return Err(Stop::NoHeader(at));
        }
        self.next = self.place;
        Ok(Some(header))
    }

    /// Notes that content of a size follows.
    fn advance(&mut self, size: u64) -> Result<(), Stop> {
        let next = size.checked_next_multiple_of(STEP).and_then(|size| self.place.checked_add(size));
        self.next = next.ok_or_else(|| Stop::Damaged("the size of an entry cannot be right".to_owned()))?;
        Ok(())
    }

    /// The content of an entry that describes the next one.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>, Stop> {
        if size > EXTENSION {
            let why = format!("it holds a name or attributes of {size} bytes, over the ceiling of {EXTENSION}");
            return Err(Stop::Refused(StoreErrorKind::Hostile(why)));
        }
        self.advance(size)?;
        let mut bytes = Vec::new();
        self.content(size, &mut bytes)?;
        if (bytes.len() as u64) < size {
            return Err(Stop::Damaged("it ends inside the long name of an entry".to_owned()));
        }
        Ok(bytes)
    }
}

/// What a failed read of the source means.
fn stop(error: io::Error) -> Stop {
    match error.kind() {
        ErrorKind::InvalidData => Stop::Damaged(error.to_string()),
        ErrorKind::Unsupported if error.raw_os_error().is_none() => {
            Stop::Refused(StoreErrorKind::Unsupported(error.to_string()))
        }
        // The reader of a stream that grew past its ceiling.
        ErrorKind::FileTooLarge => Stop::Refused(StoreErrorKind::Hostile(error.to_string())),
        _ => Stop::Failed(error),
    }
}

/// True for a folder, false for a file, an error for everything that is not read here.
fn folder_or_file(kind: u8, name: &[u8], size: u64, sparse: bool) -> Result<bool, Stop> {
    let name = quoted(name);
    let unsupported = |what: &str| Err(Stop::Refused(StoreErrorKind::Unsupported(format!("entry {name} {what}"))));
    let hostile = |what: &str| Err(Stop::Refused(StoreErrorKind::Hostile(format!("entry {name} {what}"))));
    match kind {
        _ if sparse => unsupported("is stored with holes (a sparse file)"),
        // Before POSIX, a folder was a file whose name ends in a slash.
        0 | b'0' if name.ends_with("/`") && size == 0 => Ok(true),
        0 | b'0' | b'7' => Ok(false),
        // POSIX gives a folder no content and some readers skip what its size says, so both cannot be right.
        b'5' if size > 0 => unsupported("is a folder with content"),
        // A folder of an incremental backup (`--listed-incremental`), whose content is a list of names.
        b'5' | b'D' => Ok(true),
        b'1' => unsupported("is a hard link to another entry"),
        b'2' => hostile("is a symbolic link"),
        b'3' | b'4' | b'6' => hostile("is a pipe or a device"),
        b'S' => unsupported("is stored with holes (a sparse file)"),
        b'M' => unsupported("goes on from another volume"),
        other => unsupported(&format!("is of an unknown kind (byte {other})")),
    }
}

/// The name without the one leading `./` that `tar -C dir .` writes before every name, and a folder's trailing slash.
fn normal(raw: &[u8], folder: bool) -> Vec<u8> {
    let name = match raw {
        b"." | b"./" if folder => b"",
        [b'.', b'/', rest @ ..] => rest,
        _ => raw,
    };
    let name = if folder { name.strip_suffix(b"/").unwrap_or(name) } else { name };
    name.to_vec()
}

/// True when the checksum of a block is that of a header; some old writers summed signed bytes.
pub(super) fn is_header(block: &[u8; BLOCK]) -> bool {
    let header = Header::from_byte_slice(block);
    let Ok(wanted) = header.cksum() else { return false };
    let (mut unsigned, mut signed): (i64, i64) = (0, 0);
    for (at, byte) in block.iter().enumerate() {
        // The sum counts its own place as spaces.
        let byte = if (148..156).contains(&at) { b' ' } else { *byte };
        unsigned += i64::from(byte);
        signed += i64::from(byte.cast_signed());
    }
    let wanted = i64::from(wanted);
    (wanted == unsigned || wanted == signed) && block.iter().any(|byte| *byte != 0)
}

/// What extended headers say about the next entry.
#[derive(Default)]
struct Extended {
    pending: bool,
    name: Option<Vec<u8>>,
    size: Option<u64>,
    mtime: Option<Timestamp>,
    sparse: bool,
}

impl Extended {
    /// Takes over pax records.
    fn read(&mut self, records: &[u8], at: u64) -> Result<(), Stop> {
        for_each_record(records, at, |key, value| {
            match key {
                b"path" => self.name = Some(value.to_vec()),
                b"size" => self.size = Some(number(value)?),
                b"mtime" => self.mtime = decimal(value),
                _ if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
            Some(())
        })
    }
}

/// Refuses records for all entries that would change what the entries are.
fn check_global(records: &[u8], at: u64) -> Result<(), Stop> {
    let mut changes = false;
    for_each_record(records, at, |key, _| {
        changes |= matches!(key, b"path" | b"size" | b"linkpath") || key.starts_with(b"GNU.sparse.");
        Some(())
    })?;
    if changes {
        let why = format!("the header at byte {at} gives one name or size to all entries");
        return Err(Stop::Refused(StoreErrorKind::Hostile(why)));
    }
    Ok(())
}

/// Hands out pax records (`LENGTH KEY=VALUE\n`, the length counting itself), whose values may hold any bytes.
fn for_each_record(records: &[u8], at: u64, mut take: impl FnMut(&[u8], &[u8]) -> Option<()>) -> Result<(), Stop> {
    let mut rest = records;
    // Some writers fill up with zeros.
    while rest.first().is_some_and(|byte| *byte != 0) {
        let parsed = (|| {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let length = usize::try_from(number(rest.get(..space)?)?).ok()?;
            let record = rest.get(space.checked_add(1)?..length)?.strip_suffix(b"\n")?;
            let equals = record.iter().position(|byte| *byte == b'=')?;
            take(record.get(..equals)?, record.get(equals.checked_add(1)?..)?)?;
            rest.get(length..)
        })();
        rest = parsed.ok_or_else(|| Stop::Damaged(format!("the attributes at byte {at} are damaged")))?;
    }
    Ok(())
}

fn number(digits: &[u8]) -> Option<u64> {
    // Not even a plus sign, which `parse` would take.
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A time in seconds since 1970; 0 is what writers without a clock put there.
fn seconds(seconds: u64) -> Option<Timestamp> {
    if seconds == 0 {
        return None;
    }
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

/// A time in seconds since 1970 with any number of decimals, of which nine are kept.
fn decimal(text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let mut nanos: i32 = 0;
    for at in 0..9 {
        let digit = fraction.as_bytes().get(at).copied().unwrap_or(b'0');
        nanos = nanos.checked_mul(10)?.checked_add(i32::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?))?;
    }
    Timestamp::new(seconds, if whole.starts_with('-') { nanos.checked_neg()? } else { nanos }).ok()
}
