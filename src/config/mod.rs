//! The configuration file, the environment and the arguments, merged into one value.

pub mod actions;
pub mod keys;
pub mod theme;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;

use crate::model::{Clock, GameId};
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

/// A profile that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredProfile {
    /// Its name, and the first part of its ids.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Which game; none: whichever fits.
    pub game: Option<GameId>,
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
        }
    }
}
