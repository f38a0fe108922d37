//! Processes: what they were started with, which files they hold open, and which of them cannot be looked into.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Seen;
use super::mounts::Mounts;
use super::targets::{Targets, id, id_of};
use crate::model::outline::Traces;
use crate::model::{shown, shown_path};
use crate::ops::Setting;

/// The most bytes of a process's arguments or environment that are read.
const MOST_TEXT: u64 = 256 * 1024;

/// The namespace of processes that the machine itself began with, as `/proc/PID/ns/pid` names it.
const FIRST_PIDS: &str = "pid:[4026531836]";

/// Beginnings of the names of programs that start the one that they are given.
const LAUNCHERS: [&str; 16] = [
    "wine", "proton", "box64", "box86", "fex", "qemu", "ld-linux", "sh", "bash", "dash", "env", "nice", "ionice",
    "taskset", "xvfb-run", "nohup",
];

/// When a process was started, by the system's clock: field 22 of its `stat` counts ticks since the start of the machine,
/// which `stat` of the whole machine names.
fn started(process: &Path) -> Option<jiff::Timestamp> {
    let own = fs::read_to_string(process.join("stat")).ok()?;
    // The name in brackets may hold anything, so the fields are counted from its end; the first of them is the third.
    let (_, fields) = own.rsplit_once(')')?;
    let ticks: u64 = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string(process.parent()?.join("stat")).ok()?;
    let boot: i64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let seconds = ticks.checked_div(rustix::param::clock_ticks_per_second())?;
    jiff::Timestamp::from_second(boot.checked_add(i64::try_from(seconds).ok()?)?).ok()
}

/// What every process is held against.
struct Scan<'a> {
    traces: &'a Traces,
    targets: &'a Targets,
    mounts: &'a Mounts,
    /// The save root in its file system.
    place: Option<(String, PathBuf)>,
    /// Our own view of mounts, to tell a container from a neighbour.
    view: Option<PathBuf>,
}

pub(super) fn scan(traces: &Traces, targets: &Targets, mounts: &Mounts, setting: &Setting, seen: &mut Seen) {
    let own = setting.proc.join("self");
    let root = traces.root.canonicalize().unwrap_or_else(|_| traces.root.clone());
    let scan =
        Scan { traces, targets, mounts, place: mounts.place(&root), view: fs::read_link(own.join("ns/mnt")).ok() };
    let entries = match fs::read_dir(&setting.proc) {
        Ok(entries) => entries,
        Err(error) => {
            seen.unknown.push(format!("The processes of this machine cannot be listed: {error}."));
            return;
        }
    };
    let me = std::process::id().to_string();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_pid = name.as_bytes().iter().all(u8::is_ascii_digit) && !name.is_empty();
        if is_pid && name != OsStr::new(&me) {
            scan.one(&entry.path(), &name.to_string_lossy(), seen);
        }
    }
    hidden(&own, &root, &scan, seen);
}

/// Processes that are hidden as a whole.
fn hidden(own: &Path, root: &Path, scan: &Scan<'_>, seen: &mut Seen) {
    let table = fs::read_to_string(own.join("mountinfo")).unwrap_or_default();
    let hides = |line: &&str| {
        line.split_once(" - proc ").is_some_and(|(_, options)| {
            ["hidepid=1", "hidepid=2", "hidepid=4", "hidepid=noaccess", "hidepid=invisible", "hidepid=ptraceable"]
                .iter()
                .any(|word| options.contains(word))
        })
    };
    let root_user = fs::metadata(own).is_ok_and(|meta| meta.uid() == 0);
    if !root_user && table.lines().any(|line| hides(&line)) {
        seen.unknown.push(
            "The system hides the processes of other users (hidepid), and one of them could be the server.".to_owned(),
        );
    }
    let nested = fs::read_link(own.join("ns/pid")).is_ok_and(|pids| pids != Path::new(FIRST_PIDS));
    if nested && scan.mounts.is_volume(root) {
        seen.unknown.push(
            "We run in a container, and the save lies on a volume from outside: a server out there cannot be seen from here."
                .to_owned(),
        );
    }
}

impl Scan<'_> {
    fn one(&self, process: &Path, pid: &str, seen: &mut Seen) {
        let arguments = arguments(&process.join("cmdline"));
        // Kernel threads and what is dead already have none.
        if arguments.is_empty() {
            return;
        }
        let program = self.program(&arguments);
        let who = || format!("process {pid} ({}{})", shown(&name_of(&arguments)), user_of(process));
        let before = seen.running.len();
        match self.open_files(process) {
            Open::Held(path) => {
                seen.running.push(format!("{} holds '{}' open.", upper(&who()), shown_path(&path)));
            }
            Open::None => {}
            Open::Blind => self.blind(process, &arguments, program.is_some(), &who(), seen),
        }
        if program.is_some() {
            self.server(process, &arguments, &who(), seen);
        }
        if seen.running.len() > before {
            if program.is_some() {
                seen.since = seen.since.into_iter().chain(started(process)).min();
            }
            seen.restarts.extend(restarts(process));
        }
    }

    /// The argument that is the game's program: the first, or one of the next where the first starts another program. A
    /// name among the arguments of anything else, such as of a reader of logs, is only a word.
    fn program<'p>(&self, arguments: &'p [OsString]) -> Option<&'p OsStr> {
        let first = arguments.first().map(|first| last_part(first).to_ascii_lowercase()).unwrap_or_default();
        let starts = LAUNCHERS.iter().any(|launcher| first.starts_with(launcher));
        arguments.iter().take(if starts { 4 } else { 1 }).map(OsString::as_os_str).find(|argument| {
            let name = last_part(argument).to_ascii_lowercase();
            let name = name.strip_suffix(".exe").unwrap_or(&name);
            self.traces.programs.iter().any(|program| program.eq_ignore_ascii_case(name))
        })
    }

    /// A process of the game: is its save folder this one?
    fn server(&self, process: &Path, arguments: &[OsString], who: &str, seen: &mut Seen) {
        let world = value_of(arguments, &self.traces.world_arguments);
        let with =
            world.map(|world| format!(" with the world '{}'", shown(&world.to_string_lossy()))).unwrap_or_default();
        let (folder, sure) = match value_of(arguments, &self.traces.folder_arguments) {
            Some(folder) => (PathBuf::from(folder), true),
            None => match self.default_folder(process, arguments) {
                Ok(folder) => folder,
                Err(why) => {
                    if !self::arguments(&process.join("cmdline")).is_empty() {
                        seen.unknown.push(format!("{} is a server of this game{with}, and {why}.", upper(who)));
                    }
                    return;
                }
            },
        };
        let answer = self.is_root(process, &folder);
        if answer == Some(true) {
            seen.running.push(format!("{} is a server of this game on this folder{with}.", upper(who)));
        } else if self::arguments(&process.join("cmdline")).is_empty() {
            // It ended while it was looked at, so that what could not be read of it means nothing.
        } else if answer.is_none() || !sure {
            let folder = shown_path(&folder);
            seen.unknown.push(format!(
                "{} is a server of this game{with}; whether its folder '{folder}' is this one cannot be looked at.",
                upper(who)
            ));
        } else if self.mounts.doubled(&self.traces.root) {
            seen.unknown.push(format!(
                "{} is a server of this game{with}; whether its folder is this one cannot be told on this kind of file system.",
                upper(who)
            ));
        }
    }

    /// The folder below the home of the user who runs it, and whether the home is certain: where its environment cannot be
    /// read, the table of users is only a guess.
    fn default_folder(&self, process: &Path, arguments: &[OsString]) -> Result<(PathBuf, bool), String> {
        if under_wine(arguments) {
            return Err("it runs under Wine without naming its save folder".to_owned());
        }
        let environment = bytes(&process.join("environ")).unwrap_or_default();
        let variable = |name: &[u8]| variable_of(&environment, name);
        // Where the engine of the game keeps its files: below this variable, and else below the home folder.
        if let (Some(config), Ok(below)) = (
            variable(b"XDG_CONFIG_HOME=").filter(|config| config.is_absolute()),
            self.traces.default_folder.strip_prefix(".config"),
        ) {
            return Ok((config.join(below), true));
        }
        if let Some(home) = variable(b"HOME=") {
            return Ok((home.join(&self.traces.default_folder), true));
        }
        let user =
            fs::metadata(process).map(|meta| meta.uid()).map_err(|error| format!("it cannot be looked at: {error}"))?;
        let home = home_of(user).ok_or_else(|| format!("the home folder of its user {user} is not known"))?;
        Ok((home.join(&self.traces.default_folder), false))
    }

    /// Whether a folder, as the process names it, is the save root; none when that cannot be told.
    fn is_root(&self, process: &Path, folder: &Path) -> Option<bool> {
        let windows = is_windows(folder);
        let folder = if windows { from_windows(process, folder)? } else { folder.to_path_buf() };
        let folder = if folder.is_absolute() { folder } else { fs::read_link(process.join("cwd")).ok()?.join(folder) };
        // Which mounts another user's process sees is often the only thing of it that may be read.
        let theirs = Mounts::of(process);
        let same_view = match fs::read_link(process.join("ns/mnt")) {
            Ok(view) => Some(view) == self.view,
            Err(_) => theirs.same_as(self.mounts),
        };
        let through = if same_view { folder.clone() } else { joined(&process.join("root"), &folder) };
        let found = fs::metadata(&through).map(|meta| (meta.dev(), meta.ino()));
        match (found, self.targets.root) {
            (Ok(found), Some(root)) if found == root => return Some(true),
            // The argument may name the worlds folder itself, or a folder around several roots.
            (Ok(_), Some(root)) => {
                let worlds = fs::read_dir(&through).ok()?;
                let inside = worlds.flatten().take(64).any(|entry| id(&entry.path()) == Some(root));
                return Some(inside || through.parent().and_then(id) == Some(root));
            }
            // Wine finds a path whatever the case of its letters, and we do not.
            (Err(error), _) if error.kind() == ErrorKind::NotFound && same_view => return (!windows).then_some(false),
            _ => {}
        }
        // We may not go through its eyes; its table of mounts tells what the path means. A link on the way would make it mean
        // something else, but for a volume, whose name is that of its mount.
        let place = theirs.place(&folder)?;
        if place == *self.place.as_ref()? {
            return Some(true);
        }
        theirs.is_volume(&folder).then_some(false)
    }

    /// A process whose open files cannot be seen counts only where it could be this game's server.
    fn blind(&self, process: &Path, arguments: &[OsString], is_server: bool, who: &str, seen: &mut Seen) {
        if is_server {
            // Its arguments decide.
            return;
        }
        if under_wine(arguments) {
            seen.unknown.push(format!("{} runs under Wine, and its open files cannot be seen.", upper(who)));
            return;
        }
        let view = fs::read_link(process.join("ns/mnt")).ok();
        let elsewhere = view.is_some() && view != self.view || container(process).is_some();
        let shows = || self.place.as_ref().is_some_and(|place| Mounts::of(process).show(place));
        // Every container shows some file system; only one that shows this save could use it.
        if elsewhere && container(process).is_some() && shows() {
            seen.unknown.push(format!(
                "{} runs in a container that sees this save, and its open files cannot be seen.",
                upper(who)
            ));
        }
    }

    /// Every name is looked up in its folder, and into one buffer: there are tens of thousands of them on a busy machine.
    fn open_files(&self, process: &Path) -> Open {
        use rustix::fs::{AtFlags, Dir, OFlags};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(folder) = rustix::fs::open(process.join("fd"), flags, rustix::fs::Mode::empty()) else {
            return Open::Blind;
        };
        let Ok(entries) = Dir::read_from(&folder) else { return Open::Blind };
        let mut unread = false;
        let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 8192];
        for entry in entries.flatten() {
            let name = entry.file_name();
            let text = match rustix::fs::readlinkat_raw(&folder, name, &mut buffer) {
                Ok((text, _)) => &*text,
                Err(error) => {
                    unread |= matches!(error, rustix::io::Errno::ACCESS | rustix::io::Errno::PERM);
                    continue;
                }
            };
            let path = Path::new(OsStr::from_bytes(text.strip_suffix(b" (deleted)").unwrap_or(text)));
            // What nearly every process has open is no file of a save by any name.
            if !path.is_absolute() || text == b"/dev/null" || text.starts_with(b"/dev/pts/") {
                continue;
            }
            // The same file may be open by another name: in a container, or mounted twice.
            let by_id = || {
                let stat = rustix::fs::statat(&folder, name, AtFlags::empty());
                stat.is_ok_and(|stat| self.targets.ids.contains(&id_of(&stat)))
            };
            if self.targets.hold(path) || by_id() {
                return Open::Held(path.to_path_buf());
            }
        }
        if unread { Open::Blind } else { Open::None }
    }
}

enum Open {
    /// A file of the save.
    Held(PathBuf),
    /// None of them.
    None,
    /// They cannot be seen.
    Blind,
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    // Enough for most at once.
    let mut all = Vec::with_capacity(4096);
    fs::File::open(path)?.take(MOST_TEXT).read_to_end(&mut all)?;
    Ok(all)
}

fn arguments(path: &Path) -> Vec<OsString> {
    let all = bytes(path).unwrap_or_default();
    let all = all.strip_suffix(&[0]).unwrap_or(&all);
    if all.is_empty() {
        return Vec::new();
    }
    all.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

/// The value after an argument, or after its `=`.
fn value_of<'a>(arguments: &'a [OsString], names: &[String]) -> Option<&'a OsStr> {
    arguments.iter().enumerate().skip(1).find_map(|(n, argument)| {
        names.iter().find_map(|name| {
            if argument.eq_ignore_ascii_case(name) {
                return arguments.get(n + 1).map(OsString::as_os_str);
            }
            let rest = argument.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsStr::from_bytes(rest))
        })
    })
}

/// A program of Windows, or what starts one.
fn under_wine(arguments: &[OsString]) -> bool {
    arguments.iter().take(2).any(|argument| {
        let name = last_part(argument).to_ascii_lowercase();
        let windows = Path::new(&name).extension().is_some_and(|extension| extension == "exe");
        windows || name.starts_with("wine") || name.starts_with("proton")
    })
}

/// A variable of an environment, its name with the `=`.
fn variable_of(environment: &[u8], name: &[u8]) -> Option<PathBuf> {
    let found = environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(name));
    found.filter(|value| !value.is_empty()).map(|value| PathBuf::from(OsStr::from_bytes(value)))
}

fn is_windows(path: &Path) -> bool {
    let text = path.as_os_str().as_bytes();
    text.first().is_some_and(u8::is_ascii_alphabetic) && text.get(1) == Some(&b':')
}

/// A path of Windows as Wine maps it for a process: by the links of its prefix, or where that cannot be read only the drive
/// that Wine maps to the whole machine by itself.
fn from_windows(process: &Path, path: &Path) -> Option<PathBuf> {
    let text = path.to_string_lossy();
    let drive = text.chars().next()?.to_ascii_lowercase();
    let below = text.get(2..)?.replace('\\', "/");
    let below = below.trim_start_matches('/');
    let environment = bytes(&process.join("environ")).unwrap_or_default();
    let prefix = variable_of(&environment, b"WINEPREFIX=")
        .or_else(|| variable_of(&environment, b"HOME=").map(|home| home.join(".wine")));
    let link = prefix.map(|prefix| prefix.join("dosdevices").join(format!("{drive}:")));
    if let Some(link) = link.filter(|link| joined(&process.join("root"), link).symlink_metadata().is_ok()) {
        return Some(link.join(below));
    }
    (drive == 'z').then(|| Path::new("/").join(below))
}

/// The last part of a path of either system.
fn last_part(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    text.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn name_of(arguments: &[OsString]) -> String {
    arguments.first().map(|first| last_part(first)).unwrap_or_default()
}

fn user_of(process: &Path) -> String {
    let Ok(meta) = fs::metadata(process) else { return String::new() };
    let name = passwd_line(meta.uid()).and_then(|line| line.split(':').next().map(str::to_owned));
    format!(", user {}", shown(&name.unwrap_or_else(|| meta.uid().to_string())))
}

fn home_of(user: u32) -> Option<PathBuf> {
    passwd_line(user)?.split(':').nth(5).filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn passwd_line(user: u32) -> Option<String> {
    let table = String::from_utf8_lossy(&bytes(Path::new("/etc/passwd")).ok()?).into_owned();
    let user = user.to_string();
    table.lines().find(|line| line.split(':').nth(2) == Some(user.as_str())).map(str::to_owned)
}

/// An absolute path below another folder.
fn joined(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The engine and the id of the container that a process runs in.
fn container(process: &Path) -> Option<(&'static str, String)> {
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    for part in groups.split(['/', '\n', ':']) {
        for (mark, engine) in
            [("docker-", "docker"), ("libpod-", "podman"), ("cri-containerd-", "crictl"), ("", "docker")]
        {
            let id = part.strip_prefix(mark).map(|rest| rest.strip_suffix(".scope").unwrap_or(rest));
            if let Some(id) = id.filter(|id| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                return Some((engine, id.get(..12).unwrap_or(id).to_owned()));
            }
        }
    }
    None
}

/// What would start a process again, with the command that stops it for good.
fn restarts(process: &Path) -> Option<String> {
    if let Some((engine, id)) = container(process) {
        let what = if engine == "crictl" {
            "Its pod may be started again by its cluster".to_owned()
        } else {
            format!("{} may start its container again", upper(engine))
        };
        return Some(format!("{what}. Stop it with: {engine} stop {id}"));
    }
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    let parts: Vec<&str> = groups.split(['/', '\n']).collect();
    let unit = parts.iter().rev().find(|part| part.ends_with(".service") && !part.starts_with("user@"))?;
    let user = if groups.contains("/user@") { "--user " } else { "" };
    // The unit of whoever is logged in starts nothing again.
    if ["ssh.service", "sshd.service", "cron.service", "getty.service"].contains(unit) {
        return None;
    }
    Some(format!("systemd may start it again ({0}). Stop it with: systemctl {user}stop {0}", shown(unit)))
}
