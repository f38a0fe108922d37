//! How much lies at a path, and what of it was written lately.

use std::path::Path;

/// Things that are looked at at most; what is more is not counted, since a list must not take minutes.
#[cfg(target_os = "linux")]
const MOST: u64 = 1_000_000;

/// Folders in folders that are looked into.
#[cfg(target_os = "linux")]
const MAX_DEPTH: usize = 100;

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ops) struct Weight {
    /// Sizes of files together.
    pub(in crate::ops) bytes: u64,
    pub(in crate::ops) files: u64,
    /// Files and folders that were written after the moment that was asked for.
    pub(in crate::ops) later: u64,
    /// When the last of all was written: seconds since 1970 and nanoseconds.
    pub(in crate::ops) newest: (i64, i64),
}

/// Weighs a file or a folder with everything in it; nothing when it is not there or may not be looked at. Links are not
/// followed, and other file systems not entered.
#[cfg(target_os = "linux")]
pub(in crate::ops) fn weigh(path: &Path, after: (i64, i64)) -> Weight {
    use crate::ops::keep::one_name;
    use crate::ops::tree::calls::{Direct, Sys};

    let mut scale = linux::Scale { sys: &Sys::anywhere(&Direct), after, seen: 0, weight: Weight::default() };
    if let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(one_name))
        && let Ok(parent) = scale.sys.direct(parent)
    {
        scale.entry(&parent, &name, None, 0);
    }
    scale.weight
}

/// Nothing is kept on this system.
#[cfg(not(target_os = "linux"))]
pub(in crate::ops) fn weigh(_path: &Path, _after: (i64, i64)) -> Weight {
    Weight::default()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CStr;
    use std::os::fd::OwnedFd;

    use rustix::fs::{FileType, OFlags};

    use super::{MAX_DEPTH, MOST, Weight};
    use crate::ops::remove::names;
    use crate::ops::tree::calls::{Direct, Sys};
    use crate::ops::tree::seen::Seen;

    pub(super) struct Scale<'s> {
        pub(super) sys: &'s Sys<'s, Direct>,
        pub(super) after: (i64, i64),
        pub(super) seen: u64,
        pub(super) weight: Weight,
    }

    impl Scale<'_> {
        pub(super) fn entry(&mut self, folder: &OwnedFd, name: &CStr, device: Option<u64>, depth: usize) {
            self.seen += 1;
            let Ok(seen) = self.sys.stat_at(folder, name).map(Seen::from) else { return };
            if self.seen > MOST || device.is_some_and(|device| device != seen.device) {
                return;
            }
            self.weight.newest = self.weight.newest.max(seen.written);
            self.weight.later += u64::from(seen.written > self.after);
            match seen.kind() {
                FileType::Directory if depth < MAX_DEPTH => {
                    let opened = self.sys.open(folder, name, OFlags::RDONLY | OFlags::DIRECTORY);
                    let Ok(inside) = opened else { return };
                    for child in names(self.sys, &inside).unwrap_or_default() {
                        self.entry(&inside, &child, Some(seen.device), depth + 1);
                    }
                }
                FileType::RegularFile => {
                    self.weight.files += 1;
                    self.weight.bytes = self.weight.bytes.saturating_add(seen.size);
                }
                _ => {}
            }
        }
    }
}
