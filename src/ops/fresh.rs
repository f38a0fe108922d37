//! A confirmed plan that still fits the disk.

use std::path::Path;

use super::Failure;
use crate::model::plan::{Confirmed, Fingerprint, Plan, Reason, Refusal};
use crate::model::shown_path;

/// A confirmed plan, everything of which was computed from what is on the disk now; only [`check`] makes one, and the
/// engine takes nothing else.
#[derive(Debug)]
pub struct Fresh {
    confirmed: Confirmed,
}

impl Fresh {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.confirmed.plan()
    }
}

/// Looks at everything that a plan was computed from once more; refuses at the first thing that is not what it was.
pub fn check(confirmed: Confirmed) -> Result<Fresh, Refusal> {
    for witness in &confirmed.plan().content().witnesses {
        compare(&witness.path, witness.was, false)?;
    }
    Ok(Fresh { confirmed })
}

/// The same once more, when the keeping folder is locked and may hold a stage: what lies in it is our own by now, and the
/// folder that holds it may have got it as a new entry.
#[cfg(target_os = "linux")]
pub(super) fn check_again(fresh: &Fresh) -> Result<(), Refusal> {
    let content = fresh.plan().content();
    let outside = content.witnesses.iter().filter(|witness| !witness.path.starts_with(&content.keep));
    for witness in outside {
        compare(&witness.path, witness.was, Some(witness.path.as_path()) == content.keep.parent())?;
    }
    Ok(())
}

fn compare(path: &Path, was: Option<Fingerprint>, only_itself: bool) -> Result<(), Refusal> {
    let now = fingerprint(path).map_err(|failure| refusal(&failure))?;
    let itself = |print: Fingerprint| (print.device, print.inode);
    let what = match (was, now) {
        (was, now) if was == now => return Ok(()),
        (Some(was), Some(now)) if only_itself && itself(was) == itself(now) => return Ok(()),
        (Some(_), None) => "is gone",
        (None, _) => "is there now",
        (Some(_), Some(_)) => "changed",
    };
    Err(Refusal::new(Reason::Stale, format!("'{}' {what} since the plan was made.", shown_path(path))))
}

fn refusal(failure: &Failure) -> Refusal {
    let reason = match failure.cause {
        super::Cause::Platform => Reason::Platform,
        _ => Reason::Stale,
    };
    Refusal::new(reason, failure.to_string())
}

/// What lies at an absolute path without links; none when nothing does. A link at its end is looked at itself.
#[cfg(target_os = "linux")]
pub fn fingerprint(path: &Path) -> Result<Option<Fingerprint>, Failure> {
    use rustix::fs::{AtFlags, statat};
    use rustix::io::Errno;

    use super::{Act, Cause, Root, Side, State};

    let failure = |cause| Failure {
        act: Act::Look,
        side: Side::Source,
        path: path.to_path_buf(),
        cause,
        state: State::NothingMade,
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(failure(Cause::NotDirect)) };
    let parent = match Root::open(parent) {
        Err(Failure { cause: Cause::System(error), .. }) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        parent => parent?,
    };
    match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(failure(Cause::System(error.into()))),
    }
}

#[cfg(target_os = "linux")]
#[allow(clippy::useless_conversion, reason = "the widths of these fields differ between machines")]
fn of(stat: &rustix::fs::Stat) -> Fingerprint {
    Fingerprint {
        device: stat.st_dev.into(),
        inode: stat.st_ino.into(),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: (stat.st_mtime.into(), u32::try_from(stat.st_mtime_nsec).unwrap_or(0)),
    }
}

/// Refuses: operations are not proven on this system.
#[cfg(not(target_os = "linux"))]
pub fn fingerprint(path: &Path) -> Result<Option<Fingerprint>, Failure> {
    match super::Root::open(path)? {}
}
