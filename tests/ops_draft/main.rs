//! Outlines that become plans, plans that are carried out, and everything for which there is none.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

mod archive;
mod lab;
mod mounts;
#[path = "../support/nobody.rs"]
mod nobody;
mod refuse;
mod space;
mod stage;
mod whole;
