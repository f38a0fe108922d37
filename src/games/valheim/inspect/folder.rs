//! The check of one generation of a folder of 1.0: its four files and its name in the listing.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::report::Block;
use super::{Look, report};
use crate::games::valheim::format::chunked::{DB2_HEAD, Db2, INDEX_CEILING, Index, read_marker};
use crate::games::valheim::format::zones::ZoneSection;
use crate::games::valheim::format::{Age, Cursor, FOLDER_VERSIONS, packed};
use crate::model::{Code, Finding, Severity, shown, shown_path};
use crate::store::{Entry, EntryKind};

/// The four files of a generation, by the last part of their names.
pub(super) const PARTS: [&str; 4] = ["fwl2", "db2", "chunks", "ok"];

/// A folder, listed once.
pub(super) struct Listing {
    pub(super) dir: PathBuf,
    pub(super) entries: Vec<Entry>,
}

impl Listing {
    /// The path of a name in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// What a name is, where it is there.
    pub(super) fn kind(&self, name: &str) -> Option<EntryKind> {
        // Every store sorts its listings, as the trait promises.
        let key = |entry: &Entry| entry.name.as_encoded_bytes().cmp(name.as_bytes());
        let found = self.entries.binary_search_by(key).ok().and_then(|at| self.entries.get(at));
        found.map(|entry| entry.kind)
    }

    /// The file of a part of a generation.
    pub(super) fn part(&self, generation: u64, part: &str) -> Option<PathBuf> {
        let name = part_name(generation, part);
        self.kind(&name).map(|_| self.path(&name))
    }

    /// True when a later generation has all its files, so that the game no longer loads this one.
    pub(super) fn is_superseded(&self, generation: u64) -> bool {
        let numbers = self
            .entries
            .iter()
            .filter_map(|entry| entry.name.to_str()?.strip_prefix("_main.")?.strip_suffix(".ok")?.parse::<u64>().ok());
        numbers
            .filter(|&number| number > generation)
            .any(|number| PARTS.iter().all(|part| self.part(number, part).is_some()))
    }
}

/// The name of a part of a generation.
pub(in crate::games::valheim) fn part_name(generation: u64, part: &str) -> String {
    format!("_main.{generation}.{part}")
}

impl Look<'_> {
    pub(super) fn folder(&mut self, dir: &Path, generation: u64) {
        let listed = self.store.list(dir);
        let Some(entries) = self.take(listed) else { return };
        let listing = Listing { dir: dir.to_path_buf(), entries };
        let [fwl2, db2, chunks, ok] = PARTS.map(|part| listing.part(generation, part));
        let meta_version = fwl2.as_deref().and_then(|path| self.metadata(path));
        if generation == 0 && db2.is_none() && chunks.is_none() && ok.is_none() {
            self.never_played(fwl2.as_deref());
            return;
        }
        self.facts.has_data = true;
        self.missing_parts(&listing, generation);
        let marker = ok.as_deref().and_then(|path| self.marker(path));
        // An index that could not be read is told already; it is not an empty one.
        let index_bytes = chunks.as_deref().and_then(|path| self.read_small(path, INDEX_CEILING));
        let chunks = chunks.filter(|_| index_bytes.is_some());
        let index = Index::read(index_bytes.as_deref().unwrap_or_default(), &self.context.ceilings);
        let db2_bytes = db2.as_deref().and_then(|path| self.db2_bytes(path));
        let head = db2_bytes.as_deref().map(Db2::read_head).unwrap_or_default();

        let versions = [(ok.as_deref(), marker), (db2.as_deref(), head.version), (chunks.as_deref(), index.version)];
        let known = self.folder_versions(&versions, fwl2.as_deref().zip(meta_version));
        self.facts.net_time =
            head.net_time.filter(|&time| known || crate::games::valheim::format::day_and_minute(time).is_some());
        if index.fault.is_none() {
            self.facts.objects = index.total.and_then(|total| u64::try_from(total).ok());
        }
        if !known {
            return;
        }
        let chunks_whole = chunks.as_deref().is_some_and(|path| self.chunks(&listing, generation, path, &index));
        if let (Some(path), Some(bytes)) = (db2.as_deref(), db2_bytes.as_deref()) {
            let since = self.report.moment();
            self.db2(path, bytes);
            if self.full() && chunks_whole && self.report.errors_since(since) {
                let sentence = format!("All {} chunk files are whole.", index.len());
                self.report.append_since(since, &sentence);
            }
        }
    }

    fn never_played(&mut self, fwl2: Option<&Path>) {
        let Some(fwl2) = fwl2 else {
            self.report.push(Finding::error(Code::NoFinishedSave, "Nothing of this save is there.", ""));
            return;
        };
        // Metadata that cannot be read says nothing about the world, and its own finding says why.
        if self.facts.seed_number.is_some() {
            let text = "A new world that was never saved: only its metadata is there.";
            let next = "There is nothing to restore from it.";
            self.report.push(Finding::error(Code::NeverPlayed, text, next).in_file(shown_path(fwl2)));
        }
    }

    fn missing_parts(&mut self, listing: &Listing, generation: u64) {
        let missing: Vec<&str> = PARTS.into_iter().filter(|part| listing.part(generation, part).is_none()).collect();
        if missing.contains(&"ok") {
            let list = missing.iter().map(|part| format!(".{part}")).collect::<Vec<_>>().join(", ");
            let text = format!("Save {generation} was never finished: it lacks {list}, and .ok is written last.");
            let next = "If a server is running, look again in a minute. Otherwise use the save before it.";
            let file = shown_path(&listing.path(&part_name(generation, "ok")));
            self.report.push(Finding::error(Code::SaveInterrupted, text, next).in_file(file));
            return;
        }
        for part in missing {
            self.vanished = true;
            let text = format!("Save {generation} is missing its .{part}, although its .ok says that it was finished.");
            let next = "Do not start a server on it: it may make a new world over this one. Look for an older layer.";
            let file = shown_path(&listing.path(&part_name(generation, part)));
            self.report.push(Finding::error(Code::MissingFile, text, next).in_file(file));
        }
    }

    fn marker(&mut self, path: &Path) -> Option<i32> {
        // One byte more than it has, so that a longer one is noticed.
        let bytes = self.read_start(path, 5)?;
        let file = shown_path(path);
        if bytes.is_empty() {
            self.report.push(report::empty(&file, "commit marker"));
            return None;
        }
        read_marker(&bytes).map_err(|fault| self.report.fault(&file, &fault)).ok()
    }

    fn db2_bytes(&mut self, path: &Path) -> Option<Vec<u8>> {
        let bytes =
            if self.full() { self.read(path, self.context.ceilings.file) } else { self.read_start(path, DB2_HEAD) }?;
        if bytes.is_empty() {
            self.report.push(report::empty(&shown_path(path), "world data"));
            return None;
        }
        Some(bytes)
    }

    /// Judges the versions of a save's files; true when the format is known.
    fn folder_versions(&mut self, files: &[(Option<&Path>, Option<i32>); 3], meta: Option<(&Path, i32)>) -> bool {
        let mut given = files.iter().filter_map(|&(path, version)| path.zip(version));
        let Some((first, version)) = given.next() else { return true };
        self.facts.world_version = Some(version);
        for (path, other) in given {
            if other != version {
                let text = format!(
                    "This file has version {other}, and {} of the same save has {version}.",
                    shown_path(Path::new(first.file_name().unwrap_or_default()))
                );
                // Of a version that is not known here, nothing is called damage.
                let unknown = [version, other].map(|v| Age::of(v, &FOLDER_VERSIONS)).contains(&Age::Newer);
                let severity = if unknown { Severity::Warning } else { Severity::Error };
                let finding = Finding::new(severity, Code::VersionMismatch, text, report::OLDER_LAYER);
                self.report.push(finding.in_file(shown_path(path)).at(0));
                if unknown && Age::of(version, &FOLDER_VERSIONS) == Age::Known {
                    return self.judge_version(path, other, &FOLDER_VERSIONS);
                }
            }
        }
        if let Some((path, meta)) = meta {
            let (severity, why) = match meta.cmp(&version) {
                Ordering::Less => (Severity::Warning, "It may be from an earlier save."),
                _ => (Severity::Note, "The game may rewrite the metadata alone."),
            };
            if meta != version {
                let text = format!("The metadata has version {meta}, the save {version}. {why}");
                let finding = Finding::new(severity, Code::VersionMismatch, text, "");
                self.report.push(finding.in_file(shown_path(path)).at(4));
            }
        }
        self.judge_version(first, version, &FOLDER_VERSIONS)
    }

    fn db2(&mut self, path: &Path, bytes: &[u8]) {
        let file = shown_path(path);
        let db2 = if self.full() { Db2::read(bytes, &self.context.ceilings) } else { Db2::read_head(bytes) };
        if let Some(time) = db2.net_time {
            self.take_time(&file, time);
        }
        if let Some(fault) = &db2.fault {
            self.report.fault(&file, fault);
        }
        if !self.full() {
            return;
        }
        let mut left = 0;
        let mut reached = true;
        if let Some((start, block)) = db2.zones {
            match self.zone_block(&file, start, block, db2.fault.is_none() || db2.event.is_some()) {
                Some(over) => left += over,
                None => reached = false,
            }
        }
        self.take_event(db2.event);
        if let Some((start, block)) = db2.events {
            self.persistent_events(&file, start, block);
        } else if db2.zones.is_some() && db2.event.is_none() {
            self.report.not_reached(&file, "the random event and what follows it");
        }
        let trailing = db2.fault.is_none();
        self.facts.bytes_left = (reached && trailing && db2.events.is_some()).then_some(left);
    }

    /// The zone block; the bytes that are left behind its content, when that was reached. `whole` when the block's
    /// own length can be right, so that a fault inside is a fault of its own.
    fn zone_block(&mut self, file: &str, start: u64, block: &[u8], whole: bool) -> Option<u64> {
        let inflated = packed::gunzip(block, self.context.ceilings.inflated_block);
        if let Some(fault) = inflated.fault
            && (whole || !matches!(fault.1, packed::PackedFault::Trailing { .. }))
        {
            self.report.packed(file, Block::Zones, start, fault);
        }
        let mut cursor = Cursor::new(&inflated.bytes);
        let section = ZoneSection::read(&mut cursor, *FOLDER_VERSIONS.end(), &self.context.ceilings);
        self.take_zones(&section);
        // Where the checksum is right, the bytes are what the game wrote, and a surprise may be ours.
        let proven = inflated.fault.is_none();
        if let Some(fault) = &section.fault {
            if proven {
                self.report.doubt(file, fault);
            } else {
                self.report.not_reached(file, "the end of the zone block");
            }
            return None;
        }
        self.report.tally(file, &section.odd_flags, "flags");
        self.report.tally(file, &section.odd_texts, "texts");
        if let Err(fault) = cursor.finish("the inflated zone section") {
            self.report.doubt(file, &fault);
        }
        Some(cursor.left() as u64)
    }

    fn persistent_events(&mut self, file: &str, start: u64, block: &[u8]) {
        let inflated = packed::unbrotli(block, self.context.ceilings.inflated_block);
        if let Some(fault) = inflated.fault {
            self.report.packed(file, Block::Events, start, fault);
        } else if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&inflated.bytes) {
            let text = format!(
                "The persistent events are no JSON, although their block inflates: {}.",
                shown(&error.to_string())
            );
            self.report.push(Finding::warning(Code::BadValue, text, "").in_file(file).at(start));
        }
    }

    /// True for a version of a chunk file that may stand in this save, with a finding when it may not.
    pub(super) fn chunk_version(&mut self, path: &Path, version: i32, index: Option<i32>) -> bool {
        let known = Age::of(version, &FOLDER_VERSIONS) == Age::Known;
        match index {
            Some(index) if known && version > index => {
                let text = format!("This chunk file has version {version}, and the index {index}.");
                let finding = Finding::error(Code::VersionMismatch, text, report::OLDER_LAYER);
                self.report.push(finding.in_file(shown_path(path)).at(0));
                true
            }
            _ if known => true,
            _ => self.judge_version(path, version, &FOLDER_VERSIONS),
        }
    }
}
