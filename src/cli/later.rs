use std::ffi::OsString;

use super::failure::Failure;

/// Commands that are planned and not in this version, so that nobody takes one for the name of a folder.
const LATER: &[&str] = &[
    "backup", "copy", "delete", "history", "map", "pin", "prune", "purge", "recover", "rename", "restore", "undo",
    "watch",
];

/// What to say when the first plain word of the arguments is a command of a later version.
pub(super) fn refuse(args: &[OsString]) -> Option<Failure> {
    let word = args.iter().skip(1).find(|arg| !arg.as_encoded_bytes().starts_with(b"-"))?.to_str()?;
    LATER.contains(&word).then(|| {
        Failure::usage(format!("This version does not have the command `{word}` yet."))
            .hint("It has list, show, verify and compare; see `worldkeep --help`.")
            .hint(format!("If you mean a file or folder of that name, write ./{word}."))
    })
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
        assert_eq!(refuse(&args(&["worldkeep", "./restore"])), None);
        assert_eq!(refuse(&args(&["worldkeep", "list", "restore"])), None);
        assert_eq!(refuse(&args(&["worldkeep"])), None);
    }
}
