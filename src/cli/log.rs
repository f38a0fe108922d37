use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use super::failure::Failure;
use crate::model::shown_path;

/// Starts a log in a file, added to what is there. Names of players never go into it, only paths and counts.
pub(super) fn start(path: &Path) -> Result<(), Failure> {
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        Failure::usage(format!("The log {} could not be opened: {error}.", shown_path(path)))
            .hint("Correct --log, WORLDKEEP_LOG or `log` in the configuration.")
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .finish();
    // A second start in one process keeps the first log.
    let _ = tracing::subscriber::set_global_default(subscriber);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
    Ok(())
}
