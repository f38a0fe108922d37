//! A large tree of tiny, whole saves, for benches and for tests with many worlds.
//!
//! `examples/make-tree.rs` uses this file as well, so it needs nothing from its neighbours.

use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use worldkeep::games::valheim::write::{Object, WorldPlan};

/// The moment before which everything in a tree was saved: noon of 2026-11-30, UTC.
const NOW: i64 = 1_796_040_000;
/// The version of a 1.0 folder, and the last one of a pair.
const FOLDER: i32 = 41;
const PAIR: i32 = 37;

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// Save roots.
    pub(crate) profiles: usize,
    /// Worlds with a live state.
    pub(crate) worlds: usize,
    /// Layers, live ones included.
    pub(crate) layers: usize,
    /// Files.
    pub(crate) files: usize,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// Makes `profiles` save roots in `dir`, each with as many worlds, each with `layers` layers, one of them live.
///
/// Every second world is a 1.0 folder, the others are pairs. The layers after the live one take turns: automatic
/// backups, backups by hand, rolling saves, and for pairs the previous save. The same numbers give the same tree.
pub(crate) fn tree(dir: &Path, profiles: usize, worlds: usize, layers: usize) -> io::Result<Made> {
    let mut maker = Maker::default();
    for profile in 0..profiles {
        let root = dir.join(format!("profile-{profile:03}"));
        let place = root.join("worlds_local");
        fs::create_dir_all(&place)?;
        maker.made.profiles += 1;
        for world in 0..worlds {
            maker.world(&place, profile * worlds + world, &format!("World-{world:04}"), layers)?;
        }
    }
    Ok(maker.made)
}

#[derive(Default)]
struct Maker {
    made: Made,
}

impl Maker {
    fn world(&mut self, place: &Path, number: usize, name: &str, layers: usize) -> io::Result<()> {
        let folder = number.is_multiple_of(2);
        let plan = tiny(name, number);
        let files = if folder { Files::folder(&plan) } else { Files::pair(&plan) };
        self.made.worlds += 1;
        for layer in 0..layers {
            self.made.layers += 1;
            // Each world's layers lie an hour apart, and no two worlds were saved in the same second.
            let age = 600 + 3600 * layer as u64 + number as u64 % 3600;
            let (marker, suffix) = match (layer, layer % 4) {
                (0, _) => ("", ""),
                (1, _) if !folder => ("", ".old"),
                (_, 0 | 1) => ("_backup_auto-", ""),
                (_, 2) => ("_backup_", ""),
                (_, _) => ("_", ""),
            };
            let stamp = if marker.is_empty() { String::new() } else { stamp(age) };
            self.write(place, &format!("{name}{marker}{stamp}"), suffix, &files, age)?;
        }
        Ok(())
    }

    fn write(&mut self, place: &Path, name: &str, suffix: &str, files: &Files, age: u64) -> io::Result<()> {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW.cast_unsigned() - age);
        let dir = if files.folder { place.join(name) } else { place.to_path_buf() };
        if files.folder {
            fs::create_dir_all(&dir)?;
        }
        for (file, bytes) in &files.files {
            let path = if files.folder { dir.join(file) } else { dir.join(format!("{name}{file}{suffix}")) };
            let mut out = File::create(path)?;
            out.write_all(bytes)?;
            out.set_times(FileTimes::new().set_modified(time))?;
            self.made.files += 1;
            self.made.bytes += bytes.len() as u64;
        }
        Ok(())
    }
}

/// The files of one state; for a pair, what follows its name.
struct Files {
    folder: bool,
    files: Vec<(String, Vec<u8>)>,
}

impl Files {
    fn folder(plan: &WorldPlan) -> Self {
        Self { folder: true, files: plan.to_folder(FOLDER, 1, |_| 1) }
    }

    fn pair(plan: &WorldPlan) -> Self {
        let (metadata, data) = plan.to_pair(PAIR);
        Self { folder: false, files: vec![(".fwl".to_owned(), metadata), (".db".to_owned(), data)] }
    }
}

/// A stamp for a name, so many seconds before now.
fn stamp(age: u64) -> String {
    let at = Timestamp::from_second(NOW - age.cast_signed()).unwrap_or_default();
    at.strftime("%Y%m%d-%H%M%S").to_string()
}

/// A world with a few objects.
fn tiny(name: &str, number: usize) -> WorldPlan {
    let mut plan = WorldPlan::new(name, &format!("tree{number}"));
    plan.uid = i64::try_from(number).unwrap_or(i64::MAX);
    plan.net_time += number as f64;
    plan.objects = (0..6_u8)
        .map(|n| Object::new("Beech1", [f32::from(n) * 3.5, 31.0, -4.0]).yaw(f32::from(n)).float("health", 80.0))
        .collect();
    plan.zones_from_objects();
    plan
}
