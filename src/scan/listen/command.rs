use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use super::lines::Lines;
use super::{Follower, ServerNews};
use crate::model::shown;

/// A command that ended is started again after this long, at first and at most.
const SOON: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_secs(60);

/// A command that ran this long did its work: the next end of it is a new matter.
const WELL: Duration = Duration::from_secs(30);

/// Lines that come together are told together.
const TOGETHER: Duration = Duration::from_millis(100);

/// What comes in while a command runs, each with the number of its run.
pub(super) enum Said {
    /// Bytes, from its error output or not.
    Bytes(u64, bool, Vec<u8>),
    /// One of its outputs ended.
    Ended(u64),
    /// Nobody needs it any more.
    Woken,
}

/// Runs a command again and again until it is told to stop.
pub(super) fn follow<S: Fn(ServerNews)>(
    words: &[String],
    mut follower: Follower<S>,
    sender: &SyncSender<Said>,
    inbox: &Receiver<Said>,
) {
    let name = shown(&words.join(" "));
    let (mut pause, mut number) = (SOON, 0);
    while !follower.stopped() {
        let started = Instant::now();
        match start(words) {
            Ok(child) => {
                number += 1;
                let how = Run { child, number, inbox, complaint: String::new() }.follow(sender, &mut follower);
                if follower.stopped() {
                    return;
                }
                follower.trouble(format!(
                    "`{name}` ended{how}; the server is not heard until it runs again. It is tried again."
                ));
            }
            Err(error) => follower.trouble(format!(
                "`{name}` could not be started: {error}. Correct `server_log_command`: the program, then each argument."
            )),
        }
        pause = if started.elapsed() >= WELL { SOON } else { (pause * 2).min(LATE) };
        // What is left of a run that is over is of no use.
        let until = Instant::now() + pause;
        while !follower.stopped() && inbox.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
    }
}

/// Starts it in a group of its own, so that a Ctrl-C in the terminal is not meant for it and its own children end with it.
fn start(words: &[String]) -> io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("no program is named"))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// A command that runs; what it started ends with it when nobody needs it any more.
struct Run<'r> {
    child: Child,
    number: u64,
    inbox: &'r Receiver<Said>,
    /// The last line of its error output.
    complaint: String,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
            // Once it has been waited for, its number may be somebody else's.
            && matches!(self.child.try_wait(), Ok(None))
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Run<'_> {
    /// Reads what it prints until it ends; how it ended, as the end of a sentence.
    fn follow<S: Fn(ServerNews)>(mut self, sender: &SyncSender<Said>, follower: &mut Follower<S>) -> String {
        // Engines of containers hand on the server's own error output as theirs.
        let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
        let mut open = usize::from(out.is_some_and(|out| read(out, self.number, false, sender)));
        open += usize::from(err.is_some_and(|err| read(err, self.number, true, sender)));
        let mut lines = [Lines::default(), Lines::default()];
        while open > 0 && !follower.stopped() {
            let Ok(first) = self.inbox.recv() else { break };
            // A burst is told as one thing.
            let until = Instant::now() + TOGETHER;
            let mut next = Some(first);
            while let Some(said) = next {
                open -= usize::from(self.take(said, &mut lines, follower));
                let left = until.saturating_duration_since(Instant::now());
                next = if open > 0 { self.inbox.recv_timeout(left).ok() } else { None };
            }
            follower.tell();
        }
        if follower.stopped() {
            return String::new();
        }
        let [out, err] = &mut lines;
        out.end(|line| follower.ear.line(line));
        err.end(|line| line.clone_into(&mut self.complaint));
        follower.tell();
        let how = self.child.wait().map_or_else(|_| String::new(), |status| format!(" ({status})"));
        let complaint: String = self.complaint.trim().chars().take(200).collect();
        if complaint.is_empty() { how } else { format!("{how}, and said \"{}\"", shown(&complaint)) }
    }

    /// Takes one thing; true when an output ended.
    fn take<S: Fn(ServerNews)>(&mut self, said: Said, lines: &mut [Lines; 2], follower: &mut Follower<S>) -> bool {
        match said {
            Said::Bytes(number, is_error, bytes) if number == self.number => {
                let [out, err] = lines;
                if is_error {
                    err.feed(&bytes, |line| {
                        follower.ear.line(line);
                        line.clone_into(&mut self.complaint);
                    });
                } else {
                    follower.well();
                    out.feed(&bytes, |line| follower.ear.line(line));
                }
                false
            }
            Said::Ended(number) => number == self.number,
            Said::Bytes(..) | Said::Woken => false,
        }
    }
}

/// Hands what a pipe gives to the follower, from a thread of its own. It ends with the pipe, or with the follower.
fn read(mut pipe: impl Read + Send + 'static, number: u64, is_error: bool, sender: &SyncSender<Said>) -> bool {
    let sender = sender.clone();
    let run = move || {
        let mut block = vec![0; 16 * 1024];
        loop {
            match pipe.read(&mut block) {
                Ok(0) => break,
                Ok(read) => {
                    let bytes = block.get(..read).unwrap_or_default().to_vec();
                    if sender.send(Said::Bytes(number, is_error, bytes)).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(Said::Ended(number));
    };
    std::thread::Builder::new().name("listen-pipe".to_owned()).spawn(run).is_ok()
}
