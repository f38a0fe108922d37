//! Plans made by hand, as the rules of a game would lead to them.

#![allow(dead_code, reason = "each user needs a part of this")]
#![allow(clippy::panic, reason = "a plan that nobody can confirm is a mistake in a test")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use worldkeep::model::outline::{Preview, Traces};
use worldkeep::model::plan::{Confirmed, Consent, Draft, Operation, Proof, Space, Step, Witness};
use worldkeep::ops::fresh::{self, fingerprint};
use worldkeep::ops::record::{Record, Renamed};

/// A name that is free in the history and the recycle folder, the same for the same words.
pub(crate) fn free_name(keep: &Path, words: &[&str]) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    loop {
        let name = format!("{:012x}", sum >> 16);
        if ["history", "recycle"].iter().all(|folder| keep.join(folder).join(&name).symlink_metadata().is_err()) {
            return name;
        }
        sum = sum.wrapping_add(1 << 16);
    }
}

/// A draft in the making.
pub(crate) struct Hand {
    keep: PathBuf,
    name: String,
    operation: Operation,
    steps: Vec<Step>,
    witnesses: Vec<PathBuf>,
    undoes: Option<String>,
    traces: Option<Traces>,
}

impl Hand {
    pub(crate) fn new(keep: &Path, name: &str, operation: Operation) -> Self {
        Self {
            keep: keep.to_path_buf(),
            name: name.to_owned(),
            operation,
            steps: Vec::new(),
            witnesses: Vec::new(),
            undoes: None,
            traces: None,
        }
    }

    fn below(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.keep.parent().unwrap_or(Path::new("/"))).unwrap_or(path).to_path_buf()
    }

    fn parked(&self, path: &Path) -> PathBuf {
        self.keep.join("recycle").join(&self.name).join(self.below(path))
    }

    pub(crate) fn traced(mut self, traces: Traces) -> Self {
        self.traces = Some(traces);
        self
    }

    /// Copies something into a stage of its own; the answer is where it then lies.
    pub(crate) fn stage(&mut self, source: &Path) -> PathBuf {
        let to = self.keep.join("stage").join(&self.name).join(self.steps.len().to_string());
        let item: OsString = source.file_name().unwrap_or_default().to_owned();
        let staged = to.join(&item);
        let from = source.parent().unwrap_or(Path::new("/")).to_path_buf();
        self.witnesses.push(source.to_path_buf());
        self.steps.push(Step::Copy { from, items: vec![item], to });
        staged
    }

    pub(crate) fn exchange(&mut self, stage: PathBuf, live: &Path) {
        self.witnesses.push(live.to_path_buf());
        self.steps.push(Step::Exchange { stage, live: live.to_path_buf() });
    }

    pub(crate) fn place(&mut self, from: PathBuf, to: &Path) {
        self.witnesses.push(to.to_path_buf());
        self.steps.push(Step::Place { from, to: to.to_path_buf() });
    }

    /// Parks what lies at `from` under the name that `like` has in the save.
    pub(crate) fn park(&mut self, from: PathBuf, like: &Path) {
        if !from.starts_with(&self.keep) && !self.witnesses.contains(&from) {
            self.witnesses.push(from.clone());
        }
        let to = self.parked(like);
        self.steps.push(Step::Park { from, to });
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(crate) fn draft(self) -> Draft {
        let witness = |path: PathBuf| Witness { was: fingerprint(&path).unwrap_or_default(), path };
        let space = Space { on: self.keep.clone(), bytes: 0 };
        Draft {
            operation: self.operation,
            subject: "Midgard".to_owned(),
            name: self.name,
            undoes: self.undoes,
            restored: None,
            keep: self.keep,
            steps: self.steps,
            preview: Preview { done: "It is done.".to_owned(), ..Preview::default() },
            traces: self.traces,
            bytes: 0,
            space,
            warnings: Vec::new(),
            witnesses: self.witnesses.into_iter().map(witness).collect(),
        }
    }
}

pub(crate) fn restore_folder(live: &Path, source: &Path, keep: &Path, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Restore);
    let stage = hand.stage(source);
    hand.exchange(stage.clone(), live);
    hand.park(stage, live);
    hand
}

/// `live` and `source` without `.db` and `.fwl`.
pub(crate) fn restore_pair(live: &Path, source: &Path, keep: &Path, name: &str) -> Hand {
    let with = |stem: &Path, end: &str| {
        let mut path = stem.as_os_str().to_owned();
        path.push(end);
        PathBuf::from(path)
    };
    let mut hand = Hand::new(keep, name, Operation::Restore);
    let stages: Vec<(PathBuf, PathBuf)> =
        [".db", ".fwl"].iter().map(|end| (hand.stage(&with(source, end)), with(live, end))).collect();
    for (stage, live) in &stages {
        hand.exchange(stage.clone(), live);
    }
    for (stage, live) in stages {
        hand.park(stage, &live);
    }
    hand
}

pub(crate) fn copy(source: &Path, to: &Path, keep: &Path, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Copy);
    let stage = hand.stage(source);
    hand.place(stage, to);
    hand
}

pub(crate) fn rename(live: &Path, to: &Path, keep: &Path, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Rename);
    let stage = hand.stage(live);
    hand.place(stage, to);
    hand.park(live.to_path_buf(), live);
    hand
}

pub(crate) fn delete(lives: &[&Path], keep: &Path, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Delete);
    for live in lives {
        hand.park(live.to_path_buf(), live);
    }
    hand
}

pub(crate) fn purge(keep: &Path, parked: &str, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Purge);
    let path = keep.join("recycle").join(parked);
    hand.witnesses.push(path.clone());
    hand.step(Step::Remove { path });
    hand
}

/// Takes an operation back by its record.
pub(crate) fn undo(record: &Record, keep: &Path, name: &str) -> Hand {
    let mut hand = Hand::new(keep, name, Operation::Undo);
    hand.undoes = Some(record.name.clone());
    let parked_from = |stage: &Path| {
        record.moves.iter().find_map(|moved| match moved {
            Renamed::Rename { from, to, .. } if from == stage => Some(to.clone()),
            _ => None,
        })
    };
    let exchanged = |path: &Path| {
        record.moves.iter().any(|moved| matches!(moved, Renamed::Exchange { stage, .. } if stage == path))
    };
    let mut parks = Vec::new();
    for moved in record.moves.iter().rev() {
        match moved {
            Renamed::Exchange { stage, live, .. } => {
                if let Some(parked) = parked_from(stage) {
                    hand.exchange(parked.clone(), live);
                    parks.push((parked, live.clone()));
                }
            }
            Renamed::Rename { from, .. } if exchanged(from) => {}
            Renamed::Rename { from, to, .. } if from.starts_with(keep.join("stage")) => hand.park(to.clone(), to),
            Renamed::Rename { from, to, .. } => hand.place(to.clone(), from),
        }
    }
    for (parked, live) in parks {
        hand.park(parked, &live);
    }
    hand
}

pub(crate) fn confirmed(draft: Draft) -> Confirmed {
    match draft.seal().confirm(&Consent { proof: Proof::Yes, accepted: Vec::new() }) {
        Ok(confirmed) => confirmed,
        Err(refusal) => std::panic::panic_any(refusal.to_string()),
    }
}

pub(crate) fn fresh(draft: Draft) -> fresh::Fresh {
    match fresh::check(confirmed(draft)) {
        Ok(fresh) => fresh,
        Err(refusal) => std::panic::panic_any(refusal.to_string()),
    }
}
