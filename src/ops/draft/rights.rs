//! Whether the renames will be let through, and what of owners is lost.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{getegid, geteuid, getgroups};

use super::places::{denied, may_write, touched};
use super::sources::{Sources, gone};
use crate::model::outline::{Change, Outline};
use crate::model::plan::{Reason, Refusal, Warning, WarningCode};
use crate::model::{shown, shown_path};
use crate::ops::mounts;

const STICKY: u32 = 0o1000;

fn refused(text: String) -> Refusal {
    Refusal::new(Reason::NotPermitted, text)
}

/// Looks at every folder that gets a rename, and at everything that is renamed.
pub(super) fn check(outline: &Outline) -> Result<(), Refusal> {
    for path in touched(outline) {
        let Some(parent) = path.parent() else { continue };
        unlocked(parent)?;
        may_write(parent).map_err(|error| refused(sentence(&denied(parent, error))))?;
        let Ok(meta) = path.symlink_metadata() else { continue };
        unlocked(path)?;
        let me = geteuid();
        let holder = parent.metadata().map_err(|error| gone(parent, &error))?;
        let foreign = ![holder.uid(), meta.uid()].contains(&me.as_raw());
        if holder.mode() & STICKY != 0 && foreign && !me.is_root() {
            return Err(refused(format!(
                "'{}' belongs to the user {}, and in '{}' only the owner of a thing may rename it (sticky folder).",
                shown_path(path),
                meta.uid(),
                shown_path(parent)
            )));
        }
        // A folder that gets another parent is written itself.
        if meta.is_dir() {
            may_write(path).map_err(|error| refused(sentence(&denied(path, error))))?;
        }
    }
    Ok(())
}

/// The end of a sentence as one.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

fn unlocked(path: &Path) -> Result<(), Refusal> {
    let Ok(looked) = mounts::look(path) else { return Ok(()) };
    let what = match (looked.immutable, looked.append_only) {
        (true, _) => "immutable (`lsattr` shows i; `chattr -i` takes it off)",
        (_, true) => "append-only (`lsattr` shows a; `chattr -a` takes it off)",
        _ => return Ok(()),
    };
    Err(refused(format!("'{}' is {what}, so that it cannot be renamed.", shown_path(path))))
}

/// Says when something in what is copied has attributes that a copy does not get.
pub(super) fn attributes_not_kept(sources: &Sources) -> Option<Warning> {
    let (path, name) = sources.first_unkept.as_ref()?;
    let (shown, name) = (shown_path(path), shown(name));
    let text = match sources.unkept {
        1 => format!("'{shown}' has the attribute {name}, which is never copied: the new state will be without it."),
        count => format!(
            "{count} attributes are never copied, the first of them {name} of '{shown}': the new state will be without them."
        ),
    };
    Some(Warning { code: WarningCode::NotKept, text })
}

/// Says when the new state cannot belong to whom it should.
pub(super) fn not_kept(outline: &Outline) -> Result<Option<Warning>, Refusal> {
    let me = geteuid();
    if me.is_root() {
        return Ok(None);
    }
    let mut groups = getgroups().unwrap_or_default();
    groups.push(getegid());
    for change in &outline.changes {
        let Change::Put { fresh, .. } = change else { continue };
        let like = fresh.like.metadata().map_err(|error| gone(&fresh.like, &error))?;
        let group = groups.iter().any(|group| group.as_raw() == like.gid());
        if like.uid() == me.as_raw() && group {
            continue;
        }
        let text = format!(
            "'{}' belongs to {}:{}, and only root can give files away: the new state will belong to the user {}{}. Run as the \
             user who owns the save, or as root, to keep it.",
            shown_path(&fresh.like),
            like.uid(),
            like.gid(),
            me.as_raw(),
            if group { "" } else { " and to another group" }
        );
        return Ok(Some(Warning { code: WarningCode::NotKept, text }));
    }
    Ok(None)
}
