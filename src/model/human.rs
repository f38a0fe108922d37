//! Ages, sizes, times and counts as a person reads them, in one form everywhere.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// How long ago, in at most seven columns: `now`, `3 min`, `12 h`, `82 d`, `3 y`; a time to come is `ahead`.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        i64::MIN..=-61 => "ahead".to_owned(),
        -60..=59 => "now".to_owned(),
        60..=3599 => format!("{} min", seconds / 60),
        3600..=172_799 => format!("{} h", seconds / 3600),
        172_800..=63_071_999 => format!("{} d", seconds / 86_400),
        _ => format!("{} y", seconds / 31_536_000),
    }
}

/// Bytes in at most eight columns, in powers of 1024: `182 MiB`.
pub fn size(bytes: u64) -> String {
    let digits = usize::from(bytes >= 1024 && leading(bytes) < 10);
    humansize::format_size(bytes, humansize::BINARY.decimal_places(digits).decimal_zeroes(0))
}

fn leading(mut bytes: u64) -> u64 {
    while bytes >= 1024 {
        bytes /= 1024;
    }
    bytes
}

/// A moment in the machine's zone, always in one form: `2026-11-30 04:00:00`.
pub fn when(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A number with a comma between thousands: `77,504`.
pub fn count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + 4);
    if n < 0 {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{age, count, size};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    #[test]
    fn ages_grow_by_unit() {
        let now = at(1_000_000_000);
        let ago = |s: i64| age(now, at(1_000_000_000 - s));
        assert_eq!(
            [0, 59, 60, 3599, 3600, 172_800, 63_072_000, -100].map(ago),
            ["now", "now", "1 min", "59 min", "1 h", "2 d", "2 y", "ahead"]
        );
        assert_eq!(
            [3661, 172_799, 172_801, 63_071_999, -60, -61].map(ago),
            ["1 h", "47 h", "2 d", "729 d", "now", "ahead"]
        );
        assert_eq!(age(Timestamp::MAX, Timestamp::MIN).split(' ').next_back(), Some("y"));
    }

    #[test]
    fn numbers_read_easily() {
        assert_eq!(count(77_504), "77,504");
        assert_eq!(count(-1_234_567), "-1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(size(0), "0 B");
        assert_eq!(size(50), "50 B");
        assert_eq!(size(3_700_000), "3.5 MiB");
        assert_eq!(size(190_840_832), "182 MiB");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1 KiB");
        assert_eq!(size(10_240), "10 KiB");
        assert_eq!(count(i64::MIN), "-9,223,372,036,854,775,808");
        assert!(size(u64::MAX).len() <= 8, "{}", size(u64::MAX));
        assert!((0..64).all(|bit| size((1 << bit) - 1).len() <= 8));
    }
}
