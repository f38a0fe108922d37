//! Every system call of an operation fails in every way, once and from then on.

use rustix::io::Errno;
use worldkeep::model::plan::Outcome;
use worldkeep::ops::recover::Became;
use worldkeep::ops::run::Done;
use worldkeep::ops::tree::calls::Direct;

use crate::lab::{At, CASES, Case, Lab, Lacks, NAME, State, both_states, calls_of, everything};

const ERRORS: [Errno; 7] =
    [Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::ROFS, Errno::DQUOT, Errno::MFILE, Errno::INTR];

/// What must hold after a run, and after the start that follows it. The answer is how it ended.
fn check(lab: &Lab, done: &Done, old: &State, new: &State, what: &str) -> &'static str {
    let now = lab.state();
    let journal = lab.keep().join("journal").is_file();
    let ended = match &done.outcome {
        Outcome::Done => {
            assert_eq!(&now, new, "{what}: {done:?}");
            assert!(lab.leftovers().is_empty(), "{what}: {done:?}");
            "done"
        }
        Outcome::CleanUpPending { left, why } => {
            assert_eq!(now.live, new.live, "{what}: {done:?}");
            assert!(!left.is_empty() && !why.is_empty(), "{what}: {done:?}");
            "clean-up pending"
        }
        Outcome::Unchanged { why } => {
            assert_eq!(&now, old, "{what}: {done:?}");
            assert!(why.starts_with("Could not"), "{what}: {why}");
            "unchanged"
        }
        Outcome::Refused(refusal) => {
            assert_eq!(&now, old, "{what}: {done:?}");
            assert!(refusal.text.contains("Could not"), "{what}: {refusal}");
            assert!(!journal || !done.told.is_empty(), "{what}: {done:?}");
            "refused"
        }
        Outcome::Unfinished { why } => {
            assert!(journal, "{what}: {done:?}");
            assert!(why.contains("worldkeep recover") && why.contains("Now '"), "{what}: {why}");
            "unfinished"
        }
        Outcome::Cancelled => panic!("{what}: nobody cancelled"),
    };
    // An empty folder is taken away without a word.
    let worth_a_word = |path: &std::path::PathBuf| std::fs::remove_dir(path).is_err();
    let pending = lab.leftovers().iter().any(worth_a_word);
    let recovered = lab.recover(&Direct);
    let last = lab.state();
    assert!(lab.leftovers().is_empty(), "{what}: {:?} after {recovered:?} and {done:?}", lab.leftovers());
    assert!(last == *old || last == *new, "{what}: neither old nor new after {recovered:?} and {done:?}: {last:#?}");
    for one in &recovered {
        assert!(matches!(one.became, Became::Finished | Became::RolledBack), "{what}: {one:?}");
        assert!(!one.text.is_empty());
    }
    assert_eq!(pending, !recovered.is_empty(), "{what}: {recovered:?}");
    match ended {
        "done" | "clean-up pending" => assert_eq!(&last, new, "{what}: {done:?}"),
        "unchanged" | "refused" => assert_eq!(&last, old, "{what}: {done:?}"),
        _ => {}
    }
    assert_eq!(last.history.iter().any(|name| name == NAME), last == *new, "{what}");
    assert_eq!(lab.recover(&Direct), Vec::new(), "{what}: a second recovery found something");
    ended
}

/// With every error at every call, or, for a quick run, with one of them at each call in turn.
fn sweep(case: Case, lacks: Lacks) {
    let (old, new) = both_states(case);
    let calls = calls_of(case, lacks);
    let mut ended = std::collections::BTreeMap::<&str, u64>::new();
    for (n, error) in (0_u64..).zip(&ERRORS) {
        for for_good in [false, true] {
            let here = |at: &u64| everything() || (at + u64::from(for_good)) % ERRORS.len() as u64 == n;
            for at in (0..calls).filter(here) {
                let (lab, draft) = Lab::ready(case);
                let hook = At::new(|n, call| {
                    lacks.check(call)?;
                    if n == at || (for_good && n > at) { Err(*error) } else { Ok(()) }
                });
                let done = lab.run(&hook, draft);
                let what = format!("{case:?} {lacks:?}, call {at} of {calls}, {error}, for good: {for_good}");
                assert!(hook.count.get() < calls * 130, "{what}: it never gives up");
                let how = check(&lab, &done, &old, &new, &what);
                *ended.entry(how).or_default() += 1;
            }
        }
    }
    assert!(ended.len() >= 3, "{case:?}: {ended:?}");
    eprintln!("{case:?} {lacks:?}: {calls} calls, {ended:?}");
}

#[test]
fn a_fault_at_any_call_of_a_restore_leaves_the_old_or_the_new_world() {
    sweep(Case::RestoreFolder, Lacks::Nothing);
    sweep(Case::RestoreFolder, Lacks::ExchangeAndNoReplace);
}

#[test]
fn the_same_for_a_pair() {
    sweep(Case::RestorePair, Lacks::Nothing);
    sweep(Case::RestorePair, Lacks::Exchange);
}

#[test]
fn the_same_for_every_other_operation() {
    for case in CASES.into_iter().filter(|case| !matches!(case, Case::RestoreFolder | Case::RestorePair)) {
        sweep(case, Lacks::Nothing);
    }
}
