//! What the server's own output says about its saves, in the game's words; whatever stands before them is passed over.
//!
//! Sources: lines that owners of servers reported, of 1.0 servers. Only those whose wording is known are here: a guess
//! would be an alarm at night about nothing.

use crate::model::{Heard, Severity, shown};

/// The most bytes of a line that are looked at; a line of the server about a file is far shorter.
const MOST: usize = 4096;

/// What a save file of the game ends in.
const ENDINGS: &[&str] = &[".chunk", ".chunks", ".db", ".db2", ".fwl", ".fwl2", ".ok"];

/// What a line says; nothing for the ordinary ones.
pub(super) fn hears(line: &str) -> Option<Heard> {
    let line = cut(line);
    if line.contains("ZNet.LoadOldWorld done") {
        return Some(heard("old-format-loaded", Severity::Warning, None, |world| {
            format!(
                "{world} is in the old format. The next save converts it to the 1.0 format and keeps the old files as a \
                 backup. Older servers will not be able to load it afterwards."
            )
        }));
    }
    if let Some(path) = between(line, "Access to the path ", " is denied") {
        let path = path.trim_matches(['"', '\'']);
        return is_save(path).then(|| {
            heard("access-denied", Severity::Error, world_of(path), |_| {
                format!(
                    "The server may not use '{}', so its saves fail. Give the file and its folder to the user that the \
                     server runs as.",
                    shown(path)
                )
            })
        });
    }
    if let Some(path) = missing(line) {
        return Some(heard("data-missing", Severity::Error, world_of(path), |world| {
            format!(
                "{world} was loaded without '{}'. The server makes a fresh world of the same seed and will save it over \
                 this one. Stop the server without a save, and restore the newest whole layer; after a restore, \
                 `worldkeep undo` brings back what was there before.",
                shown(path)
            )
        }));
    }
    for (words, event) in
        [("Removing orphan save file", "orphan-save-removed"), ("Removing orphan CHUNK file", "orphan-chunk-removed")]
    {
        if let Some(path) = after(line, words) {
            let path = path.trim_start_matches(':').trim().trim_matches(['"', '\'']);
            return Some(heard(event, Severity::Warning, world_of(path), |world| {
                let what = if path.is_empty() { "a file".to_owned() } else { format!("'{}'", shown(path)) };
                format!(
                    "The server removed {what} for good, since the save that it loaded does not name it. If {} lost \
                     something, stop the server and look with `worldkeep show` for a whole layer.",
                    lower(world)
                )
            }));
        }
    }
    line.contains("World save (5/5)")
        .then(|| heard("save-written", Severity::Note, None, |_| "The server says that it wrote the world.".to_owned()))
}

fn heard(event: &'static str, severity: Severity, world: Option<&str>, text: impl Fn(&str) -> String) -> Heard {
    let name = world.map_or_else(|| "This world".to_owned(), shown);
    Heard { event, severity, world: world.map(str::to_owned), text: text(&name) }
}

/// A world's name as it is, and the words for one without a name as they stand inside a sentence.
fn lower(world: &str) -> &str {
    if world == "This world" { "this world" } else { world }
}

/// The start of a line, up to a whole character.
fn cut(line: &str) -> &str {
    let mut end = line.len().min(MOST);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default()
}

fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.split_once(words).map(|(_, rest)| rest.trim())
}

fn between<'a>(line: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(behind).map(|(path, _)| path.trim())
}

/// The path of a generation's data in "missing …/_main.N.db2".
fn missing(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("missing ")?;
    let end = rest.find(".db2")? + ".db2".len();
    let path = rest.get(..end)?.trim_matches(['"', '\'']);
    let name = path.rsplit(['/', '\\']).next()?;
    let number = name.strip_prefix("_main.")?.strip_suffix(".db2")?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(path)
}

fn is_save(path: &str) -> bool {
    let name = path.strip_suffix(".new").or_else(|| path.strip_suffix(".old")).unwrap_or(path);
    world_of(path).is_some() || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The world that a path names: what lies in a folder of worlds.
fn world_of(path: &str) -> Option<&str> {
    let mut parts = path.split(['/', '\\']).skip_while(|part| !matches!(*part, "worlds_local" | "worlds"));
    parts.next()?;
    let name = parts.next()?;
    let name = name.strip_suffix(".new").or_else(|| name.strip_suffix(".old")).unwrap_or(name);
    let name = name.strip_suffix(".db").or_else(|| name.strip_suffix(".fwl")).unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{MOST, hears};
    use crate::model::Severity;

    const PREFIXES: &[&str] = &[
        "",
        "12/01/2026 04:27:00: ",
        "Dec 01 04:27:00 host valheim_server.x86_64[812]: ",
        "[Info   : Unity Log] 12/01/2026 04:27:00: ",
        "2026-12-01T04:27:00.000000000Z ",
    ];

    #[test]
    fn each_event_is_heard_behind_every_prefix() {
        for (words, event, severity, world) in [
            ("ZNet.LoadOldWorld done", "old-format-loaded", Severity::Warning, None),
            ("missing /srv/v/worlds_local/Midgard/_main.17.db2", "data-missing", Severity::Error, Some("Midgard")),
            ("missing _main.17.db2", "data-missing", Severity::Error, None),
            (
                "System.UnauthorizedAccessException: Access to the path \"/srv/v/worlds_local/My World/00_00__0_3.chunk\" is denied.",
                "access-denied",
                Severity::Error,
                Some("My World"),
            ),
            ("Access to the path '/srv/v/worlds/Old.db.new' is denied.", "access-denied", Severity::Error, Some("Old")),
            ("Removing orphan save file _main.16.db2", "orphan-save-removed", Severity::Warning, None),
            ("Removing orphan CHUNK file: 00_00__0_3.chunk", "orphan-chunk-removed", Severity::Warning, None),
            ("World save (5/5)", "save-written", Severity::Note, None),
        ] {
            for prefix in PREFIXES {
                let heard = hears(&format!("{prefix}{words}")).unwrap_or_else(|| panic!("{prefix}{words}"));
                assert_eq!((heard.event, heard.severity, heard.world.as_deref()), (event, severity, world), "{words}");
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
    fn a_fresh_world_in_the_place_of_one_is_told_with_the_way_back() {
        let text = hears("missing _main.17.db2").unwrap().text;
        assert!(text.contains("fresh world of the same seed"), "{text}");
        assert!(text.contains("restore the newest whole layer") && text.contains("worldkeep undo"), "{text}");
    }

    #[test]
    fn ordinary_lines_say_nothing() {
        for line in [
            "",
            "World save (1/5)",
            "World save (4/5)",
            "Got connection SteamID 1",
            "missing texture wood.db2",
            "missing _main..db2",
            "missing _main.1x.db2",
            "missing ",
            "Access to the path '/etc/machine-id' is denied.",
            "Access to the path '/srv/v/worlds_local/Midgard.db'",
            "ZNet.LoadWorld",
        ] {
            assert_eq!(hears(line), None, "{line}");
        }
    }

    #[test]
    fn what_a_line_holds_cannot_steer_a_terminal_and_a_long_one_is_cut() {
        let heard = hears("Access to the path '/srv/worlds_local/A\u{1b}[31m/_main.1.ok' is denied").unwrap();
        assert!(!heard.text.contains('\u{1b}'), "{}", heard.text);
        let long = format!("{}ZNet.LoadOldWorld done", "é".repeat(MOST));
        assert_eq!(hears(&long), None);
        assert!(hears(&format!("xZNet.LoadOldWorld done{}", "é".repeat(MOST))).is_some());
    }
}
