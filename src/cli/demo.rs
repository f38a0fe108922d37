//! `--demo`: made-up saves to look around in.

use std::path::PathBuf;

use super::failure::{Exit, Failure};
use super::output;
use super::session::Session;
use crate::demo;
use crate::model::shown_path;

/// Unpacks the demo saves, or finds them in the folder, and makes the session look at nothing else.
pub(super) fn prepare(session: &mut Session, dir: Option<PathBuf>) -> Result<(), Failure> {
    let (now, zone) = (session.config.clock.now(), &session.config.zone);
    let made = match &dir {
        Some(dir) => demo::unpack(&session.env.expand(dir, session.env.current_dir.as_deref()), now, zone),
        None => demo::temporary(now, zone),
    };
    let demo = made.map_err(|error| {
        Failure::new(Exit::Damaged, format!("The demo saves could not be made: {error}"))
            .hint("Name an empty folder: worldkeep --demo=DIR.")
    })?;
    if demo.fresh && !session.quiet {
        output::complain(&format!(
            "worldkeep: The demo saves are in {}; delete them when you like.\n",
            shown_path(&demo.root)
        ));
    }
    session.demo = Some(demo.root);
    Ok(())
}
