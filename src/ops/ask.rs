//! From a question to a plan, and from a confirmed plan to its end: what the command line and the browser call.

use super::run::Done;
use super::setting::Setting;
use super::tree::Progress;
use super::{draft, fresh, liveness, run};
use crate::games::{self, Context};
use crate::model::outline::Ask;
use crate::model::plan::{Confirmed, Outcome, Plan, Reason, Refusal};
use crate::model::{Cancel, Server};

/// What would be done, and what was seen of a server.
#[derive(Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The server; none when none can be concerned.
    pub server: Option<Server>,
}

/// Plans.
pub fn plan(ask: &Ask<'_>, context: &Context, setting: &Setting) -> Result<Planned, Refusal> {
    if setting.read_only {
        return Err(Refusal::new(Reason::ReadOnly, "Changes are switched off."));
    }
    let Some(game) = games::by_id(ask.profile.game) else {
        return Err(Refusal::new(Reason::NotSupported, "The game of this save is not known."));
    };
    let outline = game.plan(ask, context)?;
    let server = outline.traces.as_ref().map(|traces| liveness::look(traces, setting));
    let plan = draft::draft(outline, server.as_ref(), setting)?;
    Ok(Planned { plan, server })
}

/// Carries a confirmed plan out.
pub fn perform(
    confirmed: Confirmed,
    setting: &Setting,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Done {
    let name = confirmed.plan().content().name.clone();
    match fresh::check(confirmed) {
        Ok(fresh) => run::run(&fresh, setting, cancel, progress),
        Err(refusal) => Done { name, outcome: Outcome::Refused(refusal), told: Vec::new(), server_came_up: false },
    }
}
