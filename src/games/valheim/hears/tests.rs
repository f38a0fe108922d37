use super::{MOST, hears};
use crate::model::Severity;

const PREFIXES: &[&str] = &[
    "",
    "12/01/2026 04:27:00: ",
    "12/01/2026 04:27:00:   ",
    "Dec 01 04:27:00 host valheim_server.x86_64[812]: ",
    "Dec  1 04:27:00 host valheim_server.x86_64[812]: 12/01/2026 04:27:00: ",
    "Mar 25 19:45:38 /supervisord: valheim-server 12/01/2026 04:27:00: ",
    "[Info   : Unity Log] 12/01/2026 04:27:00: ",
    "[Error  : Unity Log] ",
    "2026-12-01T04:27:00.000000000Z ",
    "2026-12-01T04:27:00.000000000Z [Info   : Unity Log] ",
];

#[test]
fn each_event_is_heard_behind_every_prefix() {
    for (words, event, severity, world) in [
        ("ZNet.LoadOldWorld done [271ms]", "old-format-loaded", Severity::Warning, None),
        ("ZNet.LoadWorld: Midgard (Midgard), save number 30", "world-loading", Severity::Note, Some("Midgard")),
        (
            "ZNet.LoadWorld: a (b) (c), save number 3 (d), save number 4",
            "world-loading",
            Severity::Note,
            Some("a (b) (c), save number 3"),
        ),
        ("Load world My World", "world-loading", Severity::Note, Some("My World")),
        (
            "ZDOMan.LoadChunks - Starting to load 38.757 zdos from 4 Chunks. SessionID: -1, WorldVersion: 41 [DeepNorth]",
            "objects-loading",
            Severity::Note,
            None,
        ),
        ("Loading 77504 zdos , my id 1234 data version:29", "objects-loading", Severity::Note, None),
        ("missing /srv/v/worlds_local/Midgard/_main.17.db2", "data-missing", Severity::Error, Some("Midgard")),
        ("missing _main.17.db2", "data-missing", Severity::Error, None),
        ("missing C:/Users/x/worlds_local/Midgard/_main.0.db2", "new-world", Severity::Note, Some("Midgard")),
        ("missing world.dat", "data-missing", Severity::Error, None),
        ("missing /srv/v/worlds_local/Midgard.db", "data-missing", Severity::Error, Some("Midgard")),
        ("incompatible data version 43", "version-refused", Severity::Error, None),
        (
            "Exception while loading world /srv/v/worlds/Old.db:System.IO.EndOfStreamException: x.db: y",
            "load-failed",
            Severity::Error,
            Some("Old"),
        ),
        ("World save (5/5) FAILED. Total time [12ms]", "save-failed", Severity::Error, None),
        (
            "Error saving world! The file 'Midgard_backup_20260909-180000.fwl' already exists",
            "save-failed",
            Severity::Error,
            None,
        ),
        ("Error saving world! Failed to mount!", "save-failed", Severity::Error, None),
        (
            "Error saving world! Access to the path \"/srv/v/worlds_local/My World/00_00__0_3.chunk\" is denied.  StackTrace:   at System.IO",
            "access-denied",
            Severity::Error,
            Some("My World"),
        ),
        (
            "System.UnauthorizedAccessException: Access to the path '/srv/v/worlds/Old.db.new' is denied.",
            "access-denied",
            Severity::Error,
            Some("Old"),
        ),
        ("Removing orphan save file _main.16.db2", "orphan-save-removed", Severity::Warning, None),
        (
            "Removing orphan CHUNK file: C:/x/worlds_local/M/20_1e__1_18.chunk",
            "orphan-chunk-removed",
            Severity::Warning,
            Some("M"),
        ),
        ("World save (5/5) done. Total time [1,234ms]", "save-written", Severity::Note, None),
        ("World saved ( 198.5ms )", "save-written", Severity::Note, None),
    ] {
        for prefix in PREFIXES {
            let heard = hears(&format!("{prefix}{words}")).unwrap_or_else(|| panic!("{prefix}{words}"));
            assert_eq!(
                (heard.event, heard.severity, heard.world.as_deref()),
                (event, severity, world),
                "{prefix}{words}"
            );
        }
    }
}

#[test]
fn the_one_way_conversion_is_told_in_its_words() {
    assert_eq!(
        hears("ZNet.LoadOldWorld done").unwrap().text,
        "This world is in the old format. The next save converts it to the 1.0 format and keeps the old files as a \
         backup. Older servers will not be able to load it afterwards."
    );
}

#[test]
fn what_is_loaded_is_told_with_its_save_and_its_objects_however_thousands_are_grouped() {
    assert_eq!(hears("ZNet.LoadWorld: M (Inner), save number 30").unwrap().generation, Some(30));
    for number in ["77504", "77,504", "77.504", "77\u{a0}504", "77 504", "77’504"] {
        let line = format!("ZDOMan.LoadChunks - Starting to load {number} zdos from 4 Chunks.");
        assert_eq!(hears(&line).unwrap().objects, Some(77_504), "{number}");
    }
    assert_eq!(hears("missing _main.17.db2").unwrap().generation, Some(17));
}

#[test]
fn a_fresh_world_in_the_place_of_one_is_told_with_the_way_back() {
    for line in ["missing _main.17.db2", "missing world.dat", "incompatible data version 43"] {
        let text = hears(line).unwrap().text;
        assert!(text.contains("fresh"), "{text}");
        assert!(text.contains("restore the newest whole layer") && text.contains("worldkeep undo"), "{text}");
    }
}

#[test]
fn a_save_that_failed_warns_of_stopping_the_server() {
    let text = hears("Error saving world! Disk full. Path '/srv/v/worlds_local/M/_main.3.db2'").unwrap().text;
    assert!(text.starts_with("The server could not save M: \"Disk full."), "{text}");
    assert!(text.contains("do not stop it"), "{text}");
}

#[test]
fn ordinary_lines_say_nothing() {
    for line in [
        "",
        "World save (1/5) Cloud & Backup checks done [0ms] => Save number 32",
        "World save (4/5) FWL writing done [1ms]",
        "World save (5/5)",
        "Got connection SteamID 1",
        "Missing audio clip in music respawn",
        "missing texture wood.db2",
        "missing _main..db2",
        "missing _main.1x.db2",
        "missing ",
        "Loading screen",
        "Loading , zdos",
        "Load world ",
        "ZNet.LoadWorld: M (M), save number x",
        "incompatible data version new",
        "The referenced script on this Behaviour (Game Object '<null>') is missing!",
        "Access to the path '/etc/machine-id' is denied.",
        "Access to the path '/srv/v/worlds_local/Midgard.db'",
        "ZNet.LoadWorld",
    ] {
        for prefix in PREFIXES {
            assert_eq!(hears(&format!("{prefix}{line}")), None, "{prefix}{line}");
        }
    }
}

#[test]
fn a_player_whose_name_is_a_line_of_the_game_says_nothing() {
    for words in ["ZNet.LoadOldWorld done", "missing _main.17.db2", "World save (5/5) FAILED", "Error saving world! x"]
    {
        for name in
            [words.to_owned(), format!(": {words}"), format!("] {words}"), format!("12/01/2026 04:27:00: {words}")]
        {
            let line = format!("12/01/2026 04:27:00: Got character ZDOID from {name} : 12:1");
            assert_eq!(hears(&line), None, "{line}");
        }
    }
}

#[test]
fn what_a_line_holds_cannot_steer_a_terminal_and_a_long_one_is_cut() {
    let heard = hears("Access to the path '/srv/worlds_local/A\u{1b}[31m/_main.1.ok' is denied").unwrap();
    assert!(!heard.text.contains('\u{1b}'), "{}", heard.text);
    assert!(hears(&format!("ZNet.LoadOldWorld done{}", "é".repeat(MOST))).is_some());
    let long = format!("{} is denied", "x".repeat(MOST));
    assert_eq!(hears(&format!("Access to the path '/srv/worlds_local/{long}")), None);
}

#[test]
fn no_line_of_any_bytes_harms() {
    let mut state = 1_u64;
    let alphabet: Vec<char> =
        "/:[] 0123dé\u{1b}missing_main.db2LoadworldError saving world! save number (5/5)zdos".chars().collect();
    for length in 0..400 {
        let line: String = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]
            })
            .collect();
        if let Some(heard) = hears(&line) {
            assert!(!heard.text.contains('\u{1b}'));
        }
    }
}
