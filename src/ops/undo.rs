//! Taking an operation back, as a plan like any other.

use super::history::Entry;
use super::setting::Setting;
use crate::model::plan::{Plan, Reason, Refusal};

/// The plan that takes an operation back. It renames only, so that a full disk is no obstacle, and can be taken back itself.
pub fn plan(_entry: &Entry, _setting: &Setting) -> Result<Plan, Refusal> {
    Err(Refusal::new(Reason::Platform, "Not built yet."))
}
