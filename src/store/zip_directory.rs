//! A zip's end record and central directory, looked at raw before and beside the `zip` crate.
//!
//! The crate makes room for as many entries as an end record promises, keeps only the last of two equal names, and
//! hands out no time stamps without reading every local header. So the promise is held against the ceilings first,
//! and the raw directory is walked once for names that stand twice and for times.

use std::collections::HashSet;
use std::io::{self, BufReader};

use jiff::Timestamp;

use super::at::{At, fill};
use super::names::quoted;
use super::{Ceilings, StoreErrorKind};

/// A central directory in bytes. 256 MiB: a million entries with the longest real names and extra fields.
const DIRECTORY: u64 = 256 * 1024 * 1024;

/// An end record without its comment.
const END: usize = 22;
/// A zip64 locator, which lies right before the end record.
const LOCATOR: usize = 20;

/// Refuses an archive whose end records promise more than the ceilings allow.
///
/// Every record that could be taken for the end is looked at, because which one counts is the crate's choice.
pub(super) fn check_promises(file: &At, ceilings: &Ceilings) -> Result<(), StoreErrorKind> {
    let most = END as u64 + u64::from(u16::MAX) + 4;
    let start = file.len().saturating_sub(most);
    let mut tail = vec![0; usize::try_from(file.len().saturating_sub(start)).unwrap_or(0)];
    let count = file.fill_at(start, &mut tail).map_err(|error| StoreErrorKind::Io(error.to_string()))?;
    tail.truncate(count);
    for (at, record) in tail.windows(END).enumerate() {
        if !record.starts_with(b"PK\x05\x06") {
            continue;
        }
        let place = start.saturating_add(at as u64);
        let old = (u64::from(u32_at(record, 16)), u64::from(u16_at(record, 10)));
        for promise in [Some(old), zip64_promise(file, place)].into_iter().flatten() {
            check_promise(file, place, promise, ceilings)?;
        }
    }
    Ok(())
}

fn check_promise(
    file: &At,
    place: u64,
    (directory, entries): (u64, u64),
    ceilings: &Ceilings,
) -> Result<(), StoreErrorKind> {
    // Four bytes in a comment that look like an end record point at no directory.
    let mut magic = [0; 4];
    let found = file.fill_at(directory, &mut magic).map_err(|error| StoreErrorKind::Io(error.to_string()))?;
    if found < 4 || &magic != b"PK\x01\x02" {
        return Ok(());
    }
    if entries > ceilings.entries {
        return Err(StoreErrorKind::TooMany { ceiling: ceilings.entries });
    }
    if place.saturating_sub(directory) > DIRECTORY {
        return Err(StoreErrorKind::Hostile(format!("its central directory has more than {DIRECTORY} bytes")));
    }
    Ok(())
}

/// Where the directory starts and how many entries it has, by the zip64 record of an end record at `place`.
fn zip64_promise(file: &At, place: u64) -> Option<(u64, u64)> {
    let mut locator = [0; LOCATOR];
    file.fill_at(place.checked_sub(LOCATOR as u64)?, &mut locator).ok()?;
    if !locator.starts_with(b"PK\x06\x07") {
        return None;
    }
    let mut record = [0; 56];
    let count = file.fill_at(u64_at(&locator, 8), &mut record).ok()?;
    if count < record.len() || !record.starts_with(b"PK\x06\x06") {
        return None;
    }
    Some((u64_at(&record, 48), u64_at(&record, 32).max(u64_at(&record, 24))))
}

/// The times of all entries, in the order of the directory; the place of each entry's header with it. An error when
/// a name stands twice.
///
/// `entries` is how many there are, or nothing where the crate dropped some and all that follow have to be looked at.
///
/// Times come from the extended timestamp (Info-ZIP, `7z`, Java) or the NTFS field (Windows tools), which are in UTC.
/// The DOS time that every entry has is local to a machine that we do not know, so it is no time at all here.
pub(super) fn walk(
    file: &At,
    start: u64,
    entries: Option<usize>,
) -> Result<Vec<(u64, Option<Timestamp>)>, StoreErrorKind> {
    let mut source = BufReader::with_capacity(64 * 1024, file.moved(start));
    let mut names = HashSet::new();
    let mut times = Vec::new();
    let mut place = start;
    for _ in 0..entries.unwrap_or(usize::MAX) {
        let mut fixed = [0; 46];
        read(&mut source, &mut fixed)?;
        if !fixed.starts_with(b"PK\x01\x02") {
            if entries.is_none() {
                break;
            }
            return Err(StoreErrorKind::Broken(format!("its central directory is damaged at byte {place}")));
        }
        let lengths = [u16_at(&fixed, 28), u16_at(&fixed, 30), u16_at(&fixed, 32)];
        let [mut name, mut extra, mut comment] = lengths.map(|len| vec![0; usize::from(len)]);
        for part in [&mut name, &mut extra, &mut comment] {
            read(&mut source, part)?;
        }
        times.push((place, time(&extra)));
        place = place.saturating_add(46).saturating_add(lengths.iter().map(|len| u64::from(*len)).sum());
        if names.contains(&name) {
            return Err(StoreErrorKind::Hostile(format!("entry {} stands in it twice", quoted(&name))));
        }
        names.insert(name);
    }
    Ok(times)
}

fn read(source: &mut BufReader<At>, buffer: &mut [u8]) -> Result<(), StoreErrorKind> {
    match fill(source, buffer) {
        Ok(count) if count == buffer.len() => Ok(()),
        Ok(_) => Err(StoreErrorKind::Broken("its central directory ends too early".to_owned())),
        Err(error) => Err(StoreErrorKind::Io(error.to_string())),
    }
}

/// The time of last change in an entry's extra fields.
fn time(mut extra: &[u8]) -> Option<Timestamp> {
    let mut ntfs = None;
    while let Some((head, rest)) = extra.split_first_chunk::<4>() {
        let field = rest.get(..usize::from(u16_at(head, 2)))?;
        match u16_at(head, 0) {
            // Flags, of which the first says that the time of change is here, then signed seconds.
            0x5455 if field.first().is_some_and(|flags| flags & 1 == 1) => {
                let seconds = i32::from_le_bytes(*field.get(1..)?.first_chunk()?);
                // 0 is what writers without a clock put there.
                return Timestamp::from_second(i64::from(seconds)).ok().filter(|_| seconds != 0);
            }
            // Four spare bytes, then tagged parts; part 1 starts with the time of change.
            0x000a if field.get(4..8) == Some(&[1, 0, 24, 0]) => ntfs = ntfs_time(u64_at(field, 8)),
            _ => {}
        }
        extra = rest.get(field.len()..)?;
    }
    ntfs
}

/// A count of 100 ns since 1601.
fn ntfs_time(ticks: u64) -> Option<Timestamp> {
    const TO_1970: i64 = 11_644_473_600;
    let seconds = i64::try_from(ticks / 10_000_000).ok()?.checked_sub(TO_1970)?;
    let nanos = i32::try_from(ticks % 10_000_000).ok()?.checked_mul(100)?;
    Timestamp::new(seconds, nanos).ok()
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|tail| tail.first_chunk()).map_or(0, |chunk| u16::from_le_bytes(*chunk))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|tail| tail.first_chunk()).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|tail| tail.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// Skips to what an entry's local header is followed by: where its packed bytes start.
pub(super) fn data_start(file: &At, header: u64) -> io::Result<Option<u64>> {
    let mut local = [0; 30];
    let count = file.fill_at(header, &mut local)?;
    if count < local.len() || !local.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let names = u64::from(u16_at(&local, 26)).saturating_add(u64::from(u16_at(&local, 28)));
    Ok(header.checked_add(30).and_then(|end| end.checked_add(names)))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::time;

    #[test]
    fn times_come_from_fields_that_are_in_utc() {
        let unix = [0x55, 0x54, 5, 0, 1, 0x15, 0xcd, 0x5b, 0x07];
        assert_eq!(time(&unix).map(Timestamp::as_second), Some(123_456_789));
        let mut ntfs = vec![0x0a, 0, 32, 0, 0, 0, 0, 0, 1, 0, 24, 0];
        ntfs.extend((116_444_736_000_000_000_u64 + 15_000_000).to_le_bytes());
        ntfs.extend([0; 16]);
        assert_eq!(time(&ntfs).map(Timestamp::as_millisecond), Some(1500));
        ntfs.extend(unix);
        assert_eq!(time(&ntfs).map(Timestamp::as_second), Some(123_456_789));
        assert_eq!(time(&unix[..6]), None);
        assert_eq!(time(&[0x55, 0x54, 1, 0, 0]), None);
    }
}
