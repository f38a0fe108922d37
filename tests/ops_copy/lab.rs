//! A source and a place for its copy, in a temporary folder.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;
use tempfile::TempDir;
use worldkeep::model::Cancel;
use worldkeep::ops::compare::{Comparison, Pair, compare};
use worldkeep::ops::tree::calls::{Call, Direct, Hook};
use worldkeep::ops::tree::{Copied, Flush, Order, copy_with};
use worldkeep::ops::{Failure, Root};

pub(crate) const STAGE: &str = "stage";

pub(crate) struct Lab {
    _temp: TempDir,
    pub(crate) base: PathBuf,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::on(TempDir::new().unwrap())
    }

    /// In memory where that is possible, for tests that copy some thousand times.
    pub(crate) fn fast() -> Self {
        Self::on(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap())
    }

    pub(crate) fn on(temp: TempDir) -> Self {
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir(base.join("source")).unwrap();
        fs::create_dir(base.join("keep")).unwrap();
        Self { _temp: temp, base }
    }

    pub(crate) fn source(&self, name: impl AsRef<Path>) -> PathBuf {
        self.base.join("source").join(name)
    }

    pub(crate) fn keep(&self) -> PathBuf {
        self.base.join("keep")
    }

    pub(crate) fn stage(&self, name: impl AsRef<Path>) -> PathBuf {
        self.keep().join(STAGE).join(name)
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>, bytes: &[u8]) -> &Self {
        let path = self.source(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// All names in the source's folder.
    pub(crate) fn items(&self) -> Vec<OsString> {
        let mut items: Vec<_> = fs::read_dir(self.source("")).unwrap().map(|e| e.unwrap().file_name()).collect();
        items.sort();
        items
    }

    pub(crate) fn copy(&self) -> Result<Copied, Failure> {
        self.copy_hooked(&Direct, Flush::ByAmount)
    }

    pub(crate) fn copy_hooked(&self, hook: &impl Hook, flush: Flush) -> Result<Copied, Failure> {
        self.copy_items(hook, flush, &self.items())
    }

    pub(crate) fn copy_items(&self, hook: &impl Hook, flush: Flush, items: &[OsString]) -> Result<Copied, Failure> {
        let (source, parent) = (Root::open(&self.source("")).unwrap(), Root::open(&self.keep()).unwrap());
        let order = Order { source: &source, items, parent: &parent, stage: OsStr::new(STAGE), flush };
        copy_with(hook, &order, &Cancel::new(), &mut |_| {})
    }

    pub(crate) fn compare(&self) -> Comparison {
        self.compare_items(&self.items())
    }

    pub(crate) fn compare_items(&self, items: &[OsString]) -> Comparison {
        let (source, parent) = (Root::open(&self.source("")).unwrap(), Root::open(&self.keep()).unwrap());
        compare(&Pair { source: &source, items, parent: &parent, stage: OsStr::new(STAGE) }, &Cancel::new())
    }

    /// Takes the stage away, for the next copy.
    pub(crate) fn clear(&self) {
        let stage = self.stage("");
        if stage.symlink_metadata().is_ok() {
            fs::remove_dir_all(self.keep().join(STAGE)).unwrap();
        }
    }

    /// Two files and a folder with one of everything that a save may hold.
    pub(crate) fn with_everything(&self) -> &Self {
        self.file("W.fwl", b"name").file("W.db", &noise(300_001));
        self.file("World/empty", b"").file("World/sub/deeper/x", b"x").file("World/sub/two", &noise(5000));
        self.file(Path::new("World").join(OsStr::from_bytes(b"no\xff\xfetext\n")), b"odd");
        self.file(format!("World/{}", "n".repeat(255)), b"long");
        fs::create_dir(self.source("World/void")).unwrap();
        fs::hard_link(self.source("World/sub/two"), self.source("World/zwei")).unwrap();
        fs::hard_link(self.source("World/sub/two"), self.source("World/sub/deeper/deux")).unwrap();
        symlink("../empty", self.source("World/sub/link")).unwrap();
        symlink("nowhere", self.source("World/dangling")).unwrap();
        let mut sparse = File::create(self.source("World/sparse")).unwrap();
        sparse.seek(SeekFrom::Start(1 << 20)).unwrap();
        sparse.write_all(&noise(4096)).unwrap();
        sparse.set_len(4 << 20).unwrap();
        for (name, mode) in [("W.db", 0o640), ("World/sub/deeper/x", 0o400), ("World/sub", 0o750), ("World", 0o2775)] {
            fs::set_permissions(self.source(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        self.dated()
    }

    /// Gives everything a time of its own, with nanoseconds, folders last.
    pub(crate) fn dated(&self) -> &Self {
        let mut all = below(&self.source(""));
        all.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        for (n, path) in (0_u32..).zip(&all).filter(|(_, path)| !path.is_symlink()) {
            let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000 + u64::from(n), 123_456_789 + n);
            let times = FileTimes::new().set_modified(time).set_accessed(time + Duration::from_nanos(5));
            File::open(path).unwrap().set_times(times).unwrap();
        }
        self
    }

    /// Gives everything to another user, if we may.
    pub(crate) fn owned_by(&self, user: u32, group: u32) -> &Self {
        if rustix::process::geteuid().is_root() {
            for path in below(&self.source("")) {
                let mode = path.symlink_metadata().unwrap().mode();
                lchown(&path, Some(user), Some(group)).unwrap();
                if !path.is_symlink() {
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o7777)).unwrap();
                }
            }
        }
        self
    }
}

/// Bytes that no compression and no hole can hide.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0] | 1
    };
    std::iter::repeat_with(next).take(length).collect()
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

/// What a tree is, in words of our own: a third opinion besides the copier's and the comparison's.
pub(crate) fn picture(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut inodes: BTreeMap<u64, PathBuf> = BTreeMap::new();
    let mut all = below(folder);
    all.sort();
    let mut picture = BTreeMap::new();
    for path in all {
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        let what = if meta.is_symlink() {
            format!("link {}", fs::read_link(&path).unwrap().display())
        } else if meta.is_file() {
            let bytes = fs::read(&path).map(|bytes| {
                (
                    bytes.len(),
                    bytes.iter().fold(7_u64, |sum, b| sum.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(*b))),
                )
            });
            format!("file {bytes:?} first {}", inodes.entry(meta.ino()).or_insert_with(|| name.clone()).display())
        } else {
            "folder".to_owned()
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

/// Which calls a copy makes, in order.
pub(crate) fn calls_of(lab: &Lab, flush: Flush) -> Vec<Call> {
    let calls = RefCell::new(Vec::new());
    let hook = At::new(|_, call| {
        calls.borrow_mut().push(call);
        Ok(())
    });
    lab.copy_hooked(&hook, flush).unwrap();
    lab.clear();
    calls.take()
}
