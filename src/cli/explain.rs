//! Where a name went that is not in the list of worlds, and by which rule.

use std::path::Path;

use super::failure::Failure;
use crate::config::nearest;
use crate::games;
use crate::model::{Finding, Layer, World, shown, shown_path};
use crate::scan::Catalog;

/// True when a name is a layer's own, or the name of its path or of one of its files, with or without extensions.
pub(super) fn is_of_name(layer: &Layer, name: &str) -> bool {
    let files = layer.files.iter().map(|file| file.path.as_path());
    layer.key() == name || std::iter::once(layer.path.as_path()).chain(files).any(|path| is_called(path, name))
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
    let why = catalog.looked.iter().find_map(|looked| match &looked.outcome {
        crate::model::Outcome::Denied(why) | crate::model::Outcome::Failed(why) => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = why {
        let text = format!("{} could not be looked at: {why}.", shown_path(target));
        return Failure::new(super::Exit::Unchecked, text)
            .hint("Run as the user that owns the saves, or ask for read permission.");
    }
    let mut failure = Failure::nothing(format!("{} holds no save that is known here.", shown_path(target)));
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    failure.hints = around.map(|around| mentions(around, &name)).unwrap_or_default();
    failure
}

/// Why a name gave nothing: what the scan says about it, and the games' rules for names.
pub(super) fn nothing(catalog: &Catalog, target: &Path) -> Failure {
    let name = shown_path(target);
    let mut hints = mentions(catalog, &name);
    if hints.is_empty() {
        hints = rules(&name);
    }
    let worlds: Vec<_> = catalog.profiles.iter().flat_map(|p| &p.worlds).map(|world| world.name.as_str()).collect();
    if let Some(near) = nearest(&name, worlds.iter().copied()) {
        hints.push(format!("Did you mean \"{near}\"?"));
    }
    let looked: Vec<_> = catalog.looked.iter().map(|looked| shown_path(&looked.path)).collect();
    if catalog.profiles.is_empty() && !looked.is_empty() {
        hints.push(format!("No saves were found in {}.", looked.join(", ")));
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
            out.push(format!("In {}: {}", shown(place), finding.text));
        }
    }
    out
}

fn is_about(finding: &Finding, name: &str) -> bool {
    let Some(file) = &finding.place.file else { return false };
    Path::new(file).ancestors().any(|part| is_called(part, name))
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

    use super::is_called;

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
