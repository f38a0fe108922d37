//! The folder of 1.0: the commit marker, the index, the chunk files' names and places, and the `.db2`.

use super::cursor::{Cursor, Fault};
use super::object::{Encoding, Object, Walked, walk};
use super::zones::Event;
use crate::model::Cancel;
use crate::store::Ceilings;

/// The most that is read of an index, in bytes: 11 for every square of the whole grid come to 704 KiB.
pub const INDEX_CEILING: u64 = 1024 * 1024;

/// Bytes of an index before its entries.
pub const INDEX_HEAD: usize = 10;

/// Bytes of one entry of an index.
pub const ENTRY_BYTES: usize = 11;

/// Bytes of a chunk file before its objects.
pub const CHUNK_HEAD: usize = 6;

/// The commit marker `.ok`: four bytes, the version.
pub fn read_marker(bytes: &[u8]) -> Result<i32, Fault> {
    let mut cursor = Cursor::new(bytes);
    let version = cursor.i32("the version")?;
    cursor.finish("the version")?;
    Ok(version)
}

/// One chunk file, as the index names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its column in the low byte, its row in the high one.
    pub id: u16,
    /// It covers 2^size columns and rows of the grid.
    pub size: u8,
    /// Raised each time that this chunk was written; not the generation.
    pub version: u32,
    /// Objects in it.
    pub objects: i32,
}

/// The id of the chunk of all portals; the chunk of id 0 holds what lies outside of the grid.
pub const PORTAL_CHUNK: u16 = 1;

/// Columns and rows of the grid; the game's world fills the middle of it.
pub const GRID: usize = 256;

/// A square of the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Western column.
    pub column: i32,
    /// Southern row.
    pub row: i32,
    /// Columns and rows.
    pub span: i32,
}

/// Edge of one column of the grid in zones.
const COLUMN_ZONES: i32 = 8;

/// Edge of one column of the grid in metres.
const COLUMN_METRES: i32 = 512;

impl Area {
    /// True when a place lies in it.
    #[inline]
    pub fn holds(&self, position: [f32; 3]) -> bool {
        let [x, _, z] = position;
        self.spans(super::zone_of(x), self.column) && self.spans(super::zone_of(z), self.row)
    }

    #[inline]
    fn spans(&self, zone: i32, first: i32) -> bool {
        let column = zone.saturating_add(256).div_euclid(COLUMN_ZONES);
        (first..first + self.span).contains(&column)
    }

    /// West and south edge, and length of an edge, in metres.
    pub fn metres(&self) -> (i32, i32, i32) {
        let edge = |column: i32| (column - 32) * COLUMN_METRES - 32;
        (edge(self.column), edge(self.row), self.span * COLUMN_METRES)
    }

    /// The zone in its south-west corner.
    pub fn first_zone(&self) -> (i32, i32) {
        (self.column * COLUMN_ZONES - 256, self.row * COLUMN_ZONES - 256)
    }
}

impl Entry {
    /// The largest size that the game makes.
    pub const LARGEST: u8 = 4;

    fn from_bytes(&[i, j, size, v0, v1, v2, v3, n0, n1, n2, n3]: &[u8; ENTRY_BYTES]) -> Self {
        Self {
            id: u16::from_le_bytes([i, j]),
            size,
            version: u32::from_le_bytes([v0, v1, v2, v3]),
            objects: i32::from_le_bytes([n0, n1, n2, n3]),
        }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{:02x}_{:02x}__{}_{}.chunk", self.id >> 8, self.id & 0xff, self.size, self.version)
    }

    /// The square that it covers; none for the two chunks that are no square, and for sizes that the game never makes.
    pub fn area(&self) -> Option<Area> {
        if self.size > Self::LARGEST || (self.size == 0 && self.id <= PORTAL_CHUNK) {
            return None;
        }
        Some(Area { column: i32::from(self.id & 0xff), row: i32::from(self.id >> 8), span: 1 << self.size })
    }

    /// True when its corner lies where a square of its size may begin.
    pub fn is_aligned(&self) -> bool {
        let low = (1_u16 << self.size.min(8)) - 1;
        self.size <= Self::LARGEST && self.id & (low | low << 8) == 0
    }

    /// Its place for a person.
    pub fn place(&self) -> String {
        match self.area() {
            Some(area) => {
                let (west, south, edge) = area.metres();
                format!("the square from x {west}, z {south} to x {}, z {} m", west + edge, south + edge)
            }
            None if self.id == PORTAL_CHUNK => "the chunk of all portals".to_owned(),
            None => "outside of the grid".to_owned(),
        }
    }
}

/// True for a name that the game takes for a chunk file.
#[allow(clippy::case_sensitive_file_extension_comparisons)] // The game compares the case as well.
pub fn is_chunk_name(name: &str) -> bool {
    name.ends_with(".chunk")
}

/// The index `.chunks`, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    /// The version.
    pub version: Option<i32>,
    /// All objects together, as the file says.
    pub total: Option<i32>,
    entries: &'a [[u8; ENTRY_BYTES]],
    /// Where reading had to end.
    pub fault: Option<Fault>,
}

impl<'a> Index<'a> {
    /// Reads an index. One whose count is wrong still gives the whole entries that are there.
    pub fn read(bytes: &'a [u8], ceilings: &Ceilings) -> Self {
        let mut index = Self::default();
        index.fault = index.fill(bytes, ceilings).err();
        index
    }

    fn fill(&mut self, bytes: &'a [u8], ceilings: &Ceilings) -> Result<(), Fault> {
        let mut cursor = Cursor::new(bytes);
        self.version = Some(cursor.u16("the version")?.into());
        self.total = Some(cursor.i32("the count of all objects")?);
        let at = cursor.clone();
        let count = cursor.count(ENTRY_BYTES, ceilings.objects, "the count of chunks");
        let Ok(count) = count else {
            self.entries = at.rest().get(4..).unwrap_or_default().as_chunks().0;
            return count.map(|_| ());
        };
        self.entries = cursor.take(count * ENTRY_BYTES, "the entries")?.as_chunks().0;
        cursor.finish("the entries")
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + use<'a> {
        self.entries.iter().map(Entry::from_bytes)
    }

    /// One entry.
    pub fn get(&self, number: usize) -> Option<Entry> {
        self.entries.get(number).map(Entry::from_bytes)
    }

    /// The sum of the entries' objects, those below zero left out.
    pub fn sum(&self) -> i64 {
        self.iter().map(|entry| i64::from(entry.objects.max(0))).sum()
    }
}

/// A chunk file, as far as it could be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunk {
    /// The version.
    pub version: Option<i32>,
    /// The objects that its head counts; may be nonsense.
    pub counted: Option<i32>,
    /// How the walk over the objects ended.
    pub walked: Walked,
    /// What is wrong outside the objects: the head, or bytes left over.
    pub fault: Option<Fault>,
}

impl Chunk {
    /// Reads the head alone.
    pub fn read_head(bytes: &[u8]) -> Self {
        let mut chunk = Self::default();
        chunk.fault = chunk.fill_head(&mut Cursor::new(bytes)).err();
        chunk
    }

    /// Reads a chunk file of a version in [`super::FOLDER_VERSIONS`], showing each object to `visit` as [`walk`]
    /// does; of another version the head alone.
    pub fn read<'a>(
        bytes: &'a [u8],
        ceilings: &Ceilings,
        cancel: &Cancel,
        visit: &mut impl FnMut(&Object<'a>) -> bool,
    ) -> Self {
        let mut chunk = Self::read_head(bytes);
        if chunk.version.is_some_and(|version| super::FOLDER_VERSIONS.contains(&version)) && chunk.fault.is_none() {
            chunk.fault = chunk.fill(bytes, ceilings, cancel, visit).err();
        }
        chunk
    }

    fn fill_head(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.version = Some(cursor.i16("the version")?.into());
        self.counted = Some(cursor.i32("the count of objects")?);
        Ok(())
    }

    fn fill<'a>(
        &mut self,
        bytes: &'a [u8],
        ceilings: &Ceilings,
        cancel: &Cancel,
        visit: &mut impl FnMut(&Object<'a>) -> bool,
    ) -> Result<(), Fault> {
        let mut cursor = Cursor::new(bytes);
        cursor.take(2, "the version")?;
        let encoding = Encoding::Chunked;
        let count = cursor.count(encoding.least_bytes(), ceilings.objects, "the count of objects")?;
        self.walked = walk(&mut cursor, count as u64, encoding, ceilings, cancel, visit);
        if self.walked.reached_end() { cursor.finish("the objects") } else { Ok(()) }
    }
}

/// Bytes of a `.db2` before its zone block.
pub const DB2_HEAD: usize = 12;

/// The `.db2`, as far as it could be read; its two blocks are still packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Db2<'a> {
    /// The version.
    pub version: Option<i32>,
    /// The world's age in seconds.
    pub net_time: Option<f64>,
    /// Where the zone block begins, and the block.
    pub zones: Option<(u64, &'a [u8])>,
    /// The random event.
    pub event: Option<Event<'a>>,
    /// Where the block of persistent events begins, and the block.
    pub events: Option<(u64, &'a [u8])>,
    /// Where reading had to end, or bytes that are left over.
    pub fault: Option<Fault>,
}

impl<'a> Db2<'a> {
    /// Reads the version and the time from the first bytes.
    pub fn read_head(bytes: &'a [u8]) -> Self {
        let mut db2 = Self::default();
        db2.fault = db2.fill_head(&mut Cursor::new(bytes)).err();
        db2
    }

    /// Reads a whole `.db2`.
    pub fn read(bytes: &'a [u8], ceilings: &Ceilings) -> Self {
        let mut db2 = Self::default();
        db2.fault = db2.fill(&mut Cursor::new(bytes), ceilings).err();
        db2
    }

    fn fill_head(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Fault> {
        self.version = Some(cursor.i32("the version")?);
        self.net_time = Some(cursor.f64("the world's time")?);
        Ok(())
    }

    fn fill(&mut self, cursor: &mut Cursor<'a>, ceilings: &Ceilings) -> Result<(), Fault> {
        self.fill_head(cursor)?;
        let start = cursor.offset() + 4;
        match cursor.counted(ceilings.packed_block, "the zone block") {
            Ok(block) => self.zones = Some((start, block)),
            Err(fault) => {
                // What there is of the block can still be inflated.
                self.zones = cursor.rest().get(4..).map(|rest| (start, rest));
                return Err(fault);
            }
        }
        self.event = Some(Event::read(cursor, ceilings)?);
        let start = cursor.offset() + 4;
        self.events = Some((start, cursor.counted(ceilings.packed_block, "the block of persistent events")?));
        cursor.finish("the block of persistent events")
    }
}
