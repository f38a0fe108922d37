//! The new states of a plan: made, made durable, and proved.
//!
//! What is made is equal to its source except exactly in what the plan says: the bytes of what is written into it, the owner
//! it is dressed with, and the modes that follow from that. The proof reads source and stage again and finds everything
//! else by itself.

#[cfg(target_os = "linux")]
mod dress;
#[cfg(target_os = "linux")]
pub(super) mod durable;
#[cfg(target_os = "linux")]
mod part;
#[cfg(target_os = "linux")]
mod prove;
#[cfg(target_os = "linux")]
mod write;

use std::path::PathBuf;

use super::Failure;
use super::compare::Comparison;
use super::fresh::Fresh;
use super::tree::{Copied, Progress};
use crate::model::Cancel;

#[cfg(target_os = "linux")]
pub use part::stage_with;

/// A new state that is complete, durable and proved.
#[derive(Debug)]
pub struct Staged {
    /// The stage.
    pub stage: PathBuf,
    /// What was made, and what could not be kept.
    pub copied: Copied,
    /// What the proof looked at. Its differences are those that [`Copied::lost`] had said, and no others.
    pub proof: Comparison,
}

/// Makes everything that a plan stages, in its order: copies, what is unpacked, what is written into it, owners and modes. Then
/// proves each. When anything fails, all of it is removed again, and the failure is that of the first.
#[cfg(target_os = "linux")]
pub fn stage(fresh: &Fresh, cancel: &Cancel, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Vec<Staged>, Failure> {
    stage_with(&super::tree::calls::Direct, fresh, cancel, progress)
}

/// Refuses: operations are not proven on this system.
#[cfg(not(target_os = "linux"))]
pub fn stage(fresh: &Fresh, _: &Cancel, _: &mut dyn FnMut(Progress<'_>)) -> Result<Vec<Staged>, Failure> {
    match super::Root::open(&fresh.plan().content().keep)? {}
}
