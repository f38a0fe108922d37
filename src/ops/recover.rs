//! What an interrupted run left is finished or rolled back.

#[cfg(target_os = "linux")]
mod settle;

use std::path::PathBuf;

use super::setting::Setting;

#[cfg(target_os = "linux")]
pub use settle::recover_with;
#[cfg(target_os = "linux")]
pub(super) use settle::{prune_recycle, remove_in_recycle, remove_stage, settle};

/// What became of an interrupted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// Its renames were finished; the new state is in its place.
    Finished,
    /// Nothing had been renamed; its stage was removed.
    RolledBack,
    /// It could not be finished by itself; the journal is there.
    Left,
    /// It is of a newer version, and was left alone.
    Newer,
    /// Another worldkeep is at work there.
    Busy,
}

/// One interrupted operation that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The keeping folder.
    pub keep: PathBuf,
    /// What became of it.
    pub became: Became,
    /// In whole sentences, safe to print: what it was, what is where now, what to do.
    pub text: String,
}

/// Looks for interrupted operations in these keeping folders and in those that the state folder remembers, and finishes
/// them or rolls them back. Without any it costs a look at two names a folder, and one at
/// each operation of which something is kept. Safe to be interrupted itself.
#[cfg(target_os = "linux")]
pub fn recover(keeps: &[PathBuf], setting: &Setting) -> Vec<Recovered> {
    recover_with(&super::tree::calls::Direct, &super::liveness::look, keeps, setting)
}

/// Nothing is begun on this system, so that there is nothing to finish.
#[cfg(not(target_os = "linux"))]
pub fn recover(_keeps: &[PathBuf], _setting: &Setting) -> Vec<Recovered> {
    Vec::new()
}
