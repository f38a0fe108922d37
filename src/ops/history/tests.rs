use super::*;
use crate::ops::record::Renamed;

fn record(name: &str, operation: Operation, undoes: Option<&str>, moves: Vec<Renamed>) -> Record {
    Record {
        name: name.into(),
        operation,
        subject: "W".into(),
        at: Timestamp::UNIX_EPOCH,
        keep: "/r/.worldkeep".into(),
        moves,
        removes: Vec::new(),
        undoes: undoes.map(Into::into),
        restored: None,
        done: String::new(),
        traces: None,
    }
}

fn rename(from: &str, to: &str, what: u64) -> Renamed {
    Renamed::Rename { from: from.into(), to: to.into(), what: (1, what) }
}

#[test]
fn what_an_operation_did_is_the_sum_of_its_renames() {
    let exchange = Renamed::Exchange {
        stage: "/r/.worldkeep/stage/n/W".into(),
        live: "/r/w/W".into(),
        new: (1, 10),
        old: (1, 20),
    };
    let moves = vec![
        exchange,
        rename("/r/.worldkeep/stage/n/W", "/r/.worldkeep/recycle/n/w/W", 20),
        rename("/r/w/a", "/r/w/t", 30),
        rename("/r/w/b", "/r/w/a", 40),
        rename("/r/w/t", "/r/w/b", 30),
        rename("/r/w/round", "/r/w/trip", 50),
        rename("/r/w/trip", "/r/w/round", 50),
        rename("/r/.worldkeep/recycle/m", "/r/.worldkeep/recycle/m.purging", 60),
    ];
    let things = effect(&record("n", Operation::Restore, None, moves));
    let said: Vec<_> = things
        .iter()
        .map(|thing| (thing.kind, thing.what.1, named_below(&thing.first, Path::new("/r/.worldkeep")), &thing.last))
        .map(|(kind, what, first, last)| (kind, what, first, named_below(last, Path::new("/r/.worldkeep"))))
        .collect();
    let is = |kind, what, first: &str, last: &str| (kind, what, first.to_owned(), last.to_owned());
    assert_eq!(
        said,
        [
            is(Kind::Came, 10, ".worldkeep/stage/n/W", "w/W"),
            is(Kind::Went, 20, "w/W", ".worldkeep/recycle/n/w/W"),
            is(Kind::Moved, 40, "w/b", "w/a"),
            is(Kind::Moved, 30, "w/a", "w/b"),
        ]
    );
}

#[test]
fn an_undo_of_an_undo_puts_an_operation_in_force_again() {
    let chain = [("d", Some("c")), ("c", Some("b")), ("b", Some("a")), ("a", None)];
    let all: Vec<Written> = chain
        .iter()
        .map(|(name, undoes)| {
            let operation = if undoes.is_some() { Operation::Undo } else { Operation::Delete };
            Written { record: record(name, operation, *undoes, Vec::new()), began: (0, 0) }
        })
        .collect();
    let by = |all: &[Written]| {
        all.iter().map(|one| taken_back_by(&one.record, all).map(|by| by.name.clone())).collect::<Vec<_>>()
    };
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(by(&all), [None, name("d"), None, name("d")], "d takes back c, and with it a again");
    assert_eq!(by(&all[1..]), [None, name("c"), None], "c brought a back");
    let entry = |written: &Written| Entry {
        record: written.record.clone(),
        parked_bytes: 0,
        undo: Ok(String::new()),
        undone_by: taken_back_by(&written.record, &all).map(|by| by.name.clone()),
    };
    let entries: Vec<Entry> = all.iter().map(entry).collect();
    let back: Vec<bool> = entries.iter().map(|entry| takes_back(entry, &entries)).collect();
    assert_eq!(back, [true, false, true, false]);
}

#[test]
fn records_that_undo_each_other_are_no_endless_chain() {
    let all: Vec<Written> = [("a", "b"), ("b", "a"), ("c", "c")]
        .iter()
        .map(|(name, undoes)| Written {
            record: record(name, Operation::Undo, Some(undoes), Vec::new()),
            began: (0, 0),
        })
        .collect();
    assert!(followers(&all[0].record, &all).len() <= 2);
    assert_eq!(followers(&all[2].record, &all).len(), 0);
    let entries: Vec<Entry> = all
        .iter()
        .map(|one| Entry { record: one.record.clone(), parked_bytes: 0, undo: Ok(String::new()), undone_by: None })
        .collect();
    let _ = takes_back(&entries[0], &entries);
}
