//! Public reports of restores that went wrong, each shown on the demo saves through the program.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::demo_saves::{Saves, Server, Tree, date, open_to_all, tree};

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
