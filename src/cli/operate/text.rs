//! Plans, results and the history as text for people.

use std::io;

use super::super::failure::Failure;
use super::super::look::{Look, Meaning, pad};
use super::super::output;
use super::super::session::Session;
use super::Item;
use crate::model::human::{self, size};
use crate::model::plan::{Draft, Operation, Outcome, Rights, Step};
use crate::model::{ServerState, shown, shown_path};
use crate::ops::ask::Planned;
use crate::ops::history::Entry;
use crate::ops::run::Done;

/// Steps of one kind that are listed; a plan of thousands is summed up.
const LISTED: usize = 40;

/// Prints every plan, or why there is none, before anybody is asked. With `--json` and `--quiet` nothing is printed here.
pub(super) fn plans(session: &Session, items: &[Item]) -> Result<(), Failure> {
    if session.json || session.quiet {
        return Ok(());
    }
    output::print(|out| {
        for (n, planned) in items.iter().filter_map(|item| item.planned.as_ref()).enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            plan(out, &session.look, planned)?;
        }
        Ok(())
    })
}

fn plan(out: &mut dyn io::Write, look: &Look, planned: &Planned) -> io::Result<()> {
    let draft = planned.plan.content();
    let preview = &draft.preview;
    let title = if preview.title.is_empty() {
        format!("{} of {}", draft.operation.as_str(), shown(&draft.subject))
    } else {
        shown(&preview.title)
    };
    writeln!(out, "{}", look.paint(Meaning::Title, &title))?;
    let widest = preview.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0).max(6);
    for (label, text) in &preview.lines {
        labelled(out, look, widest, label, text)?;
    }
    for note in &preview.notes {
        wrapped(out, look, Meaning::Plain, note)?;
    }
    for warning in &draft.warnings {
        wrapped(out, look, Meaning::Warning, &format!("! {} ({})", warning.text, warning.code.as_str()))?;
    }
    if let Some(server) = &planned.server {
        let meaning = match server.state {
            ServerState::Stopped => Meaning::Good,
            ServerState::Unknown => Meaning::Warning,
            ServerState::Running => Meaning::Bad,
        };
        labelled(out, look, widest, "server", &look.paint(meaning, server.state.as_str()))?;
        // Reasons that are warnings stand above already.
        let told = |text: &&String| !draft.warnings.iter().any(|warning| warning.text.contains(text.as_str()));
        for text in server.reasons.iter().chain(&server.restarts).filter(told) {
            wrapped(out, look, Meaning::Muted, text)?;
        }
    }
    steps(out, look, draft)?;
    if draft.bytes > 0 {
        let text = format!("{} are written on the file system of {}", size(draft.bytes), shown_path(&draft.space.on));
        labelled(out, look, widest, "space", &text)?;
    }
    labelled(out, look, widest, "plan", &planned.plan.id().to_string())
}

fn labelled(out: &mut dyn io::Write, look: &Look, widest: usize, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {}  {text}", look.paint(Meaning::Muted, &pad(&shown(label), widest)))
}

fn wrapped(out: &mut dyn io::Write, look: &Look, meaning: Meaning, text: &str) -> io::Result<()> {
    for line in look.wrap(&shown(text), 2) {
        writeln!(out, "{}", look.paint(meaning, &line))?;
    }
    Ok(())
}

fn steps(out: &mut dyn io::Write, look: &Look, draft: &Draft) -> io::Result<()> {
    for step in draft.steps.iter().take(LISTED) {
        writeln!(out, "    {}", look.paint(Meaning::Muted, &step_text(step)))?;
    }
    match draft.steps.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "    and {more} more; --json lists all of them"),
    }
}

/// One step, in one line.
fn step_text(step: &Step) -> String {
    let to = |word: &str, from: &std::path::Path, to: &std::path::Path| {
        format!("{} {} -> {}", pad(word, 8), shown_path(from), shown_path(to))
    };
    match step {
        Step::Copy { from, items, to: stage } => {
            let from = match items.as_slice() {
                [item] => from.join(item),
                _ => from.clone(),
            };
            let text = to("copy", &from, stage);
            if items.len() == 1 { text } else { format!("{text} ({} items)", items.len()) }
        }
        Step::Unpack { archive, members, to: stage } => {
            format!("{} ({} members)", to("unpack", archive, stage), members.len())
        }
        Step::Dress { path, like, rights } => {
            let what = if *rights == Rights::Like { "owner and mode" } else { "owner" };
            format!("{} {} with the {what} of {}", pad("dress", 8), shown_path(path), shown_path(like))
        }
        Step::Write { path, bytes } => {
            format!("{} {} ({})", pad("write", 8), shown_path(path), size(bytes.len() as u64))
        }
        Step::Exchange { stage, live } => {
            format!("{} {} <-> {}", pad("exchange", 8), shown_path(stage), shown_path(live))
        }
        Step::Place { from, to: there } => to("place", from, there),
        Step::Park { from, to: there } => to("park", from, there),
        Step::Remove { path } => format!("{} {}", pad("remove", 8), shown_path(path)),
    }
}

/// Prints how each operation ended, in one line, with the way back. What failed goes to standard error.
pub(super) fn results(session: &Session, dry: bool, items: &[Item]) -> Result<(), Failure> {
    let several = items.len() > 1;
    let mut lines = Vec::new();
    for item in items {
        match (&item.done, &item.planned) {
            (Some(done), planned) => {
                if let Some(line) = line(done, planned.as_ref()) {
                    lines.push(line);
                }
            }
            (None, Some(planned)) if dry => {
                lines.push(format!("Nothing was done. Confirm this plan with --yes={}.", planned.plan.id()));
            }
            (None, _) if several => {
                output::complain(&format!("worldkeep: {}: not begun.\n", shown(&item.target)));
            }
            (None, _) => {}
        }
    }
    if !session.quiet {
        output::print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    }
    told(items);
    Ok(())
}

fn line(done: &Done, planned: Option<&Planned>) -> Option<String> {
    if !matches!(done.outcome, Outcome::Done | Outcome::CleanUpPending { .. }) {
        return None;
    }
    let draft = planned?.plan.content();
    let what = if draft.preview.done.is_empty() { "Done." } else { &draft.preview.done };
    let back = match draft.operation {
        Operation::Purge => return Some(shown(what)),
        Operation::Undo => "To take that back",
        _ => "To take it back",
    };
    Some(format!("{} {back}: worldkeep undo {}", shown(what), done.name))
}

/// Tells on standard error what failed, was refused, or needs to be known besides.
pub(super) fn told(items: &[Item]) {
    let several = items.len() > 1;
    for item in items {
        let Some(done) = &item.done else { continue };
        let text = match &done.outcome {
            Outcome::Done => None,
            Outcome::CleanUpPending { why, .. } => {
                Some(format!("It is done, and something is left to clear away. {why}"))
            }
            Outcome::Unchanged { why } => Some(format!("It failed, and the save is what it was. {why}")),
            Outcome::Unfinished { why } => Some(format!("It was interrupted in the middle. {why}")),
            Outcome::Cancelled => Some("It was interrupted, and the save is what it was.".to_owned()),
            Outcome::Refused(refusal) => Some(format!("{refusal} ({})", refusal.reason.as_str())),
        };
        let about = if several { format!("{}: ", shown(&item.target)) } else { String::new() };
        for text in text.iter().chain(&done.told) {
            output::complain(&format!("worldkeep: {about}{}\n", shown(text)));
        }
    }
}

/// Prints the operations of the past, newest first.
pub(super) fn history(session: &Session, entries: &[Entry]) -> Result<(), Failure> {
    let look = &session.look;
    let zone = &session.config.zone;
    output::print(|out| {
        if entries.is_empty() && !session.quiet {
            return writeln!(out, "No operation is on record.");
        }
        for entry in entries {
            let record = &entry.record;
            let kept =
                if entry.parked_bytes > 0 { format!("  {} kept", size(entry.parked_bytes)) } else { String::new() };
            let word = pad(record.operation.as_str(), 7);
            writeln!(
                out,
                "{}  {}  {word}  {}{}",
                look.paint(Meaning::Title, &record.name),
                human::when(record.at, zone),
                shown(&record.subject),
                look.paint(Meaning::Muted, &kept)
            )?;
            let (meaning, text) = match &entry.undo {
                Ok(text) => (Meaning::Plain, format!("Undo: {text}")),
                Err(text) => (Meaning::Muted, format!("No undo: {text}")),
            };
            for line in look.wrap(&shown(&text), 14) {
                writeln!(out, "{}", look.paint(meaning, &line))?;
            }
        }
        let kept: u64 = entries.iter().map(|entry| entry.parked_bytes).sum();
        if session.quiet || kept == 0 {
            return Ok(());
        }
        writeln!(out, "{} are kept for undo; `worldkeep purge` frees them.", size(kept))
    })
}
