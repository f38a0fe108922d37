//! Keys as text, and which key means which action where.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::actions::{ACTIONS, Action, Context, Row};

/// A key without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyName {
    /// A character; upper case instead of a shift.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// The tabulator.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key.
    F(u8),
}

/// Names as they are written, in lower case for reading and in this form for showing; the first of a key counts.
const NAMES: &[(KeyName, &str)] = &[
    (KeyName::Enter, "Enter"),
    (KeyName::Esc, "Esc"),
    (KeyName::Esc, "Escape"),
    (KeyName::Tab, "Tab"),
    (KeyName::Backspace, "Backspace"),
    (KeyName::Delete, "Delete"),
    (KeyName::Delete, "Del"),
    (KeyName::Insert, "Insert"),
    (KeyName::Up, "Up"),
    (KeyName::Down, "Down"),
    (KeyName::Left, "Left"),
    (KeyName::Right, "Right"),
    (KeyName::Home, "Home"),
    (KeyName::End, "End"),
    (KeyName::PageUp, "PageUp"),
    (KeyName::PageUp, "PgUp"),
    (KeyName::PageDown, "PageDown"),
    (KeyName::PageDown, "PgDn"),
    (KeyName::Char(' '), "Space"),
];

/// One key press with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub name: KeyName,
    /// Control was held.
    pub ctrl: bool,
    /// Alt was held.
    pub alt: bool,
    /// Shift was held; never set for characters, which are upper case instead.
    pub shift: bool,
}

impl Key {
    /// A key without modifiers.
    pub const fn plain(name: KeyName) -> Self {
        Self { name, ctrl: false, alt: false, shift: false }
    }

    /// The character that this key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.name {
            KeyName::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, word) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            if held {
                f.write_str(word)?;
            }
        }
        if let Some((_, word)) = NAMES.iter().find(|(name, _)| *name == self.name) {
            return f.write_str(word);
        }
        match self.name {
            KeyName::Char(c) => write!(f, "{c}"),
            KeyName::F(n) => write!(f, "F{n}"),
            _ => Ok(()),
        }
    }
}

/// A text that names no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadKey(pub String);

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no key; write for example \"v\", \"ctrl-d\", \"F5\" or \"Space\"", self.0)
    }
}

impl std::error::Error for BadKey {}

impl FromStr for Key {
    type Err = BadKey;

    /// Reads `v`, `R`, `ctrl-d`, `Alt-x`, `shift-tab`, `F5`, `Space`, `-`.
    fn from_str(text: &str) -> Result<Self, BadKey> {
        let bad = || BadKey(crate::model::shown(text));
        let mut key = Self::plain(KeyName::Esc);
        let mut rest = text;
        loop {
            let lower = rest.to_ascii_lowercase();
            let Some((word, _)) = lower.split_once('-').filter(|(word, after)| !word.is_empty() && !after.is_empty())
            else {
                break;
            };
            match word {
                "ctrl" | "c" => key.ctrl = true,
                "alt" | "a" => key.alt = true,
                "shift" | "s" => key.shift = true,
                _ => return Err(bad()),
            }
            rest = rest.get(word.len() + 1..).ok_or_else(bad)?;
        }
        let mut chars = rest.chars();
        key.name = match (chars.next(), chars.as_str()) {
            (Some(c), "") if !c.is_control() => KeyName::Char(c),
            (Some('F' | 'f'), number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                KeyName::F(number.parse().ok().filter(|n| (1..=24).contains(n)).ok_or_else(bad)?)
            }
            _ => {
                NAMES.iter().find(|(_, word)| word.eq_ignore_ascii_case(rest)).map(|(name, _)| *name).ok_or_else(bad)?
            }
        };
        if let (KeyName::Char(c), true) = (key.name, key.shift) {
            key.name = KeyName::Char(c.to_ascii_uppercase());
            key.shift = false;
        }
        if let (KeyName::Char(c), true) = (key.name, key.ctrl) {
            key.name = KeyName::Char(c.to_ascii_lowercase());
        }
        Ok(key)
    }
}

/// Reads several keys in a row, names in angle brackets: `jj<Enter>/grim<Enter>`; `<lt>` is a `<`.
pub fn parse_sequence(text: &str) -> Result<Vec<Key>, BadKey> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
        if let Some((name, after)) = named {
            keys.push(if name == "lt" { Key::plain(KeyName::Char('<')) } else { name.parse()? });
            rest = after;
        } else {
            keys.push(Key::plain(KeyName::Char(c)));
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    Ok(keys)
}

/// Which key means which action, after the user's own settings.
#[derive(Clone, Debug)]
pub struct Keymap {
    keys: Vec<(&'static Row, Vec<Key>)>,
}

impl Keymap {
    /// The table with `overrides` (keys by action id) put over it; `read_only` takes away the operations. Second come
    /// the sentences about entries that were left out.
    pub fn new(overrides: &BTreeMap<String, Vec<String>>, read_only: bool) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        for id in overrides.keys().filter(|id| !ACTIONS.iter().any(|row| row.id == **id)) {
            warnings.push(format!(
                "There is no action \"{}\" to give keys to; \"worldkeep keys\" lists them.",
                crate::model::shown(id)
            ));
        }
        let mut map = Self { keys: Vec::new() };
        for row in ACTIONS.iter().filter(|row| !(read_only && row.operation)) {
            let keys = match overrides.get(row.id) {
                None => row.keys.iter().filter_map(|text| text.parse().ok()).collect(),
                Some(texts) => chosen(row, texts, &mut warnings),
            };
            map.keys.push((row, keys));
        }
        for conflict in map.conflicts() {
            warnings.push(conflict);
        }
        (map, warnings)
    }

    /// The action of a key where `context` has the focus.
    pub fn action(&self, context: Context, key: Key) -> Option<Action> {
        self.rows(context).find(|(_, keys)| keys.contains(&key)).map(|(row, _)| row.action)
    }

    /// The rows that apply in a context, with their keys.
    pub fn rows(&self, context: Context) -> impl Iterator<Item = (&'static Row, &[Key])> {
        self.keys
            .iter()
            .filter(move |(row, _)| row.contexts.contains(&context))
            .map(|(row, keys)| (*row, keys.as_slice()))
    }

    /// Every row with its keys.
    pub fn all(&self) -> impl Iterator<Item = (&'static Row, &[Key])> {
        self.keys.iter().map(|(row, keys)| (*row, keys.as_slice()))
    }

    /// One sentence for each key that means two things in one context.
    pub fn conflicts(&self) -> Vec<String> {
        let mut found = Vec::new();
        for context in Context::ALL {
            let rows: Vec<_> = self.rows(*context).collect();
            for (at, (row, keys)) in rows.iter().enumerate() {
                for (other, others) in rows.iter().skip(at + 1) {
                    for key in keys.iter().filter(|key| others.contains(key)) {
                        let sentence = format!(
                            "The key {key} means both \"{}\" and \"{}\"; the first one counts.",
                            row.id, other.id
                        );
                        if !found.contains(&sentence) {
                            found.push(sentence);
                        }
                    }
                }
            }
        }
        found
    }
}

/// The user's keys for a row, without those that cannot be, with a sentence about each of these.
fn chosen(row: &Row, texts: &[String], warnings: &mut Vec<String>) -> Vec<Key> {
    let mut keys = Vec::new();
    for text in texts {
        match text.parse::<Key>() {
            Ok(key) if row.operation && (key.ctrl || split_debris(key)) => warnings.push(format!(
                "The key {key} cannot be given to \"{}\": no operation lies on a Ctrl key or on a letter that a broken \
                 arrow key can send.",
                row.id
            )),
            Ok(key) => keys.push(key),
            Err(error) => warnings.push(format!("Keys of \"{}\": {error}.", row.id)),
        }
    }
    keys
}

/// What arrives when the bytes of an arrow key come apart on a slow line.
pub fn split_debris(key: Key) -> bool {
    matches!(key.name, KeyName::Char('[' | 'O' | 'A'..='D' | 'F' | 'H'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Key, KeyName, Keymap, parse_sequence, split_debris};
    use crate::config::actions::{ACTIONS, Action, Context};

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn keys_read_back_as_they_are_shown() {
        for text in ["v", "R", "Ctrl-d", "Alt-x", "Shift-Tab", "F5", "Space", "-", "Ctrl--", "+", "PageUp", "Enter"] {
            assert_eq!(key(text).to_string(), text);
        }
        assert_eq!(key("ctrl-D"), key("Ctrl-d"));
        assert_eq!(key("shift-r"), key("R"));
    }

    #[test]
    fn a_text_that_is_no_key_is_refused_by_name() {
        for text in ["", "F0", "F25", "hyper-x", "Entr", "\u{1b}", "ctrl-"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
        assert!("F99".parse::<Key>().unwrap_err().to_string().starts_with("\"F99\" is no key"));
    }

    #[test]
    fn sequences_mix_characters_and_names() {
        let keys = parse_sequence("j<Enter>/a<lt><C-c>").unwrap();
        assert_eq!(keys.len(), 6);
        assert_eq!(keys[1], Key::plain(KeyName::Enter));
        assert_eq!(keys[4].name, KeyName::Char('<'));
        assert_eq!(keys[5], key("Ctrl-c"));
    }

    #[test]
    fn no_key_of_the_table_means_two_things_in_one_place() {
        let (map, warnings) = Keymap::new(&BTreeMap::new(), false);
        assert_eq!(map.conflicts(), Vec::<String>::new());
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn every_key_of_the_table_is_a_key() {
        for row in ACTIONS {
            for text in row.keys {
                assert!(text.parse::<Key>().is_ok(), "{}: {text}", row.id);
            }
        }
    }

    #[test]
    fn no_operation_lies_where_a_slip_or_a_broken_arrow_key_reaches_it() {
        for row in ACTIONS.iter().filter(|row| row.operation) {
            for key in row.keys.iter().map(|text| key(text)) {
                assert!(!key.ctrl && !split_debris(key), "{}: {key}", row.id);
            }
        }
    }

    #[test]
    fn read_only_has_no_operation() {
        let (map, _) = Keymap::new(&BTreeMap::new(), true);
        assert!(map.all().all(|(row, _)| !row.operation));
        assert_eq!(map.action(Context::Tree, key("r")), None);
        let (map, _) = Keymap::new(&BTreeMap::new(), false);
        assert_eq!(map.action(Context::Tree, key("r")), Some(Action::Restore));
    }

    #[test]
    fn own_keys_replace_the_built_in_ones_and_bad_ones_are_told() {
        let own = |id: &str, keys: &[&str]| (id.to_owned(), keys.iter().map(|k| (*k).to_owned()).collect::<Vec<_>>());
        let (map, warnings) = Keymap::new(&BTreeMap::from([own("verify", &["V", "x"])]), false);
        assert_eq!(map.action(Context::Tree, key("x")), Some(Action::Verify));
        assert_eq!(map.action(Context::Tree, key("v")), None);
        assert_eq!(warnings, Vec::<String>::new());

        let bad = BTreeMap::from([
            own("verify", &["Entr"]),
            own("fly", &["f"]),
            own("delete", &["ctrl-d", "A"]),
            own("sort", &["j"]),
        ]);
        let (map, warnings) = Keymap::new(&bad, false);
        assert_eq!(warnings.len(), 5, "{warnings:?}");
        assert_eq!(map.action(Context::Tree, key("j")), Some(Action::Down));
    }
}
