use ratatui::symbols::border;

use crate::model::{Severity, Verdict, shown};
use crate::raster::Ink;

/// The signs that the screen is drawn with: one set for terminals that can show Unicode, one of plain ASCII.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyphs {
    pub(super) unicode: bool,
    pub(super) opened: &'static str,
    pub(super) closed: &'static str,
    pub(super) leaf: &'static str,
    pub(super) ellipsis: &'static str,
    pub(super) dot: &'static str,
    pub(super) differs: &'static str,
    pub(super) border: border::Set<'static>,
    pub(super) bar: (&'static str, &'static str, &'static str),
}

const ASCII_BORDER: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl Glyphs {
    pub(super) fn new(unicode: bool) -> Self {
        if unicode {
            Self {
                unicode,
                opened: "▾ ",
                closed: "▸ ",
                leaf: "· ",
                ellipsis: "…",
                dot: " · ",
                differs: "≠",
                border: border::ROUNDED,
                bar: ("├", "─", "┤"),
            }
        } else {
            Self {
                unicode,
                opened: "v ",
                closed: "> ",
                leaf: "- ",
                ellipsis: "~",
                dot: ", ",
                differs: "!=",
                border: ASCII_BORDER,
                bar: ("|", "-", "|"),
            }
        }
    }

    /// The sign of a verdict; each one has another sign as well as another colour.
    pub(super) fn verdict(&self, verdict: Verdict) -> &'static str {
        let (unicode, ascii) = match verdict {
            Verdict::Sound => ("✓", "+"),
            Verdict::Notes => ("!", "!"),
            Verdict::Damaged => ("✗", "x"),
            Verdict::Unfinished => ("○", "o"),
            Verdict::Unsupported => ("?", "?"),
            Verdict::Unchecked => ("–", "-"),
            Verdict::Unreadable => ("⊘", "#"),
        };
        if self.unicode { unicode } else { ascii }
    }

    /// The sign of a finding.
    pub(super) fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error => self.verdict(Verdict::Damaged),
            Severity::Warning => "!",
            Severity::Note if self.unicode => "·",
            Severity::Note => "-",
        }
    }

    /// The sign or letter of a part of a map: for marks always, for land where there is no colour.
    pub(super) fn ink(&self, ink: Ink) -> &'static str {
        let (unicode, ascii) = match ink {
            Ink::Void => (" ", " "),
            Ink::Unknown => ("·", "."),
            Ink::Generated => ("░", ":"),
            Ink::Built => ("█", "#"),
            Ink::Location => ("◦", "o"),
            Ink::Start => ("⌂", "S"),
            Ink::Portal => ("∩", "P"),
            Ink::Bed => ("Π", "B"),
        };
        if self.unicode { unicode } else { ascii }
    }

    /// Untrusted text for the screen: nothing that steers a terminal, and in ASCII nothing that it cannot show.
    pub(super) fn text(&self, text: &str) -> String {
        let safe = shown(text);
        if self.unicode || safe.is_ascii() {
            return safe;
        }
        let mut out = String::with_capacity(safe.len());
        for c in safe.chars() {
            match c {
                '\u{2013}' | '\u{2014}' => out.push('-'),
                '\u{2026}' => out.push('~'),
                c if c.is_ascii() => out.push(c),
                c => out.extend(c.escape_unicode()),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use unicode_width::UnicodeWidthStr as _;

    use super::Glyphs;
    use crate::model::Verdict;
    use crate::raster::Ink;

    const VERDICTS: [Verdict; 7] = [
        Verdict::Unchecked,
        Verdict::Sound,
        Verdict::Notes,
        Verdict::Unfinished,
        Verdict::Unsupported,
        Verdict::Unreadable,
        Verdict::Damaged,
    ];

    #[test]
    fn every_verdict_and_every_ink_has_a_sign_of_its_own_one_column_wide() {
        for unicode in [true, false] {
            let glyphs = Glyphs::new(unicode);
            let verdicts: HashSet<_> = VERDICTS.iter().map(|v| glyphs.verdict(*v)).collect();
            assert_eq!(verdicts.len(), VERDICTS.len());
            let inks =
                [Ink::Void, Ink::Unknown, Ink::Generated, Ink::Built, Ink::Location, Ink::Start, Ink::Portal, Ink::Bed];
            let signs: HashSet<_> = inks.iter().map(|ink| glyphs.ink(*ink)).collect();
            assert_eq!(signs.len(), inks.len());
            for sign in verdicts.iter().chain(&signs) {
                assert!(sign.width() == 1 && (unicode || sign.is_ascii()), "{sign}");
            }
        }
    }

    #[test]
    fn ascii_text_keeps_names_apart() {
        let glyphs = Glyphs::new(false);
        assert_eq!(glyphs.text("Bär – x"), "B\\u{e4}r - x");
        assert_eq!(Glyphs::new(true).text("Bär\u{1b}"), "Bär\\u{1b}");
    }
}
