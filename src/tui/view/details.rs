//! The lines of the details pane: why a verdict is what it is first, then what is in it, then where it lies.

use ratatui::text::{Line, Span};

use super::super::state::Model;
use super::super::subject::Subject;
use super::super::text::{pad, width, wrap};
use super::super::tree;
use crate::config::theme::Role;
use crate::model::{
    Depth, Finding, Found, Layer, LayerKind, Profile, StampFrom, Value, Verdict, World, human, shown_path,
};

/// What the game's own backup tools say of such a layer.
const NOTHING_FINISHED: &str = "This snapshot holds no finished save, so there is nothing to restore from it yet.";

/// The most files that are listed.
const MOST_FILES: usize = 500;

/// Lines being put together.
struct Page<'a> {
    model: &'a Model,
    width: usize,
    lines: Vec<Line<'static>>,
    /// Labels and values that still wait for the longest label among them.
    facts: Vec<(String, String)>,
    /// The longest label so far, of facts that are listed and of those that will be.
    column: usize,
}

/// The title and the lines for the node that is shown.
pub(in super::super) fn lines(model: &Model, width: usize) -> (String, Vec<Line<'static>>) {
    let mut page = Page { model, width: width.max(1), lines: Vec::new(), facts: Vec::new(), column: 0 };
    let Some(subject) = model.shown.and_then(|node| model.subject(node)) else {
        return ("Details".to_owned(), Vec::new());
    };
    let glyphs = &model.skin.glyphs;
    let title = match subject {
        Subject::Profile(profile) => {
            page.profile(profile);
            glyphs.text(&profile.name)
        }
        Subject::World(profile, world) => {
            page.world(profile, world);
            glyphs.text(&world.name)
        }
        Subject::Layer(_, world, layer) => {
            page.layer(layer);
            format!("{} @ {}", glyphs.text(&world.name), tree::label(layer, model.says()))
        }
    };
    page.align();
    (title, page.lines)
}

/// The verdict in words, with how deep it looked.
pub(in super::super) fn verdict(layer: &Layer) -> String {
    let depth = match layer.depth {
        _ if layer.verdict == Verdict::Unchecked => return layer.verdict.word().to_owned(),
        Depth::Names => "names only",
        Depth::Headers => "headers",
        Depth::Full => "full check",
    };
    format!("{} ({depth})", layer.verdict.word())
}

/// A fact's value for a person.
pub(in super::super) fn value(model: &Model, value: &Value) -> String {
    value.words().map_or_else(|| "not known".to_owned(), |words| model.skin.glyphs.text(&words))
}

/// When a layer was saved: the moment, its age, and how it is known.
pub(in super::super) fn saved(model: &Model, layer: &Layer) -> Option<String> {
    let stamp = layer.stamp?;
    let from = match stamp.from {
        StampFrom::Name => "by its name",
        StampFrom::Marker => "by the game's commit marker",
        StampFrom::Inside => "by the save itself",
        StampFrom::Mtime => "by the files' times",
    };
    let when = human::when(stamp.at, &model.zone);
    let age = human::age(model.now, stamp.at);
    Some(format!("{when} ({age}), {from}"))
}

impl Page<'_> {
    fn say(&mut self, role: Role, text: &str) {
        for line in wrap(text, self.width) {
            self.lines.push(Line::styled(line, self.model.skin.of(role)));
        }
    }

    fn gap(&mut self) {
        self.align();
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    /// A label and its value.
    fn fact(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            self.measure(label);
            self.facts.push((label.to_owned(), text.to_owned()));
        }
    }

    /// Gives a label room, if it leaves half of the pane to the values.
    fn measure(&mut self, label: &str) {
        let wide = width(label);
        if wide <= self.width / 2 {
            self.column = self.column.max(wide);
        }
    }

    /// Lays the facts out: the values in a column of their own, wide enough for the longest label that leaves them half
    /// of the pane.
    fn align(&mut self) {
        let facts = std::mem::take(&mut self.facts);
        let column = self.column;
        let skin = &self.model.skin;
        for (label, text) in facts {
            let label = pad(&label, column.max(width(&label)), skin.glyphs.ellipsis);
            let first = width(&label) + 1;
            let room = self.width.saturating_sub(first).max(8);
            for (at, line) in wrap(&text, room).into_iter().enumerate() {
                let lead = if at == 0 { format!("{label} ") } else { " ".repeat(first) };
                self.lines.push(Line::from(vec![
                    Span::styled(lead, skin.of(Role::Muted)),
                    Span::styled(line, skin.of(Role::Text)),
                ]));
            }
        }
    }

    fn verdict_line(&mut self, verdict: Verdict, words: &str) {
        let skin = &self.model.skin;
        let look = skin.verdict(verdict);
        let sign = skin.glyphs.verdict(verdict);
        for (at, line) in wrap(words, self.width.saturating_sub(2)).into_iter().enumerate() {
            let lead = if at == 0 { sign } else { " " };
            self.lines.push(Line::styled(format!("{lead} {line}"), look));
        }
    }

    /// Findings, the gravest first.
    fn findings<'f>(&mut self, findings: impl Iterator<Item = &'f Finding>) {
        let mut all: Vec<&Finding> = findings.collect();
        all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        for finding in all {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let skin = self.model.skin.clone();
        let room = self.width.saturating_sub(2);
        let look = skin.severity(finding.severity);
        for (at, line) in wrap(&skin.glyphs.text(&finding.text), room).into_iter().enumerate() {
            let lead = if at == 0 { skin.glyphs.severity(finding.severity) } else { " " };
            self.lines.push(Line::from(vec![
                Span::styled(format!("{lead} "), look),
                Span::styled(line, if at == 0 { look } else { skin.of(Role::Text) }),
            ]));
        }
        let place = place(finding);
        let next = if finding.next.is_empty() { String::new() } else { format!("Next: {}", finding.next) };
        for (text, role) in [(place, Role::Muted), (next, Role::Text)] {
            if text.is_empty() {
                continue;
            }
            for line in wrap(&skin.glyphs.text(&text), room) {
                self.lines.push(Line::styled(format!("  {line}"), skin.of(role)));
            }
        }
    }

    fn profile(&mut self, profile: &Profile) {
        self.findings(profile.findings.iter());
        self.gap();
        let found = match profile.found {
            Found::Discovered => "in one of the usual places",
            Found::Configured => "named in the configuration",
            Found::Argument => "named on the command line",
            Found::Demo => "a demo save",
        };
        let glyphs = self.model.skin.glyphs;
        self.fact("folder", &glyphs.text(&shown_path(&profile.root)));
        self.fact("game", profile.game);
        self.fact("found", found);
        if let Some(server) = self.model.server(&profile.id) {
            self.fact("server", server.state.as_str());
            for text in server.reasons.iter().chain(&server.restarts) {
                self.fact("", &glyphs.text(text));
            }
        }
        self.fact("worlds", &profile.worlds.len().to_string());
        self.fact("size", &human::size(profile.worlds.iter().map(World::bytes).sum()));
        self.fact("free", &profile.free_bytes.map_or_else(|| "not known".to_owned(), human::size));
    }

    fn world(&mut self, profile: &Profile, world: &World) {
        let verdict = world.verdict();
        let words = match world.live() {
            Some(live) => self::verdict(live),
            None => "no live state here".to_owned(),
        };
        self.verdict_line(verdict, &words);
        if let Some(live) = world.live() {
            self.restorable(live);
        }
        self.findings(world.findings.iter().chain(world.live().into_iter().flat_map(Layer::all_findings)));
        self.gap();
        let glyphs = self.model.skin.glyphs;
        let mut told: Vec<&str> = Vec::new();
        if let Some(server) = self.model.server(&profile.id) {
            self.fact("server", server.state.as_str());
        }
        if let Some(live) = world.live() {
            self.facts(live);
            told.extend(live.facts.0.iter().filter(|fact| fact.value != Value::Unknown).map(|fact| fact.key));
            self.fact("saved", &saved(self.model, live).unwrap_or_default());
            self.fact("live size", &human::size(live.bytes));
        }
        // What the live layer says already is not said again.
        if let Some(inner) = world.inner_name.as_ref().filter(|inner| **inner != world.name && !told.contains(&"name"))
        {
            self.fact("name inside", &glyphs.text(inner));
        }
        if let Some(opens) = world.opens_with.as_ref().filter(|_| !told.contains(&"opens_with")) {
            self.fact("opens with", &glyphs.text(opens));
        }
        self.fact("place", &world.place.as_deref().map(|text| glyphs.text(text)).unwrap_or_default());
        self.fact("kind", world.kind.as_str());
        self.fact("layers", &format!("{}, {} in all", world.layers.len(), human::size(world.bytes())));
        if let Some(live) = world.live() {
            self.fact("path", &glyphs.text(&shown_path(&live.path)));
        }
    }

    fn layer(&mut self, layer: &Layer) {
        self.verdict_line(layer.verdict, &verdict(layer));
        self.restorable(layer);
        self.findings(layer.all_findings());
        self.gap();
        self.facts(layer);
        let glyphs = self.model.skin.glyphs;
        self.fact("saved", &saved(self.model, layer).unwrap_or_else(|| "not known".to_owned()));
        self.fact("kind", layer.kind.word());
        self.fact("rule", &glyphs.text(&layer.rule));
        if layer.orphan {
            self.fact("world", "it has no live state here");
        }
        self.fact("format", layer.shape.as_str());
        self.fact("lies in", layer.container.as_str());
        self.fact("path", &glyphs.text(&shown_path(&layer.path)));
        self.fact("size", &format!("{} in {} files", human::size(layer.bytes), layer.files.len()));
        self.files(layer);
    }

    /// Why a restore is not offered, or what to know before one, unless a finding begins with the same words. That the
    /// live state is the live state is no news.
    fn restorable(&mut self, layer: &Layer) {
        if layer.kind == LayerKind::Live && layer.verdict != Verdict::Unfinished {
            return;
        }
        let reason = match &layer.reason {
            Some(reason) => Some(self.model.skin.glyphs.text(reason)),
            None if layer.verdict == Verdict::Unfinished => Some(NOTHING_FINISHED.to_owned()),
            None => None,
        };
        let said = |reason: &str| layer.all_findings().any(|finding| clause(&finding.text) == clause(reason));
        if let Some(reason) = reason.filter(|reason| !said(reason)) {
            self.say(if layer.restorable { Role::Text } else { Role::Unfinished }, &reason);
        }
    }

    fn facts(&mut self, layer: &Layer) {
        // Before a full check most facts wait for it; listing them would only hide those that are known.
        let known = |value: &Value| layer.depth == Depth::Full || *value != Value::Unknown;
        // Their labels have their room already, so that nothing moves when they come.
        layer.facts.0.iter().for_each(|fact| self.measure(fact.label));
        for fact in layer.facts.0.iter().filter(|fact| known(&fact.value)) {
            let text = value(self.model, &fact.value);
            self.fact(fact.label, &text);
        }
    }

    fn files(&mut self, layer: &Layer) {
        self.gap();
        let skin = self.model.skin.clone();
        let room = self.width.saturating_sub(10);
        for file in layer.files.iter().take(MOST_FILES) {
            let name = skin.glyphs.text(&shown_path(&file.path));
            let size = super::super::text::pad_left(&human::size(file.size), 9, skin.glyphs.ellipsis);
            self.lines.push(Line::from(vec![
                Span::styled(pad(&name, room, skin.glyphs.ellipsis), skin.of(Role::Text)),
                Span::styled(format!(" {size}"), skin.of(Role::Muted)),
            ]));
        }
        if let Some(more) = layer.files.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
            self.say(Role::Muted, &format!("and {more} files more"));
        }
    }
}

/// The words before the first comma, semicolon or full stop.
fn clause(text: &str) -> &str {
    text.split([',', ';', '.']).next().unwrap_or(text)
}

/// Where a finding is, in words.
fn place(finding: &Finding) -> String {
    let place = &finding.place;
    let mut parts = Vec::new();
    if let Some(file) = &place.file {
        parts.push(file.clone());
    }
    if let Some(offset) = place.offset {
        parts.push(format!("byte {}", human::count(i64::try_from(offset).unwrap_or(i64::MAX))));
    }
    if let Some(object) = place.object {
        parts.push(format!("object {}", human::count(i64::try_from(object).unwrap_or(i64::MAX))));
    }
    if let Some(chunk) = &place.chunk {
        parts.push(format!("chunk {chunk}"));
    }
    if let Some((x, z)) = place.square {
        parts.push(format!("square {x}, {z}"));
    }
    if parts.is_empty() { String::new() } else { format!("in {}", parts.join(", ")) }
}
