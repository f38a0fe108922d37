//! A scan result made by hand, for the tests of what is printed.

use jiff::tz::TimeZone;

use super::look::Look;
use super::session::Servers;
use crate::model::{
    Code, Container, Depth, Facts, FileEntry, Finding, Found, Layer, LayerKind, Looked, Outcome, Profile, Server,
    ServerState, Shape, Source, Stamp, StampFrom, Value, Verdict, World, WorldKind,
};
use crate::scan::Catalog;

pub(super) const NOW: i64 = 1_796_054_400;

pub(super) fn now() -> jiff::Timestamp {
    jiff::Timestamp::from_second(NOW).unwrap()
}

pub(super) fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(1))
}

pub(super) fn look() -> Look {
    Look { color: false, ascii: false, width: Some(100) }
}

/// One profile with a whole world, a damaged one whose name steers terminals, and layers of several kinds.
pub(super) fn catalog() -> Catalog {
    let root = Looked { path: "/srv/valheim".into(), found: Found::Argument, outcome: Outcome::Saves };
    Catalog { profiles: vec![profile()], looked: vec![root], revision: 1, complete: true }
}

/// A server that uses the one profile.
pub(super) fn servers() -> Servers {
    let server = Server {
        state: ServerState::Running,
        reasons: vec!["Process 7 (valheim_server) has it open.".into()],
        restarts: Vec::new(),
        at: now(),
    };
    Servers::from([("valheim".to_owned(), server)])
}

fn profile() -> Profile {
    Profile {
        id: "valheim".into(),
        name: "valheim".into(),
        game: "valheim",
        root: "/srv/valheim".into(),
        found: Found::Argument,
        free_bytes: Some(18 << 30),
        findings: vec![
            Finding::warning(Code::JunkFolder, "\"half.made\" is no world.", "Move it away.")
                .in_file("worlds_local/half.made"),
        ],
        worlds: vec![midgard(), hostile()],
    }
}

fn midgard() -> World {
    let mut live = layer("valheim/Midgard@live", LayerKind::Live, "/srv/valheim/worlds_local/Midgard");
    live.generation = Some(17);
    live.stamp = Some(Stamp { at: at(180), from: StampFrom::Marker });
    live.facts.push("seed", "seed", Value::Text("hnBd9gJf2G".into()));
    live.facts.push("day", "day", Value::Int(214));
    live.facts.push("objects", "objects", Value::Int(77_504));
    live.facts.push("global_keys", "global keys", Value::List(vec!["defeated_eikthyr".into()]));
    live.facts.push("event", "event", Value::Unknown);
    live.relations.push(Finding::note(Code::HiddenPair, "An older pair is hidden by this folder.", ""));
    let mut rolling = layer(
        "valheim/Midgard@rolling-20261129",
        LayerKind::Rolling,
        "/srv/valheim/worlds_local/Midgard_20261129180000.fwl",
    );
    rolling.shape = Shape::ValheimPair;
    rolling.container = Container::Files;
    rolling.verdict = Verdict::Unfinished;
    rolling.reason = Some("It holds no finished save.".into());
    rolling.restorable = false;
    rolling.facts.push("day", "day", Value::Int(213));
    rolling.findings.push(
        Finding::error(Code::EmptyFile, "The world data file is empty.", "Use another layer.")
            .in_file("Midgard_20261129180000.db"),
    );
    World {
        id: "valheim/Midgard".into(),
        name: "Midgard".into(),
        kind: WorldKind::World,
        place: Some("worlds_local".into()),
        inner_name: Some("Midgard".into()),
        opens_with: Some("Valheim 1.0 and later".into()),
        findings: Vec::new(),
        layers: vec![live, rolling],
    }
}

fn hostile() -> World {
    let mut live = layer("valheim/Evil\u{1b}[2J@live", LayerKind::Live, "/srv/valheim/worlds_local/Evil\u{1b}[2J");
    live.verdict = Verdict::Damaged;
    live.findings.push(
        Finding::error(Code::BadChecksum, "The checksum does not match.", "Use the save before it.")
            .in_file("Evil/_main.3.db2")
            .at(4096)
            .object(12)
            .chunk("20_20__1_5"),
    );
    World {
        id: "valheim/Evil\u{1b}[2J".into(),
        name: "Evil\u{1b}[2J".into(),
        kind: WorldKind::World,
        place: None,
        inner_name: None,
        opens_with: None,
        findings: vec![Finding::warning(Code::OddName, "The name holds control characters.", "Rename it.")],
        layers: vec![live],
    }
}

fn layer(id: &str, kind: LayerKind, path: &str) -> Layer {
    Layer {
        id: id.into(),
        path: path.into(),
        source: Source { outer: "/srv/valheim/worlds_local".into() },
        kind,
        orphan: false,
        rule: "a name with a stamp and no backup marker".into(),
        shape: Shape::ValheimFolder,
        container: Container::Folder,
        generation: None,
        stamp: Some(Stamp { at: at(86_400), from: StampFrom::Name }),
        bytes: 46 << 20,
        files: vec![FileEntry { path: "Midgard/_main.17.db2".into(), size: 46 << 20, mtime: Some(at(200)) }],
        verdict: Verdict::Sound,
        depth: Depth::Full,
        restorable: true,
        reason: None,
        findings: Vec::new(),
        relations: Vec::new(),
        facts: Facts::default(),
    }
}

fn at(ago: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(NOW - ago).unwrap()
}
