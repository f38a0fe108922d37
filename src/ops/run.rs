//! Carries a plan out: lock, stage, journal, renames, journal gone.

use super::fresh::Fresh;
use super::setting::Setting;
use super::tree::Progress;
use crate::model::Cancel;
use crate::model::plan::{Outcome, Reason, Refusal};

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its name, for `undo` and the history.
    pub name: String,
    /// How.
    pub outcome: Outcome,
    /// What to tell besides: what could not be kept, a server that came up in between. Whole sentences, safe to print.
    pub told: Vec<String>,
    /// A server came up during the renames; swapping back is offered.
    pub server_came_up: bool,
}

/// Carries it out.
pub fn run(fresh: &Fresh, _setting: &Setting, _cancel: &Cancel, _progress: &mut dyn FnMut(Progress<'_>)) -> Done {
    let refusal = Refusal::new(Reason::Platform, "Not built yet.");
    Done {
        name: fresh.plan().content().name.clone(),
        outcome: Outcome::Refused(refusal),
        told: Vec::new(),
        server_came_up: false,
    }
}
