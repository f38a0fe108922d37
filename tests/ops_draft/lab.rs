//! A save root with worlds, and outlines as the rules of a game would make them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::tz::TimeZone;
use tempfile::TempDir;
use worldkeep::model::outline::{Change, Fresh, Origin, Outline, Preview, Traces};
use worldkeep::model::plan::{Consent, Operation, Plan, Proof, Reason, Refusal, WarningCode};
use worldkeep::model::{Cancel, Server, ServerState};
use worldkeep::ops::run::Done;
use worldkeep::ops::{Setting, ask, draft};

pub(crate) type Picture = BTreeMap<PathBuf, String>;

pub(crate) struct Lab {
    _temp: Option<TempDir>,
    pub(crate) base: PathBuf,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        Self { _temp: Some(temp), base }.filled()
    }

    /// In memory where that is possible, for tests that stage some hundred times.
    pub(crate) fn fast() -> Self {
        let temp = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let base = temp.path().canonicalize().unwrap();
        Self { _temp: Some(temp), base }.filled()
    }

    /// In a folder that is there, such as one of another file system.
    pub(crate) fn at(base: &Path) -> Self {
        Self { _temp: None, base: base.to_path_buf() }.filled()
    }

    /// One that was filled by another process.
    pub(crate) fn existing(base: PathBuf) -> Self {
        Self { _temp: None, base }
    }

    fn filled(self) -> Self {
        self.write("Midgard/world.db", b"old bytes of the world").write("Midgard/sub/zone", b"old zone");
        self.write("Midgard/only-old", b"x");
        self.write("Midgard_backup/world.db", b"new bytes, some more of them").write("Midgard_backup/sub/zone", b"new");
        self.write("A.db", b"old db")
            .write("A.fwl", b"old fwl")
            .write("B.db", b"new db, longer")
            .write("B.fwl", b"new fwl");
        self
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> &Self {
        let path = self.world(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    pub(crate) fn worlds(&self) -> PathBuf {
        self.root().join("worlds_local")
    }

    pub(crate) fn world(&self, name: impl AsRef<Path>) -> PathBuf {
        self.worlds().join(name)
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

    pub(crate) fn outline(&self, operation: Operation, changes: Vec<Change>) -> Outline {
        Outline {
            operation,
            subject: "Midgard".to_owned(),
            root: self.root(),
            scanned: vec![self.worlds(), self.root().join("worlds")],
            changes,
            depends: Vec::new(),
            warnings: Vec::new(),
            preview: Preview { done: "It is done.".to_owned(), ..Preview::default() },
            restored: None,
            traces: None,
        }
    }

    pub(crate) fn restore(&self) -> Outline {
        self.outline(Operation::Restore, vec![self.put("Midgard_backup", "Midgard", true)])
    }

    pub(crate) fn restore_pair(&self) -> Outline {
        self.outline(Operation::Restore, vec![self.put("B.db", "A.db", true), self.put("B.fwl", "A.fwl", true)])
    }

    pub(crate) fn delete(&self, names: &[&str]) -> Outline {
        self.outline(Operation::Delete, names.iter().map(|name| Change::Park(self.world(name))).collect())
    }

    pub(crate) fn put(&self, from: &str, to: &str, replaces: bool) -> Change {
        self.put_of(Origin::Whole(self.world(from)), Vec::new(), to, replaces)
    }

    pub(crate) fn put_of(&self, origin: Origin, writes: Vec<(PathBuf, Vec<u8>)>, to: &str, replaces: bool) -> Change {
        let to = self.world(to);
        let like = if replaces { to.clone() } else { self.worlds() };
        Change::Put { fresh: Fresh { origin, writes, like }, to, replaces }
    }

    pub(crate) fn plan(&self, outline: Outline) -> Result<Plan, Refusal> {
        draft::draft(outline, None, &self.setting())
    }

    pub(crate) fn refusal(&self, outline: Outline) -> Refusal {
        match self.plan(outline) {
            Ok(plan) => panic!("not refused: {:?}", plan.content().steps),
            Err(refusal) => refusal,
        }
    }

    /// That this is refused for this reason, with these words, and that nothing was made or changed by asking.
    pub(crate) fn refuses(&self, outline: Outline, reason: Reason, words: &[&str]) {
        let before = picture(&self.root());
        let refusal = self.refusal(outline);
        assert_eq!(refusal.reason, reason, "{refusal}");
        for word in words {
            assert!(refusal.text.contains(word), "'{word}' in: {refusal}");
        }
        assert_eq!(picture(&self.root()), before);
    }

    /// Plans, agrees, and carries it out.
    pub(crate) fn perform(&self, outline: Outline) -> Done {
        let plan = self.plan(outline).unwrap_or_else(|refusal| panic!("{refusal}"));
        self.carry_out(plan)
    }

    pub(crate) fn carry_out(&self, plan: Plan) -> Done {
        let accepted = WarningCode::ALL.to_vec();
        let confirmed = plan.confirm(&Consent { proof: Proof::Yes, accepted }).unwrap();
        ask::perform(confirmed, &self.setting(), &Cancel::new(), &mut |_| {})
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8_lossy(&fs::read(self.world(name)).unwrap()).into_owned()
    }

    /// Where an operation keeps what it took away.
    pub(crate) fn kept(&self, done: &Done, name: &str) -> PathBuf {
        self.keep().join("recycle").join(&done.name).join("worlds_local").join(name)
    }
}

pub(crate) fn traces() -> Traces {
    Traces { world: "Midgard".into(), ..Traces::default() }
}

pub(crate) fn server(state: ServerState, reasons: &[&str], restarts: &[&str]) -> Server {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Server { state, reasons: owned(reasons), restarts: owned(restarts), at: jiff::Timestamp::UNIX_EPOCH }
}

/// What a tree is: bytes, type, mode, owner and time of everything in it.
pub(crate) fn picture(folder: &Path) -> Picture {
    fn add(folder: &Path, top: &Path, picture: &mut Picture) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let meta = path.symlink_metadata().unwrap();
            let what = if meta.is_file() {
                format!("{:?}", fs::read(&path).unwrap())
            } else {
                format!("{:?}", meta.file_type())
            };
            let owner = (meta.mode(), meta.uid(), meta.gid());
            let words = format!("{what} {owner:?} {}.{}", meta.mtime(), meta.mtime_nsec());
            picture.insert(path.strip_prefix(top).unwrap().to_path_buf(), words);
            if meta.is_dir() {
                add(&path, top, picture);
            }
        }
    }
    let mut picture = Picture::new();
    add(folder, folder, &mut picture);
    picture
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a program; false, and a line that says so, where that fails.
pub(crate) fn can(program: &str, arguments: &[&str]) -> bool {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            eprintln!("skipped: {program} {}: {why}", arguments.join(" "));
            false
        }
        Err(error) => {
            eprintln!("skipped: {program}: {error}");
            false
        }
    }
}

/// Runs the test of this name again in a mount namespace of its own, so that its mounts are nobody else's. True when
/// that was done or cannot be done here.
pub(crate) fn done_apart(test: &str) -> bool {
    const MARK: &str = "WORLDKEEP_TEST_APART";
    if std::env::var_os(MARK).is_some() {
        return false;
    }
    if !is_root() {
        eprintln!("skipped: only root can mount");
        return true;
    }
    if !can("unshare", &["-m", "true"]) {
        return true;
    }
    let run = Command::new("unshare")
        .args(["-m", "--propagation", "private"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && words.contains("1 passed"), "apart:\n{words}");
    for line in words.lines().filter(|line| line.contains("skipped:")) {
        eprintln!("{line}");
    }
    true
}
