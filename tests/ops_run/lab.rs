//! A save root with worlds, operations on it, and what must hold whatever happens.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use rustix::io::Errno;
use tempfile::TempDir;
use worldkeep::model::outline::Traces;
use worldkeep::model::plan::{Draft, Operation, Outcome};
use worldkeep::model::{Cancel, Server, ServerState};
use worldkeep::ops::Setting;
use worldkeep::ops::record::Record;
use worldkeep::ops::recover::{Recovered, recover_with};
use worldkeep::ops::run::{Done, run_with};
use worldkeep::ops::tree::calls::{Call, Direct, Hook};

use crate::drafts::{self, Hand};

pub(crate) const NAME: &str = "0123456789ab";
pub(crate) const EARLIER: &str = "00000000aaaa";

pub(crate) type Picture = BTreeMap<PathBuf, String>;

pub(crate) struct Lab {
    _temp: TempDir,
    pub(crate) base: PathBuf,
}

/// What is done in a scene of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    RestoreFolder,
    RestorePair,
    Copy,
    Rename,
    Delete,
    UndoRestore,
    UndoPair,
    UndoDelete,
    Purge,
}

pub(crate) const CASES: [Case; 9] = [
    Case::RestoreFolder,
    Case::RestorePair,
    Case::Copy,
    Case::Rename,
    Case::Delete,
    Case::UndoRestore,
    Case::UndoPair,
    Case::UndoDelete,
    Case::Purge,
];

/// What a person would call the state of the save: the worlds, what is parked, and which operations happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) live: Picture,
    pub(crate) parked: Picture,
    pub(crate) history: Vec<String>,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        Self::on(temp)
    }

    pub(crate) fn on(temp: TempDir) -> Self {
        let base = temp.path().canonicalize().unwrap();
        let lab = Self { _temp: temp, base };
        lab.write("Midgard/world.db", b"old bytes of the world").write("Midgard/sub/zone", b"old zone");
        lab.write("Midgard/only-old", b"x");
        lab.write("Midgard_backup/world.db", b"new bytes, some more of them")
            .write("Midgard_backup/sub/zone", b"new zone");
        lab.write("A.db", b"old db")
            .write("A.fwl", b"old fwl")
            .write("B.db", b"new db, longer")
            .write("B.fwl", b"new fwl");
        lab.write("Neighbour/world.db", b"of somebody else");
        fs::set_permissions(lab.world("Midgard/world.db"), fs::Permissions::from_mode(0o640)).unwrap();
        lab.date();
        lab
    }

    fn date(&self) {
        let mut all = below(&self.root());
        all.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        for (n, path) in (0_u32..).zip(&all) {
            let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 1000 + n);
            File::open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> &Self {
        let path = self.world(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    pub(crate) fn world(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join("worlds_local").join(name)
    }

    pub(crate) fn keep(&self) -> PathBuf {
        self.root().join(".worldkeep")
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting {
            now: jiff::Timestamp::from_second(1_796_040_000).unwrap(),
            zone: TimeZone::UTC,
            state: Some(self.base.join("state/worldkeep")),
            proc: PathBuf::from("/proc"),
            read_only: false,
        }
    }

    /// A scene in which this can be done, and the plan of it.
    pub(crate) fn ready(case: Case) -> (Self, Draft) {
        let lab = Self::new();
        let draft = lab.plan(case);
        (lab, draft)
    }

    /// Does first what has to be done before this, and plans it.
    pub(crate) fn plan(&self, case: Case) -> Draft {
        let (keep, world) = (self.keep(), |name| self.world(name));
        let earlier = |hand: Hand| {
            let done = self.run(&Direct, hand.draft());
            assert_eq!(done.outcome, Outcome::Done);
        };
        let both = [world("Midgard"), world("A.db"), world("A.fwl")];
        let both: Vec<&Path> = both.iter().map(PathBuf::as_path).collect();
        let undo = || {
            let bytes = fs::read(worldkeep::ops::keep::record_of(&keep, EARLIER)).unwrap();
            drafts::undo(&Record::parse(&bytes).unwrap(), &keep, NAME)
        };
        let hand = match case {
            Case::RestoreFolder => drafts::restore_folder(&world("Midgard"), &world("Midgard_backup"), &keep, NAME),
            Case::RestorePair => drafts::restore_pair(&world("A"), &world("B"), &keep, NAME),
            Case::Copy => drafts::copy(&world("Midgard"), &world("Asgard"), &keep, NAME),
            Case::Rename => drafts::rename(&world("Midgard"), &world("Asgard"), &keep, NAME),
            Case::Delete => drafts::delete(&both, &keep, NAME),
            Case::UndoRestore => {
                earlier(drafts::restore_folder(&world("Midgard"), &world("Midgard_backup"), &keep, EARLIER));
                undo()
            }
            Case::UndoPair => {
                earlier(drafts::restore_pair(&world("A"), &world("B"), &keep, EARLIER));
                undo()
            }
            Case::UndoDelete => {
                earlier(drafts::delete(&both, &keep, EARLIER));
                undo()
            }
            Case::Purge => {
                earlier(drafts::delete(&both, &keep, EARLIER));
                drafts::purge(&keep, EARLIER, NAME)
            }
        };
        hand.traced(Traces { world: "Midgard".into(), ..Traces::default() }).draft()
    }

    pub(crate) fn run(&self, hook: &impl Hook, draft: Draft) -> Done {
        self.run_seen(hook, &|_, _| server(ServerState::Unknown), draft)
    }

    pub(crate) fn run_seen(&self, hook: &impl Hook, look: &dyn Fn(&Traces, &Setting) -> Server, draft: Draft) -> Done {
        run_with(hook, look, &drafts::fresh(draft), &self.setting(), &Cancel::new(), &mut |_| {})
    }

    pub(crate) fn recover(&self, hook: &impl Hook) -> Vec<Recovered> {
        recover_with(hook, &|_, _| server(ServerState::Unknown), &[self.keep()], &self.setting())
    }

    pub(crate) fn state(&self) -> State {
        let mut live = picture(&self.root().join("worlds_local"));
        live.retain(|_, what| !what.is_empty());
        let recycle = self.keep().join("recycle");
        let mut parked = if recycle.is_dir() { picture(&recycle) } else { Picture::new() };
        // The folders of the recycle folder itself are ours, and may be empty for a while.
        parked.retain(|path, _| path.iter().count() > 2);
        let history = self.keep().join("history");
        let mut history: Vec<String> = if history.is_dir() {
            fs::read_dir(history).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        } else {
            Vec::new()
        };
        history.sort();
        for name in &history {
            let record = Record::parse(&fs::read(self.keep().join("history").join(name)).unwrap()).unwrap();
            assert_eq!(&record.name, name);
        }
        State { live, parked, history }
    }

    /// What lies where, without what it is: crashes with the same are one for a recovery.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        let mut names = below(&self.root());
        names.sort();
        names
    }

    /// What an operation that is over must not leave, whichever way it ended.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let keep = self.keep();
        let mut left: Vec<PathBuf> = ["journal", "stage", "swap"]
            .iter()
            .map(|name| keep.join(name))
            .filter(|path| path.symlink_metadata().is_ok())
            .collect();
        if let Ok(list) = fs::read_dir(keep.join("recycle")) {
            let list = list.map(|entry| entry.unwrap().path());
            left.extend(list.filter(|path| path.to_string_lossy().ends_with(".purging")));
        }
        left
    }
}

pub(crate) fn server(state: ServerState) -> Server {
    Server { state, reasons: vec!["Process 7.".into()], restarts: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH }
}

/// The states before and after an operation, taken where nothing goes wrong.
pub(crate) fn both_states(case: Case) -> (State, State) {
    let (lab, draft) = Lab::ready(case);
    let old = lab.state();
    let done = lab.run(&Direct, draft);
    assert_eq!(done.outcome, Outcome::Done, "{case:?}: {done:?}");
    assert_eq!(lab.leftovers(), Vec::<PathBuf>::new(), "{case:?}");
    let new = lab.state();
    assert_ne!(old, new);
    (old, new)
}

/// Everything below a folder, links not followed.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found
}

/// What a tree is, in words of our own: bytes, type, mode, owner and time of everything in it.
pub(crate) fn picture(folder: &Path) -> Picture {
    let mut picture = Picture::new();
    for path in below(folder) {
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        let what = if meta.is_file() {
            format!("{:?}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
        } else {
            "/".into()
        };
        let owner = (meta.mode(), meta.uid(), meta.gid());
        picture.insert(name, format!("{what} {owner:?} {}.{}", meta.mtime(), meta.mtime_nsec()));
    }
    picture
}

/// A hook that counts, and does something at each call.
pub(crate) struct At<F> {
    pub(crate) count: Cell<u64>,
    act: F,
}

impl<F: Fn(u64, Call) -> Result<(), Errno>> At<F> {
    pub(crate) fn new(act: F) -> Self {
        Self { count: Cell::new(0), act }
    }
}

impl<F: Fn(u64, Call) -> Result<(), Errno>> Hook for At<F> {
    fn before(&self, call: Call) -> Result<(), Errno> {
        let n = self.count.get();
        self.count.set(n + 1);
        (self.act)(n, call)
    }
}

/// What the file system cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacks {
    Nothing,
    Exchange,
    ExchangeAndNoReplace,
}

impl Lacks {
    pub(crate) fn check(self, call: Call) -> Result<(), Errno> {
        let lacks = match self {
            Self::Nothing => false,
            Self::Exchange => call == Call::Exchange,
            Self::ExchangeAndNoReplace => matches!(call, Call::Exchange | Call::RenameNew),
        };
        if lacks { Err(Errno::INVAL) } else { Ok(()) }
    }
}

/// How many calls an operation makes where nothing goes wrong.
pub(crate) fn calls_of(case: Case, lacks: Lacks) -> u64 {
    let (lab, draft) = Lab::ready(case);
    let hook = At::new(|_, call| lacks.check(call));
    let done = lab.run(&hook, draft);
    assert_eq!(done.outcome, Outcome::Done, "{case:?} {lacks:?}: {done:?}");
    hook.count.get()
}

/// True for the operations of these cases that copy.
pub(crate) fn operation(case: Case) -> Operation {
    match case {
        Case::RestoreFolder | Case::RestorePair => Operation::Restore,
        Case::Copy => Operation::Copy,
        Case::Rename => Operation::Rename,
        Case::Delete => Operation::Delete,
        Case::UndoRestore | Case::UndoPair | Case::UndoDelete => Operation::Undo,
        Case::Purge => Operation::Purge,
    }
}

/// True when every fault is wanted at every point, which takes some minutes: `WORLDKEEP_ALL_FAULTS=1`.
pub(crate) fn everything() -> bool {
    std::env::var_os("WORLDKEEP_ALL_FAULTS").is_some_and(|value| value == "1")
}
