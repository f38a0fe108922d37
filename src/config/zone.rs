use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use jiff::tz::TimeZone;

use super::Environment;

/// The most bytes that a zone file may have; the largest real one has under 4 KB.
const MOST: u64 = 1024 * 1024;

/// The zone of this machine's wall clock: `TZ`, else `/etc/localtime`, else UTC.
///
/// Asking the library for the system's zone makes it open every file of the zone database, which costs more than
/// the whole first screen may; reading the one file that counts costs almost nothing.
pub(super) fn zone(env: &Environment) -> TimeZone {
    if !cfg!(unix) {
        return TimeZone::system();
    }
    match env.get("TZ") {
        Some(tz) => from_variable(tz, env).unwrap_or(TimeZone::UTC),
        None => read(Path::new("/etc/localtime"), "Local").unwrap_or(TimeZone::UTC),
    }
}

/// What `TZ` means: a zone's name, the path of a zone file, or a POSIX rule such as `CET-1CEST`.
fn from_variable(tz: &OsStr, env: &Environment) -> Option<TimeZone> {
    let text = tz.to_str()?;
    let text = text.strip_prefix(':').unwrap_or(text);
    if matches!(text, "" | "UTC" | "UTC0" | "Etc/UTC" | "GMT" | "Z") {
        return Some(TimeZone::UTC);
    }
    let path = Path::new(text);
    if path.is_absolute() {
        return read(path, "Local");
    }
    if path.components().all(|part| matches!(part, Component::Normal(_))) {
        let dir = env.get("TZDIR").map_or_else(|| PathBuf::from("/usr/share/zoneinfo"), PathBuf::from);
        if let Some(zone) = read(&dir.join(path), text) {
            return Some(zone);
        }
    }
    TimeZone::posix(text).ok()
}

fn read(path: &Path, name: &str) -> Option<TimeZone> {
    let stat = std::fs::metadata(path).ok()?;
    if !stat.is_file() || stat.len() > MOST {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(path).ok()?).ok()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::Environment;
    use super::zone;

    fn offset(tz: &str) -> i32 {
        let env = Environment { vars: [("TZ".into(), tz.into())].into(), ..Environment::default() };
        let summer: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        zone(&env).to_offset(summer).seconds()
    }

    #[test]
    fn a_rule_in_the_variable_gives_the_offset() {
        assert_eq!(offset("UTC"), 0);
        assert_eq!(offset("EST5"), -5 * 3600);
        assert_eq!(offset("CET-1CEST,M3.5.0,M10.5.0/3"), 2 * 3600);
    }

    #[test]
    fn a_variable_that_means_nothing_is_utc() {
        for tz in ["No/Such/Zone", "../../etc/passwd", "\u{7f}"] {
            assert_eq!(offset(tz), 0, "{tz}");
        }
    }

    #[test]
    fn a_zone_file_is_read_from_the_folder_that_tzdir_names() {
        let dir = tempfile::tempdir().unwrap();
        let env = |tz: &str| Environment {
            vars: [("TZ".into(), tz.into()), ("TZDIR".into(), dir.path().into())].into(),
            ..Environment::default()
        };
        std::fs::create_dir(dir.path().join("Area")).unwrap();
        std::fs::write(dir.path().join("Area/Town"), tzif_of_one_hour()).unwrap();
        std::fs::write(dir.path().join("Area/Broken"), b"TZif2 and no more").unwrap();
        let now: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        assert_eq!(zone(&env("Area/Town")).to_offset(now).seconds(), 3600);
        assert_eq!(zone(&env("Area/Broken")).to_offset(now).seconds(), 0);
    }

    /// A version 2 zone file without transitions: one local type, one hour ahead.
    fn tzif_of_one_hour() -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..2 {
            bytes.extend(b"TZif2");
            bytes.extend([0; 15]);
            for count in [0_u32, 0, 0, 0, 1, 4] {
                bytes.extend(count.to_be_bytes());
            }
            bytes.extend(3600_i32.to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend(b"ABC\0");
        }
        bytes.extend(b"\nABC-1\n");
        bytes
    }
}
