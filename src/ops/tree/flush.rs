//! Making the copy durable before anything depends on it.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FsWord, fstatfs};

use super::calls::Hook;
use super::walk::{Copier, Stop, said};
use super::{BYTES_FLUSHED_SINGLY, FLUSHED_SINGLY, Flush};
use crate::ops::{Act, Side};

/// How this copy is made durable, and how far that is.
pub(super) struct Flusher {
    how: Flush,
    /// True where one call for the whole file system tells of every error.
    at_once_tells: bool,
    singly: u64,
    /// True once something was left to that one call.
    owed: bool,
}

impl Flusher {
    pub(super) fn new(how: Flush) -> Self {
        Self { how, at_once_tells: false, singly: 0, owed: false }
    }

    /// `stage` is opened before anything is written: the call at the end, on this same descriptor, tells of every
    /// error since then.
    pub(super) fn set_up(&mut self, stage: impl AsFd) {
        self.at_once_tells = at_once_tells(stage);
    }

    /// `bytes`: how many are copied so far.
    fn waits(&self, bytes: u64) -> bool {
        self.at_once_tells
            && match self.how {
                Flush::Singly => false,
                Flush::AtOnce => true,
                Flush::ByAmount => self.singly >= FLUSHED_SINGLY || bytes > BYTES_FLUSHED_SINGLY,
            }
    }
}

/// True where one call for the whole file system that holds `file` tells of every error since that was opened.
pub(in crate::ops) fn at_once_tells(file: impl AsFd) -> bool {
    kernel_tells() && fstatfs(file).is_ok_and(|fs| is_local(fs.f_type))
}

/// `syncfs` tells of write errors since Linux 5.8.
fn kernel_tells() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").is_ok_and(|release| is_at_least(&release, (5, 8)))
}

fn is_at_least(release: &str, wanted: (u32, u32)) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= wanted,
        _ => false,
    }
}

/// File systems on whose word for the whole we rely. Elsewhere (network, FUSE, unknown) each file is asked for by itself.
fn is_local(kind: FsWord) -> bool {
    const EXT4: FsWord = 0xef53;
    const XFS: FsWord = 0x5846_5342;
    const BTRFS: FsWord = 0x9123_683e;
    const F2FS: FsWord = 0xf2f5_2010;
    const TMPFS: FsWord = 0x0102_1994;
    [EXT4, XFS, BTRFS, F2FS, TMPFS].contains(&kind)
}

impl<H: Hook> Copier<'_, H> {
    /// Makes a finished file or folder durable, or leaves that to the end.
    pub(super) fn flush(&mut self, made: BorrowedFd<'_>) -> Result<(), Stop> {
        if self.flusher.waits(self.done.bytes) {
            self.flusher.owed = true;
            return Ok(());
        }
        self.flusher.singly += 1;
        self.sys.flush(made).map_err(said(Act::Flush, Side::Stage))
    }

    /// Makes the stage durable, and its name in the folder that holds it.
    pub(super) fn finish(&mut self, stage: BorrowedFd<'_>, parent: BorrowedFd<'_>) -> Result<(), Stop> {
        let stop_at = said(Act::Flush, Side::Stage);
        if self.flusher.owed {
            self.pause()?;
            self.sys.flush_all(stage).map_err(&stop_at)?;
            self.done.flushed_at_once = true;
        }
        self.sys.flush(stage).map_err(&stop_at)?;
        self.sys.flush(parent).map_err(&stop_at)
    }
}

#[cfg(test)]
mod tests {
    use super::is_at_least;

    #[test]
    fn releases_are_compared_as_numbers() {
        for new in ["5.8.0", "5.10.0-28-amd64", "6.1", "10.0.1", "6.18.44-fc-v669\n"] {
            assert!(is_at_least(new, (5, 8)), "{new}");
        }
        for old in ["5.7.19", "4.19.0-26-amd64", "", "five", "6"] {
            assert!(!is_at_least(old, (5, 8)), "{old}");
        }
    }
}
