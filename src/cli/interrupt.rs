use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::Cancel;

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for Ctrl-C and for a polite end: the first makes `cancel` worthless, the second ends at once.
    ///
    /// Nothing is ever half written here, so ending at once is harmless; it helps when a read hangs in the system.
    #[cfg(unix)]
    pub(super) fn listen(cancel: &Cancel) -> Self {
        use signal_hook::consts::SIGINT;
        let interrupt = Self::default();
        let (asked, cancel) = (Arc::clone(&interrupt.asked), cancel.clone());
        if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT]) {
            std::thread::spawn(move || {
                for _ in signals.forever() {
                    if asked.swap(true, Ordering::Relaxed) {
                        std::process::exit(i32::from(super::Exit::Interrupted.code()));
                    }
                    cancel.stop();
                }
            });
        }
        interrupt
    }

    /// Elsewhere the system ends the program.
    #[cfg(not(unix))]
    pub(super) fn listen(_cancel: &Cancel) -> Self {
        Self::default()
    }

    /// True once the user has asked to stop.
    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
