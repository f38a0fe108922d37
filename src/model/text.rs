use std::fmt::Write as _;
use std::path::Path;

/// Text from a disk or a save, made safe for a screen or a log: whatever could move a cursor, colour a terminal,
/// turn the reading direction or hide itself is written as an escape.
///
/// File names are bytes and names inside saves are anybody's text. The result is for eyes only: a path is never made
/// from it again.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            let _ = write!(out, "{}", c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A path for a screen: like [`shown`], with bytes that are no UTF-8 written as `\xNN`.
pub fn shown_path(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(&shown(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{shown, shown_path};

    #[test]
    fn escapes_what_could_steer_a_terminal() {
        assert_eq!(shown("Mid\u{1b}[2Jgard"), "Mid\\u{1b}[2Jgard");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shown("Über § 世界"), "Über § 世界");
    }

    #[cfg(unix)]
    #[test]
    fn shows_bytes_that_are_no_text() {
        use std::os::unix::ffi::OsStrExt;
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"W\xff\n/x"));
        assert_eq!(shown_path(path), "W\\xff\\u{a}/x");
    }
}
