//! Entering and leaving the terminal: symmetric, and safe to do twice.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// The terminal is ours. One process has one terminal, and the panic hook must know about it.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Alternate screen, hidden cursor, bracketed paste, a clean sheet: what goes before the first frame, in one write with
/// it, so that nobody sees an empty screen.
pub(super) const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[m\x1b[2J";

/// The same backwards, after the end of a frame that may have been cut.
const LEAVE: &str = "\x1b[?2026l\x1b[m\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// Holds the terminal; gives it back when it is dropped.
#[derive(Debug)]
pub(super) struct Guard;

impl Guard {
    /// Takes the terminal; the first frame has to begin with [`ENTER`].
    pub(super) fn enter() -> io::Result<Self> {
        #[cfg(windows)]
        let _ = crossterm::ansi_support::supports_ansi();
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        Ok(Self)
    }

    /// Takes the terminal again after the program was stopped: a shell may have changed its modes meanwhile. The next
    /// frame has to begin with [`ENTER`].
    pub(super) fn enter_again() -> io::Result<()> {
        let _ = disable_raw_mode();
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// The terminal is gone: never touch it again.
    pub(super) fn forget() {
        ENTERED.store(false, Ordering::SeqCst);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back, if it is ours.
pub(super) fn leave() {
    if ENTERED.swap(false, Ordering::SeqCst) {
        let _ = write(LEAVE);
        let _ = disable_raw_mode();
    }
}

/// Writes everything at once.
pub(super) fn write(bytes: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes.as_bytes())?;
    out.flush()
}

/// From now on a panic of this thread gives the terminal back before it is reported; a panic of another thread is
/// silent while the terminal is ours, since whoever waits for that thread reports it.
pub(super) fn install_hook() {
    let ours = std::thread::current().id();
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == ours {
            leave();
        } else if ENTERED.load(Ordering::SeqCst) {
            return;
        }
        previous(info);
    }));
}

/// The size of the terminal; an error when it is gone.
pub(super) fn size() -> io::Result<(u16, u16)> {
    let size = crossterm::terminal::window_size()?;
    // Some pseudo-terminals never learned their size.
    Ok(if size.columns == 0 || size.rows == 0 { (80, 24) } else { (size.columns, size.rows) })
}
