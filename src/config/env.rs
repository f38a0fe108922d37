use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::games::Places;

/// The environment as one value, so that tests can make one up.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Every variable.
    pub vars: BTreeMap<OsString, OsString>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder for this program's configuration: on Linux `$XDG_CONFIG_HOME/worldkeep` or
    /// `~/.config/worldkeep`, elsewhere where the system keeps such files.
    pub config_dir: Option<PathBuf>,
    /// The folder that relative paths from the environment and the arguments start from.
    pub current_dir: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
            home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()),
            config_dir: directories::ProjectDirs::from("", "", "worldkeep").map(|dirs| dirs.config_dir().to_path_buf()),
            current_dir: std::env::current_dir().ok(),
        }
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// True when the locale's character set is UTF-8: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub fn is_utf8(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| self.get(name));
        let locale = locale.map(|value| value.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        locale.contains("utf-8") || locale.contains("utf8")
    }

    /// True when the terminal says that it can do nothing but print.
    pub fn is_dumb(&self) -> bool {
        self.get("TERM").is_some_and(|term| term == "dumb")
    }

    /// A path as a person writes it: `~/` is the home folder, and a relative one starts at `base`.
    pub fn expand(&self, written: &Path, base: Option<&Path>) -> PathBuf {
        if let (Ok(rest), Some(home)) = (written.strip_prefix("~"), &self.home) {
            return if rest.as_os_str().is_empty() { home.clone() } else { home.join(rest) };
        }
        match base {
            Some(base) if written.is_relative() => base.join(written),
            _ => written.to_path_buf(),
        }
    }

    /// The folder for this program's state: `$XDG_STATE_HOME/worldkeep` or `~/.local/state/worldkeep`. None without a home.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let named = self.get("XDG_STATE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
        let base = named.or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        base.map(|base| base.join("worldkeep"))
    }

    /// Where games look on this machine; `WORLDKEEP_SYSTEM_ROOT` stands before absolute places, for tests.
    pub fn places(&self) -> Places {
        let system = self.get("WORLDKEEP_SYSTEM_ROOT").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        Places { home: self.home.clone(), system, vars: self.vars.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Environment;

    fn with(pairs: &[(&str, &str)]) -> Environment {
        Environment {
            vars: pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            home: Some("/home/a".into()),
            ..Environment::default()
        }
    }

    #[test]
    fn the_strongest_locale_variable_decides_about_utf8() {
        assert!(with(&[("LANG", "de_DE.UTF-8")]).is_utf8());
        assert!(with(&[("LC_CTYPE", "C.utf8"), ("LANG", "C")]).is_utf8());
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).is_utf8());
        assert!(with(&[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]).is_utf8());
        assert!(!with(&[]).is_utf8());
    }

    #[test]
    fn state_lies_where_the_variable_says_or_in_the_home_folder() {
        let state = |pairs: &[(&str, &str)]| with(pairs).state_dir().unwrap();
        assert_eq!(state(&[("XDG_STATE_HOME", "/var/s")]), PathBuf::from("/var/s/worldkeep"));
        assert_eq!(state(&[("XDG_STATE_HOME", "not/absolute")]), PathBuf::from("/home/a/.local/state/worldkeep"));
        assert_eq!(state(&[]), PathBuf::from("/home/a/.local/state/worldkeep"));
        assert_eq!(Environment::default().state_dir(), None);
    }

    #[test]
    fn a_tilde_is_home_and_a_relative_path_starts_at_its_base() {
        let env = with(&[]);
        let base = Some(Path::new("/etc/worldkeep"));
        assert_eq!(env.expand(Path::new("~/saves"), base), PathBuf::from("/home/a/saves"));
        assert_eq!(env.expand(Path::new("~"), base), PathBuf::from("/home/a"));
        assert_eq!(env.expand(Path::new("saves"), base), PathBuf::from("/etc/worldkeep/saves"));
        assert_eq!(env.expand(Path::new("~other/x"), base), PathBuf::from("/etc/worldkeep/~other/x"));
        assert_eq!(env.expand(Path::new("/srv"), base), PathBuf::from("/srv"));
    }
}
