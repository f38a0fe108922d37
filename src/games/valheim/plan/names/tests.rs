use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{MOST_BYTES, check, with_name};
use crate::games::valheim::format::meta;
use crate::games::valheim::write::WorldPlan;
use crate::store::Ceilings;

#[test]
fn only_the_name_and_the_length_change() {
    for version in [26, 29, 32, 37, 41, 42] {
        for (old, new) in [("Midgard", "Hel"), ("Hel", "Midgard"), ("a", &"ö".repeat(100)), (&"x".repeat(200), "y")] {
            let plan = WorldPlan::new(old, "SeedHere");
            let before = plan.metadata(version);
            let after = with_name(&before, new).unwrap();
            assert_eq!(with_name(&after, old).unwrap(), before, "there and back, version {version}");
            let meta = meta::read(&after, &Ceilings::default());
            assert_eq!(meta.name(), Some(new.to_owned()));
            assert!(meta.length_fault().is_none() && meta.fault.is_none());
            let tail = |bytes: &[u8], name: &str| bytes[8 + name.len() + usize::from(name.len() > 127) + 1..].to_vec();
            assert_eq!(tail(&before, old), tail(&after, new));
        }
    }
}

#[test]
fn metadata_that_ends_before_its_name_is_not_changed() {
    let whole = WorldPlan::new("Midgard", "Seed").metadata(36);
    for cut in 0..8 + 1 + 7 {
        assert!(with_name(&whole[..cut], "Hel").is_err(), "{cut}");
    }
}

#[test]
fn names_that_the_game_cannot_use_are_refused() {
    for good in ["Midgard", "Ynglings hall", "x_backup_y", "Über", "Hof_2026"] {
        assert!(check(good).is_ok(), "{good}");
    }
    let long = "x".repeat(240);
    for bad in [
        "",
        "a/b",
        "a\\b",
        "c:d",
        "*",
        "a?",
        "\"",
        "<",
        ">",
        "|",
        ".hidden",
        "dot.",
        "space ",
        " space",
        "tab\tin",
        "Midgard_backup_auto-20260909-180000",
        "Grimhold_20260909180000",
        "W.old",
        "W.fwl",
        "W.db",
        "_main.3",
        "W.chunk",
        &long,
    ] {
        assert!(check(bad).is_err(), "{bad}");
    }
}

/// Every metadata file below a folder.
fn metadata_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "fwl" || end == "fwl2") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The metadata files of the fixtures, and of the real samples where they are.
fn samples() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let real = root.join("../shared/samples/valheim");
    let mut all = metadata_below(&root.join("fixtures"));
    if real.is_dir() {
        all.extend(metadata_below(&real));
    } else {
        eprintln!("skipped: ../shared/samples is absent");
    }
    assert!(all.len() > 20, "{all:?}");
    all.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Where the bytes of the name lie, its length included: read by hand, from the description.
fn name_at(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let (mut at, mut length, mut shift) = (8, 0_usize, 0_u32);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    (at + length <= bytes.len()).then_some(8..at + length)
}

/// Everything but the name and the length at the front is what it was, and that length grew as the name did.
fn only_the_name_changed(before: &[u8], after: &[u8], name: &str) {
    let (old, new) = (name_at(before).unwrap(), name_at(after).unwrap());
    assert_eq!(before[4..8], after[4..8], "the version");
    assert_eq!(before[old.end..], after[new.end..], "what follows the name");
    assert!(after[new.clone()].ends_with(name.as_bytes()));
    let says = |bytes: &[u8]| i64::from(i32::from_le_bytes(bytes[..4].try_into().unwrap()));
    let grown = i64::try_from(new.len()).unwrap() - i64::try_from(old.len()).unwrap();
    assert_eq!(says(after) - says(before), grown, "the length at the front");
}

proptest! {
    #[test]
    fn in_every_sample_any_name_changes_its_own_bytes_only(name in "\\PC{1,80}") {
        prop_assume!(name.len() <= MOST_BYTES);
        for (path, before) in samples() {
            let Some(old) = name_at(&before).map(|at| before[at].to_vec()) else { panic!("{}", path.display()) };
            let after = with_name(&before, &name).unwrap();
            only_the_name_changed(&before, &after, &name);
            // And back again to the last byte, where the old name was written as the game writes it.
            if let Some(text) = meta::read(&before, &Ceilings::default()).name()
                && old.ends_with(text.as_bytes())
            {
                prop_assert_eq!(with_name(&after, &text).unwrap(), before, "{}", path.display());
            }
        }
    }

    /// Bytes that were changed anywhere are refused, or only the name is another one.
    #[test]
    fn of_bytes_that_were_damaged_anywhere_nothing_but_the_name_is_touched(
        at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<prop::sample::Index>(), cuts in any::<bool>(),
    ) {
        for (path, mut bytes) in samples() {
            let at = at.index(bytes.len());
            bytes[at] = to;
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            match with_name(&bytes, "Jötunheim") {
                Ok(after) => only_the_name_changed(&bytes, &after, "Jötunheim"),
                Err(refusal) => prop_assert!(refusal.text.contains("cannot be changed"), "{}", path.display()),
            }
        }
    }
}
