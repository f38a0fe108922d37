//! An outline becomes a plan: where it is staged, what is parked where, and whether it can be done here at all.

use super::setting::Setting;
use crate::model::Server;
use crate::model::outline::Outline;
use crate::model::plan::{Plan, Reason, Refusal};

/// The plan, or why it cannot be carried out here. Looks at the disk and changes nothing.
pub fn draft(_outline: Outline, _server: Option<&Server>, _setting: &Setting) -> Result<Plan, Refusal> {
    Err(Refusal::new(Reason::Platform, "Not built yet."))
}
