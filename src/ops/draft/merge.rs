//! A change inside of what is moved becomes part of the move.
//!
//! How far an interrupted operation is, is found out name by name, so that no name may lie in something else that is renamed.
//! What gets other files inside and another name outside is therefore made anew under the new name, and the old one is put
//! aside whole.

use std::path::{Path, PathBuf};

use crate::model::outline::{Change, Fresh, Origin};
use crate::model::plan::{Reason, Refusal};
use crate::model::shown_path;

/// The same changes, none of which lies in another.
pub(super) fn merged(changes: Vec<Change>) -> Result<Vec<Change>, Refusal> {
    let mut left: Vec<Option<Change>> = changes.into_iter().map(Some).collect();
    let mut merged = Vec::with_capacity(left.len());
    for n in 0..left.len() {
        let Some(change) = left.get_mut(n).and_then(Option::take) else { continue };
        match change {
            Change::Put { ref to, replaces: true, .. } if moved_later(&left, to) => {
                // It is done together with the move.
                if let Some(place) = left.get_mut(n) {
                    *place = Some(change);
                }
            }
            Change::Move { from, to } => {
                let puts: Vec<(PathBuf, Fresh)> = left
                    .iter_mut()
                    .take(n)
                    .filter(|earlier| matches!(earlier, Some(Change::Put { to, .. }) if to.starts_with(&from)))
                    .filter_map(|earlier| match earlier.take() {
                        Some(Change::Put { fresh, to, .. }) => Some((to, fresh)),
                        _ => None,
                    })
                    .collect();
                if puts.is_empty() {
                    merged.push(Change::Move { from, to });
                } else {
                    let fresh = anew(&from, puts)?;
                    merged.push(Change::Put { fresh, to, replaces: false });
                    merged.push(Change::Park(from));
                }
            }
            change => merged.push(change),
        }
    }
    apart(&merged)?;
    Ok(merged)
}

fn moved_later(left: &[Option<Change>], path: &Path) -> bool {
    left.iter().flatten().any(|change| matches!(change, Change::Move { from, .. } if path.starts_with(from)))
}

/// What is moved, with these new states in it.
fn anew(from: &Path, mut puts: Vec<(PathBuf, Fresh)>) -> Result<Fresh, Refusal> {
    if puts.len() == 1
        && let Some((_, fresh)) = puts.pop_if(|(to, _)| to == from)
    {
        return Ok(fresh);
    }
    let mut writes = Vec::new();
    for (to, fresh) in puts {
        let below = to.strip_prefix(from).unwrap_or(&to).to_path_buf();
        let mut own = fresh.writes.into_iter();
        match (fresh.origin, own.next(), own.next()) {
            (Origin::Whole(origin), Some((path, bytes)), None) if origin == to && path.as_os_str().is_empty() => {
                writes.push((below, bytes));
            }
            _ => return Err(inside(&to, from)),
        }
    }
    Ok(Fresh { origin: Origin::Whole(from.to_path_buf()), writes, like: from.to_path_buf() })
}

fn inside(path: &Path, of: &Path) -> Refusal {
    let text = format!("'{}' lies in '{}', and both would get another name.", shown_path(path), shown_path(of));
    Refusal::new(Reason::NotSupported, text)
}

fn apart(changes: &[Change]) -> Result<(), Refusal> {
    let paths = super::places::names(changes);
    for path in &paths {
        if let Some(of) = paths.iter().find(|of| path != *of && path.starts_with(of)) {
            return Err(inside(path, of));
        }
    }
    Ok(())
}
