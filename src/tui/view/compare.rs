//! Two layers side by side.

use ratatui::Frame;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::state::Model;
use super::super::text::{pad, width, wrap};
use super::super::tree;
use super::{details, popup};
use crate::config::theme::Role;
use crate::model::{Layer, Value, World, human};

/// Paints the comparison.
pub(super) fn paint(model: &Model, frame: &mut Frame, left: &str, right: &str, scroll: usize) {
    let inner = popup(model, frame, "Compare: what differs is marked, Esc closes");
    let lines = match (model.catalog.layer(left), model.catalog.layer(right)) {
        (Some((_, world, layer)), Some((_, other_world, other))) => {
            lines(model, (world, layer), (other_world, other), usize::from(inner.width))
        }
        _ => vec![Line::styled("One of the layers is gone.", model.skin.of(Role::Warn))],
    };
    let height = usize::from(inner.height);
    let scroll = scroll.min(lines.len().saturating_sub(height));
    let shown: Vec<Line> = lines.into_iter().skip(scroll).take(height).collect();
    frame.render_widget(Paragraph::new(shown), inner);
}

/// One line of the comparison: a label, and what each side says: none where it does not apply, and the last is false
/// where a side does not know yet.
type Pair = (String, Option<String>, Option<String>, bool);

fn pairs(model: &Model, left: &Layer, right: &Layer) -> Vec<Pair> {
    let both = |label: &str, text: &dyn Fn(&Layer) -> Option<String>| (label.to_owned(), text(left), text(right), true);
    let mut pairs = vec![
        both("verdict", &|layer| Some(details::verdict(layer))),
        both("saved", &|layer| layer.stamp.map(|stamp| human::when(stamp.at, &model.zone))),
        both("age", &|layer| layer.stamp.map(|stamp| human::age(model.now, stamp.at))),
        both("size", &|layer| Some(human::size(layer.bytes))),
        both("files", &|layer| Some(layer.files.len().to_string())),
        both("generation", &|layer| layer.generation.map(|n| n.to_string())),
        both("format", &|layer| Some(layer.shape.as_str().to_owned())),
        both("findings", &|layer| Some(layer.all_findings().count().to_string())),
    ];
    let only_right = right.facts.0.iter().filter(|fact| left.facts.get(fact.key).is_none());
    for fact in left.facts.0.iter().chain(only_right) {
        let side = |layer: &Layer| layer.facts.get(fact.key).map(|value| details::value(model, value));
        let known = [left, right].iter().all(|layer| layer.facts.get(fact.key) != Some(&Value::Unknown));
        pairs.push((fact.label.to_owned(), side(left), side(right), known));
    }
    pairs.retain(|(_, left, right, _)| left.is_some() || right.is_some());
    pairs
}

fn lines(model: &Model, left: (&World, &Layer), right: (&World, &Layer), columns: usize) -> Vec<Line<'static>> {
    let skin = &model.skin;
    let glyphs = &skin.glyphs;
    let ellipsis = glyphs.ellipsis;
    let label = 17.min(columns / 4);
    let side = columns.saturating_sub(label + 4) / 2;
    let name = |(world, layer): (&World, &Layer)| {
        format!("{} @ {}", glyphs.text(&world.name), tree::label(layer, model.says()))
    };
    let mut out = vec![Line::from(vec![
        Span::raw(" ".repeat(label + 3)),
        Span::styled(pad(&name(left), side, ellipsis), skin.of(Role::Title)),
        Span::raw(" "),
        Span::styled(pad(&name(right), side, ellipsis), skin.of(Role::Title)),
    ])];
    for (what, one, other, known) in pairs(model, left.1, right.1) {
        // What is not known differs from nothing.
        let differs = known && one != other;
        let role = if differs { Role::Differ } else { Role::Text };
        let texts = [one, other].map(|text| wrap(&text.unwrap_or_default(), side.max(1)));
        let [one, other] = &texts;
        for at in 0..one.len().max(other.len()) {
            let line = |texts: &[String]| pad(texts.get(at).map_or("", String::as_str), side, ellipsis);
            let sign = if differs && at == 0 { glyphs.differs } else { "" };
            let what = if at == 0 { what.as_str() } else { "" };
            out.push(Line::from(vec![
                Span::styled(pad(what, label, ellipsis), skin.of(Role::Muted)),
                Span::styled(pad(sign, 3usize.max(width(sign)), ellipsis), skin.of(Role::Differ)),
                Span::styled(line(one), skin.of(role)),
                Span::raw(" "),
                Span::styled(line(other), skin.of(role)),
            ]));
        }
    }
    out
}
