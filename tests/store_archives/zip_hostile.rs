//! Zips that want to do harm, lie, or are broken.

use std::io::Read;
use std::path::Path;

use worldkeep::model::Code;
use worldkeep::store::{Ceilings, StoreErrorKind};

use crate::build::{RawEntry, noise, raw_zip};
use crate::{content, opened, paths, refusal, sound};

/// The words with which an archive is refused as hostile.
fn hostile(entries: &[RawEntry]) -> String {
    let error = refusal(&raw_zip(entries));
    assert_eq!(error.finding().code, Code::HostileArchive, "{error}");
    match error.kind {
        StoreErrorKind::Hostile(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_zip_slip_entry_refuses_the_archive() {
    let good = RawEntry::stored("W/a", b"x");
    for (name, words) in [
        ("../evil", "entry `../evil` climbs"),
        ("a/../../x", "climbs"),
        (r"a\..\..\x", "backslash"),
        ("/abs.txt", "absolute"),
        ("C:/win/abs.txt", "drive"),
        (r"\\srv\share\unc.txt", "network share"),
        ("a/../inside.txt", "climbs"),
        ("./a", "`.`"),
        ("a//b", "empty part"),
        ("CON", "DOS device"),
        ("aux.txt", "DOS device"),
        ("dot./x", "dot or a space"),
        ("space /x", "dot or a space"),
        ("nul:stream", "DOS device"),
        ("a\nb", "control"),
        ("con/", "DOS device"),
        ("../", "climbs"),
        ("", "empty name"),
    ] {
        let why = hostile(&[good.clone(), RawEntry::stored(name, b"")]);
        assert!(why.contains(words), "{name:?}: {why}");
    }
}

#[test]
fn a_refusal_cannot_steer_a_terminal() {
    let why = hostile(&[RawEntry::stored("a\x1b[2Jb", b"")]);
    assert!(!why.contains('\x1b') && why.contains("\\u{1b}"), "{why}");
}

#[test]
fn a_name_that_is_not_utf8_refuses_the_archive_whatever_its_flag_says() {
    for flags in [0, 0x800] {
        let entry = RawEntry { flags, ..RawEntry::stored(b"W\x81lt", b"") };
        assert!(hostile(&[entry]).contains("not UTF-8"));
    }
    let plain = RawEntry { flags: 0, ..RawEntry::stored("Wält", b"x") };
    assert_eq!(paths(sound(&raw_zip(&[plain])).as_ref()), ["Wält"]);
}

#[test]
fn links_and_devices_refuse_the_archive() {
    for (mode, words) in
        [(0o120_777, "symbolic link"), (0o010_644, "pipe"), (0o020_644, "device"), (0o140_644, "socket")]
    {
        let entry = RawEntry { attributes: mode << 16, ..RawEntry::stored("W/x", b"/etc/passwd") };
        let why = hostile(&[entry]);
        assert!(why.contains(words) && why.contains("`W/x`"), "{why}");
    }
    // On DOS the same bits mean nothing.
    let entry = RawEntry { made_by: 20, attributes: 0o120_777 << 16, ..RawEntry::stored("W/x", b"x") };
    assert_eq!(content(sound(&raw_zip(&[entry])).as_ref(), "W/x"), b"x");
}

#[test]
fn a_name_that_stands_twice_refuses_the_archive() {
    let [a, b, c] = ["a", "b", "c"].map(|name| RawEntry::stored(name, name.as_bytes()));
    for entries in [
        vec![a.clone(), a.clone()],
        vec![a.clone(), b.clone(), a.clone()],
        vec![b.clone(), c.clone(), a.clone(), a.clone()],
        vec![a.clone(), a.clone(), b, c],
    ] {
        assert_eq!(hostile(&entries), "entry `a` stands in it twice");
    }
}

#[test]
fn names_that_collide_on_other_systems_refuse_the_archive() {
    let file = |name: &str| RawEntry::stored(name, b"x");
    assert!(hostile(&[file("World/a"), file("World/A")]).contains("upper and lower case"));
    assert!(hostile(&[file("World/a"), file("world/b")]).contains("upper and lower case"));
    assert!(hostile(&[file("é"), file("e\u{301}")]).contains("accents"));
    assert!(hostile(&[file("x"), file("x/y")]).contains("at once"));
    assert!(hostile(&[file("x/y"), file("x")]).contains("at once"));
}

#[test]
fn entries_that_share_bytes_refuse_the_archive() {
    // The second entry's bytes are inside the first's, as in bombs that name one block many times.
    let inner = raw_zip(&[RawEntry::stored("b", &noise(1, 100))]);
    let outer = RawEntry::stored("a", &inner[..131]);
    let at = 30 + 1;
    let second = RawEntry { header: Some(at), bytes: Vec::new(), ..RawEntry::stored("b", &noise(1, 100)) };
    assert!(hostile(&[outer, second]).contains("overlap"));
    let twice = RawEntry { header: Some(0), bytes: Vec::new(), ..RawEntry::stored("b", b"xyz") };
    assert!(hostile(&[RawEntry::stored("a", b"xyz"), twice]).contains("overlap"));
    let long = RawEntry { packed: 4000, ..RawEntry::stored("a", b"xyz") };
    assert!(hostile(&[long]).contains("overlap"));
}

#[test]
fn a_bomb_is_refused_by_what_it_says_and_by_what_it_does() {
    let zeros = vec![0; 2_000_000];
    let honest = RawEntry::deflated("zeros", &zeros);
    assert_eq!(content(sound(&raw_zip(std::slice::from_ref(&honest))).as_ref(), "zeros"), zeros);

    let boasting = RawEntry { size: 2_000_000_000, ..honest.clone() };
    assert!(hostile(&[boasting]).contains("1100 times as many"));

    let modest = RawEntry { size: 10, ..honest };
    let store = sound(&raw_zip(&[modest]));
    let error = store.read(Path::new("zeros"), u64::MAX).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Broken("it inflates to more bytes than it says".to_owned()));
    let mut streamed = Vec::new();
    let mut reader = store.open(Path::new("zeros")).unwrap();
    assert!(reader.read_to_end(&mut streamed).is_err());
    assert_eq!(streamed.len(), 10);
    // Once failed it stays failed.
    assert!(reader.read(&mut [0; 8]).is_err());
}

#[test]
fn ceilings_hold_for_one_file_for_all_and_for_their_number() {
    let entries: Vec<_> = (0..5).map(|i| RawEntry::stored(format!("d/{i}"), &noise(i, 100))).collect();
    let bytes = raw_zip(&entries);
    let with = |ceilings: Ceilings| opened(&bytes, &ceilings);

    let store = with(Ceilings { archived_file: 99, ..Ceilings::default() }).unwrap();
    let too_large = StoreErrorKind::TooLarge { size: 100, ceiling: 99 };
    assert_eq!(store.read(Path::new("d/1"), u64::MAX).unwrap_err().kind, too_large);
    assert!(store.open(Path::new("d/1")).is_err_and(|e| e.kind == too_large));
    assert_eq!(store.stat(Path::new("d/1")).unwrap().size, 100);

    let total = with(Ceilings { archive_total: 499, ..Ceilings::default() }).err().unwrap();
    assert_eq!(total.kind, StoreErrorKind::TooLarge { size: 500, ceiling: 499 });
    let many = with(Ceilings { entries: 4, ..Ceilings::default() }).err().unwrap();
    assert_eq!(many.kind, StoreErrorKind::TooMany { ceiling: 4 });
    // Five files and their folder, which no entry names.
    assert!(with(Ceilings { entries: 5, ..Ceilings::default() }).is_err());
    assert!(with(Ceilings { entries: 6, ..Ceilings::default() }).is_ok());
    let deep = opened(&raw_zip(&[RawEntry::stored("a/b/c", b"")]), &Ceilings { path_depth: 1, ..Ceilings::default() });
    assert!(deep.is_err_and(|e| e.to_string().contains("deeper than 1")));
}

#[test]
fn a_promise_of_millions_of_entries_is_refused_before_room_is_made() {
    // A zip64 record that promises as many entries as the file has bytes.
    let mut bytes = raw_zip(&[RawEntry::stored("a", &vec![b'x'; 3_000_000])]);
    let end = bytes.split_off(bytes.len() - 22);
    let record = bytes.len() as u64;
    let directory = record - 47;
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44_u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for word in [2_900_000 / 46, 2_900_000 / 46, u64::MAX / 2, directory] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(record.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    let mut end = end;
    end[8..20].fill(0xff);
    bytes.extend(end);
    let ceilings = Ceilings { entries: 1000, ..Ceilings::default() };
    assert!(opened(&bytes, &ceilings).is_err_and(|e| e.kind == StoreErrorKind::TooMany { ceiling: 1000 }));
}

#[test]
fn a_flipped_bit_breaks_only_the_file_that_it_hits() {
    for method in [RawEntry::stored::<&str>, RawEntry::deflated::<&str>] {
        let entries = [method("a", &noise(1, 500)), method("b", &noise(2, 500))];
        let mut bytes = raw_zip(&entries);
        bytes[31 + 200] ^= 0x10;
        let store = sound(&bytes);
        let error = store.read(Path::new("a"), u64::MAX).unwrap_err();
        assert!(matches!(error.kind, StoreErrorKind::Broken(_)), "{error}");
        assert_eq!(error.path, Path::new("a"));
        assert_eq!(error.finding().code, Code::BadArchive);
        assert_eq!(content(store.as_ref(), "b"), noise(2, 500));
    }
}

#[test]
fn a_wrong_checksum_is_told_at_the_end_of_the_file() {
    let entry = RawEntry { crc: 1, ..RawEntry::stored("a", b"xyz") };
    let store = sound(&raw_zip(&[entry]));
    assert!(store.read(Path::new("a"), 9).unwrap_err().to_string().contains("checksum"));
    // A look at its start does not reach the checksum.
    assert_eq!(store.read_start(Path::new("a"), 2).unwrap(), b"xy");
}

#[test]
fn a_file_with_fewer_bytes_than_it_says_is_broken() {
    let entry = RawEntry { size: 600, ..RawEntry::deflated("a", &noise(1, 500)) };
    let store = sound(&raw_zip(&[entry]));
    assert!(store.read(Path::new("a"), u64::MAX).unwrap_err().to_string().contains("fewer bytes"));
}

#[test]
fn encrypted_files_and_unknown_methods_are_listed_and_not_read() {
    let encrypted = RawEntry { flags: 1, ..RawEntry::stored("a", b"xyz") };
    let zstd = RawEntry { method: 93, ..RawEntry::stored("b", b"xyz") };
    let store = sound(&raw_zip(&[encrypted, zstd, RawEntry::stored("c", b"c")]));
    assert_eq!(paths(store.as_ref()), ["a", "b", "c"]);
    for (path, words) in [("a", "encrypted"), ("b", "packed with")] {
        let error = store.read(Path::new(path), u64::MAX).unwrap_err();
        assert!(matches!(&error.kind, StoreErrorKind::Unsupported(what) if what.contains(words)), "{error}");
        assert_eq!(error.finding().code, Code::UnsupportedArchive);
    }
    assert_eq!(content(store.as_ref(), "c"), b"c");
}

#[test]
fn a_zip_that_was_cut_off_says_so() {
    let bytes = raw_zip(&[RawEntry::stored("a", &noise(1, 5000))]);
    for end in [4000, bytes.len() - 30, bytes.len() - 1] {
        let error = refusal(&bytes[..end]);
        assert!(matches!(error.kind, StoreErrorKind::Broken(_)), "{error}");
        assert!(error.to_string().contains("cut off"), "{error}");
    }
}
