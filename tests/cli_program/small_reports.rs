//! Public reports of restores and copies that went wrong, each as its small recipe and what has to happen instead; those that
//! need the demo saves are in `reports.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use worldkeep::games::valheim::write::{Object, WorldPlan};

use crate::house::{House, Run, layers};

fn plan(name: &str, day: f64) -> WorldPlan {
    let mut plan = WorldPlan::new(name, "SmallSeed1");
    plan.net_time = day * 1800.0;
    plan.objects = (0..40).map(|_| Object::new("Beech1", [1.0, 30.0, 1.0])).collect();
    plan.zones_from_objects();
    plan
}

/// A save root, one hour old.
struct Root {
    house: House,
    root: PathBuf,
}

impl Root {
    fn new() -> Self {
        let house = House::new();
        fs::create_dir_all(house.path("server/worlds_local")).unwrap();
        let root = house.path("server").canonicalize().unwrap();
        Self { house, root }
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let hour_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_040_000 - 3600);
        fs::File::options().append(true).open(path).unwrap().set_modified(hour_ago).unwrap();
    }

    fn pair(&self, name: &str, plan: &WorldPlan) {
        let (fwl, db) = plan.to_pair(36);
        self.file(&format!("{name}.fwl"), &fwl);
        self.file(&format!("{name}.db"), &db);
    }

    fn generation(&self, name: &str, plan: &WorldPlan, number: u32) {
        for (file, bytes) in plan.to_folder(41, number, |_| number) {
            self.file(&format!("{name}/{file}"), &bytes);
        }
    }

    fn run(&self, args: &[&str]) -> Run {
        self.house.run(&[args, &["--root", self.root.to_str().unwrap()]].concat())
    }

    #[track_caller]
    fn done(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run
    }

    /// Every file below the root but what worldkeep keeps, and its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(&self.root)
    }

    /// The id of the first layer whose id ends so.
    fn layer(&self, end: &str) -> String {
        let (list, _) = self.house.json(&["list", self.root.to_str().unwrap()]);
        let ids: Vec<&str> = layers(&list).into_iter().filter_map(|layer| layer["id"].as_str()).collect();
        let id = ids.iter().find(|id| id.ends_with(end));
        (*id.unwrap_or_else(|| panic!("no {end} in {ids:?}"))).to_owned()
    }
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".worldkeep") {
            continue;
        }
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Reports 27 and 29 of operations: each backup removed the ones before it; a backup took the tool's own settings along.
#[test]
fn a_backup_adds_and_removes_nothing_and_writes_only_beside_the_save() {
    let root = Root::new();
    root.generation("worlds_local/Midgard", &plan("Midgard", 12.0), 3);
    root.house.configure("discover = false\n");
    let settings = fs::read(root.house.config_file()).unwrap();
    let mut before = root.files();
    for number in 4..8 {
        let _ = root.done(&["backup", "server/Midgard", "--yes"]);
        let after = root.files();
        assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "something of before changed");
        assert!(after.len() > before.len());
        // The next save lands, so that the next backup is of another state.
        fs::remove_dir_all(root.root.join("worlds_local/Midgard")).unwrap();
        root.generation("worlds_local/Midgard", &plan("Midgard", f64::from(number)), number);
        before = root.files();
    }
    let (list, _) = root.house.json(&["list", root.root.to_str().unwrap()]);
    let manual = layers(&list).into_iter().filter(|layer| layer["kind"] == "manual").count();
    assert_eq!(manual, 4, "{list}");
    assert_eq!(fs::read(root.house.config_file()).unwrap(), settings);
}

/// Report 15 of Valheim: a server took the newest file for the world, and it was half of a backup.
#[test]
fn half_a_backup_is_never_restored_and_never_chosen_by_its_time() {
    let root = Root::new();
    root.pair("worlds_local/Creative", &plan("Creative", 5.0));
    let mut unsaved = plan("Creative", 0.0);
    unsaved.saved = false;
    root.file("worlds_local/Creative_backup_auto-20240205230236.fwl", &unsaved.metadata(36));
    let before = root.files();
    let half = root.layer("@auto-20240205-230236");
    let run = root.run(&["restore", &half, "--yes", "--accept", "source-not-whole"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.err.contains("(no-finished-save)") || run.err.contains("(not-restorable)"), "{run:?}");
    assert_eq!(root.files(), before);
    // A restore without a layer does not look for one.
    let run = root.run(&["restore", "server/Creative", "--yes"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(root.files(), before);
}

/// Report 17 of Valheim: a world in the folder of older servers was hidden by an empty new one.
#[test]
fn a_world_in_the_old_folder_is_copied_to_where_servers_read_and_stays_where_it_was() {
    let root = Root::new();
    root.pair("worlds/Midgard", &plan("Midgard", 5.0));
    let before = root.files();
    let list = root.done(&["list"]);
    assert!(list.out.contains("worlds_local"), "{}", list.out);
    let id = root.layer("@live");
    let world = id.strip_suffix("@live").unwrap();
    let _ = root.done(&["copy", world, "Asgard", "--yes"]);
    let after = root.files();
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)));
    let copied = after.keys().filter(|path| path.parent() == Some(&root.root.join("worlds_local"))).count();
    assert_eq!(copied, 2, "{:?}", after.keys());
}

/// Report 5 of Valheim: the world data was an empty file, and the save before it was whole.
#[test]
fn the_save_before_an_empty_one_comes_back_and_the_empty_one_is_kept() {
    let root = Root::new();
    root.pair("worlds_local/Midgard", &plan("Midgard", 9.0));
    let (fwl, db) = plan("Midgard", 8.0).to_pair(36);
    root.file("worlds_local/Midgard.fwl.old", &fwl);
    root.file("worlds_local/Midgard.db.old", &db);
    root.file("worlds_local/Midgard.db", b"");
    let old = root.layer("@old");
    let run = root.run(&["restore", &old, "--yes"]);
    assert_eq!(run.code, Some(4), "a copy to a new name is offered first: {run:?}");
    assert!(run.err.contains("better-copy"), "{run:?}");
    let _ = root.done(&["restore", &old, "--yes", "--accept", "better-copy"]);
    assert_eq!(fs::read(root.root.join("worlds_local/Midgard.db")).unwrap(), db);
    let _ = root.done(&["undo", "--yes"]);
    assert_eq!(fs::read(root.root.join("worlds_local/Midgard.db")).unwrap(), b"");
}

/// Report 26 of Valheim: an archive of 122 bytes was the newest backup, and was put back.
#[test]
fn a_tiny_archive_is_no_backup_and_nothing_live_moves_for_it() {
    let root = Root::new();
    root.pair("worlds_local/Midgard", &plan("Midgard", 9.0));
    root.file("backups/worlds-20261130.tgz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    root.file("backups/worlds-20261130.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let before = root.files();
    let (list, _) = root.house.json(&["list", root.root.to_str().unwrap()]);
    assert!(layers(&list).iter().all(|layer| layer["container"] == "files"), "{list}");
    for archive in ["backups/worlds-20261130.tgz", "backups/worlds-20261130.zip"] {
        let run = root.run(&["restore", root.root.join(archive).to_str().unwrap(), "--yes"]);
        assert!(matches!(run.code, Some(1..=4)), "{run:?}");
        assert!(run.err.contains("worlds-20261130"), "the file is named: {run:?}");
        assert_eq!(root.files(), before);
    }
}

/// Report 30 of operations: a restore said that it was done, had put nothing there, and left nothing to take back.
#[test]
fn a_restore_that_says_it_is_done_put_exactly_the_layer_there_and_can_be_taken_back() {
    let root = Root::new();
    root.generation("worlds_local/Midgard", &plan("Midgard", 12.0), 5);
    root.generation("worlds_local/Midgard_backup_20261128-180000", &plan("Midgard", 9.0), 3);
    let live = |root: &Root| {
        let all = files(&root.root.join("worlds_local/Midgard"));
        all.into_iter().map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes)).collect::<BTreeMap<_, _>>()
    };
    let was = live(&root);
    let backup = root.layer("@manual-20261128-180000");
    let wanted: BTreeMap<_, _> =
        plan("Midgard", 9.0).to_folder(41, 3, |_| 3).into_iter().map(|(name, bytes)| (name.into(), bytes)).collect();
    let run = root.done(&["restore", &backup, "--yes"]);
    assert!(run.out.contains("Restored Midgard to day 9"), "{}", run.out);
    assert_eq!(live(&root), wanted);
    let _ = root.done(&["undo", "--yes"]);
    assert_eq!(live(&root), was);
}
