//! What is mounted where, as the system tells it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use rustix::io::Errno;

/// One mount, as a line of `mountinfo` tells it (`man 5 proc_pid_mountinfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) id: u64,
    /// Major and minor number of its file system.
    pub(super) device: (u32, u32),
    /// Which folder of the file system is mounted.
    pub(super) root: PathBuf,
    /// Where.
    pub(super) point: PathBuf,
    /// What is below it; none when it is no overlay.
    pub(super) overlay: Option<Overlay>,
}

/// An overlay: an upper layer, which takes all changes, over lower ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overlay {
    /// True when it was mounted so that a folder of a lower layer can be renamed.
    redirects: bool,
    /// The lower layers by absolute path; none when they are not told so.
    lower: Option<Vec<PathBuf>>,
}

impl Overlay {
    /// Reads the options of the file system. What is written with a backslash in a name is not told apart.
    fn parse(options: &[u8]) -> Self {
        let mut overlay = Self { redirects: false, lower: Some(Vec::new()) };
        for option in options.split(|byte| *byte == b',') {
            if option == b"redirect_dir=on" {
                overlay.redirects = true;
            }
            let Some(layers) =
                [&b"lowerdir="[..], b"lowerdir+=", b"datadir+="].iter().find_map(|key| option.strip_prefix(*key))
            else {
                continue;
            };
            let layers: Vec<PathBuf> =
                layers.split(|byte| *byte == b':').filter(|layer| !layer.is_empty()).map(path).collect();
            let plain = |layer: &PathBuf| layer.is_absolute() && !layer.as_os_str().as_encoded_bytes().contains(&b'\\');
            if layers.iter().all(plain) {
                overlay.lower = overlay.lower.map(|known| known.into_iter().chain(layers).collect());
            } else {
                overlay.lower = None;
            }
        }
        if overlay.lower.as_ref().is_some_and(Vec::is_empty) {
            overlay.lower = None;
        }
        overlay
    }

    /// Whether a folder of the overlay can be renamed: the system answers `EXDEV` for one that a lower layer has a part in.
    /// `inside` is its path from the top of the overlay. A lower layer that is not to be seen from here may have it.
    pub(super) fn can_rename(&self, inside: &Path) -> bool {
        let below = inside.strip_prefix("/").unwrap_or(inside);
        let without = |layer: &PathBuf| layer.is_dir() && layer.join(below).symlink_metadata().is_err();
        self.redirects || self.lower.as_ref().is_some_and(|lower| lower.iter().all(without))
    }
}

/// The mounts in a `mountinfo`; lines of another form are left out.
pub(super) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = number(fields.next()?)?;
    let _parent = fields.next()?;
    let device = fields.next()?;
    let colon = device.iter().position(|byte| *byte == b':')?;
    let (major, minor) = (device.get(..colon)?, device.get(colon + 1..)?);
    let device = (number(major)?.try_into().ok()?, number(minor)?.try_into().ok()?);
    let root = fields.next()?;
    // A folder that was removed has no place in its file system any more.
    if root.ends_with(b"//deleted") {
        return None;
    }
    let (root, point) = (path(root), path(fields.next()?));
    // Optional fields come before a dash of its own.
    let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
    let is_overlay = fields.next() == Some(b"overlay");
    let overlay = is_overlay.then(|| Overlay::parse(fields.nth(1).unwrap_or_default()));
    point.has_root().then_some(Mount { id, device, root, point, overlay })
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Space, tab, line end and backslash stand there as three octal digits behind a backslash.
fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut at = 0;
    while let Some(byte) = field.get(at) {
        let digits = field.get(at + 1..at + 4).filter(|digits| digits.iter().all(|b| matches!(b, b'0'..=b'7')));
        if let (b'\\', Some(digits)) = (byte, digits) {
            let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            at += 4;
        } else {
            bytes.push(*byte);
            at += 1;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// What `statx` says of a path, which is not followed if it is a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    /// The mount that it lies on, where the kernel tells.
    pub(super) mount: Option<u64>,
    /// True when nothing of it may be changed, or nothing but added.
    pub(super) immutable: bool,
    pub(super) append_only: bool,
}

/// Asks the system.
pub(super) fn look(path: &Path) -> Result<Looked, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, wanted)?;
    // Before Linux 5.8 there is no number of the mount.
    let told = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    Ok(Looked {
        mount: told.then_some(found.stx_mnt_id),
        immutable: found.stx_attributes.contains(StatxAttributes::IMMUTABLE),
        append_only: found.stx_attributes.contains(StatxAttributes::APPEND),
    })
}

/// The mounts of this process.
pub(super) fn own(proc: &Path) -> Vec<Mount> {
    std::fs::read(proc.join("self/mountinfo")).map(|text| parse(&text)).unwrap_or_default()
}

/// The mount that holds a path: that of this number, or the last one over the longest part of it.
pub(super) fn holding<'m>(mounts: &'m [Mount], path: &Path, id: Option<u64>) -> Option<&'m Mount> {
    if let Some(id) = id {
        return mounts.iter().find(|mount| mount.id == id && path.starts_with(&mount.point));
    }
    mounts.iter().filter(|mount| path.starts_with(&mount.point)).max_by_key(|mount| mount.point.iter().count())
}

/// A mount of some process, seen by us, that has a folder as its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// The process; none for our own.
    pub(super) process: Option<u32>,
    pub(super) mount: Mount,
}

/// Every mount that a visible process has and that is not the same as another's in everything, each with the first process
/// that has it. Our own come first.
pub(super) fn everywhere(proc: &Path) -> Vec<Elsewhere> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |process: Option<u32>, text: Vec<u8>| {
        if seen.contains(&text) {
            return;
        }
        found.extend(parse(&text).into_iter().map(|mount| Elsewhere { process, mount }));
        seen.insert(text);
    };
    if let Ok(text) = std::fs::read(proc.join("self/mountinfo")) {
        add(None, text);
    }
    let Ok(list) = std::fs::read_dir(proc) else { return found };
    let mut processes: Vec<u32> = list.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    processes.sort_unstable();
    for process in processes {
        // One that ends meanwhile has no mounts any more.
        if let Ok(text) = std::fs::read(proc.join(process.to_string()).join("mountinfo")) {
            add(Some(process), text);
        }
    }
    found
}

/// Why our own mounts, though told by the system, cannot be read.
pub(super) fn unreadable(proc: &Path) -> Option<std::io::Error> {
    let error = std::fs::read(proc.join("self/mountinfo")).err()?;
    (error.kind() != std::io::ErrorKind::NotFound).then_some(error)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Mount, Overlay, holding, parse};

    const TEXT: &[u8] = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
        30 21 0:25 / /srv rw - tmpfs tmpfs rw\n\
        31 30 8:1 /data/my\\040world /srv/w\\134x\\011y rw - ext4 /dev/sda1 rw\n\
        torn 21 8:1 / /x rw\n\
        32 21 8:1 /data/gone//deleted /gone rw - ext4 /dev/sda1 rw\n\
        \n";

    #[test]
    fn lines_are_read_with_their_escapes_and_others_left_out() {
        let mounts = parse(TEXT);
        let third = Mount {
            id: 31,
            device: (8, 1),
            root: "/data/my world".into(),
            point: "/srv/w\\x\ty".into(),
            overlay: None,
        };
        assert_eq!((mounts.len(), mounts.get(2)), (3, Some(&third)));
    }

    #[test]
    fn the_layers_of_an_overlay_are_told() {
        let overlay = |options: &str| {
            let line = format!("40 21 0:50 / /m rw shared:7 - overlay overlay {options}\n");
            parse(line.as_bytes()).pop().and_then(|mount| mount.overlay)
        };
        let told =
            |redirects, lower: &[&str]| Overlay { redirects, lower: Some(lower.iter().map(Into::into).collect()) };
        assert_eq!(overlay("rw,lowerdir=/a\\040b:/c,upperdir=/u,workdir=/w"), Some(told(false, &["/a b", "/c"])));
        assert_eq!(overlay("rw,lowerdir+=/a,lowerdir+=/b,redirect_dir=on"), Some(told(true, &["/a", "/b"])));
        let unknown = Some(Overlay { redirects: false, lower: None });
        for options in ["rw,lowerdir=l/ABC:/c", "rw", "rw,lowerdir=/a\\134:b"] {
            assert_eq!(overlay(options), unknown, "{options}");
        }
        assert!(!overlay("rw").unwrap().can_rename(Path::new("/x")), "what is not known is refused");
        let temp = tempfile::TempDir::new().unwrap();
        std::fs::create_dir_all(temp.path().join("a/old")).unwrap();
        let seen = overlay(&format!("rw,lowerdir={}", temp.path().join("a").display())).unwrap();
        assert_eq!(["/old", "/new"].map(|inside| seen.can_rename(Path::new(inside))), [false, true]);
    }

    #[test]
    fn the_mount_that_holds_a_path_is_told_by_number_or_by_the_longest_part() {
        let mounts = parse(TEXT);
        let point = |path: &str, id| holding(&mounts, Path::new(path), id).map(|mount| mount.id);
        assert_eq!(point("/srv/a/b", None), Some(30));
        assert_eq!(point("/srvx", None), Some(21));
        assert_eq!(point("/srv/a", Some(30)), Some(30));
        assert_eq!(point("/srv/a", Some(99)), None);
    }
}
