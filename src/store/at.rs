//! A file that several readers read at their own places.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A place in an open file. Clones share the file and nothing else, so that several threads can read one archive.
#[derive(Clone, Debug)]
pub(super) struct At {
    file: Arc<File>,
    place: u64,
    len: u64,
}

impl At {
    /// The start of a file that had `len` bytes when it was opened.
    pub(super) fn new(file: File, len: u64) -> Self {
        Self { file: Arc::new(file), place: 0, len }
    }

    /// The bytes that the file had when it was opened.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The place of the next byte.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// The same file at another place.
    pub(super) fn moved(&self, place: u64) -> Self {
        Self { place, ..self.clone() }
    }

    /// Goes on without reading.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.place = self.place.saturating_add(bytes);
    }

    /// Reads at a place until the buffer is full or the file ends; how many bytes came.
    pub(super) fn fill_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        fill(&mut self.moved(place), buffer)
    }
}

/// Reads until the buffer is full or nothing more comes; how many bytes came.
pub(super) fn fill(reader: &mut (impl Read + ?Sized), mut buffer: &mut [u8]) -> io::Result<usize> {
    let mut total = 0;
    while !buffer.is_empty() {
        match reader.read(buffer) {
            Ok(0) => break,
            Ok(count) => {
                total += count;
                buffer = buffer.get_mut(count..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    // The kernel counts places in signed 64 bits.
    if i64::try_from(place).is_err() {
        return Ok(0);
    }
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, place)
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, buffer, self.place)?;
        self.skip(count as u64);
        Ok(count)
    }
}

impl Seek for At {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
        };
        self.place = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.place)
    }
}
