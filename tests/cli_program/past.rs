//! What was done before, through the program: history, undo, purge, recover. The operations themselves are plans made here.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde_json::Value;
use worldkeep::model::Cancel;
use worldkeep::model::outline::Preview;
use worldkeep::model::plan::{Consent, Draft, Operation, Outcome, Proof, Reason, Refusal, Space, Step, Witness};
use worldkeep::ops::keep::{journal_of, record_of, recycle_of, stage_of};
use worldkeep::ops::record::{Record, Renamed};
use worldkeep::ops::{Setting, ask, fresh};

use crate::house::{House, NOW, Run};

/// A house with a save, and another state of its world beside it.
struct Save {
    house: House,
    root: PathBuf,
    keep: PathBuf,
}

const RESTORE: &str = "aaaaaaaaaaa1";
const DELETE: &str = "bbbbbbbbbbb2";

impl Save {
    fn new() -> Self {
        let house = House::with_fixtures(&["folder-sound"]);
        house.fixture("folder-sound/worlds_local/Midgard", "other/Midgard");
        let root = house.path("folder-sound").canonicalize().unwrap();
        fs::write(house.path("other/Midgard/mark"), "another state").unwrap();
        let keep = root.join(".worldkeep");
        Self { house, root, keep }
    }

    fn live(&self) -> PathBuf {
        self.root.join("worlds_local/Midgard")
    }

    fn setting(&self) -> Setting {
        Setting {
            now: NOW.parse().unwrap(),
            zone: TimeZone::UTC,
            state: Some(self.house.path("../home/.local/state/worldkeep")),
            proc: "/proc".into(),
            read_only: false,
        }
    }

    fn done(&self, operation: Operation, name: &str, steps: Vec<Step>) {
        let witnesses = vec![Witness { path: self.live(), was: fresh::fingerprint(&self.live()).unwrap() }];
        let draft = Draft {
            operation,
            subject: "Midgard".into(),
            name: name.into(),
            undoes: None,
            restored: None,
            keep: self.keep.clone(),
            steps,
            preview: Preview { done: "Done by a test.".into(), ..Preview::default() },
            traces: None,
            bytes: 0,
            space: Space { on: self.root.clone(), bytes: 0 },
            warnings: Vec::new(),
            witnesses,
        };
        let consent = Consent { proof: Proof::Yes, accepted: Vec::new() };
        for _ in 0..200 {
            let confirmed = draft.clone().seal().confirm(&consent).unwrap();
            let done = ask::perform(confirmed, &self.setting(), &Cancel::new(), &mut |_| ());
            let busy = |refusal: &Refusal| refusal.reason == Reason::Busy;
            if matches!(&done.outcome, Outcome::Refused(refusal) if busy(refusal)) {
                // A program that another test starts has our open files until it is itself, and with them the lock.
                std::thread::sleep(std::time::Duration::from_millis(20));
                continue;
            }
            assert_eq!(done.outcome, Outcome::Done, "{done:?}");
            return;
        }
        panic!("the lock was never free");
    }

    /// The other state takes the place of the live one.
    fn restored(self) -> Self {
        let stage = stage_of(&self.keep, RESTORE).join("0");
        let from = self.house.path("other").canonicalize().unwrap();
        self.done(
            Operation::Restore,
            RESTORE,
            vec![
                Step::Copy { from, items: vec!["Midgard".into()], to: stage.clone() },
                Step::Exchange { stage: stage.join("Midgard"), live: self.live() },
                Step::Park {
                    from: stage.join("Midgard"),
                    to: recycle_of(&self.keep, RESTORE).join("worlds_local/Midgard"),
                },
            ],
        );
        assert!(self.is_other());
        self
    }

    fn deleted(self) -> Self {
        let to = recycle_of(&self.keep, DELETE).join("worlds_local/Midgard");
        self.done(Operation::Delete, DELETE, vec![Step::Park { from: self.live(), to }]);
        assert!(!self.live().exists());
        self
    }

    fn is_other(&self) -> bool {
        self.live().join("mark").exists()
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut all = vec!["--root", "folder-sound"];
        all.extend(args);
        self.house.run(&all)
    }

    fn json(&self, args: &[&str]) -> (Value, Option<i32>) {
        let mut all = vec!["--root", "folder-sound"];
        all.extend(args);
        self.house.json(&all)
    }

    fn reason(&self, args: &[&str]) -> String {
        let (document, code) = self.json(args);
        assert_eq!(code, Some(4), "{args:?}: {document:#}");
        let outcome = &document["operations"][0]["outcome"];
        assert_eq!(outcome["state"], "refused", "{args:?}");
        outcome["reason"].as_str().unwrap().to_owned()
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn an_undo_brings_the_old_state_back_and_can_be_undone() {
    let save = Save::new();
    let was = fs::metadata(save.live()).unwrap().ino();
    let save = save.restored();
    let (dry, code) = save.json(&["undo", "--dry-run"]);
    assert_eq!((code, save.is_other()), (Some(0), true));
    let plan = &dry["operations"][0]["plan"];
    assert_eq!((&plan["undoes"], &plan["operation"]), (&RESTORE.into(), &"undo".into()));
    let id = plan["id"].as_str().unwrap();
    assert_eq!(dry["operations"][0]["outcome"], Value::Null);

    let (done, code) = save.json(&["undo", &format!("--yes={id}")]);
    assert_eq!((code, save.is_other()), (Some(0), false), "{done:#}");
    assert_eq!(fs::metadata(save.live()).unwrap().ino(), was, "only names change");
    assert_eq!(done["operations"][0]["plan"], *plan, "what was shown is what was done");
    let undo = done["operations"][0]["outcome"]["name"].as_str().unwrap().to_owned();

    // The one step is taken back; what took it back is no further step.
    assert_eq!(save.reason(&["undo", "--yes"]), "nothing-to-undo");
    assert_eq!(save.reason(&["undo", RESTORE, "--yes"]), "nothing-to-undo");
    let again = save.run(&["undo", &undo, "--yes"]);
    assert_eq!((again.code, save.is_other()), (Some(0), true), "{}", again.err);
    assert!(again.out.contains("To take that back: worldkeep undo "), "{}", again.out);
    // And now the operation is in force again, under the name of what brought it back.
    let back = save.run(&["undo", "--yes", "--quiet"]);
    assert_eq!((back.code, save.is_other(), back.out.as_str()), (Some(0), false, ""), "{}", back.err);
    let (history, _) = save.json(&["history"]);
    assert_eq!(history["history"].as_array().unwrap().len(), 4);
}

#[test]
fn a_plan_that_was_seen_is_the_only_one_that_its_id_runs() {
    let save = Save::new().restored();
    let (dry, _) = save.json(&["undo", "--dry-run"]);
    let id = dry["operations"][0]["plan"]["id"].as_str().unwrap().to_owned();
    let (same, _) = save.json(&["undo", "--dry-run"]);
    assert_eq!(same["operations"][0]["plan"], dry["operations"][0]["plan"], "the same on an unchanged disk");
    fs::write(save.live().join("new.chunk"), "saved by a server").unwrap();
    assert_eq!(save.reason(&["undo", &format!("--yes={id}")]), "other-plan");
    assert_eq!(save.reason(&["undo", "--yes=0000000000000000"]), "other-plan");
    assert_eq!(save.reason(&["undo", "--yes=xyz"]), "other-plan");
    assert!(save.is_other(), "nothing was done");
    let (now, _) = save.json(&["undo", "--dry-run"]);
    let warnings = &now["operations"][0]["plan"]["warnings"];
    assert_eq!(warnings[0]["code"], "changed-since", "{warnings:#}");
    // It is no obstacle: what changed is kept.
    assert_eq!(save.run(&["undo", "--yes"]).code, Some(0));
    let kept = fs::read_dir(save.keep.join("recycle")).unwrap().next().unwrap().unwrap().path();
    assert!(kept.join("worlds_local/Midgard/new.chunk").exists());
}

#[test]
fn without_a_yes_and_without_a_terminal_nothing_is_done() {
    let save = Save::new().restored();
    for args in [&["undo"][..], &["purge"], &["undo", RESTORE]] {
        assert_eq!(save.reason(args), "not-confirmed", "{args:?}");
        let run = save.run(args);
        assert_eq!(run.code, Some(4));
        assert!(run.err.contains("(not-confirmed)") && run.err.contains("--dry-run"), "{}", run.err);
    }
    assert!(save.is_other() && recycle_of(&save.keep, RESTORE).exists());
}

#[test]
fn read_only_takes_the_verbs_away_and_leaves_the_history() {
    let save = Save::new().restored();
    for args in [
        &["undo", "--yes"][..],
        &["undo", "--dry-run"],
        &["purge", "--yes"],
        &["delete", "folder-sound", "--yes"],
        &["backup", "folder-sound", "--dry-run"],
    ] {
        let mut all = vec!["--read-only"];
        all.extend(args);
        assert_eq!(save.reason(&all), "read-only", "{args:?}");
    }
    assert!(save.is_other() && save.live().exists());
    let (history, code) = save.json(&["history", "--read-only"]);
    assert_eq!((code, history["history"].as_array().unwrap().len()), (Some(0), 1));
}

#[test]
fn a_later_operation_on_the_same_world_comes_first() {
    let save = Save::new().restored().deleted();
    let run = save.run(&["undo", RESTORE, "--yes"]);
    assert_eq!(run.code, Some(4));
    assert!(run.err.contains("undo that first") && run.err.contains(DELETE), "{}", run.err);
    assert_eq!(save.run(&["undo", "--yes"]).code, Some(0), "the deletion");
    assert!(save.is_other());
    assert_eq!(save.run(&["undo", "--yes"]).code, Some(0), "and then the restore");
    assert!(!save.is_other() && save.live().exists());
}

#[test]
fn what_came_to_a_name_meanwhile_is_put_aside_and_not_lost() {
    let save = Save::new().deleted();
    fs::create_dir(save.live()).unwrap();
    fs::write(save.live().join("fresh"), "a new world").unwrap();
    let (dry, _) = save.json(&["undo", "--dry-run"]);
    let plan = &dry["operations"][0]["plan"];
    assert_eq!(plan["preview"]["type_name"], "Midgard");
    assert_eq!(plan["warnings"][0]["code"], "changed-since");
    let (done, code) = save.json(&["undo", "--yes"]);
    assert_eq!(code, Some(0));
    assert!(!save.live().join("fresh").exists() && save.live().exists());
    let undo = done["operations"][0]["outcome"]["name"].as_str().unwrap();
    assert!(recycle_of(&save.keep, undo).join("worlds_local/Midgard/fresh").exists());
}

#[test]
fn what_is_not_kept_any_more_cannot_come_back() {
    let save = Save::new().restored();
    fs::remove_dir_all(recycle_of(&save.keep, RESTORE)).unwrap();
    let run = save.run(&["undo", "--yes"]);
    assert_eq!(run.code, Some(4));
    assert!(run.err.contains("is not kept any more"), "{}", run.err);
    let (history, _) = save.json(&["history"]);
    let entry = &history["history"][0];
    assert_eq!((&entry["undo"]["possible"], &entry["parked_bytes"]), (&false.into(), &0.into()));
}

#[test]
fn a_purge_removes_for_good_and_follows_no_link() {
    let save = Save::new();
    fs::create_dir(save.house.path("shared")).unwrap();
    fs::write(save.house.path("shared/mods"), "of all worlds").unwrap();
    symlink(save.house.path("shared"), save.live().join("link")).unwrap();
    let save = save.restored().deleted();
    let (dry, code) = save.json(&["purge", "--dry-run"]);
    assert_eq!(code, Some(0));
    let plan = &dry["operations"][0]["plan"];
    assert_eq!((plan["steps"].as_array().unwrap().len(), &plan["preview"]["type_name"]), (2, &"Midgard".into()));
    assert!(recycle_of(&save.keep, RESTORE).exists());

    // Nothing is that old; one that is named goes alone.
    let old = save.run(&["purge", "--older", "1", "--yes"]);
    assert_eq!((old.code, old.out.as_str()), (Some(0), "Nothing that is kept is that old.\n"));
    let one = save.run(&["purge", RESTORE, "--yes"]);
    assert_eq!(one.code, Some(0), "{}", one.err);
    assert!(one.out.contains("Removed what one operation had put aside"), "{}", one.out);
    assert!(!recycle_of(&save.keep, RESTORE).exists() && recycle_of(&save.keep, DELETE).exists());
    assert_eq!(fs::read_to_string(save.house.path("shared/mods")).unwrap(), "of all worlds");

    let (history, _) = save.json(&["history"]);
    let entry = |name: &str| history["history"].as_array().unwrap().iter().find(|e| e["name"] == name).unwrap();
    assert_eq!(entry(RESTORE)["undo"]["possible"], false);
    assert!(entry(RESTORE)["undo"]["text"].as_str().unwrap().contains("removed for good by the purge"));
    assert_eq!(entry(DELETE)["undo"]["possible"], true);
    // The last step can still be taken back; a purge itself is none.
    assert_eq!(save.run(&["undo", "--yes"]).code, Some(0));
    assert!(save.is_other());
    let all = save.run(&["purge", "--older", "0", "--yes"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    let (again, code) = save.json(&["purge", "--yes"]);
    assert_eq!((code, &again["operations"]), (Some(0), &serde_json::json!([])));
}

#[test]
fn the_history_says_what_was_done_and_what_an_undo_would_do() {
    let save = Save::new().restored().deleted();
    let (document, code) = save.json(&["history"]);
    assert_eq!(code, Some(0));
    assert_eq!(keys(&document), ["schema", "history", "messages"]);
    let entries = document["history"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, [DELETE, RESTORE], "newest first");
    let wanted =
        ["name", "operation", "subject", "at", "keep", "moves", "removes", "done", "undone_by", "parked_bytes", "undo"];
    assert_eq!(keys(&entries[0]), wanted);
    assert!(entries[0]["parked_bytes"].as_u64().unwrap() > 1000);
    assert_eq!(entries[0]["undo"]["text"], "Brings worlds_local/Midgard back.");
    assert_eq!(entries[1]["undo"]["possible"], false);
    let text = save.run(&["history"]);
    assert!(text.out.starts_with(&format!("{DELETE}  2026-11-30 12:00:00  delete   Midgard  ")), "{}", text.out);
    assert!(text.out.contains("`worldkeep purge` frees them"), "{}", text.out);
    // Of other saves nothing is told where only some are meant; without that everything that is remembered is.
    let elsewhere = save.house.json(&["--root", "other", "history"]).0;
    assert_eq!(elsewhere["history"], serde_json::json!([]));
    assert_eq!(save.house.json(&["history"]).0["history"].as_array().unwrap().len(), 2);
    assert_eq!(save.house.json(&["history", "folder-sound"]).0["history"].as_array().unwrap().len(), 2);
}

#[test]
fn records_that_cannot_be_used_are_told_and_nothing_of_them_is_lost() {
    let save = Save::new().restored();
    let newer = String::from_utf8(fs::read(record_of(&save.keep, RESTORE)).unwrap()).unwrap();
    let newer = newer.replacen("\"schema\":1", "\"schema\":7", 1);
    fs::write(record_of(&save.keep, "ccccccccccc3"), newer).unwrap();
    let torn = fs::read(record_of(&save.keep, RESTORE)).unwrap();
    fs::write(record_of(&save.keep, "ddddddddddd4"), &torn[..torn.len() / 2]).unwrap();
    fs::write(record_of(&save.keep, "eeeeeeeeeee5"), torn).unwrap();
    fs::write(save.keep.join("history/notes.txt"), "mine").unwrap();
    symlink("/etc/passwd", record_of(&save.keep, "fffffffffff6")).unwrap();
    let stray = recycle_of(&save.keep, "999999999999").join("worlds_local");
    fs::create_dir_all(&stray).unwrap();
    fs::write(stray.join("Midgard.db"), "mine").unwrap();
    let (document, code) = save.json(&["history"]);
    assert_eq!(code, Some(6), "not everything could be read");
    assert_eq!(document["history"].as_array().unwrap().len(), 1);
    let told = document["messages"].to_string();
    for words in [
        "a newer version",
        "it ends too early",
        "of another operation than its name says",
        "notes.txt",
        "it is no plain file",
        "999999999999' was put aside by an operation that is not on record",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    // The one that can be read is as good as ever.
    assert_eq!(save.run(&["undo", "--yes"]).code, Some(0));
    assert!(recycle_of(&save.keep, "999999999999").exists(), "a purge removes only what is on record");
    assert_eq!(save.run(&["purge", "--yes"]).code, Some(0));
    assert_eq!(fs::read(stray.join("Midgard.db")).unwrap(), b"mine");
}

#[test]
fn an_operation_is_named_by_its_beginning() {
    let save = Save::new().restored().deleted();
    let gone = save.run(&["undo", "123", "--yes"]);
    assert_eq!((gone.code, gone.out.as_str()), (Some(3), ""));
    assert!(gone.err.contains("no operation \"123\" on record"), "{}", gone.err);
    assert_eq!(save.run(&["undo", "", "--yes"]).code, Some(2));
    assert_eq!(save.run(&["undo", "bbb", "--yes"]).code, Some(0));
    assert!(save.live().exists());
}

#[test]
fn what_was_interrupted_is_told_by_everything_and_settled_by_recover() {
    let save = Save::new();
    // As a run leaves it that was killed right after its journal was written.
    let stage = stage_of(&save.keep, RESTORE).join("Midgard");
    fs::create_dir_all(&stage).unwrap();
    fs::create_dir_all(recycle_of(&save.keep, RESTORE).join("worlds_local")).unwrap();
    let id = |path: &Path| fs::metadata(path).map(|about| (about.dev(), about.ino())).unwrap();
    let (new, old) = (id(&stage), id(&save.live()));
    let parked = recycle_of(&save.keep, RESTORE).join("worlds_local/Midgard");
    let record = Record {
        name: RESTORE.into(),
        operation: Operation::Restore,
        subject: "Midgard".into(),
        at: NOW.parse().unwrap(),
        keep: save.keep.clone(),
        moves: vec![
            Renamed::Exchange { stage: stage.clone(), live: save.live(), new, old },
            Renamed::Rename { from: stage.clone(), to: parked, what: old },
        ],
        removes: Vec::new(),
        undoes: None,
        restored: None,
        done: String::new(),
        traces: None,
    };
    fs::write(save.keep.join("lock"), "").unwrap();
    fs::write(journal_of(&save.keep), record.to_bytes()).unwrap();
    fs::set_permissions(&save.keep, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for args in [&["list", "folder-sound"][..], &["show", "folder-sound"], &["verify", "folder-sound"]] {
        let run = save.house.run(args);
        assert_eq!(run.code, Some(0), "{args:?}");
        assert!(run.err.contains("was interrupted"), "{args:?}: {}", run.err);
    }
    let told = save.run(&["recover", "--read-only"]);
    assert_eq!(told.code, Some(4), "{}", told.out);
    assert!(journal_of(&save.keep).exists() && stage.exists(), "it was only told");
    let (history, code) = save.json(&["history"]);
    assert_eq!(code, Some(6));
    assert!(history["messages"][0].as_str().unwrap().contains("worldkeep recover"), "{history:#}");
    let (document, code) = save.json(&["recover"]);
    assert_eq!((code, &document["recovered"][0]["became"]), (Some(0), &"rolled-back".into()));
    assert!(!journal_of(&save.keep).exists() && !stage.exists());
    assert_eq!(id(&save.live()), old);
    let nothing = save.run(&["recover"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), "No operation was interrupted.\n"));
}

#[test]
fn names_that_are_no_text_come_back_as_they_were() {
    let save = Save::new();
    let odd = save.root.join("worlds_local").join(std::ffi::OsStr::from_bytes(b"W\xff\x1b[2J"));
    fs::rename(save.live(), &odd).unwrap();
    let to = recycle_of(&save.keep, DELETE).join("worlds_local").join(odd.file_name().unwrap());
    save.done(Operation::Delete, DELETE, vec![Step::Park { from: odd.clone(), to }]);
    let run = save.run(&["history"]);
    assert!(run.out.contains("W\\xff\\u{1b}[2J back"), "{}", run.out);
    let done = save.run(&["undo", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(!done.out.contains('\u{1b}') && odd.join("_main.3.ok").exists(), "{}", done.out);
}

#[test]
fn somebody_who_may_not_look_is_told_so_and_changes_nothing() {
    let save = Save::new().restored();
    let Some(mut command) = crate::commands::unprivileged(&save.house) else { return };
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can run as somebody else");
        return;
    }
    let run = save.house.finish(command.args(["--root", "folder-sound", "undo", "--yes"]));
    assert_eq!(run.code, Some(4), "{}{}", run.out, run.err);
    assert!(run.err.contains("could not be read") && run.err.contains("ermission denied"), "{}", run.err);
    assert!(save.is_other());
}

#[test]
fn a_pair_and_a_rename_are_taken_back_last_thing_first() {
    let save = Save::new();
    let worlds = save.root.join("worlds_local");
    let text = |name: &str| fs::read_to_string(worlds.join(name)).unwrap_or_default();
    for name in ["A.db", "A.fwl", "A_backup.db"] {
        fs::write(worlds.join(name), format!("old {name}")).unwrap();
        fs::write(save.house.path("other").join(name), format!("new {name}")).unwrap();
    }
    let stage = stage_of(&save.keep, RESTORE).join("0");
    let from = save.house.path("other").canonicalize().unwrap();
    let kept = |name: &str| recycle_of(&save.keep, RESTORE).join("worlds_local").join(name);
    save.done(
        Operation::Restore,
        RESTORE,
        vec![
            Step::Copy { from, items: vec!["A.db".into(), "A.fwl".into()], to: stage.clone() },
            Step::Exchange { stage: stage.join("A.db"), live: worlds.join("A.db") },
            Step::Exchange { stage: stage.join("A.fwl"), live: worlds.join("A.fwl") },
            Step::Place { from: worlds.join("A_backup.db"), to: worlds.join("B_backup.db") },
            Step::Park { from: stage.join("A.db"), to: kept("A.db") },
            Step::Park { from: stage.join("A.fwl"), to: kept("A.fwl") },
        ],
    );
    assert_eq!((text("A.db").as_str(), text("A.fwl").as_str()), ("new A.db", "new A.fwl"));
    let (dry, _) = save.json(&["undo", "--dry-run"]);
    let steps = dry["operations"][0]["plan"]["steps"].as_array().unwrap();
    let said: Vec<String> = steps
        .iter()
        .map(|step| {
            let to = step.get("live").or_else(|| step.get("to")).unwrap().as_str().unwrap();
            format!("{} {}", step["step"].as_str().unwrap(), to.rsplit('/').next().unwrap())
        })
        .collect();
    assert_eq!(said, ["place A_backup.db", "exchange A.fwl", "exchange A.db", "park A.fwl", "park A.db"]);
    let done = save.run(&["undo", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!((text("A.db").as_str(), text("A.fwl").as_str()), ("old A.db", "old A.fwl"));
    assert_eq!((text("A_backup.db").as_str(), text("B_backup.db").as_str()), ("old A_backup.db", ""));

    // A server writes a new file and gives it the old one's name: what is there then is put aside just as well.
    let undone = save.json(&["history"]).0["history"][0]["name"].as_str().unwrap().to_owned();
    fs::write(worlds.join("A.db.new"), "saved by a server").unwrap();
    fs::rename(worlds.join("A.db.new"), worlds.join("A.db")).unwrap();
    fs::remove_file(worlds.join("A.fwl")).unwrap();
    fs::remove_file(worlds.join("A_backup.db")).unwrap();
    let (again, code) = save.json(&["undo", &undone, "--yes"]);
    assert_eq!(code, Some(0), "{again:#}");
    assert_eq!((text("A.db").as_str(), text("A.fwl").as_str()), ("new A.db", "new A.fwl"));
    let warnings = again["operations"][0]["plan"]["warnings"].to_string();
    assert!(warnings.contains("A.db' was replaced") && warnings.contains("A.fwl' is gone"), "{warnings}");
    assert!(warnings.contains("A_backup.db' is gone since, and does not come back"), "{warnings}");
}
