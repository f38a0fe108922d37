//! The part of a save that says which zones were generated and where locations lie, and the random event behind it.

use super::cursor::{Cursor, Fault, FaultKind, Tally};
use super::{is_far, prefab};
use crate::store::Ceilings;

/// The generated zones, as many pairs of numbers as were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones<'a> {
    raw: &'a [u8],
    short: bool,
}

impl<'a> Zones<'a> {
    /// How many.
    pub fn len(&self) -> usize {
        self.raw.len() / if self.short { 4 } else { 8 }
    }

    /// True when none was generated.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Each zone, east and north of the middle.
    pub fn iter(&self) -> impl Iterator<Item = (i32, i32)> + use<'a> {
        // One of the two is empty.
        let (short, long): (&'a [u8], &'a [u8]) = if self.short { (self.raw, &[]) } else { (&[], self.raw) };
        let short = short
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&[a, b, c, d]| (i16::from_le_bytes([a, b]).into(), i16::from_le_bytes([c, d]).into()));
        let long = long
            .as_chunks::<8>()
            .0
            .iter()
            .map(|&[a, b, c, d, e, f, g, h]| (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h])));
        short.chain(long)
    }

    /// How many of them only a server's idle point can have made.
    pub fn idle(&self) -> usize {
        self.iter().filter(|&(x, z)| is_far(x, z)).count()
    }
}

/// Texts one behind the other, checked to be there; not always UTF-8.
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    cursor: Cursor<'a>,
    count: usize,
}

impl<'a> Texts<'a> {
    /// Reads a count and as many texts; those that are not UTF-8 are told in `odd`.
    pub fn read(
        cursor: &mut Cursor<'a>,
        ceilings: &Ceilings,
        what: &'static str,
        odd: &mut Tally,
    ) -> Result<Self, Fault> {
        let count = cursor.count(1, ceilings.objects, what)?;
        let texts = Self { cursor: cursor.clone(), count };
        for _ in 0..count {
            tolerant_text(cursor, ceilings.text, what, odd)?;
        }
        Ok(texts)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first `most` texts, with replacement characters where one is not UTF-8.
    pub fn first(&self, most: usize) -> Vec<String> {
        let mut cursor = self.cursor.clone();
        (0..self.count.min(most))
            .map_while(|_| cursor.text_bytes(u64::MAX, "a text").ok())
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect()
    }
}

/// The bytes of a text; one that is not UTF-8 is told in `odd`.
pub(super) fn tolerant_text<'a>(
    cursor: &mut Cursor<'a>,
    ceiling: u64,
    what: &'static str,
    odd: &mut Tally,
) -> Result<&'a [u8], Fault> {
    let at = cursor.clone();
    let text = cursor.text_bytes(ceiling, what)?;
    if std::str::from_utf8(text).is_err() {
        odd.add(at.fault(FaultKind::BadText, what));
    }
    Ok(text)
}

/// What a location is called in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationName<'a> {
    /// A name (before version 40); not always UTF-8.
    Text(&'a [u8]),
    /// The hash of a name (since version 40).
    Hash(i32),
}

impl LocationName<'_> {
    /// Players start here.
    pub fn is_start(self) -> bool {
        match self {
            Self::Text(name) => name == b"StartTemple",
            Self::Hash(hash) => hash == prefab::START_TEMPLE,
        }
    }

    /// The name as text; untrusted.
    pub fn label(self) -> String {
        match self {
            Self::Text(name) => String::from_utf8_lossy(name).into_owned(),
            Self::Hash(hash) => prefab::Shown(hash).to_string(),
        }
    }
}

/// One location.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location<'a> {
    /// What it is.
    pub name: LocationName<'a>,
    /// East, up and north in metres.
    pub position: [f32; 3],
    /// A player came near, so it stands in the world.
    pub placed: bool,
}

/// The locations of a world, checked to be there.
#[derive(Clone, Debug)]
pub struct Locations<'a> {
    cursor: Cursor<'a>,
    count: usize,
    placed: usize,
    hashed: bool,
}

impl<'a> Locations<'a> {
    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many stand in the world.
    pub fn placed(&self) -> usize {
        self.placed
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Location<'a>> + use<'a> {
        let (mut cursor, hashed) = (self.cursor.clone(), self.hashed);
        let (mut texts, mut flags) = (Tally::default(), Tally::default());
        (0..self.count).map_while(move |_| location(&mut cursor, hashed, u64::MAX, &mut texts, &mut flags).ok())
    }
}

fn location<'a>(
    cursor: &mut Cursor<'a>,
    hashed: bool,
    ceiling: u64,
    texts: &mut Tally,
    flags: &mut Tally,
) -> Result<Location<'a>, Fault> {
    let name = if hashed {
        LocationName::Hash(cursor.i32("a location's name")?)
    } else {
        LocationName::Text(tolerant_text(cursor, ceiling, "a location's name", texts)?)
    };
    let position = cursor.vec3("a location's place")?;
    let placed = tolerant_flag(cursor, "whether a location is placed", flags)?;
    Ok(Location { name, position, placed })
}

/// A byte that should be 0 or 1; another one is told in `odd` and counts as no.
fn tolerant_flag(cursor: &mut Cursor<'_>, what: &'static str, odd: &mut Tally) -> Result<bool, Fault> {
    let at = cursor.clone();
    match cursor.u8(what)? {
        0 => Ok(false),
        1 => Ok(true),
        value => {
            odd.add(at.fault(FaultKind::BadValue { value: value.into() }, what));
            Ok(false)
        }
    }
}

/// The zone section. What could be read before a fault is there.
#[derive(Clone, Debug, Default)]
pub struct ZoneSection<'a> {
    /// The generated zones.
    pub zones: Option<Zones<'a>>,
    /// The version of the game's list of locations.
    pub location_version: Option<i32>,
    /// Keys that the world's progress has set.
    pub global_keys: Option<Texts<'a>>,
    /// Locations, placed and to be placed.
    pub locations: Option<Locations<'a>>,
    /// Flags that are neither 0 nor 1.
    pub odd_flags: Tally,
    /// Texts that are not UTF-8.
    pub odd_texts: Tally,
    /// Where reading had to end.
    pub fault: Option<Fault>,
}

impl<'a> ZoneSection<'a> {
    /// Reads the section as versions from 26 write it.
    pub fn read(cursor: &mut Cursor<'a>, version: i32, ceilings: &Ceilings) -> Self {
        let mut section = Self::default();
        section.fault = section.fill(cursor, version, ceilings).err();
        section
    }

    fn fill(&mut self, cursor: &mut Cursor<'a>, version: i32, ceilings: &Ceilings) -> Result<(), Fault> {
        let short = version >= 40;
        let width = if short { 4 } else { 8 };
        let count = cursor.count(width, ceilings.objects, "the count of zones")?;
        self.zones = Some(Zones { raw: cursor.take(count * width, "the zones")?, short });
        if version < 40 {
            cursor.i32("the version of the world generator's pieces")?;
        }
        self.location_version = Some(cursor.i32("the version of the locations")?);
        self.global_keys = Some(Texts::read(cursor, ceilings, "the global keys", &mut self.odd_texts)?);
        tolerant_flag(cursor, "whether locations are generated", &mut self.odd_flags)?;
        let hashed = version >= 40;
        let least = if hashed { 4 + 12 + 1 } else { 1 + 12 + 1 };
        let count = cursor.count(least, ceilings.objects, "the count of locations")?;
        let start = cursor.clone();
        let mut placed = 0;
        for _ in 0..count {
            let one = location(cursor, hashed, ceilings.text, &mut self.odd_texts, &mut self.odd_flags)?;
            placed += usize::from(one.placed);
        }
        self.locations = Some(Locations { cursor: start, count, placed, hashed });
        Ok(())
    }
}

/// The random event, such as an attack on a base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Its name, empty when there is none; untrusted.
    pub name: &'a str,
    /// Where it is, east, up and north in metres.
    pub position: [f32; 3],
}

impl<'a> Event<'a> {
    /// Reads the event as versions from 25 write it.
    pub fn read(cursor: &mut Cursor<'a>, ceilings: &Ceilings) -> Result<Self, Fault> {
        cursor.f32("the timer of the random event")?;
        let name = cursor.text(ceilings.text, "the name of the random event")?;
        cursor.f32("the time of the random event")?;
        Ok(Self { name, position: cursor.vec3("the place of the random event")? })
    }
}
