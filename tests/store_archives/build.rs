//! Archives made in memory: by the usual libraries, and by hand for what libraries refuse to write.

use std::io::{Cursor, Write};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

/// A small tree: path and content, a path with a slash at its end is a folder.
pub(crate) type Tree = Vec<(&'static str, Vec<u8>)>;

/// Seconds since 1970 that every file of [`tree`] gets.
pub(crate) const MTIME: u64 = 1_700_000_000;

/// Bytes that do not pack well, the same every time.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(step).collect()
}

/// The tree of the conformance tests.
pub(crate) fn tree() -> Tree {
    vec![
        ("worlds_local/", Vec::new()),
        ("worlds_local/Midgard.db", noise(1, 3000)),
        ("worlds_local/Midgard.fwl", b"fwl".to_vec()),
        ("worlds_local/Überwelt/", Vec::new()),
        ("worlds_local/Überwelt/00_00__0_3.chunk", noise(2, 70_000)),
        ("worlds_local/Überwelt/W.ok", Vec::new()),
        ("worlds_local/Überwelt/zeros", vec![0; 40_000]),
        ("notes.txt", b"by hand\n".to_vec()),
        ("empty/", Vec::new()),
    ]
}

/// A zip by the crate, with times in UTC.
pub(crate) fn zip(tree: &Tree) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in tree {
        let mut options: zip::write::FullFileOptions<'_, '_> = SimpleFileOptions::default().into_full_options();
        options
            .add_extra_field(0x5455, [&[1][..], &u32::try_from(MTIME).unwrap().to_le_bytes()].concat(), false)
            .unwrap();
        if path.ends_with('/') {
            writer.add_directory(*path, options).unwrap();
        } else {
            writer.start_file(*path, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A tar by the crate.
pub(crate) fn tar(tree: &Tree) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in tree {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mtime(MTIME);
        header.set_mode(0o644);
        header.set_entry_type(if path.ends_with('/') { EntryType::Directory } else { EntryType::Regular });
        builder.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Every kind of archive of a tree, with a name for messages.
pub(crate) fn every_kind(tree: &Tree) -> Vec<(&'static str, Vec<u8>)> {
    let tar = tar(tree);
    vec![
        ("zip", zip(tree)),
        ("tar.gz", gz(&tar)),
        ("tar.zst", zst(&tar)),
        ("tar.xz", xz(&tar)),
        ("tar.bz2", bz2(&tar)),
        ("tar", tar),
    ]
}

/// One entry of a zip made by hand. [`RawEntry::stored`] gives one that is right; every field can then be made wrong.
#[derive(Clone)]
pub(crate) struct RawEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) size: u32,
    /// The system in the upper byte: 0 for DOS, 3 for Unix.
    pub(crate) made_by: u16,
    pub(crate) attributes: u32,
    pub(crate) extra: Vec<u8>,
    /// Where the local header is said to be, instead of where it is.
    pub(crate) header: Option<u32>,
}

impl RawEntry {
    pub(crate) fn stored<N: AsRef<[u8]>>(name: N, bytes: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let len = u32::try_from(bytes.len()).unwrap();
        Self {
            name: name.as_ref().to_vec(),
            bytes: bytes.to_vec(),
            method: 0,
            flags: 0,
            crc: crc.sum(),
            packed: len,
            size: len,
            made_by: 0x031e,
            attributes: 0o100_644 << 16,
            extra: Vec::new(),
            header: None,
        }
    }

    pub(crate) fn deflated<N: AsRef<[u8]>>(name: N, bytes: &[u8]) -> Self {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        let packed = encoder.finish().unwrap();
        Self { method: 8, packed: u32::try_from(packed.len()).unwrap(), bytes: packed, ..Self::stored(name, bytes) }
    }

    /// The fields that local and central headers share.
    fn shared(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [20, self.flags, self.method, 0x6000, 0x5a21] {
            out.extend(u16::to_le_bytes(word));
        }
        for word in [self.crc, self.packed, self.size] {
            out.extend(word.to_le_bytes());
        }
        out.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        out
    }
}

/// A zip made by hand.
pub(crate) fn raw_zip(entries: &[RawEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let header = u32::try_from(out.len()).unwrap();
        out.extend(b"PK\x03\x04");
        out.extend(entry.shared());
        out.extend([0, 0]);
        out.extend(&entry.name);
        out.extend(&entry.bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend(entry.made_by.to_le_bytes());
        directory.extend(entry.shared());
        directory.extend(u16::try_from(entry.extra.len()).unwrap().to_le_bytes());
        directory.extend([0; 6]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend(entry.header.unwrap_or(header).to_le_bytes());
        directory.extend(&entry.name);
        directory.extend(&entry.extra);
    }
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// One entry of a tar made by hand: a header with this kind and name, and the content in whole blocks.
pub(crate) fn raw_tar_entry(kind: u8, name: &[u8], content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(EntryType::new(kind));
    header.set_mode(0o644);
    header.set_mtime(MTIME);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend(content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

/// A tar of entries made by hand, with its end mark.
pub(crate) fn raw_tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut out = entries.concat();
    out.extend([0; 1024]);
    out
}

/// A pax record.
pub(crate) fn pax(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = [b" ", key.as_bytes(), b"=", value, b"\n"].concat();
    let mut len = rest.len() + 1;
    while len != rest.len() + len.to_string().len() {
        len = rest.len() + len.to_string().len();
    }
    [len.to_string().as_bytes(), &rest].concat()
}
