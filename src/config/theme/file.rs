use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Color, Depth, Role, Style};
use crate::model::shown;

/// A colour of a theme: what it is with many colours, and with sixteen where the theme says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tone {
    full: Color,
    sixteen: Option<Color>,
}

impl Tone {
    fn at(self, depth: Depth) -> Color {
        match (depth, self.sixteen) {
            (Depth::Sixteen, Some(sixteen)) => sixteen.at(depth),
            _ => self.full,
        }
    }
}

/// The look of one role, before it is fitted to a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    fg: Option<Tone>,
    bg: Option<Tone>,
    style: Style,
}

impl Look {
    pub(super) fn fitted(self, depth: Depth) -> Style {
        let style = Style { fg: self.fg.map(|t| t.at(depth)), bg: self.bg.map(|t| t.at(depth)), ..self.style };
        style.fitted(depth)
    }
}

/// One theme file, read.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) inherits: Option<String>,
    looks: Vec<(Role, Look)>,
}

/// Where a theme is read from, and what was wrong with it.
struct Reader<'a> {
    place: &'a str,
    text: &'a str,
    palette: BTreeMap<String, Tone>,
    warnings: &'a mut Vec<String>,
}

type Value<'i> = Spanned<DeValue<'i>>;

impl Sheet {
    /// Reads a theme; what is wrong becomes a sentence with the line, and is left out.
    pub(super) fn read(place: &str, text: &str, warnings: &mut Vec<String>) -> Self {
        let mut reader = Reader { place, text, palette: BTreeMap::new(), warnings };
        let document = match DeTable::parse(text) {
            Ok(document) => document.into_inner(),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.warn(at, &format!("{}; the file is left out", shown(error.message())));
                return Self::default();
            }
        };
        let mut sheet = Self::default();
        for (key, value) in &document {
            let at = key.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("inherits", DeValue::String(name)) => sheet.inherits = Some(name.to_string()),
                ("palette", DeValue::Table(table)) => reader.palette(table),
                ("roles", DeValue::Table(_)) => {}
                (other, _) => reader.warn(at, &format!("\"{}\" has no meaning here", shown(other))),
            }
        }
        if let Some(DeValue::Table(table)) = document.get("roles").map(Spanned::get_ref) {
            for (key, value) in table {
                let id = key.get_ref().as_ref();
                match Role::ALL.iter().find(|role| role.id() == id) {
                    Some(role) => {
                        if let Some(look) = reader.look(value) {
                            sheet.looks.push((*role, look));
                        }
                    }
                    None => reader.warn(key.span().start, &format!("there is no role \"{}\"", shown(id))),
                }
            }
        }
        sheet
    }

    /// What this file says about a role.
    pub(super) fn look(&self, role: Role) -> Option<Look> {
        self.looks.iter().find(|(known, _)| *known == role).map(|(_, look)| *look)
    }
}

impl Reader<'_> {
    fn warn(&mut self, at: usize, what: &str) {
        let line = self.text.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
        self.warnings.push(format!("{}, line {line}: {what}.", self.place));
    }

    fn palette(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let tone = match value.get_ref() {
                DeValue::Table(pair) => self.pair(pair, value.span().start),
                _ => self.tone(value),
            };
            if let Some(tone) = tone {
                self.palette.insert(name, tone);
            }
        }
    }

    /// `{ rgb = "#…", sixteen = "blue" }`
    fn pair(&mut self, table: &DeTable<'_>, at: usize) -> Option<Tone> {
        let (mut full, mut sixteen) = (None, None);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "rgb" => full = self.tone(value).map(|tone| tone.full),
                "sixteen" => sixteen = self.tone(value).map(|tone| tone.full),
                other => self.warn(key.span().start, &format!("a colour has no \"{}\"", shown(other))),
            }
        }
        if full.is_none() {
            self.warn(at, "a colour of the palette needs \"rgb\"");
        }
        full.map(|full| Tone { full, sixteen })
    }

    /// A name of the palette, a name of the sixteen, `#rrggbb`, or 0 to 255.
    fn tone(&mut self, value: &Value<'_>) -> Option<Tone> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            _ => String::new(),
        };
        let tone = self.palette.get(&text).copied();
        let tone = tone.or_else(|| Color::parse(&text).map(|full| Tone { full, sixteen: None }));
        if tone.is_none() {
            let what = format!("\"{}\" is no colour; write a name, #rrggbb or 0 to 255", shown(&text));
            self.warn(value.span().start, &what);
        }
        tone
    }

    /// A colour alone, or a table with `fg`, `bg` and switches.
    fn look(&mut self, value: &Value<'_>) -> Option<Look> {
        let DeValue::Table(table) = value.get_ref() else {
            return self.tone(value).map(|tone| Look { fg: Some(tone), ..Look::default() });
        };
        let mut look = Look::default();
        for (key, value) in table {
            let style = &mut look.style;
            let switch = match key.get_ref().as_ref() {
                "fg" => {
                    look.fg = self.tone(value);
                    continue;
                }
                "bg" => {
                    look.bg = self.tone(value);
                    continue;
                }
                "bold" => &mut style.bold,
                "dim" => &mut style.dim,
                "italic" => &mut style.italic,
                "underline" => &mut style.underline,
                "reverse" => &mut style.reverse,
                other => {
                    self.warn(key.span().start, &format!("a look has no \"{}\"", shown(other)));
                    continue;
                }
            };
            match value.get_ref().as_bool() {
                Some(on) => *switch = on,
                None => self.warn(value.span().start, "this must be true or false"),
            }
        }
        Some(look)
    }
}
