//! What has no plan, and why.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use worldkeep::model::ServerState;
use worldkeep::model::outline::{Change, Origin};
use worldkeep::model::plan::{Operation, Outcome, Reason, WarningCode};
use worldkeep::ops::draft;

use crate::lab::{Lab, can, is_root, server, traces};
use crate::nobody::done_as_nobody;

#[test]
fn case_25_a_running_server_is_named_with_what_stops_it() {
    let lab = Lab::new();
    let mut outline = lab.restore();
    outline.traces = Some(traces());
    let seen = server(ServerState::Running, &["Process 7 holds it."], &["systemd restarts v: `systemctl stop v`."]);
    let refusal = draft::draft(outline, Some(&seen), &lab.setting()).unwrap_err();
    assert_eq!(refusal.reason, Reason::Running);
    assert!(refusal.text.contains("Process 7") && refusal.text.contains("systemctl stop v"), "{refusal}");
}

#[test]
fn a_link_as_the_world_or_on_the_way_is_refused_with_its_real_path() {
    let lab = Lab::new();
    fs::rename(lab.world("Midgard"), lab.base.join("real")).unwrap();
    symlink(lab.base.join("real"), lab.world("Midgard")).unwrap();
    let real = lab.base.join("real");
    lab.refuses(lab.restore(), Reason::NotCopyable, &["is a link", real.to_str().unwrap()]);
    lab.refuses(lab.delete(&["Midgard"]), Reason::NotCopyable, &["is a link", real.to_str().unwrap()]);

    let lab = Lab::new();
    symlink(lab.worlds(), lab.root().join("worlds")).unwrap();
    let linked = lab.root().join("worlds/A.db");
    lab.refuses(
        lab.outline(Operation::Delete, vec![Change::Park(linked)]),
        Reason::NotCopyable,
        &["A link is part", lab.worlds().to_str().unwrap()],
    );
}

#[test]
fn links_that_lead_out_and_pipes_are_refused_by_name() {
    let lab = Lab::new();
    symlink("../../elsewhere", lab.world("Midgard_backup/sub/out")).unwrap();
    lab.refuses(lab.restore(), Reason::NotCopyable, &["sub/out", "leads out"]);
    fs::remove_file(lab.world("Midgard_backup/sub/out")).unwrap();
    symlink("../world.db", lab.world("Midgard_backup/sub/in")).unwrap();
    lab.plan(lab.restore()).unwrap();
    if can("mkfifo", &[lab.world("Midgard_backup/pipe").to_str().unwrap()]) {
        lab.refuses(lab.restore(), Reason::NotCopyable, &["Midgard_backup/pipe", "a pipe"]);
    }
}

#[test]
fn names_that_are_taken_or_gone_are_refused() {
    let lab = Lab::new();
    let copy = lab.outline(Operation::Copy, vec![lab.put("B.db", "A.db", false)]);
    lab.refuses(copy, Reason::NameTaken, &["A.db"]);
    let restore = lab.outline(Operation::Restore, vec![lab.put("B.db", "None.db", true)]);
    lab.refuses(restore, Reason::SourceGone, &["None.db"]);
    let gone = lab.outline(Operation::Restore, vec![lab.put("None.db", "A.db", true)]);
    lab.refuses(gone, Reason::SourceGone, &["None.db"]);
    let moved = Change::Move { from: lab.world("A.db"), to: lab.world("B.db") };
    lab.refuses(lab.outline(Operation::Rename, vec![moved]), Reason::NameTaken, &["B.db"]);
    let twice = lab.outline(Operation::Delete, vec![Change::Park(lab.world("A.db")), Change::Park(lab.world("A.db"))]);
    lab.refuses(twice, Reason::SourceGone, &["A.db"]);
    let none = Origin::Files { folder: lab.world("Midgard_backup"), names: Vec::new() };
    let none = lab.outline(Operation::Restore, vec![lab.put_of(none, Vec::new(), "Midgard", true)]);
    lab.refuses(none, Reason::NoFinishedSave, &["Midgard_backup"]);
}

#[test]
fn a_name_in_something_else_that_is_renamed_is_refused() {
    let lab = Lab::new();
    let park = |name: &str| Change::Park(lab.world(name));
    let both = lab.outline(Operation::Delete, vec![park("Midgard/world.db"), park("Midgard")]);
    lab.refuses(both, Reason::NotSupported, &["Midgard/world.db", "both"]);
    let other = vec![
        lab.put("B.db", "Midgard/world.db", true),
        Change::Move { from: lab.world("Midgard"), to: lab.world("Asgard") },
    ];
    lab.refuses(lab.outline(Operation::Rename, other), Reason::NotSupported, &["Midgard/world.db"]);
}

#[test]
fn case_33_the_keeping_folder_is_never_where_the_game_looks() {
    let lab = Lab::new();
    let mut outline = lab.restore();
    outline.scanned.push(lab.root());
    let plan = lab.plan(outline).unwrap();
    assert_eq!(plan.content().keep, lab.base.join(".worldkeep"));
    // What is parked looks like a save root all the same.
    assert!(
        plan.content()
            .steps
            .iter()
            .any(|step| format!("{step:?}").contains(&format!("recycle/{}/worlds_local/Midgard", plan.content().name)))
    );
    assert_eq!(lab.carry_out(plan).outcome, Outcome::Done);
    assert!(!lab.keep().exists());

    let mut everywhere = lab.restore();
    everywhere.scanned.push("/".into());
    lab.refuses(everywhere, Reason::NoStage, &["the game looks for saves"]);
}

#[test]
fn a_keeping_folder_that_is_no_folder_is_no_stage() {
    let lab = Lab::new();
    fs::write(lab.keep(), "").unwrap();
    lab.refuses(lab.restore(), Reason::NoStage, &[".worldkeep", "no folder"]);
}

#[test]
fn changes_that_are_switched_off_have_no_plan() {
    let lab = Lab::new();
    let setting = worldkeep::ops::Setting { read_only: true, ..lab.setting() };
    assert_eq!(draft::draft(lab.restore(), None, &setting).unwrap_err().reason, Reason::ReadOnly);
}

#[test]
fn case_11_what_is_immutable_is_found_before_anything_is_touched() {
    if !is_root() {
        eprintln!("skipped: only root can set chattr +i");
        return;
    }
    let lab = Lab::new();
    for (path, flag, word) in
        [(lab.world("Midgard"), "i", "immutable"), (lab.worlds(), "a", "append-only"), (lab.worlds(), "i", "immutable")]
    {
        let path = path.to_str().unwrap();
        if !can("chattr", &[&format!("+{flag}"), path]) {
            return;
        }
        let refusal = lab.plan(lab.restore());
        let shown = Command::new("chattr").args([&format!("-{flag}"), path]).status();
        assert!(shown.is_ok_and(|status| status.success()));
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.reason, Reason::NotPermitted, "{refusal}");
        assert!(refusal.text.contains(path) && refusal.text.contains(word), "{refusal}");
    }
    lab.plan(lab.restore()).unwrap();
}

#[test]
fn as_nobody_what_we_may_not_write_is_refused_before_anything_is_touched() {
    if done_as_nobody("refuse::as_nobody_what_we_may_not_write_is_refused_before_anything_is_touched") {
        return;
    }
    let mode = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let lab = Lab::new();
    mode(&lab.worlds(), 0o555);
    lab.refuses(lab.restore(), Reason::NotPermitted, &[lab.worlds().to_str().unwrap(), "mode 0555"]);
    mode(&lab.worlds(), 0o755);
    // A folder that gets another parent is written itself.
    mode(&lab.world("Midgard"), 0o555);
    lab.refuses(lab.delete(&["Midgard"]), Reason::NotPermitted, &["Midgard"]);
    mode(&lab.world("Midgard"), 0o755);
    mode(&lab.world("Midgard_backup/world.db"), 0);
    let refusal = lab.refusal(lab.restore());
    assert!(refusal.reason == Reason::SourceGone && refusal.text.contains("world.db"), "{refusal}");
    mode(&lab.world("Midgard_backup/world.db"), 0o444);
    assert_eq!(lab.perform(lab.restore()).outcome, Outcome::Done);
    // The keeping folder is there by now, and no other is made beside it.
    mode(&lab.root(), 0o555);
    let plan = lab.plan(lab.delete(&["A.db"])).unwrap();
    assert_eq!(plan.content().keep, lab.keep());
    mode(&lab.keep(), 0o500);
    lab.refuses(lab.delete(&["A.db"]), Reason::NotPermitted, &[".worldkeep"]);
    mode(&lab.keep(), 0o700);
    mode(&lab.root(), 0o755);
}

#[test]
fn in_a_sticky_folder_only_the_owner_may_rename() {
    const MARK: &str = "WORLDKEEP_TEST_STICKY";
    if let Some(base) = std::env::var_os(MARK) {
        let lab = Lab::at(&std::path::PathBuf::from(base).join("mine"));
        let theirs = std::path::Path::new(&std::env::var_os(MARK).unwrap()).join("root/worlds_local");
        let mut outline = lab.outline(Operation::Delete, vec![Change::Park(theirs.join("A.db"))]);
        outline.root = theirs.parent().unwrap().to_path_buf();
        outline.scanned = vec![theirs.clone()];
        let refusal = lab.refusal(outline);
        assert_eq!(refusal.reason, Reason::NotPermitted, "{refusal}");
        assert!(refusal.text.contains("sticky") && refusal.text.contains("1234"), "{refusal}");
        return;
    }
    if !is_root() || !can("setpriv", &["--version"]) {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let lab = Lab::new();
    let open = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&lab.base, 0o755);
    open(&lab.root(), 0o777);
    open(&lab.worlds(), 0o1777);
    chown(lab.world("A.db"), Some(1234), Some(1234)).unwrap();
    fs::create_dir(lab.base.join("mine")).unwrap();
    chown(lab.base.join("mine"), Some(65534), Some(65534)).unwrap();
    let program = lab.base.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let run = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", "refuse::in_a_sticky_folder_only_the_owner_may_rename", "--nocapture"])
        .env(MARK, &lab.base)
        .current_dir("/")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && words.contains("1 passed"), "{words}");
}

#[test]
fn as_nobody_an_owner_that_cannot_be_kept_is_said_and_the_restore_goes_on() {
    const MARK: &str = "WORLDKEEP_TEST_FOREIGN";
    if let Some(base) = std::env::var_os(MARK) {
        let lab = Lab::existing(base.into());
        let plan = lab.plan(lab.restore()).unwrap();
        let warning = plan.content().warnings.iter().find(|warning| warning.code == WarningCode::NotKept).unwrap();
        assert!(warning.text.contains("1234:1234") && warning.text.contains("65534"), "{}", warning.text);
        let done = lab.carry_out(plan);
        assert_eq!(done.outcome, Outcome::Done, "{done:?}");
        assert!(done.told.iter().any(|told| told.contains("could not be kept")), "{done:?}");
        assert_eq!(lab.read("Midgard/sub/zone"), "new");
        return;
    }
    if !is_root() || !can("setpriv", &["--version"]) {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let lab = Lab::new();
    let open = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for path in [lab.base.clone(), lab.root(), lab.worlds(), lab.world("Midgard")] {
        open(&path, 0o777);
    }
    chown(lab.world("Midgard"), Some(1234), Some(1234)).unwrap();
    let program = lab.base.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let run = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args([
            "--exact",
            "refuse::as_nobody_an_owner_that_cannot_be_kept_is_said_and_the_restore_goes_on",
            "--nocapture",
        ])
        .env(MARK, &lab.base)
        .current_dir("/")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && words.contains("1 passed"), "{words}");
}

#[test]
fn attributes_that_are_never_copied_are_said_before_anything_is_asked() {
    if !is_root() {
        eprintln!("skipped: only root can give a file a capability");
        return;
    }
    let lab = Lab::new();
    let not_kept = |lab: &Lab| {
        let warnings = lab.plan(lab.restore()).unwrap().content().warnings.clone();
        warnings.into_iter().filter(|warning| warning.code == WarningCode::NotKept).collect::<Vec<_>>()
    };
    let file = lab.world("Midgard_backup/world.db");
    rustix::fs::setxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).unwrap();
    assert_eq!(not_kept(&lab), []);
    if let Err(error) = rustix::fs::setxattr(&file, "trusted.note", b"x", rustix::fs::XattrFlags::empty()) {
        eprintln!("skipped: no trusted attributes here: {error}");
        return;
    }
    let warnings = not_kept(&lab);
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.text.contains("trusted.note") && warning.text.contains("world.db"), "{}", warning.text);
    let done = lab.perform(lab.restore());
    assert!(
        done.outcome == Outcome::Done && done.told.iter().any(|told| told.contains("could not be kept")),
        "{done:?}"
    );
}

#[test]
fn mounts_of_our_own_that_cannot_be_read_are_said() {
    let lab = Lab::new();
    let proc = lab.base.join("proc");
    fs::create_dir_all(proc.join("self")).unwrap();
    fs::write(proc.join("self/mountinfo"), "").unwrap();
    // One that has ended, and one without mounts, as a zombie is.
    fs::create_dir(proc.join("7")).unwrap();
    let said = || {
        let setting = worldkeep::ops::Setting { proc: proc.clone(), ..lab.setting() };
        let warnings = draft::draft(lab.restore(), None, &setting).unwrap().content().warnings.clone();
        warnings.into_iter().map(|warning| (warning.code, warning.text)).collect::<Vec<_>>()
    };
    assert_eq!(said(), []);
    // Those of others are closed to whoever is not root, on every machine; that alone says nothing.
    fs::create_dir_all(proc.join("8/mountinfo")).unwrap();
    assert_eq!(said(), []);
    // Whatever the reason is, a folder cannot be read as a file, not by root either.
    fs::remove_file(proc.join("self/mountinfo")).unwrap();
    fs::create_dir(proc.join("self/mountinfo")).unwrap();
    let own = said();
    assert_eq!(own.len(), 1, "{own:?}");
    assert!(own[0].0 == WarningCode::LivenessUnknown && own[0].1.contains("self/mountinfo"), "{own:?}");
}

#[test]
fn room_that_is_set_aside_beyond_the_end_of_a_file_does_not_change_the_plan() {
    let lab = Lab::new();
    let file = lab.world("Midgard_backup/world.db");
    let before = lab.plan(lab.restore()).unwrap();
    let meta = fs::metadata(&file).unwrap();
    let opened = fs::OpenOptions::new().write(true).open(&file).unwrap();
    if let Err(error) = rustix::fs::fallocate(&opened, rustix::fs::FallocateFlags::KEEP_SIZE, 0, 8 << 20) {
        eprintln!("skipped: this file system sets no room aside: {error}");
        return;
    }
    opened.set_modified(meta.modified().unwrap()).unwrap();
    drop(opened);
    assert!(std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&file).unwrap()) * 512 >= 8 << 20);
    let after = lab.plan(lab.restore()).unwrap();
    assert_eq!((after.id(), after.content().space.bytes), (before.id(), before.content().space.bytes));
}
