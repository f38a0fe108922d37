use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{ColorChoice, Overrides};

/// Browse the saves of game servers.
///
/// Lists worlds and their backups, says which of them are whole and why, and shows what is in each. Without a
/// command it opens the browser. Nothing is ever written to a save.
#[derive(Debug, Parser)]
#[command(name = "worldkeep", version, max_term_width = 100, subcommand_help_heading = "Commands")]
#[command(
    after_help = "A TARGET is a path, or an id as `worldkeep list` prints it: PROFILE/WORLD or PROFILE/WORLD@LAYER."
)]
#[command(after_long_help = AFTER)]
pub(super) struct Cli {
    /// Look at these saves instead of the usual and the configured places.
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// Browse demo saves, unpacked into a new temporary folder or into DIR.
    #[allow(clippy::option_option, reason = "clap's way to say: no flag, the flag alone, the flag with a value")]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "paths")]
    pub(super) demo: Option<Option<PathBuf>>,

    // Last, since its heading would stand over what follows.
    #[command(flatten)]
    pub(super) global: Global,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

const AFTER: &str = "\
A TARGET is a path (a world folder, a .fwl, a .db, one file of a save, an archive, a folder with saves), or an id as
`worldkeep list` prints it: PROFILE/WORLD or PROFILE/WORLD@LAYER. A path that exists is taken as a path. `show` and
`verify` also take a bare name and say where it went.

Exit status: 0 done, or everything checked is whole; 1 something is damaged; 2 wrong usage or configuration; 3 nothing
matched; 6 nothing is damaged, but not everything could be checked; 130 interrupted.";

/// Flags that every command takes.
#[derive(Args, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(next_help_heading = "Options for every command")]
pub(super) struct Global {
    /// Print one JSON document and nothing else.
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// Read this configuration file instead of the usual one.
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_config")]
    pub(super) config: Option<PathBuf>,

    /// Read no configuration file.
    #[arg(long, global = true)]
    pub(super) no_config: bool,

    /// Look here and in the configured profiles, not in the usual places; may be given several times.
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) root: Vec<PathBuf>,

    /// Look only for saves of this game.
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) game: Option<String>,

    /// Take away everything that could change a save.
    #[arg(long, global = true)]
    pub(super) read_only: bool,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN")]
    pub(super) color: Option<Color>,

    /// Draw with ASCII characters only.
    #[arg(long, global = true)]
    pub(super) ascii: bool,

    /// Use this theme in the browser.
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) theme: Option<String>,

    /// Write a log to this file.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Print errors only.
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
}

impl Global {
    /// What these flags set in the configuration.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            file: self.config.clone(),
            no_file: self.no_config,
            color: self.color.map(|color| match color {
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Never => ColorChoice::Never,
            }),
            ascii: self.ascii,
            read_only: self.read_only,
            theme: self.theme.clone(),
            log: self.log.clone(),
        }
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Even into a file or a pipe.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List profiles, worlds and their layers.
    ///
    /// Only names, sizes and headers are looked at. Use `verify` to check everything.
    List {
        /// Look at these saves instead of the usual and the configured places.
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Show what is in a save, what is wrong with it, and its files.
    ///
    /// For a name that is not in the list it says where the name went, and by which rule.
    Show {
        /// A path, an id or a name.
        #[arg(value_name = "TARGET")]
        target: PathBuf,
    },
    /// Check saves completely.
    ///
    /// Reads every byte that can be checked, one save after the other, so that a running server is not disturbed.
    /// Without a TARGET it checks everything.
    Verify {
        /// Paths, ids or names.
        #[arg(value_name = "TARGET")]
        targets: Vec<PathBuf>,
    },
    /// Put two saves side by side.
    Compare {
        /// The first: a path or an id.
        #[arg(value_name = "TARGET")]
        left: PathBuf,
        /// The second.
        #[arg(value_name = "TARGET")]
        right: PathBuf,
    },
    /// Print the configuration in force, and where each value came from.
    Config,
    /// List the actions of the browser with their keys.
    Keys,
    /// List the themes of the browser.
    Themes,
    /// Print a script that completes commands and flags in a shell.
    Completions {
        /// For which shell.
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}
