//! What was done, and what can be taken back.

use std::path::PathBuf;

use super::record::Record;
use super::setting::Setting;

/// One operation of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was.
    pub record: Record,
    /// Bytes of what it parked, as far as it is still there.
    pub parked_bytes: u64,
    /// What an undo would do, in one sentence, or why there is none.
    pub undo: Result<String, String>,
    /// The operation that took it back.
    pub undone_by: Option<String>,
}

/// All operations in these keeping folders and in those that the state folder remembers, newest first. What could not be
/// read comes as sentences.
pub fn list(_keeps: &[PathBuf], _setting: &Setting) -> (Vec<Entry>, Vec<String>) {
    (Vec::new(), Vec::new())
}
