//! The screen that says that nothing was found, where it was looked for, and what to do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::state::Model;
use super::super::text::{cut, width, wrap};
use crate::config::theme::Role;
use crate::model::{Found, Looked, Outcome, shown_path};

/// Everything was looked at, and there is no save.
pub(super) fn nothing_found(model: &Model) -> bool {
    model.catalog.complete && model.catalog.profiles.is_empty()
}

/// Paints the screen.
pub(super) fn paint(model: &Model, frame: &mut Frame, area: Rect) {
    let skin = &model.skin;
    let columns = usize::from(area.width).saturating_sub(2).max(1);
    let mut lines = vec![Line::default(), Line::styled(" No saves found.", skin.of(Role::Title)), Line::default()];
    // First what can be done: on a small screen the places may not all have room.
    for (what, how) in [
        ("Look at a folder:", "worldkeep PATH"),
        ("Look at the demo saves:", "worldkeep --demo"),
        ("Look again here:", "R"),
    ] {
        for line in wrap(&format!("{what} {how}"), columns) {
            lines.push(Line::styled(format!(" {line}"), skin.of(Role::Text)));
        }
    }
    lines.push(Line::default());
    if model.catalog.looked.is_empty() {
        lines.push(Line::styled(" There was no place to look at.", skin.of(Role::Text)));
    } else {
        lines.push(Line::styled(" Looked in:", skin.of(Role::Text)));
    }
    // Before all others those that somebody can do something about.
    let rank = |looked: &Looked| match looked.outcome {
        Outcome::Denied(_) | Outcome::Failed(_) => 0,
        _ if !matches!(looked.found, Found::Discovered | Found::Demo) => 1,
        Outcome::Nothing | Outcome::Saves => 2,
        Outcome::Missing => 3,
    };
    let mut places: Vec<&Looked> = model.catalog.looked.iter().collect();
    places.sort_by_key(|looked| rank(looked));
    let height = usize::from(area.height);
    for (at, looked) in places.iter().enumerate() {
        let before = lines.len();
        let path = skin.glyphs.text(&shown_path(&looked.path));
        let outcome = outcome(&looked.outcome, looked.found);
        let outcome = skin.glyphs.text(&outcome);
        let role =
            if matches!(looked.outcome, Outcome::Denied(_) | Outcome::Failed(_)) { Role::Warn } else { Role::Muted };
        if width(&path) + width(&outcome) + 6 <= columns {
            lines.push(Line::from(vec![
                Span::styled(format!("   {path}  "), skin.of(Role::Text)),
                Span::styled(outcome, skin.of(role)),
            ]));
        } else {
            for (text, role, lead) in [(path, Role::Text, "   "), (outcome, role, "     ")] {
                for line in wrap(&text, columns.saturating_sub(lead.len())) {
                    lines.push(Line::styled(format!("{lead}{line}"), skin.of(role)));
                }
            }
        }
        // The last line says how many are missing, unless none is.
        let last = at + 1 == places.len();
        if lines.len() > height.saturating_sub(usize::from(!last)) {
            lines.truncate(before.min(height.saturating_sub(1)));
            let rest = places.len() - at;
            let rest = if at == 0 { format!("{rest} places") } else { format!("and {rest} more") };
            let text = format!("   {rest}: \"worldkeep list\" names them all");
            lines.push(Line::styled(cut(&text, columns, skin.glyphs.ellipsis), skin.of(Role::Muted)));
            break;
        }
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn outcome(outcome: &Outcome, found: Found) -> String {
    let words = match outcome {
        Outcome::Saves => "holds saves".to_owned(),
        Outcome::Missing => "not there".to_owned(),
        Outcome::Nothing => "holds no save that is known here".to_owned(),
        Outcome::Denied(why) => format!("no permission ({why})"),
        Outcome::Failed(why) => format!("could not be read ({why})"),
    };
    match found {
        Found::Discovered | Found::Demo => words,
        Found::Configured => format!("{words}; named in the configuration"),
        Found::Argument => format!("{words}; named on the command line"),
    }
}
