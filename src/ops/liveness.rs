//! Whether a server uses a save: running, stopped, or unknown with the reasons.

use super::setting::Setting;
use crate::model::outline::Traces;
use crate::model::{Server, ServerState};

/// Looks. Nothing is locked, opened for writing or changed.
pub fn look(_traces: &Traces, setting: &Setting) -> Server {
    Server {
        state: ServerState::Unknown,
        reasons: vec!["Not built yet.".to_owned()],
        restarts: Vec::new(),
        at: setting.now,
    }
}
