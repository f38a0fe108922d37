//! SIGKILL at the entry of every system call, of each operation and of the recovery.

use std::path::Path;

use tempfile::TempDir;

use crate::checker::{Judged, Verdict, judge};
use crate::scene::{CASES, Case, Ready, build, chosen, each, everything, one_of, operate, ready, run};
use crate::trace::{Point, inject, points, usable, was_killed};

fn scene(case: Case) -> (TempDir, Ready) {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("root");
    build(&root);
    let ready = ready(&root, case);
    (dir, ready)
}

pub(crate) fn recover_args(root: &Path) -> Vec<String> {
    vec!["recover".to_owned(), root.join(".worldkeep").to_str().unwrap().to_owned()]
}

/// The points of a case, and the proof that nothing goes wrong where nothing is broken.
pub(crate) fn points_of(case: Case) -> Vec<Point> {
    let (dir, ready) = scene(case);
    let root = dir.path().join("root");
    let points = points(operate(), &ready.args, &root);
    let end = judge(&root, &ready.old, &ready.new, &ready.keeps);
    assert!(end.verdict == Verdict::New && end.good_at_the_end(), "{case:?}: {end:?}");
    points
}

struct Seen {
    what: String,
    killed: bool,
    between: Judged,
    end: Judged,
    journal: bool,
    recovered: String,
}

fn kill_and_recover(case: Case, point: &Point) -> Seen {
    let (dir, ready) = scene(case);
    let root = dir.path().join("root");
    let output = inject(operate(), &ready.args, point, "signal=KILL", false);
    let between = judge(&root, &ready.old, &ready.new, &ready.keeps);
    let journal = root.join(".worldkeep/journal").exists();
    let recovered = run(&recover_args(&root));
    let end = judge(&root, &ready.old, &ready.new, &ready.keeps);
    let recovered = format!("{:?} {}", recovered.status.code(), String::from_utf8_lossy(&recovered.stdout));
    let what = format!("{case:?} killed at {} {}", point.call, point.nth);
    Seen { what, killed: was_killed(&output), between, end, journal, recovered }
}

fn sweep(case: Case) {
    let all = points_of(case);
    let count = all.len();
    let seen = each(&chosen(all, 10), |point| kill_and_recover(case, point));
    let (mut old, mut new, mut half) = (0, 0, 0);
    for Seen { what, killed, between, end, journal, recovered } in &seen {
        assert!(killed, "{what}: it was not killed");
        assert!(between.gone.is_empty(), "{what}: {:?} is gone", between.gone);
        let whole = matches!(between.verdict, Verdict::Old | Verdict::New);
        half += u32::from(!whole);
        // One name is exchanged at once; of several, some may be done for as long as the journal says so.
        let single = matches!(case, Case::RestoreFolder | Case::UndoRestore | Case::Copy | Case::Purge);
        assert!(whole || (!single && *journal), "{what}: {between:?}, journal: {journal}");
        assert!(end.good_at_the_end() && recovered.starts_with("Some(0)"), "{what}: {end:?} {recovered}");
        if end.verdict == Verdict::New { new += 1 } else { old += 1 }
    }
    if everything() {
        assert!(old > 0 && new > 0, "{case:?}: {old} old, {new} new");
    }
    eprintln!(
        "| {case:?} | kill at each call | {} of {count} | {old} old, {new} new | {half} half done with a journal before the next start | 0 bad |",
        seen.len()
    );
}

#[test]
fn a_killed_operation_is_wholly_done_or_not_at_all_after_the_next_start() {
    if usable() {
        CASES.into_iter().for_each(sweep);
    }
}

#[test]
fn a_recovery_that_is_killed_is_finished_by_the_next() {
    if !usable() {
        return;
    }
    for case in CASES {
        let all = points_of(case);
        // The calls after which something else lies on the disk.
        let firsts: Vec<Point> = all
            .into_iter()
            .filter(|point| ["renameat2", "renameat", "rename", "unlinkat", "mkdirat"].contains(&point.call.as_str()))
            .collect();
        let mut both = Vec::new();
        for first in one_of(firsts, 6) {
            let (dir, ready) = scene(case);
            let root = dir.path().join("root");
            inject(operate(), &ready.args, &first, "signal=KILL", false);
            both.extend(
                points(operate(), &recover_args(&root), &root).into_iter().map(|second| (first.clone(), second)),
            );
        }
        let count = both.len();
        let bad: Vec<String> = each(&chosen(both, 12), |(first, second)| {
            let (dir, ready) = scene(case);
            let root = dir.path().join("root");
            inject(operate(), &ready.args, first, "signal=KILL", false);
            let killed = was_killed(&inject(operate(), &recover_args(&root), second, "signal=KILL", false));
            let between = judge(&root, &ready.old, &ready.new, &ready.keeps);
            let recovered = run(&recover_args(&root));
            let end = judge(&root, &ready.old, &ready.new, &ready.keeps);
            let good = killed && between.gone.is_empty() && end.good_at_the_end() && recovered.status.success();
            (!good).then(|| format!("{case:?} {first:?} {second:?}: {killed} {between:?} {end:?} {recovered:?}"))
        })
        .into_iter()
        .flatten()
        .collect();
        eprintln!(
            "| {case:?} | recovery killed at each call | {count} (a twelfth of them by default) | {} bad |",
            bad.len()
        );
        assert!(bad.is_empty(), "{bad:#?}");
    }
}
