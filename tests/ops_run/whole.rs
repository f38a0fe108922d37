//! Operations to which nothing happens.

use std::fs;
use std::os::unix::fs::MetadataExt;

use worldkeep::model::plan::Outcome;
use worldkeep::ops::record::Record;
use worldkeep::ops::tree::calls::Direct;

use crate::lab::{At, CASES, Case, EARLIER, Lab, Lacks, NAME, both_states, operation};

#[test]
fn each_operation_does_what_it_says_and_is_in_the_history() {
    for case in CASES {
        let (lab, draft) = Lab::ready(case);
        let before = lab.state();
        let done = lab.run(&Direct, draft);
        assert_eq!((&done.outcome, done.told.len()), (&Outcome::Done, 0), "{case:?}: {done:?}");
        let after = lab.state();
        let live = |state: &crate::lab::State, name: &str| {
            state
                .live
                .iter()
                .filter(|(path, _)| path.starts_with(name))
                .map(|(_, what)| what.clone())
                .collect::<Vec<_>>()
        };
        let parked = lab.keep().join("recycle").join(NAME).join("worlds_local");
        match case {
            Case::RestoreFolder => {
                assert_eq!(live(&after, "Midgard"), live(&before, "Midgard_backup"));
                assert_eq!(fs::read(parked.join("Midgard/only-old")).unwrap(), b"x");
            }
            Case::RestorePair => {
                assert_eq!(
                    [live(&after, "A.db"), live(&after, "A.fwl")],
                    [live(&before, "B.db"), live(&before, "B.fwl")]
                );
                assert_eq!(fs::read(parked.join("A.db")).unwrap(), b"old db");
                assert_eq!(fs::read(parked.join("A.fwl")).unwrap(), b"old fwl");
            }
            Case::Copy => assert_eq!(live(&after, "Asgard"), live(&before, "Midgard")),
            Case::Rename => {
                assert_eq!((live(&after, "Asgard"), live(&after, "Midgard")), (live(&before, "Midgard"), Vec::new()));
                assert!(parked.join("Midgard/world.db").is_file());
            }
            Case::Delete => {
                assert_eq!((live(&after, "Midgard").len(), live(&after, "A.db").len()), (0, 0));
                assert_eq!(fs::read_dir(&parked).unwrap().count(), 3);
            }
            Case::UndoRestore => assert_eq!(fs::read(lab.world("Midgard/only-old")).unwrap(), b"x"),
            Case::UndoPair => assert_eq!(fs::read(lab.world("A.db")).unwrap(), b"old db"),
            Case::UndoDelete => {
                assert_eq!(after.live, Lab::new().state().live);
                assert!(!lab.keep().join("recycle").join(EARLIER).exists(), "an empty folder stays");
            }
            Case::Purge => assert_eq!((after.parked.len(), &after.live), (0, &before.live)),
        }
        assert_eq!(live(&after, "Neighbour"), live(&before, "Neighbour"));
        let record = Record::parse(&fs::read(lab.keep().join("history").join(NAME)).unwrap()).unwrap();
        assert_eq!((record.operation, record.subject.as_str()), (operation(case), "Midgard"));
        assert!(lab.leftovers().is_empty(), "{case:?}");
        assert_eq!(lab.recover(&Direct), Vec::new(), "{case:?}");
        let keep = fs::metadata(lab.keep()).unwrap();
        assert_eq!((keep.mode() & 0o7777, keep.uid()), (0o700, fs::metadata(lab.root()).unwrap().uid()));
    }
}

#[test]
fn without_exchange_and_without_noreplace_the_result_is_the_same() {
    for case in CASES {
        let (_, new) = both_states(case);
        for lacks in [Lacks::Exchange, Lacks::ExchangeAndNoReplace] {
            let (lab, draft) = Lab::ready(case);
            let done = lab.run(&At::new(|_, call| lacks.check(call)), draft);
            assert_eq!((done.outcome, lab.state()), (Outcome::Done, new.clone()), "{case:?} {lacks:?}");
            assert!(lab.leftovers().is_empty());
        }
    }
}

#[test]
fn a_start_with_nothing_to_recover_looks_at_two_names_and_at_what_is_put_aside() {
    let (lab, draft) = Lab::ready(Case::RestoreFolder);
    assert_eq!(lab.run(&Direct, draft).outcome, Outcome::Done);
    let hook = At::new(|_, _| Ok(()));
    assert_eq!(lab.recover(&hook), Vec::new());
    // Two to find out whether there is an `openat2`, and the record of the one operation that put something aside.
    assert!(hook.count.get() <= 5, "{} calls", hook.count.get());
}
