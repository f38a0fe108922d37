//! The terminal goes, somebody says that it is enough, or it is stopped and goes on.

use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::checker::{Verdict, judge};
use crate::scene::{Case, chosen, each, everything, operate};
use crate::trace::{inject, points, usable};
use crate::twice::{Scene, Stopped};

/// The calls of an operation, from its first one that concerns the save.
fn phases(case: Case) -> Vec<crate::trace::Point> {
    let scene = Scene::new(case);
    points(operate(), &scene.ready.args, &scene.root)
}

#[test]
fn an_operation_that_gets_a_signal_is_finished_or_never_was() {
    if !usable() {
        return;
    }
    for case in [Case::RestorePair, Case::Delete] {
        let all = phases(case);
        for signal in ["HUP", "TERM", "INT", "PIPE", "QUIT"] {
            let results = each(&chosen(all.clone(), 48), |point| {
                let scene = Scene::new(case);
                let what = format!("{case:?} {signal} at {point:?}");
                let output = inject(operate(), &scene.ready.args, point, &format!("signal={signal}"), false);
                assert_ne!(output.status.code(), Some(124), "{what}: it hangs");
                // Not one of several renames alone, before any recovery: signals wait while they are done.
                let verdict = scene.verdict();
                assert!(matches!(verdict, Verdict::Old | Verdict::New), "{what}: {verdict:?}");
                let success = output.status.success();
                assert!(!success || verdict == Verdict::New, "{what}: {output:?}");
                assert!(scene.recover().status.success(), "{what}");
                let judged = judge(&scene.root, &scene.ready.old, &scene.ready.new, &scene.ready.keeps);
                assert!(judged.good_at_the_end() && judged.verdict == verdict, "{what}: {judged:#?}");
                (success, verdict == Verdict::New)
            });
            let count = |wanted: (bool, bool)| results.iter().filter(|result| **result == wanted).count();
            eprintln!(
                "{case:?} {signal}: {} points, {} done, {} ended before, {} ended when all was in its place",
                results.len(),
                count((true, true)),
                count((false, false)),
                count((false, true))
            );
            assert!(!results.is_empty());
            // This program ignores it from its start, as all of its kind do.
            assert!(signal != "PIPE" || count((true, true)) == results.len());
            assert!(signal == "PIPE" || !everything() || count((false, false)) > 0);
        }
    }
}

#[test]
fn an_operation_that_is_stopped_and_goes_on_is_done() {
    if !usable() {
        return;
    }
    let case = Case::RestorePair;
    let stops = ["openat2", "copy_file_range", "fsync", "renameat2", "unlinkat", "flock"];
    let mut stopped = 0;
    for (call, nth) in stops.into_iter().flat_map(|call| [(call, 1), (call, 3)]) {
        let scene = Scene::new(case);
        let Some(program) = Stopped::at(call, nth, &scene.ready.args) else { continue };
        stopped += 1;
        // A terminal that goes sends both, and HUP counts once it goes on.
        if nth == 3 && call == "renameat2" {
            program.signal(Signal::HUP);
        }
        let output = program.goes_on();
        let killed = output.status.signal().is_some() || output.status.code().is_some_and(|code| code > 128);
        assert!(output.status.success() || killed, "{call} {nth}: {output:?}");
        assert!(scene.recover().status.success());
        scene.is_new(call);
    }
    eprintln!("stopped at {stopped} calls");
    assert!(stopped >= 5, "{stopped}");
}
