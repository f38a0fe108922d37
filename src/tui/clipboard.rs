//! Text for the clipboard of the terminal at the user's end, by OSC 52.

use super::facts::Mux;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The sequence that puts bytes into the clipboard, wrapped so that a multiplexer passes it on.
pub(super) fn sequence(bytes: &[u8], mux: Mux) -> String {
    let plain = format!("\x1b]52;c;{}\x1b\\", base64(bytes));
    match mux {
        Mux::None => plain,
        Mux::Tmux => format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")),
        // Screen takes at most 256 bytes at a time, and would end at the inner terminator: a bell ends it instead.
        Mux::Screen => {
            let inner = format!("\x1b]52;c;{}\x07", base64(bytes));
            let mut out = String::new();
            for piece in inner.as_bytes().chunks(200) {
                out.push_str("\x1bP");
                out.push_str(&String::from_utf8_lossy(piece));
                out.push_str("\x1b\\");
            }
            out
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    let digit = |n: u32| DIGITS.get((n & 63) as usize).map_or('=', |b| char::from(*b));
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        out.push(digit(word >> 18));
        out.push(digit(word >> 12));
        out.push(if three.len() > 1 { digit(word >> 6) } else { '=' });
        out.push(if three.len() > 2 { digit(word) } else { '=' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Mux, base64, sequence};

    #[test]
    fn bytes_are_encoded_as_everybody_does() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn a_multiplexer_gets_it_wrapped() {
        assert_eq!(sequence(b"f", Mux::None), "\x1b]52;c;Zg==\x1b\\");
        assert_eq!(sequence(b"f", Mux::Tmux), "\x1bPtmux;\x1b\x1b]52;c;Zg==\x1b\x1b\\\x1b\\");
        assert_eq!(sequence(b"f", Mux::Screen), "\x1bP\x1b]52;c;Zg==\x07\x1b\\");
    }
}
