//! Tars that want to do harm, lie, or use what is not read here.

use std::path::Path;

use worldkeep::model::{Cancel, Code};
use worldkeep::store::{Ceilings, Effort, StoreErrorKind, open_within};

use crate::build::{gz, noise, pax, raw_tar, raw_tar_entry, xz, zst};
use crate::{content, opened, paths, refusal, sound};

fn file(name: &str) -> Vec<u8> {
    raw_tar_entry(b'0', name.as_bytes(), b"x")
}

/// The words with which an archive is refused as hostile, the same plain and packed.
fn hostile(entries: &[Vec<u8>]) -> String {
    let tar = raw_tar(entries);
    let error = refusal(&tar);
    assert_eq!(refusal(&gz(&tar)).kind, error.kind);
    assert_eq!(error.finding().code, Code::HostileArchive, "{error}");
    match error.kind {
        StoreErrorKind::Hostile(why) => why,
        other => panic!("{other:?}"),
    }
}

fn unsupported(entries: &[Vec<u8>]) -> String {
    match refusal(&raw_tar(entries)).kind {
        StoreErrorKind::Unsupported(what) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tar_slip_entry_refuses_the_archive() {
    for (name, words) in [
        ("../evil", "entry `../evil` climbs"),
        ("./../evil", "climbs"),
        ("/abs.txt", "absolute"),
        (".//abs", "absolute"),
        (r"a\b", "backslash"),
        ("././a", "`.`"),
        ("a/../b", "climbs"),
        ("C:x", "drive"),
        ("com1", "DOS device"),
        ("a.", "dot or a space"),
    ] {
        let why = hostile(&[file("W/a"), file(name)]);
        assert!(why.contains(words), "{name:?}: {why}");
    }
}

#[test]
fn a_long_name_cannot_smuggle_what_a_short_one_may_not() {
    let long = raw_tar_entry(b'L', b"././@LongLink", b"../../evil\0");
    assert!(hostile(&[long, file("innocent")]).contains("climbs"));
    let record = raw_tar_entry(b'x', b"PaxHeaders/x", &pax("path", b"/etc/passwd"));
    assert!(hostile(&[record, file("innocent")]).contains("absolute"));
}

#[test]
fn symbolic_links_pipes_and_devices_refuse_the_archive() {
    for (kind, words) in [(b'2', "symbolic link"), (b'3', "device"), (b'4', "device"), (b'6', "pipe")] {
        let why = hostile(&[file("a"), raw_tar_entry(kind, b"W/x", b"")]);
        assert!(why.contains(words) && why.contains("`W/x`"), "{why}");
    }
}

#[test]
fn kinds_that_are_not_read_here_are_named() {
    for (kind, words) in
        [(b'1', "hard link"), (b'S', "sparse"), (b'M', "another volume"), (b'q', "unknown kind (byte 113)")]
    {
        let what = unsupported(&[file("a"), raw_tar_entry(kind, b"W/x", b"")]);
        assert!(what.contains(words) && what.contains("`W/x`"), "{what}");
    }
    let record = raw_tar_entry(b'x', b"PaxHeaders/x", &pax("GNU.sparse.major", b"1"));
    assert!(unsupported(&[record, file("a")]).contains("sparse"));
    assert!(unsupported(&[raw_tar_entry(b'5', b"d", b"content")]).contains("folder with content"));
}

#[test]
fn names_that_stand_twice_or_collide_refuse_the_archive() {
    assert!(hostile(&[file("a"), file("b"), file("a")]).contains("twice"));
    assert!(hostile(&[file("a"), file("./a")]).contains("twice"));
    assert!(hostile(&[file("W/a"), file("W/A")]).contains("upper and lower case"));
    assert!(hostile(&[file("x"), file("x/y")]).contains("at once"));
}

#[test]
fn a_header_for_all_entries_may_not_rename_them() {
    let global = |key, value: &[u8]| raw_tar_entry(b'g', b"pax_global_header", &pax(key, value));
    assert!(hostile(&[global("path", b"x"), file("a")]).contains("all entries"));
    assert!(hostile(&[global("size", b"1"), file("a")]).contains("all entries"));
    let harmless = raw_tar(&[global("comment", b"0123456789abcdef"), file("a")]);
    assert_eq!(paths(sound(&harmless).as_ref()), ["a"]);
}

#[test]
fn a_long_name_over_its_ceiling_is_refused_before_it_is_read() {
    let mut header = raw_tar_entry(b'L', b"././@LongLink", b"");
    let mut changed = tar::Header::from_byte_slice(&header[..512]).clone();
    changed.set_size(8 << 30);
    changed.set_cksum();
    header[..512].copy_from_slice(changed.as_bytes());
    assert!(hostile(&[file("a"), header]).contains("over the ceiling"));
}

#[test]
fn a_size_that_cannot_be_right_is_damage_and_allocates_nothing() {
    for size in [u64::MAX, u64::MAX - 511, i64::MAX as u64, 1 << 40] {
        let mut header = raw_tar_entry(b'0', b"huge", b"");
        let mut changed = tar::Header::from_byte_slice(&header[..512]).clone();
        changed.set_size(size);
        changed.set_cksum();
        header[..512].copy_from_slice(changed.as_bytes());
        let tar = raw_tar(&[file("a"), header]);
        for bytes in [tar.clone(), gz(&tar), zst(&tar)] {
            let ceilings = Ceilings { archive_total: u64::MAX, ..Ceilings::default() };
            match opened(&bytes, &ceilings) {
                Ok(store) => {
                    assert!(store.damage().is_some());
                    assert_eq!(content(store.as_ref(), "a"), b"x");
                    assert!(store.stat(Path::new("huge")).is_err() || store.read(Path::new("huge"), u64::MAX).is_err());
                }
                Err(error) => assert!(matches!(error.kind, StoreErrorKind::TooLarge { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn ceilings_hold_for_one_file_for_all_and_for_their_number() {
    let entries: Vec<_> = (0..5).map(|i| raw_tar_entry(b'0', format!("d/{i}").as_bytes(), &noise(i, 100))).collect();
    let tar = raw_tar(&entries);
    for bytes in [tar.clone(), gz(&tar), xz(&tar)] {
        let with = |ceilings: Ceilings| opened(&bytes, &ceilings);
        let store = with(Ceilings { archived_file: 99, ..Ceilings::default() }).unwrap();
        let error = store.read(Path::new("d/1"), u64::MAX).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::TooLarge { size: 100, ceiling: 99 });
        let total = with(Ceilings { archive_total: 499, ..Ceilings::default() }).err().unwrap();
        assert_eq!(total.kind, StoreErrorKind::TooLarge { size: 500, ceiling: 499 });
        let many = with(Ceilings { entries: 4, ..Ceilings::default() }).err().unwrap();
        assert_eq!(many.kind, StoreErrorKind::TooMany { ceiling: 4 });
        assert!(with(Ceilings { entries: 6, ..Ceilings::default() }).is_ok());
    }
}

#[test]
fn a_folder_that_comes_forever_ends_at_the_ceiling() {
    let tar = raw_tar(&vec![raw_tar_entry(b'5', b"d/", b""); 50]);
    let ceilings = Ceilings { entries: 49, ..Ceilings::default() };
    assert!(opened(&gz(&tar), &ceilings).is_err_and(|e| e.kind == StoreErrorKind::TooMany { ceiling: 49 }));
}

#[test]
fn a_stream_that_unpacks_to_far_more_than_its_size_is_refused() {
    // 200 MB of zeros after the first entry, in some 20 kB.
    let mut tar = raw_tar(&[file("a")]);
    tar.resize(200 << 20, 0);
    let packed = zst(&tar);
    assert!(packed.len() < 60_000, "{}", packed.len());
    match refusal(&packed).kind {
        StoreErrorKind::Hostile(why) => assert!(why.contains("too many for its size"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_of_nothing_but_frames_to_skip_before_its_tar_opens() {
    let mut packed = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(1 << 20);
    packed.extend(zst(&raw_tar(&[file("W/a")])));
    assert_eq!(paths(sound(&packed).as_ref()), ["W/", "W/a"]);
    // A frame to skip that is longer than what is buffered.
    let mut packed = [&[0x50, 0x2a, 0x4d, 0x18][..], &300_000_u32.to_le_bytes(), &noise(1, 300_000)].concat();
    packed.extend(zst(&raw_tar(&[file("W/a")])));
    assert_eq!(paths(sound(&packed).as_ref()), ["W/", "W/a"]);
}

#[test]
fn what_follows_the_end_of_a_packed_tar_is_not_unpacked_without_end() {
    // A stream of its own for each, as parallel packers write them.
    let zeros = gz(&vec![0; 1024 * 1024]).repeat(65);
    assert!(matches!(refusal(&zeros).kind, StoreErrorKind::Broken(_)));
    let store = sound(&[gz(&raw_tar(&[file("W/a")])), zeros].concat());
    assert_eq!(content(store.as_ref(), "W/a"), b"x");
    assert!(store.damage().unwrap().to_string().contains("follow the mark of its end"));
}

#[test]
fn a_ticket_that_is_worthless_ends_the_unpacking() {
    let (folder, path) = crate::on_disk(&gz(&raw_tar(&[file("W/a")])));
    let cancel = Cancel::new();
    let effort = Effort::any(&cancel);
    let store = open_within(&path, &Ceilings::default(), &effort).unwrap();
    cancel.stop();
    assert!(open_within(&path, &Ceilings::default(), &effort).is_err());
    drop((store, folder));
}
