//! The process ends at a call, and the next start finds what it left; and that start ends at a call as well.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rustix::io::Errno;
use worldkeep::ops::recover::Became;
use worldkeep::ops::tree::calls::{Call, Direct};

use crate::lab::{At, CASES, Case, Lab, Lacks, NAME, State, both_states, calls_of, everything};

/// What a killed process does at its next call: nothing any more.
struct Killed;

fn kill_at(at: u64, lacks: Lacks) -> At<impl Fn(u64, Call) -> Result<(), Errno>> {
    At::new(move |n, call| {
        if n >= at {
            resume_unwind(Box::new(Killed));
        }
        lacks.check(call)
    })
}

/// True when it was killed.
fn killed<T>(work: impl FnOnce() -> T) -> bool {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(_) => false,
        Err(cause) if cause.is::<Killed>() => true,
        Err(cause) => resume_unwind(cause),
    }
}

/// A scene in which the operation was killed at this call.
fn scene(case: Case, lacks: Lacks, at: u64) -> Lab {
    let (lab, draft) = Lab::ready(case);
    assert!(killed(|| lab.run(&kill_at(at, lacks), draft)), "{case:?}: it was over before call {at}");
    lab
}

fn is_over(lab: &Lab, old: &State, new: &State, what: &str) -> bool {
    let last = lab.state();
    assert!(lab.leftovers().is_empty(), "{what}: {:?}", lab.leftovers());
    assert!(last == *old || last == *new, "{what}: neither old nor new: {last:#?}");
    assert_eq!(last.history.iter().any(|name| name == NAME), last == *new, "{what}");
    assert_eq!(lab.recover(&Direct), Vec::new(), "{what}: a second recovery found something");
    last == *new
}

fn sweep(case: Case, lacks: Lacks) {
    let (old, new) = both_states(case);
    let calls = calls_of(case, lacks);
    let mut finished = 0;
    for at in 0..calls {
        let what = format!("{case:?} {lacks:?}, killed at call {at} of {calls}");
        let lab = scene(case, lacks, at);
        let recovered = lab.recover(&Direct);
        assert!(
            recovered.iter().all(|one| matches!(one.became, Became::Finished | Became::RolledBack)),
            "{what}: {recovered:?}"
        );
        finished += u64::from(is_over(&lab, &old, &new, &what));
    }
    assert!(finished > 0 && finished < calls, "{case:?}: {finished} of {calls}");
    eprintln!("{case:?} {lacks:?}: {calls} kills, {finished} new afterwards");
}

#[test]
fn a_kill_at_any_call_leaves_the_old_or_the_new_state_after_the_next_start() {
    for case in CASES {
        sweep(case, Lacks::Nothing);
    }
}

#[test]
fn the_same_where_an_exchange_takes_three_renames() {
    for case in [Case::RestoreFolder, Case::RestorePair, Case::UndoRestore] {
        sweep(case, Lacks::Exchange);
        sweep(case, Lacks::ExchangeAndNoReplace);
    }
}

#[test]
fn a_recovery_that_is_killed_at_any_call_is_finished_by_the_next_one() {
    let mut points = 0;
    for (case, lacks) in
        CASES.into_iter().map(|case| (case, Lacks::Nothing)).chain([(Case::RestorePair, Lacks::Exchange)])
    {
        let (old, new) = both_states(case);
        let calls = calls_of(case, lacks);
        let mut known = std::collections::BTreeSet::new();
        for at in 0..calls {
            let lab = scene(case, lacks, at);
            if !known.insert(lab.names()) && !everything() {
                continue;
            }
            let count = At::new(|_, call| lacks.check(call));
            lab.recover(&count);
            for second in (0..count.count.get()).filter(|second| everything() || (second + at) % 40 == 0) {
                let what = format!("{case:?} {lacks:?}, killed at {at} of {calls}, and again at {second}");
                let lab = scene(case, lacks, at);
                killed(|| lab.recover(&kill_at(second, lacks)));
                let recovered = lab.recover(&Direct);
                assert!(
                    recovered.iter().all(|one| matches!(one.became, Became::Finished | Became::RolledBack)),
                    "{what}: {recovered:?}"
                );
                is_over(&lab, &old, &new, &what);
                points += 1;
            }
        }
    }
    assert!(points > 750, "{points}");
    eprintln!("{points} kills in a recovery");
}

#[test]
fn a_recovery_in_which_a_call_fails_says_so_and_the_next_one_finishes() {
    for case in CASES {
        let (old, new) = both_states(case);
        let calls = calls_of(case, Lacks::Nothing);
        let mut known = std::collections::BTreeSet::new();
        for at in 0..calls {
            let lab = scene(case, Lacks::Nothing, at);
            if !known.insert(lab.names()) && !everything() {
                continue;
            }
            let count = At::new(|_, _| Ok(()));
            lab.recover(&count);
            for second in (0..count.count.get()).filter(|second| everything() || (second + at) % 40 == 0) {
                for for_good in [false, true] {
                    let what = format!(
                        "{case:?}, killed at {at} of {calls}, recovery fails at {second}, for good: {for_good}"
                    );
                    let lab = scene(case, Lacks::Nothing, at);
                    lab.recover(&At::new(|n, _| {
                        if n == second || (for_good && n > second) { Err(Errno::IO) } else { Ok(()) }
                    }));
                    lab.recover(&Direct);
                    is_over(&lab, &old, &new, &what);
                }
            }
        }
    }
}
