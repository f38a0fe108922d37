//! Every system call of a copy fails in every way, once and from then on.

use std::collections::BTreeSet;
use std::fs;

use rustix::io::Errno;
use worldkeep::ops::compare::Kind;
use worldkeep::ops::tree::calls::Call;
use worldkeep::ops::tree::{Copied, Flush};
use worldkeep::ops::{Failure, State};

use crate::lab::{At, Lab, calls_of, noise, picture};

const ERRORS: [Errno; 7] =
    [Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::ROFS, Errno::DQUOT, Errno::MFILE, Errno::INTR];

/// Small, but with every kind of call in it.
fn small() -> Lab {
    let lab = Lab::fast();
    lab.file("World/one", &noise(3000)).file("World/sub/two", b"two");
    fs::hard_link(lab.source("World/sub/two"), lab.source("World/zwei")).unwrap();
    std::os::unix::fs::symlink("one", lab.source("World/link")).unwrap();
    fs::File::create(lab.source("World/sparse")).unwrap().set_len(1 << 20).unwrap();
    let _ = rustix::fs::setxattr(lab.source("World/one"), "user.note", b"x", rustix::fs::XattrFlags::empty());
    lab.dated().owned_by(1234, 100);
    lab
}

/// What must hold after each run; the words say which run it was.
fn check(lab: &Lab, result: &Result<Copied, Failure>, what: &str) {
    match result {
        Ok(copied) => {
            let proof = lab.compare();
            let explained = proof.differences.iter().all(|difference| {
                matches!(difference.kind, Kind::Attribute(_) | Kind::Owner { .. } | Kind::Mode { .. })
                    && copied.lost.iter().any(|loss| loss.path == difference.path)
            });
            assert!(explained, "{what}: {:?}", proof.differences);
        }
        Err(failure) => {
            let left = fs::read_dir(lab.keep()).unwrap().count();
            let words = failure.to_string();
            match &failure.state {
                State::Left { stage, things } => {
                    assert!(*things > 0 && words.contains(&stage.display().to_string()), "{what}: {words}");
                    assert_eq!(left, 1, "{what}: said to be left, and is not: {words}");
                }
                State::NothingMade | State::Removed => assert_eq!(left, 0, "{what}: left without a word: {words}"),
            }
            assert!(words.starts_with("Could not ") && words.contains("The source is what it was."), "{what}: {words}");
            assert!(words.contains(&failure.path.display().to_string()), "{what}: {words}");
            assert!(!failure.path.as_os_str().is_empty(), "{what}: {words}");
        }
    }
}

fn sweep(flush: Flush, without: Option<Call>) {
    let lab = small();
    let before = picture(&lab.source(""));
    let lacks = |call| match without {
        Some(lacking) if lacking == call => Err(Errno::NOSYS),
        _ => Ok(()),
    };
    let calls = if without.is_some() {
        let count = At::new(|_, call| lacks(call));
        lab.copy_hooked(&count, flush).unwrap();
        lab.clear();
        count.count.get()
    } else {
        calls_of(&lab, flush).len() as u64
    };
    let (mut failed, mut runs) = (0, 0);
    for error in ERRORS {
        for for_good in [false, true] {
            for at in 0..calls {
                let hook = At::new(|n, call| {
                    lacks(call)?;
                    if n == at || (for_good && n > at) { Err(error) } else { Ok(()) }
                });
                let result = lab.copy_hooked(&hook, flush);
                let what = format!("{flush:?}, call {at} of {calls}, {error}, for good: {for_good}");
                check(&lab, &result, &what);
                assert!(hook.count.get() < calls * 120, "{what}: it never gives up");
                if !for_good && error != Errno::INTR {
                    assert!(!matches!(&result, Err(Failure { state: State::Left { .. }, .. })), "{what}");
                }
                if for_good && at + 1 < calls && at > 0 {
                    // Flushing comes last, and nothing excuses that.
                    assert!(result.is_err(), "{what}");
                }
                failed += u64::from(result.is_err());
                runs += 1;
                lab.clear();
            }
        }
    }
    assert_eq!(picture(&lab.source("")), before);
    assert!(failed * 3 > runs, "{failed} of {runs}");
    eprintln!("{runs} copies with a fault ({calls} calls), {failed} of them failed, none was torn");
}

#[test]
fn a_fault_at_any_call_leaves_no_copy_or_a_whole_one() {
    sweep(Flush::Singly, None);
}

#[test]
fn the_same_when_all_is_flushed_at_once() {
    sweep(Flush::AtOnce, None);
}

#[test]
fn the_same_without_openat2_and_without_the_kernel_copying() {
    sweep(Flush::Singly, Some(Call::Openat2));
    sweep(Flush::Singly, Some(Call::CopyRange));
}

#[test]
fn every_kind_of_call_is_among_those_that_fail() {
    let lab = small();
    let mut seen: BTreeSet<String> = [Flush::Singly, Flush::AtOnce]
        .iter()
        .flat_map(|flush| calls_of(&lab, *flush))
        .map(|c| format!("{c:?}"))
        .collect();
    let bare = At::new(|_, call| if call == Call::CopyRange { Err(Errno::XDEV) } else { Ok(()) });
    lab.copy_hooked(&bare, Flush::Singly).unwrap();
    let names = std::cell::RefCell::new(BTreeSet::new());
    lab.clear();
    let broken = At::new(|_, call| {
        names.borrow_mut().insert(format!("{call:?}"));
        if call == Call::CopyRange {
            Err(Errno::XDEV)
        } else if call == Call::Fsync {
            Err(Errno::IO)
        } else {
            Ok(())
        }
    });
    lab.copy_hooked(&broken, Flush::AtOnce).unwrap_err();
    seen.extend(names.borrow().iter().cloned());
    for call in [
        "Openat2",
        "Open",
        "Create",
        "Mkdir",
        "Stat",
        "List",
        "ReadLink",
        "Symlink",
        "Link",
        "Unlink",
        "Clone",
        "CopyRange",
        "Seek",
        "Read",
        "Write",
        "Truncate",
        "Chmod",
        "Times",
        "ListAttributes",
        "Fsync",
        "Syncfs",
    ] {
        assert!(seen.contains(call), "{call} is never made; those that are: {seen:?}");
    }
}

#[test]
fn a_flush_that_fails_is_not_tried_again() {
    let lab = small();
    for (flush, wanted) in [(Flush::Singly, Call::Fsync), (Flush::AtOnce, Call::Syncfs)] {
        for error in [Errno::IO, Errno::NOSPC, Errno::INTR] {
            let flushed = std::cell::Cell::new(0);
            let hook = At::new(|_, call| {
                if call == wanted {
                    flushed.set(flushed.get() + 1);
                    // Only the first fails: who tries again is told that all is well, as the kernel does.
                    return if flushed.get() == 1 { Err(error) } else { Ok(()) };
                }
                Ok(())
            });
            let failure = lab.copy_hooked(&hook, flush).unwrap_err();
            assert!(failure.to_string().contains("make durable"), "{failure}");
            assert_eq!(failure.state, State::Removed);
            // The folder that held the stage is flushed once more after the removal.
            assert!(flushed.get() <= 2, "{}", flushed.get());
        }
    }
}
