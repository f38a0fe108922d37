//! The verbs that change saves: what they take, and what they refuse.

use serde_json::Value;

use crate::house::House;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn wrong_usage_of_an_operation_ends_with_2_and_does_nothing() {
    let house = House::with_fixtures(&["folder-sound", "every-kind-of-backup"]);
    let table: &[(&[&str], &str)] = &[
        (&["backup"], "required arguments"),
        (&["restore"], "required arguments"),
        (&["restore", "folder-sound"], "A restore needs the layer that is put in its place"),
        (&["copy", "folder-sound"], "required arguments"),
        (&["copy", "folder-sound", "a/b", "--into", "folder-sound"], "The profile is named twice"),
        (&["rename", "folder-sound"], "required arguments"),
        (&["delete"], "required arguments"),
        (&["delete", "folder-sound", "--yes", "--dry-run"], "cannot be used with"),
        (&["delete", "folder-sound", "--accept", "running"], "the warnings that can be accepted are"),
        (&["purge", "--older", "soon"], "an age is a number of days"),
        (&["restore", "folder-sound", "--overwrite"], "unexpected argument"),
        (&["rename", ".", "New"], "could mean several things"),
    ];
    for (args, words) in table {
        let run = house.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}: {}", run.err);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
    assert!(!house.path("folder-sound/.worldkeep").exists());
}

#[test]
fn a_target_that_is_not_there_ends_with_3() {
    let house = House::with_fixtures(&["folder-sound"]);
    let table: &[&[&str]] = &[
        &["delete", "gone", "--yes"],
        &["backup", "folder-sound", "gone", "--yes"],
        &["restore", "gone/Midgard@old", "--yes"],
        &["copy", "folder-sound", "New", "--into", "gone", "--yes"],
        &["copy", "folder-sound", "gone/New", "--yes"],
        &["undo", "0123", "--yes"],
        &["purge", "0123", "--yes"],
    ];
    for args in table {
        let run = house.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{args:?}: {}", run.err);
    }
    assert!(!house.path("folder-sound/.worldkeep").exists());
}

#[test]
fn a_refusal_is_a_document_with_its_reason() {
    let house = House::with_fixtures(&["folder-sound"]);
    let (document, code) = house.json(&["--read-only", "delete", "folder-sound", "--yes"]);
    assert_eq!(code, Some(4));
    assert_eq!(keys(&document), ["schema", "operations", "recovered"]);
    let operation = &document["operations"][0];
    assert_eq!(keys(operation), ["target", "plan", "outcome"]);
    assert_eq!((&operation["target"], &operation["plan"]), (&"folder-sound".into(), &Value::Null));
    let outcome = &operation["outcome"];
    assert_eq!(keys(outcome), ["state", "reason", "text", "next", "told", "server_came_up"]);
    assert_eq!((&outcome["state"], &outcome["reason"]), (&"refused".into(), &"read-only".into()));
}

#[test]
fn nothing_to_undo_is_a_refusal_and_nothing_to_purge_is_none() {
    let house = House::with_fixtures(&["folder-sound"]);
    let run = house.run(&["undo", "--yes"]);
    assert_eq!(run.code, Some(4));
    assert!(run.err.contains("(nothing-to-undo)"), "{}", run.err);
    let run = house.run(&["purge", "--yes"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "Nothing is kept.\n"));
    let run = house.run(&["history"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "No operation is on record.\n"));
}
