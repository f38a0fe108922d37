//! One layer with everything in it, for people.

use std::fmt::Write as _;
use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use super::look::{Look, Meaning, meaning, pad, pad_left, severity_meaning};
use super::tree;
use crate::model::{
    Depth, Finding, Layer, Profile, Server, Severity, StampFrom, Value, World, human, shown, shown_path,
};

/// How details are written.
pub(super) struct Detail<'a> {
    pub(super) look: Look,
    pub(super) now: Timestamp,
    pub(super) zone: &'a TimeZone,
    /// Errors only.
    pub(super) quiet: bool,
}

impl Detail<'_> {
    /// Whether a server uses what is shown, and how that is known. The lines before the first world.
    pub(super) fn server(&self, out: &mut dyn io::Write, profile: &Profile, server: Option<&Server>) -> io::Result<()> {
        let Some(server) = server else { return Ok(()) };
        let title = format!("{}  server {}", shown(&profile.id), server.state.as_str());
        writeln!(out, "{}", self.look.paint(Meaning::Title, &title))?;
        let lines = server.reasons.iter().chain(&server.restarts).filter(|_| !self.quiet);
        for text in lines {
            for line in self.look.wrap(&shown(text), 2) {
                writeln!(out, "{}", self.look.paint(Meaning::Muted, &line))?;
            }
        }
        writeln!(out)
    }

    /// What concerns a world as a whole; nothing when there is nothing to say.
    pub(super) fn world(&self, out: &mut dyn io::Write, world: &World) -> io::Result<()> {
        let title = format!("{}  {}", shown(&world.id), tree::plural(world.layers.len(), "layer"));
        writeln!(out, "{}", self.look.paint(Meaning::Title, &title))?;
        let mut lines = Vec::new();
        if let Some(inner) = world.inner_name.as_ref().filter(|inner| **inner != world.name) {
            lines.push(("name inside", shown(inner)));
        }
        if let Some(builds) = &world.opens_with {
            lines.push(("opens with", shown(builds)));
        }
        self.table(out, &lines)?;
        self.findings(out, world.findings.iter(), 2)
    }

    /// A layer: where, what, when, how whole, facts, findings, files.
    pub(super) fn layer(&self, out: &mut dyn io::Write, layer: &Layer, files: bool) -> io::Result<()> {
        let sign = self.look.paint(meaning(layer.verdict), self.look.sign(layer.verdict));
        writeln!(out, "{sign} {}", self.look.paint(Meaning::Title, &shown(&layer.id)))?;
        self.table(out, &self.head(layer))?;
        let facts: Vec<_> = layer.facts.0.iter().map(|fact| (fact.label, self.value(&fact.value))).collect();
        if !facts.is_empty() {
            writeln!(out)?;
            self.table(out, &facts)?;
        }
        if layer.all_findings().next().is_some() {
            writeln!(out)?;
            self.findings(out, layer.all_findings(), 2)?;
        }
        if files && !layer.files.is_empty() {
            writeln!(out)?;
            self.files(out, layer)?;
        }
        Ok(())
    }

    fn head(&self, layer: &Layer) -> Vec<(&'static str, String)> {
        let saved = match layer.stamp {
            Some(stamp) => {
                let (when, age) = (human::when(stamp.at, self.zone), human::age(self.now, stamp.at));
                format!("{when} ({age}), from {}", stamp_words(stamp.from))
            }
            None => "not known".to_owned(),
        };
        let mut lines = vec![
            ("path", shown_path(&layer.path)),
            ("what", tree::kind(layer)),
            ("rule", shown(&layer.rule)),
            ("format", format!("{} in {}", layer.shape.as_str(), container_words(layer))),
            ("saved", saved),
            ("size", format!("{} in {}", human::size(layer.bytes), tree::plural(layer.files.len(), "file"))),
            ("verdict", format!("{} ({})", layer.verdict.word(), depth_words(layer.depth))),
        ];
        match (&layer.reason, layer.restorable) {
            (Some(reason), true) => lines.push(("restore", format!("possible. {}", shown(reason)))),
            (Some(reason), false) => lines.push(("restore", format!("not possible: {}", shown(reason)))),
            (None, _) => {}
        }
        lines
    }

    /// Findings with their place and the next step.
    pub(super) fn findings<'f>(
        &self,
        out: &mut dyn io::Write,
        findings: impl Iterator<Item = &'f Finding>,
        indent: usize,
    ) -> io::Result<()> {
        for finding in findings.filter(|f| !self.quiet || f.severity == Severity::Error) {
            let sign = self.look.paint(severity_meaning(finding.severity), self.look.severity_sign(finding.severity));
            let mut text = finding.text.clone();
            let place = place_words(finding);
            if !place.is_empty() {
                let _ = write!(text, " ({place})");
            }
            for (number, line) in self.look.wrap(&text, indent + 2).iter().enumerate() {
                match number {
                    0 => writeln!(out, "{}{sign} {}", " ".repeat(indent), line.trim_start())?,
                    _ => writeln!(out, "{line}")?,
                }
            }
            if !finding.next.is_empty() {
                for line in self.look.wrap(&format!("Next: {}", finding.next), indent + 2) {
                    writeln!(out, "{}", self.look.paint(Meaning::Muted, &line))?;
                }
            }
        }
        Ok(())
    }

    fn files(&self, out: &mut dyn io::Write, layer: &Layer) -> io::Result<()> {
        let sizes: Vec<_> = layer.files.iter().map(|file| human::size(file.size)).collect();
        let widest = sizes.iter().map(|size| size.width()).max().unwrap_or_default();
        for (file, size) in layer.files.iter().zip(&sizes) {
            let when = file.mtime.map_or_else(|| pad(self.look.dash(), 19), |at| human::when(at, self.zone));
            writeln!(out, "  {}  {when}  {}", pad_left(size, widest), shown_path(&file.path))?;
        }
        Ok(())
    }

    fn table(&self, out: &mut dyn io::Write, lines: &[(&str, String)]) -> io::Result<()> {
        let widest = lines.iter().map(|(label, _)| label.width()).max().unwrap_or_default();
        for (label, value) in lines {
            let label = pad(label, widest);
            for (number, line) in self.look.wrap(value, widest + 4).iter().enumerate() {
                match number {
                    0 => writeln!(out, "  {}  {}", self.look.paint(Meaning::Muted, &label), line.trim_start())?,
                    _ => writeln!(out, "{line}")?,
                }
            }
        }
        Ok(())
    }

    /// A value of a fact, safe to print.
    pub(super) fn value(&self, value: &Value) -> String {
        value.words().unwrap_or_else(|| self.look.dash().to_owned())
    }
}

fn container_words(layer: &Layer) -> &'static str {
    use crate::model::Container;
    match layer.container {
        Container::Folder => "a folder",
        Container::Files => "loose files",
        Container::Zip => "a zip archive",
        Container::Tar => "a tar archive",
    }
}

fn stamp_words(from: StampFrom) -> &'static str {
    match from {
        StampFrom::Name => "its name",
        StampFrom::Marker => "its commit marker",
        StampFrom::Inside => "inside the save",
        StampFrom::Mtime => "the newest file",
    }
}

/// How far a check went, in words.
pub(super) fn depth_words(depth: Depth) -> &'static str {
    match depth {
        Depth::Names => "only names and sizes were looked at",
        Depth::Headers => "only headers were looked at",
        Depth::Full => "everything was checked",
    }
}

fn place_words(finding: &Finding) -> String {
    let place = &finding.place;
    let mut parts = Vec::new();
    parts.extend(place.file.clone());
    parts.extend(place.offset.map(|offset| format!("byte {offset}")));
    parts.extend(place.object.map(|object| format!("object {object}")));
    parts.extend(place.chunk.as_ref().map(|chunk| format!("chunk {chunk}")));
    parts.extend(place.square.map(|(x, y)| format!("map square {x}, {y}")));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::Detail;

    #[test]
    fn a_layer_is_told_with_places_next_steps_and_nothing_raw() {
        let catalog = sample::catalog();
        let zone = sample::zone();
        let detail = Detail { look: sample::look(), now: sample::now(), zone: &zone, quiet: false };
        let mut out = Vec::new();
        detail.layer(&mut out, &catalog.profiles[0].worlds[1].layers[0], true).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\
✗ valheim/Evil\\u{1b}[2J@live
  path     /srv/valheim/worlds_local/Evil\\u{1b}[2J
  what     live
  rule     a name with a stamp and no backup marker
  format   valheim-1.0 in a folder
  saved    2026-11-29 17:00:00 (24 h), from its name
  size     46 MiB in 1 file
  verdict  damaged (everything was checked)

  ✗ The checksum does not match. (Evil/_main.3.db2, byte 4096, object 12, chunk 20_20__1_5)
    Next: Use the save before it.

  46 MiB  2026-11-30 16:56:40  Midgard/_main.17.db2
"
        );
    }
}
