//! Running a test as a user who may not read everything.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test says what it skips, and fails loudly")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use tempfile::TempDir;

/// Runs the test of this name again as nobody, since root may read everything. True when that was done, or when
/// it cannot be done here, so that the caller has nothing left to do.
pub(crate) fn done_as_nobody(test: &str) -> bool {
    const MARK: &str = "WORLDKEEP_TEST_AS_NOBODY";
    if std::env::var_os(MARK).is_some() || !rustix::process::geteuid().is_root() {
        return false;
    }
    let binary = std::env::current_exe().unwrap();
    let copy = TempDir::new().unwrap();
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = copy.path().join("test");
    fs::copy(binary, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let run = Command::new(&program)
        .args(["--exact", test, "--nocapture"])
        .env(MARK, "1")
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output();
    match run {
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && words.contains("1 passed"), "as nobody:\n{words}{errors}");
        }
        Err(error) => eprintln!("skipped: cannot become nobody here: {error}"),
    }
    true
}
