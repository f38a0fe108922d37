//! Where the keeping folder lies, and what is mounted or linked in between.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FsWord, accessat, statfs};
use rustix::io::Errno;

use super::steps::recorded;
use crate::model::outline::{Change, Origin, Outline};
use crate::model::plan::{Reason, Refusal, Warning, WarningCode};
use crate::model::shown_path;
use crate::ops::keep::KEEP;
use crate::ops::mounts::{self, Elsewhere, Mount};
use crate::ops::root::direct;
use crate::ops::setting::Setting;

/// What was found.
pub(super) struct Places {
    /// The keeping folder, which need not be there yet.
    pub(super) keep: PathBuf,
    /// The folder that holds it.
    pub(super) top: PathBuf,
}

/// Names that get a rename, in the order of the outline.
pub(super) fn touched(outline: &Outline) -> Vec<&Path> {
    let mut touched = Vec::new();
    for change in &outline.changes {
        match change {
            Change::Put { to: path, .. } | Change::Park(path) => touched.push(path.as_path()),
            Change::Move { from, to } => touched.extend([from.as_path(), to.as_path()]),
        }
    }
    touched
}

/// Refuses a name in something else that gets another name: how far an interrupted operation is, is found out name by name.
pub(super) fn apart(outline: &Outline) -> Result<(), Refusal> {
    let paths = touched(outline);
    for path in &paths {
        if let Some(of) = paths.iter().find(|of| path != *of && path.starts_with(of)) {
            let text = format!("'{}' lies in '{}', and both would get another name.", shown_path(path), shown_path(of));
            return Err(Refusal::new(Reason::NotSupported, text));
        }
    }
    Ok(())
}

/// Refuses paths with links in them, and what is mounted.
pub(super) fn check(outline: &Outline, setting: &Setting) -> Result<(), Refusal> {
    let touched = touched(outline);
    if touched.is_empty() {
        return Err(Refusal::new(Reason::NotSupported, "Nothing would be changed."));
    }
    for path in &touched {
        plain(path)?;
    }
    for change in &outline.changes {
        if let Change::Put { fresh, .. } = change {
            plain(origin_path(&fresh.origin))?;
            plain(&fresh.like)?;
        }
    }
    for path in &touched {
        not_mounted(path)?;
    }
    not_mounted_elsewhere(&touched, &setting.proc)
}

pub(super) fn find(outline: &Outline) -> Result<Places, Refusal> {
    let top = top(outline, &touched(outline))?;
    Ok(Places { keep: top.join(KEEP), top })
}

/// The file or folder on disk that something is made from.
pub(super) fn origin_path(origin: &Origin) -> &Path {
    match origin {
        Origin::Whole(path) => path,
        Origin::Files { folder, .. } => folder,
        Origin::Members { archive, .. } => archive,
    }
}

fn not_copyable(text: String) -> Refusal {
    Refusal::new(Reason::NotCopyable, text)
}

/// Refuses a path of which a part is a link, its end included, and one whose folder is not there.
fn plain(path: &Path) -> Result<(), Refusal> {
    let shown = shown_path(path);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(not_copyable(format!("'{shown}' is no path of a save.")));
    };
    let real = |path: &Path| {
        path.canonicalize().map_or_else(|_| "nowhere".to_owned(), |real| format!("'{}'", shown_path(&real)))
    };
    match direct(parent) {
        Ok(_) => {}
        Err(Errno::LOOP) => {
            return Err(not_copyable(format!(
                "A link is part of the path '{shown}', so that a rename would change the link. Its real folder is {}: name the save by that.",
                real(parent)
            )));
        }
        Err(Errno::NOENT | Errno::NOTDIR) => {
            return Err(Refusal::new(Reason::SourceGone, format!("There is no folder '{}'.", shown_path(parent))));
        }
        Err(Errno::ACCESS | Errno::PERM) => {
            let text = format!("We may not enter '{}'.", shown_path(parent));
            return Err(Refusal::new(Reason::NotPermitted, text));
        }
        Err(error) => {
            let text = format!("'{}' cannot be opened: {}.", shown_path(parent), std::io::Error::from(error));
            return Err(Refusal::new(Reason::SourceGone, text));
        }
    }
    if parent.join(name).symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        return Err(not_copyable(format!(
            "'{shown}' is a link to {}: a rename would move the link, and not what it leads to. Name the save by its real path.",
            real(path)
        )));
    }
    Ok(())
}

/// Refuses what is a mount point: it can get no other name.
fn not_mounted(path: &Path) -> Result<(), Refusal> {
    let (Ok(own), Some(Ok(parent))) = (mounts::look(path), path.parent().map(mounts::look)) else { return Ok(()) };
    if own.mount != parent.mount {
        let text = format!("'{}' is a mount point, which cannot be renamed.", shown_path(path));
        return Err(Refusal::new(Reason::Mounted, text));
    }
    Ok(())
}

/// Refuses what some process has mounted by itself, or with something in it: that process would go on with what we park.
fn not_mounted_elsewhere(touched: &[&Path], proc: &Path) -> Result<(), Refusal> {
    let own = mounts::own(proc);
    let all = mounts::everywhere(proc);
    for path in touched {
        if path.symlink_metadata().is_err() {
            continue;
        }
        let id = mounts::look(path).ok().and_then(|looked| looked.mount);
        if let Some(mount) = own.iter().find(|mount| mount.point.starts_with(path)) {
            let text =
                format!("Something is mounted at '{}', inside of what would be renamed.", shown_path(&mount.point));
            return Err(Refusal::new(Reason::Mounted, text));
        }
        let Some(holds) = mounts::holding(&own, path, id) else { continue };
        let Some(inside) = inside(holds, path) else { continue };
        if path.is_dir() && holds.overlay.as_ref().is_some_and(|overlay| !overlay.can_rename(&inside)) {
            let text = format!(
                "'{}' is on the overlay that is mounted at '{}', and belongs to a lower layer of it, or may do so: the system \
                 does not rename such a folder. Put the saves on a volume or a bind mount of their own, or do this on the \
                 folder behind the overlay.",
                shown_path(path),
                shown_path(&holds.point)
            );
            return Err(Refusal::new(Reason::Mounted, text));
        }
        if let Some(other) =
            all.iter().find(|other| other.mount.device == holds.device && other.mount.root.starts_with(&inside))
        {
            return Err(Refusal::new(Reason::Mounted, elsewhere(path, other)));
        }
    }
    Ok(())
}

/// The path in the file system of something on a mount.
fn inside(mount: &Mount, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(&mount.point).ok().map(|below| mount.root.join(below))
}

fn elsewhere(path: &Path, other: &Elsewhere) -> String {
    let by = match other.process {
        Some(process) => format!("the process {process} (a container, most likely)"),
        None => "this system".to_owned(),
    };
    format!(
        "'{}', or something in it, is mounted at '{}' for {by}, which would go on with the state that is put aside.",
        shown_path(path),
        shown_path(&other.mount.point)
    )
}

/// The folder for the keeping folder: the nearest one that holds everything, on the same mount, into which no game looks and
/// we may write.
fn top(outline: &Outline, touched: &[&Path]) -> Result<PathBuf, Refusal> {
    let root = &outline.root;
    let mut place = None;
    for path in touched {
        let parent = path.parent().unwrap_or(path);
        let found = place_of(parent)?;
        if place.is_some_and(|place| place != found) {
            let text = format!(
                "'{}' lies on another file system than the rest of what would be changed, so that it could not be done wholly or not at all.",
                shown_path(parent)
            );
            return Err(Refusal::new(Reason::NoStage, text));
        }
        place = Some(found);
    }
    let Some(place) = place else { return Err(Refusal::new(Reason::NotSupported, "Nothing would be changed.")) };
    let mut why = Vec::new();
    // The nearest folder that could have been used says what to do.
    let mut reason = None;
    for folder in root.ancestors() {
        let holds_all = touched.iter().all(|path| path.starts_with(folder) && *path != folder);
        if !holds_all {
            continue;
        }
        if direct(folder).is_err() || place_of(folder).ok() != Some(place) {
            why.push(format!("'{}' lies on another file system", shown_path(folder)));
            break;
        }
        if outline.scanned.iter().any(|scanned| folder.starts_with(scanned)) {
            why.push(format!("the game looks for saves in '{}'", shown_path(folder)));
            continue;
        }
        match usable(folder, place) {
            Ok(()) => return Ok(folder.to_path_buf()),
            Err((of, words)) => {
                reason = reason.or(Some(of));
                why.push(words);
            }
        }
        // A second keeping folder would have a lock of its own, so that two operations could run at once.
        if recorded(&folder.join(KEEP)) {
            break;
        }
    }
    let text = format!("There is no folder for the new state beside '{}': {}.", shown_path(root), why.join("; "));
    Err(Refusal::new(reason.unwrap_or(Reason::NoStage), text))
}

type Place = (u64, Option<u64>);

/// Device and mount: what renames cannot cross.
fn place_of(folder: &Path) -> Result<Place, Refusal> {
    let gone = |error: std::io::Error| {
        Refusal::new(Reason::SourceGone, format!("'{}' cannot be looked at: {error}.", shown_path(folder)))
    };
    let meta = folder.symlink_metadata().map_err(gone)?;
    let mount = mounts::look(folder).map_err(|error| gone(error.into()))?.mount;
    Ok((meta.dev(), mount))
}

/// The error is the end of a sentence.
fn usable(folder: &Path, place: Place) -> Result<(), (Reason, String)> {
    let keep = folder.join(KEEP);
    let no_stage = |words: String| Err((Reason::NoStage, words));
    let holder = match keep.symlink_metadata() {
        Ok(meta) if meta.is_dir() && place_of(&keep).ok() == Some(place) => &keep,
        Ok(meta) if meta.is_dir() => return no_stage(format!("something is mounted at '{}'", shown_path(&keep))),
        Ok(_) => return no_stage(format!("'{}' is there and is no folder", shown_path(&keep))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => folder,
        Err(error) => return no_stage(format!("'{}' cannot be looked at: {error}", shown_path(&keep))),
    };
    if mounts::look(holder).is_ok_and(|looked| looked.immutable) {
        return Err((
            Reason::NotPermitted,
            format!("'{}' is immutable (`chattr -i` takes it off)", shown_path(holder)),
        ));
    }
    may_write(holder).map_err(|error| (Reason::NotPermitted, denied(holder, error)))
}

/// Whether we may make and rename entries of a folder, by the system's own word.
pub(super) fn may_write(folder: &Path) -> Result<(), Errno> {
    accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
}

/// Why not, as the end of a sentence.
pub(super) fn denied(folder: &Path, error: Errno) -> String {
    let shown = shown_path(folder);
    match error {
        Errno::ROFS => format!("'{shown}' is on a file system that is mounted read-only"),
        Errno::ACCESS | Errno::PERM => {
            let rights = folder.metadata().map_or_else(
                |_| String::new(),
                |meta| format!(" (mode {:04o}, owner {}:{})", meta.mode() & 0o7777, meta.uid(), meta.gid()),
            );
            format!("we may not write into '{shown}'{rights}")
        }
        error => format!("'{shown}' cannot be written: {}", std::io::Error::from(error)),
    }
}

/// Says when our own mounts cannot be looked at. Those of other users' processes are closed to whoever is not root; whether one
/// of them could be a server in a container is for the look at servers to tell.
pub(super) fn unseen(setting: &Setting) -> Option<Warning> {
    let proc = shown_path(&setting.proc);
    let error = mounts::unreadable(&setting.proc)?;
    let text = format!(
        "'{proc}/self/mountinfo' cannot be read ({error}): whether something is mounted in what is renamed, or shows it \
         elsewhere, could not be told."
    );
    Some(Warning { code: WarningCode::LivenessUnknown, text })
}

/// What is seen of a server through the network or through a program is not all.
pub(super) fn of_file_system(outline: &Outline, places: &Places) -> Option<Warning> {
    outline.traces.as_ref()?;
    let kind = far(statfs(&places.top).ok()?.f_type)?;
    let text = format!(
        "'{}' is on {kind}: a server on another machine, or one that uses the folder behind it, would not be seen from here.",
        shown_path(&places.top)
    );
    Some(Warning { code: WarningCode::LivenessUnknown, text })
}

/// The numbers are those of `man 2 statfs`.
fn far(kind: FsWord) -> Option<&'static str> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "all of them have 32 bits")]
    let kind = kind as u32;
    match kind {
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("a Windows share"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("CephFS"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x0116_1970 => Some("GFS2"),
        0x7461_636f => Some("OCFS2"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x6573_5546 => Some("FUSE"),
        _ => None,
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::far;

    #[test]
    fn what_others_may_write_behind_our_back_is_known_by_its_number() {
        assert_eq!(far(0x6969), Some("NFS"));
        assert_eq!(far(0xff53_4d42), Some("a Windows share"));
        // The field is signed on some machines, and its upper half is then all ones.
        assert_eq!(far(0xffff_ffff_ff53_4d42_u64.cast_signed()), Some("a Windows share"));
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(far(local), None);
        }
    }
}
