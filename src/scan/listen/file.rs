use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::lines::Lines;
use super::{Follower, ServerNews};
use crate::model::shown_path;

/// How often the file is looked at where the system tells of changes: a rename of a folder above it would be missed.
const SELDOM: Duration = Duration::from_secs(30);

/// The same where the system cannot tell.
const OFTEN: Duration = Duration::from_secs(2);

/// Lines that are written together are read together.
const TOGETHER: Duration = Duration::from_millis(100);

/// As many bytes before the place that was read up to tell whether it is still the same file.
const ANCHOR: usize = 64;

/// Follows a file until it is told to stop.
pub(super) fn follow<S: Fn(ServerNews)>(
    path: &Path,
    mut follower: Follower<S>,
    waker: &SyncSender<()>,
    woken: &Receiver<()>,
) {
    let mut log = Log { path: path.to_path_buf(), open: None, lines: Lines::default(), first: true };
    let (mut watcher, mut watched) = (None, Vec::new());
    while !follower.stopped() {
        // Before anything is read, so that nothing falls between the look and the watch.
        let folders = folders(path);
        if watched != folders {
            watcher = watch(path, &folders, waker);
            watched = folders;
        }
        match log.read(&mut follower) {
            Ok(()) => follower.well(),
            Err(why) => follower.trouble(why),
        }
        follower.tell();
        let pause = if watcher.is_some() { SELDOM } else { OFTEN };
        if woken.recv_timeout(pause).is_ok() && !follower.stopped() {
            std::thread::sleep(TOGETHER);
        }
    }
}

/// The folders in which a change would be a change of the file: the one that it is named in, and, for a link, the one that
/// it lies in.
fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = path.parent().map(Path::to_path_buf).into_iter().collect();
    folders.extend(path.canonicalize().ok().and_then(|real| Some(real.parent()?.to_path_buf())));
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders.dedup();
    folders
}

/// Watches for changes; none where the system cannot tell of all of them.
fn watch(path: &Path, folders: &[PathBuf], waker: &SyncSender<()>) -> Option<RecommendedWatcher> {
    let (waker, names) = (waker.clone(), [path.to_path_buf(), path.canonicalize().unwrap_or_default()]);
    let names = names.map(|path| path.file_name().map(std::ffi::OsStr::to_os_string));
    let concerns = move |event: &notify::Event| {
        let about = |path: &PathBuf| names.iter().flatten().any(|name| path.file_name() == Some(name));
        !matches!(event.kind, notify::EventKind::Access(_)) && (event.paths.is_empty() || event.paths.iter().any(about))
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.as_ref().map_or(true, &concerns) {
            let _ = waker.try_send(());
        }
    })
    .ok()?;
    let silent = folders.iter().any(|folder| crate::scan::mount::silent_mount(folder).is_some());
    let all = folders.iter().all(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok());
    (!silent && all && !folders.is_empty()).then_some(watcher)
}

/// A log, and how far it was read.
struct Log {
    path: PathBuf,
    open: Option<Open>,
    lines: Lines,
    /// It was never looked at: what stands there is of the past.
    first: bool,
}

struct Open {
    file: File,
    id: Id,
    /// Bytes that were read.
    at: u64,
    /// The last of them.
    anchor: Vec<u8>,
}

/// What names a file, whatever it is called.
type Id = (u64, u64);

impl Log {
    /// Reads what is new; the error says why nothing can be, in whole sentences.
    fn read<S: Fn(ServerNews)>(&mut self, follower: &mut Follower<S>) -> Result<(), String> {
        let first = std::mem::take(&mut self.first);
        let named = match open(&self.path) {
            Ok(found) => found,
            Err(error) => {
                // Between the rename and the new file of a rotation the old one may still be written to.
                self.drain(follower)?;
                return Err(refused(&self.path, &error));
            }
        };
        let Some((file, id)) = named else {
            let what = shown_path(&self.path);
            return Err(format!(
                "The server's log '{what}' is no ordinary file. To read a pipe or a program, give `server_log_command`."
            ));
        };
        if self.open.as_ref().is_none_or(|open| open.id != id) {
            self.drain(follower)?;
            self.lines.end(|line| follower.ear.line(line));
            let mut open = Open { file, id, at: 0, anchor: Vec::new() };
            if first {
                open.skip().map_err(|error| broken(&self.path, &error))?;
            }
            self.open = Some(open);
        }
        self.drain(follower)
    }

    /// Reads the open file to its end; from its start when it was cut.
    fn drain<S: Fn(ServerNews)>(&mut self, follower: &mut Follower<S>) -> Result<(), String> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let failed = |error: io::Error| broken(&self.path, &error);
        if open.was_cut().map_err(failed)? {
            self.lines.forget();
            open.at = 0;
            open.anchor.clear();
        }
        open.file.seek(SeekFrom::Start(open.at)).map_err(failed)?;
        let mut block = vec![0; 64 * 1024];
        while !follower.stopped() {
            let read = match open.file.read(&mut block) {
                Ok(0) => break,
                Ok(read) => block.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            open.went_over(read);
            self.lines.feed(read, |line| follower.ear.line(line));
        }
        Ok(())
    }
}

impl Open {
    /// Goes to the end of what is there.
    fn skip(&mut self) -> io::Result<()> {
        let end = self.file.seek(SeekFrom::End(0))?;
        let start = end.saturating_sub(ANCHOR as u64);
        self.anchor = read_at(&mut self.file, start, usize::try_from(end - start).unwrap_or(ANCHOR))?;
        self.at = start + self.anchor.len() as u64;
        Ok(())
    }

    /// The bytes before the place that was read up to are gone or others: somebody emptied it and wrote anew.
    fn was_cut(&mut self) -> io::Result<bool> {
        let start = self.at.saturating_sub(self.anchor.len() as u64);
        Ok(read_at(&mut self.file, start, self.anchor.len())? != self.anchor)
    }

    fn went_over(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        self.anchor.extend(bytes.iter().skip(bytes.len().saturating_sub(ANCHOR)));
        let old = self.anchor.len().saturating_sub(ANCHOR);
        self.anchor.drain(..old);
    }
}

/// At most so many bytes from a place on; fewer at the end.
fn read_at(file: &mut File, start: u64, length: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens the file; nothing when it is none. A pipe without a writer must not hold us.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<Option<(File, Id)>> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let file = File::options().read(true).custom_flags(nonblock).open(path)?;
    let about = file.metadata()?;
    Ok(about.is_file().then(|| (file, (about.dev(), about.ino()))))
}

/// Opens the file; nothing when it is none. What names it is not known here, so a rotation shows as a cut.
#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<Option<(File, Id)>> {
    let file = File::open(path)?;
    Ok(file.metadata()?.is_file().then_some((file, (0, 0))))
}

fn refused(path: &Path, error: &io::Error) -> String {
    let what = shown_path(path);
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("The server's log '{what}' is not there. It is read as soon as it is; or correct `server_log`.")
        }
        io::ErrorKind::PermissionDenied => format!(
            "The server's log '{what}' may not be read by this user. Give the right to read it, or give `server_log_command`."
        ),
        _ => broken(path, error),
    }
}

fn broken(path: &Path, error: &io::Error) -> String {
    format!("The server's log '{}' could not be read: {error}. It is tried again.", shown_path(path))
}
