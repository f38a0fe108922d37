use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::config::{ColorChoice, Config, Environment};
use crate::model::{Severity, Verdict};

/// How plain text looks: with colour or without, in Unicode or ASCII, and how wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) color: bool,
    pub(super) ascii: bool,
    /// Columns; none: as wide as it takes.
    pub(super) width: Option<usize>,
}

/// What a piece of text means; the meaning decides on the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    Title,
    Muted,
    Good,
    Warning,
    Bad,
    Info,
}

impl Look {
    pub(super) fn of(config: &Config, env: &Environment, terminal: bool) -> Self {
        let columns = env.get("COLUMNS").and_then(|c| c.to_str()?.parse().ok()).filter(|c| *c >= 20);
        Self {
            color: match config.color {
                ColorChoice::Auto => terminal && !env.is_dumb(),
                ColorChoice::Always => true,
                ColorChoice::Never => false,
            },
            ascii: config.ascii.unwrap_or_else(|| !env.is_utf8()),
            width: columns.or_else(|| terminal.then(terminal_width).flatten()),
        }
    }

    /// Text in the colour of its meaning; only the sixteen named colours, so that every theme of a terminal fits.
    pub(super) fn paint<'a>(&self, meaning: Meaning, text: &'a str) -> Cow<'a, str> {
        let code = match meaning {
            _ if !self.color || text.is_empty() => return Cow::Borrowed(text),
            Meaning::Plain => return Cow::Borrowed(text),
            Meaning::Title => "1",
            Meaning::Muted => "2",
            Meaning::Good => "32",
            Meaning::Warning => "33",
            Meaning::Bad => "31",
            Meaning::Info => "36",
        };
        Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// The sign of a verdict, one column wide.
    pub(super) fn sign(&self, verdict: Verdict) -> &'static str {
        let (unicode, ascii) = match verdict {
            Verdict::Unchecked => ("·", "."),
            Verdict::Sound => ("✓", "+"),
            Verdict::Notes => ("!", "!"),
            Verdict::Unfinished => ("○", "o"),
            Verdict::Unsupported | Verdict::Unreadable => ("?", "?"),
            Verdict::Damaged => ("✗", "x"),
        };
        if self.ascii { ascii } else { unicode }
    }

    /// The sign of a finding, one column wide.
    pub(super) fn severity_sign(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error if self.ascii => "x",
            Severity::Error => "✗",
            Severity::Warning => "!",
            Severity::Note if self.ascii => "-",
            Severity::Note => "·",
        }
    }

    /// What separates the parts of one line.
    pub(super) fn dot(&self) -> &'static str {
        if self.ascii { "-" } else { "·" }
    }

    /// What stands where a value is not known.
    pub(super) fn dash(&self) -> &'static str {
        if self.ascii { "-" } else { "–" }
    }

    /// A text cut to some columns, with a sign that it was cut.
    pub(super) fn cut<'a>(&self, text: &'a str, columns: usize) -> Cow<'a, str> {
        if text.width() <= columns {
            return Cow::Borrowed(text);
        }
        let mark = if self.ascii { "~" } else { "…" };
        let mut out = String::new();
        let mut used = 1;
        for c in text.chars() {
            used += c.width().unwrap_or(0);
            if used > columns {
                break;
            }
            out.push(c);
        }
        out.push_str(mark);
        Cow::Owned(out)
    }

    /// Lines of at most the look's width, broken at spaces; each begins with `indent` blanks.
    pub(super) fn wrap(&self, text: &str, indent: usize) -> Vec<String> {
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let line = lines.last_mut().map(|line| line.width()).unwrap_or_default();
            if line > 0 && line.saturating_add(1).saturating_add(word.width()) > room {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
        lines.into_iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
    }
}

/// What a verdict means for the eye.
pub(super) fn meaning(verdict: Verdict) -> Meaning {
    match verdict {
        Verdict::Unchecked => Meaning::Muted,
        Verdict::Sound => Meaning::Good,
        Verdict::Notes | Verdict::Unfinished => Meaning::Warning,
        Verdict::Unsupported | Verdict::Unreadable => Meaning::Info,
        Verdict::Damaged => Meaning::Bad,
    }
}

/// What a severity means for the eye.
pub(super) fn severity_meaning(severity: Severity) -> Meaning {
    match severity {
        Severity::Note => Meaning::Muted,
        Severity::Warning => Meaning::Warning,
        Severity::Error => Meaning::Bad,
    }
}

/// Text filled up with blanks to some columns.
pub(super) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// The same with the text at the right end.
pub(super) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= 20)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns >= 20)
}

#[cfg(test)]
mod tests {
    use super::{Look, Meaning, pad, pad_left};

    #[test]
    fn wide_text_is_cut_and_filled_by_columns() {
        let look = Look::default();
        assert_eq!(look.cut("世界世界", 5), "世界…");
        assert_eq!(look.cut("世界", 4), "世界");
        assert_eq!(Look { ascii: true, ..look }.cut("Midgard", 4), "Mid~");
        assert_eq!(pad("世界", 6), "世界  ");
        assert_eq!(pad_left("世界", 6), "  世界");
    }

    #[test]
    fn lines_break_at_spaces_and_never_lose_a_word() {
        let look = Look { width: Some(30), ..Look::default() };
        assert_eq!(
            look.wrap("The newest save has no data file, do not start.", 4),
            ["    The newest save has no", "    data file, do not start."]
        );
        assert_eq!(look.wrap("", 2), ["  "]);
    }

    #[test]
    fn without_colour_no_escape_is_written() {
        assert_eq!(Look::default().paint(Meaning::Bad, "x"), "x");
        assert_eq!(Look { color: true, ..Look::default() }.paint(Meaning::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
