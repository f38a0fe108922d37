//! Plans carried out, broken off at every call, and recovered.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

mod crash;
#[path = "../support/drafts.rs"]
mod drafts;
mod faults;
mod lab;
mod refuse;
mod whole;
