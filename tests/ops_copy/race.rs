//! Somebody who can write beside us puts links where folders and files were.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use worldkeep::ops::tree::Flush;
use worldkeep::ops::tree::calls::Call;

use crate::lab::{At, Lab, below, calls_of, picture};

const SECRET: &[u8] = b"SECRET";

/// A source, and beside it a folder that no copy may read or write.
fn scene() -> Lab {
    let lab = Lab::fast();
    lab.file("World/sub/a", b"a").file("World/sub/in/b", b"b").file("World/z", b"z");
    fs::create_dir_all(lab.base.join("outside/in")).unwrap();
    for name in ["a", "z", "in/b", "only-here"] {
        fs::write(lab.base.join("outside").join(name), SECRET).unwrap();
    }
    lab.dated();
    lab
}

fn nothing_leaked(lab: &Lab, outside: &std::collections::BTreeMap<std::path::PathBuf, String>, what: &str) {
    assert_eq!(&picture(&lab.base.join("outside")), outside, "{what}: something outside was changed");
    for path in below(&lab.keep()).into_iter().filter(|path| path.is_file() && !path.is_symlink()) {
        assert_ne!(fs::read(&path).unwrap(), SECRET, "{what}: {} was read from outside", path.display());
    }
}

fn flip(path: &Path, target: &Path) -> bool {
    let aside = path.with_file_name("aside");
    fs::rename(path, &aside).is_ok() && symlink(target, path).is_ok()
}

/// Flips at each call in turn, with and without `openat2`; the answer is how many copies were refused.
fn flips(place: impl Fn(&Lab) -> std::path::PathBuf, target: &str, openat2: bool) -> usize {
    let calls = calls_of(&scene(), Flush::Singly).len() as u64;
    let mut refused = 0;
    for at in 0..calls {
        let lab = scene();
        let outside = picture(&lab.base.join("outside"));
        let hook = At::new(|n, call| {
            if n == at {
                flip(&place(&lab), &lab.base.join(target));
            }
            if call == Call::Openat2 && !openat2 { Err(Errno::NOSYS) } else { Ok(()) }
        });
        let result = lab.copy_hooked(&hook, Flush::Singly);
        nothing_leaked(&lab, &outside, &format!("{target} at call {at}"));
        refused += usize::from(result.is_err());
    }
    refused
}

#[test]
fn a_link_in_the_source_at_any_moment_leads_nowhere() {
    for openat2 in [true, false] {
        for (name, target) in
            [("World/sub", "outside"), ("World", "outside"), ("World/z", "outside/z"), ("World/sub/in", "outside/in")]
        {
            let refused = flips(|lab| lab.source(name), target, openat2);
            assert!(refused > 5, "{name}: only {refused} copies were refused");
        }
    }
}

#[test]
fn a_link_in_the_stage_at_any_moment_leads_nowhere() {
    for openat2 in [true, false] {
        for name in ["World/sub", "World", ""] {
            flips(|lab| lab.keep().join("stage").join(name).components().collect(), "outside", openat2);
        }
    }
}

#[test]
fn a_process_that_flips_all_the_time_gets_nothing() {
    let lab = scene();
    let outside = picture(&lab.base.join("outside"));
    let link = lab.source("World/decoy");
    symlink(lab.base.join("outside"), &link).unwrap();
    let source = lab.source("World/sub");
    let items = ["World".into()];
    let stop = AtomicBool::new(false);
    let flipped = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                if renameat_with(CWD, &link, CWD, &source, RenameFlags::EXCHANGE).is_ok() {
                    flipped.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        for round in 0..400 {
            let result = lab.copy_items(&worldkeep::ops::tree::calls::Direct, Flush::Singly, &items);
            nothing_leaked(&lab, &outside, &format!("round {round}"));
            // There is a link that leads out at every moment, so no copy can be whole.
            let failure = result.unwrap_err();
            assert_eq!(fs::read_dir(lab.keep()).unwrap().count(), 0, "{failure}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(flipped.load(Ordering::Relaxed) > 0, "the other side never came to its turn");
}
