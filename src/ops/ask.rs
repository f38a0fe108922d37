//! From a question to a plan, and from a confirmed plan to its end: what the command line and the browser call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::history::{self, Entry};
use super::keep::{KEEP, recycle_of};
use super::run::Done;
use super::setting::Setting;
use super::tree::Progress;
use super::{draft, fresh, liveness, purge, run, undo};
use crate::games::{self, Context};
use crate::model::outline::Ask;
use crate::model::plan::{Confirmed, Operation, Outcome, Plan, Reason, Refusal};
use crate::model::{Cancel, Server};

/// What would be done, and what was seen of a server.
#[derive(Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The server; none when none can be concerned.
    pub server: Option<Server>,
}

/// Plans.
pub fn plan(ask: &Ask<'_>, context: &Context, setting: &Setting) -> Result<Planned, Refusal> {
    if setting.read_only {
        return Err(Refusal::new(Reason::ReadOnly, "Changes are switched off."));
    }
    let Some(game) = games::by_id(ask.profile.game) else {
        return Err(Refusal::new(Reason::NotSupported, "The game of this save is not known."));
    };
    let outline = game.plan(ask, context)?;
    let server = outline.traces.as_ref().map(|traces| liveness::look(traces, setting));
    let plan = draft::draft(outline, server.as_ref(), setting)?;
    Ok(Planned { plan, server })
}

/// Carries a confirmed plan out.
pub fn perform(
    confirmed: Confirmed,
    setting: &Setting,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Done {
    let name = confirmed.plan().content().name.clone();
    match fresh::check(confirmed) {
        Ok(fresh) => run::run(&fresh, setting, cancel, progress),
        Err(refusal) => Done { name, outcome: Outcome::Refused(refusal), told: Vec::new(), server_came_up: false },
    }
}

/// True for plans that do the same to the same files. Their own names follow from the state of the disk and may differ.
pub fn same(one: &Plan, other: &Plan) -> bool {
    let plain = |plan: &Plan| {
        let draft = plan.content();
        let own = draft.name.as_str();
        let steps: Vec<String> = draft.steps.iter().map(|step| format!("{step:?}").replace(own, "")).collect();
        let warnings: Vec<_> = draft.warnings.iter().map(|warning| warning.code).collect();
        (draft.operation, draft.subject.clone(), draft.keep.clone(), draft.undoes.clone(), steps, warnings)
    };
    plain(one) == plain(other)
}

/// The plan that takes an operation back, and what was seen of a server.
pub fn undo(entry: &Entry, setting: &Setting) -> Result<Planned, Refusal> {
    undo::planned(entry, setting)
}

/// The operation that an undo without a name is about: the newest that is not taken back. What only takes something back is
/// no step of its own, so that one undo after the other goes on into the past.
pub fn last(entries: &[Entry]) -> Option<&Entry> {
    entries.iter().find(|entry| {
        entry.undone_by.is_none() && entry.record.operation != Operation::Purge && !history::takes_back(entry, entries)
    })
}

/// The plan that removes for good what these operations of one keeping folder put aside.
pub fn purge(entries: &[Entry], setting: &Setting) -> Result<Planned, Refusal> {
    Ok(Planned { plan: purge::plan(entries, setting)?, server: None })
}

/// Those of some operations that keep anything, and were begun at least so many seconds ago, by keeping folder.
pub fn to_purge(entries: &[Entry], older: Option<u64>, setting: &Setting) -> Vec<Vec<Entry>> {
    let old_enough = |entry: &&Entry| {
        let age = setting.now.as_second().saturating_sub(entry.record.at.as_second());
        older.is_none_or(|older| i64::try_from(older).is_ok_and(|older| age >= older))
    };
    let keeps = |entry: &&Entry| {
        let kept = recycle_of(&entry.record.keep, &entry.record.name);
        kept.symlink_metadata().is_ok()
    };
    let mut groups: Vec<Vec<Entry>> = Vec::new();
    for entry in entries.iter().filter(old_enough).filter(keeps) {
        let same = |group: &&mut Vec<Entry>| group.first().is_some_and(|first| first.record.keep == entry.record.keep);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(entry.clone()),
            None => groups.push(vec![entry.clone()]),
        }
    }
    groups
}

/// The keeping folders that could concern what lies below these folders: those that are there, in each of them and in the
/// folders above it. Sorted.
pub fn keeps_of<'p>(roots: impl IntoIterator<Item = &'p Path>) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for root in roots {
        // What a keeping folder remembers are paths without links.
        let Ok(root) = root.canonicalize() else { continue };
        let candidates = root.ancestors().map(|folder| folder.join(KEEP));
        found.extend(candidates.filter(|keep| keep.symlink_metadata().is_ok_and(|about| about.is_dir())));
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::keeps_of;

    #[test]
    fn keeping_folders_lie_in_a_root_or_above_it() {
        let temp = tempfile::TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in ["a/worlds_local", "a/.worldkeep", ".worldkeep", "b/worlds_local"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("b/.worldkeep"), "a file").unwrap();
        let of = |roots: &[&str]| {
            let roots: Vec<_> = roots.iter().map(|root| base.join(root)).collect();
            let mut keeps = keeps_of(roots.iter().map(std::path::PathBuf::as_path));
            keeps.retain(|keep| keep.starts_with(&base));
            keeps
        };
        assert_eq!(of(&["a/worlds_local", "a"]), [base.join(".worldkeep"), base.join("a/.worldkeep")]);
        assert_eq!(of(&["b/worlds_local"]), [base.join(".worldkeep")]);
        assert_eq!(of(&["gone"]), Vec::<std::path::PathBuf>::new());
    }
}
