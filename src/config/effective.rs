use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::file::CEILINGS;
use super::{Config, Origin};
use crate::model::{Clock, ServerLog, shown, shown_path};

/// The configuration in force as a TOML file, with where each value came from.
pub fn effective(config: &Config) -> String {
    let mut out = String::new();
    let _ = match &config.file {
        Some(file) => writeln!(out, "# file: {}", shown_path(file)),
        None => writeln!(out, "# file: none"),
    };
    let _ = writeln!(out, "# clock: {}", clock(config));
    let _ = writeln!(out, "# zone: {} ({})\n", zone(config), config.origins.get("zone"));
    for setting in settings(config).into_iter().filter(|s| !s.key.contains('.')) {
        write_setting(&mut out, &setting, &setting.key);
    }
    for (title, prefix) in [("ceilings", "ceilings."), ("keys", "keys.")] {
        let inside: Vec<_> = settings(config).into_iter().filter(|s| s.key.starts_with(prefix)).collect();
        if !inside.is_empty() {
            let _ = writeln!(out, "\n[{title}]");
        }
        for setting in inside {
            write_setting(&mut out, &setting, setting.key.strip_prefix(prefix).unwrap_or(&setting.key));
        }
    }
    for profile in &config.profiles {
        let origin = config.origins.get(&format!("profile.{}", profile.name));
        let _ = writeln!(out, "\n[[profile]] # {origin}\nname = {}", toml_text(&profile.name));
        let _ = writeln!(out, "path = {}", toml_text(&profile.path.to_string_lossy()));
        if let Some(game) = profile.game {
            let _ = writeln!(out, "game = {}", toml_text(game));
        }
        let _ = match &profile.server_log {
            Some(ServerLog::File(path)) => writeln!(out, "server_log = {}", toml_text(&path.to_string_lossy())),
            Some(ServerLog::Command(words)) => {
                let words: Vec<_> = words.iter().map(|word| toml_text(word)).collect();
                writeln!(out, "server_log_command = [{}]", words.join(", "))
            }
            None => Ok(()),
        };
    }
    out
}

/// One setting of the configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key as in the file, such as `ceilings.file`.
    pub key: String,
    /// The value; `null` when it is not set.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// Every setting in force but the profiles, in the order of the documentation.
pub fn settings(config: &Config) -> Vec<Setting> {
    let mut list = vec![
        ("discover".to_owned(), json!(config.discover)),
        ("theme".to_owned(), json!(config.theme)),
        ("color".to_owned(), json!(config.color.as_str())),
        ("ascii".to_owned(), json!(config.ascii)),
        ("read_only".to_owned(), json!(config.read_only)),
        ("log".to_owned(), json!(config.log.as_ref().map(|path| path.to_string_lossy().into_owned()))),
    ];
    list.extend(CEILINGS.iter().map(|c| (format!("ceilings.{}", c.key), json!(c.get(&config.ceilings)))));
    list.extend(config.keys.iter().map(|(id, keys)| (format!("keys.{id}"), json!(keys))));
    list.into_iter().map(|(key, value)| Setting { origin: config.origins.get(&key), key, value }).collect()
}

impl Config {
    /// The configuration in force as one JSON object.
    pub fn to_json(&self) -> Value {
        let mut list = Map::new();
        for setting in settings(self) {
            list.insert(setting.key, json!({ "value": setting.value, "from": setting.origin.to_string() }));
        }
        let profiles: Vec<Value> = self
            .profiles
            .iter()
            .map(|p| {
                let from = self.origins.get(&format!("profile.{}", p.name)).to_string();
                let (mut log, mut command) = (None, None);
                match &p.server_log {
                    Some(ServerLog::File(path)) => log = Some(path.to_string_lossy()),
                    Some(ServerLog::Command(words)) => command = Some(words),
                    None => {}
                }
                json!({
                    "name": p.name, "path": p.path.to_string_lossy(), "game": p.game,
                    "server_log": log, "server_log_command": command, "from": from,
                })
            })
            .collect();
        json!({
            "schema": 1,
            "file": self.file.as_ref().map(|path| path.to_string_lossy().into_owned()),
            "clock": clock(self),
            "zone": zone(self),
            "settings": list,
            "profiles": profiles,
            "warnings": self.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

fn write_setting(out: &mut String, setting: &Setting, key: &str) {
    let key = if key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') && !key.is_empty() {
        key.to_owned()
    } else {
        toml_text(key)
    };
    let _ = match toml_value(&setting.value) {
        Some(value) => writeln!(out, "{key} = {value} # {}", setting.origin),
        None => writeln!(out, "# {key} is not set"),
    };
}

fn toml_value(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) => Some(toml_text(text)),
        Value::Array(list) => {
            let items: Option<Vec<_>> = list.iter().map(toml_value).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
    }
}

/// A TOML string; what could steer a terminal is written as an escape that TOML reads back as the same character.
fn toml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if shown(c.encode_utf8(&mut [0; 4])).chars().eq([c]) => out.push(c),
            _ => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

fn clock(config: &Config) -> String {
    match config.clock {
        Clock::System => "system".to_owned(),
        Clock::Fixed(at) => at.to_string(),
    }
}

fn zone(config: &Config) -> String {
    config.zone.iana_name().map_or_else(|| config.zone.to_offset(config.clock.now()).to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{effective, toml_text};
    use crate::config::{Config, ConfiguredProfile, Origin};
    use crate::model::ServerLog;

    #[test]
    fn the_effective_configuration_is_a_file_that_says_the_same_again() {
        let mut config = Config {
            theme: "my \"own\" \u{1b}[31m".into(),
            ascii: Some(true),
            profiles: vec![
                ConfiguredProfile {
                    name: "home".into(),
                    path: "/srv/v".into(),
                    game: Some("valheim"),
                    server_log: Some(ServerLog::File("/var/log/valheim.log".into())),
                },
                ConfiguredProfile {
                    name: "away".into(),
                    path: "/srv/w".into(),
                    game: None,
                    server_log: Some(ServerLog::Command(vec!["journalctl".into(), "-fu".into(), "a \"b\"".into()])),
                },
            ],
            keys: [("verify".to_owned(), vec!["v".to_owned(), "ctrl-r".to_owned()])].into(),
            ..Config::default()
        };
        config.ceilings.file = 5;
        config.origins.set("ascii", Origin::Argument("--ascii"));
        let text = effective(&config);
        assert!(!text.contains('\u{1b}'));
        assert!(text.contains("ascii = true # argument --ascii\n"), "{text}");
        assert!(text.contains("theme = \"my \\\"own\\\" \\U0000001B[31m\" # built in\n"), "{text}");

        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), &text).unwrap();
        let env = crate::config::Environment { config_dir: Some(dir.path().into()), ..Default::default() };
        let again = crate::config::load(&crate::config::Overrides::default(), &env).unwrap();
        assert_eq!(again.warnings, []);
        assert_eq!((again.theme, again.ascii, again.ceilings), (config.theme, config.ascii, config.ceilings));
        assert_eq!((again.profiles, again.keys), (config.profiles, config.keys));
    }

    #[test]
    fn toml_text_escapes_quotes_and_backslashes() {
        assert_eq!(toml_text("a\"b\\c"), "\"a\\\"b\\\\c\"");
    }
}
