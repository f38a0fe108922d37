//! The demo saves in a house, what they are to their last byte, and a server on them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::house::{House, Run, layers};

/// What a file, a folder or a link is: its bytes or target, mode, owner, and time of last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) what: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) modified: (i64, i64),
}

pub(crate) type Tree = BTreeMap<PathBuf, Thing>;

/// Everything below a folder but what worldkeep keeps there.
pub(crate) fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, dir: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            if below.starts_with(".worldkeep") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let what = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            // A folder's own time says only that something in it came or went.
            let modified = if meta.is_dir() { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
            tree.insert(below, Thing { what, mode: meta.mode(), owner: (meta.uid(), meta.gid()), modified });
            if meta.is_dir() {
                walk(root, &path, tree);
            }
        }
    }
    let mut all = Tree::new();
    walk(root, root, &mut all);
    all
}

/// The demo saves in a house.
pub(crate) struct Saves {
    pub(crate) house: House,
    pub(crate) root: PathBuf,
}

impl Saves {
    pub(crate) fn new() -> Self {
        let house = House::new();
        assert_eq!(house.run(&["--demo=demo"]).code, Some(0));
        let root = house.path("demo/saves").canonicalize().unwrap();
        Self { house, root }
    }

    /// Runs a verb on these saves.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let root = self.root.to_str().unwrap();
        self.house.run(&[args, &["--root", root]].concat())
    }

    /// Runs a verb that has to be done.
    #[track_caller]
    pub(crate) fn done(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run.out
    }

    /// Runs a verb that has to be refused for this reason, and after which the saves are what they were.
    #[track_caller]
    pub(crate) fn refused(&self, args: &[&str], reason: &str) -> String {
        let before = tree(&self.root);
        let run = self.run(args);
        assert_eq!(run.code, Some(4), "{args:?}: {run:?}");
        assert!(run.err.contains(&format!("({reason})")), "{reason}: {run:?}");
        assert_eq!(tree(&self.root), before, "{args:?}");
        run.err
    }

    pub(crate) fn list(&self) -> Value {
        self.house.json(&["list", self.root.to_str().unwrap()]).0
    }

    /// The id of the first layer whose id holds this.
    pub(crate) fn layer(&self, part: &str) -> String {
        let list = self.list();
        let id = layers(&list).into_iter().filter_map(|layer| layer["id"].as_str()).find(|id| id.contains(part));
        // The catalog names the profile by its folder, whether it came as an argument or as a root.
        id.unwrap_or_else(|| panic!("no {part} in {list}")).to_owned()
    }

    pub(crate) fn fact(&self, layer: &str, key: &str) -> Value {
        let list = self.list();
        let found = layers(&list).into_iter().find(|found| found["id"] == layer).cloned();
        found.unwrap_or_else(|| panic!("no {layer} in {list}"))["facts"][key].clone()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// Sets the time of a file, and holds nothing open that would count as a server.
pub(crate) fn date(path: &Path, time: std::time::SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A process with the arguments of a server of the game, until it is dropped.
pub(crate) struct Server(pub(crate) std::process::Child);

impl Server {
    pub(crate) fn on(root: &Path) -> Self {
        let child = Command::new("sh")
            .arg0("valheim_server.x86_64")
            .args(["-c", "while :; do sleep 0.05; done", "x", "-world", "Midgard", "-savedir"])
            .arg(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let line = format!("/proc/{}/cmdline", child.id());
        while !fs::read(&line).unwrap().starts_with(b"valheim") {
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

/// Lets every user look at everything in a folder, and its owner alone write.
pub(crate) fn open_to_all(path: &Path) {
    let mode = if path.is_dir() { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            open_to_all(&entry.unwrap().path());
        }
    }
}
