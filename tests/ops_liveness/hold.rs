//! A game's own locks are held while its save changes places.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use tempfile::TempDir;
use worldkeep::model::outline::Traces;
use worldkeep::model::plan::{Outcome, Reason};
use worldkeep::model::{Cancel, Server, ServerState};
use worldkeep::ops::Setting;
use worldkeep::ops::liveness;
use worldkeep::ops::recover::{Became, recover_with};
use worldkeep::ops::run::{Done, run_with};
use worldkeep::ops::tree::calls::{Call, Hook};

use crate::drafts::{self, Hand};
use crate::lab::{java, python, setting};

/// A game with a lock file in its world, and one beside it.
struct Game {
    _temp: TempDir,
    root: PathBuf,
}

impl Game {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("saves");
        for (world, bytes) in [("World", "old"), ("backup", "new")] {
            fs::create_dir_all(root.join("worlds").join(world)).unwrap();
            fs::write(root.join("worlds").join(world).join("level"), bytes).unwrap();
            fs::write(root.join("worlds").join(world).join("session.lock"), "\u{2603}").unwrap();
        }
        Self { _temp: temp, root }
    }

    fn world(&self) -> PathBuf {
        self.root.join("worlds/World")
    }

    fn lock(&self) -> PathBuf {
        self.world().join("session.lock")
    }

    fn keep(&self) -> PathBuf {
        self.root.join(".worldkeep")
    }

    fn traces(&self) -> Traces {
        Traces {
            programs: vec!["no_such_server".into()],
            root: self.root.clone(),
            held: vec![self.world()],
            locks: vec![self.lock()],
            ..Traces::default()
        }
    }

    fn restore(&self) -> Hand {
        let backup = self.root.join("worlds/backup");
        drafts::restore_folder(&self.world(), &backup, &self.keep(), "0123456789ab").traced(self.traces())
    }

    fn run(&self, hook: &impl Hook, look: &dyn Fn(&Traces, &Setting) -> Server) -> Done {
        run_with(hook, look, &drafts::fresh(self.restore().draft()), &setting(), &Cancel::new(), &mut |_| {})
    }

    /// All renames of the save are done; what is left is the journal, which becomes the record.
    fn is_in_place(&self, when: &str) -> bool {
        let parked = self.keep().join("recycle/0123456789ab/worlds/World").exists();
        parked && (when == "before" || !self.keep().join("journal").exists())
    }

    fn level(&self) -> String {
        fs::read_to_string(self.world().join("level")).unwrap()
    }
}

/// Does something before each rename and after it, which is before the next call.
struct Around<F> {
    was: Cell<Option<Call>>,
    act: F,
}

impl<F: Fn(&str) -> Result<(), Errno>> Hook for Around<F> {
    fn before(&self, call: Call) -> Result<(), Errno> {
        if let Some(Call::Exchange | Call::RenameNew) = self.was.replace(Some(call)) {
            (self.act)("after")?;
        }
        match call {
            Call::Exchange | Call::RenameNew => (self.act)("before"),
            _ => Ok(()),
        }
    }
}

fn around<F: Fn(&str) -> Result<(), Errno>>(act: F) -> Around<F> {
    Around { was: Cell::new(None), act }
}

/// Whether somebody who wants the lock for himself gets it, by both kinds.
fn gets(path: &Path) -> Option<[bool; 2]> {
    let program = "import sys,fcntl
f=open(sys.argv[1],'r+')
def gets(call):
    try: call(f, fcntl.LOCK_EX|fcntl.LOCK_NB); return 'y'
    except OSError: return 'n'
print(gets(fcntl.lockf) + gets(fcntl.flock))";
    let output = Command::new("python3").arg("-c").arg(program).arg(path).stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let mut letters = text.trim().chars().map(|letter| letter == 'y');
    Some([letters.next()?, letters.next()?])
}

#[test]
fn nobody_gets_the_lock_during_the_renames_and_everybody_after_them() {
    let game = Game::new();
    if gets(&game.lock()).is_none() {
        eprintln!("skipped: python3 is not there");
        return;
    }
    let tries = RefCell::new(Vec::new());
    let hook = around(|when| {
        // By the name in place; which file that is changes in between.
        if !game.is_in_place(when) {
            tries.borrow_mut().push((when.to_owned(), game.level(), gets(&game.lock()).unwrap()));
        }
        Ok(())
    });
    let done = game.run(&hook, &liveness::look);
    assert_eq!((&done.outcome, done.server_came_up), (&Outcome::Done, false), "{done:?}");
    assert_eq!(done.told, Vec::<String>::new(), "our own lock is no server's");
    assert_eq!(game.level(), "new");
    let tries = tries.into_inner();
    let of = |when: &str, level: &str| tries.iter().any(|(w, l, _)| w == when && l == level);
    assert!(of("before", "old") && of("after", "new"), "{tries:?}");
    assert!(tries.iter().all(|(_, _, got)| *got == [false, false]), "{tries:?}");
    assert_eq!(gets(&game.lock()), Some([true, true]));
    assert_eq!(gets(&game.keep().join("recycle/0123456789ab/worlds/World/session.lock")), Some([true, true]));
}

#[test]
fn a_game_in_java_refuses_to_start_during_the_renames() {
    let game = Game::new();
    let answers = RefCell::new(Vec::new());
    let hook = around(|when| {
        if when == "after" && !game.is_in_place(when) {
            answers.borrow_mut().extend(java(&game.lock()).map(|(_, answer)| answer));
        }
        Ok(())
    });
    let done = game.run(&hook, &liveness::look);
    assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    let answers = answers.into_inner();
    assert!(answers.iter().all(|answer| answer == "refused"), "{answers:?}");
    if let Some((_holder, answer)) = java(&game.lock()) {
        assert!(!answers.is_empty());
        assert_eq!(answer, "ready");
    }
}

const BOTH: [&str; 2] = ["lockf", "flock"];

fn holder(call: &str, lock: &Path) -> Option<crate::lab::Running> {
    let program = format!(
        "import sys,fcntl; f=open(sys.argv[1],'r+'); fcntl.{call}(f, fcntl.LOCK_EX); print('ready', flush=True); sys.stdin.read()"
    );
    python(&program, &[lock])
}

fn stopped(_: &Traces, _: &Setting) -> Server {
    Server { state: ServerState::Stopped, reasons: Vec::new(), restarts: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH }
}

#[test]
fn a_lock_that_was_taken_since_the_last_look_refuses_and_nothing_is_left() {
    for call in BOTH {
        let game = Game::new();
        let Some(_holder) = holder(call, &game.lock()) else { return };
        let done = game.run(&around(|_| Ok(())), &stopped);
        let Outcome::Refused(refusal) = &done.outcome else { panic!("{done:?}") };
        assert_eq!(refusal.reason, Reason::Running);
        assert!(refusal.text.contains("session.lock"), "{}", refusal.text);
        assert_eq!(game.level(), "old");
        assert!(!game.keep().exists(), "{call}: something is left");
    }
}

/// Every call fails once the switch is on.
struct Broken<'a, H>(&'a H, &'a Cell<bool>);
impl<H: Hook> Hook for Broken<'_, H> {
    fn before(&self, call: Call) -> Result<(), Errno> {
        self.0.before(call)?;
        if self.1.get() { Err(Errno::IO) } else { Ok(()) }
    }
}

#[test]
fn a_recovery_that_goes_on_holds_the_lock_as_well_and_refuses_where_it_cannot() {
    let game = Game::new();
    let broken = Cell::new(false);
    let hook = around(|when| {
        broken.set(broken.get() || when == "after" && game.level() == "new");
        if broken.get() { Err(Errno::IO) } else { Ok(()) }
    });
    // Taking it back fails as well.
    let done = game.run(&Broken(&hook, &broken), &stopped);
    assert!(matches!(done.outcome, Outcome::Unfinished { .. }), "{done:?}");
    assert_eq!(game.level(), "new");
    if let Some(_holder) = holder("lockf", &game.lock()) {
        let told = recover_with(&around(|_| Ok(())), &stopped, &[game.keep()], &setting());
        assert_eq!(told[0].became, Became::Left, "{told:?}");
        assert!(told[0].text.contains("session.lock"), "{told:?}");
    }
    let tries = RefCell::new(Vec::new());
    let hook = around(|when| {
        if !game.is_in_place(when) {
            tries.borrow_mut().extend(gets(&game.lock()));
        }
        Ok(())
    });
    let told = recover_with(&hook, &liveness::look, &[game.keep()], &setting());
    assert_eq!(told[0].became, Became::Finished, "{told:?}");
    let tries = tries.into_inner();
    assert!(!tries.is_empty() && tries.iter().all(|got| *got == [false, false]), "{tries:?}");
    assert_eq!(game.level(), "new");
}

#[test]
fn a_game_without_a_lock_file_is_swapped_without_one() {
    let game = Game::new();
    fs::remove_file(game.lock()).unwrap();
    fs::remove_file(game.root.join("worlds/backup/session.lock")).unwrap();
    let done = game.run(&around(|_| Ok(())), &liveness::look);
    assert_eq!((&done.outcome, &done.told), (&Outcome::Done, &Vec::new()), "{done:?}");
    // What is no file is not held, and that is said.
    let game = Game::new();
    fs::remove_file(game.lock()).unwrap();
    fs::create_dir(game.lock()).unwrap();
    let held = liveness::hold(&game.traces(), &[]).unwrap();
    assert_eq!(held.count(), 0);
    assert!(held.told[0].contains("it is no file"), "{:?}", held.told);
}
