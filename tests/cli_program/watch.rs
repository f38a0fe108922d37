//! `worldkeep watch` from outside: what is told when a game saves, when a save goes wrong, when worldkeep itself puts one
//! back, and when the server says something.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use worldkeep::games::valheim::write::{Object, WorldPlan};

use crate::house::House;

/// A world of some objects, of which a half can be lost.
fn plan(day: f64, objects: usize) -> WorldPlan {
    let mut plan = WorldPlan::new("Midgard", "SmallSeed1");
    plan.net_time = day * 1800.0;
    plan.objects = (0..objects).map(|_| Object::new("Beech1", [1.0, 30.0, 1.0])).collect();
    plan.zones_from_objects();
    plan
}

/// A house with a save root of its own.
struct Server {
    house: House,
    root: PathBuf,
}

impl Server {
    fn new() -> Self {
        let house = House::new();
        let root = house.path("server");
        fs::create_dir_all(root.join("worlds_local")).unwrap();
        Self { house, root: root.canonicalize().unwrap() }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join("worlds_local").join(name)
    }

    /// Saves as the game does: every file of the new generation, `.ok` last, and then the older ones go.
    fn save(&self, name: &str, plan: &WorldPlan, generation: u32) {
        let folder = self.folder(name);
        fs::create_dir_all(&folder).unwrap();
        let files = plan.to_folder(41, generation, |_| generation);
        let minutes = 60 * (300 - u64::from(generation));
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_040_000 - minutes);
        for (file, bytes) in &files {
            fs::write(folder.join(file), bytes).unwrap();
            fs::File::options().write(true).open(folder.join(file)).unwrap().set_modified(at).unwrap();
        }
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if !files.iter().any(|(name, _)| entry.file_name().to_str() == Some(name)) {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }

    fn watch(&self, args: &[&str]) -> Watching {
        let mut command = self.house.command();
        command.arg("watch").args(args).arg(&self.root).stdout(Stdio::piped()).stderr(Stdio::piped());
        Watching::new(command.spawn().unwrap())
    }

    /// The id of the layer that lies there.
    fn layer(&self, path: &Path) -> String {
        let (list, _) = self.house.json(&["list", self.root.to_str().unwrap()]);
        let layer =
            crate::house::layers(&list).into_iter().find(|layer| layer["path"] == path.to_str().unwrap()).cloned();
        layer.unwrap_or_else(|| panic!("no {} in {list}", path.display()))["id"].as_str().unwrap().to_owned()
    }
}

/// A running watch; it is killed when a test ends early.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn new(mut child: Child) -> Self {
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("nothing more was told")
    }

    #[track_caller]
    fn next(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    /// The next thing that is told, which has to be this.
    #[track_caller]
    fn expect(&self, event: &str, severity: &str) -> Value {
        let news = self.next();
        assert_eq!((news["event"].as_str(), news["severity"].as_str()), (Some(event), Some(severity)), "{news}");
        assert_eq!((&news["schema"], &news["at"]), (&1.into(), &"2026-11-30T12:00:00+00:00".into()), "{news}");
        news
    }

    /// Ends it by a signal; gives back how it ended and what it had not told yet.
    fn end(mut self, signal: rustix::process::Signal) -> (Option<i32>, Vec<String>) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, self.lines.iter().collect())
    }
}

#[test]
fn each_save_that_lands_is_checked_and_told_and_a_lost_chunk_is_an_error() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    let watching = server.watch(&["--json"]);
    let first = watching.expect("watching", "note");
    assert_eq!(first["profile"], "server");
    server.save("Midgard", &plan(13.5, 301), 6);
    let saved = watching.expect("saved", "note");
    assert_eq!((&saved["generation"], &saved["objects"]), (&6.into(), &301.into()), "{saved}");
    assert_eq!((&saved["world"], &saved["layer"]), (&"server/Midgard".into(), &"server/Midgard@live".into()));
    assert!(saved["text"].as_str().unwrap().contains("whole") && saved["text"].as_str().unwrap().contains("day 13"));
    let chunk = fs::read_dir(server.folder("Midgard")).unwrap().map(|entry| entry.unwrap().path());
    let chunk = chunk.into_iter().find(|path| path.extension().is_some_and(|e| e == "chunk")).unwrap();
    fs::remove_file(&chunk).unwrap();
    let lost = watching.expect("finding", "error");
    assert_eq!(lost["code"], "missing-file", "{lost}");
    assert!(lost["text"].as_str().unwrap().contains(chunk.file_name().unwrap().to_str().unwrap()), "{lost}");
    let (code, rest) = watching.end(rustix::process::Signal::TERM);
    assert_eq!(code, Some(130), "{rest:?}");
}

#[test]
fn a_restore_is_told_as_ours_and_a_fresh_world_after_it_raises_an_alarm_with_the_way_back() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    server.save("Midgard_backup_20261129180000", &plan(10.5, 290), 3);
    let backup = server.layer(&server.folder("Midgard_backup_20261129180000"));
    let watching = server.watch(&["--json"]);
    watching.expect("watching", "note");
    let restore = server.house.run(&["restore", &backup, "--yes", "--root", server.root.to_str().unwrap()]);
    assert_eq!(restore.code, Some(0), "{restore:?}");
    let ours = watching.expect("operation", "note");
    let operation = ours["operation"].as_str().unwrap().to_owned();
    assert_eq!(ours["world"], "server/Midgard");
    // The game loads something else and saves that: same seed, but it begins on the first day with few objects.
    server.save("Midgard", &plan(1.1, 20), 4);
    assert_eq!(watching.expect("finding", "warning")["code"], "live-smaller");
    assert_eq!(watching.expect("saved", "note")["generation"], 4);
    let fresh = watching.expect("fresh-world", "error");
    assert_eq!(fresh["operation"], operation.as_str());
    assert!(fresh["next"].as_str().unwrap().contains(&format!("worldkeep undo {operation}")), "{fresh}");
    // That is told once.
    server.save("Midgard", &plan(1.2, 20), 6);
    assert_eq!(watching.expect("saved", "note")["generation"], 6);
    let (_, rest) = watching.end(rustix::process::Signal::INT);
    assert_eq!(rest, Vec::<String>::new());
    // Whoever begins to watch later is told as well.
    let watching = server.watch(&["--json", "--quiet"]);
    assert_eq!(watching.expect("finding", "warning")["code"], "live-smaller");
    watching.expect("fresh-world", "error");
}

#[test]
fn the_first_save_that_came_of_a_restore_is_told_as_such() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    server.save("Midgard_backup_20261129180000", &plan(10.5, 290), 3);
    let backup = server.layer(&server.folder("Midgard_backup_20261129180000"));
    let restore = server.house.run(&["restore", &backup, "--yes", "--root", server.root.to_str().unwrap()]);
    assert_eq!(restore.code, Some(0), "{restore:?}");
    let watching = server.watch(&["--json"]);
    watching.expect("watching", "note");
    server.save("Midgard", &plan(10.6, 291), 4);
    watching.expect("saved", "note");
    watching.expect("first-save", "note");
    server.save("Midgard", &plan(10.7, 291), 5);
    assert_eq!(watching.expect("saved", "note")["generation"], 5);
    let undone = server.house.run(&["undo", "--yes", "--root", server.root.to_str().unwrap()]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    watching.expect("operation", "note");
}

#[test]
fn a_world_that_goes_is_an_error_that_says_not_to_start_the_server() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    server.save("Midgard_backup_20261129180000", &plan(10.5, 290), 3);
    let watching = server.watch(&["--json"]);
    watching.expect("watching", "note");
    fs::rename(server.folder("Midgard"), server.house.path("away")).unwrap();
    let gone = watching.next();
    assert_eq!((&gone["event"], &gone["severity"]), (&"live-gone".into(), &"error".into()), "{gone}");
    let next = gone["next"].as_str().unwrap();
    assert!(next.contains("Do not start the server") && next.contains('@'), "{gone}");
}

#[test]
fn what_the_server_says_is_told_and_a_load_of_another_save_is_an_alarm() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    let log = server.house.path("server.log");
    fs::write(&log, "11/30/2026 11:00:00: World save (5/5) FAILED. Total time [12ms]\n").unwrap();
    let entry = format!(
        "discover = false\n[[profile]]\nname = \"mine\"\npath = \"{}\"\nserver_log = \"{}\"\n",
        server.root.display(),
        log.display()
    );
    server.house.configure(&entry);
    let mut command = server.house.command();
    command.args(["watch", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let watching = Watching::new(command.spawn().unwrap());
    assert_eq!(watching.expect("watching", "note")["profile"], "mine");
    let say = |line: &str| {
        let mut log = fs::File::options().append(true).open(&log).unwrap();
        writeln!(log, "11/30/2026 12:00:00: {line}").unwrap();
    };
    // What stood there before is no news; from when on it is followed cannot be seen from here, so it is said again.
    let heard = (0..30).find_map(|_| {
        say("ZNet.LoadOldWorld done");
        watching.lines.recv_timeout(Duration::from_secs(2)).ok()
    });
    let heard: Value = serde_json::from_str(&heard.expect("nothing was heard")).unwrap();
    assert_eq!((&heard["event"], &heard["severity"]), (&"old-format-loaded".into(), &"warning".into()), "{heard}");
    assert_eq!(heard["world"], "mine/Midgard");
    let next = || loop {
        let news = watching.next();
        if news["event"] != "old-format-loaded" {
            break news;
        }
    };
    say("ZNet.LoadWorld: Midgard (Midgard), save number 2");
    let loading = next();
    assert_eq!((&loading["event"], &loading["generation"]), (&"world-loading".into(), &2.into()), "{loading}");
    let other = next();
    assert_eq!((&other["event"], &other["severity"]), (&"other-load".into(), &"warning".into()), "{other}");
    say("ZNet.LoadWorld: Midgard (Midgard), save number 5");
    assert_eq!(next()["event"], "world-loading");
    say("World save (5/5) FAILED. Total time [12ms]");
    let failed = next();
    assert_eq!((&failed["event"], &failed["severity"]), (&"save-failed".into(), &"error".into()), "{failed}");
}

#[test]
fn lines_for_people_have_time_sign_and_id_and_a_reader_that_goes_ends_it() {
    let server = Server::new();
    server.save("Midgard", &plan(12.5, 300), 5);
    let mut watching = server.watch(&["--ascii"]);
    let line = watching.line();
    assert_eq!(line, format!("2026-11-30 12:00:00 - server: Watching {} with 1 world.", server.root.display()));
    // The thread that reads ends with its next line, and with it the pipe.
    watching.lines = channel().1;
    let mut generation = 6;
    let ended = (0..60).any(|_| {
        server.save("Midgard", &plan(12.5 + f64::from(generation), 300), generation);
        generation += 1;
        std::thread::sleep(Duration::from_secs(1));
        watching.child.try_wait().unwrap().is_some()
    });
    assert!(ended, "it goes on without a reader");
    assert_eq!(watching.child.wait().unwrap().code(), Some(0));
}

#[test]
fn without_a_save_there_is_nothing_to_watch() {
    let house = House::new();
    let run = house.run(&["watch", "--root", "."]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.out.is_empty() && run.err.contains("No saves found"), "{run:?}");
}
