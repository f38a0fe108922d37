//! Notices when a profile's files change: by the system's notifications, and by looking where those cannot work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::{Config, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::games;
use crate::model::{Container, Profile, shown};

/// A burst of changes is over when nothing happened for this long. A Valheim save writes its files within a second.
const QUIET: Duration = Duration::from_millis(300);

/// A burst that does not end is reported after this long all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a place is looked at where the system cannot notify.
const POLL: Duration = Duration::from_secs(10);

/// What a watch noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Something in a profile changed, and a burst of changes is over: scan it again.
    Changed {
        /// The profile's id.
        profile: String,
    },
    /// A profile is looked at every few seconds, since the system cannot notify there.
    Polling {
        /// The profile's id.
        profile: String,
        /// Why, in words.
        why: String,
    },
}

enum Message {
    Follow(Vec<Followed>),
    Touched(Vec<PathBuf>),
    Everything,
    Stop,
}

/// What is watched of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Followed {
    profile: String,
    game: &'static str,
    dirs: BTreeSet<PathBuf>,
}

/// A running watch; dropping it ends its thread.
pub struct Watch {
    messages: Sender<Message>,
}

impl Watch {
    /// Watches exactly these profiles from now on. Does no I/O itself.
    pub fn follow(&self, profiles: &[Profile]) {
        let followed = profiles.iter().map(Followed::of).collect();
        // A watch whose thread has ended watches nothing; the caller can still rescan by hand.
        let _ = self.messages.send(Message::Follow(followed));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
    }
}

impl Followed {
    /// The root, the folders in it that the game lists, and every folder that holds a file of a layer.
    fn of(profile: &Profile) -> Self {
        let mut dirs = BTreeSet::from([profile.root.clone()]);
        if let Some(game) = games::by_id(profile.game) {
            dirs.extend(game.watched_folders().iter().map(|dir| profile.root.join(dir)));
        }
        for layer in profile.worlds.iter().flat_map(|world| &world.layers) {
            // An archive does not change inside; the folder around it is what to watch.
            let files = layer.files.iter().filter(|_| matches!(layer.container, Container::Folder | Container::Files));
            dirs.extend(files.filter_map(|f| layer.source.outer.join(&f.path).parent().map(Path::to_path_buf)));
            dirs.extend(
                layer.source.outer.parent().map(Path::to_path_buf).filter(|_| profile.root == layer.source.outer),
            );
        }
        Self { profile: profile.id.clone(), game: profile.game, dirs }
    }

    fn cares_about(&self, path: &Path) -> bool {
        let inside = self.dirs.contains(path) || path.parent().is_some_and(|dir| self.dirs.contains(dir));
        inside && games::by_id(self.game).is_none_or(|game| game.cares_about(path))
    }
}

/// Starts a thread that watches and calls `sink` for what it notices. Nothing wakes it while nothing changes.
pub fn watch(sink: impl Fn(WatchEvent) + Send + 'static) -> Watch {
    let (messages, inbox) = channel();
    let own = messages.clone();
    let run = move || {
        Follower { messages: own, sink, followed: Vec::new(), native: None, polling: None, dirty: None }.run(&inbox);
    };
    // Without a thread there is no live refresh; everything else works.
    let _ = std::thread::Builder::new().name("watch".to_owned()).spawn(run);
    Watch { messages }
}

/// A burst of changes that is not over yet.
struct Burst {
    profiles: BTreeSet<String>,
    since: Instant,
}

struct Follower<S> {
    messages: Sender<Message>,
    sink: S,
    followed: Vec<Followed>,
    native: Option<RecommendedWatcher>,
    polling: Option<PollWatcher>,
    dirty: Option<Burst>,
}

impl<S: Fn(WatchEvent)> Follower<S> {
    fn run(mut self, inbox: &Receiver<Message>) {
        loop {
            let message = match &self.dirty {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(burst) => inbox.recv_timeout(QUIET.min(PATIENCE.saturating_sub(burst.since.elapsed()))),
            };
            match message {
                Ok(Message::Follow(followed)) => self.follow(followed),
                Ok(Message::Touched(paths)) => self.touched(|f| paths.iter().any(|path| f.cares_about(path))),
                Ok(Message::Everything) => self.touched(|_| true),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    for profile in self.dirty.take().into_iter().flat_map(|burst| burst.profiles) {
                        (self.sink)(WatchEvent::Changed { profile });
                    }
                }
            }
        }
    }

    fn touched(&mut self, touches: impl Fn(&Followed) -> bool) {
        let profiles: Vec<String> = self.followed.iter().filter(|f| touches(f)).map(|f| f.profile.clone()).collect();
        if !profiles.is_empty() {
            let burst = self.dirty.get_or_insert_with(|| Burst { profiles: BTreeSet::new(), since: Instant::now() });
            burst.profiles.extend(profiles);
        }
    }

    fn follow(&mut self, followed: Vec<Followed>) {
        if followed == self.followed {
            return;
        }
        for new in &followed {
            let old = self.followed.iter().find(|old| old.profile == new.profile).map(|old| old.dirs.clone());
            let old = old.unwrap_or_default();
            let mut polling = None;
            for dir in new.dirs.difference(&old).filter(|dir| dir.is_dir()) {
                if let Err(why) = self.add(dir) {
                    polling = Some(why);
                }
            }
            if let Some(why) = polling {
                (self.sink)(WatchEvent::Polling { profile: new.profile.clone(), why });
            }
        }
        let wanted: BTreeSet<&PathBuf> = followed.iter().flat_map(|f| &f.dirs).collect();
        for dir in self.followed.iter().flat_map(|f| &f.dirs).filter(|dir| !wanted.contains(dir)) {
            // A folder that is gone has lost its watch already.
            if let Some(native) = &mut self.native {
                let _ = native.unwatch(dir);
            }
            if let Some(polling) = &mut self.polling {
                let _ = polling.unwatch(dir);
            }
        }
        self.followed = followed;
    }

    /// Watches one folder; the error says why it is polled instead.
    fn add(&mut self, dir: &Path) -> Result<(), String> {
        let why = match super::mount::silent_mount(dir) {
            Some(kind) => format!("{kind} does not tell about changes made on other machines"),
            None => match self.native().and_then(|native| native.watch(dir, RecursiveMode::NonRecursive)) {
                Ok(()) => return Ok(()),
                Err(error) => match error.kind {
                    notify::ErrorKind::MaxFilesWatch => "the system's limit of watched folders is reached".to_owned(),
                    notify::ErrorKind::PathNotFound => return Ok(()),
                    _ => shown(&error.to_string()),
                },
            },
        };
        if self.polling.is_none() {
            let config = Config::default().with_poll_interval(POLL);
            self.polling = PollWatcher::new(forward(self.messages.clone()), config).ok();
        }
        if let Some(polling) = &mut self.polling {
            // A folder that even this cannot look at changes nothing that we could show.
            let _ = polling.watch(dir, RecursiveMode::NonRecursive);
        }
        Err(why)
    }

    fn native(&mut self) -> notify::Result<&mut RecommendedWatcher> {
        if self.native.is_none() {
            let watcher = RecommendedWatcher::new(forward(self.messages.clone()), Config::default())?;
            self.native = Some(watcher);
        }
        self.native.as_mut().ok_or_else(|| notify::Error::generic("no watcher"))
    }
}

/// Hands what a watcher reports to the thread; reading a file is no change.
fn forward(messages: Sender<Message>) -> impl Fn(notify::Result<notify::Event>) + Send + 'static {
    move |event| {
        let message = match event {
            Ok(event) if event.need_rescan() => Message::Everything,
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => Message::Touched(event.paths),
            Err(_) => Message::Everything,
        };
        let _ = messages.send(message);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{WatchEvent, watch};
    use crate::model::{Found, Profile};

    fn profile(root: PathBuf) -> Profile {
        Profile {
            id: "p".into(),
            name: "p".into(),
            game: "valheim",
            root,
            found: Found::Argument,
            free_bytes: None,
            findings: Vec::new(),
            worlds: Vec::new(),
        }
    }

    #[test]
    fn a_new_file_in_a_worlds_folder_is_noticed_once_per_burst() {
        let dir = tempfile::tempdir().unwrap();
        let worlds = dir.path().join("worlds_local");
        std::fs::create_dir(&worlds).unwrap();
        let (sender, events) = channel();
        let watch = watch(move |event| {
            let _ = sender.send(event);
        });
        watch.follow(&[profile(dir.path().to_path_buf())]);
        // The watch is set up in its own thread, so write until it has seen something.
        let changed = WatchEvent::Changed { profile: "p".into() };
        let noticed = (0..100).any(|n| {
            std::fs::write(worlds.join(format!("W{n}.fwl")), b"x").unwrap();
            events.recv_timeout(Duration::from_millis(500)).is_ok_and(|event| event == changed)
        });
        assert!(noticed);
    }
}
