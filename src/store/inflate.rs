//! The packings of a tar: gzip, zstd, xz, bzip2, each as a plain reader.
//!
//! Every one of them may hold several streams one after the other, as parallel packers and `cat` write them. What
//! follows the last stream is treated as the usual tool treats it: `gzip` and `bzip2` ignore it, `zstd` and `xz` call
//! it an error. Memory is bounded before it is taken: a window or dictionary over [`WINDOW`] is not unpacked.

use std::error::Error;
use std::io::{self, BufReader, ErrorKind, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::at::At;

/// The largest window or dictionary in bytes. 128 MiB: what `zstd` itself unpacks without being asked, and twice the
/// dictionary of `xz -9`.
const WINDOW: u32 = 128 * 1024 * 1024;

/// Bytes read from the disk at a time.
const CHUNK: usize = 128 * 1024;

/// How a tar is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl Packing {
    /// The name in sentences.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Unpacks from the start of a file.
    pub(super) fn unpack(self, file: &At) -> Unpacked {
        let source = BufReader::with_capacity(CHUNK, file.moved(0));
        let inner: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(Gzip(Some(GzDecoder::new(source)))),
            Self::Zstd => Box::new(Zstd::new(source)),
            // The limit counts the dictionary and some fixed buffers.
            Self::Xz => Box::new(XzReader::new_mem_limit(source, true, WINDOW / 1024 + 1024)),
            Self::Bzip2 => Box::new(Bzip2(Some(BzDecoder::new(source)))),
        };
        Unpacked { packing: self, inner: Some(inner) }
    }
}

/// Unpacked bytes.
///
/// Errors are the system's own where the disk failed, of kind `Unsupported` where a window is too large, and of kind
/// `InvalidData` for everything that the bytes are to blame for. After the first error nothing more is read.
pub(super) struct Unpacked {
    packing: Packing,
    inner: Option<Box<dyn Read + Send>>,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            // Some decoders take no bytes for the end.
            return Ok(0);
        }
        let Some(inner) = &mut self.inner else { return Err(broken(self.packing, "it failed before")) };
        match inner.read(buffer) {
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                // A decoder that failed is in no state to be asked again.
                self.inner = None;
                Err(plain(self.packing, &error))
            }
        }
    }
}

/// An error of a decoder in our own kinds and words.
fn plain(packing: Packing, error: &io::Error) -> io::Error {
    let cause = innermost(error);
    if let Some(code) = cause.raw_os_error() {
        return io::Error::from_raw_os_error(code);
    }
    match cause.kind() {
        ErrorKind::UnexpectedEof => broken(packing, "it ends too early"),
        // XzReader's word for a dictionary over the limit.
        ErrorKind::OutOfMemory | ErrorKind::Unsupported => io::Error::new(
            ErrorKind::Unsupported,
            format!("the {} data needs more memory than is given to it, or a dictionary", packing.word()),
        ),
        _ => broken(packing, &error.to_string()),
    }
}

fn broken(packing: Packing, how: &str) -> io::Error {
    let how = crate::model::shown(how);
    io::Error::new(ErrorKind::InvalidData, format!("the {} data is damaged: {how}", packing.word()))
}

/// The error of the system inside an error that a decoder wrapped, or the error itself.
fn innermost(error: &io::Error) -> &io::Error {
    let mut found = error;
    let mut cause: Option<&(dyn Error + 'static)> = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    while let Some(error) = cause {
        found = error.downcast_ref().unwrap_or(found);
        cause = error.source();
    }
    found
}

/// The next bytes of a source without consuming them; fewer at the end of the file.
fn peek<const N: usize>(source: &BufReader<At>) -> io::Result<([u8; N], usize)> {
    if let Some(bytes) = source.buffer().first_chunk() {
        return Ok((*bytes, N));
    }
    let mut bytes = [0; N];
    let place = place_of(source);
    let count = source.get_ref().fill_at(place, &mut bytes)?;
    Ok((bytes, count))
}

/// Where the next byte of a source lies in the file.
fn place_of(source: &BufReader<At>) -> u64 {
    source.get_ref().place().saturating_sub(source.buffer().len() as u64)
}

/// All members of a gzip file.
struct Gzip(Option<GzDecoder<BufReader<At>>>);

impl Read for Gzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.0 else { return Ok(0) };
            let count = member.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let Some(member) = self.0.take() else { return Ok(0) };
            let source = member.into_inner();
            // Zeros and garbage after a member end the data, as they do for gzip itself.
            if peek::<2>(&source)? == ([0x1f, 0x8b], 2) {
                self.0 = Some(GzDecoder::new(source));
            }
        }
    }
}

/// All streams of a bzip2 file.
struct Bzip2(Option<BzDecoder<BufReader<At>>>);

impl Read for Bzip2 {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(stream) = &mut self.0 else { return Ok(0) };
            let count = stream.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let Some(stream) = self.0.take() else { return Ok(0) };
            let source = stream.into_inner();
            if peek::<3>(&source)? == (*b"BZh", 3) {
                self.0 = Some(BzDecoder::new(source));
            }
        }
    }
}

/// All frames of a zstd file, with their checksums verified and skippable frames skipped.
struct Zstd {
    source: BufReader<At>,
    frame: FrameDecoder,
    /// Inside a frame.
    open: bool,
    /// The file ended inside a frame.
    cut: bool,
}

impl Zstd {
    fn new(source: BufReader<At>) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(u64::from(WINDOW));
        Self { source, frame, open: false, cut: false }
    }

    /// Opens the next frame; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while peek::<1>(&self.source)?.1 > 0 {
            match self.frame.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let place = place_of(&self.source).saturating_add(u64::from(length));
                    if place > self.source.get_ref().len() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    // What is in the buffer stays there: a file can be made of nothing but frames to skip.
                    self.source.seek_relative(i64::from(length))?;
                }
                Err(error) => return Err(zstd_error(error)),
            }
        }
        Ok(false)
    }
}

impl Zstd {
    /// Unpacks a block.
    ///
    /// The decoder holds back a window of bytes until its frame ends, which can be all of a small archive. Where the
    /// file was cut off, an empty last block ends the frame, so that what was unpacked comes out before the error.
    fn next_block(&mut self) -> io::Result<()> {
        const EMPTY_LAST_BLOCK_AND_CHECKSUM: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
        let one = || BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.frame.decode_blocks(&mut self.source, one()) else { return Ok(()) };
        let error = zstd_error(error);
        if innermost(&error).kind() == ErrorKind::UnexpectedEof
            && self.frame.decode_blocks(&EMPTY_LAST_BLOCK_AND_CHECKSUM[..], one()).is_ok()
        {
            self.cut = true;
            return Ok(());
        }
        Err(error)
    }
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.open {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.open = true;
            }
            if self.frame.can_collect() > 0 {
                return self.frame.read(buffer);
            }
            if self.cut {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if self.frame.is_finished() {
                if let Some(sum) = self.frame.get_checksum_from_data()
                    && Some(sum) != self.frame.get_calculated_checksum()
                {
                    return Err(io::Error::other("the checksum of a frame does not match"));
                }
                self.open = false;
                continue;
            }
            self.next_block()?;
        }
    }
}

fn zstd_error(error: FrameDecoderError) -> io::Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { .. } | FrameDecoderError::DictNotProvided { .. } => {
            io::Error::new(ErrorKind::Unsupported, error)
        }
        error => io::Error::other(error),
    }
}
