//! The JSON document; every key of it stands in `docs/json.md`.
//!
//! `null` means unknown, a missing key means not applicable.

use std::io;
use std::path::Path;

use jiff::tz::TimeZone;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::safe_json;
use super::session::Servers;
use crate::model::{Facts, Finding, Layer, Profile, Server, Value, World};

/// The version of the schema.
pub(super) const SCHEMA: u32 = 1;

/// Writes profiles with everything in them.
pub(super) fn write_profiles(
    out: &mut dyn io::Write,
    profiles: &[Profile],
    servers: &Servers,
    zone: &TimeZone,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: u32,
        profiles: Vec<ProfileDoc<'a>>,
    }
    let profiles = profiles.iter().map(|profile| ProfileDoc::new(profile, servers.get(&profile.id), zone)).collect();
    safe_json::write(out, &Document { schema: SCHEMA, profiles })
}

/// One fact in which two layers differ; missing where it does not apply.
#[derive(Serialize)]
pub(super) struct Difference<'a> {
    pub(super) key: &'a str,
    pub(super) label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<ValueDoc<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) right: Option<ValueDoc<'a>>,
}

/// Writes two layers and what differs between them.
pub(super) fn write_pair(
    out: &mut dyn io::Write,
    left: &Layer,
    right: &Layer,
    differences: &[Difference<'_>],
    zone: &TimeZone,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: u32,
        left: LayerDoc<'a>,
        right: LayerDoc<'a>,
        differences: &'a [Difference<'a>],
    }
    let (left, right) = (LayerDoc::new(left, zone), LayerDoc::new(right, zone));
    safe_json::write(out, &Document { schema: SCHEMA, left, right, differences })
}

#[derive(Serialize)]
struct ProfileDoc<'a> {
    id: &'a str,
    game: &'a str,
    root: String,
    found: &'a str,
    free_bytes: Option<u64>,
    server: Option<ServerDoc<'a>>,
    findings: Vec<FindingDoc<'a>>,
    worlds: Vec<WorldDoc<'a>>,
}

impl<'a> ProfileDoc<'a> {
    fn new(profile: &'a Profile, server: Option<&'a Server>, zone: &'a TimeZone) -> Self {
        Self {
            id: &profile.id,
            game: profile.game,
            root: path_text(&profile.root),
            found: profile.found.as_str(),
            free_bytes: profile.free_bytes,
            server: server.map(|server| ServerDoc::new(server, zone)),
            findings: profile.findings.iter().map(FindingDoc::new).collect(),
            worlds: profile.worlds.iter().map(|world| WorldDoc::new(world, zone)).collect(),
        }
    }
}

/// What was seen of a server.
#[derive(Serialize)]
pub(super) struct ServerDoc<'a> {
    state: &'a str,
    reasons: &'a [String],
    restarts: &'a [String],
    at: String,
}

impl<'a> ServerDoc<'a> {
    pub(super) fn new(server: &'a Server, zone: &TimeZone) -> Self {
        let Server { state, reasons, restarts, at } = server;
        Self { state: state.as_str(), reasons, restarts, at: rfc3339(*at, zone) }
    }
}

#[derive(Serialize)]
struct WorldDoc<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'a str,
    inner_name: Option<&'a str>,
    opens_with: Option<&'a str>,
    findings: Vec<FindingDoc<'a>>,
    layers: Vec<LayerDoc<'a>>,
}

impl<'a> WorldDoc<'a> {
    fn new(world: &'a World, zone: &'a TimeZone) -> Self {
        Self {
            id: &world.id,
            name: &world.name,
            kind: world.kind.as_str(),
            inner_name: world.inner_name.as_deref(),
            opens_with: world.opens_with.as_deref(),
            findings: world.findings.iter().map(FindingDoc::new).collect(),
            layers: world.layers.iter().map(|layer| LayerDoc::new(layer, zone)).collect(),
        }
    }
}

#[derive(Serialize)]
struct LayerDoc<'a> {
    id: &'a str,
    path: String,
    kind: &'a str,
    orphan: bool,
    rule: &'a str,
    shape: &'a str,
    container: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    saved_at: Option<String>,
    stamp_from: Option<&'a str>,
    bytes: u64,
    files: usize,
    verdict: &'a str,
    depth: u8,
    restorable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    findings: Vec<FindingDoc<'a>>,
    facts: FactsDoc<'a>,
}

impl<'a> LayerDoc<'a> {
    fn new(layer: &'a Layer, zone: &TimeZone) -> Self {
        Self {
            id: &layer.id,
            path: path_text(&layer.path),
            kind: layer.kind.as_str(),
            orphan: layer.orphan,
            rule: &layer.rule,
            shape: layer.shape.as_str(),
            container: layer.container.as_str(),
            generation: layer.generation,
            saved_at: layer.stamp.map(|stamp| rfc3339(stamp.at, zone)),
            stamp_from: layer.stamp.map(|stamp| stamp.from.as_str()),
            bytes: layer.bytes,
            files: layer.files.len(),
            verdict: layer.verdict.as_str(),
            depth: layer.depth.level(),
            restorable: layer.restorable,
            reason: layer.reason.as_deref(),
            findings: layer.all_findings().map(FindingDoc::new).collect(),
            facts: FactsDoc(&layer.facts),
        }
    }
}

#[derive(Serialize)]
struct FindingDoc<'a> {
    severity: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<&'a str>,
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    next: &'a str,
}

impl<'a> FindingDoc<'a> {
    fn new(finding: &'a Finding) -> Self {
        Self {
            severity: finding.severity.as_str(),
            code: finding.code.as_str(),
            file: finding.place.file.as_deref(),
            offset: finding.place.offset,
            object: finding.place.object,
            chunk: finding.place.chunk.as_deref(),
            text: &finding.text,
            next: &finding.next,
        }
    }
}

struct FactsDoc<'a>(&'a Facts);

impl Serialize for FactsDoc<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.0.len()))?;
        for fact in &self.0.0 {
            map.serialize_entry(fact.key, &ValueDoc(&fact.value))?;
        }
        map.end()
    }
}

/// One value of a fact.
pub(super) struct ValueDoc<'a>(pub(super) &'a Value);

impl Serialize for ValueDoc<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Unknown => serializer.serialize_none(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) | Value::Number(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Text(value) => serializer.serialize_str(value),
            Value::List(value) => serializer.collect_seq(value),
        }
    }
}

/// A moment with the zone's offset.
pub(super) fn rfc3339(at: jiff::Timestamp, zone: &TimeZone) -> String {
    at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A path as JSON can hold it: as it is, with bytes that are no UTF-8 written as `\xNN`.
pub(super) fn path_text(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample;

    fn document() -> Value {
        let mut bytes = Vec::new();
        super::write_profiles(&mut bytes, &sample::catalog().profiles, &sample::servers(), &sample::zone()).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn the_server_stands_there_where_somebody_looked_and_is_null_elsewhere() {
        let at = "2026-11-30T17:00:00+01:00";
        let reasons = ["Process 7 (valheim_server) has it open."];
        assert_eq!(
            document()["profiles"][0]["server"],
            json!({ "state": "running", "reasons": reasons, "restarts": [], "at": at })
        );
        let mut bytes = Vec::new();
        let nobody = super::Servers::new();
        super::write_profiles(&mut bytes, &sample::catalog().profiles, &nobody, &sample::zone()).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(document["profiles"][0].get("server"), Some(&Value::Null));
    }

    #[test]
    fn null_is_unknown_and_a_missing_key_is_not_applicable() {
        let document = document();
        let worlds = &document["profiles"][0]["worlds"];
        let (live, rolling) = (&worlds[0]["layers"][0], &worlds[0]["layers"][1]);
        assert_eq!(live["facts"].get("event"), Some(&Value::Null));
        assert_eq!(rolling["facts"].get("event"), None);
        assert_eq!((live.get("generation"), rolling.get("generation")), (Some(&json!(17)), None));
        assert_eq!((live.get("reason"), rolling["reason"].as_str()), (None, Some("It holds no finished save.")));
        assert_eq!(worlds[1].get("inner_name"), Some(&Value::Null));
    }

    #[test]
    fn relations_stand_before_what_a_check_found() {
        let document = document();
        let live = &document["profiles"][0]["worlds"][0]["layers"][0];
        assert_eq!(
            live["findings"],
            json!([{ "severity": "note", "code": "hidden-pair", "text": "An older pair is hidden by this folder." }])
        );
        assert_eq!(live["verdict"], "sound");
    }

    #[test]
    fn a_finding_has_its_place_and_its_next_step() {
        let document = document();
        assert_eq!(
            document["profiles"][0]["worlds"][1]["layers"][0]["findings"][0],
            json!({
                "severity": "error", "code": "bad-checksum", "file": "Evil/_main.3.db2", "offset": 4096, "object": 12,
                "chunk": "20_20__1_5", "text": "The checksum does not match.", "next": "Use the save before it.",
            })
        );
    }

    #[test]
    fn facts_keep_their_order_and_their_types() {
        let document = document();
        let facts = &document["profiles"][0]["worlds"][0]["layers"][0]["facts"];
        let wanted =
            r#"{"seed":"hnBd9gJf2G","day":214,"objects":77504,"global_keys":["defeated_eikthyr"],"event":null}"#;
        assert_eq!(facts.to_string(), wanted);
    }
}
