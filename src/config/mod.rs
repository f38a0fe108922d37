//! The configuration file, the environment and the arguments, merged into one value.
//!
//! What comes later wins: built-in values, the file, the environment, the arguments. [`load()`] merges them and
//! remembers where each value came from; [`request()`] turns the result into what a scan looks at; [`effective()`] says
//! the result as TOML. Nothing here ever writes a file.

mod effective;
mod env;
mod error;
mod file;
mod load;
mod nearest;
mod origin;
mod request;
mod sizes;
mod zone;

pub mod actions;
pub mod keys;
pub mod theme;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;

pub use effective::{Setting, effective, settings};
pub use env::Environment;
pub use error::{ConfigError, Problem};
pub use load::{Overrides, load, load_or_defaults};
pub use nearest::nearest;
pub use origin::{Origin, Origins};
pub use request::request;

use crate::model::{Clock, Found, GameId, Profile, ServerLog};
use crate::store::Ceilings;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// As the terminal and `NO_COLOR` say.
    #[default]
    Auto,
    /// Even without a terminal.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// The word used in the file and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// The choice of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Auto, Self::Always, Self::Never].into_iter().find(|choice| choice.as_str() == word)
    }
}

/// A profile that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredProfile {
    /// Its name, and the first part of its ids.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Which game; none: whichever fits.
    pub game: Option<GameId>,
    /// Where the output of its server can be read.
    pub server_log: Option<ServerLog>,
}

/// Everything that can be set, after merging.
#[derive(Clone, Debug)]
pub struct Config {
    /// Named profiles.
    pub profiles: Vec<ConfiguredProfile>,
    /// Whether the usual places are looked at as well.
    pub discover: bool,
    /// The most that is read or believed.
    pub ceilings: Ceilings,
    /// The theme's name.
    pub theme: String,
    /// Folders with the user's own themes, first match wins.
    pub theme_dirs: Vec<PathBuf>,
    /// Colour or not.
    pub color: ColorChoice,
    /// Draw with ASCII only; none: as the locale says.
    pub ascii: Option<bool>,
    /// Take away every key and verb that changes anything.
    pub read_only: bool,
    /// Keys by action id, replacing the built-in ones of that action.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Where the log goes; none: nowhere.
    pub log: Option<PathBuf>,
    /// The clock.
    pub clock: Clock,
    /// The zone for times on screen and in names.
    pub zone: TimeZone,
    /// The file that was read; none: there was none, or it was not wanted.
    pub file: Option<PathBuf>,
    /// Where each value came from.
    pub origins: Origins,
    /// What a person should know about the configuration: unknown keys, or a file that was not used.
    pub warnings: Vec<Problem>,
}

impl Config {
    /// Where the output of the server of a profile can be read: as its own entry says, or the one for the same place when
    /// it was found in another way.
    pub fn server_log(&self, profile: &Profile) -> Option<&ServerLog> {
        let own = |p: &&ConfiguredProfile| profile.found == Found::Configured && p.name == profile.name;
        let same = |p: &&ConfiguredProfile| profile.root == p.path && p.game.is_none_or(|game| game == profile.game);
        let named = self.profiles.iter().find(own).or_else(|| self.profiles.iter().find(same));
        named.and_then(|p| p.server_log.as_ref())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profiles: Vec::new(),
            discover: true,
            ceilings: Ceilings::default(),
            theme: "default".to_owned(),
            theme_dirs: Vec::new(),
            color: ColorChoice::Auto,
            ascii: None,
            read_only: false,
            keys: BTreeMap::new(),
            log: None,
            clock: Clock::System,
            zone: TimeZone::UTC,
            file: None,
            origins: Origins::default(),
            warnings: Vec::new(),
        }
    }
}
