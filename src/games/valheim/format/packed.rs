//! The two compressed blocks of a `.db2`, inflated with a bound and with the exact place of what is wrong.

use std::io::{ErrorKind, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::Crc;
use flate2::bufread::{DeflateDecoder, GzDecoder};

use super::cursor::Cursor;

/// Why a block could not be inflated whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedFault {
    /// It does not begin as its compression does.
    NoHeader,
    /// It ends before its content does.
    EndsEarly,
    /// Its content is none that the compression could have made.
    Broken,
    /// The checksum behind it is that of other bytes.
    Checksum {
        /// What is stored.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// The length behind it is that of other bytes.
    Length {
        /// What is stored.
        stored: u32,
        /// What was inflated.
        inflated: u64,
    },
    /// It inflates to more than the ceiling.
    OverCeiling {
        /// The most that is inflated.
        ceiling: u64,
    },
    /// Bytes follow behind its end.
    Trailing {
        /// How many.
        left: u64,
    },
}

/// What came out of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inflated {
    /// The bytes, as far as they could be inflated.
    pub bytes: Vec<u8>,
    /// What is wrong, and at which byte of the packed block.
    pub fault: Option<(u64, PackedFault)>,
}

/// Inflates a gzip block, with its checksum and its length.
pub fn gunzip(packed: &[u8], ceiling: u64) -> Inflated {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    // The decoder reads the header at once; body and closing numbers are read by hand, to tell where a fault is.
    let decoder = GzDecoder::new(packed);
    if decoder.header().is_none() {
        let begun = packed.starts_with(&MAGIC) || MAGIC.starts_with(packed);
        let fault = if begun { (packed.len() as u64, PackedFault::EndsEarly) } else { (0, PackedFault::NoHeader) };
        return Inflated { bytes: Vec::new(), fault: Some(fault) };
    }
    let mut inflater = DeflateDecoder::new(decoder.into_inner());
    let mut bytes = Vec::new();
    let end = (&mut inflater).take(ceiling.saturating_add(1)).read_to_end(&mut bytes);
    let mut closing = Cursor::new(inflater.into_inner());
    let at = (packed.len() - closing.left().min(packed.len())) as u64;
    let fault = match end {
        _ if bytes.len() as u64 > ceiling => Some((at, PackedFault::OverCeiling { ceiling })),
        Ok(_) => closing_fault(&mut closing, at, &bytes),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Some((packed.len() as u64, PackedFault::EndsEarly)),
        Err(_) => Some((at, PackedFault::Broken)),
    };
    Inflated { bytes, fault }
}

fn closing_fault(closing: &mut Cursor<'_>, at: u64, bytes: &[u8]) -> Option<(u64, PackedFault)> {
    let (Ok(stored), Ok(length)) = (closing.u32("the checksum"), closing.u32("the length")) else {
        return Some((at + closing.left() as u64, PackedFault::EndsEarly));
    };
    let mut crc = Crc::new();
    crc.update(bytes);
    if crc.sum() != stored {
        return Some((at, PackedFault::Checksum { stored, computed: crc.sum() }));
    }
    // The length is stored in 32 bits, and the same is true of the counter of the checksum.
    if crc.amount() != length {
        return Some((at + 4, PackedFault::Length { stored: length, inflated: bytes.len() as u64 }));
    }
    let left = closing.left() as u64;
    (left > 0).then_some((at + 8, PackedFault::Trailing { left }))
}

/// Inflates a Brotli block, which has no checksum.
pub fn unbrotli(packed: &[u8], ceiling: u64) -> Inflated {
    let alloc = StandardAlloc::default;
    // The strict decoder refuses windows over 16 MiB, which would be allocated from a number in the block.
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let (mut left, mut at, mut total) = (packed.len(), 0, 0);
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    let fault = loop {
        let (mut room, mut filled) = (buffer.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            packed,
            &mut room,
            &mut filled,
            &mut buffer,
            &mut total,
            &mut state,
        );
        bytes.extend_from_slice(buffer.get(..filled).unwrap_or_default());
        if bytes.len() as u64 > ceiling {
            bytes.truncate(usize::try_from(ceiling).unwrap_or(usize::MAX));
            break Some((at as u64, PackedFault::OverCeiling { ceiling }));
        }
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess if left > 0 => {
                break Some((at as u64, PackedFault::Trailing { left: left as u64 }));
            }
            BrotliResult::ResultSuccess => break None,
            BrotliResult::NeedsMoreInput => break Some((packed.len() as u64, PackedFault::EndsEarly)),
            BrotliResult::ResultFailure => break Some((at as u64, PackedFault::Broken)),
        }
    };
    Inflated { bytes, fault }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::{PackedFault, gunzip, unbrotli};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn content() -> Vec<u8> {
        (0..20_000_u32).flat_map(|n| (n.wrapping_mul(n) >> 3).to_le_bytes()).collect()
    }

    #[test]
    fn a_whole_block_comes_out_whole() {
        let out = gunzip(&gzip(&content()), 1 << 20);
        assert_eq!((out.bytes == content(), out.fault), (true, None));
        assert_eq!(unbrotli(b"\x0b\x05\x80{\"list\":[]}\x03", 100).bytes, b"{\"list\":[]}");
    }

    #[test]
    fn a_cut_block_ends_early_and_keeps_what_came_before() {
        let packed = gzip(&content());
        let out = gunzip(&packed[..packed.len() / 2], 1 << 20);
        assert_eq!(out.fault, Some(((packed.len() / 2) as u64, PackedFault::EndsEarly)));
        assert!(!out.bytes.is_empty() && content().starts_with(&out.bytes));
        let out = gunzip(&packed[..packed.len() - 3], 1 << 20);
        assert_eq!(out.fault.unwrap().1, PackedFault::EndsEarly);
        assert_eq!(gunzip(&[], 10).fault.unwrap().1, PackedFault::EndsEarly);
        assert_eq!(unbrotli(b"\x0b\x05\x80{\"li", 100).fault.unwrap().1, PackedFault::EndsEarly);
    }

    #[test]
    fn the_closing_numbers_are_compared() {
        let mut packed = gzip(&content());
        let end = packed.len();
        packed[end - 8] ^= 1;
        let fault = gunzip(&packed, 1 << 20).fault.unwrap();
        assert!(matches!(fault, (at, PackedFault::Checksum { .. }) if at == (end - 8) as u64), "{fault:?}");
        packed[end - 8] ^= 1;
        packed[end - 1] ^= 1;
        let fault = gunzip(&packed, 1 << 20).fault.unwrap();
        assert!(
            matches!(fault, (at, PackedFault::Length { inflated: 80_000, .. }) if at == (end - 4) as u64),
            "{fault:?}"
        );
    }

    #[test]
    fn a_block_that_is_none_or_goes_on_is_told_apart() {
        assert_eq!(gunzip(b"PK\x03\x04 and then some more", 10).fault, Some((0, PackedFault::NoHeader)));
        let mut packed = gzip(&content());
        packed.extend([1, 2, 3]);
        assert_eq!(gunzip(&packed, 1 << 20).fault.unwrap().1, PackedFault::Trailing { left: 3 });
        let mut packed = gzip(&content());
        packed[12..40].fill(0xff);
        assert_eq!(gunzip(&packed, 1 << 20).fault.unwrap().1, PackedFault::Broken);
        assert_eq!(unbrotli(&[0xff; 30], 100).fault.unwrap().1, PackedFault::Broken);
    }

    #[test]
    fn a_bomb_stops_at_the_ceiling() {
        let out = gunzip(&gzip(&vec![0; 5_000_000]), 1000);
        assert_eq!((out.bytes.len(), out.fault.unwrap().1), (1001, PackedFault::OverCeiling { ceiling: 1000 }));
        assert_eq!(
            unbrotli(b"\x0b\x05\x80{\"list\":[]}\x03", 5).fault.unwrap().1,
            PackedFault::OverCeiling { ceiling: 5 }
        );
    }
}
