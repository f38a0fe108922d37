//! Real small and read-only file systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use worldkeep::ops::State;

use crate::lab::{Lab, noise, picture};

/// A file system in memory over a folder, until this value goes.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: &Path, options: &str) -> Option<Self> {
        let run = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        match run {
            Ok(output) if output.status.success() => Some(Self(at.to_path_buf())),
            Ok(output) => {
                eprintln!("skipped: cannot mount here: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: cannot mount here: {error}");
                None
            }
        }
    }

    fn again(&self, options: &str) -> bool {
        Command::new("mount").args(["-o", options]).arg(&self.0).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_file_system_leaves_nothing_behind() {
    let lab = Lab::new();
    lab.file("World/a", &noise(200_000)).file("World/sub/b", &noise(200_000)).file("World/c", b"c");
    let before = picture(&lab.source(""));
    let Some(_mounted) = Mounted::new(&lab.keep(), "size=512k") else { return };
    let filler = lab.keep().join("filler");
    let (mut failed, mut whole) = (0, 0);
    for left in (0..=512).step_by(32) {
        fs::write(&filler, noise((512 - left) * 1024)).unwrap();
        match lab.copy() {
            Ok(_) => {
                whole += 1;
                assert!(lab.compare().equal());
                lab.clear();
            }
            Err(failure) => {
                failed += 1;
                assert!(matches!(failure.state, State::Removed | State::NothingMade), "{failure}");
                assert!(failure.to_string().contains("No space left"), "{failure}");
                assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 1);
            }
        }
    }
    assert!(failed > 5 && whole > 0, "{failed} failed, {whole} whole");
    assert_eq!(picture(&lab.source("")), before);
}

#[test]
fn a_file_system_that_is_mounted_read_only_refuses() {
    let lab = Lab::new();
    lab.file("World/a", b"a");
    let Some(mounted) = Mounted::new(&lab.keep(), "size=512k") else { return };
    if !mounted.again("remount,ro") {
        eprintln!("skipped: cannot mount read-only here");
        return;
    }
    let failure = lab.copy().unwrap_err();
    assert_eq!(failure.state, State::NothingMade);
    assert!(failure.to_string().contains("Read-only file system"), "{failure}");
}

#[test]
fn another_file_system_inside_the_source_is_refused() {
    let lab = Lab::new();
    lab.file("World/a", b"a");
    fs::create_dir(lab.source("World/mounted")).unwrap();
    let Some(_mounted) = Mounted::new(&lab.source("World/mounted"), "size=64k") else { return };
    for openat2 in [true, false] {
        let hook = crate::lab::At::new(|_, call| {
            let lacking = !openat2 && call == worldkeep::ops::tree::calls::Call::Openat2;
            if lacking { Err(rustix::io::Errno::NOSYS) } else { Ok(()) }
        });
        let failure = lab.copy_hooked(&hook, worldkeep::ops::tree::Flush::Singly).unwrap_err();
        assert!(matches!(failure.cause, worldkeep::ops::Cause::OtherFileSystem), "{failure}");
        assert_eq!(failure.path, Path::new("World/mounted"));
        assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0);
    }
}
