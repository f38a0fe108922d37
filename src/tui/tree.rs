//! The nodes of the tree in the order in which they stand, filtered and sorted, and the rows that can be seen.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;

use super::glyphs::Glyphs;
use super::state::Sort;
use super::text::contains_smart;
use crate::model::{Code, Finding, Layer, LayerKind, Profile, Severity, Verdict, World, human, shown, shown_path};
use crate::scan::Catalog;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Profile,
    World,
    Layer,
}

/// One node with what its row says.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: u32,
    pub(super) kind: Kind,
    /// The id in the catalog.
    pub(super) key: String,
    pub(super) parent: Option<usize>,
    pub(super) depth: u8,
    pub(super) children: usize,
    pub(super) hit: bool,
    pub(super) row: Row,
}

/// What a row says.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) note: String,
    pub(super) day: String,
    pub(super) bytes: Option<u64>,
    pub(super) saved: Option<jiff::Timestamp>,
    pub(super) verdict: Verdict,
    pub(super) errors: usize,
    pub(super) live: bool,
    /// A profile without a world: there is nothing to have a verdict about.
    pub(super) empty: bool,
}

impl Row {
    /// The short word beside the sign.
    pub(super) fn word(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.verdict {
            _ if self.empty => "empty",
            Verdict::Sound => "whole",
            Verdict::Notes => "notes",
            Verdict::Damaged => return Cow::Owned(self.errors.max(1).to_string()),
            Verdict::Unfinished => "none",
            Verdict::Unsupported => "unknown version",
            Verdict::Unchecked => "unchecked",
            Verdict::Unreadable => "not readable",
        })
    }
}

/// Small numbers for the ids of nodes; the same id has the same number for as long as the program runs.
#[derive(Debug, Default)]
struct Numbers {
    profiles: HashMap<String, u32>,
    worlds: HashMap<String, u32>,
    layers: HashMap<String, u32>,
    next: u32,
}

impl Numbers {
    fn of(&mut self, kind: Kind, key: &str) -> u32 {
        if let Some(known) = self.known(kind, key) {
            return known;
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        let map = match kind {
            Kind::Profile => &mut self.profiles,
            Kind::World => &mut self.worlds,
            Kind::Layer => &mut self.layers,
        };
        map.insert(key.to_owned(), number);
        number
    }

    fn known(&self, kind: Kind, key: &str) -> Option<u32> {
        let map = match kind {
            Kind::Profile => &self.profiles,
            Kind::World => &self.worlds,
            Kind::Layer => &self.layers,
        };
        map.get(key).copied()
    }
}

/// Every node that the filter lets through, parents before their children.
#[derive(Debug, Default)]
pub(super) struct Forest {
    pub(super) items: Vec<Item>,
    /// How many nodes match the filter, and how many there are.
    pub(super) hits: usize,
    pub(super) total: usize,
    /// Grows with every building.
    pub(super) built: u64,
    numbers: Numbers,
    at: HashMap<u32, usize>,
}

impl Forest {
    /// Builds the nodes of a catalog.
    pub(super) fn build(&mut self, catalog: &Catalog, filter: &str, sort: Sort, says: Says<'_>) {
        let mut all: Vec<Item> = Vec::new();
        for profile in &catalog.profiles {
            let hit = matches(filter, || profile_words(profile));
            let top = all.len();
            let item = self.item_of(Kind::Profile, &profile.id, None, 0, profile_row(profile, says.glyphs));
            all.push(Item { children: profile.worlds.len(), hit, ..item });
            let mut worlds: Vec<&World> = profile.worlds.iter().collect();
            sort_worlds(&mut worlds, sort);
            for world in worlds {
                let hit = matches(filter, || world_words(world));
                let above = all.len();
                let item = self.item_of(Kind::World, &world.id, Some(top), 1, world_row(world, says.glyphs));
                all.push(Item { children: world.layers.len(), hit, ..item });
                let mut layers: Vec<&Layer> = world.layers.iter().collect();
                sort_layers(&mut layers, sort);
                for layer in layers {
                    let hit = matches(filter, || layer_words(layer, says));
                    let item = self.item_of(Kind::Layer, &layer.id, Some(above), 2, layer_row(layer, says));
                    all.push(Item { hit, ..item });
                }
            }
        }
        self.total = all.len();
        self.hits = all.iter().filter(|item| item.hit).count();
        self.items = if filter.is_empty() { all } else { kept(all) };
        self.at = self.items.iter().enumerate().map(|(at, item)| (item.id, at)).collect();
        self.built += 1;
    }

    /// Writes anew what the rows of one layer, its siblings and everything above them say, after a check of it; false
    /// when one of them is not here, so that everything has to be built again.
    ///
    /// Which nodes there are and in which order they stand is not looked at.
    pub(super) fn renew(&mut self, catalog: &Catalog, layer: &str, says: Says<'_>) -> bool {
        let Some((profile, world, _)) = catalog.layer(layer) else { return false };
        let mut rows = vec![
            (Kind::Profile, &profile.id, profile_row(profile, says.glyphs)),
            (Kind::World, &world.id, world_row(world, says.glyphs)),
        ];
        rows.extend(world.layers.iter().map(|layer| (Kind::Layer, &layer.id, layer_row(layer, says))));
        for (kind, key, row) in rows {
            let at = self.numbers.known(kind, key).and_then(|id| self.index(id));
            let Some(item) = at.and_then(|at| self.items.get_mut(at)) else { return false };
            item.row = row;
        }
        self.built += 1;
        true
    }

    fn item_of(&mut self, kind: Kind, key: &str, parent: Option<usize>, depth: u8, row: Row) -> Item {
        let id = self.numbers.of(kind, key);
        Item { id, kind, key: key.to_owned(), parent, depth, children: 0, hit: false, row }
    }

    /// The node of a number.
    pub(super) fn item(&self, id: u32) -> Option<&Item> {
        self.items.get(self.index(id)?)
    }

    /// Where a node stands.
    pub(super) fn index(&self, id: u32) -> Option<usize> {
        self.at.get(&id).copied()
    }

    /// A node's parent.
    pub(super) fn parent(&self, id: u32) -> Option<&Item> {
        self.items.get(self.item(id)?.parent?)
    }

    /// A node and its ancestors, from the top.
    pub(super) fn path(&self, id: u32) -> Vec<u32> {
        let mut path = Vec::with_capacity(3);
        let mut at = self.item(id);
        while let Some(item) = at {
            path.push(item.id);
            at = item.parent.and_then(|parent| self.items.get(parent));
        }
        path.reverse();
        path
    }

    /// The nodes whose ancestors are all open, in order.
    pub(super) fn visible(&self, open: &HashSet<u32>) -> Vec<u32> {
        let mut shown: Vec<bool> = Vec::with_capacity(self.items.len());
        let mut rows = Vec::new();
        for item in &self.items {
            let seen = item.parent.is_none_or(|parent| {
                shown.get(parent).copied().unwrap_or(false)
                    && self.items.get(parent).is_some_and(|parent| open.contains(&parent.id))
            });
            shown.push(seen);
            if seen {
                rows.push(item.id);
            }
        }
        rows
    }

    /// Every parent of a match.
    pub(super) fn above_hits(&self) -> HashSet<u32> {
        self.items
            .iter()
            .filter(|item| item.hit)
            .flat_map(|item| self.path(item.id).into_iter().rev().skip(1))
            .collect()
    }
}

/// Where the selection goes when its node is gone: the next sibling of old that is still there, else the one before,
/// else the parent, and so on upwards.
pub(super) fn anchor(old: &[Item], old_at: usize, new: &Forest) -> Option<u32> {
    let item = old.get(old_at)?;
    if new.index(item.id).is_some() {
        return Some(item.id);
    }
    let sibling = |other: &&Item| other.parent == item.parent && new.index(other.id).is_some();
    let after = old.iter().skip(old_at + 1).find(sibling);
    let before = || old.iter().take(old_at).rev().find(sibling);
    after.or_else(before).map(|found| found.id).or_else(|| anchor(old, item.parent?, new))
}

/// Matches with their ancestors and everything below them, and parents counted anew.
fn kept(all: Vec<Item>) -> Vec<Item> {
    let mut keep = vec![false; all.len()];
    for (at, item) in all.iter().enumerate() {
        let below = item.parent.is_some_and(|parent| hit_above(&all, parent));
        if item.hit || below {
            let mut up = Some(at);
            while let Some(at) = up {
                if let Some(flag) = keep.get_mut(at) {
                    *flag = true;
                }
                up = all.get(at).and_then(|item| item.parent);
            }
        }
    }
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(all.len());
    let mut out: Vec<Item> = Vec::new();
    for (mut item, keep) in all.into_iter().zip(keep) {
        if !keep {
            moved.push(None);
            continue;
        }
        moved.push(Some(out.len()));
        item.parent = item.parent.and_then(|parent| moved.get(parent).copied().flatten());
        item.children = 0;
        if let Some(parent) = item.parent.and_then(|parent| out.get_mut(parent)) {
            parent.children += 1;
        }
        out.push(item);
    }
    out
}

fn hit_above(all: &[Item], at: usize) -> bool {
    all.get(at).is_some_and(|item| item.hit || item.parent.is_some_and(|parent| hit_above(all, parent)))
}

fn matches(filter: &str, words: impl FnOnce() -> String) -> bool {
    !filter.is_empty() && contains_smart(&words(), filter)
}

/// Findings that tell where a name went.
fn told(findings: &[Finding], out: &mut String) {
    const NAMES: &[Code] = &[
        Code::HiddenPair,
        Code::NestedWorld,
        Code::NameDiffers,
        Code::DatedCopy,
        Code::CaseTwin,
        Code::MapCacheOnly,
        Code::JunkFolder,
        Code::ExtraFile,
        Code::OldFolder,
        Code::OddName,
    ];
    for finding in findings.iter().filter(|finding| NAMES.contains(&finding.code)) {
        out.push('\n');
        out.push_str(&finding.text);
        if let Some(file) = &finding.place.file {
            out.push('\n');
            out.push_str(file);
        }
    }
}

fn profile_words(profile: &Profile) -> String {
    let mut words = format!("{}\n{}\n{}", shown(&profile.name), profile.game, shown_path(&profile.root));
    told(&profile.findings, &mut words);
    words
}

fn world_words(world: &World) -> String {
    let mut words = shown(&world.name);
    for more in [&world.inner_name, &world.place].into_iter().flatten() {
        words.push('\n');
        words.push_str(&shown(more));
    }
    told(&world.findings, &mut words);
    words
}

fn layer_words(layer: &Layer, says: Says<'_>) -> String {
    // The live layer is called like its world, which answers for it.
    let file = layer.path.file_name().filter(|_| layer.kind != LayerKind::Live);
    let file = file.map(|name| shown_path(name.as_ref())).unwrap_or_default();
    let kind = layer.kind;
    let label = label(layer, says);
    let mut words = format!("{label}\n{}\n{}\n{}\n{file}", kind.word(), kind.as_str(), shown(&layer.rule));
    told(&layer.findings, &mut words);
    told(&layer.relations, &mut words);
    words
}

fn newest(world: &World) -> Option<jiff::Timestamp> {
    match world.live() {
        Some(live) => live.stamp.map(|stamp| stamp.at),
        None => world.layers.iter().filter_map(|layer| layer.stamp).map(|stamp| stamp.at).max(),
    }
}

fn sort_worlds(worlds: &mut [&World], sort: Sort) {
    match sort {
        Sort::Name => worlds.sort_by(|a, b| a.name.to_lowercase().cmp(&b.name.to_lowercase()).then(a.id.cmp(&b.id))),
        Sort::Age => worlds.sort_by_key(|world| Reverse(newest(world))),
        Sort::Size => worlds.sort_by_key(|world| Reverse(world.bytes())),
    }
}

/// The live layer stays first; by name the order is the catalog's own: live, then the newest.
fn sort_layers(layers: &mut [&Layer], sort: Sort) {
    let rest = |layer: &&Layer| layer.kind != LayerKind::Live;
    match sort {
        Sort::Name => {}
        Sort::Age => layers.sort_by_key(|layer| (rest(layer), Reverse(layer.stamp.map(|stamp| stamp.at)))),
        Sort::Size => layers.sort_by_key(|layer| (rest(layer), Reverse(layer.bytes))),
    }
}

fn errors<'a>(findings: impl Iterator<Item = &'a Finding>) -> usize {
    findings.filter(|finding| finding.severity == Severity::Error).count()
}

fn profile_row(profile: &Profile, glyphs: &Glyphs) -> Row {
    let own = if profile.findings.is_empty() { Verdict::Unchecked } else { Verdict::from_findings(&profile.findings) };
    let worlds = profile.worlds.iter().map(World::verdict).max().unwrap_or_default();
    Row {
        name: glyphs.text(&profile.name),
        note: glyphs.text(&shown_path(&profile.root)),
        verdict: own.max(worlds),
        errors: errors(profile.findings.iter())
            + profile.worlds.iter().filter(|w| w.verdict() == Verdict::Damaged).count(),
        bytes: (!profile.worlds.is_empty()).then(|| profile.worlds.iter().map(World::bytes).sum()),
        empty: profile.worlds.is_empty() && profile.findings.is_empty(),
        ..Row::default()
    }
}

fn world_row(world: &World, glyphs: &Glyphs) -> Row {
    let live = world.live();
    let place = world.place.as_deref().map(|place| glyphs.text(place)).unwrap_or_default();
    Row {
        name: glyphs.text(&world.name),
        note: place,
        day: live.map(|layer| day(layer, glyphs)).unwrap_or_default(),
        bytes: (!world.layers.is_empty()).then(|| world.bytes()),
        saved: newest(world),
        verdict: world.verdict(),
        errors: errors(world.findings.iter().chain(live.into_iter().flat_map(Layer::all_findings))),
        ..Row::default()
    }
}

fn layer_row(layer: &Layer, says: Says<'_>) -> Row {
    Row {
        name: label(layer, says),
        note: String::new(),
        day: day(layer, says.glyphs),
        bytes: Some(layer.bytes),
        saved: layer.stamp.map(|stamp| stamp.at),
        verdict: layer.verdict,
        errors: errors(layer.all_findings()),
        live: layer.kind == LayerKind::Live,
        empty: false,
    }
}

fn day(layer: &Layer, glyphs: &Glyphs) -> String {
    match (layer.facts.int("day"), layer.facts.get("day")) {
        (Some(day), _) => format!("day {day}"),
        (None, Some(_)) => glyphs.verdict(Verdict::Unchecked).to_owned(),
        (None, None) => String::new(),
    }
}

/// How rows say what they say: with these signs, in this zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says<'a> {
    pub(super) glyphs: &'a Glyphs,
    pub(super) zone: &'a TimeZone,
}

/// What a layer is called in the tree: `live, save 17`, `auto 11-30 04:00`, an archive's file name. One world may have
/// many layers of one kind: the moment keeps them apart where there is no room for anything beside the name.
pub(super) fn label(layer: &Layer, says: Says<'_>) -> String {
    let file = || layer.path.file_name().map(|name| says.glyphs.text(&shown_path(name.as_ref())));
    match (layer.kind, layer.generation) {
        (LayerKind::Live, Some(save)) => format!("live, save {save}"),
        (LayerKind::Live, None) => layer.kind.word().to_owned(),
        (LayerKind::Generation, Some(save)) => format!("save {save}"),
        (LayerKind::Archive | LayerKind::Stray, _) => match file() {
            Some(file) => format!("{} {file}", layer.kind.word()),
            None => layer.kind.word().to_owned(),
        },
        (kind, _) => match layer.stamp {
            Some(stamp) => {
                let when = human::when(stamp.at, says.zone);
                // Month, day, hour and minute of `2026-11-30 04:00:00`.
                format!("{} {}", kind.word(), when.get(5..16).unwrap_or(&when))
            }
            None => kind.word().to_owned(),
        },
    }
}
