//! Public reports about Valheim worlds, each rebuilt on disk and shown as it should be shown.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

#[cfg(unix)]
#[path = "../support/nobody.rs"]
mod nobody;

mod host;
mod names;
mod place;
mod places;
mod saves;
