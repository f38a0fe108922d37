//! The verbs about what was done before: history, undo, purge, recover.

use std::path::PathBuf;

use super::super::args::Agree;
use super::super::failure::{Exit, Failure};
use super::super::output;
use super::super::session::Session;
use super::{Job, Stop, carry_out, document, recovered, refuse_read_only, text};
use crate::model::plan::{Reason, Refusal};
use crate::model::shown;
use crate::ops::ask;
use crate::ops::history::{self, Entry};
use crate::ops::recover::{Became, recover as recover_keeps};

/// What is known of the past, as far as it is meant.
struct Past {
    keeps: Vec<PathBuf>,
    /// True when only these keeping folders are meant.
    narrowed: bool,
}

impl Past {
    fn of(session: &Session, paths: &[PathBuf]) -> Result<Self, Failure> {
        let catalog = session.scan(&session.request(paths))?;
        let mut keeps = Session::keeps(&catalog);
        if !paths.is_empty() {
            // A save may be gone whole, and its keeping folder is what is left.
            keeps.extend(ask::keeps_of(paths.iter().map(PathBuf::as_path)));
            keeps.sort();
            keeps.dedup();
        }
        Ok(Self { keeps, narrowed: session.is_narrowed() || !paths.is_empty() })
    }

    fn entries(&self, session: &Session) -> (Vec<Entry>, Vec<String>) {
        let (mut entries, messages) = history::list(&self.keeps, &session.setting());
        if self.narrowed {
            entries.retain(|entry| self.keeps.contains(&entry.record.keep));
        }
        (entries, messages)
    }
}

/// `worldkeep history`.
pub(in crate::cli) fn history(session: &Session, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let past = Past::of(session, paths)?;
    let (entries, messages) = past.entries(session);
    if session.json {
        output::print(|out| document::write_history(out, &entries, &messages, &session.config.zone))?;
    } else {
        text::history(session, &entries)?;
    }
    complain(&messages);
    Ok(if messages.is_empty() { Exit::Done } else { Exit::Unchecked })
}

fn complain(messages: &[String]) {
    for message in messages {
        output::complain(&format!("worldkeep: {}\n", shown(message)));
    }
}

/// `worldkeep undo`.
pub(in crate::cli) fn undo(session: &Session, operation: Option<&str>, agree: &Agree) -> Result<Exit, Failure> {
    let past = Past::of(session, &[])?;
    let setting = session.setting();
    let found = recovered(session, &past.keeps, &setting);
    let plan = || {
        let (entries, messages) = past.entries(session);
        let entry = match operation {
            Some(name) => named(&entries, name)?,
            None => ask::last(&entries).ok_or_else(|| {
                let text = "No operation is on record that could be taken back.";
                let text = [text].into_iter().chain(messages.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
                Refusal::new(Reason::NothingToUndo, text)
            })?,
        };
        Ok(ask::undo(entry, &setting)?)
    };
    let target = operation.unwrap_or("the last operation").to_owned();
    carry_out(session, agree, &[Job { target, plan: Box::new(plan) }], &found)
}

/// The one operation whose name begins so.
fn named<'e>(entries: &'e [Entry], name: &str) -> Result<&'e Entry, Stop> {
    let fits: Vec<&Entry> = entries.iter().filter(|entry| entry.record.name.starts_with(name)).collect();
    match fits.as_slice() {
        [entry] if !name.is_empty() => Ok(entry),
        [] => {
            let failure = Failure::nothing(format!("There is no operation \"{}\" on record.", shown(name)));
            Err(failure.hint("`worldkeep history` lists them.").into())
        }
        several => {
            let mut failure = Failure::usage(format!("\"{}\" could mean several operations.", shown(name)));
            failure.hints = several.iter().take(20).map(|entry| entry.record.name.clone()).collect();
            Err(failure.into())
        }
    }
}

/// `worldkeep purge`.
pub(in crate::cli) fn purge(
    session: &Session,
    operations: &[String],
    older: Option<u64>,
    agree: &Agree,
) -> Result<Exit, Failure> {
    let past = Past::of(session, &[])?;
    let setting = session.setting();
    let found = if setting.read_only { Vec::new() } else { recovered(session, &past.keeps, &setting) };
    let (entries, messages) = past.entries(session);
    complain(&messages);
    let chosen = match chosen(&entries, operations) {
        Ok(chosen) => chosen,
        Err(Stop::Failed(failure)) => return Err(failure),
        Err(Stop::Refused(refusal)) => return refuse(session, agree, refusal, &found),
    };
    let picked = ask::to_purge(&chosen, older, &setting);
    if let Some(refusal) = refuse_read_only(&setting) {
        return refuse(session, agree, refusal, &found);
    }
    if picked.is_empty() {
        let text = if chosen.iter().any(|entry| entry.parked_bytes > 0) {
            "Nothing that is kept is that old."
        } else {
            "Nothing is kept."
        };
        return nothing(session, text, &found);
    }
    let jobs = picked.into_iter().map(|group| {
        let target = group.iter().map(|entry| entry.record.name.clone()).collect::<Vec<_>>().join(" ");
        let setting = &setting;
        Job { target, plan: Box::new(move || Ok(ask::purge(&group, setting)?)) }
    });
    carry_out(session, agree, &jobs.collect::<Vec<_>>(), &found)
}

fn chosen(entries: &[Entry], operations: &[String]) -> Result<Vec<Entry>, Stop> {
    if operations.is_empty() {
        return Ok(entries.to_vec());
    }
    let mut chosen: Vec<Entry> = Vec::new();
    for name in operations {
        let entry = named(entries, name)?;
        if !chosen.contains(entry) {
            chosen.push(entry.clone());
        }
    }
    Ok(chosen)
}

fn refuse(
    session: &Session,
    agree: &Agree,
    refusal: Refusal,
    found: &[crate::ops::recover::Recovered],
) -> Result<Exit, Failure> {
    let job = Job { target: "the recycle folder".to_owned(), plan: Box::new(move || Err(refusal.clone().into())) };
    carry_out(session, agree, &[job], found)
}

/// There is nothing to remove, which is no failure.
fn nothing(session: &Session, text: &str, found: &[crate::ops::recover::Recovered]) -> Result<Exit, Failure> {
    if session.json {
        output::print(|out| document::write_operations(out, &[], found, &session.config.zone))?;
    } else if !session.quiet {
        output::print(|out| writeln!(out, "{text}"))?;
    }
    Ok(Exit::Done)
}

/// `worldkeep recover`.
pub(in crate::cli) fn recover(session: &Session, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let past = Past::of(session, paths)?;
    let setting = session.setting();
    let mut found = recover_keeps(&past.keeps, &setting);
    if past.narrowed {
        found.retain(|found| past.keeps.contains(&found.keep));
    }
    output::print(|out| {
        if session.json {
            return document::write_recovered(out, &found);
        }
        if found.is_empty() && !session.quiet {
            return writeln!(out, "No operation was interrupted.");
        }
        found.iter().try_for_each(|found| writeln!(out, "{}", shown(&found.text)))
    })?;
    let exit = found.iter().map(|found| match found.became {
        Became::Finished | Became::RolledBack => Exit::Done,
        Became::Newer | Became::Busy => Exit::Refused,
        Became::Left if setting.read_only => Exit::Refused,
        Became::Left => Exit::Damaged,
    });
    Ok(exit.fold(Exit::Done, Exit::worse))
}
