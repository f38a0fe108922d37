//! New names: which ones the game can use, and how the name inside the metadata is changed.

use super::site::Place;
use crate::games::valheim::format::cursor::Cursor;
use crate::games::valheim::names::{NameKind, classify};
use crate::model::plan::{Reason, Refusal};
use crate::model::shown;

/// The most bytes of a name: what file systems allow, less the longest ending that the game and this program add.
const MOST_BYTES: usize = 255 - "_backup_restore-20260909-180000".len();

/// Refuses a name that the game cannot use for a world, or would take for something else.
pub(super) fn check(name: &str) -> Result<(), Refusal> {
    let bad = |why: &str| Err(Refusal::new(Reason::BadName, format!("'{}' {why}.", shown(name))));
    if name.is_empty() {
        return Err(Refusal::new(Reason::BadName, "A world needs a name."));
    }
    if name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')) {
        return bad(
            r#"holds a character that is no part of a world's name: none of / \ : * ? " < > | and no control character"#,
        );
    }
    if name.starts_with('.') || name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return bad("begins with a dot or a space, or ends with one");
    }
    if name.len() > MOST_BYTES {
        return bad("is too long for the names of its backups");
    }
    let info = classify(name);
    if info.kind != NameKind::World {
        let text = format!("The game would not take '{}' for a world. {}", shown(name), info.rule());
        return Err(Refusal::new(Reason::BadName, text));
    }
    // The game takes a name that begins or ends like a file in a world folder for one, wherever it lies.
    if name.starts_with("_main.") || [".fwl", ".db", ".new", ".chunk"].iter().any(|ending| name.ends_with(ending)) {
        return bad("begins or ends like one of the game's own files");
    }
    Ok(())
}

/// Another name in this folder that differs by its letters' case alone.
pub(super) fn twin<'p>(place: &'p Place, name: &str) -> Option<&'p str> {
    let stem = |entry: &'p std::ffi::OsString| {
        let text = entry.to_str()?;
        Some(text.strip_suffix(".fwl").or_else(|| text.strip_suffix(".db")).unwrap_or(text))
    };
    let same = |other: &&str| *other != name && other.to_lowercase() == name.to_lowercase();
    place.entries.keys().filter_map(stem).find(same)
}

/// The metadata with another name inside; every other byte stays what it is.
///
/// # Errors
/// When the bytes up to the name cannot be read as metadata.
pub(super) fn with_name(bytes: &[u8], name: &str) -> Result<Vec<u8>, Refusal> {
    let unreadable = || {
        let text = "The metadata cannot be read as far as the name inside, so the name cannot be changed.";
        Refusal::new(Reason::NotSupported, text)
    };
    let mut cursor = Cursor::new(bytes);
    let says = cursor.i32("the length").map_err(|_| unreadable())?;
    cursor.i32("the version").map_err(|_| unreadable())?;
    let before = bytes.len() - cursor.left();
    cursor.text_bytes(META_TEXT, "the name").map_err(|_| unreadable())?;
    let after = bytes.len() - cursor.left();
    // The length at the front counts what follows it; a wrong one stays as wrong as it was.
    let mut text = Vec::with_capacity(name.len() + 2);
    push_text(&mut text, name);
    let grown = i64::try_from(text.len()).unwrap_or(0) - i64::try_from(after - before).unwrap_or(0);
    let says = i32::try_from(i64::from(says) + grown).map_err(|_| unreadable())?;
    let mut out = Vec::with_capacity(bytes.len() + text.len());
    out.extend_from_slice(&says.to_le_bytes());
    out.extend_from_slice(bytes.get(4..before).unwrap_or_default());
    out.extend_from_slice(&text);
    out.extend_from_slice(bytes.get(after..).unwrap_or_default());
    Ok(out)
}

/// The most bytes of a name inside that is read.
const META_TEXT: u64 = 64 * 1024;

/// A text as the game writes it: its length in bytes, seven bits at a time, and the bytes.
fn push_text(out: &mut Vec<u8>, text: &str) {
    let mut length = text.len();
    loop {
        let low = u8::try_from(length & 0x7f).unwrap_or(0);
        length >>= 7;
        if length == 0 {
            out.push(low);
            break;
        }
        out.push(low | 0x80);
    }
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests;
