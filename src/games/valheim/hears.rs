//! What the server's own output says about its saves, in the game's words.
//!
//! Sources: lines that owners of servers reported, the formats of lines that tools for servers are tested with, and, for
//! builds before 1.0, the game's own formats as decompilers show them; `docs/formats/valheim.md` lists each. Only lines
//! whose wording is known are here: a guess would be an alarm at night about nothing.
//!
//! A player may be called anything, and the server prints names. So the words count only at the start of what the game
//! says, behind its own stamp or what a collector of logs puts in front.

use std::path::Path;

use crate::model::{Heard, Severity, shown};

#[cfg(test)]
mod tests;

/// The most bytes of a line that are looked at; a line of the server about a file is far shorter.
const MOST: usize = 4096;

/// What a save file of the game ends in.
const ENDINGS: &[&str] = &[".chunk", ".chunks", ".db", ".db2", ".fwl", ".fwl2", ".ok"];

/// What a line says; nothing for the ordinary ones.
pub(super) fn hears(line: &str) -> Option<Heard> {
    let said = said(cut(line));
    loading(said).or_else(|| lost(said)).or_else(|| saving(said)).or_else(|| removing(said)).or_else(|| denied(said))
}

/// The server begins to load a world, or tells what it loads.
fn loading(said: &str) -> Option<Heard> {
    if said.starts_with("ZNet.LoadOldWorld done") {
        return Some(heard("old-format-loaded", Severity::Warning, None, |world| {
            format!(
                "{world} is in the old format. The next save converts it to the 1.0 format and keeps the old files as a \
                 backup. Older servers will not be able to load it afterwards."
            )
        }));
    }
    if let Some(rest) = said.strip_prefix("ZNet.LoadWorld: ") {
        // `NAME (INNER), save number N`; the name may hold anything, so the number is read from the end.
        let (names, number) = rest.rsplit_once(", save number ")?;
        let generation = number.trim().parse().ok()?;
        let world = names.rsplit_once(" (").map_or(names, |(name, _)| name);
        let mut heard = heard("world-loading", Severity::Note, Some(world), |world| {
            format!("The server loads save {generation} of {world}.")
        });
        heard.generation = Some(generation);
        return Some(heard);
    }
    if let Some(world) = said.strip_prefix("Load world ") {
        let world = world.trim();
        let text = |world: &str| format!("The server loads {world}.");
        return (!world.is_empty()).then(|| heard("world-loading", Severity::Note, Some(world), text));
    }
    let objects = said
        .strip_prefix("ZDOMan.LoadChunks - Starting to load ")
        .or_else(|| said.strip_prefix("Loading "))
        .and_then(|rest| rest.split_once(" zdos"))
        .and_then(|(number, _)| grouped(number))?;
    let count = crate::model::human::count(i64::try_from(objects).unwrap_or(i64::MAX));
    let mut heard =
        heard("objects-loading", Severity::Note, None, |world| format!("{world} is loaded with {count} objects."));
    heard.objects = Some(objects);
    Some(heard)
}

/// The server goes on without what should have been loaded.
fn lost(said: &str) -> Option<Heard> {
    let way_back = "Stop the server without a save, and restore the newest whole layer; after a restore, `worldkeep undo` \
                    brings back what was there before.";
    if let Some(path) = said.strip_prefix("missing ").map(|path| path.trim().trim_matches(['"', '\''])) {
        let number = generation_of(path);
        if number == Some(0) {
            // What the menu makes of a new world: metadata alone.
            return Some(heard("new-world", Severity::Note, world_of(path), |world| {
                format!("{world} is new: the server makes it from its seed.")
            }));
        }
        let old = path == "world.dat" || Path::new(path).extension().is_some_and(|ending| ending == "db");
        return (number.is_some() || old).then(|| {
            let mut heard = heard("data-missing", Severity::Error, world_of(path), |world| {
                let unless = if old { " (as it should be if it is new)" } else { "" };
                format!(
                    "{world} was loaded without '{}'{unless}. The server makes a fresh world of the same seed and will save \
                     it over this one. {way_back}",
                    shown(path)
                )
            });
            heard.generation = number;
            heard
        });
    }
    if let Some(version) = said.strip_prefix("incompatible data version ") {
        let version: i64 = version.trim().parse().ok()?;
        return Some(heard("version-refused", Severity::Error, None, |world| {
            format!(
                "This server does not know version {version}, in which {} was saved, and goes on with a fresh one. {way_back}",
                lower(world)
            )
        }));
    }
    let rest = said.strip_prefix("Exception while loading world ")?;
    let path = ENDINGS
        .iter()
        .filter_map(|end| rest.get(..rest.find(&format!("{end}:"))? + end.len()))
        .min_by_key(|path| path.len());
    Some(heard("load-failed", Severity::Error, path.and_then(world_of), |world| {
        let what = path.map_or_else(|| world.to_owned(), |path| format!("'{}'", shown(path)));
        format!(
            "The server could not read {what} to its end, and ends without a save; what starts it again will meet the same. \
             Look at it with `worldkeep verify`, and restore the newest whole layer."
        )
    }))
}

/// A save that was written, or was not.
fn saving(said: &str) -> Option<Heard> {
    if said.starts_with("World save (5/5) done") || said.starts_with("World saved (") {
        let text = |world: &str| format!("The server says that it saved {}.", lower(world));
        return Some(heard("save-written", Severity::Note, None, text));
    }
    let why = match said.strip_prefix("Error saving world!") {
        Some(why) => why.trim().split("StackTrace:").next().unwrap_or_default().trim(),
        None if said.starts_with("World save (5/5) FAILED") => "",
        None => return None,
    };
    if let Some(denied) = denied(why) {
        return Some(denied);
    }
    let path = why.split_once('\'').and_then(|(_, rest)| rest.split_once('\'')).map(|(path, _)| path);
    Some(heard("save-failed", Severity::Error, path.and_then(world_of), |world| {
        let why = if why.is_empty() { String::new() } else { format!(": \"{}\"", shown(why)) };
        format!(
            "The server could not save {}{why}. What was played since the last save is only in its memory: do not stop it \
             before the reason is gone (a full disk, or files of another user) and a save has been written.",
            lower(world)
        )
    }))
}

/// Files that the server removes for good while it loads.
fn removing(said: &str) -> Option<Heard> {
    for (words, event) in
        [("Removing orphan save file", "orphan-save-removed"), ("Removing orphan CHUNK file", "orphan-chunk-removed")]
    {
        if let Some(path) = said.strip_prefix(words) {
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
    None
}

/// A file of a save that the server may not use. The path has to be one, wherever in the line it stands.
fn denied(said: &str) -> Option<Heard> {
    let path = between(said, "Access to the path ", " is denied")?.trim_matches(['"', '\'']);
    is_save(path).then(|| {
        heard("access-denied", Severity::Error, world_of(path), |_| {
            format!(
                "The server may not use '{}', so its saves fail. Give the file and its folder to the user that the server \
                 runs as, before it is stopped: what was played since the last save is only in its memory.",
                shown(path)
            )
        })
    })
}

fn heard(event: &'static str, severity: Severity, world: Option<&str>, text: impl Fn(&str) -> String) -> Heard {
    let name = world.map_or_else(|| "This world".to_owned(), shown);
    let text = text(&name);
    Heard { event, severity, world: world.map(str::to_owned), generation: None, objects: None, text }
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

/// What the game says: what stands behind its own stamp (`09/16/2026 05:21:52: `), or, where there is none, behind what
/// journals, containers and loaders of mods put in front.
fn said(line: &str) -> &str {
    let behind = (0..line.len()).filter(|at| line.is_char_boundary(*at)).find_map(|at| stamp(line.get(at..)?));
    behind.unwrap_or_else(|| collected(line)).trim()
}

/// What follows the game's stamp at the start of a text.
fn stamp(text: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"dd/dd/dddd dd:dd:dd: ";
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape };
    let start = text.as_bytes().get(..SHAPE.len())?;
    start.iter().zip(SHAPE).all(fits).then(|| text.get(SHAPE.len()..)).flatten()
}

/// A line without `[level: source] `, `2026-12-01T04:27:00Z ` and `Dec 01 04:27:00 host unit[812]: ` in front.
fn collected(mut line: &str) -> &str {
    loop {
        line = line.trim_start();
        let shorter = if line.starts_with('[') {
            line.split_once("] ").map(|(_, rest)| rest)
        } else if line.as_bytes().first().is_some_and(u8::is_ascii_digit) {
            line.split_once(' ').filter(|(word, _)| word.contains('T') && word.contains(':')).map(|(_, rest)| rest)
        } else {
            journal(line)
        };
        match shorter {
            Some(shorter) => line = shorter,
            None => return line,
        }
    }
}

/// What follows the head of a line of syslog.
fn journal(line: &str) -> Option<&str> {
    let mut words = line.splitn(6, ' ').filter(|word| !word.is_empty());
    let (month, day, time) = (words.next()?, words.next()?, words.next()?);
    let dated = month.len() == 3 && day.parse::<u8>().is_ok() && time.split(':').count() == 3;
    if !dated {
        return None;
    }
    // The name of the unit ends with the first colon that a space follows, behind the time and the host.
    let behind = line.split_once(time)?.1;
    behind.split_once(": ").map(|(_, rest)| rest)
}

fn between<'a>(line: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(behind).map(|(path, _)| path.trim())
}

/// A number that may be grouped by the server's language: `77504`, `77,504`, `77.504`, `77 504`.
fn grouped(text: &str) -> Option<u64> {
    let text = text.trim();
    let separator = |c: char| matches!(c, ',' | '.' | '\'' | ' ' | '\u{a0}' | '\u{202f}' | '’');
    if !text.chars().next()?.is_ascii_digit() || !text.chars().all(|c| c.is_ascii_digit() || separator(c)) {
        return None;
    }
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// The generation of a path `…/_main.N.db2`.
fn generation_of(path: &str) -> Option<u64> {
    let name = path.rsplit(['/', '\\']).next()?;
    let number = name.strip_prefix("_main.")?.strip_suffix(".db2")?;
    number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok()).flatten()
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
