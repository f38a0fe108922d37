use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::super::json::{SCHEMA, rfc3339};
use super::super::look::{Look, severity_meaning};
use super::super::safe_json;
use crate::model::{Finding, Heard, Severity, human, shown};
use crate::ops::follow::Followed;

/// One thing that is told: a line, or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct News {
    /// What it is, for scripts; the list stands in `docs/json.md`.
    pub(super) event: &'static str,
    pub(super) severity: Severity,
    pub(super) about: About,
    /// The code of a finding.
    pub(super) code: Option<&'static str>,
    /// The name of an operation.
    pub(super) operation: Option<String>,
    pub(super) generation: Option<u64>,
    pub(super) objects: Option<u64>,
    /// In whole sentences.
    pub(super) text: String,
    /// What to do next.
    pub(super) next: String,
}

/// What it is about: ids, the narrowest one last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) profile: String,
    pub(super) world: Option<String>,
    pub(super) layer: Option<String>,
}

impl About {
    pub(super) fn profile(id: &str) -> Self {
        Self { profile: id.to_owned(), ..Self::default() }
    }

    pub(super) fn world(profile: &str, world: &str) -> Self {
        Self { world: Some(world.to_owned()), ..Self::profile(profile) }
    }

    pub(super) fn layer(profile: &str, world: &str, layer: &str) -> Self {
        Self { layer: Some(layer.to_owned()), ..Self::world(profile, world) }
    }

    fn narrowest(&self) -> &str {
        self.layer.as_ref().or(self.world.as_ref()).unwrap_or(&self.profile)
    }
}

impl News {
    pub(super) fn new(event: &'static str, severity: Severity, about: About, text: impl Into<String>) -> Self {
        let (code, operation, generation, objects) = (None, None, None, None);
        Self { event, severity, about, code, operation, generation, objects, text: text.into(), next: String::new() }
    }

    pub(super) fn next(self, next: impl Into<String>) -> Self {
        Self { next: next.into(), ..self }
    }

    pub(super) fn finding(about: About, finding: &Finding) -> Self {
        let place = finding.place.file.as_ref().map(|file| format!("{}: ", shown(file))).unwrap_or_default();
        let news = Self::new("finding", finding.severity, about, format!("{place}{}", finding.text));
        Self { code: Some(finding.code.as_str()), ..news.next(&finding.next) }
    }

    pub(super) fn heard(about: About, heard: &Heard, more: usize) -> Self {
        let again = match more {
            0 => String::new(),
            1 => " One more line said the same.".to_owned(),
            more => format!(" {more} more lines said the same."),
        };
        let news = Self::new(heard.event, heard.severity, about, format!("{}{again}", heard.text));
        Self { generation: heard.generation, objects: heard.objects, ..news }
    }

    pub(super) fn followed(about: About, followed: Followed) -> Self {
        let Followed { event, severity, operation, text, next } = followed;
        Self { operation, ..Self::new(event, severity, about, text).next(next) }
    }

    /// One line for people: when, how bad, what about, and what.
    pub(super) fn write_text(
        &self,
        out: &mut dyn io::Write,
        look: Look,
        at: Timestamp,
        zone: &TimeZone,
    ) -> io::Result<()> {
        let sign = look.paint(severity_meaning(self.severity), look.severity_sign(self.severity));
        let when = human::when(at, zone);
        let next = if self.next.is_empty() { String::new() } else { format!(" {}", shown(&self.next)) };
        writeln!(out, "{when} {sign} {}: {}{next}", shown(self.about.narrowest()), shown(&self.text))
    }

    /// One object on one line.
    pub(super) fn write_json(&self, out: &mut dyn io::Write, at: Timestamp, zone: &TimeZone) -> io::Result<()> {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: u32,
            at: String,
            event: &'a str,
            severity: &'a str,
            profile: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            world: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            layer: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            code: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            operation: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            generation: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            objects: Option<u64>,
            text: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            next: &'a str,
        }
        let document = Document {
            schema: SCHEMA,
            at: rfc3339(at, zone),
            event: self.event,
            severity: self.severity.as_str(),
            profile: &self.about.profile,
            world: self.about.world.as_deref(),
            layer: self.about.layer.as_deref(),
            code: self.code,
            operation: self.operation.as_deref(),
            generation: self.generation,
            objects: self.objects,
            text: &self.text,
            next: &self.next,
        };
        safe_json::write_line(out, &document)
    }
}
