//! What a map of one layer shows: where somebody was, what was built, and what was found.

use std::path::Path;

use super::format::census::Census;
use super::format::chunked::{Chunk, Db2, INDEX_CEILING, Index};
use super::format::object::{Object, Walked};
use super::format::prefab::Interest;
use super::format::zones::{Location, Locations, ZoneSection, Zones};
use super::format::{Age, Cursor, FOLDER_VERSIONS, LAST_ZONE, PAIR_VERSIONS, ZONE, db, is_far, packed, zone_of};
use super::inspect::{Parts, inspect};
use crate::games::Context;
use crate::model::{Code, Depth, Finding, Severity};
use crate::raster::{Chart, Ink, Mark, Square};
use crate::store::Store;

/// Half the edge of the world in metres; beyond it is nothing.
const RADIUS: f32 = 10_500.0;

/// Marks of one kind that are drawn; a terminal has fewer cells.
const MOST_MARKS: usize = 20_000;

/// Zones along one edge of what is drawn.
const EDGE: usize = 2 * LAST_ZONE.unsigned_abs() as usize + 1;

/// Draws what can be read of a layer. The error says why nothing of it can.
///
/// Locations that nobody came near are left out, since they would spoil the game, but for the one where players start.
pub(super) fn chart(store: &dyn Store, parts: &Parts, context: &Context) -> Result<Chart, Box<Finding>> {
    let mut drawing = Drawing::default();
    let read = match parts {
        Parts::Pair { db: Some(db), .. } => drawing.pair(store, db, context),
        Parts::Pair { db: None, .. } => false,
        Parts::Folder { dir, generation } => drawing.folder(store, dir, *generation, context),
    };
    if read || !drawing.is_empty() {
        return Ok(drawing.finish());
    }
    // The check at L1 knows the words for why.
    let mut findings = inspect(store, parts, Depth::Headers, context).findings;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let reason = findings.into_iter().next().filter(|finding| finding.severity == Severity::Error);
    Err(Box::new(reason.unwrap_or_else(|| {
        let text = "Nothing that a map could show can be read.";
        Finding::error(Code::NotReached, text, "Check this layer to learn where it is damaged.")
    })))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    #[default]
    Nothing,
    Generated,
    Built,
}

/// Everything that is drawn, as far as it is known.
#[derive(Debug, Default)]
struct Drawing {
    cells: Vec<Cell>,
    far: u64,
    starts: Vec<Mark>,
    locations: Vec<Mark>,
    portals: Vec<Mark>,
    beds: Vec<Mark>,
    too_many: bool,
    notes: Vec<String>,
}

impl Drawing {
    /// True when a file was read to its end.
    fn pair(&mut self, store: &dyn Store, path: &Path, context: &Context) -> bool {
        let Ok(bytes) = store.read(path, context.ceilings.file) else { return false };
        let db = db::read(&bytes, &context.ceilings, &context.cancel, &mut |object| self.object(object));
        if db.head.is_none_or(|head| Age::of(head.version, &PAIR_VERSIONS) != Age::Known) {
            return false;
        }
        self.note_lost(&db.walked, "the world data");
        self.zones(&db.zones);
        if db.zones.locations.is_none() {
            self.notes.push("The zone section could not be read whole, so zones or locations are missing.".to_owned());
        }
        db.stopped.is_none()
    }

    fn folder(&mut self, store: &dyn Store, dir: &Path, generation: u64, context: &Context) -> bool {
        let path = |part: &str| dir.join(super::inspect::part_name(generation, part));
        let zones = self.zone_block(store, &path("db2"), context);
        if zones.is_none() {
            self.notes.push("The zone section could not be read whole, so zones or locations are missing.".to_owned());
        }
        let chunks = self.chunk_files(store, dir, &path("chunks"), context);
        zones.is_some() && chunks.is_some()
    }

    fn zone_block(&mut self, store: &dyn Store, path: &Path, context: &Context) -> Option<()> {
        let bytes = store.read(path, context.ceilings.file).ok()?;
        let db2 = Db2::read(&bytes, &context.ceilings);
        let version = db2.version.filter(|&version| Age::of(version, &FOLDER_VERSIONS) == Age::Known)?;
        let inflated = packed::gunzip(db2.zones?.1, context.ceilings.inflated_block);
        let section = ZoneSection::read(&mut Cursor::new(&inflated.bytes), version, &context.ceilings);
        self.zones(&section);
        section.fault.is_none().then_some(())
    }

    fn chunk_files(&mut self, store: &dyn Store, dir: &Path, path: &Path, context: &Context) -> Option<()> {
        let Some(bytes) = store.read(path, INDEX_CEILING).ok() else {
            self.notes.push("The index could not be read, so buildings, portals and beds are missing.".to_owned());
            return None;
        };
        let index = Index::read(&bytes, &context.ceilings);
        let known = index.version.is_some_and(|version| Age::of(version, &FOLDER_VERSIONS) == Age::Known);
        if !known {
            return None;
        }
        let mut unread = 0_usize;
        for entry in index.iter() {
            if context.cancel.cancelled() {
                return None;
            }
            let name = entry.file_name();
            let Ok(bytes) = store.read(&dir.join(&name), context.ceilings.file) else {
                unread += 1;
                continue;
            };
            let chunk = Chunk::read(&bytes, &context.ceilings, &context.cancel, &mut |object| self.object(object));
            self.note_lost(&chunk.walked, &name);
            unread += usize::from(chunk.fault.is_some());
        }
        if unread > 0 {
            self.notes.push(format!("{unread} chunk files could not be read; what stands in them is not drawn."));
        }
        (unread == 0 && index.fault.is_none()).then_some(())
    }

    fn note_lost(&mut self, walked: &Walked, what: &str) {
        if let Some(lost) = &walked.lost
            && self.notes.len() < 8
        {
            self.notes
                .push(format!("Objects of {what} behind number {} could not be read and are not drawn.", lost.object));
        }
    }

    fn zones(&mut self, section: &ZoneSection<'_>) {
        for (x, z) in section.zones.iter().flat_map(Zones::iter) {
            if is_far(x, z) {
                self.far += 1;
            } else {
                self.fill(x, z, Cell::Generated);
            }
        }
        for location in section.locations.iter().flat_map(Locations::iter) {
            self.location(&location);
        }
    }

    fn location(&mut self, location: &Location<'_>) {
        let start = location.name.is_start();
        if !start && !location.placed {
            return;
        }
        let (list, ink) = if start { (&mut self.starts, Ink::Start) } else { (&mut self.locations, Ink::Location) };
        self.too_many |= !mark(list, ink, location.position, || location.name.label());
    }

    fn object(&mut self, object: &Object<'_>) -> bool {
        let [x, _, z] = object.position;
        let zone = (zone_of(x), zone_of(z));
        if !Census::is_within_reach(object.position) || object.sector.is_some_and(|sector| sector != zone) {
            return false;
        }
        if object.built && !is_far(zone.0, zone.1) {
            self.fill(zone.0, zone.1, Cell::Built);
        }
        let (list, ink) = match Interest::of(object.prefab) {
            Interest::Portal => (&mut self.portals, Ink::Portal),
            Interest::Bed => (&mut self.beds, Ink::Bed),
            Interest::LocationProxy | Interest::None => return true,
        };
        let label = || String::from_utf8_lossy(object.text.unwrap_or_default()).into_owned();
        self.too_many |= !mark(list, ink, object.position, label);
        true
    }

    fn fill(&mut self, x: i32, z: i32, cell: Cell) {
        if self.cells.is_empty() {
            self.cells = vec![Cell::Nothing; EDGE * EDGE];
        }
        let at = |n: i32| usize::try_from(n.saturating_add(LAST_ZONE)).ok();
        if let Some(slot) = at(x).zip(at(z)).and_then(|(x, z)| self.cells.get_mut(z * EDGE + x)) {
            *slot = cell.max(*slot);
        }
    }

    fn is_empty(&self) -> bool {
        self.cells.is_empty()
            && [&self.starts, &self.locations, &self.portals, &self.beds].iter().all(|marks| marks.is_empty())
    }

    fn finish(self) -> Chart {
        let mut notes = self.notes;
        if self.far > 0 {
            notes.push(format!(
                "{} zones far outside are not drawn; they are those of a server's idle point.",
                self.far
            ));
        }
        if self.too_many {
            notes.push(format!("More than {MOST_MARKS} marks of one kind; the rest is not drawn."));
        }
        let rows = (-LAST_ZONE..=LAST_ZONE).zip(self.cells.chunks(EDGE));
        let squares = rows
            .flat_map(|(z, row)| (-LAST_ZONE..=LAST_ZONE).zip(row).map(move |(x, cell)| (x, z, *cell)))
            .filter_map(|(x, z, cell)| match cell {
                Cell::Nothing => None,
                Cell::Generated => Some(Square { x, z, ink: Ink::Generated }),
                Cell::Built => Some(Square { x, z, ink: Ink::Built }),
            })
            .collect();
        let marks = [self.locations, self.beds, self.portals, self.starts].concat();
        let layers = vec!["zones", "buildings", "locations", "portals", "beds"];
        Chart { edge: ZONE, unit: "m", radius: Some(RADIUS), squares, marks, layers, notes }
    }
}

/// Adds a mark where it lies in the world; false when the list is full.
fn mark(list: &mut Vec<Mark>, ink: Ink, position: [f32; 3], label: impl FnOnce() -> String) -> bool {
    let [x, _, z] = position;
    if x.abs() > RADIUS || z.abs() > RADIUS || !(x.is_finite() && z.is_finite()) {
        return true;
    }
    if list.len() >= MOST_MARKS {
        return false;
    }
    list.push(Mark { x, z, ink, label: label() });
    true
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::chart;
    use crate::games::valheim::format::chunked::Entry;
    use crate::games::valheim::format::kit::{self, things};
    use crate::games::valheim::inspect::Parts;
    use crate::games::valheim::inspect::memory::{MemoryStore, context};
    use crate::model::Code;
    use crate::raster::{Chart, Ink, Square};

    fn pair() -> Parts {
        Parts::Pair { fwl: None, db: Some(PathBuf::from("W.db")) }
    }

    fn folder() -> Parts {
        Parts::Folder { dir: PathBuf::from("W"), generation: 3 }
    }

    fn folder_store() -> MemoryStore {
        let entry = Entry { id: 0x2020, size: 1, version: 5, objects: 5 };
        MemoryStore::with([
            ("W/_main.3.db2", kit::db2(41)),
            ("W/_main.3.chunks", kit::index(41, &[entry])),
            ("W/20_20__1_5.chunk", kit::chunk(41, &things())),
        ])
    }

    fn inks(chart: &Chart) -> Vec<(Ink, &str)> {
        chart.marks.iter().map(|mark| (mark.ink, mark.label.as_str())).collect()
    }

    #[test]
    fn a_map_shows_zones_buildings_and_what_was_found() {
        let pair = chart(&MemoryStore::with([("W.db", kit::db(36, &things()))]), &pair(), &context()).unwrap();
        let square = |x, z, ink| Square { x, z, ink };
        // The portal lies in zone (2, -2), which was built in without being listed.
        assert_eq!(
            pair.squares,
            [
                square(1, -2, Ink::Generated),
                square(2, -2, Ink::Built),
                square(0, 0, Ink::Generated),
                square(1, 0, Ink::Built),
            ]
        );
        assert_eq!(inks(&pair), [(Ink::Bed, "Ragna"), (Ink::Portal, "home"), (Ink::Start, "StartTemple")]);
        assert_eq!((pair.edge, pair.radius), (64.0, Some(10_500.0)));
        assert_eq!(pair.notes.len(), 1, "{:?}", pair.notes);
        let folder = chart(&folder_store(), &folder(), &context()).unwrap();
        assert_eq!((&folder.squares, &folder.marks), (&pair.squares, &pair.marks));
    }

    #[test]
    fn a_part_that_is_damaged_leaves_the_rest_of_the_map() {
        let mut store = folder_store();
        store.get("W/_main.3.db2").truncate(20);
        let half = chart(&store, &folder(), &context()).unwrap();
        assert_eq!(inks(&half), [(Ink::Bed, "Ragna"), (Ink::Portal, "home")]);
        assert!(half.notes.iter().any(|note| note.contains("zone section")), "{:?}", half.notes);

        let mut store = folder_store();
        store.gone.push("W/20_20__1_5.chunk".into());
        let half = chart(&store, &folder(), &context()).unwrap();
        assert_eq!((inks(&half).len(), half.squares.len()), (1, 2));
        assert!(half.notes.iter().any(|note| note.starts_with("1 chunk files")), "{:?}", half.notes);
    }

    #[test]
    fn nothing_to_draw_is_an_error_with_its_reason() {
        let code =
            |files: Vec<(&str, Vec<u8>)>| chart(&MemoryStore::with(files), &pair(), &context()).unwrap_err().code;
        assert_eq!(code(vec![("W.db", Vec::new())]), Code::EmptyFile);
        assert_eq!(code(vec![("X.db", Vec::new())]), Code::MissingFile);
        let mut newer = kit::db(36, &things());
        newer[0] = 99;
        assert_eq!(code(vec![("W.db", newer)]), Code::NewerVersion);
        let parts = Parts::Pair { fwl: Some("W.fwl".into()), db: None };
        let store = MemoryStore::with([("W.fwl", kit::meta(36, false))]);
        assert_eq!(chart(&store, &parts, &context()).unwrap_err().code, Code::NeverPlayed);
    }
}
