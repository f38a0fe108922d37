//! What has to be read although nobody asked: interrupted operations, what a server said, what became of a restore.

use super::super::dialog::{Dialog, Notice, Stage, Wish};
use super::super::state::{Effect, Model};
use super::scan;
use crate::config::theme::Role;
use crate::model::Severity;
use crate::model::plan::Operation;

/// Sentences about operations that were interrupted: they stay until somebody has read them.
pub(super) fn recovered(model: &mut Model, lines: Vec<String>, effects: &mut Vec<Effect>) {
    if lines.is_empty() {
        return;
    }
    let title = "An operation was interrupted earlier";
    model.notices.extend(lines.into_iter().map(|text| Notice { title, role: Role::Warn, text }));
    scan::dirty(model, effects);
    if model.dialog.is_none() {
        next(model);
    }
}

/// What a server said, or what became of a restore: what is only good to know stands on the last line for a while, the
/// rest stays until it was read.
pub(super) fn told(model: &mut Model, title: &'static str, severity: Severity, text: String) {
    let role = match severity {
        Severity::Note => return model.say(Role::Muted, text),
        Severity::Warning => Role::Warn,
        Severity::Error => Role::Danger,
    };
    let notice = Notice { title, role, text };
    let shown = match model.dialog.as_mut().map(|dialog| (&mut dialog.stage, dialog.painted)) {
        // What was on the screen already is not changed under somebody who reads it.
        Some((Stage::Notice(shown), painted)) => {
            if shown.contains(&notice) {
                return;
            }
            (!painted && shown.first().is_some_and(|first| first.title == title)).then_some(shown)
        }
        _ => None,
    };
    match shown {
        Some(shown) => shown.push(notice),
        None if !model.notices.contains(&notice) => model.notices.push(notice),
        None => {}
    }
    due(model);
}

/// Shows what waits to be read, unless somebody is in the middle of something.
pub(super) fn due(model: &mut Model) {
    if model.dialog.is_none() && model.overlay.is_none() {
        next(model);
    }
}

pub(super) fn next(model: &mut Model) {
    let Some(title) = model.notices.first().map(|notice| notice.title) else { return };
    let (lines, rest) = std::mem::take(&mut model.notices).into_iter().partition(|notice| notice.title == title);
    model.notices = rest;
    model.overlay = None;
    model.dirty = true;
    let wish = Wish::Undo { roots: Vec::new(), name: None };
    let stage = Stage::Notice(lines);
    model.dialog = Some(Dialog { operation: Operation::Undo, wish, ticket: 0, stage, scroll: 0, painted: false });
}
