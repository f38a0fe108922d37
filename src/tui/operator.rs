//! Operations on threads of their own: plans that a newer one replaces, and one operation that always ends.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::dialog::{Agreed, Wish};
use super::runner::{Lane, guarded};
use super::state::Msg;
use crate::games;
use crate::model::outline::Ask;
use crate::model::plan::{Operation, Outcome, Plan, Proof, Reason, Refusal};
use crate::model::{Cancel, LayerKind, Profile, shown_path};
use crate::ops::ask::{self, Planned};
use crate::ops::run::Done;
use crate::ops::{Setting, history, recover};
use crate::scan::{self, Request};

/// How long between two messages about how far an operation is.
const BETWEEN: Duration = Duration::from_millis(250);

/// What operations know of the machine, but for the time.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) request: Arc<Request>,
    pub(super) setting: Setting,
}

impl Base {
    fn setting(&self) -> Setting {
        Setting { now: self.request.clock.now(), ..self.setting.clone() }
    }
}

/// Plans and carries out.
pub(super) struct Operator {
    base: Base,
    plans: Lane,
    stop: Cancel,
    running: Option<JoinHandle<()>>,
    recovery: Option<JoinHandle<()>>,
}

impl Operator {
    pub(super) fn new(base: Base) -> Self {
        Self { base, plans: Lane::new("plan"), stop: Cancel::new(), running: None, recovery: None }
    }

    /// What operations know of the machine now.
    pub(super) fn setting(&self) -> Setting {
        self.base.setting()
    }

    /// Plans; a newer wish replaces this one.
    pub(super) fn plan(&mut self, out: &Sender<Msg>, ticket: u64, wish: Wish) {
        let base = self.base.clone();
        let make = move |cancel: &Cancel| {
            let end = guarded(|| Msg::Planned { ticket, result: planned(&base, wish, cancel) });
            if let Msg::Failed(what) = end { Msg::Broken { ticket, what } } else { end }
        };
        self.plans.give(out, Box::new(make));
    }

    /// Nobody waits for a plan any more.
    pub(super) fn stop_plan(&self) {
        self.plans.stop();
    }

    /// Reads what was done; a newer wish replaces this one.
    pub(super) fn past(&mut self, out: &Sender<Msg>, roots: Vec<PathBuf>) {
        let base = self.base.clone();
        self.plans.give(
            out,
            Box::new(move |_| {
                let (entries, messages) = past(&roots, &base.setting());
                Msg::Past { entries, messages }
            }),
        );
    }

    /// Carries out what was agreed to, on a thread that the end of the program waits for.
    pub(super) fn perform(&mut self, out: &Sender<Msg>, ticket: u64, agreed: Vec<Agreed>) {
        self.wait();
        let (base, cancel, sender) = (self.base.clone(), self.stop.restart(), out.clone());
        let run = move || {
            // A failure here is told apart from one of a check or a map, which changes nothing about the operation.
            let end = guarded(|| Msg::Ended { ticket, ends: perform(&sender, ticket, agreed, &base, &cancel) });
            let _ = sender.send(if let Msg::Failed(what) = end { Msg::Broken { ticket, what } } else { end });
        };
        match Builder::new().name("operation".to_owned()).spawn(run) {
            Ok(handle) => self.running = Some(handle),
            Err(error) => {
                let what = format!("no thread for an operation: {error}");
                let _ = out.send(Msg::Broken { ticket, what });
            }
        }
    }

    /// Asks the operation to stop, which it does as long as the save is still what it was.
    pub(super) fn stop_operation(&self) {
        self.stop.stop();
    }

    /// Finishes or rolls back what an interrupted run left.
    pub(super) fn recover(&mut self, out: &Sender<Msg>) {
        let (base, sender) = (self.base.clone(), out.clone());
        let look = move || {
            let roots: Vec<PathBuf> = base.request.roots.iter().map(|root| root.path.clone()).collect();
            let _ = sender.send(guarded(|| {
                let keeps = ask::keeps_of(roots.iter().map(PathBuf::as_path));
                let found = recover::recover(&keeps, &base.setting());
                Msg::Recovered(found.into_iter().map(|found| found.text).collect())
            }));
        };
        match Builder::new().name("recovery".to_owned()).spawn(look) {
            Ok(handle) => self.recovery = Some(handle),
            Err(error) => {
                let _ = out.send(Msg::Failed(format!("no thread for a recovery: {error}")));
            }
        }
    }

    /// Waits for the end of what changes saves: it is never left in the middle.
    pub(super) fn wait(&mut self) {
        for handle in [self.recovery.take(), self.running.take()].into_iter().flatten() {
            let _ = handle.join();
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.wait();
    }
}

/// Plans a wish with what a complete check of both sides tells.
fn planned(base: &Base, wish: Wish, cancel: &Cancel) -> Result<Vec<Planned>, Refusal> {
    let setting = base.setting();
    match wish {
        Wish::Save { operation, mut profile, world, layer, name, into, with_layers, overwrite } => {
            check(base, operation, &mut profile, &world, layer.as_deref(), cancel);
            let gone = || Refusal::new(Reason::SourceGone, "What was chosen is not there any more.");
            let world = profile.worlds.iter().find(|there| there.id == world).ok_or_else(gone)?;
            let layer =
                layer.map(|id| world.layers.iter().find(|there| there.id == id).ok_or_else(gone)).transpose()?;
            let question = Ask {
                operation,
                profile: &profile,
                world,
                layer,
                into: into.as_deref(),
                name: name.as_deref(),
                with_layers,
                overwrite,
            };
            Ok(vec![ask::plan(&question, &base.request.context(cancel), &setting)?])
        }
        Wish::Several { each, .. } => {
            let mut all = Vec::new();
            for wish in each {
                all.extend(planned(base, wish, cancel)?);
            }
            Ok(all)
        }
        Wish::Undo { roots, name } => {
            let (entries, messages) = past(&roots, &setting);
            let entry = match &name {
                Some(name) => entries.iter().find(|entry| entry.record.name == *name),
                None => ask::last(&entries),
            };
            let Some(entry) = entry else {
                let text = "No operation is on record here that could be taken back.";
                let text = std::iter::once(text).chain(messages.iter().map(String::as_str)).collect::<Vec<_>>();
                return Err(Refusal::new(Reason::NothingToUndo, text.join(" ")));
            };
            Ok(vec![ask::undo(entry, &setting)?])
        }
        Wish::Purge { roots, name } => {
            let (mut entries, _) = past(&roots, &setting);
            entries.retain(|entry| name.as_ref().is_none_or(|name| entry.record.name == *name));
            ask::to_purge(&entries, None, &setting).iter().map(|group| ask::purge(group, &setting)).collect()
        }
    }
}

/// The operations in the keeping folders of these roots, newest first.
fn past(roots: &[PathBuf], setting: &Setting) -> (Vec<history::Entry>, Vec<String>) {
    let keeps = ask::keeps_of(roots.iter().map(PathBuf::as_path));
    let (mut entries, messages) = history::list(&keeps, setting);
    entries.retain(|entry| keeps.contains(&entry.record.keep));
    (entries, messages)
}

/// Checks the state that would be used and the live one that would go, completely.
fn check(base: &Base, operation: Operation, profile: &mut Profile, world: &str, layer: Option<&str>, cancel: &Cancel) {
    if operation == Operation::Delete {
        return;
    }
    let id = profile.game;
    let Some(world) = profile.worlds.iter_mut().find(|there| there.id == world) else { return };
    let live = layer.is_none() || operation == Operation::Restore;
    let meant: BTreeSet<String> = world
        .layers
        .iter()
        .filter(|there| Some(there.id.as_str()) == layer || (live && there.kind == LayerKind::Live))
        .map(|there| there.id.clone())
        .collect();
    for layer in world.layers.iter_mut().filter(|there| meant.contains(&there.id)) {
        let checked = scan::check(&base.request, id, layer, cancel);
        if cancel.cancelled() {
            return;
        }
        layer.apply(checked);
    }
    // A seed that only a complete check recovers can tell that a layer is of another world.
    if let Some(game) = games::by_id(id) {
        game.relate(world);
    }
}

/// The plan of a wish once more, if it does what was agreed to.
fn anew(base: &Base, wish: Wish, before: &Plan, cancel: &Cancel) -> Result<Plan, Refusal> {
    let again = planned(base, wish, cancel)?.pop();
    again
        .map(|again| again.plan)
        .filter(|plan| ask::same(plan, before))
        .ok_or_else(|| Refusal::new(Reason::Stale, "What would be done now differs from what was shown."))
}

/// Carries plans out one after the other, until one does not end well.
fn perform(out: &Sender<Msg>, ticket: u64, agreed: Vec<Agreed>, base: &Base, cancel: &Cancel) -> Vec<Done> {
    let setting = &base.setting();
    let mut ends = Vec::new();
    let mut before = 0;
    for (n, Agreed { mut plan, mut consent, again }) in agreed.into_iter().enumerate() {
        if n > 0
            && let Some(wish) = again
        {
            match anew(base, wish, &plan, cancel) {
                Ok(fresh) => {
                    // It does the same as the one that was on the screen, by another number.
                    if fresh.id() != plan.id() {
                        consent.proof = Proof::Yes;
                    }
                    plan = fresh;
                }
                Err(refusal) => {
                    let name = plan.content().name.clone();
                    let outcome = Outcome::Refused(refusal);
                    ends.push(Done { name, outcome, told: Vec::new(), server_came_up: false });
                    break;
                }
            }
        }
        let (name, bytes) = (plan.content().name.clone(), plan.content().bytes);
        let mut said: Option<Instant> = None;
        let done = match plan.confirm(&consent) {
            Ok(confirmed) => ask::perform(confirmed, setting, cancel, &mut |at| {
                if said.is_none_or(|said| said.elapsed() >= BETWEEN) {
                    said = Some(Instant::now());
                    let path = shown_path(at.path);
                    let _ = out.send(Msg::Progress { ticket, bytes: before + at.bytes, path });
                }
            }),
            Err(refusal) => Done { name, outcome: Outcome::Refused(refusal), told: Vec::new(), server_came_up: false },
        };
        before += bytes;
        let go_on = done.outcome == Outcome::Done && !done.server_came_up;
        tracing::info!(name = done.name, outcome = ?done.outcome, "operation");
        ends.push(done);
        if !go_on {
            break;
        }
    }
    ends
}
