//! Making durable what is made and changed besides the copier.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::{BYTES_FLUSHED_SINGLY, FLUSHED_SINGLY, at_once_tells};

/// Each by itself up to a number, then all at once where the system tells of every error of that.
pub(in crate::ops) struct Durable<'s, 'h, H> {
    sys: &'s Sys<'h, H>,
    /// Opened before anything was written, so that it tells of every error since.
    on: OwnedFd,
    tells: bool,
    singly: u64,
    bytes: u64,
    owed: bool,
}

impl<'s, 'h, H: Hook> Durable<'s, 'h, H> {
    /// `on`: a folder on the file system, opened before anything is written.
    pub(in crate::ops) fn new(sys: &'s Sys<'h, H>, on: impl AsFd) -> Result<Self, Errno> {
        let on = on.as_fd().try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let tells = at_once_tells(&on);
        Ok(Self { sys, on, tells, singly: 0, bytes: 0, owed: false })
    }

    /// A file or a folder is finished, with so many new bytes.
    pub(in crate::ops) fn finished(&mut self, file: impl AsFd, bytes: u64) -> Result<(), Errno> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.tells && (self.singly >= FLUSHED_SINGLY || self.bytes > BYTES_FLUSHED_SINGLY) {
            self.owed = true;
            return Ok(());
        }
        self.singly += 1;
        self.sys.flush(file)
    }

    /// Everything is; true when that took one call for the whole file system.
    pub(in crate::ops) fn all(&mut self) -> Result<bool, Errno> {
        if !self.owed {
            return Ok(false);
        }
        self.owed = false;
        self.sys.flush_all(&self.on).map(|()| true)
    }
}
