use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word that long work looks at to learn that nobody waits for its result any more.
///
/// One [`Cancel`] belongs to a lane of work. [`Cancel::restart`] hands out a new ticket and makes every older one
/// worthless; asking a ticket costs one relaxed load, so it can be asked once per file or per ten thousand objects.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    newest: Arc<AtomicU64>,
    mine: u64,
}

impl Cancel {
    /// A ticket that nothing cancels until [`Cancel::restart`] or [`Cancel::stop`] is called on it or a clone of it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every ticket handed out so far worthless and returns the one that counts from now on.
    #[must_use]
    pub fn restart(&self) -> Self {
        let mine = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        Self { newest: Arc::clone(&self.newest), mine }
    }

    /// Makes every ticket handed out so far worthless.
    pub fn stop(&self) {
        self.newest.fetch_add(1, Ordering::Relaxed);
    }

    /// True once a newer ticket exists: stop early, the result will be thrown away.
    pub fn cancelled(&self) -> bool {
        self.newest.load(Ordering::Relaxed) != self.mine
    }
}

#[cfg(test)]
mod tests {
    use super::Cancel;

    #[test]
    fn a_newer_ticket_makes_older_ones_worthless() {
        let lane = Cancel::new();
        let first = lane.restart();
        assert!(!first.cancelled());
        let second = first.restart();
        assert!(first.cancelled() && lane.cancelled() && !second.cancelled());
        lane.stop();
        assert!(second.cancelled());
    }
}
