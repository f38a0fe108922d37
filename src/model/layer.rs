use std::path::PathBuf;

use jiff::Timestamp;

use super::{Depth, Facts, Finding, Stamp, Verdict};

/// What a layer is to its world; the words of JSON's `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// What the game would load if all went well.
    Live,
    /// Another generation of the live folder.
    Generation,
    /// The save before the last one (`.old`).
    Previous,
    /// The state before a one-way conversion.
    PreConversion,
    /// The game's timed backup; the game prunes these.
    Auto,
    /// A backup that the game, a menu or a tool made by name; never pruned.
    Manual,
    /// What was live before a restore in the game's menu.
    Restore,
    /// A cloud write that failed and was kept here.
    Cloud,
    /// A rolling save: a stamped name without the backup marker.
    Rolling,
    /// A tool's or a panel's archive.
    Archive,
    /// What an operation of ours took away and keeps for an undo.
    Parked,
    /// A write that never reached its final name (`.new`), or files that belong to no rule.
    Stray,
}

impl LayerKind {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Generation => "generation",
            Self::Previous => "previous",
            Self::PreConversion => "pre-conversion",
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Restore => "restore",
            Self::Cloud => "cloud",
            Self::Rolling => "rolling",
            Self::Archive => "archive",
            Self::Parked => "parked",
            Self::Stray => "stray",
        }
    }

    /// The words shown to a person.
    pub fn word(self) -> &'static str {
        match self {
            Self::Previous => "previous save",
            Self::PreConversion => "before 1.0",
            Self::Manual => "backup",
            Self::Restore => "before a restore",
            Self::Cloud => "cloud backup",
            Self::Rolling => "rolling save",
            Self::Parked => "kept for undo",
            other => other.as_str(),
        }
    }
}

/// The format of a layer; the words of JSON's `shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Valheim before 1.0: `.fwl` and `.db`.
    ValheimPair,
    /// Valheim 1.0: a folder of generations and chunks.
    ValheimFolder,
}

impl Shape {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ValheimPair => "valheim-pair",
            Self::ValheimFolder => "valheim-1.0",
        }
    }
}

/// What the files of a layer lie in; the words of JSON's `container`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Container {
    /// A folder that is the layer.
    Folder,
    /// Loose files in a folder that holds other things too.
    Files,
    /// A zip archive.
    Zip,
    /// A tar archive, plain or compressed.
    Tar,
}

impl Container {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Files => "files",
            Self::Zip => "zip",
            Self::Tar => "tar",
        }
    }
}

/// One file of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative to the root of the store that the layer lies in.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Last change, where the container knows it.
    pub mtime: Option<Timestamp>,
}

/// Where a layer lies: a folder or archive on disk that a store opens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The folder or the archive file on disk.
    pub outer: PathBuf,
}

/// One state of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// `PROFILE/WORLD@LAYER`, unique in a catalog.
    pub id: String,
    /// The path that a person would name: the world folder, the `.fwl` or `.db`, or the archive with the place in it.
    pub path: PathBuf,
    /// Where to open it.
    pub source: Source,
    /// What it is to its world.
    pub kind: LayerKind,
    /// Its world has no live state here.
    pub orphan: bool,
    /// The rule that made it a layer, in words.
    pub rule: String,
    /// Its format.
    pub shape: Shape,
    /// What it lies in.
    pub container: Container,
    /// The generation number, for formats that count them.
    pub generation: Option<u64>,
    /// When it was saved.
    pub stamp: Option<Stamp>,
    /// Sum of the sizes of its files.
    pub bytes: u64,
    /// Its files, sorted by path.
    pub files: Vec<FileEntry>,
    /// Whether it is whole.
    pub verdict: Verdict,
    /// How far the verdict looked.
    pub depth: Depth,
    /// Whether a restore may be offered.
    pub restorable: bool,
    /// Why not, or what to know first.
    pub reason: Option<String>,
    /// What a check found in it.
    pub findings: Vec<Finding>,
    /// What the other layers of its world say about it, such as "of another world"; a check leaves these alone.
    pub relations: Vec<Finding>,
    /// What is in it.
    pub facts: Facts,
}

impl Layer {
    /// Everything to say about it: relations first, then what a check found.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.relations.iter().chain(&self.findings)
    }

    /// The part of the id after the `@`.
    pub fn key(&self) -> &str {
        self.id.rsplit_once('@').map_or(self.id.as_str(), |(_, key)| key)
    }

    /// Takes over the result of a check.
    pub fn apply(&mut self, checked: Checked) {
        let Checked { verdict, depth, findings, facts, restorable, reason, moved } = checked;
        if let Some(Moved { generation, stamp, bytes, files }) = moved {
            self.generation = Some(generation);
            self.stamp = stamp;
            self.bytes = bytes;
            self.files = files;
        }
        self.verdict =
            if self.relations.is_empty() { verdict } else { verdict.max(Verdict::from_findings(&self.relations)) };
        self.depth = depth;
        self.findings = findings;
        self.facts = facts;
        self.restorable = restorable;
        self.reason = reason;
    }
}

/// The result of checking one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Whether it is whole.
    pub verdict: Verdict,
    /// How far the check looked.
    pub depth: Depth,
    /// Everything that was found; a check never stops at the first.
    pub findings: Vec<Finding>,
    /// What is in the layer.
    pub facts: Facts,
    /// Whether a restore may be offered.
    pub restorable: bool,
    /// Why not, or what to know first.
    pub reason: Option<String>,
    /// A newer save landed while it was read, and this is the check of that one.
    pub moved: Option<Moved>,
}

/// What a layer became when a newer save landed while it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The newer generation.
    pub generation: u64,
    /// When it was saved.
    pub stamp: Option<Stamp>,
    /// Sum of the sizes of its files.
    pub bytes: u64,
    /// Its files, sorted by path.
    pub files: Vec<FileEntry>,
}
