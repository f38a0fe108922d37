//! Each call of making a stage fails once; and what the proof would find.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;
use worldkeep::model::Cancel;
use worldkeep::model::outline::Origin;
use worldkeep::model::plan::{Consent, Operation, Plan, Proof};
use worldkeep::ops::fresh::{Fresh, check};
use worldkeep::ops::stage::{Staged, stage_with};
use worldkeep::ops::tree::calls::{Call, Hook};
use worldkeep::ops::{Failure, State};

use crate::lab::{Lab, picture};

struct At<F> {
    count: Cell<u64>,
    act: F,
}

impl<F: Fn(u64, Call) -> Result<(), Errno>> Hook for At<F> {
    fn before(&self, call: Call) -> Result<(), Errno> {
        let n = self.count.get();
        self.count.set(n + 1);
        (self.act)(n, call)
    }
}

/// A copy with a written file, a new one, and members of an archive; the folder of the stage is made.
fn ready() -> (Lab, Plan) {
    let lab = Lab::fast();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["W/a", "W/sub/b"] {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, b"packed").unwrap();
    }
    lab.write("n.zip", &writer.finish().unwrap().into_inner());
    let members = vec![("W/a".into(), "a".into()), ("W/sub/b".into(), "sub/b".into())];
    let writes = vec![("world.db".into(), b"written".to_vec()), ("sub/new".into(), b"new".to_vec())];
    let changes = vec![
        lab.put_of(Origin::Whole(lab.world("Midgard_backup")), writes, "Midgard", true),
        lab.put_of(Origin::Members { archive: lab.world("n.zip"), members }, Vec::new(), "Unpacked", false),
        lab.put_of(
            Origin::Members { archive: lab.world("n.zip"), members: vec![("W/a".into(), PathBuf::new())] },
            Vec::new(),
            "A.db",
            true,
        ),
    ];
    let plan = lab.plan(lab.outline(Operation::Restore, changes)).unwrap();
    (lab, plan)
}

fn fresh(plan: Plan) -> Fresh {
    check(plan.confirm(&Consent { proof: Proof::Yes, accepted: Vec::new() }).unwrap()).unwrap()
}

fn run(hook: &impl Hook, lab: &Lab, fresh: &Fresh) -> Result<Vec<Staged>, Failure> {
    let stage = lab.keep().join("stage").join(&fresh.plan().content().name);
    let _ = fs::remove_dir_all(lab.keep());
    fs::create_dir_all(stage).unwrap();
    stage_with(hook, fresh, &Cancel::new(), &mut |_| {})
}

#[test]
fn each_call_that_fails_leaves_no_stage_and_the_save_as_it_was() {
    let (lab, plan) = ready();
    let fresh = fresh(plan);
    let before = picture(&lab.worlds());
    let counting = At { count: Cell::new(0), act: |_, _| Ok(()) };
    assert_eq!(run(&counting, &lab, &fresh).unwrap().len(), 3);
    let calls = counting.count.get();
    assert!(calls > 150, "{calls}");
    let (mut failed, mut whole) = (0, 0);
    for error in [Errno::NOSPC, Errno::IO] {
        for n in 0..calls {
            let hook = At { count: Cell::new(0), act: |at, _| if at == n { Err(error) } else { Ok(()) } };
            match run(&hook, &lab, &fresh) {
                Ok(staged) => {
                    whole += 1;
                    assert_eq!(staged.len(), 3);
                }
                Err(failure) => {
                    failed += 1;
                    let stage = lab.keep().join("stage").join(&fresh.plan().content().name);
                    let left: Vec<_> = fs::read_dir(stage).unwrap().map(|entry| entry.unwrap().path()).collect();
                    assert!(left.is_empty(), "{n} {error}: {failure}: {left:?}");
                    assert!(!matches!(failure.state, State::Left { .. }), "{n} {error}: {failure}");
                }
            }
        }
    }
    eprintln!("{calls} calls: {failed} failed, {whole} were whole");
    assert!(failed > whole);
    assert_eq!(picture(&lab.worlds()), before);
}

#[test]
fn bytes_that_change_in_the_stage_are_found_by_the_proof() {
    // Whatever was made is changed at the moment of the last flush of all, behind the back of the maker.
    let (lab, plan) = ready();
    let fresh = fresh(plan);
    let stage = lab.keep().join("stage").join(&fresh.plan().content().name);
    for (file, bytes) in [
        ("0/Midgard_backup/world.db", "Written"),
        ("0/Midgard_backup/sub/new", "newer"),
        ("0/Midgard_backup/sub/zone", "NEW"),
        ("0/Midgard_backup/extra", ""),
        ("1/a", "Packed"),
        ("1/sub/b", "packedx"),
        ("1/extra", ""),
        ("2", "Packed"),
    ] {
        let path = stage.join(file);
        let last = Cell::new(0);
        let counting = At {
            count: Cell::new(0),
            act: |n, call| {
                if call == Call::Fsync {
                    last.set(n);
                }
                Ok(())
            },
        };
        run(&counting, &lab, &fresh).unwrap();
        let hook = At {
            count: Cell::new(0),
            act: |n, _| {
                if n == last.get() + 1 || n + 1 == last.get() + 1 {
                    fs::write(&path, bytes).unwrap();
                }
                Ok(())
            },
        };
        let failure = run(&hook, &lab, &fresh).expect_err(file);
        assert!(failure.to_string().contains("prove"), "{file}: {failure}");
    }
}

#[test]
fn a_mode_or_owner_that_was_not_meant_is_found_by_the_proof() {
    let (lab, plan) = ready();
    let fresh = fresh(plan);
    let stage = lab.keep().join("stage").join(&fresh.plan().content().name);
    let last = Cell::new(0);
    let counting = At {
        count: Cell::new(0),
        act: |n, call| {
            if call == Call::Fsync {
                last.set(n);
            }
            Ok(())
        },
    };
    run(&counting, &lab, &fresh).unwrap();
    for file in ["0/Midgard_backup/world.db", "1/a", "2"] {
        let hook = At {
            count: Cell::new(0),
            act: |n, _| {
                if n == last.get() {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                    fs::set_permissions(stage.join(file), mode).unwrap();
                }
                Ok(())
            },
        };
        let failure = run(&hook, &lab, &fresh).expect_err(file);
        assert!(failure.to_string().contains("mode 0777"), "{file}: {failure}");
    }
}
