//! `worldkeep keys`: what every key of the browser does.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::failure::{Exit, Failure};
use super::look::{Meaning, pad};
use super::session::Session;
use super::{output, safe_json};
use crate::config::actions::{Context, Row};
use crate::config::keys::{Key, Keymap};

/// Lists the actions that are in force, with the configured keys, in the order of the help.
pub(super) fn run(session: &Session) -> Result<Exit, Failure> {
    let (keymap, warnings) = Keymap::new(&session.config.keys, session.config.read_only);
    if !session.quiet {
        for warning in &warnings {
            output::complain(&format!("worldkeep: {}\n", crate::model::shown(warning)));
        }
    }
    let rows: Vec<(&Row, Vec<String>)> =
        keymap.all().map(|(row, keys)| (row, keys.iter().map(Key::to_string).collect())).collect();
    output::print(|out| {
        if session.json {
            let actions: Vec<Value> = rows.iter().map(|(row, keys)| to_json(row, keys)).collect();
            return safe_json::write(out, &json!({ "schema": 1, "actions": actions }));
        }
        let widest = |of: fn(&(&Row, Vec<String>)) -> usize| rows.iter().map(of).max().unwrap_or_default();
        let (id, keys) = (widest(|row| row.0.id.width()), widest(|row| row.1.join(" ").width()));
        let mut group = None;
        for row in &rows {
            let heading = heading(row.0);
            if group != Some(heading) {
                if group.is_some() {
                    writeln!(out)?;
                }
                writeln!(out, "{}", session.look.paint(Meaning::Title, heading))?;
                group = Some(heading);
            }
            let doc = row.0.doc;
            writeln!(out, "  {}  {}  {doc}", pad(row.0.id, id), pad(&row.1.join(" "), keys))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// What edits a text line would read oddly among the keys that do something else elsewhere.
fn heading(row: &Row) -> &'static str {
    if row.contexts == [Context::Entry] { "In a text line" } else { row.group.word() }
}

fn to_json(row: &Row, keys: &[String]) -> Value {
    let places: Vec<_> = row.contexts.iter().copied().map(Context::word).collect();
    json!({
        "id": row.id,
        "keys": keys,
        "where": places,
        "group": row.group.word(),
        "operation": row.operation,
        "available": true,
        "text": row.doc,
    })
}
