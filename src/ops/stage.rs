//! The copies of a plan: made, made durable, and proved.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::compare::{Comparison, Difference, Kind, Pair, compare};
use super::fresh::Fresh;
use super::tree::{Copied, Flush, Loss, Lost, Order, Progress, copy, discard};
use super::{Act, Cause, Failure, Root, Side, State};
use crate::model::Cancel;
use crate::model::plan::Step;

/// A copy that is complete, durable and proved.
#[derive(Debug)]
pub struct Staged {
    /// The stage.
    pub stage: PathBuf,
    /// What was copied, and what could not be kept.
    pub copied: Copied,
    /// What the proof looked at. Its differences are those that [`Copied::lost`] had said, and no others.
    pub proof: Comparison,
}

/// Makes every copy of a plan, in its order, and proves each equal to its source. When one fails, those before it are
/// removed again, and the failure is that of the first.
pub fn stage(fresh: &Fresh, cancel: &Cancel, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Vec<Staged>, Failure> {
    let mut staged: Vec<(Staged, Root)> = Vec::new();
    for step in &fresh.plan().content().steps {
        let Step::Copy { from, items, to } = step else { continue };
        let made = one(from, items, to, cancel, progress);
        match made {
            Ok(made) => staged.push(made),
            Err(failure) => return Err(take_back(&staged, failure)),
        }
    }
    Ok(staged.into_iter().map(|(staged, _)| staged).collect())
}

fn take_back(staged: &[(Staged, Root)], mut failure: Failure) -> Failure {
    for (earlier, parent) in staged {
        let name = earlier.stage.file_name().unwrap_or_default();
        let state = discard(&earlier.copied, parent, name);
        if !matches!(failure.state, State::Left { .. }) {
            failure.state = state;
        }
    }
    failure
}

fn one(
    from: &Path,
    items: &[std::ffi::OsString],
    to: &Path,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(Staged, Root), Failure> {
    let failure = |path: &Path, cause, state| Failure {
        act: Act::Compare,
        side: Side::Stage,
        path: path.to_path_buf(),
        cause,
        state,
    };
    let (Some(parent), Some(name)) = (to.parent(), to.file_name()) else {
        return Err(failure(to, Cause::OddName, State::NothingMade));
    };
    let (source, parent) = (Root::open(from)?, Root::open(parent)?);
    let order = Order { source: &source, items, parent: &parent, stage: name, flush: Flush::ByAmount };
    let copied = copy(&order, cancel, progress)?;
    let proof = compare(&Pair { source: &source, items, parent: &parent, stage: name }, cancel);
    let cause = match unexplained(&proof, &copied) {
        _ if proof.cancelled => Some((to.to_path_buf(), Cause::Cancelled)),
        Some(difference) => Some((difference.path.clone(), Cause::Differs(difference.to_string()))),
        // More than can be listed is more than can be explained.
        None if proof.more > 0 => Some((to.to_path_buf(), Cause::Differs(format!("{} things differ", proof.more)))),
        None => None,
    };
    if let Some((path, cause)) = cause {
        let state = discard(&copied, &parent, OsStr::new(name));
        return Err(failure(&path, cause, state));
    }
    Ok((Staged { stage: to.to_path_buf(), copied, proof }, parent))
}

/// The first difference that the copier had not said.
fn unexplained<'p>(proof: &'p Comparison, copied: &Copied) -> Option<&'p Difference> {
    proof.differences.iter().find(|difference| !copied.lost.iter().any(|loss| explains(loss, difference)))
}

fn explains(loss: &Loss, difference: &Difference) -> bool {
    loss.path == difference.path
        && match (&loss.lost, &difference.kind) {
            (Lost::Owner { user, group }, Kind::Owner { source, .. }) => (*user, *group) == *source,
            (Lost::Mode { was, is }, Kind::Mode { source, stage }) => (was, is) == (source, stage),
            (Lost::Attribute(lost), Kind::Attribute(differs)) => lost == differs,
            _ => false,
        }
}
