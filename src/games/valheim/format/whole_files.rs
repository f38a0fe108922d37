//! Whole files of every version, and what single wrong bytes in them lead to.

use super::census::Census;
use super::chunked::{Area, Chunk, Db2, Entry, Index, read_marker};
use super::cursor::{Cursor, FaultKind};
use super::db::{self, Db, Head, Part};
use super::kit::{self, Thing, thing, things};
use super::object::{Encoding, Walked, walk};
use super::zones::ZoneSection;
use crate::model::Cancel;
use crate::store::Ceilings;

fn read(bytes: &[u8]) -> (Db<'_>, Census) {
    let mut census = Census::default();
    let db = db::read(bytes, &Ceilings::default(), &Cancel::new(), &mut |object| census.visit(object));
    (db, census)
}

fn is_whole(db: &Db<'_>, bytes: &[u8]) -> bool {
    db.stopped.is_none()
        && db.walked.reached_end()
        && db.walked.odd.texts.count + db.walked.odd.blocks.count == 0
        && db.left == Some(0)
        && db.trailing(bytes).is_none()
        && db.zones.odd_flags.count + db.zones.odd_texts.count == 0
}

#[test]
fn every_known_version_is_read_to_its_last_byte() {
    for version in super::PAIR_VERSIONS {
        let mut objects = things();
        if version < 27 {
            for thing in &mut objects {
                thing.arrays.clear();
            }
        }
        let bytes = kit::db(version, &objects);
        let (db, census) = read(&bytes);
        assert!(is_whole(&db, &bytes), "{version}: {db:?}");
        assert_eq!((db.counted, db.walked.objects), (Some(5), 5), "{version}");
        assert_eq!((census.pieces, census.portals, census.beds), (3, 1, 1), "{version}");
        assert_eq!((census.prefabs(), census.seed()), (Some(5), Some((77, 1, 1))), "{version}");
        assert_eq!(census.sectors.count + census.far.count + census.no_number.count, 0, "{version}");
        let zones = db.zones.zones.unwrap();
        assert_eq!((zones.len(), zones.idle()), (3, 1));
        assert_eq!(zones.iter().nth(1), Some((1, -2)));
        let locations = db.zones.locations.unwrap();
        assert_eq!((locations.len(), locations.placed()), (2, 1));
        assert!(locations.iter().next().unwrap().name.is_start());
        assert_eq!(db.zones.global_keys.unwrap().first(9), ["defeated_eikthyr", "killedtroll"]);
    }
}

#[test]
fn versions_outside_the_known_ones_give_their_head_alone() {
    for version in [25, 38, 99] {
        let mut bytes = kit::db(36, &things());
        bytes[..4].copy_from_slice(&i32::to_le_bytes(version));
        let (db, _) = read(&bytes);
        assert_eq!(db.head.map(|head| (head.version, head.objects)), Some((version, 5)));
        assert!(db.stopped.is_none() && db.counted.is_none() && db.left.is_none());
    }
}

#[test]
fn version_30_is_read_in_the_encoding_that_fits() {
    let blocks = kit::db(30, &things());
    let (db, census) = read(&blocks);
    assert!(is_whole(&db, &blocks) && census.pieces == 3, "{db:?}");

    let mut flat = kit::head(30, 5);
    flat.extend(things().iter().flat_map(|thing| kit::flat(thing, 31)));
    flat.extend([0; 4]);
    flat.extend(kit::zone_section(30));
    flat.extend(kit::event(""));
    let (db, census) = read(&flat);
    assert!(is_whole(&db, &flat) && census.pieces == 3, "{db:?}");
}

#[test]
fn every_cut_ends_with_a_place_and_never_with_a_panic() {
    for version in [27, 32, 36] {
        let bytes = kit::db(version, &things());
        for cut in 0..bytes.len() {
            let (db, _) = read(&bytes[..cut]);
            let (part, fault) = db.stopped.unwrap_or_else(|| panic!("version {version} cut at {cut} passed"));
            assert!(fault.offset <= cut as u64, "{part:?} {fault}");
        }
    }
}

#[test]
fn every_flipped_byte_is_survived() {
    for version in [28, 32, 36] {
        let bytes = kit::db(version, &things());
        for at in 4..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                let _ = read(&bytes);
            }
        }
    }
}

#[test]
fn an_object_with_300_properties_counted_as_44_loses_the_step_at_the_next_object() {
    let mut objects: Vec<Thing> = (0_u8..40).map(|n| thing("Beech1", f32::from(n), 0.0)).collect();
    objects[20].prefab = "smelter";
    objects[20].ints = (0..300).map(|n| ("queued", 0x4040_4040 + n)).collect();
    let mut bytes = kit::head(32, objects.len());
    for object in &objects {
        // The count of one byte wraps: 300 becomes 44.
        bytes.extend(kit::flat(object, 32));
    }
    bytes.extend(kit::zone_section(32));
    bytes.extend(kit::event(""));
    let (db, _) = read(&bytes);
    let lost = db.walked.lost.unwrap();
    assert_eq!((lost.object, lost.good.map(|good| good.number)), (21, Some(20)));
    assert_eq!(lost.good.map(|good| super::prefab::Shown(good.prefab).to_string()).as_deref(), Some("smelter"));
    assert_eq!(db.stopped.map(|(part, _)| part), Some(Part::Objects));
    assert_eq!(db.head.map(|head| head.objects), Some(40));
    assert!(db.zones.zones.is_none() && db.left.is_none());
    // The same object is whole where counts have two bytes.
    let bytes = kit::db(33, &objects);
    assert!(is_whole(&read(&bytes).0, &bytes));
}

#[test]
fn zeroed_objects_are_no_objects() {
    let mut bytes = kit::db(36, &(0_u8..40).map(|n| thing("Beech1", f32::from(n), 0.0)).collect::<Vec<_>>());
    bytes[28 + 10 * 22..28 + 30 * 22].fill(0);
    let lost = read(&bytes).0.walked.lost.unwrap();
    assert_eq!((lost.object, lost.offset, lost.fault.what), (10, 28 + 220, "an object's prefab"));
}

#[test]
fn a_wrong_block_does_not_lose_the_next_one() {
    let mut bytes = kit::head(28, 3);
    for n in 0..3 {
        let mut one = kit::block(&thing("Beech1", 0.0, 0.0), 28);
        if n == 1 {
            one[16 + 8] = 9;
        }
        bytes.extend(one);
    }
    bytes.extend([0; 4]);
    bytes.extend(kit::zone_section(28));
    bytes.extend(kit::event(""));
    let (db, census) = read(&bytes);
    assert_eq!((db.walked.objects, db.walked.odd.blocks.count), (3, 1));
    assert_eq!(db.walked.odd.blocks.first.map(|f| f.kind), Some(FaultKind::BadValue { value: 9 }));
    assert_eq!((db.left, census.sectors.count), (Some(0), 0));
}

#[test]
fn wrong_places_are_counted_with_the_first_of_them() {
    let mut objects = things();
    objects.push(Thing { sector: Some((5, 5)), ..thing("Beech1", 0.0, 0.0) });
    objects.push(Thing { sector: Some((6, 6)), ..thing("Beech1", 0.0, 0.0) });
    objects.push(Thing { at: [f32::NAN, 0.0, 0.0], sector: Some((0, 0)), ..thing("Oak1", 0.0, 0.0) });
    objects.push(Thing { at: [1e9, 0.0, 0.0], sector: Some((0, 0)), ..thing("Oak1", 0.0, 0.0) });
    objects.push(thing("Beech1", 0.0, 0.0));
    let bytes = kit::db(36, &objects);
    let (db, census) = read(&bytes);
    assert!(is_whole(&db, &bytes));
    assert_eq!((census.sectors.count, census.no_number.count, census.far.count), (2, 1, 1));
    assert_eq!(census.sectors.first.map(|spot| (spot.object, spot.sector)), Some((5, Some((5, 5)))));
}

#[test]
fn impossible_object_counts_are_refused_before_anything_is_read() {
    for (count, over) in [(-1, false), (1_000_000, false), (60_000_000, true)] {
        let mut bytes = kit::db(36, &things());
        bytes[24..28].copy_from_slice(&i32::to_le_bytes(count));
        let (db, _) = read(&bytes);
        let (part, fault) = db.stopped.unwrap();
        assert_eq!((part, fault.offset, db.walked.objects), (Part::Objects, 24, 0));
        assert_eq!(matches!(fault.kind, FaultKind::OverCeiling { .. }), over, "{fault}");
    }
}

#[test]
fn texts_and_flags_out_of_order_do_not_stop_the_reading() {
    let mut objects = things();
    objects[0].texts = vec![("tag", b"\xff\xfe")];
    let mut bytes = kit::db(36, &objects);
    let end = bytes.len();
    let placed = end - kit::event("").len() - 1;
    bytes[placed] = 3;
    let (db, _) = read(&bytes);
    assert_eq!((db.walked.odd.texts.count, db.zones.odd_flags.count, db.left), (1, 1, Some(0)));
    assert_eq!(db.zones.odd_flags.first.map(|f| f.offset), Some(placed as u64));
}

#[test]
fn bytes_behind_the_event_are_a_fault_before_version_35() {
    for (version, fault) in [(34, true), (35, false)] {
        let mut bytes = kit::db(version, &things());
        bytes.extend([0; 9]);
        let (db, _) = read(&bytes);
        assert_eq!((db.left, db.trailing(&bytes).is_some()), (Some(9), fault), "{version}");
    }
}

#[test]
fn a_cancelled_walk_ends_early_and_is_not_damage() {
    let objects: Vec<Thing> = (0..10_000).map(|_| thing("Beech1", 0.0, 0.0)).collect();
    let bytes = kit::db(36, &objects);
    let cancel = Cancel::new();
    let mut seen = 0;
    let db = db::read(&bytes, &Ceilings::default(), &cancel, &mut |_| {
        seen += 1;
        if seen == 10 {
            cancel.stop();
        }
        true
    });
    assert!(db.walked.cancelled && db.walked.lost.is_none() && db.stopped.is_none());
    assert_eq!((db.walked.objects, db.left), (4096, None));
}

#[test]
fn a_row_of_misplaced_objects_is_a_lost_step() {
    let objects: Vec<Thing> =
        (0..200).map(|n| Thing { sector: (n >= 50).then_some((9, 9)), ..thing("Beech1", 0.0, 0.0) }).collect();
    let (db, _) = {
        let bytes = kit::db(36, &objects);
        let (db, c) = read(&bytes);
        (db.walked, c)
    };
    let Walked { lost: Some(lost), objects: walked, .. } = db else { panic!("not lost") };
    assert_eq!((lost.object, walked), (50, 115));
}

#[test]
fn chunked_objects_come_in_short_and_long_forms() {
    let mut objects = things();
    objects.push(Thing { at: [-7.0, 0.0, 9.0], ..thing("_ZoneCtrl", 0.0, 0.0) });
    let bytes = kit::chunk(41, &objects);
    let mut places = Vec::new();
    let chunk = Chunk::read(&bytes, &Ceilings::default(), &Cancel::new(), &mut |object| {
        places.push(object.position);
        true
    });
    assert!(chunk.fault.is_none() && chunk.walked.reached_end(), "{chunk:?}");
    assert_eq!(places, objects.iter().map(|thing| thing.at).collect::<Vec<_>>());
    for cut in 0..bytes.len() {
        let chunk = Chunk::read(&bytes[..cut], &Ceilings::default(), &Cancel::new(), &mut |_| true);
        assert!(chunk.fault.is_some() || chunk.walked.lost.is_some(), "cut at {cut}");
    }
    let more = [bytes.as_slice(), &[0]].concat();
    let chunk = Chunk::read(&more, &Ceilings::default(), &Cancel::new(), &mut |_| true);
    assert_eq!(chunk.fault.map(|f| f.kind), Some(FaultKind::Trailing { left: 1 }));
}

#[test]
fn chunk_names_and_squares_follow_from_the_entry() {
    let entry = Entry { id: 0x201e, size: 1, version: 11, objects: 0 };
    assert_eq!(entry.file_name(), "20_1e__1_11.chunk");
    let area = entry.area().unwrap();
    assert_eq!(area, Area { column: 0x1e, row: 0x20, span: 2 });
    assert_eq!((area.metres(), area.first_zone()), ((-1056, -32, 1024), (-16, 0)));
    assert!(area.holds([-1056.0, 0.0, -32.0]) && area.holds([-32.1, 0.0, 991.0]));
    assert!(!area.holds([-31.9, 0.0, 0.0]) && !area.holds([-1056.1, 0.0, 0.0]) && !area.holds([-100.0, 0.0, 992.0]));
    assert!(entry.is_aligned() && !Entry { id: 0x201f, ..entry }.is_aligned());
    assert!(!Entry { size: 200, ..entry }.is_aligned() && Entry { size: 200, ..entry }.area().is_none());
    assert!(Entry { id: 1, size: 0, version: 1, objects: 0 }.area().is_none());
}

#[test]
fn an_index_gives_its_entries_even_when_its_count_is_wrong() {
    let entries = [
        Entry { id: 0x1e1e, size: 1, version: 1, objects: 326 },
        Entry { id: 0x201e, size: 1, version: 1, objects: 4915 },
    ];
    let bytes = kit::index(41, &entries);
    let ceilings = Ceilings::default();
    let index = Index::read(&bytes, &ceilings);
    assert_eq!((index.version, index.total, index.sum(), index.fault), (Some(41), Some(5241), 5241, None));
    assert_eq!(index.iter().collect::<Vec<_>>(), entries);
    let mut more = bytes.clone();
    more[6] = 9;
    let index = Index::read(&more, &ceilings);
    assert_eq!((index.len(), index.fault.map(|f| f.kind)), (2, Some(FaultKind::BadLength { value: 9, left: 22 })));
    more[6] = 1;
    assert_eq!(Index::read(&more, &ceilings).fault.map(|f| f.kind), Some(FaultKind::Trailing { left: 11 }));
    for cut in 0..bytes.len() {
        assert!(Index::read(&bytes[..cut], &ceilings).fault.is_some(), "cut at {cut}");
    }
}

#[test]
fn a_marker_is_four_bytes() {
    assert_eq!(read_marker(&[41, 0, 0, 0]), Ok(41));
    assert!(read_marker(&[41, 0, 0]).is_err() && read_marker(&[41, 0, 0, 0, 0]).is_err());
}

#[test]
fn a_db2_is_two_packed_blocks_around_an_event() {
    let bytes = kit::db2(41);
    let ceilings = Ceilings::default();
    let db2 = Db2::read(&bytes, &ceilings);
    assert_eq!((db2.version, db2.fault, db2.event.map(|e| e.name)), (Some(41), None, Some("army_eikthyr")));
    let inflated = super::packed::gunzip(db2.zones.unwrap().1, 1 << 20);
    let mut cursor = Cursor::new(&inflated.bytes);
    let section = ZoneSection::read(&mut cursor, 41, &ceilings);
    assert_eq!((section.fault, cursor.left(), section.locations.unwrap().placed()), (None, 0, 1));
    let mut broken = bytes.clone();
    broken[14] = 0x7f;
    let db2 = Db2::read(&broken, &ceilings);
    assert_eq!(db2.fault.map(|f| f.offset), Some(12));
    assert!(super::packed::gunzip(db2.zones.unwrap().1, 1 << 20).bytes == inflated.bytes, "still inflated");
    for cut in 0..bytes.len() {
        assert!(Db2::read(&bytes[..cut], &ceilings).fault.is_some(), "cut at {cut}");
    }
}

#[test]
fn the_walk_never_reads_more_than_it_was_given() {
    let noise: Vec<u8> = (0_u32..5000).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    for encoding in [Encoding::of(26), Encoding::of(28), Encoding::of(32), Encoding::of(36), Encoding::of(41)] {
        for start in 0..500 {
            let mut cursor = Cursor::new(&noise[start..]);
            let _ = walk(&mut cursor, 10_000, encoding, &Ceilings::default(), &Cancel::new(), &mut |_| true);
        }
    }
    assert!(Head::read(&noise[..27]).is_err());
}
