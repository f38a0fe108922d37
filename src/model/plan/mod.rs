//! What is about to be done to a save, as data: asked, planned or refused, confirmed, done.
//!
//! ```text
//! Ask  -->  Outline  -->  Plan | Refusal  --a person reads it-->  Confirmed  -->  Outcome
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

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::Hallmarks;
use super::outline::{Preview, Traces};

mod step;
mod words;

pub use step::{Fingerprint, Move, Rights, Space, Step, Witness};
pub use words::{Reason, Refusal, Warning, WarningCode};

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

/// Digits of the name of an operation.
pub const OPERATION_DIGITS: usize = 12;

/// A plan in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What it does.
    pub operation: Operation,
    /// What it is about, for people and for the history: the name of a world or an earlier operation. Untrusted.
    pub subject: String,
    /// Its name in the history and in the keeping folder: [`OPERATION_DIGITS`] hexadecimal digits, and the same for the
    /// same request on an unchanged disk.
    pub name: String,
    /// The name of the operation that it takes back.
    pub undoes: Option<String>,
    /// The keeping folder (`.worldkeep`) in which it stages and parks, on the file system of the save.
    pub keep: PathBuf,
    /// How, in this order: everything that makes the new state, then every rename, then what is removed for good.
    pub steps: Vec<Step>,
    /// Both sides of the question, for people.
    pub preview: Preview,
    /// What tells the state that takes the place of a live world. The id does not cover it: it comes from the same files.
    pub restored: Option<Hallmarks>,
    /// What tells whether a server uses the save, looked at once more right before the renames; none where no server
    /// can be concerned, as for a purge.
    pub traces: Option<Traces>,
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
    /// It was interrupted in the middle, and could neither be finished nor taken back by itself; the journal is there.
    Unfinished {
        /// Why, what lies where, and what to do, in whole sentences, safe to print.
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
            Self::Unchanged { .. } | Self::Unfinished { .. } => 1,
            Self::Refused(_) => 4,
            Self::CleanUpPending { .. } => 5,
            Self::Cancelled => 130,
        }
    }
}

/// The start of the SHA-256 of everything in a plan but what is told of it to people, which counts time from now. Each part is written with its length or behind a number for its
/// kind, so that no two plans are written alike.
fn digest(draft: &Draft) -> [u8; 8] {
    let mut sum = Sum(Sha256::new());
    sum.text("worldkeep plan 1");
    sum.text(draft.operation.as_str());
    sum.text(&draft.subject);
    sum.text(&draft.name);
    sum.text(draft.undoes.as_deref().unwrap_or_default());
    sum.path(&draft.keep);
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
        // What is said of the server may change from one moment to the next without being another plan.
        if !warning.code.is_of_the_moment() {
            sum.text(&warning.text);
        }
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
            Step::Unpack { archive, members, to } => {
                self.text("unpack");
                self.path(archive);
                self.number(members.len() as u64);
                for (member, below) in members {
                    self.path(member);
                    self.path(below);
                }
                self.path(to);
            }
            Step::Dress { path, like, rights } => {
                self.text("dress");
                self.path(path);
                self.path(like);
                self.number(u64::from(*rights == Rights::Like));
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
            Step::Place { from, to } => {
                self.text("place");
                self.path(from);
                self.path(to);
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
