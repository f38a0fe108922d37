//! What reading an archive may cost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::Cancel;

/// How many bytes may be unpacked, and for whom: several archives can draw on one effort.
///
/// A packed archive does not show how much it unpacks to, and it cannot be listed before it was unpacked. So the
/// bytes are counted as they come; when they are used up, or nobody waits for the result any more, reading fails.
/// Clones count together.
#[derive(Clone, Debug)]
pub struct Effort {
    cancel: Cancel,
    left: Arc<AtomicU64>,
}

impl Effort {
    /// At most so many unpacked bytes, as long as a ticket counts.
    pub fn new(cancel: &Cancel, bytes: u64) -> Self {
        Self { cancel: cancel.clone(), left: Arc::new(AtomicU64::new(bytes)) }
    }

    /// As many bytes as it takes, as long as a ticket counts.
    pub fn any(cancel: &Cancel) -> Self {
        Self::new(cancel, u64::MAX)
    }

    /// The bytes that may still be unpacked; 0 once something failed for want of them.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes bytes off, for work that was done before; false when there are not that many.
    pub fn take(&self, bytes: u64) -> bool {
        let take = |left: u64| Some(left.saturating_sub(bytes));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok_and(|left| left > bytes)
    }

    /// Counts bytes that were unpacked; an error when reading must end here.
    pub(super) fn spend(&self, bytes: usize) -> io::Result<()> {
        if self.cancel.cancelled() {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        if self.take(bytes as u64) {
            Ok(())
        } else {
            Err(io::Error::other("unpacking it takes too long for a first look"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Effort;
    use crate::model::Cancel;

    #[test]
    fn an_effort_ends_when_its_bytes_are_used_up_or_its_ticket_is_worthless() {
        let effort = Effort::new(&Cancel::new(), 10);
        assert!(effort.clone().spend(9).is_ok());
        assert!(effort.spend(1).is_err());
        assert_eq!(effort.left(), 0);
        let cancel = Cancel::new();
        let effort = Effort::any(&cancel);
        assert!(effort.spend(usize::MAX / 2).is_ok());
        cancel.stop();
        assert!(effort.spend(1).is_err());
    }
}
