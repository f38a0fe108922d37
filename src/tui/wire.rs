//! What is written to the terminal: a backend that collects one frame and changes only what has to change.

use std::fmt::Write as _;
use std::io;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

/// Collects the bytes of a frame. Foreground, background and attributes are each written only when they change, so
/// that a map whose neighbours share a colour costs half of what a general backend writes.
#[derive(Debug)]
pub(super) struct Wire {
    out: String,
    /// What goes before the next frame.
    lead: &'static str,
    size: Size,
    cursor: Position,
    cursor_shown: bool,
}

impl Wire {
    /// A wire to a terminal that is still to be entered with `lead`.
    pub(super) fn new(size: Size, lead: &'static str) -> Self {
        Self { out: String::new(), lead, size, cursor: Position::ORIGIN, cursor_shown: false }
    }

    pub(super) fn set_size(&mut self, size: Size) {
        self.size = size;
    }

    /// The cursor is hidden again and nothing is known of what was written: the terminal is to be entered anew.
    pub(super) fn forget(&mut self, lead: &'static str) {
        self.out.clear();
        self.lead = lead;
        self.cursor_shown = false;
    }

    /// The bytes since the last call, as one synchronized update; none when nothing changed.
    pub(super) fn take(&mut self) -> Option<String> {
        if self.out.is_empty() {
            return None;
        }
        let body = std::mem::take(&mut self.out);
        let lead = std::mem::take(&mut self.lead);
        Some(format!("{lead}\x1b[?2026h{body}\x1b[?2026l"))
    }

    /// Moves to a place, unless the terminal's cursor is there.
    fn go(&mut self, x: u16, y: u16, next: Option<(u16, u16)>) {
        match next {
            Some(at) if at == (x, y) => {}
            Some((nx, ny)) if ny == y && x > nx && x - nx < 200 => {
                let _ = write!(self.out, "\x1b[{}C", x - nx);
            }
            _ => {
                let _ = write!(self.out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
            }
        }
    }

    /// Makes a run of cells blank: a long one with a single word, after which the cursor is where it was.
    fn erase(&mut self, blanks: Option<Blanks>, pen: &mut Pen, next: &mut Option<(u16, u16)>) {
        let Some(Blanks { x, y, count }) = blanks else { return };
        self.go(x, y, *next);
        if pen.bg != Color::Reset || pen.modifier.intersects(SEEN_ON_BLANKS) {
            self.out.push_str("\x1b[m");
            *pen = PLAIN;
        }
        if count >= ERASED {
            let _ = write!(self.out, "\x1b[{count}X");
            *next = Some((x, y));
        } else {
            self.out.extend(std::iter::repeat_n(' ', usize::from(count)));
            let end = x.saturating_add(count);
            *next = (end < self.size.width).then_some((end, y));
        }
    }

    fn color(&mut self, color: Color, base: u8) {
        let named = |n: u8| if n < 8 { base + n } else { base + 52 + n };
        let number = match color {
            Color::Reset => base + 9,
            Color::Black => named(0),
            Color::Red => named(1),
            Color::Green => named(2),
            Color::Yellow => named(3),
            Color::Blue => named(4),
            Color::Magenta => named(5),
            Color::Cyan => named(6),
            Color::Gray => named(7),
            Color::DarkGray => named(8),
            Color::LightRed => named(9),
            Color::LightGreen => named(10),
            Color::LightYellow => named(11),
            Color::LightBlue => named(12),
            Color::LightMagenta => named(13),
            Color::LightCyan => named(14),
            Color::White => named(15),
            Color::Indexed(n) => {
                let _ = write!(self.out, "\x1b[{};5;{n}m", base + 8);
                return;
            }
            Color::Rgb(r, g, b) => {
                let _ = write!(self.out, "\x1b[{};2;{r};{g};{b}m", base + 8);
                return;
            }
        };
        let _ = write!(self.out, "\x1b[{number}m");
    }
}

/// The colours and attributes that the terminal has now.
#[derive(Clone, Copy, PartialEq)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

/// Cells in a row that become blank on the terminal's own background.
#[derive(Clone, Copy)]
struct Blanks {
    x: u16,
    y: u16,
    count: u16,
}

/// From so many blanks on, erasing them and stepping over them is shorter than writing them.
const ERASED: u16 = 10;

/// What can be seen of a cell without a letter.
const SEEN_ON_BLANKS: Modifier = Modifier::REVERSED.union(Modifier::UNDERLINED).union(Modifier::CROSSED_OUT);

const PLAIN: Pen = Pen { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

const ATTRIBUTES: [(Modifier, u8); 6] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::CROSSED_OUT, 9),
];

impl Backend for Wire {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut pen = PLAIN;
        let mut next: Option<(u16, u16)> = None;
        let mut blanks: Option<Blanks> = None;
        for (x, y, cell) in content {
            if cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(SEEN_ON_BLANKS) {
                match &mut blanks {
                    Some(run) if run.y == y && run.x + run.count == x => run.count += 1,
                    _ => {
                        self.erase(blanks.replace(Blanks { x, y, count: 1 }), &mut pen, &mut next);
                    }
                }
                continue;
            }
            self.erase(blanks.take(), &mut pen, &mut next);
            self.go(x, y, next);
            if cell.modifier != pen.modifier {
                // Taking an attribute away is a full reset: the codes for single ones differ between terminals.
                if !cell.modifier.contains(pen.modifier) {
                    self.out.push_str("\x1b[m");
                    pen = PLAIN;
                }
                for (attribute, code) in ATTRIBUTES {
                    if cell.modifier.contains(attribute) && !pen.modifier.contains(attribute) {
                        let _ = write!(self.out, "\x1b[{code}m");
                    }
                }
                pen.modifier = cell.modifier;
            }
            // A space shows no foreground, unless it is reversed or underlined.
            let blank = cell.symbol() == " " && !cell.modifier.intersects(SEEN_ON_BLANKS);
            if cell.fg != pen.fg && !blank {
                self.color(cell.fg, 30);
                pen.fg = cell.fg;
            }
            if cell.bg != pen.bg {
                self.color(cell.bg, 40);
                pen.bg = cell.bg;
            }
            self.out.push_str(cell.symbol());
            // After anything wider than one column the terminal may disagree about where its cursor is.
            let narrow = cell.symbol().chars().count() == 1 && super::text::width(cell.symbol()) == 1;
            next = (narrow && x + 1 < self.size.width).then_some((x.saturating_add(1), y));
        }
        self.erase(blanks, &mut pen, &mut next);
        if pen != PLAIN {
            self.out.push_str("\x1b[m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.cursor_shown {
            self.out.push_str("\x1b[?25l");
            self.cursor_shown = false;
        }
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if !self.cursor_shown {
            self.out.push_str("\x1b[?25h");
            self.cursor_shown = true;
        }
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        // Only worth saying while it can be seen, and again after a frame moved it.
        if self.cursor_shown && (position != self.cursor || !self.out.is_empty()) {
            let _ = write!(self.out, "\x1b[{};{}H", u32::from(position.y) + 1, u32::from(position.x) + 1);
        }
        self.cursor = position;
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.push_str("\x1b[m\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::layout::Size;
    use ratatui::style::{Color, Style};
    use ratatui::text::{Line, Span};

    use super::Wire;

    fn painted(frames: &[Line<'static>]) -> String {
        let mut terminal = Terminal::new(Wire::new(Size::new(20, 2), "")).unwrap();
        let mut last = None;
        for line in frames {
            terminal.draw(|frame| frame.render_widget(line, frame.area())).unwrap();
            last = terminal.backend_mut().take();
        }
        last.unwrap_or_default()
    }

    #[test]
    fn a_frame_is_what_a_terminal_shows() {
        let line = Line::from(vec![
            Span::styled("ok", Style::new().fg(Color::Green).bold()),
            Span::styled("世", Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(9))),
            Span::raw(" x"),
        ]);
        let mut parser = vt100::Parser::new(2.try_into().unwrap(), 20.try_into().unwrap(), 0);
        parser.process(painted(&[line]).as_bytes());
        assert_eq!(parser.screen().contents().trim_end(), "ok世 x");
        let cell = parser.screen().cell(0, 0).unwrap();
        assert!(cell.bold() && cell.fgcolor() == vt100::Color::Idx(2));
        let cell = parser.screen().cell(0, 2).unwrap();
        assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Rgb(1, 2, 3), vt100::Color::Idx(9)));
        assert!(!parser.screen().cell(0, 5).unwrap().bold());
    }

    #[test]
    fn the_same_frame_again_writes_nothing() {
        assert_eq!(painted(&[Line::raw("abc"), Line::raw("abc")]), "");
    }

    #[test]
    fn a_long_stretch_that_becomes_blank_is_erased_in_one_word() {
        let long = Line::from(vec![
            Span::styled("a", Style::new().fg(Color::Red).reversed()),
            Span::styled("bcdefghijklmnop", Style::new().bg(Color::Blue)),
            Span::raw("qrs"),
        ]);
        let short = Line::from(vec![
            Span::styled("a", Style::new().fg(Color::Red).reversed()),
            Span::raw("               qrS"),
        ]);
        let mut terminal = Terminal::new(Wire::new(Size::new(20, 2), "")).unwrap();
        let mut parser = vt100::Parser::new(2.try_into().unwrap(), 20.try_into().unwrap(), 0);
        let mut last = String::new();
        for line in [long, short] {
            terminal.draw(|frame| frame.render_widget(line, frame.area())).unwrap();
            last = terminal.backend_mut().take().unwrap();
            parser.process(last.as_bytes());
        }
        assert_eq!(last, "\x1b[?2026h\x1b[1;2H\x1b[15X\x1b[17CS\x1b[?2026l");
        assert_eq!(parser.screen().contents().trim_end(), "a               qrS");
        assert_eq!(parser.screen().cell(0, 4).unwrap().bgcolor(), vt100::Color::Default);
    }

    #[test]
    fn a_change_writes_only_itself() {
        let bytes = painted(&[Line::raw("abc"), Line::raw("abd")]);
        assert_eq!(bytes, "\x1b[?2026h\x1b[1;3Hd\x1b[?2026l");
    }
}
