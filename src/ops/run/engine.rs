//! The order in which a plan becomes true.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::shape::{Planned, Shape};
use super::{Done, Look};
use crate::model::plan::{Draft, Outcome, Reason, Refusal};
use crate::model::{Cancel, ServerState, shown, shown_path};
use crate::ops::fresh::{self, Fresh};
use crate::ops::keep::{self, Keep, NotLocked, purging_of, stage_of};
use crate::ops::liveness::{self, Held};
use crate::ops::moves::{Course, Mover, Place};
use crate::ops::record::{Id, Record, Renamed};
use crate::ops::recover::{self, Became};
use crate::ops::setting::Setting;
use crate::ops::stage::{Staged, stage};
use crate::ops::tree::Progress;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::trouble::{Trouble, at, odd};
use crate::ops::{Cause, Failure};

/// Carries a plan out as [`super::run`] does, asks a hook before each system call of the keeping folder, the journal and the
/// renames, and looks for servers with `look`.
pub fn run_with<H: Hook>(
    hook: &H,
    look: &Look<'_>,
    fresh: &Fresh,
    setting: &Setting,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Done {
    let sys = Sys::anywhere(hook);
    let mut run = Run { sys: &sys, look, fresh, setting, cancel, told: Vec::new(), came_up: false };
    let outcome = run.begin(progress);
    let name = fresh.plan().content().name.clone();
    Done { name, outcome, told: run.told, server_came_up: run.came_up }
}

struct Run<'r, 'h, H> {
    sys: &'r Sys<'h, H>,
    look: &'r Look<'r>,
    fresh: &'r Fresh,
    setting: &'r Setting,
    cancel: &'r Cancel,
    told: Vec<String>,
    came_up: bool,
}

fn refused(reason: Reason, text: impl Into<String>) -> Outcome {
    Outcome::Refused(Refusal::new(reason, text))
}

impl<'r, H: Hook> Run<'r, '_, H> {
    fn draft(&self) -> &'r Draft {
        self.fresh.plan().content()
    }

    fn begin(&mut self, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        if self.setting.read_only {
            return refused(Reason::ReadOnly, "Changes are switched off.");
        }
        let draft = self.draft();
        let shape = match Shape::of(draft) {
            Ok(shape) => shape,
            Err(why) => return Outcome::Unchanged { why },
        };
        let sys = self.sys;
        let mut keep = match Keep::make(sys, &draft.keep, &shape.holder) {
            Ok(keep) => keep,
            Err(trouble) => return trouble.before_anything(),
        };
        match keep.lock(true) {
            Ok(()) => {}
            Err(NotLocked::Busy(who)) => {
                return refused(Reason::Busy, format!("Another operation is being run in '{}'; {who}.", keep.shown()));
            }
            Err(NotLocked::Failed(trouble)) => {
                keep.unmake();
                return trouble.before_anything();
            }
        }
        let outcome = self.locked(&keep, &shape, progress);
        if matches!(outcome, Outcome::Unchanged { .. } | Outcome::Cancelled | Outcome::Refused(_)) {
            keep.unmake();
        }
        outcome
    }

    fn locked(&mut self, keep: &Keep<'_, '_, H>, shape: &Shape, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        for earlier in recover::settle(keep, self.look, self.setting) {
            match earlier.became {
                Became::Finished | Became::RolledBack => self.told.push(earlier.text),
                Became::Newer => return refused(Reason::NewerJournal, earlier.text),
                Became::Left | Became::Busy => return refused(Reason::Unfinished, earlier.text),
            }
        }
        if let Err(refusal) = fresh::check_again(self.fresh) {
            return Outcome::Refused(refusal);
        }
        let draft = self.draft();
        match keep.sys.peek(&keep::record_of(&keep.path, &draft.name)) {
            Err(Errno::NOENT) => {}
            Ok(_) => return refused(Reason::Stale, format!("There is an operation {} in the history.", draft.name)),
            Err(error) => return at("look at", &keep::record_of(&keep.path, &draft.name))(error).before_anything(),
        }
        if let Some(state) = &self.setting.state
            && let Err(trouble) = keep::remember(keep.sys, state, &keep.path)
        {
            self.told.push(format!("Should this be interrupted, only a look at this save finds it again: {trouble}"));
        }
        let outcome = self.prepared(keep, shape, progress);
        // Where a journal is, it says what becomes of the stage.
        let untouched = matches!(outcome, Outcome::Unchanged { .. } | Outcome::Cancelled | Outcome::Refused(_));
        if untouched && matches!(keep.look(keep::JOURNAL), Ok(None)) {
            self.clear(keep, shape);
        } else if untouched {
            self.told.push(format!("'{}' is cleared at the next start.", shown_path(&keep::journal_of(&keep.path))));
        }
        outcome
    }

    /// Everything up to the journal.
    fn prepared(&mut self, keep: &Keep<'_, '_, H>, shape: &Shape, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let room = room_for(self.draft(), shape);
        let mut tried = ready(keep, shape, room, true);
        // A full disk: what is kept for the journal has room for a few folders as well.
        if tried.as_ref().is_err_and(Trouble::is_no_space) && keep.give_room(room) {
            tried = ready(keep, shape, room, false);
        }
        if let Err(trouble) = tried {
            return trouble.before_anything();
        }
        if shape.stages {
            match stage(self.fresh, self.cancel, progress) {
                Ok(staged) => self.tell_lost(&staged),
                Err(failure) => return failed_stage(&failure),
            }
        }
        if self.cancel.cancelled() {
            return Outcome::Cancelled;
        }
        let record = match self.record(keep, shape) {
            Ok(record) => record,
            Err(trouble) => return Outcome::Unchanged { why: trouble.to_string() },
        };
        let bytes = record.to_bytes();
        if Record::parse(&bytes).as_ref() != Ok(&record) {
            let why = record.check().err().unwrap_or_else(|| "it is larger than any operation".to_owned());
            return Outcome::Unchanged {
                why: format!("The plan could not be written into a journal: {}.", shown(&why)),
            };
        }
        let course = match Course::new(&record.moves) {
            Ok(course) => course,
            Err(why) => return Outcome::Unchanged { why: format!("The plan cannot be carried out: {why}.") },
        };
        if let Some(path) = course.left_in(&keep.child(keep::STAGE)) {
            let why = format!("The plan would leave '{}' in the stage, which is removed.", shown_path(path));
            return Outcome::Unchanged { why };
        }
        let mover = match Mover::new(keep, course) {
            Ok(mover) => mover,
            Err(trouble) => return Outcome::Unchanged { why: trouble.to_string() },
        };
        if let Err(refusal) = fresh::check_again(self.fresh) {
            return Outcome::Refused(refusal);
        }
        if let Some(server) = self.draft().traces.as_ref().map(|traces| (self.look)(traces, self.setting))
            && server.state == ServerState::Running
        {
            return refused(Reason::Running, format!("A server uses this save now. {}", server.reasons.join(" ")));
        }
        let locks = match self.draft().traces.as_ref().map(|traces| liveness::hold(traces, &record.moves)).transpose() {
            Ok(locks) => locks.unwrap_or_default(),
            Err(text) => return refused(Reason::Running, format!("A server uses this save now. {text}")),
        };
        self.journaled(keep, shape, &record, &bytes, mover, locks)
    }

    /// What the renames will find, looked at now.
    fn record(&self, keep: &Keep<'_, '_, H>, shape: &Shape) -> Result<Record, Trouble> {
        let mut now: BTreeMap<PathBuf, Option<Id>> = BTreeMap::new();
        let look = |now: &mut BTreeMap<PathBuf, Option<Id>>, path: &Path| -> Result<Option<Id>, Trouble> {
            if let Some(known) = now.get(path) {
                return Ok(*known);
            }
            let found = lies_at(keep, path)?;
            now.insert(path.to_path_buf(), found);
            Ok(found)
        };
        let mut moves = Vec::new();
        for rename in &shape.renames {
            match rename {
                Planned::Exchange { stage, live } => {
                    let (new, old) = (look(&mut now, stage)?, look(&mut now, live)?);
                    let new = new.ok_or_else(|| odd("exchange", stage, "it is not there"))?;
                    let old = old.ok_or_else(|| odd("exchange", live, "it is not there"))?;
                    now.insert(stage.clone(), Some(old));
                    now.insert(live.clone(), Some(new));
                    moves.push(Renamed::Exchange { stage: stage.clone(), live: live.clone(), new, old });
                }
                Planned::Rename { from, to } => {
                    let what = look(&mut now, from)?.ok_or_else(|| odd("rename", from, "it is not there"))?;
                    if look(&mut now, to)?.is_some() {
                        return Err(odd("rename", from, format!("there is already a '{}'", shown_path(to))));
                    }
                    now.insert(from.clone(), None);
                    now.insert(to.clone(), Some(what));
                    moves.push(Renamed::Rename { from: from.clone(), to: to.clone(), what });
                }
            }
        }
        Ok(record_of(self.draft(), self.setting, moves, shape.removes.clone()))
    }

    /// From the journal to the end. Nothing here waits for anybody, and no signal ends it.
    fn journaled(
        &mut self,
        keep: &Keep<'_, '_, H>,
        shape: &Shape,
        record: &Record,
        bytes: &[u8],
        mut mover: Mover<'_, '_, '_, H>,
        locks: Held,
    ) -> Outcome {
        let _held = crate::sys::hold_signals();
        if let Err(trouble) = keep.begin(bytes) {
            let _ = keep.drop_journal();
            let outcome = trouble.before_anything();
            return match outcome {
                // The keeping folder itself is good.
                Outcome::Refused(Refusal { reason: Reason::NoStage, text }) => Outcome::Unchanged { why: text },
                outcome => outcome,
            };
        }
        if let Err(trouble) = mover.on(0) {
            return self.stopped(keep, &mut mover, &trouble);
        }
        let end = Place::At(mover.course.len());
        match mover.locate() {
            Ok(place) if place == end => {}
            Ok(_) => return unfinished("What was put in its place is not there any more.", &mover),
            Err(trouble) => return unfinished(&trouble.to_string(), &mover),
        }
        self.told.extend_from_slice(&locks.told);
        // Our own would look like a server's.
        drop(locks);
        self.look_after();
        if let Err(trouble) = keep.finish(&record.name) {
            let left = vec![keep::journal_of(&keep.path)];
            let why = format!("{trouble} All renames are done; the next start writes it into the history.");
            return Outcome::CleanUpPending { left, why };
        }
        let mut left = Vec::new();
        let mut why = Vec::new();
        for path in record.removes.iter().map(|path| purging_of(path)) {
            if let Err(trouble) = recover::remove_in_recycle(keep, &path) {
                left.push(path);
                why.push(trouble.to_string());
            }
        }
        if left.is_empty()
            && let Err(trouble) = recover::remove_stage(keep, &record.name)
        {
            left.push(stage_of(&keep.path, &record.name));
            why.push(trouble.to_string());
        }
        recover::prune_recycle(keep, record);
        // For the next one; without it that one needs a disk that is not full.
        let _ = keep.reserve(room_for(self.draft(), shape), true);
        if left.is_empty() { Outcome::Done } else { Outcome::CleanUpPending { left, why: why.join(" ") } }
    }

    /// A rename failed, or could not be made durable.
    fn stopped(&mut self, keep: &Keep<'_, '_, H>, mover: &mut Mover<'_, '_, '_, H>, trouble: &Trouble) -> Outcome {
        if mover.locate().is_ok_and(|place| place == Place::At(mover.course.len())) {
            return unfinished(
                &format!("{trouble} Everything is in its place, but the disk did not confirm it."),
                mover,
            );
        }
        if let Err(second) = mover.back() {
            return unfinished(&format!("{trouble} Taking it back failed as well: {second}"), mover);
        }
        if let Err(second) = keep.drop_journal() {
            self.told.push(second.to_string());
        }
        Outcome::Unchanged { why: trouble.to_string() }
    }

    fn look_after(&mut self) {
        let Some(traces) = &self.draft().traces else { return };
        let server = (self.look)(traces, self.setting);
        if server.state == ServerState::Running {
            self.came_up = true;
            self.told.push(format!(
                "A server came up while this was done, and may have the earlier state in memory: what it saves next would be \
                 that. Stop it before it saves, then look whether to undo {}. {}",
                self.draft().name,
                server.reasons.join(" ")
            ));
        }
    }

    /// Removes what was made for an operation that does not happen.
    fn clear(&mut self, keep: &Keep<'_, '_, H>, shape: &Shape) {
        if let Err(trouble) = recover::remove_stage(keep, &self.draft().name) {
            self.told.push(format!("{trouble} The next start tries again."));
        }
        for folder in &shape.folders {
            let mut folder = folder.as_path();
            while folder != keep.path && folder.starts_with(&keep.path) {
                let (Some(parent), Some(name)) = (folder.parent(), folder.file_name().and_then(keep::one_name)) else {
                    break;
                };
                let removed =
                    keep.sys.direct(parent).and_then(|parent| keep.sys.unlink(parent, &name, AtFlags::REMOVEDIR));
                // One that could not even be made may lie in some that were.
                if !matches!(removed, Ok(()) | Err(Errno::NOENT)) {
                    break;
                }
                folder = parent;
            }
        }
    }

    fn tell_lost(&mut self, staged: &[Staged]) {
        for staged in staged {
            let Some(first) = staged.copied.lost.first() else { continue };
            let count = staged.copied.lost.len() as u64 + staged.copied.lost_more;
            self.told.push(format!(
                "{count} owners, modes or attributes could not be kept, the first of them at '{}'.",
                shown_path(&first.path)
            ));
        }
    }
}

fn unfinished<H: Hook>(why: &str, mover: &Mover<'_, '_, '_, H>) -> Outcome {
    Outcome::Unfinished { why: format!("{why} Now {}. Run `worldkeep recover`.", mover.lies()) }
}

fn failed_stage(failure: &Failure) -> Outcome {
    match failure.cause {
        Cause::Cancelled => Outcome::Cancelled,
        _ => Outcome::Unchanged { why: failure.to_string() },
    }
}

/// Makes the folders and takes the room for the journal.
fn ready<H: Hook>(keep: &Keep<'_, '_, H>, shape: &Shape, room: u64, spare: bool) -> Result<(), Trouble> {
    keep.reserve(room, spare)?;
    keep.ready_history()?;
    for folder in &shape.folders {
        keep.folders(folder)?;
    }
    Ok(())
}

/// At most so many bytes has the journal: that of the same operation with the longest numbers.
fn room_for(draft: &Draft, shape: &Shape) -> u64 {
    let most = (u64::MAX, u64::MAX);
    let moves = shape.renames.iter().map(|rename| match rename.clone() {
        Planned::Exchange { stage, live } => Renamed::Exchange { stage, live, new: most, old: most },
        Planned::Rename { from, to } => Renamed::Rename { from, to, what: most },
    });
    let record = Record {
        name: draft.name.clone(),
        operation: draft.operation,
        subject: draft.subject.clone(),
        at: jiff::Timestamp::MAX,
        keep: draft.keep.clone(),
        moves: moves.collect(),
        removes: shape.removes.clone(),
        undoes: draft.undoes.clone(),
        restored: draft.restored.clone(),
        done: draft.preview.done.clone(),
        traces: draft.traces.clone(),
    };
    record.to_bytes().len() as u64
}

fn record_of(draft: &Draft, setting: &Setting, moves: Vec<Renamed>, removes: Vec<PathBuf>) -> Record {
    Record {
        name: draft.name.clone(),
        operation: draft.operation,
        subject: draft.subject.clone(),
        at: setting.now,
        keep: draft.keep.clone(),
        moves,
        removes,
        undoes: draft.undoes.clone(),
        restored: draft.restored.clone(),
        done: draft.preview.done.clone(),
        traces: draft.traces.clone(),
    }
}

/// What lies at a path; a link is looked at itself.
fn lies_at<H: Hook>(keep: &Keep<'_, '_, H>, path: &Path) -> Result<Option<Id>, Trouble> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(keep::one_name)) else {
        return Err(odd("look at", path, "it is no name"));
    };
    let folder = match keep.sys.direct(parent) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(at("open", parent)(error)),
    };
    match keep.sys.stat_at(&folder, &name) {
        Ok(stat) => Ok(Some(Seen::from(stat).id())),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(at("look at", path)(error)),
    }
}
