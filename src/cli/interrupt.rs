use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Cancel;

/// Whether the user has asked to stop.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    /// True while something is changed: nothing ends at once then.
    patient: Arc<AtomicBool>,
    /// True while a question waits for its answer: to stop is one.
    asking: Arc<AtomicBool>,
    /// Wakes what waits for something else.
    waker: Arc<Mutex<Option<Waker>>>,
}

type Waker = Box<dyn Fn() + Send>;

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("asked", &self.asked()).finish_non_exhaustive()
    }
}

impl Interrupt {
    /// Listens for Ctrl-C: the first makes `cancel` worthless, the second ends at once.
    ///
    /// Where only reading is done, ending at once is harmless; it helps when a read hangs in the system. While something
    /// is changed ([`Interrupt::be_patient`]) every one only asks to stop.
    #[cfg(unix)]
    pub(super) fn listen(cancel: &Cancel) -> Self {
        Self::default().listening(cancel, &[signal_hook::consts::SIGINT])
    }

    /// From now on a signal asks to stop and does nothing else, and so do those of a terminal that goes away and of a
    /// polite end.
    #[cfg(unix)]
    pub(super) fn be_patient(&self, cancel: &Cancel) {
        use signal_hook::consts::{SIGHUP, SIGTERM};
        if !self.patient.swap(true, Ordering::Relaxed) {
            // Whoever started us with `nohup` wants us to go on.
            let signals: &[i32] = if hang_up_is_ignored() { &[SIGTERM] } else { &[SIGHUP, SIGTERM] };
            let _ = self.clone().listening(cancel, signals);
        }
    }

    /// For a command that goes on until it is told to stop: `wake` is called when that happens, from another thread, and a
    /// terminal that goes away and a polite end stop it as well, so that it ends what it started.
    #[cfg(unix)]
    pub(super) fn on_stop(&self, cancel: &Cancel, wake: impl Fn() + Send + 'static) {
        use signal_hook::consts::{SIGHUP, SIGTERM};
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
        let signals: &[i32] = if hang_up_is_ignored() { &[SIGTERM] } else { &[SIGHUP, SIGTERM] };
        let _ = self.clone().listening(cancel, signals);
    }

    /// Elsewhere the system ends the program.
    #[cfg(not(unix))]
    pub(super) fn on_stop(&self, _cancel: &Cancel, _wake: impl Fn() + Send + 'static) {}

    /// Whether a question is on the screen: then Ctrl-C ends at once.
    pub(super) fn asking(&self, asking: bool) {
        self.asking.store(asking, Ordering::Relaxed);
    }

    /// Elsewhere nothing is changed.
    #[cfg(not(unix))]
    pub(super) fn be_patient(&self, _cancel: &Cancel) {}

    #[cfg(unix)]
    fn listening(self, cancel: &Cancel, signals: &[i32]) -> Self {
        let interrupt = self;
        let Self { asked, patient, asking, waker } = interrupt.clone();
        let cancel = cancel.clone();
        if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
            std::thread::spawn(move || {
                for _ in signals.forever() {
                    let again = asked.swap(true, Ordering::Relaxed) || asking.load(Ordering::Relaxed);
                    if again && !patient.load(Ordering::Relaxed) {
                        std::process::exit(i32::from(super::Exit::Interrupted.code()));
                    }
                    cancel.stop();
                    if let Some(wake) = waker.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
                        wake();
                    }
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

#[cfg(unix)]
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
