//! Carries out what the state asks for: scans, checks and maps on threads of their own, results as messages.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;

use super::operator::{Base, Operator};
use super::state::{Effect, Msg};
use crate::config::Config;
use crate::config::theme::{Depth, Theme};
use crate::games;
use crate::model::{Cancel, Layer, Profile, Server, Severity, World, shown};
use crate::ops::{Setting, follow, liveness};
use crate::scan::{self, Listening, Request, ServerNews, Spoken, Watch, WatchEvent};

/// A piece of work: gets the ticket that tells it when to stop, and gives a message.
pub(super) type Job = Box<dyn FnOnce(&Cancel) -> Msg + Send>;

/// The one piece of work that waits; a newer one takes its place.
#[derive(Default)]
struct Slot {
    waiting: Mutex<Option<(Cancel, Job)>>,
    bell: Condvar,
}

/// A thread that always works on the newest piece of work.
pub(super) struct Lane {
    name: &'static str,
    newest: Cancel,
    slot: Arc<Slot>,
    started: bool,
}

impl Lane {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, newest: Cancel::new(), slot: Arc::default(), started: false }
    }

    /// Makes everything older worthless and works on this next. The thread starts with the first piece of work.
    pub(super) fn give(&mut self, out: &Sender<Msg>, job: Job) {
        let ticket = self.newest.restart();
        *self.slot.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some((ticket, job));
        self.slot.bell.notify_one();
        if !self.started {
            let (slot, out) = (Arc::clone(&self.slot), out.clone());
            self.started = Builder::new().name(self.name.to_owned()).spawn(move || work(&slot, &out)).is_ok();
        }
    }

    pub(super) fn stop(&self) {
        self.newest.stop();
        *self.slot.waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn work(slot: &Slot, out: &Sender<Msg>) {
    // Reading beside a running server must not slow it down.
    crate::sys::set_idle_io_priority();
    loop {
        let mut waiting = slot.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (ticket, job) = loop {
            if let Some(next) = waiting.take() {
                break next;
            }
            waiting = slot.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        drop(waiting);
        let message = guarded(|| job(&ticket));
        if !ticket.cancelled() && out.send(message).is_err() {
            return;
        }
    }
}

/// Runs work whose panic becomes a message.
pub(super) fn guarded(work: impl FnOnce() -> Msg) -> Msg {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Msg::Failed(words(panic.as_ref())))
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}

/// Whether a server uses a profile; an archive has none.
fn server(profile: &Profile, setting: &Setting) -> Option<(String, Server)> {
    let game = games::by_id(profile.game).filter(|_| profile.root.is_dir())?;
    Some((profile.id.clone(), liveness::look(&game.traces(profile), setting)))
}

/// What the game saved in a profile after a restore and is not what came of it, as far as headers show.
fn astray(profile: &Profile, ticket: &Cancel) -> Vec<follow::Followed> {
    let Some(game) = games::by_id(profile.game) else { return Vec::new() };
    let live: Vec<_> = profile.worlds.iter().filter_map(|world| Some((world, world.live()?))).collect();
    if live.is_empty() || ticket.cancelled() {
        return Vec::new();
    }
    let records = follow::operations(&profile.root);
    let judge = |(world, layer): (&World, &Layer)| {
        let record = follow::last_change(&records, world)?;
        follow::first_save(record, &game.hallmarks(&layer.facts, layer.generation), world)
    };
    live.into_iter().filter_map(judge).filter(|followed| followed.severity == Severity::Error).collect()
}

/// Starts and stops work outside the loop.
pub(super) struct Runner {
    request: Arc<Request>,
    out: Sender<Msg>,
    scan: Cancel,
    checks: Lane,
    charts: Lane,
    /// Looks at what became of restores.
    backs: Lane,
    /// Looks for a server.
    servers: Lane,
    /// Operations of which that was told.
    judged: Arc<Mutex<HashSet<String>>>,
    config: Arc<Config>,
    listening: Option<(Vec<Spoken>, Listening)>,
    watch: Option<Watch>,
    operator: Operator,
    theme_dirs: Vec<PathBuf>,
    depth: Depth,
}

impl Runner {
    pub(super) fn new(request: Request, setting: Setting, out: Sender<Msg>, config: Arc<Config>, depth: Depth) -> Self {
        let request = Arc::new(request);
        let operator = Operator::new(Base { request: Arc::clone(&request), setting });
        Self {
            request,
            operator,
            out,
            scan: Cancel::new(),
            checks: Lane::new("check"),
            charts: Lane::new("map"),
            backs: Lane::new("after"),
            servers: Lane::new("server"),
            judged: Arc::default(),
            listening: None,
            watch: None,
            theme_dirs: config.theme_dirs.clone(),
            config,
            depth,
        }
    }

    /// Loads a theme; what is wrong with it in sentences.
    pub(super) fn theme(&self, name: &str) -> (Theme, Vec<String>) {
        Theme::load(name, &self.theme_dirs, self.depth)
    }

    /// Starts a scan; one that still runs stops.
    pub(super) fn scan(&mut self, generation: u64) {
        let ticket = self.scan.restart();
        let (request, out) = (Arc::clone(&self.request), self.out.clone());
        let run = move || {
            let failed = catch_unwind(AssertUnwindSafe(|| {
                scan::run(&request, &ticket, &mut |event| {
                    let _ = out.send(Msg::Scan { generation, event });
                });
            }));
            if let Err(panic) = failed {
                let _ = out.send(Msg::Failed(words(panic.as_ref())));
                let _ = out.send(Msg::Scan { generation, event: scan::Event::Done });
            }
        };
        if let Err(error) = Builder::new().name("scan".to_owned()).spawn(run) {
            let _ = self.out.send(Msg::Failed(format!("no thread for a scan: {error}")));
        }
    }

    /// Watches these profiles from now on.
    pub(super) fn follow(&mut self, profiles: &[Profile]) {
        let out = self.out.clone();
        let watch = self.watch.get_or_insert_with(|| {
            scan::watch(move |event| {
                let _ = out.send(match event {
                    WatchEvent::Changed { .. } => Msg::Dirty,
                    WatchEvent::Polling { profile, why } => Msg::Note(format!("{profile}: looking every 10 s ({why})")),
                });
            })
        });
        watch.follow(profiles);
        self.listen(profiles);
        self.look_back(profiles);
    }

    /// Follows what the servers of these profiles say, where the configuration names their output.
    fn listen(&mut self, profiles: &[Profile]) {
        let spoken = |profile: &Profile| {
            let log = self.config.server_log(profile)?.clone();
            Some(Spoken { profile: profile.id.clone(), game: profile.game, log })
        };
        let wanted: Vec<Spoken> = profiles.iter().filter_map(spoken).collect();
        if self.listening.as_ref().is_some_and(|(followed, _)| *followed == wanted) {
            return;
        }
        let out = self.out.clone();
        let listening = scan::listen(wanted.clone(), move |news| {
            let (profile, severity, text) = match news {
                ServerNews::Heard { profile, heard, more: 0 } => (profile, heard.severity, heard.text),
                ServerNews::Heard { profile, heard, more } => {
                    (profile, heard.severity, format!("{} ({more} more lines say the same.)", heard.text))
                }
                // Not being heard is no harm to a save.
                ServerNews::Trouble { profile, text } => (profile, Severity::Note, text),
            };
            let text = format!("{}: {text}", shown(&profile));
            let _ = out.send(Msg::Told { title: "The server says", severity, text });
        });
        self.listening = Some((wanted, listening));
    }

    /// Holds what lies in place of a restored world against what was put there, on a thread of its own.
    fn look_back(&mut self, profiles: &[Profile]) {
        let (profiles, judged) = (profiles.to_vec(), Arc::clone(&self.judged));
        let (out, setting) = (self.out.clone(), self.operator.setting());
        self.backs.give(
            &self.out,
            Box::new(move |ticket| {
                for followed in profiles.iter().flat_map(|profile| astray(profile, ticket)) {
                    let name = followed.operation.unwrap_or_default();
                    if judged.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
                        let text = format!("{} {}", followed.text, followed.next);
                        let _ = out.send(Msg::Told { title: "After the restore", severity: followed.severity, text });
                    }
                }
                Msg::Servers(profiles.iter().filter_map(|profile| server(profile, &setting)).collect())
            }),
        );
    }

    /// Looks whether a server uses a profile.
    fn server(&mut self, profile: Box<Profile>) {
        let setting = self.operator.setting();
        self.servers.give(&self.out, Box::new(move |_| Msg::Servers(server(&profile, &setting).into_iter().collect())));
    }

    /// Carries out what concerns neither the terminal nor the loop.
    pub(super) fn run(&mut self, effect: Effect) {
        match effect {
            Effect::Rescan(generation) => self.scan(generation),
            Effect::Check { signature, game, layer } => {
                let request = Arc::clone(&self.request);
                self.checks.give(
                    &self.out,
                    Box::new(move |ticket| {
                        let checked = Box::new(scan::check(&request, game, &layer, ticket));
                        Msg::Checked { signature, checked }
                    }),
                );
            }
            Effect::StopCheck => self.checks.stop(),
            Effect::Chart { signature, game, layer } => {
                let request = Arc::clone(&self.request);
                self.charts.give(
                    &self.out,
                    Box::new(move |ticket| {
                        let result = scan::chart(&request, game, &layer, ticket);
                        Msg::Charted { signature, result }
                    }),
                );
            }
            Effect::Plan { ticket, wish } => self.operator.plan(&self.out, ticket, wish),
            Effect::Server { profile } => self.server(profile),
            Effect::Past { roots } => self.operator.past(&self.out, roots),
            Effect::StopPlan => self.operator.stop_plan(),
            Effect::Perform { ticket, agreed } => self.operator.perform(&self.out, ticket, agreed),
            Effect::StopOperation => self.operator.stop_operation(),
            Effect::NextTheme(current) => {
                let names = Theme::names(&self.theme_dirs);
                let at = names.iter().position(|name| *name == current).map_or(0, |at| at + 1);
                let next = names.get(at % names.len().max(1)).cloned().unwrap_or(current);
                let (theme, warnings) = self.theme(&next);
                let _ = self.out.send(Msg::Theme { theme: Box::new(theme), warnings });
            }
            Effect::Quit(_) | Effect::Suspend | Effect::Repaint | Effect::Clipboard(_) | Effect::Follow => {}
        }
    }

    /// Finishes or rolls back what an interrupted run left.
    pub(super) fn recover(&mut self) {
        self.operator.recover(&self.out);
    }

    /// Nobody waits for anything any more, but an operation that is carried out comes to its end.
    pub(super) fn stop(&mut self) {
        self.scan.stop();
        self.checks.stop();
        self.charts.stop();
        self.backs.stop();
        self.servers.stop();
        // What was started to hear a server ends first.
        self.listening = None;
        self.operator.stop_plan();
        self.operator.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{Lane, Msg};

    #[test]
    fn only_the_newest_piece_of_work_gives_a_message() {
        let (out, inbox) = channel();
        let mut lane = Lane::new("test");
        let (go, wait) = channel::<()>();
        lane.give(
            &out,
            Box::new(move |_| {
                let _ = wait.recv();
                Msg::Note("old".to_owned())
            }),
        );
        lane.give(&out, Box::new(|_| Msg::Note("newer".to_owned())));
        lane.give(&out, Box::new(|_| Msg::Note("newest".to_owned())));
        go.send(()).ok();
        let Ok(Msg::Note(note)) = inbox.recv() else { panic!("no note") };
        assert_eq!(note, "newest");
        lane.give(&out, Box::new(|_| Msg::Note("next".to_owned())));
        let Ok(Msg::Note(note)) = inbox.recv() else { panic!("no note") };
        assert_eq!(note, "next");
        assert!(inbox.try_recv().is_err());
    }

    #[test]
    fn a_panic_of_a_worker_is_a_message_and_the_lane_goes_on() {
        let (out, inbox) = channel();
        let mut lane = Lane::new("test");
        lane.give(&out, Box::new(|_| panic!("on purpose")));
        let Ok(Msg::Failed(what)) = inbox.recv() else { panic!("no failure") };
        assert_eq!(what, "on purpose");
        lane.give(&out, Box::new(|_| Msg::Note("alive".to_owned())));
        assert!(matches!(inbox.recv(), Ok(Msg::Note(_))));
    }
}
