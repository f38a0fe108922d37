//! Which names inside an archive are accepted.
//!
//! A name is taken as it stands or refused; nothing is repaired, because two readers that repair differently see two
//! different archives. What a name may not do here is what harms on *some* system on which a save is restored, so the
//! answer is the same everywhere: a world called `con` in a backup is refused on Linux too.
//!
//! A colon is refused only where it makes a drive (`C:`) or follows a device name (`nul:x`): logs with a time of day
//! in their names are common in backups of a whole server folder.

use std::fmt::Write;

use unicode_normalization::{UnicodeNormalization, is_nfd};

use super::Ceilings;
use crate::model::shown;

/// Checks the name of a file or, without its trailing slash, of a folder; the error says what is wrong with it.
///
/// Accepted is a relative path of plain parts joined by `/`, in UTF-8. Names in other encodings are refused: zip
/// does not say which encoding it was, and a guess would change the name.
pub(super) fn check<'n>(name: &'n [u8], ceilings: &Ceilings) -> Result<&'n str, String> {
    if name.is_empty() {
        return Err("has an empty name".to_owned());
    }
    if name.len() > ceilings.path_bytes {
        return Err(format!("has a path of {} bytes, over the ceiling of {}", name.len(), ceilings.path_bytes));
    }
    let Ok(name) = std::str::from_utf8(name) else {
        return Err("has a name that is not UTF-8".to_owned());
    };
    if name.contains('\0') {
        return Err("has a NUL byte in its name".to_owned());
    }
    if name.chars().any(char::is_control) {
        return Err("has a control character in its name".to_owned());
    }
    if name.starts_with("//") || name.starts_with("\\\\") {
        return Err("names a network share".to_owned());
    }
    if name.starts_with('/') {
        return Err("has an absolute path".to_owned());
    }
    if name.contains('\\') {
        return Err("has a backslash in its name".to_owned());
    }
    let mut parts: usize = 0;
    for part in name.split('/') {
        check_part(part)?;
        parts = parts.saturating_add(1);
    }
    if parts.saturating_sub(1) > ceilings.path_depth {
        return Err(format!("lies deeper than {} folders", ceilings.path_depth));
    }
    Ok(name)
}

fn check_part(part: &str) -> Result<(), String> {
    match part {
        "" => return Err("has an empty part in its path".to_owned()),
        "." => return Err("has a part `.` in its path".to_owned()),
        ".." => return Err("climbs with `..`".to_owned()),
        _ => {}
    }
    if part.ends_with(['.', ' ']) {
        return Err("has a name that ends in a dot or a space".to_owned());
    }
    if let [letter, b':', ..] = part.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err("names a drive".to_owned());
    }
    if is_device(part) {
        return Err("has the name of a DOS device".to_owned());
    }
    Ok(())
}

/// True for the names that Windows gives to devices, with any ending: `con`, `AUX.txt`, `nul:x`, `lpt1 .db`.
pub(super) fn is_device(part: &str) -> bool {
    let stem = part.split(['.', ':']).next().unwrap_or(part).trim_end_matches(' ');
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return true;
    }
    let mut chars = stem.chars();
    let digit = chars.next_back();
    let port = chars.as_str();
    // Windows takes the superscript digits of Latin-1 for ports too.
    digit.is_some_and(|digit| digit.is_ascii_digit() || matches!(digit, '¹' | '²' | '³'))
        && (port.eq_ignore_ascii_case("com") || port.eq_ignore_ascii_case("lpt"))
}

/// What a name becomes on a file system that ignores case and the way accents are composed: names with an equal
/// fold cannot lie side by side on NTFS or APFS.
///
/// The fold is canonical decomposition, upper case and then lower case of every character, and decomposition again.
/// It holds a few more names for equal than either file system does (`ß` and `ss`), which only refuses more.
pub(super) fn fold(part: &str) -> Box<str> {
    if part.is_ascii() {
        return part.to_ascii_lowercase().into_boxed_str();
    }
    let cased: String =
        part.nfd().flat_map(char::to_uppercase).collect::<String>().chars().flat_map(char::to_lowercase).collect();
    if is_nfd(&cased) { cased.into_boxed_str() } else { cased.nfd().collect::<String>().into_boxed_str() }
}

/// A name for a sentence: the text made safe, bytes that are no text as `\xNN`, and cut where it is very long.
pub(super) fn quoted(name: &[u8]) -> String {
    const MOST: usize = 120;
    let head = name.get(..MOST).unwrap_or(name);
    let mut out = String::from("`");
    for chunk in head.utf8_chunks() {
        out.push_str(&shown(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    if head.len() < name.len() {
        out.push('…');
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use super::{check, fold, quoted};
    use crate::store::Ceilings;

    fn refusal(name: &[u8]) -> String {
        match check(name, &Ceilings::default()) {
            Ok(name) => panic!("{name:?} was accepted"),
            Err(why) => why,
        }
    }

    fn accepted(name: &str) {
        assert_eq!(check(name.as_bytes(), &Ceilings::default()), Ok(name));
    }

    #[test]
    fn names_that_games_and_servers_use_are_accepted() {
        for name in [
            "worlds_local/Midgard/00_00__0_3.chunk",
            "worlds_local/Midgard.db.old",
            "world/region/r.-1.0.mca",
            "Überwelt/データ.db",
            "My World (copy)/level.dat",
            " leading space",
            ".hidden/..hidden/...x",
            "logs/2026-11-30 18:00:00.log",
            "console.log",
            "com.txt",
            "com10",
            "auxiliary",
            "lpt",
        ] {
            accepted(name);
        }
    }

    #[test]
    fn a_name_that_climbs_is_refused() {
        for name in ["../evil", "a/../../x", "a/../inside.txt", ".."] {
            assert!(refusal(name.as_bytes()).contains("climbs"), "{name}");
        }
    }

    #[test]
    fn a_backslash_is_refused_wherever_it_stands() {
        for name in [r"a\..\..\x", r"dir\file", r"trailing\", r"\rooted"] {
            assert!(refusal(name.as_bytes()).contains("backslash"), "{name}");
        }
    }

    #[test]
    fn an_absolute_path_is_refused() {
        assert!(refusal(b"/abs.txt").contains("absolute"));
    }

    #[test]
    fn a_drive_is_refused_in_any_part() {
        for name in ["C:/win/abs.txt", "c:abs.txt", "a/D:/x"] {
            assert!(refusal(name.as_bytes()).contains("drive"), "{name}");
        }
    }

    #[test]
    fn a_network_share_is_refused() {
        for name in [r"\\srv\share\unc.txt", "//srv/share/unc.txt"] {
            assert!(refusal(name.as_bytes()).contains("network share"), "{name}");
        }
    }

    #[test]
    fn a_device_name_is_refused_with_any_ending_and_in_any_case() {
        for name in
            ["CON", "con/W.db", "aux.txt", "a/NUL.tar.gz", "nul:stream", "lpt1", "COM9.db", "com¹", "CONIN$", "prn .x"]
        {
            assert!(refusal(name.as_bytes()).contains("DOS device"), "{name}");
        }
    }

    #[test]
    fn a_part_that_ends_in_a_dot_or_a_space_is_refused() {
        for name in ["dot./x", "space /x", "a/end.", "a/end ", "..."] {
            assert!(refusal(name.as_bytes()).contains("dot or a space"), "{name}");
        }
    }

    #[test]
    fn empty_and_single_dot_parts_are_refused() {
        assert!(refusal(b"").contains("empty name"));
        assert!(refusal(b"a//b").contains("empty part"));
        assert!(refusal(b"a/").contains("empty part"));
        assert!(refusal(b"./a").contains("`.`"));
        assert!(refusal(b"a/./b").contains("`.`"));
    }

    #[test]
    fn nul_and_control_characters_are_refused() {
        assert!(refusal(b"a\0b").contains("NUL"));
        assert!(refusal(b"a\nb").contains("control"));
        assert!(refusal(b"a\x1b[2Jb").contains("control"));
        assert!(refusal("a\u{9b}b".as_bytes()).contains("control"));
    }

    #[test]
    fn a_name_that_is_not_utf8_is_refused_rather_than_guessed() {
        assert!(refusal(b"W\x81lt.db").contains("not UTF-8"));
    }

    #[test]
    fn a_path_that_is_too_long_or_too_deep_is_refused() {
        let ceilings = Ceilings { path_bytes: 20, path_depth: 2, ..Ceilings::default() };
        assert_eq!(check(b"a/b/c", &ceilings), Ok("a/b/c"));
        assert!(check(b"a/b/c/d", &ceilings).is_err_and(|why| why.contains("deeper than 2")));
        assert!(check(b"123456789012345678901", &ceilings).is_err_and(|why| why.contains("21 bytes")));
    }

    #[test]
    fn names_fold_together_when_they_collide_on_ntfs_or_apfs() {
        for (a, b) in
            [("World", "wORLD"), ("ÄRGER", "ärger"), ("e\u{301}", "é"), ("E\u{301}", "é"), ("σ", "ς"), ("Å", "Å")]
        {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
        for (a, b) in [("a", "b"), ("e", "é"), ("a", "а"), ("World", "World2")] {
            assert_ne!(fold(a), fold(b), "{a} {b}");
        }
    }

    #[test]
    fn a_quoted_name_cannot_steer_a_terminal_and_is_cut() {
        assert_eq!(quoted(b"a\x1b\xff"), "`a\\u{1b}\\xff`");
        assert!(quoted(&[b'x'; 5000]).chars().count() < 130);
    }
}
