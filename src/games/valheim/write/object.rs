//! The three encodings of one object: old pairs, newer pairs, chunk files.

use super::bytes::{Out, low};
use super::plan::{Object, Rotation};

/// The first version that writes objects as flags and what the flags name.
pub(super) const FLAGGED: i32 = 31;
/// The first version that writes counts of properties over 127 in two bytes.
const WIDE_COUNTS: i32 = 33;
/// The first version that writes byte arrays.
const ARRAYS: i32 = 27;

/// The largest count that one UTF-16 unit can give without being half of a pair.
const MOST_OLD: usize = 0xd7ff;
/// The largest count that 15 bits can give.
const MOST_WIDE: usize = 0x7fff;

const CONNECTION: u16 = 0x0001;
const PERSISTENT: u16 = 0x0100;
const DISTANT: u16 = 0x0200;
const ROTATED: u16 = 0x1000;
const SMALL: u16 = 0x2000;

/// An object of version 30 or older: its id, then a block with fixed fields and seven maps.
pub(super) fn old(out: &mut Out, object: &Object, id: (i64, u32), version: i32) {
    out.i64(id.0);
    out.u32(id.1);
    let mut blob = Out::default();
    blob.u32(1); // owner's revision
    blob.u32(1); // data's revision
    blob.bool(true); // persistent
    blob.i64(0); // owner
    blob.i64(0); // time of creation
    blob.i32(OLD_PGW);
    blob.u8(object.kind & 3);
    blob.bool(object.distant);
    blob.i32(object.prefab);
    let (x, z) = object.zone();
    blob.i32(x);
    blob.i32(z);
    blob.floats(&object.position);
    blob.floats(&quaternion(object.rotation));
    let with_arrays = version >= ARRAYS;
    maps(&mut blob, object, with_arrays, |out, n| {
        let n = n.min(MOST_OLD);
        let unit = u32::try_from(n).ok().and_then(char::from_u32).unwrap_or_default();
        out.0.extend_from_slice(unit.encode_utf8(&mut [0; 4]).as_bytes());
        Some(n)
    });
    out.block(&blob.0);
}

/// What old objects and old zone sections hold as the version of the generated world's content.
pub(super) const OLD_PGW: i32 = 99;

/// An object of versions 31 to 39.
pub(super) fn flagged(out: &mut Out, object: &Object, version: i32) {
    out.u16(flags(object));
    let (x, z) = object.zone();
    out.i16(clamp(x));
    out.i16(clamp(z));
    out.floats(&object.position);
    out.i32(object.prefab);
    match object.rotation {
        Rotation::None => {}
        Rotation::Yaw(yaw) => out.floats(&[0.0, yaw, 0.0]),
        Rotation::Euler(angles) => out.floats(&angles),
    }
    properties(out, object, version);
}

/// An object in a chunk file: no sector, small positions, packed rotations.
pub(super) fn chunked(out: &mut Out, object: &Object, version: i32) {
    let small = small_position(object.position);
    out.u16(flags(object) | if small.is_some() { SMALL } else { 0 });
    match small {
        Some((x, z)) => {
            out.i16(x);
            out.i16(z);
        }
        None => out.floats(&object.position),
    }
    out.i32(object.prefab);
    match object.rotation {
        Rotation::None => {}
        Rotation::Yaw(yaw) => out.u16(0x8000 | half_degrees(yaw)),
        Rotation::Euler(angles) => {
            let [x, y, z] = angles.map(|angle| u32::from(half_degrees(angle)));
            // The high half comes first: its top bit is clear, which tells it from a yaw.
            out.u32((z << 20 | y << 10 | x).rotate_left(16));
        }
    }
    properties(out, object, version);
}

fn flags(object: &Object) -> u16 {
    let mut flags = PERSISTENT | u16::from(object.kind & 3) << 10;
    let parts = [
        (CONNECTION, object.connection.is_some()),
        (0x0002, !object.floats.is_empty()),
        (0x0004, !object.vectors.is_empty()),
        (0x0008, !object.quats.is_empty()),
        (0x0010, !object.ints.is_empty()),
        (0x0020, !object.longs.is_empty()),
        (0x0040, !object.texts.is_empty()),
        (0x0080, !object.arrays.is_empty()),
        (DISTANT, object.distant),
        (ROTATED, object.rotation != Rotation::None),
    ];
    for (bit, set) in parts {
        if set {
            flags |= bit;
        }
    }
    flags
}

fn properties(out: &mut Out, object: &Object, version: i32) {
    if let Some((kind, hash)) = object.connection {
        out.u8(kind);
        out.i32(hash);
    }
    maps(out, object, true, |out, n| match n {
        0 => None,
        // What those versions really did: the count lost its upper bits and all entries followed.
        _ if version < WIDE_COUNTS => {
            out.u8(low(n));
            Some(n)
        }
        _ if n < 0x80 => {
            out.u8(low(n));
            Some(n)
        }
        _ => {
            let n = n.min(MOST_WIDE);
            out.u8(low(n >> 8) | 0x80);
            out.u8(low(n));
            Some(n)
        }
    });
}

/// The seven maps in their order; `count` writes a count and says how many entries follow, or writes nothing.
fn maps(out: &mut Out, object: &Object, with_arrays: bool, count: impl Fn(&mut Out, usize) -> Option<usize>) {
    map(out, &object.floats, &count, |out, v| out.f32(*v));
    map(out, &object.vectors, &count, |out, v| out.floats(v));
    map(out, &object.quats, &count, |out, v| out.floats(v));
    map(out, &object.ints, &count, |out, v| out.i32(*v));
    map(out, &object.longs, &count, |out, v| out.i64(*v));
    map(out, &object.texts, &count, |out, v| out.text(v));
    if with_arrays {
        map(out, &object.arrays, &count, |out, v| out.block(v));
    }
}

fn map<T>(
    out: &mut Out,
    entries: &[(i32, T)],
    count: &impl Fn(&mut Out, usize) -> Option<usize>,
    value: impl Fn(&mut Out, &T),
) {
    let Some(n) = count(out, entries.len()) else { return };
    for (key, v) in entries.iter().take(n) {
        out.i32(*key);
        value(out, v);
    }
}

/// A coordinate of a zone in the 16 bits that files since version 31 give it.
#[expect(clippy::cast_possible_truncation, reason = "clamped on the same line")]
pub(super) fn clamp(n: i32) -> i16 {
    n.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

/// Whole metres on the ground plane, when that loses nothing.
fn small_position([x, y, z]: [f32; 3]) -> Option<(i16, i16)> {
    (y.to_bits() == 0).then(|| Some((whole(x)?, whole(z)?))).flatten()
}

#[expect(clippy::cast_possible_truncation, reason = "compared with what it was on the next line")]
fn whole(metres: f32) -> Option<i16> {
    let n = metres as i16;
    (f32::from(n).to_bits() == metres.to_bits()).then_some(n)
}

/// An angle in steps of half a degree, 0 to 719.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..720; no number counts as 0")]
fn half_degrees(degrees: f32) -> u16 {
    (degrees * 2.0).round().rem_euclid(720.0) as u16
}

/// The rotation as the game's engine composes it: about z, then x, then y.
#[expect(clippy::cast_possible_truncation, reason = "the file keeps single precision")]
fn quaternion(rotation: Rotation) -> [f32; 4] {
    let angles = match rotation {
        Rotation::None => [0.0; 3],
        Rotation::Yaw(yaw) => [0.0, yaw, 0.0],
        Rotation::Euler(angles) => angles,
    };
    let [(sx, cx), (sy, cy), (sz, cz)] = angles.map(|a| (f64::from(a).to_radians() / 2.0).sin_cos());
    [sx * cy * cz + cx * sy * sz, cx * sy * cz - sx * cy * sz, cx * cy * sz - sx * sy * cz, cx * cy * cz + sx * sy * sz]
        .map(|n| n as f32)
}

#[cfg(test)]
mod tests {
    use super::super::bytes::Out;
    use super::{Object, chunked, flagged, half_degrees, old, quaternion};
    use crate::games::valheim::write::Rotation;

    fn bytes(write: impl Fn(&mut Out)) -> Vec<u8> {
        let mut out = Out::default();
        write(&mut out);
        out.0
    }

    #[test]
    fn a_bare_object_on_whole_metres_takes_ten_bytes_in_a_chunk() {
        let object = Object::new("abc", [-3.0, 0.0, 300.0]);
        let hash = 1_099_313_834_i32.to_le_bytes();
        let want = [&[0x00, 0x21, 0xfd, 0xff, 0x2c, 0x01][..], &hash].concat();
        assert_eq!(bytes(|out| chunked(out, &object, 41)), want);
    }

    #[test]
    fn a_height_or_a_fraction_needs_the_long_position() {
        for position in [[-3.0, 1.0, 300.0], [-3.5, 0.0, 300.0], [40_000.0, 0.0, 0.0], [-0.0, 0.0, 0.0]] {
            let object = Object::new("abc", position);
            assert_eq!(bytes(|out| chunked(out, &object, 41)).len(), 18, "{position:?}");
        }
    }

    #[test]
    fn angles_wrap_into_half_degrees() {
        assert_eq!([0.0, 90.0, 359.75, 360.0, -0.5, 720.5, f32::NAN].map(half_degrees), [0, 180, 0, 0, 719, 1, 0]);
    }

    #[test]
    fn a_packed_rotation_has_its_high_half_first() {
        let object = Object::new("abc", [0.0; 3]).euler([0.0, 45.5, 1.0]);
        // 2 << 20 | 91 << 10 is 0x0021_6c00.
        assert_eq!(bytes(|out| chunked(out, &object, 41)).get(10..), Some(&[0x21, 0x00, 0x00, 0x6c][..]));
    }

    #[test]
    fn counts_are_as_wide_as_their_version_writes_them() {
        let mut object = Object::new("abc", [0.0; 3]);
        object.ints = (0..300).map(|n| (n, n)).collect();
        let at = 2 + 4 + 12 + 4;
        assert_eq!(bytes(|out| flagged(out, &object, 32)).get(at), Some(&44), "300 modulo 256");
        assert_eq!(bytes(|out| flagged(out, &object, 36)).get(at..at + 2), Some(&[0x81, 44][..]));
        let at = 12 + 4 + 8 + 1 + 16 + 4 + 2 + 4 + 8 + 12 + 16 + 3;
        let old = bytes(|out| old(out, &object, (1, 1), 29));
        assert_eq!(old.get(at..at + 2), Some("\u{12c}".as_bytes()));
    }

    #[test]
    fn a_quarter_turn_is_a_quarter_turn() {
        let [x, y, z, w] = quaternion(Rotation::Yaw(90.0));
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert!(x.abs() < 1e-6 && z.abs() < 1e-6 && (y - half).abs() < 1e-6 && (w - half).abs() < 1e-6);
    }
}
