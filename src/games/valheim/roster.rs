//! Which worlds a save root names, before anything but folders is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::folder::FolderView;
use super::names::{NameKind, classify, copied_from};
use super::pair::{Age, Suffix};
use super::places::{WORLDS_FOLDERS, is_world_folder, is_worlds_folder};
use crate::games::{Context, Part, Roster, RosterEntry};
use crate::model::{Code, Container, Finding, shown, shown_path};
use crate::store::{Entry, EntryKind, Store, StoreErrorKind};

/// The worlds below a root.
pub(super) fn roster(store: &dyn Store, root: &Path, context: &Context) -> Roster {
    let mut roster = Roster::default();
    let entries = match store.list(root) {
        Ok(entries) => entries,
        Err(error) => {
            roster.findings.push(error.finding());
            return roster;
        }
    };
    if is_world_folder(&entries) {
        roster.entries.push(lone_world(store, root));
        return roster;
    }
    let folders: Vec<&str> = WORLDS_FOLDERS
        .into_iter()
        .filter(|&folder| entries.iter().any(|e| e.name == folder && (e.kind != EntryKind::File || e.link)))
        .collect();
    if folders.is_empty() {
        worlds_folder(store, root, None, entries, context, &mut roster);
    }
    for &folder in &folders {
        let dir = root.join(folder);
        match store.list(&dir) {
            Ok(entries) => worlds_folder(store, &dir, Some(folder), entries, context, &mut roster),
            Err(error) => roster.findings.push(error.finding()),
        }
    }
    if folders.contains(&"worlds") {
        say_old_folder(folders.len() > 1, &mut roster);
    } else {
        // Every world lies where it is expected, which needs no word.
        roster.entries.iter_mut().for_each(|entry| entry.place = None);
    }
    make_keys_distinct(&mut roster.entries);
    roster
}

/// A world folder that is the root itself: inside an archive, or where the folder around it may not be listed.
fn lone_world(store: &dyn Store, root: &Path) -> RosterEntry {
    // Only an archive's name has an extension.
    let outer = match store.container() {
        Container::Folder | Container::Files => store.outer().file_name(),
        Container::Zip | Container::Tar => store.outer().file_stem(),
    };
    let name = root.file_name().or(outer).unwrap_or(OsStr::new("world"));
    RosterEntry {
        key: shown(&name.to_string_lossy()),
        name: name.to_owned(),
        place: None,
        dir: root.to_path_buf(),
        parts: Vec::new(),
        findings: Vec::new(),
    }
}

/// Sorts the names of one worlds folder into worlds.
fn worlds_folder(
    store: &dyn Store,
    dir: &Path,
    place: Option<&str>,
    entries: Vec<Entry>,
    context: &Context,
    roster: &mut Roster,
) {
    let mut groups: BTreeMap<OsString, RosterEntry> = BTreeMap::new();
    let mut sidecars = Vec::new();
    // The game scans its own worlds folders; in any other folder a stray folder is nobody's business.
    let scanned = place.is_some() || is_worlds_folder(dir.file_name().or(store.outer().file_name()));
    for entry in entries {
        if context.cancel.cancelled() {
            return;
        }
        let Entry { name, kind, link } = entry;
        let stem = match (kind, Suffix::split(&name)) {
            (EntryKind::Dir, _) if sort_folder(store, dir, &name, scanned, &mut roster.findings) => name.clone(),
            (EntryKind::Dir, _) => continue,
            (_, Some((stem, _))) => stem,
            (_, None) => {
                if link && scanned {
                    say_lost_link(store, &dir.join(&name), &mut roster.findings);
                }
                sidecars.push(name);
                continue;
            }
        };
        let owner = stem.to_str().map_or_else(|| stem.clone(), |stem| classify(stem).owner.into());
        let group = groups.entry(owner).or_insert_with_key(|owner| RosterEntry {
            key: world_key(place, owner),
            name: owner.clone(),
            place: place.map(str::to_owned),
            dir: dir.to_path_buf(),
            parts: Vec::new(),
            findings: Vec::new(),
        });
        group.parts.push(Part { name, kind });
    }
    drop_empty_groups(store, dir, scanned, &mut groups, &mut roster.findings);
    say_sidecars(dir, sidecars, &mut groups);
    say_names(&mut groups);
    roster.entries.extend(groups.into_values());
}

/// A world may lie behind a link to a disk that is not mounted, or to a folder that may not be entered.
fn say_lost_link(store: &dyn Store, path: &Path, findings: &mut Vec<Finding>) {
    match store.stat(path) {
        Err(error) => findings.push(error.finding()),
        Ok(stat) if stat.kind == EntryKind::Special => findings.push(
            Finding::warning(
                Code::SpecialFile,
                format!("{} is a link that leads nowhere; if it is a world, it cannot be seen.", shown_path(path)),
                "Mount the disk that it leads to, or mend the link.",
            )
            .in_file(shown_path(path)),
        ),
        Ok(_) => {}
    }
}

/// A folder whose name happens to end in a stamp makes no world: a group of nothing but folders must hold a save.
fn drop_empty_groups(
    store: &dyn Store,
    dir: &Path,
    scanned: bool,
    groups: &mut BTreeMap<OsString, RosterEntry>,
    findings: &mut Vec<Finding>,
) {
    groups.retain(|owner, group| {
        if group.parts.iter().any(|part| part.kind != EntryKind::Dir || part.name == *owner) {
            return true;
        }
        group.parts.retain(|part| is_save_folder(store, dir, &part.name, scanned, findings));
        !group.parts.is_empty()
    });
}

fn world_key(place: Option<&str>, name: &OsStr) -> String {
    let name = shown(&name.to_string_lossy());
    match place {
        Some("worlds") => format!("worlds/{name}"),
        _ => name,
    }
}

/// True when a folder in a worlds folder is a world or a backup of one; otherwise says what it is.
fn sort_folder(store: &dyn Store, dir: &Path, name: &OsStr, scanned: bool, findings: &mut Vec<Finding>) -> bool {
    // A name that the game takes for a backup belongs to its world whatever the folder holds; the survey reads it
    // anyway, and there are many of them.
    if name.to_str().is_some_and(|name| classify(name).kind != NameKind::World) {
        return true;
    }
    is_save_folder(store, dir, name, scanned, findings)
}

/// True when a folder holds a save, or may not be looked at; otherwise says what it is.
fn is_save_folder(store: &dyn Store, dir: &Path, name: &OsStr, scanned: bool, findings: &mut Vec<Finding>) -> bool {
    let path = dir.join(name);
    let text = shown_path(Path::new(name));
    let at = shown_path(&path);
    let view = match FolderView::read(store, &path) {
        Ok(view) => view,
        // Not being allowed to look is no reason to leave a world out: the survey says why.
        Err(error) if matches!(error.kind, StoreErrorKind::Denied(_)) => return true,
        Err(error) => {
            findings.push(error.finding());
            return false;
        }
    };
    if view.is_world() || !view.odd_main.is_empty() || !view.chunks.is_empty() {
        return true;
    }
    if view.is_cache_only() {
        let what = if view.caches > 0 { "holds only a map cache" } else { "is empty" };
        findings.push(
            Finding::note(
                Code::MapCacheOnly,
                format!("{text} {what}: no world is stored here. A world in the Steam cloud leaves such a folder."),
                "Look for the world in the Steam cloud folder of the player who hosts it.",
            )
            .in_file(at),
        );
        return false;
    }
    if !scanned {
        return false;
    }
    let nested = nested_worlds(store, &path, &view);
    if nested.is_empty() {
        findings.push(
            Finding::warning(
                Code::JunkFolder,
                format!("{text} is no world. A 1.0 server scans this folder too and may hang on it."),
                "Move it out of the worlds folder while the server is stopped.",
            )
            .in_file(at),
        );
    } else {
        findings.push(
            Finding::warning(
                Code::NestedWorld,
                format!("{text} holds {} one folder too deep; the game does not list it.", nested.join(", ")),
                "Copy it one folder up, under a name that is not taken there.",
            )
            .in_file(at),
        );
    }
    false
}

fn nested_worlds(store: &dyn Store, path: &Path, view: &FolderView) -> Vec<String> {
    let pairs = view.pair_files.iter().filter_map(|name| Suffix::split(name)).map(|(stem, _)| stem);
    let folders = view
        .folders
        .iter()
        .filter(|name| FolderView::read(store, &path.join(name)).is_ok_and(|inner| inner.is_world()))
        .cloned();
    let mut names: Vec<String> = pairs.chain(folders).map(|name| shown_path(Path::new(&name))).collect();
    names.sort();
    names.dedup();
    names
}

/// Files that no rule of the game reads, told on the world whose name they begin with.
fn say_sidecars(dir: &Path, sidecars: Vec<OsString>, groups: &mut BTreeMap<OsString, RosterEntry>) {
    for name in sidecars {
        let Some(text) = name.to_str() else { continue };
        // `_Dedicated.db.new_` and `W.db.backup` belong to the world before the first dot that names one.
        let owner = text.match_indices('.').map(|(at, _)| OsStr::new(&text[..at])).find(|o| groups.contains_key(*o));
        let Some(owner) = owner else { continue };
        let finding = Finding::note(
            Code::ExtraFile,
            format!("{} lies beside this world, and the game does not read it.", shown(text)),
            "If a person or a tool made it as a copy, look at it under a name that the game reads, in another folder.",
        )
        .in_file(shown_path(&dir.join(text)));
        if let Some(group) = groups.get_mut(owner) {
            group.findings.push(finding);
        }
    }
}

/// What the names of one folder say about each other.
fn say_names(groups: &mut BTreeMap<OsString, RosterEntry>) {
    let mut folded: BTreeMap<String, Vec<OsString>> = BTreeMap::new();
    for name in groups.keys() {
        folded.entry(name.to_string_lossy().to_lowercase()).or_default().push(name.clone());
    }
    for twins in folded.into_values().filter(|twins| twins.len() > 1) {
        for name in &twins {
            let mut others: Vec<String> =
                twins.iter().filter(|t| *t != name).take(3).map(|t| shown_path(Path::new(t))).collect();
            if twins.len() > 4 {
                others.push(format!("{} more", twins.len() - 4));
            }
            if let Some(group) = groups.get_mut(name) {
                group.findings.push(Finding::warning(
                    Code::CaseTwin,
                    format!(
                        "{} differs from this name only in upper and lower case. Here they are two worlds; on Windows \
                         they would be one.",
                        others.join(", ")
                    ),
                    "Check the name that the server is started with, letter by letter.",
                ));
            }
        }
    }
    let names: BTreeSet<OsString> = groups.keys().cloned().collect();
    for (name, group) in groups.iter_mut() {
        let Some(text) = name.to_str() else {
            group.findings.push(Finding::warning(
                Code::OddName,
                format!("The name {} is not UTF-8; the game cannot open it by name.", shown_path(Path::new(name))),
                "Rename it to plain letters while the server is stopped.",
            ));
            continue;
        };
        if let Some(origin) = copied_from(text).filter(|_| classify(text).kind == NameKind::World) {
            let there = if names.contains(OsStr::new(origin)) { "" } else { ", which is not here" };
            group.findings.push(Finding::note(
                Code::DatedCopy,
                format!(
                    "The name looks like a copy of {}{there}; by the game's rule it is a world of its own.",
                    shown(origin)
                ),
                "To keep it as a backup that the game lists, name it NAME_backup_YYYYMMDD-HHMMSS.",
            ));
        }
    }
}

/// Current servers read `worlds_local`; a world that lies only in `worlds` is not theirs.
fn say_old_folder(both: bool, roster: &mut Roster) {
    // Backups alone are no world that a server would load.
    let local: BTreeSet<OsString> = roster
        .entries
        .iter()
        .filter(|e| e.place.as_deref() == Some("worlds_local") && has_live(e))
        .map(|e| e.name.clone())
        .collect();
    for entry in roster.entries.iter_mut().filter(|e| e.place.as_deref() == Some("worlds")) {
        let finding = if local.contains(&entry.name) {
            Finding::note(
                Code::OldFolder,
                "A world of this name lies in worlds_local too; servers since 0.209 load that one.",
                "Compare the two before you delete either.",
            )
        } else if both {
            Finding::warning(
                Code::OldFolder,
                "This world sits in the old folder; servers since 0.209 read worlds_local, do not see it, and would \
                 make a new world of this name.",
                "Stop the server and copy the world into worlds_local.",
            )
        } else {
            Finding::note(
                Code::OldFolder,
                "This world sits in the old folder; servers since 0.209 read worlds_local.",
                "Copy the world into worlds_local before you start a newer server.",
            )
        };
        entry.findings.push(finding);
    }
}

/// The names hold a live state, or what is left of one.
fn has_live(entry: &RosterEntry) -> bool {
    entry.parts.iter().any(|part| match part.kind {
        EntryKind::Dir => part.name == entry.name,
        _ => Suffix::split(&part.name).is_some_and(|(stem, s)| stem == entry.name && s.age() == Age::Current),
    })
}

/// Two names can look the same after escaping; ids must not.
fn make_keys_distinct(entries: &mut [RosterEntry]) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for entry in entries {
        if seen.contains(&entry.key) {
            let count = counts.entry(entry.key.clone()).or_insert(1);
            let plain = entry.key.clone();
            while seen.contains(&entry.key) {
                *count += 1;
                entry.key = format!("{plain}~{count}");
            }
        }
        seen.insert(entry.key.clone());
    }
}
