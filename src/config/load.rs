use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::file::{CEILINGS, Unread, Written, parse, read_text};
use super::zone::zone;
use super::{ColorChoice, Config, ConfigError, ConfiguredProfile, Environment, Origin, Problem};
use crate::model::{Clock, ServerLog};

/// What the arguments set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--config`: this file instead of the usual one.
    pub file: Option<PathBuf>,
    /// `--no-config`: no file at all.
    pub no_file: bool,
    /// `--color`.
    pub color: Option<ColorChoice>,
    /// `--ascii`.
    pub ascii: bool,
    /// `--read-only`.
    pub read_only: bool,
    /// `--theme`.
    pub theme: Option<String>,
    /// `--log`.
    pub log: Option<PathBuf>,
}

/// Merges built-in values, the file, the environment and the arguments.
///
/// The file is taken over as a whole or not at all. A file that nobody named and that is not there is no error.
pub fn load(overrides: &Overrides, env: &Environment) -> Result<Config, ConfigError> {
    let mut config = Config { zone: zone(env), ..Config::default() };
    if let Some((path, named)) = file_to_read(overrides, env) {
        match read_text(&path) {
            Ok(text) => {
                let written = parse(&path, &text).map_err(|problems| ConfigError { problems, missing: false })?;
                take_file(&mut config, written, &path, env);
                config.file = Some(path);
            }
            Err(Unread::NotThere) if named.is_none() => {}
            Err(why) => return Err(unread(path, named, why)),
        }
    }
    if let Some(dir) = &env.config_dir {
        config.theme_dirs.push(dir.join("themes"));
    }
    take_environment(&mut config, env)?;
    take_arguments(&mut config, overrides, env);
    Ok(config)
}

/// The same, but a broken file leaves the program usable: the built-in values take its place, and the complaints
/// stand in [`Config::warnings`]. A named file that is not there stays an error, and so does a bad variable.
pub fn load_or_defaults(overrides: &Overrides, env: &Environment) -> Result<Config, ConfigError> {
    match load(overrides, env) {
        Err(error) if !error.missing && error.problems.iter().all(|problem| problem.file.is_some()) => {
            let mut config = load(&Overrides { no_file: true, ..overrides.clone() }, env)?;
            config.warnings = error.problems;
            Ok(config)
        }
        other => other,
    }
}

/// The file to read, and what named it.
fn file_to_read(overrides: &Overrides, env: &Environment) -> Option<(PathBuf, Option<&'static str>)> {
    let here = env.current_dir.as_deref();
    if overrides.no_file {
        return None;
    }
    if let Some(path) = &overrides.file {
        return Some((env.expand(path, here), Some("--config")));
    }
    if let Some(path) = env.get("WORLDKEEP_CONFIG") {
        return Some((env.expand(Path::new(path), here), Some("WORLDKEEP_CONFIG")));
    }
    env.config_dir.as_ref().map(|dir| (dir.join("config.toml"), None))
}

fn unread(path: PathBuf, named: Option<&'static str>, why: Unread) -> ConfigError {
    let missing = matches!(why, Unread::NotThere);
    let reason = match why {
        Unread::NotThere => "The configuration file is not there".to_owned(),
        Unread::Failed(error) => format!("The configuration file could not be read: {error}"),
    };
    let next = match named {
        Some(name) => format!("Correct the path in {name}, or leave it out."),
        None => "Correct the file, or use --no-config.".to_owned(),
    };
    ConfigError { problems: vec![Problem { file: Some(path), line: None, key: None, reason, next }], missing }
}

fn take_file(config: &mut Config, written: Written, path: &Path, env: &Environment) {
    let base = path.parent();
    let origins = &mut config.origins;
    if let Some((value, line)) = written.discover {
        config.discover = value;
        origins.set("discover", Origin::File(line));
    }
    if let Some((value, line)) = written.theme {
        config.theme = value;
        origins.set("theme", Origin::File(line));
    }
    if let Some((value, line)) = written.color {
        config.color = value;
        origins.set("color", Origin::File(line));
    }
    if let Some((value, line)) = written.ascii {
        config.ascii = Some(value);
        origins.set("ascii", Origin::File(line));
    }
    if let Some((value, line)) = written.read_only {
        config.read_only = value;
        origins.set("read_only", Origin::File(line));
    }
    if let Some((value, line)) = written.log {
        config.log = Some(env.expand(&value, base));
        origins.set("log", Origin::File(line));
    }
    for (id, (keys, line)) in written.keys {
        origins.set(format!("keys.{id}"), Origin::File(line));
        config.keys.insert(id, keys);
    }
    for ((key, amount), line) in &written.ceilings {
        if let Some(ceiling) = CEILINGS.iter().find(|c| c.key == *key) {
            ceiling.set(&mut config.ceilings, *amount);
            origins.set(format!("ceilings.{key}"), Origin::File(*line));
        }
    }
    // The same readers get files from archives, so a raised ceiling that did not count there would surprise.
    if origins.get("ceilings.archived_file") == Origin::BuiltIn && config.ceilings.file > config.ceilings.archived_file
    {
        config.ceilings.archived_file = config.ceilings.file;
        origins.set("ceilings.archived_file", origins.get("ceilings.file"));
    }
    for profile in written.profiles {
        origins.set(format!("profile.{}", profile.name), Origin::File(profile.line));
        let path = env.expand(&profile.path, base);
        let server_log = profile.server_log.map(|log| match log {
            ServerLog::File(path) => ServerLog::File(env.expand(&path, base)),
            command @ ServerLog::Command(_) => command,
        });
        config.profiles.push(ConfiguredProfile { name: profile.name, path, game: profile.game, server_log });
    }
    config.warnings = written.warnings;
}

fn take_environment(config: &mut Config, env: &Environment) -> Result<(), ConfigError> {
    if let Some(theme) = env.get("WORLDKEEP_THEME") {
        config.theme = theme.to_string_lossy().into_owned();
        config.origins.set("theme", Origin::Variable("WORLDKEEP_THEME"));
    }
    if env.get("NO_COLOR").is_some() {
        config.color = ColorChoice::Never;
        config.origins.set("color", Origin::Variable("NO_COLOR"));
    }
    if let Some(log) = env.get("WORLDKEEP_LOG") {
        config.log = Some(env.expand(Path::new(log), env.current_dir.as_deref()));
        config.origins.set("log", Origin::Variable("WORLDKEEP_LOG"));
    }
    if let Some(word) = env.get("WORLDKEEP_READ_ONLY") {
        config.read_only = switch("WORLDKEEP_READ_ONLY", word)?;
        config.origins.set("read_only", Origin::Variable("WORLDKEEP_READ_ONLY"));
    }
    if let Some(now) = env.get("WORLDKEEP_NOW") {
        let text = now.to_string_lossy();
        let at: Timestamp = text.parse().map_err(|_| {
            let next = "Write it like 2026-11-30T16:00:00Z, or unset it to use the machine's clock.";
            bad_variable("WORLDKEEP_NOW", format!("is \"{text}\", which is no moment in RFC 3339"), next)
        })?;
        config.clock = Clock::Fixed(at);
        config.origins.set("clock", Origin::Variable("WORLDKEEP_NOW"));
    }
    if env.get("TZ").is_some() {
        config.origins.set("zone", Origin::Variable("TZ"));
    }
    Ok(())
}

/// A misspelt switch must not leave the dangerous side on, so it is an error.
fn switch(name: &str, word: &OsStr) -> Result<bool, ConfigError> {
    match word.to_string_lossy().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        other => Err(bad_variable(name, format!("is \"{other}\", which is no switch"), "Use 1 or 0.")),
    }
}

fn bad_variable(name: &str, reason: String, next: &str) -> ConfigError {
    ConfigError::one(Problem { file: None, line: None, key: Some(name.to_owned()), reason, next: next.to_owned() })
}

fn take_arguments(config: &mut Config, overrides: &Overrides, env: &Environment) {
    if let Some(color) = overrides.color {
        config.color = color;
        config.origins.set("color", Origin::Argument("--color"));
    }
    if overrides.ascii {
        config.ascii = Some(true);
        config.origins.set("ascii", Origin::Argument("--ascii"));
    }
    if overrides.read_only {
        config.read_only = true;
        config.origins.set("read_only", Origin::Argument("--read-only"));
    }
    if let Some(theme) = &overrides.theme {
        config.theme.clone_from(theme);
        config.origins.set("theme", Origin::Argument("--theme"));
    }
    if let Some(log) = &overrides.log {
        config.log = Some(env.expand(log, env.current_dir.as_deref()));
        config.origins.set("log", Origin::Argument("--log"));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Overrides, load, load_or_defaults};
    use crate::config::{ColorChoice, Environment, Origin};

    struct Case {
        dir: tempfile::TempDir,
        env: Environment,
    }

    fn case(file: &str, vars: &[(&str, &str)]) -> Case {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), file).unwrap();
        let vars = [("TZ", "UTC")].iter().chain(vars).map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let home = Some("/home/a".into());
        let env = Environment { vars, home, config_dir: Some(dir.path().into()), current_dir: Some("/cur".into()) };
        Case { dir, env }
    }

    #[test]
    fn what_comes_later_wins_and_is_named_as_the_origin() {
        let file = "theme = \"a\"\ncolor = \"always\"\nread_only = true\nlog = \"~/x.log\"\n";
        let c = case(file, &[("WORLDKEEP_THEME", "b"), ("NO_COLOR", "1")]);
        let plain = load(&Overrides::default(), &c.env).unwrap();
        assert_eq!((plain.theme.as_str(), plain.color, plain.read_only), ("b", ColorChoice::Never, true));
        assert_eq!(plain.log.as_deref(), Some(Path::new("/home/a/x.log")));
        assert_eq!(plain.origins.get("theme"), Origin::Variable("WORLDKEEP_THEME"));
        assert_eq!(plain.origins.get("read_only"), Origin::File(3));
        assert_eq!(plain.origins.get("discover"), Origin::BuiltIn);

        let overrides = Overrides {
            theme: Some("c".into()),
            color: Some(ColorChoice::Always),
            log: Some("y.log".into()),
            ..Overrides::default()
        };
        let with = load(&overrides, &c.env).unwrap();
        assert_eq!((with.theme.as_str(), with.color), ("c", ColorChoice::Always));
        assert_eq!(with.log.as_deref(), Some(Path::new("/cur/y.log")));
        assert_eq!(with.origins.get("color"), Origin::Argument("--color"));
    }

    #[test]
    fn a_file_that_nobody_named_may_be_missing_and_a_named_one_may_not() {
        let c = case("", &[]);
        std::fs::remove_file(c.dir.path().join("config.toml")).unwrap();
        assert_eq!(load(&Overrides::default(), &c.env).unwrap().file, None);
        let named = Overrides { file: Some("gone.toml".into()), ..Overrides::default() };
        let error = load_or_defaults(&named, &c.env).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/cur/gone.toml: The configuration file is not there. Correct the path in --config, or leave it out."
        );
    }

    #[test]
    fn nothing_of_a_broken_file_is_in_force() {
        let c = case("theme = \"a\"\nread_only = maybe\n", &[]);
        let error = load(&Overrides::default(), &c.env).unwrap_err();
        assert_eq!(error.problems[0].line, Some(2));
        let config = load_or_defaults(&Overrides::default(), &c.env).unwrap();
        assert_eq!((config.theme.as_str(), config.file), ("default", None));
        assert_eq!(config.warnings.len(), error.problems.len());
    }

    #[test]
    fn a_raised_file_ceiling_counts_in_archives_too_unless_they_have_their_own() {
        let ceilings = |file: &str| load(&Overrides::default(), &case(file, &[]).env).unwrap().ceilings;
        assert_eq!(ceilings("[ceilings]\nfile = \"1 GB\"\n").archived_file, 1 << 30);
        assert_eq!(ceilings("[ceilings]\nfile = \"1 GB\"\narchived_file = 7\n").archived_file, 7);
        assert_eq!(ceilings("[ceilings]\nfile = 7\n").archived_file, 256 << 20);
    }

    #[test]
    fn a_misspelt_switch_or_moment_in_the_environment_is_an_error() {
        for (name, value, words) in [
            ("WORLDKEEP_READ_ONLY", "ture", "`WORLDKEEP_READ_ONLY` is \"ture\", which is no switch. Use 1 or 0."),
            ("WORLDKEEP_NOW", "noon", "`WORLDKEEP_NOW` is \"noon\", which is no moment in RFC 3339."),
        ] {
            let error = load_or_defaults(&Overrides::default(), &case("", &[(name, value)]).env).unwrap_err();
            assert!(error.to_string().starts_with(words), "{error}");
        }
    }
}
