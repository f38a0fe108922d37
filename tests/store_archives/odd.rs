//! Archives as real tools write them, with what is odd about them.

use std::io::{Cursor, Write};
use std::path::Path;

use worldkeep::model::Code;
use worldkeep::store::{EntryKind, StoreErrorKind};
use zip::write::SimpleFileOptions;

use crate::build::{MTIME, RawEntry, bz2, gz, noise, pax, raw_tar, raw_tar_entry, raw_zip, xz, zst};
use crate::{content, paths, refusal, sound};

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    raw_tar_entry(b'0', name.as_bytes(), content)
}

#[test]
fn a_tar_of_a_folder_starts_every_name_with_a_dot() {
    let tar = raw_tar(&[
        raw_tar_entry(b'5', b"./", b""),
        raw_tar_entry(b'5', b"./worlds_local/", b""),
        file("./worlds_local/W.db", b"db"),
    ]);
    let store = sound(&tar);
    assert_eq!(paths(store.as_ref()), ["worlds_local/", "worlds_local/W.db"]);
    assert_eq!(content(store.as_ref(), "worlds_local/W.db"), b"db");
}

#[test]
fn long_names_come_in_two_dialects() {
    let long = format!("{}/{}", "folder".repeat(20), "name".repeat(30));
    let gnu = [raw_tar_entry(b'L', b"././@LongLink", format!("{long}\0").as_bytes()), file("folderfolder", b"gnu")];
    let record = pax("path", long.as_bytes());
    let pax = [raw_tar_entry(b'x', b"PaxHeaders/0", &record), file("folderfolder", b"pax")];
    for (entries, wanted) in [(gnu, b"gnu"), (pax, b"pax")] {
        let tar = raw_tar(&entries);
        for bytes in [tar.clone(), gz(&tar)] {
            assert_eq!(content(sound(&bytes).as_ref(), &long), wanted);
        }
    }
}

#[test]
fn pax_attributes_give_size_and_time_and_may_hold_any_bytes() {
    let records = [
        pax("SCHILY.xattr.user.note", b"line\nline=\xff\0"),
        pax("mtime", b"1700000001.25"),
        pax("size", b"3"),
        pax("path", b"W/a"),
    ];
    let mut header = file("short", b"xyz");
    let mut changed = tar::Header::from_byte_slice(&header[..512]).clone();
    changed.set_size(0);
    changed.set_cksum();
    header[..512].copy_from_slice(changed.as_bytes());
    let tar = raw_tar(&[raw_tar_entry(b'x', b"PaxHeaders/0", &records.concat()), header, file("b", b"b")]);
    let store = sound(&tar);
    assert_eq!(content(store.as_ref(), "W/a"), b"xyz");
    assert_eq!(content(store.as_ref(), "b"), b"b");
    let mtime = store.stat(Path::new("W/a")).unwrap().mtime.unwrap();
    assert_eq!(mtime.as_millisecond(), 1_700_000_001_250);
}

#[test]
fn an_old_tar_without_a_magic_word_is_recognised_by_its_checksum() {
    let entry = |name: &[u8], content: &[u8], signed: bool| {
        let mut header = tar::Header::new_old();
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_mtime(MTIME);
        header.set_cksum();
        if signed {
            let high = name.iter().filter(|byte| **byte > 127).count();
            let sum = header.cksum().unwrap() - 256 * u32::try_from(high).unwrap();
            header.as_old_mut().cksum = *format!("{sum:06o}\0 ").as_bytes().first_chunk().unwrap();
        }
        let mut out = header.as_bytes().to_vec();
        out.extend(content);
        out.resize(out.len().next_multiple_of(512), 0);
        out
    };
    let tar = raw_tar(&[entry(b"d/", b"", false), entry(b"d/a", b"x", false), entry("d/ä".as_bytes(), b"y", true)]);
    assert_eq!(paths(sound(&tar).as_ref()), ["d/", "d/a", "d/ä"]);
    let tar = raw_tar(&[entry("ä".as_bytes(), b"y", true)]);
    assert_eq!(content(sound(&tar).as_ref(), "ä"), b"y");
}

#[test]
fn folders_labels_and_incremental_lists_are_no_files() {
    let tar = raw_tar(&[
        raw_tar_entry(b'V', b"weekly", b""),
        raw_tar_entry(b'D', b"d/", b"Ya\0Yb\0\0"),
        raw_tar_entry(b'5', b"d/", b""),
        raw_tar_entry(b'5', b"d", b""),
        raw_tar_entry(b'7', b"d/a", b"contiguous"),
    ]);
    let store = sound(&tar);
    assert_eq!(paths(store.as_ref()), ["d/", "d/a"]);
    assert_eq!(content(store.as_ref(), "d/a"), b"contiguous");
}

#[test]
fn archives_without_files_list_nothing() {
    let empty_tar = raw_tar(&[]);
    let ten_blocks = vec![0; 10240];
    let empty_zip = zip::ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap().into_inner();
    let root_only = raw_tar(&[raw_tar_entry(b'5', b"./", b"")]);
    let mut all = vec![empty_zip, empty_tar.clone(), ten_blocks.clone(), root_only];
    for tar in [&empty_tar, &ten_blocks, &Vec::new()] {
        all.extend([gz(tar), zst(tar), xz(tar), bz2(tar)]);
    }
    for bytes in all {
        let store = sound(&bytes);
        assert_eq!(store.list(Path::new("")).unwrap(), []);
        assert_eq!(store.stat(Path::new("")).unwrap().kind, EntryKind::Dir);
        assert_eq!(store.damage(), None);
    }
}

#[test]
fn a_tiny_backup_with_one_small_file_is_an_archive_like_any_other() {
    let packed = gz(&raw_tar(&[file("worlds_local/adminlist.txt", b"// List admin players ID\n")]));
    assert!(packed.len() < 200, "{}", packed.len());
    assert_eq!(paths(sound(&packed).as_ref()), ["worlds_local/", "worlds_local/adminlist.txt"]);
}

#[test]
fn what_is_no_archive_is_told_apart() {
    let kind = |bytes: &[u8]| refusal(bytes);
    assert!(matches!(kind(b"").kind, StoreErrorKind::Broken(_)));
    assert!(kind(b"").to_string().contains("empty"));
    let zeros = kind(&vec![0; 20_480]);
    assert!(matches!(zeros.kind, StoreErrorKind::Broken(_)) && zeros.to_string().contains("power"), "{zeros}");
    assert!(matches!(kind(&[0; 100]).kind, StoreErrorKind::Broken(_)));
    let text = kind(b"a world is no archive");
    assert_eq!(text.finding().code, Code::UnsupportedArchive);
    for packed in [gz(&noise(1, 5000)), zst(&noise(1, 5000)), xz(&noise(1, 5000)), bz2(&noise(1, 5000))] {
        let error = kind(&packed);
        assert!(matches!(&error.kind, StoreErrorKind::Unsupported(what) if what.contains("no tar")), "{error}");
    }
}

#[test]
fn several_packed_streams_in_a_row_are_one() {
    let tar = raw_tar(&[file("a", &noise(1, 40_000)), file("b", &noise(2, 40_000))]);
    let (left, right) = tar.split_at(30_001);
    for pack in [gz, zst, xz, bz2] {
        let bytes = [pack(left), pack(b""), pack(right)].concat();
        let store = sound(&bytes);
        assert_eq!(content(store.as_ref(), "a"), noise(1, 40_000));
        assert_eq!(content(store.as_ref(), "b"), noise(2, 40_000));
        assert_eq!(store.damage(), None);
    }
}

#[test]
fn frames_that_zstd_skips_are_skipped() {
    let tar = raw_tar(&[file("a", b"x")]);
    let skipped = [&0x184d_2a53_u32.to_le_bytes()[..], &5_u32.to_le_bytes(), b"hello"].concat();
    let store = sound(&[skipped.clone(), zst(&tar), skipped.clone()].concat());
    assert_eq!(content(store.as_ref(), "a"), b"x");
    assert_eq!(store.damage(), None);
    let cut = sound(&[zst(&tar), skipped[..10].to_vec()].concat());
    assert!(cut.damage().is_some());
}

#[test]
fn bytes_behind_the_packed_data_count_as_they_do_for_the_usual_tools() {
    let tar = raw_tar(&[file("a", b"x")]);
    for tail in [&[0; 100][..], b"garbage"] {
        for (pack, ignored) in [(gz as fn(&[u8]) -> Vec<u8>, true), (bz2, true), (zst, false), (xz, tail == [0; 100])] {
            let store = sound(&[&pack(&tar)[..], tail].concat());
            assert_eq!(content(store.as_ref(), "a"), b"x");
            assert_eq!(store.damage().is_none(), ignored);
        }
    }
}

#[test]
fn a_tar_without_its_end_mark_is_whole_when_its_last_file_is() {
    let tar = [file("a", b"x"), file("b", b"y")].concat();
    for bytes in [tar.clone(), gz(&tar), zst(&tar), xz(&tar), bz2(&tar)] {
        let store = sound(&bytes);
        assert_eq!(paths(store.as_ref()), ["a", "b"]);
        assert_eq!(store.damage(), None);
    }
}

#[test]
fn zip64_and_data_descriptors_are_read() {
    let mut large = zip::ZipWriter::new(Cursor::new(Vec::new()));
    large.start_file("a", SimpleFileOptions::default().large_file(true)).unwrap();
    large.write_all(&noise(1, 1000)).unwrap();
    let large = large.finish().unwrap().into_inner();
    assert_eq!(content(sound(&large).as_ref(), "a"), noise(1, 1000));

    // Written to a stream, so that sizes and checksum come behind the bytes.
    let mut stream = zip::ZipWriter::new_stream(Vec::new());
    for (name, seed) in [("a", 1), ("b", 2)] {
        stream.start_file(name, SimpleFileOptions::default()).unwrap();
        stream.write_all(&noise(seed, 1000)).unwrap();
    }
    let stream = stream.finish().unwrap().into_inner();
    let store = sound(&stream);
    assert_eq!(content(store.as_ref(), "a"), noise(1, 1000));
    assert_eq!(content(store.as_ref(), "b"), noise(2, 1000));

    // 70,000 entries do not fit the old end record.
    let mut many = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for number in 0..70_000 {
        many.start_file(format!("d{}/{number}", number % 7), options).unwrap();
    }
    let store = sound(&many.finish().unwrap().into_inner());
    assert_eq!(store.list(Path::new("d3")).unwrap().len(), 10_000);
}

#[test]
fn every_method_that_is_built_in_is_read() {
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated, zip::CompressionMethod::Bzip2] {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("a", SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(&noise(1, 200_000)).unwrap();
        let store = sound(&writer.finish().unwrap().into_inner());
        assert_eq!(content(store.as_ref(), "a"), noise(1, 200_000), "{method}");
    }
    // A stored block is the same in Deflate64.
    let block = [&[1, 3, 0, 0xfc, 0xff][..], b"xyz"].concat();
    let entry = RawEntry { method: 9, packed: 8, bytes: block, ..RawEntry::stored("a", b"xyz") };
    let store = sound(&raw_zip(&[entry.clone(), RawEntry::stored("b", b"b")]));
    assert_eq!(content(store.as_ref(), "a"), b"xyz");
    let wrong = RawEntry { crc: 7, ..entry };
    assert!(sound(&raw_zip(&[wrong])).read(Path::new("a"), 9).is_err());
}

#[test]
fn a_dos_time_has_no_zone_and_so_is_no_time() {
    let utc = [&[0x55, 0x54, 5, 0, 1][..], &u32::try_from(MTIME).unwrap().to_le_bytes()].concat();
    let with = RawEntry { extra: utc, ..RawEntry::stored("with", b"") };
    let store = sound(&raw_zip(&[with, RawEntry::stored("without", b"")]));
    let mtime = |path: &str| store.stat(Path::new(path)).unwrap().mtime.map(jiff::Timestamp::as_second);
    assert_eq!(mtime("with"), Some(i64::try_from(MTIME).unwrap()));
    assert_eq!(mtime("without"), None);
}

#[test]
fn a_comment_behind_a_zip_is_ignored_even_when_it_looks_like_an_end_record() {
    let mut bytes = raw_zip(&[RawEntry::stored("a", b"x")]);
    let comment = b"PK\x05\x06 made by hand, twenty-two bytes and more";
    let len = u16::try_from(comment.len()).unwrap().to_le_bytes();
    let at = bytes.len() - 2;
    bytes[at..].copy_from_slice(&len);
    bytes.extend(comment);
    assert_eq!(content(sound(&bytes).as_ref(), "a"), b"x");
}
