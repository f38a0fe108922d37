//! The files of the demo: which saves there are, how old, and what is wrong with some of them.

use std::collections::HashMap;
use std::io::{self, Cursor, Write as _};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ZonedDateTime};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::saga::{Chapter, Saga};
use crate::games::valheim::write::{Chunk, Object, WorldPlan, gzip};

/// The newest version of a pair, the one before it, and the version of 1.0.
const LAST_PAIR: i32 = 37;
const BEFORE: i32 = 36;
const FOLDER: i32 = 41;
/// A version that no game has yet.
const NEWER: i32 = 42;

const MIDGARD: Saga = Saga { name: "Midgard", seed: "HrafnAsk7", uid: 4_110_938_276, size: 23.0, pieces: 1500 };
const GRIMHOLD: Saga = Saga { name: "Grimhold", seed: "grim44", uid: -1_203_884_412, size: 10.0, pieces: 260 };
const RAVENSCAR: Saga = Saga { name: "Ravenscar", seed: "Scarp", uid: 882_114_903, size: 17.0, pieces: 700 };
const RAVENSCAR_AGAIN: Saga = Saga { name: "Ravenscar", seed: "qT81mWw2Zd", uid: 73_552_908, size: 1.0, pieces: 0 };
const THORNFJORD: Saga = Saga { name: "Thornfjord", seed: "Thorn2x", uid: 5_021_777_310, size: 9.0, pieces: 180 };
const SKALDHOLM: Saga = Saga { name: "Skaldholm", seed: "Skald", uid: 610_438_255, size: 7.0, pieces: 90 };
const ASHVALE: Saga = Saga { name: "Ashvale", seed: "AshFall9", uid: 1_740_062_981, size: 7.0, pieces: 60 };
const FARHOLM: Saga = Saga { name: "Farholm", seed: "FarHome", uid: 2_288_104_736, size: 6.0, pieces: 40 };

/// One file of the demo.
pub(super) struct File {
    /// Relative to the save root, with `/`.
    pub(super) path: String,
    /// What is in it.
    pub(super) bytes: Vec<u8>,
    /// When it was last changed.
    pub(super) mtime: Timestamp,
}

/// All files of the demo, as if it were `now` in `zone`.
pub(super) fn all(now: Timestamp, zone: &TimeZone) -> io::Result<Vec<File>> {
    let mut saves = Saves { now, zone: zone.clone(), files: Vec::new() };
    saves.midgard();
    saves.midgard_archive()?;
    saves.grimhold();
    saves.ravenscar();
    saves.thornfjord();
    saves.odds_and_ends();
    Ok(saves.files)
}

struct Saves {
    now: Timestamp,
    zone: TimeZone,
    files: Vec<File>,
}

/// How long ago something was saved.
type Age = SignedDuration;

const fn minutes(n: i64) -> Age {
    SignedDuration::from_mins(n)
}

const fn days(n: i64) -> Age {
    SignedDuration::from_hours(24 * n)
}

/// The version that a chunk has in a generation: it was last changed in one of the generations before.
fn chunk_version(generation: u32) -> impl FnMut(Chunk) -> u32 {
    move |chunk| generation - u32::from(chunk.id).wrapping_mul(2_654_435_761) % generation.max(1)
}

/// The objects of each chunk.
fn by_chunk(plan: &WorldPlan) -> HashMap<Chunk, Vec<&Object>> {
    let mut chunks: HashMap<_, Vec<_>> = HashMap::new();
    for object in &plan.objects {
        chunks.entry(Chunk::of(object, plan.chunk_size)).or_default().push(object);
    }
    chunks
}

impl Saves {
    /// The moment that lies `ago` before now; the earliest possible one when there is none.
    fn ago(&self, ago: Age) -> Timestamp {
        self.now.checked_sub(ago).unwrap_or(Timestamp::MIN)
    }

    /// A stamp for a name, in the machine's wall time.
    fn stamp(&self, ago: Age, format: &str) -> String {
        self.ago(ago).to_zoned_datetime(self.zone.clone()).strftime(format).to_string()
    }

    fn put(&mut self, path: String, bytes: Vec<u8>, ago: Age) {
        let mtime = self.ago(ago);
        self.files.push(File { path, bytes, mtime });
    }

    /// The metadata and the data of a world before 1.0, under one name.
    fn pair(&mut self, name: &str, plan: &WorldPlan, version: i32, ago: Age) {
        let (metadata, data) = plan.to_pair(version);
        self.put(format!("worlds_local/{name}.fwl"), metadata, ago);
        self.put(format!("worlds_local/{name}.db"), data, ago);
    }

    /// One generation in a folder of its own.
    fn generation(&mut self, dir: &str, plan: &WorldPlan, number: u32, ago: Age) {
        for (name, bytes) in plan.to_folder(FOLDER, number, chunk_version(number)) {
            self.put(format!("worlds_local/{dir}/{name}"), bytes, ago);
        }
    }

    /// The generation after one that lies in the same folder: it shares the chunk files that did not change, and lacks
    /// the file with the ending `lost`.
    fn next_generation(&mut self, dir: &str, before: &WorldPlan, plan: &WorldPlan, number: u32, age: Age, lost: &str) {
        let (old, new) = (by_chunk(before), by_chunk(plan));
        let mut old_version = chunk_version(number - 1);
        let same = |chunk: &Chunk| old.get(chunk) == new.get(chunk);
        let files = plan.to_folder(FOLDER, number, |c| if same(&c) { old_version(c) } else { number });
        for (name, bytes) in files {
            let path = format!("worlds_local/{dir}/{name}");
            if !name.ends_with(lost) && !self.files.iter().any(|file| file.path == path) {
                self.put(path, bytes, age);
            }
        }
    }

    /// A large world in the best of health, with every kind of layer.
    fn midgard(&mut self) {
        let live = MIDGARD.at(Chapter { day: 214.31, reach: 1.0 });
        self.generation("Midgard", &live, 17, minutes(12));
        for (hours, number, day, reach) in [(12, 15, 209.8, 0.98), (24, 13, 203.4, 0.94)] {
            let ago = SignedDuration::from_hours(hours);
            let name = format!("Midgard_backup_auto-{}", self.stamp(ago, "%Y%m%d-%H%M%S"));
            self.generation(&name, &MIDGARD.at(Chapter { day, reach }), number, ago);
        }
        let converted = MIDGARD.at(Chapter { day: 148.9, reach: 0.72 });
        let name = format!("Midgard_backup_{}", self.stamp(days(82), "%Y%m%d-%H%M%S"));
        self.pair(&name, &converted, LAST_PAIR, days(82));
        // Put back by hand one day, and hidden by the folder ever since.
        self.pair("Midgard", &MIDGARD.at(Chapter { day: 96.2, reach: 0.5 }), BEFORE, days(131));
        let mut unsaved = WorldPlan::new(MIDGARD.name, MIDGARD.seed);
        (unsaved.uid, unsaved.saved) = (MIDGARD.uid, false);
        let name = format!("Midgard_backup_auto-{}", self.stamp(days(81), "%Y%m%d-%H%M%S"));
        self.put(format!("worlds_local/{name}/_main.0.fwl2"), unsaved.metadata(FOLDER), days(81));
    }

    /// An older copy of the same world, packed as the common container images do it.
    fn midgard_archive(&mut self) -> io::Result<()> {
        let ago = days(6);
        let plan = MIDGARD.at(Chapter { day: 188.6, reach: 0.88 });
        let files: Vec<_> = plan
            .to_folder(FOLDER, 9, chunk_version(9))
            .into_iter()
            .map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes))
            .collect();
        let stamp = self.stamp(ago, "%Y%m%d-%H%M%S");
        let bytes = archive(&files, &self.ago(ago).to_zoned_datetime(self.zone.clone()))?;
        self.put(format!("backups/worlds-{stamp}.zip"), bytes, ago);
        Ok(())
    }

    /// The newest save has its marker and lost its data; the one before is whole.
    fn grimhold(&mut self) {
        let before = GRIMHOLD.at(Chapter { day: 40.2, reach: 0.8 });
        self.generation("Grimhold", &before, 8, minutes(95));
        let newest = GRIMHOLD.a_day_after(&before);
        self.next_generation("Grimhold", &before, &newest, 9, minutes(65), ".db2");
        let ago = SignedDuration::from_hours(13);
        let name = format!("Grimhold_backup_auto-{}", self.stamp(ago, "%Y%m%d-%H%M%S"));
        self.generation(&name, &GRIMHOLD.at(Chapter { day: 33.7, reach: 0.66 }), 6, ago);
    }

    /// A fresh world of the same name stands where a large old one was.
    fn ravenscar(&mut self) {
        self.pair("Ravenscar", &RAVENSCAR_AGAIN.untouched(), LAST_PAIR, days(2));
        let (metadata, data) = RAVENSCAR.at(Chapter { day: 77.4, reach: 0.7 }).to_pair(BEFORE);
        self.put("worlds_local/Ravenscar.fwl.old".to_owned(), metadata, days(9));
        self.put("worlds_local/Ravenscar.db.old".to_owned(), data, days(9));
    }

    /// The last save was begun and never finished.
    fn thornfjord(&mut self) {
        let before = THORNFJORD.at(Chapter { day: 22.8, reach: 0.6 });
        self.generation("Thornfjord", &before, 4, days(4));
        let begun = THORNFJORD.a_day_after(&before);
        self.next_generation("Thornfjord", &before, &begun, 5, days(3), ".ok");
    }

    /// A layer without its world, a dated copy, a newer world, a map cache.
    fn odds_and_ends(&mut self) {
        let name = format!("Skaldholm_{}", self.stamp(days(82), "%Y%m%d%H%M%S"));
        self.pair(&name, &SKALDHOLM.at(Chapter { day: 18.3, reach: 0.5 }), BEFORE, days(82));

        let name = format!("Ashvale_{}", self.stamp(days(158), "%Y-%m-%d_%H-%M-%S"));
        let data = ASHVALE.at(Chapter { day: 11.6, reach: 0.4 }).data(BEFORE);
        self.put(format!("worlds_local/{name}.db"), data, days(158));

        let newer = FARHOLM.at(Chapter { day: 8.1, reach: 0.4 });
        for (name, bytes) in newer.to_folder(NEWER, 2, chunk_version(2)) {
            self.put(format!("worlds_local/Farholm/{name}"), bytes, minutes(200));
        }

        let seed: i32 = 509_094_289;
        let meta = [seed.to_le_bytes(), 1_i32.to_le_bytes()].concat();
        self.put("worlds_local/Cloudfell/cacheMinimapMeta".to_owned(), meta, days(20));
        let blank = gzip(&[0; 4096]);
        for kind in ["Biome", "Height", "Mask"] {
            self.put(format!("worlds_local/Cloudfell/cacheMinimap{kind}"), blank.clone(), days(20));
        }
    }
}

/// Files as a zip in which each one has the same time.
pub(super) fn archive(files: &[(String, Vec<u8>)], at: &ZonedDateTime) -> io::Result<Vec<u8>> {
    let part = |n: i8| u8::try_from(n).unwrap_or_default();
    let time = DateTime::from_date_and_time(
        u16::try_from(at.year()).unwrap_or_default(),
        part(at.month()),
        part(at.day()),
        part(at.hour()),
        part(at.minute()),
        part(at.second()),
    )
    .unwrap_or_default();
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(time)
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name.as_str(), options)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
