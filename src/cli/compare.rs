//! `worldkeep compare`: two layers side by side.

use std::io;
use std::path::Path;

use unicode_width::UnicodeWidthStr as _;

use super::detail::Detail;
use super::failure::{Exit, Failure};
use super::json::{Difference, ValueDoc, write_pair};
use super::look::{Meaning, pad};
use super::session::Session;
use super::target::{Resolved, resolve};
use super::{output, tree};
use crate::model::{Layer, Value, human, shown};

/// Compares what two targets mean: of a world, its live layer.
pub(super) fn run(session: &Session, left: &Path, right: &Path) -> Result<Exit, Failure> {
    let (left, right) = (one(session, left)?, one(session, right)?);
    let zone = &session.config.zone;
    let detail = Detail { look: session.look, now: session.config.clock.now(), zone, quiet: session.quiet };
    output::print(|out| {
        if session.json {
            write_pair(out, &left, &right, &differences(&left, &right), zone)
        } else {
            table(out, &detail, &left, &right)
        }
    })?;
    Ok(Exit::Done)
}

/// The layer of one target, checked at L2.
fn one(session: &Session, target: &Path) -> Result<Layer, Failure> {
    let Resolved { request, mut catalog, selection, .. } = resolve(session, &[target.to_path_buf()])?;
    let layer = selection.one(&catalog, target)?;
    session.check(&request, &mut catalog, &[layer.id.clone()].into(), |_, _| ())?;
    Ok(catalog.layer(&layer.id).map_or(layer, |(_, _, layer)| layer.clone()))
}

/// The facts in which two layers differ, in the order of the left one.
fn differences<'a>(left: &'a Layer, right: &'a Layer) -> Vec<Difference<'a>> {
    rows(left, right)
        .into_iter()
        .filter(|row| row.left != row.right)
        .map(|row| Difference {
            key: row.key,
            label: row.label,
            left: row.left.map(ValueDoc),
            right: row.right.map(ValueDoc),
        })
        .collect()
}

struct Row<'a> {
    key: &'a str,
    label: &'a str,
    left: Option<&'a Value>,
    right: Option<&'a Value>,
}

/// Every fact of either layer.
fn rows<'a>(left: &'a Layer, right: &'a Layer) -> Vec<Row<'a>> {
    let own = left.facts.0.iter().map(|fact| Row {
        key: fact.key,
        label: fact.label,
        left: Some(&fact.value),
        right: right.facts.get(fact.key),
    });
    let only_right = right.facts.0.iter().filter(|fact| left.facts.get(fact.key).is_none()).map(|fact| Row {
        key: fact.key,
        label: fact.label,
        left: None,
        right: Some(&fact.value),
    });
    own.chain(only_right).collect()
}

fn table(out: &mut dyn io::Write, detail: &Detail<'_>, left: &Layer, right: &Layer) -> io::Result<()> {
    let mut lines = vec![(String::new(), shown(&left.id), shown(&right.id), false)];
    let mut add = |label: &str, left: String, right: String| {
        let differs = left != right;
        lines.push((label.to_owned(), left, right, differs));
    };
    let saved = |layer: &Layer| match layer.stamp {
        Some(stamp) => format!("{} ({})", human::when(stamp.at, detail.zone), human::age(detail.now, stamp.at)),
        None => "not known".to_owned(),
    };
    add("what", tree::kind(left), tree::kind(right));
    add("saved", saved(left), saved(right));
    add("size", human::size(left.bytes), human::size(right.bytes));
    add("files", human::count(count(left)), human::count(count(right)));
    add("verdict", left.verdict.word().to_owned(), right.verdict.word().to_owned());
    for row in rows(left, right) {
        let words = |value: Option<&Value>| value.map(|value| detail.value(value)).unwrap_or_default();
        add(row.label, words(row.left), words(row.right));
    }
    let label = lines.iter().map(|line| line.0.width()).max().unwrap_or_default();
    // Two marks, three gaps; the rest is shared by the two sides.
    let room = detail.look.width.map_or(usize::MAX, |width| width.saturating_sub(label + 6) / 2).max(8);
    let side = lines.iter().map(|line| line.1.width()).max().unwrap_or_default().min(room);
    for (name, left, right, differs) in &lines {
        let mark = if *differs { "*" } else { " " };
        let (left, right) = (detail.look.cut(left, side), detail.look.cut(right, room));
        let line = format!("{mark} {}  {}  {right}", pad(name, label), pad(&left, side));
        let meaning = if *differs { Meaning::Warning } else { Meaning::Plain };
        writeln!(out, "{}", detail.look.paint(meaning, line.trim_end()))?;
    }
    for layer in [left, right] {
        if layer.all_findings().next().is_some() {
            writeln!(out, "\n{}", shown(&layer.id))?;
            detail.findings(out, layer.all_findings(), 2)?;
        }
    }
    Ok(())
}

fn count(layer: &Layer) -> i64 {
    i64::try_from(layer.files.len()).unwrap_or(i64::MAX)
}
