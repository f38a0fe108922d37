//! Follows what servers say, and turns the lines that concern saves into news.
//!
//! ```text
//! file or command -> bytes -> whole lines -> Game::hears -> news
//! ```
//!
//! Each server has a thread of its own, which sleeps while nothing is said. Nothing is ever written, and a log is data from
//! somebody else: lines are cut at a length, and what is told from them is safe to print.

mod command;
mod ear;
mod file;
mod lines;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use self::ear::Ear;
use crate::games;
use crate::model::{GameId, Heard, ServerLog};

/// What became known from a server's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNews {
    /// The server said something of its saves.
    Heard {
        /// The profile's id.
        profile: String,
        /// What it said; where the line names no world, the one that the server loaded last.
        heard: Heard,
        /// How many more lines said the same just then.
        more: usize,
    },
    /// The output cannot be read; told once, until it is another reason.
    Trouble {
        /// The profile's id.
        profile: String,
        /// Why, in whole sentences, with the next step.
        text: String,
    },
}

/// A server that somebody wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The profile's id.
    pub profile: String,
    /// Whose words it uses.
    pub game: GameId,
    /// Where its output can be read.
    pub log: ServerLog,
}

/// Followers that run; dropping this ends them and the commands that they started.
pub struct Listening {
    stop: Arc<AtomicBool>,
    wakers: Vec<Waker>,
}

/// Wakes a follower. One that has so much to do that it takes no more sees by itself that it was stopped.
enum Waker {
    File(SyncSender<()>),
    Command(SyncSender<command::Said>),
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for waker in &self.wakers {
            match waker {
                Waker::File(waker) => drop(waker.try_send(())),
                Waker::Command(waker) => drop(waker.try_send(command::Said::Woken)),
            }
        }
    }
}

/// Starts to follow each of these, from what is written now on, and calls `sink` from their threads.
pub fn listen(servers: Vec<Spoken>, sink: impl Fn(ServerNews) + Send + Clone + 'static) -> Listening {
    let mut listening = Listening { stop: Arc::default(), wakers: Vec::new() };
    for server in servers {
        let Some(game) = games::by_id(server.game) else { continue };
        let stop = listening.stop.clone();
        let (ear, profile, sink) = (Ear::new(game), server.profile, sink.clone());
        let follower = Follower { ear, profile, told: None, sink, stop };
        let thread = std::thread::Builder::new().name("listen".to_owned());
        // Without a thread nothing is heard; everything else works.
        let _ = match server.log {
            ServerLog::File(path) => {
                // Several wakes before it looks are one.
                let (waker, woken) = sync_channel(1);
                listening.wakers.push(Waker::File(waker.clone()));
                thread.spawn(move || file::follow(&path, follower, &waker, &woken))
            }
            ServerLog::Command(words) => {
                let (waker, inbox) = sync_channel(16);
                listening.wakers.push(Waker::Command(waker.clone()));
                thread.spawn(move || command::follow(&words, follower, &waker, &inbox))
            }
        };
    }
    listening
}

/// What a follower of either kind does with what it gets.
struct Follower<S> {
    ear: Ear,
    profile: String,
    /// The trouble that was told last.
    told: Option<String>,
    sink: S,
    stop: Arc<AtomicBool>,
}

impl<S: Fn(ServerNews)> Follower<S> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Tells what has been heard since the last time.
    fn tell(&mut self) {
        for (heard, more) in self.ear.take() {
            (self.sink)(ServerNews::Heard { profile: self.profile.clone(), heard, more });
        }
    }

    fn trouble(&mut self, text: String) {
        if self.told.as_ref() != Some(&text) {
            (self.sink)(ServerNews::Trouble { profile: self.profile.clone(), text: text.clone() });
            self.told = Some(text);
        }
    }

    /// The output can be read: what is wrong the next time is news again.
    fn well(&mut self) {
        self.told = None;
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
