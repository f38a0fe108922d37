//! Archives that mean harm, or are damaged: nothing of them arrives, and nothing is left.

use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use worldkeep::model::Cancel;
use worldkeep::model::outline::Origin;
use worldkeep::model::plan::{Operation, Reason};
use worldkeep::ops::tree::Copied;
use worldkeep::ops::unpack::unpack;
use worldkeep::ops::{Cause, Failure, Root, State};
use zip::write::SimpleFileOptions;

use crate::lab::Lab;

struct Bench {
    _temp: tempfile::TempDir,
    base: PathBuf,
}

impl Bench {
    fn new(archive: &[u8]) -> Self {
        let temp = tempfile::TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::write(base.join("archive"), archive).unwrap();
        fs::create_dir(base.join("keep")).unwrap();
        Self { _temp: temp, base }
    }

    fn unpack(&self, members: &[(&str, &str)]) -> Result<Copied, Failure> {
        let members: Vec<(PathBuf, PathBuf)> = members.iter().map(|(from, to)| (from.into(), to.into())).collect();
        let parent = Root::open(&self.base.join("keep")).unwrap();
        unpack(&self.base.join("archive"), &members, &parent, OsStr::new("stage"), &Cancel::new(), &mut |_| {})
    }

    fn stage(&self, name: &str) -> PathBuf {
        self.base.join("keep/stage").join(name)
    }

    /// That this is refused in such words and leaves nothing, and nothing outside.
    fn refuses(&self, members: &[(&str, &str)], word: &str) {
        let failure = self.unpack(members).expect_err(word);
        assert!(failure.to_string().contains(word), "'{word}' in: {failure}");
        assert!(!matches!(failure.state, State::Left { .. }), "{failure}");
        assert_eq!(fs::read_dir(self.base.join("keep")).unwrap().count(), 0, "{failure}");
        assert_eq!(fs::read_dir(&self.base).unwrap().count(), 2);
    }
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().unix_permissions(0o4777)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The same bytes with every `from` as `to`, which has its length.
fn patched(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes.get(at..at + from.len()) == Some(from) {
            bytes.splice(at..at + from.len(), to.iter().copied());
            found += 1;
        }
    }
    assert!(found > 0);
    bytes
}

#[test]
fn only_what_is_listed_arrives_with_its_bytes_and_no_rights_of_the_archive() {
    let bench = Bench::new(&zip(&[("W/a", b"first"), ("W/sub/b", b"second"), ("W/c", b"not wanted")]));
    let copied = bench.unpack(&[("W/a", "a"), ("W/sub/b", "deep/er/b")]).unwrap();
    assert_eq!((copied.files, copied.folders, copied.bytes), (2, 2, 11));
    assert_eq!(fs::read(bench.stage("a")).unwrap(), b"first");
    assert_eq!(fs::read(bench.stage("deep/er/b")).unwrap(), b"second");
    assert_eq!(fs::read_dir(bench.stage("")).unwrap().count(), 2);
    assert_eq!(fs::metadata(bench.stage("a")).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn tars_plain_and_packed_are_unpacked() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(5);
    header.set_mode(0o4777);
    header.set_mtime(1_700_000_000);
    builder.append_data(&mut header, "W/a", &b"first"[..]).unwrap();
    let plain = builder.into_inner().unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&plain).unwrap();
    let gz = gz.finish().unwrap();
    for archive in [plain, gz] {
        let bench = Bench::new(&archive);
        bench.unpack(&[("W/a", "a")]).unwrap();
        assert_eq!(fs::read(bench.stage("a")).unwrap(), b"first");
        let meta = fs::metadata(bench.stage("a")).unwrap();
        assert_eq!((meta.mtime(), meta.mode() & 0o7777), (1_700_000_000, 0o600));
    }
}

#[test]
fn names_that_climb_are_absolute_or_mean_something_elsewhere_refuse_the_archive() {
    let good = zip(&[("W/a", b"wanted"), ("xx/xxevil", b"x")]);
    for evil in
        ["../xxevil", "/xx/xevil", "x\\..\\evil", "C:/xxevil", "x/./xevil", "x//xxevil", "aux.x/evi", "x/xxevil "]
    {
        let bench = Bench::new(&patched(&good, b"xx/xxevil", evil.as_bytes()));
        bench.refuses(&[("W/a", "a")], "refused");
    }
}

#[test]
fn links_refuse_the_archive() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("W/a", SimpleFileOptions::default()).unwrap();
    writer.add_symlink("W/link", "/etc", SimpleFileOptions::default()).unwrap();
    Bench::new(&writer.finish().unwrap().into_inner()).refuses(&[("W/a", "a")], "link");

    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Fifo, tar::EntryType::Char] {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_entry_type(kind);
        header.set_link_name("../../etc/passwd").unwrap();
        builder.append_data(&mut header, "W/link", &b""[..]).unwrap();
        let bench = Bench::new(&builder.into_inner().unwrap());
        let failure = bench.unpack(&[("W/link", "link")]).unwrap_err();
        assert!(matches!(failure.cause, Cause::Archive(_)), "{failure}");
        assert_eq!(fs::read_dir(bench.base.join("keep")).unwrap().count(), 0);
    }
}

#[test]
fn names_that_stand_twice_or_differ_in_case_refuse_the_archive() {
    let good = zip(&[("W/aa", b"first"), ("W/bb", b"second")]);
    Bench::new(&patched(&good, b"W/bb", b"W/aa")).refuses(&[("W/aa", "a")], "twice");
    Bench::new(&patched(&good, b"W/bb", b"W/AA")).refuses(&[("W/aa", "a")], "case");
    Bench::new(&patched(&good, b"W/bb", b"w/bb")).refuses(&[("W/aa", "a")], "case");
}

#[test]
fn a_bit_flip_is_found_by_the_checksum_and_a_lie_about_the_size_as_well() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    writer.start_file("W/good", stored).unwrap();
    writer.write_all(b"good").unwrap();
    writer.start_file("W/a", stored).unwrap();
    writer.write_all(b"all the bytes of a world").unwrap();
    let good = writer.finish().unwrap().into_inner();
    let flipped = Bench::new(&patched(&good, b"all the bytes", b"all the bites"));
    flipped.refuses(&[("W/good", "good"), ("W/a", "a")], "checksum");
    flipped.unpack(&[("W/good", "good")]).unwrap();

    let deflated = zip(&[("W/a", &[b'x'; 5000])]);
    let lies = Bench::new(&patched(&deflated, &5000_u32.to_le_bytes(), &10_u32.to_le_bytes()));
    lies.refuses(&[("W/a", "a")], "more bytes");
    let lies = Bench::new(&patched(&deflated, &5000_u32.to_le_bytes(), &5001_u32.to_le_bytes()));
    lies.refuses(&[("W/a", "a")], "fewer bytes");
}

#[test]
fn a_bomb_is_refused_by_what_it_says_and_by_what_it_is() {
    let packed = zip(&[("W/a", &vec![0; 3 << 20])]);
    let size = u32::try_from(3 << 20).unwrap().to_le_bytes();
    Bench::new(&patched(&packed, &size, &u32::to_le_bytes(2_000_000_000))).refuses(&[("W/a", "a")], "times as many");
    Bench::new(&patched(&packed, &size, &u32::to_le_bytes(1))).refuses(&[("W/a", "a")], "more bytes");
}

#[test]
fn an_archive_that_was_cut_off_or_is_none_is_refused() {
    let good = zip(&[("W/a", b"wanted")]);
    Bench::new(&good[..good.len() / 2]).refuses(&[("W/a", "a")], "cut off");
    Bench::new(b"no archive").refuses(&[("W/a", "a")], "neither a folder nor an archive");
    Bench::new(b"").refuses(&[("W/a", "a")], "empty");
    Bench::new(&good).refuses(&[("W/b", "b")], "not there");
    Bench::new(&good).refuses(&[("W", "b")], "no file");
}

#[test]
fn places_that_are_no_plain_names_below_the_stage_are_refused() {
    let bench = Bench::new(&zip(&[("W/a", b"a"), ("W/b", b"b")]));
    for bad in ["../a", "/a", "x/../../a", "./a", "a/", "x\\a", "a.", "a\nb"] {
        bench.refuses(&[("W/a", bad)], "");
    }
    bench.refuses(&[("W/a", "a"), ("W/b", "a")], "twice");
    bench.refuses(&[("W/a", "a"), ("W/b", "A")], "twice");
    bench.refuses(&[("W/a", "x"), ("W/b", "x/y")], "a file and a folder");
    bench.refuses(&[("W/a", "X"), ("W/b", "x/y")], "a file and a folder");
    bench.refuses(&[("W/a", ""), ("W/b", "b")], "no place");
    bench.refuses(&[], "none of its files");
}

#[test]
fn what_is_in_the_way_of_a_stage_stays() {
    let bench = Bench::new(&zip(&[("W/a", b"a")]));
    fs::create_dir(bench.stage("")).unwrap();
    fs::write(bench.stage("of somebody else"), "x").unwrap();
    for below in ["a", ""] {
        let failure = bench.unpack(&[("W/a", below)]).unwrap_err();
        assert!(matches!(failure.cause, Cause::NameTaken) && failure.state == State::NothingMade, "{failure:?}");
    }
    assert_eq!(fs::read(bench.stage("of somebody else")).unwrap(), b"x");
}

#[test]
fn case_8_a_hostile_or_damaged_archive_has_no_plan() {
    let lab = Lab::new();
    let members = vec![(PathBuf::from("W/a"), PathBuf::from("world.db"))];
    let ask = |archive: &[u8]| {
        lab.write("nightly.zip", archive);
        let origin = Origin::Members { archive: lab.world("nightly.zip"), members: members.clone() };
        lab.outline(Operation::Restore, vec![lab.put_of(origin, Vec::new(), "Midgard", true)])
    };
    let good = zip(&[("W/a", b"a"), ("xx/xxevil", b"x")]);
    lab.plan(ask(&good)).unwrap();
    lab.refuses(ask(&patched(&good, b"xx/xxevil", b"../xxevil")), Reason::NotRestorable, &["nightly.zip", "climbs"]);
    lab.refuses(ask(&good[..good.len() / 2]), Reason::NotRestorable, &["nightly.zip", "cut off"]);
    fs::remove_file(lab.world("nightly.zip")).unwrap();
    let origin = Origin::Members { archive: lab.world("nightly.zip"), members: members.clone() };
    let gone = lab.outline(Operation::Restore, vec![lab.put_of(origin, Vec::new(), "Midgard", true)]);
    lab.refuses(gone, Reason::SourceGone, &["nightly.zip", "not there"]);
    assert!(Path::new(&lab.world("Midgard/only-old")).exists());
}
