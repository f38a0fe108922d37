//! The members that are wanted of an archive, and whether they can be had.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::model::{Cancel, shown_path};
use crate::ops::Cause;
use crate::store::{Ceilings, Effort, EntryKind, Store, StoreError, open_within};

/// An archive that was opened, and how many bytes each wanted member has.
pub(in crate::ops) struct Opened {
    pub(super) store: Box<dyn Store>,
    pub(in crate::ops) sizes: Vec<u64>,
    /// When the archive itself was last written.
    pub(super) written: Option<jiff::Timestamp>,
}

/// Opens an archive for these members. The error is the end of a sentence, safe to print, or the system's.
pub(in crate::ops) fn open(archive: &Path, members: &[(PathBuf, PathBuf)], cancel: &Cancel) -> Result<Opened, Cause> {
    check(members).map_err(Cause::Archive)?;
    let ceilings = Ceilings::default();
    let cause =
        |error: StoreError| if cancel.cancelled() { Cause::Cancelled } else { Cause::Archive(error.to_string()) };
    let store = open_within(archive, &ceilings, &Effort::any(cancel)).map_err(cause)?;
    if store.container() == crate::model::Container::Folder {
        return Err(Cause::Archive("it is a folder and no archive".to_owned()));
    }
    if let Some(damage) = store.damage() {
        return Err(Cause::Archive(damage.to_string()));
    }
    let mut sizes = Vec::with_capacity(members.len());
    let mut total = 0_u64;
    for (member, _) in members {
        let stat = store.stat(member).map_err(cause)?;
        if stat.kind != EntryKind::File {
            return Err(Cause::Archive(format!("'{}' in it is no file", shown_path(member))));
        }
        if stat.size > ceilings.archived_file {
            let (is, most) = (stat.size, ceilings.archived_file);
            return Err(Cause::Archive(format!(
                "'{}' in it has {is} bytes, over the ceiling of {most}",
                shown_path(member)
            )));
        }
        total = total.saturating_add(stat.size);
        sizes.push(stat.size);
    }
    if total > ceilings.archive_total {
        let most = ceilings.archive_total;
        return Err(Cause::Archive(format!("what is wanted of it has {total} bytes, over the ceiling of {most}")));
    }
    let written = std::fs::metadata(archive).and_then(|meta| meta.modified()).ok();
    let written = written.and_then(|at| jiff::Timestamp::try_from(at).ok());
    Ok(Opened { store, sizes, written })
}

/// Where each member goes: plain names, each once, none below another. The error is the end of a sentence.
fn check(members: &[(PathBuf, PathBuf)]) -> Result<(), String> {
    const LONGEST_NAME: usize = 255;
    let ceilings = Ceilings::default();
    if members.is_empty() {
        return Err("none of its files is wanted".to_owned());
    }
    if members.len() as u64 > ceilings.entries {
        return Err(format!("{} of its files are wanted, more than an archive may hold", members.len()));
    }
    let one_file = members.len() == 1;
    let mut files = HashSet::new();
    let mut folders = HashSet::new();
    for (_, below) in members {
        let odd = |why: &str| format!("'{}' {why}", shown_path(below));
        if below.as_os_str().is_empty() && one_file {
            return Ok(());
        }
        let mut folded = String::new();
        let parts: Vec<Component<'_>> = below.components().collect();
        if parts.is_empty() || parts.len() > ceilings.path_depth {
            return Err(odd("is no place for a file"));
        }
        let again: PathBuf = parts.iter().collect();
        if again.as_os_str() != below.as_os_str() {
            return Err(odd("is not written plainly"));
        }
        for (n, part) in parts.iter().enumerate() {
            let Component::Normal(name) = part else { return Err(odd("is no plain path below a folder")) };
            let Some(name) = name.to_str() else { return Err(odd("is no UTF-8")) };
            let bad = |c: char| c.is_control() || matches!(c, '\\' | '/');
            if name.len() > LONGEST_NAME || name.contains(bad) || name.ends_with(['.', ' ']) {
                return Err(odd("holds a name that not every system can have"));
            }
            if n > 0 {
                folders.insert(folded.clone());
                folded.push('/');
            }
            folded.push_str(&fold(name));
        }
        if !files.insert(folded) {
            return Err(odd("would be made twice"));
        }
    }
    if files.iter().any(|file| folders.contains(file)) {
        return Err("a file and a folder of one name would be made".to_owned());
    }
    Ok(())
}

/// Equal for names that some file system holds for one.
fn fold(name: &str) -> String {
    name.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
}
