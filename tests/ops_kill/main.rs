//! The proof of the operations: real processes that are killed, or whose calls fail, at each system call, and disks that
//! lose their power; judged by a checker that shares no code with the engine, and that has to catch careless restores.
//!
//! `cargo test --test ops_kill` tries a tenth of all points, always the same ones;
//! `WORLDKEEP_FAULTS=all cargo test --test ops_kill -- --nocapture` tries all and prints the rows of the table in
//! `docs/operations.md`. `WORLDKEEP_SEED` chooses another tenth.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

mod checker;
mod control;
mod errors;
mod kill;
mod power;
mod quiet;
mod scene;
mod trace;
