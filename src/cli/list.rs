//! `worldkeep list`: profiles, worlds and layers with their verdict at L1.

use std::path::PathBuf;

use super::failure::{Exit, Failure};
use super::session::Session;
use super::{json, output, tree};

/// Lists what there is. Damage does not change the exit status here: listing it worked.
pub(super) fn run(session: &Session, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let request = session.request(paths);
    let catalog = session.scan(&request)?;
    session.tell_interrupted(&catalog);
    let now = session.config.clock.now();
    let servers = session.servers(&catalog.profiles);
    output::print(|out| {
        if session.json {
            json::write_profiles(out, &catalog.profiles, &servers, &session.config.zone)
        } else {
            let text = tree::Tree { look: session.look, now, quiet: session.quiet, servers: &servers };
            text.write(out, &catalog.profiles)
        }
    })?;
    Ok(Session::tell_looked(&catalog))
}
