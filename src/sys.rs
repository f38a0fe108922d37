//! System calls that no library wraps: the only place with `unsafe`.
#![allow(unsafe_code)]

use std::path::Path;

/// Lets the calling thread read from disks only while nobody else wants to, so that a check in the background does
/// not slow a running server down. True when the system did it; on anything but Linux, nothing happens.
///
/// Only schedulers that know priorities (BFQ, and CFQ before it) act on it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn set_idle_io_priority() -> bool {
    // From linux/ioprio.h, which the libc crate does not carry.
    const WHO_PROCESS: libc::c_int = 1;
    const CALLING_THREAD: libc::c_int = 0;
    const CLASS_IDLE: libc::c_int = 3;
    const CLASS_SHIFT: u32 = 13;
    // SAFETY: the call takes three integers and touches no memory of ours; its only effect is on the scheduling of
    // the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, CALLING_THREAD, CLASS_IDLE << CLASS_SHIFT) };
    done == 0
}

/// Lets the calling thread read from disks only while nobody else wants to; not known on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn set_idle_io_priority() -> bool {
    false
}

/// The bytes that a user without privileges can still write on the file system of a path; nothing where that is not
/// known.
///
/// What is kept for root does not count, even when we are root: the server is not.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    // Some network and user-space file systems do not tell how large they are.
    let unit = if stat.f_frsize > 0 { stat.f_frsize } else { stat.f_bsize };
    if stat.f_blocks == 0 || unit == 0 { None } else { stat.f_bavail.checked_mul(unit) }
}

/// The bytes that can still be written on the file system of a path; not known on this system.
#[cfg(not(unix))]
pub fn free_bytes(_path: &Path) -> Option<u64> {
    None
}

/// Signals that are held off while this lives; each that came meanwhile is delivered when the last of them goes.
#[cfg(unix)]
#[derive(Debug)]
pub struct HeldSignals(());

#[cfg(unix)]
mod held {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// What a closed terminal, a pipe without a reader, a polite end, and the keys of a terminal send.
    pub(super) const SIGNALS: [libc::c_int; 6] =
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGTSTP];

    pub(super) static CAME: [AtomicBool; SIGNALS.len()] = [const { AtomicBool::new(false) }; SIGNALS.len()];

    /// How many hold them, and what was done about each signal before.
    pub(super) static HOLDERS: Mutex<(usize, [Option<libc::sigaction>; SIGNALS.len()])> =
        Mutex::new((0, [None; SIGNALS.len()]));

    pub(super) extern "C" fn note(signal: libc::c_int) {
        for (came, of) in CAME.iter().zip(SIGNALS) {
            if of == signal {
                came.store(true, Ordering::SeqCst);
            }
        }
    }
}

/// Holds off the signals that would end or stop the process, in all of its threads.
///
/// A mask would hold them off in one thread only, and the system would end the process through another.
#[cfg(unix)]
pub fn hold_signals() -> HeldSignals {
    let mut holders = held::HOLDERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if holders.0 == 0 {
        for (signal, before) in held::SIGNALS.into_iter().zip(&mut holders.1) {
            // SAFETY: both structures are ours and valid for the call; the handler only stores into an atomic, which
            // is allowed in a handler; an all-zero `sigaction` is a valid value that is filled before use.
            unsafe {
                let mut new: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int) = held::note;
                new.sa_sigaction = handler as libc::sighandler_t;
                new.sa_flags = libc::SA_RESTART;
                libc::sigemptyset(&raw mut new.sa_mask);
                // What is ignored stays ignored: whoever started us with `nohup` meant it.
                let known = libc::sigaction(signal, std::ptr::null(), &raw mut old) == 0;
                let ours = known && old.sa_sigaction != libc::SIG_IGN;
                *before = (ours && libc::sigaction(signal, &raw const new, &raw mut old) == 0).then_some(old);
            }
        }
    }
    holders.0 += 1;
    HeldSignals(())
}

#[cfg(unix)]
impl Drop for HeldSignals {
    fn drop(&mut self) {
        let mut holders = held::HOLDERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        holders.0 = holders.0.saturating_sub(1);
        if holders.0 > 0 {
            return;
        }
        let mut came = Vec::new();
        for ((signal, before), noted) in held::SIGNALS.into_iter().zip(&mut holders.1).zip(&held::CAME) {
            if let Some(old) = before.take() {
                // SAFETY: `old` is what the system gave us for this signal.
                unsafe { libc::sigaction(signal, &raw const old, std::ptr::null_mut()) };
            }
            if noted.swap(false, std::sync::atomic::Ordering::SeqCst) {
                came.push(signal);
            }
        }
        drop(holders);
        for signal in came {
            // SAFETY: the call takes one integer; what the signal does is what it would have done without us.
            unsafe { libc::raise(signal) };
        }
    }
}

/// The process that holds a lock on an open file against writers, of the kind that `fcntl` takes; asked about and not
/// taken. 0 or less where the process cannot be named: it lies in another namespace, or the lock belongs to a descriptor.
///
/// # Errors
/// What the system says; some network file systems cannot be asked.
#[cfg(target_os = "linux")]
pub fn lock_holder(file: std::os::fd::BorrowedFd<'_>) -> std::io::Result<Option<i32>> {
    use std::os::fd::AsRawFd;
    // SAFETY: the structure is ours, an all-zero one is valid (from the start, to the end whatever it is), and the call
    // only writes into it.
    let (done, lock) = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = libc::c_short::try_from(libc::F_WRLCK).unwrap_or(1);
        lock.l_whence = libc::c_short::try_from(libc::SEEK_SET).unwrap_or(0);
        (libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock), lock)
    };
    if done != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok((i32::from(lock.l_type) != libc::F_UNLCK).then_some(lock.l_pid))
}

/// Takes a shared lock of the kind that `fcntl` takes on an open file that can be read, from its start to its end whatever
/// that is. False when somebody holds it for himself. It goes with the descriptor, and no other descriptor of the same
/// file takes it away when it is closed, as it would with the older kind.
///
/// # Errors
/// What the system says; some network file systems have no such locks.
#[cfg(target_os = "linux")]
pub fn share_lock(file: std::os::fd::BorrowedFd<'_>) -> std::io::Result<bool> {
    use std::os::fd::AsRawFd;
    // SAFETY: the structure is ours, an all-zero one is valid (from the start, to the end; a process number of 0 is what
    // this kind of lock wants), and the call only reads it.
    let done = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = libc::c_short::try_from(libc::F_RDLCK).unwrap_or(0);
        lock.l_whence = libc::c_short::try_from(libc::SEEK_SET).unwrap_or(0);
        libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock)
    };
    if done == 0 {
        return Ok(true);
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_asks_for_the_idle_class_gets_it() {
        let class = std::thread::spawn(|| {
            let done = super::set_idle_io_priority();
            // SAFETY: the call takes two integers and touches no memory of ours.
            let class = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) };
            (done, class >> 13)
        });
        let (done, class) = class.join().unwrap();
        if done {
            assert_eq!(class, 3);
        } else {
            eprintln!("skipped: this system does not let a thread lower its own priority");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_without_a_size_has_no_known_free_space_rather_than_none() {
        let proc = Path::new("/proc/self");
        if rustix::fs::statvfs(proc).is_ok_and(|stat| stat.f_blocks == 0) {
            assert_eq!(super::free_bytes(proc), None);
        } else {
            eprintln!("skipped: no file system without a size is mounted here");
        }
    }

    #[cfg(unix)]
    #[test]
    fn free_space_is_known_where_there_is_a_file_system() {
        let folder = tempfile::TempDir::new().unwrap();
        let stat = rustix::fs::statvfs(folder.path()).unwrap();
        let whole = stat.f_blocks * stat.f_frsize;
        assert!(super::free_bytes(folder.path()).unwrap() <= whole);
        assert_eq!(super::free_bytes(Path::new("/nonexistent/worldkeep")), None);
    }
}
