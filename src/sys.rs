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
