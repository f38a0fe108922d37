//! What operations mean for the files of worlds: each outline is carried out on a save root in a temporary folder, by code
//! that shares nothing with the engine, and the result is read back to its last byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

mod caches;
mod carry;
mod cases;
mod each;
#[cfg(unix)]
#[path = "../support/nobody.rs"]
mod nobody;
#[path = "../support/mod.rs"]
mod support;
