//! The check of one layer's files, at L1 or L2, with its facts.

mod chunks;
mod data;
mod folder;
#[cfg(test)]
mod folder_tests;
#[cfg(test)]
pub(super) mod memory;
mod pair;
#[cfg(test)]
mod pair_tests;
mod report;
#[cfg(test)]
mod samples;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub(super) use folder::part_name;
use report::Report;

use super::facts::{MOST_KEYS, SeedFrom, ValheimFacts};
use super::format::Age;
use super::format::meta::{self, META_CEILING};
use crate::games::Context;
use crate::model::{Code, Depth, Finding, shown_path};
use crate::store::{Store, StoreErrorKind};

/// The files of a layer, relative to the root of its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Before 1.0.
    Pair {
        /// The metadata, where there is one.
        fwl: Option<PathBuf>,
        /// The world data, where there is some.
        db: Option<PathBuf>,
    },
    /// One generation of a folder of 1.0.
    Folder {
        /// The folder.
        dir: PathBuf,
        /// The generation's number.
        generation: u64,
    },
}

/// What a check of one layer found.
#[derive(Clone, Debug)]
pub(super) struct Inspection {
    /// Everything that was found.
    pub findings: Vec<Finding>,
    /// What is in the layer.
    pub facts: ValheimFacts,
    /// How far the check looked: less than was asked when it was cancelled or the version is not known.
    pub depth: Depth,
    /// A file that should be there was not: worth looking for a newer save before calling it damage.
    pub vanished: bool,
}

/// Checks the files of one layer.
///
/// [`Depth::Headers`] reads the metadata, the heads and the index, and asks for the size of chunk files.
/// [`Depth::Full`] reads every byte. What other layers or names on disk say is not looked at.
pub(super) fn inspect(store: &dyn Store, parts: &Parts, depth: Depth, context: &Context) -> Inspection {
    let mut look = Look {
        store,
        context,
        depth,
        report: Report::default(),
        facts: ValheimFacts::default(),
        vanished: false,
        unchecked: false,
    };
    match parts {
        Parts::Pair { fwl, db } => look.pair(fwl.as_deref(), db.as_deref()),
        Parts::Folder { dir, generation } => look.folder(dir, *generation),
    }
    let shallow = look.unchecked || context.cancel.cancelled();
    Inspection {
        findings: look.report.finish(),
        facts: look.facts,
        depth: if shallow { depth.min(Depth::Headers) } else { depth },
        vanished: look.vanished,
    }
}

/// One check on its way.
struct Look<'s> {
    store: &'s dyn Store,
    context: &'s Context,
    depth: Depth,
    report: Report,
    facts: ValheimFacts,
    vanished: bool,
    /// Something could not be looked at as deeply as was asked.
    unchecked: bool,
}

impl Look<'_> {
    fn full(&self) -> bool {
        self.depth >= Depth::Full
    }

    /// A whole file; a failure becomes a finding.
    fn read(&mut self, path: &Path, ceiling: u64) -> Option<Vec<u8>> {
        let read = self.store.read(path, ceiling);
        self.take(read)
    }

    /// A whole file that is always small. A large one is no such file, and no ceiling that can be raised helps.
    fn read_small(&mut self, path: &Path, ceiling: u64) -> Option<Vec<u8>> {
        let read = self.store.read(path, ceiling);
        if let Err(error) = &read
            && let StoreErrorKind::TooLarge { size, .. } = error.kind
        {
            let text = format!("The file has {size} bytes; none that a game wrote comes near {ceiling}.");
            self.report.push(Finding::error(Code::OverCeiling, text, report::OLDER_LAYER).in_file(shown_path(path)));
            return None;
        }
        self.take(read)
    }

    /// The first bytes of a file; a failure becomes a finding.
    fn read_start(&mut self, path: &Path, most: usize) -> Option<Vec<u8>> {
        let read = self.store.read_start(path, most);
        self.take(read)
    }

    fn take<T>(&mut self, read: Result<T, crate::store::StoreError>) -> Option<T> {
        read.map_err(|error| {
            self.vanished |= error.is_not_found();
            self.unchecked |= matches!(error.kind, StoreErrorKind::TooLarge { .. });
            self.report.push(error.finding());
        })
        .ok()
    }

    /// Judges a version number; true when the format is known.
    fn judge_version(&mut self, path: &Path, version: i32, known: &RangeInclusive<i32>) -> bool {
        let (code, text, next) = match Age::of(version, known) {
            Age::Known => return true,
            Age::Newer => (
                Code::NewerVersion,
                format!(
                    "Written by a newer game: version {version}, and {} is the newest known for it here.",
                    known.end()
                ),
                "Nothing says that it is damaged. Look for a newer worldkeep.",
            ),
            Age::Older => (
                Code::OlderVersion,
                format!(
                    "Written by an older game: version {version}, and {} is the oldest known for it here.",
                    known.start()
                ),
                "Nothing says that it is damaged. The game itself may still open it.",
            ),
            Age::NoVersion => {
                (Code::BadValue, format!("The version is {version}, which no game ever wrote."), report::OLDER_LAYER)
            }
        };
        self.unchecked = true;
        self.report.push(Finding::error(code, text, next).in_file(shown_path(path)).at(0));
        false
    }

    /// Reads the metadata; its version, where there is one.
    fn metadata(&mut self, path: &Path) -> Option<i32> {
        let bytes = self.read_small(path, META_CEILING)?;
        let file = shown_path(path);
        if bytes.is_empty() {
            self.report.push(report::empty(&file, "metadata"));
            return None;
        }
        let meta = meta::read(&bytes, &self.context.ceilings);
        self.take_meta(&meta);
        let known = super::format::META_VERSIONS;
        if let Some(version) = meta.version
            && Age::of(version, &known) != Age::Known
        {
            let offset_of_version = 4;
            self.judge_version(path, version, &known);
            self.report.last_at(offset_of_version);
            return Some(version);
        }
        if let Some(fault) = meta.length_fault() {
            let text = format!("The file says that {} bytes follow, and {} do.", meta.says.unwrap_or(0), meta.follow);
            let finding = Finding::error(Code::LengthMismatch, text, report::OLDER_LAYER);
            self.report.push(finding.in_file(&file).at(fault.offset));
        }
        if let Some(fault) = meta.fault {
            // No real file has shown the list of players yet, so a surprise there may be ours.
            if meta.fault_in_players { self.report.doubt(&file, &fault) } else { self.report.fault(&file, &fault) }
        }
        if meta.left > 0 {
            let text = format!("{} bytes of the metadata are not explained by its version.", meta.left);
            self.report.push(Finding::warning(Code::TrailingBytes, text, "").in_file(&file));
        }
        self.report.tally(&file, &meta.odd_texts, "texts");
        meta.version
    }

    fn take_meta(&mut self, meta: &meta::Meta<'_>) {
        let facts = &mut self.facts;
        facts.name = meta.name();
        facts.seed = meta.seed_text();
        facts.seed_number = meta.seed;
        facts.seed_from = meta.seed.map(|_| SeedFrom::Metadata);
        facts.uid = meta.uid;
        facts.world_gen = meta.world_gen;
        facts.needs_db = meta.needs_db;
        facts.start_keys = meta.start_keys.as_ref().map(|keys| keys.first(MOST_KEYS));
        facts.players = meta.players;
        facts.world_version = meta.version;
    }
}
