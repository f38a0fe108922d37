//! The commands that change saves, or tell what was changed: planned, shown, agreed to, carried out.
//!
//! ```text
//! Job --plan--> Planned | Refusal --shown, agreed to--> ops::ask::perform --> Done
//! ```
//!
//! What is printed is the very plan that is carried out. Several targets are one question and a plan each; one that is
//! refused keeps all of them from being begun.

mod asks;
mod consent;
mod document;
mod past;
mod progress;
mod text;

use std::path::PathBuf;

use super::args::Agree;
use super::failure::{Exit, Failure};
use super::output;
use super::session::Session;
use crate::model::plan::{Outcome, Plan, Reason, Refusal};
use crate::model::{Cancel, shown};
use crate::ops::Setting;
use crate::ops::ask::{self, Planned};
use crate::ops::recover::{Recovered, recover as recover_keeps};
use crate::ops::run::Done;

pub(super) use asks::{CopyTo, backup, copy, delete, rename, restore};
pub(super) use past::{history, purge, recover, undo};

/// Why there is no plan.
enum Stop {
    /// What was asked for could not be found, or was no question.
    Failed(Failure),
    /// It is refused.
    Refused(Refusal),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// One plan to be made, and made anew when one before it has changed the disk.
struct Job<'j> {
    /// What the person named, for the result.
    target: String,
    plan: Box<dyn Fn() -> Result<Planned, Stop> + 'j>,
}

/// What became of one job.
struct Item {
    target: String,
    /// None when it was refused before there was a plan.
    planned: Option<Planned>,
    /// None when it was not begun, without being at fault itself.
    done: Option<Done>,
}

impl Item {
    fn refused(target: String, planned: Option<Planned>, refusal: Refusal) -> Self {
        let name = planned.as_ref().map(|planned| planned.plan.content().name.clone()).unwrap_or_default();
        Self { target, planned, done: Some(refused(name, refusal)) }
    }
}

fn refused(name: String, refusal: Refusal) -> Done {
    Done { name, outcome: Outcome::Refused(refusal), told: Vec::new(), server_came_up: false }
}

/// What was found interrupted before anything else, and told.
fn recovered(session: &Session, keeps: &[PathBuf], setting: &Setting) -> Vec<Recovered> {
    let found = recover_keeps(keeps, setting);
    for found in &found {
        output::complain(&format!("worldkeep: {}\n", shown(&found.text)));
    }
    tracing::debug!(found = found.len(), quiet = session.quiet, "looked for interrupted operations");
    found
}

/// Refuses a verb that changes something while changes are switched off.
fn refuse_read_only(setting: &Setting) -> Option<Refusal> {
    setting.read_only.then(|| Refusal::new(Reason::ReadOnly, "Changes are switched off."))
}

/// Plans every job, shows the plans, asks, carries them out, and tells the results.
fn carry_out(session: &Session, agree: &Agree, jobs: &[Job<'_>], found: &[Recovered]) -> Result<Exit, Failure> {
    let setting = session.setting();
    let mut items = Vec::new();
    for job in jobs {
        let item = match refuse_read_only(&setting).map_or_else(|| (job.plan)(), |refusal| Err(refusal.into())) {
            Ok(planned) => Item { target: job.target.clone(), planned: Some(planned), done: None },
            Err(Stop::Failed(failure)) => return Err(failure),
            Err(Stop::Refused(refusal)) => Item::refused(job.target.clone(), None, refusal),
        };
        items.push(item);
    }
    text::plans(session, &items)?;
    if !agree.dry_run && items.iter().all(|item| item.done.is_none()) {
        match consent::of(session, agree, &items) {
            Ok(consents) => perform(session, &setting, jobs, &mut items, &consents),
            // Whoever is asked and says no has done nothing wrong, but nothing was done either.
            Err((at, refusal)) => {
                if let Some(item) = items.get_mut(at) {
                    let name = item.planned.as_ref().map(|planned| planned.plan.content().name.clone());
                    item.done = Some(refused(name.unwrap_or_default(), refusal));
                }
            }
        }
    }
    finish(session, agree.dry_run, &items, found)
}

fn perform(
    session: &Session,
    setting: &Setting,
    jobs: &[Job<'_>],
    items: &mut [Item],
    consents: &[crate::model::plan::Consent],
) {
    let (cancel, interrupt) = session.stop();
    interrupt.be_patient(cancel);
    let several = items.len() > 1;
    for (n, ((item, job), consent)) in items.iter_mut().zip(jobs).zip(consents).enumerate() {
        let Some(planned) = &item.planned else { continue };
        let mut plan = planned.plan.clone();
        let mut consent = consent.clone();
        if n > 0 {
            match anew(job, &plan) {
                Ok(again) => {
                    if again.id() != plan.id() {
                        consent.proof = crate::model::plan::Proof::Yes;
                    }
                    plan = again;
                }
                Err(refusal) => {
                    item.done = Some(refused(plan.content().name.clone(), refusal));
                    break;
                }
            }
        }
        let done = one(session, setting, plan, &consent, cancel);
        let go_on = matches!(done.outcome, Outcome::Done);
        item.done = Some(done);
        if several && !go_on {
            break;
        }
    }
}

fn one(
    session: &Session,
    setting: &Setting,
    plan: Plan,
    consent: &crate::model::plan::Consent,
    cancel: &Cancel,
) -> Done {
    let name = plan.content().name.clone();
    let mut progress = progress::Line::new(session, plan.content());
    let done = match plan.confirm(consent) {
        Ok(confirmed) => ask::perform(confirmed, setting, cancel, &mut |at| progress.say(at)),
        Err(refusal) => refused(name, refusal),
    };
    progress.end();
    tracing::info!(name = done.name, outcome = ?done.outcome, "operation");
    done
}

/// The plan once more after others before it have changed the disk: the same but for what follows from that.
fn anew(job: &Job<'_>, before: &Plan) -> Result<Plan, Refusal> {
    match (job.plan)() {
        Ok(again) if ask::same(&again.plan, before) => Ok(again.plan),
        Ok(_) => Err(Refusal::new(Reason::Stale, "What would be done now differs from what was shown.")),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Failed(failure)) => Err(Refusal::new(Reason::SourceGone, failure.text)),
    }
}

/// Prints the results, or the document, and says how it ended.
fn finish(session: &Session, dry: bool, items: &[Item], found: &[Recovered]) -> Result<Exit, Failure> {
    if session.json {
        output::print(|out| document::write_operations(out, items, found, &session.config.zone))?;
        text::told(items);
    } else {
        text::results(session, dry, items)?;
    }
    let exit = items.iter().filter_map(|item| item.done.as_ref()).map(|done| exit_of(&done.outcome));
    Ok(exit.fold(Exit::Done, Exit::worse))
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Done => Exit::Done,
        Outcome::CleanUpPending { .. } => Exit::CleanUpPending,
        Outcome::Unchanged { .. } | Outcome::Unfinished { .. } => Exit::Damaged,
        Outcome::Cancelled => Exit::Interrupted,
        Outcome::Refused(_) => Exit::Refused,
    }
}
