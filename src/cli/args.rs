use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{ColorChoice, Overrides};
use crate::model::plan::WarningCode;

/// Browse the saves of game servers.
///
/// Lists worlds and their backups, says which of them are whole and why, and shows what is in each. Puts them back,
/// copies, renames and deletes them: wholly or not at all, shown before it is done, and so that it can be taken back.
/// Without a command it opens the browser.
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

Exit status: 0 done, or everything checked is whole; 1 something is damaged, or an operation failed and changed nothing;
2 wrong usage or configuration; 3 nothing matched; 4 refused; 5 done, with something left to clear away; 6 nothing is
damaged, but not everything could be checked; 130 interrupted.";

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
    /// Make a safety copy of a world or a layer, under a name that the game lists and never prunes.
    Backup {
        /// Paths or ids.
        #[arg(value_name = "TARGET", required = true)]
        targets: Vec<PathBuf>,
        #[command(flatten)]
        agree: Agree,
    },
    /// Put a layer in the place of the live world; what was live is kept for `undo`.
    Restore {
        /// The layer: a path or an id, PROFILE/WORLD@LAYER.
        #[arg(value_name = "TARGET")]
        target: PathBuf,
        #[command(flatten)]
        agree: Agree,
    },
    /// Copy a world or a layer under another name or into another profile.
    Copy {
        /// A path or an id.
        #[arg(value_name = "TARGET")]
        target: PathBuf,
        /// The new name, or PROFILE/NAME.
        #[arg(value_name = "DEST", required_unless_present = "into")]
        dest: Option<String>,
        /// Copy into this profile, or into this folder of saves.
        #[arg(long, value_name = "PROFILE")]
        into: Option<PathBuf>,
        /// Copy the layers too.
        #[arg(long)]
        with_layers: bool,
        /// Take the place of what is there, which is kept for `undo`.
        #[arg(long)]
        overwrite: bool,
        #[command(flatten)]
        agree: Agree,
    },
    /// Give a world another name, with everything that belongs to it.
    Rename {
        /// A path or an id.
        #[arg(value_name = "TARGET")]
        target: PathBuf,
        /// The new name.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        agree: Agree,
    },
    /// Move worlds or layers into the recycle folder; `undo` brings them back.
    Delete {
        /// Paths or ids.
        #[arg(value_name = "TARGET", required = true)]
        targets: Vec<PathBuf>,
        /// Delete the layers of a world too.
        #[arg(long)]
        with_layers: bool,
        #[command(flatten)]
        agree: Agree,
    },
    /// Take back the last operation, or the named one.
    Undo {
        /// Its name, as `worldkeep history` prints it; the start of it is enough.
        #[arg(value_name = "OPERATION")]
        operation: Option<String>,
        #[command(flatten)]
        agree: Agree,
    },
    /// List every operation with what an undo of it would do.
    History {
        /// Look at the operations on these saves instead of all that are known.
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Remove for good what operations have put aside.
    ///
    /// Without an OPERATION it is what all of them put aside. None of them can be taken back afterwards.
    Purge {
        /// Names, as `worldkeep history` prints them; the start of each is enough.
        #[arg(value_name = "OPERATION")]
        operations: Vec<String>,
        /// Only what was put aside at least so long ago: 30, 30d, 12h, 8w.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older: Option<u64>,
        #[command(flatten)]
        agree: Agree,
    },
    /// Finish or roll back what was interrupted. Every operation begins with this too.
    Recover {
        /// Look at these saves instead of all that are known.
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Print a line for each save that lands and each thing that goes wrong.
    ///
    /// Goes on until it is stopped. A live world is checked completely after each save, and what the server itself says
    /// is told where the profile's configuration names its log. With --json each line is one JSON object; with --quiet
    /// only warnings and errors are told.
    Watch {
        /// Watch these saves instead of the usual and the configured places.
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
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

/// How somebody agrees to a plan.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agree {
    /// Print the plan with its id, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    pub(super) dry_run: bool,

    /// Agree to the plan that this call computes, or with an id to that plan and no other.
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) yes: Vec<String>,

    /// Accept this warning, which would otherwise refuse; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = warning)]
    pub(super) accept: Vec<WarningCode>,
}

/// A warning's code; one that needs no acceptance is as good, since a person cannot know which do.
fn warning(word: &str) -> Result<WarningCode, String> {
    WarningCode::ALL.iter().copied().find(|code| code.as_str() == word).ok_or_else(|| {
        let all: Vec<_> =
            WarningCode::ALL.iter().filter(|code| code.needs_acceptance()).map(|code| code.as_str()).collect();
        format!("the warnings that can be accepted are {}", all.join(", "))
    })
}

/// An age in seconds: a number with `h`, `d` or `w` behind it, or of days without.
fn age(word: &str) -> Result<u64, String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match word.get(digits.len()..) {
        Some("h") => 3600,
        Some("" | "d") => 86_400,
        Some("w") => 7 * 86_400,
        _ => return Err("an age is a number of days, or a number with h, d or w".to_owned()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "an age is a number of days, or a number with h, d or w".to_owned())?;
    number.checked_mul(unit).filter(|age| *age < 1 << 40).ok_or_else(|| "this is older than anything".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{age, warning};

    #[test]
    fn an_age_has_a_unit_or_means_days() {
        assert_eq!(["1", "2d", "12h", "3w", "0"].map(age), [86_400, 172_800, 43_200, 1_814_400, 0].map(Ok));
        for wrong in ["", "d", "-1", "1.5", "3 d", "3y", "3dd", "99999999999999999999", "9999999999999999w"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_warning_is_known_by_its_code() {
        assert_eq!(warning("liveness-unknown"), Ok(super::WarningCode::LivenessUnknown));
        let error = warning("running").unwrap_err();
        assert!(error.contains("liveness-unknown") && !error.contains("restarts"), "{error}");
    }
}
