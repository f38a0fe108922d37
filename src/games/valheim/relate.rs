//! What the layers of one world say about each other, worked out from their facts alone.

use super::keys;
use crate::model::human::{count, size};
use crate::model::{Code, Facts, Finding, Layer, LayerKind, Verdict, World, shown};

/// A layer needs this many objects before the live state is called small beside it; every new world has some hundreds.
const MANY_OBJECTS: i64 = 1000;

/// A layer must be this many in-game days older before the live state is called young beside it; less is what an
/// ordinary restore leaves.
const YOUNGER_BY: i64 = 2;

/// The findings that come from here and are replaced as a whole.
const OWN: [Code; 5] = [Code::NameDiffers, Code::HiddenPair, Code::OrphanLayers, Code::PruneRisk, Code::LiveSmaller];

/// Fills what concerns the world as a whole, and each layer's relations; can be called again at any time.
pub(super) fn relate(world: &mut World) {
    world.findings.retain(|finding| !OWN.contains(&finding.code));
    let live = world.layers.iter().position(|l| l.kind == LayerKind::Live);
    let mut named = live.and_then(|at| world.layers.get(at)).into_iter().chain(&world.layers);
    world.inner_name = named.find_map(|l| l.facts.text(keys::INNER_NAME)).map(str::to_owned);
    world.opens_with = world.live().and_then(|l| l.facts.text(keys::OPENS_WITH)).map(str::to_owned);
    for layer in &mut world.layers {
        layer.relations.clear();
    }
    say_inner_name(world);
    if live.is_some() {
        say_hidden_pair(world);
        say_other_worlds(world);
        say_smaller(world);
    } else {
        say_orphans(world);
    }
    for layer in &mut world.layers {
        if layer.verdict != Verdict::Unchecked {
            layer.verdict = Verdict::from_findings(&layer.findings).max(Verdict::from_findings(&layer.relations));
        }
    }
}

fn say_inner_name(world: &mut World) {
    let Some(inner) = world.inner_name.as_deref().filter(|inner| *inner != world.name && !inner.is_empty()) else {
        return;
    };
    let text = format!(
        "Inside it is called {}; on disk {}. The game opens it by the name on disk and shows the one inside.",
        shown(inner),
        shown(&world.name)
    );
    world.findings.push(Finding::note(Code::NameDiffers, text, "Start the server with the name on disk."));
}

fn say_hidden_pair(world: &mut World) {
    let hidden = |l: &Layer| l.kind == LayerKind::PreConversion && l.key().starts_with("hidden-pair");
    if world.layers.iter().any(hidden) {
        let name = shown(&world.name);
        world.findings.push(Finding::note(
            Code::HiddenPair,
            format!(
                "{name}.fwl and {name}.db lie beside the folder {name}: the game loads the folder, so the pair is \
                 hidden. Without the folder it would be a world again."
            ),
            "Look at it here as its own layer.",
        ));
    }
}

fn say_orphans(world: &mut World) {
    let name = shown(&world.name);
    let next = if world.layers.iter().any(|l| l.kind == LayerKind::Parked) {
        "To have the world back, take back the operation that took it away, or restore the layer that you want."
    } else {
        "To have the world back, copy the layer that you want into a new world of this name."
    };
    let text = format!("No live world {name} is here, only layers of it.");
    world.findings.push(Finding::note(Code::OrphanLayers, text, next));
    if world.layers.iter().any(|l| l.kind == LayerKind::Auto) {
        world.findings.push(Finding::warning(
            Code::PruneRisk,
            "Ownership goes by name: a new world of this name would adopt the timed backups here, and the game prunes \
             timed backups.",
            "Copy what you want to keep out of the worlds folder before a world of this name is made.",
        ));
    }
}

/// Ownership is by name alone, so a backup of a deleted world of the same name looks like one of this world.
fn say_other_worlds(world: &mut World) {
    let Some(own) = world.live().map(|live| live.facts.clone()) else { return };
    for layer in world.layers.iter_mut().filter(|l| l.kind != LayerKind::Live) {
        let seed = differs(own.int(keys::SEED_NUMBER), layer.facts.int(keys::SEED_NUMBER));
        let uid = differs(own.text(keys::UID), layer.facts.text(keys::UID));
        let what = match (seed, uid) {
            (Some((own, other)), _) => format!("its seed is {other}, the live world's is {own}"),
            (None, Some((own, other))) => {
                format!("its world id is {}, the live world's is {}", shown(other), shown(own))
            }
            (None, None) => continue,
        };
        layer.relations.push(Finding::warning(
            Code::OtherWorld,
            format!("This layer is from another world of the same name: {what}."),
            "Restoring it would replace the live world by that other one.",
        ));
    }
}

fn differs<T: PartialEq>(own: Option<T>, other: Option<T>) -> Option<(T, T)> {
    own.zip(other).filter(|(own, other)| own != other)
}

/// Most losses are a new world made in silence beside the big old one.
fn say_smaller(world: &mut World) {
    let Some(live) = world.live() else { return };
    let objects = |facts: &Facts| facts.int(keys::OBJECTS);
    let larger = world
        .layers
        .iter()
        // What an operation took away was taken away on purpose.
        .filter(|l| !matches!(l.kind, LayerKind::Live | LayerKind::Stray | LayerKind::Generation | LayerKind::Parked))
        .filter(|layer| much_more(live, layer))
        .max_by_key(|layer| (objects(&layer.facts), layer.bytes));
    let Some(layer) = larger else { return };
    let text = format!(
        "The live world is much smaller or younger than one of its layers: live has {}; \"{}\" has {}.",
        figures(live),
        layer.kind.word(),
        figures(layer)
    );
    let next =
        format!("If that is not what you expect, compare the two before the server saves again: {}.", shown(&layer.id));
    world.findings.push(Finding::warning(Code::LiveSmaller, text, next));
}

fn much_more(live: &Layer, layer: &Layer) -> bool {
    let both = |key| live.facts.int(key).zip(layer.facts.int(key));
    let smaller = match both(keys::OBJECTS) {
        Some((own, other)) => other >= MANY_OBJECTS && own < other / 2,
        // Sizes compare only within one shape.
        None => live.shape == layer.shape && live.bytes > 0 && live.bytes < layer.bytes / 2,
    };
    smaller || both(keys::DAY).is_some_and(|(own, other)| own < other / 2 && other - own >= YOUNGER_BY)
}

fn figures(layer: &Layer) -> String {
    let day = layer.facts.int(keys::DAY).map(|day| format!("day {day}"));
    let objects = layer.facts.int(keys::OBJECTS).map(|n| format!("{} objects", count(n)));
    let parts: Vec<String> = day.into_iter().chain(objects).chain([size(layer.bytes)]).collect();
    parts.join(", ")
}
