//! Reading the records of a keeping folder.

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::Written;
use crate::model::{shown, shown_path};
use crate::ops::keep::{JOURNAL, Keep, PURGING, RECYCLE, journal_of};
use crate::ops::record::{MAX_BYTES, Record, Unreadable, is_name};
use crate::ops::remove::names;
use crate::ops::tree::calls::{Direct, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::trouble::{Trouble, at, odd};

const HISTORY: &CStr = c"history";

/// Records that are read at most.
const MOST: usize = 20_000;

pub(super) fn read(path: &Path, messages: &mut Vec<String>) -> Vec<Written> {
    let sys = Sys::anywhere(&Direct);
    let keep = match Keep::open(&sys, path) {
        Ok(Some(keep)) => keep,
        Ok(None) => return Vec::new(),
        Err(trouble) => {
            messages.push(format!("The operations on record in '{}' could not be read. {trouble}", shown_path(path)));
            return Vec::new();
        }
    };
    tell_journal(&keep, messages);
    let mut all = Vec::new();
    match records(&keep, messages) {
        Ok(found) => all = found,
        Err(trouble) => messages.push(trouble.to_string()),
    }
    tell_strays(&keep, &all, messages);
    all
}

fn tell_journal(keep: &Keep<'_, '_, Direct>, messages: &mut Vec<String>) {
    let journal = shown_path(&journal_of(&keep.path));
    match keep.journal() {
        Ok(None) => {}
        Ok(Some(bytes)) => messages.push(match Record::parse(&bytes) {
            Ok(record) => format!(
                "The {} of '{}' ({}) was interrupted, or is being done; `worldkeep recover` looks after it.",
                record.operation.as_str(),
                shown(&record.subject),
                record.name
            ),
            Err(why) => format!("An operation was interrupted, and its journal '{journal}' cannot be used: {why}."),
        }),
        Err(trouble) => {
            messages.push(format!("An operation was interrupted, and its journal cannot be read. {trouble}"))
        }
    }
}

fn listed(keep: &Keep<'_, '_, Direct>, name: &CStr) -> Result<Option<(OwnedFd, Vec<std::ffi::CString>)>, Trouble> {
    match keep.sys.open(&keep.folder, name, OFlags::RDONLY | OFlags::DIRECTORY) {
        Ok(folder) => {
            let mut found = names(keep.sys, &folder).map_err(at("list", &keep.child(name)))?;
            found.sort();
            Ok(Some((folder, found)))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(at("open", &keep.child(name))(error)),
    }
}

fn records(keep: &Keep<'_, '_, Direct>, messages: &mut Vec<String>) -> Result<Vec<Written>, Trouble> {
    let Some((folder, mut found)) = listed(keep, HISTORY)? else { return Ok(Vec::new()) };
    if found.len() > MOST {
        messages.push(format!("'{}' holds more than {MOST} records; the rest was not read.", keep.shown()));
        found.truncate(MOST);
    }
    let mut all = Vec::new();
    for name in found {
        let path = keep.child(HISTORY).join(OsStr::from_bytes(name.to_bytes()));
        match record(keep, &folder, &name) {
            Ok(Ok(written)) => all.push(written),
            Ok(Err(why)) => messages.push(format!(
                "The record '{}' cannot be used: {why}. What it put aside, if anything, still lies in '{}'.",
                shown_path(&path),
                shown_path(&keep.child(RECYCLE).join(OsStr::from_bytes(name.to_bytes())))
            )),
            Err(trouble) => messages.push(trouble.to_string()),
        }
    }
    Ok(all)
}

fn record(keep: &Keep<'_, '_, Direct>, folder: &OwnedFd, name: &CStr) -> Result<Result<Written, Unreadable>, Trouble> {
    let path = keep.child(HISTORY).join(OsStr::from_bytes(name.to_bytes()));
    let failed = at("read", &path);
    let listed = Seen::from(keep.sys.stat_at(folder, name).map_err(&failed)?);
    if listed.kind() != FileType::RegularFile {
        return Err(odd("read", &path, "it is no plain file"));
    }
    if listed.size > MAX_BYTES {
        return Err(odd("read", &path, "it is larger than any record"));
    }
    let file = keep.sys.open(folder, name, OFlags::RDONLY).map_err(&failed)?;
    let seen = Seen::from(keep.sys.stat(&file).map_err(&failed)?);
    if seen.id() != listed.id() {
        return Err(odd("read", &path, "it changed meanwhile"));
    }
    let mut bytes = vec![0; usize::try_from(seen.size.min(MAX_BYTES)).unwrap_or(0)];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match keep.sys.read(&file, room, filled as u64).map_err(&failed)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    let named = name.to_str().ok().filter(|name| is_name(name));
    Ok(Record::parse(&bytes).and_then(|record| {
        if named == Some(record.name.as_str()) {
            Ok(Written { record: record.at_keep(&keep.path), began: seen.written })
        } else {
            Err(Unreadable::Damaged("it is of another operation than its name says".to_owned()))
        }
    }))
}

/// What lies in the recycle folder without a record that says what it is: nothing of it is lost, and nothing removes it.
fn tell_strays(keep: &Keep<'_, '_, Direct>, all: &[Written], messages: &mut Vec<String>) {
    let Ok(Some((_, found))) = listed(keep, RECYCLE) else { return };
    for name in found {
        let text = name.to_string_lossy();
        let known = all.iter().any(|written| written.record.name == text);
        let path = keep.child(RECYCLE).join(OsStr::from_bytes(name.to_bytes()));
        if let Some(begun) = text.strip_suffix(PURGING) {
            messages.push(format!(
                "What {} put aside is being removed, or that was interrupted; `worldkeep recover` looks after it.",
                shown(begun)
            ));
        } else if !known && keep.look(JOURNAL).is_ok_and(|journal| journal.is_none()) {
            messages.push(format!(
                "'{}' was put aside by an operation that is not on record. It is left alone; look into it and move it away by hand.",
                shown_path(&path)
            ));
        }
    }
}
