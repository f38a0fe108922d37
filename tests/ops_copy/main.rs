//! The copy primitive, the proof of a copy, and the way from a plan to a proved stage.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

mod compare;
mod faithful;
mod faults;
mod lab;
#[path = "../support/nobody.rs"]
mod nobody;
mod plan;
mod race;
mod refuse;
mod space;
