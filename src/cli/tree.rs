//! Profiles, worlds and layers as an aligned tree for people.

use std::fmt::Write as _;
use std::io;

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use super::look::{Look, Meaning, meaning, pad, pad_left, severity_meaning};
use super::session::Servers;
use crate::games;
use crate::model::{Depth, Finding, Layer, Profile, Severity, Verdict, World, human, shown, shown_path};

/// How the tree is written.
pub(super) struct Tree<'a> {
    pub(super) look: Look,
    pub(super) now: Timestamp,
    /// Leave out what is only good to know.
    pub(super) quiet: bool,
    /// Whether servers run.
    pub(super) servers: &'a Servers,
}

/// What a verdict of this list is worth.
const LEGEND: &str = "Only names, sizes and headers were looked at; `worldkeep verify` reads everything.";

/// One line: a world or a layer, and what to say first about it.
struct Row<'a> {
    indent: usize,
    verdict: Verdict,
    name: String,
    kind: String,
    day: String,
    size: String,
    age: String,
    findings: Vec<&'a Finding>,
}

impl Tree<'_> {
    pub(super) fn write(&self, out: &mut dyn io::Write, profiles: &[Profile]) -> io::Result<()> {
        let rows: Vec<Vec<Row<'_>>> = profiles.iter().map(|profile| self.rows(profile)).collect();
        let all = || rows.iter().flatten();
        let widest = |of: fn(&Row<'_>) -> usize| all().map(of).max().unwrap_or_default();
        let mut columns = Columns {
            name: widest(|row| row.indent + row.name.width()),
            kind: widest(|row| row.kind.width()),
            day: widest(|row| row.day.width()),
            size: widest(|row| row.size.width()),
            age: widest(|row| row.age.width()),
        };
        if let Some(width) = self.look.width {
            columns.fit(width, widest(|row| row.verdict.word().width()));
        }
        for (number, (profile, rows)) in profiles.iter().zip(&rows).enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            self.write_profile(out, profile)?;
            for row in rows {
                self.write_row(out, row, &columns)?;
            }
        }
        self.write_legend(out, profiles)
    }

    /// Says how far the verdicts looked, since "whole" alone sounds like more than headers can tell.
    fn write_legend(&self, out: &mut dyn io::Write, profiles: &[Profile]) -> io::Result<()> {
        let mut layers = profiles.iter().flat_map(|p| &p.worlds).flat_map(|w| &w.layers);
        if self.quiet || !layers.any(|layer| layer.depth < Depth::Full) {
            return Ok(());
        }
        writeln!(out)?;
        for line in self.look.wrap(LEGEND, 0) {
            writeln!(out, "{}", self.look.paint(Meaning::Muted, &line))?;
        }
        Ok(())
    }

    fn write_profile(&self, out: &mut dyn io::Write, profile: &Profile) -> io::Result<()> {
        let dot = self.look.dot();
        let game = games::by_id(profile.game).map_or(profile.game, games::Game::name);
        let layers: usize = profile.worlds.iter().map(|world| world.layers.len()).sum();
        let mut parts = vec![
            game.to_owned(),
            shown_path(&profile.root),
            plural(profile.worlds.len(), "world"),
            plural(layers, "layer"),
        ];
        parts.extend(self.servers.get(&profile.id).map(|server| format!("server {}", server.state.as_str())));
        parts.extend(profile.free_bytes.map(|free| format!("{} free", human::size(free))));
        let id = shown(&profile.id);
        let rest = format!("  {}", parts.join(&format!(" {dot} ")));
        let rest = self.fit(&rest, id.width());
        writeln!(out, "{}{}", self.look.paint(Meaning::Title, &id), self.look.paint(Meaning::Muted, &rest))?;
        self.write_findings(out, &profile.findings.iter().collect::<Vec<_>>(), 2)
    }

    fn rows<'a>(&self, profile: &'a Profile) -> Vec<Row<'a>> {
        let mut rows = Vec::new();
        for world in &profile.worlds {
            rows.push(self.world(world));
            rows.extend(world.layers.iter().map(|layer| self.layer(layer)));
        }
        rows
    }

    fn world<'a>(&self, world: &'a World) -> Row<'a> {
        let best = world.live().or_else(|| world.layers.first());
        Row {
            indent: 2,
            verdict: world.verdict(),
            name: shown(&world.id),
            kind: world.place.as_deref().map(shown).unwrap_or_default(),
            day: best.map(|layer| self.day(layer)).unwrap_or_default(),
            size: human::size(world.bytes()),
            age: best.map(|layer| self.age(layer)).unwrap_or_default(),
            findings: world.findings.iter().collect(),
        }
    }

    fn layer<'a>(&self, layer: &'a Layer) -> Row<'a> {
        Row {
            indent: 4,
            verdict: layer.verdict,
            name: format!("@{}", shown(layer.key())),
            kind: kind(layer),
            day: self.day(layer),
            size: human::size(layer.bytes),
            age: self.age(layer),
            findings: first_finding(layer).into_iter().collect(),
        }
    }

    fn day(&self, layer: &Layer) -> String {
        match layer.facts.get("day") {
            None => String::new(),
            Some(_) => layer.facts.int("day").map_or_else(|| self.look.dash().to_owned(), |day| format!("day {day}")),
        }
    }

    fn age(&self, layer: &Layer) -> String {
        layer.stamp.map_or_else(|| self.look.dash().to_owned(), |stamp| human::age(self.now, stamp.at))
    }

    fn write_row(&self, out: &mut dyn io::Write, row: &Row<'_>, columns: &Columns) -> io::Result<()> {
        let sign = self.look.sign(row.verdict);
        let line = format!(
            "{} {}  {}  {}  {}  {}",
            self.cell(&row.name, columns.name.saturating_sub(row.indent)),
            self.cell(&row.kind, columns.kind),
            pad(&row.day, columns.day),
            pad_left(&row.size, columns.size),
            pad_left(&row.age, columns.age),
            row.verdict.word(),
        );
        let line = self.fit(line.trim_end(), row.indent + 2);
        let sign = self.look.paint(meaning(row.verdict), sign);
        let plain = if row.indent <= 2 { Meaning::Title } else { Meaning::Plain };
        writeln!(out, "{}{sign} {}", " ".repeat(row.indent), self.look.paint(plain, &line))?;
        self.write_findings(out, &row.findings, row.indent + 2)
    }

    fn write_findings(&self, out: &mut dyn io::Write, findings: &[&Finding], indent: usize) -> io::Result<()> {
        for finding in findings.iter().filter(|f| !self.quiet || f.severity == Severity::Error) {
            let sign = self.look.severity_sign(finding.severity);
            let text = self.fit(&finding.text, indent + 2);
            let sign = self.look.paint(severity_meaning(finding.severity), sign);
            writeln!(out, "{}{sign} {}", " ".repeat(indent), self.look.paint(Meaning::Muted, &text))?;
        }
        Ok(())
    }

    /// Text cut or filled up to exactly so many columns.
    fn cell(&self, text: &str, columns: usize) -> String {
        pad(&self.look.cut(text, columns), columns)
    }

    /// Text cut to what is left of the line.
    fn fit(&self, text: &str, used: usize) -> String {
        match self.look.width {
            Some(width) => self.look.cut(text, width.saturating_sub(used)).into_owned(),
            None => text.to_owned(),
        }
    }
}

/// The narrowest that a kind and a name are made; below that the line itself is cut.
const LEAST_KIND: usize = 8;
const LEAST_NAME: usize = 16;

struct Columns {
    name: usize,
    kind: usize,
    day: usize,
    size: usize,
    age: usize,
}

impl Columns {
    /// Takes what is too much for a line from the words, so that no number is cut: "8…" could be eight days or eighty.
    fn fit(&mut self, width: usize, verdict: usize) {
        // A sign and the blanks around it, one blank after the name, two after every other column.
        let fixed = 2 + 1 + 8 + self.day + self.size + self.age + verdict;
        let over = |columns: &Self| (fixed + columns.name + columns.kind).saturating_sub(width);
        let least = self.kind.min(LEAST_KIND);
        self.kind = self.kind.saturating_sub(over(self)).max(least);
        let least = self.name.min(LEAST_NAME);
        self.name = self.name.saturating_sub(over(self)).max(least);
    }
}

/// What a layer is, for a person: `live, save 17`.
pub(super) fn kind(layer: &Layer) -> String {
    let mut text = layer.kind.word().to_owned();
    if let Some(generation) = layer.generation {
        let _ = write!(text, ", save {generation}");
    }
    if layer.orphan {
        text.push_str(", no live world");
    }
    text
}

/// The gravest finding, the first of those.
fn first_finding(layer: &Layer) -> Option<&Finding> {
    let gravest = layer.all_findings().map(|finding| finding.severity).max()?;
    layer.all_findings().find(|finding| finding.severity == gravest)
}

/// A count with its word: `1 world`, `2 worlds`.
pub(super) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::look::Look;
    use super::super::sample;
    use super::Tree;

    fn text(look: Look, quiet: bool) -> String {
        let mut out = Vec::new();
        let servers = sample::servers();
        Tree { look, now: sample::now(), quiet, servers: &servers }
            .write(&mut out, &sample::catalog().profiles)
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn profiles_worlds_and_layers_stand_in_columns() {
        assert_eq!(
            text(sample::look(), false),
            "\
valheim  Valheim · /srv/valheim · 2 worlds · 3 layers · server running · 18 GiB free
  ! \"half.made\" is no world.
  ✓ valheim/Midgard       worlds_local   day 214  92 MiB  3 min  whole
    ✓ @live               live, save 17  day 214  46 MiB  3 min  whole
      · An older pair is hidden by this folder.
    ○ @rolling-20261129   rolling save   day 213  46 MiB   24 h  no finished save
      ✗ The world data file is empty.
  ✗ valheim/Evil\\u{1b}[2J                         46 MiB   24 h  damaged
    ! The name holds control characters.
    ✗ @live               live                    46 MiB   24 h  damaged
      ✗ The checksum does not match.
"
        );
    }

    #[test]
    fn quiet_leaves_only_errors_and_a_narrow_line_is_cut() {
        let narrow = text(Look { width: Some(30), ascii: true, ..sample::look() }, true);
        assert!(!narrow.contains("half.made") && narrow.contains("x The checksum"), "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 30), "{narrow}");
        assert!(narrow.is_ascii(), "{narrow}");
    }
}
