//! Removing what a copy made, and nothing else.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, OFlags, RawDir};

use super::Made;
use super::calls::{Hook, Sys, listing_buffer};
use super::seen::Seen;
use crate::ops::Root;

/// Removes the stage. Each name is looked at, never followed, and removed only if what it names is on the list. The
/// answer is how many things are left, 0 when all of it is gone; it never tries the same thing twice.
pub(super) fn discard<H: Hook>(sys: &Sys<'_, H>, made: &Made, parent: &Root, stage: &OsStr) -> u64 {
    let Ok(name) = CString::new(stage.as_bytes()) else { return 1 };
    let seen = match sys.stat_at(parent, &name) {
        Ok(stat) => Seen::from(stat),
        Err(rustix::io::Errno::NOENT) => return 0,
        Err(_) => return 1,
    };
    if made.stage != Some(seen.id()) {
        return 1;
    }
    let left = remove_folder(sys, made, parent.as_fd(), &name, &seen);
    // Should a power cut bring the name back, it is an unfinished stage that nothing points to.
    let _ = sys.flush(parent);
    left
}

fn remove_folder<H: Hook>(sys: &Sys<'_, H>, made: &Made, parent: impl AsFd, name: &CStr, listed: &Seen) -> u64 {
    let Ok(folder) = sys.open(&parent, name, OFlags::RDONLY | OFlags::DIRECTORY) else { return 1 };
    match sys.stat(&folder) {
        Ok(stat) if Seen::from(stat).id() == listed.id() => {}
        _ => return 1,
    }
    // It may already have the mode of its source, which need not let us change it.
    if listed.mode() & 0o700 != 0o700 && sys.chmod(&folder, 0o700).is_err() {
        return 1;
    }
    let left = remove_entries(sys, made, &folder);
    if left > 0 {
        return left.saturating_add(1);
    }
    u64::from(sys.unlink(&parent, name, AtFlags::REMOVEDIR).is_err())
}

fn remove_entries<H: Hook>(sys: &Sys<'_, H>, made: &Made, folder: &OwnedFd) -> u64 {
    let mut room = listing_buffer();
    let mut list = RawDir::new(folder, &mut room);
    let mut left = 0_u64;
    loop {
        let name = match sys.next_name(&mut list) {
            None => return left,
            Some(Err(_)) => return left.saturating_add(1),
            Some(Ok(entry)) => entry.file_name().to_owned(),
        };
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            left = left.saturating_add(remove_entry(sys, made, folder, &name));
        }
    }
}

fn remove_entry<H: Hook>(sys: &Sys<'_, H>, made: &Made, folder: &OwnedFd, name: &CStr) -> u64 {
    let Ok(seen) = sys.stat_at(folder, name).map(Seen::from) else { return 1 };
    if !made.inside.contains(&seen.id()) {
        return 1;
    }
    if seen.kind() == FileType::Directory {
        remove_folder(sys, made, folder, name, &seen)
    } else {
        u64::from(sys.unlink(folder, name, AtFlags::empty()).is_err())
    }
}
