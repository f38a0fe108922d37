//! The rows of the tree: a name at the left, columns at the right.

use std::collections::HashSet;

use ratatui::text::{Line, Span};
use tui_tree_widget::TreeItem;

use super::super::state::Model;
use super::super::text::{cut, pad, pad_left, width};
use super::super::tree::{Item, Kind};
use crate::config::theme::Role;
use crate::model::{ServerState, human};

/// Columns of an indent, for the deepest node and its sign.
const DEEPEST: usize = 6;

/// A name keeps at least so many columns, enough for `auto 11-30 04:00`, before a column beside the verdict's sign is given room.
const NAME: usize = 16;

/// The number of the row that stands for everything in a closed node; no node ever has it.
const CLOSED: u32 = u32::MAX;

/// The columns that fit, in the order in which they are given up: the verdict's word last.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    day: usize,
    size: usize,
    age: usize,
    word: usize,
}

impl Columns {
    /// All columns with a cut word are worth more than the whole word without them.
    fn fit(width: usize, word: usize) -> Self {
        let whole = Self::with_word(width, word);
        if whole.day > 0 { whole } else { Self::with_word(width, word.min(8)) }
    }

    fn with_word(width: usize, word: usize) -> Self {
        let mut columns = Self::default();
        // Two for the sign and the space before it.
        let mut room = width.saturating_sub(DEEPEST + NAME + 2);
        for (column, wanted) in
            [(&mut columns.word, word + 1), (&mut columns.age, 7), (&mut columns.size, 9), (&mut columns.day, 9)]
        {
            if wanted > room {
                break;
            }
            *column = wanted;
            room -= wanted;
        }
        columns
    }

    fn all(self) -> usize {
        self.day + self.size + self.age + self.word + 2
    }
}

/// The tree's items for a pane of that width. What lies in a closed node cannot be seen and gets no rows: one empty one
/// stands for all, so that the node shows that it can be opened.
pub(in super::super) fn items(model: &Model, width: u16, open: &HashSet<u32>) -> Vec<TreeItem<'static, u32>> {
    let items = &model.tree.forest.items;
    let mut wanted: Vec<bool> = Vec::with_capacity(items.len());
    for item in items {
        let inside = |parent: usize| {
            wanted.get(parent) == Some(&true) && items.get(parent).is_some_and(|parent| open.contains(&parent.id))
        };
        wanted.push(item.parent.is_none_or(inside));
    }
    let word = items.iter().map(|item| super::super::text::width(&item.row.word())).max().unwrap_or(0);
    let columns = Columns::fit(usize::from(width), word);
    let mut below: Vec<Vec<TreeItem<'static, u32>>> = items.iter().map(|_| Vec::new()).collect();
    let mut top = Vec::new();
    for (at, item) in items.iter().enumerate().rev().filter(|(at, _)| wanted.get(*at) == Some(&true)) {
        let mut children = below.get_mut(at).map(std::mem::take).unwrap_or_default();
        children.reverse();
        if item.children > 0 && children.is_empty() {
            children.push(TreeItem::new_leaf(CLOSED, ""));
        }
        let line = row(model, item, usize::from(width), columns);
        let made = TreeItem::new(item.id, line.clone(), children).unwrap_or_else(|_| TreeItem::new_leaf(item.id, line));
        match item.parent.and_then(|parent| below.get_mut(parent)) {
            Some(siblings) => siblings.push(made),
            None => top.push(made),
        }
    }
    top.reverse();
    top
}

fn row(model: &Model, item: &Item, width_all: usize, columns: Columns) -> Line<'static> {
    let (skin, row) = (&model.skin, &item.row);
    let ellipsis = skin.glyphs.ellipsis;
    let room = width_all.saturating_sub(usize::from(item.depth) * 2 + 2);
    let right = columns.all().min(room);
    let left = room - right;
    let compared = item.kind == Kind::Layer && model.mark.as_deref() == Some(item.key.as_str());
    let marked = item.kind != Kind::Profile && model.marks.contains(&item.key);
    let role = match item.kind {
        _ if marked || compared => Role::Mark,
        _ if item.hit => Role::Match,
        Kind::Profile => Role::Title,
        Kind::Layer if row.live => Role::Live,
        _ => Role::Text,
    };
    let sign = match (marked, compared) {
        (true, true) => "*= ",
        (true, false) => "* ",
        (false, true) => "= ",
        (false, false) => "",
    };
    let name = format!("{sign}{}", row.name);
    let name = cut(&name, left, ellipsis);
    let mut spans = Vec::with_capacity(8);
    let used = width(&name);
    spans.push(Span::styled(name, skin.of(role)));
    let rest = left - used.min(left);
    let server = (item.kind == Kind::Profile).then(|| model.server(&item.key)).flatten();
    // Whether a server runs is worth more than where the saves lie.
    let server = match server.map(|server| server.state) {
        Some(ServerState::Running) => "  running",
        Some(ServerState::Stopped) => "  stopped",
        Some(ServerState::Unknown) => "  server unknown",
        None => "",
    };
    let note = if row.note.is_empty() { String::new() } else { format!("  {}", row.note) };
    let note = [format!("{note}{server}"), server.to_owned(), note].into_iter().find(|note| rest > width(note));
    if let Some(note) = note.filter(|note| !note.is_empty()) {
        spans.push(Span::styled(pad(&note, rest, ellipsis), skin.of(Role::Muted)));
    } else {
        spans.push(Span::raw(" ".repeat(rest)));
    }
    let age = row.saved.map(|at| human::age(model.now, at)).unwrap_or_default();
    let size = row.bytes.map(human::size).unwrap_or_default();
    spans.push(Span::raw(pad_left(&row.day, columns.day, ellipsis)));
    spans.push(Span::raw(pad_left(&size, columns.size, ellipsis)));
    spans.push(Span::styled(pad_left(&age, columns.age, ellipsis), skin.of(Role::Muted)));
    let look = skin.verdict(row.verdict);
    spans.push(Span::styled(format!(" {}", skin.glyphs.verdict(row.verdict)), look));
    if columns.word > 0 {
        spans.push(Span::styled(pad(&format!(" {}", row.word()), columns.word, ellipsis), look));
    }
    Line::from(spans)
}
