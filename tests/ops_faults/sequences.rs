//! Operations one after the other, picked at random, each of which may be killed or fail at any call, against a model.
//!
//! `WORLDKEEP_FAULTS=all` tries 10,000 sequences; `WORLDKEEP_SEED` chooses others. What fails names its seed and sequence;
//! `WORLDKEEP_SEQUENCE` does that one alone.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::tz::TimeZone;
use rustix::io::Errno;
use tempfile::TempDir;
use worldkeep::model::outline::{Change, Fresh, Origin, Outline, Preview};
use worldkeep::model::plan::{Consent, Operation, Outcome, Plan, Proof, Reason, Refusal, WarningCode};
use worldkeep::model::{Cancel, Server, ServerState};
use worldkeep::ops::recover::{Became, Recovered, recover_with};
use worldkeep::ops::run::{Done, run_with};
use worldkeep::ops::tree::calls::{Call, Direct, Hook};
use worldkeep::ops::{Setting, draft, fresh, history, purge, undo};

use crate::model::{Content, Model, Turn, anywhere, live, make, seen};
use crate::random::Random;

const FOLDERS: [&str; 4] = ["Midgard", "Asgard", "Jotunheim", "Vanaheim"];
const PAIRS: [&str; 3] = ["A", "B", "C"];
/// Nothing is ever done to these but to copy them.
const PROTECTED: [&str; 3] = ["Midgard_backup", "P.db", "P.fwl"];
const STEPS: usize = 8;

/// What a killed process does at its next call.
struct Killed;

#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    Kill(u64),
    Fails(u64, Errno),
    FailsFrom(u64, Errno),
}

struct Faulty {
    fault: Fault,
    /// The file system cannot exchange.
    plain: bool,
    count: Cell<u64>,
}

impl Faulty {
    fn new(fault: Fault, plain: bool) -> Self {
        Self { fault, plain, count: Cell::new(0) }
    }
}

impl Hook for Faulty {
    fn before(&self, call: Call) -> Result<(), Errno> {
        let n = self.count.get();
        self.count.set(n + 1);
        match self.fault {
            Fault::Kill(at) if n >= at => resume_unwind(Box::new(Killed)),
            Fault::Fails(at, error) if n == at => return Err(error),
            Fault::FailsFrom(at, error) if n >= at => return Err(error),
            _ => {}
        }
        if self.plain && call == Call::Exchange { Err(Errno::INVAL) } else { Ok(()) }
    }
}

/// None when it was killed.
fn unless_killed<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => Some(value),
        Err(cause) if cause.is::<Killed>() => None,
        Err(cause) => resume_unwind(cause),
    }
}

fn unknown() -> Server {
    Server { state: ServerState::Unknown, reasons: Vec::new(), restarts: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH }
}

/// What happened in all sequences.
#[derive(Default)]
struct Tally {
    steps: AtomicU64,
    refused: AtomicU64,
    killed: AtomicU64,
    finished: AtomicU64,
    rolled_back: AtomicU64,
    second_kills: AtomicU64,
    failed: AtomicU64,
    done: AtomicU64,
}

fn count(of: &AtomicU64) {
    of.fetch_add(1, Ordering::Relaxed);
}

/// One operation that is about to be done.
struct Intent {
    plan: Plan,
    turns: Vec<Turn>,
    takes_from: Option<String>,
    /// The operation whose parked worlds go for good.
    purges: Option<String>,
}

struct Sequence<'t> {
    _temp: TempDir,
    base: PathBuf,
    random: Random,
    plain: bool,
    model: Model,
    /// What each operation that happened did, oldest first.
    past: Vec<(String, Vec<Turn>)>,
    tally: &'t Tally,
    what: String,
}

impl<'t> Sequence<'t> {
    fn new(seed: u64, number: u64, tally: &'t Tally) -> Self {
        let temp = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let base = temp.path().canonicalize().unwrap();
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let mut model = Model::default();
        let names = ["Midgard", "Asgard", "A.db", "A.fwl", "B.db", "B.fwl"].into_iter().chain(PROTECTED);
        fs::create_dir_all(base.join("root/worlds_local")).unwrap();
        // No process and no mount is to be seen.
        fs::create_dir(base.join("proc")).unwrap();
        for (content, name) in (1..).zip(names) {
            make(&base.join("root/worlds_local").join(name), Model::is_folder(name), content);
            model.live.insert(name.to_owned(), content);
        }
        let plain = random.below(6) == 0;
        let what = format!("seed {seed}, sequence {number}");
        Self { _temp: temp, base, random, plain, model, past: Vec::new(), tally, what }
    }

    fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    fn world(&self, name: &str) -> PathBuf {
        self.root().join("worlds_local").join(name)
    }

    fn keep(&self) -> PathBuf {
        self.root().join(".worldkeep")
    }

    fn setting(&self) -> Setting {
        Setting {
            now: jiff::Timestamp::from_second(1_796_040_000).unwrap(),
            zone: TimeZone::UTC,
            state: Some(self.base.join("state/worldkeep")),
            proc: self.base.join("proc"),
            read_only: false,
        }
    }

    /// The names that are worlds of this kind and there: of pairs, their stems.
    fn there(&self, of: &[&'static str], protected: bool) -> Vec<&'static str> {
        let of = of.iter().copied().chain(protected.then_some(if of == PAIRS { "P" } else { PROTECTED[0] }));
        of.filter(|name| parts(name).iter().all(|part| self.model.live.contains_key(part))).collect()
    }

    fn free(&self, of: &[&'static str]) -> Vec<&'static str> {
        of.iter().copied().filter(|name| parts(name).iter().all(|part| !self.model.live.contains_key(part))).collect()
    }

    fn put(&self, from: &str, to: &str, replaces: bool) -> Change {
        let (source, to) = (self.world(from), self.world(to));
        let like = if replaces { to.clone() } else { source.clone() };
        Change::Put { fresh: Fresh { origin: Origin::Whole(source), writes: Vec::new(), like }, to, replaces }
    }

    fn drafted(&self, operation: Operation, changes: Vec<Change>) -> Result<Plan, Refusal> {
        let outline = Outline {
            operation,
            subject: "Midgard".to_owned(),
            root: self.root(),
            scanned: vec![self.root().join("worlds_local"), self.root().join("worlds")],
            changes,
            depends: Vec::new(),
            warnings: Vec::new(),
            preview: Preview { done: "It is done.".to_owned(), ..Preview::default() },
            restored: None,
            traces: None,
        };
        draft::draft(outline, None, &self.setting())
    }

    /// Picks what is done next; none when that cannot be done with what is there.
    fn intent(&mut self) -> Option<Intent> {
        let kind: &[&'static str] = if self.random.below(2) == 0 { &FOLDERS } else { &PAIRS };
        let all = self.there(kind, false);
        let sources = self.there(kind, true);
        let free = self.free(kind);
        let is = |name: &str| self.model.live.get(name).copied();
        let turn = |name: &str, after: Option<Content>| Turn { name: name.to_owned(), before: is(name), after };
        let mut random = self.random;
        let choice = random.below(10);
        let live = (!all.is_empty()).then(|| random.pick(&all));
        let source = random.pick(&sources);
        let target = (!free.is_empty()).then(|| random.pick(&free));
        let nth = random.below(self.past.len());
        self.random = random;
        let (operation, changes, turns) = match choice {
            0..=2 => {
                let live = live.filter(|live| *live != source)?;
                let pairs: Vec<_> = parts(source).into_iter().zip(parts(live)).collect();
                let changes = pairs.iter().map(|(from, to)| self.put(from, to, true)).collect();
                (Operation::Restore, changes, pairs.iter().map(|(from, to)| turn(to, is(from))).collect())
            }
            3 => {
                let pairs: Vec<_> = parts(source).into_iter().zip(parts(target?)).collect();
                let changes = pairs.iter().map(|(from, to)| self.put(from, to, false)).collect();
                (Operation::Copy, changes, pairs.iter().map(|(from, to)| turn(to, is(from))).collect())
            }
            4 => {
                let pairs: Vec<_> = parts(live?).into_iter().zip(parts(target?)).collect();
                let mut changes: Vec<Change> = pairs.iter().map(|(from, to)| self.put(from, to, false)).collect();
                changes.extend(pairs.iter().map(|(from, _)| Change::Park(self.world(from))));
                let mut turns: Vec<Turn> = pairs.iter().map(|(from, to)| turn(to, is(from))).collect();
                turns.extend(pairs.iter().map(|(from, _)| turn(from, None)));
                (Operation::Rename, changes, turns)
            }
            5 => {
                let names = parts(live?);
                let changes = names.iter().map(|name| Change::Park(self.world(name))).collect();
                (Operation::Delete, changes, names.iter().map(|name| turn(name, None)).collect::<Vec<Turn>>())
            }
            6..=8 => return self.undo(nth),
            _ => return self.purge(nth),
        };
        let plan = self.drafted(operation, changes);
        let plan = plan.unwrap_or_else(|refusal| panic!("{}: {operation:?} {turns:?}: {refusal}", self.what));
        Some(Intent { plan, turns, takes_from: None, purges: None })
    }

    fn entry(&self, name: &str) -> history::Entry {
        let (entries, told) = history::list(&[self.keep()], &self.setting());
        // An operation that came to nothing may leave empty folders behind, which are told.
        let empty = |words: &String| {
            words.contains("is not on record") && !self.model.parked.keys().any(|name| words.contains(name.as_str()))
        };
        assert!(told.iter().all(empty), "{}: {told:?}", self.what);
        assert_eq!(entries.len(), self.past.len(), "{}: the history has another length", self.what);
        entries.into_iter().find(|entry| entry.record.name == name).unwrap()
    }

    /// Any earlier operation is tried, the last one most often.
    fn undo(&mut self, nth: usize) -> Option<Intent> {
        let newest = self.random.below(2) == 0;
        let (earlier, turns) = if newest { self.past.last() } else { self.past.get(nth) }?.clone();
        let plan = undo::plan(&self.entry(&earlier), &self.setting());
        let parked = self.model.parked.get(&earlier);
        let possible = turns.iter().all(|turn| {
            self.model.live.get(&turn.name).copied() == turn.after
                && turn.before == parked.and_then(|parked| parked.get(&turn.name)).copied()
        });
        let is_last = self.past.last().is_some_and(|(last, _)| *last == earlier);
        match plan {
            Ok(plan) => {
                assert!(possible && !turns.is_empty(), "{}: {earlier} cannot be taken back", self.what);
                let back = |turn: &Turn| Turn { name: turn.name.clone(), before: turn.after, after: turn.before };
                let turns = turns.iter().map(back).collect();
                Some(Intent { plan, turns, takes_from: Some(earlier), purges: None })
            }
            Err(refusal) => {
                assert!(!(possible && is_last && !turns.is_empty()), "{}: {earlier}: {refusal}", self.what);
                count(&self.tally.refused);
                None
            }
        }
    }

    fn purge(&mut self, nth: usize) -> Option<Intent> {
        let (earlier, _) = self.past.get(nth)?.clone();
        let plan = purge::plan(&[self.entry(&earlier)], &self.setting());
        let keeps = self.model.parked.contains_key(&earlier);
        match plan {
            Ok(plan) => {
                // Empty folders may be left where all was put back, and may go.
                let path = self.keep().join("recycle").join(&earlier);
                assert!(keeps || anywhere(&path).is_empty(), "{}: {earlier} keeps nothing", self.what);
                Some(Intent { plan, turns: Vec::new(), takes_from: None, purges: Some(earlier) })
            }
            Err(refusal) => {
                assert!(!keeps, "{}: {earlier}: {refusal}", self.what);
                count(&self.tally.refused);
                None
            }
        }
    }

    fn fault(&mut self) -> Fault {
        let at = self.random.next() % 260;
        let error = self.random.pick(&[Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::MFILE, Errno::ROFS]);
        match self.random.below(10) {
            0..=4 => Fault::Kill(at),
            5 => Fault::Fails(at, error),
            6 => Fault::FailsFrom(at, error),
            _ => Fault::None,
        }
    }

    /// A program that another test starts has our lock as well for the moment until it is another program.
    fn recover(&self, hook: &impl Hook) -> Vec<Recovered> {
        let mut found = Vec::new();
        for _ in 0..200 {
            found = recover_with(hook, &|_, _| unknown(), &[self.keep()], &self.setting());
            if found.iter().all(|one| one.became != Became::Busy) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        found
    }

    /// (I2) no content goes but by a purge, (I4) what is protected stays: at any moment, a crash included.
    fn nothing_lost(&self, before: &Model, purged: &BTreeSet<Content>) {
        let there = anywhere(&self.base);
        let lost: Vec<_> = before.contents().into_iter().filter(|content| !there.contains(content)).collect();
        assert!(lost.iter().all(|content| purged.contains(content)), "{}: lost {lost:?}", self.what);
        for name in PROTECTED {
            let is = crate::model::content_of(&self.world(name));
            assert_eq!(is, before.live.get(name).copied(), "{}: {name} was touched", self.what);
        }
    }

    fn step(&mut self, nth: usize) {
        let base = self.what.clone();
        self.what = format!("{base}, step {nth}");
        if let Some(intent) = self.intent() {
            self.carry_out(intent);
        }
        self.what = base;
    }

    fn carry_out(&mut self, intent: Intent) {
        let fault = self.fault();
        let name = intent.plan.content().name.clone();
        let operation = intent.plan.content().operation;
        self.what = format!("{}, {operation:?} {name} with {fault:?}", self.what);
        let before = self.model.clone();
        let mut after = before.clone();
        after.turn(&name, &intent.turns, intent.takes_from.as_deref());
        let gone = intent.purges.as_ref().and_then(|earlier| after.parked.remove(earlier)).unwrap_or_default();
        let purged: BTreeSet<Content> = gone.into_values().collect();
        let consent = Consent { proof: Proof::Yes, accepted: WarningCode::ALL.to_vec() };
        let fresh = fresh::check(intent.plan.confirm(&consent).unwrap()).unwrap();
        let setting = self.setting();
        let hook = Faulty::new(fault, self.plain);
        let look = |_: &_, _: &Setting| unknown();
        let busy = |done: &Done| matches!(&done.outcome, Outcome::Refused(refusal) if refusal.reason == Reason::Busy);
        let done: Option<Done> = unless_killed(|| {
            let run = || run_with(&hook, &look, &fresh, &setting, &Cancel::new(), &mut |_| {});
            let mut done = run();
            for _ in 0..200 {
                if !busy(&done) {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
                done = run();
            }
            done
        });
        count(&self.tally.steps);
        if variable("WORLDKEEP_SEQUENCE").is_some() {
            eprintln!("{}: {:?}", self.what, done.as_ref().map(|done| &done.outcome));
        }
        self.nothing_lost(&before, &purged);
        match &done {
            None => {
                count(&self.tally.killed);
                while self.random.below(3) == 0 {
                    let at = self.random.next() % 60;
                    if unless_killed(|| self.recover(&Faulty::new(Fault::Kill(at), self.plain))).is_some() {
                        break;
                    }
                    count(&self.tally.second_kills);
                    self.nothing_lost(&before, &purged);
                }
            }
            // (I3) what is said to be done is done, before any recovery, and what is said to have failed left all as it was.
            Some(Done { outcome: Outcome::Done | Outcome::CleanUpPending { .. }, .. }) => {
                count(&self.tally.done);
                let is = live(&self.root());
                assert_eq!(is.as_ref(), Ok(&after.live), "{}: {done:?}", self.what);
            }
            Some(Done { outcome: Outcome::Unfinished { .. }, .. }) => count(&self.tally.failed),
            Some(_) => {
                assert!(!matches!(fault, Fault::None | Fault::Kill(_)), "{}: {done:?}", self.what);
                count(&self.tally.failed);
                let is = live(&self.root());
                assert_eq!(is.as_ref(), Ok(&before.live), "{}: {done:?}", self.what);
            }
        }
        let found = self.recover(&Faulty::new(Fault::None, self.plain));
        let settled = |one: &Recovered| matches!(one.became, Became::Finished | Became::RolledBack);
        assert!(found.iter().all(settled), "{}: {found:?}", self.what);
        assert_eq!(self.recover(&Direct), Vec::new(), "{}: found again", self.what);
        for left in ["journal", "stage", "swap"] {
            assert!(self.keep().join(left).symlink_metadata().is_err(), "{}: there is a {left}", self.what);
        }
        // (I1) every world is one that once was, as a whole, and (I3) all of them are those of one of the two models.
        let is = seen(&self.root()).unwrap_or_else(|error| panic!("{}: {error}", self.what));
        let happened = self.keep().join("history").join(&name).exists();
        if done.is_none() {
            count(if happened { &self.tally.finished } else { &self.tally.rolled_back });
        }
        assert_eq!(is, if happened { after } else { before.clone() }, "{}: happened: {happened}", self.what);
        self.nothing_lost(&before, &purged);
        if happened {
            self.past.push((name, intent.turns));
        }
        self.model = is;
    }
}

fn parts(name: &str) -> Vec<String> {
    if FOLDERS.contains(&name) || PROTECTED.contains(&name) {
        vec![name.to_owned()]
    } else {
        vec![format!("{name}.db"), format!("{name}.fwl")]
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn sequences_of_operations_with_crashes_end_as_the_model_says() {
    let everything = std::env::var_os("WORLDKEEP_FAULTS").is_some_and(|value| value == "all");
    let seed = variable("WORLDKEEP_SEED").unwrap_or(1);
    let numbers = match variable("WORLDKEEP_SEQUENCE") {
        Some(one) => one..one + 1,
        None if everything => 0..10_000,
        None => 0..200,
    };
    eprintln!("seed {seed}, sequences {numbers:?}");
    let (next, end) = (AtomicU64::new(numbers.start), numbers.end);
    let tally = Tally::default();
    let failures = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        break;
                    }
                    let all = catch_unwind(AssertUnwindSafe(|| {
                        let mut sequence = Sequence::new(seed, number, &tally);
                        (0..STEPS).for_each(|nth| sequence.step(nth));
                    }));
                    if let Err(cause) = all {
                        let words = cause.downcast_ref::<String>().cloned().unwrap_or_default();
                        failures.lock().unwrap().insert(number, words);
                    }
                }
            });
        }
    });
    let get = |of: &AtomicU64| of.load(Ordering::Relaxed);
    eprintln!(
        "{} sequences, {} operations: {} killed ({} finished, {} rolled back afterwards; {} kills more in the recovery), {} done, {} failed, {} refused",
        end - numbers.start,
        get(&tally.steps),
        get(&tally.killed),
        get(&tally.finished),
        get(&tally.rolled_back),
        get(&tally.second_kills),
        get(&tally.done),
        get(&tally.failed),
        get(&tally.refused)
    );
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} sequences failed: {failures:#?}", failures.len());
    if numbers.start + 1 < end {
        let all =
            [&tally.finished, &tally.rolled_back, &tally.second_kills, &tally.done, &tally.failed, &tally.refused];
        assert!(all.into_iter().all(|of| get(of) > 10), "something was hardly tried");
    }
}
