//! `worldkeep watch`: a line for each save that lands and each thing that goes wrong, until it is told to stop.
//!
//! The system's notifications, and what servers say, wake it; then everything is scanned again and compared with what
//! was told last. A live world that was saved is checked to its last byte, with the disk's lowest priority.

mod changes;
mod news;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Stdout, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use self::changes::{changes, standing, watching};
use self::news::{About, News};
use super::failure::{Exit, Failure};
use super::output::{self, Output};
use super::session::Session;
use crate::games;
use crate::model::{Hallmarks, Heard, Layer, Profile, Severity, Verdict, World, human, shown};
use crate::ops::follow;
use crate::ops::record::Record;
use crate::ops::recover::{Became, recover};
use crate::ops::{Setting, ask::keeps_of};
use crate::scan::{self, Catalog, Listening, Request, ServerNews, Spoken, WatchEvent};

/// How long what looks like trouble is let settle before it is told: a server that is saving, or a tool that is copying,
/// leaves states between two.
const SETTLE: Duration = Duration::from_secs(3);

/// How long an operation in the middle of its renames is waited for before anything is looked at.
const RENAMES: Duration = Duration::from_secs(60);

/// How long after the start everything is looked at once more: what changed before the watch stood was not noticed.
const AGAIN: Duration = Duration::from_secs(2);

enum Message {
    Disk(WatchEvent),
    Server(ServerNews),
    Stop,
}

/// Watches until it is told to stop, or until nobody reads any more.
pub(super) fn run(session: &Session, paths: &[PathBuf]) -> Result<Exit, Failure> {
    crate::sys::set_idle_io_priority();
    let request = session.request(paths);
    let (sender, inbox) = channel();
    let (cancel, interrupt) = session.stop();
    let (stop, disk) = (sender.clone(), sender.clone());
    interrupt.on_stop(cancel, move || {
        let _ = stop.send(Message::Stop);
    });
    let catalog = session.scan(&request)?;
    if catalog.profiles.is_empty() {
        return Ok(Session::tell_looked(&catalog));
    }
    Session::tell_looked(&catalog);
    let watch = scan::watch(move |event| {
        let _ = disk.send(Message::Disk(event));
    });
    let mut teller = Teller {
        session,
        request,
        catalog,
        known: BTreeMap::new(),
        judged: BTreeSet::new(),
        broken: BTreeSet::new(),
        told_polling: BTreeSet::new(),
        listening: None,
        sender,
        out: Output::new(io::stdout()),
    };
    let ended = teller.begin().and_then(|()| teller.go_on(&inbox, &watch));
    match ended {
        Ok(()) => Ok(Exit::Done),
        Err(Ended::Stopped) => Ok(Exit::Interrupted),
        Err(Ended::Closed) => Ok(Exit::Done),
        Err(Ended::Failed(failure)) => Err(failure),
    }
}

/// Why no more is told.
enum Ended {
    /// Somebody stopped it.
    Stopped,
    /// The reader has gone.
    Closed,
    /// Standard output takes nothing.
    Failed(Failure),
}

struct Teller<'s> {
    session: &'s Session,
    request: Request,
    /// What was told last.
    catalog: Catalog,
    /// The names of the operations on record, by profile.
    known: BTreeMap<String, BTreeSet<String>>,
    /// Operations of which the first save was judged.
    judged: BTreeSet<String>,
    /// Profiles in which an operation was broken off, as was told.
    broken: BTreeSet<String>,
    told_polling: BTreeSet<String>,
    listening: Option<(Vec<Spoken>, Listening)>,
    sender: Sender<Message>,
    out: Output<Stdout>,
}

impl Teller<'_> {
    /// What stands at the start.
    fn begin(&mut self) -> Result<(), Ended> {
        for profile in self.catalog.profiles.clone() {
            self.tell(&watching(&profile))?;
            for news in standing(&profile) {
                self.tell(&news)?;
            }
            let records = follow::operations(&profile.root);
            self.known.insert(profile.id.clone(), names(&records));
            for world in profile.worlds.iter().filter(|world| world.live().is_some()) {
                self.stands_after(&profile, world, &records)?;
            }
            self.tell_broken(&profile)?;
        }
        self.listen();
        Ok(())
    }

    fn go_on(&mut self, inbox: &Receiver<Message>, watch: &scan::Watch) -> Result<(), Ended> {
        watch.follow(&self.catalog.profiles);
        let mut again = Some(Instant::now() + AGAIN);
        loop {
            let message = match again {
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let mut changed = false;
            let first = match message {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => {
                    again = None;
                    changed = true;
                    None
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            for message in first.into_iter().chain(inbox.try_iter()) {
                match message {
                    Message::Stop => return Err(Ended::Stopped),
                    Message::Disk(WatchEvent::Changed { .. }) => changed = true,
                    Message::Disk(WatchEvent::Polling { profile, why }) => self.polls(&profile, &why)?,
                    Message::Server(news) => self.server(news)?,
                }
            }
            if changed {
                self.look()?;
                watch.follow(&self.catalog.profiles);
            }
        }
    }

    /// Scans everything again and tells what is new.
    fn look(&mut self) -> Result<(), Ended> {
        self.let_operations_be()?;
        let mut fresh = self.scanned()?;
        let mut ours = self.ours(&fresh);
        let mut changes = changes(&self.catalog.profiles, &fresh.profiles, &ours.worlds);
        if changes.doubtful {
            self.wait(SETTLE)?;
            self.let_operations_be()?;
            fresh = self.scanned()?;
            ours = self.ours(&fresh);
            changes = self::changes::changes(&self.catalog.profiles, &fresh.profiles, &ours.worlds);
        }
        let before = std::mem::replace(&mut self.catalog, fresh);
        for (profile, record) in &ours.records {
            let world = before.profiles.iter().chain(&self.catalog.profiles).filter(|p| p.id == *profile);
            let world = world.flat_map(|p| &p.worlds).find(|world| world.name == record.subject);
            let about = About { world: world.map(|world| world.id.clone()), ..About::profile(profile) };
            let text = format!("By worldkeep: {}", record.done);
            let news = News::new("operation", Severity::Note, about, text);
            self.tell(&News { operation: Some(record.name.clone()), ..news })?;
            self.known.entry(profile.clone()).or_default().insert(record.name.clone());
        }
        for news in &changes.news {
            self.tell(news)?;
        }
        for id in &changes.saved {
            self.saved(id)?;
        }
        for profile in self.catalog.profiles.clone() {
            self.tell_broken(&profile)?;
        }
        self.listen();
        Ok(())
    }

    /// A live world holds another save than before: checks it and says what it is.
    fn saved(&mut self, id: &str) -> Result<(), Ended> {
        let Some((profile, world, layer)) = self.catalog.layer(id) else { return Ok(()) };
        let (game, profile_id, world_id) = (profile.game, profile.id.clone(), world.id.clone());
        let checked = scan::check(&self.request, game, layer, self.session.stop().0);
        self.still_wanted()?;
        let before: Vec<_> = layer.findings.clone();
        self.catalog.checked(id, checked);
        let Some((profile, world, layer)) = self.catalog.layer(id) else { return Ok(()) };
        let about = About::layer(&profile_id, &world_id, id);
        let marks = marks(profile, layer);
        let severity = match layer.verdict {
            Verdict::Damaged => Severity::Error,
            Verdict::Sound | Verdict::Notes => Severity::Note,
            _ => Severity::Warning,
        };
        let mut told = vec![News {
            generation: marks.generation,
            objects: marks.objects,
            ..News::new("saved", severity, about.clone(), landed(world, layer))
        }];
        // What the headers showed was told already.
        let deeper = layer.findings.iter().filter(|finding| {
            finding.severity >= Severity::Warning && !before.iter().any(|known| known.code == finding.code)
        });
        told.extend(deeper.map(|finding| News::finding(about.clone(), finding)));
        let records = follow::operations(&profile.root);
        if let Some(followed) = self.after(&records, world, &marks) {
            self.judged.extend(followed.operation.clone());
            told.push(News::followed(about, followed));
        }
        for news in &told {
            self.tell(news)?;
        }
        Ok(())
    }

    /// What the game made of the newest restore of a world; told once.
    fn after(&self, records: &[Record], world: &World, now: &Hallmarks) -> Option<follow::Followed> {
        let record = follow::last_change(records, world)?;
        if self.judged.contains(&record.name) {
            return None;
        }
        follow::first_save(record, now, world)
    }

    /// At the start only what went wrong is told: that the game went on from a restore is old news.
    fn stands_after(&mut self, profile: &Profile, world: &World, records: &[Record]) -> Result<(), Ended> {
        let Some(live) = world.live() else { return Ok(()) };
        let Some(record) = follow::last_change(records, world).filter(|record| record.restored.is_some()) else {
            return Ok(());
        };
        let mut live = live.clone();
        let checked = scan::check(&self.request, profile.game, &live, self.session.stop().0);
        self.still_wanted()?;
        live.apply(checked);
        let Some(followed) = follow::first_save(record, &marks(profile, &live), world) else { return Ok(()) };
        self.judged.insert(record.name.clone());
        if followed.severity == Severity::Note {
            return Ok(());
        }
        self.tell(&News::followed(About::layer(&profile.id, &world.id, &live.id), followed))
    }

    fn server(&mut self, news: ServerNews) -> Result<(), Ended> {
        match news {
            ServerNews::Trouble { profile, text } => {
                self.tell(&News::new("log-trouble", Severity::Warning, About::profile(&profile), text))
            }
            ServerNews::Heard { profile, heard, more } => self.heard(&profile, &heard, more),
        }
    }

    fn heard(&mut self, profile: &str, heard: &Heard, more: usize) -> Result<(), Ended> {
        let Some(profile) = self.catalog.profiles.iter().find(|p| p.id == profile).cloned() else { return Ok(()) };
        let world = world_of(&profile, heard);
        let about = match world {
            Some(world) => About::world(&profile.id, &world.id),
            None => About::profile(&profile.id),
        };
        // That a save was written is told when it lies on the disk, with what is in it.
        if heard.event != "save-written" {
            self.tell(&News::heard(about.clone(), heard, more))?;
        }
        if let Some(world) = world
            && matches!(heard.event, "world-loading" | "objects-loading")
            && let Some(live) = world.live()
        {
            let records = follow::operations(&profile.root);
            let record = follow::last_change(&records, world);
            if let Some(followed) = follow::load(record, heard, &marks(&profile, live), &profile, world) {
                self.tell(&News::followed(about, followed))?;
            }
        }
        Ok(())
    }

    fn polls(&mut self, profile: &str, why: &str) -> Result<(), Ended> {
        if !self.told_polling.insert(profile.to_owned()) {
            return Ok(());
        }
        let text = format!("Looked at every few seconds, since {why}.");
        self.tell(&News::new("polling", Severity::Note, About::profile(profile), text))
    }

    /// Follows the servers of the profiles that are there now.
    fn listen(&mut self) {
        let spoken = |profile: &Profile| {
            let log = self.session.config.server_log(profile)?.clone();
            Some(Spoken { profile: profile.id.clone(), game: profile.game, log })
        };
        let wanted: Vec<Spoken> = self.catalog.profiles.iter().filter_map(spoken).collect();
        if self.listening.as_ref().is_some_and(|(followed, _)| *followed == wanted) {
            return;
        }
        let sender = self.sender.clone();
        let listening = scan::listen(wanted.clone(), move |news| {
            let _ = sender.send(Message::Server(news));
        });
        self.listening = Some((wanted, listening));
    }

    /// What operations of ours did since the last look.
    fn ours(&self, fresh: &Catalog) -> Ours {
        let mut ours = Ours::default();
        for profile in &fresh.profiles {
            let records = follow::operations(&profile.root);
            let known = self.known.get(&profile.id);
            let new = records.iter().filter(|record| known.is_none_or(|known| !known.contains(&record.name)));
            let new: Vec<&Record> = new.collect();
            for world in self
                .catalog
                .profiles
                .iter()
                .chain(&fresh.profiles)
                .filter(|p| p.id == profile.id)
                .flat_map(|p| &p.worlds)
            {
                let touched = follow::last_change(&records, world).is_some_and(|last| new.contains(&last));
                if touched || new.iter().any(|record| record.subject == world.name) {
                    ours.worlds.insert(world.id.clone());
                }
            }
            // The oldest first, as they were done.
            ours.records.extend(new.into_iter().rev().map(|record| (profile.id.clone(), record.clone())));
        }
        ours
    }

    /// Waits while an operation is in the middle of its renames, but not for ever.
    fn let_operations_be(&mut self) -> Result<(), Ended> {
        let until = Instant::now() + RENAMES;
        let runs = |profile: &Profile| follow::busy(&profile.root) && self.recovered(profile, Became::Busy).is_some();
        while Instant::now() < until && self.catalog.profiles.iter().any(runs) {
            self.wait(Duration::from_millis(500))?;
        }
        Ok(())
    }

    /// The first operation below a profile's root that was not finished and became this, in words. Nothing is changed.
    fn recovered(&self, profile: &Profile, became: Became) -> Option<String> {
        let setting = Setting { read_only: true, ..self.session.setting() };
        let found = recover(&keeps_of([profile.root.as_path()]), &setting);
        found.into_iter().find(|found| found.became == became).map(|found| found.text)
    }

    /// Tells of an operation that was broken off, once.
    fn tell_broken(&mut self, profile: &Profile) -> Result<(), Ended> {
        let text = if follow::busy(&profile.root) { self.recovered(profile, Became::Left) } else { None };
        let Some(text) = text else {
            self.broken.remove(&profile.id);
            return Ok(());
        };
        if !self.broken.insert(profile.id.clone()) {
            return Ok(());
        }
        self.tell(&News::new("interrupted", Severity::Warning, About::profile(&profile.id), text))
    }

    fn scanned(&self) -> Result<Catalog, Ended> {
        let mut fresh = Catalog::default();
        scan::run(&self.request, self.session.stop().0, &mut |event| fresh.apply(event));
        self.still_wanted()?;
        let mut catalog = self.catalog.clone();
        catalog.renew(fresh);
        Ok(catalog)
    }

    /// Sleeps, but not on when it is stopped.
    fn wait(&self, time: Duration) -> Result<(), Ended> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.still_wanted()?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn still_wanted(&self) -> Result<(), Ended> {
        if self.session.stop().1.asked() { Err(Ended::Stopped) } else { Ok(()) }
    }

    fn tell(&mut self, news: &News) -> Result<(), Ended> {
        if self.session.quiet && news.severity == Severity::Note {
            return Ok(());
        }
        let (at, zone) = (self.session.config.clock.now(), &self.session.config.zone);
        let written = if self.session.json {
            news.write_json(&mut self.out, at, zone)
        } else {
            news.write_text(&mut self.out, self.session.look, at, zone)
        };
        written.and_then(|()| self.out.flush()).map_err(|error| Ended::Failed(output::unwritten(&error)))?;
        if self.out.is_closed() { Err(Ended::Closed) } else { Ok(()) }
    }
}

/// What operations of ours explain.
#[derive(Default)]
struct Ours {
    /// Ids of worlds that they changed.
    worlds: BTreeSet<String>,
    /// They themselves, with the profile's id.
    records: Vec<(String, Record)>,
}

fn names(records: &[Record]) -> BTreeSet<String> {
    records.iter().map(|record| record.name.clone()).collect()
}

fn marks(profile: &Profile, layer: &Layer) -> Hallmarks {
    games::by_id(profile.game).map(|game| game.hallmarks(&layer.facts, layer.generation)).unwrap_or_default()
}

/// The world that a line of a server is about: the one it names, or the only one that there is.
fn world_of<'p>(profile: &'p Profile, heard: &Heard) -> Option<&'p World> {
    match &heard.world {
        Some(name) => {
            let by_name = profile.worlds.iter().find(|world| world.name == *name);
            by_name.or_else(|| profile.worlds.iter().find(|world| world.inner_name.as_ref() == Some(name)))
        }
        None => {
            let mut live = profile.worlds.iter().filter(|world| world.live().is_some());
            live.next().filter(|_| live.next().is_none())
        }
    }
}

/// What a save that landed is, in one sentence.
fn landed(world: &World, layer: &Layer) -> String {
    let number = layer.generation.map_or_else(|| "a save".to_owned(), |n| format!("save {n}"));
    let mut parts = vec![layer.verdict.word().to_owned(), human::size(layer.bytes)];
    for (key, words) in [("day", "day"), ("objects", "objects"), ("pieces", "built by players")] {
        if let Some(n) = layer.facts.int(key) {
            let n = if key == "day" { n.to_string() } else { human::count(n) };
            parts.push(if key == "day" { format!("{words} {n}") } else { format!("{n} {words}") });
        }
    }
    format!("{} has {number}: {}.", shown(&world.name), parts.join(", "))
}

#[cfg(test)]
mod tests;
