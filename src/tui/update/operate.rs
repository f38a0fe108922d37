//! Dialogs: from a key to a plan, from a plan on the screen to a consent, from a consent to what became of it.

use super::super::dialog::{Asking, Dialog, Field, READABLE, Running, Stage, Wish, rows};
use super::super::layout;
use super::super::state::{Effect, Model};
use super::wishes::wish;
use super::{notice, scan};
use crate::config::actions::Action;
use crate::config::keys::{Key, KeyName};
use crate::config::theme::Role;
use crate::model::plan::{Operation, Outcome, Plan, Refusal};
use crate::ops::ask::Planned;
use crate::ops::run::Done;

/// The most characters of a name that is typed.
const LONGEST: usize = 200;

/// Opens the dialog of an operation on what is selected.
pub(super) fn ask(model: &mut Model, operation: Operation, effects: &mut Vec<Effect>) {
    let wish = match wish(model, operation) {
        Ok(wish) => wish,
        Err(why) => return model.say(Role::Muted, why),
    };
    let stage = match &wish {
        Wish::Save { operation: Operation::Copy | Operation::Rename, .. } => {
            Stage::Naming { name: String::new(), wrong: None }
        }
        _ => Stage::Planning,
    };
    open(model, wish, stage, effects);
}

pub(super) fn open(model: &mut Model, wish: Wish, stage: Stage, effects: &mut Vec<Effect>) {
    model.overlay = None;
    model.status = None;
    model.dirty = true;
    model.tickets += 1;
    if matches!(stage, Stage::Planning) {
        effects.push(Effect::Plan { ticket: model.tickets, wish: wish.clone() });
    }
    let operation = wish.operation();
    model.dialog = Some(Dialog { operation, wish, ticket: model.tickets, stage, scroll: 0, painted: false });
}

/// A worker has planned, or says why not.
pub(super) fn planned(model: &mut Model, ticket: u64, result: Result<Vec<Planned>, Refusal>) {
    let Some(dialog) = waiting(model, ticket) else { return };
    dialog.stage = match result {
        Ok(plans) if !plans.is_empty() => Stage::Asking(Asking::new(plans, &dialog.wish)),
        Ok(_) => Stage::Ended { lines: vec![(Role::Text, "There is nothing to do.".to_owned())], swap: None },
        Err(refusal) => Stage::Refused(refusal),
    };
    dialog.scroll = 0;
    dialog.painted = false;
    model.dirty = true;
}

fn waiting(model: &mut Model, ticket: u64) -> Option<&mut Dialog> {
    model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket && matches!(dialog.stage, Stage::Planning))
}

/// How far an operation is.
pub(super) fn progress(model: &mut Model, ticket: u64, bytes: u64, path: String) {
    if let Some(Dialog { ticket: ours, stage: Stage::Running(running), .. }) = &mut model.dialog
        && *ours == ticket
    {
        running.bytes = bytes;
        running.path = path;
        model.dirty = true;
    }
}

/// True while something is being done to a save.
pub(super) fn busy(model: &Model) -> bool {
    matches!(&model.dialog, Some(Dialog { stage: Stage::Running(_), .. }))
}

/// An operation has ended.
pub(super) fn ended(model: &mut Model, ticket: u64, ends: &[Done], effects: &mut Vec<Effect>) {
    scan::dirty(model, effects);
    if let Some(code) = model.leaving {
        effects.push(Effect::Quit(code));
    }
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket) else { return };
    let Stage::Running(running) = &dialog.stage else { return };
    let plain = ends.len() == running.plans.len()
        && ends.iter().all(|done| done.outcome == Outcome::Done && done.told.is_empty() && !done.server_came_up);
    let operation = dialog.operation;
    model.dirty = true;
    if plain {
        let words = summary(&running.plans);
        let running_plans = running.plans.len();
        model.dialog = None;
        let several = running_plans > 1;
        let back = way_back(model, operation, several);
        if several {
            model.marks.clear();
        }
        model.say_with(Role::Ok, model.skin.glyphs.text(&words), &back);
        return notice::next(model);
    }
    let mut lines = Vec::new();
    for (plan, done) in running.plans.iter().zip(ends) {
        lines.extend(outcome(plan, done));
    }
    for plan in running.plans.iter().skip(ends.len()) {
        lines.push((Role::Muted, format!("Not begun: {}", plan.content().preview.title)));
    }
    let swap = ends.iter().find(|done| done.server_came_up && is_done(done)).map(|done| done.name.clone());
    dialog.stage = Stage::Ended { lines, swap };
    dialog.scroll = 0;
    dialog.painted = false;
}

fn is_done(done: &Done) -> bool {
    matches!(done.outcome, Outcome::Done | Outcome::CleanUpPending { .. })
}

fn summary(plans: &[Plan]) -> String {
    match plans {
        [one] => said(one),
        several => format!("All {} are done.", several.len()),
    }
}

fn said(plan: &Plan) -> String {
    let done = &plan.content().preview.done;
    if done.is_empty() { "Done.".to_owned() } else { done.clone() }
}

/// How it can be taken back, with the key that does it.
fn way_back(model: &Model, operation: Operation, several: bool) -> String {
    if matches!(operation, Operation::Purge | Operation::Undo) {
        return String::new();
    }
    let mut rows = model.keymap.all();
    let keys = rows.find(|(row, _)| row.action == Action::Undo).and_then(|(_, keys)| keys.first());
    keys.map_or_else(String::new, |key| {
        let what = if several { "them back, the last one first" } else { "it back" };
        format!(" {key} takes {what}.")
    })
}

/// How one operation ended, in words that leave no doubt about what the save is now.
fn outcome(plan: &Plan, done: &Done) -> Vec<(Role, String)> {
    let mut lines = match &done.outcome {
        Outcome::Done => vec![(Role::Ok, said(plan))],
        Outcome::CleanUpPending { why, left } => {
            let mut lines = vec![
                (Role::Ok, said(plan)),
                (Role::Warn, format!("Something that is no longer needed could not be cleared away. {why}")),
            ];
            lines.extend(left.iter().map(|path| (Role::Muted, crate::model::shown_path(path))));
            lines
        }
        Outcome::Unchanged { why } => {
            vec![(Role::Warn, "It failed, and the save is what it was.".to_owned()), (Role::Text, why.clone())]
        }
        Outcome::Unfinished { why } => {
            vec![(Role::Danger, "It was interrupted in the middle.".to_owned()), (Role::Text, why.clone())]
        }
        Outcome::Cancelled => vec![(Role::Text, "Stopped, and the save is what it was.".to_owned())],
        Outcome::Refused(refusal) => vec![
            (Role::Warn, refusal.text.clone()),
            (Role::Text, refusal.reason.next().to_owned()),
            (Role::Muted, format!("Nothing was changed. ({})", refusal.reason.as_str())),
        ],
    };
    if done.server_came_up {
        let text = "A server came up while the files changed places. It may hold the old state in memory and write it \
                    over this one. Stop it before anything else.";
        lines.insert(0, (Role::Danger, text.to_owned()));
    }
    lines.extend(done.told.iter().map(|told| (Role::Text, told.clone())));
    lines
}

/// The worker failed in a way that nobody foresaw; what became of the save, the next start finds out.
pub(super) fn failed(model: &mut Model, ticket: u64, what: &str, effects: &mut Vec<Effect>) {
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket) else { return };
    if !matches!(dialog.stage, Stage::Planning | Stage::Running(_)) {
        return;
    }
    let mut lines = vec![(Role::Danger, format!("A part of worldkeep failed: {}.", crate::model::shown(what)))];
    if matches!(dialog.stage, Stage::Running(_)) {
        let text = "What it was doing is finished or taken back by `worldkeep recover`, or by the next start.";
        lines.push((Role::Text, text.to_owned()));
        scan::dirty(model, effects);
    }
    if let Some(code) = model.leaving {
        effects.push(Effect::Quit(code));
    }
    if let Some(dialog) = &mut model.dialog {
        dialog.stage = Stage::Ended { lines, swap: None };
        dialog.scroll = 0;
    }
    model.dirty = true;
}

/// Ends the dialog without having done anything.
fn close(model: &mut Model, effects: &mut Vec<Effect>) {
    model.dirty = true;
    match model.dialog.as_mut().map(|dialog| &mut dialog.stage) {
        Some(Stage::Running(running)) => {
            if !running.stopping {
                running.stopping = true;
                effects.push(Effect::StopOperation);
            }
            return;
        }
        Some(Stage::Planning) => effects.push(Effect::StopPlan),
        Some(Stage::Asking(_) | Stage::Naming { .. }) => model.say(Role::Muted, "Nothing was changed."),
        _ => {}
    }
    model.dialog = None;
    notice::next(model);
}

/// A key while a dialog is open. These keys are fixed: no configuration can make one of them agree.
pub(super) fn press(model: &mut Model, key: Key, times: usize, effects: &mut Vec<Effect>) {
    if key == Key::plain(KeyName::Esc) || (key.ctrl && key.name == KeyName::Char('c')) {
        return close(model, effects);
    }
    if key.ctrl && key.name == KeyName::Char('l') {
        return effects.push(Effect::Repaint);
    }
    let page = usize::from(layout::dialog(model.size).height.saturating_sub(4)).max(1);
    match key.name {
        KeyName::Down => return scroll(model, times, true),
        KeyName::Up => return scroll(model, times, false),
        KeyName::PageDown => return scroll(model, times.saturating_mul(page), true),
        KeyName::PageUp => return scroll(model, times.saturating_mul(page), false),
        _ => {}
    }
    let enter = key == Key::plain(KeyName::Enter);
    match model.dialog.as_ref().map(|dialog| (&dialog.stage, dialog.painted)) {
        Some((Stage::Naming { .. }, _)) => naming(model, key, times, effects),
        Some((Stage::Asking(_), true)) => asking(model, key, times, effects),
        Some((Stage::Refused(_), true)) if key.typed() == Some('o') => take_its_place(model, effects),
        Some((Stage::Ended { swap: Some(name), .. }, true)) if key.typed() == Some('u') => {
            let name = name.clone();
            swap_back(model, name, effects);
        }
        Some((Stage::Refused(_) | Stage::Ended { .. } | Stage::Notice(_), true)) if enter => close(model, effects),
        _ => {}
    }
}

/// Plans a copy once more that puts aside what is in its way.
fn take_its_place(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(dialog) = &mut model.dialog else { return };
    if !matches!(&dialog.stage, Stage::Refused(refusal) if dialog.in_the_way(refusal)) {
        return;
    }
    if let Wish::Save { overwrite, .. } = &mut dialog.wish {
        *overwrite = true;
    }
    plan_again(model, effects);
}

/// Plans with or without the layers of the world.
fn toggle_layers(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(dialog) = &mut model.dialog else { return };
    if let Wish::Save { with_layers, .. } = &mut dialog.wish {
        *with_layers = !*with_layers;
    }
    plan_again(model, effects);
}

fn plan_again(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(dialog) = &mut model.dialog else { return };
    dialog.stage = Stage::Planning;
    dialog.painted = false;
    dialog.scroll = 0;
    effects.push(Effect::Plan { ticket: dialog.ticket, wish: dialog.wish.clone() });
    model.dirty = true;
}

fn swap_back(model: &mut Model, name: String, effects: &mut Vec<Effect>) {
    let Some(dialog) = model.dialog.take() else { return };
    let roots = dialog.wish.roots();
    open(model, Wish::Undo { roots, name: Some(name) }, Stage::Planning, effects);
}

/// A text goes into the line that has the keys.
pub(super) fn paste(model: &mut Model, text: &str) {
    let line = text.lines().next().unwrap_or_default().to_owned();
    edit(model, |typed| typed.push_str(&line));
}

fn edit(model: &mut Model, change: impl FnOnce(&mut String)) {
    let line = match model.dialog.as_mut().map(|dialog| &mut dialog.stage) {
        Some(Stage::Naming { name, wrong }) => {
            *wrong = None;
            name
        }
        Some(Stage::Asking(asking)) if asking.field == Field::Name => {
            asking.missing = None;
            &mut asking.typed
        }
        _ => return,
    };
    change(line);
    *line = line.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    model.dirty = true;
}

/// A key in a line of text; true when it was one.
fn typed(model: &mut Model, key: Key, times: usize) -> bool {
    match key.name {
        KeyName::Backspace => edit(model, |text| {
            for _ in 0..times {
                text.pop();
            }
        }),
        KeyName::Char('u') if key.ctrl => edit(model, String::clear),
        _ => match key.typed() {
            Some(c) => edit(model, |text| text.extend(std::iter::repeat_n(c, times))),
            None => return false,
        },
    }
    true
}

fn naming(model: &mut Model, key: Key, times: usize, effects: &mut Vec<Effect>) {
    if key != Key::plain(KeyName::Enter) {
        typed(model, key, times);
        return;
    }
    let Some(dialog) = &mut model.dialog else { return };
    let Stage::Naming { name: typed, wrong } = &mut dialog.stage else { return };
    model.dirty = true;
    if typed.is_empty() {
        *wrong = Some("Type a name first.".to_owned());
        return;
    }
    let place = typed.rsplit_once('/').filter(|_| dialog.operation == Operation::Copy);
    let target = match place {
        Some((profile, rest)) => {
            let known = model.catalog.profiles.iter().find(|there| there.id == profile || there.name == profile);
            known.map(|known| (Some(Box::new(known.clone())), rest.to_owned()))
        }
        None => Some((None, std::mem::take(typed))),
    };
    let Some((place, rest)) = target else {
        *wrong = Some("There is no such profile here; the tree shows their names.".to_owned());
        return;
    };
    if let Wish::Save { name, into, profile, .. } = &mut dialog.wish {
        *name = Some(rest).filter(|rest| !rest.is_empty());
        *into = place.filter(|into| into.id != profile.id || into.root != profile.root);
    }
    plan_again(model, effects);
}

fn asking(model: &mut Model, key: Key, times: usize, effects: &mut Vec<Effect>) {
    let Some(asking) = asked(model) else { return };
    let enter = key == Key::plain(KeyName::Enter);
    let field = asking.field;
    match key.name {
        KeyName::Tab if !key.shift => return walk(model, times, true),
        KeyName::Right => return walk(model, times, true),
        KeyName::Tab | KeyName::Left => return walk(model, times, false),
        _ => {}
    }
    match field {
        Field::Cancel if enter => close(model, effects),
        Field::Layers if enter || key.typed() == Some(' ') => toggle_layers(model, effects),
        Field::Tick(code) if enter || key.typed() == Some(' ') => {
            asking.missing = None;
            match asking.accepted.iter().position(|accepted| *accepted == code) {
                Some(at) => {
                    asking.accepted.remove(at);
                }
                None => asking.accepted.push(code),
            }
            model.dirty = true;
        }
        Field::Name if enter => walk(model, 1, true),
        Field::Name => {
            typed(model, key, times);
        }
        Field::Confirm if enter => confirm(model, effects),
        _ => {}
    }
}

fn asked(model: &mut Model) -> Option<&mut Asking> {
    match model.dialog.as_mut().map(|dialog| &mut dialog.stage) {
        Some(Stage::Asking(asking)) => Some(asking),
        _ => None,
    }
}

/// Goes on to the next thing that can have the keys, and brings it into sight.
fn walk(model: &mut Model, steps: usize, forward: bool) {
    let Some(asking) = asked(model) else { return };
    let fields = asking.fields();
    let here = fields.iter().position(|field| *field == asking.field).unwrap_or(0);
    let steps = steps % fields.len().max(1);
    let there = if forward { here + steps } else { here + fields.len() - steps } % fields.len().max(1);
    let field = fields.get(there).copied().unwrap_or(Field::Cancel);
    asking.field = field;
    asking.missing = None;
    model.dirty = true;
    if matches!(field, Field::Layers | Field::Tick(_) | Field::Name) {
        reveal(model, field);
    }
}

fn reveal(model: &mut Model, field: Field) {
    let (lines, height) = laid_out(model);
    let at = lines.iter().position(|of| *of == Some(field));
    let end = lines.iter().rposition(|of| *of == Some(field));
    if let (Some(dialog), Some(at), Some(end)) = (&mut model.dialog, at, end) {
        dialog.scroll = dialog.scroll.max((end + 1).saturating_sub(height)).min(at);
    }
}

/// What each line belongs to, and how many of them are in sight.
fn laid_out(model: &Model) -> (Vec<Option<Field>>, usize) {
    let inside = layout::inside(layout::dialog(model.size));
    let rows = model.dialog.as_ref().map(|dialog| rows(model, dialog, usize::from(inside.width)));
    let fields = rows.unwrap_or_default().into_iter().map(|(_, field)| field).collect();
    (fields, usize::from(inside.height.saturating_sub(1)))
}

fn scroll(model: &mut Model, by: usize, down: bool) {
    let (lines, height) = laid_out(model);
    let most = lines.len().saturating_sub(height);
    if let Some(dialog) = &mut model.dialog {
        let from = dialog.scroll.min(most);
        dialog.scroll = if down { from.saturating_add(by).min(most) } else { from.saturating_sub(by) };
        model.dirty = true;
    }
}

fn confirm(model: &mut Model, effects: &mut Vec<Effect>) {
    let inside = layout::inside(layout::dialog(model.size));
    let small = inside.width < READABLE.0 || inside.height < READABLE.1;
    let Some(dialog) = &mut model.dialog else { return };
    let ticket = dialog.ticket;
    let Stage::Asking(asking) = &mut dialog.stage else { return };
    model.dirty = true;
    let lacks = small.then(|| "The terminal is too small to show what would be done.".to_owned());
    if let Some(missing) = lacks.or_else(|| asking.lacks()) {
        asking.missing = Some(missing);
        let (lines, height) = laid_out(model);
        if let Some(dialog) = &mut model.dialog {
            dialog.scroll = lines.len().saturating_sub(height);
        }
        return;
    }
    let agreed = asking.agreed(&dialog.wish);
    let plans = agreed.iter().map(|agreed| agreed.plan.clone()).collect();
    dialog.stage = Stage::Running(Running { plans, bytes: 0, path: String::new(), stopping: false });
    dialog.scroll = 0;
    dialog.painted = false;
    effects.push(Effect::Perform { ticket, agreed });
}
