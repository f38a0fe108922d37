//! What a name on disk is: the game's own test (`SaveSystem.GetSaveInfo`), and the copies that people and tools make.
//!
//! Facts: the naming table of `docs/formats/valheim.md`. The test is case-sensitive and looks at the name without its
//! extension.

use jiff::civil::DateTime;

/// What the game makes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NameKind {
    /// A world of its own.
    World,
    /// The previous save of a world.
    OldBackup,
    /// A backup that the game never prunes.
    StandardBackup,
    /// The game's timed backup.
    AutoBackup,
    /// What was live before a restore in the game's menu.
    RestoredBackup,
    /// A cloud write that failed and was kept.
    CloudBackup,
    /// A stamped name without the backup marker; the game never opens it as a world.
    Rolling,
}

/// A name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameInfo<'a> {
    pub kind: NameKind,
    /// The world that it belongs to; the whole name for a world.
    pub owner: &'a str,
    /// The stamp in the name, local wall time.
    pub stamp: Option<DateTime>,
}

const MARKER: &str = "_backup_";

/// Applies the game's two-part test to a name without extension.
pub(super) fn classify(name: &str) -> NameInfo<'_> {
    if let Some(owner) = name.strip_suffix(".old").filter(|owner| !owner.is_empty()) {
        return NameInfo { kind: NameKind::OldBackup, owner, stamp: find_stamp(owner) };
    }
    let world = |stamp| NameInfo { kind: NameKind::World, owner: name, stamp };
    let Some(stamp) = find_stamp(name) else { return world(None) };
    let Some(last) = name.rfind('_') else { return world(Some(stamp)) };
    let second = name[..last].rfind('_');
    let (kind, owner) = match second {
        Some(at) if name[at..].starts_with(MARKER) => (backup_kind(&name[at + MARKER.len()..]), &name[..at]),
        _ => (NameKind::Rolling, &name[..last]),
    };
    if owner.is_empty() { world(Some(stamp)) } else { NameInfo { kind, owner, stamp: Some(stamp) } }
}

fn backup_kind(after_marker: &str) -> NameKind {
    if after_marker.starts_with("auto-") {
        NameKind::AutoBackup
    } else if after_marker.starts_with("cloud-") {
        NameKind::CloudBackup
    } else if after_marker.starts_with("restore-") {
        NameKind::RestoredBackup
    } else {
        NameKind::StandardBackup
    }
}

/// The stamp that the game reads in a name: six groups of digits (4-2-2-2-2-2) with any number of hyphens between,
/// at least one character before, the last place where that fits. The digits must then be a real moment; the game
/// does not look for another place when they are not.
fn find_stamp(name: &str) -> Option<DateTime> {
    let bytes = name.as_bytes();
    (1..bytes.len()).rev().find_map(|start| groups_at(&bytes[start..])).and_then(|[year, month, day, h, m, s]| {
        let small = |n: u16| i8::try_from(n).ok();
        let year = i16::try_from(year).ok().filter(|&y| y > 0)?;
        DateTime::new(year, small(month)?, small(day)?, small(h)?, small(m)?, small(s)?, 0).ok()
    })
}

fn groups_at(mut rest: &[u8]) -> Option<[u16; 6]> {
    let mut groups = [0_u16; 6];
    for (i, group) in groups.iter_mut().enumerate() {
        if i > 0 {
            while let [b'-', tail @ ..] = rest {
                rest = tail;
            }
        }
        let width = if i == 0 { 4 } else { 2 };
        let digits = rest.get(..width)?;
        rest = rest.get(width..)?;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            *group = *group * 10 + u16::from(digit - b'0');
        }
    }
    Some(groups)
}

impl NameInfo<'_> {
    /// The rule that made a name what it is, as a sentence.
    pub(super) fn rule(&self) -> String {
        let owner = crate::model::shown(self.owner);
        match self.kind {
            NameKind::World if self.stamp.is_some() => {
                "The name has a stamp but no underscore before it, so the game takes it for a world.".to_owned()
            }
            NameKind::World => "The name has no stamp that the game reads, so it is a world.".to_owned(),
            NameKind::OldBackup => format!("The name ends in .old: the save of {owner} before the last one."),
            NameKind::StandardBackup => {
                format!("The name has a stamp, and _backup_ at its second-to-last underscore: a backup of {owner}.")
            }
            NameKind::AutoBackup => format!(
                "The name has a stamp, and _backup_auto- at its second-to-last underscore: a timed backup of {owner}, \
                 which the game prunes."
            ),
            NameKind::RestoredBackup => format!(
                "The name has a stamp, and _backup_restore- at its second-to-last underscore: what {owner} was before \
                 a restore in the game's menu."
            ),
            NameKind::CloudBackup => format!(
                "The name has a stamp, and _backup_cloud- at its second-to-last underscore: a cloud write of {owner} \
                 that failed and was kept here."
            ),
            NameKind::Rolling => format!(
                "The name has a stamp but no _backup_ at its second-to-last underscore: a rolling save of {owner}, \
                 which the game never opens as a world."
            ),
        }
    }
}

/// The name that a copy made by a person or a tool was made from, where the game itself sees a world of its own:
/// a date with separators the game does not read, ` - Copy`, ` (2)`, or a tool's staging mark.
pub(super) fn copied_from(name: &str) -> Option<&str> {
    let looks = [strip_tool_mark(name), strip_copy_mark(name), strip_dated(name)];
    looks.into_iter().flatten().find(|origin| !origin.is_empty())
}

fn strip_dated(name: &str) -> Option<&str> {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | ' ' | 'T'));
    let tail = &name[end.len()..];
    let digits = tail.bytes().filter(u8::is_ascii_digit).count();
    let separated = tail.starts_with(['-', '_', '.', ' ']);
    let year = tail.trim_start_matches(['-', '_', '.', ' ']);
    let plausible = year.get(..4).and_then(|y| y.parse::<u16>().ok()).is_some_and(|y| (2000..2100).contains(&y));
    (separated && plausible && (8..=14).contains(&digits)).then_some(end)
}

fn strip_copy_mark(name: &str) -> Option<&str> {
    if let Some(origin) = name.strip_suffix(" - Copy").or_else(|| name.strip_suffix(" copy")) {
        return Some(origin);
    }
    let (origin, number) = name.strip_suffix(')')?.rsplit_once(" (")?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(origin)
}

fn strip_tool_mark(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_prefix("AUTOBACKUP-") {
        return Some(strip_dated(rest).unwrap_or(rest));
    }
    [".halfcreated-", ".restoring-", ".replaced-", "_backup_terraineditor-"]
        .iter()
        .find_map(|mark| name.split_once(mark).map(|(origin, _)| origin))
}

#[cfg(test)]
mod tests {
    use super::NameKind::{AutoBackup, CloudBackup, OldBackup, RestoredBackup, Rolling, StandardBackup, World};
    use super::{DateTime, NameKind, classify, copied_from};

    /// The 36 rows of the naming table; owner `=` means the name itself.
    const TABLE: [(&str, NameKind, &str, &str); 36] = [
        ("Midgard", World, "=", "none"),
        ("Midgard_backup_auto-20260909-180000", AutoBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Midgard_backup_auto-20260909180000", AutoBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Midgard_backup_auto-2026-09-09-18-00-00", AutoBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Midgard_backup_restore-20260909-180000", RestoredBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Midgard_backup_cloud-20260909-180000", CloudBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Midgard_backup_20260909-180000", StandardBackup, "Midgard", "2026-09-09T18:00:00"),
        ("Grimhold_20260909180000", Rolling, "Grimhold", "2026-09-09T18:00:00"),
        ("Grimhold_20260909-180000", Rolling, "Grimhold", "2026-09-09T18:00:00"),
        ("CrumblyHeim_2025-06-25_18-10-21", World, "=", "none"),
        ("My_backup_World_backup_auto-20260909144803", AutoBackup, "My_backup_World", "2026-09-09T14:48:03"),
        ("A_backup_auto-1_backup_cloud-20260909144803", CloudBackup, "A_backup_auto-1", "2026-09-09T14:48:03"),
        ("Dedotated wham_backup_auto-20260909144803", AutoBackup, "Dedotated wham", "2026-09-09T14:48:03"),
        ("my_backup", World, "=", "none"),
        ("x_backup_y", World, "=", "none"),
        ("my_backup_20260909180000", StandardBackup, "my", "2026-09-09T18:00:00"),
        ("_backup_auto-20260909180000", World, "=", "2026-09-09T18:00:00"),
        ("20260909180000", World, "=", "none"),
        ("a20260909180000", World, "=", "2026-09-09T18:00:00"),
        ("World20260909180000", World, "=", "2026-09-09T18:00:00"),
        ("Realm_Backup_auto-20260909180000", Rolling, "Realm_Backup", "2026-09-09T18:00:00"),
        ("Midgard_backup_auto-20261309180000", World, "=", "none"),
        ("Midgard_backup_auto-20260909180000123", World, "=", "none"),
        ("Midgard_backup_auto-20260909-180000 (2)", AutoBackup, "Midgard", "2026-09-09T18:00:00"),
        (
            "Midgard_backup_auto-20260909-180000_copy",
            Rolling,
            "Midgard_backup_auto-20260909-180000",
            "2026-09-09T18:00:00",
        ),
        ("Midgard_backup_auto_20260909-180000", Rolling, "Midgard_backup_auto", "2026-09-09T18:00:00"),
        ("Midgard - Copy", World, "=", "none"),
        ("Midgard_backup_preupdate-20260909-180000", StandardBackup, "Midgard", "2026-09-09T18:00:00"),
        ("W_20200101000000_backup_20260909180000", StandardBackup, "W_20200101000000", "2026-09-09T18:00:00"),
        ("Ulfsland.halfcreated-192409", World, "=", "none"),
        ("Midgard.restoring-20260909-180000", World, "=", "2026-09-09T18:00:00"),
        ("Midgard.replaced-20260909-180000", World, "=", "2026-09-09T18:00:00"),
        ("AUTOBACKUP-Midgard-20260909180000", World, "=", "2026-09-09T18:00:00"),
        ("Hof_2026", World, "=", "none"),
        ("yourworld_backup_auto-2026090914480", World, "=", "none"),
        ("Über_backup_auto-20260909-180000", AutoBackup, "Über", "2026-09-09T18:00:00"),
    ];

    #[test]
    fn all_rows_of_the_naming_table() {
        for (row, (name, kind, owner, stamp)) in TABLE.into_iter().enumerate() {
            let info = classify(name);
            let owner = if owner == "=" { name } else { owner };
            let found = info.stamp.map_or_else(|| "none".to_owned(), |s| s.to_string());
            assert_eq!((info.kind, info.owner, found.as_str()), (kind, owner, stamp), "row {} {name}", row + 1);
        }
    }

    #[test]
    fn a_name_that_ends_in_old_is_the_previous_save() {
        let info = classify("Midgard.old");
        assert_eq!((info.kind, info.owner), (OldBackup, "Midgard"));
        assert_eq!(classify(".old").kind, World);
    }

    #[test]
    fn the_last_place_that_fits_is_the_stamp() {
        assert_eq!(classify("A_20200101000000_20260909180000").stamp.map(DateTime::year), Some(2026));
        assert_eq!(classify("A_0000-01-01-00-00-00").stamp, None);
        assert_eq!(classify("W_backup_auto-20240230000000").kind, World, "30 February is no day");
    }

    #[test]
    fn copies_by_people_and_tools_are_recognised() {
        for (name, origin) in [
            ("CrumblyHeim_2025-06-25_18-10-21", Some("CrumblyHeim")),
            ("Midgard - Copy", Some("Midgard")),
            ("Midgard (2)", Some("Midgard")),
            ("AUTOBACKUP-Midgard-20260909180000", Some("Midgard")),
            ("Ulfsland.halfcreated-192409", Some("Ulfsland")),
            ("Midgard.restoring-20260909-180000", Some("Midgard")),
            ("Hof_2026", None),
            ("World20260909180000", None),
            ("Midgard", None),
            ("_2025-06-25_18-10-21", None),
        ] {
            assert_eq!(copied_from(name), origin, "{name}");
        }
    }
}
