//! A dialog: its lines, and its buttons on the last line, which is always in sight.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::dialog::{Dialog, Field, Stage, rows};
use super::super::layout;
use super::super::state::Model;
use super::super::text::{cut, width};
use super::popup_at;
use crate::config::theme::Role;

/// Paints it.
pub(super) fn paint(model: &Model, frame: &mut Frame, dialog: &Dialog) {
    let screen = frame.area();
    let mut area = layout::dialog((screen.width, screen.height));
    let lines = rows(model, dialog, usize::from(layout::inside(area).width));
    // No higher than it has to be: its lines, an empty one, the buttons and the frame.
    let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4);
    if wanted < area.height {
        area.y += (area.height - wanted) / 2;
        area.height = wanted;
    }
    let inner = popup_at(model, frame, &dialog.title(model), area);
    if inner.height == 0 {
        return;
    }
    let room = usize::from(inner.height - 1);
    let skip = dialog.scroll.min(lines.len().saturating_sub(room));
    let total = lines.len();
    let shown: Vec<Line> = lines.into_iter().skip(skip).take(room).map(|(line, _)| line).collect();
    frame.render_widget(Paragraph::new(shown), Rect { height: inner.height - 1, ..inner });
    if total > room && area.width > 30 {
        let text = format!(" {} of {total} lines, arrows scroll ", (skip + room).min(total));
        let text = cut(&text, usize::from(area.width.saturating_sub(4)), model.skin.glyphs.ellipsis);
        let wide = u16::try_from(width(&text)).unwrap_or(0);
        let x = area.right().saturating_sub(wide + 2);
        let place = Rect { x, y: area.bottom().saturating_sub(1), width: wide, height: 1 };
        frame.render_widget(Line::styled(text, model.skin.of(Role::Muted)), place);
    }
    let last = Rect { y: inner.bottom() - 1, height: 1, ..inner };
    frame.render_widget(buttons(model, dialog, usize::from(inner.width)), last);
}

/// The button that has the keys stands in brackets, which no colour is needed to see.
fn buttons(model: &Model, dialog: &Dialog, room: usize) -> Line<'static> {
    let skin = &model.skin;
    let field = match &dialog.stage {
        Stage::Asking(asking) => asking.field,
        Stage::Naming { .. } => Field::Name,
        _ => Field::Cancel,
    };
    let (left, right) = dialog.buttons();
    let button = |word: &str, focused: bool| {
        let text = if focused { format!("[ {word} ]") } else { format!("  {word}  ") };
        Span::styled(text, skin.of(if focused { Role::Selection } else { Role::Text }))
    };
    let mut spans = Vec::new();
    if let Some(word) = left {
        spans.push(button(word, field == Field::Cancel));
    }
    if let Some(word) = right {
        let used: usize = spans.iter().map(|span| width(&span.content)).sum();
        let word = cut(word, room.saturating_sub(used + 5), skin.glyphs.ellipsis);
        spans.push(Span::raw(" "));
        spans.push(button(&word, field == Field::Confirm));
    }
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    if matches!(dialog.stage, Stage::Asking(_)) && used + 16 <= room {
        spans.push(Span::styled("   Tab", skin.of(Role::HintKey)));
        spans.push(Span::styled(" goes on", skin.of(Role::HintText)));
    }
    Line::from(spans)
}
