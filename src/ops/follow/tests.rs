use jiff::Timestamp;

use super::{busy, first_save, last_change, load, operations};
use crate::model::plan::Operation;
use crate::model::{
    Container, Depth, Facts, FileEntry, Found, Hallmarks, Heard, Layer, LayerKind, Profile, Severity, Shape, Source,
    Verdict, World, WorldKind,
};
use crate::ops::record::{Record, Renamed};

fn marks() -> Hallmarks {
    Hallmarks {
        identity: vec![("seed number".into(), "42".into())],
        clock: Some(214 * 1440),
        objects: Some(77_504),
        generation: Some(17),
    }
}

fn record(name: &str, moves: Vec<Renamed>) -> Record {
    Record {
        name: name.into(),
        operation: Operation::Restore,
        subject: "Midgard".into(),
        at: Timestamp::UNIX_EPOCH,
        keep: "/srv/valheim/.worldkeep".into(),
        moves,
        removes: Vec::new(),
        undoes: None,
        restored: Some(marks()),
        done: "Restored.".into(),
        traces: None,
    }
}

fn exchange(live: &str) -> Renamed {
    let stage = "/srv/valheim/.worldkeep/stage/0".into();
    Renamed::Exchange { stage, live: live.into(), new: (1, 2), old: (1, 3) }
}

/// A world whose live state is a folder of one file, or a pair.
fn world(folder: bool) -> World {
    let file = |name: &str| FileEntry { path: format!("worlds_local/{name}").into(), size: 1, mtime: None };
    let path = if folder { "Midgard" } else { "Midgard.fwl" };
    let files = if folder { vec![file("Midgard/_main.17.db2")] } else { vec![file("Midgard.db"), file("Midgard.fwl")] };
    let live = Layer {
        id: "valheim/Midgard@live".into(),
        path: format!("/srv/valheim/worlds_local/{path}").into(),
        source: Source { outer: "/srv/valheim".into() },
        kind: LayerKind::Live,
        orphan: false,
        rule: String::new(),
        shape: if folder { Shape::ValheimFolder } else { Shape::ValheimPair },
        container: Container::Folder,
        generation: folder.then_some(17),
        stamp: None,
        bytes: 1,
        files,
        verdict: Verdict::Sound,
        depth: Depth::Full,
        restorable: true,
        reason: None,
        findings: Vec::new(),
        relations: Vec::new(),
        facts: Facts::default(),
    };
    World {
        id: "valheim/Midgard".into(),
        name: "Midgard".into(),
        kind: WorldKind::World,
        place: None,
        inner_name: None,
        opens_with: None,
        findings: Vec::new(),
        layers: vec![live],
    }
}

fn profile() -> Profile {
    Profile {
        id: "valheim".into(),
        name: "valheim".into(),
        game: "valheim",
        root: "/srv/valheim".into(),
        found: Found::Argument,
        free_bytes: None,
        findings: Vec::new(),
        worlds: vec![world(true)],
    }
}

#[test]
fn the_newest_operation_on_the_place_of_a_world_counts_whatever_shape_lies_there_now() {
    let folder = record("aaaaaaaaaaaa", vec![exchange("/srv/valheim/worlds_local/Midgard")]);
    let pair = record("bbbbbbbbbbbb", vec![exchange("/srv/valheim/worlds_local/Midgard.db")]);
    let other = record("cccccccccccc", vec![exchange("/srv/valheim/worlds_local/Midgard2")]);
    let found = |records: &[Record], folder| last_change(records, &world(folder)).map(|record| record.name.clone());
    let all = [other.clone(), folder.clone(), pair.clone()];
    assert_eq!(found(&all, true).as_deref(), Some("aaaaaaaaaaaa"));
    assert_eq!(found(&[other.clone(), pair, folder], false).as_deref(), Some("bbbbbbbbbbbb"));
    assert_eq!(found(&[other], true), None);
    let purge = Record { operation: Operation::Purge, ..all[1].clone() };
    assert_eq!(found(&[purge], true), None);
}

#[test]
fn the_first_save_after_a_restore_is_the_same_world_or_an_alarm_with_the_way_back() {
    let record = record("aaaaaaaaaaaa", Vec::new());
    assert_eq!(first_save(&record, &marks(), &world(true)), None);
    let on = Hallmarks { generation: Some(18), objects: Some(77_600), ..marks() };
    let on = first_save(&record, &on, &world(true)).unwrap();
    assert_eq!((on.event, on.severity, on.next.as_str()), ("first-save", Severity::Note, ""));
    let fresh = Hallmarks { generation: Some(1), clock: Some(1440), objects: Some(3_000), ..marks() };
    let fresh = first_save(&record, &fresh, &world(true)).unwrap();
    assert_eq!((fresh.event, fresh.severity), ("fresh-world", Severity::Error));
    assert_eq!(fresh.operation.as_deref(), Some("aaaaaaaaaaaa"));
    assert!(fresh.next.contains("worldkeep undo aaaaaaaaaaaa"), "{}", fresh.next);
    assert!(fresh.text.contains("3,000 objects and held 77,504"), "{}", fresh.text);
    let undo = Record { restored: None, ..record };
    assert_eq!(first_save(&undo, &Hallmarks::default(), &world(true)), None);
}

#[test]
fn a_server_that_loads_another_save_than_the_one_here_is_told() {
    let record = record("aaaaaaaaaaaa", Vec::new());
    let heard = |generation, objects| Heard {
        event: "world-loading",
        severity: Severity::Note,
        world: Some("Midgard".into()),
        generation,
        objects,
        text: String::new(),
    };
    let told = |record: Option<&Record>, heard: &Heard| load(record, heard, &marks(), &profile(), &world(true));
    assert_eq!(told(Some(&record), &heard(Some(17), None)), None);
    assert_eq!(told(None, &heard(Some(17), None)), None);
    let wrong = told(Some(&record), &heard(Some(9), None)).unwrap();
    assert_eq!((wrong.event, wrong.severity), ("other-load", Severity::Error));
    assert!(wrong.text.contains("save 9") && wrong.text.contains("save 17") && wrong.text.contains("/srv/valheim"));
    // Without a restore just before, it is a warning.
    let odd = told(None, &heard(Some(9), None)).unwrap();
    assert_eq!((odd.severity, odd.operation), (Severity::Warning, None));
    let few = told(Some(&record), &heard(None, Some(12))).unwrap();
    assert!(few.text.contains("12 objects"), "{}", few.text);
    assert_eq!(told(Some(&record), &heard(None, Some(77_504))), None);
    assert_eq!(told(None, &heard(None, Some(12))), None);
}

#[test]
fn a_place_without_a_keeping_folder_has_no_operations_and_is_not_busy() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!((operations(dir.path()), busy(dir.path())), (Vec::new(), false));
    std::fs::create_dir(dir.path().join(".worldkeep")).unwrap();
    std::fs::write(dir.path().join(".worldkeep/journal"), "{").unwrap();
    assert!(busy(dir.path()));
}
