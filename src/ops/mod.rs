//! What changes saves: so far the copy into a stage and the proof that the stage is the source.
//!
//! - [`fresh`]: a confirmed plan, checked once more against the disk. Only this runs.
//! - [`stage`]: the copies of such a plan, made durable and proved.
//! - [`tree`]: copies files and folders faithfully, by descriptors that follow no link, and makes them durable.
//! - [`compare`]: says in what a copy differs from its source. It shares no code with the copier.
//!
//! Nothing here knows a game's file names. The journal, the exchange, the recycle folder and the look for a running
//! server are not built yet, and no command leads here. `docs/operations.md` says what is kept, what is refused and
//! how it was shown.
//!
//! Linux has all of it. Elsewhere the types are there, and [`Root::open`] refuses with the reason, so that there is
//! nothing to copy from or into.

pub mod compare;
mod failure;
pub mod fresh;
mod root;
pub mod stage;
pub mod tree;

pub use failure::{Act, Cause, Failure, Side, State};
pub use root::Root;
