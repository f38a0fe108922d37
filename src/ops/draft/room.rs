//! Whether it fits.

use rustix::fs::statvfs;

use super::places::Places;
use super::sources::Sources;
use crate::model::human;
use crate::model::plan::{Reason, Refusal, Space};
use crate::model::shown_path;

/// The journal, and the folders of the keeping folder.
const OWN_ROOM: u64 = 256 << 10;
const OWN_ENTRIES: u64 = 16;

/// At most so much is left for the server, so that it can save after us; less on a small file system.
const FLOOR: u64 = 1 << 30;
const FLOOR_PART: u64 = 20;

/// The space that is needed, or a refusal when there is less. Renames alone need none.
pub(super) fn check(sources: &Sources, places: &Places) -> Result<Space, Refusal> {
    let on = places.top.clone();
    if sources.entries == 0 {
        return Ok(Space { on, bytes: 0 });
    }
    let shown = shown_path(&on);
    let stat = statvfs(&on).map_err(|error| {
        let text = format!("The free space of '{shown}' could not be asked for: {}.", std::io::Error::from(error));
        Refusal::new(Reason::NoSpace, text)
    })?;
    let unit = if stat.f_frsize > 0 { stat.f_frsize } else { stat.f_bsize };
    let floor = FLOOR.min(stat.f_blocks.saturating_mul(unit) / FLOOR_PART);
    let new = sources.room.saturating_add(OWN_ROOM);
    let needed = new.saturating_add(floor);
    // Some network and user-space file systems do not tell how large they are.
    let known = stat.f_blocks > 0 && unit > 0;
    // What is kept for root is no room: the server is not root.
    let free = stat.f_bavail.saturating_mul(unit);
    if known && free < needed {
        let text = format!(
            "There is too little free space on '{shown}': {} are free, and {} are needed ({} for the new state, and {} left for \
             the server), so {} are missing.",
            human::size(free),
            human::size(needed),
            human::size(new),
            human::size(floor),
            human::size(needed - free)
        );
        return Err(Refusal::new(Reason::NoSpace, text));
    }
    let entries = sources.entries.saturating_add(OWN_ENTRIES);
    // Without a number there is no limit.
    if stat.f_files > 0 && stat.f_favail < entries {
        let text = format!(
            "The file system of '{shown}' has room for {} more files and folders, and {entries} are needed.",
            stat.f_favail
        );
        return Err(Refusal::new(Reason::NoSpace, text));
    }
    Ok(Space { on, bytes: if known { needed } else { new } })
}
