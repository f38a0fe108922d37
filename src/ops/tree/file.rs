//! One file: its bytes and its holes.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, OFlags, SeekFrom};
use rustix::io::Errno;

use super::calls::Hook;
use super::seen::Seen;
use super::walk::{Copier, Stop, said, stop};
use crate::ops::{Act, Cause, Side};

/// Bytes between two looks at whether to stop, when the kernel copies.
const STRIDE: u64 = 8 << 20;
/// Bytes of the buffer, when we copy. Attributes and their lists, which are up to 64 KiB, fit in as well.
pub(super) const BUFFER: usize = 256 << 10;

impl<H: Hook> Copier<'_, H> {
    pub(super) fn file(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
        listed: &Seen,
    ) -> Result<(), Stop> {
        if listed.names > 1
            && let Some((first, made)) = self.first_names.get(&listed.id()).cloned()
        {
            return self.second_name(to, name, &first, made);
        }
        let source = self.sys.open(from, name, OFlags::RDONLY).map_err(said(Act::Open, Side::Source))?;
        let before = Seen::from(self.sys.stat(&source).map_err(said(Act::Look, Side::Source))?);
        if !listed.still(&before) || before.kind() != FileType::RegularFile {
            return stop(Act::Open, Side::Source, Cause::Changed);
        }
        let (copy, made) = self.make(to, name)?;
        self.bytes(&source, &copy, before.size)?;
        self.dress(&source, &copy, &before, &made)?;
        let after = Seen::from(self.sys.stat(&source).map_err(said(Act::Look, Side::Source))?);
        if !before.still(&after) {
            return stop(Act::Read, Side::Source, Cause::Changed);
        }
        self.flush(copy.as_fd())?;
        if before.names > 1 {
            self.first_names.insert(before.id(), (self.path.clone(), made.id()));
        }
        self.done.files += 1;
        Ok(())
    }

    fn make(&mut self, to: BorrowedFd<'_>, name: &CStr) -> Result<(OwnedFd, Seen), Stop> {
        let copy = self.sys.create(to, name).map_err(said(Act::Make, Side::Stage))?;
        match self.sys.stat(&copy) {
            Ok(stat) => {
                let made = Seen::from(stat);
                self.done.made.inside.insert(made.id());
                Ok((copy, made))
            }
            Err(error) => {
                let _ = self.sys.unlink(to, name, AtFlags::empty());
                Err(said(Act::Look, Side::Stage)(error))
            }
        }
    }

    fn bytes(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        if self.can_clone && self.share(from, to)? {
            self.done.shared += 1;
            self.done.bytes += size;
            return Ok(());
        }
        let mut at = 0;
        while let Some((start, end)) = self.next_data(from, at, size)? {
            self.done.holes += start - at;
            self.done.bytes += start - at;
            self.range(from, to, start, end)?;
            at = end;
        }
        if at < size {
            // A hole at the end is only a length.
            self.done.holes += size - at;
            self.done.bytes += size - at;
            self.sys.truncate(to, size).map_err(said(Act::Write, Side::Stage))?;
        }
        Ok(())
    }

    /// Lets both files share their blocks, where the file system can; they part when one of them is written.
    fn share(&mut self, from: &OwnedFd, to: &OwnedFd) -> Result<bool, Stop> {
        match self.sys.clone(from, to) {
            Ok(()) => return Ok(true),
            Err(Errno::OPNOTSUPP | Errno::XDEV | Errno::NOSYS | Errno::NOTTY | Errno::PERM) => self.can_clone = false,
            // Only this file is such that it cannot be shared.
            Err(Errno::INVAL | Errno::TXTBSY) => {}
            Err(error) => return Err(said(Act::Write, Side::Stage)(error)),
        }
        Ok(false)
    }

    /// The next bytes from `at` that are not a hole, below `size`. All of them where the system knows no holes.
    fn next_data(&self, from: &OwnedFd, at: u64, size: u64) -> Result<Option<(u64, u64)>, Stop> {
        if at >= size {
            return Ok(None);
        }
        let start = match self.sys.seek(from, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(None),
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some((at, size))),
            Err(error) => return Err(said(Act::Read, Side::Source)(error)),
        };
        if start >= size {
            return Ok(None);
        }
        let end = self.sys.seek(from, SeekFrom::Hole(start)).map_err(said(Act::Read, Side::Source))?;
        // A file that is cut short between the two answers must not make this loop stand still.
        if start < at || end <= start {
            return stop(Act::Read, Side::Source, Cause::Changed);
        }
        Ok(Some((start, end.min(size))))
    }

    fn range(&mut self, from: &OwnedFd, to: &OwnedFd, start: u64, end: u64) -> Result<(), Stop> {
        let mut at = start;
        while at < end {
            self.pause()?;
            let step = self.kernel_copies(from, to, at, end)?;
            let step = if step == 0 { self.we_copy(from, to, at, end)? } else { step };
            at += step;
            self.done.bytes += step;
            self.report();
        }
        Ok(())
    }

    /// Bytes that the kernel copied by itself; 0 where it cannot, or finds the end of the file.
    fn kernel_copies(&mut self, from: &OwnedFd, to: &OwnedFd, at: u64, end: u64) -> Result<u64, Stop> {
        if !self.can_copy_range {
            return Ok(0);
        }
        let most = usize::try_from((end - at).min(STRIDE)).unwrap_or(BUFFER);
        match self.sys.copy_range(from, to, at, most) {
            Ok(copied) => Ok((copied as u64).min(end - at)),
            Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::PERM) => {
                self.can_copy_range = false;
                Ok(0)
            }
            Err(error) => Err(said(Act::Write, Side::Stage)(error)),
        }
    }

    /// Bytes that went through the buffer; never 0.
    fn we_copy(&mut self, from: &OwnedFd, to: &OwnedFd, at: u64, end: u64) -> Result<u64, Stop> {
        self.buffer.resize(BUFFER, 0);
        let most = usize::try_from(end - at).unwrap_or(BUFFER).min(BUFFER);
        let (room, _) = self.buffer.split_at_mut(most);
        let read = self.sys.read(from, room, at).map_err(said(Act::Read, Side::Source))?;
        let (mut left, _) = room.split_at(read.min(most));
        if left.is_empty() {
            // The file ends before the length that it had.
            return stop(Act::Read, Side::Source, Cause::Changed);
        }
        let mut write_at = at;
        while !left.is_empty() {
            let written = self.sys.write(to, left, write_at).map_err(said(Act::Write, Side::Stage))?;
            if written == 0 {
                return Err(said(Act::Write, Side::Stage)(Errno::IO));
            }
            write_at += written as u64;
            left = left.split_at(written.min(left.len())).1;
        }
        Ok(write_at - at)
    }
}
