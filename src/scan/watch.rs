//! Notices when a profile's files change: by the system's notifications, and by looking where those cannot work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
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
    Touched {
        paths: Vec<PathBuf>,
        /// Something came, went or got another name, so a watched folder may be another one now.
        named: bool,
    },
    Everything,
    Stop,
}

/// What is watched of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Followed {
    profile: String,
    game: &'static str,
    dirs: BTreeSet<PathBuf>,
    /// The folder around the root, which alone tells when the root itself goes and comes again.
    around: Option<PathBuf>,
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
        let around = profile.root.parent().map(Path::to_path_buf).filter(|dir| !dir.as_os_str().is_empty());
        Self { profile: profile.id.clone(), game: profile.game, dirs, around }
    }

    fn watched(&self) -> impl Iterator<Item = &PathBuf> {
        self.dirs.iter().chain(&self.around)
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
        let (followed, watched) = (Vec::new(), BTreeMap::new());
        Follower { messages: own, sink, followed, watched, native: None, polling: None, dirty: None }.run(&inbox);
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
    /// Every folder that is watched by now; for one that is polled, why.
    watched: BTreeMap<PathBuf, Option<String>>,
    native: Option<RecommendedWatcher>,
    polling: Option<PollWatcher>,
    dirty: Option<Burst>,
}

impl<S: Fn(WatchEvent)> Follower<S> {
    fn run(mut self, inbox: &Receiver<Message>) {
        loop {
            let message = match &self.dirty {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                // Asked before the inbox, which may never be empty while a burst goes on.
                Some(burst) if burst.since.elapsed() >= PATIENCE => Err(RecvTimeoutError::Timeout),
                Some(burst) => inbox.recv_timeout(QUIET.min(PATIENCE.saturating_sub(burst.since.elapsed()))),
            };
            match message {
                Ok(Message::Follow(followed)) => self.follow(followed),
                Ok(Message::Touched { paths, named }) => {
                    if named {
                        self.renamed(&paths);
                    }
                    self.touched(|f| paths.iter().any(|path| f.cares_about(path)));
                }
                Ok(Message::Everything) => self.touched(|_| true),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    // Before anybody looks, so that no change falls between the look and the watch.
                    self.arm();
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

    /// Forgets the watches of folders that got another name, went or came: the system watches the folder and not the
    /// name, so after an exchange it would go on to tell about the one that was put aside.
    fn renamed(&mut self, paths: &[PathBuf]) {
        let moved = |dir: &PathBuf| paths.iter().any(|path| dir.starts_with(path));
        let lost: Vec<PathBuf> = self.watched.keys().filter(|dir| moved(dir)).cloned().collect();
        for dir in lost {
            self.forget(&dir);
        }
    }

    fn forget(&mut self, dir: &Path) {
        self.watched.remove(dir);
        // A folder that is gone has lost its watch already.
        if let Some(native) = &mut self.native {
            let _ = native.unwatch(dir);
        }
        if let Some(polling) = &mut self.polling {
            let _ = polling.unwatch(dir);
        }
    }

    fn follow(&mut self, followed: Vec<Followed>) {
        let wanted: BTreeSet<&PathBuf> = followed.iter().flat_map(Followed::watched).collect();
        let unwanted: Vec<PathBuf> = self.watched.keys().filter(|dir| !wanted.contains(dir)).cloned().collect();
        for dir in unwanted {
            self.forget(&dir);
        }
        self.followed = followed;
        self.arm();
    }

    /// Watches every wanted folder that is there and not watched yet.
    fn arm(&mut self) {
        let followed = std::mem::take(&mut self.followed);
        let mut polled = BTreeMap::new();
        for one in &followed {
            for dir in one.watched() {
                if self.watched.contains_key(dir) || !dir.is_dir() {
                    continue;
                }
                let why = self.add(dir).err();
                if let Some(why) = &why {
                    polled.insert(dir.clone(), why.clone());
                }
                self.watched.insert(dir.clone(), why);
            }
        }
        for one in &followed {
            if let Some(why) = one.dirs.iter().find_map(|dir| polled.get(dir)) {
                (self.sink)(WatchEvent::Polling { profile: one.profile.clone(), why: why.clone() });
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
            Ok(event) => {
                let named = matches!(
                    event.kind,
                    EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
                );
                Message::Touched { paths: event.paths, named }
            }
            Err(_) => Message::Everything,
        };
        let _ = messages.send(message);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::time::Duration;

    use super::{Watch, WatchEvent, watch};
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

    /// A watch over one profile, its events, and a folder to change.
    fn watching(dir: &Path) -> (Watch, Receiver<WatchEvent>) {
        let (sender, events) = channel();
        let watch = watch(move |event| {
            let _ = sender.send(event);
        });
        watch.follow(&[profile(dir.to_path_buf())]);
        (watch, events)
    }

    /// Changes something again and again until it is noticed: the watch is set up in a thread of its own.
    fn noticed(events: &Receiver<WatchEvent>, mut change: impl FnMut(u32)) -> bool {
        (0..60).any(|n| {
            change(n);
            events.recv_timeout(Duration::from_millis(500)) == Ok(WatchEvent::Changed { profile: "p".into() })
        })
    }

    /// Takes what is still on its way.
    fn quiet(events: &Receiver<WatchEvent>) {
        while events.recv_timeout(Duration::from_millis(700)).is_ok() {}
    }

    fn write_in(dir: &Path, n: u32) {
        let _ = fs::write(dir.join(format!("W{n}.fwl")), b"x");
    }

    #[test]
    fn a_new_file_in_a_worlds_folder_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let worlds = dir.path().join("worlds_local");
        fs::create_dir(&worlds).unwrap();
        let (_watch, events) = watching(dir.path());
        assert!(noticed(&events, |n| write_in(&worlds, n)));
    }

    #[test]
    fn a_worlds_folder_that_comes_later_is_watched_from_then_on() {
        let dir = tempfile::tempdir().unwrap();
        let worlds = dir.path().join("worlds_local");
        let (_watch, events) = watching(dir.path());
        assert!(noticed(&events, |_| {
            let _ = fs::remove_dir(&worlds);
            fs::create_dir(&worlds).unwrap();
        }));
        quiet(&events);
        assert!(noticed(&events, |n| write_in(&worlds, n)));
    }

    #[test]
    fn a_folder_that_takes_the_place_of_another_is_watched_instead_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let [worlds, aside, next] = ["worlds_local", "aside", "next"].map(|name| dir.path().join(name));
        fs::create_dir(&worlds).unwrap();
        fs::create_dir(&next).unwrap();
        let (_watch, events) = watching(dir.path());
        assert!(noticed(&events, |n| write_in(&worlds, n)));
        fs::rename(&worlds, &aside).unwrap();
        fs::rename(&next, &worlds).unwrap();
        quiet(&events);
        assert!(noticed(&events, |n| write_in(&worlds, n)));
        quiet(&events);
        write_in(&aside, 99);
        assert_eq!(events.recv_timeout(Duration::from_millis(900)), Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn a_root_that_went_and_came_again_is_watched_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("server");
        let worlds = root.join("worlds_local");
        fs::create_dir_all(&worlds).unwrap();
        let (_watch, events) = watching(&root);
        assert!(noticed(&events, |n| write_in(&worlds, n)));
        fs::remove_dir_all(&root).unwrap();
        quiet(&events);
        assert!(noticed(&events, |_| {
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(&worlds).unwrap();
        }));
        quiet(&events);
        assert!(noticed(&events, |n| write_in(&worlds, n)));
    }

    #[test]
    fn what_reads_a_file_or_changes_a_stranger_is_no_change() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("server");
        fs::create_dir_all(root.join("worlds_local")).unwrap();
        let (_watch, events) = watching(&root);
        assert!(noticed(&events, |n| write_in(&root.join("worlds_local"), n)));
        quiet(&events);
        for entry in fs::read_dir(root.join("worlds_local")).unwrap() {
            fs::read(entry.unwrap().path()).unwrap();
        }
        fs::write(dir.path().join("beside-the-root"), b"x").unwrap();
        fs::write(root.join("server.log"), b"x").unwrap();
        assert_eq!(events.recv_timeout(Duration::from_millis(900)), Err(RecvTimeoutError::Timeout));
    }
}
