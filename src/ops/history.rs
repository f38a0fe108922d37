//! What was done, and what can be taken back.

mod effect;
#[cfg(target_os = "linux")]
mod shelf;
mod weight;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::keep::remembered;
use super::record::Record;
use super::setting::Setting;
use super::undo;
use crate::model::plan::Operation;

pub(super) use effect::{Effect, Kind, Thing, effect, named_below};
pub(super) use weight::weigh;

/// One operation of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was.
    pub record: Record,
    /// Bytes of what it parked, as far as it is still there.
    pub parked_bytes: u64,
    /// What an undo would do, in one sentence, or why there is none.
    pub undo: Result<String, String>,
    /// The operation that took it back.
    pub undone_by: Option<String>,
}

/// A record with the moment at which it was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) record: Record,
    /// When its renames began, by the clock of the file system: seconds since 1970 and nanoseconds.
    pub(super) began: (i64, i64),
}

/// All operations in these keeping folders and in those that the state folder remembers, newest first. What could not be
/// read comes as sentences, and so does an operation that was interrupted.
pub fn list(keeps: &[PathBuf], setting: &Setting) -> (Vec<Entry>, Vec<String>) {
    let remembered = setting.state.as_deref().map(remembered).unwrap_or_default();
    let keeps: BTreeSet<&PathBuf> = keeps.iter().chain(&remembered).collect();
    let mut messages = Vec::new();
    let mut entries: Vec<((Timestamp, (i64, i64)), Entry)> = Vec::new();
    for keep in keeps {
        let all = read(keep, &mut messages);
        for written in &all {
            let entry = Entry {
                record: written.record.clone(),
                parked_bytes: parked_bytes(&written.record),
                undo: undo::sentence(written, &all),
                undone_by: taken_back_by(&written.record, &all).map(|record| record.name.clone()),
            };
            entries.push(((written.record.at, written.began), entry));
        }
    }
    entries.sort_by(|(one, _), (other, _)| other.cmp(one));
    (entries.into_iter().map(|(_, entry)| entry).collect(), messages)
}

/// The records of one keeping folder, newest first.
pub(super) fn read(keep: &Path, messages: &mut Vec<String>) -> Vec<Written> {
    #[cfg(target_os = "linux")]
    let mut all = shelf::read(keep, messages);
    #[cfg(not(target_os = "linux"))]
    let mut all: Vec<Written> = {
        let _ = (keep, messages);
        Vec::new()
    };
    all.sort_by(|one, other| {
        (other.record.at, other.began, &other.record.name).cmp(&(one.record.at, one.began, &one.record.name))
    });
    all
}

/// What an operation has in the recycle folder, in bytes.
fn parked_bytes(record: &Record) -> u64 {
    weigh(&super::keep::recycle_of(&record.keep, &record.name), (i64::MAX, 0)).bytes
}

/// The undo of an operation, the undo of that, and so on: everything that took it back or brought it back, in order.
pub(super) fn followers<'a>(record: &Record, all: &'a [Written]) -> Vec<&'a Record> {
    let mut found: Vec<&Record> = Vec::new();
    let mut name = &record.name;
    while let Some(next) = all.iter().find(|other| other.record.undoes.as_ref() == Some(name)) {
        // A record that somebody made up may claim to undo itself.
        if found.contains(&&next.record) || next.record.name == record.name {
            break;
        }
        found.push(&next.record);
        name = &next.record.name;
    }
    found
}

/// The operation by which this one is taken back as things are now.
pub(super) fn taken_back_by<'a>(record: &Record, all: &'a [Written]) -> Option<&'a Record> {
    let followers = followers(record, all);
    if followers.len() % 2 == 1 { followers.last().copied() } else { None }
}

/// True for an undo that takes something back, rather than bringing back what another undo took.
pub(super) fn takes_back(entry: &Entry, entries: &[Entry]) -> bool {
    let mut back = false;
    let mut now = &entry.record;
    for _ in 0..=entries.len() {
        if now.operation != Operation::Undo {
            break;
        }
        back = !back;
        let same_keep =
            |other: &&Entry| other.record.keep == now.keep && Some(&other.record.name) == now.undoes.as_ref();
        match entries.iter().find(same_keep) {
            Some(earlier) => now = &earlier.record,
            None => break,
        }
    }
    back
}

#[cfg(test)]
mod tests;
