use std::ffi::OsString;
use std::path::PathBuf;

use jiff::Timestamp;

use super::{Record, Renamed, SCHEMA, Unreadable};
use crate::model::Hallmarks;
use crate::model::outline::Traces;
use crate::model::plan::Operation;

fn odd_name() -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(b"odd \xff\n\"name".to_vec())
}

fn record() -> Record {
    let root = PathBuf::from("/srv/saves");
    let keep = root.join(".worldkeep");
    Record {
        name: "0123456789ab".to_owned(),
        operation: Operation::Restore,
        subject: "Mid\"gard\n\u{1b}[31m".to_owned(),
        at: Timestamp::UNIX_EPOCH,
        keep: keep.clone(),
        moves: vec![
            Renamed::Exchange {
                stage: keep.join("stage/0123456789ab/0"),
                live: root.join("worlds_local").join(odd_name()),
                new: (7, u64::MAX),
                old: (7, 1),
            },
            Renamed::Rename {
                from: keep.join("stage/0123456789ab/0"),
                to: keep.join("recycle/0123456789ab/worlds_local/Midgard"),
                what: (7, 1),
            },
        ],
        removes: vec![keep.join("recycle/ba9876543210")],
        undoes: Some("ba9876543210".to_owned()),
        restored: Some(Hallmarks {
            identity: vec![("seed".to_owned(), "-1\u{1b}".to_owned())],
            clock: Some(214 * 1440),
            objects: Some(u64::MAX),
            generation: None,
        }),
        done: "Restored.".to_owned(),
        traces: Some(Traces { root, world: "Midgard".to_owned(), ..Traces::default() }),
    }
}

#[test]
fn what_is_written_is_read_again_names_that_are_no_text_included() {
    let whole = record();
    assert_eq!(Record::parse(&whole.to_bytes()), Ok(whole.clone()));
    let bare = Record { undoes: None, restored: None, traces: None, moves: Vec::new(), removes: Vec::new(), ..whole };
    assert_eq!(Record::parse(&bare.to_bytes()), Ok(bare));
}

#[test]
fn every_beginning_of_a_record_is_damaged_or_foreign_and_none_is_acted_on() {
    let bytes = record().to_bytes();
    let whole = bytes.trim_ascii_end().len();
    for cut in 0..whole {
        assert!(Record::parse(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let bytes = record().to_bytes();
    for at in 0..bytes.trim_ascii_end().len() {
        for bit in [0x01, 0x20] {
            let mut other = bytes.clone();
            other[at] ^= bit;
            // A changed letter between the parts, such as the case of one in an escape, may leave the meaning whole.
            if let Ok(read) = Record::parse(&other) {
                assert_eq!(read, record(), "byte {at}");
            }
        }
    }
}

#[test]
fn a_newer_one_and_somebody_elses_file_are_told_apart_from_damage() {
    let text = String::from_utf8(record().to_bytes()).unwrap();
    let newer = text.replacen(&format!("\"schema\":{SCHEMA}"), &format!("\"schema\":{}", SCHEMA + 1), 1);
    assert_ne!(newer, text);
    assert_eq!(Record::parse(newer.as_bytes()), Err(Unreadable::Newer(SCHEMA + 1)));
    assert_eq!(Record::parse(b"{\"kind\":\"shopping list\",\"schema\":1}"), Err(Unreadable::Foreign));
    assert!(matches!(Record::parse(b""), Err(Unreadable::Damaged(_) | Unreadable::Foreign)));
}

#[test]
fn a_record_that_leads_out_of_the_save_is_never_acted_on() {
    let root = PathBuf::from("/srv/saves");
    let rename = |from: &str, to: &str| Renamed::Rename { from: from.into(), to: to.into(), what: (1, 2) };
    let bad_moves = [
        rename("/etc/passwd", "/srv/saves/worlds_local/x"),
        rename("/srv/saves/worlds_local/x", "/srv/saves/../other/x"),
        rename("/srv/saves", "/srv/saves/worlds_local/x"),
        rename("worlds_local/x", "/srv/saves/worlds_local/y"),
        rename("/srv/saves/.worldkeep", "/srv/saves/x"),
    ];
    for moved in bad_moves {
        let bad = Record { moves: vec![moved.clone()], ..record() };
        assert!(matches!(Record::parse(&bad.to_bytes()), Err(Unreadable::Damaged(_))), "{moved:?}");
    }
    for remove in
        ["/srv/saves/worlds_local/Midgard", "/srv/saves/.worldkeep/recycle", "/srv/saves/.worldkeep/recycle/a/b"]
    {
        let bad = Record { removes: vec![remove.into()], ..record() };
        assert!(matches!(Record::parse(&bad.to_bytes()), Err(Unreadable::Damaged(_))), "{remove}");
    }
    for keep in [root.join("keep"), root.join("x/../.worldkeep"), PathBuf::from(".worldkeep")] {
        let bad = Record { keep, ..record() };
        assert!(matches!(Record::parse(&bad.to_bytes()), Err(Unreadable::Damaged(_))));
    }
    for name in ["", "0123456789a", "0123456789aG", "../456789abcd"] {
        let bad = Record { name: name.to_owned(), ..record() };
        assert!(matches!(Record::parse(&bad.to_bytes()), Err(Unreadable::Damaged(_))), "{name}");
    }
}
