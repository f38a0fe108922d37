//! Operations as JSON; every key stands in `docs/json.md`.

use std::io;
use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::super::json::{SCHEMA, ServerDoc, path_text, rfc3339};
use super::super::safe_json;
use super::Item;
use crate::model::outline::Preview;
use crate::model::plan::{Outcome, Refusal, Rights, Step, Warning};
use crate::ops::ask::Planned;
use crate::ops::history::Entry;
use crate::ops::record::Renamed;
use crate::ops::recover::{Became, Recovered};
use crate::ops::run::Done;

/// Writes what was planned and what became of it.
pub(super) fn write_operations(
    out: &mut dyn io::Write,
    items: &[Item],
    found: &[Recovered],
    zone: &TimeZone,
) -> io::Result<()> {
    let operations: Vec<Value> = items
        .iter()
        .map(|item| {
            json!({
                "target": item.target,
                "plan": item.planned.as_ref().map(|planned| plan(planned, zone)),
                "outcome": item.done.as_ref().map(outcome),
            })
        })
        .collect();
    let recovered = recovered(found);
    safe_json::write(out, &json!({ "schema": SCHEMA, "operations": operations, "recovered": recovered }))
}

/// Writes what became of interrupted operations.
pub(super) fn write_recovered(out: &mut dyn io::Write, found: &[Recovered]) -> io::Result<()> {
    safe_json::write(out, &json!({ "schema": SCHEMA, "recovered": recovered(found) }))
}

/// Writes the operations of the past.
pub(super) fn write_history(
    out: &mut dyn io::Write,
    entries: &[Entry],
    messages: &[String],
    zone: &TimeZone,
) -> io::Result<()> {
    let history: Vec<Value> = entries.iter().map(|one| entry(one, zone)).collect();
    safe_json::write(out, &json!({ "schema": SCHEMA, "history": history, "messages": messages }))
}

fn recovered(found: &[Recovered]) -> Vec<Value> {
    found
        .iter()
        .map(|found| json!({ "keep": path_text(&found.keep), "became": became(found.became), "text": found.text }))
        .collect()
}

/// The word for what became of an interrupted operation.
fn became(became: Became) -> &'static str {
    match became {
        Became::Finished => "finished",
        Became::RolledBack => "rolled-back",
        Became::Left => "left",
        Became::Newer => "newer",
        Became::Busy => "busy",
    }
}

fn plan(planned: &Planned, zone: &TimeZone) -> Value {
    let draft = planned.plan.content();
    let mut object = Map::new();
    object.insert("id".into(), planned.plan.id().to_string().into());
    object.insert("operation".into(), draft.operation.as_str().into());
    object.insert("subject".into(), draft.subject.clone().into());
    object.insert("name".into(), draft.name.clone().into());
    if let Some(undoes) = &draft.undoes {
        object.insert("undoes".into(), undoes.clone().into());
    }
    object.insert("keep".into(), path_text(&draft.keep).into());
    object.insert("steps".into(), draft.steps.iter().map(step).collect());
    object.insert("bytes".into(), draft.bytes.into());
    object.insert("space".into(), json!({ "on": path_text(&draft.space.on), "bytes": draft.space.bytes }));
    object.insert("warnings".into(), draft.warnings.iter().map(warning).collect());
    if let Some(found) = &planned.server {
        object.insert("server".into(), json!(ServerDoc::new(found, zone)));
    }
    object.insert("preview".into(), preview(&draft.preview));
    Value::Object(object)
}

fn step(step: &Step) -> Value {
    let path = |path: &Path| path_text(path);
    match step {
        Step::Copy { from, items, to } => {
            let items: Vec<String> = items.iter().map(|item| path(Path::new(item))).collect();
            json!({ "step": "copy", "from": path(from), "items": items, "to": path(to) })
        }
        Step::Unpack { archive, members, to } => {
            let members: Vec<Value> =
                members.iter().map(|(from, to)| json!({ "from": path(from), "to": path(to) })).collect();
            json!({ "step": "unpack", "archive": path(archive), "members": members, "to": path(to) })
        }
        Step::Dress { path: what, like, rights } => {
            let rights = if *rights == Rights::Like { "like" } else { "keep" };
            json!({ "step": "dress", "path": path(what), "like": path(like), "rights": rights })
        }
        Step::Write { path: what, bytes } => json!({ "step": "write", "path": path(what), "bytes": bytes.len() }),
        Step::Exchange { stage, live } => json!({ "step": "exchange", "stage": path(stage), "live": path(live) }),
        Step::Place { from, to } => json!({ "step": "place", "from": path(from), "to": path(to) }),
        Step::Park { from, to } => json!({ "step": "park", "from": path(from), "to": path(to) }),
        Step::Remove { path: what } => json!({ "step": "remove", "path": path(what) }),
    }
}

fn warning(warning: &Warning) -> Value {
    let code = warning.code;
    json!({ "code": code.as_str(), "text": warning.text, "needs_acceptance": code.needs_acceptance() })
}

fn preview(preview: &Preview) -> Value {
    let lines: Vec<Value> = preview.lines.iter().map(|(label, text)| json!({ "label": label, "text": text })).collect();
    let mut object = Map::new();
    object.insert("title".into(), preview.title.clone().into());
    object.insert("lines".into(), lines.into());
    object.insert("notes".into(), preview.notes.clone().into());
    if !preview.type_name.is_empty() {
        object.insert("type_name".into(), preview.type_name.clone().into());
    }
    object.insert("done".into(), preview.done.clone().into());
    Value::Object(object)
}

fn outcome(done: &Done) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    match &done.outcome {
        Outcome::Done => {
            put("state", "done".into());
        }
        Outcome::CleanUpPending { left, why } => {
            put("state", "clean-up-pending".into());
            put("text", why.clone().into());
            put("left", left.iter().map(|path| path_text(path)).collect());
        }
        Outcome::Unchanged { why } => {
            put("state", "unchanged".into());
            put("text", why.clone().into());
        }
        Outcome::Unfinished { why } => {
            put("state", "unfinished".into());
            put("text", why.clone().into());
        }
        Outcome::Cancelled => {
            put("state", "cancelled".into());
        }
        Outcome::Refused(Refusal { reason, text }) => {
            put("state", "refused".into());
            put("reason", reason.as_str().into());
            put("text", text.clone().into());
            put("next", reason.next().into());
        }
    }
    if matches!(done.outcome, Outcome::Done | Outcome::CleanUpPending { .. } | Outcome::Unfinished { .. }) {
        put("name", done.name.clone().into());
    }
    put("told", done.told.clone().into());
    put("server_came_up", done.server_came_up.into());
    Value::Object(object)
}

fn entry(entry: &Entry, zone: &TimeZone) -> Value {
    let record = &entry.record;
    let mut object = Map::new();
    object.insert("name".into(), record.name.clone().into());
    object.insert("operation".into(), record.operation.as_str().into());
    object.insert("subject".into(), record.subject.clone().into());
    object.insert("at".into(), rfc3339(record.at, zone).into());
    object.insert("keep".into(), path_text(&record.keep).into());
    object.insert("moves".into(), record.moves.iter().map(renamed).collect());
    object.insert("removes".into(), record.removes.iter().map(|path| path_text(path)).collect());
    object.insert("done".into(), record.done.clone().into());
    if let Some(undoes) = &record.undoes {
        object.insert("undoes".into(), undoes.clone().into());
    }
    object.insert("undone_by".into(), entry.undone_by.clone().into());
    object.insert("parked_bytes".into(), entry.parked_bytes.into());
    let (possible, text) = match &entry.undo {
        Ok(text) => (true, text),
        Err(text) => (false, text),
    };
    object.insert("undo".into(), json!({ "possible": possible, "text": text }));
    Value::Object(object)
}

fn renamed(renamed: &Renamed) -> Value {
    match renamed {
        Renamed::Exchange { stage, live, .. } => {
            json!({ "step": "exchange", "stage": path_text(stage), "live": path_text(live) })
        }
        Renamed::Rename { from, to, .. } => {
            json!({ "step": "rename", "from": path_text(from), "to": path_text(to) })
        }
    }
}
