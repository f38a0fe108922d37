//! Hand-made saves for tests: the smallest bytes of each version.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use super::chunked::Entry;
use super::hash::stable_hash;

/// One object to write.
#[derive(Clone, Debug, Default)]
pub(in crate::games::valheim) struct Thing {
    pub(in crate::games::valheim) prefab: &'static str,
    pub(in crate::games::valheim) at: [f32; 3],
    pub(in crate::games::valheim) ints: Vec<(&'static str, i32)>,
    pub(in crate::games::valheim) longs: Vec<(&'static str, i64)>,
    pub(in crate::games::valheim) texts: Vec<(&'static str, &'static [u8])>,
    pub(in crate::games::valheim) arrays: Vec<(&'static str, Vec<u8>)>,
    pub(in crate::games::valheim) sector: Option<(i16, i16)>,
    pub(in crate::games::valheim) turn: Option<Turn>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::games::valheim) enum Turn {
    Short,
    Long,
}

pub(in crate::games::valheim) fn thing(prefab: &'static str, x: f32, z: f32) -> Thing {
    Thing { prefab, at: [x, 30.5, z], ..Thing::default() }
}

/// A portal, a bed, a wall, a location proxy that tells seed 77, and a stone.
pub(in crate::games::valheim) fn things() -> Vec<Thing> {
    let built = vec![("creator", 7_656_119)];
    vec![
        Thing { longs: built.clone(), texts: vec![("tag", b"home")], ..thing("portal_wood", 100.0, -100.0) },
        Thing { longs: built.clone(), texts: vec![("ownerName", b"Ragna")], ..thing("bed", 70.0, 5.0) },
        Thing { longs: built, turn: Some(Turn::Short), ..thing("wood_wall", 72.0, 6.0) },
        // Zone (1, -2): 77 + 4271 - 2 * 9187.
        Thing { ints: vec![("seed", 77 + 4271 - 18_374)], ..thing("LocationProxy", 64.0, -128.0) },
        Thing { arrays: vec![("data", vec![1, 2, 3])], turn: Some(Turn::Long), ..thing("Pickable_Stone", -5.0, 5.0) },
    ]
}

pub(in crate::games::valheim) fn text(out: &mut Vec<u8>, text: &[u8]) {
    let mut n = text.len();
    while n >= 0x80 {
        out.push(u8::try_from(n & 0x7f).unwrap() | 0x80);
        n >>= 7;
    }
    out.push(u8::try_from(n).unwrap());
    out.extend(text);
}

fn floats(out: &mut Vec<u8>, values: [f32; 3]) {
    for value in values {
        out.extend(value.to_le_bytes());
    }
}

fn flags(thing: &Thing) -> u16 {
    let mut flags = 0x100;
    for (bit, there) in [
        (0x10, !thing.ints.is_empty()),
        (0x20, !thing.longs.is_empty()),
        (0x40, !thing.texts.is_empty()),
        (0x80, !thing.arrays.is_empty()),
        (0x1000, thing.turn.is_some()),
    ] {
        flags |= if there { bit } else { 0 };
    }
    flags
}

fn map<T>(
    out: &mut Vec<u8>,
    entries: &[(&'static str, T)],
    count: &dyn Fn(&mut Vec<u8>, usize),
    value: impl Fn(&mut Vec<u8>, &T),
) {
    count(out, entries.len());
    for (key, one) in entries {
        out.extend(stable_hash(key).to_le_bytes());
        value(out, one);
    }
}

fn array(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    out.extend(bytes);
}

fn flat_maps(out: &mut Vec<u8>, thing: &Thing, wide: bool) {
    let count = |out: &mut Vec<u8>, n: usize| {
        if wide && n >= 0x80 {
            out.push(u8::try_from(n >> 8).unwrap() | 0x80);
        }
        out.push(u8::try_from(n & 0xff).unwrap());
    };
    if !thing.ints.is_empty() {
        map(out, &thing.ints, &count, |out, v| out.extend(v.to_le_bytes()));
    }
    if !thing.longs.is_empty() {
        map(out, &thing.longs, &count, |out, v| out.extend(v.to_le_bytes()));
    }
    if !thing.texts.is_empty() {
        map(out, &thing.texts, &count, |out, v| text(out, v));
    }
    if !thing.arrays.is_empty() {
        map(out, &thing.arrays, &count, |out, v| array(out, v));
    }
}

fn sector(thing: &Thing) -> (i16, i16) {
    let zone = |p: f32| i16::try_from(super::zone_of(p)).unwrap();
    thing.sector.unwrap_or_else(|| (zone(thing.at[0]), zone(thing.at[2])))
}

/// An object of versions 31 to 39.
pub(in crate::games::valheim) fn flat(thing: &Thing, version: i32) -> Vec<u8> {
    let mut out = flags(thing).to_le_bytes().to_vec();
    let (x, z) = sector(thing);
    out.extend(x.to_le_bytes());
    out.extend(z.to_le_bytes());
    floats(&mut out, thing.at);
    out.extend(stable_hash(thing.prefab).to_le_bytes());
    if thing.turn.is_some() {
        floats(&mut out, [0.0, 90.0, 0.0]);
    }
    flat_maps(&mut out, thing, version >= 33);
    out
}

/// An object of versions up to 30.
pub(in crate::games::valheim) fn block(thing: &Thing, version: i32) -> Vec<u8> {
    let mut b = vec![0; 8];
    b.push(1);
    b.extend([0; 20]);
    b.extend([2, 0]);
    b.extend(stable_hash(thing.prefab).to_le_bytes());
    let (x, z) = sector(thing);
    b.extend(i32::from(x).to_le_bytes());
    b.extend(i32::from(z).to_le_bytes());
    floats(&mut b, thing.at);
    b.extend([0; 16]);
    let count = |out: &mut Vec<u8>, n: usize| {
        let mut buffer = [0; 4];
        out.extend(char::from_u32(u32::try_from(n).unwrap()).unwrap().encode_utf8(&mut buffer).as_bytes());
    };
    b.extend([0, 0, 0]);
    map(&mut b, &thing.ints, &count, |out, v| out.extend(v.to_le_bytes()));
    map(&mut b, &thing.longs, &count, |out, v| out.extend(v.to_le_bytes()));
    map(&mut b, &thing.texts, &count, |out, v| text(out, v));
    if version >= 27 {
        map(&mut b, &thing.arrays, &count, |out, v| array(out, v));
    }
    let mut out = vec![0; 12];
    array(&mut out, &b);
    out
}

/// An object of versions from 40.
pub(in crate::games::valheim) fn chunked(thing: &Thing) -> Vec<u8> {
    let [x, y, z] = thing.at;
    let small = y == 0.0 && x.fract() == 0.0 && z.fract() == 0.0 && x.abs() < 30_000.0 && z.abs() < 30_000.0;
    let mut out = (flags(thing) | if small { 0x2000 } else { 0 }).to_le_bytes().to_vec();
    if small {
        #[allow(clippy::cast_possible_truncation)]
        out.extend([x as i16, z as i16].map(i16::to_le_bytes).concat());
    } else {
        floats(&mut out, thing.at);
    }
    out.extend(stable_hash(thing.prefab).to_le_bytes());
    match thing.turn {
        Some(Turn::Short) => out.extend(0x80b4_u16.to_le_bytes()),
        Some(Turn::Long) => out.extend([1, 0, 2, 0]),
        None => {}
    }
    flat_maps(&mut out, thing, true);
    out
}

/// Zones (0, 0), (1, -2) and the idle point's, two keys, two locations of which one is placed.
pub(in crate::games::valheim) fn zone_section(version: i32) -> Vec<u8> {
    let mut out = 3_i32.to_le_bytes().to_vec();
    for (x, z) in [(0_i16, 0_i16), (1, -2), (15_625, 15_625)] {
        if version >= 40 {
            out.extend([x, z].map(i16::to_le_bytes).concat());
        } else {
            out.extend([x, z].map(|n| i32::from(n).to_le_bytes()).concat());
        }
    }
    if version < 40 {
        out.extend(0_i32.to_le_bytes());
    }
    out.extend(31_i32.to_le_bytes());
    out.extend(2_i32.to_le_bytes());
    text(&mut out, b"defeated_eikthyr");
    text(&mut out, b"killedtroll");
    out.push(1);
    out.extend(2_i32.to_le_bytes());
    for (name, at, placed) in [("StartTemple", [3.0, 40.0, -5.0], 1), ("GDKing", [2100.0, 38.0, -1500.0], 0)] {
        if version >= 40 {
            out.extend(stable_hash(name).to_le_bytes());
        } else {
            text(&mut out, name.as_bytes());
        }
        floats(&mut out, at);
        out.push(placed);
    }
    out
}

pub(in crate::games::valheim) fn event(name: &str) -> Vec<u8> {
    let mut out = 1.5_f32.to_le_bytes().to_vec();
    text(&mut out, name.as_bytes());
    out.extend(0_f32.to_le_bytes());
    floats(&mut out, [0.0; 3]);
    out
}

/// The head of a `.db`, day 12 at six o'clock.
pub(in crate::games::valheim) fn head(version: i32, objects: usize) -> Vec<u8> {
    let mut out = version.to_le_bytes().to_vec();
    out.extend((12.25_f64 * 1800.0).to_le_bytes());
    out.extend([0; 12]);
    out.extend(u32::try_from(objects).unwrap().to_le_bytes());
    out
}

/// A whole `.db` of a version.
pub(in crate::games::valheim) fn db(version: i32, things: &[Thing]) -> Vec<u8> {
    let mut out = head(version, things.len());
    for thing in things {
        out.extend(if version <= 30 { block(thing, version) } else { flat(thing, version) });
    }
    if version <= 30 {
        out.extend(1_i32.to_le_bytes());
        out.extend([0; 20]);
    }
    out.extend(zone_section(version));
    out.extend(event(""));
    out
}

/// A whole metadata file of a version, with seed 77 and the name `Holm`.
pub(in crate::games::valheim) fn meta(version: i32, needs_db: bool) -> Vec<u8> {
    let mut p = version.to_le_bytes().to_vec();
    text(&mut p, b"Holm");
    text(&mut p, b"typed");
    p.extend(77_i32.to_le_bytes());
    p.extend(4242_i64.to_le_bytes());
    p.extend(2_i32.to_le_bytes());
    if version >= 30 {
        p.push(needs_db.into());
    }
    if version >= 32 {
        p.extend(0_i32.to_le_bytes());
    }
    if version >= 41 {
        p.extend(0_i32.to_le_bytes());
    }
    let mut out = u32::try_from(p.len()).unwrap().to_le_bytes().to_vec();
    out.extend(p);
    out
}

pub(in crate::games::valheim) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(in crate::games::valheim) fn db2(version: i32) -> Vec<u8> {
    let mut out = version.to_le_bytes().to_vec();
    out.extend((12.25_f64 * 1800.0).to_le_bytes());
    array(&mut out, &gzip(&zone_section(40)));
    out.extend(event("army_eikthyr"));
    array(&mut out, b"\x0b\x05\x80{\"list\":[]}\x03");
    out
}

pub(in crate::games::valheim) fn chunk(version: i16, things: &[Thing]) -> Vec<u8> {
    let mut out = version.to_le_bytes().to_vec();
    out.extend(u32::try_from(things.len()).unwrap().to_le_bytes());
    for thing in things {
        out.extend(chunked(thing));
    }
    out
}

pub(in crate::games::valheim) fn index(version: u16, entries: &[Entry]) -> Vec<u8> {
    let mut out = version.to_le_bytes().to_vec();
    out.extend(entries.iter().map(|e| e.objects).sum::<i32>().to_le_bytes());
    out.extend(u32::try_from(entries.len()).unwrap().to_le_bytes());
    for entry in entries {
        out.extend(entry.id.to_le_bytes());
        out.push(entry.size);
        out.extend(entry.version.to_le_bytes());
        out.extend(entry.objects.to_le_bytes());
    }
    out
}
