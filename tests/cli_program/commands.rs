//! What the commands print and how they end.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::help::snapshots;
use crate::house::{House, layers};

#[test]
fn the_exit_status_says_what_became_of_a_check() {
    let table: &[(&str, i32)] = &[
        ("folder-sound", 0),
        ("pair-v36", 0),
        ("archive-zip.zip", 0),
        ("chunks-overlap", 0),
        ("pair-cut", 1),
        ("pair-empty-data", 1),
        ("data-bit-turned", 1),
        ("chunk-missing", 1),
        ("newest-incomplete", 1),
        ("pair-newer", 6),
        ("folder-newer", 6),
        ("never-played", 6),
        ("backup-unsaved", 6),
    ];
    let house = House::with_fixtures(&table.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, code) in table {
        let run = house.run(&["verify", name]);
        assert_eq!(run.code, Some(*code), "{name}: {}{}", run.out, run.err);
        let listed = house.run(&["list", name]);
        assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""), "listing {name} works whatever it is like");
    }
    // Damage outranks what could not be checked.
    assert_eq!(house.run(&["verify", "folder-newer", "pair-cut"]).code, Some(1));
    assert_eq!(house.run(&["verify", "folder-newer", "folder-sound"]).code, Some(6));
    assert_eq!(house.run(&["verify", "folder-sound", "pair-v36"]).code, Some(0));
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_to_do() {
    let house = House::with_fixtures(&["folder-sound"]);
    let table: &[(&[&str], &str)] = &[
        (&["--bogus"], "unexpected argument '--bogus'"),
        (&["show"], "required arguments"),
        (&["compare", "folder-sound"], "required arguments"),
        (&["list", "--game", "valhiem"], "Did you mean valheim?"),
        (&["list", "--color", "sometimes"], "possible values: auto, always, never"),
        (&["completions", "tcl"], "possible values"),
        (&["prune", "valheim/Midgard"], "This version does not have the command `prune` yet."),
        (&["map", "--yes", "valheim/Midgard"], "This version does not have the command `map` yet."),
        (&["list", "--config", "gone.toml"], "The configuration file is not there."),
        (&["--demo", "folder-sound"], "cannot be used with"),
        (&[], "worldkeep list"),
        (&["folder-sound"], "worldkeep list"),
    ];
    for (args, words) in table {
        let run = house.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}: {}", run.err);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
}

#[test]
fn what_is_not_there_ends_with_3() {
    let house = House::with_fixtures(&["folder-sound"]);
    std::fs::create_dir(house.path("empty")).unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["list", "gone"], "[HOUSE]/cur/gone: not there."),
        (&["list", "empty"], "[HOUSE]/cur/empty: no save that is known here."),
        (&["list", "folder-sound", "gone"], "[HOUSE]/cur/gone: not there."),
        (&["show", "empty"], "empty holds no save that is known here."),
        (&["verify", "gone"], "There is no file, folder, world or layer \"gone\"."),
        (&["verify", "gone/Midgard@live"], "There is no file, folder, world or layer"),
        (&["lst"], "Did you mean `worldkeep list`?"),
        (&["./restore"], "There is no file or folder \"./restore\"."),
        (&["delte"], "Did you mean `worldkeep delete`?"),
    ];
    for (args, words) in table {
        let run = house.run(args);
        assert_eq!(run.code, Some(3), "{args:?}: {}", run.err);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_list_of_nothing_says_where_it_looked() {
    let run = House::new().run(&["list"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    assert!(run.err.starts_with("worldkeep: No saves found.\n"), "{}", run.err);
    assert!(run.err.contains("IronGate/Valheim: not there.\n"), "{}", run.err);
    assert!(run.err.contains("Name a folder with saves: worldkeep list PATH."), "{}", run.err);
}

#[test]
fn the_texts_are_what_they_were() {
    let house = House::with_fixtures(&["every-kind-of-backup", "newest-incomplete", "pair-hidden"]);
    snapshots().bind(|| {
        let text = |args: &[&str]| {
            let run = house.run(args);
            insta_free_space(&format!("{}-- stderr\n{}-- exit {:?}\n", run.out, run.err, run.code))
        };
        assert_snapshot!("list", text(&["list", "every-kind-of-backup", "newest-incomplete", "pair-hidden"]));
        assert_snapshot!("list-ascii", text(&["list", "--ascii", "newest-incomplete"]));
        assert_snapshot!("list-color", text(&["list", "--color", "always", "newest-incomplete"]));
        assert_snapshot!("show", text(&["show", "newest-incomplete"]));
        assert_snapshot!("verify", text(&["verify", "every-kind-of-backup", "newest-incomplete"]));
        assert_snapshot!("verify-quiet", text(&["verify", "--quiet", "every-kind-of-backup", "newest-incomplete"]));
        assert_snapshot!("compare", text(&["compare", "every-kind-of-backup", "newest-incomplete"]));
        assert_snapshot!("keys", text(&["keys"]));
        assert_snapshot!("themes", text(&["themes"]));
    });
}

/// Free space is the one thing in these texts that belongs to the machine.
fn insta_free_space(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" · ").or_else(|| line.rsplit_once(" - ")) {
        Some((before, last)) if last.trim_end_matches("\u{1b}[0m").ends_with(" free") => before.to_owned(),
        _ => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn quiet_prints_nothing_when_everything_is_whole() {
    let house = House::with_fixtures(&["folder-sound"]);
    let run = house.run(&["verify", "-q", "folder-sound"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""));
}

#[test]
fn text_is_cut_and_broken_at_the_width_that_columns_says() {
    use unicode_width::UnicodeWidthStr as _;
    let house = House::with_fixtures(&["newest-incomplete"]);
    for args in [["list", "newest-incomplete"], ["show", "newest-incomplete"]] {
        let run = house.finish(house.command().env("COLUMNS", "60").args(args));
        let long: Vec<_> = run.out.lines().filter(|line| line.width() > 60 && line.contains(' ')).collect();
        // A path is one word, and a word is never broken.
        let long: Vec<_> =
            long.into_iter().filter(|l| !l.contains("[HOUSE]") && !l.contains("worlds_local/")).collect();
        assert!(long.is_empty(), "{long:#?}");
        assert!(run.out.lines().count() > 3);
    }
}

#[test]
fn colour_goes_to_terminals_only_unless_it_is_asked_for() {
    let house = House::with_fixtures(&["folder-sound"]);
    let colored = |args: &[&str], no_color: &str| {
        house.finish(house.command().env("NO_COLOR", no_color).args(args)).out.contains('\u{1b}')
    };
    assert!(!colored(&["list", "folder-sound"], ""));
    assert!(colored(&["list", "--color=always", "folder-sound"], ""));
    assert!(colored(&["list", "--color=always", "folder-sound"], "1"), "an argument is stronger than a variable");
    assert!(!colored(&["list", "--color=never", "folder-sound"], ""));
}

#[test]
fn ascii_prints_nothing_else() {
    let house = House::with_fixtures(&["every-kind-of-backup", "newest-incomplete"]);
    for command in ["list", "verify", "show"] {
        let run = house.finish(house.command().env("LANG", "C").args([command, "newest-incomplete"]));
        assert!(run.out.is_ascii(), "{command}: {}", run.out);
    }
}

#[test]
fn a_closed_pipe_is_no_failure_and_no_noise() {
    let house = House::with_fixtures(&["every-kind-of-backup", "pair-cut"]);
    for (args, code) in [
        (vec!["list", "every-kind-of-backup"], 0),
        (vec!["--json", "show", "every-kind-of-backup"], 0),
        (vec!["verify", "pair-cut"], 1),
        (vec!["man"], 0),
        (vec!["--help"], 0),
        (vec!["completions", "bash"], 0),
    ] {
        let mut child = house.command().args(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let house = House::with_fixtures(&["folder-sound"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = house.finish(house.command().args(["list", "folder-sound"]).stdout(full).stderr(Stdio::piped()));
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("Standard output could not be written"), "{}", run.err);
}

#[test]
fn the_demo_without_a_terminal_prints_the_list_and_is_found_again() {
    let house = House::new();
    let first = house.run(&["--demo=demo"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(first.err.contains("The demo saves are in [HOUSE]/cur/demo"), "{}", first.err);
    assert!(first.out.contains("demo/Midgard"), "{}", first.out);
    let (document, code) = house.json(&["--demo=demo"]);
    assert_eq!(code, Some(0));
    assert_eq!(document["profiles"][0]["found"], "demo");
    let own = house.path("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("thesis.txt"), "mine").unwrap();
    let refused = house.run(&["--demo=own"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("holds other files"), "{}", refused.err);
}

#[test]
fn a_log_is_written_only_where_it_is_asked_for() {
    let house = House::with_fixtures(&["folder-sound"]);
    assert_eq!(house.run(&["list", "folder-sound"]).code, Some(0));
    assert!(!house.path("x.log").exists());
    assert_eq!(
        house.finish(house.command().env("WORLDKEEP_LOG", "x.log").args(["list", "folder-sound"])).code,
        Some(0)
    );
    let log = std::fs::read_to_string(house.path("x.log")).unwrap();
    assert!(log.contains("started") && log.contains("scanned"), "{log}");
    let refused = house.run(&["list", "folder-sound", "--log", "no/such/folder/x.log"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("could not be opened"), "{}", refused.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130() {
    use std::io::Read as _;

    use rustix::process::{Pid, Signal, kill_process};

    let house = House::new();
    for number in 0..60 {
        house.fixture("folder-sound/worlds_local/Midgard", &format!("many/worlds_local/World{number:02}"));
    }
    // The document is larger than a pipe and its first byte is read: the program stands in a write, with its
    // handler in place, for as long as it takes.
    let mut child = house.command().args(["--json", "show", "many"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0]).unwrap();
    let pid = Pid::from_child(&child);
    let mut status = None;
    for _ in 0..1000 {
        let _ = kill_process(pid, Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(10));
        status = child.try_wait().unwrap();
        if status.is_some() {
            break;
        }
    }
    let _ = child.kill();
    assert_eq!(status.and_then(|status| status.code()), Some(130));
}

/// A command that runs without privileges, also where the tests run as root; none where that cannot be.
#[cfg(unix)]
pub(crate) fn unprivileged(house: &House) -> Option<std::process::Command> {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    let mut command = house.command();
    if rustix::process::geteuid().is_root() {
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(house.path("..").canonicalize().unwrap(), open).unwrap();
        command.uid(65_534).gid(65_534);
        if !command.arg("-V").output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: running as root, and another user cannot run the program");
            return None;
        }
        command = house.command();
        command.uid(65_534).gid(65_534);
    }
    Some(command)
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_neither_damaged_nor_empty() {
    use std::os::unix::fs::PermissionsExt as _;

    let house = House::with_fixtures(&["folder-sound", "pair-v36"]);
    let lock = |name: &str| {
        std::fs::set_permissions(house.path(name), std::fs::Permissions::from_mode(0o000)).unwrap();
    };
    lock("folder-sound/worlds_local/Midgard");
    lock("pair-v36/worlds_local/Midgard.db");
    for name in ["folder-sound", "pair-v36"] {
        let Some(mut command) = unprivileged(&house) else { return };
        let run = house.finish(command.args(["verify", name]));
        assert_eq!(run.code, Some(6), "{name}: {}{}", run.out, run.err);
        assert!(run.out.contains("not readable"), "{name}: {}{}", run.out, run.err);
    }
    lock("folder-sound");
    for args in [["list", "folder-sound"], ["verify", "folder-sound"], ["show", "folder-sound"]] {
        let Some(mut command) = unprivileged(&house) else { return };
        let run = house.finish(command.args(args));
        assert_eq!((run.code, run.out.as_str()), (Some(6), ""), "{args:?}: {}{}", run.out, run.err);
        assert!(run.err.contains("folder-sound"), "{args:?}: {}", run.err);
    }
    std::fs::set_permissions(house.path("folder-sound"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(house.path("folder-sound/worlds_local/Midgard"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
}

#[test]
fn a_target_that_is_gone_does_not_keep_the_others_from_being_checked() {
    let house = House::with_fixtures(&["folder-sound", "pair-cut"]);
    for (targets, code) in
        [(["folder-sound", "gone"], 3), (["gone", "pair-cut"], 1), (["gone/Midgard@live", "folder-sound"], 3)]
    {
        let run = house.run(&["verify", "--quiet", targets[0], targets[1]]);
        assert_eq!(run.code, Some(code), "{targets:?}: {}", run.err);
        assert!(run.err.contains("There is no file, folder, world or layer \"gone"), "{targets:?}: {}", run.err);
        assert_eq!(run.out.contains("pair-cut/Midgard@live"), code == 1, "{targets:?}: {}", run.out);
        let (document, _) = house.json(&["verify", targets[0], targets[1]]);
        assert_eq!(layers(&document).len(), 1, "{targets:?}");
    }
    let run = house.run(&["verify", "gone", "nowhere"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    assert!(run.err.contains("\"gone\"") && run.err.contains("\"nowhere\""), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn a_folder_on_the_way_that_may_not_be_read_is_told_and_ends_with_6() {
    use std::os::unix::fs::PermissionsExt as _;

    let house = House::with_fixtures(&["folder-sound", "pair-v36"]);
    let mode = |mode| std::fs::set_permissions(house.path("pair-v36"), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    for args in [&["verify", "-q", "."][..], &["list", "."], &["show", "."], &["verify", "folder-sound", "pair-v36"]] {
        let Some(mut command) = unprivileged(&house) else { return mode(0o755) };
        let run = house.finish(command.args(args));
        assert_eq!(run.code, Some(6), "{args:?}: {}{}", run.out, run.err);
        assert_eq!(run.err.matches("pair-v36").count(), 1, "{args:?}: {}", run.err);
    }
    for name in ["pair-v36/worlds_local/Midgard.db", "pair-v36/worlds_local"] {
        let Some(mut command) = unprivileged(&house) else { return mode(0o755) };
        let run = house.finish(command.args(["verify", name]));
        assert_eq!((run.code, run.out.as_str()), (Some(6), ""), "{name}: {}", run.err);
        assert!(run.err.contains("may not be entered"), "{name}: {}", run.err);
    }
    mode(0o755);
}

#[test]
fn a_list_says_that_only_headers_were_looked_at() {
    let house = House::with_fixtures(&["pair-cut"]);
    let run = house.run(&["list", "pair-cut"]);
    assert!(run.out.contains("whole\n"), "a cut is seen by a full check only: {}", run.out);
    assert!(
        run.out.ends_with("\nOnly names, sizes and headers were looked at; `worldkeep verify` reads everything.\n"),
        "{}",
        run.out
    );
    assert!(!house.run(&["list", "-q", "pair-cut"]).out.contains("headers"));
}

#[test]
fn a_narrow_list_cuts_words_and_never_numbers_or_verdicts() {
    let house = House::with_fixtures(&["every-kind-of-backup"]);
    for columns in ["60", "80", "200"] {
        let run = house.finish(house.command().env("COLUMNS", columns).args(["list", "every-kind-of-backup"]));
        assert!(run.out.lines().all(|line| line.chars().count() <= columns.parse().unwrap()), "{}", run.out);
        let layers: Vec<_> = run.out.lines().filter(|line| line.contains(" day 12 ")).collect();
        assert_eq!(layers.len(), 7, "{}", run.out);
        assert!(layers.iter().all(|line| line.ends_with("  whole") && line.contains(" KiB ")), "{}", run.out);
    }
}

#[test]
fn the_keys_of_operations_are_there_and_gone_when_nothing_may_be_changed() {
    let operations = |args: &[&str]| {
        let (keys, _) = House::new().json(args);
        let actions = keys["actions"].as_array().unwrap();
        assert!(actions.iter().all(|action| action["available"] == true), "{keys}");
        let of = actions.iter().filter(|action| action["operation"] == true);
        of.map(|action| action["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(operations(&["keys"]), ["mark", "restore", "copy", "rename", "backup", "delete", "undo", "purge"]);
    assert_eq!(operations(&["keys", "--read-only"]), Vec::<String>::new());
}
