//! `worldkeep config`: the configuration in force.

use super::failure::{Exit, Failure};
use super::session::Session;
use super::{output, safe_json};
use crate::config::effective;

/// Prints every value in force and where it came from: as a configuration file, or as JSON.
pub(super) fn run(session: &Session) -> Result<Exit, Failure> {
    output::print(|out| {
        if session.json {
            safe_json::write(out, &session.config.to_json())
        } else {
            out.write_all(effective(&session.config).as_bytes())
        }
    })?;
    Ok(Exit::Done)
}
