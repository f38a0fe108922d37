//! The bytes of Valheim's world files: pure functions over what was read, which never touch a disk.
//!
//! Every reader works on a [`Cursor`] that cannot run past its end and answers with a [`Fault`] that says where and
//! why. Lengths are held against the bytes that are left and against a ceiling before anything is made from them, and
//! texts and blocks are borrowed, so the memory used is the file's own. What is known about each format, and how
//! sure it is, stands in `docs/formats/valheim.md`.

pub mod census;
pub mod chunked;
pub mod cursor;
pub mod db;
pub mod hash;
pub mod meta;
pub mod object;
pub mod packed;
pub mod prefab;
pub mod zones;

#[cfg(test)]
pub(in crate::games::valheim) mod kit;
#[cfg(test)]
mod whole_files;

pub use cursor::{Cursor, Fault, FaultKind, Tally};

/// The versions of a pair of files that are known: `.fwl` and `.db` from Early Access to the last build before 1.0.
pub const PAIR_VERSIONS: std::ops::RangeInclusive<i32> = 26..=37;

/// The versions of a folder that are known: the public test of the chunked save, and 1.0.
pub const FOLDER_VERSIONS: std::ops::RangeInclusive<i32> = 40..=41;

/// The versions of metadata that are known. A newer game may rewrite the metadata of a pair alone.
pub const META_VERSIONS: std::ops::RangeInclusive<i32> = 26..=41;

/// What a version number says about a file, given the versions that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Known.
    Known,
    /// Older than what is known.
    Older,
    /// Newer than what is known.
    Newer,
    /// No number that the game could have written: the bytes are something else.
    NoVersion,
}

impl Age {
    /// The last number that is believed to be a version at all. The game counted to 41 in eight years.
    pub const LAST_BELIEVED: i32 = 1000;

    /// Where a version lies.
    pub fn of(version: i32, known: &std::ops::RangeInclusive<i32>) -> Self {
        if !(1..=Self::LAST_BELIEVED).contains(&version) {
            Self::NoVersion
        } else if version < *known.start() {
            Self::Older
        } else if version > *known.end() {
            Self::Newer
        } else {
            Self::Known
        }
    }
}

/// Edge of a zone in metres.
pub const ZONE: f32 = 64.0;

/// Zones further from the middle than this, in zones, hold nothing that a player reached on foot: the world ends at
/// 10.5 km, and the idle point of a dedicated server lies at 1000 km.
pub const LAST_ZONE: i32 = 170;

/// The zone of a coordinate, as the game computes it: `floor((p + 32) / 64)` in single precision.
#[inline]
#[allow(clippy::cast_possible_truncation)] // `as` saturates, and no number becomes 0, which no caller relies on.
pub fn zone_of(p: f32) -> i32 {
    let scaled = (p + ZONE / 2.0) / ZONE;
    let whole = scaled as i32;
    whole.wrapping_sub(i32::from(scaled < whole as f32))
}

/// True when a zone lies so far outside that only a server's idle point can have made it.
#[inline]
pub fn is_far(x: i32, z: i32) -> bool {
    x.unsigned_abs() > LAST_ZONE.unsigned_abs() || z.unsigned_abs() > LAST_ZONE.unsigned_abs()
}

/// The day of a world's time in seconds, from 0, and the time of that day in minutes of a day of 24 hours.
/// `None` for a time that no world can have.
#[allow(clippy::cast_possible_truncation)] // Bounded just above.
pub fn day_and_minute(net_time: f64) -> Option<(i64, i64)> {
    const DAY: f64 = 1800.0;
    if !(0.0..1e12).contains(&net_time) {
        return None;
    }
    let day = (net_time / DAY).floor();
    let fraction = (net_time - day * DAY) / DAY;
    Some((day as i64, ((fraction * 24.0 * 60.0) as i64).clamp(0, 24 * 60 - 1)))
}

#[cfg(test)]
mod tests {
    use super::{Age, META_VERSIONS, PAIR_VERSIONS, day_and_minute, is_far, zone_of};

    #[test]
    fn zones_are_squares_around_the_middle() {
        assert_eq!([-32.1, -32.0, 31.9, 32.0, 1_000_000.0, -96.0].map(zone_of), [-1, 0, 0, 1, 15_625, -1]);
        assert_eq!(zone_of(f32::INFINITY), i32::MAX);
        assert!(is_far(171, 0) && is_far(0, -171) && !is_far(170, -170) && is_far(i32::MIN, 0));
    }

    #[test]
    fn time_becomes_day_and_hour() {
        assert_eq!(day_and_minute(2040.0), Some((1, 192)));
        assert_eq!(day_and_minute(29_592.9), Some((16, 634)));
        assert_eq!(day_and_minute(f64::NAN), None);
        assert_eq!(day_and_minute(-1.0), None);
        assert_eq!(day_and_minute(1e300), None);
    }

    #[test]
    fn a_version_is_known_older_newer_or_none() {
        let ages = [26, 37, 25, 38, 99, 0, -1, 1001].map(|v| Age::of(v, &PAIR_VERSIONS));
        assert_eq!(
            ages,
            [
                Age::Known,
                Age::Known,
                Age::Older,
                Age::Newer,
                Age::Newer,
                Age::NoVersion,
                Age::NoVersion,
                Age::NoVersion
            ]
        );
        assert_eq!(Age::of(42, &META_VERSIONS), Age::Newer);
    }
}
