//! Whether a server uses a save: running, stopped, or unknown with the reasons.
//!
//! ```text
//! Traces -> locks asked about, never taken      -> Running
//!        -> open files of any process below it  -> Running
//!        -> programs that name its folder       -> Running
//!        -> a save that landed a moment ago     -> Running
//!        -> something we cannot look into that could be its server -> Unknown
//!        -> otherwise                                              -> Stopped
//! ```
//!
//! What cannot be seen makes it unknown only where something that is there could be this game's server: an admin who is
//! not root would otherwise have to accept the same warning every time, and would soon accept it without reading.

#[cfg(target_os = "linux")]
mod hold;
#[cfg(target_os = "linux")]
mod locks;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod targets;

#[cfg(target_os = "linux")]
pub use hold::{Held, hold};

use super::setting::Setting;
use crate::model::outline::Traces;
use crate::model::{Server, ServerState};

/// A save that landed less than this many seconds ago was written by something that may still be there.
const JUST_LANDED: i64 = 60;

/// A save that is dated up to this many seconds after the moment that counts as now landed while somebody was asked; what
/// lies further ahead has a wrong date.
const SINCE_ASKED: i64 = 3600;

/// Looks. Nothing is locked, opened for writing or changed.
#[cfg(target_os = "linux")]
pub fn look(traces: &Traces, setting: &Setting) -> Server {
    let mut seen = Seen::default();
    let targets = targets::Targets::of(traces);
    let mounts = mounts::Mounts::of(&setting.proc.join("self"));
    locks::ask(traces, &targets, mounts.renumbers(&traces.root), setting, &mut seen);
    process::scan(traces, &targets, &mounts, setting, &mut seen);
    if let Some(reason) = landed(traces, setting) {
        seen.running.push(reason);
    }
    if let Some(since) = seen.since {
        seen.running.extend(silent(traces, setting, since));
    }
    if let Some(kind) = mounts.network(&traces.root) {
        seen.unknown.push(format!(
            "The save lies on a network file system ({kind}); whether a server runs on another machine cannot be seen from here."
        ));
    }
    seen.answer(setting)
}

/// Does not look: where processes cannot be read as on Linux, nothing can be told.
#[cfg(not(target_os = "linux"))]
pub fn look(_traces: &Traces, setting: &Setting) -> Server {
    Server {
        state: ServerState::Unknown,
        reasons: vec!["Whether a server runs is looked at on Linux only.".to_owned()],
        restarts: Vec::new(),
        at: setting.now,
    }
}

/// What was seen, on its way to an answer.
#[derive(Debug, Default)]
struct Seen {
    /// What shows that a server runs.
    running: Vec<String>,
    /// What could be one and could not be looked into.
    unknown: Vec<String>,
    /// What would start it again.
    restarts: Vec<String>,
    /// When the oldest server on this save was started.
    since: Option<jiff::Timestamp>,
}

impl Seen {
    fn answer(mut self, setting: &Setting) -> Server {
        let (state, mut reasons) = if !self.running.is_empty() {
            (ServerState::Running, self.running)
        } else if !self.unknown.is_empty() {
            (ServerState::Unknown, self.unknown)
        } else {
            let nothing = "No process names its folder, holds a file of it open, or holds a lock on it.".to_owned();
            (ServerState::Stopped, vec![nothing])
        };
        reasons.dedup();
        self.restarts.sort();
        self.restarts.dedup();
        Server { state, reasons, restarts: self.restarts, at: setting.now }
    }
}

/// How long a server may run before its first save is missed, in seconds. The game saves every twenty to thirty minutes.
const SILENT: i64 = 3600;

/// What to know of a server that has run for long and has not saved since: its saves may fail in silence.
fn silent(traces: &Traces, setting: &Setting, since: jiff::Timestamp) -> Option<String> {
    let times = traces
        .recent
        .iter()
        .filter_map(|path| jiff::Timestamp::try_from(std::fs::symlink_metadata(path).ok()?.modified().ok()?).ok());
    let newest = times.max()?;
    let runs = setting.now.as_second() - since.as_second();
    (runs >= SILENT && newest < since).then(|| {
        format!(
            "It has run for {}, and no save has landed since: the newest here is {} old. Look at its log, and whether it may \
             write into this folder, before you stop it.",
            crate::model::human::age(setting.now, since),
            crate::model::human::age(setting.now, newest)
        )
    })
}

/// The file of the newest save, where it has only just landed.
fn landed(traces: &Traces, setting: &Setting) -> Option<String> {
    let ages = traces.recent.iter().filter_map(|path| {
        let written = jiff::Timestamp::try_from(std::fs::symlink_metadata(path).ok()?.modified().ok()?).ok()?;
        let age = setting.now.as_second() - written.as_second();
        (-SINCE_ASKED..JUST_LANDED).contains(&age).then_some((age, path))
    });
    let (age, path) = ages.min()?;
    let when = if age < 0 { "since this was asked".to_owned() } else { format!("{age} seconds ago") };
    Some(format!(
        "A save landed {when} ('{}'). If the server is stopped, ask again when a minute has passed.",
        crate::model::shown_path(path)
    ))
}
