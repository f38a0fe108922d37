//! Where a name went that is not in the list of worlds, and by which rule.

use std::path::Path;

use super::failure::{Exit, Failure};
use super::target::canonical;
use crate::config::nearest;
use crate::games;
use crate::model::{Code, Container, Finding, Layer, Looked, Outcome, World, shown, shown_path};
use crate::scan::Catalog;

/// True when a name is a layer's own, or that of its path, of one of its files or of its archive, with or without
/// extensions.
pub(super) fn is_of_name(layer: &Layer, name: &str) -> bool {
    layer.key() == name || names(layer).any(|path| is_called(path, name))
}

/// The same with nothing left out.
pub(super) fn is_named(layer: &Layer, name: &str) -> bool {
    let is = |path: &Path| path.file_name().is_some_and(|file| shown_path(Path::new(file)) == shown(name));
    layer.key() == name || names(layer).any(is)
}

fn names(layer: &Layer) -> impl Iterator<Item = &Path> {
    let archive = matches!(layer.container, Container::Zip | Container::Tar).then_some(layer.source.outer.as_path());
    let files = layer.files.iter().map(|file| file.path.as_path());
    std::iter::once(layer.path.as_path()).chain(archive).chain(files)
}

/// True when the last part of a path is this name, or this name and up to two extensions (`Midgard.db.old`).
fn is_called(path: &Path, name: &str) -> bool {
    let Some(file) = path.file_name() else { return false };
    let file = shown_path(Path::new(file));
    let Some(rest) = file.strip_prefix(&shown(name)) else { return false };
    rest.is_empty() || (rest.starts_with('.') && rest.matches('.').count() <= 2)
}

/// Says that a name is a layer of another world, and why.
pub(super) fn layer(name: &str, world: &World, layer: &Layer) -> String {
    let (name, world, kind) = (shown(name), shown(&world.id), layer.kind.word());
    format!("\"{name}\" is not a world of its own: it is a layer of {world} ({kind}). Rule: {}", shown(&layer.rule))
}

/// Why a path that exists gave nothing; `around` is what there is in the folder that holds it.
pub(super) fn path(catalog: &Catalog, around: Option<&Catalog>, target: &Path) -> Failure {
    let below = |looked: &&Looked| canonical(&looked.path).starts_with(canonical(target));
    let why = catalog.looked.iter().filter(below).find_map(|looked| match &looked.outcome {
        Outcome::Denied(why) | Outcome::Failed(why) => Some((looked, why)),
        _ => None,
    });
    if let Some((looked, why)) = why {
        // The words of the user for the place itself, the whole path for one below it.
        let same = canonical(&looked.path) == canonical(target);
        return unreadable(if same { target } else { &looked.path }, why);
    }
    let mut failure = Failure::nothing(format!("{} holds no save that is known here.", shown_path(target)));
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    failure.hints = around.map(|around| mentions(around, &name)).unwrap_or_default();
    failure
}

/// Why a path may not even be asked for; none when it simply is not there.
pub(super) fn denied(target: &Path) -> Option<Failure> {
    let error = target.symlink_metadata().err()?;
    let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
    denied.then(|| unreadable(target, "a folder on the way to it may not be entered"))
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let text = format!("{} could not be looked at: {why}.", shown_path(path));
    Failure::new(Exit::Unchecked, text).hint("Run as the user that owns the saves, or ask for read permission.")
}

/// Why a name gave nothing: what the scan says about it, and the games' rules for names.
pub(super) fn nothing(catalog: &Catalog, target: &Path) -> Failure {
    let name = shown_path(target);
    let mut hints = mentions(catalog, &name);
    if hints.is_empty() {
        // A path or an id: the rules are for its last part, without the layer.
        let last = target.file_name().map(|last| shown_path(Path::new(last))).unwrap_or_default();
        hints = rules(last.rsplit_once('@').map_or(last.as_str(), |(world, _)| world));
    }
    let worlds: Vec<_> = catalog.profiles.iter().flat_map(|p| &p.worlds).map(|world| world.name.as_str()).collect();
    if let Some(near) = nearest(&name, worlds.iter().copied()) {
        hints.push(format!("Did you mean \"{near}\"?"));
    }
    if catalog.profiles.is_empty() && !catalog.looked.is_empty() {
        hints.push("No saves were found in:".to_owned());
        hints.extend(catalog.looked.iter().map(|looked| format!("  {}", shown_path(&looked.path))));
        hints.push("Name a path, or a folder with saves: --root DIR.".to_owned());
    }
    if hints.is_empty() {
        hints.push("`worldkeep list` shows what there is.".to_owned());
    }
    let mut failure = Failure::nothing(format!("There is no file, folder, world or layer \"{name}\"."));
    failure.hints = hints;
    failure
}

/// Every finding about a file of that name: hidden pairs, nested worlds, junk folders.
fn mentions(catalog: &Catalog, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    for profile in &catalog.profiles {
        let own = profile.findings.iter().map(|finding| (profile.id.as_str(), finding));
        let worlds = profile.worlds.iter().flat_map(|w| w.findings.iter().map(|finding| (w.id.as_str(), finding)));
        for (place, finding) in own.chain(worlds).filter(|(_, finding)| is_about(finding, name)) {
            out.push(format!("In {}: {} {}", shown(place), finding.text, finding.next).trim_end().to_owned());
        }
    }
    out
}

fn is_about(finding: &Finding, name: &str) -> bool {
    if finding.code == Code::NestedWorld && (says(&finding.text, name) || says(&finding.text, stem(name))) {
        return true;
    }
    let Some(file) = &finding.place.file else { return false };
    Path::new(file).ancestors().any(|part| is_called(part, name))
}

/// A name without its last extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// True when a text has this name, and not only as a part of a longer one.
fn says(text: &str, name: &str) -> bool {
    let name = shown(name);
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    !name.is_empty()
        && text.match_indices(&name).any(|(at, _)| {
            let (before, after) = (text.get(..at), text.get(at + name.len()..));
            !part(before.and_then(|t| t.chars().next_back())) && !part(after.and_then(|t| t.chars().next()))
        })
}

/// What the rules of each game say about a name.
fn rules(name: &str) -> Vec<String> {
    let word = |game: &&dyn games::Game| (game.name(), game.explain_name(name));
    games::all()
        .iter()
        .map(word)
        .filter(|(_, words)| !words.is_empty())
        .map(|(game, words)| format!("By the rules of {game}: {}", shown(&words)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_called, says};

    #[test]
    fn a_name_in_a_text_is_no_part_of_a_longer_one() {
        let text = "nested holds Deep, My World, Sub one folder too deep.";
        assert!(says(text, "Deep") && says(text, "My World") && says(text, "Sub"));
        assert!(!says(text, "Su") && !says(text, "eep") && !says(text, ""));
        assert!(!says("holds Deep-2", "Deep") && !says("holds Ærøskøbing", "r"));
    }

    #[test]
    fn a_name_is_found_with_and_without_extensions() {
        let called = |path: &str, name: &str| is_called(Path::new(path), name);
        assert!(called("/srv/worlds/Midgard.db.old", "Midgard"));
        assert!(called("Midgard", "Midgard") && called("a/Midgard.fwl", "Midgard.fwl"));
        assert!(!called("Midgard2.fwl", "Midgard"));
        assert!(!called("Midgard/_main.3.ok", "Midgard"));
        assert!(!called("Midgard.a.b.c", "Midgard"));
    }
}
