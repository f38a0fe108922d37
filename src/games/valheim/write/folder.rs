//! The files of one generation in a 1.0 folder.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::{Compression, GzBuilder};

use super::bytes::Out;
use super::object;
use super::pair;
use super::plan::{Object, WorldPlan};

/// Zones from the grid's corner to its centre.
const GRID: i32 = 256;
/// Zones along one edge of a base chunk.
const CHUNK: i32 = 8;
/// The chunk of all portals.
const PORTALS: Chunk = Chunk { id: 1, size: 0 };
/// The chunk of everything outside the grid.
const OUTSIDE: Chunk = Chunk { id: 0, size: 0 };
/// The most that one uncompressed part of a Brotli stream with a length of four digits holds.
const BROTLI_PART: usize = 0x1_0000;

/// The area of one chunk file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chunk {
    /// Column in the low byte, row in the high byte, of its south-western base chunk; 0 is everything outside the grid, 1 all
    /// portals.
    pub id: u16,
    /// It covers `2^size` by `2^size` base chunks of 512 m.
    pub size: u8,
}

impl Chunk {
    /// The chunk that an object is kept in when base chunks are merged to `size`, at most 4.
    pub fn of(object: &Object, size: u8) -> Self {
        if object.is_portal() {
            return PORTALS;
        }
        let (x, z) = object.zone();
        let cell = |zone: i32| u8::try_from(zone.saturating_add(GRID).div_euclid(CHUNK)).ok().filter(|n| *n < 64);
        let (Some(column), Some(row)) = (cell(x), cell(z)) else { return OUTSIDE };
        let size = size.min(4);
        let mask = u8::MAX << size;
        Self { id: u16::from_le_bytes([column & mask, row & mask]), size }
    }

    /// The name of its file at a version.
    pub fn file_name(self, version: u32) -> String {
        let [column, row] = self.id.to_le_bytes();
        format!("{row:02x}_{column:02x}__{}_{version}.chunk", self.size)
    }

    /// The order of the index: by column, then by row.
    fn order(self) -> (u8, u8, u8) {
        let [column, row] = self.id.to_le_bytes();
        (column, row, self.size)
    }
}

/// One line of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Which area.
    pub chunk: Chunk,
    /// The chunk's own version, raised only when it changed.
    pub version: u32,
    /// How many objects its file holds.
    pub objects: i32,
}

/// The files of a generation by name: the chunk files in the index's order, then the four of the generation in the
/// order in which the game writes them.
pub(super) fn files(
    plan: &WorldPlan,
    version: i32,
    generation: u32,
    mut chunk_version: impl FnMut(Chunk) -> u32,
) -> Vec<(String, Vec<u8>)> {
    let mut groups: BTreeMap<(u8, u8, u8), (Chunk, Vec<&Object>)> = BTreeMap::new();
    for object in &plan.objects {
        let chunk = Chunk::of(object, plan.chunk_size);
        groups.entry(chunk.order()).or_insert_with(|| (chunk, Vec::new())).1.push(object);
    }
    let mut files = Vec::with_capacity(groups.len() + 4);
    let mut entries = Vec::with_capacity(groups.len());
    for (chunk, objects) in groups.into_values() {
        let chunk_version = chunk_version(chunk);
        let count = i32::try_from(objects.len()).unwrap_or(i32::MAX);
        files.push((chunk.file_name(chunk_version), chunk_file(&objects, version)));
        entries.push(IndexEntry { chunk, version: chunk_version, objects: count });
    }
    let mut main = |extension: &str, bytes| files.push((format!("_main.{generation}.{extension}"), bytes));
    main("chunks", index(&entries, version));
    main("db2", data(plan, version));
    main("fwl2", pair::metadata(plan, version));
    main("ok", marker(version));
    files
}

fn chunk_file(objects: &[&Object], version: i32) -> Vec<u8> {
    let mut out = Out::default();
    out.i16(object::clamp(version));
    out.len(objects.len());
    for object in objects {
        object::chunked(&mut out, object, version);
    }
    out.0
}

/// The index of a generation, `.chunks`; the entries are written as they come.
pub fn index(entries: &[IndexEntry], version: i32) -> Vec<u8> {
    let mut out = Out::default();
    out.i16(object::clamp(version));
    out.i32(entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.objects)));
    out.len(entries.len());
    for entry in entries {
        out.u16(entry.chunk.id);
        out.u8(entry.chunk.size);
        out.u32(entry.version);
        out.i32(entry.objects);
    }
    out.0
}

/// The commit marker, `.ok`.
pub fn marker(version: i32) -> Vec<u8> {
    version.to_le_bytes().to_vec()
}

/// The world data, `.db2`: time, zones, random event, persistent events.
pub(super) fn data(plan: &WorldPlan, version: i32) -> Vec<u8> {
    let mut zones = Out::default();
    pair::zones(&mut zones, plan, version);
    let mut out = Out::default();
    out.i32(version);
    out.f64(plan.net_time);
    out.block(&gzip(&zones.0));
    pair::event(&mut out, &plan.event);
    out.block(&brotli(plan.persistent_events.as_bytes()));
    out.0
}

/// Bytes as one gzip member without a name or a time, so that the same bytes always give the same member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(6));
    // Writing into memory does not fail; if it ever did, the member would be cut, which every reader notices.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// Bytes as a Brotli stream of uncompressed parts, which is how the game itself ends up storing a short text.
pub fn brotli(bytes: &[u8]) -> Vec<u8> {
    const WINDOW: u32 = 0b1011; // 4 MiB, in the first four bits of the stream
    const LAST_AND_EMPTY: u32 = 0b11;
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut window_bits = 4;
    let mut window = WINDOW;
    for part in bytes.chunks(BROTLI_PART) {
        // Not the last part, four digits of length, the length less one, stored as it is; then whole bytes.
        let length = u32::try_from(part.len() - 1).unwrap_or_default();
        let header = window | (length << 3 | 1 << 19) << window_bits;
        out.extend(header.to_le_bytes().into_iter().take(3));
        out.extend_from_slice(part);
        (window, window_bits) = (0, 0);
    }
    let [end, ..] = (window | LAST_AND_EMPTY << window_bits).to_le_bytes();
    out.push(end);
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{Chunk, IndexEntry, brotli, gzip, index};
    use crate::games::valheim::write::{Object, WorldPlan};

    #[test]
    fn an_empty_list_of_events_is_stored_as_the_game_stores_it() {
        let want = [&[0x0b, 0x05, 0x80][..], br#"{"list":[]}"#, &[0x03]].concat();
        assert_eq!(brotli(br#"{"list":[]}"#), want);
    }

    #[test]
    fn brotli_streams_of_every_length_can_be_read_back() {
        for length in [0, 1, 2, 255, 0xffff, 0x1_0000, 0x1_0001, 0x2_0005] {
            let text: Vec<u8> = (0..=250).cycle().take(length).collect();
            let mut back = Vec::new();
            brotli_decompressor::Decompressor::new(&brotli(&text)[..], 4096).read_to_end(&mut back).unwrap();
            assert!(back == text, "{length}");
        }
    }

    #[test]
    fn gzip_members_can_be_read_back_and_carry_no_time() {
        let packed = gzip(b"zones zones zones");
        assert_eq!(packed.get(4..8), Some(&[0; 4][..]));
        let mut back = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, "zones zones zones");
    }

    #[test]
    fn an_index_is_that_of_a_real_server_byte_for_byte() {
        let entry = |id, objects| IndexEntry { chunk: Chunk { id, size: 1 }, version: 1, objects };
        let entries = [entry(0x1e1e, 326), entry(0x201e, 4915), entry(0x2020, 366)];
        let want = [
            &[0x29, 0x00, 0xe7, 0x15, 0, 0, 3, 0, 0, 0][..],
            &[0x1e, 0x1e, 1, 1, 0, 0, 0, 0x46, 1, 0, 0],
            &[0x1e, 0x20, 1, 1, 0, 0, 0, 0x33, 0x13, 0, 0],
            &[0x20, 0x20, 1, 1, 0, 0, 0, 0x6e, 1, 0, 0],
        ]
        .concat();
        assert_eq!(index(&entries, 41), want);
        assert_eq!(entries[1].chunk.file_name(11), "20_1e__1_11.chunk");
    }

    #[test]
    fn objects_go_to_the_chunk_of_their_zone() {
        let of = |x, z, size| Chunk::of(&Object::new("Beech1", [x, 0.0, z]), size);
        assert_eq!(of(0.0, 0.0, 0), Chunk { id: 0x2020, size: 0 });
        assert_eq!(of(-32.5, 0.0, 0), Chunk { id: 0x201f, size: 0 });
        assert_eq!(of(-32.5, 0.0, 1), Chunk { id: 0x201e, size: 1 });
        assert_eq!(of(480.0, -40.0, 4), Chunk { id: 0x1020, size: 4 });
        assert_eq!(of(1_000_000.0, 1_000_000.0, 1), Chunk { id: 0, size: 0 });
        assert_eq!(of(-16_500.0, 0.0, 1), Chunk { id: 0, size: 0 });
        assert_eq!(of(f32::INFINITY, f32::NEG_INFINITY, 1), Chunk { id: 0, size: 0 });
        assert_eq!(Chunk::of(&Object::new("portal_wood", [9.0; 3]), 1), Chunk { id: 1, size: 0 });
    }

    #[test]
    fn a_generation_ends_with_its_marker_and_its_index_counts_every_object() {
        let mut plan = WorldPlan::new("W", "s");
        plan.objects = (0..500_u16).map(|n| Object::new("Beech1", [f32::from(n) * 3.0, 30.0, 0.0])).collect();
        let mut versions = 0;
        let files = plan.to_folder(41, 7, |_| {
            versions += 1;
            versions
        });
        let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["20_20__1_1.chunk", "20_22__1_2.chunk", "_main.7.chunks", "_main.7.db2", "_main.7.fwl2", "_main.7.ok"]
        );
        let total = files.iter().find(|(name, _)| name == "_main.7.chunks").and_then(|(_, bytes)| bytes.get(2..6));
        assert_eq!(total, Some(&500_i32.to_le_bytes()[..]));
    }
}
