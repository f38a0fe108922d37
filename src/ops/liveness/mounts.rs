//! Where a path lies in its file system: the same for a process that sees it under another name.

use std::path::{Path, PathBuf};

/// File systems whose files may be used by another machine.
const NETWORK: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "lustre",
];

/// One line of a table of mounts.
#[derive(PartialEq, Eq)]
struct Mount {
    /// `major:minor`.
    device: String,
    /// The folder of the file system that is mounted.
    root: PathBuf,
    /// Where.
    point: PathBuf,
    kind: String,
}

/// The mounts that a process sees.
pub(super) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads them; empty where that is not allowed.
    pub(super) fn of(process: &Path) -> Self {
        let text = std::fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        Self(text.lines().filter_map(read_line).collect())
    }

    /// True when another process sees the same mounts, and so means the same by a path.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        !self.0.is_empty() && self.0 == other.0
    }

    /// True for a file system whose files have other devices than the kernel's table of locks says.
    pub(super) fn renumbers(&self, path: &Path) -> bool {
        self.around(path).is_some_and(|mount| mount.kind == "btrfs")
    }

    fn around(&self, path: &Path) -> Option<&Mount> {
        // Of two mounts on one point, the later one is seen.
        self.0
            .iter()
            .rev()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count())
    }

    /// The device, and the path in its file system.
    pub(super) fn place(&self, path: &Path) -> Option<(String, PathBuf)> {
        let mount = self.around(path)?;
        Some((mount.device.clone(), mount.root.join(path.strip_prefix(&mount.point).ok()?)))
    }

    /// True when some mount shows a place of a file system, or a part of what is below it.
    pub(super) fn show(&self, (device, place): &(String, PathBuf)) -> bool {
        self.0
            .iter()
            .any(|mount| mount.device == *device && (place.starts_with(&mount.root) || mount.root.starts_with(place)))
    }

    /// The kind of a network file system that a path lies on.
    pub(super) fn network(&self, path: &Path) -> Option<&str> {
        self.around(path).map(|mount| mount.kind.as_str()).filter(|kind| NETWORK.contains(kind))
    }

    /// True when the files of a path may be the same as others that do not look so: FUSE and overlays.
    pub(super) fn doubled(&self, path: &Path) -> bool {
        self.around(path).is_some_and(|mount| mount.kind.starts_with("fuse") || mount.kind == "overlay")
    }

    /// True when a path lies on a part of a file system that was mounted there, as a volume of a container is.
    pub(super) fn is_volume(&self, path: &Path) -> bool {
        self.around(path).is_some_and(|mount| mount.root != Path::new("/") && mount.point != Path::new("/"))
    }
}

fn read_line(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut words = front.split(' ').skip(2);
    let device = words.next()?.to_owned();
    let root = unescape(words.next()?);
    let point = unescape(words.next()?);
    Some(Mount { device, root, point, kind: back.split(' ').next()?.to_owned() })
}

/// Blanks, tabs, line ends and backslashes come as three octal digits.
fn unescape(word: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let bytes = word.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octal = bytes.get(at + 1..at + 4).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        out.push(octal.unwrap_or(byte));
        at += if octal.is_some() { 4 } else { 1 };
    }
    std::ffi::OsString::from_vec(out).into()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Mounts, read_line};

    fn mounts(lines: &[&str]) -> Mounts {
        Mounts(lines.iter().filter_map(|line| read_line(line)).collect())
    }

    #[test]
    fn a_container_and_its_host_mean_the_same_place() {
        let host = mounts(&["20 1 8:1 / / rw - ext4 /dev/sda1 rw"]);
        let inside = mounts(&[
            "30 1 0:40 / / rw - overlay overlay rw",
            r"31 30 8:1 /srv/my\040valheim /config rw master:1 - ext4 /dev/sda1 rw",
        ]);
        let place = host.place(Path::new("/srv/my valheim/worlds_local")).unwrap();
        assert_eq!(place, ("8:1".to_owned(), PathBuf::from("/srv/my valheim/worlds_local")));
        assert_eq!(inside.place(Path::new("/config/worlds_local")), Some(place.clone()));
        assert!(inside.show(&place));
        assert!(!inside.show(&host.place(Path::new("/srv/other")).unwrap()));
        assert!(inside.is_volume(Path::new("/config/x")) && !host.is_volume(Path::new("/srv")));
        assert!(inside.doubled(Path::new("/opt")) && !inside.doubled(Path::new("/config")));
    }

    #[test]
    fn network_file_systems_are_named() {
        let some = mounts(&["1 0 0:1 / / rw - ext4 a rw", "2 1 0:2 / /mnt rw - nfs4 b:/c rw"]);
        assert_eq!((some.network(Path::new("/mnt/x")), some.network(Path::new("/x"))), (Some("nfs4"), None));
        assert!(!mounts(&["broken", "", "1 2 3 - "]).same_as(&mounts(&[])));
    }
}
