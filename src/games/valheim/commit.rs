//! What the game's commit rule says about the generations in a folder, and what the game would do at its next load.

use std::path::Path;

use jiff::Timestamp;

use super::NO_FINISHED_SAVE;
use super::examine::BEING_WRITTEN;
use super::folder::{FolderView, Generation, MOST_GENERATIONS, main_name};
use crate::games::Context;
use crate::model::human::age;
use crate::model::{Code, Finding, shown, shown_path};
use crate::store::Store;

/// What a folder, or a generation in it, is looked at as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The world's live folder.
    Live,
    /// One generation of the live folder besides the live one.
    Generation,
    /// A folder that is a backup.
    Backup,
}

/// What stands beside the generation that counts; without one, why there is none.
pub(super) fn beside(
    store: &dyn Store,
    dir: &Path,
    view: &FolderView,
    counts: Option<u64>,
    role: Role,
    context: &Context,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    match counts {
        // An older generation has the live one behind it, which is complete.
        Some(_) if role == Role::Generation => {}
        Some(live) => {
            let newest = view.generations.range(live.saturating_add(1)..).rev().take(MOST_GENERATIONS);
            findings.extend(newest.map(|(&n, files)| newer(store, dir, view, live, n, files, role, context)));
            crowded(dir, view, live, &mut findings);
        }
        None => findings.push(nothing_counts(store, dir, view, role, context)),
    }
    strays(dir, view, role, &mut findings);
    findings
}

/// What one generation besides the live one is.
pub(super) fn one(store: &dyn Store, dir: &Path, view: &FolderView, n: u64, context: &Context) -> Finding {
    let at = shown_path(&dir.join(main_name(n, "*")));
    let newer = view.live().filter(|&live| live > n);
    match (view.generations.get(&n), newer) {
        (Some(generation), Some(live)) => remains(dir, n, live, &list(&generation.missing())),
        (Some(generation), None) if generation.committed() => Finding::error(
            Code::NewestIncomplete,
            format!("Save {n} has its .ok but no {}.", list(&generation.missing())),
            "Do not start the server on it; use a save that is whole.",
        )
        .in_file(at),
        (Some(generation), None) if view.newest() != Some(n) => Finding::error(
            Code::NoFinishedSave,
            format!("Save {n} has no {}, and there is a newer one.", list(&generation.missing())),
            "Nothing to do.",
        )
        .in_file(at),
        (Some(_), None) => unfinished(store, dir, view, n, true, context).in_file(at),
        (None, _) => Finding::error(
            Code::NoFinishedSave,
            format!("Save {n} is gone: the game deletes a save's files once a newer one is finished."),
            "Look at the live save.",
        )
        .in_file(at),
    }
}

/// What is left of a save behind a newer finished one, while the game deletes it or after it could not.
pub(super) fn remains(dir: &Path, n: u64, live: u64, gone: &str) -> Finding {
    Finding::error(
        Code::NoFinishedSave,
        format!(
            "These are the remains of save {n}, without {gone}: save {live} replaced it, and the game deletes what a \
             newer save no longer needs."
        ),
        "Nothing to do.",
    )
    .in_file(shown_path(&dir.join(main_name(n, "*"))))
}

#[allow(clippy::too_many_arguments)] // What the sentence needs to know; all of it is at hand in the one caller.
fn newer(
    store: &dyn Store,
    dir: &Path,
    view: &FolderView,
    live: u64,
    n: u64,
    generation: &Generation,
    role: Role,
    context: &Context,
) -> Finding {
    let at = shown_path(&dir.join(main_name(n, "*")));
    if !generation.committed() {
        return unfinished(store, dir, view, n, false, context).in_file(at);
    }
    let missing = generation.missing();
    let chunks = view.chunks.len();
    let would = if missing.contains(&"db2") {
        format!(
            " Build 1.0.12 was seen to make a new world on the same seed here, to save it, and to delete the {chunks} \
             chunk files. By its counting rule it would take save {live} and delete the files of save {n}."
        )
    } else {
        format!(
            " By its counting rule the game would take save {live} at its next load and delete the files of save {n} \
             and every chunk file that save {live} does not name."
        )
    };
    let text =
        format!("Newest save {n} has its .ok but no {}; the newest complete save is {live}.{would}", list(&missing));
    let next = match role {
        Role::Backup => format!("Copy save {live} alone into a new world, and look at that."),
        _ => format!("Do not start the server. Copy save {live} to a new world name first."),
    };
    Finding::error(Code::NewestIncomplete, text, next).in_file(at)
}

/// A generation without its commit marker. As a layer of its own it holds no finished save; beside the live one it
/// is only worth knowing.
fn unfinished(store: &dyn Store, dir: &Path, view: &FolderView, n: u64, own: bool, context: &Context) -> Finding {
    let changed = view.newest_change(store, dir, n);
    let young = is_young(changed, context);
    let ago = changed.map_or_else(|| "unknown".to_owned(), |at| age(context.now, at));
    let (code, text, next) = if young {
        (
            Code::SaveInProgress,
            format!("Save {n} is being written now: it has no .ok yet, and its newest file is from {ago}."),
            "Wait until it has landed.",
        )
    } else {
        (
            Code::SaveInterrupted,
            format!(
                "Save {n} was not finished: it has no .ok, and its newest file is {ago} old. The game deletes its files at the next load."
            ),
            "Nothing to do, unless saves keep failing: look at the server's log and the free space.",
        )
    };
    match (own, young) {
        (true, _) => Finding::error(code, text, next),
        (false, true) => Finding::note(code, text, next),
        (false, false) => Finding::warning(code, text, next),
    }
}

fn is_young(changed: Option<Timestamp>, context: &Context) -> bool {
    changed.is_some_and(|at| context.now.duration_since(at) < BEING_WRITTEN)
}

/// More than four files make the game pass a generation over: it counts, and does not look at the extensions.
fn crowded(dir: &Path, view: &FolderView, live: u64, findings: &mut Vec<Finding>) {
    let Some(generation) = view.generations.get(&live) else { return };
    let Some(first) = generation.extra.first() else { return };
    let next_best = view.generations.range(..live).rev().find(|(_, g)| g.counted() == 4).map(|(n, _)| *n);
    let instead = match next_best {
        Some(n) => format!("would load save {n} instead"),
        None => "would find no save in this folder and delete every _main file".to_owned(),
    };
    let extra: Vec<String> = generation.extra.iter().map(|name| shown(name)).collect();
    findings.push(
        Finding::error(
            Code::ExtraFile,
            format!(
                "{} makes save {live} have {} files. The game counts four; it {instead}.",
                extra.join(", "),
                generation.counted()
            ),
            "Move the extra file out of the folder while the server is stopped.",
        )
        .in_file(shown_path(&dir.join(first))),
    );
}

fn nothing_counts(store: &dyn Store, dir: &Path, view: &FolderView, role: Role, context: &Context) -> Finding {
    let at = shown_path(dir);
    if view.never_played() {
        return match role {
            Role::Backup => Finding::error(Code::NoFinishedSave, NO_FINISHED_SAVE, ""),
            _ => Finding::error(
                Code::NeverPlayed,
                "A new world that was never saved: only its metadata is there.",
                "Nothing to do; the first save makes it a world.",
            ),
        }
        .in_file(at);
    }
    let newest = view.newest();
    let committed = newest.and_then(|n| Some((n, view.generations.get(&n)?))).filter(|(_, g)| g.committed());
    if let (None, Some(n)) = (committed, newest)
        && is_young(view.newest_change(store, dir, n), context)
    {
        // A new world's first save, or one that is put in place: nothing is wrong with it yet.
        return unfinished(store, dir, view, n, true, context).in_file(at);
    }
    match (committed, role) {
        (Some((n, generation)), Role::Backup) => Finding::error(
            Code::NewestIncomplete,
            format!(
                "Save {n} has its .ok but no {}, and no other save here is complete. From a restore of it the game \
                 would make a new world on the same seed.",
                list(&generation.missing())
            ),
            "Do not restore it. If the game is making this backup just now, look again in a minute.",
        ),
        (Some((n, generation)), _) => Finding::error(
            Code::NewestIncomplete,
            format!(
                "Save {n} has its .ok but no {}, and no other save here is complete. The game would delete every _main \
                 file and make a new world on the same seed.",
                list(&generation.missing())
            ),
            "Do not start the server. Copy the folder somewhere safe, then restore from a backup.",
        ),
        (None, Role::Backup) => Finding::error(Code::NoFinishedSave, NO_FINISHED_SAVE, ""),
        (None, _) => Finding::error(
            Code::NoFinishedSave,
            "No save in this folder is finished: none has all four files. The game would delete every _main file at \
             its next load.",
            "Do not start the server. Copy the folder somewhere safe, then restore from a backup.",
        ),
    }
    .in_file(at)
}

/// Names in the folder that the game deletes, is confused by, or does not expect.
fn strays(dir: &Path, view: &FolderView, role: Role, findings: &mut Vec<Finding>) {
    if role == Role::Generation {
        return;
    }
    for name in view.odd_main.iter().take(MOST_GENERATIONS) {
        findings.push(
            Finding::error(
                Code::ExtraFile,
                format!(
                    "{} has no number after _main.; the game drops the whole folder from its list because of it.",
                    shown(name)
                ),
                "Move the file out of the folder while the server is stopped.",
            )
            .in_file(shown_path(&dir.join(name))),
        );
    }
    let inside: Vec<String> = view.pair_files.iter().chain(&view.folders).map(|n| shown_path(Path::new(n))).collect();
    if let Some(first) = inside.first() {
        findings.push(
            Finding::warning(
                Code::NestedWorld,
                format!("The folder holds {}, which the game does not expect inside a world.", some(&inside)),
                "Look at it by its path, and move it out while the server is stopped.",
            )
            .in_file(shown_path(&dir.join(first))),
        );
    }
    if let Some(first) = view.others.first() {
        let names: Vec<String> = view.others.iter().map(|n| shown_path(Path::new(n))).collect();
        findings.push(
            Finding::note(
                Code::ExtraFile,
                format!(
                    "The game does not read {}; it drops such files when it renames or copies the world.",
                    some(&names)
                ),
                "",
            )
            .in_file(shown_path(&dir.join(first))),
        );
    }
}

fn list(parts: &[&str]) -> String {
    parts.iter().map(|part| format!(".{part}")).collect::<Vec<_>>().join(", ")
}

/// The first three names and how many more there are.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 3 { format!("{shown} and {} more", names.len() - 3) } else { shown }
}
