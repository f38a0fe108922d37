use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What operations know of the machine; made up in tests.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The moment that counts as now.
    pub now: Timestamp,
    /// The zone of the machine's wall clock, for stamps in names.
    pub zone: TimeZone,
    /// The folder of this program's state, `$XDG_STATE_HOME/worldkeep`: it remembers where keeping folders are. None when
    /// there is no home.
    pub state: Option<PathBuf>,
    /// Where the system tells of processes: `/proc`.
    pub proc: PathBuf,
    /// Changes are switched off: everything refuses, and recovery only tells.
    pub read_only: bool,
}
