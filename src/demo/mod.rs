//! Demo saves: a believable save root, made up by code, in which everything that the browser shows can be seen.
//!
//! Nothing in it comes from a game. [`unpack`] writes only into an empty folder or one that already holds the demo,
//! which a marker file tells, and never deletes anything.

mod land;
mod saga;
mod saves;

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::model::shown_path;

/// The file that says that a folder holds the demo.
const MARKER: &str = "worldkeep-demo.txt";
/// How a marker begins.
const MARK: &str = "worldkeep demo 1\n";
/// What a marker says while the demo is being written, and after.
const UNFINISHED: &str = "state: unfinished\n";
const FINISHED: &str = "state: finished\n";
/// What a marker says to people.
const WORDS: &str = "Everything in this folder was made up by worldkeep --demo. It may be deleted.\n";

/// Where the demo lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demo {
    /// The save root, with `worlds_local` and `backups`.
    pub root: PathBuf,
    /// A folder for worldkeep's own state, so that a demo never mixes with real state.
    pub state_dir: PathBuf,
    /// It was written just now; false when the folder held it already.
    pub fresh: bool,
}

/// Writes the demo into a folder, or finds it there.
///
/// The folder is made when it is missing. The ages of the saves count from `now`, and the stamps in their names are
/// wall time in `zone`; the same two give the same bytes, names and times. A demo that is there already is left as it
/// is. An unfinished one, from a run that was cut short, is written again. Errors: a folder that holds anything else,
/// and whatever the system says.
pub fn unpack(dir: &Path, now: Timestamp, zone: &TimeZone) -> io::Result<Demo> {
    fs::create_dir_all(dir)?;
    let mut demo = Demo { root: dir.join("saves"), state_dir: dir.join("state"), fresh: false };
    let marker = dir.join(MARKER);
    match marked(&marker)? {
        Some(true) => return Ok(demo),
        Some(false) => {}
        None => {
            if fs::read_dir(dir)?.next().transpose()?.is_some() {
                return Err(refusal(dir, "holds other files"));
            }
            // Two demos that start at once in one folder: the second finds the marker and is told so.
            OpenOptions::new().write(true).create_new(true).open(&marker)?.write_all(words(UNFINISHED).as_bytes())?;
        }
    }
    fs::create_dir_all(&demo.state_dir)?;
    write(&demo.root, now, zone)?;
    fs::write(&marker, words(FINISHED))?;
    demo.fresh = true;
    Ok(demo)
}

/// Writes the demo into a new folder of its own among the system's temporary ones, which only this user can enter.
pub fn temporary(now: Timestamp, zone: &TimeZone) -> io::Result<Demo> {
    unpack(&private_folder(&std::env::temp_dir())?, now, zone)
}

fn words(state: &str) -> String {
    format!("{MARK}{state}{WORDS}")
}

/// Whether a marker says that the demo is finished; none when there is no marker.
fn marked(marker: &Path) -> io::Result<Option<bool>> {
    match fs::symlink_metadata(marker) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(refusal(marker, "is no regular file")),
    }
    let mut text = Vec::new();
    File::open(marker)?.take(4096).read_to_end(&mut text)?;
    match text.strip_prefix(MARK.as_bytes()) {
        Some(rest) => Ok(Some(rest.starts_with(FINISHED.as_bytes()))),
        None => Err(refusal(marker, "is not the marker of this demo")),
    }
}

fn refusal(path: &Path, why: &str) -> io::Error {
    let path = shown_path(path);
    let text = format!("{path} {why}, so the demo is not written there. Name an empty folder, or none.");
    io::Error::new(ErrorKind::AlreadyExists, text)
}

fn write(root: &Path, now: Timestamp, zone: &TimeZone) -> io::Result<()> {
    // Whole seconds, so that a time reads back the same from every file system.
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut made = HashSet::new();
    for file in saves::all(now, zone)? {
        let path = root.join(&file.path);
        if let Some(dir) = path.parent()
            && made.insert(dir.to_path_buf())
        {
            fs::create_dir_all(dir)?;
        }
        let mut out = File::create(&path)?;
        out.write_all(&file.bytes)?;
        let mtime = SystemTime::try_from(file.mtime).map_err(io::Error::other)?;
        out.set_times(FileTimes::new().set_modified(mtime))?;
    }
    Ok(())
}

/// A new folder with a name that nobody can guess.
fn private_folder(within: &Path) -> io::Result<PathBuf> {
    #[cfg_attr(not(unix), allow(unused_mut, reason = "only there does it have a mode to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut tries = 0;
    loop {
        let random = RandomState::new().hash_one((std::process::id(), tries));
        let dir = within.join(format!("worldkeep-demo-{random:016x}"));
        match builder.create(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < 16 => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
