//! Calls that fail, made to by the kernel's own hand and not by a hook: once, and from then on.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;

use crate::checker::{Judged, Verdict, judge, judge_as, state};
use crate::kill::{points_of, recover_args};
use crate::scene::{CASES, Case, Ready, build, each, operate, ready, run, share};
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
        // No system interrupts for ever, and the library of the language asks again for as long as it is told to. What asks by
        // itself gives up; see below.
        all.retain(|(_, error, on)| !(*on && *error == "EINTR"));
        let count = all.len();
        let chosen = share(all, 250);
        let results = each(&chosen, |(point, error, on)| {
            let dir = TempDir::new().unwrap();
            let root = dir.path().join("root");
            build(&root);
            let ready = ready(&root, case);
            let output = inject(operate(), &ready.args, point, &format!("error={error}"), *on);
            let code = output.status.code();
            let [said, moaned] =
                [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
            // An attribute that the system refuses to read or to set is left out, and that is told.
            let told = point.call.ends_with("xattr") && said.contains("attributes could not be kept");
            let look =
                || if told { unattributed(&root, &ready) } else { judge(&root, &ready.old, &ready.new, &ready.keeps) };
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
                // The driver could not print how it had ended; where no call of that name works any more, not even that.
                Some(101) => {
                    let no_words = point.call == "write" && *on && moaned.is_empty();
                    after.verdict == Verdict::New && (no_words || moaned.contains("failed printing"))
                }
                _ => false,
            };
            let good = honest && after.gone.is_empty() && end.good_at_the_end();
            let text = format!(
                "{case:?} {} {} {error} {on}: exit {code:?}, {after:?}, then {end:?}, said: {said}{moaned}",
                point.call, point.nth
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

/// The verdict on everything but extended attributes.
fn unattributed(root: &Path, ready: &Ready) -> Judged {
    let [is, old, new] = [&state(root), &ready.old, &ready.new].map(crate::checker::State::without_attributes);
    judge_as(root, &is, &old, &new, &ready.keeps)
}

/// Reading and listing are asked for again when a signal interrupted them, but not for ever.
#[test]
fn a_call_that_is_always_interrupted_is_given_up() {
    if !usable() {
        return;
    }
    for call in ["pread64", "getdents64"] {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("root");
        build(&root);
        let ready = ready(&root, Case::RestoreFolder);
        let all = points_of(Case::RestoreFolder);
        let first = all.iter().find(|point| point.call == call).unwrap_or_else(|| panic!("no {call} is made"));
        let output = inject(operate(), &ready.args, first, "error=EINTR", true);
        // A folder that cannot be listed cannot be removed either; the next start does it.
        run(&recover_args(&root));
        let end = judge(&root, &ready.old, &ready.new, &ready.keeps);
        // 124 and 137 are the time that ran out.
        assert_eq!(output.status.code(), Some(1), "{call}: {output:?}");
        assert!(end.verdict == Verdict::Old && end.good_at_the_end(), "{call}: {end:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("nterrupted"), "{call}: {output:?}");
    }
}
