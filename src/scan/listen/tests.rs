use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::{Listening, ServerNews, Spoken, listen};
use crate::model::ServerLog;

/// Long enough for a busy machine; nothing waits for it that goes well.
const LONG: Duration = Duration::from_secs(60);

fn listening(log: ServerLog) -> (Listening, Receiver<ServerNews>) {
    let (sender, news) = channel();
    let spoken = Spoken { profile: "p".into(), game: "valheim", log };
    let listening = listen(vec![spoken], move |said| {
        let _ = sender.send(said);
    });
    (listening, news)
}

fn follow(path: &Path) -> (Listening, Receiver<ServerNews>) {
    listening(ServerLog::File(path.to_path_buf()))
}

fn command(script: &str) -> (Listening, Receiver<ServerNews>) {
    listening(ServerLog::Command(["sh", "-c", script].map(str::to_owned).to_vec()))
}

/// The next thing that was heard: event, world, save, and how many more lines said so.
fn heard(news: &Receiver<ServerNews>) -> (&'static str, Option<String>, Option<u64>, usize) {
    match news.recv_timeout(LONG).expect("nothing was heard") {
        ServerNews::Heard { heard, more, .. } => (heard.event, heard.world, heard.generation, more),
        trouble @ ServerNews::Trouble { .. } => panic!("{trouble:?}"),
    }
}

fn load(number: u64) -> String {
    format!("12/01/2026 04:27:00: ZNet.LoadWorld: M (M), save number {number}\n")
}

fn is_load(news: &Receiver<ServerNews>, number: u64) {
    assert_eq!(heard(news), ("world-loading", Some("M".into()), Some(number), 0));
}

fn append(path: &Path, text: &str) {
    File::options().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Writes the load of another and another save until the follower has begun: it starts in a thread of its own.
fn begun(path: &Path, news: &Receiver<ServerNews>) -> u64 {
    for number in 1..=600 {
        append(path, &load(number));
        if let Ok(ServerNews::Heard { heard, .. }) = news.recv_timeout(Duration::from_millis(100)) {
            assert_eq!(heard.event, "world-loading");
            // Those that were read together with the last one come one by one.
            while news.recv_timeout(Duration::from_millis(500)).is_ok() {}
            return 1000;
        }
    }
    panic!("the follower never began");
}

#[test]
fn only_what_is_written_from_now_on_is_told_and_a_line_when_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.log");
    append(&path, &load(77_777));
    append(&path, "12/01/2026 04:27:00: ZNet.LoadOldWorld d");
    let (_listening, news) = follow(&path);
    let number = begun(&path, &news);
    let line = load(number);
    let (start, end) = line.split_at(30);
    append(&path, start);
    assert!(news.recv_timeout(Duration::from_millis(500)).is_err());
    append(&path, end);
    is_load(&news, number);
}

#[test]
fn a_log_that_is_renamed_and_made_anew_is_followed_on_with_nothing_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.log");
    append(&path, "");
    let (_listening, news) = follow(&path);
    let number = begun(&path, &news);
    for round in 0..5 {
        append(&path, &load(number + 10 * round));
        fs::rename(&path, dir.path().join(format!("server.log.{round}"))).unwrap();
        append(&path, &load(number + 10 * round + 1));
        is_load(&news, number + 10 * round);
        is_load(&news, number + 10 * round + 1);
    }
}

#[test]
fn a_log_that_is_cut_is_read_from_its_start_even_when_it_has_grown_longer_than_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.log");
    append(&path, "");
    let (_listening, news) = follow(&path);
    let number = begun(&path, &news);
    fs::write(&path, load(number)).unwrap();
    is_load(&news, number);
    let mut long = load(number + 1);
    long.push_str(&"12/01/2026 04:28:00: something else\n".repeat(200));
    fs::write(&path, long).unwrap();
    is_load(&news, number + 1);
}

#[test]
fn a_log_that_is_not_there_is_told_once_and_read_from_its_start_when_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.log");
    let (_listening, news) = follow(&path);
    let ServerNews::Trouble { text, .. } = news.recv_timeout(LONG).unwrap() else { panic!("no trouble") };
    assert!(text.contains("server.log' is not there. It is read as soon as it is"), "{text}");
    fs::write(dir.path().join("other.log"), "x").unwrap();
    assert!(news.recv_timeout(Duration::from_millis(500)).is_err());
    append(&path, &load(5));
    is_load(&news, 5);
}

#[test]
fn a_link_is_followed_to_the_log_and_to_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let (link, real) = (dir.path().join("current.log"), dir.path().join("logs"));
    fs::create_dir(&real).unwrap();
    append(&real.join("1.log"), "");
    std::os::unix::fs::symlink(real.join("1.log"), &link).unwrap();
    let (_listening, news) = follow(&link);
    let number = begun(&real.join("1.log"), &news);
    append(&real.join("2.log"), &load(number));
    std::os::unix::fs::symlink(real.join("2.log"), dir.path().join("new")).unwrap();
    fs::rename(dir.path().join("new"), &link).unwrap();
    is_load(&news, number);
    append(&real.join("2.log"), &load(number + 1));
    is_load(&news, number + 1);
}

#[test]
fn what_is_no_ordinary_file_is_refused_with_the_way_to_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    for path in [path.as_path(), dir.path()] {
        let (_listening, news) = follow(path);
        let ServerNews::Trouble { text, .. } = news.recv_timeout(LONG).unwrap() else { panic!("no trouble") };
        assert!(text.contains("is no ordinary file") && text.contains("server_log_command"), "{text}");
    }
}

#[test]
fn a_line_of_many_megabytes_and_bytes_that_are_no_text_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.log");
    append(&path, "");
    let (_listening, news) = follow(&path);
    let number = begun(&path, &news);
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(&vec![b'x'; 20 << 20]).unwrap();
    file.write_all(b"\n\xff\xfe\0\n").unwrap();
    append(&path, &load(number));
    is_load(&news, number);
}

#[test]
fn a_command_is_heard_on_both_of_its_outputs_and_a_burst_is_one_thing() {
    let (_listening, news) = command(
        "echo 'ZNet.LoadWorld: M (M), save number 7'; sleep 1; for n in 1 2 3; do echo \"Removing orphan CHUNK file: $n\"; \
         done; sleep 1; echo 'World save (5/5) FAILED. Total time [12ms]' >&2; sleep 1000",
    );
    is_load(&news, 7);
    assert_eq!(heard(&news), ("orphan-chunk-removed", Some("M".into()), None, 2));
    assert_eq!(heard(&news), ("save-failed", Some("M".into()), None, 0));
}

#[test]
fn a_command_that_ends_or_is_not_there_is_told_with_its_reason() {
    let (_listening, news) = command("echo 'no such container' >&2; exit 3");
    let ServerNews::Trouble { text, profile } = news.recv_timeout(LONG).unwrap() else { panic!("no trouble") };
    assert!(text.contains("exit status: 3") && text.contains("said \"no such container\""), "{text}");
    assert_eq!(profile, "p");
    let (_listening, news) = listening(ServerLog::Command(vec!["/nowhere/journalctl".into(), "-f".into()]));
    let ServerNews::Trouble { text, .. } = news.recv_timeout(LONG).unwrap() else { panic!("no trouble") };
    assert!(text.starts_with("`/nowhere/journalctl -f` could not be started"), "{text}");
}

#[test]
fn a_command_that_ended_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let (_listening, news) =
        command(&format!("echo x >> {0}; echo \"ZNet.LoadWorld: M (M), save number $(wc -l < {0})\"", count.display()));
    is_load(&news, 1);
    assert!(matches!(news.recv_timeout(LONG), Ok(ServerNews::Trouble { .. })));
    is_load(&news, 2);
}

#[test]
fn a_command_and_what_it_started_end_when_nobody_listens_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let (own, child) = (dir.path().join("own"), dir.path().join("child"));
    let script =
        format!("sleep 1000 & echo $! > {}; echo $$ > {}; echo 'Load world M'; wait", child.display(), own.display());
    let (listening, news) = command(&script);
    assert_eq!(heard(&news).0, "world-loading");
    let pids: Vec<String> =
        [own, child].iter().map(|file| fs::read_to_string(file).unwrap().trim().to_owned()).collect();
    drop(listening);
    let gone = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    for _ in 0..600 {
        if pids.iter().all(gone) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{pids:?} still run");
}
