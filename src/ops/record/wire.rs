//! How a record is written down.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{MAX_BYTES, MAX_PATH, Record, Renamed, SCHEMA, Unreadable};
use crate::model::Hallmarks;
use crate::model::outline::Traces;
use crate::model::plan::Operation;

const KIND: &str = "worldkeep operation";

/// What every version of the format begins with.
#[derive(Deserialize)]
struct Head {
    kind: String,
    schema: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    kind: String,
    schema: u32,
    /// SHA-256 of `record` as it stands here.
    sum: String,
    record: Written,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    operation: String,
    subject: String,
    at: String,
    keep: Name,
    moves: Vec<Turn>,
    removes: Vec<Name>,
    undoes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restored: Option<Marks>,
    done: String,
    traces: Option<Signs>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum Turn {
    Exchange { stage: Name, live: Name, new: (u64, u64), old: (u64, u64) },
    Rename { from: Name, to: Name, what: (u64, u64) },
}

/// A path.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Hex),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hex {
    bytes: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marks {
    identity: Vec<(String, String)>,
    clock: Option<i64>,
    objects: Option<u64>,
    generation: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signs {
    programs: Vec<String>,
    folder_arguments: Vec<String>,
    world_arguments: Vec<String>,
    world: String,
    default_folder: Name,
    root: Name,
    held: Vec<Name>,
    locks: Vec<Name>,
    recent: Vec<Name>,
}

pub(super) fn write(record: &Record) -> Vec<u8> {
    let record = Written::of(record);
    let sealed = Sealed { kind: KIND.to_owned(), schema: SCHEMA, sum: sum(&record), record };
    // Nothing in these types can fail to be written; whoever depends on it reads it back.
    serde_json::to_vec(&sealed).unwrap_or_default()
}

pub(super) fn read(bytes: &[u8]) -> Result<Record, Unreadable> {
    let damaged = |what: &str| Unreadable::Damaged(what.to_owned());
    if bytes.len() as u64 > MAX_BYTES {
        return Err(damaged("it is larger than any operation"));
    }
    let Ok(head) = serde_json::from_slice::<Head>(bytes) else {
        return Err(if started_by_us(bytes) {
            damaged("it ends too early or is no JSON")
        } else {
            Unreadable::Foreign
        });
    };
    if head.kind != KIND {
        return Err(Unreadable::Foreign);
    }
    if head.schema > SCHEMA {
        return Err(Unreadable::Newer(head.schema));
    }
    let sealed: Sealed =
        serde_json::from_slice(bytes).map_err(|error| Unreadable::Damaged(crate::model::shown(&format!("{error}"))))?;
    if head.schema != SCHEMA {
        return Err(damaged("there is no such version of the format"));
    }
    if sealed.sum != sum(&sealed.record) {
        return Err(damaged("its checksum does not fit"));
    }
    sealed.record.into_record().ok_or_else(|| damaged("a field holds what it cannot hold"))
}

/// True for the start of what we write, whole or torn; an empty file is what a power cut leaves of anything.
fn started_by_us(bytes: &[u8]) -> bool {
    let start = format!("{{\"kind\":\"{KIND}\"");
    let length = bytes.len().min(start.len());
    bytes.iter().zip(start.bytes()).take(length).all(|(is, should)| *is == should)
        || bytes.iter().all(|byte| *byte == 0)
}

fn sum(record: &Written) -> String {
    hex(&Sha256::digest(serde_json::to_vec(record).unwrap_or_default()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let digits: Option<Vec<u32>> = text.bytes().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks(2).map(|pair| u8::try_from(pair.iter().fold(0, |sum, digit| sum * 16 + digit)).ok()).collect()
}

impl Name {
    fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(Hex { bytes: hex(path.as_os_str().as_encoded_bytes()) }),
        }
    }

    fn all(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().map(|path| Self::of(path)).collect()
    }

    fn into_path(self) -> Option<PathBuf> {
        let path = match self {
            Self::Text(text) => OsString::from(text),
            // What is text is written as text: one path, one way to write it.
            Self::Bytes(Hex { bytes }) => os_string(unhex(&bytes)?).filter(|path| path.to_str().is_none())?,
        };
        Some(PathBuf::from(path)).filter(|path| path.as_os_str().len() <= MAX_PATH)
    }

    fn into_paths(names: Vec<Self>) -> Option<Vec<PathBuf>> {
        names.into_iter().map(Self::into_path).collect()
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a path")]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

impl Written {
    fn of(record: &Record) -> Self {
        let turn = |moved: &Renamed| match moved {
            Renamed::Exchange { stage, live, new, old } => {
                Turn::Exchange { stage: Name::of(stage), live: Name::of(live), new: *new, old: *old }
            }
            Renamed::Rename { from, to, what } => Turn::Rename { from: Name::of(from), to: Name::of(to), what: *what },
        };
        Self {
            name: record.name.clone(),
            operation: record.operation.as_str().to_owned(),
            subject: record.subject.clone(),
            at: record.at.to_string(),
            keep: Name::of(&record.keep),
            moves: record.moves.iter().map(turn).collect(),
            removes: Name::all(&record.removes),
            undoes: record.undoes.clone(),
            restored: record.restored.as_ref().map(Marks::of),
            done: record.done.clone(),
            traces: record.traces.as_ref().map(Signs::of),
        }
    }

    fn into_record(self) -> Option<Record> {
        let turn = |turn| {
            Some(match turn {
                Turn::Exchange { stage, live, new, old } => {
                    Renamed::Exchange { stage: stage.into_path()?, live: live.into_path()?, new, old }
                }
                Turn::Rename { from, to, what } => {
                    Renamed::Rename { from: from.into_path()?, to: to.into_path()?, what }
                }
            })
        };
        Some(Record {
            name: self.name,
            operation: operation(&self.operation)?,
            subject: self.subject,
            at: self.at.parse::<Timestamp>().ok()?,
            keep: self.keep.into_path()?,
            moves: self.moves.into_iter().map(turn).collect::<Option<_>>()?,
            removes: Name::into_paths(self.removes)?,
            undoes: self.undoes,
            restored: self.restored.map(Marks::into_hallmarks),
            done: self.done,
            traces: match self.traces {
                Some(signs) => Some(signs.into_traces()?),
                None => None,
            },
        })
    }
}

fn operation(word: &str) -> Option<Operation> {
    use Operation::{Backup, Copy, Delete, Purge, Rename, Restore, Undo};
    [Restore, Copy, Rename, Delete, Backup, Undo, Purge].into_iter().find(|operation| operation.as_str() == word)
}

impl Marks {
    fn of(marks: &Hallmarks) -> Self {
        let Hallmarks { identity, clock, objects, generation } = marks.clone();
        Self { identity, clock, objects, generation }
    }

    fn into_hallmarks(self) -> Hallmarks {
        let Self { identity, clock, objects, generation } = self;
        Hallmarks { identity, clock, objects, generation }
    }
}

impl Signs {
    fn of(traces: &Traces) -> Self {
        Self {
            programs: traces.programs.clone(),
            folder_arguments: traces.folder_arguments.clone(),
            world_arguments: traces.world_arguments.clone(),
            world: traces.world.clone(),
            default_folder: Name::of(&traces.default_folder),
            root: Name::of(&traces.root),
            held: Name::all(&traces.held),
            locks: Name::all(&traces.locks),
            recent: Name::all(&traces.recent),
        }
    }

    fn into_traces(self) -> Option<Traces> {
        Some(Traces {
            programs: self.programs,
            folder_arguments: self.folder_arguments,
            world_arguments: self.world_arguments,
            world: self.world,
            default_folder: self.default_folder.into_path()?,
            root: self.root.into_path()?,
            held: Name::into_paths(self.held)?,
            locks: Name::into_paths(self.locks)?,
            recent: Name::into_paths(self.recent)?,
        })
    }
}
