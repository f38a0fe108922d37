//! Between the terminal's reader and the key table: puts escape sequences together again that arrived in pieces.
//!
//! The reader reports an arrow key whose bytes come in two reads as Esc, `[`, `B`. Over a slow line that happens, and
//! it must neither lose the arrow nor press three other keys. So an Esc is held for a moment; when `[` or `O` follows,
//! the rest of the sequence is collected, and only silence makes it an Esc.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::config::keys::{Key, KeyName};

/// How long an Esc, or the next piece of a sequence, is waited for.
pub(super) const HOLD: Duration = Duration::from_millis(50);

/// The most characters of one sequence; real ones have at most a dozen.
const LONGEST: usize = 32;

/// The most characters of one paste.
const MOST_PASTED: usize = 64 * 1024;

/// What comes out of the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A key, pressed so many times in a row.
    Key(Key, u16),
    /// Text that was pasted.
    Paste(String),
    /// The terminal has another size: columns, rows.
    Resize(u16, u16),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    /// An Esc that may be the start of a sequence.
    Esc(Instant),
    /// `Esc [` and what followed.
    Csi(Instant, String),
    /// `Esc O`.
    Ss3(Instant),
    /// Text of a paste whose start came in pieces.
    Paste(Instant, String),
}

/// The filter: events go in, inputs come out, possibly later.
#[derive(Debug, Default)]
pub(super) struct Filter {
    state: State,
}

impl Filter {
    /// Until when the next event is waited for; after that, call [`Filter::silence`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Idle => None,
            State::Esc(at) | State::Csi(at, _) | State::Ss3(at) | State::Paste(at, _) => Some(*at + HOLD),
        }
    }

    /// Nothing came in time: what is held is what it is.
    pub(super) fn silence(&mut self, out: &mut Vec<Input>) {
        match std::mem::take(&mut self.state) {
            State::Esc(_) => push(out, Key::plain(KeyName::Esc)),
            State::Paste(_, text) => out.push(Input::Paste(text)),
            State::Idle | State::Csi(..) | State::Ss3(_) => {}
        }
    }

    /// Takes one event of the terminal's reader.
    pub(super) fn feed(&mut self, event: Event, at: Instant, out: &mut Vec<Input>) {
        if self.deadline().is_some_and(|deadline| at > deadline) {
            self.silence(out);
        }
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, at, out),
            Event::Paste(mut text) => {
                self.silence(out);
                cut(&mut text);
                out.push(Input::Paste(text));
            }
            Event::Resize(columns, rows) => out.push(Input::Resize(columns, rows)),
            _ => {}
        }
    }

    fn key(&mut self, event: KeyEvent, at: Instant, out: &mut Vec<Input>) {
        let plain = event.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let typed = match event.code {
            KeyCode::Char(c) if plain => Some(c),
            _ => None,
        };
        match (std::mem::take(&mut self.state), typed) {
            (State::Esc(_), Some('[')) => self.state = State::Csi(at, String::new()),
            (State::Esc(_), Some('O')) => self.state = State::Ss3(at),
            (State::Csi(_, parameters), Some(c)) if c.is_ascii() && !c.is_ascii_control() => {
                self.csi(parameters, c, at, out);
            }
            (State::Ss3(_), Some(c)) => push_some(out, ss3(c)),
            (State::Paste(_, text), _) => self.pasted(text, event, at, out),
            (held, _) => {
                self.state = held;
                self.silence(out);
                if event.code == KeyCode::Esc && event.modifiers.is_empty() {
                    self.state = State::Esc(at);
                } else {
                    push_some(out, translate(event));
                }
            }
        }
    }

    fn csi(&mut self, mut parameters: String, c: char, at: Instant, out: &mut Vec<Input>) {
        if matches!(c, '@'..='~') {
            if c == '~' && parameters == "200" {
                self.state = State::Paste(at, String::new());
            } else {
                push_some(out, csi_key(&parameters, c));
            }
        } else if parameters.len() < LONGEST {
            parameters.push(c);
            self.state = State::Csi(at, parameters);
        }
    }

    fn pasted(&mut self, mut text: String, event: KeyEvent, at: Instant, out: &mut Vec<Input>) {
        match event.code {
            KeyCode::Char(c) => text.push(c),
            KeyCode::Enter => text.push('\n'),
            KeyCode::Tab => text.push('\t'),
            _ => {
                out.push(Input::Paste(text));
                if event.code == KeyCode::Esc {
                    self.state = State::Esc(at);
                }
                return;
            }
        }
        cut(&mut text);
        self.state = State::Paste(at, text);
    }
}

/// Joins equal keys that follow each other, so that a burst becomes one movement by many.
pub(super) fn merge(inputs: Vec<Input>) -> Vec<Input> {
    let mut out: Vec<Input> = Vec::with_capacity(inputs.len());
    for input in inputs {
        match (out.last_mut(), input) {
            (Some(Input::Key(last, times)), Input::Key(key, more)) if *last == key => {
                *times = times.saturating_add(more);
            }
            (Some(Input::Resize(columns, rows)), Input::Resize(c, r)) => (*columns, *rows) = (c, r),
            (_, input) => out.push(input),
        }
    }
    out
}

fn cut(text: &mut String) {
    if text.len() > MOST_PASTED {
        let end = (0..=MOST_PASTED).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
}

fn push(out: &mut Vec<Input>, key: Key) {
    out.push(Input::Key(key, 1));
}

fn push_some(out: &mut Vec<Input>, key: Option<Key>) {
    if let Some(key) = key {
        push(out, key);
    }
}

fn translate(event: KeyEvent) -> Option<Key> {
    let mut key = Key {
        name: match event.code {
            KeyCode::Char(c) => KeyName::Char(c),
            KeyCode::Enter => KeyName::Enter,
            KeyCode::Esc => KeyName::Esc,
            KeyCode::Tab | KeyCode::BackTab => KeyName::Tab,
            KeyCode::Backspace => KeyName::Backspace,
            KeyCode::Delete => KeyName::Delete,
            KeyCode::Insert => KeyName::Insert,
            KeyCode::Up => KeyName::Up,
            KeyCode::Down => KeyName::Down,
            KeyCode::Left => KeyName::Left,
            KeyCode::Right => KeyName::Right,
            KeyCode::Home => KeyName::Home,
            KeyCode::End => KeyName::End,
            KeyCode::PageUp => KeyName::PageUp,
            KeyCode::PageDown => KeyName::PageDown,
            KeyCode::F(n) => KeyName::F(n),
            _ => return None,
        },
        ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
        alt: event.modifiers.contains(KeyModifiers::ALT),
        shift: event.modifiers.contains(KeyModifiers::SHIFT) || event.code == KeyCode::BackTab,
    };
    if let KeyName::Char(c) = key.name {
        key.shift = false;
        if key.ctrl {
            key.name = KeyName::Char(c.to_ascii_lowercase());
        }
    }
    Some(key)
}

fn letter(c: char) -> Option<KeyName> {
    Some(match c {
        'A' => KeyName::Up,
        'B' => KeyName::Down,
        'C' => KeyName::Right,
        'D' => KeyName::Left,
        'F' => KeyName::End,
        'H' => KeyName::Home,
        'P' => KeyName::F(1),
        'Q' => KeyName::F(2),
        'R' => KeyName::F(3),
        'S' => KeyName::F(4),
        _ => return None,
    })
}

fn ss3(c: char) -> Option<Key> {
    letter(c).map(Key::plain)
}

/// The key of `Esc [ parameters letter`; none for what we do not know, which is swallowed.
fn csi_key(parameters: &str, c: char) -> Option<Key> {
    let mut numbers = parameters.split(';').map(|n| n.parse::<u8>().unwrap_or(0));
    let first = numbers.next().unwrap_or(0);
    let held = numbers.next().unwrap_or(1).saturating_sub(1);
    let name = match (c, first) {
        ('Z', _) => return Some(Key { shift: true, ..Key::plain(KeyName::Tab) }),
        ('~', 1 | 7) => KeyName::Home,
        ('~', 2) => KeyName::Insert,
        ('~', 3) => KeyName::Delete,
        ('~', 4 | 8) => KeyName::End,
        ('~', 5) => KeyName::PageUp,
        ('~', 6) => KeyName::PageDown,
        ('~', 11..=15) => KeyName::F(first - 10),
        ('~', 17..=21) => KeyName::F(first - 11),
        ('~', 23..=24) => KeyName::F(first - 12),
        ('~', _) => return None,
        _ => letter(c)?,
    };
    Some(Key { name, shift: held & 1 != 0, alt: held & 2 != 0, ctrl: held & 4 != 0 })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

    use super::{Filter, Input, merge};
    use crate::config::keys::Key;

    fn key(code: KeyCode) -> Event {
        let upper = matches!(code, KeyCode::Char(c) if c.is_ascii_uppercase());
        Event::Key(KeyEvent::new(code, if upper { KeyModifiers::SHIFT } else { KeyModifiers::NONE }))
    }

    /// Feeds characters (`^` is Esc), each so many milliseconds after the one before, and then silence.
    fn typed(text: &str, gap: u64) -> Vec<String> {
        let mut filter = Filter::default();
        let mut at = Instant::now();
        let mut out = Vec::new();
        for c in text.chars() {
            at += Duration::from_millis(gap);
            filter.feed(key(if c == '^' { KeyCode::Esc } else { KeyCode::Char(c) }), at, &mut out);
        }
        assert!(filter.deadline().is_none_or(|deadline| deadline > at));
        filter.silence(&mut out);
        assert_eq!(filter.deadline(), None);
        out.into_iter()
            .map(|input| match input {
                Input::Key(key, 1) => key.to_string(),
                Input::Paste(text) => format!("paste {text}"),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_sequence_in_pieces_becomes_its_key_again() {
        assert_eq!(typed("^[B", 10), ["Down"]);
        assert_eq!(typed("^OA", 10), ["Up"]);
        assert_eq!(typed("^[5~", 10), ["PageUp"]);
        assert_eq!(typed("^[1;5C", 10), ["Ctrl-Right"]);
        assert_eq!(typed("^[Z", 10), ["Shift-Tab"]);
        assert_eq!(typed("^[15~^[24~", 10), ["F5", "F12"]);
        assert_eq!(typed("x^[Ay", 10), ["x", "Up", "y"]);
    }

    #[test]
    fn an_unknown_or_broken_sequence_presses_nothing() {
        assert_eq!(typed("^[?1;2c", 10), Vec::<String>::new());
        assert_eq!(typed("^[", 10), Vec::<String>::new());
        assert_eq!(typed("^[99~j", 10), ["j"]);
        assert_eq!(typed("^Ozj", 10), ["j"]);
    }

    #[test]
    fn an_escape_followed_by_silence_or_by_another_key_is_an_escape() {
        assert_eq!(typed("^", 10), ["Esc"]);
        assert_eq!(typed("^q", 10), ["Esc", "q"]);
        assert_eq!(typed("^^", 10), ["Esc", "Esc"]);
        assert_eq!(typed("^[B", 60), ["Esc", "[", "B"]);
    }

    #[test]
    fn a_paste_whose_start_came_in_pieces_is_one_paste() {
        assert_eq!(typed("^[200~quit^[201~j", 10), ["paste quit", "j"]);
        assert_eq!(typed("^[200~quit", 10), ["paste quit"]);
    }

    #[test]
    fn releases_are_nothing_and_repeats_are_keys() {
        let mut out = Vec::new();
        let mut filter = Filter::default();
        for kind in [KeyEventKind::Press, KeyEventKind::Repeat, KeyEventKind::Release] {
            let event = KeyEvent::new_with_kind(KeyCode::Char('j'), KeyModifiers::NONE, kind);
            filter.feed(Event::Key(event), Instant::now(), &mut out);
        }
        assert_eq!(out.len(), 2);
    }

    #[test]
    fn equal_keys_in_a_row_become_one_key_many_times() {
        let down: Key = "Down".parse().unwrap();
        let up: Key = "Up".parse().unwrap();
        let inputs = vec![Input::Key(down, 1), Input::Key(down, 1), Input::Key(up, 1), Input::Key(down, 3)];
        assert_eq!(merge(inputs), [Input::Key(down, 2), Input::Key(up, 1), Input::Key(down, 3)]);
        assert_eq!(merge(vec![Input::Resize(1, 1), Input::Resize(2, 3)]), [Input::Resize(2, 3)]);
    }
}
