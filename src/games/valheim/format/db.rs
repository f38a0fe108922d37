//! `.db`: the whole world of versions before 1.0.

use super::cursor::{Cursor, Fault, FaultKind, Tally};
use super::object::{Encoding, Object, Walked, walk};
use super::zones::{Event, ZoneSection};
use crate::model::Cancel;
use crate::store::Ceilings;

/// Bytes of the head.
pub const HEAD_BYTES: usize = 28;

/// The first 28 bytes, which every known version has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// The version of the world's format.
    pub version: i32,
    /// The world's age in seconds; a new one starts at 2040.
    pub net_time: f64,
    /// How many objects follow; may be nonsense.
    pub objects: i32,
}

impl Head {
    /// Reads the head.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        Self::take(&mut Cursor::new(bytes))
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        let version = cursor.i32("the version")?;
        let net_time = cursor.f64("the world's time")?;
        cursor.take(8, "the session's number")?;
        cursor.take(4, "the next object's number")?;
        Ok(Self { version, net_time, objects: cursor.i32("the count of objects")? })
    }
}

/// A part of a `.db`, in the order in which the parts follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The head.
    Head,
    /// The objects.
    Objects,
    /// The list of dead objects (up to version 30).
    DeadList,
    /// Zones, keys and locations.
    Zones,
    /// The random event.
    Event,
}

impl Part {
    /// The part in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Head => "the head",
            Self::Objects => "the objects",
            Self::DeadList => "the list of dead objects",
            Self::Zones => "the zone section",
            Self::Event => "the random event",
        }
    }
}

/// Everything that a `.db` of a known version says, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Db<'a> {
    /// The head.
    pub head: Option<Head>,
    /// The objects that the head counts, once the count is believed.
    pub counted: Option<u64>,
    /// How the walk over the objects ended.
    pub walked: Walked,
    /// The zone section.
    pub zones: ZoneSection<'a>,
    /// The random event.
    pub event: Option<Event<'a>>,
    /// Bytes behind the last known part, once that was reached.
    pub left: Option<u64>,
    /// The part in which reading had to end, and why; nothing behind it was reached.
    pub stopped: Option<(Part, Fault)>,
    /// Texts outside objects that are not UTF-8, and where the event ends in one.
    pub odd_texts: Tally,
}

/// Reads a whole `.db` of a version in [`super::PAIR_VERSIONS`], showing each object to `visit` as [`walk`] does.
///
/// For another version only the head is read. Texts and zones are borrowed from `bytes`.
pub fn read<'a>(
    bytes: &'a [u8],
    ceilings: &Ceilings,
    cancel: &Cancel,
    visit: &mut impl FnMut(&Object<'a>) -> bool,
) -> Db<'a> {
    let mut db = Db::default();
    db.stopped = db.fill(bytes, ceilings, cancel, visit).err();
    db
}

impl<'a> Db<'a> {
    fn fill(
        &mut self,
        bytes: &'a [u8],
        ceilings: &Ceilings,
        cancel: &Cancel,
        visit: &mut impl FnMut(&Object<'a>) -> bool,
    ) -> Result<(), (Part, Fault)> {
        let mut cursor = Cursor::new(bytes);
        let mut ahead = cursor.clone();
        let head = Head::take(&mut ahead).map_err(|fault| (Part::Head, fault))?;
        self.head = Some(head);
        if !super::PAIR_VERSIONS.contains(&head.version) {
            return Ok(());
        }
        let at_count = |fault| (Part::Objects, fault);
        cursor.take(HEAD_BYTES - 4, "the head").map_err(at_count)?;
        let encoding = Encoding::detect(head.version, &ahead, ceilings);
        let count =
            cursor.count(encoding.least_bytes(), ceilings.objects, "the count of objects").map_err(at_count)? as u64;
        self.counted = Some(count);
        self.walked = walk(&mut cursor, count, encoding, ceilings, cancel, visit);
        if let Some(lost) = self.walked.lost {
            return Err((Part::Objects, lost.fault));
        }
        if self.walked.cancelled {
            return Ok(());
        }
        if head.version <= 30 {
            skip_dead(&mut cursor, ceilings).map_err(|fault| (Part::DeadList, fault))?;
        }
        self.zones = ZoneSection::read(&mut cursor, head.version, ceilings);
        if let Some(fault) = self.zones.fault {
            return Err((Part::Zones, fault));
        }
        match Event::read(&mut cursor, ceilings) {
            Ok(event) => self.event = Some(event),
            Err(fault) => return Err((Part::Event, fault)),
        }
        self.left = Some(cursor.left() as u64);
        Ok(())
    }

    /// The bytes behind the last part, as a fault where the version has no tail there.
    ///
    /// From version 35 an optional block of persistent events may follow, which the game itself may leave out.
    pub fn trailing(&self, bytes: &[u8]) -> Option<Fault> {
        let (head, left) = (self.head?, self.left?);
        if left == 0 || head.version >= 35 {
            return None;
        }
        let offset = (bytes.len() as u64).saturating_sub(left);
        Some(Fault { offset, kind: FaultKind::Trailing { left }, what: "the random event" })
    }
}

fn skip_dead(cursor: &mut Cursor<'_>, ceilings: &Ceilings) -> Result<(), Fault> {
    const DEAD: usize = 8 + 4 + 8;
    let count = cursor.count(DEAD, ceilings.objects, "the count of dead objects")?;
    cursor.take(count * DEAD, "the dead objects")?;
    Ok(())
}
