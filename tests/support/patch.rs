//! Ways to hurt bytes.

use super::random::Random;

/// The first `length` bytes.
pub(crate) fn cut(bytes: &[u8], length: usize) -> Vec<u8> {
    bytes[..length.min(bytes.len())].to_vec()
}

/// The same with bits turned over at one place.
pub(crate) fn flip(bytes: &[u8], at: usize, bits: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= bits;
    bytes
}

/// The same with a number of four bytes put over what was there.
pub(crate) fn put_i32(bytes: &[u8], at: usize, n: i32) -> Vec<u8> {
    put(bytes, at, &n.to_le_bytes())
}

/// The same with other bytes put over what was there.
pub(crate) fn put(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

/// Where some bytes first occur.
pub(crate) fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|window| window == wanted).expect("the bytes are there")
}

/// One random mutation of `bytes`, which may take parts of `other`; says what it did.
pub(crate) fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    // Lengths that smash: negative ones, huge ones, and ones that are nearly right.
    const LENGTHS: [i32; 10] = [-1, i32::MIN, i32::MAX, 0, 1, 0x7fff, 0x1_0000, 0x0100_0000, 0x4000_0000, 255];
    let mut out = bytes.to_vec();
    let at = random.below(bytes.len());
    let room = bytes.len() - at;
    let what = match random.below(7) {
        0 => {
            let bit = random.below(8);
            if let Some(byte) = out.get_mut(at) {
                *byte ^= 1 << bit;
            }
            format!("bit {bit} of byte {at} turned over")
        }
        1 => {
            let value = random.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff]);
            if let Some(byte) = out.get_mut(at) {
                *byte = value;
            }
            format!("byte {at} set to {value}")
        }
        2 if room >= 4 => {
            let length = random.pick(&LENGTHS);
            out[at..at + 4].copy_from_slice(&length.to_le_bytes());
            format!("length {length} at {at}")
        }
        3 => {
            out.truncate(at);
            format!("cut at {at}")
        }
        4 => {
            let count = 1 + random.below(24);
            let new: Vec<u8> = (0..count).map(|_| random.next().to_le_bytes()[0]).collect();
            out.splice(at..at, new);
            format!("{count} bytes put in at {at}")
        }
        5 => {
            let count = random.below(room.min(64) + 1);
            out.drain(at..at + count);
            format!("{count} bytes taken out at {at}")
        }
        _ => {
            let from = random.below(other.len());
            let count = random.below(other.len() - from + 1).min(room).min(512);
            out[at..at + count].copy_from_slice(&other[from..from + count]);
            format!("{count} bytes from {from} of another file put over {at}")
        }
    };
    (out, what)
}
