//! What is refused, and what is told.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use worldkeep::model::plan::{Outcome, Reason};
use worldkeep::model::{Cancel, ServerState};
use worldkeep::ops::Setting;
use worldkeep::ops::recover::{Became, recover, recover_with};
use worldkeep::ops::run::{Done, run_with};
use worldkeep::ops::tree::calls::{Call, Direct};

use crate::drafts;
use crate::lab::{At, CASES, Case, Lab, both_states, server};

fn reason(done: &Done) -> Reason {
    match &done.outcome {
        Outcome::Refused(refusal) => refusal.reason,
        other => panic!("not refused: {other:?}"),
    }
}

/// Stops an operation when so many exchanges are made: no call works from then on.
fn broken_off(lab: &Lab, case: Case, exchanges: u64) {
    let draft = lab.plan(case);
    let made = Cell::new(0);
    let hook = At::new(|_, call| {
        if made.get() == exchanges {
            return Err(rustix::io::Errno::IO);
        }
        made.set(made.get() + u64::from(call == Call::Exchange));
        Ok(())
    });
    let done = lab.run(&hook, draft);
    assert!(matches!(done.outcome, Outcome::Unfinished { .. }), "{case:?}: {done:?}");
    assert!(lab.keep().join("journal").is_file(), "{case:?}: there is no journal");
}

#[test]
fn a_server_that_came_up_while_the_new_state_was_made_refuses_and_nothing_is_left() {
    for case in CASES {
        let (lab, draft) = Lab::ready(case);
        let before = lab.state();
        let done = lab.run_seen(&Direct, &|_, _| server(ServerState::Running), draft);
        assert_eq!(reason(&done), Reason::Running, "{case:?}");
        assert_eq!((lab.state(), lab.leftovers()), (before, Vec::new()), "{case:?}");
        let others = matches!(case, Case::UndoRestore | Case::UndoPair | Case::UndoDelete | Case::Purge);
        assert_eq!(lab.keep().exists(), others, "{case:?}: a keeping folder that nothing needs");
    }
}

#[test]
fn a_server_that_comes_up_during_the_renames_is_told() {
    let (lab, draft) = Lab::ready(Case::RestoreFolder);
    let looks = Cell::new(0);
    let look = |_: &_, _: &_| {
        looks.set(looks.get() + 1);
        server(if looks.get() == 1 { ServerState::Stopped } else { ServerState::Running })
    };
    let done = lab.run_seen(&Direct, &look, draft);
    assert_eq!((&done.outcome, done.server_came_up, looks.get()), (&Outcome::Done, true, 2));
    assert!(done.told.concat().contains("A server came up") && done.told.concat().contains("Process 7."), "{done:?}");
}

#[test]
fn who_stops_it_before_the_journal_leaves_nothing() {
    let (lab, draft) = Lab::ready(Case::RestorePair);
    let before = lab.state();
    let cancel = Cancel::new();
    let look = |_: &_, _: &_| server(ServerState::Unknown);
    let done = run_with(&Direct, &look, &drafts::fresh(draft), &lab.setting(), &cancel, &mut |_| cancel.stop());
    assert_eq!((done.outcome, lab.state()), (Outcome::Cancelled, before));
    assert!(!lab.keep().exists());
}

#[test]
fn one_at_a_time_by_the_lock_and_not_by_the_file() {
    let (lab, draft) = Lab::ready(Case::RestoreFolder);
    fs::create_dir(lab.keep()).unwrap();
    fs::set_permissions(lab.keep(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(lab.keep().join("lock"), "4242\n").unwrap();
    let held = fs::File::open(lab.keep().join("lock")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let before = lab.state();
    let done = lab.run(&Direct, draft.clone());
    assert_eq!(reason(&done), Reason::Busy);
    assert!(format!("{done:?}").contains("4242"), "{done:?}");
    assert_eq!(lab.state(), before);
    drop(held);
    assert_eq!(lab.run(&Direct, draft).outcome, Outcome::Done);
}

#[test]
fn changes_that_are_switched_off_change_nothing_and_a_recovery_only_tells() {
    let (lab, draft) = Lab::ready(Case::RestoreFolder);
    let before = lab.state();
    let off = |lab: &Lab| Setting { read_only: true, ..lab.setting() };
    let look = |_: &_, _: &_| server(ServerState::Stopped);
    let done = run_with(&Direct, &look, &drafts::fresh(draft), &off(&lab), &Cancel::new(), &mut |_| {});
    assert_eq!((reason(&done), lab.state(), lab.keep().exists()), (Reason::ReadOnly, before, false));

    broken_off(&lab, Case::RestoreFolder, 1);
    let names = lab.names();
    let told = recover_with(&Direct, &look, &[lab.keep()], &off(&lab));
    assert_eq!((told.len(), told[0].became, lab.names()), (1, Became::Left, names));
    assert!(told[0].text.contains("'Midgard'"), "{told:?}");
}

#[test]
fn a_journal_that_cannot_be_used_blocks_and_is_left_alone() {
    let newer = br#"{"kind":"worldkeep operation","schema":2,"anything":[]}"#.as_slice();
    let journals = [
        (newer, Reason::NewerJournal, Became::Newer),
        (b"{\"kind\":\"worldkeep oper", Reason::Unfinished, Became::Left),
        (b"", Reason::Unfinished, Became::Left),
        (b"a shopping list", Reason::Unfinished, Became::Left),
    ];
    for (bytes, refused, became) in journals {
        let (lab, draft) = Lab::ready(Case::RestoreFolder);
        fs::create_dir(lab.keep()).unwrap();
        fs::set_permissions(lab.keep(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(lab.keep().join("journal"), bytes).unwrap();
        let before = lab.state();
        assert_eq!(reason(&lab.run(&Direct, draft)), refused);
        let told = lab.recover(&Direct);
        assert_eq!((told.len(), told[0].became), (1, became), "{told:?}");
        assert_eq!(lab.state(), before);
        assert_eq!(fs::read(lab.keep().join("journal")).unwrap(), bytes);
    }
}

#[test]
fn what_somebody_else_put_in_the_place_of_a_world_is_not_touched() {
    let lab = Lab::new();
    broken_off(&lab, Case::RestoreFolder, 1);
    fs::rename(lab.world("Midgard"), lab.world("elsewhere")).unwrap();
    let names = lab.names();
    let told = lab.recover(&Direct);
    assert_eq!((told.len(), told[0].became), (1, Became::Left));
    assert!(told[0].text.contains(&lab.world("Midgard").display().to_string()), "{told:?}");
    assert!(told[0].text.contains("is nothing") && told[0].text.contains("the old state"), "{told:?}");
    let made = |names: Vec<std::path::PathBuf>| names.into_iter().filter(|n| !n.ends_with("lock")).collect::<Vec<_>>();
    assert_eq!(made(lab.names()), made(names));
}

#[test]
fn a_recovery_waits_for_a_server_to_stop_where_it_would_have_to_rename_a_world() {
    let (old, new) = both_states(Case::Delete);
    let (lab, draft) = Lab::ready(Case::Delete);
    let renames = Cell::new(0);
    // The second of three renames fails, and so does taking the first one back.
    lab.run(
        &At::new(|_, call| {
            renames.set(renames.get() + u64::from(call == Call::RenameNew));
            if call == Call::RenameNew && renames.get() > 2 { Err(rustix::io::Errno::IO) } else { Ok(()) }
        }),
        draft,
    );
    assert!(lab.keep().join("journal").is_file());
    let told = recover_with(&Direct, &|_, _| server(ServerState::Running), &[lab.keep()], &lab.setting());
    assert_eq!((told.len(), told[0].became), (1, Became::Left));
    assert!(told[0].text.contains("Stop the server") && told[0].text.contains("Process 7."), "{told:?}");
    assert_ne!(lab.state().live, old.live);
    assert_eq!(lab.recover(&Direct)[0].became, Became::Finished);
    assert_eq!(lab.state(), new);
}

#[test]
fn a_server_that_saved_after_the_exchange_is_no_obstacle_to_parking() {
    let lab = Lab::new();
    broken_off(&lab, Case::RestorePair, 2);
    // As a game does: another file under the name.
    fs::write(lab.world("A.db.new"), b"saved since").unwrap();
    fs::rename(lab.world("A.db.new"), lab.world("A.db")).unwrap();
    let told = lab.recover(&Direct);
    assert_eq!((told.len(), told[0].became), (1, Became::Finished), "{told:?}");
    assert_eq!(fs::read(lab.world("A.db")).unwrap(), b"saved since");
    let parked = lab.keep().join("recycle").join(crate::lab::NAME).join("worlds_local");
    assert_eq!(fs::read(parked.join("A.db")).unwrap(), b"old db");
    assert_eq!(fs::read(parked.join("A.fwl")).unwrap(), b"old fwl");
}

#[test]
fn a_keeping_folder_that_is_a_link_or_open_to_others_is_not_used() {
    let outside = TempDir::new().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    for open_to_all in [false, true] {
        let (lab, draft) = Lab::ready(Case::Delete);
        if open_to_all {
            fs::create_dir(lab.keep()).unwrap();
            fs::set_permissions(lab.keep(), fs::Permissions::from_mode(0o777)).unwrap();
        } else {
            symlink(&outside, lab.keep()).unwrap();
        }
        let before = lab.state();
        assert_eq!(reason(&lab.run(&Direct, draft)), Reason::NoStage);
        assert_eq!((lab.state(), fs::read_dir(&outside).unwrap().count()), (before, 0));
    }
}

#[test]
fn the_state_folder_finds_what_was_interrupted_in_a_save_that_nobody_names() {
    let lab = Lab::new();
    broken_off(&lab, Case::RestoreFolder, 1);
    let told = recover(&[], &lab.setting());
    assert_eq!((told.len(), told[0].became), (1, Became::Finished), "{told:?}");
    assert_eq!(recover(&[], &lab.setting()), Vec::new());
}

#[test]
fn a_save_that_was_moved_is_recovered_where_it_is_now() {
    let lab = Lab::new();
    broken_off(&lab, Case::RestoreFolder, 1);
    let moved = lab.base.join("moved");
    fs::rename(lab.root(), &moved).unwrap();
    let look = |_: &_, _: &_| server(ServerState::Stopped);
    let told = recover_with(&Direct, &look, &[moved.join(".worldkeep")], &lab.setting());
    assert_eq!((told.len(), told[0].became), (1, Became::Finished), "{told:?}");
    let world = fs::read(moved.join("worlds_local/Midgard/world.db")).unwrap();
    assert_eq!(world, b"new bytes, some more of them");
}

/// Fills a file system to its last byte.
fn fill(root: &Path) {
    use std::io::Write as _;
    let mut file = fs::File::create(root.join("filler")).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    let mut n = 0;
    while fs::write(root.join(format!("filler-{n}")), [1; 512]).is_ok() {
        n += 1;
    }
}

#[test]
fn on_a_full_disk_what_only_renames_works_and_what_copies_changes_nothing() {
    for case in [Case::Delete, Case::UndoRestore, Case::UndoPair, Case::UndoDelete, Case::Purge, Case::RestoreFolder] {
        let temp = TempDir::new().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(temp.path()).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: cannot mount here");
            return;
        }
        let path = temp.path().to_path_buf();
        let lab = Lab::on(temp);
        // Something was done here before, so that room for a journal is kept.
        let first = drafts::delete(&[&lab.world("Neighbour")], &lab.keep(), "00000000ffff");
        assert_eq!(lab.run(&Direct, first.draft()).outcome, Outcome::Done);
        let draft = lab.plan(case);
        fill(&lab.base);
        let before = lab.state();
        let done = lab.run(&Direct, draft);
        let after = lab.state();
        let left = lab.leftovers();
        drop(lab);
        let _ = Command::new("umount").arg("-l").arg(&path).status();
        if case == Case::RestoreFolder {
            assert!(matches!(&done.outcome, Outcome::Unchanged { .. } | Outcome::Refused(_)), "{done:?}");
            assert_eq!((after, left.len()), (before, 0));
        } else {
            assert_eq!((&done.outcome, left.len()), (&Outcome::Done, 0), "{case:?}: {done:?}");
            assert_ne!(after, before);
        }
    }
}
