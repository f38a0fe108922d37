//! What changes saves: plans are made from a game's outline, carried out crash-safely, taken back, and recovered.
//!
//! - [`ask`]: from a question to a plan: the game's rules, the server, the places. What the command line and the browser call.
//! - [`draft`]: an outline becomes a plan: where it is staged, what is parked where, whether it can be done here at all.
//! - [`liveness`]: whether a server uses a save.
//! - [`fresh`]: a confirmed plan, checked once more against the disk. Only this runs.
//! - [`stage`], [`tree`], [`unpack`], [`compare`]: the new state, made durable and proved, outside every folder
//!   that the game looks into.
//! - [`run`]: lock, stage, journal, renames, journal gone.
//! - [`recover`]: what an interrupted run left is finished or rolled back.
//! - [`history`], [`undo`], [`purge`]: what was done, taking it back, and emptying the recycle folder.
//! - [`follow`]: what the game made of a restore.
//! - [`keep`], [`record`]: the keeping folder `.worldkeep`, and the lock in it.
//!
//! Nothing here knows a game's file names. `docs/operations.md` says what is kept, what is refused and how it was shown.
//!
//! Linux has all of it. Elsewhere the types are there, and [`Root::open`] refuses with the reason.

pub mod ask;
pub mod compare;
pub mod draft;
mod failure;
pub mod follow;
pub mod fresh;
pub mod history;
pub mod keep;
pub mod liveness;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod moves;
mod name;
pub mod purge;
pub mod record;
pub mod recover;
#[cfg(target_os = "linux")]
mod remove;
mod root;
pub mod run;
mod setting;
pub mod stage;
pub mod tree;
#[cfg(target_os = "linux")]
mod trouble;
pub mod undo;
pub mod unpack;

pub use failure::{Act, Cause, Failure, Side, State};
pub use root::Root;
pub use setting::Setting;
