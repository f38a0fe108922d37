/// The most bytes of a line that are kept; the rest of a longer one is passed over.
const MOST: usize = 16 * 1024;

/// Cuts bytes into whole lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The start of a line whose end has not come yet.
    held: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and calls `each` for every line that they complete; what is no UTF-8 becomes replacement characters.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = MOST.saturating_sub(self.held.len());
            self.held.extend(text.iter().take(room));
            if ended {
                self.end(&mut each);
            }
        }
    }

    /// What stands there is all that will come of this line.
    pub(super) fn end(&mut self, mut each: impl FnMut(&str)) {
        if !self.held.is_empty() {
            let line = String::from_utf8_lossy(&self.held);
            each(line.trim_end_matches('\r'));
        }
        self.held.clear();
    }

    /// Forgets the start of a line whose end will not come.
    pub(super) fn forget(&mut self) {
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, MOST};

    fn cut(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.feed(piece, |line| found.push(line.to_owned()));
        }
        found
    }

    #[test]
    fn a_line_counts_when_its_end_has_come_wherever_the_bytes_were_cut() {
        let text = "a\r\n\nüb\nlast".as_bytes();
        for at in 0..=text.len() {
            assert_eq!(cut(&[&text[..at], &text[at..]]), ["a", "üb"], "{at}");
        }
        assert_eq!(cut(&[text, b"\n"]), ["a", "üb", "last"]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_its_ceiling() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            lines.feed(&[b'x'; 4096], |_| panic!("no line ended"));
        }
        assert!(lines.held.capacity() <= 4 * MOST, "{}", lines.held.capacity());
        let mut found = Vec::new();
        lines.feed(b"y\nshort\n", |line| found.push(line.len()));
        assert_eq!(found, [MOST, 5]);
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm() {
        assert_eq!(cut(&[b"\xff\xfe\0ok\n"]), ["\u{fffd}\u{fffd}\0ok"]);
    }
}
