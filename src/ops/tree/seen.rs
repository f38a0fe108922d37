use rustix::fs::{FileType, Stat, Timespec, Timestamps};

/// What the system says about a file, in one set of widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Seen {
    pub(in crate::ops) device: u64,
    pub(in crate::ops) inode: u64,
    pub(in crate::ops) raw_mode: u32,
    pub(in crate::ops) names: u64,
    pub(in crate::ops) user: u32,
    pub(in crate::ops) group: u32,
    pub(in crate::ops) size: u64,
    pub(in crate::ops) read: (i64, i64),
    pub(in crate::ops) written: (i64, i64),
    pub(in crate::ops) changed: (i64, i64),
}

impl Seen {
    pub(in crate::ops) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.raw_mode)
    }

    /// The 12 bits of permissions.
    pub(in crate::ops) fn mode(&self) -> u32 {
        self.raw_mode & 0o7777
    }

    pub(in crate::ops) fn id(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// True while nothing about it changed but when it was last read.
    pub(in crate::ops) fn still(&self, later: &Self) -> bool {
        *self == Self { read: self.read, ..*later }
    }

    pub(in crate::ops) fn times(&self) -> Timestamps {
        let time = |(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec };
        Timestamps { last_access: time(self.read), last_modification: time(self.written) }
    }
}

#[allow(clippy::useless_conversion, reason = "the widths of these fields differ between machines")]
impl From<Stat> for Seen {
    fn from(stat: Stat) -> Self {
        let nanoseconds = |n| i64::try_from(n).unwrap_or(0);
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            raw_mode: stat.st_mode.into(),
            names: stat.st_nlink.into(),
            user: stat.st_uid,
            group: stat.st_gid,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            read: (stat.st_atime.into(), nanoseconds(stat.st_atime_nsec)),
            written: (stat.st_mtime.into(), nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime.into(), nanoseconds(stat.st_ctime_nsec)),
        }
    }
}
