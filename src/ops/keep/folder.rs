//! The keeping folder by descriptors: made, checked, locked.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags, fstatvfs};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::KEEP;
use crate::model::shown_path;
use crate::ops::tree::calls::{Hook, Sys};
use crate::ops::tree::seen::Seen;
use crate::ops::trouble::{Trouble, at, odd};

pub(in crate::ops) const JOURNAL: &CStr = c"journal";
pub(in crate::ops) const STAGE: &CStr = c"stage";
pub(in crate::ops) const RECYCLE: &CStr = c"recycle";
/// Where the old state lies for a moment on a file system that cannot exchange two names.
pub(in crate::ops) const SWAP: &CStr = c"swap";
const HISTORY: &CStr = c"history";
const LOCK: &CStr = c"lock";
/// What becomes the next journal. Its room is taken while there is some, so that a full disk cannot stop a delete, an undo or a purge.
const SPARE: &CStr = c"spare";
/// Its usual size, but no more than a part of what is free. A journal takes a hundredth of it; the rest is given back where the disk is full, for the folders of the recycle
/// folder. XFS asks for some 80 free blocks before it makes a folder.
const SPARE_BYTES: u64 = 1 << 20;
const SPARE_PART: u64 = 64;

const OTHERS_MAY_WRITE: u32 = 0o022;

/// A keeping folder that was opened and checked.
pub(in crate::ops) struct Keep<'s, 'h, H> {
    pub(in crate::ops) sys: &'s Sys<'h, H>,
    pub(in crate::ops) path: PathBuf,
    pub(in crate::ops) folder: OwnedFd,
    pub(in crate::ops) seen: Seen,
    above: OwnedFd,
    /// Whether this call made it.
    made: bool,
    lock: Option<OwnedFd>,
}

/// Why a keeping folder was not locked.
pub(in crate::ops) enum NotLocked {
    /// Somebody has it; what is known of them, as the end of a sentence.
    Busy(String),
    Failed(Trouble),
}

impl<'s, 'h, H: Hook> Keep<'s, 'h, H> {
    /// Opens it, if it is there.
    pub(in crate::ops) fn open(sys: &'s Sys<'h, H>, path: &Path) -> Result<Option<Self>, Trouble> {
        let above = match Self::above(sys, path) {
            Err(Trouble { why: crate::ops::trouble::Why::System(Errno::NOENT), .. }) => return Ok(None),
            above => above?,
        };
        match sys.open(&above, &name_of_keep(), OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => Self::checked(sys, path, above, folder, None).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(at("open", path)(error)),
        }
    }

    /// Opens it, and makes it when it is not there; it belongs to whom `like`, a folder, belongs.
    pub(in crate::ops) fn make(sys: &'s Sys<'h, H>, path: &Path, like: &Path) -> Result<Self, Trouble> {
        let holder = sys.direct(like).and_then(|folder| sys.stat(folder)).map_err(at("open", like))?;
        let holder = Seen::from(holder);
        let above = Self::above(sys, path)?;
        let made = match sys.mkdir(&above, &name_of_keep()) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(at("make", path)(error)),
        };
        let opened = sys
            .open(&above, &name_of_keep(), OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(at("open", path))
            .and_then(|folder| {
                if made {
                    give(sys, &folder, (holder.user, holder.group)).map_err(at("set the owner of", path))?;
                    sys.flush(&above).map_err(at("make durable", path))?;
                }
                Ok(folder)
            });
        let folder = match opened {
            Ok(folder) => folder,
            Err(trouble) => {
                if made {
                    let _ = sys.unlink(&above, &name_of_keep(), AtFlags::REMOVEDIR);
                }
                return Err(trouble);
            }
        };
        let mut keep = Self::checked(sys, path, above, folder, Some(holder.user))?;
        keep.made = made;
        Ok(keep)
    }

    fn above(sys: &Sys<'h, H>, path: &Path) -> Result<OwnedFd, Trouble> {
        let above = path.parent().filter(|_| path.file_name().is_some_and(|name| name == KEEP));
        let above = above.ok_or_else(|| odd("open", path, "it is no keeping folder"))?;
        sys.direct(above).map_err(at("open", above))
    }

    /// What others could have made or could write into is not trusted: what stands in it is acted on, perhaps as root.
    fn checked(
        sys: &'s Sys<'h, H>,
        path: &Path,
        above: OwnedFd,
        folder: OwnedFd,
        holder: Option<u32>,
    ) -> Result<Self, Trouble> {
        let seen = Seen::from(sys.stat(&folder).map_err(at("look at", path))?);
        let parent = Seen::from(sys.stat(&above).map_err(at("look at", path))?);
        let me = geteuid().as_raw();
        let only_ours = [0, me].contains(&parent.user) && parent.mode() & OTHERS_MAY_WRITE == 0;
        let known = [0, me, parent.user].contains(&seen.user) || holder == Some(seen.user);
        if !known && !only_ours {
            return Err(odd(
                "use",
                path,
                format!("it belongs to the user {}, who owns no part of the save", seen.user),
            ));
        }
        if seen.mode() & OTHERS_MAY_WRITE != 0 {
            return Err(odd("use", path, "others than its owner may write into it"));
        }
        if seen.device != parent.device {
            return Err(odd("use", path, "another file system is mounted there"));
        }
        Ok(Self { sys, path: path.to_path_buf(), folder, seen, above, made: false, lock: None })
    }

    /// Takes its lock, which goes when this value or the process goes. A lock file that somebody left is simply taken:
    /// what counts is the lock, not the file.
    pub(in crate::ops) fn lock(&mut self, may_write: bool) -> Result<(), NotLocked> {
        let path = self.path.join("lock");
        let failed = |act| {
            let failed = at(act, &path);
            move |error| NotLocked::Failed(failed(error))
        };
        let file = if may_write {
            self.sys.open_or_create(&self.folder, LOCK).map_err(failed("open"))?
        } else {
            self.sys.open(&self.folder, LOCK, OFlags::RDONLY).map_err(failed("open"))?
        };
        let seen = Seen::from(self.sys.stat(&file).map_err(failed("look at"))?);
        if seen.kind() != FileType::RegularFile || seen.names > 1 {
            return Err(NotLocked::Failed(odd("use", &path, "it is no plain file")));
        }
        match self.sys.lock(&file) {
            Ok(()) => {}
            Err(Errno::AGAIN) => return Err(NotLocked::Busy(self.holder(&file))),
            Err(error) => return Err(failed("lock")(error)),
        }
        // Somebody who had the lock may have taken the file or the folder away when they were done.
        let there = |stat: Result<rustix::fs::Stat, Errno>| match stat {
            Ok(stat) => Ok(Some(Seen::from(stat).id())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        };
        let ours = there(self.sys.stat_at(&self.folder, LOCK)).map_err(failed("look at"))? == Some(seen.id())
            && there(self.sys.stat_at(&self.above, &name_of_keep())).map_err(failed("look at"))?
                == Some(self.seen.id());
        if !ours {
            return Err(NotLocked::Busy("it was at its end just now".to_owned()));
        }
        if may_write {
            // For people only; a full disk must not matter.
            let _ = self.give(&file);
            let text = format!("{}\n", std::process::id());
            let _ = self.sys.truncate(&file, 0).and_then(|()| write_all(self.sys, &file, text.as_bytes(), 0));
        }
        self.lock = Some(file);
        Ok(())
    }

    fn holder(&self, file: &OwnedFd) -> String {
        let mut room = [0; 24];
        let read = self.sys.read(file, &mut room, 0).unwrap_or(0);
        let digits: String =
            room.iter().take(read).take_while(|b| b.is_ascii_digit()).map(|b| char::from(*b)).collect();
        if digits.is_empty() { "it does not say which".to_owned() } else { format!("it is the process {digits}") }
    }

    /// Gives something of ours to the owner of the keeping folder, who is to be able to go on with it.
    pub(in crate::ops) fn give(&self, file: impl AsFd) -> Result<(), Errno> {
        give(self.sys, file, (self.seen.user, self.seen.group))
    }

    /// What lies at a name in it.
    pub(in crate::ops) fn look(&self, name: &CStr) -> Result<Option<Seen>, Trouble> {
        match self.sys.stat_at(&self.folder, name) {
            Ok(stat) => Ok(Some(Seen::from(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(at("look at", &self.child(name))(error)),
        }
    }

    pub(in crate::ops) fn child(&self, name: &CStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// Makes its own folders on the way to a path below it, durable, and answers how many of them were not there.
    pub(in crate::ops) fn folders(&self, path: &Path) -> Result<usize, Trouble> {
        let Ok(below) = path.strip_prefix(&self.path) else {
            return Err(odd("make", path, "it lies outside the keeping folder"));
        };
        let mut made = 0;
        let mut folder: Option<OwnedFd> = None;
        let mut at_path = self.path.clone();
        for part in below {
            at_path.push(part);
            let name = one_name(part).ok_or_else(|| odd("make", path, "it is no name"))?;
            let inside: BorrowedFd<'_> = folder.as_ref().map_or_else(|| self.folder.as_fd(), AsFd::as_fd);
            let new = match self.sys.mkdir(inside, &name) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(error) => return Err(at("make", &at_path)(error)),
            };
            let open = OFlags::RDONLY | OFlags::DIRECTORY;
            let opened = self.sys.open(inside, &name, open).map_err(at("open", &at_path))?;
            if new {
                made += 1;
                self.give(&opened).map_err(at("set the owner of", &at_path))?;
                self.sys.flush(inside).map_err(at("make durable", &at_path))?;
            }
            folder = Some(opened);
        }
        Ok(made)
    }

    /// Takes room for a journal of at most so many bytes, and more for the folders of a later operation if `spare`.
    pub(in crate::ops) fn reserve(&self, bytes: u64, spare: bool) -> Result<(), Trouble> {
        let path = self.child(SPARE);
        let file = self.sys.open_or_create(&self.folder, SPARE).map_err(at("open", &path))?;
        let seen = Seen::from(self.sys.stat(&file).map_err(at("look at", &path))?);
        if seen.kind() != FileType::RegularFile || seen.names > 1 {
            return Err(odd("use", &path, "it is no plain file"));
        }
        let _ = self.give(&file);
        let blank = vec![b' '; 64 << 10];
        let mut size = seen.size;
        let mut wanted = bytes;
        if spare && size < bytes.max(SPARE_BYTES) {
            let free = fstatvfs(&self.folder).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
            wanted = bytes.max(SPARE_BYTES.min(free / SPARE_PART));
        }
        while size < wanted {
            let most = blank.len().min(usize::try_from(wanted - size).unwrap_or(usize::MAX));
            match self.sys.write(&file, &blank[..most], size) {
                Ok(0) => return Err(at("write", &path)(Errno::IO)),
                Ok(written) => size += written as u64,
                // Enough is enough.
                Err(Errno::NOSPC | Errno::DQUOT) if size >= bytes => break,
                Err(error) => return Err(at("write", &path)(error)),
            }
        }
        if size > seen.size {
            self.sys.flush(&file).map_err(at("make durable", &path))?;
        }
        Ok(())
    }

    /// Gives back what the room for the journal has besides so many bytes, for a full disk.
    pub(in crate::ops) fn give_room(&self, bytes: u64) -> bool {
        let Ok(file) = self.sys.open_to_write(&self.folder, SPARE) else { return false };
        let larger = self.sys.stat(&file).is_ok_and(|stat| Seen::from(stat).size > bytes);
        // Some file systems hand blocks out again only once their own journal is written.
        larger && self.sys.truncate(&file, bytes).is_ok() && self.sys.flush(&file).is_ok()
    }

    /// Writes the journal into the room that was taken, durably: it is there whole, or not at all.
    pub(in crate::ops) fn begin(&self, journal: &[u8]) -> Result<(), Trouble> {
        let path = self.child(JOURNAL);
        let failed = at("write", &path);
        let file = self.sys.open_to_write(&self.folder, SPARE).map_err(&failed)?;
        match write_all(self.sys, &file, journal, 0) {
            // Where nothing is written over, as on btrfs, only what is given back first can be written again.
            Err(Errno::NOSPC | Errno::DQUOT) => {
                self.sys.truncate(&file, 0).and_then(|()| self.sys.flush(&file)).map_err(&failed)?;
                write_all(self.sys, &file, journal, 0).map_err(&failed)?;
            }
            written => written.map_err(&failed)?,
        }
        self.sys.truncate(&file, journal.len() as u64).map_err(&failed)?;
        self.sys.flush(&file).map_err(&failed)?;
        self.sys.rename_new(&self.folder, SPARE, &self.folder, JOURNAL).map_err(&failed)?;
        self.sys.flush(&self.folder).map_err(&failed)
    }

    /// The bytes of the journal; none when there is none.
    pub(in crate::ops) fn journal(&self) -> Result<Option<Vec<u8>>, Trouble> {
        read_small(self.sys, &self.folder, JOURNAL, crate::ops::record::MAX_BYTES)
            .map_err(at("read", &self.child(JOURNAL)))
    }

    /// Makes the journal the record of what is done: one call, so that there is always either.
    pub(in crate::ops) fn finish(&self, name: &str) -> Result<(), Trouble> {
        let path = super::record_of(&self.path, name);
        let failed = at("write", &path);
        self.folders(&self.child(HISTORY))?;
        let history = self.sys.open(&self.folder, HISTORY, OFlags::RDONLY | OFlags::DIRECTORY).map_err(&failed)?;
        let name = one_name(OsStr::new(name)).ok_or_else(|| odd("write", &path, "it is no name"))?;
        self.sys.rename_new(&self.folder, JOURNAL, &history, &name).map_err(&failed)?;
        self.sys.flush(&history).map_err(&failed)?;
        self.sys.flush(&self.folder).map_err(&failed)
    }

    /// Makes the folder of the records, while nothing depends on it.
    pub(in crate::ops) fn ready_history(&self) -> Result<(), Trouble> {
        self.folders(&self.child(HISTORY)).map(|_| ())
    }

    /// Takes the journal away, durably: nothing of what it says was done.
    pub(in crate::ops) fn drop_journal(&self) -> Result<(), Trouble> {
        let failed = at("remove", &self.child(JOURNAL));
        match self.sys.unlink(&self.folder, JOURNAL, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => self.sys.flush(&self.folder).map_err(failed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Takes away what this call made, if nothing came of it. What holds anything stays.
    pub(in crate::ops) fn unmake(&mut self) {
        if !self.made {
            return;
        }
        for folder in [HISTORY, RECYCLE, STAGE] {
            let _ = self.sys.unlink(&self.folder, folder, AtFlags::REMOVEDIR);
        }
        let _ = self.sys.unlink(&self.folder, SPARE, AtFlags::empty());
        // The lock goes last: who finds the folder without it finds nothing else in it.
        let _ = self.sys.unlink(&self.folder, LOCK, AtFlags::empty());
        let _ = self.sys.unlink(&self.above, &name_of_keep(), AtFlags::REMOVEDIR);
        self.made = false;
    }

    pub(in crate::ops) fn shown(&self) -> String {
        shown_path(&self.path)
    }
}

fn name_of_keep() -> CString {
    CString::new(KEEP).unwrap_or_default()
}

/// Gives a file away where it is not its new owner's already. Only root can; for anybody else it stays what it is.
fn give<H: Hook>(sys: &Sys<'_, H>, file: impl AsFd, to: (u32, u32)) -> Result<(), Errno> {
    let seen = Seen::from(sys.stat(&file)?);
    if (seen.user, seen.group) == to {
        return Ok(());
    }
    match sys.chown(&file, Some(to.0), Some(to.1)) {
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A name as the system takes it, if it is the name of one entry.
pub(in crate::ops) fn one_name(name: &OsStr) -> Option<CString> {
    let bytes = name.as_bytes();
    let odd = matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/');
    if odd { None } else { CString::new(bytes).ok() }
}

pub(super) fn write_all<H: Hook>(sys: &Sys<'_, H>, file: impl AsFd, bytes: &[u8], at: u64) -> Result<(), Errno> {
    let (mut left, mut at) = (bytes, at);
    while !left.is_empty() {
        let written = sys.write(&file, left, at)?;
        if written == 0 {
            return Err(Errno::IO);
        }
        at += written as u64;
        left = left.split_at(written.min(left.len())).1;
    }
    Ok(())
}

/// All bytes of a plain file; none when it is not there. `FBIG` when there are more than `most`.
pub(super) fn read_small<H: Hook>(
    sys: &Sys<'_, H>,
    folder: impl AsFd,
    name: &CStr,
    most: u64,
) -> Result<Option<Vec<u8>>, Errno> {
    let file = match sys.open(&folder, name, OFlags::RDONLY) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let seen = Seen::from(sys.stat(&file)?);
    if seen.kind() != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    if seen.size > most {
        return Err(Errno::FBIG);
    }
    let mut bytes = vec![0; usize::try_from(seen.size).map_err(|_| Errno::FBIG)?];
    let mut filled = 0;
    while filled < bytes.len() {
        let (_, room) = bytes.split_at_mut(filled);
        match sys.read(&file, room, filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(Some(bytes))
}
