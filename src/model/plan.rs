//! What is about to be done to a save, as data: asked, planned or refused, confirmed, done.
//!
//! ```text
//! Request  -->  Plan | Refusal  --a person reads it-->  Confirmed  -->  Outcome
//! ```
//!
//! The types hold the order. A [`Plan`] is made from a [`Draft`] and cannot be changed afterwards; its id follows from
//! everything in it. A [`Confirmed`] comes only out of [`Plan::confirm`], which wants the proof that somebody agreed
//! to this very plan, and it carries that plan, so that what was read is what is run. That the disk still is what the
//! plan was computed from is checked by `ops::fresh`, which makes the only value that the engine takes.
//!
//! A plan that nobody confirmed has no way in:
//!
//! ```compile_fail,E0451
//! use worldkeep::model::plan::{Confirmed, Plan};
//! fn smuggle(plan: Plan) -> Confirmed {
//!     Confirmed { plan }
//! }
//! ```
//!
//! and a plan that was confirmed cannot be run twice, since it is neither copied nor cloned:
//!
//! ```compile_fail,E0382
//! use worldkeep::model::plan::Confirmed;
//! fn run(_: Confirmed) {}
//! fn twice(confirmed: Confirmed) {
//!     run(confirmed);
//!     run(confirmed);
//! }
//! ```

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// What can be done to a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Puts a layer in the place of the live world.
    Restore,
    /// Copies a world or a layer under another name or into another place.
    Copy,
    /// Gives a world another name.
    Rename,
    /// Moves a world or a layer into the recycle folder.
    Delete,
    /// Makes a safety copy.
    Backup,
    /// Takes an earlier operation back.
    Undo,
    /// Empties the recycle folder for good.
    Purge,
}

impl Operation {
    /// The word used on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restore => "restore",
            Self::Copy => "copy",
            Self::Rename => "rename",
            Self::Delete => "delete",
            Self::Backup => "backup",
            Self::Undo => "undo",
            Self::Purge => "purge",
        }
    }
}

/// What somebody asks for, before anything was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// The world or the layer that it is about.
    pub target: PathBuf,
    /// Where the result goes, for the operations that have such a place.
    pub destination: Option<PathBuf>,
}

/// One thing that a plan does. Paths are absolute and hold no link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Copies `items` of the folder `from` into the folder `to`, which must not be there yet.
    Copy {
        /// The folder that holds the items.
        from: PathBuf,
        /// Names of files and folders in it.
        items: Vec<OsString>,
        /// The stage.
        to: PathBuf,
    },
    /// Writes these bytes into a new file of a stage.
    Write {
        /// The file.
        path: PathBuf,
        /// All its bytes.
        bytes: Vec<u8>,
    },
    /// Lets two names of one file system change places.
    Exchange {
        /// The new state.
        stage: PathBuf,
        /// The live one.
        live: PathBuf,
    },
    /// Moves the old state to where it is kept; the new name must not be there yet.
    Park {
        /// Where it lies.
        from: PathBuf,
        /// Where it is kept.
        to: PathBuf,
    },
    /// Removes something for good.
    Remove {
        /// What goes.
        path: PathBuf,
    },
}

/// What a file or a folder was when a plan was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The device that holds it.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When it was last written: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
}

/// Something that a plan was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Where it lies.
    pub path: PathBuf,
    /// What was there; none when nothing was, and nothing may be.
    pub was: Option<Fingerprint>,
}

/// Free space that a plan needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// A folder on the file system that needs it.
    pub on: PathBuf,
    /// Bytes, with the floor that is left for the server.
    pub bytes: u64,
}

macro_rules! words {
    ($(#[$about:meta])* $kind:ident { $($name:ident $text:literal $extra:expr, $meaning:literal;)* } $(#[$doc:meta])* $method:ident -> $result:ty) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind {
            $(#[doc = $meaning] $name,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word used in JSON and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            $(#[$doc])*
            pub fn $method(self) -> $result {
                match self { $(Self::$name => $extra,)* }
            }
        }
    };
}

words! {
    /// What a person should read before agreeing. The list is closed.
    WarningCode {
        LivenessUnknown "liveness-unknown" true, "Whether a server uses this save could not be told.";
        SourceNotWhole "source-not-whole" true, "The state that would be used is not whole.";
        FormatUnproven "format-unproven" false, "No real file has proven here that this format is read rightly.";
        OtherWorld "other-world" false, "The state that would be used is of another world.";
        ConvertsOnSave "converts-on-save" false, "The game converts this world at its next save, one way.";
        OnlyInLive "only-in-live" false, "Files of the live world are not in the state that would be used, and would be parked.";
        NotKept "not-kept" false, "Something about the files cannot be kept here, such as their owner.";
    }
    /// True when it has to be accepted by name before the plan can be confirmed.
    needs_acceptance -> bool
}

words! {
    /// Why nothing is done. The list is closed.
    Reason {
        Running "running" "Stop the server, and ask again.", "A server uses this save.";
        ReadOnly "read-only" "Start again without --read-only.", "Changes are switched off.";
        NotConfirmed "not-confirmed" "Read the plan with --dry-run, then confirm it with --yes or --yes=ID.", "Nobody agreed to the plan.";
        NotAccepted "not-accepted" "Read the warning; accept it with --accept and its code if it is no obstacle.", "A warning of the plan was not accepted by name.";
        OtherPlan "other-plan" "Read the plan as it is now, and confirm its id.", "The plan that was agreed to is not this one.";
        Stale "stale" "Ask again: the plan is computed anew from what is there now.", "What the plan was computed from has changed.";
        NoFinishedSave "no-finished-save" "Choose a layer that holds a finished save.", "The state that would be used holds no finished save.";
        NameTaken "name-taken" "Choose another name.", "Something of that name is already there.";
        NoSpace "no-space" "Free space on that file system, for instance with purge, and ask again.", "There is too little free space.";
        NoStage "no-stage" "Move the save to a file system with a folder that we may write and no game scans.", "There is no place for the stage on the save's file system.";
        NotPermitted "not-permitted" "Run as the user who owns the save.", "We may not write there.";
        Busy "busy" "Wait until the other operation is done.", "Another operation is being run.";
        NotCopyable "not-copyable" "Take it out of the save, or put a plain file in its place.", "The save holds something that is never copied, such as a pipe or a link that leads out.";
        Platform "platform" "Run worldkeep on Linux for operations.", "Operations are not proven on this system.";
    }
    /// What to do about it, in one sentence.
    next -> &'static str
}

/// One warning of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which.
    pub code: WarningCode,
    /// In whole sentences, safe to print.
    pub text: String,
}

/// Why nothing is done, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, for scripts.
    pub reason: Reason,
    /// Why, for people: which file, which process, how many bytes; safe to print.
    pub text: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, self.reason.next())
    }
}

impl std::error::Error for Refusal {}

/// The name of a plan, which follows from its content: the same plan has the same id in every run, and a plan that
/// differs in anything has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanId([u8; 8]);

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for PlanId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let number = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16 && !text.starts_with('+'));
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| {
            let text = super::shown(text);
            Refusal::new(Reason::OtherPlan, format!("'{text}' is no plan's id: an id has 16 hexadecimal digits."))
        })
    }
}

/// A plan in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What it does.
    pub operation: Operation,
    /// How, in this order.
    pub steps: Vec<Step>,
    /// Bytes that are copied or written.
    pub bytes: u64,
    /// The free space that it needs.
    pub space: Space,
    /// What to read before agreeing.
    pub warnings: Vec<Warning>,
    /// What it was computed from.
    pub witnesses: Vec<Witness>,
}

impl Draft {
    /// Makes the plan, which cannot be changed any more.
    pub fn seal(self) -> Plan {
        let id = PlanId(digest(&self));
        Plan { id, draft: self }
    }
}

/// What would be done, as data: the dialog and `--dry-run` show this value, and the engine runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    id: PlanId,
    draft: Draft,
}

impl Plan {
    /// Its id.
    pub fn id(&self) -> PlanId {
        self.id
    }

    /// Everything in it.
    pub fn content(&self) -> &Draft {
        &self.draft
    }

    /// The plan, confirmed, if the consent is to this very plan and names every warning that needs it.
    pub fn confirm(self, consent: &Consent) -> Result<Confirmed, Refusal> {
        let given = match consent.proof {
            Proof::Dialog { shown } => Some(shown),
            Proof::YesTo(id) => Some(id),
            Proof::Yes => None,
        };
        if let Some(given) = given.filter(|given| *given != self.id) {
            let text = format!("The plan that was confirmed is {given}, and what would be done now is {}.", self.id);
            return Err(Refusal::new(Reason::OtherPlan, text));
        }
        let unread = |warning: &&Warning| warning.code.needs_acceptance() && !consent.accepted.contains(&warning.code);
        if let Some(Warning { code, text }) = self.draft.warnings.iter().find(unread) {
            return Err(Refusal::new(Reason::NotAccepted, format!("{text} ({})", code.as_str())));
        }
        Ok(Confirmed { plan: self })
    }
}

/// How somebody agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// In the dialog that showed this plan.
    Dialog {
        /// The plan that was on the screen when the key was pressed.
        shown: PlanId,
    },
    /// With `--yes`: to the plan that the same call computes.
    Yes,
    /// With `--yes=ID`: to the plan of this id and to no other.
    YesTo(PlanId),
}

/// Somebody's consent: how it was given, and which warnings were accepted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// How.
    pub proof: Proof,
    /// Which warnings.
    pub accepted: Vec<WarningCode>,
}

/// A plan that somebody agreed to; only [`Plan::confirm`] makes one.
#[derive(Debug)]
pub struct Confirmed {
    plan: Plan,
}

impl Confirmed {
    /// The plan, as it was agreed to.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it is done.
    Done,
    /// What was asked for is done and in its place; something that is no longer needed could not be cleared away.
    CleanUpPending {
        /// What is left.
        left: Vec<PathBuf>,
        /// Why, in whole sentences, safe to print.
        why: String,
    },
    /// It failed, and the save is what it was.
    Unchanged {
        /// Why, in whole sentences, safe to print.
        why: String,
    },
    /// It was interrupted by the person, and the save is what it was.
    Cancelled,
    /// It was not begun.
    Refused(Refusal),
}

impl Outcome {
    /// The exit code of the command that ends so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unchanged { .. } => 1,
            Self::Refused(_) => 4,
            Self::CleanUpPending { .. } => 5,
            Self::Cancelled => 130,
        }
    }
}

/// The start of the SHA-256 of everything in a plan. Each part is written with its length or behind a number for its
/// kind, so that no two plans are written alike.
fn digest(draft: &Draft) -> [u8; 8] {
    let mut sum = Sum(Sha256::new());
    sum.text("worldkeep plan 1");
    sum.text(draft.operation.as_str());
    sum.number(draft.steps.len() as u64);
    for step in &draft.steps {
        sum.step(step);
    }
    sum.number(draft.bytes);
    sum.path(&draft.space.on);
    sum.number(draft.space.bytes);
    sum.number(draft.warnings.len() as u64);
    for warning in &draft.warnings {
        sum.text(warning.code.as_str());
        sum.text(&warning.text);
    }
    sum.number(draft.witnesses.len() as u64);
    for witness in &draft.witnesses {
        sum.path(&witness.path);
        sum.number(u64::from(witness.was.is_some()));
        if let Some(was) = witness.was {
            let (seconds, nanoseconds) = was.modified;
            let numbers = [was.device, was.inode, was.size, seconds.cast_unsigned(), nanoseconds.into()];
            for number in numbers {
                sum.number(number);
            }
        }
    }
    let mut start = [0; 8];
    start.iter_mut().zip(sum.0.finalize()).for_each(|(to, from)| *to = from);
    start
}

struct Sum(Sha256);

impl Sum {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_encoded_bytes());
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Copy { from, items, to } => {
                self.text("copy");
                self.path(from);
                self.number(items.len() as u64);
                for item in items {
                    self.bytes(item.as_encoded_bytes());
                }
                self.path(to);
            }
            Step::Write { path, bytes } => {
                self.text("write");
                self.path(path);
                self.bytes(bytes);
            }
            Step::Exchange { stage, live } => {
                self.text("exchange");
                self.path(stage);
                self.path(live);
            }
            Step::Park { from, to } => {
                self.text("park");
                self.path(from);
                self.path(to);
            }
            Step::Remove { path } => {
                self.text("remove");
                self.path(path);
            }
        }
    }
}

#[cfg(test)]
mod tests;
