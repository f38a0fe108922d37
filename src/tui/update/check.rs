use super::super::state::{Effect, Model, Signature, Sort};
use super::super::subject::Subject;
use super::super::tree::Says;
use super::look;
use crate::config::theme::Role;
use crate::model::{Checked, Code, Depth, Verdict};

/// The user wants to know now: the layer, or every layer below the node, one after another.
pub(super) fn verify(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(node) = model.tree.selected else { return };
    let wanted: Vec<String> = match model.subject(node) {
        Some(Subject::Layer(_, _, layer)) => vec![layer.id.clone()],
        Some(Subject::World(_, world)) => world.layers.iter().map(|layer| layer.id.clone()).collect(),
        Some(Subject::Profile(profile)) => {
            profile.worlds.iter().flat_map(|w| &w.layers).map(|layer| layer.id.clone()).collect()
        }
        None => Vec::new(),
    };
    if wanted.is_empty() {
        model.say(Role::Muted, "There is nothing to check here.");
        return;
    }
    let checking = &mut model.checking;
    checking.total = wanted.len();
    checking.done = 0;
    checking.tally = [0; 3];
    checking.queue = wanted.into();
    checking.running = None;
    model.dirty = true;
    next(model, effects);
}

/// Starts the next check that was asked for, or says how it went.
fn next(model: &mut Model, effects: &mut Vec<Effect>) {
    while let Some(id) = model.checking.queue.pop_front() {
        let Some((profile, _, layer)) = model.catalog.layer(&id) else {
            model.checking.done += 1;
            continue;
        };
        let signature = Signature::of(layer);
        let effect = Effect::Check { signature: signature.clone(), game: profile.game, layer: Box::new(layer.clone()) };
        effects.push(effect);
        model.checking.running = Some(signature);
        return;
    }
    let [whole, damaged, other] = model.checking.tally;
    let total = std::mem::take(&mut model.checking.total);
    model.checking.running = None;
    if total > 1 {
        let role = if damaged > 0 { Role::Danger } else { Role::Ok };
        let text =
            format!("Checked {} layers: {whole} whole, {damaged} damaged, {other} other.", whole + damaged + other);
        model.say(role, text);
    }
}

/// A check in the background, when nobody asked for another and the layer was not looked at fully yet.
pub(super) fn background(model: &mut Model, node: u32, effects: &mut Vec<Effect>) {
    if model.checking.total > 0 {
        return;
    }
    let Some((profile, world, layer)) = model.layer_of(node) else { return };
    // While the server writes a save of this world, it has the disk to itself; the next scan asks again.
    if world.layers.iter().flat_map(|l| &l.findings).any(|finding| finding.code == Code::SaveInProgress) {
        return;
    }
    let signature = Signature::of(layer);
    let known = layer.depth == Depth::Full || model.checking.seen.contains(&signature);
    if known || model.checking.running.as_ref() == Some(&signature) {
        return;
    }
    effects.push(Effect::Check { signature: signature.clone(), game: profile.game, layer: Box::new(layer.clone()) });
    model.checking.running = Some(signature);
    model.dirty = true;
}

/// The user does not want to wait any longer.
pub(super) fn cancel(model: &mut Model, effects: &mut Vec<Effect>) {
    let (done, total) = (model.checking.done, model.checking.total);
    abandon(model);
    effects.push(Effect::StopCheck);
    model.say(Role::Muted, format!("Stopped after {done} of {total}."));
}

/// Forgets what runs and what waits.
pub(super) fn abandon(model: &mut Model) {
    model.checking.running = None;
    model.checking.queue.clear();
    model.checking.total = 0;
    model.dirty = true;
}

/// A check has ended. A result for a state that has changed since counts for nothing.
pub(super) fn done(model: &mut Model, signature: &Signature, checked: Checked, effects: &mut Vec<Effect>) {
    let ours = model.checking.running.as_ref() == Some(signature);
    let current = model.catalog.layer(&signature.id).is_some_and(|(_, _, layer)| Signature::of(layer) == *signature);
    if current {
        let verdict = checked.verdict;
        model.checking.seen.insert(signature.clone());
        model.catalog.checked(&signature.id, checked);
        renew(model, &signature.id);
        model.dirty = true;
        if ours && model.checking.total > 0 {
            let slot = match verdict {
                Verdict::Sound | Verdict::Notes => 0,
                Verdict::Damaged => 1,
                _ => 2,
            };
            if let Some(count) = model.checking.tally.get_mut(slot) {
                *count += 1;
            }
            if model.checking.total == 1 {
                said(model, &signature.id);
            }
        }
    }
    if !ours {
        return;
    }
    model.checking.running = None;
    if model.checking.total > 0 {
        model.checking.done += 1;
        next(model, effects);
    }
    look::again(model);
}

/// The rows of a checked layer's world change; the whole tree only when what matches or the order may change with them.
fn renew(model: &mut Model, id: &str) {
    let tree = &mut model.tree;
    let says = Says { glyphs: &model.skin.glyphs, zone: &model.zone };
    let same = !tree.stale && model.filter.is_empty() && model.sort == Sort::Name;
    tree.stale = !(same && tree.forest.renew(&model.catalog, id, says));
}

fn said(model: &mut Model, id: &str) {
    let Some((_, world, layer)) = model.catalog.layer(id) else { return };
    let name = model.skin.glyphs.text(&world.name);
    let label = super::super::tree::label(layer, model.says());
    let role = if layer.verdict == Verdict::Damaged { Role::Danger } else { Role::Ok };
    let word = layer.verdict.word();
    model.say(role, format!("Checked {name} @ {label}: {word}."));
}
