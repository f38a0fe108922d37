//! The system calls of the engine, each behind one place where a test can make it fail.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, Gid, Mode, OFlags, ResolveFlags, SeekFrom, Stat, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

/// A kind of system call, for a [`Hook`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the call of that name")]
pub enum Call {
    Openat2,
    Open,
    Create,
    Mkdir,
    Stat,
    List,
    ReadLink,
    Symlink,
    Link,
    Unlink,
    Clone,
    CopyRange,
    Seek,
    Read,
    Write,
    Truncate,
    Chown,
    Chmod,
    Times,
    ListAttributes,
    GetAttribute,
    SetAttribute,
    RemoveAttribute,
    Fsync,
    Syncfs,
    Exchange,
    RenameNew,
    Rename,
    Lock,
    Resolve,
}

/// Something that is asked before each system call of the engine. What the program uses, [`Direct`], does nothing and
/// costs nothing; tests make calls fail, shorten them, or change the disk in between.
pub trait Hook {
    /// Called before each try of a call; an error is what the call then answers, without being made.
    fn before(&self, call: Call) -> Result<(), Errno>;

    /// At most so many of the wanted bytes are asked for; never 0.
    fn most(&self, _call: Call, wanted: usize) -> usize {
        wanted
    }
}

/// No hook.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Hook for Direct {
    #[inline]
    fn before(&self, _call: Call) -> Result<(), Errno> {
        Ok(())
    }
}

/// How often a call that a signal interrupts is made again, before that counts as an error. Signals do come in numbers
/// (a terminal that is resized), but never so often in a row unless something is wrong.
const TRIES: u32 = 100;

/// Neither up, nor through a link of any kind, nor onto another mount.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

pub(in crate::ops) struct Sys<'h, H> {
    hook: &'h H,
    openat2: bool,
}

impl<'h, H: Hook> Sys<'h, H> {
    /// Finds out once whether there is an `openat2` that we may use.
    pub(in crate::ops) fn new(hook: &'h H, folder: impl AsFd) -> Self {
        let mut sys = Self { hook, openat2: true };
        let probe = sys.again(Call::Openat2, || {
            fs::openat2(&folder, c".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), BENEATH)
        });
        sys.openat2 = probe.is_ok();
        sys
    }

    /// The same where no folder is open yet.
    pub(in crate::ops) fn anywhere(hook: &'h H) -> Self {
        match (Self { hook, openat2: true }).direct(std::path::Path::new("/")) {
            Ok(top) => Self::new(hook, top),
            Err(_) => Self { hook, openat2: false },
        }
    }

    fn again<T>(&self, call: Call, mut run: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
        for _ in 0..TRIES {
            match self.hook.before(call).and_then(|()| run()) {
                Err(Errno::INTR) => {}
                result => return result,
            }
        }
        Err(Errno::INTR)
    }

    fn once<T>(&self, call: Call, run: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
        self.hook.before(call)?;
        run()
    }

    /// Opens one name of a folder. `name` holds no slash, so that `NOFOLLOW` is enough where there is no `openat2`,
    /// save that another file system mounted there shows only by its device.
    fn open_with(
        &self,
        call: Call,
        folder: impl AsFd,
        name: &CStr,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.again(call, || {
            if self.openat2 {
                fs::openat2(&folder, name, flags, mode, BENEATH)
            } else {
                fs::openat(&folder, name, flags, mode)
            }
        })
    }

    /// Opens something to read, without a change of its access time where we may ask for that.
    pub(in crate::ops) fn open(&self, folder: impl AsFd, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        // A pipe that takes the place of a file must not make us wait for somebody to write into it.
        let flags = flags | OFlags::NONBLOCK;
        match self.open_with(Call::Open, &folder, name, flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => self.open_with(Call::Open, &folder, name, flags, Mode::empty()),
            result => result,
        }
    }

    /// Opens a folder only to go further down, which needs no right to list it.
    pub(in crate::ops) fn pass(&self, folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
        self.open_with(Call::Open, folder, name, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
    }

    pub(in crate::ops) fn create(&self, folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        self.open_with(Call::Create, folder, name, flags, Mode::RUSR | Mode::WUSR)
    }

    pub(in crate::ops) fn mkdir(&self, folder: impl AsFd, name: &CStr) -> Result<(), Errno> {
        self.again(Call::Mkdir, || fs::mkdirat(&folder, name, Mode::RWXU))
    }

    pub(in crate::ops) fn stat(&self, file: impl AsFd) -> Result<Stat, Errno> {
        self.again(Call::Stat, || fs::fstat(&file))
    }

    /// A link is looked at itself.
    pub(in crate::ops) fn stat_at(&self, folder: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
        self.again(Call::Stat, || fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// The same of an absolute path, through any link: only for whether there may be something to open.
    pub(in crate::ops) fn peek(&self, path: &std::path::Path) -> Result<Stat, Errno> {
        self.again(Call::Stat, || fs::statat(fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW))
    }

    pub(in crate::ops) fn next_name<'r, F: AsFd>(
        &self,
        list: &'r mut fs::RawDir<'_, F>,
    ) -> Option<Result<fs::RawDirEntry<'r>, Errno>> {
        if list.is_buffer_empty() {
            // An interruption inside the listing itself is an error: what it had read by then is not known.
            if let Err(error) = self.again(Call::List, || Ok(())) {
                return Some(Err(error));
            }
        }
        list.next()
    }

    pub(in crate::ops) fn read_link(&self, folder: impl AsFd, name: &CStr) -> Result<Vec<u8>, Errno> {
        self.again(Call::ReadLink, || fs::readlinkat(&folder, name, Vec::new()).map(std::ffi::CString::into_bytes))
    }

    pub(in crate::ops) fn symlink(&self, target: &[u8], folder: impl AsFd, name: &CStr) -> Result<(), Errno> {
        self.again(Call::Symlink, || fs::symlinkat(target, &folder, name))
    }

    pub(in crate::ops) fn link(&self, from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<(), Errno> {
        self.again(Call::Link, || fs::linkat(&from, old, &to, new, AtFlags::empty()))
    }

    pub(in crate::ops) fn unlink(&self, folder: impl AsFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
        self.again(Call::Unlink, || fs::unlinkat(&folder, name, flags))
    }

    pub(in crate::ops) fn clone(&self, from: impl AsFd, to: impl AsFd) -> Result<(), Errno> {
        self.again(Call::Clone, || fs::ioctl_ficlone(&to, &from))
    }

    pub(in crate::ops) fn copy_range(
        &self,
        from: impl AsFd,
        to: impl AsFd,
        at: u64,
        most: usize,
    ) -> Result<usize, Errno> {
        let most = self.hook.most(Call::CopyRange, most);
        self.again(Call::CopyRange, || {
            let (mut read_at, mut write_at) = (at, at);
            fs::copy_file_range(&from, Some(&mut read_at), &to, Some(&mut write_at), most)
        })
    }

    pub(in crate::ops) fn seek(&self, file: impl AsFd, to: SeekFrom) -> Result<u64, Errno> {
        self.again(Call::Seek, || fs::seek(&file, to))
    }

    pub(in crate::ops) fn read(&self, file: impl AsFd, into: &mut [u8], at: u64) -> Result<usize, Errno> {
        let most = self.hook.most(Call::Read, into.len()).min(into.len());
        let (into, _) = into.split_at_mut(most);
        self.again(Call::Read, || rustix::io::pread(&file, &mut *into, at))
    }

    pub(in crate::ops) fn write(&self, file: impl AsFd, bytes: &[u8], at: u64) -> Result<usize, Errno> {
        let most = self.hook.most(Call::Write, bytes.len()).min(bytes.len());
        let (bytes, _) = bytes.split_at(most);
        self.again(Call::Write, || rustix::io::pwrite(&file, bytes, at))
    }

    pub(in crate::ops) fn truncate(&self, file: impl AsFd, length: u64) -> Result<(), Errno> {
        self.again(Call::Truncate, || fs::ftruncate(&file, length))
    }

    pub(in crate::ops) fn chown(&self, file: impl AsFd, owner: Option<u32>, group: Option<u32>) -> Result<(), Errno> {
        self.again(Call::Chown, || fs::fchown(&file, owner.map(Uid::from_raw), group.map(Gid::from_raw)))
    }

    pub(in crate::ops) fn chown_at(
        &self,
        folder: impl AsFd,
        name: &CStr,
        owner: Option<u32>,
        group: Option<u32>,
    ) -> Result<(), Errno> {
        let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
        self.again(Call::Chown, || fs::chownat(&folder, name, owner, group, AtFlags::SYMLINK_NOFOLLOW))
    }

    pub(in crate::ops) fn chmod(&self, file: impl AsFd, mode: u32) -> Result<(), Errno> {
        self.again(Call::Chmod, || fs::fchmod(&file, Mode::from_raw_mode(mode)))
    }

    pub(in crate::ops) fn set_times(&self, file: impl AsFd, times: &Timestamps) -> Result<(), Errno> {
        self.again(Call::Times, || fs::futimens(&file, times))
    }

    pub(in crate::ops) fn set_times_at(&self, folder: impl AsFd, name: &CStr, times: &Timestamps) -> Result<(), Errno> {
        self.again(Call::Times, || fs::utimensat(&folder, name, times, AtFlags::SYMLINK_NOFOLLOW))
    }

    pub(in crate::ops) fn attributes(&self, file: impl AsFd, into: &mut [u8]) -> Result<usize, Errno> {
        self.again(Call::ListAttributes, || fs::flistxattr(&file, &mut *into))
    }

    pub(in crate::ops) fn attribute(&self, file: impl AsFd, name: &CStr, into: &mut [u8]) -> Result<usize, Errno> {
        self.again(Call::GetAttribute, || fs::fgetxattr(&file, name, &mut *into))
    }

    pub(in crate::ops) fn set_attribute(&self, file: impl AsFd, name: &CStr, value: &[u8]) -> Result<(), Errno> {
        self.again(Call::SetAttribute, || fs::fsetxattr(&file, name, value, XattrFlags::empty()))
    }

    pub(in crate::ops) fn remove_attribute(&self, file: impl AsFd, name: &CStr) -> Result<(), Errno> {
        self.again(Call::RemoveAttribute, || fs::fremovexattr(&file, name))
    }

    /// Opens a folder by its absolute path, of which no part may be a link: that is `LOOP`, as is a path that is not
    /// absolute or goes up.
    pub(in crate::ops) fn direct(&self, path: &std::path::Path) -> Result<OwnedFd, Errno> {
        self.again(Call::Open, || crate::ops::root::direct(path))
    }

    /// What a path of our own user leads to, through any link. Only for the folder of our own state.
    pub(in crate::ops) fn resolve(&self, path: &std::path::Path) -> Result<std::path::PathBuf, Errno> {
        self.again(Call::Resolve, || {
            std::fs::canonicalize(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })
    }

    /// Opens a file of ours to read and write it, and makes it when it is not there.
    pub(in crate::ops) fn open_or_create(&self, folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK;
        self.open_with(Call::Create, folder, name, flags, Mode::RUSR | Mode::WUSR)
    }

    /// Opens a file of ours to read and write it.
    pub(in crate::ops) fn open_to_write(&self, folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
        self.open_with(Call::Open, folder, name, OFlags::RDWR | OFlags::NONBLOCK, Mode::empty())
    }

    /// Takes the lock of a file, if nobody has it.
    ///
    /// A program that is being started has every lock of whoever starts it until it is that program, so a lock that is
    /// taken is asked for a few times more.
    pub(in crate::ops) fn lock(&self, file: impl AsFd) -> Result<(), Errno> {
        const TRIES: u32 = 20;
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
        self.again(Call::Lock, || {
            for _ in 0..TRIES {
                match fs::flock(&file, fs::FlockOperation::NonBlockingLockExclusive) {
                    Err(Errno::AGAIN) => std::thread::sleep(PAUSE),
                    result => return result,
                }
            }
            Err(Errno::AGAIN)
        })
    }

    /// Lets two names change places.
    pub(in crate::ops) fn exchange(
        &self,
        from: impl AsFd,
        one: &CStr,
        to: impl AsFd,
        other: &CStr,
    ) -> Result<(), Errno> {
        self.again(Call::Exchange, || fs::renameat_with(&from, one, &to, other, fs::RenameFlags::EXCHANGE))
    }

    /// Gives something a name at which nothing is; `EXIST` when something is.
    pub(in crate::ops) fn rename_new(
        &self,
        from: impl AsFd,
        old: &CStr,
        to: impl AsFd,
        new: &CStr,
    ) -> Result<(), Errno> {
        let flags = fs::RenameFlags::NOREPLACE;
        match self.again(Call::RenameNew, || fs::renameat_with(&from, old, &to, new, flags)) {
            // A file system without that flag, or a kernel without the call: what is there is asked for first.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            result => return result,
        }
        match self.stat_at(&to, new) {
            Err(Errno::NOENT) => self.rename(from, old, to, new),
            Err(error) => Err(error),
            Ok(_) => Err(Errno::EXIST),
        }
    }

    /// Gives something a name, in the place of a file that has it.
    pub(in crate::ops) fn rename(&self, from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<(), Errno> {
        self.again(Call::Rename, || fs::renameat(&from, old, &to, new))
    }

    /// Made once, whatever it answers: after an error the kernel may call the same pages clean.
    pub(in crate::ops) fn flush(&self, file: impl AsFd) -> Result<(), Errno> {
        self.once(Call::Fsync, || fs::fsync(file))
    }

    /// Made once, like [`Sys::flush`].
    pub(in crate::ops) fn flush_all(&self, on: impl AsFd) -> Result<(), Errno> {
        self.once(Call::Syncfs, || fs::syncfs(on))
    }
}

/// Room for a listing of a folder: some hundred names at a time.
pub(in crate::ops) fn listing_buffer() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); 16 * 1024]
}
