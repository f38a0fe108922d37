//! What differs between two scans, as far as somebody who waits for saves and for trouble wants to know.

use std::collections::BTreeSet;

use super::news::{About, News};
use crate::model::{Code, Finding, Layer, LayerKind, Profile, Severity, Verdict, World, shown, shown_path};

/// What happened between two scans.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changes {
    /// Ids of live layers that hold another save than before; they are told once they were checked.
    pub(super) saved: Vec<String>,
    /// What can be told at once.
    pub(super) news: Vec<News>,
    /// True when something of `news` may be a state between two: worth another look before it is told.
    pub(super) doubtful: bool,
}

/// Compares two scans. Of the worlds that `ours` names, by id, an operation of ours explains what came and went.
pub(super) fn changes(old: &[Profile], new: &[Profile], ours: &BTreeSet<String>) -> Changes {
    let mut changes = Changes::default();
    for profile in new {
        match old.iter().find(|old| old.id == profile.id) {
            Some(before) => changes.profile(before, profile, ours),
            None => {
                changes.news.push(watching(profile));
                changes.news.extend(standing(profile));
            }
        }
    }
    for gone in old.iter().filter(|old| !new.iter().any(|profile| profile.id == old.id)) {
        let text = format!("The saves in {} are gone.", shown_path(&gone.root));
        let next = "Look whether a disk is not mounted or the folder was moved.";
        changes.doubt(News::new("profile-gone", Severity::Error, About::profile(&gone.id), text).next(next));
    }
    changes
}

/// The first line about a profile.
pub(super) fn watching(profile: &Profile) -> News {
    let worlds = match profile.worlds.len() {
        1 => "1 world".to_owned(),
        n => format!("{n} worlds"),
    };
    let text = format!("Watching {} with {worlds}.", shown_path(&profile.root));
    News::new("watching", Severity::Note, About::profile(&profile.id), text)
}

/// What is wrong with a profile as it stands: of the place, the worlds and what the game would load. The many layers
/// behind that are what `list` is for.
pub(super) fn standing(profile: &Profile) -> Vec<News> {
    let of = |about: About, findings: &[Finding]| -> Vec<News> {
        let weighty = findings.iter().filter(|finding| finding.severity >= Severity::Warning);
        weighty.map(|finding| News::finding(about.clone(), finding)).collect()
    };
    let mut news = of(About::profile(&profile.id), &profile.findings);
    for world in &profile.worlds {
        news.extend(of(About::world(&profile.id, &world.id), &world.findings));
        if let Some(live) = world.live() {
            let about = About::layer(&profile.id, &world.id, &live.id);
            news.extend(of(about.clone(), &live.findings));
            news.extend(of(about, &live.relations));
        }
    }
    news
}

impl Changes {
    fn doubt(&mut self, news: News) {
        self.doubtful = true;
        self.news.push(news);
    }

    fn profile(&mut self, old: &Profile, new: &Profile, ours: &BTreeSet<String>) {
        self.findings(&About::profile(&new.id), &old.findings, &new.findings);
        for world in &new.worlds {
            let about = About::world(&new.id, &world.id);
            match old.worlds.iter().find(|old| old.id == world.id) {
                Some(before) => self.world(&about, before, world, ours.contains(&world.id)),
                None => {
                    let text = format!("{} is new here.", shown(&world.name));
                    self.news.push(News::new("world-new", Severity::Note, about.clone(), text));
                    self.findings(&about, &[], &world.findings);
                    for layer in world.layers.iter().filter(|layer| layer.kind == LayerKind::Live) {
                        self.layer_findings(&about, None, layer);
                    }
                }
            }
        }
        for gone in old.worlds.iter().filter(|old| !new.worlds.iter().any(|world| world.id == old.id)) {
            if !ours.contains(&gone.id) {
                let text = format!("{} is gone, and no layer of it is left here.", shown(&gone.name));
                let next =
                    "If nobody moved it, look for it with `worldkeep history`, and for another disk with its backups.";
                let about = About::world(&new.id, &gone.id);
                self.doubt(News::new("world-gone", Severity::Error, about, text).next(next));
            }
        }
    }

    fn world(&mut self, about: &About, old: &World, new: &World, ours: bool) {
        self.findings(about, &old.findings, &new.findings);
        match (old.live(), new.live()) {
            (Some(_), None) if !ours => self.live_gone(about, new),
            (Some(before), Some(live)) if !same_save(before, live) && !ours => self.saved.push(live.id.clone()),
            (None, Some(live)) if !ours => self.saved.push(live.id.clone()),
            _ => {}
        }
        for layer in &new.layers {
            let before = old.layers.iter().find(|old| old.id == layer.id);
            if before.is_none() && is_backup(layer) && !ours {
                self.news.push(layer_new(about, layer));
            }
            self.layer_findings(about, before, layer);
        }
        for gone in old.layers.iter().filter(|old| !new.layers.iter().any(|layer| layer.id == old.id)) {
            if is_backup(gone) && !ours {
                let about = About { layer: Some(gone.id.clone()), ..about.clone() };
                let pruned = matches!(gone.kind, LayerKind::Auto | LayerKind::Rolling);
                let severity = if pruned { Severity::Note } else { Severity::Warning };
                let text = format!("This layer, {}, is gone.", gone.kind.word());
                self.news.push(News::new("layer-gone", severity, about, text));
            }
        }
    }

    fn live_gone(&mut self, about: &About, world: &World) {
        let whole = world.layers.iter().find(|layer| layer.restorable && layer.verdict <= Verdict::Notes);
        let text = format!("The live state of {} is gone.", shown(&world.name));
        let next = match whole {
            Some(layer) => format!(
                "Do not start the server: it would make a new world of that name. The newest layer that may be whole is {}.",
                shown(&layer.id)
            ),
            None => "Do not start the server: it would make a new world of that name.".to_owned(),
        };
        self.doubt(News::new("live-gone", Severity::Error, about.clone(), text).next(next));
    }

    fn layer_findings(&mut self, about: &About, before: Option<&Layer>, layer: &Layer) {
        let about = About { layer: Some(layer.id.clone()), ..about.clone() };
        let of = |layer: &Layer| layer.all_findings().cloned().collect::<Vec<_>>();
        self.findings(&about, &before.map(of).unwrap_or_default(), &of(layer));
    }

    /// Tells what weighs and was not there before.
    fn findings(&mut self, about: &About, old: &[Finding], new: &[Finding]) {
        let known: Vec<(Code, Option<&String>)> = old.iter().map(key).collect();
        for finding in new.iter().filter(|finding| finding.severity >= Severity::Warning) {
            if !known.contains(&key(finding)) {
                self.doubt(News::finding(about.clone(), finding));
            }
        }
    }
}

/// What makes a finding the same one in the next scan; its text may count time.
fn key(finding: &Finding) -> (Code, Option<&String>) {
    (finding.code, finding.place.file.as_ref())
}

fn same_save(old: &Layer, new: &Layer) -> bool {
    (old.generation, old.stamp, &old.files) == (new.generation, new.stamp, &new.files)
}

/// True for what somebody would count as a backup that comes and goes by itself.
fn is_backup(layer: &Layer) -> bool {
    use LayerKind::{Generation, Live, Parked, Previous, Stray};
    !matches!(layer.kind, Live | Generation | Previous | Parked | Stray)
}

fn layer_new(about: &About, layer: &Layer) -> News {
    let about = About { layer: Some(layer.id.clone()), ..about.clone() };
    let text = format!("A new layer, {}: {}.", layer.kind.word(), layer.verdict.word());
    News { generation: layer.generation, ..News::new("layer-new", Severity::Note, about, text) }
}

#[cfg(test)]
mod tests;
