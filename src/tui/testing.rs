//! What the tests of this room share: a catalog made by hand, and a driver that presses keys and paints.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::layout::Size;

use super::facts::{Facts, Mux};
use super::input::Input;
use super::prepare::prepare;
use super::state::{Effect, Model, Msg};
use super::update::update;
use super::view::view;
use super::wire::Wire;
use crate::config::keys::{Keymap, parse_sequence};
use crate::config::theme::{Depth, Theme};
use crate::model::{
    Code, Container, Facts as LayerFacts, FileEntry, Finding, Found, Layer, LayerKind, Profile, Shape, Source, Stamp,
    StampFrom, Value, Verdict, World, WorldKind,
};
use crate::raster::{Chart, Ink, Mark, Square};
use crate::scan::Event;

pub(super) const NOW: i64 = 1_796_040_000;

pub(super) fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_second(NOW - seconds).unwrap()
}

/// A layer of a world of the 1.0 format.
pub(super) fn layer(world: &str, key: &str, kind: LayerKind, seconds: i64, bytes: u64, day: i64) -> Layer {
    let mut facts = LayerFacts::default();
    facts.push("seed", "seed", Value::Text("hnBd9gJf2G".to_owned()));
    facts.push("day", "day", Value::Int(day));
    facts.push("objects", "objects", Value::Int(77_000 + day));
    facts.push("pieces", "pieces", Value::Int(1_300 + day));
    facts.push("portals", "portals", Value::Unknown);
    let dir = if kind == LayerKind::Live { world.to_owned() } else { format!("{world}_backup_{key}") };
    let files = ["_main.17.db2", "_main.17.fwl2", "_main.17.ok"];
    Layer {
        id: format!("valheim/{world}@{key}"),
        path: PathBuf::from("/srv/valheim/worlds_local").join(&dir),
        source: Source { outer: PathBuf::from("/srv/valheim") },
        kind,
        orphan: false,
        rule: "the stamp and _backup_ stand where the game wants them".to_owned(),
        shape: Shape::ValheimFolder,
        container: Container::Folder,
        generation: (kind == LayerKind::Live).then_some(17),
        stamp: Some(Stamp { at: ago(seconds), from: StampFrom::Marker }),
        bytes,
        files: files
            .iter()
            .map(|name| FileEntry {
                path: PathBuf::from("worlds_local").join(&dir).join(name),
                size: bytes / 3,
                mtime: Some(ago(seconds)),
            })
            .collect(),
        verdict: Verdict::Sound,
        depth: crate::model::Depth::Headers,
        restorable: true,
        reason: None,
        findings: Vec::new(),
        relations: Vec::new(),
        facts,
    }
}

fn world(name: &str, layers: Vec<Layer>) -> World {
    World {
        id: format!("valheim/{name}"),
        name: name.to_owned(),
        kind: WorldKind::World,
        place: None,
        inner_name: Some(name.to_owned()),
        opens_with: Some("1.0 and later".to_owned()),
        findings: Vec::new(),
        layers,
    }
}

/// Profiles with everything that a screen has to show: whole, damaged, unfinished, newer and unreadable saves, long,
/// wide and hostile names.
pub(super) fn catalog() -> Vec<Profile> {
    const MB: u64 = 1024 * 1024;
    let mut unfinished = layer("Midgard", "auto-2", LayerKind::Auto, 82 * 86_400, 1024, 0);
    unfinished.verdict = Verdict::Unfinished;
    unfinished.restorable = false;
    unfinished.facts = LayerFacts::default();
    unfinished.findings = vec![Finding::error(Code::NoFinishedSave, "No generation has its commit marker.", "")];
    let mut midgard = world(
        "Midgard",
        vec![
            layer("Midgard", "live", LayerKind::Live, 180, 46 * MB, 214),
            layer("Midgard", "auto-1", LayerKind::Auto, 12 * 3600, 45 * MB, 213),
            layer("Midgard", "before", LayerKind::PreConversion, 82 * 86_400, 31 * MB, 188),
            unfinished,
        ],
    );
    midgard.findings = vec![
        Finding::note(
            Code::HiddenPair,
            "The pair OldHeim.fwl and OldHeim.db is hidden by the folder of the same name.",
            "",
        )
        .in_file("worlds_local/OldHeim.db"),
    ];
    let mut broken = layer("Grimhold", "live", LayerKind::Live, 2 * 86_400, 30 * MB, 12);
    broken.verdict = Verdict::Damaged;
    broken.findings = vec![
        Finding::warning(Code::OrphanChunk, "The index does not name 20_20__1_5.chunk.", "Keep a copy of it.")
            .in_file("20_20__1_5.chunk"),
        Finding::error(
            Code::NewestIncomplete,
            "Newest save 9 has no _main.9.db2. The game would make a new world on this seed and delete 41 chunk files.",
            "Do not start the server; restore save 8.",
        )
        .in_file("_main.9.ok")
        .at(1234)
        .chunk("20_20__1_5"),
    ];
    let mut newer = layer("Über世界", "live", LayerKind::Live, 90, 5 * MB, 3);
    newer.verdict = Verdict::Unsupported;
    newer.findings =
        vec![Finding::error(Code::NewerVersion, "Written by a newer game (42 > 41).", "Update worldkeep.")];
    let mut closed = layer("Steer\u{1b}[2J\u{202e}me", "live", LayerKind::Live, 700, 2 * MB, 1);
    closed.verdict = Verdict::Unreadable;
    closed.findings = vec![Finding::error(Code::NoPermission, "The folder may not be entered (mode 0644).", "")];
    let mut stray = layer("A very long name of a world that goes on and on", "rolling", LayerKind::Rolling, 5, 7, 1);
    stray.orphan = true;
    stray.verdict = Verdict::Notes;
    stray.relations = vec![Finding::warning(Code::OtherWorld, "It is of another world: its seed differs.", "")];
    let profile = |id: &str, root: &str, worlds| Profile {
        id: id.to_owned(),
        name: id.to_owned(),
        game: "valheim",
        root: PathBuf::from(root),
        found: Found::Discovered,
        free_bytes: Some(18 * 1024 * MB),
        findings: Vec::new(),
        worlds,
    };
    vec![
        profile(
            "valheim",
            "/srv/valheim",
            vec![
                midgard,
                world("Grimhold", vec![broken]),
                world("Über世界", vec![newer]),
                world("Steer\u{1b}[2J\u{202e}me", vec![closed]),
                world("A very long name of a world that goes on and on", vec![stray]),
            ],
        ),
        profile("empty", "/srv/empty", Vec::new()),
    ]
}

/// A map like that of a world: an island with a base, a few marks.
pub(super) fn chart() -> Chart {
    let mut squares = Vec::new();
    for x in -40i32..40 {
        for z in -30i32..30 {
            let wave = (x * 7 + z * 3).rem_euclid(11) + (x * z).rem_euclid(5);
            if x * x + z * z * 2 < 900 + wave * 40 {
                let ink = if (x - 5).abs() < 4 && (z + 6).abs() < 3 { Ink::Built } else { Ink::Generated };
                squares.push(Square { x, z, ink });
            }
        }
    }
    let mark = |x: f32, z: f32, ink, label: &str| Mark { x, z, ink, label: label.to_owned() };
    Chart {
        edge: 64.0,
        unit: "m",
        radius: Some(10_500.0),
        squares,
        marks: vec![
            mark(-300.0, 500.0, Ink::Location, "Crypt2"),
            mark(0.0, 0.0, Ink::Start, "StartTemple"),
            mark(400.0, -400.0, Ink::Portal, "home"),
            mark(450.0, -300.0, Ink::Bed, ""),
        ],
        layers: vec!["zones", "locations"],
        notes: Vec::new(),
    }
}

/// A state with its terminal, driven by text.
pub(super) struct Driver {
    pub(super) model: Model,
    pub(super) terminal: Terminal<Wire>,
    pub(super) effects: Vec<Effect>,
    up: Duration,
}

impl Driver {
    pub(super) fn bare(size: (u16, u16), unicode: bool, depth: Depth) -> Self {
        let facts = Facts { depth, unicode, ssh: false, mux: Mux::None, dumb: false };
        let (theme, _) = Theme::load("default", &[], depth);
        let (keymap, _) = Keymap::new(&std::collections::BTreeMap::new(), false);
        let mut model = Model::new(facts, theme, keymap, TimeZone::UTC, ago(0));
        model.size = size;
        let terminal = Terminal::new(Wire::new(Size::new(size.0, size.1), "")).unwrap();
        let mut driver = Self { model, terminal, effects: Vec::new(), up: Duration::ZERO };
        driver.pass(0);
        driver
    }

    /// With the catalog and a complete first scan.
    pub(super) fn new(size: (u16, u16), unicode: bool, depth: Depth) -> Self {
        let mut driver = Self::bare(size, unicode, depth);
        driver.scan(0, catalog());
        driver
    }

    pub(super) fn usual() -> Self {
        Self::new((120, 40), true, Depth::Rgb)
    }

    pub(super) fn scan(&mut self, generation: u64, profiles: Vec<Profile>) {
        for profile in profiles {
            self.send(Msg::Scan { generation, event: Event::Profile(profile) });
        }
        self.send(Msg::Scan { generation, event: Event::Done });
    }

    pub(super) fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.model, msg);
        self.effects.extend(effects);
        prepare(&mut self.model);
    }

    /// Lets so many milliseconds pass.
    pub(super) fn pass(&mut self, milliseconds: u64) {
        self.up += Duration::from_millis(milliseconds);
        self.send(Msg::Time { now: ago(0), up: self.up });
    }

    /// Presses keys, written as text.
    pub(super) fn keys(&mut self, text: &str) -> &mut Self {
        for key in parse_sequence(text).unwrap() {
            self.send(Msg::Input(Input::Key(key, 1)));
        }
        self
    }

    /// Lets the cursor rest, and answers what is asked for meanwhile.
    pub(super) fn rest(&mut self) -> &mut Self {
        self.pass(200);
        for _ in 0..20 {
            for effect in std::mem::take(&mut self.effects) {
                if let Effect::Chart { signature, .. } = effect {
                    self.send(Msg::Charted { signature, result: Ok(chart()) });
                }
            }
            self.pass(200);
        }
        self
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.terminal.backend_mut().set_size(Size::new(size.0, size.1));
        self.send(Msg::Input(Input::Resize(size.0, size.1)));
    }

    /// Paints, and gives the bytes that the terminal gets.
    pub(super) fn paint(&mut self) -> String {
        prepare(&mut self.model);
        let model = &self.model;
        self.terminal.draw(|frame| view(model, frame)).unwrap();
        self.model.dirty = false;
        self.terminal.backend_mut().take().unwrap_or_default()
    }

    /// The screen as a terminal of that size would show it.
    pub(super) fn screen(&mut self) -> String {
        self.terminal.clear().unwrap();
        let bytes = self.paint();
        let (columns, rows) = self.model.size;
        let mut parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        parser.process(bytes.as_bytes());
        parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// The id of the selected node.
    pub(super) fn selected(&self) -> String {
        let id = self.model.tree.selected.unwrap();
        self.model.tree.forest.item(id).unwrap().key.clone()
    }
}
