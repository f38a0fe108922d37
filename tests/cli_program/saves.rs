//! Operations on real saves through the program, from the question to the files: the demo saves, and each public report
//! of a restore that went wrong which such saves can show.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::house::{House, Run, layers};

/// What a file, a folder or a link is: its bytes or target, mode, owner, and time of last change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    what: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    modified: (i64, i64),
}

type Tree = BTreeMap<PathBuf, Thing>;

/// Everything below a folder but what worldkeep keeps there.
fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, dir: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            if below.starts_with(".worldkeep") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let what = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            // A folder's own time says only that something in it came or went.
            let modified = if meta.is_dir() { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
            tree.insert(below, Thing { what, mode: meta.mode(), owner: (meta.uid(), meta.gid()), modified });
            if meta.is_dir() {
                walk(root, &path, tree);
            }
        }
    }
    let mut all = Tree::new();
    walk(root, root, &mut all);
    all
}

/// The demo saves in a house.
struct Saves {
    house: House,
    root: PathBuf,
}

impl Saves {
    fn new() -> Self {
        let house = House::new();
        assert_eq!(house.run(&["--demo=demo"]).code, Some(0));
        let root = house.path("demo/saves").canonicalize().unwrap();
        Self { house, root }
    }

    /// Runs a verb on these saves.
    fn run(&self, args: &[&str]) -> Run {
        let root = self.root.to_str().unwrap();
        self.house.run(&[args, &["--root", root]].concat())
    }

    /// Runs a verb that has to be done.
    #[track_caller]
    fn done(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run.out
    }

    /// Runs a verb that has to be refused for this reason, and after which the saves are what they were.
    #[track_caller]
    fn refused(&self, args: &[&str], reason: &str) -> String {
        let before = tree(&self.root);
        let run = self.run(args);
        assert_eq!(run.code, Some(4), "{args:?}: {run:?}");
        assert!(run.err.contains(&format!("({reason})")), "{reason}: {run:?}");
        assert_eq!(tree(&self.root), before, "{args:?}");
        run.err
    }

    fn list(&self) -> Value {
        self.house.json(&["list", self.root.to_str().unwrap()]).0
    }

    /// The id of the first layer whose id holds this.
    fn layer(&self, part: &str) -> String {
        let list = self.list();
        let id = layers(&list).into_iter().filter_map(|layer| layer["id"].as_str()).find(|id| id.contains(part));
        // The catalog names the profile by its folder, whether it came as an argument or as a root.
        id.unwrap_or_else(|| panic!("no {part} in {list}")).to_owned()
    }

    fn fact(&self, layer: &str, key: &str) -> Value {
        let list = self.list();
        let found = layers(&list).into_iter().find(|found| found["id"] == layer).cloned();
        found.unwrap_or_else(|| panic!("no {layer} in {list}"))["facts"][key].clone()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

#[test]
fn every_operation_is_done_and_its_undo_gives_back_every_byte_mode_owner_and_time() {
    let saves = Saves::new();
    let first = tree(&saves.root);
    let auto = saves.layer("Midgard@auto-20261130");
    let archive = saves.layer("Midgard@archive");
    let midgard = saves.layer("Midgard@live");
    let profile = midgard.split('/').next().unwrap().to_owned();
    let world = |name: &str| format!("{profile}/{name}");
    let operations: Vec<Vec<String>> = vec![
        vec!["restore".into(), auto.clone()],
        vec!["restore".into(), archive],
        vec!["restore".into(), saves.layer("Midgard@hidden-pair")],
        vec!["restore".into(), saves.layer("Midgard@pre-conversion")],
        vec!["restore".into(), saves.layer("Ravenscar@old")],
        vec!["restore".into(), saves.layer("Skaldholm@rolling")],
        vec!["copy".into(), world("Midgard"), "Asgard".into()],
        vec!["copy".into(), world("Midgard"), "Asgard".into(), "--with-layers".into()],
        vec!["copy".into(), world("Ravenscar"), "Asgard".into()],
        vec!["copy".into(), auto, "Asgard".into()],
        vec!["rename".into(), world("Midgard"), "Vanaheim".into()],
        vec!["rename".into(), world("Ravenscar"), "Vanaheim".into()],
        vec!["backup".into(), world("Midgard")],
        vec!["backup".into(), world("Ravenscar")],
        vec!["delete".into(), world("Midgard")],
        vec!["delete".into(), world("Ravenscar")],
        vec!["delete".into(), saves.layer("Midgard@auto-20261130")],
    ];
    for operation in operations {
        let args: Vec<&str> = operation.iter().map(String::as_str).collect();
        let out = saves.done(&[&args[..], &["--yes"]].concat());
        let second = tree(&saves.root);
        assert_ne!(second, first, "{args:?} changed nothing: {out}");
        let undone = saves.done(&["undo", "--yes"]);
        assert!(undone.contains("Took back"), "{undone}");
        assert_eq!(tree(&saves.root), first, "the undo of {args:?}");
        // The undo is an operation like any other.
        let name = undone.trim_end().rsplit(' ').next().unwrap().to_owned();
        saves.done(&["undo", &name, "--yes"]);
        assert_eq!(tree(&saves.root), second, "the undo of the undo of {args:?}");
        let last = saves.done(&["history"]);
        let last = last.split(' ').next().unwrap().to_owned();
        saves.done(&["undo", &last, "--yes"]);
        assert_eq!(tree(&saves.root), first, "and once more");
    }
}

#[test]
fn a_restored_world_is_the_state_of_its_layer_and_is_whole() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let day = saves.fact(&auto, "day");
    let live = saves.layer("Midgard@live");
    assert_ne!(saves.fact(&live, "day"), day);
    saves.done(&["restore", &auto, "--yes"]);
    assert_eq!(saves.fact(&live, "day"), day);
    let (checked, code) = saves.house.json(&["verify", saves.at("worlds_local/Midgard").to_str().unwrap()]);
    assert_eq!(code, Some(0), "{checked}");
    // Only the files of the save that was put back: the game takes every other one for something.
    let names = |dir: &str| -> Vec<_> {
        let mut all: Vec<_> = fs::read_dir(saves.at(dir)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        all.sort();
        all
    };
    let layer = layers(&saves.list()).into_iter().find(|layer| layer["id"] == *auto).unwrap()["path"].clone();
    let layer = PathBuf::from(layer.as_str().unwrap());
    assert_eq!(names("worlds_local/Midgard"), names(layer.strip_prefix(&saves.root).unwrap().to_str().unwrap()));
    // The old state is listed as what is kept, and can be read there.
    let parked = saves.layer("Midgard@parked");
    assert_eq!(saves.fact(&parked, "day"), 214);
}

#[test]
fn a_copy_and_a_rename_change_the_name_inside_and_nothing_else() {
    let saves = Saves::new();
    let live = saves.layer("Midgard@live");
    let (uid, day) = (saves.fact(&live, "uid"), saves.fact(&live, "day"));
    let before = tree(&saves.at("worlds_local/Midgard"));
    saves.done(&["copy", live.split('@').next().unwrap(), "Asgard", "--yes"]);
    let copy = saves.layer("Asgard@live");
    assert_eq!(
        (saves.fact(&copy, "name"), saves.fact(&copy, "uid"), saves.fact(&copy, "day")),
        ("Asgard".into(), uid, day)
    );
    assert_eq!(tree(&saves.at("worlds_local/Midgard")), before, "the source");
    for (name, thing) in tree(&saves.at("worlds_local/Asgard")) {
        let same = before[&name].what == thing.what;
        assert_eq!(same, name.extension().is_none_or(|end| end != "fwl2"), "{}", name.display());
    }
    saves.done(&["rename", &copy.replace("@live", ""), "Vanaheim", "--yes"]);
    let renamed = saves.layer("Vanaheim@live");
    assert_eq!(saves.fact(&renamed, "name"), "Vanaheim");
    assert!(!saves.at("worlds_local/Asgard").exists());
}

#[test]
fn the_plan_of_a_dry_run_is_what_its_id_confirms_and_a_changed_save_is_another_plan() {
    let saves = Saves::new();
    for verb in ["restore", "delete", "backup", "copy"] {
        let target = if verb == "restore" {
            saves.layer("Midgard@auto-20261130")
        } else {
            saves.layer("Midgard@live").replace("@live", "")
        };
        let mut args = vec![verb, &*target];
        args.extend((verb == "copy").then_some("Asgard"));
        let before = tree(&saves.root);
        let shown = saves.done(&[&args[..], &["--dry-run"]].concat());
        assert_eq!(tree(&saves.root), before, "a dry run of {verb}");
        let id = shown.split("--yes=").nth(1).unwrap().trim_end().trim_end_matches('.').to_owned();
        let yes = format!("--yes={id}");
        // What it was computed from has changed.
        let file = saves.at("worlds_local/Midgard/_main.17.db2");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        date(&file, time + std::time::Duration::from_secs(1));
        saves.refused(&[&args[..], &[&yes]].concat(), "other-plan");
        date(&file, time);
        saves.done(&[&args[..], &[&yes]].concat());
        saves.done(&["undo", "--yes"]);
    }
}

#[test]
fn nothing_is_done_without_a_yes_and_nothing_with_read_only() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    saves.refused(&["restore", &auto], "not-confirmed");
    saves.refused(&["restore", &auto, "--yes", "--read-only"], "read-only");
    saves.refused(&["delete", &auto, "--yes=0123456789abcdef"], "other-plan");
    assert!(!saves.at(".worldkeep").exists(), "a refusal makes nothing");
}

/// Sets the time of a file, and holds nothing open that would count as a server.
fn date(path: &Path, time: std::time::SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A process with the arguments of a server of the game, until it is dropped.
struct Server(std::process::Child);

impl Server {
    fn on(root: &Path) -> Self {
        let child = Command::new("sh")
            .arg0("valheim_server.x86_64")
            .args(["-c", "while :; do sleep 0.05; done", "x", "-world", "Midgard", "-savedir"])
            .arg(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let line = format!("/proc/{}/cmdline", child.id());
        while !fs::read(&line).unwrap().starts_with(b"valheim") {
            std::thread::yield_now();
        }
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Also report 25 of operations: a program that writes into the world while it is put back.
#[test]
fn a_running_server_refuses_every_change_and_nothing_overrules_it() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let world = saves.layer("Midgard@live").replace("@live", "");
    let server = Server::on(&saves.root);
    for args in [vec!["restore", &*auto], vec!["delete", &*world], vec!["rename", &*world, "Hel"]] {
        let args = [&args[..], &["--yes", "--accept", "liveness-unknown"]].concat();
        let run = saves.refused(&args, "running");
        assert!(run.contains(&server.0.id().to_string()), "{run:?}");
    }
    // What is finished is never changed by the game again, so a copy of it does no harm.
    saves.done(&["copy", &world, "Asgard", "--yes"]);
    saves.done(&["backup", &world, "--yes"]);
    drop(server);
    saves.done(&["restore", &auto, "--yes"]);
}

/// Report 24 of Valheim: a restored file is overwritten by a server that is just stopping.
#[test]
fn a_save_that_landed_in_the_last_minute_refuses() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let marker = saves.at("worlds_local/Midgard/_main.17.ok");
    let now = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_796_040_000);
    date(&marker, now - std::time::Duration::from_secs(20));
    let run = saves.refused(&["restore", &auto, "--yes"], "running");
    assert!(run.contains("20 seconds ago"), "{run:?}");
    date(&marker, now - std::time::Duration::from_secs(61));
    saves.done(&["restore", &auto, "--yes"]);
}

/// Reports 5, 6 and 7 of operations: what came later than the layer stayed in the world, which mixed two states.
#[test]
fn what_only_the_live_world_has_is_gone_after_a_restore_and_is_kept() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    fs::write(saves.at("worlds_local/Midgard/7f_7f__0_99.chunk"), "made later").unwrap();
    fs::write(saves.at("worlds_local/Midgard/notes.txt"), "mine").unwrap();
    let out = saves.done(&["restore", &auto, "--yes"]);
    assert!(out.contains("only-in-live") && out.contains("notes.txt"), "{out}");
    for name in ["7f_7f__0_99.chunk", "notes.txt"] {
        assert!(!saves.at("worlds_local/Midgard").join(name).exists());
    }
    saves.done(&["undo", "--yes"]);
    assert_eq!(fs::read(saves.at("worlds_local/Midgard/notes.txt")).unwrap(), b"mine");
}

/// Reports 2 and 3 of operations: a restore pruned backups first, the one that it restored among them.
#[test]
fn a_restore_leaves_every_layer_where_it_is() {
    let saves = Saves::new();
    let kept = |saves: &Saves| -> Tree {
        tree(&saves.root).into_iter().filter(|(path, _)| path.to_string_lossy().contains("_backup_")).collect()
    };
    let before = kept(&saves);
    assert!(before.len() > 40);
    saves.done(&["restore", &saves.layer("Midgard@auto-20261130"), "--yes"]);
    assert_eq!(kept(&saves), before);
}

/// Reports 8, 9, 10 and 12 of operations: the world was cleared before the backup was looked at, which was cut short,
/// gone or empty.
#[test]
fn a_layer_that_is_cut_gone_or_empty_is_found_out_before_anything_is_touched() {
    let saves = Saves::new();
    let archive = saves.layer("Midgard@archive");
    let zip = fs::read_dir(saves.at("backups"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "zip"))
        .unwrap();
    let whole = fs::read(&zip).unwrap();
    for part in [2, 3, 10] {
        fs::write(&zip, &whole[..whole.len() * (part - 1) / part]).unwrap();
        let before = tree(&saves.root);
        let run = saves.run(&["restore", &archive, "--yes"]);
        assert_ne!(run.code, Some(0), "{run:?}");
        assert_eq!(tree(&saves.root), before);
    }
    // One byte of a chunk in it is another one: the checksum tells.
    let mut bent = whole.clone();
    bent[whole.len() / 3] ^= 0x10;
    fs::write(&zip, &bent).unwrap();
    let before = tree(&saves.root);
    let run = saves.run(&["restore", &archive, "--yes"]);
    assert!(matches!(run.code, Some(1 | 3 | 4)), "{run:?}");
    assert_eq!(tree(&saves.root), before);
    let auto = saves.layer("Midgard@auto-20261130");
    let dir = saves.at("worlds_local").join(format!("Midgard_backup_{}", auto.split('@').nth(1).unwrap()));
    for file in fs::read_dir(&dir).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let before = tree(&saves.root);
    assert_ne!(saves.run(&["restore", &auto, "--yes"]).code, Some(0));
    fs::remove_dir(&dir).unwrap();
    assert_ne!(saves.run(&["restore", &auto, "--yes"]).code, Some(0));
    assert_eq!(
        tree(&saves.at("worlds_local/Midgard")),
        before
            .into_iter()
            .filter_map(|(path, thing)| {
                Some((
                    path.strip_prefix("worlds_local/Midgard").ok().filter(|p| !p.as_os_str().is_empty())?.to_path_buf(),
                    thing,
                ))
            })
            .collect()
    );
}

/// Report 3 of Valheim, and 21 of the fault rows.
#[test]
fn a_layer_without_a_finished_save_is_refused_in_the_words_that_players_know() {
    let saves = Saves::new();
    let run = saves.refused(
        &["restore", &saves.layer("Midgard@auto-20260910"), "--yes", "--accept", "source-not-whole"],
        "no-finished-save",
    );
    assert!(
        run.contains("This snapshot holds no finished save, so there is nothing to restore from it yet."),
        "{run:?}"
    );
}

#[test]
fn a_layer_that_is_not_whole_needs_that_accepted_by_name() {
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let dir = saves.at("worlds_local").join(format!("Midgard_backup_{}", auto.split('@').nth(1).unwrap()));
    let chunk = fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "chunk"))
        .unwrap();
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap();
    saves.refused(&["restore", &auto, "--yes"], "not-accepted");
    saves.done(&["restore", &auto, "--yes", "--accept", "source-not-whole"]);
}

/// Report 20 of Valheim: backups of a deleted world of the same name.
#[test]
fn a_backup_of_another_world_of_the_name_is_said_before_the_question() {
    let saves = Saves::new();
    let out = saves.done(&["restore", &saves.layer("Ravenscar@old"), "--dry-run"]);
    assert!(out.contains("other-world") && out.contains("another world"), "{out}");
}

/// Report 29 of Valheim.
#[test]
fn a_lone_db_says_what_it_lacks() {
    let saves = Saves::new();
    fs::copy(saves.at("worlds_local/Ravenscar.db"), saves.at("worlds_local/Ravenscar_backup_20260101-000000.db"))
        .unwrap();
    let run = saves.refused(&["restore", &saves.layer("Ravenscar@manual-20260101"), "--yes"], "not-restorable");
    assert!(run.contains(".fwl"), "{run:?}");
}

/// The seed document's refusals, in its words.
#[test]
fn a_copy_onto_a_world_is_refused_and_with_overwrite_what_was_there_is_kept() {
    let saves = Saves::new();
    let world = saves.layer("Midgard@live").replace("@live", "");
    let run = saves.refused(&["copy", &world, "Thornfjord", "--yes"], "name-taken");
    let words = "A world called 'Thornfjord' is already in that save folder. Copying onto it would mix the two saves \
                 together, so nothing was copied.";
    assert!(run.contains(words), "{run:?}");
    saves.refused(&["copy", &world, "Midgard", "--yes"], "same-place");
    for bad in ["a\\b", "Midgard_backup_auto-20260909-180000", "con:", ".worldkeep"] {
        saves.refused(&["copy", &world, bad, "--yes"], "bad-name");
        saves.refused(&["rename", &world, bad, "--yes"], "bad-name");
    }
    saves.refused(&["rename", &world, "Thornfjord", "--yes"], "name-taken");
    let before = tree(&saves.root);
    saves.done(&["copy", &world, "Thornfjord", "--overwrite", "--yes"]);
    assert_eq!(saves.fact(&saves.layer("Thornfjord@live"), "name"), "Thornfjord");
    saves.done(&["undo", "--yes"]);
    assert_eq!(tree(&saves.root), before);
}

#[test]
fn a_copy_goes_into_another_profile_with_its_layers() {
    let saves = Saves::new();
    let other = saves.house.path("other");
    fs::create_dir_all(other.join("worlds_local")).unwrap();
    fs::copy(saves.at("worlds_local/Ravenscar.fwl"), other.join("worlds_local/Here.fwl")).unwrap();
    fs::copy(saves.at("worlds_local/Ravenscar.db"), other.join("worlds_local/Here.db")).unwrap();
    let world = saves.layer("Midgard@live").replace("@live", "");
    let before = tree(&saves.root);
    saves.done(&["copy", &world, other.to_str().unwrap(), "--with-layers", "--yes"]);
    assert_eq!(tree(&saves.root), before, "the source");
    let auto = saves.layer("Midgard@auto-20261130").split('@').nth(1).unwrap().to_owned();
    for name in ["Midgard".to_owned(), format!("Midgard_backup_{auto}")] {
        assert_eq!(
            tree(&other.join("worlds_local").join(&name)),
            tree(&saves.at("worlds_local").join(&name)),
            "{name}"
        );
    }
}

/// Report 19 of Valheim: the pair that a folder hides comes back when only the folder goes.
#[test]
fn a_deleted_world_takes_its_hidden_pair_with_it_in_both_folders() {
    let saves = Saves::new();
    fs::create_dir_all(saves.at("worlds")).unwrap();
    for end in ["fwl", "db"] {
        fs::copy(saves.at(&format!("worlds_local/Midgard.{end}")), saves.at(&format!("worlds/Midgard.{end}"))).unwrap();
    }
    let world = saves.layer("Midgard@live").replace("@live", "");
    let out = saves.done(&["delete", &world, "--yes"]);
    // Report 35 of operations: each path that goes is named.
    for name in ["worlds_local/Midgard.fwl", "worlds_local/Midgard.db", "worlds/Midgard.fwl", "worlds/Midgard.db"] {
        assert!(out.contains(name) && !saves.at(name).exists(), "{name}: {out}");
    }
    assert!(!saves.at("worlds_local/Midgard").exists());
    assert!(out.contains("adopts-layers"), "{out}");
}

/// Report 27 of Valheim: a stray folder in the worlds folder made a server hang.
#[test]
fn nothing_of_ours_ever_lies_in_a_folder_that_the_game_looks_into() {
    let saves = Saves::new();
    let names = |saves: &Saves| -> Vec<PathBuf> {
        tree(&saves.at("worlds_local")).into_keys().filter(|p| p.components().count() == 1).collect()
    };
    let before = names(&saves);
    saves.done(&["restore", &saves.layer("Midgard@auto-20261130"), "--yes"]);
    assert_eq!(names(&saves), before);
    assert!(saves.at(".worldkeep").is_dir());
    assert_eq!(fs::metadata(saves.at(".worldkeep")).unwrap().mode() & 0o777, 0o700);
}

/// Report 18 of operations: deleting a world followed a link and emptied a folder outside.
#[test]
fn a_link_in_a_world_is_kept_with_it_and_what_it_leads_to_is_not_touched() {
    let saves = Saves::new();
    let outside = saves.house.path("mods");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    symlink(&outside, saves.at("worlds_local/Midgard/worldmods")).unwrap();
    let world = saves.layer("Midgard@live").replace("@live", "");
    saves.done(&["delete", &world, "--yes"]);
    saves.done(&["purge", "--yes"]);
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"x");
    assert!(!saves.at("worlds_local/Midgard").exists());
}

/// Reports 16 of operations and 23 of Valheim: files that belong to the server's user belonged to root afterwards.
#[test]
fn root_leaves_the_owner_and_modes_of_the_world_that_it_replaces() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can do this on files of another user");
        return;
    }
    let saves = Saves::new();
    let own = |path: &Path| std::os::unix::fs::chown(path, Some(1234), Some(4321)).unwrap();
    for path in tree(&saves.root).into_keys() {
        own(&saves.root.join(path));
    }
    own(&saves.root);
    fs::set_permissions(saves.at("worlds_local/Midgard"), fs::Permissions::from_mode(0o750)).unwrap();
    for target in ["Midgard@auto-20261130", "Midgard@archive"] {
        saves.done(&["restore", &saves.layer(target), "--yes"]);
        for (path, thing) in tree(&saves.at("worlds_local/Midgard")) {
            assert_eq!(thing.owner, (1234, 4321), "{}", path.display());
            assert_eq!(thing.mode & 0o600, 0o600, "{}", path.display());
        }
        let folder = fs::metadata(saves.at("worlds_local/Midgard")).unwrap();
        assert_eq!((folder.uid(), folder.gid()), (1234, 4321));
    }
    let keep = fs::metadata(saves.at(".worldkeep")).unwrap();
    assert_eq!(keep.uid(), 1234, "the server's user can use what is kept");
}

/// Lets every user look at everything in a folder, and its owner alone write.
fn open_to_all(path: &Path) {
    let mode = if path.is_dir() { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            open_to_all(&entry.unwrap().path());
        }
    }
}

/// Reports 11 of operations and 23 of Valheim: what cannot be written fails before anything is touched.
#[test]
fn a_folder_that_we_may_not_write_refuses_before_anything_is_touched() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let saves = Saves::new();
    let auto = saves.layer("Midgard@auto-20261130");
    let top = saves.house.path("..");
    open_to_all(&top);
    let program = top.join("program");
    fs::copy(env!("CARGO_BIN_EXE_worldkeep"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let before = tree(&saves.root);
    let template = saves.house.command();
    let mut command = Command::new(&program);
    command.env_clear().envs(template.get_envs().filter_map(|(key, value)| Some((key, value?)))).uid(65534).gid(65534);
    command.current_dir(&saves.root).args(["restore", &auto, "--yes", "--root"]).arg(&saves.root);
    let run = saves.house.finish(&mut command);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.err.contains("(not-permitted)") || run.err.contains("(no-stage)"), "{run:?}");
    assert_eq!(tree(&saves.root), before);
    assert!(!saves.at(".worldkeep").exists());
}
