//! strace as the hand that kills and breaks.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The `nth` call of a name that a program makes.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) call: String,
    pub(crate) nth: u32,
}

/// True when strace can trace here; says so when not.
pub(crate) fn usable() -> bool {
    let mut probe = Command::new("strace");
    probe.args(["-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    let usable = probe.status().is_ok_and(|status| status.success());
    if !usable {
        eprintln!("skipped: strace is absent, or may not trace here");
    }
    usable
}

/// The calls that a program makes, one a line behind the thread, with what the descriptors are.
pub(crate) fn lines(program: &Path, args: &[String], log: &Path) -> Vec<String> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-s", "300", "--signal=none", "-o"]).arg(log).arg(program).args(args);
    let output = strace.output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    fs::remove_file(log).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A line without the thread that it begins with.
pub(crate) fn call_of(line: &str) -> (&str, &str) {
    line.split_once(' ').map_or(("", ""), |(thread, call)| (thread, call.trim_start()))
}

/// Each call that a program makes from the first on that names the root. What comes before is the loader's, and the
/// same as if the program had not been started.
pub(crate) fn points(program: &Path, args: &[String], root: &Path) -> Vec<Point> {
    let root_text = root.to_str().unwrap();
    let log = root.parent().unwrap().join("strace.log");
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut points = Vec::new();
    let mut begun = false;
    for line in lines(program, args, &log) {
        let (thread, line) = call_of(&line);
        let Some((call, rest)) = line.split_once('(') else { continue };
        if !call.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let nth = counts.entry((thread.to_owned(), call.to_owned())).or_default();
        *nth += 1;
        begun |= call != "execve" && rest.contains(root_text);
        if begun && call != "exit_group" {
            points.push(Point { call: call.to_owned(), nth: *nth });
        }
    }
    assert!(!points.is_empty());
    points
}

/// Runs a program with something done to it at a point: `signal=KILL`, `error=EIO`.
pub(crate) fn inject(program: &Path, args: &[String], point: &Point, what: &str, from_there_on: bool) -> Output {
    let Point { call, nth } = point;
    let more = if from_there_on { "+" } else { "" };
    let mut strace = Command::new("timeout");
    strace.args(["-k", "5", "60", "strace", "-f", "-qq", "--signal=none", "-o", "/dev/null", "-e"]);
    strace.arg(format!("trace={call}")).arg("-e").arg(format!("inject={call}:{what}:when={nth}{more}"));
    strace.arg(program).args(args).output().unwrap()
}

/// True when the program was killed before it was over.
pub(crate) fn was_killed(output: &Output) -> bool {
    output.status.signal() == Some(9) || output.status.code() == Some(137)
}
