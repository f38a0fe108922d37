//! Taking an operation back, as a plan like any other.
//!
//! What an operation did is summed up first ([`super::history`]): what came from the keeping folder to a live name, what went from there
//! into it, what got another name. Taking it back is the same the other way round, last thing first: what went comes
//! back, and what came is kept in its stead, so that the undo can be undone. Only names change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::ask::Planned;
use super::fresh::fingerprint;
use super::history::{Effect, Entry, Kind, Thing, Written, effect, followers, named_below, read, taken_back_by, weigh};
use super::keep::{record_of, recycle_of};
use super::name;
use super::record::Record;
use super::setting::Setting;
use super::{Failure, liveness};
use crate::model::human::{size, when};
use crate::model::outline::Preview;
use crate::model::plan::{
    Draft, Fingerprint, Operation, Plan, Reason, Refusal, Space, Step, Warning, WarningCode, Witness,
};
use crate::model::{Server, ServerState, shown, shown_path};

/// The plan that takes an operation back. It renames only, so that a full disk is no obstacle, and can be taken back itself.
pub fn plan(entry: &Entry, setting: &Setting) -> Result<Plan, Refusal> {
    planned(entry, setting).map(|planned| planned.plan)
}

/// The same with what was seen of a server.
pub(super) fn planned(entry: &Entry, setting: &Setting) -> Result<Planned, Refusal> {
    if setting.read_only {
        return Err(Refusal::new(Reason::ReadOnly, "Changes are switched off."));
    }
    let record = &entry.record;
    let all = read(&record.keep, &mut Vec::new());
    let Some(written) = all.iter().find(|written| written.record.name == record.name) else {
        let text = format!("The operation {} is not on record any more.", record.name);
        return Err(Refusal::new(Reason::NothingToUndo, text));
    };
    let way = way_back(written, &all)?;
    let server = record.traces.as_ref().map(|traces| liveness::look(traces, setting));
    if let Some(running) = server.as_ref().filter(|server| server.state == ServerState::Running) {
        let text = format!("A server uses this save. {}", running.reasons.join(" "));
        return Err(Refusal::new(Reason::Running, text));
    }
    let plan = draft(written, &way, server.as_ref(), setting)?.seal();
    Ok(Planned { plan, server })
}

/// What an undo would do, in one sentence, or why there is none.
pub(super) fn sentence(written: &Written, all: &[Written]) -> Result<String, String> {
    way_back(written, all).map(|way| way.sentence()).map_err(|refusal| refusal.text)
}

/// One thing that an undo puts somewhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Turn {
    /// What was parked changes places with what is live, which is kept.
    Swap { parked: PathBuf, live: PathBuf },
    /// What was parked, or got another name, goes back to its place, where nothing is.
    Back { from: PathBuf, to: PathBuf },
    /// What is live is kept.
    Away { live: PathBuf },
}

/// How an operation is taken back, as things lie now.
#[derive(Debug)]
struct WayBack {
    keep: PathBuf,
    /// The live names first changed last by the operation.
    turns: Vec<Turn>,
    /// What lies at each name that is renamed, or must not be there.
    witnesses: Vec<Witness>,
    /// Live things that are no longer what the operation left, in whole sentences.
    changed: Vec<String>,
    /// Something would be put aside that the operation never knew.
    strangers: bool,
    /// Live names with what the operation left there, to be looked at for later changes.
    left: Vec<PathBuf>,
}

impl WayBack {
    fn name(&self, path: &Path) -> String {
        named_below(path, &self.keep)
    }

    fn sentence(&self) -> String {
        let mut back = Vec::new();
        let mut away = Vec::new();
        for turn in &self.turns {
            match turn {
                Turn::Swap { live, .. } => {
                    back.push(self.name(live));
                    away.push(self.name(live));
                }
                Turn::Back { to, .. } => back.push(self.name(to)),
                Turn::Away { live } => away.push(self.name(live)),
            }
        }
        match (back.as_slice(), away.as_slice()) {
            ([], away) => format!("Puts {} aside.", listed(away)),
            (back, []) => format!("Brings {} back.", listed(back)),
            (back, away) if back == away => format!("Brings {} back, and puts aside what is there now.", listed(back)),
            (back, away) => format!("Brings {} back, and puts {} aside.", listed(back), listed(away)),
        }
    }
}

/// A few names, and how many more.
fn listed(names: &[String]) -> String {
    const SOME: usize = 3;
    let some = names.iter().take(SOME).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SOME) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

fn nothing(text: impl Into<String>) -> Refusal {
    Refusal::new(Reason::NothingToUndo, text)
}

fn cannot_look(failure: &Failure) -> Refusal {
    let reason = match failure.cause {
        super::Cause::Platform => Reason::Platform,
        _ => Reason::SourceGone,
    };
    Refusal::new(reason, failure.to_string())
}

/// Finds out how an operation can be taken back, by inode and by what was done since.
fn way_back(written: &Written, all: &[Written]) -> Result<WayBack, Refusal> {
    let record = &written.record;
    if record.operation == Operation::Purge {
        return Err(nothing("What a purge removed is gone for good."));
    }
    if let Some(by) = taken_back_by(record, all) {
        return Err(nothing(format!("It was taken back already, by {}.", titled(by))));
    }
    if let Some(latest) = followers(record, all).last() {
        return Err(nothing(format!("It was taken back and brought back since; undo {} instead.", latest.name)));
    }
    let things = effect(record);
    let mut finder = Finder { record, all, things: &things, free: BTreeSet::new(), way: WayBack::of(record) };
    for thing in things.iter().rev() {
        finder.thing(thing)?;
    }
    if finder.way.turns.is_empty() {
        return Err(nothing("Nothing of what it changed is there any more."));
    }
    Ok(finder.way)
}

/// An operation as it is named in a sentence.
fn titled(record: &Record) -> String {
    format!("the {} of '{}' ({})", record.operation.as_str(), shown(&record.subject), record.name)
}

impl WayBack {
    fn of(record: &Record) -> Self {
        Self {
            keep: record.keep.clone(),
            turns: Vec::new(),
            witnesses: Vec::new(),
            changed: Vec::new(),
            strangers: false,
            left: Vec::new(),
        }
    }
}

struct Finder<'a> {
    record: &'a Record,
    all: &'a [Written],
    things: &'a Effect,
    /// Live names that are empty by now: the undo has moved away what was there.
    free: BTreeSet<PathBuf>,
    way: WayBack,
}

impl Finder<'_> {
    fn thing(&mut self, thing: &Thing) -> Result<(), Refusal> {
        match thing.kind {
            Kind::Came => self.came(thing),
            // What comes back to a name at which something came is done together with that.
            Kind::Went if self.came_to(&thing.first) => self.parked(thing),
            Kind::Went => {
                self.parked(thing)?;
                self.back(thing)
            }
            Kind::Moved => {
                let Some(print) = self.look(&thing.last)? else {
                    self.refuse_later(&thing.last)?;
                    let text = format!("'{}' is gone since, and does not come back.", self.way.name(&thing.last));
                    self.way.changed.push(text);
                    return Ok(());
                };
                if (print.device, print.inode) != thing.what {
                    self.refuse_later(&thing.last)?;
                    self.way.changed.push(format!("'{}' was replaced since.", self.way.name(&thing.last)));
                }
                self.back(thing)
            }
        }
    }

    fn came_to(&self, live: &Path) -> bool {
        self.things.iter().any(|other| other.kind == Kind::Came && other.last == live)
    }

    /// What was parked must lie where it was put.
    fn parked(&mut self, thing: &Thing) -> Result<(), Refusal> {
        let name = self.way.name(&thing.first);
        match self.look(&thing.last)? {
            Some(print) if (print.device, print.inode) == thing.what => Ok(()),
            Some(_) => {
                Err(nothing(format!("Something else lies at '{}', where '{name}' was kept.", shown_path(&thing.last))))
            }
            None => {
                let recycle = recycle_of(&self.record.keep, &self.record.name);
                let purge = self.all.iter().find(|other| other.record.removes.contains(&recycle));
                Err(nothing(match purge {
                    Some(purge) => format!("What it kept was removed for good by {}.", titled(&purge.record)),
                    None => format!("'{name}' is not kept any more: there is no '{}'.", shown_path(&thing.last)),
                }))
            }
        }
    }

    /// What the operation put at a live name is kept, and what was there before comes back.
    fn came(&mut self, thing: &Thing) -> Result<(), Refusal> {
        let live = &thing.last;
        let name = self.way.name(live);
        let parked = self.things.iter().find(|other| other.kind == Kind::Went && &other.first == live);
        let print = self.look(live)?;
        match print {
            Some(print) if (print.device, print.inode) == thing.what => self.way.left.push(live.clone()),
            Some(_) => {
                self.refuse_later(live)?;
                self.way.changed.push(format!("'{name}' was replaced since; what is there now is put aside."));
            }
            None => {
                self.refuse_later(live)?;
                self.way.changed.push(format!("'{name}' is gone since."));
            }
        }
        let turn = match (print, parked) {
            (Some(_), Some(parked)) => Turn::Swap { parked: parked.last.clone(), live: live.clone() },
            (Some(_), None) => Turn::Away { live: live.clone() },
            (None, Some(parked)) => {
                Self::holder_of(live)?;
                Turn::Back { from: parked.last.clone(), to: live.clone() }
            }
            (None, None) => return Ok(()),
        };
        if matches!(turn, Turn::Away { .. }) {
            self.free.insert(live.clone());
        }
        self.way.turns.push(turn);
        Ok(())
    }

    /// Something comes back to a name at which the operation left nothing.
    fn back(&mut self, thing: &Thing) -> Result<(), Refusal> {
        let (from, to) = (thing.last.clone(), thing.first.clone());
        if thing.kind == Kind::Moved {
            self.free.insert(from.clone());
        }
        if self.free.remove(&to) {
            self.way.turns.push(Turn::Back { from, to });
            return Ok(());
        }
        if self.things.iter().any(|other| other.last == to) {
            return Err(nothing("Its renames went in a circle, which cannot be taken back by itself."));
        }
        if self.look(&to)?.is_none() {
            Self::holder_of(&to)?;
            self.way.turns.push(Turn::Back { from, to });
            return Ok(());
        }
        self.refuse_later(&to)?;
        let name = self.way.name(&to);
        self.way.changed.push(format!("There is a new '{name}' since; it is put aside."));
        self.way.strangers = true;
        self.way.turns.push(Turn::Swap { parked: from, live: to });
        Ok(())
    }

    /// The folder that something goes back into must be there.
    fn holder_of(path: &Path) -> Result<(), Refusal> {
        let Some(holder) = path.parent() else { return Ok(()) };
        match fingerprint(holder) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Refusal::new(
                Reason::SourceGone,
                format!("The folder '{}' is not there any more; make it, then undo.", shown_path(holder)),
            )),
            Err(failure) => Err(cannot_look(&failure)),
        }
    }

    /// What lies at a name, remembered as what the plan depends on.
    fn look(&mut self, path: &Path) -> Result<Option<Fingerprint>, Refusal> {
        if let Some(known) = self.way.witnesses.iter().find(|witness| witness.path == path) {
            return Ok(known.was);
        }
        let was = fingerprint(path).map_err(|failure| cannot_look(&failure))?;
        self.way.witnesses.push(Witness { path: path.to_path_buf(), was });
        Ok(was)
    }

    /// A later operation that is in force and changed this name has to be taken back first.
    fn refuse_later(&self, path: &Path) -> Result<(), Refusal> {
        let Some(at) = self.all.iter().position(|other| &other.record == self.record) else { return Ok(()) };
        // Newest first: what is taken back first comes first.
        for Written { record: later, .. } in self.all.get(..at).unwrap_or_default() {
            let in_force = taken_back_by(later, self.all).is_none() && later.operation != Operation::Purge;
            let concerns = || {
                let things = effect(later);
                things.iter().any(|thing| [&thing.first, &thing.last].into_iter().any(|name| overlap(name, path)))
            };
            if in_force && concerns() {
                let name = self.way.name(path);
                return Err(nothing(format!("'{name}' was changed later by {}; undo that first.", titled(later))));
            }
        }
        Ok(())
    }
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn draft(written: &Written, way: &WayBack, server: Option<&Server>, setting: &Setting) -> Result<Draft, Refusal> {
    let record = &written.record;
    let keep = &record.keep;
    let mut witnesses = way.witnesses.clone();
    let path = record_of(keep, &record.name);
    let was = fingerprint(&path).map_err(|failure| cannot_look(&failure))?;
    witnesses.push(Witness { path, was });
    let name = name::of(keep, Operation::Undo, &[record.name.as_str()], &witnesses);
    let top = keep.parent().unwrap_or(keep);
    let kept = |live: &Path| recycle_of(keep, &name).join(live.strip_prefix(top).unwrap_or(live));
    let mut steps = Vec::new();
    let mut parks = Vec::new();
    for turn in &way.turns {
        match turn {
            Turn::Swap { parked, live } => {
                steps.push(Step::Exchange { stage: parked.clone(), live: live.clone() });
                parks.push(Step::Park { from: parked.clone(), to: kept(live) });
            }
            Turn::Back { from, to } => steps.push(Step::Place { from: from.clone(), to: to.clone() }),
            Turn::Away { live } => steps.push(Step::Park { from: live.clone(), to: kept(live) }),
        }
    }
    steps.append(&mut parks);
    let preview = preview(written, way, setting);
    Ok(Draft {
        operation: Operation::Undo,
        subject: record.subject.clone(),
        undoes: Some(record.name.clone()),
        restored: None,
        keep: keep.clone(),
        steps,
        traces: record.traces.clone(),
        bytes: 0,
        space: Space { on: top.to_path_buf(), bytes: 0 },
        warnings: warnings(written, way, server, setting),
        witnesses,
        preview,
        name,
    })
}

fn warnings(written: &Written, way: &WayBack, server: Option<&Server>, setting: &Setting) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(server) = server.filter(|server| server.state == ServerState::Unknown) {
        let text = format!("Whether a server uses this save could not be told. {}", server.reasons.join(" "));
        warnings.push(Warning { code: WarningCode::LivenessUnknown, text: text.trim_end().to_owned() });
    }
    let restarts = server.map(|server| server.restarts.as_slice()).unwrap_or_default();
    warnings.extend(restarts.iter().map(|text| Warning { code: WarningCode::Restarts, text: text.clone() }));
    let mut changed = way.changed.clone();
    for live in &way.left {
        let weight = weigh(live, written.began);
        if weight.later > 0 {
            let newest = moment(weight.newest).map(|at| when(at, &setting.zone)).unwrap_or_default();
            changed.push(format!(
                "'{}' was written to since ({} of its files and folders, the last at {newest}); that is put aside with it.",
                way.name(live),
                weight.later
            ));
        }
    }
    warnings.extend(changed.into_iter().map(|text| Warning { code: WarningCode::ChangedSince, text }));
    warnings
}

fn moment((seconds, nanoseconds): (i64, i64)) -> Option<jiff::Timestamp> {
    jiff::Timestamp::new(seconds, i32::try_from(nanoseconds).ok()?).ok()
}

fn preview(written: &Written, way: &WayBack, setting: &Setting) -> Preview {
    let record = &written.record;
    let mut lines = vec![(
        "takes back".to_owned(),
        format!("the {} of {} ({})", record.operation.as_str(), when(record.at, &setting.zone), record.name),
    )];
    let described = |label: &str, path: &Path, name: &str| {
        let weight = weigh(path, (i64::MAX, 0));
        let at = moment(weight.newest).map(|at| format!(", last written {}", when(at, &setting.zone)));
        (label.to_owned(), format!("{name}: {}{}", size(weight.bytes), at.unwrap_or_default()))
    };
    for turn in &way.turns {
        match turn {
            Turn::Swap { parked, live } => {
                let name = way.name(live);
                lines.push(described("comes back", parked, &name));
                lines.push(described("put aside", live, &name));
            }
            Turn::Back { from, to } if from.starts_with(&way.keep) => {
                lines.push(described("comes back", from, &way.name(to)));
            }
            Turn::Back { from, to } => {
                lines.push(("name".to_owned(), format!("{} is {} again", way.name(from), way.name(to))));
            }
            Turn::Away { live } => lines.push(described("put aside", live, &way.name(live))),
        }
    }
    let subject = shown(&record.subject);
    Preview {
        title: format!("Undo the {} of {subject}", record.operation.as_str()),
        lines,
        notes: vec!["Only names change: nothing is copied, and the undo can be undone.".to_owned()],
        // What the operation never knew is put aside, which nobody expects of an undo.
        type_name: if way.strangers { record.subject.clone() } else { String::new() },
        done: format!("Took back the {} of {subject}.", record.operation.as_str()),
    }
}
