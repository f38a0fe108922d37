//! `--demo`: made-up saves to look around in.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::failure::{Exit, Failure};
use super::output;
use super::session::Session;
use crate::model::shown_path;

/// Writes the demo saves into a folder, or into a new temporary one, or finds them there; the ages of the saves count
/// from a moment in a zone. The caller brings it, since the commands themselves never write.
pub type UnpackDemo = fn(Option<&Path>, Timestamp, &TimeZone) -> io::Result<DemoSaves>;

/// Where the demo saves lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoSaves {
    /// The folder to look at.
    pub root: PathBuf,
    /// They were written just now.
    pub fresh: bool,
}

/// Unpacks the demo saves, or finds them in the folder, and makes the session look at nothing else.
pub(super) fn prepare(session: &mut Session, dir: Option<PathBuf>, unpack: UnpackDemo) -> Result<(), Failure> {
    let dir = dir.map(|dir| session.env.expand(&dir, session.env.current_dir.as_deref()));
    let made = unpack(dir.as_deref(), session.config.clock.now(), &session.config.zone).map_err(|error| {
        Failure::new(Exit::Damaged, format!("The demo saves could not be made: {error}"))
            .hint("Name an empty folder: worldkeep --demo=DIR.")
    })?;
    if made.fresh && !session.quiet {
        let root = shown_path(&made.root);
        output::complain(&format!("worldkeep: The demo saves are in {root}; delete them when you like.\n"));
    }
    session.demo = Some(made.root);
    Ok(())
}
