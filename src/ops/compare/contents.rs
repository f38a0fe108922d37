//! The bytes of two files, and their holes.

use std::os::fd::OwnedFd;

use rustix::fs::{Advice, SeekFrom, fadvise, seek};
use rustix::io::{Errno, pread};

use super::disk::TRIES;
use crate::model::Cancel;
use crate::ops::Side;

/// Bytes of each file that are held at a time.
const BUFFER: usize = 256 << 10;

/// Room for comparing, used for one file after the other.
#[derive(Default)]
pub(super) struct Room {
    source: Vec<u8>,
    stage: Vec<u8>,
}

/// How two files compare.
pub(super) enum Contents {
    /// They are equal, over so many bytes.
    Equal(u64),
    /// They differ from here on.
    DifferAt(u64),
    Cancelled,
}

/// Compares all bytes, those of the stage as they are on the disk: what was copied last is still in memory, and memory
/// is not what the world will be read from. Pages that are not written out yet stay; there are none after a flush.
pub(super) fn contents(
    source: &OwnedFd,
    stage: &OwnedFd,
    room: &mut Room,
    cancel: &Cancel,
) -> Result<Contents, (Side, Errno)> {
    fadvise(stage, 0, None, Advice::DontNeed).map_err(|error| (Side::Stage, error))?;
    room.source.resize(BUFFER, 0);
    room.stage.resize(BUFFER, 0);
    let mut at = 0_u64;
    loop {
        if cancel.cancelled() {
            return Ok(Contents::Cancelled);
        }
        let left = fill(source, &mut room.source, at).map_err(|error| (Side::Source, error))?;
        let right = fill(stage, &mut room.stage, at).map_err(|error| (Side::Stage, error))?;
        if left != right {
            let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
            return Ok(Contents::DifferAt(at + same as u64));
        }
        at += left.len() as u64;
        if left.len() < BUFFER {
            // The proof is no reason to keep a whole world in the memory of a machine that runs a server.
            let _ = fadvise(stage, 0, None, Advice::DontNeed);
            return Ok(Contents::Equal(at));
        }
    }
}

/// Fills the room from the file, less only at its end.
fn fill<'r>(file: &OwnedFd, room: &'r mut [u8], at: u64) -> Result<&'r [u8], Errno> {
    let mut have = 0;
    let mut tries = TRIES;
    loop {
        let (_, free) = room.split_at_mut(have);
        if free.is_empty() {
            break;
        }
        match pread(file, free, at + have as u64) {
            Ok(0) => break,
            Ok(read) => (have, tries) = (have + read, TRIES),
            Err(Errno::INTR) if tries > 1 => tries -= 1,
            Err(error) => return Err(error),
        }
    }
    Ok(room.split_at(have.min(room.len())).0)
}

/// Bytes of holes in a file; 0 where the system knows none.
pub(super) fn holes(file: &OwnedFd, size: u64) -> u64 {
    let mut data = 0_u64;
    let mut at = 0_u64;
    while at < size {
        let Ok(start) = seek(file, SeekFrom::Data(at)) else { break };
        let Ok(end) = seek(file, SeekFrom::Hole(start)) else { return 0 };
        if end <= at {
            return 0;
        }
        data = data.saturating_add(end.min(size).saturating_sub(start));
        at = end;
    }
    // A system that knows no holes answers the first question with an error, and then nothing is data.
    if data == 0 && seek(file, SeekFrom::Data(0)) != Err(Errno::NXIO) { 0 } else { size.saturating_sub(data) }
}
