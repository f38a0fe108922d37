//! `worldkeep show`: what is in a save, at L2.

use std::path::Path;

use super::detail::Detail;
use super::failure::{Exit, Failure};
use super::session::Session;
use super::target::{Resolved, resolve};
use super::{json, output, verify};

/// Shows what a target means. Damage does not change the exit status here: showing it worked.
pub(super) fn run(session: &Session, target: &Path) -> Result<Exit, Failure> {
    let resolved = resolve(session, &[target.to_path_buf()])?;
    let failed = resolved.tell_failures();
    session.tell_interrupted(&resolved.catalog);
    let Resolved { request, mut catalog, selection, .. } = resolved;
    for note in selection.notes.iter().filter(|_| !session.quiet) {
        output::complain(&format!("worldkeep: {note}\n"));
    }
    let progress = verify::Progress::new(session, selection.layers.len());
    session.check(&request, &mut catalog, &selection.layers, |number, id| progress.say(number, id))?;
    progress.end();
    let profiles = selection.prune(&catalog);
    let servers = session.servers(&profiles);
    let zone = &session.config.zone;
    let detail = Detail { look: session.look, now: session.config.clock.now(), zone, quiet: session.quiet };
    output::print(|out| {
        if session.json {
            return json::write_profiles(out, &profiles, &servers, zone);
        }
        let mut first = true;
        for profile in &profiles {
            detail.server(out, profile, servers.get(&profile.id))?;
            if selection.profiles.contains(&profile.id) {
                detail.findings(out, profile.findings.iter(), 0)?;
            }
            for world in &profile.worlds {
                if !std::mem::take(&mut first) {
                    writeln!(out)?;
                }
                detail.world(out, world)?;
                for layer in &world.layers {
                    writeln!(out)?;
                    detail.layer(out, layer, true)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(failed)
}
