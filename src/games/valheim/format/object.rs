//! Objects one after the other, in the three ways in which the game has written them.

use super::cursor::{Cursor, Fault, FaultKind, Tally};
use super::hash::ascii_hash;
use super::prefab::Interest;
use crate::model::Cancel;
use crate::store::Ceilings;

const CREATOR: i32 = ascii_hash("creator");
const SEED: i32 = ascii_hash("seed");
const TAG: i32 = ascii_hash("tag");
const OWNER_NAME: i32 = ascii_hash("ownerName");

/// How objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Up to version 30: an id, and a block of known length with seven maps.
    Block {
        /// Byte arrays are there (from version 27).
        byte_arrays: bool,
    },
    /// From version 31 to 39: flags say which parts follow.
    Flat {
        /// Counts over 127 take two bytes (from version 33).
        wide_counts: bool,
    },
    /// From version 40: as [`Encoding::Flat`], without a sector, with short forms of place and turn.
    Chunked,
}

impl Encoding {
    /// The encoding of a version; version 30 is [`Encoding::Block`] here, which [`Encoding::detect`] settles.
    pub fn of(version: i32) -> Self {
        match version {
            ..=30 => Self::Block { byte_arrays: version >= 27 },
            31..=39 => Self::Flat { wide_counts: version >= 33 },
            _ => Self::Chunked,
        }
    }

    /// The encoding of a version, seen from its objects.
    ///
    /// Public readers disagree about version 30. A block tells its own length, so a first object that uses it up
    /// exactly settles the question.
    pub fn detect(version: i32, objects: &Cursor<'_>, ceilings: &Ceilings) -> Self {
        let flat = Self::Flat { wide_counts: false };
        let fits = |encoding: Self| {
            let mut odd = Odd::default();
            encoding.read(&mut objects.clone(), 0, ceilings, &mut odd).is_ok() && odd.blocks.count == 0
        };
        let block = Self::of(version);
        if version == 30 && !fits(block) && fits(flat) { flat } else { block }
    }

    /// The fewest bytes that one object can take.
    pub fn least_bytes(self) -> usize {
        match self {
            Self::Block { .. } => 16,
            Self::Flat { .. } => 22,
            Self::Chunked => 10,
        }
    }

    #[inline]
    fn read<'a>(
        self,
        cursor: &mut Cursor<'a>,
        number: u64,
        ceilings: &Ceilings,
        odd: &mut Odd,
    ) -> Result<Object<'a>, Fault> {
        match self {
            Self::Block { byte_arrays } => block(cursor, number, byte_arrays, ceilings, odd),
            Self::Flat { wide_counts } => flat(cursor, number, wide_counts, ceilings, odd),
            Self::Chunked => chunked(cursor, number, ceilings, odd),
        }
    }
}

/// What is looked at of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<'a> {
    /// Its number in its file, from 0.
    pub number: u64,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// The hash of its prefab's name; 0 only when its block could not be read.
    pub prefab: i32,
    /// The zone that it says to lie in, where the format stores it.
    pub sector: Option<(i32, i32)>,
    /// East, up and north in metres.
    pub position: [f32; 3],
    /// A player built it: it names its creator.
    pub built: bool,
    /// The number `seed` of a `LocationProxy`.
    pub seed: Option<i32>,
    /// The tag of a portal or the owner's name of a bed; untrusted, and not always UTF-8.
    pub text: Option<&'a [u8]>,
}

/// Oddities in objects that do not stop the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    /// Texts that are not UTF-8.
    pub texts: Tally,
    /// Blocks whose content does not fit their length, or cannot be read; the next block follows all the same.
    pub blocks: Tally,
}

/// The last object before the step was lost that looked right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Good {
    /// Its number.
    pub number: u64,
    /// Its prefab.
    pub prefab: i32,
}

/// Where a walk could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The object in which, at the latest, the step was lost.
    pub object: u64,
    /// Where it begins.
    pub offset: u64,
    /// Where reading ended, and why.
    pub fault: Fault,
    /// The last object before it that looked right.
    pub good: Option<Good>,
}

/// How a walk over objects ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Objects that were read.
    pub objects: u64,
    /// The walk could not reach the end.
    pub lost: Option<Lost>,
    /// Nobody waits for the result any more; the walk ended early.
    pub cancelled: bool,
    /// Oddities on the way.
    pub odd: Odd,
}

impl Walked {
    /// True when every object was read.
    pub fn reached_end(&self) -> bool {
        self.lost.is_none() && !self.cancelled
    }
}

/// So many objects in a row that lie where they cannot lie are no objects.
const LAST_STREAK: u64 = 64;

/// Reads `count` objects and shows each to `visit`, which answers whether the object lies where it can lie.
///
/// A count or a length that is wrong shifts everything behind it. When the walk has to end, the objects before the
/// end that `visit` did not believe are taken for such shifted bytes, and the step for lost at the first of them.
pub fn walk<'a>(
    cursor: &mut Cursor<'a>,
    count: u64,
    encoding: Encoding,
    ceilings: &Ceilings,
    cancel: &Cancel,
    visit: &mut impl FnMut(&Object<'a>) -> bool,
) -> Walked {
    // The match stands outside the loop, so that each encoding gets a loop of its own.
    match encoding {
        Encoding::Block { byte_arrays } => walk_with(cursor, count, cancel, visit, |cursor, number, odd| {
            block(cursor, number, byte_arrays, ceilings, odd)
        }),
        Encoding::Flat { wide_counts } => walk_with(cursor, count, cancel, visit, |cursor, number, odd| {
            flat(cursor, number, wide_counts, ceilings, odd)
        }),
        Encoding::Chunked => {
            walk_with(cursor, count, cancel, visit, |cursor, number, odd| chunked(cursor, number, ceilings, odd))
        }
    }
}

#[inline]
fn walk_with<'a>(
    cursor: &mut Cursor<'a>,
    count: u64,
    cancel: &Cancel,
    visit: &mut impl FnMut(&Object<'a>) -> bool,
    read: impl Fn(&mut Cursor<'a>, u64, &mut Odd) -> Result<Object<'a>, Fault>,
) -> Walked {
    let mut walked = Walked::default();
    let mut good = None;
    // The first of the unbelievable objects since the last good one.
    let mut doubt: Option<(u64, u64)> = None;
    for number in 0..count {
        if number % 4096 == 0 && cancel.cancelled() {
            walked.cancelled = true;
            return walked;
        }
        let offset = cursor.offset();
        let fault = match read(cursor, number, &mut walked.odd) {
            Ok(object) => {
                walked.objects += 1;
                if visit(&object) {
                    good = Some(Good { number, prefab: object.prefab });
                    doubt = None;
                    continue;
                }
                let (first, _) = *doubt.get_or_insert((number, offset));
                if number - first < LAST_STREAK {
                    continue;
                }
                let what = "an object, as all before it in a long row, not where it can be; its prefab";
                Fault { offset, kind: FaultKind::BadValue { value: i64::from(object.prefab) }, what }
            }
            Err(fault) => fault,
        };
        let (object, offset) = doubt.unwrap_or((number, offset));
        walked.lost = Some(Lost { object, offset, fault, good });
        return walked;
    }
    walked
}

/// Flag bits that are known before version 40; real files set no other.
const KNOWN_FLAGS: u16 = 0x1fff;
const TURNED: u16 = 0x1000;
const SMALL_PLACE: u16 = 0x2000;

#[inline]
fn flat<'a>(
    cursor: &mut Cursor<'a>,
    number: u64,
    wide: bool,
    ceilings: &Ceilings,
    odd: &mut Odd,
) -> Result<Object<'a>, Fault> {
    let start = cursor.clone();
    let [f0, f1, sx0, sx1, sz0, sz1, x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3, p0, p1, p2, p3] =
        *cursor.array::<22>("an object")?;
    let flags = u16::from_le_bytes([f0, f1]);
    let prefab = i32::from_le_bytes([p0, p1, p2, p3]);
    if flags & !KNOWN_FLAGS != 0 {
        return Err(start.fault(FaultKind::BadValue { value: i64::from(flags) }, "an object's flags"));
    }
    if prefab == 0 {
        return Err(start.fault(FaultKind::BadValue { value: 0 }, "an object's prefab"));
    }
    let mut object = Object {
        number,
        offset: start.offset(),
        prefab,
        sector: Some((i16::from_le_bytes([sx0, sx1]).into(), i16::from_le_bytes([sz0, sz1]).into())),
        position: [[x0, x1, x2, x3], [y0, y1, y2, y3], [z0, z1, z2, z3]].map(f32::from_le_bytes),
        built: false,
        seed: None,
        text: None,
    };
    if flags & TURNED != 0 {
        cursor.take(12, "an object's rotation")?;
    }
    if flags & 0xff != 0 {
        properties(cursor, flags, wide, &mut object, ceilings, odd)?;
    }
    Ok(object)
}

#[inline]
fn chunked<'a>(cursor: &mut Cursor<'a>, number: u64, ceilings: &Ceilings, odd: &mut Odd) -> Result<Object<'a>, Fault> {
    let start = cursor.clone();
    let flags = cursor.u16("an object")?;
    let position = if flags & SMALL_PLACE != 0 {
        [f32::from(cursor.i16("an object's place")?), 0.0, f32::from(cursor.i16("an object's place")?)]
    } else {
        cursor.vec3("an object's place")?
    };
    let prefab = cursor.i32("an object's prefab")?;
    if prefab == 0 {
        return Err(start.fault(FaultKind::BadValue { value: 0 }, "an object's prefab"));
    }
    let mut object =
        Object { number, offset: start.offset(), prefab, sector: None, position, built: false, seed: None, text: None };
    if flags & TURNED != 0 && cursor.u16("an object's rotation")? & 0x8000 == 0 {
        cursor.take(2, "an object's rotation")?;
    }
    if flags & 0xff != 0 {
        properties(cursor, flags, true, &mut object, ceilings, odd)?;
    }
    Ok(object)
}

#[inline]
fn count(cursor: &mut Cursor<'_>, wide: bool, what: &'static str) -> Result<usize, Fault> {
    let low = cursor.u8(what)?;
    if wide && low & 0x80 != 0 {
        return Ok(usize::from(low & 0x7f) << 8 | usize::from(cursor.u8(what)?));
    }
    Ok(usize::from(low))
}

/// The entries of a map whose keys and values take `N` bytes together.
#[inline]
fn entries<'a, const N: usize>(cursor: &mut Cursor<'a>, n: usize, what: &'static str) -> Result<&'a [[u8; N]], Fault> {
    Ok(cursor.take(n * N, what)?.as_chunks::<N>().0)
}

#[inline]
fn properties<'a>(
    cursor: &mut Cursor<'a>,
    flags: u16,
    wide: bool,
    object: &mut Object<'a>,
    ceilings: &Ceilings,
    odd: &mut Odd,
) -> Result<(), Fault> {
    if flags & 0x01 != 0 {
        cursor.take(5, "a connection")?;
    }
    if flags & 0x02 != 0 {
        let n = count(cursor, wide, "a count of numbers")?;
        entries::<8>(cursor, n, "numbers")?;
    }
    if flags & 0x04 != 0 {
        let n = count(cursor, wide, "a count of vectors")?;
        entries::<16>(cursor, n, "vectors")?;
    }
    if flags & 0x08 != 0 {
        let n = count(cursor, wide, "a count of rotations")?;
        entries::<20>(cursor, n, "rotations")?;
    }
    if flags & 0x10 != 0 {
        let n = count(cursor, wide, "a count of integers")?;
        look_at_ints(entries(cursor, n, "integers")?, object);
    }
    if flags & 0x20 != 0 {
        let n = count(cursor, wide, "a count of long integers")?;
        look_at_longs(entries(cursor, n, "long integers")?, object);
    }
    if flags & 0x40 != 0 {
        let n = count(cursor, wide, "a count of texts")?;
        texts(cursor, n, object, ceilings, odd)?;
    }
    if flags & 0x80 != 0 {
        let n = count(cursor, wide, "a count of byte arrays")?;
        byte_arrays(cursor, n, ceilings)?;
    }
    Ok(())
}

#[inline]
fn look_at_ints(entries: &[[u8; 8]], object: &mut Object<'_>) {
    if Interest::of(object.prefab) == Interest::LocationProxy {
        let mut values = entries
            .iter()
            .map(|&[a, b, c, d, e, f, g, h]| (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h])));
        object.seed = values.find(|&(key, _)| key == SEED).map(|(_, value)| value);
    }
}

#[inline]
fn look_at_longs(entries: &[[u8; 12]], object: &mut Object<'_>) {
    for &[a, b, c, d, ref value @ ..] in entries {
        if i32::from_le_bytes([a, b, c, d]) == CREATOR {
            object.built = *value != [0; 8];
        }
    }
}

fn texts<'a>(
    cursor: &mut Cursor<'a>,
    n: usize,
    object: &mut Object<'a>,
    ceilings: &Ceilings,
    odd: &mut Odd,
) -> Result<(), Fault> {
    let wanted = match Interest::of(object.prefab) {
        Interest::Portal => Some(TAG),
        Interest::Bed => Some(OWNER_NAME),
        Interest::LocationProxy | Interest::None => None,
    };
    for _ in 0..n {
        let key = cursor.i32("a text's key")?;
        let at = cursor.clone();
        let text = cursor.text_bytes(ceilings.text, "a text")?;
        if std::str::from_utf8(text).is_err() {
            odd.texts.add(at.fault(FaultKind::BadText, "a text"));
        }
        if Some(key) == wanted {
            object.text = Some(text);
        }
    }
    Ok(())
}

fn byte_arrays(cursor: &mut Cursor<'_>, n: usize, ceilings: &Ceilings) -> Result<(), Fault> {
    for _ in 0..n {
        cursor.i32("a byte array's key")?;
        cursor.counted(ceilings.byte_array, "a byte array")?;
    }
    Ok(())
}

/// An object up to version 30. A block that cannot be read is told in `odd`; the next object follows it all the same.
fn block<'a>(
    cursor: &mut Cursor<'a>,
    number: u64,
    byte_arrays: bool,
    ceilings: &Ceilings,
    odd: &mut Odd,
) -> Result<Object<'a>, Fault> {
    let offset = cursor.offset();
    let mut ahead = cursor.clone();
    ahead.take(12, "an object's id")?;
    let length = ahead.count(1, ceilings.file, "the length of an object")?;
    let mut content = ahead.block(length, "an object")?;
    *cursor = ahead;
    let mut object =
        Object { number, offset, prefab: 0, sector: None, position: [0.0; 3], built: false, seed: None, text: None };
    let read = block_content(&mut content, &mut object, byte_arrays, ceilings, odd);
    if let Err(fault) = read.and_then(|()| content.finish("an object")) {
        odd.blocks.add(fault);
    }
    Ok(object)
}

fn block_content<'a>(
    content: &mut Cursor<'a>,
    object: &mut Object<'a>,
    with_arrays: bool,
    ceilings: &Ceilings,
    odd: &mut Odd,
) -> Result<(), Fault> {
    content.take(8, "an object's revisions")?;
    content.flag("whether an object is persistent")?;
    content.take(8 + 8 + 4, "an object's owner and age")?;
    let at = content.clone();
    let kind = content.u8("an object's type")?;
    if kind > 3 {
        return Err(at.fault(FaultKind::BadValue { value: kind.into() }, "an object's type"));
    }
    content.flag("whether an object is distant")?;
    object.prefab = content.i32("an object's prefab")?;
    object.sector = Some((content.i32("an object's sector")?, content.i32("an object's sector")?));
    object.position = content.vec3("an object's place")?;
    content.take(16, "an object's rotation")?;
    let n = char_count(content, "a count of numbers")?;
    entries::<8>(content, n, "numbers")?;
    let n = char_count(content, "a count of vectors")?;
    entries::<16>(content, n, "vectors")?;
    let n = char_count(content, "a count of rotations")?;
    entries::<20>(content, n, "rotations")?;
    let n = char_count(content, "a count of integers")?;
    look_at_ints(entries(content, n, "integers")?, object);
    let n = char_count(content, "a count of long integers")?;
    look_at_longs(entries(content, n, "long integers")?, object);
    let n = char_count(content, "a count of texts")?;
    texts(content, n, object, ceilings, odd)?;
    if with_arrays {
        let n = char_count(content, "a count of byte arrays")?;
        byte_arrays(content, n, ceilings)?;
    }
    Ok(())
}

/// A count that was written as one character of UTF-8 with at most three bytes.
fn char_count(cursor: &mut Cursor<'_>, what: &'static str) -> Result<usize, Fault> {
    let start = cursor.clone();
    let first = cursor.u8(what)?;
    let more = match first {
        0..=0x7f => return Ok(usize::from(first)),
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        _ => return Err(start.fault(FaultKind::BadValue { value: i64::from(first) }, what)),
    };
    let mut value = usize::from(first) & (0x3f >> more);
    for _ in 0..more {
        let byte = cursor.u8(what)?;
        if byte & 0xc0 != 0x80 {
            return Err(start.fault(FaultKind::BadValue { value: i64::from(byte) }, what));
        }
        value = value << 6 | usize::from(byte & 0x3f);
    }
    Ok(value)
}
