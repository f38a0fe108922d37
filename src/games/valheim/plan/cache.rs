//! The game's cache of biomes, one file for all worlds that show the same name inside.
//!
//! It travels with its world, and goes with the last one of its name. The game makes it anew where it is missing, so that one
//! which could be of another seed is put aside.

use std::path::PathBuf;

use super::site::{Place, Site, cache_name};
use crate::games::Context;
use crate::games::valheim::keys;
use crate::model::outline::{Ask, Change, Fresh, Origin, Outline};
use crate::model::{Facts, Profile, World, shown};

/// Another world of the profile shows the same name, so that both use one cache. `namesakes_too` when the worlds of the same
/// name on disk go as well.
pub(super) fn shared_inner(profile: &Profile, world: &World, inner: &str, namesakes_too: bool) -> bool {
    let others = profile.worlds.iter().filter(|other| other.id != world.id && other.live().is_some());
    let others = others.filter(|other| !namesakes_too || other.name != world.name);
    others.into_iter().any(|other| inner_of(other) == inner)
}

fn inner_of(world: &World) -> &str {
    world.inner_name.as_deref().unwrap_or(&world.name)
}

/// A cache under a name that a world is about to get, and that no other world of the profile shows: of one that is gone, or
/// that goes now.
fn left_over(place: &Place, profile: &Profile, name: &str, inner: &str, context: &Context) -> Option<PathBuf> {
    let mut others = profile.worlds.iter().filter(|world| world.name != name && world.live().is_some());
    place.cache_of(inner, context).filter(|_| !others.any(|world| inner_of(world) == inner))
}

fn say_parked(name: &str, outline: &mut Outline) {
    outline.preview.notes.push(format!(
        "The biome cache {} could be of another world of that name. It is parked, and the game makes it anew.",
        shown(name)
    ));
}

/// For a copy of a world whose name inside is `old`, to a world `name` that shows `new`.
pub(super) fn copy(
    from: &Place,
    old: &str,
    (to, into): (&Place, &Profile),
    (name, new): (&str, &str),
    outline: &mut Outline,
    context: &Context,
) {
    let folder = to.root.join("cache");
    let target = folder.join(cache_name(new));
    let stale = left_over(to, into, name, new, context);
    let there = crate::store::open(&folder, &context.ceilings).is_ok();
    match from.cache_of(old, context).filter(|_| there) {
        // Both show one name, and may.
        Some(cache) if cache == target => {}
        Some(cache) if stale.is_some() || to.cache_of(new, context).is_none() => {
            outline.depends.push(target.clone());
            if stale.is_some() {
                say_parked(&cache_name(new), outline);
            }
            let fresh = Fresh { origin: Origin::Whole(cache), writes: Vec::new(), like: folder };
            outline.changes.push(Change::Put { fresh, to: target, replaces: stale.is_some() });
        }
        Some(_) => {}
        None => park(stale, &cache_name(new), outline),
    }
}

fn park(stale: Option<PathBuf>, name: &str, outline: &mut Outline) {
    if let Some(stale) = stale {
        say_parked(name, outline);
        outline.changes.push(Change::Park(stale));
    }
}

/// For a rename, after which the world shows `name`.
pub(super) fn rename(ask: &Ask<'_>, site: &Site<'_>, name: &str, outline: &mut Outline, context: &Context) {
    let inner = inner_of(ask.world);
    if inner == name {
        return;
    }
    let place = &site.place;
    let stale = left_over(place, ask.profile, name, name, context);
    let folder = place.root.join("cache");
    let to = folder.join(cache_name(name));
    let Some(cache) = place.cache_of(inner, context) else {
        park(stale, &cache_name(name), outline);
        return;
    };
    let free = place.cache_of(name, context).is_none();
    if !free && stale.is_none() {
        return;
    }
    outline.depends.push(to.clone());
    let shared = shared_inner(ask.profile, ask.world, inner, false);
    if free && !shared {
        outline.changes.push(Change::Move { from: cache, to });
        return;
    }
    if !free {
        say_parked(&cache_name(name), outline);
    }
    let fresh = Fresh { origin: Origin::Whole(cache.clone()), writes: Vec::new(), like: folder };
    outline.changes.push(Change::Put { fresh, to, replaces: !free });
    if !shared {
        outline.changes.push(Change::Park(cache));
    }
}

/// For a restore: the state that comes back may be of another seed, or of another generator, than the one that the cache was
/// made of.
pub(super) fn restore(
    ask: &Ask<'_>,
    site: &Site<'_>,
    (state, live): (&Facts, &Facts),
    outline: &mut Outline,
    context: &Context,
) {
    let differs = |key: &str| state.int(key).zip(live.int(key)).is_some_and(|(new, old)| new != old);
    if !differs(keys::SEED_NUMBER) && !differs(keys::WORLD_GEN) {
        return;
    }
    let inner = state.text(keys::INNER_NAME).unwrap_or(&site.name);
    let cache = site.place.cache_of(inner, context);
    park(cache.filter(|_| !shared_inner(ask.profile, ask.world, inner, false)), &cache_name(inner), outline);
}
