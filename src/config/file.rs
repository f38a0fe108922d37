//! The configuration file: TOML, read strictly, so that every complaint has its line.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::sizes::parse_size;
use super::{ColorChoice, Problem, nearest};
use crate::games;
use crate::model::{GameId, ServerLog};
use crate::store::Ceilings;

/// The most bytes that a configuration file may have.
const MOST: u64 = 1024 * 1024;

const TOP: &[&str] = &["ascii", "ceilings", "color", "discover", "keys", "log", "profile", "read_only", "theme"];
const PROFILE: &[&str] = &["game", "name", "path", "server_log", "server_log_command"];

/// A value and the line it stands on.
pub(super) type Lined<T> = (T, usize);

/// A profile as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenProfile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) game: Option<GameId>,
    /// The path as it is written.
    pub(super) server_log: Option<ServerLog>,
    pub(super) line: usize,
}

/// Everything that a file sets.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) profiles: Vec<WrittenProfile>,
    pub(super) discover: Option<Lined<bool>>,
    pub(super) ceilings: Vec<Lined<(&'static str, u64)>>,
    pub(super) theme: Option<Lined<String>>,
    pub(super) color: Option<Lined<ColorChoice>>,
    pub(super) ascii: Option<Lined<bool>>,
    pub(super) read_only: Option<Lined<bool>>,
    pub(super) keys: BTreeMap<String, Lined<Vec<String>>>,
    pub(super) log: Option<Lined<PathBuf>>,
    /// Keys that mean nothing here.
    pub(super) warnings: Vec<Problem>,
}

/// Why a file could not be read at all.
pub(super) enum Unread {
    NotThere,
    Failed(String),
}

/// The text of a file.
pub(super) fn read_text(path: &Path) -> Result<String, Unread> {
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Unread::NotThere,
        _ => Unread::Failed(error.to_string()),
    })?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| Unread::Failed(error.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(Unread::Failed(format!("it has more than {MOST} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        Unread::Failed(format!("it is no UTF-8 text from byte {} on", error.utf8_error().valid_up_to()))
    })
}

/// What a text sets, or everything that is wrong with it.
pub(super) fn parse(path: &Path, text: &str) -> Result<Written, Vec<Problem>> {
    let mut reader = Reader { path, text, errors: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| reader.syntax(error)).collect());
    }
    let mut written = Written::default();
    reader.top(document.get_ref(), &mut written);
    // The parser hands out keys by name; people read a file from the top.
    reader.errors.sort_by_key(|problem| problem.line);
    written.warnings.sort_by_key(|problem| problem.line);
    if reader.errors.is_empty() { Ok(written) } else { Err(reader.errors) }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    errors: Vec<Problem>,
}

impl Reader<'_> {
    fn top(&mut self, table: &DeTable<'_>, written: &mut Written) {
        for (key, value) in table {
            let line = self.line(&key.span());
            match key.get_ref().as_ref() {
                "discover" => written.discover = self.bool("discover", value).map(|v| (v, line)),
                "ascii" => written.ascii = self.bool("ascii", value).map(|v| (v, line)),
                "read_only" => written.read_only = self.bool("read_only", value).map(|v| (v, line)),
                "theme" => written.theme = self.text("theme", value).map(|v| (v, line)),
                "log" => written.log = self.text("log", value).map(|v| (PathBuf::from(v), line)),
                "color" => written.color = self.color(value).map(|v| (v, line)),
                "ceilings" => self.ceilings(value, written),
                "keys" => self.keys(value, written),
                "profile" => self.profiles(value, written),
                other => {
                    let unknown = self.unknown(&key.span(), other, other, TOP);
                    written.warnings.push(unknown);
                }
            }
        }
    }

    fn profiles(&mut self, value: &Spanned<DeValue<'_>>, written: &mut Written) {
        let Some(list) = self.tables("profile", value) else { return };
        for (table, span) in list {
            let line = self.line(&span);
            let (mut name, mut path, mut game, mut log) = (None, None, None, None);
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "name" => name = self.profile_name(value),
                    "path" => path = self.text("profile.path", value).map(PathBuf::from),
                    "game" => game = self.game(value),
                    "server_log" => {
                        log = self.text("profile.server_log", value).map(|path| ServerLog::File(PathBuf::from(path)));
                    }
                    "server_log_command" => log = self.command(value).map(ServerLog::Command),
                    other => {
                        let unknown = self.unknown(&key.span(), &format!("profile.{other}"), other, PROFILE);
                        written.warnings.push(unknown);
                    }
                }
            }
            for (key, missing) in [("name", !table.contains_key("name")), ("path", !table.contains_key("path"))] {
                if missing {
                    let reason = format!("has no `{key}`");
                    self.error(&span, "profile", reason, format!("Add a line `{key} = \"…\"` to this [[profile]]."));
                }
            }
            if table.contains_key("server_log") && table.contains_key("server_log_command") {
                let next = "Keep the one that the server's output can be read from.".to_owned();
                self.error(&span, "profile", "has both `server_log` and `server_log_command`".to_owned(), next);
            }
            let (Some(name), Some(path)) = (name, path) else { continue };
            if let Some(twin) = written.profiles.iter().find(|p| p.name == name) {
                let reason = format!("is \"{name}\" a second time, first on line {}", twin.line);
                self.error(&span, "profile.name", reason, "Give each profile a name of its own.".to_owned());
                continue;
            }
            written.profiles.push(WrittenProfile { name, path, game, server_log: log, line });
        }
    }

    fn profile_name(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let name = self.text("profile.name", value)?;
        if name.contains(['/', '@']) || name.chars().any(char::is_control) {
            let next = "Ids are made from it: leave out `/`, `@` and control characters.".to_owned();
            self.error(&value.span(), "profile.name", format!("is \"{name}\", which cannot be part of an id"), next);
            return None;
        }
        Some(name)
    }

    fn game(&mut self, value: &Spanned<DeValue<'_>>) -> Option<GameId> {
        let word = self.text("profile.game", value)?;
        let known = games::by_id(&word).map(games::Game::id);
        if known.is_none() {
            let words: Vec<_> = games::all().iter().map(|game| game.id()).collect();
            let next = format!("This version knows: {}.", words.join(", "));
            self.error(
                &value.span(),
                "profile.game",
                format!("is \"{word}\", which is no game that is known here"),
                next,
            );
        }
        known
    }

    /// A program with its arguments.
    fn command(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let key = "profile.server_log_command";
        let next = "Write a list: the program, then each argument, such as [\"journalctl\", \"-fu\", \"valheim\"]. No \
                    shell reads it.";
        let Some(list) = value.get_ref().as_array() else {
            self.wrong_type(key, value, "a list of texts", next);
            return None;
        };
        if list.is_empty() {
            self.error(&value.span(), key, "is empty".to_owned(), next.to_owned());
            return None;
        }
        self.texts(key, list)
    }

    fn color(&mut self, value: &Spanned<DeValue<'_>>) -> Option<ColorChoice> {
        let word = self.text("color", value)?;
        let choice = ColorChoice::from_word(&word);
        if choice.is_none() {
            let next = "Use \"auto\", \"always\" or \"never\".".to_owned();
            self.error(&value.span(), "color", format!("is \"{word}\""), next);
        }
        choice
    }

    fn ceilings(&mut self, value: &Spanned<DeValue<'_>>, written: &mut Written) {
        let Some(table) = self.table("ceilings", value) else { return };
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            let full = format!("ceilings.{word}");
            let Some(ceiling) = CEILINGS.iter().find(|c| c.key == word) else {
                let unknown = self.unknown(&key.span(), &full, word, &CEILINGS.map(|c| c.key));
                written.warnings.push(unknown);
                continue;
            };
            if let Some(amount) = self.amount(&full, ceiling, value) {
                written.ceilings.push(((ceiling.key, amount), self.line(&key.span())));
            }
        }
    }

    fn amount(&mut self, key: &str, ceiling: &Ceiling, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let amount = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            DeValue::String(text) if ceiling.bytes => parse_size(text),
            DeValue::String(text) => text.replace('_', "").parse().ok(),
            _ => None,
        };
        let next = if ceiling.bytes {
            "Write bytes as a number, or a size such as \"512 MB\"."
        } else {
            "Write a whole number such as 50_000_000."
        };
        let what = self.written(&value.span());
        match amount {
            Some(amount) if amount == 0 || amount > ceiling.most => {
                let reason = format!("is {what}, outside of 1 to {}", ceiling.most);
                self.error(&value.span(), key, reason, next.to_owned());
                None
            }
            Some(amount) => Some(amount),
            None => {
                let kind = if ceiling.bytes { "size" } else { "count" };
                self.error(&value.span(), key, format!("is {what}, which is no {kind}"), next.to_owned());
                None
            }
        }
    }

    fn keys(&mut self, value: &Spanned<DeValue<'_>>, written: &mut Written) {
        let Some(table) = self.table("keys", value) else { return };
        for (key, value) in table {
            let full = format!("keys.{}", key.get_ref());
            let keys = match value.get_ref() {
                DeValue::String(one) => Some(vec![one.to_string()]),
                DeValue::Array(list) => self.texts(&full, list),
                _ => {
                    self.wrong_type(
                        &full,
                        value,
                        "a text or a list of texts",
                        "Write `\"v\"` or `[\"v\", \"ctrl-r\"]`.",
                    );
                    None
                }
            };
            if let Some(keys) = keys {
                written.keys.insert(key.get_ref().to_string(), (keys, self.line(&key.span())));
            }
        }
    }

    fn texts(&mut self, key: &str, list: &DeArray<'_>) -> Option<Vec<String>> {
        let texts: Vec<_> = list.iter().map(|item| self.text(key, item)).collect();
        texts.into_iter().collect()
    }

    fn tables<'t>(
        &mut self,
        key: &str,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Option<Vec<(&'t DeTable<'t>, Range<usize>)>> {
        let list: Option<Vec<_>> = value
            .get_ref()
            .as_array()
            .and_then(|list| list.iter().map(|item| Some((item.get_ref().as_table()?, item.span()))).collect());
        if list.is_none() {
            self.wrong_type(
                key,
                value,
                "a list of tables",
                "Begin each profile with a line `[[profile]]`, in two brackets.",
            );
        }
        list
    }

    fn table<'t>(&mut self, key: &str, value: &'t Spanned<DeValue<'t>>) -> Option<&'t DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(key, value, "a table", &format!("Begin it with a line `[{key}]`."));
        }
        table
    }

    fn bool(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        let answer = value.get_ref().as_bool();
        if answer.is_none() {
            self.wrong_type(key, value, "true or false", "Write true or false, without quotes.");
        }
        answer
    }

    fn text(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref().as_str() {
            Some("") => {
                self.error(
                    &value.span(),
                    key,
                    "is empty".to_owned(),
                    "Give it a value, or remove the line.".to_owned(),
                );
                None
            }
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong_type(key, value, "a text", "Put it in quotes.");
                None
            }
        }
    }

    fn wrong_type(&mut self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, next: &str) {
        let reason = format!("is {}, which is not {wanted}", self.written(&value.span()));
        self.error(&value.span(), key, reason, next.to_owned());
    }

    fn error(&mut self, span: &Range<usize>, key: &str, reason: String, next: String) {
        let problem = self.problem(span, Some(key.to_owned()), reason, next);
        self.errors.push(problem);
    }

    fn unknown(&self, span: &Range<usize>, full: &str, word: &str, known: &[&str]) -> Problem {
        let next = match nearest(word, known.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Known here: {}.", known.join(", ")),
        };
        self.problem(span, Some(full.to_owned()), "is a key that means nothing here".to_owned(), next)
    }

    fn syntax(&self, error: &toml::de::Error) -> Problem {
        let reason = format!("This is no TOML: {}", error.message().replace('\n', ", "));
        let next = "Correct this line; until then nothing of the file is used.".to_owned();
        self.problem(&error.span().unwrap_or(0..0), None, reason, next)
    }

    fn problem(&self, span: &Range<usize>, key: Option<String>, reason: String, next: String) -> Problem {
        Problem { file: Some(self.path.to_path_buf()), line: Some(self.line(span)), key, reason, next }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        1 + self.text.bytes().take(span.start).filter(|b| *b == b'\n').count()
    }

    /// The value as it is written, cut to one short line.
    fn written(&self, span: &Range<usize>) -> String {
        let line = self.text.get(span.clone()).unwrap_or_default().lines().next().unwrap_or_default();
        let short: String = line.chars().take(40).collect();
        if short.len() < line.len() { format!("{short}…") } else { short }
    }
}

/// One ceiling as it is set in the file.
pub(super) struct Ceiling {
    /// The key in the section.
    pub(super) key: &'static str,
    /// It counts bytes.
    pub(super) bytes: bool,
    most: u64,
    field: fn(&mut Ceilings) -> Field<'_>,
}

enum Field<'a> {
    Long(&'a mut u64),
    Size(&'a mut usize),
}

impl Ceiling {
    /// Puts a new value in its place.
    pub(super) fn set(&self, ceilings: &mut Ceilings, amount: u64) {
        match (self.field)(ceilings) {
            Field::Long(field) => *field = amount,
            Field::Size(field) => *field = usize::try_from(amount).unwrap_or(usize::MAX),
        }
    }

    /// The value that is in force.
    pub(super) fn get(&self, ceilings: &Ceilings) -> u64 {
        match (self.field)(&mut ceilings.clone()) {
            Field::Long(field) => *field,
            Field::Size(field) => *field as u64,
        }
    }
}

const EIB: u64 = 1 << 60;

macro_rules! ceilings {
    ($($field:ident $bytes:literal $most:expr, $kind:ident;)*) => {
        /// Every ceiling, in the order of the documentation.
        pub(super) const CEILINGS: [Ceiling; [$(stringify!($field)),*].len()] = [
            $(Ceiling { key: stringify!($field), bytes: $bytes, most: $most, field: |c| Field::$kind(&mut c.$field) },)*
        ];
    };
}

// A path of more folders than a stack has room for would be worse than a ceiling.
ceilings! {
    file true EIB, Long;
    packed_block true EIB, Long;
    inflated_block true EIB, Long;
    byte_array true EIB, Long;
    text true EIB, Long;
    objects false 1 << 40, Long;
    entries false 1 << 40, Long;
    archived_file true EIB, Long;
    archive_total true EIB, Long;
    archive_ratio false 1 << 40, Long;
    path_bytes true 65_536, Size;
    path_depth false 256, Size;
    archive_memory true EIB, Long;
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CEILINGS, parse};
    use crate::model::ServerLog;
    use crate::store::Ceilings;

    fn complaints(text: &str) -> Vec<String> {
        match parse(Path::new("c.toml"), text) {
            Ok(written) => written.warnings.iter().map(ToString::to_string).collect(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn every_error_of_a_file_is_told_with_its_line() {
        assert_eq!(
            complaints(
                "discover = 1\n\n[ceilings]\nfile = \"lots\"\nobjects = -1\n[[profile]]\nname = \"a/b\"\npath = \"x\"\n"
            ),
            [
                "c.toml:1: `discover` is 1, which is not true or false. Write true or false, without quotes.",
                "c.toml:4: `ceilings.file` is \"lots\", which is no size. \
                 Write bytes as a number, or a size such as \"512 MB\".",
                "c.toml:5: `ceilings.objects` is -1, which is no count. Write a whole number such as 50_000_000.",
                "c.toml:7: `profile.name` is \"a/b\", which cannot be part of an id. \
                 Ids are made from it: leave out `/`, `@` and control characters.",
            ]
        );
    }

    #[test]
    fn a_profile_may_name_where_its_server_writes_and_only_one_such_place() {
        let written = parse(
            Path::new("c.toml"),
            "[[profile]]\nname = \"a\"\npath = \"x\"\nserver_log = \"s.log\"\n\
             [[profile]]\nname = \"b\"\npath = \"x\"\nserver_log_command = [\"journalctl\", \"-fu\", \"valheim\"]\n",
        )
        .unwrap();
        let logs: Vec<_> = written.profiles.iter().map(|profile| profile.server_log.clone().unwrap()).collect();
        let command = ["journalctl", "-fu", "valheim"].map(str::to_owned).to_vec();
        assert_eq!(logs, [ServerLog::File("s.log".into()), ServerLog::Command(command)]);
        let next = "Write a list: the program, then each argument, such as [\"journalctl\", \"-fu\", \"valheim\"]. No \
                    shell reads it.";
        assert_eq!(
            complaints(
                "[[profile]]\nname = \"a\"\npath = \"x\"\nserver_log = \"\"\nserver_log_command = \"docker logs -f v\"\n\
                 [[profile]]\nname = \"b\"\npath = \"x\"\nserver_log_command = []\n"
            ),
            [
                "c.toml:1: `profile` has both `server_log` and `server_log_command`. \
                 Keep the one that the server's output can be read from.",
                "c.toml:4: `profile.server_log` is empty. Give it a value, or remove the line.",
                &format!(
                    "c.toml:5: `profile.server_log_command` is \"docker logs -f v\", which is not a list of texts. {next}"
                ),
                &format!("c.toml:9: `profile.server_log_command` is empty. {next}"),
            ]
        );
    }

    #[test]
    fn an_unknown_key_is_a_warning_and_the_rest_counts() {
        let written = parse(Path::new("c.toml"), "readonly = true\ntheme = \"mono\"\n").unwrap();
        assert_eq!(written.theme, Some(("mono".to_owned(), 2)));
        assert_eq!(
            written.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["c.toml:1: `readonly` is a key that means nothing here. Did you mean `read_only`?"]
        );
    }

    #[test]
    fn every_ceiling_can_be_set_and_read_back() {
        for (i, ceiling) in CEILINGS.iter().enumerate() {
            let mut ceilings = Ceilings::default();
            let before = CEILINGS.iter().map(|c| c.get(&ceilings)).collect::<Vec<_>>();
            ceiling.set(&mut ceilings, 77);
            let after = CEILINGS.iter().map(|c| c.get(&ceilings)).collect::<Vec<_>>();
            for (j, (before, after)) in before.iter().zip(&after).enumerate() {
                assert_eq!(*after, if i == j { 77 } else { *before }, "{} changed {}", ceiling.key, CEILINGS[j].key);
            }
        }
    }
}
