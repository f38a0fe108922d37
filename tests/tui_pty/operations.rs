//! Operations in the real program, by keys alone, and what is on the disk after each.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::terminal::{Look, Start, Terminal};

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                all.insert(entry.path().strip_prefix(folder).unwrap().to_owned(), fs::read(entry.path()).unwrap());
            }
        }
    }
    all
}

/// The bytes below a folder, whatever the files are named.
fn contents(folder: &Path) -> Vec<Vec<u8>> {
    let mut all: Vec<_> = files(folder).into_values().collect();
    all.sort();
    all
}

/// The program on its demo saves, with the lines of one world and the first automatic backup selected.
fn midgard(start: &Start<'_>) -> (Terminal, PathBuf) {
    let mut term = Terminal::start(start);
    term.wait("a whole world", |screen| screen.text().lines().any(|line| line.contains("whole")));
    let worlds = term.home().join("demo/saves/worlds_local");
    term.keys("/Midgard\r");
    term.wait("the filter", |screen| screen.text().contains("filter: Midgard"));
    term.settle();
    term.keys("g");
    term.wait("the first line", |screen| screen.selected() == Some(2));
    term.keys("j");
    term.wait("the world", |screen| screen.selected() == Some(3));
    let open = |screen: &vt100::Screen| screen.text().contains("live, save 17");
    if !term.look(open) {
        term.keys("l");
        term.wait("its layers", open);
    }
    term.keys("jj");
    term.wait("the newest backup", |screen| screen.selected() == Some(5));
    term.settle();
    (term, worlds)
}

/// The folder of Midgard's newest automatic backup.
fn newest_backup(worlds: &Path) -> PathBuf {
    let names = fs::read_dir(worlds).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_string_lossy().contains("Midgard_backup_auto-")).max().unwrap()
}

/// Waits for a question that shows its buttons, goes to the second of them and presses it.
fn agree(term: &mut Terminal, title: &str) {
    let asked = |screen: &vt100::Screen| screen.text().contains(title) && screen.text().contains("[ Cancel ]");
    term.wait(title, asked);
    term.settle();
    term.keys("\t");
    term.wait("the other button", |screen| !screen.text().contains("[ Cancel ]"));
    term.keys("\r");
}

fn leave(mut term: Terminal) {
    term.settle();
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn a_layer_is_restored_and_the_old_state_comes_back_by_one_key() {
    let (mut term, worlds) = midgard(&Start::default());
    let live = worlds.join("Midgard");
    let (old, backup) = (files(&live), contents(&newest_backup(&worlds)));
    assert_ne!(contents(&live), backup);
    term.keys("r");
    agree(&mut term, "Restore into Midgard");
    term.wait("the result", |screen| screen.text().contains("Restored Midgard to day"));
    assert_eq!(contents(&live), backup);
    let parked = worlds.parent().unwrap().join(".worldkeep/recycle");
    assert_eq!(contents(&parked), {
        let mut all: Vec<_> = old.values().cloned().collect();
        all.sort();
        all
    });
    term.wait("the parked state as a layer", |screen| screen.text().contains("kept for undo"));
    term.keys("u");
    agree(&mut term, "Undo the restore of Midgard");
    term.wait("the result", |screen| screen.text().contains("Took back the restore of Midgard"));
    assert_eq!(files(&live), old);
    leave(term);
}

#[test]
fn cancel_has_the_keys_first_and_touches_nothing() {
    let (mut term, worlds) = midgard(&Start::default());
    let before = files(worlds.parent().unwrap());
    for key in ["r", "d"] {
        term.keys(key);
        term.wait("a question", |screen| screen.text().contains("[ Cancel ]"));
        term.settle();
        term.keys("\r");
        term.wait("that it came to nothing", |screen| screen.text().contains("Nothing was changed."));
        term.settle();
        term.keys("kj");
        term.wait("no word of it", |screen| !screen.text().contains("[ Cancel ]"));
    }
    assert_eq!(files(worlds.parent().unwrap()), before);
    leave(term);
}

#[test]
fn a_layer_is_deleted_and_comes_back() {
    let (mut term, worlds) = midgard(&Start::default());
    let backup = newest_backup(&worlds);
    let old = files(&backup);
    term.keys("d");
    agree(&mut term, "Delete a layer of Midgard");
    term.wait("the way back", |screen| screen.text().contains("u takes it back"));
    assert!(!backup.exists());
    term.settle();
    term.keys("u");
    agree(&mut term, "Undo the delete of Midgard");
    term.wait("the result", |screen| screen.text().contains("Took back the delete"));
    assert_eq!(files(&backup), old);
    leave(term);
}

/// A process with the arguments of a server of the game, until it is dropped.
struct Server(Child);

impl Server {
    fn on(root: &Path) -> Self {
        let words = ["-c", "while :; do sleep 0.05; done", "x", "-world", "Midgard", "-savedir"];
        let mut command = Command::new("sh");
        let _ = command.arg0("valheim_server.x86_64").args(words).arg(root);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let line = format!("/proc/{}/cmdline", child.id());
        while fs::read(&line).is_ok_and(|words| !words.starts_with(b"valheim")) {
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

#[test]
fn while_a_server_runs_nothing_is_asked_and_nothing_done() {
    if !Path::new("/proc/self/cmdline").exists() {
        eprintln!("skipped: /proc does not tell here what runs");
        return;
    }
    let (mut term, worlds) = midgard(&Start::default());
    let root = worlds.parent().unwrap();
    let before = files(root);
    let server = Server::on(root);
    term.keys("r");
    term.wait("the refusal", |screen| {
        let text = screen.text();
        text.contains(&server.0.id().to_string()) && text.contains("valheim_server") && !text.contains("[ Cancel ]")
    });
    term.settle();
    term.keys("\r");
    term.wait("the tree", |screen| screen.text().contains("╭[Saves]"));
    assert_eq!(files(root), before);
    drop(server);
    term.keys("r");
    agree(&mut term, "Restore into Midgard");
    term.wait("the result", |screen| screen.text().contains("Restored Midgard to day"));
    leave(term);
}

#[test]
fn read_only_has_no_keys_that_change_a_save() {
    let (mut term, worlds) = midgard(&Start { words: &["--read-only"], ..Start::default() });
    let before = files(worlds.parent().unwrap());
    for key in ["r", "d", "c", "b", "\x1bOQ", "P", "u"] {
        term.keys(key);
        term.settle();
        let text = term.look(Look::text);
        assert!(text.contains("╭[Saves]") && !text.contains("[ Cancel ]"), "{key:?}:\n{text}");
    }
    assert_eq!(files(worlds.parent().unwrap()), before);
    leave(term);
}
