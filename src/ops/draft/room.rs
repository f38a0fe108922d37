//! Whether it fits.

use rustix::fs::{FsWord, statfs, statvfs};

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
    let room = if keeps_holes(statfs(&on).map_or(0, |stat| stat.f_type)) {
        sources.room
    } else {
        sources.room.max(sources.filled)
    };
    let new = room.saturating_add(OWN_ROOM);
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

/// Whether a file system is known to have holes, by its number in `man 2 statfs`: ext4, xfs, btrfs, f2fs, tmpfs, ZFS, bcachefs. What
/// lies behind an overlay or a network is not known.
fn keeps_holes(kind: FsWord) -> bool {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "all of them have 32 bits")]
    let kind = kind as u32;
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x2fc1_2fc1, 0xca45_1a4e].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::keeps_holes;

    #[test]
    fn only_what_is_known_to_have_holes_needs_no_room_for_them() {
        assert!([0xef53, 0x5846_5342, 0x0102_1994].into_iter().all(keeps_holes));
        // FAT, exFAT, FUSE, NFS, an overlay, and what could not be asked.
        assert!(![0x4d44, 0x2011_bab0, 0x6573_5546, 0x6969, 0x794c_7630, 0].into_iter().any(keeps_holes));
    }
}
