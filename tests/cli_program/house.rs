//! A house for one test: its own home, configuration and saves, a fixed clock and zone.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

/// Noon of 2026-11-30, UTC.
pub(crate) const NOW: &str = "2026-11-30T12:00:00Z";
const NOW_SECONDS: u64 = 1_796_040_000;

/// Temporary folders that vanish with it.
pub(crate) struct House {
    dir: tempfile::TempDir,
}

/// What a run printed and how it ended.
#[must_use]
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl House {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home/.config/worldkeep")).unwrap();
        fs::create_dir(dir.path().join("cur")).unwrap();
        Self { dir }
    }

    /// A house with some fixtures in `cur`, every file saved an hour ago.
    pub(crate) fn with_fixtures(names: &[&str]) -> Self {
        let house = Self::new();
        for name in names {
            house.fixture(name, name);
        }
        house
    }

    /// Copies one fixture to a place in `cur`.
    pub(crate) fn fixture(&self, name: &str, to: &str) {
        copy(&Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).join(name), &self.path(to));
    }

    /// A path in the folder that commands start in.
    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.dir.path().join("cur").join(Path::new(name.as_ref()))
    }

    /// The place of the usual configuration file.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.dir.path().join("home/.config/worldkeep/config.toml")
    }

    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.config_file(), text).unwrap();
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_worldkeep"));
        command
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("XDG_CONFIG_HOME", self.dir.path().join("home/.config"))
            .env("TMPDIR", self.dir.path())
            .env("WORLDKEEP_SYSTEM_ROOT", self.dir.path().join("system"))
            .env("WORLDKEEP_NOW", NOW)
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .current_dir(self.dir.path().join("cur"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.finish(self.command().args(args))
    }

    /// Runs a prepared command; the house's own path reads `[HOUSE]` in what it printed.
    pub(crate) fn finish(&self, command: &mut Command) -> Run {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("the program prints UTF-8");
            text.replace(&self.dir.path().display().to_string(), "[HOUSE]")
        };
        let run = Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    /// The JSON document of a command, and its exit status.
    pub(crate) fn json(&self, args: &[&str]) -> (Value, Option<i32>) {
        let output = self.command().arg("--json").args(args).output().unwrap();
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:?}"));
        (value, output.status.code())
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
        return;
    }
    fs::write(to, fs::read(from).unwrap()).unwrap();
    let hour_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_SECONDS - 3600);
    fs::File::options().write(true).open(to).unwrap().set_modified(hour_ago).unwrap();
}

/// Every layer of a document.
pub(crate) fn layers(document: &Value) -> Vec<&Value> {
    document["profiles"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|profile| profile["worlds"].as_array().into_iter().flatten())
        .flat_map(|world| world["layers"].as_array().into_iter().flatten())
        .collect()
}
