use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use super::super::layout;
use super::super::state::{Effect, MapState, Model, Signature};
use super::super::subject::Subject;
use super::super::tree::{Kind, Says, anchor};
use super::check;
use crate::model::{Finding, Server};
use crate::raster::Chart;

/// How long the cursor rests before the details follow it: a burst of keys then moves one line instead of a page.
const DETAILS: Duration = Duration::from_millis(30);

/// How long the cursor rests before a map is made and a check begins.
const PREVIEW: Duration = Duration::from_millis(100);

/// How old the last look at a server is before the next one: it reads what the system tells of all processes.
const SERVER: Duration = Duration::from_secs(5);

/// How long the map before stays while the next one is made: most are there sooner, and nothing flickers.
const LOADING: Duration = Duration::from_millis(250);

/// Builds the tree again when it is stale, and finds the selection its place.
pub(crate) fn refresh(model: &mut Model) {
    if !model.tree.stale {
        return;
    }
    model.tree.stale = false;
    let old = std::mem::take(&mut model.tree.forest.items);
    let old_at = model.tree.selected.and_then(|id| old.iter().position(|item| item.id == id));
    let says = Says { glyphs: &model.skin.glyphs, zone: &model.zone };
    model.tree.forest.build(&model.catalog, &model.filter, model.sort, says);
    greet(model);
    let kept = old_at.and_then(|at| anchor(&old, at, &model.tree.forest));
    let first_world = || model.tree.forest.items.iter().find(|item| item.kind == Kind::World).map(|item| item.id);
    let selected = match kept {
        Some(id) if model.tree.touched => Some(id),
        kept => first_world().or(kept).or_else(|| model.tree.forest.items.first().map(|item| item.id)),
    };
    let selected = selected.map(|id| visible_ancestor(model, id));
    if selected != model.tree.selected {
        model.tree.selected = selected;
        moved(model);
    }
    if model.shown.is_none_or(|id| model.tree.forest.index(id).is_none()) {
        model.shown = model.tree.selected;
    }
}

/// Profiles are open from the start, and so is a world that is alone.
fn greet(model: &mut Model) {
    let worlds = model.catalog.profiles.iter().map(|profile| profile.worlds.len()).sum::<usize>();
    let tree = &mut model.tree;
    for item in &tree.forest.items {
        let open = match item.kind {
            Kind::Profile => true,
            Kind::World => worlds == 1 && model.catalog.complete && item.children > 0,
            Kind::Layer => false,
        };
        if open && tree.greeted.insert(item.id) {
            tree.open.insert(item.id);
            tree.open_filtered.insert(item.id);
        }
    }
}

/// What is open now.
pub(super) fn open(model: &mut Model) -> &mut HashSet<u32> {
    if model.filter.is_empty() { &mut model.tree.open } else { &mut model.tree.open_filtered }
}

/// The rows that can be seen.
pub(super) fn visible(model: &mut Model) -> Vec<u32> {
    refresh(model);
    let open = if model.filter.is_empty() { &model.tree.open } else { &model.tree.open_filtered };
    model.tree.forest.visible(open)
}

/// The node itself, or the highest closed node above it.
fn visible_ancestor(model: &Model, id: u32) -> u32 {
    let open = if model.filter.is_empty() { &model.tree.open } else { &model.tree.open_filtered };
    model.tree.forest.path(id).into_iter().find(|at| *at == id || !open.contains(at)).unwrap_or(id)
}

/// Selects a node, opening what is above it.
pub(crate) fn select(model: &mut Model, id: u32) {
    for above in model.tree.forest.path(id) {
        if above != id && open(model).insert(above) {
            model.dirty = true;
        }
    }
    if model.tree.selected != Some(id) {
        model.tree.selected = Some(id);
        moved(model);
    }
    model.tree.touched = true;
}

/// The selection is somewhere else: the other panes follow when it rests.
fn moved(model: &mut Model) {
    model.details_at = Some(model.up + DETAILS);
    model.preview_at = Some(model.up + PREVIEW);
    model.dirty = true;
}

/// Something else has changed: the panes look again, without starting the wait anew.
pub(super) fn again(model: &mut Model) {
    if model.preview_at.is_none() {
        model.preview_at = Some(model.up + PREVIEW);
    }
}

/// Does what is due at this time.
pub(super) fn due(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.status.as_ref().is_some_and(|status| status.until <= model.up) {
        model.status = None;
        model.dirty = true;
    }
    if model.painted_minute != model.minute() {
        model.painted_minute = model.minute();
        model.dirty = true;
    }
    if !model.map.waits() && model.map.asked.as_ref().is_some_and(|(_, at)| *at <= model.up) {
        loading(model);
    }
    if model.details_at.is_some_and(|at| at <= model.up) {
        model.details_at = None;
        refresh(model);
        if model.shown != model.tree.selected {
            model.shown = model.tree.selected;
            model.details.scroll = 0;
            model.dirty = true;
        }
    }
    if model.preview_at.is_some_and(|at| at <= model.up) {
        model.preview_at = None;
        refresh(model);
        preview(model, effects);
        server(model, effects);
        if let Some(node) = model.tree.selected {
            check::background(model, node, effects);
        }
    }
}

/// Looks whether a server uses what is selected, when that is some time ago.
fn server(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(subject) = model.tree.selected.and_then(|node| model.subject(node)) else { return };
    let (Subject::Profile(profile) | Subject::World(profile, _) | Subject::Layer(profile, ..)) = subject;
    let (profile, now) = (Box::new(profile.clone()), model.up);
    // The first look at all of them comes with the end of a scan.
    if let Some((_, at)) = model.servers.get_mut(&profile.id)
        && now.saturating_sub(*at) >= SERVER
    {
        *at = now;
        effects.push(Effect::Server { profile });
    }
}

/// A worker has looked.
pub(super) fn servers(model: &mut Model, seen: Vec<(String, Server)>) {
    for (id, server) in seen {
        let before = model.servers.insert(id, (server.clone(), model.up));
        model.dirty |=
            before.is_none_or(|(before, _)| (before.state, before.reasons) != (server.state, server.reasons));
    }
}

/// Shows the map of the selected node: from the cache, or by asking for it.
fn preview(model: &mut Model, effects: &mut Vec<Effect>) {
    let wanted = model.tree.selected.and_then(|node| model.layer_of(node));
    let seen = layout::areas(model).map.is_some();
    let Some((profile, _, layer)) = wanted.filter(|_| seen) else {
        if wanted.is_none() {
            model.map.asked = None;
            if model.map.target.take().is_some() || model.map.waits() {
                model.map.state = MapState::Nothing;
                model.dirty = true;
            }
        }
        return;
    };
    let signature = Signature::of(layer);
    if model.map.asked.as_ref().is_some_and(|(asked, _)| *asked == signature) {
        return;
    }
    if model.map.target.as_ref() == Some(&signature) && !model.map.waits() {
        model.map.asked = None;
        return;
    }
    let ask = Effect::Chart { signature: signature.clone(), game: profile.game, layer: Box::new(layer.clone()) };
    if let Some(chart) = model.map.cache.get(&signature) {
        show(model, signature, MapState::Ready(chart));
        return;
    }
    effects.push(ask);
    let has_something = matches!(model.map.state, MapState::Ready(_) | MapState::Failed(_));
    model.map.asked = Some((signature.clone(), model.up + LOADING));
    if !has_something {
        loading(model);
    }
}

/// The pane belongs to this layer from now on.
fn show(model: &mut Model, signature: Signature, state: MapState) {
    if model.map.target.as_ref().is_none_or(|target| target.id != signature.id) {
        home(model);
    }
    if !matches!(state, MapState::Loading) {
        model.map.asked = None;
    }
    model.map.target = Some(signature);
    model.map.state = state;
    model.map.picture_key = None;
    model.dirty = true;
}

/// Says that the map is being made.
fn loading(model: &mut Model) {
    if let Some((signature, _)) = model.map.asked.clone() {
        show(model, signature, MapState::Loading);
    }
}

/// The map that is being made may never come: says so instead of waiting for it.
pub(super) fn abandon(model: &mut Model) {
    if model.map.asked.take().is_some() {
        model.map.state = MapState::Failed("The work was broken off; R looks again.".to_owned());
        model.map.target = None;
        model.dirty = true;
    }
}

/// Shows the whole map again.
pub(super) fn home(model: &mut Model) {
    (model.map.zoom, model.map.east, model.map.north) = (0, 0.0, 0.0);
    model.dirty = true;
}

/// A map is there, or the reason why it is not.
pub(super) fn charted(model: &mut Model, signature: Signature, result: Result<Chart, Box<Finding>>) {
    let wanted = model.map.asked.as_ref().is_some_and(|(asked, _)| *asked == signature);
    let state = match result {
        Ok(chart) => {
            let chart = Rc::new(chart);
            model.map.cache.put(signature.clone(), Rc::clone(&chart));
            MapState::Ready(chart)
        }
        Err(finding) => MapState::Failed(format!("{} {}", finding.text, finding.next)),
    };
    if wanted {
        show(model, signature, state);
    }
}

/// Filters the tree by a text; an empty one shows everything again.
pub(super) fn set_filter(model: &mut Model, filter: String) {
    if model.filter == filter {
        return;
    }
    if filter.is_empty()
        && let Some(selected) = model.tree.selected
    {
        let path = model.tree.forest.path(selected);
        model.tree.open.extend(path.into_iter().filter(|id| *id != selected));
    }
    if model.filter.is_empty() {
        model.tree.before_filter = model.tree.selected;
    }
    let lost = model.tree.selected.is_none();
    model.filter = filter;
    model.tree.stale = true;
    model.dirty = true;
    if model.filter.is_empty() {
        refresh(model);
        // A filter that let nothing through has not moved the user away.
        let back = if lost { model.tree.before_filter } else { model.tree.selected };
        if let Some(back) = back.filter(|id| model.tree.forest.index(*id).is_some()).or(model.tree.selected) {
            select(model, back);
        }
        return;
    }
    // Built first, so that the ancestors of matches are known and open before the selection looks for its place.
    model.tree.stale = false;
    let old = std::mem::take(&mut model.tree.forest.items);
    let says = Says { glyphs: &model.skin.glyphs, zone: &model.zone };
    model.tree.forest.build(&model.catalog, &model.filter, model.sort, says);
    model.tree.open_filtered = model.tree.forest.above_hits();
    let old_at = model.tree.selected.and_then(|id| old.iter().position(|item| item.id == id));
    let here = model.tree.selected.filter(|id| model.tree.forest.item(*id).is_some_and(|item| item.hit));
    let first = || model.tree.forest.items.iter().find(|item| item.hit).map(|item| item.id);
    let target = here.or_else(first).or_else(|| old_at.and_then(|at| anchor(&old, at, &model.tree.forest)));
    if let Some(id) = target {
        select(model, id);
    } else {
        model.tree.selected = None;
        moved(model);
    }
}

/// Goes to the next match of the filter, round the end.
pub(super) fn next_match(model: &mut Model, forward: bool, times: usize) {
    refresh(model);
    let hits: Vec<u32> = model.tree.forest.items.iter().filter(|item| item.hit).map(|item| item.id).collect();
    if hits.is_empty() {
        let text =
            if model.filter.is_empty() { "There is no filter; / begins one." } else { "Nothing matches the filter." };
        model.say(crate::config::theme::Role::Muted, text);
        return;
    }
    let here = model.tree.selected.and_then(|id| model.tree.forest.index(id)).unwrap_or(0);
    let at = |id: &u32| model.tree.forest.index(*id).unwrap_or(0);
    let steps = times.max(1) % hits.len();
    let start = if forward {
        hits.iter().position(|id| at(id) > here).unwrap_or(0) + (times.max(1) - 1) % hits.len()
    } else {
        let before = hits.iter().rposition(|id| at(id) < here).unwrap_or(hits.len() - 1);
        before + hits.len() - (steps + hits.len() - 1) % hits.len()
    };
    if let Some(id) = hits.get(start % hits.len()).copied() {
        select(model, id);
    }
}
