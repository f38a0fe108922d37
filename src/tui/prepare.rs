//! What a frame needs and the state does not have yet: rows of the tree, lines of the details, pixels of the map.
//! Done before a frame and only when something that it depends on has changed.

use std::collections::HashSet;

use ratatui::layout::Rect;

use super::layout::{areas, inside};
use super::state::{DetailsKey, Focus, MapState, Model, PaintKey, PictureKey};
use super::subject::Subject;
use super::update::refresh;
use super::view::{details, map, rows};
use crate::model::Server;
use crate::raster::{Picture, View};

/// Brings everything that a frame shows up to date.
pub(super) fn prepare(model: &mut Model) {
    refresh(model);
    if model.focus == Focus::Map && !model.map.shown {
        model.focus = Focus::Tree;
    }
    let places = areas(model);
    if let Some(area) = places.tree {
        tree(model, inside(area));
    }
    if let Some(area) = places.details {
        lines(model, inside(area));
    }
    if let Some(area) = places.map {
        picture(model, map::canvas(area));
    }
    if let Some(dialog) = &mut model.dialog {
        dialog.painted = !places.tiny;
    }
}

fn tree(model: &mut Model, area: Rect) {
    let key = PaintKey {
        built: model.tree.forest.built,
        width: area.width,
        minute: model.minute(),
        theme: model.theme.name.clone(),
        mark: model.mark.clone(),
        marks: model.marks.clone(),
        servers: model.servers.iter().map(|(id, (server, _))| (id.clone(), server.state)).collect(),
        open: if model.filter.is_empty() { model.tree.open.clone() } else { model.tree.open_filtered.clone() },
    };
    if model.tree.painted.key.as_ref() != Some(&key) {
        model.tree.painted.items = rows::items(model, area.width, &key.open);
        let forest = &model.tree.forest;
        let wanted = forest.items.iter().filter(|item| item.children > 0 && key.open.contains(&item.id));
        let wanted: HashSet<Vec<u32>> = wanted.map(|item| forest.path(item.id)).collect();
        let state = model.tree.painted.state.get_mut();
        if *state.opened() != wanted {
            state.close_all();
            for path in wanted {
                state.open(path);
            }
            state.scroll_selected_into_view();
        }
        model.tree.painted.key = Some(key);
    }
    let state = model.tree.painted.state.get_mut();
    state.select(model.tree.selected.map(|id| model.tree.forest.path(id)).unwrap_or_default());
}

fn lines(model: &mut Model, area: Rect) {
    let key = DetailsKey {
        node: model.shown,
        server: server(model),
        revision: model.catalog.revision,
        width: area.width,
        minute: model.minute(),
        theme: model.theme.name.clone(),
    };
    if model.details.key.as_ref() != Some(&key) {
        let (title, lines) = details::lines(model, usize::from(area.width));
        model.details.title = title;
        model.details.lines = lines;
        model.details.key = Some(key);
    }
    let last = model.details.lines.len().saturating_sub(usize::from(area.height));
    model.details.scroll = model.details.scroll.min(last);
}

/// What was seen of the server of what the details show.
fn server(model: &Model) -> Option<Server> {
    let subject = model.shown.and_then(|node| model.subject(node))?;
    let (Subject::Profile(profile) | Subject::World(profile, _) | Subject::Layer(profile, ..)) = subject;
    // When it was looked at is not shown, and is no reason to lay everything out again.
    model.server(&profile.id).map(|server| Server { at: jiff::Timestamp::UNIX_EPOCH, ..server.clone() })
}

fn picture(model: &mut Model, area: Rect) {
    let (MapState::Ready(chart), Some(target)) = (&model.map.state, &model.map.target) else { return };
    let size = (area.width, area.height);
    let moved = (model.map.east, model.map.north);
    let key = PictureKey { target: target.clone(), size, zoom: model.map.zoom, moved };
    if model.map.picture_key.as_ref() == Some(&key) {
        return;
    }
    // One cell is two pixels, one above the other: cells are about twice as high as wide.
    let (width, height) = (area.width, area.height.saturating_mul(2));
    let view = View::fit(chart, width, height).moved(moved.0, moved.1).zoomed(model.map.zoom);
    model.map.picture = Some(Picture::draw(chart, view, width, height));
    model.map.picture_key = Some(key);
}
