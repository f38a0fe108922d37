//! Calls that fail, made to by the kernel's own hand and not by a hook: once, and from then on.

use std::collections::BTreeMap;

use tempfile::TempDir;

use crate::checker::{Verdict, judge, judge_as, state};
use crate::kill::{points_of, recover_args};
use crate::scene::{CASES, build, chosen, each, operate, ready, run};
use crate::trace::{Point, inject, usable};

const ERRORS: [&str; 8] = ["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EINTR", "EPERM"];

/// Calls that have nothing to do with files: memory, signals, threads, time.
const OTHERS: [&str; 18] = [
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "brk",
    "madvise",
    "rt_sigaction",
    "rt_sigprocmask",
    "sigaltstack",
    "futex",
    "clone3",
    "getrandom",
    "sched_getaffinity",
    "sched_yield",
    "gettid",
    "getpid",
    "geteuid",
    "prlimit64",
];

#[test]
fn a_call_that_fails_leaves_the_old_or_the_new_state_and_success_is_never_a_lie() {
    if !usable() {
        return;
    }
    let mut all_bad: Vec<String> = Vec::new();
    for case in CASES {
        let mut all: Vec<(Point, &str, bool)> = Vec::new();
        for point in points_of(case).into_iter().filter(|point| !OTHERS.contains(&point.call.as_str())) {
            all.extend(ERRORS.iter().flat_map(|error| [false, true].map(|on| (point.clone(), *error, on))));
        }
        // No system interrupts for ever; the reader of the proof asks again for as long as it is told to.
        all.retain(|(_, error, on)| !(*on && *error == "EINTR"));
        let count = all.len();
        let chosen = chosen(all, 250);
        let results = each(&chosen, |(point, error, on)| {
            let dir = TempDir::new().unwrap();
            let root = dir.path().join("root");
            build(&root);
            let ready = ready(&root, case);
            let output = inject(operate(), &ready.args, point, &format!("error={error}"), *on);
            let code = output.status.code();
            // An attribute that the system did not give or take is lost, and said; nothing else may be.
            let told = String::from_utf8_lossy(&output.stdout).contains("attributes could not be kept");
            let look = || {
                if !told {
                    return judge(&root, &ready.old, &ready.new, &ready.keeps);
                }
                judge_as(&root, &state(&root).bare(), &ready.old.bare(), &ready.new.bare(), &ready.keeps)
            };
            let after = look();
            run(&recover_args(&root));
            let end = look();
            let honest = match code {
                Some(0) => after.verdict == Verdict::New && after.parked_whole,
                // Done, with something left to clear away.
                Some(5) => end.verdict == Verdict::New,
                // Refused, or, by the driver, not even asked for.
                Some(2 | 4) => after.verdict == Verdict::Old,
                // Not begun, or not finished: the words say which.
                Some(1) => true,
                // The driver could not print how it had ended, or not even that.
                Some(101) => {
                    let mute = point.call == "write" && *on;
                    let printing = mute || String::from_utf8_lossy(&output.stderr).contains("failed printing");
                    after.verdict == Verdict::New && printing
                }
                _ => false,
            };
            let good = honest && after.gone.is_empty() && end.good_at_the_end();
            let text = format!(
                "{case:?} {} {} {error} {on}: exit {code:?}, {after:?}, then {end:?}, said: {}{}",
                point.call,
                point.nth,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            (code, end.verdict, (!good).then_some(text))
        });
        let mut ends: BTreeMap<String, u32> = BTreeMap::new();
        for (code, verdict, _) in &results {
            *ends.entry(format!("exit {}: {verdict:?}", code.unwrap_or(-1))).or_default() += 1;
        }
        let bad: Vec<&String> = results.iter().filter_map(|one| one.2.as_ref()).collect();
        eprintln!("| {case:?} | errors at each call | {} of {count} | {ends:?} | {} bad |", results.len(), bad.len());
        all_bad.extend(bad.into_iter().cloned());
    }
    assert!(all_bad.is_empty(), "{all_bad:#?}");
}
