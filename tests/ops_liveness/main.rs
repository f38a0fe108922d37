//! Whether a server uses a save, shown with real processes and with made-up tables of processes.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::panic,
    reason = "a test says what it skips, and fails loudly"
)]

mod apart;
mod cost;
#[path = "../support/drafts.rs"]
mod drafts;
mod folders;
mod hold;
mod lab;
mod look;
