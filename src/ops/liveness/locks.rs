//! Locks, of both kinds, asked about and never taken: a server that starts while we hold one would refuse to.

use std::fs::File;
use std::os::fd::AsFd;

use super::Seen;
use super::hold;
use super::targets::Targets;
use crate::model::outline::Traces;
use crate::model::shown_path;
use crate::ops::Setting;
use crate::sys;

/// The most bytes of the kernel's table of locks that are read.
const MOST_TABLE: u64 = 16 * 1024 * 1024;

pub(super) fn ask(traces: &Traces, targets: &Targets, renumbers: bool, setting: &Setting, seen: &mut Seen) {
    for path in &traces.locks {
        let file = match hold::open(path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(error) => {
                seen.unknown.push(format!("The lock '{}' cannot be looked at: {error}.", shown_path(path)));
                continue;
            }
        };
        match sys::lock_holder(file.as_fd()) {
            Ok(None) => {}
            Ok(Some(pid)) => {
                let who = if pid > 0 {
                    format!("process {pid}")
                } else {
                    "a process that cannot be seen from here".to_owned()
                };
                seen.running.push(format!("The lock '{}' is held by {who}.", shown_path(path)));
            }
            Err(error) => {
                seen.unknown.push(format!("The lock '{}' cannot be asked about: {error}.", shown_path(path)));
            }
        }
    }
    table(targets, renumbers, setting, seen);
}

/// The kernel's table also tells of the other kind of lock, which a question about the first does not see.
fn table(targets: &Targets, renumbers: bool, setting: &Setting, seen: &mut Seen) {
    use std::io::Read;
    let Ok(file) = File::open(setting.proc.join("locks")) else { return };
    let mut text = String::new();
    if file.take(MOST_TABLE).read_to_string(&mut text).is_err() {
        return;
    }
    for line in text.lines() {
        let Some((kind, pid, device, inode)) = read_line(line) else { continue };
        let ours = if renumbers { targets.has_inode(inode) } else { targets.ids.contains(&(device, inode)) };
        if ours && pid != i64::from(std::process::id()) {
            seen.running.push(match pid {
                1.. => format!("Process {pid} holds a lock ({kind}) on a file of the save."),
                _ => format!("A process that cannot be seen from here holds a lock ({kind}) on a file of the save."),
            });
        }
    }
}

/// `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`: the kind, the process, device and inode; a line that waits for a lock
/// has `->` before the kind.
fn read_line(line: &str) -> Option<(&str, i64, u64, u64)> {
    let mut words = line.split_ascii_whitespace().skip(1).filter(|word| *word != "->");
    let kind = words.next()?;
    let pid = words.nth(2)?.parse().ok()?;
    let mut place = words.next()?.split(':');
    let mut half = || u32::from_str_radix(place.next()?, 16).ok();
    let device = rustix::fs::makedev(half()?, half()?);
    Some((kind, pid, device, place.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use rustix::fs::makedev;

    use super::read_line;

    #[test]
    fn lines_of_the_table_of_locks() {
        assert_eq!(
            read_line("1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF"),
            Some(("POSIX", 1234, makedev(8, 1), 5678))
        );
        assert_eq!(read_line("2: FLOCK  ADVISORY  WRITE 7 00:28:99 0 EOF"), Some(("FLOCK", 7, makedev(0, 0x28), 99)));
        assert_eq!(read_line("3: OFDLCK ADVISORY  READ -1 fe:00:12 0 EOF"), Some(("OFDLCK", -1, makedev(0xfe, 0), 12)));
        assert_eq!(
            read_line("3: -> POSIX  ADVISORY  WRITE 8 fe:00:12 0 EOF"),
            Some(("POSIX", 8, makedev(0xfe, 0), 12))
        );
        for bad in ["", "1:", "1: POSIX", "1: POSIX ADVISORY WRITE x 08:01:1 0 EOF"] {
            assert_eq!(read_line(bad), None);
        }
    }
}
