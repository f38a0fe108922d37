//! What the mount under a path is like.

use std::path::Path;

/// The kind of a mount that does not notify about every change, in words: changes on another machine, or in the
/// program behind a FUSE mount, come without an event.
#[cfg(target_os = "linux")]
pub(super) fn silent_mount(path: &Path) -> Option<&'static str> {
    // Magic numbers of statfs(2).
    match rustix::fs::statfs(path).ok()?.f_type {
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("SMB"),
        0x6573_5546 => Some("a FUSE mount"),
        0x0102_1997 => Some("a 9p mount"),
        0x00c3_6400 => Some("Ceph"),
        _ => None,
    }
}

/// The kind of a mount that does not notify about every change; elsewhere it is not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn silent_mount(_path: &Path) -> Option<&'static str> {
    None
}
