use ratatui::style::{Color as Paint, Modifier, Style as Look};

use super::glyphs::Glyphs;
use crate::config::theme::{Color, Role, Style, Theme};
use crate::model::{Severity, Verdict};
use crate::raster::Ink;

/// A theme in the terminal library's words, with the signs beside it.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    pub(super) glyphs: Glyphs,
    looks: Vec<Look>,
}

impl Skin {
    pub(super) fn new(theme: &Theme, glyphs: &Glyphs) -> Self {
        Self { glyphs: *glyphs, looks: Role::ALL.iter().map(|role| look(theme.style(*role))).collect() }
    }

    pub(super) fn of(&self, role: Role) -> Look {
        Role::ALL.iter().position(|r| *r == role).and_then(|at| self.looks.get(at)).copied().unwrap_or_default()
    }

    pub(super) fn verdict(&self, verdict: Verdict) -> Look {
        self.of(match verdict {
            Verdict::Unchecked => Role::Muted,
            Verdict::Sound => Role::Ok,
            Verdict::Notes => Role::Warn,
            Verdict::Unfinished => Role::Unfinished,
            Verdict::Unsupported => Role::Unsupported,
            Verdict::Unreadable => Role::Unreadable,
            Verdict::Damaged => Role::Danger,
        })
    }

    pub(super) fn severity(&self, severity: Severity) -> Look {
        self.of(match severity {
            Severity::Error => Role::Danger,
            Severity::Warning => Role::Warn,
            Severity::Note => Role::Muted,
        })
    }

    pub(super) fn ink(&self, ink: Ink) -> Look {
        self.of(match ink {
            Ink::Void => Role::MapVoid,
            Ink::Unknown => Role::MapUnknown,
            Ink::Generated => Role::MapGenerated,
            Ink::Built => Role::MapBuilt,
            Ink::Location => Role::MapLocation,
            Ink::Start => Role::MapStart,
            Ink::Portal => Role::MapPortal,
            Ink::Bed => Role::MapBed,
        })
    }

    /// The colour that fills a part of a map.
    pub(super) fn fill(&self, ink: Ink) -> Paint {
        self.ink(ink).fg.unwrap_or(Paint::Reset)
    }
}

fn look(style: Style) -> Look {
    let mut look = Look { fg: style.fg.map(paint), bg: style.bg.map(paint), ..Look::default() };
    for (on, modifier) in [
        (style.bold, Modifier::BOLD),
        (style.dim, Modifier::DIM),
        (style.italic, Modifier::ITALIC),
        (style.underline, Modifier::UNDERLINED),
        (style.reverse, Modifier::REVERSED),
    ] {
        if on {
            look = look.add_modifier(modifier);
        }
    }
    look
}

fn paint(color: Color) -> Paint {
    match color {
        Color::Default => Paint::Reset,
        Color::Rgb(r, g, b) => Paint::Rgb(r, g, b),
        Color::Indexed(n) => Paint::Indexed(n),
        // The sixteen by their own names: as the terminal's owner set them.
        Color::Named(n) => match n {
            0 => Paint::Black,
            1 => Paint::Red,
            2 => Paint::Green,
            3 => Paint::Yellow,
            4 => Paint::Blue,
            5 => Paint::Magenta,
            6 => Paint::Cyan,
            7 => Paint::Gray,
            8 => Paint::DarkGray,
            9 => Paint::LightRed,
            10 => Paint::LightGreen,
            11 => Paint::LightYellow,
            12 => Paint::LightBlue,
            13 => Paint::LightMagenta,
            14 => Paint::LightCyan,
            _ => Paint::White,
        },
    }
}
