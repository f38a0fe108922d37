//! Which pane stands where at which size.

use ratatui::layout::Rect;

use super::state::{Focus, Model, Overlay};

/// The places of a screen; a pane that has no room has no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// Too small for anything but a sentence.
    pub(super) tiny: bool,
    pub(super) header: Rect,
    pub(super) tree: Option<Rect>,
    pub(super) details: Option<Rect>,
    pub(super) map: Option<Rect>,
    pub(super) hint: Rect,
}

/// How a screen of that size is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Tiny,
    /// One pane at a time.
    Single,
    /// The tree above, the rest below.
    Stacked,
    /// The tree at the left.
    Wide,
}

fn class((columns, rows): (u16, u16)) -> Class {
    if columns < 20 || rows < 5 {
        Class::Tiny
    } else if columns < 60 || rows < 12 {
        Class::Single
    } else if columns < 100 {
        Class::Stacked
    } else {
        Class::Wide
    }
}

/// The panes that can have the keys.
pub(super) fn panes(model: &Model) -> Vec<Focus> {
    let mut panes = vec![Focus::Tree, Focus::Details];
    if model.map.shown {
        panes.push(Focus::Map);
    }
    panes
}

/// The places for the state as it is.
pub(super) fn areas(model: &Model) -> Areas {
    divide(model.size, model.map.shown, model.focus)
}

/// The places of the panes.
pub(super) fn divide(size: (u16, u16), map_shown: bool, focus: Focus) -> Areas {
    let (columns, rows) = size;
    let class = class(size);
    if class == Class::Tiny {
        return Areas { tiny: true, ..Areas::default() };
    }
    let body = Rect::new(0, 1, columns, rows.saturating_sub(2));
    let mut areas =
        Areas { header: Rect::new(0, 0, columns, 1), hint: Rect::new(0, rows - 1, columns, 1), ..Areas::default() };
    match class {
        Class::Tiny => {}
        Class::Single => match focus {
            Focus::Details => areas.details = Some(body),
            Focus::Map if map_shown => areas.map = Some(body),
            _ => areas.tree = Some(body),
        },
        Class::Stacked => {
            let (above, below) = split_rows(body, body.height * 11 / 20);
            areas.tree = Some(above);
            if map_shown {
                let (left, right) = split_columns(below, below.width / 2);
                areas.details = Some(left);
                areas.map = Some(right);
            } else {
                areas.details = Some(below);
            }
        }
        Class::Wide => {
            let (left, right) = split_columns(body, (columns / 2).clamp(50, 72));
            areas.tree = Some(left);
            if map_shown {
                let (above, below) = split_rows(right, right.height * 11 / 20);
                areas.map = Some(above);
                areas.details = Some(below);
            } else {
                areas.details = Some(right);
            }
        }
    }
    areas
}

fn split_rows(area: Rect, first: u16) -> (Rect, Rect) {
    let first = first.min(area.height);
    let above = Rect { height: first, ..area };
    (above, Rect { y: area.y + first, height: area.height - first, ..area })
}

fn split_columns(area: Rect, first: u16) -> (Rect, Rect) {
    let first = first.min(area.width);
    let left = Rect { width: first, ..area };
    (left, Rect { x: area.x + first, width: area.width - first, ..area })
}

/// The inside of a frame.
pub(super) fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(1).min(area.right()),
        y: area.y.saturating_add(1).min(area.bottom()),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// The place of what lies over the panes.
pub(super) fn overlay(size: (u16, u16)) -> Rect {
    let (columns, rows) = size;
    let width = columns.saturating_sub(4).min(100);
    let height = rows.saturating_sub(2).min(40);
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// Where a dialog lies.
pub(super) fn dialog(size: (u16, u16)) -> Rect {
    let (columns, rows) = size;
    let width = columns.saturating_sub(4).min(90);
    let height = rows.saturating_sub(2).min(24);
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// The lines of what has the keys.
pub(super) fn page(model: &Model) -> usize {
    let areas = areas(model);
    let area = match (&model.overlay, model.focus) {
        (Some(Overlay::Filter) | None, Focus::Tree) => areas.tree,
        (Some(Overlay::Filter) | None, Focus::Details) => areas.details,
        (Some(Overlay::Filter) | None, Focus::Map) => areas.map,
        (Some(_), _) => Some(overlay(model.size)),
    };
    usize::from(area.map_or(0, |area| inside(area).height))
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::{divide, overlay};
    use crate::tui::state::Focus;

    #[test]
    fn no_pane_leaves_the_screen_or_covers_another() {
        for columns in 0..210 {
            for rows in (0..70).step_by(3) {
                for map in [true, false] {
                    for focus in [Focus::Tree, Focus::Details, Focus::Map] {
                        let areas = divide((columns, rows), map, focus);
                        let screen = Rect::new(0, 0, columns, rows);
                        let all: Vec<Rect> =
                            [Some(areas.header), areas.tree, areas.details, areas.map, Some(areas.hint)]
                                .into_iter()
                                .flatten()
                                .collect();
                        for (at, one) in all.iter().enumerate() {
                            assert_eq!(one.intersection(screen), *one, "{columns}x{rows}");
                            for other in all.iter().skip(at + 1) {
                                assert!(one.intersection(*other).is_empty(), "{columns}x{rows}");
                            }
                        }
                        assert_eq!(overlay((columns, rows)).intersection(screen), overlay((columns, rows)));
                    }
                }
            }
        }
    }

    #[test]
    fn a_narrow_screen_shows_the_pane_that_has_the_keys() {
        let areas = divide((40, 12), true, Focus::Map);
        assert!(areas.map.is_some() && areas.tree.is_none());
        assert!(divide((80, 24), true, Focus::Tree).details.is_some());
        assert!(divide((19, 12), true, Focus::Tree).tiny);
    }
}
