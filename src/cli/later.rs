use std::ffi::OsString;

use clap::CommandFactory as _;

use super::args::Cli;
use super::failure::Failure;

/// Commands that are planned and not in this version, so that nobody takes one for the name of a folder.
const LATER: &[&str] = &["map", "pin", "prune"];

/// What to say when the first plain word of the arguments is a command of a later version.
pub(super) fn refuse(args: &[OsString]) -> Option<Failure> {
    let word = first_word(args)?;
    LATER.contains(&word).then(|| {
        Failure::usage(format!("This version does not have the command `{word}` yet."))
            .hint("See `worldkeep --help` for those that it has.")
            .hint(format!("If you mean a file or folder of that name, write ./{word}."))
    })
}

/// The first argument that is neither a flag nor the value of one.
fn first_word(args: &[OsString]) -> Option<&str> {
    let cli = Cli::command();
    let takes_value = |flag: &str| {
        let mut known = cli.get_arguments();
        known.any(|arg| arg.get_long() == Some(flag) && arg.get_action().takes_values() && !arg.is_require_equals_set())
    };
    let mut args = args.iter().skip(1);
    loop {
        let arg = args.next()?.to_str()?;
        match arg.strip_prefix("--") {
            Some("") => return None, // what follows are paths
            Some(flag) if takes_value(flag) => {
                args.next()?;
            }
            _ if arg.starts_with('-') => {}
            _ => return Some(arg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LATER, refuse};

    #[test]
    fn a_later_command_is_named_and_a_path_of_that_name_passes() {
        let args = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<_>>();
        for word in LATER {
            let failure = refuse(&args(&["worldkeep", word, "--yes"])).unwrap();
            assert!(failure.text.contains(word));
        }
        for flags in [&["--root", "/srv"][..], &["--color", "never", "-q"], &["--root=/srv"], &["--demo"]] {
            let all: Vec<&str> = ["worldkeep"].iter().chain(flags).chain(&["prune", "x"]).copied().collect();
            assert!(refuse(&args(&all)).is_some(), "{all:?}");
        }
        assert_eq!(refuse(&args(&["worldkeep", "--root", "prune", "list"])), None);
        assert_eq!(refuse(&args(&["worldkeep", "--", "prune"])), None);
        assert_eq!(refuse(&args(&["worldkeep", "./prune"])), None);
        assert_eq!(refuse(&args(&["worldkeep", "list", "prune"])), None);
        assert_eq!(refuse(&args(&["worldkeep"])), None);
    }
}
