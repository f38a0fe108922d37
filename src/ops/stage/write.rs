//! Other bytes for a file of a stage.

use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use super::part::{Part, failure, said};
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::{Act, Cause, Failure};

const OWNER_MAY_WRITE: u32 = 0o200;

/// Gives a file these bytes and no others, durably; it is made when it is not there. What it had besides bytes stays,
/// but for its time.
pub(super) fn write<'p, H: Hook>(
    sys: &Sys<'_, H>,
    part: &mut Part<'p>,
    below: &Path,
    bytes: &'p [u8],
) -> Result<(), Failure> {
    let path = part.to.join(below);
    let (folder, name) = part.entry(sys, below)?;
    let there = match sys.stat_at(&folder, &name).map(Seen::from) {
        Ok(seen) if seen.kind() == FileType::RegularFile => Some(seen),
        Ok(_) => return Err(failure(Act::Write, &path, Cause::Special("thing that is no file"))),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(said(Act::Look, &path)(error)),
    };
    let file = if let Some(seen) = &there {
        let locked = seen.mode() & OWNER_MAY_WRITE == 0;
        if locked {
            let file = sys.open(&folder, &name, OFlags::RDONLY).map_err(said(Act::Open, &path))?;
            sys.chmod(&file, seen.mode() | OWNER_MAY_WRITE).map_err(said(Act::Dress, &path))?;
        }
        let file = sys.open_to_write(&folder, &name).map_err(said(Act::Open, &path))?;
        if Seen::from(sys.stat(&file).map_err(said(Act::Look, &path))?).id() != seen.id() {
            return Err(failure(Act::Open, &path, Cause::Changed));
        }
        file
    } else {
        let file = sys.create(&folder, &name).map_err(said(Act::Make, &path))?;
        let made = match sys.stat(&file) {
            Ok(stat) => Seen::from(stat),
            Err(error) => {
                // It is on no list yet.
                let _ = sys.unlink(&folder, &name, AtFlags::empty());
                return Err(said(Act::Look, &path)(error));
            }
        };
        part.copied.made_inside(made.id());
        part.copied.files += 1;
        part.added.insert(below.to_path_buf());
        file
    };
    let mut at = 0;
    let mut left = bytes;
    while !left.is_empty() {
        let written = sys.write(&file, left, at).map_err(said(Act::Write, &path))?;
        if written == 0 {
            return Err(said(Act::Write, &path)(Errno::IO));
        }
        at += written as u64;
        left = left.split_at(written.min(left.len())).1;
    }
    sys.truncate(&file, bytes.len() as u64).map_err(said(Act::Write, &path))?;
    if let Some(seen) = &there
        && Seen::from(sys.stat(&file).map_err(said(Act::Look, &path))?).mode() != seen.mode()
    {
        sys.chmod(&file, seen.mode()).map_err(said(Act::Dress, &path))?;
    }
    sys.flush(&file).map_err(said(Act::Flush, &path))?;
    if there.is_none() {
        // The folder was opened only to go through it.
        let again = sys.open(&folder, c".", OFlags::RDONLY | OFlags::DIRECTORY).map_err(said(Act::Open, &path))?;
        sys.flush(&again).map_err(said(Act::Flush, &path))?;
    }
    part.written.insert(below.to_path_buf(), bytes);
    Ok(())
}
