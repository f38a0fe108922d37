//! Carries a plan out: lock, stage, journal, renames, journal gone.

#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod shape;

use super::fresh::Fresh;
use super::setting::Setting;
use super::tree::Progress;
use crate::model::outline::Traces;
use crate::model::plan::Outcome;
use crate::model::{Cancel, Server};

#[cfg(target_os = "linux")]
pub use engine::run_with;

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

/// How it is found out whether a server uses a save: `liveness::look`, or what a test makes up.
pub type Look<'l> = dyn Fn(&Traces, &Setting) -> Server + 'l;

/// Carries it out.
///
/// Until the journal is written, a failure or a wish to stop leaves the save what it was, and everything that was made is
/// removed. From there on signals are held off; a failed rename is taken back, and what can be neither finished nor
/// taken back is left to `recover`, which finds out by inode how far it is.
#[cfg(target_os = "linux")]
pub fn run(fresh: &Fresh, setting: &Setting, cancel: &Cancel, progress: &mut dyn FnMut(Progress<'_>)) -> Done {
    run_with(&super::tree::calls::Direct, &super::liveness::look, fresh, setting, cancel, progress)
}

/// Refuses: operations are not proven on this system.
#[cfg(not(target_os = "linux"))]
pub fn run(fresh: &Fresh, _setting: &Setting, _cancel: &Cancel, _progress: &mut dyn FnMut(Progress<'_>)) -> Done {
    use crate::model::plan::{Reason, Refusal};
    Done {
        name: fresh.plan().content().name.clone(),
        outcome: Outcome::Refused(Refusal::new(Reason::Platform, "Operations are not proven on this system.")),
        told: Vec::new(),
        server_came_up: false,
    }
}
