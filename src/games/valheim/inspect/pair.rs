//! The check of a `.fwl` and a `.db`.

use std::cmp::Ordering;
use std::path::Path;

use super::{Look, report};
use crate::games::valheim::format::census::Census;
use crate::games::valheim::format::db::{self, Db, HEAD_BYTES, Head, Part};
use crate::games::valheim::format::object::Encoding;
use crate::games::valheim::format::{Age, PAIR_VERSIONS};
use crate::model::{Code, Finding, Severity, shown_path};

impl Look<'_> {
    pub(super) fn pair(&mut self, fwl: Option<&Path>, db: Option<&Path>) {
        let meta_version = fwl.and_then(|path| self.metadata(path));
        match (fwl, db) {
            (None, None) => {
                let text = "Neither metadata nor world data is there.";
                self.report.push(Finding::error(Code::NoFinishedSave, text, ""));
            }
            (Some(fwl), None) => self.without_data(fwl, meta_version),
            (fwl, Some(db)) => {
                self.facts.has_data = true;
                if fwl.is_none() {
                    let text = "The metadata file (.fwl) is missing; the game lists no world without it.";
                    let next = "Look for the .fwl in an older layer; it holds name, seed and settings.";
                    self.report.push(Finding::warning(Code::MetadataMissing, text, next).in_file(shown_path(db)));
                }
                let version = if self.full() { self.whole_db(db) } else { self.head_of_db(db) };
                if let (Some(fwl), Some(meta_version), Some(version)) = (fwl, meta_version, version) {
                    self.compare_versions(fwl, meta_version, version);
                }
            }
        }
    }

    fn without_data(&mut self, fwl: &Path, version: Option<i32>) {
        let Some(version) = version else { return };
        let (code, text, next) = match self.facts.needs_db {
            Some(false) => (
                Code::NeverPlayed,
                "A new world that was never saved: there is metadata only, and it says that no data is needed.",
                "There is nothing to restore from it.",
            ),
            Some(true) => (
                Code::DataMissing,
                "Metadata only, world data missing: the .db is not there, and the metadata says that the world was saved.",
                "Do not start a server on it: it would make a new world. Look for the .db in an older layer.",
            ),
            None => (
                Code::DataMissing,
                "Metadata only, world data missing: the .db is not there. This version does not say whether the world \
                 was ever saved.",
                "Look for the .db in an older layer.",
            ),
        };
        // Of a newer version we do not know what the flag means.
        if Age::of(version, &crate::games::valheim::format::META_VERSIONS) == Age::Known {
            self.report.push(Finding::error(code, text, next).in_file(shown_path(fwl)));
        }
    }

    fn compare_versions(&mut self, fwl: &Path, meta: i32, data: i32) {
        let (severity, why) = match meta.cmp(&data) {
            Ordering::Equal => return,
            Ordering::Greater => (Severity::Note, "The game may rewrite the metadata alone."),
            Ordering::Less => {
                (Severity::Warning, "The metadata is older than the data: a save may have been cut short.")
            }
        };
        let text = format!("The metadata has version {meta}, the world data {data}. {why}");
        let finding = Finding::new(severity, Code::VersionMismatch, text, "");
        self.report.push(finding.in_file(shown_path(fwl)).at(4));
    }

    fn head_of_db(&mut self, path: &Path) -> Option<i32> {
        let bytes = self.read_start(path, HEAD_BYTES)?;
        let file = shown_path(path);
        if bytes.is_empty() {
            self.report.push(report::empty(&file, "world data"));
            return None;
        }
        match Head::read(&bytes) {
            Ok(head) => {
                if self.take_head(path, &head) {
                    self.size_of_db(path, &head);
                }
                Some(head.version)
            }
            Err(fault) => {
                self.report.fault(&file, &fault);
                None
            }
        }
    }

    /// A file that was cut short is often too small for what its head counts.
    fn size_of_db(&mut self, path: &Path, head: &Head) {
        let stat = self.store.stat(path);
        let Some(stat) = self.take(stat) else { return };
        let Some(objects) = self.facts.objects else { return };
        let least = objects.saturating_mul(Encoding::of(head.version).least_bytes() as u64);
        if stat.size < least.saturating_add(HEAD_BYTES as u64) {
            let text = format!("The world data file has {} bytes, too few for its {objects} objects.", stat.size);
            let finding = Finding::error(Code::Truncated, text, report::OLDER_LAYER);
            self.report.push(finding.in_file(shown_path(path)));
        }
    }

    /// Facts of the head; true when its version is known.
    fn take_head(&mut self, path: &Path, head: &Head) -> bool {
        let file = shown_path(path);
        self.facts.world_version = Some(head.version);
        self.facts.objects = u64::try_from(head.objects).ok().filter(|&n| n <= self.context.ceilings.objects);
        if self.judge_version(path, head.version, &PAIR_VERSIONS) {
            self.take_time(&file, head.net_time);
            if self.facts.objects.is_none() && !self.full() {
                let text = format!("The count of objects at byte 24 says {}, which cannot be.", head.objects);
                self.report.push(Finding::error(Code::BadLength, text, report::OLDER_LAYER).in_file(&file).at(24));
            }
            return true;
        }
        // A newer head may mean something else, so only what is plausible is shown.
        let age = Age::of(head.version, &PAIR_VERSIONS);
        let plausible = crate::games::valheim::format::day_and_minute(head.net_time).is_some();
        if age != Age::NoVersion && plausible {
            self.facts.net_time = Some(head.net_time);
        } else {
            self.facts.objects = None;
        }
        false
    }

    fn whole_db(&mut self, path: &Path) -> Option<i32> {
        let bytes = self.read(path, self.context.ceilings.file)?;
        let file = shown_path(path);
        if bytes.is_empty() {
            self.report.push(report::empty(&file, "world data"));
            return None;
        }
        let mut census = Census::default();
        let context = self.context;
        let db = db::read(&bytes, &context.ceilings, &context.cancel, &mut |object| census.visit(object));
        let Some(head) = db.head else {
            if let Some((_, fault)) = db.stopped {
                self.report.fault(&file, &fault);
            }
            return None;
        };
        if self.take_head(path, &head) {
            self.objects_of_db(&file, &db, &census);
            self.rest_of_db(&file, &db, &bytes);
        }
        Some(head.version)
    }

    fn objects_of_db(&mut self, file: &str, db: &Db<'_>, census: &Census) {
        let walked = &db.walked;
        if let Some(lost) = &walked.lost {
            self.report.lost(file, lost, db.counted.unwrap_or(0));
        }
        // Behind a lost step, bytes of anything look like bad texts.
        let ends = walked.lost.map_or(u64::MAX, |lost| lost.offset);
        for (tally, what) in [(&walked.odd.blocks, "objects"), (&walked.odd.texts, "texts")] {
            if tally.first.is_some_and(|first| first.offset < ends) {
                self.report.tally(file, tally, what);
            }
        }
        if walked.reached_end() {
            self.report.sectors(file, &census.sectors);
            self.report.positions(file, &census.no_number, &census.far);
            if db.counted.is_some() && walked.odd.blocks.count == 0 {
                self.take_census(census);
            }
        }
        self.take_seed(census);
    }

    fn rest_of_db(&mut self, file: &str, db: &Db<'_>, bytes: &[u8]) {
        self.take_zones(&db.zones);
        self.take_event(db.event);
        self.report.tally(file, &db.zones.odd_flags, "flags");
        self.report.tally(file, &db.zones.odd_texts, "texts");
        if let Some((part, fault)) = db.stopped {
            if db.walked.lost.is_none() {
                self.report.fault(file, &fault);
            }
            let behind: Vec<&str> = [Part::Objects, Part::Zones, Part::Event]
                .into_iter()
                .filter(|&later| later > part)
                .map(Part::word)
                .collect();
            if !behind.is_empty() {
                self.report.not_reached(file, &behind.join(" and "));
            }
        }
        self.facts.bytes_left = db.left;
        if let Some(fault) = db.trailing(bytes) {
            self.report.fault(file, &fault);
        } else if let Some(left @ 1..) = db.left {
            let text = format!("{left} bytes of persistent events follow at the end; they are not looked into.");
            self.report.push(Finding::note(Code::TrailingBytes, text, "").in_file(file));
        }
    }
}
