use std::path::PathBuf;

use jiff::Timestamp;

use super::Severity;

/// Whether a server uses a save; the words of JSON's `server.state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerState {
    /// It does.
    Running,
    /// It does not: everything that could tell was able to look.
    Stopped,
    /// It could not be told.
    #[default]
    Unknown,
}

impl ServerState {
    /// The word used in JSON and shown to a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// What was seen of a server of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Whether it uses the save.
    pub state: ServerState,
    /// Why that is so, in whole sentences, safe to print: which process holds what, or what could not be looked at.
    pub reasons: Vec<String>,
    /// What would start it again, each with the command that stops it, safe to print.
    pub restarts: Vec<String>,
    /// When that was looked at.
    pub at: Timestamp,
}

/// Where the output of a server can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLog {
    /// A file that the server, or what started it, appends to; it may be rotated or cut.
    File(PathBuf),
    /// A program with its arguments that prints the output and goes on, such as `journalctl -fu NAME`. Run without a
    /// shell, and only when somebody looks.
    Command(Vec<String>),
}

/// What a line of a server's output says about its saves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// What it says, for scripts: a closed list in each game, such as `old-format-loaded`.
    pub event: &'static str,
    /// How bad that is.
    pub severity: Severity,
    /// The world, where the line names it. Untrusted.
    pub world: Option<String>,
    /// The generation, where the line names it.
    pub generation: Option<u64>,
    /// The number of objects, where the line names it.
    pub objects: Option<u64>,
    /// In whole sentences, safe to print, with the next step where there is one.
    pub text: String,
}
