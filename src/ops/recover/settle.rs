//! By inode: how far an interrupted operation is, and which way it is brought to an end.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::{Became, Recovered};
use crate::model::{ServerState, shown, shown_path};
use crate::ops::keep::{self, JOURNAL, Keep, NotLocked, PURGING, RECYCLE, STAGE, purging_of};
use crate::ops::liveness;
use crate::ops::moves::{Course, Mover, Place};
use crate::ops::record::{Record, Renamed, Unreadable};
use crate::ops::remove::{names, only_folders, prune, remove};
use crate::ops::run::Look;
use crate::ops::setting::Setting;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::trouble::{Trouble, at, odd};

/// Recovers as [`super::recover`] does, asks a hook before each system call, and looks for servers with `look`.
pub fn recover_with<H: Hook>(hook: &H, look: &Look<'_>, keeps: &[PathBuf], setting: &Setting) -> Vec<Recovered> {
    let sys = Sys::anywhere(hook);
    let remembered = setting.state.as_deref().map(keep::remembered).unwrap_or_default();
    let keeps: BTreeSet<&PathBuf> = keeps.iter().chain(&remembered).collect();
    let mut found = Vec::new();
    for path in keeps {
        let absent = |name: &CStr| {
            let path = path.join(OsStr::from_bytes(name.to_bytes()));
            // Whoever may not look there may not recover either.
            matches!(sys.peek(&path), Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS))
        };
        if !(absent(JOURNAL) && absent(STAGE)) || unrecorded(&sys, path) {
            found.extend(in_keep(&sys, path, look, setting));
        }
    }
    found
}

/// Whether there is a folder in the recycle folder that belongs to no operation on record.
fn unrecorded<H: Hook>(sys: &Sys<'_, H>, path: &Path) -> bool {
    let Ok(list) = std::fs::read_dir(path.join(OsStr::from_bytes(RECYCLE.to_bytes()))) else { return false };
    let names = list.flatten().map(|entry| entry.file_name());
    let mut records = names.map(|name| keep::record_of(path, &name.to_string_lossy()));
    records.any(|record| matches!(sys.peek(&record), Err(Errno::NOENT)))
}

fn in_keep<H: Hook>(sys: &Sys<'_, H>, path: &Path, look: &Look<'_>, setting: &Setting) -> Vec<Recovered> {
    let told = |became, text: String| vec![Recovered { keep: path.to_path_buf(), became, text }];
    let mut keep = match Keep::open(sys, path) {
        Ok(Some(keep)) => keep,
        Ok(None) => return Vec::new(),
        Err(trouble) => {
            return told(
                Became::Left,
                format!("There may be an interrupted operation in '{}': {trouble}", shown_path(path)),
            );
        }
    };
    match keep.lock(!setting.read_only) {
        Ok(()) => settle(&keep, look, setting),
        Err(NotLocked::Busy(who)) => {
            told(Became::Busy, format!("Another worldkeep is at work in '{}'; {who}.", shown_path(path)))
        }
        Err(NotLocked::Failed(trouble)) => {
            told(Became::Left, format!("There may be an interrupted operation in '{}': {trouble}", shown_path(path)))
        }
    }
}

/// Brings to an end what was interrupted in a locked keeping folder.
pub(in crate::ops) fn settle<H: Hook>(keep: &Keep<'_, '_, H>, look: &Look<'_>, setting: &Setting) -> Vec<Recovered> {
    let told = |became, text| Recovered { keep: keep.path.clone(), became, text };
    let journal = keep::journal_of(&keep.path);
    match keep.journal() {
        Ok(None) => leftovers(keep, setting).into_iter().map(|(became, text)| told(became, text)).collect(),
        Ok(Some(bytes)) => {
            let (became, text) = match Record::parse(&bytes) {
                Ok(record) => journaled(keep, &record.at_keep(&keep.path), look, setting),
                Err(Unreadable::Newer(schema)) => (
                    Became::Newer,
                    format!(
                        "An operation of a newer version of worldkeep was interrupted; its journal '{}' (format {schema}) was left \
                         alone. Use that version to finish it.",
                        shown_path(&journal)
                    ),
                ),
                Err(error) => (
                    Became::Left,
                    format!(
                        "An operation was interrupted, and its journal '{}' cannot be used: {error}. Nothing was touched. Compare \
                         the live save with what lies in '{}' and '{}', then move the journal away.",
                        shown_path(&journal),
                        shown_path(&keep.child(STAGE)),
                        shown_path(&keep.child(RECYCLE))
                    ),
                ),
            };
            vec![told(became, text)]
        }
        Err(trouble) => {
            vec![told(Became::Left, format!("An operation was interrupted, and its journal cannot be read. {trouble}"))]
        }
    }
}

fn title(record: &Record) -> String {
    format!("The {} of '{}' ({})", record.operation.as_str(), shown(&record.subject), record.name)
}

fn journaled<H: Hook>(keep: &Keep<'_, '_, H>, record: &Record, look: &Look<'_>, setting: &Setting) -> (Became, String) {
    let title = title(record);
    let left = |text: String| (Became::Left, text);
    let again = "Mend that, then run `worldkeep recover`.";
    let course = match Course::new(&record.moves) {
        Ok(course) => course,
        Err(why) => {
            return left(format!(
                "{title} was interrupted, and its journal cannot be used: {why}. Nothing was touched."
            ));
        }
    };
    if let Some(path) = course.left_in(&keep.child(STAGE)) {
        let path = shown_path(path);
        return left(format!("{title} was interrupted, and would leave '{path}' in its stage. Nothing was touched."));
    }
    let mut mover = match Mover::new(keep, course) {
        Ok(mover) => mover,
        Err(trouble) => return left(format!("{title} was interrupted. {trouble} Nothing was touched. {again}")),
    };
    let place = match mover.locate() {
        Ok(place) => place,
        Err(trouble) => return left(format!("{title} was interrupted. {trouble} Nothing was touched. {again}")),
    };
    let done = match place {
        Place::Lost => {
            return left(format!(
                "{title} was interrupted, and what lies at its names is not what it left there, so that nothing was touched. Now {}. \
                 Put what is wanted in its place by hand, then move '{}' away.",
                mover.lies(),
                shown_path(&keep::journal_of(&keep.path))
            ));
        }
        Place::At(0) => None,
        Place::At(count) | Place::Within(count, _) => Some(count),
    };
    if setting.read_only {
        let next = if done.is_some() { "finished" } else { "rolled back" };
        return left(format!(
            "{title} was interrupted. It is {next} by the next start that may change something. Now {}.",
            mover.lies()
        ));
    }
    let Some(count) = done else { return roll_back(keep, record, &mut mover, &title) };
    if mover.course.touches_live(count, &keep.path)
        && let Some(server) = record.traces.as_ref().map(|traces| look(traces, setting))
        && server.state == ServerState::Running
    {
        return left(format!(
            "{title} was interrupted in the middle, and a server uses the save. {} Now {}. Stop the server without letting it save if \
             that is possible, then run `worldkeep recover`.",
            server.reasons.join(" "),
            mover.lies()
        ));
    }
    let _locks = match record.traces.as_ref().map(|traces| liveness::hold(traces, &record.moves)).transpose() {
        Ok(locks) => locks,
        Err(why) => {
            return left(format!(
                "{title} was interrupted in the middle, and a server uses the save. {why} Now {}. Stop the server without letting it \
                 save if that is possible, then run `worldkeep recover`.",
                mover.lies()
            ));
        }
    };
    let _held = crate::sys::hold_signals();
    let finished = (|| {
        let mut from = place;
        while let Place::Within(count, half) = from {
            mover.settle_on(count, half)?;
            from = mover.locate()?;
        }
        let Place::At(from) = from else {
            return Err(odd("finish the renames in", &keep.path, "something else lies there now"));
        };
        mover.flush_all()?;
        mover.on(from)?;
        if mover.locate()? != Place::At(mover.course.len()) {
            return Err(odd("finish the renames in", &keep.path, "something else lies there now"));
        }
        keep.finish(&record.name)
    })();
    if let Err(trouble) = finished {
        return left(format!(
            "{title} was interrupted, and could not be finished. {trouble} Now {}. {again}",
            mover.lies()
        ));
    }
    let mut text = format!("{title} was interrupted, and is finished now. {}", shown(&record.done));
    for (became, more) in leftovers(keep, setting) {
        if became == Became::Left {
            text = format!("{text} {more}");
        }
    }
    prune_recycle(keep, record);
    (Became::Finished, text.trim_end().to_owned())
}

fn roll_back<H: Hook>(
    keep: &Keep<'_, '_, H>,
    record: &Record,
    mover: &mut Mover<'_, '_, '_, H>,
    title: &str,
) -> (Became, String) {
    let _held = crate::sys::hold_signals();
    // The stage may go only when no rename that led into it can come back.
    if let Err(trouble) = mover.flush_all().and_then(|()| keep.drop_journal()) {
        let text = format!(
            "{title} was interrupted before it changed anything. {trouble} Mend that, then run `worldkeep recover`."
        );
        return (Became::Left, text);
    }
    let mut text = format!("{title} was interrupted before it changed anything; the save is what it was.");
    if let Err(trouble) = remove_stage(keep, &record.name) {
        text = format!("{text} {trouble} The next start tries again.");
    }
    prune_named(keep, &record.name);
    (Became::RolledBack, text)
}

/// What lies in a keeping folder without a journal: stages that were being made, and what was being removed for good.
fn leftovers<H: Hook>(keep: &Keep<'_, '_, H>, setting: &Setting) -> Vec<(Became, String)> {
    let mut told = Vec::new();
    if !matches!(keep.look(STAGE), Ok(Some(_))) {
        if !setting.read_only {
            prune_unrecorded(keep);
        }
        return told;
    }
    let listed = |name: &CStr| -> Result<Vec<std::ffi::CString>, Trouble> {
        let failed = at("list", &keep.child(name));
        match keep.sys.open(&keep.folder, name, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => names(keep.sys, &folder).map_err(failed),
            Err(Errno::NOENT) => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    };
    let (staged, parked) = match (listed(STAGE), listed(RECYCLE)) {
        (Ok(staged), Ok(parked)) => (staged, parked),
        (Err(trouble), _) | (_, Err(trouble)) => return vec![(Became::Left, trouble.to_string())],
    };
    let purging: Vec<PathBuf> = parked
        .iter()
        .filter(|name| name.to_bytes().ends_with(PURGING.as_bytes()))
        .map(|name| keep.child(RECYCLE).join(OsStr::from_bytes(name.to_bytes())))
        .collect();
    if setting.read_only {
        if !(staged.is_empty() && purging.is_empty()) {
            let text = format!(
                "Something in '{}' was interrupted that had changed no save; it is cleared away by the next start that may \
                 change something.",
                keep.shown()
            );
            told.push((Became::Left, text));
        }
        return told;
    }
    for path in &purging {
        told.push(match remove_in_recycle(keep, path) {
            Ok(()) => (
                Became::Finished,
                format!("The removal of '{}' was interrupted, and is finished now.", shown_path(path)),
            ),
            Err(trouble) => (Became::Left, format!("{trouble} The next start tries again.")),
        });
    }
    if told.iter().any(|(became, _)| *became == Became::Left) {
        // The stage says that there is something to do.
        return told;
    }
    for name in staged {
        let text = name.to_string_lossy();
        let done = keep.sys.peek(&keep::record_of(&keep.path, &text)).is_ok();
        match remove_stage(keep, &text) {
            Ok(()) if done => {
                told.push((Became::Finished, format!("What the operation {} had left is cleared away.", shown(&text))));
            }
            Ok(()) => {
                prune_named(keep, &text);
                let text = format!(
                    "The operation {} was interrupted while its new state was made; the save is what it was, and what was made is \
                     removed.",
                    shown(&text)
                );
                told.push((Became::RolledBack, text));
            }
            Err(trouble) => told.push((Became::Left, format!("{trouble} The next start tries again."))),
        }
    }
    let _ = keep.sys.unlink(&keep.folder, STAGE, AtFlags::REMOVEDIR);
    prune_unrecorded(keep);
    told
}

/// Takes folders out of the recycle folder that were made for an operation which came to nothing. One that holds anything but
/// folders stays as it is. What cannot be done is tried again by the next start.
fn prune_unrecorded<H: Hook>(keep: &Keep<'_, '_, H>) {
    let Ok(folder) = keep.sys.open(&keep.folder, RECYCLE, OFlags::RDONLY | OFlags::DIRECTORY) else { return };
    for name in names(keep.sys, &folder).unwrap_or_default() {
        let text = name.to_string_lossy();
        let record = keep::record_of(&keep.path, &text);
        if matches!(keep.sys.peek(&record), Err(Errno::NOENT)) && only_folders(keep.sys, &folder, &name, 0) {
            prune(keep.sys, &folder, &name, 0);
        }
    }
}

/// Removes the stage of an operation, and the folder of the stages when it was the only one.
pub(in crate::ops) fn remove_stage<H: Hook>(keep: &Keep<'_, '_, H>, name: &str) -> Result<(), Trouble> {
    let path = keep::stage_of(&keep.path, name);
    let failed = at("remove", &path);
    let name = keep::one_name(OsStr::new(name)).ok_or_else(|| odd("remove", &path, "it is no name"))?;
    match keep.sys.open(&keep.folder, STAGE, OFlags::RDONLY | OFlags::DIRECTORY) {
        Ok(folder) => remove(keep.sys, &folder, &name, &path)?,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    match keep.sys.unlink(&keep.folder, STAGE, AtFlags::REMOVEDIR) {
        Ok(()) => keep.sys.flush(&keep.folder).map_err(failed),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Removes something that is marked in the recycle folder.
pub(in crate::ops) fn remove_in_recycle<H: Hook>(keep: &Keep<'_, '_, H>, path: &Path) -> Result<(), Trouble> {
    let name = path.file_name().filter(|name| name.as_bytes().ends_with(PURGING.as_bytes())).and_then(keep::one_name);
    let name = name.ok_or_else(|| odd("remove", path, "it is not marked"))?;
    match keep.sys.open(&keep.folder, RECYCLE, OFlags::RDONLY | OFlags::DIRECTORY) {
        Ok(folder) => remove(keep.sys, &folder, &name, path),
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(at("open", &keep.child(RECYCLE))(error)),
    }
}

/// Takes empty folders of an operation out of the recycle folder.
fn prune_named<H: Hook>(keep: &Keep<'_, '_, H>, name: &str) {
    let Some(name) = keep::one_name(OsStr::new(name)) else { return };
    if let Ok(folder) = keep.sys.open(&keep.folder, RECYCLE, OFlags::RDONLY | OFlags::DIRECTORY) {
        prune(keep.sys, &folder, &name, 0);
    }
}

/// Takes folders out of the recycle folder from which an operation has moved everything away.
pub(in crate::ops) fn prune_recycle<H: Hook>(keep: &Keep<'_, '_, H>, record: &Record) {
    let recycle = keep.child(RECYCLE);
    let from = record.moves.iter().map(|moved| match moved {
        Renamed::Exchange { stage: path, .. } | Renamed::Rename { from: path, .. } => path,
    });
    let marked: BTreeSet<PathBuf> = record.removes.iter().map(|path| purging_of(path)).collect();
    let tops: BTreeSet<&OsStr> = from
        .filter(|path| !marked.contains(*path))
        .filter_map(|path| path.strip_prefix(&recycle).ok()?.iter().next())
        .collect();
    for name in tops {
        prune_named(keep, &name.to_string_lossy());
    }
}
