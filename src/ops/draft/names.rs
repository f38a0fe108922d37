//! What the plan was computed from, and the name that follows from it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::sources::{fingerprint, gone, walk};
use super::steps::recorded;
use crate::model::outline::{Change, Origin, Outline};
use crate::model::plan::{OPERATION_DIGITS, Reason, Refusal, Witness};
use crate::model::shown_path;
use crate::ops::keep::{record_of, recycle_of, stage_of};

/// So many operations of one and the same request on an unchanged save have names.
const MOST: u64 = 10_000;

/// Adds what is renamed, with everything in it, the names where nothing may be, and what else the outline depends on.
pub(super) fn witness(outline: &Outline, witnesses: &mut Vec<Witness>) -> Result<(), Refusal> {
    let mut known: HashSet<PathBuf> = witnesses.iter().map(|witness| witness.path.clone()).collect();
    let mut add = |path: &Path, was| {
        if known.insert(path.to_path_buf()) {
            witnesses.push(Witness { path: path.to_path_buf(), was });
        }
    };
    for path in super::places::touched(outline) {
        match path.symlink_metadata() {
            Ok(_) => walk(path, &mut |path, meta, _| {
                add(path, Some(fingerprint(meta)));
                Ok(())
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => add(path, None),
            Err(error) => return Err(gone(path, &error)),
        }
    }
    for path in &outline.depends {
        match crate::ops::fresh::fingerprint(path) {
            Ok(was) => add(path, was),
            Err(failure) => return Err(Refusal::new(Reason::SourceGone, failure.to_string())),
        }
    }
    Ok(())
}

/// The stage and the parked state, which must not be there.
pub(super) fn not_yet(keep: &Path, name: &str) -> Vec<Witness> {
    [stage_of(keep, name), recycle_of(keep, name)].map(|path| Witness { path, was: None }).into()
}

/// The name of the operation: the same for the same request on an unchanged disk, and another once an operation of it was
/// done.
pub(super) fn name(outline: &Outline, keep: &Path, witnesses: &[Witness]) -> Result<String, Refusal> {
    let mut sum = Sum(Sha256::new());
    sum.bytes(b"worldkeep operation 1");
    sum.bytes(outline.operation.as_str().as_bytes());
    sum.bytes(outline.subject.as_bytes());
    sum.path(keep);
    for change in &outline.changes {
        sum.change(change);
    }
    sum.number(witnesses.len() as u64);
    for Witness { path, was } in witnesses {
        sum.path(path);
        sum.number(u64::from(was.is_some()));
        if let Some(was) = was {
            let (seconds, nanoseconds) = was.modified;
            for number in [was.device, was.inode, was.size, seconds.cast_unsigned(), nanoseconds.into()] {
                sum.number(number);
            }
        }
    }
    for counter in 0..MOST {
        let mut sum = Sum(sum.0.clone());
        sum.number(counter);
        let name: String = sum
            .0
            .finalize()
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .take(OPERATION_DIGITS)
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect();
        let taken = [stage_of(keep, &name), recycle_of(keep, &name), record_of(keep, &name)];
        if !taken.iter().any(|path| recorded(path)) {
            return Ok(name);
        }
    }
    let text = format!("All names of this operation are taken in '{}'.", shown_path(keep));
    Err(Refusal::new(Reason::NoStage, text))
}

struct Sum(Sha256);

impl Sum {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    /// With its length, so that no two things are written alike.
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_encoded_bytes());
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Put { fresh, to, replaces } => {
                self.number(if *replaces { 1 } else { 2 });
                self.path(to);
                match &fresh.origin {
                    Origin::Whole(path) => {
                        self.number(1);
                        self.path(path);
                    }
                    Origin::Files { folder, names } => {
                        self.number(2);
                        self.path(folder);
                        self.number(names.len() as u64);
                        for name in names {
                            self.bytes(name.as_encoded_bytes());
                        }
                    }
                    Origin::Members { archive, members } => {
                        self.number(3);
                        self.path(archive);
                        self.number(members.len() as u64);
                        for (member, below) in members {
                            self.path(member);
                            self.path(below);
                        }
                    }
                }
                self.number(fresh.writes.len() as u64);
                for (path, bytes) in &fresh.writes {
                    self.path(path);
                    self.bytes(bytes);
                }
                self.path(&fresh.like);
            }
            Change::Park(path) => {
                self.number(3);
                self.path(path);
            }
            Change::Move { from, to } => {
                self.number(4);
                self.path(from);
                self.path(to);
            }
        }
    }
}
