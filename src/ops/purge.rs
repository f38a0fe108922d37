//! Emptying the recycle folder for good, as a plan like any other.

use super::history::Entry;
use super::setting::Setting;
use crate::model::plan::{Plan, Reason, Refusal};

/// The plan that removes what these operations parked, all of one keeping folder, for good.
pub fn plan(_entries: &[Entry], _setting: &Setting) -> Result<Plan, Refusal> {
    Err(Refusal::new(Reason::Platform, "Not built yet."))
}
