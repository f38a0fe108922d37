//! Help, manual page and completions: what is printed is part of the interface.

use insta::{Settings, assert_snapshot};

use crate::house::House;

pub(crate) fn snapshots() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/cli"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

const COMMANDS: [&str; 18] = [
    "list",
    "show",
    "verify",
    "compare",
    "backup",
    "restore",
    "copy",
    "rename",
    "delete",
    "undo",
    "history",
    "purge",
    "recover",
    "config",
    "keys",
    "themes",
    "completions",
    "man",
];

fn printed(args: &[&str]) -> String {
    let run = House::new().run(args);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{args:?}");
    run.out
}

#[test]
fn help_is_what_it_was() {
    snapshots().bind(|| {
        assert_snapshot!("help-short", printed(&["-h"]));
        assert_snapshot!("help-long", printed(&["--help"]));
        for command in COMMANDS {
            assert_snapshot!(format!("help-{command}"), printed(&[command, "-h"]));
        }
    });
}

#[test]
fn the_manual_page_is_what_it_was() {
    snapshots().bind(|| assert_snapshot!("man", printed(&["man"])));
}

#[test]
fn every_command_and_flag_is_completed_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for word in COMMANDS {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
        for flag in [
            "json",
            "no-config",
            "root",
            "game",
            "read-only",
            "color",
            "ascii",
            "quiet",
            "demo",
            "dry-run",
            "yes",
            "accept",
        ] {
            assert!(script.contains(flag), "{shell} lacks --{flag}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    for flag in ["-V", "--version"] {
        assert_eq!(printed(&[flag]), format!("worldkeep {}\n", env!("CARGO_PKG_VERSION")));
    }
}
