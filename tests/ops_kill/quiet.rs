//! Nothing of the live save is ever opened to be written, whatever is done to it.

use std::path::Path;

use tempfile::TempDir;

use crate::control;
use crate::scene::{CASES, Case, build, operate, ready};
use crate::trace::{call_of, lines, usable};

/// Calls that write into the folder of the worlds, or open something there in order to.
fn writes(lines: &[String], root: &Path) -> Vec<String> {
    let worlds = root.join("worlds_local").to_str().unwrap().to_owned();
    let writers = ["write(", "pwrite64(", "ftruncate(", "fallocate(", "copy_file_range(", "sendfile("];
    let wrote = |line: &str| {
        let (_, line) = call_of(line);
        if line.starts_with("open") {
            let for_writing = ["O_WRONLY", "O_RDWR", "O_TRUNC", "O_CREAT"].iter().any(|flag| line.contains(flag));
            // What came of it stands at the end; a path that is relative stands there only.
            return for_writing && line.contains(&worlds);
        }
        if line.starts_with("truncate(") {
            return line.contains(&worlds);
        }
        let Some(call) = writers.iter().find(|call| line.starts_with(*call)) else { return false };
        // The target of a copy between files is the third argument, of everything else the first.
        let nth = if *call == "copy_file_range(" { 2 } else { 0 };
        line[call.len()..].split(", ").nth(nth).is_some_and(|argument| argument.contains(&worlds))
    };
    lines.iter().filter(|line| wrote(line)).cloned().collect()
}

#[test]
fn no_operation_opens_a_file_of_the_live_save_for_writing() {
    if !usable() {
        return;
    }
    let scene = |case: Case| {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("root");
        build(&root);
        let ready = ready(&root, case);
        (dir, root, ready)
    };
    for case in CASES {
        let (dir, root, ready) = scene(case);
        let found = lines(operate(), &ready.args, &dir.path().join("log"));
        assert!(found.len() > 50, "{case:?}: the trace is empty");
        assert_eq!(writes(&found, &root), Vec::<String>::new(), "{case:?}");
    }
    let (dir, root, _) = scene(Case::RestoreFolder);
    let (program, args) = control::program("in-place", &root);
    let found = lines(&program, &args, &dir.path().join("log"));
    assert!(!writes(&found, &root).is_empty(), "a restore in place is not seen");
}
