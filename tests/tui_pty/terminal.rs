//! A pseudo-terminal with a screen model.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// The longest that anything is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// How the program is started.
pub(crate) struct Start<'a> {
    pub(crate) wrapper: &'a [&'a str],
    pub(crate) env: &'a [(&'a str, &'a str)],
    pub(crate) demo: bool,
    pub(crate) words: &'a [&'a str],
}

impl Default for Start<'_> {
    fn default() -> Self {
        Self { wrapper: &[], env: &[], demo: true, words: &[] }
    }
}

/// What the terminal shows, in the words of the tests.
pub(crate) trait Look {
    /// Its rows.
    fn text(&self) -> String;

    /// The row of the selected line of the tree, from 0.
    fn selected(&self) -> Option<u16>;
}

impl Look for vt100::Screen {
    fn text(&self) -> String {
        let (_, columns) = self.size();
        let rows: Vec<String> = self.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n")
    }

    fn selected(&self) -> Option<u16> {
        let (rows, _) = self.size();
        (0..rows.get()).find(|row| self.cell(*row, 3).is_some_and(vt100::Cell::inverse))
    }
}

pub(crate) struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    parser: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
    home: tempfile::TempDir,
}

impl Terminal {
    /// The program on its demo saves, 120 by 40.
    pub(crate) fn demo() -> Self {
        Self::start(&Start::default())
    }

    pub(crate) fn start(start: &Start<'_>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut words: Vec<&str> = start.wrapper.to_vec();
        words.push(env!("CARGO_BIN_EXE_worldkeep"));
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        if start.demo {
            command.arg(format!("--demo={}", home.path().join("demo").display()));
        }
        command.args(start.words);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(name, home.path());
        }
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("TZ", "UTC")] {
            command.env(name, value);
        }
        for (name, value) in start.env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0)));
        let written = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let mut from = pair.master.try_clone_reader().unwrap();
        let reader = std::thread::spawn({
            let (parser, written, stop) = (Arc::clone(&parser), Arc::clone(&written), Arc::clone(&stop));
            move || {
                let mut buffer = [0; 8192];
                while !stop.load(Ordering::SeqCst) {
                    match from.read(&mut buffer) {
                        Ok(n @ 1..) => {
                            parser.lock().unwrap().process(&buffer[..n]);
                            written.lock().unwrap().extend_from_slice(&buffer[..n]);
                        }
                        _ => return,
                    }
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self {
            master: Some(pair.master),
            writer: Some(writer),
            child,
            parser,
            written,
            stop,
            reader: Some(reader),
            home,
        }
    }

    /// The folder that is its home, with the demo saves in `demo`.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Looks at the screen.
    pub(crate) fn look<T>(&self, at: impl Fn(&vt100::Screen) -> T) -> T {
        at(self.parser.lock().unwrap().screen())
    }

    /// Waits until the screen is as it should be.
    pub(crate) fn wait(&mut self, what: &str, good: impl Fn(&vt100::Screen) -> bool) {
        let since = Instant::now();
        while !self.look(&good) {
            let text = self.look(Look::text);
            assert!(since.elapsed() < LIMIT, "no {what} after {LIMIT:?}; the screen:\n{text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until nothing has been written for a while, so that what follows is an answer to what is sent next.
    pub(crate) fn settle(&mut self) {
        let (mut bytes, mut since) = (0, Instant::now());
        let begun = Instant::now();
        while since.elapsed() < Duration::from_millis(400) && begun.elapsed() < LIMIT {
            let now = self.written.lock().unwrap().len();
            if now != bytes {
                (bytes, since) = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn keys(&mut self, text: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.parser.lock().unwrap().screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap().try_into().unwrap()).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until the process is stopped; false where that cannot be seen.
    pub(crate) fn stopped(&self) -> bool {
        let path = format!("/proc/{}/stat", self.pid().as_raw_nonzero());
        let since = Instant::now();
        while since.elapsed() < LIMIT {
            let Ok(text) = std::fs::read_to_string(&path) else { return false };
            if text.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the program did not stop");
    }

    /// Waits for the end of the process; its exit code.
    pub(crate) fn ended(&mut self) -> u32 {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            if since.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("the program did not end; the screen:\n{}", self.look(Look::text));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes our end of the terminal, every copy of it.
    pub(crate) fn hang_up(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Whatever it writes next lets the reader notice that it shall end.
        self.keys("jkjk?");
        self.reader.take().unwrap().join().unwrap();
        self.writer = None;
        self.master = None;
    }

    /// Waits until no process works on our folder any more.
    pub(crate) fn gone(&mut self) {
        let mark = self.home.path().display().to_string();
        let since = Instant::now();
        loop {
            let _ = self.child.try_wait();
            let running = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&words).contains(&mark)
            });
            if !running {
                return;
            }
            assert!(since.elapsed() < LIMIT, "the program still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Everything that was written so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
