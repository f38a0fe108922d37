//! Both sides of a question, in words.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::state::State;
use crate::games::Context;
use crate::games::valheim::keys;
use crate::model::human::{age, count, size, when};
use crate::model::plan::{Warning, WarningCode};
use crate::model::{Facts, Layer, LayerKind, Verdict, shown, shown_path};

/// One side: what it is, when it was saved, and what is in it.
pub(super) fn side(layer: &Layer, facts: &Facts, context: &Context) -> String {
    let saved = layer.stamp.map_or_else(
        || "time unknown".to_owned(),
        |stamp| format!("{} ({})", when(stamp.at, &context.zone), ago(context.now, stamp.at)),
    );
    let generation = layer.generation.map(|n| format!(", save {n}")).unwrap_or_default();
    let mut parts = vec![format!("{}{generation}, {saved}", layer.kind.word())];
    if let Some(day) = facts.int(keys::DAY) {
        parts.push(format!("day {day}"));
    }
    for (key, what) in [(keys::OBJECTS, "objects"), (keys::PIECES, "pieces")] {
        if let Some(n) = facts.int(key) {
            parts.push(format!("{} {what}", count(n)));
        }
    }
    parts.join("   ")
}

fn ago(now: Timestamp, then: Timestamp) -> String {
    match age(now, then).as_str() {
        text @ ("now" | "ahead") => text.to_owned(),
        text => format!("{text} ago"),
    }
}

/// What the difference between the state that is used and the live one means.
pub(super) fn difference(from: (&Layer, &Facts), over: (&Layer, &Facts)) -> Option<String> {
    let mut said = Vec::new();
    if let (Some(new), Some(old)) = (from.0.stamp, over.0.stamp) {
        let seconds = old.at.as_second() - new.at.as_second();
        if seconds >= 60 {
            said.push(format!("This goes back {}.", span(seconds)));
        } else if seconds <= -60 {
            said.push(format!("The live state is {} older than this.", span(-seconds)));
        }
    }
    if let (Some(new), Some(old)) = (from.1.int(keys::DAY), over.1.int(keys::DAY)) {
        let days = old - new;
        if days != 0 {
            let word = if days.abs() == 1 { "day" } else { "days" };
            let way = if days > 0 { "earlier" } else { "later" };
            said.push(format!("In the game it is {} {word} {way}.", count(days.abs())));
        }
    }
    let mut counts = Vec::new();
    for (key, what) in [(keys::PIECES, "pieces"), (keys::OBJECTS, "objects")] {
        if let (Some(new), Some(old)) = (from.1.int(key), over.1.int(key)) {
            let more = new - old;
            if more != 0 {
                counts.push(format!("{} {} {what}", count(more.abs()), if more < 0 { "fewer" } else { "more" }));
            }
        }
    }
    if !counts.is_empty() {
        said.push(format!("{}.", upper(&counts.join(", "))));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A span of time in its two largest units.
fn span(seconds: i64) -> String {
    let units = [("day", 86_400), ("hour", 3600), ("minute", 60)];
    let mut left = seconds;
    let mut parts = Vec::new();
    for (word, length) in units {
        let n = left / length;
        left %= length;
        if n > 0 {
            parts.push(format!("{n} {word}{}", if n == 1 { "" } else { "s" }));
        }
    }
    parts.truncate(2);
    parts.join(" and ")
}

/// Files as one line: how many, how large, and where.
pub(super) fn files(n: usize, bytes: u64) -> String {
    format!("{} file{}, {}", count(i64::try_from(n).unwrap_or(i64::MAX)), if n == 1 { "" } else { "s" }, size(bytes))
}

/// Paths, by their names below a root, one line each.
pub(super) fn listed(paths: &[PathBuf], root: &Path) -> Vec<String> {
    paths.iter().map(|path| shown_path(path.strip_prefix(root).unwrap_or(path))).collect()
}

/// Warns when the state that would be used is not whole, in the words of what was found first.
pub(super) fn source_warning(state: &State, layer: &Layer) -> Option<Warning> {
    let text = match state.checked.verdict {
        Verdict::Damaged => {
            let worst = state.checked.findings.iter().find(|f| f.severity == crate::model::Severity::Error);
            let what = worst.map(|finding| format!(" {}", finding.text)).unwrap_or_default();
            format!("The {} is damaged.{what}", layer.kind.word())
        }
        Verdict::Unsupported => format!(
            "The {} was written by a newer game than this program knows, so that it could not be checked.",
            layer.kind.word()
        ),
        _ => return None,
    };
    Some(Warning { code: WarningCode::SourceNotWhole, text })
}

/// Warns when seed or world number differ from those of the live world.
pub(super) fn other_world(from: &Facts, live: &Facts) -> Option<Warning> {
    let differs = |key: &str| {
        let (new, old) = (from.get(key)?.words()?, live.get(key)?.words()?);
        (new != old).then_some((new, old))
    };
    let what = |name: &str, (new, old): (String, String)| format!("{name} {new}, the live world {old}");
    let seed = differs(keys::SEED_NUMBER).map(|pair| what("seed number", pair));
    let uid = differs(keys::UID).map(|pair| what("world id", pair));
    let both: Vec<String> = seed.into_iter().chain(uid).collect();
    if both.is_empty() {
        return None;
    }
    let text = format!("This is a backup of another world of the same name: it has {}.", both.join("; "));
    Some(Warning { code: WarningCode::OtherWorld, text })
}

/// Says that a state before 1.0 is converted again, and what that means.
pub(super) fn converts(name: &str) -> Vec<Warning> {
    let name = shown(name);
    vec![
        Warning {
            code: WarningCode::ConvertsOnSave,
            text: format!(
                "{name} is in the old format then. The next save of a 1.0 server converts it to the 1.0 format and keeps \
                 the old files as a backup."
            ),
        },
        Warning {
            code: WarningCode::OlderBuilds,
            text: "Builds before 1.0 cannot open a world once it is converted.".to_owned(),
        },
    ]
}

/// Says in a word what a layer is, with its time.
pub(super) fn named(layer: &Layer, context: &Context) -> String {
    match layer.stamp {
        _ if layer.kind == LayerKind::Live => "the live state".to_owned(),
        Some(stamp) => format!("{} of {}", layer.kind.word(), when(stamp.at, &context.zone)),
        None => layer.kind.word().to_owned(),
    }
}
