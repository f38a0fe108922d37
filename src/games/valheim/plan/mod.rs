//! What operations mean for this game's files: which of them make up a state, what they replace, what goes along.
//!
//! Facts: sections 4 and 5 of the naming rules in `docs/formats/valheim.md`. Nothing here writes; the outline says what
//! changes, and `ops` carries it out.

mod cache;
mod copy;
mod delete;
mod names;
mod rename;
mod restore;
mod site;
mod state;
mod words;

use super::NO_FINISHED_SAVE;
use crate::games::Context;
use crate::model::outline::{Ask, Outline};
use crate::model::plan::{Operation, Reason, Refusal};

/// The outline of an operation, or why the game would be harmed by it.
pub(super) fn plan(ask: &Ask<'_>, context: &Context) -> Result<Outline, Refusal> {
    match ask.operation {
        Operation::Restore => restore::restore(ask, context),
        Operation::Copy => copy::copy(ask, context),
        Operation::Backup => copy::backup(ask, context),
        Operation::Rename => rename::rename(ask, context),
        Operation::Delete => delete::delete(ask, context),
        Operation::Undo | Operation::Purge => Err(not_for_this("It is about operations, not about worlds.")),
    }
}

fn not_for_this(text: &str) -> Refusal {
    Refusal::new(Reason::NotSupported, text)
}

fn no_finished_save() -> Refusal {
    Refusal::new(Reason::NoFinishedSave, NO_FINISHED_SAVE)
}
